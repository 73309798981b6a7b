//! State properties from a specification file: every `let` without parameters is one.

use super::read::{Properties, Source};
use crate::{Error, Specification};
use std::sync::Arc;
use tw_diag::{Diagnostic, Severity, Sources};
use tw_spec::ast::{DeclarationKind, Ident};

/// Reads the properties of a file.
pub(crate) fn read(path: &str) -> Result<Source, Error> {
    let text = Specification::text_of(path)?;
    let tree = tw_spec::parse(&text, 0);
    let found: Vec<&Ident> = tree
        .value
        .declarations
        .iter()
        .filter_map(|declaration| match &declaration.kind {
            DeclarationKind::Let { name, parameters, .. } if parameters.is_empty() => Some(name),
            _ => None,
        })
        .collect();
    // What cannot be read is told as it stands there, before anything is added.
    if tree.has_errors() {
        Specification::from_text(path, &text)?;
    }
    if found.is_empty() {
        return Err(Error::refused(format!(
            "`{path}` names no states: write, for example, `let busy = queue > 10;` (a `let` with parameters is none)"
        )));
    }
    // A name in backquotes is data wherever it is used, so that such a `let` needs another one to be asked for.
    let (plain, asked) = plain_names(&text, &found);
    let shown = if plain.len() == text.len() { &text } else { &plain };
    let build = |roots: &[String]| build(path, shown, &plain, roots);
    // A `let` does not say whether it is a formula or a term; the one reading that makes sense tells.
    let as_formula = |at: usize| format!("property `state {at}` : {};\n", asked[at]);
    let as_term = |at: usize| format!("query `state {at}` : true : {};\n", asked[at]);
    let (mut formulas, mut terms) = (Vec::new(), Vec::new());
    for (index, name) in found.iter().enumerate() {
        let Err(no_formula) = build(&[as_formula(index)]) else {
            formulas.push(index);
            continue;
        };
        match build(&[as_term(index)]) {
            Ok(_) => terms.push(index),
            Err(no_term) => return Err(told(path, shown, name, [no_formula, no_term])),
        }
    }
    let names: Vec<String> = found.iter().map(|name| name.name.clone()).collect();
    let together = |indices: Vec<usize>, write: &dyn Fn(usize) -> String| {
        if indices.is_empty() {
            return Ok(None);
        }
        let roots: Vec<String> = indices.iter().map(|&index| write(index)).collect();
        Ok::<_, Error>(Some((build(&roots)?, indices)))
    };
    let (formulas, terms) = (together(formulas, &as_formula)?, together(terms, &as_term)?);
    Ok(Source::Specification(Arc::new(Properties { names, formulas, terms })))
}

/// The text with names in backquotes replaced by plain ones that occur nowhere else, of the same length if there are any,
/// so that places stay the same; and what each name is then.
fn plain_names(text: &str, names: &[&Ident]) -> (String, Vec<String>) {
    let mut plain = text.to_string();
    let mut asked: Vec<String> = names.iter().map(|name| name.name.clone()).collect();
    // From the last to the first: short names may run out, and a longer one moves what follows.
    for (name, asked) in names.iter().zip(&mut asked).rev() {
        let span = name.span.start as usize..name.span.end as usize;
        if text[span.clone()].starts_with('`') {
            let width = span.len() - 1;
            let mut candidates = (0u64..).map(|number| format!("z{number:0>width$}"));
            *asked = candidates.find(|candidate| !plain.contains(candidate)).unwrap_or_default();
            plain.replace_range(span, asked);
        }
    }
    (plain, asked)
}

/// Why a `let` is neither a formula nor a term: what was found in its own text; what was made to ask for it is nobody's.
fn told(path: &str, text: &str, name: &Ident, errors: [Error; 2]) -> Error {
    let mut sources = Sources::default();
    sources.add(path, text);
    for error in errors {
        let Error::Specification { mut diagnostics, .. } = error else { return error };
        for diagnostic in &mut diagnostics {
            diagnostic.labels.retain(|(span, _)| span.end as usize <= text.len());
        }
        diagnostics.retain(|found| found.severity == Severity::Error && !found.labels.is_empty());
        if !diagnostics.is_empty() {
            return Error::Specification { diagnostics, sources: Box::new(sources) };
        }
    }
    let message = format!("`{}` is neither true or false at a position nor a value there", name.name);
    let found = Diagnostic::error("state-property", message)
        .at(name.span, "this is to be a property of states")
        .help("write a formula (`queue > 10`, `O failure`) or a term (`queue / 10`)");
    Error::Specification { diagnostics: vec![found], sources: Box::new(sources) }
}

/// The file with further roots, and with those alone: its own properties are no states. `plain` is what is read, `text`
/// what is shown.
fn build(path: &str, text: &str, plain: &str, roots: &[String]) -> Result<Specification, Error> {
    let roots_text = roots.concat();
    let mut spec = Specification::from_text(path, &format!("{plain}\n{roots_text}"))?;
    spec.sources = Sources::default();
    spec.sources.add(path, format!("{text}\n{roots_text}"));
    let own = spec.program.roots.len() - roots.len();
    spec.program.roots.drain(..own);
    Ok(spec)
}

//! State properties from a specification file: every `let` without parameters is one.

use super::read::{Properties, Source};
use crate::{Error, Specification};
use std::sync::Arc;
use tw_spec::ast::DeclarationKind;

/// Reads the properties of a file.
pub(crate) fn read(path: &str) -> Result<Source, Error> {
    let text = Specification::text_of(path)?;
    let tree = tw_spec::parse(&text, 0);
    let names: Vec<String> = tree
        .value
        .declarations
        .iter()
        .filter_map(|declaration| match &declaration.kind {
            DeclarationKind::Let { name, parameters, .. } if parameters.is_empty() => Some(name.name.clone()),
            _ => None,
        })
        .collect();
    if names.is_empty() && !tree.has_errors() {
        return Err(Error::Usage(format!(
            "`{path}` names no states: write, for example, `let busy = queue > 10;`"
        )));
    }
    // A `let` does not say whether it is a formula or a term; the one reading that makes sense tells.
    let as_formula = |name: &str| format!("property `state {name}` : {name};\n");
    let as_term = |name: &str| format!("query `state {name}` : true : {name};\n");
    let (mut formulas, mut terms) = (Vec::new(), Vec::new());
    for (index, name) in names.iter().enumerate() {
        match build(path, &text, &[as_formula(name)]) {
            Ok(_) => formulas.push(index),
            Err(error) => match build(path, &text, &[as_term(name)]) {
                Ok(_) => terms.push(index),
                Err(_) => return Err(error),
            },
        }
    }
    let together = |indices: Vec<usize>, write: &dyn Fn(&str) -> String| {
        if indices.is_empty() {
            return Ok(None);
        }
        let roots: Vec<String> = indices.iter().map(|&index| write(&names[index])).collect();
        Ok::<_, Error>(Some((build(path, &text, &roots)?, indices)))
    };
    let (formulas, terms) = (together(formulas, &as_formula)?, together(terms, &as_term)?);
    Ok(Source::Specification(Arc::new(Properties { names, formulas, terms })))
}

/// The file with further roots, and with those alone: its own properties are no states.
fn build(path: &str, text: &str, roots: &[String]) -> Result<Specification, Error> {
    let mut spec = Specification::from_text(path, &format!("{text}\n{}", roots.concat()))?;
    let own = spec.program.roots.len() - roots.len();
    spec.program.roots.drain(..own);
    Ok(spec)
}

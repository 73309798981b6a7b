//! The specification language: its parser and printer, the settings that a specification holds, the library of patterns, and
//! what editors ask of a text ([`look`], [`names`](Names), [`meanings`]).

pub mod meanings;
pub(crate) mod settings;
mod types;

pub use tw_ir::Aggregate;
pub use tw_spec::ast;
pub use tw_spec::ast::settings::TraceSettings;
pub use tw_spec::{
    Name, NameKind, Names, PATTERNS, PatternDoc, Use, Word, WordKind, is_plain_name, parse, parse_charts,
    print, print_expr, words,
};
pub use types::type_of;

use crate::Specification;
use tw_diag::{Checked, Diagnostic, Severity, Sources, Span};
use tw_ir::Program;
use tw_spec::LowerOptions;
use tw_spec::ast::{DeclarationKind, Tree};

/// All that can be said of a text, whatever is wrong with it.
#[derive(Clone, Debug)]
pub struct Look {
    /// As written, with holes where it could not be read.
    pub tree: Tree,
    /// What its names stand for.
    pub names: Names,
    /// How its traces are read, where its `trace` block says so.
    pub settings: TraceSettings,
    /// Errors and warnings, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
    /// The specification, where there is no error.
    pub specification: Option<Specification>,
}

/// Reads a text as far as it can be understood. `name` is that of its file: `.elsc` files hold charts.
pub fn look(name: &str, text: &str) -> Look {
    let parse = if name.ends_with(".elsc") { parse_charts } else { parse };
    let mut sources = Sources::default();
    let source = sources.add(name, text);
    let (tree, program, diagnostics) = understood(parse(text, source));
    let names = Names::of(text, &tree);
    let errors = diagnostics.iter().any(|found| found.severity == Severity::Error);
    let specification = (!errors).then(|| {
        let warnings = diagnostics.clone();
        Specification::of_parts(name, sources, tree.clone(), program, warnings)
    });
    let settings = Specification::beside(name, tree.settings());
    Look { tree, names, settings, diagnostics, specification }
}

/// What was read, lowered, and all findings. Where the text could not be read in part, what is found in the other
/// declarations is found still; the holes are not told of again.
pub(crate) fn understood(parsed: Checked<Tree>) -> (Tree, Program, Vec<Diagnostic>) {
    let broken = broken(&parsed);
    let Checked { value: tree, mut diagnostics } = parsed;
    let lowered = tw_spec::lower(&tree, &LowerOptions::default());
    let inside = |span: &Span| broken.iter().any(|hole| hole.start <= span.start && span.end <= hole.end);
    let told = |found: &Diagnostic| {
        broken.is_empty()
            || found.code != "nothing-to-check" && !found.labels.iter().any(|(span, _)| inside(span))
    };
    diagnostics.extend(settings::unknown_formats(&tree));
    diagnostics.extend(lowered.diagnostics.into_iter().filter(told));
    if !broken.is_empty() {
        diagnostics.sort_by_key(|found| found.labels.first().map_or(0, |(span, _)| span.start));
    }
    (tree, lowered.value, diagnostics)
}

/// The declarations with errors of the parser. Where one could not be read at all, what names others by its name is among
/// them.
fn broken(parsed: &Checked<Tree>) -> Vec<Span> {
    let errors = || parsed.diagnostics.iter().filter(|found| found.severity == Severity::Error);
    let all = || parsed.value.declarations.iter();
    let lost = all().any(|declaration| matches!(declaration.kind, DeclarationKind::Error));
    let wrong = |span: Span| {
        errors()
            .any(|found| found.labels.iter().any(|(at, _)| span.start <= at.start && at.start <= span.end))
    };
    let mut broken: Vec<Span> = all()
        .filter(|declaration| {
            let refers =
                matches!(declaration.kind, DeclarationKind::After(_) | DeclarationKind::Observe { .. });
            wrong(declaration.span) || lost && refers
        })
        .map(|declaration| declaration.span)
        .collect();
    if broken.is_empty() && errors().next().is_some() {
        broken.push(Span::default());
    }
    broken
}

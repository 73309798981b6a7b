//! Settings of a specification whose values this library knows, and its grammar does not.

use crate::trace::{formats, nearest_format};
use tw_diag::Diagnostic;
use tw_spec::ast::{DeclarationKind, Tree};

/// Formats that other builds have: a specification may be meant for those.
const ELSEWHERE: [&str; 2] = ["parquet", "arrow"];

/// `trace` blocks that name a format which is none.
pub(crate) fn unknown_formats(tree: &Tree) -> Vec<Diagnostic> {
    let blocks = tree.declarations.iter().filter_map(|declaration| match &declaration.kind {
        DeclarationKind::Trace(block) => Some(block),
        _ => None,
    });
    let lines = blocks.flat_map(|block| &block.lines).filter(|line| line.name.name == "format");
    let mut found = Vec::new();
    for line in lines {
        let name = line.value.option();
        let known: Vec<&str> = formats().iter().map(|format| format.name()).collect();
        // An empty value is reported where it was read.
        if name.is_empty() || known.iter().chain(&ELSEWHERE).any(|own| **own == name) {
            continue;
        }
        let near = nearest_format(&name).map_or(String::new(), |near| format!("did you mean `{near}`? "));
        let error = Diagnostic::error("bad-setting", format!("`{name}` is no format of traces"));
        found.push(error.at(line.span, "").help(format!("{near}formats are {}", known.join(", "))));
    }
    found
}

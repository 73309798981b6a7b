//! Texts with the values of parameters in them: `iterator {i} of {c} is stale`.

use super::super::findings::Findings;
use super::{listed, near};
use crate::ast::monitor::{Monitor, Text};
use tw_diag::Diagnostic;
use tw_ir::monitor::Piece;

/// A text without parameters.
pub(super) fn plain(text: &str) -> Vec<Piece> {
    if text.is_empty() { Vec::new() } else { vec![Piece::Text(text.to_owned())] }
}

/// The pieces of a text; `{{` and `}}` are braces.
pub(super) fn pieces(text: &Text, written: &Monitor, findings: &mut Findings) -> Option<Vec<Piece>> {
    let mut pieces = Vec::new();
    let mut literal = String::new();
    let mut rest = text.text.as_str();
    while let Some(at) = rest.find(['{', '}']) {
        literal.push_str(&rest[..at]);
        let brace = &rest[at..at + 1];
        if rest[at + 1..].starts_with(brace) {
            literal.push_str(brace);
            rest = &rest[at + 2..];
            continue;
        }
        let end = rest[at..].find('}').filter(|_| brace == "{");
        let Some(end) = end else {
            let found = Diagnostic::error("bad-monitor", format!("a `{brace}` in this text stands alone"));
            findings.add(
                found
                    .at(text.span, "")
                    .help(format!("write `{brace}{brace}` for a brace, `{{i}}` for a parameter")),
            );
            return None;
        };
        let name = rest[at + 1..at + end].trim();
        let number = written.parameters.iter().position(|parameter| parameter.name == name);
        let Some(number) = number else {
            let known = || written.parameters.iter().map(|parameter| parameter.name.as_str());
            let message =
                format!("this text names `{name}`, which is no parameter of `{}`", written.name.name);
            let found = Diagnostic::error("unknown-parameter", message).at(text.span, "");
            findings.add(found.help(match near(name, known()) {
                Some(near) => format!("did you mean `{{{near}}}`?"),
                None => format!("its parameters are {}; a brace is written `{{{{`", listed(known())),
            }));
            return None;
        };
        if !literal.is_empty() {
            pieces.push(Piece::Text(std::mem::take(&mut literal)));
        }
        pieces.push(Piece::Parameter(number as u32));
        rest = &rest[at + end + 1..];
    }
    literal.push_str(rest);
    pieces.extend(plain(&literal));
    Some(pieces)
}

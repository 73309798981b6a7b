//! One file per format.

pub(crate) mod breach;
pub(crate) mod c2po;
pub(crate) mod dejavu;
mod diagram;
pub(crate) mod lola;
pub(crate) mod mermaid;
pub(crate) mod mltl;
pub(crate) mod monpoly;
pub(crate) mod plantuml;
pub(crate) mod reelay;
pub(crate) mod rtamt;
pub(crate) mod rvm;

use crate::build::{Sort, Value};
use crate::cursor::refuse;
use tw_diag::Diagnostic;
use tw_ir::CompareOp;

/// Formats of sequence diagrams.
pub(crate) const DIAGRAMS: [&str; 2] = [plantuml::FORMAT.name, mermaid::FORMAT.name];

/// An error unless this is a number.
fn number(value: Value) -> Result<Value, Diagnostic> {
    if value.sort != Sort::Formula {
        return Ok(value);
    }
    let why =
        "arithmetic and comparisons take numbers; the robustness of a formula cannot be used as a number";
    Err(refuse(value.span, "a formula stands where a number is needed", why))
}

/// An error unless this is a formula.
fn formula(value: Value) -> Result<Value, Diagnostic> {
    if value.sort == Sort::Formula {
        return Ok(value);
    }
    let why = "compare it with something, for example `x > 0`";
    Err(refuse(value.span, "a number stands where a formula is needed", why))
}

/// The comparison that a symbol stands for in most formats.
fn comparison(symbol: &str) -> Option<CompareOp> {
    Some(match symbol {
        "<" => CompareOp::Lt,
        "<=" => CompareOp::Le,
        ">" => CompareOp::Gt,
        ">=" => CompareOp::Ge,
        "==" => CompareOp::Eq,
        "!=" | "!==" => CompareOp::Ne,
        _ => return None,
    })
}

//! NuSMV's language: models as the paper on merged traces writes them, and the part of the language that people write
//! such models in by hand.
//!
//! - Written is one `(state = s1 & next(state) = s2 & time = 1 & next(time) = 2)` a transition. States are told apart by
//!   the variables that they have themselves; variables that depend on another are `DEFINE`d. Names that the language
//!   does not allow are changed, and a comment says so: `-- a_b is "a b"`.
//! - Read is one module with variables of finite types, `INIT`, `TRANS`, `INVAR`, `ASSIGN`, `DEFINE`, fairness and
//!   specifications. States are those that the initial ones lead to, found one after another.

mod compile;
mod evaluate;
mod explore;
mod formula;
mod free;
mod lexer;
mod parser;
mod plan;
mod program;
mod search;
mod syntax;
mod table;
#[cfg(test)]
mod tests;
mod words;
mod write;

pub use explore::Limits;
pub(super) use write::write;

use super::ModelError;
use crate::Model;

/// Reads a file: its name, for messages, and its text.
pub(super) fn read(file: &str, text: &[u8]) -> Result<Model, ModelError> {
    read_within(file, text, &Limits::default())
}

/// Reads a file within limits.
pub fn read_within(file: &str, text: &[u8], limits: &Limits) -> Result<Model, ModelError> {
    // Whoever reads all of it is told of every variable.
    read_mentioning(file, text, limits, &|_| true).map(|(model, _)| model)
}

/// Reads a file for formulas of which it is known which variables they mention, beside those in the file; also the names
/// of the variables that were left out, as there are many of them and nothing depends on them (`free`).
pub fn read_mentioning(
    file: &str,
    text: &[u8],
    limits: &Limits,
    mentioned: &dyn Fn(&str) -> bool,
) -> Result<(Model, Vec<String>), ModelError> {
    let text = super::utf8(file, text)?;
    let located = |error: syntax::Error| super::syntax_error(file, text, error.at as usize, error.message);
    let mut module = parser::parse(text).map_err(located)?;
    let left_out = free::leave_out(&mut module, mentioned);
    let program = compile::compile(text, module).map_err(located)?;
    let explored = explore::explore(&program, limits).map_err(|stop| match stop {
        explore::Stop::At(error) => located(error),
        explore::Stop::Unfit(message) => ModelError::Unfit(message),
    });
    Ok((explored?, left_out))
}

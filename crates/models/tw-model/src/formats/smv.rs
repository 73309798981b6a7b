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
    let text = super::utf8(file, text)?;
    let parsed = parser::parse(text).and_then(|module| compile::compile(text, module));
    let located = |error: syntax::Error| super::syntax_error(file, text, error.at as usize, error.message);
    let program = parsed.map_err(located)?;
    explore::explore(&program, limits).map_err(|stop| match stop {
        explore::Stop::At(error) => located(error),
        explore::Stop::Unfit(message) => ModelError::Unfit(message),
    })
}

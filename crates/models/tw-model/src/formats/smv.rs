//! NuSMV's language: models as the paper on merged traces writes them, and the part of the language that people write
//! such models in by hand.
//!
//! - Written is one `(state = s1 & next(state) = s2 & time = 1 & next(time) = 2)` a transition. States are told apart by
//!   the variables that they have themselves; variables that depend on another are `DEFINE`d. Names that the language
//!   does not allow are changed, and a comment says so: `-- a_b is "a b"`.
//! - Read is one module with variables of finite types, `INIT`, `TRANS`, `INVAR`, `ASSIGN`, `DEFINE`, fairness and
//!   specifications. States are those that the initial ones lead to, found one after another.

mod compile;
mod encode;
mod evaluate;
mod explore;
mod formula;
mod free;
mod implicit;
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
pub use implicit::{Implicit, Unsuited};
pub(super) use write::write;

use super::ModelError;
use crate::Model;

/// Reads a file: its name, for messages, and its text.
pub(super) fn read(file: &str, text: &[u8]) -> Result<Model, ModelError> {
    read_within(file, text, &Limits::default())
}

/// Reads a file within limits.
pub fn read_within(file: &str, text: &[u8], limits: &Limits) -> Result<Model, ModelError> {
    // Whoever reads all of it is told of every variable, and of every state.
    Implicit::read(file, text, limits, &|_| true)?.0.listed()
}

/// Reads a file for formulas of which it is known which variables they mention, beside those in the file; also the names
/// of the variables that were left out, as there are many of them and nothing depends on them (`free`). Where states are
/// many they are not listed: [`Model::implicit`].
pub fn read_mentioning(
    file: &str,
    text: &[u8],
    limits: &Limits,
    mentioned: &dyn Fn(&str) -> bool,
) -> Result<(Model, Vec<String>), ModelError> {
    let (program, left_out) = Implicit::read(file, text, limits, mentioned)?;
    Ok((program.model()?, left_out))
}

//! Properties as rules, for those that events begin: the quick way through this engine.
//!
//! Of most properties a violation is begun by an event and decided by what is remembered of its values: `publish(r)` with no
//! `approve(r)` in its window. Such properties become *rules* (`compile`): a rule is begun by events, its literals are tested or
//! give values to variables, in an order fixed beforehand, and a solution is a violation or changes a table. Temporal
//! operators are tables (`memory`): the last time of each row, the values that are left of a key where infinitely many are
//! meant, or how long another table was. What looks ahead waits until facts or time decide it (`runner`).
//!
//! A property that rules do not reach is left to the tries as a whole. Both are compared with the definition.

mod compile;
mod formula;
mod memory;
mod orders;
mod places;
mod runner;
mod save;
mod solve;
mod steps;
mod table;
mod waiting;

pub(crate) use compile::compile;
pub(crate) use runner::{Row, Runner};
#[cfg(test)]
pub(crate) use steps::Kind;
pub(crate) use steps::Rules;

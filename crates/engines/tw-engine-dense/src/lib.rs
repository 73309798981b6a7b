//! Continuous time: truth as intervals with open and closed ends, and clocks that are off by a known error.
//!
//! - [`Signal`]: truth at every instant between two, run-length encoded, and the operators on it.
//! - [`dense()`]: the signal of a formula, its positions read as states that last or as events that do not.
//! - [`Dense`]: the engine behind `--clock dense`.
//! - [`judge()`]: the verdict of a property about all executions that imprecise timestamps allow. It rests on
//!   [`imprecise()`] and its [`label()`]s, which say for which formulas there is one, and on [`certain()`], which finds
//!   more of what holds on all executions.
//!
//! Every operator is one pass over the changes of its operands: the cost does not depend on the window, nor on how far
//! apart the changes are.

mod algebra;
mod cases;
mod certain;
mod engine;
mod explain;
mod formula;
mod imprecise;
mod judge;
mod label;
mod reading;
mod signal;
mod steps;
mod window;
mod windows;

pub use certain::{Certain, certain};
pub use engine::Dense;
pub use explain::{Claim, explain};
pub use imprecise::{Outcome, Report, imprecise, reported};
pub use judge::{Judgement, judge};
pub use label::{Blocked, Label, Labelled, Why, label};
pub use reading::{Reading, dense};
pub use signal::{End, Run, Signal, Span};
pub use window::Window;
pub use windows::{ClockError, Observation, relax};

#[cfg(test)]
mod tests;

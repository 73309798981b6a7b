//! From many traces to one state-space, after "Model Checking Merged Program Traces" (da Silva, de Melo).
//!
//! A merger decides which moments of which traces are the same state:
//!
//! - [`Keep::State`]: equal states are equal whenever they occur; what happens next depends on the state alone.
//! - [`Keep::Time`]: equal states at the same instant are equal.
//! - [`Keep::Change`]: as `Time`, but only instants at which a trace changes its state count.
//! - [`Keep::History`]: equal states after the same few states before are equal.
//! - [`Keep::Tree`]: traces are one as long as they have all been equal so far; nothing is spliced.
//!
//! [`Merger`] is all of them: it is given the names of states, keeps transitions with how often and where they were seen,
//! and makes a [`tw_model::Model`] of them. The mergers are associative and commutative, so parts of the traces can be
//! merged side by side. Then there is the way back: [`Coverage`] says how much the traces have left unseen, [`Follower`]
//! finds the states of the model that a trace goes through, and [`Splice`] the traces that a path is made of.

mod chain;
mod coverage;
mod ends;
mod finish;
mod follow;
mod layers;
mod merger;
mod number;
mod splice;
mod table;
#[cfg(test)]
mod tests;
mod tree;
mod windows;
mod words;

pub use coverage::{Completeness, Coverage, Estimate, Point};
pub use finish::Names;
pub use follow::Follower;
pub use merger::{Limits, Merger, TooLarge};
pub use splice::{Found, Piece, Splice};
pub use words::MAX_HISTORY;

/// Which moments become one state of the merged model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// The state (the paper's state-preserving merger).
    State,
    /// The state and the instant (time-preserving).
    Time,
    /// The state and the instant of its last change (change-preserving).
    Change,
    /// The state and this many states before it.
    History(u32),
    /// Everything before it.
    Tree,
}

/// What becomes of a path where the traces that it follows have ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Ends {
    /// States that nothing follows loop: when nothing is known, nothing changes.
    #[default]
    Dead,
    /// Every state in which some trace ends loops.
    All,
    /// Nothing is added.
    Nothing,
    /// Every state in which some trace ends leads to a state `end`, which loops.
    State,
}

//! Model checking of explicit state-spaces.
//!
//! - [`Checker`]: a model made ready to be asked.
//! - branching time by fixpoints, linear time by the product with a Büchi automaton, each with the [`Evidence`] for its
//!   answer.

mod branching;
mod checker;
mod evidence;
mod labels;
mod linear;
pub mod markov;
pub mod star;
mod symbolic;

pub use branching::{Branching, branching};
pub use checker::Checker;
pub use evidence::Evidence;
pub use labels::Labels;
pub use linear::{Linear, linear, linear_witness};
pub use symbolic::{SymbolicBranching, SymbolicChecker, SymbolicLabels, Unlabelled};

#[cfg(test)]
mod naive;
#[cfg(test)]
mod valid;

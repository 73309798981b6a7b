//! The three traversals of an alternating automaton, and statistics on its runs.
//!
//! All are of "Checking Finite Traces using Alternating Automata", in the reading that gives right verdicts (the
//! headers of the modules say where that differs from the print). They give the same verdicts at different prices:
//!
//! | engine | reads | time | memory | past inside future | future inside past |
//! |---|---|---|---|---|---|
//! | [`DepthFirst`] | where the search leads | O(m·n), often much less | O(m·n) | yes | yes |
//! | [`BreadthFirst`] | forwards, live too | slices per position | slices | yes | no |
//! | [`Reverse`] | backwards | O(m·n) | O(m) | yes | yes |
//!
//! for a formula of size m and a trace of n positions.
//!
//! ```
//! use tw_core::Bits;
//! use tw_engine_alternating::{Reverse, statistics};
//! use tw_monitor::{Engine, EvaluateOptions, Trace};
//! use tw_spec::{LowerOptions, lower, parse_formula};
//!
//! let program = lower(&parse_formula("F p", 0).value, &LowerOptions::default()).value;
//! let column: Bits = [false, false, true].into_iter().collect();
//! let trace = Trace { len: 3, atoms: vec![column], ..Trace::default() };
//! let options = EvaluateOptions::default();
//! let answers = Reverse.plan(&program, &options).unwrap().evaluate(&trace, 10).unwrap();
//! assert!(answers[0].holds.get(0));
//!
//! // The only accepting run waits twice.
//! let (root, traversal) = (program.roots[0].node, statistics::Traversal::Reverse);
//! assert_eq!(statistics::rejecting(&program, root, &trace, &options, traversal).unwrap(), Some(2));
//! ```
//!
//! Where to look: [`semiring`] for what values runs can have, [`statistics`] for those that can be asked for, and
//! [`breadth`], [`depth`], [`reverse`] for the traversals.

pub mod breadth;
pub mod depth;
mod goals;
pub mod reverse;
pub mod semiring;
pub mod statistics;

pub use breadth::BreadthFirst;
pub use depth::DepthFirst;
pub use reverse::Reverse;

#[cfg(test)]
mod sample;
#[cfg(test)]
mod worked;

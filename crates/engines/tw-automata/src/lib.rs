//! Automata over traces: alternating, residual formulas, deterministic, emptiness over infinite words, and drawings.
//!
//! Engines are built on these; nothing here reads traces. Each module opens with its definitions:
//!
//! - [`alternating`]: the alternating automaton of a formula (and of its negation);
//! - [`algebraic`]: the algebraic alternating automaton of a query, which has values;
//! - [`past`]: past operators for engines that read forward, one remembered bit each;
//! - [`residual`]: formulas as exclusive-or of conjunctions, and what an event turns them into;
//! - [`diagram`], [`deterministic`]: residuals as decision diagrams, and the automaton they are the states of;
//! - [`emptiness`]: whether some infinite continuation satisfies what is still owed;
//! - [`guess`]: three-valued verdicts of formulas whose past looks at the future;
//! - [`formalism`]: automata over the events of a parametric monitor, and what they enable;
//! - [`informative`]: formulas that are settled only where what is owed is a constant;
//! - [`buchi`]: the generalised Büchi automaton of a formula, for infinite words;
//! - [`draw`]: pictures of automata.

pub mod algebraic;
pub mod alternating;
pub mod buchi;
pub mod deterministic;
pub mod diagram;
pub mod draw;
pub mod emptiness;
pub mod formalism;
pub mod guess;
pub mod informative;
pub mod past;
pub mod residual;

pub use buchi::Buchi;

//! Boolean streams: outputs defined by equations over inputs and outputs, at the present position and at others.
//!
//! The theory is that of Laura Bozzelli and César Sánchez, "Foundations of Boolean Stream Runtime Verification". This crate is
//! that theory alone: it reads no text and no trace. A language builds a [`Specification`] with a [`Builder`], a command
//! calls one of the functions below and prints what it returns.
//!
//! | question | answer |
//! |---|---|
//! | what are the values on this input? | [`Program::new`], [`Program::run`] |
//! | and live, event by event? | [`Live`] |
//! | well-formed, well-defined, look-ahead, state? | [`analyse`] |
//! | the same values on every input, or the same language? | [`equal`] |
//! | the language of one within that of another, empty, everything? | [`includes`], [`is_empty`], [`is_universal`] |
//! | is this input in the language? | [`accepts`] |
//! | union, concatenation, iteration, intersection, reversal | [`algebra`] |
//! | an automaton, and back; JSON, HOA, DOT | [`Automaton`] |
//! | equations of a formula of temporal logic | [`from_ltl`] |
//! | Theorem 6's normal form | [`normalise`] |
//! | all models of a small input, by the definition | [`models`], [`is_model`] |
//!
//! How it is built, from below:
//!
//! - [`graph`]: who depends on whom, how far away. Components whose cycles all look one way are *well-formed* and have one
//!   solution; a closed walk of weight 0 is what makes a specification hard.
//! - [`split`]: what is known before the hard part, and what follows from it, is taken off.
//! - [`columns`]: well-formed parts in passes over whole columns, 64 positions per word.
//! - `system`: the hard part as registers, promises and guesses over one position; its moves, 64 guesses at a time.
//! - `two_pass`: the hard part on an input, by sets of states forwards and by choice backwards.
//! - `nfa`, `decide`: the hard part on all inputs, an automaton and searches in it; `system::symbolic`: the same with sets of
//!   states as decision diagrams, where the automaton is too large to be listed.
//!
//! Budgets end in values: [`Limits`] for runs ([`Unsolved::TooLarge`]), [`Budget`] for analyses ([`GaveUp`]).
//!
//! ```
//! use tw_stream_boolean::{Budget, Builder, Limits, Passes, Program, Word, analyse};
//!
//! // y = if x then x[+1|false] else y[-1|true]
//! let mut build = Builder::new();
//! let (x, y) = (build.input("x").unwrap(), build.output("y").unwrap());
//! let (test, next, before) = (build.now(x), build.at(x, 1, false).unwrap(), build.at(y, -1, true).unwrap());
//! let equation = build.choose(test, next, before);
//! build.define(y, equation).unwrap();
//! let spec = build.finish().unwrap();
//!
//! let found = analyse(&spec, &Budget::default());
//! assert_eq!((found.well_formed, found.well_defined, found.look_ahead), (true, Some(true), Some(1)));
//!
//! let input = Word::from_letters(1, &[0, 1, 1, 0, 1]);
//! let columns = Program::new(&spec, Passes::Auto).unwrap().run(&input, &Limits::default()).unwrap();
//! let values: Vec<bool> = (0..5).map(|at| columns[0].as_ref().unwrap().get(at)).collect();
//! assert_eq!(values, [true, true, false, false, false]);
//! ```

pub mod algebra;
mod analysis;
mod automaton;
pub mod columns;
mod decide;
mod enumerate;
pub mod graph;
mod live;
mod ltl;
mod nfa;
mod normal;
mod program;
mod spec;
pub mod split;
mod system;
mod two_pass;

pub use analysis::{
    Analysis, Answer, Budget, Difference, Kind, NoSuchOutput, Witness, accepts, analyse, equal, includes,
    is_empty, is_universal,
};
pub use automaton::{Automaton, Cube, Edge, MOST_INPUTS, MOST_STATES, ReadError};
pub use enumerate::{Word, is_model, models};
pub use graph::Kept;
pub use live::Live;
pub use ltl::{NotLtl, from_ltl};
pub use nfa::GaveUp;
pub use normal::{NoNormalForm, normalise};
pub use program::{Model, Passes, Program, Unsolved};
pub use spec::{Builder, Flaw, Id, Named, Node, Specification, Stream};
pub use two_pass::Limits;

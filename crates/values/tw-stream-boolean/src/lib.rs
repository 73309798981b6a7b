//! Boolean streams.

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
pub use live::Live;
pub use ltl::{NotLtl, from_ltl};
pub use nfa::GaveUp;
pub use normal::{NoNormalForm, normalise};
pub use program::{Model, Passes, Program, Unsolved};
pub use spec::{Builder, Flaw, Id, Named, Node, Specification, Stream};
pub use two_pass::Limits;

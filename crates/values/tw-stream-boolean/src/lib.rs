//! Boolean streams.

pub mod algebra;
mod analysis;
pub mod columns;
mod decide;
mod enumerate;
pub mod graph;
mod live;
mod nfa;
mod program;
mod spec;
pub mod split;
mod system;
mod two_pass;

pub use analysis::{
    Analysis, Answer, Budget, Difference, Kind, NoSuchOutput, Witness, accepts, analyse, equal, includes,
    is_empty, is_universal,
};
pub use enumerate::{Word, is_model, models};
pub use live::Live;
pub use nfa::GaveUp;
pub use program::{Model, Passes, Program, Unsolved};
pub use spec::{Builder, Flaw, Id, Named, Node, Specification, Stream};
pub use two_pass::Limits;

//! What is found of a stream: one thread reads its log and pushes the lines to every specification that is about it.
//!
//! The log is the queue: who judges is as far as it is, and a restart goes on from the last checkpoint ([`checkpoint`]). Which
//! specifications there are changes at a line ([`Change`]), so that the same lines are judged by the same specifications again,
//! and violations found again have the ids that they had.

mod checkpoint;
mod states;
mod teller;
mod thread;
mod ticks;
mod together;
mod work;

pub use checkpoint::{Assigned, Change, State, add_cut, load_cuts, load_plan, save_plan};
pub use states::{PropertyState, Watched};
pub use teller::{Collected, Nobody, Teller};
pub use thread::{Judge, Progress};
pub use work::part;

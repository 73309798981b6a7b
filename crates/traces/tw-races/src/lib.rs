//! Error patterns of concurrent programs: lock-order deadlocks and unprotected accesses.
//!
//! From one run in which nothing went wrong, these two rules tell what can go wrong in others. Both look at events
//! `lock`, `unlock`, `read`, `write` of threads, and at `fork` and `join` if the trace has them:
//!
//! - **Lock order.** Threads that take the same locks in different orders can wait for each other for ever. Found as
//!   cycles in the graph of locks taken while holding others (`cycle.rs`), leaving out cycles within one thread,
//!   cycles guarded by a common *gate* lock, and cycles between stretches of code that cannot run in parallel.
//! - **Lock sets.** A variable that several threads use and some write should have a lock that is held at every access
//!   (`eraser.rs`).
//!
//! ```
//! use tw_races::{Access, Analysis, Place};
//! # fn main() -> Result<(), tw_races::Exceeded> {
//! let mut analysis = Analysis::new();
//! let run = [
//!     Access::lock("t1", "a"),
//!     Access::lock("t1", "b"),
//!     Access::write("t1", "x"),
//!     Access::unlock("t1", "b"),
//!     Access::unlock("t1", "a"),
//!     Access::lock("t2", "b"),
//!     Access::lock("t2", "a"),
//!     Access::unlock("t2", "a"),
//!     Access::unlock("t2", "b"),
//!     Access::write("t2", "x"),
//! ];
//! for (position, access) in (0..).zip(&run) {
//!     analysis.event(access, Place { position, line: position + 1 })?;
//! }
//! let report = analysis.finish();
//! assert_eq!(report.deadlocks[0].turns[0].wants, "b");
//! assert_eq!(report.races[0].variable, "x");
//! # Ok(())
//! # }
//! ```
//!
//! Memory: per thread the locks it holds; per variable a few accesses while one thread uses it, later a word per thread
//! and two accesses per set of locks it is used under; per different way of nesting locks one dependency. The length
//! of the trace does not matter. [`read`] takes the events from a trace file of any format.

mod access;
mod analysis;
mod clock;
mod cycle;
mod eraser;
mod lockset;
mod order;
mod report;
mod rows;

pub use access::{Access, Action, Place};
pub use analysis::Analysis;
pub use cycle::Limits;
pub use report::{Deadlock, Exceeded, Oddity, OddityKind, Race, Report, Search, Seen, Turn, Use};
pub use rows::{Fields, Rows, read, read_rows};

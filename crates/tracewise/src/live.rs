//! Monitoring many traces from code: a plan that any number of threads share, and monitors that keep a small state per key.
//!
//! A [`Plan`] is a specification with an engine for each of its properties and queries. A [`ShardMonitor`] follows one trace
//! per value of a key column: positions come in, [`Outcome`]s go to the caller the moment they are settled. Shards of one plan
//! know nothing of each other, so that a log is divided among threads or machines by its keys.
//!
//! ```
//! use tracewise::live::{Plan, PlanOptions, Row, ShardMonitor};
//! use tracewise::{Specification, Value, Verdict};
//! # fn main() -> Result<(), tracewise::Error> {
//! let spec = Specification::from_text("s.tw", "property paid : G (order -> F[0,5s] pay); query n : count[order];")?;
//! let plan = Plan::new(&spec, &PlanOptions::default())?;
//! let mut shard = ShardMonitor::new(&plan, Some("user"))?;
//! let second = 1_000_000_000;
//! let (mut told, ann, bob) = (Vec::new(), Value::Str("ann".into()), Value::Str("bob".into()));
//! let rows = [
//!     Row { time: Some(second), event: Some("order"), values: &[("user", ann)] },
//!     Row { time: Some(8 * second), event: Some("order"), values: &[("user", bob)] },
//! ];
//! shard.feed_rows(&rows, &mut |outcome| told.push((outcome.key.map(str::to_string), outcome.verdict)))?;
//! // The log went on for seven seconds: ann's deadline has passed, though nothing more came of her.
//! assert_eq!(told, [(Some("ann".to_string()), Verdict::Violated)]);
//! # Ok(())
//! # }
//! ```
//!
//! **Time.** It passes in every key's trace as the log goes on: with each position, of whatever key or of none, and with
//! [`ShardMonitor::watermark`], all deadlines before it are missed. Only keys with such deadlines are touched.
//!
//! **Keys** are texts, numbers as they were written. Positions where the key is null or empty belong to no key.
//!
//! **Monitors** of a specification have numbers behind those of properties and queries; each of their reports is an [`Outcome`] with its
//! [`report`](Outcome::report).
//!
//! **Memory.** A key costs its text, some 15 bytes, and 4 for each property; a property that an automaton runs and that is open
//! 25 bytes more, one with an interval some 850, a query its statistics. Vectors that grow have room to spare, up to as much
//! again. What is settled costs nothing beyond the key. `tests/shards.rs` measures, with texts of six bytes: 36 bytes for a key
//! whose property is settled, 68 for one whose property is open, 408 with ten of them, 890 with a deadline.

mod deadlines;
mod ending;
mod feed;
mod keys;
mod parametric;
mod plan;
mod push;
mod rows;
mod shard;
mod snapshot;

pub use ending::{Ended, EndedValue, Ending};
pub(crate) use feed::Prepared;
pub use plan::{Plan, PlanOptions, Planned};
pub use rows::Row;
pub use shard::{End, Outcome, ShardMonitor};
pub use snapshot::Restored;
pub use tw_core::{Batch, Bits, Column};
pub use tw_ir::{Fingerprint, Slot};
pub use tw_monitor::{Bindings, Computed, Known, Obligation, Telling};

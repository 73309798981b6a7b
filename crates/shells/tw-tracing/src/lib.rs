//! A [`tracing`] layer that checks properties inside the program it observes.
//!
//! Spans and events of the program become positions of a trace, and the properties of a specification are checked as it
//! runs: a violation is told the moment no continuation can undo it, with the events that led to it and their places in
//! the source.
//!
//! ```
//! use tracewise::Specification;
//! use tracing::info;
//! use tracing_subscriber::prelude::*;
//!
//! # fn main() -> Result<(), tracewise::Error> {
//! let spec = Specification::from_formula("G (withdraw -> balance >= 0)")?;
//! let (layer, guard) = tw_tracing::builder().check(&spec)?.on_violation(|v| println!("{v}")).build();
//! let _scope = tracing_subscriber::registry().with(layer).set_default();
//!
//! info!(amount = 80, balance = 20, "withdraw");
//! info!(amount = 80, balance = -60, "withdraw");
//!
//! let outcomes = guard.finish()?;
//! assert!(!outcomes[0].holds);
//! # Ok(())
//! # }
//! ```
//!
//! # From tracing to a trace
//!
//! | in the program | in the trace |
//! |---|---|
//! | `info!(event = "withdraw", amount = 80)` | the event `withdraw(amount: 80)` |
//! | `info!(name: "withdraw", amount = 80)` | the same |
//! | `info!(amount = 80, "withdraw")` | the same: a message that is a plain name is the event's name |
//! | `info!(amount = 80, "paid out in cash")` | an event named by its target (the module), with the argument `message` |
//! | `info_span!("request", id = 7)` | `request(id: 7)` when made and `request_end(id: 7)` when closed |
//! | an event inside that span | has the argument `id: 7` too, unless it has its own `id` |
//!
//! Fields are truth values, whole numbers, reals and text as they were recorded; `%x` and `?x` are text. Beside them every
//! event has `thread` (its name or number), `level` and `target`, unless it has its own fields of those names.
//!
//! # What counts as a position
//!
//! Events that the specification names, and events that carry a field which it reads as a variable. All other events
//! are passed over: logging of libraries does not come between `X` and the next event of the program. (If the
//! specification reads `thread`, `level` or `target`, which every event has, or with [`Builder::every_event`], all
//! count.) What is written or sent ([`Builder::write_to`], [`Builder::send_tcp`]) is every event, as one JSON object per
//! line, for `tracewise check`, `tracewise races` or `tracewise watch --listen`.
//!
//! # Cost
//!
//! A callsite that cannot matter costs one look-up in a table, and its fields are not touched. An event that counts is
//! evaluated under one lock, in the thread that made it: the order of positions is the order in which threads get
//! that lock.

mod builder;
mod callsite;
mod layer;
mod observer;
mod outlet;
mod record;
mod violation;

pub use builder::{Builder, builder};
pub use layer::ObserverLayer;
pub use observer::{Guard, Outcome};
pub use record::Record;
pub use violation::Violation;

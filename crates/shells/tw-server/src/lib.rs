//! The server: events in, verdicts out, nothing lost in between.
//!
//! ```text
//! a request → its body, unpacked ([`ingest`]) → a stream's gate: can the lines be read? → its log on disk ([`log`])
//!           → its judge, a thread ([`judge`]): every specification about it → violations ([`verdicts`]) → feeds, lists, figures ([`http`])
//! a broker  → its messages ([`sources`]) → the same gate and log, with how far the broker has been read in the same record
//! ```
//!
//! The log is the queue. What is acknowledged is in it; who judges reads it, from a checkpoint after a restart; what is found
//! again has the same id. [`Server::start`] is the door for a program, `tracewise serve` that for people.

mod cluster;
mod config;
mod demo;
mod history;
mod http;
mod ingest;
mod judge;
mod log;
mod metrics;
mod names;
mod pack;
mod server;
mod sources;
mod specs;
mod stream;
mod trial;
mod verdicts;
mod words;

pub use config::{ClientLimits, Config};
pub use log::Limits;
pub use server::Server;
pub use sources::{SourceConfig, configured as configured_sources};

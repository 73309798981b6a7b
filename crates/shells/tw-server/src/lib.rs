//! The server: events in, verdicts out, nothing lost in between.
//!
//! ```text
//! a request → its body, unpacked ([`ingest`]) → a stream's gate: can the lines be read? → its log on disk ([`log`])
//!           → its judge, a thread ([`judge`]): every specification about it → violations ([`verdicts`]) → feeds, lists, figures ([`http`])
//! a broker  → its messages ([`sources`]) → the same gate and log, with how far the broker has been read in the same record
//! ```
//!
//! Lines come by other ways, too: as a flow, from OpenTelemetry (`otlp`), from sockets and syslog (`listen`); all of them come to
//! the same gate and log (`intake`).
//!
//! The log is the queue. What is acknowledged is in it; who judges reads it, from a checkpoint after a restart; what is found
//! again has the same id. [`Server::start`] is the door for a program, `tracewise serve` that for people.

mod cluster;
mod config;
mod demo;
mod history;
mod http;
mod ingest;
mod intake;
mod judge;
mod limits;
mod listen;
mod log;
mod metrics;
mod names;
mod otlp;
mod pack;
mod server;
mod sources;
mod specs;
mod stream;
mod tls;
mod tokens;
mod trial;
mod verdicts;
mod webhooks;
mod words;

pub use config::{ClientLimits, Config, Listening};
pub use listen::{At, Kind, Open, Place};
pub use log::Limits;
pub use server::Server;
pub use sources::{SourceConfig, configured as configured_sources};
pub use tls::Files as TlsFiles;
pub use tokens::new_token;

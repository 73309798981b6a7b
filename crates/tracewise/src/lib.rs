//! Tracewise as a library: one way from bytes to an explained verdict.
//!
//! ```no_run
//! use tracewise::check::CheckOptions;
//! use tracewise::{Session, Specification};
//! # fn main() -> Result<(), tracewise::Error> {
//! let spec = Specification::from_formula("G (req -> F ack)")?;
//! let report = Session::new().check(&spec, &["requests.csv".to_string()], &CheckOptions::default())?;
//! for property in &report.properties {
//!     println!("{}: {}", property.name, property.verdict.as_str());
//! }
//! # Ok(())
//! # }
//! ```
//!
//! [`Specification`] is a parsed, checked and lowered text; [`Session`] says how traces are read and formulas evaluated, and
//! ends in a verb, whose module holds its options and its report: bytes → batches ([`trace`]) → atoms → an engine
//! ([`engines`]) → a [`check::CheckReport`].
//!
//! | to | there is |
//! |---|---|
//! | ask a stored trace | [`check`], [`eval`], [`query`], [`robust`], [`imprecise`] (what verdicts say when clocks err), [`slicing`] (one log in many pieces), [`classify`] (which traces fail alike) |
//! | ask a live one | [`watch`] (bytes), `record` (a program and what it asks of libc), [`embed`] (positions, from code), [`live`] (a trace per key, from code), [`generate`] (a function per event) |
//! | look at traces | [`trace`], [`inspect`], [`convert`], [`mod@slice`], [`templates`], [`races`], [`spl`] (simulated programs) |
//! | merge traces and ask the model | [`merge`], [`model`] |
//! | look at specifications | [`library`] (monitors that are there), [`mod@chart`], [`explain`], [`language`], [`import`], [`mod@test`], [`init`], [`ir`] |
//! | tell what was found | [`findings`] (every report in one shape, and as JSON), [`diag`], `plot`, `sequence` (charts as pictures), [`files`] |

#[cfg(feature = "parquet")]
mod batches;
pub mod chart;
pub mod check;
pub mod classify;
pub mod convert;
pub mod embed;
pub mod engines;
pub mod error;
pub mod eval;
pub mod explain;
pub mod files;
pub mod findings;
pub mod generate;
pub mod import;
pub mod imprecise;
pub mod init;
pub mod inspect;
pub mod language;
pub mod library;
pub mod live;
pub mod merge;
pub mod model;
mod monitors;
mod narrate;
mod narrate_dense;
mod plan;
pub mod query;
pub mod races;
#[cfg(target_os = "linux")]
pub mod record;
pub mod require;
pub mod robust;
mod run;
#[cfg(feature = "plot")]
pub mod sequence;
mod session;
pub mod slice;
pub mod slicing;
mod specification;
mod statistics;
pub mod stream;
pub mod templates;
pub mod test;
pub mod trace;
pub mod watch;

pub use error::Error;
pub use session::{Evaluating, Session};
pub use specification::Specification;
pub use tw_core::{Time, TimeUnit, Value, Verdict};
pub use tw_diag as diag;
pub use tw_ir::{self as ir, Clock, Semantics};
#[cfg(feature = "plot")]
pub use tw_plot as plot;
pub use tw_spl as spl;
pub use tw_trace::ReadOptions as Reading;

//! Random programs and traces, engines compared with the reference, explanations checked. For tests only.
//!
//! - [`generate`]: a [`Case`] is a program and a trace made from a seed, the same on every machine.
//! - [`mod@conformance`]: compares an engine with the reference on many cases and shrinks the first disagreement to
//!   something that a person can read. `compare(&MyEngine, &Shape::SMALL, 0..cases(10_000))` is the test of a new engine.
//! - [`compare_online`]: live monitors fed in any chunks, saved and restored, against the reference.
//! - [`interleave`]: several traces through one monitor, against a monitor for each.
//! - [`first_order`]: random quantifiers, and engines for them against the reference.
//! - [`parametric`]: random parametric monitors and logs.
//! - [`query`]: random queries, and engines for queries against the reference.
//! - [`protocols`]: simulators of published experiments.
//! - [`texts`]: programs from text.
//! - [`lasso`]: truth on infinite words, the oracle of three-valued verdicts.
//! - [`check_explanation`]: validates explanations by the definitions alone.
//!
//! ```
//! use tw_engine_reference::Reference;
//! use tw_testkit::{Shape, conformance};
//!
//! let summary = conformance::compare(&Reference, &Shape::SMALL, 0..20);
//! assert_eq!(summary.compared, 20);
//! ```

pub mod conformance;
mod explanation;
pub mod first_order;
pub mod generate;
pub mod interleave;
pub mod lasso;
pub mod online;
pub mod parametric;
pub mod protocols;
pub mod query;
mod rng;
mod shrink;
pub mod texts;

pub use conformance::cases;
pub use explanation::check_explanation;
pub use generate::{Case, Shape};
pub use interleave::interleaved_difference;
pub use online::compare_online;
pub use rng::Rng;
pub use shrink::shrink;

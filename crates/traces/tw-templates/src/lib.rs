//! The templates of a text log, found by looking at it.
//!
//! A program writes a line by filling the gaps of a text. [`Miner`] reads lines in one pass and finds those texts:
//!
//! 1. [`header`]: what stands in front of every line (time, host, level, component) is found in the first lines and left out.
//! 2. [`mask`]: numbers, addresses, identifiers and paths are masked. What remains of a line is its *signature*, and a line whose
//!    signature is known costs one pass over its bytes and one look-up.
//! 3. [`cluster`]: signatures of one length are put together by words that occur equally often ("Brain: Log Parsing with
//!    Bidirectional Parallel Tree", Yu et al.): the longest such group is what the lines have in common, a place with few words is
//!    a choice of the program, one with many is a gap.
//! 4. [`template`]: a cluster is written as a template with named, typed gaps, and gets a name.
//!
//! ```
//! let mut miner = tw_templates::Miner::new(tw_templates::Limits::default());
//! for n in 0..9 {
//!     miner.push(format!("Dec 10 06:55:4{n} host sshd[{n}]: Failed password for root from 10.0.0.{n} port 389{n} ssh2").as_bytes());
//! }
//! let found = miner.finish();
//! assert_eq!(found.templates[0].text, "Failed password for root from {a} port {b:int} ssh2");
//! assert_eq!(found.templates[0].name, "failed_password_for_root");
//! ```
//!
//! Cost: about 3 ns per byte of a line; memory: an example and a few words per signature, of which there are at most
//! [`Limits::signatures`]; beyond, they are put together as at the end, and the report says so.

pub mod cluster;
pub mod header;
pub mod mask;
mod miner;
pub mod template;

pub use miner::{Found, Limits, Miner};
pub use template::Template;

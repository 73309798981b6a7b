//! The specification language: its parser and printer, and the library of patterns.

pub use tw_spec::{PATTERNS, PatternDoc, parse, print};

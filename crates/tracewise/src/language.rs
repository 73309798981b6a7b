//! The specification language: its parser and printer, the settings that a specification holds, and the library of patterns.

pub use tw_spec::ast::settings::TraceSettings;
pub use tw_spec::{PATTERNS, PatternDoc, parse, parse_charts, print};

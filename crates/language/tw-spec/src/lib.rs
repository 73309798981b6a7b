//! The specification language: text in, [`tw_ir::Program`] out.
//!
//! [`parse`] always returns a tree, with findings beside it; [`lower()`] resolves names, expands macros, checks
//! types and builds the IR; [`print()`] writes the canonical form of a tree.

pub mod ast;
mod lexer;
mod lower;
mod names;
mod parser;
mod patterns;
mod print;

pub use lexer::{Word, WordKind, is_plain_name, words};
pub use lower::{ChartEvents, LowerOptions, lower};
pub use names::{Name, NameKind, Names, Use};
pub use parser::{parse, parse_branching, parse_charts, parse_formula, parse_patterns, parse_query};
pub use patterns::{PATTERNS, PatternDoc};
pub use print::{print, print_expr};

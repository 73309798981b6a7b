//! Values, time, bit columns and verdicts: the vocabulary every other crate speaks.
//!
//! Nothing here reads files (but for the one way to read and write them whole, [`NewFile`]), parses text beyond numbers and instants, or knows about logic.
//!
//! ```
//! use tw_core::Bits;
//! let mut bits = Bits::new();
//! bits.push(true);
//! bits.push(false);
//! assert_eq!(bits.iter_ones().collect::<Vec<_>>(), [0]);
//! ```
//!
//! Next: `tw-ir` for formulas, `tw-trace` for where columns come from.

mod bits;
pub mod codec;
mod column;
mod components;
mod files;
mod relation;
mod suggest;
mod time;
mod value;
mod verdict;
mod words;
mod xml;

pub use bits::Bits;
pub use column::{Batch, Column, Dictionary, GrowingTexts};
pub use components::Components;
pub use files::{LONGEST_TEXT, NewFile, read_all, read_file, read_input, write_file};
pub use relation::Relation;
pub use suggest::suggest;
pub use time::{Time, TimeError, TimeUnit, duration};
pub use value::Value;
pub use verdict::{Truth, Verdict};
pub use words::Words;
pub use xml::xml;

/// Index of a position in a trace, from 0.
pub type Position = usize;

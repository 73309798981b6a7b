//! Writing files: whole, or not at all.

pub use tw_core::{NewFile, write_file};

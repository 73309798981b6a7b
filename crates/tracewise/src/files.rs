//! Files: written whole or not at all, read whole up to a limit.

pub use tw_core::{LONGEST_TEXT, NewFile, read_input, write_file};

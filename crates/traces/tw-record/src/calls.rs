//! The calls that are recorded, as the table `preload/calls.txt` says: the same that the preloaded library is made from.

/// What an argument is, and how it is written.
pub use table::Kind;

mod table {
    #![allow(dead_code)] // the build script reads lines, the crate their kinds alone
    include!("../preload/table.rs");
}

/// A call.
#[derive(Debug)]
pub struct Call {
    /// Its name, which is that of the event.
    pub name: &'static str,
    /// Whether its place among all events is taken when it is made, not when it has come back.
    pub before: bool,
    /// Whether its result is a pointer.
    pub pointer: bool,
    /// Under which name its result is written.
    pub result: &'static str,
    /// Its arguments and their names.
    pub arguments: &'static [(Kind, &'static str)],
}

include!(concat!(env!("OUT_DIR"), "/calls.rs"));

/// The number of a call in records.
pub(crate) fn number(name: &str) -> u16 {
    CALLS.iter().position(|call| call.name == name).map_or(u16::MAX, |at| at as u16)
}

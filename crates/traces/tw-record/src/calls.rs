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
pub(crate) const fn number(name: &str) -> u16 {
    let mut at = 0;
    while at < CALLS.len() {
        if equal(CALLS[at].name.as_bytes(), name.as_bytes()) {
            return at as u16;
        }
        at += 1;
    }
    panic!("no such call")
}

const fn equal(a: &[u8], b: &[u8]) -> bool {
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at == a.len() && at == b.len()
}

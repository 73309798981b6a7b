//! Numbers as a checkpoint holds them: those of the codec, with errors in words.

use tw_core::Time;
use tw_core::codec::{self, Corrupt};
pub(super) use tw_core::codec::{
    put as number_out, put_bytes, put_option as put_time, put_signed as signed_out,
};

fn worded<T>(taken: Result<T, Corrupt>) -> Result<T, String> {
    taken.map_err(|corrupt| corrupt.to_string())
}

pub(super) fn number(from: &mut &[u8]) -> Result<u64, String> {
    worded(codec::take(from))
}

/// A number of either sign, small ones short.
pub(super) fn signed(from: &mut &[u8]) -> Result<i64, String> {
    worded(codec::take_signed(from))
}

pub(super) fn bytes<'b>(from: &mut &'b [u8]) -> Result<&'b [u8], String> {
    worded(codec::take_bytes(from))
}

pub(super) fn text(from: &mut &[u8]) -> Result<String, String> {
    bytes(from).map(|bytes| String::from_utf8_lossy(bytes).into_owned())
}

/// A time that may not be known.
pub(super) fn time(from: &mut &[u8]) -> Result<Option<Time>, String> {
    worded(codec::take_option(from))
}

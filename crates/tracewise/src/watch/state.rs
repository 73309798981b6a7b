//! Numbers as a checkpoint holds them.

use tw_monitor::{put, take};

pub(super) fn number_out(number: u64, out: &mut Vec<u8>) {
    put(number, out);
}

pub(super) fn number(from: &mut &[u8]) -> Result<u64, String> {
    take(from).map_err(|corrupt| corrupt.to_string())
}

/// A number of either sign, small ones short.
pub(super) fn signed_out(number: i64, out: &mut Vec<u8>) {
    put((number << 1 ^ number >> 63) as u64, out);
}

pub(super) fn signed(from: &mut &[u8]) -> Result<i64, String> {
    let number = number(from)?;
    Ok((number >> 1) as i64 ^ -((number & 1) as i64))
}

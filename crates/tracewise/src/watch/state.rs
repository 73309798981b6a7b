//! Numbers as a checkpoint holds them.

use tw_core::Time;
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

pub(super) fn put_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    put(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

pub(super) fn bytes<'b>(from: &mut &'b [u8]) -> Result<&'b [u8], String> {
    let len = usize::try_from(number(from)?).unwrap_or(usize::MAX);
    let (part, rest) = from.split_at_checked(len).ok_or("it is cut short")?;
    *from = rest;
    Ok(part)
}

pub(super) fn text(from: &mut &[u8]) -> Result<String, String> {
    bytes(from).map(|bytes| String::from_utf8_lossy(bytes).into_owned())
}

/// A time that may not be known.
pub(super) fn put_time(time: Option<Time>, out: &mut Vec<u8>) {
    put(u64::from(time.is_some()), out);
    signed_out(time.unwrap_or(0), out);
}

pub(super) fn time(from: &mut &[u8]) -> Result<Option<Time>, String> {
    let known = number(from)? == 1;
    Ok(Some(signed(from)?).filter(|_| known))
}

//! Saving and loading what statistics keep.

pub use tw_core::codec::*;

pub fn corrupt<T>(what: &str) -> Result<T, Corrupt> {
    Err(Corrupt(format!("the saved statistic holds {what}")))
}

/// Bytes that another library reads back, with a check sum: it is handed nothing that was damaged.
pub fn put_checked(bytes: &[u8], out: &mut Vec<u8>) {
    put_word(check_sum(bytes), out);
    put_bytes(bytes, out);
}

pub fn take_checked<'a>(from: &mut &'a [u8]) -> Result<&'a [u8], Corrupt> {
    let sum = take_word(from)?;
    let bytes = take_bytes(from)?;
    if check_sum(bytes) != sum {
        return corrupt("a sketch that was damaged");
    }
    Ok(bytes)
}

/// FNV-1a.
fn check_sum(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}

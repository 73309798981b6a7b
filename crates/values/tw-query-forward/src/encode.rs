//! Numbers, texts, values and streams as bytes. What is read back may come from anywhere: it is checked, never trusted.

use crate::stream::{Cell, Data, Stream};
use std::sync::Arc;
use tw_core::codec::*;

pub(crate) fn corrupt(what: &str) -> Corrupt {
    Corrupt(format!("the saved state of a query {what}"))
}

pub(crate) fn place(from: &mut &[u8]) -> Result<usize, Corrupt> {
    // Sums of positions stay far from the end of the numbers.
    usize::try_from(take(from)?).ok().filter(|place| *place < 1 << 60).ok_or_else(|| corrupt("is damaged"))
}

pub(crate) fn flag(from: &mut &[u8]) -> Result<bool, Corrupt> {
    match take(from)? {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(corrupt("is damaged")),
    }
}

pub(crate) fn save_error(error: Option<&Arc<str>>, out: &mut Vec<u8>) {
    put(u64::from(error.is_some()), out);
    if let Some(error) = error {
        put_text(error, out);
    }
}

pub(crate) fn load_error(from: &mut &[u8]) -> Result<Option<Arc<str>>, Corrupt> {
    Ok(if flag(from)? { Some(take_text(from)?) } else { None })
}

pub(crate) fn save_stream(stream: &Stream, out: &mut Vec<u8>) {
    for place in [stream.base, stream.live, stream.end] {
        put(place as u64, out);
    }
    let words = |words: &[u64], out: &mut Vec<u8>| {
        words.iter().for_each(|word| put_word(*word, out));
    };
    match &stream.data {
        Data::Truth(bits) => {
            out.push(0);
            words(bits, out);
        }
        Data::Int { values, valid } => {
            out.push(1);
            words(valid, out);
            values.iter().for_each(|value| out.extend_from_slice(&value.to_le_bytes()));
        }
        Data::Real { values, valid } => {
            out.push(2);
            words(valid, out);
            values.iter().for_each(|value| put_word(value.to_bits(), out));
        }
        Data::Any(cells) => {
            out.push(3);
            for cell in cells {
                save_error(cell.as_ref().err(), out);
                if let Ok(value) = cell {
                    put_value(value, out);
                }
            }
        }
    }
}

pub(crate) fn load_stream(from: &mut &[u8]) -> Result<Stream, Corrupt> {
    let (base, live, end) = (place(from)?, place(from)?, place(from)?);
    if base % 64 != 0 || base > live || live > end {
        return Err(corrupt("is damaged"));
    }
    let held = end - base;
    let kind = take_byte(from)?;
    // Every entry takes a bit at least: no more entries than there are bits.
    if held / 8 > from.len() {
        return Err(corrupt("is cut short"));
    }
    let words = |from: &mut &[u8]| {
        let mut words: Vec<u64> = Vec::with_capacity(held.div_ceil(64));
        for _ in 0..held.div_ceil(64) {
            words.push(take_word(from)?);
        }
        if held % 64 != 0
            && let Some(last) = words.last_mut()
        {
            *last &= (1 << (held % 64)) - 1;
        }
        Ok::<_, Corrupt>(words)
    };
    let data = match kind {
        0 => Data::Truth(words(from)?),
        1 => {
            let valid = words(from)?;
            let values =
                (0..held).map(|_| Ok(i64::from_le_bytes(take_fixed(from)?))).collect::<Result<_, _>>()?;
            Data::Int { values, valid }
        }
        2 => {
            let valid = words(from)?;
            let value = |_| Ok(f64::from_bits(take_word(from)?));
            Data::Real { values: (0..held).map(value).collect::<Result<_, _>>()?, valid }
        }
        3 => {
            let cell = |_| match load_error(from)? {
                Some(error) => Ok(Err(error)),
                None => Ok(Ok(take_value(from)?)),
            };
            Data::Any((0..held).map(cell).collect::<Result<Vec<Cell>, Corrupt>>()?)
        }
        _ => return Err(corrupt("is damaged")),
    };
    Ok(Stream { base, live, end, data })
}

//! Numbers, texts, values and streams as bytes. What is read back may come from anywhere: it is checked, never trusted.

use crate::stream::{Cell, Data, Stream};
use std::sync::Arc;
use tw_core::Value;
use tw_monitor::{Corrupt, put, take};

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

/// A length, of things that take at least a byte each: no more than there are bytes.
fn length(from: &mut &[u8]) -> Result<usize, Corrupt> {
    let length = place(from)?;
    if length <= from.len() { Ok(length) } else { Err(corrupt("is cut short")) }
}

pub(crate) fn fixed<const N: usize>(from: &mut &[u8]) -> Result<[u8; N], Corrupt> {
    let (bytes, rest) = from.split_first_chunk::<N>().ok_or_else(|| corrupt("is cut short"))?;
    *from = rest;
    Ok(*bytes)
}

fn save_text(text: &str, out: &mut Vec<u8>) {
    put(text.len() as u64, out);
    out.extend_from_slice(text.as_bytes());
}

fn load_text(from: &mut &[u8]) -> Result<Arc<str>, Corrupt> {
    let length = length(from)?;
    let (text, rest) = from.split_at(length);
    *from = rest;
    std::str::from_utf8(text).map(Into::into).map_err(|_| corrupt("is damaged"))
}

pub(crate) fn save_error(error: Option<&Arc<str>>, out: &mut Vec<u8>) {
    put(u64::from(error.is_some()), out);
    if let Some(error) = error {
        save_text(error, out);
    }
}

pub(crate) fn load_error(from: &mut &[u8]) -> Result<Option<Arc<str>>, Corrupt> {
    Ok(if flag(from)? { Some(load_text(from)?) } else { None })
}

/// Values nest as deeply as the trace says, hence no recursion: parts follow the whole.
pub(crate) fn save_value(value: &Value, out: &mut Vec<u8>) {
    let mut todo: Vec<(Option<&str>, &Value)> = vec![(None, value)];
    while let Some((key, value)) = todo.pop() {
        if let Some(key) = key {
            save_text(key, out);
        }
        match value {
            Value::Null => out.push(0),
            Value::Bool(value) => out.push(1 + u8::from(*value)),
            Value::Int(value) => {
                out.push(3);
                out.extend_from_slice(&value.to_le_bytes());
            }
            Value::Real(value) => {
                out.push(4);
                out.extend_from_slice(&value.to_bits().to_le_bytes());
            }
            Value::Str(text) => {
                out.push(5);
                save_text(text, out);
            }
            Value::List(items) => {
                out.push(6);
                put(items.len() as u64, out);
                todo.extend(items.iter().rev().map(|item| (None, item)));
            }
            Value::Object(fields) => {
                out.push(7);
                put(fields.len() as u64, out);
                todo.extend(fields.iter().rev().map(|(key, value)| (Some(&**key), value)));
            }
        }
    }
}

pub(crate) fn load_value(from: &mut &[u8]) -> Result<Value, Corrupt> {
    // Lists and objects whose parts are being read: how many are missing, and the key of the next whole.
    let mut open: Vec<(Value, usize, Option<Arc<str>>)> = Vec::new();
    loop {
        let key = match open.last() {
            Some((Value::Object(_), ..)) => Some(load_text(from)?),
            _ => None,
        };
        let mut value = match fixed::<1>(from)?[0] {
            0 => Value::Null,
            1 => Value::Bool(false),
            2 => Value::Bool(true),
            3 => Value::Int(i64::from_le_bytes(fixed(from)?)),
            4 => Value::Real(f64::from_bits(u64::from_le_bytes(fixed(from)?))),
            5 => Value::Str(load_text(from)?),
            tag @ (6 | 7) => {
                let count = length(from)?;
                let whole = if tag == 6 { Value::List(Vec::new()) } else { Value::Object(Vec::new()) };
                if count > 0 {
                    open.push((whole, count, key));
                    continue;
                }
                whole
            }
            _ => return Err(corrupt("is damaged")),
        };
        let mut key = key;
        loop {
            let Some((whole, missing, _)) = open.last_mut() else { return Ok(value) };
            match whole {
                Value::List(items) => items.push(value),
                Value::Object(fields) => fields.push((key.unwrap_or_else(|| "".into()), value)),
                _ => return Err(corrupt("is damaged")),
            }
            *missing -= 1;
            if *missing > 0 {
                break;
            }
            let Some((whole, _, own)) = open.pop() else { return Err(corrupt("is damaged")) };
            (value, key) = (whole, own);
        }
    }
}

pub(crate) fn save_stream(stream: &Stream, out: &mut Vec<u8>) {
    for place in [stream.base, stream.live, stream.end] {
        put(place as u64, out);
    }
    let words = |words: &[u64], out: &mut Vec<u8>| {
        words.iter().for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
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
            values.iter().for_each(|value| out.extend_from_slice(&value.to_bits().to_le_bytes()));
        }
        Data::Any(cells) => {
            out.push(3);
            for cell in cells {
                save_error(cell.as_ref().err(), out);
                if let Ok(value) = cell {
                    save_value(value, out);
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
    let kind = fixed::<1>(from)?[0];
    // Every entry takes a bit at least: no more entries than there are bits.
    if held / 8 > from.len() {
        return Err(corrupt("is cut short"));
    }
    let words = |from: &mut &[u8]| {
        let mut words: Vec<u64> = Vec::with_capacity(held.div_ceil(64));
        for _ in 0..held.div_ceil(64) {
            words.push(u64::from_le_bytes(fixed(from)?));
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
            let values = (0..held).map(|_| Ok(i64::from_le_bytes(fixed(from)?))).collect::<Result<_, _>>()?;
            Data::Int { values, valid }
        }
        2 => {
            let valid = words(from)?;
            let value = |_| Ok(f64::from_bits(u64::from_le_bytes(fixed(from)?)));
            Data::Real { values: (0..held).map(value).collect::<Result<_, _>>()?, valid }
        }
        3 => {
            let cell = |_| match load_error(from)? {
                Some(error) => Ok(Err(error)),
                None => Ok(Ok(load_value(from)?)),
            };
            Data::Any((0..held).map(cell).collect::<Result<Vec<Cell>, Corrupt>>()?)
        }
        _ => return Err(corrupt("is damaged")),
    };
    Ok(Stream { base, live, end, data })
}

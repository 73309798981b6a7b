//! Saving and loading: numbers in seven bits a byte, values without recursion.

use std::sync::Arc;
use tw_core::Value;
use tw_monitor::{Corrupt, put, take};

/// How deep a loaded value may nest: readers of traces stop at 512, experiments add a pair here and there.
const DEPTH: usize = 2048;

pub fn corrupt<T>(what: &str) -> Result<T, Corrupt> {
    Err(Corrupt(format!("the saved statistic holds {what}")))
}

/// A signed number, small magnitudes short.
pub fn put_signed(number: i64, out: &mut Vec<u8>) {
    put((number << 1 ^ number >> 63) as u64, out);
}

pub fn take_signed(from: &mut &[u8]) -> Result<i64, Corrupt> {
    let bits = take(from)?;
    Ok((bits >> 1) as i64 ^ -((bits & 1) as i64))
}

/// Eight bytes.
pub fn put_word(word: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(&word.to_le_bytes());
}

pub fn take_word(from: &mut &[u8]) -> Result<u64, Corrupt> {
    let Some((bytes, rest)) = from.split_first_chunk::<8>() else { return corrupt("less than it says") };
    *from = rest;
    Ok(u64::from_le_bytes(*bytes))
}

pub fn take_byte(from: &mut &[u8]) -> Result<u8, Corrupt> {
    let Some((byte, rest)) = from.split_first() else { return corrupt("less than it says") };
    *from = rest;
    Ok(*byte)
}

/// A number of things that take at least one byte each.
pub fn take_len(from: &mut &[u8]) -> Result<usize, Corrupt> {
    let len = take(from)?;
    if len > from.len() as u64 {
        return corrupt("less than it says");
    }
    Ok(len as usize)
}

pub fn put_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    put(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

pub fn take_bytes<'a>(from: &mut &'a [u8]) -> Result<&'a [u8], Corrupt> {
    let len = take_len(from)?;
    let (bytes, rest) = from.split_at(len);
    *from = rest;
    Ok(bytes)
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

fn put_text(text: &str, out: &mut Vec<u8>) {
    put_bytes(text.as_bytes(), out);
}

fn take_text(from: &mut &[u8]) -> Result<Arc<str>, Corrupt> {
    match std::str::from_utf8(take_bytes(from)?) {
        Ok(text) => Ok(text.into()),
        Err(_) => corrupt("text that is not UTF-8"),
    }
}

pub fn put_value(value: &Value, out: &mut Vec<u8>) {
    // What is still to be written, the next last: a value, perhaps under a key.
    let mut todo = vec![(None::<&str>, value)];
    while let Some((key, value)) = todo.pop() {
        if let Some(key) = key {
            put_text(key, out);
        }
        match value {
            Value::Null => out.push(0),
            Value::Bool(bool) => out.push(1 + u8::from(*bool)),
            Value::Int(int) => {
                out.push(3);
                put_signed(*int, out);
            }
            Value::Real(real) => {
                out.push(4);
                put_word(real.to_bits(), out);
            }
            Value::Str(text) => {
                out.push(5);
                put_text(text, out);
            }
            Value::List(items) => {
                out.push(6);
                put(items.len() as u64, out);
                todo.extend(items.iter().rev().map(|item| (None, item)));
            }
            Value::Object(fields) => {
                out.push(7);
                put(fields.len() as u64, out);
                todo.extend(fields.iter().rev().map(|(key, item)| (Some(key.as_ref()), item)));
            }
        }
    }
}

pub fn take_value(from: &mut &[u8]) -> Result<Value, Corrupt> {
    // Lists and objects that are still open, with the number of parts to come.
    let mut open: Vec<(Value, usize)> = Vec::new();
    let mut keys: Vec<Arc<str>> = Vec::new();
    loop {
        if let Some((Value::Object(_), _)) = open.last() {
            keys.push(take_text(from)?);
        }
        let mut value = match take_byte(from)? {
            0 => Value::Null,
            1 => Value::Bool(false),
            2 => Value::Bool(true),
            3 => Value::Int(take_signed(from)?),
            4 => match f64::from_bits(take_word(from)?) {
                real if real.is_finite() => Value::Real(real),
                _ => return corrupt("a number that is not finite"),
            },
            5 => Value::Str(take_text(from)?),
            kind @ (6 | 7) => {
                let value = if kind == 6 { Value::List(Vec::new()) } else { Value::Object(Vec::new()) };
                match take_len(from)? {
                    0 => value,
                    _ if open.len() == DEPTH => return corrupt("a value that nests too deep"),
                    len => {
                        open.push((value, len));
                        continue;
                    }
                }
            }
            _ => return corrupt("a value of an unknown kind"),
        };
        // Close what is complete.
        loop {
            let Some((parent, missing)) = open.last_mut() else { return Ok(value) };
            match parent {
                Value::Object(fields) => fields.push((keys.pop().expect("a key was read"), value)),
                Value::List(items) => items.push(value),
                _ => unreachable!("only lists and objects are open"),
            }
            *missing -= 1;
            if *missing > 0 {
                break;
            }
            value = open.pop().expect("it was there").0;
        }
    }
}

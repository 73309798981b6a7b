//! Numbers, texts and values as bytes, for states that another process goes on from. What is read back may come from
//! anywhere: it is checked, never trusted; numbers take seven bits a byte, values are walked without recursion.

use crate::Value;
use std::sync::Arc;

/// How deep a loaded value may nest: readers of traces stop at 512, experiments add a pair here and there.
const DEPTH: usize = 2048;

/// What was saved cannot be read back: another program, another version, or damage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Corrupt(pub String);

impl std::fmt::Display for Corrupt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Corrupt {}

fn corrupt<T>(what: &str) -> Result<T, Corrupt> {
    Err(Corrupt(format!("the saved state holds {what}")))
}

fn cut_short<T>() -> Result<T, Corrupt> {
    Err(Corrupt("the saved state is cut short".into()))
}

/// Appends a number to what is saved, seven bits to a byte.
pub fn put(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Reads back what [`put`] wrote, advancing `from`.
pub fn take(from: &mut &[u8]) -> Result<u64, Corrupt> {
    let mut number = 0u64;
    for shift in (0..64).step_by(7) {
        let byte = take_byte(from)?;
        if shift == 63 && byte > 1 {
            break;
        }
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok(number);
        }
    }
    corrupt("a number of more than 64 bits")
}

/// A signed number, small magnitudes short.
pub fn put_signed(number: i64, out: &mut Vec<u8>) {
    put((number << 1 ^ number >> 63) as u64, out);
}

/// Reads back what [`put_signed`] wrote.
pub fn take_signed(from: &mut &[u8]) -> Result<i64, Corrupt> {
    let bits = take(from)?;
    Ok((bits >> 1) as i64 ^ -((bits & 1) as i64))
}

/// Eight bytes.
pub fn put_word(word: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(&word.to_le_bytes());
}

/// Reads back what [`put_word`] wrote.
pub fn take_word(from: &mut &[u8]) -> Result<u64, Corrupt> {
    take_fixed(from).map(u64::from_le_bytes)
}

/// One byte.
pub fn take_byte(from: &mut &[u8]) -> Result<u8, Corrupt> {
    let Some((byte, rest)) = from.split_first() else { return cut_short() };
    *from = rest;
    Ok(*byte)
}

/// As many bytes as the type says.
pub fn take_fixed<const N: usize>(from: &mut &[u8]) -> Result<[u8; N], Corrupt> {
    let Some((bytes, rest)) = from.split_first_chunk::<N>() else { return cut_short() };
    *from = rest;
    Ok(*bytes)
}

/// The next `len` bytes.
pub fn take_part<'a>(len: usize, from: &mut &'a [u8]) -> Result<&'a [u8], Corrupt> {
    let Some((part, rest)) = from.split_at_checked(len) else { return cut_short() };
    *from = rest;
    Ok(part)
}

/// A number of things that take at least one byte each.
pub fn take_len(from: &mut &[u8]) -> Result<usize, Corrupt> {
    let len = take(from)?;
    if len > from.len() as u64 {
        return cut_short();
    }
    Ok(len as usize)
}

/// Bytes, and before them how many.
pub fn put_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    put(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

/// Reads back what [`put_bytes`] wrote.
pub fn take_bytes<'a>(from: &mut &'a [u8]) -> Result<&'a [u8], Corrupt> {
    let len = take_len(from)?;
    take_part(len, from)
}

/// Text.
pub fn put_text(text: &str, out: &mut Vec<u8>) {
    put_bytes(text.as_bytes(), out);
}

/// Reads back what [`put_text`] wrote.
pub fn take_text(from: &mut &[u8]) -> Result<Arc<str>, Corrupt> {
    match std::str::from_utf8(take_bytes(from)?) {
        Ok(text) => Ok(text.into()),
        Err(_) => corrupt("text that is not UTF-8"),
    }
}

/// A value of any kind.
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

/// Reads back what [`put_value`] wrote.
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
                Value::Object(fields) => match keys.pop() {
                    Some(key) => fields.push((key, value)),
                    None => return corrupt("a field without a name"),
                },
                Value::List(items) => items.push(value),
                // Only lists and objects are open.
                _ => return corrupt("a value with parts that it cannot have"),
            }
            *missing -= 1;
            if *missing > 0 {
                break;
            }
            let Some((whole, _)) = open.pop() else { return corrupt("a value that ends twice") };
            value = whole;
        }
    }
}

/// A time or another number that may be unknown.
pub fn put_option(number: Option<i64>, out: &mut Vec<u8>) {
    put(u64::from(number.is_some()), out);
    put_signed(number.unwrap_or(0), out);
}

/// Reads back what [`put_option`] wrote.
pub fn take_option(from: &mut &[u8]) -> Result<Option<i64>, Corrupt> {
    let known = take(from)? == 1;
    Ok(Some(take_signed(from)?).filter(|_| known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_is_taken() {
        let object = Value::Object(vec![("k".into(), Value::List(vec![])), ("l".into(), Value::Real(-0.5))]);
        let deep =
            Value::List(vec![Value::List(vec![object, Value::Null]), Value::Int(i64::MIN), Value::text("ü")]);
        let mut out = Vec::new();
        put_value(&deep, &mut out);
        put_option(None, &mut out);
        put_option(Some(i64::MIN), &mut out);
        put(u64::MAX, &mut out);
        let mut from = out.as_slice();
        assert_eq!(take_value(&mut from), Ok(deep));
        assert_eq!((take_option(&mut from), take_option(&mut from)), (Ok(None), Ok(Some(i64::MIN))));
        assert_eq!(take(&mut from), Ok(u64::MAX));
        assert!(from.is_empty());
        for cut in 0..out.len() {
            let mut from = &out[..cut];
            let all = (|| {
                take_value(&mut from)?;
                take_option(&mut from)?;
                take_option(&mut from)?;
                take(&mut from)
            })();
            assert!(all.is_err(), "cut at {cut}");
        }
    }
}

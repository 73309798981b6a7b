//! What makes two values the same, and which of two comes first.
//!
//! Two values are the same if they are equal (`1` and `1.0` are) part by part, objects whatever the order of their
//! keys; a null inside a list equals a null. The order is null < boolean < number < text < list < object, numbers by
//! exact value, text by code points, lists part by part, objects by key and value in the order of keys.

use crate::moments::Number;
use std::sync::Arc;
use tw_core::Value;

/// 2⁶³.
const LIMIT: f64 = 9_223_372_036_854_775_808.0;

/// A number, the same for equal numbers: a whole number of 64 bits, or the bits of a real that is none.
#[inline]
pub fn number_class(number: Number) -> Result<i64, u64> {
    match number {
        Number::Int(int) => Ok(int),
        Number::Real(real) => {
            let whole = real as i64;
            if whole as f64 == real && real < LIMIT { Ok(whole) } else { Err(real.to_bits()) }
        }
    }
}

/// Numbers as bytes in their order: the greatest real that is not greater, and by how much the number is.
fn put_number(number: Number, out: &mut Vec<u8>) {
    let (floor, more) = match number {
        Number::Int(int) => {
            let mut near = int as f64;
            if near >= LIMIT || near as i64 > int {
                near = near.next_down();
            }
            (near, (int - near as i64) as u16)
        }
        Number::Real(real) => (real, 0),
    };
    // −0.0 is 0.0.
    let key = crate::float::to_key(floor + 0.0) as u64 ^ 1 << 63;
    out.extend_from_slice(&key.to_be_bytes());
    out.extend_from_slice(&more.to_be_bytes());
}

fn take_number(bytes: &mut &[u8], whole: bool) -> Option<Value> {
    let (key, rest) = bytes.split_first_chunk::<8>()?;
    let (more, rest) = rest.split_first_chunk::<2>()?;
    *bytes = rest;
    let real = crate::float::from_key((u64::from_be_bytes(*key) ^ 1 << 63) as i64);
    let more = i64::from(u16::from_be_bytes(*more));
    Some(match number_class(Number::Real(real)) {
        Ok(int) if more != 0 || whole => Value::Int(int.checked_add(more)?),
        _ => Value::Real(real),
    })
}

const END: u8 = 0;
const NULL: u8 = 1;
const FALSE: u8 = 2;
const TRUE: u8 = 3;
const NUMBER: u8 = 4;
const TEXT: u8 = 5;
const LIST: u8 = 6;
const OBJECT: u8 = 7;
const KEY: u8 = 8;

/// A zero byte in a text is followed by another byte than at its end, so that a shorter text comes first.
fn put_text(kind: u8, text: &str, out: &mut Vec<u8>) {
    out.push(kind);
    for byte in text.bytes() {
        out.push(byte);
        if byte == 0 {
            out.push(0xff);
        }
    }
    out.extend_from_slice(&[0, END]);
}

fn take_text(bytes: &mut &[u8]) -> Option<Arc<str>> {
    let mut text = Vec::new();
    loop {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        if *byte != 0 {
            text.push(*byte);
            continue;
        }
        let (next, rest) = bytes.split_first()?;
        *bytes = rest;
        if *next == END {
            return String::from_utf8(text).ok().map(Into::into);
        }
        text.push(0);
    }
}

/// A value as bytes: the same for values that are the same, and in the order of values.
pub fn encode(value: &Value, out: &mut Vec<u8>) {
    enum Todo<'a> {
        Value(&'a Value),
        Key(&'a str),
        End,
    }
    let mut todo = vec![Todo::Value(value)];
    while let Some(next) = todo.pop() {
        match next {
            Todo::End => out.push(END),
            Todo::Key(key) => put_text(KEY, key, out),
            Todo::Value(Value::Null) => out.push(NULL),
            Todo::Value(Value::Bool(bool)) => out.push(if *bool { TRUE } else { FALSE }),
            Todo::Value(Value::Int(int)) => {
                out.push(NUMBER);
                put_number(Number::Int(*int), out);
            }
            Todo::Value(Value::Real(real)) => {
                out.push(NUMBER);
                put_number(Number::Real(*real), out);
            }
            Todo::Value(Value::Str(text)) => put_text(TEXT, text, out),
            Todo::Value(Value::List(items)) => {
                out.push(LIST);
                todo.push(Todo::End);
                todo.extend(items.iter().rev().map(Todo::Value));
            }
            Todo::Value(Value::Object(fields)) => {
                out.push(OBJECT);
                todo.push(Todo::End);
                let mut sorted: Vec<_> = fields.iter().collect();
                sorted.sort_by(|a, b| a.0.cmp(&b.0));
                for (key, value) in sorted.into_iter().rev() {
                    todo.push(Todo::Value(value));
                    todo.push(Todo::Key(key));
                }
            }
        }
    }
}

/// A value of which these are the bytes. Numbers that could be whole are if `whole`, else reals.
pub fn decode(mut bytes: &[u8], whole: bool) -> Option<Value> {
    let mut open: Vec<Value> = Vec::new();
    let mut keys: Vec<Arc<str>> = Vec::new();
    while let Some((kind, rest)) = bytes.split_first() {
        bytes = rest;
        let value = match *kind {
            END => open.pop()?,
            NULL => Value::Null,
            FALSE => Value::Bool(false),
            TRUE => Value::Bool(true),
            NUMBER => take_number(&mut bytes, whole)?,
            TEXT => Value::Str(take_text(&mut bytes)?),
            KEY => {
                keys.push(take_text(&mut bytes)?);
                continue;
            }
            LIST | OBJECT => {
                open.push(if *kind == LIST { Value::List(Vec::new()) } else { Value::Object(Vec::new()) });
                continue;
            }
            _ => return None,
        };
        match open.last_mut() {
            None => return Some(value),
            Some(Value::List(items)) => items.push(value),
            Some(Value::Object(fields)) => fields.push((keys.pop()?, value)),
            Some(_) => return None,
        }
    }
    None
}

//! Values of the protocol, which are borrowed from what was exported, and attributes, whose dots lead further in.

use std::sync::Arc;
use tw_core::Value;

/// Levels of values in values.
pub(crate) const DEPTH: usize = 64;
/// Parts of a key that are levels of their own.
const PARTS: usize = 32;
/// Attributes of one thing, or of one level of them.
const MOST: usize = 1024;

/// A value of the protocol.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Any<'a> {
    /// Nothing.
    #[default]
    Null,
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number.
    Real(f64),
    /// A text.
    Text(&'a str),
    /// An identity, told in hexadecimal digits.
    Id(&'a [u8]),
    /// Bytes, told in base 64 as JSON has them.
    Bytes(&'a [u8]),
    /// A list.
    List(Vec<Any<'a>>),
    /// Values with names.
    Fields(Vec<(&'a str, Any<'a>)>),
}

impl<'a> Any<'a> {
    /// A text; nothing, where it is empty.
    pub fn text(text: &'a str) -> Self {
        if text.is_empty() { Any::Null } else { Any::Text(text) }
    }

    /// An identity; nothing, where it is empty.
    pub fn id(bytes: &'a [u8]) -> Self {
        if bytes.is_empty() { Any::Null } else { Any::Id(bytes) }
    }

    /// Whether it is nothing, or no number that can be told.
    pub fn is_nothing(&self) -> bool {
        match self {
            Any::Null => true,
            Any::Real(real) => !real.is_finite(),
            _ => false,
        }
    }

    /// The same, which stays.
    pub fn to_value(&self) -> Value {
        match self {
            Any::Null => Value::Null,
            Any::Bool(bool) => Value::Bool(*bool),
            Any::Int(int) => Value::Int(*int),
            Any::Real(real) if !real.is_finite() => Value::Null,
            Any::Real(real) => Value::Real(*real),
            Any::Text(text) => Value::text(text),
            Any::Id(bytes) => Value::text(&shown(bytes, hexadecimal)),
            Any::Bytes(bytes) => Value::text(&shown(bytes, base64)),
            Any::List(items) => Value::List(items.iter().map(Any::to_value).collect()),
            Any::Fields(fields) => {
                let field = |(key, value): &(&str, Any<'_>)| (Arc::from(*key), value.to_value());
                Value::Object(fields.iter().map(field).collect())
            }
        }
    }
}

fn shown(bytes: &[u8], write: fn(&[u8], &mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    write(bytes, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

/// Appends bytes as hexadecimal digits.
pub(super) fn hexadecimal(bytes: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for byte in bytes {
        out.extend_from_slice(&[DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
    }
}

/// Appends bytes in base 64.
pub(super) fn base64(bytes: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for three in bytes.chunks(3) {
        let byte = |at: usize| u32::from(three.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * at) & 63) as usize];
            out.push(if at <= three.len() { digit } else { b'=' });
        }
    }
}

/// Attributes in the making: dots in their keys lead further in, where nothing else stands in the way.
#[derive(Debug, Default)]
pub struct Attributes<'a>(Vec<(&'a str, Any<'a>)>);

impl<'a> Attributes<'a> {
    /// Takes one, at so many levels already. The first of a name counts.
    pub fn put(&mut self, key: &'a str, value: Any<'a>, depth: usize) -> Result<(), String> {
        put(&mut self.0, key, value, depth)
    }

    /// All of them, as fields.
    pub fn fields(self) -> Any<'a> {
        Any::Fields(self.0)
    }

    /// All of them; nothing, if there are none.
    pub fn some(self) -> Any<'a> {
        if self.0.is_empty() { Any::Null } else { Any::Fields(self.0) }
    }
}

fn put<'a>(
    fields: &mut Vec<(&'a str, Any<'a>)>,
    key: &'a str,
    value: Any<'a>,
    depth: usize,
) -> Result<(), String> {
    // They are compared one by one.
    if fields.len() >= MOST {
        return Err(format!("found more than {MOST} attributes, the most that are accepted"));
    }
    if let Some((first, rest)) = key.split_once('.')
        && !first.is_empty()
        && !rest.is_empty()
        && depth < PARTS
    {
        match fields.iter_mut().find(|(known, _)| *known == first) {
            Some((_, Any::Fields(inner))) => return put(inner, rest, value, depth + 1),
            None => {
                let mut inner = Vec::new();
                put(&mut inner, rest, value, depth + 1)?;
                fields.push((first, Any::Fields(inner)));
                return Ok(());
            }
            Some(_) => {}
        }
    }
    if !fields.iter().any(|(known, _)| *known == key) {
        fields.push((key, value));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_lead_further_in() {
        let mut attributes = Attributes::default();
        let deep = "a.".repeat(100_000) + "a";
        for (key, value) in
            [("http.status", 1), ("x", 2), ("http.path", 3), ("x.y", 4), ("http.status", 5), (&deep, 6)]
        {
            attributes.put(key, Any::Int(value), 0).unwrap();
        }
        let Any::Fields(fields) = attributes.some() else { panic!("there are some") };
        let http = Any::Fields(vec![("status", Any::Int(1)), ("path", Any::Int(3))]);
        assert_eq!(fields[..3], [("http", http), ("x", Any::Int(2)), ("x.y", Any::Int(4))]);
        let mut levels = 0;
        let mut inner = &fields[3].1;
        while let Any::Fields(fields) = inner {
            (levels, inner) = (levels + 1, &fields[0].1);
        }
        assert_eq!((levels, inner), (PARTS, &Any::Int(6)), "and not further than is good for the stack");
    }

    #[test]
    fn there_are_not_too_many() {
        let keys: Vec<String> = (0..=MOST).map(|key| format!("k{key}")).collect();
        let mut attributes = Attributes::default();
        let results: Vec<_> = keys.iter().map(|key| attributes.put(key, Any::Null, 0)).collect();
        assert!(results[..MOST].iter().all(Result::is_ok) && results[MOST].is_err());
    }

    #[test]
    fn bytes_are_shown() {
        let of = |bytes| Any::Bytes(bytes).to_value();
        for (bytes, expected) in
            [(&b""[..], ""), (b"f", "Zg=="), (b"fo", "Zm8="), (b"foo", "Zm9v"), (b"\xff\xef\xbe", "/+++")]
        {
            assert_eq!(of(bytes), Value::text(expected));
        }
        assert_eq!(Any::Id(&[0x0a, 0xf9]).to_value(), Value::text("0af9"));
    }
}

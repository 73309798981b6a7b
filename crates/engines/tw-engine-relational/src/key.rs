//! Values that variables take, as keys of tables: equal when `==` says so.

use std::cmp::Ordering;
use std::hash::{BuildHasher, Hash, Hasher, RandomState};
use std::sync::{Arc, LazyLock};
use tw_core::{Column, Value};
use tw_ir::CompareOp;
use tw_monitor::{compare, order};

/// A value that is not null. 1 and 1.0 are one key, 1 and "1" are two.
#[derive(Clone, Debug)]
pub(crate) enum Key {
    Int(i64),
    /// A text of few bytes, which most are: copied and compared without looking elsewhere.
    Short(Short),
    Text(Arc<str>),
    /// A number that is not whole, or was written so; lists, objects and booleans.
    Other(Arc<Value>),
}

/// The bytes of a text, and zeros behind them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Short {
    len: u8,
    bytes: [u8; Short::MOST],
}

impl Short {
    /// As many as fit beside the other kinds of keys.
    const MOST: usize = 22;

    #[inline]
    fn new(text: &str) -> Option<Short> {
        let (from, len) = (text.as_bytes(), text.len());
        let mut bytes = [0; Short::MOST];
        // Two pieces of one size each, which overlap: none needs a loop.
        match len {
            16..=Short::MOST => {
                bytes[..16].copy_from_slice(&from[..16]);
                bytes[len - 8..len].copy_from_slice(&from[len - 8..]);
            }
            8..16 => {
                bytes[..8].copy_from_slice(&from[..8]);
                bytes[len - 8..len].copy_from_slice(&from[len - 8..]);
            }
            4..8 => {
                bytes[..4].copy_from_slice(&from[..4]);
                bytes[len - 4..len].copy_from_slice(&from[len - 4..]);
            }
            1..4 => {
                bytes[0] = from[0];
                bytes[len / 2] = from[len / 2];
                bytes[len - 1] = from[len - 1];
            }
            0 => {}
            _ => return None,
        }
        Some(Short { len: len as u8, bytes })
    }

    fn text(&self) -> &str {
        std::str::from_utf8(&self.bytes[..usize::from(self.len)]).unwrap_or_default()
    }

    #[inline]
    fn hash(&self, seed: u64) -> u64 {
        let word = |at: usize| {
            let mut eight = [0; 8];
            eight.copy_from_slice(&self.bytes[at..at + 8]);
            u64::from_le_bytes(eight)
        };
        // The last word overlaps the one before; zeros at the end are told apart from none by the length.
        let tail = word(Short::MOST - 8) ^ u64::from(self.len) << 56;
        mix(word(0) ^ seed, word(8) ^ 0xA076_1D64_78BD_642F) ^ mix(tail ^ seed, 0xE703_7ED1_A0B4_28DB)
    }
}

/// Both halves of a product, so that every bit of either has a say.
#[inline]
fn mix(a: u64, b: u64) -> u64 {
    let wide = u128::from(a) * u128::from(b);
    (wide as u64) ^ ((wide >> 64) as u64)
}

/// Keys come from logs, and who writes those must not choose which of them meet.
static SEED: LazyLock<u64> = LazyLock::new(|| RandomState::new().hash_one(0u8) | 1);

impl Key {
    /// The key of a value; null is none.
    pub(crate) fn new(value: Value) -> Option<Key> {
        match value {
            Value::Null => None,
            Value::Int(int) => Some(Key::Int(int)),
            Value::Str(text) => Some(Short::new(&text).map_or(Key::Text(text), Key::Short)),
            other => Some(Key::Other(Arc::new(other))),
        }
    }

    /// The key of an argument of an event; those are never null.
    ///
    /// Whole numbers, the most frequent, are made where they are used: a key that is returned is written in parts and read as
    /// a whole at once, for which the processor waits.
    #[inline(always)]
    pub(crate) fn of(column: &Column, at: usize) -> Option<Key> {
        match column {
            Column::Int { values, .. } => Some(Key::Int(values[at])),
            other => Key::other(other, at),
        }
    }

    #[inline(never)]
    fn other(column: &Column, at: usize) -> Option<Key> {
        match column {
            Column::Words(words) => {
                let text = words.get(at);
                Some(Short::new(text).map_or_else(|| Key::Text(text.into()), Key::Short))
            }
            Column::Text { ids, dictionary, .. } => {
                let text = &dictionary.entries[ids[at] as usize];
                Some(Short::new(text).map_or_else(|| Key::Text(text.clone()), Key::Short))
            }
            other => Key::new(other.value(at)),
        }
    }

    /// The value.
    pub(crate) fn value(&self) -> Value {
        match self {
            Key::Int(int) => Value::Int(*int),
            Key::Short(short) => Value::text(short.text()),
            Key::Text(text) => Value::Str(text.clone()),
            Key::Other(value) => (**value).clone(),
        }
    }

    /// Whether it is a whole number, however it was written.
    pub(crate) fn is_whole(&self) -> bool {
        match self {
            Key::Int(_) => true,
            Key::Short(_) | Key::Text(_) => false,
            Key::Other(value) => matches!(**value, Value::Real(real) if real.fract() == 0.0),
        }
    }

    /// Well mixed in all bits.
    #[inline(always)]
    pub(crate) fn hash(&self) -> u64 {
        match self {
            Key::Int(int) => mix(*int as u64 ^ *SEED, 0x9E37_79B9_7F4A_7C15),
            other => other.hash_other(),
        }
    }

    #[inline(never)]
    fn hash_other(&self) -> u64 {
        let seed = *SEED;
        let mixed = match self {
            Key::Int(int) => *int as u64,
            Key::Short(short) => return short.hash(seed),
            Key::Text(text) => {
                let mut hasher = rustc_hash::FxHasher::with_seed(seed as usize);
                text.hash(&mut hasher);
                hasher.finish()
            }
            Key::Other(value) => match **value {
                // Whole reals meet whole numbers.
                Value::Real(real) if real.fract() == 0.0 && real.abs() < 9.2e18 => real as i64 as u64,
                Value::Real(real) => real.to_bits(),
                Value::Bool(bit) => u64::from(bit) ^ 0x5555,
                Value::List(ref items) => items.len() as u64 ^ 0x3333,
                _ => 0x7777,
            },
        };
        mix(mixed ^ seed, 0x9E37_79B9_7F4A_7C15)
    }

    /// Numbers before texts, and those before what else there is.
    pub(crate) fn listed(&self, other: &Key) -> Ordering {
        if let (Key::Int(a), Key::Int(b)) = (self, other) {
            return a.cmp(b);
        }
        let rank = |key: &Key| match key {
            Key::Int(_) => 0,
            Key::Short(_) | Key::Text(_) => 1,
            Key::Other(value) if matches!(**value, Value::Real(_)) => 0,
            Key::Other(_) => 2,
        };
        let (a, b) = (self.value(), other.value());
        rank(self)
            .cmp(&rank(other))
            .then_with(|| order(&a, &b).unwrap_or_else(|| a.to_string().cmp(&b.to_string())))
    }
}

impl PartialEq for Key {
    #[inline(always)]
    fn eq(&self, other: &Key) -> bool {
        match (self, other) {
            (Key::Int(a), Key::Int(b)) => a == b,
            _ => self.equals(other),
        }
    }
}

impl Key {
    #[inline(never)]
    fn equals(&self, other: &Key) -> bool {
        match (self, other) {
            (Key::Short(a), Key::Short(b)) => a == b,
            (Key::Text(a), Key::Text(b)) => a == b,
            (Key::Other(a), Key::Other(b)) => Arc::ptr_eq(a, b) || compare(CompareOp::Eq, a, b),
            (Key::Int(_), Key::Other(_)) | (Key::Other(_), Key::Int(_)) => {
                compare(CompareOp::Eq, &self.value(), &other.value())
            }
            _ => false,
        }
    }
}

impl Eq for Key {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_one_key_however_they_came() {
        let long = "abcdefghijklmnopqrstuvwxyzé";
        let mut hashes = Vec::new();
        for len in (0..=long.len()).filter(|len| long.is_char_boundary(*len)) {
            let key = Key::new(Value::text(&long[..len])).unwrap();
            assert_eq!(matches!(key, Key::Short(_)), len <= 22, "{len}");
            assert_eq!(key.value(), Value::text(&long[..len]));
            assert_eq!(key, Key::new(Value::text(&long[..len])).unwrap());
            assert_ne!(key, Key::new(Value::text(&format!("{}\0", &long[..len]))).unwrap());
            hashes.push(key.hash());
        }
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), 28);
        assert_eq!(std::mem::size_of::<Key>(), 24);
    }
}

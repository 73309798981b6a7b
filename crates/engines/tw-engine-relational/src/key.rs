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
    Text(Arc<str>),
    /// A number that is not whole, or was written so; lists, objects and booleans.
    Other(Arc<Value>),
}

/// Keys come from logs, and who writes those must not choose which of them meet.
static SEED: LazyLock<u64> = LazyLock::new(|| RandomState::new().hash_one(0u8) | 1);

impl Key {
    /// The key of a value; null is none.
    pub(crate) fn new(value: Value) -> Option<Key> {
        match value {
            Value::Null => None,
            Value::Int(int) => Some(Key::Int(int)),
            Value::Str(text) => Some(Key::Text(text)),
            other => Some(Key::Other(Arc::new(other))),
        }
    }

    /// The key of a value in a column.
    #[inline]
    pub(crate) fn of(column: &Column, at: usize) -> Option<Key> {
        match column {
            Column::Int { values, valid } if valid.get(at) => Some(Key::Int(values[at])),
            Column::Text { ids, dictionary, valid } if valid.get(at) => {
                Some(Key::Text(dictionary.entries[ids[at] as usize].clone()))
            }
            other => Key::new(other.value(at)),
        }
    }

    /// The value.
    pub(crate) fn value(&self) -> Value {
        match self {
            Key::Int(int) => Value::Int(*int),
            Key::Text(text) => Value::Str(text.clone()),
            Key::Other(value) => (**value).clone(),
        }
    }

    /// Whether it is a whole number, however it was written.
    pub(crate) fn is_whole(&self) -> bool {
        match self {
            Key::Int(_) => true,
            Key::Text(_) => false,
            Key::Other(value) => matches!(**value, Value::Real(real) if real.fract() == 0.0),
        }
    }

    /// Well mixed in all bits.
    #[inline]
    pub(crate) fn hash(&self) -> u64 {
        let mixed = match self {
            Key::Int(int) => *int as u64,
            Key::Text(text) => {
                let mut hasher = rustc_hash::FxHasher::with_seed(*SEED as usize);
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
        let wide = u128::from(mixed ^ *SEED) * 0x9E37_79B9_7F4A_7C15;
        (wide as u64) ^ ((wide >> 64) as u64)
    }

    /// Numbers before texts, and those before what else there is.
    pub(crate) fn listed(&self, other: &Key) -> Ordering {
        if let (Key::Int(a), Key::Int(b)) = (self, other) {
            return a.cmp(b);
        }
        let rank = |key: &Key| match key {
            Key::Int(_) => 0,
            Key::Text(_) => 1,
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
    #[inline]
    fn eq(&self, other: &Key) -> bool {
        match (self, other) {
            (Key::Int(a), Key::Int(b)) => a == b,
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

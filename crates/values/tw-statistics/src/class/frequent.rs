//! The most frequent of more values than fit: the frequent-items sketch of Misra and Gries in the form of Anderson and
//! others (IMC 2017), deterministic in what it promises. 0.15 µs a value, at most 8 MiB of numbers.

use super::key::{decode, encode};
use crate::Bound;
use crate::moments::Number;
use crate::save::{corrupt, put_checked, take_byte, take_checked};
use datasketches::frequencies::{ErrorType, FrequentItemsSketch};
use tw_core::Value;
use tw_core::codec::Corrupt;

/// The size of the largest sketch: no value is more frequent than the result by more than 3.5 values in `MOST`.
const MOST: usize = 1 << 16;

/// Counts of the values that may be the most frequent.
#[derive(Clone, Debug)]
pub struct Sketch {
    /// Values as [`encode`] writes them, each byte a character.
    items: FrequentItemsSketch<String>,
    /// The one with the greatest count, the least of those.
    best: String,
    /// Whether there was a whole number that was no real: equal numbers are shown as such.
    whole: bool,
    /// Room for the bytes and the characters of a value.
    bytes: Vec<u8>,
    item: String,
}

impl Sketch {
    /// Nothing counted, of a size that suits the budget.
    pub fn new(budget: usize) -> Self {
        let size = (budget / 256).next_power_of_two().clamp(64, MOST);
        Sketch {
            items: FrequentItemsSketch::new(size).expect("a power of two in range"),
            best: String::new(),
            whole: false,
            bytes: Vec::new(),
            item: String::new(),
        }
    }

    pub fn push_number(&mut self, number: Number) {
        match number {
            Number::Int(int) => self.push(&Value::Int(int), 1),
            Number::Real(real) => self.push(&Value::Real(real), 1),
        }
    }

    pub fn push(&mut self, value: &Value, times: u64) {
        if times == 0 {
            return;
        }
        self.whole |= matches!(value, Value::Int(_));
        self.bytes.clear();
        encode(value, &mut self.bytes);
        self.item.clear();
        self.item.extend(self.bytes.iter().map(|byte| char::from(*byte)));
        let item = self.item.as_str();
        self.items.update_with_count_ref(item, times);
        // All counts are lowered by the same amount when there are too many, so the greatest stays the greatest.
        if item == self.best {
            return;
        }
        let (new, old) = (self.items.lower_bound(item), self.items.lower_bound(self.best.as_str()));
        if self.best.is_empty() || new > old || new == old && item < self.best.as_str() {
            self.best = item.into();
        }
    }

    pub fn merge(&mut self, other: &Sketch) {
        self.items.merge(&other.items);
        self.whole |= other.whole;
        let rows = self.items.frequent_items(ErrorType::NoFalseNegatives);
        let greatest = rows
            .iter()
            .max_by(|a, b| a.lower_bound().cmp(&b.lower_bound()).then_with(|| b.item().cmp(a.item())));
        if let Some(row) = greatest {
            self.best = row.item().clone();
        } else if self.best.is_empty() {
            self.best = other.best.clone();
        }
    }

    pub fn result(&self) -> Value {
        let bytes: Vec<u8> = self.best.chars().map(|c| c as u32 as u8).collect();
        decode(&bytes, self.whole).unwrap_or(Value::Null)
    }

    /// How much more frequent than the result another value may be: that is certain.
    pub fn bound(&self) -> Bound {
        let error = self.items.maximum_error() as f64;
        Bound { method: "frequent items", what: "count", error, confidence: 1.0 }
    }

    pub fn heap_bytes(&self) -> usize {
        self.items.estimated_size() + self.best.capacity() + self.bytes.capacity() + self.item.capacity()
    }

    pub fn save(&self, out: &mut Vec<u8>) {
        out.push(u8::from(self.whole));
        put_checked(self.best.as_bytes(), out);
        put_checked(&self.items.serialize(), out);
    }

    pub fn load(count: u64, from: &mut &[u8]) -> Result<Self, Corrupt> {
        let whole = take_byte(from)? != 0;
        let Ok(best) = std::str::from_utf8(take_checked(from)?) else { return corrupt("a damaged text") };
        let bytes = take_checked(from)?;
        // The fourth byte is the size, by which a table is made.
        if bytes.get(3).is_none_or(|size| 1usize.checked_shl(u32::from(*size)).is_none_or(|size| size > MOST))
        {
            return corrupt("a frequent-items sketch that is too large");
        }
        match FrequentItemsSketch::deserialize(bytes) {
            Ok(items) if items.total_weight() != count => corrupt("counts that do not add up"),
            Ok(items) => {
                Ok(Sketch { items, best: best.into(), whole, bytes: Vec::new(), item: String::new() })
            }
            Err(error) => corrupt(&format!("no frequent-items sketch: {error}")),
        }
    }
}

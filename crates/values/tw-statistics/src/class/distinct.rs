//! The number of different values.
//!
//! A hash set for each kind: 4 ns a value when few differ, 50 ns at a million different ones; 10 to 20 bytes for each
//! different number, text and lists what they are long. Beyond the budget HyperLogLog (Flajolet and others, 2007):
//! about 10 ns a value, at most 256 KiB.

use super::key::{encode, number_class};
use super::{Set, table_bytes};
use crate::Bound;
use crate::moments::Number;
use crate::save::{
    corrupt, put_bytes, put_checked, put_word, take_byte, take_bytes, take_checked, take_len, take_word,
};
use datasketches::common::NumStdDev;
use datasketches::hll::{HllSketch, HllType, HllUnion};
use std::sync::Arc;
use tw_core::Value;
use tw_core::codec::{Corrupt, put};

/// The binary logarithm of the size of the largest sketch.
const MOST: u8 = 18;

/// A set of values, or its size.
#[derive(Clone, Debug)]
pub enum Distinct {
    Exact(Exact),
    Sketch(Box<HllSketch>),
}

/// A set of values.
#[derive(Clone, Debug, Default)]
pub struct Exact {
    bools: [bool; 2],
    whole: Set<i64>,
    reals: Set<u64>,
    texts: Set<Arc<str>>,
    parts: Set<Box<[u8]>>,
    /// Bytes of texts and parts.
    bytes: usize,
}

/// The class of a value, as sketches hash it.
#[derive(Hash)]
enum Class<'a> {
    Bool(bool),
    Whole(i64),
    Real(u64),
    Text(&'a str),
    Part(&'a [u8]),
}

impl Distinct {
    pub fn new() -> Self {
        Distinct::Exact(Exact::default())
    }

    #[inline]
    pub fn push_number(&mut self, number: Number, budget: usize) {
        match number_class(number) {
            Ok(whole) => self.push_class(Class::Whole(whole), budget),
            Err(real) => self.push_class(Class::Real(real), budget),
        }
    }

    pub fn push_bool(&mut self, bool: bool, budget: usize) {
        self.push_class(Class::Bool(bool), budget);
    }

    pub fn push(&mut self, value: &Value, budget: usize) {
        match value {
            Value::Int(int) => self.push_number(Number::Int(*int), budget),
            Value::Real(real) => self.push_number(Number::Real(*real), budget),
            Value::Bool(bool) => self.push_bool(*bool, budget),
            // The text itself is kept, not copied.
            Value::Str(text) => match self {
                Distinct::Exact(exact) if !exact.texts.contains(text) => {
                    exact.bytes += text.len() + 16;
                    exact.texts.insert(text.clone());
                    self.check(budget);
                }
                Distinct::Exact(_) => {}
                Distinct::Sketch(sketch) => sketch.update(Class::Text(text)),
            },
            other => {
                let mut bytes = Vec::new();
                encode(other, &mut bytes);
                self.push_class(Class::Part(&bytes), budget);
            }
        }
    }

    #[inline]
    fn push_class(&mut self, class: Class, budget: usize) {
        match self {
            Distinct::Exact(exact) => {
                if exact.insert(class) {
                    self.check(budget);
                }
            }
            Distinct::Sketch(sketch) => sketch.update(class),
        }
    }

    /// Goes over to a sketch if the next growth would exceed the budget.
    fn check(&mut self, budget: usize) {
        if let Distinct::Exact(exact) = self
            && exact.next_bytes() > budget
        {
            *self = Distinct::Sketch(Box::new(exact.sketch(budget)));
        }
    }

    pub fn append(&mut self, later: &Distinct, budget: usize) {
        match (&mut *self, later) {
            (Distinct::Exact(mine), Distinct::Exact(other)) => {
                if mine.len() < other.len() {
                    let small = std::mem::replace(mine, other.clone());
                    small.classes().for_each(|class| _ = mine.insert(class));
                } else {
                    other.classes().for_each(|class| _ = mine.insert(class));
                }
                self.check(budget);
            }
            (Distinct::Exact(mine), Distinct::Sketch(other)) => {
                let mut sketch = other.clone();
                mine.classes().for_each(|class| sketch.update(class));
                *self = Distinct::Sketch(sketch);
            }
            (Distinct::Sketch(mine), Distinct::Exact(other)) => {
                other.classes().for_each(|class| mine.update(class));
            }
            (Distinct::Sketch(mine), Distinct::Sketch(other)) => {
                let size = mine.lg_config_k().max(other.lg_config_k());
                let mut union = HllUnion::new(size).expect("a size that a sketch has");
                union.update(mine);
                union.update(other);
                **mine = union.to_sketch(HllType::Hll8);
            }
        }
    }

    pub fn result(&self) -> i64 {
        match self {
            Distinct::Exact(exact) => exact.len() as i64,
            Distinct::Sketch(sketch) => sketch.estimate().round() as i64,
        }
    }

    pub fn bound(&self) -> Option<Bound> {
        let Distinct::Sketch(sketch) = self else { return None };
        let estimate = sketch.estimate();
        let above = sketch.upper_bound(NumStdDev::Three) / estimate - 1.0;
        let below = 1.0 - sketch.lower_bound(NumStdDev::Three) / estimate;
        Some(Bound { method: "HyperLogLog", what: "relative", error: above.max(below), confidence: 0.997 })
    }

    pub fn heap_bytes(&self) -> usize {
        match self {
            Distinct::Exact(exact) => exact.heap_bytes(),
            Distinct::Sketch(sketch) => sketch.estimated_size(),
        }
    }

    pub fn save(&self, out: &mut Vec<u8>) {
        match self {
            Distinct::Sketch(sketch) => {
                out.push(1);
                put_checked(&sketch.serialize(), out);
            }
            Distinct::Exact(exact) => {
                out.push(0);
                put(exact.len(), out);
                for class in exact.classes() {
                    match class {
                        Class::Bool(bool) => out.push(u8::from(bool)),
                        Class::Whole(whole) => {
                            out.push(2);
                            put_word(whole as u64, out);
                        }
                        Class::Real(real) => {
                            out.push(3);
                            put_word(real, out);
                        }
                        Class::Text(text) => {
                            out.push(4);
                            put_bytes(text.as_bytes(), out);
                        }
                        Class::Part(part) => {
                            out.push(5);
                            put_bytes(part, out);
                        }
                    }
                }
            }
        }
    }

    pub fn load(from: &mut &[u8]) -> Result<Self, Corrupt> {
        if take_byte(from)? == 1 {
            let bytes = take_checked(from)?;
            // The fourth byte is the size, by which a table is made.
            if bytes.get(3).is_none_or(|size| *size > MOST) {
                return corrupt("a HyperLogLog sketch that is too large");
            }
            return match HllSketch::deserialize(bytes) {
                Ok(sketch) if sketch.target_type() == HllType::Hll8 => Ok(Distinct::Sketch(Box::new(sketch))),
                Ok(_) => corrupt("a HyperLogLog sketch of another type"),
                Err(error) => corrupt(&format!("no HyperLogLog sketch: {error}")),
            };
        }
        let mut exact = Exact::default();
        for _ in 0..take_len(from)? {
            exact.insert(match take_byte(from)? {
                bool @ (0 | 1) => Class::Bool(bool == 1),
                2 => Class::Whole(take_word(from)? as i64),
                3 => Class::Real(take_word(from)?),
                4 => match std::str::from_utf8(take_bytes(from)?) {
                    Ok(text) => Class::Text(text),
                    Err(_) => return corrupt("text that is not UTF-8"),
                },
                5 => Class::Part(take_bytes(from)?),
                _ => return corrupt("a value of an unknown kind"),
            });
        }
        Ok(Distinct::Exact(exact))
    }
}

impl Exact {
    /// Whether the class is new.
    #[inline]
    fn insert(&mut self, class: Class) -> bool {
        match class {
            Class::Bool(bool) => {
                self.bools[usize::from(bool)] = true;
                false
            }
            Class::Whole(whole) => self.whole.insert(whole),
            Class::Real(real) => self.reals.insert(real),
            Class::Text(text) => {
                let new = !self.texts.contains(text);
                if new {
                    self.bytes += text.len() + 16;
                    self.texts.insert(text.into());
                }
                new
            }
            Class::Part(part) => {
                let new = !self.parts.contains(part);
                if new {
                    self.bytes += part.len() + 16;
                    self.parts.insert(part.into());
                }
                new
            }
        }
    }

    fn len(&self) -> u64 {
        let bools = self.bools.iter().filter(|bool| **bool).count();
        (bools + self.whole.len() + self.reals.len() + self.texts.len() + self.parts.len()) as u64
    }

    fn classes(&self) -> impl Iterator<Item = Class<'_>> {
        let bools = [false, true].into_iter().filter(|bool| self.bools[usize::from(*bool)]);
        bools
            .map(Class::Bool)
            .chain(self.whole.iter().map(|whole| Class::Whole(*whole)))
            .chain(self.reals.iter().map(|real| Class::Real(*real)))
            .chain(self.texts.iter().map(|text| Class::Text(text)))
            .chain(self.parts.iter().map(|part| Class::Part(part)))
    }

    fn heap_bytes(&self) -> usize {
        let numbers = self.whole.capacity() + self.reals.capacity();
        let others = self.texts.capacity() + self.parts.capacity();
        table_bytes(numbers, 8) + table_bytes(others, 16) + self.bytes
    }

    /// The bytes after the next insertion, which may double a table.
    fn next_bytes(&self) -> usize {
        let growth = |len: usize, capacity: usize, entry: usize| {
            if len == capacity { table_bytes(capacity, entry) } else { 0 }
        };
        self.heap_bytes()
            + growth(self.whole.len(), self.whole.capacity(), 8)
            + growth(self.reals.len(), self.reals.capacity(), 8)
            + growth(self.texts.len(), self.texts.capacity(), 16)
            + growth(self.parts.len(), self.parts.capacity(), 16)
    }

    fn sketch(&self, budget: usize) -> HllSketch {
        let size = (budget / 4).max(1).ilog2().clamp(12, u32::from(MOST)) as u8;
        let mut sketch = HllSketch::new(size, HllType::Hll8).expect("the size is in range");
        self.classes().for_each(|class| sketch.update(class));
        sketch
    }
}

//! The most frequent value.
//!
//! A count for each different value, and the best so far beside it: counts only grow, so a result costs nothing. 8 ns a
//! value when few differ, 80 ns at a million different ones; 17 to 34 bytes for each different number, text and lists
//! what they are long. Beyond the budget see [`frequent`](super::frequent).

use super::frequent::Sketch;
use super::key::{encode, number_class};
use super::{Map, table_bytes};
use crate::Bound;
use crate::moments::Number;
use crate::save::*;
use std::cmp::Ordering;
use std::sync::Arc;
use tw_core::Value;
use tw_core::codec::{Corrupt, put, take};

/// Which values there were, and how often.
#[derive(Clone, Debug)]
pub enum Tally {
    Exact(Box<Exact>),
    Sketch(Box<Sketch>),
}

/// In a count of a whole number: one of the values was a whole number, not a real.
const WHOLE: u64 = 1 << 63;

#[derive(Clone, Debug, Default)]
pub struct Exact {
    bools: [u64; 2],
    whole: Map<i64, u64>,
    reals: Map<u64, u64>,
    texts: Map<Arc<str>, u64>,
    /// With the value at the first position.
    parts: Map<Box<[u8]>, (u64, Value)>,
    /// Whether the first real that is zero is −0.0.
    negative_zero: Option<bool>,
    best: Option<(u64, Class)>,
    /// Bytes of texts and parts.
    bytes: usize,
}

/// The class of a value.
#[derive(Clone, Debug, PartialEq)]
enum Class {
    Bool(bool),
    Whole(i64),
    /// The bits of a real that is no whole number of 64 bits.
    Real(u64),
    Text(Arc<str>),
    Part(Box<[u8]>),
}

impl Class {
    /// In the order of values.
    fn order(&self, other: &Class) -> Ordering {
        let rank = |class: &Class| match class {
            Class::Bool(_) => 0,
            Class::Whole(_) | Class::Real(_) => 1,
            Class::Text(_) => 2,
            Class::Part(_) => 3,
        };
        match (self, other) {
            (Class::Bool(a), Class::Bool(b)) => a.cmp(b),
            (Class::Whole(a), Class::Whole(b)) => a.cmp(b),
            (Class::Real(a), Class::Real(b)) => f64::from_bits(*a).total_cmp(&f64::from_bits(*b)),
            (Class::Whole(a), Class::Real(b)) => whole_and_real(*a, f64::from_bits(*b)),
            (Class::Real(a), Class::Whole(b)) => whole_and_real(*b, f64::from_bits(*a)).reverse(),
            (Class::Text(a), Class::Text(b)) => a.cmp(b),
            (Class::Part(a), Class::Part(b)) => a.cmp(b),
            _ => rank(self).cmp(&rank(other)),
        }
    }
}

/// The order of a whole number and a real that is none: the cast saturates where the real is out of range.
fn whole_and_real(whole: i64, real: f64) -> Ordering {
    if whole < real.ceil() as i64 || real >= 9_223_372_036_854_775_808.0 {
        Ordering::Less
    } else {
        Ordering::Greater
    }
}

impl Tally {
    pub fn new() -> Self {
        Tally::Exact(Box::default())
    }

    #[inline]
    pub fn push_number(&mut self, number: Number, front: bool, budget: usize) {
        match self {
            Tally::Exact(exact) => {
                if exact.push_number(number, front) {
                    self.check(budget);
                }
            }
            Tally::Sketch(sketch) => sketch.push_number(number),
        }
    }

    pub fn push_bool(&mut self, bool: bool, times: u64) {
        match self {
            Tally::Exact(exact) => exact.add(Class::Bool(bool), times),
            Tally::Sketch(sketch) => sketch.push(&Value::Bool(bool), times),
        }
    }

    pub fn push(&mut self, value: &Value, front: bool, budget: usize) {
        match (value, &mut *self) {
            (Value::Int(int), _) => self.push_number(Number::Int(*int), front, budget),
            (Value::Real(real), _) => self.push_number(Number::Real(*real), front, budget),
            (Value::Bool(bool), _) => self.push_bool(*bool, 1),
            (_, Tally::Sketch(sketch)) => sketch.push(value, 1),
            (Value::Str(text), Tally::Exact(exact)) => {
                exact.add_text(text, 1);
                self.check(budget);
            }
            (_, Tally::Exact(exact)) => {
                let mut bytes = Vec::new();
                encode(value, &mut bytes);
                exact.add_part(bytes.into(), 1, value, front);
                self.check(budget);
            }
        }
    }

    fn check(&mut self, budget: usize) {
        if let Tally::Exact(exact) = self
            && exact.next_bytes() > budget
        {
            *self = Tally::Sketch(Box::new(exact.sketch(budget)));
        }
    }

    pub fn append(&mut self, later: &Tally, budget: usize) {
        match (&mut *self, later) {
            (Tally::Exact(mine), Tally::Exact(other)) => {
                if mine.len() < other.len() {
                    let earlier = std::mem::replace(mine, other.clone());
                    mine.merge(&earlier, true);
                } else {
                    mine.merge(other, false);
                }
                self.check(budget);
            }
            (Tally::Exact(mine), Tally::Sketch(other)) => {
                let mut sketch = other.clone();
                sketch.merge(&mine.sketch(budget));
                *self = Tally::Sketch(sketch);
            }
            (Tally::Sketch(mine), Tally::Exact(other)) => mine.merge(&other.sketch(budget)),
            (Tally::Sketch(mine), Tally::Sketch(other)) => mine.merge(other),
        }
    }

    pub fn result(&self) -> Value {
        match self {
            Tally::Exact(exact) => exact.best.as_ref().map_or(Value::Null, |(_, class)| exact.shown(class)),
            Tally::Sketch(sketch) => sketch.result(),
        }
    }

    pub fn bound(&self) -> Option<Bound> {
        match self {
            Tally::Exact(_) => None,
            Tally::Sketch(sketch) => Some(sketch.bound()),
        }
    }

    pub fn heap_bytes(&self) -> usize {
        match self {
            Tally::Exact(exact) => size_of::<Exact>() + exact.heap_bytes(),
            Tally::Sketch(sketch) => size_of::<Sketch>() + sketch.heap_bytes(),
        }
    }

    pub fn save(&self, out: &mut Vec<u8>) {
        match self {
            Tally::Exact(exact) => {
                out.push(0);
                exact.save(out);
            }
            Tally::Sketch(sketch) => {
                out.push(1);
                sketch.save(out);
            }
        }
    }

    pub fn load(count: u64, from: &mut &[u8]) -> Result<Self, Corrupt> {
        if take_byte(from)? == 0 {
            return Ok(Tally::Exact(Box::new(Exact::load(count, from)?)));
        }
        Ok(Tally::Sketch(Box::new(Sketch::load(count, from)?)))
    }
}

impl Exact {
    /// Whether it is a new number.
    #[inline]
    fn push_number(&mut self, number: Number, front: bool) -> bool {
        let before = self.whole.len() + self.reals.len();
        match number_class(number) {
            Ok(whole) => {
                let flag = match number {
                    Number::Int(_) => WHOLE,
                    Number::Real(real) => {
                        if whole == 0 && (front || self.negative_zero.is_none()) {
                            self.negative_zero = Some(real.is_sign_negative());
                        }
                        0
                    }
                };
                self.add_whole(whole, 1, flag);
            }
            Err(real) => self.add(Class::Real(real), 1),
        }
        self.whole.len() + self.reals.len() != before
    }

    #[inline]
    fn add_whole(&mut self, whole: i64, times: u64, flag: u64) {
        let entry = self.whole.entry(whole).or_insert(0);
        *entry = (*entry + times) | flag;
        let count = *entry & !WHOLE;
        self.improve(count, || Class::Whole(whole));
    }

    /// Counts a class that needs no more than itself.
    fn add(&mut self, class: Class, times: u64) {
        let entry = match &class {
            Class::Bool(bool) => &mut self.bools[usize::from(*bool)],
            Class::Whole(whole) => return self.add_whole(*whole, times, WHOLE),
            Class::Real(real) => self.reals.entry(*real).or_insert(0),
            Class::Text(text) => return self.add_text(text, times),
            Class::Part(_) => return,
        };
        *entry += times;
        let count = *entry;
        self.improve(count, || class);
    }

    fn add_text(&mut self, text: &Arc<str>, times: u64) {
        let count = match self.texts.get_mut(text) {
            Some(count) => {
                *count += times;
                *count
            }
            None => {
                self.bytes += text.len() + 16;
                self.texts.insert(text.clone(), times);
                times
            }
        };
        self.improve(count, || Class::Text(text.clone()));
    }

    fn add_part(&mut self, key: Box<[u8]>, times: u64, value: &Value, first: bool) {
        let count = match self.parts.get_mut(&key) {
            Some((count, shown)) => {
                *count += times;
                if first {
                    *shown = value.clone();
                }
                *count
            }
            None => {
                // The value is about as large again as its bytes.
                self.bytes += key.len() * 4 + 64;
                self.parts.insert(key.clone(), (times, value.clone()));
                times
            }
        };
        self.improve(count, || Class::Part(key));
    }

    /// A class has this count now.
    #[inline]
    fn improve(&mut self, count: u64, class: impl FnOnce() -> Class) {
        match &mut self.best {
            Some((best, _)) if count < *best => {}
            Some((best, winner)) => {
                let class = class();
                if count > *best || class.order(winner).is_lt() {
                    (*best, *winner) = (count, class);
                }
            }
            None => self.best = Some((count, class())),
        }
    }

    fn shown(&self, class: &Class) -> Value {
        match class {
            Class::Bool(bool) => Value::Bool(*bool),
            Class::Whole(whole) => match self.whole.get(whole) {
                Some(count) if count & WHOLE == 0 => {
                    let negative = *whole == 0 && self.negative_zero == Some(true);
                    Value::Real(if negative { -0.0 } else { *whole as f64 })
                }
                _ => Value::Int(*whole),
            },
            Class::Real(real) => Value::Real(f64::from_bits(*real)),
            Class::Text(text) => Value::Str(text.clone()),
            Class::Part(part) => self.parts.get(part).map_or(Value::Null, |(_, shown)| shown.clone()),
        }
    }

    /// Adds what another has that comes before or after all of this.
    fn merge(&mut self, other: &Exact, before: bool) {
        for bool in [false, true] {
            if other.bools[usize::from(bool)] > 0 {
                self.add(Class::Bool(bool), other.bools[usize::from(bool)]);
            }
        }
        other.whole.iter().for_each(|(whole, count)| self.add_whole(*whole, count & !WHOLE, count & WHOLE));
        other.reals.iter().for_each(|(real, count)| self.add(Class::Real(*real), *count));
        other.texts.iter().for_each(|(text, count)| self.add_text(text, *count));
        for (key, (count, value)) in &other.parts {
            self.add_part(key.clone(), *count, value, before);
        }
        if before {
            self.negative_zero = other.negative_zero.or(self.negative_zero);
        } else {
            self.negative_zero = self.negative_zero.or(other.negative_zero);
        }
    }

    fn sketch(&self, budget: usize) -> Sketch {
        let mut sketch = Sketch::new(budget);
        for bool in [false, true] {
            sketch.push(&Value::Bool(bool), self.bools[usize::from(bool)]);
        }
        // A class of reals alone has a member that the real is, exactly.
        self.whole.iter().for_each(|(whole, count)| match count & WHOLE {
            0 => sketch.push(&Value::Real(*whole as f64), *count),
            _ => sketch.push(&Value::Int(*whole), count & !WHOLE),
        });
        self.reals.iter().for_each(|(real, count)| sketch.push(&Value::Real(f64::from_bits(*real)), *count));
        self.texts.iter().for_each(|(text, count)| sketch.push(&Value::Str(text.clone()), *count));
        self.parts.values().for_each(|(count, value)| sketch.push(value, *count));
        sketch
    }

    fn len(&self) -> usize {
        self.whole.len() + self.reals.len() + self.texts.len() + self.parts.len()
    }

    fn heap_bytes(&self) -> usize {
        table_bytes(self.whole.capacity() + self.reals.capacity(), 16)
            + table_bytes(self.texts.capacity(), 24)
            + table_bytes(self.parts.capacity(), 56)
            + self.bytes
    }

    /// The bytes after the next insertion, which may double a table.
    fn next_bytes(&self) -> usize {
        let growth = |len: usize, capacity: usize, entry: usize| {
            if len == capacity { table_bytes(capacity, entry) } else { 0 }
        };
        self.heap_bytes()
            + growth(self.whole.len(), self.whole.capacity(), 16)
            + growth(self.reals.len(), self.reals.capacity(), 16)
            + growth(self.texts.len(), self.texts.capacity(), 24)
            + growth(self.parts.len(), self.parts.capacity(), 56)
    }

    fn save(&self, out: &mut Vec<u8>) {
        self.bools.iter().for_each(|count| put(*count, out));
        put(self.whole.len() as u64, out);
        for (whole, count) in &self.whole {
            put_signed(*whole, out);
            put((count & !WHOLE) << 1 | count >> 63, out);
        }
        put(self.reals.len() as u64, out);
        for (real, count) in &self.reals {
            put_word(*real, out);
            put(*count, out);
        }
        put(self.texts.len() as u64, out);
        for (text, count) in &self.texts {
            put_value(&Value::Str(text.clone()), out);
            put(*count, out);
        }
        put(self.parts.len() as u64, out);
        for (count, value) in self.parts.values() {
            put_value(value, out);
            put(*count, out);
        }
        out.push(self.negative_zero.map_or(2, u8::from));
    }

    fn load(count: u64, from: &mut &[u8]) -> Result<Self, Corrupt> {
        let mut exact = Exact::default();
        // What is left of the count: no count and no sum of counts is larger.
        let mut rest = count;
        let mut less = |times: u64| match rest.checked_sub(times) {
            Some(left) => {
                rest = left;
                Ok(times)
            }
            None => corrupt("counts that do not add up"),
        };
        for bool in [false, true] {
            match less(take(from)?)? {
                0 => {}
                times => exact.add(Class::Bool(bool), times),
            }
        }
        for _ in 0..take_len(from)? {
            let (whole, packed) = (take_signed(from)?, take(from)?);
            exact.add_whole(whole, less(packed >> 1)?, packed << 63);
        }
        for _ in 0..take_len(from)? {
            let real = take_word(from)?;
            exact.add(Class::Real(real), less(take(from)?)?);
        }
        for _ in 0..take_len(from)? {
            let Value::Str(text) = take_value(from)? else { return corrupt("no text") };
            exact.add_text(&text, less(take(from)?)?);
        }
        for _ in 0..take_len(from)? {
            let value = take_value(from)?;
            let mut key = Vec::new();
            encode(&value, &mut key);
            exact.add_part(key.into(), less(take(from)?)?, &value, true);
        }
        exact.negative_zero = match take_byte(from)? {
            2 => None,
            byte => Some(byte == 1),
        };
        if rest != 0 {
            return corrupt("counts that do not add up");
        }
        Ok(exact)
    }
}

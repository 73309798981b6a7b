//! What the statistics know: one case for each kind, and the small ones themselves.

use crate::class::distinct::Distinct;
use crate::class::tally::Tally;
use crate::float::{from_key, to_key};
use crate::order::Numbers;
use crate::{ExactSum, Moments, Number, PairMoments};
use std::cmp::Ordering;
use tw_core::Value;

/// What was collected.
#[derive(Clone, Debug)]
pub enum State {
    Count,
    Sum(ExactSum),
    Extreme(Extreme),
    First(End),
    Last(End),
    Moments(Box<Moments>),
    Pairs(Box<PairMoments>),
    Numbers(Box<Numbers>),
    Mode(Tally),
    Distinct(Box<Distinct>),
    /// A value was pushed that the statistic does not take.
    Fault(Box<str>),
}

impl State {
    pub fn heap_bytes(&self) -> usize {
        match self {
            State::Count | State::Extreme(_) => 0,
            State::Sum(sum) => sum.heap_bytes(),
            State::First(end) | State::Last(end) => value_bytes(&end.value),
            State::Moments(moments) => size_of::<Moments>() + moments.heap_bytes(),
            State::Pairs(pairs) => size_of::<PairMoments>() + pairs.heap_bytes(),
            State::Numbers(numbers) => size_of::<Numbers>() + numbers.heap_bytes(),
            State::Mode(tally) => tally.heap_bytes(),
            State::Distinct(distinct) => size_of::<Distinct>() + distinct.heap_bytes(),
            State::Fault(fault) => fault.len(),
        }
    }
}

fn value_bytes(value: &Value) -> usize {
    let (mut bytes, mut todo) = (0, vec![value]);
    while let Some(value) = todo.pop() {
        match value {
            Value::Str(text) => bytes += text.len() + 16,
            Value::List(items) => {
                bytes += items.capacity() * size_of::<Value>();
                todo.extend(items);
            }
            Value::Object(fields) => {
                bytes += fields.capacity() * size_of::<(std::sync::Arc<str>, Value)>();
                todo.extend(fields.iter().map(|(_, value)| value));
            }
            _ => {}
        }
    }
    bytes
}

/// The value at one end; null before there is one.
#[derive(Clone, Debug)]
pub struct End {
    pub value: Value,
}

impl Default for End {
    fn default() -> Self {
        End { value: Value::Null }
    }
}

impl End {
    /// A value comes, at this end or at the other.
    #[inline]
    pub fn set(&mut self, here: bool, value: impl FnOnce() -> Value) {
        if here || self.value.is_null() {
            self.value = value();
        }
    }

    pub fn append(&mut self, other: &End, here: bool) {
        if !other.value.is_null() {
            self.set(here, || other.value.clone());
        }
    }
}

/// The least or the greatest number. Of equal ones a whole number; of zeros the least takes −0.0, the greatest +0.0.
#[derive(Clone, Debug)]
pub struct Extreme {
    pub best: Option<Number>,
    pub greatest: bool,
}

impl Extreme {
    #[inline]
    pub fn push(&mut self, number: Number) {
        if self.best.is_none_or(|best| self.prefers(number, best)) {
            self.best = Some(number);
        }
    }

    #[inline]
    pub fn prefers(&self, a: Number, b: Number) -> bool {
        let (a, b) = if self.greatest { (b, a) } else { (a, b) };
        match (a, b) {
            (Number::Int(a), Number::Int(b)) => a < b,
            (Number::Real(a), Number::Real(b)) => to_key(a) < to_key(b),
            (Number::Int(int), Number::Real(real)) => match int_and_real(int, real) {
                Ordering::Equal => !self.greatest,
                order => order.is_lt(),
            },
            (Number::Real(real), Number::Int(int)) => match int_and_real(int, real) {
                Ordering::Equal => self.greatest,
                order => order.is_gt(),
            },
        }
    }

    pub fn push_ints(&mut self, ints: &[i64]) {
        let best = if self.greatest { ints.iter().max() } else { ints.iter().min() };
        if let Some(best) = best {
            self.push(Number::Int(*best));
        }
    }

    pub fn push_reals(&mut self, reals: &[f64]) {
        let keys = reals.iter().map(|real| to_key(*real));
        let best = if self.greatest { keys.max() } else { keys.min() };
        if let Some(best) = best {
            self.push(Number::Real(from_key(best)));
        }
    }

    pub fn append(&mut self, other: &Extreme) {
        if let Some(best) = other.best {
            self.push(best);
        }
    }
}

/// The order of a whole number and a real, exactly.
fn int_and_real(int: i64, real: f64) -> Ordering {
    // 2⁶³ is a power of two, hence exact as a real; −2⁶³ is i64::MIN itself.
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if real >= LIMIT {
        Ordering::Less
    } else if real < -LIMIT {
        Ordering::Greater
    } else {
        // The cast truncates; what it yields came from a real, so it converts back exactly.
        let whole = real as i64;
        int.cmp(&whole).then((whole as f64).partial_cmp(&real).unwrap_or(Ordering::Equal))
    }
}

/// A pair of numbers.
pub fn pair(value: &Value) -> Option<(Number, Number)> {
    let Value::List(parts) = value else { return None };
    let [x, y] = parts.as_slice() else { return None };
    Some((Number::of(x)?, Number::of(y)?))
}

impl Number {
    /// The number that a value is.
    pub fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Int(int) => Some(Number::Int(*int)),
            Value::Real(real) => Some(Number::Real(*real)),
            _ => None,
        }
    }

    /// The nearest real.
    #[inline]
    pub fn to_real(self) -> f64 {
        match self {
            Number::Int(int) => int as f64,
            Number::Real(real) => real,
        }
    }
}

impl From<Number> for Value {
    fn from(number: Number) -> Self {
        match number {
            Number::Int(int) => Value::Int(int),
            Number::Real(real) => Value::Real(real),
        }
    }
}

//! Statistics of what is near: of the values that came within a distance of the latest one.
//!
//! A [`Rolling`] takes values with stamps that never go back, and forgets those that are further back than its reach. The
//! result is that of an [`Accumulator`](crate::Accumulator) over the values still inside, bit by bit: sums are exact, so that
//! taking a value back leaves nothing of it behind. A value costs constant work, amortised (`count sum avg min max first last
//! distinct var stddev`; a variance of reals 0.4 µs), or the logarithm of how many are inside (`median quantile mode`).
//! Memory per value inside: `count` 8 bytes, `sum avg var stddev min max` 24, `last` one value in all, `first` 32, `median
//! quantile` 16 to 80, `mode distinct` about 150.

mod classes;
mod split;
mod sum;
#[cfg(test)]
mod tests;

use crate::float::to_key;
use crate::state::Extreme;
use crate::{Corrupt, Moments, Number};
use classes::Classes;
use split::Split;
use std::collections::VecDeque;
use sum::SlidingSum;
use tw_core::codec::{put, put_signed, put_value, take_len, take_signed, take_value};
use tw_core::{Bits, Value};
use tw_ir::Aggregate;

/// A statistic of the latest values.
#[derive(Clone, Debug)]
pub struct Rolling {
    aggregate: Aggregate,
    /// The greatest distance inside.
    reach: i64,
    state: State,
}

/// Positions of a window that is kept twice while a column is averaged: 16 bytes each.
const LONGEST: usize = 1 << 20;

/// Values with their stamps, oldest first.
type Held<T> = VecDeque<(i64, T)>;

#[derive(Clone, Debug)]
enum State {
    Count(VecDeque<i64>),
    Sum(Held<Number>, SlidingSum),
    Moments(Held<Number>, Box<Moments>),
    /// Those that are not outdone by a later one.
    Extreme(Held<Number>, bool),
    First(Held<Value>),
    Last(Option<(i64, Value)>),
    Order(Held<i64>, Split),
    Classes(Held<(std::sync::Arc<[u8]>, Value)>, Box<Classes>),
}

impl Rolling {
    /// Of nothing yet. There is none of `histogram` and `corr`.
    pub fn new(aggregate: Aggregate, reach: i64) -> Option<Self> {
        let state = match aggregate {
            Aggregate::Count => State::Count(VecDeque::new()),
            Aggregate::Sum | Aggregate::Avg => State::Sum(VecDeque::new(), SlidingSum::default()),
            Aggregate::Var | Aggregate::Stddev => State::Moments(VecDeque::new(), Box::default()),
            Aggregate::Min => State::Extreme(VecDeque::new(), false),
            Aggregate::Max => State::Extreme(VecDeque::new(), true),
            Aggregate::First => State::First(VecDeque::new()),
            Aggregate::Last => State::Last(None),
            Aggregate::Median => State::Order(VecDeque::new(), Split::new(500_000_000)),
            Aggregate::Quantile(q) => State::Order(VecDeque::new(), Split::new(q)),
            Aggregate::Mode => State::Classes(VecDeque::new(), Box::new(Classes::new(true))),
            Aggregate::Distinct => State::Classes(VecDeque::new(), Box::new(Classes::new(false))),
            Aggregate::Histogram(_) | Aggregate::Corr => return None,
        };
        Some(Self { aggregate, reach, state })
    }

    /// Forgets what is too far back from `now`.
    #[inline]
    pub fn advance(&mut self, now: i64) {
        let reach = self.reach;
        let out = |stamp: i64| now.saturating_sub(stamp) > reach;
        match &mut self.state {
            State::Count(held) => {
                while held.front().is_some_and(|&stamp| out(stamp)) {
                    held.pop_front();
                }
            }
            State::Sum(held, sum) => {
                while let Some(&(stamp, number)) = held.front() {
                    if !out(stamp) {
                        break;
                    }
                    held.pop_front();
                    sum.remove(number);
                }
                if sum.is_skewed() {
                    sum.rebase(held.iter().map(|(_, number)| *number));
                }
            }
            State::Moments(held, moments) => {
                while let Some(&(stamp, number)) = held.front() {
                    if !out(stamp) {
                        break;
                    }
                    held.pop_front();
                    moments.remove(number);
                    // Of nothing, nothing is left: not even that a real was there.
                    if held.is_empty() {
                        **moments = Moments::default();
                    }
                }
            }
            State::Extreme(held, _) => drop_while(held, out),
            State::First(held) => drop_while(held, out),
            State::Last(held) => *held = held.take().filter(|(stamp, _)| !out(*stamp)),
            State::Order(held, split) => {
                while let Some(&(stamp, key)) = held.front() {
                    if !out(stamp) {
                        break;
                    }
                    held.pop_front();
                    split.remove(key);
                }
            }
            State::Classes(held, classes) => {
                while held.front().is_some_and(|(stamp, _)| out(*stamp)) {
                    if let Some((_, (key, _))) = held.pop_front() {
                        classes.remove(&key);
                    }
                }
            }
        }
    }

    /// Takes a value that is not null; an error if it is none that the statistic takes.
    pub fn push(&mut self, stamp: i64, value: &Value) -> Result<(), String> {
        match &mut self.state {
            State::Count(held) => held.push_back(stamp),
            State::First(held) => held.push_back((stamp, value.clone())),
            State::Last(held) => *held = Some((stamp, value.clone())),
            State::Classes(held, classes) => {
                let key = classes.add(value);
                held.push_back((stamp, (key, value.clone())));
            }
            _ => match Number::of(value) {
                Some(number) => self.push_number(stamp, number),
                None => return Err(format!("a statistic of numbers meets {}", value.kind())),
            },
        }
        Ok(())
    }

    /// Takes a position where what is counted holds.
    #[inline]
    pub fn push_true(&mut self, stamp: i64) {
        if let State::Count(held) = &mut self.state {
            held.push_back(stamp);
        }
    }

    #[inline]
    fn push_number(&mut self, stamp: i64, number: Number) {
        match &mut self.state {
            State::Sum(held, sum) => {
                sum.add(number);
                held.push_back((stamp, number));
            }
            State::Moments(held, moments) => {
                moments.push(number);
                held.push_back((stamp, number));
            }
            State::Extreme(held, greatest) => {
                let extreme = Extreme { best: None, greatest: *greatest };
                // A later one that is as good stays longer.
                while held.back().is_some_and(|&(_, last)| !extreme.prefers(last, number)) {
                    held.pop_back();
                }
                held.push_back((stamp, number));
            }
            State::Order(held, split) => {
                let key = to_key(number.to_real());
                split.add(key);
                held.push_back((stamp, key));
            }
            _ => {}
        }
    }

    /// The statistic of what is inside: of nothing, a count and a sum are 0, the others null.
    #[inline]
    pub fn result(&self) -> Result<Value, String> {
        Ok(match &self.state {
            State::Count(held) => Value::Int(held.len() as i64),
            State::Sum(held, sum) if self.aggregate == Aggregate::Avg => match held.len() {
                0 => Value::Null,
                count => real(sum.rounded() / count as f64),
            },
            State::Sum(_, sum) => return sum.total(),
            State::Moments(held, _) if held.is_empty() => Value::Null,
            State::Moments(_, moments) if self.aggregate == Aggregate::Stddev => {
                real(moments.variance().sqrt())
            }
            State::Moments(_, moments) => real(moments.variance()),
            State::Extreme(held, _) => held.front().map_or(Value::Null, |(_, number)| (*number).into()),
            State::First(held) => held.front().map_or(Value::Null, |(_, value)| value.clone()),
            State::Last(held) => held.as_ref().map_or(Value::Null, |(_, value)| value.clone()),
            State::Order(_, split) => split.quantile().map_or(Value::Null, real),
            State::Classes(held, _) if held.is_empty() => Value::Null,
            State::Classes(_, classes) if self.aggregate == Aggregate::Distinct => classes.distinct(),
            State::Classes(_, classes) => classes.mode(),
        })
    }

    /// The averages of a column of reals, whose stamps are given by their place (`counted`: one after the other): `out` and
    /// `valid` get one for each.
    pub fn averages(
        &mut self,
        (counted, stamp): (bool, impl Fn(usize) -> i64),
        (reals, present): (&[f64], &Bits),
        out: &mut Vec<f64>,
        valid: &mut Bits,
    ) -> bool {
        let (true, State::Sum(held, sum)) = (self.aggregate == Aggregate::Avg, &mut self.state) else {
            return false;
        };
        out.reserve(reals.len());
        let all = present.count_ones() == reals.len();
        // Long columns of one position after the other, with the window full or complete from the start.
        let first = if reals.is_empty() { 0 } else { stamp(0) };
        let size = self.reach.saturating_add(1);
        let whole = held.len() as i64 == first || held.len() as i64 == size;
        let close = held.front().is_none_or(|&(oldest, _)| first - oldest == held.len() as i64);
        if counted && all && whole && close && reals.len() as i64 / 4 >= size && (size as usize) <= LONGEST {
            let ring = held.iter().map(|(_, number)| *number);
            if sum.slide(ring, size as usize, reals, out) {
                let kept = reals.len().saturating_sub(size as usize);
                held.clear();
                held.extend(
                    reals[kept..]
                        .iter()
                        .enumerate()
                        .map(|(at, &real)| (first + (kept + at) as i64, Number::Real(real))),
                );
                valid.append(&Bits::repeat(true, reals.len()));
                return true;
            }
        }
        for (at, &value) in reals.iter().enumerate() {
            let now = stamp(at);
            self.advance(now);
            let State::Sum(held, sum) = &mut self.state else { return false };
            if all || present.get(at) {
                sum.add(Number::Real(value));
                held.push_back((now, Number::Real(value)));
            }
            let average = sum.rounded() / held.len() as f64;
            let is_there = average.is_finite();
            out.push(if is_there { average } else { 0.0 });
            valid.push(is_there);
        }
        true
    }

    /// Whether nothing is inside.
    pub fn is_empty(&self) -> bool {
        match &self.state {
            State::Count(held) => held.is_empty(),
            State::Sum(held, _) | State::Moments(held, _) | State::Extreme(held, _) => held.is_empty(),
            State::First(held) => held.is_empty(),
            State::Last(held) => held.is_none(),
            State::Order(held, _) => held.is_empty(),
            State::Classes(held, _) => held.is_empty(),
        }
    }

    /// Bytes that a value inside takes, at most; of `last` all together.
    pub fn bytes_per_value(&self) -> usize {
        match &self.state {
            State::Count(_) => 8,
            // An average of a column of reals keeps its window a second time meanwhile.
            State::Sum(..) if self.aggregate == Aggregate::Avg => 40,
            State::Sum(..) | State::Moments(..) | State::Extreme(..) => 24,
            State::First(_) => 8 + size_of::<Value>(),
            State::Last(_) => 0,
            State::Order(..) => 64,
            State::Classes(..) => 150,
        }
    }

    /// Bytes held, about.
    pub fn heap_bytes(&self) -> usize {
        match &self.state {
            State::Count(held) => held.capacity() * 8,
            State::Sum(held, _) | State::Extreme(held, _) => held.capacity() * 24,
            State::Moments(held, moments) => held.capacity() * 24 + 160 + moments.heap_bytes(),
            State::First(held) => held.capacity() * (8 + size_of::<Value>()),
            State::Last(_) => 0,
            State::Order(held, _) => held.capacity() * 16 + held.len() * 48,
            State::Classes(held, _) => held.len() * 150,
        }
    }

    /// Writes what is inside.
    pub fn save(&self, out: &mut Vec<u8>) {
        let mut values: Vec<(i64, Value)> = Vec::new();
        match &self.state {
            State::Count(held) => values.extend(held.iter().map(|&stamp| (stamp, Value::Null))),
            State::Sum(held, _) | State::Moments(held, _) | State::Extreme(held, _) => {
                values.extend(held.iter().map(|&(stamp, number)| (stamp, number.into())));
            }
            State::First(held) => values.extend(held.iter().cloned()),
            State::Last(held) => values.extend(held.clone()),
            State::Order(held, _) => {
                values.extend(
                    held.iter().map(|&(stamp, key)| (stamp, Value::Real(crate::float::from_key(key)))),
                );
            }
            State::Classes(held, _) => {
                values.extend(held.iter().map(|(stamp, (_, value))| (*stamp, value.clone())));
            }
        }
        put(values.len() as u64, out);
        for (stamp, value) in values {
            put_signed(stamp, out);
            put_value(&value, out);
        }
    }

    /// Reads what [`Rolling::save`] wrote into one that has nothing yet.
    pub fn load(&mut self, from: &mut &[u8]) -> Result<(), Corrupt> {
        for _ in 0..take_len(from)? {
            let (stamp, value) = (take_signed(from)?, take_value(from)?);
            self.push(stamp, &value).map_err(Corrupt)?;
        }
        Ok(())
    }
}

fn drop_while<T>(held: &mut Held<T>, out: impl Fn(i64) -> bool) {
    while held.front().is_some_and(|(stamp, _)| out(*stamp)) {
        held.pop_front();
    }
}

fn real(number: f64) -> Value {
    if number.is_finite() { Value::Real(number) } else { Value::Null }
}

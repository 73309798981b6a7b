//! The one face of all statistics.

use crate::class::distinct::Distinct;
use crate::class::tally::Tally;
use crate::order::Numbers;
use crate::state::{Extreme, State, pair};
use crate::{Bound, ExactSum, Limits, Number};
use tw_core::Value;
use tw_ir::Aggregate;

/// What a statistic knows of the values it was given: a monoid in trace order.
///
/// Values that are no numbers where the statistic needs them are refused by [`push`](Self::push); where a number or
/// `true` was pushed by a function that cannot refuse, [`result`](Self::result) says so.
#[derive(Clone, Debug)]
pub struct Accumulator {
    pub(crate) aggregate: Aggregate,
    pub(crate) limits: Limits,
    pub(crate) count: u64,
    pub(crate) state: State,
}

impl Accumulator {
    /// Nothing collected.
    pub fn new(aggregate: Aggregate, limits: Limits) -> Self {
        Self { aggregate, limits, count: 0, state: State::new(aggregate) }
    }

    /// Collects a value after all others. An error, and nothing collected, if the statistic needs numbers and this is
    /// none. The value is not null.
    #[inline]
    pub fn push(&mut self, value: &Value) -> Result<(), String> {
        match value {
            Value::Int(int) if !matches!(self.state, State::Pairs(_)) => self.push_int(*int),
            Value::Real(real) if !matches!(self.state, State::Pairs(_)) => self.push_real(*real),
            other => return self.push_other(other, false),
        }
        Ok(())
    }

    /// Collects a value before all others; else as [`push`](Self::push).
    #[inline]
    pub fn push_front(&mut self, value: &Value) -> Result<(), String> {
        match value {
            Value::Int(int) if !matches!(self.state, State::Pairs(_)) => self.push_int_front(*int),
            Value::Real(real) if !matches!(self.state, State::Pairs(_)) => self.push_real_front(*real),
            other => return self.push_other(other, true),
        }
        Ok(())
    }

    /// Collects what is no number.
    fn push_other(&mut self, value: &Value, front: bool) -> Result<(), String> {
        let budget = self.limits.exact_bytes;
        match &mut self.state {
            State::Count => {}
            State::First(end) => end.set(front, || value.clone()),
            State::Last(end) => end.set(!front, || value.clone()),
            State::Mode(tally) => tally.push(value, front, budget),
            State::Distinct(distinct) => distinct.push(value, budget),
            State::Pairs(pairs) => {
                let Some((x, y)) = pair(value) else { return Err(refusal(self.aggregate, value)) };
                pairs.push(x, y);
            }
            _ => return Err(refusal(self.aggregate, value)),
        }
        self.count += 1;
        Ok(())
    }

    /// Collects a whole number after all others.
    #[inline]
    pub fn push_int(&mut self, int: i64) {
        self.push_number(Number::Int(int), false);
    }

    /// Collects a finite real after all others.
    #[inline]
    pub fn push_real(&mut self, real: f64) {
        self.push_number(Number::Real(real), false);
    }

    /// Collects a whole number before all others.
    #[inline]
    pub fn push_int_front(&mut self, int: i64) {
        self.push_number(Number::Int(int), true);
    }

    /// Collects a finite real before all others.
    #[inline]
    pub fn push_real_front(&mut self, real: f64) {
        self.push_number(Number::Real(real), true);
    }

    #[inline]
    fn push_number(&mut self, number: Number, front: bool) {
        self.count += 1;
        let budget = self.limits.exact_bytes;
        match &mut self.state {
            State::Count | State::Fault(_) => {}
            State::Sum(sum) => match number {
                Number::Int(int) => sum.push_int(int),
                Number::Real(real) => sum.push_real(real),
            },
            State::Extreme(extreme) => extreme.push(number),
            State::First(end) => end.set(front, || number.into()),
            State::Last(end) => end.set(!front, || number.into()),
            State::Moments(moments) => moments.push(number),
            State::Numbers(numbers) => numbers.push(number.to_real(), budget),
            State::Mode(tally) => tally.push_number(number, front, budget),
            State::Distinct(distinct) => distinct.push_number(number, budget),
            State::Pairs(_) => self.state = State::Fault(refusal(self.aggregate, &number.into()).into()),
        }
    }

    /// Collects whole numbers in trace order, after all others.
    pub fn push_ints(&mut self, ints: &[i64]) {
        let (Some(first), Some(last)) = (ints.first(), ints.last()) else { return };
        let budget = self.limits.exact_bytes;
        match &mut self.state {
            State::Count | State::Fault(_) => {}
            State::Sum(sum) => sum.push_ints(ints),
            State::Extreme(extreme) => extreme.push_ints(ints),
            State::First(end) => end.set(false, || Value::Int(*first)),
            State::Last(end) => end.set(true, || Value::Int(*last)),
            State::Moments(moments) => moments.push_ints(ints),
            State::Numbers(numbers) => numbers.extend(ints.iter().map(|int| *int as f64), budget),
            State::Mode(tally) => {
                ints.iter().for_each(|int| tally.push_number(Number::Int(*int), false, budget));
            }
            State::Distinct(distinct) => {
                ints.iter().for_each(|int| distinct.push_number(Number::Int(*int), budget));
            }
            State::Pairs(_) => self.state = State::Fault(refusal(self.aggregate, &Value::Int(*first)).into()),
        }
        self.count += ints.len() as u64;
    }

    /// Collects finite reals in trace order, after all others.
    pub fn push_reals(&mut self, reals: &[f64]) {
        let (Some(first), Some(last)) = (reals.first(), reals.last()) else { return };
        let budget = self.limits.exact_bytes;
        match &mut self.state {
            State::Count | State::Fault(_) => {}
            State::Sum(sum) => sum.push_reals(reals),
            State::Extreme(extreme) => extreme.push_reals(reals),
            State::First(end) => end.set(false, || Value::Real(*first)),
            State::Last(end) => end.set(true, || Value::Real(*last)),
            State::Moments(moments) => moments.push_reals(reals),
            State::Numbers(numbers) => numbers.extend(reals.iter().copied(), budget),
            State::Mode(tally) => {
                reals.iter().for_each(|real| tally.push_number(Number::Real(*real), false, budget));
            }
            State::Distinct(distinct) => {
                reals.iter().for_each(|real| distinct.push_number(Number::Real(*real), budget));
            }
            State::Pairs(_) => {
                self.state = State::Fault(refusal(self.aggregate, &Value::Real(*first)).into())
            }
        }
        self.count += reals.len() as u64;
    }

    /// Collects `true` that many times, after all others.
    pub fn push_true(&mut self, times: u64) {
        if times == 0 {
            return;
        }
        self.count += times;
        match &mut self.state {
            State::Count | State::Fault(_) => {}
            State::First(end) => end.set(false, || Value::Bool(true)),
            State::Last(end) => end.set(true, || Value::Bool(true)),
            State::Mode(tally) => tally.push_bool(true, times),
            State::Distinct(distinct) => distinct.push_bool(true, self.limits.exact_bytes),
            _ => self.state = State::Fault(refusal(self.aggregate, &Value::Bool(true)).into()),
        }
    }

    /// Collects what `later`, of the same statistic, has collected, after all others.
    pub fn append(&mut self, later: &Accumulator) {
        debug_assert_eq!(self.aggregate, later.aggregate);
        if later.count == 0 {
            return;
        }
        let budget = self.limits.exact_bytes;
        match (&mut self.state, &later.state) {
            (State::Sum(sum), State::Sum(other)) => sum.append(other),
            (State::Extreme(extreme), State::Extreme(other)) => extreme.append(other),
            (State::First(end), State::First(other)) => end.append(other, false),
            (State::Last(end), State::Last(other)) => end.append(other, true),
            (State::Moments(moments), State::Moments(other)) => moments.append(other),
            (State::Pairs(pairs), State::Pairs(other)) => pairs.append(other),
            (State::Numbers(numbers), State::Numbers(other)) => numbers.append(other, budget),
            (State::Mode(tally), State::Mode(other)) => tally.append(other, budget),
            (State::Distinct(distinct), State::Distinct(other)) => distinct.append(other, budget),
            (State::Fault(_), _) => {}
            (_, State::Fault(fault)) => self.state = State::Fault(fault.clone()),
            _ => {}
        }
        self.count = self.count.saturating_add(later.count);
    }

    /// The statistic: null if nothing was collected or the result is not finite; an error if it is a whole number of
    /// more than 64 bits.
    pub fn result(&self) -> Result<Value, String> {
        if self.count == 0 {
            return Ok(Value::Null);
        }
        Ok(match (&self.state, self.aggregate) {
            (State::Count, _) => Value::Int(self.count as i64),
            (State::Sum(sum), Aggregate::Avg) => real(sum.rounded() / self.count as f64),
            (State::Sum(sum), _) => return total(sum),
            (State::Extreme(Extreme { best, .. }), _) => best.map_or(Value::Null, Into::into),
            (State::First(end) | State::Last(end), _) => end.value.clone(),
            (State::Moments(moments), Aggregate::Stddev) => real(moments.variance().sqrt()),
            (State::Moments(moments), _) => real(moments.variance()),
            (State::Pairs(pairs), _) => real(pairs.correlation()),
            (State::Numbers(numbers), Aggregate::Histogram(bins)) => {
                // A bin takes some 160 bytes.
                if bins as usize > self.limits.exact_bytes.max(1 << 20) / 160 {
                    return Err(format!("a histogram of {bins} bins exceeds the memory of a statistic"));
                }
                numbers.histogram(bins)
            }
            (State::Numbers(numbers), Aggregate::Quantile(q)) => {
                numbers.quantile(q).map_or(Value::Null, real)
            }
            (State::Numbers(numbers), _) => numbers.quantile(500_000_000).map_or(Value::Null, real),
            (State::Mode(tally), _) => tally.result(),
            (State::Distinct(distinct), _) => Value::Int(distinct.result()),
            (State::Fault(fault), _) => return Err(fault.to_string()),
        })
    }

    /// How far the result may be off; nothing if it is exact.
    pub fn bound(&self) -> Option<Bound> {
        match &self.state {
            State::Numbers(numbers) => numbers.bound(matches!(self.aggregate, Aggregate::Histogram(_))),
            State::Mode(tally) => tally.bound(),
            State::Distinct(distinct) => distinct.bound(),
            _ => None,
        }
    }

    /// Whether nothing was collected.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Number of values collected.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.count = 0;
        self.state = State::new(self.aggregate);
    }

    /// Memory held beyond the accumulator itself.
    pub fn heap_bytes(&self) -> usize {
        self.state.heap_bytes()
    }
}

/// The sum as a value.
fn total(sum: &ExactSum) -> Result<Value, String> {
    match sum.whole() {
        Some(whole) => match i64::try_from(whole) {
            Ok(int) => Ok(Value::Int(int)),
            Err(_) => Err(format!("the sum {whole} overflows a 64-bit integer")),
        },
        None => Ok(real(sum.rounded())),
    }
}

fn real(real: f64) -> Value {
    if real.is_finite() { Value::Real(real) } else { Value::Null }
}

/// Why a statistic does not take a value.
fn refusal(aggregate: Aggregate, value: &Value) -> String {
    let (name, needs) = match aggregate {
        Aggregate::Count => ("count", "values"),
        Aggregate::Sum => ("sum", "numbers"),
        Aggregate::Min => ("min", "numbers"),
        Aggregate::Max => ("max", "numbers"),
        Aggregate::Avg => ("avg", "numbers"),
        Aggregate::First => ("first", "values"),
        Aggregate::Last => ("last", "values"),
        Aggregate::Var => ("var", "numbers"),
        Aggregate::Stddev => ("stddev", "numbers"),
        Aggregate::Median => ("median", "numbers"),
        Aggregate::Quantile(_) => ("quantile", "numbers"),
        Aggregate::Histogram(_) => ("histogram", "numbers"),
        Aggregate::Mode => ("mode", "values"),
        Aggregate::Distinct => ("distinct", "values"),
        Aggregate::Corr => ("corr", "pairs of numbers"),
    };
    format!("`{name}` needs {needs}, found {}", value.kind())
}

impl State {
    pub(crate) fn new(aggregate: Aggregate) -> Self {
        match aggregate {
            Aggregate::Count => State::Count,
            Aggregate::Sum | Aggregate::Avg => State::Sum(ExactSum::default()),
            Aggregate::Min => State::Extreme(Extreme { best: None, greatest: false }),
            Aggregate::Max => State::Extreme(Extreme { best: None, greatest: true }),
            Aggregate::First => State::First(Default::default()),
            Aggregate::Last => State::Last(Default::default()),
            Aggregate::Var | Aggregate::Stddev => State::Moments(Box::default()),
            Aggregate::Median | Aggregate::Quantile(_) | Aggregate::Histogram(_) => {
                State::Numbers(Box::new(Numbers::new()))
            }
            Aggregate::Mode => State::Mode(Tally::new()),
            Aggregate::Distinct => State::Distinct(Box::new(Distinct::new())),
            Aggregate::Corr => State::Pairs(Box::default()),
        }
    }
}

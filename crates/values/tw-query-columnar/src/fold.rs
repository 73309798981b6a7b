//! What an aggregate knows of the values it was given.
//!
//! Counts, sums of whole numbers, extremes, the first and the last value are kept here, in a few machine words that a
//! loop over a block can take out and put back; all else is kept by [`Accumulator`].

use crate::lane::{Cell, Message};
use tw_core::Value;
use tw_ir::Aggregate::{self, *};
use tw_monitor::order;
use tw_statistics::{Accumulator, Bound, Limits};

#[derive(Clone, Debug)]
pub(crate) struct Fold {
    pub(crate) aggregate: Aggregate,
    /// Number of values collected.
    pub(crate) count: u64,
    /// Of a sum or an average without reals: the sum.
    pub(crate) ints: i128,
    /// Of an extreme, the first or the last value: that.
    pub(crate) kept: Value,
    /// All else; of a sum or an average, everything as soon as there is a real (`mixed`).
    rest: Option<Box<Accumulator>>,
    pub(crate) mixed: bool,
    /// Of a sum or an average of reals, while it will do: the exact sum as one real (the sum rounded) and what that is
    /// short of. Nothing is in `rest` then.
    pub(crate) double: Option<(f64, f64)>,
    limits: Limits,
    /// How far the results forgotten by now may have been off.
    bound: Option<Bound>,
    /// Why there is no result: a value that cannot be computed, or is of the wrong kind.
    pub(crate) poison: Option<Message>,
}

/// Whether the aggregate is kept without an [`Accumulator`] (a sum as long as it has no reals).
fn is_simple(aggregate: Aggregate) -> bool {
    matches!(aggregate, Count | Sum | Avg | Min | Max | First | Last)
}

impl Fold {
    pub(crate) fn new(aggregate: Aggregate, limits: Limits) -> Self {
        let rest = (!is_simple(aggregate)).then(|| Box::new(Accumulator::new(aggregate, limits)));
        Fold {
            aggregate,
            count: 0,
            ints: 0,
            kept: Value::Null,
            rest,
            mixed: false,
            double: None,
            limits,
            bound: None,
            poison: None,
        }
    }

    pub(crate) fn limits(&self) -> Limits {
        self.limits
    }

    pub(crate) fn clear(&mut self) {
        (self.count, self.ints, self.poison) = (0, 0, None);
        if !self.kept.is_null() {
            self.kept = Value::Null;
        }
        (self.mixed, self.double) = (false, None);
        if let Some(rest) = &mut self.rest
            && !rest.is_empty()
        {
            self.bound = wider(self.bound, rest.bound());
            rest.clear();
        }
    }

    pub(crate) fn poison(&mut self, message: &Message) {
        self.poison.get_or_insert_with(|| message.clone());
    }

    /// Collects a value before all others.
    pub(crate) fn push_front(&mut self, value: &Value) {
        match (self.aggregate, value) {
            (Count, _) => {}
            (First, _) => self.kept = value.clone(),
            (Last, _) => {
                if self.kept.is_null() {
                    self.kept = value.clone();
                }
            }
            (Sum | Avg, Value::Int(int)) if !self.mixed => self.ints += i128::from(*int),
            (Sum | Avg, Value::Int(int)) => self.reals().push_int(*int),
            (Sum | Avg, Value::Real(real)) => self.reals().push_real(*real),
            (Min | Max, Value::Int(_) | Value::Real(_)) => self.extreme(value),
            (Sum | Avg | Min | Max, _) => self.refuse(value),
            _ => {
                if let Some(rest) = &mut self.rest
                    && let Err(message) = rest.push_front(value)
                {
                    self.poison(&message.into());
                }
            }
        }
        self.count += 1;
    }

    /// The accumulator of what is not kept here.
    pub(crate) fn rest(&mut self) -> Option<&mut Accumulator> {
        self.rest.as_deref_mut()
    }

    /// The accumulator of a sum that has reals. Called before the values that it is for are counted.
    pub(crate) fn reals(&mut self) -> &mut Accumulator {
        let limits = self.limits;
        let sum = self.rest.get_or_insert_with(|| Box::new(Accumulator::new(Sum, limits)));
        if !self.mixed {
            self.mixed = true;
            if self.count > 0 {
                push_wide(sum, std::mem::take(&mut self.ints));
            }
        }
        if let Some((sum_of_most, rest)) = self.double.take() {
            sum.push_reals(&[sum_of_most, rest]);
        }
        sum
    }

    /// The value is of a kind that the aggregate has no use for.
    fn refuse(&mut self, value: &Value) {
        // The accumulator words it.
        let found = Accumulator::new(self.aggregate, self.limits).push(value);
        let message =
            found.err().unwrap_or_else(|| format!("the aggregate needs numbers, found {}", value.kind()));
        self.poison(&message.into());
    }

    /// Takes a number in as a least or greatest one.
    pub(crate) fn extreme(&mut self, value: &Value) {
        if self.kept.is_null() || better(self.aggregate, value, &self.kept) {
            self.kept = value.clone();
        }
    }

    /// Collects what `later` has, after all others.
    pub(crate) fn append(&mut self, later: Fold) {
        self.bound = wider(self.bound, later.bound);
        if let Some(message) = &later.poison {
            self.poison(message);
        }
        if later.count == 0 {
            return;
        }
        let empty = self.count == 0;
        match self.aggregate {
            Count => {}
            First if !empty => {}
            First | Last => self.kept = later.kept,
            Min | Max => self.extreme(&later.kept),
            Sum | Avg => match (later.double, later.rest) {
                (Some((sum, rest)), _) => self.reals().push_reals(&[sum, rest]),
                (None, Some(more)) if later.mixed => self.reals().append(&more),
                _ if self.mixed => push_wide(self.reals(), later.ints),
                _ => self.ints += later.ints,
            },
            _ if empty => self.rest = later.rest,
            _ => {
                if let (Some(rest), Some(more)) = (&mut self.rest, &later.rest) {
                    rest.append(more);
                }
            }
        }
        self.count += later.count;
    }

    /// The statistic.
    pub(crate) fn result(&self) -> Cell {
        if let Some(message) = &self.poison {
            return Cell::Error(message.clone());
        }
        if self.count == 0 {
            return Cell::None;
        }
        match (self.aggregate, self.double) {
            (Sum, Some((sum, _))) => return Cell::Value(Value::Real(sum)),
            (Avg, Some((sum, _))) => return Cell::Value(Value::Real(sum / self.count as f64)),
            _ => {}
        }
        let rest = if is_simple(self.aggregate) && !self.mixed { &None } else { &self.rest };
        match (self.aggregate, rest) {
            (Count, _) => Cell::Value(Value::Int(self.count as i64)),
            (Min | Max | First | Last, _) => Cell::Value(self.kept.clone()),
            (Sum, None) => match i64::try_from(self.ints) {
                Ok(sum) => Cell::Value(Value::Int(sum)),
                Err(_) => Cell::Error(too_large(self.ints)),
            },
            (Avg, None) => Cell::Value(Value::Real(self.ints as f64 / self.count as f64)),
            (Avg, Some(sum)) => match sum.result() {
                Ok(Value::Real(sum)) => Cell::Value(Value::Real(sum / self.count as f64)),
                other => other.into(),
            },
            (_, Some(rest)) => rest.result().into(),
            (_, None) => Cell::None,
        }
    }

    /// How far approximate results may be off.
    pub(crate) fn bound(&self) -> Option<Bound> {
        wider(self.bound, self.rest.as_ref().and_then(|rest| rest.bound()))
    }
}

/// The bound that is further off.
pub(crate) fn wider(a: Option<Bound>, b: Option<Bound>) -> Option<Bound> {
    match (a, b) {
        (Some(a), Some(b)) => Some(if b.error > a.error { b } else { a }),
        (a, b) => a.or(b),
    }
}

pub(crate) fn too_large(sum: i128) -> Message {
    format!("the sum {sum} overflows a 64-bit integer").into()
}

/// Whether `a` comes before `b` as the least or greatest: of equal ones whole numbers before reals, and of zeros the
/// negative one for the least.
pub(crate) fn better(aggregate: Aggregate, a: &Value, b: &Value) -> bool {
    let found = order(a, b).map(|found| if aggregate == Min { found } else { found.reverse() });
    match (found, a, b) {
        (Some(std::cmp::Ordering::Equal), Value::Real(a), Value::Real(b)) => {
            let (least, greatest) = (a.total_cmp(b).is_lt(), a.total_cmp(b).is_gt());
            if aggregate == Min { least } else { greatest }
        }
        (Some(std::cmp::Ordering::Equal), Value::Int(_), Value::Real(_)) => true,
        (found, ..) => found == Some(std::cmp::Ordering::Less),
    }
}

/// Adds a whole number of any size to a sum, exactly.
fn push_wide(sum: &mut Accumulator, mut number: i128) {
    if let Ok(number) = i64::try_from(number) {
        return sum.push_int(number);
    }
    // A power of two times a whole number of at most 62 bits: both as whole numbers and, scaled, as reals exact.
    let low = number & ((1 << 50) - 1);
    sum.push_int(low as i64);
    number >>= 50;
    let mut scale = 2f64.powi(50);
    while number != 0 && number != -1 {
        sum.push_real((number & ((1 << 50) - 1)) as f64 * scale);
        number >>= 50;
        scale *= 2f64.powi(50);
    }
    if number == -1 {
        sum.push_real(-scale);
    }
}

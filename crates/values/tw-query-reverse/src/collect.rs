//! What a loop carries that collects values: the state of its statistic.

use crate::cell::{Cell, Maybe};
use std::cmp::Ordering;
use std::rc::Rc;
use tw_ir::Aggregate;
use tw_monitor::Term;
use tw_statistics::{Accumulator, Bound, Limits};

/// The values collected from the positions behind, or why there is no statistic of them.
#[derive(Debug)]
pub(crate) struct Collector {
    state: State,
    fault: Option<Rc<str>>,
    /// The result since the last value; the walk asks for it position by position.
    known: Option<Maybe>,
    /// How far off the results were at worst.
    pub bound: Option<Bound>,
}

#[derive(Debug)]
enum State {
    Count(u64),
    /// The least, or the greatest if so said.
    Extreme(Option<Cell>, bool),
    /// The first in the trace is the last that a walk backwards meets.
    First(Option<Cell>),
    Last(Option<Cell>),
    Other(Box<Accumulator>),
}

impl Collector {
    pub(crate) fn new(aggregate: Aggregate, limits: Limits) -> Self {
        let state = match aggregate {
            Aggregate::Count => State::Count(0),
            Aggregate::Min => State::Extreme(None, false),
            Aggregate::Max => State::Extreme(None, true),
            Aggregate::First => State::First(None),
            Aggregate::Last => State::Last(None),
            other => State::Other(Box::new(Accumulator::new(other, limits))),
        };
        Self { state, fault: None, known: None, bound: None }
    }

    /// Forgets what was collected.
    pub(crate) fn clear(&mut self) {
        (self.fault, self.known) = (None, None);
        match &mut self.state {
            State::Count(count) => *count = 0,
            State::Extreme(cell, _) | State::First(cell) | State::Last(cell) => *cell = None,
            State::Other(accumulator) => {
                if !accumulator.is_empty() {
                    accumulator.clear();
                }
            }
        }
    }

    /// From here on nothing can be said.
    pub(crate) fn fail(&mut self, message: Rc<str>) {
        self.fault = Some(message);
    }

    /// Why nothing can be said, if so.
    pub(crate) fn fault(&self) -> Option<&Rc<str>> {
        self.fault.as_ref()
    }

    /// Collects `true` that many times at once, if that is as good as one by one.
    pub(crate) fn count(&mut self, times: u32) -> bool {
        match &mut self.state {
            State::Count(count) => {
                *count += u64::from(times);
                self.known = None;
                true
            }
            _ => false,
        }
    }

    /// Collects a value that stands before all others.
    #[inline]
    pub(crate) fn push(&mut self, cell: &Cell, terms: &[Term]) {
        match &mut self.state {
            State::Count(count) => *count += 1,
            State::Extreme(best, greatest) => {
                if !matches!(cell, Cell::Int(_) | Cell::Real(_)) {
                    let name = if *greatest { "max" } else { "min" };
                    let message = format!("`{name}` needs numbers, found {}", cell.value(terms).kind());
                    return self.fail(message.into());
                }
                if best.as_ref().is_some_and(|best| !precedes(cell, best, *greatest)) {
                    return;
                }
                *best = Some(cell.clone());
            }
            State::First(first) => *first = Some(cell.clone()),
            State::Last(Some(_)) => return,
            State::Last(last) => *last = Some(cell.clone()),
            State::Other(accumulator) => {
                let pushed = match cell {
                    Cell::Other(value) => accumulator.push_front(value),
                    cell => accumulator.push_front(&cell.value(terms)),
                };
                if let Err(message) = pushed {
                    return self.fail(message.into());
                }
            }
        }
        self.known = None;
    }

    /// The statistic of what was collected.
    #[inline]
    pub(crate) fn result(&mut self) -> Maybe {
        if let Some(fault) = &self.fault {
            return Maybe::Error(fault.clone());
        }
        match &self.state {
            State::Count(0) => Maybe::None,
            State::Count(count) => Maybe::Some(Cell::Int(*count as i64)),
            State::Extreme(cell, _) | State::First(cell) | State::Last(cell) => {
                cell.clone().map_or(Maybe::None, Maybe::Some)
            }
            State::Other(accumulator) => {
                let Some(known) = &self.known else {
                    let bound = accumulator.bound();
                    if let Some(bound) =
                        bound.filter(|new| self.bound.is_none_or(|old| new.error > old.error))
                    {
                        self.bound = Some(bound);
                    }
                    let result = Maybe::from(accumulator.result());
                    self.known = Some(result.clone());
                    return result;
                };
                known.clone()
            }
        }
    }
}

/// Whether a number is to be preferred to another as the least or the greatest. Of equal numbers a whole one is, then
/// the zero that is further out.
#[inline]
fn precedes(a: &Cell, b: &Cell, greatest: bool) -> bool {
    if let (Cell::Int(a), Cell::Int(b)) = (a, b) {
        return if greatest { a > b } else { a < b };
    }
    let order = tw_monitor::order(&a.value(&[]), &b.value(&[])).unwrap_or(Ordering::Equal);
    match if greatest { order.reverse() } else { order } {
        Ordering::Less => true,
        Ordering::Greater => false,
        Ordering::Equal => match (a, b) {
            (Cell::Int(_), Cell::Real(_)) => true,
            (Cell::Real(a), Cell::Real(b)) => {
                a.is_sign_negative() != b.is_sign_negative() && a.is_sign_negative() != greatest
            }
            _ => false,
        },
    }
}

/// Whether the result of a statistic may be an error although each value was taken.
pub(crate) fn may_overflow(aggregate: Aggregate) -> bool {
    aggregate == Aggregate::Sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use tw_core::Value;

    /// The states kept here give what accumulators give.
    #[test]
    fn as_accumulators() {
        let values = [
            Value::Int(3),
            Value::Real(3.0),
            Value::Real(-0.0),
            Value::Real(0.0),
            Value::Int(0),
            Value::Int(i64::MAX),
            Value::Real(9.3e18),
            Value::Bool(true),
            Value::text("x"),
        ];
        let mut rng = tw_testkit::Rng::new(1);
        let mut random = move |below: usize| rng.below(below);
        use Aggregate::*;
        for round in 0..20_000 {
            let aggregate = [Count, Min, Max, First, Last, Sum, Mode][round % 7];
            let numbers = if random(4) == 0 { values.len() } else { 7 };
            let mut collector = Collector::new(aggregate, Limits::default());
            let mut accumulator = Accumulator::new(aggregate, Limits::default());
            let mut refused = false;
            for _ in 0..random(6) {
                let value = &values[random(numbers)];
                collector.push(&Cell::new(value.clone()).unwrap(), &[]);
                refused |= accumulator.push_front(value).is_err();
            }
            let found = match collector.result() {
                Maybe::None => Ok(Value::Null),
                Maybe::Some(cell) => Ok(cell.value(&[])),
                Maybe::Error(message) => Err(message.to_string()),
            };
            match refused {
                true => assert!(found.is_err(), "{aggregate:?}"),
                false => {
                    let expected = accumulator.result();
                    assert_eq!(format!("{found:?}"), format!("{expected:?}"), "{aggregate:?}");
                }
            }
        }
    }
}

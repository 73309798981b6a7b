//! `agg[ψ while φ]` at every position: the values of a stretch are known when it ends, and are then computed from its
//! end back, each from the one after it.

use crate::stream::{Cell, Data, Stream, mask, spans};
use std::sync::Arc;
use tw_core::Value;
use tw_ir::Aggregate;
use tw_statistics::{Accumulator, Bound, Limits};

/// Emits the stretches that have ended. `cursor` is how far φ was looked at; the stretch begins where `out` ends.
pub(crate) fn during(
    statistic: Statistic<'_>,
    cursor: &mut usize,
    a: &Stream,
    guard: &Stream,
    out: &mut Stream,
    ended: Option<usize>,
) {
    let to = a.end.min(guard.end);
    for (word, lo, hi) in spans(*cursor, to) {
        let (goes_on, errors) = guard.masks(word);
        let mut bit = lo;
        while bit < hi {
            let run = ((!goes_on >> bit).trailing_zeros() as usize).min(hi - bit);
            bit += run;
            if bit == hi {
                break;
            }
            let at = word * 64 + bit;
            if errors >> bit & 1 == 1 {
                out.push_run(&guard.cell(at), at + 1 - out.end);
                bit += 1;
            } else {
                statistic.suffixes(a, at, out);
                let inside = (goes_on | errors) & mask(0, hi);
                let next = ((inside >> bit).trailing_zeros() as usize).min(hi - bit);
                out.push_run(&Ok(Value::Null), next);
                bit += next;
            }
        }
        *cursor = word * 64 + hi;
    }
    if ended == Some(to) && *cursor == to {
        statistic.suffixes(a, to, out);
    }
}

/// A statistic over stretches.
pub(crate) struct Statistic<'a> {
    pub(crate) aggregate: Aggregate,
    pub(crate) limits: Limits,
    /// How far the least exact result was off.
    pub(crate) bound: &'a std::cell::Cell<Option<Bound>>,
}

impl Statistic<'_> {
    /// Emits the statistic of `a` from each position of the stretch, which begins where `out` ends, to its end.
    fn suffixes(&self, a: &Stream, end: usize, out: &mut Stream) {
        let start = out.end;
        if start == end {
            return;
        }
        let numbers = matches!(a.data, Data::Int { .. })
            && matches!(self.aggregate, Aggregate::Sum | Aggregate::Min | Aggregate::Max);
        let counts = !matches!(a.data, Data::Any(_)) && self.aggregate == Aggregate::Count;
        if !(numbers || counts) || !whole(self.aggregate, a, start, end, out) {
            let mut cells = suffix_cells(self, a, start, end);
            while let Some(cell) = cells.pop() {
                out.push(cell);
            }
        }
    }
}

/// Statistics that are whole numbers and need no accumulator; false if they are not.
fn whole(aggregate: Aggregate, a: &Stream, start: usize, end: usize, out: &mut Stream) -> bool {
    let empty = &Vec::new();
    let ints = if let Data::Int { values, .. } = &a.data { values } else { empty };
    let set = |at: usize| a.word(at / 64) >> (at % 64) & 1 == 1;
    if aggregate == Aggregate::Sum {
        let fits = |total: Option<i64>, at: usize| {
            if set(at) { total.and_then(|total| total.checked_add(ints[at - a.base])) } else { total }
        };
        if (start..end).rev().fold(Some(0i64), fits).is_none() {
            return false;
        }
    }
    let known = (start..end).rev().find(|at| set(*at)).map_or(0, |last| last + 1 - start);
    let Some(results) = out.push_known(end - start, known) else { return false };
    let mut total: Option<i64> = None;
    for index in (0..known).rev() {
        if set(start + index) {
            let value = if aggregate == Aggregate::Count { 1 } else { ints[start + index - a.base] };
            total = Some(match (total, aggregate) {
                (None, _) => value,
                (Some(total), Aggregate::Min) => total.min(value),
                (Some(total), Aggregate::Max) => total.max(value),
                // Looked at above: it fits.
                (Some(total), _) => total + value,
            });
        }
        results[index] = total.unwrap_or_default();
    }
    true
}

/// The statistic from each position to the end, last position first.
pub(crate) fn suffix_cells(statistic: &Statistic<'_>, a: &Stream, start: usize, end: usize) -> Vec<Cell> {
    let mut accumulator = Accumulator::new(statistic.aggregate, statistic.limits);
    let mut cells = Vec::with_capacity(end - start);
    let mut error: Option<Arc<str>> = None;
    let mut result: Cell = Ok(Value::Null);
    for at in (start..end).rev() {
        match a.cell(at) {
            Ok(Value::Null) => {}
            Ok(value) if error.is_none() => match accumulator.push_front(&value) {
                Ok(()) => result = accumulator.result().map_err(Into::into),
                Err(message) => error = Some(message.into()),
            },
            Ok(_) => {}
            Err(message) => error = Some(message),
        }
        cells.push(error.clone().map_or_else(|| result.clone(), Err));
    }
    if let Some(bound) = accumulator.bound() {
        statistic.bound.set(Some(bound));
    }
    cells
}

/// Adds the values of `a` at the positions `from..to` to a running statistic.
pub(crate) fn collect(
    accumulator: &mut Accumulator,
    aggregate: Aggregate,
    a: &Stream,
    from: usize,
    to: usize,
) -> Result<(), Arc<str>> {
    let counted =
        || spans(from, to).map(|(word, lo, hi)| (a.word(word) & mask(lo, hi)).count_ones() as u64).sum();
    match (&a.data, aggregate) {
        (Data::Truth(_) | Data::Int { .. } | Data::Real { .. }, Aggregate::Count)
        | (Data::Truth(_), Aggregate::First | Aggregate::Last | Aggregate::Mode | Aggregate::Distinct) => {
            accumulator.push_true(counted());
        }
        (Data::Int { values, .. }, aggregate) if aggregate != Aggregate::Corr => {
            dense(a, values, from, to, |values| accumulator.push_ints(values));
        }
        (Data::Real { values, .. }, aggregate) if aggregate != Aggregate::Corr => {
            dense(a, values, from, to, |values| accumulator.push_reals(values));
        }
        _ => {
            for at in from..to {
                let value = a.cell(at)?;
                if !value.is_null() {
                    accumulator.push(&value)?;
                }
            }
        }
    }
    Ok(())
}

/// The numbers that are there, in slices as long as possible.
fn dense<T: Copy + Default>(a: &Stream, values: &[T], from: usize, to: usize, mut push: impl FnMut(&[T])) {
    let mut start = from;
    for (word, lo, hi) in spans(from, to) {
        let (valid, all) = (a.word(word) & mask(lo, hi), mask(lo, hi));
        if valid == all {
            continue;
        }
        let first = word * 64 + lo;
        if start < first {
            push(&values[start - a.base..first - a.base]);
        }
        let (mut few, mut count, mut rest) = ([T::default(); 64], 0, valid);
        let block = &values[word * 64 - a.base..];
        while rest != 0 {
            few[count] = block[rest.trailing_zeros() as usize];
            count += 1;
            rest &= rest - 1;
        }
        push(&few[..count]);
        start = word * 64 + hi;
    }
    if start < to {
        push(&values[start - a.base..to - a.base]);
    }
}

//! `outer[inner[ψ while φ]]` at the first position, in constant memory.
//!
//! Every position of a stretch has a value, that of ψ from there to the stretch's end, and all of them wait for that
//! end. Some pairs of statistics need not know them one by one. With i a position of the stretch that has a value v,
//! and s the first of the stretch:
//!
//! - `count` inside `max`, `min`, `sum`, `avg`, `count`: the largest is the number of values, the least is 1, their
//!   sum is Σ (i − s + 1), and positions after the last value have none.
//! - `sum` of whole numbers inside the same: the largest is `v + max(largest before, 0)`, the least likewise, the sum
//!   is Σ v·(i − s + 1). It overflows where the largest or the least does.
//! - `max` inside `max` and `min` inside `min`: all values count alike. `max` inside `min` and `min` inside `max`: the
//!   last value. Both inside `count`: the number of positions up to the last value.
//!
//! Reals do not add up like that (each sum is rounded by itself), and with whole numbers and reals mixed the last value
//! may have an equal of the other kind. So up to [`HOLD`] positions of a stretch are kept, and if such a value turns up
//! among them the stretch is kept to its end and computed value by value. If it turns up later, it is refused.

use crate::plan::Plan;
use crate::stream::{Cell, Data, Kind, Stream, mask, spans};
use crate::stretch::{Statistic, collect, suffix_cells};
use std::sync::Arc;
use tw_core::Value;
use tw_ir::{Aggregate, NodeId};
use tw_monitor::Unsupported;
use tw_statistics::Accumulator;

/// Positions of a stretch that are kept in case that it must be computed value by value.
pub(crate) const HOLD: usize = 1 << 16;

/// As many of them as a small part of the budget holds.
fn hold(plan: &Plan) -> usize {
    HOLD.min(plan.budget / 64)
}

/// Whether `outer[inner[… while …]]` is computed without keeping stretches.
pub(crate) fn fuses(outer: Aggregate, inner: Aggregate) -> bool {
    use Aggregate::*;
    match inner {
        Count | Sum => matches!(outer, Count | Sum | Avg | Min | Max),
        Min | Max => matches!(outer, Count | Min | Max),
        _ => false,
    }
}

/// The state of such a pair.
#[derive(Clone, Debug)]
pub(crate) struct Nested {
    pub(crate) id: NodeId,
    pub(crate) outer: Aggregate,
    pub(crate) inner: Aggregate,
    pub(crate) inputs: [usize; 2],
    /// How far was read.
    pub(crate) cursor: usize,
    pub(crate) stretch: Option<Stretch>,
    /// Number and sum of the values of ended stretches, as far as they are whole numbers.
    pub(crate) count: u64,
    pub(crate) total: i128,
    /// The largest or least of them, or the sum of those that are reals.
    pub(crate) accumulator: Accumulator,
    pub(crate) reals: bool,
    pub(crate) error: Option<Arc<str>>,
}

/// A stretch that has not ended.
#[derive(Clone, Debug)]
pub(crate) struct Stretch {
    pub(crate) start: usize,
    /// One past the last position with a value.
    pub(crate) known: usize,
    /// Largest, least and sum of what its positions are worth.
    pub(crate) high: i128,
    pub(crate) low: i128,
    pub(crate) sum: i128,
    pub(crate) last: Value,
    /// Its positions are kept.
    pub(crate) held: bool,
    /// It is to be computed value by value.
    pub(crate) mixed: bool,
}

impl Nested {
    pub(crate) fn new(
        plan: &Plan,
        id: NodeId,
        outer: Aggregate,
        inner: Aggregate,
        inputs: [usize; 2],
    ) -> Self {
        let accumulator = Accumulator::new(Self::kept(outer), plan.limits);
        Nested {
            id,
            outer,
            inner,
            inputs,
            cursor: 0,
            stretch: None,
            count: 0,
            total: 0,
            accumulator,
            reals: false,
            error: None,
        }
    }

    /// The statistic that the accumulator keeps.
    pub(crate) fn kept(outer: Aggregate) -> Aggregate {
        match outer {
            Aggregate::Min | Aggregate::Max => outer,
            _ => Aggregate::Sum,
        }
    }

    /// Whether a stretch may have to be computed value by value.
    fn may_mix(&self) -> bool {
        use Aggregate::*;
        self.inner == Sum || matches!((self.inner, self.outer), (Max, Min) | (Min, Max))
    }

    /// The first position that is still needed of each input.
    pub(crate) fn cursors(&self) -> [usize; 2] {
        match &self.stretch {
            Some(stretch) if stretch.held => [stretch.start, self.cursor],
            _ => [self.cursor; 2],
        }
    }

    /// Takes what its inputs have.
    pub(crate) fn step(
        &mut self,
        plan: &Plan,
        a: &Stream,
        guard: &Stream,
        ended: Option<usize>,
    ) -> Result<(), Unsupported> {
        let to = a.end.min(guard.end);
        if self.inner == Aggregate::Count && a.kind() != Kind::Any && guard.kind() != Kind::Any {
            match self.outer {
                Aggregate::Max | Aggregate::Min => self.counts::<false>(a, guard, to),
                _ => self.counts::<true>(a, guard, to),
            }
        }
        for (word, lo, hi) in spans(self.cursor, to) {
            let (goes_on, errors) = guard.masks(word);
            let mut bit = lo;
            while bit < hi && self.error.is_none() {
                if goes_on >> bit & 1 == 1 {
                    let run = ((!goes_on >> bit).trailing_zeros() as usize).min(hi - bit);
                    self.run(plan, a, word, bit, bit + run)?;
                    bit += run;
                    continue;
                }
                if errors >> bit & 1 == 1 {
                    self.error = guard.cell(word * 64 + bit).err();
                    break;
                }
                self.end(plan, a, word * 64 + bit);
                let next = (goes_on | errors) & mask(bit, hi);
                bit = (next.trailing_zeros() as usize).min(hi);
            }
            self.cursor = word * 64 + hi;
        }
        if let Some(stretch) = &mut self.stretch
            && stretch.held
            && !stretch.mixed
            && self.cursor - stretch.start > hold(plan)
        {
            stretch.held = false;
        }
        if ended == Some(to) && self.error.is_none() {
            self.end(plan, a, to);
        }
        Ok(())
    }

    /// As [`Nested::step`] for numbers of values where neither input has errors: a few instructions per stretch. With
    /// `PLACES` it keeps where values are, which the largest and the least number do not need.
    fn counts<const PLACES: bool>(&mut self, a: &Stream, guard: &Stream, to: usize) {
        let mut open = self.stretch.is_some();
        let mut stretch = self.stretch.take().unwrap_or_else(|| Stretch::new(self.cursor, false));
        let (mut start, mut known, mut number) = (stretch.start, stretch.known, stretch.high as u64);
        let (mut largest, mut sum) = (0u64, stretch.sum);
        for (word, lo, hi) in spans(self.cursor, to) {
            let goes_on = guard.word(word) & mask(lo, hi);
            let values = a.word(word) & goes_on;
            let mut bit = lo;
            loop {
                let run = (!(goes_on >> bit)).trailing_zeros() as usize;
                if run > 0 {
                    if !open {
                        (open, start, known) = (true, word * 64 + bit, word * 64 + bit);
                    }
                    let values = values & mask(bit, bit + run);
                    let count = u64::from(values.count_ones());
                    number += count;
                    if PLACES && values != 0 {
                        known = word * 64 + 64 - values.leading_zeros() as usize;
                        // Each counts for the positions from the start of the stretch to it.
                        let before = (word * 64) as i128 + 1 - start as i128;
                        sum += i128::from(count) * before + i128::from(places(values));
                    }
                    bit += run;
                    if bit == hi {
                        break;
                    }
                }
                // The stretch, if there is one, ends.
                largest = largest.max(number);
                if PLACES {
                    self.count += (known - start) as u64;
                    self.total += sum;
                    (start, sum) = (known, 0);
                }
                (open, number) = (false, 0);
                let rest = goes_on >> bit;
                if rest == 0 {
                    break;
                }
                bit += rest.trailing_zeros() as usize;
            }
        }
        self.cursor = to;
        if open {
            (stretch.start, stretch.known, stretch.sum) = (start, known, sum);
            (stretch.high, stretch.low) = (i128::from(number), i128::from(number > 0));
            if !PLACES && number > 0 {
                stretch.known = to;
            }
            self.stretch = Some(stretch);
        }
        if !PLACES && largest > 0 {
            self.count += 1;
            self.accumulator.push_int(if self.outer == Aggregate::Max { largest as i64 } else { 1 });
        }
    }

    /// The stretch goes on over the bits `lo..hi` of a word.
    fn run(&mut self, plan: &Plan, a: &Stream, word: usize, lo: usize, hi: usize) -> Result<(), Unsupported> {
        let held = self.may_mix();
        let (from, to) = (word * 64 + lo, word * 64 + hi);
        let stretch = self.stretch.get_or_insert_with(|| Stretch::new(from, held));
        if stretch.mixed {
            return Ok(());
        }
        let (valid, errors) = a.masks(word);
        let (mut values, errors) = (valid & mask(lo, hi), errors & mask(lo, hi));
        if errors != 0 {
            self.error = a.cell(word * 64 + errors.trailing_zeros() as usize).err();
            return Ok(());
        }
        if values == 0 {
            return Ok(());
        }
        stretch.known = word * 64 + 64 - values.leading_zeros() as usize;
        use Aggregate::*;
        let adds = matches!(self.outer, Sum | Avg);
        match (self.inner, &a.data) {
            (Count, _) => {
                stretch.high += i128::from(values.count_ones());
                stretch.low = 1;
                while adds && values != 0 {
                    let at = word * 64 + values.trailing_zeros() as usize;
                    stretch.sum += (at - stretch.start + 1) as i128;
                    values &= values - 1;
                }
            }
            (Sum, Data::Int { values: ints, .. }) => {
                while values != 0 {
                    let at = word * 64 + values.trailing_zeros() as usize;
                    stretch.add(at, ints[at - a.base], adds);
                    values &= values - 1;
                }
            }
            (Max | Min, Data::Int { .. } | Data::Real { .. }) if self.outer == self.inner => {
                if let Err(error) = collect(&mut self.accumulator, self.outer, a, from, to) {
                    self.error = Some(error);
                }
                self.count += u64::from(values.count_ones());
            }
            (Max | Min, Data::Int { .. } | Data::Real { .. }) => {
                let last = a.cell(stretch.known - 1).unwrap_or(Value::Null);
                return self.last(plan, last, from);
            }
            _ => {
                while values != 0 && self.error.is_none() {
                    let at = word * 64 + values.trailing_zeros() as usize;
                    self.value(plan, a, at, adds)?;
                    values &= values - 1;
                }
            }
        }
        Ok(())
    }

    /// One value of any kind at a position of the stretch.
    fn value(&mut self, plan: &Plan, a: &Stream, at: usize, adds: bool) -> Result<(), Unsupported> {
        let Ok(value) = a.cell(at) else { return Ok(()) };
        if !matches!(value, Value::Int(_) | Value::Real(_)) {
            let refused = Accumulator::new(self.inner, plan.limits).push(&value);
            self.error = refused.err().map(Into::into);
            return Ok(());
        }
        match (self.inner, &value) {
            (Aggregate::Sum, Value::Int(number)) => {
                if let Some(stretch) = &mut self.stretch
                    && !stretch.mixed
                {
                    stretch.add(at, *number, adds);
                }
                Ok(())
            }
            (Aggregate::Sum, _) => self.mix(plan, at),
            _ if self.outer == self.inner => {
                self.count += 1;
                if let Err(message) = self.accumulator.push(&value) {
                    self.error = Some(message.into());
                }
                Ok(())
            }
            _ => self.last(plan, value, at),
        }
    }

    /// The last value so far of a stretch whose least maximum or largest minimum is asked for.
    fn last(&mut self, plan: &Plan, value: Value, at: usize) -> Result<(), Unsupported> {
        let may_mix = self.may_mix();
        let Some(stretch) = &mut self.stretch else { return Ok(()) };
        let other_kind = matches!(
            (&stretch.last, &value),
            (Value::Int(_), Value::Real(_)) | (Value::Real(_), Value::Int(_))
        );
        stretch.last = value;
        if other_kind && may_mix && !stretch.mixed { self.mix(plan, at) } else { Ok(()) }
    }

    /// The stretch cannot be computed without its values.
    fn mix(&mut self, plan: &Plan, at: usize) -> Result<(), Unsupported> {
        let Some(stretch) = &mut self.stretch else { return Ok(()) };
        if stretch.held {
            stretch.mixed = true;
            return Ok(());
        }
        let text = tw_ir::display(&plan.program, self.id);
        let what = format!(
            "whole numbers and reals in one stretch of more than {} positions, in `{text}` at position {at}",
            hold(plan)
        );
        let mut refusal = Unsupported::budget(what)
            .help("make all of them reals (`x * 1.0`), or use another engine on a stored trace");
        refusal.node = Some(self.id);
        Err(refusal)
    }

    /// The stretch, if there is one, ends before `end`.
    fn end(&mut self, plan: &Plan, a: &Stream, end: usize) {
        use Aggregate::*;
        let Some(stretch) = self.stretch.take() else { return };
        if stretch.mixed {
            let bound = std::cell::Cell::new(None);
            let statistic = Statistic { aggregate: self.inner, limits: plan.limits, bound: &bound };
            for cell in suffix_cells(&statistic, a, stretch.start, end) {
                self.feed(cell);
            }
            return;
        }
        let known = (stretch.known - stretch.start) as u64;
        if known == 0 || (self.outer == self.inner && matches!(self.inner, Max | Min)) {
            return;
        }
        if matches!(self.inner, Max | Min) {
            return match self.outer {
                Count => self.count += known,
                _ => self.feed(Ok(stretch.last)),
            };
        }
        let (Ok(high), Ok(low)) = (i64::try_from(stretch.high), i64::try_from(stretch.low)) else {
            let sum = if stretch.high > i128::from(i64::MAX) { stretch.high } else { stretch.low };
            self.error = Some(format!("the sum {sum} overflows a 64-bit integer").into());
            return;
        };
        match self.outer {
            Max | Min => {
                self.count += 1;
                self.accumulator.push_int(if self.outer == Max { high } else { low });
            }
            _ => {
                self.count += known;
                self.total += stretch.sum;
            }
        }
    }

    /// One value of the outer statistic.
    fn feed(&mut self, cell: Cell) {
        match (cell, self.outer) {
            (Err(error), _) => self.error = self.error.take().or(Some(error)),
            (Ok(Value::Null), _) => {}
            (Ok(_), Aggregate::Count) => self.count += 1,
            (Ok(Value::Int(value)), Aggregate::Sum | Aggregate::Avg) => {
                self.count += 1;
                self.total += i128::from(value);
            }
            (Ok(value), _) => {
                self.count += 1;
                self.reals |= matches!(value, Value::Real(_));
                if let Err(message) = self.accumulator.push(&value) {
                    self.error = Some(message.into());
                }
            }
        }
    }

    /// The outer statistic.
    pub(crate) fn result(&self) -> Cell {
        if let Some(error) = &self.error {
            return Err(error.clone());
        }
        if self.count == 0 {
            return Ok(Value::Null);
        }
        match self.outer {
            Aggregate::Count => Ok(Value::Int(self.count as i64)),
            Aggregate::Sum if !self.reals => match i64::try_from(self.total) {
                Ok(total) => Ok(Value::Int(total)),
                Err(_) => Err(format!("the sum {} overflows a 64-bit integer", self.total).into()),
            },
            Aggregate::Sum => self.sum(),
            Aggregate::Avg => {
                let sum = if self.reals { self.sum()? } else { Value::Real(self.total as f64) };
                Ok(match sum {
                    Value::Real(sum) => Value::Real(sum / self.count as f64),
                    _ => Value::Null,
                })
            }
            _ => self.accumulator.result().map_err(Into::into),
        }
    }

    /// The sum of all values when some are reals: rounded once, so the whole part goes in without rounding, in reals of
    /// 53 bits.
    fn sum(&self) -> Cell {
        let (mut accumulator, mut rest) = (self.accumulator.clone(), self.total);
        while rest != 0 {
            let drop = (128 - rest.unsigned_abs().leading_zeros()).saturating_sub(53);
            let part = rest >> drop << drop;
            accumulator.push_real(part as f64);
            rest -= part;
        }
        accumulator.result().map_err(Into::into)
    }
}

/// The sum of the places of the bits that are set.
fn places(word: u64) -> u64 {
    const EVERY: [u64; 6] = [
        0xaaaa_aaaa_aaaa_aaaa,
        0xcccc_cccc_cccc_cccc,
        0xf0f0_f0f0_f0f0_f0f0,
        0xff00_ff00_ff00_ff00,
        0xffff_0000_ffff_0000,
        0xffff_ffff_0000_0000,
    ];
    EVERY.iter().enumerate().map(|(power, every)| u64::from((word & every).count_ones()) << power).sum()
}

impl Stretch {
    fn new(start: usize, held: bool) -> Self {
        Stretch { start, known: start, high: 0, low: 0, sum: 0, last: Value::Null, held, mixed: false }
    }

    /// A whole number at a position. Wraps where the sum is too large, which is an error anyway unless it comes back.
    #[inline]
    fn add(&mut self, at: usize, value: i64, adds: bool) {
        let value = i128::from(value);
        self.high = value + self.high.max(0);
        self.low = value + self.low.min(0);
        if adds {
            let times = (at - self.start + 1) as i128;
            self.sum = self.sum.wrapping_add(value.wrapping_mul(times));
        }
    }
}

//! Aggregates at every position of a block: `agg[ψ]` and `agg[ψ while φ]`. What crosses a block's border is what has
//! been collected from there on.

use crate::fold::Fold;
use crate::kernels::{from_key, key};
use crate::lane::{Cell, Data, Lane};
use crate::pool::Buffer;
use crate::words;
use std::hint::select_unpredictable;
use tw_core::Value;
use tw_ir::Aggregate;

/// The aggregate of `a`, as long as `phi` has a value if there is one.
pub(crate) fn running<'t>(fold: &mut Fold, a: &Lane<'t>, phi: Option<&Lane<'t>>, last: &[u64]) -> Lane<'t> {
    let sound = a.errors.is_empty() && fold.poison.is_none() && phi.is_none_or(|phi| phi.errors.is_empty());
    if sound && let Some(lane) = typed(fold, a, phi, last) {
        return lane;
    }
    one_by_one(fold, a, phi, last)
}

/// By the definition, with whatever values there are.
pub(crate) fn one_by_one<'t>(
    fold: &mut Fold,
    a: &Lane<'t>,
    phi: Option<&Lane<'t>>,
    last: &[u64],
) -> Lane<'t> {
    let mut cells = vec![Cell::None; a.len];
    for at in (0..a.len).rev() {
        if words::get(last, at) {
            fold.clear();
        }
        match phi.map_or(Cell::Value(Value::Null), |phi| phi.cell(at)) {
            Cell::None => {
                fold.clear();
                continue;
            }
            Cell::Error(message) => {
                fold.clear();
                fold.poison(&message);
            }
            Cell::Value(_) => match a.cell(at) {
                Cell::None => {}
                Cell::Value(value) => fold.push_front(&value),
                Cell::Error(message) => fold.poison(&message),
            },
        }
        cells[at] = fold.result();
    }
    Lane::of_cells(cells)
}

/// The words of a block in which something is collected.
struct Stretch<'a> {
    a: &'a [u64],
    phi: Option<&'a [u64]>,
    last: &'a [u64],
}

impl Stretch<'_> {
    /// Where what was collected from the next position on is kept, and where something is added to it.
    #[inline]
    fn word(&self, index: usize) -> (u64, u64) {
        let phi = self.phi.map_or(u64::MAX, |phi| phi[index]);
        (phi & !self.last[index], phi & self.a[index])
    }

    /// Where something has been collected. `carry` says whether it has after the block.
    fn valid(&self, carry: bool) -> Vec<u64> {
        let mut valid = vec![0; self.a.len()];
        let mut carry = carry;
        for index in (0..valid.len()).rev() {
            let (keep, add) = self.word(index);
            valid[index] = words::until(keep, add, carry);
            carry = valid[index] & 1 == 1;
        }
        valid
    }

    /// `step` from the last position to the first: the state from the position after, the value here, and masks (all
    /// ones or none) of whether that state is kept and this value added. Masks, since a branch would be mispredicted.
    #[inline(always)]
    fn scan(
        &self,
        values: &[i64],
        out: &mut [i64],
        mut state: i64,
        mut step: impl FnMut(i64, i64, i64, i64) -> i64,
    ) -> i64 {
        for (index, (out, values)) in out.chunks_mut(64).zip(values.chunks(64)).enumerate().rev() {
            let (keep, add) = self.word(index);
            let unused = 64 - out.len();
            let (mut keep, mut add) = ((keep << unused) as i64, (add << unused) as i64);
            for (out, value) in out.iter_mut().zip(values).rev() {
                state = step(state, *value, keep >> 63, add >> 63);
                *out = state;
                (keep, add) = (keep << 1, add << 1);
            }
        }
        state
    }

    /// Sums of reals, each rounded once; nothing if one is not the sum of two reals, or not finite.
    ///
    /// The state is the exact sum: a real that is nearest to it, and what it is short of.
    fn real_sums(&self, values: &[f64], out: &mut [f64], state: (f64, f64)) -> Option<(f64, f64)> {
        let (mut sum, mut rest) = state;
        let mut lost = false;
        let masked = |real: f64, mask: i64| f64::from_bits(real.to_bits() & mask as u64);
        for (index, (out, values)) in out.chunks_mut(64).zip(values.chunks(64)).enumerate().rev() {
            let (keep, add) = self.word(index);
            let unused = 64 - out.len();
            let (mut keep, mut add) = ((keep << unused) as i64, (add << unused) as i64);
            for (out, value) in out.iter_mut().zip(values).rev() {
                let (high, low) = two_sum(masked(sum, keep >> 63), masked(*value, add >> 63));
                let (low, gone) = two_sum(low, masked(rest, keep >> 63));
                // A sum that is no longer a number shows here too.
                lost |= gone != 0.0;
                (sum, rest) = two_sum(high, low);
                // Of zeros it is the positive one.
                *out = sum + 0.0;
                (keep, add) = (keep << 1, add << 1);
            }
        }
        (!lost).then_some((sum + 0.0, rest))
    }

    /// How many were added.
    fn counts(&self, out: &mut [i64], mut state: i64) -> i64 {
        for (index, out) in out.chunks_mut(64).enumerate().rev() {
            let (keep, add) = self.word(index);
            if keep == 0 && add == 0 {
                state = 0;
                continue;
            }
            let unused = 64 - out.len();
            let (mut keep, mut add) = ((keep << unused) as i64, add << unused);
            for out in out.iter_mut().rev() {
                state = (state & keep >> 63) + (add >> 63) as i64;
                *out = state;
                (keep, add) = (keep << 1, add << 1);
            }
        }
        state
    }
}

/// The sum of two reals as the nearest real and what that is short of, exactly.
#[inline(always)]
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let b_part = sum - a;
    (sum, (a - (sum - b_part)) + (b - b_part))
}

/// The same by kinds of values, if there is a loop for them and nothing overflows.
fn typed<'t>(fold: &mut Fold, a: &Lane<'t>, phi: Option<&Lane<'t>>, last: &[u64]) -> Option<Lane<'t>> {
    let len = a.len;
    // A block that ends within a word is followed by nothing, so that no state has to pass through the unused bits.
    debug_assert!(len.is_multiple_of(64) || fold.count == 0);
    let stretch = Stretch { a: &a.valid, phi: phi.map(|phi| &*phi.valid), last };
    let count = fold.count;
    let valid = stretch.valid(count > 0);
    let data = match fold.aggregate {
        Aggregate::Count => {
            let mut out = Buffer::zeros(len);
            fold.count = stretch.counts(&mut out, fold.count as i64) as u64;
            return Some(lane(valid, Data::Ints(out.into())));
        }
        Aggregate::Sum | Aggregate::Avg
            if matches!(a.data, Data::Reals(_)) && (fold.double.is_some() || fold.count == 0) =>
        {
            let mut out = Buffer::zeros(len);
            let state = stretch.real_sums(&a.reals()?, &mut out, fold.double.unwrap_or_default())?;
            fold.clear();
            (fold.mixed, fold.double) = (true, Some(state));
            if fold.aggregate == Aggregate::Avg {
                let mut counts = Buffer::zeros(len);
                fold.count = stretch.counts(&mut counts, count as i64) as u64;
                out.iter_mut().zip(counts.iter()).for_each(|(sum, count)| *sum /= *count as f64);
                if fold.count == 0 {
                    fold.clear();
                }
                return Some(lane(valid, Data::Reals(out.into())));
            }
            if valid[0] & 1 == 0 {
                fold.clear();
            }
            Data::Reals(out.into())
        }
        Aggregate::Sum if !fold.mixed => Data::Ints(sums(fold, &a.ints()?, &stretch)?.into()),
        Aggregate::Avg if !fold.mixed => {
            let sums = sums(fold, &a.ints()?, &stretch)?;
            let mut counts = Buffer::zeros(len);
            fold.count = stretch.counts(&mut counts, count as i64) as u64;
            let averages = sums.iter().zip(counts.iter()).map(|(sum, count)| *sum as f64 / *count as f64);
            return Some(lane(valid, Data::Reals(Buffer::collect(averages).into())));
        }
        Aggregate::Min | Aggregate::Max => {
            let data = extremes(fold, a, &stretch)?;
            if valid[0] & 1 == 0 {
                fold.kept = Value::Null;
            }
            data
        }
        _ => return None,
    };
    fold.count = valid[0] & 1;
    Some(lane(valid, data))
}

fn lane<'t>(valid: Vec<u64>, data: Data<'t>) -> Lane<'t> {
    let len = match &data {
        Data::Ints(values) => values.len(),
        Data::Reals(values) => values.len(),
        _ => 0,
    };
    Lane { len, valid: valid.into(), data, errors: Vec::new() }
}

/// Running sums; nothing (and the state untouched) if one does not fit.
fn sums(fold: &mut Fold, values: &[i64], stretch: &Stretch<'_>) -> Option<Buffer<i64>> {
    let state = i64::try_from(fold.ints).ok()?;
    let mut out = Buffer::zeros(values.len());
    let mut over = false;
    let state = stretch.scan(values, &mut out, state, |state, value, keep, add| {
        let (sum, overflow) = (state & keep).overflowing_add(value & add);
        over |= overflow;
        sum
    });
    if over {
        return None;
    }
    fold.ints = i128::from(state);
    Some(out)
}

/// Without a branch, which would be mispredicted.
#[inline(always)]
fn min(a: i64, b: i64) -> i64 {
    select_unpredictable(b < a, b, a)
}

#[inline(always)]
fn max(a: i64, b: i64) -> i64 {
    select_unpredictable(b > a, b, a)
}

/// Running least or greatest values.
fn extremes<'t>(fold: &mut Fold, a: &Lane<'_>, stretch: &Stretch<'_>) -> Option<Data<'t>> {
    let least = fold.aggregate == Aggregate::Min;
    let none = if least { i64::MAX } else { i64::MIN };
    let scan = |values: &[i64], state: i64| {
        let mut out = Buffer::zeros(values.len());
        let state = match least {
            true => stretch.scan(values, &mut out, state, |state, value, keep, add| {
                min(state & keep | none & !keep, value & add | none & !add)
            }),
            false => stretch.scan(values, &mut out, state, |state, value, keep, add| {
                max(state & keep | none & !keep, value & add | none & !add)
            }),
        };
        (out, state)
    };
    match (&fold.kept, a.ints(), a.reals()) {
        (Value::Null | Value::Int(_), Some(values), _) => {
            let state = if let Value::Int(kept) = fold.kept { kept } else { none };
            let (out, state) = scan(&values, state);
            fold.kept = Value::Int(state);
            Some(Data::Ints(out.into()))
        }
        (Value::Null | Value::Real(_), _, Some(values)) => {
            let state = if let Value::Real(kept) = fold.kept { key(kept) } else { none };
            let keys = Buffer::collect(values.iter().map(|value| key(*value)));
            let (out, state) = scan(&keys, state);
            fold.kept = Value::Real(from_key(state));
            Some(Data::Reals(Buffer::collect(out.iter().copied().map(from_key)).into()))
        }
        _ => None,
    }
}

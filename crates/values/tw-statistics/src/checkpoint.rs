//! Saving and loading of statistics: what is loaded was checked, so that nothing later can fail on it.

use crate::class::distinct::Distinct;
use crate::class::tally::Tally;
use crate::order::Numbers;
use crate::save::*;
use crate::state::State;
use crate::{Accumulator, ExactSum, Limits, Number};
use tw_core::Value;
use tw_core::codec::{Corrupt, put, take};
use tw_ir::Aggregate;

/// No trace is so long; sums of counts stay below 2⁶³.
const MOST: u64 = 1 << 62;

impl Accumulator {
    /// Appends what was collected to `out`.
    pub fn save(&self, out: &mut Vec<u8>) {
        put(self.count.min(MOST), out);
        if let State::Fault(fault) = &self.state {
            out.push(1);
            put_value(&Value::text(fault), out);
            return;
        }
        out.push(0);
        match &self.state {
            State::Count | State::Fault(_) => {}
            State::Sum(sum) => sum.save(out),
            State::Extreme(extreme) => put_value(&extreme.best.map_or(Value::Null, Into::into), out),
            State::First(end) | State::Last(end) => put_value(&end.value, out),
            State::Moments(moments) => {
                moments.sum.save(out);
                moments.squares.save(out);
            }
            State::Pairs(pairs) => {
                for side in [&pairs.x, &pairs.y] {
                    side.sum.save(out);
                    side.squares.save(out);
                }
                pairs.products.save(out);
            }
            State::Numbers(numbers) => numbers.save(out),
            State::Mode(tally) => tally.save(out),
            State::Distinct(distinct) => distinct.save(out),
        }
    }

    /// Reads back what [`save`](Self::save) wrote for the same statistic, advancing `bytes`.
    pub fn load(aggregate: Aggregate, limits: Limits, bytes: &mut &[u8]) -> Result<Self, Corrupt> {
        let mut loaded = Accumulator::new(aggregate, limits);
        loaded.count = take(bytes)?;
        if loaded.count > MOST {
            return corrupt("a count that is too large");
        }
        match take_byte(bytes)? {
            0 => {}
            1 => {
                let Value::Str(fault) = take_value(bytes)? else { return corrupt("no text") };
                loaded.state = State::Fault(fault.as_ref().into());
                return Ok(loaded);
            }
            _ => return corrupt("an unknown state"),
        }
        let count = loaded.count;
        match &mut loaded.state {
            State::Count | State::Fault(_) => {}
            State::Sum(sum) => *sum = ExactSum::load(bytes)?,
            State::Extreme(extreme) => {
                let value = take_value(bytes)?;
                extreme.best = Number::of(&value);
                if extreme.best.is_none() && !value.is_null() {
                    return corrupt("no number");
                }
            }
            State::First(end) | State::Last(end) => end.value = take_value(bytes)?,
            State::Moments(moments) => {
                moments.count = count;
                moments.sum = ExactSum::load(bytes)?;
                moments.squares = crate::moments::ProductSum::load(bytes)?;
            }
            State::Pairs(pairs) => {
                for side in [&mut pairs.x, &mut pairs.y] {
                    side.count = count;
                    side.sum = ExactSum::load(bytes)?;
                    side.squares = crate::moments::ProductSum::load(bytes)?;
                }
                pairs.products = crate::moments::ProductSum::load(bytes)?;
            }
            State::Numbers(numbers) => **numbers = Numbers::load(count, bytes)?,
            State::Mode(tally) => *tally = Tally::load(count, bytes)?,
            State::Distinct(distinct) => **distinct = Distinct::load(bytes)?,
        }
        Ok(loaded)
    }
}

/// Digits and where they stand, without zero limbs at either end.
pub fn put_digits((negative, limbs, base): (bool, Vec<u64>, i32), out: &mut Vec<u8>) {
    let first = limbs.iter().position(|limb| *limb != 0).unwrap_or(limbs.len());
    let last = limbs.iter().rposition(|limb| *limb != 0).map_or(first, |at| at + 1);
    put((last - first) as u64 * 2 + u64::from(negative), out);
    put_signed(i64::from(base / 64 + first as i32), out);
    limbs[first..last].iter().for_each(|limb| put_word(*limb, out));
}

/// Digits that all stand between the exponents `range.0` and `range.1`, multiples of 64.
pub fn take_digits(from: &mut &[u8], range: (i32, i32)) -> Result<(bool, Vec<u64>, i32), Corrupt> {
    let (head, base) = (take(from)?, take_signed(from)?);
    let (low, high) = (i64::from(range.0 / 64), i64::from(range.1 / 64));
    let len = (head / 2) as i64;
    if !(0..=high - low).contains(&len) || len > 0 && !(low..=high - len).contains(&base) {
        return corrupt("digits out of range");
    }
    let base = if len > 0 { base as i32 * 64 } else { 0 };
    let limbs = (0..len).map(|_| take_word(from)).collect::<Result<_, _>>()?;
    Ok((head % 2 == 1, limbs, base))
}

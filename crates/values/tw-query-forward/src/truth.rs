//! Formulas, 64 positions per machine word.
//!
//! A past operator is a carry that runs with the positions. A future operator is decided at a position by the first
//! later one that settles it; until then positions wait, and a number tells how many.

use crate::plan::{Kept, Op};
use crate::stream::{Stream, mask, spans};
use tw_ir::Form;

/// Positions that a waiting operator emits at a time, so that a long wait is not written out all at once.
pub(crate) const BLOCK: usize = 4096;

/// A connective over truth values: emits all that its operands allow.
pub(crate) fn connect(op: &Op, a: &Stream, b: &Stream, out: &mut Stream) {
    match op {
        Op::Not => zip(a, a, out, |a, _| !a),
        Op::And => zip(a, b, out, |a, b| a & b),
        Op::Or => zip(a, b, out, |a, b| a | b),
        Op::Xor => zip(a, b, out, |a, b| a ^ b),
        Op::Implies => zip(a, b, out, |a, b| !a | b),
        _ => zip(a, b, out, |a, b| !(a ^ b)),
    }
}

fn zip(a: &Stream, b: &Stream, out: &mut Stream, f: impl Fn(u64, u64) -> u64) {
    let to = a.end.min(b.end);
    for (word, lo, hi) in spans(out.end, to) {
        out.push_span(lo, hi, f(a.word(word), b.word(word)));
    }
}

/// `value = set | keep & value before`, in a word: the carries of an addition that generates at `set` and propagates
/// at `keep`.
#[inline]
fn carried(set: u64, keep: u64) -> u64 {
    let propagate = set | keep;
    let (sum, overflow) = propagate.overflowing_add(set);
    let carries = sum ^ propagate ^ set;
    carries >> 1 | u64::from(overflow) << 63
}

/// A past operator: `carry` is its truth at the position before.
pub(crate) fn past(kind: Kept, carry: &mut bool, a: &Stream, b: &Stream, out: &mut Stream) {
    for (word, lo, hi) in spans(out.end, a.end.min(b.end)) {
        let (a, b) = (a.word(word), b.word(word));
        let (set, keep) = match (kind.form, kind.alone) {
            (Form::Release, true) => (0, b),
            (Form::Release, false) => (a & b, b),
            (_, true) => (b, u64::MAX),
            (_, false) => (b, a),
        };
        let inside = mask(lo, hi);
        let (set, keep) = (set & inside, keep & inside);
        let value = carried(set | (keep & (u64::from(*carry) << lo)), keep);
        *carry = value >> (hi - 1) & 1 == 1;
        out.push_span(lo, hi, value);
    }
}

/// `Y` and `Z`: the truth at the position before, which `carry` is for the first.
pub(crate) fn previous(carry: &mut bool, a: &Stream, out: &mut Stream) {
    for (word, lo, hi) in spans(out.end, a.end) {
        let bits = a.word(word);
        out.push_span(lo, hi, bits << 1 | u64::from(*carry) << lo);
        *carry = bits >> (hi - 1) & 1 == 1;
    }
}

/// `X` and `N`: the truth at the position after. `at_end` is that of the last position, nothing if it has its own.
pub(crate) fn next(
    at_end: Option<bool>,
    cursor: &mut usize,
    a: &Stream,
    out: &mut Stream,
    ended: Option<usize>,
) {
    while out.end + 1 < a.end {
        let count = (a.end - 1 - out.end).min(64);
        out.push_bits(a.bits(out.end + 1, count), count);
    }
    // The last position may be its own successor, hence it is kept.
    *cursor = a.end.saturating_sub(1).max(*cursor);
    if ended == Some(a.end) && out.end + 1 == a.end {
        out.push_bits(u64::from(at_end.unwrap_or_else(|| a.bits(out.end, 1) == 1)), 1);
        *cursor = a.end;
    }
}

/// A future operator. Positions before `cursor` that are not emitted wait. Returns whether there is more to emit.
pub(crate) fn future(
    kind: Kept,
    cursor: &mut usize,
    a: &Stream,
    b: &Stream,
    out: &mut Stream,
    ended: Option<usize>,
) -> bool {
    let to = a.end.min(b.end);
    for (word, lo, hi) in spans(*cursor, to) {
        let (a, b) = (a.word(word), b.word(word));
        let (yes, no) = kind.settles(a, b);
        let inside = mask(lo, hi);
        let (yes, no) = (yes & inside, no & inside);
        let settled = yes | no;
        if settled != 0 {
            let first = settled & settled.wrapping_neg();
            if !release(yes & first != 0, word * 64 + lo, out) {
                return true;
            }
            let last = 64 - settled.leading_zeros() as usize;
            // From the end of the word back, a decision runs until the next.
            let value = carried(yes.reverse_bits(), !settled.reverse_bits()).reverse_bits();
            out.push_span(lo, last, value);
        }
        *cursor = word * 64 + hi;
    }
    ended == Some(to) && *cursor == to && !release(kind.weak, to, out)
}

/// Emits what waits before `upto`; false if it was too much for one time.
fn release(value: bool, upto: usize, out: &mut Stream) -> bool {
    let count = (upto - out.end).min(BLOCK);
    let mut left = count;
    while left > 0 {
        let step = left.min(64);
        out.push_bits(if value { u64::MAX } else { 0 }, step);
        left -= step;
    }
    out.end == upto
}

impl Kept {
    /// Where the operator is settled to true and to false by what stands there.
    #[inline]
    fn settles(self, a: u64, b: u64) -> (u64, u64) {
        match (self.form, self.alone) {
            (Form::Release, true) => (0, !b),
            (Form::Release, false) => (a & b, !b),
            (_, true) => (b, 0),
            (_, false) => (b, !a & !b),
        }
    }
}

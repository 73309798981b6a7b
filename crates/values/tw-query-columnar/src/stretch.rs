//! `agg[count[p while q]]` on words: the count at a position is the number of p from there to the end of the run of q
//! that it is in, so its greatest value in a run is at the run's first position, and its least is 1.

use crate::words;
use tw_ir::Aggregate;

/// What is wanted of the counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// `max`
    Greatest,
    /// `min`: 1 if there is a count at all
    Least,
    /// `sum`, `avg` and `count`: the sum of the counts and their number
    Sum,
}

impl Wanted {
    pub(crate) fn of(aggregate: Aggregate) -> Option<Self> {
        match aggregate {
            Aggregate::Max => Some(Wanted::Greatest),
            Aggregate::Min => Some(Wanted::Least),
            Aggregate::Sum | Aggregate::Avg | Aggregate::Count => Some(Wanted::Sum),
            _ => None,
        }
    }
}

/// What is known of the counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// The count at the first position seen: that of the run that is still open, going backwards.
    pub(crate) open: u64,
    /// The greatest, which may be what was open before: that is the count at the position after.
    pub(crate) greatest: u64,
    /// Their number; with [`Wanted::Least`] only whether there are any.
    pub(crate) number: u64,
    /// Their sum.
    pub(crate) sum: u128,
}

/// Goes backwards over the positions `from..to`. Where these end within a word, nothing is open; where they begin
/// within one, what is open there is of no use to anyone.
#[inline(always)]
fn walk(wanted: Wanted, counts: &mut Counts, p: &[u64], q: &[u64], from: usize, to: usize) {
    debug_assert!(to.is_multiple_of(64) || counts.open == 0);
    for index in words::span(from, to).rev() {
        let run = words::masked(q, index, from, to);
        let add = p[index] & run;
        match wanted {
            Wanted::Greatest => greatest(counts, add, run),
            Wanted::Least => counts.number |= add,
            Wanted::Sum => sum(counts, add, run),
        }
    }
}

#[inline(always)]
fn greatest(counts: &mut Counts, add: u64, run: u64) {
    if run == u64::MAX {
        counts.open += u64::from(add.count_ones());
        counts.greatest = counts.greatest.max(counts.open);
        return;
    }
    // The run at the word's end goes on in the next word, that at its start in the one before.
    let above = (!run).leading_zeros();
    let top = !(u64::MAX >> above);
    let joined = counts.open + u64::from((add & top).count_ones());
    let bottom = !(u64::MAX << (!run).trailing_zeros());
    counts.open = u64::from((add & bottom).count_ones());
    let mut best = counts.greatest.max(joined).max(counts.open);
    // Of the runs between them only one longer than the greatest count can have a greater one.
    let mut long = run & !(top | bottom);
    let mut left = best;
    let mut width = 1;
    while left > 0 && long != 0 {
        let step = left.min(width);
        long &= long >> step;
        left -= step;
        width *= 2;
    }
    let mut rest = long;
    while rest != 0 {
        let first = rest.trailing_zeros();
        let length = (!(run >> first)).trailing_zeros();
        let mask = words::low(length as usize) << first;
        best = best.max(u64::from((add & mask).count_ones()));
        rest &= !mask;
    }
    counts.greatest = best;
}

#[inline(always)]
fn sum(counts: &mut Counts, add: u64, run: u64) {
    let above = (!run).leading_zeros();
    counts.sum += u128::from(counts.open) * u128::from(above);
    let counted = words::until(run, add, counts.open > 0);
    counts.number += u64::from(counted.count_ones());
    // A p counts at each position of its run up to its own: as many as its distance to the start of the run.
    let below = (!run).trailing_zeros();
    if run == u64::MAX {
        counts.open += u64::from(add.count_ones());
        counts.sum += u128::from(places(add));
        return;
    }
    counts.open = u64::from((add & words::low(below as usize)).count_ones());
    let mut total = 0;
    let mut reached = run;
    let mut rounds = 0;
    while add & reached != 0 && rounds < 8 {
        total += u64::from((add & reached).count_ones());
        reached &= reached << 1;
        rounds += 1;
    }
    // The runs that are longer than that, one by one.
    let mut rest = add & reached;
    while rest != 0 {
        let p = 63 - rest.leading_zeros();
        // The start of the run that p is in, seen from the first position that is still reached.
        let gap = !reached & words::low(p as usize);
        let first = 64 - gap.leading_zeros();
        let mask = words::low(p as usize + 1) & !words::low(first as usize);
        total += places((rest & mask) >> first);
        rest &= !mask;
    }
    counts.sum += u128::from(total);
}

/// The sum of (bit number + 1) over the set bits.
#[inline(always)]
fn places(word: u64) -> u64 {
    const MASKS: [u64; 6] = [
        0xaaaa_aaaa_aaaa_aaaa,
        0xcccc_cccc_cccc_cccc,
        0xf0f0_f0f0_f0f0_f0f0,
        0xff00_ff00_ff00_ff00,
        0xffff_0000_ffff_0000,
        0xffff_ffff_0000_0000,
    ];
    let mut total = u64::from(word.count_ones());
    for (bit, mask) in MASKS.iter().enumerate() {
        total += u64::from((word & mask).count_ones()) << bit;
    }
    total
}

fn portable(wanted: Wanted, counts: &mut Counts, p: &[u64], q: &[u64], from: usize, to: usize) {
    match wanted {
        Wanted::Greatest => walk(Wanted::Greatest, counts, p, q, from, to),
        Wanted::Least => walk(Wanted::Least, counts, p, q, from, to),
        Wanted::Sum => walk(Wanted::Sum, counts, p, q, from, to),
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "bmi1,bmi2,popcnt,lzcnt")]
fn with_counting(wanted: Wanted, counts: &mut Counts, p: &[u64], q: &[u64], from: usize, to: usize) {
    match wanted {
        Wanted::Greatest => walk(Wanted::Greatest, counts, p, q, from, to),
        Wanted::Least => walk(Wanted::Least, counts, p, q, from, to),
        Wanted::Sum => walk(Wanted::Sum, counts, p, q, from, to),
    }
}

/// Goes backwards over `from..to`: `counts.open` is what is open at `to`, and becomes what is open at `from`.
pub(crate) fn counts(wanted: Wanted, counts: &mut Counts, p: &[u64], q: &[u64], from: usize, to: usize) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("popcnt")
        && is_x86_feature_detected!("lzcnt")
    {
        // SAFETY: the features were just found.
        return unsafe { with_counting(wanted, counts, p, q, from, to) };
    }
    portable(wanted, counts, p, q, from, to);
}

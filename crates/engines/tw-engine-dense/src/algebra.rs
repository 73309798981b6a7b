//! The operators on signals: each one pass, O(changes of its operands), and none allocates more than its result.
//!
//! Continuous time, non-strict (Basin, Klaedtke, Marinovic, Zălinescu: On Real-Time Monitoring with Imprecise
//! Timestamps, section 2): `φ U[I] ψ` holds at t if ψ holds at some t′ with t′ − t ∈ I and φ at every t″ with
//! t ≤ t″ < t′; `φ S[I] ψ` if ψ holds at some t′ with t − t′ ∈ I and φ at every t″ with t′ < t″ ≤ t. Instants outside
//! the span do not exist: windows are cut at its ends, as pointwise ones are at the ends of a trace.

use crate::{Signal, Window, signal::Union};

/// The truth tables of the connectives: bit 2a + b is the result for operands a and b.
pub(crate) mod table {
    pub(crate) const AND: u8 = 0b1000;
    /// a and not b.
    pub(crate) const AND_NOT: u8 = 0b0100;
    pub(crate) const OR: u8 = 0b1110;
    pub(crate) const XOR: u8 = 0b0110;
    pub(crate) const IMPLIES: u8 = 0b1011;
    pub(crate) const IFF: u8 = 0b1001;
}

/// A connective, at every instant. Both signals have the same span.
pub(crate) fn combine(a: &Signal, b: &Signal, table: u8, mut buffer: Vec<u64>) -> Signal {
    assert_eq!(a.span(), b.span(), "signals over the same stretch of time");
    let (x, y) = (a.cuts(), b.cuts());
    let cells = a.span().cells();
    buffer.clear();
    buffer.resize(x.len() + y.len(), 0);
    let row = |state: usize| table >> state & 1;
    let mut state = usize::from(a.first()) << 1 | usize::from(b.first());
    let first = row(state);
    // Every change of an operand is written, and kept if the result changes there: no branch depends on the data.
    let (mut i, mut j, mut kept, mut last) = (1, 1, 1, first);
    loop {
        let cut = x[i].min(y[j]);
        let (in_a, in_b) = (usize::from(x[i] == cut), usize::from(y[j] == cut));
        buffer[kept] = cut;
        if cut == cells {
            break;
        }
        i += in_a;
        j += in_b;
        state ^= in_a << 1 | in_b;
        let result = row(state);
        kept += usize::from(result != last);
        last = result;
    }
    buffer.truncate(kept + 1);
    Signal::from_cuts(a.span(), first == 1, buffer)
}

/// `F[I]` of the instants where `a` is `value`: each run moved back by every distance of I (the Minkowski sum with −I).
pub(crate) fn finally(a: &Signal, value: bool, window: Window, buffer: Vec<u64>) -> Signal {
    let pairs = a.pairs(value);
    let mut union = Union::new(a.span(), buffer, pairs.len());
    // Runs that end too early for the window are seen from nowhere.
    let seen = pairs.partition_point(|pair| window.before_to(pair[1]) == 0);
    for &[from, to] in &pairs[seen..] {
        union.add(window.before_from(from), window.before_to(to));
    }
    union.finish()
}

/// `O[I]` of the instants where `a` is `value`: each run moved on by every distance of I.
pub(crate) fn once(a: &Signal, value: bool, window: Window, buffer: Vec<u64>) -> Signal {
    let (pairs, cells) = (a.pairs(value), a.span().cells());
    let mut union = Union::new(a.span(), buffer, pairs.len());
    for &[from, to] in pairs {
        let from = window.after_from(from, cells);
        if from == cells {
            break;
        }
        union.add(from, window.after_to(to, cells));
    }
    union.finish()
}

/// An operand of until or since: a signal, or its complement.
#[derive(Clone, Copy)]
pub(crate) struct Operand<'s>(pub(crate) &'s Signal, pub(crate) bool);

impl<'s> Operand<'s> {
    fn pairs(self) -> &'s [[u64; 2]] {
        self.0.pairs(self.1)
    }
}

/// The part of until (or since, by `reach` and `seen`) with t′ ≠ t. All of φ between t and t′ is one run of φ, in which
/// t lies and t′ lies or at whose end it does, just outside perhaps: so each run of ψ is cut with each run of φ
/// extended by that end (`reach`), moved by I (`seen`), and cut with the run of φ. The extended runs are apart, so the
/// pairs of runs that meet are fewer than the runs.
fn between(
    (phi, psi): (Operand<'_>, Operand<'_>),
    buffer: Vec<u64>,
    reach: impl Fn(u64, u64) -> (u64, u64),
    seen: impl Fn(u64, u64) -> (u64, u64),
) -> Signal {
    assert_eq!(phi.0.span(), psi.0.span(), "signals over the same stretch of time");
    let (holds, mut goals) = (phi.pairs(), psi.pairs());
    let mut union = Union::new(phi.0.span(), buffer, holds.len() + goals.len());
    for &[from, to] in holds {
        let (reach_from, reach_to) = reach(from, to);
        while let [[goal_from, goal_to], rest @ ..] = goals
            && *goal_from < reach_to
        {
            let (goal_from, goal_to_cut) = ((*goal_from).max(reach_from), (*goal_to).min(reach_to));
            if goal_from < goal_to_cut {
                let (seen_from, seen_to) = seen(goal_from, goal_to_cut);
                let (seen_from, seen_to) = (seen_from.max(from), seen_to.min(to));
                if seen_from < seen_to {
                    union.add(seen_from, seen_to);
                }
            }
            if *goal_to > reach_to {
                break;
            }
            goals = rest;
        }
    }
    union.finish()
}

/// With t′ = t, ψ alone decides. `spare` is given back.
fn or_here(part: Signal, psi: Operand<'_>, window: Window, spare: &mut Vec<Vec<u64>>) -> Signal {
    if !window.has_zero() {
        return part;
    }
    // ψ ∨ part, or for a complement ψ′ → part.
    let table = if psi.1 { table::OR } else { table::IMPLIES };
    let result = combine(psi.0, &part, table, spare.pop().unwrap_or_default());
    spare.push(part.into_buffer());
    result
}

/// `φ U[I] ψ`.
pub(crate) fn until(phi: Operand<'_>, psi: Operand<'_>, window: Window, spare: &mut Vec<Vec<u64>>) -> Signal {
    let buffer = spare.pop().unwrap_or_default();
    // The last instant of an open end 2b is the cell 2b; a closed end has the bit set already.
    let part = between(
        (phi, psi),
        buffer,
        |from, to| (from, to | 1),
        |from, to| (window.before_from(from), window.before_to(to)),
    );
    or_here(part, psi, window, spare)
}

/// `φ S[I] ψ`.
pub(crate) fn since(phi: Operand<'_>, psi: Operand<'_>, window: Window, spare: &mut Vec<Vec<u64>>) -> Signal {
    let (buffer, cells) = (spare.pop().unwrap_or_default(), phi.0.span().cells());
    let part = between(
        (phi, psi),
        buffer,
        |from, to| (from & !1, to),
        |from, to| (window.after_from(from, cells), window.after_to(to, cells)),
    );
    or_here(part, psi, window, spare)
}

/// Two signals must have the same span; anything else is a mistake of the caller and panics.
impl Signal {
    /// Both hold.
    #[must_use]
    pub fn and(&self, other: &Signal) -> Signal {
        combine(self, other, table::AND, Vec::new())
    }

    /// One of them holds.
    #[must_use]
    pub fn or(&self, other: &Signal) -> Signal {
        combine(self, other, table::OR, Vec::new())
    }

    /// `F[I]`: it holds at some instant ahead, at a distance in the window.
    #[must_use]
    pub fn finally(&self, window: Window) -> Signal {
        finally(self, true, window, Vec::new())
    }

    /// `G[I]`, the dual.
    #[must_use]
    pub fn globally(&self, window: Window) -> Signal {
        finally(self, false, window, Vec::new()).complement()
    }

    /// `O[I]`: it held at some instant, at a distance in the window.
    #[must_use]
    pub fn once(&self, window: Window) -> Signal {
        once(self, true, window, Vec::new())
    }

    /// `H[I]`, the dual.
    #[must_use]
    pub fn historically(&self, window: Window) -> Signal {
        once(self, false, window, Vec::new()).complement()
    }

    /// `self U[I] goal`.
    #[must_use]
    pub fn until(&self, window: Window, goal: &Signal) -> Signal {
        until(Operand(self, true), Operand(goal, true), window, &mut Vec::new())
    }

    /// `self S[I] goal`.
    #[must_use]
    pub fn since(&self, window: Window, goal: &Signal) -> Signal {
        since(Operand(self, true), Operand(goal, true), window, &mut Vec::new())
    }
}

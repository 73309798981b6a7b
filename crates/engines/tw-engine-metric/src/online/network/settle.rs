//! What one operator settles, given what is settled of its operands.

use super::{Cell, Fixed, Network, known};
use crate::online::graph::{Edge, Kind};
use crate::online::stream::Times;
use tw_ir::Ticks;

/// Connectives looked into for one position that is not settled.
const DEEP: u32 = 32;

/// The truth of a connective at a position where it may be decided though operands are not settled: those are settled in
/// order, and may wait for earlier positions, of which nobody asks any more.
#[inline(never)]
fn deep(operators: &[Fixed], cells: &[Cell], kind: Kind, at: u64, fuel: &mut u32) -> Option<bool> {
    let (a, b) = match kind {
        Kind::And(a, b) | Kind::Xor(a, b) if *fuel > 0 => (a, b),
        _ => return None,
    };
    *fuel -= 1;
    let mut of = |edge: Edge| {
        let value = || Some(deep(operators, cells, operators[edge.op()].kind, at, fuel)? != edge.negated());
        known(cells, edge, at).or_else(value)
    };
    match (kind, of(a)) {
        (Kind::Xor(..), Some(a)) => Some(a != of(b)?),
        (Kind::Xor(..), None) => None,
        (_, Some(false)) => Some(false),
        (_, Some(true)) => of(b),
        (_, None) => of(b).filter(|&b| !b),
    }
}

impl Network {
    /// The truth at a position, if it is settled or follows from what is settled there.
    pub(in crate::online) fn decided(&self, edge: Edge, at: u64) -> Option<bool> {
        let operators = &self.operators;
        let below = || deep(operators, &self.cells, operators[edge.op()].kind, at, &mut { DEEP });
        self.known(edge, at).or_else(|| below().map(|value| value != edge.negated()))
    }

    /// Settles what can be settled.
    #[inline]
    pub(super) fn settle(&mut self, at: usize) {
        let (below, rest) = self.cells.split_at_mut(at);
        let cell = &mut rest[0];
        let (len, times, operators) = (self.len, &self.times, &self.operators);
        let Fixed { kind, deep: is_deep, .. } = operators[at];
        match kind {
            Kind::True | Kind::Atom(_) | Kind::First => {}
            Kind::And(a, b) => {
                while cell.out.end() < len {
                    let at = cell.out.end();
                    match (known(below, a, at), known(below, b, at)) {
                        (Some(a), Some(b)) => cell.out.push(a && b),
                        (Some(false), None) | (None, Some(false)) => cell.out.push(false),
                        _ if is_deep => match deep(operators, below, kind, at, &mut { DEEP }) {
                            Some(value) => cell.out.push(value),
                            None => break,
                        },
                        _ => break,
                    }
                }
            }
            Kind::Xor(a, b) => {
                while cell.out.end() < len {
                    let at = cell.out.end();
                    match (known(below, a, at), known(below, b, at)) {
                        (Some(a), Some(b)) => cell.out.push(a != b),
                        _ if is_deep => match deep(operators, below, kind, at, &mut { DEEP }) {
                            Some(value) => cell.out.push(value),
                            None => break,
                        },
                        _ => break,
                    }
                }
            }
            Kind::Last => {
                cell.out.fill(false, len.saturating_sub(1));
                if self.ended {
                    cell.out.fill(true, len);
                }
            }
            Kind::Previous(ticks, a) => {
                while cell.out.end() < len {
                    let at = cell.out.end();
                    let near = at > 0 && ticks.contains(times.at(at).saturating_sub(times.at(at - 1)));
                    match if near { known(below, a, at - 1) } else { Some(false) } {
                        Some(value) => cell.out.push(value),
                        None => break,
                    }
                }
            }
            Kind::Next(ticks, a) => {
                while cell.out.end() < len {
                    let at = cell.out.end();
                    let value = if at + 1 < len {
                        let near = ticks.contains(times.at(at + 1).saturating_sub(times.at(at)));
                        if near { known(below, a, at + 1) } else { Some(false) }
                    } else if self.repeat && ticks.low == 0 {
                        // The last position is its own successor; before the end another may follow, which fails
                        // once time has passed the interval.
                        let here = known(below, a, at);
                        let late = here == Some(false) && closed(times, at, ticks, self.passed);
                        if self.ended || late { here } else { None }
                    } else if self.ended || closed(times, at, ticks, self.passed) {
                        Some(false)
                    } else {
                        None
                    };
                    match value {
                        Some(value) => cell.out.push(value),
                        None => break,
                    }
                }
            }
            Kind::Beyond(ticks, a, b) => {
                let passed = match (self.ended, times.stamped()) {
                    (true, _) => Some(i64::MAX),
                    (false, true) => self.passed,
                    (false, false) => Some(len as i64 - 1),
                };
                cell.beyond((ticks, a, b), below, times, len, passed);
                // Nothing is beyond the last position.
                if self.ended {
                    cell.out.fill(false, len);
                }
            }
            Kind::Since(ticks, a, b) => cell.since(ticks, a, b, below, times, len),
            Kind::Until(ticks, a, b) => {
                cell.until(ticks, a, b, below, times, len);
                // All that could be a witness has been looked at.
                if cell.read == len || cell.clear == len {
                    // Positions are their own clock: the next one is later than this one.
                    let passed = if times.stamped() { self.passed } else { Some(len as i64 - 1) };
                    while cell.out.end() < len && closed(times, cell.out.end(), ticks, passed) {
                        cell.out.push(false);
                    }
                    cell.read = cell.read.max(cell.out.end());
                    if self.ended {
                        cell.out.fill(false, len);
                    }
                }
            }
        }
    }
}

/// Whether no later position lies within the interval of `at`.
#[inline]
fn closed(times: &Times, at: u64, ticks: Ticks, passed: Option<i64>) -> bool {
    ticks.high < i64::MAX && passed.is_some_and(|passed| times.at(at).saturating_add(ticks.high) <= passed)
}

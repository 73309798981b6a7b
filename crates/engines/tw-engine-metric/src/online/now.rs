//! What can be said at once about the last position: the synchronous one of an observer pair, as in "Runtime Observer
//! Pairs and Bayesian Network Reasoners On-board FPGAs" (Geist, Rozier, Schumann).
//!
//! What is settled is told as it is. Otherwise each operator goes by what is known of its operands at this position, in
//! Kleene's three values: a future operator is true at a witness and false where it cannot hold any more, a past one is
//! exact as soon as its operands are. What is told is what the settled verdict about the position will be.

use super::graph::{Edge, Kind};
use super::network::{Cell, Network};
use tw_ir::Ticks;

/// Conjunction of three values.
fn and(a: Option<bool>, b: Option<bool>) -> Option<bool> {
    match (a, b) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

fn not(a: Option<bool>) -> Option<bool> {
    a.map(|a| !a)
}

fn or(a: Option<bool>, b: Option<bool>) -> Option<bool> {
    not(and(not(a), not(b)))
}

impl Network {
    /// The truth at the last position as far as it is known, in time O(operators).
    pub(super) fn now(&self, edge: Edge) -> Option<bool> {
        let at = self.len.checked_sub(1)?;
        if let Some(known) = self.recall(edge, at) {
            return Some(known);
        }
        let mut needed = vec![false; edge.op() + 1];
        needed[edge.op()] = true;
        for op in (1..=edge.op()).rev() {
            if needed[op] {
                self.operators[op].kind.operands().for_each(|operand| needed[operand.op()] = true);
            }
        }
        let mut values: Vec<Option<bool>> = vec![None; edge.op() + 1];
        values[0] = Some(true);
        for op in (1..=edge.op()).filter(|&op| needed[op]) {
            values[op] = self.recall(Edge::new(op, false), at).or_else(|| self.kleene(op, at, &values));
        }
        values[edge.op()].map(|value| value != edge.negated())
    }

    /// The truth at a position, if it is settled and not forgotten.
    fn recall(&self, edge: Edge, at: u64) -> Option<bool> {
        if self.holds_from(edge, at) { self.known(edge, at) } else { None }
    }

    /// What the values of operands at the last position say.
    fn kleene(&self, op: usize, at: u64, values: &[Option<bool>]) -> Option<bool> {
        let cell = &self.cells[op];
        let of = |edge: Edge| values[edge.op()].map(|value| value != edge.negated());
        match self.operators[op].kind {
            Kind::True => Some(true),
            Kind::And(a, b) => and(of(a), of(b)),
            Kind::Xor(a, b) => of(a).zip(of(b)).map(|(a, b)| a != b),
            // Later positions have other numbers, but may have the same timestamp.
            Kind::Until(ticks, _, b) if ticks.high == 0 && !self.times.stamped() => of(b),
            Kind::Until(ticks, a, b) => {
                let here = if ticks.low == 0 { of(b) } else { Some(false) };
                or(here, and(of(a), None))
            }
            Kind::Since(ticks, a, b) => {
                let here = if ticks.low == 0 { of(b) } else { Some(false) };
                or(here, and(of(a), self.witness(cell, ticks, at)))
            }
            Kind::Previous(ticks, _) => {
                let near =
                    || !cell.live || ticks.contains(self.times.at(at).saturating_sub(self.times.at(at - 1)));
                if at > 0 && near() { None } else { Some(false) }
            }
            Kind::Atom(_) | Kind::First | Kind::Last | Kind::Next(..) | Kind::Beyond(..) => None,
        }
    }

    /// Whether an earlier position is a witness of `S`, if all of them have been read.
    fn witness(&self, cell: &Cell, ticks: Ticks, at: u64) -> Option<bool> {
        if !cell.live || cell.read != at {
            return None;
        }
        let now = self.times.at(at);
        let Some(past) = &cell.past else { return Some(false) };
        let ready = past.waiting.partition_point(|&time| now.saturating_sub(time) >= ticks.low);
        let latest = if ready > 0 { past.waiting.get(ready - 1).copied() } else { past.ready };
        Some(latest.is_some_and(|latest| now.saturating_sub(latest) <= ticks.high))
    }
}

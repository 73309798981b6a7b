//! BREADTH-FIRST(-PAST) over a stored trace as published, for truth and for any other semiring.
//!
//! Candidates of a position hold literals, and are checked against it. Past nodes stand in slices once `past[]` says
//! that they hold; nothing follows them. With values, `past[]` is the value of a past node's runs, a slice carries the
//! value of the runs that led to it, and equal slices are joined.
//!
//! As against the print: the slice of `eps` is worth `top`, and what a slice is worth so far is met once with what its
//! successors add, not once per member. Even so the value is *per slice*: nodes that two branches of a run share are
//! counted once. Where `meet` is not idempotent (counting rejecting nodes) it can be less than the value of the tree,
//! which is what the other two traversals compute and what the statistic is defined to be.

use super::family::{Limits, Slice};
use super::unfold::below;
use super::weighted::{Weighted, normalise, product};
use crate::goals::Segment;
use crate::semiring::Semiring;
use rustc_hash::FxHashMap;
use std::rc::Rc;
use tw_automata::alternating::{Alternating, Direction, Expr, ExprId, NodeIndex};
use tw_core::Position;
use tw_monitor::Unsupported;

/// The traversal, with what it keeps from one position to the next.
pub(crate) struct Stored<'a, S: Semiring> {
    automaton: &'a Alternating,
    semiring: &'a S,
    limits: Limits,
    /// N_B: past nodes and what they rest on; and the expressions of their next automata.
    beneath: Vec<NodeIndex>,
    is_beneath: Vec<bool>,
    deltas: Vec<ExprId>,
    /// By node; meaningful beneath past nodes.
    past: Vec<S::Value>,
    initial: FxHashMap<ExprId, Rc<Weighted<S::Value>>>,
    successors: FxHashMap<Slice, Rc<Weighted<S::Value>>>,
    /// Most candidates at a position, and candidates over all positions.
    pub(crate) max_slices: usize,
    pub(crate) slices: u64,
}

impl<'a, S: Semiring> Stored<'a, S> {
    /// For the formula of `root`. Refuses future operators inside past ones.
    pub(crate) fn new(
        automaton: &'a Alternating,
        semiring: &'a S,
        root: ExprId,
        limits: Limits,
    ) -> Result<Self, Unsupported> {
        let mut is_beneath = vec![false; automaton.nodes().len()];
        let mut deltas = Vec::new();
        for index in automaton.reachable(root) {
            if automaton.node(index).direction == Direction::Past {
                is_beneath[index.index()] = true;
                deltas.push(automaton.node(index).delta);
            }
        }
        let deltas = below(automaton, &deltas);
        for &id in &deltas {
            if let Expr::Node(index) = automaton.expr(id) {
                is_beneath[index.index()] = true;
                let node = automaton.node(index);
                if node.direction == Direction::Future {
                    let what = "future operators inside past ones while reading forward";
                    return Err(Unsupported::construct(node.origin.0, what)
                        .help("`reverse` and `depth-first` read a stored trace in both directions"));
                }
            }
        }
        let beneath =
            (0..automaton.nodes().len() as u32).map(NodeIndex).filter(|i| is_beneath[i.index()]).collect();
        let past = vec![semiring.bottom(); automaton.nodes().len()];
        let (initial, successors) = Default::default();
        Ok(Self {
            automaton,
            semiring,
            limits,
            beneath,
            is_beneath,
            deltas,
            past,
            initial,
            successors,
            max_slices: 0,
            slices: 0,
        })
    }

    /// What the runs over a segment are worth. `watch` sees each position: its candidates, and which of them its
    /// labels (and the end, at the last) leave over.
    pub(crate) fn run(
        &mut self,
        segment: &Segment<'_>,
        root: ExprId,
        watch: &mut impl FnMut(Position, &Self, &Weighted<S::Value>, &[bool]),
    ) -> Result<S::Value, Unsupported> {
        self.recall(segment, segment.start);
        let mut candidates = self.initial(root)?.to_vec();
        let mut kept = Vec::new();
        for at in segment.start..segment.end {
            self.max_slices = self.max_slices.max(candidates.len());
            self.slices += candidates.len() as u64;
            if at + 1 == segment.end {
                break;
            }
            kept.clear();
            kept.extend(candidates.iter().map(|(slice, _)| self.satisfied(segment, slice, at)));
            watch(at, self, &candidates, &kept);
            self.recall(segment, at + 1);
            let mut next = Vec::new();
            for ((slice, value), _) in candidates.iter().zip(&kept).filter(|(_, kept)| **kept) {
                let successors = self.successors(slice)?;
                next.extend(
                    successors.iter().map(|(slice, more)| (slice.clone(), self.semiring.meet(value, more))),
                );
                if next.len() > 2 * self.limits.slices {
                    normalise(self.semiring, self.limits, &mut next);
                }
                if next.len() > 2 * self.limits.slices {
                    return Err(self.limits.over());
                }
            }
            normalise(self.semiring, self.limits, &mut next);
            if next.len() > self.limits.slices {
                return Err(self.limits.over());
            }
            candidates = next;
        }
        let last = segment.end - 1;
        let ends: Vec<S::Value> = candidates.iter().map(|slice| self.end(segment, slice, last)).collect();
        kept.clear();
        kept.extend(ends.iter().map(|value| *value != self.semiring.bottom()));
        watch(last, self, &candidates, &kept);
        Ok(ends.iter().fold(self.semiring.bottom(), |sum, value| self.semiring.join(&sum, value)))
    }

    /// Whether `past[]` of a node is not bottom; for watchers.
    #[cfg(test)]
    pub(crate) fn holds_past(&self, node: NodeIndex) -> bool {
        self.past[node.index()] != self.semiring.bottom()
    }

    fn satisfied(&self, segment: &Segment<'_>, slice: &[u32], at: Position) -> bool {
        slice.iter().all(|&number| segment.holds(self.automaton.node(NodeIndex(number)).label, at))
    }

    /// Moves `past[]` to a position.
    fn recall(&mut self, segment: &Segment<'_>, at: Position) {
        if self.beneath.is_empty() {
            return;
        }
        // What was found with the past as it was.
        self.initial.clear();
        self.successors.clear();
        let mut values: FxHashMap<ExprId, S::Value> = FxHashMap::default();
        for &id in &self.deltas {
            let value = self.combine(id, &values, |index| self.past[index.index()].clone());
            values.insert(id, value);
        }
        let mut now = self.past.clone();
        for &index in &self.beneath {
            let node = self.automaton.node(index);
            let before = match node.direction {
                Direction::Past if at > segment.start => values[&node.delta].clone(),
                _ if node.accepting => self.semiring.top(),
                _ => self.semiring.bottom(),
            };
            let holds = before != self.semiring.bottom() && segment.holds(node.label, at);
            now[index.index()] =
                if holds { self.semiring.update(&before, index) } else { self.semiring.bottom() };
        }
        self.past = now;
    }

    /// The value of an expression from those of its operands and nodes.
    fn combine(
        &self,
        id: ExprId,
        values: &FxHashMap<ExprId, S::Value>,
        node: impl Fn(NodeIndex) -> S::Value,
    ) -> S::Value {
        match self.automaton.expr(id) {
            Expr::True => self.semiring.top(),
            Expr::False => self.semiring.bottom(),
            Expr::And(a, b) => self.semiring.meet(&values[&a], &values[&b]),
            Expr::Or(a, b) => self.semiring.join(&values[&a], &values[&b]),
            Expr::Node(index) => node(index),
        }
    }

    /// The slices that an expression can begin with.
    fn initial(&mut self, expr: ExprId) -> Result<Rc<Weighted<S::Value>>, Unsupported> {
        if let Some(known) = self.initial.get(&expr) {
            return Ok(known.clone());
        }
        let mut needed = vec![expr];
        let mut seen: rustc_hash::FxHashSet<ExprId> = needed.iter().copied().collect();
        let mut next = 0;
        while let Some(&id) = needed.get(next) {
            next += 1;
            if let Expr::And(a, b) | Expr::Or(a, b) = self.automaton.expr(id) {
                needed.extend([a, b].into_iter().filter(|&id| seen.insert(id)));
            }
        }
        needed.sort_unstable();
        for id in needed {
            if self.initial.contains_key(&id) {
                continue;
            }
            let slices = match self.automaton.expr(id) {
                Expr::True => vec![(Slice::new(), self.semiring.top())],
                Expr::False => Vec::new(),
                Expr::And(a, b) => product(self.semiring, self.limits, &self.initial[&a], &self.initial[&b])?,
                Expr::Or(a, b) => {
                    let mut either = self.initial[&a].to_vec();
                    either.extend_from_slice(&self.initial[&b]);
                    normalise(self.semiring, self.limits, &mut either);
                    either
                }
                Expr::Node(index) => {
                    let value = if self.is_beneath[index.index()] {
                        self.past[index.index()].clone()
                    } else {
                        self.semiring.update(&self.semiring.top(), index)
                    };
                    if value == self.semiring.bottom() { Vec::new() } else { vec![(vec![index.0], value)] }
                }
            };
            self.initial.insert(id, Rc::new(slices));
        }
        Ok(self.initial[&expr].clone())
    }

    /// The slices that can follow one, and what they add.
    fn successors(&mut self, slice: &Slice) -> Result<Rc<Weighted<S::Value>>, Unsupported> {
        if let Some(known) = self.successors.get(slice) {
            return Ok(known.clone());
        }
        let mut all = vec![(Slice::new(), self.semiring.top())];
        for &number in slice {
            let node = *self.automaton.node(NodeIndex(number));
            if node.direction == Direction::Future {
                let next = self.initial(node.delta)?;
                all = product(self.semiring, self.limits, &all, &next)?;
            }
        }
        let all = Rc::new(all);
        self.successors.insert(slice.clone(), all.clone());
        Ok(all)
    }

    /// What a candidate of the last position is worth: past nodes are decided, future ones must accept.
    fn end(&self, segment: &Segment<'_>, candidate: &(Slice, S::Value), last: Position) -> S::Value {
        let (slice, value) = candidate;
        if !self.satisfied(segment, slice, last) {
            return self.semiring.bottom();
        }
        let mut value = value.clone();
        for &number in slice {
            let node = self.automaton.node(NodeIndex(number));
            if node.direction == Direction::Future {
                if node.stays {
                    value = self.semiring.meet(&value, &self.here(segment, node.delta, last));
                } else if !node.accepting {
                    return self.semiring.bottom();
                }
            }
        }
        value
    }

    /// What an expression is worth at the last position.
    fn here(&self, segment: &Segment<'_>, expr: ExprId, last: Position) -> S::Value {
        let mut values: FxHashMap<ExprId, S::Value> = FxHashMap::default();
        for id in below(self.automaton, &[expr]) {
            let value = self.combine(id, &values, |index| {
                if self.is_beneath[index.index()] {
                    return self.past[index.index()].clone();
                }
                let node = self.automaton.node(index);
                let next = if node.stays {
                    values[&node.delta].clone()
                } else if node.accepting {
                    self.semiring.top()
                } else {
                    self.semiring.bottom()
                };
                if next != self.semiring.bottom() && segment.holds(node.label, last) {
                    self.semiring.update(&next, index)
                } else {
                    self.semiring.bottom()
                }
            });
            values.insert(id, value);
        }
        values[&expr].clone()
    }
}

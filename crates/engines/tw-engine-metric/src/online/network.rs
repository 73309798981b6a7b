//! One node per operator, each with the settled truth of a prefix of the positions.
//!
//! Operands are read as far as they are settled; connectives go on where one operand decides. A past operator keeps what
//! of the past can still matter, a future one the first position that it has not settled: each position is read once
//! and settled once, and windows close by time, so that an event costs the same whatever the bounds.

mod cell;
mod saved;
mod settle;

use super::graph::{Delay, Edge, Graph, Kind};
use super::stream::{Stream, Times};
use std::collections::VecDeque;
use std::sync::Arc;
use tw_ir::NodeId;

/// What is the same of an operator in every trace.
#[derive(Clone, Debug)]
pub(super) struct Fixed {
    pub(super) kind: Kind,
    pub(super) node: Option<NodeId>,
    /// The longest that a verdict may take; `None` is for ever.
    pub(super) delay: Option<Delay>,
    /// A connective of connectives.
    deep: bool,
}

/// An operator at work on one trace.
#[derive(Clone, Debug, Default)]
pub(super) struct Cell {
    /// Whether somebody asks for it.
    pub(super) live: bool,
    pub(super) out: Stream,
    /// `S`, `U`: the first position whose operands are not read.
    pub(super) read: u64,
    /// `U`: a position from which on the right operand was not looked at while the operands at `read` are open.
    clear: u64,
    /// `S`: its witnesses. Most operators have none.
    pub(super) past: Option<Box<Witnesses>>,
}

/// What `S` remembers.
#[derive(Clone, Debug, Default)]
pub(super) struct Witnesses {
    /// The latest witness that is old enough for the interval.
    pub(super) ready: Option<i64>,
    /// Witnesses that are not yet old enough, ascending.
    pub(super) waiting: VecDeque<i64>,
}

/// All operators on one trace.
#[derive(Clone, Debug)]
pub(super) struct Network {
    pub(super) operators: Arc<[Fixed]>,
    pub(super) cells: Vec<Cell>,
    /// The operators that are asked for; shared until a verdict makes some of them idle.
    live: Arc<[u32]>,
    /// Positions read.
    pub(super) len: u64,
    pub(super) times: Times,
    /// All later positions are after this time.
    passed: Option<i64>,
    ended: bool,
    repeat: bool,
}

/// The truth of an operand at a position, if it is settled.
#[inline]
fn known(cells: &[Cell], edge: Edge, at: u64) -> Option<bool> {
    let cell = &cells[edge.op()];
    if edge.op() == 0 {
        Some(!edge.negated())
    } else if at < cell.out.end() {
        Some(cell.out.get(at) != edge.negated())
    } else {
        None
    }
}

impl Network {
    pub(super) fn new(graph: &Graph, stamped: bool, repeat: bool) -> Self {
        let connective = |kind: Kind| matches!(kind, Kind::And(..) | Kind::Xor(..));
        let below = |kind: Kind| kind.operands().any(|edge| connective(graph.operators[edge.op()].kind));
        let fixed = |operator: &super::graph::Operator| Fixed {
            deep: connective(operator.kind) && below(operator.kind),
            kind: operator.kind,
            node: operator.node,
            delay: operator.delay,
        };
        Self {
            operators: graph.operators.iter().map(fixed).collect(),
            cells: vec![Cell::default(); graph.operators.len()],
            live: Arc::default(),
            len: 0,
            times: Times::new(stamped),
            passed: None,
            ended: false,
            repeat,
        }
    }

    /// Says which operators are asked for; those that are not need no work.
    pub(super) fn ask(&mut self, edges: impl Iterator<Item = Edge>) {
        for cell in &mut self.cells {
            cell.live = false;
        }
        for edge in edges {
            self.cells[edge.op()].live = true;
        }
        for at in (0..self.cells.len()).rev() {
            if self.cells[at].live {
                for operand in self.operators[at].kind.operands() {
                    self.cells[operand.op()].live = true;
                }
            } else {
                // What is not asked for now is not asked for later: only memory is left to be given back.
                self.cells[at].out = Stream::default();
                self.cells[at].past = None;
            }
        }
        self.live = (1..self.cells.len() as u32).filter(|&at| self.cells[at as usize].live).collect();
    }

    /// Takes a position. `time` is not before that of the position before.
    #[inline]
    pub(super) fn step(&mut self, time: i64, atoms: &[u64]) {
        self.times.push(time);
        let first = self.len == 0;
        self.len += 1;
        for index in 0..self.live.len() {
            let at = self.live[index] as usize;
            match self.operators[at].kind {
                Kind::Atom(atom) => {
                    let value = atoms[atom as usize / 64] >> (atom % 64) & 1 == 1;
                    self.cells[at].out.push(value);
                }
                Kind::First => self.cells[at].out.push(first),
                _ => self.settle(at),
            }
        }
    }

    /// No later position is at `time` or before.
    pub(super) fn advance(&mut self, time: i64) {
        if self.passed.is_none_or(|passed| passed < time) {
            self.passed = Some(time);
            self.settle_all();
        }
    }

    /// No position follows.
    pub(super) fn end(&mut self) {
        self.ended = true;
        self.settle_all();
    }

    fn settle_all(&mut self) {
        for index in 0..self.live.len() {
            let at = self.live[index] as usize;
            if !matches!(self.operators[at].kind, Kind::Atom(_) | Kind::First) {
                self.settle(at);
            }
        }
    }

    /// The truth at a position, if it is settled.
    #[inline]
    pub(super) fn known(&self, edge: Edge, at: u64) -> Option<bool> {
        if at < self.len { known(&self.cells, edge, at) } else { None }
    }

    /// Forgets what nobody will read again. `needs` are operators and the first position at which they are still asked
    /// for.
    pub(super) fn forget(&mut self, needs: impl Iterator<Item = (Edge, u64)>) {
        let mut need: Vec<u64> = vec![u64::MAX; self.cells.len()];
        for (edge, from) in needs {
            need[edge.op()] = need[edge.op()].min(from);
        }
        // The last position may be asked for what is known of it now.
        let last = self.len.saturating_sub(1);
        let mut times = last;
        for (cell, fixed) in self.cells.iter().zip(&*self.operators).filter(|(cell, _)| cell.live) {
            times = times.min(cell.times_from(fixed.kind));
            for operand in fixed.kind.operands() {
                need[operand.op()] = need[operand.op()].min(cell.operands_from(fixed.kind));
            }
        }
        self.times.forget(times);
        for (cell, need) in self.cells.iter_mut().zip(need).filter(|(cell, _)| cell.live) {
            cell.out.forget(need.min(last));
        }
    }

    /// Whether the truth of an operator is held from a position on.
    pub(super) fn holds_from(&self, edge: Edge, from: u64) -> bool {
        edge.op() == 0 || self.cells[edge.op()].out.base() <= from
    }

    pub(super) fn heap_bytes(&self) -> usize {
        // Positions that are open are a bit each, at the latest when they are settled.
        let open = |cell: &Cell| if cell.live { (self.len - cell.out.end()) / 8 } else { 0 } as usize;
        let past = |past: &Witnesses| size_of::<Witnesses>() + past.waiting.capacity() * 8;
        let cell = |cell: &Cell| cell.out.heap_bytes() + cell.past.as_deref().map_or(0, past) + open(cell);
        let cells = self.cells[1..].iter().map(cell);
        self.times.heap_bytes() + cells.sum::<usize>() + self.cells.capacity() * size_of::<Cell>()
    }

    /// The earliest time whose passing may settle an operator somewhere, if one waits for time. What has passed already
    /// does not count: who still waits then waits for operands, whose own time is among these.
    pub(super) fn next_deadline(&self) -> Option<i64> {
        if self.ended || !self.times.stamped() {
            return None;
        }
        let mut earliest: Option<i64> = None;
        for &at in &*self.live {
            let high = match self.operators[at as usize].kind {
                Kind::Until(ticks, ..) | Kind::Next(ticks, _) => ticks.high,
                Kind::Beyond(ticks, ..) => ticks,
                _ => continue,
            };
            let open = self.cells[at as usize].out.end();
            if high == i64::MAX || open >= self.len {
                continue;
            }
            let (mut from, mut to) = (open, self.len);
            // The first position that is open and whose time is still to come.
            while from < to && self.passed.is_some() {
                let middle = from + (to - from) / 2;
                match Some(self.times.at(middle).saturating_add(high)) <= self.passed {
                    true => from = middle + 1,
                    false => to = middle,
                }
            }
            if from < self.len {
                let due = self.times.at(from).saturating_add(high);
                earliest = Some(earliest.map_or(due, |earliest| earliest.min(due)));
            }
        }
        earliest
    }

    /// The last time that is known to be reached.
    pub(super) fn passed(&self) -> Option<i64> {
        self.passed
    }
}

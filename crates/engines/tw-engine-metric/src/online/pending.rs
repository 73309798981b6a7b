//! What open positions wait for.

use super::graph::{Edge, Kind};
use super::network::Network;
use super::{Online, Told};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use tw_core::Position;
use tw_ir::NodeId;

/// An open obligation: a subformula whose truth at a position is not settled, and on which a root depends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Open {
    /// The position that it is about. For what is left of an unbounded future, the last position read into it.
    pub position: Position,
    /// The subformula, as the user wrote it.
    pub node: Option<NodeId>,
    /// The time after which it is settled at the latest, if time alone settles it; a position where positions are the
    /// clock.
    pub deadline: Option<i64>,
}

/// Obligations listed for one root.
pub const OBLIGATIONS: usize = 100;

/// Positions looked at for one root: more are open only where the future is unbounded or windows are huge.
const POSITIONS: u64 = 1 << 20;

impl Online {
    /// What a root waits for: the verdicts about positions that were not told, or without them the verdict of the
    /// property. The most urgent comes first: by deadline, what has none last, then by position. At most [`OBLIGATIONS`].
    pub fn pending(&self, root: usize) -> Vec<Open> {
        let root = &self.roots[root];
        let mut search = Search::new(&self.network);
        match root.each {
            Some(edge) => search.look(&[edge], root.told),
            None if root.verdict.is_none() => {
                for part in root.parts.iter().filter(|part| part.verdict.is_none()) {
                    search.look(&part.atoms, part.row);
                }
            }
            None => {}
        }
        let mut open = search.found();
        if root.each.is_none() && root.verdict.is_none() {
            open.extend(unbounded(root));
        }
        open.sort_by_key(|open| {
            (open.deadline.is_none(), open.deadline, open.position, open.node.map(|node| node.0))
        });
        open.dedup();
        open.truncate(OBLIGATIONS);
        open
    }
}

/// What is left of the unbounded future.
fn unbounded(root: &Told) -> impl Iterator<Item = Open> {
    let open = root.parts.iter().filter(|part| part.verdict.is_none() && part.row > 0);
    open.flat_map(|part| {
        let position = (part.row - 1) as Position;
        part.owed().filter(|&node| node != root.node).map(move |node| Open {
            position,
            node: Some(node),
            deadline: None,
        })
    })
}

/// A search for open obligations, each operator's earliest ones.
struct Search<'n> {
    network: &'n Network,
    open: FxHashMap<usize, BTreeSet<u64>>,
}

impl<'n> Search<'n> {
    fn new(network: &'n Network) -> Self {
        Self { network, open: FxHashMap::default() }
    }

    /// Adds what the truth of operators from a position on waits for.
    fn look(&mut self, edges: &[Edge], from: u64) {
        // Deadlines of one operator follow positions, so that its first ones are enough.
        let waiting = self.waiting(edges);
        let full = |search: &Self| {
            waiting.iter().all(|op| search.open.get(op).is_some_and(|open| open.len() == OBLIGATIONS))
        };
        for at in from..self.network.len.min(from.saturating_add(POSITIONS)) {
            if full(self) {
                break;
            }
            edges.iter().for_each(|&edge| self.blame(edge, at));
        }
    }

    /// Operators below the given ones that wait for time or positions.
    fn waiting(&self, edges: &[Edge]) -> Vec<usize> {
        let (mut todo, mut seen) = (edges.to_vec(), FxHashSet::default());
        let mut found = Vec::new();
        while let Some(edge) = todo.pop() {
            let cell = &self.network.cells[edge.op()];
            if !seen.insert(edge.op()) || cell.out.end() == self.network.len {
                continue;
            }
            let kind = self.network.operators[edge.op()].kind;
            match kind {
                Kind::Next(..) | Kind::Until(..) | Kind::Beyond(..) | Kind::Last => found.push(edge.op()),
                _ => {}
            }
            todo.extend(kind.operands());
        }
        found
    }

    /// Adds what the truth of `edge` at `position` waits for, unless it is decided though not yet settled.
    fn blame(&mut self, edge: Edge, position: u64) {
        let (mut todo, mut seen) = (vec![(edge, position)], FxHashSet::default());
        while let Some((edge, at)) = todo.pop() {
            if at >= self.network.len
                || self.network.decided(edge, at).is_some()
                || !seen.insert((edge.op(), at))
            {
                continue;
            }
            let cell = &self.network.cells[edge.op()];
            match self.network.operators[edge.op()].kind {
                Kind::And(a, b) | Kind::Xor(a, b) => todo.extend([(a, at), (b, at)]),
                Kind::Previous(_, a) => todo.push((a, self.stuck(a, at.saturating_sub(1)))),
                // Since is settled in order, and stands where its operands are not.
                Kind::Since(_, a, b) => {
                    let read = cell.read.min(at);
                    todo.extend([(a, self.stuck(a, read)), (b, self.stuck(b, read))]);
                }
                Kind::Next(_, a) if at + 1 < self.network.len => todo.push((a, self.stuck(a, at + 1))),
                Kind::Next(..) | Kind::Until(..) | Kind::Beyond(..) | Kind::Last => {
                    let open = self.open.entry(edge.op()).or_default();
                    open.insert(at);
                    if open.len() > OBLIGATIONS {
                        open.pop_last();
                    }
                }
                Kind::True | Kind::Atom(_) | Kind::First => {}
            }
        }
    }

    /// Where a connective that a temporal operator reads at `at` waits: it is settled in order.
    fn stuck(&self, edge: Edge, at: u64) -> u64 {
        let cell = &self.network.cells[edge.op()];
        let kind = self.network.operators[edge.op()].kind;
        if matches!(kind, Kind::And(..) | Kind::Xor(..)) { cell.out.end().min(at) } else { at }
    }

    fn found(self) -> Vec<Open> {
        let network = self.network;
        let list = |(op, open): (usize, BTreeSet<u64>)| {
            let fixed = &network.operators[op];
            let ticks = fixed.delay.filter(|delay| delay.positions == 0).map(|delay| delay.ticks);
            open.into_iter().map(move |at| {
                let deadline = ticks.map(|ticks| network.times.at(at).saturating_add(ticks));
                Open { position: at as Position, node: fixed.node, deadline }
            })
        };
        self.open.into_iter().flat_map(list).collect()
    }
}

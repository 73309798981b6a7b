//! Formulas in the syntax of the table: true, predicates, not, or, U and S.

use super::Row;
use crate::Robust;
use crate::plan::ticks;
use rustc_hash::FxHashMap;
use tw_ir::{Applied, Node, NodeId, Ticks, Way};
use tw_monitor::Unsupported;

/// The rows that `root` rests on: an interval that leaves nothing, say, makes its operands useless.
fn kept(rows: &[Row], root: usize) -> (Vec<Row>, usize) {
    let mut needed = vec![false; root + 1];
    needed[root] = true;
    for at in (0..=root).rev() {
        if let (true, Row::Not(a)) = (needed[at], rows[at]) {
            needed[a] = true;
        }
        if let (true, Row::Or(a, b) | Row::Until(_, _, a, b) | Row::Since(_, _, a, b)) =
            (needed[at], rows[at])
        {
            (needed[a], needed[b]) = (true, true);
        }
    }
    let mut place = vec![0; root + 1];
    let mut kept = Vec::new();
    for at in (0..=root).filter(|&at| needed[at]) {
        place[at] = kept.len();
        kept.push(match rows[at] {
            Row::Not(a) => Row::Not(place[a]),
            Row::Or(a, b) => Row::Or(place[a], place[b]),
            Row::Until(l, u, a, b) => Row::Until(l, u, place[a], place[b]),
            Row::Since(l, u, a, b) => Row::Since(l, u, place[a], place[b]),
            leaf => leaf,
        });
    }
    let root = kept.len() - 1;
    (kept, root)
}

/// Rows, each stored once.
#[derive(Default)]
pub(super) struct Rows {
    rows: Vec<Row>,
    index: FxHashMap<Row, usize>,
}

impl Rows {
    fn add(&mut self, row: Row) -> usize {
        *self.index.entry(row).or_insert_with(|| {
            self.rows.push(row);
            self.rows.len() - 1
        })
    }

    fn not(&mut self, a: usize) -> usize {
        match self.rows[a] {
            Row::Not(inner) => inner,
            _ => self.add(Row::Not(a)),
        }
    }

    fn and(&mut self, a: usize, b: usize) -> usize {
        let (a, b) = (self.not(a), self.not(b));
        let or = self.add(Row::Or(a, b));
        self.not(or)
    }

    /// The rows of `node`, its own last.
    pub(super) fn of(robust: &Robust, node: NodeId) -> Result<(Vec<Row>, usize), Unsupported> {
        let mut rows = Rows::default();
        let mut row_of: FxHashMap<NodeId, usize> = FxHashMap::default();
        let mut formulas: Vec<NodeId> = robust.plan.of.keys().copied().collect();
        formulas.sort_unstable();
        let below = robust.program.reachable(&[node]);
        for id in formulas.into_iter().filter(|id| below.binary_search(id).is_ok()) {
            let made = match robust.plan.predicates.binary_search(&id) {
                Ok(predicate) => rows.add(Row::Predicate(predicate)),
                Err(_) => rows.formula(robust, id, &row_of)?,
            };
            row_of.insert(id, made);
        }
        Ok(kept(&rows.rows, row_of[&node]))
    }

    fn formula(
        &mut self,
        robust: &Robust,
        id: NodeId,
        of: &FxHashMap<NodeId, usize>,
    ) -> Result<usize, Unsupported> {
        let node = robust.program.dag.node(id);
        let Ticks { low, high } = ticks(id, node, &robust.options)?;
        let interval = (crate::clock::size(low), (high < i64::MAX).then(|| crate::clock::size(high)));
        let at = |id: NodeId| of[&id];
        let always = self.add(Row::True);
        if let Some(operator) = node.temporal() {
            return self.temporal(id, operator, interval, of);
        }
        Ok(match node {
            Node::Bool(true) => always,
            Node::Bool(false) => self.not(always),
            Node::Not(a) => self.not(at(a)),
            Node::Or(a, b) => self.add(Row::Or(at(a), at(b))),
            Node::And(a, b) => self.and(at(a), at(b)),
            Node::Implies(a, b) => self.implies(at(a), at(b)),
            Node::Iff(a, b) => self.iff(at(a), at(b)),
            Node::Xor(a, b) => {
                let iff = self.iff(at(a), at(b));
                self.not(iff)
            }
            Node::First => {
                let previous = self.add(Row::Since(1, Some(1), always, always));
                self.not(previous)
            }
            Node::Last => {
                let next = self.add(Row::Until(1, 1, always, always));
                self.not(next)
            }
            _ => return Err(Unsupported::construct(id, format!("`{}` in a table", node.operator()))),
        })
    }

    fn temporal(
        &mut self,
        id: NodeId,
        operator: Applied,
        interval: (usize, Option<usize>),
        of: &FxHashMap<NodeId, usize>,
    ) -> Result<usize, Unsupported> {
        let always = self.add(Row::True);
        let at = |rows: &mut Self, id: NodeId, dual: bool| if dual { rows.not(of[&id]) } else { of[&id] };
        let Some(Way { dual, hold, goal: (goal, beside) }) = operator.way() else {
            let body = at(self, operator.right, operator.weak);
            // The neighbour is one sample away: an interval without 1 leaves nothing.
            let inside = interval.0 <= 1 && interval.1.is_none_or(|high| high >= 1);
            let strong = match operator.interval.is_none() || inside {
                true if operator.past => self.add(Row::Since(1, Some(1), always, body)),
                true => self.add(Row::Until(1, 1, always, body)),
                false => self.not(always),
            };
            return Ok(if operator.weak { self.not(strong) } else { strong });
        };
        let hold = hold.map_or(always, |hold| at(self, hold, dual));
        let goal = match beside {
            Some(beside) if dual => {
                let either = self.add(Row::Or(of[&goal], of[&beside]));
                self.not(either)
            }
            Some(beside) => self.and(of[&goal], of[&beside]),
            None => at(self, goal, dual),
        };
        let way = self.way(id, operator.past, interval, hold, goal)?;
        Ok(if dual { self.not(way) } else { way })
    }

    fn implies(&mut self, a: usize, b: usize) -> usize {
        let not = self.not(a);
        self.add(Row::Or(not, b))
    }

    fn iff(&mut self, a: usize, b: usize) -> usize {
        let (forth, back) = (self.implies(a, b), self.implies(b, a));
        self.and(forth, back)
    }

    fn way(
        &mut self,
        id: NodeId,
        past: bool,
        (low, high): (usize, Option<usize>),
        hold: usize,
        goal: usize,
    ) -> Result<usize, Unsupported> {
        match (past, high) {
            (true, high) => Ok(self.add(Row::Since(low, high, hold, goal))),
            (false, Some(high)) => Ok(self.add(Row::Until(low, high, hold, goal))),
            (false, None) => Err(Unsupported::construct(id, "an unbounded future in a table")
                .help("give the operator an interval: F[0,100]")),
        }
    }
}

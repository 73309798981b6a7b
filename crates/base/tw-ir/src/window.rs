//! Rolling windows: what an aggregate says of the latest positions, as a column of its own.

use crate::{
    Aggregate, Bound, Clock, IntervalError, Measure, Node, NodeId, Path, Program, Shift, Slot, SlotId,
    Timing, What,
};
use rustc_hash::{FxHashMap, FxHashSet};
use tw_core::TimeUnit;

/// `agg[e over L]`: at each position, the aggregate over this position and those before it that are near enough.
#[derive(Clone, Debug, PartialEq)]
pub struct Window {
    /// Which aggregate; never `histogram` or `corr`.
    pub aggregate: Aggregate,
    /// What is aggregated: of a count a formula, otherwise a term. Past operators may occur in it.
    pub body: NodeId,
    /// Where: `φ` of `φ : e`.
    pub guard: Option<NodeId>,
    /// How far back.
    pub over: Over,
    /// How it is written.
    pub text: String,
    /// Whose positions are counted: those that share a value of this column; `None` for those of the trace as it is divided.
    pub per: Option<Path>,
}

/// How far back a window reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Over {
    /// So many positions, this one included; never 0.
    Positions(u64),
    /// The positions that are no longer ago than this; it has a unit.
    Time(Bound),
}

impl Window {
    /// The nodes that it stands on.
    pub fn parts(&self) -> impl Iterator<Item = NodeId> {
        std::iter::once(self.body).chain(self.guard)
    }
}

impl Over {
    /// The greatest distance inside, in positions or nanoseconds.
    pub fn reach(self) -> Result<i64, IntervalError> {
        match self {
            Over::Positions(count) => {
                i64::try_from(count.saturating_sub(1)).map_err(|_| IntervalError::OutOfRange)
            }
            Over::Time(bound) => bound.ticks(Clock::Stamps, TimeUnit::Seconds),
        }
    }

    /// Whether it is measured by timestamps.
    pub fn is_time(self) -> bool {
        matches!(self, Over::Time(_))
    }
}

impl std::fmt::Display for Over {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Over::Positions(count) => write!(f, "{count}"),
            Over::Time(bound) => bound.fmt(f),
        }
    }
}

impl Program {
    /// Makes what looks at neighbours that of each query's own parts: queries that divide the trace by different columns have
    /// different neighbours. That is the time since the previous position, and rolling windows.
    pub fn divide_neighbours(&mut self) {
        for root in 0..self.roots.len() {
            let Some(by) = self.roots[root].division.by.clone() else { continue };
            self.roots[root].node = self.per_key(self.roots[root].node, &by, false);
        }
    }

    /// The same node with what looks at neighbours counted in the positions that share a value of this column; `shifts` says
    /// whether values at other positions are, too.
    pub fn per_key(&mut self, node: NodeId, by: &Path, shifts: bool) -> NodeId {
        // Those that the node stands on, also inside windows.
        let (mut found, mut seen, mut todo) = (Vec::new(), FxHashSet::default(), vec![node]);
        while let Some(next) = todo.pop() {
            for id in self.reachable(&[next]) {
                let (Node::Slot(slot) | Node::Truth(slot)) = self.dag.node(id) else { continue };
                if !seen.insert(slot) {
                    continue;
                }
                match &self.slots[slot as usize].what {
                    What::Window(window) => todo.extend(window.parts()),
                    What::Timing(Timing { measure: Measure::Elapsed, by: None, .. }) => {}
                    What::Shift(Shift { per: None, .. }) if shifts => {}
                    _ => continue,
                }
                found.push(slot);
            }
        }
        if found.is_empty() {
            return node;
        }
        // What a window stands on has a slot before its own.
        found.sort_unstable();
        let mut places: FxHashMap<SlotId, SlotId> = FxHashMap::default();
        for slot in found {
            let what = match self.slots[slot as usize].what.clone() {
                What::Window(window) => {
                    let body = self.with_slots(window.body, &places);
                    let guard = window.guard.map(|guard| self.with_slots(guard, &places));
                    let per = window.per.clone().or_else(|| Some(by.clone()));
                    What::Window(Window { body, guard, per, ..window })
                }
                What::Timing(timing) => What::Timing(Timing { by: Some(by.clone()), ..timing }),
                What::Shift(shift) => What::Shift(Shift { per: Some(by.clone()), ..shift }),
                other => other,
            };
            let own = self.slots.iter().position(|slot| slot.what == what).unwrap_or_else(|| {
                let span = self.slots[slot as usize].span;
                self.slots.push(Slot { what, declared: true, span });
                self.slots.len() - 1
            });
            places.insert(slot, own as SlotId);
        }
        self.with_slots(node, &places)
    }

    /// A node over other slots.
    fn with_slots(&mut self, node: NodeId, slots: &FxHashMap<SlotId, SlotId>) -> NodeId {
        let mut places: FxHashMap<NodeId, NodeId> = FxHashMap::default();
        for id in self.reachable(&[node]) {
            let place = |slot: SlotId| slots.get(&slot).copied().unwrap_or(slot);
            let made = match self.dag.node(id) {
                Node::Slot(slot) => Node::Slot(place(slot)),
                Node::Truth(slot) => Node::Truth(place(slot)),
                other => other.with_children(|child| places[&child]),
            };
            let place = self.dag.add(made);
            self.spans.resize(self.dag.len(), None);
            self.spans[place.index()] = self.spans[place.index()].or(self.spans[id.index()]);
            places.insert(id, place);
        }
        places[&node]
    }
}

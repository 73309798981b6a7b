//! Why a formula holds, or fails, at an instant of continuous time.
//!
//! A claim is about one instant (or all instants strictly between two neighbouring nanoseconds, which nothing tells
//! apart) or about a stretch; it rests on claims about its operands, where and when they decide it. Stretches are
//! leaves: they are read off the signal.

use crate::formula::Formulas;
use crate::reading::segment_signals;
use crate::{Reading, Run, Signal, Window};
use std::ops::Range;
use tw_core::Position;
use tw_ir::{Applied, Node, NodeId, Program, Way};
use tw_monitor::{EvaluateOptions, Trace, Unsupported};

/// `node` has the truth `holds` at every instant of `when`.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// The formula.
    pub node: NodeId,
    /// Its truth.
    pub holds: bool,
    /// The instants.
    pub when: Run,
    /// The claims that it rests on: places in the list, greater than this claim's own. None at leaves.
    pub children: Vec<usize>,
}

/// An operand, or its negation.
type Literal = (NodeId, bool);

/// What a claim rests on: a formula, its truth, a range of cells.
type Part = (NodeId, bool, (u64, u64));

/// Why `root` holds or fails when the segment begins, its positions being states. At most `limit` claims; what has no
/// room is left unexplained.
pub fn explain(
    program: &Program,
    root: NodeId,
    trace: &Trace,
    segment: Range<Position>,
    options: &EvaluateOptions,
    limit: usize,
) -> Result<Vec<Claim>, Unsupported> {
    let ready = Formulas::new(program, &[root], options.unit, options.memory_budget)?;
    let nodes: Vec<(NodeId, Node, Window, bool)> =
        ready.nodes().map(|(id, node, window, atom)| (id, node, window, atom.is_some())).collect();
    let ids: Vec<NodeId> = nodes.iter().map(|node| node.0).collect();
    let mut formulas = Formulas::new(program, &ids, options.unit, options.memory_budget)?;
    let signals = segment_signals(&mut formulas, trace, segment, Reading::States)?;
    let why = Why { nodes, signals };
    let mut claims = vec![why.claim(root, (0, 1), &mut Vec::new())];
    let mut parts: Vec<Part> = vec![(root, claims[0].holds, (0, 1))];
    let mut at = 0;
    while at < claims.len() {
        let (node, holds, range) = parts[at];
        // A stretch is a leaf.
        if range.1 - range.0 == 1 {
            let children = why.rests_on(node, holds, range.0);
            if claims.len() + children.len() <= limit {
                for part in children {
                    let child = claims.len();
                    claims[at].children.push(child);
                    let claim = why.claim(part.0, part.2, &mut parts);
                    claims.push(claim);
                }
            }
        }
        at += 1;
    }
    Ok(claims)
}

/// The formulas with their signals, ascending.
struct Why {
    nodes: Vec<(NodeId, Node, Window, bool)>,
    signals: Vec<Signal>,
}

impl Why {
    fn place(&self, id: NodeId) -> usize {
        self.nodes.binary_search_by_key(&id, |node| node.0).unwrap_or_default()
    }

    fn of(&self, id: NodeId) -> &Signal {
        &self.signals[self.place(id)]
    }

    fn claim(&self, node: NodeId, range: (u64, u64), parts: &mut Vec<Part>) -> Claim {
        let signal = self.of(node);
        let holds = signal.at_cell(range.0);
        parts.push((node, holds, range));
        Claim { node, holds, when: signal.span().run(range.0, range.1), children: Vec::new() }
    }

    /// The first cell of `range` (the last, if not `ahead`) where the formula is `value`.
    fn find(&self, id: NodeId, value: bool, range: (u64, u64), ahead: bool) -> Option<u64> {
        let pairs = self.of(id).pairs(value);
        if ahead {
            let [from, _] = *pairs.get(pairs.partition_point(|pair| pair[1] <= range.0))?;
            Some(from.max(range.0)).filter(|&cell| cell < range.1)
        } else {
            let [_, to] = *pairs.get(pairs.partition_point(|pair| pair[0] < range.1).checked_sub(1)?)?;
            Some(to.min(range.1) - 1).filter(|&cell| cell >= range.0)
        }
    }

    /// What the truth of a formula in one cell rests on.
    fn rests_on(&self, id: NodeId, holds: bool, cell: u64) -> Vec<Part> {
        use Node::*;
        let (_, node, window, atom) = self.nodes[self.place(id)];
        if atom {
            return Vec::new();
        }
        let here = |id: NodeId| (id, self.of(id).at_cell(cell), (cell, cell + 1));
        // One side suffices if it has the deciding truth; otherwise both matter.
        let decided = |a: Literal, b: Literal, deciding: bool| {
            let truth = |(id, negated): Literal| self.of(id).at_cell(cell) ^ negated;
            match (truth(a) == deciding, truth(b) == deciding) {
                (true, _) => vec![here(a.0)],
                (_, true) => vec![here(b.0)],
                _ => vec![here(a.0), here(b.0)],
            }
        };
        let (plain, not) = (|id| (id, false), |id| (id, true));
        // `W M B` are abbreviations of formulas that were not written: what they say is enough.
        if let Some(Way { dual, hold, goal: (goal, None) }) = node.temporal().and_then(Applied::way) {
            let ahead = node.is_future();
            return self.reach(
                hold.map(|hold| (hold, dual)),
                (goal, dual),
                holds != dual,
                (cell, window, ahead),
            );
        }
        match node {
            Not(a) => vec![here(a)],
            And(a, b) => decided(plain(a), plain(b), false),
            Or(a, b) => decided(plain(a), plain(b), true),
            Implies(a, b) => decided(not(a), plain(b), true),
            Xor(a, b) | Iff(a, b) => vec![here(a), here(b)],
            _ => Vec::new(),
        }
    }

    /// Until or since, seen from a cell: the goal that is met and what held up to there, or what failed.
    fn reach(
        &self,
        hold: Option<Literal>,
        goal: Literal,
        holds: bool,
        (cell, window, ahead): (u64, Window, bool),
    ) -> Vec<Part> {
        let cells = self.of(goal.0).span().cells();
        let seen = match ahead {
            true => (window.after_from(cell, cells), window.after_to(cell + 1, cells)),
            false => (window.before_from(cell), window.before_to(cell + 1)),
        };
        let nearest = self.find(goal.0, !goal.1, seen, ahead);
        // The cells from here to a goal; its own is among them if its instants come one before another.
        let up_to = |there: u64| {
            let own = u64::from(there % 2 == 1 && !(there == cell && window.has_zero()));
            if ahead { (cell, there + own) } else { (there + 1 - own, cell + 1) }
        };
        let stretch = |(id, negated): Literal, truth: bool, range: (u64, u64)| {
            (range.0 < range.1).then_some((id, truth ^ negated, range))
        };
        let parts = match (holds, nearest, hold) {
            (true, Some(there), None) => vec![Some((goal.0, !goal.1, (there, there + 1)))],
            (true, Some(there), Some(hold)) => {
                vec![Some((goal.0, !goal.1, (there, there + 1))), stretch(hold, true, up_to(there))]
            }
            (false, None, _) => vec![stretch(goal, false, seen)],
            (false, Some(there), Some(hold)) => match self.find(hold.0, hold.1, up_to(there), ahead) {
                Some(gap) => {
                    let before = match ahead {
                        true => (seen.0, (gap + 1).min(there)),
                        false => (gap.max(there + 1), seen.1),
                    };
                    vec![Some((hold.0, hold.1, (gap, gap + 1))), stretch(goal, false, before)]
                }
                None => Vec::new(),
            },
            _ => Vec::new(),
        };
        parts.into_iter().flatten().collect()
    }
}

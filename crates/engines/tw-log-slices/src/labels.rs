//! Whether positions at which nothing happens can be left out.
//!
//! A position is *empty* if no event pattern of the formula has a tuple there and no predicate is true. Of each subformula it is
//! computed whether it is false at every empty position, whether it is true at every one, and whether its value at the others is
//! the same after empty ones have been left out. What violates a property must be false at empty positions, and the same at
//! others.

use std::collections::BTreeMap;
use tw_ir::{Applied, Clock, Interval, Node, NodeId, Program};
use tw_monitor::EvaluateOptions;

/// What is known of a formula and empty positions, for all values of its variables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Labels {
    /// False at every empty position.
    pub never: bool,
    /// True at every empty position.
    pub always: bool,
    /// The same at the other positions when empty ones are left out.
    pub kept: bool,
}

impl Labels {
    fn not(self) -> Labels {
        Labels { never: self.always, always: self.never, ..self }
    }

    fn or(self, other: Labels) -> Labels {
        Labels {
            never: self.never && other.never,
            always: self.always || other.always,
            kept: self.kept && other.kept,
        }
    }

    fn and(self, other: Labels) -> Labels {
        self.not().or(other.not()).not()
    }
}

/// The labels of a formula.
pub fn labels(program: &Program, root: NodeId, options: &EvaluateOptions) -> Labels {
    let dag = &program.dag;
    let atoms = program.atoms();
    let mut known: BTreeMap<NodeId, Labels> = BTreeMap::new();
    for id in program.reachable(&[root]) {
        let of = |id: NodeId| known.get(&id).copied().unwrap_or_default();
        let node = dag.node(id);
        let own = match node {
            Node::Pattern(_) => Labels { never: true, always: false, kept: true },
            _ if atoms.binary_search(&id).is_ok() => Labels { never: true, always: false, kept: true },
            Node::Bool(value) => Labels { never: !value, always: value, kept: true },
            // Which position is the first, or the last, is what filtering changes.
            Node::First | Node::Last => Labels::default(),
            Node::Not(a) => of(a).not(),
            Node::And(a, b) => of(a).and(of(b)),
            Node::Or(a, b) => of(a).or(of(b)),
            Node::Implies(a, b) => of(a).not().or(of(b)),
            Node::Iff(a, b) => either(of(a), of(b)).not(),
            Node::Xor(a, b) => either(of(a), of(b)),
            Node::Forall(_, a) | Node::Exists(_, a) => of(a),
            _ => match node.temporal() {
                Some(applied) => {
                    Labels { kept: temporal(program, applied, &of, options), ..Labels::default() }
                }
                // Terms, and comparisons of them: what they are at an empty position is not known.
                None => Labels { kept: node.children().all(|child| of(child).kept), ..Labels::default() },
            },
        };
        known.insert(id, own);
    }
    known.get(&root).copied().unwrap_or_default()
}

/// Exactly one of the two.
fn either(a: Labels, b: Labels) -> Labels {
    a.and(b.not()).or(a.not().and(b))
}

/// Whether a temporal operator is the same at positions that are left.
fn temporal(
    program: &Program,
    applied: Applied,
    of: &impl Fn(NodeId) -> Labels,
    options: &EvaluateOptions,
) -> bool {
    // Distances in positions change, and so do neighbours.
    if applied.interval.is_some() && options.clock != Clock::Stamps {
        return false;
    }
    let Some(way) = applied.way() else { return false };
    let side = |labels: Labels| if way.dual { labels.not() } else { labels };
    let hold = way.hold.map_or(Labels { never: false, always: true, kept: true }, |hold| side(of(hold)));
    let goal = match way.goal {
        (one, None) => side(of(one)),
        (one, Some(other)) => side(of(one)).and(side(of(other))),
    };
    (hold.kept && hold.always && goal.kept && goal.never) || nested(program, applied, of, options)
}

/// `O F φ` and `F O φ` over intervals that begin at 0, and their duals: a position at which nothing happens can be exchanged for
/// one at which something does, the one that is asked or the one that answers.
fn nested(
    program: &Program,
    outer: Applied,
    of: &impl Fn(NodeId) -> Labels,
    options: &EvaluateOptions,
) -> bool {
    let Some(inner) = program.dag.node(outer.right).temporal() else { return false };
    let alone = |applied: Applied| applied.left.is_none() && applied.way().is_some();
    let dual = |applied: Applied| applied.way().is_some_and(|way| way.dual);
    let from_now = |interval: Option<Interval>| {
        interval.is_none_or(|own| own.ticks(Clock::Stamps, options.unit).is_ok_and(|ticks| ticks.low == 0))
    };
    if !alone(outer) || !alone(inner) || outer.past == inner.past || dual(outer) != dual(inner) {
        return false;
    }
    if inner.interval.is_some() && options.clock != Clock::Stamps {
        return false;
    }
    let body = if dual(outer) { of(inner.right).not() } else { of(inner.right) };
    from_now(outer.interval) && from_now(inner.interval) && body.kept && body.never
}

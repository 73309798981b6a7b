//! Statistics on the runs of a formula's automaton over a trace.
//!
//! "Checking Finite Traces using Alternating Automata" lets its traversals carry values of a semiring
//! ([`crate::semiring`]). The *definition* of a statistic is the value of the tree of runs, which depth-first and
//! reverse traversal compute, with past nodes in any nesting:
//!
//! - eps is worth `top`; both of two is `meet`, either of two is `join`;
//! - a node whose label is false is worth `bottom`; a literal `update(top, node)`; a future node what its next
//!   automaton is worth at the next position, updated by the node, and at the last position `update(top, node)` if it
//!   accepts, else `bottom`; past nodes alike towards the first position.
//!
//! Breadth-first traversal merges equal nodes of a slice, so its value is *per slice*: equal for idempotent `meet`
//! (truth, coverage), at most the tree's for counted visits, and of no use for counting runs. Of several segments the
//! values are met: visits add up, and covered is what some segment covers.
//!
//! Costs are those of the traversals, times the cost of a value: constant for counts, |φ|/64 words for coverage.

mod instances;

pub use instances::{Covered, Fewest, Rejecting, Runs};

use crate::breadth::{Limits, Stored};
use crate::depth::Search;
use crate::goals::{Goals, Segment};
use crate::reverse::{Place, Sweep};
use crate::semiring::{Boolean, Semiring};
use tw_automata::alternating::{Alternating, NodeIndex};
use tw_ir::{NodeId, Program};
use tw_monitor::{EvaluateOptions, Trace, Unsupported};

/// In which order nodes and positions are visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Traversal {
    /// From the first position, until it is decided.
    DepthFirst,
    /// All runs at once, forwards.
    BreadthFirst,
    /// From the last position.
    Reverse,
}

impl Traversal {
    /// All of them.
    pub const ALL: [Traversal; 3] = [Traversal::DepthFirst, Traversal::BreadthFirst, Traversal::Reverse];
}

/// What a formula's accepting runs have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coverage {
    /// Subformulas (and whether they are negated) whose nodes every accepting run visits.
    pub covered: Vec<(NodeId, bool)>,
    /// Those of all nodes of the automaton.
    pub all: Vec<(NodeId, bool)>,
}

/// What a traversal did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Whether the formula holds (in every segment).
    pub holds: bool,
    /// Visits of nodes, depth-first and in reverse.
    pub visits: u64,
    /// The most slices that a position had, breadth-first.
    pub max_slices: usize,
    /// Slices over all positions, breadth-first.
    pub slices: u64,
}

/// The fewest visits to rejecting nodes that an accepting run needs; `None` if there is no accepting run.
pub fn rejecting(
    program: &Program,
    root: NodeId,
    trace: &Trace,
    options: &EvaluateOptions,
    traversal: Traversal,
) -> Result<Option<u64>, Unsupported> {
    match value(program, root, trace, options, traversal, Rejecting::new)? {
        Fewest::Count(count) => Ok(Some(count)),
        Fewest::None => Ok(None),
        Fewest::Overflow => Err(Unsupported::budget(format!("more than {} visits", u64::MAX))),
    }
}

/// The nodes that every accepting run visits; `None` if there is no accepting run.
pub fn coverage(
    program: &Program,
    root: NodeId,
    trace: &Trace,
    options: &EvaluateOptions,
    traversal: Traversal,
) -> Result<Option<Coverage>, Unsupported> {
    let goals = Goals::stored(program, &[root], options)?;
    let semiring = Covered::new(&goals.automaton);
    let Some(bits) = traverse(&goals, &semiring, trace, options, traversal)?.0 else { return Ok(None) };
    let reachable = goals.automaton.reachable(goals.exprs[0]);
    let origin = |index: &NodeIndex| goals.automaton.node(*index).origin;
    let is_covered = |index: &&NodeIndex| bits[index.index() / 64] >> (index.index() % 64) & 1 == 1;
    let covered = reachable.iter().filter(is_covered).map(origin).collect();
    Ok(Some(Coverage { covered, all: reachable.iter().map(origin).collect() }))
}

/// How many accepting runs there are; `u64::MAX` is that or more.
pub fn runs(
    program: &Program,
    root: NodeId,
    trace: &Trace,
    options: &EvaluateOptions,
    traversal: Traversal,
) -> Result<u64, Unsupported> {
    value(program, root, trace, options, traversal, |_| Runs)
}

/// What the runs are worth in any semiring, made for the formula's automaton.
pub fn value<S: Semiring>(
    program: &Program,
    root: NodeId,
    trace: &Trace,
    options: &EvaluateOptions,
    traversal: Traversal,
    semiring: impl FnOnce(&Alternating) -> S,
) -> Result<S::Value, Unsupported> {
    let goals = Goals::stored(program, &[root], options)?;
    Ok(traverse(&goals, &semiring(&goals.automaton), trace, options, traversal)?.0)
}

/// What it takes to check the formula. With `options.faithful` the published traversals are counted: loops first and
/// nothing remembered depth-first, all slices breadth-first.
pub fn cost(
    program: &Program,
    root: NodeId,
    trace: &Trace,
    options: &EvaluateOptions,
    traversal: Traversal,
) -> Result<Cost, Unsupported> {
    let goals = Goals::stored(program, &[root], options)?;
    let (holds, cost) = traverse(&goals, &Boolean, trace, options, traversal)?;
    Ok(Cost { holds, ..cost })
}

/// What the runs of the (one) goal over all segments are worth, and what it took to find out.
fn traverse<S: Semiring>(
    goals: &Goals,
    semiring: &S,
    trace: &Trace,
    options: &EvaluateOptions,
    traversal: Traversal,
) -> Result<(S::Value, Cost), Unsupported> {
    let (automaton, root, budget) = (&goals.automaton, goals.exprs[0], options.memory_budget);
    let mut total = semiring.top();
    let mut cost = Cost::default();
    match traversal {
        Traversal::DepthFirst => {
            let mut search = Search::new(automaton, semiring, trace.len, !options.faithful, budget)?;
            for segment in Segment::all(trace) {
                let value = search.value(&segment, root, segment.start)?;
                total = semiring.meet(&total, &value);
            }
            cost.visits = search.visits;
        }
        Traversal::BreadthFirst => {
            let limits = Limits { minimal: !options.faithful, slices: options.state_budget.max(1) };
            let mut stored = Stored::new(automaton, semiring, root, limits)?;
            for segment in Segment::all(trace) {
                let value = stored.run(&segment, root, &mut |_, _, _, _| {})?;
                total = semiring.meet(&total, &value);
            }
            (cost.max_slices, cost.slices) = (stored.max_slices, stored.slices);
        }
        Traversal::Reverse => {
            let sweep = Sweep::new(automaton, &goals.exprs);
            let found = |_: usize, place: Place, value: &S::Value| {
                if place.first {
                    total = semiring.meet(&total, value);
                }
            };
            sweep.run(semiring, trace, budget, found)?;
            cost.visits = sweep.nodes() as u64 * trace.len as u64;
        }
    }
    Ok((total, cost))
}

#[cfg(test)]
mod tests;

//! Slices of a log (Basin, Caronni, Ereth, Harvan, Klaedtke, Mantel: *Scalable Offline Monitoring*): pieces that are evaluated
//! one by one, and whose violations together are those of the whole.
//!
//! * A *data slice* ([`Division`]) keeps, of the events that a variable of the property stands in, those whose value falls into
//!   one of several buckets. Events without that variable are in every slice.
//! * A *time slice* keeps a stretch of positions and as many around it as the property looks at ([`needed`]).
//! * *Filtering* leaves out positions at which nothing happens, where the property cannot tell ([`labels`]).
//!
//! Each composes with the others. What may be reported of a slice is its *restriction* ([`Shard`]): positions and values that are
//! its own. Slices keep more than that, and what they say of the rest is dropped ([`merge`]).
//!
//! A variable can be sliced on if something gives it its values wherever the property is violated ([`guards`]): otherwise infinitely
//! many values violate it, which belong to no bucket.

mod cut;
mod guards;
mod labels;
mod merge;
mod reach;
mod shard;
mod store;

pub use cut::{Piece, buckets_of, cut, cut_keys, needed_by};
pub use guards::{Guard, Guards, guards};
pub use labels::{Labels, labels};
pub use merge::{Sliced, in_order, merge};
pub use reach::{Reach, needed, periods, reach, unbounded};
pub use shard::{Bucket, Division, Shard, bucket};
pub use store::{load_answer, save_answer};

use tw_core::Position;
use tw_ir::{Node, NodeId, Program};
use tw_monitor::{EvaluateOptions, Trace};

/// What can be sliced of a property, found by looking at it alone.
#[derive(Clone, Debug)]
pub struct Analysis {
    /// The outer variables with what gives each its values where the property is violated.
    pub variables: Vec<Candidate>,
    /// How far the property looks.
    pub reach: Reach,
    /// The operator without a bound, because of which there are no time slices.
    pub unbounded: Option<NodeId>,
    /// Whether positions without events and true predicates may be left out.
    pub filterable: bool,
}

/// A variable that may be sliced on.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Its number in `Dag::variables`.
    pub variable: u32,
    /// What gives it its values; without it, it cannot be sliced on.
    pub guard: Option<Guard>,
    /// Whether the events that do so have, in a slice, the slice's own values alone.
    pub exact: bool,
    /// The patterns that do not mention it: their events are in every slice.
    pub duplicated: Vec<NodeId>,
}

impl Analysis {
    /// Of a root `G φ`, perhaps under outer `forall`s; the violations of others are no positions that could be divided.
    pub fn new(program: &Program, root: NodeId, options: &EvaluateOptions) -> Option<Analysis> {
        let (outer, body) = program.invariant(root)?;
        let bound = guards(program, body, false);
        let nodes = program.reachable(&[body]);
        let duplicated = |variable: u32| {
            let lacks = |id: &NodeId| match program.dag.node(*id) {
                Node::Pattern(pattern) => {
                    !program.dag.patterns[pattern as usize].variables().any(|own| own == variable)
                }
                _ => false,
            };
            nodes.iter().copied().filter(lacks).collect()
        };
        let candidate = |&variable: &u32| {
            let guard = bound.get(&variable).cloned();
            let exact = guard.as_ref().is_some_and(|guard| exact(program, &nodes, variable, guard));
            Candidate { variable, guard, exact, duplicated: duplicated(variable) }
        };
        let own = labels(program, body, options);
        Some(Analysis {
            variables: outer.iter().map(candidate).collect(),
            reach: reach(program, body, options),
            unbounded: unbounded(program, body, options),
            // What violates the property must be false where nothing happens.
            filterable: own.always && own.kept,
        })
    }

    /// The variable that costs least: the fewest events in every slice, counted in the trace if there is one.
    pub fn choose(&self, program: &Program, trace: Option<&Trace>) -> Option<&Candidate> {
        let patterns = program.patterns();
        let count = |id: &NodeId| match (trace, patterns.binary_search(id)) {
            (Some(trace), Ok(at)) => {
                trace.relations.get(at).and_then(|own| own.starts().last()).map_or(0, |&n| n as usize)
            }
            _ => 1,
        };
        let guarded = self.variables.iter().filter(|candidate| candidate.guard.is_some());
        guarded.min_by_key(|candidate| candidate.duplicated.iter().map(count).sum::<usize>())
    }
}

/// Whether every pattern about the guard's event has the variable in one and the same place.
fn exact(program: &Program, nodes: &[NodeId], variable: u32, guard: &Guard) -> bool {
    let places = |id: NodeId| -> Vec<usize> {
        let Node::Pattern(pattern) = program.dag.node(id) else { return Vec::new() };
        let own = program.dag.patterns[pattern as usize].variables().enumerate();
        own.filter(|(_, own)| *own == variable).map(|(at, _)| at).collect()
    };
    let own = |guard: &NodeId| {
        let slot = program.pattern_slot(*guard);
        let mut common = places(*guard);
        for id in nodes.iter().filter(|id| slot.is_some() && program.pattern_slot(**id) == slot) {
            common.retain(|place| places(*id).contains(place));
        }
        !common.is_empty()
    };
    guard.event && guard.nodes.iter().all(own)
}

/// The first and one past the last position of each of so many stretches of about equal length.
pub fn stretches(len: usize, parts: usize) -> Vec<(Position, Position)> {
    let parts = parts.clamp(1, len.max(1));
    let edge = |part: usize| (part as u128 * len as u128 / parts as u128) as usize;
    (0..parts).map(|part| (edge(part), edge(part + 1))).collect()
}

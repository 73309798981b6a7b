//! How much of the behaviour the traces have shown: estimates of what is unseen, and what each trace added.
//!
//! States and transitions are the species, traces the samples (Good 1953; Chao 1984, 1987; Colwell et al. 2012). A
//! species that was seen once is the trace's word for those that were not seen at all. Estimates of numbers are lower
//! bounds: what is so rare that nothing hints at it is not counted.

mod estimate;
mod rarefaction;

pub use estimate::{Completeness, Estimate};

use tw_model::{Model, Seen};

/// Most points of a saturation curve.
const POINTS: usize = 1_000;

/// How much of the behaviour the traces of a merged model have shown. Transitions that are only assumed do not count.
#[derive(Clone, Debug, PartialEq)]
pub struct Coverage {
    /// Number of traces.
    pub traces: usize,
    /// Of states.
    pub states: Completeness,
    /// Of transitions.
    pub transitions: Completeness,
    /// States and transitions after ever more traces, from none to all; at most a thousand points.
    pub curve: Vec<Point>,
    /// Traces (indices, ascending) that added no state and no transition to those of the traces before them.
    pub adding_nothing: Vec<u32>,
    /// Traces (indices, ascending) that have no state and no transition that no other trace has. Without any one of them
    /// the model would have the same states and transitions; without several it may not.
    pub nothing_of_their_own: Vec<u32>,
}

/// A point of the saturation curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Number of traces.
    pub traces: usize,
    /// States in the first that many traces, in the order given.
    pub states: u64,
    /// Transitions in them.
    pub transitions: u64,
    /// States to be expected in that many traces if their order is random.
    pub expected_states: f64,
    /// Transitions to be expected in them.
    pub expected_transitions: f64,
}

impl Coverage {
    /// Of a merged model; `None` if the model has no record of traces.
    pub fn of(model: &Model) -> Option<Coverage> {
        let record = model.record.as_ref()?;
        let traces = record.traces.len();
        let (states, edges) = (&record.states[..], &record.edges[..]);
        let added = [states, edges].map(|seen| new_in_trace(seen, traces));
        let own = [states, edges].map(|seen| own_of_trace(seen, traces));
        let none = |counts: &[Vec<u64>; 2]| -> Vec<u32> {
            (0..traces).filter(|&at| counts.iter().all(|count| count[at] == 0)).map(|at| at as u32).collect()
        };
        Some(Coverage {
            traces,
            states: Completeness::of(states, traces),
            transitions: Completeness::of(edges, traces),
            curve: curve(states, edges, &added, traces),
            adding_nothing: none(&added),
            nothing_of_their_own: none(&own),
        })
    }
}

fn observed(seen: &[Seen]) -> impl Iterator<Item = &Seen> + Clone {
    seen.iter().filter(|seen| seen.count > 0)
}

/// For each trace, how many were first seen in it.
fn new_in_trace(seen: &[Seen], traces: usize) -> Vec<u64> {
    let mut new = vec![0; traces];
    for seen in observed(seen) {
        if let Some(new) = new.get_mut(seen.first.trace() as usize) {
            *new += 1;
        }
    }
    new
}

/// For each trace, how many were seen in no other.
fn own_of_trace(seen: &[Seen], traces: usize) -> Vec<u64> {
    let mut own = vec![0; traces];
    for seen in observed(seen).filter(|seen| seen.traces == 1) {
        if let Some(own) = own.get_mut(seen.first.trace() as usize) {
            *own += 1;
        }
    }
    own
}

fn curve(states: &[Seen], edges: &[Seen], added: &[Vec<u64>; 2], traces: usize) -> Vec<Point> {
    let steps = traces.min(POINTS - 1);
    let expected = [states, edges].map(|seen| rarefaction::Rarefaction::of(seen, traces));
    let (mut sums, mut at) = ([0, 0], 0);
    (0..=steps)
        .map(|step| {
            // Evenly spread, the first and the last among them.
            let until = (step as u64 * traces as u64).checked_div(steps as u64).unwrap_or(0) as usize;
            for (sum, added) in sums.iter_mut().zip(added) {
                *sum += added[at..until].iter().sum::<u64>();
            }
            at = until;
            let [states, transitions] = sums;
            let [expected_states, expected_transitions] = [0, 1].map(|which| expected[which].after(until));
            Point { traces: until, states, transitions, expected_states, expected_transitions }
        })
        .collect()
}

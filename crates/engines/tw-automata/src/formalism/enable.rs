//! ENABLE and COENABLE, by parameters.
//!
//! ENABLE(e) are the sets of parameters that the events before e bind, over all words w e w' that come to a report; e is a creation
//! event if w may be empty. They are found by a search through pairs of a state and what is bound so far. COENABLE(e) are the sets
//! that the events after e bind, w' not empty: a binding whose last event was e, and of whose things some of every such set are
//! dead, never comes to another report by events. Only the smallest sets are kept, since larger ones say no more.
//!
//! Both are about sets of parameters rather than of events, which is all that algorithm D asks: there are at most
//! states × 2^parameters pairs.

use super::EventAutomaton;
use super::build::reaching;
use crate::deterministic::Stop;
use rustc_hash::FxHashSet;
use tw_ir::monitor::Monitor;

/// Pairs of a state and a set that may be looked at.
const PAIRS: usize = 1_000_000;

/// What can be bound before and after each event on the way to a report. Bit p of a set is parameter p.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enables {
    /// Of each event the sets bound before it, larger ones first.
    pub enable: Vec<Vec<u32>>,
    /// Of each event the smallest sets named after it, ascending.
    pub coenable: Vec<Vec<u32>>,
    /// The same of each state, which knows more than the last event.
    pub useful: Vec<Vec<u32>>,
    /// Whether an event creates bindings: as declared, else those that a word can begin with.
    pub creation: Vec<bool>,
}

impl Enables {
    /// Of the automaton of a monitor.
    pub fn new(monitor: &Monitor, automaton: &EventAutomaton) -> Result<Self, Stop> {
        let events = monitor.events.len();
        let bits =
            |parameters: Vec<u32>| parameters.iter().fold(0u32, |set, &parameter| set | 1 << parameter);
        let bound: Vec<u32> = monitor.events.iter().map(|event| bits(event.source.parameters())).collect();
        let moves: Vec<Vec<u32>> =
            (0..automaton.len() as u32).map(|state| automaton.row(state).to_vec()).collect();
        let goal: Vec<bool> =
            (0..automaton.len() as u32).map(|state| automaton.is_goal(monitor, state)).collect();
        let open = reaching(&moves, goal.clone());

        let mut enable: Vec<FxHashSet<u32>> = vec![FxHashSet::default(); events];
        let mut begins = vec![false; events];
        // The first event is told apart: events without parameters leave the set empty.
        let mut seen = FxHashSet::from_iter([(0u32, 0u32, false)]);
        let mut todo = vec![(0u32, 0u32, false)];
        while let Some((state, set, started)) = todo.pop() {
            for event in 0..events {
                let next = moves[state as usize][event];
                if !open[next as usize] {
                    continue;
                }
                enable[event].insert(set);
                begins[event] |= !started;
                let pair = (next, set | bound[event], true);
                if seen.insert(pair) {
                    todo.push(pair);
                }
            }
            if seen.len() > PAIRS {
                return Err(Stop::Budget(format!("more than {PAIRS} sets of parameters")));
            }
        }
        let useful = useful(&moves, &goal, &open, &bound)?;
        let reached: FxHashSet<u32> = seen.iter().map(|&(state, ..)| state).collect();
        let coenable = (0..events).map(|event| {
            let after = reached.iter().map(|&state| moves[state as usize][event] as usize);
            smallest(after.flat_map(|state| useful[state].iter().copied()).collect())
        });
        let sorted = |sets: FxHashSet<u32>| {
            let mut sets: Vec<u32> = sets.into_iter().collect();
            sets.sort_unstable_by_key(|&set| (std::cmp::Reverse(set.count_ones()), set));
            sets
        };
        let declared = monitor.events.iter().any(|event| event.creation);
        Ok(Self {
            coenable: coenable.collect(),
            enable: enable.into_iter().map(sorted).collect(),
            creation: match declared {
                true => monitor.events.iter().map(|event| event.creation).collect(),
                false => begins,
            },
            useful,
        })
    }
}

/// Of each state the smallest sets of parameters that events bind on a way of at least one event to a report.
fn useful(moves: &[Vec<u32>], goal: &[bool], open: &[bool], bound: &[u32]) -> Result<Vec<Vec<u32>>, Stop> {
    let mut sets: Vec<Vec<u32>> = vec![Vec::new(); moves.len()];
    loop {
        let mut changed = false;
        for state in (0..moves.len()).filter(|&state| open[state]) {
            let mut found = sets[state].clone();
            for (event, &next) in moves[state].iter().enumerate() {
                found.extend(goal[next as usize].then_some(bound[event]));
                found.extend(sets[next as usize].iter().map(|set| set | bound[event]));
            }
            let found = smallest(found);
            if found.len() > PAIRS {
                return Err(Stop::Budget(format!("more than {PAIRS} sets of parameters")));
            }
            changed |= found != sets[state];
            sets[state] = found;
        }
        if !changed {
            return Ok(sets);
        }
    }
}

/// Those that contain no other, ascending.
fn smallest(mut sets: Vec<u32>) -> Vec<u32> {
    sets.sort_unstable_by_key(|&set| (set.count_ones(), set));
    sets.dedup();
    let mut kept: Vec<u32> = Vec::new();
    for set in sets {
        let contains = |smaller: &u32| set | smaller == set;
        if !kept.iter().any(contains) {
            kept.push(set);
        }
    }
    kept.sort_unstable();
    kept
}

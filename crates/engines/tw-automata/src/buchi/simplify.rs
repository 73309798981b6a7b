//! Smaller automata of the same language.
//!
//! - States from which no accepting component can be reached go, and marks outside accepting components, where they
//!   mean nothing.
//! - A mark that stands wherever another one does is implied by it and goes.
//! - Transitions beside a better one (fewer literals, the same target, more marks) go.
//! - States that cannot be told apart by what can be read from them and with which marks (bisimulation) become one.

use super::Transition;
use rustc_hash::FxHashMap;
use tw_core::Components;

type States = Vec<Vec<Transition>>;

/// What can be told of a state: literals, the class that a transition leads to, marks.
type Seen<'a> = Vec<(&'a [(u32, bool)], u32, u64)>;

/// The automaton made smaller; state 0 stays state 0.
pub(super) fn simplify(mut states: States, mut marks: u32) -> (States, u32) {
    loop {
        let before = (states.len(), states.iter().map(Vec::len).sum::<usize>(), marks);
        prune(&mut states, marks);
        marks = without_implied_marks(&mut states, marks);
        states.iter_mut().for_each(|transitions| *transitions = without_dominated(transitions));
        merge(&mut states);
        if before == (states.len(), states.iter().map(Vec::len).sum(), marks) {
            return (states, marks);
        }
    }
}

fn all(marks: u32) -> u64 {
    if marks == 64 { u64::MAX } else { (1 << marks) - 1 }
}

/// Keeps the states that lead to an accepting component, and marks inside such components only.
fn prune(states: &mut States, marks: u32) {
    let component = components(states);
    let union = unions(states, &component);
    let count = union.len();
    let accepting = |component: u32| union[component as usize] == Some(all(marks));
    // Components are numbered targets first.
    let mut useful: Vec<bool> = (0..count as u32).map(accepting).collect();
    let mut order: Vec<usize> = (0..states.len()).collect();
    order.sort_unstable_by_key(|&state| component[state]);
    for &state in &order {
        let leads = states[state].iter().any(|t| useful[component[t.target as usize] as usize]);
        useful[component[state] as usize] |= leads;
    }
    for (from, transitions) in states.iter_mut().enumerate() {
        transitions.retain(|t| useful[component[t.target as usize] as usize]);
        for transition in transitions {
            let inside = component[from] == component[transition.target as usize];
            if !(inside && accepting(component[from])) {
                transition.marks = 0;
            }
        }
    }
    keep_reachable(states);
}

/// The marks inside each component; `None` where there is no cycle.
fn unions(states: &[Vec<Transition>], component: &[u32]) -> Vec<Option<u64>> {
    let count = component.iter().max().map_or(0, |&last| last as usize + 1);
    let mut union: Vec<Option<u64>> = vec![None; count];
    for (from, transitions) in states.iter().enumerate() {
        for transition in transitions.iter().filter(|t| component[t.target as usize] == component[from]) {
            *union[component[from] as usize].get_or_insert(0) |= transition.marks;
        }
    }
    union
}

/// Which states lie in an accepting component.
pub(super) fn recurrent(states: &[Vec<Transition>], marks: u32) -> Vec<bool> {
    let component = components(states);
    let union = unions(states, &component);
    component.iter().map(|&component| union[component as usize] == Some(all(marks))).collect()
}

/// Drops the states that cannot be reached from state 0.
fn keep_reachable(states: &mut States) {
    let mut number = vec![u32::MAX; states.len()];
    let mut order = vec![0usize];
    number[0] = 0;
    let mut next = 0;
    while next < order.len() {
        for transition in &states[order[next]] {
            let target = transition.target as usize;
            if number[target] == u32::MAX {
                number[target] = order.len() as u32;
                order.push(target);
            }
        }
        next += 1;
    }
    *states = order.into_iter().map(|state| std::mem::take(&mut states[state])).collect();
    states.iter_mut().flatten().for_each(|transition| transition.target = number[transition.target as usize]);
}

/// Drops marks that others imply, or that stand on everything that can be gone over again and again.
fn without_implied_marks(states: &mut States, marks: u32) -> u32 {
    let component = components(states);
    let inside: Vec<u64> = states
        .iter()
        .enumerate()
        .flat_map(|(from, transitions)| transitions.iter().map(move |transition| (from, transition)))
        .filter(|(from, transition)| component[*from] == component[transition.target as usize])
        .map(|(_, transition)| transition.marks)
        .collect();
    let mut kept: Vec<u32> = (0..marks).collect();
    for mark in 0..marks {
        let everywhere = inside.iter().all(|set| set >> mark & 1 == 1);
        let implied = |&other: &u32| {
            other != mark && inside.iter().all(|set| set >> other & 1 == 0 || set >> mark & 1 == 1)
        };
        if everywhere || kept.iter().any(implied) {
            kept.retain(|&other| other != mark);
        }
    }
    if kept.len() < marks as usize {
        for transition in states.iter_mut().flatten() {
            let bit = |(at, &mark): (usize, &u32)| (transition.marks >> mark & 1) << at;
            transition.marks = kept.iter().enumerate().map(bit).sum();
        }
    }
    kept.len() as u32
}

/// The transitions beside which none is better, ascending.
fn without_dominated(transitions: &[Transition]) -> Vec<Transition> {
    let mut by_target: FxHashMap<u32, Vec<Transition>> = FxHashMap::default();
    // Those with few literals first: they are the ones that make others superfluous, up to marks.
    let mut sorted: Vec<&Transition> = transitions.iter().collect();
    sorted.sort_unstable_by_key(|t| (t.literals.len(), std::cmp::Reverse(t.marks.count_ones())));
    for transition in sorted {
        let kept = by_target.entry(transition.target).or_default();
        let better = |other: &Transition| {
            transition.marks & !other.marks == 0
                && other.literals.iter().all(|literal| transition.literals.binary_search(literal).is_ok())
        };
        if !kept.iter().any(better) {
            kept.push(transition.clone());
        }
    }
    let mut kept: Vec<Transition> = by_target.into_values().flatten().collect();
    kept.sort_unstable();
    kept
}

/// States looked at until those that can be told apart are.
const MERGE: usize = 1 << 20;

/// Makes one of the states that cannot be told apart, unless it takes too long to see: that long chains have no such
/// states takes as many rounds as they have states.
fn merge(states: &mut States) {
    let mut class = vec![0u32; states.len()];
    let mut count = 1;
    let mut work = 0;
    loop {
        work += states.len();
        if work > MERGE {
            return;
        }
        let mut classes: FxHashMap<Seen<'_>, u32> = FxHashMap::default();
        let mut refined = Vec::with_capacity(states.len());
        for transitions in states.iter() {
            let mut seen: Seen<'_> = transitions
                .iter()
                .map(|t| (t.literals.as_slice(), class[t.target as usize], t.marks))
                .collect();
            seen.sort_unstable();
            seen.dedup();
            let next = classes.len() as u32;
            refined.push(*classes.entry(seen).or_insert(next));
        }
        let found = classes.len();
        drop(classes);
        class = refined;
        // Classes are only ever split: as many as before are the same ones.
        if found == count {
            break;
        }
        count = found;
    }
    let mut merged: States = vec![Vec::new(); count];
    for (state, transitions) in states.drain(..).enumerate().rev() {
        let kept = &mut merged[class[state] as usize];
        *kept = transitions;
        kept.iter_mut().for_each(|transition| transition.target = class[transition.target as usize]);
        kept.sort_unstable();
        kept.dedup();
    }
    // State 0 is the first to be given a class.
    *states = merged;
}

/// The strongly connected components, numbered targets first.
fn components(states: &[Vec<Transition>]) -> Vec<u32> {
    let target = |state: u32, nth: usize| states[state as usize].get(nth).map(|transition| transition.target);
    Components::new(states.len(), None, target).of
}

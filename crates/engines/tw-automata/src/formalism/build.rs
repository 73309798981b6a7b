//! From a formalism to its automaton.

use super::{EventAutomaton, Output};
use crate::deterministic::{Budget, Deterministic, Options, Stop};
use rustc_hash::FxHashMap;
use std::sync::Arc;
use tw_ir::ere::{EreId, Eres};
use tw_ir::monitor::{Category, Formalism, Monitor};
use tw_ir::{Node, NodeId, Program, Root, Semantics};

/// What may be built for one monitor. One that needs more is not worth a table: its expression or formula is to be
/// divided.
const BUDGET: Budget = Budget { states: 10_000, nodes: 1_000_000 };

impl EventAutomaton {
    /// The automaton of a monitor.
    pub fn new(monitor: &Monitor) -> Result<Self, Stop> {
        Self::within(monitor, BUDGET)
    }

    /// The same with another budget.
    pub fn within(monitor: &Monitor, budget: Budget) -> Result<Self, Stop> {
        let events = monitor.events.len();
        match &monitor.formalism {
            Formalism::Ere { eres, root } => expression(eres, *root, events, budget),
            Formalism::Fsm { targets, .. } => Ok(machine(targets, events)),
            Formalism::Ltl { program, goal, slots } => formula(program, *goal, slots, events, budget),
            Formalism::Raw => {
                let output = Output { category: Some(Category::Match), ..Output::default() };
                Ok(Self { events, moves: vec![1; 2 * events], outputs: vec![Output::default(), output] })
            }
        }
    }
}

/// States are derivatives; one from which no state that matches is reached has failed.
fn expression(eres: &Eres, root: EreId, events: usize, budget: Budget) -> Result<EventAutomaton, Stop> {
    let mut eres = eres.clone();
    let (states, moves) = eres
        .derivatives(root, events as u32, budget.states)
        .map_err(|limit| Stop::Budget(format!("more than {} states of a regular expression", limit.0)))?;
    let matches: Vec<bool> = states.iter().map(|&state| eres.nullable(state)).collect();
    let open = reaching(&moves, matches.clone());
    let output = |state: usize| Output {
        category: match (matches[state], open[state]) {
            (true, _) => Some(Category::Match),
            (_, false) => Some(Category::Fail),
            _ => None,
        },
        violated_at_end: false,
    };
    let outputs = (0..states.len()).map(output).collect();
    Ok(EventAutomaton { events, moves: moves.concat(), outputs }.minimal())
}

/// The given states and all from which one of them is reached.
pub(super) fn reaching(moves: &[Vec<u32>], mut found: Vec<bool>) -> Vec<bool> {
    let mut before: Vec<Vec<u32>> = vec![Vec::new(); moves.len()];
    for (state, row) in moves.iter().enumerate() {
        row.iter().for_each(|&next| before[next as usize].push(state as u32));
    }
    let mut todo: Vec<usize> = (0..found.len()).filter(|&state| found[state]).collect();
    while let Some(state) = todo.pop() {
        for &earlier in &before[state] {
            if !std::mem::replace(&mut found[earlier as usize], true) {
                todo.push(earlier as usize);
            }
        }
    }
    found
}

/// The machine as it stands, and behind its states the one in which it has failed.
fn machine(targets: &[Vec<Option<u32>>], events: usize) -> EventAutomaton {
    let failed = targets.len() as u32;
    let moves = targets.iter().flatten().map(|target| target.unwrap_or(failed));
    let moves = moves.chain(std::iter::repeat_n(failed, events)).collect();
    let state = |category| Output { category: Some(category), ..Output::default() };
    let outputs = (0..failed).map(Category::State).chain([Category::Fail]).map(state).collect();
    EventAutomaton { events, moves, outputs }
}

/// The three-valued automaton of a formula over traces of which each position is one event.
///
/// A trace violates the formula when no infinite continuation *by events* satisfies it, so that is put into the question: φ and
/// "one event at a time" has no continuation, or "one event at a time" implies φ has them all. What the trace is worth if it ends
/// is asked of φ itself. All three go side by side.
fn formula(
    program: &Program,
    goal: NodeId,
    slots: &[u32],
    events: usize,
    budget: Budget,
) -> Result<EventAutomaton, Stop> {
    let mut program = program.clone();
    let single = one_at_a_time(&mut program, slots, events);
    let not_single = program.dag.add(Node::Not(single));
    let both = program.dag.add(Node::And(goal, single));
    let either = program.dag.add(Node::Or(goal, not_single));
    program.roots =
        vec![Root::property("both", both), Root::property("either", either), Root::property("end", goal)];
    program.spans.resize(program.dag.len(), None);
    let program = Arc::new(program);
    let atoms = program.atoms();
    let build = |goal, semantics| {
        Deterministic::new(
            &program,
            goal,
            &Options { semantics, budget, anywhere: false, verdicts_only: false },
        )
    };
    let parts =
        [build(both, Semantics::Ltl3)?, build(either, Semantics::Ltl3)?, build(goal, Semantics::Finite)?];
    let [lower, upper, end] = &parts;
    // The atoms that hold where an event happens.
    let row = |event: usize| {
        let mut row = vec![0u64; atoms.len().div_ceil(64).max(1)];
        for (index, &atom) in atoms.iter().enumerate() {
            if matches!(program.dag.node(atom), Node::Truth(slot) if slots[slot as usize] as usize == event) {
                row[index / 64] |= 1 << (index % 64);
            }
        }
        row
    };
    let rows: Vec<Vec<u64>> = (0..events).map(row).collect();
    let initial = parts.each_ref().map(Deterministic::initial);
    let mut states = vec![initial];
    let mut index = FxHashMap::from_iter([(initial, 0u32)]);
    let mut moves = Vec::new();
    let mut at = 0;
    while at < states.len() {
        let state: [u32; 3] = states[at];
        for row in &rows {
            let next = std::array::from_fn(|part| parts[part].step(state[part], row));
            moves.push(*index.entry(next).or_insert_with(|| {
                states.push(next);
                (states.len() - 1) as u32
            }));
        }
        if states.len() > budget.states {
            return Err(Stop::Budget(format!("more than {} states of a formula", budget.states)));
        }
        at += 1;
    }
    let output = |&[below, above, own]: &[u32; 3]| Output {
        category: match (lower.settled(below), upper.settled(above)) {
            (Some(false), _) => Some(Category::Violation),
            (_, Some(true)) => Some(Category::Validation),
            _ => None,
        },
        violated_at_end: end.holds_at_end(own) == Some(false),
    };
    let outputs = states.iter().map(output).collect();
    Ok(EventAutomaton { events, moves, outputs }.minimal())
}

/// `G` of: of the events that a formula names, one happens, or at most one where the monitor has others.
fn one_at_a_time(program: &mut Program, slots: &[u32], events: usize) -> NodeId {
    let truths: Vec<(u32, NodeId)> = slots
        .iter()
        .enumerate()
        .map(|(slot, &event)| (event, program.dag.add(Node::Truth(slot as u32))))
        .collect();
    let mut named: Vec<u32> = slots.to_vec();
    named.sort_unstable();
    named.dedup();
    let letter = |happens: Option<u32>, program: &mut Program| {
        let mut all = program.dag.add(Node::Bool(true));
        for &(event, truth) in &truths {
            let part = if happens == Some(event) { truth } else { program.dag.add(Node::Not(truth)) };
            all = program.dag.add(Node::And(all, part));
        }
        all
    };
    let others = (named.len() < events).then_some(None);
    let mut some = program.dag.add(Node::Bool(false));
    for happens in named.iter().map(|&event| Some(event)).chain(others) {
        let one = letter(happens, program);
        some = program.dag.add(Node::Or(some, one));
    }
    program.dag.add(Node::Unary(tw_ir::Temporal::Globally, None, some))
}

//! Charts over propositions, and words of events.
#![allow(dead_code)]

use tw_core::Bits;
use tw_ir::chart::{Check, Condition, Direction, Event, Matching, Reading};
use tw_ir::{Node, NodeId, Path, Program, Root, Slot, Temporal, What};
use tw_monitor::{Answer, Engine, EvaluateOptions, Segments, Trace};

/// A check of `pre` and `before.len() - pre` events.
pub fn check(
    condition: Condition,
    reading: Reading,
    iterate: Option<Matching>,
    pre: usize,
    before: &[u64],
) -> Check {
    let event = |number: usize| Event {
        direction: Direction::Send,
        message: format!("e{number}").into(),
        lifeline: "A".into(),
        other: "B".into(),
        span: Default::default(),
    };
    Check {
        condition,
        reading,
        iterate,
        open_end: false,
        events: (0..before.len()).map(event).collect(),
        pre,
        before: before.to_vec(),
        parts: [("c".into(), "pre"), ("c".into(), "main")],
    }
}

/// A program of checks; check `i` has the events `numbers[i]`.
pub fn program(checks: &[(Check, Vec<usize>)]) -> Program {
    let mut program = Program::default();
    let events = checks.iter().flat_map(|(_, numbers)| numbers).max().map_or(0, |most| most + 1);
    for event in 0..events {
        let what = What::Proposition(Path::field(format!("e{event}")));
        program.slots.push(Slot { what, declared: false, span: Default::default() });
    }
    for (number, (check, events)) in checks.iter().enumerate() {
        let nodes: Vec<NodeId> =
            events.iter().map(|&event| program.dag.add(Node::Truth(event as u32))).collect();
        let dag = &mut program.dag;
        let chain = nodes.into_iter().reduce(|chain, event| dag.add(Node::Or(chain, event))).expect("events");
        dag.charts.push(check.clone());
        let chart = dag.add(Node::Chart(dag.charts.len() as u32 - 1, chain));
        let node = dag.add(Node::Unary(Temporal::Globally, None, chart));
        program.roots.push(Root::property(format!("c{number}"), node));
    }
    program.spans.resize(program.dag.len(), None);
    program
}

/// The columns of a word: at each position the events that happen.
pub fn trace(program: &Program, word: &[Vec<usize>]) -> Trace {
    let column = |id: NodeId| -> Bits {
        let Node::Truth(slot) = program.dag.node(id) else { panic!("an event") };
        word.iter().map(|here| here.contains(&(slot as usize))).collect()
    };
    let atoms = program.atoms().into_iter().map(column).collect();
    Trace { len: word.len(), atoms, ..Trace::default() }
}

/// Words laid end to end.
pub fn segments(program: &Program, words: &[Vec<Vec<usize>>]) -> Trace {
    let mut starts = Vec::new();
    let mut whole = Vec::new();
    for word in words {
        starts.push(whole.len());
        whole.extend(word.iter().cloned());
    }
    Trace { segments: Some(Segments { starts }), ..trace(program, &whole) }
}

/// What an engine says.
pub fn answers(engine: &dyn Engine, program: &Program, trace: &Trace) -> Vec<Answer> {
    let mut evaluator = engine.plan(program, &EvaluateOptions::default()).expect("accepted");
    evaluator.evaluate(trace, usize::MAX).expect("evaluated")
}

//! Programs, signals and traces for tests.

use crate::{End, Run, Signal, Span};
use tw_core::{Bits, TimeUnit};
use tw_ir::{
    Bound, Clock, Form, Interval, Node, NodeId, Path, Program, Root, RootKind, Row, Slot, Temporal, What,
};
use tw_monitor::{EvaluateOptions, Trace};
use tw_testkit::Rng;

/// The formula of a text, as the only property of a program.
pub(crate) fn parse(text: &str) -> Program {
    let tree = tw_spec::parse_formula(text, 0);
    assert!(!tree.has_errors(), "{text}: {:?}", tree.diagnostics);
    let lowered = tw_spec::lower(&tree.value, &Default::default());
    assert!(!lowered.has_errors(), "{text}: {:?}", lowered.diagnostics);
    lowered.value
}

/// Bare numbers are nanoseconds.
pub(crate) fn options() -> EvaluateOptions {
    EvaluateOptions { clock: Clock::Dense, unit: TimeUnit::Nanoseconds, ..EvaluateOptions::default() }
}

/// A trace for a program over propositions: each position is its time and the string of its propositions.
pub(crate) fn trace(program: &Program, positions: &[(i64, &str)]) -> Trace {
    let column = |atom: &NodeId| {
        let name = tw_ir::display(program, *atom);
        positions.iter().map(|(_, names)| names.contains(&name)).collect::<Bits>()
    };
    Trace {
        len: positions.len(),
        atoms: program.atoms().iter().map(column).collect(),
        times: Some(positions.iter().map(|(time, _)| *time).collect()),
        ..Trace::default()
    }
}

pub(crate) fn root(node: NodeId) -> Root {
    Root {
        name: String::new(),
        title: None,
        division: Default::default(),
        kind: RootKind::Property,
        node,
        span: Default::default(),
    }
}

/// A program with that many propositions, and these as its first nodes.
pub(crate) fn propositions(count: u32) -> Program {
    let mut program = Program::default();
    for index in 0..count {
        let what = What::Proposition(Path::field(format!("p{index}")));
        program.slots.push(Slot { what, declared: false, span: Default::default() });
        program.dag.add(Node::Truth(index));
    }
    program
}

/// What random formulas are made of.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) propositions: u32,
    /// Operators in one formula.
    pub(crate) operators: usize,
    /// Chance in a thousand of an interval.
    pub(crate) metric: usize,
    /// Bounds of intervals are multiples of this.
    pub(crate) unit: usize,
    /// Whether `S T B` occur.
    pub(crate) since: bool,
}

/// A random formula, the last node and the only root; all nodes before it are parts or were left over.
pub(crate) fn formula(rng: &mut Rng, shape: Shape) -> Program {
    let mut program = propositions(shape.propositions);
    for node in [Node::Bool(true), Node::Bool(false), Node::First, Node::Last] {
        if rng.one_in(4) {
            program.dag.add(node);
        }
    }
    // No instant is next to another.
    let has_meaning = |row: &Row| row.form != Form::Step && (shape.since || row.prefix || !row.past);
    let temporals: Vec<Temporal> = Temporal::all().filter(|operator| has_meaning(operator.row())).collect();
    for _ in 0..1 + rng.below(shape.operators) {
        let made = program.dag.len();
        // The newest nodes more often, so that formulas grow deep.
        let mut child = || {
            let from = if rng.one_in(2) { made.saturating_sub(2) } else { 0 };
            NodeId((from + rng.below(made - from)) as u32)
        };
        let (a, b) = (child(), child());
        let i = if rng.chance(shape.metric) { Some(interval(rng, shape.unit)) } else { None };
        let node = match rng.below(6 + temporals.len()) {
            0 => Node::Not(a),
            1 => Node::And(a, b),
            2 => Node::Or(a, b),
            3 => Node::Xor(a, b),
            4 => Node::Implies(a, b),
            5 => Node::Iff(a, b),
            other => match temporals[other - 6] {
                operator if operator.row().prefix => Node::Unary(operator, i, a),
                operator => Node::Binary(operator, i, a, b),
            },
        };
        program.dag.add(node);
    }
    program.roots.push(root(NodeId(program.dag.len() as u32 - 1)));
    program.spans = vec![None; program.dag.len()];
    program
}

/// Point intervals, intervals at zero, unbounded ones, open and closed ends.
pub(crate) fn interval(rng: &mut Rng, unit: usize) -> Interval {
    let bound = |n: usize, open| Bound { billionths: (n * unit) as i128 * 1_000_000_000, unit: None, open };
    let low = rng.pick(&[0, 0, 1, 2, 4]);
    let high = low + rng.below(5);
    let (low_open, high_open) = (rng.one_in(3), rng.one_in(3));
    if rng.one_in(4) {
        Interval { low: bound(low, low_open), high: None }
    } else {
        let point = low == high;
        Interval { low: bound(low, low_open && !point), high: Some(bound(high, high_open && !point)) }
    }
}

/// A random stretch of up to `length` nanoseconds, sometimes at the edge of what 64 bits hold.
pub(crate) fn span(rng: &mut Rng, length: usize) -> Span {
    let length = rng.below(length + 1) as i64;
    let start = rng.pick(&[0, 0, -5, 1_700_000_000_000_000_000, i64::MIN, i64::MAX - length]);
    Span::new(start, start + length).unwrap()
}

/// Random truth on every cell: lone instants, holes of one instant, long runs.
pub(crate) fn signal(rng: &mut Rng, span: Span) -> Signal {
    let turn = rng.pick(&[100, 300, 500, 800]);
    let mut value = rng.one_in(2);
    let mut runs = Vec::new();
    for cell in 0..span.cells() {
        value ^= rng.chance(turn);
        if value {
            let time = span.start() + (cell / 2) as i64;
            let between = cell % 2 == 1;
            let end = |time| End { time, open: between };
            runs.push(Run { low: end(time), high: end(time + i64::from(between)) });
        }
    }
    Signal::new(span, runs)
}

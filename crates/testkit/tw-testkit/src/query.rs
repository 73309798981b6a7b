//! Random queries and traces, and engines for queries compared with the reference.
//!
//! - [`QueryCase`]: a program of queries and a trace, made from a seed;
//! - [`compare()`]: an engine on stored traces, value by value and bit by bit;
//! - [`compare_live()`]: the monitors of an engine, fed in any chunks, saved and restored;
//! - [`shrink()`]: the smallest case that still fails.
//!
//! `compare(&MyEngine, &QueryShape::SMALL, 0..cases(2_000))` is the test of a new engine.

mod compare;
mod generate;
mod leaves;
mod live;
mod shrink;
mod slots;

pub use compare::{compare, describe, difference, reference_columns, reference_values, same};
pub use live::{compare_live, live_difference};
pub use shrink::shrink;

use crate::Rng;
use tw_core::{Batch, Bits, Column, Position, Time, TimeUnit};
use tw_engine_reference::Reference;
use tw_ir::{Clock, Node, NodeId, Program, Root, RootKind};
use tw_monitor::{Engine, EvaluateOptions, PredicateError, Predicates, Segments, Terms, Trace, Unsupported};

/// What kind of queries and traces to make.
#[derive(Clone, Copy, Debug)]
pub struct QueryShape {
    /// Lengths of traces, one of which is picked.
    pub lengths: &'static [usize],
    /// Deepest nesting of experiments.
    pub depth: usize,
    /// Chance in a thousand that a part of an experiment is one whose values are numbers where any would do.
    pub numbers: usize,
    /// Chance in a thousand that a value is null; without it some columns have few and some have runs of any frequency.
    pub nulls: Option<usize>,
    /// Whether `agg[ψ]` stands only where it is asked at the first position (below arithmetic, `&{g}`, `|{g}`, `!{c}`
    /// and `??`), and past formulas over past ones only, as engines that read forward ask.
    pub forward: bool,
}

impl QueryShape {
    /// Every operator over every kind of value, around word boundaries.
    pub const SMALL: QueryShape = QueryShape {
        lengths: &[1, 2, 3, 5, 17, 40, 63, 64, 65, 100, 127, 128, 129, 200],
        depth: 5,
        numbers: 300,
        nulls: None,
        forward: false,
    };
    /// What can be read forward.
    pub const FORWARD: QueryShape =
        QueryShape { lengths: &[1, 2, 3, 5, 8, 17, 40, 64, 65, 130], forward: true, ..QueryShape::SMALL };
    /// Numbers nearly everywhere, in long stretches.
    pub const NUMERIC: QueryShape = QueryShape {
        lengths: &[60, 64, 65, 128, 129, 200, 260, 320],
        depth: 4,
        numbers: 950,
        nulls: Some(20),
        forward: false,
    };
}

/// Queries, the slots of a trace, and how to evaluate the ones on the other.
#[derive(Clone, Debug)]
pub struct QueryCase {
    /// What it was made from.
    pub seed: u64,
    /// The queries.
    pub program: Program,
    /// One column per slot.
    pub slots: Vec<Column>,
    /// Timestamps, never decreasing within a segment.
    pub times: Vec<Time>,
    /// Where segments start.
    pub starts: Vec<Position>,
    /// Threads, block size.
    pub options: EvaluateOptions,
}

impl QueryCase {
    /// The case of a seed.
    pub fn new(seed: u64, shape: &QueryShape) -> QueryCase {
        let mut rng = Rng::new(seed);
        let len = rng.pick(shape.lengths);
        let program = generate::program(&mut rng, shape);
        let mut starts = vec![0];
        if rng.one_in(4) {
            let every = rng.pick(&[1, 3, 20, 70, 70]);
            starts.extend((1..len).filter(|_| rng.one_in(every)));
        }
        let options = EvaluateOptions {
            clock: Clock::Index,
            unit: TimeUnit::Nanoseconds,
            threads: 1 + rng.below(4),
            block: rng.pick(&[None, Some(64), Some(128), Some(192), Some(1024)]),
            ..EvaluateOptions::default()
        };
        let slots = slots::slots(&mut rng, shape, len);
        let times = (0..len as i64).map(|at| at / 2).collect();
        QueryCase { seed, program, slots, times, starts, options }
    }

    /// Number of positions.
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// Whether there are no positions; generated cases have some.
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// The trace with its atoms and terms evaluated, and its slots, from which the reference computes both itself. An
    /// error where an atom cannot be computed; generated cases have none.
    pub fn trace(&self) -> Result<Trace, PredicateError> {
        let batch = Batch { len: self.len(), slots: self.slots.clone(), times: Some(self.times.clone()) };
        Ok(Trace {
            len: self.len(),
            atoms: Predicates::new(&self.program).evaluate(&batch)?,
            terms: Terms::new(&self.program).evaluate(&batch),
            times: batch.times,
            slots: Some(batch.slots),
            segments: (self.starts.len() > 1).then(|| Segments { starts: self.starts.clone() }),
            ..Trace::default()
        })
    }

    /// The experiments that a root rests on, ascending.
    pub fn experiments(&self) -> Vec<NodeId> {
        let roots: Vec<NodeId> = self.program.roots.iter().map(|root| root.node).collect();
        let mut reachable = self.program.reachable(&roots);
        reachable.retain(|id| self.program.dag.node(*id).is_experiment());
        reachable
    }

    /// The truth of formulas at every position, by the reference.
    pub fn guards(&self, trace: &Trace, guards: &[NodeId]) -> Result<Vec<Bits>, Unsupported> {
        let mut formulas = self.program.clone();
        let root = |&node: &NodeId| property(node);
        formulas.roots = guards.iter().map(root).collect();
        Reference.plan(&formulas, &self.options)?.columns(trace, guards)
    }

    /// The first `len` positions, as one trace.
    pub fn prefix(&self, len: usize) -> QueryCase {
        let kept: Vec<u32> = (0..len as u32).collect();
        QueryCase {
            slots: self.slots.iter().map(|column| column.gather(&kept)).collect(),
            times: self.times[..len].to_vec(),
            starts: vec![0],
            ..self.clone()
        }
    }
}

fn property(node: NodeId) -> Root {
    let (title, division, kind) = (None, Default::default(), RootKind::Property);
    Root { name: String::new(), title, division, kind, node, span: Default::default() }
}

/// Whether an experiment's values are numbers, whatever the trace holds in slots that are read as numbers.
pub(crate) fn has_numbers(program: &Program, experiment: NodeId) -> bool {
    use tw_ir::{Aggregate, Expect, Function, What};
    // Children stand before parents, so one loop over the nodes below finds it out.
    let mut numbers = vec![false; experiment.index() + 1];
    for id in program.reachable(&[experiment]) {
        let is = |id: NodeId| numbers[id.index()];
        numbers[id.index()] = match program.dag.node(id) {
            Node::Constant(constant) => {
                use tw_core::Value::{Int, Real};
                matches!(program.dag.constants[constant as usize], Int(_) | Real(_))
            }
            Node::Slot(slot) => {
                matches!(&program.slots[slot as usize].what, What::Variable(path, Expect::Number) if !path.has_each())
            }
            Node::Negate(_) | Node::Abs(_) | Node::Arithmetic(..) | Node::Variable(_) => true,
            Node::IfThenElse(_, a, b) => is(a) && is(b),
            Node::Emit(_, term) | Node::Fails(_, term) => is(term),
            Node::Default(a, term) => is(a) && is(term),
            Node::Both(Function::First, a, _) | Node::Both(Function::Second, _, a) => is(a),
            Node::Both(g, a, b) | Node::Either(g, a, b) => match g {
                Function::Arithmetic(_) => true,
                Function::First | Function::Second => is(a) && is(b),
                Function::True | Function::Pair => false,
            },
            Node::NextMap { body, result, parameter } => {
                is(result) && (program.dag.node(result) != Node::Variable(parameter) || is(body))
            }
            Node::UntilMap { pair, result, parameter } => {
                let value = program.dag.node(pair).children().nth(1);
                is(result) && (program.dag.node(result) != Node::Variable(parameter) || value.is_some_and(is))
            }
            Node::Collect(aggregate, a) | Node::CollectWhile(aggregate, a, _) => match aggregate {
                Aggregate::First | Aggregate::Last | Aggregate::Mode => is(a),
                Aggregate::Histogram(_) => false,
                _ => true,
            },
            _ => false,
        };
    }
    numbers[experiment.index()]
}

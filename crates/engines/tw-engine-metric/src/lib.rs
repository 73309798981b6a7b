//! Metric temporal logic: every operator in one pass, whatever its bounds.
//!
//! Pointwise MTL with past and future in any nesting, as in "Online Monitoring of Metric Temporal Logic" (Ho, Ouaknine,
//! Worrell), non-strict and with equal timestamps. On a stored trace every subformula becomes a column of bits:
//!
//! * The future is the past read from the end, and duals are negations, so that one operation, `p S[a,b] q`, stands for
//!   all temporal operators but those about the next and the previous position.
//! * Without an interval it is an addition per 64 positions, which carries truth from each `q` through the `p` after it.
//! * Bounds that count positions (`--clock index`, or timestamps at an even pace) are windows over words, whose cost
//!   depends neither on the bounds nor on the data: a few dozen instructions per 64 positions.
//! * Other timestamps are swept once: `q`s that follow each other closely serve one stretch of positions together, and
//!   both its ends are found by searches that only go forward. Amortised O(1) per position and operator at worst; long
//!   runs and rare events are jumped over by words.
//! * Memory: one bit per position and operator, dropped after its last use, and up to four more while an operator runs.
//!
//! ```
//! use tw_core::Bits;
//! use tw_engine_metric::Metric;
//! use tw_ir::{Bound, Interval, Node, Program, Root, RootKind, Temporal};
//! use tw_monitor::{Engine, EvaluateOptions, Trace};
//!
//! // G F[0,2s] a
//! let mut program = Program::default();
//! let a = program.dag.add(Node::Truth(0));
//! let bound = |n: i128| Bound { billionths: n * 1_000_000_000, unit: None, open: false };
//! let soon = program.dag.add(Node::Unary(Temporal::Finally, Some(Interval { low: bound(0), high: Some(bound(2)) }), a));
//! let always = program.dag.add(Node::Unary(Temporal::Globally, None, soon));
//! program.roots.push(Root {
//!     name: "soon a".into(),
//!     title: None, division: Default::default(),
//!     kind: RootKind::Property,
//!     node: always,
//!     span: Default::default(),
//! });
//! let second = 1_000_000_000;
//! let trace = Trace {
//!     len: 3,
//!     atoms: vec![Bits::from_words(vec![0b100], 3)],
//!     times: Some(vec![0, 4 * second, 5 * second]),
//!     ..Trace::default()
//! };
//! let mut evaluator = Metric.plan(&program, &EvaluateOptions::default()).unwrap();
//! assert_eq!(evaluator.evaluate(&trace, 10).unwrap()[0].violations, [0]);
//! ```
//!
//! Read on in `graph` (what is computed), `evaluate` (in which order), `steps` and `stamps` (one operator), and in
//! `online` for live traces and three-valued verdicts.

mod evaluate;
mod graph;
mod online;
mod stamps;
mod steps;
#[cfg(test)]
mod tests;
mod time;
mod words;

pub use online::{Delay, Each, MetricMonitor, OBLIGATIONS, Online, Open, Owned, Prefixes};

use evaluate::Run;
use graph::Graph;
use tw_core::Bits;
use tw_ir::{Node, NodeId, Program, Semantics, Temporal};
use tw_monitor::{
    Answer, Engine, EvaluateOptions, Evaluator, Lit, Lowered, Monitor, Sink, Telling, Trace, Unsupported,
    Wanted,
};
use words::{Words, clear_tail};

/// The metric engine: propositional formulas with future and past operators and intervals.
#[derive(Clone, Copy, Debug, Default)]
pub struct Metric;

impl Engine for Metric {
    fn name(&self) -> &'static str {
        "metric"
    }

    fn about(&self) -> &'static str {
        "every operator with an interval in one pass, whatever its bounds; MTL with past"
    }

    fn plan<'p>(
        &self,
        program: &'p Program,
        options: &EvaluateOptions,
    ) -> Result<Box<dyn Evaluator + 'p>, Unsupported> {
        options.pointwise()?;
        online::refuse_exact(program, options)?;
        if options.semantics == Semantics::Ltl3 {
            return Ok(Box::new(Prefixes::new(program, options)?));
        }
        Ok(Box::new(Stored::new(program, options)?))
    }

    fn reads_forward(&self) -> bool {
        true
    }

    fn monitor(
        &self,
        program: &Program,
        options: &EvaluateOptions,
        telling: Telling,
    ) -> Result<Box<dyn Monitor>, Unsupported> {
        options.pointwise()?;
        online::refuse_exact(program, options)?;
        Ok(Box::new(MetricMonitor::new(program, options, telling)?))
    }
}

/// A program made ready for stored traces.
struct Stored<'p> {
    program: &'p Program,
    options: EvaluateOptions,
    lowered: Lowered<'p, Graph>,
    roots: Vec<Looked>,
}

/// What is looked at for a root.
#[derive(Clone, Copy)]
struct Looked {
    /// The root, or φ of `G φ`.
    lit: Lit,
    /// Whether it is φ of `G φ`, whose violations are listed.
    globally: bool,
}

impl<'p> Stored<'p> {
    fn new(program: &'p Program, options: &EvaluateOptions) -> Result<Self, Unsupported> {
        let looked_at = |root: &tw_ir::Root| match program.dag.node(root.node) {
            Node::Unary(Temporal::Globally, None, body) => (body, true),
            _ => (root.node, false),
        };
        let roots: Vec<(NodeId, bool)> = program.roots.iter().map(looked_at).collect();
        let mut lowered = Lowered::new(program, Graph::new(options));
        let lits = lowered.lower(&roots.iter().map(|&(id, _)| id).collect::<Vec<_>>())?;
        let roots =
            lits.into_iter().zip(roots).map(|(lit, (_, globally))| Looked { lit, globally }).collect();
        Ok(Stored { program, options: options.clone(), lowered, roots })
    }

    /// Refuses a trace that is not one of this program's.
    fn check(&self, trace: &Trace) -> Result<(), Unsupported> {
        let refuse = |what: String| Err(Unsupported { node: None, what, help: None, exhausted: false });
        let atoms = self.lowered.atoms();
        if trace.atoms.len() != atoms {
            return refuse(format!("a trace with {} atoms for a program with {atoms}", trace.atoms.len()));
        }
        if let Some(atom) = trace.atoms.iter().find(|atom| atom.len() != trace.len) {
            return refuse(format!("an atom with {} positions in a trace of {}", atom.len(), trace.len));
        }
        if let Some(times) = trace.times.as_ref().filter(|times| times.len() != trace.len) {
            return refuse(format!("{} timestamps in a trace of {}", times.len(), trace.len));
        }
        let starts = trace.starts();
        let sound = starts.first() == Some(&0)
            && starts.is_sorted_by(|a, b| a < b)
            && starts.last().is_some_and(|&start| start < trace.len);
        if sound { Ok(()) } else { refuse("a trace without positions".into()) }
    }
}

impl Evaluator for Stored<'_> {
    fn wanted(&self) -> Wanted {
        Wanted::ATOMS
    }

    fn run(&mut self, trace: &Trace, sink: &mut Sink) -> Result<(), Unsupported> {
        self.check(trace)?;
        let outputs: Vec<Lit> = self.roots.iter().map(|root| root.lit).collect();
        let run = Run::new(&self.lowered.circuit, &outputs, trace, &self.options)?;
        let answer = |root: &Looked| match root.globally {
            true => violations(run.column(!root.lit), trace, sink.limit),
            false => {
                let column = run.column(root.lit);
                let holds = |&start: &usize| column.get(start / 64) >> (start % 64) & 1 == 1;
                Answer { holds: trace.starts().iter().map(holds).collect(), ..Answer::default() }
            }
        };
        let answers: Vec<Answer> = self.roots.iter().map(answer).collect();
        sink.answers(answers);
        Ok(())
    }

    fn columns(&mut self, trace: &Trace, nodes: &[NodeId]) -> Result<Vec<Bits>, Unsupported> {
        self.check(trace)?;
        if let Some(&unknown) = nodes.iter().find(|id| id.index() >= self.program.dag.len()) {
            return Err(Unsupported::construct(unknown, "a node of another program"));
        }
        let outputs = self.lowered.lower(nodes)?;
        let run = Run::new(&self.lowered.circuit, &outputs, trace, &self.options)?;
        let bits = |lit: &Lit| {
            let column = run.column(*lit);
            Bits::from_words(column.words.iter().map(|word| word ^ column.flip).collect(), trace.len)
        };
        Ok(outputs.iter().map(bits).collect())
    }
}

/// The answer of `G φ`, from the column of `!φ`.
fn violations(failed: Words<'_>, trace: &Trace, limit: usize) -> Answer {
    let mut violation_count = 0;
    let mut violations = Vec::new();
    for index in 0..failed.words.len() {
        let mut word = failed.get(index);
        if index + 1 == failed.words.len() {
            clear_tail(std::slice::from_mut(&mut word), trace.len);
        }
        violation_count += word.count_ones() as usize;
        while word != 0 && violations.len() < limit {
            violations.push(index * 64 + word.trailing_zeros() as usize);
            word &= word - 1;
        }
    }
    // Searched for once, however many segments it lies behind.
    let mut next = failed.find(0);
    let mut holds = Bits::with_capacity(trace.starts().len());
    for (segment, &start) in trace.starts().iter().enumerate() {
        if next < start {
            next = failed.find(start);
        }
        holds.push(next >= trace.segment_end(segment));
    }
    Answer { holds, violations, violation_count, ..Answer::default() }
}

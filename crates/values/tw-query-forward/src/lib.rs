//! Queries over a stream: one pass forwards, values with a delay.
//!
//! "Collecting Statistics Over Runtime Executions" (Finkbeiner, Sankaranarayanan, Sipma) evaluates queries from the end
//! of the trace back. Here a query is a network of nodes. Each reads the values of its operands in trace order and emits
//! its own in that order, as soon as they are decided: present and past at once, `X` one position later, `U` when it is
//! settled, `agg[ψ while φ]` when φ ends. At the first position of the trace, `agg[ψ]` is a running statistic.
//!
//! * The fragment: `agg[ψ]` without `while` only where it is asked at the first position, that is not inside another
//!   aggregate, `X{f}` or `U{f}`; no intervals, no quantifiers. [`why_not`] says it of a query.
//! * State kept: what operands have emitted and a node cannot use yet. Formulas take one bit for each position that
//!   waits, and those that wait for `U` take none; `agg[ψ while φ]` keeps the values of one stretch. The sum is bounded
//!   by `EvaluateOptions::memory_budget`. `outer[inner[ψ while φ]]` keeps no stretch for `count` and `sum` inside
//!   `count`, `sum`, `avg`, `min`, `max`, and `min` and `max` inside `min`, `max`, `count` (`nested`).
//! * Cost: a few instructions per 64 positions and node where operands are truth values. `benches/forward.rs` prints, in
//!   chunks of 4096 on one core of a 2-core Zen 4: `count[p & X !p]` 0.2 ns per position, `sum[x]` and `max[x]` 1 ns,
//!   `max[count[p while q]]` 1.2 ns with stretches of two positions, 0.6 to 0.9 ns on the paper's traces, the paper's other
//!   queries up to 5.4 ns; memory is that of one chunk. One position at a time costs 60 to 360 ns.
//! * [`QueryMonitor::values`] copies what is pending and lets the copy end. A statistic
//!   that keeps its values (`median`, …) is copied too, if something pending goes into it.
//!
//! ```
//! use tw_core::{Bits, Value};
//! use tw_ir::{Aggregate, Node, Path, Program, Root, RootKind, Slot, What, Temporal};
//! use tw_monitor::{Computed, EvaluateOptions, Positions, QueryEngine};
//! use tw_query_forward::Forward;
//!
//! // count[p & X !p]
//! let mut program = Program::default();
//! let what = What::Proposition(Path::field("p"));
//! program.slots.push(Slot { what, declared: false, span: Default::default() });
//! let p = program.dag.add(Node::Truth(0));
//! let off = program.dag.add(Node::Not(p));
//! let next = program.dag.add(Node::Unary(Temporal::Next, None, off));
//! let falls = program.dag.add(Node::And(p, next));
//! let node = program.dag.add(Node::Collect(Aggregate::Count, falls));
//! let kind = RootKind::Query;
//! let root = Root { name: "q".into(), title: None, division: Default::default(), kind, node, span: Default::default() };
//! program.roots.push(root);
//!
//! let mut monitor = Forward.monitor(&program, &EvaluateOptions::default()).unwrap();
//! for p in [true, false, true, true, false] {
//!     let atoms = [Bits::repeat(p, 1)];
//!     monitor.push(&Positions { len: 1, atoms: &atoms, ..Positions::default() }).unwrap();
//! }
//! assert_eq!(monitor.values().unwrap(), [Computed::Value(Value::Int(2))]);
//! ```
//!
//! Read on in `plan` (the network), `stream` (what lies between nodes), `machine` (the loop), `truth`, `experiment`,
//! `stretch` (nodes), `sink`, `nested` (what is made of them).

mod columns;
mod encode;
mod experiment;
mod feed;
mod fragment;
mod machine;
mod nested;
mod plan;
mod save;
mod sink;
mod stream;
mod stretch;
mod truth;

pub use fragment::why_not;

use feed::Window;
use machine::Machine;
use plan::Plan;
use std::sync::Arc;
use tw_core::{Bits, Position};
use tw_ir::{NodeId, Program};
use tw_monitor::{
    Computed, Corrupt, EvaluateOptions, Note, Positions, QueryEngine, QueryEvaluator, QueryMonitor, Term,
    Trace, Unsupported, Values, Wanted,
};

/// The engine that reads forward.
#[derive(Clone, Copy, Debug, Default)]
pub struct Forward;

impl QueryEngine for Forward {
    fn name(&self) -> &'static str {
        "forward"
    }

    fn about(&self) -> &'static str {
        "one pass forwards over a stream; values arrive with a delay"
    }

    fn plan<'p>(
        &self,
        program: &'p Program,
        options: &EvaluateOptions,
    ) -> Result<Box<dyn QueryEvaluator + 'p>, Unsupported> {
        let plan = Arc::new(Plan::of_roots(program, options)?);
        let machine = Machine::new(plan);
        Ok(Box::new(Stored { program, options: options.clone(), machine, notes: Vec::new() }))
    }

    fn reads_forward(&self) -> bool {
        true
    }

    fn monitor(
        &self,
        program: &Program,
        options: &EvaluateOptions,
    ) -> Result<Box<dyn QueryMonitor>, Unsupported> {
        let plan = Arc::new(Plan::of_roots(program, options)?);
        Ok(Box::new(Watch { machine: Machine::new(plan), notes: Vec::new() }))
    }
}

/// Refuses columns that are not those of the program.
fn check(plan: &Plan, len: usize, atoms: &[Bits], terms: &[Term]) -> Result<(), Unsupported> {
    let refuse = |what: String| Err(Unsupported { node: None, what, help: None, exhausted: false });
    if atoms.len() != plan.atoms || terms.len() != plan.terms {
        return refuse(format!(
            "a trace with {} atoms and {} terms for a program with {} and {}",
            atoms.len(),
            terms.len(),
            plan.atoms,
            plan.terms
        ));
    }
    let short = atoms.iter().map(Bits::len).chain(terms.iter().map(|term| term.column.len()));
    match short.into_iter().find(|found| *found != len) {
        Some(found) => refuse(format!("a column of {found} positions in a trace of {len}")),
        None => Ok(()),
    }
}

/// Queries over stored traces.
struct Stored<'p> {
    program: &'p Program,
    options: EvaluateOptions,
    machine: Machine,
    notes: Vec<Note>,
}

impl QueryEvaluator for Stored<'_> {
    fn wanted(&self) -> Wanted {
        Wanted::TERMS
    }

    fn guards(&self) -> &[NodeId] {
        &[]
    }

    fn values(&mut self, trace: &Trace, _guards: &[Bits]) -> Result<Vec<Vec<Computed>>, Unsupported> {
        check(&self.machine.plan, trace.len, &trace.atoms, &trace.terms)?;
        self.notes.clear();
        let segments = if trace.len == 0 { 0 } else { trace.starts().len() };
        let mut values = vec![Vec::with_capacity(segments); self.program.roots.len()];
        for segment in 0..segments {
            let (from, to) = (trace.starts()[segment], trace.segment_end(segment));
            self.machine.reset();
            self.machine.push(&Window { atoms: &trace.atoms, terms: &trace.terms, from, to })?;
            self.machine.finish()?;
            let (found, notes) = self.machine.results(None);
            values.iter_mut().zip(found).for_each(|(values, value)| values.push(value));
            for note in notes {
                if !self.notes.contains(&note) {
                    self.notes.push(note);
                }
            }
        }
        Ok(values)
    }

    fn columns(
        &mut self,
        trace: &Trace,
        _guards: &[Bits],
        nodes: &[NodeId],
    ) -> Result<Vec<Values>, Unsupported> {
        check(&self.machine.plan, trace.len, &trace.atoms, &trace.terms)?;
        self.notes.clear();
        columns::columns(self.program, &self.options, trace, nodes, &mut self.notes)
    }

    fn notes(&self) -> Vec<Note> {
        self.notes.clone()
    }
}

/// Queries on a live trace.
struct Watch {
    machine: Machine,
    notes: Vec<Note>,
}

impl QueryMonitor for Watch {
    fn another(&self) -> Box<dyn QueryMonitor> {
        Box::new(Watch { machine: Machine::new(self.machine.plan.clone()), notes: Vec::new() })
    }

    fn push(&mut self, positions: &Positions<'_>) -> Result<(), Unsupported> {
        let Positions { len, atoms, terms, .. } = *positions;
        check(&self.machine.plan, len, atoms, terms)?;
        self.machine.push(&Window { atoms, terms, from: 0, to: len })
    }

    fn atoms(&self) -> usize {
        self.machine.plan.atoms
    }

    fn values(&mut self) -> Result<Vec<Computed>, Unsupported> {
        let mut end = self.machine.fork();
        end.finish()?;
        let (values, notes) = end.results(Some(&self.machine));
        self.notes = notes;
        Ok(values)
    }

    fn notes(&self) -> Vec<Note> {
        self.notes.clone()
    }

    fn position(&self) -> Position {
        self.machine.position
    }

    fn pending_bytes(&self) -> usize {
        self.machine.pending_bytes()
    }

    fn heap_bytes(&self) -> usize {
        size_of::<Self>() + self.machine.heap_bytes()
    }

    fn save(&self, out: &mut Vec<u8>) {
        self.machine.save(out);
    }

    fn restore(&mut self, bytes: &mut &[u8]) -> Result<(), Corrupt> {
        self.machine.restore(bytes)
    }
}

//! An engine for queries as an [`Engine`]: chosen, run and watched like the others.

use crate::{
    Answers, Computed, Corrupt, Engine, EvaluateOptions, Evaluator, Known, Monitor, Note, Obligation,
    PlannedEvaluator, PlannedMonitor, Positions, QueryEngine, QueryEvaluator, QueryMonitor, Sink, Slab,
    Telling, Trace, TraceId, Unsupported, Values, Wanted, Worth,
};
use tw_core::{Bits, Position};
use tw_ir::{NodeId, Program};

/// Any [`QueryEngine`] as an [`Engine`] that answers with values.
#[derive(Clone, Copy, Debug)]
pub struct Queries<Q>(pub Q);

impl<Q: QueryEngine> Engine for Queries<Q> {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn about(&self) -> &'static str {
        self.0.about()
    }

    fn published(&self) -> Option<&'static str> {
        self.0.published()
    }

    fn answers(&self) -> Answers {
        Answers::Values
    }

    fn plan<'p>(&self, program: &'p Program, options: &EvaluateOptions) -> PlannedEvaluator<'p> {
        options.pointwise()?;
        Ok(Box::new(Stored { inner: self.0.plan(program, options)?, guards: Vec::new() }))
    }

    fn reads_forward(&self) -> bool {
        self.0.reads_forward()
    }

    fn monitor(&self, program: &Program, options: &EvaluateOptions, _: Telling) -> PlannedMonitor {
        options.pointwise()?;
        let inner = self.0.monitor(program, options)?;
        let mut traces = Slab::new();
        let selected = traces.insert(inner.another());
        Ok(Box::new(Live { inner, traces, selected, roots: program.roots.len() }))
    }
}

struct Stored<'p> {
    inner: Box<dyn QueryEvaluator + 'p>,
    guards: Vec<Bits>,
}

impl Evaluator for Stored<'_> {
    fn wanted(&self) -> Wanted {
        self.inner.wanted()
    }

    fn guards(&self) -> &[NodeId] {
        self.inner.guards()
    }

    fn give(&mut self, guards: Vec<Bits>) {
        self.guards = guards;
    }

    fn run(&mut self, trace: &Trace, sink: &mut Sink) -> Result<(), Unsupported> {
        let values = self.inner.values(trace, &self.guards)?;
        sink.worth.extend(values.into_iter().map(|values| Worth::Values(Values::new(values))));
        Ok(())
    }

    fn columns(&mut self, _: &Trace, nodes: &[NodeId]) -> Result<Vec<Bits>, Unsupported> {
        let what = "the truth of a formula: it answers with values";
        Err(Unsupported { node: nodes.first().copied(), what: what.into(), help: None, exhausted: false })
    }

    fn values(&mut self, trace: &Trace, nodes: &[NodeId]) -> Result<Vec<Values>, Unsupported> {
        self.inner.columns(trace, &self.guards, nodes)
    }

    fn notes(&self) -> Vec<Note> {
        self.inner.notes()
    }
}

struct Live {
    /// The selected trace; its place among the others holds one without positions.
    inner: Box<dyn QueryMonitor>,
    traces: Slab<Box<dyn QueryMonitor>>,
    selected: TraceId,
    roots: usize,
}

impl Monitor for Live {
    fn open(&mut self) -> TraceId {
        let trace = self.traces.insert(self.inner.another());
        if trace == self.selected {
            self.inner = self.inner.another();
        }
        trace
    }

    fn select(&mut self, trace: TraceId) {
        if trace == self.selected || !self.traces.contains(trace) {
            return;
        }
        for place in [self.selected, trace] {
            if let Some(parked) = self.traces.get_mut(place) {
                std::mem::swap(parked, &mut self.inner);
            }
        }
        self.selected = trace;
    }

    fn close(&mut self, trace: TraceId) {
        if self.traces.remove(trace).is_some() && trace == self.selected {
            self.inner = self.inner.another();
        }
    }

    // Values are not about positions.
    fn skip_to(&mut self, _: Position) {}

    fn feed(&mut self, positions: &Positions<'_>, _: &mut Sink) -> Result<(), Unsupported> {
        self.inner.push(positions)
    }

    fn step(&mut self, atoms: &[u64], sink: &mut Sink) -> Result<(), Unsupported> {
        let bit = |atom: usize| Bits::repeat(atoms[atom / 64] >> (atom % 64) & 1 == 1, 1);
        let columns: Vec<Bits> = (0..self.inner.atoms()).map(bit).collect();
        self.feed(&Positions { len: 1, atoms: &columns, ..Positions::default() }, sink)
    }

    fn positions(&self) -> Position {
        self.inner.position()
    }

    fn verdicts(&self) -> Vec<Option<bool>> {
        vec![None; self.roots]
    }

    fn pending(&self) -> Vec<Obligation> {
        Vec::new()
    }

    fn finish(&mut self, _: &mut Sink) -> Result<Option<Vec<Known>>, Unsupported> {
        if self.inner.position() == 0 {
            return Ok(None);
        }
        let values: Vec<Computed> = self.inner.values()?;
        Ok(Some(values.into_iter().map(Known::Value).collect()))
    }

    fn notes(&self) -> Vec<Note> {
        self.inner.notes()
    }

    fn save(&self, out: &mut Vec<u8>) {
        self.inner.save(out);
    }

    fn restore(&mut self, mut from: &[u8]) -> Result<(), Corrupt> {
        self.inner.restore(&mut from)?;
        if from.is_empty() {
            Ok(())
        } else {
            Err(Corrupt("the saved state is longer than it should be".into()))
        }
    }

    fn heap_bytes(&self) -> usize {
        let parked: usize = self.traces.iter().map(|trace| trace.heap_bytes()).sum();
        self.inner.heap_bytes() + parked + self.traces.heap_bytes()
    }
}

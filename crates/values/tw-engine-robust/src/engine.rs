//! Robustness as an engine: chosen, given its trace and asked like the others.

use crate::{Algorithm, Interpolation, Robust, Samples};
use std::sync::Arc;
use tw_core::{Batch, Bits};
use tw_ir::{NodeId, Program};
use tw_monitor::{
    Answers, Engine, EvaluateOptions, Evaluator, PlannedEvaluator, PredicateError, Signals, Sink, Trace,
    Unsupported, Wanted, Worth,
};

/// The engine `robust`: by how much properties hold.
#[derive(Clone, Copy, Debug, Default)]
pub struct Robustness {
    /// How values at the samples are computed; all ways agree.
    pub algorithm: Algorithm,
    /// Signals go on between the samples.
    pub interpolate: Option<Interpolation>,
}

impl Engine for Robustness {
    fn name(&self) -> &'static str {
        "robust"
    }

    fn about(&self) -> &'static str {
        "by how much a property holds: min and max in place of and and or"
    }

    fn answers(&self) -> Answers {
        Answers::Robustness
    }

    fn plan<'p>(&self, program: &'p Program, options: &EvaluateOptions) -> PlannedEvaluator<'p> {
        let robust = Robust::new(program, options)?;
        let roots: Vec<NodeId> = program.roots.iter().map(|root| root.node).collect();
        if self.interpolate == Some(Interpolation::Linear) {
            robust.straight(&roots)?;
        }
        Ok(Box::new(Stored { robust: Arc::new(robust), roots, how: *self }))
    }
}

struct Stored {
    robust: Arc<Robust>,
    roots: Vec<NodeId>,
    how: Robustness,
}

impl Stored {
    fn columns_of(&self, trace: &Trace, nodes: &[NodeId]) -> Result<Vec<Vec<f64>>, Unsupported> {
        let samples = Samples::of(trace);
        match self.how.interpolate {
            None => self.robust.values(&samples, nodes, self.how.algorithm),
            Some(reading) => self.robust.interpolated(&samples, nodes, reading),
        }
    }
}

impl<'a> Samples<'a> {
    /// Those that a trace holds ([`Trace::signals`]).
    pub fn of(trace: &'a Trace) -> Self {
        Samples {
            len: trace.len,
            predicates: trace.signals.as_slice().into(),
            times: trace.times.as_deref().map(Into::into),
            starts: trace.segments.as_ref().map_or(&[][..], |segments| segments.starts.as_slice()).into(),
        }
    }
}

impl Signals for Robust {
    fn signals(&self, batch: &Batch) -> Result<Vec<Vec<f64>>, PredicateError> {
        self.worth(batch)
    }
}

impl Evaluator for Stored {
    fn wanted(&self) -> Wanted {
        Wanted::SIGNALS
    }

    fn signals(&self) -> Option<Arc<dyn Signals>> {
        Some(self.robust.clone())
    }

    fn run(&mut self, trace: &Trace, sink: &mut Sink) -> Result<(), Unsupported> {
        for column in self.columns_of(trace, &self.roots)? {
            let at = |&start: &usize| column.get(start).copied().unwrap_or(f64::NAN);
            sink.worth.push(Worth::Robustness(trace.starts().iter().map(at).collect()));
        }
        Ok(())
    }

    fn columns(&mut self, _: &Trace, nodes: &[NodeId]) -> Result<Vec<Bits>, Unsupported> {
        let what = "the truth of a formula: it says by how much";
        Err(Unsupported { node: nodes.first().copied(), what: what.into(), help: None, exhausted: false })
    }

    fn robustness(&mut self, trace: &Trace, nodes: &[NodeId]) -> Result<Vec<Vec<f64>>, Unsupported> {
        self.columns_of(trace, nodes)
    }
}

//! Options of a run, and the verbs that run it.

use crate::{
    CheckReport, ConvertReport, Error, EvalReport, InspectReport, SpecReport, Specification, by, check,
    convert, eval, inspect, plan,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tw_ir::{Clock, Semantics};
use tw_monitor::EvaluateOptions;
use tw_trace::ReadOptions;

/// How far the reading of a trace is; another thread may watch.
#[derive(Debug, Default)]
pub struct Progress {
    read: AtomicU64,
    total: AtomicU64,
}

impl Progress {
    /// Bytes read so far, and bytes in all if that is known (files, not streams).
    pub fn get(&self) -> (u64, Option<u64>) {
        let total = self.total.load(Ordering::Relaxed);
        (self.read.load(Ordering::Relaxed), (total > 0).then_some(total))
    }

    pub(crate) fn set(&self, read: u64, total: Option<u64>) {
        self.read.store(read, Ordering::Relaxed);
        self.total.store(total.unwrap_or(0), Ordering::Relaxed);
    }
}

/// How to run. Start from [`Session::new`], set what differs, end with a verb.
#[derive(Clone, Debug)]
pub struct Session {
    pub(crate) engine: String,
    pub(crate) semantics: Semantics,
    pub(crate) clock: Clock,
    pub(crate) violations: usize,
    pub(crate) witness: bool,
    pub(crate) explain: bool,
    pub(crate) by: Option<String>,
    pub(crate) read: ReadOptions,
    pub(crate) memory_budget: usize,
    pub(crate) state_budget: usize,
    pub(crate) faithful: bool,
    pub(crate) progress: Option<Arc<Progress>>,
}

impl Default for Session {
    fn default() -> Self {
        Self::new()
    }
}

impl Session {
    /// The defaults: engine chosen by fragment, finite semantics, ten violations listed, explanations on.
    pub fn new() -> Self {
        Self {
            engine: "auto".into(),
            semantics: Semantics::Finite,
            clock: Clock::Stamps,
            violations: 10,
            witness: false,
            explain: true,
            by: None,
            read: ReadOptions::default(),
            memory_budget: 4 << 30,
            state_budget: 10_000,
            faithful: false,
            progress: None,
        }
    }

    /// Engine by name, or `auto`.
    #[must_use]
    pub fn engine(mut self, name: impl Into<String>) -> Self {
        self.engine = name.into();
        self
    }

    /// How the end of the trace is read.
    #[must_use]
    pub fn semantics(mut self, semantics: Semantics) -> Self {
        self.semantics = semantics;
        self
    }

    /// Where time comes from.
    #[must_use]
    pub fn clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// How many violations to list; `usize::MAX` for all.
    #[must_use]
    pub fn violations(mut self, limit: usize) -> Self {
        self.violations = limit;
        self
    }

    /// Explain satisfied properties too.
    #[must_use]
    pub fn witness(mut self, witness: bool) -> Self {
        self.witness = witness;
        self
    }

    /// Whether to explain violations at all (on by default).
    #[must_use]
    pub fn explain(mut self, explain: bool) -> Self {
        self.explain = explain;
        self
    }

    /// Check every property once per value of this column.
    #[must_use]
    pub fn by(mut self, column: Option<String>) -> Self {
        self.by = column;
        self
    }

    /// How to read traces.
    #[must_use]
    pub fn read(mut self, read: ReadOptions) -> Self {
        self.read = read;
        self
    }

    /// Bytes that columns and engine may take; more is a clear refusal.
    #[must_use]
    pub fn memory_budget(mut self, bytes: usize) -> Self {
        self.memory_budget = bytes;
        self
    }

    /// States that a machine (automaton, residuals, slices) may keep.
    #[must_use]
    pub fn state_budget(mut self, states: usize) -> Self {
        self.state_budget = states;
        self
    }

    /// Keep an engine's published behaviour where it differs in cost alone.
    #[must_use]
    pub fn faithful(mut self, faithful: bool) -> Self {
        self.faithful = faithful;
        self
    }

    /// Where to note how far the reading is.
    #[must_use]
    pub fn progress(mut self, progress: Arc<Progress>) -> Self {
        self.progress = Some(progress);
        self
    }

    pub(crate) fn evaluate_options(&self) -> EvaluateOptions {
        EvaluateOptions {
            semantics: self.semantics,
            clock: self.clock,
            unit: self.read.unit,
            threads: self.read.threads,
            memory_budget: self.memory_budget,
            block: None,
            state_budget: self.state_budget,
            faithful: self.faithful,
        }
    }

    /// Verdicts of every property on one trace; several files are one trace, laid end to end.
    pub fn check(&self, spec: &Specification, files: &[String]) -> Result<CheckReport, Error> {
        match &self.by {
            Some(column) => by::check(self, spec, files, column),
            None => check::check(self, spec, files),
        }
    }

    /// Truth of the (first) formula at every position.
    pub fn eval(&self, spec: &Specification, files: &[String]) -> Result<EvalReport, Error> {
        eval::eval(self, spec, files)
    }

    /// Columns, types, event names, time span and sample rows of a trace.
    pub fn inspect(&self, files: &[String]) -> Result<InspectReport, Error> {
        inspect::inspect(self, files)
    }

    /// Writes a trace in another format (by name, or by the extension of `output`).
    pub fn convert(&self, files: &[String], output: &str, to: Option<&str>) -> Result<ConvertReport, Error> {
        convert::convert(self, files, output, to)
    }

    /// What a specification consists of and which engine would run it, and why.
    pub fn explain_spec(&self, spec: &Specification) -> Result<SpecReport, Error> {
        plan::explain(self, spec)
    }
}

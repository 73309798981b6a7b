//! Options of a run, and the verbs that run it.

use crate::check::{CheckReport, Statistic};
use crate::convert::ConvertReport;
use crate::embed::RowMonitor;
use crate::eval::EvalReport;
use crate::explain::{AutomatonKind, Graph, ResidualReport, SpecReport};
use crate::imprecise::{self, ClockError};
use crate::inspect::InspectReport;
use crate::merge::{MergeOptions, MergeReport};
use crate::model::{Model, ModelOptions, ModelReport, Question};
use crate::query::{QueryReport, Totals};
use crate::races::{self, RacesReport};
use crate::robust::{self, RobustLive, RobustLiveReport, RobustOptions, RobustReport, RobustSink};
use crate::trace::Progress;
use crate::watch::{self, Control, WatchOptions, WatchReport, WatchSink};
use crate::{Error, Specification, check, convert, eval, explain, inspect, query};
use crate::{merge, model};
use std::sync::Arc;
use tw_ir::{Clock, Semantics};
use tw_monitor::EvaluateOptions;
use tw_trace::{ReadOptions, Table};

/// How to run. Start from [`Session::new`], set what differs, end with a verb.
#[derive(Clone, Debug)]
pub struct Session {
    pub(crate) engine: String,
    pub(crate) semantics: Semantics,
    pub(crate) clock: Clock,
    pub(crate) clock_error: Option<ClockError>,
    pub(crate) violations: usize,
    pub(crate) witness: bool,
    pub(crate) explain: bool,
    pub(crate) by: Option<String>,
    pub(crate) statistic: Option<Statistic>,
    pub(crate) everywhere: bool,
    pub(crate) read: ReadOptions,
    pub(crate) memory_budget: usize,
    pub(crate) state_budget: usize,
    pub(crate) faithful: bool,
    pub(crate) progress: Option<Arc<Progress>>,
    pub(crate) tables: Vec<(String, Arc<dyn Table>)>,
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
            clock_error: None,
            violations: 10,
            witness: false,
            explain: true,
            by: None,
            statistic: None,
            everywhere: false,
            read: ReadOptions::default(),
            memory_budget: 4 << 30,
            state_budget: 10_000,
            faithful: false,
            progress: None,
            tables: Vec::new(),
        }
    }

    /// The same as [`Session::new`]: a session is its own builder.
    pub fn builder() -> Self {
        Self::new()
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

    /// How far timestamps may be off. [`Session::check`] then answers for every execution that they allow, in
    /// [`PropertyReport::guarantee`](crate::check::PropertyReport::guarantee).
    #[must_use]
    pub fn clock_error(mut self, error: Option<ClockError>) -> Self {
        self.clock_error = error;
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

    /// A statistic to compute beside each verdict.
    #[must_use]
    pub fn statistic(mut self, statistic: Option<Statistic>) -> Self {
        self.statistic = statistic;
        self
    }

    /// Whether `query` gives the value at every position, too.
    #[must_use]
    pub fn everywhere(mut self, everywhere: bool) -> Self {
        self.everywhere = everywhere;
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

    /// A trace of records in memory. A verb that is given `name` where it takes files reads them instead of a file; several
    /// names are one trace, laid end to end. A later table of the same name takes the place of an earlier one.
    #[must_use]
    pub fn table(mut self, name: impl Into<String>, table: Arc<dyn Table>) -> Self {
        let name = name.into();
        self.tables.retain(|(known, _)| *known != name);
        self.tables.push((name, table));
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
        if self.clock == Clock::Dense && self.statistic.is_some() {
            return Err(Error::Usage("--stat counts positions: use --clock stamps".into()));
        }
        match &self.clock_error {
            Some(error) => imprecise::check(self, spec, files, error),
            None => check::check(self, spec, files),
        }
    }

    /// Values of every query on one trace; several files are one trace, laid end to end.
    pub fn query(&self, spec: &Specification, files: &[String]) -> Result<QueryReport, Error> {
        query::query(self, spec, files)
    }

    /// The same, one trace of several: what its aggregates collect goes into the totals, too.
    pub fn query_and_add(
        &self,
        spec: &Specification,
        files: &[String],
        totals: &mut Totals,
    ) -> Result<QueryReport, Error> {
        query::query_and_add(self, spec, files, totals)
    }

    /// A monitor to feed from code. Verdicts settle by this session's semantics: over infinite continuations under
    /// `ltl3` (what [`RowMonitor::new`] takes), over finite ones otherwise.
    pub fn monitor(&self, spec: &Specification) -> Result<RowMonitor, Error> {
        RowMonitor::with(self, spec)
    }

    /// Truth of the (first) formula at every position.
    pub fn eval(&self, spec: &Specification, files: &[String]) -> Result<EvalReport, Error> {
        eval::eval(self, spec, files)
    }

    /// How far one trace is from violating each property, or from satisfying it, and what decides that.
    pub fn robust(
        &self,
        spec: &Specification,
        files: &[String],
        options: &RobustOptions,
    ) -> Result<RobustReport, Error> {
        robust::robust(self, spec, files, options)
    }

    /// The same of a trace that is still being written, told to `sink` as values are settled, bounded or predicted;
    /// until the stream ends or `control` is asked to.
    pub fn robust_live(
        &self,
        spec: &Specification,
        options: &RobustLive,
        control: &Control,
        sink: &mut dyn RobustSink,
    ) -> Result<RobustLiveReport, Error> {
        robust::live(self, spec, options, control, sink)
    }

    /// Columns, types, event names, time span and sample rows of a trace.
    pub fn inspect(&self, files: &[String]) -> Result<InspectReport, Error> {
        inspect::inspect(self, files)
    }

    /// Deadlocks and data races that other schedules of the same program could have, from one trace of its locks.
    pub fn races(
        &self,
        files: &[String],
        fields: &races::Fields,
        limits: races::Limits,
    ) -> Result<RacesReport, Error> {
        races::races(self, files, fields, limits)
    }

    /// Many traces, each a file, to one model.
    pub fn merge(&self, traces: &[Vec<String>], options: &MergeOptions) -> Result<MergeReport, Error> {
        merge::merge(self, traces, options)
    }

    /// Whether a model satisfies formulas, and which paths show it.
    pub fn model_check(
        &self,
        model: &Model,
        questions: &[Question],
        options: &ModelOptions,
    ) -> Result<ModelReport, Error> {
        model::model_check(self, model, questions, options)
    }

    /// Writes a trace in another format (by name, or by the extension of `output`).
    pub fn convert(&self, files: &[String], output: &str, to: Option<&str>) -> Result<ConvertReport, Error> {
        convert::convert(self, files, output, to)
    }

    /// Verdicts on a trace that is still being written, told to `sink` the moment they are settled; until the stream
    /// ends or `control` is asked to.
    pub fn watch(
        &self,
        spec: &Specification,
        options: &WatchOptions,
        control: &Control,
        sink: &mut dyn WatchSink,
    ) -> Result<WatchReport, Error> {
        watch::watch(self, spec, options, control, sink)
    }

    /// Every property rewritten event by event: the formula that is still owed after each.
    pub fn residuals(&self, spec: &Specification, files: &[String]) -> Result<Vec<ResidualReport>, Error> {
        if self.clock == Clock::Dense || self.clock_error.is_some() {
            return Err(Error::Usage("formulas are rewritten event by event: use --clock stamps".into()));
        }
        explain::rewriting(self, spec, files)
    }

    /// The automaton of each property and query, with its name.
    pub fn automata(&self, spec: &Specification, kind: AutomatonKind) -> Result<Vec<(String, Graph)>, Error> {
        let drawn = |root: &tw_ir::Root| Ok((root.name.clone(), explain::automaton(self, spec, root, kind)?));
        spec.program.roots.iter().map(drawn).collect()
    }

    /// The rewriting rules and goals of the properties, for Maude to check.
    pub fn maude(&self, spec: &Specification) -> Result<String, Error> {
        explain::maude(spec)
    }

    /// What a specification consists of and which engine would run it, and why.
    pub fn explain_spec(&self, spec: &Specification) -> Result<SpecReport, Error> {
        explain::explain(self, spec)
    }
}

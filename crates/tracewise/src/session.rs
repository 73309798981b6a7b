//! Options of a run, and the verbs that run it.

use crate::check::{self, CheckOptions, CheckReport};
use crate::classify::{self, Classes, ClassifyOptions};
use crate::convert::{self, ConvertOptions, ConvertReport};
use crate::embed::RowMonitor;
use crate::error::Setting;
use crate::eval::{self, EvalReport};
use crate::explain::{self, AutomatonKind, EngineChoice, ExplainOptions, Graph, ResidualReport, SpecReport};
use crate::init::{self, Draft};
use crate::inspect::{self, InspectReport};
use crate::merge::{self, MergeOptions, MergeReport};
use crate::model::{self, Model, ModelOptions, ModelReport, Question};
use crate::query::{self, QueryOptions, QueryReport, Totals};
use crate::races::{self, RacesOptions, RacesReport};
use crate::robust::{self, RobustLive, RobustLiveReport, RobustOptions, RobustReport, RobustSink};
use crate::run::repair::of_error;
use crate::slice::{self, SliceOptions, SliceReport};
use crate::slicing::{self, Slicing, SplitReport};
use crate::stream::{
    self, AutomatonForm, StreamAnalysis, StreamAnswer, StreamLive, StreamLiveReport, StreamOperation,
    StreamOptions, StreamQuestion, StreamReport, StreamSink,
};
use crate::templates::{self, TemplatesOptions, TemplatesReport};
use crate::test::{self, TestFile, TestReport};
use crate::trace::Progress;
use crate::watch::{self, Control, WatchOptions, WatchReport, WatchSink};
use crate::{Error, Reading, Specification, imprecise, monitors};
use std::sync::Arc;
use tw_ir::{Clock, Semantics};
use tw_monitor::EvaluateOptions;
use tw_trace::Table;

/// How formulas are evaluated, whatever is asked of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evaluating {
    /// Engine by name, or `auto`: the fastest that can.
    pub engine: String,
    /// How the end of the trace is read.
    pub semantics: Semantics,
    /// What intervals measure.
    pub clock: Clock,
    /// Bytes that columns and engine may take; more is a clear refusal.
    pub memory_budget: usize,
    /// States that a machine (automaton, residuals, slices) may keep.
    pub state_budget: usize,
    /// Keep an engine's published behaviour where it differs in cost alone.
    pub faithful: bool,
}

impl Default for Evaluating {
    fn default() -> Self {
        Self {
            engine: "auto".into(),
            semantics: Semantics::Finite,
            clock: Clock::Stamps,
            memory_budget: 4 << 30,
            state_budget: 10_000,
            faithful: false,
        }
    }
}

/// How to run: how traces are read and formulas evaluated. Start from [`Session::new`], set what differs, end with a verb,
/// which takes the options that are its own.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Session {
    pub(crate) read: Reading,
    pub(crate) evaluate: Evaluating,
    pub(crate) progress: Option<Arc<Progress>>,
    pub(crate) tables: Vec<(String, Arc<dyn Table>)>,
    pub(crate) texts: Vec<(String, Arc<[u8]>)>,
}

impl Session {
    /// The defaults: format by extension, engine chosen by fragment, finite semantics.
    pub fn new() -> Self {
        Self::default()
    }

    /// How traces are read.
    pub fn reading(mut self, reading: Reading) -> Self {
        self.read = reading;
        self
    }

    /// How formulas are evaluated.
    pub fn evaluating(mut self, evaluating: Evaluating) -> Self {
        self.evaluate = evaluating;
        self
    }

    pub(crate) fn engine(mut self, name: impl Into<String>) -> Self {
        self.evaluate.engine = name.into();
        self
    }

    pub(crate) fn semantics(mut self, semantics: Semantics) -> Self {
        self.evaluate.semantics = semantics;
        self
    }

    pub(crate) fn clock(mut self, clock: Clock) -> Self {
        self.evaluate.clock = clock;
        self
    }

    /// Where to note how far the reading is.
    pub fn progress(mut self, progress: Arc<Progress>) -> Self {
        self.progress = Some(progress);
        self
    }

    /// A trace of records in memory. A verb that is given `name` where it takes files reads them instead of a file; several
    /// names are one trace, laid end to end. A later table of the same name takes the place of an earlier one.
    pub fn table(mut self, name: impl Into<String>, table: Arc<dyn Table>) -> Self {
        let name = name.into();
        self.tables.retain(|(known, _)| *known != name);
        self.tables.push((name, table));
        self
    }

    /// The bytes of a trace in memory: a verb that is given `name` where it takes files reads them, in the format that the
    /// session names. A later text of the same name takes the place of an earlier one.
    pub fn text(mut self, name: impl Into<String>, bytes: Vec<u8>) -> Self {
        let name = name.into();
        self.texts.retain(|(known, _)| *known != name);
        self.texts.push((name, bytes.into()));
        self
    }

    pub(crate) fn evaluate_options(&self) -> EvaluateOptions {
        EvaluateOptions {
            semantics: self.evaluate.semantics,
            clock: self.evaluate.clock,
            unit: self.read.unit,
            threads: self.read.threads,
            memory_budget: self.evaluate.memory_budget,
            block: None,
            state_budget: self.evaluate.state_budget,
            faithful: self.evaluate.faithful,
            stop: self.progress.as_ref().map(|progress| progress.stop_flag()),
        }
    }

    /// Verdicts of every property on one trace; several files are one trace, laid end to end.
    pub fn check(
        &self,
        spec: &Specification,
        files: &[String],
        options: &CheckOptions,
    ) -> Result<CheckReport, Error> {
        if self.evaluate.clock == Clock::Dense && options.statistic.is_some() {
            return Err(Error::refused_instead(
                format!("{} counts positions", Setting::Statistic),
                format!("use {}", Setting::Clock.to("stamps")),
            ));
        }
        if options.clock_error.is_some() && options.slicing.is_some() {
            return Err(Error::refused_instead(
                "what clocks may be off by is looked at in the whole log",
                format!("leave out {}", Setting::Slices),
            ));
        }
        let spec = &*spec.counted_in(self.read.unit);
        if let Some(manifest) = slicing::manifest::of(files) {
            return slicing::manifest::check(self, spec, (&files[0], &manifest), options);
        }
        let checked = match &options.clock_error {
            Some(error) => {
                monitors::refuse(spec, "they are about the order of events; leave out the error of clocks")?;
                if let Some(requirement) = spec.program.requirements.first() {
                    return Err(Error::refused_instead(
                        format!(
                            "`{}` is a requirement, and values know no error of clocks",
                            requirement.root.name
                        ),
                        "leave it out, or the error of clocks",
                    ));
                }
                imprecise::check(self, spec, files, options, error)
            }
            None => check::check(self, spec, files, options),
        };
        self.repaired(files, checked)
    }

    /// Writes the slices of a log for a specification as files of a directory, with a manifest that [`Session::check`] reads.
    pub fn split(
        &self,
        spec: &Specification,
        files: &[String],
        slicing: &Slicing,
        directory: &std::path::Path,
    ) -> Result<SplitReport, Error> {
        let spec = &*spec.counted_in(self.read.unit);
        self.repaired(files, slicing::split::split(self, spec, files, slicing, directory))
    }

    /// Evaluates slices for another process that checks a log ([`Slicing::workers`]): they are named on `input`, line by line,
    /// and each is answered with a line on `output`. The session and the specification are those of that process.
    pub fn work_on_slices(
        &self,
        spec: &Specification,
        input: &mut dyn std::io::BufRead,
        output: &mut dyn std::io::Write,
    ) -> Result<(), Error> {
        slicing::workers::work(self, &spec.counted_in(self.read.unit), input, output)
    }

    /// Sorts one trace, or those of its keys, into classes that fail (or hold) in the same way; several files are one trace.
    pub fn classify(
        &self,
        spec: &Specification,
        files: &[String],
        options: &ClassifyOptions,
        into: &mut Classes,
    ) -> Result<(), Error> {
        let spec = &*spec.counted_in(self.read.unit);
        self.repaired(files, classify::classify(self, spec, files, options, into))
    }

    /// Values of every query on one trace; several files are one trace, laid end to end.
    pub fn query(
        &self,
        spec: &Specification,
        files: &[String],
        options: &QueryOptions,
    ) -> Result<QueryReport, Error> {
        let spec = &*spec.counted_in(self.read.unit);
        self.repaired(files, query::query(self, spec, files, options, None))
    }

    /// The same, one trace of several: what its aggregates collect goes into the totals, too.
    pub fn query_and_add(
        &self,
        spec: &Specification,
        files: &[String],
        options: &QueryOptions,
        totals: &mut Totals,
    ) -> Result<QueryReport, Error> {
        let spec = &*spec.counted_in(self.read.unit);
        self.repaired(files, query::query(self, spec, files, options, Some(totals)))
    }

    /// A monitor to feed from code. Verdicts settle by this session's semantics: over infinite continuations under
    /// `ltl3` (what [`RowMonitor::new`] takes), over finite ones otherwise.
    pub fn monitor(&self, spec: &Specification) -> Result<RowMonitor, Error> {
        RowMonitor::with(self, spec)
    }

    /// Truth of the (first) formula at every position.
    pub fn eval(&self, spec: &Specification, files: &[String]) -> Result<EvalReport, Error> {
        self.repaired(files, eval::eval(self, &spec.counted_in(self.read.unit), files))
    }

    /// How far one trace is from violating each property, or from satisfying it, and what decides that.
    pub fn robust(
        &self,
        spec: &Specification,
        files: &[String],
        options: &RobustOptions,
    ) -> Result<RobustReport, Error> {
        monitors::refuse(spec, "they have no robustness; `tracewise check` runs them")?;
        self.repaired(files, robust::robust(self, &spec.counted_in(self.read.unit), files, options))
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
        monitors::refuse(spec, "they have no robustness; `tracewise watch` runs them")?;
        let told = robust::live(self, &spec.counted_in(self.read.unit), options, control, sink);
        self.repaired(options.source.files(), told)
    }

    /// Columns, types, event names, time span and sample rows of a trace.
    pub fn inspect(&self, files: &[String]) -> Result<InspectReport, Error> {
        self.repaired(files, inspect::inspect(self, files, None))
    }

    /// The same of its first positions, as many as `most`: what an editor looks at while one types.
    pub fn inspect_first(&self, files: &[String], most: u64) -> Result<InspectReport, Error> {
        inspect::inspect(self, files, Some(most))
    }

    /// A first specification for a trace, from what can be seen in it, with properties that hold there.
    pub fn init(&self, files: &[String]) -> Result<Draft, Error> {
        self.repaired(files, init::init(self, files))
    }

    /// What comes out of the tests in a file, beside what they expect.
    pub fn test(&self, file: &TestFile) -> Result<TestReport, Error> {
        test::test(self, file)
    }

    /// A trace cut by what its events are about, one slice per binding of variables.
    pub fn slice(&self, files: &[String], options: &SliceOptions) -> Result<SliceReport, Error> {
        self.repaired(files, slice::slice(self, files, options))
    }

    /// The columns that the equations of a specification define, on a trace.
    pub fn stream_run(
        &self,
        spec: &Specification,
        files: &[String],
        options: &StreamOptions,
    ) -> Result<StreamReport, Error> {
        stream::run(self, spec, files, options)
    }

    /// The same of a trace that is still being written, told to `sink` position by position; until it ends or `control` is
    /// asked to.
    pub fn stream_live(
        &self,
        spec: &Specification,
        options: &StreamLive,
        control: &Control,
        sink: &mut dyn StreamSink,
    ) -> Result<StreamLiveReport, Error> {
        self.repaired(options.source.files(), stream::live(self, spec, options, control, sink))
    }

    /// What can be said of the streams of a specification before they run; `states` is how many may be looked at.
    pub fn stream_analyse(spec: &Specification, states: Option<usize>) -> Result<StreamAnalysis, Error> {
        stream::analyse(spec, states)
    }

    /// The answer to a question about Boolean streams.
    pub fn stream_ask(question: &StreamQuestion<'_>, states: Option<usize>) -> Result<StreamAnswer, Error> {
        stream::ask(question, states)
    }

    /// Whether the Boolean streams of a specification have a model on a trace.
    pub fn stream_accepts(&self, spec: &Specification, files: &[String]) -> Result<StreamAnswer, Error> {
        stream::accepts(self, spec, files)
    }

    /// The text of a specification that accepts what an operation makes of the inputs of one or two others.
    pub fn stream_combine(
        operation: StreamOperation,
        a: &Specification,
        b: Option<&Specification>,
    ) -> Result<String, Error> {
        stream::combine(operation, a, b)
    }

    /// The equations of the first formula of a specification; with `accept`, of the inputs that satisfy it alone.
    pub fn stream_from_ltl(spec: &Specification, accept: bool) -> Result<String, Error> {
        stream::from_ltl(spec, accept)
    }

    /// The automaton of the inputs that have a model.
    pub fn stream_to_automaton(
        spec: &Specification,
        form: AutomatonForm,
        states: Option<usize>,
    ) -> Result<String, Error> {
        stream::to_automaton(spec, form, states)
    }

    /// The equations of an automaton, which `text` writes as JSON or HOA.
    pub fn stream_from_automaton(name: &str, text: &str) -> Result<String, Error> {
        stream::from_automaton(name, text)
    }

    /// An equal specification that is well-formed, of alternation depth 1 at most.
    pub fn stream_normalise(spec: &Specification, states: Option<usize>) -> Result<String, Error> {
        stream::normalise(spec, states)
    }

    /// The templates of a text log, found by looking at it.
    pub fn templates(&self, files: &[String], options: &TemplatesOptions) -> Result<TemplatesReport, Error> {
        self.repaired(files, templates::templates(self, files, options))
    }

    /// Deadlocks and data races that other schedules of the same program could have, from one trace of its locks.
    pub fn races(&self, files: &[String], options: &RacesOptions) -> Result<RacesReport, Error> {
        self.repaired(files, races::races(self, files, options))
    }

    /// Many traces, each a file, to one model.
    pub fn merge(&self, traces: &[Vec<String>], options: &MergeOptions) -> Result<MergeReport, Error> {
        let merged = merge::merge(self, traces, options);
        self.repaired(of_error(traces, &merged), merged)
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
    pub fn convert(
        &self,
        files: &[String],
        output: &str,
        options: &ConvertOptions,
    ) -> Result<ConvertReport, Error> {
        self.repaired(files, convert::convert(self, files, output, options))
    }

    /// A trace in memory, in the format that the session names, as lines of JSON.
    pub fn json_lines(&self, bytes: Vec<u8>) -> Result<convert::JsonLines, Error> {
        convert::json_lines(self, bytes, None)
    }

    /// The same of a piece of a stream: what a cell becomes does not depend on what other lines came with it. Those of the
    /// columns `texts` are texts, whatever they look like.
    pub fn json_lines_of_stream(&self, bytes: Vec<u8>, texts: &[&str]) -> Result<convert::JsonLines, Error> {
        convert::json_lines(self, bytes, Some(texts))
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
        let watched = watch::watch(self, &spec.counted_in(self.read.unit), options, control, sink);
        self.repaired(options.source.files(), watched)
    }

    /// The same by hand: the caller pushes lines, and saves and restores the state, when it likes.
    pub fn prepare_watch(
        &self,
        spec: &Specification,
        options: &WatchOptions,
    ) -> Result<watch::Prepared, Error> {
        watch::Prepared::new(self, &spec.counted_in(self.read.unit), options)
    }

    /// Every property rewritten event by event: the formula that is still owed after each.
    pub fn residuals(&self, spec: &Specification, files: &[String]) -> Result<Vec<ResidualReport>, Error> {
        if self.evaluate.clock == Clock::Dense {
            return Err(Error::refused_instead(
                "formulas are rewritten event by event",
                format!("use {}", Setting::Clock.to("stamps")),
            ));
        }
        monitors::refuse(spec, "they are no formulas; `tracewise check` runs them")?;
        self.repaired(files, explain::rewriting(self, &spec.counted_in(self.read.unit), files))
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

    /// Which engine would run the property or query of this name, and why; nothing, if there is none.
    pub fn engine_of(&self, spec: &Specification, name: &str) -> Option<EngineChoice> {
        explain::engine_of(self, spec, name)
    }

    /// What a specification consists of and which engine would run it, and why.
    pub fn explain_spec(&self, spec: &Specification, options: ExplainOptions) -> Result<SpecReport, Error> {
        explain::explain(self, spec, options)
    }
}

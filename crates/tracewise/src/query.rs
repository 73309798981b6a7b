//! `query`: the value of every query on one trace.
//!
//! Queries that divide the trace alike (`by user`, `every 1m`) run together on the divided trace, whose parts are
//! segments: an engine runs once per way of dividing, whatever the number of parts.

mod by_key;
mod compute;
mod missing;
mod stream;
mod total;
mod witness;

pub use crate::run::divide::Edge;
pub(crate) use compute::approximations;
pub(crate) use missing::of_aggregate as missing_of;
pub use total::{Total, Totals};
pub use witness::{Origin, Witness};

use crate::check::{LogLine, PropertyReport};
use crate::error::Setting;
use crate::plan::{self, Who};
use crate::run::divide::Divided;
use crate::run::{Asked, Run};
use crate::{Error, Session, Specification, require};
use compute::Job;
use std::borrow::Cow;
use tw_core::Value;
use tw_diag::Diagnostic;
use tw_ir::{Division, Expect, Root, RootKind, Semantics, Slot, SlotId, What};
use tw_monitor::Answers;
use tw_trace::Stamp;

/// What is told of each query beside its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryOptions {
    /// The value once per value of this column, where a query does not say itself how it divides the trace.
    pub by: Option<String>,
    /// The value at every position, too.
    pub everywhere: bool,
    /// Which positions a value comes from.
    pub witness: bool,
    /// Whether to say why a value is missing.
    pub explain: bool,
}

impl Default for QueryOptions {
    /// One value for the whole trace, or why there is none.
    fn default() -> Self {
        Self { by: None, everywhere: false, witness: false, explain: true }
    }
}

/// The values of all queries on one trace.
#[derive(Debug)]
pub struct QueryReport {
    /// The trace as the user named it.
    pub trace: String,
    /// Number of positions.
    pub positions: u64,
    /// Bytes read.
    pub bytes: u64,
    /// Engine that ran.
    pub engine: &'static str,
    /// One per query, in the order written.
    pub queries: Vec<QueryResult>,
    /// The verdicts of requirements, one per part of the trace.
    pub requirements: Vec<PropertyReport>,
    /// Values that cannot be computed, each an error for its query alone: the others stand.
    pub failures: Vec<Error>,
    /// Findings that did not stop the run.
    pub warnings: Vec<Diagnostic>,
}

/// What one query is worth.
#[derive(Clone, Debug)]
pub struct QueryResult {
    /// Name; with `-e` the query's text.
    pub name: String,
    /// The sentence in quotes after the name.
    pub title: Option<String>,
    /// The query as the user wrote it.
    pub expression: String,
    /// The column after `by`.
    pub by: Option<String>,
    /// The length after `every`.
    pub every: Option<String>,
    /// One per part of the trace; just one if the query does not divide it.
    pub groups: Vec<Group>,
    /// The value at every position of the trace, if that was asked for.
    pub everywhere: Option<Vec<Value>>,
    /// Timestamps of the positions, with `everywhere`.
    pub times: Option<Vec<Stamp>>,
    /// Parts that are approximate, and how far off they may be.
    pub approximate: Vec<Approximation>,
    /// Whether the value is a count: a part without one has nothing to count.
    pub counts: bool,
}

impl QueryResult {
    /// A value as tables show it: 0 where nothing was counted.
    pub fn tabled(&self, value: &Value) -> Value {
        match value {
            Value::Null if self.counts => Value::Int(0),
            other => other.clone(),
        }
    }
}

/// Whether a query counts positions.
fn counts(spec: &Specification, root: &Root) -> bool {
    use tw_ir::{Aggregate, Node};
    let node = spec.program.dag.node(root.node);
    matches!(node, Node::Collect(Aggregate::Count, _) | Node::CollectWhile(Aggregate::Count, ..))
}

/// The value on one part of the trace.
#[derive(Clone, Debug)]
pub struct Group {
    /// Number of the part, in the order of its first position.
    pub(crate) segment: usize,
    /// Value of the `by` column.
    pub key: Option<Value>,
    /// The window of `every`: from, and up to but not including.
    pub window: Option<(Edge, Edge)>,
    /// The value; null if there is none.
    pub value: Value,
    /// Why there is none: which part has no value, and what to write instead.
    pub missing: Option<String>,
    /// Where the value comes from.
    pub witness: Option<Witness>,
}

/// A part of a query that is approximate.
#[derive(Clone, Debug, PartialEq)]
pub struct Approximation {
    /// The aggregate, in the user's words.
    pub part: String,
    /// How far off it may be: `rank ±1.33 % with 99 % confidence (KLL)`.
    pub bound: String,
}

/// Beyond this many parts, lines and reasons are not looked up.
const EXPLAINED: usize = 100;

/// Where there are totals over several traces, what was collected is added to them.
pub(crate) fn query(
    session: &Session,
    spec: &Specification,
    files: &[String],
    options: &QueryOptions,
    totals: Option<&mut Totals>,
) -> Result<QueryReport, Error> {
    let mut report = values(session, spec, files, options, totals)?;
    let own = spec.program.roots.iter().filter(|root| root.kind == RootKind::Query).count();
    if report.queries.len() > own {
        let required = report.queries.split_off(own);
        report.requirements = require::verdicts(spec, required, report.engine);
    }
    Ok(report)
}

/// The values of queries, those of requirements behind them.
fn values(
    session: &Session,
    spec: &Specification,
    files: &[String],
    options: &QueryOptions,
    totals: Option<&mut Totals>,
) -> Result<QueryReport, Error> {
    if session.evaluate.semantics != Semantics::Finite {
        return Err(Error::refused_instead(
            "queries are read on the trace as it ended",
            format!("use {}", Setting::Semantics.to("finite")),
        ));
    }
    let mut spec = queries_of(options.by.as_deref(), spec)?;
    let who = Who::Any(Answers::Values);
    let engine = plan::choose(session, &spec, &session.evaluate_options(), who)?.engine;
    if totals.is_none() && !spec.program.derives() && stream::fits(session, options, &spec, engine) {
        return stream::run(session, &spec, files, engine);
    }
    if totals.is_none()
        && let Some(plan) = by_key::fits(session, options, &spec, files, engine)
        && let Some(report) = by_key::run(session, &spec, files, &plan, (engine, options.explain))?
    {
        return Ok(report);
    }
    // Readers have a way of their own for one column of keys; further ones are read as values.
    let key = one_key(&spec);
    let keys = if key.is_some() { vec![None; spec.program.roots.len()] } else { key_slots(&mut spec) };
    let kept: Vec<SlotId> = keys.iter().flatten().copied().collect();
    let times = options.everywhere || spec.program.roots.iter().any(|root| root.division.every.is_some());
    let spec = &spec;
    let mut run = Run::read(
        session,
        spec,
        files,
        who,
        Asked { times, by: key.as_deref(), kept: &kept, ..Asked::default() },
    )?;

    let mut results: Vec<Option<QueryResult>> = vec![None; spec.program.roots.len()];
    let mut failures = Vec::new();
    for (division, roots) in divisions(spec) {
        let slot = keys[roots[0]].and_then(|slot| kept.iter().position(|kept| *kept == slot));
        let (loaded, trace) = (&run.loaded, Cow::Borrowed(&run.loaded.trace));
        let column = slot.map(|slot| &loaded.kept[slot]);
        let divided = Divided::new(&division, column, loaded, trace, &run.options)?;
        let job =
            Job { session, asked: options, spec, engine: run.chosen.engine, options: &run.options, loaded };
        for (root, result) in roots.iter().zip(job.run(&roots, &divided, &mut failures)?) {
            results[*root] = Some(result);
        }
    }
    if let Some(totals) = totals {
        totals.add(session, spec, run.chosen.engine, &run.options, &run.loaded.trace)?;
    }
    let warnings = run.warnings();
    Ok(QueryReport {
        trace: run.loaded.name().to_string(),
        positions: run.loaded.summary.positions,
        bytes: run.loaded.summary.bytes,
        engine: run.chosen.engine,
        queries: results.into_iter().flatten().collect(),
        requirements: Vec::new(),
        failures,
        warnings,
    })
}

/// The specification without its properties, each query divided by this column unless it says otherwise.
fn queries_of(by: Option<&str>, spec: &Specification) -> Result<Specification, Error> {
    let own = spec.of_kind(RootKind::Query).into_owned();
    let mut spec = own.with_required(own.program.roots.clone());
    if spec.program.roots.is_empty() {
        return Err(Error::refused(
            "the specification has properties, but no query; `tracewise check` gives their verdicts",
        ));
    }
    if let Some(column) = by {
        for root in spec.program.roots.iter_mut().filter(|root| root.division.by.is_none()) {
            root.division.by = Some(tw_ir::Path::parse(column));
        }
    }
    spec.program.divide_neighbours();
    Ok(spec)
}

/// The column of `by`, if all queries that have one have the same, a plain name.
fn one_key(spec: &Specification) -> Option<String> {
    let mut columns = spec.program.roots.iter().filter_map(|root| root.division.by.as_ref());
    let first = columns.next()?;
    let [tw_ir::PathStep::Field(name)] = first.steps.as_slice() else { return None };
    columns.all(|other| other == first).then(|| name.to_string())
}

/// Adds a slot for each `by` column, so that it is read in the same pass; the slot of each root.
fn key_slots(spec: &mut Specification) -> Vec<Option<SlotId>> {
    let mut slots: Vec<(tw_ir::Path, SlotId)> = Vec::new();
    let program = &mut spec.program;
    let mut slot = |root: &Root| {
        let path = root.division.by.as_ref()?;
        if let Some((_, slot)) = slots.iter().find(|(known, _)| known == path) {
            return Some(*slot);
        }
        let what = What::Variable(path.clone(), Expect::Any);
        program.slots.push(Slot { what, declared: false, span: root.span });
        let slot = (program.slots.len() - 1) as SlotId;
        slots.push((path.clone(), slot));
        Some(slot)
    };
    program.roots.iter().map(&mut slot).collect()
}

/// Queries that divide the trace alike, by their numbers.
fn divisions(spec: &Specification) -> Vec<(Division, Vec<usize>)> {
    let mut divisions: Vec<(Division, Vec<usize>)> = Vec::new();
    for (index, root) in spec.program.roots.iter().enumerate() {
        match divisions.iter_mut().find(|(division, _)| *division == root.division) {
            Some((_, roots)) => roots.push(index),
            None => divisions.push((root.division.clone(), vec![index])),
        }
    }
    divisions
}

/// A query whose value cannot be computed.
fn failed(spec: &Specification, root: &Root, place: &str, message: &str) -> Error {
    let diagnostic = Diagnostic::error(
        "not-computable",
        format!("the value of `{}`{place} cannot be computed: {message}", root.name),
    )
    .at(root.span, "in this query");
    let diagnostic = match message.contains("overflows") {
        true => {
            diagnostic.help("integers have 64 bits; a real constant such as `1.0` makes the arithmetic real")
        }
        false => diagnostic,
    };
    Error::unsupported(spec, diagnostic)
}

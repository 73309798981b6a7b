//! Running an engine on a divided trace, and what is told of its values.

use super::{Approximation, EXPLAINED, Group, QueryOptions, QueryResult, failed, missing, witness};
use crate::error::{Budget, Setting};
use crate::plan::{self, Chosen, Who, restrict};
use crate::run::columns::Loaded;
use crate::run::divide::{Divided, Edge};
use crate::{Error, Session, Specification};
use tw_core::Value;
use tw_ir::{Aggregate, Node, NodeId, Root};
use tw_monitor::{Answers, Computed, EvaluateOptions, Note, Trace, Values};
use tw_trace::Stamp;

/// Queries to be run on parts of a loaded trace.
pub(super) struct Job<'a> {
    pub session: &'a Session,
    pub asked: &'a QueryOptions,
    pub spec: &'a Specification,
    /// The engine for all of them.
    pub engine: &'static str,
    pub options: &'a EvaluateOptions,
    pub loaded: &'a Loaded,
}

impl Job<'_> {
    /// The results of these roots, in order.
    pub(super) fn run(
        &self,
        roots: &[usize],
        divided: &Divided<'_>,
        failures: &mut Vec<Error>,
    ) -> Result<Vec<QueryResult>, Error> {
        let chosen = roots.iter().map(|root| self.spec.program.roots[*root].clone()).collect();
        let spec = self.spec.with_roots(chosen);
        let trace = restrict(&divided.trace, &self.spec.program, &spec.program);
        self.refuse_large(&spec, divided)?;
        let mut ready = Ready::new(self.session, &spec, self.engine, self.options, &trace)?;
        let values = ready.values(&trace)?;
        let notes = ready.chosen.about_answers();
        let mut results = Vec::with_capacity(roots.len());
        for (root, values) in spec.program.roots.iter().zip(values) {
            let mut groups = Vec::with_capacity(values.len());
            let mut failure = None;
            for (segment, label) in divided.labels.iter().enumerate() {
                let (key, window) = (label.key, label.window);
                match values.at(segment) {
                    Computed::Value(value) => {
                        groups.push(Group { segment, key, window, value, missing: None, witness: None });
                    }
                    Computed::Error(message) => {
                        failure
                            .get_or_insert_with(|| failed(&spec, root, &place(root, &key, window), &message));
                    }
                }
            }
            failures.extend(failure);
            results.push(QueryResult {
                name: root.name.clone(),
                title: root.title.clone(),
                expression: spec.words(root.node),
                by: root.division.by.as_ref().map(ToString::to_string),
                every: root.division.every.map(|every| every.to_string()),
                groups,
                everywhere: None,
                times: None,
                approximate: approximations(&spec, root, &notes),
                counts: super::counts(&spec, root),
            });
        }
        if self.asked.everywhere {
            self.everywhere(&spec, &trace, divided, &mut ready, &mut results, failures)?;
        }
        if divided.labels.len() <= EXPLAINED && self.asked.explain {
            missing::explain(self, &spec, &trace, &mut results)?;
        }
        if self.asked.witness || results.iter().any(|result| result.groups.len() == 1) {
            witness::add(self, &spec, &trace, divided, &mut ready, &mut results)?;
        }
        Ok(results)
    }

    /// The values at every position, in the order of the log.
    fn everywhere(
        &self,
        spec: &Specification,
        trace: &Trace,
        divided: &Divided<'_>,
        ready: &mut Ready<'_>,
        results: &mut [QueryResult],
        failures: &mut Vec<Error>,
    ) -> Result<(), Error> {
        let times = self.loaded.trace.times.as_ref().zip(self.loaded.summary.style);
        for (root, result) in spec.program.roots.iter().zip(results) {
            let column = ready.column(trace, root.node)?;
            if let Some((at, message)) = column.errors.first() {
                let place = format!(" at position {}", divided.order.original(*at));
                failures.push(failed(spec, root, &place, message));
                result.everywhere = Some(Vec::new());
                continue;
            }
            let mut values = vec![Value::Null; self.loaded.trace.len];
            for at in 0..trace.len {
                if let Computed::Value(value) = column.at(at) {
                    values[divided.order.original(at)] = value;
                }
            }
            result.everywhere = Some(values);
            result.times =
                times.map(|(times, style)| times.iter().map(|&time| Stamp { time, style }).collect());
        }
        Ok(())
    }
}

/// Bytes that a value in a report takes, about.
const VALUE: usize = 64;
/// Bytes that a bin of a histogram takes, about.
const BIN: usize = 160;

impl Job<'_> {
    /// Values count against the memory budget, too: one per part, or one per position.
    fn refuse_large(&self, spec: &Specification, divided: &Divided<'_>) -> Result<(), Error> {
        let each = |root: &Root| {
            let bins = |id: &NodeId| match spec.program.dag.node(*id) {
                Node::Collect(Aggregate::Histogram(bins), _)
                | Node::CollectWhile(Aggregate::Histogram(bins), ..) => bins as usize,
                _ => 0,
            };
            let bins: usize = spec.program.reachable(&[root.node]).iter().map(bins).sum();
            VALUE.saturating_add(bins.saturating_mul(BIN))
        };
        let places = match self.asked.everywhere {
            true => self.loaded.trace.len,
            false => divided.labels.len(),
        };
        let bytes =
            spec.program.roots.iter().map(each).fold(0usize, usize::saturating_add).saturating_mul(places);
        let budget = self.session.evaluate.memory_budget;
        if bytes <= budget {
            return Ok(());
        }
        Err(Error::Budget(Budget {
            setting: Setting::Memory,
            what: format!("{places} values of each query"),
            needed: Some(bytes),
            allowed: budget,
            instead: None,
            trace: self.loaded.name().to_string(),
        }))
    }
}

/// What notes say about the parts of a query.
pub(crate) fn approximations(spec: &Specification, root: &Root, notes: &[Note]) -> Vec<Approximation> {
    if notes.is_empty() {
        return Vec::new();
    }
    let reachable = spec.program.reachable(&[root.node]);
    let mine = notes.iter().filter(|note| reachable.binary_search(&note.node).is_ok());
    mine.map(|note| Approximation { part: spec.words(note.node), bound: note.bound.clone() }).collect()
}

/// ` for user = bob from 2024-01-01T00:00:00Z`, in a message.
fn place(root: &Root, key: &Option<Value>, window: Option<(Edge, Edge)>) -> String {
    let mut place = String::new();
    if let (Some(path), Some(key)) = (&root.division.by, key) {
        place.push_str(&format!(" for {path} = {key}"));
    }
    match window {
        Some((Edge::Time(from), _)) => place.push_str(&format!(" from {}", from.format())),
        Some((Edge::Position(from), _)) => place.push_str(&format!(" from position {from}")),
        None => {}
    }
    place
}

/// An engine with the truth columns that it asked for.
pub(super) struct Ready<'p> {
    spec: &'p Specification,
    options: &'p EvaluateOptions,
    pub chosen: Chosen<'p>,
}

impl<'p> Ready<'p> {
    pub(super) fn new(
        session: &Session,
        spec: &'p Specification,
        engine: &str,
        options: &'p EvaluateOptions,
        trace: &Trace,
    ) -> Result<Self, Error> {
        let session = session.clone().engine(engine);
        let mut chosen = plan::choose(&session, spec, options, Who::Any(Answers::Values))?;
        chosen.give_guards(spec, options, trace)?;
        Ok(Self { spec, options, chosen })
    }

    /// The values of the roots, one per segment.
    pub(super) fn values(&mut self, trace: &Trace) -> Result<Vec<Values>, Error> {
        self.chosen.values(self.spec, self.options, trace)
    }

    /// The values of one node at every position.
    pub(super) fn column(&mut self, trace: &Trace, node: NodeId) -> Result<Values, Error> {
        let mut columns = self.columns(trace, &[node])?;
        columns.pop().ok_or_else(|| Error::Internal("an engine gave no column".into()))
    }

    /// The same of several nodes.
    pub(super) fn columns(&mut self, trace: &Trace, nodes: &[NodeId]) -> Result<Vec<Values>, Error> {
        self.chosen.value_columns(self.spec, trace, nodes)
    }
}

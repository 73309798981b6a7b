//! Running an engine on a divided trace, and what is told of its values.

use super::divide::{Divided, restrict};
use super::{Approximation, EXPLAINED, Group, QueryResult, failed, missing, witness};
use crate::load::Loaded;
use crate::query::Edge;
use crate::{Error, QUERY_ENGINES, Session, Specification, plan};
use tw_core::{Bits, Value};
use tw_ir::{Aggregate, Node, NodeId, Root, RootKind};
use tw_monitor::{Computed, EvaluateOptions, Note, QueryEngine, QueryEvaluator, Trace, Values};
use tw_trace::Stamp;

/// Queries to be run on parts of a loaded trace.
pub(super) struct Job<'a> {
    pub session: &'a Session,
    pub spec: &'a Specification,
    pub engine: &'static dyn QueryEngine,
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
        let spec = with_roots(self.spec, chosen);
        let trace = restrict(&divided.trace, self.spec, &spec);
        self.refuse_large(&spec, divided)?;
        let mut ready = Ready::new(self.session, &spec, self.engine, self.options, &trace)?;
        let values = ready.values(&trace)?;
        let notes = ready.evaluator.notes();
        let mut results = Vec::with_capacity(roots.len());
        for (root, values) in spec.program.roots.iter().zip(values) {
            let mut groups = Vec::with_capacity(values.len());
            let mut failure = None;
            for (segment, (label, computed)) in divided.labels.iter().zip(values).enumerate() {
                let (key, window) = (label.key.clone(), label.window);
                match computed {
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
            });
        }
        if self.session.everywhere {
            self.everywhere(&spec, &trace, divided, &mut ready, &mut results, failures)?;
        }
        if divided.labels.len() <= EXPLAINED && self.session.explain {
            missing::explain(self, &spec, &trace, &mut results)?;
        }
        if self.session.witness || results.iter().any(|result| result.groups.len() == 1) {
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
                let place = format!(" at position {}", divided.original(*at));
                failures.push(failed(spec, root, &place, message));
                result.everywhere = Some(Vec::new());
                continue;
            }
            let mut values = vec![Value::Null; self.loaded.trace.len];
            for at in 0..trace.len {
                if let Computed::Value(value) = column.at(at) {
                    values[divided.original(at)] = value;
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
        let places = match self.session.everywhere {
            true => self.loaded.trace.len,
            false => divided.labels.len(),
        };
        let bytes =
            spec.program.roots.iter().map(each).fold(0usize, usize::saturating_add).saturating_mul(places);
        let budget = self.session.memory_budget;
        if bytes <= budget {
            return Ok(());
        }
        let error = tw_trace::TraceError::new(
            tw_trace::TraceErrorKind::Budget,
            format!(
                "{places} values of each query take about {bytes} bytes, beyond the memory budget of {budget} (raise \
                 it with --memory)"
            ),
        );
        Err(error.in_file(&self.loaded.name).into())
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

/// The specification with other roots.
pub(super) fn with_roots(spec: &Specification, roots: Vec<Root>) -> Specification {
    let program = tw_ir::Program { roots, ..spec.program.clone() };
    let Specification { sources, tree, warnings, .. } = spec;
    Specification { program, sources: sources.clone(), tree: tree.clone(), warnings: warnings.clone() }
}

/// A node as a root.
pub(super) fn root(spec: &Specification, node: NodeId, kind: RootKind) -> Root {
    let span = spec.span(node).unwrap_or_default();
    // Nobody reads its name, and parts of a long text would have long names.
    Root { name: String::new(), title: None, division: Default::default(), kind, node, span }
}

/// An engine and the truth columns that it asked for.
pub(super) struct Ready<'p> {
    spec: &'p Specification,
    engine: &'static dyn QueryEngine,
    options: &'p EvaluateOptions,
    pub evaluator: Box<dyn QueryEvaluator + 'p>,
    guards: Vec<Bits>,
    session: &'p Session,
}

impl<'p> Ready<'p> {
    pub(super) fn new(
        session: &'p Session,
        spec: &'p Specification,
        engine: &'static dyn QueryEngine,
        options: &'p EvaluateOptions,
        trace: &Trace,
    ) -> Result<Self, Error> {
        let evaluator = engine
            .plan(&spec.program, options)
            .map_err(|refusal| plan::refused(spec, engine.name(), refusal))?;
        let guards = guards(session, spec, options, trace, evaluator.guards())?;
        Ok(Self { spec, engine, options, evaluator, guards, session })
    }

    /// The values of the roots. Where the engine's budget runs out, another answers.
    pub(super) fn values(&mut self, trace: &Trace) -> Result<Vec<Vec<Computed>>, Error> {
        let refusal = match self.evaluator.values(trace, &self.guards) {
            Ok(values) => return Ok(values),
            Err(refusal) => refusal,
        };
        let others = QUERY_ENGINES.iter().filter(|other| other.name() != self.engine.name());
        for other in others.filter(|_| refusal.exhausted && self.session.engine == "auto") {
            let Ok(mut next) = Ready::new(self.session, self.spec, *other, self.options, trace) else {
                continue;
            };
            if let Ok(values) = next.evaluator.values(trace, &next.guards) {
                *self = next;
                return Ok(values);
            }
        }
        Err(plan::refused(self.spec, self.engine.name(), refusal))
    }

    /// The values of one node at every position.
    pub(super) fn column(&mut self, trace: &Trace, node: NodeId) -> Result<Values, Error> {
        let mut columns = self.columns(trace, &[node])?;
        columns.pop().ok_or_else(|| Error::Usage("the engine gave no column".into()))
    }

    /// The same of several nodes.
    pub(super) fn columns(&mut self, trace: &Trace, nodes: &[NodeId]) -> Result<Vec<Values>, Error> {
        let columns = self.evaluator.columns(trace, &self.guards, nodes);
        columns.map_err(|refusal| plan::refused(self.spec, self.engine.name(), refusal))
    }
}

/// The truth of formulas at every position, by the fastest engine that can.
fn guards(
    session: &Session,
    spec: &Specification,
    options: &EvaluateOptions,
    trace: &Trace,
    nodes: &[NodeId],
) -> Result<Vec<Bits>, Error> {
    if nodes.is_empty() {
        return Ok(Vec::new());
    }
    let roots = nodes.iter().map(|&node| root(spec, node, RootKind::Property)).collect();
    let formulas = with_roots(spec, roots);
    let trace = restrict(trace, spec, &formulas);
    let engine = if session.engine == "reference" { "reference" } else { "auto" };
    let session = session.clone().engine(engine).clock(options.clock);
    plan::choose(&session, &formulas, options)?.columns(&formulas, options, &trace, nodes)
}

//! Totals over several traces: every aggregate collects over the positions of all of them.
//!
//! A ratio of counts is the ratio of all counts, a median the median of all values; no average of averages. Temporal
//! operators still see one trace at a time.

use super::compute::Ready;
use super::missing::asked_first;
use super::{Approximation, failed};
use crate::{Error, Session, Specification};
use rustc_hash::FxHashMap;
use tw_core::{Column, Value};
use tw_ir::{Aggregate, Node, NodeId, Root, RootKind};
use tw_monitor::{EvaluateOptions, Trace, both, either};
use tw_statistics::{Accumulator, Limits};

/// What aggregates have collected so far.
#[derive(Debug, Default)]
pub struct Totals {
    collected: FxHashMap<NodeId, Accumulator>,
    /// Why a total cannot be had: an error in a trace.
    failed: FxHashMap<NodeId, String>,
    traces: usize,
}

impl Totals {
    /// Nothing collected.
    pub fn new() -> Self {
        Self::default()
    }

    /// Traces added so far.
    pub fn traces(&self) -> usize {
        self.traces
    }

    /// Adds what the aggregates of undivided queries collect on a trace.
    pub(super) fn add(
        &mut self,
        session: &Session,
        spec: &Specification,
        engine: &str,
        options: &EvaluateOptions,
        trace: &Trace,
    ) -> Result<(), Error> {
        let mut collects: Vec<(NodeId, Aggregate, NodeId)> = Vec::new();
        for root in spec.program.roots.iter().filter(|root| root.division.is_whole()) {
            for id in asked_first(&spec.program, root.node) {
                if let Node::Collect(aggregate, body) = spec.program.dag.node(id) {
                    collects.push((id, aggregate, body));
                }
            }
        }
        collects.sort_unstable_by_key(|(id, ..)| *id);
        collects.dedup_by_key(|(id, ..)| *id);
        let mut ready = Ready::new(session, spec, engine, options, trace)?;
        let limits = Limits { exact_bytes: session.evaluate.memory_budget / 4 / collects.len().max(1) };
        // A few at a time: their columns are as long as the trace.
        for some in collects.chunks(8) {
            let bodies: Vec<NodeId> = some.iter().map(|(_, _, body)| *body).collect();
            for ((id, aggregate, _), column) in some.iter().zip(ready.columns(trace, &bodies)?) {
                let accumulator =
                    self.collected.entry(*id).or_insert_with(|| Accumulator::new(*aggregate, limits));
                if let Some((at, message)) = column.errors.first() {
                    self.failed.entry(*id).or_insert_with(|| format!("{message} (position {at})"));
                }
                if let Err(message) = push(accumulator, &column.column) {
                    self.failed.entry(*id).or_insert(message);
                }
            }
        }
        self.traces += 1;
        Ok(())
    }

    /// The total of each query; `None` where a query has none: it divides the trace, or asks for something at the
    /// first position that is no aggregate.
    pub fn values(&self, spec: &Specification) -> Vec<Option<Total>> {
        let queries = spec.program.roots.iter().filter(|root| root.kind == RootKind::Query);
        queries.map(|root| self.value(spec, root)).collect()
    }

    fn value(&self, spec: &Specification, root: &Root) -> Option<Total> {
        if !root.division.is_whole() {
            return None;
        }
        let dag = &spec.program.dag;
        let constant = |id: NodeId| match dag.node(id) {
            Node::Constant(constant) => Some(Ok(dag.constants[constant as usize].clone())),
            _ => None,
        };
        let mut known: FxHashMap<NodeId, Result<Value, String>> = FxHashMap::default();
        let mut approximate = Vec::new();
        for id in asked_first(&spec.program, root.node) {
            let part = |id: NodeId| known.get(&id).cloned();
            let two = |a: NodeId, b: NodeId, f: &dyn Fn(&Value, &Value) -> Result<Value, String>| {
                part(a).zip(part(b)).map(|(a, b)| f(&a?, &b?))
            };
            let value = match dag.node(id) {
                Node::Collect(..) => match (self.failed.get(&id), self.collected.get(&id)) {
                    (Some(message), _) => Some(Err(message.clone())),
                    (None, collected) => collected.map(|collected| {
                        let bound = collected.bound().map(|bound| bound.to_string());
                        let note = |bound| Approximation { part: spec.words(id), bound };
                        approximate.extend(bound.map(note));
                        collected.result()
                    }),
                },
                Node::Emit(always, term) if dag.node(always) == Node::Bool(true) => constant(term),
                Node::Both(g, a, b) => two(a, b, &|a, b| both(g, a, b)),
                Node::Either(g, a, b) => two(a, b, &|a, b| either(g, a, b)),
                Node::Default(a, c) => match part(a) {
                    Some(Ok(Value::Null)) => constant(c),
                    other => other,
                },
                Node::Fails(a, c) => match part(a) {
                    Some(Ok(Value::Null)) => constant(c),
                    other => other.map(|value| value.map(|_| Value::Null)),
                },
                _ => None,
            };
            known.extend(value.map(|value| (id, value)));
        }
        let value =
            known.remove(&root.node)?.map_err(|message| failed(spec, root, " over all traces", &message));
        Some(Total { value, approximate })
    }
}

/// A value over all traces.
#[derive(Debug)]
pub struct Total {
    /// The value, or why it cannot be computed.
    pub value: Result<Value, Error>,
    /// Parts that are approximate, and how far off they may be.
    pub approximate: Vec<Approximation>,
}

fn push(accumulator: &mut Accumulator, column: &Column) -> Result<(), String> {
    match column {
        Column::Truth(bits) => accumulator.push_true(bits.count_ones() as u64),
        Column::Int { values, valid } => valid.iter_ones().for_each(|at| accumulator.push_int(values[at])),
        Column::Real { values, valid } => valid.iter_ones().for_each(|at| accumulator.push_real(values[at])),
        other => {
            for at in 0..other.len() {
                let value = other.value(at);
                if !value.is_null() {
                    accumulator.push(&value)?;
                }
            }
        }
    }
    Ok(())
}

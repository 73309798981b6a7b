//! Totals over several traces: every aggregate collects over the positions of all of them.
//!
//! A ratio of counts is the ratio of all counts, a median the median of all values; no average of averages. Temporal
//! operators still see one trace at a time.

use super::compute::Ready;
use super::missing::asked_first;
use crate::{Error, Session, Specification};
use rustc_hash::FxHashMap;
use tw_core::{Column, Value};
use tw_ir::{Node, NodeId, Root, RootKind};
use tw_monitor::{EvaluateOptions, QueryEngine, Trace, both, either};
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
        engine: &'static dyn QueryEngine,
        options: &EvaluateOptions,
        trace: &Trace,
    ) -> Result<(), Error> {
        self.traces += 1;
        let mut ready = Ready::new(session, spec, engine, options, trace)?;
        let limits = Limits { exact_bytes: session.memory_budget / 4 };
        let mut done = Vec::new();
        for root in spec.program.roots.iter().filter(|root| root.division.is_whole()) {
            for id in asked_first(&spec.program, root.node) {
                let Node::Collect(aggregate, body) = spec.program.dag.node(id) else { continue };
                if done.contains(&id) {
                    continue;
                }
                done.push(id);
                let column = ready.column(trace, body)?;
                let accumulator =
                    self.collected.entry(id).or_insert_with(|| Accumulator::new(aggregate, limits));
                if let Some((at, message)) = column.errors.first() {
                    self.failed.entry(id).or_insert_with(|| format!("{message} (position {at})"));
                }
                if let Err(message) = push(accumulator, &column.column) {
                    self.failed.entry(id).or_insert(message);
                }
            }
        }
        Ok(())
    }

    /// The total of each query; `None` where a query has none: it divides the trace, or asks for something at the
    /// first position that is no aggregate.
    pub fn values(&self, spec: &Specification) -> Vec<Option<Value>> {
        let queries = spec.program.roots.iter().filter(|root| root.kind == RootKind::Query);
        queries.map(|root| self.value(spec, root)).collect()
    }

    fn value(&self, spec: &Specification, root: &Root) -> Option<Value> {
        if !root.division.is_whole() {
            return None;
        }
        let dag = &spec.program.dag;
        let constant = |id: NodeId| match dag.node(id) {
            Node::Constant(constant) => Some(dag.constants[constant as usize].clone()),
            _ => None,
        };
        let mut known: FxHashMap<NodeId, Value> = FxHashMap::default();
        for id in asked_first(&spec.program, root.node) {
            let part = |id: NodeId| known.get(&id).cloned();
            let value = match dag.node(id) {
                Node::Collect(..) if self.failed.contains_key(&id) => None,
                Node::Collect(..) => self.collected.get(&id).and_then(|collected| collected.result().ok()),
                Node::Emit(always, term) if dag.node(always) == Node::Bool(true) => constant(term),
                Node::Both(g, a, b) => part(a).zip(part(b)).and_then(|(a, b)| both(g, &a, &b).ok()),
                Node::Either(g, a, b) => part(a).zip(part(b)).and_then(|(a, b)| either(g, &a, &b).ok()),
                Node::Default(a, c) => match part(a) {
                    Some(Value::Null) => constant(c),
                    other => other,
                },
                Node::Fails(a, c) => match part(a) {
                    Some(Value::Null) => constant(c),
                    other => other.map(|_| Value::Null),
                },
                _ => None,
            };
            known.extend(value.map(|value| (id, value)));
        }
        known.remove(&root.node)
    }
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

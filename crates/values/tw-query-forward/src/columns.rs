//! Experiments at every position of a stored trace.
//!
//! What arrives as the trace is read is gathered. An `agg[ψ]`, and what stands over it, is known at the end only: it is
//! computed from what was gathered of ψ, from the end back.

use crate::experiment::combine;
use crate::feed::Window;
use crate::fragment::streams;
use crate::machine::Machine;
use crate::plan::Plan;
use crate::sink::{Sink, append};
use crate::stream::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;
use tw_core::{Bits, Column, Value};
use tw_ir::{Node, NodeId, Program};
use tw_monitor::{Computed, EvaluateOptions, Note, Trace, Unsupported, Values, both, either};
use tw_statistics::Accumulator;

/// The values of `nodes` at every position.
pub(crate) fn columns(
    program: &Program,
    options: &EvaluateOptions,
    trace: &Trace,
    nodes: &[NodeId],
    notes: &mut Vec<Note>,
) -> Result<Vec<Values>, Unsupported> {
    let (gathered, late) = needed(program, nodes)?;
    let bytes = (gathered.len() + late.len() * 4).saturating_mul(trace.len).saturating_mul(8);
    if bytes > options.memory_budget {
        let what = format!(
            "the values of {} experiments at {} positions within the memory budget",
            nodes.len(),
            trace.len
        );
        return Err(Unsupported::budget(what).help("ask for the value at the first position alone"));
    }
    let plan = Arc::new(Plan::of_columns(program, options, &gathered)?);
    let mut machine = Machine::new(plan.clone());
    let mut columns: BTreeMap<NodeId, Values> = BTreeMap::new();
    for segment in 0..if trace.len == 0 { 0 } else { trace.starts().len() } {
        let (from, to) = (trace.starts()[segment], trace.segment_end(segment));
        machine.reset();
        machine.push(&Window { atoms: &trace.atoms, terms: &trace.terms, from, to })?;
        machine.finish()?;
        for (&id, sink) in gathered.iter().zip(&machine.sinks) {
            let Sink::Gather(gather) = sink else { continue };
            let Some(values) = gather.values.clone() else { continue };
            match columns.get_mut(&id) {
                None => drop(columns.insert(id, values)),
                Some(column) => {
                    column.errors.extend(values.errors.into_iter().map(|(at, text)| (from + at, text)));
                    append(&mut column.column, values.column);
                }
            }
        }
        notes.extend(machine.results(None).1);
    }
    notes.dedup();
    let empty = || Values { column: Column::Truth(Bits::new()), errors: Vec::new() };
    for id in gathered {
        columns.entry(id).or_insert_with(empty);
    }
    for id in late {
        let values = backwards(program, &plan, trace, id, &columns);
        columns.insert(id, values);
    }
    Ok(nodes.iter().map(|id| columns.get(id).cloned().unwrap_or_else(empty)).collect())
}

/// The nodes to gather, and those to compute from them, ascending.
fn needed(program: &Program, nodes: &[NodeId]) -> Result<(Vec<NodeId>, Vec<NodeId>), Unsupported> {
    let (mut gathered, mut late) = (Vec::new(), Vec::new());
    let mut seen = vec![false; program.dag.len()];
    let mut todo = nodes.to_vec();
    while let Some(id) = todo.pop() {
        if id.index() >= seen.len() {
            return Err(Unsupported::construct(id, "a node of another program"));
        }
        if std::mem::replace(&mut seen[id.index()], true) {
            continue;
        }
        if let Some(refusal) = crate::why_not(program, id) {
            return Err(refusal);
        }
        if streams(program, id) {
            gathered.push(id);
            continue;
        }
        late.push(id);
        match program.dag.node(id) {
            Node::Collect(_, a) | Node::Fails(a, _) | Node::Default(a, _) => todo.push(a),
            Node::Both(_, a, b) | Node::Either(_, a, b) => todo.extend([a, b]),
            _ => {}
        }
    }
    late.sort_unstable();
    Ok((gathered, late))
}

fn cell(values: &Values, at: usize) -> Cell {
    match values.at(at) {
        Computed::Value(value) => Ok(value),
        Computed::Error(message) => Err(message.into()),
    }
}

/// An experiment whose values the end decides.
fn backwards(
    program: &Program,
    plan: &Plan,
    trace: &Trace,
    id: NodeId,
    columns: &BTreeMap<NodeId, Values>,
) -> Values {
    let mut cells: Vec<Cell> = Vec::with_capacity(trace.len);
    let of = |id: NodeId, at: usize| columns.get(&id).map_or(Ok(Value::Null), |values| cell(values, at));
    let node = program.dag.node(id);
    let terms = program.terms();
    let term = |id: NodeId, at: usize| match program.dag.node(id) {
        Node::Constant(constant) => Ok(program.dag.constants[constant as usize].clone()),
        _ => match terms.binary_search(&id) {
            Ok(index) => trace.terms[index].at(at).map_err(Into::into),
            Err(_) => Ok(Value::Null),
        },
    };
    match node {
        Node::Collect(aggregate, a) => {
            for segment in (0..trace.starts().len()).rev() {
                let mut accumulator = Accumulator::new(aggregate, plan.limits);
                let (mut error, mut result): (Option<Arc<str>>, Cell) = (None, Ok(Value::Null));
                for at in (trace.starts()[segment]..trace.segment_end(segment)).rev() {
                    match of(a, at) {
                        Err(message) => error = Some(message),
                        Ok(Value::Null) => {}
                        Ok(value) if error.is_none() => match accumulator.push_front(&value) {
                            Ok(()) => result = accumulator.result().map_err(Into::into),
                            Err(message) => error = Some(message.into()),
                        },
                        Ok(_) => {}
                    }
                    cells.push(error.clone().map_or_else(|| result.clone(), Err));
                }
            }
            cells.reverse();
        }
        Node::Both(g, a, b) => cells.extend((0..trace.len).map(|at| {
            let (a, b) = (of(a, at), of(b, at));
            combine(&a, &b, |a, b| both(g, a, b))
        })),
        Node::Either(g, a, b) => cells.extend((0..trace.len).map(|at| {
            let (a, b) = (of(a, at), of(b, at));
            combine(&a, &b, |a, b| either(g, a, b))
        })),
        Node::Fails(a, c) => cells.extend((0..trace.len).map(|at| match of(a, at) {
            Ok(Value::Null) => term(c, at),
            Ok(_) => Ok(Value::Null),
            error => error,
        })),
        Node::Default(a, c) => cells.extend((0..trace.len).map(|at| match of(a, at) {
            Ok(Value::Null) => term(c, at),
            other => other,
        })),
        _ => {}
    }
    let mut errors = Vec::new();
    let values = cells.into_iter().enumerate().map(|(at, cell)| {
        cell.unwrap_or_else(|message| {
            errors.push((at, message.to_string()));
            Value::Null
        })
    });
    Values { column: Column::Any(values.collect()), errors }
}

//! Where a value comes from: the positions that produced an extreme, the stretch that was counted.
//!
//! The walk starts at the query and goes down to what its value rests on: into the stretch with the longest count,
//! to the position with the largest value, to the end of an until. Columns are asked for as the walk needs them.

use super::compute::{Job, Ready};
use super::{EXPLAINED, Group, LogLine, QueryResult};
use crate::run::divide::Divided;
use crate::{Error, Specification, check};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Ordering;
use tw_core::{Column, Position, Value};
use tw_ir::{Aggregate, ArithmeticOp, Function, Node, NodeId};
use tw_monitor::{Computed, Trace, Values, order};

/// Where a value comes from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Witness {
    /// The parts that it rests on, in the order of the query.
    pub origins: Vec<Origin>,
}

/// A part of a query and the positions behind its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Origin {
    /// The part, in the user's words.
    pub part: String,
    /// Its value there.
    pub value: Value,
    /// First position that it rests on.
    pub from: Position,
    /// Last one.
    pub to: Position,
    /// Their lines in the log.
    pub lines: Option<(LogLine, LogLine)>,
    /// The positions whose values were collected, the first of them.
    pub positions: Vec<Position>,
    /// How many there are in all.
    pub count: usize,
}

/// Positions that an [`Origin`] lists.
const LISTED: usize = 10;
/// Parts that a [`Witness`] names.
const PARTS: usize = 16;

/// Adds witnesses to results: those asked for, and the places of `first` and `last`.
pub(super) fn add(
    job: &Job<'_>,
    spec: &Specification,
    trace: &Trace,
    divided: &Divided<'_>,
    ready: &mut Ready<'_>,
    results: &mut [QueryResult],
) -> Result<(), Error> {
    let mut walk = Walk { spec, trace, columns: FxHashMap::default() };
    let mut wanted: Vec<Position> = Vec::new();
    for (root, result) in spec.program.roots.iter().zip(results.iter_mut()) {
        let place =
            matches!(spec.program.dag.node(root.node), Node::Collect(Aggregate::First | Aggregate::Last, _));
        if !job.asked.witness && !place {
            continue;
        }
        let mut groups: Vec<&mut Group> =
            result.groups.iter_mut().filter(|group| !group.value.is_null()).collect();
        // The largest are looked at first, so they are explained first.
        groups.sort_by(|a, b| size(&b.value).total_cmp(&size(&a.value)));
        for group in groups.into_iter().take(EXPLAINED) {
            let mut witness = walk.from(ready, root.node, trace.starts()[group.segment])?;
            for origin in &mut witness.origins {
                origin.from = divided.order.original(origin.from);
                origin.to = divided.order.original(origin.to);
                origin.positions.iter_mut().for_each(|at| *at = divided.order.original(*at));
                wanted.extend([origin.from, origin.to]);
            }
            group.witness = Some(witness);
        }
    }
    wanted.sort_unstable();
    wanted.dedup();
    if wanted.is_empty() {
        return Ok(());
    }
    let lines = job.loaded.locate(&wanted);
    let line = |at: &Position| lines.get(at).and_then(check::log_line);
    let witnesses = results.iter_mut().flat_map(|result| &mut result.groups);
    for origin in witnesses.filter_map(|group| group.witness.as_mut()).flat_map(|w| &mut w.origins) {
        origin.lines = line(&origin.from).zip(line(&origin.to));
    }
    Ok(())
}

struct Walk<'a> {
    spec: &'a Specification,
    trace: &'a Trace,
    columns: FxHashMap<NodeId, Values>,
}

impl Walk<'_> {
    fn from(&mut self, ready: &mut Ready<'_>, query: NodeId, start: Position) -> Result<Witness, Error> {
        let mut witness = Witness::default();
        let mut todo = vec![(query, start)];
        let mut seen = FxHashSet::default();
        while let Some((id, at)) = todo.pop() {
            if witness.origins.len() == PARTS {
                break;
            }
            // What two parts share is told once.
            if !seen.insert((id, at)) {
                continue;
            }
            let node = self.spec.program.dag.node(id);
            match node {
                Node::Both(Function::First, a, _) => todo.push((a, at)),
                Node::Both(Function::Second, _, b) => todo.push((b, at)),
                Node::Both(_, a, b) | Node::Either(_, a, b) => {
                    for side in self.sides(ready, node, a, b, at)? {
                        todo.push((side, at));
                    }
                }
                Node::Default(a, _) => {
                    if !self.value(ready, a, at)?.is_null() {
                        todo.push((a, at));
                    }
                }
                Node::NextMap { body, .. } => todo.push((body, at + 1)),
                Node::UntilMap { pair, .. } => {
                    let Some(goal) = self.spec.program.dag.node(pair).children().nth(1) else { continue };
                    let end = self.trace.segment_of(at).1;
                    let goals = self.column(ready, goal)?;
                    if let Some(k) = (at..end).find(|&k| has_value(goals, k)) {
                        todo.push((goal, k));
                    }
                }
                Node::Collect(aggregate, body) => {
                    let end = self.trace.segment_of(at).1;
                    match self.producer(ready, aggregate, body, at, end)? {
                        Some(k) => todo.push((body, k)),
                        None => witness.origins.extend(self.collected(ready, id, body, at, end, false)?),
                    }
                }
                Node::CollectWhile(aggregate, body, during) => {
                    let end = self.trace.segment_of(at).1;
                    let stretch = self.column(ready, during)?;
                    let end = (at..end).find(|&k| !has_value(stretch, k)).unwrap_or(end);
                    let mut origin = self.collected(ready, id, body, at, end, true)?;
                    if let Some(k) = self.producer(ready, aggregate, body, at, end)? {
                        origin.iter_mut().for_each(|origin| {
                            origin.positions = vec![k];
                            origin.count = 1;
                        });
                    }
                    witness.origins.extend(origin);
                }
                // A number that the query's writer put there has no place in the trace.
                Node::Emit(_, term) if matches!(self.spec.program.dag.node(term), Node::Constant(_)) => {
                    if id == query {
                        witness.origins.push(self.here(ready, id, at)?);
                    }
                }
                _ => witness.origins.push(self.here(ready, id, at)?),
            }
        }
        Ok(witness)
    }

    fn column(&mut self, ready: &mut Ready<'_>, node: NodeId) -> Result<&Values, Error> {
        if !self.columns.contains_key(&node) {
            let column = ready.column(self.trace, node)?;
            self.columns.insert(node, column);
        }
        Ok(&self.columns[&node])
    }

    fn value(&mut self, ready: &mut Ready<'_>, node: NodeId, at: Position) -> Result<Value, Error> {
        Ok(value(self.column(ready, node)?, at))
    }

    /// The sides of `&{g}` or `|{g}` that the value rests on, the left one last (it is told first).
    fn sides(
        &mut self,
        ready: &mut Ready<'_>,
        node: Node,
        a: NodeId,
        b: NodeId,
        at: Position,
    ) -> Result<Vec<NodeId>, Error> {
        let (left, right) = (self.value(ready, a, at)?, self.value(ready, b, at)?);
        let extreme = match node {
            Node::Both(Function::Arithmetic(op @ (ArithmeticOp::Min | ArithmeticOp::Max)), ..)
            | Node::Either(Function::Arithmetic(op @ (ArithmeticOp::Min | ArithmeticOp::Max)), ..) => {
                Some(op)
            }
            _ => None,
        };
        Ok(match (left.is_null(), right.is_null(), extreme) {
            (true, true, _) => Vec::new(),
            (false, true, _) => vec![a],
            (true, false, _) => vec![b],
            (false, false, Some(op)) => {
                let second = order(&right, &left)
                    .is_some_and(|o| if op == ArithmeticOp::Min { o.is_lt() } else { o.is_gt() });
                vec![if second { b } else { a }]
            }
            (false, false, None) => vec![b, a],
        })
    }

    /// The one position that an aggregate took its value from, if it took it from one.
    fn producer(
        &mut self,
        ready: &mut Ready<'_>,
        aggregate: Aggregate,
        body: NodeId,
        from: Position,
        end: Position,
    ) -> Result<Option<Position>, Error> {
        let column = self.column(ready, body)?;
        let better = match aggregate {
            Aggregate::First => return Ok((from..end).find(|&k| has_value(column, k))),
            Aggregate::Last => return Ok((from..end).rev().find(|&k| has_value(column, k))),
            Aggregate::Min => Ordering::Less,
            Aggregate::Max => Ordering::Greater,
            _ => return Ok(None),
        };
        let mut best: Option<(Position, Value)> = None;
        for at in (from..end).filter(|&k| has_value(column, k)) {
            let value = value(column, at);
            if best.as_ref().is_none_or(|(_, best)| order(&value, best) == Some(better)) {
                best = Some((at, value));
            }
        }
        Ok(best.map(|(at, _)| at))
    }

    /// All that an aggregate collected; its stretch is what it looked at, or what it took.
    fn collected(
        &mut self,
        ready: &mut Ready<'_>,
        id: NodeId,
        body: NodeId,
        from: Position,
        end: Position,
        whole: bool,
    ) -> Result<Option<Origin>, Error> {
        let value = self.value(ready, id, from)?;
        let part = self.spec.words(id);
        let column = self.column(ready, body)?;
        let (mut positions, mut count, mut last) = (Vec::new(), 0, from);
        for at in (from..end).filter(|&k| has_value(column, k)) {
            if positions.len() < LISTED {
                positions.push(at);
            }
            count += 1;
            last = at;
        }
        let Some(&first) = positions.first() else { return Ok(None) };
        let (from, to) = if whole { (from, end - 1) } else { (first, last) };
        Ok(Some(Origin { part, value, from, to, lines: None, positions, count }))
    }

    fn here(&mut self, ready: &mut Ready<'_>, id: NodeId, at: Position) -> Result<Origin, Error> {
        let value = self.value(ready, id, at)?;
        let part = self.spec.words(id);
        Ok(Origin { part, value, from: at, to: at, lines: None, positions: vec![at], count: 1 })
    }
}

fn size(value: &Value) -> f64 {
    match value {
        Value::Int(int) => *int as f64,
        Value::Real(real) => *real,
        _ => f64::NEG_INFINITY,
    }
}

fn has_value(values: &Values, at: Position) -> bool {
    match &values.column {
        Column::Truth(bits) => bits.get(at),
        Column::Int { valid, .. } | Column::Real { valid, .. } | Column::Text { valid, .. } => valid.get(at),
        Column::Words(_) => true,
        Column::Any(values) => !values[at].is_null(),
        Column::Tuples(relation) => !relation.tuples(at).is_empty(),
    }
}

fn value(values: &Values, at: Position) -> Value {
    match values.at(at) {
        Computed::Value(value) => value,
        Computed::Error(_) => Value::Null,
    }
}

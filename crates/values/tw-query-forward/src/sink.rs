//! What is made of streams at the first position.

use crate::nested::Nested;
use crate::plan::{Plan, Use};
use crate::stream::{Cell, Data, Stream};
use crate::stretch::collect;
use std::sync::Arc;
use tw_core::{Bits, Column, Value};
use tw_ir::{Aggregate, NodeId};
use tw_monitor::{Note, Unsupported, Values};
use tw_statistics::Accumulator;

/// A sink: takes values in trace order.
#[derive(Clone, Debug)]
pub(crate) enum Sink {
    First { input: usize, cell: Option<Cell> },
    Running(Running),
    Nested(Box<Nested>),
    Gather(Gather),
}

/// `agg[ψ]`, or `agg[ψ while φ]`, at the first position.
#[derive(Clone, Debug)]
pub(crate) struct Running {
    pub(crate) id: NodeId,
    pub(crate) aggregate: Aggregate,
    pub(crate) inputs: [usize; 2],
    /// Whether it goes on only while φ, the second input, has a value.
    pub(crate) during: bool,
    /// How far was read.
    pub(crate) cursor: usize,
    pub(crate) accumulator: Accumulator,
    pub(crate) error: Option<Arc<str>>,
    /// φ has ended.
    pub(crate) closed: bool,
}

/// All values of a stream.
#[derive(Clone, Debug)]
pub(crate) struct Gather {
    pub(crate) input: usize,
    pub(crate) cursor: usize,
    pub(crate) values: Option<Values>,
}

impl Sink {
    pub(crate) fn new(plan: &Plan, of: &Use) -> Sink {
        let running = |id, aggregate, inputs, during| {
            let accumulator = Accumulator::new(aggregate, plan.limits);
            Running { id, aggregate, inputs, during, cursor: 0, accumulator, error: None, closed: false }
        };
        match *of {
            Use::First { input } => Sink::First { input, cell: None },
            Use::Running { id, aggregate, input } => Sink::Running(running(id, aggregate, [input; 2], false)),
            Use::Stretch { id, aggregate, inputs } => Sink::Running(running(id, aggregate, inputs, true)),
            Use::Nested { id, outer, inner, inputs } => {
                Sink::Nested(Box::new(Nested::new(plan, id, outer, inner, inputs)))
            }
            Use::Gather { input } => Sink::Gather(Gather { input, cursor: 0, values: None }),
        }
    }

    /// The first position that is still needed of each input.
    pub(crate) fn cursors(&self) -> [usize; 2] {
        match self {
            Sink::First { .. } => [0; 2],
            Sink::Running(running) => [running.cursor; 2],
            Sink::Nested(nested) => nested.cursors(),
            Sink::Gather(gather) => [gather.cursor; 2],
        }
    }

    /// Bytes held elsewhere.
    pub(crate) fn heap_bytes(&self) -> usize {
        match self {
            Sink::First { .. } => 0,
            Sink::Running(running) => running.accumulator.heap_bytes(),
            Sink::Nested(nested) => size_of::<Nested>() + nested.accumulator.heap_bytes(),
            Sink::Gather(gather) => gather.values.as_ref().map_or(0, |values| values.column.heap_bytes()),
        }
    }

    /// Whether nothing that comes can change its value.
    pub(crate) fn done(&self) -> bool {
        match self {
            Sink::First { cell, .. } => cell.is_some(),
            Sink::Running(running) => running.closed || running.error.is_some(),
            Sink::Nested(nested) => nested.error.is_some(),
            Sink::Gather(_) => false,
        }
    }

    /// Takes what its inputs have.
    pub(crate) fn step(
        &mut self,
        plan: &Plan,
        streams: &[Stream],
        ended: Option<usize>,
    ) -> Result<(), Unsupported> {
        match self {
            Sink::First { input, cell } => {
                if cell.is_none() && streams[*input].end > 0 {
                    *cell = Some(streams[*input].cell(0));
                }
            }
            Sink::Running(running) => running.step(streams),
            Sink::Nested(nested) => {
                let [a, b] = nested.inputs.map(|input| &streams[input]);
                nested.step(plan, a, b, ended)?;
            }
            Sink::Gather(gather) => gather.step(&streams[gather.input]),
        }
        Ok(())
    }

    /// A sink that takes what is still to come, should the trace end: large statistics are not copied for it.
    pub(crate) fn fork(&self, plan: &Plan) -> Sink {
        match self {
            Sink::Running(running) => {
                let accumulator = Accumulator::new(running.aggregate, plan.limits);
                Sink::Running(Running { accumulator, error: running.error.clone(), ..*running })
            }
            other => other.clone(),
        }
    }

    /// The value at the first position: of this sink, or of `before` and what this one, forked from it, took after.
    pub(crate) fn result(&self, before: Option<&Sink>, notes: &mut Vec<Note>) -> Cell {
        match (self, before) {
            (Sink::First { cell, .. }, _) => cell.clone().unwrap_or(Ok(Value::Null)),
            (Sink::Nested(nested), _) => nested.result(),
            (Sink::Gather(_), _) => Ok(Value::Null),
            (Sink::Running(running), None) => running.result(&running.accumulator, notes),
            (Sink::Running(running), Some(Sink::Running(before))) if running.accumulator.is_empty() => {
                running.result(&before.accumulator, notes)
            }
            (Sink::Running(running), Some(Sink::Running(before))) => {
                let mut accumulator = before.accumulator.clone();
                accumulator.append(&running.accumulator);
                running.result(&accumulator, notes)
            }
            (Sink::Running(running), Some(_)) => running.result(&running.accumulator, notes),
        }
    }
}

impl Running {
    fn step(&mut self, streams: &[Stream]) {
        let [a, guard] = self.inputs.map(|input| &streams[input]);
        let mut to = a.end.min(guard.end);
        let mut stop = None;
        if self.during {
            // Where φ stops to have a value.
            for (word, lo, hi) in crate::stream::spans(self.cursor, to) {
                let stops = !guard.word(word) & crate::stream::mask(lo, hi);
                if stops != 0 {
                    to = word * 64 + stops.trailing_zeros() as usize;
                    stop = Some(to);
                    break;
                }
            }
        }
        if let Err(error) = collect(&mut self.accumulator, self.aggregate, a, self.cursor, to) {
            self.error = Some(error);
        }
        self.cursor = to;
        if let Some(at) = stop {
            self.closed = true;
            self.error = self.error.take().or(guard.cell(at).err());
        }
    }

    fn result(&self, accumulator: &Accumulator, notes: &mut Vec<Note>) -> Cell {
        if let Some(error) = &self.error {
            return Err(error.clone());
        }
        if let Some(bound) = accumulator.bound() {
            notes.push(Note { node: self.id, bound: bound.to_string() });
        }
        accumulator.result().map_err(Into::into)
    }
}

impl Gather {
    fn step(&mut self, a: &Stream) {
        let (from, to) = (self.cursor, a.end);
        if from == to {
            return;
        }
        let range = from - a.base..to - a.base;
        let valid = || (from..to).map(|at| a.bits(at, 1) == 1).collect::<Bits>();
        let mut errors = Vec::new();
        let column = match &a.data {
            Data::Truth(_) => Column::Truth(valid()),
            Data::Int { values, .. } => Column::Int { values: values[range].to_vec(), valid: valid() },
            Data::Real { values, .. } => Column::Real { values: values[range].to_vec(), valid: valid() },
            Data::Any(cells) => {
                let value = |(index, cell): (usize, &Cell)| match cell {
                    Ok(value) => value.clone(),
                    Err(message) => {
                        errors.push((from + index, message.to_string()));
                        Value::Null
                    }
                };
                Column::Any(cells[range].iter().enumerate().map(value).collect())
            }
        };
        match &mut self.values {
            None => self.values = Some(Values { column, errors }),
            Some(values) => {
                values.errors.extend(errors);
                append(&mut values.column, column);
            }
        }
        self.cursor = to;
    }
}

/// Appends experiments' values: truth is `true` or nothing, which `Column::append` would not know of other kinds.
pub(crate) fn append(column: &mut Column, more: Column) {
    let plain = |column: &mut Column| {
        if let Column::Truth(bits) = column {
            let value = |set| if set { Value::Bool(true) } else { Value::Null };
            *column = Column::Any((0..bits.len()).map(|at| value(bits.get(at))).collect());
        }
    };
    let mut more = more;
    if !matches!((&column, &more), (Column::Truth(_), Column::Truth(_))) {
        plain(column);
        plain(&mut more);
    }
    column.append(more);
}

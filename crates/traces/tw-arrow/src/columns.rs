//! Record batches as columns of slots, column by column.
//!
//! The definition is the rows ([`crate::rows`], read by `SlotBuilder`). What is here either gives the columns that the
//! rows give, or says that the rows are to be read: it words no errors, so it cannot word them differently. A slot for
//! which there is no way by columns (lists, maps) is read from rows that hold only what the slot looks at.

mod events;
mod leaf;
mod sound;
mod stamps;
#[cfg(test)]
mod tests;
mod text;

use crate::cell::value;
use crate::rows::Layout;
use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::datatypes::DataType;
use events::Events;
use std::sync::Arc;
use tw_core::{Batch, Bits, Column};
use tw_ir::{ArgumentKey, Expect, Path, PathStep, What};
use tw_trace::{
    Arguments, ColumnBuilder, Event, PartBatch, Projection, ReadOptions, Row, SlotBuilder, Vocabulary,
    expect_of,
};

/// Where a path leads.
enum Place {
    /// To no column.
    Nowhere,
    /// To a column, and from there so many of the path's steps on.
    Column(usize, Vec<PathStep>),
}

/// Reads batches of one schema for one projection. Threads share it.
pub(crate) struct Mapper {
    pub(crate) layout: Arc<Layout>,
    pub(crate) projection: Projection,
    any_order: bool,
    /// Where each slot's path leads, and the key's behind them.
    places: Vec<Place>,
    key: Option<Place>,
}

impl Mapper {
    pub(crate) fn new(layout: Arc<Layout>, projection: &Projection, options: &ReadOptions) -> Self {
        let place = |what: &What| match what {
            What::Proposition(path) | What::Variable(path, _) => place(&layout, path),
            What::Event { .. }
            | What::Tuples { .. }
            | What::Timing(_)
            | What::Stream { .. }
            | What::Shift(_)
            | What::Window(_) => Place::Nowhere,
        };
        Self {
            places: projection.slots.iter().map(|slot| place(&slot.what)).collect(),
            key: projection.key.as_ref().map(|key| self::place(&layout, &key.path)),
            any_order: options.any_order,
            projection: projection.clone(),
            layout,
        }
    }

    /// The columns of a batch that has rows; `None` if its rows are to be read, because they hold an error.
    pub(crate) fn read(&self, batch: &RecordBatch, seen: &mut Vocabulary) -> Option<PartBatch> {
        let len = batch.num_rows();
        if batch.num_columns() != self.layout.names.len() || self.layout.needs_rows() {
            return None;
        }
        let times = match self.layout.time {
            Some(index) => stamps::stamps(batch.column(index), self.layout.stamps, self.any_order)?,
            None => None,
        };
        let events = match self.layout.event {
            Some(index) => Some(Events::new(batch.column(index))?),
            None => None,
        };
        for (index, name) in &self.layout.variables {
            if !sound::sound(batch.column(*index)) {
                return None;
            }
            seen.note_variable(name);
        }
        seen.positions += len as u64;
        for name in events.iter().flat_map(Events::names) {
            seen.note_event(name, &self.projection);
        }
        let mut slots = Vec::with_capacity(self.places.len() + 1);
        for (index, place) in self.places.iter().enumerate() {
            slots.push(self.slot(batch, index, place, events.as_ref(), seen)?);
        }
        if let Some(place) = &self.key {
            let (column, found) = self.keys(batch, place)?;
            seen.key |= found;
            slots.push(column);
        }
        let ends = times.as_ref().map(|times| (times.first, times.last));
        let times = times.filter(|_| self.projection.times).map(|times| times.times);
        Some(PartBatch { batch: Batch { len, slots, times }, times: ends })
    }

    fn slot(
        &self,
        batch: &RecordBatch,
        index: usize,
        place: &Place,
        events: Option<&Events>,
        seen: &mut Vocabulary,
    ) -> Option<Column> {
        let (what, len) = (&self.projection.slots[index].what, batch.num_rows());
        let column = |name: &str| self.layout.variable(name).map(|index| &**batch.column(index));
        match what {
            What::Event { name, arguments, .. } => match events {
                Some(events) => events.happens_with(name, arguments, &column).map(Column::Truth),
                None => Some(Column::Truth(Bits::repeat(false, len))),
            },
            What::Tuples { name, constants, arguments, .. } => match events {
                Some(events) => events.tuples(name, constants, arguments, &column).map(Column::Tuples),
                None => self.by_rows(batch, index, &[], None, seen),
            },
            What::Proposition(path) => {
                let happens =
                    || events.map_or(Bits::repeat(false, len), |events| events.happens(&path.to_string()));
                let Place::Column(first, steps) = place else { return Some(Column::Truth(happens())) };
                let Some(leaf) = walk(batch.column(*first), steps) else {
                    return self.by_rows(batch, index, &[*first], events, seen);
                };
                seen.variable[index] |= leaf.is_somewhere(len);
                let Column::Truth(mut truth) =
                    leaf::column(&*leaf.array, Expect::Bool, leaf.present.as_ref())?
                else {
                    return None;
                };
                // Where there is no such variable, an event of that name may happen.
                if let Some(present) = &leaf.present {
                    let events = happens();
                    let words = truth.words_mut().iter_mut().zip(events.words()).zip(present.words());
                    words.for_each(|((truth, event), present)| *truth |= event & !present);
                }
                Some(Column::Truth(truth))
            }
            What::Variable(_, used) => {
                let expect = expect_of(what);
                let Place::Column(first, steps) = place else { return absent(expect, *used, len) };
                let Some(leaf) = walk(batch.column(*first), steps) else {
                    return self.by_rows(batch, index, &[*first], events, seen);
                };
                seen.variable[index] |= leaf.is_somewhere(len);
                leaf::column(&*leaf.array, expect, leaf.present.as_ref())
            }
            // A projection asks for the column of that name instead.
            What::Timing(_) | What::Stream { .. } | What::Shift(_) | What::Window(_) => None,
        }
    }

    /// One slot by its definition, from rows that hold the columns it looks at.
    fn by_rows(
        &self,
        batch: &RecordBatch,
        index: usize,
        columns: &[usize],
        events: Option<&Events>,
        seen: &mut Vocabulary,
    ) -> Option<Column> {
        let slots = self.projection.slots.get(index..=index)?;
        let (column, own) = self.defined(batch, &Projection::new(slots, None, false), columns, events)?;
        seen.variable[index] |= own.variable[0];
        seen.event[index] |= own.event[0];
        Some(column)
    }

    /// The one column of a projection, by its definition.
    fn defined(
        &self,
        batch: &RecordBatch,
        projection: &Projection,
        columns: &[usize],
        events: Option<&Events>,
    ) -> Option<(Column, Vocabulary)> {
        let mut builder = SlotBuilder::new(projection);
        let mut own = Vocabulary::new(projection.slots.len());
        let mut row = Row { typed: true, ..Row::default() };
        for at in 0..batch.num_rows() {
            row.variables.clear();
            for &column in columns {
                let cell = value(batch.column(column), at, 0).ok()?;
                row.variables.push((self.layout.names[column].clone(), cell));
            }
            row.events.clear();
            if let Some(name) = events.and_then(|events| events.at(at)) {
                row.events.push(Event { name: name.clone(), arguments: Arguments::OfRow });
            }
            builder.push(&row, &mut own).ok()?;
        }
        Some((builder.finish(false).slots.pop()?, own))
    }

    /// The texts of the key, and whether any is there.
    fn keys(&self, batch: &RecordBatch, place: &Place) -> Option<(Column, bool)> {
        let Place::Column(first, steps) = place else {
            return Some((nulls(Expect::Text, batch.num_rows()), false));
        };
        match walk(batch.column(*first), steps) {
            Some(leaf) => text::keys(&*leaf.array, leaf.present.as_ref()),
            None => {
                let projection = Projection { slots: [].into(), times: false, ..self.projection.clone() };
                let (column, own) = self.defined(batch, &projection, &[*first], None)?;
                Some((column, own.key))
            }
        }
    }
}

/// A column of that very name, else that of the first step.
fn place(layout: &Layout, path: &Path) -> Place {
    if let Some(index) = layout.variable(&path.to_string()) {
        return Place::Column(index, Vec::new());
    }
    match path.steps.first() {
        Some(PathStep::Field(first)) => match layout.variable(first) {
            Some(index) => Place::Column(index, path.steps[1..].to_vec()),
            None => Place::Nowhere,
        },
        _ => Place::Nowhere,
    }
}

/// The array at the end of a path.
struct Leaf {
    array: ArrayRef,
    /// Where the structures on the way are not null; everywhere if nothing is said.
    present: Option<Bits>,
}

impl Leaf {
    fn is_somewhere(&self, len: usize) -> bool {
        len > 0 && self.present.as_ref().is_none_or(|present| present.count_ones() > 0)
    }
}

/// Goes through structures; `None` where something else is on the way, or a name that is there twice.
fn walk(array: &ArrayRef, steps: &[PathStep]) -> Option<Leaf> {
    let mut leaf = Leaf { array: array.clone(), present: None };
    for step in steps {
        let (PathStep::Field(name), DataType::Struct(fields)) = (step, leaf.array.data_type()) else {
            return None;
        };
        let mut named = fields.iter().enumerate().filter(|(_, field)| field.name() == name);
        let (Some((index, _)), None) = (named.next(), named.next()) else { return None };
        if let Some(nulls) = leaf.array.nulls() {
            let here = leaf::bits(nulls.inner());
            leaf.present = Some(match leaf.present {
                Some(before) => leaf::both(before, &here),
                None => here,
            });
        }
        leaf.array = leaf.array.as_struct().column(index).clone();
    }
    Some(leaf)
}

/// The column of a variable that is nowhere: a proposition that does not hold, also where lists are asked for, else null.
fn absent(expect: Expect, used: Expect, len: usize) -> Option<Column> {
    if used != Expect::Bool {
        return Some(nulls(expect, len));
    }
    let mut column = ColumnBuilder::new(expect);
    (0..len).try_for_each(|_| column.push_bool(false)).ok()?;
    Some(column.finish())
}

/// A column of nulls.
fn nulls(expect: Expect, len: usize) -> Column {
    let mut column = ColumnBuilder::new(expect);
    (0..len).for_each(|_| column.push_null());
    column.finish()
}

/// The name of an argument, where arguments have names.
fn argument_name(key: &ArgumentKey) -> Option<&str> {
    match key {
        ArgumentKey::Name(name) | ArgumentKey::Declared { name, .. } => Some(name),
        ArgumentKey::Index(_) => None,
    }
}

//! What each slot takes from a row of CSV.

use super::decode::{self, Cells};
use super::header::Header;
use super::structure::Kernel;
use crate::{ColumnBuilder, equals, expect_of};
use tw_core::{Bits, Column, Value};
use tw_ir::{ArgumentKey, Expect, PathStep, What};

/// What a slot takes.
pub(super) enum Take {
    /// A column's cells.
    Cells(usize, Expect),
    /// Whether an event of this name happens, with these arguments.
    Event(String, Vec<(Argument, Value)>),
    /// Nothing: the file does not have it.
    Null(Expect),
    /// The elements of a cell, which is never a list.
    EmptyList,
}

/// Where an argument is.
pub(super) enum Argument {
    /// In this column.
    Column(usize),
    /// Nowhere.
    Absent,
    /// Asked for by position, which arguments of CSV do not have.
    Position,
}

impl Take {
    /// `computed` columns are filled in later, if the file does not have them.
    pub fn new(what: &What, header: &Header, computed: bool) -> Take {
        match what {
            What::Proposition(path) | What::Variable(path, _) => {
                let expect = expect_of(what);
                if let Some(column) = header.variable(&path.to_string()) {
                    return Take::Cells(column, expect);
                }
                let first = match path.steps.first() {
                    Some(PathStep::Field(name)) => header.variable(name),
                    _ => None,
                };
                match what {
                    What::Variable(..) if first.is_some() && path.has_each() => Take::EmptyList,
                    What::Proposition(_) if header.event.is_some() => {
                        Take::Event(path.to_string(), Vec::new())
                    }
                    _ if computed => Take::Null(Expect::Bool),
                    _ => Take::Null(expect),
                }
            }
            What::Timing(_) | What::Stream { .. } | What::Shift(_) | What::Window(_) => {
                Take::Null(expect_of(what))
            }
            What::Event { name, arguments, .. } if header.event.is_some() => {
                let argument = |(key, value): &(ArgumentKey, Value)| {
                    let place = match key {
                        ArgumentKey::Index(_) => Argument::Position,
                        ArgumentKey::Name(name) | ArgumentKey::Declared { name, .. } => {
                            header.variable(name).map_or(Argument::Absent, Argument::Column)
                        }
                    };
                    (place, value.clone())
                };
                Take::Event(name.clone(), arguments.iter().map(argument).collect())
            }
            // Tuples are read row by row.
            What::Event { .. } | What::Tuples { .. } => Take::Null(Expect::Bool),
        }
    }

    /// The column, if the slot is its truth value.
    pub fn truth_column(&self) -> Option<usize> {
        match self {
            Take::Cells(column, Expect::Bool) => Some(*column),
            _ => None,
        }
    }

    /// Whether the name is a variable here.
    pub fn is_variable(&self) -> bool {
        matches!(self, Take::Cells(..) | Take::EmptyList)
    }

    /// The use made of it.
    pub fn expect(&self) -> Expect {
        match self {
            Take::Cells(_, expect) | Take::Null(expect) => *expect,
            Take::Event(..) => Expect::Bool,
            Take::EmptyList => Expect::Any,
        }
    }
}

/// A slot's column under construction.
pub(super) struct Taking<'t> {
    take: &'t Take,
    builder: ColumnBuilder,
    /// For each distinct event name so far: whether it is the one.
    named: Vec<bool>,
}

impl<'t> Taking<'t> {
    pub fn new(take: &'t Take) -> Self {
        Self { take, builder: ColumnBuilder::new(take.expect()), named: Vec::new() }
    }

    /// Appends rows; `events` holds their events as its last entries. `None` leaves the block to the definition.
    pub fn push(&mut self, cells: &Cells<'_>, events: Option<&ColumnBuilder>, kernel: Kernel) -> Option<()> {
        match self.take {
            Take::Cells(column, _) => decode::push(&mut self.builder, cells, *column, kernel).ok()?,
            Take::Null(_) => self.builder.push_nulls(cells.rows),
            Take::EmptyList => {
                let empty = Value::List(Vec::new());
                (0..cells.rows).try_for_each(|_| self.builder.push_value(&empty)).ok()?;
            }
            Take::Event(name, arguments) => {
                let (Some(ColumnBuilder::Text { ids, dictionary, valid, .. }), ColumnBuilder::Truth(bits)) =
                    (events, &mut self.builder)
                else {
                    return None;
                };
                let known = self.named.len();
                self.named.extend(dictionary.entries[known..].iter().map(|entry| **entry == **name));
                push_events(bits, &self.named, ids, valid, arguments, cells)?;
            }
        }
        Some(())
    }

    /// Makes room for so many rows.
    pub fn reserve(&mut self, rows: usize) {
        self.builder.reserve(rows);
    }

    pub fn finish(self) -> Column {
        self.builder.finish()
    }
}

fn push_events(
    bits: &mut Bits,
    named: &[bool],
    ids: &[u32],
    valid: &Bits,
    arguments: &[(Argument, Value)],
    cells: &Cells<'_>,
) -> Option<()> {
    let first = ids.len() - cells.rows;
    for row in 0..cells.rows {
        let at = first + row;
        let mut happens = valid.get(at) && named[ids[at] as usize];
        if happens {
            for (place, constant) in arguments {
                let fits = match place {
                    Argument::Column(column) => {
                        let cell = cells.cell(row, *column);
                        let text = std::str::from_utf8(&cell).ok()?;
                        !text.is_empty() && equals(&Value::text(text), constant, false)
                    }
                    Argument::Absent => false,
                    Argument::Position => return None,
                };
                if !fits {
                    happens = false;
                    break;
                }
            }
        }
        bits.push(happens);
    }
    Some(())
}

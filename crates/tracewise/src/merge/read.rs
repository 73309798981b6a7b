//! Reads a trace as a sequence of states.

mod rows;

use super::names::{Style, Valuations};
use crate::error::Setting;
use crate::plan::Who;
use crate::run::columns::{Keys, Need, read as read_columns};
use crate::run::faults::{refuse_empty, trace_error};
use crate::run::open::Opened;
use crate::run::order::{Aside, StepsBack};
use crate::run::{Asked, Run};
use crate::{Error, Session, Specification};
use rows::{named_by, rows};
use std::ops::ControlFlow;
use std::sync::Arc;
use tw_core::{Column, Value};
use tw_ir::{Expect, Path, Slot, What};
use tw_monitor::{Answers, Wanted};
use tw_trace::{Locator, Projection, Row, TraceError, TraceErrorKind};

/// What of a trace its states are.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    /// The value of one column.
    Column(String),
    /// The values of several.
    Columns(Vec<String>),
    /// The values of all variables, whichever there are.
    Everything,
    /// The events of a position.
    Events,
    /// The same, where nobody asked for it: there are no variables.
    EventsAlone,
    /// One of those above, as the first position shows: of what can be read once.
    Unknown,
    /// Formulas and terms of a specification: by name, what they are, and the specification of those of that kind.
    Specification(Arc<Properties>),
}

/// State properties: what a specification says of one position.
#[derive(Clone, Debug)]
pub(crate) struct Properties {
    /// Names in the order of the file.
    pub names: Vec<String>,
    /// Formulas, with the index of their name.
    pub formulas: Option<(Specification, Vec<usize>)>,
    /// Terms likewise: queries `true : term`.
    pub terms: Option<(Specification, Vec<usize>)>,
}

impl Source {
    /// Where its states are numbered.
    pub fn valuations(&self) -> Valuations {
        match self {
            Source::Column(column) => Valuations::new(Style::Bare, std::slice::from_ref(column)),
            Source::Columns(columns) => Valuations::new(Style::Valuation, columns),
            Source::Everything | Source::Unknown => Valuations::new(Style::Valuation, &[]),
            Source::Events | Source::EventsAlone => Valuations::new(Style::Events, &[]),
            Source::Specification(properties) => Valuations::new(Style::Predicates, &properties.names),
        }
    }
}

/// A trace that was read.
pub(crate) struct Read {
    pub positions: u64,
    pub locator: Locator,
    pub aside: Aside,
}

/// Reads a trace; `states` is given the codes of its states, stretch by stretch.
pub(crate) fn read(
    session: &Session,
    source: &Source,
    files: &[String],
    valuations: &mut Valuations,
    states: &mut dyn FnMut(&[u32]) -> Result<(), TraceError>,
) -> Result<Read, Error> {
    if let Source::Specification(properties) = source {
        return by_properties(session, properties, files, valuations, states);
    }
    let mut opened = Opened::new(session, files)?;
    opened.read.any_order |= opened.read.sort.is_none();
    let read = match source {
        Source::Column(column) => one_column(session, &opened, column, valuations, states),
        Source::Columns(columns) => several_columns(session, &opened, columns, valuations, states),
        _ => rows(&mut opened, source, None, valuations, states),
    };
    read.map_err(|error| error.in_file(&opened.name).into())
}

/// The same, and the values of a column beside the states.
pub(crate) fn read_with_keys(
    session: &Session,
    source: &Source,
    files: &[String],
    column: &str,
    valuations: &mut Valuations,
    states: &mut dyn FnMut(&[u32]) -> Result<(), TraceError>,
) -> Result<(Read, Keys), Error> {
    let mut keys = Keys::default();
    if !files.iter().any(|file| readable_once(file)) {
        let read = read(session, source, files, valuations, states)?;
        let mut opened = Opened::new(session, files)?;
        opened.read.any_order |= opened.read.sort.is_none();
        keys_of(session, &opened, column, &mut keys)?;
        return Ok((read, keys));
    }
    if matches!(source, Source::Specification(_)) {
        return Err(Error::refused(format!(
            "with {} and {} a trace is read several times, which standard input and pipes do not allow; write it to a \
             file first",
            Setting::By,
            Setting::StateSpecification
        )));
    }
    let mut opened = Opened::new(session, files)?;
    let read = rows(&mut opened, source, Some((column, &mut keys)), valuations, states);
    Ok((read.map_err(|error| error.in_file(&opened.name))?, keys))
}

/// Whether a file is gone once it is read: standard input, a pipe.
pub(crate) fn readable_once(file: &str) -> bool {
    file == "-" || std::fs::metadata(file).is_ok_and(|data| !data.is_file() && !data.is_dir())
}

/// The column of keys alone, block by block.
fn keys_of(session: &Session, opened: &Opened, column: &str, keys: &mut Keys) -> Result<(), TraceError> {
    let projection = Projection::new(&[], Some(column), false);
    let map = |mut batch: tw_core::Batch| Ok(batch.slots.pop());
    let mut fold = |column: Option<Column>| {
        column.iter().for_each(|column| keys.extend(column));
        Ok(ControlFlow::Continue(()))
    };
    opened.scan(session, &projection, &map, &mut fold).map(drop)
}

/// The fast way: the column's texts, already numbered block by block.
fn one_column(
    session: &Session,
    opened: &Opened,
    column: &str,
    valuations: &mut Valuations,
    states: &mut dyn FnMut(&[u32]) -> Result<(), TraceError>,
) -> Result<Read, TraceError> {
    let projection = Projection::new(&[], Some(column), true);
    let map = |mut batch: tw_core::Batch| Ok((StepsBack::in_batch(&batch), batch.slots.pop()));
    let (mut codes, mut back) = (Vec::new(), StepsBack::default());
    let mut fold = |(own, column): (StepsBack, Option<Column>)| {
        back.then(own);
        let Some(Column::Text { ids, dictionary, valid }) = column else {
            return Ok(ControlFlow::Continue(()));
        };
        let mut own = Vec::with_capacity(dictionary.entries.len());
        for text in &dictionary.entries {
            valuations.set(0, &named_by(text));
            own.push(valuations.next());
        }
        codes.clear();
        if valid.count_ones() == ids.len() {
            codes.extend(ids.iter().map(|&id| own[id as usize]));
        } else {
            // A position without a state is in the state of which nothing is known.
            let null = valuations.next();
            let of = |(at, &id): (usize, &u32)| if valid.get(at) { own[id as usize] } else { null };
            codes.extend(ids.iter().enumerate().map(of));
        }
        states(&codes)?;
        Ok(ControlFlow::Continue(()))
    };
    let summary = opened.scan(session, &projection, &map, &mut fold)?;
    let aside = Aside::of(back, &summary);
    Ok(Read { positions: summary.positions, locator: summary.locator, aside })
}

fn several_columns(
    session: &Session,
    opened: &Opened,
    columns: &[String],
    valuations: &mut Valuations,
    states: &mut dyn FnMut(&[u32]) -> Result<(), TraceError>,
) -> Result<Read, TraceError> {
    let slots: Vec<Slot> = columns
        .iter()
        .map(|name| {
            let what = What::Variable(Path::parse(name), Expect::Any);
            Slot { what, declared: false, span: Default::default() }
        })
        .collect();
    let projection = Projection::new(&slots, None, true);
    let (mut codes, mut back) = (Vec::new(), StepsBack::default());
    let mut fold = |batch: tw_core::Batch| {
        back.then(StepsBack::in_batch(&batch));
        let numbered: Vec<Vec<u32>> = batch
            .slots
            .iter()
            .enumerate()
            .map(|(at, column)| match column {
                Column::Text { ids, dictionary, valid } => {
                    let own: Vec<u32> = dictionary
                        .entries
                        .iter()
                        .map(|text| valuations.value_code(at, &Value::Str(text.clone())))
                        .collect();
                    let of = |(at, &id): (usize, &u32)| if valid.get(at) { own[id as usize] } else { 0 };
                    ids.iter().enumerate().map(of).collect()
                }
                column => (0..batch.len).map(|row| valuations.value_code(at, &column.value(row))).collect(),
            })
            .collect();
        codes.clear();
        for row in 0..batch.len {
            for (at, column) in numbered.iter().enumerate() {
                valuations.set_code(at, column[row]);
            }
            codes.push(valuations.next());
        }
        states(&codes)?;
        Ok(ControlFlow::Continue(()))
    };
    let summary = opened.scan(session, &projection, &Ok, &mut fold)?;
    let aside = Aside::of(back, &summary);
    Ok(Read { positions: summary.positions, locator: summary.locator, aside })
}

/// Formulas by an engine, over the whole trace: they may speak of other positions, too.
fn by_properties(
    session: &Session,
    properties: &Properties,
    files: &[String],
    valuations: &mut Valuations,
    states: &mut dyn FnMut(&[u32]) -> Result<(), TraceError>,
) -> Result<Read, Error> {
    if properties.formulas.is_some()
        && properties.terms.is_some()
        && files.iter().any(|file| readable_once(file))
    {
        return Err(Error::refused(format!(
            "with formulas and terms in {} a trace is read twice, which standard input and pipes do not allow; write \
             it to a file first",
            Setting::StateSpecification
        )));
    }
    let mut columns: Vec<Vec<u32>> = vec![Vec::new(); properties.names.len()];
    let mut read = None;
    if let Some((spec, names)) = &properties.formulas {
        let mut run = Run::new(session, spec, files, Who::Any(Answers::Verdicts), Asked::default())?;
        let nodes: Vec<_> = spec.program.roots.iter().map(|root| root.node).collect();
        let truths = run.columns(&nodes)?;
        let loaded = run.loaded;
        for (&name, truth) in names.iter().zip(truths) {
            let [no, yes] = [false, true].map(|value| valuations.value_code(name, &Value::Bool(value)));
            columns[name] = (0..truth.len()).map(|at| if truth.get(at) { yes } else { no }).collect();
        }
        let (positions, locator) = (loaded.trace.len as u64, loaded.summary.locator);
        read = Some(Read { positions, locator, aside: Aside::default() });
    }
    if let Some((spec, names)) = &properties.terms {
        let need = Need { wanted: Wanted::TERMS, ..Need::default() };
        let loaded = read_columns(session, spec, files, need, None, None)?;
        refuse_empty(&loaded)?;
        let terms = spec.program.terms();
        for (&name, root) in names.iter().zip(&spec.program.roots) {
            let term = match spec.program.dag.node(root.node) {
                tw_ir::Node::Emit(_, term) => term,
                _ => root.node,
            };
            columns[name] = match terms.binary_search(&term) {
                Ok(at) => {
                    let term = &loaded.trace.terms[at];
                    if let Some((position, message)) = term.errors.first() {
                        let error = TraceError::new(TraceErrorKind::Type, message.clone());
                        let place = loaded.summary.locator.line(*position).unwrap_or(*position as u64 + 1);
                        return Err(trace_error(spec, error.at(place, 1).in_file(loaded.name())));
                    }
                    (0..loaded.trace.len)
                        .map(|at| valuations.value_code(name, &term.column.value(at)))
                        .collect()
                }
                // A constant.
                Err(_) => {
                    let value = match spec.program.dag.node(term) {
                        tw_ir::Node::Constant(constant) => {
                            spec.program.dag.constants[constant as usize].clone()
                        }
                        _ => Value::Null,
                    };
                    vec![valuations.value_code(name, &value); loaded.trace.len]
                }
            };
        }
        let (positions, locator) = (loaded.trace.len as u64, loaded.summary.locator);
        read = Some(Read { positions, locator, aside: Aside::default() });
    }
    let Some(read) = read else { return Err(Error::Internal("no state properties were read".into())) };
    let codes: Vec<u32> = (0..read.positions as usize)
        .map(|position| {
            for (at, column) in columns.iter().enumerate() {
                valuations.set_code(at, column[position]);
            }
            valuations.next()
        })
        .collect();
    states(&codes).map_err(|error| error.in_file(&crate::run::open::display_name(files)))?;
    Ok(read)
}

/// The variables of a trace, read up to the first row that has the one called `until`; and whether it has events.
pub(crate) fn columns_of(opened: &mut Opened, until: &str) -> Result<(Vec<String>, bool), TraceError> {
    let (mut names, mut events): (Vec<String>, bool) = (Vec::new(), false);
    let mut each = |row: &Row| {
        events |= !row.events.is_empty();
        for (at, (name, _)) in row.variables.iter().enumerate() {
            if names.get(at).is_none_or(|known| **known != **name)
                && !names.iter().any(|known| **known == **name)
            {
                names.push(name.to_string());
            }
        }
        Ok(!names.iter().any(|name| name == until))
    };
    opened.rows(&mut each)?;
    Ok((names, events))
}

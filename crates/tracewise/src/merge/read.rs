//! Reads a trace as a sequence of states.

mod rows;

use super::names::{Style, Valuations};
use crate::load::{Need, display_name, load, open, trace_error};
use crate::{Error, Session, Specification, check, plan};
use rows::{named_by, rows};
use rustc_hash::FxHashMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use tw_core::{Column, Value};
use tw_ir::{Expect, Path, PathStep, Slot, What};
use tw_monitor::Wanted;
use tw_trace::{Input, Locator, Projection, Row, TraceError, TraceErrorKind, TraceFormat};

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
    let (input, format) = open(session, files)?;
    let read = match source {
        Source::Column(column) => one_column(session, &input, format, column, valuations, states),
        Source::Columns(columns) => several_columns(session, &input, format, columns, valuations, states),
        _ => rows(session, &input, format, source, None, valuations, states),
    };
    read.map_err(|error| error.in_file(&display_name(files)).into())
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
    let told = |error: TraceError| error.in_file(&display_name(files));
    if !files.iter().any(|file| readable_once(file)) {
        let read = read(session, source, files, valuations, states)?;
        let (input, format) = open(session, files)?;
        keys_of(session, &input, format, column, &mut keys).map_err(told)?;
        return Ok((read, keys));
    }
    if matches!(source, Source::Specification(_)) {
        return Err(Error::Usage(
            "with --by and --states a trace is read several times, which standard input and pipes do not allow; \
             write it to a file first"
                .into(),
        ));
    }
    let (input, format) = open(session, files)?;
    let read = rows(session, &input, format, source, Some((column, &mut keys)), valuations, states);
    Ok((read.map_err(told)?, keys))
}

/// Whether a file is gone once it is read: standard input, a pipe.
pub(crate) fn readable_once(file: &str) -> bool {
    file == "-" || std::fs::metadata(file).is_ok_and(|data| !data.is_file() && !data.is_dir())
}

/// The values of a column: which of them each position has.
#[derive(Default)]
pub(crate) struct Keys {
    /// The texts, in the order in which they turn up.
    pub texts: Vec<Arc<str>>,
    /// The index of each position's text, `u32::MAX` where it has none.
    pub ids: Vec<u32>,
    index: FxHashMap<Arc<str>, u32>,
}

impl Keys {
    fn number(&mut self, text: &str) -> u32 {
        if let Some(&known) = self.index.get(text) {
            return known;
        }
        let (text, number): (Arc<str>, u32) = (text.into(), self.texts.len() as u32);
        self.texts.push(text.clone());
        self.index.insert(text, number);
        number
    }
}

/// The column of keys alone, block by block.
fn keys_of(
    session: &Session,
    input: &Input,
    format: &'static dyn TraceFormat,
    column: &str,
    keys: &mut Keys,
) -> Result<(), TraceError> {
    let projection = Projection::new(&[], Some(column), false);
    let map = |mut batch: tw_core::Batch| Ok(batch.slots.pop());
    let mut fold = |column: Option<Column>| {
        if let Some(Column::Text { ids, dictionary, valid }) = column {
            let own: Vec<u32> = dictionary.entries.iter().map(|text| keys.number(text)).collect();
            let of = |(at, &id): (usize, &u32)| if valid.get(at) { own[id as usize] } else { u32::MAX };
            keys.ids.extend(ids.iter().enumerate().map(of));
        }
        Ok(ControlFlow::Continue(()))
    };
    tw_trace::scan(input, format, &projection, &session.read, &map, &mut fold).map(drop)
}

/// The fast way: the column's texts, already numbered block by block.
fn one_column(
    session: &Session,
    input: &Input,
    format: &'static dyn TraceFormat,
    column: &str,
    valuations: &mut Valuations,
    states: &mut dyn FnMut(&[u32]) -> Result<(), TraceError>,
) -> Result<Read, TraceError> {
    let projection = Projection::new(&[], Some(column), false);
    let map = |mut batch: tw_core::Batch| Ok(batch.slots.pop());
    let mut codes = Vec::new();
    let mut fold = |column: Option<Column>| {
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
    let summary = tw_trace::scan(input, format, &projection, &session.read, &map, &mut fold)?;
    Ok(Read { positions: summary.positions, locator: summary.locator })
}

fn several_columns(
    session: &Session,
    input: &Input,
    format: &'static dyn TraceFormat,
    columns: &[String],
    valuations: &mut Valuations,
    states: &mut dyn FnMut(&[u32]) -> Result<(), TraceError>,
) -> Result<Read, TraceError> {
    let slots: Vec<Slot> = columns
        .iter()
        .map(|name| {
            let what = What::Variable(path_of(name), Expect::Any);
            Slot { what, declared: false, span: Default::default() }
        })
        .collect();
    let projection = Projection::new(&slots, None, false);
    let mut codes = Vec::new();
    let mut fold = |batch: tw_core::Batch| {
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
    let summary = tw_trace::scan(input, format, &projection, &session.read, &Ok, &mut fold)?;
    Ok(Read { positions: summary.positions, locator: summary.locator })
}

fn path_of(column: &str) -> Path {
    Path { steps: column.split('.').map(|field| PathStep::Field(field.to_string())).collect() }
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
        return Err(Error::Usage(
            "with formulas and terms in --states a trace is read twice, which standard input and pipes do not allow; \
             write it to a file first"
                .into(),
        ));
    }
    let mut columns: Vec<Vec<u32>> = vec![Vec::new(); properties.names.len()];
    let mut read = None;
    if let Some((spec, names)) = &properties.formulas {
        let chosen = plan::choose(session, spec, &session.evaluate_options())?;
        let loaded = load(session, spec, files, Need::of(chosen.evaluator.wanted()))?;
        check::refuse_empty(&loaded)?;
        let (mut chosen, options) = check::replan(session, spec, &loaded, chosen)?;
        let nodes: Vec<_> = spec.program.roots.iter().map(|root| root.node).collect();
        let truths = chosen.columns(spec, &options, &loaded.trace, &nodes)?;
        for (&name, truth) in names.iter().zip(truths) {
            let [no, yes] = [false, true].map(|value| valuations.value_code(name, &Value::Bool(value)));
            columns[name] = (0..truth.len()).map(|at| if truth.get(at) { yes } else { no }).collect();
        }
        read = Some(Read { positions: loaded.trace.len as u64, locator: loaded.summary.locator });
    }
    if let Some((spec, names)) = &properties.terms {
        let loaded = load(session, spec, files, Need::of(Wanted::TERMS))?;
        check::refuse_empty(&loaded)?;
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
                        return Err(trace_error(spec, error.at(place, 1).in_file(&loaded.name)));
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
        read = Some(Read { positions: loaded.trace.len as u64, locator: loaded.summary.locator });
    }
    let Some(read) = read else { return Err(Error::Usage("there are no state properties".into())) };
    let codes: Vec<u32> = (0..read.positions as usize)
        .map(|position| {
            for (at, column) in columns.iter().enumerate() {
                valuations.set_code(at, column[position]);
            }
            valuations.next()
        })
        .collect();
    states(&codes).map_err(|error| error.in_file(&display_name(files)))?;
    Ok(read)
}

/// The variables of a trace, read up to the first row that has the one called `until`; and whether it has events.
pub(crate) fn columns_of(
    input: &Input,
    format: &'static dyn TraceFormat,
    session: &Session,
    until: &str,
) -> Result<(Vec<String>, bool), TraceError> {
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
    tw_trace::read_rows(input, format, &session.read, &mut each)?;
    Ok((names, events))
}

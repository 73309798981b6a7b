//! From rows to slot columns: what a cell means under the use that the specification makes of it. Every reader goes
//! through [`ColumnBuilder`], so a fast path can differ from the definition in speed only.

use crate::templates::Derivation;
use crate::{Arguments, Event, Exact, Projection, Row, Stamp, TraceError, TraceErrorKind};
use rustc_hash::FxHashMap;
use std::collections::HashMap;
use std::sync::Arc;
use tw_core::{Batch, Bits, Column, Dictionary, Time, Value, Words};
use tw_ir::{ArgumentKey, Expect, Path, PathStep, SlotId, What};

mod cells;
mod tuples;
mod vocabulary;

pub(crate) use cells::{Cells, meets};
use tuples::Building;
pub(crate) use tuples::TupleBuilder;
pub use vocabulary::{Others, Vocabulary};
pub(crate) use vocabulary::{arities, arity_bit};

/// A cell that does not fit its use: what was found and what was expected.
#[derive(Clone, Debug, PartialEq)]
pub struct CellError {
    /// Found, quoted and shortened.
    pub found: String,
    /// Expected.
    pub expected: &'static str,
}

impl CellError {
    /// As an error of `slot`, to be given a place.
    pub fn into_trace_error(self, name: &dyn std::fmt::Display, slot: Option<SlotId>) -> TraceError {
        let CellError { found, expected } = self;
        let mut error =
            TraceError::new(TraceErrorKind::Type, format!("`{name}`: found {found}, expected {expected}"));
        error.slot = slot;
        error
    }
}

/// `text` in quotes, at most 40 characters of it.
pub fn quote(text: &str) -> String {
    let mut short: String = text.chars().take(40).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    format!("`{}`", short.escape_debug())
}

/// One column under construction.
#[derive(Debug)]
pub enum ColumnBuilder {
    /// [`Expect::Bool`].
    Truth(Bits),
    /// [`Expect::Number`] and [`Expect::Int`] while every number is whole.
    Int {
        /// Values.
        values: Vec<i64>,
        /// Which are not null.
        valid: Bits,
        /// Declared `int`: a fraction is an error instead of turning the column into reals.
        only: bool,
    },
    /// Numbers, since one was not whole.
    Real {
        /// Values.
        values: Vec<f64>,
        /// Which are not null.
        valid: Bits,
    },
    /// Numbers, whole and not.
    Mixed(Vec<Value>),
    /// [`Expect::Real`]: numbers, also those that are written as texts.
    Reals(Box<ColumnBuilder>),
    /// [`Expect::Text`].
    Text {
        /// Ids.
        ids: Vec<u32>,
        /// Id of each text.
        index: FxHashMap<Arc<str>, u32>,
        /// The same of short texts, by their bytes in a number: most columns of text have few and short ones.
        short: FxHashMap<u64, u32>,
        /// Texts.
        dictionary: Dictionary,
        /// Which are not null.
        valid: Bits,
    },
    /// [`Expect::Line`]: null is the empty text.
    Lines(Words),
    /// [`Expect::Any`] while every value is text: a [`ColumnBuilder::Text`].
    Texts(Box<ColumnBuilder>),
    /// [`Expect::Any`].
    Any(Vec<Value>),
}

const BOOL: &str = "a truth value (`true`, `false`, `1`, `0` or nothing), because the specification uses it as a proposition";
const NUMBER: &str = "a finite number, because the specification uses it as a number";
const WHOLE: &str = "a whole number of 64 bits, because it is declared `int`";
const REAL: &str = "a finite number, because it is declared `real`";
const TEXT: &str = "text, because the specification compares it with text";
const LINE: &str = "text, because templates look into it";
const FINITE: &str = "a finite value";

impl ColumnBuilder {
    /// An empty column for cells used as `expect`.
    pub fn new(expect: Expect) -> Self {
        match expect {
            Expect::Bool => ColumnBuilder::Truth(Bits::new()),
            Expect::Number | Expect::Int => {
                ColumnBuilder::Int { values: Vec::new(), valid: Bits::new(), only: expect == Expect::Int }
            }
            Expect::Real => ColumnBuilder::Reals(Box::new(ColumnBuilder::new(Expect::Number))),
            Expect::Text => ColumnBuilder::Text {
                ids: Vec::new(),
                index: FxHashMap::default(),
                short: FxHashMap::default(),
                dictionary: Dictionary::default(),
                valid: Bits::new(),
            },
            Expect::Line => ColumnBuilder::Lines(Words::default()),
            Expect::Any => ColumnBuilder::Texts(Box::new(ColumnBuilder::new(Expect::Text))),
        }
    }

    /// Goes on with values of every kind.
    fn spill(&mut self) {
        if let ColumnBuilder::Texts(texts) = self {
            let column = std::mem::replace(&mut **texts, ColumnBuilder::Any(Vec::new())).finish();
            *self = ColumnBuilder::Any((0..column.len()).map(|at| column.value(at)).collect());
        }
    }

    /// Makes room for so many more positions.
    pub fn reserve(&mut self, additional: usize) {
        match self {
            // A bit each: growing is cheap.
            ColumnBuilder::Truth(_) => {}
            ColumnBuilder::Int { values, .. } => values.reserve(additional),
            ColumnBuilder::Real { values, .. } => values.reserve(additional),
            ColumnBuilder::Text { ids, .. } => ids.reserve(additional),
            ColumnBuilder::Lines(lines) => lines.reserve(additional),
            ColumnBuilder::Texts(inner) | ColumnBuilder::Reals(inner) => inner.reserve(additional),
            ColumnBuilder::Any(values) | ColumnBuilder::Mixed(values) => values.reserve(additional),
        }
    }

    /// Null.
    pub fn push_null(&mut self) {
        match self {
            ColumnBuilder::Truth(bits) => bits.push(false),
            ColumnBuilder::Int { values, valid, .. } => {
                values.push(0);
                valid.push(false);
            }
            ColumnBuilder::Real { values, valid } => {
                values.push(0.0);
                valid.push(false);
            }
            ColumnBuilder::Text { ids, valid, .. } => {
                ids.push(0);
                valid.push(false);
            }
            ColumnBuilder::Lines(lines) => drop(lines.push_any("")),
            ColumnBuilder::Texts(inner) | ColumnBuilder::Reals(inner) => inner.push_null(),
            ColumnBuilder::Any(values) | ColumnBuilder::Mixed(values) => values.push(Value::Null),
        }
    }

    /// So many nulls.
    pub fn push_nulls(&mut self, count: usize) {
        match self {
            ColumnBuilder::Truth(bits) => bits.push_repeat(false, count),
            _ => (0..count).for_each(|_| self.push_null()),
        }
    }

    /// A cell of a format without types (CSV and its like): its use says what it is. Empty is null.
    pub fn push_cell(&mut self, cell: &str) -> Result<(), CellError> {
        if cell.is_empty() {
            self.push_null();
            return Ok(());
        }
        match self {
            ColumnBuilder::Truth(bits) => bits.push(match cell {
                "1" | "true" => true,
                "0" | "false" => false,
                _ => return Err(CellError { found: quote(cell), expected: BOOL }),
            }),
            ColumnBuilder::Int { .. } | ColumnBuilder::Real { .. } | ColumnBuilder::Mixed(_) => {
                match Value::from_cell(cell) {
                    Some(Value::Int(int)) => self.push_int(int)?,
                    Some(Value::Real(real)) => self.push_real(real).map_err(|_| self.misfit(quote(cell)))?,
                    _ => return Err(self.misfit(quote(cell))),
                }
            }
            ColumnBuilder::Reals(numbers) => numbers.push_cell(cell)?,
            ColumnBuilder::Text { .. } | ColumnBuilder::Lines(_) => self.push_text(cell)?,
            ColumnBuilder::Texts(texts) => {
                match if is_plain_text(cell) { Some(Value::Null) } else { Value::from_cell(cell) } {
                    Some(Value::Null | Value::Str(_)) => texts.push_text(cell)?,
                    None => return Err(CellError { found: quote(cell), expected: FINITE }),
                    Some(_) => {
                        self.spill();
                        self.push_cell(cell)?;
                    }
                }
            }
            ColumnBuilder::Any(values) => values.push(
                Value::from_cell(cell).ok_or_else(|| CellError { found: quote(cell), expected: FINITE })?,
            ),
        }
        Ok(())
    }

    /// A value with a type of its own (JSON, Parquet).
    pub fn push_value(&mut self, value: &Value) -> Result<(), CellError> {
        match value {
            Value::Null => self.push_null(),
            Value::Bool(bool) => self.push_bool(*bool)?,
            Value::Int(int) => self.push_int(*int)?,
            Value::Real(real) => self.push_real(*real)?,
            Value::Str(text) => self.push_text(text)?,
            Value::List(_) | Value::Object(_) => match self {
                ColumnBuilder::Texts(_) => {
                    self.spill();
                    self.push_value(value)?;
                }
                ColumnBuilder::Any(values) => values.push(value.clone()),
                ColumnBuilder::Reals(numbers) => numbers.push_value(value)?,
                _ => return Err(self.misfit(value.kind().to_string())),
            },
        }
        Ok(())
    }

    /// A boolean.
    pub fn push_bool(&mut self, bool: bool) -> Result<(), CellError> {
        self.spill();
        match self {
            ColumnBuilder::Truth(bits) => bits.push(bool),
            ColumnBuilder::Any(values) => values.push(Value::Bool(bool)),
            ColumnBuilder::Reals(numbers) => numbers.push_bool(bool)?,
            _ => return Err(self.misfit(format!("`{bool}`"))),
        }
        Ok(())
    }

    /// A whole number.
    pub fn push_int(&mut self, int: i64) -> Result<(), CellError> {
        match self {
            ColumnBuilder::Texts(_) => {
                self.spill();
                self.push_int(int)?;
            }
            ColumnBuilder::Int { values, valid, .. } => {
                values.push(int);
                valid.push(true);
            }
            ColumnBuilder::Real { .. } => {
                self.mix();
                self.push_int(int)?;
            }
            ColumnBuilder::Mixed(values) => values.push(Value::Int(int)),
            ColumnBuilder::Reals(numbers) => numbers.push_int(int)?,
            ColumnBuilder::Truth(bits) if int == 0 || int == 1 => bits.push(int == 1),
            ColumnBuilder::Any(values) => values.push(Value::Int(int)),
            _ => return Err(self.misfit(format!("`{int}`"))),
        }
        Ok(())
    }

    /// A number that is not whole, or was not written as a whole one.
    pub fn push_real(&mut self, real: f64) -> Result<(), CellError> {
        if !real.is_finite() {
            return Err(CellError { found: format!("`{real}`"), expected: FINITE });
        }
        match self {
            ColumnBuilder::Texts(_) => {
                self.spill();
                self.push_real(real)?;
            }
            ColumnBuilder::Real { values, valid } => {
                values.push(real);
                valid.push(true);
            }
            ColumnBuilder::Int { values, valid, only: false } if valid.count_ones() == 0 => {
                let (mut reals, mut valid) = (vec![0.0; values.len()], std::mem::take(valid));
                reals.push(real);
                valid.push(true);
                *self = ColumnBuilder::Real { values: reals, valid };
            }
            ColumnBuilder::Int { only: false, .. } => {
                self.mix();
                self.push_real(real)?;
            }
            ColumnBuilder::Mixed(values) => values.push(Value::Real(real)),
            ColumnBuilder::Reals(numbers) => numbers.push_real(real)?,
            ColumnBuilder::Any(values) => values.push(Value::Real(real)),
            _ => return Err(self.misfit(format!("`{real:?}`"))),
        }
        Ok(())
    }

    /// Text that is text in the trace's own terms.
    pub fn push_text(&mut self, text: &str) -> Result<(), CellError> {
        match self {
            ColumnBuilder::Text { ids, index, short, dictionary, valid } => {
                let mut add = |text: &str| {
                    let shared: Arc<str> = text.into();
                    dictionary.entries.push(shared.clone());
                    (shared, (dictionary.entries.len() - 1) as u32)
                };
                let id = match short_key(text.as_bytes()) {
                    Some(key) => *short.entry(key).or_insert_with(|| add(text).1),
                    None => match index.get(text) {
                        Some(&id) => id,
                        None => {
                            let (shared, id) = add(text);
                            index.insert(shared, id);
                            id
                        }
                    },
                };
                ids.push(id);
                valid.push(true);
            }
            ColumnBuilder::Lines(lines) => {
                if !lines.push_any(text) {
                    let expected = "less than four gigabytes of text in one part of the trace";
                    return Err(CellError { found: "more".into(), expected });
                }
            }
            ColumnBuilder::Texts(texts) => texts.push_text(text)?,
            ColumnBuilder::Any(values) => values.push(Value::text(text)),
            ColumnBuilder::Reals(numbers) => match Value::from_cell(text) {
                Some(Value::Int(_) | Value::Real(_)) => numbers.push_cell(text)?,
                _ => return Err(CellError { found: format!("the text {}", quote(text)), expected: REAL }),
            },
            // Who declares `int` asks for the number that a text holds: ids and nanoseconds are often written so.
            ColumnBuilder::Int { only: true, .. }
                if matches!(Value::from_cell(text), Some(Value::Int(_))) =>
            {
                self.push_cell(text)?;
            }
            _ => return Err(self.misfit(format!("the text {}", quote(text)))),
        }
        Ok(())
    }

    /// Whole and other numbers in one batch are kept as they are: read as reals, whole ones would lose digits and
    /// overflow differently, depending on where batches are cut.
    fn mix(&mut self) {
        let column = std::mem::replace(self, ColumnBuilder::Mixed(Vec::new())).finish();
        *self = ColumnBuilder::Mixed((0..column.len()).map(|at| column.value(at)).collect());
    }

    fn misfit(&self, found: String) -> CellError {
        let expected = match self {
            ColumnBuilder::Truth(_) => BOOL,
            ColumnBuilder::Int { only: true, .. } => WHOLE,
            ColumnBuilder::Int { .. } | ColumnBuilder::Real { .. } | ColumnBuilder::Mixed(_) => NUMBER,
            ColumnBuilder::Reals(_) => REAL,
            ColumnBuilder::Text { .. } => TEXT,
            ColumnBuilder::Lines(_) => LINE,
            ColumnBuilder::Texts(_) | ColumnBuilder::Any(_) => FINITE,
        };
        CellError { found, expected }
    }

    /// Positions so far.
    pub fn len(&self) -> usize {
        match self {
            ColumnBuilder::Truth(bits) => bits.len(),
            ColumnBuilder::Int { values, .. } => values.len(),
            ColumnBuilder::Real { values, .. } => values.len(),
            ColumnBuilder::Text { ids, .. } => ids.len(),
            ColumnBuilder::Lines(lines) => lines.len(),
            ColumnBuilder::Texts(inner) | ColumnBuilder::Reals(inner) => inner.len(),
            ColumnBuilder::Any(values) | ColumnBuilder::Mixed(values) => values.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The column.
    pub fn finish(self) -> Column {
        match self {
            ColumnBuilder::Truth(bits) => Column::Truth(bits),
            ColumnBuilder::Int { values, valid, .. } => Column::Int { values, valid },
            ColumnBuilder::Real { values, valid } => Column::Real { values, valid },
            ColumnBuilder::Text { ids, dictionary, valid, .. } => Column::Text { ids, dictionary, valid },
            ColumnBuilder::Lines(lines) => Column::Words(lines),
            ColumnBuilder::Reals(numbers) => numbers.finish(),
            ColumnBuilder::Texts(texts) => match texts.finish() {
                // Of nulls alone nothing is known.
                Column::Text { ids, dictionary, .. } if dictionary.entries.is_empty() => {
                    Column::Any(vec![Value::Null; ids.len()])
                }
                column => column,
            },
            ColumnBuilder::Any(values) | ColumnBuilder::Mixed(values) => Column::Any(values),
        }
    }
}

/// Whether a cell that is not empty is text and nothing else, as far as its beginning shows: [`Value::from_cell`] makes
/// text of it.
#[inline]
fn is_plain_text(cell: &str) -> bool {
    let is = |word: &str| cell.eq_ignore_ascii_case(word);
    match cell.as_bytes()[0] {
        b'0'..=b'9' | b'-' | b'+' | b'.' => false,
        b't' => cell != "true",
        b'f' => cell != "false",
        b'n' | b'N' => !is("nan"),
        b'i' | b'I' => !is("inf") && !is("infinity"),
        _ => true,
    }
}

/// A text of up to seven bytes as a number, which no other text shares.
fn short_key(text: &[u8]) -> Option<u64> {
    if text.len() > 7 {
        return None;
    }
    let bytes = text.iter().rev().fold(0, |bytes, &byte| bytes << 8 | u64::from(byte));
    Some((text.len() as u64) << 56 | bytes)
}

/// The use a slot makes of its cells.
pub fn expect_of(what: &What) -> Expect {
    match what {
        What::Proposition(_) | What::Event { .. } => Expect::Bool,
        What::Variable(path, _) if path.has_each() => Expect::Any,
        What::Variable(_, expect) => *expect,
        What::Timing(_) => Expect::Number,
        // Filled in later: until then a bit a position, which nobody reads.
        What::Stream { .. } | What::Shift(_) | What::Window(_) => Expect::Bool,
        // What the arguments are used as.
        What::Tuples { .. } => Expect::Any,
    }
}

/// Builds a batch from rows: the definition of what a slot is worth at a position.
pub struct SlotBuilder {
    projection: Projection,
    /// The name each slot is about.
    names: Vec<String>,
    columns: Vec<Building>,
    key: Option<ColumnBuilder>,
    times: Vec<Time>,
    len: usize,
    /// Fills the slots of templates.
    derivation: Option<Derivation>,
    /// The numbers of arguments that events of each name are asked for with.
    arities: HashMap<String, u64>,
    /// By the name of a position's only event, the slots that it concerns: tuples of other events are none of its.
    concerned: HashMap<Arc<str>, Arc<[u32]>>,
}

impl SlotBuilder {
    /// An empty batch for a projection.
    pub fn new(projection: &Projection) -> Self {
        let derivation = Derivation::of(projection);
        let projection = derivation.as_ref().map_or(projection, |derivation| &derivation.reading);
        Self {
            columns: projection.slots.iter().map(|slot| Building::new(&slot.what)).collect(),
            names: projection.slots.iter().map(|slot| describe(&slot.what)).collect(),
            key: projection.key.as_ref().map(|_| ColumnBuilder::new(Expect::Text)),
            times: Vec::new(),
            len: 0,
            projection: projection.clone(),
            arities: arities(projection),
            concerned: HashMap::new(),
            derivation,
        }
    }

    /// The slots that a row concerns, in their order. There may be hundreds of patterns, each about one of a hundred events.
    fn concerned(&mut self, row: &Row) -> Arc<[u32]> {
        let [event] = row.events.as_slice() else { return (0..self.projection.slots.len() as u32).collect() };
        if let Some(known) = self.concerned.get(&event.name) {
            return known.clone();
        }
        let about = |what: &What| match what {
            What::Tuples { name, .. } => **name == *event.name,
            _ => true,
        };
        let slots = self.projection.slots.iter().enumerate();
        let found: Arc<[u32]> =
            slots.filter(|(_, slot)| about(&slot.what)).map(|(index, _)| index as u32).collect();
        // An open vocabulary may be large.
        if self.concerned.len() < 1024 {
            self.concerned.insert(event.name.clone(), found.clone());
        }
        found
    }

    /// Appends a position and notes in `vocabulary` what was seen.
    pub fn push(&mut self, row: &Row, vocabulary: &mut Vocabulary) -> Result<(), TraceError> {
        vocabulary.note_row(row);
        // Templates may look at more texts than there are slots.
        let slots = self.projection.slots.len().max(vocabulary.event.len());
        vocabulary.event.resize(slots, false);
        vocabulary.variable.resize(slots, false);
        for event in row.events.iter().filter(|_| !self.arities.is_empty()) {
            if let (Arguments::Positional(values), Some(asked)) =
                (&event.arguments, self.arities.get(&*event.name))
                && asked & arity_bit(values.len()) == 0
            {
                vocabulary.others.entry(event.name.clone()).or_default().note(values.len());
            }
        }
        if row.typed
            && !row.distinct
            && let Some(key) = crate::formats::duplicate_key(row, &self.projection)
        {
            return Err(row.twice(&key));
        }
        for exact in self.projection.exact.iter() {
            let named = row.events.iter().filter(|event| *event.name == *exact.name);
            for event in named {
                let Arguments::Positional(values) = &event.arguments else { continue };
                if !exact.allows(values.len()) {
                    return Err(other_arity(exact, values.len()).at(row.line, 1));
                }
            }
        }
        for &index in self.concerned(row).iter() {
            let index = index as usize;
            let slot = &self.projection.slots[index];
            let column = match &mut self.columns[index] {
                Building::Column(column) => column,
                Building::Tuples(tuples) => {
                    vocabulary.event[index] |= tuples
                        .push(self.len, row, &slot.what)
                        .map_err(|error| error.for_slot(index as SlotId))?;
                    continue;
                }
            };
            let result = match &slot.what {
                What::Proposition(path) => {
                    let happens = row.events.iter().any(|event| *event.name == *self.names[index]);
                    vocabulary.event[index] |= happens;
                    match lookup(row, path, &self.names[index]) {
                        Found::Value(value) => {
                            vocabulary.variable[index] = true;
                            push(column, value, row.typed)
                        }
                        _ => column.push_bool(happens),
                    }
                }
                What::Variable(path, expect) => match lookup(row, path, &self.names[index]) {
                    Found::Value(value) => {
                        vocabulary.variable[index] = true;
                        push(column, value, row.typed)
                    }
                    Found::Each(values) => {
                        vocabulary.variable[index] = true;
                        column.push_value(&Value::List(values))
                    }
                    // A trace of bare propositions and positional events has no columns that could be meant instead.
                    Found::Absent if *expect == Expect::Bool => {
                        let bare = |event: &Event| matches!(event.arguments, Arguments::Positional(_));
                        let happens =
                            row.events.iter().any(|event| bare(event) && *event.name == *self.names[index]);
                        vocabulary.event[index] |= happens;
                        column.push_bool(happens)
                    }
                    Found::Absent => {
                        column.push_null();
                        Ok(())
                    }
                },
                What::Event { name, arguments, arity } => {
                    let mut happens = false;
                    for event in row.events.iter().filter(|event| *event.name == **name) {
                        vocabulary.event[index] = true;
                        happens |= matches(row, &event.arguments, arguments, *arity)
                            .map_err(|error| error.for_slot(index as SlotId))?;
                    }
                    column.push_bool(happens)
                }
                // Projections have none.
                What::Timing(_) | What::Stream { .. } | What::Shift(_) | What::Window(_) => {
                    column.push_null();
                    Ok(())
                }
                // Has a builder of its own, above.
                What::Tuples { .. } => Ok(()),
            };
            result.map_err(|error| {
                error.into_trace_error(&describe(&slot.what), Some(index as SlotId)).at(row.line, 1)
            })?;
        }
        if let (Some(key), Some(wanted)) = (&mut self.key, &self.projection.key) {
            match lookup(row, &wanted.path, &wanted.name) {
                Found::Value(Value::Null) | Found::Absent => key.push_null(),
                Found::Value(value) => {
                    vocabulary.key = true;
                    let text = value.to_string();
                    if text.is_empty() {
                        key.push_null();
                    } else if let Err(error) = key.push_text(&text) {
                        return Err(error.into_trace_error(&wanted.name, None).at(row.line, 1));
                    }
                }
                Found::Each(_) => key.push_null(),
            }
        }
        if self.projection.times {
            self.times.push(row.time.map_or(0, |stamp: Stamp| stamp.time));
        }
        self.len += 1;
        Ok(())
    }

    /// Positions so far.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The batch; `timed` says whether the trace has timestamps.
    pub fn finish(self, timed: bool) -> Batch {
        let mut slots: Vec<Column> = self.columns.into_iter().map(|column| column.finish(self.len)).collect();
        slots.extend(self.key.map(ColumnBuilder::finish));
        let batch =
            Batch { len: self.len, slots, times: (timed && self.projection.times).then_some(self.times) };
        match &self.derivation {
            Some(derivation) => derivation.derive(batch),
            None => batch,
        }
    }
}

fn push(column: &mut ColumnBuilder, value: &Value, typed: bool) -> Result<(), CellError> {
    match value {
        Value::Str(text) if !typed => column.push_cell(text),
        other => column.push_value(other),
    }
}

/// The name a slot is about, for messages.
pub fn describe(what: &What) -> String {
    match what {
        What::Proposition(path) | What::Variable(path, _) => path.to_string(),
        What::Timing(timing) => timing.measure.name().to_string(),
        What::Stream { name, .. } => name.clone(),
        What::Shift(shift) => shift.path.to_string(),
        What::Window(window) => window.text.clone(),
        What::Event { name, .. } | What::Tuples { name, .. } => name.clone(),
    }
}

enum Found<'r> {
    Value(&'r Value),
    Each(Vec<Value>),
    Absent,
}

/// The value at a path: a variable of that very name (`a.b` as a column), else step by step into nested data.
/// `whole` is the path as text.
fn lookup<'r>(row: &'r Row, path: &Path, whole: &str) -> Found<'r> {
    if let Some((_, value)) = row.variables.iter().find(|(name, _)| **name == *whole) {
        return Found::Value(value);
    }
    let Some(PathStep::Field(first)) = path.steps.first() else { return Found::Absent };
    let Some((_, value)) = row.variables.iter().find(|(name, _)| **name == **first) else {
        return Found::Absent;
    };
    let mut current = vec![value];
    for step in &path.steps[1..] {
        current = current
            .into_iter()
            .flat_map(|value| match (step, value) {
                (PathStep::Field(name), Value::Object(fields)) => {
                    fields.iter().filter(|(key, _)| **key == **name).map(|(_, value)| value).take(1).collect()
                }
                (PathStep::Each, Value::List(items)) => items.iter().collect::<Vec<_>>(),
                _ => Vec::new(),
            })
            .collect();
    }
    if path.has_each() {
        Found::Each(current.into_iter().cloned().collect())
    } else {
        current.first().map_or(Found::Absent, |value| Found::Value(value))
    }
}

/// The value at a path of a row; null where there is none.
pub fn value_at(row: &Row, path: &Path) -> Value {
    match lookup(row, path, &path.to_string()) {
        Found::Value(Value::Str(text)) if !row.typed => Value::from_cell(text).unwrap_or(Value::Null),
        Found::Value(value) => value.clone(),
        Found::Each(values) => Value::List(values),
        Found::Absent => Value::Null,
    }
}

/// Whether an event's arguments are the constants of a pattern.
fn matches(
    row: &Row,
    arguments: &Arguments,
    pattern: &[(ArgumentKey, Value)],
    arity: Option<usize>,
) -> Result<bool, TraceError> {
    for (key, constant) in pattern {
        if let (Arguments::Positional(values), ArgumentKey::Index(_) | ArgumentKey::Declared { .. }) =
            (arguments, key)
            && arity.is_some_and(|arity| arity != values.len())
        {
            return Ok(false);
        }
        if !argument(row, arguments, key)?.is_some_and(|value| equals(value, constant, row.typed)) {
            return Ok(false);
        }
    }
    Ok(arity.is_none_or(|arity| match arguments {
        Arguments::Positional(values) => values.len() == arity,
        Arguments::OfRow => true,
    }))
}

/// That an event has another number of arguments than it is declared with.
fn other_arity(exact: &Exact, found: usize) -> TraceError {
    let plural = if found == 1 { "" } else { "s" };
    let expected: Vec<String> = exact.arities.iter().map(usize::to_string).collect();
    let message = format!(
        "found the event `{}` with {found} argument{plural}, expected {}",
        exact.name,
        expected.join(" or ")
    );
    TraceError::new(TraceErrorKind::Arity, message).for_slot(exact.slot)
}

/// An argument of an event, if it has it; an error where the trace's arguments are not given that way.
fn argument<'r>(
    row: &'r Row,
    arguments: &'r Arguments,
    key: &ArgumentKey,
) -> Result<Option<&'r Value>, TraceError> {
    let error = |message: String| TraceError::new(TraceErrorKind::Usage, message).at(row.line, 1);
    match (arguments, key) {
        (Arguments::Positional(values), ArgumentKey::Index(index) | ArgumentKey::Declared { index, .. }) => {
            Ok(values.get(*index))
        }
        (Arguments::OfRow, ArgumentKey::Name(name) | ArgumentKey::Declared { name, .. }) => {
            let found = row.variables.iter().find(|(variable, _)| **variable == **name);
            Ok(found.map(|(_, value)| value))
        }
        (Arguments::Positional(_), ArgumentKey::Name(name)) => Err(error(format!(
            "the arguments of this trace's events have no names; declare `event …({name}, …);` to name them"
        ))),
        (Arguments::OfRow, ArgumentKey::Index(_)) => Err(error(
            "the arguments of this trace's events have names, not positions; write `name: value`, or declare the event with `event …;`"
                .into(),
        )),
    }
}

/// Whether a cell is a constant of the specification; an untyped cell is read as the constant's kind.
pub fn equals(value: &Value, constant: &Value, typed: bool) -> bool {
    let read;
    let value = match (value, constant) {
        (Value::Str(_), Value::Str(_)) => value,
        (Value::Str(text), _) if !typed => {
            read = Value::from_cell(text).unwrap_or(Value::Null);
            &read
        }
        _ => value,
    };
    match (value, constant) {
        (Value::Int(a), Value::Real(b)) | (Value::Real(b), Value::Int(a)) => *a as f64 == *b,
        (Value::Int(a), Value::Bool(b)) => *a == i64::from(*b),
        (Value::Null, _) | (_, Value::Null) => false,
        (a, b) => a == b,
    }
}

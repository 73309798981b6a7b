//! Rows as record batches. Columns have one type each, so all rows are kept until it is known.
//!
//! The timestamp goes to a column `time`: a timestamp type for stamps that are text, else whole numbers of the trace's
//! unit, reals if those hold them exactly, or text. An event's name goes to a column `event`, arguments without names to
//! `arg1`, `arg2`, …
//!
//! Cells of an untyped trace become booleans or numbers if all cells of their column are such, and stay text otherwise.
//! Whole numbers that are not written plainly (`007`) are taken for identifiers: text.

use crate::cell::DEEPEST;
use arrow::array::{
    ArrayRef, BooleanArray, Float64Array, Int64Array, ListArray, RecordBatch, StringArray, StructArray,
    TimestampNanosecondArray,
};
use arrow::buffer::{NullBuffer, OffsetBuffer};
pub(crate) use arrow::datatypes::SchemaRef;
use arrow::datatypes::{DataType, Field, Fields, Schema, TimeUnit};
use std::collections::{HashMap, HashSet};
use std::io::Write;
use std::sync::Arc;
use tw_core::Value;
use tw_trace::{Arguments, Outline, Row, RowSink, Stamp, TimeStyle, TraceError, TraceErrorKind, quote};

/// Rows per batch.
const ROWS: usize = 1 << 16;

/// Batches as they are built.
pub(crate) type Built<'b> = &'b mut dyn Iterator<Item = Result<RecordBatch, TraceError>>;
type Encode = fn(&mut dyn Write, SchemaRef, Built<'_>) -> Result<(), TraceError>;

/// Keeps rows, and writes them when all are known.
pub(crate) struct Sink<'a> {
    out: Box<dyn Write + 'a>,
    columns: Vec<Arc<str>>,
    has_time: bool,
    has_event: bool,
    rows: Vec<Row>,
    format: &'static str,
    encode: Encode,
    finished: bool,
}

/// The error for a file that cannot be written.
pub(crate) fn failed(format: &str, error: &dyn std::fmt::Display) -> TraceError {
    TraceError::new(TraceErrorKind::Io, format!("cannot write `{format}`: {error}"))
}

impl<'a> Sink<'a> {
    pub(crate) fn new(
        out: Box<dyn Write + 'a>,
        Outline { columns, has_time, has_event, .. }: Outline<'_>,
        format: &'static str,
        encode: Encode,
    ) -> Self {
        let columns = columns.to_vec();
        Self { out, columns, has_time, has_event, rows: Vec::new(), format, encode, finished: false }
    }

    fn refuse<T>(&self, line: u64, what: &str, other: &str) -> Result<T, TraceError> {
        let message = format!("`{}` cannot hold {what}; convert to `{other}`", self.format);
        Err(TraceError { line: Some(line), ..TraceError::new(TraceErrorKind::Usage, message) })
    }
}

impl RowSink for Sink<'_> {
    fn write(&mut self, row: &Row) -> Result<(), TraceError> {
        if row.events.len() > 1 {
            return self.refuse(row.line, "several events at one position", "monpoly");
        }
        let mut row = row.clone();
        // Arguments without names get some, and are then columns like others.
        if let Some(event) = row.events.first_mut()
            && let Arguments::Positional(values) = &mut event.arguments
        {
            for (index, value) in std::mem::take(values).into_iter().enumerate() {
                let name: Arc<str> = format!("arg{}", index + 1).into();
                if row.variables.iter().any(|(known, _)| *known == name) {
                    let message =
                        format!("the variable `{name}` would be read back as an argument; rename it first");
                    return Err(TraceError::new(TraceErrorKind::Usage, message).at(row.line, 1));
                }
                row.variables.push((name, value));
            }
            event.arguments = Arguments::OfRow;
        }
        self.rows.push(row);
        Ok(())
    }

    fn finish(&mut self) -> Result<(), TraceError> {
        if std::mem::replace(&mut self.finished, true) {
            return Ok(());
        }
        let mut index: HashMap<Arc<str>, usize> = HashMap::new();
        for name in
            self.columns.iter().chain(self.rows.iter().flat_map(|row| row.variables.iter().map(|(n, _)| n)))
        {
            let next = index.len();
            index.entry(name.clone()).or_insert(next);
        }
        let mut names: Vec<Arc<str>> = index.keys().cloned().collect();
        names.sort_by_key(|name| index[name]);
        for (reserved, taken) in [("time", self.has_time), ("event", self.has_event)] {
            if taken && index.contains_key(reserved) {
                let message = format!(
                    "the variable `{reserved}` would be read back as something else; rename it first"
                );
                return Err(TraceError::new(TraceErrorKind::Usage, message));
            }
        }
        let mut kinds = vec![Kind::default(); names.len()];
        for row in &self.rows {
            let mut seen = HashSet::new();
            for (name, value) in &row.variables {
                if !seen.insert(name) {
                    return self.refuse(row.line, &format!("column {} twice in a row", quote(name)), "jsonl");
                }
                if let Err(what) = kinds[index[name]].note(value, row.typed, 0) {
                    return self.refuse(
                        row.line,
                        &format!("column {}, which has {what}", quote(name)),
                        "jsonl",
                    );
                }
            }
        }
        let time = self.has_time.then(|| TimeColumn::of(self.rows.iter().filter_map(|row| row.time)));
        let mut fields = Vec::new();
        fields.extend(time.map(|time| Field::new("time", time.data_type(), true)));
        fields.extend(self.has_event.then(|| Field::new("event", DataType::Utf8, true)));
        fields.extend(
            names.iter().zip(&kinds).map(|(name, kind)| Field::new(name.as_ref(), kind.data_type(), true)),
        );
        let schema: SchemaRef = Arc::new(Schema::new(fields));
        let (has_event, format) = (self.has_event, self.format);
        let batch = |rows: &[Row]| -> Result<RecordBatch, TraceError> {
            let mut cells: Vec<Vec<(&Value, bool)>> =
                vec![vec![(&Value::Null, true); rows.len()]; names.len()];
            for (at, row) in rows.iter().enumerate() {
                for (name, value) in &row.variables {
                    cells[index[name]][at] = (value, row.typed);
                }
            }
            let mut arrays: Vec<ArrayRef> = Vec::new();
            arrays.extend(time.map(|time| time.build(rows)));
            if has_event {
                let events = rows.iter().map(|row| row.events.first().map(|event| &*event.name));
                arrays.push(Arc::new(events.collect::<StringArray>()));
            }
            arrays.extend(kinds.iter().zip(&cells).map(|(kind, cells)| kind.build(cells)));
            let options = arrow::record_batch::RecordBatchOptions::new().with_row_count(Some(rows.len()));
            RecordBatch::try_new_with_options(schema.clone(), arrays, &options)
                .map_err(|error| failed(format, &error))
        };
        let mut batches = self.rows.chunks(ROWS).map(batch);
        (self.encode)(&mut self.out, schema.clone(), &mut batches)?;
        self.out.flush().map_err(|error| failed(self.format, &error))
    }
}

/// The type of the column `time`.
#[derive(Clone, Copy)]
enum TimeColumn {
    Timestamp,
    Int(i64),
    Real,
    Text,
}

impl TimeColumn {
    fn of(stamps: impl Iterator<Item = Stamp>) -> Self {
        let (mut text, mut numbers, mut whole, mut exact) = (false, false, true, true);
        let mut unit = 1;
        for stamp in stamps {
            match stamp.style {
                TimeStyle::Text => text = true,
                TimeStyle::Number(of) => {
                    numbers = true;
                    unit = of.nanoseconds();
                    whole &= stamp.time % unit == 0;
                    let written = stamp.format();
                    exact &= written
                        .parse::<f64>()
                        .is_ok_and(|real| of.parse_number(&Value::Real(real).to_string()) == Ok(stamp.time));
                }
            }
        }
        match (text, numbers) {
            (true, true) => TimeColumn::Text,
            (true, false) => TimeColumn::Timestamp,
            _ if whole => TimeColumn::Int(unit),
            _ if exact => TimeColumn::Real,
            _ => TimeColumn::Text,
        }
    }

    fn data_type(self) -> DataType {
        match self {
            TimeColumn::Timestamp => DataType::Timestamp(TimeUnit::Nanosecond, Some("UTC".into())),
            TimeColumn::Int(_) => DataType::Int64,
            TimeColumn::Real => DataType::Float64,
            TimeColumn::Text => DataType::Utf8,
        }
    }

    fn build(self, rows: &[Row]) -> ArrayRef {
        let stamps = rows.iter().map(|row| row.time);
        match self {
            TimeColumn::Timestamp => {
                let times = stamps.map(|stamp| stamp.map(|stamp| stamp.time));
                Arc::new(times.collect::<TimestampNanosecondArray>().with_timezone("UTC"))
            }
            TimeColumn::Int(unit) => {
                Arc::new(stamps.map(|stamp| stamp.map(|stamp| stamp.time / unit)).collect::<Int64Array>())
            }
            TimeColumn::Real => {
                let reals = stamps.map(|stamp| stamp.and_then(|stamp| stamp.format().parse::<f64>().ok()));
                Arc::new(reals.collect::<Float64Array>())
            }
            TimeColumn::Text => {
                Arc::new(stamps.map(|stamp| stamp.map(Stamp::format)).collect::<StringArray>())
            }
        }
    }
}

/// What was seen of a column, and so what type it gets.
#[derive(Clone, Default)]
struct Kind {
    bool: bool,
    int: bool,
    /// Whole numbers beyond what a real can tell apart.
    long: bool,
    real: bool,
    text: bool,
    /// A value had a type of its own.
    typed: bool,
    list: Option<Box<Kind>>,
    fields: Option<Parts>,
}

/// The keys of objects, in order of appearance, and what was seen of each.
type Parts = (Vec<Arc<str>>, HashMap<Arc<str>, Kind>);

impl Kind {
    /// Notes a value; the error says what does not go together.
    fn note(&mut self, value: &Value, typed: bool, depth: usize) -> Result<(), String> {
        if depth > DEEPEST {
            return Err(format!("data nested more than {DEEPEST} deep"));
        }
        match cell(value, typed) {
            Value::Null => return Ok(()),
            Value::Bool(_) => self.bool = true,
            Value::Int(int) => {
                self.int = true;
                self.long |= int.unsigned_abs() > 1 << 53;
            }
            Value::Real(_) => self.real = true,
            Value::Str(_) => self.text = true,
            Value::List(_) | Value::Object(_) => {}
        }
        self.typed |= typed;
        match value {
            Value::List(items) => {
                let inner = self.list.get_or_insert_default();
                items.iter().try_for_each(|item| inner.note(item, typed, depth + 1))?;
            }
            Value::Object(parts) => {
                let (order, kinds) = self.fields.get_or_insert_default();
                let mut seen = HashSet::new();
                for (name, part) in parts {
                    if !seen.insert(name) {
                        return Err(format!("an object with the key {} twice", quote(name)));
                    }
                    if !kinds.contains_key(name) {
                        order.push(name.clone());
                    }
                    kinds.entry(name.clone()).or_default().note(part, typed, depth + 1)?;
                }
                if order.is_empty() {
                    return Err("an object without keys".to_string());
                }
            }
            _ => {}
        }
        let kinds = [
            (self.bool, "booleans"),
            (self.int || self.real, "numbers"),
            (self.text, "text"),
            (self.list.is_some(), "lists"),
            (self.fields.is_some(), "objects"),
        ];
        let names: Vec<&str> = kinds.iter().filter(|(seen, _)| *seen).map(|(_, name)| *name).collect();
        let nested = self.list.is_some() || self.fields.is_some();
        if names.len() > 1 && (self.typed || nested) {
            return Err(format!("{} and {}", names[0], names[1]));
        }
        if self.typed && self.long && self.real {
            return Err("reals and whole numbers that reals cannot tell apart".to_string());
        }
        Ok(())
    }

    fn data_type(&self) -> DataType {
        if let Some(inner) = &self.list {
            return DataType::List(inner.item());
        }
        if let Some((order, kinds)) = &self.fields {
            return DataType::Struct(struct_fields(order, kinds));
        }
        match (self.bool, self.int, self.real, self.text) {
            (true, false, false, false) => DataType::Boolean,
            (false, true, false, false) => DataType::Int64,
            (false, _, true, false) if !self.long => DataType::Float64,
            _ => DataType::Utf8,
        }
    }

    fn item(&self) -> Arc<Field> {
        Arc::new(Field::new("item", self.data_type(), true))
    }

    fn build(&self, cells: &[(&Value, bool)]) -> ArrayRef {
        if let Some(inner) = &self.list {
            let items = |value: &Value| if let Value::List(items) = value { items.len() } else { 0 };
            let lengths = cells.iter().map(|(value, _)| items(value));
            let nulls: NullBuffer =
                cells.iter().map(|(value, _)| !value.is_null()).collect::<Vec<bool>>().into();
            let flat: Vec<(&Value, bool)> = cells
                .iter()
                .filter_map(
                    |(value, typed)| {
                        if let Value::List(items) = value { Some((items, *typed)) } else { None }
                    },
                )
                .flat_map(|(items, typed)| items.iter().map(move |item| (item, typed)))
                .collect();
            let offsets = OffsetBuffer::from_lengths(lengths);
            return Arc::new(ListArray::new(inner.item(), offsets, inner.build(&flat), Some(nulls)));
        }
        if let Some((order, kinds)) = &self.fields {
            let nulls: NullBuffer =
                cells.iter().map(|(value, _)| !value.is_null()).collect::<Vec<bool>>().into();
            let parts = order.iter().map(|name| {
                let part = |(value, typed): &(&'_ Value, bool)| match value {
                    Value::Object(parts) => {
                        let found = parts.iter().find(|(key, _)| key == name);
                        (found.map_or(Value::Null, |(_, part)| part.clone()), *typed)
                    }
                    _ => (Value::Null, *typed),
                };
                let owned: Vec<(Value, bool)> = cells.iter().map(part).collect();
                let borrowed: Vec<(&Value, bool)> =
                    owned.iter().map(|(value, typed)| (value, *typed)).collect();
                kinds[name].build(&borrowed)
            });
            let arrays: Vec<ArrayRef> = parts.collect();
            return Arc::new(StructArray::new(struct_fields(order, kinds), arrays, Some(nulls)));
        }
        let values = cells.iter().map(|(value, typed)| cell(value, *typed));
        match self.data_type() {
            DataType::Boolean => Arc::new(
                values
                    .map(|value| if let Value::Bool(bool) = value { Some(bool) } else { None })
                    .collect::<BooleanArray>(),
            ),
            DataType::Int64 => Arc::new(
                values
                    .map(|value| if let Value::Int(int) = value { Some(int) } else { None })
                    .collect::<Int64Array>(),
            ),
            DataType::Float64 => {
                let reals = values.map(|value| match value {
                    Value::Int(int) => Some(int as f64),
                    Value::Real(real) => Some(real),
                    _ => None,
                });
                Arc::new(reals.collect::<Float64Array>())
            }
            // As written: that some cells of an untyped column look like numbers does not make it less of a text.
            _ => {
                let texts = cells.iter().map(|(value, typed)| match value {
                    Value::Null => None,
                    Value::Str(text) if text.is_empty() && !typed => None,
                    Value::Str(text) => Some(text.to_string()),
                    other => Some(other.to_string()),
                });
                Arc::new(texts.collect::<StringArray>())
            }
        }
    }
}

fn struct_fields(order: &[Arc<str>], kinds: &HashMap<Arc<str>, Kind>) -> Fields {
    order.iter().map(|name| Field::new(name.as_ref(), kinds[name].data_type(), true)).collect()
}

/// A value under its own type, or an untyped cell as a person would read it.
fn cell(value: &Value, typed: bool) -> Value {
    match value {
        Value::Str(text) if !typed => match Value::from_cell(text) {
            Some(Value::Int(int)) if int.to_string() != **text => value.clone(),
            Some(read) => read,
            None => value.clone(),
        },
        // Nested data is looked into separately.
        Value::List(_) => Value::List(Vec::new()),
        Value::Object(_) => Value::Object(Vec::new()),
        other => other.clone(),
    }
}

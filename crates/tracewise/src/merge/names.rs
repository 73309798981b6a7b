//! States by name: valuations of a few columns, each valuation numbered once.

use rustc_hash::FxHashMap;
use std::cmp::Ordering;
use std::collections::hash_map::Entry;
use std::fmt::Write;
use std::sync::Arc;
use tw_core::Value;
use tw_merge::Names;
use tw_model::{Codes, Domain, Variable};

/// How a valuation becomes a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// One column: its value is the name.
    Bare,
    /// `x=1,y=2`.
    Valuation,
    /// The predicates that hold: `busy+full`; `other` where none does.
    Predicates,
    /// The events that happen, or the propositions that hold.
    Events,
}

impl Style {
    /// What a valuation is called of which there is nothing to say.
    fn nothing(self) -> &'static str {
        match self {
            Style::Predicates => "other",
            Style::Events => "none",
            Style::Bare | Style::Valuation => "",
        }
    }
}

/// What makes two values the same state: numbers by what they are worth, however they are written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Key {
    Bool(bool),
    Int(i64),
    Real(u64),
    Text(Arc<str>),
    /// Lists and objects, as [`write_value`] writes them.
    Other(String),
}

/// The whole number that a real one is worth, if it is.
fn whole(value: f64) -> Option<i64> {
    (value.fract() == 0.0 && value.abs() < 9e15).then_some(value as i64)
}

fn key(value: &Value) -> Option<Key> {
    Some(match value {
        Value::Null => return None,
        Value::Bool(value) => Key::Bool(*value),
        Value::Int(value) => Key::Int(*value),
        Value::Real(value) => whole(*value).map_or(Key::Real(value.to_bits()), Key::Int),
        Value::Str(text) => Key::Text(text.clone()),
        Value::List(_) | Value::Object(_) => {
            let mut text = String::new();
            write_value(&mut text, value);
            Key::Other(text)
        }
    })
}

/// Writes a value so that no two values look alike (but numbers that are worth the same do): text in quotes if it could
/// be taken for something else, for a number say, or for the rest of the name.
fn write_value(out: &mut String, value: &Value) {
    enum Part<'a> {
        Value(&'a Value),
        Key(&'a str),
        Mark(&'static str),
    }
    if let Value::Str(text) = value {
        let opens = text.starts_with(['[', '{']) || &**text == "null";
        let other = Value::from_cell(text).is_some_and(|cell| cell != *value);
        return write_text(out, text, opens || other);
    }
    let mut parts = vec![Part::Value(value)];
    while let Some(part) = parts.pop() {
        let value = match part {
            Part::Mark(mark) => {
                out.push_str(mark);
                continue;
            }
            Part::Key(key) => {
                write_text(out, key, true);
                out.push_str(": ");
                continue;
            }
            Part::Value(value) => value,
        };
        match value {
            Value::Str(text) => write_text(out, text, true),
            Value::Real(real) => {
                let _ = match whole(*real) {
                    Some(int) => write!(out, "{int}"),
                    None => write!(out, "{real:?}"),
                };
            }
            Value::List(items) => {
                out.push('[');
                parts.push(Part::Mark("]"));
                for (at, item) in items.iter().enumerate().rev() {
                    parts.push(Part::Value(item));
                    parts.push(Part::Mark(if at > 0 { ", " } else { "" }));
                }
            }
            Value::Object(fields) => {
                out.push('{');
                parts.push(Part::Mark("}"));
                for (at, (key, item)) in fields.iter().enumerate().rev() {
                    parts.extend([Part::Value(item), Part::Key(key)]);
                    parts.push(Part::Mark(if at > 0 { ", " } else { "" }));
                }
            }
            plain => {
                let _ = write!(out, "{plain}");
            }
        }
    }
}

/// Writes a text, in quotes if it must be or if it has marks that names are put together with.
fn write_text(out: &mut String, text: &str, quoted: bool) {
    if !quoted && !text.is_empty() && !text.contains([',', '=', '+', '"']) {
        return out.push_str(text);
    }
    out.push('"');
    for c in text.chars() {
        if matches!(c, '"' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out.push('"');
}

/// The values of one column; 0 is null.
#[derive(Clone, Debug, Default)]
struct Values {
    name: String,
    /// The trace in which it turned up first, and how many columns there were then: what traces alone decide.
    first: (u32, usize),
    values: Vec<Value>,
    index: FxHashMap<Key, u32>,
}

impl Values {
    fn code(&mut self, value: &Value) -> u32 {
        let Some(key) = key(value) else { return 0 };
        match self.index.entry(key) {
            Entry::Occupied(known) => {
                let code = *known.get();
                // Of numbers worth the same, the one that is kept must not depend on which was read first.
                if let (Value::Int(_), stored @ Value::Real(_)) = (value, &mut self.values[code as usize - 1])
                {
                    *stored = value.clone();
                }
                code
            }
            Entry::Vacant(new) => {
                self.values.push(value.clone());
                *new.insert(self.values.len() as u32)
            }
        }
    }

    fn value(&self, code: u32) -> Value {
        code.checked_sub(1).map_or(Value::Null, |at| self.values[at as usize].clone())
    }
}

/// All valuations met so far. Columns may turn up on the way: a valuation that lacks one has null there.
#[derive(Clone, Debug)]
pub(crate) struct Valuations {
    style: Style,
    columns: Vec<Values>,
    by_name: FxHashMap<String, usize>,
    index: FxHashMap<Arc<Valuation>, u32>,
    /// By code. Nulls take no room: of many columns, a position may have few.
    valuations: Vec<Arc<Valuation>>,
    row: Vec<(u32, u32)>,
    trace: u32,
}

/// The columns that are not null, ascending, with the numbers of their values.
type Valuation = [(u32, u32)];

/// The number of a column's value.
fn code_in(valuation: &Valuation, column: usize) -> u32 {
    let found = valuation.binary_search_by_key(&(column as u32), |&(column, _)| column);
    found.map_or(0, |at| valuation[at].1)
}

impl Valuations {
    pub fn new(style: Style, columns: &[String]) -> Self {
        let mut new = Self {
            style,
            columns: Vec::new(),
            by_name: FxHashMap::default(),
            index: FxHashMap::default(),
            valuations: Vec::new(),
            row: Vec::new(),
            trace: 0,
        };
        new.know(columns.iter().map(String::as_str));
        new
    }

    /// Adds columns before any value of them is met: names tell all of them, and in this order.
    pub fn know<'a>(&mut self, columns: impl Iterator<Item = &'a str>) {
        columns.for_each(|name| {
            self.column(name, usize::MAX);
        });
    }

    /// What follows is of that trace.
    pub fn begin(&mut self, trace: u32) {
        self.trace = trace;
    }

    /// The names of the columns.
    pub fn columns(&self) -> impl ExactSizeIterator<Item = &str> {
        self.columns.iter().map(|column| column.name.as_str())
    }

    /// The column of that name, added if it is new. `near` is where it was in the row before: the usual place.
    pub fn column(&mut self, name: &str, near: usize) -> usize {
        if self.columns.get(near).is_some_and(|column| column.name == name) {
            return near;
        }
        if let Some(&known) = self.by_name.get(name) {
            return known;
        }
        let first = (self.trace, self.columns.len());
        self.columns.push(Values { name: name.into(), first, ..Values::default() });
        self.by_name.insert(name.into(), first.1);
        first.1
    }

    /// Sets a column of the valuation that is being put together.
    pub fn set(&mut self, column: usize, value: &Value) {
        let code = self.columns[column].code(value);
        self.set_code(column, code);
    }

    /// The same, by the number of the value ([`Valuations::value_code`]).
    pub fn set_code(&mut self, column: usize, code: u32) {
        self.row.push((column as u32, code));
    }

    /// The number of a column's value.
    pub fn value_code(&mut self, column: usize, value: &Value) -> u32 {
        self.columns[column].code(value)
    }

    /// The code of the valuation put together, and a new one begun.
    pub fn next(&mut self) -> u32 {
        // Of a column that was set twice the last counts.
        self.row.reverse();
        self.row.sort_by_key(|&(column, _)| column);
        self.row.dedup_by_key(|&mut (column, _)| column);
        self.row.retain(|&(_, code)| code != 0);
        let code = match self.index.get(self.row.as_slice()) {
            Some(&code) => code,
            None => {
                let code = self.valuations.len() as u32;
                let row: Arc<Valuation> = self.row.as_slice().into();
                self.valuations.push(row.clone());
                self.index.insert(row, code);
                code
            }
        };
        self.row.clear();
        code
    }

    /// How many valuations there are.
    pub fn len(&self) -> usize {
        self.valuations.len()
    }

    /// The codes that the valuations of `other` have here, those that are new included.
    pub fn absorb(&mut self, other: &Valuations) -> Vec<u32> {
        self.trace = u32::MAX;
        let columns: Vec<usize> =
            other.columns.iter().enumerate().map(|(at, column)| self.column(&column.name, at)).collect();
        for (from, &to) in other.columns.iter().zip(&columns) {
            let first = &mut self.columns[to].first;
            *first = from.first.min(*first);
        }
        let codes: Vec<Vec<u32>> = other
            .columns
            .iter()
            .zip(&columns)
            .map(|(from, &to)| {
                let known = from.values.iter().map(|value| self.columns[to].code(value));
                std::iter::once(0).chain(known).collect()
            })
            .collect();
        other
            .valuations
            .iter()
            .map(|valuation| {
                for &(at, code) in valuation.iter() {
                    self.set_code(columns[at as usize], codes[at as usize][code as usize]);
                }
                self.next()
            })
            .collect()
    }

    /// The columns in the order in which they first turn up, whoever read them.
    fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.columns.len()).collect();
        order.sort_by_key(|&at| self.columns[at].first);
        order
    }

    /// The names of the valuations from one on; no two are the same.
    pub fn names(&self, from: u32) -> Vec<Value> {
        let order = self.order();
        (from..self.valuations.len() as u32).map(|code| self.name_in(&order, code)).collect()
    }

    fn name_in(&self, order: &[usize], code: u32) -> Value {
        let valuation = &self.valuations[code as usize];
        // What is null in an event's column is not told: those that are not are enough.
        let told: Vec<usize> = match self.style {
            Style::Events => {
                let mut told: Vec<usize> = valuation.iter().map(|&(column, _)| column as usize).collect();
                told.sort_by_key(|&at| self.columns[at].first);
                told
            }
            _ => order.to_vec(),
        };
        let cells = told.into_iter().map(|at| {
            let column = &self.columns[at];
            (column, column.value(code_in(valuation, at)))
        });
        let (style, mut name) = (self.style, String::new());
        let separator = if style == Style::Valuation { "," } else { "+" };
        for (column, value) in cells {
            let told = match (style, &value) {
                (Style::Bare, _) => return value,
                (Style::Valuation, _) => true,
                (_, Value::Bool(holds)) => *holds,
                // An event that does not happen is null here.
                (_, value) => style == Style::Predicates || !value.is_null(),
            };
            if !told {
                continue;
            }
            if !name.is_empty() {
                name.push_str(separator);
            }
            if style == Style::Valuation {
                // All names begin alike, whatever the columns are called.
                name.push_str(&column.name);
            } else {
                write_text(&mut name, &column.name, column.name == style.nothing());
                if value == Value::Bool(true) {
                    continue;
                }
            }
            name.push('=');
            write_value(&mut name, &value);
        }
        if style == Style::Bare {
            return Value::Null;
        }
        if name.is_empty() {
            name.push_str(style.nothing());
        }
        Value::text(&name)
    }

    /// Bytes that the model's variables take, as they are found and as they are put in order.
    pub fn model_bytes(&self) -> usize {
        let mut met = vec![0; if self.style == Style::Bare { 0 } else { self.columns.len() }];
        let valuations = self.valuations.iter().flat_map(|valuation| valuation.iter());
        valuations
            .for_each(|&(column, _)| met.get_mut(column as usize).into_iter().for_each(|met| *met += 1));
        let each = met.iter().map(|&met| Codes::bytes(self.valuations.len(), met));
        each.fold(0, |sum: usize, bytes| sum.saturating_add(2 * bytes + size_of::<Variable>()))
    }

    /// Names and variables of all valuations.
    pub fn finish(self) -> Names {
        let (order, values, count) = (self.order(), self.names(0), self.valuations.len());
        // Of each column, the valuations in which it is not null.
        let mut met: Vec<Vec<(u32, u32)>> = vec![Vec::new(); self.columns.len()];
        for (valuation, code) in self.valuations.iter().zip(0..) {
            valuation.iter().for_each(|&(column, value)| met[column as usize].push((code, value)));
        }
        let mut variables = Vec::new();
        for (at, column) in order.iter().map(|&at| (at, &self.columns[at])) {
            // A column that is the name says nothing new.
            if self.style == Style::Bare {
                break;
            }
            let codes = Codes::few(count, 0, std::mem::take(&mut met[at]));
            let truth = |value: &Value| matches!(value, Value::Bool(_));
            let absent = self.style != Style::Events && codes.used().first() == Some(&0);
            let (domain, codes) = if column.values.iter().all(truth) && !column.values.is_empty() && !absent {
                let of = |code: u32| u32::from(column.value(code) == Value::Bool(true));
                (Domain::Boolean, codes.map(of))
            } else {
                let (domain, new) = column.domain();
                (domain, codes.map(|code| new[code as usize]))
            };
            variables.push((column.name.clone(), domain, codes));
        }
        Names { values, variables }
    }
}

impl Values {
    /// The values in an order of their own, whoever read them first; and the new number of each.
    fn domain(&self) -> (Domain, Vec<u32>) {
        let mut order: Vec<u32> = (1..=self.values.len() as u32).collect();
        order.sort_by(|&a, &b| compare(&self.values[a as usize - 1], &self.values[b as usize - 1]));
        let mut new = vec![0; self.values.len() + 1];
        let mut values = vec![Value::Null];
        for old in order {
            new[old as usize] = values.len() as u32;
            values.push(self.value(old));
        }
        (Domain::Values(values), new)
    }
}

/// Truth values, then numbers, then texts, then the rest.
fn compare(a: &Value, b: &Value) -> Ordering {
    let number = |value: &Value| match value {
        Value::Bool(truth) => (0, f64::from(u8::from(*truth)), 0),
        Value::Int(int) => (1, *int as f64, *int),
        Value::Real(real) => (1, *real, 0),
        Value::Str(_) => (2, 0.0, 0),
        Value::Null | Value::List(_) | Value::Object(_) => (3, 0.0, 0),
    };
    let ((kind, real, int), (other_kind, other_real, other_int)) = (number(a), number(b));
    let numbers = kind.cmp(&other_kind).then(real.total_cmp(&other_real)).then(int.cmp(&other_int));
    numbers.then_with(|| match (a, b) {
        (Value::Str(a), Value::Str(b)) => a.cmp(b),
        (Value::List(_) | Value::Object(_), _) => {
            let [mut one, mut other] = [String::new(), String::new()];
            write_value(&mut one, a);
            write_value(&mut other, b);
            one.cmp(&other)
        }
        _ => Ordering::Equal,
    })
}

/// The codes of a model's states by name.
pub(crate) fn codes_by_name(values: &[Value]) -> impl Fn(&Value) -> Option<u32> {
    let index: FxHashMap<Option<Key>, u32> =
        values.iter().enumerate().map(|(code, value)| (key(value), code as u32)).collect();
    move |value| index.get(&key(value)).copied()
}

#[cfg(test)]
mod tests;

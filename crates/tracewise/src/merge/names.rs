//! States by name: valuations of a few columns, each valuation numbered once.

use rustc_hash::FxHashMap;
use std::cmp::Ordering;
use std::collections::hash_map::Entry;
use std::fmt::Write;
use std::sync::Arc;
use tw_core::Value;
use tw_merge::Names;
use tw_model::Domain;

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
    index: FxHashMap<Box<[u32]>, u32>,
    /// By code: the numbers of its values, nulls at the end left out.
    valuations: Vec<Box<[u32]>>,
    row: Vec<u32>,
    trace: u32,
}

impl Valuations {
    pub fn new(style: Style, columns: &[String]) -> Self {
        let mut new = Self {
            style,
            columns: Vec::new(),
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
        self.columns.iter().position(|column| column.name == name).unwrap_or_else(|| {
            let first = (self.trace, self.columns.len());
            self.columns.push(Values { name: name.into(), first, ..Values::default() });
            first.1
        })
    }

    /// Sets a column of the valuation that is being put together.
    pub fn set(&mut self, column: usize, value: &Value) {
        let code = self.columns[column].code(value);
        self.set_code(column, code);
    }

    /// The same, by the number of the value ([`Valuations::value_code`]).
    pub fn set_code(&mut self, column: usize, code: u32) {
        if self.row.len() <= column {
            self.row.resize(column + 1, 0);
        }
        self.row[column] = code;
    }

    /// The number of a column's value.
    pub fn value_code(&mut self, column: usize, value: &Value) -> u32 {
        self.columns[column].code(value)
    }

    /// The code of the valuation put together, and a new one begun.
    pub fn next(&mut self) -> u32 {
        while self.row.last() == Some(&0) {
            self.row.pop();
        }
        let code = match self.index.get(self.row.as_slice()) {
            Some(&code) => code,
            None => {
                let code = self.valuations.len() as u32;
                let row: Box<[u32]> = self.row.as_slice().into();
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
                for (at, &code) in valuation.iter().enumerate() {
                    self.set_code(columns[at], codes[at][code as usize]);
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

    /// The name of a valuation; no other one has it.
    pub fn name(&self, code: u32) -> Value {
        self.name_in(&self.order(), code)
    }

    fn name_in(&self, order: &[usize], code: u32) -> Value {
        let valuation = &self.valuations[code as usize];
        let cells = order.iter().map(|&at| {
            let column = &self.columns[at];
            (column, column.value(valuation.get(at).copied().unwrap_or(0)))
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

    /// Names and variables of all valuations.
    pub fn finish(self) -> Names {
        let order = self.order();
        let values = (0..self.valuations.len() as u32).map(|code| self.name_in(&order, code)).collect();
        let mut variables = Vec::new();
        for (at, column) in order.iter().map(|&at| (at, &self.columns[at])) {
            // A column that is the name says nothing new.
            if self.style == Style::Bare {
                break;
            }
            let codes = self.valuations.iter().map(|valuation| valuation.get(at).copied().unwrap_or(0));
            let truth = |value: &Value| matches!(value, Value::Bool(_));
            let absent = self.style != Style::Events && codes.clone().any(|code| code == 0);
            let (domain, codes) = if column.values.iter().all(truth) && !column.values.is_empty() && !absent {
                let of = |code: u32| u32::from(column.value(code) == Value::Bool(true));
                (Domain::Boolean, codes.map(of).collect())
            } else {
                let (domain, new) = column.domain();
                (domain, codes.map(|code| new[code as usize]).collect())
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
mod tests {
    use super::*;

    fn valuations(style: Style, rows: &[&[(&str, Value)]]) -> (Valuations, Vec<u32>) {
        let mut valuations = Valuations::new(style, &[]);
        let codes = rows
            .iter()
            .map(|row| {
                for (at, (name, value)) in row.iter().enumerate() {
                    let column = valuations.column(name, at);
                    valuations.set(column, value);
                }
                valuations.next()
            })
            .collect();
        (valuations, codes)
    }

    #[test]
    fn equal_valuations_are_one_state_in_whatever_order_they_are_written() {
        let (x, y) = (("x", Value::Int(1)), ("y", Value::text("a")));
        let rows: [&[(&str, Value)]; 5] = [
            &[x.clone(), y.clone()],
            &[y.clone(), x.clone()],
            std::slice::from_ref(&x),
            &[("x", Value::Real(1.0)), ("y", Value::Null)],
            &[],
        ];
        let (valuations, codes) = valuations(Style::Valuation, &rows);
        assert_eq!(codes, [0, 0, 1, 1, 2]);
        let names = valuations.finish();
        let texts: Vec<String> = names.values.iter().map(Value::to_string).collect();
        assert_eq!(texts, ["x=1,y=a", "x=1,y=null", "x=null,y=null"]);
        assert_eq!(names.variables[0].1, Domain::Values(vec![Value::Null, Value::Int(1)]));
        assert_eq!(names.variables[1].2, [1, 0, 0]);
    }

    #[test]
    fn different_valuations_have_different_names() {
        let text = Value::text;
        let object = |value: Value| Value::Object(vec![("k".into(), value)]);
        let columns: [&[Value]; 2] = [
            &[
                Value::Null,
                text("null"),
                Value::Int(1),
                text("1"),
                text("1.5"),
                Value::Real(1.5),
                Value::Bool(true),
                text("true"),
                text(""),
                text("a"),
                text("\"a\""),
                text("\\\"a"),
                text("a,y=2"),
                text("a,y=null"),
                Value::List(vec![Value::Int(1)]),
                Value::List(vec![text("1")]),
                Value::List(vec![text("a"), text("b")]),
                Value::List(vec![text("a, b")]),
                text("[1]"),
                object(Value::Null),
                object(text("null")),
                text("{k: null}"),
            ],
            &[Value::Null, Value::Int(2), text("2"), text("b\"")],
        ];
        for style in [Style::Valuation, Style::Predicates] {
            let mut valuations = Valuations::new(style, &["x".into(), "y".into()]);
            for x in columns[0] {
                for y in columns[1] {
                    valuations.set(0, x);
                    valuations.set(1, y);
                    valuations.next();
                }
            }
            assert_eq!(valuations.len(), columns[0].len() * columns[1].len());
            let names: Vec<Value> = (0..valuations.len() as u32).map(|code| valuations.name(code)).collect();
            let find = codes_by_name(&names);
            for (code, name) in names.iter().enumerate() {
                assert_eq!(find(name), Some(code as u32), "{name}");
            }
        }
        let (valuations, _) = valuations(
            Style::Valuation,
            &[&[("x", text("1"))], &[("x", text("plain text"))], &[("x", Value::Real(2.0))]],
        );
        let names: Vec<String> = valuations.finish().values.iter().map(Value::to_string).collect();
        assert_eq!(names, ["x=\"1\"", "x=plain text", "x=2"]);
    }

    #[test]
    fn events_and_their_absence_are_told_apart() {
        let happens = |name: &'static str| (name, Value::Bool(true));
        let rows: [&[(&str, Value)]; 4] =
            [&[happens("a"), happens("b")], &[happens("a+b")], &[happens("none")], &[]];
        let (valuations, codes) = valuations(Style::Events, &rows);
        assert_eq!(codes, [0, 1, 2, 3]);
        let names: Vec<String> = valuations.finish().values.iter().map(Value::to_string).collect();
        assert_eq!(names, ["a+b", "\"a+b\"", "\"none\"", "none"]);
    }

    #[test]
    fn names_do_not_depend_on_who_read_what() {
        let read = |traces: &[u32]| {
            let mut all = Valuations::new(Style::Valuation, &[]);
            for &trace in traces {
                all.begin(trace);
                let cells = [("x", Value::Int(1)), ("y", Value::Real(2.0)), ("y", Value::Int(2))];
                // The first trace has `x` and a real `y`, the second a whole `y` alone.
                let own = if trace == 0 { &cells[..2] } else { &cells[2..] };
                for (at, (name, value)) in own.iter().enumerate() {
                    let column = all.column(name, at);
                    all.set(column, value);
                }
                all.next();
            }
            all
        };
        let told = |valuations: Valuations| {
            let names = valuations.finish();
            let mut values: Vec<String> = names.values.iter().map(Value::to_string).collect();
            values.sort();
            (values, names.variables.iter().map(|(name, domain, _)| (name.clone(), domain.clone())).collect())
        };
        let alone: (Vec<String>, Vec<(String, Domain)>) = told(read(&[0, 1]));
        assert_eq!(alone.0, ["x=1,y=2", "x=null,y=2"]);
        let mut second = read(&[1]);
        second.absorb(&read(&[0]));
        assert_eq!(told(second), alone);
    }

    #[test]
    fn predicates_name_what_holds() {
        let (t, f) = (Value::Bool(true), Value::Bool(false));
        let rows: [&[(&str, Value)]; 3] = [
            &[("busy", t.clone()), ("full", t.clone())],
            &[("busy", f.clone()), ("full", t)],
            &[("busy", f.clone()), ("full", f)],
        ];
        let (valuations, codes) = valuations(Style::Predicates, &rows);
        assert_eq!(codes, [0, 1, 2]);
        let names = valuations.finish();
        assert_eq!(names.values, ["busy+full", "full", "other"].map(Value::text));
        assert_eq!(names.variables[0], ("busy".into(), Domain::Boolean, vec![1, 0, 0]));
    }

    #[test]
    fn codes_of_others_are_found_or_made() {
        let one = |name: &str, value: i64| vec![(name.to_string(), Value::Int(value))];
        let build = |rows: &[Vec<(String, Value)>]| {
            let rows: Vec<Vec<(&str, Value)>> =
                rows.iter().map(|row| row.iter().map(|(n, v)| (n.as_str(), v.clone())).collect()).collect();
            let rows: Vec<&[(&str, Value)]> = rows.iter().map(Vec::as_slice).collect();
            valuations(Style::Valuation, &rows).0
        };
        let mut a = build(&[one("x", 1), one("x", 2)]);
        let b = build(&[one("y", 9), one("x", 2), one("x", 3)]);
        assert_eq!(a.absorb(&b), [2, 1, 3]);
        assert_eq!(a.name(2), Value::text("x=null,y=9"));
        assert_eq!(a.absorb(&a.clone()), [0, 1, 2, 3]);
        let values: Vec<Value> = (0..4).map(|code| a.name(code)).collect();
        let find = codes_by_name(&values);
        assert_eq!(find(&Value::text("x=3,y=null")), Some(3));
        assert_eq!(find(&Value::text("x=4")), None);
    }
}

//! States by name: valuations of a few columns, each valuation numbered once.

use rustc_hash::FxHashMap;
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

/// What makes two values the same state: numbers by what they are worth, however they are written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Key {
    Bool(bool),
    Int(i64),
    Real(u64),
    Text(Arc<str>),
    /// Lists and objects.
    Other(String),
}

fn key(value: &Value) -> Option<Key> {
    Some(match value {
        Value::Null => return None,
        Value::Bool(value) => Key::Bool(*value),
        Value::Int(value) => Key::Int(*value),
        Value::Real(value) if value.fract() == 0.0 && value.abs() < 9e15 => Key::Int(*value as i64),
        Value::Real(value) => Key::Real(value.to_bits()),
        Value::Str(text) => Key::Text(text.clone()),
        Value::List(_) | Value::Object(_) => Key::Other(value.to_string()),
    })
}

/// The values of one column; 0 is null.
#[derive(Clone, Debug, Default)]
struct Values {
    name: String,
    values: Vec<Value>,
    index: FxHashMap<Key, u32>,
}

impl Values {
    fn code(&mut self, value: &Value) -> u32 {
        let Some(key) = key(value) else { return 0 };
        match self.index.entry(key) {
            Entry::Occupied(known) => *known.get(),
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
}

impl Valuations {
    pub fn new(style: Style, columns: &[String]) -> Self {
        let columns = columns.iter().map(|name| Values { name: name.clone(), ..Values::default() }).collect();
        Self { style, columns, index: FxHashMap::default(), valuations: Vec::new(), row: Vec::new() }
    }

    /// The column of that name, added if it is new. `near` is where it was in the row before: the usual place.
    pub fn column(&mut self, name: &str, near: usize) -> usize {
        if self.columns.get(near).is_some_and(|column| column.name == name) {
            return near;
        }
        self.columns.iter().position(|column| column.name == name).unwrap_or_else(|| {
            self.columns.push(Values { name: name.into(), ..Values::default() });
            self.columns.len() - 1
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
        let columns: Vec<usize> =
            other.columns.iter().enumerate().map(|(at, column)| self.column(&column.name, at)).collect();
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

    /// The name of a valuation.
    pub fn name(&self, code: u32) -> Value {
        let cells = || {
            let valuation = &self.valuations[code as usize];
            let code = |at: usize| valuation.get(at).copied().unwrap_or(0);
            self.columns.iter().enumerate().map(move |(at, column)| (column, column.value(code(at))))
        };
        let mut name = String::new();
        match self.style {
            Style::Bare => return cells().next().map_or(Value::Null, |(_, value)| value),
            Style::Valuation => {
                for (column, value) in cells() {
                    let comma = if name.is_empty() { "" } else { "," };
                    let _ = write!(name, "{comma}{}={value}", column.name);
                }
            }
            Style::Predicates | Style::Events => {
                for (column, value) in cells() {
                    let plus = if name.is_empty() { "" } else { "+" };
                    let _ = match value {
                        Value::Bool(true) => write!(name, "{plus}{}", column.name),
                        // An event that does not happen is null here.
                        Value::Bool(false) => Ok(()),
                        Value::Null if self.style == Style::Events => Ok(()),
                        value => write!(name, "{plus}{}={value}", column.name),
                    };
                }
                if name.is_empty() {
                    name.push_str(if self.style == Style::Events { "none" } else { "other" });
                }
            }
        }
        Value::text(&name)
    }

    /// Names and variables of all valuations.
    pub fn finish(self) -> Names {
        let values = (0..self.valuations.len() as u32).map(|code| self.name(code)).collect();
        let mut variables = Vec::new();
        for (at, column) in self.columns.iter().enumerate() {
            // A column that is the name says nothing new.
            if self.style == Style::Bare {
                break;
            }
            let codes = self.valuations.iter().map(|valuation| valuation.get(at).copied().unwrap_or(0));
            let truth = |value: &Value| matches!(value, Value::Bool(_));
            let (domain, codes) = if column.values.iter().all(truth) && !column.values.is_empty() {
                let absent = self.style != Style::Events && codes.clone().any(|code| code == 0);
                let of = |code: u32| matches!(column.value(code), Value::Bool(true));
                match absent {
                    false => (Domain::Boolean, codes.map(|code| u32::from(of(code))).collect()),
                    true => (column.domain(), codes.collect()),
                }
            } else {
                (column.domain(), codes.collect())
            };
            variables.push((column.name.clone(), domain, codes));
        }
        Names { values, variables }
    }
}

impl Values {
    fn domain(&self) -> Domain {
        Domain::Values(std::iter::once(Value::Null).chain(self.values.iter().cloned()).collect())
    }
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

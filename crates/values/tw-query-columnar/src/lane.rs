//! The values of an experiment in one block: which positions have one, the values, and the rare errors beside them.

use crate::pool::{Buffer, Numbers};
use crate::words;
use std::borrow::Cow;
use std::sync::Arc;
use tw_core::{Bits, Column, Dictionary, Value};
use tw_monitor::{Computed, Term};

/// Why a value cannot be computed.
pub(crate) type Message = Arc<str>;

/// An experiment at one position.
#[derive(Clone, Debug, PartialEq, Default)]
pub(crate) enum Cell {
    /// No value.
    #[default]
    None,
    Value(Value),
    Error(Message),
}

impl Cell {
    pub(crate) fn computed(self) -> Computed {
        match self {
            Cell::None => Computed::Value(Value::Null),
            Cell::Value(value) => Computed::Value(value),
            Cell::Error(message) => Computed::Error(message.as_ref().to_owned()),
        }
    }
}

impl From<Result<Value, String>> for Cell {
    fn from(result: Result<Value, String>) -> Self {
        match result {
            Ok(Value::Null) => Cell::None,
            Ok(value) => Cell::Value(value),
            Err(message) => Cell::Error(message.into()),
        }
    }
}

/// Values by position of the block; unspecified where the lane is not valid.
#[derive(Clone, Debug)]
pub(crate) enum Data<'t> {
    /// The same everywhere; `true` of a formula.
    Constant(Value),
    Ints(Numbers<'t, i64>),
    Reals(Numbers<'t, f64>),
    Texts(&'t [u32], &'t Dictionary),
    Values(Cow<'t, [Value]>),
    /// Pairs of the one and the other, neither of which is of this kind: no list is made unless it is asked for.
    Pairs(Box<(Data<'t>, Data<'t>)>),
}

impl Data<'_> {
    /// The value at a position that has one.
    pub(crate) fn value(&self, at: usize) -> Value {
        match self {
            Data::Constant(value) => value.clone(),
            Data::Ints(values) => Value::Int(values[at]),
            Data::Reals(values) => Value::Real(values[at]),
            Data::Texts(ids, dictionary) => Value::Str(dictionary.entries[ids[at] as usize].clone()),
            Data::Values(values) => values[at].clone(),
            Data::Pairs(pair) => Value::List(vec![pair.0.value(at), pair.1.value(at)]),
        }
    }
}

/// An experiment in one block.
#[derive(Clone, Debug)]
pub(crate) struct Lane<'t> {
    pub(crate) len: usize,
    /// Where it has a value; never where it is an error.
    pub(crate) valid: Cow<'t, [u64]>,
    pub(crate) data: Data<'t>,
    /// Positions whose value cannot be computed, ascending.
    pub(crate) errors: Vec<(u32, Message)>,
}

impl<'t> Lane<'t> {
    /// `true` where the bits are set.
    pub(crate) fn truth(valid: Cow<'t, [u64]>, len: usize) -> Self {
        Lane { len, valid, data: Data::Constant(Value::Bool(true)), errors: Vec::new() }
    }

    /// The same everywhere; nothing if it is null.
    pub(crate) fn constant(value: &Value, len: usize) -> Self {
        let valid = if value.is_null() { vec![0; len.div_ceil(64)] } else { words::ones(len) };
        Lane { len, valid: valid.into(), data: Data::Constant(value.clone()), errors: Vec::new() }
    }

    /// The positions `from..to` of a term; `from` is a multiple of 64.
    pub(crate) fn of_term(term: &'t Term, from: usize, to: usize) -> Self {
        let len = to - from;
        let cut = |valid: &'t Bits| words::cut(valid.words(), from, to);
        let (valid, data) = match &term.column {
            Column::Int { values, valid } => (cut(valid), Data::Ints(Numbers::Given(&values[from..to]))),
            Column::Real { values, valid } => (cut(valid), Data::Reals(Numbers::Given(&values[from..to]))),
            Column::Text { ids, dictionary, valid } => (cut(valid), Data::Texts(&ids[from..to], dictionary)),
            Column::Any(values) => {
                let values = &values[from..to];
                (present(values).into(), Data::Values(Cow::Borrowed(values)))
            }
            other @ (Column::Truth(_) | Column::Words(_) | Column::Tuples(_)) => {
                let values: Vec<Value> = (from..to).map(|at| other.value(at)).collect();
                (words::ones(len).into(), Data::Values(values.into()))
            }
        };
        let first = term.errors.partition_point(|(at, _)| *at < from);
        let errors = term.errors[first..].iter().take_while(|(at, _)| *at < to);
        let errors = errors.map(|(at, message)| ((at - from) as u32, message.as_str().into())).collect();
        Lane { len, valid, data, errors }
    }

    /// One cell per position, kept as tightly as they allow.
    pub(crate) fn of_cells(cells: Vec<Cell>) -> Self {
        let mut errors = Vec::new();
        let values = cells.into_iter().enumerate().map(|(at, cell)| match cell {
            Cell::None => Value::Null,
            Cell::Value(value) => value,
            Cell::Error(message) => {
                errors.push((at as u32, message));
                Value::Null
            }
        });
        let values: Vec<Value> = values.collect();
        let valid = present(&values);
        Lane { len: values.len(), valid: valid.into(), data: typed(values), errors }
    }

    /// The value at a position that has one.
    pub(crate) fn value(&self, at: usize) -> Value {
        self.data.value(at)
    }

    /// Whether its values are not pairs made on request.
    pub(crate) fn is_flat(&self) -> bool {
        !matches!(self.data, Data::Pairs(_))
    }

    pub(crate) fn is_valid(&self, at: usize) -> bool {
        words::get(&self.valid, at)
    }

    /// The value at a position; null if there is none.
    pub(crate) fn value_or_null(&self, at: usize) -> Value {
        if self.is_valid(at) { self.value(at) } else { Value::Null }
    }

    pub(crate) fn error(&self, at: usize) -> Option<&Message> {
        if self.errors.is_empty() {
            return None;
        }
        let index = self.errors.binary_search_by_key(&(at as u32), |(at, _)| *at).ok()?;
        Some(&self.errors[index].1)
    }

    pub(crate) fn cell(&self, at: usize) -> Cell {
        if self.is_valid(at) {
            return Cell::Value(self.value(at));
        }
        self.error(at).map_or(Cell::None, |message| Cell::Error(message.clone()))
    }

    /// Whether no position has a value.
    pub(crate) fn is_empty(&self) -> bool {
        self.valid.iter().all(|word| *word == 0)
    }

    /// The values as whole numbers, if that is what all of them are.
    pub(crate) fn ints(&self) -> Option<Numbers<'t, i64>> {
        match &self.data {
            Data::Ints(values) => Some(values.clone()),
            Data::Constant(Value::Int(value)) => Some(Buffer::repeat(*value, self.len).into()),
            _ => self.is_empty().then(|| Buffer::zeros(self.len).into()),
        }
    }

    /// The values as reals, if that is what all of them are.
    pub(crate) fn reals(&self) -> Option<Numbers<'t, f64>> {
        match &self.data {
            Data::Reals(values) => Some(values.clone()),
            Data::Constant(Value::Real(value)) => Some(Buffer::repeat(*value, self.len).into()),
            _ => self.is_empty().then(|| Buffer::zeros(self.len).into()),
        }
    }

    /// The values as reals, whole numbers converted to the nearest one, if all of them are numbers.
    pub(crate) fn rounded(&self) -> Option<Numbers<'t, f64>> {
        match self.ints() {
            Some(values) => Some(Buffer::collect(values.iter().map(|value| *value as f64)).into()),
            None => self.reals(),
        }
    }
}

fn present(values: &[Value]) -> Vec<u64> {
    let word = |chunk: &[Value]| {
        chunk.iter().enumerate().fold(0, |word, (bit, value)| word | u64::from(!value.is_null()) << bit)
    };
    values.chunks(64).map(word).collect()
}

/// The tightest form of values of which some may be null.
pub(crate) fn typed<'t>(values: Vec<Value>) -> Data<'t> {
    let all = |test: fn(&Value) -> bool| values.iter().all(|value| value.is_null() || test(value));
    if all(|value| matches!(value, Value::Int(_))) {
        let int = |value: &Value| if let Value::Int(int) = value { *int } else { 0 };
        return Data::Ints(Buffer::collect(values.iter().map(int)).into());
    }
    if all(|value| matches!(value, Value::Real(_))) {
        let real = |value: &Value| if let Value::Real(real) = value { *real } else { 0.0 };
        return Data::Reals(Buffer::collect(values.iter().map(real)).into());
    }
    Data::Values(values.into())
}

/// Errors of either; of the first where both have one.
pub(crate) fn either_error(a: &[(u32, Message)], b: &[(u32, Message)]) -> Vec<(u32, Message)> {
    if a.is_empty() || b.is_empty() {
        return [a, b].concat();
    }
    let mut all = [a, b].concat();
    // Stable: at equal positions the first one's error stays before the second one's.
    all.sort_by_key(|(at, _)| *at);
    all.dedup_by_key(|(at, _)| *at);
    all
}

/// Clears the positions of errors.
pub(crate) fn clear_errors(valid: &mut [u64], errors: &[(u32, Message)]) {
    for (at, _) in errors {
        words::clear(valid, *at as usize);
    }
}

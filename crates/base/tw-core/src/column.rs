//! Columns: what a reader hands over for the slots a program asked for.

use crate::{Bits, Position, Relation, Time, Value, Words};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Distinct texts of a column; cells are indices into it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dictionary {
    /// Text of each index.
    pub entries: Vec<Arc<str>>,
}

/// The values of one slot at consecutive positions. In every variant a position whose `valid` bit is
/// unset is null and its value is unspecified.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Truth values. Null reads as false, so there is no validity.
    Truth(Bits),
    /// Whole numbers.
    Int {
        /// Values.
        values: Vec<i64>,
        /// Which are not null.
        valid: Bits,
    },
    /// Numbers none of which was written whole.
    Real {
        /// Values, finite.
        values: Vec<f64>,
        /// Which are not null.
        valid: Bits,
    },
    /// Text.
    Text {
        /// Index of each position's text in `dictionary`.
        ids: Vec<u32>,
        /// The distinct texts.
        dictionary: Dictionary,
        /// Which are not null.
        valid: Bits,
    },
    /// Short texts none of which is null: arguments of events.
    Words(Words),
    /// Anything else: values compared with values, lists, nested data.
    Any(Vec<Value>),
    /// The events of an event pattern with variables, each a tuple of what the variables are there.
    Tuples(Relation),
}

impl Column {
    /// Number of positions.
    pub fn len(&self) -> usize {
        match self {
            Column::Truth(bits) => bits.len(),
            Column::Int { values, .. } => values.len(),
            Column::Real { values, .. } => values.len(),
            Column::Text { ids, .. } => ids.len(),
            Column::Words(words) => words.len(),
            Column::Any(values) => values.len(),
            Column::Tuples(relation) => relation.len(),
        }
    }

    /// Bytes held, about.
    pub fn heap_bytes(&self) -> usize {
        match self {
            Column::Truth(bits) => bits.heap_bytes(),
            Column::Int { values, .. } => values.len() * 8 + values.len() / 8,
            Column::Real { values, .. } => values.len() * 8 + values.len() / 8,
            Column::Text { ids, .. } => ids.len() * 4 + ids.len() / 8,
            Column::Words(words) => words.heap_bytes(),
            Column::Any(values) => std::mem::size_of_val(values.as_slice()),
            Column::Tuples(relation) => relation.heap_bytes(),
        }
    }

    /// Whether there are no positions.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value at `at`.
    pub fn value(&self, at: Position) -> Value {
        match self {
            Column::Truth(bits) => Value::Bool(bits.get(at)),
            Column::Int { values, valid } if valid.get(at) => Value::Int(values[at]),
            Column::Real { values, valid } if valid.get(at) => Value::Real(values[at]),
            Column::Text { ids, dictionary, valid } if valid.get(at) => {
                Value::Str(dictionary.entries[ids[at] as usize].clone())
            }
            Column::Words(words) => Value::text(words.get(at)),
            Column::Any(values) => values[at].clone(),
            Column::Tuples(relation) => {
                let tuples = relation.tuples(at).map(|number| Value::List(relation.tuple(number)));
                Value::List(tuples.collect())
            }
            _ => Value::Null,
        }
    }
}

impl Column {
    /// The column of values of any kind: of texts alone (and nulls) it is a dictionary, which is smaller and quicker.
    pub fn of_values(values: Vec<Value>) -> Column {
        let mut texts = values.iter().filter(|value| !value.is_null()).peekable();
        if texts.peek().is_none() || !texts.all(|value| matches!(value, Value::Str(_))) {
            return Column::Any(values);
        }
        let mut growing = GrowingTexts::default();
        let mut dictionary = Dictionary::default();
        let id = |value: &Value| match value {
            Value::Str(text) => growing.id(text, &mut dictionary),
            _ => 0,
        };
        let ids = values.iter().map(id).collect();
        let valid = values.iter().map(|value| !value.is_null()).collect();
        Column::Text { ids, dictionary, valid }
    }

    /// Short texts with a dictionary.
    fn numbered(words: &Words) -> Column {
        let (mut growing, mut dictionary) = (GrowingTexts::default(), Dictionary::default());
        let id = |at| growing.id(&Arc::from(words.get(at)), &mut dictionary);
        let ids = (0..words.len()).map(id).collect();
        Column::Text { ids, dictionary, valid: Bits::repeat(true, words.len()) }
    }

    /// Appends the positions of `other`. Columns that differ in kind (whole numbers here, reals there) become values.
    pub fn append(&mut self, other: Column) {
        use Column::*;
        match (&mut *self, other) {
            // Of no positions nothing is known: not even their kind.
            (_, other) if other.is_empty() => {}
            (mine, other) if mine.is_empty() => *mine = other,
            (Truth(mine), Truth(theirs)) => mine.append(&theirs),
            (Int { values, valid }, Int { values: more, valid: more_valid }) => {
                values.extend(more);
                valid.append(&more_valid);
            }
            (Real { values, valid }, Real { values: more, valid: more_valid }) => {
                values.extend(more);
                valid.append(&more_valid);
            }
            (Text { dictionary, .. }, other @ Text { .. }) => {
                let mut growing = GrowingTexts::of(dictionary);
                growing.append(self, other);
            }
            (Words(mine), Words(theirs)) if mine.has_room(&theirs) => mine.append(&theirs),
            (Words(mine), theirs @ Text { .. }) => {
                *self = Column::numbered(mine);
                self.append(theirs);
            }
            (Text { .. }, Words(theirs)) => self.append(Column::numbered(&theirs)),
            (Any(mine), Any(theirs)) => mine.extend(theirs),
            (Any(mine), theirs) => mine.extend((0..theirs.len()).map(|at| theirs.value(at))),
            (Tuples(mine), Tuples(theirs)) => mine.append(theirs),
            (_, other) => {
                let mut all: Vec<Value> = (0..self.len()).map(|at| self.value(at)).collect();
                all.extend((0..other.len()).map(|at| other.value(at)));
                *self = Any(all);
            }
        }
    }

    /// The positions `order`, in that order.
    #[must_use]
    pub fn gather(&self, order: &[u32]) -> Column {
        let pick = |bits: &Bits| order.iter().map(|&at| bits.get(at as usize)).collect::<Bits>();
        match self {
            Column::Truth(bits) => Column::Truth(pick(bits)),
            Column::Int { values, valid } => Column::Int {
                values: order.iter().map(|&at| values[at as usize]).collect(),
                valid: pick(valid),
            },
            Column::Real { values, valid } => Column::Real {
                values: order.iter().map(|&at| values[at as usize]).collect(),
                valid: pick(valid),
            },
            Column::Text { ids, dictionary, valid } => Column::Text {
                ids: order.iter().map(|&at| ids[at as usize]).collect(),
                dictionary: dictionary.clone(),
                valid: pick(valid),
            },
            Column::Words(words) => match words.gather(order) {
                Some(words) => Column::Words(words),
                None => Column::Any(order.iter().map(|&at| self.value(at as usize)).collect()),
            },
            Column::Any(values) => Column::Any(order.iter().map(|&at| values[at as usize].clone()).collect()),
            Column::Tuples(relation) => Column::Tuples(relation.gather(order)),
        }
    }
}

/// The numbers of a dictionary's texts, kept while columns are appended one after the other: looking all texts up again
/// for each would cost what the dictionary is large, each time.
#[derive(Clone, Debug, Default)]
pub struct GrowingTexts {
    index: FxHashMap<Arc<str>, u32>,
}

impl GrowingTexts {
    fn of(dictionary: &Dictionary) -> Self {
        let numbered = dictionary.entries.iter().enumerate();
        Self { index: numbered.map(|(i, text)| (text.clone(), i as u32)).collect() }
    }

    fn id(&mut self, text: &Arc<str>, dictionary: &mut Dictionary) -> u32 {
        // Most texts were there before: looked up without a share of their own.
        if let Some(&id) = self.index.get(text) {
            return id;
        }
        let id = dictionary.entries.len() as u32;
        dictionary.entries.push(text.clone());
        self.index.insert(text.clone(), id);
        id
    }

    /// [`Column::append`], for a column that this has appended to from its beginning.
    pub fn append(&mut self, column: &mut Column, other: Column) {
        match (&mut *column, other) {
            (
                Column::Text { ids, dictionary, valid },
                Column::Text { ids: more, dictionary: theirs, valid: more_valid },
            ) => {
                if self.index.len() != dictionary.entries.len() {
                    *self = Self::of(dictionary);
                }
                let renumbered: Vec<u32> =
                    theirs.entries.iter().map(|text| self.id(text, dictionary)).collect();
                // Null positions hold an unspecified id, which may be out of the (empty) dictionary.
                ids.extend(more.iter().map(|&id| renumbered.get(id as usize).copied().unwrap_or(0)));
                valid.append(&more_valid);
            }
            (Column::Text { .. }, Column::Words(theirs)) => self.append(column, Column::numbered(&theirs)),
            (_, other) => column.append(other),
        }
    }
}

/// Consecutive positions as a reader delivers them: one column per slot of the projection.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// Number of positions.
    pub len: usize,
    /// One per slot, in the projection's order, each of length `len`.
    pub slots: Vec<Column>,
    /// Timestamps, if the trace has them and the projection asks for them.
    pub times: Option<Vec<Time>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ints(values: &[Option<i64>]) -> Column {
        Column::Int {
            values: values.iter().map(|v| v.unwrap_or(0)).collect(),
            valid: values.iter().map(Option::is_some).collect(),
        }
    }

    fn texts(values: &[&str]) -> Column {
        let mut dictionary = Dictionary::default();
        let ids = values
            .iter()
            .map(|text| {
                dictionary.entries.push((*text).into());
                (dictionary.entries.len() - 1) as u32
            })
            .collect();
        Column::Text { ids, dictionary, valid: Bits::repeat(true, values.len()) }
    }

    #[test]
    fn appending_keeps_values() {
        let mut column = ints(&[Some(1), None]);
        column.append(Column::Real { values: vec![0.5], valid: Bits::repeat(true, 1) });
        column.append(ints(&[Some(7)]));
        let values: Vec<Value> = (0..4).map(|at| column.value(at)).collect();
        assert_eq!(values, [Value::Int(1), Value::Null, Value::Real(0.5), Value::Int(7)]);

        let mut column = ints(&[]);
        for more in [texts(&["a"]), ints(&[]), ints(&[Some(2)]), texts(&["b"]), Column::Any(Vec::new())] {
            column.append(more);
        }
        let values: Vec<Value> = (0..column.len()).map(|at| column.value(at)).collect();
        assert_eq!(values, [Value::text("a"), Value::Int(2), Value::text("b")]);

        let words = |texts: &[&str]| {
            let mut words = Words::default();
            assert!(texts.iter().all(|text| words.push(text)));
            Column::Words(words)
        };
        for (first, second) in
            [(words(&["a", "b"]), texts(&["b", "c"])), (texts(&["a", "b"]), words(&["b", "c"]))]
        {
            let mut column = first.clone();
            column.append(second.clone());
            let mut growing = GrowingTexts::default();
            let mut other = first;
            growing.append(&mut other, second);
            growing.append(&mut other, words(&["d"]));
            let shown = |column: &Column| {
                (0..column.len()).map(|at| column.value(at).to_string()).collect::<String>()
            };
            assert_eq!((shown(&column), shown(&other)), ("abbc".into(), "abbcd".into()));
            assert!(matches!(other, Column::Text { .. }));
        }

        let mut column = texts(&["a", "b"]);
        column.append(texts(&["b", "c"]));
        let shown: Vec<String> = (0..4).map(|at| column.value(at).to_string()).collect();
        assert_eq!(shown, ["a", "b", "b", "c"]);
        assert_eq!(column.gather(&[3, 0]).value(0), Value::text("c"));
    }
}

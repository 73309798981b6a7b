//! Relations: the tuples that hold at consecutive positions, as a reader delivers them for an event pattern.

use crate::{Column, GrowingTexts, Position, Value};
use std::sync::Arc;

/// Tuples laid end to end, position by position. Several events at one position are several tuples.
///
/// Memory: four bytes per position, and what the columns hold of each tuple. Copies share it: several patterns about one event
/// read the same tuples.
#[derive(Clone, Debug, PartialEq)]
pub struct Relation(Arc<Tuples>);

#[derive(Clone, Debug, PartialEq)]
struct Tuples {
    /// Where the tuples of each position start, and at the end how many there are in all.
    starts: Vec<u32>,
    /// One column per argument, each with one value per tuple; no value is null.
    columns: Vec<Column>,
}

impl Default for Relation {
    fn default() -> Self {
        Self(Arc::new(Tuples { starts: vec![0], columns: Vec::new() }))
    }
}

impl Relation {
    /// Of these columns; `starts` has one entry more than there are positions.
    pub fn new(starts: Vec<u32>, columns: Vec<Column>) -> Self {
        debug_assert!(starts.windows(2).all(|pair| pair[0] <= pair[1]));
        debug_assert!(columns.iter().all(|column| Some(&(column.len() as u32)) == starts.last()));
        Self(Arc::new(Tuples { starts, columns }))
    }

    /// Number of positions.
    pub fn len(&self) -> usize {
        self.0.starts.len() - 1
    }

    /// Whether there are no positions.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One column per argument, with one value per tuple.
    pub fn columns(&self) -> &[Column] {
        &self.0.columns
    }

    /// The numbers of the tuples at a position: places in [`Relation::columns`].
    pub fn tuples(&self, at: Position) -> std::ops::Range<usize> {
        self.0.starts[at] as usize..self.0.starts[at + 1] as usize
    }

    /// Where the tuples of each position start; one entry more than there are positions.
    pub fn starts(&self) -> &[u32] {
        &self.0.starts
    }

    /// A tuple's values, in the order of the columns.
    pub fn tuple(&self, number: usize) -> Vec<Value> {
        self.0.columns.iter().map(|column| column.value(number)).collect()
    }

    /// Bytes held, about.
    pub fn heap_bytes(&self) -> usize {
        self.0.starts.len() * 4 + self.0.columns.iter().map(Column::heap_bytes).sum::<usize>()
    }

    /// Appends the positions of `other`; `texts` are those that have appended to the columns from their beginning.
    pub fn append_with(&mut self, texts: &mut Vec<GrowingTexts>, other: Relation) {
        if self.is_empty() {
            *self = other;
            return;
        }
        let own = Arc::make_mut(&mut self.0);
        texts.resize_with(own.columns.len(), GrowingTexts::default);
        let before = own.starts.pop().unwrap_or(0);
        own.starts.extend(other.0.starts.iter().map(|start| before + start));
        let more = Arc::unwrap_or_clone(other.0).columns;
        for ((column, more), texts) in own.columns.iter_mut().zip(more).zip(texts) {
            texts.append(column, more);
        }
    }

    /// Appends the positions of `other`.
    pub fn append(&mut self, other: Relation) {
        self.append_with(&mut Vec::new(), other);
    }

    /// The positions `order`, in that order.
    #[must_use]
    pub fn gather(&self, order: &[u32]) -> Relation {
        let mut starts = Vec::with_capacity(order.len() + 1);
        let mut tuples: Vec<u32> = Vec::new();
        starts.push(0);
        for &at in order {
            tuples.extend(self.tuples(at as usize).map(|number| number as u32));
            starts.push(tuples.len() as u32);
        }
        Relation::new(starts, self.columns().iter().map(|column| column.gather(&tuples)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn relation(positions: &[&[(i64, &str)]]) -> Relation {
        let mut starts = vec![0u32];
        let (mut numbers, mut texts) = (Vec::new(), Vec::new());
        for tuples in positions {
            for (number, text) in *tuples {
                numbers.push(Value::Int(*number));
                texts.push(Value::text(text));
            }
            starts.push(numbers.len() as u32);
        }
        Relation::new(starts, vec![Column::of_values(numbers), Column::of_values(texts)])
    }

    fn told(relation: &Relation) -> Vec<Vec<String>> {
        let tuple =
            |number| relation.tuple(number).iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        (0..relation.len()).map(|at| relation.tuples(at).map(tuple).collect()).collect()
    }

    #[test]
    fn appending_and_gathering_keep_tuples_at_their_positions() {
        let mut all = Relation::default();
        all.append(relation(&[&[(1, "a"), (2, "b")], &[]]));
        all.append(relation(&[&[(3, "a")]]));
        assert_eq!(told(&all), [vec!["1 a", "2 b"], vec![], vec!["3 a"]]);
        assert_eq!(told(&all.gather(&[2, 1, 0, 2])), [vec!["3 a"], vec![], vec!["1 a", "2 b"], vec!["3 a"]]);
        assert!(all.gather(&[]).is_empty());
    }
}

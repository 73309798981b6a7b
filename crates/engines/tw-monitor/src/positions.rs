//! Positions as engines see them: of a stored trace all, of a live one those that have just arrived.

use crate::Term;
use tw_core::{Bits, Column, Position, Relation, Time};

/// Consecutive positions, borrowed from whoever holds them. Stored and live engines read the same shape: what one
/// position decides is computed before they run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Positions<'a> {
    /// How many.
    pub len: usize,
    /// The truth of every predicate: one column per atom, in the order of `Program::atoms`.
    pub atoms: &'a [Bits],
    /// The value of every term, in the order of `Program::terms`; error positions count from the first of these.
    pub terms: &'a [Term],
    /// The tuples of every event pattern with variables, in the order of `Program::patterns`.
    pub relations: &'a [Relation],
    /// Timestamps, if the program needs them and the trace has them.
    pub times: Option<&'a [Time]>,
}

/// A stored trace: the truth of every atom at every position, and what else a program needs.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// Number of positions over all segments.
    pub len: usize,
    /// One column per atom of the program, in the order of `Program::atoms`.
    pub atoms: Vec<Bits>,
    /// Timestamps, if the program needs them and the trace has them.
    pub times: Option<Vec<Time>>,
    /// One column per slot, if the engine asked for values ([`Wanted::slots`](crate::Wanted)).
    pub slots: Option<Vec<Column>>,
    /// One column per term of the program, in the order of `Program::terms`, if the engine asked for them.
    pub terms: Vec<Term>,
    /// One per event pattern with variables, in the order of `Program::patterns`, if the engine asked for them.
    pub relations: Vec<Relation>,
    /// What every predicate is worth, one column per predicate of an engine that measures, if it asked for that.
    pub signals: Vec<Vec<f64>>,
    /// Several traces laid end to end (`--by`), each with its own first and last position; `None` is one trace.
    pub segments: Option<Segments>,
    /// How far time has come for all segments: where the log ended that they were taken from. What continues a segment is not
    /// before that.
    pub until: Option<Time>,
}

/// Boundaries of traces laid end to end.
#[derive(Clone, Debug, Default)]
pub struct Segments {
    /// Start of each segment, ascending, from 0; no segment is empty.
    pub starts: Vec<Position>,
}

impl Positions<'_> {
    /// The positions `order`, in that order, as a trace of its own.
    #[must_use]
    pub fn gather(&self, order: &[u32]) -> Trace {
        let bits = |bits: &Bits| order.iter().map(|&at| bits.get(at as usize)).collect::<Bits>();
        Trace {
            len: order.len(),
            atoms: self.atoms.iter().map(bits).collect(),
            times: self.times.map(|times| order.iter().map(|&at| times[at as usize]).collect()),
            terms: self.terms.iter().map(|term| term.gather(order)).collect(),
            relations: self.relations.iter().map(|relation| relation.gather(order)).collect(),
            ..Trace::default()
        }
    }
}

impl Trace {
    /// All positions, as a live engine would be given them.
    pub fn positions(&self) -> Positions<'_> {
        Positions {
            len: self.len,
            atoms: &self.atoms,
            terms: &self.terms,
            relations: &self.relations,
            times: self.times.as_deref(),
        }
    }

    /// Start of each segment; a plain trace is one segment.
    pub fn starts(&self) -> &[Position] {
        match &self.segments {
            Some(segments) => &segments.starts,
            None => &[0],
        }
    }

    /// One past the end of the segment that starts at `starts()[index]`.
    pub fn segment_end(&self, index: usize) -> Position {
        self.starts().get(index + 1).copied().unwrap_or(self.len)
    }

    /// The first and one past the last position of the segment that holds `at`.
    pub fn segment_of(&self, at: Position) -> (Position, Position) {
        let index = self.starts().partition_point(|&start| start <= at) - 1;
        (self.starts()[index], self.segment_end(index))
    }

    /// The positions `order`, in that order, as segments that start at `starts`.
    #[must_use]
    pub fn gather(&self, order: &[u32], starts: Vec<Position>) -> Trace {
        let bits = |bits: &Bits| order.iter().map(|&at| bits.get(at as usize)).collect::<Bits>();
        let signal = |column: &Vec<f64>| order.iter().map(|&at| column[at as usize]).collect();
        let slots = |slots: &Vec<Column>| slots.iter().map(|slot| slot.gather(order)).collect();
        Trace {
            len: order.len(),
            atoms: self.atoms.iter().map(bits).collect(),
            times: self.times.as_ref().map(|times| order.iter().map(|&at| times[at as usize]).collect()),
            slots: self.slots.as_ref().map(slots),
            terms: self.terms.iter().map(|term| term.gather(order)).collect(),
            relations: self.relations.iter().map(|relation| relation.gather(order)).collect(),
            signals: self.signals.iter().map(signal).collect(),
            segments: Some(Segments { starts }),
            until: self.until.or_else(|| self.times.as_ref()?.last().copied()),
        }
    }
}

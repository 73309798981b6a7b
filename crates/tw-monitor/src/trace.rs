//! A stored trace as engines see it.

use crate::Term;
use tw_core::{Bits, Column, Position, Time};

/// The truth of every atom at every position, and what else a program needs.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// Number of positions over all segments.
    pub len: usize,
    /// One column per atom of the program, in the order of `Program::atoms`.
    pub atoms: Vec<Bits>,
    /// Timestamps, if the program needs them and the trace has them.
    pub times: Option<Vec<Time>>,
    /// One column per slot, if the engine asked for values (`Wanted::Values`).
    pub slots: Option<Vec<Column>>,
    /// One column per term of the program, in the order of `Program::terms`, if the engine asked for them.
    pub terms: Vec<Term>,
    /// Several traces laid end to end (`--by`), each with its own first and last position; `None` is one trace.
    pub segments: Option<Segments>,
}

/// Boundaries of traces laid end to end.
#[derive(Clone, Debug, Default)]
pub struct Segments {
    /// Start of each segment, ascending, from 0; no segment is empty.
    pub starts: Vec<Position>,
}

impl Trace {
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
}

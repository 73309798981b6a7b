//! What traces said of a model: how often, and where.

/// A line of a trace: which trace, and which line (from 1) of its file.
///
/// Both in one word, so that a model with tens of millions of transitions can afford two for each; the order is that of
/// traces, then of lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place(u64);

impl Place {
    const LINE: u32 = 40;
    /// Most traces that a model can tell apart.
    pub const MAX_TRACES: usize = 1 << (64 - Self::LINE);
    /// The last line (or position) that can be told.
    pub const MAX_LINE: u64 = (1 << Self::LINE) - 1;

    /// A line of a trace. Lines beyond [`Place::MAX_LINE`] are told as that one.
    pub fn new(trace: u32, line: u64) -> Self {
        debug_assert!((trace as usize) < Self::MAX_TRACES);
        Self(u64::from(trace) << Self::LINE | line.min(Self::MAX_LINE))
    }

    /// Index of the trace in [`Record::traces`].
    pub fn trace(self) -> u32 {
        (self.0 >> Self::LINE) as u32
    }

    /// Line, from 1. While traces are merged, the position from 0; lines are known once a trace has been read.
    pub fn line(self) -> u64 {
        self.0 & Self::MAX_LINE
    }
}

/// What was seen of a state or transition. Nothing (`count` 0) of transitions that were assumed, as the loops are in
/// which paths stay when their traces have ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// How often.
    pub count: u64,
    /// Where first. Of a transition, the line of the state that it leads to.
    pub first: Place,
    /// Where last.
    pub last: Place,
    /// In how many traces.
    pub traces: u32,
}

impl Seen {
    /// Adds what was seen in other traces. Counts come from files too: sums stop at the largest number.
    pub fn add(&mut self, other: &Seen) {
        if other.count == 0 {
            return;
        }
        let empty = self.count == 0;
        self.first = if empty { other.first } else { self.first.min(other.first) };
        self.last = if empty { other.last } else { self.last.max(other.last) };
        self.count = self.count.saturating_add(other.count);
        self.traces = self.traces.saturating_add(other.traces);
    }
}

/// What traces said of a model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// Names of the traces: their files.
    pub traces: Vec<String>,
    /// Of each state.
    pub states: Vec<Seen>,
    /// Of each transition, in the order of [`crate::Graph`].
    pub edges: Vec<Seen>,
    /// How many traces begin in each initial state, in the order of [`crate::Model::initial`].
    pub starts: Vec<u64>,
    /// How many traces end in each state.
    pub ends: Vec<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_ordered_by_trace_then_line() {
        let place = Place::new(3, 17);
        assert_eq!((place.trace(), place.line()), (3, 17));
        assert!(Place::new(2, 1 << 39) < place && place < Place::new(3, 18));
        assert_eq!(Place::new(1, u64::MAX).line(), Place::MAX_LINE);
        assert_eq!(Place::new(Place::MAX_TRACES as u32 - 1, 1).trace(), Place::MAX_TRACES as u32 - 1);
    }

    #[test]
    fn what_was_seen_adds_up_in_any_order() {
        let seen = |count, trace, line| Seen {
            count,
            first: Place::new(trace, line),
            last: Place::new(trace, line + count),
            traces: 1,
        };
        let (a, b) = (seen(2, 5, 1), seen(1, 3, 9));
        let (mut ab, mut ba) = (Seen::default(), Seen::default());
        for (sum, parts) in [(&mut ab, [&a, &b]), (&mut ba, [&b, &a])] {
            parts.into_iter().for_each(|part| sum.add(part));
        }
        assert_eq!(ab, ba);
        assert_eq!(ab, Seen { count: 3, first: Place::new(3, 9), last: Place::new(5, 3), traces: 2 });
        ab.add(&Seen::default());
        assert_eq!(ab, ba);
        ab.add(&Seen { count: u64::MAX, traces: u32::MAX, ..a });
        assert_eq!((ab.count, ab.traces), (u64::MAX, u32::MAX));
    }
}

//! Going forward or back from a position, in steps counted from it.

use super::step::Part;
use crate::{EvaluateOptions, Trace, Unsupported};
use tw_core::{Bits, Position, Time};
use tw_ir::{Clock, NodeId, Program};

/// The positions that a temporal operator looks at from `at`: those up to the end of its segment, or back to its
/// start. Each is named by its offset, its number of steps from `at`, so that past operators mirror future ones.
pub(super) struct Walk<'a> {
    at: Position,
    forward: bool,
    /// The largest offset.
    reach: usize,
    /// `None` counts positions.
    stamps: Option<&'a [Time]>,
}

/// The positions inside an operator's interval.
pub(super) enum Window {
    /// The offsets from `low` to `high`.
    Offsets {
        /// The least.
        low: usize,
        /// The greatest.
        high: usize,
        /// Whether `high` is where the trace ends, going forward.
        open: bool,
    },
    /// There are none.
    Empty {
        /// The trace ends before the interval begins, going forward.
        open: bool,
    },
}

impl<'a> Walk<'a> {
    pub(super) fn new(trace: &'a Trace, options: &EvaluateOptions, at: Position, forward: bool) -> Self {
        let (start, end) = trace.segment_of(at);
        let reach = if forward { end - 1 - at } else { at - start };
        let stamps = if options.clock == Clock::Index { None } else { trace.times.as_deref() };
        Self { at, forward, reach, stamps }
    }

    fn position(&self, offset: usize) -> Position {
        if self.forward { self.at + offset } else { self.at - offset }
    }

    /// The distance in time or positions.
    fn distance(&self, offset: usize) -> i64 {
        match self.stamps {
            None => i64::try_from(offset).unwrap_or(i64::MAX),
            Some(stamps) if self.forward => stamps[self.position(offset)].saturating_sub(stamps[self.at]),
            Some(stamps) => stamps[self.at].saturating_sub(stamps[self.position(offset)]),
        }
    }

    /// The interval of `node`, as offsets.
    pub(super) fn window(
        &self,
        program: &Program,
        options: &EvaluateOptions,
        node: NodeId,
    ) -> Result<Window, Unsupported> {
        let Some(interval) = program.dag.node(node).interval() else {
            return Ok(Window::Offsets { low: 0, high: self.reach, open: self.forward });
        };
        let refuse = |what: String| Unsupported { node: Some(node), what, help: None, exhausted: false };
        if options.clock == Clock::Dense {
            return Err(refuse("explanations over continuous time (⟨clock: dense⟩)".into()));
        }
        if options.clock == Clock::Stamps && self.stamps.is_none() {
            return Err(refuse("an interval on a trace without timestamps".into()));
        }
        let ticks = interval
            .ticks(options.clock, options.unit)
            .map_err(|error| refuse(format!("this interval: {error}")))?;
        // Timestamps never decrease, so distances grow with offsets.
        let below = |limit: &dyn Fn(i64) -> bool| {
            let (mut low, mut high) = (0, self.reach + 1);
            while low < high {
                let middle = low + (high - low) / 2;
                if limit(self.distance(middle)) { low = middle + 1 } else { high = middle }
            }
            low
        };
        let low = below(&|distance| distance < ticks.low);
        let after = below(&|distance| distance <= ticks.high);
        Ok(if low < after {
            Window::Offsets { low, high: after - 1, open: self.forward && after == self.reach + 1 }
        } else {
            Window::Empty { open: self.forward && low == self.reach + 1 }
        })
    }

    /// The largest offset.
    pub(super) fn reach(&self) -> usize {
        self.reach
    }

    /// The position one step away, if there is one.
    pub(super) fn neighbour(&self) -> Option<Position> {
        (self.reach > 0).then(|| self.position(1))
    }

    /// The first offset from `low` to `high` where the column is `value`.
    pub(super) fn find(&self, column: &Bits, value: bool, low: usize, high: usize) -> Option<usize> {
        if low > high {
            return None;
        }
        if self.forward {
            column.find(value, self.at + low).map(|k| k - self.at).filter(|&offset| offset <= high)
        } else {
            column.rfind(value, self.at - low).map(|k| self.at - k).filter(|&offset| offset <= high)
        }
    }

    /// The claim that `node` is `holds` at `offset`.
    pub(super) fn point(&self, node: NodeId, offset: usize, holds: bool) -> Part {
        let at = self.position(offset);
        Part { node, range: (at, at), holds }
    }

    /// The claim that `node` is `holds` from offset `low` to before `end`; none if there are no such offsets.
    pub(super) fn stretch(&self, node: NodeId, low: usize, end: usize, holds: bool) -> Option<Part> {
        (low < end).then(|| {
            let (a, b) = (self.position(low), self.position(end - 1));
            Part { node, range: (a.min(b), a.max(b)), holds }
        })
    }

    /// The position at `offset`, for rules.
    pub(super) fn place(&self, offset: usize) -> Position {
        self.position(offset)
    }
}

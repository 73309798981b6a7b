//! The temporal operators and the connectives, at one position.

use tw_core::Position;
use tw_ir::{Applied, Clock, Node, NodeId, Ticks, Way};
use tw_monitor::Trace;

/// The interval of an operator and the clock it is read on.
pub(crate) struct Time<'t> {
    interval: Option<Ticks>,
    /// `None` counts positions.
    stamps: Option<&'t [tw_core::Time]>,
}

impl<'t> Time<'t> {
    /// `None` if the interval needs timestamps that the trace lacks.
    pub(crate) fn new(trace: &'t Trace, interval: Option<Ticks>, clock: Clock) -> Option<Self> {
        let stamps = match (interval, clock) {
            (None, _) | (_, Clock::Index) => None,
            _ => Some(trace.times.as_deref()?),
        };
        Some(Self { interval, stamps })
    }

    /// |τk − τi|.
    fn distance(&self, i: Position, k: Position) -> i64 {
        let (early, late) = (i.min(k), i.max(k));
        match self.stamps {
            Some(stamps) => stamps[late].saturating_sub(stamps[early]),
            None => (late - early) as i64,
        }
    }

    /// Whether |τk − τi| ∈ I.
    fn within(&self, i: Position, k: Position) -> bool {
        self.interval.is_none_or(|interval| interval.contains(self.distance(i, k)))
    }

    /// Whether k lies past I: time never goes back, so every place further on does too.
    fn beyond(&self, i: Position, k: Position) -> bool {
        self.interval.is_some_and(|interval| self.distance(i, k) > interval.high)
    }
}

/// A position `at` in its segment `start..end`.
pub(crate) struct Places<'t> {
    pub(crate) start: Position,
    pub(crate) end: Position,
    pub(crate) at: Position,
    pub(crate) time: &'t Time<'t>,
}

impl Places<'_> {
    /// Whether `node` holds here, given the truth of its parts anywhere. With `repeat`, the last position is its
    /// own successor (at distance 0).
    pub(crate) fn holds(&self, node: Node, repeat: bool, truth: impl Fn(NodeId, Position) -> bool) -> bool {
        let i = self.at;
        if let Some(operator) = node.temporal() {
            return self.temporal(operator, repeat, truth);
        }
        match node {
            Node::Bool(value) => value,
            Node::First => i == self.start,
            Node::Last => i + 1 == self.end,
            Node::Not(a) => !truth(a, i),
            Node::And(a, b) => truth(a, i) && truth(b, i),
            Node::Or(a, b) => truth(a, i) || truth(b, i),
            Node::Xor(a, b) => truth(a, i) != truth(b, i),
            Node::Implies(a, b) => !truth(a, i) || truth(b, i),
            Node::Iff(a, b) => truth(a, i) == truth(b, i),

            // Terms and predicates are computed elsewhere, the rest was refused.
            _ => false,
        }
    }

    fn temporal(&self, operator: Applied, repeat: bool, truth: impl Fn(NodeId, Position) -> bool) -> bool {
        let (i, weak) = (self.at, operator.weak);
        let Some(Way { dual, hold, goal: (goal, beside) }) = operator.way() else {
            // There is a next position, its distance is in I, and φ holds there. The weak one is the dual.
            let next = match operator.past {
                true => (i > self.start).then(|| i - 1),
                false if i + 1 < self.end => Some(i + 1),
                false => repeat.then_some(i),
            };
            return next.filter(|&k| self.time.within(i, k)).map_or(weak, |k| truth(operator.right, k));
        };
        let hold = |k| hold.is_none_or(|hold| truth(hold, k) != dual);
        let goal = |k| truth(goal, k) != dual && beside.is_none_or(|beside| truth(beside, k) != dual);
        dual != match operator.past {
            true => self.until((self.start..=i).rev(), hold, goal),
            false => self.until(i..self.end, hold, goal),
        }
    }

    /// Until, or since when `places` go back: at some place k with τk − τi ∈ I the goal holds, and `hold` holds at
    /// every place before it.
    fn until(
        &self,
        places: impl Iterator<Item = Position>,
        hold: impl Fn(Position) -> bool,
        goal: impl Fn(Position) -> bool,
    ) -> bool {
        for k in places {
            if self.time.within(self.at, k) && goal(k) {
                return true;
            }
            if !hold(k) || self.time.beyond(self.at, k) {
                return false;
            }
        }
        false
    }
}

//! The temporal operators and the connectives, at one position.

use tw_core::Position;
use tw_ir::{Clock, Node, NodeId, Ticks};
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
        let future = || i..self.end;
        let past = || (self.start..=i).rev();
        let next = if i + 1 < self.end { Some(i + 1) } else { repeat.then_some(i) };
        let previous = if i > self.start { Some(i - 1) } else { None };
        let reached = |k: Option<Position>| k.filter(|&k| self.time.within(i, k));
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

            // There is a next position, its distance is in I, and φ holds there. The weak one is the dual.
            Node::Next(_, a) => reached(next).is_some_and(|k| truth(a, k)),
            Node::WeakNext(_, a) => reached(next).is_none_or(|k| truth(a, k)),
            // F φ = true U φ, and G its dual.
            Node::Finally(_, a) => self.until(future(), |_| true, |k| truth(a, k)),
            Node::Globally(_, a) => !self.until(future(), |_| true, |k| !truth(a, k)),
            Node::Until(_, a, b) => self.until(future(), |k| truth(a, k), |k| truth(b, k)),
            // φ W ψ = ψ R (φ | ψ).
            Node::WeakUntil(_, a, b) => {
                self.release(future(), |k| truth(b, k), |k| truth(a, k) || truth(b, k))
            }
            Node::Release(_, a, b) => self.release(future(), |k| truth(a, k), |k| truth(b, k)),
            // φ M ψ = ψ U (φ & ψ).
            Node::StrongRelease(_, a, b) => {
                self.until(future(), |k| truth(b, k), |k| truth(a, k) && truth(b, k))
            }

            Node::Previous(_, a) => reached(previous).is_some_and(|k| truth(a, k)),
            Node::WeakPrevious(_, a) => reached(previous).is_none_or(|k| truth(a, k)),
            Node::Once(_, a) => self.until(past(), |_| true, |k| truth(a, k)),
            Node::Historically(_, a) => !self.until(past(), |_| true, |k| !truth(a, k)),
            Node::Since(_, a, b) => self.until(past(), |k| truth(a, k), |k| truth(b, k)),
            Node::BackTo(_, a, b) => self.release(past(), |k| truth(b, k), |k| truth(a, k) || truth(b, k)),
            Node::Trigger(_, a, b) => self.release(past(), |k| truth(a, k), |k| truth(b, k)),

            // Terms and predicates are computed elsewhere, the rest was refused.
            _ => false,
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

    /// Release, or trigger when `places` go back: the dual of until.
    fn release(
        &self,
        places: impl Iterator<Item = Position>,
        release: impl Fn(Position) -> bool,
        hold: impl Fn(Position) -> bool,
    ) -> bool {
        !self.until(places, |k| !release(k), |k| !hold(k))
    }
}

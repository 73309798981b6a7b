//! How long a verdict may take, known from the formula alone.

use super::{Edge, Graph, Kind};

/// The longest that the truth at a position may take to be settled: until time has passed strictly beyond so many ticks
/// after it, and then so many times until there is a position and time has passed beyond as many ticks after that.
/// Without timestamps a position is a tick.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delay {
    /// Nanoseconds, or positions.
    pub ticks: i64,
    /// How often a further position is waited for; 0 means that time alone settles.
    pub positions: u64,
}

impl Delay {
    fn max(self, other: Delay) -> Delay {
        Delay { ticks: self.ticks.max(other.ticks), positions: self.positions.max(other.positions) }
    }
}

impl Graph {
    /// The longest that a verdict may take, given those of the operands.
    pub(super) fn delay_of(&self, kind: Kind) -> Option<Delay> {
        let mut delay = Delay::default();
        for operand in kind.operands() {
            delay = delay.max(self.delay(operand)?);
        }
        match kind {
            Kind::Until(ticks, ..) if ticks.high == i64::MAX => None,
            Kind::Until(ticks, ..) => Some(Delay { ticks: delay.ticks.saturating_add(ticks.high), ..delay }),
            Kind::Beyond(ticks, ..) if self.index => {
                Some(Delay { ticks: delay.ticks.saturating_add(ticks).saturating_add(1), ..delay })
            }
            Kind::Beyond(ticks, ..) => {
                Some(Delay { ticks: delay.ticks.saturating_add(ticks), positions: delay.positions + 1 })
            }
            Kind::Next(..) | Kind::Last if self.index => {
                Some(Delay { ticks: delay.ticks.saturating_add(1), ..delay })
            }
            // Time alone shows that nothing comes within the interval, unless the last position is its own successor.
            Kind::Next(ticks, _) if ticks.high < i64::MAX && !(self.repeat && ticks.low == 0) => {
                Some(Delay { ticks: delay.ticks.saturating_add(ticks.high), ..delay })
            }
            Kind::Next(..) | Kind::Last => Some(Delay { positions: delay.positions + 1, ..delay }),
            _ => Some(delay),
        }
    }

    /// The longest that a verdict may take; `None` is for ever.
    pub(in crate::online) fn delay(&self, edge: Edge) -> Option<Delay> {
        self.operators[edge.op()].delay
    }
}

//! `S` and `U` with intervals: what one operator keeps of the positions that it has read.

use super::{Cell, known};
use crate::online::graph::{ALWAYS, Edge, Kind};
use crate::online::stream::Times;
use tw_ir::Ticks;

impl Cell {
    /// The first position at which operands will be read.
    pub(super) fn operands_from(&self, kind: Kind) -> u64 {
        match kind {
            Kind::Since(..) | Kind::Until(..) | Kind::Beyond(..) => self.read,
            Kind::Previous(..) => self.out.end().saturating_sub(1),
            _ => self.out.end(),
        }
    }

    /// The first position whose time will be read.
    pub(super) fn times_from(&self, kind: Kind) -> u64 {
        match (kind, kind.ticks()) {
            (Kind::Beyond(..), _) => self.read.min(self.out.end()),
            (_, None) => u64::MAX,
            // A window begins at the first position that is open.
            (Kind::Until(..), Some(ticks)) if ticks != ALWAYS => self.read.min(self.out.end()),
            _ => self.operands_from(kind),
        }
    }

    pub(super) fn since(&mut self, ticks: Ticks, a: Edge, b: Edge, below: &[Cell], times: &Times, len: u64) {
        loop {
            while self.read < self.out.end()
                && let (Some(hold), Some(goal)) = (known(below, a, self.read), known(below, b, self.read))
            {
                self.absorb(ticks, hold, goal, times.at(self.read));
                self.read += 1;
            }
            let at = self.out.end();
            if at >= len {
                break;
            }
            let here = if ticks.low == 0 { known(below, b, at) } else { Some(false) };
            let value = if here == Some(true) {
                true
            } else if self.read == at {
                let before = self.old_enough(ticks, times.at(at));
                match (here, if before { known(below, a, at) } else { Some(false) }) {
                    (_, Some(true)) => true,
                    (Some(here), Some(false)) => here,
                    _ => break,
                }
            } else if times.at(at).saturating_sub(times.at(self.read)) < ticks.low {
                // What is open is too young to be a witness here.
                match self.old_enough(ticks, times.at(at)) {
                    false => false,
                    true if a == Edge::TRUE => true,
                    true => break,
                }
            } else {
                break;
            };
            self.out.push(value);
        }
    }

    /// Whether `S` has a witness in the interval, now or later.
    #[inline]
    fn old_enough(&mut self, ticks: Ticks, now: i64) -> bool {
        let Some(past) = &mut self.past else { return false };
        while let Some(&front) = past.waiting.front()
            && now.saturating_sub(front) >= ticks.low
        {
            past.ready = past.waiting.pop_front();
        }
        past.ready.is_some_and(|ready| now.saturating_sub(ready) <= ticks.high)
    }

    /// Takes a position into what `S` remembers. A witness that others cover is not kept.
    #[inline]
    fn absorb(&mut self, ticks: Ticks, hold: bool, goal: bool, time: i64) {
        if !hold && let Some(past) = &mut self.past {
            past.ready = None;
            past.waiting.clear();
        }
        if !goal {
            return;
        }
        let past = self.past.get_or_insert_default();
        if ticks.low == 0 {
            past.ready = Some(time);
        } else if ticks.high == i64::MAX {
            // The oldest is ready first, and then for ever.
            if past.ready.is_none() && past.waiting.is_empty() {
                past.waiting.push_back(time);
            }
        } else if past.waiting.back() != Some(&time) {
            // The one in the middle of three is covered when the last is ready before the first has expired.
            let count = past.waiting.len();
            if count >= 2 && time.saturating_sub(past.waiting[count - 2]) <= ticks.high - ticks.low {
                past.waiting.pop_back();
            }
            past.waiting.push_back(time);
        }
    }

    pub(super) fn until(&mut self, ticks: Ticks, a: Edge, b: Edge, below: &[Cell], times: &Times, len: u64) {
        while self.read < len {
            let at = self.read;
            let now = times.at(at);
            if ticks.high < i64::MAX {
                while self.out.end() < at && now.saturating_sub(times.at(self.out.end())) > ticks.high {
                    self.out.push(false);
                }
            }
            let (hold, goal) = (known(below, a, at), known(below, b, at));
            if goal == Some(true) {
                if ticks.low == 0 {
                    self.out.fill(true, at + 1);
                } else {
                    while self.out.end() <= at && now.saturating_sub(times.at(self.out.end())) >= ticks.low {
                        self.out.push(true);
                    }
                }
            }
            // Where it does not hold, what is open fails, unless this very position may be the witness.
            let witness = || {
                let open = self.out.end();
                ticks.low == 0 || (open <= at && now.saturating_sub(times.at(open)) >= ticks.low)
            };
            if hold == Some(false) && (goal.is_some() || !witness()) {
                self.out.fill(false, at + 1);
            }
            // Operands at a position before the first open one do not matter any more.
            if (hold.is_none() || goal.is_none()) && self.out.end() <= at {
                self.look_ahead(ticks, a, b, below, times, len);
                if self.out.end() <= at {
                    break;
                }
            }
            self.read += 1;
        }
    }

    /// Though operands at `read` are open: the right one alone decides a position that has no witness in its window, and,
    /// with nothing to hold until then, one that has.
    fn look_ahead(&mut self, ticks: Ticks, a: Edge, b: Edge, below: &[Cell], times: &Times, len: u64) {
        // Without an interval no window closes, and times are not kept.
        if ticks == ALWAYS {
            return;
        }
        self.clear = self.clear.max(self.read);
        while self.out.end() < len {
            let from = times.at(self.out.end());
            let value = loop {
                if self.clear == len {
                    break None;
                }
                let distance = times.at(self.clear).saturating_sub(from);
                if distance > ticks.high {
                    break Some(false);
                }
                match if distance < ticks.low { Some(false) } else { known(below, b, self.clear) } {
                    Some(false) => self.clear += 1,
                    Some(true) if a == Edge::TRUE => break Some(true),
                    _ => break None,
                }
            };
            match value {
                Some(value) => self.out.push(value),
                None => break,
            }
        }
    }

    /// The pieces of time that [`Kind::Beyond`] asks about follow each other, so that each position is read once.
    pub(super) fn beyond(
        &mut self,
        (ticks, a, b): (i64, Edge, Edge),
        below: &[Cell],
        times: &Times,
        len: u64,
        passed: Option<i64>,
    ) {
        while self.out.end() + 1 < len {
            let at = self.out.end();
            let (from, to) = (times.at(at).saturating_add(ticks), times.at(at + 1).saturating_add(ticks));
            while self.read < len && times.at(self.read) <= from {
                self.read += 1;
            }
            let value = loop {
                if self.read == len {
                    break passed.filter(|&passed| passed >= to).map(|_| false);
                }
                if times.at(self.read) > to {
                    break Some(false);
                }
                match (known(below, a, self.read), known(below, b, self.read)) {
                    (_, Some(true)) => break Some(true),
                    (Some(false), Some(false)) => break Some(false),
                    (Some(true), Some(false)) => self.read += 1,
                    _ => break None,
                }
            };
            match value {
                Some(value) => self.out.push(value),
                None => break,
            }
        }
    }
}

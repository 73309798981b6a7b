//! What hangs on the future: solutions wait as rows, found by the facts that decide them, and by time.

use super::formula::{EVER, Side};
use super::runner::{Row, Runner, tell};
use super::steps::Target;
use super::table::Stamp;
use crate::answers::in_order;
use crate::gate::Plan;
use crate::key::Key;
use crate::machine::{Fails, Found};
use std::sync::Arc;
use tw_core::{Position, Time};

impl Runner {
    /// A solution waits, unless it is decided at once.
    pub(super) fn wait(
        &mut self,
        plan: &Plan,
        number: usize,
        kept: &[Key],
        stamp: Stamp,
        about: Position,
        out: &mut Vec<Found>,
    ) {
        let rules = &*plan.rules;
        let rule = &rules.rules[number];
        let mut done = 0u32;
        for (at, wait) in rule.waits.iter().enumerate() {
            let window = &rules.windows[wait.window].window;
            let known = self.windows[wait.window].table.as_ref().is_some_and(|table| {
                let row = table.find(wait.key.iter().map(|place| &kept[*place]));
                row.is_some_and(|row| {
                    let distance = table.stamp(row).time.saturating_sub(stamp.time);
                    window.low <= distance && distance <= window.high
                })
            });
            if known && wait.negated {
                return;
            }
            done |= u32::from(known) << at;
        }
        if done.count_ones() as usize == rule.waits.len() {
            return self.over(plan, number, kept, stamp, about, out);
        }
        self.register(plan, number, kept, stamp, about, done);
    }

    pub(crate) fn register(
        &mut self,
        plan: &Plan,
        number: usize,
        keys: &[Key],
        stamp: Stamp,
        about: Position,
        done: u32,
    ) {
        let waiting = &mut self.waiting[number];
        let row = waiting.table.add(keys, stamp);
        waiting.done.set(row, done);
        waiting.numbers.set(row, about);
        for (at, wait) in plan.rules.rules[number].waits.iter().enumerate() {
            if done >> at & 1 == 0 && plan.rules.windows[wait.window].end().is_some() {
                waiting.queues[at].push((row, stamp));
            }
        }
    }

    /// A solution has waited for all that it had to.
    pub(super) fn over(
        &mut self,
        plan: &Plan,
        number: usize,
        kept: &[Key],
        stamp: Stamp,
        about: Position,
        out: &mut Vec<Found>,
    ) {
        let rule = &plan.rules.rules[number];
        let row = rule.row.iter().map(|place| &kept[*place]);
        match rule.target {
            Target::Fact(window) => {
                let fresh = &mut self.windows[window].fresh;
                fresh.rows.push(row);
                fresh.stamps.push(stamp);
            }
            Target::Violation(asked) if self.counts(asked) => self.more[asked] += 1,
            Target::Violation(asked) => {
                self.violated(asked, row.cloned().collect(), (stamp.time, about), out);
            }
            _ => {}
        }
    }

    /// Whether each violation is known once, some time after its position, and nobody asks for its values any more.
    fn counts(&self, asked: usize) -> bool {
        let (reach, alone) = self.reach[asked];
        alone && self.told[asked] >= self.limit && reach != Some(i64::MIN)
    }

    pub(super) fn violated(
        &mut self,
        asked: usize,
        row: Row,
        (time, about): (Time, Position),
        out: &mut Vec<Found>,
    ) {
        let (reach, alone) = self.reach[asked];
        if self.counts(asked) {
            self.more[asked] += 1;
            return;
        }
        let outbox = &mut self.outboxes[asked];
        if reach == Some(i64::MIN) {
            return outbox.here.push(row);
        }
        if self.early && alone {
            tell(asked, about, vec![row], out);
            return;
        }
        let (_, rows) = outbox.open.entry(about).or_insert_with(|| (time, Vec::new()));
        if let Err(place) = rows.binary_search_by(|own| in_order(own.iter(), row.iter())) {
            rows.insert(place, row.clone());
            if self.early {
                tell(asked, about, vec![row], out);
            }
        }
    }

    /// Tells who waits what has become known to a window.
    pub(super) fn deliver(&mut self, plan: &Plan, window: usize, out: &mut Vec<Found>) {
        if self.windows[window].fresh.stamps.is_empty() {
            return;
        }
        let mut found = Vec::new();
        let mut fresh = std::mem::take(&mut self.windows[window].fresh);
        for (at, &stamp) in fresh.stamps.iter().enumerate() {
            let row = fresh.rows.row(at);
            for at in 0..self.readers[window].len() {
                let (number, wait) = self.readers[window][at];
                found.clear();
                found.extend_from_slice(self.waiting[number].table.matching(wait, row.iter()));
                for &waiting in &found {
                    self.decide(plan, number, wait, waiting, stamp, out);
                }
            }
            let now = self.before;
            self.windows[window].keep(row, stamp, now);
        }
        // What was delivered may have made facts, but none of its own window: the room is used again.
        if self.windows[window].fresh.stamps.is_empty() {
            fresh.rows.clear();
            fresh.stamps.clear();
            self.windows[window].fresh = fresh;
        }
    }

    /// A fact that a solution waits for, if it lies where it should.
    pub(super) fn decide(
        &mut self,
        plan: &Plan,
        number: usize,
        wait: usize,
        row: u32,
        fact: Stamp,
        out: &mut Vec<Found>,
    ) {
        let waiting = &mut self.waiting[number];
        if waiting.done.get(row) >> wait & 1 == 1 {
            return;
        }
        let (own, literal) = (waiting.table.stamp(row), &plan.rules.rules[number].waits[wait]);
        let window = &plan.rules.windows[literal.window].window;
        let distance = fact.time.saturating_sub(own.time);
        let side = match window.side {
            Side::Any => true,
            Side::Later => fact.at >= own.at,
            Side::Earlier => fact.at <= own.at,
        };
        if !side || distance < window.low || distance > window.high {
            return;
        }
        if literal.negated {
            waiting.table.remove(row);
        } else {
            self.done(plan, number, wait, row, out);
        }
    }

    /// One of the waits of a solution is over.
    pub(super) fn done(&mut self, plan: &Plan, number: usize, wait: usize, row: u32, out: &mut Vec<Found>) {
        let waiting = &mut self.waiting[number];
        let done = waiting.done.get(row) | 1 << wait;
        waiting.done.set(row, done);
        if done.count_ones() as usize == plan.rules.rules[number].waits.len() {
            let mut kept = std::mem::take(&mut self.row);
            kept.clear();
            kept.extend_from_slice(waiting.table.row(row));
            let (stamp, about) = (waiting.table.stamp(row), waiting.numbers.get(row));
            waiting.table.remove(row);
            self.over(plan, number, &kept, stamp, about, out);
            self.row = kept;
        }
    }

    /// The next time whose passing decides something: when, and which wait of which rule.
    pub(super) fn due(&self, plan: &Plan) -> Option<(Time, usize, usize)> {
        let mut first: Option<(Time, usize, usize)> = None;
        for (number, rule) in plan.rules.rules.iter().enumerate() {
            for (at, wait) in rule.waits.iter().enumerate() {
                let (Some((_, stamp)), Some(end)) =
                    (self.waiting[number].queues[at].front(), plan.rules.windows[wait.window].end())
                else {
                    continue;
                };
                let due = (stamp.time.saturating_add(end), number, at);
                first = Some(first.map_or(due, |first| first.min(due)));
            }
        }
        first
    }

    /// What comes next has this time or a later one.
    pub(crate) fn advance(&mut self, plan: &Plan, time: Time, out: &mut Vec<Found>) {
        if self.readers.is_empty() {
            return;
        }
        while let Some((when, number, wait)) = self.due(plan)
            && when < time
        {
            self.pass(plan, number, wait, out);
        }
        self.flush(time, out);
    }

    /// The first in a queue has waited in vain.
    pub(super) fn pass(&mut self, plan: &Plan, number: usize, wait: usize, out: &mut Vec<Found>) {
        let waiting = &mut self.waiting[number];
        let Some((row, stamp)) = waiting.queues[wait].pop() else { return };
        // It may have been decided before, and its place been taken by another.
        if waiting.table.stamp(row) != stamp || waiting.done.get(row) >> wait & 1 == 1 {
            return;
        }
        if plan.rules.rules[number].waits[wait].negated {
            self.done(plan, number, wait, row, out);
        } else {
            waiting.table.remove(row);
        }
        for window in 0..self.windows.len() {
            self.deliver(plan, window, out);
        }
    }

    /// Tells the violations of positions of which no more can become known.
    pub(super) fn flush(&mut self, time: Time, out: &mut Vec<Found>) {
        for asked in 0..self.outboxes.len() {
            let (Some(reach), _) = self.reach[asked] else { continue };
            while let Some(entry) = self.outboxes[asked].open.first_entry()
                && entry.get().0.saturating_add(reach) < time
            {
                let (about, (_, rows)) = entry.remove_entry();
                if !self.early {
                    self.told[asked] += tell(asked, about, rows, out);
                }
            }
        }
    }

    /// There are no further positions.
    pub(crate) fn end(&mut self, plan: &Plan, out: &mut Vec<Found>) {
        self.advance(plan, EVER, out);
        // What only the end decides: what is inside of others comes first.
        for number in 0..plan.rules.rules.len() {
            let rules = &*plan.rules;
            let rows: Vec<u32> = self.waiting[number].table.all().collect();
            for row in rows {
                for (at, wait) in rules.rules[number].waits.iter().enumerate() {
                    let waiting = &mut self.waiting[number];
                    if !waiting.table.holds(row) || waiting.done.get(row) >> at & 1 == 1 {
                        continue;
                    }
                    if wait.negated {
                        self.done(plan, number, at, row, out);
                    } else {
                        waiting.table.remove(row);
                    }
                }
            }
            for window in 0..self.windows.len() {
                self.deliver(plan, window, out);
            }
        }
        self.known(out);
    }

    /// Tells the violations that are known, though more may become known of their positions.
    pub(crate) fn known(&mut self, out: &mut Vec<Found>) {
        for asked in 0..self.outboxes.len() {
            for (about, (_, rows)) in std::mem::take(&mut self.outboxes[asked].open) {
                if !self.early {
                    tell(asked, about, rows, out);
                }
            }
            let more = std::mem::take(&mut self.more[asked]);
            if more > 0 {
                out.push(Found { asked, about: 0, first: false, fails: Fails::More(more) });
            }
        }
    }

    /// The earliest time whose passing may decide something.
    pub(crate) fn deadline(&self, plan: &Plan) -> Option<Time> {
        self.due(plan).map(|(time, ..)| time)
    }

    /// What questions wait for, oldest first.
    pub(crate) fn owed(&self, plan: &Plan) -> Vec<crate::machine::Waiting> {
        let mut found = Vec::new();
        for (number, rule) in plan.rules.rules.iter().enumerate() {
            let Target::Violation(asked) = rule.target else { continue };
            let waiting = &self.waiting[number];
            let mut rows: Vec<u32> = waiting.table.all().collect();
            rows.sort_by_key(|row| waiting.table.stamp(*row).at);
            for row in rows {
                let (kept, stamp) = (waiting.table.row(row), waiting.table.stamp(row));
                let open = |at: &usize| waiting.done.get(row) >> *at & 1 == 0;
                let (mut owed, mut deadline) = (Vec::new(), Some(i64::MIN));
                for wait in (0..rule.waits.len()).filter(open).map(|at| &rule.waits[at]) {
                    owed.push((plan.origin[wait.origin as usize], !wait.negated));
                    let end = plan.rules.windows[wait.window].end();
                    deadline = deadline.zip(end).map(|(most, end)| most.max(stamp.time.saturating_add(end)));
                }
                let values: Row = rule.row.iter().map(|place| kept[*place].clone()).collect();
                let fails = Fails::Rows(Arc::new(vec![values]));
                let since = waiting.numbers.get(row);
                found.push(crate::machine::Waiting { asked, since, deadline, fails, owed });
            }
        }
        found
    }
}

//! The monitors of a specification beside its properties: of each key those of its own.

use super::ending::{Cut, Cuts, Ended};
use super::feed::pieces;
use super::shard::{End, Outcome, ShardMonitor};
use crate::check::Violation;
use crate::monitors::{self, Many, batch, pick, severity, violation};
use crate::{Error, Verdict};
use std::sync::Arc;
use tw_core::codec::{Corrupt, put, put_bytes, take, take_bytes};
use tw_core::{Batch, Position, Time};
use tw_engine_parametric::{Found, Monitors, Over};
use tw_ir::SlotId;
use tw_monitor::{Bindings, Known};

/// The monitors of all keys.
pub(super) struct Parametric {
    plan: Arc<tw_engine_parametric::Plan>,
    slots: Vec<SlotId>,
    budget: usize,
    many: Many,
    /// Of each key its last position, and which monitors have reported.
    seen: Vec<Seen>,
}

#[derive(Clone, Debug, Default)]
struct Seen {
    last: Position,
    reported: Vec<bool>,
}

/// What is told, in the order of the log: behind a position, or between two.
struct Told {
    place: usize,
    key: u32,
    position: Position,
    time: Option<Time>,
    ended: Option<Ended>,
    what: What,
}

enum What {
    Report(Found, Option<Position>),
    Silent(usize),
}

impl Parametric {
    pub fn new(plan: &Arc<tw_engine_parametric::Plan>, budget: usize) -> Self {
        let (plan, slots) = (plan.clone(), plan.slots());
        Self { many: Many::new(&plan, budget), plan, slots, budget, seen: Vec::new() }
    }

    /// What monitors read of a batch.
    pub fn read(&self, batch: &Batch) -> Batch {
        monitors::read(batch, &self.slots)
    }

    /// Whether the trace of a key has begun.
    pub fn knows(&self, key: u32) -> bool {
        self.many.get(key).is_some()
    }

    pub fn heap_bytes(&self) -> usize {
        let seen = self.seen.capacity() * size_of::<Seen>() + self.seen.len() * self.plan.shapes().len();
        self.many.heap_bytes() + seen
    }

    fn seen(&mut self, key: u32) -> &mut Seen {
        if self.seen.len() <= key as usize {
            self.seen.resize(key as usize + 1, Seen::default());
        }
        let own = &mut self.seen[key as usize];
        own.reported.resize(self.plan.shapes().len(), false);
        own
    }

    /// What the end of a key's trace says: reports, and monitors that have none.
    fn ending(&self, key: u32) -> (Vec<Found>, Vec<usize>) {
        let mut found = Vec::new();
        if !self.knows(key) {
            return (found, Vec::new());
        }
        self.many.finish(key, &mut found);
        let reported = &self.seen[key as usize].reported;
        let silent = (0..reported.len()).filter(|&own| !reported[own]);
        let silent = silent.filter(|&own| found.iter().all(|found| found.monitor != own)).collect();
        (found, silent)
    }

    /// Lets go of a key.
    fn forget(&mut self, key: u32) {
        self.many.forget(key);
        *self.seen(key) = Seen::default();
    }

    /// The state of a key.
    pub fn save(&self, key: u32, out: &mut Vec<u8>) {
        let Some(own) = self.many.get(key) else { return put(0, out) };
        put(1, out);
        let seen = &self.seen[key as usize];
        put(seen.last as u64, out);
        seen.reported.iter().for_each(|&reported| put(u64::from(reported), out));
        let mut state = Vec::new();
        own.save(&mut state);
        put_bytes(&state, out);
    }

    /// Goes on from it.
    pub fn load(&mut self, key: u32, from: &mut &[u8]) -> Result<(), Corrupt> {
        if take(from)? == 0 {
            return Ok(());
        }
        let last = take(from)? as Position;
        let reported: Result<Vec<bool>, Corrupt> =
            (0..self.plan.shapes().len()).map(|_| Ok(take(from)? == 1)).collect();
        *self.seen(key) = Seen { last, reported: reported? };
        let mut state = take_bytes(from)?;
        self.many.restore(key, &mut state)?;
        match state.is_empty() {
            true => Ok(()),
            false => Err(Corrupt("the snapshot is longer than it should be".into())),
        }
    }
}

impl ShardMonitor {
    /// Positions into the monitors of their keys, and what they report. `start` is the number of the first.
    pub(super) fn report(
        &mut self,
        read: &Batch,
        keys: &[u32],
        (start, times): (Position, Option<&[Time]>),
        cuts: Cuts,
        told: &mut dyn FnMut(Outcome<'_>),
    ) -> Result<(), Error> {
        let Some(parametric) = &mut self.parametric else { return Ok(()) };
        let program = self.plan.program();
        let mut order: Vec<u32> =
            (0..keys.len() as u32).filter(|&at| keys[at as usize] != u32::MAX).collect();
        order.sort_by_key(|&at| keys[at as usize]);
        let mut all: Vec<Told> = Vec::new();
        for (key, group, cut) in pieces(&order, keys, cuts) {
            if let Some(&last) = group.last() {
                let before = parametric.many.get(key).map_or(0, Monitors::positions);
                let part = match group.len() == read.len {
                    true => None,
                    false => {
                        let columns = pick(read, &parametric.slots, group);
                        Some(batch(program, &parametric.slots, columns, group.len()))
                    }
                };
                let mut found = Vec::new();
                let fed = parametric.many.feed(key, part.as_ref().unwrap_or(read), &mut found);
                fed.map_err(|over| {
                    let over = Over { position: (start + read.len) as u64, ..over };
                    Error::Budget(monitors::over(self.plan.specification(), &over, parametric.budget, ""))
                })?;
                let seen = parametric.seen(key);
                seen.last = start + last as Position;
                for one in found {
                    seen.reported[one.monitor] = true;
                    let place = one.position.map_or(0, |at| group[(at - before) as usize]) as usize;
                    all.push(Told {
                        place: 2 * place + 1,
                        key,
                        position: start + place,
                        time: times.map(|times| times[place]),
                        ended: None,
                        what: What::Report(one, Some(start + place)),
                    });
                }
            }
            if let Some(cut) = cut {
                ended(parametric, key, cut, &mut all);
            }
        }
        all.sort_by_key(|told| told.place);
        all.into_iter().for_each(|own| self.tell_monitor(own, told));
        Ok(())
    }

    /// The trace of a key is over between two batches.
    pub(super) fn end_monitors(&mut self, key: u32, cut: Cut, told: &mut dyn FnMut(Outcome<'_>)) {
        let mut all = Vec::new();
        if let Some(parametric) = &mut self.parametric {
            ended(parametric, key, cut, &mut all);
        }
        all.into_iter().for_each(|own| self.tell_monitor(own, told));
    }

    fn tell_monitor(&self, own: Told, told: &mut dyn FnMut(Outcome<'_>)) {
        let Told { key, position, time, ended, what, .. } = own;
        let monitors = &self.plan.program().monitors;
        let (number, report) = match what {
            What::Report(found, at) => (found.monitor, Some(violation(&monitors[found.monitor], &found, at))),
            What::Silent(number) => (number, None),
        };
        told(Outcome {
            property: self.plan.properties().len() + number,
            name: &monitors[number].name,
            key: self.key.as_ref().map(|_| self.keys.text(key as usize)),
            number: key,
            verdict: if report.is_some() { Verdict::Violated } else { Verdict::Satisfied },
            about: report.as_ref().and_then(|report| report.position),
            count: 1,
            position,
            time,
            overdue: false,
            bindings: Bindings::default(),
            ended,
            severity: severity(&monitors[number]),
            report,
        });
    }

    /// What monitors of a key are worth if the log ends here.
    pub(super) fn finish_monitors(&self, key: usize, told: &mut dyn FnMut(End<'_>)) {
        let Some(parametric) = self.parametric.as_ref().filter(|own| own.knows(key as u32)) else { return };
        let (found, _) = parametric.ending(key as u32);
        let seen = &parametric.seen[key];
        for (number, monitor) in self.plan.program().monitors.iter().enumerate() {
            let own = found.iter().filter(|found| found.monitor == number);
            let reports: Vec<Violation> = own.map(|found| violation(monitor, found, None)).collect();
            let settled = seen.reported[number];
            told(End {
                property: self.plan.properties().len() + number,
                name: &monitor.name,
                key: self.key.as_ref().map(|_| self.keys.text(key)),
                known: Known::Truth(!settled && reports.is_empty()),
                settled,
                violations: Vec::new(),
                position: seen.last,
                reports,
            });
        }
    }
}

/// What the end of a key's trace says, and lets go of it.
fn ended(parametric: &mut Parametric, key: u32, cut: Cut, all: &mut Vec<Told>) {
    let (found, silent) = parametric.ending(key);
    let position = parametric.seen(key).last;
    let told =
        |what: What| Told { place: 2 * cut.at, key, position, time: cut.time, ended: Some(cut.why), what };
    all.extend(found.into_iter().map(|found| told(What::Report(found, None))));
    all.extend(silent.into_iter().map(|own| told(What::Silent(own))));
    parametric.forget(key);
}

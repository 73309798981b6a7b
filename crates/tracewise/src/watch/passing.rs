//! What the passing of time settles.

use super::judge::{Halt, Judge, Place};
use super::state::{number, number_out, signed, signed_out};
use std::time::Instant;
use tw_core::Time;
use tw_monitor::Obligation;

impl Judge<'_> {
    /// No event came for a while: the stream's time goes on with the wall clock.
    pub(super) fn beat(&mut self, now: Instant) -> Result<(), Halt> {
        match self.clock.beat(now) {
            Some(time) => self.come_to(time),
            None => Ok(()),
        }
    }

    /// Time has come to `time`: positions at that time may still come, none before.
    pub(super) fn come_to(&mut self, time: Time) -> Result<(), Halt> {
        if self.sorter.is_some() {
            self.release(Some(time))?;
        }
        let beyond = match time.checked_sub(1) {
            Some(beyond) if !self.counts() => beyond,
            _ => return Ok(()),
        };
        // One deadline after the other, so that each verdict comes with the deadline that settled it.
        loop {
            let passed = self.passed;
            let is_due = |owed: &Obligation| owed.deadline > passed && owed.deadline <= Some(beyond);
            let mut due: Vec<Obligation> = self
                .monitor
                .pending()
                .into_iter()
                .filter(|owed| owed.deadline.is_some() && is_due(owed))
                .collect();
            if due.is_empty() {
                return self.pass(beyond, time, &[]);
            }
            due.sort_by_key(|owed| (owed.deadline, owed.root, owed.since));
            for together in due.chunk_by(|a, b| a.deadline == b.deadline) {
                if let Some(deadline) = together[0].deadline {
                    self.pass(deadline, time, together)?;
                }
            }
        }
    }

    /// Time has passed strictly beyond `beyond`; what was due then, and to when it is known to have come.
    fn pass(&mut self, beyond: Time, come_to: Time, due: &[Obligation]) -> Result<(), Halt> {
        let mut found = std::mem::take(&mut self.sink_of_engine);
        let advanced = self.monitor.advance(beyond, &mut found);
        let mut settled = std::mem::take(&mut found.settled);
        self.passed = self.passed.max(Some(beyond));
        for found in &settled {
            // What a position waits for may be about a later one.
            let of_root = |from: fn(&usize, &usize) -> bool| {
                let about = found.about.unwrap_or(0);
                let is_of = |owed: &&Obligation| {
                    owed.root == found.root && (found.about.is_none() || from(&owed.since, &about))
                };
                due.iter().find(is_of).cloned()
            };
            let due = of_root(usize::eq).or_else(|| of_root(usize::gt));
            self.say(found, Place { line: None, time: Some(come_to), due })?;
        }
        settled.clear();
        self.sink_of_engine.settled = settled;
        advanced.map_err(Halt::Refused)
    }

    /// Appends how far time has come and what waits, for a checkpoint.
    pub(super) fn save_time(&self, out: &mut Vec<u8>) {
        number_out(u64::from(self.untimed.counting), out);
        self.clock.save(out);
        number_out(u64::from(self.passed.is_some()), out);
        signed_out(self.passed.unwrap_or(0), out);
        if let Some(sorter) = &self.sorter {
            sorter.save(out);
        }
        if let Some(times) = &self.times {
            times.save(out);
        }
    }

    /// Goes on from what [`Judge::save_time`] wrote; before the monitor does, which may be another.
    pub(super) fn load_time(&mut self, mut from: &[u8]) -> Result<(), String> {
        let from = &mut from;
        if number(from)? == 1 {
            self.monitor = self.untimed.monitor().ok_or("its stream had no timestamps, this one has")?;
        }
        self.clock.load(from)?;
        self.clock.go_on(Instant::now());
        let passed = number(from)? == 1;
        self.passed = Some(signed(from)?).filter(|_| passed);
        if let Some(sorter) = &mut self.sorter {
            sorter.load(from)?;
        }
        if let Some(times) = &mut self.times {
            times.load(from)?;
        }
        if from.is_empty() { Ok(()) } else { Err("it is longer than it should be".into()) }
    }
}

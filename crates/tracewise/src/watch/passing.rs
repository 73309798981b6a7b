//! What the passing of time settles.

use super::clock::Passed;
use super::halt::Halt;
use super::judge::Judge;
use super::state::{number, number_out, signed, signed_out};
use super::told::{Place, earliest, together};
use std::time::Instant;
use tw_core::{Position, Time};
use tw_monitor::Obligation;

impl Judge<'_> {
    /// No event came for a while: the stream's time goes on with the wall clock.
    pub(super) fn beat(&mut self, passed: Passed) -> Result<(), Halt> {
        // Where no time is measured, timestamps may go back to before that.
        if self.back.is_some() {
            return Ok(());
        }
        match self.clock.beat(passed) {
            Some(time) => self.come_to(time),
            None => Ok(()),
        }
    }

    /// Time has come to `time`: positions at that time may still come, none before.
    pub(super) fn come_to(&mut self, time: Time) -> Result<(), Halt> {
        if self.sorter.is_some() {
            self.release_up_to(Some(time))?;
        }
        self.pass_required(time)?;
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
        self.passing = true;
        let told = self.pass_telling(beyond, come_to, due);
        self.passing = false;
        told
    }

    fn pass_telling(&mut self, beyond: Time, come_to: Time, due: &[Obligation]) -> Result<(), Halt> {
        let mut found = std::mem::take(&mut self.sink_of_engine);
        let advanced = self.monitor.advance(beyond, &mut found);
        let settled = std::mem::take(&mut found.settled);
        self.passed = self.passed.max(Some(beyond));
        // What a position waits for may be about a later one.
        let due_of = |root: usize, about: Option<Position>| {
            let of_root = |from: fn(&usize, &usize) -> bool| {
                let is_of = |owed: &&Obligation| {
                    owed.root == root && about.is_none_or(|about| from(&owed.since, &about))
                };
                due.iter().find(is_of).cloned()
            };
            of_root(usize::eq).or_else(|| of_root(usize::gt))
        };
        for group in together(&settled) {
            let mut place = Place { time: Some(come_to), ..Place::default() };
            if self.options.tells_each() {
                for found in group {
                    place.due = due_of(found.root, found.about);
                    self.say(std::slice::from_ref(found), place.clone())?;
                }
                continue;
            }
            let about = earliest(group).and_then(|found| found.about);
            place.due = due_of(group[0].root, about);
            if let Some(about) = about {
                place.failed = self.known_of(about, self.read);
            }
            self.say(group, place)?;
        }
        self.give_back(settled);
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
        self.lines.save(out);
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
        self.lines.load(from)?;
        if from.is_empty() { Ok(()) } else { Err("it is longer than it should be".into()) }
    }
}

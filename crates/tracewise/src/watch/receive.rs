//! Positions on their way to the monitor: as they come, or sorted, or one by one for observers.

use super::halt::Halt;
use super::judge::Judge;
use super::lines::shortened;
use super::queries::Read;
use super::told::{Place, earliest, together};
use super::{Observation, sorter::Waiting};
use crate::Error;
use crate::Verdict;
use crate::error::{Budget, Setting};
use crate::run::beside::Beside;
use crate::run::order::StepsBack;
use crate::run::timing::{fill_live, without_time};
use std::time::Instant;
use tw_core::{Batch, Bits, Time};
use tw_monitor::{Positions, Stretch};
use tw_trace::{Arrival, Receiver, Stamp, TraceError, TraceErrorKind};

/// The truth of every atom at positions that were read, and their timestamps.
pub(super) struct Atoms {
    columns: Vec<Bits>,
    times: Option<Vec<Time>>,
    beside: Option<Beside>,
    queries: Option<Read>,
    monitors: Option<Batch>,
}

impl Receiver for Judge<'_> {
    type Mapped = Atoms;
    type Error = Halt;

    fn map(&mut self, mut batch: Batch) -> Result<Atoms, (usize, TraceError)> {
        match &batch.times {
            Some(times) => self.clock.check(times)?,
            None => {
                self.untimed.check().map_err(|error| (0, error))?;
                if let Some(error) = without_time(&self.spec.program) {
                    return Err((0, error));
                }
            }
        }
        fill_live(&self.spec.program, self.clock.unit(), &mut batch, self.clock.latest());
        let times = batch.times.take();
        let monitors = self.parametric.as_ref().map(|own| own.read(&batch));
        let beside = self.beside.as_ref().map(|reader| reader.read(&self.spec.program, &batch));
        let queries = self.queries.as_ref().map(|queries| queries.read(&batch, times.as_deref())).transpose();
        let both = queries.and_then(|queries| Ok((self.predicates.evaluate_owned(batch)?, queries)));
        match both {
            Ok((columns, queries)) => Ok(Atoms { columns, times, beside, queries, monitors }),
            Err(error) => {
                self.bad_lines.fault = Some((error.node, self.monitor.positions() + error.position));
                Err((error.position, TraceError::new(TraceErrorKind::Type, error.message)))
            }
        }
    }

    fn take(&mut self, atoms: Atoms, arrival: &Arrival<'_>) -> Result<(), Halt> {
        self.clock.write_as(arrival.style);
        match &atoms.times {
            Some(times) => {
                self.clock.arrive(times, Instant::now());
                if let Some(back) = &mut self.back {
                    back.then(StepsBack::of(times));
                }
            }
            None => {
                if let Some(mut monitor) = self.untimed.monitor() {
                    monitor.skip_to(self.begins);
                    self.monitor = monitor;
                }
            }
        }
        match (&mut self.sorter, &atoms.times) {
            (Some(_), Some(times)) => self.sort(&atoms, times, arrival),
            _ => {
                self.lines.arrive(arrival.before);
                self.feed(&atoms, arrival)?;
                // Who asks between arrivals wants to know where the last one ended.
                self.read = arrival.after();
                Ok(())
            }
        }
    }

    fn left_over(&mut self, lines: u64, first: u64) {
        self.bad_lines.left_over(lines, first, self.sink);
    }

    fn bad_line(&mut self, error: TraceError) -> Result<(), Halt> {
        self.bad_lines.leave_out(self.spec, self.options.skip_bad_lines, error, self.sink)
    }

    fn watermark(&mut self, stamp: Stamp, _line: u64) -> Result<(), Halt> {
        match self.clock.watermark(stamp) {
            Some(time) => self.come_to(time),
            None => Ok(()),
        }
    }
}

impl Judge<'_> {
    /// Takes positions in the order in which they came.
    fn feed(&mut self, atoms: &Atoms, arrival: &Arrival<'_>) -> Result<(), Halt> {
        let before = self.monitor.positions();
        let times = atoms.times.as_deref();
        if self.options.observers {
            let stretch = Stretch::new(&atoms.columns, 0, arrival.len);
            for offset in 0..arrival.len {
                let place = |judge: &Self| judge.place(arrival, offset, times);
                let beside = atoms.beside.as_ref().map(|beside| beside.at(offset));
                self.step(times.map(|times| times[offset]), stretch.row(offset), beside, place)?;
            }
        } else {
            // Before what is told of them takes their times, or after: then those before them are still known.
            let each = self.options.tells_each();
            if each {
                self.keep_times(times);
            }
            // Engines take times that never go back.
            let passing = times.filter(|_| self.back.is_none());
            let mut chunk =
                Positions { len: arrival.len, atoms: &atoms.columns, times: passing, ..Positions::default() };
            if let Some(beside) = &atoms.beside {
                (chunk.terms, chunk.relations) = (&beside.terms, &beside.relations);
            }
            let mut found = std::mem::take(&mut self.sink_of_engine);
            let fed = self.monitor.feed(&chunk, &mut found);
            let settled = std::mem::take(&mut found.settled);
            for group in together(&settled) {
                let mut place = match each {
                    true => Place::default(),
                    false => self.place(arrival, group[0].at - before, times),
                };
                place.failed = match earliest(group).and_then(|found| found.about).filter(|_| !each) {
                    Some(about) if about == group[0].at => (place.time, place.line.clone()),
                    Some(about) => self.known_in(about, arrival, before, times),
                    None => place.failed,
                };
                self.say(group, place)?;
            }
            self.give_back(settled);
            if !each {
                self.keep_times(times);
            }
            fed.map_err(Halt::Refused)?;
        }
        if let Some(batch) = &atoms.monitors {
            self.monitor(batch, |judge, index| judge.place(arrival, index, times))?;
        }
        match &atoms.queries {
            Some(read) => self.count(before, arrival.len, read, times),
            None => Ok(()),
        }
    }

    fn keep_times(&mut self, times: Option<&[Time]>) {
        if let (Some(kept), Some(times)) = (&mut self.times, times) {
            kept.extend(times);
        }
    }

    /// Where the position with this index in an arrival is.
    pub(super) fn place(&self, arrival: &Arrival<'_>, index: usize, times: Option<&[Time]>) -> Place {
        let (line, text) = arrival.line(index);
        let text = shortened(text.unwrap_or_default());
        let time = times.and_then(|times| times.get(index).copied());
        Place { line: line.map(|line| (line, text)), time, ..Place::default() }
    }

    /// Takes one position, and tells what observers see there.
    fn step(
        &mut self,
        time: Option<Time>,
        row: &[u64],
        beside: Option<Beside>,
        place: impl Fn(&Self) -> Place,
    ) -> Result<(), Halt> {
        let position = self.monitor.positions();
        self.keep_times(time.as_ref().map(std::slice::from_ref));
        let mut found = std::mem::take(&mut self.sink_of_engine);
        let passing = time.filter(|_| self.back.is_none());
        let stepped = match (beside, &self.beside) {
            (Some(beside), Some(reader)) => {
                beside.step(self.monitor.as_mut(), passing, (row, reader.atoms), &mut found)
            }
            _ => self.monitor.step_at(passing, row, &mut found),
        };
        let settled = std::mem::take(&mut found.settled);
        if self.options.observers && stepped.is_ok() {
            for (root, property) in self.spec.program.roots.iter().enumerate() {
                // What is settled at once is known at once.
                let at_once =
                    |found: &&tw_monitor::Settled| (found.root, found.about) == (root, Some(position));
                let settled = || settled.iter().find(at_once).map(|found| found.holds());
                let verdict = match self.monitor.now(root).or_else(settled) {
                    Some(true) => Verdict::Satisfied,
                    Some(false) => Verdict::Violated,
                    None => Verdict::Unknown,
                };
                let time = time.map(|time| self.clock.stamp(time));
                let title = property.title.as_deref();
                self.sink.observation(&Observation {
                    property: &property.name,
                    title,
                    verdict,
                    position,
                    time,
                })?;
            }
        }
        for group in together(&settled) {
            let mut place = place(self);
            let failed = earliest(group).and_then(|found| found.about);
            if let Some(about) = failed.filter(|_| !self.options.tells_each()) {
                place.failed = self.known_of(about, self.read);
            }
            self.say(group, place)?;
        }
        self.give_back(settled);
        stepped.map_err(Halt::Refused)
    }

    /// Lets positions wait for earlier ones.
    fn sort(&mut self, atoms: &Atoms, times: &[Time], arrival: &Arrival<'_>) -> Result<(), Halt> {
        let stretch = Stretch::new(&atoms.columns, 0, arrival.len);
        let lines = arrival.lines();
        if let Some(sorter) = &mut self.sorter {
            for (index, &time) in times.iter().enumerate() {
                let read = atoms.queries.as_ref().map(|read| read.part(index, 1));
                let beside = atoms.beside.as_ref().map(|beside| beside.at(index));
                let own = self.parametric.as_ref().zip(atoms.monitors.as_ref());
                let monitors = own.map(|(own, batch)| own.at(batch, index));
                sorter.push(time, lines[index], stretch.row(index).to_vec(), (beside, read, monitors));
            }
            if sorter.heap_bytes() > self.memory_budget {
                return Err(Halt::Fault(Error::Budget(Budget {
                    setting: Setting::Memory,
                    what: format!("the lines that wait for earlier ones (`{}`)", Setting::Sort),
                    needed: None,
                    allowed: self.memory_budget,
                    instead: None,
                    trace: self.name.to_string(),
                })));
            }
        }
        self.release_up_to(self.clock.complete())
    }

    /// Hands over the positions that none can come before any more: up to this time, or all at the end.
    pub(super) fn release_up_to(&mut self, up_to: Option<Time>) -> Result<(), Halt> {
        while let Some(Waiting { time, line, atoms, beside, read, monitors, .. }) =
            self.sorter.as_mut().and_then(|sorter| sorter.pop(up_to))
        {
            let before = self.monitor.positions();
            let line = (line > 0).then(|| (line, String::new()));
            let place = || Place { line: line.clone(), time: Some(time), ..Place::default() };
            self.step(Some(time), &atoms, beside, |_| place())?;
            if let Some((own, row)) = self.parametric.as_ref().zip(monitors) {
                let batch = own.row(row);
                self.monitor(&batch, |_, _| place())?;
            }
            if let Some(read) = read {
                self.count(before, 1, &read, Some(&[time]))?;
            }
        }
        Ok(())
    }
}

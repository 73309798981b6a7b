//! Positions on their way to the monitor: as they come, or sorted, or one by one for observers.

use super::accounts::Read;
use super::judge::{Halt, Judge, Place};
use super::{Observation, sorter::Waiting};
use crate::Verdict;
use std::time::Instant;
use tw_core::{Batch, Bits, Time};
use tw_monitor::{Positions, Stretch};
use tw_trace::{Arrival, Receiver, Stamp, TraceError, TraceErrorKind};

/// Characters kept of a log line.
const TEXT: usize = 400;

/// The truth of every atom at positions that were read, and their timestamps.
pub(super) struct Atoms {
    columns: Vec<Bits>,
    times: Option<Vec<Time>>,
    queries: Option<Read>,
}

impl Receiver for Judge<'_> {
    type Mapped = Atoms;
    type Error = Halt;

    fn map(&mut self, mut batch: Batch) -> Result<Atoms, (usize, TraceError)> {
        let times = batch.times.take();
        match &times {
            Some(times) => self.clock.check(times)?,
            None => self.untimed.check().map_err(|error| (0, error))?,
        }
        let queries = self.accounts.as_ref().map(|accounts| accounts.read(&batch)).transpose();
        let both = queries.and_then(|queries| Ok((self.predicates.evaluate_owned(batch)?, queries)));
        match both {
            Ok((columns, queries)) => Ok(Atoms { columns, times, queries }),
            Err(error) => {
                self.fault = Some((error.node, self.monitor.positions() + error.position));
                Err((error.position, TraceError::new(TraceErrorKind::Type, error.message)))
            }
        }
    }

    fn take(&mut self, atoms: Atoms, arrival: &Arrival<'_>) -> Result<(), Halt> {
        self.clock.write_as(arrival.style);
        match &atoms.times {
            Some(times) => self.clock.arrive(times, Instant::now()),
            None => {
                if let Some(monitor) = self.untimed.monitor() {
                    self.monitor = monitor;
                }
            }
        }
        match (&mut self.sorter, &atoms.times) {
            (Some(_), Some(times)) => self.sort(&atoms, times, arrival),
            _ => {
                self.lines.arrive(arrival.before);
                self.feed(&atoms, arrival)
            }
        }
    }

    fn bad_line(&mut self, error: TraceError) -> Result<(), Halt> {
        if !self.options.skip_bad_lines {
            return Err(error.into());
        }
        self.bad_lines += 1;
        let error = self.error(error);
        self.sink.bad_line(&error);
        Ok(())
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
                self.step(times.map(|times| times[offset]), stretch.row(offset), place)?;
            }
        } else {
            if let (Some(open), Some(times)) = (&mut self.times, times) {
                times.iter().for_each(|&time| open.push(time));
            }
            let chunk = Positions { len: arrival.len, atoms: &atoms.columns, times, ..Positions::default() };
            let mut found = std::mem::take(&mut self.sink_of_engine);
            let fed = self.monitor.feed(&chunk, &mut found);
            let mut settled = std::mem::take(&mut found.settled);
            for found in &settled {
                let place = match found.about {
                    Some(_) => Place::default(),
                    None => self.place(arrival, found.at - before, times),
                };
                self.say(found, place)?;
            }
            settled.clear();
            self.sink_of_engine.settled = settled;
            fed.map_err(Halt::Refused)?;
        }
        match &atoms.queries {
            Some(read) => self.count(before, arrival.len, read, times),
            None => Ok(()),
        }
    }

    /// Where the position with this index in an arrival is.
    fn place(&self, arrival: &Arrival<'_>, index: usize, times: Option<&[Time]>) -> Place {
        let (line, text) = arrival.line(index);
        let text = text.unwrap_or_default().chars().take(TEXT).collect();
        let time = times.and_then(|times| times.get(index).copied());
        Place { line: line.map(|line| (line, text)), time, due: None }
    }

    /// Takes one position, and tells what observers see there.
    fn step(&mut self, time: Option<Time>, row: &[u64], place: impl Fn(&Self) -> Place) -> Result<(), Halt> {
        let position = self.monitor.positions();
        if let (Some(open), Some(time)) = (&mut self.times, time) {
            open.push(time);
        }
        let mut found = std::mem::take(&mut self.sink_of_engine);
        let stepped = self.monitor.step_at(time, row, &mut found);
        let mut settled = std::mem::take(&mut found.settled);
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
        for found in &settled {
            let place = if found.about.is_some() { Place::default() } else { place(self) };
            self.say(found, place)?;
        }
        settled.clear();
        self.sink_of_engine.settled = settled;
        stepped.map_err(Halt::Refused)
    }

    /// Lets positions wait for earlier ones.
    fn sort(&mut self, atoms: &Atoms, times: &[Time], arrival: &Arrival<'_>) -> Result<(), Halt> {
        let stretch = Stretch::new(&atoms.columns, 0, arrival.len);
        let lines = arrival.lines();
        if let Some(sorter) = &mut self.sorter {
            for (index, &time) in times.iter().enumerate() {
                let read = atoms.queries.as_ref().map(|read| read.part(index, 1));
                sorter.push(time, lines[index], stretch.row(index).to_vec(), read);
            }
            if sorter.heap_bytes() > self.memory_budget {
                let budget = self.memory_budget;
                let message =
                    format!("the lines that wait for earlier ones (`--sort`) take more than {budget} bytes");
                return Err(TraceError::new(TraceErrorKind::Budget, message).in_file(self.name).into());
            }
        }
        self.release(self.clock.complete())
    }

    /// Hands over the positions that none can come before any more: up to this time, or all at the end.
    pub(super) fn release(&mut self, up_to: Option<Time>) -> Result<(), Halt> {
        while let Some(Waiting { time, line, atoms, read, .. }) =
            self.sorter.as_mut().and_then(|sorter| sorter.pop(up_to))
        {
            let before = self.monitor.positions();
            let line = (line > 0).then(|| (line, String::new()));
            self.step(Some(time), &atoms, |_| Place { line: line.clone(), time: Some(time), due: None })?;
            if let Some(read) = read {
                self.count(before, 1, &read, Some(&[time]))?;
            }
        }
        Ok(())
    }
}

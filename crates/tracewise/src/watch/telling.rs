//! What is told of verdicts, and of the violations of `G φ` that one event or one passing of time settles together.

use super::halt::Halt;
use super::judge::{Judge, verdict};
use super::times::Times;
use super::told::{Failure, Place, Told, earliest};
use super::{Due, Pending, WatchVerdict};
use crate::check::{LogLine, Violation};
use crate::findings::Severity;
use std::io;
use tw_core::{Position, Time, Value};
use tw_monitor::{Bindings, Obligation, Settled};
use tw_trace::{Arrival, Progress};

/// Entries of a list that is kept for the next time; one that was longer is given back.
const KEPT: usize = 1 << 12;

impl Judge<'_> {
    /// Tells the verdict of a property; at the end, with what it waited for.
    pub(super) fn tell(&mut self, told: &Told, settled: bool, owed: Vec<Pending<'_>>) -> io::Result<()> {
        let root = &self.spec.program.roots[told.root];
        let more_pending = owed.len().saturating_sub(1);
        let violation = told.failure.as_ref().map(|failure| Violation {
            position: Some(failure.position),
            time: failure.time.map(|time| self.clock.stamp(time)),
            bindings: self.named(&failure.bindings),
            infinite: failure.bindings.infinite(),
            line: self.log_line(failure.line.as_ref()),
            ..Violation::default()
        });
        self.sink.verdict(&WatchVerdict {
            property: &root.name,
            title: root.title.as_deref(),
            about: None,
            verdict: verdict(told.holds),
            position: told.position,
            time: told.time.map(|time| self.clock.stamp(time)),
            due: self.due(told.due.as_ref()),
            overdue: self.passing || told.due.is_some(),
            settled,
            line: self.log_line(told.line.as_ref()),
            pending: owed.into_iter().next(),
            more_pending,
            violation,
            violation_count: told.failures,
            severity: Severity::Error,
            bindings: told.key.clone(),
            ended: None,
            required: None,
        })
    }

    /// Tells the verdict about one position.
    pub(super) fn tell_position(
        &mut self,
        found: &Settled,
        about: Position,
        (settled, line): (bool, Option<LogLine>),
        due: Option<&Obligation>,
    ) -> io::Result<()> {
        let root = &self.spec.program.roots[found.root];
        let time = match &mut self.times {
            Some(Times::Open(times)) => times.tell(about),
            _ => None,
        };
        self.sink.verdict(&WatchVerdict {
            property: &root.name,
            title: root.title.as_deref(),
            about: Some(about),
            verdict: verdict(found.holds()),
            position: found.at,
            time: time.map(|time| self.clock.stamp(time)),
            due: self.due(due),
            overdue: self.passing || due.is_some(),
            settled,
            line,
            pending: None,
            more_pending: 0,
            violation: None,
            violation_count: 0,
            severity: Severity::Error,
            bindings: Vec::new(),
            ended: None,
            required: None,
        })
    }

    fn log_line(&self, line: Option<&(u64, String)>) -> Option<LogLine> {
        let (line, text) = line?;
        Some(LogLine { file: self.name.to_string(), line: *line, text: text.as_str().into() })
    }

    fn named(&self, bindings: &Bindings) -> Vec<(String, Value)> {
        let names = &self.spec.program.dag.variables;
        let name = |variable: u32| names.get(variable as usize).cloned().unwrap_or_default();
        bindings.pairs().iter().map(|(variable, value)| (name(*variable), value.clone())).collect()
    }

    fn due(&self, due: Option<&Obligation>) -> Option<Due> {
        let due = due?;
        let deadline = self.clock.stamp(due.deadline?);
        Some(Due { since: due.since, owed: due.residual.clone(), deadline })
    }

    /// Tells what was settled together, wherever that was.
    pub(super) fn say(&mut self, group: &[Settled], place: Place) -> Result<(), Halt> {
        let Some(first) = group.first() else { return Ok(()) };
        let Place { line, time, due, failed } = place;
        let each = self.options.tells_each();
        if each {
            let first_failed = earliest(group).and_then(|found| found.about);
            for found in group {
                if let Some(about) = found.about {
                    let failed = failed.1.as_ref().filter(|_| first_failed == Some(about));
                    let line = self.log_line(if about == found.at { line.as_ref() } else { failed });
                    self.tell_position(found, about, (true, line), due.as_ref())?;
                }
            }
        }
        // Where each position is told, the property's own verdict is in the exit code alone.
        let own = group.iter().any(|found| found.about.is_none());
        if own || !each {
            let told = self.worded(group, failed);
            let repeats = self.options.first && self.told.has(first.root);
            if !repeats && (own || told.failure.is_some()) {
                let told = Told { position: first.at, line, time, due, ..told };
                if !each {
                    self.tell(&told, true, Vec::new())?;
                }
                self.told.note(told);
            }
        }
        if self.options.stop_on_violation && group.iter().any(Settled::fails) {
            return Err(Halt::Enough);
        }
        Ok(())
    }

    /// What was settled together, as a line of its property. Time and line are those of the earliest that failed.
    pub(super) fn worded(&self, group: &[Settled], failed: (Option<Time>, Option<(u64, String)>)) -> Told {
        let (time, line) = failed;
        let failure = earliest(group).and_then(|found| {
            Some(Failure { position: found.about?, time, line, bindings: found.bindings.clone() })
        });
        let failing = group.iter().filter(|found| found.about.is_some() && found.fails());
        let failures: u64 = failing.map(|found| found.count).sum();
        Told {
            root: group.first().map_or(0, |found| found.root),
            holds: !group.iter().any(Settled::fails),
            failure,
            failures,
            ..Told::default()
        }
    }

    /// Time and line of a position that was read before `now`, as far as they are known.
    pub(super) fn known_of(
        &mut self,
        position: Position,
        now: Progress,
    ) -> (Option<Time>, Option<(u64, String)>) {
        let time = match &self.times {
            Some(Times::Latest(times)) => times.of(position),
            _ => None,
        };
        let line = match &self.sorter {
            Some(sorter) => sorter.line(position),
            None => self.lines.line(position, now),
        };
        (time, line.map(|line| (line, String::new())))
    }

    /// The same of a position that an arrival may hold.
    pub(super) fn known_in(
        &mut self,
        position: Position,
        arrival: &Arrival<'_>,
        before: Position,
        times: Option<&[Time]>,
    ) -> (Option<Time>, Option<(u64, String)>) {
        match position.checked_sub(before) {
            None => self.known_of(position, arrival.before),
            Some(index) => {
                let place = self.place(arrival, index, times);
                (place.time, place.line)
            }
        }
    }

    /// Keeps a list that was told of to be filled again, unless it is long: one event may settle millions.
    pub(super) fn give_back(&mut self, mut settled: Vec<Settled>) {
        settled.clear();
        settled.shrink_to(KEPT);
        self.sink_of_engine.settled = settled;
    }
}

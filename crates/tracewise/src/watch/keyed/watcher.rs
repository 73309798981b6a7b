//! What the loop of a watch asks of the monitors of keys.

use super::*;
use crate::watch::checkpoint::Checkpoint;
use crate::watch::clock::Passed;
use crate::watch::halt::{self, unwritten};
use crate::watch::watcher::Watcher;
use crate::watch::{Deadline, LiveSink, Pending, WatchReport};
use tw_core::codec::put;
use tw_ir::RootKind;
use tw_monitor::Known;

/// Obligations listed.
const LISTED: usize = 1000;

impl Keyed<'_> {
    /// Whether values are required.
    pub(in crate::watch) fn requires(&self) -> bool {
        self.required.is_some()
    }

    /// Goes on from a state of this specification or another: properties that mean what they meant keep theirs.
    pub(in crate::watch) fn restore_parts(&mut self, state: &Checkpoint) -> Result<(), String> {
        let mut time = state.time.as_slice();
        self.clock.load(&mut time)?;
        self.clock.go_on(Instant::now());
        self.times.load(&mut time)?;
        self.lines.load(&mut time)?;
        if !time.is_empty() {
            return Err("it is longer than it should be".into());
        }
        let restored = match (self.shard.restore(&state.monitor), &self.counting) {
            (Ok(restored), _) => Ok(restored),
            // It may have been a stream without timestamps.
            (Err(error), Some(Ok(plan))) => {
                let shard = ShardMonitor::new(plan, Some(self.by)).map_err(|error| error.to_string())?;
                let mut shard = shard.ending(self.ending);
                let restored = shard.restore(&state.monitor).map_err(|_| error);
                self.shard = shard;
                restored
            }
            (Err(error), _) => Err(error),
        };
        restored.map_err(|error| error.to_string())?;
        if self.shard.positions() > 0 && self.shard.plan().options().clock == Clock::Index {
            self.counting = None;
        }
        self.bad_lines.count = state.bad_lines;
        Ok(())
    }
}

impl Watcher for Keyed<'_> {
    fn sink(&mut self) -> &mut dyn LiveSink {
        self.sink
    }

    fn steps_back(&self) -> Option<StepsBack> {
        self.back
    }

    fn heard(&self) -> (usize, u64) {
        self.told_lines
    }

    fn beat(&mut self, passed: Passed) -> Result<(), Halt> {
        if self.back.is_some() {
            return Ok(());
        }
        match self.clock.beat(passed) {
            Some(time) => self.come_to(time),
            None => Ok(()),
        }
    }

    fn go_on_after(&mut self, read: Progress) {
        self.read = read;
    }

    fn release(&mut self) -> Result<(), Halt> {
        Ok(())
    }

    fn list_pending(&mut self, now: Progress) -> io::Result<()> {
        let (roots, mut listed, mut more) = (&self.spec.program.roots, Vec::new(), false);
        let (clock, lines, by) = (&self.clock, &mut self.lines, self.by);
        let counts = self.shard.plan().options().clock == Clock::Index;
        self.shard.pending(&mut |property, key, owed| {
            more = listed.len() == LISTED;
            if !more {
                let deadline = owed.deadline.map(|deadline| match counts {
                    true => Deadline::Position(usize::try_from(deadline).unwrap_or(0)),
                    false => Deadline::Time(clock.stamp(deadline)),
                });
                listed.push(Pending {
                    property: roots[property].name.as_str(),
                    since: owed.since,
                    line: lines.line(owed.since, now),
                    owed: format!("{} ({by} = {})", owed.residual, key.unwrap_or_default()),
                    deadline,
                });
            }
            !more
        });
        self.sink.pending(now.positions, &listed)?;
        if more {
            self.sink.note(&format!("more than {LISTED} obligations are pending"));
        }
        Ok(())
    }

    fn heap_bytes(&self) -> usize {
        self.shard.heap_bytes()
    }

    fn tell_values(&mut self) -> Result<(), Error> {
        let (mut values, roots, by) = (Vec::new(), &self.spec.program.roots, self.by);
        let last = self.shard.positions().saturating_sub(1);
        self.shard.finish(&mut |end| {
            let Known::Value(computed) = end.known else { return };
            let (value, fault) = self::computed(computed);
            values.push(WatchValue {
                query: end.name.to_string(),
                title: roots[end.property].title.clone(),
                value,
                fault,
                approximate: Vec::new(),
                position: last,
                bindings: vec![(by.to_string(), Value::Str(end.key.unwrap_or_default().into()))],
                ended: None,
            });
        })?;
        values.iter().try_for_each(|value| self.sink.value(value)).map_err(unwritten)
    }

    fn last_words(&mut self, now: Progress) -> Result<(), Error> {
        let mut open = Vec::new();
        let mut first: FxHashSet<(String, usize)> = FxHashSet::default();
        self.shard.finish(&mut |end| {
            let Known::Truth(holds) = end.known else { return };
            let repeats = end.settled && end.violations.is_empty() && end.reports.is_empty();
            if !repeats {
                let key = end.key.unwrap_or_default().to_string();
                let told = (end.property, key, holds, end.settled, end.violations, end.position);
                open.push((told, end.reports));
            }
        })?;
        for ((property, key, holds, settled, violations, position), reports) in open {
            if settled && self.options.first {
                continue;
            }
            if self.is_monitor(property) {
                self.violated[property] |= !holds;
                let reports =
                    if reports.is_empty() { vec![None] } else { reports.into_iter().map(Some).collect() };
                for report in reports {
                    if self.options.first && !first.insert((key.clone(), property)) {
                        continue;
                    }
                    let outcome = self.at_end(property, key.clone(), report.is_none(), position);
                    let count = u64::from(report.is_some());
                    self.line(&outcome, (None, None, None), false, report, count).map_err(unwritten)?;
                }
                continue;
            }
            if self.options.tells_each() {
                continue;
            }
            self.violated[property] |= !holds;
            let earliest = violations.iter().map(|&(at, _)| at).min();
            let violation = earliest.map(|at| {
                let (time, line) = self.known_of(at, None);
                self.violation(at, time, line, &Bindings::default())
            });
            let count = violations.iter().map(|(_, count)| count).sum();
            let outcome = self.at_end(property, key, holds && !settled, position);
            self.line(&outcome, (None, None, None), false, violation, count).map_err(unwritten)?;
        }
        if let Some(parts) = self.required.as_mut().filter(|_| now.positions > 0) {
            let settled = parts.finish(&|time| self.clock.stamp(time))?;
            self.tell_required(settled, false, &|_| None).or_else(|halt| self.conclude(halt))?;
        }
        self.sink.flush().map_err(unwritten)
    }

    fn conclude(&mut self, halt: Halt) -> Result<(), Error> {
        let (fault, engines) = (self.bad_lines.fault.take(), self.engines());
        halt::conclude(self.spec, halt, fault, |refusal| crate::plan::refused(self.spec, &engines, refusal))
    }

    fn save(&mut self, state: &mut Checkpoint) {
        state.bad_lines = self.bad_lines.count;
        self.clock.save(&mut state.time);
        self.times.save(&mut state.time);
        self.lines.save(&mut state.time);
        state.monitor = self.shard.snapshot();
        // How the queries are counted stands with the monitors; here is how much was told.
        put(self.told_lines.0 as u64, &mut state.queries);
        put(self.told_lines.1, &mut state.queries);
        let mut first: Vec<(u32, usize)> = match self.options.first {
            true => self.first.iter().copied().collect(),
            false => Vec::new(),
        };
        first.sort_unstable();
        put(first.len() as u64, &mut state.queries);
        for (key, property) in first {
            put(u64::from(key), &mut state.queries);
            put(property as u64, &mut state.queries);
        }
        // Of values that have ended nothing else is left.
        self.violated.iter().for_each(|&violated| put(u64::from(violated), &mut state.queries));
        put(u64::from(self.some_ended), &mut state.queries);
        if let Some(parts) = &mut self.required {
            parts.save(&mut state.queries);
        }
    }

    fn restore(&mut self, state: &Checkpoint) -> Result<(), String> {
        self.restore_parts(state)?;
        let mut from = state.queries.as_slice();
        let mut number = || crate::watch::state::number(&mut from);
        self.told_lines = (number()? as usize, number()?);
        for _ in 0..number()? {
            let key = u32::try_from(number()?).map_err(|_| "it has too many keys")?;
            self.first.insert((key, number()? as usize));
        }
        for violated in &mut self.violated {
            *violated = number()? == 1;
        }
        self.some_ended = number()? == 1;
        if let Some(parts) = &mut self.required {
            parts.restore(&mut from).map_err(|corrupt| corrupt.to_string())?;
        }
        Ok(())
    }

    /// Lines are not kept: there may be one for each of a million keys.
    fn tell_again(&mut self, _: Checkpoint) -> io::Result<()> {
        if self.told_lines.1 > 0 {
            self.sink.note(&format!("told before and not told again: {} lines", self.told_lines.1));
        }
        self.sink.flush()
    }

    fn report(&mut self, _: bool, positions: u64) -> WatchReport {
        let mut verdicts: Vec<Option<bool>> = vec![None; self.violated.len()];
        // What was read up to here counts, whether or not it is the end.
        let _ = self.shard.finish(&mut |end| {
            if let Known::Truth(holds) = end.known {
                let verdict = verdicts[end.property].get_or_insert(true);
                *verdict &= holds;
            }
        });
        for (verdict, violated) in verdicts.iter_mut().zip(&self.violated) {
            *verdict = verdict.or(self.some_ended.then_some(true)).map(|holds| holds && !violated);
        }
        for (property, root) in self.spec.program.roots.iter().enumerate() {
            if root.kind != RootKind::Property || self.ending.until == Some(property) {
                verdicts[property] = None;
            }
        }
        let silent = verdicts.split_off(self.spec.program.roots.len());
        let monitors = self.spec.program.monitors.iter().zip(silent);
        WatchReport {
            requirements: match &mut self.required {
                Some(parts) if positions > 0 => parts.verdicts(),
                _ => Vec::new(),
            },
            positions,
            bad_lines: self.bad_lines.count,
            engine: self.shard.plan().properties().first().map_or(ENGINE, |property| property.engine),
            verdicts: verdicts.into_iter().flatten().collect(),
            monitors: monitors.filter_map(|(monitor, silent)| Some((severity(monitor), silent?))).collect(),
        }
    }
}

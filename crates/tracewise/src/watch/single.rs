//! One trace for all positions of a stream.

use super::checkpoint::Checkpoint;
use super::clock::Passed;
use super::halt::{Halt, unwritten};
use super::judge::Judge;
use super::parametric::Parametric;
use super::told::{Told, earliest, together};
use super::watcher::Watcher;
use super::{LiveSink, WatchReport};
use crate::Error;
use crate::monitors::ENGINE;
use crate::run::order::StepsBack;
use std::collections::HashMap;
use std::io;
use tw_monitor::{Known, Monitor, Sink};
use tw_trace::Progress;

impl Judge<'_> {
    fn ended(&mut self, now: Progress) -> io::Result<()> {
        let mut open = Sink::default();
        let finished = self.monitor.finish(&mut open).ok().flatten();
        let Some(verdicts) = finished else { return self.sink.flush() };
        if self.options.tells_each() {
            for found in &open.settled {
                if let Some(about) = found.about {
                    self.tell_position(found, about, (false, None), None)?;
                }
            }
            return self.sink.flush();
        }
        let settled = self.monitor.verdicts();
        let position = self.monitor.positions().saturating_sub(1);
        let mut pending: HashMap<usize, Vec<_>> = HashMap::new();
        for (root, owed) in self.pending(now) {
            pending.entry(root).or_default().push(owed);
        }
        // In the order of roots.
        let mut groups = together(&open.settled).peekable();
        for (root, known) in verdicts.into_iter().enumerate() {
            let group = groups.next_if(|group| group[0].root == root).unwrap_or_default();
            let violated = earliest(group).and_then(|found| found.about);
            // Of a property that is violated, what the end adds to that.
            let repeats = settled[root].is_some() && (violated.is_none() || self.options.first);
            if repeats {
                continue;
            }
            let failed = violated.map_or((None, None), |about| self.known_of(about, now));
            let told = self.worded(group, failed);
            let holds = settled[root].is_none() && known == Known::Truth(true);
            let told = Told { root, position, holds, ..told };
            let owed = pending.remove(&root).unwrap_or_default();
            self.tell(&told, false, owed)?;
        }
        self.sink.flush()
    }
}

impl Watcher for Judge<'_> {
    fn sink(&mut self) -> &mut dyn LiveSink {
        self.sink
    }

    fn heap_bytes(&self) -> usize {
        Judge::heap_bytes(self)
    }

    fn steps_back(&self) -> Option<StepsBack> {
        self.back
    }

    fn heard(&self) -> (usize, u64) {
        let (reported, lines) = self.parametric.as_ref().map_or((0, 0), Parametric::heard);
        (self.told.first.len() + reported, self.told.total() + lines)
    }

    fn beat(&mut self, passed: Passed) -> Result<(), Halt> {
        Judge::beat(self, passed)
    }

    fn go_on_after(&mut self, read: Progress) {
        self.read = read;
    }

    fn release(&mut self) -> Result<(), Halt> {
        self.release_up_to(None)
    }

    fn list_pending(&mut self, now: Progress) -> io::Result<()> {
        let pending: Vec<_> = self.pending(now).into_iter().map(|(_, pending)| pending).collect();
        self.sink.pending(now.positions, &pending)
    }

    fn tell_values(&mut self) -> Result<(), Error> {
        Judge::tell_values(self)
    }

    fn last_words(&mut self, now: Progress) -> Result<(), Error> {
        self.ended(now).and_then(|()| self.monitors_ended()).map_err(unwritten)?;
        if now.positions > 0 { self.end_required() } else { Ok(()) }
    }

    fn conclude(&mut self, halt: Halt) -> Result<(), Error> {
        Judge::conclude(self, halt)
    }

    fn save(&mut self, state: &mut Checkpoint) {
        (state.told, state.bad_lines) = (self.told.clone(), self.bad_lines.count);
        self.save_time(&mut state.time);
        self.monitor.save(&mut state.monitor);
        if let Some(queries) = &mut self.queries {
            queries.save(&mut state.queries);
        }
        if let Some(parametric) = &self.parametric {
            parametric.save(&mut state.monitors);
        }
    }

    fn restore(&mut self, state: &Checkpoint) -> Result<(), String> {
        self.load_time(&state.time)?;
        self.monitor.restore(&state.monitor).map_err(|corrupt| corrupt.to_string())?;
        if let Some(queries) = &mut self.queries {
            queries.restore(&state.queries).map_err(|corrupt| corrupt.to_string())?;
        }
        if let Some(parametric) = &mut self.parametric {
            parametric.restore(&state.monitors)?;
        }
        let roots = self.spec.program.roots.len();
        if state.told.first.iter().any(|told| told.root >= roots) {
            return Err("its parts do not belong together".into());
        }
        self.bad_lines.count = state.bad_lines;
        Ok(())
    }

    /// The first line of each property, and how many are not told.
    fn tell_again(&mut self, state: Checkpoint) -> io::Result<()> {
        let told = state.told;
        if !self.options.tells_each() {
            told.first.iter().try_for_each(|told| self.tell(told, true, Vec::new()))?;
            let more = told.total() - told.first.len() as u64;
            if more > 0 {
                let note = format!("told before and not told again: {more} further lines about violations");
                self.sink.note(&note);
            }
        }
        self.told = told;
        self.tell_reports_again()?;
        self.sink.flush()
    }

    fn report(&mut self, ended: bool, positions: u64) -> WatchReport {
        let finish = |monitor: &mut dyn Monitor| {
            let known = monitor.finish(&mut Sink::default()).ok()??;
            Some(known.iter().map(|known| *known == Known::Truth(true)).collect())
        };
        let finite = if ended { finish(self.monitor.as_mut()) } else { None };
        let settled = || self.told.first.iter().map(|told| told.holds).collect();
        WatchReport {
            positions,
            bad_lines: self.bad_lines.count,
            engine: match &self.queries {
                Some(queries) if self.spec.program.roots.is_empty() => queries.engine(),
                None if self.spec.program.roots.is_empty() && self.parametric.is_some() => ENGINE,
                _ => self.engine,
            },
            verdicts: finite.unwrap_or_else(settled),
            monitors: match &self.parametric {
                Some(own) if positions > 0 => own.verdicts(self.spec, ended),
                _ => Vec::new(),
            },
            requirements: match &mut self.queries {
                Some(queries) if positions > 0 => queries.verdicts(),
                _ => Vec::new(),
            },
        }
    }
}

//! Monitors beside the properties of a stream: their reports are told as they happen.

use super::WatchVerdict;
use super::halt::Halt;
use super::judge::Judge;
use super::state::{number, text, time};
use super::told::Place;
use crate::check::LogLine;
use crate::findings::Severity;
use crate::monitors::{self, severity, violation};
use crate::run::beside::Beside;
use crate::{Error, Session, Specification};
use std::io;
use std::sync::Arc;
use tw_core::codec::{put, put_bytes, put_option, put_value, take_value};
use tw_core::{Batch, Bits, Column, Position, Time, Verdict};
use tw_engine_parametric::{Found, Monitors, Plan};
use tw_ir::{SlotId, What};
use tw_monitor::Term;

/// The monitors of a stream.
pub(super) struct Parametric {
    plan: Arc<Plan>,
    monitors: Monitors,
    slots: Vec<SlotId>,
    /// Of each slot of the program whether it has tuples.
    tuples: Vec<bool>,
    budget: usize,
    /// Of each monitor how many lines were told, and the first.
    told: Vec<(u64, Option<First>)>,
}

/// The first line of a monitor, which a run that goes on tells again.
#[derive(Clone, Debug)]
struct First {
    found: Found,
    time: Option<Time>,
    line: Option<(u64, String)>,
}

impl Parametric {
    /// The first position is this one; before any has come.
    pub fn begin_at(&mut self, position: Position) {
        self.monitors.skip_to(position as u64);
    }

    /// The monitors of a specification, if it has some.
    pub fn open(session: &Session, spec: &Specification) -> Result<Option<Self>, Error> {
        let Some(plan) = monitors::plan(spec)? else { return Ok(None) };
        let budget = session.evaluate.memory_budget;
        Ok(Some(Self {
            monitors: Monitors::new(&plan, budget, 1),
            slots: plan.slots(),
            tuples: spec.program.slots.iter().map(|slot| matches!(slot.what, What::Tuples { .. })).collect(),
            told: vec![(0, None); spec.program.monitors.len()],
            budget,
            plan,
        }))
    }

    /// What they read of a batch.
    pub fn read(&self, batch: &Batch) -> Batch {
        monitors::read(batch, &self.slots)
    }

    /// What they read of one position of a batch, for as long as that waits.
    pub fn at(&self, batch: &Batch, index: usize) -> Beside {
        let mut beside = Beside::default();
        for column in monitors::pick(batch, &self.slots, &[index as u32]) {
            match column {
                Column::Tuples(relation) => beside.relations.push(relation),
                column => beside.terms.push(Term { column, errors: Vec::new() }),
            }
        }
        beside
    }

    /// The batch of one position that [`Parametric::at`] took.
    pub fn row(&self, beside: Beside) -> Batch {
        let (mut relations, mut terms) = (beside.relations.into_iter(), beside.terms.into_iter());
        let mut column = |&slot: &SlotId| match self.tuples[slot as usize] {
            true => Column::Tuples(relations.next().unwrap_or_default()),
            false => terms.next().map_or(Column::Any(Vec::new()), |term| term.column),
        };
        let mut slots = vec![Column::Truth(Bits::new()); self.tuples.len()];
        for slot in &self.slots {
            slots[*slot as usize] = column(slot);
        }
        Batch { len: 1, slots, times: None }
    }

    /// How many have reported, and how many lines were told.
    pub fn heard(&self) -> (usize, u64) {
        (
            self.told.iter().filter(|(lines, _)| *lines > 0).count(),
            self.told.iter().map(|(lines, _)| lines).sum(),
        )
    }

    /// Of each monitor how bad its reports are, and whether there are none; at the end, also of what that adds.
    pub fn verdicts(&self, spec: &Specification, ended: bool) -> Vec<(Severity, bool)> {
        let mut found = Vec::new();
        if ended {
            self.monitors.finish(&mut found);
        }
        let told = self.told.iter().enumerate();
        let silent =
            told.map(|(own, (lines, _))| *lines == 0 && found.iter().all(|found| found.monitor != own));
        spec.program.monitors.iter().map(severity).zip(silent).collect()
    }

    pub fn save(&self, out: &mut Vec<u8>) {
        for (lines, first) in &self.told {
            put(*lines, out);
            let Some(first) = first else {
                put(0, out);
                continue;
            };
            put(1, out);
            put(first.found.position.map_or(0, |at| at + 1), out);
            let shape = &self.plan.shapes()[first.found.monitor];
            let category =
                shape.monitor.reports.iter().position(|report| report.category == first.found.category);
            put(category.unwrap_or(0) as u64, out);
            for value in &first.found.bindings {
                put(u64::from(value.is_some()), out);
                value.iter().for_each(|value| put_value(value, out));
            }
            put_option(first.time, out);
            put(first.line.as_ref().map_or(0, |(line, _)| line + 1), out);
            put_bytes(first.line.as_ref().map_or(&[][..], |(_, text)| text.as_bytes()), out);
        }
        self.monitors.save(out);
    }

    pub fn restore(&mut self, mut from: &[u8]) -> Result<(), String> {
        let from = &mut from;
        for monitor in 0..self.told.len() {
            let shape = &self.plan.shapes()[monitor];
            let lines = number(from)?;
            if number(from)? == 0 {
                self.told[monitor] = (lines, None);
                continue;
            }
            let position = number(from)?.checked_sub(1);
            let category = shape.monitor.reports.get(number(from)? as usize);
            let category = category.ok_or("its parts do not belong together")?.category;
            let mut bindings = Vec::new();
            for _ in &shape.monitor.parameters {
                bindings.push(match number(from)? {
                    0 => None,
                    _ => Some(take_value(from).map_err(|corrupt| corrupt.to_string())?),
                });
            }
            let time = time(from)?;
            let line = number(from)?.checked_sub(1);
            let shown = text(from)?;
            let line = line.map(|line| (line, shown));
            let found = Found { monitor, position, order: 0, bindings, category };
            self.told[monitor] = (lines, Some(First { found, time, line }));
        }
        self.monitors.restore(from).map_err(|corrupt| corrupt.to_string())?;
        if from.is_empty() { Ok(()) } else { Err("it is longer than it should be".into()) }
    }
}

impl Judge<'_> {
    /// Hands positions to the monitors, and tells what they report.
    pub(super) fn monitor(
        &mut self,
        batch: &Batch,
        place: impl Fn(&Self, usize) -> Place,
    ) -> Result<(), Halt> {
        let Some(parametric) = &mut self.parametric else { return Ok(()) };
        let before = parametric.monitors.positions();
        let mut found = Vec::new();
        let fed = parametric.monitors.feed(batch, &mut found);
        let budget = parametric.budget;
        for one in found {
            let index = one.position.map_or(0, |at| (at - before) as usize);
            let Place { line, time, .. } = place(self, index);
            let fails = self.spec.program.monitors[one.monitor].severity == tw_ir::monitor::Severity::Error;
            self.report(one, time, line)?;
            if self.options.stop_on_violation && fails {
                return Err(Halt::Enough);
            }
        }
        fed.map_err(|over| Halt::Fault(Error::Budget(monitors::over(self.spec, &over, budget, self.name))))
    }

    /// Tells a report, unless the first is enough.
    fn report(&mut self, found: Found, time: Option<Time>, line: Option<(u64, String)>) -> io::Result<()> {
        let Some(parametric) = &mut self.parametric else { return Ok(()) };
        let (lines, first) = &mut parametric.told[found.monitor];
        if self.options.first && *lines > 0 {
            return Ok(());
        }
        *lines += 1;
        let one = First { found, time, line };
        if first.is_none() {
            *first = Some(one.clone());
        }
        self.tell_report(&one, self.positions_read())
    }

    fn positions_read(&self) -> Position {
        self.parametric.as_ref().map_or(0, |own| (own.monitors.positions() as Position).saturating_sub(1))
    }

    fn tell_report(&mut self, one: &First, last: Position) -> io::Result<()> {
        let monitor = &self.spec.program.monitors[one.found.monitor];
        let at = one.found.position.map(|at| at as Position);
        let log = |(line, text): &(u64, String)| LogLine {
            file: self.name.to_string(),
            line: *line,
            text: text.as_str().into(),
        };
        let time = one.time.map(|time| self.clock.stamp(time));
        let mut violation = violation(monitor, &one.found, at);
        violation.time = time;
        self.sink.verdict(&WatchVerdict {
            required: None,
            ended: None,
            property: &monitor.name,
            title: monitor.title.as_deref(),
            about: None,
            verdict: Verdict::Violated,
            position: at.unwrap_or(last),
            time,
            due: None,
            overdue: false,
            settled: at.is_some(),
            line: one.line.as_ref().map(log),
            pending: None,
            more_pending: 0,
            violation: Some(violation),
            violation_count: 1,
            severity: severity(monitor),
            bindings: Vec::new(),
        })
    }

    /// The stream is over: tells what that adds, and which monitors have nothing to report.
    pub(super) fn monitors_ended(&mut self) -> io::Result<()> {
        let Some(parametric) = &self.parametric else { return Ok(()) };
        let mut found = Vec::new();
        parametric.monitors.finish(&mut found);
        let last = self.positions_read();
        if parametric.monitors.positions() == 0 {
            return Ok(());
        }
        let mut told: Vec<bool> = parametric.told.iter().map(|(lines, _)| *lines > 0).collect();
        for found in found {
            if self.options.first && told[found.monitor] {
                continue;
            }
            told[found.monitor] = true;
            // A run that goes on from here is told of it again, if it still is so.
            self.tell_report(&First { found, time: None, line: None }, last)?;
        }
        for (monitor, told) in self.spec.program.monitors.iter().zip(told) {
            if !told {
                self.sink.verdict(&WatchVerdict {
                    required: None,
                    ended: None,
                    property: &monitor.name,
                    title: monitor.title.as_deref(),
                    about: None,
                    verdict: Verdict::Satisfied,
                    position: last,
                    time: None,
                    due: None,
                    overdue: false,
                    settled: false,
                    line: None,
                    pending: None,
                    more_pending: 0,
                    violation: None,
                    violation_count: 0,
                    severity: severity(monitor),
                    bindings: Vec::new(),
                })?;
            }
        }
        Ok(())
    }

    /// Tells the first lines of monitors again, and how many are not told.
    pub(super) fn tell_reports_again(&mut self) -> io::Result<()> {
        let Some(parametric) = &self.parametric else { return Ok(()) };
        let last = self.positions_read();
        let first: Vec<First> = parametric.told.iter().filter_map(|(_, first)| first.clone()).collect();
        let (_, lines) = parametric.heard();
        let more = lines - first.len() as u64;
        first.iter().try_for_each(|one| self.tell_report(one, last))?;
        if more > 0 {
            self.sink.note(&format!("told before and not told again: {more} further reports of monitors"));
        }
        Ok(())
    }
}

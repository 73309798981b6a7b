//! Monitors on a stored trace: fed while it is read, told when all of it was.

use super::explanation::{Asked, explanation, traces};
use super::many::pick;
use super::{ENGINE, Many, batch, over, severity, violation};
use crate::check::{CheckOptions, LOCATED, PropertyReport, log_line, monitor_timeline};
use crate::findings::words;
use crate::run::Run;
use crate::run::columns::{Passing, Taker, Untaken};
use crate::{Error, Session, Specification};
use std::sync::Arc;
use tw_core::{Batch, Column, Position, Value, Verdict};
use tw_engine_parametric::{Found, Monitors, Over, Plan};
use tw_ir::SlotId;
use tw_ir::monitor::Monitor;

/// The monitors of a specification at work on a trace that is being read.
pub(crate) struct Stored<'s> {
    session: &'s Session,
    spec: &'s Specification,
    plan: Arc<Plan>,
    slots: Vec<SlotId>,
    work: Work,
    /// Of each monitor the first reports, up to this many, and how many there are.
    reports: Vec<(Vec<Report>, usize)>,
    limit: usize,
    positions: Position,
}

/// Of the whole log, or of each key.
enum Work {
    Whole(Box<Monitors>),
    Keys(Many),
}

/// A report and where it belongs.
struct Report {
    found: Found,
    /// In the log.
    position: Option<Position>,
    key: Option<u32>,
}

impl<'s> Stored<'s> {
    /// Before the first position; of each monitor `limit` reports are kept.
    pub fn new(
        session: &'s Session,
        spec: &'s Specification,
        plan: &Arc<Plan>,
        by_key: bool,
        limit: usize,
    ) -> Self {
        let budget = session.evaluate.memory_budget;
        let threads = session.evaluate_options().threads;
        Self {
            session,
            spec,
            plan: plan.clone(),
            slots: plan.slots(),
            work: match by_key {
                true => Work::Keys(Many::new(plan, budget)),
                false => Work::Whole(Box::new(Monitors::new(plan, budget, threads))),
            },
            reports: spec.program.monitors.iter().map(|_| (Vec::new(), 0)).collect(),
            limit: limit.max(1),
            positions: 0,
        }
    }

    fn note(&mut self, found: Found, position: Option<Position>, key: Option<u32>) {
        let (reports, count) = &mut self.reports[found.monitor];
        *count += 1;
        if reports.len() < self.limit {
            reports.push(Report { found, position, key });
        }
    }

    /// Feeds the positions of a batch to the monitors of their keys.
    fn feed_keys(&mut self, batch: &Batch, keys: &[u32]) -> Result<(), Over> {
        let Work::Keys(many) = &mut self.work else { return Ok(()) };
        let mut order: Vec<u32> =
            (0..keys.len() as u32).filter(|&at| keys[at as usize] != u32::MAX).collect();
        order.sort_by_key(|&at| keys[at as usize]);
        // By position: each has one key.
        let mut told: Vec<(Position, Found, u32)> = Vec::new();
        for order in order.chunk_by(|&a, &b| keys[a as usize] == keys[b as usize]) {
            let key = keys[order[0] as usize];
            let before = many.get(key).map_or(0, Monitors::positions);
            let columns = pick(batch, &self.slots, order);
            let part = super::batch(&self.spec.program, &self.slots, columns, order.len());
            let mut found = Vec::new();
            let fed = many.feed(key, &part, &mut found);
            fed.map_err(|over| Over { position: (self.positions + batch.len) as u64, ..over })?;
            for one in found {
                let place = one.position.map_or(0, |at| order[(at - before) as usize]);
                told.push((self.positions + place as Position, one, key));
            }
        }
        told.sort_by_key(|(position, ..)| *position);
        for (position, found, key) in told {
            self.note(found, Some(position), Some(key));
        }
        Ok(())
    }
}

impl Taker for Stored<'_> {
    fn take(&mut self, columns: Vec<Column>, read: Passing<'_>) -> Result<(), Untaken> {
        let whole = batch(&self.spec.program, &self.slots, columns, read.len);
        let mut found = Vec::new();
        let fed = match &mut self.work {
            Work::Whole(monitors) => monitors.feed(&whole, &mut found),
            Work::Keys(_) => self.feed_keys(&whole, read.keys.unwrap_or_default()),
        };
        fed.map_err(|found| over(self.spec, &found, self.session.evaluate.memory_budget, ""))?;
        for one in found {
            let position = one.position.map(|at| at as Position);
            self.note(one, position, None);
        }
        self.positions += read.len;
        Ok(())
    }
}

impl Stored<'_> {
    /// The trace is over.
    fn finish(&mut self, keys: usize) {
        let mut found: Vec<(Found, Option<u32>)> = Vec::new();
        let mut own = Vec::new();
        match &self.work {
            Work::Whole(monitors) => {
                monitors.finish(&mut own);
                found.extend(own.into_iter().map(|one| (one, None)));
            }
            Work::Keys(many) => {
                for key in 0..keys as u32 {
                    many.finish(key, &mut own);
                    found.extend(own.drain(..).map(|one| (one, Some(key))));
                }
            }
        }
        found.into_iter().for_each(|(one, key)| self.note(one, None, key));
    }

    /// The verdicts of all monitors on the trace that was read, whole or by key.
    pub fn verdicts(
        mut self,
        run: &mut Run<'_>,
        options: &CheckOptions,
    ) -> Result<Vec<PropertyReport>, Error> {
        self.finish(run.loaded.keys.as_ref().map_or(0, |keys| keys.names.len()));
        let (spec, monitors) = (self.spec, &self.spec.program.monitors);
        let first: Vec<usize> =
            (0..monitors.len()).filter(|&own| options.explain && !self.reports[own].0.is_empty()).collect();
        let asked: Vec<Asked<'_>> = first
            .iter()
            .map(|&own| &self.reports[own].0[0])
            .map(|own| Asked { found: &own.found, position: own.position, key: own.key })
            .collect();
        let found = match asked.is_empty() {
            true => Vec::new(),
            false => traces(self.session, spec, &self.plan, &run.loaded, &asked),
        };
        let mut lines: Vec<Option<Vec<_>>> = vec![None; monitors.len()];
        first.iter().zip(found).for_each(|(&own, found)| lines[own] = found);
        let mut reports = Vec::new();
        for ((monitor, (found, count)), lines) in monitors.iter().zip(&self.reports).zip(lines) {
            let mut report = report(spec, monitor, *count);
            for one in found.iter().take(options.violations.max(1)) {
                let mut violation = violation(monitor, &one.found, one.position);
                let names = run.loaded.keys.as_ref().map(|keys| &keys.names);
                let key = one.key.zip(names).map(|(key, names)| Value::Str(names[key as usize].clone()));
                violation.bindings.extend(options.by.clone().zip(key));
                report.violations.push(violation);
            }
            let mut positions: Vec<Position> =
                report.violations.iter().take(LOCATED).filter_map(|found| found.position).collect();
            positions.extend(lines.iter().flatten().map(|line| line.position));
            positions.sort_unstable();
            positions.dedup();
            let located = run.locate(&positions);
            for violation in report.violations.iter_mut().take(LOCATED) {
                let Some(located) = violation.position.and_then(|at| located.get(&at)) else { continue };
                (violation.line, violation.time) = (log_line(located), located.time);
            }
            if let Some(first) = report.violations.first() {
                (report.position, report.time) = (first.position, first.time);
            }
            if let (Some(lines), Some(one)) = (lines, found.first()) {
                let line = |position: Position| located.get(&position);
                let len = self.positions;
                report.explanation =
                    Some(explanation(monitor, &one.found, report.position, len, &lines, line));
            }
            if options.overview && *count > 0 {
                let positions = found.iter().filter_map(|one| one.position);
                report.timeline =
                    monitor_timeline(positions, run.loaded.summary.positions, *count > found.len());
            }
            report.violations.truncate(options.violations);
            reports.push(report);
        }
        Ok(reports)
    }
}

/// A monitor with so many reports.
fn report(spec: &Specification, monitor: &Monitor, count: usize) -> PropertyReport {
    let (file, line) = words::source(monitor.span, &spec.sources);
    PropertyReport {
        name: monitor.name.clone(),
        title: monitor.title.clone(),
        formula: format!("monitor {}({})", monitor.name, monitor.parameters.join(", ")),
        source: (file, line),
        verdict: if count == 0 { Verdict::Satisfied } else { Verdict::Violated },
        severity: severity(monitor),
        engine: Some(ENGINE),
        violation_count: count,
        ..PropertyReport::default()
    }
}

//! The monitors of a specification beside its properties.

use crate::check::Violation;
use crate::findings::{Severity, words};
use crate::monitors::{self, severity, violation};
use crate::{Error, Session, Specification};
use std::sync::Arc;
use tw_core::codec::{Corrupt, put};
use tw_core::{Batch, Position};
use tw_engine_parametric::{Found, Monitors, Plan};
use tw_ir::SlotId;

/// What a monitor reports of a binding of its parameters.
#[derive(Clone, Debug)]
pub struct Report {
    /// The monitor, by number in the specification …
    pub monitor: usize,
    /// … and by name.
    pub name: String,
    /// Its sentence.
    pub title: Option<String>,
    /// How bad it is.
    pub severity: Severity,
    /// Where (nowhere at the end of the trace), the values of parameters, the category and what is said.
    pub violation: Violation,
}

/// In words: the monitor, what it says, where and of what.
impl std::fmt::Display for Report {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let found = &self.violation;
        let said = found.text.as_deref().filter(|text| **text != self.name);
        let title = self.title.as_deref();
        let said = said.or(title).map_or(String::new(), |text| format!(": {text}"));
        let place = match found.position {
            Some(position) => format!("at position {position}"),
            None => "where the trace ends".to_owned(),
        };
        let with = match found.bindings.as_slice() {
            [] => String::new(),
            bindings => format!(" with {}", words::bindings(bindings)),
        };
        write!(
            f,
            "{} reports `{}` {place}{with}{said}",
            self.name,
            found.category.as_deref().unwrap_or_default()
        )
    }
}

/// The monitors at work.
pub(super) struct Parametric {
    plan: Arc<Plan>,
    slots: Vec<SlotId>,
    monitors: Monitors,
    budget: usize,
    /// What the last position made them report.
    pub told: Vec<Report>,
    /// Of each whether it has reported.
    pub reported: Vec<bool>,
}

impl Parametric {
    /// Those of a specification, if it has some.
    pub fn new(session: &Session, spec: &Specification) -> Result<Option<Self>, Error> {
        let Some(plan) = monitors::plan(spec)? else { return Ok(None) };
        let budget = session.evaluate.memory_budget;
        Ok(Some(Self {
            slots: plan.slots(),
            monitors: Monitors::new(&plan, budget, 1),
            budget,
            told: Vec::new(),
            reported: vec![false; plan.shapes().len()],
            plan,
        }))
    }

    /// What they read of a position.
    pub fn read(&self, batch: &Batch) -> Batch {
        monitors::read(batch, &self.slots)
    }

    /// Takes a position.
    pub fn take(&mut self, spec: &Specification, read: &Batch) -> Result<(), Error> {
        self.told.clear();
        let mut found = Vec::new();
        let fed = self.monitors.feed(read, &mut found);
        for one in &found {
            self.reported[one.monitor] = true;
            self.told.push(report(spec, one));
        }
        fed.map_err(|over| Error::Budget(monitors::over(spec, &over, self.budget, "the program")))
    }

    /// What the end of the trace adds.
    pub fn finish(&self, spec: &Specification) -> Vec<Report> {
        let mut found = Vec::new();
        self.monitors.finish(&mut found);
        found.iter().map(|one| report(spec, one)).collect()
    }

    pub fn save(&self, out: &mut Vec<u8>) {
        self.reported.iter().for_each(|&reported| put(u64::from(reported), out));
        self.monitors.save(out);
    }

    pub fn restore(&mut self, mut from: &[u8]) -> Result<(), Corrupt> {
        let from = &mut from;
        let mut reported = Vec::new();
        for _ in &self.reported {
            reported.push(tw_core::codec::take(from)? == 1);
        }
        let mut own = Monitors::new(&self.plan, self.budget, 1);
        own.restore(from)?;
        if !from.is_empty() {
            return Err(Corrupt("it is longer than it should be".into()));
        }
        (self.monitors, self.reported) = (own, reported);
        self.told.clear();
        Ok(())
    }
}

fn report(spec: &Specification, found: &Found) -> Report {
    let monitor = &spec.program.monitors[found.monitor];
    Report {
        monitor: found.monitor,
        name: monitor.name.clone(),
        title: monitor.title.clone(),
        severity: severity(monitor),
        violation: violation(monitor, found, found.position.map(|at| at as Position)),
    }
}

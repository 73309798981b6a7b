//! Takes records from all threads: checks properties, hands records on.

use crate::callsite::{Callsites, Vocabulary};
use crate::outlet::Outlet;
use crate::{Record, Violation};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use tracewise::embed::{Report, RowMonitor, Settled};
use tracewise::findings::Severity;
use tracewise::{Error, Value};

/// What is called for violations.
pub(crate) type OnViolation = Box<dyn Fn(&Violation) + Send + Sync>;

/// What all parts of a layer share.
pub(crate) struct Observer {
    pub names: Vocabulary,
    pub callsites: Callsites,
    pub on_violation: OnViolation,
    /// Whether every event is written out.
    pub writes: bool,
    pub state: Mutex<State>,
}

/// What one thread at a time may touch.
pub(crate) struct State {
    pub monitor: Option<RowMonitor>,
    /// Why checking ended early.
    pub error: Option<Error>,
    /// The last positions.
    pub recent: VecDeque<Record>,
    /// How many of them to keep.
    pub remember: usize,
    pub outlets: Vec<Outlet>,
    /// What times are counted from.
    pub started: Instant,
}

impl State {
    /// Nanoseconds since the start. Asked with the state locked, they never go back.
    fn now(&self) -> i64 {
        i64::try_from(self.started.elapsed().as_nanos()).unwrap_or(i64::MAX)
    }
}

impl Observer {
    fn state(&self) -> MutexGuard<'_, State> {
        // A panic elsewhere in the program must not silence what is observed after it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes one record; `counts` if it is a position.
    pub fn observe(&self, record: Record, counts: bool) {
        let mut state = self.state();
        for outlet in &mut state.outlets {
            outlet.write(&record);
        }
        if !counts || state.error.is_some() {
            return;
        }
        let now = state.now();
        let State { monitor: Some(monitor), error, recent, remember, .. } = &mut *state else { return };
        let mut arguments: Vec<(&str, Value)> = record
            .fields
            .iter()
            .filter(|(name, _)| self.names.reads(name))
            .map(|(name, value)| (*name, value.clone()))
            .collect();
        for (name, text) in [
            ("thread", &*record.thread),
            ("level", record.metadata.level().as_str()),
            ("target", record.metadata.target()),
        ] {
            if self.names.reads(name) && !arguments.iter().any(|(known, _)| *known == name) {
                arguments.push((name, Value::text(text)));
            }
        }
        let violated: Vec<Settled> = match monitor.event_at(now, &record.name, &arguments) {
            Ok(settled) => settled.iter().filter(|settled| settled.fails()).cloned().collect(),
            Err(fault) => {
                // Once: a field of the wrong type would fail again with each event.
                let told = tracewise::error::plain(&fault.render(false));
                eprintln!("tracewise: properties are no longer checked: {}", told.trim_end());
                *error = Some(fault);
                return;
            }
        };
        if recent.len() >= *remember {
            recent.pop_front();
        }
        recent.push_back(record);
        if violated.is_empty() && monitor.reports().is_empty() {
            return;
        }
        let of_properties = violated.iter().map(|settled| violation(monitor, settled, recent));
        let reports = monitor.reports().iter().map(|report| reported(monitor, report, recent));
        let violations: Vec<Violation> = of_properties.chain(reports).collect();
        // Whoever is called may log, which comes here again.
        drop(state);
        violations.iter().for_each(|violation| (self.on_violation)(violation));
    }

    /// Time has passed, whether or not something happened.
    fn beat(&self) {
        let mut state = self.state();
        // An event may still come at this very time.
        let passed = state.now() - 1;
        let State { monitor: Some(monitor), error: error @ None, recent, .. } = &mut *state else { return };
        let violated: Vec<Settled> = match monitor.advance(passed) {
            Ok(settled) => settled.iter().filter(|settled| settled.fails()).cloned().collect(),
            Err(fault) => {
                *error = Some(fault);
                return;
            }
        };
        let violations: Vec<Violation> =
            violated.iter().map(|settled| violation(monitor, settled, recent)).collect();
        drop(state);
        violations.iter().for_each(|violation| (self.on_violation)(violation));
    }
}

fn violation(monitor: &RowMonitor, settled: &Settled, recent: &VecDeque<Record>) -> Violation {
    let spec = monitor.specification();
    let root = &spec.program.roots[settled.root];
    Violation {
        property: root.name.clone(),
        title: root.title.clone(),
        formula: spec.words(root.node),
        report: None,
        severity: Severity::Error,
        position: settled.at,
        bindings: monitor.bindings(settled),
        recent: recent.iter().cloned().collect(),
    }
}

fn reported(monitor: &RowMonitor, report: &Report, recent: &VecDeque<Record>) -> Violation {
    let own = &monitor.specification().program.monitors[report.monitor];
    let found = &report.violation;
    Violation {
        property: report.name.clone(),
        title: report.title.clone(),
        formula: format!("{}({})", own.name, own.parameters.join(", ")),
        report: found.text.clone().zip(found.category.clone()),
        severity: report.severity,
        position: found.position.unwrap_or_else(|| monitor.positions().saturating_sub(1)),
        bindings: found.bindings.clone(),
        recent: recent.iter().cloned().collect(),
    }
}

/// How a property or monitor came out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Name of the property, or of a monitor: these stand behind the properties.
    pub property: String,
    /// Whether it holds of the run, now that the run is over; a monitor does if it has reported nothing.
    pub holds: bool,
    /// Whether that was settled before the end, whatever might have followed.
    pub settled: bool,
    /// What a monitor reports because the run is over: a file that was left open.
    pub reports: Vec<String>,
}

/// Ends the observation, at the latest when it is dropped.
#[must_use = "dropped, it ends the observation"]
pub struct Guard {
    pub(crate) observer: Arc<Observer>,
}

impl Guard {
    /// Ends the observation: writes what is left to write, and returns the verdict of each property on the whole run.
    /// Without an event to judge by, no property has one. The layer does nothing from now on.
    pub fn finish(self) -> Result<Vec<Outcome>, Error> {
        let (monitor, error) = self.end();
        if let Some(error) = error {
            return Err(error);
        }
        let Some(mut monitor) = monitor else { return Ok(Vec::new()) };
        let settled = monitor.verdicts();
        let last = monitor.finish().unwrap_or_default();
        let roots = &monitor.specification().program.roots;
        let outcome = |((root, holds), settled): ((&tracewise::ir::Root, bool), Option<bool>)| Outcome {
            property: root.name.clone(),
            holds,
            settled: settled.is_some(),
            reports: Vec::new(),
        };
        let mut outcomes: Vec<Outcome> = roots.iter().zip(last).zip(settled).map(outcome).collect();
        if monitor.positions() > 0 {
            let last = monitor.last_reports();
            for (number, own) in monitor.specification().program.monitors.iter().enumerate() {
                let reports = last.iter().filter(|report| report.monitor == number).map(Report::to_string);
                let (reports, settled): (Vec<String>, bool) = (reports.collect(), monitor.reported()[number]);
                let holds = !settled && reports.is_empty();
                outcomes.push(Outcome { property: own.name.clone(), holds, settled, reports });
            }
        }
        Ok(outcomes)
    }

    /// Lets deadlines pass though nothing happens: whoever wants to hear of an event that does not come (`F[0,5s] ack`)
    /// calls this every now and then, from any thread. With every event it happens anyway.
    pub fn beat(&self) {
        self.observer.beat();
    }

    /// Positions so far.
    pub fn positions(&self) -> usize {
        self.observer.state().monitor.as_ref().map_or(0, RowMonitor::positions)
    }

    /// Takes everything out of the layer; the monitor, and the first thing that went wrong.
    fn end(&self) -> (Option<RowMonitor>, Option<Error>) {
        let mut state = self.observer.state();
        let outlets = std::mem::take(&mut state.outlets);
        let (monitor, error) = (state.monitor.take(), state.error.take());
        // Flushing waits for the other end; threads that still log need not.
        drop(state);
        let failures: Vec<String> = outlets.into_iter().filter_map(Outlet::finish).collect();
        (monitor, error.or_else(|| failures.into_iter().next().map(Error::refused)))
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // What went wrong was said on standard error when it did.
        let _ = self.end();
    }
}

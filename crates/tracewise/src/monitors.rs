//! Monitors beside properties: what the engine `parametric` reports, as verdicts with violations.

mod explanation;
mod many;
mod stored;

pub(crate) use many::{Many, pick};
pub(crate) use stored::Stored;

use crate::check::Violation;
use crate::error::{Budget, Setting};
use crate::findings::{Severity, words};
use crate::{Error, Session, Specification};
use std::borrow::Cow;
use std::sync::Arc;
use tw_automata::deterministic::Stop;
use tw_core::{Batch, Bits, Column, Position, Value};
use tw_diag::Diagnostic;
use tw_engine_parametric::{Found, Over, Plan, Shape};
use tw_ir::SlotId;
use tw_ir::monitor::{Category, Monitor, Piece};

/// The engine's name.
pub(crate) const ENGINE: &str = "parametric";

/// The monitors of a specification, made ready; `None` if it has none.
pub(crate) fn plan(spec: &Specification) -> Result<Option<Arc<Plan>>, Error> {
    if spec.program.monitors.is_empty() {
        return Ok(None);
    }
    let refused = |(monitor, stop): (usize, Stop)| {
        let monitor = &spec.program.monitors[monitor];
        let what = match stop {
            Stop::Budget(what) => what,
            other => format!("{other:?}"),
        };
        let message = format!("the automaton of the monitor `{}` takes {what}", monitor.name);
        let found = Diagnostic::error("engine-refuses", message).at(monitor.span, "this monitor");
        Error::unsupported(spec, found.help("divide its expression or formula among several monitors"))
    };
    Plan::new(&spec.program).map(Arc::new).map(Some).map_err(refused)
}

/// The session for what stands beside monitors. Their engine may be named where nothing does.
pub(crate) fn beside<'s>(session: &'s Session, spec: &Specification) -> Result<Cow<'s, Session>, Error> {
    if session.evaluate.engine != ENGINE {
        return Ok(Cow::Borrowed(session));
    }
    let Some(root) = spec.program.roots.first() else {
        return Ok(Cow::Owned(session.clone().engine("auto")));
    };
    let message = format!("engine `{ENGINE}` runs monitors, and `{}` is none", root.name);
    let found = Diagnostic::error("engine-refuses", message).at(root.span, "this part");
    Err(Error::unsupported(spec, found.help("use ⟨engine: auto⟩: monitors have this engine anyway")))
}

/// What is known of a monitor before any event.
#[derive(Clone, Debug)]
pub struct MonitorReport {
    /// Its name.
    pub name: String,
    /// The sentence, if given.
    pub title: Option<String>,
    /// States of its automaton.
    pub states: usize,
    /// Events that create bindings.
    pub creation: Vec<String>,
    /// Of each event the sets of parameters that are bound before it on the way to a report.
    pub enable: Vec<(String, Vec<Vec<String>>)>,
    /// Of each set of parameters that bindings have, the sets by which they are found.
    pub trees: Vec<(Vec<String>, Vec<Vec<String>>)>,
    /// Bytes of a binding's record.
    pub bytes: usize,
    /// The parameter by which bindings are divided among threads.
    pub shard: Option<String>,
}

/// What is known of the monitors of a specification.
pub(crate) fn explain(spec: &Specification) -> Result<Vec<MonitorReport>, Error> {
    let Some(plan) = plan(spec)? else { return Ok(Vec::new()) };
    let one = |shape: &Shape| {
        let monitor = &shape.monitor;
        let names =
            |own: &[u32]| own.iter().map(|&own| monitor.parameters[own as usize].clone()).collect::<Vec<_>>();
        let set = |set: &u32| names(&(0..32).filter(|own| set >> own & 1 == 1).collect::<Vec<_>>());
        let events = || monitor.events.iter().map(|event| event.name.clone());
        let enable = shape.enables.enable.iter().map(|sets| sets.iter().map(set).collect());
        let created = events().zip(&shape.enables.creation).filter(|(_, creates)| **creates);
        let trees = shape.trees().into_iter();
        MonitorReport {
            name: monitor.name.clone(),
            title: monitor.title.clone(),
            states: shape.automaton.len(),
            creation: created.map(|(name, _)| name).collect(),
            enable: events().zip(enable).collect(),
            trees: trees
                .map(|(own, keys)| (names(&own), keys.iter().map(|key| names(key)).collect()))
                .collect(),
            bytes: shape.record_bytes(),
            shard: shape.shard_parameter().map(str::to_owned),
        }
    };
    Ok(plan.shapes().iter().map(one).collect())
}

/// Refuses monitors where they are not run: left out in silence, they would seem to be satisfied.
pub(crate) fn refuse(spec: &Specification, instead: &str) -> Result<(), Error> {
    let Some(monitor) = spec.program.monitors.first() else { return Ok(()) };
    let found = Diagnostic::error("monitor-not-run", "monitors are not run by this command");
    Err(Error::unsupported(spec, found.at(monitor.span, "this is a monitor").help(instead)))
}

/// Monitors that can report nothing, whatever happens.
pub(crate) fn doubts(spec: &Specification) -> Vec<Diagnostic> {
    // What cannot be run is said elsewhere.
    let Ok(Some(plan)) = plan(spec) else { return Vec::new() };
    let silent = |shape: &&Shape| {
        let (monitor, automaton) = (&shape.monitor, &shape.automaton);
        let begins = |event: &usize| monitor.strict || shape.enables.creation[*event];
        let events = 0..monitor.events.len();
        let mut todo: Vec<u32> =
            events.clone().filter(begins).map(|event| automaton.step(0, event)).collect();
        let mut seen = vec![false; automaton.len()];
        while let Some(state) = todo.pop() {
            if automaton.is_goal(monitor, state) {
                return false;
            }
            if !std::mem::replace(&mut seen[state as usize], true) {
                todo.extend(automaton.row(state));
            }
        }
        true
    };
    // An expression without words is told where it is written.
    let told = spec.warnings.iter().filter(|known| known.code == "empty-language");
    let told: Vec<_> = told.flat_map(|known| known.labels.first().map(|label| label.0)).collect();
    let place = |monitor: &Monitor| {
        let next =
            spec.program.monitors.iter().map(|own| own.span).find(|own| own.start > monitor.span.start);
        told.iter().any(|at| {
            at.source == monitor.span.source
                && at.start > monitor.span.start
                && next.is_none_or(|next| at.start < next.start)
        })
    };
    let word = |shape: &Shape| {
        let monitor = &shape.monitor;
        let names: Vec<String> = monitor.reports.iter().map(|own| format!("`{}`", own.name)).collect();
        let declared: Vec<String> = monitor
            .events
            .iter()
            .filter(|event| event.creation && !monitor.strict)
            .map(|event| format!("`{}`", event.name))
            .collect();
        let message = format!("the monitor `{}` can never report anything", monitor.name);
        let found = Diagnostic::warning("never-reports", message);
        let (label, help) = match declared.is_empty() {
            true => (
                format!("no events come to {}", names.join(" or ")),
                "look at what is reported: `on` names it".to_owned(),
            ),
            false => (
                format!("no trace from {} on comes to {}", declared.join(" or "), names.join(" or ")),
                "leave `creation` out: then the events that can begin a report create bindings".to_owned(),
            ),
        };
        found.at(monitor.span, label).help(help)
    };
    plan.shapes().iter().filter(silent).filter(|shape| !place(&shape.monitor)).map(word).collect()
}

/// How bad the reports of a monitor are.
pub(crate) fn severity(monitor: &Monitor) -> Severity {
    match monitor.severity {
        tw_ir::monitor::Severity::Error => Severity::Error,
        tw_ir::monitor::Severity::Warning => Severity::Warning,
        tw_ir::monitor::Severity::Suggestion => Severity::Suggestion,
    }
}

/// What a monitor means, in a text: places and layout do not count.
pub(crate) fn meaning(spec: &Specification, monitor: &Monitor) -> String {
    let condition = |own: &Option<tw_ir::monitor::Condition>| {
        own.as_ref().map(|own| (tw_ir::display(&spec.program, own.node), own.variables.clone()))
    };
    let source = |own: &tw_ir::monitor::Source| {
        format!("{:?}", (&own.name, &own.columns, &own.keys, condition(&own.when)))
    };
    let events: Vec<_> =
        monitor.events.iter().map(|own| (&own.name, own.creation, source(&own.source))).collect();
    let ends: Vec<_> =
        monitor.ends.iter().map(|own| (&own.parameters, own.event, source(&own.source))).collect();
    let automaton = tw_automata::formalism::EventAutomaton::new(monitor).ok();
    let head =
        (&monitor.name, &monitor.title, monitor.severity, monitor.strict, monitor.equal, &monitor.parameters);
    format!("{:?}", (head, events, ends, condition(&monitor.constraint), automaton, &monitor.reports))
}

/// That monitors keep more than they may.
pub(crate) fn over(spec: &Specification, over: &Over, allowed: usize, trace: &str) -> Budget {
    let monitor = &spec.program.monitors[over.monitor].name;
    let bindings = words::count(over.bindings as u64);
    Budget {
        setting: Setting::Memory,
        what: format!(
            "after {} positions the {bindings} bindings of the monitor `{monitor}` and the others'",
            over.position
        ),
        needed: Some(over.bytes),
        allowed,
        instead: Some("let values `end`, or constrain the parameters with `where`".into()),
        trace: trace.to_string(),
    }
}

/// What is said of a report: what the monitor says, else its name.
pub(crate) fn text(monitor: &Monitor, category: Category, bindings: &[Option<Value>]) -> String {
    let Some(report) = monitor.reports.iter().find(|report| report.category == category) else {
        return String::new();
    };
    let piece = |piece: &Piece| match piece {
        Piece::Text(text) => text.clone(),
        Piece::Parameter(own) => bindings[*own as usize].as_ref().map_or("_".to_owned(), Value::to_string),
    };
    let text: String = report.text.iter().map(piece).collect();
    if text.is_empty() { monitor.title.clone().unwrap_or_else(|| monitor.name.clone()) } else { text }
}

/// A report as a violation.
pub(crate) fn violation(monitor: &Monitor, found: &Found, position: Option<Position>) -> Violation {
    let pairs = monitor.parameters.iter().zip(&found.bindings);
    let text = text(monitor, found.category, &found.bindings);
    let category = monitor.reports.iter().find(|report| report.category == found.category);
    Violation {
        position,
        bindings: pairs.filter_map(|(name, value)| Some((name.clone(), value.clone()?))).collect(),
        category: category.map(|report| report.name.clone()),
        text: Some(text),
        ..Violation::default()
    }
}

/// The slots that monitors read.
pub(crate) fn slots(plan: Option<&Arc<Plan>>) -> Vec<SlotId> {
    plan.map_or(Vec::new(), |plan| plan.slots())
}

/// What monitors read of a batch.
pub(crate) fn read(batch: &Batch, slots: &[SlotId]) -> Batch {
    let mut all = vec![Column::Truth(Bits::new()); batch.slots.len()];
    for &slot in slots {
        all[slot as usize] = batch.slots[slot as usize].clone();
    }
    Batch { len: batch.len, slots: all, times: None }
}

/// A batch as the engine reads it: the columns of some slots, in their order, and no others.
pub(crate) fn batch(program: &tw_ir::Program, slots: &[SlotId], columns: Vec<Column>, len: usize) -> Batch {
    let mut all = vec![Column::Truth(Bits::new()); program.slots.len()];
    for (slot, column) in slots.iter().zip(columns) {
        all[*slot as usize] = column;
    }
    Batch { len, slots: all, times: None }
}

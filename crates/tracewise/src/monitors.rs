//! Monitors beside properties: what the engine `parametric` reports, as verdicts with violations.

use crate::check::ranges;
use crate::check::{CheckOptions, LOCATED, PropertyReport, Step, Violation, log_line};
use crate::error::{Budget, Setting};
use crate::findings::{Severity, words};
use crate::run::Run;
use crate::{Error, Session, Specification};
use std::borrow::Cow;
use std::sync::Arc;
use tw_automata::deterministic::Stop;
use tw_core::{Batch, Bits, Column, Position, Value, Verdict};
use tw_diag::Diagnostic;
use tw_engine_parametric::{Found, Line, Monitors, Over, Plan, Shape};
use tw_ir::SlotId;
use tw_ir::monitor::{Category, Formalism, Monitor, Piece};

/// The engine's name.
pub(crate) const ENGINE: &str = "parametric";
/// Lines of a binding's trace that an explanation shows: so many at its end, and the first.
const SHOWN: usize = 50;

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
pub(crate) fn over(spec: &Specification, over: &Over, allowed: usize, trace: &str) -> Error {
    let monitor = &spec.program.monitors[over.monitor].name;
    let bindings = words::count(over.bindings as u64);
    Error::Budget(Budget {
        setting: Setting::Memory,
        what: format!(
            "after {} positions the {bindings} bindings of the monitor `{monitor}` and the others'",
            over.position
        ),
        needed: Some(over.bytes),
        allowed,
        instead: Some("let values `end`, or constrain the parameters with `where`".into()),
        trace: trace.to_string(),
    })
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

/// The slots of a batch as the engine reads them, from those that were kept.
fn batch(plan: &Plan, slots: usize, kept: Vec<Column>, len: usize) -> Batch {
    let mut columns = vec![Column::Truth(Bits::new()); slots];
    for (slot, column) in plan.slots().into_iter().zip(kept) {
        columns[slot as usize] = column;
    }
    Batch { len, slots: columns, times: None }
}

/// The slots that monitors read.
pub(crate) fn slots(plan: Option<&Arc<Plan>>) -> Vec<SlotId> {
    plan.map_or(Vec::new(), |plan| plan.slots())
}

/// A trace: that of the log or of one key, with the places of its positions in the log.
struct Part {
    batch: Batch,
    order: Option<Vec<u32>>,
    key: Option<Value>,
}

impl Part {
    fn original(&self, position: u64) -> Position {
        self.order.as_ref().map_or(position as Position, |order| order[position as usize] as Position)
    }
}

/// The verdicts of all monitors on a trace that was read, whole or by key.
pub(crate) fn check(
    session: &Session,
    spec: &Specification,
    plan: &Arc<Plan>,
    run: &mut Run<'_>,
    options: &CheckOptions,
) -> Result<Vec<PropertyReport>, Error> {
    let kept = std::mem::take(&mut run.loaded.kept);
    let len = run.loaded.trace.len;
    let whole = batch(plan, spec.program.slots.len(), kept, len);
    let parts = divided(run, whole);
    let budget = session.evaluate.memory_budget;
    let threads = if parts.len() > 1 { 1 } else { session.evaluate_options().threads };
    let limit = options.violations.max(1);
    // Of each monitor the reports, with the number of their part.
    let mut found: Vec<Vec<(usize, Found)>> = vec![Vec::new(); spec.program.monitors.len()];
    let mut counts = vec![0usize; found.len()];
    // With an overview, where all of them are.
    let mut failing: Vec<Vec<Position>> = vec![Vec::new(); found.len()];
    for (number, part) in parts.iter().enumerate() {
        let mut monitors = Monitors::new(plan, budget, threads);
        let mut own = Vec::new();
        monitors
            .feed(&part.batch, &mut own)
            .map_err(|found| over(spec, &found, budget, run.loaded.name()))?;
        monitors.finish(&mut own);
        for one in own {
            counts[one.monitor] += 1;
            let position = one.position.filter(|_| options.overview).map(|at| part.original(at));
            if failing[one.monitor].len() < ranges::COUNTED {
                failing[one.monitor].extend(position);
            }
            // Of a whole trace the first stand first; of many, which do is known at the end.
            if parts.len() > 1 || found[one.monitor].len() < limit {
                found[one.monitor].push((number, one));
            }
        }
    }
    let mut reports = Vec::new();
    for (number, (monitor, mut found)) in spec.program.monitors.iter().zip(found).enumerate() {
        let place = |(part, found): &(usize, Found)| {
            found.position.map_or(usize::MAX, |at| parts[*part].original(at))
        };
        if parts.len() > 1 {
            found.sort_by_key(|one| (place(one), one.0));
        }
        let mut report = report(spec, monitor, counts[number]);
        let failing = std::mem::take(&mut failing[number]);
        if !failing.is_empty() {
            let cut = failing.len() == ranges::COUNTED;
            let all = run.loaded.summary.positions;
            report.timeline = Some(ranges::timeline(failing.into_iter(), all, cut));
        }
        for (part, one) in found.iter().take(limit) {
            let part = &parts[*part];
            let position = one.position.map(|at| part.original(at));
            let mut violation = violation(monitor, one, position);
            violation.bindings.extend(options.by.clone().zip(part.key.clone()));
            report.violations.push(violation);
        }
        let lines = found.first().filter(|_| options.explain).map(|(part, one)| {
            let part = &parts[*part];
            let at = one.position.map(|at| at as usize);
            let mut lines = plan.trace(&part.batch, number, &one.bindings, at, one.category);
            lines.iter_mut().for_each(|line| line.position = part.original(line.position as u64));
            lines
        });
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
        if let (Some(lines), Some((_, one))) = (lines, found.first()) {
            let line = |position: Position| located.get(&position);
            report.explanation = Some(explanation(monitor, one, report.position, len, &lines, line));
        }
        report.violations.truncate(options.violations);
        reports.push(report);
    }
    Ok(reports)
}

/// The traces: one, or one per key.
fn divided(run: &Run<'_>, whole: Batch) -> Vec<Part> {
    let Some(keys) = run.loaded.keys.as_ref().filter(|_| run.order.by_key()) else {
        return vec![Part { batch: whole, order: None, key: None }];
    };
    let mut orders: Vec<Vec<u32>> = vec![Vec::new(); keys.names.len()];
    for (at, &key) in keys.ids.iter().enumerate() {
        if let Some(order) = orders.get_mut(key as usize) {
            order.push(at as u32);
        }
    }
    let part = |(order, name): (Vec<u32>, &Arc<str>)| {
        let column = |column: &Column| match column.is_empty() {
            true => column.clone(),
            false => column.gather(&order),
        };
        let batch = Batch { len: order.len(), slots: whole.slots.iter().map(column).collect(), times: None };
        Part { batch, order: Some(order), key: Some(Value::Str(name.clone())) }
    };
    orders.into_iter().zip(&keys.names).map(part).collect()
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

/// The trace of a binding, line by line, and which step of the automaton each was.
fn explanation<'l>(
    monitor: &Monitor,
    found: &Found,
    position: Option<Position>,
    len: usize,
    lines: &[Line],
    located: impl Fn(Position) -> Option<&'l tw_trace::Located>,
) -> Step {
    let category = monitor.reports.iter().find(|report| report.category == found.category);
    let category = category.map_or("", |report| &report.name);
    let last = lines.last().map_or(0, |line| line.position);
    let from = position.unwrap_or(len.saturating_sub(1));
    let name = |state: u32| match &monitor.formalism {
        Formalism::Fsm { states, .. } => {
            states.get(state as usize).map_or("failed".to_owned(), |own| format!("`{own}`"))
        }
        _ => state.to_string(),
    };
    let step = |(number, line): (usize, &Line)| {
        let event = &monitor.events[line.event];
        let bound = event.source.parameters();
        let arguments: Vec<&str> =
            bound.iter().map(|&own| monitor.parameters[own as usize].as_str()).collect();
        let values = bound.iter().filter_map(|&own| {
            Some((monitor.parameters[own as usize].clone(), found.bindings[own as usize].clone()?))
        });
        let formula = match arguments.is_empty() {
            true => event.name.clone(),
            false => format!("{}({})", event.name, arguments.join(", ")),
        };
        let change = match line.from == line.to {
            true => format!("the state stays {}", name(line.to)),
            false => format!("from state {} to {}", name(line.from), name(line.to)),
        };
        let place = located(line.position);
        Step {
            formula,
            holds: true,
            from: line.position,
            to: line.position,
            time: place.and_then(|place| place.time),
            reason: format!("step {} of its trace, {change}", number + 1),
            values: values.collect(),
            line: place.and_then(log_line),
            pending_since: None,
            because: Vec::new(),
        }
    };
    // Of a long trace its beginning and its end.
    let left_out = lines.len().saturating_sub(SHOWN + 1);
    let shown = lines.iter().enumerate().filter(|(number, _)| *number == 0 || *number > left_out);
    let about = match found.bindings.iter().flatten().count() {
        0 => "its events".to_owned(),
        _ => {
            let pairs = monitor.parameters.iter().zip(&found.bindings);
            let pairs = pairs.filter_map(|(name, value)| Some(format!("{name} = {}", value.as_ref()?)));
            format!("the events about {}", pairs.collect::<Vec<_>>().join(", "))
        }
    };
    let count =
        if left_out > 0 { format!(" ({left_out} of {} are not shown)", lines.len()) } else { String::new() };
    let ended = if position.is_none() { " where the trace ends" } else { "" };
    Step {
        formula: text(monitor, found.category, &found.bindings),
        holds: false,
        from,
        to: from,
        time: located(from).and_then(|place| place.time),
        reason: format!("{about} come to `{category}`{ended}{count}"),
        values: Vec::new(),
        line: None,
        pending_since: position.is_none().then_some(last),
        because: shown.map(step).collect(),
    }
}

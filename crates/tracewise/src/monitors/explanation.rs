//! Why a binding was reported: its trace, read from the log a second time.

use super::many::pick;
use super::text;
use crate::check::{Step, log_line};
use crate::run::columns::{Loaded, append_columns};
use crate::{Session, Specification};
use std::ops::ControlFlow;
use std::sync::Arc;
use tw_core::{Batch, Column, GrowingTexts, Position, Value};
use tw_engine_parametric::{Found, Line, Plan};
use tw_ir::monitor::{Formalism, Monitor, Source};
use tw_ir::{CompareOp, SlotId};

/// Lines of a binding's trace that an explanation shows: so many at its end, and the first.
const SHOWN: usize = 50;

/// A report whose lines are asked for.
pub(super) struct Asked<'a> {
    pub found: &'a Found,
    /// Where in the log; `None` is its end.
    pub position: Option<Position>,
    /// The number of the key whose trace it is about.
    pub key: Option<u32>,
}

/// What may belong to the trace of a binding, gathered.
#[derive(Default)]
struct Gathered {
    places: Vec<Position>,
    columns: Vec<Column>,
    texts: Vec<GrowingTexts>,
}

/// Of each report the events of its binding's trace, by position in the log. What takes more than the memory budget, or cannot be
/// read again, is left out.
pub(super) fn traces(
    session: &Session,
    spec: &Specification,
    plan: &Arc<Plan>,
    loaded: &Loaded,
    asked: &[Asked<'_>],
) -> Vec<Option<Vec<Line>>> {
    let slots = plan.slots();
    let mut gathered: Vec<Option<Gathered>> = asked.iter().map(|_| Some(Gathered::default())).collect();
    // Nothing behind the last of the reports matters, unless one is about the end.
    let last = asked.iter().map(|own| own.position).max_by_key(|at| at.unwrap_or(Position::MAX)).flatten();
    let map = |batch: Batch| {
        let about = |own: &Asked<'_>| {
            let order = about(&spec.program.monitors[own.found.monitor], &own.found.bindings, &batch);
            let columns = pick(&batch, &slots, &order);
            (order, columns)
        };
        (batch.len, asked.iter().map(about).collect::<Vec<_>>())
    };
    let mut start = 0;
    let read = loaded.again(session, spec, &map, &mut |(len, parts)| {
        for ((own, parts), asked) in gathered.iter_mut().zip(parts).zip(asked) {
            if let Some(gathered) = own {
                gathered.add(start, parts, asked, loaded);
                if gathered.bytes() > session.evaluate.memory_budget {
                    *own = None;
                }
            }
        }
        start += len;
        match last.is_some_and(|last| start > last) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    });
    if read.is_err() {
        return vec![None; asked.len()];
    }
    let lines = |(own, asked): (Option<Gathered>, &Asked<'_>)| {
        let Gathered { places, columns, .. } = own?;
        let batch = super::batch(&spec.program, &slots, columns, places.len());
        let at = asked.position.map(|at| places.partition_point(|&place| place < at));
        let Found { monitor, bindings, category, .. } = asked.found;
        let mut lines = plan.trace(&batch, *monitor, bindings, at, *category);
        lines.iter_mut().for_each(|line| line.position = places[line.position]);
        Some(lines)
    };
    gathered.into_iter().zip(asked).map(lines).collect()
}

impl Gathered {
    fn add(
        &mut self,
        start: Position,
        (order, columns): (Vec<u32>, Vec<Column>),
        asked: &Asked<'_>,
        loaded: &Loaded,
    ) {
        let keys = loaded.keys.as_ref().map(|keys| &keys.ids);
        let wanted = |at: &u32| {
            let position = start + *at as Position;
            asked.position.is_none_or(|last| position <= last)
                && asked.key.is_none_or(|key| keys.is_some_and(|ids| ids[position] == key))
        };
        let own: Vec<u32> = (0..order.len() as u32).filter(|&nth| wanted(&order[nth as usize])).collect();
        if own.is_empty() {
            return;
        }
        let columns = match own.len() == order.len() {
            true => columns,
            false => columns.iter().map(|column| column.gather(&own)).collect(),
        };
        self.places.extend(own.iter().map(|&nth| start + order[nth as usize] as Position));
        append_columns(&mut self.columns, columns, &mut self.texts);
    }

    fn bytes(&self) -> usize {
        self.columns.iter().map(Column::heap_bytes).sum::<usize>() + self.places.len() * 8
    }
}

/// Positions of a batch that may be about a binding: all values of an event are the binding's, or one that ends.
fn about(monitor: &Monitor, bindings: &[Option<Value>], batch: &Batch) -> Vec<u32> {
    let mut found: Vec<u32> = Vec::new();
    let mut seen: Vec<(SlotId, &[u32], bool)> = Vec::new();
    let events = monitor.events.iter().map(|event| (&event.source, false));
    for (source, end) in events.chain(monitor.ends.iter().map(|end| (&end.source, true))) {
        let Source { slot, columns, .. } = source;
        if seen.contains(&(*slot, columns, end)) {
            continue;
        }
        seen.push((*slot, columns, end));
        let Column::Tuples(relation) = &batch.slots[*slot as usize] else {
            let truth = &batch.slots[*slot as usize];
            found.extend((0..batch.len as u32).filter(|&at| truth.value(at as usize) == Value::Bool(true)));
            continue;
        };
        let same: Vec<_> = columns
            .iter()
            .zip(relation.columns())
            .map(|(own, column)| equals(column, bindings[*own as usize].as_ref()))
            .collect();
        let fits = |tuple: usize| match end {
            true => same.iter().any(|same| same(tuple)),
            false => same.iter().all(|same| same(tuple)),
        };
        for at in 0..relation.len() {
            if relation.tuples(at).any(fits) {
                found.push(at as u32);
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Whether a cell of a column is a value.
fn equals<'c>(column: &'c Column, value: Option<&'c Value>) -> Box<dyn Fn(usize) -> bool + 'c> {
    match (column, value) {
        (_, None) => Box::new(|_| false),
        (Column::Int { values, valid }, Some(Value::Int(own))) => {
            Box::new(move |at| values[at] == *own && valid.get(at))
        }
        (Column::Text { ids, dictionary, valid }, Some(Value::Str(own))) => {
            match dictionary.entries.iter().position(|text| text == own) {
                Some(id) => Box::new(move |at| ids[at] as usize == id && valid.get(at)),
                None => Box::new(|_| false),
            }
        }
        (Column::Words(words), Some(Value::Str(own))) => Box::new(move |at| *words.get(at) == **own),
        (column, Some(own)) => Box::new(move |at| tw_monitor::compare(CompareOp::Eq, &column.value(at), own)),
    }
}

/// The trace of a binding, line by line, and which step of the automaton each was.
pub(super) fn explanation<'l>(
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

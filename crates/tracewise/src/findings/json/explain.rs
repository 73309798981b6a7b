//! What is said of a specification.

use super::{Object, array};
use crate::explain::{DataReport, LiveDelay, LiveReport, RootReport, SlicesReport, SpecReport};
use crate::imprecise::{ClockLabels, Label, Obstacle};
use std::io::{self, Write};

/// What a specification consists of: an object per property, query and monitor, and one for the whole.
pub fn explain(name: &str, report: &SpecReport, out: &mut dyn Write) -> io::Result<()> {
    for root in &report.roots {
        writeln!(out, "{}", root_json(root))?;
    }
    for monitor in &report.monitors {
        let lists = |sets: &[Vec<String>]| array(sets.iter().map(|set| serde_json::json!(set).to_string()));
        let enable = monitor.enable.iter().map(|(event, before)| {
            Object::new().field("event", event.as_str()).raw("before", &lists(before)).end()
        });
        let trees = monitor.trees.iter().map(|(bound, keys)| {
            Object::new().field("parameters", bound.clone()).raw("found_by", &lists(keys)).end()
        });
        let object = Object::new()
            .field("monitor", monitor.name.as_str())
            .maybe("title", monitor.title.as_deref())
            .field("states", monitor.states)
            .field("creation", monitor.creation.clone())
            .raw("enable", &array(enable))
            .raw("bindings", &array(trees))
            .field("bytes", monitor.bytes)
            .field("divided_by", monitor.shard.as_deref())
            .field("engine", "parametric");
        writeln!(out, "{}", object.end())?;
    }
    let pattern = |(call, meaning): &(String, String)| {
        Object::new().field("call", call.as_str()).field("meaning", meaning.as_str()).end()
    };
    let whole = Object::new()
        .field("specification", name)
        .field("roots", report.roots.len())
        .field("nodes", report.nodes)
        .field("atoms", report.atoms)
        .field("reads", report.reads.clone())
        .field("engine", report.choice.engine)
        .field("reason", report.choice.reason.as_str())
        .raw("patterns", &array(report.patterns.iter().map(pattern)));
    writeln!(out, "{}", whole.end())
}

fn root_json(root: &RootReport) -> String {
    let object = Object::new()
        .field(if root.query { "query" } else { "property" }, root.name.as_str())
        .maybe("title", root.title.as_deref())
        .field("formula", root.formula.as_str())
        .field("fragment", root.fragment.name())
        .field("future", root.fragment.future)
        .field("past", root.fragment.past)
        .field("metric", root.fragment.metric)
        .field("first_order", root.fragment.first_order)
        .field("experiments", root.fragment.experiments)
        .field("temporal_depth", root.fragment.temporal_depth)
        .field("nodes", root.nodes)
        .field("engine", root.choice.engine)
        .field("reason", root.choice.reason.as_str())
        .field("alternating_nodes", root.automata.alternating)
        .field("deterministic", root.automata.deterministic.as_deref())
        .maybe("live", root.query.then_some(root.not_live.is_none()))
        .maybe("not_live", root.not_live.as_deref());
    let object = object.maybe("robust", root.extent.as_deref());
    let object = match &root.data {
        Some(data) => object.raw("data", &data_json(data)),
        None => object,
    };
    let object = match &root.slices {
        Some(slices) => object.raw("slices", &slices_json(slices)),
        None => object,
    };
    let object = match &root.live {
        Some(live) => live_json(live, object),
        None => object,
    };
    match &root.labels {
        Some(labels) => object.raw("clock_error", &labels_json(labels)).end(),
        None => object.end(),
    }
}

/// How a property is watched, and how long verdicts take.
fn data_json(data: &DataReport) -> String {
    let mut binds = Object::new();
    for (variable, by) in &data.binds {
        binds = binds.field(variable, by.as_deref());
    }
    let holds = data.holds.iter().map(String::as_str);
    Object::new()
        .raw("binds", &binds.end())
        .field("reach", data.reach.as_str())
        .field("holds", holds.collect::<Vec<_>>())
        .field("never_refused", data.unbound.is_empty())
        .field("unbound", data.unbound.iter().map(String::as_str).collect::<Vec<_>>())
        .end()
}

fn slices_json(slices: &SlicesReport) -> String {
    Object::new()
        .field("variable", slices.variable.as_deref())
        .field("duplicated", slices.duplicated.iter().map(String::as_str).collect::<Vec<_>>())
        .field("in_time", slices.unbounded.is_none() && slices.refused.is_none())
        .maybe("unbounded", slices.unbounded.as_deref())
        .field("filtered", slices.filtered)
        .field("collapsible", slices.collapsible)
        .maybe("refused", slices.refused.as_deref())
        .end()
}

fn live_json(live: &LiveReport, object: Object) -> Object {
    let object = object
        .field("live_engine", live.engine.as_ref().ok().copied())
        .maybe("live_memory", live.memory())
        .maybe("not_live", live.engine.as_ref().err().map(String::as_str));
    let Some(delay) = &live.delay else { return object.raw("delay", "null") };
    let words = delay.to_string();
    let delay = match delay {
        LiveDelay::AtOnce => Object::new().field("positions", 0),
        LiveDelay::Positions(positions) => Object::new().field("positions", *positions),
        LiveDelay::Time { nanoseconds, again } => {
            Object::new().field("nanoseconds", *nanoseconds).field("positions", *again)
        }
        LiveDelay::Unbounded(formula) => Object::new().field("unbounded", formula.as_str()),
    };
    object.raw("delay", &delay.field("words", words).end())
}

fn labels_json(labels: &ClockLabels) -> String {
    let label = |label: &Result<Label, Obstacle>| match label {
        Ok(label) => Object::new().field("on", if *label == Label::All { "all" } else { "some" }).end(),
        Err(blocked) => Object::new()
            .field("on", "none")
            .field("blocked_by", blocked.formula.as_str())
            .field("blocked_by_negation", blocked.negated)
            .field("why", blocked.why)
            .end(),
    };
    Object::new()
        .field("formula", labels.formula.as_str())
        .field("at", if labels.always { "every instant" } else { "the beginning" })
        .raw("if_true", &label(&labels.holds))
        .raw("if_false", &label(&labels.fails))
        .end()
}

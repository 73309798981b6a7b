//! Answers for programs: one object per formula.

use crate::json::{Object, array, value};
use tracewise::{FormulaReport, Model, PathOrigin, Piece, TracePath, TraceStep, Value};

/// The answer to one formula.
pub(super) fn object(model: &Model, report: &FormulaReport) -> String {
    let mut object =
        Object::new().field("formula", report.formula.as_str()).field("logic", report.logic.name());
    object = object.maybe("title", report.title.as_deref()).field("holds", report.holds);
    if let Some(failing) = &report.failing {
        object =
            object.field("failing_initial_states", failing.count).field("initial_states", failing.initial);
    }
    object = match &report.path {
        Some(path) => tell(model, path, object),
        None => object.raw("trace", "[]"),
    };
    object = match &report.origin {
        PathOrigin::Nowhere => object,
        PathOrigin::Gone(why) => object.field("origin", "unknown").field("origin_unknown", why.as_str()),
        PathOrigin::Observed(pieces) => {
            object.field("origin", "observed").raw("pieces", &array(pieces.iter().map(piece)))
        }
        PathOrigin::Spliced(pieces) => {
            object.field("origin", "spliced").raw("pieces", &array(pieces.iter().map(piece)))
        }
    };
    match &report.probability {
        None => object,
        Some(Err(why)) => object.raw("probability", "null").field("probability_unknown", why.as_str()),
        Some(Ok(found)) => object
            .field("probability", found.value)
            .field("probability_low", found.lower)
            .field("probability_high", found.upper)
            .maybe("probability_fraction", found.fraction.as_ref().map(ToString::to_string)),
    }
    .end()
}

/// The fields of a path. What is shown at its steps is told below it; evidence is no deeper than a formula.
fn tell(model: &Model, path: &TracePath, object: Object) -> Object {
    let steps = path.steps.iter().map(step);
    let object = object.raw("trace", &array(steps)).maybe("loop", path.cycle);
    let object = if path.back_assumed(model) { object.field("loop_assumed", true) } else { object };
    let object = if path.cut { object.field("cut", true) } else { object };
    if path.branches.is_empty() {
        return object;
    }
    // Innermost first, so that nesting costs no stack.
    let branches = flatten(path);
    let mut texts: Vec<Option<String>> = vec![None; branches.len()];
    for at in (1..branches.len()).rev() {
        let (parent_step, own, children) = &branches[at];
        let inner = children.clone().filter_map(|child| texts[child].take());
        let mut text = Object::new()
            .field("at", *parent_step)
            .field("formula", own.formula.as_str())
            .field("holds", own.holds)
            .raw("trace", &array(own.steps.iter().map(step)))
            .maybe("loop", own.cycle);
        if !children.is_empty() {
            text = text.raw("branches", &array(inner));
        }
        texts[at] = Some(text.end());
    }
    let own = branches.first().map_or(0..0, |(_, _, children)| children.clone());
    object.raw("branches", &array(own.filter_map(|child| texts[child].take())))
}

/// A path and all below it, breadth first: the step it stands at, itself, and where its own branches are.
fn flatten(path: &TracePath) -> Vec<(usize, &TracePath, std::ops::Range<usize>)> {
    let mut all = vec![(0, path, 0..0)];
    let mut next = 0;
    while next < all.len() {
        let start = all.len();
        let own = all[next].1;
        all.extend(own.branches.iter().map(|told| (told.step, &told.path, 0..0)));
        all[next].2 = start..all.len();
        next += 1;
    }
    all
}

fn step(step: &TraceStep) -> String {
    // A variable that is called as one of our own fields is marked, as in the model's file.
    let key =
        |name: &str| if matches!(name, "source" | "assumed") { format!("${name}") } else { name.to_string() };
    let field = |object: Object, (name, own): &(String, Value)| object.raw(&key(name), &value(own));
    let values = step.values.iter().fold(Object::new(), field);
    let mut text = values.end();
    text.pop();
    if text.len() > 1 {
        text.push(',');
    }
    let seen = match &step.seen {
        Some((trace, line)) => Object::new().field("trace", trace.as_str()).field("line", *line).end(),
        None => "null".into(),
    };
    text.push_str(&format!("\"source\":{seen},\"assumed\":{}}}", step.assumed));
    text
}

fn piece(piece: &Piece) -> String {
    Object::new()
        .field("from", piece.steps.0)
        .field("to", piece.steps.1)
        .field("trace", piece.trace.as_deref())
        .field("lines", piece.lines.as_slice())
        .end()
}

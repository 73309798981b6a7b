//! The object of a formula asked of a model.

use super::write::{Object, array, value};
use crate::findings::{Evidence, EvidencePath, EvidenceStep, Item, Report};
use crate::merge::Piece;
use crate::{Value, merge};

pub(super) fn object(report: &Report, item: &Item, found: &Evidence) -> Object {
    let mut object = Object::new().field("formula", item.formula.as_str()).field("logic", found.logic.name());
    object = object.maybe("title", item.title.as_deref()).field("holds", found.holds);
    if let Some(failing) = &found.failing {
        object =
            object.field("failing_initial_states", failing.count).field("initial_states", failing.initial);
    }
    object = match found.paths.first() {
        Some(path) => tell(&found.paths, path, object),
        None => object.raw("trace", "[]"),
    };
    object = match &found.origin {
        merge::Origin::Nowhere => object,
        merge::Origin::Gone(why) => object.field("origin", "unknown").field("origin_unknown", why.as_str()),
        merge::Origin::Observed(pieces) => {
            object.field("origin", "observed").raw("pieces", &array(pieces.iter().map(piece)))
        }
        merge::Origin::Spliced(pieces) => {
            object.field("origin", "spliced").raw("pieces", &array(pieces.iter().map(piece)))
        }
    };
    match &found.probability {
        None => object,
        Some(Err(why)) => object.raw("probability", "null").field("probability_unknown", why.as_str()),
        Some(Ok(found)) => object
            .field("probability", found.value)
            .field("probability_low", found.lower)
            .field("probability_high", found.upper)
            .maybe("probability_fraction", found.fraction.as_ref().map(ToString::to_string)),
    }
    .maybe("engine", report.statistics.engine)
}

/// The fields of the first path. What is shown at its steps is told below it.
fn tell(paths: &[EvidencePath], path: &EvidencePath, object: Object) -> Object {
    let object = object.raw("trace", &array(path.steps.iter().map(step))).maybe("loop", path.cycle);
    let object = if path.back.is_some() { object.field("loop_assumed", true) } else { object };
    let object = if path.cut { object.field("cut", true) } else { object };
    if !path.branches {
        return object;
    }
    // Each path stands before those at its steps: from the last to the first, the innermost are ready when they are
    // needed, and nesting costs no stack.
    let mut below: Vec<Vec<String>> = vec![Vec::new(); paths.len()];
    for (own, path) in paths.iter().enumerate().rev() {
        let Some((parent, at)) = path.at else { continue };
        let mut text = Object::new()
            .field("at", at)
            .field("formula", path.formula.as_str())
            .field("holds", path.holds)
            .raw("trace", &array(path.steps.iter().map(step)))
            .maybe("loop", path.cycle);
        if path.branches {
            let inner = std::mem::take(&mut below[own]);
            text = text.raw("branches", &array(inner.into_iter().rev()));
        }
        below[parent].push(text.end());
    }
    let own = std::mem::take(&mut below[0]);
    object.raw("branches", &array(own.into_iter().rev()))
}

fn step(step: &EvidenceStep) -> String {
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
    text.push_str(&format!("\"source\":{seen},\"assumed\":{}}}", step.assumed.is_some()));
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

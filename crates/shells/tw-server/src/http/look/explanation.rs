//! Why something is violated: the lines up to the one that settled it are judged once more, this time with reasons.

use super::super::answer::{Answer, asked, error, json};
use super::{Subject, look, unfit, unread};
use crate::server::Shared;
use crate::verdicts::Filter;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use std::sync::Arc;
use tracewise::check::{CheckOptions, Step, Violation};
use tracewise::findings::json::{self as written, Object};

/// Lines that are judged again.
const LINES: u64 = 50_000;

/// `GET /v1/explanation?stream=…&spec=…&property=…&id=…&number=…`.
pub async fn get(State(shared): State<Arc<Shared>>, RawQuery(query): RawQuery) -> Answer {
    let subject = match Subject::of(&shared, query.as_deref()) {
        Ok(subject) => subject,
        Err(answer) => return *answer,
    };
    let number = asked(query.as_deref(), "number").and_then(|number| number.parse::<u64>().ok());
    let id = asked(query.as_deref(), "id").unwrap_or_default();
    look(move || {
        let Some(number) = number else {
            return error(StatusCode::BAD_REQUEST, "number: expected the number of a violation");
        };
        match shared.verdicts.list(&Filter::default(), number, 1) {
            Ok((found, _)) => match found.first().and_then(|told| serde_json::from_str(&told.json).ok()) {
                Some(found) => explained(&subject, &found, &id),
                None => error(StatusCode::NOT_FOUND, "there is no violation of that number"),
            },
            Err(why) => unread(&why),
        }
    })
    .await
}

fn explained(subject: &Subject, found: &serde_json::Value, id: &str) -> Answer {
    let number = |name: &str| found[name].as_u64();
    if found["id"] != id || found["property"] != subject.property.as_str() {
        return error(StatusCode::NOT_FOUND, "there is no such violation");
    }
    let Some(position) = number("position") else {
        return error(StatusCode::NOT_FOUND, "the violation has no position");
    };
    let settled = number("settled_by").unwrap_or(position).max(position);
    let first = first_line(subject.since, found["line"]["line"].as_u64(), [position, settled]);
    let to = (first + settled + 1).min(subject.stream.log.end());
    let part = match super::part(&subject.stream, first, to, LINES) {
        Ok(part) => part,
        Err(why) => return unread(&why),
    };
    let shift = part.from.saturating_sub(first);
    let Some(wanted) = position.checked_sub(shift) else {
        return none("the lines that it is about are no longer kept");
    };
    let note = (shift > 0)
        .then(|| format!("Judged from line {} on: what was before is not looked at.", part.from + 1));
    let specification = match subject.alone() {
        Ok(specification) => specification,
        Err(why) => return unfit(&why),
    };
    let (session, files) = subject.session(&part.bytes);
    let by = subject.spec.specification.settings.by.clone();
    let all =
        CheckOptions { violations: usize::MAX, explain: false, by: by.clone(), ..CheckOptions::default() };
    let report = match session.check(&specification, &files, &all) {
        Ok(report) => report,
        Err(why) => return unfit(&why),
    };
    let property = report.properties.iter().find(|own| own.name == subject.property);
    let Some(property) = property.filter(|own| own.violation_count > 0 || own.verdict.as_str() == "violated")
    else {
        return none(
            "judged again, these lines do not violate it: the specification or the log is no longer what it was",
        );
    };
    let bindings = found["bindings"].to_string();
    let same = |own: &Violation| {
        own.position.is_none_or(|own| own as u64 == wanted)
            && (own.bindings.is_empty() || written::bindings(&own.bindings) == bindings)
    };
    let listed = &property.violations;
    let at = listed.iter().position(same);
    let at =
        at.or_else(|| listed.iter().position(|own| own.position.is_some_and(|own| own as u64 == wanted)));
    if at.is_none() && !listed.is_empty() {
        return none(
            "judged again, it is violated elsewhere: the specification or the log is no longer what it was",
        );
    }
    let explained = at.unwrap_or(0);
    let one = CheckOptions { violations: explained + 1, explained, by, ..CheckOptions::default() };
    let report = match session.check(&specification, &files, &one) {
        Ok(report) => report,
        Err(why) => return unfit(&why),
    };
    let step = report.properties.into_iter().find(|own| own.name == subject.property);
    let drawing = step.as_ref().map_or(String::new(), |own| own.drawing.join("\n"));
    let step = step.and_then(|own| own.explanation).map(|mut step| {
        shifted(&mut step, shift as usize, part.from);
        written::step(&step)
    });
    let object = Object::new().raw("explanation", step.as_deref().unwrap_or("null"));
    let object = object.maybe("note", note).maybe("text", (!drawing.is_empty()).then_some(drawing));
    json(StatusCode::OK, object.end())
}

/// Lines before the first position: each line is one. A property that did not change when its specification did goes on from
/// before, so what the violation says of its line counts; that is the line of its position or of the one that settled it.
fn first_line(since: u64, line: Option<u64>, positions: [u64; 2]) -> u64 {
    let Some(line) = line else { return since };
    let mut starts = positions.iter().filter_map(|position| (line - 1).checked_sub(*position));
    if starts.clone().any(|start| start == since) { since } else { starts.next().unwrap_or(since) }
}

/// There is nothing to be told, and why.
fn none(why: &str) -> Answer {
    json(StatusCode::OK, Object::new().raw("explanation", "null").field("note", why).end())
}

/// Positions and lines as the stream counts them.
fn shifted(root: &mut Step, positions: usize, lines: u64) {
    let mut steps = vec![root];
    while let Some(step) = steps.pop() {
        step.from += positions;
        step.to += positions;
        step.pending_since = step.pending_since.map(|since| since + positions);
        if let Some(line) = &mut step.line {
            line.line += lines;
        }
        steps.extend(&mut step.because);
    }
}

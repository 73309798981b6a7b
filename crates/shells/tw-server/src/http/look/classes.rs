//! Which traces of a stream fail alike.

use super::super::answer::{Answer, json};
use super::{Subject, look_at, unfit, unread};
use crate::server::Shared;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use std::sync::Arc;
use tracewise::Verdict;
use tracewise::classify::{Classes, ClassifyOptions};
use tracewise::findings::json::{Object, array};

/// Lines that are looked at.
const LINES: u64 = 20_000;
/// Classes that are told.
const MOST: usize = 20;

/// `GET /v1/classes?stream=…&spec=…&property=…`: classes of the latest traces that violate it, where `by` makes traces of the stream.
pub async fn get(State(shared): State<Arc<Shared>>, RawQuery(query): RawQuery) -> Answer {
    look_at(&shared, query.as_deref(), classes).await
}

fn classes(subject: &Subject) -> Answer {
    // One trace is no class.
    let Some(by) = subject.spec.specification.settings.by.clone() else {
        return json(StatusCode::OK, r#"{"classes":[]}"#);
    };
    let part = match subject.latest(LINES) {
        Ok(part) => part,
        Err(why) => return unread(&why),
    };
    let specification = match subject.alone() {
        Ok(specification) => specification,
        Err(why) => return unfit(&why),
    };
    let (session, files) = subject.session(&part.bytes);
    let options = ClassifyOptions { by: Some(by), ..ClassifyOptions::default() };
    let mut found = Classes::new();
    if let Err(why) = session.classify(&specification, &files, &options, &mut found) {
        return unfit(&why);
    }
    found.sort(&specification);
    let violated = found.last().filter(|class| class.verdict == Verdict::Violated).take(MOST);
    let all = violated.map(|class| {
        let examples = class.examples.iter().map(|own| serde_json::Value::from(own.as_str()).to_string());
        Object::new()
            .field("class", class.class.as_str())
            .field("verdict", class.verdict.as_str())
            .field("traces", class.traces)
            .field("hologram", class.hologram.as_str())
            .field("why", class.why.as_str())
            .raw("examples", &array(examples))
            .end()
    });
    let object = Object::new().raw("classes", &array(all)).field("lines", part.lines);
    json(StatusCode::OK, object.end())
}

//! How far the latest lines are from violating a property.

use super::super::answer::{Answer, json};
use super::{Subject, look_at, unfit, unread};
use crate::server::Shared;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use std::sync::Arc;
use tracewise::findings::json::{self as written, Object, array};
use tracewise::robust::RobustOptions;

/// Lines that are looked at.
const LINES: u64 = 2_000;

/// `GET /v1/robustness?stream=…&spec=…&property=…`: of `G φ` the value of φ at each of the latest positions.
pub async fn get(State(shared): State<Arc<Shared>>, RawQuery(query): RawQuery) -> Answer {
    look_at(&shared, query.as_deref(), values).await
}

fn values(subject: &Subject) -> Answer {
    let part = match subject.latest(LINES) {
        Ok(part) => part,
        Err(why) => return unread(&why),
    };
    let specification = match subject.alone() {
        Ok(specification) => specification,
        Err(why) => return unfit(&why),
    };
    let (session, files) = subject.session(&part.bytes);
    let options =
        RobustOptions { everywhere: true, explain: false, picture: true, ..RobustOptions::default() };
    let report = match session.robust(&specification, &files, &options) {
        Ok(report) => report,
        Err(why) => return unfit(&why),
    };
    let shift = part.from.saturating_sub(subject.since);
    let curve =
        report.properties.iter().find(|own| own.name == subject.property).and_then(|own| own.curve.as_ref());
    let values = curve.map_or(&[][..], |(_, values)| values.as_slice());
    let object = Object::new()
        .maybe("formula", curve.map(|(formula, _)| formula.as_str()))
        .raw("positions", &array((0..values.len() as u64).map(|at| (at + shift).to_string())))
        .raw("times", &array((0..values.len()).map(|at| written::time(report.stamp(at)))))
        .raw("values", &array(values.iter().map(|value| written::number(*value))));
    json(StatusCode::OK, object.end())
}

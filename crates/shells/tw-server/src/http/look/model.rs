//! What the latest lines of a stream do, merged into a model and drawn.

use super::super::answer::{Answer, asked, error, json};
use super::{look, stream_of, unfit, unread};
use crate::server::Shared;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use std::sync::Arc;
use tracewise::findings::json::Object;
use tracewise::merge::{Keep, MergeOptions, StateNames};
use tracewise::model::FORMATS;
use tracewise::{Reading, Session};

/// Lines that are merged.
const LINES: u64 = 20_000;
/// States that can still be looked at.
const STATES: usize = 200;

/// `GET /v1/model?stream=…&state=COLUMN&by=COLUMN`.
pub async fn get(State(shared): State<Arc<Shared>>, RawQuery(query): RawQuery) -> Answer {
    let query = query.as_deref();
    let stream = match stream_of(&shared, query) {
        Ok(stream) => stream,
        Err(answer) => return *answer,
    };
    let states = match asked(query, "state") {
        Some(column) => StateNames::Columns(vec![column]),
        None => StateNames::Auto,
    };
    let options = MergeOptions { by: asked(query, "by"), states, ..MergeOptions::new(Keep::State) };
    look(move || {
        let part = match super::part(&stream, 0, stream.log.end(), LINES) {
            Ok(part) => part,
            Err(why) => return unread(&why),
        };
        let reading =
            Reading { format: Some("jsonl".into()), threads: 1, skip_bad_lines: true, ..Reading::default() };
        let name = stream.name.to_string();
        let session = Session::new().reading(reading).text(name.clone(), part.bytes);
        let report = match session.merge(&[vec![name]], &options) {
            Ok(report) => report,
            Err(why) => return unfit(&why),
        };
        let states = report.model.states();
        if states > STATES {
            let why =
                format!("{states} states are more than a picture can show; name a column with fewer values");
            return error(StatusCode::UNPROCESSABLE_ENTITY, &why);
        }
        let Some(format) = FORMATS.iter().find(|format| format.name == "svg") else {
            return error(StatusCode::INTERNAL_SERVER_ERROR, "models cannot be drawn");
        };
        let mut svg = Vec::new();
        if let Err(why) = (format.write)(&report.model, &mut svg) {
            return error(StatusCode::UNPROCESSABLE_ENTITY, &why.to_string());
        }
        let note =
            format!("{states} states of {} positions, from line {} on", report.positions, part.from + 1);
        let svg = String::from_utf8_lossy(&svg).into_owned();
        json(StatusCode::OK, Object::new().field("svg", svg).field("note", note).end())
    })
    .await
}

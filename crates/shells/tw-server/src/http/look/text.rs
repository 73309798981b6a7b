//! What an editor asks while a specification is written: what is wrong with it, which words there are.

use super::super::answer::{Answer, asked, json};
use super::super::specs::{diagnostics, text_of};
use super::{look, unread};
use crate::names;
use crate::server::Shared;
use crate::specs::Spec;
use axum::body::Body;
use axum::extract::{RawQuery, State};
use axum::http::{Request, StatusCode};
use std::sync::Arc;
use tracewise::findings::json::{self as written, Object, array};
use tracewise::ir::Temporal;
use tracewise::language::PATTERNS;
use tracewise::{Reading, Session};

/// Lines whose columns are offered.
const LINES: u64 = 200;

/// Words that begin declarations or stand within them.
const KEYWORDS: [&str; 24] = [
    "property", "query", "let", "trace", "require", "monitor", "chart", "after", "stream", "observe",
    "trigger", "forall", "exists", "over", "by", "every", "while", "matches", "in", "has", "true", "false",
    "first", "last",
];
/// What collects values.
const AGGREGATES: [&str; 11] =
    ["count", "sum", "min", "max", "avg", "median", "quantile", "stddev", "var", "mode", "distinct"];

/// The name that a text goes by while it has none.
fn name_of(query: Option<&str>) -> String {
    asked(query, "spec")
        .filter(|name| names::check("specification", name).is_ok())
        .unwrap_or_else(|| "draft".into())
}

/// `POST /v1/check`: what is wrong with a text, which is not kept.
pub async fn check(
    State(shared): State<Arc<Shared>>,
    RawQuery(query): RawQuery,
    request: Request<Body>,
) -> Answer {
    let text = match text_of(&shared, request).await {
        Ok(text) => text,
        Err(answer) => return *answer,
    };
    look(move || {
        let (usable, found) = match Spec::read(&name_of(query.as_deref()), &text) {
            Ok(spec) => {
                let sources = &spec.specification.sources;
                (true, array(spec.doubts().iter().map(|doubt| written::warning(doubt, sources))))
            }
            Err(why) => (false, diagnostics(&why)),
        };
        json(StatusCode::OK, Object::new().field("usable", usable).raw("diagnostics", &found).end())
    })
    .await
}

/// `GET /v1/words?stream=…`: words of the language, and columns and events of a stream.
pub async fn words(State(shared): State<Arc<Shared>>, RawQuery(query): RawQuery) -> Answer {
    let stream = asked(query.as_deref(), "stream").and_then(|name| shared.known(&name));
    look(move || {
        let fields = match stream.map(|stream| fields(&stream)).transpose() {
            Ok(fields) => fields.unwrap_or_default(),
            Err(why) => return unread(&why),
        };
        let quoted = |word: &&str| format!("\"{word}\"");
        let operators = Temporal::all().map(|own| {
            let row = own.row();
            Object::new().field("word", row.letter).field("about", row.name).end()
        });
        let aggregates = AGGREGATES
            .iter()
            .map(|word| Object::new().field("word", *word).field("about", "aggregate").end());
        let patterns = PATTERNS.iter().map(|own| {
            let form = format!("{}({})", own.name, own.parameters.join(", "));
            Object::new().field("name", own.name).field("form", form).field("about", own.meaning).end()
        });
        let object = Object::new()
            .raw("keywords", &array(KEYWORDS.iter().map(quoted)))
            .raw("operators", &array(operators.chain(aggregates)))
            .raw("patterns", &array(patterns))
            .raw("fields", &array(fields));
        json(StatusCode::OK, object.end())
    })
    .await
}

/// Columns and events of the latest lines, as JSON.
fn fields(stream: &crate::stream::Stream) -> std::io::Result<Vec<String>> {
    let part = super::part(stream, 0, stream.log.end(), LINES)?;
    let reading =
        Reading { format: Some("jsonl".into()), threads: 1, skip_bad_lines: true, ..Reading::default() };
    let name = stream.name.to_string();
    let session = Session::new().reading(reading).text(name.clone(), part.bytes);
    // Of a stream without a line nothing is known.
    let Ok(report) = session.inspect(&[name]) else { return Ok(Vec::new()) };
    let field = |name: &str, about: String| Object::new().field("name", name).field("about", about).end();
    let columns = report.columns.iter().map(|own| {
        let example =
            own.examples.first().map_or(String::new(), |example| format!(", for example {example}"));
        field(&own.name, format!("{}{example}", own.kind))
    });
    Ok(columns.chain(report.events.iter().map(|(name, _)| field(name, "event".into()))).collect())
}

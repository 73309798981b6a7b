//! A specification tried on the past: the stored lines go through the judge that a live stream has, and nobody else is told.

use super::super::answer::{Answer, error, json};
use super::super::specs::{diagnostics, text_of};
use super::text::name_of;
use super::{MEMORY, look, stream_of, unread};
use crate::judge::{Collected, PropertyState, Teller, Watched};
use crate::server::Shared;
use crate::specs::Spec;
use crate::stream::Stream;
use crate::words;
use axum::body::Body;
use axum::extract::{RawQuery, State};
use axum::http::{Request, StatusCode};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tracewise::findings::json::{Object, array};

/// How long is looked at the past.
const LONGEST: Duration = Duration::from_secs(20);
/// Lines of it.
const LINES: u64 = 2_000_000;

/// `POST /v1/try?stream=…`: what a specification finds in the lines that are there. It is not kept.
pub async fn post(State(shared): State<Arc<Shared>>, RawQuery(query): RawQuery, request: Request<Body>) -> Answer {
    let stream = match stream_of(&shared, query.as_deref()) {
        Ok(stream) => stream,
        Err(answer) => return *answer,
    };
    let text = match text_of(&shared, request).await {
        Ok(text) => text,
        Err(answer) => return *answer,
    };
    look(move || match Spec::read(&name_of(query.as_deref()), &text) {
        Ok(spec) => tried(&stream, &spec).unwrap_or_else(|why| unread(&why)),
        Err(why) => {
            let object = Object::new().field("error", "the specification cannot be used");
            json(StatusCode::UNPROCESSABLE_ENTITY, object.raw("diagnostics", &diagnostics(&why)).end())
        }
    })
    .await
}

fn tried(stream: &Stream, spec: &Spec) -> io::Result<Answer> {
    let unfit = |why: &tracewise::Error| Ok(error(StatusCode::UNPROCESSABLE_ENTITY, &words::error(why)));
    let end = stream.log.end();
    let from = stream.log.start().max(end.saturating_sub(LINES));
    let collected = Rc::new(RefCell::new(Collected::default()));
    let watched = Arc::new(Watched::new(&stream.name, &spec.name, &spec.specification));
    let mut firsts: BTreeMap<String, String> = BTreeMap::new();
    let (mut at, mut stopped) = (from, None);
    let prepared = match spec.prepare(&stream.name, MEMORY) {
        Ok(prepared) => prepared,
        Err(why) => return unfit(&why),
    };
    {
        let mut teller = Teller::new(watched.clone(), from, collected.clone());
        let mut watch = match prepared.begin(&mut teller) {
            Ok(watch) => watch,
            Err(why) => return unfit(&why),
        };
        watch.begin_after(from);
        let (mut reader, until) = (stream.log.read_from(from), Instant::now() + LONGEST);
        let mut take = || {
            for told in collected.borrow_mut().told.drain(..).filter(|told| told.kind == "violation") {
                firsts.entry(told.property.to_string()).or_insert(told.json);
            }
        };
        while at < end
            && let Some(record) = reader.next()?
        {
            let skip = from.saturating_sub(record.before) as usize;
            let bytes: Vec<u8> =
                record.bytes.split_inclusive(|&byte| byte == b'\n').skip(skip).flatten().copied().collect();
            if let Err(why) = watch.push(&bytes) {
                stopped = Some(words::error(&why));
                break;
            }
            at = record.after();
            take();
            if Instant::now() > until {
                stopped = Some(format!("after {} s the rest was left out", LONGEST.as_secs()));
                break;
            }
        }
        if let Err(why) = watch.tell_pending() {
            stopped.get_or_insert(words::error(&why));
        }
        take();
        drop(watch);
    }
    let one = |own: &PropertyState| {
        let object = Object::new().field("property", own.name.as_str()).field("kind", own.kind);
        let object = object.field("state", own.state());
        if own.kind == "query" {
            return object.raw("value", own.value.as_deref().unwrap_or("null")).end();
        }
        object
            .field("violations", own.violations)
            .field("pending_count", own.pending_count)
            .raw("first", firsts.get(&own.name).map_or("null", String::as_str))
            .end()
    };
    let properties = array(watched.properties().iter().map(one));
    let object = Object::new()
        .field("from_line", from + 1)
        .field("lines", at - from)
        .field("cut", from > 0)
        .maybe("stopped", stopped)
        .raw("properties", &properties);
    Ok(json(StatusCode::OK, object.end()))
}

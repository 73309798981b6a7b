//! Specifications by request.

use super::access::forbidden;
use super::answer::{Answer, asked, error, json, later, of_kind};
use crate::names;
use crate::server::Shared;
use crate::specs::Spec;
use crate::tokens::{Rights, Role};
use crate::trial::{self, Extent, Tried};
use axum::body::Body;
use axum::extract::{Path, RawQuery, State};
use axum::http::{Request, StatusCode};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;
use tracewise::findings::json::{self as written, Object, array};

/// Bytes of a specification.
const LONGEST: usize = 1 << 20;

/// `GET /v1/specs`.
pub async fn list(State(shared): State<Arc<Shared>>, rights: Rights) -> Answer {
    let one = |spec: &Arc<Spec>| {
        let streams = spec.streams.iter().flatten().map(|name| {
            let object = Object::new().field("stream", name.as_str()).end();
            object[10..object.len() - 1].to_string()
        });
        let object = Object::new().field("spec", &*spec.name);
        match &spec.streams {
            Some(_) => object.raw("streams", &array(streams)).end(),
            None => object.raw("streams", "null").end(),
        }
    };
    let all = shared.specs.all();
    let seen = all.iter().filter(|spec| sees(&shared, &rights, spec));
    json(StatusCode::OK, Object::new().raw("specs", &array(seen.map(one))).end())
}

/// Whether rights let a specification be seen: those on a stream that it is about, or on all that it might be about.
fn sees(shared: &Shared, rights: &Rights, spec: &Spec) -> bool {
    let streams = spec.streams.as_deref();
    rights.covers(Role::Read, streams)
        || rights.covers(Role::Administer, streams)
        || shared.streams().iter().any(|own| spec.is_about(&own.name) && rights.may(Role::Read, &own.name))
}

/// `GET /v1/specs/NAME`.
pub async fn get(State(shared): State<Arc<Shared>>, rights: Rights, Path(name): Path<String>) -> Answer {
    match shared.specs.all().iter().find(|spec| *spec.name == *name && sees(&shared, &rights, spec)) {
        Some(spec) => of_kind(StatusCode::OK, "text/plain; charset=utf-8", spec.text.to_string()),
        None => error(StatusCode::NOT_FOUND, "there is no specification of that name"),
    }
}

/// The text of a request.
pub async fn text_of(shared: &Shared, request: Request<Body>) -> Result<String, Box<Answer>> {
    let (body, _held) = super::body::read(shared, request.into_body(), LONGEST).await?;
    String::from_utf8(body.into())
        .map_err(|_| Box::new(error(StatusCode::BAD_REQUEST, "a specification is UTF-8 text, this is not")))
}

/// Texts that are understood or tried at one time: a long one takes a hundred times its length.
static TURNS: Semaphore = Semaphore::const_new(2);

/// Does what takes memory and time when it is its turn.
async fn in_turn(work: impl FnOnce() -> Answer + Send + 'static, why: &str) -> Answer {
    let Ok(Ok(_turn)) = tokio::time::timeout(ENOUGH, TURNS.acquire()).await else {
        return later(StatusCode::TOO_MANY_REQUESTS, "too many specifications are read and tried");
    };
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| error(StatusCode::INTERNAL_SERVER_ERROR, why))
}

/// What is wrong with a text, as JSON objects.
pub fn diagnostics(why: &tracewise::Error) -> String {
    array(written::error(why))
}

/// `PUT /v1/specs/NAME`.
pub async fn put(
    State(shared): State<Arc<Shared>>,
    rights: Rights,
    Path(name): Path<String>,
    request: Request<Body>,
) -> Answer {
    if let Err(why) = names::check("specification", &name) {
        return error(StatusCode::BAD_REQUEST, &why);
    }
    let text = match text_of(&shared, request).await {
        Ok(text) => text,
        Err(answer) => return *answer,
    };
    let work = move || {
        let spec = match Spec::read(&name, &text) {
            Ok(spec) => spec,
            Err(why) => {
                let object =
                    Object::new().field("error", "the specification cannot be used; nothing was changed");
                return json(
                    StatusCode::UNPROCESSABLE_ENTITY,
                    object.raw("diagnostics", &diagnostics(&why)).end(),
                );
            }
        };
        // Who puts one in the place of another has to have the right to take that away.
        let before = shared.specs.all().into_iter().find(|own| *own.name == *spec.name);
        let covers = |own: &Spec| rights.covers(Role::Administer, own.streams.as_deref());
        if !covers(&spec) || !before.is_none_or(|before| covers(&before)) {
            return forbidden(Role::Administer);
        }
        let sources = &spec.specification.sources;
        let doubts = array(spec.doubts().iter().map(|doubt| written::warning(doubt, sources)));
        let put = shared.specs.put(spec).and_then(|spec| shared.apply().map(|()| spec));
        match put {
            Ok(spec) => {
                let streams = shared.streams();
                let about = streams.iter().filter(|stream| spec.is_about(&stream.name));
                let about = array(about.map(|stream| format!("\"{}\"", stream.name)));
                let object = Object::new().field("spec", &*spec.name).raw("streams", &about);
                json(StatusCode::OK, object.raw("diagnostics", &doubts).end())
            }
            Err(why) => {
                error(StatusCode::SERVICE_UNAVAILABLE, &format!("the specification cannot be kept: {why}"))
            }
        }
    };
    in_turn(work, "the specification cannot be used").await
}

/// `DELETE /v1/specs/NAME`.
pub async fn delete(State(shared): State<Arc<Shared>>, rights: Rights, Path(name): Path<String>) -> Answer {
    if let Err(why) = names::check("specification", &name) {
        return error(StatusCode::BAD_REQUEST, &why);
    }
    let own = shared.specs.all().into_iter().find(|own| *own.name == *name);
    // One that cannot be read may be about anything.
    if !rights.covers(Role::Administer, own.as_ref().and_then(|own| own.streams.as_deref())) {
        return forbidden(Role::Administer);
    }
    let work = move || match shared.specs.remove(&name).and_then(|there| shared.apply().map(|()| there)) {
        Ok(true) => json(StatusCode::OK, Object::new().field("removed", name).end()),
        Ok(false) => error(StatusCode::NOT_FOUND, "there is no specification of that name"),
        Err(why) => {
            error(StatusCode::SERVICE_UNAVAILABLE, &format!("the specification cannot be removed: {why}"))
        }
    };
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|_| error(StatusCode::INTERNAL_SERVER_ERROR, "the specification cannot be removed"))
}

/// Violations that a trial tells of each stream.
const TOLD: usize = 100;
/// How long a trial may take.
const ENOUGH: Duration = Duration::from_secs(20);

/// `POST /v1/specs/NAME/try`: what a text (or the specification of that name) would have found in what is stored.
pub async fn try_past(
    State(shared): State<Arc<Shared>>,
    rights: Rights,
    Path(name): Path<String>,
    RawQuery(query): RawQuery,
    request: Request<Body>,
) -> Answer {
    if let Err(why) = names::check("specification", &name) {
        return error(StatusCode::BAD_REQUEST, &why);
    }
    let text = match text_of(&shared, request).await {
        Ok(text) => text,
        Err(answer) => return *answer,
    };
    let since = match asked(query.as_deref(), "since").map(|text| text.parse::<u64>()) {
        None => 0,
        Some(Ok(since)) => since,
        Some(Err(_)) => return error(StatusCode::BAD_REQUEST, "since: expected a number"),
    };
    let only = asked(query.as_deref(), "stream");
    let work = move || {
        let known =
            shared.specs.all().into_iter().find(|own| *own.name == *name && sees(&shared, &rights, own));
        let spec = match (text.trim().is_empty(), known) {
            (true, Some(spec)) => spec,
            (true, None) => {
                return error(StatusCode::NOT_FOUND, "there is no specification of that name, and no text");
            }
            (false, _) => match Spec::read(&name, &text) {
                Ok(spec) => Arc::new(spec),
                Err(why) => {
                    let object = Object::new().field("error", "the specification cannot be used");
                    let object = object.raw("diagnostics", &diagnostics(&why)).end();
                    return json(StatusCode::UNPROCESSABLE_ENTITY, object);
                }
            },
        };
        let streams = shared.streams();
        let streams = streams.iter().filter(|stream| rights.may(Role::Read, &stream.name));
        let about = streams.filter(|stream| match &only {
            Some(name) => *stream.name == **name,
            None => spec.is_about(&stream.name),
        });
        let began = Instant::now();
        let mut all = Vec::new();
        for stream in about {
            let time = ENOUGH.saturating_sub(began.elapsed());
            let extent = Extent { since, told: TOLD, time, memory: shared.config.memory };
            match trial::run(&spec, stream, extent) {
                Ok(tried) => all.push(told(&stream.name, &tried)),
                Err(why) => {
                    return error(
                        StatusCode::INTERNAL_SERVER_ERROR,
                        &format!("the log cannot be read: {why}"),
                    );
                }
            }
        }
        let sources = &spec.specification.sources;
        let doubts = array(spec.doubts().iter().map(|doubt| written::warning(doubt, sources)));
        let object = Object::new().field("spec", &*spec.name).raw("streams", &array(all));
        json(StatusCode::OK, object.raw("diagnostics", &doubts).end())
    };
    in_turn(work, "the specification cannot be tried").await
}

fn told(stream: &str, tried: &Tried) -> String {
    let property = |own: &crate::judge::PropertyState| {
        let object = Object::new().field("property", own.name.as_str()).field("kind", own.kind);
        super::found::state(object, own, None).end()
    };
    let (left_out, last) = &tried.left_out;
    Object::new()
        .field("stream", stream)
        .field("from", tried.from)
        .field("to", tried.to)
        .field("whole", tried.whole)
        .field("positions", tried.positions)
        .maybe("left_out", (*left_out > 0).then_some(*left_out))
        .maybe("last_left_out", last.as_deref())
        .maybe("stopped", tried.stopped.as_deref())
        .raw("properties", &array(tried.properties.iter().map(property)))
        .raw("violations", &array(tried.violations.iter().cloned()))
        .end()
}

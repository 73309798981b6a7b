//! Specifications by request.

use super::answer::{Answer, error, json, of_kind};
use crate::names;
use crate::server::Shared;
use crate::specs::Spec;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{Request, StatusCode};
use std::sync::Arc;
use tracewise::findings::json::{self as written, Object, array};

/// Bytes of a specification.
const LONGEST: usize = 4 << 20;

/// `GET /v1/specs`.
pub async fn list(State(shared): State<Arc<Shared>>) -> Answer {
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
    json(StatusCode::OK, Object::new().raw("specs", &array(shared.specs.all().iter().map(one))).end())
}

/// `GET /v1/specs/NAME`.
pub async fn get(State(shared): State<Arc<Shared>>, Path(name): Path<String>) -> Answer {
    match shared.specs.all().iter().find(|spec| *spec.name == *name) {
        Some(spec) => of_kind(StatusCode::OK, "text/plain; charset=utf-8", spec.text.to_string()),
        None => error(StatusCode::NOT_FOUND, "there is no specification of that name"),
    }
}

/// The text of a request.
pub async fn text_of(shared: &Shared, request: Request<Body>) -> Result<String, Box<Answer>> {
    let body = axum::body::to_bytes(request.into_body(), LONGEST);
    let body = match tokio::time::timeout(shared.config.limits.patience, body).await {
        Ok(Ok(body)) => body,
        Ok(Err(_)) => {
            let why = format!("the body is not whole, or longer than {LONGEST} bytes");
            return Err(Box::new(error(StatusCode::PAYLOAD_TOO_LARGE, &why)));
        }
        Err(_) => return Err(Box::new(error(StatusCode::REQUEST_TIMEOUT, "the body did not arrive in time"))),
    };
    String::from_utf8(body.into())
        .map_err(|_| Box::new(error(StatusCode::BAD_REQUEST, "a specification is UTF-8 text, this is not")))
}

/// What is wrong with a text, as JSON objects.
pub fn diagnostics(why: &tracewise::Error) -> String {
    array(written::error(why))
}

/// `PUT /v1/specs/NAME`.
pub async fn put(State(shared): State<Arc<Shared>>, Path(name): Path<String>, request: Request<Body>) -> Answer {
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
                let object = Object::new().field("error", "the specification cannot be used; nothing was changed");
                return json(StatusCode::UNPROCESSABLE_ENTITY, object.raw("diagnostics", &diagnostics(&why)).end());
            }
        };
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
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|_| error(StatusCode::INTERNAL_SERVER_ERROR, "the specification cannot be used"))
}

/// `DELETE /v1/specs/NAME`.
pub async fn delete(State(shared): State<Arc<Shared>>, Path(name): Path<String>) -> Answer {
    if let Err(why) = names::check("specification", &name) {
        return error(StatusCode::BAD_REQUEST, &why);
    }
    let work = move || match shared.specs.remove(&name).and_then(|there| shared.apply().map(|()| there)) {
        Ok(true) => json(StatusCode::OK, Object::new().field("removed", name).end()),
        Ok(false) => error(StatusCode::NOT_FOUND, "there is no specification of that name"),
        Err(why) => error(StatusCode::SERVICE_UNAVAILABLE, &format!("the specification cannot be removed: {why}")),
    };
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|_| error(StatusCode::INTERNAL_SERVER_ERROR, "the specification cannot be removed"))
}

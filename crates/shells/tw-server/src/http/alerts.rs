//! Silences, and how webhooks are doing.

use super::access::forbidden;
use super::answer::{Answer, error, json, later};
use super::specs::text_of;
use crate::server::Shared;
use crate::tokens::{Rights, Role};
use crate::webhooks::{Matcher, Silence, now};
use axum::Router;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{Request, StatusCode};
use axum::routing::get;
use serde_json::Value;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use tracewise::TimeUnit;
use tracewise::findings::json::{Object, array};

/// Matchers of a silence, and characters of its comment.
const MOST: (usize, usize) = (20, 1000);

/// All paths.
pub fn router() -> Router<Arc<Shared>> {
    Router::new()
        .route("/v1/silences", get(list).post(add))
        .route("/v1/silences/{id}", axum::routing::delete(remove))
        .route("/v1/webhooks", get(webhooks))
}

/// Whether rights reach all that a silence is about.
fn covers(rights: &Rights, role: Role, matchers: &[Matcher]) -> bool {
    // Each has to take a violation: one that names streams within reach is enough.
    let within = |own: &Matcher| {
        own.streams().is_some_and(|streams| rights.covers(role, Some(&[streams.to_string()])))
    };
    matchers.iter().any(within) || rights.covers(role, None)
}

/// `GET /v1/silences`.
async fn list(State(shared): State<Arc<Shared>>, rights: Rights) -> Answer {
    let all = shared.silences.all();
    let seen = |own: &&Silence| {
        covers(&rights, Role::Read, &own.matchers) || covers(&rights, Role::Administer, &own.matchers)
    };
    let all = all.iter().filter(seen).map(|own| own.json().to_string());
    json(StatusCode::OK, Object::new().raw("silences", &array(all)).end())
}

/// What a request asks for.
fn silence(text: &str, by: Option<String>) -> Result<Silence, String> {
    let asked: Value = serde_json::from_str(text).map_err(|error| format!("the body is no JSON: {error}"))?;
    let asked = asked.as_object().ok_or("expected an object")?;
    let known = ["match", "from", "until", "duration", "comment"];
    if let Some(other) = asked.keys().find(|key| !known.contains(&key.as_str())) {
        return Err(format!("found `{other}`, expected one of {}", known.join(", ")));
    }
    let texts = asked.get("match").and_then(Value::as_array).ok_or("match: expected a list of texts")?;
    if texts.is_empty() || texts.len() > MOST.0 {
        return Err(format!("match: found {}, expected 1 to {} texts", texts.len(), MOST.0));
    }
    let matcher = |text: &Value| Matcher::parse(text.as_str().ok_or("match: expected texts")?);
    let matchers = texts.iter().map(matcher).collect::<Result<_, String>>()?;
    let time = |name: &str| match asked.get(name) {
        None => Ok(None),
        Some(value) => match value.as_f64().filter(|seconds| (0.0..1e11).contains(seconds)) {
            Some(seconds) => Ok(Some((seconds * 1e3) as u64)),
            None => Err(format!("{name}: expected seconds since 1970")),
        },
    };
    let from = time("from")?.unwrap_or_else(now);
    let until = match (time("until")?, asked.get("duration")) {
        (Some(until), None) => until,
        (None, Some(duration)) => from.saturating_add(length(duration)?),
        _ => return Err("expected either `until` or `duration`".into()),
    };
    if until <= from.max(now()) {
        return Err("until: it is over before it begins".into());
    }
    let comment = asked.get("comment").and_then(Value::as_str).unwrap_or_default();
    let mut bits = [0; 8];
    ring::rand::SecureRandom::fill(&ring::rand::SystemRandom::new(), &mut bits)
        .map_err(|_| "the system has no random numbers")?;
    let id = bits.iter().map(|byte| format!("{byte:02x}")).collect();
    let comment = comment.chars().take(MOST.1).collect();
    Ok(Silence { id, matchers, from, until, comment, by })
}

/// Milliseconds of a time such as `"2h"`.
fn length(value: &Value) -> Result<u64, String> {
    let text = value.as_str().unwrap_or_default();
    let split = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let nanos = TimeUnit::parse(&text[split..]).and_then(|unit| unit.parse_number(text[..split].trim()).ok());
    let millis = nanos.and_then(|nanos| u64::try_from(nanos).ok()).map(|nanos| nanos / 1_000_000);
    millis.filter(|millis| *millis > 0).ok_or_else(|| "duration: expected a time such as \"2h\"".to_string())
}

/// `POST /v1/silences`.
async fn add(State(shared): State<Arc<Shared>>, rights: Rights, request: Request<Body>) -> Answer {
    let text = match text_of(&shared, request).await {
        Ok(text) => text,
        Err(answer) => return *answer,
    };
    let silence = match silence(&text, rights.name().map(|name| name.to_string())) {
        Ok(silence) => silence,
        Err(why) => return error(StatusCode::BAD_REQUEST, &why),
    };
    if !covers(&rights, Role::Administer, &silence.matchers) {
        return forbidden(Role::Administer);
    }
    let told = silence.json().to_string();
    let keep = move || shared.silences.add(silence, now());
    match tokio::task::spawn_blocking(keep).await {
        Ok(Ok(())) => json(StatusCode::CREATED, told),
        Ok(Err(why)) => later(StatusCode::SERVICE_UNAVAILABLE, &format!("the silence cannot be kept: {why}")),
        Err(_) => error(StatusCode::INTERNAL_SERVER_ERROR, "the silence cannot be kept"),
    }
}

/// `DELETE /v1/silences/ID`.
async fn remove(State(shared): State<Arc<Shared>>, rights: Rights, Path(id): Path<String>) -> Answer {
    let none = || error(StatusCode::NOT_FOUND, "there is no silence of that id");
    match shared.silences.all().iter().find(|own| own.id == id) {
        None => return none(),
        Some(own) if !covers(&rights, Role::Administer, &own.matchers) => return forbidden(Role::Administer),
        Some(_) => {}
    }
    let told = Object::new().field("removed", id.as_str()).end();
    match tokio::task::spawn_blocking(move || shared.silences.remove(&id)).await {
        Ok(Ok(true)) => json(StatusCode::OK, told),
        Ok(Ok(false)) => none(),
        Ok(Err(why)) => {
            later(StatusCode::SERVICE_UNAVAILABLE, &format!("the silence cannot be removed: {why}"))
        }
        Err(_) => error(StatusCode::INTERNAL_SERVER_ERROR, "the silence cannot be removed"),
    }
}

/// `GET /v1/webhooks`.
async fn webhooks(State(shared): State<Arc<Shared>>) -> Answer {
    let one = |(name, place, status): &crate::server::Hook| {
        let failing = status.failing.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut object = Object::new().field("webhook", name.as_str()).field("to", place.as_str());
        for (name, figure) in [
            ("taken", &status.taken),
            ("failed", &status.failed),
            ("waiting", &status.waiting),
            ("silenced", &status.silenced),
            ("missed", &status.missed),
        ] {
            object = object.field(name, figure.load(Ordering::Relaxed));
        }
        object.field("failing", failing).end()
    };
    json(StatusCode::OK, Object::new().raw("webhooks", &array(shared.hooks().iter().map(one))).end())
}

#[cfg(test)]
mod tests {
    use super::silence;
    use crate::webhooks::now;

    #[test]
    fn a_silence_says_what_and_how_long() {
        let own =
            silence(r#"{"match": ["stream=web"], "duration": "2h", "comment": "x"}"#, None).expect("one");
        assert_eq!((own.until - own.from, own.id.len()), (7_200_000, 16));
        assert!(own.from.abs_diff(now()) < 10_000);
        for (text, expected) in [
            ("[]", "an object"),
            ("{", "no JSON"),
            (r#"{"match": [], "duration": "2h"}"#, "1 to 20"),
            (r#"{"match": ["stream=web"]}"#, "either `until`"),
            (r#"{"match": ["stream=web"], "duration": "soon"}"#, "duration: expected"),
            (r#"{"match": ["stream=web"], "until": 5}"#, "over before it begins"),
            (r#"{"match": ["stream=web"], "until": -1}"#, "until: expected"),
            (r#"{"match": ["x=web"], "duration": "2h"}"#, "found `x=web`"),
            (r#"{"matches": []}"#, "found `matches`"),
        ] {
            let why = silence(text, None).expect_err(text);
            assert!(why.contains(expected), "{text}: {why}");
        }
    }
}

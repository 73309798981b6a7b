//! What a request needs to be let in: a table of all paths. One that is not in it takes the right to everything.

use super::answer::{Answer, asked, error, later};
use crate::limits::{Buckets, neighbourhood};
use crate::server::Shared;
use crate::tokens::{Rights, Role, Tokens, Wrong};
use axum::extract::{FromRequestParts, MatchedPath, Request};
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method, StatusCode, header};
use futures_util::TryStreamExt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

/// What a path needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Need {
    /// Nothing: it tells nothing of what is kept.
    Nothing,
    /// A token.
    Token,
    /// The role for some stream: the answer leaves the others out, or the handler looks closer.
    Some(Role),
    /// The role for the stream that the path names.
    InPath(Role),
    /// The role for the stream that the query names.
    InQuery(Role),
    /// The right to administer everything.
    Everything,
}

use Need::{InPath, InQuery, Nothing, Token};
use Role::{Administer, Read, Write};

/// Methods and paths as the router has them.
const NEEDS: &[(&str, &str, Need)] = &[
    ("GET", "/", Nothing),
    ("GET", "/page/{name}", Nothing),
    ("GET", "/healthz", Nothing),
    ("GET", "/readyz", Nothing),
    ("GET", "/openapi.json", Nothing),
    ("GET", "/metrics", Need::Some(Read)),
    ("GET", "/v1/streams", Need::Some(Read)),
    ("GET", "/v1/streams/{name}/events", InPath(Read)),
    ("POST", "/v1/streams/{name}/events", InPath(Write)),
    ("POST", "/v1/streams/{name}/events/flow", InPath(Write)),
    ("GET", "/v1/streams/{name}/events/ws", InPath(Write)),
    ("POST", "/v1/streams/{name}/otlp/v1/traces", InPath(Write)),
    ("POST", "/v1/streams/{name}/otlp/v1/logs", InPath(Write)),
    ("POST", "/v1/traces", Need::Some(Write)),
    ("POST", "/v1/logs", Need::Some(Write)),
    ("POST", "/opentelemetry.proto.collector.trace.v1.TraceService/Export", Need::Some(Write)),
    ("POST", "/opentelemetry.proto.collector.logs.v1.LogsService/Export", Need::Some(Write)),
    ("GET", "/v1/violations", Need::Some(Read)),
    ("GET", "/v1/properties", Need::Some(Read)),
    ("GET", "/v1/feed", Need::Some(Read)),
    ("GET", "/v1/feed/ws", Need::Some(Read)),
    ("GET", "/v1/specs", Token),
    ("GET", "/v1/specs/{name}", Token),
    ("PUT", "/v1/specs/{name}", Need::Some(Administer)),
    ("DELETE", "/v1/specs/{name}", Need::Some(Administer)),
    ("POST", "/v1/specs/{name}/try", Need::Some(Read)),
    ("GET", "/v1/silences", Need::Some(Read)),
    ("POST", "/v1/silences", Need::Some(Administer)),
    ("DELETE", "/v1/silences/{id}", Need::Some(Administer)),
    ("GET", "/v1/webhooks", Need::Everything),
    ("GET", "/v1/sources", Need::Everything),
    ("GET", "/v1/plan", Need::Everything),
    ("GET", "/v1/history", Need::Some(Read)),
    ("GET", "/v1/explanation", InQuery(Read)),
    ("GET", "/v1/robustness", InQuery(Read)),
    ("GET", "/v1/classes", InQuery(Read)),
    ("GET", "/v1/model", InQuery(Read)),
    ("GET", "/v1/words", InQuery(Read)),
    ("POST", "/v1/check", Token),
];

/// Where a request comes from.
#[derive(Clone, Copy, Debug)]
pub struct Peer(pub SocketAddr);

/// Whom rates are counted for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Client {
    /// Who has this token.
    Token(Arc<str>),
    /// Who comes from there.
    Address(IpAddr),
}

/// What decides who is let in.
#[derive(Debug)]
pub struct Gatekeeper {
    /// The tokens, if any are asked for.
    pub tokens: Option<Tokens>,
    guesses: Buckets<IpAddr>,
    wrong: Wrong,
    requests: Option<Buckets<Client>>,
    rate: Option<Arc<Buckets<Client>>>,
}

impl Gatekeeper {
    /// With these limits.
    pub fn new(tokens: Option<Tokens>, limits: &crate::ClientLimits) -> Self {
        let second = |count: u64| Buckets::new(count as f64, count as f64);
        let guesses = limits.guesses as f64;
        Self {
            tokens,
            guesses: Buckets::new(guesses / 60.0, guesses),
            wrong: Wrong::default(),
            requests: limits.requests.map(second),
            rate: limits.rate.map(second).map(Arc::new),
        }
    }

    /// Lets a request in, or says why not. What it may do goes with it.
    pub fn admit(&self, request: Request) -> Result<Request, Box<Answer>> {
        let path = request.extensions().get::<MatchedPath>().map(|path| path.as_str().to_string());
        let need = need(request.method(), path.as_deref());
        if need == Nothing {
            return Ok(request);
        }
        let peer =
            request.extensions().get::<Peer>().map_or(Ipv4Addr::UNSPECIFIED.into(), |peer| peer.0.ip());
        let address = neighbourhood(peer);
        let rights = self.rights(&request, address)?;
        allowed(need, &request, path.as_deref(), &rights)?;
        let client = rights.name().map_or(Client::Address(address), |name| Client::Token(name.clone()));
        if let Some(requests) = &self.requests {
            if let Some(wait) = requests.wait(&client) {
                return Err(wait_for(wait, "too many requests"));
            }
            requests.take(&client, 1.0);
        }
        let mut request = request;
        if let Some(rate) = &self.rate {
            if let Some(wait) = rate.wait(&client).filter(|wait| *wait > Duration::from_secs(1)) {
                return Err(wait_for(wait, "too many bytes"));
            }
            request = slowed(request, rate.clone(), client);
        }
        request.extensions_mut().insert(rights);
        Ok(request)
    }

    /// What the request's token allows.
    fn rights(&self, request: &Request, address: IpAddr) -> Result<Rights, Box<Answer>> {
        let Some(tokens) = &self.tokens else { return Ok(Rights::All) };
        // Not even a good one is looked at: whether it is good is what somebody who guesses wants to know.
        if let Some(wait) = self.guesses.wait(&address) {
            return Err(wait_for(wait, "too many wrong tokens came from this address"));
        }
        let Some(given) = request.headers().get(header::AUTHORIZATION) else {
            return Err(stranger("expected the header `Authorization: Bearer TOKEN`"));
        };
        let token = given.to_str().ok().and_then(|given| given.split_once(' '));
        let token =
            token.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer")).map(|(_, token)| token.trim());
        match token.and_then(|token| tokens.holder(token)) {
            Some(holder) => Ok(Rights::Of(holder)),
            None => {
                // A browser, or a program, sends the same one with each of its requests.
                if token.is_none_or(|token| self.wrong.is_new(address, token)) {
                    self.guesses.take(&address, 1.0);
                }
                Err(stranger("the token is not known"))
            }
        }
    }
}

fn need(method: &Method, path: Option<&str>) -> Need {
    // What leads nowhere says so to everybody.
    let Some(path) = path else { return Nothing };
    // The router answers HEAD as GET, and other methods by itself.
    let method = if method == Method::HEAD { "GET" } else { method.as_str() };
    NEEDS
        .iter()
        .find(|(of, own, _)| (*of, *own) == (method, path))
        .map_or(Need::Everything, |(_, _, need)| *need)
}

fn allowed(need: Need, request: &Request, path: Option<&str>, rights: &Rights) -> Result<(), Box<Answer>> {
    if matches!(rights, Rights::All) {
        return Ok(());
    }
    let (role, stream) = match need {
        Nothing | Token => return Ok(()),
        Need::Some(role) if rights.some(role) => return Ok(()),
        Need::Some(role) => (role, None),
        Need::Everything if rights.covers(Administer, None) => return Ok(()),
        Need::Everything => (Administer, None),
        InPath(role) => (role, named(path.unwrap_or_default(), request.uri().path()).map(str::to_string)),
        InQuery(role) => (role, asked(request.uri().query(), "stream")),
    };
    match stream {
        Some(stream) if rights.may(role, &stream) => Ok(()),
        // No stream is named: there is nothing to be seen of one.
        None if matches!(need, InQuery(_)) && rights.some(role) => Ok(()),
        _ => Err(Box::new(forbidden(role))),
    }
}

/// What stands in a path where its pattern has `{name}`.
fn named<'p>(pattern: &str, path: &'p str) -> Option<&'p str> {
    let mut parts = pattern.split('/').zip(path.split('/'));
    let name = parts.find(|(pattern, _)| *pattern == "{name}").map(|(_, name)| name);
    // Nothing in a name has to be escaped: what is would be another name to who looks at the right than to who uses it.
    name.filter(|name| !name.contains('%'))
}

/// The token does not go so far.
pub fn forbidden(role: Role) -> Answer {
    error(StatusCode::FORBIDDEN, &format!("the token has not the right to {} this", role.name()))
}

fn stranger(why: &str) -> Box<Answer> {
    let mut answer = error(StatusCode::UNAUTHORIZED, why);
    answer.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    Box::new(answer)
}

fn wait_for(wait: Duration, why: &str) -> Box<Answer> {
    let seconds = wait.as_secs() + 1;
    let mut answer = later(StatusCode::TOO_MANY_REQUESTS, &format!("{why}: again in {seconds} s"));
    answer.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    Box::new(answer)
}

/// The same request, whose body comes no faster than the client may send.
fn slowed(request: Request, rate: Arc<Buckets<Client>>, client: Client) -> Request {
    request.map(|body| {
        axum::body::Body::from_stream(body.into_data_stream().and_then(move |piece| {
            rate.take(&client, piece.len() as f64);
            let wait = rate.wait(&client);
            async move {
                if let Some(wait) = wait {
                    tokio::time::sleep(wait).await;
                }
                Ok(piece)
            }
        }))
    })
}

impl<S: Sync> FromRequestParts<S> for Rights {
    type Rejection = Answer;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Answer> {
        // Whoever asks for rights stands behind the gate.
        parts.extensions.get::<Rights>().cloned().ok_or_else(|| forbidden(Administer))
    }
}

impl Shared {
    /// Whether a token is asked for.
    pub fn guarded(&self) -> bool {
        self.gatekeeper.tokens.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::{NEEDS, Need, named, need};
    use axum::http::Method;
    use serde_json::Value;
    use std::collections::BTreeSet;

    /// Methods and paths that the sources of this folder give to a router.
    fn routes() -> BTreeSet<(String, String)> {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let mut sources = Vec::new();
        let mut folders = vec![folder];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).expect("sources") {
                let path = entry.expect("an entry").path();
                if path.is_dir() { folders.push(path) } else { sources.push(path) }
            }
        }
        let mut routes = BTreeSet::new();
        for path in sources.iter().filter(|path| !path.ends_with("access.rs")) {
            let text = std::fs::read_to_string(path).expect("a source");
            let code = text.split("#[cfg(test)]").next().unwrap_or_default();
            for route in code.split(".route(").skip(1) {
                let route = route.split_once('"').expect("a path").1;
                let (path, handlers) = route.split_once('"').expect("a path");
                let handlers = handlers.split(".route(").next().unwrap_or_default();
                let handlers = handlers.split(['\n', ';']).take(4).collect::<String>();
                for method in ["get", "post", "put", "delete", "patch", "any"] {
                    let begins = |at: usize| {
                        let before = handlers[..at].chars().next_back();
                        before.is_none_or(|c| !c.is_alphanumeric() && c != '_')
                    };
                    let call = format!("{method}(");
                    if handlers.match_indices(&call).any(|(at, _)| begins(at)) {
                        routes.insert((method.to_uppercase(), path.to_string()));
                    }
                }
            }
        }
        routes
    }

    #[test]
    fn every_path_says_what_it_needs() {
        let known: BTreeSet<(String, String)> =
            NEEDS.iter().map(|(method, path, _)| (method.to_string(), path.to_string())).collect();
        assert_eq!(routes(), known);
        assert_eq!(need(&Method::GET, Some("/v1/new")), Need::Everything);
        assert_eq!(need(&Method::HEAD, Some("/v1/streams/{name}/events")), Need::InPath(super::Read));
    }

    /// The description has every path, and none that is not there.
    #[test]
    fn every_path_is_described() {
        let described: Value = serde_json::from_str(include_str!("openapi.json")).expect("JSON");
        let paths = described["paths"].as_object().expect("paths");
        let mut told = BTreeSet::new();
        for (path, methods) in paths {
            for (method, own) in methods.as_object().expect("methods") {
                told.insert((method.to_uppercase(), path.clone()));
                assert!(own["summary"].is_string() && own["responses"].is_object(), "{method} {path}");
                for name in path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')) {
                    let parameters = own["parameters"].as_array().expect("parameters");
                    let good = |own: &Value| own["in"] == "path" && own["name"] == name;
                    assert!(parameters.iter().any(good), "{method} {path}: {name}");
                }
            }
        }
        // Those of gRPC are described by its own files.
        let shown = |path: &str| !matches!(path, "/" | "/page/{name}") && !path.starts_with("/opentelemetry");
        let expected: BTreeSet<(String, String)> =
            routes().into_iter().filter(|(_, path)| shown(path)).collect();
        assert_eq!(told, expected);
    }

    #[test]
    fn the_stream_is_that_of_the_path() {
        assert_eq!(named("/v1/streams/{name}/events", "/v1/streams/web/events"), Some("web"));
        assert_eq!(named("/v1/streams", "/v1/streams"), None);
        assert_eq!(named("/v1/streams/{name}/events", "/v1/streams/%61/events"), None);
    }
}

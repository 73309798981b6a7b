//! What holds for every request and every answer: nothing is written on behalf of another site, and no answer is taken for what
//! it is not.

use super::answer::{Answer, error};
use crate::server::Shared;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// What the page may do: load its own files, ask its own server, show pictures that it was handed as data.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; \
                      font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Headers of every answer.
const HEADERS: [(HeaderName, &str); 5] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// Stands before and behind every path.
pub async fn guard(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Answer {
    // Where tokens are asked for, another site's page has none, whatever name it goes by.
    let rebound = if shared.guarded() { None } else { rebound(request.headers()) };
    let refused = rebound.or_else(|| foreign(request.method(), request.headers()));
    let mut answer = match refused {
        Some(why) => error(StatusCode::FORBIDDEN, &why),
        None => match shared.gatekeeper.admit(request) {
            Ok(request) => next.run(request).await,
            Err(answer) => {
                if answer.status() == StatusCode::TOO_MANY_REQUESTS {
                    shared.figures.turned_away.fetch_add(1, Ordering::Relaxed);
                }
                *answer
            }
        },
    };
    for (name, value) in HEADERS {
        answer.headers_mut().entry(name).or_insert(HeaderValue::from_static(value));
    }
    answer
}

/// The text of a header.
fn text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    headers.get(name).map(|value| value.to_str().unwrap_or("?"))
}

/// Why a request is not heard: it names this machine as only another site's page would, whose name was made to lead here. As
/// long as no token is needed, browsers must not take such a page for one of ours.
fn rebound(headers: &HeaderMap) -> Option<String> {
    let host = text(headers, &header::HOST)?;
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    // A name without a dot is one of this network's, which no other site can have.
    let own = bare.parse::<IpAddr>().is_ok() || !bare.contains('.') || bare.ends_with(".localhost");
    (!own).then(|| {
        format!("found the host `{host}`, expected an address, `localhost`, or a name without a dot")
    })
}

/// Why a request is not heard: a browser says that a page of another site sends it. Programs say nothing of the kind.
fn foreign(method: &Method, headers: &HeaderMap) -> Option<String> {
    // A handshake is a GET, but what follows is not.
    let reads = matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS);
    if reads && !headers.contains_key(header::UPGRADE) {
        return None;
    }
    // Who writes this header is a browser, and knows; older ones have the other alone.
    if let Some(site) = text(headers, &HeaderName::from_static("sec-fetch-site")) {
        let own = matches!(site, "same-origin" | "none");
        return (!own).then(|| {
            format!("found a request from another site (`Sec-Fetch-Site: {site}`), expected one from this page or a program")
        });
    }
    let origin = text(headers, &header::ORIGIN)?;
    let from = origin.split_once("://").map(|(_, host)| host);
    (from.is_none() || from != text(headers, &header::HOST))
        .then(|| format!("found a request from `{origin}`, expected one from this page or a program"))
}

#[cfg(test)]
mod tests {
    use super::{foreign, rebound};
    use axum::http::{HeaderMap, HeaderName, HeaderValue, Method};

    fn refused(method: Method, headers: &[(&'static str, &'static str)]) -> bool {
        let pair = |(name, value): &(&'static str, &'static str)| {
            (HeaderName::from_static(name), HeaderValue::from_static(value))
        };
        foreign(&method, &headers.iter().map(pair).collect::<HeaderMap>()).is_some()
    }

    #[test]
    fn other_sites_write_nothing() {
        let host = ("host", "127.0.0.1:7474");
        let (own, other) = (("origin", "http://127.0.0.1:7474"), ("origin", "http://evil.example"));
        assert!(!refused(Method::POST, &[host]), "a program");
        assert!(!refused(Method::PUT, &[host, own, ("sec-fetch-site", "same-origin")]));
        assert!(!refused(Method::GET, &[host, other]), "what is read is kept from others by browsers");
        for method in [Method::POST, Method::PUT, Method::DELETE] {
            assert!(refused(method.clone(), &[host, other]), "{method}");
            assert!(refused(method.clone(), &[host, ("origin", "null")]), "{method}");
            assert!(refused(method.clone(), &[host, ("sec-fetch-site", "cross-site")]), "{method}");
            assert!(refused(method.clone(), &[host, ("sec-fetch-site", "same-site"), own]), "{method}");
        }
        assert!(refused(Method::GET, &[host, other, ("upgrade", "websocket")]), "a feed over a WebSocket");
    }

    #[test]
    fn another_name_for_this_machine_is_none() {
        let of = |host: &'static str| {
            let pair = [(HeaderName::from_static("host"), HeaderValue::from_static(host))];
            rebound(&pair.into_iter().collect::<HeaderMap>()).is_some()
        };
        for own in [
            "127.0.0.1:7474",
            "127.0.0.1",
            "localhost:7474",
            "[::1]:7474",
            "[::1]",
            "tracewise.localhost",
            "x",
            "",
        ] {
            assert!(!of(own), "{own}");
        }
        for other in ["evil.example:7474", "evil.example", "127.0.0.1.evil.example", "localhost.evil.example"]
        {
            assert!(of(other), "{other}");
        }
        assert!(rebound(&HeaderMap::new()).is_none(), "a program that names none");
    }
}

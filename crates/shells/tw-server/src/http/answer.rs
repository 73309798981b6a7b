//! Answers: JSON, and errors that say what was found and what was expected.

use axum::body::Body;
use axum::http::{HeaderValue, Response, StatusCode, header};
use tracewise::findings::json::Object;

/// An answer.
pub type Answer = Response<Body>;

/// A body of a kind.
pub fn of_kind(status: StatusCode, kind: &'static str, body: impl Into<Body>) -> Answer {
    let mut answer = Response::new(body.into());
    *answer.status_mut() = status;
    answer.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    answer
}

/// A JSON text.
pub fn json(status: StatusCode, text: impl Into<Body>) -> Answer {
    of_kind(status, "application/json", text)
}

/// Why not.
pub fn error(status: StatusCode, why: &str) -> Answer {
    json(status, Object::new().field("error", why).end())
}

/// Why not now: again, in a second.
pub fn later(status: StatusCode, why: &str) -> Answer {
    let mut answer = error(status, why);
    answer.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    answer
}

/// A path that leads nowhere.
pub async fn nowhere() -> Answer {
    error(StatusCode::NOT_FOUND, "there is nothing here; /openapi.json says what there is")
}

/// The value of a name in a query: `a=b&c=d`, with `+` and `%XX`.
pub fn asked(query: Option<&str>, name: &str) -> Option<String> {
    let pairs = query?.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    pairs.filter(|(own, _)| *own == name).map(|(_, value)| unescaped(value)).next()
}

fn unescaped(text: &str) -> String {
    let bytes = text.as_bytes();
    let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while let Some(&byte) = bytes.get(at) {
        let digits = bytes.get(at + 1..at + 3).and_then(|digits| std::str::from_utf8(digits).ok());
        let escaped = digits.filter(|_| byte == b'%').and_then(|digits| u8::from_str_radix(digits, 16).ok());
        at += if escaped.is_some() { 3 } else { 1 };
        out.push(escaped.unwrap_or(if byte == b'+' { b' ' } else { byte }));
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::asked;

    #[test]
    fn queries_are_taken_apart() {
        let query = Some("stream=web&since=12&x=a%20b+c%2&empty");
        assert_eq!(asked(query, "stream").as_deref(), Some("web"));
        assert_eq!(asked(query, "x").as_deref(), Some("a b c%2"));
        assert_eq!(asked(query, "empty").as_deref(), Some(""));
        assert_eq!((asked(query, "s"), asked(None, "s")), (None, None));
    }
}

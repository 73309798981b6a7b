//! A request to who is to be told: where it goes, how it is signed, what came of it.

use crate::tls;
use axum::body::Body;
use axum::http::{Request, Uri, header};
use hyper_util::rt::TokioIo;
use std::io;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// Where requests go.
#[derive(Clone)]
pub struct Target {
    secure: bool,
    /// As in the header: with its port, if it has one.
    authority: String,
    host: String,
    port: u16,
    path: String,
}

/// What came of a request.
#[derive(Debug)]
pub enum Sent {
    /// It was taken.
    Taken,
    /// It was answered otherwise, perhaps with the seconds after which it may come again.
    Refused(u16, Option<u64>),
    /// Nobody answered, for this reason.
    Unheard(String),
}

impl Target {
    /// An address that begins with `http://` or `https://`.
    pub fn parse(url: &str) -> Result<Self, String> {
        // The address is not repeated: those of some services are secrets.
        let wrong =
            || Err("url: expected `http://HOST…` or `https://HOST…`, without a user and a password".into());
        let Ok(uri) = url.parse::<Uri>() else { return wrong() };
        let secure = match uri.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            _ => return wrong(),
        };
        let Some(authority) = uri.authority().filter(|own| !own.as_str().contains('@')) else {
            return wrong();
        };
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        Ok(Self {
            secure,
            authority: authority.to_string(),
            host: authority.host().to_string(),
            port: authority.port_u16().unwrap_or(if secure { 443 } else { 80 }),
            path: path.to_string(),
        })
    }

    /// Where that is, without what may be secret.
    pub fn place(&self) -> String {
        format!("{}://{}", if self.secure { "https" } else { "http" }, self.authority)
    }

    /// Sends a text, and waits until that was answered.
    pub async fn send(
        &self,
        headers: &[(&'static str, String)],
        text: String,
        secured: Option<&TlsConnector>,
        time: Duration,
    ) -> Sent {
        match tokio::time::timeout(time, self.try_send(headers, text, secured)).await {
            Ok(Ok(sent)) => sent,
            Ok(Err(why)) => Sent::Unheard(why.to_string()),
            Err(_) => Sent::Unheard(format!("no answer within {} s", time.as_secs_f64())),
        }
    }

    async fn try_send(
        &self,
        headers: &[(&'static str, String)],
        text: String,
        secured: Option<&TlsConnector>,
    ) -> io::Result<Sent> {
        let host = self.host.trim_start_matches('[').trim_end_matches(']');
        let stream = TcpStream::connect((host, self.port)).await?;
        let _ = stream.set_nodelay(true);
        let mut request = Request::post(&self.path)
            .header(header::HOST, &self.authority)
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::USER_AGENT, "tracewise")
            .header(header::CONNECTION, "close");
        for (name, value) in headers {
            request = request.header(*name, value);
        }
        let request = request.body(Body::from(text)).map_err(io::Error::other)?;
        match secured.filter(|_| self.secure) {
            None if self.secure => Err(io::ErrorKind::Unsupported.into()),
            None => exchange(stream, request).await,
            Some(secured) => {
                exchange(secured.connect(tls::server_name(&self.host)?, stream).await?, request).await
            }
        }
    }
}

async fn exchange<S>(stream: S, request: Request<Body>) -> io::Result<Sent>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(io::Error::other)?;
    let connection = tokio::spawn(connection);
    let answer = sender.send_request(request).await.map_err(io::Error::other);
    // What the answer says beyond its head is not read.
    connection.abort();
    let answer = answer?;
    if answer.status().is_success() {
        return Ok(Sent::Taken);
    }
    let later = answer.headers().get(header::RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
    Ok(Sent::Refused(answer.status().as_u16(), later))
}

/// `t=SECONDS,v1=HEX`: HMAC-SHA-256 over `SECONDS.TEXT`.
pub fn signature(secret: &str, seconds: u64, text: &str) -> String {
    let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, secret.as_bytes());
    let tag = ring::hmac::sign(&key, format!("{seconds}.{text}").as_bytes());
    let hex: String = tag.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("t={seconds},v1={hex}")
}

#[cfg(test)]
mod tests {
    use super::{Target, signature};

    #[test]
    fn addresses_are_taken_apart() {
        let own = Target::parse("https://hooks.example:8443/a/b?c=d").expect("an address");
        assert_eq!((own.port, &*own.host, &*own.path), (8443, "hooks.example", "/a/b?c=d"));
        assert_eq!(own.place(), "https://hooks.example:8443");
        let own = Target::parse("http://[::1]").expect("an address");
        assert_eq!((own.port, &*own.host, &*own.path), (80, "[::1]", "/"));
        for bad in ["", "/path", "ftp://x/", "http://", "http://user:word@x/", "x y"] {
            assert!(Target::parse(bad).is_err(), "{bad}");
        }
    }

    /// As `openssl dgst -sha256 -hmac key` has it.
    #[test]
    fn signatures_are_those_of_others() {
        assert_eq!(signature("key", 1, "text"), EXPECTED);
    }

    const EXPECTED: &str = "t=1,v1=177c3a92550a6cc2b8ad06a065bfcd9a7c3d190fed8c65313ef174673464b226";
}

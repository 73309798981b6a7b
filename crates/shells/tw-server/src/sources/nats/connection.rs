//! A connection to a NATS server: lines of text, and messages with their lengths.

use crate::sources::wire::{Address, PATIENCE, Wire};
use serde_json::{Value as Json, json};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Longest line of the protocol.
const LINE: usize = 64 << 10;
/// Bytes of a message; servers allow no more.
const LARGEST: usize = 64 << 20;
/// After how long a silence the server is asked whether it is there.
const SILENCE: Duration = Duration::from_secs(20);

/// A connection.
pub struct Connection {
    wire: Wire,
    /// What subjects for answers begin with.
    own: String,
    requests: u64,
    /// Came while an answer was waited for.
    waiting: VecDeque<Message>,
    /// When something was heard, and whether it was asked for since.
    heard: (Instant, bool),
    /// Bytes that a message may have.
    pub largest: usize,
}

/// A message.
#[derive(Debug, Default)]
pub struct Message {
    /// Where it was sent to.
    pub subject: String,
    /// Where an answer goes.
    pub reply: Option<String>,
    /// Its headers, as they came.
    pub headers: String,
    /// What the server says with it, if it is no one else's.
    pub status: Option<u16>,
    /// What it says.
    pub payload: Vec<u8>,
}

impl Message {
    /// A header.
    pub fn header(&self, name: &str) -> Option<&str> {
        let pairs = self.headers.lines().skip(1).filter_map(|line| line.split_once(':'));
        pairs.filter(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim()).next()
    }

    /// What the server says with it.
    pub fn said(&self) -> String {
        let line = self.headers.lines().next().unwrap_or_default();
        line.trim_start_matches("NATS/1.0").trim().to_string()
    }
}

impl Connection {
    /// Connects.
    pub fn connect(to: &Address) -> Result<Self, String> {
        static CONNECTIONS: AtomicU64 = AtomicU64::new(0);
        let mut wire = Wire::connect(&to.host)?;
        let line = wire.line(LINE)?;
        let info = line.strip_prefix(b"INFO ").and_then(|info| serde_json::from_slice::<Json>(info).ok());
        let Some(info) = info else { return Err(format!("{} is no NATS server", to.host)) };
        if info["tls_required"] == true {
            return Err(format!("{} wants TLS, which sources do not speak", to.host));
        }
        let mut hello = json!({
            "verbose": false, "pedantic": false, "lang": "tracewise", "version": env!("CARGO_PKG_VERSION"), "protocol": 1,
            "headers": true, "no_responders": true, "name": "tracewise",
        });
        match (&to.user, &to.password) {
            (Some(user), Some(password)) if !password.is_empty() => {
                hello["user"] = user.as_str().into();
                hello["pass"] = password.as_str().into();
            }
            (Some(token), _) => hello["auth_token"] = token.as_str().into(),
            _ => {}
        }
        let number = CONNECTIONS.fetch_add(1, Ordering::Relaxed);
        let now = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .map_or(0, |now| now.as_nanos());
        let own = format!("_INBOX.tracewise-{}-{now}-{number}", std::process::id());
        wire.send(format!("CONNECT {hello}\r\nSUB {own}.> 1\r\nPING\r\n").as_bytes())?;
        let largest = info["max_payload"].as_u64().map_or(1 << 20, |bytes| bytes as usize);
        let mut connection = Self {
            wire,
            own,
            requests: 0,
            waiting: VecDeque::new(),
            heard: (Instant::now(), false),
            largest,
        };
        // Who is not let in hears that in place of the answer.
        while connection.read()? != Read::Pong {}
        Ok(connection)
    }

    /// A subject that messages for us may be sent to.
    pub fn inbox(&self, name: &str) -> String {
        format!("{}.{name}", self.own)
    }

    /// Hears what is sent to a subject, too.
    pub fn subscribe(&mut self, subject: &str) -> Result<(), String> {
        self.requests += 1;
        self.wire.send(format!("SUB {subject} {}\r\n", self.requests + 1).as_bytes())
    }

    /// Whether something came and was not looked at yet.
    pub fn has_more(&self) -> bool {
        !self.waiting.is_empty() || self.wire.has_more()
    }

    /// Sends a message. Headers are lines, each with its end.
    pub fn publish(
        &mut self,
        subject: &str,
        reply: Option<&str>,
        headers: &str,
        payload: &[u8],
    ) -> Result<(), String> {
        let reply = reply.map_or(String::new(), |reply| format!("{reply} "));
        let head = match headers {
            "" => format!("PUB {subject} {reply}{}\r\n", payload.len()),
            _ => {
                let headers = format!("NATS/1.0\r\n{headers}\r\n");
                format!(
                    "HPUB {subject} {reply}{} {}\r\n{headers}",
                    headers.len(),
                    headers.len() + payload.len()
                )
            }
        };
        self.wire.send(&[head.as_bytes(), payload, b"\r\n"].concat())
    }

    /// Acknowledges messages.
    pub fn acknowledge(&mut self, replies: &[String]) -> Result<(), String> {
        let all: String = replies.iter().flat_map(|reply| ["PUB ", reply, " 4\r\n+ACK\r\n"]).collect();
        self.wire.send(all.as_bytes())
    }

    /// Sends a message and waits for its answer.
    pub fn request(&mut self, subject: &str, payload: &[u8]) -> Result<Message, String> {
        self.request_with(subject, "", payload)
    }

    /// The same with headers.
    pub fn request_with(&mut self, subject: &str, headers: &str, payload: &[u8]) -> Result<Message, String> {
        self.requests += 1;
        let reply = self.inbox(&self.requests.to_string());
        self.publish(subject, Some(&reply), headers, payload)?;
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            if !self.wire.wait(PATIENCE)? {
                break;
            }
            if let Read::Message(message) = self.read()? {
                if message.subject == reply {
                    return Ok(message);
                }
                self.waiting.push_back(message);
            }
        }
        Err("the NATS server does not answer".into())
    }

    /// The next message, if one comes in time.
    pub fn next(&mut self, patience: Duration) -> Result<Option<Message>, String> {
        if let Some(message) = self.waiting.pop_front() {
            return Ok(Some(message));
        }
        while self.wire.wait(patience)? {
            if let Read::Message(message) = self.read()? {
                return Ok(Some(message));
            }
        }
        match self.heard {
            (at, true) if at.elapsed() > SILENCE + PATIENCE => Err("the NATS server does not answer".into()),
            (at, false) if at.elapsed() > SILENCE => {
                self.heard.1 = true;
                self.wire.send(b"PING\r\n").map(|()| None)
            }
            _ => Ok(None),
        }
    }

    /// Reads one thing.
    fn read(&mut self) -> Result<Read, String> {
        let line = self.wire.line(LINE)?;
        self.heard = (Instant::now(), false);
        let line = String::from_utf8(line).map_err(|_| "found bytes that are no text, expected NATS")?;
        let (word, rest) = line.split_once([' ', '\t']).unwrap_or((&line, ""));
        match word.to_ascii_uppercase().as_str() {
            "PING" => self.wire.send(b"PONG\r\n").map(|()| Read::Other),
            "PONG" => Ok(Read::Pong),
            "-ERR" => Err(format!("the NATS server says {rest}")),
            "MSG" => self.message(rest, false),
            "HMSG" => self.message(rest, true),
            _ => Ok(Read::Other),
        }
    }

    /// `subject sid [reply] [bytes of headers] bytes`, and what follows.
    fn message(&mut self, head: &str, headers: bool) -> Result<Read, String> {
        let wrong = || format!("found the message `{head}`, expected one of NATS");
        let mut parts: Vec<&str> = head.split_ascii_whitespace().collect();
        let mut number = || parts.pop().and_then(|text| text.parse::<usize>().ok()).ok_or_else(wrong);
        let all = number()?;
        let own = if headers { number()? } else { 0 };
        if parts.len() < 2 || parts.len() > 3 || own > all || all > LARGEST {
            return Err(wrong());
        }
        let (subject, reply) = (parts[0].to_string(), parts.get(2).map(|reply| reply.to_string()));
        let mut payload = self.wire.bytes(all + 2)?;
        payload.truncate(all);
        let rest = payload.split_off(own);
        let headers = String::from_utf8_lossy(&payload).into_owned();
        let status = headers
            .lines()
            .next()
            .and_then(|line| line.strip_prefix("NATS/1.0")?.trim().get(..3)?.parse().ok());
        Ok(Read::Message(Message { subject, reply, headers, status, payload: rest }))
    }
}

/// What was read.
#[derive(Debug)]
enum Read {
    Message(Message),
    Pong,
    Other,
}

impl PartialEq for Read {
    fn eq(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}

//! How a server is set up.

pub mod file;
mod listening;

pub use listening::Listening;

use crate::cluster::ClusterConfig;
use crate::log::Limits;
use crate::sources::SourceConfig;
use crate::tls::Files;
use crate::webhooks;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// How a server is set up.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where it listens; port 0 takes one that is free.
    pub listen: String,
    /// Where everything is kept.
    pub data: PathBuf,
    /// The folder of specifications; `None` is one in the folder of data.
    pub specs: Option<PathBuf>,
    /// How the logs of streams are kept.
    pub log: Limits,
    /// How violations are kept.
    pub verdicts: Limits,
    /// What clients may do.
    pub limits: ClientLimits,
    /// Bytes that a specification may hold of a stream.
    pub memory: usize,
    /// How often the state of judging is kept.
    pub checkpoint: Duration,
    /// How late lines may come: time passes where none come, by so much later. `None`: it passes with lines alone.
    pub late: Option<Duration>,
    /// How often the folder of specifications is looked at.
    pub reload: Duration,
    /// Add an example specification and a generator of events.
    pub demo: bool,
    /// What listens beside HTTP.
    pub listening: Vec<Listening>,
    /// The stream of what OpenTelemetry exports; `{service}` in it stands for the name of the service.
    pub otlp: Arc<str>,
    /// The file of tokens; `None` lets in programs of this machine alone, and these to everything.
    pub tokens: Option<PathBuf>,
    /// With what connections are secured.
    pub tls: Files,
    /// Who is told of violations.
    pub webhooks: Vec<webhooks::Settings>,
    /// Times of the week in which some are not told.
    pub windows: Vec<webhooks::Window>,
    /// Brokers that events are read from.
    pub sources: Vec<SourceConfig>,
    /// The servers that share a stream, if this is one of them.
    pub cluster: Option<ClusterConfig>,
}

/// What clients may do.
#[derive(Clone, Copy, Debug)]
pub struct ClientLimits {
    /// Bytes of a body as it comes …
    pub body: usize,
    /// … and when it is no longer compressed.
    pub unpacked: usize,
    /// Bytes of a line.
    pub line: usize,
    /// Connections at once.
    pub connections: usize,
    /// Streams.
    pub streams: usize,
    /// How long a request may take to arrive.
    pub patience: Duration,
    /// How long a sender whose lines flow may be silent.
    pub idle: Duration,
    /// Lines that may wait to be judged, per stream.
    pub behind: u64,
    /// Connections of one address.
    pub address: usize,
    /// Bytes that large bodies and answers may hold together.
    pub bodies: usize,
    /// Requests of a client in a second.
    pub requests: Option<u64>,
    /// Bytes of a client's bodies in a second.
    pub rate: Option<u64>,
    /// Wrong tokens of an address in a minute.
    pub guesses: u64,
}

impl Default for ClientLimits {
    fn default() -> Self {
        Self {
            body: 64 << 20,
            unpacked: 256 << 20,
            line: 1 << 20,
            connections: 1024,
            streams: 256,
            patience: Duration::from_secs(30),
            idle: Duration::from_secs(600),
            behind: 10_000_000,
            address: 512,
            bodies: 1 << 30,
            requests: None,
            rate: None,
            guesses: 10,
        }
    }
}

impl Config {
    /// The defaults, for data in a folder.
    pub fn new(data: PathBuf) -> Self {
        Self {
            listen: "127.0.0.1:7474".into(),
            data,
            specs: None,
            log: Limits::default(),
            verdicts: Limits::default(),
            limits: ClientLimits::default(),
            memory: 256 << 20,
            checkpoint: Duration::from_secs(1),
            late: None,
            reload: Duration::from_millis(500),
            demo: false,
            listening: Vec::new(),
            otlp: "otlp".into(),
            tokens: None,
            tls: Files::default(),
            webhooks: Vec::new(),
            windows: Vec::new(),
            sources: Vec::new(),
            cluster: None,
        }
    }

    /// Without tokens, nobody but programs of this machine is let in.
    pub fn refuse_open(&self, address: SocketAddr) -> Result<(), String> {
        match address.ip().is_loopback() || self.tokens.is_some() {
            true => Ok(()),
            false => Err(format!(
                "{address} can be reached from other machines, and everybody could write and administer; listen on \
                 127.0.0.1, or give `--tokens FILE`"
            )),
        }
    }
}

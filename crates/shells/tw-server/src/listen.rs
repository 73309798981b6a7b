//! What brings lines without asking for an answer: sockets that programs write to, and syslog.
//!
//! A source is a task that hands whole lines to an [`Intake`](crate::intake::Intake), which is the stream's gate and log. It waits
//! where the stream has no room, so that a sender that can be held up is. Nothing tells such a sender that its lines are on
//! disk; a source that has to know (a broker, which wants an acknowledgement) asks with `durable` and waits for
//! [`Given::written`](crate::intake::Given::written).

mod framing;
mod lines;
mod socket;
mod syslog;

pub use lines::Lines;
pub use socket::Place;

use crate::config::Listening;
use crate::server::Shared;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How often something that may go wrong with every line is said.
const SAID: Duration = Duration::from_secs(10);

/// What a source takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Lines of a format, over TCP or a Unix socket.
    Lines(Arc<str>),
    /// syslog over UDP.
    Datagrams,
    /// syslog over TCP.
    Syslog,
}

/// A source that listens.
#[derive(Clone, Debug)]
pub struct Open {
    /// What it takes.
    pub kind: Kind,
    /// Where.
    pub at: At,
    /// The stream that it feeds.
    pub stream: Arc<str>,
}

/// Where a source listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum At {
    /// An address of the network.
    Address(SocketAddr),
    /// A file.
    Path(PathBuf),
}

impl std::fmt::Display for Open {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kind = match (&self.kind, &self.at) {
            (Kind::Lines(_), At::Address(_)) => "tcp",
            (Kind::Lines(_), At::Path(_)) => "unix",
            (Kind::Datagrams, _) => "syslog, udp",
            (Kind::Syslog, _) => "syslog, tcp",
        };
        match &self.at {
            At::Address(address) => write!(f, "{kind} {address}")?,
            At::Path(path) => write!(f, "{kind} {}", path.display())?,
        }
        write!(f, " feeds the stream {}", self.stream)
    }
}

/// What all connections of a source share.
pub struct Source {
    shared: Arc<Shared>,
    /// What it takes, where, for which stream.
    pub open: Open,
    /// Figures.
    pub figures: Figures,
    /// Bytes of lines that have not ended, of all connections.
    held: AtomicUsize,
    said: std::sync::Mutex<Option<Instant>>,
}

/// Figures of a source.
#[derive(Debug, Default)]
pub struct Figures {
    /// Connections that are open.
    pub connections: AtomicUsize,
    /// Lines, or messages, that came.
    pub arrived: AtomicU64,
    /// Those that were not taken: they cannot be read, are too long, or there was no room.
    pub lost: AtomicU64,
}

impl Source {
    fn new(shared: &Arc<Shared>, open: Open) -> Arc<Self> {
        let source = Arc::new(Self {
            shared: shared.clone(),
            open,
            figures: Figures::default(),
            held: AtomicUsize::new(0),
            said: std::sync::Mutex::default(),
        });
        shared.listening.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(source.clone());
        source
    }

    /// Counts what is lost, and says why, now and then.
    fn lose(&self, count: u64, why: &str) {
        self.figures.lost.fetch_add(count, Ordering::Relaxed);
        let mut said = self.said.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if said.is_none_or(|said| said.elapsed() >= SAID) {
            *said = Some(Instant::now());
            drop(said);
            let all = self.figures.lost.load(Ordering::Relaxed);
            self.shared.say(format!("{}: left out: {why} ({all} so far)", self.open));
        }
    }
}

/// Opens a source, which goes on by itself.
pub async fn open(shared: &Arc<Shared>, listening: &Listening) -> Result<Vec<Open>, String> {
    let opened = match listening {
        Listening::Lines { place, stream, format, .. } => {
            vec![lines::open(shared, place, stream, format).await?]
        }
        Listening::Syslog { address, udp, tcp, stream, .. } => {
            syslog::open(shared, address, (*udp, *tcp), stream).await?
        }
    };
    for open in &opened {
        shared.say(open.to_string());
    }
    Ok(opened)
}

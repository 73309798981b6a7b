//! The way in for lines, whatever brings them: requests, sockets, brokers. There is one gate and one log for each stream, and who
//! waits for the disk is told when it has the lines.

use crate::log::{Receipt, Refused};
use crate::server::{NoStream, Shared};
use crate::stream::{Failed, Stream, Taken};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use tracewise::trace::Arrived;

/// How long a source waits before it tries again what a stream has no room for.
const AGAIN: Duration = Duration::from_millis(5);
/// Pieces that may wait for the disk before the next is taken.
const WAITING: usize = 64;

/// What is asked of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct How {
    /// It is to be known when they are on disk.
    pub durable: bool,
    /// Bad lines are left out; else they refuse all.
    pub skip: bool,
}

/// Why lines were not taken.
#[derive(Debug)]
pub enum NotTaken {
    /// So many lines may wait to be judged, and more do.
    Behind(u64),
    /// Some cannot be read.
    Bad(Arrived),
    /// Nothing of them can be read.
    Unread(tracewise::Error),
    /// They cannot be kept now.
    Refused(Refused),
}

impl NotTaken {
    /// Whether the same lines may be taken later.
    pub fn passes(&self) -> bool {
        matches!(self, NotTaken::Behind(_) | NotTaken::Refused(Refused::Busy | Refused::Disk(_)))
    }
}

impl std::fmt::Display for NotTaken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            NotTaken::Behind(limit) => write!(f, "more than {limit} lines wait to be judged"),
            NotTaken::Bad(arrived) => f.write_str(&first_error(arrived, 0)),
            NotTaken::Unread(why) => f.write_str(&crate::words::error(why)),
            NotTaken::Refused(Refused::Busy) => f.write_str("too much waits to be written"),
            NotTaken::Refused(Refused::Closing) => f.write_str("the server is ending"),
            NotTaken::Refused(Refused::Disk(why)) => {
                write!(f, "the events cannot be written to disk: {why}")
            }
        }
    }
}

/// What is wrong with the first bad line, and where it stands after so many others.
pub fn first_error(arrived: &Arrived, before: u64) -> String {
    let Some(first) = arrived.errors.first() else { return "a line cannot be read".into() };
    match (first.line, first.column) {
        (Some(line), Some(column)) => format!("line {}, column {column}: {}", before + line, first.message),
        (Some(line), None) => format!("line {}: {}", before + line, first.message),
        _ => first.message.clone(),
    }
}

/// Lines that were taken.
#[derive(Debug)]
pub struct Given {
    /// What there was of them.
    pub arrived: Arrived,
    written: Option<oneshot::Receiver<Result<(), Refused>>>,
}

impl Given {
    /// Waits until they are on disk, if that is to be known.
    pub async fn written(self) -> Result<Arrived, Refused> {
        match self.written {
            None => Ok(self.arrived),
            Some(written) => match written.await {
                Ok(written) => written.map(|()| self.arrived),
                Err(_) => Err(Refused::Closing),
            },
        }
    }
}

/// A stream, for who brings lines to it. Copies share it.
#[derive(Clone)]
pub struct Intake {
    stream: Arc<Stream>,
    /// Lines that may wait to be judged.
    behind: u64,
}

impl Intake {
    /// To the stream of this name, which is made if it is not there.
    pub fn new(shared: &Shared, stream: &str) -> Result<Self, NoStream> {
        let stream = shared.stream(stream)?;
        Ok(Self { stream, behind: shared.config.limits.behind })
    }

    /// Why nothing is taken before more is judged, if that is so.
    pub fn behind(&self) -> Option<NotTaken> {
        (self.stream.behind() > self.behind).then_some(NotTaken::Behind(self.behind))
    }

    /// Takes whole lines, or says why not.
    pub fn offer(&self, lines: &[u8], how: How) -> Result<Given, NotTaken> {
        if let Some(why) = self.behind() {
            return Err(why);
        }
        let (mut receipt, mut written) = (None, None);
        if how.durable {
            let (sender, receiver) = oneshot::channel();
            // Who asked may be gone.
            receipt = Some(Box::new(move |written| drop(sender.send(written))) as Receipt);
            written = Some(receiver);
        }
        match self.stream.take(lines, how.skip, receipt) {
            Ok(Taken::Lines(arrived)) => Ok(Given { arrived, written }),
            Ok(Taken::Bad(arrived)) => Err(NotTaken::Bad(arrived)),
            Err(Failed::Unread(why)) => Err(NotTaken::Unread(why)),
            Err(Failed::Refused(why)) => Err(NotTaken::Refused(why)),
        }
    }

    /// Takes whole lines; where there is no room for them, it waits until there is, not longer than `patience`.
    pub async fn give(&self, lines: &[u8], how: How, patience: Duration) -> Result<Given, NotTaken> {
        let began = Instant::now();
        loop {
            match self.offer(lines, how) {
                Err(why) if why.passes() && began.elapsed() < patience => tokio::time::sleep(AGAIN).await,
                offered => return offered,
            }
        }
    }
}

/// Pieces of a flow of lines that are on their way to the disk, the first first.
#[derive(Default)]
pub struct OnTheWay(VecDeque<Given>);

impl OnTheWay {
    /// One more; waits for the first where there are many. Says how many positions are known to be on disk by that.
    pub async fn push(&mut self, given: Given) -> Result<u64, Refused> {
        self.0.push_back(given);
        match self.0.len() > WAITING {
            true => self.first().await,
            false => Ok(0),
        }
    }

    /// Waits for the first; says how many positions it has, none if there is none.
    pub async fn first(&mut self) -> Result<u64, Refused> {
        match self.0.pop_front() {
            None => Ok(0),
            Some(given) => given.written().await.map(|arrived| arrived.positions),
        }
    }

    /// Whether all have arrived.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

//! Sources: brokers that events are read from.
//!
//! ```text
//! a broker → its client ([`nats`], [`redis`], [`mqtt`], [`kafka`]): what has come, and how far that is → the stream's gate and log,
//!          with the position as a mark in the same record → on disk → acknowledged to the broker
//! ```
//!
//! One thread per source, one batch after the other. Where a broker counts its messages, the log is what says how far they were read:
//! whoever comes back, after whatever crash, asks for what follows the mark. The broker's own memory of us is told, and not trusted.
//! MQTT counts nothing: there a message is acknowledged once it is on disk, and comes again if that was not heard.
//!
//! A source that fails says so ([`Source::state`]), waits, and tries again; it never stops the server.

mod configured;
#[cfg(feature = "kafka")]
mod kafka;
mod mqtt;
pub mod nats;
mod redis;
pub mod wire;

pub use configured::{Kind, SourceConfig, configured};

use crate::log::{Receipt, Refused};
use crate::server::{NoStream, Shared};
use crate::stream::{Failed, Stream, Taken};
use crate::words;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Bytes of a batch, about: what a client has read when it stops to hand it over.
const BATCH: usize = 4 << 20;
/// How long after a failure a source tries again for the first time, and at most.
const AGAIN: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(10));
/// A source that worked for so long has not failed again, but anew.
const WORKED: Duration = Duration::from_secs(30);
/// How long a source waits before it asks again whether lines can be taken.
const FULL: Duration = Duration::from_millis(50);

/// Reads from a broker. Every call returns soon, with nothing if nothing comes.
trait Client: Send {
    /// Connects, and goes on behind a position: what is behind it in the broker comes next.
    fn connect(&mut self, after: Option<&str>, told: &dyn Fn(String)) -> Result<(), String>;
    /// What has come since.
    fn next(&mut self) -> Result<Batch, String>;
    /// All that came is on disk for good.
    fn kept(&mut self) -> Result<(), String>;
    /// The server ends: the broker is to have heard what it was told.
    fn end(&mut self) {}
}

/// What came from a broker.
#[derive(Debug, Default)]
struct Batch {
    /// Messages, each with an end of line.
    lines: Vec<u8>,
    /// How many there are.
    messages: u64,
    /// The position of the last, if the broker counts.
    position: Option<String>,
    /// Messages that are no lines, for the last of these reasons.
    unusable: (u64, Option<String>),
}

impl Batch {
    /// Adds a message.
    fn add(&mut self, message: &[u8]) {
        self.messages += 1;
        self.lines.extend_from_slice(message);
        if !message.is_empty() && message.last() != Some(&b'\n') {
            self.lines.push(b'\n');
        }
    }

    /// Counts a message that has no lines.
    fn leave_out(&mut self, why: String) {
        self.messages += 1;
        self.unusable = (self.unusable.0 + 1, Some(why));
    }
}

/// How a source does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// It is connected.
    pub connected: bool,
    /// Why it is not, if it failed.
    pub why: Option<String>,
    /// The position of the last message that is on disk.
    pub position: Option<String>,
    /// What was wrong with the last message that was left out.
    pub last_left_out: Option<String>,
}

/// A source at work.
pub struct Source {
    /// How it is set up.
    pub config: SourceConfig,
    state: Mutex<State>,
    /// Messages that are on disk, those that were left out included, since the server began.
    pub messages: AtomicU64,
    /// Lines and messages that cannot be read.
    pub left_out: AtomicU64,
    /// How often it had to connect again.
    pub failures: AtomicU64,
    /// Where it begins if the log does not say.
    begin: Option<String>,
    /// Asked to end before the server does.
    stop: AtomicBool,
}

impl Source {
    fn new(config: SourceConfig, begin: Option<String>) -> Self {
        let (messages, left_out, failures, state, stop) = Default::default();
        Self { config, state, messages, left_out, failures, begin, stop }
    }

    /// Asks it to end.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::SeqCst);
    }

    fn over(&self, shared: &Shared) -> bool {
        self.stop.load(Ordering::SeqCst) || shared.ending.load(Ordering::SeqCst)
    }

    /// How it does.
    pub fn state(&self) -> State {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn note(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn client(&self) -> Box<dyn Client> {
        match self.config.kind {
            Kind::Nats => Box::new(nats::Reader::new(&self.config)),
            Kind::Redis => Box::new(redis::Reader::new(&self.config)),
            Kind::Mqtt => Box::new(mqtt::Reader::new(&self.config)),
            #[cfg(feature = "kafka")]
            Kind::Kafka => Box::new(kafka::Reader::new(&self.config)),
        }
    }

    /// Reads until the server ends.
    fn run(&self, shared: &Shared) {
        let mut wait = AGAIN.0;
        let mut told = None;
        let mut client = self.client();
        while !self.over(shared) {
            let began = Instant::now();
            let Err(why) = self.session(shared, &mut *client, &mut told) else { return client.end() };
            self.failures.fetch_add(1, Ordering::Relaxed);
            self.note(|state| {
                state.connected = false;
                state.why = Some(why.clone());
            });
            if told.as_ref() != Some(&why) {
                shared.say(format!("source {}: {why}; trying again", self.config.name));
                told = Some(why);
            }
            if began.elapsed() > WORKED {
                wait = AGAIN.0;
            }
            let until = Instant::now() + wait;
            while Instant::now() < until && !self.over(shared) {
                std::thread::sleep(FULL.min(until.saturating_duration_since(Instant::now())));
            }
            wait = (wait * 2).min(AGAIN.1);
        }
    }

    /// Connects and reads until something fails, or the server ends.
    fn session(
        &self,
        shared: &Shared,
        client: &mut dyn Client,
        told: &mut Option<String>,
    ) -> Result<(), String> {
        let stream = self.stream(shared)?;
        let kept = stream.log.mark(&self.config.name).map(|mark| mark.to_string()).or(self.begin.clone());
        // Messages that could not be read are behind the mark until a good one follows.
        let after = self.state().position.or(kept);
        let say = |what| shared.say(format!("source {}: {what}", self.config.name));
        client.connect(after.as_deref(), &say)?;
        self.note(|state| {
            *state = State {
                connected: true,
                why: None,
                position: after,
                last_left_out: state.last_left_out.take(),
            };
        });
        if told.take().is_some() {
            say("connected again".into());
        }
        while !self.over(shared) {
            if stream.behind() > shared.config.limits.behind {
                std::thread::sleep(FULL);
                continue;
            }
            let mut batch = client.next()?;
            if batch.messages == 0 {
                continue;
            }
            if !self.keep(shared, &stream, &mut batch)? {
                return Ok(());
            }
            self.messages.fetch_add(batch.messages, Ordering::Relaxed);
            self.left_out.fetch_add(batch.unusable.0, Ordering::Relaxed);
            self.note(|state| {
                state.position = batch.position.or(state.position.take());
                state.last_left_out = batch.unusable.1.or(state.last_left_out.take());
            });
            client.kept()?;
        }
        Ok(())
    }

    fn stream(&self, shared: &Shared) -> Result<Arc<Stream>, String> {
        shared.stream(&self.config.into).map_err(|why| match why {
            NoStream::Name(why) => why,
            NoStream::TooMany(limit) => format!("there are {limit} streams already, the most there may be"),
            NoStream::Io(why) => format!("the stream cannot be opened: {why}"),
        })
    }

    /// Puts a batch on disk, however long that takes; false if the server ends before.
    fn keep(&self, shared: &Shared, stream: &Stream, batch: &mut Batch) -> Result<bool, String> {
        if batch.lines.is_empty() {
            return Ok(true);
        }
        let mut told = false;
        loop {
            let (sender, receiver) = std::sync::mpsc::channel();
            // Who waits may be gone.
            let receipt: Receipt = Box::new(move |written| drop(sender.send(written)));
            let mark = batch.position.as_deref().map(|at| (self.config.name.clone(), Arc::from(at)));
            let refused = match stream.take_marked(&batch.lines, true, mark, Some(receipt)) {
                Ok(Taken::Lines(arrived) | Taken::Bad(arrived)) => match receiver.recv() {
                    Ok(Ok(())) => {
                        batch.unusable.0 += arrived.bad.len() as u64;
                        let last = arrived.errors.last().map(|error| error.message.clone());
                        batch.unusable.1 = last.or(batch.unusable.1.take());
                        return Ok(true);
                    }
                    Ok(Err(why)) => why,
                    Err(_) => Refused::Closing,
                },
                Err(Failed::Refused(why)) => why,
                Err(Failed::Unread(why)) => {
                    return self.keep_readable(shared, stream, batch, words::error(&why));
                }
            };
            match refused {
                Refused::Closing => return Ok(false),
                Refused::Busy => {}
                Refused::Disk(why) => {
                    if !std::mem::replace(&mut told, true) {
                        shared.say(format!("source {}: waits for the disk: {why}", self.config.name));
                    }
                }
            }
            if self.over(shared) {
                return Ok(false);
            }
            std::thread::sleep(FULL);
        }
    }

    /// Puts the lines of a batch on disk that can be read at all: one that is no text, say, does not keep the others out.
    fn keep_readable(
        &self,
        shared: &Shared,
        stream: &Stream,
        batch: &mut Batch,
        why: String,
    ) -> Result<bool, String> {
        let readable =
            |line: &&[u8]| std::str::from_utf8(line).is_ok() && line.len() <= shared.config.limits.line;
        let lines = batch.lines.split_inclusive(|&byte| byte == b'\n');
        let (good, bad): (Vec<&[u8]>, Vec<&[u8]>) = lines.partition(readable);
        if bad.is_empty() {
            return Err(why);
        }
        batch.unusable = (batch.unusable.0 + bad.len() as u64, Some(why));
        batch.lines = good.concat();
        self.keep(shared, stream, batch)
    }
}

/// Begins to read from all that are configured; the threads end with the server.
pub fn start(shared: &Arc<Shared>) -> std::io::Result<Vec<JoinHandle<()>>> {
    shared.sources.iter().map(|source| read(source, shared)).collect()
}

fn read(source: &Arc<Source>, shared: &Arc<Shared>) -> std::io::Result<JoinHandle<()>> {
    let (source, shared) = (source.clone(), shared.clone());
    std::thread::Builder::new().name("source".into()).spawn(move || source.run(&shared))
}

/// Begins to read from one more, behind a position if the log of its stream has none.
pub fn begin(
    config: SourceConfig,
    position: Option<String>,
    shared: &Arc<Shared>,
) -> std::io::Result<(Arc<Source>, JoinHandle<()>)> {
    let source = Arc::new(Source::new(config, position));
    read(&source, shared).map(|thread| (source, thread))
}

/// Those that are configured.
pub fn all(configs: &[SourceConfig]) -> Vec<Arc<Source>> {
    configs.iter().map(|config| Arc::new(Source::new(config.clone(), None))).collect()
}

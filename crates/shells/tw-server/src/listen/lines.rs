//! Lines over TCP or a Unix socket, as `tracewise watch --listen` has them: several connections at a time, whole lines of all of
//! them join one stream in the order of their arrival.

use super::framing::{OpenLine, Whole};
use super::socket::{Client, Listener, Place};
use super::{Kind, Open, Source};
use crate::intake::{How, Intake, NotTaken};
use crate::server::{NoStream, Shared};
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::Semaphore;
use tracewise::{Reading, Session};

/// Bytes that are read at once.
const CHUNK: usize = 64 << 10;
/// How long a connection that cannot be accepted keeps others waiting.
const AGAIN: Duration = Duration::from_millis(50);
/// Nobody is told, so bad lines are left out and counted.
const HOW: How = How { durable: false, skip: true };

/// From lines of a format to lines of JSON.
#[derive(Clone, Debug)]
pub struct Lines {
    /// `None` for lines that are JSON.
    format: Option<String>,
    /// Columns that are texts, whatever they look like.
    texts: &'static [&'static str],
    longest: usize,
}

impl Lines {
    /// Of a format, whose records have to end with their lines.
    pub fn of(format: &str, texts: &'static [&'static str], longest: usize) -> Result<Self, String> {
        let known = ["jsonl", "syslog", "logfmt", "combined", "lines", "strace", "props", "events"];
        match known.contains(&format) {
            true => Ok(Self { format: (format != "jsonl").then(|| format.to_string()), texts, longest }),
            false => Err(format!("found the format `{format}`, expected one of {}", known.join(", "))),
        }
    }

    /// Whole lines as lines of JSON, and how many of them cannot be read.
    pub fn json(&self, lines: &[u8]) -> Result<Option<(Vec<u8>, u64)>, tracewise::Error> {
        let Some(format) = &self.format else { return Ok(None) };
        let reading = Reading {
            format: Some(format.clone()),
            threads: 1,
            skip_bad_lines: true,
            max_record: self.longest,
            any_order: true,
            ..Reading::default()
        };
        let lines = Session::new().reading(reading).json_lines_of_stream(lines.to_vec(), self.texts)?;
        Ok(Some((lines.bytes, lines.left_out)))
    }
}

/// Listens.
pub async fn open(shared: &Arc<Shared>, place: &Place, stream: &str, format: &str) -> Result<Open, String> {
    let lines = Lines::of(format, &[], shared.config.limits.line)?;
    let cannot = |error: io::Error| match place {
        Place::Tcp(address) => format!("cannot listen on {address}: {error}"),
        Place::Unix(path) => format!("cannot listen on {}: {error}", path.display()),
    };
    let (listener, at) = Listener::bind(place).await.map_err(cannot)?;
    let open = Open { kind: Kind::Lines(format.into()), at, stream: stream.into() };
    let source = Source::new(shared, open.clone());
    tokio::spawn(accept(source, listener, move |source, connection| {
        serve(source, lines.clone(), connection)
    }));
    Ok(open)
}

/// Serves connections as they come, so many at once.
pub(super) async fn accept<F: Future<Output = ()> + Send + 'static>(
    source: Arc<Source>,
    listener: Listener,
    serve: impl Fn(Arc<Source>, Client) -> F,
) {
    let limit = source.shared.config.limits.connections;
    let room = Arc::new(Semaphore::new(limit));
    loop {
        let mut client = match listener.accept().await {
            Ok(client) => client,
            Err(error) => {
                // Out of file descriptors, say: others are about to be closed.
                source.lose(0, &format!("a connection could not be accepted: {error}"));
                tokio::time::sleep(AGAIN).await;
                continue;
            }
        };
        let Ok(place) = room.clone().try_acquire_owned() else {
            let why = format!("{limit} connections are served at once, and all are taken");
            let told = format!("{{\"error\":\"{why}\"}}\n");
            // One that is gone, or does not read, need not be told.
            let _ = tokio::time::timeout(AGAIN, client.connection.write_all(told.as_bytes())).await;
            source.lose(0, &why);
            continue;
        };
        let served = serve(source.clone(), client);
        let source = source.clone();
        tokio::spawn(async move {
            source.figures.connections.fetch_add(1, Ordering::Relaxed);
            served.await;
            source.figures.connections.fetch_sub(1, Ordering::Relaxed);
            drop(place);
        });
    }
}

/// Reads a connection to its end.
async fn serve(source: Arc<Source>, lines: Lines, client: Client) {
    let mut connection = client.connection;
    let limits = source.shared.config.limits;
    let mut buffer = vec![0; CHUNK];
    let mut open = OpenLine::new(&source.held, limits.line, limits.connections);
    loop {
        let read = match tokio::time::timeout(limits.idle, connection.read(&mut buffer)).await {
            Ok(Ok(0)) => break,
            Ok(Ok(count)) => &buffer[..count],
            Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => continue,
            Ok(Err(_)) => break,
            Err(_) => {
                source.lose(0, "a connection was closed that had sent nothing for long");
                break;
            }
        };
        let mut whole = None;
        let given_up = open.take(read, |lines| whole = Some(lines));
        if let Some(whole) = whole {
            let given = give(&source, &lines, whole).await;
            if let Err(why) = given {
                let told = format!("{{\"error\":{}}}\n", serde_json::Value::from(why));
                // One that does not read need not be told.
                let _ = tokio::time::timeout(AGAIN, connection.write_all(told.as_bytes())).await;
                return;
            }
        }
        if let Some(why) = given_up {
            source.lose(1, &why);
        }
    }
    let rest = open.release();
    if !rest.is_empty() {
        source.lose(1, &format!("a connection ended inside a line of {} bytes", rest.len()));
    }
}

/// Hands lines over; the error is that nothing more will be taken.
async fn give(source: &Source, lines: &Lines, whole: Whole<'_>) -> Result<(), String> {
    let count = memchr::memchr_iter(b'\n', whole.bytes()).count() as u64;
    source.figures.arrived.fetch_add(count, Ordering::Relaxed);
    match lines.json(whole.bytes()) {
        Ok(None) => hand_over(source, whole.bytes(), Duration::MAX).await,
        Ok(Some((json, left_out))) => {
            if left_out > 0 {
                source.lose(left_out, "lines that cannot be read");
            }
            hand_over(source, &json, Duration::MAX).await
        }
        Err(why) => {
            source.lose(count, &crate::words::error(&why));
            Ok(())
        }
    }
}

/// Gives lines of JSON to the source's stream, and waits for room as long as `patience`. What is lost is counted; the error is
/// that nothing more will be taken.
pub(super) async fn hand_over(source: &Source, json: &[u8], patience: Duration) -> Result<(), String> {
    if json.is_empty() {
        return Ok(());
    }
    let count = memchr::memchr_iter(b'\n', json).count() as u64;
    let intake = match Intake::new(&source.shared, &source.open.stream) {
        Ok(intake) => intake,
        Err(NoStream::Name(why)) => return Err(why),
        Err(NoStream::TooMany(limit)) => {
            return Err(format!("there are {limit} streams already, the most there may be"));
        }
        Err(NoStream::Io(why)) => return Err(format!("the stream cannot be opened: {why}")),
    };
    match intake.give(json, HOW, patience).await {
        Ok(given) => {
            if !given.arrived.bad.is_empty() {
                let why = crate::intake::first_error(&given.arrived, 0);
                source.lose(given.arrived.bad.len() as u64, &why);
            }
            Ok(())
        }
        Err(NotTaken::Refused(crate::log::Refused::Closing)) => Err("the server is ending".into()),
        Err(why) => {
            source.lose(count, &why.to_string());
            Ok(())
        }
    }
}

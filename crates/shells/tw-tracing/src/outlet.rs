//! Records on their way out: one JSON object per line, to a writer or over a socket.
//!
//! A socket has a thread of its own and a queue of bounded length. When the queue is full the program waits: a trace
//! with holes would be no trace. When the connection breaks, that is said once and the rest is dropped.

use crate::Record;
use std::io::{self, BufWriter, Write};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::thread::JoinHandle;
use std::time::Instant;
use tracewise::Value;

/// Lines that may wait for a socket.
const QUEUE: usize = 16 << 10;

/// Where records go.
pub(crate) struct Outlet {
    started: Instant,
    line: Vec<u8>,
    to: To,
    failure: Option<String>,
}

enum To {
    Writer(Box<dyn Write + Send>),
    Thread(SyncSender<Vec<u8>>, JoinHandle<io::Result<()>>),
    Nowhere,
}

impl Outlet {
    /// Writes in the thread that logs.
    pub fn writer(to: Box<dyn Write + Send>, started: Instant) -> Self {
        Self { started, line: Vec::new(), to: To::Writer(to), failure: None }
    }

    /// Writes in a thread of its own.
    pub fn thread(to: Box<dyn Write + Send>, started: Instant) -> io::Result<Self> {
        let (sender, receiver) = sync_channel(QUEUE);
        let thread = std::thread::Builder::new().name("tracewise-send".into());
        let handle = thread.spawn(move || send(&receiver, to))?;
        Ok(Self { started, line: Vec::new(), to: To::Thread(sender, handle), failure: None })
    }

    /// Writes one record. The time is read here, where records are in order already.
    pub fn write(&mut self, record: &Record) {
        if matches!(self.to, To::Nowhere) {
            return;
        }
        self.line.clear();
        push_line(&mut self.line, record, self.started.elapsed());
        let done = match &mut self.to {
            To::Writer(writer) => writer.write_all(&self.line),
            To::Thread(sender, _) => {
                sender.send(self.line.clone()).map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))
            }
            To::Nowhere => Ok(()),
        };
        if let Err(error) = done {
            let failure = match std::mem::replace(&mut self.to, To::Nowhere) {
                // The thread has ended and knows why.
                To::Thread(_, handle) => joined(handle).err().unwrap_or(error),
                _ => error,
            };
            self.fail(&failure);
        }
    }

    fn fail(&mut self, error: &io::Error) {
        let failure = format!("events can no longer be sent: {error}");
        eprintln!("tracewise: {failure}");
        self.failure = Some(failure);
    }

    /// Writes what is left; what went wrong, if anything did.
    pub fn finish(mut self) -> Option<String> {
        let done = match std::mem::replace(&mut self.to, To::Nowhere) {
            To::Writer(mut writer) => writer.flush(),
            To::Thread(sender, handle) => {
                drop(sender);
                joined(handle)
            }
            To::Nowhere => Ok(()),
        };
        if let Err(error) = done {
            self.fail(&error);
        }
        self.failure
    }
}

fn joined(handle: JoinHandle<io::Result<()>>) -> io::Result<()> {
    handle.join().unwrap_or_else(|_| Err(io::Error::other("the thread that sends panicked")))
}

/// Sends lines until there are no more; flushed whenever the queue is empty, so that nothing waits for company.
fn send(lines: &Receiver<Vec<u8>>, to: Box<dyn Write + Send>) -> io::Result<()> {
    let mut to = BufWriter::with_capacity(64 << 10, to);
    loop {
        let line = match lines.try_recv() {
            Ok(line) => line,
            Err(TryRecvError::Disconnected) => return to.flush(),
            Err(TryRecvError::Empty) => {
                to.flush()?;
                match lines.recv() {
                    Ok(line) => line,
                    Err(_) => return to.flush(),
                }
            }
        };
        to.write_all(&line)?;
    }
}

fn push_line(line: &mut Vec<u8>, record: &Record, time: std::time::Duration) {
    // Writing to memory does not fail.
    let _ = write!(line, "{{\"time\":{}.{:09},\"event\":", time.as_secs(), time.subsec_nanos());
    push_text(line, &record.name);
    for (name, value) in &record.fields {
        // `time` and `event` are taken.
        let name = match *name {
            "time" => "time_",
            name => name,
        };
        push_key(line, name);
        push_value(line, value);
    }
    let level = record.metadata.level().as_str();
    let source = record.source();
    let context = [
        ("thread", Some(&*record.thread)),
        ("level", Some(level)),
        ("target", Some(record.metadata.target())),
        ("source", source.as_deref()),
    ];
    for (name, text) in context {
        if let Some(text) = text
            && !record.fields.iter().any(|(known, _)| *known == name)
        {
            push_key(line, name);
            push_text(line, text);
        }
    }
    line.extend_from_slice(b"}\n");
}

fn push_key(line: &mut Vec<u8>, name: &str) {
    line.push(b',');
    push_text(line, name);
    line.push(b':');
}

fn push_text(line: &mut Vec<u8>, text: &str) {
    let _ = serde_json::to_writer(line, text);
}

fn push_value(line: &mut Vec<u8>, value: &Value) {
    let _ = match value {
        Value::Bool(truth) => serde_json::to_writer(line, truth),
        Value::Int(number) => serde_json::to_writer(line, number),
        Value::Real(number) => serde_json::to_writer(line, number),
        Value::Null => serde_json::to_writer(line, &()),
        // A record holds no lists; should one come to, its text is better than nothing.
        other => serde_json::to_writer(line, &other.to_string()),
    };
}

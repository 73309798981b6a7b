//! Bytes that a program has itself, as the source of a watch.

use super::WatchSource;
use super::feed::{Message, other_stream};
use std::fmt;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use tw_trace::TraceErrorKind;

/// Pieces that may wait to be read.
const WAITING: usize = 16;

/// A source whose bytes come from a [`WatchSender`], to be watched once.
#[derive(Clone)]
pub struct Pushed {
    pub(crate) name: String,
    pieces: Arc<Mutex<Option<Receiver<Piece>>>>,
}

impl fmt::Debug for Pushed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pushed({:?})", self.name)
    }
}

impl PartialEq for Pushed {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.pieces, &other.pieces)
    }
}

impl Eq for Pushed {}

enum Piece {
    Bytes(Vec<u8>),
    Restart(String),
}

/// Hands bytes to a watch. Dropped, or at [`WatchSender::end`], the stream is over.
#[derive(Debug)]
pub struct WatchSender {
    pieces: SyncSender<Piece>,
}

/// The watch is over, and nobody takes bytes any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WatchOver;

impl fmt::Display for WatchOver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the watch is over")
    }
}

impl std::error::Error for WatchOver {}

/// A source that is called `name` in reports, and what its bytes are sent by. Its format is that of the session's
/// `ReadOptions`, or `jsonl`.
pub fn watch_channel(name: &str) -> (WatchSender, WatchSource) {
    let (pieces, inbox) = sync_channel(WAITING);
    let source = Pushed { name: name.into(), pieces: Arc::new(Mutex::new(Some(inbox))) };
    (WatchSender { pieces }, WatchSource::Push(source))
}

impl WatchSender {
    /// The next bytes, cut anywhere: a line is judged when its end has come. Waits while more come than can be judged.
    pub fn send(&self, bytes: impl Into<Vec<u8>>) -> Result<(), WatchOver> {
        self.pieces.send(Piece::Bytes(bytes.into())).map_err(|_| WatchOver)
    }

    /// What is sent next continues the stream as another file would: lines count from 1 again, a header may repeat. The
    /// note says so to people.
    pub fn restart(&self, note: &str) -> Result<(), WatchOver> {
        self.pieces.send(Piece::Restart(note.into())).map_err(|_| WatchOver)
    }

    /// The stream is over; its last line is read even if it lacks its end.
    pub fn end(self) {}
}

impl Pushed {
    /// The receiving end, for the first who asks.
    pub(super) fn take(&self) -> Option<Pieces> {
        let pieces = self.pieces.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        Some(Pieces { name: self.name.clone(), pieces })
    }
}

/// The receiving end.
pub(super) struct Pieces {
    name: String,
    pieces: Receiver<Piece>,
}

impl Pieces {
    /// Hands all on, after the bytes before `offset`, which another process has read and which end with `tail`.
    pub(super) fn forward(self, to: &SyncSender<Message>, offset: u64, tail: &[u8]) {
        let (mut left, mut before) = (offset, Vec::new());
        while let Ok(piece) = self.pieces.recv() {
            let message = match piece {
                Piece::Restart(note) => Message::Restarted(note),
                Piece::Bytes(mut bytes) => {
                    let known = left.min(bytes.len() as u64) as usize;
                    left -= known as u64;
                    before.extend(bytes.drain(..known));
                    before.drain(..before.len().saturating_sub(tail.len()));
                    match left {
                        0 if known > 0 && before != tail => Message::Fault(other_stream(&self.name, offset)),
                        _ if bytes.is_empty() => continue,
                        _ => Message::Bytes(bytes),
                    }
                }
            };
            let fault = matches!(&message, Message::Fault(error) if error.kind == TraceErrorKind::Usage);
            if to.send(message).is_err() || fault {
                return;
            }
        }
        let _ = match left {
            0 => to.send(Message::End),
            _ => to.send(Message::Fault(other_stream(&self.name, offset))),
        };
    }
}

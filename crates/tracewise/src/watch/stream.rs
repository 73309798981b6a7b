//! A live source, for who takes its positions but judges no verdicts.

use super::feed::{Feed, Message, Resume};
use super::{Control, WatchSource};
use crate::{Error, Session};
use std::time::{Duration, Instant};
use tw_trace::{Live, Receiver};

/// How a live source is called in reports, and the path that tells its format.
pub(crate) fn names(source: &WatchSource) -> (&str, &str) {
    match source {
        WatchSource::Stdin => ("<stdin>", "-"),
        WatchSource::File(path) | WatchSource::Follow(path) => (path.as_str(), path.as_str()),
        WatchSource::Listen(_) => ("<socket>", "-"),
        WatchSource::Push(pushed) => (pushed.name.as_str(), "-"),
    }
}

/// Takes positions, and hears of the rest.
pub(crate) trait Listener: Receiver {
    /// Something worth saying.
    fn note(&mut self, note: &str);
    /// Nothing more has come for now. False ends the reading.
    fn pause(&mut self) -> Result<bool, Self::Error>;
}

/// Reads a source into `live` until it ends, somebody asks, or the listener has enough. `every` is how long a pause may
/// last unnoticed.
pub(crate) fn read_on<L: Listener>(
    session: &Session,
    source: &WatchSource,
    live: &mut Live,
    listener: &mut L,
    control: &Control,
    every: Option<Duration>,
) -> Result<Result<(), L::Error>, Error> {
    let feed = Feed::open(source, Resume::default(), false, session.read.max_record, control)?;
    feed.notes.iter().for_each(|note| listener.note(note));
    Ok(follow(&feed, live, listener, control, every))
}

fn follow<L: Listener>(
    feed: &Feed,
    live: &mut Live,
    listener: &mut L,
    control: &Control,
    every: Option<Duration>,
) -> Result<(), L::Error> {
    while !control.stopped() {
        match feed.next(every.map(|every| Instant::now() + every)) {
            Some(Message::Bytes(bytes)) => {
                live.push(&bytes, false, listener)?;
                feed.recycle(bytes);
            }
            Some(Message::Restarted(note)) => {
                listener.note(&note);
                live.restart(listener)?;
            }
            Some(Message::Note(note)) => listener.note(&note),
            Some(Message::Fault(error)) => return Err(error.into()),
            Some(Message::End) => return live.push(b"", true, listener),
            Some(Message::Opened(_) | Message::Wake) | None => {}
        }
        if !listener.pause()? {
            return Ok(());
        }
    }
    Ok(())
}

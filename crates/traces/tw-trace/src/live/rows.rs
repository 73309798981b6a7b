//! A live trace row by row. A row source asks for bytes and blocks until it has them, so it has a thread of its own and
//! takes turns with the stream: it is given bytes, hands over the rows they complete, and says when it wants more.

use super::watermark::of_event;
use super::{Arrival, LinesOf, Progress, Receiver};
use crate::templates::Derivation;
use crate::{
    Input, Projection, ReadOptions, Row, SlotBuilder, TimeStyle, TraceError, TraceErrorKind, TraceFormat,
    Vocabulary,
};
use std::io::{self, Read};
use std::sync::mpsc::{Receiver as Inbox, Sender, SyncSender, channel, sync_channel};

/// Rows on their way from the thread.
const WAITING: usize = 1024;

/// The thread.
pub(super) struct RowThread {
    bytes: Option<Sender<Vec<u8>>>,
    replies: Inbox<Reply>,
    /// It said that it wants more.
    hungry: bool,
}

enum Reply {
    /// The source is open; whether its trace has events at all.
    Opened(bool),
    Row(Box<Row>),
    Hungry,
    Done(Result<(), TraceError>),
}

impl RowThread {
    pub fn spawn(
        name: &str,
        format: &'static dyn TraceFormat,
        options: &ReadOptions,
    ) -> Result<Self, TraceError> {
        let (bytes, inbox) = channel();
        let (outbox, replies) = sync_channel(WAITING);
        let pipe = Pipe { bytes: inbox, replies: outbox.clone(), current: io::Cursor::new(Vec::new()) };
        let input = Input::from_reader(name, Box::new(pipe))?;
        let options = options.clone();
        let work = move || {
            let mut opened = |has_events| drop(outbox.send(Reply::Opened(has_events)));
            let mut each = |row: &Row| Ok(outbox.send(Reply::Row(Box::new(row.clone()))).is_ok());
            let result = crate::scan::drive_rows(&input, format, &options, &mut opened, &mut each);
            // Nobody may be listening any more.
            let _ = outbox.send(Reply::Done(result));
        };
        let spawned = std::thread::Builder::new().name("rows".into()).spawn(work);
        spawned.map_err(|error| crate::input::describe(&error))?;
        Ok(Self { bytes: Some(bytes), replies, hungry: false })
    }
}

/// The bytes as the thread reads them.
struct Pipe {
    bytes: Inbox<Vec<u8>>,
    replies: SyncSender<Reply>,
    current: io::Cursor<Vec<u8>>,
}

impl Read for Pipe {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let count = self.current.read(buffer)?;
            if count > 0 || buffer.is_empty() {
                return Ok(count);
            }
            let more = self.replies.send(Reply::Hungry).ok().and_then(|()| self.bytes.recv().ok());
            match more {
                Some(bytes) => self.current = io::Cursor::new(bytes),
                None => return Ok(0),
            }
        }
    }
}

/// One turn.
pub(super) struct Job<'j> {
    pub projection: &'j Projection,
    pub derivation: Option<&'j Derivation>,
    pub seen: &'j mut Vocabulary,
    pub progress: &'j mut Progress,
    pub repeated: &'j mut u64,
    pub watermark: Option<&'j str>,
    pub style: &'j mut Option<TimeStyle>,
    pub name: &'j str,
}

impl Job<'_> {
    /// Gives the thread bytes, and the receiver the rows they complete.
    pub fn run<R: Receiver>(
        &mut self,
        thread: &mut RowThread,
        bytes: &[u8],
        last: bool,
        receiver: &mut R,
    ) -> Result<(), R::Error> {
        let (mut rows, mut outcome) = (Vec::new(), Ok(()));
        if !bytes.is_empty() {
            outcome = self.turn(thread, Some(bytes.to_vec()), &mut rows);
            self.progress.bytes += bytes.len() as u64;
        }
        if last && outcome.is_ok() {
            outcome = self.turn(thread, None, &mut rows);
        }
        self.deliver_between(&rows, receiver)?;
        outcome.map_err(|error| error.in_file(self.name).into())
    }

    /// Delivers rows, and tells of the watermarks among them.
    fn deliver_between<R: Receiver>(&mut self, rows: &[Row], receiver: &mut R) -> Result<(), R::Error> {
        let mut from = 0;
        if let Some(name) = self.watermark {
            for (index, row) in rows.iter().enumerate() {
                let Some(stamp) = of_event(row, name) else { continue };
                self.deliver(&rows[from..index], receiver)?;
                let stamp = stamp.map_err(|error| error.at(row.line, 1).in_file(self.name))?;
                receiver.watermark(stamp, row.line)?;
                from = index + 1;
            }
        }
        self.deliver(&rows[from..], receiver)
    }

    /// Collects what the thread makes of more bytes, or of the end of them.
    fn turn(
        &mut self,
        thread: &mut RowThread,
        mut bytes: Option<Vec<u8>>,
        rows: &mut Vec<Row>,
    ) -> Result<(), TraceError> {
        let last = bytes.is_none();
        if last {
            thread.bytes = None;
        }
        loop {
            if thread.hungry
                && let Some(sender) = &thread.bytes
            {
                match bytes.take() {
                    None => return Ok(()),
                    Some(bytes) => drop(sender.send(bytes)),
                }
                thread.hungry = false;
            }
            match thread.replies.recv() {
                Ok(Reply::Opened(has_events)) => self.seen.has_events |= has_events,
                Ok(Reply::Row(row)) => rows.push(*row),
                Ok(Reply::Hungry) => thread.hungry = true,
                Ok(Reply::Done(Err(error))) => return Err(error),
                Ok(Reply::Done(Ok(()))) if last => return Ok(()),
                Ok(Reply::Done(Ok(()))) | Err(_) => {
                    let message = "found more after the end of the trace, expected nothing";
                    return Err(TraceError::new(TraceErrorKind::Syntax, message));
                }
            }
        }
    }

    fn deliver<R: Receiver>(&mut self, rows: &[Row], receiver: &mut R) -> Result<(), R::Error> {
        let skip = (*self.repeated).min(rows.len() as u64) as usize;
        *self.repeated -= skip as u64;
        let mut builder = SlotBuilder::new(self.projection);
        let (mut bad, mut timed) = (None, false);
        for (index, row) in rows.iter().enumerate() {
            let mut scratch = (index < skip).then(|| SlotBuilder::new(self.projection));
            // What was read before is noted again, so that names are judged alike.
            if let Err(mut error) = scratch.as_mut().unwrap_or(&mut builder).push(row, self.seen) {
                error.line = error.line.or(Some(row.line));
                if let Some(derivation) = self.derivation {
                    error = derivation.error(error);
                }
                bad = Some(error.in_file(self.name));
                break;
            }
            timed |= row.time.is_some();
            *self.style = self.style.or(row.time.map(|stamp| stamp.style));
        }
        let len = builder.len();
        if len > 0 {
            let numbers: Vec<u64> = rows[skip..skip + len].iter().map(|row| row.line).collect();
            let before = *self.progress;
            let mut batch = builder.finish(timed);
            if let Some(derivation) = self.derivation {
                batch = derivation.derive(batch);
            }
            let mapped = match receiver.map(batch) {
                Ok(mapped) => mapped,
                Err((index, mut error)) => {
                    self.deliver(&rows[skip..skip + index], receiver)?;
                    error.line = error.line.or(numbers.get(index).copied());
                    return Err(error.in_file(self.name).into());
                }
            };
            self.progress.positions += len as u64;
            self.progress.lines = numbers.last().copied().unwrap_or_default();
            let (style, lines) = (*self.style, LinesOf::Numbers(&numbers));
            receiver.take(mapped, &Arrival { len, before, style, lines })?;
        }
        match bad {
            Some(error) => Err(error.into()),
            None => Ok(()),
        }
    }
}

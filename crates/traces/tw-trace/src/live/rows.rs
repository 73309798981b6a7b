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
    /// A line that cannot be read; the next can.
    Bad(TraceError),
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
            // Whoever receives the rows says whether to go on.
            let mut bad = |error| {
                let _ = outbox.send(Reply::Bad(error));
                Ok(())
            };
            let mut each = |row: &Row| Ok(outbox.send(Reply::Row(Box::new(row.clone()))).is_ok());
            let result = crate::scan::drive_rows(&input, format, &options, &mut opened, &mut bad, &mut each);
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

/// What the thread delivers, in the order of the lines.
enum Item {
    Row(Row),
    Bad(TraceError),
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
        let (mut items, mut outcome) = (Vec::new(), Ok(()));
        if !bytes.is_empty() {
            outcome = self.turn(thread, Some(bytes.to_vec()), &mut items);
            self.progress.bytes += bytes.len() as u64;
        }
        if last && outcome.is_ok() {
            outcome = self.turn(thread, None, &mut items);
        }
        let mut rows = Vec::new();
        for item in items {
            match item {
                Item::Row(row) => rows.push(row),
                Item::Bad(error) => {
                    self.deliver_between(&std::mem::take(&mut rows), receiver)?;
                    // What another process has read it has told of.
                    if *self.repeated == 0 {
                        receiver.bad_line(error.in_file(self.name))?;
                    }
                }
            }
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
        items: &mut Vec<Item>,
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
                Ok(Reply::Row(row)) => items.push(Item::Row(*row)),
                Ok(Reply::Bad(error)) => items.push(Item::Bad(error)),
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
        let mut builder = SlotBuilder::new(self.projection);
        let mut kept: Vec<&Row> = Vec::new();
        for row in rows {
            let again = *self.repeated > 0;
            let mut scratch = again.then(|| SlotBuilder::new(self.projection));
            // What was read before is noted again, so that names are judged alike.
            let pushed = scratch.as_mut().unwrap_or(&mut builder).push(row, self.seen);
            match pushed {
                Ok(()) => {
                    *self.style = self.style.or(row.time.map(|stamp| stamp.style));
                    *self.repeated -= u64::from(again);
                    if !again {
                        kept.push(row);
                    }
                }
                Err(_) if again => {}
                Err(mut error) => {
                    error.line = error.line.or(Some(row.line));
                    if let Some(derivation) = self.derivation {
                        error = derivation.error(error);
                    }
                    let whole = std::mem::replace(&mut builder, SlotBuilder::new(self.projection));
                    self.hand_over(whole, &std::mem::take(&mut kept), receiver)?;
                    let error = error.in_file(self.name);
                    match error.ends_with_its_line() {
                        true => receiver.bad_line(error)?,
                        false => return Err(error.into()),
                    }
                }
            }
        }
        self.hand_over(builder, &kept, receiver)
    }

    /// Gives the receiver what was made of these rows.
    fn hand_over<R: Receiver>(
        &mut self,
        builder: SlotBuilder,
        rows: &[&Row],
        receiver: &mut R,
    ) -> Result<(), R::Error> {
        let len = builder.len();
        if len == 0 {
            return Ok(());
        }
        self.seen.hidden(self.projection).map_err(|error| error.in_file(self.name))?;
        let numbers: Vec<u64> = rows.iter().map(|row| row.line).collect();
        let before = *self.progress;
        let mut batch = builder.finish(rows.iter().any(|row| row.time.is_some()));
        if let Some(derivation) = self.derivation {
            batch = derivation.derive(batch);
        }
        let mapped = match receiver.map(batch) {
            Ok(mapped) => mapped,
            Err((index, mut error)) => {
                let first: Vec<Row> = rows[..index].iter().map(|row| (*row).clone()).collect();
                self.deliver(&first, receiver)?;
                error.line = error.line.or(numbers.get(index).copied());
                return Err(error.in_file(self.name).into());
            }
        };
        self.progress.positions += len as u64;
        self.progress.lines = numbers.last().copied().unwrap_or_default();
        let (style, lines) = (*self.style, LinesOf::Kept(&numbers, &[]));
        receiver.take(mapped, &Arrival { len, before, style, lines })
    }
}

//! Bytes in the order of their arrival, from standard input, a file or a growing file.
//!
//! A thread reads and hands over whatever one call of the operating system gives, so that a line is judged when it is
//! there. The channel is short: a stream that comes faster than it can be judged waits where it comes from.

use super::follow::Followed;
use super::{Control, WatchOptions, WatchSource, listen};
use crate::Error;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::time::{Duration, Instant};
use tw_trace::{Input, TraceError, TraceErrorKind};

/// Bytes asked for at a time.
const CHUNK: usize = 256 << 10;
/// Messages that may wait.
const WAITING: usize = 4;
/// How long to wait for a file to grow: soon after it did, and when it has long been still.
pub(super) const SOON: Duration = Duration::from_millis(1);
pub(super) const LATER: Duration = Duration::from_millis(10);

/// What happens to a stream.
pub(super) enum Message {
    /// Bytes.
    Bytes(Vec<u8>),
    /// So much of the file is left out.
    Skipped { bytes: u64, lines: u64 },
    /// The file was replaced or emptied; what follows is its new content.
    Restarted(String),
    /// A client waits to be told how far its stream was read.
    Opened(listen::Greeting),
    /// Something worth saying.
    Note(String),
    /// A line that cannot be read.
    BadLine(TraceError),
    /// It cannot be read on.
    Fault(TraceError),
    /// It is over.
    End,
    /// Somebody asked for something.
    Wake,
}

/// Where a stream is read from, when another process has read its beginning.
#[derive(Clone, Debug, Default)]
pub(super) struct Resume {
    /// Bytes to leave out.
    pub offset: u64,
    /// The last of them.
    pub tail: Vec<u8>,
}

/// The receiving end.
pub(super) struct Feed {
    messages: Receiver<Message>,
    spare: Sender<Vec<u8>>,
    over: Arc<AtomicBool>,
    control: Control,
    /// What to say before the first message.
    pub notes: Vec<String>,
    _socket: Option<listen::Socket>,
}

impl Feed {
    /// Starts to read.
    pub fn open(
        options: &WatchOptions,
        resume: Resume,
        max_record: usize,
        header: bool,
        control: &Control,
    ) -> Result<Self, Error> {
        let (sender, messages) = sync_channel(WAITING);
        let (spare, buffers) = channel();
        let over = Arc::new(AtomicBool::new(false));
        control.attach(Some(sender.clone()));
        let mut feed = Self {
            messages,
            spare,
            over: over.clone(),
            control: control.clone(),
            notes: Vec::new(),
            _socket: None,
        };
        let pump = Pump { sender, buffers, over };
        let source = &options.source;
        match source {
            WatchSource::Stdin => {
                spawn(move || pump.read_again(io::stdin(), "<stdin>", &resume))?;
            }
            WatchSource::File(path) | WatchSource::Follow(path) => {
                let follow = matches!(source, WatchSource::Follow(_));
                let opened = File::open(path);
                if follow
                    && resume.offset == 0
                    && opened.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
                {
                    feed.notes.push(format!("{path} does not exist yet; waiting for it"));
                    let path = path.clone();
                    spawn(move || super::follow::wait_for(&path, &pump))?;
                    return Ok(feed);
                }
                let mut file = opened.map_err(|error| fault(path, &error))?;
                if is_compressed(&mut file).map_err(|error| fault(path, &error))? {
                    if follow {
                        let message = "a compressed file cannot be followed while it grows";
                        return Err(Error::refused(format!("{path}: {message}")));
                    }
                    let (input, path) = (Input::open(std::slice::from_ref(path))?, path.clone());
                    spawn(move || match input.reader(0) {
                        Ok(reader) => pump.read_again(reader, &path, &resume),
                        Err(error) => pump.send(Message::Fault(error)).unwrap_or_default(),
                    })?;
                } else if file.metadata().is_ok_and(|meta| !meta.is_file()) {
                    // A named pipe.
                    let path = path.clone();
                    spawn(move || pump.read_again(file, &path, &resume))?;
                } else {
                    match (continue_at(&mut file, path, &resume), follow) {
                        (Ok(()), false) => {
                            let path = path.clone();
                            spawn(move || pump.read_to_end(file, &path))?;
                        }
                        (Err(error), false) => return Err(error.into()),
                        (there, true) => {
                            let followed = match there {
                                Ok(()) if options.from_end && resume.offset == 0 => {
                                    Followed::from_end(path, file, header)
                                        .map_err(|error| fault(path, &error))?
                                }
                                Ok(()) => Followed::new(path, file, &resume),
                                Err(error) => Followed::rotated(path, &resume).ok_or(error)?,
                            };
                            spawn(move || followed.read_on(&pump))?;
                        }
                    }
                }
            }
            WatchSource::Push(pushed) => {
                let Some(pieces) = pushed.take() else {
                    return Err(Error::refused(format!("{}: these bytes are watched already", pushed.name)));
                };
                spawn(move || pieces.forward(&pump.sender, resume.offset, &resume.tail))?;
            }
            WatchSource::Listen(address) => {
                let limits = listen::Limits {
                    greets: options.checkpoints.is_some(),
                    connections: options.connections,
                    last_line: options.last_line,
                    max_record,
                };
                let (socket, place) = listen::listen(address, pump.sender, limits)?;
                feed._socket = Some(socket);
                feed.notes.push(format!("listening on {place}"));
            }
        }
        Ok(feed)
    }

    /// The next message; `None` when the time has come.
    pub fn next(&self, until: Option<Instant>) -> Option<Message> {
        let message = match until {
            None => self.messages.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(until) => self.messages.recv_timeout(until.saturating_duration_since(Instant::now())),
        };
        match message {
            Ok(message) => Some(message),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(Message::End),
        }
    }

    /// Gives memory back to be filled again.
    pub fn recycle(&self, buffer: Vec<u8>) {
        let _ = self.spare.send(buffer);
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.control.attach(None);
        self.over.store(true, Ordering::SeqCst);
    }
}

fn spawn(work: impl FnOnce() + Send + 'static) -> Result<(), Error> {
    let spawned = std::thread::Builder::new().name("feed".into()).spawn(work);
    spawned.map(drop).map_err(|error| Error::io("cannot start a thread", error))
}

pub(super) fn fault(name: &str, error: &io::Error) -> TraceError {
    let message = match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_string(),
        io::ErrorKind::PermissionDenied => "reading this file is not permitted".to_string(),
        io::ErrorKind::IsADirectory => "this is a directory, expected a trace file".to_string(),
        _ => error.to_string(),
    };
    TraceError::new(TraceErrorKind::Io, message).in_file(name)
}

pub(super) fn is_compressed(file: &mut File) -> io::Result<bool> {
    if !file.metadata()?.is_file() {
        return Ok(false);
    }
    let mut head = Vec::new();
    file.take(4).read_to_end(&mut head)?;
    file.rewind()?;
    Ok(head.starts_with(b"\x1F\x8B") || head.starts_with(b"\x28\xB5\x2F\xFD"))
}

/// Goes to where the checkpoint left off, if the file still is the one that was read.
pub(super) fn continue_at(file: &mut File, path: &str, resume: &Resume) -> Result<(), TraceError> {
    let io = |error: io::Error| fault(path, &error);
    let len = file.metadata().map_err(io)?.len();
    if len < resume.offset {
        let message = format!(
            "the checkpoint was taken after {} bytes of this file, which has only {len}; was it replaced?",
            resume.offset
        );
        return Err(TraceError::new(TraceErrorKind::Usage, message).in_file(path));
    }
    let mut before = vec![0; resume.tail.len()];
    file.seek(SeekFrom::Start(resume.offset - resume.tail.len() as u64)).map_err(io)?;
    file.read_exact(&mut before).map_err(io)?;
    if before == resume.tail { Ok(()) } else { Err(other_stream(path, resume.offset)) }
}

pub(super) fn other_stream(name: &str, offset: u64) -> TraceError {
    let message = format!(
        "the bytes before {offset} are not those that the checkpoint has seen; it belongs to another trace"
    );
    TraceError::new(TraceErrorKind::Usage, message).in_file(name)
}

/// The sending end.
pub(super) struct Pump {
    sender: SyncSender<Message>,
    buffers: Receiver<Vec<u8>>,
    pub over: Arc<AtomicBool>,
}

/// Nobody listens any more.
#[derive(Debug, Default)]
pub(super) struct Gone;

impl Pump {
    pub fn send(&self, message: Message) -> Result<(), Gone> {
        self.sender.send(message).map_err(|_| Gone)
    }

    /// Memory to read into.
    pub fn buffer(&self) -> Vec<u8> {
        let mut buffer = self.buffers.try_recv().unwrap_or_default();
        buffer.resize(CHUNK, 0);
        buffer
    }

    /// Reads what is there into a buffer, which it hands over; how much that was.
    fn read(&self, reader: &mut impl Read, name: &str) -> Result<usize, Gone> {
        let mut buffer = self.buffer();
        loop {
            match reader.read(&mut buffer) {
                Ok(0) => return Ok(0),
                Ok(count) => {
                    buffer.truncate(count);
                    self.send(Message::Bytes(buffer))?;
                    return Ok(count);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.send(Message::Fault(fault(name, &error)))?;
                    return Err(Gone);
                }
            }
        }
    }

    /// Reads to the end what can only be read from its beginning.
    fn read_again(&self, mut reader: impl Read, name: &str, resume: &Resume) {
        let start = resume.offset - resume.tail.len() as u64;
        let mut before = Vec::new();
        let skipped = io::copy(&mut (&mut reader).take(start), &mut io::sink())
            .and_then(|_| (&mut reader).take(resume.tail.len() as u64).read_to_end(&mut before));
        let _ = match skipped {
            Err(error) => self.send(Message::Fault(fault(name, &error))),
            Ok(_) if before != resume.tail => self.send(Message::Fault(other_stream(name, resume.offset))),
            Ok(_) => {
                self.read_to_end(reader, name);
                Ok(())
            }
        };
    }

    fn read_to_end(&self, mut reader: impl Read, name: &str) {
        loop {
            match self.read(&mut reader, name) {
                Ok(0) => return self.send(Message::End).unwrap_or_default(),
                Ok(_) => {}
                Err(Gone) => return,
            }
        }
    }
}

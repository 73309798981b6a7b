//! A socket: every connection has a thread that hands over whole lines, so that the lines of all join one stream.

use super::Address;
use super::feed::{Gone, Message};
use crate::Error;
use crate::error::Setting;
use std::io::{self, Read, Write};
use std::net::TcpListener;
#[cfg(unix)]
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use tw_trace::{TraceError, TraceErrorKind};

const CHUNK: usize = 64 << 10;

/// What a socket takes.
pub(super) struct Limits {
    /// Whether clients are told how far the stream was read.
    pub greets: bool,
    /// Connections served at once; a client beyond is told, and let go.
    pub connections: usize,
    /// Whether a line that its connection leaves open counts.
    pub last_line: bool,
    /// The longest line, in bytes. The open lines of all connections together are held up to this too, beside a fair
    /// share of it for each: whoever holds more then has its line left out.
    pub max_record: usize,
}

/// A client that is to be told how far its stream was read, before it sends more.
pub(super) struct Greeting {
    client: Box<dyn Write + Send>,
    go_on: SyncSender<()>,
}

impl Greeting {
    /// Tells it.
    pub fn say(mut self, line: &str) {
        // A client that is gone is found out by its reader.
        let _ = self.client.write_all(line.as_bytes());
        let _ = self.client.flush();
        let _ = self.go_on.send(());
    }
}

/// The file of a Unix socket, removed when the watch ends if it is still there.
pub(super) struct Socket(Option<(PathBuf, (u64, u64))>);

impl Drop for Socket {
    fn drop(&mut self) {
        if let Some((path, own)) = &self.0
            && identity(path) == Some(*own)
        {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// What tells a socket at a path from others; `None` for all else.
#[cfg(unix)]
fn identity(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    let found = std::fs::symlink_metadata(path).ok()?;
    found.file_type().is_socket().then(|| (found.dev(), found.ino()))
}

#[cfg(not(unix))]
fn identity(_: &Path) -> Option<(u64, u64)> {
    None
}

/// Listens; also returns the address, with the port that was chosen.
pub(super) fn listen(
    address: &Address,
    sender: SyncSender<Message>,
    limits: Limits,
) -> Result<(Socket, String), Error> {
    let fault = |place: &dyn std::fmt::Display, error: io::Error| {
        Error::io(format!("cannot listen on {place}"), error)
    };
    let server = Server { sender, limits: Arc::new(limits), taken: Arc::default(), held: Arc::default() };
    match address {
        Address::Tcp(address) => {
            let listener = TcpListener::bind(address).map_err(|error| fault(address, error))?;
            let place = listener.local_addr().map_err(|error| fault(address, error))?;
            let accept = move || {
                let (stream, peer) = listener.accept()?;
                let _ = stream.set_nodelay(true);
                let other = stream.try_clone()?;
                Ok(Connection { name: peer.to_string(), reader: Box::new(stream), writer: Box::new(other) })
            };
            server.spawn(accept)?;
            Ok((Socket(None), format!("tcp:{place}")))
        }
        #[cfg(unix)]
        Address::Unix(path) => {
            let place = path.display();
            // What a watch that was killed left behind; one that lives answers.
            if identity(path).is_some()
                && UnixStream::connect(path).is_err_and(|e| e.kind() == io::ErrorKind::ConnectionRefused)
            {
                let _ = std::fs::remove_file(path);
            }
            if identity(path).is_none() && std::fs::symlink_metadata(path).is_ok() {
                let other = io::Error::new(io::ErrorKind::AlreadyExists, "what is there is not a socket");
                return Err(fault(&place, other));
            }
            let listener = UnixListener::bind(path).map_err(|error| fault(&place, error))?;
            let name = format!("unix:{place}");
            let own_name = name.clone();
            let accept = move || {
                let (stream, _) = listener.accept()?;
                let other = stream.try_clone()?;
                Ok(Connection { name: own_name.clone(), reader: Box::new(stream), writer: Box::new(other) })
            };
            server.spawn(accept)?;
            Ok((Socket(identity(path).map(|own| (path.clone(), own))), name))
        }
        #[cfg(not(unix))]
        Address::Unix(path) => Err(Error::refused(format!(
            "cannot listen on unix:{}: this system has no such sockets",
            path.display()
        ))),
    }
}

struct Connection {
    name: String,
    reader: Box<dyn Read + Send>,
    writer: Box<dyn Write + Send>,
}

#[derive(Clone)]
struct Server {
    sender: SyncSender<Message>,
    limits: Arc<Limits>,
    /// Connections that are served.
    taken: Arc<AtomicUsize>,
    /// Bytes of lines that have not ended, of all connections.
    held: Arc<AtomicUsize>,
}

impl Server {
    fn spawn(self, mut accept: impl FnMut() -> io::Result<Connection> + Send + 'static) -> Result<(), Error> {
        let accepting = move || {
            let mut refused = false;
            loop {
                let told = match accept() {
                    Ok(connection) if self.taken.load(Ordering::SeqCst) >= self.limits.connections => {
                        let told = if refused { Ok(()) } else { self.note_refusal(&connection) };
                        self.refuse(connection);
                        refused = true;
                        told
                    }
                    Ok(connection) => {
                        refused = false;
                        self.taken.fetch_add(1, Ordering::SeqCst);
                        let server = self.clone();
                        let served = std::thread::Builder::new().name("connection".into()).spawn(move || {
                            let _ = server.serve(connection);
                            server.taken.fetch_sub(1, Ordering::SeqCst);
                        });
                        served.map_or_else(
                            |error| {
                                self.taken.fetch_sub(1, Ordering::SeqCst);
                                self.not_accepted(&error)
                            },
                            |_| Ok(()),
                        )
                    }
                    Err(error) => self.not_accepted(&error),
                };
                if told.is_err() {
                    return;
                }
            }
        };
        let spawned = std::thread::Builder::new().name("listen".into()).spawn(accepting);
        spawned.map(drop).map_err(|error| Error::io("cannot start a thread", error))
    }

    fn send(&self, message: Message) -> Result<(), Gone> {
        self.sender.send(message).map_err(|_| Gone)
    }

    fn not_accepted(&self, error: &io::Error) -> Result<(), Gone> {
        let told = self.send(Message::Note(format!("a connection could not be accepted: {error}")));
        // Out of file descriptors, say: others are about to be closed.
        std::thread::sleep(std::time::Duration::from_millis(50));
        told
    }

    fn note_refusal(&self, connection: &Connection) -> Result<(), Gone> {
        let (name, limit) = (&connection.name, self.limits.connections);
        let limit = format!("{limit} are served at once (`{}`)", Setting::Connections);
        self.send(Message::Note(format!("a connection from {name} is refused: {limit}")))
    }

    fn refuse(&self, mut connection: Connection) {
        let limit = self.limits.connections;
        let line =
            format!("{{\"error\":\"this watch serves {limit} connections at once, and all are taken\"}}\n");
        // One that is gone need not be told.
        let _ = connection.writer.write_all(line.as_bytes());
    }

    /// Reads a connection to its end. An error is that nobody wants its lines any more.
    fn serve(&self, connection: Connection) -> Result<(), Gone> {
        let Connection { name, mut reader, writer } = connection;
        if self.limits.greets {
            let (go_on, greeted) = sync_channel(1);
            self.send(Message::Opened(Greeting { client: writer, go_on }))?;
            greeted.recv().map_err(|_| Gone)?;
        }
        let mut buffer = vec![0; CHUNK];
        let mut open = OpenLine { bytes: Vec::new(), lost: false, held: &self.held };
        loop {
            let mut read = match reader.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => &buffer[..count],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => {
                    self.send(Message::Note(format!("the connection from {name} broke off: {error}")))?;
                    break;
                }
            };
            if open.lost {
                let Some(end) = memchr::memchr(b'\n', read) else { continue };
                read = &read[end + 1..];
                open.lost = false;
            }
            if let Some(end) = memchr::memrchr(b'\n', read) {
                let mut lines = open.take();
                lines.extend_from_slice(&read[..=end]);
                read = &read[end + 1..];
                self.send(Message::Bytes(lines))?;
            }
            if let Some(error) = open.extend(read, &self.limits) {
                self.send(Message::BadLine(error.in_file(&name)))?;
            }
        }
        match open.take() {
            rest if rest.is_empty() => Ok(()),
            mut rest if self.limits.last_line => {
                rest.push(b'\n');
                self.send(Message::Bytes(rest))
            }
            rest => {
                let (count, setting) = (rest.len(), Setting::LastLine);
                let what =
                    format!("the connection from {name} ended inside a line: its {count} bytes are left out");
                self.send(Message::Note(format!("{what} (`{setting}` reads them)")))
            }
        }
    }
}

/// The line of a connection that has not ended.
struct OpenLine<'s> {
    bytes: Vec<u8>,
    /// It has been given up; what comes up to its end is passed over.
    lost: bool,
    held: &'s AtomicUsize,
}

impl OpenLine<'_> {
    fn take(&mut self) -> Vec<u8> {
        self.held.fetch_sub(self.bytes.len(), Ordering::SeqCst);
        std::mem::take(&mut self.bytes)
    }

    /// Takes more of it, or says why it is given up.
    fn extend(&mut self, more: &[u8], limits: &Limits) -> Option<TraceError> {
        let held = self.held.fetch_add(more.len(), Ordering::SeqCst) + more.len();
        self.bytes.extend_from_slice(more);
        let (limit, own) = (limits.max_record, self.bytes.len());
        let message = if own > limit {
            format!("this record is longer than {limit} bytes, the most that is accepted")
        } else if held > limit && own > limit / limits.connections.max(1) {
            format!(
                "lines that have not ended hold {held} bytes in all connections, and at most {limit} are held"
            )
        } else {
            return None;
        };
        self.take();
        self.lost = true;
        Some(TraceError::new(TraceErrorKind::Budget, message))
    }
}

impl Drop for OpenLine<'_> {
    fn drop(&mut self) {
        self.take();
    }
}

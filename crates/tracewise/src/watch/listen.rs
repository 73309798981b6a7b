//! A socket: every connection has a thread that hands over whole lines, so that the lines of all join one stream.

use super::Address;
use super::feed::Message;
use crate::Error;
use std::io::{self, Read, Write};
use std::net::TcpListener;
#[cfg(unix)]
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use tw_trace::{TraceError, TraceErrorKind};

/// Connections served at once; more wait to be accepted.
const CONNECTIONS: usize = 256;
const CHUNK: usize = 64 << 10;

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
    greets: bool,
    max_record: usize,
) -> Result<(Socket, String), Error> {
    let fault = |place: &dyn std::fmt::Display, error: io::Error| {
        Error::io(format!("cannot listen on {place}"), error)
    };
    let server =
        Server { sender, greets, max_record, free: Arc::new((Mutex::new(CONNECTIONS), Condvar::new())) };
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
    greets: bool,
    max_record: usize,
    /// How many more connections can be served.
    free: Arc<(Mutex<usize>, Condvar)>,
}

impl Server {
    fn spawn(self, mut accept: impl FnMut() -> io::Result<Connection> + Send + 'static) -> Result<(), Error> {
        let accepting = move || {
            loop {
                self.take_place();
                let served = accept().and_then(|connection| {
                    let server = self.clone();
                    std::thread::Builder::new().name("connection".into()).spawn(move || {
                        let _ = server.serve(connection);
                        server.give_place();
                    })
                });
                if let Err(error) = served {
                    self.give_place();
                    let note = format!("a connection could not be accepted: {error}");
                    if self.sender.send(Message::Note(note)).is_err() {
                        return;
                    }
                    // Out of file descriptors, say: others are about to be closed.
                    std::thread::sleep(std::time::Duration::from_millis(50));
                }
            }
        };
        let spawned = std::thread::Builder::new().name("listen".into()).spawn(accepting);
        spawned.map(drop).map_err(|error| Error::io("cannot start a thread", error))
    }

    fn take_place(&self) {
        let (free, changed) = &*self.free;
        let mut free = free.lock().unwrap_or_else(PoisonError::into_inner);
        while *free == 0 {
            free = changed.wait(free).unwrap_or_else(PoisonError::into_inner);
        }
        *free -= 1;
    }

    fn give_place(&self) {
        *self.free.0.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.free.1.notify_one();
    }

    /// Reads a connection to its end. An error is that nobody wants its lines any more.
    fn serve(&self, connection: Connection) -> Result<(), ()> {
        let Connection { name, mut reader, writer } = connection;
        let send = |message| self.sender.send(message).map_err(drop);
        if self.greets {
            let (go_on, greeted) = sync_channel(1);
            send(Message::Opened(Greeting { client: writer, go_on }))?;
            greeted.recv().map_err(drop)?;
        }
        let mut buffer = vec![0; CHUNK];
        // The line that is not complete.
        let mut open: Vec<u8> = Vec::new();
        loop {
            let read = match reader.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => &buffer[..count],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => {
                    send(Message::Note(format!("the connection from {name} broke off: {error}")))?;
                    break;
                }
            };
            match memchr::memrchr(b'\n', read) {
                None => open.extend_from_slice(read),
                Some(end) => {
                    let mut lines = std::mem::take(&mut open);
                    lines.extend_from_slice(&read[..=end]);
                    open.extend_from_slice(&read[end + 1..]);
                    send(Message::Bytes(lines))?;
                }
            }
            if open.len() > self.max_record {
                let limit = self.max_record;
                let message = format!("this record is longer than {limit} bytes, the most that is accepted");
                return send(Message::Fault(TraceError::new(TraceErrorKind::Budget, message).in_file(&name)));
            }
        }
        if !open.is_empty() {
            open.push(b'\n');
            send(Message::Bytes(open))?;
        }
        Ok(())
    }
}

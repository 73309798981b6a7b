//! Places to listen at, and a Unix socket's file, which is taken over from a server that is no more and removed at the end.

use super::At;
use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};

/// Where to listen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// `HOST:PORT`
    Tcp(String),
    /// The file of a Unix socket.
    Unix(PathBuf),
}

/// What a connection is read from and written to.
pub trait Connection: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Connection for T {}

/// Somebody who came.
pub struct Client {
    /// What it is read from.
    pub connection: Box<dyn Connection>,
    /// Where it is, if that is somewhere in the network.
    pub peer: Option<IpAddr>,
}

/// Somebody who listens.
pub enum Listener {
    Tcp(TcpListener),
    Unix { listener: UnixListener, _file: Socket },
}

impl Listener {
    /// Begins to listen.
    pub async fn bind(place: &Place) -> io::Result<(Self, At)> {
        match place {
            Place::Tcp(address) => {
                let listener = TcpListener::bind(address).await?;
                let at = At::Address(listener.local_addr()?);
                Ok((Listener::Tcp(listener), at))
            }
            Place::Unix(path) => {
                // What a server that was killed left behind; one that lives answers.
                if identity(path).is_some()
                    && std::os::unix::net::UnixStream::connect(path)
                        .is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
                {
                    std::fs::remove_file(path)?;
                }
                if identity(path).is_none() && std::fs::symlink_metadata(path).is_ok() {
                    return Err(io::Error::new(
                        io::ErrorKind::AlreadyExists,
                        "what is there is not a socket",
                    ));
                }
                let listener = UnixListener::bind(path)?;
                let socket = Socket { path: path.clone(), own: identity(path) };
                Ok((Listener::Unix { listener, _file: socket }, At::Path(path.clone())))
            }
        }
    }

    /// The next connection.
    pub async fn accept(&self) -> io::Result<Client> {
        Ok(match self {
            Listener::Tcp(listener) => {
                let (connection, peer) = listener.accept().await?;
                Client { connection: Box::new(connection), peer: Some(peer.ip()) }
            }
            Listener::Unix { listener, .. } => {
                Client { connection: Box::new(listener.accept().await?.0), peer: None }
            }
        })
    }
}

/// The file of a Unix socket, removed at the end if it is still there.
pub struct Socket {
    path: PathBuf,
    own: Option<(u64, u64)>,
}

impl Drop for Socket {
    fn drop(&mut self) {
        if self.own.is_some() && identity(&self.path) == self.own {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// What tells a socket at a path from others; `None` for all else.
fn identity(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    let found = std::fs::symlink_metadata(path).ok()?;
    found.file_type().is_socket().then(|| (found.dev(), found.ino()))
}

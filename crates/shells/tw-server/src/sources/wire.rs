//! Connections to brokers: their addresses, and reading and writing with patience.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

/// How long a broker may take to be connected to, and to answer what it was asked.
pub const PATIENCE: Duration = Duration::from_secs(10);
/// How long a client waits for something to come before it looks up.
pub const LOOK: Duration = Duration::from_millis(200);
/// Bytes read at once.
const BUFFER: usize = 256 << 10;

/// Where a broker is: `scheme://[user[:password]@]host[:port][/path]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// Host and port.
    pub host: String,
    /// Who we are to it.
    pub user: Option<String>,
    /// How we prove that.
    pub password: Option<String>,
    /// What follows the host.
    pub path: String,
}

impl Address {
    /// Reads one with this scheme, and this port if it names none.
    pub fn parse(url: &str, scheme: &str, port: u16) -> Result<Self, String> {
        // What a URL has of a password is not repeated.
        let expected =
            || format!("expected {scheme}://HOST:PORT, perhaps with USER:PASSWORD@ before the host");
        let rest = match url.split_once("://") {
            Some((own, rest)) if own == scheme => rest,
            Some((own, _)) => return Err(format!("found a URL that begins with {own}://, {}", expected())),
            None => return Err(expected()),
        };
        let (place, path) = rest.split_once('/').unwrap_or((rest, ""));
        let (who, host) = match place.rsplit_once('@') {
            Some((who, host)) => (Some(who), host),
            None => (None, place),
        };
        let bare = host.trim_end_matches(|c: char| c.is_ascii_digit());
        let host = match bare.strip_suffix(':').filter(|own| !own.is_empty() && bare.len() < host.len()) {
            Some(name) if !name.contains(':') || name.ends_with(']') => host.to_string(),
            _ if host.is_empty() || host.ends_with(':') => return Err(expected()),
            _ => format!("{host}:{port}"),
        };
        let (user, password) = match who.map(|who| who.split_once(':').unwrap_or((who, ""))) {
            Some((user, password)) => (Some(plain(user)), Some(plain(password))),
            None => (None, None),
        };
        Ok(Self { host, user: user.filter(|user| !user.is_empty()), password, path: path.to_string() })
    }
}

/// `%XX` as it is meant.
fn plain(text: &str) -> String {
    let (mut rest, mut out) = (text.as_bytes(), Vec::new());
    while let [byte, tail @ ..] = rest {
        let digits = tail.get(..2).filter(|_| *byte == b'%').and_then(|two| std::str::from_utf8(two).ok());
        let meant = digits.and_then(|two| u8::from_str_radix(two, 16).ok());
        out.push(meant.unwrap_or(*byte));
        rest = if meant.is_some() { &tail[2..] } else { tail };
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// A connection to a broker.
pub struct Wire {
    from: BufReader<TcpStream>,
    host: String,
}

impl Wire {
    /// Connects.
    pub fn connect(host: &str) -> Result<Self, String> {
        let failed = |error: io::Error| format!("cannot connect to {host}: {error}");
        let mut last = None;
        for address in host.to_socket_addrs().map_err(failed)? {
            match TcpStream::connect_timeout(&address, PATIENCE) {
                Ok(stream) => {
                    stream.set_nodelay(true).map_err(failed)?;
                    stream.set_write_timeout(Some(PATIENCE)).map_err(failed)?;
                    stream.set_read_timeout(Some(PATIENCE)).map_err(failed)?;
                    return Ok(Self { from: BufReader::with_capacity(BUFFER, stream), host: host.into() });
                }
                Err(error) => last = Some(error),
            }
        }
        Err(last.map_or_else(|| format!("{host} has no address"), failed))
    }

    /// An error of this connection, in words.
    pub fn lost(&self, error: &io::Error) -> String {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => format!("{} ended the connection", self.host),
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => format!("{} does not answer", self.host),
            _ => format!("the connection to {}: {error}", self.host),
        }
    }

    /// Sends.
    pub fn send(&mut self, bytes: &[u8]) -> Result<(), String> {
        self.from.get_mut().write_all(bytes).map_err(|error| self.lost(&error))
    }

    /// Whether something was read from the connection and not looked at yet.
    pub fn has_more(&self) -> bool {
        !self.from.buffer().is_empty()
    }

    /// Waits until something can be read; false if nothing came.
    pub fn wait(&mut self, patience: Duration) -> Result<bool, String> {
        if self.has_more() {
            return Ok(true);
        }
        let stream = self.from.get_ref();
        stream.set_read_timeout(Some(patience)).map_err(|error| self.lost(&error))?;
        let come = loop {
            match self.from.fill_buf() {
                Ok([]) => break Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(_) => break Ok(true),
                Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                    break Ok(false);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => break Err(error),
            }
        };
        let come = come.map_err(|error| self.lost(&error))?;
        self.from.get_ref().set_read_timeout(Some(PATIENCE)).map_err(|error| self.lost(&error))?;
        Ok(come)
    }

    /// A line without its end, at most so long.
    pub fn line(&mut self, longest: usize) -> Result<Vec<u8>, String> {
        let mut line = Vec::new();
        let read = (&mut self.from).take(longest as u64 + 2).read_until(b'\n', &mut line);
        read.map_err(|error| self.lost(&error))?;
        if line.pop() != Some(b'\n') {
            let why =
                if line.len() > longest { "sent a line that is too long" } else { "ended the connection" };
            return Err(format!("{} {why}", self.host));
        }
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        Ok(line)
    }

    /// So many bytes.
    pub fn bytes(&mut self, count: usize) -> Result<Vec<u8>, String> {
        let mut bytes = Vec::new();
        (&mut self.from).take(count as u64).read_to_end(&mut bytes).map_err(|error| self.lost(&error))?;
        if bytes.len() < count {
            return Err(self.lost(&io::ErrorKind::UnexpectedEof.into()));
        }
        Ok(bytes)
    }

    /// Reads what comes until the other side ends the connection, or patience is over.
    pub fn drain(mut self, patience: Duration) {
        let until = Instant::now() + patience;
        while Instant::now() < until && self.wait(Duration::from_millis(100)).is_ok() {
            let read = self.from.buffer().len();
            self.from.consume(read);
        }
    }

    /// Passes over so many bytes.
    pub fn skip(&mut self, count: u64) -> Result<(), String> {
        let skipped = io::copy(&mut (&mut self.from).take(count), &mut io::sink());
        match skipped.map_err(|error| self.lost(&error))? == count {
            true => Ok(()),
            false => Err(self.lost(&io::ErrorKind::UnexpectedEof.into())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Address;

    #[test]
    fn addresses_are_taken_apart() {
        let of = |url: &str| Address::parse(url, "nats", 4222);
        let plain = of("nats://broker").unwrap();
        assert_eq!((plain.host.as_str(), plain.user, plain.path.as_str()), ("broker:4222", None, ""));
        let full = of("nats://me:p%40ss:w@10.0.0.1:99/x").unwrap();
        assert_eq!((full.host.as_str(), full.path.as_str()), ("10.0.0.1:99", "x"));
        assert_eq!((full.user.as_deref(), full.password.as_deref()), (Some("me"), Some("p@ss:w")));
        assert_eq!(of("nats://[::1]").unwrap().host, "[::1]:4222");
        assert_eq!(of("nats://[::1]:5").unwrap().host, "[::1]:5");
        assert_eq!(of("nats://:secret@h").unwrap().user, None);
        for bad in ["broker:4222", "redis://h", "nats://", "nats://h:", "nats://u:p@"] {
            let why = of(bad).unwrap_err();
            assert!(why.contains("expected nats://") && !why.contains("u:p"), "{bad}: {why}");
        }
    }
}

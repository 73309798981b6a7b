//! Standard output that survives a reader who leaves early (`tracewise eval … | head`), and that nothing in a log or a
//! name steers.

use std::borrow::Cow;
use std::io::{self, BufWriter, IsTerminal, Write};
use tracewise::findings::json::Outlet;

/// What is written, and so what becomes of control characters that come from logs and names. Where a name becomes part of
/// a line it is made printable already; this is the last door, which no forgotten name passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// For people, with or without colours of our own.
    Text { color: bool },
    /// JSON: they stand in texts alone, where they can be escaped.
    Json,
    /// What a program reads as it is: a table, a specification.
    Data,
}

/// Buffered standard output. Once the other end is closed, what is written goes nowhere and [`Output::closed`] says
/// so: the run goes on to its exit code, which does not depend on who reads.
pub struct Output {
    to: BufWriter<Box<dyn Write + Send>>,
    kind: Kind,
    closed: bool,
}

impl Output {
    /// Standard output.
    pub fn stdout(kind: Kind) -> Self {
        // Larger than a pipe: `eval` writes one line per position.
        Self::over(io::stdout(), kind)
    }

    /// What is written goes elsewhere: standard output belongs to another program.
    pub fn over(to: impl Write + Send + 'static, kind: Kind) -> Self {
        Self { to: BufWriter::with_capacity(1 << 16, Box::new(to)), kind, closed: false }
    }

    /// What follows is data, unless people look at it.
    pub fn data(&mut self) {
        if !io::stdout().is_terminal() {
            self.kind = Kind::Data;
        }
    }

    /// Whether nobody reads any more.
    pub fn closed(&self) -> bool {
        self.closed
    }

    fn forgive<T>(&mut self, result: io::Result<T>, instead: T) -> io::Result<T> {
        match result {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.closed = true;
                Ok(instead)
            }
            other => other,
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.closed {
            return Ok(bytes.len());
        }
        let result = self.to.write_all(&tame(bytes, self.kind));
        self.forgive(result, ())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.closed {
            return Ok(());
        }
        let result = self.to.flush();
        self.forgive(result, ())
    }
}

impl Outlet for Output {
    fn closed(&self) -> bool {
        self.closed
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        // Whoever cares has flushed; what is left here must not panic.
        let _ = self.flush();
    }
}

/// The bytes without control characters: none but line ends, tabs and our own colours reach a terminal.
pub fn tame(bytes: &[u8], kind: Kind) -> Cow<'_, [u8]> {
    // Lead bytes of C1 controls (U+0080 to U+009F) and of marks that turn the direction of text.
    let suspect = |b: &u8| (*b < b' ' && *b != b'\n' && *b != b'\t') || matches!(b, 0x7f | 0xc2 | 0xe2);
    // Without a way out inside, many bytes are looked at together.
    let clean = |part: &[u8]| !part.iter().fold(false, |found, b| found | suspect(b));
    if kind == Kind::Data || bytes.chunks(1 << 10).all(clean) {
        return Cow::Borrowed(bytes);
    }
    // Whoever writes bytes that are no text means them.
    let Ok(text) = std::str::from_utf8(bytes) else { return Cow::Borrowed(bytes) };
    let mut tamed = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        let steers = match c {
            '\n' | '\t' => false,
            '\u{1b}' => kind != Kind::Text { color: true } || !is_color(&text[at..]),
            '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
            c => c.is_control(),
        };
        match kind {
            _ if !steers => tamed.push(c),
            Kind::Json => tamed.push_str(&format!("\\u{:04x}", u32::from(c))),
            // A lone line end goes; `printable` would take it for one.
            _ if c == '\r' => tamed.push('␍'),
            _ => tamed.push_str(&crate::words::printable(c.encode_utf8(&mut [0; 4]))),
        }
    }
    Cow::Owned(tamed.into_bytes())
}

/// Whether a text begins with a sequence that sets colours and nothing else.
fn is_color(text: &str) -> bool {
    let Some(rest) = text.strip_prefix("\u{1b}[") else { return false };
    rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';').starts_with('m')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tamed(text: &str, kind: Kind) -> String {
        String::from_utf8(tame(text.as_bytes(), kind).into_owned()).unwrap()
    }

    #[test]
    fn nothing_steers() {
        let (plain, color) = (Kind::Text { color: false }, Kind::Text { color: true });
        let evil = "é…\t\u{1b}[31mred\u{1b}[2J\u{9b}5m\u{202e}\r\u{7f}\n";
        assert_eq!(tamed(evil, plain), "é…\t␛[31mred␛[2J·5m·␍␡\n");
        assert_eq!(tamed(evil, color), "é…\t\u{1b}[31mred␛[2J·5m·␍␡\n");
        assert_eq!(tamed("\"é\u{9b}\u{7f}\u{202e}\"\n", Kind::Json), "\"é\\u009b\\u007f\\u202e\"\n");
        assert_eq!(tamed(evil, Kind::Data), evil);
        assert_eq!(*tame(b"\xff\x1b", plain), *b"\xff\x1b");
    }
}

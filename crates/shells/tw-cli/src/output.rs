//! Standard output that survives a reader who leaves early (`tracewise eval … | head`).

use std::io::{self, BufWriter, Stdout, Write};
use tracewise::findings::json::Outlet;

/// Buffered standard output. Once the other end is closed, what is written goes nowhere and [`Output::closed`] says
/// so: the run goes on to its exit code, which does not depend on who reads.
pub struct Output {
    to: BufWriter<Stdout>,
    closed: bool,
}

impl Output {
    /// Standard output.
    pub fn stdout() -> Self {
        // Larger than a pipe: `eval` writes one line per position.
        Self { to: BufWriter::with_capacity(1 << 16, io::stdout()), closed: false }
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
        let result = self.to.write(bytes);
        self.forgive(result, bytes.len())
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

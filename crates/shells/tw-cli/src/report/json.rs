//! `--output json`: one object per finding, one per line. The objects are the library's.

use super::{Outlet, Reporter};
use std::io;
use tracewise::findings::Report;
use tracewise::findings::json::Lines;

/// Writes each line as soon as it is known.
#[derive(Default)]
pub struct Json {
    lines: Lines,
}

impl Reporter for Json {
    fn report(&mut self, report: &Report, out: &mut dyn Outlet) -> io::Result<()> {
        self.lines.write(report, out)?;
        // A program at the other end of a pipe gets each trace when it is done.
        out.flush()
    }
}

//! What a stream's robustness is told with: values on standard output, flushed when a pause comes; the rest on standard
//! error; a picture on whichever is a terminal.

use super::screen::Screen;
use super::text;
use crate::context::Context;
use crate::words;
use std::io::{self, Write};
use std::time::Instant;
use tracewise::Error;
use tracewise::diag::{Diagnostic, Sources};
use tracewise::findings::json;
use tracewise::robust::{Least, RobustLiveReport, RobustSink, RobustTold};
use tracewise::watch::LiveSink;

/// Tells values.
pub struct Printer<'v> {
    pub context: &'v mut Context,
    pub sources: &'v Sources,
    pub json: bool,
    /// Whether values are written as they come; other forms are written at the end.
    pub streams: bool,
    /// Whether there are several properties to tell apart.
    pub named: bool,
    pub screen: Option<Screen>,
    pub started: Instant,
}

impl Printer<'_> {
    /// Whether lines are written: not where a picture stands.
    fn speaks(&self) -> bool {
        !self.context.quiet && self.streams && self.screen.as_ref().is_none_or(Screen::beside_output)
    }

    fn interrupt(&mut self) {
        if let Some(screen) = &mut self.screen {
            screen.interrupted();
        }
    }

    /// Draws what the last picture missed.
    pub fn last_picture(&mut self) -> io::Result<()> {
        match &mut self.screen {
            Some(screen) => screen.draw(self.started.elapsed()),
            None => Ok(()),
        }
    }

    /// How it went, for people.
    pub fn summary(&mut self, report: &RobustLiveReport) {
        let left_out = match report.bad_lines {
            0 => String::new(),
            some => format!("; {} left out", words::counted(some, "bad line")),
        };
        if self.json {
            if report.bad_lines > 0 {
                self.note(&format!("{} left out", words::counted(report.bad_lines, "bad line")));
            }
            return;
        }
        for (name, least) in &report.least {
            let Some(Least { value, position, time }) = least else { continue };
            let time = time.map_or(String::new(), |time| format!(", time {}", time.format()));
            let name = match self.named {
                true => format!(" of {}", words::clip(&words::printable(name), 80)),
                false => String::new(),
            };
            self.note(&format!("least value{name}: {} at position {position}{time}", words::number(*value)));
        }
        let stopped = if report.stopped { "; stopped by the first negative value" } else { "" };
        let positions = words::counted(report.positions, "position");
        let elapsed = words::duration(self.started.elapsed());
        self.note(&format!("{positions}{left_out}{stopped}; engine robust, {elapsed}"));
    }
}

impl LiveSink for Printer<'_> {
    fn bad_line(&mut self, error: &Error) {
        self.interrupt();
        self.context.error(error);
    }

    fn note(&mut self, note: &str) {
        if self.context.quiet {
            return;
        }
        self.interrupt();
        self.context.remark(note, self.json);
    }

    fn warnings(&mut self, warnings: &[Diagnostic]) {
        if !warnings.is_empty() {
            self.interrupt();
        }
        self.context.warnings(warnings, self.sources);
    }

    fn flush(&mut self) -> io::Result<()> {
        if let Some(screen) = &mut self.screen {
            screen.draw_soon(self.started.elapsed())?;
        }
        self.context.out.flush()
    }

    fn closed(&self) -> bool {
        self.context.out.closed() && self.screen.is_none()
    }
}

impl RobustSink for Printer<'_> {
    fn told(&mut self, told: &RobustTold<'_>) -> io::Result<()> {
        if let Some(screen) = &mut self.screen {
            screen.told(told);
        }
        if !self.speaks() {
            return Ok(());
        }
        let line = match self.json {
            true => json::told(told, self.named),
            false => text::told(told, self.named, self.context.style),
        };
        writeln!(self.context.out, "{line}")
    }

    fn signals(&mut self, names: &[String]) {
        if let Some(screen) = &mut self.screen {
            screen.signals(names);
        }
    }

    fn sample(&mut self, position: usize, signals: &[f64]) {
        if let Some(screen) = &mut self.screen {
            screen.sample(position, signals, self.started.elapsed());
        }
    }
}

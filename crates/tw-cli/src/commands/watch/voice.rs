//! What a watch says: verdicts on standard output, flushed at once; everything else on standard error.

use super::alarm::Alarm;
use crate::context::Context;
use crate::json::{self, Object};
use crate::style::Ink;
use crate::words;
use std::io::{self, Write};
use std::time::Instant;
use tracewise::{
    Diagnostic, Error, Pending, Sources, Verdict, WatchReport, WatchSink, WatchValue, WatchVerdict,
};

/// Characters of a log line shown to people.
const SHOWN: usize = 120;

/// Tells a watch's findings.
pub struct Voice<'v> {
    pub context: &'v mut Context,
    pub sources: &'v Sources,
    pub json: bool,
    pub alarm: Option<Alarm>,
    pub started: Instant,
}

impl Voice<'_> {
    /// Waits for the commands that violations started.
    pub fn silence(&mut self) {
        if let Some(alarm) = self.alarm.take() {
            alarm.finish().iter().for_each(|note| self.note(note));
        }
    }

    /// How it went, for people.
    pub fn summary(&mut self, report: &WatchReport) {
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
        let positions = words::counted(report.positions, "position");
        let elapsed = words::duration(self.started.elapsed());
        let nothing = if report.positions == 0 { "nothing was read, so nothing is decided: " } else { "" };
        self.note(&format!("{nothing}{positions}{left_out}; engine {}, {elapsed}", report.engine));
    }

    fn tell(&mut self, text: &str) {
        // What was said before stands before it on a terminal that shows both.
        let _ = self.context.out.flush();
        let _ = writeln!(io::stderr().lock(), "{text}");
    }

    fn value_text(&self, value: &WatchValue) -> String {
        let style = self.context.style;
        let name = words::clip(&words::printable(&value.query), 200);
        let shown = match &value.fault {
            Some(fault) => format!("cannot be computed: {fault}"),
            None => words::printable(&words::value(&value.value)),
        };
        let bounds = value.approximate.iter().map(|bound| format!("; {bound}")).collect::<String>();
        let place = style.paint(Ink::Faint, format!("(up to position {}{bounds})", value.position));
        format!("= {} {shown} {place}", style.paint(Ink::Strong, name))
    }

    fn text(&self, verdict: &WatchVerdict<'_>) -> String {
        let style = self.context.style;
        let (ink, mark) = match verdict.verdict {
            Verdict::Satisfied => (Ink::Good, "✓"),
            Verdict::Violated => (Ink::Bad, "✗"),
            Verdict::Unknown => (Ink::Open, "?"),
        };
        let name = words::clip(&words::printable(verdict.property), 200);
        let mut text = format!("{} {} ", style.paint(ink, mark), style.paint(Ink::Strong, name));
        text.push_str(verdict.verdict.as_str());
        match (verdict.about, verdict.settled) {
            (Some(about), true) => {
                text.push_str(&format!(" at position {about} (settled by {})", verdict.position))
            }
            (Some(about), false) => text.push_str(&format!(" at position {about} if the trace ends here")),
            (None, true) => text.push_str(&format!(" by position {}", verdict.position)),
            (None, false) => {
                text.push_str(&format!(" if the trace ends here, at position {}", verdict.position))
            }
        }
        if let Some(line) = &verdict.line {
            let shown = words::clip(&words::printable(&line.text), SHOWN);
            let place = format!("{}:{}", line.file, line.line);
            text.push_str(&format!("  {} {shown}", style.paint(Ink::Frame, place)));
        }
        if let Some(pending) = verdict.pending.as_ref().filter(|_| verdict.verdict == Verdict::Violated) {
            let owed = words::clip(&words::printable(&pending.owed), 200);
            text.push_str(&format!("; owed since position {}: {owed}", pending.since));
        }
        text
    }
}

/// A value as an object.
fn value_object(value: &WatchValue) -> String {
    let object = Object::new()
        .field("query", value.query.as_str())
        .raw("value", &json::value(&value.value))
        .field("position", value.position)
        .maybe("error", value.fault.as_deref());
    match value.approximate.as_slice() {
        [] => object.end(),
        bounds => {
            let bounds = bounds.iter().map(|bound| serde_json::Value::from(bound.as_str()).to_string());
            object.raw("approximate", &json::array(bounds)).end()
        }
    }
}

/// A verdict as an object.
fn object(verdict: &WatchVerdict<'_>) -> String {
    let mut object = Object::new()
        .field("property", verdict.property)
        .field("verdict", verdict.verdict.as_str())
        .field("position", verdict.about.unwrap_or(verdict.position))
        .field("settled", verdict.settled);
    if verdict.about.is_some() {
        return object.field("by", verdict.position).end();
    }
    if verdict.settled {
        object = object.raw("line", &verdict.line.as_ref().map_or("null".into(), json::line));
    }
    if let Some(pending) = &verdict.pending {
        object = object.field("pending", pending.owed.as_str()).field("since", pending.since);
    }
    object.end()
}

impl WatchSink for Voice<'_> {
    fn verdict(&mut self, verdict: &WatchVerdict<'_>) -> io::Result<()> {
        if verdict.settled
            && verdict.verdict == Verdict::Violated
            && let Some(alarm) = &mut self.alarm
        {
            alarm.ring(verdict, object(verdict));
        }
        if self.context.quiet {
            return Ok(());
        }
        let line = if self.json { object(verdict) } else { self.text(verdict) };
        writeln!(self.context.out, "{line}")
    }

    fn value(&mut self, value: &WatchValue) -> io::Result<()> {
        if self.context.quiet {
            return Ok(());
        }
        let line = if self.json { value_object(value) } else { self.value_text(value) };
        writeln!(self.context.out, "{line}")
    }

    fn pending(&mut self, positions: u64, pending: &[Pending<'_>]) -> io::Result<()> {
        if self.context.quiet {
            return Ok(());
        }
        if self.json {
            for owed in pending {
                let object = Object::new()
                    .field("pending", owed.owed.as_str())
                    .field("property", owed.property)
                    .field("since", owed.since)
                    .field("line", owed.line)
                    .field("positions", positions);
                writeln!(self.context.out, "{}", object.end())?;
            }
            if pending.is_empty() {
                let nothing = Object::new().raw("pending", "null").field("positions", positions);
                writeln!(self.context.out, "{}", nothing.end())?;
            }
            return Ok(());
        }
        let count = words::counted(positions, "position");
        let mut text = match pending.is_empty() {
            true => format!("after {count} nothing is pending"),
            false => format!("pending after {count}:"),
        };
        for owed in pending {
            let formula = words::clip(&words::printable(&owed.owed), 300);
            let name = self.context.error_style.paint(Ink::Strong, words::printable(owed.property));
            let line = owed.line.map_or(String::new(), |line| format!(" (line {line})"));
            text.push_str(&format!("\n  {name} since position {}{line}: {formula}", owed.since));
        }
        self.tell(&text);
        Ok(())
    }

    fn bad_line(&mut self, error: &Error) {
        self.context.error(error);
    }

    fn note(&mut self, note: &str) {
        if self.context.quiet {
            return;
        }
        let text = match self.json {
            true => Object::new().field("note", note).end(),
            false => self.context.error_style.paint(Ink::Faint, note),
        };
        self.tell(&text);
    }

    fn warnings(&mut self, warnings: &[Diagnostic]) {
        self.context.warnings(warnings, self.sources);
    }

    fn flush(&mut self) -> io::Result<()> {
        self.context.out.flush()
    }

    fn closed(&self) -> bool {
        // A command may still be wanted when nobody reads.
        self.context.out.closed() && self.alarm.is_none()
    }
}

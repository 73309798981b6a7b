//! What a watch says: verdicts on standard output, flushed at once; everything else on standard error.

use super::alarm::Alarm;
use crate::context::Context;
use crate::style::Ink;
use crate::words;
use std::io::{self, Write};
use std::time::Instant;
use tracewise::diag::{Diagnostic, Sources};
use tracewise::findings::Gathered;
use tracewise::findings::json::watch as object;
use tracewise::watch::{
    Deadline, Due, LiveSink, Observation, Pending, WatchReport, WatchSink, WatchValue, WatchVerdict,
};
use tracewise::{Error, Verdict};

/// Characters of a log line shown to people.
const SHOWN: usize = 120;

/// Tells a watch's findings.
pub struct Printer<'v> {
    pub context: &'v mut Context,
    pub sources: &'v Sources,
    pub json: bool,
    /// Whether verdicts about positions are those of an observer.
    pub observers: bool,
    /// For forms that are written when the watch ends; lines are not, then.
    pub gathered: Option<Gathered>,
    pub alarm: Option<Alarm>,
    pub started: Instant,
}

impl Printer<'_> {
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

    fn value_text(&self, value: &WatchValue) -> String {
        let style = self.context.style;
        let name = words::clip(&words::printable(&value.query), 200);
        let shown = match &value.fault {
            Some(fault) => format!("cannot be computed: {fault}"),
            None => words::printable(&words::value(&value.value)),
        };
        let bounds = value.approximate.iter().map(|bound| format!("; {bound}")).collect::<String>();
        let key = match value.bindings.as_slice() {
            [] => String::new(),
            key => format!("{}; ", words::bindings(key)),
        };
        let ended =
            value.ended.map_or(String::new(), |ended| format!(", where its trace ended ({})", ended.name()));
        let place = format!("({key}up to position {}{ended}{bounds})", value.position);
        let place = style.paint(Ink::Faint, place);
        format!("= {} {shown} {place}", style.paint(Ink::Strong, name))
    }

    fn text(&self, verdict: &WatchVerdict<'_>) -> String {
        let style = self.context.style;
        let mut text = self.name(verdict.verdict, verdict.property);
        if self.observers {
            text.push_str("settled: ");
        }
        text.push_str(verdict.verdict.as_str());
        let time = verdict.time.map(tracewise::trace::Stamp::format);
        let at_time = || time.as_ref().map_or(String::new(), |time| format!(" ({time})"));
        match (verdict.about, verdict.settled, &verdict.due) {
            (Some(about), true, None) => {
                let by = verdict.position;
                text.push_str(&match &time {
                    Some(time) => format!(" at position {about} ({time}), settled by {by}"),
                    None => format!(" at position {about} (settled by {by})"),
                })
            }
            (Some(about), true, Some(due)) => {
                let due = came_due(due, verdict.verdict);
                text.push_str(&format!(" at position {about}{}: {due}", at_time()))
            }
            (Some(about), false, _) => {
                text.push_str(&format!(" at position {about}{} if the trace ends here", at_time()))
            }
            (None, true, None) => text.push_str(&format!(" by position {}{}", verdict.position, at_time())),
            (None, true, Some(due)) => {
                let at = time.map_or(String::new(), |time| format!(" at {time}"));
                text.push_str(&format!("{at}: {}", came_due(due, verdict.verdict)))
            }
            (None, false, _) => {
                text.push_str(&format!(" if the trace ends here, at position {}", verdict.position))
            }
        }
        if let Some(found) = &verdict.required {
            text.push_str(&format!("  {}", words::printable(&words::required(found))));
        }
        if let Some(ended) = verdict.ended {
            text.push_str(&format!(", where its trace ended ({})", ended.name()));
        }
        if !verdict.bindings.is_empty() {
            text.push_str(&format!("  {}", style.paint(Ink::Faint, words::bindings(&verdict.bindings))));
        }
        if let Some(line) = verdict.line.as_ref().filter(|_| verdict.about.is_none()) {
            let shown = words::clip(&words::printable(&line.text), SHOWN);
            let place = words::printable(&format!("{}:{}", line.file, line.line));
            text.push_str(&format!("  {} {shown}", style.paint(Ink::Frame, place)));
        }
        text.push_str(&failures(verdict));
        if let Some(said) = verdict.violation.as_ref().and_then(|found| found.text.as_ref()) {
            text.push_str(&format!(": {}", words::clip(&words::printable(said), 200)));
        }
        if let Some(pending) = verdict.pending.as_ref().filter(|_| verdict.verdict == Verdict::Violated) {
            let owed = words::clip(&words::printable(&pending.owed), 200);
            text.push_str(&format!("; owed since position {}: {owed}", pending.since));
            text.push_str(&by_when(pending.deadline));
            if verdict.more_pending > 0 {
                text.push_str(&format!(" (and {} more)", words::count(verdict.more_pending as u64)));
            }
        }
        text
    }

    /// A mark and the property's name.
    fn name(&self, verdict: Verdict, property: &str) -> String {
        let style = self.context.style;
        let (ink, mark) = match verdict {
            Verdict::Satisfied => (Ink::Good, "✓"),
            Verdict::Violated => (Ink::Bad, "✗"),
            Verdict::Unknown => (Ink::Open, "?"),
        };
        let name = words::clip(&words::printable(property), 200);
        format!("{} {} ", style.paint(ink, mark), style.paint(Ink::Strong, name))
    }

    fn observation_text(&self, seen: &Observation<'_>) -> String {
        let name = self.name(seen.verdict, seen.property);
        let time = seen.time.map_or(String::new(), |time| format!(" ({})", time.format()));
        format!("{name}now: {} at position {}{time}", seen.verdict.as_str(), seen.position)
    }
}

/// Which positions failed, where that is more than the line says already.
fn failures(verdict: &WatchVerdict<'_>) -> String {
    let Some(violation) = &verdict.violation else { return String::new() };
    let line = violation.line.as_ref().map_or(String::new(), |line| format!(" (line {})", line.line));
    let bound = !violation.bindings.is_empty() || violation.infinite;
    let with = match violation.bindings.as_slice() {
        [] => String::new(),
        bindings => format!(" with {}", words::bindings(bindings)),
    };
    // What a monitor reports where the trace ends is nowhere.
    let Some(position) = violation.position else { return with };
    match verdict.violation_count {
        0 | 1 if position == verdict.position && verdict.settled => with,
        0 | 1 => format!("; fails at position {position}{line}{with}"),
        // Several values may fail at one position.
        count if bound => {
            format!("; fails {} times, first at {position}{line}{with}", words::count(count))
        }
        count => format!("; fails at {} positions, first at {position}{line}{with}", words::count(count)),
    }
}

/// ` by 12:00:05`, where that is known.
fn by_when(deadline: Option<Deadline>) -> String {
    match deadline {
        Some(Deadline::Time(stamp)) => format!(" by {}", stamp.format()),
        Some(Deadline::Position(position)) => format!(" by position {position}"),
        None => String::new(),
    }
}

/// An obligation that came due, in plain words.
fn came_due(due: &Due, verdict: Verdict) -> String {
    let (since, by) = (due.since, due.deadline.format());
    if verdict == Verdict::Violated
        && let Some((bound, goal)) = eventually(&due.owed)
    {
        let goal = words::clip(&words::printable(goal), 200);
        // A bare number is one of the trace's unit, which the reader may not know.
        let after = match bound.ends_with(|last: char| last.is_ascii_alphabetic()) {
            true => format!("{bound} after position {since}"),
            false => format!("for position {since}"),
        };
        return format!("no `{goal}` by {by} ({after})");
    }
    let owed = words::clip(&words::printable(&due.owed), 200);
    format!("`{owed}` of position {since} came due at {by}")
}

/// The upper bound and φ of `F[a,b] φ`.
fn eventually(owed: &str) -> Option<(&str, &str)> {
    let rest = owed.strip_prefix("F[").or_else(|| owed.strip_prefix("F("))?;
    let (bounds, goal) = rest.split_once([']', ')'])?;
    let (_, bound) = bounds.split_once(',')?;
    Some((bound.trim(), goal.trim()))
}

impl LiveSink for Printer<'_> {
    fn bad_line(&mut self, error: &Error) {
        self.context.error(error);
    }

    fn note(&mut self, note: &str) {
        if self.context.quiet {
            return;
        }
        let text = match self.json {
            true => object::note(note),
            false => self.context.error_style.paint(Ink::Faint, note),
        };
        self.context.tell(&text);
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

impl WatchSink for Printer<'_> {
    fn verdict(&mut self, verdict: &WatchVerdict<'_>) -> io::Result<()> {
        if verdict.settled
            && verdict.verdict == Verdict::Violated
            && let Some(alarm) = &mut self.alarm
        {
            alarm.ring(verdict, object::verdict(verdict, self.observers));
        }
        if self.context.quiet {
            return Ok(());
        }
        if let Some(gathered) = &mut self.gathered {
            gathered.verdict(verdict);
            return Ok(());
        }
        let line = match self.json {
            true => object::verdict(verdict, self.observers),
            false => self.text(verdict),
        };
        writeln!(self.context.out, "{line}")
    }

    fn observation(&mut self, seen: &Observation<'_>) -> io::Result<()> {
        if self.context.quiet || self.gathered.is_some() {
            return Ok(());
        }
        let line = if self.json { object::observation(seen) } else { self.observation_text(seen) };
        writeln!(self.context.out, "{line}")
    }

    fn value(&mut self, value: &WatchValue) -> io::Result<()> {
        if self.context.quiet {
            return Ok(());
        }
        if let Some(gathered) = &mut self.gathered {
            gathered.value(value);
            return Ok(());
        }
        let line = if self.json { object::value(value) } else { self.value_text(value) };
        writeln!(self.context.out, "{line}")
    }

    fn pending(&mut self, positions: u64, pending: &[Pending<'_>]) -> io::Result<()> {
        if self.context.quiet {
            return Ok(());
        }
        if self.json {
            for owed in pending {
                writeln!(self.context.out, "{}", object::pending(owed, positions))?;
            }
            if pending.is_empty() {
                writeln!(self.context.out, "{}", object::nothing_pending(positions))?;
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
            let by = by_when(owed.deadline);
            text.push_str(&format!("\n  {name} since position {}{line}: {formula}{by}", owed.since));
        }
        self.context.tell(&text);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracewise::trace::{Stamp, TimeStyle};

    #[test]
    fn what_did_not_come_is_said_in_plain_words() {
        let due = |owed: &str| {
            let deadline = Stamp { time: 5_000_000_000, style: TimeStyle::Text };
            Due { since: 17, owed: owed.to_string(), deadline }
        };
        let by = "1970-01-01T00:00:05Z";
        let said = |owed, verdict| came_due(&due(owed), verdict);
        assert_eq!(
            said("F[0,5s] ack", Verdict::Violated),
            format!("no `ack` by {by} (5s after position 17)")
        );
        assert_eq!(
            said("F(1,5) (a | b)", Verdict::Violated),
            format!("no `(a | b)` by {by} (for position 17)")
        );
        for (owed, verdict) in [
            ("G[0,5s] p", Verdict::Satisfied),
            ("a U[0,5s] b", Verdict::Violated),
            ("F ack", Verdict::Violated),
        ] {
            assert_eq!(said(owed, verdict), format!("`{owed}` of position 17 came due at {by}"));
        }
    }
}

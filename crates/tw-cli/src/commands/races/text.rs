//! Findings for people: who, where, the log lines, and why.

use super::at;
use crate::style::{Ink, Style};
use crate::words;
use std::io::{self, Write};
use std::time::Duration;
use tracewise::{Deadlock, Place, Race, RacesReport, Use};

/// Writes what was found on one trace.
pub(super) fn write(
    report: &RacesReport,
    elapsed: Duration,
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    Page { report, style, out }.write(elapsed)
}

/// `a`, `b` and `c`
fn names<'n>(names: impl IntoIterator<Item = &'n String>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("`{}`", words::printable(name))).collect();
    match names.split_last() {
        None => String::new(),
        Some((last, [])) => last.clone(),
        Some((last, before)) => format!("{} and {last}", before.join(", ")),
    }
}

fn locks(held: &[String]) -> String {
    if held.is_empty() { "no lock".to_string() } else { names(held) }
}

fn verb(usage: &Use) -> &'static str {
    if usage.write { "writes" } else { "reads" }
}

/// The text about one trace.
struct Page<'a> {
    report: &'a RacesReport,
    style: Style,
    out: &'a mut dyn Write,
}

impl Page<'_> {
    fn write(mut self, elapsed: Duration) -> io::Result<()> {
        let found = &self.report.found;
        found.deadlocks.iter().try_for_each(|deadlock| self.deadlock(deadlock))?;
        found.races.iter().try_for_each(|race| self.race(race))?;
        let kinds =
            [(found.deadlocks.len(), "possible deadlock"), (found.races.len(), "unprotected variable")];
        let kinds = kinds.iter().filter(|(count, _)| *count > 0);
        let kinds: Vec<String> = kinds.map(|(count, noun)| words::counted(*count as u64, noun)).collect();
        let outcome = if kinds.is_empty() { "nothing found".to_string() } else { kinds.join(", ") };
        let seen = found.seen;
        let summary = format!(
            "{outcome} on {} ({}: {}, {}, {}), {}",
            self.report.trace,
            words::counted(seen.accesses, "event"),
            words::counted(seen.threads, "thread"),
            words::counted(seen.locks, "lock"),
            words::counted(seen.variables, "variable"),
            words::duration(elapsed)
        );
        for line in words::wrap(&summary, self.style.width) {
            writeln!(self.out, "{}", self.style.paint(Ink::Faint, line))?;
        }
        self.out.flush()
    }

    fn deadlock(&mut self, deadlock: &Deadlock) -> io::Result<()> {
        let turns = &deadlock.turns;
        let threads = names(turns.iter().map(|turn| &turn.thread));
        self.head("deadlock", &format!("threads {threads} can wait for each other for ever"))?;
        let places: Vec<Place> = turns.iter().flat_map(|turn| [turn.held_at, turn.at]).collect();
        let gutter = self.gutter(&places);
        if let Some(first) = turns.first() {
            self.place(gutter, first.at)?;
        }
        for (index, turn) in turns.iter().enumerate() {
            self.quote(gutter, turn.held_at)?;
            if turn.at.line != turn.held_at.line {
                self.quote(gutter, turn.at)?;
            }
            let holder = &turns[(index + 1) % turns.len()].thread;
            let others: Vec<String> = turn.held.iter().filter(|lock| **lock != turn.holds).cloned().collect();
            let others =
                if others.is_empty() { String::new() } else { format!(", with {} held too", names(&others)) };
            self.note(
                gutter,
                &format!(
                    "{} holds {} and wants {}, which {} may hold{others}",
                    names([&turn.thread]),
                    names([&turn.holds]),
                    names([&turn.wants]),
                    names([holder]),
                ),
            )?;
        }
        let both = if turns.len() == 2 { "both" } else { "two of them" };
        self.note(gutter, &format!("no lock held by {both} keeps them apart"))
    }

    fn race(&mut self, race: &Race) -> io::Result<()> {
        let variable = words::printable(&race.variable);
        self.head("race", &format!("no lock protects variable `{variable}`"))?;
        let uses: Vec<&Use> =
            [race.write.as_ref(), Some(&race.earlier), Some(&race.access)].into_iter().flatten().collect();
        let places: Vec<Place> = uses.iter().map(|usage| usage.at).collect();
        let gutter = self.gutter(&places);
        self.place(gutter, race.access.at)?;
        for usage in uses {
            self.quote(gutter, usage.at)?;
            let locks = locks(&usage.locks);
            self.note(gutter, &format!("{} {} it holding {locks}", names([&usage.thread]), verb(usage)))?;
        }
        let why = match race.protected_by.as_slice() {
            [] => {
                "several threads use it, at least one writes it, and no lock is held at every use".to_string()
            }
            held => format!("every use before, since threads share it, was under {}", names(held)),
        };
        self.note(gutter, &why)
    }

    fn head(&mut self, kind: &str, text: &str) -> io::Result<()> {
        let (mark, kind) = (self.style.paint(Ink::Bad, "✗"), self.style.paint(Ink::Strong, kind));
        writeln!(self.out, "{mark} {kind}  {text}")
    }

    fn gutter(&self, places: &[Place]) -> usize {
        let widest = places.iter().map(|place| self.report.line(*place).line).max();
        widest.map_or(1, |line| line.to_string().len()) + 2
    }

    fn place(&mut self, gutter: usize, place: Place) -> io::Result<()> {
        let at = self.clipped(&at(self.report, place), gutter + 4);
        let corner = self.style.paint(Ink::Frame, format!("{:>gutter$} ╭─", ""));
        writeln!(self.out, "{corner} {at}")
    }

    fn quote(&mut self, gutter: usize, place: Place) -> io::Result<()> {
        let line = self.report.line(place);
        let text = self.clipped(&words::printable(&line.text), gutter + 3);
        let bar = self.style.paint(Ink::Frame, format!("{:>gutter$} │", line.line));
        writeln!(self.out, "{bar} {text}")
    }

    fn note(&mut self, gutter: usize, text: &str) -> io::Result<()> {
        let width = self.style.width.map(|width| width.saturating_sub(gutter + 3));
        for (index, line) in words::wrap(text, width).iter().enumerate() {
            let stroke = if index == 0 { "=" } else { " " };
            writeln!(
                self.out,
                "{} {line}",
                self.style.paint(Ink::Frame, format!("{:>gutter$} {stroke}", ""))
            )?;
        }
        Ok(())
    }

    /// Cut at the terminal's edge when `used` columns stand before it.
    fn clipped(&self, text: &str, used: usize) -> String {
        let cut = |width: usize| words::clip(text, width.saturating_sub(used).max(20));
        self.style.width.map_or(text.to_string(), cut)
    }
}

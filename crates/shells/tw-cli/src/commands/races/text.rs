//! Findings for people: who, where, the log lines, and why.

use crate::report::{Apart, Outlet, Reporter};
use crate::style::{Ink, Style};
use crate::words;
use std::io;
use tracewise::check::LogLine;
use tracewise::findings::{About, Detail, Item, Report};

/// Writes what was found on each trace.
pub struct Text {
    style: Style,
    apart: Apart,
}

impl Text {
    /// For a stream of that style.
    pub fn new(style: Style) -> Self {
        Self { style, apart: Apart::default() }
    }
}

impl Reporter for Text {
    fn report(&mut self, report: &Report, out: &mut dyn Outlet) -> io::Result<()> {
        self.apart.next(out)?;
        Page { report, style: self.style, out }.write()
    }
}

/// The text about one trace.
struct Page<'a> {
    report: &'a Report,
    style: Style,
    out: &'a mut dyn Outlet,
}

impl Page<'_> {
    fn write(mut self) -> io::Result<()> {
        self.report.items.iter().try_for_each(|item| self.item(item))?;
        let count = |about| self.report.items.iter().filter(|item| item.about == about).count() as u64;
        let kinds = [(About::Deadlock, "possible deadlock"), (About::Race, "unprotected variable")];
        let kinds = kinds.iter().map(|(about, noun)| (count(*about), noun)).filter(|(count, _)| *count > 0);
        let kinds: Vec<String> = kinds.map(|(count, noun)| words::counted(count, noun)).collect();
        let outcome = if kinds.is_empty() { "nothing found".to_string() } else { kinds.join(", ") };
        let statistics = &self.report.statistics;
        let seen = |name: &str, noun| words::counted(statistics.count(name).unwrap_or(0), noun);
        let summary = format!(
            "{outcome} on {} ({}: {}, {}, {}), {}",
            words::printable(&self.report.subject),
            seen("events", "event"),
            seen("threads", "thread"),
            seen("locks", "lock"),
            seen("variables", "variable"),
            words::duration(statistics.elapsed)
        );
        for line in words::wrap(&summary, self.style.width) {
            writeln!(self.out, "{}", self.style.paint(Ink::Faint, line))?;
        }
        self.out.flush()
    }

    /// What is wrong, and below it the lines with what is to be said about each.
    fn item(&mut self, item: &Item) -> io::Result<()> {
        self.head(item.about.name(), item.title.as_deref().unwrap_or_default())?;
        let quoted: Vec<Vec<&LogLine>> = match &item.detail {
            Detail::Deadlock(turns) => turns
                .iter()
                .map(|turn| match turn.line == turn.held_line {
                    true => vec![&turn.held_line],
                    false => vec![&turn.held_line, &turn.line],
                })
                .collect(),
            Detail::Race(race) => race.accesses().map(|access| vec![&access.line]).collect(),
            _ => Vec::new(),
        };
        let widest = quoted.iter().flatten().map(|line| line.line).max();
        let gutter = widest.map_or(1, |line| line.to_string().len()) + 2;
        if let Some(line) = item.violations.first().and_then(|violation| violation.line.as_ref()) {
            self.place(gutter, line)?;
        }
        // The last remark is about all of them.
        for (index, remark) in item.remarks.iter().enumerate() {
            for line in quoted.get(index).into_iter().flatten() {
                self.quote(gutter, line)?;
            }
            self.note(gutter, remark)?;
        }
        Ok(())
    }

    fn head(&mut self, kind: &str, text: &str) -> io::Result<()> {
        let (mark, kind) = (self.style.paint(Ink::Bad, "✗"), self.style.paint(Ink::Strong, kind));
        writeln!(self.out, "{mark} {kind}  {text}")
    }

    fn place(&mut self, gutter: usize, line: &LogLine) -> io::Result<()> {
        let at = self.clipped(&words::printable(&format!("{}:{}", line.file, line.line)), gutter + 4);
        let corner = self.style.paint(Ink::Frame, format!("{:>gutter$} ╭─", ""));
        writeln!(self.out, "{corner} {at}")
    }

    fn quote(&mut self, gutter: usize, line: &LogLine) -> io::Result<()> {
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

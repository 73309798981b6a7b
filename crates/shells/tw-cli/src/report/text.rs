//! `check --output text`: for people. What failed, the log line where it failed, and why, in their own words.

use super::{Apart, Outlet, Reporter, guarantee, statistics};
use crate::style::{Ink, Style};
use crate::words;
use std::io;
use tracewise::check::{LogLine, Step};
use tracewise::findings::{Detail, Item, Report, ViolationRange};
use tracewise::{Error, Value, Verdict};

/// Writes each trace as soon as it is checked.
pub struct Text {
    style: Style,
    apart: Apart,
    /// Traces checked, and those of them with violations.
    checked: (u64, u64),
    unreadable: u64,
}

impl Text {
    /// A reporter for a stream of that style.
    pub fn new(style: Style) -> Self {
        Self { style, apart: Apart::default(), checked: (0, 0), unreadable: 0 }
    }
}

impl Reporter for Text {
    fn report(&mut self, report: &Report, out: &mut dyn Outlet) -> io::Result<()> {
        self.apart.next(out)?;
        self.checked.0 += 1;
        self.checked.1 += u64::from(report.violated().next().is_some());
        for property in &report.items {
            Page {
                style: self.style,
                report,
                out: &mut *out,
                shown: Vec::new(),
                gutter: 0,
                focus: Vec::new(),
            }
            .property(property)?;
        }
        let summary = summary(report);
        for line in words::wrap(&summary, self.style.width) {
            writeln!(out, "{}", self.style.paint(Ink::Faint, line))?;
        }
        out.flush()
    }

    fn error(&mut self, trace: Option<&str>, _: &Error, _: &mut dyn Outlet) -> io::Result<()> {
        self.unreadable += u64::from(trace.is_some());
        Ok(())
    }

    fn finish(&mut self, out: &mut dyn Outlet) -> io::Result<()> {
        let (checked, violated) = self.checked;
        if checked + self.unreadable < 2 {
            return Ok(());
        }
        let mut parts = vec![match violated {
            0 => "none with violations".to_string(),
            some => format!("{} with violations", words::count(some)),
        }];
        if self.unreadable > 0 {
            parts.push(format!("{} not checked", words::count(self.unreadable)));
        }
        let line = format!("{}: {}", words::counted(checked + self.unreadable, "trace"), parts.join(", "));
        writeln!(out, "\n{}", self.style.paint(Ink::Strong, line))
    }
}

fn summary(report: &Report) -> String {
    let statistics = &report.statistics;
    let of = |verdict| report.with(verdict).count() as u64;
    let (all, violated, unknown) = (report.items.len() as u64, of(Verdict::Violated), of(Verdict::Unknown));
    let properties = words::counted(all, "property");
    let outcome = match (violated, unknown) {
        (0, 0) if all == 1 => "the property holds".to_string(),
        (1, 0) if all == 1 => "the property is violated".to_string(),
        (0, 1) if all == 1 => "the property is undecided".to_string(),
        (0, 0) => format!("all {properties} hold"),
        (0, open) => format!("{} of {properties} undecided", words::count(open)),
        (bad, 0) => format!("{} of {properties} violated", words::count(bad)),
        (bad, open) => {
            format!("{} of {properties} violated, {} undecided", words::count(bad), words::count(open))
        }
    };
    let by = match &statistics.by {
        Some((column, values)) => format!(" for {} of {column}", words::counted(*values as u64, "value")),
        None => String::new(),
    };
    let engine = statistics.engine.unwrap_or_default();
    let positions = words::counted(statistics.positions.unwrap_or(0), "position");
    let elapsed = words::duration(statistics.elapsed);
    format!(
        "{outcome} on {} ({positions}){by}; engine {}, {elapsed}",
        words::printable(&report.subject),
        engine
    )
}

/// The lines about one property.
struct Page<'a> {
    style: Style,
    report: &'a Report,
    out: &'a mut dyn Outlet,
    /// Log lines already on the page.
    shown: Vec<(String, u64)>,
    /// Width of the line numbers.
    gutter: usize,
    /// The variables that decide the property where it fails first.
    focus: Vec<(String, Value)>,
}

/// Most characters of a log line where no terminal is narrower.
const WIDEST: usize = 500;

impl Page<'_> {
    fn property(mut self, property: &Item) -> io::Result<()> {
        let (ink, mark) = match property.verdict {
            Some(Verdict::Satisfied) => (Ink::Good, "✓"),
            Some(Verdict::Violated) => (Ink::Bad, "✗"),
            Some(Verdict::Unknown) | None => (Ink::Open, "?"),
        };
        let name =
            words::clip(&words::printable(&property.name), self.style.width.unwrap_or(400).max(20) - 2);
        write!(self.out, "{} {}", self.style.paint(ink, mark), self.style.paint(Ink::Strong, &name))?;
        let settled = match &property.detail {
            Detail::Required(found) => Some(words::printable(&words::required(found))),
            _ => words::undecided(property),
        };
        let remarks = [property.title.as_deref().map(words::printable), settled];
        let remarks: Vec<String> = remarks.into_iter().flatten().collect();
        let remarks = remarks.join("  ");
        let fits =
            self.style.width.is_none_or(|width| 4 + name.chars().count() + remarks.chars().count() <= width);
        if remarks.is_empty() {
            writeln!(self.out)?;
        } else if fits {
            writeln!(self.out, "  {remarks}")?;
        } else {
            writeln!(self.out)?;
            for line in words::wrap(&remarks, self.style.width.map(|width| width.saturating_sub(2))) {
                writeln!(self.out, "  {line}")?;
            }
        }
        let number =
            property.violations.first().and_then(|violation| violation.line.as_ref()).map_or(0, |l| l.line);
        self.gutter = number.to_string().len() + 2;
        self.focus = words::focus(property);
        let ranges = property.ranges();
        let mut violations = ranges.iter();
        if let Some(first) = violations.next() {
            self.first_violation(first)?;
        } else if property.explanation.is_none() {
            self.remainder(property)?;
            self.instants(property)?;
            return self.statistic(property);
        }
        match (words::core(property), property.violations.first().and_then(|found| found.text.as_ref())) {
            (Some(explanation), _) => self.explanation(explanation)?,
            (None, Some(said)) => self.note(&words::printable(said))?,
            (None, None) => {}
        }
        self.drawing(property)?;
        for violation in violations {
            self.other_violation(violation)?;
        }
        self.remainder(property)?;
        self.instants(property)?;
        self.statistic(property)
    }

    /// A chart, with how far it got.
    fn drawing(&mut self, property: &Item) -> io::Result<()> {
        let bar = self.frame("", "│");
        for line in &property.drawing {
            writeln!(self.out, "{bar} {}", words::printable(line))?;
        }
        Ok(())
    }

    /// With `--clock-error`, the instants at which it fails.
    fn instants(&mut self, property: &Item) -> io::Result<()> {
        match property.guarantee.as_ref().and_then(guarantee::instants) {
            Some(text) => self.note(&text),
            None => Ok(()),
        }
    }

    /// What `--stat` found.
    fn statistic(&mut self, property: &Item) -> io::Result<()> {
        let Some(statistic) = &property.statistic else { return Ok(()) };
        for line in statistics::text(property, statistic, self.style) {
            writeln!(self.out, "  {line}")?;
        }
        Ok(())
    }

    /// The place and the log line of the first violation, and of its neighbours how far they go.
    fn first_violation(&mut self, range: &ViolationRange) -> io::Result<()> {
        let violation = &range.first;
        let file = match &violation.line {
            Some(_) => words::printable(&words::lines(range)),
            None => words::printable(&self.report.subject),
        };
        let place = words::range(range, " · ");
        if violation.line.is_none() && place.is_empty() {
            return Ok(());
        }
        let corner = self.frame("", "╭─");
        let place = if place.is_empty() { file } else { format!("{file} · {place}") };
        writeln!(self.out, "{corner} {}", self.clipped(&place, self.gutter + 4))?;
        let Some(line) = &violation.line else { return Ok(()) };
        self.shown.push((line.file.clone(), line.line));
        let text = self.focused(&words::printable(&line.text), self.gutter + 3);
        let bar = self.frame(&line.line.to_string(), "│");
        writeln!(self.out, "{bar} {text}")
    }

    /// A log line that a step rests on, below it; each line once on a page.
    fn quote(&mut self, line: &LogLine, indent: &str) -> io::Result<()> {
        let key = (line.file.clone(), line.line);
        if self.shown.contains(&key) {
            return Ok(());
        }
        self.shown.push(key);
        let number = format!("{indent}{} │", line.line);
        let text = self.focused(&words::printable(&line.text), self.gutter + 4 + number.chars().count());
        let blank = self.frame("", " ");
        writeln!(self.out, "{blank} {} {text}", self.style.paint(Ink::Frame, number))
    }

    fn explanation(&mut self, root: &Step) -> io::Result<()> {
        if !self.shown.is_empty() {
            let bar = self.frame("", "│");
            writeln!(self.out, "{bar}")?;
        }
        for (levels, step) in words::steps(root) {
            let (first, rest) = branches(&levels, step.because.is_empty());
            let (ink, mark) = if step.holds { (Ink::Good, "✓") } else { (Ink::Bad, "✗") };
            let used = self.gutter + 3 + first.chars().count() + 2;
            let lines = words::wrap(
                &words::printable(&words::step(step)),
                self.style.width.map(|width| width.saturating_sub(used)),
            );
            let corner = self.frame("", if levels.is_empty() { "=" } else { " " });
            for (index, line) in lines.iter().enumerate() {
                if index == 0 {
                    let branch = self.style.paint(Ink::Frame, &first);
                    writeln!(self.out, "{corner} {branch}{} {line}", self.style.paint(ink, mark))?;
                } else {
                    let bar = self.frame("", " ");
                    writeln!(self.out, "{bar} {}{line}", self.style.paint(Ink::Frame, &rest))?;
                }
            }
            // Leaves are what the trace says, so they quote it.
            if let Some(line) = &step.line
                && step.because.is_empty()
            {
                self.quote(line, &rest)?;
            }
        }
        Ok(())
    }

    fn other_violation(&mut self, range: &ViolationRange) -> io::Result<()> {
        let place = words::range(range, ", ");
        let text = match &range.first.line {
            Some(line) => {
                self.shown.push((line.file.clone(), line.line));
                let text = words::around(&words::printable(&line.text), 100, &self.focus);
                let place = if place.is_empty() { place } else { format!(" ({place})") };
                format!("also at {}{place}: {text}", words::printable(&words::lines(range)))
            }
            None => format!("also at {place}"),
        };
        match &range.first.text {
            Some(said) => self.note(&format!("{text}: {}", words::printable(said))),
            None => self.note(&text),
        }
    }

    /// How many violations are not listed.
    fn remainder(&mut self, property: &Item) -> io::Result<()> {
        let listed: usize = property.ranges().iter().map(|range| range.count).sum();
        let all = property.violation_count;
        if all <= listed {
            return Ok(());
        }
        let violations = words::counted((all - listed) as u64, "violation");
        let more = match listed {
            0 => violations,
            _ => violations.replacen(' ', " more ", 1),
        };
        self.note(&format!("{}{more} (use --violations all)", if listed == 0 { "" } else { "… and " }))
    }

    fn note(&mut self, text: &str) -> io::Result<()> {
        let corner = self.frame("", "=");
        let text = self.clipped(text, self.gutter + 3);
        writeln!(self.out, "{corner} {text}")
    }

    /// The gutter: a line number, and a stroke.
    fn frame(&self, number: &str, stroke: &str) -> String {
        let text = format!("{number:>width$} {stroke}", width = self.gutter);
        if text.trim().is_empty() { text } else { self.style.paint(Ink::Frame, text) }
    }

    /// A log line cut at the terminal's edge, so that what decides is seen.
    fn focused(&self, text: &str, used: usize) -> String {
        let width = self.style.width.map(|width| width.saturating_sub(used).max(20));
        words::around(text, width.unwrap_or(WIDEST), &self.focus)
    }

    /// Cut at the terminal's edge when `used` columns stand before it.
    fn clipped(&self, text: &str, used: usize) -> String {
        self.style
            .width
            .map_or(text.to_string(), |width| words::clip(text, width.saturating_sub(used).max(20)))
    }
}

/// What stands before a step, and before what continues it below (as wide as the step's mark too).
fn branches(levels: &[bool], leaf: bool) -> (String, String) {
    let below = if leaf { "  " } else { "│ " };
    let Some((last, above)) = levels.split_last() else { return (String::new(), below.into()) };
    let stem: String = above.iter().map(|last| if *last { "  " } else { "│ " }).collect();
    let (turn, pass) = if *last { ("╰ ", "  ") } else { ("├ ", "│ ") };
    (format!("{stem}{turn}"), format!("{stem}{pass}{below}"))
}

#[cfg(test)]
pub(crate) mod tests;

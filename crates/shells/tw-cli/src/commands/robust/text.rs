//! Robustness for people: the value, and the sample that decides it.

use crate::report::{Apart, Outlet, Reporter};
use crate::style::{Ink, Style};
use crate::words::{self, number};
use std::io;
use tracewise::findings::Report;
use tracewise::robust::{Contributions, RobustTold, RobustValue, Robustness};

/// How a value is marked: it holds, it fails, or it stands on the border.
pub fn mark(value: f64) -> (Ink, &'static str) {
    match value {
        v if v > 0.0 => (Ink::Good, "✓"),
        v if v < 0.0 => (Ink::Bad, "✗"),
        _ => (Ink::Open, "?"),
    }
}

/// Writes each trace as soon as it is known.
pub struct Text {
    style: Style,
    /// The least value that is accepted.
    min: Option<f64>,
    apart: Apart,
}

impl Text {
    /// For a stream of that style; a value below `min` is said to be one.
    pub fn new(style: Style, min: Option<f64>) -> Self {
        Self { style, min, apart: Apart::default() }
    }
}

impl Reporter for Text {
    fn report(&mut self, report: &Report, out: &mut dyn Outlet) -> io::Result<()> {
        let style = self.style;
        // What was followed was told as it came.
        if report.robustness().next().is_none() {
            return Ok(());
        }
        self.apart.next(out)?;
        if report.robustness().any(|property| property.everywhere.is_some()) {
            everywhere(report, style, out)?;
            for property in report.robustness() {
                let Some(less) = less(property, self.min) else { continue };
                let (mark, name) =
                    (style.paint(Ink::Bad, "✗"), words::clip(&words::printable(&property.name), 80));
                let key = key(report, property).map_or(String::new(), |key| format!("  {key}"));
                writeln!(out, "{mark} {name}{key}: least robustness {}, {less}", number(property.lowest()))?;
            }
        } else {
            report.robustness().try_for_each(|property| one(report, property, self.min, style, out))?;
        }
        let statistics = &report.statistics;
        let positions = words::counted(statistics.positions.unwrap_or(0), "position");
        let elapsed = words::duration(statistics.elapsed);
        let parts = statistics.by.as_ref().map_or(String::new(), |(column, parts)| {
            format!(" for {} of {}", words::counted(*parts as u64, "value"), words::printable(column))
        });
        let summary =
            format!("{} ({positions}){parts}; engine robust, {elapsed}", words::printable(&report.subject));
        writeln!(out, "{}", style.paint(Ink::Faint, summary))?;
        out.flush()
    }
}

/// That a value is below the least that is accepted.
fn less(property: &Robustness, min: Option<f64>) -> Option<String> {
    let min = min.filter(|min| property.lowest() < *min)?;
    Some(format!("less than the {} asked for", number(min)))
}

fn one(
    report: &Report,
    property: &Robustness,
    min: Option<f64>,
    style: Style,
    out: &mut dyn Outlet,
) -> io::Result<()> {
    let less = less(property, min);
    let (ink, mark) = match (min, &less) {
        (None, _) => mark(property.value),
        (Some(_), None) => (Ink::Good, "✓"),
        (Some(_), Some(_)) => (Ink::Bad, "✗"),
    };
    let name = words::clip(&words::printable(&property.name), style.width.unwrap_or(400).max(20) - 2);
    write!(out, "{} {}", style.paint(ink, mark), style.paint(Ink::Strong, &name))?;
    if let Some(title) = &property.title {
        write!(out, "  {}", words::printable(title))?;
    }
    if let Some(key) = key(report, property) {
        write!(out, "  {}", style.paint(Ink::Faint, key))?;
    }
    writeln!(out)?;
    let less = less.map_or(String::new(), |less| format!(", {less},"));
    let value = format!("{}{less}", style.paint(ink, number(property.value)));
    let Some(link) = &property.weakest else {
        return writeln!(out, "  robustness {}", value.trim_end_matches(','));
    };
    let told = words::printable(&words::decided(link, property.value));
    let lines = words::wrap(&told, style.width.map(|width| width.saturating_sub(2)));
    for (index, line) in lines.iter().enumerate() {
        match index {
            0 => writeln!(out, "  robustness {value} at position {}: {line}", property.position)?,
            _ => writeln!(out, "    {line}")?,
        }
    }
    if let Some(line) = &link.line {
        let place = format!("{}:{} │", words::printable(&line.file), line.line);
        let room = style.width.map_or(usize::MAX, |width| width.saturating_sub(place.chars().count() + 5));
        let text = words::clip(&words::printable(&line.text), room.max(20));
        writeln!(out, "    {} {text}", style.paint(Ink::Frame, place))?;
    }
    match &property.contributions {
        Some(found) => contributions(found, style, out),
        None => Ok(()),
    }
}

/// The way from the value to what decides it, and the margins.
fn contributions(found: &Contributions, style: Style, out: &mut dyn Outlet) -> io::Result<()> {
    let wide = found.links.iter().map(|link| number(link.value).len()).max().unwrap_or(0);
    for link in &found.links {
        let time = link.time.map_or(String::new(), |time| format!(", time {}", time.format()));
        let place = format!("at position {}{time}", link.position);
        let formula = words::clip(&words::printable(&link.formula), 80);
        let mark = if link.decides { "" } else { "  (beside it)" };
        let line =
            format!("{:>wide$}  {}{formula}  {place}{mark}", number(link.value), "  ".repeat(link.depth));
        match link.decides {
            true => writeln!(out, "    {line}")?,
            false => writeln!(out, "    {}", style.paint(Ink::Faint, line))?,
        }
    }
    for (formula, change) in &found.margins {
        let formula = words::clip(&words::printable(formula), 80);
        match change {
            Some(change) => {
                let way = if *change < 0.0 { "less" } else { "more" };
                writeln!(out, "    `{formula}` worth {} {way} throughout turns it", number(change.abs()))?;
            }
            None => writeln!(out, "    `{formula}` alone does not turn it")?,
        }
    }
    Ok(())
}

/// The value of the `--by` column: `user = "bob"`.
fn key(report: &Report, property: &Robustness) -> Option<String> {
    let (column, key) = report.statistics.by.as_ref().zip(property.key.as_ref())?;
    Some(format!("{} = {}", words::printable(&column.0), words::printable(&words::value(key))))
}

/// One line per position, one column per property; with `--by` a table for each value of the column.
fn everywhere(report: &Report, style: Style, out: &mut dyn Outlet) -> io::Result<()> {
    let all: Vec<&Robustness> = report.robustness().collect();
    let parts = report.statistics.by.as_ref().map_or(1, |(_, parts)| (*parts).max(1));
    for part in 0..parts {
        let properties: Vec<&Robustness> = all.iter().copied().skip(part).step_by(parts).collect();
        if let Some(key) = properties.first().and_then(|property| key(report, property)) {
            writeln!(out, "{}", style.paint(Ink::Strong, key))?;
        }
        table(report, &properties, style, out)?;
        if out.closed() {
            break;
        }
    }
    Ok(())
}

/// The values of one trace.
fn table(report: &Report, properties: &[&Robustness], style: Style, out: &mut dyn Outlet) -> io::Result<()> {
    let columns: Vec<&[(usize, f64)]> =
        properties.iter().map(|property| property.everywhere.as_deref().unwrap_or_default()).collect();
    let positions: Vec<usize> =
        columns.first().map_or(Vec::new(), |column| column.iter().map(|(position, _)| *position).collect());
    let (first, last) = (positions.first().copied().unwrap_or(0), positions.last().copied().unwrap_or(0));
    let place = last.to_string().len().max("position".len());
    let stamp = |position: usize| report.stamp(position).map(|stamp| stamp.format());
    let timed = stamp(first).is_some();
    // The ends are the widest, most often.
    let middle = positions.get(positions.len() / 2).copied().unwrap_or(0);
    let widths =
        [first, middle, last].map(|position| stamp(position).map_or(0, |stamp| stamp.chars().count()));
    let wide = widths.into_iter().max().unwrap_or(0).max("time".len());
    let names: Vec<String> = match properties {
        [_] => vec!["robustness".into()],
        several => several.iter().map(|p| words::clip(&words::printable(&p.name), 24)).collect(),
    };
    let each: Vec<usize> = names.iter().map(|name| name.chars().count().max(12)).collect();
    let mut head = format!("{:>place$}", "position");
    if timed {
        head.push_str(&format!("  {:>wide$}", "time"));
    }
    names.iter().zip(&each).for_each(|(name, &each)| head.push_str(&format!("  {name:>each$}")));
    writeln!(out, "{}", style.paint(Ink::Strong, head))?;
    for (nth, position) in positions.into_iter().enumerate() {
        write!(out, "{position:>place$}")?;
        if timed {
            write!(out, "  {:>wide$}", stamp(position).unwrap_or_default())?;
        }
        for (column, &each) in columns.iter().zip(&each) {
            let value = column[nth].1;
            let shown = format!("{:>each$}", number(value));
            write!(out, "  {}", if value < 0.0 { style.paint(Ink::Bad, shown) } else { shown })?;
        }
        writeln!(out)?;
        if out.closed() {
            break;
        }
    }
    Ok(())
}

/// What is told of a stream, as a line.
pub fn told(told: &RobustTold<'_>, named: bool, style: Style) -> String {
    let (ink, mark) = match told.value {
        RobustValue::Settled(value) => mark(value),
        RobustValue::Predicted(value) => (mark(value).0, "~"),
        RobustValue::Bounds(_, upper) if upper < 0.0 => (Ink::Bad, "✗"),
        RobustValue::Bounds(lower, _) if lower > 0.0 => (Ink::Good, "✓"),
        RobustValue::Bounds(..) => (Ink::Open, "?"),
    };
    let mut line = format!("{} position {}", style.paint(ink, mark), told.position);
    if let Some(time) = told.time {
        line.push_str(&format!(", time {}", time.format()));
    }
    if named {
        line.push_str(&format!(", {}", words::clip(&words::printable(told.property), 60)));
    }
    match told.value {
        RobustValue::Settled(value) => line.push_str(&format!(": {}", number(value))),
        RobustValue::Predicted(value) => line.push_str(&format!(": {}, predicted", number(value))),
        RobustValue::Bounds(lower, upper) => {
            line.push_str(&format!(": between {} and {}", number(lower), number(upper)));
        }
    }
    if let Some(least) = told.minimum {
        line.push_str(&style.paint(Ink::Faint, format!(" (least so far {})", number(least))));
    }
    line
}

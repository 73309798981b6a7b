//! Robustness for people: the value, and the sample that decides it.

use crate::output::Output;
use crate::style::{Ink, Style};
use crate::words;
use std::io::{self, Write};
use std::time::Duration;
use tracewise::{Contributions, Reason, RobustReport, RobustTold, RobustValue, Robustness, WeakestLink};

/// A value with at most nine digits: what floating point adds beyond is noise to a reader.
pub fn number(value: f64) -> String {
    if !value.is_finite() {
        return if value > 0.0 { "inf".into() } else { "-inf".into() };
    }
    let rounded: f64 = format!("{value:.8e}").parse().unwrap_or(value);
    match rounded.abs() {
        0.0 => "0".into(),
        1e-5..1e15 => format!("{rounded}"),
        _ => format!("{rounded:e}"),
    }
}

/// How a value is marked: it holds, it fails, or it stands on the border.
pub fn mark(value: f64) -> (Ink, &'static str) {
    match value {
        v if v > 0.0 => (Ink::Good, "✓"),
        v if v < 0.0 => (Ink::Bad, "✗"),
        _ => (Ink::Open, "?"),
    }
}

/// Writes one trace.
pub fn write(
    report: &RobustReport,
    apart: bool,
    elapsed: Duration,
    style: Style,
    out: &mut Output,
) -> io::Result<()> {
    if apart {
        writeln!(out)?;
    }
    if report.properties.iter().any(|property| property.everywhere.is_some()) {
        everywhere(report, style, out)?;
    } else {
        for property in &report.properties {
            one(property, style, out)?;
        }
    }
    let positions = words::counted(report.positions, "position");
    let summary = format!("{} ({positions}); engine robust, {}", report.trace, words::duration(elapsed));
    writeln!(out, "{}", style.paint(Ink::Faint, summary))?;
    out.flush()
}

fn one(property: &Robustness, style: Style, out: &mut Output) -> io::Result<()> {
    let (ink, mark) = mark(property.value);
    let name = words::clip(&words::printable(&property.name), style.width.unwrap_or(400).max(20) - 2);
    write!(out, "{} {}", style.paint(ink, mark), style.paint(Ink::Strong, &name))?;
    match &property.title {
        Some(title) => writeln!(out, "  {}", words::printable(title))?,
        None => writeln!(out)?,
    }
    let value = style.paint(ink, number(property.value));
    let Some(link) = &property.weakest else { return writeln!(out, "  robustness {value}") };
    let told = decided(link, property.value);
    let lines = words::wrap(&told, style.width.map(|width| width.saturating_sub(2)));
    for (index, line) in lines.iter().enumerate() {
        match index {
            0 => writeln!(out, "  robustness {value} at position 0: {line}")?,
            _ => writeln!(out, "    {line}")?,
        }
    }
    if let Some(line) = &link.line {
        let place = format!("{}:{} │", line.file, line.line);
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
fn contributions(found: &Contributions, style: Style, out: &mut Output) -> io::Result<()> {
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

/// `decided by x < 3 at position 4, time 0.4 (x = 2.5)`.
fn decided(link: &WeakestLink, value: f64) -> String {
    let formula = words::clip(&words::printable(&link.formula), 160);
    let time = link.time.map_or(String::new(), |time| format!(", time {}", time.format()));
    let at = format!("at position {}{time}", link.position);
    match link.reason {
        Reason::Predicate => {
            let values = match link.values.is_empty() {
                true => String::new(),
                false => format!(" ({})", words::bindings(&link.values)),
            };
            // Below a negation the predicate is worth the opposite.
            let worth = match link.value == value {
                true => String::new(),
                false => format!(", worth {} there", number(link.value)),
            };
            format!("decided by `{formula}` {at}{values}{worth}")
        }
        Reason::Constant => format!("decided by `{formula}` {at}, which is always worth that"),
        Reason::Empty => format!("decided by `{formula}` {at}, whose interval holds no sample"),
    }
}

/// One line per position, one column per property.
fn everywhere(report: &RobustReport, style: Style, out: &mut Output) -> io::Result<()> {
    let columns: Vec<&[f64]> =
        report.properties.iter().map(|property| property.everywhere.as_deref().unwrap_or_default()).collect();
    let len = columns.first().map_or(0, |column| column.len());
    let last = len.saturating_sub(1);
    let place = last.to_string().len().max("position".len());
    let stamp = |position: usize| report.stamp(position).map(|stamp| stamp.format());
    let timed = stamp(0).is_some();
    // The ends are the widest, most often.
    let middle = last / 2;
    let widths = [0, middle, last].map(|position| stamp(position).map_or(0, |stamp| stamp.chars().count()));
    let wide = widths.into_iter().max().unwrap_or(0).max("time".len());
    let names: Vec<String> = match report.properties.as_slice() {
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
    for position in 0..len {
        write!(out, "{position:>place$}")?;
        if timed {
            write!(out, "  {:>wide$}", stamp(position).unwrap_or_default())?;
        }
        for (column, &each) in columns.iter().zip(&each) {
            let value = column[position];
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_without_noise() {
        let cases = [
            (0.1 + 0.2, "0.3"),
            (-0.0, "0"),
            (2.0, "2"),
            (-1.5, "-1.5"),
            (1e-7, "1e-7"),
            (123456789.0, "123456789"),
            (1e20, "1e20"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
        ];
        for (value, text) in cases {
            assert_eq!(number(value), text);
        }
    }
}

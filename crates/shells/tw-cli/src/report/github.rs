//! `--output github`: workflow commands that GitHub Actions shows beside the trace's lines.

use super::escape::{data, parameter};
use super::{Outlet, Reporter, place_of};
use crate::flags::flagged;
use crate::words;
use std::io;
use tracewise::findings::{Item, Report, Severity, ViolationRange};
use tracewise::{Error, Verdict};

/// Writes each annotation as soon as it is known.
pub struct Github;

impl Reporter for Github {
    fn report(&mut self, report: &Report, out: &mut dyn Outlet) -> io::Result<()> {
        let whole = Some(report.subject.as_str());
        for item in report.told() {
            match item.verdict {
                Some(Verdict::Satisfied) => {}
                // Not every value is worth a page's attention, but it is what was asked for.
                None if item.remarks.is_empty() => {}
                None => annotate(out, "notice", whole, None, &item.name, &item.remarks.join("\n"))?,
                Some(Verdict::Unknown) => {
                    let mut message = format!("`{}` is undecided on {}", item.name, report.subject);
                    if let Some(guarantee) = &item.guarantee {
                        message.push_str(&format!("\n{}", guarantee.sentence()));
                    }
                    annotate(out, "warning", whole, None, &item.name, &message)?;
                }
                Some(Verdict::Violated) => violated(report, item, out)?,
            }
        }
        out.flush()
    }

    fn error(&mut self, trace: Option<&str>, error: &Error, out: &mut dyn Outlet) -> io::Result<()> {
        let (file, line) = place_of(error);
        let message = flagged(&error.render(false));
        annotate(out, "error", file.as_deref().or(trace), line, "tracewise", message.trim_end())
    }
}

fn violated(report: &Report, item: &Item, out: &mut dyn Outlet) -> io::Result<()> {
    let level = match item.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Suggestion => "notice",
    };
    let ranges = item.ranges();
    for (index, range) in ranges.iter().enumerate() {
        let message = message(item, range, index == 0);
        let (file, lines) = match &range.first.line {
            Some(line) => (line.file.as_str(), Some((line.line, last_line(range)))),
            None => (report.subject.as_str(), None),
        };
        annotate_lines(out, level, Some(file), lines, &item.name, &message)?;
    }
    let told: usize = ranges.iter().map(|range| range.count).sum();
    let hidden = item.violation_count.saturating_sub(told);
    if !item.violations.is_empty() && hidden == 0 {
        return Ok(());
    }
    let message = match (item.violations.len(), hidden) {
        (0, 0) => format!("{}\n{}", sentence(item), reason(item)),
        (0, all) => format!("{}: {}", sentence(item), words::counted(all as u64, "violation")),
        _ => format!("{} more violations of `{}`", words::count(hidden as u64), item.name),
    };
    annotate(out, level, Some(&report.subject), None, &item.name, message.trim_end())
}

fn sentence(item: &Item) -> String {
    let all = item.guarantee.as_ref().map_or("", |_| " on every possible execution");
    format!("violated{all}: {}", item.title.as_deref().unwrap_or(&item.name))
}

fn reason(item: &Item) -> String {
    let mut text = words::core(item).map_or(String::new(), words::explanation);
    for remark in &item.remarks {
        text.push_str(&format!("{remark}\n"));
    }
    text
}

/// The last line of a range, in the file of the first.
fn last_line(range: &ViolationRange) -> Option<u64> {
    let file = &range.first.line.as_ref()?.file;
    range
        .last
        .as_ref()
        .and_then(|(.., place)| place.as_ref())
        .filter(|(own, _)| own == file)
        .map(|(_, line)| *line)
}

fn message(item: &Item, range: &ViolationRange, explained: bool) -> String {
    let (place, violation) = (words::range(range, ", "), &range.first);
    let place = if place.is_empty() { String::new() } else { format!(" at {place}") };
    let mut reason = if explained { reason(item) } else { String::new() };
    if let Some(text) = violation.text.as_ref().filter(|text| !reason.contains(text.as_str())) {
        reason.insert_str(0, &format!("{text}\n"));
    }
    format!("{}{place}\n{reason}", sentence(item)).trim_end().to_string()
}

fn annotate(
    out: &mut dyn Outlet,
    level: &str,
    file: Option<&str>,
    line: Option<u64>,
    title: &str,
    message: &str,
) -> io::Result<()> {
    annotate_lines(out, level, file, line.map(|line| (line, None)), title, message)
}

fn annotate_lines(
    out: &mut dyn Outlet,
    level: &str,
    file: Option<&str>,
    lines: Option<(u64, Option<u64>)>,
    title: &str,
    message: &str,
) -> io::Result<()> {
    let mut parameters = Vec::new();
    // `<stdin>` and `<formula>` are no files that a page could show.
    if let Some(file) = file.filter(|file| !file.starts_with('<') && *file != "-") {
        parameters.push(format!("file={}", parameter(file)));
        if let Some((first, last)) = lines {
            parameters.push(format!("line={first}"));
            parameters.extend(last.map(|last| format!("endLine={last}")));
        }
    }
    parameters.push(format!("title={}", parameter(&words::clip(title, 120))));
    writeln!(out, "::{level} {}::{}", parameters.join(","), data(message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::text::tests::sample;

    #[test]
    fn annotations() {
        let report = sample();
        let mut out = Vec::new();
        Github.report(&report, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert!(
            lines[0].starts_with("::error file=web.jsonl,line=7,title=answered::violated: every request"),
            "{text}"
        );
        assert!(lines[0].contains("position 6") && lines[0].contains("%0A"), "{text}");
        assert!(lines.iter().all(|line| line.starts_with("::")), "{text}");
    }
}

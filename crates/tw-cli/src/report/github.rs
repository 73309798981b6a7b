//! `--output github`: workflow commands that GitHub Actions shows beside the trace's lines.

use super::{Checked, Reporter, place_of};
use crate::words;
use std::io::{self, Write};
use tracewise::{Error, PropertyReport, Verdict, Violation};

/// Writes each annotation as soon as it is known.
pub struct Github;

impl Reporter for Github {
    fn trace(&mut self, checked: &Checked<'_>, out: &mut dyn Write) -> io::Result<()> {
        let report = checked.report;
        for property in &report.properties {
            match property.verdict {
                Verdict::Satisfied => {}
                Verdict::Unknown => {
                    let mut message = format!("`{}` is undecided on {}", property.name, report.trace);
                    if let Some(guarantee) = &property.guarantee {
                        message.push_str(&format!("\n{}", guarantee.sentence()));
                    }
                    annotate(out, "warning", Some(&report.trace), None, &property.name, &message)?;
                }
                Verdict::Violated => {
                    for (index, violation) in property.violations.iter().enumerate() {
                        let message = message(property, violation, index == 0);
                        let (file, line) = match &violation.line {
                            Some(line) => (line.file.as_str(), Some(line.line)),
                            None => (report.trace.as_str(), None),
                        };
                        annotate(out, "error", Some(file), line, &property.name, &message)?;
                    }
                    let hidden = property.violation_count.saturating_sub(property.violations.len());
                    if property.violations.is_empty() || hidden > 0 {
                        let message = match (property.violations.len(), hidden) {
                            (0, 0) => format!("{}\n{}", sentence(property), reason(property)),
                            (0, all) => {
                                format!("{}: {}", sentence(property), words::counted(all as u64, "violation"))
                            }
                            _ => format!(
                                "{} more violations of `{}`",
                                words::count(hidden as u64),
                                property.name
                            ),
                        };
                        annotate(
                            out,
                            "error",
                            Some(&report.trace),
                            None,
                            &property.name,
                            message.trim_end(),
                        )?;
                    }
                }
            }
        }
        out.flush()
    }

    fn error(&mut self, trace: Option<&str>, error: &Error, out: &mut dyn Write) -> io::Result<()> {
        let (file, line) = place_of(error);
        let message = error.render(false);
        annotate(out, "error", file.as_deref().or(trace), line, "tracewise", message.trim_end())
    }
}

fn sentence(property: &PropertyReport) -> String {
    let all = property.guarantee.as_ref().map_or("", |_| " on every possible execution");
    format!("violated{all}: {}", property.title.as_deref().unwrap_or(&property.name))
}

fn reason(property: &PropertyReport) -> String {
    words::core(property).map_or(String::new(), words::explanation)
}

fn message(property: &PropertyReport, violation: &Violation, explained: bool) -> String {
    let place = words::place(violation, ", ");
    let place = if place.is_empty() { String::new() } else { format!(" at {place}") };
    let reason = if explained { reason(property) } else { String::new() };
    format!("{}{place}\n{reason}", sentence(property)).trim_end().to_string()
}

fn annotate(
    out: &mut dyn Write,
    level: &str,
    file: Option<&str>,
    line: Option<u64>,
    title: &str,
    message: &str,
) -> io::Result<()> {
    let mut parameters = Vec::new();
    // `<stdin>` and `<formula>` are no files that a page could show.
    if let Some(file) = file.filter(|file| !file.starts_with('<') && *file != "-") {
        parameters.push(format!("file={}", parameter(file)));
        parameters.extend(line.map(|line| format!("line={line}")));
    }
    parameters.push(format!("title={}", parameter(&words::clip(title, 120))));
    writeln!(out, "::{level} {}::{}", parameters.join(","), data(message))
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn parameter(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::text::tests::sample;
    use std::time::Duration;

    #[test]
    fn annotations() {
        let report = sample();
        let mut out = Vec::new();
        Github.trace(&Checked { report: &report, elapsed: Duration::ZERO }, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert!(
            lines[0].starts_with("::error file=web.jsonl,line=7,title=answered::violated: every request"),
            "{text}"
        );
        assert!(lines[0].contains("position 6") && lines[0].contains("%0A"), "{text}");
        assert!(lines.iter().all(|line| line.starts_with("::")), "{text}");
    }

    #[test]
    fn escapes() {
        assert_eq!(parameter("a:b,c%\n"), "a%3Ab%2Cc%25%0A");
        assert_eq!(data("a:b,c\r"), "a:b,c%0D");
    }
}

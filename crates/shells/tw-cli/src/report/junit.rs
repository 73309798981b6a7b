//! `--output junit`: a test suite per trace or model, a test case per property, formula, query or finding.

use super::escape::{attribute, content};
use super::{Outlet, Reporter, place_of};
use crate::flags::flagged;
use crate::words;
use std::io::{self, Write};
use std::time::Duration;
use tracewise::findings::{Item, Report, Severity};
use tracewise::{Error, Verdict};

/// Gathers suites; the totals stand at the top of the document.
#[derive(Default)]
pub struct Junit {
    suites: Vec<Suite>,
}

struct Suite {
    name: String,
    elapsed: Duration,
    properties: Vec<(&'static str, String)>,
    cases: Vec<Case>,
}

struct Case {
    name: String,
    place: (Option<String>, Option<u64>),
    outcome: Result<(), Trouble>,
    /// What a case that passed has to say: a value.
    said: String,
}

/// The element inside a test case that did not pass.
struct Trouble {
    element: &'static str,
    kind: &'static str,
    message: String,
    text: String,
}

impl Reporter for Junit {
    fn report(&mut self, report: &Report, _: &mut dyn Outlet) -> io::Result<()> {
        let statistics = &report.statistics;
        let mut properties = Vec::new();
        properties.extend(statistics.engine.map(|engine| ("engine", engine.to_string())));
        properties.extend(statistics.semantics.map(|semantics| ("semantics", semantics.to_string())));
        properties.extend(statistics.positions.map(|positions| ("positions", positions.to_string())));
        if let Some((column, values)) = &statistics.by {
            properties.push(("by", format!("{column} ({values} values)")));
        }
        properties.extend(statistics.counts.iter().map(|(name, count)| (*name, count.to_string())));
        if report.skipped > 0 {
            properties.push(("skipped_lines", report.skipped.to_string()));
        }
        let case = |item: &Item| Case {
            name: item.name.clone(),
            place: place(item),
            outcome: outcome(item),
            // A verdict speaks for itself; a value is the answer.
            said: if item.verdict.is_none() { item.remarks.join("\n") } else { String::new() },
        };
        let cases: Vec<Case> = report.told().filter(|item| answered(item)).map(case).collect();
        self.suites.push(Suite {
            name: report.subject.clone(),
            elapsed: statistics.elapsed,
            properties,
            cases,
        });
        Ok(())
    }

    fn error(&mut self, trace: Option<&str>, error: &Error, _: &mut dyn Outlet) -> io::Result<()> {
        let (name, kind) = match (trace, error) {
            (Some(_), _) => ("the trace can be checked", "trace"),
            (None, Error::Specification { .. }) => ("the specification can be read", "specification"),
            (None, _) => ("the command can be run", "run"),
        };
        let text = flagged(&error.render(false));
        let message = text.lines().next().unwrap_or_default().to_string();
        let outcome = Err(Trouble { element: "error", kind, message, text });
        self.suites.push(Suite {
            name: trace.unwrap_or("tracewise").to_string(),
            elapsed: Duration::ZERO,
            properties: Vec::new(),
            cases: vec![Case { name: name.into(), place: place_of(error), outcome, said: String::new() }],
        });
        Ok(())
    }

    fn finish(&mut self, out: &mut dyn Outlet) -> io::Result<()> {
        writeln!(out, r#"<?xml version="1.0" encoding="UTF-8"?>"#)?;
        let cases = || self.suites.iter().flat_map(|suite| &suite.cases);
        let elapsed: Duration = self.suites.iter().map(|suite| suite.elapsed).sum();
        writeln!(out, r#"<testsuites name="tracewise" {}>"#, totals(cases(), elapsed))?;
        for suite in &self.suites {
            let totals = totals(suite.cases.iter(), suite.elapsed);
            writeln!(out, r#"  <testsuite name="{}" {totals}>"#, attribute(&suite.name))?;
            if !suite.properties.is_empty() {
                writeln!(out, "    <properties>")?;
                for (name, value) in &suite.properties {
                    writeln!(out, r#"      <property name="{name}" value="{}"/>"#, attribute(value))?;
                }
                writeln!(out, "    </properties>")?;
            }
            for case in &suite.cases {
                write_case(out, suite, case)?;
            }
            writeln!(out, "  </testsuite>")?;
        }
        writeln!(out, "</testsuites>")
    }
}

/// Whether there is anything to say: a query without a total has none.
fn answered(item: &Item) -> bool {
    item.verdict.is_some() || !item.remarks.is_empty()
}

/// Where the case is written or, where nobody wrote it, where it was found.
fn place(item: &Item) -> (Option<String>, Option<u64>) {
    let found = || item.violations.first().and_then(|violation| violation.line.as_ref());
    match &item.source {
        Some((file, line)) => (Some(file.clone()), Some(*line)),
        None => found().map_or((None, None), |line| (Some(line.file.clone()), Some(line.line))),
    }
}

fn outcome(item: &Item) -> Result<(), Trouble> {
    match item.verdict {
        None | Some(Verdict::Satisfied) => Ok(()),
        Some(Verdict::Unknown) => Err(Trouble {
            element: "skipped",
            kind: "unknown",
            message: words::undecided(item).unwrap_or_default(),
            text: String::new(),
        }),
        Some(Verdict::Violated) => {
            let mut message = item.title.clone().unwrap_or_else(|| format!("{} is violated", item.name));
            let first =
                item.violations.first().map(|v| words::place(v, ", ")).filter(|place| !place.is_empty());
            if let Some(place) = first {
                message.push_str(&format!(" (violated at {place})"));
            }
            let kind = match item.severity {
                Severity::Error => "violated",
                other => other.name(),
            };
            Err(Trouble { element: "failure", kind, message, text: failure_text(item) })
        }
    }
}

fn failure_text(item: &Item) -> String {
    let mut text = String::new();
    if !item.formula.is_empty() {
        text.push_str(&format!("{}\n", item.formula));
    }
    if let Some(guarantee) = &item.guarantee {
        text.push_str(&format!("{}\n", guarantee.sentence()));
    }
    if let Some(explanation) = words::core(item) {
        text.push_str(&format!("\n{}", words::explanation(explanation)));
    }
    for remark in &item.remarks {
        text.push_str(&format!("{}\n", words::printable(remark)));
    }
    // What happens at each place was said; the log says it in its own words.
    for line in item.places.iter().map(|place| &place.line).filter(|line| !line.text.is_empty()) {
        text.push_str(&format!(
            "{}:{}: {}\n",
            words::printable(&line.file),
            line.line,
            words::printable(&line.text)
        ));
    }
    if !item.violations.is_empty() && item.places.is_empty() {
        text.push('\n');
        for violation in &item.violations {
            let place = words::place(violation, ", ");
            let said = violation.text.as_ref().map_or(String::new(), |text| format!(": {text}"));
            match &violation.line {
                Some(line) => {
                    let place = if place.is_empty() { place } else { format!(" ({place})") };
                    let shown = words::printable(&line.text);
                    let file = words::printable(&line.file);
                    text.push_str(&format!("{file}:{}{place}{said}: {shown}\n", line.line));
                }
                None if place.is_empty() => {}
                None => text.push_str(&format!("{place}{said}\n")),
            }
        }
    }
    let hidden = item.violation_count.saturating_sub(item.violations.len());
    if hidden > 0 {
        text.push_str(&format!("{} not listed\n", words::counted(hidden as u64, "violation")));
    }
    text
}

fn totals<'c>(cases: impl Iterator<Item = &'c Case>, elapsed: Duration) -> String {
    let (mut tests, mut failures, mut errors, mut skipped) = (0, 0, 0, 0);
    for case in cases {
        tests += 1;
        match &case.outcome {
            Ok(()) => {}
            Err(trouble) => match trouble.element {
                "failure" => failures += 1,
                "error" => errors += 1,
                _ => skipped += 1,
            },
        }
    }
    let time = elapsed.as_secs_f64();
    format!(r#"tests="{tests}" failures="{failures}" errors="{errors}" skipped="{skipped}" time="{time:.6}""#)
}

fn write_case(out: &mut dyn Write, suite: &Suite, case: &Case) -> io::Result<()> {
    // All properties share one pass, so no single one has a time of its own: each has its share of the whole, and
    // pages that add them up find what the trace took.
    let time = suite.elapsed.as_secs_f64() / suite.cases.len().max(1) as f64;
    write!(out, r#"    <testcase name="{}" classname="{}""#, attribute(&case.name), attribute(&suite.name))?;
    write!(out, r#" time="{time:.6}""#)?;
    if let Some(file) = &case.place.0 {
        write!(out, r#" file="{}""#, attribute(file))?;
        if let Some(line) = case.place.1 {
            write!(out, r#" line="{line}""#)?;
        }
    }
    match &case.outcome {
        Ok(()) if case.said.is_empty() => writeln!(out, "/>"),
        Ok(()) => {
            writeln!(out, ">")?;
            writeln!(out, "      <system-out>{}</system-out>", content(&case.said))?;
            writeln!(out, "    </testcase>")
        }
        Err(Trouble { element, kind, message, text }) => {
            writeln!(out, ">")?;
            write!(out, r#"      <{element} type="{kind}" message="{}""#, attribute(message))?;
            match text.is_empty() {
                true => writeln!(out, "/>")?,
                false => writeln!(out, ">{}</{element}>", content(text))?,
            }
            writeln!(out, "    </testcase>")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::text::tests::sample;

    #[test]
    fn a_document() {
        let mut report = sample();
        report.statistics.elapsed = Duration::from_millis(2);
        let mut junit = Junit::default();
        let mut out = Vec::new();
        junit.report(&report, &mut out).unwrap();
        junit.error(Some("gone.csv"), &Error::refused("no <file>"), &mut out).unwrap();
        assert!(out.is_empty());
        junit.finish(&mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let mut reader = quick_xml::Reader::from_str(&text);
        let mut elements = Vec::new();
        loop {
            match reader.read_event().unwrap() {
                quick_xml::events::Event::Start(e) | quick_xml::events::Event::Empty(e) => {
                    elements.push(e.name().as_ref().to_string());
                }
                quick_xml::events::Event::Eof => break,
                _ => {}
            }
        }
        assert_eq!(elements.iter().filter(|e| *e == "testsuite").count(), 2);
        assert_eq!(elements.iter().filter(|e| *e == "failure").count(), 1);
        assert_eq!(elements.iter().filter(|e| *e == "error").count(), 1);
        assert!(text.contains(r#"tests="4" failures="1" errors="1" skipped="1" time="0.002000""#), "{text}");
    }
}

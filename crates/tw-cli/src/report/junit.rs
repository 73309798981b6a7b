//! `--output junit`: a test suite per trace, a test case per property.

use super::{Checked, Reporter, place_of};
use crate::words;
use std::io::{self, Write};
use std::time::Duration;
use tracewise::{Error, PropertyReport, Verdict};

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
}

/// The element inside a test case that did not pass.
struct Trouble {
    element: &'static str,
    kind: &'static str,
    message: String,
    text: String,
}

impl Reporter for Junit {
    fn trace(&mut self, checked: &Checked<'_>, _: &mut dyn Write) -> io::Result<()> {
        let report = checked.report;
        let mut properties = vec![
            ("engine", report.engine.to_string()),
            ("semantics", report.semantics.to_string()),
            ("positions", report.positions.to_string()),
        ];
        if let Some((column, values)) = &report.by {
            properties.push(("by", format!("{column} ({values} values)")));
        }
        let case = |property: &PropertyReport| Case {
            name: property.name.clone(),
            place: (Some(property.source.0.clone()), Some(property.source.1)),
            outcome: outcome(property),
        };
        let cases = report.properties.iter().map(case).collect();
        self.suites.push(Suite { name: report.trace.clone(), elapsed: checked.elapsed, properties, cases });
        Ok(())
    }

    fn error(&mut self, trace: Option<&str>, error: &Error, _: &mut dyn Write) -> io::Result<()> {
        let (name, kind) = match trace {
            Some(_) => ("the trace can be checked", "trace"),
            None => ("the specification can be read", "specification"),
        };
        let text = error.render(false);
        let message = text.lines().next().unwrap_or_default().to_string();
        let outcome = Err(Trouble { element: "error", kind, message, text });
        self.suites.push(Suite {
            name: trace.unwrap_or("tracewise").to_string(),
            elapsed: Duration::ZERO,
            properties: Vec::new(),
            cases: vec![Case { name: name.into(), place: place_of(error), outcome }],
        });
        Ok(())
    }

    fn finish(&mut self, out: &mut dyn Write) -> io::Result<()> {
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

fn outcome(property: &PropertyReport) -> Result<(), Trouble> {
    match property.verdict {
        Verdict::Satisfied => Ok(()),
        Verdict::Unknown => Err(Trouble {
            element: "skipped",
            kind: "unknown",
            message: words::undecided(property).unwrap_or_default(),
            text: String::new(),
        }),
        Verdict::Violated => {
            let mut message =
                property.title.clone().unwrap_or_else(|| format!("{} is violated", property.name));
            let first =
                property.violations.first().map(|v| words::place(v, ", ")).filter(|place| !place.is_empty());
            if let Some(place) = first {
                message.push_str(&format!(" (violated at {place})"));
            }
            Err(Trouble { element: "failure", kind: "violated", message, text: failure_text(property) })
        }
    }
}

fn failure_text(property: &PropertyReport) -> String {
    let mut text = format!("{}\n", property.formula);
    if let Some(guarantee) = &property.guarantee {
        text.push_str(&format!("{}\n", guarantee.sentence()));
    }
    if let Some(explanation) = words::core(property) {
        text.push_str(&format!("\n{}", words::explanation(explanation)));
    }
    if !property.violations.is_empty() {
        text.push('\n');
    }
    for violation in &property.violations {
        let place = words::place(violation, ", ");
        match &violation.line {
            Some(line) => {
                let place = if place.is_empty() { place } else { format!(" ({place})") };
                text.push_str(&format!(
                    "{}:{}{place}: {}\n",
                    line.file,
                    line.line,
                    words::printable(&line.text)
                ));
            }
            None if place.is_empty() => {}
            None => text.push_str(&format!("{place}\n")),
        }
    }
    let hidden = property.violation_count.saturating_sub(property.violations.len());
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
    // All properties share one pass, so no single one has a time of its own.
    write!(out, r#"    <testcase name="{}" classname="{}""#, attribute(&case.name), attribute(&suite.name))?;
    if let Some(file) = &case.place.0 {
        write!(out, r#" file="{}""#, attribute(file))?;
        if let Some(line) = case.place.1 {
            write!(out, r#" line="{line}""#)?;
        }
    }
    match &case.outcome {
        Ok(()) => writeln!(out, "/>"),
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

/// Text between tags. XML 1.0 has no way to write most control characters, not even escaped.
fn content(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '\r' => escaped.push_str("&#13;"),
            '\t' | '\n' => escaped.push(c),
            '\u{0}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

/// A value between double quotes, where white space would be folded.
fn attribute(text: &str) -> String {
    content(text).replace('"', "&quot;").replace('\n', "&#10;").replace('\t', "&#9;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::text::tests::sample;

    #[test]
    fn escapes() {
        assert_eq!(content("a<b> & \u{1b}[0m\n"), "a&lt;b&gt; &amp; \u{fffd}[0m\n");
        assert_eq!(attribute("\"a\"\n\tb"), "&quot;a&quot;&#10;&#9;b");
    }

    #[test]
    fn a_document() {
        let report = sample();
        let mut junit = Junit::default();
        let mut out = Vec::new();
        junit.trace(&Checked { report: &report, elapsed: Duration::from_millis(2) }, &mut out).unwrap();
        junit.error(Some("gone.csv"), &Error::Usage("no <file>".into()), &mut out).unwrap();
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

//! `--output sarif`: SARIF 2.1.0. Rules are properties, results are violations at lines of the trace.

use super::{Checked, Reporter, place_of};
use crate::words;
use serde_json::{Value as Json, json};
use std::io::{self, Write};
use tracewise::{CheckReport, Error, PropertyReport, Verdict, Violation};

/// Gathers one run.
#[derive(Default)]
pub struct Sarif {
    rules: Vec<Json>,
    results: Vec<Json>,
    notifications: Vec<Json>,
}

impl Reporter for Sarif {
    fn trace(&mut self, checked: &Checked<'_>, _: &mut dyn Write) -> io::Result<()> {
        for property in &checked.report.properties {
            let rule = self.rule(property);
            match property.verdict {
                Verdict::Satisfied => {}
                Verdict::Unknown => {
                    let mut result = result(property, rule, checked.report, None);
                    result["kind"] = "open".into();
                    result["level"] = "none".into();
                    self.results.push(result);
                }
                Verdict::Violated if property.violations.is_empty() => {
                    self.results.push(result(property, rule, checked.report, None));
                }
                Verdict::Violated => {
                    let each = property.violations.iter().enumerate();
                    self.results.extend(each.map(|each| result(property, rule, checked.report, Some(each))));
                }
            }
        }
        Ok(())
    }

    fn error(&mut self, trace: Option<&str>, error: &Error, _: &mut dyn Write) -> io::Result<()> {
        let (file, line) = place_of(error);
        let mut notification =
            json!({ "level": "error", "message": { "text": error.render(false).trim_end() } });
        if let Some(file) = file.as_deref().or(trace) {
            notification["locations"] = json!([location(file, line, None)]);
        }
        self.notifications.push(notification);
        Ok(())
    }

    fn finish(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let mut invocation = json!({ "executionSuccessful": self.notifications.is_empty() });
        if !self.notifications.is_empty() {
            invocation["toolExecutionNotifications"] = Json::from(std::mem::take(&mut self.notifications));
        }
        let document = json!({
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
            "version": "2.1.0",
            "runs": [{
                "tool": { "driver": {
                    "name": "tracewise",
                    "version": env!("CARGO_PKG_VERSION"),
                    "rules": std::mem::take(&mut self.rules),
                } },
                "invocations": [invocation],
                "columnKind": "unicodeCodePoints",
                "results": std::mem::take(&mut self.results),
            }],
        });
        serde_json::to_writer_pretty(&mut *out, &document)?;
        writeln!(out)
    }
}

impl Sarif {
    /// The index of the property's rule; several traces share it.
    fn rule(&mut self, property: &PropertyReport) -> usize {
        let id = Json::from(property.name.as_str());
        if let Some(index) = self.rules.iter().position(|rule| rule["id"] == id) {
            return index;
        }
        let description = property.title.as_deref().unwrap_or(&property.formula);
        self.rules.push(json!({
            "id": id,
            "shortDescription": { "text": description },
            "fullDescription": { "text": property.formula },
            "defaultConfiguration": { "level": "error" },
            "properties": { "file": property.source.0, "line": property.source.1 },
        }));
        self.rules.len() - 1
    }
}

/// One result; only the first violation has an explanation.
fn result(
    property: &PropertyReport,
    rule: usize,
    report: &CheckReport,
    violation: Option<(usize, &Violation)>,
) -> Json {
    let subject = property.title.as_deref().unwrap_or(&property.name);
    let place =
        violation.map(|(_, violation)| words::place(violation, ", ")).filter(|place| !place.is_empty());
    let mut message = match (property.verdict, place) {
        (Verdict::Unknown, _) => format!("undecided: {subject}"),
        (_, Some(place)) => format!("violated at {place}: {subject}"),
        (_, None) => format!("violated: {subject}"),
    };
    let explained = violation.is_none_or(|(index, _)| index == 0);
    if let Some(explanation) = words::core(property).filter(|_| explained) {
        message.push_str(&format!("\n{}", words::explanation(explanation)));
    }
    if let Some(guarantee) = property.guarantee.as_ref().filter(|_| explained) {
        message.push_str(&format!("\n{}", guarantee.sentence()));
    }
    let line = violation.and_then(|(_, violation)| violation.line.as_ref());
    let location = match line {
        Some(line) => location(&line.file, Some(line.line), Some(&line.text)),
        None => location(&report.trace, None, None),
    };
    let mut result = json!({
        "ruleId": property.name,
        "ruleIndex": rule,
        "level": "error",
        "message": { "text": message.trim_end() },
        "locations": [location],
        "properties": {
            "trace": report.trace,
            "violation_count": property.violation_count,
            "engine": report.engine,
            "semantics": report.semantics,
        },
    });
    if let Some(guarantee) = &property.guarantee {
        result["properties"]["guarantee"] = guarantee.kind.name().into();
    }
    if let Some((_, violation)) = violation {
        result["properties"]["position"] = violation.position.into();
        result["properties"]["time"] = violation.time.map(|time| time.format()).into();
        for (name, value) in &violation.bindings {
            // What the writer of values wrote is JSON already.
            result["properties"]["bindings"][name] =
                serde_json::from_str(&crate::json::value(value)).unwrap_or_default();
        }
    }
    result
}

fn location(file: &str, line: Option<u64>, text: Option<&str>) -> Json {
    let mut physical = json!({ "artifactLocation": { "uri": uri(file) } });
    if let Some(line) = line {
        physical["region"] = json!({ "startLine": line });
        if let Some(text) = text {
            physical["region"]["snippet"] = json!({ "text": text });
        }
    }
    json!({ "physicalLocation": physical })
}

/// A path as a relative or `file:` reference.
fn uri(path: &str) -> String {
    let mut uri = String::from(if path.starts_with('/') { "file://" } else { "" });
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(char::from(byte))
            }
            b'\\' if cfg!(windows) => uri.push('/'),
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::text::tests::sample;
    use std::time::Duration;

    #[test]
    fn a_document() {
        let report = sample();
        let mut sarif = Sarif::default();
        let mut out = Vec::new();
        for _ in 0..2 {
            sarif.trace(&Checked { report: &report, elapsed: Duration::ZERO }, &mut out).unwrap();
        }
        sarif.error(Some("gone.csv"), &Error::Usage("no file".into()), &mut out).unwrap();
        sarif.finish(&mut out).unwrap();
        let document: Json = serde_json::from_slice(&out).unwrap();
        let run = &document["runs"][0];
        assert_eq!(document["version"], "2.1.0");
        assert_eq!(run["tool"]["driver"]["rules"].as_array().unwrap().len(), 3);
        // Two violations and one undecided property, twice.
        assert_eq!(run["results"].as_array().unwrap().len(), 6);
        let physical = &run["results"][0]["locations"][0]["physicalLocation"];
        assert_eq!(physical["artifactLocation"]["uri"], "web.jsonl");
        assert_eq!(physical["region"]["startLine"], 7);
        assert_eq!(run["results"][2]["kind"], "open");
        assert_eq!(run["invocations"][0]["executionSuccessful"], false);
    }

    #[test]
    fn uris() {
        assert_eq!(uri("logs/a b:1.csv"), "logs/a%20b%3A1.csv");
        assert_eq!(uri("/var/log/x"), "file:///var/log/x");
        assert_eq!(uri("<stdin>"), "%3Cstdin%3E");
    }
}

//! `--output sarif`: SARIF 2.1.0. Rules are properties, formulas and queries; results are violations at lines of the trace.

use super::escape::uri;
use super::{Outlet, Reporter, place_of};
use crate::flags::flagged;
use crate::words;
use serde_json::{Value as Json, json};
use std::io;
use tracewise::findings::{About, Item, Report, Severity, ViolationRange, fingerprints};
use tracewise::{Error, Verdict};

/// Gathers one run.
#[derive(Default)]
pub struct Sarif {
    rules: Vec<Json>,
    results: Vec<Json>,
    notifications: Vec<Json>,
}

impl Reporter for Sarif {
    fn report(&mut self, report: &Report, _: &mut dyn Outlet) -> io::Result<()> {
        for item in report.told() {
            let rule = self.rule(item);
            let known = fingerprints(report, item);
            let mut add = |violation: Option<(usize, &ViolationRange)>, verdict: Option<(&str, &str)>| {
                let mut result = result(item, rule, report, violation);
                if let Some((kind, level)) = verdict {
                    result["kind"] = kind.into();
                    result["level"] = level.into();
                }
                let index = violation.map_or(0, |(index, _)| index);
                result["partialFingerprints"] = json!({ "tracewise/v1": known.get(index) });
                self.results.push(result);
            };
            match item.verdict {
                Some(Verdict::Satisfied) => {}
                None if item.remarks.is_empty() => {}
                None => add(None, Some(("informational", "none"))),
                Some(Verdict::Unknown) => add(None, Some(("open", "none"))),
                Some(Verdict::Violated) if item.violations.is_empty() => add(None, None),
                Some(Verdict::Violated) => {
                    item.ranges().iter().enumerate().for_each(|each| add(Some(each), None));
                }
            }
        }
        Ok(())
    }

    fn error(&mut self, trace: Option<&str>, error: &Error, _: &mut dyn Outlet) -> io::Result<()> {
        let (file, line) = place_of(error);
        let mut notification =
            json!({ "level": "error", "message": { "text": flagged(&error.render(false)).trim_end() } });
        if let Some(file) = file.as_deref().or(trace) {
            notification["locations"] = json!([location(file, line, None)]);
        }
        self.notifications.push(notification);
        Ok(())
    }

    fn finish(&mut self, out: &mut dyn Outlet) -> io::Result<()> {
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

/// Races and deadlocks share a rule each; what has a name of its own is its own rule.
fn rule_id(item: &Item) -> &str {
    match item.about {
        About::Deadlock | About::Race => item.about.name(),
        About::Property | About::Query | About::Formula | About::Test | About::Class => &item.name,
    }
}

fn level(item: &Item) -> &'static str {
    match item.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Suggestion => "note",
    }
}

impl Sarif {
    /// The index of the item's rule; several traces share it.
    fn rule(&mut self, item: &Item) -> usize {
        let id = Json::from(rule_id(item));
        if let Some(index) = self.rules.iter().position(|rule| rule["id"] == id) {
            return index;
        }
        let (short, full) = match item.about {
            About::Deadlock => {
                ("Threads can wait for each other for ever", "Locks are taken in orders that form a cycle")
            }
            About::Race => {
                ("No lock protects a shared variable", "Threads use a variable without a common lock")
            }
            _ => (item.title.as_deref().unwrap_or(&item.formula), item.formula.as_str()),
        };
        let mut rule = json!({
            "id": id,
            "shortDescription": { "text": short },
            "fullDescription": { "text": full },
            "defaultConfiguration": { "level": level(item) },
        });
        if let Some((file, line)) = &item.source {
            rule["properties"] = json!({ "file": file, "line": line });
        }
        self.rules.push(rule);
        self.rules.len() - 1
    }
}

/// One result; only the first violation has an explanation.
fn result(item: &Item, rule: usize, report: &Report, violation: Option<(usize, &ViolationRange)>) -> Json {
    let explained = violation.is_none_or(|(index, _)| index == 0);
    let line = violation.and_then(|(_, range)| range.first.line.as_ref());
    let mut place = match line {
        Some(line) => location(&line.file, Some(line.line), Some(&line.text)),
        None => location(&report.subject, None, None),
    };
    let last = violation.and_then(|(_, range)| range.last.as_ref()).and_then(|(.., place)| place.as_ref());
    if let (Some(line), Some((file, last))) = (line, last)
        && line.file == *file
    {
        place["physicalLocation"]["region"]["endLine"] = (*last).into();
        // A snippet would have to hold all of them.
        place["physicalLocation"]["region"].as_object_mut().map(|region| region.remove("snippet"));
    }
    let mut result = json!({
        "ruleId": rule_id(item),
        "ruleIndex": rule,
        "level": level(item),
        "message": { "text": message(item, violation, explained) },
        "locations": [place],
        "properties": properties(item, report, violation),
    });
    if explained && !item.places.is_empty() {
        let related = item.places.iter().enumerate().map(|(id, place)| {
            let line = &place.line;
            let mut related = location(&line.file, Some(line.line), Some(&line.text));
            related["id"] = id.into();
            related["message"] = json!({ "text": place.text });
            related
        });
        result["relatedLocations"] = related.collect();
    }
    result
}

fn message(item: &Item, violation: Option<(usize, &ViolationRange)>, explained: bool) -> String {
    let subject = item.title.as_deref().unwrap_or(&item.name);
    let place = violation.map(|(_, range)| words::range(range, ", ")).filter(|place| !place.is_empty());
    let mut message = match (item.verdict, place) {
        (None, _) => subject.to_string(),
        (Some(Verdict::Unknown), _) => format!("undecided: {subject}"),
        (_, Some(place)) => format!("violated at {place}: {subject}"),
        (_, None) => format!("violated: {subject}"),
    };
    let said = violation.and_then(|(_, range)| range.first.text.as_ref());
    if let Some(text) = said.filter(|text| !(explained && item.remarks.contains(text))) {
        message.push_str(&format!("\n{text}"));
    }
    if let Some(explanation) = words::core(item).filter(|_| explained) {
        message.push_str(&format!("\n{}", words::explanation(explanation)));
    }
    if let Some(guarantee) = item.guarantee.as_ref().filter(|_| explained) {
        message.push_str(&format!("\n{}", guarantee.sentence()));
    }
    for remark in item.remarks.iter().filter(|_| explained) {
        message.push_str(&format!("\n{remark}"));
    }
    message.trim_end().to_string()
}

/// What else there is to know, for tools that look at it.
fn properties(item: &Item, report: &Report, violation: Option<(usize, &ViolationRange)>) -> Json {
    let examined = if item.about == About::Formula { "model" } else { "trace" };
    let mut properties = json!({ examined: report.subject });
    if item.verdict.is_some() {
        properties["violation_count"] = item.violation_count.into();
    }
    if let Some(engine) = report.statistics.engine {
        properties["engine"] = engine.into();
    }
    if let Some(semantics) = report.statistics.semantics {
        properties["semantics"] = semantics.into();
    }
    if let Some(guarantee) = &item.guarantee {
        properties["guarantee"] = guarantee.kind.name().into();
    }
    let Some((_, ViolationRange { first: violation, last, .. })) = violation else { return properties };
    if let Some((position, time, _)) = last {
        properties["last_position"] = (*position).into();
        properties["last_time"] = time.map(|time| time.format()).into();
    }
    properties["position"] = violation.position.into();
    properties["time"] = violation.time.map(|time| time.format()).into();
    if let Some(category) = &violation.category {
        properties["category"] = category.as_str().into();
    }
    for (name, value) in &violation.bindings {
        // What the writer of values wrote is JSON already.
        properties["bindings"][name] =
            serde_json::from_str(&tracewise::findings::json::value(value)).unwrap_or_default();
    }
    properties
}

fn location(file: &str, line: Option<u64>, text: Option<&str>) -> Json {
    let mut physical = json!({ "artifactLocation": { "uri": uri(file) } });
    // Lines count from 1; one that is not known is left out.
    if let Some(line) = line.filter(|line| *line > 0) {
        physical["region"] = json!({ "startLine": line });
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            physical["region"]["snippet"] = json!({ "text": text });
        }
    }
    json!({ "physicalLocation": physical })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::text::tests::sample;

    #[test]
    fn a_document() {
        let report = sample();
        let mut sarif = Sarif::default();
        let mut out = Vec::new();
        for _ in 0..2 {
            sarif.report(&report, &mut out).unwrap();
        }
        sarif.error(Some("gone.csv"), &Error::refused("no file"), &mut out).unwrap();
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
        let known = &run["results"][0]["partialFingerprints"]["tracewise/v1"];
        assert_eq!(known, &run["results"][3]["partialFingerprints"]["tracewise/v1"]);
        assert_ne!(known, &run["results"][1]["partialFingerprints"]["tracewise/v1"]);
        assert_eq!(run["invocations"][0]["executionSuccessful"], false);
    }
}

//! Findings of `model-check`, and of `merge` that asks its model.

use super::{
    About, Detail, Evidence, EvidenceStep, Item, Place, Report, Statistics, Violation, Warning, words,
};
use crate::check::LogLine;
use crate::error::Setting;
use crate::merge;
use crate::model::{Model, ModelReport, Question};
use std::sync::Arc;
use std::time::Duration;
use tw_core::Verdict;
use tw_diag::Diagnostic;

/// Steps of a path that are put in words.
const TOLD: usize = 100;

impl Report {
    /// The answers of a model called `name`.
    pub fn of_model(
        report: ModelReport,
        model: &Model,
        name: &str,
        questions: &[Question],
        elapsed: Duration,
    ) -> Self {
        let none = Arc::default();
        let mut warnings: Vec<Warning> =
            about_model(name, &report).into_iter().map(|found| Warning::new(found, &none)).collect();
        let fair = report.fair_warnings.iter();
        warnings.extend(fair.map(|(found, sources)| Warning::new(found.clone(), &Arc::new(sources.clone()))));
        let mut counts = vec![("states", report.states as u64)];
        counts.extend(report.edges.map(|edges| ("transitions", edges as u64)));
        counts.extend([("initial", report.initial as u64), ("left_out", report.left_out as u64)]);
        counts.extend(report.traces.map(|traces| ("traces", traces as u64)));
        let mut options = model.merged.iter().flat_map(|merged| &merged.options);
        let divided = options.find(|(option, _)| option == "by").map(|(_, column)| column.as_str());
        let mut items = Vec::with_capacity(report.formulas.len());
        for (index, formula) in report.formulas.iter().enumerate() {
            let evidence = Evidence::new(formula, model, report.fair, report.left_out > 0);
            let mut item = item(evidence, formula.formula.clone(), formula.title.clone(), divided);
            let place = questions.get(index).and_then(|question| question.place.as_ref());
            item.source = place.map(|(file, line, _)| (file.clone(), *line as u64));
            let (own, sources) = (formula.warnings.iter(), Arc::new(formula.sources.clone()));
            item.warnings = own.map(|found| Warning::new(found.clone(), &sources)).collect();
            items.push(item);
        }
        Self {
            command: "model-check",
            subject: name.to_string(),
            statistics: Statistics {
                engine: report.symbolic.then_some("symbolic"),
                counts,
                elapsed,
                ..Statistics::default()
            },
            items,
            warnings,
            ..Self::default()
        }
    }
}

/// The file of a trace: those of a divided one are called `file (column=value)`.
fn file_of(trace: &str, divided: Option<&str>) -> String {
    let file = divided.and_then(|column| trace.split_once(&format!(" ({column}=")));
    file.map_or(trace, |(file, _)| file).to_string()
}

fn item(evidence: Evidence, formula: String, title: Option<String>, divided: Option<&str>) -> Item {
    let verdict = if evidence.holds { Verdict::Satisfied } else { Verdict::Violated };
    let log = |step: &EvidenceStep| {
        let (trace, line) = step.place()?;
        let (file, line) = (file_of(trace, divided), *line);
        Some(Place { line: LogLine { file, line, text: Default::default() }, text: step.label.clone() })
    };
    let steps = evidence.paths.first().map_or(&[][..], |path| &path.steps);
    let places: Vec<Place> = steps.iter().filter_map(log).take(TOLD).collect();
    let violations = match (evidence.holds, places.last()) {
        // A counterexample ends where it is one.
        (false, Some(last)) => vec![Violation { line: Some(last.line.clone()), ..Violation::default() }],
        _ => Vec::new(),
    };
    Item {
        about: About::Formula,
        name: formula.clone(),
        title,
        formula,
        verdict: Some(verdict),
        violation_count: violations.len(),
        violations,
        remarks: remarks(&evidence),
        places,
        detail: Detail::Evidence(Box::new(evidence)),
        ..Item::default()
    }
}

/// The path in words, one line per step.
fn remarks(evidence: &Evidence) -> Vec<String> {
    let Some(path) = evidence.paths.first() else { return vec![evidence.without_path()] };
    let kind = if evidence.holds { "witness" } else { "counterexample" };
    let mut lines = vec![format!("{kind}{}", evidence.whence())];
    for (at, step) in path.steps.iter().enumerate().take(TOLD) {
        let place = match (step.place(), step.assumed) {
            (Some((trace, line)), _) => format!("  {trace}:{line}"),
            (None, Some(why)) => format!("  {why}"),
            (None, None) => String::new(),
        };
        lines.push(format!("{}  {}{place}", at + 1, step.label));
    }
    if path.steps.len() > TOLD {
        lines.push(format!("… and {} more", words::counted((path.steps.len() - TOLD) as u64, "step")));
    }
    lines.extend(path.cycle.map(|cycle| path.again(cycle)));
    lines
}

impl Evidence {
    /// A claim about all paths that is true, or about some path that is false: in a merged model the second means that
    /// nothing like it was seen, not that it cannot be.
    pub fn without_path(&self) -> String {
        let fair = if self.fair { "fair " } else { "" };
        if self.holds {
            let more = if self.merged { "; what was not seen may differ" } else { "" };
            return format!("so it is on every {fair}path of the model{more}");
        }
        let from = match &self.failing {
            Some(failing) if failing.count < failing.initial => {
                format!(" from {}", words::printable(failing.example.as_deref().unwrap_or_default()))
            }
            _ => String::new(),
        };
        match self.merged {
            true => format!(
                "not seen{from}: no {fair}path of the model shows it, which does not make it impossible"
            ),
            false => format!("no {fair}path{from} shows it"),
        }
    }

    /// Where the path comes from, to be said after what it is.
    pub fn whence(&self) -> String {
        let text = match &self.origin {
            merge::Origin::Nowhere => String::new(),
            merge::Origin::Gone(why) => format!(" (whether one trace went this way is not known: {why})"),
            merge::Origin::Observed(pieces) => {
                let trace = pieces.iter().find_map(|piece| piece.trace.clone()).unwrap_or_default();
                format!(", observed: {trace} went this way")
            }
            merge::Origin::Spliced(pieces) => {
                let seen: Vec<&str> = pieces.iter().filter_map(|piece| piece.trace.as_deref()).collect();
                let mut traces = seen.clone();
                traces.sort_unstable();
                traces.dedup();
                let endless =
                    self.paths.first().is_some_and(|path| path.cycle.is_some() && path.back.is_none());
                match (traces.as_slice(), seen.len()) {
                    ([], _) => ", assumed: no trace went this way".to_string(),
                    ([one], 1) if endless => format!(", spliced: {one} went round once, but not for ever"),
                    ([one], 1) => format!(", spliced: {one} went this way, but not from beginning to end"),
                    ([one], _) => {
                        format!(", spliced from pieces of {one}: it did not go all the way in one go")
                    }
                    (traces, _) => {
                        format!(", spliced from {} traces: none of them went all the way", traces.len())
                    }
                }
            }
        };
        words::printable(&text)
    }
}

impl super::EvidencePath {
    /// What comes after the last step, of a path that goes round.
    pub fn again(&self, cycle: usize) -> String {
        let again = if cycle + 1 == self.steps.len() {
            format!("then step {} for ever", cycle + 1)
        } else {
            format!("then step {} again, and so on for ever", cycle + 1)
        };
        self.back.map_or(again.clone(), |why| format!("{again} ({why})"))
    }
}

/// Traces of which the model does not show that they ended.
pub fn lost_ends(ends: u64, traces: usize) -> Vec<Diagnostic> {
    let (ends, they) = match ends {
        0 => return Vec::new(),
        1 => ("1 trace ends".to_string(), "its"),
        many => (format!("{} traces end", words::count(many)), "their"),
    };
    let others = if traces == 1 { "it went on before" } else { "others go on" };
    let message = format!("{ends} where {others}; no path of the model stays at {they} end");
    let (all, state) = (Setting::Ends.to("all"), Setting::Ends.to("state"));
    let help = format!(
        "`merge {all}` lets paths stay where some trace ended, `{state}` leads them to a state `end`"
    );
    vec![Diagnostic::warning("lost-ends", message).help(help)]
}

/// What of the traces a merged model does not show; `by` is the column that divides them.
pub fn merge_notes(report: &merge::MergeReport, by: Option<&str>) -> Vec<Diagnostic> {
    let mut found = report.warnings.clone();
    if let Some(column) = by.filter(|_| report.without_key > 0) {
        let (positions, have) = match report.without_key {
            1 => ("1 position".to_string(), "has"),
            many => (words::counted(many, "position"), "have"),
        };
        let message =
            format!("{positions} {have} no `{column}`, so that no trace has them; they are left out");
        found.push(Diagnostic::warning("without-key", message));
    }
    found.extend(lost_ends(report.lost_ends, report.traces));
    found
}

fn about_model(name: &str, report: &ModelReport) -> Vec<Diagnostic> {
    let mut warnings = lost_ends(report.lost_ends, report.traces.unwrap_or(0));
    if report.looped > 0 {
        let states = words::counted(report.looped as u64, "state");
        let follow = if report.looped == 1 { "has" } else { "have" };
        let message =
            format!("{name}: {states} of the model {follow} no successor; paths stay there for ever");
        warnings.push(Diagnostic::warning("dead-end", message));
    }
    if report.unfair > 0 {
        let from = words::counted(report.unfair as u64, "initial state");
        let message =
            format!("{name}: no fair path begins in {from}: there, what is said of all paths holds");
        warnings.push(Diagnostic::warning("no-fair-path", message));
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_file_is_in_that_file() {
        assert_eq!(file_of("a (b).csv (user=x)", Some("user")), "a (b).csv");
        assert_eq!(file_of("a (user=x)", None), "a (user=x)");
        assert_eq!(file_of("a.csv", Some("user")), "a.csv");
    }
}

//! What a trace says about charts, in their pictures: the events that happened, the one that broke a chart, and the cut between.

use crate::Verdict;
use crate::check::{CheckReport, PropertyReport, Step};
use tw_plot::{Happening, PartOf, Sequence, Sequences, State};

/// Colours the charts of a picture by what was found: each by its first violation, if it has one.
pub fn colour(drawn: &mut Sequences, report: &CheckReport) {
    let names: Vec<String> = drawn.charts.iter().map(|chart| chart.name.clone()).collect();
    for chart in &mut drawn.charts {
        let own = |property: &&PropertyReport| {
            let condition = property.name.strip_prefix(chart.name.as_str()).unwrap_or("");
            matches!(condition, ".necessary" | ".sufficient")
        };
        let asked: Vec<&PropertyReport> = report.properties.iter().filter(own).collect();
        let worst = |verdict: Verdict| asked.iter().find(|property| property.verdict == verdict);
        let told = worst(Verdict::Violated).or_else(|| worst(Verdict::Unknown)).or(asked.first());
        if let Some(property) = told {
            one(chart, property);
        }
    }
    let part = |own: &PartOf| format!("{}.{}", names[own.chart], if own.main { "main" } else { "pre" });
    for after in &mut drawn.after {
        let first = part(&after.first);
        let violated = |then: &PartOf| {
            let name = format!("{first} -> {}", part(then));
            report.properties.iter().any(|own| own.name == name && own.verdict == Verdict::Violated)
        };
        after.broken = after.then.iter().map(violated).collect();
    }
}

fn one(chart: &mut Sequence, property: &PropertyReport) {
    let name = &property.name;
    let (text, holds) = match property.verdict {
        Verdict::Satisfied => ("✓ holds".to_owned(), Some(true)),
        Verdict::Unknown => (format!("? {name} is not decided yet"), None),
        Verdict::Violated => {
            let key = property.violations.first().map_or(String::new(), |first| {
                let pairs = first.bindings.iter().map(|(name, value)| format!("{name} = {value}: "));
                pairs.collect::<String>()
            });
            let why = property.explanation.as_ref().map_or("violated", |step| step.reason.as_str());
            (format!("✗ {name}: {key}{why}"), Some(false))
        }
    };
    chart.verdict = Some(tw_plot::Verdict { text, holds });
    let Some(step) = property.explanation.as_ref().filter(|_| holds == Some(false)) else { return };
    for line in chart.pre.iter_mut().chain(&mut chart.main) {
        for (event, word) in line.events.iter_mut().zip(["send", "recv"]) {
            if let Some(event) = event {
                *event = happening(step, &format!("{word} {}", line.label));
            }
        }
    }
}

/// What became of an event: the last time that the explanation speaks of it decides.
fn happening(step: &Step, name: &str) -> Happening {
    let Some(last) = step.because.iter().rfind(|own| own.formula == name) else {
        return Happening { state: State::Missing, note: String::new() };
    };
    let note = match &last.line {
        Some(line) => format!("line {}", line.line),
        None => format!("position {}", last.from),
    };
    Happening { state: if last.holds { State::Happened } else { State::Broke }, note }
}

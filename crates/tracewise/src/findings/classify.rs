//! Findings of `classify`: each class is an item, whose name says which it is.

use super::{About, Detail, Item, Report, Severity, Statistics, Violation, Warning};
use crate::Specification;
use crate::classify::{ClassReport, Classes};
use std::sync::Arc;
use std::time::Duration;
use tw_core::{Position, Verdict};

impl Report {
    /// Classes of traces.
    pub fn of_classes(classes: &Classes, spec: &Specification, elapsed: Duration) -> Self {
        let levels = classes.found.iter().map(|class| class.level).max().unwrap_or(0);
        let sources = Arc::new(spec.sources.clone());
        let warnings = classes.warnings.iter().map(|found| Warning::new(found.clone(), &sources));
        Self {
            command: "classify",
            subject: match classes.names.as_slice() {
                [one] => one.clone(),
                many => format!("{} files", many.len()),
            },
            statistics: Statistics {
                positions: Some(classes.positions),
                bytes: Some(classes.bytes),
                counts: vec![("traces", classes.traces), ("classes", classes.last().count() as u64)],
                elapsed,
                ..Statistics::default()
            },
            items: classes.found.iter().map(|class| item(class, levels > 0)).collect(),
            warnings: warnings.collect(),
            skipped: classes.skipped,
            ..Self::default()
        }
    }
}

/// How the class is called where it stands among others: the property and the first digits.
fn item(class: &ClassReport, chain: bool) -> Item {
    let violated = class.verdict == Verdict::Violated;
    let traces = if class.traces == 1 { "1 trace".to_string() } else { format!("{} traces", class.traces) };
    let news = if class.known { ", known" } else { "" };
    let violation = Violation {
        position: class.position.map(|at| at as Position),
        category: Some(class.class.clone()),
        text: Some(class.why.clone()),
        line: class.line.clone(),
        ..Violation::default()
    };
    Item {
        about: About::Class,
        name: format!("{} [{}]", class.property, &class.class[..8]),
        title: class.title.clone(),
        formula: class.formula.clone(),
        source: Some(class.source.clone()),
        verdict: Some(class.verdict),
        // What is known fails a run no more, unless it is asked for.
        severity: if class.known { Severity::Warning } else { Severity::Error },
        position: class.position.map(|at| at as Position),
        violations: if violated { vec![violation] } else { Vec::new() },
        violation_count: usize::from(violated),
        remarks: vec![
            format!("class {} ({traces}{news}), for example {}", class.class, class.examples.join(", ")),
            format!("hologram {}", class.hologram),
        ],
        detail: Detail::Class(Box::new(class.clone()), chain),
        ..Item::default()
    }
}

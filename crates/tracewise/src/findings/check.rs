//! Findings of `check`.

use super::warning::divide;
use super::{Detail, Item, Report, Statistics, Violation, ViolationRange, words};
use crate::Specification;
use crate::check::{CheckReport, PropertyReport};
use std::time::Duration;
use tw_ir::RootKind;

impl Report {
    /// The verdicts of a check.
    pub fn of_check(report: CheckReport, spec: &Specification, elapsed: Duration) -> Self {
        // Monitors stand behind the properties.
        let (monitors, properties): (Vec<_>, Vec<_>) =
            report.properties.into_iter().partition(|property| property.engine.is_some());
        let mut items: Vec<Item> = properties.into_iter().map(Item::from).collect();
        let warnings = divide(report.warnings, spec, RootKind::Property, &mut items);
        items.extend(monitors.into_iter().map(Item::from));
        Self {
            command: "check",
            subject: report.trace,
            statistics: Statistics {
                positions: Some(report.positions),
                bytes: Some(report.bytes),
                engine: Some(report.engine),
                semantics: Some(report.semantics),
                by: report.by,
                counts: Vec::new(),
                elapsed,
            },
            items,
            warnings,
            ticks: report.ticks,
            skipped: report.skipped,
            ..Self::default()
        }
    }
}

impl From<PropertyReport> for Item {
    fn from(property: PropertyReport) -> Self {
        let (remarks, detail) = match property.required {
            Some(required) => (vec![words::required(&required)], Detail::Required(Box::new(required))),
            None => (Vec::new(), Detail::Plain),
        };
        Self {
            remarks,
            detail,
            name: property.name,
            title: property.title,
            formula: property.formula,
            source: Some(property.source),
            verdict: Some(property.verdict),
            severity: property.severity,
            engine: property.engine,
            position: property.position,
            time: property.time,
            violations: property.violations.into_iter().map(Violation::from).collect(),
            violation_count: property.violation_count,
            listing: property.listing,
            merged: property.ranges.into_iter().map(ViolationRange::from).collect(),
            timeline: property.timeline,
            explanation: property.explanation,
            drawing: property.drawing,
            statistic: property.statistic,
            guarantee: property.guarantee,
            ..Self::default()
        }
    }
}

impl From<crate::check::Violation> for Violation {
    fn from(violation: crate::check::Violation) -> Self {
        let crate::check::Violation { position, time, bindings, infinite, category, text, line, around } =
            violation;
        Self { position, time, bindings, infinite, category, text, line, around }
    }
}

impl From<crate::check::ViolationRange> for ViolationRange {
    fn from(range: crate::check::ViolationRange) -> Self {
        let last = (range.count > 1).then_some((range.last, range.last_time, range.last_line));
        Self { first: range.first.into(), last, count: range.count }
    }
}

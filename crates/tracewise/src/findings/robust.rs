//! Findings of `robust`: by how much properties hold.

use super::warning::{divide, owned, parts};
use super::{Detail, Item, Report, Statistics, words};
use crate::Specification;
use crate::robust::{Least, RobustLiveReport, RobustReport, Robustness};
use std::time::Duration;
use tw_core::Verdict;
use tw_ir::RootKind;

impl Report {
    /// The robustness of properties on a trace. A value is no verdict, whatever its sign, unless one below `min` is to be
    /// a violation.
    pub fn of_robust(
        report: RobustReport,
        spec: &Specification,
        min: Option<f64>,
        elapsed: Duration,
    ) -> Self {
        let by = report.by.as_ref();
        let mut items: Vec<Item> = report.properties.into_iter().map(|found| item(found, by, min)).collect();
        place(&mut items, spec);
        let warnings = divide(report.warnings, spec, RootKind::Property, &mut items);
        Self {
            command: "robust",
            subject: report.trace,
            statistics: Statistics {
                positions: Some(report.positions),
                bytes: Some(report.bytes),
                engine: Some("robust"),
                by: report.by.clone(),
                elapsed,
                ..Statistics::default()
            },
            items,
            times: report.times,
            warnings,
            ..Self::default()
        }
    }

    /// What following a stream came to: the least value of each property.
    pub fn of_robust_live(
        trace: &str,
        report: &RobustLiveReport,
        spec: &Specification,
        min: Option<f64>,
        elapsed: Duration,
    ) -> Self {
        let least = |(name, least): &(String, Option<Least>)| Item {
            name: name.clone(),
            formula: name.clone(),
            verdict: least.and_then(|least| verdict(least.value, min)),
            remarks: vec![match least {
                None => "no value".to_string(),
                Some(Least { value, position, time }) => {
                    let time = time.map_or(String::new(), |time| format!(", time {}", time.format()));
                    format!("least robustness {} at position {position}{time}", words::number(*value))
                }
            }],
            ..Item::default()
        };
        let mut items: Vec<Item> = report.least.iter().map(least).collect();
        place(&mut items, spec);
        Self {
            command: "robust",
            subject: trace.to_string(),
            statistics: Statistics {
                positions: Some(report.positions),
                engine: Some("robust"),
                elapsed,
                ..Statistics::default()
            },
            items,
            skipped: report.bad_lines,
            ..Self::default()
        }
    }

    /// The robustness of properties, where it was computed.
    pub fn robustness(&self) -> impl Iterator<Item = &Robustness> {
        self.items.iter().filter_map(|item| match &item.detail {
            Detail::Robustness(found) => Some(&**found),
            _ => None,
        })
    }
}

fn verdict(value: f64, min: Option<f64>) -> Option<Verdict> {
    min.map(|min| if value < min { Verdict::Violated } else { Verdict::Satisfied })
}

fn item(found: Robustness, by: Option<&(String, usize)>, min: Option<f64>) -> Item {
    let mut remarks = vec![format!("robustness {}", words::number(found.value))];
    if let Some(min) = min.filter(|min| found.lowest() < *min) {
        remarks.push(format!("less than the {} asked for", words::number(min)));
    }
    remarks.extend(by.zip(found.key.as_ref()).map(|((column, _), key)| format!("{column} = {key}")));
    if let Some(link) = &found.weakest {
        remarks.push(words::decided(link, found.value));
    }
    Item {
        name: found.name.clone(),
        title: found.title.clone(),
        verdict: verdict(found.lowest(), min),
        remarks,
        detail: Detail::Robustness(Box::new(found)),
        ..Item::default()
    }
}

/// Where the properties are written.
fn place(items: &mut [Item], spec: &Specification) {
    let roots = spec.program.roots.iter().filter(|root| root.kind == RootKind::Property);
    let owned = owned(spec, RootKind::Property);
    let each = parts(items.len(), owned.len());
    let owned = owned.into_iter().zip(roots).flat_map(|own| std::iter::repeat_n(own, each));
    for (item, ((name, span), root)) in items.iter_mut().zip(owned) {
        if item.name == name {
            item.formula = spec.words(root.node);
            item.source = Some(words::source(span, &spec.sources));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_no_verdict_unless_a_least_one_is_asked_for() {
        assert_eq!(verdict(-1.0, None), None);
        assert_eq!(verdict(-1.0, Some(0.0)), Some(Verdict::Violated));
        assert_eq!(verdict(0.0, Some(0.0)), Some(Verdict::Satisfied));
    }
}

//! Findings of `test`: what was expected and did not come out.

use super::{About, Detail, Item, Report, Statistics};
use crate::test::{TestReport, TestResult};
use std::time::Duration;
use tw_core::Verdict;

impl Report {
    /// The expectations of a file of tests; one that is not met is violated.
    pub fn of_test(report: TestReport, elapsed: Duration) -> Self {
        let path = report.path;
        Self {
            command: "test",
            subject: path.clone(),
            statistics: Statistics { elapsed, ..Statistics::default() },
            items: report.results.into_iter().map(|result| item(&path, result)).collect(),
            ..Self::default()
        }
    }
}

fn item(path: &str, result: TestResult) -> Item {
    let passed = result.passed();
    let named: Vec<&str> = [&result.case, &result.kind, &result.name]
        .into_iter()
        .map(String::as_str)
        .filter(|part| !part.is_empty())
        .collect();
    Item {
        about: About::Test,
        name: named.join(" · "),
        source: Some((path.into(), result.line)),
        verdict: Some(if passed { Verdict::Satisfied } else { Verdict::Violated }),
        remarks: if passed { Vec::new() } else { difference(&result) },
        detail: Detail::Test(Box::new(result)),
        ..Item::default()
    }
}

/// What was expected and what came out, line by line.
fn difference(result: &TestResult) -> Vec<String> {
    let lines =
        |sign: &str, text: &str| text.lines().map(|line| format!("{sign} {line}")).collect::<Vec<_>>();
    let expected = result.expected.as_deref().map_or(Vec::new(), |text| lines("-", text));
    [expected, lines("+", &result.found)].concat()
}

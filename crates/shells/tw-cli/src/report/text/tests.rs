//! A report made by hand, and what it looks like. The other reporters' tests use it too.

use super::*;
use std::time::Duration;
use tracewise::check::{CheckReport, PropertyReport};
use tracewise::trace::{Stamp, TimeStyle};
use tracewise::{Specification, TimeUnit, Value};

fn line(number: u64, text: &str) -> Option<LogLine> {
    Some(LogLine { file: "web.jsonl".into(), line: number, text: text.into() })
}

fn stamp(seconds: i64) -> Option<Stamp> {
    Some(Stamp { time: seconds * 1_000_000_000, style: TimeStyle::Number(TimeUnit::Seconds) })
}

fn step(formula: &str, holds: bool, range: (usize, usize), reason: &str, because: Vec<Step>) -> Step {
    Step {
        formula: formula.into(),
        holds,
        from: range.0,
        to: range.1,
        time: stamp(12),
        reason: reason.into(),
        values: Vec::new(),
        line: line(range.0 as u64 + 1, r#"{"event":"req","id":"r3"}"#),
        pending_since: None,
        because,
    }
}

/// One violated, one satisfied and one undecided property.
pub(crate) fn sample() -> Report {
    let request = Step {
        values: vec![("event".into(), Value::text("req"))],
        ..step("req", true, (6, 6), "it is so at position 6", vec![])
    };
    let never =
        step("ack", false, (6, 7), "`ack` fails at every position from 6 to 7, where the trace ends", vec![]);
    let reply = Step {
        pending_since: Some(6),
        ..step("F ack", false, (6, 6), "`ack` holds at no position from 6 to the end (7)", vec![never])
    };
    let implication =
        step("req -> F ack", false, (6, 6), "`req` holds but `F ack` does not", vec![request, reply]);
    let always =
        step("G (req -> F ack)", false, (0, 0), "`req -> F ack` fails at position 6", vec![implication]);
    let violation = |position: usize, number, user: &str| tracewise::check::Violation {
        position: Some(position),
        time: stamp(position as i64 * 2),
        bindings: vec![("u".into(), Value::text(user))],
        infinite: false,
        category: None,
        text: None,
        line: line(number, r#"{"event":"req","id":"r3"}"#),
        around: Vec::new(),
    };
    let property = |name: &str, title: Option<&str>, verdict| PropertyReport {
        name: name.into(),
        title: title.map(Into::into),
        formula: format!("formula of {name}"),
        source: ("web.tw".into(), 3),
        verdict,
        ..PropertyReport::default()
    };
    let answered = PropertyReport {
        position: Some(6),
        time: stamp(12),
        violations: vec![violation(6, 7, "bob"), violation(7, 8, "eve")],
        violation_count: 2,
        explanation: Some(always),
        ..property("answered", Some("every request is answered"), Verdict::Violated)
    };
    let spec = Specification::from_formula("true").unwrap();
    let report = CheckReport {
        trace: "web.jsonl".into(),
        positions: 8,
        bytes: 400,
        skipped: 0,
        engine: "columnar",
        semantics: "finite",
        by: None,
        properties: vec![
            answered,
            property("ordered", None, Verdict::Satisfied),
            property("fair", None, Verdict::Unknown),
        ],
        warnings: Vec::new(),
        slicing: Vec::new(),
        ticks: Vec::new(),
    };
    Report::of_check(report, &spec, Duration::from_micros(1200))
}

fn render(report: &Report, style: Style) -> String {
    let mut out = Vec::new();
    Text::new(style).report(report, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn a_violation_on_a_page() {
    let expected = r#"✗ answered  every request is answered
    ╭─ web.jsonl:7 · position 6 · time 12 · u = "bob"
  7 │ {"event":"req","id":"r3"}
    │
    = ✗ req -> F ack at 6: `req` holds but `F ack` does not
      ├ ✓ req: it is so at position 6 (event = "req")
      ╰ ✗ F ack at 6: `ack` holds at no position from 6 to the end (7); pending since position 6
        ╰ ✗ `ack` fails at every position from 6 to 7, where the trace ends
    = also at web.jsonl:8 (position 7, time 14, u = "eve"): {"event":"req","id":"r3"}
✓ ordered
? fair  undecided: the trace settles it neither way
1 of 3 properties violated, 1 undecided on web.jsonl (8 positions); engine columnar, 1.2 ms
"#;
    assert_eq!(render(&sample(), Style::default()), expected);
}

#[test]
fn unlisted_violations_are_counted() {
    let mut report = sample();
    report.items[0].violation_count = 1236;
    assert!(
        render(&report, Style::default()).contains("= … and 1,234 more violations (use --violations all)\n")
    );
    report.items[0].violations.clear();
    report.items[0].explanation = None;
    assert!(render(&report, Style::default()).contains("= 1,236 violations (use --violations all)\n"));
}

#[test]
fn nothing_is_wider_than_the_terminal() {
    for width in [50, 60, 80] {
        let text = render(&sample(), Style { color: false, width: Some(width) });
        for line in text.lines() {
            assert!(line.chars().count() <= width, "{width}: {line}");
        }
    }
}

#[test]
fn colour_adds_nothing_but_colour() {
    let coloured = render(&sample(), Style { color: true, width: None });
    assert_ne!(coloured, render(&sample(), Style::default()));
    let mut plain = String::new();
    let mut rest = coloured.as_str();
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        plain.push_str(before);
        rest = after.split_once('m').map_or("", |(_, after)| after);
    }
    plain.push_str(rest);
    assert_eq!(plain, render(&sample(), Style::default()));
}

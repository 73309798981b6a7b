//! Which objects hold warnings.

use super::*;
use serde_json::Value as Json;

fn warning(code: &'static str) -> Warning {
    Warning::new(Diagnostic::warning(code, "look"), &Default::default())
}

fn codes(line: &str) -> Vec<String> {
    let object: Json = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    let found = object["warnings"].as_array().cloned().unwrap_or_default();
    found.iter().map(|warning| warning["code"].as_str().unwrap_or_default().to_string()).collect()
}

fn write(lines: &mut Lines, report: &Report) -> Vec<String> {
    let mut out = Vec::new();
    lines.write(report, &mut out).unwrap();
    String::from_utf8(out).unwrap().lines().map(str::to_string).collect()
}

#[test]
fn warnings_stand_where_they_concern_something() {
    let item = |name: &str, warnings| Item { name: name.into(), warnings, ..Item::default() };
    let items = vec![item("a", vec![]), item("b", vec![warning("own")])];
    let report = Report { items, warnings: vec![warning("run")], ..Report::default() };
    let mut lines = Lines::new();
    let first = write(&mut lines, &report);
    assert_eq!((codes(&first[0]), codes(&first[1])), (vec!["run".to_string()], vec!["own".to_string()]));
    // The second trace of a run says what is its own, and not again what concerns the run.
    let second = write(&mut lines, &report);
    assert_eq!((codes(&second[0]).len(), codes(&second[1]).len()), (0, 1));
    assert!(!second[0].contains("warnings") && !second[0].contains("skipped"), "{}", second[0]);
    let skipped = Report { skipped: 3, ..report };
    assert!(write(&mut lines, &skipped)[1].ends_with(",\"skipped\":3}"));
}

#[test]
fn names_cannot_break_a_line() {
    let item = Item { name: "a\n\"b\u{1b}".into(), ..Item::default() };
    let report = Report { items: vec![item], subject: "t\n".into(), ..Report::default() };
    let lines = objects(&report);
    assert_eq!(lines.len(), 1);
    let object: Json = serde_json::from_str(&lines[0]).unwrap();
    assert_eq!((object["property"].as_str(), object["trace"].as_str()), (Some("a\n\"b\u{1b}"), Some("t\n")));
}

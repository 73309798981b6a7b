//! Charts drawn and imported, and the hand-over of trains: `examples/etcs`.

use crate::common::{Run, directory};
use serde_json::Value;

/// Runs a command, with the examples wherever the tests run.
fn tracewise(line: &str) -> Run {
    let examples = crate::shared::root().join("examples").display().to_string();
    crate::common::tracewise(&line.replace("examples/", &format!("{examples}/")))
}

fn verdicts() -> Vec<Value> {
    let path = crate::shared::root().join("examples/etcs/verdicts.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().unwrap().iter().map(|own| own.as_str().unwrap().to_owned()).collect()
}

/// Every case of the table, in three readings: the verdicts that the definitions give.
#[test]
fn the_table_of_verdicts() {
    let mut asked = 0;
    for row in verdicts().iter().filter(|row| row["case"].is_string()) {
        let (case, reading) = (row["case"].as_str().unwrap(), row["reading"].as_str().unwrap());
        let charts = match reading {
            "iterated" => "examples/etcs/handover.elsc".to_owned(),
            reading => format!("--reading {reading} examples/etcs/once.elsc"),
        };
        let run = tracewise(&format!("chart check {charts} examples/etcs/cases/{case}.jsonl --output json"));
        let violated: Vec<String> = run
            .json()
            .iter()
            .filter(|own| own["verdict"] == "violated")
            .map(|own| own["property"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(violated, texts(&row["violated"]), "{case}, {reading}: {run:?}");
        assert_eq!(run.code, i32::from(!violated.is_empty()), "{case}, {reading}");
        asked += 1;
    }
    assert_eq!(asked, 39);
}

/// Thirty trains, most of them recorded badly: who violates what.
#[test]
fn damaged_records_are_found() {
    let line = "chart check examples/etcs/handover.elsc examples/etcs/trains.jsonl --by train --violations all --output json";
    let found = tracewise(line);
    assert_eq!(found.code, 1, "{found:?}");
    let found = found.json();
    let mut asked = 0;
    for row in verdicts().iter().filter(|row| row["property"].is_string()) {
        let own = found.iter().find(|own| own["property"] == row["property"]).unwrap();
        let violations = own["violations"].as_array().cloned().unwrap_or_default();
        let mut trains: Vec<i64> = violations
            .iter()
            .map(|one| {
                let train = &one["bindings"]["train"];
                train.as_i64().or_else(|| train.as_str()?.parse().ok()).unwrap_or_else(|| panic!("{one}"))
            })
            .collect();
        trains.sort_unstable();
        trains.dedup();
        assert_eq!(serde_json::json!(trains), row["trains"], "{}", row["property"]);
        asked += 1;
    }
    assert_eq!(asked, 6);
}

#[test]
fn charts_are_drawn() {
    let folder = directory("chart-draw");
    let file = |name: &str| folder.join(name).display().to_string();
    for (out, begin) in [("a.svg", &b"<svg"[..]), ("a.png", b"\x89PNG"), ("a.dot", b"digraph")] {
        let run = tracewise(&format!("chart draw -o '{}' examples/etcs/handover.elsc", file(out)));
        assert_eq!((run.code, run.err.as_str()), (0, ""), "{run:?}");
        assert!(std::fs::read(file(out)).unwrap().starts_with(begin), "{out}");
    }
    let all = std::fs::read_to_string(file("a.svg")).unwrap();
    assert_eq!(all.matches("class=\"main\"").count(), 3);
    let one = tracewise("chart draw examples/etcs/handover.elsc --chart connected");
    assert_eq!(one.out.matches("class=\"main\"").count(), 1);
    assert!(one.out.contains("hexagon sufficient") && !one.out.contains("class=\"after\""));
    assert_eq!(tracewise("chart draw examples/etcs/handover.elsc --quiet").out, "");
}

#[test]
fn the_cut_is_drawn() {
    let svg = |more: &str| {
        let run = tracewise(&format!("chart draw examples/etcs/once.elsc {more}"));
        assert_eq!(run.code, 0, "{run:?}");
        run.out
    };
    // The answer is received by nobody: the acknowledgement comes too early.
    let broken = svg("--chart ExdEoA examples/etcs/cases/answer-lost.jsonl");
    assert!(broken.contains("✗ ExdEoA.necessary"), "{broken}");
    assert!(broken.contains("class=\"cut\"") && broken.contains("<path class=\"broke\""), "{broken}");
    assert!(broken.contains(">line 8<"), "{broken}");
    // The end of the trace breaks a chart without an event that does.
    let ended = svg("--chart ExdEoA examples/etcs/cases/thanks-lost.jsonl");
    assert!(ended.contains("class=\"cut\"") && !ended.contains("<path class=\"broke\""), "{ended}");
    let good = svg("examples/etcs/cases/base.jsonl");
    assert_eq!(good.matches("✓ holds").count(), 3, "{good}");
    assert!(!good.contains("class=\"cut\""));
    let early = svg("examples/etcs/cases/asked-early.jsonl");
    assert_eq!(early.matches("class=\"after broke\"").count(), 1, "{early}");
    let train = svg("--chart preHOV examples/etcs/trains.jsonl --by train");
    assert!(train.contains("train = 1"), "{train}");
}

#[test]
fn a_diagram_becomes_a_chart_that_is_checked() {
    let folder = directory("chart-import");
    let out = folder.join("order.elsc").display().to_string();
    for diagram in ["order.puml", "order.mmd"] {
        let made = tracewise(&format!("chart import examples/import/{diagram} -o '{out}'"));
        assert_eq!((made.code, made.err.as_str()), (0, ""), "{made:?}");
        let found =
            tracewise(&format!("chart check '{out}' examples/import/order.jsonl --by order --output json"));
        assert_eq!(found.code, 1, "{found:?}");
        let violations = found.json()[0]["violations"].clone();
        assert_eq!(violations.as_array().map(Vec::len), Some(1), "{diagram}: {violations}");
        assert_eq!(violations[0]["bindings"]["order"].to_string().trim_matches('"'), "3");
        // `import` reads diagrams like other formats.
        let printed = tracewise(&format!("import examples/import/{diagram}"));
        assert!(std::fs::read_to_string(&out).unwrap() == printed.out, "{printed:?}");
    }
}

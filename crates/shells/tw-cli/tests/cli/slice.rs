//! `slice`: the vectors of the paper, names and positions, and what is left out.

use crate::common::tracewise_with;
use serde_json::{Value, json};

const FIRED: &str = "f,2\nh,2\nf,1\nf,2\nh,2\nf,3\nh,3\nh,1\n";

fn sliced(options: &str, input: &str) -> Vec<Value> {
    let run = tracewise_with(&format!("slice {options} --output json -"), input);
    assert_eq!(run.code, 0, "{options}: {}", run.err);
    run.json()
}

#[test]
fn pairs_under_a_constraint() {
    let patterns = "--format events --patterns 'f(x), f(y), h(x), h(y)'";
    let found = sliced(&format!("{patterns} --where 'x > y'"), FIRED);
    let expected = [
        json!({"bindings": {"x": 2, "y": 1}, "positions": [0, 1, 2, 3, 4, 7]}),
        json!({"bindings": {"x": 3, "y": 1}, "positions": [2, 5, 6, 7]}),
        json!({"bindings": {"x": 3, "y": 2}, "positions": [0, 1, 3, 4, 5, 6]}),
    ];
    assert_eq!(found, expected);
    assert_eq!(sliced(patterns, FIRED).len(), 6);
    assert_eq!(sliced(&format!("{patterns} --allow-equal"), FIRED).len(), 9);
    let partial = sliced(&format!("{patterns} --partial"), FIRED);
    assert_eq!(partial.len(), 13);
    assert_eq!(partial[0], json!({"bindings": {}, "positions": []}));
    assert_eq!(partial[1], json!({"bindings": {"y": 1}, "positions": [2, 7]}));
    let partial = sliced(&format!("{patterns} --partial --where 'x > y'"), FIRED);
    assert_eq!(partial.len(), 10);
}

#[test]
fn arguments_by_name_and_constants() {
    let rows = FIRED.lines().map(|line| line.split_once(',').expect("two cells"));
    let jsonl: String = rows.map(|(event, id)| format!("{{\"event\":\"{event}\",\"id\":{id}}}\n")).collect();
    let named = "--format jsonl --patterns 'f(id: x), f(id: y), h(id: x), h(id: y)' --where 'x > y'";
    assert_eq!(sliced(named, &jsonl)[0]["positions"], json!([0, 1, 2, 3, 4, 7]));
    let found = sliced("--format events --patterns 'r(x, \"a\"), r(y, _), r(y, x)'", "r,1,a\nr,2,b\nr,3,1\n");
    assert_eq!(found[0], json!({"bindings": {"x": 1, "y": 2}, "positions": [0, 1]}));
    // Texts stand behind numbers, and 1 and 1.0 are one thing.
    let found = sliced("--format events --patterns 'f(x)'", "f,b\nf,1\nf,1.0\nf,a\n");
    let values: Vec<&Value> = found.iter().map(|slice| &slice["bindings"]["x"]).collect();
    assert_eq!(values, [&json!(1), &json!("a"), &json!("b")]);
    assert_eq!(found[0]["positions"], json!([1, 2]));
}

#[test]
fn blocks_make_no_difference() {
    let line = |at: usize| format!("f,{}\nh,{}\n", at % 7, at % 5);
    let long: String = (0..20_000).map(line).collect();
    let found = sliced("--format events --patterns 'f(x), h(x)'", &long);
    assert_eq!(found.len(), 7);
    let lengths: usize = found.iter().map(|slice| slice["positions"].as_array().expect("a list").len()).sum();
    assert_eq!(lengths, 40_000);
}

#[test]
fn an_event_that_the_trace_lacks_is_a_warning() {
    let run = tracewise_with("slice --format events --patterns 'f(x), gone(x)' -", "f,2\n");
    assert_eq!((run.code, run.out.lines().next()), (0, Some("x = 2: 0")));
    assert!(run.err.starts_with("warning[never-occurs]: event `gone` never occurs"), "{}", run.err);
    assert_eq!(run.err.matches("never-occurs").count(), 1, "{}", run.err);
}

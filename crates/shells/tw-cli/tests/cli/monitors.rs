//! `check` and `watch` run monitors: reports, categories, severities, ends, keys, checkpoints.

use crate::common::{tracewise, tracewise_with};
use crate::shared::{directory, root};
use serde_json::{Value, json};

const LOG: &str = "getC,m1,c1\ngetI,c1,i1\nopen,f1\nuseI,i1\nmodifyM,m1\nuseI,i1\nopen,f2\nclose,f1\n";

fn rules() -> String {
    root().join("examples/iterators/rules.tw").display().to_string()
}

/// A specification in a file of its own.
fn spec(test: &str, text: &str) -> String {
    let path = directory(test).join("s.tw");
    std::fs::write(&path, text).expect("written");
    path.display().to_string()
}

#[test]
fn reports_have_bindings_categories_severities_and_texts() {
    let run = tracewise_with(&format!("check {} --format events --output json -", rules()), LOG);
    assert_eq!(run.code, 1, "{}", run.err);
    let [stale, open] = &run.json()[..] else { panic!("{}", run.out) };
    assert_eq!(stale["property"], "UnsafeIterator");
    assert_eq!((&stale["verdict"], &stale["position"]), (&json!("violated"), &json!(5)));
    assert_eq!((&stale["engine"], &stale["violation_count"]), (&json!("parametric"), &json!(1)));
    let found = &stale["violations"][0];
    assert_eq!(found["bindings"], json!({"m": "m1", "c": "c1", "i": "i1"}));
    assert_eq!((&found["category"], &found["severity"]), (&json!("match"), &json!("error")));
    assert_eq!(found["text"], "iterator i1 of c1 is stale");
    // Line by line, with the step of the automaton.
    let steps: Vec<&Value> = stale["explanation"]["because"].as_array().expect("steps").iter().collect();
    let places: Vec<&Value> = steps.iter().map(|step| &step["from"]).collect();
    assert_eq!(
        places,
        [0, 1, 3, 4, 5].iter().map(|at| json!(at)).collect::<Vec<_>>().iter().collect::<Vec<_>>()
    );
    // At the end there is no position.
    let found = &open["violations"][0];
    assert_eq!((&open["position"], &found["position"]), (&Value::Null, &Value::Null));
    assert_eq!((&found["bindings"], &found["category"]), (&json!({"f": "f2"}), &json!("violation")));
    assert_eq!((&found["severity"], &found["text"]), (&json!("warning"), &json!("f2 is left open")));
}

#[test]
fn severities_decide_the_exit_code() {
    let monitor = |severity: &str| format!("monitor Bad(x) {severity} {{ event bad(x); }}\n");
    for (severity, plain, denied) in [("error", 1, 1), ("warning", 0, 1), ("suggestion", 0, 0), ("", 1, 1)] {
        let spec = spec(&format!("monitors-{severity}"), &monitor(severity));
        for command in ["check", "watch"] {
            let run = |deny: &str| {
                tracewise_with(&format!("{command} {deny} {spec} --format events -"), "bad,1\nbad,2\n").code
            };
            assert_eq!((run(""), run("--deny warnings")), (plain, denied), "{command} {severity}");
            let silent = tracewise_with(&format!("{command} {spec} --format events -"), "good,1\n");
            assert_eq!(silent.code, 0, "{}", silent.err);
        }
    }
}

#[test]
fn live_reports_are_those_of_the_stored_trace() {
    let run = tracewise_with(&format!("watch {} --format events --output json -", rules()), LOG);
    assert_eq!(run.code, 1, "{}", run.err);
    let lines = run.json();
    let violated: Vec<&Value> = lines.iter().filter(|line| line["verdict"] == "violated").collect();
    assert_eq!(violated.len(), 2, "{}", run.out);
    assert_eq!(violated[0]["position"], 5);
    assert_eq!(violated[0]["violation"]["text"], "iterator i1 of c1 is stale");
    assert_eq!(violated[0]["violation"]["category"], "match");
    assert_eq!(
        (&violated[1]["violation"]["position"], &violated[1]["settled"]),
        (&Value::Null, &json!(false))
    );
}

#[test]
fn a_checkpoint_holds_the_bindings() {
    let folder = directory("monitors-checkpoint");
    let (log, state) = (folder.join("log.events"), folder.join("state"));
    let lines: Vec<&str> = LOG.lines().collect();
    let line = format!(
        "watch {} {} --output json --checkpoint {} --resume",
        rules(),
        log.display(),
        state.display()
    );
    // The last line may be cut, so it is read again.
    std::fs::write(&log, lines[..4].join("\n") + "\n").expect("written");
    assert_eq!(tracewise(&line).code, 0);
    std::fs::write(&log, LOG).expect("written");
    let run = tracewise(&line);
    assert_eq!(run.code, 1, "{}", run.err);
    let stale = run.json().into_iter().find(|line| line["property"] == "UnsafeIterator").expect("a report");
    assert_eq!(stale["violation"]["bindings"], json!({"m": "m1", "c": "c1", "i": "i1"}));
    // What was told is told again.
    let again = tracewise(&line).json();
    assert!(again.iter().any(|line| line["violation"]["text"] == "iterator i1 of c1 is stale"), "{again:?}");
}

#[test]
fn keys_have_monitors_of_their_own() {
    let spec = spec("monitors-by", "monitor Twice(x) { event f(x); ere : f f; }\n");
    let log = "event,x,k\nf,1,a\nf,1,b\nf,1,a\n";
    let run = tracewise_with(&format!("check {spec} --by k --format csv --output json -"), log);
    assert_eq!(run.code, 1, "{}", run.err);
    let found = &run.json()[0]["violations"];
    assert_eq!(found[0]["bindings"], json!({"x": 1, "k": "a"}));
    assert_eq!((&found[0]["position"], found.as_array().map(Vec::len)), (&json!(2), Some(1)));
}

#[test]
fn properties_and_monitors_share_a_reading() {
    let spec = spec("monitors-beside", "property calm : G !bad;\nmonitor Bad(x) { event bad(x); }\n");
    let run = tracewise_with(&format!("check {spec} --format events --output json -"), "bad,1\ngood,2\n");
    let names: Vec<Value> = run.json().iter().map(|line| line["property"].clone()).collect();
    assert_eq!((run.code, names), (1, vec![json!("calm"), json!("Bad")]), "{}", run.err);
    let alone = tracewise_with(&format!("check --engine parametric {} --format events -", rules()), LOG);
    assert_eq!(alone.code, 1, "{}", alone.err);
}

//! Bindings on their way from the events of a trace to a report: quantified variables by the definition.

use crate::common::{Run, tracewise_with};
use serde_json::{Value, json};

fn check(formula: &str, format: &str, input: &str) -> Run {
    tracewise_with(&format!("check -e '{formula}' - --format {format} --output json --violations all"), input)
}

/// Positions and bindings of the violations.
fn violations(run: &Run) -> Vec<(u64, Value)> {
    assert!(run.code == 0 || run.code == 1, "{run:?}");
    let found = run.json()[0]["violations"].as_array().unwrap().clone();
    found.iter().map(|one| (one["position"].as_u64().unwrap(), one["bindings"].clone())).collect()
}

fn holds(run: &Run) -> bool {
    assert!(run.code == 0 || run.code == 1, "{run:?}");
    run.json()[0]["verdict"] == "satisfied"
}

#[test]
fn violations_say_who() {
    let log = "approve,160\npublish,160\npublish,163\napprove,163\npublish,164\n";
    let expected = vec![(2, json!({"r": 163})), (4, json!({"r": 164}))];
    for formula in [
        "G forall r. publish(r) -> O approve(r)",
        "forall r. G (publish(r) -> O approve(r))",
        "G forall r. !publish(r) | O approve(r)",
    ] {
        let run = check(formula, "events", log);
        assert_eq!(violations(&run), expected, "{formula}");
        assert_eq!(
            (run.json()[0]["position"].clone(), run.json()[0]["violation_count"].clone()),
            (json!(2), json!(2))
        );
    }
}

#[test]
fn every_format_delivers_arguments() {
    let formula = "G forall u, i. login(user: u, ip: i) -> O register(user: u)";
    let expected = vec![(1, json!({"u": "eve", "i": "10.0.0.2"})), (3, json!({"u": "7", "i": "10.0.0.3"}))];
    let jsonl = r#"{"event":"register","user":"bob"}
{"event":"login","user":"eve","ip":"10.0.0.2"}
{"event":"login","user":"bob","ip":"10.0.0.1"}
{"event":"login","user":"7","ip":"10.0.0.3"}
{"event":"login","user":null,"ip":"10.0.0.4"}
"#;
    assert_eq!(violations(&check(formula, "jsonl", jsonl)), expected);
    let csv = "event,user,ip\nregister,bob,\nlogin,eve,10.0.0.2\nlogin,bob,10.0.0.1\nlogin,x7,10.0.0.3\nlogin,,10.0.0.4\n";
    let expected = vec![(1, json!({"u": "eve", "i": "10.0.0.2"})), (3, json!({"u": "x7", "i": "10.0.0.3"}))];
    assert_eq!(violations(&check(formula, "csv", csv)), expected);
    // Several events at one position, arguments by place.
    let monpoly =
        "@1 register (\"bob\")\n@2 login (\"bob\",1) (\"eve\",2) register (\"al\")\n@3 login (\"al\",3)\n";
    let formula = "G forall u, i. login(u, i) -> O register(u)";
    assert_eq!(violations(&check(formula, "monpoly", monpoly)), [(1, json!({"u": "eve", "i": 2}))]);
    let timed = "G forall u, i. login(u, i) -> O[0,1] register(u)";
    assert_eq!(violations(&check(timed, "monpoly", monpoly)), [(1, json!({"u": "eve", "i": 2}))]);
}

#[test]
fn variables_range_over_values_nobody_has_seen() {
    let log = "p,1\nq,2\n";
    assert!(holds(&check("exists x. G !p(x)", "events", log)));
    assert!(!holds(&check("forall x. F (p(x) | q(x))", "events", log)));
    assert!(holds(&check("exists x. exists y. x != y & G (!p(x) & !p(y) & !q(x) & !q(y))", "events", log)));
    assert!(holds(&check("G forall x. p(x) -> exists y. y > x & F q(y)", "events", log)));
    assert!(!holds(&check("G forall x. q(x) -> exists y. y > x & O p(y)", "events", log)));
    assert!(holds(&check("forall x. (exists y. y < x & F p(y)) <-> x > 1", "events", log)));
}

#[test]
fn keys_and_variables_go_together() {
    let log = r#"{"event":"open","file":"a","host":"h1"}
{"event":"open","file":"b","host":"h2"}
{"event":"close","file":"a","host":"h2"}
{"event":"close","file":"b","host":"h2"}
"#;
    let run = tracewise_with(
        "check -e 'G forall f. open(file: f) -> F close(file: f)' - --by host --output json",
        log,
    );
    assert_eq!(violations(&run), [(0, json!({"f": "a", "host": "h1"}))]);
}

/// The first violation in the log is explained, also where another key's trace is evaluated before.
#[test]
fn the_first_violation_is_the_one_explained() {
    let log = "{\"event\":\"close\",\"file\":\"a\",\"host\":\"h1\"}\n\
               {\"event\":\"open\",\"file\":\"b\",\"host\":\"h2\"}\n\
               {\"event\":\"open\",\"file\":\"c\",\"host\":\"h1\"}\n";
    let command = "check -e 'G forall f. open(file: f) -> F close(file: f)' - --by host --output json";
    let object = &tracewise_with(command, log).json()[0];
    assert_eq!(object["violations"][0]["bindings"], json!({"f": "b", "host": "h2"}));
    assert_eq!(object["explanation"]["formula"], "open(file: \"b\") -> F close(file: \"b\")");
    assert_eq!(object["explanation"]["line"]["line"], 2);
}

#[test]
fn what_the_definition_cannot_do_is_refused_by_name() {
    for (formula, what) in [
        ("G forall x. p(x) -> exists y. y == x + 1 & !q(y)", "arithmetic on quantified variables"),
        ("G forall x. p(x) | x matches \"a\"", "a regular expression over a quantified variable"),
        ("G (count(x : !p(x)) < 3)", "`count` of infinitely many values of `x`"),
    ] {
        let run = check(formula, "events --engine reference", "p,1\n");
        assert!(run.code == 2 && run.err.contains(what), "{run:?}");
    }
    let long: String = (0..5000).map(|k| format!("p,{k}\n")).collect();
    assert_eq!(check("G forall x. p(x) -> O p(x)", "events", &long).code, 0);
    let run = check("G forall x. p(x) -> O p(x)", "events --engine reference", &long);
    assert!(run.code == 0 && run.err.contains("`relational` ran instead"), "{}", run.err);
}

#[test]
fn valuations_are_counted() {
    let log = "@0 failed (\"al\",1) (\"bo\",1) failed (\"al\",2)\n@60 alert (1) alert (2)\n@700 failed (\"cy\",2) alert (2)\n";
    let formula = "G forall i. alert(i) -> count(u : O[0,10m] failed(u, i)) >= 2";
    let expected = [(1, json!({"i": 2})), (2, json!({"i": 2}))];
    assert_eq!(violations(&check(formula, "monpoly", log)), expected);
    let formula = "G forall i. alert(i) -> exists k. failed(_, k) & k == i";
    assert_eq!(violations(&check(formula, "monpoly", log)), [(1, json!({"i": 1})), (1, json!({"i": 2}))]);
    let jsonl = r#"{"event":"order","items":[{"id":1},{"id":2}]}
{"event":"stock","id":1}
{"event":"order","items":[{"id":1},{"id":3}],"id":null}
{"event":"order"}
"#;
    let formula = "G forall x in items[*].id. F stock(id: x)";
    let expected = [(0, json!({"x": 2})), (2, json!({"x": 1})), (2, json!({"x": 3}))];
    assert_eq!(violations(&check(formula, "jsonl", jsonl)), expected);
}

#[test]
fn infinitely_many_valuations_are_one_violation() {
    let run = check("G forall x, y. p(x) -> y > x", "events", "p,1\nq,2\np,3\n");
    let object = &run.json()[0];
    assert_eq!(object["violation_count"], 2);
    assert_eq!(object["violations"][0]["bindings"], json!({"x": 1}));
    assert_eq!(object["violations"][1]["infinite"], json!(true));
    // It is explained for the values there are, whatever the others may be.
    assert_eq!(object["explanation"]["formula"], "forall y. p(1) -> y > 1");
    assert!(run.err.is_empty(), "{}", run.err);
    let other = check("G forall y, x. p(x) -> y > x", "events", "p,1\nq,2\np,3\n");
    assert_eq!(other.json()[0]["explanation"]["formula"], "G forall y, x. p(x) -> y > x");
    let run = check("G forall x. p(x) -> x < 2", "events", "p,1\nq,2\np,3\n");
    assert!(run.json()[0]["violations"][0].get("infinite").is_none());
}

/// A name in an argument place that nothing binds is a column, where the trace has one.
#[test]
fn columns_are_arguments() {
    let log = r#"{"event":"login","user":"bob","owner":"bob"}
{"event":"login","user":"eve","owner":"bob"}
{"event":"login","user":"al","owner":null}
"#;
    assert_eq!(violations(&check("G login(user: owner)", "jsonl", log)), [(1, json!({})), (2, json!({}))]);
    // A quantifier hides it.
    assert!(holds(&check("G exists owner. login(user: owner)", "jsonl", log)));
    let run = check("G login(user: ownr)", "jsonl", log);
    assert!(
        run.code == 2 && run.err.contains("unbound-variable") && run.err.contains("`forall ownr. …`"),
        "{run:?}"
    );
    let run = check("G p(u)", "events", "p,1\n");
    assert!(run.code == 2 && run.err.contains("write `forall u. …`"), "{run:?}");
}

/// The definition gives the same reasons as the engine for logs of any size.
#[test]
fn engines_explain_alike() {
    let log = "open,a,r\nclose,a\nopen,b,w\nclose,c\n";
    for formula in [
        "G forall f. close(f) -> exists m. O open(f, m)",
        "G forall f. !(exists m. open(f, m)) | F close(f)",
        "forall f. F close(f)",
        "exists f. F (close(f) & exists m. O open(f, m))",
    ] {
        let explained = |engine: &str| {
            let run = check(formula, &format!("events --witness --engine {engine}"), log);
            assert!(run.err.is_empty(), "{formula}: {}", run.err);
            run.json()[0]["explanation"].clone()
        };
        assert!(explained("reference").is_object(), "{formula}");
        assert_eq!(explained("reference"), explained("relational"), "{formula}");
    }
}

/// Each property to the engine that suits it: one with quantifiers does not take the others' from them.
#[test]
fn beside_properties_without_variables() {
    let log = "approve,160\npublish,160\npublish,163\n";
    let run = tracewise_with(
        "check -e 'G (approve -> F publish)' -e 'G forall r. publish(r) -> O approve(r)' -e 'F[0,1] publish' - --format events --output json",
        log,
    );
    let objects = run.json();
    let verdicts: Vec<&Value> = objects.iter().map(|object| &object["verdict"]).collect();
    assert_eq!(verdicts, ["satisfied", "violated", "satisfied"]);
    assert_eq!(objects[1]["violations"][0]["bindings"], json!({"r": 163}));
    assert_eq!(objects[1]["explanation"]["formula"], "publish(163) -> O approve(163)");
    assert!(run.err.is_empty(), "{}", run.err);
    // Nor is the log limited to what the definition can do.
    let long: String = (0..5000).map(|k| format!("approve,{k}\npublish,{}\n", 2 * k)).collect();
    let run = tracewise_with(
        "check -e 'G (approve -> F publish)' -e 'G forall r. publish(r) -> O approve(r)' - --format events --output json",
        &long,
    );
    assert_eq!((run.code, run.json()[1]["violation_count"].clone()), (1, json!(4999)), "{}", run.err);
    assert_eq!(run.json()[1]["explanation"]["formula"], "publish(2) -> O approve(2)");
}

/// Values of a path need no event pattern, neither stored nor live.
#[test]
fn paths_are_read_without_events() {
    let log = "{\"items\":[1,2]}\n{\"items\":[7,2]}\n{\"items\":null}\n{}\n";
    let formula = "G forall x in items[*]. exists y in items[*]. y < 5 & (x == y | x < 7)";
    let expected = json!({"x": 7});
    assert_eq!(violations(&check(formula, "jsonl", log)), [(1, expected.clone())]);
    let run = tracewise_with(&format!("watch -e '{formula}' - --output json"), log);
    assert_eq!((run.code, run.json()[0]["violation"]["bindings"].clone()), (1, expected), "{run:?}");
}

//! `--clock-error`: what is known about the executions that imprecise timestamps allow.

use crate::common::{tracewise, tracewise_with};

/// A request at 10 and its answer.
fn answered(at: f64) -> String {
    format!("{{\"time\":10,\"event\":\"req\"}}\n{{\"time\":{at},\"event\":\"ack\"}}\n")
}

fn check(options: &str, formula: &str, trace: &str) -> (i32, serde_json::Value) {
    let run = tracewise_with(&format!("check {options} --output json -e '{formula}' -"), trace);
    let mut lines = run.json();
    assert_eq!(lines.len(), 1, "{run:?}");
    (run.code, lines.remove(0))
}

fn refusal(line: &str, trace: &str) -> String {
    let run = tracewise_with(line, trace);
    assert_eq!(run.code, 2, "{run:?}");
    assert!(run.out.is_empty(), "{run:?}");
    run.err
}

#[test]
fn what_is_too_long_is_told_so() {
    let rows: String = (0..3000).map(|at| format!("{at},{},{}\n", at % 2, at % 3)).collect();
    for by in ["", "--by k "] {
        let line = format!("check --clock-error 1s {by}--memory 1KB -e 'G (p -> F[0,5s] !p)' - --format csv");
        let told = refusal(&line, &format!("time,p,k\n{rows}"));
        assert!(told.contains("positions take") && told.contains("raise it with --memory"), "{told}");
    }
}

#[test]
fn the_five_answers() {
    const SOON: &str = "G (req -> F[0,5s] ack)";
    for (formula, at, verdict, guarantee, code) in [
        (SOON, 13.0, "satisfied", "satisfied-for-all", 0),
        (SOON, 18.0, "violated", "violated-for-all", 1),
        (SOON, 16.5, "unknown", "violated-for-some", 3),
        (SOON, 15.0, "unknown", "none", 3),
        ("F[0,5s] ack", 15.0, "unknown", "satisfied-for-some", 3),
        ("G[0,1s] req", 20.0, "unknown", "none", 3),
    ] {
        let (exit, found) = check("--clock-error 1s", formula, &answered(at));
        assert_eq!((exit, found["verdict"].as_str()), (code, Some(verdict)), "{found}");
        assert_eq!(found["guarantee"], guarantee, "{formula} at {at}: {found}");
        assert_eq!((&found["clock_error"], &found["engine"]), (&"1s".into(), &"dense".into()));
        assert_eq!(found["why"].is_string(), verdict == "unknown", "{found}");
    }
    let (_, found) = check("--clock-error 1s", SOON, &answered(18.0));
    assert_eq!((&found["position"], &found["violation_count"]), (&0.into(), &1.into()), "{found}");
    assert_eq!((&found["violations"][0]["line"]["line"], &found["time"]), (&1.into(), &10.into()));
    let (_, found) = check("--clock-error 1000ms", SOON, &answered(16.5));
    assert_eq!((&found["blocked_by"], &found["position"]), (&"req".into(), &().into()), "{found}");
    let stretch = &found["instants"][0];
    assert_eq!(
        (&stretch["from"], &stretch["to"], &stretch["to_open"]),
        (&9.into(), &10.5.into(), &true.into())
    );
}

/// The rule for release that is printed in the paper would promise an execution here.
#[test]
fn the_erratum_is_respected() {
    let trace = "{\"time\":0.5,\"event\":\"q\"}\n{\"time\":10,\"event\":\"r\"}\n";
    let (code, found) = check("--clock-error 1s", "G[0,1s] q", trace);
    assert_eq!((code, &found["guarantee"]), (3, &"none".into()), "{found}");
    assert_eq!(found["blocked_by"], "G[0,1s] q");
    assert!(found["why"].as_str().unwrap().contains("at many instants"), "{found}");
    assert_eq!(found["blocked_at"]["column"], 1);
}

#[test]
fn plain_words() {
    let text = |formula: &str, at: f64| {
        let run = tracewise_with(&format!("check --clock-error 1s -e '{formula}' -"), &answered(at));
        assert!(run.err.is_empty(), "{run:?}");
        run.out
    };
    let out = text("G (req -> F[0,5s] ack)", 13.0);
    assert!(out.contains("holds on every execution that timestamps ± 1s allow"), "{out}");
    let out = text("G (req -> F[0,5s] ack)", 18.0);
    assert!(out.contains("fails on every execution") && out.contains("position 0"), "{out}");
    let out = text("G (req -> F[0,5s] ack)", 16.5);
    assert!(
        out.contains("fails on some execution") && out.contains("may fail at instants in [9, 10.5)"),
        "{out}"
    );
    let out = text("F[0,1s] req & F[0,5s] ack", 15.0);
    assert!(out.contains("no guarantee") && out.contains("`F[0,1s] req & F[0,5s] ack`"), "{out}");
}

#[test]
fn every_form_of_output() {
    for (form, words) in [("junit", "<failure"), ("github", "::error"), ("sarif", "\"violated-for-all\"")] {
        let line = format!("check --clock-error 1s --output {form} -e 'G (req -> F[0,5s] ack)' -");
        let run = tracewise_with(&line, &answered(18.0));
        assert_eq!(run.code, 1, "{run:?}");
        assert!(run.out.contains(words) && run.out.contains("every"), "{}", run.out);
        let run = tracewise_with(&line, &answered(15.0));
        assert_eq!(run.code, 3, "{run:?}");
        assert!(run.out.contains("no guarantee"), "{form}: {}", run.out);
    }
}

#[test]
fn each_event_has_its_own_error() {
    let trace = |a: &str, b: &str| {
        format!(
            "{{\"time\":10,\"event\":\"req\",\"err\":{a}}}\n{{\"time\":16,\"event\":\"ack\",\"err\":{b}}}\n"
        )
    };
    let on = |a, b| check("--clock-error-column err", "G (req -> F[0,5s] ack)", &trace(a, b));
    let (code, found) = on("0.25", "0.5");
    assert_eq!((code, &found["guarantee"]), (1, &"violated-for-all".into()), "{found}");
    assert_eq!(found["clock_error"]["column"], "err");
    assert_eq!(on("0", "1").1["guarantee"], "none");
    let line = "check --clock-error-column err -e 'G (req -> F[0,5s] ack)' -";
    for (b, words) in [
        ("null", "has no value here"),
        ("-0.5", "is -0.5, expected a number from 0 on"),
        ("\"wide\"", "wide"),
        ("1e300", "292 years"),
    ] {
        let err = refusal(line, &trace("1", b));
        assert!(err.contains(words) && err.contains("<stdin>:2"), "{b}: {err}");
    }
    let err = refusal(&line.replace("column err", "column eror"), &trace("1", "1"));
    assert!(err.contains("eror"), "{err}");
    let err = refusal(&line.replace("column err", "column err --clock-error 1s"), &trace("1", "1"));
    assert!(err.contains("cannot be used with"), "{err}");
}

#[test]
fn keys_are_judged_alone() {
    let trace = "{\"time\":10,\"event\":\"req\",\"id\":\"a\"}\n{\"time\":12,\"event\":\"req\",\"id\":\"b\"}\n\
                 {\"time\":13,\"event\":\"ack\",\"id\":\"a\"}\n{\"time\":30,\"event\":\"ack\",\"id\":\"b\"}\n";
    let (code, found) = check("--clock-error 1s --by id", "G (req -> F[0,5s] ack)", trace);
    assert_eq!((code, &found["guarantee"]), (1, &"violated-for-all".into()), "{found}");
    let violation = &found["violations"][0];
    assert_eq!((&violation["position"], &violation["bindings"]["id"]), (&1.into(), &"b".into()), "{found}");
    assert_eq!(found["due_to"]["id"], "b", "{found}");
    // Not `G`: the key has no position of its own.
    let (code, found) = check("--clock-error 1s --by id", "F[0,9s] ack", trace);
    assert_eq!((code, &found["violations"][0]["position"]), (1, &().into()), "{found}");
    assert_eq!(found["violations"][0]["bindings"]["id"], "b");
}

/// Clocks that are off stamp events out of order; further than they can is an error.
#[test]
fn disorder_within_the_error() {
    let trace =
        "{\"time\":10.9,\"event\":\"req\"}\n{\"time\":10,\"event\":\"ack\"}\n{\"time\":20,\"event\":\"x\"}\n";
    let (_, found) = check("--clock-error 1s", "G (req -> F[0,5s] ack)", trace);
    assert_eq!(found["guarantee"], "violated-for-some", "{found}");
    let err = refusal("check --clock-error 100ms -e 'G !req' -", trace);
    assert!(
        err.contains("<stdin>:2") && err.contains("further out of order than twice the clock error"),
        "{err}"
    );
}

#[test]
fn bad_errors() {
    let on = |rest: &str| refusal(&format!("check {rest} -e 'G !req' -"), &answered(11.0));
    assert!(on("--clock-error -5ms").contains("cannot be negative"));
    assert!(on("--clock-error soon").contains("clock-error"));
    assert!(on("--clock-error 1s --clock index").contains("--clock index counts positions"));
    assert!(on("--clock-error 1s --engine columnar").contains("--engine auto or dense"));
    assert!(on("--clock-error 1s --semantics ltl3").contains("--semantics finite"));
    assert!(on("--clock-error 1s --stat rejecting").contains("in no certain order"));
    assert!(on("--clock-error 300000d").contains("292 years"));
    let err = refusal("check --clock-error 1s -e 'G !req' -", "{\"req\":true}\n");
    assert!(err.contains("a clock error is about timestamps"), "{err}");
    let err = refusal("check --clock-error 0 -e 'G !req' -", &answered(10.0));
    assert!(err.contains("<stdin>:1") && err.contains("clock error above 0"), "{err}");
    assert_eq!(check("--clock-error 0", "G (req -> F[1s,1s] ack)", &answered(11.0)).0, 0);
    let err = refusal("check --clock-error 1s -e 'G (req -> X ack)' -", &answered(11.0));
    assert!(err.contains("no instant is next to another"), "{err}");
}

#[test]
fn explain_prints_the_labels() {
    let run = tracewise("explain --clock-error 50ms -e 'G (req -> F[0,5s] ack)'");
    assert_eq!(run.code, 0, "{run:?}");
    for words in [
        "judged    `req -> F[0,5s] ack` at every instant",
        "if true   it holds on some possible execution",
        "if false  it fails on some possible execution",
    ] {
        assert!(run.out.contains(words), "{}", run.out);
    }
    let run = tracewise("explain --clock-error 50ms --output json -e 'p U !q'");
    let labels = &run.json()[0]["clock_error"];
    assert_eq!(
        (&labels["if_true"]["on"], &labels["if_true"]["blocked_by"]),
        (&"none".into(), &"p U !q".into())
    );
    assert_eq!(labels["at"], "the beginning");
    assert_eq!(tracewise("explain --clock-error 50ms --clock index -e 'p'").code, 2);
}

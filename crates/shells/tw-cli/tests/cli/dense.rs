//! `--clock dense`: positions are states that last to the next timestamp.

use crate::common::{tracewise, tracewise_with};

/// p lasts from 0 to 10.
const LASTING: &str = "time,p,q\n0,1,0\n10,0,1\n12,0,0\n";

/// Runs on a CSV trace; the exit code and the one object.
fn check(options: &str, formula: &str, csv: &str) -> (i32, serde_json::Value) {
    let run = tracewise_with(&format!("check {options} --output json -e '{formula}' --format csv -"), csv);
    let mut lines = run.json();
    assert_eq!(lines.len(), 1, "{run:?}");
    (run.code, lines.remove(0))
}

/// What stands on standard error of a run that is refused.
fn refusal(line: &str, csv: &str) -> String {
    let run = tracewise_with(line, csv);
    assert_eq!(run.code, 2, "{run:?}");
    assert!(run.out.is_empty(), "{run:?}");
    run.err
}

#[test]
fn states_last_between_timestamps() {
    // No position lies 4 to 5 seconds ahead, but p holds there.
    for (clock, code, engine) in [("stamps", 1, "metric"), ("dense", 0, "dense")] {
        let (exit, found) = check(&format!("--clock {clock}"), "F[4,5] p", LASTING);
        assert_eq!((exit, found["engine"].as_str()), (code, Some(engine)), "{found}");
    }
    // Ends are kept: q begins at 10, and p ends there.
    assert_eq!(check("--clock dense", "F[10,10] q", LASTING).0, 0);
    assert_eq!(check("--clock dense", "F[0,10) q", LASTING).0, 1);
    assert_eq!(check("--clock dense", "G[0,10) p", LASTING).0, 0);
    assert_eq!(check("--clock dense", "G[0,10] p", LASTING).0, 1);
    assert_eq!(check("--clock dense --engine dense", "p U[10,10] q", LASTING).0, 0);
}

#[test]
fn violations_are_the_states_during_which_it_fails() {
    // φ fails from 6 on, though it holds at 1, the timestamp before.
    let csv = "time,p\n0,1\n1,0\n10,0\n12,1\n";
    let (exit, found) = check("--clock dense", "G O[0,5] p", csv);
    assert_eq!((exit, &found["violation_count"], &found["position"]), (1, &2.into(), &1.into()), "{found}");
    let positions: Vec<_> = found["violations"].as_array().unwrap().iter().map(|v| &v["position"]).collect();
    assert_eq!(positions, [1, 2]);
    assert_eq!(found["violations"][0]["line"]["line"], 3);
    // Positions alone do not see it at 1.
    assert_eq!(check("", "G O[0,5] p", csv).1["violations"][0]["position"], 2);
    let text = tracewise_with("check --clock dense -e 'G O[0,5] p' --format csv -", csv);
    assert!(text.out.contains("<stdin>:3–4 · positions 1 to 2") && text.err.is_empty(), "{text:?}");
}

#[test]
fn every_property_is_of_continuous_time() {
    // Without intervals and with other engines about, too: one clock, one meaning.
    assert_eq!(check("--clock dense", "G (p -> F q)", LASTING).1["engine"], "dense");
    // p S q asks for p behind the last instant of q: positions do not.
    let csv = "time,p,q\n0,0,1\n1,1,0\n";
    let at_end = |clock: &str| {
        let line = format!("eval --clock {clock} --output json -e 'p S q' --format csv -");
        tracewise_with(&line, csv).json().pop().unwrap()["value"].clone()
    };
    assert_eq!((at_end("stamps"), at_end("dense")), (true.into(), false.into()));
    let err = refusal("check --clock dense --engine columnar -e 'G p' --format csv -", LASTING);
    assert!(err.contains("engine `columnar` cannot run continuous time (`--clock dense`)"), "{err}");
}

#[test]
fn keys_have_their_own_time() {
    let csv = "time,user,p\n0,a,1\n1,b,1\n5,a,0\n20,b,0\n21,a,0\n";
    let (exit, found) = check("--clock dense --by user", "G O[0,9] p", csv);
    assert_eq!((exit, &found["violation_count"]), (1, &2.into()), "{found}");
    assert_eq!(found["violations"][1]["bindings"]["user"], "a");
    let reason = found["explanation"]["because"][0]["reason"].as_str();
    assert_eq!(reason, Some("at time 14 (position 2) `p` fails at every time in [5, 14]"));
}

#[test]
fn what_continuous_time_has_no_meaning_for() {
    let on = |rest: &str| refusal(&format!("{rest} --format csv -"), LASTING);
    let err = on("check --clock dense -e 'G (p -> X q)'");
    assert!(err.contains("`X` over continuous time, where no instant is next to another"), "{err}");
    assert!(err.contains("say how soon: `F(0,1s]`"), "{err}");
    let err = on("check --clock dense --semantics ltl3 -e 'G p'");
    assert!(err.contains("three-valued verdicts (ltl3) over continuous time"), "{err}");
    let err = on("check --engine dense -e 'G p'");
    assert!(err.contains("use --clock dense"), "{err}");
    let err = on("check --clock dense --stat rejecting -e 'G p'");
    assert!(err.contains("--stat counts positions"), "{err}");
    let err = on("check --clock dense --show-residual -e 'G p'");
    assert!(err.contains("use --clock stamps"), "{err}");
    let err = on("query --clock dense -e 'count[p]'");
    assert!(err.contains("a query has values at positions"), "{err}");
    let err = on("watch --clock dense -e 'G p'");
    assert!(err.contains("is for stored traces"), "{err}");
    for command in ["check", "eval"] {
        let line = format!("{command} --clock dense -e 'p' --format csv -");
        let err = refusal(&line, "p\n1\n0\n");
        assert!(err.contains("`--clock dense` is about the time between timestamps"), "{err}");
    }
}

#[test]
fn an_interval_between_ticks_is_empty_for_positions_alone() {
    let line = "check -e 'F(0,1ns) p' --format csv -";
    let err = refusal(line, LASTING);
    assert!(err.contains("the interval `(0,1ns)` is empty: no whole number of nanoseconds"), "{err}");
    assert_eq!(tracewise_with(&line.replace("check", "check --clock dense"), LASTING).code, 0);
    // Empty for every clock.
    let err = refusal("check --clock dense -e 'F(1s,1000ms] p' --format csv -", LASTING);
    assert!(err.contains("empty-interval"), "{err}");
    // On bare numbers the unit decides.
    assert_eq!(tracewise_with("check -e 'F(0,1) p' --format csv -", LASTING).code, 1);
    let err = refusal("check --time-unit ns -e 'F(0,1) p' --format csv -", LASTING);
    assert!(err.contains("is empty"), "{err}");
}

#[test]
fn explain_names_the_engine() {
    let run = tracewise("explain --clock dense -e 'G (p -> F[0,5] q)'");
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.out.contains("engine    dense"), "{}", run.out);
    let run = tracewise("explain --clock dense --output json -e 'X p'");
    assert!(run.json()[0]["engine"].is_null(), "{}", run.out);
}

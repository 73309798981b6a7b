//! Of a property `G φ` every event or deadline that settles violations is told.

use crate::common::command;
use crate::process::{directory, file, run, watch};
use serde_json::{Value, json};

/// Position, the earliest that failed, how many, and whether that is settled.
fn told(line: &Value) -> (u64, u64, u64, bool) {
    let number = |value: &Value| value.as_u64().unwrap();
    assert_eq!(line["verdict"], "violated", "{line}");
    assert_eq!(line["violation"]["bindings"], json!({}), "{line}");
    (
        number(&line["position"]),
        number(&line["violation"]["position"]),
        number(&line["violation_count"]),
        line["settled"].as_bool().unwrap(),
    )
}

#[test]
fn every_event_that_settles_violations_is_told() {
    let arguments = ["-e", "G (req -> X !req)", "-e", "F done", "--format", "props", "--output", "json"];
    let mut watching = watch(&arguments);
    watching.write("req\nx\nreq\nreq\n");
    let first = watching.json();
    assert_eq!(told(&first), (3, 2, 1, true));
    assert_eq!((&first["line"]["line"], &first["violation"]["line"]["line"]), (&4.into(), &3.into()));
    assert!(first["violation"]["time"].is_null() && first["bindings"].is_null(), "{first}");
    watching.write("req\n");
    assert_eq!(told(&watching.json()), (4, 3, 1, true));
    watching.write("x\ndone\n");
    assert_eq!(watching.json()["property"], "F done");
    let end = watching.end();
    // What was told is not repeated at the end.
    assert_eq!((end.code, end.out), (Some(1), vec![]));

    // The first alone, and the end with the first.
    let text = "req\nreq\nreq\nreq\n";
    let with = |option| arguments.into_iter().chain([option]).collect::<Vec<&str>>();
    let all = run(&arguments, text);
    assert_eq!(
        all.json()[..3].iter().map(told).collect::<Vec<_>>(),
        [(1, 0, 1, true), (2, 1, 1, true), (3, 2, 1, true)]
    );
    let first = run(&with("--first"), text);
    assert_eq!((first.out.len(), &first.out[0], first.code), (2, &all.out[0], Some(1)));
    let stopped = run(&with("--stop-on-violation"), text);
    assert_eq!((stopped.out, stopped.code), (vec![all.out[0].clone()], Some(1)));
    assert_eq!(run(&[&with("--first")[..], &["--each-position"]].concat(), text).code, Some(2));
}

#[test]
fn violations_settled_together_are_one_line() {
    let arguments = ["-e", "G (p U q)", "-e", "G (p U q)", "--format", "props", "--output", "json"];
    let text = "p\np\np\nx\nq\np\nx\nq\n";
    let end = run(&arguments, text);
    let lines: Vec<_> = end.json().iter().map(told).collect();
    assert_eq!(lines, [(3, 0, 4, true), (3, 0, 4, true), (6, 5, 2, true), (6, 5, 2, true)]);
    let text = run(&["-e", "G (p U q)", "--format", "props"], text);
    assert_eq!(
        text.out,
        [
            "✗ G (p U q) violated by position 3  <stdin>:4 x; fails at 4 positions, first at 0 (line 1)",
            "✗ G (p U q) violated by position 6  <stdin>:7 x; fails at 2 positions, first at 5 (line 6)",
        ]
    );
}

#[test]
fn deadlines_settle_violations_with_times() {
    let formula = "G (req -> F[0,5s] ack)";
    let common = ["-e", formula, "--format", "props", "--watermark", "tick"];
    let text = "@1 req\n@2 req\n@20 x\n@21 req\n@22 x\n@27 tick\n@30 req\n@31 req\n@40 tick\n@41 req\n";
    let json: Vec<&str> = common.into_iter().chain(["--output", "json"]).collect();
    let end = run(&json, text);
    let lines = end.json();
    let expected = [(2, 0, 2, true), (4, 3, 1, true), (6, 5, 1, true), (6, 6, 1, true), (7, 7, 1, false)];
    assert_eq!(lines.iter().map(told).collect::<Vec<_>>(), expected, "{end:?}");
    let times: Vec<u64> = lines.iter().map(|line| line["violation"]["time"].as_u64().unwrap()).collect();
    assert_eq!(times, [1, 21, 30, 31, 41]);
    let deadlines: Vec<&Value> = lines.iter().map(|line| &line["deadline"]).collect();
    assert_eq!(deadlines, [&Value::Null, &26.into(), &35.into(), &36.into(), &46.into()]);
    assert_eq!(
        run(&common, text).out[..3],
        [
            "✗ G (req -> F[0,5s] ack) violated by position 2 (20)  <stdin>:3 @20 x; fails at 2 positions, first at 0 (line 1)",
            "✗ G (req -> F[0,5s] ack) violated at 27: no `ack` by 26 (5s after position 3); fails at position 3 (line 4)",
            "✗ G (req -> F[0,5s] ack) violated at 40: no `ack` by 35 (5s after position 5); fails at position 5 (line 7)",
        ]
    );
}

#[test]
fn what_the_end_adds_to_a_violation_is_told() {
    let arguments = ["-e", "G (!bad & (req -> F ack))", "--format", "props", "--output", "json"];
    let end = run(&arguments, "bad\nreq\nreq\n");
    let lines: Vec<_> = end.json().iter().map(told).collect();
    assert_eq!(lines, [(0, 0, 1, true), (2, 1, 2, false)]);
    // Nothing to add.
    let end = run(&arguments, "bad\nreq\nack\n");
    assert_eq!(end.json().iter().map(told).collect::<Vec<_>>(), [(0, 0, 1, true)]);
    // Its first words are its last.
    let end = run(&arguments, "x\nreq\nreq\n");
    assert_eq!(end.json().iter().map(told).collect::<Vec<_>>(), [(2, 1, 2, false)]);
}

/// As many as `check` finds, whichever engine.
#[test]
fn together_they_are_what_check_finds() {
    let trace = file("all", "t.props", "@1 p\n@2 q\n@3 p q\n@9\n@9 r\n@10 p r\n@12 q\n@20\n");
    let timed = ["G (p -> F[0,3s] q)", "G (q -> O[1s,2s] p)"];
    let untimed = ["G (p -> F q)", "G (p -> X q)", "G (q | X r)", "G (q -> O p)", "G ((p | q) U r)"];
    for (formula, engines) in timed
        .iter()
        .map(|f| (f, &["auto"][..]))
        .chain(untimed.iter().map(|f| (f, &["auto", "rewrite", "breadth-first"][..])))
    {
        let check = command().args(["check", "-e", formula, &trace, "--output", "json"]).output().unwrap();
        let check: Value = serde_json::from_slice(&check.stdout).unwrap();
        for engine in engines {
            let end = run(&["-e", formula, &trace, "--output", "json", "--engine", engine], "");
            let lines = end.json();
            let count: u64 = lines.iter().filter_map(|line| line["violation_count"].as_u64()).sum();
            assert_eq!(json!(count), check["violation_count"], "{formula} {engine}: {end:?}");
            let earliest = lines.iter().filter_map(|line| line["violation"]["position"].as_u64()).min();
            assert_eq!(json!(earliest), check["position"], "{formula} {engine}: {end:?}");
        }
    }
}

#[test]
fn a_command_runs_for_each_line() {
    let out = directory("each-line").join("out").to_str().unwrap().to_string();
    let command = format!("cat >> {out}");
    let arguments = ["-e", "G !bad", "--format", "props", "--on-violation", &command];
    let end = run(&arguments, "bad\nx\nbad\nbad\n");
    assert_eq!((end.code, end.out.len()), (Some(1), 3));
    let mut positions: Vec<u64> = std::fs::read_to_string(&out)
        .unwrap()
        .lines()
        .map(|line| told(&serde_json::from_str(line).unwrap()).1)
        .collect();
    positions.sort_unstable();
    assert_eq!(positions, [0, 2, 3]);
}

/// Deadlines that time passes, and positions that are told one by one, too.
#[test]
fn commands_have_line_and_key_always() {
    let out = directory("alarm-key").join("out").to_str().unwrap().to_string();
    let command = format!("echo \"$TRACEWISE_KEY|$TRACEWISE_LINE\" >> {out}");
    let input = "{\"time\":1,\"event\":\"req\",\"k\":\"x\"}\n{\"watermark\":9}\n{\"time\":9,\"event\":\"bad\",\"k\":\"y\"}\n";
    for (extra, expected) in [
        (&["-e", "G (req -> F[0,2s] ack)", "--by", "k", "--watermark", "watermark"][..], "x|1\n"),
        (&["-e", "G !bad", "--by", "k", "--watermark", "watermark", "--each-position"][..], "y|3\n"),
        (&["-e", "G (req -> F ack)", "--by", "k", "--idle", "3s", "--watermark", "watermark"][..], "x|1\n"),
        (&["-e", "G (req -> F[0,2s] ack)", "--watermark", "watermark"][..], "|1\n"),
    ] {
        let _ = std::fs::remove_file(&out);
        let mut all = extra.to_vec();
        all.extend(["--on-violation", &command]);
        run(&all, input);
        let told = std::fs::read_to_string(&out).unwrap_or_default();
        assert_eq!(told, expected, "{extra:?}");
    }
}

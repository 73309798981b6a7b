//! What is said, and when.

use crate::common::command;
use crate::process::{End, directory, file, run, watch};

#[test]
fn a_verdict_is_told_when_its_line_is_complete() {
    let mut watch = watch(&["-e", "G !bad", "-e", "F good", "--format", "props", "--output", "json"]);
    watch.write("x\ny\ngo");
    assert!(watch.is_silent());
    watch.write("od\n");
    let good = watch.json();
    assert_eq!((&good["property"], &good["verdict"]), (&"F good".into(), &"satisfied".into()));
    assert_eq!((&good["position"], &good["settled"]), (&2.into(), &true.into()));
    assert_eq!((&good["line"]["line"], &good["line"]["text"]), (&3.into(), &"good".into()));
    watch.write("bad\n");
    let bad = watch.json();
    assert_eq!((&bad["property"], &bad["verdict"]), (&"G !bad".into(), &"violated".into()));
    assert_eq!(bad["position"], 3);
    let end = watch.end();
    assert_eq!((end.code, end.out), (Some(1), vec![]));
}

#[test]
fn the_end_of_the_stream_is_a_finite_verdict() {
    let formulas = ["-e", "G (req -> F ack)", "-e", "G F ack", "-e", "F last", "-e", "X X ack"];
    let arguments: Vec<&str> =
        formulas.into_iter().chain(["--format", "props", "--output", "json"]).collect();
    // The last line has no end.
    let end = run(&arguments, "req\nack\nack\nreq");
    assert_eq!(end.code, Some(1));
    let all = end.json();
    let verdicts: Vec<(&str, &str, bool)> = all
        .iter()
        .map(|line| {
            let text = |key: &str| line[key].as_str().unwrap();
            (text("property"), text("verdict"), line["settled"].as_bool().unwrap())
        })
        .collect();
    let expected = [
        ("X X ack", "satisfied", true),
        ("G (req -> F ack)", "violated", false),
        ("G F ack", "violated", false),
    ];
    // `F last` never holds over infinite continuations, so `ltl3` may settle it; at the end it holds.
    let without: Vec<_> = verdicts.iter().copied().filter(|line| line.0 != "F last").collect();
    assert_eq!(without, expected);
    let owed = all.iter().find(|line| line["property"] == "G (req -> F ack)").unwrap();
    assert_eq!((&owed["position"], &owed["since"]), (&3.into(), &3.into()));
    assert!(owed["pending"].as_str().unwrap().contains("ack"), "{owed}");
}

#[test]
fn exit_codes_are_those_of_check() {
    let cases: &[(&str, &str, i32)] = &[
        ("G p", "p\np\n", 0),
        ("F p", "q\np\n", 0),
        ("G p", "p\nq\n", 1),
        ("F p", "q\nq\n", 1),
        ("G p", "", 3),
    ];
    for (formula, text, code) in cases {
        let end = run(&["-e", formula, "--format", "props"], text);
        assert_eq!(end.code, Some(*code), "{formula} on {text:?}: {end:?}");
    }
}

#[test]
fn text_is_for_people() {
    let spec = file(
        "text",
        "s.tw",
        "property answered \"every request is answered\" : G (req -> F ack);\nproperty clean : G !bad;\n",
    );
    // What is owed is worded by the engine.
    let end = run(&[&spec, "--format", "props", "--engine", "breadth-first"], "req\nbad thing\n");
    assert_eq!(
        end.out,
        [
            "✗ clean violated by position 1  <stdin>:2 bad thing",
            "✗ answered violated if the trace ends here, at position 1; fails at position 0 (line 1); owed since position 0: \
             F ack & G (req -> F ack)",
        ]
    );
    assert!(end.err.last().unwrap().starts_with("2 positions; engine "), "{:?}", end.err);
    let quiet = run(&[&spec, "--format", "props", "--quiet"], "req\nbad thing\n");
    assert_eq!(quiet, End { code: Some(1), out: vec![], err: vec![] });
}

/// One line for every position, as `eval` and `check` see them.
#[test]
fn each_position_is_what_eval_says() {
    let trace = file("each", "t.props", &"p\nq\np q\n\nr\np r\nq\n\n".repeat(40));
    // Of `G φ` each position is told of φ.
    for (formula, inner) in [
        ("G (p -> F q)", "p -> F q"),
        ("G (p -> X q)", "p -> X q"),
        ("p U r", "p U r"),
        ("G (q -> O p)", "q -> O p"),
        ("(p S q) & X X r", "(p S q) & X X r"),
    ] {
        for semantics in ["finite", "repeat-last", "ltl3"] {
            let arguments =
                ["-e", formula, &trace, "--each-position", "--semantics", semantics, "--output", "json"];
            let end = run(&arguments, "");
            let mut told: Vec<(u64, bool)> = end
                .json()
                .iter()
                .map(|line| (line["position"].as_u64().unwrap(), line["verdict"] == "satisfied"))
                .collect();
            told.sort_unstable();
            // What `ltl3` leaves open is told at the end as `finite` has it.
            let semantics = if semantics == "ltl3" { "finite" } else { semantics };
            let eval = command()
                .args(["eval", "-e", inner, &trace, "--semantics", semantics, "--output", "json"])
                .output()
                .unwrap();
            let expected: Vec<(u64, bool)> = String::from_utf8(eval.stdout)
                .unwrap()
                .lines()
                .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
                .map(|line| (line["position"].as_u64().unwrap(), line["value"].as_bool().unwrap()))
                .collect();
            assert_eq!(told, expected, "{formula} {semantics}");
        }
    }
}

#[test]
fn every_format_is_read_line_by_line() {
    let cases = [
        ("jsonl", "{\"event\":\"ok\"}\n{\"event\":\"bad\"}\n", 2),
        ("csv", "ok,bad\n1,0\n0,1\n", 3),
        ("csv", "time,event\n1,ok\n2,\"bad\"\n", 3),
        ("events", "ok,1\nbad,2\n", 2),
        ("props", "@1 ok\n@2 bad\n", 2),
        ("monpoly", "@1 ok ()\n@2 bad ()\n", 2),
    ];
    for (format, text, line) in cases {
        let mut watch = watch(&["-e", "G !bad", "--format", format, "--output", "json"]);
        watch.write(text);
        // Formats whose entries have an end of their own may wait for the next line.
        if format == "monpoly" {
            watch.write("@3 ok ()\n");
        }
        let verdict = watch.json();
        assert_eq!((&verdict["verdict"], &verdict["position"]), (&"violated".into(), &1.into()), "{format}");
        assert_eq!(verdict["line"]["line"], line, "{format}");
        assert_eq!(watch.end().code, Some(1));
    }
}

#[test]
fn bad_input_is_no_verdict() {
    let arguments = ["-e", "G (n < 5)", "-e", "F (n > 3)", "--output", "json"];
    let text = "{\"n\":1}\n{\"n\":9}\n{\"n\":}\n{\"n\":2}\n";
    let end = run(&arguments, text);
    assert_eq!(end.code, Some(2));
    // What was settled before the bad line stands; nothing is said about the end.
    assert_eq!(end.out.len(), 2, "{:?}", end.out);
    let error: serde_json::Value = serde_json::from_str(&end.err[0]).unwrap();
    assert_eq!((&error["error"]["trace"], &error["error"]["trace_line"]), (&"<stdin>".into(), &3.into()));
    assert_eq!(error["error"]["trace_column"], 6);

    let skipping: Vec<&str> = arguments.into_iter().chain(["--skip-bad-lines"]).collect();
    let end = run(&skipping, text);
    assert_eq!(end.code, Some(1), "{end:?}");
    assert_eq!(end.json()[0]["position"], 1);
    assert!(
        end.err[0].contains("\"trace_line\":3") && end.err[1].contains("1 bad line left out"),
        "{:?}",
        end.err
    );

    // A value that a term cannot take, a name that never occurs, a file that is not there.
    let end = run(&["-e", "G (n + 1 > 0)"], "{\"n\":1}\n{\"n\":9223372036854775807}\n");
    assert_eq!(end.code, Some(2));
    assert!(
        end.err.iter().any(|line| line.contains("<stdin>:2") && line.contains("overflow")),
        "{:?}",
        end.err
    );
    let end = run(&["-e", "G (m > 0)"], "{\"n\":1}\n");
    assert_eq!(end.code, Some(2));
    assert!(end.err[0].contains("unknown variable `m`"), "{:?}", end.err);
    let end = run(&["-e", "G p", "no/such/file.props"], "");
    assert_eq!(end.code, Some(2));
    assert!(end.err[0].contains("there is no such file"), "{:?}", end.err);
}

#[test]
fn what_no_engine_can_watch_is_refused_by_name() {
    let end =
        run(&["-e", "forall x. G (p(x) -> F q(x))", "--format", "events", "--engine", "automaton"], "p,1\n");
    assert_eq!((end.code, end.out.len()), (Some(2), 0));
    assert!(end.err.iter().any(|line| line.contains("forall x")), "{:?}", end.err);
    let end = run(&["-e", "G p", "--engine", "columnar", "--format", "props"], "p\n");
    assert_eq!(end.code, Some(2));
    assert!(end.err.iter().any(|line| line.contains("breadth-first")), "{:?}", end.err);
}

#[test]
fn every_live_engine_says_the_same() {
    let text = "p\nq\np q\n\nr\np r\n".repeat(50);
    let formulas = ["G (p -> F q)", "(p | q) U r", "G (r -> O q)", "F (p & r)", "G !(q & r)"];
    let mut arguments: Vec<&str> = formulas.iter().flat_map(|formula| ["-e", *formula]).collect();
    arguments.extend(["--format", "props", "--output", "json", "--engine", "auto"]);
    let auto = run(&arguments, &text);
    for engine in ["breadth-first", "rewrite", "automaton"] {
        *arguments.last_mut().unwrap() = engine;
        let named = run(&arguments, &text);
        if engine == "automaton" && named.err.iter().any(|line| line.contains("unknown engine")) {
            continue;
        }
        // Residuals are worded by the engine.
        let verdicts = |end: &End| -> Vec<(serde_json::Value, serde_json::Value, serde_json::Value)> {
            let of = |line: &serde_json::Value| {
                (line["property"].clone(), line["verdict"].clone(), line["position"].clone())
            };
            end.json().iter().map(of).collect()
        };
        assert_eq!(verdicts(&named), verdicts(&auto), "{engine}: {:?}", named.err);
        assert_eq!(named.code, auto.code);
    }
}

#[test]
fn a_command_runs_for_each_violation() {
    let directory = directory("alarm");
    let out = directory.join("out").to_str().unwrap().to_string();
    let command = format!(
        "echo \"$TRACEWISE_PROPERTY|$TRACEWISE_POSITION|$TRACEWISE_LINE|$(cat)\" >> {out}; sleep 0.05"
    );
    let end = run(
        &["-e", "G !bad", "-e", "F good", "--format", "props", "--on-violation", &command],
        "x\nbad\ngood\n",
    );
    assert_eq!(end.code, Some(1));
    let told = std::fs::read_to_string(&out).unwrap();
    let fields: Vec<&str> = told.trim_end().splitn(4, '|').collect();
    assert_eq!(fields[..3], ["G !bad", "1", "2"], "{told}");
    let object: serde_json::Value = serde_json::from_str(fields[3]).unwrap();
    assert_eq!((&object["verdict"], &object["line"]["text"]), (&"violated".into(), &"bad".into()));

    // With each position told, for each position that is violated; all of them have run when the watch ends.
    std::fs::remove_file(&out).unwrap();
    let end = run(
        &["-e", "G !bad", "--format", "props", "--each-position", "--on-violation", &command],
        &"bad\nx\n".repeat(10),
    );
    assert_eq!(end.code, Some(1));
    assert_eq!(std::fs::read_to_string(&out).unwrap().lines().count(), 10);
    let end = run(&["-e", "G !bad", "--format", "props", "--on-violation", "exit 3"], "bad\n");
    assert!(
        end.err.iter().any(|line| line.contains("1 of the commands of --on-violation failed")),
        "{:?}",
        end.err
    );
}

#[test]
fn the_first_violation_can_end_the_watch() {
    let arguments =
        ["-e", "G !bad", "-e", "G !worse", "-e", "F good", "--format", "props", "--output", "json"];
    let arguments: Vec<&str> = arguments.into_iter().chain(["--stop-on-violation"]).collect();
    let mut watch = watch(&arguments);
    watch.write("good\nx\nbad\nworse\n");
    let verdicts = [watch.json(), watch.json()];
    assert_eq!(verdicts[0]["verdict"], "satisfied");
    assert_eq!((&verdicts[1]["verdict"], &verdicts[1]["position"]), (&"violated".into(), &2.into()));
    // Without waiting for more.
    let input = watch.input.take();
    let end = watch.end();
    assert_eq!((end.code, end.out), (Some(1), vec![]));
    drop(input);
}

/// What is settled before it is read is settled by every engine at the first position.
#[test]
fn engines_settle_constants_at_the_same_position() {
    let formulas = ["N true", "X false", "N N true", "G (a | N true)", "F X false", "F G true"];
    for engine in ["automaton", "breadth-first", "rewrite", "metric"] {
        let mut arguments = vec!["--semantics", "finite", "--engine", engine, "--output", "json"];
        arguments.extend(formulas.iter().flat_map(|formula| ["-e", formula]));
        arguments.extend(["--format", "props"]);
        let end = run(&arguments, "a\nb\na\n");
        let settled = |line: &serde_json::Value| line["settled"] == true && line["position"] == 0;
        let lines = end.json();
        assert!(lines.len() == formulas.len() && lines.iter().all(settled), "{engine}: {:?}", end.out);
    }
}

/// A past that looks at the future is settled as early as all continuations allow, per key and after a resume too.
#[test]
fn the_past_may_look_at_the_future() {
    let formulas = ["-e", "G (O (X a))", "-e", "H (N true)", "-e", "F (O last)", "-e", "G (Y (G a) -> a)"];
    let settled = |end: &End| -> Vec<(String, String, u64)> {
        let told = |line: &serde_json::Value| {
            let text = |key: &str| line[key].as_str().unwrap().to_string();
            (text("property"), text("verdict"), line["position"].as_u64().unwrap())
        };
        end.json().iter().filter(|line| line["settled"] == true).map(told).collect()
    };
    let expected = |first: u64, settles: u64| {
        [
            ("H (N true)", "satisfied", first),
            ("F (O last)", "violated", first),
            ("G (Y (G a) -> a)", "satisfied", first),
            ("G (O (X a))", "satisfied", settles),
        ]
        .map(|(property, verdict, position)| (property.to_string(), verdict.to_string(), position))
    };
    let json = ["--output", "json", "--format", "jsonl"];
    let row = |key: &str, a: bool| format!("{{\"k\":\"{key}\",\"a\":{a}}}\n");
    let text = [row("x", false), row("x", true), row("x", false)].concat();
    let arguments = [&formulas[..], &json].concat();
    assert_eq!(settled(&run(&arguments, &text)), expected(0, 1));
    // Two traces in turns.
    let turns = [row("x", false), row("y", false), row("x", true), row("y", true)].concat();
    let mut found = settled(&run(&[&arguments[..], &["--by", "k"]].concat(), &turns));
    let mut both = [expected(0, 2), expected(1, 3)].concat();
    found.sort();
    both.sort();
    assert_eq!(found, both);
    // Interrupted before what settles the last.
    let state = directory("foresight").join("state").to_str().unwrap().to_string();
    let keeping = [&arguments[..], &["--checkpoint", &state, "--resume"]].concat();
    assert_eq!(settled(&run(&keeping, &row("x", false))).len(), 3);
    assert_eq!(settled(&run(&keeping, &text)), expected(0, 1));
}

//! `check`: exit codes, JSON, and the text people see.

use crate::common::{command, directory, finish, tracewise, tracewise_with};
use serde_json::{Value, json};

#[test]
fn exit_codes() {
    let cases = [
        (0, "check -e 'G (a -> F b)' ab.csv"),
        (1, "check -e 'G a' ab.csv"),
        (1, "check web.tw web.jsonl"),
        (0, "check web.tw good.jsonl"),
        (1, "check web.tw good.jsonl web.jsonl"),
        // Usage.
        (2, ""),
        (2, "chekc web.tw web.jsonl"),
        (2, "check"),
        (2, "check web.tw"),
        (2, "check -e 'G a'"),
        (2, "check web.jsonl"),
        (2, "check -e 'G a' web.tw"),
        (2, "check web.tw web.jsonl --violations some"),
        (2, "check web.tw web.jsonl --output xml"),
        (2, "check web.tw web.jsonl --engine no-such"),
        (2, "check web.tw web.jsonl --format no-such"),
        (2, "check web.tw web.jsonl --sort never"),
        (2, "check web.tw web.jsonl --memory lots"),
        (2, "check - -"),
        (2, "check -e 'G a' - -"),
        // Input.
        (2, "check -e 'G (a ->' ab.csv"),
        (2, "check -e 'G nosuch' ab.csv"),
        (2, "check no-such.tw web.jsonl"),
        (2, "check web.tw no-such.jsonl"),
        (2, "check web.tw broken.jsonl"),
        (2, "check web.tw web.jsonl broken.jsonl"),
        (2, "check web.tw broken.jsonl good.jsonl"),
    ];
    for (code, line) in cases {
        let run = tracewise(line);
        assert_eq!(run.code, code, "tracewise {line}: {run:?}");
        assert!(!run.err.contains("panicked"), "tracewise {line}: {run:?}");
        assert_eq!(code == 2, !run.err.is_empty() && run.code == 2, "tracewise {line}: {run:?}");
        // The exit code stays, the words go, but for errors.
        if !line.is_empty() {
            let quiet = tracewise(&format!("{line} --quiet"));
            assert_eq!((quiet.code, quiet.out.as_str()), (code, ""), "tracewise {line} --quiet: {quiet:?}");
            assert_eq!(code == 2, !quiet.err.is_empty(), "tracewise {line} --quiet: {quiet:?}");
        }
    }
}

/// The first ten fields, in their order, are fixed.
#[test]
fn json_has_the_fixed_fields_in_order() {
    let run = tracewise("check web.tw web.jsonl --output json");
    assert_eq!(run.code, 1, "{run:?}");
    let lines: Vec<&str> = run.out.lines().collect();
    assert_eq!(lines.len(), 3, "{run:?}");
    assert!(
        lines[0].starts_with(concat!(
            r#"{"property":"answered","trace":"web.jsonl","verdict":"violated","position":4,"time":4,"#,
            r#""violations":[{"position":4,"time":4,"bindings":{},"line":{"file":"web.jsonl","line":5,"#,
        )),
        "{}",
        lines[0]
    );
    assert!(
        lines[0].contains(concat!(
            r#""violation_count":1,"engine":"columnar","semantics":"finite","events":5,"#,
            r#""title":"every request is answered","explanation":{"formula":"#
        )),
        "{}",
        lines[0]
    );
    let objects = run.json();
    assert_eq!(objects[1]["violation_count"], 2);
    assert_eq!(objects[1]["violations"][0]["position"], 2);
    assert_eq!(objects[2]["verdict"], "satisfied");
    assert_eq!(objects[2]["position"], Value::Null);
    assert_eq!(objects[2]["time"], Value::Null);
    assert_eq!(objects[2]["violations"], json!([]));
    let explanation = &objects[0]["explanation"];
    for field in
        ["formula", "holds", "from", "to", "time", "reason", "values", "line", "pending_since", "because"]
    {
        assert!(explanation.get(field).is_some(), "{field}: {explanation}");
    }
    assert_eq!(explanation["holds"], false);
}

#[test]
fn formulas_are_named_by_their_text() {
    let run = tracewise("check -e 'G (a -> F b)' -e 'a & X b // both' -e 'F b' ab.csv --output json");
    assert_eq!(run.code, 1, "{run:?}");
    let names: Vec<Value> = run.json().iter().map(|object| object["property"].clone()).collect();
    assert_eq!(names, ["G (a -> F b)", "a & X b // both", "F b"]);
    let one = tracewise("check -e 'G (a -> F b)' ab.csv --output json").json();
    assert_eq!(one[0]["property"], "G (a -> F b)");
}

#[test]
fn listed_violations_are_limited() {
    let count = |option: &str| {
        let object =
            tracewise(&format!("check -e 'G (a & b)' ab.csv --output json {option}")).json().remove(0);
        (object["violations"].as_array().unwrap().len(), object["violation_count"].as_u64().unwrap())
    };
    assert_eq!(count(""), (3, 3));
    assert_eq!(count("--violations 1"), (1, 3));
    assert_eq!(count("--violations all"), (3, 3));
    let text = tracewise("check -e 'G (a & b)' ab.csv --violations 1").out;
    // Neighbours are one range, which counts as one.
    assert!(text.contains("ab.csv:2–4 · positions 0 to 2") && !text.contains("more violation"), "{text}");
}

#[test]
fn text_shows_verdict_line_reason_and_summary() {
    let run = tracewise("check web.tw web.jsonl");
    assert!(run.out.contains("✗ answered  every request is answered\n"), "{}", run.out);
    assert!(run.out.contains("web.jsonl:5 · position 4 · time 4"), "{}", run.out);
    assert!(
        run.out.contains("5 │ {\"time\": 4, \"event\": \"req\", \"id\": \"r3\", \"queue\": 1}\n"),
        "{}",
        run.out
    );
    assert!(run.out.contains("pending"), "{}", run.out);
    assert!(!run.out.contains("null"), "{}", run.out);
    assert!(run.out.contains("✓ starts\n"), "{}", run.out);
    assert!(
        run.out.contains("2 of 3 properties violated on web.jsonl (5 positions); engine columnar, "),
        "{}",
        run.out
    );
    let brief = tracewise("check web.tw web.jsonl --no-explain");
    assert!(brief.out.contains("web.jsonl:5") && !brief.out.contains("pending"), "{}", brief.out);
}

#[test]
fn a_witness_explains_what_holds() {
    let with = tracewise("check -e 'F b' ab.csv --witness --output json").json().remove(0);
    assert_eq!(
        (with["verdict"].as_str(), with["explanation"]["holds"].as_bool()),
        (Some("satisfied"), Some(true))
    );
    let without = tracewise("check -e 'F b' ab.csv --output json").json().remove(0);
    assert_eq!(without.get("explanation"), None);
}

#[test]
fn an_unreadable_trace_has_no_verdict_and_the_others_have() {
    let run = tracewise("check web.tw good.jsonl broken.jsonl web.jsonl --output json");
    assert_eq!(run.code, 2, "{run:?}");
    let traces: Vec<Value> = run.json().iter().map(|object| object["trace"].clone()).collect();
    assert_eq!(traces, ["good.jsonl", "good.jsonl", "good.jsonl", "web.jsonl", "web.jsonl", "web.jsonl"]);
    let errors: Vec<Value> = run.errors().into_iter().filter(|line| line.get("error").is_some()).collect();
    assert_eq!(errors.len(), 1, "{run:?}");
    assert_eq!(errors[0]["error"]["trace"], "broken.jsonl");
    assert_eq!(errors[0]["error"]["trace_line"], 2);
    let text = tracewise("check web.tw good.jsonl broken.jsonl web.jsonl");
    assert!(text.out.ends_with("3 traces: 1 with violations, 1 not checked\n"), "{}", text.out);
    assert!(text.err.contains("broken.jsonl:2"), "{}", text.err);
}

#[test]
fn errors_underline_the_formula() {
    let run = tracewise("check -e 'G (a -> F bb)' ab.csv");
    assert_eq!((run.code, run.out.as_str()), (2, ""), "{run:?}");
    assert!(
        run.err.contains("G (a -> F bb)") && run.err.contains('^') && run.err.contains('b'),
        "{}",
        run.err
    );
}

#[test]
fn standard_input_is_a_trace_or_a_specification() {
    let data = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/web.jsonl")).unwrap();
    assert_eq!(tracewise_with("check web.tw -", &data).code, 1);
    assert_eq!(tracewise_with("check -e 'G a' - --format csv", "a\n1\n1\n").code, 0);
    assert_eq!(tracewise_with("check - ab.csv", "property p: F b;").code, 0);
}

#[test]
fn several_files_are_several_traces_or_one() {
    let apart = tracewise("check -e 'G (req -> F ack)' web.jsonl good.jsonl --output json");
    assert_eq!((apart.code, apart.json().len()), (1, 2), "{apart:?}");
    let directory = directory("concat");
    let (first, second) = (directory.join("1.csv"), directory.join("2.csv"));
    std::fs::write(&first, "a,b\n1,0\n").unwrap();
    std::fs::write(&second, "a,b\n0,1\n").unwrap();
    let joined = finish(
        command()
            .args(["check", "-e", "G (a -> F b)", "--concat", "--output", "json"])
            .args([&first, &second]),
        "",
    );
    assert_eq!((joined.code, joined.json().len()), (0, 1), "{joined:?}");
    assert_eq!(joined.json()[0]["events"], 2);
}

#[test]
fn each_value_of_a_column_is_its_own_trace() {
    let run = tracewise("check -e 'G (req -> F ack)' web.jsonl --by id --output json");
    assert_eq!(run.code, 1, "{run:?}");
    let object = &run.json()[0];
    assert_eq!(object["by"], json!({"column": "id", "values": 3}));
    assert_eq!(object["violations"][0]["bindings"], json!({"id": "r3"}));
    let text = tracewise("check -e 'G (req -> F ack)' web.jsonl --by id").out;
    assert!(text.contains("id = \"r3\"") && text.contains("for 3 values of id"), "{text}");
}

#[test]
fn the_key_may_be_inside_something() {
    let line = |name: &str, user: &str| {
        format!("{{\"time\":1,\"event\":\"{name}\",\"http\":{{\"user\":\"{user}\"}}}}\n")
    };
    let log = [line("req", "eve"), line("req", "bob"), line("ack", "eve"), line("x", "bob")].concat();
    for options in ["", "--sort 1s"] {
        let run = tracewise_with(
            &format!("check -e 'G (req -> F ack)' - --format jsonl --by http.user --output json {options}"),
            &log,
        );
        assert_eq!(run.code, 1, "{run:?}");
        let object = &run.json()[0];
        assert_eq!(object["by"], json!({"column": "http.user", "values": 2}));
        assert_eq!(object["violations"][0]["bindings"], json!({"http.user": "bob"}));
    }
    let none = tracewise_with("check -e 'G (req -> F ack)' - --format jsonl --by http.usr", &log);
    assert_eq!(none.code, 2);
    assert!(none.err.contains("unknown variable `http.usr`"), "{none:?}");
}

#[test]
fn a_specification_without_properties_proves_nothing() {
    let run = tracewise_with("check - ab.csv", "let p = a;");
    assert_eq!((run.code, run.out.as_str()), (2, ""), "{run:?}");
    assert!(run.err.contains("no property"), "{}", run.err);
}

/// Time passes in every value's trace as the log goes on: a deadline before the log's end is missed, not pending.
#[test]
fn deadlines_of_keys_pass_with_the_log() {
    let log = "time,event,id\n1,req,a\n2,req,b\n3,ack,a\n9,req,c\n12,idle,a\n";
    let line = "check -e 'G (req -> F[0,5] ack)' - --format csv --by id --semantics ltl3 --output json --violations all";
    let run = tracewise_with(line, log);
    let object = &run.json()[0];
    // Until 7 nothing came of b; c may still be answered, up to 14.
    assert_eq!((run.code, &object["verdict"]), (1, &json!("violated")));
    let keys: Vec<&Value> =
        object["violations"].as_array().unwrap().iter().map(|one| &one["bindings"]["id"]).collect();
    assert_eq!(keys, ["b"]);
    let open = tracewise_with(line, "time,event,id\n1,req,a\n6,idle,b\n");
    assert_eq!((open.code, &open.json()[0]["verdict"]), (3, &json!("unknown")));
}

/// Deciding what infinite continuations satisfy has a budget: an answer, or a refusal that names what is in the way.
#[test]
fn three_valued_verdicts_have_a_budget() {
    let folder = directory("three-valued-budget");
    std::fs::write(folder.join("t.csv"), "a,b,c,d,e,h\nfalse,true,false,true,false,false\n").unwrap();
    let run = |arguments: &[&str]| finish(command().current_dir(&folder).args(arguments), "");
    let chain = |depth: usize| {
        let mut text = "let m0 = a ^ X b;\n".to_owned();
        (1..=depth).for_each(|at| text += &format!("let m{at} = m{0} ^ X m{0};\n", at - 1));
        std::fs::write(folder.join("chain.tw"), format!("{text}property p : G m{depth};\n")).unwrap();
    };
    chain(7);
    assert_eq!(run(&["check", "--semantics", "ltl3", "chain.tw", "t.csv"]).code, 3);
    chain(20);
    for verb in [["check", "--semantics", "ltl3"], ["watch", "--semantics", "ltl3"]] {
        let refused = run(&[&verb[..], &["chain.tw", "t.csv"]].concat());
        assert_eq!((refused.code, refused.out.as_str()), (2, ""), "{}", refused.err);
        assert!(refused.err.contains("steps to find out which infinite continuations"), "{}", refused.err);
    }
    let thirty_two = "F ((((((N (h)) R (G (d))) M (!((d) W (c)))) M (N (N (a)))) | ((((N (d)) -> ((d) ^ (e))) -> (F (h))) \
                      -> ((F ((c) U (b))) W (G (G (c)))))) | (G (N ((b) -> (c)))))";
    for verb in [vec!["check", "--semantics", "ltl3"], vec!["watch"], vec!["explain"]] {
        let traces: &[&str] = if verb[0] == "explain" { &[] } else { &["t.csv"] };
        let told = run(&[&verb[..], &["-e", thirty_two], traces].concat());
        assert_eq!(told.code, 0, "{verb:?}: {}", told.err);
    }
    let many: Vec<String> = ["a", "b", "c", "d", "e", "h"]
        .iter()
        .flat_map(|name| ["X", "F", "G"].map(|step| format!("O ({step} {name})")))
        .collect();
    let refused = run(&["check", "--semantics", "ltl3", "-e", &format!("G ({})", many.join(" & ")), "t.csv"]);
    assert_eq!(refused.code, 2, "{}", refused.err);
    assert!(refused.err.contains("more than 16 future operators inside past ones"), "{}", refused.err);
}

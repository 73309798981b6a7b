//! First contact: names and time of a stranger's log, and warnings about what holds for the wrong reason.

use crate::common::{directory, tracewise};

/// A file of a test, by name.
fn file(test: &str, name: &str, text: &str) -> String {
    let path = directory(&format!("contact/{test}")).join(name);
    std::fs::write(&path, text).expect("a file for the test");
    path.to_str().expect("UTF-8").to_string()
}

const NESTED: &str = "{\"meta\":{\"ts\":\"2024-05-01T12:00:00Z\",\"kind\":\"start\"},\"user\":{\"id\":7},\"http\":{\"status\":500}}\n\
                      {\"meta\":{\"ts\":\"2024-05-01T12:00:05Z\",\"kind\":\"stop\"},\"user\":{\"id\":7},\"http\":{\"status\":200}}\n";

#[test]
fn time_and_event_may_be_nested() {
    let log = file("nested", "n.jsonl", NESTED);
    let line = format!(
        "check --time meta.ts --event meta.kind --by user.id -e 'G (start -> F[<=5s] stop)' {log} --output json"
    );
    let run = tracewise(&line);
    assert_eq!((run.code, run.json()[0]["verdict"].as_str()), (0, Some("satisfied")), "{run:?}");
    let run = tracewise(&format!(
        "query --time meta.ts --event meta.kind -e 'max[stop : elapsed] by user.id' {log} --output json"
    ));
    assert_eq!(run.json()[0]["value"], 5, "{run:?}");
}

#[test]
fn names_inside_nested_data_are_proposed() {
    let log = file("proposed", "n.jsonl", NESTED);
    for (name, near) in [("status", "http.status"), ("http.stauts", "http.status"), ("idd", "user.id")] {
        let run = tracewise(&format!("check -e 'G {name} > 1' {log}"));
        assert!(run.code == 2 && run.err.contains(&format!("did you mean `{near}`?")), "{name}: {run:?}");
    }
    let run = tracewise(&format!("check -e 'G[<=5s] http.status > 1' {log}"));
    assert!(run.code == 2 && run.err.contains("`meta.ts` looks like time: `--time meta.ts`"), "{run:?}");
    let run = tracewise(&format!("check -e 'G elapsed < 1' {log}"));
    assert!(run.code == 2 && run.err.contains("--time meta.ts"), "{run:?}");
    let run = tracewise(&format!("inspect {log}"));
    assert!(run.out.contains("`meta.ts` looks like time: `--time meta.ts`"), "{run:?}");
    let run = tracewise(&format!("inspect --time meta.ts {log}"));
    assert!(run.out.contains(" --time meta.ts "), "{run:?}");
}

#[test]
fn time_is_a_value() {
    let log = file("value", "v.csv", "time,user,event\n1,a,req\n1.5,b,req\n3,a,resp\n10,b,resp\n");
    let violations = |line: &str| {
        let run = tracewise(&format!("{line} {log} --output json"));
        run.json()[0]["violations"]
            .as_array()
            .map(|all| all.iter().map(|v| v["position"].as_u64()).collect::<Vec<_>>())
    };
    assert_eq!(violations("check -e 'G (resp -> elapsed < 2)'"), Some(vec![Some(3)]));
    assert_eq!(violations("check --by user -e 'G (resp -> elapsed < 2s)'"), Some(vec![Some(2), Some(3)]));
    assert_eq!(violations("check --by user -e 'G (resp -> elapsed <= 8500ms)'"), Some(vec![]));
    assert_eq!(
        violations("check --time-unit ms -e 'G (resp -> elapsed < 1us)'"),
        Some(vec![Some(2), Some(3)])
    );
    assert_eq!(violations("check -e 'G (time < 3)'"), Some(vec![Some(2), Some(3)]));
    let both = file("both", "b.csv", "time,elapsed\n1,3\n2,5\n");
    let run = tracewise(&format!("check -e 'G elapsed < 2' {both}"));
    assert!(run.code == 2 && run.err.contains("`elapsed()` for the time"), "{run:?}");
    assert_eq!(tracewise(&format!("check -e 'G `elapsed` > 2' {both}")).code, 0);
    assert_eq!(tracewise(&format!("check -e 'F elapsed() == 1' {both}")).code, 0);
    let none = file("none", "n.csv", "x\n1\n");
    let run = tracewise(&format!("check -e 'G time < 2' {none}"));
    assert!(run.code == 2 && run.err.contains("`time` is what timestamps say"), "{run:?}");
    let has = file("has", "h.csv", "x,y\n1,2\n,3\n");
    assert_eq!(tracewise(&format!("eval -e 'has(x)' {has} --output json")).out.matches("true").count(), 1);
    assert_eq!(
        tracewise(&format!("eval -e 'has(x + y)' {has} --output json")).out.matches("true").count(),
        1
    );
}

#[test]
fn logs_that_go_back_are_refused_where_time_is_used() {
    let log = file("back", "b.csv", "time,x\n5,1\n2,2\n7,3\n6.5,4\n8,5\n");
    let run = tracewise(&format!("check -e 'G x > 0' {log} --output json"));
    assert_eq!(run.code, 0, "{run:?}");
    let warnings = run.json()[0]["warnings"].to_string();
    assert!(
        warnings.contains("time-goes-back") && warnings.contains("2 timestamps") && warnings.contains("3s"),
        "{run:?}"
    );
    assert_eq!(tracewise(&format!("check --deny warnings -e 'G x > 0' {log}")).code, 1);
    for formula in ["G[<=5s] x > 0", "G elapsed >= 0", "G time > 0"] {
        let run = tracewise(&format!("check -e '{formula}' {log}"));
        assert!(run.code == 2 && run.err.contains("b.csv:3"), "{formula}: {run:?}");
        assert_ne!(tracewise(&format!("check --sort 3s -e '{formula}' {log}")).code, 2);
        assert_ne!(tracewise(&format!("check --sort all -e '{formula}' {log}")).code, 2);
    }
    assert_eq!(tracewise(&format!("query -e 'sum[x]' {log}")).code, 0);
    assert_eq!(tracewise(&format!("query -e 'sum[x] every 2s' {log}")).code, 2);
    let run = tracewise(&format!("inspect {log}"));
    assert!(run.out.contains("time goes back 2 times; `--sort 3s` puts"), "{run:?}");
    let events =
        file("events-back", "e.csv", "time,event,thread,lock,x\n5,lock,a,l,1\n2,f,a,l,2\n7,f,a,l,3\n");
    let model = log.replace("b.csv", "m.json");
    let other = log.replace("b.csv", "o.jsonl");
    for command in [
        &format!("convert -o {other}"),
        &format!("merge --keep state -o {model}"),
        &format!("merge --keep state --state x -o {model}"),
        &format!("merge --keep state --by thread -o {model}"),
        "races",
        "slice --patterns 'f(x: x)'",
        "watch -e 'G x > 0'",
        "watch -e 'G x > 0' --by thread",
        "watch -e 'G x > 0' --observers",
    ] {
        let run = tracewise(&format!("{command} {events}"));
        assert!(run.code <= 1 && run.err.contains("time-goes-back"), "{command}: {run:?}");
        assert!(run.err.contains("one timestamp is before") && run.err.contains("--sort 3s"), "{run:?}");
    }
    for command in ["watch -e 'G[<=5s] x > 0'", "watch -e 'G x > 0' --by thread --idle 5s"] {
        let run = tracewise(&format!("{command} {events}"));
        assert!(run.code == 2 && run.err.contains("e.csv:3"), "{command}: {run:?}");
    }
}

#[test]
fn bad_lines_are_left_out_by_every_command() {
    let text = "time,event,thread,lock,x\n1,lock,a,l,1\n2,f\n3,f,a,l,2\nsoon,f,a,l,2\n4,f,a,l,3\n";
    let log = file("bad", "b.csv", text);
    let model = log.replace("b.csv", "m.json");
    let other = log.replace("b.csv", "o.jsonl");
    for command in [
        "check -e 'G x > 0'",
        "check -e 'G forall y. f(x: y) -> y > 0'",
        "check --null l -e 'G x > 0'",
        "check --sort 5s -e 'G x > 0'",
        "eval -e 'x > 0'",
        "query -e 'sum[x]'",
        "robust -e 'G x > 0'",
        "robust --live exact -e 'G x > 0'",
        "watch -e 'G x > 0'",
        "watch --null l -e 'G x > 0'",
        "watch --sort 5s -e 'G x > 0'",
        "inspect",
        "races",
        "slice --patterns 'f(x: x)'",
        &format!("convert -o {other}"),
        &format!("merge --keep state -o {model}"),
        &format!("merge --keep state --state x -o {model}"),
    ] {
        let run = tracewise(&format!("{command} {log}"));
        assert!(run.code == 2 && run.err.contains("`--skip-bad-lines`"), "{command}: {run:?}");
        assert!(run.err.contains("b.csv:3"), "{command}: {run:?}");
        let run = tracewise(&format!("{command} --skip-bad-lines {log}"));
        assert!(run.code == 0, "{command}: {run:?}");
        // A stream tells of each, a stored trace of how many.
        let told = run.err.contains("2 lines could not be read") || run.err.matches("b.csv:").count() == 2;
        assert!(told && run.err.contains("b.csv:3"), "{command}: {run:?}");
    }
}

#[test]
fn timestamps_may_be_in_two_columns() {
    let log = file("two", "t.csv", "Date,Time,event\n2024-05-01,12:00:00,a\n2024-05-01,12:00:04,b\n");
    let formula = "G (a -> F[0,5s] b)";
    let run = tracewise(&format!("check -e '{formula}' {log}"));
    assert!(run.code == 2 && run.err.contains("`--time 'Date Time'`"), "{run:?}");
    for command in ["check", "watch"] {
        let run = tracewise(&format!("{command} --time 'Date Time' -e '{formula}' {log} --output json"));
        assert_eq!((run.code, run.json()[0]["verdict"].as_str()), (0, Some("satisfied")), "{run:?}");
    }
    let query = tracewise(&format!("query --time 'Date Time' -e 'max[elapsed]' {log} --output json"));
    assert_eq!(query.json()[0]["value"], 4, "{query:?}");
    let spec =
        file("two-spec", "s.tw", &format!("trace {{ time: \"Date Time\"; }}\nproperty p : {formula};\n"));
    assert_eq!(tracewise(&format!("check {spec} {log}")).code, 0);
    let text = "Month,Date,Time,n\nJun,14,15:16:01,1\nJun,14,15:16:03,2\n";
    let log = file("three", "linux.csv", text);
    let run = tracewise(&format!("query --time 'Month Date Time' -e 'max[elapsed]' {log} --output json"));
    assert_eq!(run.json()[0]["value"], 2, "{run:?}");
    let run = tracewise(&format!("check --time 'Date Tme' -e 'G n > 0' {log}"));
    assert!(run.code == 2 && run.err.contains("did you mean `Time`?"), "{run:?}");
}

#[test]
fn what_holds_for_the_wrong_reason_is_said() {
    let log = file("green", "g.csv", "time,event,status\n1,req,ok\n2,ack,failed\n");
    let cases = [
        ("G !(status == \"faild\")", "text-never-held", "did you mean \"failed\"?"),
        ("G status != \"gone\"", "text-never-held", "it has \"failed\", \"ok\""),
        ("G (status == \"ok\" & ack -> F req)", "vacuous", "never holds in this trace"),
        ("status == \"ok\"", "one-position", "`G (status == \"ok\")` asks it of every position"),
        ("G req -> F ack", "loose-always", "write `G (req -> F ack)`"),
        ("G !nack", "never-occurs", "did you mean `ack`?"),
    ];
    for (formula, code, words) in cases {
        let run = tracewise(&format!("check -e '{formula}' {log} --output json"));
        let warnings = run.json()[0]["warnings"].to_string().replace("\\\"", "\"");
        assert!(run.code == 0 && warnings.contains(code) && warnings.contains(words), "{formula}: {run:?}");
        assert_eq!(warnings.matches("\"code\"").count(), 1, "{formula}: {warnings}");
        assert_eq!(tracewise(&format!("check --deny warnings -e '{formula}' {log}")).code, 1, "{formula}");
        for output in ["junit", "sarif", "github"] {
            let run = tracewise(&format!("check -e '{formula}' {log} --output {output}"));
            assert!((run.out + &run.err).contains(code), "{formula} as {output}");
        }
    }
    for formula in
        ["G (req -> F ack)", "(G req) -> F ack", "G status != \"ok\"", "F status == \"ok\"", "true"]
    {
        let run = tracewise(&format!("check -e '{formula}' {log} --output json"));
        assert!(run.json()[0]["warnings"].as_array().is_none_or(Vec::is_empty), "{formula}: {run:?}");
    }
}

#[test]
fn other_words_lead_to_ours() {
    let log = file("words", "w.csv", "event,x\na,1\nb,2\n");
    for formula in ["x =~ \"a\"", "x contains \"a\""] {
        let run = tracewise(&format!("check -e '{formula}' {log}"));
        assert!(run.code == 2 && run.err.contains("matches \"part\""), "{formula}: {run:?}");
    }
    for formula in [
        "between(from: a, to: b, holds: x > 0)",
        "between(holds: x > 0, to: b, from: a)",
        "between(q: a, r: b, p: x > 0)",
    ] {
        assert_eq!(tracewise(&format!("check -e '{formula}' {log}")).code, 0, "{formula}");
    }
    for formula in
        ["between(from: a, to: b)", "between(from: a, b, x > 0)", "between(from: a, until: b, holds: x > 0)"]
    {
        let run = tracewise(&format!("check -e '{formula}' {log}"));
        assert!(run.code == 2 && run.err.contains("between(from: q, to: r, holds: p)"), "{formula}: {run:?}");
    }
}

#[test]
fn some_properties_alone() {
    let log = file("only", "o.csv", "x\n1\n2\n");
    let spec = file(
        "only-spec",
        "o.tw",
        "property good : G x > 0;\nproperty bad : G nowhere > 1;\nquery sum : sum[x];\n",
    );
    let run = tracewise(&format!("check --only good {spec} {log} --output json"));
    assert!(run.code == 0 && run.json().len() == 1, "{run:?}");
    assert_eq!(tracewise(&format!("query --only sum {spec} {log} --output json")).json()[0]["value"], 3);
    let run = tracewise(&format!("check --only godo {spec} {log}"));
    assert!(
        run.code == 2 && run.err.contains("`--only godo`") && run.err.contains("did you mean `good`?"),
        "{run:?}"
    );
}

/// A deadline that passed before the log's end is missed in every key's trace, also where no line of that key follows.
#[test]
fn time_passes_in_every_keys_trace() {
    let log = file("passes", "p.csv", "time,user,event,r\n1,a,req,1\n2,b,req,2\n3,b,ack,2\n20,c,req,3\n");
    for formula in ["G (req -> F[<=5s] ack)", "G forall x. (req(r: x) -> F[<=5s] ack(r: x))"] {
        let run = tracewise(&format!("check --by user --semantics ltl3 -e '{formula}' {log} --output json"));
        let violations = run.json()[0]["violations"].clone();
        assert_eq!(violations.as_array().map(Vec::len), Some(1), "{formula}: {run:?}");
        assert_eq!(
            (&violations[0]["position"], &violations[0]["bindings"]["user"]),
            (&0.into(), &"a".into())
        );
        let run = tracewise(&format!("watch --by user -e '{formula}' {log} --output json"));
        let told: Vec<_> = run.json().into_iter().filter(|line| line["bindings"]["user"] == "a").collect();
        assert_eq!(
            (told[0]["verdict"].as_str(), told[0]["position"].as_u64()),
            (Some("violated"), Some(3)),
            "{run:?}"
        );
    }
}

#[test]
fn each_formula_is_a_text_of_its_own() {
    let log = file("texts", "t.csv", "x,y\n1,2\n");
    let run = tracewise(&format!("check -e 'G x > 0' -e 'G (x > 0 -> F zz > 1)' -e 'G y > 5' {log}"));
    assert!(run.code == 2 && run.err.contains("<formula>:1:15"), "{run:?}");
    assert!(run.err.contains("1 | G (x > 0 -> F zz > 1)") && !run.err.contains("property"), "{run:?}");
    // The same text may be given twice, and comments end with it.
    let run = tracewise(&format!("check --output json -e 'G x > 0 // so' -e 'G y > 5' -e 'G y > 5' {log}"));
    let names: Vec<String> = run.json().iter().map(|own| own["property"].to_string()).collect();
    assert_eq!(names, ["\"G x > 0 // so\"", "\"G y > 5\"", "\"G y > 5\""], "{run:?}");
    assert_eq!(run.json()[1]["verdict"], "violated");
    let run = tracewise(&format!("query --output json -e 'sum[x]' -e 'sum[y] by x' {log}"));
    assert_eq!(run.json().iter().map(|own| own["value"].as_i64()).collect::<Vec<_>>(), [Some(1), Some(2)]);
}

#[test]
fn a_declared_type_converts_texts() {
    let text = "{\"t\":\"17.5\",\"n\":\"17\"}\n{\"t\":\"3\",\"n\":4}\n{\"t\":2.5,\"n\":5}\n{\"n\":6}\n";
    let log = file("declared", "d.jsonl", text);
    let spec = file(
        "declared-spec",
        "d.tw",
        "var t: real; var n: int;\nproperty p : G (has(t) -> t > 2 & n > 3);\nquery s : sum[t];\n",
    );
    for command in ["check", "watch"] {
        assert_eq!(tracewise(&format!("{command} {spec} {log}")).code, 0);
    }
    let run = tracewise(&format!("query {spec} {log} --output json"));
    assert_eq!(run.json()[0]["value"].as_f64(), Some(23.0), "{run:?}");
    let bad = file("declared-bad", "b.jsonl", "{\"t\":\"warm\",\"n\":1}\n");
    let run = tracewise(&format!("check {spec} {bad}"));
    assert!(run.code == 2 && run.err.contains("because it is declared `real`"), "{run:?}");
    // Who declares nothing compares texts with numbers by mistake.
    let run = tracewise(&format!("check -e 'G t > 2' {log}"));
    assert!(run.code == 2 && run.err.contains("uses it as a number"), "{run:?}");
}

//! `query`: values, where they come from, divisions, outputs, pictures.

use crate::common::{directory, finish, tracewise, tracewise_with};
use serde_json::{Value, json};

/// Example 1 of the statistics paper.
const FIRST: &str = "x,y\n1,1\n1,2\n1,3\n2,3\n5,3\n4,3\n";
/// Example 2.
const SECOND: &str = "x,y,z\n1,1,2\n1,2,2\n1,3,1\n2,3,1\n5,3,1\n5,3,2\n";
/// Requests of two users.
const TIMED: &str = "time,user,ms\n0,ana,5\n10,bob,7\n59,ana,1\n60,ana,9\n185,bob,2\n";

const ENGINES: [&str; 4] = ["columnar", "forward", "reverse", "reference"];

fn values(command: &str, input: &str) -> Vec<Value> {
    let run = tracewise_with(&format!("query --format csv --output json {command} -"), input);
    assert_eq!(run.code, 0, "{command}: {}", run.err);
    run.json().into_iter().map(|line| line["value"].clone()).collect()
}

#[test]
fn the_examples_of_the_paper_by_every_engine() {
    let first = [
        ("x < y : x", json!(null)),
        ("x <= y : (x,y)", json!([1, 1])),
        ("(x <= y : x) &{+} ((x <= y : true) U{v => v} (y = x+2 : y))", json!(4)),
    ];
    let second = [
        ("count[x = y]", json!(1)),
        ("min[true : x+y]", json!(2)),
        ("avg[true : x+y]", json!(5.0)),
        ("sum[true : x while z = 2]", json!(2)),
        ("max[sum[true : x while z = 2]]", json!(5)),
    ];
    for engine in ENGINES {
        for (query, expected) in &first {
            assert_eq!(
                values(&format!("--engine {engine} -e '{query}'"), FIRST),
                std::slice::from_ref(expected),
                "{engine} {query}"
            );
        }
        for (query, expected) in &second {
            assert_eq!(
                values(&format!("--engine {engine} -e '{query}'"), SECOND),
                std::slice::from_ref(expected),
                "{engine} {query}"
            );
        }
        let everywhere =
            values(&format!("--engine {engine} --at all -e 'sum[true : x while z = 2]'"), SECOND);
        assert_eq!(everywhere, [json!(2), json!(1), json!(null), json!(null), json!(null), json!(5)]);
    }
}

#[test]
fn the_contract_of_json() {
    let run = tracewise_with("query --format csv --output json -e 'max[x]' -", SECOND);
    assert_eq!(run.out, "{\"query\":\"max[x]\",\"trace\":\"-\",\"value\":5}\n");
    let run = tracewise_with("query --format csv --output json -e 'count[x > 9]' -", SECOND);
    assert_eq!((run.code, &run.json()[0]["value"]), (0, &json!(null)));
    let missing = run.json()[0]["missing"].as_str().unwrap().to_string();
    assert!(missing.contains("collected nothing") && missing.contains("?? 0"), "{missing}");
}

#[test]
fn an_overflow_of_a_result_is_an_error() {
    let big = "x\n9223372036854775807\n1\n-5\n";
    for engine in ENGINES {
        let run = tracewise_with(&format!("query --format csv --engine {engine} -e 'sum[x]' -"), big);
        assert_eq!(run.code, 0, "what lies between may be large: {}", run.err);
        let run =
            tracewise_with(&format!("query --format csv --engine {engine} -e 'sum[x >= 0 : x]' -"), big);
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{engine}");
        assert!(run.err.contains("overflows a 64-bit integer"), "{}", run.err);
    }
}

#[test]
fn a_value_names_its_lines() {
    let log = "p,q\n0,1\n1,1\n1,1\n0,0\n1,1\n";
    let run = tracewise_with("query --format csv --witness --output json -e 'max[count[p while q]]' -", log);
    let line = &run.json()[0];
    assert_eq!(line["value"], 2);
    let origin = &line["witness"][0];
    assert_eq!(origin["part"], "count[p while q]");
    assert_eq!((&origin["from"], &origin["to"]), (&json!(0), &json!(2)));
    assert_eq!((&origin["positions"], &origin["count"]), (&json!([1, 2]), &json!(2)));
    let directory = directory("witness");
    std::fs::write(directory.join("log.csv"), log).unwrap();
    let file = directory.join("log.csv");
    let run = tracewise(&format!("query --witness -e 'max[count[p while q]]' '{}'", file.display()));
    assert!(
        run.out.contains("count[p while q] = 2 at lines 2–4 (positions 0–2), 2 collected: 1 2"),
        "{}",
        run.out
    );
    // The places of `first` and `last` are told without being asked for.
    let run = tracewise(&format!("query -e 'last[p : q]' '{}'", file.display()));
    assert!(run.out.contains("at line 6 (position 4)"), "{}", run.out);
}

#[test]
fn one_value_per_key_and_per_window() {
    let lines = |command: &str| {
        let run = tracewise_with(&format!("query --format csv --output json {command} -"), TIMED);
        assert_eq!(run.code, 0, "{}", run.err);
        run.json()
    };
    let by = lines("-e 'max[ms] by user'");
    let pairs: Vec<_> = by.iter().map(|line| (line["by"]["user"].clone(), line["value"].clone())).collect();
    assert_eq!(pairs, [(json!("ana"), json!(9)), (json!("bob"), json!(7))]);
    assert_eq!(lines("--by user -e 'max[ms]'").len(), 2);
    let every = lines("-e 'count[true] every 1m'");
    let windows: Vec<_> = every.iter().map(|line| (line["window"].clone(), line["value"].clone())).collect();
    assert_eq!(
        windows,
        [(json!([0, 60]), json!(3)), (json!([60, 120]), json!(1)), (json!([180, 240]), json!(1)),],
        "a window without positions has no line"
    );
    let both = lines("-e 'sum[ms] by user every 1m'");
    let all: Vec<_> = both
        .iter()
        .map(|line| (line["by"]["user"].clone(), line["window"][0].clone(), line["value"].clone()))
        .collect();
    let expected = [("ana", 0, 6), ("ana", 60, 9), ("bob", 0, 7), ("bob", 180, 2)];
    assert_eq!(all, expected.map(|(user, from, value)| (json!(user), json!(from), json!(value))));
    // Each key is a trace of its own: the next request is the next of the same user.
    let next = lines("-e 'count[ms > 1 & X ms > 1] by user'");
    assert_eq!(next.iter().map(|line| line["value"].clone()).collect::<Vec<_>>(), [json!(null), json!(1)]);
    let run = tracewise_with("query --format csv -e 'max[ms] by nobody' -", TIMED);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("nobody"), "{}", run.err);
    let untimed = tracewise_with("query --format csv --output json -e 'count[true] every 4' -", SECOND);
    assert_eq!(untimed.json().iter().map(|l| l["value"].clone()).collect::<Vec<_>>(), [json!(4), json!(2)]);
}

#[test]
fn several_traces_have_a_total() {
    let directory = directory("totals");
    let (a, b) = (directory.join("a.csv"), directory.join("b.csv"));
    std::fs::write(&a, "p,x\n1,1\n0,2\n1,9\n").unwrap();
    std::fs::write(&b, "p,x\n0,4\n0,5\n").unwrap();
    let queries = "-e 'count[p]' -e 'avg[x]' -e 'median[x]' -e '(count[p] ?? 0) / count[true]' -e 'true : x'";
    let run = tracewise(&format!("query {queries} --output json '{}' '{}'", a.display(), b.display()));
    let lines = run.json();
    assert_eq!(lines.len(), 14, "what is asked at the first position alone has no total");
    let totals: Vec<_> = lines[10..].iter().map(|line| line["value"].clone()).collect();
    // 1 2 9 4 5: the average of the averages would be 4.25.
    assert_eq!(totals, [json!(2), json!(4.2), json!(4.0), json!(0.4)]);
    assert!(lines[10..].iter().all(|line| line["total"] == true && line["traces"] == 2));
    let text = tracewise(&format!("query -e 'count[p]' '{}' '{}'", a.display(), b.display())).out;
    let last = text.lines().last().unwrap().split_whitespace().collect::<Vec<_>>();
    assert_eq!(last, ["total", "2"]);
    let markdown =
        tracewise(&format!("query -e 'count[p]' --output markdown '{}' '{}'", a.display(), b.display()));
    assert!(markdown.out.ends_with("| **total** | 2 |\n"), "{}", markdown.out);
    // A trace that cannot be read costs its line, and the exit code.
    let run = tracewise(&format!("query -e 'count[p]' --output json '{}' nowhere.csv", a.display()));
    assert_eq!((run.code, run.out.lines().count()), (2, 1));
}

#[test]
fn an_error_is_for_who_asks() {
    let big = "x,k\n9223372036854775807,a\n1,b\n1,a\n";
    let run =
        tracewise_with("query --format csv --output json -e 'sum[x]' -e 'max[x]' -e 'sum[x] by k' -", big);
    assert_eq!(run.code, 2);
    let told: Vec<_> = run.json().iter().map(|line| (line["query"].clone(), line["value"].clone())).collect();
    assert_eq!(told, [(json!("max[x]"), json!(i64::MAX)), (json!("sum[x] by k"), json!(1))]);
    assert!(run.err.contains("`sum[x]` cannot be computed") && run.err.contains("for k = a"), "{}", run.err);
    // Each trace is fine, both together are not.
    let directory = directory("overflow");
    let (a, b) = (directory.join("a.csv"), directory.join("b.csv"));
    std::fs::write(&a, "x\n9223372036854775807\n").unwrap();
    std::fs::write(&b, "x\n1\n").unwrap();
    let run = tracewise(&format!("query -e 'sum[x]' --output json '{}' '{}'", a.display(), b.display()));
    assert_eq!((run.code, run.json().len()), (2, 2));
    assert!(run.err.contains("over all traces"), "{}", run.err);
}

#[test]
fn large_specifications_stay_cheap() {
    let directory = directory("large");
    let (spec, trace) = (directory.join("s.tw"), directory.join("t.csv"));
    let mut text = String::from("let a0 = count[x > 9] ?? 0;\n");
    (1..40).for_each(|i| text.push_str(&format!("let a{i} = a{0} + a{0};\n", i - 1)));
    text.push_str("query shared : a39;\nquery none : count[x > 9]");
    (0..3000).for_each(|i| text.push_str(&format!(" + count[x > {i}]")));
    text.push_str(";\n");
    (0..300).for_each(|i| text.push_str(&format!("query q{i} : count[x > {i}];\n")));
    std::fs::write(&spec, text).unwrap();
    std::fs::write(&trace, "x\n1\n2\n").unwrap();
    let files = format!("'{}' '{1}' '{1}'", spec.display(), trace.display());
    let run = tracewise(&format!("query --witness --output json {files}"));
    assert_eq!(run.code, 0, "{}", run.err);
    assert_eq!(run.json()[0]["value"], 0);
    // Values count against the budget.
    let run =
        tracewise_with("query --format csv --memory 1MB -e 'histogram(100000)[x] by x' -", "x\n1\n2\n3\n");
    assert_eq!(run.code, 2);
    assert!(run.err.contains("memory budget"), "{}", run.err);
}

#[test]
fn csv_has_one_line_per_value() {
    let run =
        tracewise_with("query --format csv --output csv -e 'count[x = y]' -e 'true : (x, y)' -", SECOND);
    assert_eq!(run.out, "trace,query,value\n-,count[x = y],1\n-,\"true : (x, y)\",\"[1,1]\"\n");
    let run = tracewise_with("query --format csv --output csv -e 'max[ms] by user every 1m' -", TIMED);
    assert_eq!(run.out.lines().nth(1), Some("-,max[ms] by user every 1m,ana,0,60,5"));
    let run = tracewise_with("query --format csv --output csv --at all -e 'sum[x while z = 2]' -", SECOND);
    assert_eq!(
        run.out.lines().skip(1).map(|l| l.rsplit(',').next().unwrap()).collect::<Vec<_>>(),
        ["2", "1", "", "", "", "5"]
    );
}

#[test]
fn pictures_are_drawn() {
    let directory = directory("pictures");
    for (name, options, kind) in [
        ("bars.svg", "-e 'max[ms] by user'", "<svg"),
        ("lines.svg", "-e 'ms > 1 : ms' --at all", "<svg"),
        ("windows.svg", "-e 'count[true] every 1m'", "<svg"),
        ("bins.svg", "-e 'histogram(3)[ms]'", "<svg"),
        ("bins.png", "-e 'histogram(3)[ms]'", "\u{fffd}PNG"),
    ] {
        let path = directory.join(name);
        let run =
            tracewise_with(&format!("query --format csv {options} --plot '{}' -", path.display()), TIMED);
        assert_eq!(run.code, 0, "{}", run.err);
        let drawn = std::fs::read(&path).expect(name);
        assert!(String::from_utf8_lossy(&drawn).starts_with(kind), "{name}");
    }
    let run = tracewise_with("query --format csv -e 'max[ms]' --plot picture.jpeg -", TIMED);
    assert_eq!((run.code, run.out.as_str()), (2, ""), "before the work");
    assert!(run.err.contains(".svg") && run.err.contains(".png"), "{}", run.err);
}

#[test]
fn a_picture_shows_each_query_or_names_it() {
    let path = directory("several").join("p.svg");
    for (options, shown, hidden) in [
        (
            "-e 'max[ms] by user' -e 'count[ms > 5] every 1m'",
            "count[ms &gt; 5] every 1m",
            Some("max[ms] by user"),
        ),
        (
            "-e 'histogram(10)[ms]' -e 'max[ms] by user' -e 'max[ms]'",
            "histogram(10)[ms]",
            Some("max[ms] by user, max[ms]"),
        ),
        ("-e 'max[ms] by user' -e 'min[ms] by user'", "max[ms] by user", Some("min[ms] by user")),
        // A panel for each: what is counted in tens has another axis than what is counted in thousands.
        ("--at all -e 'count[ms > 0 over 2]' -e 'sum[1000 * ms]'", "sum[1000 * ms]", None),
        ("-e 'count[ms > 0] every 1m' -e 'sum[1000 * ms] every 1m'", "count[ms &gt; 0] every 1m", None),
        ("-e 'max[ms]' -e 'min[ms]'", "min[ms]", None),
    ] {
        let run =
            tracewise_with(&format!("query --format csv {options} --plot '{}' -", path.display()), TIMED);
        assert_eq!(run.code, 0, "{}", run.err);
        let drawn = std::fs::read_to_string(&path).unwrap();
        assert!(drawn.contains(shown), "{options}: {drawn}");
        match hidden {
            Some(names) => {
                assert!(
                    run.err.contains(&format!("not-drawn]: the picture is without {names}:")),
                    "{}",
                    run.err
                );
            }
            None => assert_eq!(run.err, "", "{options}"),
        }
    }
}

#[test]
fn properties_and_queries_in_one_file() {
    let directory = directory("mixed");
    let (spec, trace) = (directory.join("s.tw"), directory.join("t.csv"));
    std::fs::write(&spec, "property small : G x < 6;\nquery most : max[x];\n").unwrap();
    std::fs::write(&trace, SECOND).unwrap();
    let files = format!("'{}' '{}'", spec.display(), trace.display());
    let check = tracewise(&format!("check --output json {files}"));
    assert_eq!((check.code, check.json().len()), (0, 1));
    let query = tracewise(&format!("query --output json {files}"));
    assert_eq!((query.code, &query.json()[0]["value"]), (0, &json!(5)));
    std::fs::write(&spec, "property small : G x < 6;\n").unwrap();
    let none = tracewise(&format!("query {files}"));
    assert_eq!(none.code, 2);
    assert!(none.err.contains("no query"), "{}", none.err);
}

#[test]
fn beyond_the_budget_there_is_a_bound() {
    let mut log = String::from("x\n");
    (0..200_000).for_each(|i| log.push_str(&format!("{}\n", (i * 7919) % 100_003)));
    let run = tracewise_with("query --format csv --memory 4MB --output json -e 'median[x]' -", &log);
    assert_eq!(run.code, 0, "{}", run.err);
    let line = &run.json()[0];
    let (value, bound) = (line["value"].as_f64().unwrap(), line["approximate"][0]["bound"].as_str().unwrap());
    assert!(bound.contains('%') && bound.contains("rank"), "{bound}");
    assert!((value - 50_000.0).abs() < 5_000.0, "{value}");
}

#[test]
fn explain_tells_whether_a_query_can_be_watched() {
    let run = tracewise("explain -e 'max[count[p while q]]' -e 'avg[max[x]]' --output json");
    let lines = run.json();
    assert_eq!((&lines[0]["live"], &lines[1]["live"]), (&json!(true), &json!(false)));
    assert!(lines[1]["not_live"].as_str().unwrap().contains("rest of the trace"));
    let drawn = tracewise("explain -e 'max[count[p while q]]' --automaton alternating");
    assert!(drawn.out.contains("digraph") && drawn.out.contains("f_max"), "{}", drawn.out);
}

#[test]
fn every_engine_answers_from_standard_input_and_quietly() {
    for engine in ENGINES {
        let mut command = crate::common::command();
        command.args(["query", "--quiet", "--format", "csv", "--engine", engine, "-e", "max[x]", "-"]);
        let run = finish(&mut command, SECOND);
        assert_eq!((run.code, run.out.as_str()), (0, ""), "{engine}: {}", run.err);
    }
    let run = tracewise_with("query --format csv --engine automaton -e 'max[x]' -", SECOND);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("columnar"), "{}", run.err);
}

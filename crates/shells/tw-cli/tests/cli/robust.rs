//! `robust`: values, the samples that decide them, streams, pictures.

use crate::common::{Run, command, directory, finish, tracewise, tracewise_with};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

const SIGNALS: &str = "p,q\n5,1\n3,2\n4,-3\n-1,4\n2,5\n6,6\n7,7\n7,8\n";
const SETTLING: &str = "lambda\n1.00\n1.02\n1.15\n1.12\n1.05\n1.01\n0.85\n0.99\n1.00\n";
const OK: &str = "abs(lambda - 1) < 0.1";
const TIMED: &str = "time,x\n0,1\n0.5,4.5\n1,2\n2.5,7\n";

/// The values of `key` in the lines of a run that have it, "inf" and "-inf" as numbers.
fn values_of(run: &Run, key: &str) -> Vec<f64> {
    assert_eq!(run.code, 0, "{run:?}");
    let number = |value: &Value| match value.as_str() {
        Some("inf") => f64::INFINITY,
        Some("-inf") => f64::NEG_INFINITY,
        _ => value.as_f64().unwrap_or_else(|| panic!("{value}")),
    };
    run.json().iter().filter_map(|line| line.get(key).map(number)).collect()
}

fn robust(formula: &str, options: &str, input: &str) -> Run {
    tracewise_with(&format!("robust -e '{formula}' - --format csv --output json {options}"), input)
}

fn everywhere(formula: &str, input: &str) -> Vec<f64> {
    values_of(&robust(formula, "--at all", input), "robustness")
}

fn near(found: &[f64], expected: &[f64]) {
    let same = |(a, b): (&f64, &f64)| a == b || (a - b).abs() < 1e-12;
    assert!(
        found.len() == expected.len() && found.iter().zip(expected).all(same),
        "{found:?}\nexpected {expected:?}"
    );
}

const INF: f64 = f64::INFINITY;

#[test]
fn the_fields_of_the_contract_come_first() {
    let run = robust("F[0,1] x > 3", "--at all", TIMED);
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(
        run.out,
        "{\"position\":0,\"time\":0,\"robustness\":1.5}\n{\"position\":1,\"time\":0.5,\"robustness\":1.5}\n\
         {\"position\":2,\"time\":1,\"robustness\":-1.0}\n{\"position\":3,\"time\":2.5,\"robustness\":4.0}\n"
    );
    let one = robust("F[0,1] x > 3", "", TIMED);
    assert!(one.out.starts_with("{\"position\":0,\"time\":0,\"robustness\":1.5,"), "{}", one.out);
    assert_eq!(one.json().len(), 1);
    let empty = robust("F[100,200] x > 3", "", TIMED);
    assert_eq!(empty.json()[0]["robustness"], "-inf");
    assert_eq!(robust("G[100,200] x > 3", "", TIMED).json()[0]["robustness"], "inf");
}

#[test]
fn contributions_lead_from_the_value_to_the_sample() {
    let run = robust("G (p > 0 -> F[0,1] q > 3)", "--contributions", SIGNALS);
    let found = &run.json()[0]["contributions"];
    let links = found["links"].as_array().unwrap();
    let of = |link: &Value| (link["formula"].as_str().unwrap().to_string(), link["position"].clone());
    let last = links.iter().rfind(|link| link["decides"] == true).unwrap();
    // At position 0 q reaches 2, where p is worth 5.
    assert_eq!(of(last), ("q > 3".to_string(), 1.into()), "{found}");
    assert_eq!((&links[0]["robustness"], &last["robustness"]), (&json!(-1.0), &json!(-1.0)), "{found}");
    assert_eq!(found["margins"][1], json!({"formula": "q > 3", "change": 1.0}), "{found}");
    assert_eq!(robust("p > 0", "--contributions --interpolate step", SIGNALS).code, 2);
}

#[test]
fn the_published_table_and_the_definition_agree_with_the_columns() {
    for formula in ["(H p > 0) & G[1,2] q > 0", "p > 0 S[1,3] q > 0", "p > 0 U[1,3] q > 0"] {
        let by = |algorithm: &str| {
            let options = format!("--at all --algorithm {algorithm}");
            values_of(&robust(formula, &options, SIGNALS), "robustness")
        };
        assert_eq!(by("table"), by("columns"), "{formula}");
        assert_eq!(by("definition"), by("columns"), "{formula}");
    }
    // The table is about positions, and about a bounded future.
    assert_eq!(robust("F[0,1] x > 3", "--algorithm table", TIMED).code, 2);
    assert_eq!(robust("F p > 0", "--algorithm table", SIGNALS).code, 2);
}

#[test]
fn past_and_future_of_two_signals() {
    near(&everywhere("H p > 0 & G[1,2] q > 0", SIGNALS), &[-3.0, -3.0, 3.0, -1.0, -1.0, -1.0, -1.0, -1.0]);
    let since = [-INF, 1.0, 2.0, -1.0, 2.0, 5.0, 6.0, 7.0];
    near(&everywhere("p > 0 S[1,3] q > 0", SIGNALS), &since);
    near(&everywhere("p > 0 S[1,inf) q > 0", SIGNALS), &since);
    near(&everywhere("p > 0 U[1,3] q > 0", SIGNALS), &[3.0, 3.0, 4.0, -1.0, 2.0, 6.0, 7.0, -INF]);
}

#[test]
fn settling_with_the_past_and_with_the_future() {
    let ok = [0.1, 0.08, -0.05, -0.02, 0.05, 0.09, -0.05, 0.09, 0.1];
    near(&everywhere(OK, SETTLING), &ok);
    let past = format!("{OK} | O[0,2] H[0,2] {OK}");
    near(&everywhere(&past, SETTLING), &[0.1, 0.1, 0.1, 0.08, 0.05, 0.09, -0.02, 0.09, 0.1]);
    let future = format!("{OK} | F[0,2] G[0,2] {OK}");
    near(&everywhere(&future, SETTLING), &[0.1, 0.08, -0.02, -0.02, 0.05, 0.09, 0.1, 0.1, 0.1]);
    // Cut at the newest sample, the future formula is the sample itself.
    near(&values_of(&robust(&future, "--live now", SETTLING), "robustness"), &ok);
}

#[test]
fn out_of_bounds_unless_it_settles() {
    let out = "abs(lambda - 1) >= 0.1";
    let past = format!("{out} -> O[0,1] H[0,1] !({out})");
    let future = format!("{out} -> F[0,1] G[0,1] !({out})");
    let of_future = everywhere(&future, SETTLING);
    near(&of_future, &[0.1, 0.08, -0.02, 0.05, 0.05, 0.09, 0.09, 0.1, 0.1]);
    near(&everywhere(&past, SETTLING), &[0.1, 0.1, 0.08, -0.02, 0.05, 0.09, 0.05, 0.09, 0.1]);
    let both: Vec<f64> = (0..of_future.len())
        .map(|at| of_future[at.saturating_sub(2)..=at].iter().copied().fold(INF, f64::min))
        .collect();
    near(&everywhere(&format!("H[0,2] ({future})"), SETTLING), &both);
    // Without prediction the future formula fails at once where the past one still holds.
    let now = values_of(&robust(&future, "--predict none", SETTLING), "robustness");
    assert!(now[6] < 0.0 && everywhere(&past, SETTLING)[6] > 0.0, "{now:?}");
}

#[test]
fn the_sample_that_decides_is_named() {
    let line = robust("G (x > 0 -> F[0,1] x > 3)", "", TIMED).json().remove(0);
    assert_eq!(line["robustness"], -1.0);
    assert_eq!(line["property"], "G (x > 0 -> F[0,1] x > 3)");
    assert_eq!(
        line["weakest"],
        json!({"formula": "x > 3", "reason": "predicate", "position": 2, "time": 1, "robustness": -1.0,
            "values": {"x": 2}, "line": {"file": "<stdin>", "line": 4, "text": "1,2"}})
    );
    let text = tracewise_with("robust -e 'G (x > 0 -> F[0,1] x > 3)' - --format csv", TIMED);
    assert!(
        text.out.starts_with(
            "✗ G (x > 0 -> F[0,1] x > 3)\n  robustness -1 at position 0: decided by `x > 3` at position 2, time 1 \
             (x = 2)\n    <stdin>:4 │ 1,2\n"
        ),
        "{}",
        text.out
    );
    let empty = robust("F[100,200] x > 3", "", TIMED).json().remove(0);
    assert_eq!((&empty["weakest"]["reason"], &empty["weakest"]["position"]), (&json!("empty"), &json!(0)));
}

/// What equations and windows say is no column of the line, and is told beside those that are.
#[test]
fn streams_of_the_sample_that_decides_are_shown() {
    let spec = directory("robust-streams").join("spec.tw");
    let text = "stream s: int = s[-1|0] + x; stream up: bool = x > 2; stream n: int = s[+1|7] by k;
        property sum : G (s - x < 4); property before : G s[-1|0] < 2; property rise : G up;
        property most : G (max[x over 2] < 3 & x < 9); property twice : G (s < 9 - s); property ahead : F n > 5;";
    std::fs::write(&spec, text).expect("a scratch file");
    let spec = spec.display();
    let input = "x,k\n1,a\n3,b\n2,a\n";
    let weakest = |options: &str| {
        let run = tracewise_with(&format!("robust {spec} - --format csv --output json {options}"), input);
        assert_eq!(run.code, 0, "{}", run.err);
        let lines = run.json().into_iter();
        lines.map(|line| line["weakest"]["values"].clone()).collect::<Vec<_>>()
    };
    let expected = [
        json!({"s": 6, "x": 2}),
        json!({"s[-1|0]": 4}),
        json!({"up": false}),
        json!({"max[x over 2]": 3}),
        json!({"s": 6}),
        json!({"n": 7}),
    ];
    assert_eq!(weakest(""), expected);
    let text = tracewise_with(&format!("robust {spec} - --format csv"), input);
    assert!(text.out.contains("(s = 6, x = 2)") && text.out.contains("(up = false)"), "{}", text.out);
}

#[test]
fn what_is_only_true_or_false_is_infinite() {
    let trace = "time,ok,name,x\n0,true,bob,1\n1,false,eve,\n";
    near(&everywhere("ok", trace), &[INF, -INF]);
    near(&everywhere("name == \"bob\"", trace), &[INF, -INF]);
    near(&everywhere("ok -> x < 3", trace), &[2.0, INF]);
    near(&everywhere("x < 3", trace), &[2.0, -INF]);
    near(&everywhere("x == 3", trace), &[-2.0, -INF]);
    near(&everywhere("x != 3", trace), &[2.0, -INF]);
}

#[test]
fn several_properties_and_traces_are_told_apart() {
    let folder = directory("robust-several");
    let (spec, trace) = (folder.join("s.tw"), folder.join("t.csv"));
    std::fs::write(
        &spec,
        "property low : G (x < 9);\nproperty high \"at last\" : F (x > 6);\nquery most : max[x];",
    )
    .unwrap();
    std::fs::write(&trace, TIMED).unwrap();
    let run = |options: &[&str]| finish(command().arg("robust").arg(&spec).arg(&trace).args(options), "");
    let lines = run(&["--output", "json"]).json();
    assert_eq!(lines.len(), 2);
    assert_eq!((&lines[0]["property"], &lines[0]["robustness"]), (&json!("low"), &json!(2.0)));
    assert_eq!((&lines[1]["property"], &lines[1]["robustness"]), (&json!("high"), &json!(1.0)));
    let all = run(&["--output", "json", "--at", "all"]).json();
    assert_eq!(all.len(), 8);
    assert_eq!(all[4], json!({"position": 0, "time": 0, "robustness": 1.0, "property": "high"}));
    let twice = finish(
        command().arg("robust").arg(&spec).args([&trace, &trace]).args(["--output", "json", "--at", "all"]),
        "",
    );
    assert_eq!(twice.json().len(), 16);
    assert_eq!(twice.json()[0]["trace"], trace.to_str().unwrap());
    let text = run(&["--at", "all"]).out;
    assert!(
        text.starts_with(
            "position  time           low          high\n       0     0             2             1\n"
        ),
        "{text}"
    );
}

#[test]
fn a_stream_settles_to_what_the_whole_trace_says() {
    for formula in ["F[0,1] x > 3", "x > 1 U[0,2] x > 4", "O[0,1] x > 3", "X x > 2", "G[0,1] F[0,1] x > 3"] {
        let whole = robust(formula, "--at all", TIMED);
        let stream = robust(formula, "--live exact", TIMED);
        assert_eq!(whole.out, stream.out, "{formula}");
    }
}

/// Long enough for what is settled to be forgotten.
#[test]
fn a_stream_out_of_order_is_sorted() {
    let sorted = robust("F[0,2] (x > 0)", "--live exact", "time,x\n0,1\n1,-2\n2,3\n3,-1\n");
    let skewed = robust("F[0,2] (x > 0)", "--live exact --sort 2s", "time,x\n1,-2\n0,1\n3,-1\n2,3\n");
    assert_eq!(skewed.out, sorted.out, "{}", skewed.err);
}

#[test]
fn a_long_stream_keeps_its_times() {
    let drive = "../../../../../examples/robustness/drive.csv";
    let formulas =
        "-e 'F[0,1] speed < 29' -e 'O[0,2] (throttle > 0.4)' -e 'speed > 28 U[1,3] throttle > 0.3'";
    let sorted = |run: Run| {
        assert_eq!(run.code, 0, "{run:?}");
        let mut lines: Vec<String> =
            run.out.lines().filter(|line| line.contains("\"robustness\"")).map(str::to_string).collect();
        lines.sort();
        lines
    };
    let whole = sorted(tracewise(&format!("robust {formulas} {drive} --output json --at all")));
    assert_eq!(whole.len(), 3 * 601);
    for what in ["exact", "interval"] {
        let stream = sorted(tracewise(&format!("robust {formulas} {drive} --output json --live {what}")));
        assert!(whole == stream, "{what}: {:?} {:?}", &whole[..3], &stream[..3]);
    }
    // One value with each sample, of its own time.
    let now =
        tracewise(&format!("robust -e 'F[0,1] speed < 29' {drive} --output json --predict hold")).json();
    assert_eq!(now.len(), 601);
    assert!(
        now.iter().enumerate().all(|(at, line)| line["position"] == at && line["time"] == at as f64 / 10.0
            || at % 10 == 0 && line["time"] == at / 10)
    );
}

#[test]
fn samples_out_of_order_wait_for_earlier_ones() {
    let mixed = "time,x\n0,1\n1,2\n0.5,4.5\n2.5,7\n";
    for (formula, what) in
        [("F[0,1] x > 3", "exact"), ("O[0,1] x > 3", "exact"), ("F[0,1] x > 3", "interval")]
    {
        let sorted = everywhere(formula, TIMED);
        let run = robust(formula, &format!("--sort 1s --live {what}"), mixed);
        near(&values_of(&run, "robustness"), &sorted);
    }
    let late = robust("F[0,1] x > 3", "--sort 100ms --live exact", mixed);
    assert_eq!(late.code, 2, "{late:?}");
    let error = &late.errors()[0]["error"];
    assert_eq!((&error["code"], &error["trace_line"]), (&json!("trace-time"), &json!(4)), "{error}");
}

#[test]
fn values_come_while_the_stream_is_open() {
    let mut child = command()
        .args(["robust", "-e", "G (x < 3)", "-", "--format", "csv", "--live", "exact", "--output", "json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    for (position, x) in [1, 5].into_iter().enumerate() {
        let head = if position == 0 { "time,x\n" } else { "" };
        writeln!(stdin, "{head}{position},{x}").unwrap();
        stdin.flush().unwrap();
        let line = lines.next().unwrap().unwrap();
        assert!(line.starts_with(&format!("{{\"position\":{position},\"time\":{position},")), "{line}");
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

#[test]
fn below_always_each_position_is_told_with_the_least_so_far() {
    let run = robust("G (x < 6)", "--live exact", TIMED);
    near(&values_of(&run, "robustness"), &[5.0, 1.5, 4.0, -1.0]);
    near(&values_of(&run, "minimum"), &[5.0, 1.5, 1.5, -1.0]);
    let stopped = robust("G (x < 4)", "--stop-on-negative", TIMED);
    assert_eq!(stopped.code, 0, "{stopped:?}");
    near(&values_of(&stopped, "robustness"), &[3.0, -0.5]);
    let text = tracewise_with("robust -e 'G (x < 4)' - --format csv --stop-on-negative", TIMED);
    assert_eq!(
        text.out,
        "✓ position 0, time 0: 3 (least so far 3)\n✗ position 1, time 0.5: -0.5 (least so far -0.5)\n"
    );
    assert!(text.err.starts_with("least value: -0.5 at position 1, time 0.5\n"), "{}", text.err);
    assert!(text.err.contains("stopped by the first negative value"), "{}", text.err);
}

#[test]
fn bounds_narrow_and_hold_the_value() {
    let formula = "G[0,1] x < 5";
    let exact = everywhere(formula, TIMED);
    let lines = robust(formula, "--live interval", TIMED).json();
    let number = |line: &Value, key: &str| match &line[key] {
        Value::String(text) if text == "inf" => INF,
        Value::String(text) if text == "-inf" => -INF,
        value => value.as_f64().unwrap(),
    };
    let mut before = vec![(-INF, INF); exact.len()];
    let mut bounded = 0;
    for line in lines.iter().filter(|line| line.get("lower").is_some()) {
        let at = line["position"].as_u64().unwrap() as usize;
        let (lower, upper) = (number(line, "lower"), number(line, "upper"));
        assert!(lower <= exact[at] && exact[at] <= upper, "{line}");
        assert!(before[at].0 <= lower && upper <= before[at].1, "{line}");
        before[at] = (lower, upper);
        bounded += 1;
    }
    assert!(bounded >= 4, "{lines:?}");
    let settled: Vec<f64> = lines
        .iter()
        .filter(|line| line.get("robustness").is_some())
        .map(|line| number(line, "robustness"))
        .collect();
    near(&settled, &exact);
    // The upper bound of `always` is the worst so far: it is negative long before the value is settled.
    let early = robust("G[0,100] x < 4", "--live interval --stop-on-negative", TIMED).json();
    let last = early.last().unwrap();
    assert_eq!((&last["position"], &last["upper"], &last["newest"]), (&json!(0), &json!(-0.5), &json!(1)));
}

#[test]
fn predictions_say_that_they_are() {
    let trace = "time,x\n0,1\n1,2\n2,3\n3,4\n";
    let now = |how: &str| robust("G[0,2] x < 5", &format!("--predict {how}"), trace);
    near(&values_of(&now("none"), "robustness"), &[4.0, 3.0, 2.0, 1.0]);
    near(&values_of(&now("hold"), "robustness"), &[4.0, 3.0, 2.0, 1.0]);
    // The first sample has no direction; from the second on x grows by 1 each second.
    near(&values_of(&now("linear"), "robustness"), &[4.0, 1.0, 0.0, -1.0]);
    assert_eq!(now("linear").json()[3]["predicted"], true);
    let stopped = robust("G[0,2] x < 4", "--predict linear --stop-on-negative", trace);
    near(&values_of(&stopped, "robustness"), &[3.0, 0.0, -1.0]);
    // What holds is worth the same however often it is looked at; a sample in time is there or not.
    near(&values_of(&robust("F[0.4,0.6] x > 0", "--predict hold", trace), "robustness"), &[-INF; 4]);
    let finer = robust("F[0.4,0.6] x > 0", "--predict hold --period 500ms", trace);
    near(&values_of(&finer, "robustness"), &[1.0, 2.0, 3.0, 4.0]);
    // Nothing of the past has to be predicted.
    assert_eq!(robust("O[0,2] x > 2", "--predict hold", trace).json()[0].get("predicted"), None);
}

#[test]
fn times_are_told_as_the_trace_writes_them() {
    let trace =
        "{\"time\":\"2026-03-02T09:00:01.5Z\",\"x\":1}\n{\"time\":\"2026-03-02T09:00:02Z\",\"x\":2}\n";
    for options in ["--at all", "--live exact"] {
        let run = tracewise_with(&format!("robust -e 'F[0,1] x > 0' - --output json {options}"), trace);
        assert_eq!(run.json()[0]["time"], "2026-03-02T09:00:01.5Z", "{options}");
    }
    let untimed = robust("F[0,1] p > 0", "--live exact", SIGNALS);
    assert_eq!(untimed.json()[0]["time"], Value::Null);
    near(&values_of(&untimed, "robustness"), &everywhere("F[0,1] p > 0", SIGNALS));
}

#[test]
fn signals_go_on_between_the_samples_if_asked() {
    let trace = "time,x\n0,0\n2,4\n4,0\n";
    let at = |options: &str| {
        values_of(&robust("F[0.5,1] x > 0", &format!("--at all {options}"), trace), "robustness")
    };
    near(&at(""), &[-INF, -INF, -INF]);
    near(&at("--interpolate step"), &[0.0, 4.0, -INF]);
    near(&at("--clock dense"), &[0.0, 4.0, -INF]);
    near(&at("--interpolate linear"), &[2.0, 3.0, -INF]);
    // The value 2 is that of no sample, so no sample is named.
    let linear = robust("F[0.5,1] x > 0", "--interpolate linear", trace).json().remove(0);
    assert_eq!((&linear["robustness"], linear.get("weakest")), (&json!(2.0), None));
    // What bends is read as what does not.
    let trace = "time,x\n0,-6\n1,6\n2,2\n";
    let value =
        |formula: &str| robust(formula, "--interpolate linear", trace).json()[0]["robustness"].clone();
    assert_eq!(value("F[0,1] abs(x) < 3"), json!(3.0));
    assert!(value("F[0,1] x == 1").as_f64().unwrap().abs() < 1e-12);
    assert_eq!(value("G (max(x, -x) >= 0)"), json!(0.0));
}

#[test]
fn what_cannot_be_computed_says_why() {
    let cases = [
        ("robust -e 'G y > 3' - --format csv", "unknown-name", "y"),
        ("robust -e 'G x > 3 -> F x > 5' - --format csv --live exact", "engine-refuses", "interval"),
        ("robust -e 'forall u. login(u)' - --format csv", "engine-refuses", "robustness"),
        ("robust -e 'G (x matches \"a\")' - --format csv --semantics ltl3", "engine-refuses", "ltl3"),
        ("robust -e 'F[0,1s] x > 1' - --format csv --clock index", "bad-interval", "positions"),
        ("robust -e 'x > 1' - --format csv --plot a.txt", "usage", ".svg or .png"),
        ("robust -e 'x > 1' - --format csv --live exact --plot a.svg", "usage", "--plot"),
        ("robust -e 'x > 1' - --format csv --live exact --predict hold", "usage", "--predict"),
        ("robust -e 'x > 1' - --format csv --period 1s", "usage", "--live"),
        ("robust -e 'x > 1' - --format csv --live now --predict hold --period 0s", "usage", "--period"),
        ("robust -e 'x > 1' - --format csv --predict linear --period 1s", "usage", "--predict hold"),
        ("robust -e 'x > 1' - --format csv --live exact --interpolate step", "usage", "--interpolate"),
        ("robust -e 'x > 1' - --format csv --live exact --clock dense", "usage", "--clock"),
        ("robust -e 'X x > 1' - --format csv --interpolate linear", "engine-refuses", "X"),
        (
            "robust -e 'F x * x == 1' - --format csv --interpolate linear",
            "engine-refuses",
            "product of signals",
        ),
        (
            "robust -e 'G abs(x * x) > 1' - --format csv --interpolate linear",
            "engine-refuses",
            "product of signals",
        ),
        ("robust -e 'x > 1' - --follow --format csv", "usage", "--follow"),
        ("robust -e 'x > 1' - --live-plot --format csv", "usage", "terminal"),
        ("robust -e 'x > 1' ab.csv good.jsonl --live exact", "usage", "one trace"),
        ("robust -e 'x > 1' --listen 127.0.0.1:0 ab.csv", "usage", "--listen"),
    ];
    for (line, code, word) in cases {
        let run = tracewise_with(&format!("{line} --output json"), TIMED);
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{line}: {run:?}");
        let error = &run.errors()[0]["error"];
        assert_eq!(error["code"], code, "{line}: {error}");
        assert!(run.err.contains(word), "{line}: {error}");
    }
    for options in ["", "--live exact"] {
        for (bad, line) in
            [("time,x\n0,1\n1,NaN\n", 3), ("time,x\n0,1\n1,inf\n", 3), ("time,x\n0,1\n1,abc\n", 3)]
        {
            let run = robust("G x > 3", options, bad);
            assert_eq!(run.code, 2, "{options} {bad}: {run:?}");
            assert_eq!(run.errors()[0]["error"]["trace_line"], line, "{options} {bad}: {}", run.err);
        }
        let empty = robust("G x > 3", options, "time,x\n");
        assert_eq!(empty.code, 2, "{empty:?}");
        assert!(empty.err.contains("no positions"), "{}", empty.err);
    }
    let queries = tracewise("robust -e 'max[x]' ab.csv");
    assert_eq!(queries.code, 2, "{queries:?}");
    assert_eq!(tracewise("robust").code, 2);
    assert_eq!(tracewise("robust -e 'x > 1' no-such.csv").code, 2);
}

#[test]
fn bad_lines_of_a_stream_can_be_left_out() {
    let trace = "time,x\n0,1\n1,NaN\n2,5\n";
    let run = robust("x > 3", "--live exact --skip-bad-lines", trace);
    near(&values_of(&run, "robustness"), &[-2.0, 2.0]);
    assert_eq!(run.errors()[0]["error"]["trace_line"], 3, "{}", run.err);
}

#[test]
fn a_picture_has_signals_bounds_and_the_weakest_sample() {
    let folder = directory("robust-plot");
    let (svg, png) = (folder.join("p.svg"), folder.join("p.png"));
    for file in [&svg, &png] {
        let run = finish(
            command().args(["robust", "-e", "G (x < 6)", "-", "--format", "csv", "--plot"]).arg(file),
            TIMED,
        );
        assert_eq!(run.code, 0, "{run:?}");
    }
    let picture = std::fs::read_to_string(&svg).unwrap();
    for part in ["x &lt; 6", "class=\"band\"", "class=\"mark\"", "class=\"ring\"", "robustness", "time (s)"] {
        assert!(picture.contains(part), "{part}");
    }
    assert!(std::fs::read(&png).unwrap().starts_with(b"\x89PNG"));
}

/// Each value of a column is worth what its own rows alone are worth.
#[test]
fn each_key_is_worth_what_it_is_alone() {
    let rows = [(0, "a", 4), (1, "b", 9), (2, "a", -1), (2, "", 7), (3, "b", 2), (5, "a", 3), (9, "b", 8)];
    let all: String = rows
        .iter()
        .fold("time,run,x\n".to_string(), |text, (time, run, x)| text + &format!("{time},{run},{x}\n"));
    let formula = "G[0,4] (x > 1) & F x > 3";
    let run = robust(formula, "--by run", &all);
    let found = run.json();
    assert_eq!(found.len(), 2, "{run:?}");
    let whole = robust(formula, "--by run --at all", &all).json();
    assert_eq!(whole.len(), 6);
    for (key, line) in ["a", "b"].iter().zip(&found) {
        let own: Vec<_> = rows.iter().enumerate().filter(|(_, row)| row.1 == *key).collect();
        let alone: String = own
            .iter()
            .fold("time,x\n".to_string(), |text, (_, (time, _, x))| text + &format!("{time},{x}\n"));
        let expected = robust(formula, "--at all", &alone).json();
        assert_eq!(line["by"], json!({"run": key}));
        assert_eq!((&line["robustness"], &line["position"]), (&expected[0]["robustness"], &json!(own[0].0)));
        let mine: Vec<&Value> = whole.iter().filter(|line| line["by"]["run"] == **key).collect();
        let values =
            |lines: &[&Value]| lines.iter().map(|line| line["robustness"].clone()).collect::<Vec<_>>();
        assert_eq!(values(&mine), values(&expected.iter().collect::<Vec<_>>()));
        assert_eq!(
            mine.iter().map(|line| line["position"].clone()).collect::<Vec<_>>(),
            own.iter().map(|(at, _)| json!(at)).collect::<Vec<_>>()
        );
        assert_eq!(mine[0]["time"], json!(own[0].1.0));
    }
    let text = tracewise_with(&format!("robust -e '{formula}' - --format csv --by run"), &all);
    assert!(text.out.contains("run = a") && text.out.contains("2 values of run"), "{}", text.out);
}

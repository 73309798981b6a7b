//! Streams: what is written, where they are used, and what is refused.

use crate::common::{Run, tracewise, tracewise_with};
use crate::shared::directory;
use serde_json::{Value, json};

fn with(test: &str, spec: &str) -> String {
    let file = directory(test).join("spec.tw");
    std::fs::write(&file, spec).expect("a scratch file");
    file.display().to_string()
}

/// What a stream is at each position of a column `x`.
fn values(test: &str, spec: &str, stream: &str, input: &str) -> Vec<Value> {
    let spec = with(test, spec);
    let run = tracewise_with(&format!("stream run {spec} - --format csv --output json"), input);
    assert_eq!(run.code, 0, "{}", run.err);
    run.json().iter().map(|row| row[stream].clone()).collect()
}

fn rows(bits: &str) -> String {
    bits.chars().fold("x\n".to_string(), |rows, bit| rows + if bit == '1' { "true\n" } else { "false\n" })
}

fn bits(values: &[Value]) -> String {
    values.iter().map(|value| if *value == json!(true) { '1' } else { '0' }).collect()
}

#[test]
fn the_papers_examples() {
    let first = "stream y: bool = if x then x else x[+1|false];";
    for (input, output) in [("01", "11"), ("0101", "1111"), ("010101", "111111")] {
        assert_eq!(bits(&values("streams-1", first, "y", &rows(input))), output);
    }
    let third = "stream y: bool = if x then x[+2|false] else x[-2|false];";
    for (input, output) in [
        ("1", "0"),
        ("01", "00"),
        ("100", "001"),
        ("101", "100"),
        ("110", "001"),
        ("111", "100"),
        ("0101", "0100"),
        ("1011", "1000"),
        ("1100", "0011"),
        ("1101", "0110"),
        ("1110", "1001"),
        ("1111", "1100"),
        ("110010", "001100"),
    ] {
        assert_eq!(bits(&values("streams-3", third, "y", &rows(input))), output, "{input}");
    }
}

#[test]
fn constants_elsewhere_say_where_the_trace_ends() {
    let spec = "stream y: bool = false[-2|true] | true[+1|false] & x;";
    assert_eq!(bits(&values("streams-ends", spec, "y", &rows("01010"))), "11010");
    let (code, found) = analysed("streams-ends", spec);
    assert_eq!((code, &found["well_defined"], &found["look_ahead"]), (0, &json!(true), &json!(1)));
}

#[test]
fn streams_are_columns_everywhere() {
    let spec = "stream n: int = n[-1|0] + 1; stream even: bool = n % 2 == 0;
        property few : G (n <= 3); property both : G (even -> Y !even); query most : max[true : n];";
    let spec = with("streams-everywhere", spec);
    let input = "x\n1\n2\n3\n4\n";
    let checked = tracewise_with(&format!("check {spec} - --format csv --output json"), input).json();
    assert_eq!((&checked[0]["verdict"], &checked[0]["position"]), (&json!("violated"), &json!(3)));
    assert_eq!(checked[1]["verdict"], json!("satisfied"));
    let asked = tracewise_with(&format!("query {spec} - --format csv --output json"), input).json();
    assert_eq!(asked[0]["value"], json!(4));
    let watched = tracewise_with(&format!("watch {spec} - --format csv --output json"), input).json();
    assert_eq!((&watched[0]["property"], &watched[0]["position"]), (&json!("few"), &json!(3)));
    let robust = tracewise_with(&format!("robust {spec} - --format csv --output json --only few"), input);
    assert_eq!(robust.json()[0]["robustness"].as_f64(), Some(-1.0), "{}", robust.err);
}

#[test]
fn a_value_elsewhere_in_a_property() {
    let run = tracewise_with("check -e 'G (x >= x[-1|0])' - --format csv --output json", "x\n1\n2\n1\n");
    assert_eq!((run.code, &run.json()[0]["position"]), (1, &json!(2)), "{}", run.err);
}

#[test]
fn instances_by_key_and_triggers() {
    let spec = "stream n: int = n[-1|0] + 1 by user; trigger many \"too many\" : n > 2;";
    let spec = with("streams-keys", spec);
    let input = "user\na\nb\na\n\na\n";
    let run = tracewise_with(&format!("check {spec} - --format csv --output json"), input);
    let found = &run.json()[0];
    assert_eq!(
        (run.code, &found["property"], &found["position"]),
        (1, &json!("many"), &json!(4)),
        "{}",
        run.err
    );
    let run = tracewise_with(&format!("stream run {spec} - --format csv --output csv"), input);
    assert_eq!(run.out, "position,n\n0,1\n1,1\n2,2\n3,\n4,3\n");
}

#[test]
fn a_watch_goes_on_where_it_stopped() {
    let scratch = directory("streams-resume");
    let spec = with("streams-resume", "stream n: int = n[-1|0] + 1; property few : G (n <= 5);");
    let (log, state) = (scratch.join("log.csv"), scratch.join("state"));
    std::fs::write(&log, "x\n1\n1\n1\n").expect("a scratch file");
    let line =
        format!("watch {spec} {} --checkpoint {} --resume --output json", log.display(), state.display());
    assert_eq!(tracewise(&line).code, 0);
    std::fs::write(&log, "x\n1\n1\n1\n1\n1\n1\n").expect("a scratch file");
    let run = tracewise(&line);
    let told: Vec<Value> =
        run.json().into_iter().filter(|line| line["verdict"] == json!("violated")).collect();
    assert_eq!((run.code, &told[0]["position"]), (1, &json!(5)), "{}", run.err);
}

/// Position and line of every violation.
fn violations(run: &Run) -> Vec<(Value, Value)> {
    let lines = run.json().into_iter().filter(|line| line["verdict"] == json!("violated"));
    lines.map(|line| (line["failed"].clone(), line["position"].clone())).collect()
}

#[test]
fn live_streams_look_ahead() {
    // Each position is told when the second after it is there; at the end the defaults stand in.
    let spec = with(
        "streams-live-ahead",
        "stream rise: int = x[+2|0] - x; stream n: int = n[-1|0] + (if last then 10 else 1); property p : G (rise <= 3); \
         property q : G (n <= 5);",
    );
    let rows = "x\n1\n2\n3\n9\n4\n5\n";
    let run = tracewise_with(&format!("watch {spec} - --format csv --each-position --output json"), rows);
    let told: Vec<(Value, Value)> = run
        .json()
        .into_iter()
        .filter(|line| line["property"] == json!("p"))
        .map(|line| (line["position"].clone(), line["verdict"].clone()))
        .collect();
    let expected = ["satisfied", "violated", "satisfied", "satisfied", "satisfied", "satisfied"];
    let expected: Vec<(Value, Value)> =
        expected.iter().enumerate().map(|(at, verdict)| (json!(at), json!(verdict))).collect();
    assert_eq!(told, expected, "{}{}", run.out, run.err);
    let stored = tracewise_with(&format!("check {spec} - --format csv --output json"), rows);
    let live = tracewise_with(&format!("watch {spec} - --format csv --output json"), rows);
    assert_eq!((stored.code, live.code), (1, 1), "{}", live.err);
    assert!(violations(&live).len() >= 2, "{}", live.out);
}

#[test]
fn live_streams_are_in_order() {
    // Lines out of order are put in order before equations see them, and these may read the time.
    let text = "stream gap: real = if first then 0 else elapsed; stream late: real = time - x; \
                stream n: int = n[-1|0] + 1; property p : G (gap <= 2 & late >= 0 & late <= 1 & n <= 4);";
    let spec = with("streams-live-order", text);
    let sorted = "time,x\n1,1\n2,2\n3,2\n4,4\n7,7\n";
    let mixed = "time,x\n2,2\n1,1\n4,4\n3,2\n7,7\n";
    let stored = tracewise_with(&format!("check {spec} - --format csv --output json"), sorted);
    assert_eq!(stored.code, 1, "{}", stored.err);
    for (rows, sort) in [(sorted, ""), (mixed, "--sort 2s")] {
        let run = tracewise_with(&format!("watch {spec} - --format csv {sort} --output json"), rows);
        let found = violations(&run);
        assert_eq!((run.code, found.len()), (1, 1), "{sort}: {}{}", run.out, run.err);
        assert_eq!(found[0].1, json!(4), "{sort}: {}", run.out);
    }
}

#[test]
fn a_watch_that_looks_ahead_goes_on_where_it_stopped() {
    let scratch = directory("streams-resume-ahead");
    let spec = with(
        "streams-resume-ahead",
        "stream n: int = n[-1|0] + x[+2|0]; property few : G (n <= 5); property all : G (x <= 1);",
    );
    let (log, state) = (scratch.join("log.csv"), scratch.join("state"));
    let line = |more: &str| format!("watch {spec} {} {more} --output json", log.display());
    let kept = line(&format!("--checkpoint {} --resume", state.display()));
    std::fs::write(&log, "x\n1\n1\n1\n").expect("a scratch file");
    assert_eq!(tracewise(&kept).code, 0);
    std::fs::write(&log, "x\n1\n1\n1\n1\n1\n1\n1\n1\n1\n").expect("a scratch file");
    let (again, whole) = (tracewise(&kept), tracewise(&line("")));
    let found = |run: &Run| {
        let lines = run.json().into_iter().filter(|line| line["property"] == json!("few"));
        lines.filter(|line| line["verdict"] == json!("violated")).map(|line| line["position"].clone()).next()
    };
    assert_eq!((again.code, found(&again)), (1, Some(json!(5))), "{}{}", again.out, again.err);
    assert_eq!(found(&again), found(&whole), "{}", whole.out);
}

#[test]
fn bad_streams_are_told() {
    for (spec, code, said) in [
        ("stream y: int = y + 1;", "zero-cycle", "its own value"),
        ("stream y: bool = x & y;", "trace-type", "several models, which first differ at position 0"),
        ("stream y: bool = x & !y;", "trace-type", "no model"),
        ("stream a: int = b; stream b: int = a;", "zero-cycle", "each other"),
        ("stream y: bool = x[0|false];", "bad-offset", "write `x` alone"),
        ("stream y: int = y[-1|false] + 1;", "default-type", "`y[-1|0]`"),
        ("stream y: bool = G x;", "temporal-in-stream", "x[-1|false]"),
        ("stream y: bool = x; observe z;", "unknown-stream", "there is no stream `z`"),
        ("stream x: bool = true;", "ambiguous-name", "rename the stream"),
        ("stream y: int = \"a\";", "type-mismatch", "a number"),
        ("stream y: int = n;", "trace-type", "declared `int`"),
        ("stream y: int = 9223372036854775807 + n;", "trace-type", "overflows"),
    ] {
        let file = with("streams-bad", spec);
        let n = if spec.contains("overflow") || spec.contains("9223") {
            "x,n\ntrue,1\n"
        } else {
            "x,n\ntrue,1.5\n"
        };
        let run = tracewise_with(&format!("stream run {file} - --format csv"), n);
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{spec}: {}", run.out);
        assert!(run.err.contains(code) && run.err.contains(said), "{spec}: {}", run.err);
    }
    let ahead = with("streams-ahead", "stream y: bool = y[+1|false] | x; property p : G y;");
    let run = tracewise_with(&format!("watch {ahead} - --format csv"), "x\ntrue\n");
    assert!(run.code == 2 && run.err.contains("look ahead without a bound"), "{}", run.err);
    let ahead = with("streams-beat", "stream y: bool = x[+1|false]; property p : G y;");
    let run = tracewise_with(&format!("watch {ahead} - --format csv --heartbeat 1s"), "time,x\n1,true\n");
    assert!(run.code == 2 && run.err.contains("positions wait"), "{}", run.err);
    let file = with("streams-none", "property p : G x;");
    assert!(
        tracewise_with(&format!("stream run {file} - --format csv"), "x\ntrue\n").err.contains("no stream")
    );
    let file = with("streams-only", "stream y: bool = x;");
    let run = tracewise_with(&format!("check {file} - --format csv"), "x\ntrue\n");
    assert!(run.code == 2 && run.err.contains("no property"), "{}", run.err);
}

/// A specification of the paper, and what analysis says of it.
fn analysed(test: &str, spec: &str) -> (i32, Value) {
    let run = tracewise(&format!("stream analyse {} --output json", with(test, spec)));
    (run.code, run.json().remove(0))
}

const THIRD: &str =
    "stream y: bool = if (first -> (x & y)) & (y -> !y[+1|false]) & (!y -> (x[+1|true] & y[+1|true]))
    then y else !y;";

#[test]
fn the_papers_examples_are_analysed() {
    let (code, found) = analysed("streams-a1", "stream y: bool = x & y;");
    assert_eq!((code, &found["under_defined"], &found["over_defined"]), (1, &json!(true), &json!(false)));
    let witness =
        json!({"kind": "two models", "input": [{"x": true}], "models": [[{"y": false}], [{"y": true}]]});
    assert_eq!(
        (&found["witnesses"][0], &found["alternation"], &found["online"]),
        (&witness, &json!(null), &json!(null))
    );
    let (code, found) = analysed("streams-a2", "stream y: bool = x & !y;");
    assert_eq!((code, &found["under_defined"], &found["over_defined"]), (1, &json!(false), &json!(true)));
    assert_eq!(found["witnesses"], json!([{"kind": "no model", "input": [{"x": true}], "models": []}]));
    let (code, found) = analysed("streams-a3", "stream y: bool = if x then x[+2|false] else x[-2|false];");
    assert_eq!((code, &found["well_formed"], &found["well_defined"]), (0, &json!(true), &json!(true)));
    let look = (&found["alternation"], &found["online"], &found["look_ahead"], &found["witnesses"]);
    assert_eq!(look, (&json!(0), &json!(true), &json!(2), &json!([])));
    let (code, found) = analysed("streams-a4", "stream n: int = n[-1|0] + (if last then 1 else 2);");
    assert_eq!((code, &found["look_ahead"], &found["online"]), (0, &json!(1), &json!(true)));
}

/// Of what is not well-formed the cycle is shown: the streams on it alone, and what each reads of the next.
#[test]
fn zero_cycles_are_shown() {
    let step = |stream: &str, offset: i64| json!({"stream": stream, "offset": offset});
    // `z` depends on `y`, which depends on itself without `z`.
    let beside = "stream y: bool = y & z[-1|false]; stream z: bool = y | x;";
    let (_, found) = analysed("streams-walk", beside);
    assert_eq!((&found["cycle"], &found["walk"]), (&json!(["y"]), &json!([step("y", 0)])));
    assert_eq!(
        found["reason"],
        json!("two passes for 2 of 2 streams, which are on cycles of weight 0 or between them")
    );
    // Directions that make up for each other.
    let both = "stream y: bool = y[-2|false] ^ y[+3|true] ^ x;";
    let (_, found) = analysed("streams-walk", both);
    let offsets: Vec<i64> =
        found["walk"].as_array().expect("a list").iter().filter_map(|step| step["offset"].as_i64()).collect();
    assert_eq!((&found["cycle"], offsets.len(), offsets.iter().sum::<i64>()), (&json!(["y"]), 5, 0));
    let text = tracewise(&format!("stream analyse {}", with("streams-walk", both))).out;
    let first = text.lines().next().unwrap_or_default();
    assert!(
        first.starts_with("not well-formed: `y` depends on itself at the same position, through `y["),
        "{text}"
    );
    assert_eq!((first.matches("`y[-2]`").count(), first.matches("`y[+3]`").count()), (3, 2), "{text}");
    // Walks that are too long to write are two that make up for each other.
    let (_, found) = analysed("streams-walk", "stream y: bool = y[-200000|false] ^ y[+300001|true];");
    assert_eq!(found["walk"], json!([step("y", -200_000), step("y", 300_001)]));
    // Of what is not Boolean it is an error.
    let numbers = "stream k: int = k[-1|0] + 1; stream n: int = m[-1|0] + k; stream m: int = n[+1|0];";
    let run = tracewise(&format!("stream analyse {}", with("streams-walk", numbers)));
    assert_eq!(run.code, 2);
    assert!(
        run.err.contains("the streams `n`, `m` are defined by each other at the same position, through"),
        "{}",
        run.err
    );
    assert!(run.err.contains("`m[-1]`") && run.err.contains("`n[+1]`"), "{}", run.err);
    let (_, found) =
        analysed("streams-walk", "stream y: bool = y[-1|false] | x; stream z: bool = z[+1|false] & y;");
    assert_eq!(
        (&found["reason"], &found["walk"]),
        (&json!("2 passes: the equations are well-formed and alternate"), &Value::Null)
    );
}

#[test]
fn inputs_that_the_third_example_accepts() {
    let spec = with("streams-third", THIRD);
    for (count, len) in [(1, 1), (2, 2), (2, 3), (4, 4), (4, 5), (8, 6)] {
        let accepted = (0..1 << len).filter(|word| {
            let bits: String = (0..len).map(|at| if word >> at & 1 == 1 { '1' } else { '0' }).collect();
            let run =
                tracewise_with(&format!("stream accepts {spec} - --format csv --output json"), &rows(&bits));
            assert_eq!(run.json()[0]["answer"] == json!(true), run.code == 0, "{}", run.err);
            for passes in ["", "--passes two"] {
                let ran = tracewise_with(&format!("stream run {spec} - --format csv {passes}"), &rows(&bits));
                assert_eq!(ran.code, if run.code == 0 { 0 } else { 2 }, "{bits} {passes}: {}", ran.err);
            }
            run.code == 0
        });
        assert_eq!(accepted.count(), count, "{len}");
    }
}

#[test]
fn questions_about_specifications() {
    let all = with("streams-all", "stream y: bool = x;");
    let odd = with("streams-odd", THIRD);
    for (question, code, answer) in [
        (format!("universal {all}"), 0, json!(true)),
        (format!("universal {odd}"), 1, json!(false)),
        (format!("empty {odd}"), 1, json!(false)),
        (format!("includes {all} {odd}"), 0, json!(true)),
        (format!("includes {odd} {all}"), 1, json!(false)),
        (format!("equal {all} {all} --on y"), 0, json!(true)),
        (format!("equal {all} {odd}"), 1, json!(false)),
        (format!("universal {odd} --states 1"), 3, json!(null)),
    ] {
        let run = tracewise(&format!("stream {question} --output json"));
        assert_eq!((run.code, &run.json()[0]["answer"]), (code, &answer), "{question}: {}", run.err);
    }
    let run = tracewise(&format!("stream equal {all} {odd} --on z"));
    assert!(run.code == 2 && run.err.contains("no stream `z`"), "{}", run.err);
    let number = with("streams-number", "stream y: int = 1;");
    let run = tracewise(&format!("stream universal {number}"));
    assert!(run.code == 2 && run.err.contains("not-boolean"), "{}", run.err);
}

/// The words of `len` positions that a specification accepts.
fn accepted(spec: &str, len: usize) -> Vec<String> {
    let word = |number: usize| {
        (0..len).map(|at| if number >> (len - 1 - at) & 1 == 1 { '1' } else { '0' }).collect()
    };
    let words: Vec<String> = (0..1 << len).map(word).collect();
    let accepts = |word: &String| {
        let run = tracewise_with(&format!("stream accepts {spec} - --format csv"), &rows(word));
        assert!(run.code < 2, "{}", run.err);
        run.code == 0
    };
    words.into_iter().filter(accepts).collect()
}

/// A specification of the inputs on which a formula about one position holds everywhere.
fn demands(formula: &str) -> String {
    format!("stream c: bool = if {formula} then c else !c;\n")
}

#[test]
fn languages_are_combined() {
    let scratch = directory("streams-algebra");
    let file = |name: &str| scratch.join(name).display().to_string();
    let write = |name: &str, text: &str| {
        std::fs::write(file(name), text).expect("a scratch file");
        file(name)
    };
    let ones = write("ones.tw", &demands("x"));
    let zeros = write("zeros.tw", &demands("!x"));
    let ten = write("ten.tw", &demands("(first -> (x & !last)) & (!first -> (!x & last))"));
    let made = |line: String| {
        let out = file("made.tw");
        let run = tracewise(&format!("stream {line} -o {out}"));
        assert_eq!(run.code, 0, "{line}: {}", run.err);
        out
    };
    let union = made(format!("union {ones} {zeros}"));
    assert_eq!([1, 2, 3].map(|len| accepted(&union, len).join(" ")), ["0 1", "00 11", "000 111"]);
    let concat = made(format!("concat {ones} {zeros}"));
    assert_eq!([1, 2, 3].map(|len| accepted(&concat, len).join(" ")), ["", "10", "100 110"]);
    let plus = made(format!("plus {ten}"));
    assert_eq!([1, 2, 3, 4].map(|len| accepted(&plus, len).join(" ")), ["", "10", "", "1010"]);
    let reverse = made(format!("reverse {ten}"));
    assert_eq!(accepted(&reverse, 2), ["01"]);
    let both = made(format!("intersect {ones} {plus}"));
    assert!(accepted(&both, 2).is_empty());
    for form in ["json", "hoa"] {
        let automaton = file("ten.automaton");
        let run = tracewise(&format!("stream to-automaton {ten} --output {form} -o {automaton}"));
        assert_eq!(run.code, 0, "{}", run.err);
        let back = made(format!("from-automaton {automaton}"));
        assert_eq!([1, 2].map(|len| accepted(&back, len).join(" ")), ["", "10"]);
    }
    let until = made("from-ltl 'x U !x' --accept".into());
    assert_eq!(accepted(&until, 2), ["00", "01", "10"]);
    let run = tracewise("stream from-ltl 'F[0,5] x'");
    assert!(run.code == 2 && run.err.contains("without intervals"), "{}", run.err);
}

/// What a run keeps is told before there is one: of each stream, per key, and of columns that are read elsewhere.
#[test]
fn memory_is_told_before_a_run() {
    let spec = "stream n: int = n[-1|0] + 1 by user; stream far: real = x[-3|0] + n + x[-1|0]; stream soon: real = far[+2|0];";
    let (code, found) = analysed("streams-memory", spec);
    assert_eq!((code, &found["look_ahead"]), (0, &json!(2)));
    let memory = found["memory"].as_array().expect("a list").clone();
    let row = |name: &str| memory.iter().find(|row| row["name"] == json!(name)).expect("a row").clone();
    assert_eq!(
        (&row("n")["by"], &row("n")["look_back"], &row("n")["type"]),
        (&json!("user"), &json!(1), &json!("int"))
    );
    assert_eq!((&row("far")["look_ahead"], &row("soon")["look_ahead"]), (&json!(0), &json!(2)));
    assert_eq!((&row("x")["look_back"], &row("x")["type"]), (&json!(3), &Value::Null));
    // Three values back and one back are kept apart.
    let one = row("n")["bytes"].as_u64().expect("a number");
    assert_eq!(row("x")["bytes"], json!(4 * one));
    let sum: u64 = memory.iter().map(|row| row["bytes"].as_u64().expect("a number")).sum();
    assert_eq!(found["state_bytes"], json!(sum));
    let text = tracewise(&format!("stream analyse {}", with("streams-memory", spec))).out;
    assert!(text.contains(&format!("{one} per user")), "{text}");
    // Boolean streams keep bits; what depends on all that follows keeps the trace.
    let (_, found) = analysed("streams-memory", "stream y: bool = y[-70|false] | x;");
    let memory = found["memory"].as_array().expect("a list");
    assert_eq!(
        (&memory[0]["name"], &memory[0]["look_back"], &memory[0]["bytes"]),
        (&json!("y"), &json!(70), &json!(16))
    );
    let sum: u64 = memory.iter().map(|row| row["bytes"].as_u64().expect("a number")).sum();
    assert_eq!(found["state_bytes"], json!(sum));
    let (_, found) = analysed("streams-memory", "stream y: int = y[+1|0] + 1;");
    assert_eq!((&found["state_bytes"], &found["memory"][0]["bytes"]), (&Value::Null, &Value::Null));
    let text =
        tracewise(&format!("stream analyse {}", with("streams-memory", "stream y: int = y[+1|0] + 1;"))).out;
    assert!(text.contains("the whole trace is kept"), "{text}");
}

/// Live values are those of the stored trace, in every form; alarms stand beside the text.
#[test]
fn live_positions_are_those_of_the_stored_trace() {
    let spec = "stream n: int = n[-1|0] + x; stream big: bool = n > 3; stream word: string = if big then \"a,b\" else s;
        trigger much \"too much\" : n > 5; property low : G (x < 3); property later : G (big -> F !big);";
    let spec = with("streams-live", spec);
    let input = "x,s\n1,u\n2,\n3,v\n";
    for form in ["json", "csv"] {
        let line = format!("stream run {spec} - --format csv --output {form}");
        let (stored, live) = (tracewise_with(&line, input), tracewise_with(&format!("{line} --live"), input));
        assert_eq!((live.code, &live.out), (0, &stored.out), "{}", live.err);
        assert!(live.err.contains("`later` looks at more than one position"), "{}", live.err);
    }
    let live = tracewise_with(&format!("stream run {spec} - --format csv --live"), input);
    let lines: Vec<&str> = live.out.lines().collect();
    assert_eq!(lines.len(), 4, "{}", live.out);
    assert!(
        lines[0].trim_start().starts_with("position") && lines[2].trim_end().ends_with("false"),
        "{}",
        live.out
    );
    assert!(lines[3].ends_with("a,b  ✗ much  ✗ low"), "{}", live.out);
    // Bad lines, traces without positions, what looks ahead, and options that do not go together.
    let bad =
        tracewise_with(&format!("stream run {spec} - --format csv --live --output json"), "x,s\n1,u\nq,v\n");
    assert_eq!((bad.code, bad.out.lines().count()), (2, 1), "{bad:?}");
    assert!(bad.err.contains(":3:"), "{}", bad.err);
    let skipped = tracewise_with(
        &format!("stream run {spec} - --format csv --live --output csv --skip-bad-lines"),
        "x,s\n1,u\nq,v\n1,w\n",
    );
    assert_eq!((skipped.code, skipped.out.lines().last()), (0, Some("1,2,false,w")), "{skipped:?}");
    assert_eq!(tracewise_with(&format!("stream run {spec} - --format csv --live"), "x,s\n").code, 2);
    let ahead = with("streams-live-ahead", "stream y: int = x[+1|0];");
    let line = format!("stream run {ahead} - --format csv --live --output csv");
    let found = tracewise_with(&line, "x\n1\n2\n3\n");
    assert_eq!((found.code, found.out.as_str()), (0, "position,y\n0,2\n1,3\n2,0\n"), "{}", found.err);
    let unbounded = with("streams-live-unbounded", "stream y: int = y[+1|0] + x;");
    let refused = tracewise_with(&format!("stream run {unbounded} - --format csv --live"), "x\n1\n");
    assert_eq!((refused.code, refused.out.as_str()), (2, ""));
    assert!(refused.err.contains("look ahead without a bound"), "{}", refused.err);
    assert_eq!(tracewise(&format!("stream run {spec} t.csv --live --passes two")).code, 2);
    assert_eq!(tracewise(&format!("stream run {spec} - --live --follow")).code, 2);
    assert_eq!(tracewise(&format!("stream run {spec} t.csv --follow")).code, 2);
}

#[test]
fn live_streams_read_timestamps() {
    let input = "time,p,x\n0,1,2\n1.5,1,\n2,0,3\n2,1,1\n7,1,4\n";
    for (name, equations) in [
        ("window", "stream w: int = count[p over 2s]; stream m: real = avg[x over 2s];"),
        ("time", "stream t: real = time; stream e: real = elapsed + e[-1|0];"),
        ("ahead", "stream w: int = count[p over 2s]; stream coming: int = w[+1|9];"),
        ("interval", "stream c: int = count[O[0,2] p over 3];"),
        (
            "property",
            "stream y: bool = p; trigger late : y & elapsed > 1; property short : G (count[y over 2s] < 3);",
        ),
    ] {
        let line = format!(
            "stream run {} - --format csv --output json",
            with(&format!("live-times-{name}"), equations)
        );
        let (stored, live) = (tracewise_with(&line, input), tracewise_with(&format!("{line} --live"), input));
        assert_eq!((stored.code, live.code), (0, 0), "{}{}", stored.err, live.err);
        assert_eq!(live.out, stored.out, "{name}");
        assert_eq!(live.out.lines().count(), 5, "{name}");
    }
    let line =
        format!("stream run {} - --format csv --live", with("live-times-none", "stream t: real = time;"));
    let refused = tracewise_with(&line, "p\n1\n");
    assert_eq!((refused.code, refused.out.as_str()), (2, ""));
    assert!(refused.err.contains("this trace has none"), "{}", refused.err);
}

/// Where the key is null a stream has no value, whatever its type; as a condition null is false.
#[test]
fn without_a_key_there_is_no_value() {
    let streams = "stream n: int = 1 by k; stream b: bool = p by k; stream c: bool = !b[-1|true] by j; stream a: bool = b;
        stream d: bool = p[-1|true] by k; trigger none : !b;";
    let input = "k,j,p\nu,1,1\n,1,1\nu,,0\n,,1\nv,1,1\n";
    let expected = "position,n,b,c,a,d\n0,1,true,false,true,true\n1,,,false,false,\n2,1,false,,false,true\n3,,,,false,\n4,1,true,true,true,true\n";
    let line = format!("stream run {} - --format csv --output csv", with("streams-no-key", streams));
    let (stored, live) = (tracewise_with(&line, input), tracewise_with(&format!("{line} --live"), input));
    assert_eq!((stored.code, live.code), (0, 0), "{}{}", stored.err, live.err);
    assert_eq!((stored.out.as_str(), live.out.as_str()), (expected, expected));
    // What looks ahead is computed as a whole, and waits when it is followed.
    let ahead = with("streams-no-key-ahead", &format!("{streams} stream z: bool = p[+1|false];"));
    let line = format!("stream run {ahead} - --format csv --output json");
    let (stored, live) = (tracewise_with(&line, input), tracewise_with(&format!("{line} --live"), input));
    assert_eq!((stored.code, live.code), (0, 0), "{}{}", stored.err, live.err);
    assert_eq!(live.out, stored.out);
    assert!(stored.out.contains(r#"{"position":1,"n":null,"b":null,"c":false"#), "{}", stored.out);
}

/// A window of positions has a bound; one of time has none but the number of events in it, and says so.
#[test]
fn windows_are_counted_in_the_memory() {
    let spec = "stream m: real = avg[x over 10s]; stream c: int = count[x > 1 over 100]; stream s: real = m - m[-1|0];";
    let (_, found) = analysed("streams-windows", spec);
    let memory = found["memory"].as_array().expect("a list");
    let window = |text: &str| memory.iter().find(|row| row["name"] == json!(text)).expect("a row");
    let (timed, counted) = (window("avg[x over 10s]"), window("count[x > 1 over 100]"));
    assert_eq!((&timed["bytes"], &found["state_bytes"]), (&Value::Null, &Value::Null));
    assert!(timed["bytes_per_event"].as_u64().is_some_and(|bytes| bytes > 0));
    // Eight bytes of each of a hundred positions, and the room to grow into.
    let bytes = counted["bytes"].as_u64().expect("a number");
    assert!((800..4000).contains(&bytes) && counted["look_back"] == json!(99), "{counted}");
    let text = tracewise(&format!("stream analyse {}", with("streams-windows", spec))).out;
    assert!(
        text.contains("for every event within the windows of time") && text.contains("per event inside"),
        "{text}"
    );
    let (_, found) = analysed("streams-windows", "stream c: int = count[x > 1 over 100];");
    assert!(found["state_bytes"].as_u64().is_some_and(|state| state >= bytes));
    // The next position of a key may never come: such streams are not live, and keep the whole trace.
    let (_, found) = analysed("streams-windows", "stream n: int = x[+1|0] by user;");
    assert_eq!((&found["online"], &found["look_ahead"]), (&json!(false), &Value::Null));
    assert_eq!((&found["state_bytes"], found["memory"].as_array().map(Vec::len)), (&Value::Null, Some(2)));
    let text = tracewise(&format!(
        "stream analyse {}",
        with("streams-windows", "stream y: int = y[+1|0] + x[-1|0];")
    ))
    .out;
    assert!(text.contains(": 1 pass\n") && text.contains("the whole trace is kept"), "{text}");
}

/// Streams that are hidden by a column, or have no model, print nothing, and say where.
#[test]
fn nothing_is_printed_that_is_no_value() {
    let scratch = directory("streams-hidden");
    let spec = with("streams-hidden", "stream y: int = y[-1|0] + 1;");
    for (name, rows) in [("t.csv", "x,y\n1,2\n2,3\n"), ("t.jsonl", "{\"x\":1,\"y\":2}\n{\"x\":2,\"y\":3}\n")]
    {
        let trace = scratch.join(name);
        std::fs::write(&trace, rows).expect("a scratch file");
        for more in ["", "--live", "--live --output json", "--output json", "--output csv"] {
            let run = tracewise(&format!("stream run {spec} {} {more}", trace.display()));
            assert_eq!((run.code, run.out.as_str()), (2, ""), "{name} {more}: {}", run.err);
            assert!(run.err.contains("rename the stream"), "{name} {more}: {}", run.err);
        }
    }
    let spec = with("streams-hidden", "stream y: bool = x & !y; stream z: bool = z[-1|false] | x;");
    let trace = scratch.join("model.csv");
    std::fs::write(&trace, rows("0010")).expect("a scratch file");
    for more in ["", "--passes two", "--quiet"] {
        let run = tracewise(&format!("stream run {spec} {} {more} --output json", trace.display()));
        let error: Value = serde_json::from_str(&run.err).expect("one object");
        let error = &error["error"];
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{more}");
        assert_eq!(
            (&error["line"], &error["column"], &error["trace_line"]),
            (&json!(1), &json!(18), &json!(4)),
            "{more}"
        );
        assert!(error["message"].as_str().is_some_and(|text| text.contains("no model")), "{more}: {error}");
    }
    let run = tracewise(&format!("stream run {spec} {} --passes classic --output json", trace.display()));
    let error: Value = serde_json::from_str(&run.err).expect("one object");
    assert_eq!(
        (run.code, &error["error"]["code"], &error["error"]["line"]),
        (2, &json!("zero-cycle"), &json!(1))
    );
}

/// Whatever is well-formed, of any type and by key; what is not is refused.
#[test]
fn classic_passes_compute_what_is_well_formed() {
    let input = "time,k,p,x\n0,u,1,2\n1,v,0,3\n2,u,1,1\n3,,1,4\n";
    for (number, equations) in [
        "stream y: int = y[-1|0] + 1;",
        "stream y: int = y[+1|0] + x; stream z: real = z[-1|0.5] * y; stream b: bool = z > 3 | b[+1|false];",
        "stream y: string = if p then k else \"none\"; stream n: int = n[-1|0] + 1 by k; stream b: bool = p by k;",
        "stream b: bool = count[p over 2s] > 1; stream e: real = elapsed;",
        "stream b: bool = x[-1|0] < x[+1|9] & c; stream c: bool = count[p over 2] > 1 | c[-1|false];",
        "stream b: bool = b[+1|true] & p; stream c: bool = if b then c[-1|false] else p; observe c;",
    ]
    .iter()
    .enumerate()
    {
        let spec = with(&format!("streams-classic-{number}"), equations);
        let line = format!("stream run {spec} - --format csv --output json");
        let (run, classic) = (tracewise_with(&line, input), tracewise_with(&format!("{line} --passes classic"), input));
        assert_eq!((run.code, classic.code), (0, 0), "{equations}\n{}{}", run.err, classic.err);
        assert_eq!(classic.out, run.out, "{equations}");
    }
    for circle in ["stream y: int = y + 1;", "stream y: bool = y & p; stream n: int = 1;"] {
        let spec = with("streams-classic-circle", circle);
        let refused = tracewise_with(&format!("stream run {spec} - --format csv --passes classic"), input);
        assert_eq!((refused.code, refused.out.as_str()), (2, ""), "{circle}");
        assert!(refused.err.contains("zero-cycle"), "{}", refused.err);
    }
}

/// What goes in a circle is analysed, whatever else there is; comparisons are inputs that a trace decides.
#[test]
fn boolean_circles_among_numbers() {
    let spec =
        "stream n: int = n[-1|0] + 1; stream y: bool = x & n > 2 & y; stream m: int = if y then 1 else 0;";
    let (code, found) = analysed("streams-mixed", spec);
    assert_eq!((code, &found["well_formed"], &found["under_defined"]), (1, &json!(false), &json!(true)));
    assert_eq!(found["witnesses"][0]["models"], json!([[{"y": false}], [{"y": true}]]));
    let (code, found) =
        analysed("streams-mixed", "stream n: int = n[-1|0] + 1; stream y: bool = if y then y else !x;");
    assert_eq!((code, &found["under_defined"]), (1, &json!(true)));
    let compared = with("streams-mixed", "stream a: bool = v > 2 & !a; stream b: bool = v[-1|0] < v;");
    let ask =
        |rows: &str| tracewise_with(&format!("stream accepts {compared} - --format csv --output json"), rows);
    assert_eq!(ask("v\n1\n2\n").code, 0, "{}", ask("v\n1\n2\n").err);
    assert_eq!(ask("v\n1\n3\n").code, 1);
    let line = |passes: &str| format!("stream run {compared} - --format csv --output csv {passes}");
    for passes in ["", "--passes two"] {
        let run = tracewise_with(&line(passes), "v\n1\n2\n0\n");
        assert_eq!(
            (run.code, run.out.as_str()),
            (0, "position,a,b\n0,false,true\n1,false,true\n2,false,false\n"),
            "{}",
            run.err
        );
        assert!(tracewise_with(&line(passes), "v\n1\n3\n").err.contains("no model"));
    }
}

/// A property is judged alike whether or not other streams stand beside those that it reads, and `--quiet` finds what is wrong.
#[test]
fn what_nobody_reads_changes_nothing() {
    let alone = with("streams-alone", "stream n: int = n[-1|0] + x; property p : G (n < 4 & x >= x[-1|0]);");
    let beside = "stream z: real = x / 2; stream n: int = n[-1|0] + x; stream w: int = x[+1|0]; stream k: int = k[-1|0] + 1 by x; \
        stream far: real = avg[z over 3]; property p : G (n < 4 & x >= x[-1|0]);";
    let beside = with("streams-beside", beside);
    let rows = "x\n1\n2\n1\n3\n";
    let found = |spec: &str| {
        let run = tracewise_with(&format!("check {spec} - --format csv --output json"), rows);
        (run.code, run.json()[0].clone())
    };
    assert_eq!(found(&alone), found(&beside));
    let bad = with("streams-quiet", "stream n: int = n[-1|0] + 9223372036854775807;");
    let run = tracewise_with(&format!("stream run {bad} - --format csv --quiet"), rows);
    assert!(run.code == 2 && run.out.is_empty() && run.err.contains(":3:"), "{}", run.err);
}

/// Streams that are not observed may have several values, as long as what is observed has one and nobody else reads them.
#[test]
fn only_what_is_observed_matters() {
    let text = "stream h: bool = h; stream y: bool = x | h & !h; stream z: bool = y & !(h[-1|false] & !h[-1|false]); observe y; \
        observe z; property p : G (x -> y);";
    let spec = with("streams-observed", text);
    for passes in ["", "--passes two"] {
        let run =
            tracewise_with(&format!("stream run {spec} - --format csv --output csv {passes}"), &rows("011"));
        assert_eq!(
            (run.code, run.out.as_str()),
            (0, "position,y,z\n0,false,false\n1,true,true\n2,true,true\n"),
            "{}",
            run.err
        );
    }
    assert_eq!(analysed("streams-observed", text).0, 0);
    let spec = with("streams-observed", text);
    let run = tracewise_with(&format!("check {spec} - --format csv"), &rows("011"));
    assert_eq!(run.code, 0, "{}", run.err);
    // Who reads what has several values is told so.
    for more in [
        "property q : G !h;",
        "stream n: int = if h then 1 else 0; observe n;",
        "stream k: bool = has(n) & h; observe k; stream n: int = 1;",
    ] {
        let spec = with("streams-observed", &format!("{text} {more}"));
        let verb = if more.starts_with("property") { "check" } else { "stream run" };
        let run = tracewise_with(&format!("{verb} {spec} - --format csv"), &rows("011"));
        assert!(run.code == 2 && run.err.contains("several models"), "{more}: {}{}", run.out, run.err);
    }
}

/// Positions that wait for later ones, or for earlier ones, keep their lines.
#[test]
fn lines_of_positions_that_waited_are_told() {
    let spec = "stream c: bool = x & !x[+1|true]; property p: G !c;";
    let directory = crate::common::directory("waiting-lines");
    let file = directory.join("c.tw");
    std::fs::write(&file, spec).unwrap();
    let long = "ä".repeat(500);
    let log = format!("time,x,note\n1,0,a\n2,1,b\n3,0,{long}\n4,1,d\n");
    for (options, unsorted) in
        [("", log.as_str()), ("--sort 2s", "time,x,note\n2,1,b\n1,0,a\n3,0,c\n4,1,d\n")]
    {
        let run = tracewise_with(
            &format!("watch {} - --format csv --output json {options}", file.display()),
            unsorted,
        );
        assert_eq!(run.code, 1, "{}", run.err);
        let found = run.json();
        let line = &found[0]["violation"]["line"];
        let line = if line.is_null() { &found[0]["line"] } else { line };
        assert_eq!(line["text"], "2,1,b", "{options}: {}", run.out);
        assert_eq!(line["line"], if options.is_empty() { 3 } else { 2 }, "{}", run.out);
    }
    std::fs::remove_dir_all(directory).unwrap();
}

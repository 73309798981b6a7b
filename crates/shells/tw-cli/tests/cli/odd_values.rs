//! Values of logs that are odd, hostile, large or many, on their way into bindings and out through every form of output.

use crate::common::{Run, tracewise_with};
use serde_json::{Value, json};

fn check(formula: &str, format: &str, options: &str, input: &str) -> Run {
    tracewise_with(&format!("check -e '{formula}' - --format {format} {options}"), input)
}

fn found(run: &Run) -> Vec<(u64, Value)> {
    assert!(run.code == 0 || run.code == 1, "{run:?}");
    let found = run.json()[0]["violations"].as_array().unwrap().clone();
    found.iter().map(|one| (one["position"].as_u64().unwrap(), one["bindings"].clone())).collect()
}

/// Quotes, line ends, an escape sequence, a bell, what ends markup, what reorders text.
const HOSTILE: &str = "a\u{1b}[31mred\n::error::\"q\"'s\r\t\u{7}</x>&%0A]]>\u{202e}\u{85}é";

/// Control characters (other than line ends, which reporters write themselves) and characters that reorder text.
fn is_hostile(c: char) -> bool {
    c.is_control() && c != '\n' || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[test]
fn bindings_are_escaped_in_every_output() {
    let log = format!("{}\n", json!({"event": "open", "file": HOSTILE}));
    let formula = "G forall f. open(file: f) -> F close(file: f)";
    for output in ["text", "junit", "github"] {
        let run = check(formula, "jsonl", &format!("--output {output}"), &log);
        assert_eq!(run.code, 1, "{run:?}");
        assert!(!run.out.contains(is_hostile), "{output}: {:?}", run.out);
        assert!(run.out.contains("\\u001b[31mred\\n"), "{output}: {:?}", run.out);
        // No line of the log's own making, and no markup.
        assert!(!run.out.contains("red\n") && !run.out.lines().any(|line| line.starts_with("::error::")));
        if output == "junit" {
            assert!(run.out.contains("&lt;/x&gt;&amp;%0A]]&gt;") && !run.out.contains("</x>"), "{}", run.out);
        }
        if output == "github" {
            assert!(run.out.lines().count() == 1 && run.out.contains("%250A"), "{}", run.out);
        }
    }
    // What programs read has the value itself.
    let run = check(formula, "jsonl", "--output json", &log);
    assert_eq!(found(&run), [(0, json!({"f": HOSTILE}))]);
    let run = check(formula, "jsonl", "--output sarif", &log);
    let result = &serde_json::from_str::<Value>(&run.out).unwrap()["runs"][0]["results"][0];
    assert_eq!(result["properties"]["bindings"], json!({"f": HOSTILE}));
    let message = result["message"]["text"].as_str().unwrap();
    assert!(!message.contains(is_hostile) && message.contains("\\u001b[31mred\\n"), "{message:?}");
}

#[test]
fn bindings_are_escaped_in_a_watch() {
    let log = format!("{}\n", json!({"event": "open", "file": HOSTILE}));
    for formula in
        ["G forall f. open(file: f) -> close(file: f)", "G forall f. open(file: f) -> F close(file: f)"]
    {
        let run = tracewise_with(&format!("watch -e '{formula}' -"), &log);
        assert_eq!((run.code, run.out.lines().count()), (1, 1), "{run:?}");
        assert!(
            !run.out.contains(is_hostile) && run.out.contains("f = \"a\\u001b[31mred\\n"),
            "{:?}",
            run.out
        );
        let run = tracewise_with(&format!("watch -e '{formula}' - --output json"), &log);
        assert_eq!(run.json()[0]["violation"]["bindings"], json!({"f": HOSTILE}));
        let owed = run.json()[0]["pending"].as_str().map(str::to_owned);
        assert!(
            owed.is_none_or(|owed| owed.starts_with("F close(file: \"a\\u{1b}[31mred\\n")),
            "{}",
            run.out
        );
    }
}

#[test]
fn a_megabyte_of_text_is_a_value() {
    let long = "x".repeat(1 << 20);
    let log = format!(
        "{}\n{}\n{}\n",
        json!({"event": "open", "file": long}),
        json!({"event": "open", "file": "y"}),
        json!({"event": "close", "file": format!("{long}x")})
    );
    let formula = "G forall f. open(file: f) -> F close(file: f)";
    let run = check(formula, "jsonl", "--output json", &log);
    assert_eq!(found(&run), [(0, json!({"f": long})), (1, json!({"f": "y"}))]);
    for output in ["text", "junit", "github"] {
        let run = check(formula, "jsonl", &format!("--output {output}"), &log);
        assert!(run.code == 1 && run.out.len() < 16 << 10, "{output}: {} bytes", run.out.len());
        assert!(run.out.contains("f = \"xxx") && run.out.contains('…'), "{}", run.out);
    }
    let run = tracewise_with(&format!("watch -e '{formula}' -"), &log);
    assert!(run.code == 1 && run.out.len() < 4 << 10, "{} bytes", run.out.len());
    assert!(run.out.contains("owed since position 0: F close(file: f)"), "{}", run.out);
    let closed = log.replace(&format!("{long}x"), &long);
    assert_eq!(found(&check(formula, "jsonl", "--output json", &closed)), [(1, json!({"f": "y"}))]);
}

#[test]
fn a_hundred_thousand_violations_at_one_position() {
    let values: String = (0..100_000).rev().map(|k| format!(" ({k})")).collect();
    let log = format!("@1 p{values}\n@2 q (7)\n");
    let formula = "G forall x. p(x) -> F q(x)";
    let few = check(formula, "monpoly", "--output json", &log);
    assert_eq!(few.json()[0]["violation_count"], 99_999);
    let first: Vec<_> = (0..11).filter(|k| *k != 7).map(|k| (0, json!({"x": k}))).collect();
    assert_eq!(found(&few), first);
    let all = check(formula, "monpoly", "--output github --violations all", &log);
    assert_eq!(all.out.lines().count(), 99_999);
    for k in [0, 6, 8, 99_999] {
        let named =
            |line: &&str| line.contains(&format!("x = {k}%0A")) || line.ends_with(&format!("x = {k}"));
        assert_eq!(all.out.lines().filter(named).count(), 1, "{k}");
    }
    let watch = tracewise_with(&format!("watch -e '{formula}' - --format monpoly --output json"), &log);
    assert_eq!(watch.json()[0]["violation_count"], 99_999, "{}", watch.out);
    let watch = tracewise_with(&format!("watch -e '{formula}' - --format monpoly"), &log);
    assert!(watch.out.contains("fails 99,999 times, first at 0 (line 1) with x = 0"), "{}", watch.out);
}

/// Values are what `==` says, whatever their types; an order between kinds there is none.
#[test]
fn one_argument_may_have_several_types() {
    let log = r#"{"event":"p","x":1}
{"event":"p","x":"1"}
{"event":"p","x":true}
{"event":"p","x":[1,"a"]}
{"event":"p","x":{"k":1}}
{"event":"p","x":null}
{"event":"p"}
{"event":"q","x":1.0}
{"event":"q","x":"true"}
{"event":"q","x":[1.0,"a"]}
"#;
    let run = check("G forall x. p(x: x) -> F q(x: x)", "jsonl", "--output json --violations all", log);
    let (text, truth, object) = (json!({"x": "1"}), json!({"x": true}), json!({"x": {"k": 1}}));
    let equal = found(&run);
    for (at, bindings) in [(1, text), (2, truth), (4, object)] {
        assert!(equal.contains(&(at, bindings)), "{equal:?}");
    }
    assert!(!equal.iter().any(|(at, _)| [0, 5, 6].contains(at)), "{equal:?}");
    // No text, truth or list is less than a number; none of them has a sum.
    for formula in ["G forall x. p(x: x) -> x < 5", "G forall x. p(x: x) -> x + 1 < 5"] {
        let run = check(formula, "jsonl", "--output json --violations all", log);
        assert_eq!(found(&run).iter().map(|(at, _)| *at).collect::<Vec<_>>(), [1, 2, 3, 4], "{formula}");
    }
    // A variable of an argument declared `int` stands for whole numbers, and for nothing else that is found there.
    let directory = crate::common::directory("odd-values-declared");
    let path = directory.join("s.tw");
    std::fs::write(&path, "event p(x: int); property a : G forall x. p(x) -> x > 5;").unwrap();
    let run = tracewise_with(&format!("check {} - --format jsonl --output json", path.display()), log);
    assert_eq!(found(&run), [(0, json!({"x": 1}))]);
}

/// What a declared type leaves out is told, once.
#[test]
fn values_of_another_type_than_declared_are_told() {
    let directory = crate::common::directory("other-type");
    let path = directory.join("s.tw");
    let spec =
        "event p(x: int);\nproperty a : G forall x. p(x) -> x > 0;\nproperty b : G forall y. p(y) -> y < 9;";
    std::fs::write(&path, spec).unwrap();
    let check = |log: &str| tracewise_with(&format!("check {} - --format events", path.display()), log);
    let run = check("p,1\np,2.0\np,abc\np,2.5\n");
    let message = "warning[other-type]: `x` stands for whole numbers, as a declaration says: 2 events `p` with other values, \
                   the first `abc` at position 2, left out";
    assert!(run.code == 0 && run.err.contains(message), "{}", run.err);
    let run = check("p,1\np,2.0\n");
    assert!(run.code == 0 && run.err.is_empty(), "{}", run.err);
}

/// Where arguments have places, their number tells events apart; where it is declared, it is checked.
#[test]
fn events_with_another_number_of_arguments_are_others() {
    let log = "p,1\np,1,2\np,3,4,5\np\n";
    let all = |formula: &str| found(&check(formula, "events", "--output json", log));
    assert_eq!(all("G forall x. !p(x)"), [(0, json!({"x": 1}))]);
    assert_eq!(all("G forall x, y. !p(x, y)"), [(1, json!({"x": 1, "y": 2}))]);
    assert_eq!(all("G forall x. !p(x, _, 5)"), [(2, json!({"x": 3}))]);
    assert_eq!(all("G !p").len(), 4);
    // One that never has so many is most likely a mistake.
    let run = check("G forall x, y. q(x, y) -> p(x, y)", "events", "", "q,1\nq,\nq,3,4,5\np,1,2\n");
    let message =
        "warning[never-occurs]: event `q` occurs in this trace, but never with 2 arguments that have values";
    assert!(run.code == 0 && run.err.contains(message), "{}", run.err);
    assert_eq!(run.err.matches("warning").count(), 1, "{}", run.err);
    let run = check("G forall x. q(x) | p(x) -> x > 0", "events", "", "q,1\n");
    assert!(run.err.contains("event `p` never occurs") && !run.err.contains("with 1"), "{}", run.err);
}

/// The text of a long line is told once, not with each of its violations.
#[test]
fn very_many_violations_at_one_position_are_all_told() {
    let count = 20_000;
    let tuples: String = (0..count).map(|at| format!(" ({at})")).collect();
    let log = format!("@1 p{tuples}\n@2 q (1)\n");
    let run =
        check("G forall x. p(x) -> q(x)", "monpoly", "--output json --no-explain --violations all", &log);
    let all = found(&run);
    assert_eq!(all.len(), count, "{}", run.err);
    assert!(all.iter().enumerate().all(|(at, own)| *own == (0, json!({"x": at}))));
    assert!(run.out.len() < count * 120, "{}", run.out.len());
    assert_eq!(run.out.matches("\"text\"").count(), 1);
    assert_eq!(run.out.matches("\"line\":1}").count(), count - 1);
}

/// What has another number of arguments than is asked for is told, once for each name, read by blocks and by rows.
#[test]
fn other_numbers_of_arguments_are_told() {
    let directory = crate::common::directory("numbers-of-arguments");
    let path = directory.join("s.tw");
    std::fs::write(&path, "event p(r: int);\nproperty a : G forall r. p(r) -> r > 1;\n").unwrap();
    let declared = |format: &str, log: &str| {
        tracewise_with(&format!("check {} - --format {format} --output json", path.display()), log)
    };
    let one = "one event `p` has 2 arguments in this trace, where 1 is asked for";
    for (format, log) in [
        ("events", "p,2\np,1,2\n"),
        ("events", "p,\"2\"\np,1,\"2\"\n"),
        ("monpoly", "@1 p (2)\n@2 p (1,2)\n"),
        ("monpoly", "@1 p (2)\n@2 p (1, \"2\")\n"),
    ] {
        let run = declared(format, log);
        // It is taken by the places that are declared: nothing is lost.
        assert_eq!(found(&run), [(1, json!({"r": 1}))], "{log}: {}", run.err);
        assert!(run.err.contains(one) && run.err.contains("as declared"), "{log}: {}", run.err);
        assert_eq!(run.err.matches("other-arity").count(), 1, "{}", run.err);
    }
    let several = "3 events `p` have 0 to 3 arguments in this trace, where 1 is asked for";
    let run = declared("events", "p,2\np\np,1,2,3\np,1,2\n");
    assert!(run.err.contains(several), "{}", run.err);
    // Without a declaration they are other events; who asks for both knows of them.
    let run = check("G forall x. p(x) -> x > 0", "events", "--output json", "p,2\np,1,2\n");
    assert!(run.code == 0 && run.err.contains(one) && run.err.contains("not about them"), "{}", run.err);
    let both = "G forall x, y. (p(x) -> x > 0) & (p(x, y) -> y > 0)";
    let run = check(both, "events", "", "p,2\np,1,2\n");
    assert!(run.code == 0 && run.err.is_empty(), "{}", run.err);
    let live = tracewise_with("watch -e 'G forall x. p(x) -> x > 0' - --format events", "p,2\np,1,2\n");
    assert!(live.err.contains("one event `p` has 2 arguments"), "{}", live.err);
}

#[test]
fn infinitely_many_values_have_no_aggregate() {
    for formula in [
        "G (count(x : !p(x)) < 3)",
        "G forall y. p(y) -> sum(x for x : x > y) > 1",
        "G (max(x for x : !(O p(x))) < 3)",
    ] {
        for command in ["check", "watch"] {
            let run = tracewise_with(&format!("{command} -e '{formula}' - --format events"), "p,1\np,2\n");
            assert!(run.code == 2 && run.out.is_empty(), "{formula}: {run:?}");
            assert!(run.err.contains("infinitely many values of `x`"), "{formula}: {}", run.err);
            assert!(run.err.contains("help: "), "{formula}: {}", run.err);
            // The aggregate is underlined.
            assert!(run.err.contains("this part"), "{formula}: {}", run.err);
        }
    }
}

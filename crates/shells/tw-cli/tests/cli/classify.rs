//! `classify`: the vectors of the paper, first-order paths, sessions, stores and outputs.

use crate::common::{directory, finish, tracewise_with};
use serde_json::{Value, json};
use std::path::Path;

/// Runs in a directory of its own with a `.props` file per word, one letter a line.
fn letters(place: &Path, traces: &[&str]) -> String {
    for trace in traces {
        let text: String = trace.chars().map(|letter| format!("{letter}\n")).collect();
        std::fs::write(place.join(format!("{trace}.props")), text).expect("written");
    }
    traces.iter().map(|trace| format!("{trace}.props")).collect::<Vec<_>>().join(" ")
}

fn run(place: &Path, line: &str) -> crate::common::Run {
    finish(crate::shared::command().current_dir(place).args(crate::common::words(line)), "")
}

#[test]
fn the_worked_examples() {
    let place = directory("classify-vectors");
    let traces = letters(&place, &["cab", "cac", "ccac", "cacac", "aab", "ca"]);
    let found = run(&place, &format!("classify -e 'G (a -> X b)' {traces} --output json"));
    assert_eq!(found.code, 1, "{}", found.err);
    let classes = found.json();
    let told: Vec<(&Value, &Value, &Value)> =
        classes.iter().map(|class| (&class["hologram"], &class["verdict"], &class["traces"])).collect();
    let expected = [
        (json!("G-(->-(a+ X-(b-)))"), json!("violated"), json!(4)),
        (json!("G?"), json!("unknown"), json!(1)),
        (json!("G?(->?(X?))"), json!("unknown"), json!(1)),
    ];
    assert_eq!(told, expected.iter().map(|(a, b, c)| (a, b, c)).collect::<Vec<_>>());
    assert_eq!(classes[0]["examples"], json!(["cac.props", "ccac.props", "cacac.props", "aab.props"]));
    assert_eq!((&classes[0]["property"], &classes[0]["known"]), (&json!("G (a -> X b)"), &json!(false)));
    assert_eq!(classes[0]["class"].as_str().map(str::len), Some(32));
    let why = classes[0]["why"].as_str().expect("a sentence");
    assert!(
        why.contains("position 1") && why.contains("`a` holds") && why.contains("`X b` does not"),
        "{why}"
    );
    // Undecided classes alone are 3; nothing is ever known to hold always.
    let found = run(&place, "classify -e 'G (a -> X b)' cab.props ca.props -q");
    assert_eq!((found.code, found.out.as_str()), (3, ""));
    assert_eq!(run(&place, "classify -e 'F a' cab.props -q").code, 0);
    let found = run(&place, &format!("classify -e 'G (a -> X b)' {traces} --rules truncate=1 --output json"));
    let lines: Vec<Value> = found.json().iter().map(|class| class["hologram"].clone()).collect();
    assert_eq!(lines, [json!("G-"), json!("G?")]);
    std::fs::write(place.join("nothing.props"), "").expect("written");
    let found = run(&place, "classify -e 'G (a -> X b)' nothing.props cab.props --output json");
    assert_eq!(
        (found.code, &found.json()[0]["hologram"], &found.json()[0]["traces"]),
        (3, &json!("G?"), &json!(2))
    );
    let found = run(&place, "classify -e 'G (a -> X b)' cab.props --rules truncate=2 --output json");
    assert_eq!(found.json()[0]["hologram"], json!("G?(->+ ->+ ->+)"));
}

#[test]
fn quantifiers_over_paths() {
    let place = directory("classify-paths");
    let write = |name: &str, ids: &[i64]| {
        let items: Vec<Value> = ids.iter().map(|id| json!({"id": id})).collect();
        std::fs::write(place.join(name), format!("{}\n", json!({"items": items}))).expect("written");
    };
    write("a.jsonl", &[3, 5]);
    write("b.jsonl", &[4, 5]);
    write("c.jsonl", &[7]);
    write("d.jsonl", &[8]);
    write("e.jsonl", &[8, 7]);
    let classes = |formula: &str, files: &str, rules: &str| -> Vec<(String, u64)> {
        let line =
            format!("classify -e 'forall x in items[*].id. {formula}' {files} --rules {rules} --output json");
        let found = run(&place, &line);
        assert_eq!(found.code, 1, "{}", found.err);
        let of = |class: &Value| {
            (class["hologram"].as_str().unwrap().to_string(), class["traces"].as_u64().unwrap())
        };
        found.json().iter().map(of).collect()
    };
    assert_eq!(classes("x != 5", "a.jsonl b.jsonl", "none").len(), 2);
    assert_eq!(classes("x != 5", "a.jsonl b.jsonl", "polarity"), [("forall-(5:5 != 5-)".to_string(), 2)]);
    assert_eq!(classes("x < 5", "c.jsonl d.jsonl", "polarity").len(), 2);
    assert_eq!(classes("x < 5", "c.jsonl d.jsonl", "polarity,values"), [("forall-(x < 5-)".to_string(), 2)]);
    // One offending value and two are two ways to fail.
    assert_eq!(classes("x < 5", "c.jsonl e.jsonl", "values").len(), 2);
    assert_eq!(classes("x < 5", "e.jsonl", "none"), [("forall-(7:7 < 5- 8:8 < 5-)".to_string(), 1)]);
}

#[test]
fn sessions_and_what_a_store_knows() {
    let place = directory("classify-store");
    let log = "id,event\n1,a\n2,a\n1,b\n3,c\n2,c\n3,a\n3,c\n";
    std::fs::write(place.join("log.csv"), log).expect("written");
    let line = "classify -e 'G (a -> X b)' log.csv --by id --store known.db --output json";
    let first = run(&place, line);
    assert_eq!(first.code, 1, "{}", first.err);
    let classes = first.json();
    assert_eq!(classes[0]["examples"], json!(["2", "3"]));
    assert!(classes.iter().all(|class| class["known"] == json!(false)));
    let second = run(&place, line);
    assert_eq!(second.code, 0, "{}", second.err);
    assert!(second.json().iter().all(|class| class["known"] == json!(true)));
    assert_eq!(second.json()[0]["class"], classes[0]["class"]);
    // Another way to fail is new.
    std::fs::write(place.join("log.csv"), "id,event\n1,a\n1,c\n1,a\n1,c\n").expect("written");
    assert_eq!(run(&place, line).code, 0, "the same way to fail, in another trace");
    let finer = "classify -e 'G (a -> X b)' log.csv --by id --rules polarity --store known.db -q";
    assert_eq!([run(&place, finer).code, run(&place, finer).code], [1, 0]);
    // A damaged store is told, and nothing is lost.
    std::fs::write(place.join("bad.db"), vec![7u8; 9000]).expect("written");
    let bad = run(&place, "classify -e 'G (a -> X b)' log.csv --by id --store bad.db");
    assert_eq!((bad.code, bad.out.as_str()), (2, ""));
    assert!(bad.err.contains("left as it is"), "{}", bad.err);
    assert_eq!(std::fs::read(place.join("bad.db")).expect("there"), vec![7u8; 9000]);
}

#[test]
fn outputs_name_the_class() {
    let place = directory("classify-outputs");
    let traces = letters(&place, &["cac", "cab"]);
    let class =
        run(&place, &format!("classify -e 'G (a -> X b)' {traces} --output json")).json()[0]["class"].clone();
    let class = class.as_str().expect("a name").to_string();
    for form in ["text", "junit", "sarif", "github", "html"] {
        let found = run(&place, &format!("classify -e 'G (a -> X b)' {traces} --output {form}"));
        assert_eq!(found.code, 1, "{form}: {}", found.err);
        assert!(found.out.contains(&class), "{form}: {}", found.out);
    }
    for picture in ["p.svg", "p.dot"] {
        assert_eq!(run(&place, &format!("classify -e 'G (a -> X b)' {traces} --draw {picture} -q")).code, 1);
        let text = std::fs::read_to_string(place.join(picture)).expect("a picture");
        assert!(text.contains(&class[..8]) && text.contains("a +"), "{text}");
    }
}

#[test]
fn chains_severities_and_small_traces() {
    let place = directory("classify-chain");
    let traces = letters(&place, &["cac", "ccac", "cacac"]);
    let line = format!(
        "classify -e 'G (a -> X b)' {traces} --chain --rules fail-fast,polarity,truncate=1 --output json"
    );
    let classes = run(&place, &line).json();
    let count = |level: u64| classes.iter().filter(|class| class["level"] == json!(level)).count();
    assert_eq!([count(0), count(1), count(2), count(3)], [3, 2, 1, 1]);
    // Every class lies within one of the next level.
    for class in classes.iter().filter(|class| class["level"] != json!(3)) {
        let level = class["level"].as_u64().expect("a level") + 1;
        let within = classes
            .iter()
            .filter(|other| other["level"] == json!(level) && other["class"] == class["within"]);
        assert_eq!(within.count(), 1, "{class}");
    }
    let text = run(&place, &line.replace("--output json", ""));
    assert!(text.out.contains("rules, outer to inner"), "{}", text.out);
    std::fs::write(place.join("w.tw"), "let asked = X b;\nproperty p : G (a -> asked);\n").expect("written");
    let severity = |weights: &str| {
        let found = run(&place, &format!("classify w.tw cac.props {weights} --output json"));
        assert_eq!(found.code, 1, "{}", found.err);
        found.json()[0]["severity"].as_f64()
    };
    // `G`, `->`, `X` and `b` fail.
    assert_eq!(severity(""), Some(4.0));
    assert_eq!(severity("--weight p=3"), Some(12.0));
    assert_eq!(severity("--weight p=3 --weight asked=10"), Some(26.0));
    let found = run(&place, "classify -e 'G (a -> X b)' cacac.props --shrink --output json").json();
    assert_eq!(found[0]["shrunk"]["positions"].as_array().map(Vec::len), Some(2));
    let found =
        tracewise_with("classify -e 'G (a -> F[0,2] b)' --format props - --output json", "a\nc\nc\nc\n");
    assert_eq!(found.json()[0]["hologram"], json!("G-(->-(a+ F[0,2]-(b- b- b-)))"));
    let found = tracewise_with("classify -e 'G (a -> O b)' --format props - --output json", "c\na\n");
    assert_eq!(found.json()[0]["hologram"], json!("G-(->-(a+ O-(b- b-)))"));
    let found = tracewise_with("classify -e 'a U b' --format props - --output json", "a\nc\n");
    assert_eq!(found.json()[0]["hologram"], json!("U-(b- b- a-)"));
}

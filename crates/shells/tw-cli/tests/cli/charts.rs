//! `chart`, and charts in `check` and `watch`: names, positions, ends, readings, columns, keys, drawings.

use crate::common::{tracewise, tracewise_with};
use crate::shared::directory;
use serde_json::{Value, json};

const HANDOVER: &str = "
chart preHOV iff {
  pre  { env -> HOV : HOVcond [recv only] }
  main { HOV -> ACC : preAnn }
}
chart ExdEoA necessary iterate {
  pre  { HOV -> ACC : RRIReq }
  main { ACC -> HOV : RRI   HOV -> ACC : Ackn }
}
after preHOV.main : ExdEoA.main, ExdEoA.pre      # the double arrow
";

const BASE: &str = "recv,HOVcond\nsend,preAnn\nrecv,preAnn\nsend,RRIReq\nrecv,RRIReq\nsend,RRI\nrecv,RRI\nsend,Ackn\nrecv,Ackn\n";

const NAMES: [&str; 5] = [
    "preHOV.necessary",
    "preHOV.sufficient",
    "ExdEoA.necessary",
    "preHOV.main -> ExdEoA.main",
    "preHOV.main -> ExdEoA.pre",
];

fn file(test: &str, name: &str, text: &str) -> String {
    let path = directory(&format!("{test}-{name}")).join(name);
    std::fs::write(&path, text).expect("written");
    path.display().to_string()
}

/// Names, verdicts and positions.
fn verdicts(found: &[Value]) -> Vec<(String, String, Value)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    found.iter().map(|own| (text(&own["property"]), text(&own["verdict"]), own["position"].clone())).collect()
}

fn ab(kind: &str) -> String {
    format!("chart c {kind} {{ pre {{ A -> B : a [send only]; }} main {{ A -> B : b [send only]; }} }}\n")
}

#[test]
fn the_hand_over_is_judged() {
    let spec = file("charts-handover", "s.elsc", HANDOVER);
    let run = tracewise_with(&format!("chart check {spec} --format events --output json -"), BASE);
    assert_eq!(run.code, 0, "{}", run.err);
    let found = run.json();
    assert_eq!(verdicts(&found).iter().map(|own| own.0.as_str()).collect::<Vec<_>>(), NAMES);
    assert!(found.iter().all(|own| own["verdict"] == "satisfied" && own["engine"] == "charts"));
    // Without the receipt the announcement is not complete: the end says so, and the other charts come too early.
    let lost = BASE.replace("recv,preAnn\n", "");
    let run = tracewise_with(&format!("chart check {spec} --format events --output json -"), &lost);
    assert_eq!(run.code, 1, "{}", run.err);
    let found = run.json();
    let places: Vec<Value> = found.iter().map(|own| own["position"].clone()).collect();
    assert_eq!(places, [Value::Null, Value::Null, Value::Null, json!(7), json!(3)]);
    let bad: Vec<bool> = found.iter().map(|own| own["verdict"] == "violated").collect();
    assert_eq!(bad, [true, false, false, true, true]);
    assert_eq!(found[0]["violations"][0]["position"], Value::Null);
    // A file of charts is a specification.
    let same = tracewise_with(&format!("check {spec} --format events --output json -"), &lost);
    assert_eq!((verdicts(&same.json()), same.code), (verdicts(&found), 1));
    // An open end leaves open what is pending, and the exit code with it.
    let open = tracewise_with(
        &format!("chart check {spec} --only preHOV.necessary --open-end --format events --output json -"),
        &lost,
    );
    assert_eq!((open.code, &open.json()[0]["verdict"]), (3, &json!("unknown")), "{}", open.err);
}

#[test]
fn readings_and_matchings_differ() {
    let spec = file("charts-readings", "s.tw", &ab("iff"));
    let iterated = file("charts-readings", "i.tw", &ab("necessary iterate"));
    let log = |word: &str| word.chars().map(|message| format!("send,{message}\n")).collect::<String>();
    let holds = |spec: &str, options: &str, word: &str| -> Vec<bool> {
        let command = format!("chart check {spec} {options} --format events --output json -");
        let run = tracewise_with(&command, &log(word));
        assert!(run.code < 2, "{}", run.err);
        run.json().iter().map(|own| own["verdict"] == "satisfied").collect()
    };
    assert_eq!(holds(&spec, "", "aba"), [false, true]);
    assert_eq!(holds(&spec, "--reading ltl", "aba"), [true, false]);
    assert_eq!(holds(&spec, "--reading segment", "bb"), [true, false]);
    assert_eq!(holds(&spec, "--reading ltl", "bb"), [true, true]);
    assert_eq!(holds(&spec, "--reading precedes", "abb"), [true, true]);
    assert_eq!(holds(&iterated, "", "baab"), [true]);
    assert_eq!(holds(&iterated, "--matching injective", "baab"), [false]);
    let two = "chart c necessary iterate { pre { A -> B : a } main { A -> B : b } }";
    let two = file("charts-readings", "two.tw", two);
    let left = tracewise_with(&format!("chart check {two} --format events -"), "send,a\n");
    assert!(left.code == 0 && left.err.contains("chart-incomplete"), "{}", left.err);
}

#[test]
fn events_are_columns_or_events() {
    let spec = file("charts-columns", "s.tw", &ab("necessary"));
    let runs = [
        ("jsonl", "", "{\"event\":\"send\",\"msg\":\"a\"}\n{\"event\":\"send\",\"msg\":\"a\"}\n"),
        ("jsonl", "", "{\"dir\":\"send\",\"msg\":\"a\"}\n{\"dir\":\"send\",\"msg\":\"a\"}\n"),
        ("csv", "", "dir,msg\nsend,a\nsend,a\n"),
        ("csv", "--map dir=way,msg=what", "way,what\nsend,a\nsend,a\n"),
        ("csv", "--map msg=what", "dir,what\nsend,a\nsend,a\n"),
        ("events", "", "send,a\nsend,a\n"),
    ];
    for (format, map, log) in runs {
        for command in ["chart check", "check"] {
            let run =
                tracewise_with(&format!("{command} {spec} {map} --format {format} --output json -"), log);
            assert_eq!(run.code, 1, "{format} {map}: {}", run.err);
            assert_eq!(run.json()[0]["position"], 1, "{format} {map}: {}", run.out);
            assert!(!run.err.contains("warning"), "{format} {map}: {}", run.err);
        }
    }
    let none = tracewise_with(&format!("check {spec} --format csv -"), "x\n1\n");
    assert_eq!(none.code, 0);
    assert!(none.err.contains("chart-without-events") && none.err.contains("--map"), "{}", none.err);
}

#[test]
fn keys_have_charts_of_their_own() {
    let spec = file("charts-keys", "s.tw", &ab("necessary"));
    let log = "train,dir,msg\n1,send,a\n2,send,a\n1,send,b\n2,send,a\n3,send,a\n2,send,b\n";
    for command in ["check", "chart check"] {
        let run = tracewise_with(&format!("{command} {spec} --by train --format csv --output json -"), log);
        let found = &run.json()[0];
        assert_eq!((run.code, &found["violation_count"]), (1, &json!(2)), "{}", run.out);
        let keys: Vec<(Value, Value)> = found["violations"]
            .as_array()
            .expect("violations")
            .iter()
            .map(|own| (own["position"].clone(), own["bindings"]["train"].clone()))
            .collect();
        assert_eq!(keys, [(json!(3), json!("2")), (Value::Null, json!("3"))]);
    }
    let watch = tracewise_with(&format!("watch {spec} --by train --format csv --output json -"), log);
    assert_eq!(watch.code, 1, "{}", watch.err);
    let told = watch.json();
    assert_eq!((&told[0]["verdict"], &told[0]["position"]), (&json!("violated"), &json!(3)), "{}", watch.out);
}

#[test]
fn a_violated_chart_is_drawn_and_its_events_are_quoted() {
    let spec = file("charts-drawn", "s.elsc", HANDOVER);
    let broken = "recv,HOVcond\nsend,preAnn\nsend,preAnn\nrecv,preAnn\n";
    let run =
        tracewise_with(&format!("chart check {spec} --only preHOV.necessary --format events -"), broken);
    assert_eq!(run.code, 1);
    let said = "expected recv preAnn, found send preAnn";
    for part in [said, "●", "○", "found send preAnn", "preHOV.pre", "send,preAnn", "recv,HOVcond"] {
        assert!(run.out.contains(part), "{part}: {}", run.out);
    }
    for output in ["junit", "sarif", "github", "html"] {
        let command =
            format!("chart check {spec} --only preHOV.necessary --format events --output {output} -");
        let run = tracewise_with(&command, broken);
        assert!(run.code == 1 && run.out.contains(said), "{output}: {}", run.out);
    }
}

#[test]
fn charts_are_watched() {
    let spec = file("charts-watched", "s.tw", &(ab("iff") + "property few : G !send(\"c\");\n"));
    let run = tracewise_with(
        &format!("watch {spec} --format events --output json -"),
        "send,b\nsend,a\nsend,b\nsend,a\n",
    );
    assert_eq!(run.code, 1, "{}", run.err);
    let told = run.json();
    let first = (&told[0]["property"], &told[0]["verdict"], &told[0]["position"]);
    assert_eq!(first, (&json!("c.sufficient"), &json!("violated"), &json!(0)), "{}", run.out);
    let check = tracewise_with(&format!("check {spec} --format events --output json -"), "send,b\nsend,a\n");
    assert_eq!(
        check.json().iter().map(|own| own["verdict"] == "violated").collect::<Vec<_>>(),
        [false, true, true]
    );
    assert!(
        told.iter().any(|own| own["property"] == "c.necessary" && own["verdict"] == "violated"),
        "{}",
        run.out
    );
}

#[test]
fn formulas_say_what_the_charts_say() {
    let spec = file("charts-formulas", "s.tw", &ab("iff"));
    let printed = tracewise(&format!("chart to-ltl {spec}"));
    assert_eq!(printed.code, 0, "{}", printed.err);
    let formulas = file("charts-formulas", "ltl.tw", &printed.out);
    for word in ["", "ab", "ba", "abb", "aab", "bb", "a", "b"] {
        let log: String =
            word.chars().map(|message| format!("send,{message}\n")).chain(["tick\n".to_owned()]).collect();
        let verdicts = |command: &str| -> Vec<Value> {
            let run = tracewise_with(&format!("{command} --format events --output json -"), &log);
            assert!(run.code < 2, "{}", run.err);
            run.json().iter().map(|own| own["verdict"].clone()).collect()
        };
        assert_eq!(
            verdicts(&format!("check {formulas}")),
            verdicts(&format!("chart check {spec} --reading ltl")),
            "{word}"
        );
    }
    let lines = tracewise(&format!("chart to-ltl {spec} --output json")).json();
    assert_eq!((lines.len(), &lines[0]["property"]), (2, &json!("c.necessary")));
}

//! Models go out and come back as they were; what cannot be is refused with its place.

use super::super::testing;
use super::{read, value, write};
use crate::{Cells, Codes, Domain, Graph, Model, ModelError, Record, Variable};
use tw_core::Value;
use tw_testkit::{Rng, cases};

fn written(model: &Model) -> String {
    let mut out = Vec::new();
    write(model, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn same(a: &Model, b: &Model) -> bool {
    a.variables == b.variables
        && a.initial == b.initial
        && a.graph == b.graph
        && a.record == b.record
        && a.specifications == b.specifications
        && a.fairness == b.fairness
        && a.merged == b.merged
}

#[test]
fn models_come_back_as_they_were() {
    let mut random = Rng::new(11);
    for case in 0..cases(4_000).min(40_000) {
        let model = testing::model(&mut random);
        let text = written(&model);
        let back =
            read("m.json", text.as_bytes()).unwrap_or_else(|error| panic!("case {case}: {error}\n{text}"));
        assert!(same(&model, &back), "case {case}\n{model:?}\n{back:?}\n{text}");
        // Others can read it too.
        let other: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(other["states"].as_array().map(Vec::len), Some(model.states()), "case {case}");
    }
}

#[test]
fn the_first_figure_is_readable() {
    let mut model = testing::figure();
    model.record = Some(Record {
        traces: vec!["t.csv".to_owned()],
        states: vec![
            crate::Seen {
                count: 3,
                first: crate::Place::new(0, 2),
                last: crate::Place::new(0, 4),
                traces: 1
            };
            5
        ],
        edges: vec![crate::Seen::default(); 6],
        starts: vec![2, 1],
        ends: vec![0, 0, 0, 0, 3],
    });
    let text = written(&model);
    let line = r#"{"state": "s1", "time": 1, "count": 3, "traces": 1, "first": {"trace": 0, "line": 2}, "last": {"trace": 0, "line": 4}, "initial": 2},"#;
    assert!(text.lines().any(|found| found == line), "{text}");
    assert!(text.lines().any(|line| line == r#"{"from": 0, "to": 2},"#), "{text}");
    assert!(text.contains(r#""initial": 1}"#) && text.contains(r#""ends": 3}]"#), "{text}");
}

#[test]
fn transitions_may_come_in_any_order() {
    let text = r#"{"model": "tracewise", "version": 1, "variables": [], "traces": ["a"],
        "states": [{"initial": 1}, {}],
        "edges": [{"from": 1, "to": 0}, {"to": 1, "from": 0, "count": 1, "traces": 1,
                   "last": {"line": 2, "trace": 0}, "first": {"trace": 0, "line": 1}}]}"#;
    let model = read("m.json", text.as_bytes()).unwrap();
    assert_eq!(model.graph, Graph::from_edges(2, [(0, 1), (1, 0)].into_iter()));
    let counts: Vec<u64> = model.record.unwrap().edges.iter().map(|seen| seen.count).collect();
    assert_eq!(counts, [1, 0]);
}

#[test]
fn wrong_files_are_refused_with_their_place() {
    let head = r#"{"model": "tracewise", "version": 1, "variables": [{"name": "x", "range": [1, 3]}],"#;
    let cases: &[(&str, &str)] = &[
        ("", "m.json:1:1: found the end of the file, expected `{`"),
        ("[]", "m.json:1:1: found `[`, expected `{`"),
        (
            r#"{"model": "tracewise", "version": 1, "variables": [{"name": "x", "range": [-9223372036854775808, 9223372036854775807]}]}"#,
            "m.json:1:75: found a range of more than 4294967295 values, expected at most that many",
        ),
        (r#"{"model": "other"}"#, "m.json:1:2: found another kind of model, expected \"tracewise\""),
        (r#"{"version": 1}"#, "m.json:1:2: found `version`, expected `model` before it"),
        (r#"{"model": "tracewise", "version": 2}"#, "m.json:1:35: found `2`, expected version 1"),
        (
            r#"{"model": "tracewise", "states": []}"#,
            "m.json:1:24: found `states`, expected `version` before it",
        ),
        (
            r#"{"model": "tracewise", "version": 1, "size": 3}"#,
            "m.json:1:38: found the key `size`, expected one of model, version, merged, variables, specifications, fairness, traces, states, edges",
        ),
        (
            r#"{"model": "tracewise", "version": 1, "variables": [{"name": "x"}]"#,
            "m.json:1:52: found a variable without name or type, expected both",
        ),
        (
            r#"{"model": "tracewise", "version": 1, "variables": [{"name": "x", "values": [1, 1]}]"#,
            "m.json:1:80: found the value 1 again, expected it once",
        ),
        (
            r#"{"model": "tracewise", "version": 1, "variables": [{"name": "x", "boolean": true, "of": "x", "codes": [0, 1]}]"#,
            "m.json:1:52: found `x` to depend on itself, expected a variable of states",
        ),
        (
            r#"{"model": "tracewise", "version": 1, "variables": [{"name": "x", "boolean": true, "of": "y", "codes": [0, 1]}]"#,
            "m.json:1:52: found `of` the variable `y`, expected one of this model",
        ),
        (
            r#"{"model": "tracewise", "version": 1, "variables": [{"name": "x", "boolean": true, "of": "x", "common": 0}]"#,
            "m.json:1:52: found `common` or `others` alone, expected both, or `codes` instead",
        ),
        (
            r#"{"model": "tracewise", "version": 1, "variables": [{"name": "x", "boolean": true, "of": "x", "common": 0, "others": [[1, 1], [1, 0]]}]"#,
            "m.json:1:126: found the place 1 after 1, expected them ascending",
        ),
        (
            r#"{"model": "tracewise", "version": 1, "variables": [{"name": "y", "boolean": true}, {"name": "x", "boolean": true, "of": "y", "common": 0, "others": [[2, 1]]}]"#,
            "m.json:1:84: found the place 2, expected one of the 2 values of `y`",
        ),
        ("{H\n\"states\": [{\"x\": 4}]", "m.json:2:18: found 4, expected a number from 1 to 3"),
        ("{H\n\"states\": [{\"x\": 1.5}]", "m.json:2:18: found `1.5`, expected a whole number of 64 bits"),
        ("{H\n\"states\": [{}]", "m.json:2:12: found a state without `x`, expected all variables"),
        ("{H\n\"states\": [{\"x\": 1, \"x\": 2}]", "m.json:2:21: found the key `x` again, expected it once"),
        (
            "{H\n\"states\": [{\"x\": 1, \"y\": 2}]",
            "m.json:2:21: found the key `y`, expected a variable or one of count, traces, first, last, initial, ends",
        ),
        (
            "{H\n\"states\": [{\"x\": 1, \"count\": 2}]",
            "m.json:2:21: found `count` in a model without `traces`, expected traces before states",
        ),
        (
            "{H\n\"traces\": [\"a\"], \"states\": [{\"x\": 1, \"first\": {\"trace\": 1, \"line\": 1}}]",
            "m.json:2:57: found trace 1, expected one of 1, from 0",
        ),
        (
            "{H\n\"traces\": [\"a\"], \"states\": [{\"x\": 1, \"count\": 2}]",
            "m.json:2:29: found some of count, traces, first and last, expected all or none",
        ),
        (
            "{H\n\"states\": [{\"x\": 1}], \"edges\": [{\"from\": 0, \"to\": 1}]}",
            "m.json:2:51: found state 1, expected one of 1, from 0",
        ),
        (
            "{H\n\"states\": [{\"x\": 1}], \"edges\": [{\"from\": 0}]}",
            "m.json:2:33: found a transition without from or to, expected both",
        ),
        (
            "{H\n\"states\": [{\"x\": 1}], \"edges\": [{\"from\": 0, \"to\": 0}, {\"from\": 0, \"to\": 0}]}",
            "m.json:2:55: found the transition from 0 to 0 again, expected it once",
        ),
        (
            "{H\n\"states\": [{\"x\": 1}, {\"x\": 2}], \"edges\": [{\"from\": 1, \"to\": 0}, {\"from\": 0, \"to\": 0}, {\"from\": 1, \"to\": 0}]}",
            "m.json:2:42: found the transition from 1 to 0 twice, expected it once",
        ),
        ("{H\n\"states\": [{\"x\": 1}]}", "m.json:2:21: found `}`, expected `edges` before it"),
        ("{H\n\"states\": [], \"edges\": []} x", "m.json:2:28: found `x`, expected the end of the file"),
        (
            "{H\n\"states\": [], \"states\": []}",
            "m.json:2:15: found `states` after `states`, expected it once and before",
        ),
        ("{H\n\"states\": [{\"x\": 1}, {\"x\"\u{e9}", "m.json:2:26: found `\u{e9}`, expected `:`"),
        (
            "{H\n\"states\": [{\"\\ud800\": 1}",
            "m.json:2:14: found a bad escape, expected `\\u` and four digits of a character",
        ),
    ];
    let mut wrong = Vec::new();
    for (text, expected) in cases {
        let text = text.replace("{H", head);
        let error = read("m.json", text.as_bytes()).unwrap_err().to_string();
        if error != *expected {
            wrong.push((text, error));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    let error = read("m.json", b"{\"a\": \"\n\xff\"}").unwrap_err();
    assert_eq!(error.to_string(), "m.json:2:1: found the byte 0xff, expected UTF-8 text");
}

#[test]
fn deep_values_are_refused() {
    let deep = "[".repeat(100_000);
    assert!(value(&deep).is_none());
    assert_eq!(
        value(&format!("{}1{}", "[".repeat(100), "]".repeat(100))).map(|value| value.kind()),
        Some("a list")
    );
    assert_eq!(
        value("[1, 2.0, \"\\u00e9\\ud83d\\ude00\", null] "),
        Some(Value::List(vec![Value::Int(1), Value::Real(2.0), Value::text("é\u{1F600}"), Value::Null,]))
    );
    for bad in ["01", "1.", "-", "1e", "nul", "[1,]", "{\"a\" 1}", "\"\n\"", "1e999"] {
        assert_eq!(value(bad), None, "{bad}");
    }
}

#[test]
fn two_variables_of_one_name_cannot_be_written() {
    let variable = Variable { name: "x".to_owned(), domain: Domain::Boolean, cells: Cells::Own(Vec::new()) };
    let model = Model { variables: vec![variable.clone(), variable], ..Model::default() };
    let error = write(&model, &mut Vec::new()).unwrap_err();
    assert!(
        matches!(&error, ModelError::Unfit(message) if message == "two variables are called `x`"),
        "{error}"
    );
}

/// Of many values of another variable few mean anything else: those are written, and read back.
#[test]
fn few_of_many_are_written_and_read() {
    let states = 5_000u32;
    let names = (0..states).map(|at| Value::text(&format!("s{at}"))).collect();
    let own = Variable {
        name: "state".into(),
        domain: Domain::Values(names),
        cells: Cells::Own((0..states).collect()),
    };
    let few = Codes::few(states as usize, 0, vec![(17, 1), (4_999, 1)]);
    let few = Variable { name: "p".into(), domain: Domain::Boolean, cells: Cells::Of(0, few) };
    let graph = Graph::from_edges(states as usize, (1..states).map(|to| (to - 1, to)));
    let model = Model { variables: vec![own, few], graph, initial: vec![0], ..Model::default() };
    for format in crate::FORMATS.iter().filter(|format| format.read.is_some()) {
        let mut out = Vec::new();
        (format.write)(&model, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.len() < 1 << 20, "{}", format.name);
        if format.name == "json" {
            assert!(text.contains(r#""of": "state", "common": 0, "others": [[17, 1], [4999, 1]]}"#));
        }
        let back = (format.read.unwrap())("m", text.as_bytes()).unwrap();
        assert_eq!((back.states(), &back.variables), (model.states(), &model.variables), "{}", format.name);
    }
}

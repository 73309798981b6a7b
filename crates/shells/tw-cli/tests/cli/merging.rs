//! What `merge` calls states, which traces it takes, and what it refuses.

use crate::common::{Run, command, directory, finish, words};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Files in a fresh directory, and commands that run there.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let folder = Self(directory(name));
        files.iter().for_each(|(name, text)| folder.write(name, text));
        folder
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.0.join(name), text).unwrap();
    }

    fn run(&self, line: &str) -> Run {
        self.run_with(line, "")
    }

    fn run_with(&self, line: &str, input: &str) -> Run {
        finish(command().current_dir(&self.0).args(words(line)), input)
    }

    /// Merges into `m.json`, and returns the run and the model.
    fn merge(&self, line: &str) -> (Run, Value) {
        self.merge_with(line, "")
    }

    fn merge_with(&self, line: &str, input: &str) -> (Run, Value) {
        let run = self.run_with(&format!("merge -o m.json {line}"), input);
        assert_eq!(run.code, 0, "{line}: {}", run.err);
        (run, serde_json::from_str(&std::fs::read_to_string(self.0.join("m.json")).unwrap()).unwrap())
    }

    fn refuses(&self, line: &str, messages: &[&str]) {
        self.refuses_with(line, "", messages);
    }

    fn refuses_with(&self, line: &str, input: &str, messages: &[&str]) {
        let run = self.run_with(line, input);
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{line}: {}", run.err);
        for message in messages {
            assert!(run.err.contains(message), "{line}: `{message}` is not in: {}", run.err);
        }
    }

    fn ask(&self, formula: &str) -> Value {
        let run = finish(
            command().current_dir(&self.0).args([
                "model-check",
                "m.json",
                "--ctl",
                formula,
                "--output",
                "json",
            ]),
            "",
        );
        assert!(run.code == 0 || run.code == 1, "{formula}: {}", run.err);
        run.json().remove(0)
    }
}

/// The names of the states, in the order of the file.
fn names(model: &Value) -> Vec<Value> {
    let states = model["states"].as_array().unwrap();
    states.iter().map(|state| state["state"].clone()).collect()
}

#[test]
fn different_states_have_different_names() {
    let rows = [
        r#"{"x": 1}"#,
        r#"{"x": "1"}"#,
        r#"{"x": null}"#,
        r#"{"x": "null"}"#,
        r#"{"x": "a,y=2"}"#,
        r#"{"x": "a", "y": 2}"#,
        r#"{"x": [1]}"#,
        r#"{"x": ["1"]}"#,
    ];
    let folder = Folder::new("names", &[("t.jsonl", &rows.join("\n"))]);
    let (_, model) = folder.merge("--keep state t.jsonl");
    let distinct: BTreeSet<String> = names(&model).iter().map(Value::to_string).collect();
    assert_eq!(distinct.len(), rows.len(), "{distinct:?}");
    assert_eq!(names(&model)[..3], ["x=1,y=null", "x=\"1\",y=null", "x=null,y=null"].map(|name| json!(name)));
    // They are found again in the trace.
    let answer = folder.ask("EF (y = 2)");
    assert_eq!((&answer["holds"], &answer["origin"]), (&json!(true), &json!("observed")), "{answer}");
    // In a format where all names are words, too.
    let run = folder.run("merge --keep state t.jsonl -o m.smv");
    assert_eq!(run.code, 0, "{}", run.err);
    let run = folder.run("model-check m.smv --ctl 'EF (y = 2)' --output json");
    assert_eq!((run.code, &run.json()[0]["holds"]), (0, &json!(true)), "{}", run.err);
}

#[test]
fn cells_that_look_like_names() {
    let folder = Folder::new("cells", &[("t.csv", "a,b\n\"1,b=2\",2\n1,2\n1,\"2,b=2\"\n")]);
    let (_, model) = folder.merge("--keep state t.csv");
    assert_eq!(names(&model), ["a=\"1,b=2\",b=2", "a=1,b=2", "a=1,b=\"2,b=2\""].map(|name| json!(name)));
}

#[test]
fn names_do_not_depend_on_threads() {
    let folder = Folder::new("threads", &[]);
    let mut files = String::new();
    for trace in 0..24 {
        let (x, y) = (trace % 5, trace % 3);
        let text = match trace % 2 {
            0 => format!("x,y\n{x},{y}\n"),
            _ => format!("y,z,x\n{y}.0,1,{x}\n"),
        };
        folder.write(&format!("{trace}.csv"), &text);
        files.push_str(&format!(" {trace}.csv"));
    }
    let (_, alone) = folder.merge(&format!("--keep state --threads 1{files}"));
    assert_eq!(names(&alone)[0], json!("x=0,y=0,z=null"), "{alone}");
    for _ in 0..4 {
        assert_eq!(folder.merge(&format!("--keep state --threads 4{files}")).1, alone);
    }
}

#[test]
fn names_of_the_model_s_own_are_refused() {
    let files = [
        ("t.csv", "state,time,x\na,1,1\nb,2,2\n"),
        ("own.csv", "node,back1,back2\n1,1,1\n2,2,2\n"),
        ("other.csv", "ts,time\n1,5\n2,6\n"),
        ("e.jsonl", "{\"event\": \"time\"}\n{\"event\": \"b\"}\n"),
        ("s.tw", "let state = x > 1;\n"),
        ("t.tw", "let low = x < 2;\nlet time = x > 1;\n"),
    ];
    let folder = Folder::new("own", &files);
    for keep in ["state", "time", "tree"] {
        let merge = format!("merge --keep {keep} -o m.json");
        folder.refuses(&format!("{merge} t.csv --state state,x"), &["the column `state`", "--state state"]);
        folder.refuses(&format!("{merge} t.csv --state time,state"), &["the column `time`", "instant"]);
        folder.refuses(&format!("{merge} t.csv --states s.tw"), &["`let` `state`", "another name"]);
        folder.refuses(&format!("{merge} t.csv --states t.tw"), &["`let` `time`", "another name"]);
        folder.refuses(&format!("{merge} other.csv --time ts"), &["the column `time`", "--state"]);
        folder.refuses(&format!("{merge} e.jsonl"), &["the event `time`"]);
        folder.refuses(&format!("{merge} t.csv --state x,x"), &["`x` is there twice"]);
        folder.merge(&format!("--keep {keep} t.csv --state state"));
    }
    folder.refuses("merge --keep tree own.csv -o m.json", &["the column `node`"]);
    folder.refuses("merge --keep history own.csv -o m.json", &["the column `back1`"]);
    folder.refuses("merge --keep history --history 2 own.csv --state back2,x -o m.json", &["`back2`"]);
    folder.merge("--keep state own.csv");
    folder.merge("--keep history own.csv --state node,back2");
    folder.merge("--keep tree own.csv --state node");
}

#[test]
fn standard_input_says_what_its_states_are() {
    let folder = Folder::new("stdin", &[("f.csv", "x\n1\n")]);
    let stdin =
        |line: &str, input: &str| names(&folder.merge_with(&format!("--keep state - {line}"), input).1);
    assert_eq!(stdin("--format csv", "x,state\n1,a\n2,b\n1,a\n"), ["a", "b"].map(|name| json!(name)));
    assert_eq!(stdin("--format csv", "state\n1.0\n1\n"), [json!(1)]);
    assert_eq!(stdin("--format csv", "time,x,y\n0,1,a\n1,2,\n"), ["x=1,y=a", "x=2,y=null"].map(|n| json!(n)));
    assert_eq!(stdin("", "{\"x\": 1}\n{\"y\": 2}\n"), ["x=1,y=null", "x=null,y=2"].map(|name| json!(name)));
    assert_eq!(stdin("", "{\"event\": \"a\"}\n{\"event\": \"b\"}\n"), ["a", "b"].map(|name| json!(name)));
    assert_eq!(stdin("--format csv f.csv", "x\n2\n"), ["x=2", "x=1"].map(|name| json!(name)));
    let merge = "merge --keep state -o m.json -";
    let late = "{\"x\": 1}\n{\"state\": \"a\"}\n";
    folder.refuses_with(merge, late, &["2:1", "a column `state`", "--state"]);
    let late = "{\"event\": \"a\"}\n{\"event\": \"b\", \"x\": 1}\n";
    folder.refuses_with(merge, late, &["2:1", "the variable `x`", "events alone", "--state"]);
    folder.refuses_with(&format!("{merge} --state stat"), "{\"state\": 1}\n", &["did you mean `state`?"]);
    folder.refuses_with(merge, "{\"node\": 1, \"back1\": 2}\n{\"time\": 3}\n", &["timestamp"]);
    folder.refuses_with("merge --keep tree -o m.json -", "{\"node\": 1}\n", &["`node`"]);
}

#[test]
fn standard_input_is_divided_in_one_go() {
    let folder = Folder::new(
        "divided",
        &[("s.tw", "let low = x < 2;\n"), ("two.tw", "let low = x < 2;\nlet d = x + 1;")],
    );
    let log = "user,state,x,event\nann,a,1,go\nbob,a,2,go\nann,b,3,stop\n,c,4,go\nbob,a,5,go\n";
    folder.write("t.csv", log);
    for states in ["", "--state x", "--state x,user", "--state event"] {
        let (run, piped) = folder.merge_with(&format!("--keep state --by user --format csv {states} -"), log);
        assert!(run.out.contains("from 2 traces of 4 positions"), "{}", run.out);
        let (_, read) = folder.merge(&format!("--keep state --by user {states} t.csv"));
        assert_eq!(names(&piped), names(&read), "{states}");
        assert_eq!(piped["edges"], read["edges"], "{states}");
    }
    let by = "merge --keep state -o m.json --format csv -";
    folder.refuses_with(&format!("{by} --by user --states s.tw"), log, &["standard input", "file first"]);
    folder.refuses_with(&format!("{by} --states two.tw"), log, &["standard input", "file first"]);
    folder.refuses_with(&format!("{by} --by usr --state x"), log, &["`usr`", "no value anywhere"]);
    folder.refuses_with(&format!("{by} --by user --state stat"), log, &["did you mean `state`?"]);
}

#[test]
fn positions_without_a_key_are_counted() {
    let log = "user,state\nann,a\n,b\nbob,a\n,c\n007,a\n7,b\n";
    let folder = Folder::new("keyless", &[("t.csv", log)]);
    let (run, model) = folder.merge("--keep state --by user t.csv");
    assert!(run.err.contains("2 positions have no `user`"), "{}", run.err);
    // Keys are texts: 007 is not 7.
    let traces: Vec<&str> = model["traces"].as_array().unwrap().iter().map(|t| t.as_str().unwrap()).collect();
    assert_eq!(traces, ["ann", "bob", "007", "7"].map(|user| format!("t.csv (user={user})")));
    folder.write("t.csv", "user,state\nann,a\n,b\n");
    let run = folder.run("merge --keep state --by user t.csv -o m.json --output json");
    assert!(run.err.contains("1 position has no `user`"), "{}", run.err);
    assert_eq!(run.json()[0]["without_key"], json!(1), "{}", run.out);
    folder.write("t.csv", "user,state\nann,a\n");
    assert!(!folder.merge("--keep state --by user t.csv").0.err.contains("no `user`"));
}

#[test]
fn states_of_one_kind_in_all_traces() {
    let files = [
        ("x.csv", "x\n1\n"),
        ("s.csv", "x,state\n1,a\n"),
        ("e.jsonl", "{\"event\": \"a\"}\n"),
        ("v.jsonl", "{\"event\": \"a\", \"x\": 1}\n"),
    ];
    let folder = Folder::new("kinds", &files);
    let merge = "merge --keep state -o m.json";
    folder.refuses(&format!("{merge} x.csv s.csv"), &["s.csv:2:1", "a column `state`", "--state"]);
    folder.refuses(&format!("{merge} s.csv x.csv"), &["x.csv", "`state`"]);
    folder.refuses(&format!("{merge} e.jsonl v.jsonl"), &["v.jsonl:1:1", "the variable `x`", "--state"]);
    folder.merge("--keep state x.csv s.csv --state x");
    folder.merge("--keep state e.jsonl v.jsonl --state event");
}

#[test]
fn properties_of_any_name() {
    let files = [
        ("t.csv", "queue\n1\n3\n"),
        (
            "s.tw",
            "let `we ird` = queue == 1;\nlet over(n) = queue > n;\nlet `a``b` = queue + 1;\nlet `none` = over(2);\n",
        ),
        ("only.tw", "let over(n) = queue > n;\n"),
        ("bad.tw", "let fine = queue > 1;\nlet bad = (queue > 1) + 2;\n"),
        ("syntax.tw", "let p = 1 < ;\n"),
    ];
    let folder = Folder::new("lets", &files);
    let (_, model) = folder.merge("--keep state t.csv --states s.tw");
    assert_eq!(names(&model), ["we ird+a`b=2", "a`b=4+none"].map(|name| json!(name)));
    assert_eq!(folder.ask("EF (`we ird` & EX `none`)")["holds"], json!(true));
    let merge = "merge --keep state -o m.json t.csv --states";
    folder.refuses(&format!("{merge} only.tw"), &["names no states", "parameters"]);
    for (file, place) in [("bad.tw", "bad.tw:2:"), ("syntax.tw", "syntax.tw:1:")] {
        folder.refuses(&format!("{merge} {file}"), &[place]);
        let run = folder.run(&format!("{merge} {file}"));
        assert!(!run.err.contains("property") && !run.err.contains("query"), "{}", run.err);
        assert!(!run.err.contains(&format!("{file}:3:")), "{}", run.err);
    }
}

#[test]
fn how_traces_were_read_is_remembered() {
    let files = [("t.csv", "time,p\n0,1\n1,0\n50,0\n200,0\n"), ("s.tw", "let recent = O[0,100ms] p == 1;\n")];
    let folder = Folder::new("remembered", &files);
    for (options, lines) in [("--time-unit ms", json!([4, 5])), ("--clock index", json!(null))] {
        if options.contains("index") {
            folder.write("s.tw", "let recent = O[0,1] p == 1;\n");
        }
        let (_, model) = folder.merge(&format!("--keep time t.csv --states s.tw {options}"));
        let answer = folder.ask("EF (recent & EX !recent)");
        assert_eq!(
            (&answer["holds"], &answer["origin"]),
            (&json!(true), &json!("observed")),
            "{answer}: {model}"
        );
        let told = answer["pieces"][0]["lines"].as_array().unwrap();
        assert!(lines.is_null() || told.ends_with(lines.as_array().unwrap()), "{answer}");
    }
}

#[test]
fn options_that_do_not_go_together() {
    let folder = Folder::new("together", &[("a.csv", "state\na\nb\na\n"), ("b.csv", "state\na\n")]);
    folder.refuses("merge --keep history --history 4294967295 a.csv -o m.json", &["1 to 64", "tree"]);
    folder.refuses("merge --keep history --history 65 a.csv -o m.json", &["1 to 64"]);
    folder.refuses("merge --keep history --history 0 a.csv -o m.json", &["--keep state"]);
    folder.refuses("merge --keep time --history 2 a.csv -o m.json", &["--keep history"]);
    folder.merge("--keep history --history 64 a.csv");
    folder.merge("--keep history a.csv");
    folder.refuses("merge --keep state a.csv -o - --ctl 'EF a'", &["standard output", "model-check"]);
    let alone = folder.run("merge --keep state b.csv -o -");
    assert!(serde_json::from_str::<Value>(&alone.out).is_ok(), "{}", alone.out);
    folder.refuses("merge --keep state --concat a.csv b.csv -o m.json", &["--concat", "convert"]);
    folder.merge("--keep state --concat a.csv");
    let run = folder.run("convert --concat a.csv b.csv -o all.jsonl");
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(folder.merge("--keep state all.jsonl").0.out.contains("1 trace of 4 positions"));
}

#[test]
fn ends_that_are_lost() {
    let folder = Folder::new("lost", &[("a.csv", "state\na\nb\na\n"), ("b.csv", "state\na\n")]);
    let (run, _) = folder.merge("--keep state a.csv");
    assert!(run.err.contains("1 trace ends where it went on before;"), "{}", run.err);
    let (run, _) = folder.merge("--keep state a.csv b.csv");
    assert!(run.err.contains("2 traces end where others go on;"), "{}", run.err);
}

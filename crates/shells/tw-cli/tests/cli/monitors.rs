//! `check` and `watch` run monitors: reports, categories, severities, ends, keys, checkpoints.

use crate::common::{tracewise, tracewise_with};
use crate::shared::{directory, root};
use serde_json::{Value, json};

const LOG: &str = "getC,m1,c1\ngetI,c1,i1\nopen,f1\nuseI,i1\nmodifyM,m1\nuseI,i1\nopen,f2\nclose,f1\n";

fn rules() -> String {
    root().join("examples/iterators/rules.tw").display().to_string()
}

/// A specification in a file of its own.
fn spec(test: &str, text: &str) -> String {
    let path = directory(test).join("s.tw");
    std::fs::write(&path, text).expect("written");
    path.display().to_string()
}

#[test]
fn reports_have_bindings_categories_severities_and_texts() {
    let run = tracewise_with(&format!("check {} --format events --output json -", rules()), LOG);
    assert_eq!(run.code, 1, "{}", run.err);
    let [stale, open] = &run.json()[..] else { panic!("{}", run.out) };
    assert_eq!(stale["property"], "UnsafeIterator");
    assert_eq!((&stale["verdict"], &stale["position"]), (&json!("violated"), &json!(5)));
    assert_eq!((&stale["engine"], &stale["violation_count"]), (&json!("parametric"), &json!(1)));
    let found = &stale["violations"][0];
    assert_eq!(found["bindings"], json!({"m": "m1", "c": "c1", "i": "i1"}));
    assert_eq!((&found["category"], &found["severity"]), (&json!("match"), &json!("error")));
    assert_eq!(found["text"], "iterator i1 of c1 is stale");
    // Line by line, with the step of the automaton.
    let steps: Vec<&Value> = stale["explanation"]["because"].as_array().expect("steps").iter().collect();
    let places: Vec<&Value> = steps.iter().map(|step| &step["from"]).collect();
    assert_eq!(
        places,
        [0, 1, 3, 4, 5].iter().map(|at| json!(at)).collect::<Vec<_>>().iter().collect::<Vec<_>>()
    );
    // At the end there is no position.
    let found = &open["violations"][0];
    assert_eq!((&open["position"], &found["position"]), (&Value::Null, &Value::Null));
    assert_eq!((&found["bindings"], &found["category"]), (&json!({"f": "f2"}), &json!("violation")));
    assert_eq!((&found["severity"], &found["text"]), (&json!("warning"), &json!("f2 is left open")));
}

#[test]
fn severities_decide_the_exit_code() {
    let monitor = |severity: &str| format!("monitor Bad(x) {severity} {{ event bad(x); }}\n");
    for (severity, plain, denied) in [("error", 1, 1), ("warning", 0, 1), ("suggestion", 0, 0), ("", 1, 1)] {
        let spec = spec(&format!("monitors-{severity}"), &monitor(severity));
        for command in ["check", "watch"] {
            let run = |deny: &str| {
                tracewise_with(&format!("{command} {deny} {spec} --format events -"), "bad,1\nbad,2\n").code
            };
            assert_eq!((run(""), run("--deny warnings")), (plain, denied), "{command} {severity}");
            let silent = tracewise_with(&format!("{command} {spec} --format events -"), "good,1\n");
            assert_eq!(silent.code, 0, "{}", silent.err);
        }
    }
}

#[test]
fn live_reports_are_those_of_the_stored_trace() {
    let run = tracewise_with(&format!("watch {} --format events --output json -", rules()), LOG);
    assert_eq!(run.code, 1, "{}", run.err);
    let lines = run.json();
    let violated: Vec<&Value> = lines.iter().filter(|line| line["verdict"] == "violated").collect();
    assert_eq!(violated.len(), 2, "{}", run.out);
    assert_eq!(violated[0]["position"], 5);
    assert_eq!(violated[0]["violation"]["text"], "iterator i1 of c1 is stale");
    assert_eq!(violated[0]["violation"]["category"], "match");
    assert_eq!(
        (&violated[1]["violation"]["position"], &violated[1]["settled"]),
        (&Value::Null, &json!(false))
    );
}

#[test]
fn a_checkpoint_holds_the_bindings() {
    let folder = directory("monitors-checkpoint");
    let (log, state) = (folder.join("log.events"), folder.join("state"));
    let lines: Vec<&str> = LOG.lines().collect();
    let line = format!(
        "watch {} {} --output json --checkpoint {} --resume",
        rules(),
        log.display(),
        state.display()
    );
    // The last line may be cut, so it is read again.
    std::fs::write(&log, lines[..4].join("\n") + "\n").expect("written");
    assert_eq!(tracewise(&line).code, 0);
    std::fs::write(&log, LOG).expect("written");
    let run = tracewise(&line);
    assert_eq!(run.code, 1, "{}", run.err);
    let stale = run.json().into_iter().find(|line| line["property"] == "UnsafeIterator").expect("a report");
    assert_eq!(stale["violation"]["bindings"], json!({"m": "m1", "c": "c1", "i": "i1"}));
    // What was told is told again.
    let again = tracewise(&line).json();
    assert!(again.iter().any(|line| line["violation"]["text"] == "iterator i1 of c1 is stale"), "{again:?}");
}

#[test]
fn keys_have_monitors_of_their_own() {
    let spec = spec("monitors-by", "monitor Twice(x) { event f(x); ere : f f; }\n");
    let log = "event,x,k\nf,1,a\nf,1,b\nf,1,a\n";
    let run = tracewise_with(&format!("check {spec} --by k --format csv --output json -"), log);
    assert_eq!(run.code, 1, "{}", run.err);
    let found = &run.json()[0]["violations"];
    assert_eq!(found[0]["bindings"], json!({"x": 1, "k": "a"}));
    assert_eq!((&found[0]["position"], found.as_array().map(Vec::len)), (&json!(2), Some(1)));
}

#[test]
fn properties_and_monitors_share_a_reading() {
    let spec = spec("monitors-beside", "property calm : G !bad;\nmonitor Bad(x) { event bad(x); }\n");
    let run = tracewise_with(&format!("check {spec} --format events --output json -"), "bad,1\ngood,2\n");
    let names: Vec<Value> = run.json().iter().map(|line| line["property"].clone()).collect();
    assert_eq!((run.code, names), (1, vec![json!("calm"), json!("Bad")]), "{}", run.err);
    let alone = tracewise_with(&format!("check --engine parametric {} --format events -", rules()), LOG);
    assert_eq!(alone.code, 1, "{}", alone.err);
}

/// The example's files, to be run in a folder of their own.
fn example() -> (String, String) {
    (rules(), root().join("examples/iterators/log.events").display().to_string())
}

#[test]
fn names_select_monitors() {
    let (rules, log) = example();
    let only = tracewise(&format!("check {rules} {log} --only Closed --output json"));
    let names: Vec<Value> = only.json().iter().map(|line| line["property"].clone()).collect();
    // A warning alone, and of the other monitor's events nothing is said.
    assert_eq!((only.code, names, only.err.as_str()), (0, vec![json!("Closed")], ""));
    let live = tracewise(&format!("watch {rules} {log} --only Closed --output json"));
    assert_eq!((live.code, live.json().len()), (0, 1), "{}", live.out);
    let denied = tracewise(&format!("check {rules} {log} --only Closed --deny warnings"));
    assert_eq!(denied.code, 1);
    assert_eq!(tracewise(&format!("check {rules} {log} --only Closd")).code, 2);
}

#[test]
fn every_output_tells_reports() {
    let (rules, log) = example();
    for command in ["check", "watch"] {
        let run = |output: &str| {
            let run = tracewise(&format!("{command} {rules} {log} --output {output}"));
            assert_eq!(run.code, 1, "{}", run.err);
            run.out
        };
        let junit = run("junit");
        let elements = crate::outputs::elements(&junit);
        let failures: Vec<&String> = elements
            .iter()
            .filter(|(name, _)| name == "failure")
            .map(|(_, attributes)| &attributes[0].1)
            .collect();
        assert_eq!(failures, ["violated", "warning"], "{junit}");
        assert!(junit.contains("iterator i1 of c1 is stale") && junit.contains("f2 is left open"), "{junit}");
        assert!(junit.contains("violated at the end of the trace, f = "), "{junit}");

        let sarif: Value = serde_json::from_str(&run("sarif")).expect("JSON");
        let results = sarif["runs"][0]["results"].as_array().expect("results");
        let levels: Vec<&Value> = results.iter().map(|result| &result["level"]).collect();
        assert_eq!(levels, [&json!("error"), &json!("warning")]);
        let text = |at: usize| results[at]["message"]["text"].as_str().expect("a text").to_owned();
        assert!(
            text(0).contains("iterator i1 of c1 is stale") && text(1).contains("f2 is left open"),
            "{results:?}"
        );
        let region = &results[0]["locations"][0]["physicalLocation"]["region"];
        assert_eq!(region["startLine"], 6, "{results:?}");

        let github = run("github");
        let lines: Vec<&str> = github.lines().filter(|line| line.starts_with("::")).collect();
        assert!(lines[0].starts_with("::error ") && lines[0].contains("line=6"), "{github}");
        assert!(lines[1].starts_with("::warning ") && lines[1].contains("f2 is left open"), "{github}");

        let html = run("html");
        assert!(html.contains("iterator i1 of c1 is stale") && html.contains("f2 is left open"), "{html}");
        // How many there are in each part of the log.
        assert!(html.contains("<svg viewBox"), "{command}: {html}");
    }
}

#[test]
fn as_many_reports_are_listed_as_asked_for() {
    let spec = spec("monitors-listed", "monitor Bad(x) { event bad(x); on match \"{x} is bad\"; }\n");
    let log: String = (0..25).map(|at| format!("bad,{at}\n")).collect();
    for (violations, listed) in
        [("", 10), ("--violations 3", 3), ("--violations all", 25), ("--violations 0", 0)]
    {
        let run = tracewise_with(&format!("check {spec} {violations} --format events --output json -"), &log);
        let found = &run.json()[0];
        assert_eq!((run.code, &found["violation_count"], &found["position"]), (1, &json!(25), &json!(0)));
        assert_eq!(found["violations"].as_array().map(Vec::len), Some(listed));
    }
    // Each is said in words, the first too.
    for explain in ["", "--no-explain"] {
        let run = tracewise_with(&format!("check {spec} {explain} --violations 2 --format events -"), &log);
        assert!(run.out.contains("0 is bad") && run.out.contains("1 is bad"), "{}", run.out);
    }
}

/// As gzip holds what it does not compress.
fn gzip(bytes: &[u8]) -> Vec<u8> {
    let crc = bytes.iter().fold(!0u32, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| crc >> 1 ^ if crc & 1 == 1 { 0xedb8_8320 } else { 0 })
    });
    let len = bytes.len() as u16;
    let mut out = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255, 1];
    out.extend(len.to_le_bytes().into_iter().chain((!len).to_le_bytes()));
    out.extend_from_slice(bytes);
    out.extend((!crc).to_le_bytes().into_iter().chain(u32::from(len).to_le_bytes()));
    out
}

#[test]
fn several_traces_and_compressed_ones() {
    let folder = directory("monitors-several");
    let (rules, log) = example();
    let packed = folder.join("log.events.gz");
    std::fs::write(&packed, gzip(LOG.as_bytes())).expect("written");
    let run = tracewise(&format!("check {rules} {log} {} --output json", packed.display()));
    let lines = run.json();
    assert_eq!((run.code, lines.len()), (1, 4), "{}", run.err);
    for at in [0, 1] {
        let [plain, packed] = [at, at + 2].map(|at| &lines[at]["violations"][0]);
        for name in ["position", "bindings", "category", "text"] {
            assert_eq!(plain[name], packed[name]);
        }
        assert_eq!(lines[at]["explanation"]["because"].as_array().map(Vec::len), [Some(5), Some(1)][at]);
    }
}

#[test]
fn a_command_is_run_for_each_report() {
    let folder = directory("monitors-command");
    let told = folder.join("told");
    let (rules, log) = example();
    let run = tracewise(&format!("watch {rules} {log} -q --on-violation 'cat >> {}'", told.display()));
    assert_eq!(run.code, 1, "{}", run.err);
    let told = std::fs::read_to_string(told).expect("what was told");
    let line: Value = serde_json::from_str(told.trim()).expect("one object");
    assert_eq!(line["violation"]["text"], "iterator i1 of c1 is stale");
}

#[test]
fn traces_of_values_end() {
    let text = "monitor Closed(f) { event open(f); event close(f); ltl : open -> F close; on violation \"{f} is open\"; }\n";
    let spec = spec("monitors-until", text);
    let log = "time,event,f,k\n1,open,1,a\n2,open,1,b\n3,close,1,b\n4,done,1,a\n5,open,1,a\n6,close,1,a\n60,open,2,c\n";
    let run = tracewise_with(&format!("watch {spec} --by k --until done --format csv --output json -"), log);
    let told: Vec<(Value, Value, Value, Value)> = run
        .json()
        .iter()
        .map(|line| {
            let of = |name: &str| line[name].clone();
            (of("bindings")["k"].clone(), of("verdict"), of("ended"), of("position"))
        })
        .collect();
    let (violated, satisfied) = (json!("violated"), json!("satisfied"));
    assert_eq!(
        told,
        [
            (json!("a"), violated.clone(), json!("until"), json!(3)),
            (json!("a"), satisfied.clone(), Value::Null, json!(5)),
            (json!("b"), satisfied.clone(), Value::Null, json!(2)),
            (json!("c"), violated.clone(), Value::Null, json!(6)),
        ],
        "{}",
        run.out
    );
    assert_eq!(run.code, 1);
    let run = tracewise_with(&format!("watch {spec} --by k --idle 10s --format csv --output json -"), log);
    let ended: Vec<(Value, Value)> = run
        .json()
        .iter()
        .filter(|line| line["ended"] == "idle")
        .map(|line| (line["bindings"]["k"].clone(), line["verdict"].clone()))
        .collect();
    let mut ended: Vec<String> = ended.iter().map(|(key, verdict)| format!("{key} {verdict}")).collect();
    ended.sort();
    assert_eq!(ended, ["\"a\" \"satisfied\"", "\"b\" \"satisfied\""], "{}", run.out);
}

#[test]
fn a_monitor_that_can_report_nothing_is_told() {
    let text =
        "monitor Closed(f) {\n    creation event close(f);\n    event open(f);\n    ere : open close;\n}\n";
    for (name, text, says) in [
        ("creation", text.to_owned(), "no trace from `close` on comes to `match`"),
        (
            "fsm",
            "monitor Never(f) { event open(f); fsm : s [ open -> s ]; }".into(),
            "no events come to `fail`",
        ),
        (
            "ltl",
            "monitor True(f) { event open(f); ltl : open | !open; }".into(),
            "no events come to `violation`",
        ),
    ] {
        let spec = spec(&format!("monitors-silent-{name}"), &text);
        for command in ["check", "watch"] {
            let run = tracewise_with(&format!("{command} {spec} --format events -"), "open,1\nclose,1\n");
            assert!(
                run.code == 0 && run.err.contains("never-reports") && run.err.contains(says),
                "{}",
                run.err
            );
            let run = tracewise_with(
                &format!("{command} --deny warnings {spec} --format events -"),
                "open,1\nclose,1\n",
            );
            assert_eq!(run.code, 1, "{}", run.err);
        }
    }
    // Not told twice, nor of what can.
    let empty = spec("monitors-silent-empty", "monitor None(f) { event open(f); ere : open & epsilon; }");
    let run = tracewise_with(&format!("check {empty} --format events -"), "open,1\n");
    assert!(run.err.contains("empty-language") && !run.err.contains("never-reports"), "{}", run.err);
    let strict = text.replace("(f) {\n    creation", "(f) strict {\n    creation");
    let run = tracewise_with(
        &format!("check {} --format events -", spec("monitors-silent-strict", &strict)),
        "open,1\n",
    );
    assert_eq!((run.code, run.err.contains("never-reports")), (0, false), "{}", run.err);
}

#[test]
fn more_bindings_than_the_budget_are_an_error() {
    let text = "monitor Used(f) { event use(f); event free(f); ere : use free; }\n";
    let spec = spec("monitors-budget", text);
    // Whole, live, and by a key that every line has another value of.
    let log: String = (0..20_000).map(|at| format!("use,{at}\n")).collect();
    let keyed: String = std::iter::once("event,f,k\n".to_owned())
        .chain((0..20_000).map(|at| format!("use,{at},{}\n", at % 2000)))
        .collect();
    for command in ["check", "watch"] {
        for (options, log) in [("--format events", &log), ("--by k --format csv", &keyed)] {
            let run = tracewise_with(&format!("{command} --memory 64KB {options} {spec} -"), log);
            assert_eq!((run.code, run.out.as_str()), (2, ""), "{command} {options} {}", run.err);
            for part in ["bindings of the monitor `Used`", "memory budget of 64000", "--memory", "`end`"] {
                assert!(run.err.contains(part), "{command} {options} {part} {}", run.err);
            }
            let enough = tracewise_with(&format!("{command} -q {options} {spec} -"), log);
            assert_eq!(enough.code, 0, "{command} {options} {}", enough.err);
        }
    }
}

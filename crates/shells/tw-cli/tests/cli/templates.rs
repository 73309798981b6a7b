//! Events that are templates of texts, and `templates`, which finds them.

use crate::common::{tracewise, tracewise_with};
use serde_json::{Value, json};
use std::path::PathBuf;

const SPEC: &str = r#"
event failed(user, ip, port: int) = text "Failed password for {user} from {ip} port {port} ssh2";
event accepted(user, ip) = text "Accepted password for {user} from {ip} port {_:int} ssh2";
event opened(user) = text "session opened for user {user} by {_:rest}";
event closed(user) = text "session closed for user {user}";

property guessed "no success from an address with three failures in the last minute" :
  G forall u, i. accepted(u, i) -> count(p : O[<=1m] failed(_, i, p)) < 3;
property tidy "every opened session is closed" : G forall u. opened(u) -> F closed(u);
"#;

/// A folder of files.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        Self(crate::shared::directory(name))
    }

    fn file(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        std::fs::write(&path, text).expect("a file");
        path.to_str().expect("a name").to_owned()
    }
}

/// Lines of a log as CSV, its text in the column of that name.
fn log() -> String {
    let lines = [
        (0, "sshd[1]: Failed password for root from 10.0.0.9 port 1001 ssh2"),
        (5, "sshd[1]: Failed password for root from 10.0.0.9 port 1002 ssh2"),
        (9, "sshd[2]: Accepted password for ann from 10.0.0.7 port 1003 ssh2"),
        (9, "sshd[2]: pam_unix(sshd:session): session opened for user ann by (uid=0)"),
        (30, "sshd[1]: Failed password for ann from 10.0.0.9 port 1004 ssh2"),
        (50, "sshd[1]: Accepted password for root from 10.0.0.9 port 1005 ssh2"),
        (51, "sshd[1]: pam_unix(sshd:session): session opened for user root by (uid=0)"),
        (70, "sshd[2]: pam_unix(sshd:session): session closed for user ann"),
        (71, "kernel: nothing of this, \"quoted\""),
    ];
    let row = |(time, text): (u32, &str)| format!("{time},\"{}\"\n", text.replace('"', "\"\""));
    "time,text\n".to_owned() + &lines.map(row).concat()
}

fn checked(name: &str, options: &str, spec: &str, log: &str) -> Vec<Value> {
    let folder = Folder::new(name);
    let (spec, log) = (folder.file("s.tw", spec), folder.file("l.csv", log));
    let run = tracewise(&format!("check {spec} {log} --output json {options}"));
    assert!(run.code < 2, "{}", run.err);
    run.json()
}

#[test]
fn events_of_a_text_are_events_like_any() {
    let found = checked("templates-events", "", SPEC, &log());
    assert_eq!(found[0]["verdict"], "violated");
    assert_eq!(found[0]["violations"][0]["position"], 5);
    assert_eq!(found[0]["violations"][0]["bindings"], json!({"u": "root", "i": "10.0.0.9"}));
    assert_eq!(found[1]["verdict"], "violated");
    assert_eq!(found[1]["violations"][0]["bindings"], json!({"u": "root"}));
    for engine in ["reference", "relational"] {
        let other = checked("templates-engines", &format!("--engine {engine}"), SPEC, &log());
        for (one, other) in found.iter().zip(&other) {
            assert_eq!(one["violations"][0]["bindings"], other["violations"][0]["bindings"], "{engine}");
        }
    }
}

#[test]
fn placeholders_are_columns_and_keys() {
    let spec = r#"event failed(user, ip, port: int) = text "Failed password for {user} from {ip} port {port} ssh2";
        property thrice : G (failed -> O Y failed);
        property low : G (port < 1004);
        property root : G (failed -> user == "root");
        property event_with_constants : G !failed("root", _, 1002);"#;
    let found = checked("templates-by", "--by ip", spec, &log());
    let key = json!({"ip": "10.0.0.9"});
    assert!(
        found.iter().all(|one| one["bindings"] == key || one["violations"][0]["bindings"] == key),
        "{found:#?}"
    );
    let verdicts: Vec<&Value> = found.iter().map(|one| &one["verdict"]).collect();
    assert_eq!(verdicts.len(), 4, "{found:#?}");
    let whole = checked(
        "templates-columns",
        "",
        &spec.replace("property thrice : G (failed -> O Y failed);", ""),
        &log(),
    );
    let at: Vec<&Value> = whole.iter().map(|one| &one["violations"][0]["position"]).collect();
    // A null number is not below anything: the comparison is false.
    assert_eq!(at, [&json!(2), &json!(4), &json!(1)]);
}

#[test]
fn live_as_stored() {
    let folder = Folder::new("templates-live");
    let spec = folder.file("s.tw", SPEC);
    let lines: String = log()
        .lines()
        .skip(1)
        .map(|line| {
            let (time, text) = line.split_once(',').expect("two cells");
            let text = text.trim_matches('"').replace("\"\"", "\"");
            json!({"time": time.parse::<u32>().expect("a number"), "text": text}).to_string() + "\n"
        })
        .collect();
    let run = tracewise_with(&format!("watch {spec} --format jsonl --output json -"), &lines);
    let told = run.json();
    let guessed = told.iter().find(|one| one["property"] == "guessed").expect("a verdict");
    assert_eq!(
        (&guessed["verdict"], &guessed["position"]),
        (&json!("violated"), &json!(5)),
        "{told:#?} {}",
        run.err
    );
}

#[test]
fn a_template_that_matches_nothing_is_told_with_the_nearest_line() {
    let spec = r#"event failed(user) = text "Failed password for invalid user {user} from"; property p : G !failed;"#;
    let folder = Folder::new("templates-nothing");
    let (spec, log) = (folder.file("s.tw", spec), folder.file("l.csv", &log()));
    let run = tracewise(&format!("check {spec} {log}"));
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.err.contains("no line contains the template of `failed`"), "{}", run.err);
    assert!(run.err.contains("Failed password for root from 10.0.0.9 port 1001"), "{}", run.err);
}

#[test]
fn the_first_template_wins() {
    let spec = r#"event a(x) = text "for {x} from"; event b(x) = text "from {x} port"; property p : G (x == "10.0.0.7" -> false);"#;
    let folder = Folder::new("templates-disagree");
    let (spec, log) = (folder.file("s.tw", spec), folder.file("l.csv", &log()));
    let run = tracewise(&format!("check {spec} {log}"));
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.err.contains("warning[templates-disagree]"), "{}", run.err);
}

#[test]
fn templates_are_found_and_can_be_pasted() {
    let lines = |n: usize| match n % 3 {
        0 => format!("{n},Failed password for root from 10.0.0.{} port {} ssh2\n", n % 7, 1000 + n),
        1 => format!("{n},session opened for user u{} by (uid={})\n", n % 9, n % 4),
        _ => format!("{n},Connection closed by 10.1.0.{}\n", n % 5),
    };
    // Going back in time does not matter.
    let log: String = (0..300).rev().map(lines).collect();
    let folder = Folder::new("templates-found");
    let log = folder.file("l.csv", &format!("time,text\n{log}"));
    let found = tracewise(&format!("templates {log} --output json"));
    assert_eq!(found.code, 0, "{}", found.err);
    let found = found.json();
    assert_eq!(found.len(), 3, "{found:#?}");
    assert!(found.iter().all(|one| one["lines"] == 100), "{found:#?}");
    let each = tracewise(&format!("templates {log} --each --output json")).json();
    assert_eq!(each.len(), 300);
    assert_eq!(each[1]["position"], 1);
    assert_eq!(each[0]["event"], each[3]["event"]);
    assert_ne!(each[0]["event"], each[1]["event"]);
    let text = tracewise(&format!("templates {log}"));
    let name = |one: &Value| one["event"].as_str().expect("a name").to_owned();
    let names: Vec<String> = found.iter().map(name).collect();
    let spec = format!("{}\nproperty some : G ({});\n", text.out, names.join(" | "));
    let spec = folder.file("s.tw", &spec);
    let checked = tracewise(&format!("check {spec} {log} --sort 1000"));
    assert_eq!(checked.code, 0, "{}\n{}", text.out, checked.err);
}

/// The log as plain lines.
fn plain() -> String {
    let line = |line: &str| {
        let (time, text) = line.split_once(',').expect("two cells");
        let (time, text) = (time.parse::<u32>().expect("a number"), text.trim_matches('"'));
        format!("2015-12-10 06:{:02}:{:02} host {}\n", time / 60, time % 60, text.replace("\"\"", "\""))
    };
    log().lines().skip(1).map(line).collect()
}

#[test]
fn monitors_take_events_that_are_templates() {
    let spec = format!(
        "{}\n{}",
        SPEC.split("property").next().expect("declarations"),
        r#"monitor Tidy(user) "every opened session is closed" {
            event opened(user);
            event closed(user);
            ltl : opened -> F closed;
            on violation "{user} is left open";
        }
        monitor Guess(ip) {
            event wrong(ip) = failed(_, ip, _);
            event right(ip) = accepted(_, ip);
            ere : wrong wrong wrong right;
            on match "{ip} guessed";
        }"#
    );
    let folder = Folder::new("templates-monitors");
    let (spec, lines) = (folder.file("s.tw", &spec), folder.file("l.log", &plain()));
    let stored = tracewise(&format!("check {spec} {lines} --output json"));
    assert_eq!(stored.code, 1, "{}", stored.err);
    let told: Vec<(Value, Value)> = stored
        .json()
        .iter()
        .map(|one| (one["monitor"].clone(), one["violations"][0]["bindings"].clone()))
        .collect();
    assert!(stored.out.contains("\"user\":\"root\"") && !stored.out.contains("\"user\":\"ann\""), "{told:?}");
    assert!(stored.out.contains("\"ip\":\"10.0.0.9\"") && !stored.out.contains("10.0.0.7"), "{told:?}");
    let live = tracewise_with(&format!("watch {spec} --format lines --output json -"), &plain());
    assert!(
        live.out.contains("10.0.0.9") && live.out.contains("\"user\":\"root\""),
        "{}\n{}",
        live.out,
        live.err
    );
}

#[test]
fn queries_and_keys_take_placeholders() {
    let folder = Folder::new("templates-queries");
    let spec = format!(
        "{}\nquery failures : count[failed] ?? 0;\nquery highest : max[port];\nquery each : count[failed] by ip;",
        SPEC.split("property").next().expect("declarations")
    );
    let (spec, lines) = (folder.file("s.tw", &spec), folder.file("l.log", &plain()));
    let found = tracewise(&format!("query {spec} {lines} --output json"));
    assert_eq!(found.code, 0, "{}", found.err);
    let found = found.json();
    let value = |name: &str| found.iter().find(|one| one["query"] == name).map(|one| one["value"].clone());
    assert_eq!(value("failures"), Some(json!(3)), "{found:#?}");
    assert_eq!(value("highest"), Some(json!(1004)), "{found:#?}");
    assert!(
        found
            .iter()
            .any(|one| one["query"] == "each" && one["by"] == json!({"ip": "10.0.0.9"}) && one["value"] == 3),
        "{found:#?}"
    );
    // The same key for properties, stored and live.
    let spec = folder.file(
        "k.tw",
        &format!(
            "{}\nproperty thrice : G (failed -> O Y failed);",
            SPEC.split("property").next().expect("declarations")
        ),
    );
    let stored = tracewise(&format!("check {spec} {lines} --by ip --output json")).json();
    assert_eq!(stored[0]["violations"][0]["bindings"], json!({"ip": "10.0.0.9"}), "{stored:#?}");
    assert_eq!(stored[0]["by"]["values"], 2, "{stored:#?}");
    let live = tracewise_with(&format!("watch {spec} --format lines --by ip --output json -"), &plain());
    assert!(
        live.out.contains("\"ip\":\"10.0.0.9\"")
            && !live.out.contains("\"ip\":\"10.0.0.7\",\"verdict\":\"violated\""),
        "{}",
        live.out
    );
}

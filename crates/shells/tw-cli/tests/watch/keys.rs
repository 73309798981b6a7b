//! `watch --by`: every value of a column has a trace of its own.

use crate::common::command;
use crate::process::run;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::process::Stdio;

const SPEC: [&str; 3] = ["G (req -> F[0,5s] ack)", "G !bad", "G (bad -> O req)"];

/// Violations by property and key: how many, and the first.
type Found = BTreeMap<(String, String), (u64, u64)>;

/// A log of random events of so many users; some lines have no user.
fn log(seed: u64, lines: usize, users: u64) -> String {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut roll = |sides: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 20) % sides
    };
    let (mut text, mut time) = (String::new(), 0);
    for _ in 0..lines {
        time += roll(3) * 500 / users.clamp(1, 500);
        let event = ["req", "ack", "ack", "bad", "idle"][roll(5) as usize];
        let user = roll(users + users / 50);
        let seconds = format!("{}.{:03}", time / 1000, time % 1000);
        let _ = match user < users {
            true => writeln!(text, r#"{{"time":{seconds},"event":"{event}","id":{{"user":"u{user}"}}}}"#),
            false => writeln!(text, r#"{{"time":{seconds},"event":"{event}"}}"#),
        };
    }
    text
}

fn arguments<'a>(extra: &[&'a str]) -> Vec<&'a str> {
    let mut all = vec!["--by", "id.user", "--output", "json"];
    SPEC.iter().for_each(|formula| all.extend(["-e", formula]));
    all.extend(extra);
    all
}

/// What the lines of a watch say.
fn told(lines: &[Value]) -> Found {
    let mut found = Found::new();
    for line in lines.iter().filter(|line| line["verdict"] == "violated") {
        let key = (line["property"].to_string(), line["bindings"]["id.user"].to_string());
        let (count, first) = found.entry(key).or_insert((0, u64::MAX));
        *count += line["violation_count"].as_u64().unwrap();
        *first = line["violation"]["position"].as_u64().unwrap().min(*first);
    }
    found
}

/// What `check --by` says of the same log.
fn checked(log: &str) -> (Option<i32>, Found) {
    let mut command = command();
    command.arg("check").args(arguments(&["--violations", "all", "--no-explain", "-"]));
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let log = log.to_string();
    let sending = std::thread::spawn(move || std::io::Write::write_all(&mut input, log.as_bytes()));
    let output = child.wait_with_output().unwrap();
    sending.join().unwrap().unwrap();
    let mut found = Found::new();
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let object: Value = serde_json::from_str(line).unwrap();
        for violation in object["violations"].as_array().unwrap() {
            let key = (object["property"].to_string(), violation["bindings"]["id.user"].to_string());
            let (count, first) = found.entry(key).or_insert((0, u64::MAX));
            *count += 1;
            *first = violation["position"].as_u64().unwrap().min(*first);
        }
    }
    (output.status.code(), found)
}

#[test]
fn watched_keys_are_checked_keys() {
    for seed in 0..25 {
        let log = log(seed, 20 + 37 * seed as usize, 1 + seed);
        let end = run(&arguments(&[]), &log);
        let (code, expected) = checked(&log);
        assert_eq!((end.code, told(&end.json())), (code, expected), "seed {seed}\n{log}");
    }
}

#[test]
fn a_hundred_thousand_keys() {
    let log = log(7, 300_000, 100_000);
    let end = run(&arguments(&[]), &log);
    let (code, expected) = checked(&log);
    assert!(expected.len() > 50_000, "{}", expected.len());
    assert!(end.code == code && told(&end.json()) == expected);
}

#[test]
fn every_line_says_whose_it_is() {
    let log = "{\"time\":1,\"event\":\"req\",\"id\":{\"user\":\"a\"}}\n{\"time\":8,\"event\":\"req\",\"id\":{\"user\":\"b\"}}\n";
    let lines = run(&arguments(&["--query", "count[req]"]), log).json();
    assert!(lines.iter().all(|line| line["bindings"]["id.user"].is_string()), "{lines:?}");
    // The line of b lets a's deadline pass.
    let missed = lines.iter().find(|line| line["verdict"] == "violated").unwrap();
    assert_eq!(
        (&missed["bindings"], &missed["position"], &missed["time"]),
        (&json!({"id.user": "a"}), &json!(1), &json!(8))
    );
    assert_eq!(missed["violation"]["position"], 0);
    let values: Vec<&Value> =
        lines.iter().filter(|line| line["query"].is_string()).map(|line| &line["value"]).collect();
    assert_eq!(values, [&json!(1), &json!(1)]);
    let text = run(&["--by", "id.user", "-e", "G !req"], log);
    assert!(text.out[0].contains("id.user = \"a\""), "{:?}", text.out);
}

#[test]
fn a_resumed_watch_goes_on_with_every_key() {
    let directory = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("keys");
    std::fs::create_dir_all(&directory).unwrap();
    let (trace, state) = (directory.join("log.jsonl"), directory.join("state"));
    let _ = std::fs::remove_file(&state);
    let whole = log(3, 900, 40);
    let cut = whole.match_indices('\n').nth(400).unwrap().0 + 1;
    let (trace_name, state_name) = (trace.to_str().unwrap(), state.to_str().unwrap());
    let arguments = arguments(&["--checkpoint", state_name, "--resume", trace_name]);
    std::fs::write(&trace, &whole[..cut]).unwrap();
    let before = run(&arguments, "");
    std::fs::write(&trace, &whole).unwrap();
    let after = run(&arguments, "");
    let unbroken = run(&self::arguments(&[]), &whole);
    let settled =
        |lines: Vec<Value>| lines.into_iter().filter(|line| line["settled"] == true).collect::<Vec<_>>();
    let strip = |mut lines: Vec<Value>| {
        // Names of files differ.
        lines.iter_mut().for_each(|line| {
            line["line"] = Value::Null;
            line["violation"]["line"] = Value::Null;
        });
        lines
    };
    let mut both = settled(before.json());
    both.extend(settled(after.json()));
    assert_eq!(strip(both), strip(settled(unbroken.json())));
    assert!(after.err.iter().any(|line| line.contains("told before and not told again")), "{:?}", after.err);
    let other = run(&["--by", "id", "--checkpoint", state_name, "--resume", "-e", "G !bad", trace_name], "");
    assert_eq!(other.code, Some(2));
}

#[test]
fn what_is_for_one_trace_is_refused() {
    for extra in [["--sort", "1s"], ["--values-every", "5"]] {
        let end = run(&arguments(&extra), "");
        assert!(end.code == Some(2) && end.err[0].contains("--by"), "{end:?}");
    }
}

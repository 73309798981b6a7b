//! `watch --by COL --until 'φ' --idle TIME`: values whose traces end before the stream does.

use crate::process::{directory, file, run, watch};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

const SPEC: [&str; 3] = ["G (req -> F ack)", "G !bad", "G (ack -> F[0,2s] (ack | idle))"];

struct Line {
    seconds: u64,
    event: &'static str,
    user: u64,
}

fn log(seed: u64, lines: usize) -> Vec<Line> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut roll = |sides: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 20) % sides
    };
    let mut seconds = 0;
    let line = |_| {
        seconds += roll(3);
        let event = ["req", "ack", "ack", "bad", "idle", "done", "idle"][roll(7) as usize];
        Line { seconds, event, user: roll(6) }
    };
    (0..lines).map(line).collect()
}

fn text(lines: &[Line], key: impl Fn(usize, &Line) -> String) -> String {
    let mut text = String::new();
    for (at, line) in lines.iter().enumerate() {
        let Line { seconds, event, .. } = line;
        let _ = writeln!(text, r#"{{"time":{seconds},"event":"{event}","k":"{}"}}"#, key(at, line));
    }
    text
}

/// The piece of its user's lines that each line belongs to.
fn pieces(lines: &[Line], until: bool, idle: Option<u64>) -> Vec<String> {
    let mut now: BTreeMap<u64, (u32, Option<u64>)> = BTreeMap::new();
    let piece = |line: &Line| {
        let (number, last) = now.entry(line.user).or_default();
        if last.zip(idle).is_some_and(|(last, idle)| line.seconds - last > idle) {
            *number += 1;
        }
        let own = format!("{}/{number}", line.user);
        *last = Some(line.seconds);
        if until && line.event == "done" {
            *number += 1;
            *last = None;
        }
        own
    };
    lines.iter().map(piece).collect()
}

fn arguments<'a>(extra: &[&'a str]) -> Vec<&'a str> {
    let mut all = vec!["--by", "k", "--output", "json"];
    SPEC.iter().for_each(|formula| all.extend(["-e", formula]));
    all.extend(extra);
    all
}

/// The pieces that violate each property, as the lines of a watch tell it.
fn violated(lines: &[Value], pieces: &[String]) -> BTreeSet<(String, String)> {
    let bad = lines.iter().filter(|line| line["verdict"] == "violated");
    bad.map(|line| {
        let about = line["violation"]["position"].as_u64().or(line["position"].as_u64()).unwrap();
        let piece = &pieces[about as usize];
        let user = line["bindings"]["k"].as_str().unwrap();
        assert_eq!(piece.split('/').next().unwrap(), user, "{line}");
        (line["property"].as_str().unwrap().to_string(), piece.clone())
    })
    .collect()
}

/// What `check` says of the pieces, each as a trace of its own.
fn checked(lines: &[Line], pieces: &[String]) -> BTreeSet<(String, String)> {
    let mut command = crate::common::command();
    let log = file("ended", "pieces.jsonl", &text(lines, |at, _| pieces[at].clone()));
    command.arg("check").args(arguments(&["--violations", "all", "--no-explain", &log]));
    let out = command.output().unwrap();
    let lines = String::from_utf8(out.stdout).unwrap();
    let mut found = BTreeSet::new();
    for line in lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
        for violation in line["violations"].as_array().unwrap() {
            let key = violation["bindings"]["k"].as_str().unwrap().to_string();
            found.insert((line["property"].as_str().unwrap().to_string(), key));
        }
    }
    found
}

#[test]
fn pieces_are_judged_as_traces_of_their_own() {
    for seed in 1..6 {
        let lines = log(seed, 400);
        let input = text(&lines, |_, line| line.user.to_string());
        for (until, idle) in [(true, None), (false, Some(9)), (true, Some(7))] {
            let pieces = pieces(&lines, until, idle);
            let time = idle.map(|idle| format!("{idle}s"));
            let mut extra = Vec::new();
            if until {
                extra.extend(["--until", "done"]);
            }
            if let Some(time) = &time {
                extra.extend(["--idle", time]);
            }
            let end = run(&arguments(&extra), &input);
            let (told, expected) = (violated(&end.json(), &pieces), checked(&lines, &pieces));
            assert_eq!(told, expected, "seed {seed}, {extra:?}");
            assert_eq!(end.code, Some(1));
            // Why a trace ended is said.
            let why: BTreeSet<String> =
                end.json().iter().filter_map(|line| Some(line["ended"].as_str()?.to_string())).collect();
            let mut names = BTreeSet::new();
            names.extend(until.then(|| "until".to_string()));
            names.extend(idle.map(|_| "idle".to_string()));
            assert_eq!(why, names, "seed {seed}, {extra:?}");
        }
    }
}

#[test]
fn a_resumed_watch_knows_whose_traces_are_open() {
    let lines = log(9, 600);
    let whole = text(&lines, |_, line| line.user.to_string());
    let extra = ["--until", "done", "--idle", "8s"];
    let settled = |lines: Vec<Value>| -> Vec<Value> {
        lines.into_iter().filter(|line| line["settled"] == true).collect()
    };
    // Without the names of files, which differ.
    let bare = |mut lines: Vec<Value>| {
        for line in &mut lines {
            line.as_object_mut().unwrap().remove("line");
            if let Some(violation) = line.get_mut("violation") {
                violation.as_object_mut().unwrap().remove("line");
            }
        }
        lines
    };
    let trace = file("ended-resume", "whole.jsonl", &whole);
    let mut all = arguments(&extra);
    all.push(&trace);
    let expected = bare(settled(run(&all, "").json()));
    for cut in [100, 250, 400] {
        let folder = directory(&format!("ended-resume-{cut}"));
        let (log, state) = (folder.join("log.jsonl"), folder.join("state"));
        let (log, state) = (log.to_str().unwrap(), state.to_str().unwrap());
        let at = whole.match_indices('\n').nth(cut).unwrap().0 + 1;
        let mut all = arguments(&extra);
        all.extend([log, "--checkpoint", state, "--resume"]);
        std::fs::write(log, &whole[..at]).unwrap();
        let mut told = settled(run(&all, "").json());
        std::fs::write(log, &whole).unwrap();
        told.extend(settled(run(&all, "").json()));
        assert_eq!(bare(told), expected, "cut after {cut}");
    }
}

#[test]
fn values_of_queries_are_told_where_a_trace_ends() {
    let input = concat!(
        r#"{"event":"a","k":"x"}"#,
        "\n",
        r#"{"event":"a","k":"y"}"#,
        "\n",
        r#"{"event":"a","k":"x"}"#,
        "\n",
        r#"{"event":"done","k":"x"}"#,
        "\n",
        r#"{"event":"a","k":"x"}"#,
        "\n",
    );
    let end = run(&["--query", "count[a]", "--by", "k", "--until", "done", "--output", "json"], input);
    let values: Vec<(String, u64, Value)> = end
        .json()
        .iter()
        .map(|line| {
            let key = line["bindings"]["k"].as_str().unwrap().to_string();
            (key, line["value"].as_u64().unwrap(), line["ended"].clone())
        })
        .collect();
    let until = Value::from("until");
    assert_eq!(values[0], ("x".into(), 2, until));
    assert_eq!(values.len(), 3, "{values:?}");
    assert!(values.contains(&("y".into(), 1, Value::Null)) && values.contains(&("x".into(), 1, Value::Null)));
}

#[test]
fn what_ends_a_trace_is_said_in_text_and_may_look_back() {
    let input = "{\"time\":1,\"event\":\"req\",\"k\":\"x\"}\n{\"time\":2,\"event\":\"out\",\"k\":\"x\"}\n{\"time\":20,\"event\":\"ack\",\"k\":\"y\"}\n";
    let end = run(&["-e", "G (req -> F ack)", "--by", "k", "--until", "out & O req"], input);
    assert!(
        end.out[0].contains("violated by position 1") && end.out[0].contains("where its trace ended (until)"),
        "{:?}",
        end.out
    );
    let end = run(&["-e", "G (req -> F ack)", "--by", "k", "--idle", "10s"], input);
    assert!(end.out[0].contains("where its trace ended (idle)"), "{:?}", end.out);
    for (arguments, message) in [
        (vec!["--until", "out"], "name the column of the values: --by"),
        (vec!["--by", "k", "--until", "F out"], "`F out` looks ahead"),
        (vec!["--by", "k", "--until", "out &"], "<until>"),
    ] {
        let mut all = vec!["-e", "G (req -> F ack)"];
        all.extend(arguments);
        let end = run(&all, input);
        assert_eq!(end.code, Some(2), "{all:?} {:?}", end.err);
        assert!(end.err.join("\n").contains(message), "{all:?} {:?}", end.err);
    }
    let end = run(&["-e", "G !bad", "--by", "k", "--idle", "1s"], "{\"event\":\"a\",\"k\":\"x\"}\n");
    assert!(end.code == Some(2) && end.err.join("\n").contains("found no timestamp"), "{:?}", end.err);
}

/// Time goes on with the wall clock where a heartbeat says so.
#[test]
fn idle_values_end_when_nothing_comes() {
    let mut watch = watch(&[
        "-e",
        "G (req -> F ack)",
        "--by",
        "k",
        "--idle",
        "1s",
        "--heartbeat",
        "20ms",
        "--output",
        "json",
    ]);
    watch.write("{\"time\":1,\"event\":\"req\",\"k\":\"x\"}\n");
    let told = watch.json();
    assert_eq!((&told["verdict"], &told["ended"]), (&"violated".into(), &"idle".into()), "{told}");
    assert_eq!((&told["bindings"]["k"], &told["line"]["line"]), (&"x".into(), &1.into()), "{told}");
    watch.end();
}

//! Events out of order, as they arrive.

use crate::process::{file, run, watch};
use std::time::Duration;

#[test]
fn out_of_order_within_the_skew_is_as_sorted() {
    let times = [0, 30, 10, 20, 50, 70, 60, 55, 90, 80, 110, 100];
    let name = |time: i32| ["req", "x", "ack"][(time / 10 % 3) as usize];
    let lines = |times: &[i32]| -> String {
        times
            .iter()
            .map(|time| format!("@{time} {}{}\n", name(*time), if *time == 80 { " bad" } else { "" }))
            .collect()
    };
    let mut sorted = times;
    sorted.sort_unstable();
    let formulas = ["-e", "G (req -> F[0,15s] ack)", "-e", "G !bad", "-e", "G (ack -> O[5s,25s] req)"];
    let common = ["--format", "props", "--output", "json"];
    for each in [vec![], vec!["--each-position"]] {
        let arguments: Vec<&str> = formulas.into_iter().chain(common).chain(each.iter().copied()).collect();
        let of_sorted = run(&arguments, &lines(&sorted));
        let skewed: Vec<&str> = arguments.iter().copied().chain(["--sort", "20s"]).collect();
        let out_of_order = run(&skewed, &lines(&times));
        assert_eq!(out_of_order.code, of_sorted.code, "{out_of_order:?}");
        // Lines are where they are, and their text is not kept.
        let without_lines = |out: &[String]| -> Vec<serde_json::Value> {
            let parse = |line: &String| {
                let mut line: serde_json::Value = serde_json::from_str(line).unwrap();
                line.as_object_mut().unwrap().remove("line");
                if let Some(violation) = line.get_mut("violation") {
                    violation.as_object_mut().unwrap().remove("line");
                }
                line
            };
            out.iter().map(parse).collect()
        };
        assert_eq!(without_lines(&out_of_order.out), without_lines(&of_sorted.out));
        let bad = out_of_order
            .json()
            .into_iter()
            .find(|line| line["property"] == "G !bad" && line["verdict"] == "violated");
        if each.is_empty() {
            assert_eq!(bad.unwrap()["line"]["line"], 10);
        }
    }
    // Further out of order than that: a bad line.
    let narrow: Vec<&str> = formulas.into_iter().chain(common).chain(["--sort", "19s"]).collect();
    let end = run(&narrow, &lines(&times));
    assert_eq!(end.code, Some(2));
    assert!(
        end.err[0].contains("further out of order") && end.err[0].contains("\"trace_line\":3"),
        "{:?}",
        end.err
    );
    let skipping: Vec<&str> = narrow.iter().copied().chain(["--skip-bad-lines"]).collect();
    assert!(run(&skipping, &lines(&times)).err.join("\n").contains("1 bad line left out"));
    // A stored file, and a format that is read by rows.
    let path = file("late", "t.log", &times.map(|time| format!("@{time} {} ()\n", name(time))).concat());
    let stored = run(&["-e", "G (req -> F[0,15s] ack)", &path, "--sort", "20s", "--output", "json"], "");
    assert!(stored.json()[0]["time"].is_i64(), "{stored:?}");
}

#[test]
fn what_waits_is_released_when_the_heart_beats() {
    let mut watch = watch(&[
        "-e",
        "G !bad",
        "--sort",
        "300ms",
        "--heartbeat",
        "50ms",
        "--format",
        "props",
        "--output",
        "json",
    ]);
    let started = std::time::Instant::now();
    watch.write("@1.1 x\n@1 bad\n");
    let verdict = watch.json();
    // 1 is past when the latest, 1.1, is 200 ms ago.
    assert!(started.elapsed() >= Duration::from_millis(200), "{verdict}");
    assert_eq!(
        (&verdict["position"], &verdict["time"], &verdict["line"]["line"]),
        (&0.into(), &1.into(), &2.into())
    );
    assert_eq!(watch.end().code, Some(1));
}

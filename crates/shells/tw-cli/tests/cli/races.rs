//! `races`: findings as text and JSON, exit codes, all formats alike.

use crate::common::{tracewise, tracewise_with};

/// Opposite orders of two locks, and a variable without one, once per format.
const EVENTS: &str = "lock,t1,a\nlock,t1,b\nwrite,t1,x\nunlock,t1,b\nunlock,t1,a\n\
                      acquire,t2,b\nacquire,t2,a\nrelease,t2,a\nrelease,t2,b\nwrite,t2,x\n";

fn converted(line: impl Fn(usize, &str, &str, &str) -> String) -> String {
    let parts = |text: &'static str| text.split(',').collect::<Vec<_>>();
    EVENTS
        .lines()
        .enumerate()
        .map(|(at, text)| match parts(text)[..] {
            [event, thread, object] => line(at, event, thread, object),
            _ => unreachable!(),
        })
        .collect()
}

#[test]
fn all_formats_tell_the_same() {
    let jsonl = converted(|at, event, thread, object| {
        let key = if event == "write" { "var" } else { "lock" };
        format!("{{\"time\":{at},\"event\":\"{event}\",\"thread\":\"{thread}\",\"{key}\":\"{object}\"}}\n")
    });
    let csv = converted(|_, event, thread, object| format!("{event},{thread},{object}\n"));
    let csv = format!("event,thread,object\n{csv}");
    let own = csv.replace("thread,object", "who,what");
    let monpoly = converted(|at, event, thread, object| format!("@{at} {event} ({thread},{object})\n"));
    let runs = [
        ("races --format events", EVENTS.to_string()),
        ("races --format jsonl", jsonl),
        ("races --format csv", csv),
        ("races --format csv --thread-field who --lock-field what --variable-field what", own),
        ("races --format monpoly", monpoly),
    ];
    for (command, input) in runs {
        let run = tracewise_with(&format!("{command} --output json -"), &input);
        assert_eq!(run.code, 1, "{command}: {}", run.err);
        let found = run.json();
        assert_eq!(found.len(), 2, "{command}");
        assert_eq!(found[0]["finding"], "deadlock", "{command}");
        assert_eq!(found[0]["locks"], serde_json::json!(["a", "b"]), "{command}");
        assert_eq!(found[0]["turns"][1]["thread"], "t2", "{command}");
        assert_eq!(found[0]["turns"][1]["position"], 6, "{command}");
        assert_eq!(found[1]["finding"], "race", "{command}");
        assert_eq!(found[1]["variable"], "x", "{command}");
        assert_eq!(found[1]["earlier"]["locks"], serde_json::json!(["a", "b"]), "{command}");
        assert_eq!(found[1]["access"]["locks"], serde_json::json!([]), "{command}");
        let quoted = found[1]["access"]["line"]["text"].as_str().unwrap_or_default();
        let last = input.lines().last().unwrap_or_default();
        assert_eq!(quoted, last, "{command}");
    }
}

#[test]
fn text_quotes_the_log() {
    let run = tracewise_with("races --format events -", EVENTS);
    assert_eq!(run.code, 1);
    for piece in [
        "✗ deadlock  threads `t1` and `t2` can wait for each other for ever",
        "  2 │ lock,t1,b\n",
        "= `t2` holds `b` and wants `a`, which `t1` may hold",
        "✗ race  no lock protects variable `x`",
        "= `t1` writes it holding `a` and `b`",
        "= `t2` writes it holding no lock",
        "1 possible deadlock, 1 unprotected variable on - (10 events: 2 threads, 2 locks, 1 variable)",
    ] {
        assert!(run.out.contains(piece), "{piece}\n{}", run.out);
    }
    let quiet = tracewise_with("races --format events --quiet -", EVENTS);
    assert_eq!((quiet.code, quiet.out.as_str(), quiet.err.as_str()), (1, "", ""));
}

#[test]
fn exit_codes() {
    let fine = "lock,1,a\nwrite,1,x\nunlock,1,a\n";
    let run = tracewise_with("races --format events -", fine);
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    assert!(run.out.starts_with("nothing found"), "{}", run.out);
    assert_eq!(tracewise_with("races --format events --output json -", fine).out, "");

    // Odd use of locks is a warning.
    let odd = tracewise_with("races --format events -", "unlock,1,a\n");
    assert_eq!(odd.code, 0);
    assert!(odd.err.contains("<stdin>:1: thread `1` unlocks `a`, which nobody holds"), "{}", odd.err);

    // Nothing listed is not nothing found.
    let cut = tracewise_with("races --format events --cycles 0 -", EVENTS);
    assert!(cut.err.contains("more than 0 cycles"), "{}", cut.err);
    let locks: String =
        EVENTS.lines().filter(|line| !line.contains("write")).map(|l| format!("{l}\n")).collect();
    assert_eq!(tracewise_with("races --format events --cycles 0 -", &locks).code, 3);
    assert_eq!(tracewise("races").code, 2);
}

#[test]
fn sorted_and_joined_traces_quote_the_right_lines() {
    let directory = crate::common::directory("races");
    let (one, two) = (directory.join("one.events"), directory.join("two.events"));
    std::fs::write(&one, "read,1,z,1\nwrite,1,x,4\nwrite,2,x,3\n").unwrap();
    std::fs::write(&two, "write,2,y,5\nwrite,1,x,7\nwrite,2,y,6\n").unwrap();
    let command =
        format!("races --timed --sort 5 --concat --output json {} {}", one.display(), two.display());
    let run = tracewise(&command);
    assert_eq!(run.code, 1, "{}", run.err);
    let access = &run.json()[0]["access"];
    assert_eq!(access["line"]["text"], "write,1,x,4");
    assert_eq!((access["line"]["line"].as_u64(), access["position"].as_u64()), (Some(2), Some(2)));
    assert!(access["line"]["file"].as_str().unwrap().ends_with("one.events"));
}

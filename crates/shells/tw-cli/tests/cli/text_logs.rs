//! Text logs, from the file to the answer.

use crate::shared::command;
use std::path::PathBuf;

/// The output of a command over a log of this text.
fn run(name: &str, text: &str, words: &[&str]) -> String {
    let folder: PathBuf = std::env::temp_dir().join(format!("tracewise-text-logs-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(name), text).unwrap();
    let output = command().current_dir(&folder).args(words).arg(name).output().unwrap();
    String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
}

#[test]
fn the_form_of_timestamps_is_said() {
    let log =
        "Dec 10 06:55:46 host sshd[24200]: Failed password\nDec 10 06:55:48 host sshd[24200]: Accepted\n";
    let said = run("ssh.log", log, &["inspect"]);
    assert!(said.contains("time: `Dec 10 06:55:46` at the start of each line"), "{said}");
    assert!(said.contains("syslog") && said.contains("message"), "{said}");
    let said = run("ssh.log", log, &["inspect", "--format", "lines", "--year", "2023"]);
    assert!(said.contains("time 2023-12-10T06:55:46Z to 2023-12-10T06:55:48Z"), "{said}");
}

#[test]
fn bad_lines_are_counted() {
    let log = "{\"n\":1}\nbroken\n{\"n\":2}\n";
    let said = run("a.jsonl", log, &["check", "--skip-bad-lines", "--output", "json", "-e", "G n < 2"]);
    assert!(said.contains("\"skipped\":1") && said.contains("\"violated\""), "{said}");
    let said = run("b.jsonl", log, &["check", "-e", "G n < 2"]);
    assert!(said.contains("b.jsonl:2:1: found `broken`"), "{said}");
}

#[test]
fn forms_that_are_none_are_refused() {
    let said = run("c.log", "x\n", &["inspect", "--time-format", "%Q"]);
    assert!(said.contains("found `%Q`"), "{said}");
}

/// Two sessions, the first of which throws; `at` shifts the minute.
fn sessions(at: u32) -> String {
    format!(
        "2015-10-18 18:{at:02}:01,5 INFO opened ann from 10.0.0.1\n\
         2015-10-18 18:{at:02}:02,5 WARN failed: ann\njava.io.IOException: closed\n    at Socket.read(Socket.java:12)\n\
         2015-10-18 18:{at:02}:03,5 INFO opened bob from 10.0.0.2\n\
         2015-10-18 18:{at:02}:04,5 INFO closed ann after 3 s\n\
         2015-10-18 18:{at:02}:09,5 INFO closed bob after 6 s\n"
    )
}

const SPEC: &str = r#"
event opened(user, ip) = text "opened {user} from {ip}";
event closed(user, seconds: int) = text "closed {user} after {seconds:int} s";
event thrown(what) = text "\n{what}: closed";
property tidy : G forall u. opened(u, _) -> F[<=5s] closed(u, _);
property quiet : G !thrown;
"#;

/// A folder with the specification above.
fn folder(name: &str) -> PathBuf {
    let folder = crate::shared::directory(&format!("text-logs/{name}"));
    std::fs::write(folder.join("s.tw"), SPEC).unwrap();
    folder
}

fn json(folder: &std::path::Path, words: &str) -> (Option<i32>, Vec<serde_json::Value>, String) {
    let output = command().current_dir(folder).args(crate::shared::words(words)).output().unwrap();
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    let found = out.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}")));
    (output.status.code(), found.collect(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Where each property fails: positions, and file and line of the first.
fn places(found: &[serde_json::Value]) -> Vec<String> {
    let one = |found: &serde_json::Value| {
        let violations = found["violations"].as_array().cloned().unwrap_or_default();
        let positions: Vec<String> = violations.iter().map(|own| own["position"].to_string()).collect();
        let line = violations.first().map_or(String::new(), |own| {
            format!(" {}:{}", own["line"]["file"].as_str().unwrap_or("?"), own["line"]["line"])
        });
        format!("{} {}{line}", found["property"].as_str().unwrap_or_default(), positions.join(" "))
    };
    found.iter().map(one).collect()
}

#[test]
fn packed_or_not_a_log_is_the_same() {
    let folder = folder("packed");
    std::fs::write(folder.join("a.log"), sessions(1)).unwrap();
    let (code, found, err) = json(&folder, "check s.tw a.log --output json");
    assert_eq!(code, Some(1), "{err}");
    assert_eq!(places(&found), ["tidy 2 a.log:5", "quiet 1 a.log:2"], "{found:#?}");
    for packed in ["a.log.gz", "a.log.zst"] {
        let (code, _, err) = json(&folder, &format!("convert a.log --to lines -o {packed} --quiet"));
        assert_eq!(code, Some(0), "{err}");
        let (_, found, _) = json(&folder, &format!("check s.tw {packed} --output json"));
        assert_eq!(places(&found), [format!("tidy 2 {packed}:5"), format!("quiet 1 {packed}:2")]);
    }
}

#[test]
fn several_logs_are_one_trace_and_the_form_may_be_shown_by_a_later_one() {
    let folder = folder("several");
    std::fs::write(folder.join("a.log"), "").unwrap();
    std::fs::write(folder.join("b.log"), "=== rotated ===\n").unwrap();
    std::fs::write(folder.join("c.log"), sessions(1)).unwrap();
    std::fs::write(folder.join("d.log"), sessions(2)).unwrap();
    for order in ["a.log b.log c.log d.log", "b.log a.log c.log d.log", "c.log b.log d.log"] {
        let (_, found, err) =
            json(&folder, &format!("check s.tw {order} --concat --format lines --output json"));
        assert_eq!(places(&found), ["tidy 2 7 c.log:5", "quiet 1 6 c.log:2"], "{order}: {err}");
    }
}

#[test]
fn disorder_is_sorted_and_told() {
    let folder = folder("sorted");
    let log = sessions(1);
    let mut lines: Vec<&str> = log.lines().collect();
    // The first line comes last; a stack trace stays with its line.
    lines.rotate_left(1);
    std::fs::write(folder.join("a.log"), lines.join("\n")).unwrap();
    let (code, _, err) = json(&folder, "check s.tw a.log --output json");
    assert!(code == Some(2) && err.contains("a.log:7:1") && err.contains("--sort"), "{err}");
    for sort in ["10s", "all"] {
        let (code, found, err) = json(&folder, &format!("check s.tw a.log --sort {sort} --output json"));
        assert_eq!(code, Some(1), "{err}");
        assert_eq!(places(&found), ["tidy 2 a.log:4", "quiet 1 a.log:1"], "{err}");
    }
}

#[test]
fn bad_lines_of_several_logs_are_left_out_of_the_right_ones() {
    let folder = folder("bad-lines");
    let spoilt = |at: u32, number: usize, with: &[u8]| {
        let log = sessions(at);
        let mut lines: Vec<Vec<u8>> = log.lines().map(|line| line.as_bytes().to_vec()).collect();
        lines.insert(number, with.to_vec());
        lines.join(&b'\n')
    };
    std::fs::write(folder.join("a.log"), spoilt(1, 1, b"2015-10-18 18:01:01,7 \xff\xfe")).unwrap();
    std::fs::write(folder.join("b.log"), spoilt(2, 0, b"Oct 18 18:01:02 another form")).unwrap();
    let (code, _, err) = json(&folder, "check s.tw a.log b.log --concat --output json");
    assert!(code == Some(2) && err.contains("a.log:2"), "{err}");
    let (code, found, err) = json(&folder, "check s.tw a.log b.log --concat --skip-bad-lines --output json");
    assert_eq!(code, Some(1), "{err}");
    assert!(found.iter().all(|one| one["skipped"] == 2), "{found:#?}");
    assert_eq!(places(&found), ["tidy 2 7 a.log:6", "quiet 1 6 a.log:3"], "{err}");
    let second = &found[0]["violations"][1]["line"];
    assert_eq!((&second["file"], &second["line"]), (&"b.log".into(), &6.into()), "{found:#?}");
}

#[test]
fn a_line_that_is_no_text_or_too_long_is_left_out_and_counted() {
    let folder = folder("left-out");
    let binary: Vec<u8> = (0..=255u8).filter(|byte| *byte != b'\n').collect();
    let long = [b"2015-10-18 18:01:02,7 ".as_slice(), &vec![b'x'; 65 << 20]].concat();
    for (bad, column) in [(&b"2015-10-18 18:01:02,7 caf\xe9"[..], 26), (&binary, 128), (&long, 1)] {
        let log = sessions(1);
        let at = log.find("2015-10-18 18:01:03").expect("a line");
        let bytes = [&log.as_bytes()[..at], bad, b"\n", &log.as_bytes()[at..]].concat();
        std::fs::write(folder.join("a.log"), bytes).unwrap();
        let (code, found, err) = json(&folder, "check s.tw a.log --skip-bad-lines --output json");
        assert_eq!(code, Some(1), "{err}");
        assert!(found.iter().all(|one| one["skipped"] == 1 && one["events"] == 5), "{err}");
        assert!(err.contains(&format!("a.log:5:{column}: ")), "{err}");
        assert_eq!(places(&found), ["tidy 2 a.log:6", "quiet 1 a.log:2"], "{err}");
        let (code, found, err) = json(&folder, "watch s.tw a.log --skip-bad-lines --output json");
        assert!(code == Some(1) && found.iter().any(|one| one["position"] == 1), "{err}");
    }
}

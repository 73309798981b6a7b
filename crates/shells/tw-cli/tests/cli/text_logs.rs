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

//! Settings in the specification, and what warnings do to the exit code.

use crate::common::{command, directory, finish};
use std::fs;

/// The command in a directory of its own with these files.
fn run(name: &str, files: &[(&str, &str)], line: &str) -> crate::common::Run {
    let place = directory(name);
    for (file, text) in files {
        fs::write(place.join(file), text).unwrap();
    }
    finish(command().args(crate::common::words(line)).current_dir(&place), "")
}

const TRACE: &str = "{\"@timestamp\": 1, \"http\": {\"id\": \"a\"}, \"p\": true}\n\
                     {\"@timestamp\": 2, \"http\": {\"id\": \"b\"}, \"p\": true}\n\
                     {\"@timestamp\": 9000, \"http\": {\"id\": \"a\"}, \"p\": false}\n";
const SPEC: &str = "trace { time: \"@timestamp\"; by: http.id; format: jsonl; time-unit: ms; }\n\
                    property near : G (p -> G[0,8s] p);\n";

#[test]
fn a_specification_says_how_its_traces_are_read() {
    let files = [("s.tw", SPEC), ("t.log", TRACE)];
    let found = run("settings", &files, "check s.tw t.log --output json");
    // Within eight seconds of milliseconds nothing fails; b's trace is its own.
    assert_eq!((found.code, found.json()[0]["verdict"].as_str()), (0, Some("satisfied")), "{found:?}");
    let found = run("settings", &files, "check s.tw t.log --time-unit us --output json");
    let violation = &found.json()[0]["violations"][0];
    assert_eq!((found.code, violation["bindings"]["http.id"].as_str()), (1, Some("a")), "{found:?}");
    // The command line prevails.
    let found = run("settings", &files, "check s.tw t.log --by p --time-unit us --output json");
    assert_eq!(found.code, 0, "{found:?}");
    for line in ["watch s.tw t.log --time-unit us --output json", "robust s.tw t.log --output json"] {
        let found = run("settings", &files, line);
        assert!(found.code < 2 && found.out.contains("\"a\""), "{line}: {found:?}");
    }
    let queries =
        [("q.tw", "trace { by: http.id; time: \"@timestamp\"; }\nquery q : count[p];\n"), ("t.jsonl", TRACE)];
    let found = run("settings", &queries, "query q.tw t.jsonl --output json");
    let by = |line: usize| found.json()[line]["by"].clone();
    assert_eq!((found.code, by(0).to_string().contains('a')), (0, true), "{found:?}");
}

#[test]
fn warnings_can_be_denied() {
    let files = [("t.csv", "event,n\nreq,1\nack,2\n")];
    let line = "check -e 'G (req -> F ack)' -e 'G !login' t.csv";
    let plain = run("deny", &files, line);
    assert!(plain.code == 0 && plain.err.contains("never-occurs"), "{plain:?}");
    for (more, code) in [(" --deny warnings", 1), (" --deny warnings --quiet", 1), ("", 0)] {
        assert_eq!(run("deny", &files, &format!("{line}{more}")).code, code, "{more}");
    }
    // Without a warning nothing changes, and bad input stays bad input.
    assert_eq!(run("deny", &files, "check -e 'G (req -> F ack)' t.csv --deny warnings").code, 0);
    assert_eq!(run("deny", &files, "check -e 'G !login' -e 'G (' t.csv --deny warnings").code, 2);
    let wrong = run("deny", &files, "check -e 'G req' t.csv --deny errors");
    assert!(wrong.code == 2 && wrong.err.contains("warnings"), "{wrong:?}");
}

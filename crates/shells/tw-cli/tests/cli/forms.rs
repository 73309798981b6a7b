//! The outputs for CI of every command with findings: the same forms, whatever was found.

use crate::common::{command, directory, finish, tracewise};
use crate::outputs::elements;
use serde_json::Value;

/// What must be so in every SARIF document.
fn sarif_document(text: &str) -> Value {
    let document: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(document["version"], "2.1.0");
    let run = &document["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    let mut ids: Vec<&str> = rules.iter().map(|rule| rule["id"].as_str().unwrap()).collect();
    ids.sort_unstable();
    assert!(ids.windows(2).all(|pair| pair[0] != pair[1]), "{ids:?}");
    for result in run["results"].as_array().unwrap() {
        let rule = result["ruleIndex"].as_u64().unwrap() as usize;
        assert_eq!(rules[rule]["id"], result["ruleId"]);
        assert!(!result["message"]["text"].as_str().unwrap().is_empty(), "{result}");
        assert!(
            ["none", "note", "warning", "error"].contains(&result["level"].as_str().unwrap()),
            "{result}"
        );
        assert!(result["partialFingerprints"]["tracewise/v1"].as_str().unwrap().len() > 16, "{result}");
        // A kind other than failure has no level.
        assert!(result["kind"].is_null() || result["level"] == "none", "{result}");
        let related = result["relatedLocations"].as_array().into_iter().flatten();
        for location in result["locations"].as_array().unwrap().iter().chain(related) {
            let physical = &location["physicalLocation"];
            assert!(!physical["artifactLocation"]["uri"].as_str().unwrap().contains(' '), "{location}");
            let line = &physical["region"]["startLine"];
            assert!(line.is_null() || line.as_u64().unwrap() > 0, "{location}");
        }
    }
    document
}

const MERGED: &str = "merge --keep state --state event --by id web.jsonl --ctl 'AG EX req' --ctl 'EF ack'";
const LIVE: &str = "watch -e 'G (req -> F ack)' -e 'F ack' --query 'count[req]' web.jsonl";

/// A run of each command with findings: exit code, and its cases that failed, passed with something to say, and all.
const RUNS: [(&str, i32, (usize, usize, usize)); 6] = [
    ("races ../../../../../examples/races/transfer.events", 1, (2, 0, 2)),
    ("races ../../../../../examples/races/odd.events", 0, (0, 0, 1)),
    ("query -e 'count[req]' -e 'max[queue] by id' web.jsonl", 0, (0, 2, 2)),
    ("robust -e 'G queue < 3' -e 'F queue > 1' web.jsonl", 0, (0, 2, 2)),
    (MERGED, 1, (1, 0, 2)),
    (LIVE, 1, (1, 1, 3)),
];

#[test]
fn every_command_with_findings_has_test_cases() {
    for (line, code, expected) in RUNS {
        let run = tracewise(&format!("{line} --output junit"));
        assert_eq!(run.code, code, "{line}: {run:?}");
        let elements = elements(&run.out);
        let count = |name: &str| elements.iter().filter(|(element, _)| element == name).count();
        assert_eq!(
            (count("failure"), count("system-out"), count("testcase")),
            expected,
            "{line}: {}",
            run.out
        );
        assert_eq!((count("error"), count("skipped")), (0, 0), "{line}: {}", run.out);
    }
}

#[test]
fn every_command_with_findings_has_sarif() {
    for (line, code, (failed, said, _)) in RUNS {
        let run = tracewise(&format!("{line} --output sarif"));
        assert_eq!(run.code, code, "{line}: {run:?}");
        let document = sarif_document(&run.out);
        let results = document["runs"][0]["results"].as_array().unwrap();
        let informational = results.iter().filter(|result| result["kind"] == "informational").count();
        assert_eq!((results.len() - informational, informational), (failed, said), "{line}: {}", run.out);
    }
    sarif_document(&tracewise("check web.tw web.jsonl broken.jsonl --output sarif").out);
}

#[test]
fn every_command_with_findings_annotates() {
    for (line, code, (failed, said, _)) in RUNS {
        let run = tracewise(&format!("{line} --output github"));
        assert_eq!(run.code, code, "{line}: {run:?}");
        let level = |level: &str| run.out.lines().filter(|line| line.starts_with(level)).count();
        assert_eq!((level("::error "), level("::notice ")), (failed, said), "{line}: {}", run.out);
        assert_eq!(run.out.lines().count(), failed + said, "{line}: {}", run.out);
    }
}

#[test]
fn evidence_is_in_the_message() {
    let run = tracewise(&format!("{MERGED} --output junit"));
    assert!(run.out.contains("counterexample") && run.out.contains("\n1  "), "{}", run.out);
    let races = tracewise("races ../../../../../examples/races/transfer.events --output sarif");
    let document = sarif_document(&races.out);
    let related = document["runs"][0]["results"][0]["relatedLocations"].as_array().unwrap().len();
    assert!(related >= 2, "{}", races.out);
}

#[test]
fn errors_are_in_every_document() {
    for line in [
        "check -e 'G (' web.jsonl",
        "query -e 'count[' web.jsonl",
        "robust -e 'G (' web.jsonl",
        "races gone.events",
        "model-check gone.json --ctl 'AG p'",
        "watch -e 'G (' web.jsonl",
    ] {
        let junit = tracewise(&format!("{line} --output junit"));
        assert_eq!(junit.code, 2, "{line}");
        assert_eq!(
            elements(&junit.out).iter().filter(|(name, _)| name == "error").count(),
            1,
            "{line}: {}",
            junit.out
        );
        let sarif = sarif_document(&tracewise(&format!("{line} --output sarif")).out);
        assert_eq!(sarif["runs"][0]["invocations"][0]["executionSuccessful"], false, "{line}");
        let github = tracewise(&format!("{line} --output github"));
        assert!(
            github.out.starts_with("::error ") && github.out.lines().count() == 1,
            "{line}: {}",
            github.out
        );
    }
}

#[test]
fn undecided_is_skipped() {
    let watch = finish(command().args(["watch", "-e", "G a", "--format", "csv", "--output", "junit"]), "a\n");
    assert_eq!(watch.code, 3, "{watch:?}");
    assert!(elements(&watch.out).iter().any(|(name, _)| name == "skipped"), "{}", watch.out);
}

#[test]
fn names_cannot_break_a_form() {
    let directory = directory("names");
    let trace = directory.join("a\nb\u{1b}<&\",:%.csv");
    std::fs::write(&trace, "a\n1\n0\n").unwrap();
    let formula = "G\n(a &\n\"<\u{7}\" == \"<\u{7}\")";
    for command_line in
        [vec!["check", "-e", formula], vec!["query", "-e", "count[\na]"], vec!["robust", "-e", formula]]
    {
        let run = |form: &str| {
            let run = finish(command().args(&command_line).arg(&trace).args(["--output", form]), "");
            assert!(run.code < 2, "{run:?}");
            run.out
        };
        let junit = elements(&run("junit"));
        assert!(junit.iter().any(|(name, _)| name == "testcase"), "{junit:?}");
        sarif_document(&run("sarif"));
        let github = run("github");
        assert!(github.lines().all(|line| line.starts_with("::")), "{github}");
        assert!(!github.contains('\u{1b}'), "{github}");
        for line in run("json").lines() {
            serde_json::from_str::<Value>(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        }
    }
}

#[test]
fn warnings_are_in_the_objects_they_concern() {
    let codes = |object: &Value| {
        let found = object["warnings"].as_array().cloned().unwrap_or_default();
        found.iter().map(|warning| warning["code"].as_str().unwrap().to_string()).collect::<Vec<_>>()
    };
    let run = tracewise("check -e 'F ack' -e 'F akc' web.jsonl --output json");
    let objects = run.json();
    assert_eq!((codes(&objects[0]), codes(&objects[1])), (vec![], vec!["never-occurs".to_string()]));
    assert_eq!(run.errors().len(), 1, "they stay on standard error");
    let query = tracewise("query -e 'count[akc]' web.jsonl --output json");
    assert_eq!(codes(&query.json()[0]), ["never-occurs"]);
    let races = tracewise("races ../../../../../examples/races/odd.events --output json");
    assert!(races.out.is_empty(), "nothing found: {}", races.out);
    let model = tracewise(
        "merge --keep state --state event --by id web.jsonl --ctl 'EF akc' --ctl 'EF ack' --output json",
    );
    let objects = model.json();
    assert!(codes(&objects[0]).contains(&"never-occurs".to_string()), "{}", model.out);
    assert!(!codes(&objects[1]).contains(&"never-occurs".to_string()), "{}", model.out);
    let quiet = tracewise("check -e 'F ack' web.jsonl --output json");
    assert!(!quiet.out.contains("warnings") && !quiet.out.contains("skipped"), "{}", quiet.out);
}

//! The outputs for CI are well-formed, and colour is where it is wanted.

use crate::common::{command, directory, finish, tracewise, words};
use quick_xml::events::Event;
use serde_json::Value;

/// The elements of a document with their attributes, in order.
pub fn elements(xml: &str) -> Vec<(String, Vec<(String, String)>)> {
    let mut reader = quick_xml::Reader::from_str(xml);
    let (mut list, mut depth) = (Vec::new(), 0);
    loop {
        let event = reader.read_event().unwrap_or_else(|error| panic!("{error}: {xml}"));
        depth += match &event {
            Event::Start(_) => 1,
            Event::End(_) => -1,
            _ => 0,
        };
        match event {
            Event::Start(element) | Event::Empty(element) => {
                let attribute = |a: quick_xml::events::attributes::Attribute<'_>| {
                    (
                        a.key.as_ref().to_string(),
                        a.normalized_value(quick_xml::XmlVersion::Explicit1_0).unwrap().to_string(),
                    )
                };
                let attributes = element.attributes().map(|a| attribute(a.unwrap())).collect();
                list.push((element.name().as_ref().to_string(), attributes));
            }
            Event::Eof => break,
            _ => {}
        }
    }
    assert_eq!(depth, 0, "{xml}");
    list
}

#[test]
fn junit() {
    let run = tracewise("check -e 'G (queue < 3 & req)' -e 'F ack' web.jsonl broken.jsonl --output junit");
    assert_eq!(run.code, 2, "{run:?}");
    let elements = elements(&run.out);
    let count = |name: &str| elements.iter().filter(|(element, _)| element == name).count();
    assert_eq!((count("testsuites"), count("testsuite"), count("testcase")), (1, 2, 3), "{}", run.out);
    assert_eq!((count("failure"), count("error"), count("skipped")), (1, 1, 0), "{}", run.out);
    let cases: Vec<&Vec<(String, String)>> =
        elements.iter().filter(|(name, _)| name == "testcase").map(|(_, attributes)| attributes).collect();
    assert_eq!(cases[0][0], ("name".to_string(), "G (queue < 3 & req)".to_string()));
}

#[test]
fn sarif() {
    let run = tracewise("check web.tw web.jsonl good.jsonl --output sarif");
    assert_eq!(run.code, 1, "{run:?}");
    let document: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(document["version"], "2.1.0");
    let driver = &document["runs"][0]["tool"]["driver"];
    assert_eq!((driver["name"].as_str(), driver["rules"].as_array().unwrap().len()), (Some("tracewise"), 3));
    let results = document["runs"][0]["results"].as_array().unwrap();
    assert_eq!(results.len(), 2, "{}", run.out);
    for result in results {
        let rule = result["ruleIndex"].as_u64().unwrap() as usize;
        assert_eq!(driver["rules"][rule]["id"], result["ruleId"]);
        let region = &result["locations"][0]["physicalLocation"]["region"];
        assert!(region["startLine"].as_u64().unwrap() >= 1, "{result}");
        assert!(!result["message"]["text"].as_str().unwrap().is_empty());
    }
    assert_eq!(document["runs"][0]["invocations"][0]["executionSuccessful"], true);
}

#[test]
fn github() {
    let run = tracewise("check web.tw web.jsonl broken.jsonl --output github");
    assert_eq!(run.code, 2, "{run:?}");
    let lines: Vec<&str> = run.out.lines().collect();
    assert_eq!(lines.len(), 3, "{}", run.out);
    assert!(
        lines[0]
            .starts_with("::error file=web.jsonl,line=5,title=answered::violated: every request is answered")
    );
    assert!(lines[2].starts_with("::error file=broken.jsonl,line=2,title=tracewise::"), "{}", lines[2]);
    let broken = tracewise("check -e 'G (' web.jsonl --output github");
    assert!(broken.out.starts_with("::error title=tracewise::"), "{}", broken.out);
}

#[test]
fn colour_where_it_is_wanted() {
    let coloured = |arguments: &[&str], environment: &[(&str, &str)]| {
        let mut command = command();
        command.args(["check", "-e", "G a", "ab.csv"]).args(arguments).envs(environment.iter().copied());
        finish(&mut command, "").out.contains('\u{1b}')
    };
    assert!(!coloured(&[], &[]), "a pipe is not coloured");
    assert!(coloured(&["--color", "always"], &[]));
    assert!(coloured(&[], &[("CLICOLOR_FORCE", "1")]));
    assert!(!coloured(&[], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
    assert!(!coloured(&["--color=never"], &[("CLICOLOR_FORCE", "1")]));
    assert!(!coloured(&["--color=always", "--output", "json"], &[]), "JSON is never coloured");
}

#[test]
fn a_reader_who_leaves_is_no_panic() {
    use std::io::{BufRead, BufReader};
    let directory = directory("pipe");
    let trace = directory.join("long.csv");
    std::fs::write(&trace, format!("a\n{}", "1\n0\n".repeat(200_000))).unwrap();
    let cases: [(&[&str], &str); 2] = [
        (&["eval", "-e", "a", "--output", "json"], "{\"position\":0,\"value\":true}\n"),
        (&["convert", "-o", "-", "--to", "jsonl"], "{\"a\":1}\n"),
    ];
    for (arguments, expected) in cases {
        let mut child = command()
            .args(arguments)
            .arg(&trace)
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut first = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
        assert_eq!(first, expected);
        // The reader is gone; the writer still has most of its lines.
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""));
    }
}

/// Nothing that a log or a file's name holds steers the terminal, or begins a line of a workflow's commands.
#[test]
fn control_characters_do_not_reach_a_terminal() {
    let folder = directory("control");
    let name = "evil\u{1b}[31m\n::error::planted.csv";
    std::fs::write(folder.join(name), "time,\"\u{1b}[2Jp\",\u{7}q\n0,1,0\n1,0,\u{1b}]0;x\u{7}\n").unwrap();
    let path = folder.join(name);
    for arguments in [
        vec!["inspect"],
        vec!["check", "-e", "G `\u{7}q`"],
        vec!["check", "-e", "G (`\u{1b}[2Jp` == 1)"],
        vec!["check", "-e", "G (`\u{1b}[2Jp` == 1)", "--output", "github"],
        vec!["check", "-e", "G nosuch", "--output", "github"],
        vec!["query", "-e", "count[`\u{1b}[2Jp` == 1]"],
        vec!["robust", "-e", "G (`\u{1b}[2Jp` > 0)"],
        vec!["explain", "-e", "G `\u{1b}[2Jp`", "--trace"],
    ] {
        let run = finish(command().args(&arguments).arg(&path), "");
        let fine = |c: char| c == '\n' || !c.is_control();
        assert!(run.out.chars().all(fine), "{arguments:?}: {:?}", run.out);
        assert!(run.err.chars().all(fine), "{arguments:?}: {:?}", run.err);
        assert!(
            !run.out.lines().any(|line| line.starts_with("::error::planted")),
            "{arguments:?}: {}",
            run.out
        );
        assert!(
            !run.err.lines().any(|line| line.starts_with("::error::planted")),
            "{arguments:?}: {}",
            run.err
        );
    }
}

/// The same for every command and form, with names, texts, keys and outputs that would steer, and marks that turn text.
#[test]
fn no_command_lets_control_characters_through() {
    let folder = directory("control-all");
    let evil = "\\u001b[31m\\u009b5m\\u202e";
    let line = format!(
        "{{\"time\":0,\"event\":\"f\",\"x\":\"{evil}\",\"{evil}\":1,\"thread\":\"{evil}\",\"lock\":\"l\"}}\n"
    );
    let evil = "\u{1b}[31m\u{9b}5m\u{202e}";
    std::fs::write(folder.join("a\u{1b}.jsonl"), &line).unwrap();
    let spec =
        format!("property `p{evil}` \"t{evil}\" : G `{evil}` > 3;\nquery `q{evil}` : last[true : x];\n");
    std::fs::write(folder.join("s\u{1b}.tw"), spec).unwrap();
    let lines = [
        "inspect TRACE",
        "check SPEC TRACE",
        "check SPEC TRACE --by x",
        "check -e 'G forall v. f(x: v) -> false' TRACE",
        "check -e 'G forall v. f(x: v) -> false' TRACE --semantics ltl3",
        "watch SPEC TRACE",
        "watch SPEC TRACE --by x",
        "watch SPEC TRACE --each-position",
        "watch -e 'G forall v. f(x: v) -> false' TRACE",
        "query SPEC TRACE",
        "query SPEC TRACE --at all",
        "query -e 'last[true : x]' --witness TRACE",
        "query -e 'count[true] by x' TRACE",
        "robust SPEC TRACE --by x",
        "eval -e '`EVIL` > 3' TRACE",
        "explain SPEC",
        "explain SPEC --trace TRACE",
        "races TRACE",
        "slice --patterns 'f(x: v)' TRACE",
        "merge --keep state TRACE -o OUT.json --ctl 'AG false'",
        "merge --keep state --state x TRACE -o OUT.json --ctl 'AG false'",
        "convert TRACE -o OUT.csv",
        "coverage TRACE",
        "import NOSUCH",
        "fmt NOSUCH",
        "simulate NOSUCH --steps 1 -o OUT.csv",
    ];
    for line in lines {
        for form in ["text", "json", "junit", "sarif", "github", "markdown"] {
            let arguments = words(line).into_iter().map(|word| {
                let word = word.replace("TRACE", "a\u{1b}.jsonl").replace("SPEC", "s\u{1b}.tw");
                word.replace("OUT", "o\u{1b}").replace("NOSUCH", "no\u{1b}").replace("EVIL", evil)
            });
            let mut run = command();
            let run = finish(run.args(arguments).args(["--output", form]).current_dir(&folder), "");
            let turned = |c: char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
            let fine = |c: char| c == '\n' || !(c.is_control() || turned(c));
            assert!(run.out.chars().all(fine), "{line} {form}: {:?}", run.out);
            assert!(run.err.chars().all(fine), "{line} {form}: {:?}", run.err);
            assert!(run.code != 101, "{line} {form}: {}", run.err);
        }
    }
}

#[test]
fn pages_show_where_in_the_log_violations_are() {
    let log = directory("timelines").join("t.csv");
    let mut text = String::from("time,event,x,user\n");
    for at in 0..100 {
        let event = if at % 7 == 3 { "bad" } else { "good" };
        text.push_str(&format!("{at},{event},{at},u{}\n", at % 3));
    }
    std::fs::write(&log, text).expect("a file for the test");
    let spec = log.with_file_name("s.tw");
    let monitor = "monitor odd(i) { event bad(i) = bad(x: i); }\nproperty p : G !bad;\n";
    std::fs::write(&spec, monitor).expect("a file for the test");
    let (log, spec) = (log.to_str().expect("UTF-8"), spec.to_str().expect("UTF-8"));
    for (line, strips) in [
        (format!("check {spec} {log}"), 2),
        (format!("watch {spec} {log}"), 2),
        (format!("watch -e 'G !bad' --by user {log}"), 1),
        (format!("check -e 'G !bad' --clock-error 100ms {log}"), 1),
    ] {
        let page = tracewise(&format!("{line} --output html"));
        assert_eq!(page.code, 1, "{page:?}");
        assert_eq!(page.out.matches("class=\"timeline\"").count(), 1, "{line}: {}", page.out);
        assert_eq!(page.out.matches("preserveAspectRatio").count(), strips, "{line}: {}", page.out);
        // Fourteen positions of a hundred fail, each in a part of its own.
        assert_eq!(page.out.matches(": 1 violation<").count(), 14 * strips, "{line}: {}", page.out);
    }
}

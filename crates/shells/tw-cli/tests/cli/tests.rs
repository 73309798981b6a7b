//! `test` and `init`: files of tests, and first specifications.

use crate::common::{command, directory, finish, tracewise, tracewise_with};
use crate::shared::root;

#[test]
fn the_corpus_is_as_expected() {
    let mut files = Vec::new();
    for logic in std::fs::read_dir(root().join("corpus")).unwrap() {
        files.extend(std::fs::read_dir(logic.unwrap().path()).unwrap().map(|file| file.unwrap().path()));
    }
    files.retain(|file| file.extension().is_some_and(|extension| extension == "twt"));
    assert!(files.len() > 25, "{} files", files.len());
    let run = finish(command().arg("test").args(&files), "");
    assert_eq!((run.code, run.err.as_str()), (0, ""), "{}", run.out);
}

/// The page on tests shows a file with blocks inside, which no block of the page could hold.
#[test]
fn the_page_shows_the_example() {
    let read = |file: &str| std::fs::read_to_string(root().join(file)).unwrap();
    let shown: String = read("examples/web/web.twt")
        .lines()
        .map(|line| format!("    {line}").trim_end().to_string() + "\n")
        .collect();
    assert!(read("docs/testing.md").contains(&shown), "{shown}");
}

const TESTS: &str = "# Doors\n```tw\nproperty p : G (a -> F b);\nquery n : count[a];\n```\n```props one\na\n\nb\na\n```\n\
                     ```verdicts\np: satisfied\n```\n```values\nn: 2\n```\n";

#[test]
fn what_is_not_met_is_a_difference() {
    let file = directory("cli/tests").join("t.twt");
    std::fs::write(&file, TESTS).unwrap();
    let name = file.to_str().unwrap();
    let run = |arguments: &[&str]| finish(command().args(["test", name]).args(arguments), "");
    let text = run(&[]);
    assert_eq!(text.code, 1, "{text:?}");
    let expected = format!("✗ {name}:13  Doors: one · verdicts · p\n  - satisfied\n  + violated 3\n");
    assert!(text.out.starts_with(&expected), "{}", text.out);
    let objects = run(&["--output", "json"]).json();
    assert_eq!(
        (objects.len(), &objects[0]["passed"], &objects[0]["found"]),
        (2, &false.into(), &"violated 3".into())
    );
    assert_eq!((&objects[1]["passed"], &objects[1]["line"]), (&true.into(), &16.into()));
    let xml = run(&["--output", "junit"]).out;
    let elements = crate::outputs::elements(&xml);
    let count = |name: &str| elements.iter().filter(|(element, _)| element == name).count();
    assert_eq!((count("testcase"), count("failure")), (2, 1), "{xml}");
    assert!(run(&["--output", "html"]).out.contains("1 violated"));
    assert_eq!(run(&["--write"]).code, 0);
    let met = run(&[]);
    assert_eq!((met.code, met.out.as_str()), (0, "✓ 2 expectations in 1 file met\n"));
    assert!(std::fs::read_to_string(&file).unwrap().contains("p: violated 3\n"));
}

#[test]
fn a_draft_holds_and_is_not_written_over() {
    let directory = directory("cli/init");
    for log in ["orders.csv", "requests-ok.jsonl", "lock-ok.csv"] {
        let trace = match log {
            "orders.csv" => root().join("examples/tutorial").join(log),
            "lock-ok.csv" => root().join("examples/lock").join(log),
            _ => root().join("examples/web").join(log),
        };
        let spec = directory.join(format!("{log}.tw"));
        let init = |force: bool| {
            let mut command = command();
            command.arg("init").arg(&trace).arg("-o").arg(&spec);
            finish(if force { command.arg("--force") } else { &mut command }, "")
        };
        assert_eq!(init(false).code, 0);
        let again = init(false);
        assert!(again.code == 2 && again.err.contains("--force"), "{again:?}");
        assert_eq!(init(true).code, 0);
        let check = finish(command().args(["check", "--deny", "warnings"]).arg(&spec).arg(&trace), "");
        assert_eq!((check.code, check.err.as_str()), (0, ""), "{}", std::fs::read_to_string(&spec).unwrap());
    }
}

#[test]
fn standard_input_is_read_where_no_trace_is_named() {
    let log = "{\"a\": true}\n{\"a\": false}\n";
    for line in ["check -e 'G a'", "eval -e 'a' --output json", "inspect", "query -e 'count[a]'"] {
        let (named, piped) = (tracewise_with(&format!("{line} -"), log), tracewise_with(line, log));
        let plain =
            |text: &str| text.lines().filter(|line| !line.contains("engine")).collect::<Vec<_>>().join("\n");
        assert_eq!((named.code, plain(&named.out)), (piped.code, plain(&piped.out)), "{line}: {piped:?}");
        assert!(piped.code < 2, "{line}: {piped:?}");
    }
    assert_eq!(tracewise("check").code, 2);
}

#[test]
fn a_page_has_what_there_is_to_see() {
    let run = tracewise("check web.tw web.jsonl broken.jsonl --output html");
    assert_eq!(run.code, 2, "{run:?}");
    for text in [
        "<!doctype html>",
        "every request is answered",
        "Violations over the log",
        "class=\"log\"",
        "1 error",
    ] {
        assert!(run.out.contains(text), "{text}: {}", run.out);
    }
    assert!(!run.out.contains("<script"), "{}", run.out);
    let count = |tag: &str| run.out.matches(tag).count();
    assert_eq!(count("<details"), count("</details>"));
    assert_eq!(count("<div"), count("</div>"));
    assert_eq!(count("<ul"), count("</ul>"));
}

#[test]
fn neighbours_are_one_range() {
    let directory = directory("cli/ranges");
    let trace = directory.join("t.csv");
    let rows: String =
        (0..60).map(|at| format!("{at},{}\n", u8::from(!(5..25).contains(&at) && at != 30))).collect();
    std::fs::write(&trace, format!("time,a\n{rows}")).unwrap();
    let run =
        |form: &str| finish(command().args(["check", "-e", "G a", "--output", form]).arg(&trace), "").out;
    let text = run("text");
    assert!(text.contains("t.csv:7–26 · positions 5 to 24 · time 5 to 24"), "{text}");
    assert!(text.contains("t.csv:32 (position 30, time 30)") && !text.contains("more violation"), "{text}");
    let github = run("github");
    assert!(github.contains("line=7,endLine=26") && github.lines().count() == 2, "{github}");
    let sarif: serde_json::Value = serde_json::from_str(&run("sarif")).unwrap();
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    let region = &results[0]["locations"][0]["physicalLocation"]["region"];
    assert_eq!((results.len(), &region["startLine"], &region["endLine"]), (2, &7.into(), &26.into()));
    assert!(results.iter().all(|result| result["partialFingerprints"]["tracewise/v1"].is_string()));
    let json: serde_json::Value = serde_json::from_str(run("json").trim()).unwrap();
    assert_eq!((json["violations"].as_array().unwrap().len(), &json["violation_count"]), (10, &21.into()));
}

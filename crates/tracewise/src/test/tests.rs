use super::*;

const FILE: &str = r#"# Doors

```tw
property answered : G (req -> F ack);
property both : G forall u. req(user: u) -> u != "eve";
query requests : count[req];
query each : count[true] by user;
```

## Two users

```jsonl a-name
{"event": "req", "user": "bob"}
{"event": "ack", "user": "bob"}
{"event": "req", "user": "eve"}
```

```verdicts
answered: violated 2
both: violated   2 (u = "eve")
```

```values
requests: 2
each: bob = 2, eve = 1
```

```eval
answered: 0 0 0
```

```warnings
none
```
"#;

fn run(text: &str) -> TestReport {
    let file = TestFile::from_text("t.twt", text).unwrap();
    test(&Session::new(), &file).unwrap()
}

fn failed(text: &str) -> Vec<(u64, String)> {
    let failed = run(text).results.into_iter().filter(|result| !result.passed());
    failed.map(|result| (result.line, result.found)).collect()
}

#[test]
fn what_is_expected_comes_out() {
    assert_eq!(failed(FILE), []);
    let report = run(FILE);
    assert_eq!(report.results.len(), 6);
    assert_eq!(report.rewritten, FILE, "what is right stays as it is written");
    assert_eq!(report.results[0].case, "Two users: a-name");
}

#[test]
fn what_differs_is_found_and_written() {
    let wrong =
        FILE.replace("answered: violated 2", "answered: satisfied").replace("requests: 2", "requests: 3");
    assert_eq!(failed(&wrong), [(19, "violated 2".into()), (24, "2".into())]);
    assert_eq!(run(&wrong).rewritten, FILE);
    let empty = FILE.replace("answered: 0 0 0\n", "").replace("none\n", "");
    assert_eq!(run(&empty).results.iter().filter(|result| result.passed()).count(), 4);
    let filled = run(&empty).rewritten;
    assert!(filled.contains("```eval\nanswered: 0 0 0\nboth: 0 0 0\n```"), "{filled}");
    assert_eq!(failed(&filled), []);
}

#[test]
fn errors_and_warnings_can_be_expected() {
    let text =
        "```tw\nproperty p : G (a -> lost);\n```\n```props\na\n\n```\n```warnings\nunknown-event\n```\n";
    let codes: Vec<String> = run(text).results.into_iter().map(|result| result.found).collect();
    let code = codes[0].split(':').next().unwrap().to_string();
    assert_eq!(failed(&text.replace("unknown-event", &code)), []);
    let text = "```tw\nproperty p : G (x > );\n```\n```csv\nx\n1\n```\n```error\nnothing on its right\nt.twt:2\n```\n";
    assert_eq!(failed(text), []);
    assert_eq!(failed(&text.replace("x > ", "x > 0")), [(9, "no error".into())]);
    let text = "```tw\nproperty p : G (x > 0);\n```\n```csv\nx\n1,2\n```\n```verdicts\np: satisfied\n```\n";
    let found = failed(text);
    assert!(found[0].1.starts_with("error"), "{found:?}");
}

#[test]
fn settings_of_a_trace() {
    let text = "```tw\nproperty p : G (a -> F[0,1] b);\n```\n```csv by=k time=t clock=stamps\nt,k,a,b\n0,1,1,0\n0,2,1,0\n1,1,0,1\n5,2,0,1\n```\n```verdicts\np: violated 1 (k = \"2\")\n```\n";
    assert_eq!(failed(text), []);
}

#[test]
fn files_that_are_no_tests() {
    let bad = |text: &str| TestFile::from_text("t.twt", text).unwrap_err().render(false);
    for (text, says) in [
        ("", "no tests"),
        ("```csv\na\n```\n", "no specification"),
        ("```tw\n```\n```verdicts\n```\n", "nothing to expect"),
        ("```tw\n```\n```csv\na\n```\n", "nothing is expected"),
        ("```tw\n```\n```yaml\n```\n", "unknown block `yaml`"),
        ("```tw\nproperty", "not closed"),
        ("```\n```\n", "without a kind"),
        ("```tw\n```\n```trace\n```\n", "which trace"),
    ] {
        assert!(bad(text).contains(says), "{text:?}: {}", bad(text));
    }
    let late = |text: &str| {
        let file = TestFile::from_text("t.twt", text).unwrap();
        test(&Session::new(), &file).unwrap_err().render(false)
    };
    let case = |info: &str, expected: &str| {
        format!("```tw\nproperty p : a;\n```\n```props {info}\na\n```\n```{expected}\n```\n")
    };
    for (text, says) in [
        (case("", "verdicts\nq: satisfied"), "no property `q`"),
        (case("", "verdicts\np satisfied"), "without a colon"),
        (case("", "verdicts soon\np: satisfied"), "unknown semantics `soon`"),
        (case("clock=wall", "verdicts\np: satisfied"), "unknown clock `wall`"),
        (case("year=3", "verdicts\np: satisfied"), "unknown setting `year`"),
    ] {
        assert!(late(&text).contains(says), "{text:?}: {}", late(&text));
    }
}

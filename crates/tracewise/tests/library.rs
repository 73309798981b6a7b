//! The libraries: every rule is documented, has a trace that it accepts and one that it does not, and stands in the docs.

use std::collections::BTreeMap;
use std::path::PathBuf;
use tracewise::Session;
use tracewise::check::CheckOptions;
use tracewise::library::LIBRARIES;
use tracewise::test::TestFile;

fn folder(library: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("library").join(library)
}

#[test]
fn every_rule_has_a_trace_that_it_accepts_and_one_that_it_does_not() {
    for library in LIBRARIES {
        let mut seen: BTreeMap<String, [bool; 2]> = BTreeMap::new();
        for chapter in library.chapters {
            let path = folder(library.name).join(format!("{}.twt", chapter.name));
            let file = TestFile::from_file(path.to_str().unwrap()).unwrap_or_else(|error| panic!("{error}"));
            let report = Session::new().test(&file).unwrap();
            for result in report.results {
                let expected = result.expected.clone().unwrap_or_default();
                assert!(
                    result.passed(),
                    "{}: {} is {}, not {expected}",
                    library.name,
                    result.name,
                    result.found
                );
                let (satisfied, violated) =
                    (expected.starts_with("satisfied"), expected.starts_with("violated"));
                let seen = seen.entry(result.name).or_default();
                *seen = [seen[0] | satisfied, seen[1] | violated];
            }
        }
        for rule in library.rules().unwrap() {
            assert_eq!(seen.get(&rule.name), Some(&[true, true]), "{} of {}", rule.name, library.name);
            assert!(!rule.prose.is_empty() && !rule.title.is_empty(), "{} is not documented", rule.name);
        }
    }
    assert!(LIBRARIES[0].rules().unwrap().len() >= 60);
}

#[test]
fn libraries_are_found_by_name() {
    assert!(tracewise::library::find("posix").is_ok());
    let error = tracewise::library::find("posit").unwrap_err().to_string();
    assert!(error.contains("did you mean `posix`?"), "{error}");
}

/// Processes are forked in traces of `strace`, too, which tells a thread by its number alone.
#[test]
fn a_trace_of_strace_may_fork() {
    let spec = tracewise::library::find("posix").unwrap().specification().unwrap();
    let path = std::env::temp_dir().join(format!("tracewise-library-{}.strace", std::process::id()));
    for fork in ["fork() = 2", "vfork() = 2", "vfork( <unfinished ...>"] {
        let text = format!(
            "1 1700000000.1 openat(AT_FDCWD, \"/x\", O_RDONLY) = 3\n1 1700000000.2 {fork}\n\
             2 1700000000.3 +++ exited with 0 +++\n1 1700000000.4 wait4(2, NULL, 0, NULL) = 2\n"
        );
        std::fs::write(&path, text).unwrap();
        let files = [path.display().to_string()];
        let report = Session::new().check(&spec, &files, &CheckOptions::default());
        assert!(report.is_ok(), "{fork}: {}", report.err().unwrap());
    }
    std::fs::remove_file(path).unwrap();
}

#[test]
fn a_trace_without_any_of_the_events_is_warned_of() {
    let path = std::env::temp_dir().join(format!("tracewise-library-{}.jsonl", std::process::id()));
    for library in LIBRARIES {
        let whole = library.specification().unwrap();
        let rule = library.rules().unwrap().remove(0).name;
        for spec in [whole.only(&[]).unwrap(), whole.only(&[rule]).unwrap()] {
            for (event, warned) in [("fired", true), ("close", library.name != "posix")] {
                let text = format!(
                    "{{\"event\": \"{event}\", \"pid\": 1, \"fd\": 2, \"i\": 1, \"f\": 3, \"x\": 4}}\n"
                );
                std::fs::write(&path, text).unwrap();
                let files = [path.display().to_string()];
                let mut report = Session::new().check(&spec, &files, &CheckOptions::default()).unwrap();
                tracewise::library::relevant(&spec, "t", &mut report.warnings);
                let told: Vec<String> = report.warnings.iter().map(|found| found.message.clone()).collect();
                assert_eq!(
                    told.len() == 1 && told[0].contains("no event occurs"),
                    warned,
                    "{} {event}: {told:?}",
                    library.name
                );
            }
        }
    }
    std::fs::remove_file(path).unwrap();
}

/// docs/posix.md is this list; `UPDATE_DOCS=1` writes it.
#[test]
fn the_docs_list_every_rule() {
    let mut page = String::from(
        "# The libraries of rules\n\nRules that ship with Tracewise, each a [monitor](monitors.md). `tracewise record --library posix -- PROGRAM` checks \
         them while a program\nruns ([how](record.md)), `tracewise check --library posix TRACE` on a trace that was recorded, or that `strace -f -ttt` \
         wrote.\nThis page is made from the rules themselves.\n",
    );
    for library in LIBRARIES {
        let rules = library.rules().unwrap();
        page.push_str(&format!("\n## `{}`\n\n{} rules: {}.\n", library.name, rules.len(), library.about));
        let mut chapter = "";
        for rule in &rules {
            if rule.chapter != chapter {
                chapter = rule.chapter;
                page.push_str(&format!(
                    "\n### {chapter}\n\n| rule | severity | what it says, and why |\n|---|---|---|\n"
                ));
            }
            page.push_str(&format!(
                "| `{}` | {} | {}. {} |\n",
                rule.name, rule.severity, rule.title, rule.prose
            ));
        }
    }
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/posix.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == page, "docs/posix.md is not what the rules say; UPDATE_DOCS=1 writes it");
}

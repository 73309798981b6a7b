//! The library names settings by what they are. Wherever its texts leave the command, users read flags; that no setting is
//! left unspelled in what a run prints, `finish` holds of every run.

use crate::common::{Run, directory, tracewise, tracewise_with};
use tracewise::error::Setting;

fn says(run: &Run, flag: &str) {
    assert!(run.out.contains(flag) || run.err.contains(flag), "no `{flag}` in {run:?}");
}

#[test]
fn in_help_and_what_is_made_of_it() {
    // What is said of an engine, and of a format.
    let said = ["continuous time (--clock dense)", "without a header; --timed: the last"];
    for line in ["check --help", "completions fish", "completions zsh"] {
        let run = tracewise(line);
        assert_eq!(run.code, 0, "{run:?}");
        let unescaped = Run { out: run.out.replace('\\', ""), ..run };
        said.iter().for_each(|said| says(&unescaped, said));
    }
    let pages = directory("flags-man");
    assert_eq!(tracewise(&format!("man '{}'", pages.display())).code, 0);
    let page = std::fs::read_to_string(pages.join("tracewise-check.1")).unwrap().replace('\\', "");
    said.iter().for_each(|said| assert!(page.contains(said), "no `{said}` in {page}"));
    assert_eq!(Setting::named_in(&page), []);
}

#[test]
fn in_explanations_of_a_choice() {
    for line in ["explain -e 'F[0,1] a' --clock dense", "explain -e 'F[0,1] a' --clock dense --output json"] {
        says(&tracewise(line), "continuous time (--clock dense): truth as runs");
        says(&tracewise(line), "refuse continuous time (`--clock dense`)");
    }
    says(
        &tracewise("explain -e 'G a' --maude"),
        "*** refers to that position, so verdicts are those of `--semantics",
    );
}

/// An engine's refusal, a format's, and that of a specification, in every form of output.
#[test]
fn in_errors() {
    for form in ["text", "json", "junit", "sarif", "github"] {
        says(
            &tracewise(&format!("check -e 'X a' --clock dense ab.csv --output {form}")),
            "or use --clock stamps",
        );
        says(
            &tracewise(&format!("check -e 'a' --time tme ab.csv --output {form}")),
            "`--time tme` names a column",
        );
        let divided = "property p : G a by user.id;";
        let refused = tracewise_with(&format!("check - ab.csv --output {form}"), divided);
        says(&refused, "`tracewise check --by user.id` checks every property");
    }
}

#[test]
fn in_notes_of_streams() {
    let stream = format!("a,b\n{}", "1,0\n".repeat(1001));
    for form in ["text", "json"] {
        let line = format!("watch -e 'G (event ev -> a)' --format csv --output {form} -");
        let run = tracewise_with(&line, &stream);
        let note = run.err.lines().next().unwrap_or_default();
        assert!(
            note.contains("so far, `ev` is used as an event") && note.contains("`--event COL`"),
            "{run:?}"
        );
    }
}

#[test]
fn in_warnings_of_reports() {
    let directory = directory("flags-merge");
    let traces = [("one.csv", "state\na\nb\n"), ("two.csv", "state\na\n")].map(|(name, text)| {
        let path = directory.join(name);
        std::fs::write(&path, text).unwrap();
        format!("'{}'", path.display())
    });
    let run = tracewise(&format!("merge --keep state {} --ctl 'AG EF b' --output json", traces.join(" ")));
    let help = |object: &serde_json::Value| {
        let told = object["warnings"].as_array()?.iter().find(|told| told["code"] == "lost-ends")?;
        Some(format!("{} {}", told["message"], told["help"]))
    };
    let told = run.json().iter().find_map(help).unwrap_or_else(|| panic!("{run:?}"));
    assert!(told.contains("--end-loops all"), "{told}");
    assert!(run.err.contains("--end-loops all"), "{run:?}");
}

#[test]
fn in_files_that_are_written() {
    let out = directory("flags-import").join("made.tw");
    let spelled = "// A position is a row, bounds count rows: run with --clock index.\n";
    let run = tracewise_with(&format!("import - --from mltl -o '{}'", out.display()), "G[0,1] a0\n");
    assert_eq!(run.code, 0, "{run:?}");
    let made = std::fs::read_to_string(&out).unwrap();
    assert!(made.contains(spelled) && Setting::named_in(&made).is_empty(), "{made}");
    let shown = tracewise_with("import - --from mltl --output json", "G[0,1] a0\n");
    assert_eq!(shown.json()[0]["text"].as_str().map(|text| text.contains(spelled)), Some(true), "{shown:?}");
}

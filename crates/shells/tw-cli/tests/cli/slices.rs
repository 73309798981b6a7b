//! `check --slices` and `split`: the same output, workers that die, files and their manifest, and refusals.

use crate::common::{tracewise, tracewise_with};
use serde_json::Value;
use std::path::PathBuf;
use tracewise::check::CheckOptions;
use tracewise::slicing::Slicing;
use tracewise::{Session, Specification};

const FORMULA: &str = "G forall c, s. login(c, s) -> F[0,25) logout(c, s)";
/// The same of whole moments: what cannot tell equal timestamps from one.
const MOMENTS: &str = "G forall c, s. login(c, s) -> F[0,25) O[0,0] logout(c, s)";

/// A directory of its own with a log in it.
fn logged(name: &str, positions: usize) -> (PathBuf, String) {
    let directory = std::env::temp_dir().join(format!("tracewise-cli-slices-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let (mut state, mut log) = (17u64, String::new());
    let mut next = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    for at in 0..positions {
        log.push_str(&format!("@{}", at / 2));
        for _ in 0..next(3) {
            let event = if next(3) == 0 { "login" } else { "logout" };
            log.push_str(&format!(" {event} ({},{})", next(30), next(2)));
        }
        log.push('\n');
    }
    let file = directory.join("day.log");
    std::fs::write(&file, log).unwrap();
    (directory, file.display().to_string())
}

/// Without what the clock says.
fn timeless(text: &str) -> String {
    let line = |line: &str| match line.split_once("; engine ") {
        Some((before, _)) => before.to_string(),
        None => line.to_string(),
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn slices_print_what_the_whole_prints() {
    let (directory, log) = logged("same", 800);
    for output in ["text", "json", "sarif"] {
        let check =
            |options: &str| tracewise(&format!("check -e '{FORMULA}' {log} --output {output} {options}"));
        let whole = check("");
        assert_eq!(whole.code, 1, "{}", whole.err);
        for options in [
            "--slices 4",
            "--slices 6 --slice-on c,s",
            "--slices 3 --period 1m --jobs 2",
            "--period 100",
            "--slices 5 --slice-on s --filter-empty off",
            "--slices 4 --filter-empty on --jobs 1",
            "--slices 4 --workers 2",
        ] {
            let sliced = check(options);
            assert_eq!(
                (sliced.code, timeless(&sliced.out)),
                (1, timeless(&whole.out)),
                "{options}: {}",
                sliced.err
            );
            assert_eq!(sliced.err, whole.err, "{options}");
        }
    }
    std::fs::remove_dir_all(directory).unwrap();
}

#[test]
fn equal_timestamps_as_one_change_nothing() {
    let (directory, log) = logged("one", 800);
    for output in ["text", "json"] {
        let check = |options: &str| {
            tracewise(&format!("check -e '{MOMENTS}' {log} --violations all --output {output} {options}"))
        };
        let whole = check("");
        assert_eq!(whole.code, 1, "{}", whole.err);
        for options in [
            "--slices 1",
            "--slices 4",
            "--slices 6 --slice-on c,s",
            "--slices 3 --period 1m",
            "--slices 2 --workers 2",
        ] {
            let sliced = check(&format!("{options} --collapse --no-explain"));
            let whole = check("--no-explain");
            assert_eq!(
                (sliced.code, timeless(&sliced.out)),
                (1, timeless(&whole.out)),
                "{options}: {}",
                sliced.err
            );
        }
    }
    // What flows through monitors tells times and lines of the first hundred violations.
    let hundred = |options: &str| {
        let check =
            format!("check -e '{MOMENTS}' {log} --violations 100 --output json --no-explain {options}");
        timeless(&tracewise(&check).out)
    };
    assert_eq!(hundred("--slices 2 --memory 1KB --collapse"), hundred(""));
    let to = directory.join("slices");
    let split = tracewise(&format!("split -e '{MOMENTS}' {log} --slices 3 --collapse -o {}", to.display()));
    assert_eq!(split.code, 0, "{}", split.err);
    let manifest = to.join("manifest.json").display().to_string();
    assert!(std::fs::read_to_string(&manifest).unwrap().contains("\"as_one\": true"));
    let json = "--output json --violations all --no-explain";
    let (found, whole) = (
        tracewise(&format!("check -e '{MOMENTS}' {manifest} {json}")),
        tracewise(&format!("check -e '{MOMENTS}' {log} {json}")),
    );
    assert_eq!(plain(found.json().remove(0)), plain(whole.json().remove(0)));
    let explained = tracewise(&format!("explain -e '{MOMENTS}'"));
    assert!(explained.out.contains("equal timestamps as one"), "{}", explained.out);
    assert!(!tracewise(&format!("explain -e '{FORMULA}'")).out.contains("equal timestamps as one"));
    std::fs::remove_dir_all(directory).unwrap();
}

#[test]
fn workers_that_die_change_nothing() {
    let (directory, log) = logged("dying", 1200);
    let spec = Specification::from_formula(FORMULA).unwrap();
    let program = env!("CARGO_BIN_EXE_tracewise");
    let check = |slicing: Option<Slicing>| {
        let options = CheckOptions { slicing, violations: usize::MAX, ..CheckOptions::default() };
        format!("{:?}", Session::new().check(&spec, std::slice::from_ref(&log), &options).unwrap())
    };
    let whole = check(None);
    // The first worker is killed with its slice in its hands; all are; there is no such program.
    let flag = directory.join("died");
    let work = format!("exec {program} check -e '{FORMULA}' {log} --slices 6 --work");
    let once = format!("if mkdir {} 2>/dev/null; then read slice; kill -9 $$; fi; {work}", flag.display());
    for (script, dies) in [(once, true), ("read slice; kill -9 $$".to_string(), false), (work, false)] {
        let command = vec!["sh".to_string(), "-c".to_string(), script];
        let slicing = Slicing { slices: 6, workers: Some((command, 2)), ..Slicing::default() };
        assert_eq!(check(Some(slicing)), whole);
        assert_eq!(flag.exists(), dies || flag.exists());
    }
    assert!(flag.exists(), "a worker was killed");
    let nobody = Some((vec![directory.join("nobody").display().to_string()], 3));
    assert_eq!(check(Some(Slicing { slices: 3, workers: nobody, ..Slicing::default() })), whole);
    std::fs::remove_dir_all(directory).unwrap();
}

/// What a report says beside lines, which are those of other files.
fn plain(mut value: Value) -> Value {
    for violation in value["violations"].as_array_mut().unwrap() {
        violation.as_object_mut().unwrap().remove("line");
    }
    value
}

#[test]
fn files_of_slices_say_what_the_log_says() {
    let (directory, log) = logged("split", 900);
    let whole = tracewise(&format!("check -e '{FORMULA}' {log} --output json --violations all --no-explain"));
    for options in ["--slices 4", "--slices 6 --slice-on c,s", "--slices 2 --period 100", "--period 2m"] {
        let to = directory.join("slices");
        let split = tracewise(&format!("split -e '{FORMULA}' {log} {options} -o {}", to.display()));
        assert_eq!(split.code, 0, "{options}: {}", split.err);
        let manifest = to.join("manifest.json");
        let found = tracewise(&format!(
            "check -e '{FORMULA}' {} --output json --violations all --no-explain",
            manifest.display()
        ));
        assert_eq!(found.code, 1, "{options}: {}", found.err);
        assert_eq!(plain(found.json().remove(0)), plain(whole.json().remove(0)), "{options}");
        // Another property has other slices.
        let other = tracewise(&format!(
            "check -e 'G forall c. login(c, _) -> O logout(c, _)' {}",
            manifest.display()
        ));
        assert_eq!(other.code, 2);
        assert!(other.err.contains("not made for") && other.err.contains(FORMULA), "{}", other.err);
        assert!(!other.err.contains("no manifest"), "{}", other.err);
        // A slice that lost a line is told.
        let slice = to.join("slice-0001.log");
        let text = std::fs::read_to_string(&slice).unwrap();
        std::fs::write(&slice, text.split_once('\n').unwrap().1).unwrap();
        let short = tracewise(&format!("check -e '{FORMULA}' {}", manifest.display()));
        assert_eq!(short.code, 2);
        assert!(short.err.contains("are listed"), "{}", short.err);
        std::fs::remove_dir_all(to).unwrap();
    }
    std::fs::remove_dir_all(directory).unwrap();
}

#[test]
fn what_is_no_property_is_not_left_out_in_silence() {
    let (directory, _) = logged("others", 0);
    let write = |name: &str, text: &str| {
        let path = directory.join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let log = write("x.log", "@1 open (1)\n@2 open (1)\n");
    let property = "property open: G forall x. open(x) -> O open(x);\n";
    let monitor = "monitor Twice(file) { event open(file); ere : open; on match; }\n";
    let cases = [
        (format!("{property}require few : count[open(_)] < 1;"), "`few` is a requirement"),
        (format!("{property}{monitor}"), "monitors are not run"),
    ];
    let (spec, to) = (write("sliced.tw", property), directory.join("to").display().to_string());
    let (cut, manifest) = (format!("{log} --slices 2 -o {to}"), format!("{to}/manifest.json"));
    assert_eq!(tracewise(&format!("split {spec} {cut}")).code, 0);
    for (text, why) in cases {
        let both = write("both.tw", &text);
        for run in [format!("split {both} {cut}"), format!("check {both} {manifest}")] {
            let refused = tracewise(&run);
            assert_eq!(refused.code, 2, "{run}: {}", refused.out);
            assert!(refused.err.contains(why) && refused.err.contains("--only open"), "{}", refused.err);
            let alone = tracewise(&format!("{run} --only open"));
            assert_eq!(alone.code, 0, "{run}: {}", alone.err);
        }
    }
    std::fs::remove_dir_all(directory).unwrap();
}

#[test]
fn what_cannot_be_sliced_is_refused_or_told() {
    let log = "@1 p (1) q (2)\n@2\n@3 q (1)\n";
    for (options, why) in [
        ("-e 'F p' --slices 2", "only `G φ`"),
        ("-e 'G (p -> O q)' --slices 2", "`O q` looks at all of the log"),
        ("-e 'G forall x. p(x) -> F q(x)' --period 7d", "no slices in time"),
        (
            "-e 'G forall x. p(x) -> F q(x)' --slices 2 --slice-on y",
            "no outer variable `y`; it has `x`: leave out --slices and --slice-on",
        ),
        ("-e 'G forall x. q(x) | p(x)' --slices 2 --slice-on x", "nothing binds `x`"),
        ("-e 'G forall x. p(x) -> X q(x)' --slices 2 --filter-empty on", "cannot be left out"),
        ("-e 'G forall x. p(x) -> O[0,5] q(x)' --period 0s", "longer than nothing: leave out --period"),
        ("-e 'G forall x. p(x) -> O[0,5] q(x)' --period week", "no unit"),
        ("-e 'G forall x. p(x) -> O q(x)' --slices 2 --semantics ltl3", "--semantics finite"),
        ("-e 'G p' --slices 2 --clock dense", "continuous time"),
        ("-e 'G p' --jobs 2", "add --slices N"),
        ("-e 'G p' --collapse", "add --slices N"),
        (
            "-e 'G forall x. p(x) -> F[0,5] q(x)' --slices 2 --collapse",
            "`p(x) -> F[0,5] q(x)` can tell them apart",
        ),
        // What it offers is not what was written.
        (
            "-e 'G forall x. p(x) -> O[0,0] q(x)' --slices 2 --collapse",
            "(`O[0,0] F[0,0] φ` and `F[0,0] O[0,0] φ` look at all of a moment)",
        ),
        (
            "-e 'G forall x. p(x) -> F[1,5] q(x)' --slices 2 --collapse --clock index",
            "not what intervals measure",
        ),
        (
            "-e 'G forall x. p(x) -> F[1,5] q(x)' --slices 2 --collapse --semantics repeat-last",
            "would change",
        ),
        ("-e 'G p' --slices 0", "0"),
    ] {
        let run = tracewise_with(&format!("check --format monpoly {options} -"), log);
        assert_eq!(run.code, 2, "{options}: {}", run.out);
        assert!(run.err.contains(why), "{options}: {}", run.err);
    }
    // Beside one that can, it is told, and the output is the same.
    let both = "check --format monpoly --output json -e 'G forall x. p(x) -> O q(x)' -e 'F p'";
    let (whole, sliced) =
        (tracewise_with(&format!("{both} -"), log), tracewise_with(&format!("{both} --slices 2 -"), log));
    assert_eq!((sliced.code, &sliced.out), (whole.code, &whole.out));
    assert!(sliced.err.contains("not-sliced") && sliced.err.contains("`F p`"), "{}", sliced.err);
}

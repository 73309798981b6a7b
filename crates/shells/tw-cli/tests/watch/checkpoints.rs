//! Killed in mid-stream and resumed, a watch says exactly what an unbroken one says; of further violations, those that the
//! state does not know to be told.

use crate::process::{directory, file, run, watch};
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

/// Properties that settle at different places of [`stream`], and some that never do.
const SPEC: &str = "\
property a : F (p & X q);
property b : G !(p & q & r);
property c : G (p -> F q);
property d : (p | q | !r) U (r & X r);
property e : G (r -> O q);
property f \"counted\" : F (n > 900);
property g : G (n <= 1500);
property h : G F r;
";

/// Random positions, which settle now and then, as `jsonl`.
fn stream(lines: usize, mut seed: u64) -> String {
    let mut text = String::new();
    for line in 0..lines {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let bit = |at: u32, odds: u64| (seed >> at).is_multiple_of(odds);
        let (p, q) = (bit(20, 7), bit(30, 5));
        // Rare ones late, so that verdicts are spread over the stream.
        let r = bit(40, 40) && line > lines / 3;
        text.push_str(&format!("{{\"p\":{p},\"q\":{q},\"r\":{r},\"n\":{line}}}\n"));
        if line % 97 == 0 {
            text.push('\n');
        }
    }
    text
}

fn arguments<'a>(spec: &'a str, state: &'a str) -> Vec<&'a str> {
    let every = ["--checkpoint-every", "50", "--first"];
    [spec, "--output", "json", "--checkpoint", state, "--resume"].into_iter().chain(every).collect()
}

fn seeds() -> impl Iterator<Item = u64> {
    (1..=4u64).map(|seed| seed * 7919)
}

#[test]
fn standard_input_replayed() {
    let spec = file("replayed", "s.tw", SPEC);
    for seed in seeds() {
        let text = stream(2000, seed);
        let unbroken = run(&[&spec, "--output", "json", "--first"], &text);
        assert!(unbroken.out.len() == 8 && unbroken.code == Some(1), "{unbroken:?}");
        let state = Path::new(&spec).with_file_name(format!("state{seed}"));
        let state = state.to_str().unwrap();
        // Killed at moments that the machine's mood decides, with the stream sent to various points.
        for kill in 0..5u64 {
            let mut broken = watch(&arguments(&spec, state));
            let sent = (seed.wrapping_mul(kill + 1) % 1000 + kill * 200) as usize * text.len() / 2000;
            // Mid-line as often as not.
            broken.write(&text[..sent]);
            std::thread::sleep(Duration::from_millis(seed.wrapping_mul(31 * kill + 7) % 40));
            broken.kill();
        }
        let resumed = run(&arguments(&spec, state), &text);
        assert_eq!(
            (&resumed.out, resumed.code),
            (&unbroken.out, unbroken.code),
            "seed {seed}: {:?}",
            resumed.err
        );
        // And once more, when all has been read.
        let again = run(&arguments(&spec, state), &text);
        assert_eq!((&again.out, again.code), (&unbroken.out, unbroken.code), "seed {seed}: {:?}", again.err);
    }
}

#[test]
fn a_followed_file_goes_on() {
    let spec = file("followed", "s.tw", SPEC);
    for seed in seeds() {
        let text = stream(2000, seed);
        let unbroken = run(&[&spec, "--output", "json", "--first"], &text);
        let trace = Path::new(&spec).with_file_name(format!("t{seed}.jsonl"));
        let trace = trace.to_str().unwrap();
        let state = format!("{trace}.state");
        std::fs::write(trace, "").unwrap();
        let mut followed = arguments(&spec, &state);
        followed.extend([trace, "--follow"]);
        let mut sent = 0;
        for kill in 0..5u64 {
            let broken = watch(&followed);
            let to = ((kill + 1) * 350 + seed % 50) as usize * text.len() / 2000;
            for part in text.as_bytes()[sent..to].chunks(1 + to / 7) {
                OpenOptions::new().append(true).open(trace).unwrap().write_all(part).unwrap();
                std::thread::sleep(Duration::from_millis(seed.wrapping_mul(kill + 3) % 5));
            }
            sent = to;
            broken.kill();
        }
        OpenOptions::new().append(true).open(trace).unwrap().write_all(&text.as_bytes()[sent..]).unwrap();
        followed.extend(["--pending-every", "20ms"]);
        let resumed = watch(&followed);
        // Ended when all of it has been read.
        let mut said = Vec::new();
        while resumed.positions(&mut said) < 2000 {}
        resumed.signal("TERM");
        let resumed = resumed.end();
        assert_eq!(resumed.code, unbroken.code, "{:?}", resumed.err);
        said.extend(resumed.out.into_iter().filter(|line| line.contains("\"verdict\"")));
        // The unbroken run names its stream `<stdin>`.
        let said: Vec<String> = said.iter().map(|line| line.replace(trace, "<stdin>")).collect();
        assert_eq!(said, unbroken.out, "seed {seed}");
    }
}

#[test]
fn other_formats_and_each_position_go_on() {
    // By rows, from the start of the stream; each position is told once over both runs.
    let text: String =
        (0..300).map(|n| format!("@{n} {} ()\n", if n % 7 == 3 { "q" } else { "p" })).collect();
    let directory = directory("rows");
    for (index, extra) in [vec![], vec!["--each-position"]].into_iter().enumerate() {
        let state = directory.join(format!("state{index}")).to_str().unwrap().to_string();
        let mut plain =
            vec!["-e", "G (q -> X p)", "-e", "F (q & O q)", "--format", "monpoly", "--output", "json"];
        plain.extend(extra);
        let unbroken = run(&plain, &text);
        let mut kept = plain.clone();
        kept.extend(["--checkpoint", &state, "--resume"]);
        let (half, _) = text.split_at(text.len() / 2);
        let mut first = watch(&kept);
        first.write(half);
        let before: Vec<String> = if index == 0 {
            vec![]
        } else {
            // About 150 positions of two properties; the last may wait.
            (0..280).map(|_| first.line()).collect()
        };
        std::thread::sleep(Duration::from_millis(100));
        first.signal("TERM");
        let input = first.input.take();
        let first = first.end();
        drop(input);
        let resumed = run(&kept, &text);
        assert_eq!(resumed.code, unbroken.code, "{:?}", resumed.err);
        if index == 0 {
            assert_eq!(resumed.out, unbroken.out);
        } else {
            let settled = |line: &&String| line.contains("\"settled\":true");
            let mut all: Vec<&String> = before.iter().chain(&first.out).filter(settled).collect();
            all.extend(&resumed.out);
            assert_eq!(all, unbroken.out.iter().collect::<Vec<_>>());
        }
    }
}

#[test]
fn further_violations_are_told_once_and_first_ones_again() {
    let directory = directory("violations");
    let state = directory.join("state").to_str().unwrap().to_string();
    let plain = ["-e", "G !bad", "-e", "G (p -> X !p)", "--format", "props", "--output", "json"];
    let kept: Vec<&str> = plain.into_iter().chain(["--checkpoint", &state, "--resume"]).collect();
    let text = "p\np\nbad\nx\np\np\nbad\np\np\nbad\nx\n";
    let unbroken = run(&plain, text);
    let (half, _) = text.split_at("p\np\nbad\nx\np\np\nbad\n".len());
    let mut first = watch(&kept);
    first.write(half);
    let told: Vec<String> = (0..4).map(|_| first.line()).collect();
    assert_eq!(told, unbroken.out[..4]);
    // Asked to end, it keeps all it said.
    first.signal("TERM");
    let input = first.input.take();
    assert!(first.end().out.is_empty());
    drop(input);
    let resumed = run(&kept, text);
    let expected: Vec<&String> = unbroken.out[..2].iter().chain(&unbroken.out[4..]).collect();
    assert_eq!(resumed.out.iter().collect::<Vec<_>>(), expected, "{:?}", resumed.err);
    assert_eq!(resumed.code, unbroken.code);
    assert!(
        resumed.err.iter().any(|line| line.contains("not told again: 2 further lines")),
        "{:?}",
        resumed.err
    );
    // The file does not grow with the lines.
    let size = || std::fs::metadata(&state).unwrap().len();
    let before = size();
    let more = format!("{text}{}", "bad\n".repeat(10_000));
    assert_eq!(run(&kept, &more).json().len(), 10_002);
    assert!(size() < before + 4096, "{before} bytes, then {}", size());
    let other = kept.iter().copied().chain(["--first"]).collect::<Vec<_>>();
    assert!(run(&other, &more).err.iter().any(|line| line.contains("its --first is off")));
}

#[test]
fn a_checkpoint_of_something_else_is_refused() {
    let directory = directory("refused");
    let state = directory.join("state").to_str().unwrap().to_string();
    let base = ["--format", "props", "--checkpoint", &state];
    let with = |more: &[&'static str]| -> Vec<String> {
        more.iter().map(|word| word.to_string()).chain(base.iter().map(|word| word.to_string())).collect()
    };
    let go = |more: &[&'static str], text: &str| {
        let arguments = with(more);
        run(&arguments.iter().map(String::as_str).collect::<Vec<_>>(), text)
    };
    let none = go(&["-e", "G p", "--resume"], "p\np\n");
    assert_eq!(none.code, Some(0));
    assert!(none.err.iter().any(|line| line.contains("starting anew")), "{:?}", none.err);
    let whole = std::fs::read(&state).unwrap();

    let refused = |more: &[&'static str], text: &str, why: &str| {
        std::fs::write(&state, &whole).unwrap();
        let end = go(more, text);
        assert_eq!((end.code, end.out.len()), (Some(2), 0), "{more:?}: {end:?}");
        assert!(end.err.iter().any(|line| line.contains(why)), "{more:?}: {:?}", end.err);
        assert_eq!(std::fs::read(&state).unwrap(), whole, "it is left as it is");
    };
    refused(&["-e", "G q", "--resume"], "p\np\np\n", "another specification");
    refused(&["-e", "G p", "--resume", "--semantics", "finite"], "p\np\n", "its semantics is ltl3");
    refused(&["-e", "G p", "--resume", "--each-position"], "p\np\n", "its --each-position is off");
    refused(&["-e", "G p", "--resume", "--engine", "rewrite"], "p\np\n", "its engine is");
    refused(&["-e", "G p", "--resume"], "p\nq\n", "it belongs to another trace");
    refused(&["-e", "G p", "--resume"], "p\n", "it belongs to another trace");
    // The same, differently written, is the same.
    let same = go(&["-e", "G /* always */ p", "--resume"], "p\np\n");
    assert_eq!(same.code, Some(2), "its name is the text");

    // Of an older format, by its number, which stands behind sixteen bytes that say what it is.
    let mut older = whole.clone();
    older[16] -= 1;
    std::fs::write(&state, &older).unwrap();
    let (end, why) = (
        go(&["-e", "G p", "--resume"], "p\np\n"),
        format!("it has version {} of the format, this build reads {}", older[16], whole[16]),
    );
    assert_eq!((end.code, end.out.len()), (Some(2), 0), "{end:?}");
    assert!(end.err.iter().any(|line| line.contains(&why)), "{:?}", end.err);

    for damage in [&whole[..whole.len() - 1], &whole[..20], b"", b"something else altogether"] {
        std::fs::write(&state, damage).unwrap();
        let end = go(&["-e", "G p", "--resume"], "p\np\n");
        assert_eq!((end.code, end.out.len()), (Some(2), 0), "{end:?}");
        assert!(end.err.iter().any(|line| line.contains("cannot resume from")), "{:?}", end.err);
    }
    // Not asked to resume, it starts anew.
    assert_eq!(go(&["-e", "G q"], "q\n").code, Some(0));
}

#[test]
fn a_file_that_was_replaced_is_not_resumed() {
    let trace = file("swapped", "t.props", "p\np\np\n");
    let state = format!("{trace}.state");
    let arguments = ["-e", "G p", &trace, "--checkpoint", &state, "--resume"];
    assert_eq!(run(&arguments, "").code, Some(0));
    std::fs::write(&trace, "p\n").unwrap();
    let shorter = run(&arguments, "");
    assert_eq!(shorter.code, Some(2));
    assert!(shorter.err[0].contains("which has only 2"), "{:?}", shorter.err);
    std::fs::write(&trace, "p\np\nq\np\n").unwrap();
    let other = run(&arguments, "");
    assert_eq!(other.code, Some(2));
    assert!(other.err[0].contains("another trace"), "{:?}", other.err);
}

#[test]
fn another_set_is_another_specification() {
    let spec = file("sets", "s.tw", "property p : G (x in {1, 2});");
    let state = Path::new(&spec).with_file_name("state");
    let state = state.to_str().unwrap();
    let text = "{\"x\":1}\n{\"x\":2}\n";
    let first = run(&arguments(&spec, state), text);
    assert!(Path::new(state).exists(), "{first:?}");
    // Layout and comments say nothing.
    std::fs::write(&spec, "// once more\nproperty p :\n  G (x in {1, 2}) ;\n").unwrap();
    let again = run(&arguments(&spec, state), text);
    assert_eq!((&again.out, again.code), (&first.out, first.code), "{:?}", again.err);
    std::fs::write(&spec, "property p : G (x in {7, 8});").unwrap();
    let other = run(&arguments(&spec, state), text);
    assert_eq!(other.code, Some(2), "{other:?}");
    assert!(other.err.iter().any(|line| line.contains("another specification")), "{other:?}");
}

#[test]
fn a_checkpoint_has_one_watch() {
    let state = directory("locked").join("state").to_str().unwrap().to_string();
    let arguments =
        ["-e", "G !bad", "--format", "props", "--checkpoint", &state, "--resume", "--checkpoint-every", "1"];
    let mut first = watch(&arguments);
    first.write("x\n");
    while !Path::new(&state).exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let second = run(&arguments, "x\n");
    let told = second.err.join("\n");
    assert!(second.code == Some(2) && told.contains("is in use by process "), "{second:?}");
    // Who is killed gives it up; who ends leaves nothing behind.
    first.kill();
    let third = run(&arguments, "x\n");
    assert_eq!(third.code, Some(0), "{third:?}");
    let left = std::fs::read_dir(Path::new(&state).parent().unwrap()).unwrap().count();
    assert_eq!(left, 1);
}

#[test]
fn a_full_disk_does_not_end_the_watch() {
    use std::os::unix::fs::symlink;
    let folder = directory("full");
    let link = folder.join("state");
    symlink("/dev/full", &link).unwrap();
    let state = link.to_str().unwrap();
    let arguments = [
        "-e",
        "G !bad",
        "--format",
        "props",
        "--output",
        "json",
        "--checkpoint",
        state,
        "--checkpoint-every",
        "1",
    ];
    let mut unkept = watch(&arguments);
    unkept.write("x\n");
    unkept.error_line("going on, and trying again");
    unkept.write("bad\n");
    assert_eq!(unkept.json()["position"], 1);
    let end = unkept.end();
    assert!(
        end.code == Some(2) && end.err.iter().any(|line| line.contains("the last state is not kept")),
        "{end:?}"
    );
    // As soon as there is room again, it is kept.
    let mut watch = watch(&arguments);
    watch.write("x\n");
    watch.error_line("going on, and trying again");
    std::fs::remove_file(&link).unwrap();
    symlink("real", &link).unwrap();
    watch.write("x\n");
    watch.error_line("is kept in");
    assert_eq!(watch.end().code, Some(0));
    assert!(folder.join("real").exists());
}

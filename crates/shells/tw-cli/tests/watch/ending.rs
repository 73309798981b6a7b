//! Signals: ending, and asking what is pending.

use crate::process::watch;
use std::time::{Duration, Instant};

const FORMULAS: [&str; 6] = ["-e", "G (req -> F ack)", "-e", "G !bad", "-e", "F never"];

#[test]
fn an_interrupt_ends_with_the_finite_verdicts() {
    for signal in ["INT", "TERM", "HUP"] {
        let mut arguments = FORMULAS.to_vec();
        arguments.extend(["--format", "props", "--output", "json", "--pending-every", "20ms"]);
        let mut watch = watch(&arguments);
        watch.write("ack\nreq\nx\nba");
        while watch.positions(&mut Vec::new()) < 3 {}
        watch.signal(signal);
        let input = watch.input.take();
        let end = watch.end();
        drop(input);
        assert_eq!(end.code, Some(1));
        let verdicts: Vec<(String, String)> = end
            .json()
            .iter()
            .filter(|line| line["verdict"].is_string())
            .map(|line| {
                assert_eq!((&line["settled"], &line["position"]), (&false.into(), &2.into()));
                (line["property"].to_string(), line["verdict"].to_string())
            })
            .collect();
        let expected = [("G (req -> F ack)", "violated"), ("G !bad", "satisfied"), ("F never", "violated")];
        let expected: Vec<(String, String)> =
            expected.iter().map(|(name, verdict)| (format!("{name:?}"), format!("{verdict:?}"))).collect();
        assert_eq!(verdicts, expected, "{signal}");
    }
}

#[test]
fn what_is_pending_is_listed_on_demand() {
    let arguments: Vec<&str> = FORMULAS.into_iter().chain(["-e", "F go", "--format", "props"]).collect();
    let mut watch = watch(&arguments);
    watch.write("ack\nx\nx\nreq\nx\ngo\n");
    // Once it has said something, it listens to signals, and all that was written has been read.
    watch.line();
    watch.signal("USR1");
    watch.error_line("pending after 6 positions:");
    let answered = watch.error_line("G (req -> F ack) since position");
    assert!(answered.contains("since position 3 (line 4): ") && answered.contains("F ack"), "{answered}");
    assert_eq!(watch.end().code, Some(1));
}

#[test]
fn what_is_pending_is_listed_regularly() {
    let arguments = ["-e", "G (req -> F ack)", "--format", "props", "--output", "json"];
    let by_count: Vec<&str> = arguments.into_iter().chain(["--pending-every", "2"]).collect();
    let mut watch = watch(&by_count);
    watch.write("x\n");
    assert!(watch.is_silent());
    watch.write("req\n");
    let line = watch.json();
    assert_eq!((&line["positions"], &line["since"]), (&2.into(), &1.into()));
    assert_eq!(line["property"], "G (req -> F ack)");
    watch.end();

    let by_time: Vec<&str> = arguments.into_iter().chain(["--pending-every", "50ms"]).collect();
    let watch = crate::process::watch(&by_time);
    assert_eq!((&watch.json()["positions"], &watch.json()["positions"]), (&0.into(), &0.into()));
    watch.end();
}

#[test]
fn a_second_interrupt_kills() {
    // A command that does not end holds up the clean end.
    let mut watch = watch(&[
        "-e",
        "G !bad",
        "--format",
        "props",
        "--output",
        "json",
        "--on-violation",
        "exec sleep 5 >/dev/null 2>&1",
    ]);
    watch.write("bad\n");
    watch.json();
    let input = watch.input.take();
    watch.signal("INT");
    std::thread::sleep(Duration::from_millis(200));
    watch.signal("INT");
    let started = Instant::now();
    let end = watch.end();
    drop(input);
    assert_eq!(end.code, None, "a signal ended it");
    assert!(started.elapsed().as_secs() < 4);
}

/// Whenever it comes, a signal ends the watch: before it listens to signals, while it begins to, and after.
#[test]
fn a_signal_during_the_start_is_not_lost() {
    let trace = crate::process::file("start", "t.props", "x\n");
    for delay in 0..60 {
        let watch = watch(&["-e", "G !bad", "--format", "props", "--follow", &trace]);
        std::thread::sleep(Duration::from_micros(delay * 250));
        watch.signal("TERM");
        let (started, end) = (Instant::now(), watch.end());
        assert!(matches!(end.code, None | Some(0 | 3)), "{:?}", end.code);
        assert!(started.elapsed() < Duration::from_secs(20), "after {delay}");
    }
}

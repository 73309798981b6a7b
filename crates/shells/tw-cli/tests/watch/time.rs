//! Properties that measure time: deadlines that pass, with and without events.

use crate::common::command;
use crate::process::{directory, file, run, watch};
use std::io::Write;
use std::time::{Duration, Instant};

const FORMULA: &str = "G (req -> F[0,5s] ack)";

fn event(time: &str, name: &str) -> String {
    format!("{{\"time\":{time},\"event\":\"{name}\"}}\n")
}

#[test]
fn timestamps_settle_what_they_pass() {
    let text = [event("1", "req"), event("3", "ack"), event("4", "req"), event("9.5", "x")].concat();
    let arguments = ["-e", FORMULA, "--output", "json"];
    let end = run(&arguments, &text);
    let json = end.json();
    assert_eq!((end.code, json.len()), (Some(1), 1), "{end:?}");
    assert!(
        end.out[0].starts_with(
            r#"{"property":"G (req -> F[0,5s] ack)","verdict":"violated","position":3,"time":9.5,"settled":true"#
        ),
        "{}",
        end.out[0]
    );
    assert_eq!(json[0]["line"]["line"], 4);
    // A stored file says the same, and so does its end.
    let path = file("stamps", "t.jsonl", &text);
    let stored = run(&["-e", FORMULA, &path, "--output", "json"], "");
    assert_eq!(stored.out[0].replace(&path, "<stdin>"), end.out[0]);
    let open = run(&arguments, &text[..text.len() - event("9.5", "x").len()]);
    let json = open.json();
    assert_eq!((open.code, &json[0]["settled"], &json[0]["deadline"]), (Some(1), &false.into(), &9.into()));
    assert_eq!((&json[0]["pending"], &json[0]["since"]), (&"F[0,5s] ack".into(), &2.into()));
}

#[test]
fn positions_are_counted_where_asked_or_where_there_is_no_time() {
    let counted = ["-e", "G (req -> F[0,1] ack)", "--format", "props", "--output", "json"];
    let untimed = run(&counted, "req\nx\nack\n");
    assert_eq!((untimed.code, &untimed.json()[0]["position"]), (Some(1), &1.into()), "{untimed:?}");
    let index: Vec<&str> = counted.into_iter().chain(["--clock", "index"]).collect();
    assert_eq!(run(&index, "req\nx\nack\n").out, untimed.out);
    // Timestamps that would do are not looked at.
    assert_eq!(run(&index, "@0 req\n@0 x\n@0 ack\n").json()[0]["position"], 1);
    assert_eq!(run(&counted, "@0 req\n@0 x\n@0 ack\n").code, Some(0));
    // A unit asks for time.
    let end = run(&["-e", FORMULA, "--format", "props"], "req\nack\n");
    assert_eq!((end.code, end.out.len()), (Some(2), 0));
    assert!(end.err[0].contains("<stdin>:1") && end.err[0].contains("no timestamp"), "{:?}", end.err);
    let end = run(&["-e", "G !bad", "--heartbeat", "1s", "--format", "props"], "x\n");
    assert_eq!(end.code, Some(2));
    assert!(end.err[0].contains("<stdin>:1") && end.err[0].contains("--heartbeat"), "{:?}", end.err);
}

#[test]
fn what_does_not_come_is_told_at_its_deadline_and_not_before() {
    let formula = "G (req -> F[0,1500ms] ack)";
    let mut watch = watch(&["-e", formula, "--heartbeat", "50ms", "--output", "json"]);
    let started = Instant::now();
    watch.write(&event("\"2024-05-01T12:00:00Z\"", "req"));
    let verdict = watch.json();
    let elapsed = started.elapsed();
    assert!(elapsed >= Duration::from_millis(1500), "after {elapsed:?}: {verdict}");
    assert_eq!((&verdict["verdict"], &verdict["position"]), (&"violated".into(), &0.into()));
    assert_eq!(verdict["deadline"], "2024-05-01T12:00:01.5Z");
    let time = verdict["time"].as_str().unwrap().trim_end_matches('Z');
    assert!(time > "2024-05-01T12:00:01.5", "{verdict}");
    assert_eq!((&verdict["owed"], &verdict["since"]), (&"F[0,1500ms] ack".into(), &0.into()));
    // What comes now at a time that was declared past is a bad line.
    watch.write(&event("\"2024-05-01T12:00:01Z\"", "ack"));
    let end = watch.end();
    assert_eq!((end.code, end.out.len()), (Some(2), 0), "{end:?}");
    let error = end.err.join("\n");
    assert!(error.contains("comes too late") && error.contains("\"trace_line\":2"), "{error}");
}

#[test]
fn an_event_in_time_keeps_the_heart_quiet() {
    let mut watch = watch(&[
        "-e",
        "G (req -> F[0,3s] ack)",
        "--heartbeat",
        "20ms",
        "--skip-bad-lines",
        "--output",
        "json",
    ]);
    watch.write(&event("100", "req"));
    std::thread::sleep(Duration::from_millis(200));
    assert!(watch.is_silent());
    // Late by its timestamp, but not yet past.
    watch.write(&event("102.9", "ack"));
    std::thread::sleep(Duration::from_millis(300));
    watch.write(&event("100.5", "req"));
    let end = watch.end();
    assert_eq!(end.code, Some(0), "{end:?}");
    assert!(end.err.join("\n").contains("1 bad line left out"), "{:?}", end.err);
}

#[test]
fn watermarks_settle_what_is_past() {
    let arguments = ["-e", FORMULA, "--watermark", "until", "--output", "json"];
    let mut watch = watch(&arguments);
    watch.write(&format!("{{\"until\":0}}\n{}", event("10", "req")));
    // Events at the time of a watermark may still come.
    watch.write("{\"until\":15}\n");
    assert!(watch.is_silent());
    watch.write("{\"until\":15.000000001}\n");
    let verdict = watch.json();
    assert_eq!((&verdict["verdict"], &verdict["position"]), (&"violated".into(), &0.into()));
    assert_eq!((verdict["time"].to_string(), &verdict["deadline"]), ("15.000000001".into(), &15.into()));
    let end = watch.end();
    assert_eq!((end.code, end.out.len()), (Some(1), 0));

    // In time; then a position that is earlier than a watermark said.
    let text =
        [event("10", "req"), "{\"until\":15}\n".into(), event("15", "ack"), event("14", "req")].concat();
    let end = run(&arguments, &text);
    assert_eq!(end.code, Some(2), "{end:?}");
    let text =
        [event("10", "req"), "{\"until\":15}\n".into(), event("14", "req"), event("15", "ack")].concat();
    let end = run(&arguments, &text);
    assert!(end.err[0].contains("a watermark said") && end.err[0].contains("\"trace_line\":3"), "{end:?}");
    let skipping: Vec<&str> = arguments.into_iter().chain(["--skip-bad-lines"]).collect();
    let end = run(&skipping, &text);
    assert_eq!(end.code, Some(0), "{end:?}");
    // In plain words; and where events carry the time.
    let end = run(&["-e", FORMULA, "--watermark", "tick", "--format", "props"], "@10 req\n@16 tick\n");
    assert_eq!(end.out, ["✗ G (req -> F[0,5s] ack) violated at 16: no `ack` by 15 (5s after position 0)"]);
    assert_eq!(end.err.last().unwrap().split(';').next(), Some("1 position"));
}

#[test]
fn sockets_and_growing_files_have_deadlines_too() {
    let path = file("follow-time", "t.jsonl", &event("1", "req"));
    let growing = watch(&["-e", FORMULA, &path, "--follow", "--watermark", "until", "--output", "json"]);
    assert!(growing.is_silent());
    let mut log = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
    log.write_all(b"{\"until\":7}\n").unwrap();
    assert_eq!(growing.json()["deadline"], 6);
    growing.signal("TERM");
    assert_eq!(growing.end().code, Some(1));

    let listening = watch(&[
        "-e",
        "G (req -> F[0,200ms] ack)",
        "--listen",
        "127.0.0.1:0",
        "--heartbeat",
        "50ms",
        "--output",
        "json",
    ]);
    let place = listening.error_line("listening on tcp:");
    let port = place.rsplit(':').next().unwrap().trim_end_matches(['"', '}']).to_string();
    let mut client = std::net::TcpStream::connect(format!("127.0.0.1:{port}")).unwrap();
    client.write_all(event("1", "req").as_bytes()).unwrap();
    assert_eq!(listening.json()["deadline"].to_string(), "1.2");
    listening.signal("TERM");
    assert_eq!(listening.end().code, Some(1));
}

#[test]
fn observers_say_what_they_know_and_when() {
    let text = [event("1", "x"), event("2", "req"), event("4", "ack"), event("6", "req")].concat();
    let end = run(&["-e", FORMULA, "--observers", "--output", "json"], &text);
    let (now, settled): (Vec<_>, Vec<_>) = end.json().into_iter().partition(|line| line["observer"] == "now");
    let now: Vec<&str> = now.iter().map(|line| line["verdict"].as_str().unwrap()).collect();
    assert_eq!(now, ["satisfied", "unknown", "satisfied", "unknown"]);
    let settled: Vec<String> = settled
        .iter()
        .map(|line| format!("{} {} {} {}", line["verdict"], line["position"], line["time"], line["at"]))
        .collect();
    let expected =
        ["\"satisfied\" 0 1 0", "\"satisfied\" 1 2 2", "\"satisfied\" 2 4 2", "\"violated\" 3 6 3"];
    assert_eq!(settled, expected);
    assert!(end.out.last().unwrap().contains("\"settled\":false"), "{end:?}");
    let keys = r#"{"property":"G (req -> F[0,5s] ack)","observer":"now","verdict":"satisfied","position":0,"time":1}"#;
    assert_eq!(end.out[0], keys);
    let text = run(&["-e", FORMULA, "--observers"], &text);
    assert_eq!(text.out[0], "✓ G (req -> F[0,5s] ack) now: satisfied at position 0 (1)");
    assert_eq!(text.out[1], "✓ G (req -> F[0,5s] ack) settled: satisfied at position 0 (1), settled by 0");
    // Untimed properties and streams have observers, too.
    let end =
        run(&["-e", "G (p -> X q)", "--observers", "--format", "props", "--output", "json"], "x\np\nq\n");
    let now: Vec<_> = end.json().into_iter().filter(|line| line["observer"] == "now").collect();
    assert_eq!(now.len(), 3);
    assert_eq!((&now[0]["verdict"], &now[1]["verdict"]), (&"satisfied".into(), &"unknown".into()));
}

#[test]
fn what_is_pending_has_deadlines() {
    let text = [event("1", "req"), event("2", "req"), event("3", "x")].concat();
    let arguments = ["-e", "F bad", "-e", FORMULA, "--pending-every", "3"];
    let end = run(&arguments, &text);
    let list = end.err.join("\n");
    assert!(list.contains("pending after 3 positions:"), "{list}");
    assert!(list.contains("F[0,5s] ack by 6"), "{list}");
    // Each property has its own, whichever come first.
    let last = |name: &str| end.out.iter().find(|line| line.contains(name)).unwrap();
    assert!(last("F bad violated").contains("owed since position 0: F bad"), "{end:?}");
    assert!(last(FORMULA).contains("owed since position 0: F[0,5s] ack by 6"), "{end:?}");
    let json: Vec<&str> = arguments.into_iter().chain(["--output", "json"]).collect();
    let end = run(&json, &text);
    let pending: Vec<_> = end.json().into_iter().filter(|line| line["positions"] == 3).collect();
    assert!(pending.iter().any(|line| line["deadline"] == 6 && line["property"] == FORMULA), "{pending:?}");
    // Positions are no times.
    let counted = run(&["-e", "G (req -> F[0,5] ack)", "--format", "props", "--output", "json"], "req\nx\n");
    let owed = &counted.json()[0];
    assert!(owed["deadline"].is_null() && owed["deadline_position"] == 5, "{owed}");
}

#[test]
fn a_checkpoint_holds_deadlines_and_what_waits() {
    let state = directory("time-state").join("state").to_str().unwrap().to_string();
    let arguments = [
        "-e",
        FORMULA,
        "-e",
        "G !bad",
        "--sort",
        "2s",
        "--watermark",
        "until",
        "--checkpoint",
        &state,
        "--resume",
        "--output",
        "json",
    ];
    // Out of order: `ack` waits when the first watch ends.
    let first = [event("1", "req"), event("7.5", "x"), event("5.9", "ack")].concat();
    let mut broken = watch(&arguments);
    broken.write(&first);
    assert!(broken.is_silent());
    broken.signal("TERM");
    let input = broken.input.take();
    let broken = broken.end();
    drop(input);
    assert_eq!(broken.json().iter().filter(|line| line["settled"] == true).count(), 0, "{broken:?}");
    let whole = [first, event("8", "req"), event("6", "bad"), "{\"until\":20}\n".into()].concat();
    let resumed = run(&arguments, &whole);
    let json = resumed.json();
    assert_eq!(resumed.code, Some(1), "{resumed:?}");
    let of = |name: &str| json.iter().find(|line| line["property"] == name).unwrap();
    assert_eq!((&of("G !bad")["position"], &of("G !bad")["time"]), (&2.into(), &6.into()));
    assert_eq!((&of("G !bad")["line"]["line"], &of(FORMULA)["deadline"]), (&5.into(), &13.into()));
    assert_eq!((&of(FORMULA)["since"], &of(FORMULA)["position"]), (&4.into(), &4.into()));
    // Said again by a third, with the deadline.
    let again = run(&arguments, &whole);
    assert_eq!(again.out, resumed.out);
}

#[test]
fn explain_says_how_long_verdicts_take() {
    let explain = |arguments: &[&str]| {
        let mut command = command();
        let output = command.arg("explain").args(arguments).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let text = explain(&["-e", FORMULA, "-e", "G (req -> F ack)", "-e", "G (ack -> O[0,1h] req)"]);
    for words in [
        "settled at most 5s after it",
        "may stay open for ever: `F ack` has no bound",
        "settled at once",
        "watched by automaton",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let json = explain(&["-e", FORMULA, "--output", "json"]);
    let first: serde_json::Value = serde_json::from_str(json.lines().next().unwrap()).unwrap();
    assert_eq!(first["delay"]["nanoseconds"], 5_000_000_000u64);
    assert_eq!(first["live_engine"], "metric");
    let counted = explain(&["-e", "G (req -> F[0,1000] ack)", "--clock", "index"]);
    assert!(counted.contains("at most 1000 positions later"), "{counted}");
}

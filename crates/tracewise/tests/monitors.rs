//! Monitors on streams: by key, sorted, in pieces and across checkpoints they report what they report of stored traces.

use std::io;
use std::path::PathBuf;
use tracewise::check::{CheckOptions, Violation};
use tracewise::diag::Diagnostic;
use tracewise::embed::{Report, RowMonitor};
use tracewise::live::{Plan, PlanOptions, Row, ShardMonitor};
use tracewise::watch::{
    Checkpoints, Control, LiveSink, Pending, WatchOptions, WatchSink, WatchSource, WatchValue, WatchVerdict,
    watch_channel,
};
use tracewise::{Error, Evaluating, Reading, Semantics, Session, Specification, Value, Verdict};
use tw_testkit::{Rng, cases, parametric};

/// A specification of some monitors, and lines with their times.
struct Case {
    text: String,
    lines: Vec<(i64, String)>,
    /// Name, and arguments and variables, of each line.
    events: Vec<(String, Vec<(&'static str, Value)>)>,
}

/// The names that lines have, beside `event` and `time`.
const NAMES: [&str; 8] = ["a0", "a1", "a2", "x", "y", "z", "c", "k"];

/// `= s0(x, y)` as `= s0(a0: x, a1: y)`: the arguments of lines of JSON have names.
fn named(text: &str, monitor: usize) -> String {
    let text = text.replace("monitor Random(", &format!("monitor R{monitor}("));
    let named = |line: &str| match line.split_once(" = s") {
        Some((head, rest)) if rest.contains('(') => {
            let (source, rest) = rest.split_once('(').expect("arguments");
            let (arguments, rest) = rest.split_once(')').expect("a parenthesis");
            let arguments = arguments.split(", ").enumerate().map(|(nth, own)| format!("a{nth}: {own}"));
            format!("{head} = s{source}({}){rest}", arguments.collect::<Vec<_>>().join(", "))
        }
        _ => line.to_owned(),
    };
    text.lines().map(named).collect::<Vec<_>>().join("\n") + "\n"
}

fn case(seed: u64, rng: &mut Rng) -> Case {
    let monitors = 1 + rng.below(3);
    let own: Vec<_> = (0..monitors).map(|own| parametric::case(seed * 3 + own as u64)).collect();
    let text: String = own.iter().enumerate().map(|(nth, case)| named(&case.text, nth)).collect();
    let (mut lines, mut events) = (Vec::new(), Vec::new());
    let keys = 1 + rng.below(4);
    let mut time = 0;
    for _ in 0..1 + rng.below(30) {
        let case = &own[rng.below(own.len())];
        let at = rng.below(case.log.events.len());
        let c = case.log.columns[0].1[at].clone();
        // Some lines belong to no key, some are no event.
        let key = if rng.one_in(10) { Value::Null } else { Value::text(&format!("u{}", rng.below(keys))) };
        let nothing = ("nothing".to_owned(), Vec::new());
        let (name, arguments) = case.log.events[at].first().unwrap_or(&nothing);
        let argument = |nth: usize| arguments.get(nth).cloned().unwrap_or(Value::Null);
        // What ends a value has it under the name of the parameter.
        let values = [argument(0), argument(1), argument(2), argument(0), argument(0), argument(0), c, key];
        let values: Vec<(&str, Value)> = NAMES.into_iter().zip(values).collect();
        time += rng.below(3) as i64;
        let json = |(name, value): &(&str, Value)| match value {
            Value::Str(text) => format!(",\"{name}\":\"{text}\""),
            value => format!(",\"{name}\":{value}"),
        };
        let fields: String = values.iter().map(json).collect();
        lines.push((time, format!("{{\"time\":{time},\"event\":\"{name}\"{fields}}}\n")));
        events.push((name.clone(), values));
    }
    Case { text, lines, events }
}

/// Monitor, where, whose and what was said; the settled ones apart from those of the end.
#[derive(Clone, Debug, Default)]
struct Heard {
    settled: Vec<String>,
    end: Vec<String>,
    silent: Vec<String>,
    notes: Vec<String>,
}

fn entry(property: &str, violation: &Violation, key: &[(String, Value)]) -> String {
    let mut bindings: Vec<String> =
        violation.bindings.iter().chain(key).map(|(name, value)| format!("{name}={value}")).collect();
    bindings.sort();
    let at = violation.position.map_or("end".to_owned(), |at| format!("{at:03}"));
    format!("{at} {property} {bindings:?} {:?} {:?}", violation.category, violation.text)
}

impl LiveSink for Heard {
    fn bad_line(&mut self, error: &Error) {
        panic!("{error}");
    }

    fn note(&mut self, note: &str) {
        self.notes.push(note.to_owned());
    }

    fn warnings(&mut self, _: &[Diagnostic]) {}

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl WatchSink for Heard {
    fn verdict(&mut self, verdict: &WatchVerdict<'_>) -> io::Result<()> {
        match &verdict.violation {
            Some(violation) if verdict.settled => {
                // Where it was found is where it is.
                assert_eq!(violation.position, Some(verdict.position));
                self.settled.push(entry(verdict.property, violation, &verdict.bindings));
            }
            Some(violation) => self.end.push(entry(verdict.property, violation, &verdict.bindings)),
            None => {
                assert_eq!((verdict.verdict, verdict.settled), (Verdict::Satisfied, false));
                self.silent.push(format!("{} {:?}", verdict.property, verdict.bindings));
            }
        }
        Ok(())
    }

    fn value(&mut self, _: &WatchValue) -> io::Result<()> {
        Ok(())
    }

    fn pending(&mut self, _: u64, _: &[Pending<'_>]) -> io::Result<()> {
        Ok(())
    }
}

fn reading(sort: Option<i64>) -> Reading {
    Reading { format: Some("jsonl".into()), sort, ..Reading::default() }
}

fn watching(sort: Option<i64>) -> Session {
    let evaluating = Evaluating { semantics: Semantics::Ltl3, ..Evaluating::default() };
    Session::new().evaluating(evaluating).reading(reading(sort))
}

fn sorted(mut lines: Vec<String>) -> Vec<String> {
    lines.sort();
    lines
}

/// What is said of the stored trace.
fn stored(spec: &Specification, lines: &[(i64, String)], by: Option<&str>) -> Vec<String> {
    let text: String = lines.iter().map(|(_, line)| line.as_str()).collect();
    let session = Session::new().reading(reading(None)).text("t", text.into_bytes());
    let options = CheckOptions {
        violations: usize::MAX,
        explain: by.is_some(),
        by: by.map(Into::into),
        ..CheckOptions::default()
    };
    let report = match session.check(spec, &["t".into()], &options) {
        Ok(report) => report,
        // All lines belong to no key.
        Err(error) if error.to_string().contains("has no value anywhere") => return Vec::new(),
        Err(error) => panic!("{error}"),
    };
    let mut said = Vec::new();
    for property in &report.properties {
        assert_eq!(property.violation_count, property.violations.len());
        said.extend(property.violations.iter().map(|violation| entry(&property.name, violation, &[])));
        // What is explained ends where it was reported.
        if let (Some(first), Some(why)) = (property.violations.first(), &property.explanation) {
            let last = why.because.last().map(|step| step.from);
            assert!(first.position.is_none() || last.is_none() || last <= first.position, "{why:?}");
        }
    }
    sorted(said)
}

/// What is said of the stream, in pieces of random sizes.
fn live(
    spec: &Specification,
    lines: &[(i64, String)],
    (by, sort): (Option<&str>, Option<i64>),
    rng: &mut Rng,
) -> Heard {
    let text: String = lines.iter().map(|(_, line)| line.as_str()).collect();
    let (sender, source) = watch_channel("bus");
    let mut pieces = Vec::new();
    let mut rest = text.as_bytes();
    while !rest.is_empty() {
        let (piece, more) = rest.split_at(1 + rng.below(rest.len()));
        pieces.push(piece.to_vec());
        rest = more;
    }
    let pushing = std::thread::spawn(move || {
        pieces.into_iter().for_each(|piece| sender.send(piece).expect("somebody listens"));
        sender.end();
    });
    let session = watching(sort);
    let options = WatchOptions { by: by.map(Into::into), ..WatchOptions::new(source) };
    let mut heard = Heard::default();
    session.watch(spec, &options, &Control::new(), &mut heard).expect("a watch");
    pushing.join().expect("pushed");
    heard
}

/// The same from a file that grows, going on from a checkpoint each time.
fn resumed(
    spec: &Specification,
    lines: &[(i64, String)],
    (by, sort): (Option<&str>, Option<i64>),
    rng: &mut Rng,
    name: &str,
) -> Vec<String> {
    let folder = std::env::temp_dir().join(format!("tracewise-monitors-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let (log, state): (PathBuf, PathBuf) = (folder.join("t.jsonl"), folder.join("state"));
    let mut told: Vec<String> = Vec::new();
    let mut upto = 0;
    loop {
        upto = lines.len().min(upto + 1 + rng.below(lines.len()));
        let text: String = lines[..upto].iter().map(|(_, line)| line.as_str()).collect();
        std::fs::write(&log, text).expect("written");
        let session = watching(sort);
        let checkpoints = Checkpoints { path: state.clone(), every: None, resume: true };
        let source = WatchSource::File(log.display().to_string());
        let options = WatchOptions {
            by: by.map(Into::into),
            checkpoints: Some(checkpoints),
            ..WatchOptions::new(source)
        };
        let mut heard = Heard::default();
        session.watch(spec, &options, &Control::new(), &mut heard).expect("a watch");
        // First reports are told again.
        for line in heard.settled {
            if !told.contains(&line) {
                told.push(line);
            }
        }
        if upto == lines.len() {
            told.extend(heard.end);
            std::fs::remove_dir_all(&folder).expect("removed");
            return sorted(told);
        }
    }
}

fn spec(case: &Case) -> Specification {
    Specification::from_text("s.tw", &case.text).unwrap_or_else(|error| panic!("{error}\n{}", case.text))
}

fn log(case: &Case) -> String {
    case.lines.iter().map(|(_, line)| line.as_str()).collect()
}

#[test]
fn by_key_they_report_what_they_do_of_each_keys_own_log() {
    let mut reports = 0;
    for seed in 0..cases(400) {
        let mut rng = Rng::new(seed);
        let case = case(seed, &mut rng);
        let spec = spec(&case);
        let whole = stored(&spec, &case.lines, Some("k"));
        // Key by key, from logs of their own.
        let mut apart = Vec::new();
        for key in 0..4 {
            let own: Vec<usize> = (0..case.lines.len())
                .filter(|&at| case.lines[at].1.contains(&format!("\"k\":\"u{key}\"")))
                .collect();
            let lines: Vec<_> = own.iter().map(|&at| case.lines[at].clone()).collect();
            if lines.is_empty() {
                continue;
            }
            for line in stored(&spec, &lines, Some("k")) {
                let (at, rest) = line.split_once(' ').expect("a position");
                let at = at.parse::<usize>().map_or("end".to_owned(), |at| format!("{:03}", own[at]));
                apart.push(format!("{at} {rest}"));
            }
        }
        assert_eq!(whole, sorted(apart), "seed {seed}\n{}{}", case.text, log(&case));
        let heard = live(&spec, &case.lines, (Some("k"), None), &mut rng);
        let told = sorted([heard.settled, heard.end].concat());
        assert_eq!(told, whole, "live, seed {seed}\n{}{}", case.text, log(&case));
        reports += whole.len();
        if seed % 8 == 0 {
            let again = resumed(&spec, &case.lines, (Some("k"), None), &mut rng, "by");
            assert_eq!(dedup(again), dedup(whole), "resumed, seed {seed}\n{}{}", case.text, log(&case));
        }
    }
    assert!(reports as u64 > cases(400), "{reports}");
}

/// Things of one name that have ended may report the same at one moment.
fn dedup(mut lines: Vec<String>) -> Vec<String> {
    lines.dedup();
    lines
}

#[test]
fn sorted_they_report_what_they_do_of_the_sorted_log() {
    let mut reports = 0;
    for seed in 0..cases(400) {
        let mut rng = Rng::new(seed ^ 0x5eed);
        let case = case(seed, &mut rng);
        let spec = spec(&case);
        let in_order = stored(&spec, &case.lines, None);
        // Lines come up to two seconds late, those of one time together.
        let late: Vec<i64> = (0..100).map(|_| rng.below(3) as i64).collect();
        let arrival = |(at, (time, _)): (usize, &(i64, String))| (time + late[*time as usize % 100], at);
        let mut arrivals: Vec<(i64, usize)> = case.lines.iter().enumerate().map(arrival).collect();
        arrivals.sort();
        let lines: Vec<(i64, String)> = arrivals.iter().map(|&(_, at)| case.lines[at].clone()).collect();
        let second = 1_000_000_000;
        let heard = live(&spec, &lines, (None, Some(3 * second)), &mut rng);
        let told = sorted([heard.settled, heard.end].concat());
        let arrived: String = lines.iter().map(|(_, line)| line.as_str()).collect();
        assert_eq!(told, in_order, "seed {seed}\n{}{arrived}", case.text);
        reports += told.len();
        if seed % 8 == 0 {
            // Where lines wait at the end of a run, the next may find earlier ones: only what a stored log has is told.
            let again = resumed(&spec, &case.lines, (None, Some(3 * second)), &mut rng, "sort");
            assert_eq!(dedup(again), dedup(in_order), "resumed, seed {seed}\n{}{arrived}", case.text);
        }
    }
    assert!(reports as u64 > cases(400), "{reports}");
}

#[test]
fn from_code_they_report_what_they_do_of_the_stored_log() {
    let mut reports = 0;
    for seed in 0..cases(400) {
        let mut rng = Rng::new(seed ^ 0xc0de);
        let case = case(seed, &mut rng);
        let spec = spec(&case);
        let defined = stored(&spec, &case.lines, None);
        let said = |report: &Report| entry(&report.name, &report.violation, &[]);
        let mut monitor = RowMonitor::new(&spec).expect("a monitor");
        let mut told = Vec::new();
        for (name, values) in &case.events {
            monitor.event(name, values).expect("an event");
            told.extend(monitor.reports().iter().map(said));
            if rng.one_in(4) {
                let saved = monitor.save();
                monitor = RowMonitor::new(&spec).expect("a monitor");
                monitor.restore(&saved).expect("what was saved");
            }
        }
        told.extend(monitor.last_reports().iter().map(said));
        assert_eq!(sorted(told), defined, "seed {seed}\n{}{}", case.text, log(&case));
        reports += defined.len();

        // And by key.
        let plan = Plan::new(&spec, &PlanOptions::default()).expect("a plan");
        let shard = || ShardMonitor::new(&plan, Some("k")).expect("a shard");
        let (mut monitor, mut told) = (shard(), Vec::new());
        let key = |key: Option<&str>| [("k".to_owned(), Value::text(key.unwrap_or_default()))];
        for (name, values) in &case.events {
            let row = Row { time: None, event: Some(name), values };
            let fed = monitor.feed_rows(&[row], &mut |outcome| {
                let report = outcome.report.as_ref().expect("a report");
                assert_eq!(outcome.about, Some(outcome.position));
                told.push(entry(outcome.name, report, &key(outcome.key)));
            });
            fed.expect("a row");
            if rng.one_in(6) {
                let saved = monitor.snapshot();
                monitor = shard();
                let restored = monitor.restore(&saved).expect("what was saved");
                assert_eq!(restored.kept.len(), spec.program.monitors.len());
            }
        }
        let finished = monitor.finish(&mut |end| {
            let reports = end.reports.iter();
            told.extend(reports.map(|report| entry(end.name, report, &key(end.key))));
        });
        finished.expect("an end");
        let defined = stored(&spec, &case.lines, Some("k"));
        assert_eq!(sorted(told), defined, "by key, seed {seed}\n{}{}", case.text, log(&case));
    }
    assert!(reports as u64 > cases(400), "{reports}");
}

#[test]
fn a_shard_goes_on_with_the_same_monitors_alone() {
    let spec = |text: &str| Specification::from_text("s.tw", text).expect("a specification");
    let plan = |text: &str| Plan::new(&spec(text), &PlanOptions::default()).expect("a plan");
    let first = plan("monitor Twice(x) { event f(x); ere : f f; }");
    let mut shard = ShardMonitor::new(&first, Some("k")).expect("a shard");
    let values = [("x", Value::Int(1)), ("k", Value::text("u"))];
    let row = || Row { time: None, event: Some("f"), values: &values };
    shard.feed_rows(&[row()], &mut |_| panic!("nothing to report")).expect("a row");
    let saved = shard.snapshot();
    let goes_on = |text: &str| {
        let mut shard = ShardMonitor::new(&plan(text), Some("k")).expect("a shard");
        let restored = shard.restore(&saved).expect("a snapshot");
        let mut reports = 0;
        shard.feed_rows(&[row()], &mut |_| reports += 1).expect("a row");
        (restored.kept, restored.anew, reports)
    };
    assert_eq!(goes_on("monitor  Twice(x)  { event f(x); ere : f f; } // again"), (vec![0], vec![], 1));
    assert_eq!(goes_on("monitor Twice(x) { event f(x); ere : f f f; }"), (vec![], vec![0], 0));
    assert_eq!(
        goes_on("property p : G !g; monitor Twice(x) { event f(x); ere : f f; }"),
        (vec![1], vec![0], 1)
    );
}

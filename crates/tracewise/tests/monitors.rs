//! Monitors on streams: by key, sorted, in pieces and across checkpoints they report what they report of stored traces.

use std::io;
use std::path::PathBuf;
use tracewise::check::{CheckOptions, Violation};
use tracewise::diag::Diagnostic;
use tracewise::watch::{
    Checkpoints, Control, LiveSink, Pending, WatchOptions, WatchSink, WatchSource, WatchValue, WatchVerdict,
    watch_channel,
};
use tracewise::{Error, Evaluating, Reading, Semantics, Session, Specification, Verdict};
use tw_testkit::{Rng, cases, parametric};

/// A specification of some monitors, and lines with their times.
struct Case {
    text: String,
    lines: Vec<(i64, String)>,
}

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
    let mut lines = Vec::new();
    let keys = 1 + rng.below(4);
    let mut time = 0;
    for _ in 0..1 + rng.below(30) {
        let case = &own[rng.below(own.len())];
        let at = rng.below(case.log.events.len());
        let c = &case.log.columns[0].1[at];
        // Some lines belong to no key, some are no event.
        let key = if rng.one_in(10) { "null".to_owned() } else { format!("\"u{}\"", rng.below(keys)) };
        let event = match case.log.events[at].first() {
            Some((name, arguments)) => {
                let argument = |nth: usize| {
                    let value = arguments.get(nth).map_or("null".to_owned(), ToString::to_string);
                    format!(",\"a{nth}\":{value}")
                };
                let arguments: String = (0..3).map(argument).collect();
                let value = case.log.events[at][0].1.first().map_or("null".to_owned(), ToString::to_string);
                format!("\"event\":\"{name}\"{arguments},\"x\":{value},\"y\":{value},\"z\":{value}")
            }
            None => {
                let nulls: Vec<String> =
                    ["x", "y", "z", "a0", "a1", "a2"].map(|name| format!("\"{name}\":null")).to_vec();
                format!("\"event\":\"nothing\",{}", nulls.join(","))
            }
        };
        time += rng.below(3) as i64;
        lines.push((time, format!("{{\"time\":{time},{event},\"c\":{c},\"k\":{key}}}\n")));
    }
    Case { text, lines }
}

/// Monitor, where, whose and what was said; the settled ones apart from those of the end.
#[derive(Clone, Debug, Default)]
struct Heard {
    settled: Vec<String>,
    end: Vec<String>,
    silent: Vec<String>,
    notes: Vec<String>,
}

fn entry(property: &str, violation: &Violation, key: &[(String, tracewise::Value)]) -> String {
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

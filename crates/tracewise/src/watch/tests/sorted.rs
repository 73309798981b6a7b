//! Events out of order, in pieces, with watermarks and heartbeats between them, mean what they mean when sorted.

use crate::check::CheckOptions;
use crate::diag::Diagnostic;
use crate::trace::format_named;
use crate::watch::clock::Passed;
use crate::watch::run::{Ended, Run};
use crate::watch::{LiveSink, Observation, Pending, WatchOptions, WatchSink, WatchSource, WatchVerdict};
use crate::{Error, Semantics, Session, Specification, Verdict};
use std::collections::BTreeMap;
use std::io;
use tw_core::{Time, TimeUnit};
use tw_testkit::{Rng, cases};
use tw_trace::ReadOptions;

/// What was said: property, the position it is about or that settled it, verdict, whether it is settled.
type Said = (String, usize, Verdict, bool);

#[derive(Default)]
struct Heard {
    verdicts: Vec<Said>,
    now: BTreeMap<(String, usize), Verdict>,
    bad: usize,
}

impl LiveSink for Heard {
    fn bad_line(&mut self, _: &Error) {
        self.bad += 1;
    }

    fn note(&mut self, _: &str) {}

    fn warnings(&mut self, _: &[Diagnostic]) {}

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl WatchSink for Heard {
    fn verdict(&mut self, verdict: &WatchVerdict<'_>) -> io::Result<()> {
        let position = verdict.about.unwrap_or(verdict.position);
        self.verdicts.push((verdict.property.into(), position, verdict.verdict, verdict.settled));
        Ok(())
    }

    fn observation(&mut self, seen: &Observation<'_>) -> io::Result<()> {
        self.now.insert((seen.property.into(), seen.position), seen.verdict);
        Ok(())
    }

    fn value(&mut self, _: &crate::watch::WatchValue) -> io::Result<()> {
        Ok(())
    }

    fn pending(&mut self, _: u64, _: &[Pending<'_>]) -> io::Result<()> {
        Ok(())
    }
}

/// Formulas and what each position of a watch is about; `#` stands for bounds.
const FORMULAS: &[(&str, &str)] = &[
    ("G (p -> F# q)", "p -> F# q"),
    ("G (p -> O# q)", "p -> O# q"),
    ("G (p -> F# (q & F# r))", "p -> F# (q & F# r)"),
    ("p U# q", "p U# q"),
    ("G ((q S# r) | F r)", "(q S# r) | F r"),
    ("F (G# p)", "F (G# p)"),
    ("G (r -> X# !r)", "r -> X# !r"),
];

struct Stream {
    /// Lines in the order of arrival, with their times.
    arrivals: Vec<(Time, String)>,
    skew: Time,
}

/// Times are milliseconds.
fn stream(rng: &mut Rng) -> Stream {
    let (len, skew) = (1 + rng.below(30), 100 * rng.below(12) as Time);
    let mut now = 0;
    let mut lines: Vec<(Time, Time, String)> = (0..len)
        .map(|_| {
            now += rng.pick(&[0, 100, 100, 300, 1000]);
            let names: String =
                ["p", "q", "r"].iter().filter(|_| rng.one_in(3)).map(|n| format!(" {n}")).collect();
            (now + rng.below(skew as usize + 1) as Time, now, format!("@{now}{names}\n"))
        })
        .collect();
    lines.sort_by_key(|(arrival, ..)| *arrival);
    Stream { arrivals: lines.into_iter().map(|(_, time, line)| (time, line)).collect(), skew }
}

/// How the arrivals are cut and what comes between them.
struct How {
    each: bool,
    observers: bool,
    sort: bool,
    marks: bool,
    beats: bool,
}

fn watch(spec: &Specification, stream: &Stream, how: &How, rng: &mut Rng) -> Heard {
    let sort = how.sort.then_some(stream.skew * 1_000_000);
    let read = ReadOptions { sort, unit: TimeUnit::Milliseconds, ..ReadOptions::default() };
    let session = Session::new().semantics(Semantics::Ltl3).reading(read);
    let options = WatchOptions {
        each_position: how.each,
        observers: how.observers,
        watermark: how.marks.then(|| "mark".to_string()),
        ..WatchOptions::new(WatchSource::Stdin)
    };
    let mut heard = Heard::default();
    let format = ("t", format_named("props").unwrap());
    let mut run = Run::open(&session, [spec, spec], &options, format, None, &mut heard).unwrap();
    for (at, (_, line)) in stream.arrivals.iter().enumerate() {
        for piece in line.as_bytes().chunks(1 + rng.below(line.len())) {
            assert!(run.live.push(piece, false, &mut run.judge).is_ok(), "{line}");
        }
        // What is true of time: nothing that comes is earlier.
        let complete = stream.arrivals[at + 1..].iter().map(|(time, _)| *time).min();
        let complete = complete.unwrap_or(stream.arrivals[at].0 + 700);
        if how.marks && rng.one_in(4) {
            let mark = format!("@{complete} mark\n");
            assert!(run.live.push(mark.as_bytes(), false, &mut run.judge).is_ok(), "{mark}");
        }
        if how.beats && rng.one_in(3) {
            let (latest, arrived) = run.judge.clock.anchor().unwrap();
            let ahead = complete * 1_000_000 + sort.unwrap_or(0) - latest;
            let now = arrived + std::time::Duration::from_nanos(ahead.max(0) as u64);
            assert!(run.judge.beat(Passed::To(now)).is_ok());
        }
    }
    run.end(Ended::Over).unwrap();
    heard
}

#[test]
fn out_of_order_is_as_sorted() {
    let directory = std::env::temp_dir().join(format!("tracewise-sorted-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let (mut early, mut known) = (0, 0);
    for seed in 0..cases(150).min(2_000) {
        let mut rng = Rng::new(seed);
        let stream = stream(&mut rng);
        let mut sorted = Stream { arrivals: stream.arrivals.clone(), skew: stream.skew };
        sorted.arrivals.sort_by_key(|(time, _)| *time);
        let bounds = format!("[{},{}]", 100 * rng.below(4), 300 + 100 * rng.below(15));
        let texts: Vec<(String, String)> = FORMULAS
            .iter()
            .map(|(whole, part)| (whole.replace('#', &bounds), part.replace('#', &bounds)))
            .collect();
        let text: String =
            texts.iter().enumerate().map(|(at, (whole, _))| format!("property p{at} : {whole};")).collect();
        let spec = Specification::from_text("t.tw", &text).unwrap();
        // Offline, of the sorted trace.
        let file = directory.join("t.props").to_str().unwrap().to_string();
        std::fs::write(&file, sorted.arrivals.iter().map(|(_, line)| line.as_str()).collect::<String>())
            .unwrap();
        let read = ReadOptions { unit: TimeUnit::Milliseconds, ..ReadOptions::default() };
        let session = Session::new().reading(read);
        let truth: Vec<Vec<bool>> = texts
            .iter()
            .map(|(_, part)| {
                let values = session
                    .eval(&Specification::from_formula(part).unwrap(), std::slice::from_ref(&file))
                    .unwrap()
                    .values;
                (0..stream.arrivals.len()).map(|at| values.get(at)).collect()
            })
            .collect();
        let options = CheckOptions { explain: false, ..CheckOptions::default() };
        let checked = session.check(&spec, std::slice::from_ref(&file), &options).unwrap();

        let plain = How { each: false, observers: false, sort: false, marks: false, beats: false };
        let by_sorted = watch(&spec, &sorted, &plain, &mut rng);
        let same = watch(&spec, &stream, &How { sort: true, ..plain }, &mut rng);
        assert_eq!(by_sorted.verdicts, same.verdicts, "seed {seed}: {text}");
        for (property, _, verdict, _) in &same.verdicts {
            let expected = checked.properties.iter().find(|other| other.name == *property).unwrap();
            assert_eq!(*verdict, expected.verdict, "seed {seed}: {property} of {text}");
        }
        for (marks, beats, observers) in [(false, false, true), (true, false, false), (true, true, true)] {
            let how = How { each: true, observers, sort: true, marks, beats };
            let heard = watch(&spec, &stream, &how, &mut rng);
            assert_eq!(heard.bad, 0, "seed {seed}");
            let mut told = heard.verdicts.clone();
            told.sort_by_key(|(property, position, ..)| (property.clone(), *position));
            let mut expected = Vec::new();
            for (root, truth) in truth.iter().enumerate() {
                for (at, &holds) in truth.iter().enumerate() {
                    let verdict = if holds { Verdict::Satisfied } else { Verdict::Violated };
                    expected.push((format!("p{root}"), at, verdict));
                    // A synchronous observer knows, or does not know.
                    let now = heard.now.get(&(format!("p{root}"), at)).copied();
                    assert!(now.is_some() == observers);
                    assert!(now.is_none_or(|now| now == Verdict::Unknown || now == verdict), "seed {seed}");
                    known += usize::from(now == Some(verdict));
                }
            }
            let positions: Vec<_> =
                told.iter().map(|(name, at, verdict, _)| (name.clone(), *at, *verdict)).collect();
            assert_eq!(positions, expected, "seed {seed}: {text}");
            early += told.iter().filter(|(.., settled)| *settled).count();
        }
    }
    std::fs::remove_dir_all(&directory).unwrap();
    assert!(early > 1000 && known > 500, "{early} settled, {known} at once");
}

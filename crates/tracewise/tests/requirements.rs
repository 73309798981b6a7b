//! Requirements, read in four ways: as queries of a stored trace, alongside properties in one reading, live, and live per key. The
//! first is the definition; a naive count is beside it.

use std::fmt::Write as _;
use std::io;
use tracewise::check::CheckOptions;
use tracewise::diag::Diagnostic;
use tracewise::query::QueryOptions;
use tracewise::require::Required;
use tracewise::watch::{
    Control, LiveSink, Pending, WatchOptions, WatchSink, WatchSource, WatchValue, WatchVerdict, watch_channel,
};
use tracewise::{Error, Evaluating, Reading, Semantics, Session, Specification, Verdict};
use tw_core::Value;
use tw_testkit::{Rng, cases};

/// What was said of requirements.
#[derive(Default)]
struct Heard(Vec<(String, bool)>);

/// A part, its value and verdict, as text.
fn shown(name: &str, found: &Required, verdict: Verdict) -> String {
    let by = found.by.as_ref().map_or(String::new(), |(column, key)| format!("{column}={key} "));
    let window = found.window.map_or(String::new(), |window| format!("{window:?} "));
    // Sums of reals may round differently where positions come in pieces.
    let value = match &found.value {
        Value::Real(real) => format!("{:.9}", real),
        other => other.to_string(),
    };
    format!("{name} {by}{window}{value} {} {}", found.relation, verdict.as_str())
}

impl LiveSink for Heard {
    fn bad_line(&mut self, error: &Error) {
        panic!("{error}");
    }
    fn note(&mut self, _: &str) {}
    fn warnings(&mut self, _: &[Diagnostic]) {}
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl WatchSink for Heard {
    fn verdict(&mut self, verdict: &WatchVerdict<'_>) -> io::Result<()> {
        if let Some(found) = &verdict.required {
            self.0.push((shown(verdict.property, found, verdict.verdict), verdict.settled));
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

struct Log {
    text: String,
    rows: Vec<(i64, Option<u8>, bool)>,
}

fn log(rng: &mut Rng) -> Log {
    let (len, mut now) = (1 + rng.below(40), rng.below(30) as i64 - 10);
    let mut log = Log { text: "time,ip,failed,x\n".into(), rows: Vec::new() };
    for _ in 0..len {
        now += rng.pick(&[0, 0, 1, 1, 2, 3, 5, 9, 10, 11]);
        let ip = (!rng.one_in(12)).then(|| rng.below(3) as u8);
        let failed = !rng.one_in(3);
        let x = if rng.one_in(6) { String::new() } else { rng.below(12).to_string() };
        let name = ip.map_or(String::new(), |ip| format!("a{ip}"));
        writeln!(log.text, "{now},{name},{},{x}", u8::from(failed)).unwrap();
        log.rows.push((now, ip, failed));
    }
    // Someone has an address.
    writeln!(log.text, "{now},a0,0,1").unwrap();
    log.rows.push((now, Some(0), false));
    log
}

fn reading() -> Session {
    Session::new().reading(Reading { format: Some("csv".into()), ..Reading::default() })
}

fn session(log: &Log) -> Session {
    reading().text("log", log.text.clone().into_bytes())
}

fn live(spec: &Specification, log: &Log, by: Option<&str>, rng: &mut Rng) -> Vec<(String, bool)> {
    let (sender, source): (_, WatchSource) = watch_channel("log");
    let options = WatchOptions { by: by.map(Into::into), ..WatchOptions::new(source) };
    let mut heard = Heard::default();
    let session = reading().evaluating(Evaluating { semantics: Semantics::Ltl3, ..Evaluating::default() });
    let (text, mut at) = (log.text.as_bytes(), 0);
    // Cut anywhere; few enough to wait in the channel.
    for _ in 0..2 {
        let next = at + rng.below(text.len() - at + 1);
        sender.send(&text[at..next]).unwrap();
        at = next;
    }
    sender.send(&text[at..]).unwrap();
    sender.end();
    session.watch(spec, &options, &Control::new(), &mut heard).unwrap();
    heard.0
}

fn sorted(mut lines: Vec<String>) -> Vec<String> {
    lines.sort();
    lines
}

fn stored(spec: &Specification, log: &Log, by: Option<&str>) -> Vec<String> {
    let options = QueryOptions { by: by.map(Into::into), ..QueryOptions::default() };
    let report = session(log).query(spec, &["log".into()], &options).unwrap();
    assert!(report.failures.is_empty(), "{:?}", report.failures);
    let line = |found: &tracewise::check::PropertyReport| {
        shown(&found.name, found.required.as_ref().unwrap(), found.verdict)
    };
    report.requirements.iter().map(line).collect()
}

fn alongside(text: &str, log: &Log, by: Option<&str>) -> Vec<String> {
    let spec = Specification::from_text("s.tw", &format!("property p : G (x < 100);\n{text}")).unwrap();
    let options = CheckOptions { by: by.map(Into::into), ..CheckOptions::default() };
    let report = session(log).check(&spec, &["log".into()], &options).unwrap();
    let required = report.properties.iter().filter_map(|found| Some((found, found.required.as_ref()?)));
    required.map(|(found, required)| shown(&found.name, required, found.verdict)).collect()
}

#[test]
fn every_reading_of_a_requirement_says_the_same() {
    let queries = [
        "count[failed]",
        "count[failed] ?? 7",
        "sum[x]",
        "max[x]",
        "min[failed : x]",
        "avg[x]",
        "first[true : x]",
        "last[failed : x]",
        "distinct[true : x]",
        "median[x]",
        "max[count[failed over 10s]]",
        "max[count[failed over 3]]",
        "max[elapsed]",
        "count[failed] / count[true]",
        "max[count[failed while x < 9]]",
    ];
    say_the_same("", &queries, 0);
}

/// What a position counts for is known later than the position.
#[test]
fn every_reading_says_the_same_of_queries_that_look_ahead() {
    let queries = [
        "count[G failed]",
        "count[G !failed] ?? 0",
        "count[X failed]",
        "count[N failed]",
        "count[!F failed]",
        "count[failed U x > 5]",
        "count[failed W x > 5]",
        "count[O X failed]",
        "count[last]",
        "count[failed while N failed]",
        "count[true while !last]",
        "max[N failed : x]",
        "min[F x > 8 : x]",
        "min[!last : x]",
        "first[G failed : x]",
        "first[true : x while F failed]",
        "first[max[true : x while failed]]",
        "first[count[failed while x < 9]]",
        "distinct[G x < 10 : x]",
        "max[sum[true : x while failed]]",
        "max[count[failed while x < 9]]",
    ];
    say_the_same("", &queries, 2_000_000);
    let streams = "stream soon: bool = failed[+2|true];\nstream later: bool = last;\n";
    say_the_same(
        streams,
        &["count[soon]", "first[soon : x]", "max[soon & failed : x]", "count[later]"],
        3_000_000,
    );
}

/// Reads random requirements on these queries, behind what else the specification holds.
fn say_the_same(before: &str, queries: &[&'static str], seeds: u64) {
    for seed in (0..cases(150).min(1_000)).map(|seed| seeds + seed) {
        let mut rng = Rng::new(seed);
        let log = log(&mut rng);
        let mut text = String::from(before);
        for number in 0..1 + rng.below(3) {
            let query = rng.pick(queries);
            let op = rng.pick(&["<", "<=", ">", ">=", "==", "!="]);
            let by = if rng.one_in(2) { " by ip" } else { "" };
            let every = rng.pick(&["", "", " every 10s", " every 7", " every 1s"]);
            writeln!(text, "require r{number} : {query} {op} {}{by}{every};", rng.below(8)).unwrap();
        }
        let spec = Specification::from_text("s.tw", &text).unwrap();
        for by in [None, Some("ip")] {
            let expected = stored(&spec, &log, by);
            let place = || format!("seed {seed}, by {by:?}\n{text}{}", log.text);
            assert_eq!(sorted(alongside(&text, &log, by)), sorted(expected.clone()), "{}", place());
            // The next position of a key may never come.
            if by.is_some() && text.contains("stream") {
                continue;
            }
            // Windows beside the time since a key's previous position are for stored traces.
            if by.is_some() && text.contains("elapsed") && text.contains("over") {
                continue;
            }
            let heard = live(&spec, &log, by, &mut rng);
            // What was settled before the end has the value of then; its verdict is that of the end.
            let parts = |line: &String| {
                let words: Vec<&str> = line.split(' ').collect();
                let (part, rest) = words.split_at(words.len() - 4);
                (part.join(" "), rest[3].to_owned())
            };
            let mut verdicts: Vec<_> = heard.iter().map(|(line, _)| parts(line)).collect();
            let mut wanted: Vec<_> = expected.iter().map(parts).collect();
            verdicts.sort();
            wanted.sort();
            assert_eq!(verdicts, wanted, "{}", place());
            for line in heard.iter().filter(|(_, early)| !early).map(|(line, _)| line) {
                assert!(expected.contains(line), "{line}\n{}", place());
            }
        }
    }
}

/// At most three failures in any ten seconds per address, against counting.
#[test]
fn at_most_three_failures_in_ten_seconds_per_address() {
    let text = "require calm : max[count[failed over 10s]] <= 3 by ip;";
    let spec = Specification::from_text("s.tw", text).unwrap();
    for seed in 0..cases(150).min(1_000) {
        let mut rng = Rng::new(seed + 1_000_000);
        let log = log(&mut rng);
        let mut expected = Vec::new();
        for ip in 0..3u8 {
            let own: Vec<_> = log.rows.iter().filter(|row| row.1 == Some(ip)).collect();
            let within = |at: usize| own[..=at].iter().filter(|row| row.2 && own[at].0 - row.0 <= 10).count();
            if let Some(most) = (0..own.len()).map(within).max() {
                let verdict = if most <= 3 { "satisfied" } else { "violated" };
                expected.push(format!("calm ip=a{ip} {most} <= 3 {verdict}"));
            }
        }
        assert_eq!(sorted(stored(&spec, &log, None)), expected, "seed {seed}\n{}", log.text);
        assert_eq!(sorted(alongside(text, &log, None)), expected, "seed {seed}\n{}", log.text);
        for by in [None, Some("ip")] {
            let heard = live(&spec, &log, by, &mut rng);
            for (line, early) in &heard {
                // The fourth failure is told at once.
                let told = if *early { line.replace(" 4 <=", " N <=") } else { line.clone() };
                let same = |own: &&String| match early {
                    true => own.ends_with("violated") && told.split(' ').nth(1) == own.split(' ').nth(1),
                    false => **own == told,
                };
                assert!(expected.iter().any(|own| same(&own)), "seed {seed}: {line}\n{}", log.text);
                assert_eq!(*early, line.ends_with("violated"));
            }
            assert_eq!(heard.len(), expected.len(), "seed {seed}\n{}", log.text);
        }
    }
}

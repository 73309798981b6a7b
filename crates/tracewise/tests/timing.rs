//! `time` and `elapsed` against columns that hold the same numbers, written into the log: stored and live, whole and per
//! key, by several engines, in blocks of every size, and resumed from snapshots.

use std::fmt::Write;
use tracewise::check::{CheckOptions, CheckReport};
use tracewise::live::{Plan, PlanOptions, Row, ShardMonitor};
use tracewise::query::{QueryOptions, QueryReport};
use tracewise::{Evaluating, Reading, Session, Specification, Time, TimeUnit, Value};
use tw_testkit::Rng;

/// Formulas over `T` (time) and `E` (elapsed).
const FORMULAS: [&str; 12] = [
    "G (p -> E < 1.5)",
    "F (E >= 0.5 & X T > 3)",
    "G (has(E) -> E * 2 <= T)",
    "(E < 2 | !has(E)) U q",
    "G (p -> F[0,3s] (E <= 1 & q))",
    "G (q -> O (E == 0))",
    "G (T - E >= 0 | !has(E))",
    "F (T in {1, 2, 3, 4} & p)",
    "G ((if p then E else T) < 5)",
    "!q W (E > 1 & T != 4)",
    "G (E < 1 -> N (E < 1 | p))",
    "forall x. G (x == E -> x < 3)",
];

const QUERIES: [&str; 6] = [
    "max[E]",
    "sum[p : E]",
    "avg[T]",
    "count[E > 1]",
    "max[count[p while E < 1 | !has(E)]]",
    "last[T] - first[T]",
];

struct Line {
    time: Time,
    user: Option<&'static str>,
    p: bool,
    q: bool,
}

fn log(rng: &mut Rng) -> Vec<Line> {
    // Near zero, or nanoseconds since 1970: reals do not hold all of those.
    let mut time = rng.pick(&[0, 0, 1_700_000_000_123_456_789]);
    let mut line = || {
        time += rng.pick(&[0, 250_000_000, 500_000_000, 1_000_000_000, 1_000_000_001, 2_000_000_000]);
        let user = rng.pick(&[Some("a"), Some("b"), Some("c"), None]);
        Line { time, user, p: rng.one_in(2), q: rng.one_in(3) }
    };
    (0..1 + line_count(&mut line)).map(|_| line()).collect()
}

/// Some lines; the first drawn decides how many.
fn line_count(line: &mut impl FnMut() -> Line) -> usize {
    (0..24).take_while(|_| !(line().p && line().q && line().p)).count()
}

/// What has passed since the line before, of all or of the same user.
fn elapsed(log: &[Line], at: usize, keyed: bool) -> Option<Time> {
    if keyed && log[at].user.is_none() {
        return None;
    }
    let before = log[..at].iter().rev().find(|line| !keyed || line.user == log[at].user)?;
    Some(log[at].time - before.time)
}

/// The log as CSV, with what is asked for in columns of other names.
fn file(name: &str, log: &[Line]) -> String {
    let unit = TimeUnit::Seconds;
    let mut text = String::from("time,user,p,q,t,e,k\n");
    let shown = |time: Option<Time>| time.map_or(String::new(), |time| unit.format_number(time));
    for (at, line) in log.iter().enumerate() {
        let (e, k) = (shown(elapsed(log, at, false)), shown(elapsed(log, at, true)));
        let time = unit.format_number(line.time);
        let (user, p, q) = (line.user.unwrap_or_default(), u8::from(line.p), u8::from(line.q));
        writeln!(text, "{time},{user},{p},{q},{time},{e},{k}").unwrap();
    }
    let path = std::env::temp_dir().join(format!("tracewise-timing-{}-{name}.csv", std::process::id()));
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_string()
}

/// A formula with these for `T` and `E`.
fn with(formula: &str, time: &str, elapsed: &str) -> String {
    let word = |c: char| match c {
        'T' => time.to_string(),
        'E' => elapsed.to_string(),
        other => other.to_string(),
    };
    formula.chars().map(word).collect()
}

fn specification(kind: &str, texts: &[&str], time: &str, elapsed: &str) -> Specification {
    let mut text = String::new();
    for (number, one) in texts.iter().enumerate() {
        writeln!(text, "{kind} n{number} : {};", with(one, time, elapsed)).unwrap();
    }
    Specification::from_text("s.tw", &text).unwrap_or_else(|error| panic!("{}", error.render(false)))
}

fn session(engine: &str, block: usize) -> Session {
    let reading = Reading { block, threads: 2, ..Reading::default() };
    Session::new().reading(reading).evaluating(Evaluating { engine: engine.into(), ..Evaluating::default() })
}

/// What is the same whatever the columns are called.
fn verdicts(report: &CheckReport) -> Vec<(String, String)> {
    let worth = |p: &tracewise::check::PropertyReport| {
        let violations: Vec<_> = p.violations.iter().map(|v| (v.position, v.bindings.clone())).collect();
        (p.name.clone(), format!("{:?} {} {violations:?}", p.verdict, p.violation_count))
    };
    report.properties.iter().map(worth).collect()
}

fn values(report: &QueryReport) -> Vec<String> {
    report
        .queries
        .iter()
        .map(|query| query.groups.iter().map(|group| format!("{:?} {:?};", group.key, group.value)).collect())
        .collect()
}

fn cases() -> u64 {
    // Each is read in many ways.
    let asked: Option<u64> = std::env::var("TRACEWISE_CASES").ok().and_then(|cases| cases.parse().ok());
    asked.map_or(60, |cases| (cases / 20).max(60))
}

#[test]
fn stored_traces_say_what_columns_say() {
    for seed in 0..cases() {
        let mut rng = Rng::new(seed);
        let log = log(&mut rng);
        let path = [file("stored", &log)];
        let block = rng.pick(&[16, 64, 1 << 20]);
        // Variables bound by quantifiers are for some engines alone.
        let plain = &FORMULAS[..FORMULAS.len() - 1];
        let untimed: Vec<&str> = plain.iter().copied().filter(|formula| !formula.contains("3s")).collect();
        for by in [None, Some("user".to_string())] {
            if by.is_some() && log.iter().all(|line| line.user.is_none()) {
                continue;
            }
            let column = if by.is_some() { "k" } else { "e" };
            let all = FORMULAS.as_slice();
            let runs: [(&str, &[&str]); 5] = [
                ("auto", all),
                ("reference", plain),
                ("metric", plain),
                ("columnar", &untimed),
                ("automaton", &untimed),
            ];
            for (engine, formulas) in runs {
                for (time, since) in [("time", "elapsed"), ("time()", "elapsed()")] {
                    let own = specification("property", formulas, time, since);
                    let other = specification("property", formulas, "t", column);
                    let options = CheckOptions { by: by.clone(), violations: 50, ..CheckOptions::default() };
                    let check = |spec: &Specification| {
                        let report = session(engine, block).check(spec, &path, &options);
                        verdicts(
                            &report.unwrap_or_else(|error| panic!("seed {seed}: {}", error.render(false))),
                        )
                    };
                    assert_eq!(check(&own), check(&other), "seed {seed}, {engine}, by {by:?}");
                }
            }
            let options = QueryOptions { by: by.clone(), explain: false, ..QueryOptions::default() };
            for engine in ["auto", "reference", "forward"] {
                let query = |time: &str, elapsed: &str| {
                    let spec = specification("query", &QUERIES, time, elapsed);
                    let report = session(engine, block).query(&spec, &path, &options);
                    values(&report.unwrap_or_else(|error| panic!("seed {seed}: {}", error.render(false))))
                };
                assert_eq!(query("time", "elapsed"), query("t", column), "seed {seed}, {engine}, by {by:?}");
            }
        }
        std::fs::remove_file(&path[0]).unwrap();
    }
}

/// Queries that divide the trace in different ways have different neighbours, side by side.
#[test]
fn each_query_has_its_own_neighbours() {
    for seed in 0..cases() {
        let mut rng = Rng::new(seed + 10_000);
        let mut log = log(&mut rng);
        log[0].user = Some("a");
        let path = [file("divided", &log)];
        let spec = |time: &str, e: &str, k: &str| {
            let text = format!(
                "let late = {e} > 1;\nquery a : sum[{e}];\nquery b : sum[{k}] by user;\n\
                 query c : max[p : {k}] by user;\nquery d : count[{e} > 1] by p;\nquery f : max[{time}];\n"
            );
            Specification::from_text("s.tw", &text).unwrap()
        };
        let ask = |spec: &Specification| {
            values(&session("auto", 64).query(spec, &path, &QueryOptions::default()).unwrap())
        };
        let (own, other) = (ask(&spec("time", "elapsed", "elapsed")), ask(&spec("t", "e", "k")));
        assert_eq!(own[..3], other[..3], "seed {seed}");
        assert_eq!(own[4], other[4], "seed {seed}");
        std::fs::remove_file(&path[0]).unwrap();
    }
}

#[test]
fn live_traces_say_what_columns_say() {
    let formulas = &FORMULAS[..FORMULAS.len() - 1];
    for seed in 0..cases() {
        let mut rng = Rng::new(seed + 20_000);
        let log = log(&mut rng);
        for keyed in [false, true] {
            let run = |time: &str, since: &str, rng: &mut Rng| {
                let spec = specification("property", formulas, time, since);
                let plan = Plan::new(&spec, &PlanOptions::default()).unwrap();
                let key = keyed.then_some("user");
                let mut shard = ShardMonitor::new(&plan, key).unwrap();
                let mut told = Vec::new();
                let mut at = 0;
                while at < log.len() {
                    let end = log.len().min(at + 1 + rng.below(5));
                    let number = |time: Option<Time>| match time {
                        Some(time) => TimeUnit::Seconds.value(time.into()),
                        None => Value::Null,
                    };
                    let values: Vec<Vec<(&str, Value)>> = (at..end)
                        .map(|at| {
                            let line = &log[at];
                            vec![
                                ("user", line.user.map_or(Value::Null, |user| Value::Str(user.into()))),
                                ("p", Value::Bool(line.p)),
                                ("q", Value::Bool(line.q)),
                                ("t", number(Some(line.time))),
                                ("e", number(elapsed(&log, at, false))),
                                ("k", number(elapsed(&log, at, true))),
                            ]
                        })
                        .collect();
                    let rows: Vec<Row<'_>> = (at..end)
                        .zip(&values)
                        .map(|(at, values)| Row { time: Some(log[at].time), event: None, values })
                        .collect();
                    shard
                        .feed_rows(&rows, &mut |outcome| {
                            told.push(format!(
                                "{} {:?} {:?} {}",
                                outcome.name, outcome.key, outcome.verdict, outcome.position
                            ));
                        })
                        .unwrap_or_else(|error| panic!("seed {seed}: {}", error.render(false)));
                    at = end;
                    if rng.one_in(3) {
                        let state = shard.snapshot();
                        shard = ShardMonitor::new(&plan, key).unwrap();
                        assert!(shard.restore(&state).unwrap().anew.is_empty());
                    }
                }
                shard
                    .finish(&mut |end| told.push(format!("{} {:?} {:?}", end.name, end.key, end.known)))
                    .unwrap();
                told
            };
            let own = run("time", "elapsed", &mut Rng::new(seed));
            let other = run("t", if keyed { "k" } else { "e" }, &mut Rng::new(seed + 1));
            assert_eq!(own, other, "seed {seed}, keyed {keyed}");
        }
    }
}

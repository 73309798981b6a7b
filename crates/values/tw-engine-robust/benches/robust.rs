//! Nanoseconds per sample on one thread: the best of many short runs, so that a busy machine disturbs few of them.
//!
//! `cargo bench -p tw-engine-robust -- [WORD…]` runs the rows that contain every word. Instructions per sample:
//! `perf stat -e instructions:u` around one row, against another number of runs (`TRACEWISE_RUNS`).

use std::hint::black_box;
use std::time::Instant;
use tw_engine_robust::{Interpolation, Predictor, Robust, Samples};
use tw_ir::{Clock, NodeId};
use tw_monitor::EvaluateOptions;

/// How the signals run.
const DATA: [&str; 3] = ["walk", "up", "down"];

fn runs() -> usize {
    std::env::var("TRACEWISE_RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(60)
}

fn wanted(row: &str) -> bool {
    std::env::args().skip(1).filter(|word| !word.starts_with("--")).all(|word| row.contains(&word))
}

/// Prints a row: the name, the best time per sample and what it may be.
fn row(name: &str, len: usize, target: Option<f64>, mut run: impl FnMut() -> std::time::Duration) {
    if !wanted(name) {
        return;
    }
    let mut best = f64::INFINITY;
    for _ in 0..runs() {
        best = best.min(run().as_nanos() as f64 / len as f64);
    }
    let target = target.map_or(String::new(), |target| {
        format!("{target:8.0}{}", if best > target { "  missed" } else { "" })
    });
    println!("{name:58} {best:10.2} {target}");
}

fn timed(run: impl FnOnce()) -> std::time::Duration {
    let start = Instant::now();
    run();
    start.elapsed()
}

fn ready(formula: &str, clock: Clock) -> (Robust, NodeId) {
    let program = tw_testkit::texts::formula(formula);
    let options = EvaluateOptions { clock, unit: tw_core::TimeUnit::Nanoseconds, ..Default::default() };
    (Robust::new(&program, &options).unwrap(), program.roots[0].node)
}

/// Random walks, or ramps (the first predicate in the direction named, the second against it), and times that are
/// one or two apart.
fn samples(robust: &Robust, len: usize, data: &str) -> Samples<'static> {
    let mut rng = tw_testkit::Rng::new(7);
    let mut random = || rng.bits();
    let predicates = (0..robust.predicates().len()).map(|predicate| {
        let mut value = 0.0;
        let mut one = |at: usize| match (data, predicate % 2) {
            ("up", 0) | ("down", 1) => at as f64,
            ("up" | "down", _) => -(at as f64),
            _ => {
                value += (random() >> 11) as f64 / (1u64 << 53) as f64 - 0.5;
                value
            }
        };
        (0..len).map(&mut one).collect()
    });
    let predicates = predicates.collect();
    let mut now = 0;
    let mut next = || {
        now += 1 + (random() % 2) as i64;
        now
    };
    Samples { len, predicates, times: Some((0..len).map(|_| next()).collect()), starts: Default::default() }
}

fn cut(all: &Samples, from: usize, to: usize) -> Samples<'static> {
    Samples {
        len: to - from,
        predicates: all.predicates.iter().map(|column| column[from..to].to_vec()).collect(),
        times: all.times.as_ref().map(|times| times[from..to].to_vec().into()),
        starts: Default::default(),
    }
}

/// What all predicates are worth at one position after the other.
fn rows(all: &Samples, from: usize) -> Vec<f64> {
    (from..all.len).flat_map(|at| all.predicates.iter().map(move |column| column[at])).collect()
}

fn flat(width: usize) -> [(String, f64); 4] {
    [
        (format!("F[0,{width}] x > 0"), 15.0),
        (format!("G[0,{width}] x > 0"), 15.0),
        (format!("x > 0 U[0,{width}] y > 0"), 30.0),
        (format!("x > 0 U[{},{width}] y > 0", width / 2), 30.0),
    ]
}

/// Whole traces.
fn columns() {
    let len = 100_000;
    for (clock, name) in [(Clock::Index, "uniform"), (Clock::Stamps, "irregular")] {
        for width in [1000, 10_000] {
            let mut formulas = flat(width).to_vec();
            formulas.push((format!("O[{},{width}] x > 0", width / 2), 15.0));
            formulas.push((format!("x > 0 S[0,{width}] y > 0"), 30.0));
            for (formula, target) in formulas {
                let (robust, node) = ready(&formula, clock);
                for data in DATA {
                    let samples = samples(&robust, len, data);
                    row(&format!("columns {name} {formula} {data}"), len, Some(target), || {
                        timed(|| {
                            black_box(robust.columns(&samples, &[node]).unwrap());
                        })
                    });
                }
            }
        }
    }
}

/// A stream that is longer than its window when the clock starts.
fn stream(clock: Clock, name: &str) {
    let (len, warm) = (4_000, 12_000);
    for width in [1000, 10_000] {
        for (formula, target) in flat(width) {
            let (robust, node) = ready(&formula, clock);
            for data in DATA {
                let all = samples(&robust, warm + len, data);
                let start = cut(&all, 0, warm);
                let width_of_row = all.predicates.len();
                let rows = rows(&all, warm);
                let times = &all.times.as_ref().unwrap()[warm..];
                let rows = || rows.chunks(width_of_row).zip(times);
                let batches: Vec<Samples> =
                    (warm..warm + len).step_by(500).map(|at| cut(&all, at, at + 500)).collect();
                let mut warmed = robust.online(&[node]).unwrap();
                let mut tracked = warmed.clone();
                tracked.track();
                for online in [&mut warmed, &mut tracked] {
                    online.push(&start).unwrap();
                    online.drain(0);
                }
                let what = format!("{name} {formula} {data}");
                row(&format!("stream, batches of 500: {what}"), len, Some(target), || {
                    let mut online = warmed.clone();
                    timed(|| {
                        for samples in &batches {
                            online.push(samples).unwrap();
                            black_box(online.drain(0));
                        }
                    })
                });
                // At an uneven pace a sample settles several positions, or none.
                let single = if clock == Clock::Stamps { 2.0 * target } else { target };
                row(&format!("stream, one by one: {what}"), len, Some(single), || {
                    let mut online = warmed.clone();
                    timed(|| {
                        for (values, &time) in rows() {
                            online.push_one(Some(time), values).unwrap();
                            black_box(online.drain(0));
                        }
                    })
                });
                row(&format!("oldest bounds: {what}"), len, Some(50.0), || {
                    let mut online = warmed.clone();
                    timed(|| {
                        for (values, &time) in rows() {
                            online.push_one(Some(time), values).unwrap();
                            black_box(online.drain(0));
                            black_box(online.oldest(0));
                        }
                    })
                });
                row(&format!("all bounds: {what}"), len, (width == 1000).then_some(1000.0), || {
                    let mut online = tracked.clone();
                    timed(|| {
                        for (values, &time) in rows() {
                            online.push_one(Some(time), values).unwrap();
                            black_box(online.drain(0));
                            black_box(online.bounds(0));
                        }
                    })
                });
            }
        }
    }
}

/// Nine untils one in the other with a horizon of 10,000, predicted anew with every sample.
fn predictions() {
    let mut formula = "y > 0".to_owned();
    for _ in 0..9 {
        formula = format!("x > 0 U[0,1111] (y > 0 & ({formula}))");
    }
    let (robust, node) = ready(&formula, Clock::Index);
    let mut online = robust.online(&[node]).unwrap();
    online.push(&samples(&robust, 1000, "walk")).unwrap();
    row("predict nine untils over 10,000 samples", 1, Some(1e6), || {
        timed(|| {
            black_box(online.predict(0, Predictor::Linear, 1).unwrap());
        })
    });
    let all = samples(&robust, 20_000, "walk");
    let rows = rows(&all, 16_000);
    let mut warmed = robust.online(&[node]).unwrap();
    warmed.push(&cut(&all, 0, 16_000)).unwrap();
    row("stream, one by one: nine untils over 10,000 samples", 4000, Some(1000.0), || {
        let mut online = warmed.clone();
        timed(|| {
            for values in rows.chunks(all.predicates.len()) {
                online.push_one(None, values).unwrap();
                black_box(online.drain(0));
            }
        })
    });
}

/// Between the samples.
fn interpolated() {
    let len = 20_000;
    for (reading, name) in [(Interpolation::Step, "step"), (Interpolation::Linear, "linear")] {
        for (formula, _) in flat(1000) {
            let (robust, node) = ready(&formula, Clock::Stamps);
            let samples = samples(&robust, len, "walk");
            row(&format!("interpolated {name} {formula}"), len, None, || {
                timed(|| {
                    black_box(robust.interpolated(&samples, &[node], reading).unwrap());
                })
            });
        }
    }
}

fn main() {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    println!("load average {}; nanoseconds per sample, best of {} runs; target", load.trim(), runs());
    columns();
    stream(Clock::Index, "uniform");
    stream(Clock::Stamps, "irregular");
    predictions();
    interpolated();
}

//! How long streams take per position: `cargo bench -p tw-streams`.
//!
//! `POSITIONS` (4 million) and `REPEATS` (5, the best counts) change the run; `ONLY` selects parts whose name contains it.

use std::hint::black_box;
use std::time::{Duration, Instant};
use tw_core::{Batch, Bits, Column, Value};
use tw_ir::{Program, What};
use tw_spec::{LowerOptions, lower, parse};
use tw_streams::{Pass, Streams};
use tw_testkit::Rng;

/// Ten streams of reals, five of which read their own past.
const TEN: &str = "var x: real; var y: real; var p: bool;
stream change: real = x - x[-1|0];
stream average: real = 0.9 * average[-1|0] + 0.1 * x;
stream deviation: real = x - average;
stream variance: real = 0.95 * variance[-1|1] + 0.05 * deviation * deviation;
stream peak: real = if x > peak[-1|0] then x else 0.99 * peak[-1|0];
stream lowest: real = min(x, lowest[-1|100]);
stream smooth: real = (x + x[-1|0] + x[-2|0] + x[-3|0]) / 4;
stream work: real = if y > 0.5 then x * y else x - y;
stream way: real = if p then 0 else way[-1|0] + abs(change);
stream score: real = if deviation * deviation > 9 * variance[-1|1] then max(deviation, change) else smooth - average;
";

/// Positions of a batch.
const BATCH: usize = 1 << 16;

fn number(name: &str, otherwise: usize) -> usize {
    let text = std::env::var(name).ok();
    text.and_then(|text| text.replace('_', "").parse().ok()).unwrap_or(otherwise)
}

/// Time on the processor, so that others who use the machine count little; where the system does not tell, time.
fn clock(start: Instant) -> Duration {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = told.and_then(|text| text.split(' ').next()?.parse().ok());
    nanoseconds.map_or_else(|| start.elapsed(), Duration::from_nanos)
}

fn program(text: &str) -> Program {
    let lowered = lower(&parse(text, 0).value, &LowerOptions::default());
    assert!(!lowered.has_errors(), "{:?}", lowered.diagnostics);
    lowered.value
}

fn batch(program: &Program, len: usize) -> Batch {
    let mut random = Rng::new(7);
    let mut column = |what: &What| match what {
        What::Variable(path, _) if path.as_name() == Some("p") => {
            Column::Truth((0..len).map(|_| random.below(50) == 0).collect())
        }
        What::Variable(..) => Column::Real {
            values: (0..len).map(|_| random.below(1_000_000) as f64 / 99_999.0).collect(),
            valid: (0..len).map(|_| random.below(1000) > 0).collect(),
        },
        _ => Column::Truth(Bits::repeat(false, len)),
    };
    Batch { len, slots: program.slots.iter().map(|slot| column(&slot.what)).collect(), times: None }
}

fn main() {
    let (len, repeats) = (number("POSITIONS", 4_000_000), number("REPEATS", 5));
    let only = std::env::var("ONLY").unwrap_or_default();
    let epoch = Instant::now();
    let program = program(TEN);
    let streams = Streams::new(&program).expect("there are streams");
    println!("load {}", std::fs::read_to_string("/proc/loadavg").unwrap_or_default().trim());
    let tell = |name: &str, count: usize, run: &mut dyn FnMut() -> Duration| {
        if name.contains(&only) {
            let best = (0..repeats).map(|_| run()).min().unwrap_or_default();
            println!("{name}: {:.1} ns a position", best.as_nanos() as f64 / count as f64);
        }
    };
    // As readers deliver them: batch after batch.
    let full = batch(&program, BATCH);
    let timed = |pass: Pass, batches: usize| {
        let (mut batch, mut pass) = (full.clone(), pass);
        let start = clock(epoch);
        for _ in 0..batches {
            pass.fill(&streams, &program, &mut batch).expect("no overflow");
            black_box(&batch);
        }
        clock(epoch) - start
    };
    let batches = (len / BATCH).max(1);
    tell("ten streams of reals, stored", batches * BATCH, &mut || timed(Pass::default(), batches));
    tell("ten streams of reals, by the definition", BATCH, &mut || timed(Pass::default().by_definition(), 1));
    // One event after the other: three values in, ten out.
    let read: Vec<usize> = (0..program.slots.len())
        .filter(|&slot| matches!(program.slots[slot].what, What::Variable(..)))
        .collect();
    let events: Vec<Vec<Value>> =
        (0..BATCH).map(|at| read.iter().map(|&slot| full.slots[slot].value(at)).collect()).collect();
    tell("ten streams of reals, live", batches * BATCH, &mut || {
        let (mut row, mut pass) = (vec![Value::Null; program.slots.len()], Pass::default());
        let start = clock(epoch);
        for _ in 0..batches {
            for event in &events {
                for (&slot, value) in read.iter().zip(event) {
                    row[slot] = value.clone();
                }
                pass.row(&streams, &program, None, &mut row).expect("no overflow");
                black_box(&row);
            }
        }
        clock(epoch) - start
    });
}

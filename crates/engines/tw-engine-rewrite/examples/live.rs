//! What one event costs ten live monitors, position by position and in chunks.
//!
//! `cargo run --release -p tw-engine-rewrite --example live [EVENTS]`

use std::time::Instant;
use tw_core::Bits;
use tw_engine_rewrite::Rewrite;
use tw_ir::Semantics;
use tw_monitor::{Engine, EvaluateOptions, Positions, words};

/// None of them is settled early on the events below.
const PROPERTIES: [&str; 10] = [
    "G (a -> F b)",
    "G (b -> F c)",
    "G (c -> F d)",
    "G (a -> X (F c))",
    "G ((a & !b) -> (!d U (b | c)) | F d)",
    "F G (a | b | c | d)",
    "G F a",
    "G (d -> (c R (a | F b)))",
    "F !G (a -> F d)",
    "G (a -> F (b & F c))",
];
const ATOMS: usize = 4;
/// Events that come round, so that they stay in the cache.
const ROUND: usize = 1 << 12;

fn main() {
    let events: usize =
        std::env::args().nth(1).and_then(|text| text.replace('_', "").parse().ok()).unwrap_or(20_000_000);
    let program = tw_testkit::texts::properties(&PROPERTIES);
    assert_eq!((program.roots.len(), program.atoms().len(), words(ATOMS)), (10, ATOMS, 1));
    let mut rng = tw_testkit::Rng::new(1);
    let rows: Vec<[u64; 1]> = (0..ROUND).map(|_| [rng.bits() >> 60]).collect();
    let options = EvaluateOptions { semantics: Semantics::RepeatLast, ..EvaluateOptions::default() };
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    println!("{events} events, ten properties, load average {}", load.split(' ').next().unwrap_or("unknown"));

    let mut settled = tw_monitor::Sink::default();
    let mut monitor = Rewrite
        .monitor(&program, &options, tw_monitor::Telling::Verdicts)
        .expect("these formulas can be rewritten");
    let start = Instant::now();
    for at in 0..events {
        monitor.step(&rows[at % ROUND], &mut settled).expect("there are few residuals");
    }
    report("one position at a time", start, events, monitor.heap_bytes());
    assert!(settled.settled.is_empty(), "{settled:?}");

    let column = |atom: usize| rows.iter().map(|row| row[0] >> atom & 1 == 1).collect::<Bits>();
    let atoms: Vec<Bits> = (0..ATOMS).map(column).collect();
    let chunk = Positions { len: ROUND, atoms: &atoms, ..Positions::default() };
    let mut monitor = Rewrite
        .monitor(&program, &options, tw_monitor::Telling::Verdicts)
        .expect("these formulas can be rewritten");
    let start = Instant::now();
    for _ in 0..events / ROUND {
        monitor.feed(&chunk, &mut settled).expect("there are few residuals");
    }
    report("in chunks", start, events / ROUND * ROUND, monitor.heap_bytes());
}

fn report(how: &str, start: Instant, events: usize, bytes: usize) {
    let each = start.elapsed().as_secs_f64() * 1e9 / events as f64;
    println!("{how}: {each:.1} ns per event, {bytes} bytes held");
}

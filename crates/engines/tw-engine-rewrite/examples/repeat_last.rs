//! The experiment of "Monitoring Programs using Rewriting": a trace of ten events, repeated.
//!
//! `cargo run --release -p tw-engine-rewrite --example repeat_last [REPETITIONS]`

use std::time::Instant;
use tw_core::Bits;
use tw_engine_rewrite::Rewrite;
use tw_ir::Semantics;
use tw_monitor::{Engine, EvaluateOptions, Trace};

/// `a b, a, c a, a b, c b, a b, a, c a, a b, c b`, where `c` plays no part.
const A: [bool; 10] = [true, true, true, true, false, true, true, true, true, false];
const B: [bool; 10] = [true, false, false, true, true, true, false, false, true, true];

fn column(pattern: [bool; 10], len: usize) -> Bits {
    // The pattern comes round after ten bits, so five words of 64 hold it a whole number of times.
    let round: Vec<u64> = (0..5)
        .map(|word| (0..64).fold(0, |bits, bit| bits | u64::from(pattern[(word * 64 + bit) % 10]) << bit))
        .collect();
    Bits::from_words(round.iter().copied().cycle().take(len.div_ceil(64)).collect(), len)
}

fn main() {
    let repetitions: usize =
        std::env::args().nth(1).and_then(|text| text.replace('_', "").parse().ok()).unwrap_or(10_000_000);
    let len = repetitions * 10;
    let trace = Trace { len, atoms: vec![column(A, len), column(B, len)], ..Trace::default() };
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    println!("{len} events, load average {}", load.split(' ').next().unwrap_or("unknown"));
    for (name, text) in [("F1", "G (a -> F b)"), ("F2", "F !G (a -> F b)")] {
        let program = tw_testkit::texts::formula(text);
        let options = EvaluateOptions { semantics: Semantics::RepeatLast, ..EvaluateOptions::default() };
        let mut evaluator = Rewrite.plan(&program, &options).expect("both formulas can be rewritten");
        let mut best = f64::INFINITY;
        let mut holds = false;
        for _ in 0..3 {
            let start = Instant::now();
            let answers = evaluator.evaluate(&trace, 10).expect("there are three residuals at most");
            best = best.min(start.elapsed().as_secs_f64());
            holds = answers[0].holds.get(0);
        }
        println!(
            "{name} = {text}: {holds}, {best:.3} s, {:.2} ns per event (best of 3)",
            best * 1e9 / len as f64
        );
    }
}

//! Time per position of the three traversals.
//!
//! `cargo run --release -p tw-engine-alternating --example traversals [POSITIONS]`

use std::time::Instant;
use tw_core::Bits;
use tw_engine_alternating::{BreadthFirst, DepthFirst, Reverse};
use tw_monitor::{Engine, EvaluateOptions, Trace};

/// One in `times` positions is true.
fn column(len: usize, times: u64, mut seed: u64) -> Bits {
    let bit = |_| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33).is_multiple_of(times)
    };
    (0..len).map(bit).collect()
}

fn main() {
    let len =
        std::env::args().nth(1).and_then(|text| text.replace('_', "").parse().ok()).unwrap_or(1_000_000);
    for text in ["G (a -> F b)", "G (a -> O b)", "G (b -> !a U (a U (!a U a)))", "G (a -> O (b & F c))"] {
        let program = tw_testkit::texts::formula(text);
        let mut atoms: Vec<Bits> =
            (0..program.atoms().len() as u64).map(|atom| column(len, 3 + atom, atom)).collect();
        // So that nothing is left waiting at the end.
        atoms.iter_mut().for_each(|column| column.set(len - 1, true));
        let trace = Trace { len, atoms, ..Trace::default() };
        for engine in [&DepthFirst as &dyn Engine, &BreadthFirst, &Reverse] {
            let mut evaluator = match engine.plan(&program, &EvaluateOptions::default()) {
                Ok(evaluator) => evaluator,
                Err(refusal) => {
                    println!("{text:32} {:14} refuses {}", engine.name(), refusal.what);
                    continue;
                }
            };
            let mut best = f64::INFINITY;
            let mut holds = false;
            for _ in 0..5 {
                let start = Instant::now();
                holds = evaluator.evaluate(&trace, 0).expect("small automata fit any budget")[0].holds.get(0);
                best = best.min(start.elapsed().as_secs_f64());
            }
            println!(
                "{text:32} {:14} {:5} {:8.2} ns per position",
                engine.name(),
                holds,
                best * 1e9 / len as f64
            );
        }
    }
}

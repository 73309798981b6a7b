//! Ten properties on a live trace: what one event costs.
//!
//! `cargo run --release -p tw-engine-automaton --example ten [events]`

use std::time::Instant;
use tw_core::Bits;
use tw_engine_automaton::{Automaton, mode};
use tw_ir::Semantics;
use tw_monitor::{Engine, EvaluateOptions, Positions};

/// None of them is ever settled on the events below, so that all ten are at work at every event.
const PROPERTIES: [&str; 10] = [
    "G (a -> F b)",
    "G F c",
    "G (d -> (e R f) | F g)",
    "G (h -> X (i | F j))",
    "F G k",
    "G (a & !b -> F (c | l))",
    "G (l -> Y a | F a)",
    "F (G c | G d & F e)",
    "G ((b S c) -> F d)",
    "G (e -> F (f & X F g))",
];

fn main() {
    let events = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(100_000_000usize);
    let program = tw_testkit::texts::properties(&PROPERTIES);
    let options = EvaluateOptions { semantics: Semantics::Ltl3, ..EvaluateOptions::default() };
    for (root, formula) in program.roots.iter().zip(PROPERTIES) {
        let mode = mode(&program, root.node, &options).expect("a small formula");
        println!("{formula}: {mode}");
    }
    // Random rows, enough that branches are not learnt by heart.
    let mut rng = tw_testkit::Rng::new(1);
    let rows: Vec<[u64; 1]> = (0..1 << 16).map(|_| [rng.bits() & 0xfff]).collect();
    let columns: Vec<Bits> = (0..program.atoms().len())
        .map(|atom| rows.iter().map(|row| row[0] >> atom & 1 == 1).collect())
        .collect();
    println!("{} atoms", columns.len());
    let monitor =
        || Automaton.monitor(&program, &options, tw_monitor::Telling::Verdicts).expect("small formulas");
    for what in ["step", "feed", "step", "feed"] {
        let (mut monitor, mut out) = (monitor(), tw_monitor::Sink::default());
        // On a machine with other work the best of many short batches tells more than the whole.
        let mut batches = Vec::new();
        let start = Instant::now();
        for _ in 0..events.div_ceil(rows.len()) {
            let batch = Instant::now();
            if what == "step" {
                rows.iter().try_for_each(|row| monitor.step(row, &mut out)).expect("within budgets");
            } else {
                let chunk = Positions { len: rows.len(), atoms: &columns, ..Positions::default() };
                monitor.feed(&chunk, &mut out).expect("within budgets");
            }
            batches.push(batch.elapsed().as_secs_f64() * 1e9 / rows.len() as f64);
        }
        let whole = start.elapsed().as_secs_f64() * 1e9 / monitor.positions() as f64;
        batches.sort_by(f64::total_cmp);
        let (best, median) = (batches[0], batches[batches.len() / 2]);
        println!("{what}: {whole:.2} ns per event for all ten; batches best {best:.2}, median {median:.2}");
        assert_eq!(out.settled.len(), 0, "a property was settled");
    }
}

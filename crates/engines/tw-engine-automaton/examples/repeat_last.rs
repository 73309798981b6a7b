//! The long run of "Monitoring Programs using Rewriting": ten events, repeated, against `[](a -> <> b)`.
//!
//! `cargo run --release -p tw-engine-automaton --example repeat_last [repetitions]`

use std::time::Instant;
use tw_core::Bits;
use tw_engine_automaton::{Automaton, mode};
use tw_ir::Semantics;
use tw_monitor::{Engine, EvaluateOptions, Trace};

/// The ten events, by the atoms that hold.
const EVENTS: [&str; 10] = ["ab", "a", "ca", "ab", "cb", "ab", "a", "ca", "ab", "cb"];

fn main() {
    let repetitions = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(10_000_000);
    let program = tw_testkit::texts::formula("G (a -> F b)");
    let column = |atom: char| -> Bits {
        // Five words hold 32 repetitions.
        let bits: Bits = (0..320).map(|at| EVENTS[at % 10].contains(atom)).collect();
        let len = repetitions * EVENTS.len();
        Bits::from_words(bits.words().iter().copied().cycle().take(len.div_ceil(64)).collect(), len)
    };
    let trace =
        Trace { len: repetitions * EVENTS.len(), atoms: vec![column('a'), column('b')], ..Trace::default() };
    let options = EvaluateOptions { semantics: Semantics::RepeatLast, ..EvaluateOptions::default() };
    println!("{}", mode(&program, program.roots[0].node, &options).expect("a small formula"));
    for _ in 0..5 {
        let start = Instant::now();
        let mut evaluator = Automaton.plan(&program, &options).expect("a small formula");
        let answers = evaluator.evaluate(&trace, 10).expect("a small formula");
        let elapsed = start.elapsed();
        assert!(answers[0].holds.get(0));
        let each = elapsed.as_secs_f64() * 1e9 / trace.len as f64;
        println!("{} positions in {:.3} s, {each:.2} ns each", trace.len, elapsed.as_secs_f64());
    }
}

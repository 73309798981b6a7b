//! Time per position of the published queries and of other statistics.
//!
//! `cargo run --release -p tw-query-reverse --example paper [POSITIONS [NAME]]`

use std::time::Instant;
use tw_core::{Batch, Bits, Column};
use tw_ir::What;
use tw_monitor::{EvaluateOptions, Predicates, QueryEngine, Terms, Trace};
use tw_query_reverse::Reverse;

/// A column for a name: a location that moves on or starts again, a small number, a real.
fn column(name: &str, len: usize) -> Column {
    let seed = name.bytes().fold(7u64, |seed, byte| seed.wrapping_mul(31).wrapping_add(byte.into()));
    let mut rng = tw_testkit::Rng::new(seed);
    let mut random = move || rng.bits() >> 33;
    let valid = Bits::repeat(true, len);
    match name {
        "l" | "m" => {
            let mut at = 0;
            let mut step = |_| {
                at = if random() % 3 > 0 { at } else { at % 7 + 1 };
                at
            };
            Column::Int { values: (0..len).map(&mut step).collect(), valid }
        }
        "y" => Column::Real { values: (0..len).map(|_| random() as f64 / 1e6).collect(), valid },
        _ => Column::Int { values: (0..len).map(|_| (random() % 1000) as i64).collect(), valid },
    }
}

/// Seconds that this thread has been on a processor, where the system tells, so that other work does not count.
fn now(start: Instant) -> f64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let told = told.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    told.map_or_else(|| start.elapsed().as_secs_f64(), |nanoseconds| nanoseconds / 1e9)
}

fn main() {
    let clock = Instant::now();
    let len =
        std::env::args().nth(1).and_then(|text| text.replace('_', "").parse().ok()).unwrap_or(10_000_000);
    let queries = [
        ("Q1", "max[true : x]"),
        ("Q2", "max[(l = 3 : 1) |{+} (m = 3 : 1)]"),
        ("Q3", "count[l = 3 & X l != 3] / count[m = 3 & X m != 3]"),
        ("Q4", "max[count[m != 3 & X m = 3 while l = 2]]"),
        ("Q5", "count[l = 6 & X l != 6]"),
        ("Q6", "count[l = 1 & X l != 1] &{pair} count[m = 1 & X m != 1]"),
        ("Q7", "max[count[l = 1 & X l != 1 while l in {1..5, 7}]]"),
        ("Q8", "avg[l = 6 &{second} X count[l = 1 & X l != 1 while l in {1..5, 7}]]"),
        ("until", "avg[l != 6 U (m = 3 : x)]"),
        ("sum", "sum[true : x]"),
        ("sum", "sum[true : y]"),
        ("avg while", "max[avg[true : x while l != 6]]"),
        ("var", "var[true : y]"),
        ("corr", "corr[true : x, true : y]"),
        ("median", "median[true : x]"),
        ("median", "median[true : y]"),
        ("medians", "max[median[true : x while l != 6]]"),
        ("distinct", "distinct[true : x]"),
    ];
    println!("{len} positions");
    let only = std::env::args().nth(2);
    for (name, query) in
        queries.into_iter().filter(|(name, _)| only.as_deref().is_none_or(|only| only == *name))
    {
        let program = tw_testkit::texts::queries(&[query]);
        let named =
            |what: &What| if let What::Variable(path, _) = what { path.to_string() } else { String::new() };
        let slots = program.slots.iter().map(|slot| column(&named(&slot.what), len)).collect();
        let batch = Batch { len, slots, times: None };
        let atoms = Predicates::new(&program).evaluate(&batch).expect("numbers");
        let trace = Trace { len, atoms, terms: Terms::new(&program).evaluate(&batch), ..Trace::default() };
        drop(batch);
        let mut evaluator = Reverse.plan(&program, &EvaluateOptions::default()).expect("accepted");
        // The system counts in ticks of some milliseconds, so short traces are walked often.
        let rounds = (20_000_000 / len).max(2);
        let (mut value, start) = (None, now(clock));
        for _ in 0..rounds {
            value = evaluator.values(&trace, &[]).expect("small").remove(0).pop();
        }
        let each = (now(clock) - start) / rounds as f64;
        let value = value.map_or(String::new(), |value| format!("{:?}", value.ok()));
        println!("{name:9} {query:68} {:8.2} ns  {value:.40}", each * 1e9 / len as f64);
    }
}

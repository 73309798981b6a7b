//! Nanoseconds per value, the best of three: `cargo bench -p tw-statistics`.
//!
//! The last column is memory per accumulator. Machines differ; compare rows with each other.

use std::hint::black_box;
use std::time::Instant;
use tw_core::{Bits, Value};
use tw_ir::Aggregate;
use tw_statistics::{Accumulator, Limits, Rolling};
use tw_testkit::Rng;

fn measure(name: &str, values: usize, mut run: impl FnMut() -> usize) {
    let mut best = f64::INFINITY;
    let mut bytes = 0;
    for _ in 0..3 {
        // The system counts in ticks of some milliseconds.
        let (start, worked) = (Instant::now(), working_time());
        let mut runs = 0;
        while start.elapsed().as_secs_f64() < 0.2 {
            bytes = run();
            runs += 1;
        }
        let elapsed = start.elapsed().as_secs_f64();
        let time = working_time().zip(worked).map_or(elapsed, |(to, from)| to - from);
        best = best.min(time / f64::from(runs));
    }
    println!("{name:<44} {:>9.2} ns {bytes:>12} B", best * 1e9 / values as f64);
}

/// Seconds that this thread has worked, where the system tells: other work on the machine does not count.
fn working_time() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(text.split(' ').next()?.parse::<f64>().ok()? / 1e9)
}

fn new(aggregate: Aggregate) -> Accumulator {
    Accumulator::new(aggregate, Limits::default())
}

fn main() {
    let n = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(1_000_000);
    let mut rng = Rng::new(1);
    let uniform: Vec<f64> = (0..n).map(|_| (rng.bits() >> 11) as f64 / (1u64 << 53) as f64).collect();
    let signed: Vec<f64> = uniform.iter().map(|x| (x - 0.5) * 1e6).collect();
    let wild: Vec<f64> = (0..n).map(|_| f64::from_bits(rng.bits() & !(1 << 62))).collect();
    let ints: Vec<i64> = (0..n).map(|_| rng.below(1_000_000) as i64).collect();
    let few: Vec<i64> = ints.iter().map(|int| int % 100).collect();
    for (name, reals) in [("uniform", &uniform), ("signed", &signed), ("wild exponents", &wild)] {
        for aggregate in [Aggregate::Sum, Aggregate::Var, Aggregate::Max] {
            measure(&format!("{aggregate:?}, {name} reals, one by one"), n, || {
                let mut all = new(aggregate);
                reals.iter().for_each(|real| all.push_real(*real));
                _ = black_box(all.result());
                all.heap_bytes()
            });
            measure(&format!("{aggregate:?}, {name} reals, slice"), n, || {
                let mut all = new(aggregate);
                all.push_reals(reals);
                _ = black_box(all.result());
                all.heap_bytes()
            });
        }
    }
    for aggregate in [Aggregate::Sum, Aggregate::Var, Aggregate::Max] {
        measure(&format!("{aggregate:?}, integers, one by one"), n, || {
            let mut all = new(aggregate);
            ints.iter().for_each(|int| all.push_int(*int));
            _ = black_box(all.result());
            all.heap_bytes()
        });
        measure(&format!("{aggregate:?}, integers, slice"), n, || {
            let mut all = new(aggregate);
            all.push_ints(&ints);
            _ = black_box(all.result());
            all.heap_bytes()
        });
        measure(&format!("{aggregate:?}, integers, asked after each"), n / 10, || {
            let mut all = new(aggregate);
            for int in &ints[..n / 10] {
                all.push_int(*int);
                _ = black_box(all.result());
            }
            all.heap_bytes()
        });
        measure(&format!("{aggregate:?}, uniform reals, asked after each"), n / 10, || {
            let mut all = new(aggregate);
            for real in &uniform[..n / 10] {
                all.push_real(*real);
                _ = black_box(all.result());
            }
            all.heap_bytes()
        });
    }
    for (name, ints) in [("many", &ints), ("few", &few)] {
        for aggregate in [Aggregate::Median, Aggregate::Histogram(10), Aggregate::Distinct, Aggregate::Mode] {
            measure(&format!("{aggregate:?}, {name} different, asked once"), n, || {
                let mut all = new(aggregate);
                all.push_ints(ints);
                _ = black_box(all.result());
                all.heap_bytes()
            });
            measure(&format!("{aggregate:?}, {name} different, asked after each"), n, || {
                let mut all = new(aggregate);
                for int in ints.iter() {
                    all.push_int(*int);
                    _ = black_box(all.result());
                }
                all.heap_bytes()
            });
            let limits = Limits { exact_bytes: 1 << 16 };
            measure(&format!("{aggregate:?}, {name} different, 64 KiB"), n, || {
                let mut all = Accumulator::new(aggregate, limits);
                all.push_ints(ints);
                _ = black_box(all.result());
                all.heap_bytes()
            });
        }
    }
    let present = Bits::repeat(true, n);
    for (name, reals) in [("uniform", &uniform), ("signed", &signed), ("wild exponents", &wild)] {
        measure(&format!("Avg over 1,000, {name} reals, column"), n, || {
            let Some(mut window) = Rolling::new(Aggregate::Avg, 999) else { return 0 };
            let (mut out, mut valid) = (Vec::new(), Bits::new());
            window.averages((true, |at: usize| at as i64), (reals, &present), &mut out, &mut valid);
            black_box(out.len());
            window.heap_bytes()
        });
    }
    for aggregate in [
        Aggregate::Count,
        Aggregate::Sum,
        Aggregate::Avg,
        Aggregate::Max,
        Aggregate::Var,
        Aggregate::Median,
        Aggregate::Mode,
        Aggregate::Distinct,
    ] {
        measure(&format!("{aggregate:?} over 1,000, one by one"), n, || {
            let Some(mut window) = Rolling::new(aggregate, 999) else { return 0 };
            for (at, int) in few.iter().enumerate() {
                window.advance(at as i64);
                _ = black_box(window.push(at as i64, &Value::Int(*int)));
                _ = black_box(window.result());
            }
            window.heap_bytes()
        });
    }
    println!("{:<44} {:>9} B", "an accumulator itself", size_of::<Accumulator>());
}

//! How long operators over continuous time take: `cargo bench -p tw-engine-dense`.
//!
//! `RUNS` (1 million) is how often each operand becomes true, `REPEATS` (7, the best counts). Times are per change of the
//! operands; then, per position, of whole formulas over a trace whose atoms turn at every position with chance 1/2:
//! as states, and the answer with a clock error.

use std::hint::black_box;
use std::time::{Duration, Instant};
use tw_core::{Bits, TimeUnit};
use tw_engine_dense::{ClockError, Dense, End, Observation, Run, Signal, Span, Window, judge};
use tw_ir::Clock;
use tw_monitor::{Engine, EvaluateOptions, Trace};
use tw_testkit::Rng;

fn number(name: &str) -> Option<usize> {
    std::env::var(name).ok()?.replace('_', "").parse().ok()
}

fn best(mut f: impl FnMut()) -> Duration {
    let once = |f: &mut dyn FnMut()| {
        let start = Instant::now();
        f();
        start.elapsed()
    };
    (0..number("REPEATS").unwrap_or(7)).map(|_| once(&mut f)).min().unwrap_or_default()
}

/// Runs and gaps of 1 to 19 nanoseconds, ends open and closed.
fn signal(rng: &mut Rng, runs: usize) -> Signal {
    let mut now = 0;
    let mut ends = || {
        now += 1 + rng.below(19) as i64;
        End { time: now, open: rng.one_in(2) }
    };
    let list: Vec<Run> = (0..runs).map(|_| Run { low: ends(), high: ends() }).collect();
    Signal::new(Span::new(0, 20 * 2 * runs as i64).unwrap(), list)
}

fn operators(runs: usize) {
    let mut rng = Rng::new(1);
    let (a, b) = (signal(&mut rng, runs), signal(&mut rng, runs));
    let window = |low, high| Window::closed(low, high).unwrap();
    // Each operand changes twice per run.
    let row = |name: &str, operands: usize, f: &dyn Fn() -> Signal| {
        let time = best(|| {
            black_box(f());
        });
        println!(
            "{name:24} {:6.2} ns per change, {} stretches",
            time.as_nanos() as f64 / (2 * operands * runs) as f64,
            f().stretches()
        );
    };
    row("a & b", 2, &|| a.and(&b));
    row("a | b", 2, &|| a.or(&b));
    for (low, high) in [(0, 3), (5, 10), (0, 1000), (1000, 1003)] {
        let w = window(low, high);
        row(&format!("F[{low},{high}] a"), 1, &|| a.finally(w));
        row(&format!("G[{low},{high}] a"), 1, &|| a.globally(w));
        row(&format!("O[{low},{high}] a"), 1, &|| a.once(w));
        row(&format!("H[{low},{high}] a"), 1, &|| a.historically(w));
        row(&format!("a U[{low},{high}] b"), 2, &|| a.until(w, &b));
        row(&format!("a S[{low},{high}] b"), 2, &|| a.since(w, &b));
    }
    row("a U b", 2, &|| a.until(Window::ALL, &b));
    row("a S b", 2, &|| a.since(Window::ALL, &b));
}

fn formulas(positions: usize) {
    let mut rng = Rng::new(2);
    let options =
        EvaluateOptions { clock: Clock::Dense, unit: TimeUnit::Nanoseconds, ..EvaluateOptions::default() };
    let mut now = 0;
    let times: Vec<i64> = (0..positions)
        .map(|_| {
            now += 1 + rng.below(19) as i64;
            now
        })
        .collect();
    for text in
        ["G (p -> F[0,100] q)", "G (p -> O[10,100] q)", "G ((p & O q) -> (r S[3,50] q))", "G (p U[0,30] q)"]
    {
        let program = tw_testkit::texts::formula(text);
        let column = |rng: &mut Rng| (0..positions).map(|_| rng.one_in(2)).collect::<Bits>();
        let atoms = program.atoms().iter().map(|_| column(&mut rng)).collect();
        let trace = Trace { len: positions, atoms, times: Some(times.clone()), ..Trace::default() };
        let mut evaluator = Dense.plan(&program, &options).expect("a formula of continuous time");
        let states = best(|| {
            black_box(evaluator.evaluate(&trace, 10).expect("an answer"));
        });
        let root = program.roots[0].node;
        let observation = Observation::new(&trace, ClockError::Same(5));
        let error = best(|| {
            black_box(judge(&program, root, &observation, &options, 10).expect("a judgement"));
        });
        let per = |time: Duration| time.as_nanos() as f64 / positions as f64;
        println!("{text:32} {:6.2} ns per position, {:6.2} with a clock error", per(states), per(error));
    }
}

fn main() {
    let runs = number("RUNS").unwrap_or(1_000_000);
    operators(runs);
    formulas(runs);
}

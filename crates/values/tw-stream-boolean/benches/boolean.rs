//! How long Boolean streams take per position, and analyses per specification: `cargo bench -p tw-stream-boolean`.
//!
//! `POSITIONS` (10 million), `SPECIFICATIONS` (200) and `REPEATS` (5, the best counts) change the run; `ONLY` selects parts
//! whose name contains it, and `SIZE` (3) is how many operators an equation of an analysis has at most.

#[path = "../tests/common/mod.rs"]
mod common;

use common::{Shape, random, spec};
use std::hint::black_box;
use std::time::{Duration, Instant};
use tw_core::Bits;
use tw_stream_boolean::graph::Graph;
use tw_stream_boolean::{Budget, Limits, Live, Passes, Program, Specification, Word, analyse};
use tw_testkit::Rng;

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

/// The streams of the two look-back workloads: a latch, a toggle, edges, delays and what combines them.
fn look_back(cycle: bool) -> Specification {
    let three = if cycle {
        // A counter of three bits: each depends on the others' last values.
        "c = c[-1|0] ^ x; d = d[-1|0] ^ (c[-1|0] & x); e = e[-1|0] ^ (d[-1|0] & c[-1|0] & x & y)"
    } else {
        "c = c[-1|0] ^ x; d = if y then x else d[-1|1]; e = e[-1|0] & y | c & d[-2|0]"
    };
    spec(&format!(
        "a = x | a[-1|0] & y; b = y & !y[-1|0]; {three}; f = a & !b | c[-3|1]; g = f[-1|0] ^ b[-2|0]; h = if g then a else d"
    ))
}

/// Random bits, the same for every run.
fn bits(rng: &mut Rng, len: usize) -> Bits {
    Bits::from_words((0..len.div_ceil(64)).map(|_| rng.bits()).collect(), len)
}

struct Bench {
    epoch: Instant,
    repeats: usize,
    only: String,
}

impl Bench {
    fn best<T>(&self, mut run: impl FnMut() -> T) -> Duration {
        let start = Instant::now();
        black_box(run());
        // The processor's clock ticks slowly: what is short is repeated until it has.
        let often = (100_000 / start.elapsed().as_micros().max(1)).clamp(1, 5000) as u32;
        let times = (0..self.repeats).map(|_| {
            let start = clock(self.epoch);
            (0..often).for_each(|_| drop(black_box(run())));
            (clock(self.epoch) - start) / often
        });
        times.min().unwrap_or_default()
    }

    fn wants(&self, name: &str) -> bool {
        name.contains(&self.only)
    }
}

fn each(time: Duration, positions: usize) -> f64 {
    time.as_secs_f64() * 1e9 / positions as f64
}

fn quantiles(mut values: Vec<f64>) -> [f64; 3] {
    values.sort_by(f64::total_cmp);
    [values[values.len() / 2], values[values.len() * 9 / 10], values[values.len() - 1]]
}

fn main() {
    let bench = Bench {
        epoch: Instant::now(),
        repeats: number("REPEATS", 5),
        only: std::env::var("ONLY").unwrap_or_default(),
    };
    let (positions, count) = (number("POSITIONS", 10_000_000), number("SPECIFICATIONS", 200));
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    println!("{positions} positions, {count} random specifications, load {}", load.trim());
    let mut rng = Rng::new(1);
    let two = Word { len: positions, columns: vec![bits(&mut rng, positions), bits(&mut rng, positions)] };
    for (name, cycle) in [("look back, words", false), ("look back, a cycle of three bits", true)] {
        if bench.wants(name) {
            let spec = look_back(cycle);
            let program = Program::new(&spec, Passes::Auto).unwrap();
            let time = bench.best(|| program.run(&two, &Limits::default()).unwrap());
            println!("{:>9.3} ns per position  {name} (8 streams)", each(time, positions));
            let some = positions.min(200_000);
            let time = bench.best(|| {
                let mut live = Live::new(&spec).unwrap();
                let mut row = vec![false; spec.outputs().len()];
                (0..some).for_each(|at| {
                    black_box(live.push(&[two.columns[0].get(at), two.columns[1].get(at)], &mut row));
                });
            });
            println!("{:>9.1} ns per event     the same, live", each(time, some));
        }
    }
    if bench.wants("two passes, Example 3") {
        let text = "y = if (first -> (x & y)) & (y -> !y[+1|0]) & (!y -> (x[+1|1] & y[+1|1])) then y else !y";
        let program = Program::new(&spec(text), Passes::Auto).unwrap();
        let odd = Bits::from_words(
            two.columns[0].words().iter().map(|word| word | 0x5555_5555_5555_5555).collect(),
            positions,
        );
        let input = Word { len: positions, columns: vec![odd] };
        let time = bench.best(|| program.run(&input, &Limits::default()).unwrap());
        println!("{:>9.3} ns per position  two passes, Example 3 (both together)", each(time, positions));
    }
    if bench.wants("two passes, random") {
        let mut times = Vec::new();
        let mut seed = 0;
        while times.len() < count && seed < 100_000 {
            seed += 1;
            let mut rng = Rng::new(seed);
            let shape = Shape { inputs: 2, outputs: 8, offset: 1, size: 3, present: 25, observe: false };
            let spec = random(&mut rng, &shape);
            let Ok(program) = Program::new(&spec, Passes::Auto) else { continue };
            // Those with something to do in two passes, on inputs that have one model.
            if !program.reason().starts_with("two passes") || program.run(&two, &Limits::default()).is_err() {
                continue;
            }
            times.push(each(bench.best(|| program.run(&two, &Limits::default()).unwrap()), positions));
        }
        let [median, ninth, worst] = quantiles(times.clone());
        let found = times.len();
        println!(
            "{median:>9.3} ns per position  two passes, random (both together, 8 streams, {found}): median"
        );
        println!("{ninth:>9.3} ns per position  90 of 100 below; worst {worst:.3}");
    }
    for outputs in [8, 12, 16, 24] {
        let name = format!("analysis of {outputs} outputs");
        if bench.wants(&name) {
            let (mut times, mut gave_up, mut seed) = (Vec::new(), 0, 0);
            while times.len() < count {
                seed += 1;
                let mut rng = Rng::new(seed ^ 0xb001);
                let size = number("SIZE", 3);
                let shape = Shape { inputs: 2, outputs, offset: 1, size, present: 40, observe: false };
                let spec = random(&mut rng, &shape);
                // Of well-formed ones there is nothing to find out.
                if Graph::new(&spec).is_well_formed() {
                    continue;
                }
                gave_up += usize::from(analyse(&spec, &Budget::default()).gave_up.is_some());
                times.push(bench.best(|| analyse(&spec, &Budget::default())).as_secs_f64() * 1e3);
            }
            let [median, ninth, worst] = quantiles(times);
            println!(
                "{median:>9.3} ms              {name}: median; 90 of 100 below {ninth:.3}, worst {worst:.3}; {gave_up} gave up"
            );
        }
    }
}

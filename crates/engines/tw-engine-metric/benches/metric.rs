//! How long the metric engine takes, by formula, bound and pace of time: `cargo bench -p tw-engine-metric`.
//!
//! The ten properties of the Timescales benchmark (Ulus) on traces made to satisfy them, in memory, as stored traces or with
//! `LIVE=1` one event after another. `POSITIONS` (one million) and `REPEATS` (20, the best counts) change the run; `ONLY`
//! selects rows whose text contains it, `BOUND` one of the bounds, and `DATA` makes all traces for one bound, as events are
//! rarer the larger it is: two runs that differ in `REPEATS` alone differ by the
//! instructions of the evaluations.

use std::hint::black_box;
use std::time::{Duration, Instant};
use tw_core::{Bits, Time};
use tw_engine_metric::{Each, Metric, Online};
use tw_ir::Clock;
use tw_monitor::{Engine, EvaluateOptions, Stretch, Trace};
use tw_testkit::Rng;
use tw_testkit::texts::formula as formula_of;

/// `{u}` and `{l}` are the bounds. Behind the formula: the trace it is checked on.
const PROPERTIES: [(&str, &str, Kind); 15] = [
    ("AbsentAQ", "G (O[0,{u}] q -> (!p S q))", Kind::Absent),
    ("AbsentBR", "G (r -> H[0,{u}] !p)", Kind::Absent),
    ("AbsentBQR", "G ((r & !q & O q) -> (!p S[{l},{u}] q))", Kind::Absent),
    ("AlwaysAQ", "G (O[0,{u}] q -> (p S q))", Kind::Always),
    ("AlwaysBR", "G (r -> H[0,{u}] p)", Kind::Always),
    ("AlwaysBQR", "G ((r & !q & O q) -> (p S[{l},{u}] q))", Kind::Always),
    ("RecurGLB", "G (O[0,{u}] p)", Kind::Recur),
    ("RecurBQR", "G ((r & !q & O q) -> (O[0,{u}] (p | q) S q))", Kind::Recur),
    ("RespondGLB", "G ((s -> O[{l},{u}] p) & !(!s S[{u},inf) p))", Kind::Respond),
    ("RespondBQR", "G ((r & !q & O q) -> (((s -> O[{l},{u}] p) & !(!s S[{u},inf) p)) S q))", Kind::Respond),
    ("random", "G ((s -> O[{l},{u}] p) & !(!s S[{u},inf) p))", Kind::Random),
    ("random S", "G (p S[{l},{u}] q)", Kind::Random),
    ("random U", "G (p U[{l},{u}] q)", Kind::Random),
    ("future F", "G (p -> F[{l},{u}] s)", Kind::Respond),
    ("future U", "G (p -> (!r U[{l},{u}] s) & G[0,{l}] !s)", Kind::Respond),
];

/// What p, q, r and s do.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// Phases from q to r of l to u positions, without p.
    Absent,
    /// The same with p throughout.
    Always,
    /// p at least every u.
    Recur,
    /// p answered by s within l to u.
    Respond,
    /// Each half of the time.
    Random,
}

/// How timestamps follow each other.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    /// Not looked at: bounds count positions.
    Index,
    /// One second each.
    Even,
    /// 0, 1 or 2 seconds, one on average.
    Uneven,
}

/// The columns p, q, r, s. Events are made in seconds and put at the first position that is not earlier, so that bounds
/// are kept with a second or two to spare.
fn columns(kind: Kind, times: &[Time], u: usize, rng: &mut Rng) -> [Bits; 4] {
    const P: usize = 0;
    const Q: usize = 1;
    const R: usize = 2;
    const S: usize = 3;
    let len = times.len();
    let at = |second: usize| times.partition_point(|&time| time < second as Time * 1_000_000_000);
    let end = (times[len - 1] / 1_000_000_000) as usize;
    let mut columns = [(); 4].map(|()| Bits::repeat(false, len));
    if kind == Kind::Random {
        let mut word = || rng.bits();
        return columns.map(|_| Bits::from_words((0..len.div_ceil(64)).map(|_| word()).collect(), len));
    }
    let l = u * 3 / 10;
    let mut now = 0;
    while now <= end {
        let answer = now + l + 2 + rng.below(u - l - 3);
        let mut put = |column: usize, second: usize| {
            let at = at(second);
            if at < len {
                columns[column].set(at, true);
            }
        };
        match kind {
            Kind::Absent => {
                put(Q, now);
                put(R, answer);
                put(P, now + u + 3 + rng.below(u));
                now += 4 * u + rng.below(u);
            }
            Kind::Always => {
                put(Q, now);
                put(R, answer);
                for at in at(now.saturating_sub(u + 2))..at(now + u + 2) {
                    columns[P].set(at, true);
                }
                now += 4 * u + rng.below(u);
            }
            Kind::Recur => {
                put(P, now);
                if rng.below(8) == 0 {
                    put(Q, now + 1);
                    put(R, answer + 2 * u);
                }
                now = answer;
            }
            Kind::Respond => {
                put(P, now);
                put(S, answer);
                if rng.below(4) == 0 {
                    put(Q, now);
                    put(R, answer + 1);
                }
                now += u + 3 + rng.below(u);
            }
            Kind::Random => return columns,
        }
    }
    columns
}

fn times(step: Step, len: usize, rng: &mut Rng) -> Vec<Time> {
    let mut now = 0;
    let mut times = Vec::with_capacity(len);
    for _ in 0..len {
        times.push(now * 1_000_000_000);
        now += match step {
            Step::Index | Step::Even => 1,
            Step::Uneven => rng.below(3) as Time,
        };
    }
    times
}

fn number(name: &str) -> Option<usize> {
    std::env::var(name).ok()?.replace('_', "").parse().ok()
}

/// Takes one event after another, and counts violations.
fn stream(mut online: Online, trace: &Trace, stretch: &Stretch) -> usize {
    let mut violations = 0;
    for at in 0..trace.len {
        online.step(trace.times.as_ref().map(|times| times[at]), stretch.row(at)).expect("a step");
        while let Some((_, holds)) = online.next_settled(0) {
            violations += usize::from(!holds);
        }
    }
    violations
}

fn main() {
    let len = number("POSITIONS").unwrap_or(1_000_000);
    let repeats = number("REPEATS").unwrap_or(20);
    let live = number("LIVE").is_some();
    let only = std::env::var("ONLY").unwrap_or_default();
    println!("{len} positions, ns per position at u = 10, 100, 1000 (violations)");
    for step in [Step::Index, Step::Even, Step::Uneven] {
        for (name, formula, kind) in PROPERTIES {
            let row = format!("{name:12} {step:?}");
            if !row.contains(&only) {
                continue;
            }
            print!("{row:20}");
            for u in [10, 100, 1000].into_iter().filter(|&u| number("BOUND").is_none_or(|bound| bound == u)) {
                let mut rng = Rng::new(7);
                let times = times(step, len, &mut rng);
                let columns = columns(kind, &times, number("DATA").unwrap_or(u), &mut rng);
                let text = formula.replace("{u}", &u.to_string()).replace("{l}", &(u * 3 / 10).to_string());
                let program = formula_of(&text);
                let atoms = program.atoms().into_iter().map(|id| {
                    let name = tw_ir::display(&program, id);
                    columns[["p", "q", "r", "s"].iter().position(|&known| known == name).expect("an atom")]
                        .clone()
                });
                let trace = Trace { len, atoms: atoms.collect(), times: Some(times), ..Trace::default() };
                let clock = if step == Step::Index { Clock::Index } else { Clock::Stamps };
                let options = EvaluateOptions { clock, ..EvaluateOptions::default() };
                let mut evaluator = Metric.plan(&program, &options).expect("a metric formula");
                let online = Online::new(&program, &options, Each::Body).expect("a metric formula");
                let stretch = Stretch::new(&trace.atoms, 0, len);
                let (mut best, mut violations) = (Duration::MAX, 0);
                for _ in 0..repeats {
                    let start = Instant::now();
                    violations = match live {
                        true => stream(online.clone(), black_box(&trace), &stretch),
                        false => {
                            evaluator.evaluate(black_box(&trace), 10).expect("an answer")[0].violation_count
                        }
                    };
                    best = best.min(start.elapsed());
                }
                print!(" {:8.3} ({violations})", best.as_nanos() as f64 / len as f64);
            }
            println!();
        }
    }
}

//! Classes of many traces in memory, and of one long one: `cargo bench -p tw-classify --bench classes`. Processor time of one
//! thread, best of several; arguments choose workloads by a part of their name.

use std::time::{Duration, Instant};
use tw_classify::{Formula, Plan, Rules, Scan, Timing};
use tw_core::Bits;
use tw_engine_columnar::Columnar;
use tw_ir::Program;
use tw_monitor::{Engine, EvaluateOptions, Segments, Trace};

fn lowered(text: &str) -> Program {
    let parsed = tw_spec::parse_formula(text, 0);
    tw_spec::lower(&parsed.value, &tw_spec::LowerOptions::default()).value
}

/// Pseudo-random bits, one of `one_in` set; the last `quiet` positions of every trace have none.
fn bits(len: usize, seed: u64, one_in: u64, each: usize, quiet: usize) -> Bits {
    let mut state = seed | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mut bits: Bits = (0..len).map(|_| next().is_multiple_of(one_in)).collect();
    for end in (each..=len).step_by(each) {
        (end - quiet.min(each)..end).for_each(|at| bits.set(at, false));
    }
    bits
}

struct Work {
    name: &'static str,
    formula: &'static str,
    rules: &'static str,
    /// One position in so many has the proposition; by proposition.
    dense: [u64; 3],
    /// Positions at the end of each trace where the last proposition does not hold.
    quiet: usize,
    traces: usize,
    each: usize,
}

/// Processor time of this thread.
fn used() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|first| first.parse().ok()).map_or(Duration::ZERO, Duration::from_nanos)
}

fn run(work: &Work) {
    let program = lowered(work.formula);
    let len = work.traces * work.each;
    let atoms = program.atoms();
    let mut columns = Vec::new();
    for &atom in &atoms {
        let which = match tw_ir::display(&program, atom).as_str() {
            "a" => 0,
            "b" => 1,
            _ => 2,
        };
        let quiet = if which + 1 == atoms.len() { work.quiet } else { 0 };
        columns.push(bits(len, 77 + which as u64, work.dense[which], work.each, quiet));
    }
    let segments = (work.traces > 1).then(|| Segments { starts: (0..len).step_by(work.each).collect() });
    let trace = Trace { len, atoms: columns, segments, ..Trace::default() };
    let options = EvaluateOptions { threads: 1, ..EvaluateOptions::default() };
    let (mut best, mut engine, mut classes) = (Duration::MAX, Duration::MAX, 0);
    for _ in 0..5 {
        // The clock of threads goes on in steps of milliseconds: what is shorter is done more than once.
        let rounds = if work.traces == 1 { 8 } else { 1 };
        let (before, wall) = (used(), Instant::now());
        for _ in 1..rounds {
            once(&program, &trace, &options, work);
        }
        let (evaluated, found) = once(&program, &trace, &options, work);
        let whole = if before.is_zero() { wall.elapsed() } else { used() - before };
        (best, engine, classes) = (best.min(whole / rounds), engine.min(evaluated), found);
    }
    println!(
        "{:<34} {:<26} {:>9.2} ms  (columns {:>8.2} ms, {} classes)",
        work.name,
        work.formula,
        best.as_secs_f64() * 1e3,
        engine.as_secs_f64() * 1e3,
        classes
    );
}

/// The whole way once; how long the columns took, and how many classes there are.
fn once(program: &Program, trace: &Trace, options: &EvaluateOptions, work: &Work) -> (Duration, usize) {
    let started = Instant::now();
    let formula = Formula::new(program, program.roots[0].node, &|_| Vec::new()).expect("a formula");
    let plan = Plan::new(&formula, Rules::parse(work.rules).expect("rules")).expect("a plan");
    let mut own = program.clone();
    let lifted = plan.lifted(&mut own);
    let mut evaluator = Columnar.plan(&own, options).expect("an evaluator");
    let answer = evaluator.columns(trace, &lifted.nodes).expect("columns");
    let columns = lifted.columns(&answer);
    let evaluated = started.elapsed();
    let mut scan = Scan::new(&plan, &columns, Timing::default());
    let mut seen = std::collections::HashSet::new();
    for segment in 0..trace.starts().len() {
        seen.insert(scan.class(trace.starts()[segment], trace.segment_end(segment)).name);
    }
    (evaluated, seen.len())
}

fn main() {
    let wanted: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let many = Work {
        name: "keys, next",
        formula: "G (a -> X b)",
        rules: "fail-fast,polarity",
        dense: [50, 2, 2],
        quiet: 0,
        traces: 100_000,
        each: 1_000,
    };
    let long = Work { name: "one, next", traces: 1, each: 10_000_000, ..many };
    let nested = "G (a -> F (b & F c))";
    let all = [
        Work { name: "keys, next, failing late", dense: [50, 1, 2], ..many },
        Work { name: "keys, eventually", formula: "G (a -> F b)", dense: [3, 100, 2], quiet: 300, ..many },
        Work { name: "keys, nested", formula: nested, dense: [20, 20, 100], quiet: 100, ..many },
        Work { name: "keys, nested, many open", formula: nested, dense: [3, 3, 100], quiet: 500, ..many },
        Work { name: "keys, fail-fast alone", rules: "fail-fast", ..many },
        many,
        Work { name: "one, eventually", formula: "G (a -> F b)", dense: [3, 100, 2], quiet: 300, ..long },
        Work { name: "one, nested, all open", formula: nested, dense: [2, 2, 2], quiet: 10_000_000, ..long },
        Work {
            name: "one, eventually, all kept",
            formula: "G (a -> F b)",
            rules: "none",
            dense: [2, 5, 2],
            ..long
        },
        Work { name: "one, past", formula: "G (a -> O b)", rules: "none", dense: [2, 5, 2], ..long },
        long,
    ];
    for work in all
        .iter()
        .filter(|work| wanted.is_empty() || wanted.iter().any(|own| work.name.contains(own.as_str())))
    {
        run(work);
    }
}

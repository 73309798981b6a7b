//! How long the forward engine takes and what it keeps, by query: `cargo bench -p tw-query-forward`.
//!
//! `POSITIONS` (20 million), `CHUNK` (4096 positions per push) and `REPEATS` (3, the best counts) change the run; `ONLY`
//! selects queries whose text contains it.

#[path = "../tests/common/mod.rs"]
mod common;

use common::{ABP, MUX, Table, abp_table, mux_table, part, program};
use std::hint::black_box;
use std::time::{Duration, Instant};
use tw_core::{Bits, Value};
use tw_monitor::{EvaluateOptions, QueryEngine, Term};
use tw_query_forward::Forward;

const PLAIN: [&str; 14] = [
    "count[p]",
    "sum[x]",
    "max[x]",
    "avg[p : x]",
    "var[x]",
    "sum[y]",
    "max[count[p while q]]",
    "avg[count[p while q]]",
    "max[sum[x while q]]",
    "max[max[x while q]]",
    "avg[max[x while q]]",
    "count[p U q]",
    "count[F p & O q]",
    "sum[p U{v => v} (q : x)]",
];

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

fn main() {
    let epoch = Instant::now();
    let (positions, chunk) = (number("POSITIONS", 20_000_000), number("CHUNK", 4096));
    let (repeats, only) = (number("REPEATS", 3), std::env::var("ONLY").unwrap_or_default());
    let len = 1 << 20;
    let mut rng = tw_testkit::Rng::new(1);
    let mut bits = |one_in: usize| (0..len).map(|_| rng.one_in(one_in)).collect::<Vec<bool>>();
    let plain = Table::default()
        .truth("p", bits(3))
        .truth("q", bits(2))
        .ints("x", (0..len as i64).map(|at| at * 7919 % 1000 - 500))
        .any("y", (0..len).map(|at| Value::Real((at % 1000) as f64 * 0.1)));
    let tables = [(&plain, &PLAIN[..]), (&mux_table(len, 1), &MUX[..]), (&abp_table(len, 20, 1), &ABP[..])];
    println!(
        "{:>9} {:>10} {:>12}  query ({positions} positions in chunks of {chunk})",
        "ns/pos", "pending B", "values() ns"
    );
    for (table, queries) in tables {
        for query in queries.iter().filter(|query| query.contains(&only)) {
            let program = program(&[query]);
            let trace = table.trace(&program);
            let chunks: Vec<(Vec<Bits>, Vec<Term>)> =
                (0..len).step_by(chunk).map(|from| part(&trace, from, len.min(from + chunk))).collect();
            let (mut best, mut pending, mut asked) = (Duration::MAX, 0, Duration::MAX);
            for _ in 0..repeats {
                let mut monitor = Forward.monitor(&program, &EvaluateOptions::default()).unwrap();
                let start = clock(epoch);
                for (atoms, terms) in chunks.iter().cycle() {
                    let len = atoms.first().map_or_else(|| terms[0].column.len(), Bits::len);
                    monitor.push(&tw_monitor::Positions { len, atoms, terms, ..Default::default() }).unwrap();
                    pending = pending.max(monitor.pending_bytes());
                    if monitor.position() >= positions {
                        break;
                    }
                }
                best = best.min(clock(epoch) - start);
                let start = clock(epoch);
                for _ in 0..20_000 {
                    black_box(monitor.values().unwrap());
                }
                asked = asked.min((clock(epoch) - start) / 20_000);
            }
            let each = best.as_secs_f64() * 1e9 / positions as f64;
            println!("{each:>9.3} {pending:>10} {:>12}  {query}", asked.as_nanos());
        }
    }
}

//! Reading event patterns with variables: nanoseconds per event, on one thread, tuples appended as a run appends them.
//!
//! `cargo bench -p tw-trace --bench tuples [-- EVENTS [PART]]`: logs of so many events each (default a million), in memory;
//! only those with PART in their name.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};
use tw_core::{Batch, Column, GrowingTexts, Relation};
use tw_ir::{ArgumentKey, Slot, What};
use tw_trace::formats::{events::Events, monpoly::Monpoly};
use tw_trace::{Input, Projection, ReadOptions, TraceFormat, scan};

const ROUNDS: usize = 9;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let events = arguments.first().and_then(|events| events.parse().ok()).unwrap_or(1_000_000);
    println!("{:<44} {:>8} {:>12} {:>10}", "log", "MB", "ns/event", "GB/s");
    let salted = |at: u64, below: u64| (at.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33) % below;
    // Name, format, what is asked for, the text of an event (and of what stands before it).
    type Text<'l> = &'l dyn Fn(u64) -> String;
    type Case<'l> = (&'l str, &'l dyn TraceFormat, &'l [(&'l str, usize)], bool, Text<'l>);
    let cases: [Case<'_>; 7] = [
        ("monpoly, 5,000 ints", &Monpoly, &[("publish", 1), ("approve", 1)], false, &|at| {
            let name = if salted(at, 2) == 0 { "publish" } else { "approve" };
            format!("@{} {name} ({})\n", at / 10, salted(at, 5000))
        }),
        ("monpoly, 5,000 texts", &Monpoly, &[("login", 1), ("logout", 1)], false, &|at| {
            let name = if salted(at, 2) == 0 { "login" } else { "logout" };
            format!("@{} {name} (user{})\n", at / 10, salted(at, 5000))
        }),
        ("monpoly, two long texts in quotes", &Monpoly, &[("send", 2)], false, &|at| {
            let host = |salt: u64| salted(at + salt, 500);
            format!("@{} send (\"host-{}.example\",\"host-{}.example\")\n", at / 10, host(0), host(7))
        }),
        ("monpoly, 337 events at a position", &Monpoly, &[("alive", 1), ("net", 1)], false, &|at| match at
            % 337
        {
            0 => format!("{}@{} alive (c{})", if at > 0 { "\n" } else { "" }, at / 337, salted(at, 900)),
            300 => format!(" net (c{})", salted(at, 900)),
            _ => format!(" (c{})", salted(at, 900)),
        }),
        ("monpoly, truth of one name", &Monpoly, &[("publish", 0)], false, &|at| {
            let name = if salted(at, 2) == 0 { "publish" } else { "approve" };
            format!("@{} {name} ({})\n", at / 10, salted(at, 5000))
        }),
        ("events, 5,000 texts", &Events, &[("open", 1), ("close", 1)], false, &|at| {
            let name = if salted(at, 2) == 0 { "open" } else { "close" };
            format!("{name},f{}\n", salted(at, 5000))
        }),
        ("events, text and int, timed", &Events, &[("access", 2)], true, &|at| {
            format!("access,u{},{},{}\n", salted(at, 500), salted(at + 3, 5000), at / 10)
        }),
    ];
    let begun = Instant::now();
    let part = arguments.get(1).map_or("", String::as_str);
    for (name, format, patterns, timed, text) in cases.into_iter().filter(|case| case.0.contains(part)) {
        let log: String = (0..events).map(text).collect();
        let options = ReadOptions { threads: 1, timed, ..ReadOptions::default() };
        let bytes = log.len();
        let input = Input::from_bytes("log", log.as_bytes());
        let projection = Projection::new(&slots(patterns), None, true);
        let mut best = Duration::MAX;
        for _ in 0..ROUNDS {
            let start = now(begun);
            read(&input, format, &projection, &options);
            best = best.min(now(begun) - start);
        }
        let seconds = best.as_secs_f64();
        let (each, rate) = (seconds * 1e9 / events as f64, bytes as f64 / seconds / 1e9);
        println!("{name:<44} {:>8.1} {each:>12.1} {rate:>10.2}", bytes as f64 / 1e6);
    }
}

/// Time that this thread has run, where the system tells, so that others on the machine do not count; else time.
fn now(begun: Instant) -> Duration {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let ran = told.and_then(|told| told.split(' ').next()?.parse().ok());
    ran.map_or_else(|| begun.elapsed(), Duration::from_nanos)
}

/// Patterns with as many variables; without any, whether the event happens.
fn slots(patterns: &[(&str, usize)]) -> Vec<Slot> {
    let what = |&(name, arity): &(&str, usize)| match arity {
        0 => What::Event { name: name.into(), arguments: Vec::new(), arity: None },
        _ => What::Tuples {
            name: name.into(),
            constants: Vec::new(),
            arity: Some(arity),
            arguments: (0..arity).map(ArgumentKey::Index).collect(),
        },
    };
    patterns
        .iter()
        .map(|pattern| Slot { what: what(pattern), declared: false, span: Default::default() })
        .collect()
}

/// What a run does: the relations of the whole trace, put together.
fn read(input: &Input, format: &dyn TraceFormat, projection: &Projection, options: &ReadOptions) {
    let mut relations: Vec<(Relation, Vec<GrowingTexts>)> = Vec::new();
    let mut others = 0;
    let mut times = Vec::new();
    let mut fold = |batch: Batch| {
        relations.resize_with(batch.slots.len(), Default::default);
        times.extend(batch.times.into_iter().flatten());
        for ((relation, texts), slot) in relations.iter_mut().zip(batch.slots) {
            match slot {
                Column::Tuples(more) => relation.append_with(texts, more),
                other => others += other.len(),
            }
        }
        Ok(ControlFlow::Continue(()))
    };
    let summary = scan(input, format, projection, options, &Ok, &mut fold);
    let summary = summary.expect("the log is right");
    std::hint::black_box((&relations, &times, others, summary.positions));
}

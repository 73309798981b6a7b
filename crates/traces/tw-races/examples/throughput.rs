//! Events per second (of processor time) of the analysis alone, and of reading a trace with it.
//!
//! ```sh
//! cargo run --release -p tw-races --example throughput [EVENTS]
//! ```

use std::fmt::Write as _;
use std::time::{Duration, Instant};
use tw_races::{Access, Action, Analysis, Fields, Limits, Place};
use tw_trace::{Input, ReadOptions, formats};

const THREADS: u64 = 16;
const LOCKS: u64 = 64;
const VARIABLES: u64 = 4096;

/// Critical sections under one or two locks with four accesses each, to variables that belong to the first lock.
fn events(count: usize) -> Vec<(String, Action, String)> {
    let mut random = 1u64;
    let mut below = |bound: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % bound
    };
    let mut events = Vec::with_capacity(count + 8);
    while events.len() < count {
        let (thread, outer) = (format!("worker-{}", below(THREADS)), below(LOCKS));
        let mut push = |action, object| events.push((thread.clone(), action, object));
        let inner = below(4) == 0 && outer + 1 < LOCKS;
        push(Action::Lock, format!("lock{outer}"));
        if inner {
            push(Action::Lock, format!("lock{}", outer + 1));
        }
        for _ in 0..4 {
            let variable = below(VARIABLES / LOCKS) * LOCKS + outer;
            let action = if below(3) == 0 { Action::Write } else { Action::Read };
            push(action, format!("variable{variable}"));
        }
        if inner {
            push(Action::Unlock, format!("lock{}", outer + 1));
        }
        push(Action::Unlock, format!("lock{outer}"));
    }
    events
}

/// Time spent on the processor by this thread, where the system tells; the time of day elsewhere.
fn clock(start: Instant) -> Duration {
    let spent = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let spent = spent.as_deref().and_then(|text| text.split(' ').next()?.parse().ok());
    spent.map_or_else(|| start.elapsed(), Duration::from_nanos)
}

fn main() {
    let start = Instant::now();
    let count = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(4_000_000);
    let events = events(count);
    let rate = |started: Duration| events.len() as f64 / (clock(start) - started).as_secs_f64() / 1e6;

    let started = clock(start);
    let mut analysis = Analysis::new();
    for (position, (thread, action, object)) in (0..).zip(&events) {
        let access = Access { thread, action: *action, object };
        analysis.event(&access, Place { position, line: position + 1 }).expect("within the limits");
    }
    let report = analysis.finish();
    println!("analysis: {:.1} million events/s ({:?})", rate(started), report.seen);
    assert!(report.races.is_empty() && report.deadlocks.is_empty());

    let mut text = String::new();
    for (thread, action, object) in &events {
        let _ = writeln!(text, "{},{thread},{object}", action.as_str());
    }
    let input = Input::from_bytes("memory", text.into_bytes());
    let started = clock(start);
    let options = ReadOptions::default();
    let fields = Fields::default();
    let report = tw_races::read(&input, &formats::events::Events, &options, &fields, Limits::default());
    println!("from text: {:.1} million events/s", rate(started));
    assert!(report.is_ok_and(|report| report.races.is_empty()));
}

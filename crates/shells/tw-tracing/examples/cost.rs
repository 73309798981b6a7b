//! What the layer costs per event, in processor time (of the whole program, on the clock, where threads compete).
//!
//! ```sh
//! cargo run --release -p tw-tracing --example cost
//! ```

use std::io;
use std::time::{Duration, Instant};
use tracewise::Specification;
use tracing::{info, info_span};
use tracing_subscriber::prelude::*;
use tw_tracing::Builder;

const EVENTS: u32 = 300_000;

/// Time spent on the processor by this thread, where the system tells; the time of day elsewhere.
fn clock(start: Instant) -> Duration {
    let spent = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let spent = spent.as_deref().and_then(|text| text.split(' ').next()?.parse().ok());
    spent.map_or_else(|| start.elapsed(), Duration::from_nanos)
}

fn measure(what: &str, builder: Option<Builder>, log: impl Fn(u32)) {
    let measured = || {
        (0..EVENTS / 10).for_each(&log);
        let start = Instant::now();
        let started = clock(start);
        (0..EVENTS).for_each(&log);
        let spent = clock(start) - started;
        println!("{:>6.0} ns  {what}", spent.as_nanos() as f64 / f64::from(EVENTS));
    };
    let registry = tracing_subscriber::registry();
    match builder.map(Builder::build) {
        None => tracing::subscriber::with_default(registry, measured),
        Some((layer, _guard)) => tracing::subscriber::with_default(registry.with(layer), measured),
    }
}

fn main() -> Result<(), tracewise::Error> {
    let spec = Specification::from_text(
        "cost.tw",
        "property solvent : G (withdraw -> balance >= 0);
         property checked : G (withdraw -> !unlock S check);
         property answered : G (request -> F request_end);",
    )?;
    let checked = || tw_tracing::builder().check(&spec).map(|builder| builder.on_violation(|_| {}));
    measure("without a layer, an event", None, |n| info!(balance = n, "withdraw"));
    measure("without a layer, a span", None, |n| drop(info_span!("request", n)));
    measure("an event that cannot matter, by its callsite", Some(checked()?), |n| info!(name: "other", n));
    measure("an event that does not matter, by its message", Some(checked()?), |n| info!(n, "it rains"));
    measure("an event that is checked", Some(checked()?), |n| info!(balance = n, "withdraw"));
    measure("a span that cannot matter", Some(checked()?), |n| drop(info_span!("other", n)));
    measure("a span that is checked, made and closed", Some(checked()?), |n| drop(info_span!("request", n)));
    let written = tw_tracing::builder().write_to(io::sink());
    measure("an event that is written", Some(written), |n| info!(balance = n, "withdraw"));

    let (layer, guard) = checked()?.build();
    let shared = tracing::Dispatch::new(tracing_subscriber::registry().with(layer));
    let started = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                tracing::dispatcher::with_default(&shared, || {
                    (0..EVENTS / 4).for_each(|n| info!(balance = n, "withdraw"));
                });
            });
        }
    });
    let each = started.elapsed().as_nanos() as f64 / f64::from(EVENTS);
    println!("{each:>6.0} ns  an event that is checked, from four threads at once");
    guard.finish().map(drop)
}

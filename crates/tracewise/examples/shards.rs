//! A log divided among threads by a key, with properties and queries per key.
//!
//! `cargo run -p tracewise --example shards`

use tracewise::live::{Known, Plan, PlanOptions, Row, ShardMonitor};
use tracewise::{Error, Specification, Time, Value};

const SECOND: Time = 1_000_000_000;

/// Orders of two users: when, what, whose.
const LOG: [(Time, &str, &str); 5] =
    [(0, "order", "ann"), (1, "order", "bob"), (3, "pay", "ann"), (4, "order", "ann"), (9, "look", "bob")];

/// What one shard is given of the log.
fn shard(plan: &Plan, number: usize, shards: usize) -> Result<ShardMonitor, Error> {
    let mut monitor = ShardMonitor::new(plan, Some("user"))?;
    for (time, event, user) in LOG {
        if user.bytes().map(usize::from).sum::<usize>() % shards != number {
            continue;
        }
        let values = [("user", Value::Str(user.into()))];
        let row = Row { time: Some(time * SECOND), event: Some(event), values: &values };
        monitor.feed_rows(&[row], &mut |outcome| {
            let (key, verdict) = (outcome.key.unwrap_or_default(), outcome.verdict.as_str());
            println!("{key}: {} is {verdict} at position {}", outcome.name, outcome.position);
        })?;
    }
    // The other shards may have read further: time has passed for these keys, too.
    monitor.watermark(10 * SECOND, &mut |outcome| {
        println!("{}: {} is overdue", outcome.key.unwrap_or_default(), outcome.name);
    })?;
    Ok(monitor)
}

fn main() -> Result<(), Error> {
    let spec = Specification::from_text(
        "orders.tw",
        "property paid : G (order -> F[0,5s] pay);
         property looks : F look;
         query orders : count[order];",
    )?;
    let plan = Plan::new(&spec, &PlanOptions::default())?;
    for property in plan.properties() {
        println!("{}: {} ({})", property.name, property.engine, property.reason);
    }
    let shards = std::thread::scope(|scope| {
        let plan = &plan;
        let running: Vec<_> = (0..2).map(|number| scope.spawn(move || shard(plan, number, 2))).collect();
        running.into_iter().map(|shard| shard.join().expect("no panic")).collect::<Result<Vec<_>, Error>>()
    })?;
    for mut monitor in shards {
        // Another process goes on where this one stopped.
        let saved = monitor.snapshot();
        let mut monitor = ShardMonitor::new(&plan, Some("user"))?;
        let restored = monitor.restore(&saved)?;
        assert_eq!(restored.kept.len(), plan.properties().len());
        monitor.finish(&mut |end| match end.known {
            Known::Truth(holds) => println!("{:?}: {} is {holds}", end.key, end.name),
            known => println!("{:?}: {} is {known:?}", end.key, end.name),
        })?;
    }
    Ok(())
}

//! What ten properties cost per event, fed from code: `cargo run --release -p tracewise --example slots`.
//!
//! Rows are filled beforehand, as a program would have its propositions at hand; measured is `RowMonitor::push`.

use std::time::Instant;
use tracewise::embed::{Row, RowMonitor};
use tracewise::{Error, Specification};

const SPECIFICATION: &str = "
    property p0 : G (a -> F b);
    property p1 : G F c;
    property p2 : G (d -> (e R f) | F g);
    property p3 : G (h -> X (i | F j));
    property p4 : F G k;
    property p5 : G (a & !b -> F (c | l));
    property p6 : G (l -> Y a | F a);
    property p7 : F (G c | G d & F e);
    property p8 : G ((b S c) -> F d);
    property p9 : G (e -> F (f & X F g));
";

fn main() -> Result<(), Error> {
    let spec = Specification::from_text("ten.tw", SPECIFICATION)?;
    let mut monitor = RowMonitor::new(&spec)?;
    let slots = monitor.names().iter().map(|name| monitor.slot(name)).collect::<Result<Vec<_>, _>>()?;
    let mut rng = tw_testkit::Rng::new(7);
    let rows: Vec<Row> = (0..4096)
        .map(|_| {
            let mut row = monitor.row();
            slots.iter().for_each(|&slot| row.set(slot, rng.one_in(8)));
            row
        })
        .collect();
    let (rounds, mut best) = (5_000, f64::INFINITY);
    let started = Instant::now();
    for _ in 0..rounds {
        let round = Instant::now();
        for row in &rows {
            monitor.push(row)?;
        }
        best = best.min(round.elapsed().as_secs_f64());
    }
    let events = (rounds * rows.len()) as f64;
    let mean = started.elapsed().as_secs_f64() / events;
    println!("engine {}, {} properties, {events} events", monitor.engine(), spec.program.roots.len());
    println!("{:.1} ns per event, best round {:.1}", mean * 1e9, best * 1e9 / rows.len() as f64);
    println!("open: {}", monitor.verdicts().iter().filter(|verdict| verdict.is_none()).count());
    Ok(())
}

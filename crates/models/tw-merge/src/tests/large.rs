//! Sizes at which time and memory show. Run with `cargo test --release -p tw-merge -- --ignored --nocapture`.

use super::names;
use crate::{Ends, Keep, Limits, Merger};
use std::time::Instant;
use tw_testkit::Rng;

/// Traces whose state changes as a random walk over `names` states does, or at random.
fn traces(traces: usize, length: usize, names: usize, walk: bool) -> Vec<Vec<u32>> {
    let mut rng = Rng::new(1);
    (0..traces)
        .map(|_| {
            let mut name = rng.below(names);
            let mut step = || {
                let bits = rng.bits();
                name = match bits % 4 {
                    _ if !walk => (bits % names as u64) as usize,
                    0 => (name + 1) % names,
                    1 => (name + names - 1) % names,
                    _ => name,
                };
                name as u32
            };
            (0..length).map(|_| step()).collect()
        })
        .collect()
}

fn measure(keep: Keep, traces: &[Vec<u32>], count: usize) -> (usize, usize) {
    let start = Instant::now();
    let mut merger = Merger::new(keep, Limits::default());
    for (index, trace) in (0u32..).zip(traces) {
        merger.begin(index);
        for block in trace.chunks(1 << 16) {
            merger.extend(block).expect("within limits");
        }
        merger.end();
    }
    let read = start.elapsed();
    let model =
        merger.finish(names(count), Ends::Dead, vec![String::new(); traces.len()]).expect("within limits");
    let (states, edges) = (model.states(), model.graph.edges());
    println!(
        "{keep:>9}: {count} names, {states} states, {edges} edges: {read:.0?} + {:.0?}",
        start.elapsed() - read
    );
    (states, edges)
}

#[test]
#[ignore = "takes seconds and a gigabyte"]
fn ten_million_events() {
    let keeps = [Keep::Time, Keep::State, Keep::Change, Keep::History(2), Keep::Tree];
    for (count, walk) in [(6, true), (20, true), (6, false), (20, false)] {
        let traces = traces(1_000, 10_000, count, walk);
        for keep in keeps {
            let (states, edges) = measure(keep, &traces, count);
            assert!(states > 0 && edges + 1_000 >= states, "{keep}");
        }
    }
    for (shape, count) in [((1_000, 10_000), 1_000_000), ((1, 10_000_000), 6)] {
        let traces = traces(shape.0, shape.1, count, false);
        for keep in keeps {
            measure(keep, &traces, count);
        }
    }
}

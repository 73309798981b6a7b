//! A fictitious economy of six states: rules of our own that give the verdicts of the paper's case study. The sizes were
//! computed by an independent program.

use super::merge;
use crate::{Ends, Keep};

struct Random(u64);

impl Random {
    fn next(&mut self, bound: i64) -> i64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as i64 % bound
    }
}

/// 0 and 1: growth, 2 and 3: depression, 4: stagnation, 5: other.
fn classify(inflation: i64, activity: i64, living: i64) -> u32 {
    match activity {
        20.. => u32::from(!(inflation <= 40 && living >= 55)),
        ..=-20 => 2 + u32::from(!(inflation >= 60 && living <= 45)),
        -5..=5 => 4,
        _ => 5,
    }
}

fn economy(seed: u64, traces: usize, length: usize) -> Vec<Vec<u32>> {
    let mut random = Random(seed);
    let mut trace = || {
        let mut inflation = 20 + random.next(41);
        let mut activity = random.next(61) - 30;
        let mut living = 30 + random.next(41);
        let mut step = || {
            let state = classify(inflation, activity, living);
            let pull = -activity.signum() - if inflation > 60 { 2 } else { 0 };
            activity = (activity + random.next(21) - 10 + pull).clamp(-60, 60);
            let heat = i64::from(activity > 20) - i64::from(activity < -20);
            inflation = (inflation + random.next(11) - 5 + heat).clamp(0, 100);
            living = (living + activity.signum() + random.next(5) - 2).clamp(0, 100);
            state
        };
        (0..length).map(|_| step()).collect()
    };
    (0..traces).map(|_| trace()).collect()
}

#[test]
fn sizes_of_the_merged_economies() {
    let sizes = |keep, traces: &[Vec<u32>]| {
        // Loops at dead ends are counted in the first of the three only.
        let ends = if keep == Keep::Time { Ends::Dead } else { Ends::Nothing };
        let model = merge(keep, ends, traces);
        (model.states(), model.graph.edges(), model.initial.len())
    };
    let expected = [
        (1, (596, 1538, 5), (546, 2677), (6, 20)),
        (2, (589, 1540, 6), (542, 2706), (6, 20)),
        (3, (600, 1536, 6), (535, 2699), (6, 20)),
    ];
    for (seed, time, change, state) in expected {
        let traces = economy(seed, 200, 100);
        assert_eq!(sizes(Keep::Time, &traces), time, "seed {seed}");
        let (states, edges, _) = sizes(Keep::Change, &traces);
        assert_eq!((states, edges), change, "seed {seed}");
        let (states, edges, _) = sizes(Keep::State, &traces);
        assert_eq!((states, edges), state, "seed {seed}");
    }
}

//! Signals that hold from sample to sample, in continuous time, from the definition.
//!
//! Samples and interval ends are whole ticks, so every signal is constant on each instant k and on each stretch between k and
//! k + 1. Suprema are taken over quarters of ticks: as t is a tick or a half, each stretch has a quarter before, at and
//! after the end of any interval that lies in it. Infima are taken over everything that lies between, not over quarters.

use tw_engine_robust::{Robust, Samples};
use tw_ir::{Bound, NodeId, Program};

/// The quarter at which a cell is looked at: cell 2k is the instant k, cell 2k + 1 the stretch after it.
fn quarter(cell: usize) -> i64 {
    2 * cell as i64
}

/// The cell that a quarter lies in.
fn cell(quarter: i64) -> usize {
    (quarter.div_euclid(4) * 2 + i64::from(quarter.rem_euclid(4) > 0)) as usize
}

pub struct Definition<'d> {
    pub robust: &'d Robust,
    pub program: &'d Program,
    pub samples: &'d Samples<'d>,
}

impl Definition<'_> {
    fn cells(&self) -> usize {
        let times = self.samples.times.as_ref().unwrap();
        2 * (times[self.samples.len - 1] - times[0]) as usize + 1
    }

    /// What a formula is worth in each cell.
    pub fn of(&self, id: NodeId) -> Vec<f64> {
        let (count, times) = (self.cells(), self.samples.times.as_ref().unwrap());
        if let Ok(place) = self.robust.predicates().binary_search(&id) {
            let latest =
                |cell: usize| times.partition_point(|&time| 4 * (time - times[0]) <= quarter(cell)) - 1;
            return (0..count).map(|cell| self.samples.predicates[place][latest(cell)]).collect();
        }
        let node = self.program.dag.node(id);
        let parts: Vec<Vec<f64>> = node.children().map(|child| self.of(child)).collect();
        let (min, max) =
            (|a: f64, b: f64| if a < b { a } else { b }, |a: f64, b: f64| if a > b { a } else { b });
        let not = |values: &[f64]| values.iter().map(|value| 0.0 - value).collect::<Vec<f64>>();
        let zip =
            |a: &[f64], b: &[f64], f: fn(f64, f64) -> f64| a.iter().zip(b).map(|(&a, &b)| f(a, b)).collect();
        let implies = |a: &[f64], b: &[f64]| -> Vec<f64> { zip(&not(a), b, max) };
        let iff = |a: &[f64], b: &[f64]| -> Vec<f64> { zip(&implies(a, b), &implies(b, a), min) };
        let truth = |holds: bool| if holds { f64::INFINITY } else { f64::NEG_INFINITY };
        let always = vec![f64::INFINITY; count];
        let ends = |bound: Bound| ((bound.billionths / 1_000_000_000) as i64 * 4, bound.open);
        let interval = node.interval();
        let inside = |distance: i64| {
            let Some(interval) = interval else { return true };
            let (low, open) = ends(interval.low);
            let after = if open { distance > low } else { distance >= low };
            after
                && interval
                    .high
                    .map(ends)
                    .is_none_or(|(high, open)| if open { distance < high } else { distance <= high })
        };
        // φ U ψ, or φ S ψ.
        let until = |hold: &[f64], goal: &[f64], past: bool| -> Vec<f64> {
            let worth = |at: usize| {
                let here = quarter(at);
                let mut worth = f64::NEG_INFINITY;
                for there in if past { 0..=here } else { here..=quarter(count - 1) } {
                    if !inside((there - here).abs()) {
                        continue;
                    }
                    // The cells that meet [here, there), or (there, here].
                    let on_tick = there % 4 == 0;
                    let (from, to) = match past {
                        _ if here == there => (1, 0),
                        false => (at, cell(there) - usize::from(on_tick)),
                        true => (cell(there) + usize::from(on_tick), at),
                    };
                    let held = (from..=to).map(|cell| hold[cell]).fold(f64::INFINITY, min);
                    worth = max(worth, min(goal[cell(there)], held));
                }
                worth
            };
            (0..count).map(worth).collect()
        };
        match (node.operator(), parts.as_slice()) {
            ("true", _) => always,
            ("false", _) => not(&always),
            ("first", _) => (0..count).map(|cell| truth(cell == 0)).collect(),
            ("last", _) => (0..count).map(|cell| truth(cell + 1 == count)).collect(),
            ("!", [a]) => not(a),
            ("&", [a, b]) => zip(a, b, min),
            ("|", [a, b]) => zip(a, b, max),
            ("->", [a, b]) => implies(a, b),
            ("<->", [a, b]) => iff(a, b),
            ("^", [a, b]) => not(&iff(a, b)),
            (name @ ("F" | "O"), [a]) => until(&always, a, name == "O"),
            (name @ ("G" | "H"), [a]) => not(&until(&always, &not(a), name == "H")),
            (name @ ("U" | "S"), [a, b]) => until(a, b, name == "S"),
            (name @ ("R" | "T"), [a, b]) => not(&until(&not(a), &not(b), name == "T")),
            (name @ ("W" | "B"), [a, b]) => {
                let either: Vec<f64> = zip(a, b, max);
                not(&until(&not(b), &not(&either), name == "B"))
            }
            ("M", [a, b]) => {
                let both: Vec<f64> = zip(a, b, min);
                until(b, &both, false)
            }
            (other, _) => panic!("{other}"),
        }
    }
}

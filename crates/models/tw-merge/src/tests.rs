//! Mergers against their definitions.

mod coverage;
mod economy;
mod large;
mod naive;
mod paths;
mod random;
mod vectors;

use crate::{Ends, Keep, Limits, Merger, Names};
use tw_core::Value;
use tw_model::Model;

pub(crate) const KEEPS: [Keep; 6] =
    [Keep::State, Keep::Time, Keep::Change, Keep::History(1), Keep::History(3), Keep::Tree];
pub(crate) const ENDS: [Ends; 4] = [Ends::Dead, Ends::All, Ends::Nothing, Ends::State];

/// Names `s0`, `s1`…
pub(crate) fn names(count: usize) -> Names {
    Names { values: (0..count).map(|name| Value::text(&format!("s{name}"))).collect(), variables: Vec::new() }
}

/// One merger, traces in order.
pub(crate) fn merge(keep: Keep, ends: Ends, traces: &[Vec<u32>]) -> Model {
    let mut merger = Merger::new(keep, Limits::default());
    for (index, trace) in (0u32..).zip(traces) {
        merger.begin(index);
        merger.extend(trace).expect("small");
        merger.end();
    }
    let count = traces.iter().flatten().max().map_or(0, |&name| name as usize + 1);
    let labels = (0..traces.len()).map(|index| format!("t{index}")).collect();
    merger.finish(names(count), ends, labels).expect("small")
}

/// A trace of words, coded by their number after `s`.
pub(crate) fn trace(text: &str) -> Vec<u32> {
    text.split_whitespace()
        .map(|name| name.trim_start_matches('s').parse().expect("s and a number"))
        .collect()
}

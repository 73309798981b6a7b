//! Putting together what slices say.

use crate::Shard;
use std::cmp::Ordering;
use tw_core::{Bits, Position, Value};
use tw_monitor::{Answer, Bindings, order};

/// What was found in a slice.
#[derive(Clone, Debug)]
pub struct Sliced {
    /// What it may say.
    pub shard: Shard,
    /// The position of the log of each of its positions.
    pub order: Vec<u32>,
    /// What it says.
    pub answer: Answer,
}

/// Values in the order in which violations are listed: numbers, texts, what else there is.
fn listed(a: &Value, b: &Value) -> Ordering {
    let rank = |value: &Value| match value {
        Value::Int(_) | Value::Real(_) => 0,
        Value::Str(_) => 1,
        _ => 2,
    };
    rank(a).cmp(&rank(b)).then_with(|| order(a, b).unwrap_or_else(|| a.to_string().cmp(&b.to_string())))
}

/// Bindings of the same variables in the order in which violations of one position are listed.
pub fn in_order<'v>(a: impl Iterator<Item = &'v Value>, b: impl Iterator<Item = &'v Value>) -> Ordering {
    a.zip(b).map(|(a, b)| listed(a, b)).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

/// The answer of the whole log from those of its slices, at most `limit` violations listed. Slices that are `exact` say nothing
/// but what they may, and need not have listed all; the others have. Verdicts have two values: what is open at the end of a slice
/// need not be so at the end of the log.
pub fn merge(slices: Vec<Sliced>, limit: usize, exact: bool) -> Answer {
    let (mut found, mut count) = (Vec::<(Position, Bindings)>::new(), 0);
    for slice in slices {
        let Sliced { shard, order, answer } = slice;
        let before = found.len();
        let bindings = answer.bindings.into_iter().chain(std::iter::repeat(Bindings::default()));
        for (at, bindings) in answer.violations.into_iter().zip(bindings) {
            let at = order[at] as Position;
            if exact || shard.owns(at, &bindings) {
                found.push((at, bindings));
            }
        }
        count += if exact { answer.violation_count } else { found.len() - before };
    }
    found.sort_by(|a, b| {
        let values = |own| Bindings::pairs(own).iter().map(|(_, value)| value);
        a.0.cmp(&b.0).then_with(|| in_order(values(&a.1), values(&b.1)))
    });
    found.truncate(limit);
    let bound = found.iter().any(|(_, bindings)| !bindings.is_empty() || bindings.infinite());
    let (violations, bindings): (Vec<Position>, Vec<Bindings>) = found.into_iter().unzip();
    Answer {
        holds: Bits::repeat(count == 0, 1),
        open: None,
        violations,
        bindings: if bound { bindings } else { Vec::new() },
        violation_count: count,
    }
}

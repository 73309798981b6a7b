//! Slices with values: what the runs through a slice are worth.

use super::family::{EFFORT, Limits, Slice, drop_larger, merge};
use crate::semiring::Semiring;
use tw_monitor::Unsupported;

/// Slices, each once, with their values.
pub(super) type Weighted<V> = Vec<(Slice, V)>;

/// One of each, united; their values met. Equal slices are one, with their values joined, since `meet` distributes.
pub(super) fn product<S: Semiring>(
    semiring: &S,
    limits: Limits,
    a: &[(Slice, S::Value)],
    b: &[(Slice, S::Value)],
) -> Result<Weighted<S::Value>, Unsupported> {
    if a.len().saturating_mul(b.len()) > EFFORT * limits.slices {
        return Err(limits.over());
    }
    let mut product = Vec::new();
    for (left, right) in a.iter().flat_map(|left| b.iter().map(move |right| (left, right))) {
        product.push((merge(&left.0, &right.0), semiring.meet(&left.1, &right.1)));
        if product.len() > 2 * limits.slices {
            normalise(semiring, limits, &mut product);
        }
        if product.len() > 2 * limits.slices {
            return Err(limits.over());
        }
    }
    normalise(semiring, limits, &mut product);
    if product.len() > limits.slices { Err(limits.over()) } else { Ok(product) }
}

/// Sorts, and makes one of equal slices.
pub(super) fn normalise<S: Semiring>(semiring: &S, limits: Limits, slices: &mut Weighted<S::Value>) {
    slices.sort_by(|(a, _), (b, _)| a.len().cmp(&b.len()).then_with(|| a.cmp(b)));
    slices.dedup_by(|(later, value), (earlier, sum)| {
        let same = later == earlier;
        if same {
            *sum = semiring.join(sum, value);
        }
        same
    });
    if limits.minimal && semiring.ignores_larger_slices() {
        drop_larger(slices, |(slice, _)| slice);
    }
}

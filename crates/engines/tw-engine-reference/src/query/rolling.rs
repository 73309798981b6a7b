//! Rolling windows: at each position, the statistic of the list of values that are near enough.

use super::statistic;
use tw_core::Value;
use tw_ir::Aggregate;

/// `agg[e over L]` at each position: of the values at the positions j ≤ i whose stamps are no further back than `reach`, the
/// nulls left out. Of nothing, a count and a sum are 0.
pub fn rolling(
    aggregate: Aggregate,
    values: &[Value],
    stamps: &[i64],
    reach: i64,
) -> Vec<Result<Value, String>> {
    let at = |i: usize| {
        let near = (0..=i).filter(|&j| stamps[i] - stamps[j] <= reach);
        let inside: Vec<&Value> = near.map(|j| &values[j]).filter(|value| !value.is_null()).collect();
        match aggregate {
            Aggregate::Count | Aggregate::Sum if inside.is_empty() => Ok(Value::Int(0)),
            _ => statistic(aggregate, &inside),
        }
    };
    (0..values.len()).map(at).collect()
}

//! Intervals of distances in time.

use crate::cursor::refuse;
use crate::decimal::Decimal;
use tw_diag::{Diagnostic, Span};
use tw_ir::{Bound, Interval};

/// The bound that a number without unit is.
pub(crate) fn bound(number: Decimal, span: Span) -> Result<Bound, Diagnostic> {
    match number.billionths() {
        Some(billionths) => Ok(Bound { billionths, unit: None, open: false }),
        None => Err(refuse(span, "this bound is too large or too fine", "bounds are exact to nine decimals")),
    }
}

/// The interval `[low, high]` of whole or decimal numbers without unit.
pub(crate) fn interval(low: Decimal, high: Option<Decimal>, span: Span) -> Result<Interval, Diagnostic> {
    let high = high.map(|high| bound(high, span)).transpose()?;
    checked(Interval { low: bound(low, span)?, high }, span)
}

/// The interval, if some distance lies in it.
pub(crate) fn checked(interval: Interval, span: Span) -> Result<Interval, Diagnostic> {
    let length = |bound: Bound| {
        bound
            .billionths
            .saturating_mul(bound.unit.map_or(1_000_000_000, |unit| i128::from(unit.nanoseconds())))
    };
    let Interval { low, high } = interval;
    if low.billionths < 0 {
        return Err(refuse(span, "this bound is negative", "distances in time are not"));
    }
    if let Some(high) = high
        && (length(high) < length(low) || length(high) == length(low) && (low.open || high.open))
    {
        return Err(refuse(span, "this interval is empty", "the lower bound comes first"));
    }
    Ok(interval)
}

/// The interval that shifts by exactly `distance`.
pub(crate) fn exactly(distance: Bound) -> Interval {
    Interval { low: distance, high: Some(distance) }
}

//! The timestamps of a column.

use super::leaf::ints;
use super::text;
use crate::cell::stamp;
use arrow::array::{Array, AsArray};
use arrow::datatypes::*;
use std::fmt::Write;
use tw_core::{Time, Value};
use tw_trace::{Stamp, Stamps, TimeStyle};

/// Timestamps that do not decrease.
pub(super) struct Column {
    pub(super) times: Vec<Time>,
    pub(super) first: Stamp,
    pub(super) last: Stamp,
}

/// All of them, or nothing if all are null. `None` if some are null, one is none, or they decrease and must not.
pub(super) fn stamps(array: &dyn Array, written: Stamps, any_order: bool) -> Option<Option<Column>> {
    if array.null_count() == array.len() || *array.data_type() == DataType::Null {
        return Some(None);
    }
    let stamped = |times: Vec<Time>, style: TimeStyle| {
        let end = |time: Option<&Time>| time.map(|&time| Stamp { time, style });
        let (first, last) = (end(times.first())?, end(times.last())?);
        Some(Column { times, first, last })
    };
    // A dictionary may hold further nulls, so whether all are null shows one by one.
    let coded = matches!(array.data_type(), DataType::Dictionary(..));
    let stamps = if array.null_count() > 0 && !coded {
        // Rows say which is missing.
        return None;
    } else if let Some(times) = instants(array) {
        stamped(times?, TimeStyle::Text)?
    } else if let (Some(numbers), false) = (ints(array), matches!(array.data_type(), DataType::UInt64)) {
        let times = numbers.iter().map(|number| number.checked_mul(written.nanoseconds()));
        stamped(times.collect::<Option<_>>()?, written.style())?
    } else {
        match each(array, written)? {
            Some(stamps) => stamps,
            None => return Some(None),
        }
    };
    (any_order || stamps.times.is_sorted()).then_some(Some(stamps))
}

/// One after the other: a real is read as it is written, a text as it stands.
fn each(array: &dyn Array, written: Stamps) -> Option<Option<Column>> {
    let mut buffer = String::new();
    let mut times = Vec::with_capacity(array.len());
    let mut ends: Option<(Stamp, Stamp)> = None;
    let mut missing = 0;
    for at in 0..array.len() {
        let now = match (array.data_type(), text::at(array, at)) {
            (_, Some(text)) => match text {
                Some(text) => Some(written.parse(text).ok()?),
                None => None,
            },
            (DataType::Float64, _) => {
                buffer.clear();
                let real = array.as_primitive::<Float64Type>().value(at);
                write!(buffer, "{}", Value::Real(real)).ok()?;
                // What is not finite is written as no number is.
                Some(written.parse(&buffer).ok()?)
            }
            _ => stamp(array, at, written).ok()?,
        };
        match now {
            Some(now) => {
                times.push(now.time);
                ends = Some((ends.map_or(now, |(first, _)| first), now));
            }
            None => missing += 1,
        }
    }
    match ends {
        None => Some(None),
        Some((first, last)) if missing == 0 => Some(Some(Column { times, first, last })),
        Some(_) => None,
    }
}

/// Of a column of instants, none of which is null, the times; nothing within if one is out of range.
fn instants(array: &dyn Array) -> Option<Option<Vec<Time>>> {
    const DAY: i64 = 86_400_000_000_000;
    macro_rules! of {
        ($kind:ty, $unit:expr) => {{
            let numbers = array.as_primitive::<$kind>().values().iter();
            numbers.map(|&number| i64::from(number).checked_mul($unit)).collect()
        }};
    }
    Some(match array.data_type() {
        DataType::Timestamp(TimeUnit::Second, _) => of!(TimestampSecondType, 1_000_000_000),
        DataType::Timestamp(TimeUnit::Millisecond, _) => of!(TimestampMillisecondType, 1_000_000),
        DataType::Timestamp(TimeUnit::Microsecond, _) => of!(TimestampMicrosecondType, 1000),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => of!(TimestampNanosecondType, 1),
        DataType::Date32 => of!(Date32Type, DAY),
        DataType::Date64 => of!(Date64Type, 1_000_000),
        _ => return None,
    })
}

//! One cell of an Arrow array as a value of a trace.

use arrow::array::{Array, ArrowPrimitiveType, AsArray};
use arrow::datatypes::*;
use tw_core::{Time, Value};
use tw_trace::{CellError, Stamp, Stamps, TimeStyle, quote};

/// Nesting beyond which a column is refused.
pub(crate) const DEEPEST: usize = 64;

fn refuse<T>(found: impl std::fmt::Display, expected: &'static str) -> Result<T, CellError> {
    Err(CellError { found: format!("`{found}`"), expected })
}

const WHOLE: &str = "a whole number of 64 bits with a sign";
const FINITE: &str = "a finite number";
const DATED: &str = "a date of the years -9999 to 9999";

fn native<T: ArrowPrimitiveType>(array: &dyn Array, at: usize) -> T::Native {
    array.as_primitive::<T>().value(at)
}

fn real(value: f64) -> Result<Value, CellError> {
    if value.is_finite() { Ok(Value::Real(value)) } else { refuse(value, FINITE) }
}

/// A number written out, whole if it has no fraction digits.
fn decimal(text: String) -> Result<Value, CellError> {
    match text.parse::<i64>() {
        Ok(int) => Ok(Value::Int(int)),
        Err(_) if !text.contains('.') => refuse(text, WHOLE),
        Err(_) => match text.parse::<f64>() {
            Ok(value) => real(value),
            Err(_) => refuse(text, FINITE),
        },
    }
}

/// Text, also where a file lacks the note that its bytes are text.
fn text(bytes: &[u8]) -> Result<Value, CellError> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(Value::text(text)),
        Err(_) => {
            Err(CellError { found: format!("{} bytes that are not UTF-8", bytes.len()), expected: "text" })
        }
    }
}

/// The value of `array` at `at`.
pub(crate) fn value(array: &dyn Array, at: usize, depth: usize) -> Result<Value, CellError> {
    if array.is_null(at) {
        return Ok(Value::Null);
    }
    if depth > DEEPEST {
        return refuse(format!("data nested more than {DEEPEST} deep"), "fewer levels");
    }
    let list = |items: &dyn Array| -> Result<Value, CellError> {
        (0..items.len()).map(|item| value(items, item, depth + 1)).collect::<Result<_, _>>().map(Value::List)
    };
    Ok(match array.data_type() {
        DataType::Null => Value::Null,
        DataType::Boolean => Value::Bool(array.as_boolean().value(at)),
        DataType::Int8 => Value::Int(native::<Int8Type>(array, at).into()),
        DataType::Int16 => Value::Int(native::<Int16Type>(array, at).into()),
        DataType::Int32 => Value::Int(native::<Int32Type>(array, at).into()),
        DataType::Int64 => Value::Int(native::<Int64Type>(array, at)),
        DataType::UInt8 => Value::Int(native::<UInt8Type>(array, at).into()),
        DataType::UInt16 => Value::Int(native::<UInt16Type>(array, at).into()),
        DataType::UInt32 => Value::Int(native::<UInt32Type>(array, at).into()),
        DataType::UInt64 => {
            let number = native::<UInt64Type>(array, at);
            return i64::try_from(number).map(Value::Int).or_else(|_| refuse(number, WHOLE));
        }
        DataType::Float16 => return real(native::<Float16Type>(array, at).into()),
        // By way of its shortest text, so that 0.1 stays 0.1 and not what its 32 bits are among 64.
        DataType::Float32 => {
            let number = native::<Float32Type>(array, at);
            return real(number.to_string().parse().unwrap_or(f64::from(number)));
        }
        DataType::Float64 => return real(native::<Float64Type>(array, at)),
        DataType::Decimal32(..) => return decimal(array.as_primitive::<Decimal32Type>().value_as_string(at)),
        DataType::Decimal64(..) => return decimal(array.as_primitive::<Decimal64Type>().value_as_string(at)),
        DataType::Decimal128(..) => {
            return decimal(array.as_primitive::<Decimal128Type>().value_as_string(at));
        }
        DataType::Decimal256(..) => {
            return decimal(array.as_primitive::<Decimal256Type>().value_as_string(at));
        }
        DataType::Utf8 => Value::text(array.as_string::<i32>().value(at)),
        DataType::LargeUtf8 => Value::text(array.as_string::<i64>().value(at)),
        DataType::Utf8View => Value::text(array.as_string_view().value(at)),
        DataType::Binary => return text(array.as_binary::<i32>().value(at)),
        DataType::LargeBinary => return text(array.as_binary::<i64>().value(at)),
        DataType::BinaryView => return text(array.as_binary_view().value(at)),
        DataType::FixedSizeBinary(_) => return text(array.as_fixed_size_binary().value(at)),
        DataType::Timestamp(..) => {
            let nanoseconds = instant(array, at).unwrap_or_default();
            match jiff::Timestamp::from_nanosecond(nanoseconds) {
                Ok(stamp) => Value::text(&stamp.to_string()),
                Err(_) => return refuse(format!("{nanoseconds} nanoseconds since 1970"), DATED),
            }
        }
        DataType::Date32 | DataType::Date64 => {
            let days = instant(array, at).unwrap_or_default().div_euclid(DAY);
            let date = i64::try_from(days)
                .ok()
                .and_then(|days| jiff::Span::new().try_days(days).ok())
                .and_then(|span| jiff::civil::date(1970, 1, 1).checked_add(span).ok());
            match date {
                Some(date) => Value::text(&date.to_string()),
                None => return refuse(format!("{days} days since 1970"), DATED),
            }
        }
        DataType::Time32(TimeUnit::Second) => {
            time_of_day(native::<Time32SecondType>(array, at).into(), 1_000_000_000)?
        }
        DataType::Time32(_) => time_of_day(native::<Time32MillisecondType>(array, at).into(), 1_000_000)?,
        DataType::Time64(TimeUnit::Nanosecond) => time_of_day(native::<Time64NanosecondType>(array, at), 1)?,
        DataType::Time64(_) => time_of_day(native::<Time64MicrosecondType>(array, at), 1000)?,
        DataType::Duration(TimeUnit::Second) => Value::Int(native::<DurationSecondType>(array, at)),
        DataType::Duration(TimeUnit::Millisecond) => Value::Int(native::<DurationMillisecondType>(array, at)),
        DataType::Duration(TimeUnit::Microsecond) => Value::Int(native::<DurationMicrosecondType>(array, at)),
        DataType::Duration(TimeUnit::Nanosecond) => Value::Int(native::<DurationNanosecondType>(array, at)),
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            return match value(dictionary.keys(), at, depth + 1)? {
                Value::Int(key) if (0..dictionary.values().len() as i64).contains(&key) => {
                    value(dictionary.values(), key as usize, depth + 1)
                }
                other => refuse(other, "an index into the column's dictionary"),
            };
        }
        DataType::List(_) => return list(&array.as_list::<i32>().value(at)),
        DataType::LargeList(_) => return list(&array.as_list::<i64>().value(at)),
        DataType::ListView(_) => return list(&array.as_list_view::<i32>().value(at)),
        DataType::LargeListView(_) => return list(&array.as_list_view::<i64>().value(at)),
        DataType::FixedSizeList(..) => return list(&array.as_fixed_size_list().value(at)),
        DataType::Struct(fields) => {
            let parts = fields.iter().zip(array.as_struct().columns());
            let parts =
                parts.map(|(field, part)| Ok((field.name().as_str().into(), value(part, at, depth + 1)?)));
            Value::Object(parts.collect::<Result<_, CellError>>()?)
        }
        DataType::Map(..) => {
            let entries = array.as_map().value(at);
            let [keys, values] = entries.columns() else { return refuse("a map", "keys and values") };
            let parts = (0..entries.len()).map(|entry| {
                let key = value(keys, entry, depth + 1)?.to_string();
                Ok((key.into(), value(values, entry, depth + 1)?))
            });
            Value::Object(parts.collect::<Result<_, CellError>>()?)
        }
        other => {
            let expected = "a type that traces have: numbers, booleans, text, times, lists or structures";
            return Err(CellError { found: format!("a column of type {other}"), expected });
        }
    })
}

const DAY: i128 = 86_400_000_000_000;

/// Nanoseconds since 1970 of a timestamp or date.
fn instant(array: &dyn Array, at: usize) -> Option<i128> {
    let (number, unit) = match array.data_type() {
        DataType::Timestamp(TimeUnit::Second, _) => (native::<TimestampSecondType>(array, at), 1_000_000_000),
        DataType::Timestamp(TimeUnit::Millisecond, _) => {
            (native::<TimestampMillisecondType>(array, at), 1_000_000)
        }
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            (native::<TimestampMicrosecondType>(array, at), 1000)
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => (native::<TimestampNanosecondType>(array, at), 1),
        DataType::Date32 => (native::<Date32Type>(array, at).into(), DAY),
        DataType::Date64 => (native::<Date64Type>(array, at), 1_000_000),
        _ => return None,
    };
    Some(i128::from(number) * unit)
}

/// A time of day as text.
fn time_of_day(number: i64, unit: i64) -> Result<Value, CellError> {
    let nanoseconds = i128::from(number) * i128::from(unit);
    if !(0..DAY).contains(&nanoseconds) {
        return refuse(format!("{nanoseconds} nanoseconds"), "a time of day");
    }
    let (seconds, rest) = (nanoseconds / 1_000_000_000, nanoseconds % 1_000_000_000);
    let mut text = format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    if rest > 0 {
        text.push_str(format!(".{rest:09}").trim_end_matches('0'));
    }
    Ok(Value::text(&text))
}

/// The timestamp of `array` at `at`, if it is not null.
pub(crate) fn stamp(array: &dyn Array, at: usize, stamps: Stamps) -> Result<Option<Stamp>, String> {
    if array.is_null(at) {
        return Ok(None);
    }
    if let Some(nanoseconds) = instant(array, at) {
        return match Time::try_from(nanoseconds) {
            Ok(time) => Ok(Some(Stamp { time, style: TimeStyle::Text })),
            Err(_) => Err(format!(
                "found {nanoseconds} nanoseconds since 1970, which is {}",
                tw_core::TimeError::OutOfRange
            )),
        };
    }
    let expected = format!("expected a timestamp: a number ({}) or RFC 3339 text", stamps.numbers.name());
    let text = match value(array, at, 0) {
        Ok(Value::Null) => return Ok(None),
        Ok(value @ (Value::Int(_) | Value::Real(_) | Value::Str(_))) => value.to_string(),
        Ok(other) => return Err(format!("found {}, {expected}", other.kind())),
        Err(CellError { found, .. }) => return Err(format!("found {found}, {expected}")),
    };
    match stamps.parse(&text) {
        Ok(stamp) => Ok(Some(stamp)),
        Err(tw_core::TimeError::NotANumber) => Err(format!("found {}, {expected}", quote(&text))),
        Err(reason) => Err(format!("found {}, which is {reason}, {expected}", quote(&text))),
    }
}

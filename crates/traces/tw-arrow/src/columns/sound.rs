//! Whether every cell of an array is a value that a trace may hold: also of those that no slot asks for.

use crate::cell::{DEEPEST, value};
use arrow::array::{Array, AsArray};
use arrow::datatypes::*;

/// Whether all cells are values. By a quick look at most kinds of arrays; where that leaves a doubt, by each cell.
pub(super) fn sound(array: &dyn Array) -> bool {
    (nesting(array.data_type()) <= DEEPEST && quick(array))
        || (0..array.len()).all(|at| value(array, at, 0).is_ok())
}

/// Levels of a type.
fn nesting(kind: &DataType) -> usize {
    let mut deepest = 0;
    let mut open = vec![(kind, 0)];
    while let Some((kind, depth)) = open.pop() {
        deepest = deepest.max(depth);
        match kind {
            DataType::Dictionary(_, values) => open.push((values, depth + 1)),
            DataType::List(item)
            | DataType::LargeList(item)
            | DataType::ListView(item)
            | DataType::LargeListView(item)
            | DataType::FixedSizeList(item, _)
            // The entries of a map are a structure, whose fields are one level below the map.
            | DataType::Map(item, _) => open.push((item.data_type(), depth + 1)),
            DataType::Struct(fields) => {
                open.extend(fields.iter().map(|field| (field.data_type(), depth + 1)));
            }
            _ => {}
        }
    }
    deepest
}

/// Whether all values of an array are sound, also those that a null hides; false if that is not known.
fn quick(array: &dyn Array) -> bool {
    match array.data_type() {
        DataType::Null
        | DataType::Boolean
        | DataType::Int8
        | DataType::Int16
        | DataType::Int32
        | DataType::Int64
        | DataType::UInt8
        | DataType::UInt16
        | DataType::UInt32
        | DataType::Utf8
        | DataType::LargeUtf8
        | DataType::Utf8View
        | DataType::Duration(_) => true,
        DataType::UInt64 => {
            array.as_primitive::<UInt64Type>().values().iter().all(|&number| number <= i64::MAX as u64)
        }
        DataType::Float16 => array.as_primitive::<Float16Type>().values().iter().all(|real| real.is_finite()),
        DataType::Float32 => array.as_primitive::<Float32Type>().values().iter().all(|real| real.is_finite()),
        DataType::Float64 => array.as_primitive::<Float64Type>().values().iter().all(|real| real.is_finite()),
        DataType::Timestamp(TimeUnit::Second, _) => ends::<TimestampSecondType>(array),
        DataType::Timestamp(TimeUnit::Millisecond, _) => ends::<TimestampMillisecondType>(array),
        DataType::Timestamp(TimeUnit::Microsecond, _) => ends::<TimestampMicrosecondType>(array),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => ends::<TimestampNanosecondType>(array),
        DataType::Date32 => ends::<Date32Type>(array),
        DataType::Date64 => ends::<Date64Type>(array),
        DataType::Dictionary(_, _) => quick(array.as_any_dictionary().values()),
        DataType::Struct(_) => array.as_struct().columns().iter().all(|part| quick(part)),
        DataType::List(_) => quick(array.as_list::<i32>().values()),
        DataType::LargeList(_) => quick(array.as_list::<i64>().values()),
        DataType::FixedSizeList(..) => quick(array.as_fixed_size_list().values()),
        DataType::Map(..) => array.as_map().entries().columns().iter().all(|part| quick(part)),
        _ => false,
    }
}

/// Whether the least and the greatest are values; what lies between is one then.
fn ends<T: ArrowPrimitiveType>(array: &dyn Array) -> bool
where
    T::Native: PartialOrd,
{
    let values = array.as_primitive::<T>().values();
    let (mut least, mut greatest) = (None, None);
    for at in (0..array.len()).filter(|&at| !array.is_null(at)) {
        if least.is_none_or(|least: usize| values[at] < values[least]) {
            least = Some(at);
        }
        if greatest.is_none_or(|greatest: usize| values[at] > values[greatest]) {
            greatest = Some(at);
        }
    }
    [least, greatest].into_iter().flatten().all(|at| value(array, at, 0).is_ok())
}

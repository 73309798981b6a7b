//! Random record batches for tests.

use arrow::array::*;
use arrow::buffer::NullBuffer;
use arrow::datatypes::*;
use std::sync::Arc;
use tw_testkit::Rng;

const TEXTS: &[&str] = &["x", "y", "7", "", "login", "a longer text, beyond twelve bytes"];

/// Cells, now and then null.
fn cells<T>(rng: &mut Rng, len: usize, cell: impl Fn(&mut Rng) -> T) -> Vec<Option<T>> {
    let nulls = [0, 0, 4, 1][rng.below(4)];
    (0..len).map(|_| (nulls == 0 || rng.below(nulls + 1) > 0).then(|| cell(rng))).collect()
}

fn structure(rng: &mut Rng, len: usize, names: &[&str], depth: usize) -> ArrayRef {
    let parts: Vec<ArrayRef> = names
        .iter()
        .map(|name| match *name {
            "t" => structure(rng, len, &["z"], depth + 1),
            "l" => list(rng, len),
            _ => array(rng, len, depth + 1),
        })
        .collect();
    let fields: Fields = names
        .iter()
        .zip(&parts)
        .map(|(name, part)| Field::new(*name, part.data_type().clone(), true))
        .collect();
    let nulls = (rng.below(2) == 0).then(|| NullBuffer::from_iter((0..len).map(|_| rng.below(3) > 0)));
    Arc::new(StructArray::new(fields, parts, nulls))
}

fn list(rng: &mut Rng, len: usize) -> ArrayRef {
    let lists =
        cells(rng, len, |rng| (0..rng.below(3)).map(|_| Some(rng.below(3) as i32)).collect::<Vec<_>>());
    Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(lists))
}

fn map(rng: &mut Rng, len: usize) -> ArrayRef {
    let mut builder = MapBuilder::new(None, StringBuilder::new(), Int64Builder::new());
    for _ in 0..len {
        // Now and then a key is there twice.
        for _ in 0..rng.below(2) + usize::from(rng.below(40) == 0) {
            builder.keys().append_value("k");
            builder.values().append_value(rng.below(2) as i64);
        }
        builder.append(rng.below(5) > 0).unwrap();
    }
    Arc::new(builder.finish())
}

/// An array of any kind; one in thirty has cells that no trace may hold.
pub(crate) fn array(rng: &mut Rng, len: usize, depth: usize) -> ArrayRef {
    let bad = rng.below(30) == 0;
    let small = |rng: &mut Rng| rng.below(2);
    match rng.below(if depth < 2 { 28 } else { 24 }) {
        0 => Arc::new(Int8Array::from(cells(rng, len, |rng| small(rng) as i8))),
        1 => Arc::new(UInt16Array::from(cells(rng, len, |rng| small(rng) as u16))),
        2 => Arc::new(Int32Array::from(cells(rng, len, |rng| rng.below(9) as i32 - 4))),
        3 | 4 => Arc::new(Int64Array::from(cells(rng, len, |rng| match rng.below(9) {
            0 => i64::MAX,
            _ => small(rng) as i64,
        }))),
        5 => Arc::new(UInt64Array::from(cells(rng, len, |rng| match bad && rng.below(9) == 0 {
            true => u64::MAX,
            false => small(rng) as u64,
        }))),
        6 | 7 => Arc::new(Float64Array::from(cells(rng, len, |rng| match bad && rng.below(9) == 0 {
            true => f64::NAN,
            false => [0.0, 1.0, -0.1, 1e300][rng.below(4)],
        }))),
        8 => Arc::new(Float32Array::from(cells(rng, len, |rng| match bad && rng.below(9) == 0 {
            true => f32::INFINITY,
            false => [0.1, 1.0, 16_777_216.0, -1e-40, f32::MAX][rng.below(5)],
        }))),
        9 | 10 => Arc::new(BooleanArray::from(cells(rng, len, |rng| rng.below(2) == 0))),
        11 | 12 => Arc::new(StringArray::from(cells(rng, len, |rng| rng.pick(TEXTS)))),
        13 => Arc::new(LargeStringArray::from(cells(rng, len, |rng| rng.pick(TEXTS)))),
        14 => Arc::new(StringViewArray::from(cells(rng, len, |rng| rng.pick(TEXTS)))),
        15 | 16 => {
            // Texts that are there twice, and nulls among them.
            let values: ArrayRef =
                Arc::new(StringArray::from(vec![Some("x"), None, Some("y"), Some("x"), Some("7")]));
            let top = [5, 4, 1][rng.below(3)];
            let keys = UInt8Array::from(cells(rng, len, |rng| rng.below(top) as u8));
            Arc::new(DictionaryArray::new(keys, values))
        }
        17 => Arc::new(DictionaryArray::new(
            Int32Array::from(cells(rng, len, |_| 0)),
            Arc::new(Int64Array::from(vec![1])) as ArrayRef,
        )),
        18 => {
            Arc::new(TimestampMicrosecondArray::from(cells(rng, len, |rng| match bad && rng.below(9) == 0 {
                true => i64::MAX,
                false => rng.below(1_000_000) as i64,
            })))
        }
        19 => Arc::new(Date32Array::from(cells(rng, len, |rng| match bad && rng.below(9) == 0 {
            true => i32::MIN,
            false => rng.below(99) as i32,
        }))),
        20 => {
            let numbers = cells(rng, len, |rng| if bad { i128::MAX / 10 } else { rng.below(99) as i128 });
            let scale = [0, 2][rng.below(2)];
            Arc::new(Decimal128Array::from(numbers).with_precision_and_scale(38, scale).unwrap())
        }
        21 => Arc::new(BinaryArray::from(
            (0..len).map(|_| if bad { &b"\xFF"[..] } else { b"x" }).collect::<Vec<_>>(),
        )),
        22 => Arc::new(NullArray::new(len)),
        23 => Arc::new(DurationSecondArray::from(cells(rng, len, |rng| small(rng) as i64))),
        24 => structure(rng, len, &["x", "y"], depth),
        25 => structure(rng, len, &["x", "t", "l"], depth),
        26 => list(rng, len),
        _ => map(rng, len),
    }
}

/// Timestamps, mostly in order.
fn times(rng: &mut Rng, len: usize) -> ArrayRef {
    if rng.below(12) == 0 {
        return array(rng, len, 2);
    }
    let mut now = 0;
    let back = rng.below(6) == 0;
    let mut next = |rng: &mut Rng| {
        now += rng.below(3) as i64;
        if back && rng.below(10) == 0 { now - 2 } else { now }
    };
    let mut numbers: Vec<Option<i64>> = (0..len).map(|_| Some(next(rng))).collect();
    match rng.below(12) {
        0 => numbers.fill(None),
        1 => numbers[rng.below(len)] = None,
        _ => {}
    }
    let text = |rng: &mut Rng| {
        let dated = rng.below(2) == 0;
        move |time: i64| {
            if dated {
                format!("1970-01-01T00:{:02}:{:02}Z", time / 60 % 60, time % 60)
            } else {
                time.to_string()
            }
        }
    };
    match rng.below(8) {
        0 => Arc::new(TimestampSecondArray::from(numbers)),
        1 => Arc::new(TimestampNanosecondArray::from(numbers)),
        2 => Arc::new(Float64Array::from_iter(numbers.iter().map(|time| time.map(|time| time as f64 / 4.0)))),
        3 => {
            let text = text(rng);
            Arc::new(StringArray::from_iter(numbers.iter().map(|time| time.map(&text))))
        }
        4 => {
            let text = text(rng);
            let texts: Vec<Option<String>> = numbers.iter().map(|time| time.map(&text)).collect();
            Arc::new(texts.iter().map(Option::as_deref).collect::<DictionaryArray<Int32Type>>())
        }
        5 => Arc::new(UInt64Array::from_iter(numbers.iter().map(|time| time.map(|time| time as u64)))),
        6 => Arc::new(Date32Array::from_iter(numbers.iter().map(|time| time.map(|time| time as i32)))),
        _ => Arc::new(Int64Array::from(numbers)),
    }
}

/// A batch of some columns.
pub(crate) fn batch(rng: &mut Rng, len: usize) -> RecordBatch {
    let mut columns: Vec<(&str, ArrayRef)> = Vec::new();
    for name in ["a", "time", "b", "event", "a.b", "s", "l", "m", "c"] {
        if rng.below(5) < 2 && !(name == "c" && columns.is_empty()) {
            continue;
        }
        let array = match name {
            "time" => times(rng, len),
            "event" if rng.below(15) == 0 => array(rng, len, 2),
            "event" => {
                let names = cells(rng, len, |rng| rng.pick(&["login", "logout", "a", "s.x"]));
                match rng.below(3) {
                    0 => Arc::new(names.into_iter().collect::<DictionaryArray<Int8Type>>()) as ArrayRef,
                    1 => Arc::new(StringViewArray::from(names)),
                    _ => Arc::new(StringArray::from(names)),
                }
            }
            "s" => structure(rng, len, &["x", "y", "t", "l"], 0),
            "l" => list(rng, len),
            "m" => map(rng, len),
            _ => array(rng, len, 0),
        };
        columns.push((name, array));
    }
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true)))
        .unwrap()
}

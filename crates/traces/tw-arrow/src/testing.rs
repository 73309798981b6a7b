//! Random record batches for tests.

use arrow::array::*;
use arrow::buffer::NullBuffer;
use arrow::datatypes::*;
use std::sync::Arc;

/// A small generator of numbers.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below `limit`.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        (self.roll() >> 16) as usize % limit
    }

    /// One of `choices`.
    pub(crate) fn pick(&mut self, choices: &[&'static str]) -> &'static str {
        choices[self.below(choices.len())]
    }
}

const TEXTS: &[&str] = &["x", "y", "7", "", "login", "a longer text, beyond twelve bytes"];

/// Cells, now and then null.
fn cells<T>(dice: &mut Dice, len: usize, cell: impl Fn(&mut Dice) -> T) -> Vec<Option<T>> {
    let nulls = [0, 0, 4, 1][dice.below(4)];
    (0..len).map(|_| (nulls == 0 || dice.below(nulls + 1) > 0).then(|| cell(dice))).collect()
}

fn structure(dice: &mut Dice, len: usize, names: &[&str], depth: usize) -> ArrayRef {
    let parts: Vec<ArrayRef> = names
        .iter()
        .map(|name| match *name {
            "t" => structure(dice, len, &["z"], depth + 1),
            "l" => list(dice, len),
            _ => array(dice, len, depth + 1),
        })
        .collect();
    let fields: Fields = names
        .iter()
        .zip(&parts)
        .map(|(name, part)| Field::new(*name, part.data_type().clone(), true))
        .collect();
    let nulls = (dice.below(2) == 0).then(|| NullBuffer::from_iter((0..len).map(|_| dice.below(3) > 0)));
    Arc::new(StructArray::new(fields, parts, nulls))
}

fn list(dice: &mut Dice, len: usize) -> ArrayRef {
    let lists =
        cells(dice, len, |dice| (0..dice.below(3)).map(|_| Some(dice.below(3) as i32)).collect::<Vec<_>>());
    Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(lists))
}

fn map(dice: &mut Dice, len: usize) -> ArrayRef {
    let mut builder = MapBuilder::new(None, StringBuilder::new(), Int64Builder::new());
    for _ in 0..len {
        // Now and then a key is there twice.
        for _ in 0..dice.below(2) + usize::from(dice.below(40) == 0) {
            builder.keys().append_value("k");
            builder.values().append_value(dice.below(2) as i64);
        }
        builder.append(dice.below(5) > 0).unwrap();
    }
    Arc::new(builder.finish())
}

/// An array of any kind; one in thirty has cells that no trace may hold.
pub(crate) fn array(dice: &mut Dice, len: usize, depth: usize) -> ArrayRef {
    let bad = dice.below(30) == 0;
    let small = |dice: &mut Dice| dice.below(2);
    match dice.below(if depth < 2 { 28 } else { 24 }) {
        0 => Arc::new(Int8Array::from(cells(dice, len, |dice| small(dice) as i8))),
        1 => Arc::new(UInt16Array::from(cells(dice, len, |dice| small(dice) as u16))),
        2 => Arc::new(Int32Array::from(cells(dice, len, |dice| dice.below(9) as i32 - 4))),
        3 | 4 => Arc::new(Int64Array::from(cells(dice, len, |dice| match dice.below(9) {
            0 => i64::MAX,
            _ => small(dice) as i64,
        }))),
        5 => Arc::new(UInt64Array::from(cells(dice, len, |dice| match bad && dice.below(9) == 0 {
            true => u64::MAX,
            false => small(dice) as u64,
        }))),
        6 | 7 => Arc::new(Float64Array::from(cells(dice, len, |dice| match bad && dice.below(9) == 0 {
            true => f64::NAN,
            false => [0.0, 1.0, -0.1, 1e300][dice.below(4)],
        }))),
        8 => Arc::new(Float32Array::from(cells(dice, len, |dice| match bad && dice.below(9) == 0 {
            true => f32::INFINITY,
            false => [0.1, 1.0, 16_777_216.0, -1e-40, f32::MAX][dice.below(5)],
        }))),
        9 | 10 => Arc::new(BooleanArray::from(cells(dice, len, |dice| dice.below(2) == 0))),
        11 | 12 => Arc::new(StringArray::from(cells(dice, len, |dice| dice.pick(TEXTS)))),
        13 => Arc::new(LargeStringArray::from(cells(dice, len, |dice| dice.pick(TEXTS)))),
        14 => Arc::new(StringViewArray::from(cells(dice, len, |dice| dice.pick(TEXTS)))),
        15 | 16 => {
            // Texts that are there twice, and nulls among them.
            let values: ArrayRef =
                Arc::new(StringArray::from(vec![Some("x"), None, Some("y"), Some("x"), Some("7")]));
            let top = [5, 4, 1][dice.below(3)];
            let keys = UInt8Array::from(cells(dice, len, |dice| dice.below(top) as u8));
            Arc::new(DictionaryArray::new(keys, values))
        }
        17 => Arc::new(DictionaryArray::new(
            Int32Array::from(cells(dice, len, |_| 0)),
            Arc::new(Int64Array::from(vec![1])) as ArrayRef,
        )),
        18 => Arc::new(TimestampMicrosecondArray::from(cells(dice, len, |dice| {
            match bad && dice.below(9) == 0 {
                true => i64::MAX,
                false => dice.below(1_000_000) as i64,
            }
        }))),
        19 => Arc::new(Date32Array::from(cells(dice, len, |dice| match bad && dice.below(9) == 0 {
            true => i32::MIN,
            false => dice.below(99) as i32,
        }))),
        20 => {
            let numbers = cells(dice, len, |dice| if bad { i128::MAX / 10 } else { dice.below(99) as i128 });
            let scale = [0, 2][dice.below(2)];
            Arc::new(Decimal128Array::from(numbers).with_precision_and_scale(38, scale).unwrap())
        }
        21 => Arc::new(BinaryArray::from(
            (0..len).map(|_| if bad { &b"\xFF"[..] } else { b"x" }).collect::<Vec<_>>(),
        )),
        22 => Arc::new(NullArray::new(len)),
        23 => Arc::new(DurationSecondArray::from(cells(dice, len, |dice| small(dice) as i64))),
        24 => structure(dice, len, &["x", "y"], depth),
        25 => structure(dice, len, &["x", "t", "l"], depth),
        26 => list(dice, len),
        _ => map(dice, len),
    }
}

/// Timestamps, mostly in order.
fn times(dice: &mut Dice, len: usize) -> ArrayRef {
    if dice.below(12) == 0 {
        return array(dice, len, 2);
    }
    let mut now = 0;
    let back = dice.below(6) == 0;
    let mut next = |dice: &mut Dice| {
        now += dice.below(3) as i64;
        if back && dice.below(10) == 0 { now - 2 } else { now }
    };
    let mut numbers: Vec<Option<i64>> = (0..len).map(|_| Some(next(dice))).collect();
    match dice.below(12) {
        0 => numbers.fill(None),
        1 => numbers[dice.below(len)] = None,
        _ => {}
    }
    let text = |dice: &mut Dice| {
        let dated = dice.below(2) == 0;
        move |time: i64| {
            if dated {
                format!("1970-01-01T00:{:02}:{:02}Z", time / 60 % 60, time % 60)
            } else {
                time.to_string()
            }
        }
    };
    match dice.below(8) {
        0 => Arc::new(TimestampSecondArray::from(numbers)),
        1 => Arc::new(TimestampNanosecondArray::from(numbers)),
        2 => Arc::new(Float64Array::from_iter(numbers.iter().map(|time| time.map(|time| time as f64 / 4.0)))),
        3 => {
            let text = text(dice);
            Arc::new(StringArray::from_iter(numbers.iter().map(|time| time.map(&text))))
        }
        4 => {
            let text = text(dice);
            let texts: Vec<Option<String>> = numbers.iter().map(|time| time.map(&text)).collect();
            Arc::new(texts.iter().map(Option::as_deref).collect::<DictionaryArray<Int32Type>>())
        }
        5 => Arc::new(UInt64Array::from_iter(numbers.iter().map(|time| time.map(|time| time as u64)))),
        6 => Arc::new(Date32Array::from_iter(numbers.iter().map(|time| time.map(|time| time as i32)))),
        _ => Arc::new(Int64Array::from(numbers)),
    }
}

/// A batch of some columns.
pub(crate) fn batch(dice: &mut Dice, len: usize) -> RecordBatch {
    let mut columns: Vec<(&str, ArrayRef)> = Vec::new();
    for name in ["a", "time", "b", "event", "a.b", "s", "l", "m", "c"] {
        if dice.below(5) < 2 && !(name == "c" && columns.is_empty()) {
            continue;
        }
        let array = match name {
            "time" => times(dice, len),
            "event" if dice.below(15) == 0 => array(dice, len, 2),
            "event" => {
                let names = cells(dice, len, |dice| dice.pick(&["login", "logout", "a", "s.x"]));
                match dice.below(3) {
                    0 => Arc::new(names.into_iter().collect::<DictionaryArray<Int8Type>>()) as ArrayRef,
                    1 => Arc::new(StringViewArray::from(names)),
                    _ => Arc::new(StringArray::from(names)),
                }
            }
            "s" => structure(dice, len, &["x", "y", "t", "l"], 0),
            "l" => list(dice, len),
            "m" => map(dice, len),
            _ => array(dice, len, 0),
        };
        columns.push((name, array));
    }
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true)))
        .unwrap()
}

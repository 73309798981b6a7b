//! Tests of both formats.

use crate::{ARROW_FORMATS, Arrow, Parquet};
use arrow::array::*;
use arrow::datatypes::*;
use parquet::arrow::ArrowWriter;
use std::sync::Arc;
use tw_core::{TimeUnit as Unit, Value};
use tw_testkit::Rng;
use tw_trace::{
    Arguments, Event, Input, Outline, Projection, ReadOptions, Row, Stamp, TimeStyle, TraceError, TraceFormat,
};

fn rows_of(format: &dyn TraceFormat, bytes: &[u8], options: &ReadOptions) -> Result<Vec<Row>, TraceError> {
    let mut source = format.rows(Box::new(bytes), options)?;
    let mut rows = Vec::new();
    let mut row = Row::default();
    while source.next(&mut row)? {
        rows.push(row.clone());
    }
    Ok(rows)
}

fn write(format: &dyn TraceFormat, rows: &[Row]) -> Result<Vec<u8>, TraceError> {
    let mut columns: Vec<Arc<str>> = Vec::new();
    for (name, _) in rows.iter().flat_map(|row| &row.variables) {
        if !columns.contains(name) {
            columns.push(name.clone());
        }
    }
    let mut out = Vec::new();
    let has_time = rows.iter().any(|row| row.time.is_some());
    let has_event = rows.iter().any(|row| !row.events.is_empty());
    let mut sink = format.writer(
        Box::new(&mut out),
        Outline { columns: &columns, has_time, has_event, ..Outline::default() },
    )?;
    rows.iter().try_for_each(|row| sink.write(row))?;
    sink.finish()?;
    drop(sink);
    Ok(out)
}

/// The same batch as Parquet, as an Arrow file and as an Arrow stream.
fn files(batch: &RecordBatch) -> [(&'static dyn TraceFormat, Vec<u8>); 3] {
    let schema = batch.schema();
    let mut parquet = ArrowWriter::try_new(Vec::new(), schema.clone(), None).unwrap();
    parquet.write(batch).unwrap();
    let mut file = arrow::ipc::writer::FileWriter::try_new(Vec::new(), &schema).unwrap();
    file.write(batch).unwrap();
    let mut stream = arrow::ipc::writer::StreamWriter::try_new(Vec::new(), &schema).unwrap();
    stream.write(batch).unwrap();
    [
        (&Parquet, parquet.into_inner().unwrap()),
        (&Arrow, file.into_inner().unwrap()),
        (&Arrow, stream.into_inner().unwrap()),
    ]
}

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true)))
        .unwrap()
}

fn row(variables: &[(&str, Value)]) -> Row {
    let variables = variables.iter().map(|(name, value)| ((*name).into(), value.clone())).collect();
    Row { variables, typed: true, ..Row::default() }
}

#[test]
fn types_become_values() {
    let dictionary: DictionaryArray<Int8Type> = vec![Some("x"), None, Some("x")].into_iter().collect();
    let list = ListArray::from_iter_primitive::<Int32Type, _, _>(vec![
        Some(vec![Some(1), None]),
        None,
        Some(vec![]),
    ]);
    let structure = StructArray::from(vec![(
        Arc::new(Field::new("in", DataType::Boolean, true)),
        Arc::new(BooleanArray::from(vec![true, false, true])) as ArrayRef,
    )]);
    let batch = batch(vec![
        ("b", Arc::new(BooleanArray::from(vec![Some(true), None, Some(false)]))),
        ("i8", Arc::new(Int8Array::from(vec![-1, 0, 1]))),
        ("u64", Arc::new(UInt64Array::from(vec![0, 1, i64::MAX as u64]))),
        ("f32", Arc::new(Float32Array::from(vec![0.1, 2.0, -1.5]))),
        ("f64", Arc::new(Float64Array::from(vec![0.1, 2.0, -1.5]))),
        ("text", Arc::new(StringArray::from(vec![Some("a"), Some(""), None]))),
        ("large", Arc::new(LargeStringArray::from(vec!["a", "b", "c"]))),
        ("coded", Arc::new(dictionary)),
        ("day", Arc::new(Date32Array::from(vec![0, 1, -1]))),
        ("at", Arc::new(TimestampMillisecondArray::from(vec![0, 1500, -1]))),
        ("clock", Arc::new(Time64MicrosecondArray::from(vec![0, 3_723_500_000, 86_399_999_999]))),
        (
            "money",
            Arc::new(Decimal128Array::from(vec![150, 0, -25]).with_precision_and_scale(10, 2).unwrap()),
        ),
        (
            "whole",
            Arc::new(Decimal128Array::from(vec![150, 0, -25]).with_precision_and_scale(10, 0).unwrap()),
        ),
        ("list", Arc::new(list)),
        ("structure", Arc::new(structure)),
        ("bytes", Arc::new(BinaryArray::from(vec![&b"a"[..], b"", b"\xC3\xA4"]))),
    ]);
    let text = Value::text;
    let object = |bool| Value::Object(vec![("in".into(), Value::Bool(bool))]);
    let expected: [[Value; 3]; 16] = [
        [Value::Bool(true), Value::Null, Value::Bool(false)],
        [-1, 0, 1].map(Value::Int),
        [0, 1, i64::MAX].map(Value::Int),
        [0.1, 2.0, -1.5].map(Value::Real),
        [0.1, 2.0, -1.5].map(Value::Real),
        [text("a"), text(""), Value::Null],
        ["a", "b", "c"].map(text),
        [text("x"), Value::Null, text("x")],
        ["1970-01-01", "1970-01-02", "1969-12-31"].map(text),
        ["1970-01-01T00:00:00Z", "1970-01-01T00:00:01.5Z", "1969-12-31T23:59:59.999Z"].map(text),
        ["00:00:00", "01:02:03.5", "23:59:59.999999"].map(text),
        [1.5, 0.0, -0.25].map(Value::Real),
        [150, 0, -25].map(Value::Int),
        [Value::List(vec![Value::Int(1), Value::Null]), Value::Null, Value::List(vec![])],
        [object(true), object(false), object(true)],
        ["a", "", "ä"].map(text),
    ];
    for (format, bytes) in files(&batch) {
        let rows = rows_of(format, &bytes, &ReadOptions::default()).unwrap();
        assert_eq!(rows.len(), 3);
        for (at, row) in rows.iter().enumerate() {
            assert_eq!((row.line, row.typed, row.time), (at as u64 + 1, true, None));
            for (column, (name, value)) in row.variables.iter().enumerate() {
                assert_eq!(*value, expected[column][at], "{} {name} {at}", format.name());
            }
        }
    }
}

#[test]
fn time_and_event_columns() {
    let events: ArrayRef = Arc::new(StringArray::from(vec![Some("login"), None]));
    let times: [(ArrayRef, [Option<i64>; 2], bool); 6] = [
        (
            Arc::new(TimestampSecondArray::from(vec![Some(1), Some(2)]).with_timezone("+01:00")),
            [Some(1000), Some(2000)],
            true,
        ),
        (Arc::new(Date32Array::from(vec![0, 1])), [Some(0), Some(86_400_000)], true),
        (Arc::new(Int32Array::from(vec![Some(5), None])), [Some(5000), None], false),
        (Arc::new(Float64Array::from(vec![0.25, 1.0])), [Some(250), Some(1000)], false),
        (Arc::new(StringArray::from(vec!["1.5", "2"])), [Some(1500), Some(2000)], false),
        (
            Arc::new(StringArray::from(vec!["1970-01-01T00:00:01Z", "1970-01-01T00:00:02Z"])),
            [Some(1000), Some(2000)],
            true,
        ),
    ];
    for (array, milliseconds, as_text) in times {
        let batch = batch(vec![
            ("event", events.clone()),
            ("u", Arc::new(Int64Array::from(vec![1, 2]))),
            ("time", array),
        ]);
        for (format, bytes) in files(&batch) {
            let mut source = format.rows(Box::new(&*bytes), &ReadOptions::default()).unwrap();
            assert!(source.has_events());
            assert_eq!(source.header(), Some(vec!["u".into()]));
            let style = if as_text { TimeStyle::Text } else { TimeStyle::Number(Unit::Seconds) };
            let mut row = Row::default();
            for (at, milliseconds) in milliseconds.into_iter().enumerate() {
                assert!(source.next(&mut row).unwrap());
                assert_eq!(row.time, milliseconds.map(|time| Stamp { time: time * 1_000_000, style }));
                let login = Event { name: "login".into(), arguments: Arguments::OfRow };
                assert_eq!(row.events, if at == 0 { vec![login] } else { vec![] });
                assert_eq!(row.variables, [("u".into(), Value::Int(at as i64 + 1))]);
            }
            assert!(!source.next(&mut row).unwrap());
        }
    }
    let batch = batch(vec![("event", events), ("ts", Arc::new(Int64Array::from(vec![1, 2])))]);
    let options = |time: &str, event: &str| ReadOptions {
        time: Some(time.into()),
        event: Some(event.into()),
        ..ReadOptions::default()
    };
    for (format, bytes) in files(&batch) {
        let rows = rows_of(format, &bytes, &options("ts", "event")).unwrap();
        assert_eq!(rows[1].time.unwrap().time, 2_000_000_000);
        let error = |options| rows_of(format, &bytes, &options).unwrap_err().message;
        assert_eq!(
            error(options("t", "event")),
            "`⟨time: t⟩`: this file has no column `t`; did you mean `ts`?"
        );
        assert!(error(options("ts", "ts")).contains("cannot be the same column"));
    }
}

#[test]
fn time_and_event_may_stand_inside_columns_or_in_several() {
    let text = |values: [&str; 2]| Arc::new(StringArray::from(values.to_vec())) as ArrayRef;
    let field = |name: &str| Arc::new(Field::new(name, DataType::Utf8, true));
    let inner = StructArray::from(vec![
        (field("at"), text(["2024-05-01T12:00:00Z", "2024-05-01T12:00:01Z"])),
        (field("kind"), text(["up", "down"])),
    ]);
    let day: ArrayRef = Arc::new(Date32Array::from(vec![19844, 19844]));
    let batch = batch(vec![
        ("meta", Arc::new(inner)),
        ("Date", day),
        ("Time", text(["12:00:00", "12:00:01"])),
        ("x", Arc::new(Int64Array::from(vec![1, 2]))),
    ]);
    let projection = Projection::new(&[], None, true);
    for (format, bytes) in files(&batch) {
        for (time, event) in [("meta.at", Some("meta.kind")), ("Date Time", None)] {
            let options = ReadOptions {
                time: Some(time.into()),
                event: event.map(str::to_string),
                ..ReadOptions::default()
            };
            let rows = rows_of(format, &bytes, &options).unwrap();
            let times: Vec<String> = rows.iter().filter_map(|row| Some(row.time?.format())).collect();
            assert_eq!(times, ["2024-05-01T12:00:00Z", "2024-05-01T12:00:01Z"], "{time}");
            let events: Vec<&str> = rows.iter().flat_map(|row| &row.events).map(|own| &*own.name).collect();
            assert_eq!(events, event.map_or(vec![], |_| vec!["up", "down"]));
            let names: Vec<&str> = rows[0].variables.iter().map(|(name, _)| &**name).collect();
            assert_eq!(
                names,
                if event.is_some() { vec!["meta", "Date", "Time", "x"] } else { vec!["meta", "x"] }
            );
            let input = Input::from_bytes("t", bytes.clone());
            let mut scanned = Vec::new();
            let mut fold = |batch: tw_core::Batch| {
                scanned.extend(batch.times.unwrap_or_default());
                Ok(std::ops::ControlFlow::Continue(()))
            };
            tw_trace::scan(&input, format, &projection, &options, &Ok, &mut fold).unwrap();
            assert_eq!(scanned.iter().map(|time| time / 1_000_000_000 % 60).collect::<Vec<_>>(), [0, 1]);
        }
        for wrong in ["meta.att", "mta.at", "Date Tim"] {
            let options = ReadOptions { time: Some(wrong.into()), ..ReadOptions::default() };
            assert!(rows_of(format, &bytes, &options).is_err(), "{wrong}");
        }
    }
}

#[test]
fn what_no_trace_may_hold_is_an_error() {
    let cases: [(&str, ArrayRef, &str); 8] = [
        (
            "x",
            Arc::new(UInt64Array::from(vec![1, u64::MAX])),
            "f:2:1: `x`: found `18446744073709551615`, expected a whole number of 64 bits with a sign",
        ),
        (
            "x",
            Arc::new(Float64Array::from(vec![1.0, f64::NAN])),
            "f:2:1: `x`: found `NaN`, expected a finite number",
        ),
        (
            "x",
            Arc::new(Float32Array::from(vec![f32::INFINITY])),
            "f:1:1: `x`: found `inf`, expected a finite number",
        ),
        (
            "x",
            Arc::new(BinaryArray::from(vec![&b"\xFF"[..]])),
            "f:1:1: `x`: found 1 bytes that are not UTF-8, expected text",
        ),
        (
            "time",
            Arc::new(StringArray::from(vec!["soon"])),
            "f:1:1: `time`: found `soon`, expected a timestamp: a number (s) or RFC 3339 text",
        ),
        (
            "time",
            Arc::new(BooleanArray::from(vec![true])),
            "f:1:1: `time`: found a boolean, expected a timestamp: a number (s) or RFC 3339 text",
        ),
        (
            "time",
            Arc::new(TimestampSecondArray::from(vec![i64::MAX])),
            "f:1:1: `time`: found 9223372036854775807000000000 nanoseconds since 1970, which is beyond the range of 64-bit nanoseconds (about ±292 years)",
        ),
        (
            "event",
            Arc::new(Int64Array::from(vec![5])),
            "f:1:1: `event`: found an integer, expected the event's name as text, or null",
        ),
    ];
    for (name, array, expected) in cases {
        for (format, bytes) in files(&batch(vec![(name, array)])) {
            let error = rows_of(format, &bytes, &ReadOptions::default()).unwrap_err();
            assert_eq!(error.in_file("f").to_string(), expected, "{}", format.name());
        }
    }
}

#[test]
fn damaged_files_are_refused() {
    let batch = batch(vec![
        ("a", Arc::new(Int64Array::from(vec![1, 2, 3]))),
        ("b", Arc::new(StringArray::from(vec!["x", "y", "z"]))),
    ]);
    // The libraries' panics are caught; their words are not for the log of the tests.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let mut rng = Rng::new(7);
    let mut random = move || rng.bits() as usize;
    let mut refused = [0; 3];
    let all = files(&batch);
    for (kind, (format, bytes)) in all.iter().enumerate() {
        for cut in 0..bytes.len() {
            let read = rows_of(*format, &bytes[..cut], &ReadOptions::default());
            // A stream needs no end, so one that stops between two messages is whole.
            assert!(read.is_err() || (kind == 2 && [0, 3].contains(&read.unwrap().len())), "{kind} {cut}");
        }
        for _ in 0..400 {
            let mut bytes = bytes.clone();
            for _ in 0..1 + random() % 3 {
                let at = random() % bytes.len();
                bytes[at] = random() as u8;
            }
            refused[kind] += usize::from(rows_of(*format, &bytes, &ReadOptions::default()).is_err());
            // By parts a damaged file is refused or read as well, never more.
            let input = Input::from_bytes("f", bytes);
            let projection = Projection::new(&[], Some("b"), true);
            let options = ReadOptions { threads: 2, ..ReadOptions::default() };
            let fold = &mut |_| Ok(std::ops::ControlFlow::Continue(()));
            drop(tw_trace::scan(&input, *format, &projection, &options, &|batch| Ok(batch.len), fold));
        }
    }
    std::panic::set_hook(hook);
    assert!(refused.iter().all(|&count| count > 50), "{refused:?}");
    for format in ARROW_FORMATS {
        for bytes in [&b""[..], b"a,b\n1,2\n", b"PAR1PAR1", b"ARROW1\0\0"] {
            let error = rows_of(*format, bytes, &ReadOptions::default()).unwrap_err();
            assert!(error.message.contains("damaged"), "{error:?}");
        }
    }
}

#[test]
fn rows_survive_writing() {
    let stamp = |time, style| Some(Stamp { time, style });
    let seconds = TimeStyle::Number(Unit::Seconds);
    let login = |arguments| vec![Event { name: "login".into(), arguments }];
    let nested = Value::Object(vec![
        ("l".into(), Value::List(vec![Value::Int(1), Value::Null])),
        ("o".into(), Value::Object(vec![("deep".into(), Value::Bool(true))])),
    ]);
    let full = row(&[
        ("i", Value::Int(5)),
        ("r", Value::Real(0.5)),
        ("t", Value::text("")),
        ("b", Value::Bool(true)),
        ("n", nested),
    ]);
    let empty = row(&[
        ("i", Value::Null),
        ("r", Value::Null),
        ("t", Value::Null),
        ("b", Value::Null),
        ("n", Value::Null),
    ]);
    let cases: Vec<Vec<Row>> = vec![
        vec![full.clone(), empty.clone(), full.clone()],
        vec![
            Row { time: stamp(0, seconds), events: login(Arguments::OfRow), ..full.clone() },
            Row { time: stamp(2_000_000_000, seconds), ..empty },
        ],
        vec![Row { time: stamp(250_000_000, seconds), ..full.clone() }],
        vec![Row { time: stamp(1_700_000_000_123_456_789, seconds), ..full.clone() }],
        vec![Row { time: stamp(1_700_000_000_123_456_789, TimeStyle::Text), ..full.clone() }],
        vec![row(&[("x", Value::Int(1))]), row(&[("x", Value::Int(2))])],
        (0..70_000).map(|i| row(&[("x", Value::Int(i)), ("s", Value::text(&(i % 7).to_string()))])).collect(),
    ];
    for format in ARROW_FORMATS {
        for rows in &cases {
            let bytes = write(*format, rows).unwrap();
            let mut back = rows_of(*format, &bytes, &ReadOptions::default()).unwrap();
            back.iter_mut().for_each(|row| row.line = 0);
            assert_eq!(back.len(), rows.len());
            assert!(back == *rows, "{}: {:?}\n{:?}", format.name(), back[0], rows[0]);
        }
        // Reals and whole numbers become reals, absent variables null, arguments columns.
        let mixed = [row(&[("x", Value::Int(1))]), row(&[("y", Value::Real(1.5)), ("x", Value::Real(0.5))])];
        let back = rows_of(*format, &write(*format, &mixed).unwrap(), &ReadOptions::default()).unwrap();
        assert_eq!(back[0].variables, [("x".into(), Value::Real(1.0)), ("y".into(), Value::Null)]);
        let call =
            Row { events: login(Arguments::Positional(vec![Value::text("bob"), Value::Int(3)])), ..row(&[]) };
        let back = rows_of(*format, &write(*format, &[call]).unwrap(), &ReadOptions::default()).unwrap();
        assert_eq!(back[0].variables, [("arg1".into(), Value::text("bob")), ("arg2".into(), Value::Int(3))]);
        assert_eq!(rows_of(*format, &write(*format, &[]).unwrap(), &ReadOptions::default()).unwrap(), []);
    }
}

#[test]
fn untyped_columns_get_types_where_all_cells_agree() {
    let cells: [(&str, [&str; 2], [Value; 2]); 7] = [
        ("p", ["1", "0"], [Value::Int(1), Value::Int(0)]),
        ("b", ["true", ""], [Value::Bool(true), Value::Null]),
        ("r", ["1", "2.50"], [Value::Real(1.0), Value::Real(2.5)]),
        ("id", ["007", "8"], [Value::text("007"), Value::text("8")]),
        ("t", ["x", "8"], [Value::text("x"), Value::text("8")]),
        ("n", ["nan", "1"], [Value::text("nan"), Value::text("1")]),
        ("e", ["", ""], [Value::Null, Value::Null]),
    ];
    let rows: Vec<Row> = (0..2)
        .map(|at| Row {
            typed: false,
            ..row(&cells.clone().map(|(name, texts, _)| {
                (name, if texts[at].is_empty() { Value::Null } else { Value::text(texts[at]) })
            }))
        })
        .collect();
    for format in ARROW_FORMATS {
        let back = rows_of(*format, &write(*format, &rows).unwrap(), &ReadOptions::default()).unwrap();
        for (column, (name, _, expected)) in cells.iter().enumerate() {
            for at in 0..2 {
                assert_eq!(back[at].variables[column], ((*name).into(), expected[at].clone()), "{name}");
            }
        }
    }
}

#[test]
fn what_cannot_be_written_is_an_error() {
    let at = |line, row: Row| Row { line, ..row };
    let mut deep = Value::Int(1);
    for _ in 0..100 {
        deep = Value::List(vec![deep]);
    }
    let events = |count| Row {
        events: vec![Event { name: "e".into(), arguments: Arguments::OfRow }; count],
        ..row(&[])
    };
    let cases = [
        (
            vec![at(1, row(&[("x", Value::Int(1))])), at(2, row(&[("x", Value::text("a"))]))],
            "f:2: `{}` cannot hold column `x`, which has numbers and text; convert to `jsonl`",
        ),
        (
            vec![at(1, row(&[("x", Value::Int(i64::MAX))])), at(2, row(&[("x", Value::Real(0.5))]))],
            "f:2: `{}` cannot hold column `x`, which has reals and whole numbers that reals cannot tell apart; convert to `jsonl`",
        ),
        (
            vec![at(3, row(&[("x", deep)]))],
            "f:3: `{}` cannot hold column `x`, which has data nested more than 64 deep; convert to `jsonl`",
        ),
        (
            vec![at(3, row(&[("x", Value::Object(vec![]))]))],
            "f:3: `{}` cannot hold column `x`, which has an object without keys; convert to `jsonl`",
        ),
        (
            vec![at(3, row(&[("x", Value::Int(1)), ("x", Value::Int(2))]))],
            "f:3: `{}` cannot hold column `x` twice in a row; convert to `jsonl`",
        ),
        (
            vec![at(3, events(2))],
            "f:3: `{}` cannot hold several events at one position; convert to `monpoly`",
        ),
    ];
    for format in ARROW_FORMATS {
        for (rows, expected) in &cases {
            let error = write(*format, rows).unwrap_err().in_file("f").to_string();
            assert_eq!(error, expected.replace("{}", format.name()));
        }
    }
}

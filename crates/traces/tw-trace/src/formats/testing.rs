//! What the tests of the formats share: rows in and out, and the comparison of a fast path with the rows that define it.

use crate::{
    Arguments, Block, Outline, Projection, ReadOptions, Row, SlotBuilder, TraceError, TraceErrorKind,
    TraceFormat, TraceWarning, Vocabulary,
};
use std::sync::Arc;
use tw_core::{Time, Value};
use tw_ir::{ArgumentKey, Expect, Path, Slot, What};
use tw_testkit::Rng;

/// All rows of a text.
pub(super) fn rows_of(
    format: &dyn TraceFormat,
    text: &[u8],
    options: &ReadOptions,
) -> Result<Vec<Row>, TraceError> {
    // A buffer of few bytes, so that every token is met in pieces.
    let input = std::io::BufReader::with_capacity(7, text);
    let mut source = format.rows(Box::new(input), options)?;
    let mut rows = Vec::new();
    let mut row = Row::default();
    while source.next(&mut row)? {
        rows.push(row.clone());
    }
    Ok(rows)
}

/// Rows as text of a format.
pub(super) fn write(format: &dyn TraceFormat, rows: &[Row]) -> Result<String, TraceError> {
    let mut columns: Vec<Arc<str>> = Vec::new();
    for (name, _) in rows.iter().flat_map(|row| &row.variables) {
        if !columns.contains(name) {
            columns.push(name.clone());
        }
    }
    let has_time = rows.iter().any(|row| row.time.is_some());
    let has_event = rows.iter().any(|row| !row.events.is_empty());
    let mut out = Vec::new();
    let mut sink = format.writer(
        Box::new(&mut out),
        Outline { columns: &columns, has_time, has_event, ..Outline::default() },
    )?;
    for row in rows {
        sink.write(row)?;
    }
    sink.finish()?;
    drop(sink);
    Ok(String::from_utf8(out).expect("writers write text"))
}

/// Checks that each text fails with the message, which begins with `line:column: `.
pub(super) fn check_errors(format: &dyn TraceFormat, options: &ReadOptions, cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        let error = rows_of(format, text.as_bytes(), options).expect_err(text);
        assert_eq!(error.in_file("f").to_string(), format!("f:{expected}"), "{text:?}");
    }
}

/// A value as an untyped format gives it back.
pub(super) fn untyped(value: &Value) -> Value {
    match value {
        Value::Null => Value::Null,
        Value::List(values) => Value::List(values.iter().map(untyped).collect()),
        other => Value::text(&other.to_string()),
    }
}

/// A value of a kind that a cell can hold, with characters that are special to some format.
pub(super) fn random_value(rng: &mut Rng, line_breaks: bool) -> Value {
    const TEXTS: [&str; 22] = [
        "a", "bob", "a b", " a", "a\t", "\"", "a\"b", "\"\"", "a,b", ",", "x = y", "=", "ä,ö", "(", ")",
        "@5", "#", ";", "<b>&amp;", "]]>", "true", "1.50",
    ];
    match rng.below(12) {
        0 => Value::Int(rng.below(10) as i64 - 5),
        1 => Value::Real(rng.below(10) as f64 / 4.0),
        2 => Value::Bool(rng.below(2) == 0),
        3 => Value::text(""),
        4 if line_breaks => Value::text(rng.pick(&["a\nb", "\n", "\r\nx", " \r"])),
        _ => Value::text(rng.pick(&TEXTS)),
    }
}

pub(super) fn slot(what: What) -> Slot {
    Slot { what, declared: false, span: Default::default() }
}

pub(super) fn proposition(name: &str) -> Slot {
    slot(What::Proposition(Path::field(name)))
}

pub(super) fn variable(name: &str, expect: Expect) -> Slot {
    slot(What::Variable(Path::field(name), expect))
}

pub(super) fn event(name: &str, arguments: &[(ArgumentKey, Value)], arity: Option<usize>) -> Slot {
    slot(What::Event { name: name.to_string(), arguments: arguments.to_vec(), arity })
}

/// An event pattern with variables for the arguments at these positions.
pub(super) fn tuples(
    name: &str,
    constants: &[(ArgumentKey, Value)],
    arity: Option<usize>,
    arguments: &[usize],
) -> Slot {
    let arguments = arguments.iter().map(|&index| ArgumentKey::Index(index)).collect();
    slot(What::Tuples { name: name.to_string(), constants: constants.to_vec(), arity, arguments })
}

/// What a reading delivers: for each position its slots and key, times, lines of positions, warnings.
#[derive(Debug, PartialEq)]
struct Reading {
    values: Vec<Vec<Value>>,
    times: Option<Vec<Time>>,
    lines: Vec<u64>,
    warnings: Vec<TraceWarning>,
}

fn by_definition(
    format: &dyn TraceFormat,
    text: &[u8],
    projection: &Projection,
    options: &ReadOptions,
) -> Result<Reading, TraceError> {
    let mut source = format.rows(Box::new(text), options)?;
    let mut vocabulary = Vocabulary::new(projection.slots.len());
    let mut builder = SlotBuilder::new(projection);
    let (mut row, mut lines, mut last, mut timed) = (Row::default(), Vec::new(), Time::MIN, false);
    while source.next(&mut row)? {
        if let Some(now) = row.time {
            if now.time < last {
                return Err(TraceError::new(TraceErrorKind::Time, "decreasing").at(row.line, 1));
            }
            (last, timed) = (now.time, true);
        }
        builder.push(&row, &mut vocabulary)?;
        lines.push(row.line);
    }
    let batch = builder.finish(timed);
    let values =
        (0..batch.len).map(|at| batch.slots.iter().map(|column| column.value(at)).collect()).collect();
    let warnings = vocabulary.judge(projection, format.card().open_vocabulary)?;
    Ok(Reading { values, times: batch.times, lines, warnings })
}

fn by_blocks(
    format: &dyn TraceFormat,
    text: &[u8],
    projection: &Projection,
    options: &ReadOptions,
    rng: &mut Rng,
) -> Result<Reading, TraceError> {
    let start = format.blocks(text, projection, options)?.expect("a fast path");
    let mut text = &text[start.skip..];
    let mut reading = Reading { values: Vec::new(), times: None, lines: Vec::new(), warnings: Vec::new() };
    let (mut before, mut last) = (start.skip_lines, Time::MIN);
    let whole = rng.below(3) == 0;
    // Bytes that an open record has been read to already.
    let mut known = 0;
    loop {
        let target = if whole { text.len() } else { known + rng.below(text.len() - known + 1) };
        let end = memchr::memchr(b'\n', &text[target..]).map_or(text.len(), |at| target + at + 1);
        // What follows may not have arrived.
        let next = text.get(end).copied().filter(|_| rng.below(4) > 0);
        let block = Block { bytes: &text[..end], last: end == text.len(), next };
        let mut got = start.reader.read(block).map_err(|mut error| {
            error.line = error.line.map(|line| line + before);
            error
        })?;
        let used = got.open_from.take().unwrap_or(end);
        known = end - used;
        let bytes = &text[..used];
        text = &text[used..];
        assert!(known == 0 || end < used + text.len(), "a record is open at the end");
        if let Some((first, now)) = got.time_range {
            if first < last {
                return Err(TraceError::new(TraceErrorKind::Time, "decreasing"));
            }
            last = now;
        }
        assert!(got.batch.slots.iter().all(|column| column.len() == got.batch.len));
        for at in 0..got.batch.len {
            reading.values.push(got.batch.slots.iter().map(|column| column.value(at)).collect());
            let (range, line) = start.reader.locate(bytes, at).expect("every position has a place");
            assert_eq!(memchr::memchr_iter(b'\n', &bytes[..range.start]).count() as u64, line);
            reading.lines.push(before + line + 1);
        }
        assert_eq!(start.reader.locate(bytes, got.batch.len), None);
        if let Some(times) = got.batch.times {
            reading.times.get_or_insert_default().extend(times);
        }
        assert_eq!(
            got.lines,
            memchr::memchr_iter(b'\n', bytes).count() as u64
                + u64::from(text.is_empty() && bytes.last().is_some_and(|&last| last != b'\n'))
        );
        before += got.lines;
        if text.is_empty() {
            break;
        }
    }
    reading.warnings = start.reader.finish()?;
    Ok(reading)
}

/// The fast path, with random cuts, delivers what rows deliver and fails where and as they fail. Returns whether the text
/// was good.
pub(super) fn check_blocks(
    format: &dyn TraceFormat,
    text: &[u8],
    projection: &Projection,
    options: &ReadOptions,
    rng: &mut Rng,
) -> bool {
    let expected = by_definition(format, text, projection, options);
    let got = by_blocks(format, text, projection, options, rng);
    let shown = || format!("{:?}\n{:?}", String::from_utf8_lossy(text), projection.slots);
    match (&expected, &got) {
        (Ok(expected), Ok(got)) => {
            if expected.values.is_empty() {
                assert!(got.values.is_empty());
            } else {
                assert_eq!(expected, got, "{}", shown());
            }
        }
        // Which of two blocks runs backwards is not for a block to say, nor which fault of one line comes first.
        (Err(expected), Err(got))
            if expected.kind == TraceErrorKind::Time && expected.message == "decreasing" =>
        {
            assert!(got.kind == TraceErrorKind::Time || got.line >= expected.line, "{got:?} {}", shown());
        }
        (Err(expected), Err(got)) => assert_eq!(expected, got, "{}", shown()),
        _ => panic!("{expected:?}\n{got:?}\n{}", shown()),
    }
    expected.is_ok()
}

/// Names and arguments of a row's events, for short assertions.
pub(super) fn show(row: &Row) -> String {
    let mut out = row.time.map_or(String::new(), |stamp| format!("@{} ", stamp.format()));
    for event in &row.events {
        out.push_str(&event.name);
        if let Arguments::Positional(values) = &event.arguments {
            out.push_str(
                &format!("{values:?}")
                    .replace("Str(", "")
                    .replace(')', "")
                    .replace("\\\"", "''")
                    .replace('"', "'"),
            );
        }
        out.push(' ');
    }
    for (name, value) in &row.variables {
        out.push_str(&format!("{name}={value} "));
    }
    out.trim_end().to_string()
}

//! The walker against the definition, and both against another JSON parser.

mod generate;

use super::leads::Learner;
use super::plan::Plan;
use super::*;
use crate::formats::json_record::RecordReader;
use crate::{Block, Row, SlotBuilder, Stamp, TraceError, TraceErrorKind, TraceWarning, Vocabulary};
use generate::{case, path, slot};
use tw_core::{Column, Time, Value};
use tw_ir::{Expect, What};
use tw_testkit::Rng;

/// What a reading yields: the values of every position, the timestamps, and what is said about names at the end.
#[derive(Debug, PartialEq)]
struct Reading {
    rows: Vec<Vec<Value>>,
    times: Option<Vec<Time>>,
    names: Result<Vec<TraceWarning>, String>,
}

type Outcome = Result<Reading, (TraceErrorKind, Option<u64>, String)>;

fn failure(error: TraceError, lines: u64) -> (TraceErrorKind, Option<u64>, String) {
    (error.kind, error.line.map(|line| line + lines), error.message)
}

fn transpose(columns: &[Column], len: usize, into: &mut Vec<Vec<Value>>) {
    assert!(columns.iter().all(|column| column.len() == len));
    into.extend((0..len).map(|at| columns.iter().map(|column| column.value(at)).collect()));
}

/// By the definition.
fn by_rows(text: &[u8], projection: &Projection, options: &ReadOptions) -> Outcome {
    let mut source = Jsonl.rows(Box::new(text), options).map_err(|error| failure(error, 0))?;
    let mut builder = SlotBuilder::new(projection);
    let mut vocabulary = Vocabulary::new(projection.slots.len());
    let (mut row, mut before, mut timed) = (Row::default(), None::<Stamp>, false);
    while source.next(&mut row).map_err(|error| failure(error, 0))? {
        if let (Some(stamp), Some(before)) = (row.time, before)
            && stamp.time < before.time
        {
            let error = TraceError::decreasing(stamp, before).at(row.line, 1);
            return Err(failure(error, 0));
        }
        before = row.time.or(before);
        timed |= row.time.is_some();
        builder.push(&row, &mut vocabulary).map_err(|error| failure(error, 0))?;
    }
    let batch = builder.finish(timed);
    let mut rows = Vec::new();
    transpose(&batch.slots, batch.len, &mut rows);
    let names = vocabulary.judge(projection, false).map_err(|error| error.message);
    Ok(Reading { rows, times: batch.times, names })
}

/// By blocks of about `size` bytes; `None` if there is no fast path.
fn by_blocks(text: &[u8], projection: &Projection, options: &ReadOptions, size: usize) -> Option<Outcome> {
    let start = match Jsonl.blocks(text, projection, options) {
        Ok(start) => start?,
        Err(error) => return Some(Err(failure(error, 0))),
    };
    let mut rest = &text[start.skip..];
    let mut lines = start.skip_lines;
    let (mut rows, mut times, mut last) = (Vec::new(), None::<Vec<Time>>, Time::MIN);
    while !rest.is_empty() {
        let from = size.min(rest.len());
        let end =
            rest[from..].iter().position(|&b| b == b'\n').map_or(rest.len(), |newline| from + newline + 1);
        let (bytes, after) = rest.split_at(end);
        rest = after;
        let read =
            match start.reader.read(Block { bytes, last: rest.is_empty(), next: rest.first().copied() }) {
                Ok(read) => read,
                Err(error) => return Some(Err(failure(error, lines))),
            };
        assert_eq!(read.open_from, None);
        assert_eq!(read.lines, bytes.split_inclusive(|&b| b == b'\n').count() as u64);
        if let Some((first, end)) = read.time_range {
            if first < last {
                return Some(Err((TraceErrorKind::Time, None, String::new())));
            }
            last = end;
        }
        for index in (0..read.batch.len).step_by(1 + read.batch.len / 100) {
            let (range, line) = start.reader.locate(bytes, index).unwrap();
            assert!(range.start == 0 || bytes[range.start - 1] == b'\n');
            assert_eq!(bytes[..range.start].iter().filter(|&&b| b == b'\n').count() as u64, line);
        }
        assert_eq!(start.reader.locate(bytes, read.batch.len), None);
        lines += read.lines;
        transpose(&read.batch.slots, read.batch.len, &mut rows);
        if let Some(more) = read.batch.times {
            times.get_or_insert_default().extend(more);
        }
    }
    let names = start.reader.finish().map_err(|error| error.message);
    Some(Ok(Reading { rows, times, names }))
}

/// Compares; true if the trace was accepted.
fn agree(text: &[u8], projection: &Projection, options: &ReadOptions, size: usize, seed: u64) -> bool {
    let expected = by_rows(text, projection, options);
    let shown = String::from_utf8_lossy(text);
    if let Some(outcome) = by_blocks(text, projection, options, size) {
        match (&outcome, &expected) {
            // Disorder between two blocks is for the caller of blocks to find.
            (Err((TraceErrorKind::Time, None, _)), Err((TraceErrorKind::Time, _, _))) => {}
            (Err((_, found, _)), Err((TraceErrorKind::Time, line, message)))
                if size < text.len() && message.contains("must not decrease") =>
            {
                assert!(found >= line, "seed {seed}: {shown}");
            }
            (Ok(blocks), Ok(rows)) if blocks.rows.is_empty() => {
                assert_eq!(rows.rows.len(), 0, "seed {seed}: {shown}")
            }
            _ => assert_eq!(outcome, expected, "seed {seed}, blocks of {size}: {shown}"),
        }
    }
    expected.is_ok()
}

#[test]
fn the_walker_reads_what_the_definition_reads() {
    let mut accepted = [0; 2];
    for seed in 0..24_000 {
        let errors = seed % 2 == 1;
        let (slots, key, text) = case(seed, errors);
        let projection = Projection::new(&slots, key, seed % 3 != 0);
        let size = [1, 40, 200, 1 << 20][seed as usize / 2 % 4];
        accepted[usize::from(errors)] +=
            u32::from(agree(text.as_bytes(), &projection, &ReadOptions::default(), size, seed));
    }
    // Not a test of refusals alone.
    assert!(accepted[0] > 9_000 && accepted[1] > 3_000, "{accepted:?}");
}

/// What the walker reads by itself, with the fastest instructions and with any machine's.
fn walked(text: &[u8], projection: &Projection) -> Option<Vec<Vec<Value>>> {
    let options = ReadOptions::default();
    let keys = Keys::new(&options).unwrap();
    let plan = Plan::new(projection, keys.clone(), rows::first_is_timed(text, &keys)?)?;
    let read = |read: fn(&Plan, &mut Learner, &[u8]) -> Option<crate::BlockBatch>| {
        let mut learner = Learner::new(&plan, walk::CURSORS);
        // The second time with what was learned the first time.
        let first = read(&plan, &mut learner, text);
        let second = read(&plan, &mut learner, text);
        let rows = |batch: Option<crate::BlockBatch>| {
            batch.map(|batch| {
                let mut rows = Vec::new();
                transpose(&batch.batch.slots, batch.batch.len, &mut rows);
                (rows, batch.batch.times, batch.time_range, batch.lines)
            })
        };
        let (first, second) = (rows(first), rows(second));
        assert_eq!(first, second);
        first
    };
    let (fast, portable) = (read(walk::read), read(walk::read_portable));
    assert_eq!(fast, portable);
    fast.map(|(rows, ..)| rows)
}

#[test]
fn the_walker_seldom_asks_the_definition() {
    let (mut accepted, mut by_itself) = (0, 0);
    for seed in 0..6_000 {
        let (slots, key, text) = case(seed * 2, false);
        // A key inside an object that is read for something else, too, is for the definition.
        let key = key.filter(|key| !key.contains('.'));
        let projection = Projection::new(&slots, key, true);
        // So are events with their arguments.
        if projection.has_tuples() {
            continue;
        }
        let bytes = text.as_bytes();
        let Ok(expected) = by_rows(bytes, &projection, &ReadOptions::default()) else { continue };
        accepted += 1;
        let walked = walked(bytes, &projection);
        if let Some(rows) = walked {
            by_itself += 1;
            assert_eq!(rows, expected.rows, "seed {seed}: {text}");
        }
    }
    // The rest: names that are variables and events at once, values found in two places.
    assert!(by_itself * 100 > accepted * 85, "{by_itself} of {accepted}");
}

#[test]
fn broken_bytes_are_refused_alike() {
    let options = ReadOptions::default();
    let (mut accepted, mut refused) = (0, 0);
    for seed in 0..20_000 {
        let (slots, key, text) = case(seed * 2, false);
        let mut rng = Rng::new(seed + 77);
        let mut bytes = text.into_bytes();
        if bytes.is_empty() {
            continue;
        }
        for _ in 0..=rng.below(2) {
            let at = rng.below(bytes.len());
            match rng.below(4) {
                0 => bytes[at] ^= 1 << rng.below(8),
                1 => bytes[at] = b"{}[],:\"\\ \n\t0123456789.eE+-tfn\x00\x1f\x7f\x80\xff"[rng.below(34)],
                2 => drop(bytes.remove(at)),
                _ => bytes.insert(at, b"{}[],:\"\\ \n0-"[rng.below(12)]),
            }
            if bytes.is_empty() {
                break;
            }
        }
        let projection = Projection::new(&slots, key, true);
        let size = [1, 100, 1 << 20][seed as usize % 3];
        if agree(&bytes, &projection, &options, size, seed) {
            accepted += 1;
        } else {
            refused += 1;
        }
    }
    assert!(accepted > 1_000 && refused > 5_000, "{accepted} accepted, {refused} refused");
}

/// Another parser as the judge of single lines: the definition and the walker accept what it accepts.
#[test]
fn lines_are_json_if_another_parser_says_so() {
    let mut keys = Keys::new(&ReadOptions::default()).unwrap();
    (keys.time, keys.event) = ("no such key".to_string(), "nor this one".to_string());
    let projection = Projection::default();
    let (mut good, mut bad) = (0, 0);
    for seed in 0..30_000u64 {
        let (_, _, text) = case(seed, seed % 2 == 1);
        let Some(line) = text.lines().find(|line| line.len() > 2) else { continue };
        let mut rng = Rng::new(seed + 5);
        let mut bytes = line.as_bytes().to_vec();
        for _ in 0..rng.below(3) {
            let at = rng.below(bytes.len());
            bytes[at] = match rng.below(3) {
                0 => bytes[at] ^ 1 << rng.below(8),
                1 => b"{}[],:\"\\ \t0123456789.eE+-tfnu\x00\x1f\x7f\x80\xff"[rng.below(34)],
                _ => bytes[rng.below(bytes.len())],
            };
        }
        if bytes.contains(&b'\n') {
            continue;
        }
        let judge = serde_json::from_slice::<serde_json::Value>(&bytes);
        if judge.as_ref().is_err_and(|error| error.to_string().contains("number out of range")) {
            // Too large for a double is refused there, and kept as text here.
            continue;
        }
        let expected = judge.is_ok_and(|value| value.is_object());
        let shown = String::from_utf8_lossy(&bytes);
        let mut row = Row::default();
        let text = std::str::from_utf8(&bytes);
        let defined = text
            .is_ok_and(|text| RecordReader::new(keys.clone(), None).read(text, (1, 1), "", &mut row).is_ok());
        assert_eq!(defined, expected, "{shown}");
        if std::str::from_utf8(&bytes).is_ok() {
            let plan = Plan::new(&projection, keys.clone(), false).unwrap();
            let walked = walk::read(&plan, &mut Learner::new(&plan, walk::CURSORS), &bytes);
            assert_eq!(walked.is_some(), expected, "{shown}");
        }
        if expected { good += 1 } else { bad += 1 }
    }
    assert!(good > 10_000 && bad > 3_000, "{good} good, {bad} bad");
}

#[test]
fn errors_name_the_place() {
    for (text, line, column, part) in [
        ("{\"a\":1}\n[1]\n", 2, 1, "found `[`, expected a JSON object"),
        ("{\"a\":1}\n\n{\"a\":1", 3, 7, "found the end of the line, expected `,` or `}`"),
        ("{\"a\":1} x\n", 1, 9, "found `x`, expected the end of the line"),
        ("{\"é\":NaN}\n", 1, 6, "found `NaN`, expected a JSON value"),
        ("{\"a\":01}\n", 1, 7, "found `1`, expected no digit after a leading zero"),
        ("{\"a\":\"\\ud800\"}\n", 1, 7, "lone surrogate"),
        ("{\"a\":\"\t\"}\n", 1, 7, "control character U+0009"),
        ("{\"a\" 1}\n", 1, 6, "expected `:`"),
        ("{\"a\":1,}\n", 1, 8, "expected a key"),
        ("{\"a\":[1,2}\n", 1, 10, "expected `,` or `]`"),
        ("{\"a\":{\"b\":1]\n", 1, 12, "expected `,` or `}`"),
        ("{\"time\":true}\n", 1, 9, "expected a timestamp"),
        ("{\"time\":\"soon\"}\n", 1, 9, "found `soon` (not a number)"),
        ("{\"time\":1}\n{\"time\":0.5}\n", 2, 1, "must not decrease"),
        ("{\"time\":1}\n{\"a\":1}\n", 2, 1, "found no timestamp"),
        ("{\"a\":1}\n{\"time\":1}\n", 2, 9, "found a timestamp"),
        ("{\"time\":1,\"time\":2}\n", 1, 11, "second time"),
        ("{\"event\":3}\n", 1, 10, "expected the event's name"),
        ("{\"p\":1,\"n\":2}\n{\"p\":1,\"n\":\"x\"}\n", 2, 12, "found the text `x`, expected a finite number"),
        ("{\"n\":18446744073709551616}\n", 1, 6, "`18446744073709551616`"),
        ("{\"n\":-1e999}\n", 1, 6, "`-1e999`"),
        ("{\"o\":{\"x\":{}},\"p\":1}\n", 1, 6, "found an object"),
    ] {
        let slots = [
            slot(What::Proposition(path("p"))),
            slot(What::Variable(path("n"), Expect::Number)),
            slot(What::Variable(path("o.x"), Expect::Number)),
        ];
        let projection = Projection::new(&slots, None, true);
        let keys = Keys::new(&ReadOptions::default()).unwrap();
        let timed = text.starts_with("{\"time\"");
        let reader = reader::Reader::new(projection, keys, timed, &ReadOptions::default());
        let error =
            crate::BlockReader::read(&reader, Block { bytes: text.as_bytes(), last: true, next: None })
                .unwrap_err();
        assert!(error.message.contains(part), "{text}: {error}");
        assert_eq!((error.line, error.column), (Some(line), Some(column)), "{text}: {error}");
    }
    let error = by_rows(b"{\"a\":1}\n{\"b\":\"ok \xFF\"}\n", &Projection::default(), &ReadOptions::default());
    assert_eq!(
        error.unwrap_err(),
        (TraceErrorKind::Syntax, Some(2), "found the byte 0xFF, expected UTF-8 text".to_string())
    );
}

#[test]
fn depth_is_bounded_and_costs_no_stack() {
    let nested = |depth: usize| format!("{{\"a\":{}{}}}\n", "[".repeat(depth), "]".repeat(depth));
    let objects = |depth: usize| format!("{{\"a\":{}1{}}}\n", "{\"b\":".repeat(depth), "}".repeat(depth));
    let options = ReadOptions::default();
    for (text, fits) in [
        (nested(511), true),
        (nested(512), false),
        (objects(511), true),
        (objects(512), false),
        (nested(1_000_000), false),
        (objects(100_000), false),
    ] {
        let rows = by_rows(text.as_bytes(), &Projection::default(), &options);
        assert_eq!(rows.is_ok(), fits);
        assert_eq!(by_blocks(text.as_bytes(), &Projection::default(), &options, 1 << 20).is_some(), fits);
        assert_eq!(walked(text.as_bytes(), &Projection::default()).is_some(), fits);
        if let Err((kind, _, message)) = rows {
            assert_eq!(
                (kind, message),
                (TraceErrorKind::Budget, "found data nested deeper than 512 levels".to_string())
            );
        }
    }
}

#[test]
fn limits_and_options_are_kept() {
    let text = b"{\"ts\":1500,\"kind\":\"login\",\"time\":7,\"a\":1}\n";
    let options = ReadOptions {
        time: Some("ts".to_string()),
        event: Some("kind".to_string()),
        unit: tw_core::TimeUnit::Milliseconds,
        ..ReadOptions::default()
    };
    let slots = [slot(What::Proposition(path("login"))), slot(What::Variable(path("time"), Expect::Number))];
    let projection = Projection::new(&slots, None, true);
    let reading = by_blocks(text, &projection, &options, 1).unwrap().unwrap();
    assert_eq!(reading.times, Some(vec![1_500_000_000]));
    assert_eq!(reading.rows, [[Value::Bool(true), Value::Int(7)]]);
    assert_eq!(by_rows(text, &projection, &options), Ok(reading));

    let absent = ReadOptions { time: Some("when".to_string()), ..ReadOptions::default() };
    assert!(by_rows(text, &projection, &absent).unwrap_err().2.contains("`when` that `⟨time⟩` names"));
    assert!(by_blocks(text, &projection, &absent, 1).is_none());
    let same = ReadOptions { time: Some("a".into()), event: Some("a".into()), ..ReadOptions::default() };
    assert!(Jsonl.rows(Box::new(&text[..]), &same).is_err());
    for small in [
        ReadOptions { max_record: 20, ..ReadOptions::default() },
        ReadOptions { max_columns: 3, ..ReadOptions::default() },
    ] {
        let (rows, blocks) = (by_rows(text, &projection, &small), by_blocks(text, &projection, &small, 1));
        assert_eq!(rows.as_ref().unwrap_err().0, TraceErrorKind::Budget);
        assert!(blocks.is_none_or(|blocks| blocks == rows));
    }
    assert!(
        Jsonl
            .blocks(text, &projection, &ReadOptions { sort: Some(1), ..ReadOptions::default() })
            .unwrap()
            .is_none()
    );
}

#[test]
fn rows_know_where_their_values_are() {
    let text = b"\n{ \"time\": 1, \"\xC3\xA9\": 2, \"b\" :[3]}";
    let mut source = Jsonl.rows(Box::new(&text[..]), &ReadOptions::default()).unwrap();
    assert!(source.next(&mut Row::default()).unwrap());
    assert_eq!(source.place("\u{e9}"), Some((2, 19)));
    assert_eq!(source.place("b"), Some((2, 27)));
    assert_eq!(source.place("time"), None);
}

/// More keys, events and states than are remembered; lines and keys longer than a lead.
#[test]
fn what_is_not_remembered_is_read_all_the_same() {
    let mut text = String::new();
    for row in 0..40_000 {
        let long = "long".repeat(row % 20);
        text.push_str(&format!(
            "{{\"time\":{row},\"event\":\"e{row}\",\"key{row}\":{row},\"{long}\":\"{long}\",\"n\":{row},\"o\":{{\"{long}\":{{\"x\":{row}}}}}}}\n"
        ));
    }
    let slots = [
        slot(What::Variable(path("n"), Expect::Number)),
        slot(What::Proposition(path("e39999"))),
        slot(What::Variable(path("o.longlong.x"), Expect::Int)),
        slot(What::Variable(path("key3"), Expect::Any)),
    ];
    let projection = Projection::new(&slots, Some("n"), true);
    assert!(agree(text.as_bytes(), &projection, &ReadOptions::default(), 1 << 30, 0));
    assert!(walked(text.as_bytes(), &projection).is_some());
}

#[test]
fn a_nested_key_is_walked() {
    let slots = [slot(What::Variable(path("http.status"), Expect::Number))];
    let projection = Projection::new(&slots, Some("http.user"), false);
    let text = "{\"http\":{\"user\":\"eve\",\"status\":200}}\n{\"http\":{\"status\":404}}\n{\"http\":{\"user\":7}}\n";
    let expected = by_rows(text.as_bytes(), &projection, &ReadOptions::default()).unwrap();
    let keys: Vec<String> = expected.rows.iter().map(|row| row[1].to_string()).collect();
    assert_eq!(keys, ["eve", "null", "7"]);
    assert_eq!(walked(text.as_bytes(), &projection), Some(expected.rows));
    // A column of that very name comes first.
    let both = "{\"http.user\":\"bob\",\"http\":{\"user\":\"eve\",\"status\":200}}\n";
    assert!(agree(both.as_bytes(), &projection, &ReadOptions::default(), 1 << 20, 0));
    let read = by_rows(both.as_bytes(), &projection, &ReadOptions::default()).unwrap();
    assert_eq!(read.rows[0][1].to_string(), "bob");
}

#[test]
fn what_the_walker_does_not_know_is_read_block_by_block() {
    let text = "{\"m\":{\"at\":1,\"kind\":\"up\"},\"n\":\"-\",\"s\":\"x\"}\n\
                {\"m\":{\"at\":2},\"n\":4,\"s\":\"-\"}\n\n{\"m\":{\"at\":2.5,\"kind\":\"up\"},\"n\":5}\n";
    let slots = [
        slot(What::Variable(path("n"), Expect::Number)),
        slot(What::Variable(path("s"), Expect::Text)),
        slot(What::Event { name: "up".into(), arguments: vec![], arity: None }),
    ];
    let projection = Projection::new(&slots, Some("m.kind"), true);
    let options = ReadOptions {
        time: Some("m.at".into()),
        event: Some("m.kind".into()),
        null: Some("-".into()),
        ..ReadOptions::default()
    };
    let mut seen = Vec::new();
    for size in [1, 60, 1 << 20] {
        let found = by_blocks(text.as_bytes(), &projection, &options, size).expect("blocks").expect("good");
        seen.push((found.rows, found.times));
    }
    let times: Vec<Time> = vec![1_000_000_000, 2_000_000_000, 2_500_000_000];
    let row = |n: Value, s: Value, up: bool, kind: Value| vec![n, s, Value::Bool(up), kind];
    let (up, null) = (Value::text("up"), Value::Null);
    let rows = vec![
        row(null.clone(), Value::text("x"), true, up.clone()),
        row(Value::Int(4), null.clone(), false, null.clone()),
        row(Value::Int(5), null, true, up),
    ];
    for (found, stamps) in seen {
        let whole = |value: Value| match value {
            Value::Real(real) => Value::Int(real as i64),
            other => other,
        };
        let found: Vec<Vec<Value>> =
            found.into_iter().map(|row| row.into_iter().map(whole).collect()).collect();
        assert_eq!((found, stamps), (rows.clone(), Some(times.clone())));
    }
}

//! What the fuzz targets assert: no panic on any bytes, the fast path of a reader agrees with its definition at every
//! block size, and printing a specification reads back as the same specification.

use std::io::Cursor;
use tw_core::{Batch, Value};
use tw_diag::Span;
use tw_ir::{ArgumentKey, Expect, Path, Slot, What};
use tw_trace::{Input, Projection, ReadOptions, Row, SlotBuilder, Vocabulary};

fn slot(what: What) -> Slot {
    Slot { what, declared: true, span: Span::default() }
}

/// An argument found by its place or by its name, whichever the format has.
fn declared(index: usize, name: &str) -> ArgumentKey {
    ArgumentKey::Declared { index, name: name.into(), of: 2 }
}

/// A projection that uses every kind of slot.
fn slots() -> Vec<Slot> {
    vec![
        slot(What::Proposition(Path::field("a"))),
        slot(What::Proposition(Path::field("b"))),
        slot(What::Variable(Path::field("x"), Expect::Any)),
        slot(What::Variable(Path::field("n"), Expect::Number)),
        slot(What::Variable(Path::field("s"), Expect::Text)),
        slot(What::Event { name: "login".into(), arguments: Vec::new(), arity: None }),
        slot(What::Event {
            name: "login".into(),
            arguments: vec![(declared(0, "s"), Value::text("u"))],
            arity: None,
        }),
        slot(What::Tuples {
            name: "login".into(),
            constants: Vec::new(),
            arity: None,
            arguments: vec![declared(0, "s"), declared(1, "n")],
        }),
        slot(What::Tuples {
            name: "login".into(),
            constants: vec![(declared(0, "s"), Value::text("u"))],
            arity: None,
            arguments: vec![declared(1, "n")],
        }),
    ]
}

/// Everything the slots are worth, as text, or the error.
fn scan(
    format: &dyn tw_trace::TraceFormat,
    data: &[u8],
    options: &ReadOptions,
) -> Result<Vec<String>, String> {
    let slots = slots();
    let projection = Projection::new(&slots, Some("s"), true);
    let input = Input::from_bytes("fuzz", data.to_vec());
    let mut all = Vec::new();
    let map = |batch: Batch| Ok(shown(&batch));
    let mut fold = |rows: Vec<String>| {
        all.extend(rows);
        Ok(std::ops::ControlFlow::Continue(()))
    };
    match tw_trace::scan(&input, format, &projection, options, &map, &mut fold) {
        Ok(_) => Ok(all),
        Err(error) => Err(error.to_string()),
    }
}

/// What the slots are worth by the definition: rows, one after another, through the slot builder.
fn defined(
    format: &dyn tw_trace::TraceFormat,
    data: &[u8],
    options: &ReadOptions,
) -> Result<Vec<String>, String> {
    let slots = slots();
    let projection = Projection::new(&slots, Some("s"), true);
    // The byte order mark is taken off before a format sees the bytes.
    let data = data.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(data);
    let text = |error: tw_trace::TraceError| error.to_string();
    let mut rows = format.rows(Box::new(Cursor::new(data)), options).map_err(text)?;
    let mut builder = SlotBuilder::new(&projection);
    let mut vocabulary = Vocabulary::new(slots.len());
    let mut row = Row::default();
    let mut timed = false;
    while rows.next(&mut row).map_err(text)? {
        timed |= row.time.is_some();
        builder.push(&row, &mut vocabulary).map_err(text)?;
    }
    Ok(shown(&builder.finish(timed)))
}

fn shown(batch: &Batch) -> Vec<String> {
    (0..batch.len)
        .map(|at| {
            let values: Vec<Value> = batch.slots.iter().map(|slot| slot.value(at)).collect();
            format!("{values:?} {:?}", batch.times.as_ref().map(|times| times[at]))
        })
        .collect()
}

/// Reads bytes as a trace in several ways; all of them answer alike.
pub fn reader(format: &str, data: &[u8]) {
    let Some(format) = tracewise::trace::format_named(format) else { return };
    let mut options = ReadOptions { threads: 1, max_record: 1 << 20, ..ReadOptions::default() };
    options.settle(format, &data[..data.len().min(64 << 10)]);
    let whole = scan(format, data, &options);
    for block in [1, 7, 64, 4096] {
        let cut = scan(format, data, &ReadOptions { block, ..options.clone() });
        match (&whole, &cut) {
            (Ok(a), Ok(b)) => assert_eq!(a, b, "block size {block}"),
            (Err(a), Err(b)) => assert_eq!(a, b, "block size {block}"),
            _ => panic!("block size {block}: {whole:?} but {cut:?}"),
        }
    }
    let defined = defined(format, data, &options);
    match (&whole, &defined) {
        (Ok(a), Ok(b)) => assert_eq!(a, b, "definition"),
        (Err(_), Err(_)) => {}
        // The order of time, the names of a program and byte order marks are judged by the scan, not by the rows.
        (Err(message), Ok(_))
            if ["timestamp", "unknown", "column and an event", "UTF-16"]
                .iter()
                .any(|m| message.contains(m)) => {}
        _ => panic!("fast {whole:?} but defined {defined:?}"),
    }
}

/// Parses bytes as a specification: no panic, and what parses prints to something that parses to the same print.
pub fn spec(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    for parse in [tw_spec::parse, tw_spec::parse_formula, tw_spec::parse_query, tw_spec::parse_branching] {
        let parsed = parse(text, 0);
        let lowered = tw_spec::lower(&parsed.value, &tw_spec::LowerOptions::default());
        let mut sources = tw_diag::Sources::default();
        sources.add("fuzz", text);
        tw_diag::render(&parsed.diagnostics, &sources, true);
        tw_diag::render(&lowered.diagnostics, &sources, false);
    }
    let parsed = tw_spec::parse(text, 0);
    if !parsed.has_errors() {
        let printed = tw_spec::print(&parsed.value);
        let again = tw_spec::parse(&printed, 0);
        assert!(!again.has_errors(), "{text:?} prints as {printed:?}");
        assert_eq!(printed, tw_spec::print(&again.value));
    }
}

/// Takes what a live trace delivers, as text.
struct Heard(Vec<String>);

impl tw_trace::Receiver for Heard {
    type Mapped = Vec<String>;
    type Error = tw_trace::TraceError;

    fn map(&mut self, batch: Batch) -> Result<Vec<String>, (usize, tw_trace::TraceError)> {
        Ok(shown(&batch))
    }

    fn take(&mut self, mapped: Vec<String>, _: &tw_trace::Arrival<'_>) -> Result<(), tw_trace::TraceError> {
        self.0.extend(mapped);
        Ok(())
    }
}

/// A live trace, however its bytes arrive, delivers what arrived whole would deliver. The first byte picks the format,
/// the second how the rest is cut.
pub fn live(data: &[u8]) {
    let [format, cut, data @ ..] = data else { return };
    let names = ["props", "events", "csv", "jsonl"];
    let name = names[usize::from(*format) % names.len()];
    let Some(format) = tw_trace::FORMATS.iter().find(|format| format.name() == name) else { return };
    let slots = slots();
    let projection = Projection::new(&slots, None, false);
    let read = |size: usize| {
        let mut live = tw_trace::Live::new("fuzz", *format, &projection, &ReadOptions::default());
        let mut heard = Heard(Vec::new());
        let result = data
            .chunks(size.max(1))
            .try_for_each(|bytes| live.push(bytes, false, &mut heard))
            .and_then(|()| live.push(&[], true, &mut heard));
        (heard.0, result.err().map(|error| error.to_string()))
    };
    let (whole, pieces) = (read(data.len()), read(usize::from(*cut)));
    assert_eq!(whole, pieces, "{name}, cut by {cut}");
}

/// Bytes that are no saved state are refused, and leave a monitor that works.
pub fn restore(data: &[u8]) {
    let text =
        "property a : G (p -> F q); property b : (p U q) | G (q -> O p); property c : X X (p ^ F G q);";
    let Ok(spec) = tracewise::Specification::from_text("fuzz.tw", text) else { return };
    let [engine, data @ ..] = data else { return };
    let engine = ["automaton", "rewrite", "breadth-first"][usize::from(*engine) % 3];
    // A budget of one state makes the automaton save states by their parts.
    let evaluating = tracewise::Evaluating {
        engine: engine.into(),
        state_budget: 1 + data.len() % 2 * 10_000,
        ..tracewise::Evaluating::default()
    };
    let session = tracewise::Session::new().evaluating(evaluating);
    let Ok(mut monitor) = session.monitor(&spec) else { return };
    let restored = monitor.restore(data);
    let Ok(slot) = monitor.slot("p") else { return };
    let mut row = monitor.row();
    row.set(slot, true);
    let _ = (restored, monitor.push(&row).map(<[_]>::len), monitor.finish(), monitor.pending());
    // What such a state saves, the same monitor takes back.
    let saved = monitor.save();
    assert!(monitor.restore(&saved).is_ok());
}

/// What is made of a request in protobuf is lines in the order of time, each of which is read again.
pub fn otlp(data: &[u8]) {
    use tw_trace::otlp::{Any, Export, Lines, Record, Span, protobuf};
    struct All(Lines);
    impl Export<String> for All {
        fn span(&mut self, service: &Any<'_>, span: Result<Span<'_>, String>) {
            span.iter().for_each(|span| span.tell(service, &mut self.0));
        }
        fn record(&mut self, service: &Any<'_>, record: Result<Record<'_>, String>) {
            record.iter().for_each(|record| record.tell(service, 1, &mut self.0));
        }
    }
    let mut all = All(Lines::default());
    // Those before what is broken were told.
    let _ = protobuf::traces(data, data.len(), &mut all);
    let _ = protobuf::logs(data, data.len(), &mut all);
    let count = all.0.count();
    let bytes = all.0.in_order();
    let jsonl = tw_trace::FORMATS.iter().find(|format| format.name() == "jsonl").expect("a format");
    let mut rows = jsonl.rows(Box::new(Cursor::new(bytes)), &ReadOptions::default()).expect("lines");
    let (mut row, mut read, mut latest) = (Row::default(), 0, i64::MIN);
    while rows.next(&mut row).expect("a line that is read") {
        let time = row.time.expect("a time").time;
        assert!(time >= latest && row.events.len() == 1);
        (read, latest) = (read + 1, time);
    }
    assert_eq!(read, count);
}

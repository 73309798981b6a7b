//! However the bytes are cut, a live trace holds what its rows hold, and a reader that takes over goes on exactly there.

use super::*;
use crate::{Row, SlotBuilder, format};
use tw_core::Time;
use tw_ir::{Path, Slot, What};

/// Texts of every format: whole lines, lines cut at the end, quotes around newlines, blanks, marks, errors.
const TEXTS: &[(&str, &str)] = &[
    ("props", "p\nq p\n\n q\np"),
    ("props", "\u{FEFF}@1 p\n@2 q\n@2\n@3.5 p q\n"),
    ("props", "@1 p\n@3 q\n@2 p\n@4 p\n"),
    ("props", "p\nq\n@2 p\nq\n"),
    ("props", "p\nq\r\np \r q\nq\n"),
    ("csv", "p,q\n1,0\n0,1\n\n1,1"),
    ("csv", "p,\"q\"\r\n1,\"0\"\r\n0,\"\"\r\n1,true\r\n"),
    ("csv", "time,p,q,\"no\nte\"\n1,1,0,\"a\nb\"\n2,0,1,\"\"\"\n\n\"\n2,1,1,c\n"),
    ("csv", "p,q\n1,0\n0,1,1\n1,1\n"),
    ("csv", "p,q,r\n1,0,x\n0,x,\"\n\"\n1,1,y\n"),
    ("csv", "p,q\n1,0\n0,\"1\n1,1\n"),
    ("csv", "p,r\n1,0\n"),
    ("jsonl", "\n{\"p\":true,\"q\":false}\n\n{\"p\":false,\"q\":true}\n  \n{\"p\":true}"),
    ("jsonl", "{\"time\":1,\"event\":\"p\"}\n{\"time\":2,\"event\":\"q\"}\n{\"time\":1,\"event\":\"q\"}\n"),
    ("jsonl", "\n\n{\"time\":1,\"event\":\"p\"}\n{\"time\":2,\"event\":\"q\"}\n"),
    ("jsonl", "{\"p\":true,\"q\":1}\n{\"p\":}\n{\"p\":false}\n"),
    ("jsonl", "{\"p\":true}\n{\"p\":\"x\"}\n{\"p\":false}\n"),
    ("jsonl", "nonsense\n{\"p\":true}\n"),
    ("events", "p\nq,1\nr\np"),
    ("monpoly", "@1 p () q ()\n@2 q ()\n@3 p()\n"),
    ("monpoly", "@1 p () q (\n@2 q ()\n"),
    ("json", "[{\"p\":true,\"q\":false},\n{\"p\":false,\"q\":true}]\n"),
    ("json", "[{\"p\":true,\"q\":false}] 7"),
];

fn slots() -> Vec<Slot> {
    let slot =
        |name| Slot { what: What::Proposition(Path::field(name)), declared: false, span: Default::default() };
    vec![slot("p"), slot("q")]
}

fn format_of(name: &str) -> &'static dyn TraceFormat {
    *format::FORMATS.iter().find(|format| format.name() == name).unwrap()
}

/// A position: which slots hold, its time and its line.
type Seen = (Vec<bool>, Option<Time>, Option<u64>);

#[derive(Default)]
struct Collect {
    seen: Vec<Seen>,
    /// Lines left out; `None` ends at the first.
    bad: Option<Vec<String>>,
}

impl Receiver for Collect {
    type Mapped = Batch;
    type Error = TraceError;

    fn map(&mut self, batch: Batch) -> Result<Batch, (usize, TraceError)> {
        Ok(batch)
    }

    fn take(&mut self, batch: Batch, arrival: &Arrival<'_>) -> Result<(), TraceError> {
        assert_eq!(arrival.len, batch.len);
        assert_eq!(arrival.before.positions, self.seen.len() as u64);
        for at in 0..batch.len {
            let truth =
                batch.slots.iter().map(|column| column.value(at) == tw_core::Value::Bool(true)).collect();
            let (line, text) = arrival.line(at);
            if let LinesOf::Block(block) = &arrival.lines {
                let (range, before) = block.reader.locate(block.bytes, at).unwrap();
                let whole = String::from_utf8_lossy(&block.bytes[range]);
                assert_eq!(text.as_deref(), Some(whole.trim_end_matches(['\r', '\n'])));
                assert_eq!(line, Some(arrival.before.lines + before + 1));
            }
            self.seen.push((truth, batch.times.as_ref().map(|times| times[at]), line));
        }
        Ok(())
    }

    fn bad_line(&mut self, error: TraceError) -> Result<(), TraceError> {
        match &mut self.bad {
            Some(bad) => bad.push(error.to_string()),
            None => return Err(error),
        }
        Ok(())
    }
}

/// What the definition of the format makes of a text, up to its first error.
fn by_rows(format: &'static dyn TraceFormat, text: &str) -> (Vec<Seen>, Option<TraceError>) {
    let slots = slots();
    let projection = Projection::new(&slots, None, true);
    let mut seen = Vec::new();
    let mut vocabulary = Vocabulary::new(slots.len());
    let input = crate::Input::from_bytes("t", text.as_bytes());
    let result = crate::read_rows(&input, format, &ReadOptions::default(), &mut |row: &Row| {
        let mut builder = SlotBuilder::new(&projection);
        builder.push(row, &mut vocabulary)?;
        let batch = builder.finish(row.time.is_some());
        let truth = batch.slots.iter().map(|column| column.value(0) == tw_core::Value::Bool(true)).collect();
        seen.push((truth, batch.times.map(|times| times[0]), Some(row.line)));
        Ok(true)
    });
    (seen, result.err())
}

/// What a live reader makes of it, in chunks of `size` bytes; every `again` chunks another reader takes over.
fn live(
    format: &'static dyn TraceFormat,
    text: &str,
    size: usize,
    again: usize,
    collect: &mut Collect,
) -> Result<Vec<TraceWarning>, TraceError> {
    let slots = slots();
    let projection = Projection::new(&slots, None, true);
    let new = || Live::new("t", format, &projection, &ReadOptions::default());
    let (mut live, mut at, mut chunks) = (new(), 0, 0);
    while at < text.len() {
        let end = text.len().min(at + size);
        live.push(&text.as_bytes()[at..end], false, collect)?;
        at = end;
        chunks += 1;
        if chunks % again == 0 {
            let mut saved = Vec::new();
            live.save(&mut saved);
            let mut next = new();
            let mut left = saved.as_slice();
            next.restore(&mut left).unwrap();
            assert!(left.is_empty());
            at = next.progress().bytes as usize;
            if next.reads_on() {
                assert_eq!(next.progress(), live.progress());
                assert!(text.as_bytes()[..at].ends_with(live.tail()));
            }
            live = next;
            // Bytes of an open record are pushed again, and in larger pieces, lest it never end.
            if at < end {
                live.push(&text.as_bytes()[at..end], false, collect)?;
                at = end;
            }
        }
    }
    live.push(b"", true, collect)?;
    live.judge()
}

#[test]
fn any_cut_gives_what_the_rows_hold() {
    for (name, text) in TEXTS {
        let format = format_of(name);
        let (expected, error) = by_rows(format, text);
        for size in [1, 2, 3, 5, 7, 11, 1000] {
            for again in [usize::MAX, 1, 3] {
                let mut collect = Collect::default();
                let result = live(format, text, size, again, &mut collect);
                let what = format!("{name} {text:?} by {size}, again after {again}");
                assert_eq!(collect.seen, expected, "{what}");
                match (&error, result) {
                    (Some(error), Err(found)) => {
                        assert_eq!((found.line, &found.kind), (error.line, &error.kind), "{what}: {found}");
                    }
                    (None, Err(found)) => assert_eq!(found.kind, TraceErrorKind::UnknownName, "{what}"),
                    (None, Ok(_)) => {}
                    (Some(error), Ok(_)) => panic!("{what}: expected {error}"),
                }
            }
        }
    }
}

#[test]
fn bad_lines_can_be_left_out() {
    let cases: &[(&str, &str, &[bool], &[u64])] = &[
        ("props", "p\n@2 p\nq\n@1\np\n", &[true, false, true], &[2, 4]),
        ("props", "@1 p\n@3 q\n@2 p\n@4 p\n", &[true, false, true], &[3]),
        ("csv", "p,q\n1,0\n0,1,1\n1,1\nx,1\n0,0\n", &[true, true, false], &[3, 5]),
        ("csv", "p,q,r\n1,0,\"\n\"\n0,0,\"\n\",1\n1,1,y\n", &[true, true], &[5]),
        ("jsonl", "{\"p\":true}\n{\n\n{\"p\":false}\nx\n{\"p\":true}\n", &[true, false, true], &[2, 5]),
        ("jsonl", "\u{feff}no\n\n\n[]\n{\"p\":true}\n7\n{\"p\":false}\n", &[true, false], &[1, 4, 6]),
        ("jsonl", "\n{\"time\":\"now\"}\n{\"time\":1,\"p\":true}\n", &[true], &[2]),
        ("events", ",1\np\n", &[true], &[1]),
    ];
    for (name, text, expected, lines) in cases {
        for size in [1, 2, 5, 1000] {
            let mut collect = Collect { bad: Some(Vec::new()), ..Collect::default() };
            let result = live(format_of(name), text, size, usize::MAX, &mut collect);
            let truth: Vec<bool> = collect.seen.iter().map(|(truth, ..)| truth[0]).collect();
            assert_eq!(truth, *expected, "{name} {text:?} by {size}: {result:?}");
            let bad: Vec<String> = lines.iter().map(|line| format!("t:{line}:")).collect();
            let found = collect.bad.unwrap();
            assert_eq!(found.len(), bad.len(), "{name} by {size}: {found:?}");
            assert!(found.iter().zip(&bad).all(|(found, bad)| found.starts_with(bad)), "{name}: {found:?}");
        }
    }
}

#[test]
fn many_bad_lines_are_read_in_reasonable_time() {
    let cases = [("props", "x y\n@1\n".repeat(20_000), 20_000), ("jsonl", "x\n".repeat(20_000), 0)];
    for (name, text, positions) in cases {
        let mut collect = Collect { bad: Some(Vec::new()), ..Collect::default() };
        live(format_of(name), &text, usize::MAX, usize::MAX, &mut collect).unwrap();
        assert_eq!((collect.seen.len(), collect.bad.unwrap().len()), (positions, 20_000), "{name}");
    }
}

/// A line that is too long is left out as others are, wherever it begins and however it comes.
#[test]
fn overlong_lines_can_be_left_out() {
    let long = format!("{{\"q\":\"{}\"}}\n", "x".repeat(9000));
    let record = |p: bool| format!("{{\"p\":{p}}}\n");
    let text = [&long, &record(true), &long, &long, &record(false)].map(String::as_str).concat();
    let slots = slots();
    let projection = Projection::new(&slots, None, false);
    let options = ReadOptions { max_record: 6000, ..ReadOptions::default() };
    for size in [100, 5999, 6001, 100_000] {
        let mut collect = Collect { bad: Some(Vec::new()), ..Collect::default() };
        let mut live = Live::new("t", format_of("jsonl"), &projection, &options);
        for chunk in text.as_bytes().chunks(size) {
            live.push(chunk, false, &mut collect).unwrap();
            let read = live.progress().bytes as usize;
            assert!(text.as_bytes()[..read].ends_with(live.tail()), "by {size}");
            assert!(read == 0 || text.as_bytes()[read - 1] == b'\n', "by {size}: {read}");
        }
        live.push(b"", true, &mut collect).unwrap();
        let truth: Vec<bool> = collect.seen.iter().map(|(truth, ..)| truth[0]).collect();
        assert_eq!(truth, [true, false], "by {size}");
        assert_eq!(collect.seen[1].2, Some(5), "by {size}");
        let bad = collect.bad.unwrap();
        let expected = [1, 3, 4].map(|line| format!("t:{line}:"));
        assert!(
            bad.len() == 3 && bad.iter().zip(&expected).all(|(bad, line)| bad.starts_with(line)),
            "{bad:?}"
        );
        assert_eq!(live.progress(), Progress { positions: 2, bytes: text.len() as u64, lines: 5 });
    }
    let mut live = Live::new("t", format_of("csv"), &projection, &options);
    let mut collect = Collect { bad: Some(Vec::new()), ..Collect::default() };
    let error = live.push(&[b'p'; 7000], false, &mut collect).unwrap_err();
    assert_eq!(error.kind, TraceErrorKind::Budget, "a header cannot be left out");
}

#[test]
fn a_file_that_starts_anew_goes_on() {
    let slots = slots();
    let projection = Projection::new(&slots, None, false);
    let mut live = Live::new("t", format_of("csv"), &projection, &ReadOptions::default());
    let mut collect = Collect::default();
    live.push(b"p,q\n1,0\n0,1", false, &mut collect).unwrap();
    live.restart(&mut collect).unwrap();
    assert_eq!(live.progress(), Progress { positions: 2, bytes: 0, lines: 0 });
    live.push(b"p,q\n1,1\n", false, &mut collect).unwrap();
    let truth: Vec<Vec<bool>> = collect.seen.iter().map(|(truth, ..)| truth.clone()).collect();
    assert_eq!(truth, [[true, false], [false, true], [true, true]]);
    assert_eq!(collect.seen[2].2, Some(2));
    assert_eq!(live.progress().bytes, 8);
}

#[test]
fn an_endless_line_is_refused() {
    let slots = slots();
    let projection = Projection::new(&slots, None, false);
    let options = ReadOptions { max_record: 100, ..ReadOptions::default() };
    let mut live = Live::new("t", format_of("props"), &projection, &options);
    let error = (0..).find_map(|_| live.push(b"ppppppppp ", false, &mut Collect::default()).err());
    assert_eq!(error.unwrap().kind, TraceErrorKind::Budget);
}

/// A server keeps readers, and hands them from thread to thread.
#[test]
fn a_reader_is_its_owners() {
    fn kept<T: Send + 'static>(live: T) -> T {
        live
    }
    let format = crate::FORMATS.iter().find(|format| format.name() == "props").unwrap();
    let mut live = kept({
        let slots = slots();
        Live::new("t", *format, &Projection::new(&slots, None, false), &ReadOptions::default())
    });
    let read = std::thread::spawn(move || {
        let mut collect = Collect::default();
        live.push(b"p\nq\n", true, &mut collect).map(|()| live.progress().positions)
    });
    assert_eq!(read.join().unwrap(), Ok(2));
}

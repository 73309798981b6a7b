//! Blocks equal rows, on random files; and messages.

use super::Csv;
use crate::scan::{scan, scan_by_rows};
use crate::{Input, Projection, ReadOptions, TraceError};
use std::fmt::Write;
use std::ops::ControlFlow;
use tw_core::{Batch, Value};
use tw_ir::{ArgumentKey, Expect, Path, Slot, What};

/// A small generator of numbers: enough for test data.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: u64) -> u64 {
        (self.next() >> 11) % limit
    }

    fn pick<'t, T: ?Sized>(&mut self, from: &[&'t T]) -> &'t T {
        from[self.below(from.len() as u64) as usize]
    }
}

fn slot(what: What) -> Slot {
    Slot { what, declared: false, span: Default::default() }
}

/// Everything a reading yields, as text: every value of every position, and the warnings; or the error.
fn outcome(
    read: impl FnOnce(
        &mut dyn FnMut(Batch) -> Result<ControlFlow<()>, TraceError>,
    ) -> Result<crate::Summary, TraceError>,
) -> Result<String, String> {
    let mut out = String::new();
    let mut position = 0;
    let result = read(&mut |batch| {
        for at in 0..batch.len {
            write!(out, "{position}").unwrap();
            position += 1;
            for column in &batch.slots {
                // Whether a batch was all whole numbers depends on where it was cut.
                let value = match column.value(at) {
                    Value::Int(int) => format!("{:?}", int as f64),
                    Value::Real(real) => format!("{real:?}"),
                    other => format!("{other:?}"),
                };
                write!(out, " {value}").unwrap();
            }
            if let Some(times) = &batch.times {
                write!(out, " @{}", times[at]).unwrap();
            }
            out.push('\n');
        }
        Ok(ControlFlow::Continue(()))
    });
    let summary = result.map_err(|error| format!("{error} {:?} {:?}", error.kind, error.slot))?;
    write!(out, "{} {} {:?} {:?}", summary.positions, summary.timed, summary.style, summary.warnings)
        .unwrap();
    Ok(out)
}

fn agree(text: &[u8], projection: &Projection<'_>, options: &ReadOptions) -> Result<String, String> {
    let input = Input::from_bytes("t.csv", text);
    let expected = outcome(|fold| scan_by_rows(&input, &Csv, projection, options, &Ok, fold));
    let found = outcome(|fold| scan(&input, &Csv, projection, options, &Ok, fold));
    assert_eq!(
        found,
        expected,
        "block {} threads {}\n{}",
        options.block,
        options.threads,
        String::from_utf8_lossy(text)
    );
    if options.block % 3 == 0 {
        let stream = Input::from_reader("t.csv", Box::new(std::io::Cursor::new(text.to_vec()))).unwrap();
        let found = outcome(|fold| scan(&stream, &Csv, projection, options, &Ok, fold));
        assert_eq!(
            found,
            expected,
            "as a stream, block {}\n{}",
            options.block,
            String::from_utf8_lossy(text)
        );
    }
    expected
}

fn random_file(random: &mut Random) -> Vec<u8> {
    let columns = random.pick(&["a", "a b", "a b n s", "time a n", "event a s", "a time event n b s zz"]);
    let columns: Vec<&str> = columns.split(' ').collect();
    let end = random.pick(&["\n", "\r\n"]);
    let mut text = columns.join(",") + end;
    let narrow = random.below(4) == 0;
    let quoted = random.below(3) == 0;
    let odd = random.below(4) == 0;
    let mut time = 0;
    for _ in 0..random.below(40) {
        for (number, &column) in columns.iter().enumerate() {
            if number > 0 {
                text.push(',');
            }
            time += random.below(3);
            let mut cell = match column {
                "time" => {
                    format!("{}", if odd && random.below(20) == 0 { time.saturating_sub(9) } else { time })
                }
                _ if narrow => random.pick(&["0", "1"]).to_string(),
                "event" => random.pick(&["login", "logout", "", "a", "é"]).to_string(),
                "a" | "b" => random.pick(&["0", "1", "true", "false", ""]).to_string(),
                "n" => random
                    .pick(&["0", "-1", "17", "123456789", "9223372036854775807", "1.5", "-2e3", "", "+4"])
                    .to_string(),
                _ => random.pick(&["x", "yes", "", "a longer text", "ünï", "1"]).to_string(),
            };
            if odd && random.below(30) == 0 {
                cell = random
                    .pick(&["nan", "2", "tru", "x\0y", "-", "1e999", "12345678901234567890", " 1"])
                    .to_string();
            }
            if quoted && random.below(4) == 0 {
                if column == "s" && random.below(2) == 0 {
                    cell = random.pick(&["a,b", "two\nlines", "\"\"", "\n\n\n", "x\r\ny"]).to_string();
                }
                cell = format!("\"{cell}\"");
            }
            if odd && random.below(200) == 0 {
                cell.push_str(random.pick(&["\"", "\r", ",", "\n"]));
            }
            text.push_str(&cell);
        }
        text.push_str(end);
        if random.below(60) == 0 {
            text.push_str(end);
        }
    }
    if random.below(3) == 0 {
        text.truncate(text.trim_end_matches(['\n', '\r']).len());
    }
    let mut bytes = text.into_bytes();
    if odd && random.below(10) == 0 && !bytes.is_empty() {
        let at = random.below(bytes.len() as u64) as usize;
        bytes[at] =
            *random.pick(&[b"\xFF", b"\xC3", b"\"", b"\n", b","].map(|byte| byte as &[u8])).first().unwrap();
    }
    bytes
}

fn slots() -> Vec<Slot> {
    let event = |name: &str, arguments: Vec<(ArgumentKey, Value)>| What::Event {
        name: name.into(),
        arguments,
        arity: None,
    };
    let name = |name: &str| ArgumentKey::Name(name.into());
    vec![
        slot(What::Proposition(Path::field("a"))),
        slot(What::Proposition(Path::field("b"))),
        slot(What::Variable(Path::field("n"), Expect::Number)),
        slot(What::Variable(Path::field("n"), Expect::Int)),
        slot(What::Variable(Path::field("s"), Expect::Text)),
        slot(What::Variable(Path::field("s"), Expect::Any)),
        slot(What::Variable(Path::field("a"), Expect::Text)),
        slot(What::Proposition(Path::field("login"))),
        slot(event("login", vec![])),
        slot(event("logout", vec![(name("a"), Value::Bool(true))])),
        slot(event("login", vec![(name("n"), Value::Int(17)), (name("s"), Value::text("yes"))])),
        slot(What::Variable(Path::field("a"), Expect::Number)),
        slot(event("login", vec![(ArgumentKey::Index(0), Value::Int(1))])),
    ]
}

#[test]
fn blocks_equal_rows_on_random_files() {
    let files = std::env::var("TW_CSV_FILES").ok().and_then(|count| count.parse().ok()).unwrap_or(20_000);
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let all = slots();
    let (mut fine, mut faulty) = (0, 0);
    for _ in 0..files {
        let text = random_file(&mut random);
        let few = random.below(2) == 0;
        let mut chosen: Vec<Slot> = Vec::new();
        for slot in &all {
            let plain = matches!(&slot.what, What::Proposition(path) if path.as_name() == Some("a"));
            if if few { plain || random.below(12) == 0 } else { random.below(3) == 0 } {
                chosen.push(Slot { declared: random.below(3) > 0, ..slot.clone() });
            }
        }
        let key = [None, None, Some("s"), Some("a")][random.below(4) as usize];
        let projection = Projection { slots: &chosen, key, times: random.below(2) == 0 };
        let block = match random.below(4) {
            0 => 1 + random.below(8),
            1 => 1 + random.below(64),
            2 => 1 + random.below(700),
            _ => 1 << 20,
        };
        let options = ReadOptions {
            block: block as usize,
            threads: 1 + random.below(3) as usize,
            max_record: if random.below(20) == 0 { 20 + random.below(60) as usize } else { 1 << 20 },
            ..ReadOptions::default()
        };
        match agree(&text, &projection, &options) {
            Ok(_) => fine += 1,
            Err(_) => faulty += 1,
        }
    }
    assert!(fine > files / 3 && faulty > files / 20, "{fine} fine, {faulty} faulty");
}

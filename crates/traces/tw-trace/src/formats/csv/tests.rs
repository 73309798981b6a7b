//! Blocks equal rows, on rng files; and messages.

use super::Csv;
use crate::scan::{scan, scan_by_rows};
use crate::{Input, Outline, Projection, ReadOptions, TraceError};
use std::fmt::Write;
use std::ops::ControlFlow;
use tw_core::{Batch, Value};
use tw_ir::{ArgumentKey, Expect, Path, Slot, What};
use tw_testkit::Rng;

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

fn agree(text: &[u8], projection: &Projection, options: &ReadOptions) -> Result<String, String> {
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
    if options.block.is_multiple_of(3) {
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

fn random_file(rng: &mut Rng) -> Vec<u8> {
    let columns = rng.pick(&["a", "a b", "a b n s", "time a n", "event a s", "a time event n b s zz"]);
    let columns: Vec<&str> = columns.split(' ').collect();
    let end = rng.pick(&["\n", "\r\n"]);
    let mut text = columns.join(",") + end;
    let narrow = rng.below(4) == 0;
    let quoted = rng.below(3) == 0;
    let odd = rng.below(4) == 0;
    let mut time = 0;
    for _ in 0..rng.below(40) {
        for (number, &column) in columns.iter().enumerate() {
            if number > 0 {
                text.push(',');
            }
            time += rng.below(3);
            let mut cell = match column {
                "time" => {
                    format!("{}", if odd && rng.below(20) == 0 { time.saturating_sub(9) } else { time })
                }
                _ if narrow => rng.pick(&["0", "1"]).to_string(),
                "event" => rng.pick(&["login", "logout", "", "a", "é"]).to_string(),
                "a" | "b" => rng.pick(&["0", "1", "true", "false", ""]).to_string(),
                "n" => rng
                    .pick(&["0", "-1", "17", "123456789", "9223372036854775807", "1.5", "-2e3", "", "+4"])
                    .to_string(),
                _ => rng.pick(&["x", "yes", "", "a longer text", "ünï", "1"]).to_string(),
            };
            if odd && rng.below(30) == 0 {
                cell = rng
                    .pick(&["nan", "2", "tru", "x\0y", "-", "1e999", "12345678901234567890", " 1"])
                    .to_string();
            }
            if quoted && rng.below(4) == 0 {
                if column == "s" && rng.below(2) == 0 {
                    cell = rng.pick(&["a,b", "two\nlines", "\"\"", "\n\n\n", "x\r\ny"]).to_string();
                }
                cell = format!("\"{cell}\"");
            }
            if odd && rng.below(200) == 0 {
                cell.push_str(rng.pick(&["\"", "\r", ",", "\n"]));
            }
            text.push_str(&cell);
        }
        text.push_str(end);
        if rng.below(60) == 0 {
            text.push_str(end);
        }
    }
    if rng.below(3) == 0 {
        text.truncate(text.trim_end_matches(['\n', '\r']).len());
    }
    let mut bytes = text.into_bytes();
    if odd && rng.below(10) == 0 && !bytes.is_empty() {
        let at = rng.below(bytes.len());
        bytes[at] =
            *rng.pick(&[b"\xFF", b"\xC3", b"\"", b"\n", b","].map(|byte| byte as &[u8])).first().unwrap();
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
        slot(What::Tuples {
            name: "logout".into(),
            constants: vec![],
            arity: None,
            arguments: vec![name("a"), name("s")],
        }),
    ]
}

#[test]
fn blocks_equal_rows_on_random_files() {
    let files = std::env::var("TW_CSV_FILES").ok().and_then(|count| count.parse().ok()).unwrap_or(20_000);
    let mut rng = Rng::new(0x9E37_79B9_7F4A_7C15);
    let all = slots();
    let (mut fine, mut faulty) = (0, 0);
    for _ in 0..files {
        let text = random_file(&mut rng);
        let few = rng.below(2) == 0;
        let mut chosen: Vec<Slot> = Vec::new();
        for slot in &all {
            let plain = matches!(&slot.what, What::Proposition(path) if path.as_name() == Some("a"));
            if if few { plain || rng.below(12) == 0 } else { rng.below(3) == 0 } {
                chosen.push(Slot { declared: rng.below(3) > 0, ..slot.clone() });
            }
        }
        let key = [None, None, Some("s"), Some("a")][rng.below(4)];
        let projection = Projection::new(&chosen, key, rng.below(2) == 0);
        let block = match rng.below(4) {
            0 => 1 + rng.below(8),
            1 => 1 + rng.below(64),
            2 => 1 + rng.below(700),
            _ => 1 << 20,
        };
        let options = ReadOptions {
            block,
            threads: 1 + rng.below(3),
            max_record: if rng.below(20) == 0 { 20 + rng.below(60) } else { 1 << 20 },
            null: (rng.below(6) == 0).then(|| "yes".into()),
            any_order: rng.below(4) == 0,
            ..ReadOptions::default()
        };
        match agree(&text, &projection, &options) {
            Ok(_) => fine += 1,
            Err(_) => faulty += 1,
        }
    }
    assert!(fine > files / 3 && faulty > files / 20, "{fine} fine, {faulty} faulty");
}

#[test]
fn any_bytes_are_read_or_refused_alike() {
    let mut rng = Rng::new(0x2545_F491_4F6C_DD1D);
    let all = slots();
    let projection = Projection::new(&all[..1], Some("b"), true);
    let mut fine = 0;
    for round in 0..20_000 {
        let mut text = rng.pick(&["a\n", "a,b\n", "a,b,time\r\n", "b,event,a\n", ""]).as_bytes().to_vec();
        let letters: &[u8] = rng.pick(&[b",\n\"1" as &[u8], b",,,\n\n\"\"\r01e\xC3\xA9\x00", b"01,,\n\n"]);
        for _ in 0..rng.below(if round % 20 == 0 { 400 } else { 40 }) {
            text.push(letters[rng.below(letters.len())]);
        }
        let options = ReadOptions {
            block: 1 + rng.below(40),
            threads: 1 + rng.below(3),
            max_record: if rng.below(9) == 0 { 16 } else { 1 << 20 },
            ..ReadOptions::default()
        };
        fine += usize::from(agree(&text, &projection, &options).is_ok());
    }
    assert!(fine > 500, "{fine}");
}

/// The first block of a file through each fast path with each kernel: what it yields, if it yields anything.
fn fast(text: &str, projection: &Projection) -> Vec<(bool, Option<String>)> {
    let options = ReadOptions::default();
    let rows = super::rows::Rows::new(text.as_bytes(), &options).unwrap();
    let (_, skip) = rows.records.read_so_far();
    let mut all = Vec::new();
    for &kernel in super::structure::Kernel::all() {
        let reader = super::block::CsvBlocks::new(rows.header.clone(), projection, &options, kernel);
        for by_layout in [true, false] {
            let block = crate::Block { bytes: &text.as_bytes()[skip..], last: true, next: None };
            let mut seen = crate::Vocabulary::new(projection.slots.len());
            let read = match by_layout {
                true => reader.by_layout(&block, &mut seen),
                false => reader.by_separators(&block, &mut seen),
            };
            all.push((
                by_layout,
                read.map(|read| format!("{:?} {:?} {}", read.batch, read.time_range, read.lines)),
            ));
        }
    }
    all
}

#[test]
fn the_fast_paths_are_taken_and_every_kernel_agrees() {
    let all = slots();
    // Slots, cell of a row, whether the layout fits.
    type Cell<'c> = &'c dyn Fn(usize) -> String;
    let cases: [(&str, &[usize], Cell<'_>, bool); 7] = [
        ("a,b\n", &[0, 1, 0], &|row| format!("{},{}\n", row % 2, row / 3 % 2), true),
        ("a,x,b\n", &[0], &|row| format!("{},{},?\n", row % 2, row % 10), true),
        ("a,b\r\n", &[0, 1], &|row| format!("{},{}\r\n", row % 2, row / 3 % 2), true),
        ("a,b\n", &[0, 1], &|row| format!("{},{}\n", row % 2 == 0, ["", "true"][row % 2]), false),
        (
            "a,n,s\n",
            &[0, 2, 4, 5],
            &|row| format!("\"{}\",{},\"a \"\"b\"\"\n{row}\"\n", row % 2, row as i64 * 7 - 99),
            false,
        ),
        ("n,s\r\n", &[2, 4], &|row| format!("{}.25,{}\r\n", row, ["é", "longer than eight"][row % 2]), false),
        (
            "time,event,a,n,s\n",
            &[0, 2, 7, 8, 9, 10],
            &|row| format!("{row}.5,{},{},17,yes\n", ["login", "logout", ""][row % 3], row % 2),
            false,
        ),
    ];
    for (header, chosen, line, fits) in cases {
        let chosen: Vec<Slot> = chosen.iter().map(|&slot| all[slot].clone()).collect();
        let projection = Projection::new(&chosen, None, true);
        for rows in [1, 2, 63, 64, 65, 500, 5000] {
            let text = header.to_string() + &(0..rows).map(line).collect::<String>();
            for text in [text.as_str(), text.trim_end()] {
                let found = fast(text, &projection);
                for (by_layout, batch) in &found {
                    assert_eq!(
                        batch.is_some(),
                        fits || !by_layout,
                        "{header} {rows} rows, by layout: {by_layout}"
                    );
                }
                let first = found.iter().find_map(|(_, batch)| batch.as_ref());
                assert!(
                    found.iter().filter_map(|(_, batch)| batch.as_ref()).all(|batch| Some(batch) == first)
                );
                agree(text.as_bytes(), &projection, &ReadOptions::default()).unwrap();
            }
        }
    }
}

#[test]
fn messages() {
    let all = slots();
    let truth = &all[..1];
    let number = &all[2..3];
    let whole = &all[3..4];
    let cases: &[(&str, &[Slot], &str)] = &[
        (
            "a,b\n1,0\n1\n",
            truth,
            "t.csv:3:2: found 1 cell in this row, expected 2 cells, one for each column of the header",
        ),
        (
            "a,b\n1,0\n1,0,é,1\n",
            truth,
            "t.csv:3:5: found 4 cells in this row, expected 2 cells, one for each column of the header",
        ),
        (
            "a,a\n",
            truth,
            "t.csv:1:3: found the column `a` again (columns 1 and 2), expected a different name for every column",
        ),
        (
            "a,,b\n",
            truth,
            "t.csv:1:3: found no name for column 2 in the header row, expected a name for every column",
        ),
        (
            "a,b\n1,\"x\ny\n",
            truth,
            "t.csv:2:3: found a quote that is never closed, expected a closing quote before the end of the file",
        ),
        (
            "a,b\n1,x\"y\"\n",
            truth,
            "t.csv:2:4: found a quote inside a cell that does not start with one, expected the whole cell in quotes, and quotes inside it doubled",
        ),
        (
            "a,b\n1,\"x\"y\n",
            truth,
            "t.csv:2:6: found `y` after the closing quote, expected a comma or the end of the line (a quote inside a quoted cell is doubled)",
        ),
        (
            "a,b\r1,0\r",
            truth,
            "t.csv:1:4: found a carriage return without a line feed, expected lines that end with LF or CRLF (or quotes around the cell)",
        ),
        (
            "b,a\n1,0\n0,2\n",
            truth,
            "t.csv:3:3: `a`: found `2`, expected a truth value (`true`, `false`, `1`, `0` or nothing), because the specification uses it as a proposition",
        ),
        (
            "s,a\n\"x\ny\",2\n",
            truth,
            "t.csv:3:4: `a`: found `2`, expected a truth value (`true`, `false`, `1`, `0` or nothing), because the specification uses it as a proposition",
        ),
        (
            "n\n1\nNaN\n",
            number,
            "t.csv:3:1: `n`: found `NaN`, expected a finite number, because the specification uses it as a number",
        ),
        (
            "n\n1\n1e999\n",
            number,
            "t.csv:3:1: `n`: found `1e999`, expected a finite number, because the specification uses it as a number",
        ),
        (
            "n\n1\n2.5\n",
            whole,
            "t.csv:3:1: `n`: found `2.5`, expected a whole number of 64 bits, because it is declared `int`",
        ),
        (
            "n\n99999999999999999999\n",
            whole,
            "t.csv:2:1: `n`: found `99999999999999999999`, expected a whole number of 64 bits, because it is declared `int`",
        ),
        (
            "time,a\n5,1\n3,1\n",
            truth,
            "t.csv:3:1: the timestamp `3` is earlier than `5` before it; timestamps must not decrease (`⟨sort: SKEW⟩` sorts disorder up to a bound)",
        ),
        (
            "a,time\n1,\n",
            truth,
            "t.csv:2:3: `time`: found nothing, expected a timestamp (a number, in `s`, or a date and time like `2024-05-01T12:00:00Z`)",
        ),
        (
            "a,time\n1,1e30\n",
            truth,
            "t.csv:2:3: `time`: found `1e30`, which is beyond the range of 64-bit nanoseconds (about ±292 years), expected a timestamp (a number, in `s`, or a date and time like `2024-05-01T12:00:00Z`)",
        ),
        ("b,c\n1,0\n", truth, "unknown variable `a`: did you mean `b`?"),
        (
            "event,a\na,1\n",
            truth,
            "`a` is a column and an event of this trace; write `event a` for the event or `` `a` `` in backquotes for the column",
        ),
    ];
    for (text, slots, expected) in cases {
        let projection = Projection::new(slots, None, false);
        for block in [1, 5, 1 << 20] {
            let options = ReadOptions { block, threads: 2, ..ReadOptions::default() };
            let error = agree(text.as_bytes(), &projection, &options).unwrap_err();
            let end = error.rfind(" Some(").or(error.rfind(" None")).unwrap_or(error.len());
            let message = error[..end].rsplit_once(' ').map_or(error.as_str(), |(message, _)| message);
            assert_eq!(message, *expected, "{text:?}");
        }
    }
}

#[test]
fn invalid_text_and_limits() {
    let all = slots();
    let projection = Projection::new(&all[..1], None, false);
    let error = agree(b"a,s\n1,\xC3\xA9\xFF\n", &projection, &ReadOptions::default()).unwrap_err();
    assert!(error.starts_with("t.csv:2:4: found the byte 0xFF, expected UTF-8 text"), "{error}");
    let options = ReadOptions { max_columns: 3, ..ReadOptions::default() };
    let error = agree(b"a,b,c,d\n", &projection, &options).unwrap_err();
    assert!(error.starts_with("t.csv:1:7: this record has more than 3 cells"), "{error}");
    let options = ReadOptions { max_record: 10, ..ReadOptions::default() };
    let error = agree(b"a,s\n1,x\n1,0123456789\n", &projection, &options).unwrap_err();
    assert!(error.starts_with("t.csv:3:1: this record is longer than 10 bytes"), "{error}");
    for (time, event, expected) in [
        (
            Some("tme"),
            None,
            "`⟨time: tme⟩` names a column that this trace does not have; did you mean `time`?",
        ),
        (
            None,
            Some("zzzz"),
            "`⟨event: zzzz⟩` names a column that this trace does not have; it has `time`, `a`",
        ),
        (
            Some("a"),
            Some("a"),
            "the timestamp and the event name cannot be the same column (`⟨time⟩`, `⟨event⟩`)",
        ),
    ] {
        let options = ReadOptions {
            time: time.map(String::from),
            event: event.map(String::from),
            ..ReadOptions::default()
        };
        let error = agree(b"time,a\n1,1\n", &projection, &options).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
    // Zeros are characters like any other; a wide header is fine.
    agree(b"a,s\n1,\0\0\n", &projection, &ReadOptions::default()).unwrap();
    let wide: Vec<String> = (0..100_000).map(|column| format!("c{column}")).collect();
    let text = format!("a,{}\n1{}\n", wide.join(","), ",".repeat(100_000));
    agree(text.as_bytes(), &projection, &ReadOptions::default()).unwrap();
}

#[test]
fn what_is_written_reads_back() {
    use crate::{Arguments, Event, Row, Stamp, TimeStyle, TraceFormat};
    use std::sync::Arc;
    let columns: Vec<Arc<str>> = ["n", "odd \"name\", really", "list"].map(Arc::from).to_vec();
    let row = |time, event: &str, values: [Value; 3]| Row {
        time: Some(Stamp { time, style: TimeStyle::Number(tw_core::TimeUnit::Seconds) }),
        variables: columns.iter().cloned().zip(values).collect(),
        events: if event.is_empty() {
            vec![]
        } else {
            vec![Event { name: event.into(), arguments: Arguments::OfRow }]
        },
        ..Row::default()
    };
    let nested = Value::List(vec![
        Value::Int(1),
        Value::Object(vec![("k\"".into(), Value::text("a,b"))]),
        Value::Null,
    ]);
    let rows = [
        row(1_500_000_000, "login", [Value::Int(7), Value::text("two\nlines, \"quoted\""), Value::Null]),
        row(2_000_000_000, "", [Value::Null, Value::Real(0.5), nested]),
    ];
    let mut out = Vec::new();
    {
        let mut writer = super::Csv
            .writer(
                Box::new(&mut out),
                Outline { columns: &columns, has_time: true, has_event: true, ..Outline::default() },
            )
            .unwrap();
        rows.iter().for_each(|row| writer.write(row).unwrap());
        writer.finish().unwrap();
    }
    let expected = "time,event,n,\"odd \"\"name\"\", really\",list\n1.5,login,7,\"two\nlines, \"\"quoted\"\"\",\n2,,,0.5,\"[1,{\"\"k\\\"\"\"\":\"\"a,b\"\"},null]\"\n";
    assert_eq!(String::from_utf8_lossy(&out), expected);
    let input = Input::from_bytes("t.csv", out);
    let mut read = Vec::new();
    crate::read_rows(&input, &Csv, &ReadOptions::default(), &mut |row| {
        read.push(row.clone());
        Ok(true)
    })
    .unwrap();
    assert_eq!((read[0].time, &read[0].events), (rows[0].time, &rows[0].events));
    assert_eq!(read[0].variables[1].1, rows[0].variables[1].1);
    assert_eq!(read[1].variables[0].1, Value::Null);
    assert!(
        super::Csv
            .writer(
                Box::new(Vec::new()),
                Outline { columns: &["time".into()], has_time: true, ..Outline::default() }
            )
            .is_err()
    );
}

#[test]
fn texts_that_look_like_formulas_are_guarded() {
    use crate::{Outline, Row, TraceFormat};
    let cell = |text: &str, guard| {
        let mut out = String::new();
        super::push_csv_cell(text, guard, &mut out);
        out
    };
    for text in ["=1+1", "+cmd", "-x", "@SUM(A1)", "\tx", "-", "-1-1", "-inf", "+1+1", "--1"] {
        assert_eq!((cell(text, false), cell(text, true)), (text.to_string(), format!("'{text}")));
    }
    for text in ["-1", "+1", "-007", "-0.5e-3", "-99999999999999999999999", "a=b", "", "1-1", "'=1", "[-1]"] {
        assert_eq!(cell(text, true), text);
    }
    // Inside the quotes, where the cell begins.
    assert_eq!(cell("=HYPERLINK(\"a\",1)", true), "\"'=HYPERLINK(\"\"a\"\",1)\"");
    assert_eq!(cell("\r=1", true), "\"'\r=1\"");
    let columns: Vec<std::sync::Arc<str>> = vec!["=a".into(), "n".into()];
    let row = Row {
        variables: vec![(columns[0].clone(), Value::text("@x")), (columns[1].clone(), Value::Int(-3))],
        ..Row::default()
    };
    let mut out = Vec::new();
    let outline = Outline { columns: &columns, guard: true, ..Outline::default() };
    let mut writer = super::Csv.writer(Box::new(&mut out), outline).unwrap();
    writer.write(&row).and_then(|()| writer.finish()).unwrap();
    drop(writer);
    assert_eq!(String::from_utf8_lossy(&out), "'=a,n\n'@x,-3\n");
}

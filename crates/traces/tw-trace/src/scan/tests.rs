//! Several files, sorting, stopping, and the way back from positions to lines; CSV stands for all formats here.

use super::*;
use crate::formats::csv::Csv;
use crate::{Located, TraceErrorKind};
use std::io::{Cursor, Write};
use tw_core::{Column, Time};
use tw_ir::{Expect, Path, Slot};

fn slots() -> Vec<Slot> {
    let what = What::Variable(Path::field("n"), Expect::Number);
    vec![Slot { what, declared: false, span: Default::default() }]
}

/// The numbers of column `n` and their timestamps, and the summary.
fn read(input: &Input, options: &ReadOptions) -> Result<(Vec<i64>, Vec<Time>, Summary), TraceError> {
    let slots = slots();
    let projection = Projection::new(&slots, None, true);
    let (mut numbers, mut times) = (Vec::new(), Vec::new());
    let summary = scan(input, &Csv, &projection, options, &Ok, &mut |batch: Batch| {
        if let Some(Column::Int { values, .. }) = batch.slots.first() {
            numbers.extend_from_slice(values);
        }
        times.extend(batch.times.unwrap_or_default());
        Ok(ControlFlow::Continue(()))
    })?;
    Ok((numbers, times, summary))
}

fn options(block: usize) -> ReadOptions {
    ReadOptions { block, threads: 2, ..ReadOptions::default() }
}

fn together(texts: &[&str]) -> Input {
    let mut files =
        texts.iter().enumerate().map(|(at, text)| Input::from_bytes(&format!("{at}.csv"), text.as_bytes()));
    let first = files.next().unwrap();
    files.fold(first, Input::followed_by)
}

#[test]
fn several_files_are_one_trace() {
    let cases: &[(&[&str], &[i64])] = &[
        (&["n\n1\n2\n", "n\n3\n"], &[1, 2, 3]),
        (&["n\n1\n2", "n\n3"], &[1, 2, 3]),
        (&["n,m\n1,x\n", "m,n\nx,2\n", "n\n3\n"], &[1, 2, 3]),
        (&["n\n1\n", "", "n\n", "\u{FEFF}n\n2\n"], &[1, 2]),
        (&["m\n1\n", "n\n2\n"], &[0, 2]),
    ];
    for (texts, expected) in cases {
        for block in [1, 4, 1 << 20] {
            let input = together(texts);
            let (numbers, _, summary) = read(&input, &options(block)).unwrap();
            assert_eq!(numbers, *expected, "{texts:?}");
            assert_eq!(summary.positions, expected.len() as u64);
            assert_eq!(summary.bytes, texts.iter().map(|text| text.len() as u64).sum::<u64>(), "{texts:?}");
            let all: Vec<usize> = (0..expected.len()).collect();
            let located = summary.locator.locate(&input, &Csv, &options(block), &all).unwrap();
            let last = located.last().unwrap();
            assert_eq!(last.file, format!("{}.csv", texts.len() - 1));
            assert!(last.text.as_deref().unwrap().contains(&expected.last().unwrap().to_string()));
            // Each position is a line here; the last one of a file may lack its end.
            for located in &located {
                let known = summary.locator.line(located.position);
                assert!(known.is_none() || known == located.line, "{texts:?}: {known:?}");
            }
            assert!(summary.locator.line(0).is_some() || !texts[0].ends_with('\n'), "{texts:?}");
        }
    }
}

#[test]
fn errors_name_the_file_and_the_line() {
    let cases: &[(&[&str], &str)] = &[
        (&["n\n1\n", "n\n2\nx\n"], "1.csv:3:1: `n`: found `x`"),
        (&["time,n\n5,1\n", "time,n\n6,1\n4,1\n"], "1.csv:3:1: the timestamp `4` is earlier than `6`"),
        (&["time,n\n5,1\n", "time,n\n4,1\n"], "1.csv:2:1: the timestamp `4` is earlier than `5`"),
        (&["time,n\n5,1\n", "n\n1\n"], "1.csv:2:1: found no timestamp"),
        (&["n\n1\n", "time,n\n1,1\n"], "1.csv:2:1: found a timestamp"),
        (
            &["time,n\n2024-01-01T00:00:01Z,1\n2024-01-01T00:00:00Z,1\n"],
            "0.csv:3:1: the timestamp `2024-01-01T00:00:00Z` is",
        ),
        (&["n\n1\n", "n,n\n"], "1.csv:1:3: found the column `n` again"),
        (&["m\n1\n", "m\n2\n"], "unknown variable `n`: did you mean `m`?"),
    ];
    for (texts, expected) in cases {
        for block in [1, 4, 1 << 20] {
            let error = read(&together(texts), &options(block)).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}, expected {expected}");
        }
    }
}

#[test]
fn rows_out_of_order_are_sorted_within_the_skew() {
    let text = "time,n\n3,0\n1,1\n2,2\n2,3\n5,4\n4,5\n9,6\n";
    let sorting = |skew: Time| ReadOptions { sort: Some(skew * 1_000_000_000), ..options(5) };
    let input = together(&[text]);
    let (numbers, times, summary) = read(&input, &sorting(2)).unwrap();
    assert_eq!(numbers, [1, 2, 3, 0, 5, 4, 6]);
    assert!(times.is_sorted());
    let located = summary.locator.locate(&input, &Csv, &sorting(2), &[3, 0, 6, 5]).unwrap();
    let lines: Vec<Option<u64>> = located.iter().map(|located| located.line).collect();
    assert_eq!(lines, [Some(2), Some(3), Some(8), Some(6)]);
    assert_eq!(located[0].text.as_deref(), Some("3,0"));
    let error = read(&input, &sorting(1)).unwrap_err();
    assert_eq!((error.kind, error.line), (TraceErrorKind::Time, Some(3)));
    let error = read(&together(&["n\n1\n"]), &sorting(1)).unwrap_err();
    assert_eq!(error.kind, TraceErrorKind::Usage);
}

#[test]
fn every_position_leads_back_to_its_line() {
    let mut text = "\u{FEFF}n,s\n".to_string();
    let mut expected = Vec::new();
    let mut line = 2;
    for row in 0..300 {
        expected.push((row, line));
        let (cell, lines) = [("x", 1), ("\"a\nb\"", 2), ("\"\"\"\"", 1), ("é\u{0}", 1)][row % 7 % 4];
        text.push_str(&format!("{row},{cell}\n"));
        line += lines;
        if row % 50 == 0 {
            text.push('\n');
            line += 1;
        }
    }
    let folder = std::env::temp_dir().join(format!("tw-trace-locate-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let write = |name: &str, bytes: &[u8]| {
        std::fs::write(folder.join(name), bytes).unwrap();
        Input::open(&[folder.join(name).to_str().unwrap().to_string()]).unwrap()
    };
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(text.as_bytes()).unwrap();
    let inputs = [
        Input::from_bytes("t.csv", text.as_bytes()),
        write("t.csv", text.as_bytes()),
        write("t.csv.gz", &packed.finish().unwrap()),
        Input::from_reader("-", Box::new(Cursor::new(text.clone().into_bytes()))).unwrap(),
    ];
    for input in &inputs {
        for options in [
            options(1),
            options(17),
            options(1 << 20),
            ReadOptions { sort: Some(0), time: Some("n".into()), ..options(9) },
        ] {
            let sorted = options.sort.is_some();
            let slots = slots();
            let projection = Projection::new(if sorted { &[] } else { &slots }, None, true);
            let summary =
                scan(input, &Csv, &projection, &options, &Ok, &mut |_| Ok(ControlFlow::Continue(())))
                    .unwrap();
            let positions: Vec<usize> = (0..300).rev().collect();
            let located = summary.locator.locate(input, &Csv, &options, &positions).unwrap();
            assert_eq!(located.len(), 300);
            for Located { position, line, text, row, .. } in located {
                assert_eq!(line, Some(expected[position].1), "position {position}");
                // What is known without reading again is right; something is, and all of it row by row.
                let known = summary.locator.line(position);
                assert!(known.is_none() && !sorted || known == line, "position {position}: {known:?}");
                assert!(text.unwrap().starts_with(&format!("{position},")));
                let row = row.unwrap();
                assert_eq!(row.line, expected[position].1);
                if !sorted {
                    assert_eq!(row.variables[0].1.to_string(), position.to_string());
                }
            }
            assert!(summary.locator.locate(input, &Csv, &options, &[300]).unwrap().is_empty());
        }
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_fold_may_stop_the_reading() {
    let text = "n\n".to_string() + &"1\n".repeat(100_000) + "not a number\n";
    let slots = slots();
    let projection = Projection::new(&slots, None, false);
    for options in [options(64), ReadOptions { threads: 1, ..options(64) }] {
        let mut seen = 0;
        let summary = scan(&together(&[&text]), &Csv, &projection, &options, &Ok, &mut |batch: Batch| {
            seen += batch.len;
            Ok(if seen >= 1000 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        });
        assert_eq!(summary.unwrap().positions, seen as u64);
        assert!(seen < 2000);
    }
}

#[test]
fn an_error_of_the_map_or_the_fold_ends_the_run() {
    let text = "n\n".to_string() + &"1\n".repeat(1000);
    let slots = slots();
    let projection = Projection::new(&slots, None, false);
    let fail = || TraceError::new(TraceErrorKind::Budget, "enough");
    let map = |batch: Batch| if batch.len > 0 { Err(fail()) } else { Ok(()) };
    let result = scan(&together(&[&text]), &Csv, &projection, &options(64), &map, &mut |()| {
        Ok(ControlFlow::Continue(()))
    });
    assert_eq!(result.unwrap_err().message, "enough");
    let result = scan(&together(&[&text]), &Csv, &projection, &options(64), &Ok, &mut |_| Err(fail()));
    assert_eq!(result.unwrap_err().message, "enough");
}

#[test]
fn traces_without_positions() {
    for text in ["", "\n\n", "n\n", "n", "\u{FEFF}"] {
        for block in [1, 1 << 20] {
            let (numbers, _, summary) = read(&together(&[text]), &options(block)).unwrap();
            assert_eq!((numbers.len(), summary.positions), (0, 0), "{text:?}");
        }
    }
}

#[test]
fn time_may_go_back_wherever_blocks_end() {
    let text = "time,n\n5,1\n2,2\n7,3\n6,4\n8,5\n";
    for block in [1, 4, 9, 1 << 20] {
        let strict = read(&together(&[text]), &options(block)).unwrap_err();
        assert!(strict.is_about_order() && strict.line == Some(3), "{strict}");
        let any = ReadOptions { any_order: true, ..options(block) };
        for input in [together(&[text]), together(&["time,n\n5,1\n", "time,n\n2,2\n7,3\n6,4\n8,5\n"])] {
            let (numbers, times, _) = read(&input, &any).unwrap();
            assert_eq!(numbers, [1, 2, 3, 4, 5]);
            assert_eq!(times, [5, 2, 7, 6, 8].map(|second| second * 1_000_000_000));
        }
    }
}

#[test]
fn a_timestamp_may_be_in_several_columns() {
    use crate::formats::{json::Json, jsonl::Jsonl, logfmt::Logfmt};
    let texts: [(&dyn TraceFormat, &str); 5] = [
        (&Csv, "Date,Time,n\n2024-05-01,12:00:00,1\n2024-05-01,12:00:01.5,2\n"),
        (&Csv, "n,Time,Date\n1,12:00:00,2024-05-01\n2,12:00:01.5,2024-05-01\n"),
        (
            &Jsonl,
            "{\"Date\":\"2024-05-01\",\"Time\":\"12:00:00\",\"n\":1}\n{\"Date\":\"2024-05-01\",\"Time\":\"12:00:01.5\",\"n\":2}\n",
        ),
        (
            &Json,
            "[{\"Date\":\"2024-05-01\",\"Time\":\"12:00:00\",\"n\":1},{\"Date\":\"2024-05-01\",\"Time\":\"12:00:01.5\",\"n\":2}]",
        ),
        (&Logfmt, "Date=2024-05-01 Time=12:00:00 n=1\nDate=2024-05-01 Time=12:00:01.5 n=2\n"),
    ];
    for (format, text) in texts {
        for block in [1, 1 << 20] {
            let mut options = ReadOptions { time: Some("Date Time".into()), ..options(block) };
            options.settle(format, text.as_bytes());
            let input = Input::from_bytes("t", text.as_bytes());
            let mut found = Vec::new();
            let mut columns = Vec::new();
            read_rows(&input, format, &options, &mut |row| {
                found.push(row.time.map(|stamp| stamp.format()));
                columns = row.variables.iter().map(|(name, _)| name.to_string()).collect();
                Ok(true)
            })
            .unwrap();
            let expected =
                ["2024-05-01T12:00:00Z", "2024-05-01T12:00:01.5Z"].map(|text| Some(text.to_string()));
            assert_eq!(found, expected, "{text}");
            columns.retain(|name| name != "text");
            assert_eq!(columns, ["n"], "{text}");
            let slots = slots();
            let projection = Projection::new(&slots, None, true);
            let mut times = Vec::new();
            let mut fold = |batch: Batch| {
                times.extend(batch.times.unwrap_or_default());
                Ok(ControlFlow::Continue(()))
            };
            scan(&input, format, &projection, &options, &Ok, &mut fold).unwrap();
            assert_eq!(times.len(), 2, "{text}");
            assert_eq!(times[1] - times[0], 1_500_000_000, "{text}");
        }
    }
    // A column of exactly that name is the one meant.
    let options = ReadOptions { time: Some("Date Time".into()), ..options(64) };
    let input = together(&["Date Time,Date,Time,n\n7,x,y,1\n"]);
    assert_eq!(read(&input, &options).unwrap().1, [7_000_000_000]);
    for (text, part) in
        [("Date,Tme,n\n", "did you mean `Tme`?"), ("Date,Time,n\nx,y,1\n", "`Date Time`: found `x y`")]
    {
        let error = read(&together(&[text]), &options).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn rows_go_on_behind_bad_lines_where_that_is_asked() {
    let options = ReadOptions { skip_bad_lines: true, ..options(64) };
    let input = together(&["time,n\n1,1\n2\n3,3\nsoon,4\n2,5\n6,6\n"]);
    let mut lines = Vec::new();
    let left_out = read_rows(&input, &Csv, &options, &mut |row| {
        lines.push(row.line);
        Ok(true)
    });
    let left_out = left_out.unwrap();
    assert_eq!((lines, left_out.count), (vec![2, 4, 7], 3));
    assert_eq!(left_out.first.and_then(|first| first.line), Some(3));
    // Behind a quote that is never closed there is nothing to go on with.
    let open = together(&["n\n1\n\"2\n3\n"]);
    assert!(read_rows(&open, &Csv, &options, &mut |_| Ok(true)).is_err());
}

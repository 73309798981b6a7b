//! Reading CSV beside `wc -l` on the same file, taking turns.
//!
//! `cargo bench -p tw-trace --bench csv [-- ROWS [FILE COLUMN…]]`: generated files of ROWS rows (default ten million),
//! or FILE with the given columns read as truth values (`name`), numbers (`name#`) or text (`name$`).

use std::fs::File;
use std::io::{BufWriter, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tw_core::{Batch, Bits, Column};
use tw_ir::{Expect, Path as Name, Slot, What};
use tw_trace::formats::csv::Csv;
use tw_trace::{Input, Projection, ReadOptions, scan};

const ROUNDS: usize = 7;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let rows = arguments.first().and_then(|rows| rows.parse().ok()).unwrap_or(10_000_000);
    println!("{:<34} {:>8} {:>8} {:>22} {:>22}", "file", "MB", "wc -l", "1 thread", "all threads");
    if let [_, file, columns @ ..] = arguments.as_slice() {
        let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
        measure(file, Path::new(file), &columns, false);
        return;
    }
    let folder = std::env::temp_dir();
    let bit = |row: u64, salt: u64| ((row + salt).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) % 3 < 1;
    let word = |row: u64, salt: u64| if bit(row, salt) { "true" } else { "false" };
    // Name, header, a row, the columns read, whether timestamps are wanted.
    type Line<'l> = &'l dyn Fn(u64) -> String;
    type Case<'l> = (&'l str, &'l str, Line<'l>, &'l [&'l str], bool);
    let cases: [Case<'_>; 7] = [
        (
            "0/1 cells",
            "a,b",
            &|row| format!("{},{}\n", bit(row, 1) as u8, bit(row, 2) as u8),
            &["a", "b"],
            false,
        ),
        (
            "0/1 cells, CRLF",
            "a,b",
            &|row| format!("{},{}\r\n", bit(row, 1) as u8, bit(row, 2) as u8),
            &["a", "b"],
            false,
        ),
        (
            "true/false cells",
            "a,b",
            &|row| format!("{},{}\n", word(row, 1), word(row, 2)),
            &["a", "b"],
            false,
        ),
        (
            "true/false quoted",
            "a,b",
            &|row| format!("\"{}\",\"{}\"\n", word(row, 1), word(row, 2)),
            &["a", "b"],
            false,
        ),
        ("2 numbers", "a,b", &|row| format!("{},{}.5\n", row % 1000, row % 777), &["a#", "b#"], false),
        (
            "time, event, 2 of 6 columns",
            "time,event,user,ip,size,ok",
            &|row| {
                let event = ["login", "logout", "read"][(row % 3) as usize];
                format!(
                    "{}.25,{event},user{},10.0.0.{},{},{}\n",
                    row,
                    row % 1000,
                    row % 256,
                    row * 7 % 100_000,
                    word(row, 3)
                )
            },
            &["size#", "ok"],
            true,
        ),
        (
            "20 columns, 2 used",
            "c0,c1,c2,c3,c4,c5,c6,c7,c8,c9,d0,d1,d2,d3,d4,d5,d6,d7,d8,d9",
            &|row| {
                let cells: Vec<String> = (0..20)
                    .map(|cell| {
                        if cell % 7 == 3 {
                            word(row, cell).to_string()
                        } else {
                            (row * cell % 100_000).to_string()
                        }
                    })
                    .collect();
                format!("{}\n", cells.join(","))
            },
            &["c3", "d0"],
            false,
        ),
    ];
    for (name, header, line, columns, times) in cases {
        let path = folder.join(format!("tw-trace-bench-{}.csv", std::process::id()));
        let rows = if header.len() > 30 { rows / 5 } else { rows };
        write(&path, header, rows, line).expect("the temporary folder can be written");
        measure(name, &path, columns, times);
        let _ = std::fs::remove_file(&path);
    }
}

fn write(path: &PathBuf, header: &str, rows: u64, line: &dyn Fn(u64) -> String) -> std::io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 20, File::create(path)?);
    writeln!(out, "{header}")?;
    for row in 0..rows {
        out.write_all(line(row).as_bytes())?;
    }
    out.flush()
}

fn measure(name: &str, path: &Path, columns: &[&str], times: bool) {
    let slots: Vec<Slot> = columns
        .iter()
        .map(|column| {
            let what = match (column.strip_suffix('#'), column.strip_suffix('$')) {
                (Some(name), _) => What::Variable(Name::field(name), Expect::Number),
                (_, Some(name)) => What::Variable(Name::field(name), Expect::Text),
                _ => What::Proposition(Name::field(*column)),
            };
            Slot { what, declared: false, span: Default::default() }
        })
        .collect();
    let projection = Projection::new(&slots, None, times);
    let input = Input::open(&[path.to_str().unwrap_or_default().to_string()]).expect("the file can be read");
    let all = ReadOptions::default();
    let one = ReadOptions { threads: 1, ..ReadOptions::default() };
    let mut best = [Duration::MAX; 3];
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let count = Command::new("wc").arg("-l").arg(path).stdout(Stdio::null()).status();
        if count.is_ok() {
            best[0] = best[0].min(start.elapsed());
        }
        for (at, options) in [(1, &one), (2, &all)] {
            let start = Instant::now();
            read(&input, &projection, options);
            best[at] = best[at].min(start.elapsed());
        }
    }
    let bytes = input.size().unwrap_or(0) as f64;
    let show = |time: Duration| {
        let (seconds, wc) = (time.as_secs_f64(), best[0].as_secs_f64());
        format!("{:.3} s {:5.2} GB/s {:4.2}×", seconds, bytes / seconds / 1e9, seconds / wc)
    };
    println!(
        "{name:<34} {:>8.0} {:>6.3} s {:>22} {:>22}",
        bytes / 1e6,
        best[0].as_secs_f64(),
        show(best[1]),
        show(best[2])
    );
}

/// What an engine would do: the bit columns of the whole trace, put together.
fn read(input: &Input, projection: &Projection, options: &ReadOptions) -> u64 {
    let mut columns: Vec<Bits> = Vec::new();
    let mut others = 0;
    let summary =
        scan(input, &Csv, projection, options, &|batch: Batch| Ok(batch.slots), &mut |slots: Vec<Column>| {
            columns.resize(slots.len(), Bits::new());
            for (column, slot) in columns.iter_mut().zip(slots) {
                match slot {
                    Column::Truth(bits) => column.append(&bits),
                    other => others += other.len(),
                }
            }
            Ok(ControlFlow::Continue(()))
        });
    let summary = summary.expect("the file is right");
    std::hint::black_box((&columns, others));
    summary.positions
}

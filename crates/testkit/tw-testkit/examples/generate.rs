//! Writes large traces for benchmarks: `generate KIND ROWS OUT`.
//!
//! Kinds: `csv` (`a,b` of 0/1), `csv-words` (true/false), `csv8` (a..h of 0/1), `jsonl5` (five fields, about 65 bytes),
//! `jsonl20` (twenty fields, about 300 bytes), `props` (a and b).

use std::fs::File;
use std::io::{BufWriter, Write};
use tw_testkit::Rng;

fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, kind, rows, out] = arguments.as_slice() else {
        eprintln!("usage: generate csv|csv-words|csv8|jsonl5|jsonl20|props ROWS OUT");
        std::process::exit(2);
    };
    let rows: u64 = rows.parse().map_err(std::io::Error::other)?;
    let mut out = BufWriter::with_capacity(1 << 20, File::create(out)?);
    let mut rng = Rng::new(7);
    match kind.as_str() {
        "csv" => writeln!(out, "a,b")?,
        "csv-words" => writeln!(out, "a,b")?,
        "csv8" => writeln!(out, "a,b,c,d,e,f,g,h")?,
        _ => {}
    }
    let word = |bit: u64| if bit == 1 { "true" } else { "false" };
    for i in 0..rows {
        // The last position is a `b`, so that `G (a -> F b)` holds.
        let bits = if i + 1 == rows { 0xff } else { rng.bits() };
        let (a, b) = (bits & 1, bits >> 1 & 1);
        match kind.as_str() {
            "csv" => out.write_all(&[b'0' + a as u8, b',', b'0' + b as u8, b'\n'])?,
            "csv-words" => writeln!(out, "{},{}", word(a), word(b))?,
            "csv8" => {
                let mut row = *b"0,0,0,0,0,0,0,0\n";
                for (k, cell) in row.iter_mut().step_by(2).enumerate() {
                    *cell = b'0' + (bits >> k & 1) as u8;
                }
                out.write_all(&row)?;
            }
            "props" => out.write_all(match (a, b) {
                (0, 0) => b"\n".as_slice(),
                (1, 0) => b"a\n",
                (0, _) => b"b\n",
                _ => b"a b\n",
            })?,
            "jsonl5" => writeln!(
                out,
                r#"{{"time":{i},"a":{},"b":{},"queue":{},"host":"node-{}"}}"#,
                a == 1,
                b == 1,
                bits >> 8 & 1023,
                bits >> 20 & 7
            )?,
            "jsonl20" => writeln!(
                out,
                concat!(
                    r#"{{"time":{},"level":"info","service":"checkout","host":"node-{}","pid":{},"a":{},"b":{},"#,
                    r#""queue":{},"latency":{}.{},"method":"GET","path":"/api/v1/items/{}","status":200,"bytes":{},"#,
                    r#""user":"u{}","session":"{:016x}","region":"eu-west-1","retry":false,"cache":null,"#,
                    r#""tags":["x","y"],"trace":{{"id":{}}}}}"#
                ),
                i,
                bits >> 20 & 7,
                bits >> 24 & 0xffff,
                a == 1,
                b == 1,
                bits >> 8 & 1023,
                bits >> 30 & 255,
                bits >> 38 & 7,
                bits >> 40 & 0xffff,
                bits >> 12 & 0xffff,
                bits >> 16 & 0xfff,
                bits,
                bits >> 44
            )?,
            other => {
                eprintln!("unknown kind {other}");
                std::process::exit(2);
            }
        }
    }
    out.flush()
}

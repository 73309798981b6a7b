//! CSV and the line formats: `props`, `events`, `monpoly`, `csrv-csv`, `csrv-block`.

use super::{Case, bad, fine};

/// Checks one small formula on a CSV file.
fn csv(name: &'static str, formula: &str, bytes: impl AsRef<[u8]>) -> Case {
    bad(name, format!("check -e '{formula}' t.csv")).file("t.csv", bytes)
}

fn odd_csv(name: &'static str, formula: &str, bytes: impl AsRef<[u8]>) -> Case {
    fine(name, format!("check --output json -e '{formula}' t.csv")).file("t.csv", bytes)
}

/// A gzip member whose content is not compressed.
fn gzip(content: &str) -> Vec<u8> {
    let length = content.len() as u16;
    let mut out = b"\x1f\x8b\x08\0\0\0\0\0\0\xff\x01".to_vec();
    out.extend(length.to_le_bytes());
    out.extend((!length).to_le_bytes());
    out.extend(content.bytes());
    let mut crc = !0u32;
    for byte in content.bytes() {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
        }
    }
    out.extend((!crc).to_le_bytes());
    out.extend(u32::from(length).to_le_bytes());
    out
}

/// A zstd frame whose content is not compressed.
fn zstd(content: &str) -> Vec<u8> {
    let length = u8::try_from(content.len()).expect("a short text");
    let mut out = vec![0x28, 0xb5, 0x2f, 0xfd, 0x20, length];
    out.extend_from_slice(&((u32::from(length) << 3) | 1).to_le_bytes()[..3]);
    out.extend(content.bytes());
    out
}

fn columns(count: usize) -> String {
    let names: Vec<String> = (0..count).map(|index| format!("c{index}")).collect();
    let row = vec!["1"; count].join(",");
    format!("{}\n{row}\n{row}\n", names.join(","))
}

pub fn cases() -> Vec<Case> {
    let rows = "a,b\n1,0\n0,1\n1,1\n";
    let mut cases = vec![
        // Structure.
        csv("csv-empty", "G a", ""),
        csv("csv-header-only", "G a", "a,b\n"),
        csv("csv-blank-lines", "G a", "\n\n\n"),
        csv("csv-short-row", "G a", "a,b\n1,0\n1\n1,1\n"),
        csv("csv-long-row", "G a", "a,b\n1,0\n1,0,1\n"),
        csv("csv-ragged-unused-cells", "G a", "a,b,c\n1,0,x\n1,x\n"),
        csv("csv-cut-in-a-row", "G a", "a,b,c\n1,0,1\n1,0"),
        csv("csv-unclosed-quote", "G a", "a,b\n1,x\n1,\"y\n1,z\n"),
        csv("csv-unclosed-quote-in-header", "G a", "a,\"b\n1,0\n"),
        csv("csv-quote-inside-a-cell", "G a", "a,b\n1,5\" pipe\n"),
        csv("csv-text-after-a-quote", "G a", "a,b\n1,\"x\"y\n"),
        csv("csv-duplicate-column", "G a", "a,b,a\n1,0,1\n"),
        csv("csv-duplicate-column-unused", "G b", "a,b,a\n1,1,1\n"),
        csv("csv-unnamed-column", "G a", "a,,b\n1,0,1\n"),
        csv("csv-semicolons-uneven", "G a", "a;b\n1;0;1\n"),
        csv("csv-old-mac-lines", "G a", "a,b\r1,0\r0,1\r"),
        csv("csv-a-million-columns-and-more", "G c0", columns((1 << 20) + 1)),
        // Encoding.
        csv("csv-invalid-utf8", "G a", b"a,b\n1,caf\xe9\n"),
        csv("csv-invalid-utf8-in-header", "G a", b"a,caf\xe9\n1,1\n"),
        csv("csv-utf16", "G a", b"\xff\xfea\0,\0b\0\n\0"),
        csv("csv-binary", "G a", b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0>\0\x01\0\0\0\xf0\n"),
        // Values.
        csv("csv-text-in-a-number-column", "G (x > 1)", "x\n2\n3\nmany\n"),
        csv("csv-number-as-a-proposition", "G a", "a\n1\n2\n"),
        csv("csv-text-as-a-proposition", "G a", "a\nyes\nno\n"),
        csv("csv-beyond-i64-declared", "", "x\n5\n9223372036854775808\n")
            .command("check s.tw t.csv")
            .file("s.tw", "var x: int;\nproperty p : G (x > 1);\n"),
        csv("csv-beyond-f64", "G (x > 1)", "x\n5\n1e400\n"),
        csv("csv-nan", "G (x > 1)", "x\n5\nNaN\n"),
        csv("csv-infinity", "G (x > 1)", "x\n5\n-inf\n"),
        csv("csv-nan-as-text", "G (x == 1 | x == \"q\")", "x\n5\nNaN\n"),
        csv("csv-sum-overflows", "G (x + 1 > 0)", "x\n5\n9223372036854775807\n"),
        csv("csv-declared-type-contradicted", "", "queue\n1\nlong\n")
            .command("check s.tw t.csv")
            .file("s.tw", "var queue: int;\nproperty p : G (queue < 3);\n"),
        // Time.
        csv("csv-decreasing-time", "G[0,9] a", "time,a\n1,1\n3,1\n2,1\n"),
        csv("csv-time-is-no-time", "G a", "time,a\n1,1\nsoon,1\n"),
        csv("csv-time-too-fine", "G a", "time,a\n0.0000000001,1\n"),
        csv("csv-time-out-of-range", "G a", "time,a\n1e30,1\n"),
        csv("csv-time-missing", "G a", "time,a\n1,1\n,1\n"),
        csv("csv-date-out-of-range", "G a", "time,a\n2999-01-01T00:00:00Z,1\n"),
        csv("csv-date-impossible", "G a", "time,a\n2026-02-30T00:00:00Z,1\n"),
        csv("csv-time-nan", "G a", "time,a\nnan,1\n"),
        csv("csv-disorder-beyond-the-bound", "", "time,a\n10,1\n9,1\n2,1\n")
            .command("check --sort 3s -e 'G a' t.csv"),
        csv("csv-units-without-timestamps", "G[0,5s] a", rows),
        // Nothing of the file may flood or colour the terminal.
        csv("csv-megabyte-in-a-number-column", "G (x > 1)", format!("x\n5\n{}\n", "many".repeat(1 << 18))),
        csv("csv-escape-codes-in-a-cell", "G (x > 1)", "x\n5\n\u{1b}[31mred\u{202e}\n"),
        csv("csv-escape-codes-in-the-header", "G zebra", "\u{1b}[31mred,b\n5,1\n"),
        csv("csv-unknown-name-among-100000", "G zebra", columns(100_000)),
        // Names.
        csv("csv-unknown-name", "G (queue < 10)", "qeue,b\n1,0\n"),
        csv("csv-unknown-name-nothing-like-it", "G zebra", rows),
        csv("csv-event-without-events", "G login(\"bob\")", rows),
        csv("csv-column-and-event", "G login", "event,login\nlogin,1\nlogout,0\n"),
        csv("csv-no-such-time-column", "", rows).command("check --time stamp -e 'G a' t.csv"),
        csv("csv-no-such-event-column", "", rows).command("check --event kind -e 'G a' t.csv"),
        csv("csv-no-such-key-column", "", "usr,a\nbob,1\n").command("check --by user -e 'G a' t.csv"),
        csv("csv-reserved-column", "G T", "T,b\n1,0\n"),
        // Compression.
        csv("gzip-cut", "", "").command("check -e 'G a' t.csv.gz").file("t.csv.gz", &gzip(rows)[..20]),
        csv("gzip-cut-before-its-checksum", "", "")
            .command("check -e 'F a' t.csv.gz")
            .file("t.csv.gz", &gzip(rows)[..gzip(rows).len() - 8]),
        csv("gzip-damaged", "", "").command("check -e 'F a' t.csv.gz").file("t.csv.gz", {
            let mut bytes = gzip(rows);
            bytes[20] ^= 1;
            bytes
        }),
        csv("gzip-and-more", "", "")
            .command("check -e 'G a' t.csv.gz")
            .file("t.csv.gz", [&gzip(rows)[..], b"\n-- more --\n"].concat()),
        csv("gzip-in-name-only", "", "").command("check -e 'G a' t.csv.gz").file("t.csv.gz", rows),
        csv("zstd-cut", "", "").command("check -e 'G a' t.csv.zst").file("t.csv.zst", &zstd(rows)[..15]),
        csv("zstd-damaged", "", "").command("check -e 'G a' t.csv.zst").file("t.csv.zst", {
            let mut bytes = zstd(rows);
            bytes[6] |= 6;
            bytes
        }),
        // Several files.
        bad("concat-decreasing", "check --concat -e 'G[0,9] a' one.csv two.csv")
            .file("one.csv", "time,a\n5,1\n")
            .file("two.csv", "time,a\n4,1\n"),
        bad("line-beyond-the-limit", "check -e 'G a' t.csv").sparse("t.csv", b"a,b\n1,", 70 << 20),
        // Odd, but fine.
        odd_csv("fine-csv-byte-order-mark", "F a", "\u{feff}a,b\n1,0\n0,1\n"),
        odd_csv("fine-csv-crlf", "F a & F b", "a,b\r\n1,0\r\n0,1\r\n"),
        odd_csv("fine-csv-no-last-newline", "F (a & b)", "a,b\n1,0\n1,1"),
        odd_csv("fine-csv-quoted-newline", "F (b == \"x\\ny\")", "a,b\n1,\"x\ny\"\n"),
        odd_csv("fine-csv-blank-line-inside", "G a", "a,b\n1,0\n\n1,1\n"),
        odd_csv("fine-csv-line-of-a-megabyte", "G a", format!("a,b\n1,{}\n1,\n", "x".repeat(1 << 20))),
        odd_csv("fine-csv-100000-columns", "G c99999", columns(100_000)),
        fine("fine-csv-gzip", "check --output json -e 'G (a -> F b)' t.csv.gz").file("t.csv.gz", gzip(rows)),
        fine("fine-csv-zstd", "check --output json -e 'G (a -> F b)' t.csv.zst")
            .file("t.csv.zst", zstd(rows)),
    ];
    cases.extend(lines());
    cases
}

fn lines() -> Vec<Case> {
    let of = |name, extension: &'static str, bytes: &[u8]| {
        bad(name, format!("check -e 'G (p -> F q)' {extension}")).file(extension, bytes)
    };
    let flag = |name, format: &str, bytes: &[u8]| {
        bad(name, format!("check --format {format} -e 'G (p -> F q)' t.txt")).file("t.txt", bytes)
    };
    vec![
        of("props-empty", "t.props", b""),
        of("props-some-with-time", "t.props", b"@1 p\nq\n"),
        of("props-time-later-on", "t.props", b"p\n@1 q\n"),
        of("props-decreasing-time", "t.props", b"@5 p\n@4 q\n")
            .command("check -e 'G (p -> F[0,9] q)' t.props"),
        of("props-time-is-no-time", "t.props", b"@1 p\n@soon q\n"),
        of("props-invalid-utf8", "t.props", b"p\nq \xff\n"),
        of("props-compared", "t.props", b"p\nq\n").command("check -e 'G (p > 3)' t.props"),
        of("events-unclosed-quote", "t.events", b"p,1\np,\"x\n"),
        of("events-no-name", "t.events", b"p,1\n,2\n"),
        of("events-invalid-utf8", "t.events", b"p,\xfe\n"),
        of("events-no-time", "t.events", b"p,1,5\np,soon\n").command("check --timed -e 'G p' t.events"),
        of("events-name-alone-timed", "t.events", b"p\n").command("check --timed -e 'G p' t.events"),
        of("monpoly-garbage", "t.log", b"@1 p (a)\n)Nov 15 10:00:00 accepted\n"),
        of("monpoly-unclosed", "t.log", b"@1 p (a,b\n@2 q ()\n"),
        of("monpoly-no-time", "t.log", b"@1 p (a)\n@ q (b)\n"),
        of("monpoly-decreasing-time", "t.log", b"@10 p (a)\n@9 q (b)\n")
            .command("check -e 'G (p -> F[0,9] q)' t.log"),
        of("monpoly-cut", "t.log", b"@10 p (a)\n@11 q (\"b"),
        flag("csrv-csv-no-equals", "csrv-csv", b"p, x = 1\np, 2\n"),
        flag("csrv-csv-no-name", "csrv-csv", b", x = 1\n"),
        flag("csrv-block-no-equals", "csrv-block", b"p\nx = 1\n\nq\ny\n"),
        flag("csrv-block-unclosed-quote", "csrv-block", b"p\nx = \"1\n"),
        flag("csrv-xml-mismatched-tags", "csrv-xml", b"<log>\n<event><name>p</nam></event>\n</log>\n"),
        flag("csrv-xml-cut", "csrv-xml", b"<log>\n<event><name>p</name>\n<field><name>x</na"),
        flag("csrv-xml-other-element", "csrv-xml", b"<log>\n<entry/>\n</log>\n"),
        flag(
            "csrv-xml-field-without-value",
            "csrv-xml",
            b"<log><event><name>p</name><field><name>x</name></field></event></log>",
        ),
        flag("csrv-xml-unknown-entity", "csrv-xml", b"<log><event><name>&p;</name></event></log>"),
        flag("csrv-xml-not-xml", "csrv-xml", b"p, x = 1\n"),
        flag("csrv-xml-invalid-utf8", "csrv-xml", b"<log><event><name>\xff</name></event></log>"),
        fine("fine-props-crlf", "check --output json -e 'G (p -> F q)' t.props")
            .file("t.props", "p\r\nq\r\n"),
    ]
}

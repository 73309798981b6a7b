//! JSON Lines and JSON.

use super::{Case, bad, fine};

fn jsonl(name: &'static str, formula: &str, bytes: impl AsRef<[u8]>) -> Case {
    bad(name, format!("check -e '{formula}' t.jsonl")).file("t.jsonl", bytes)
}

fn odd_jsonl(name: &'static str, formula: &str, bytes: impl AsRef<[u8]>) -> Case {
    fine(name, format!("check --output json -e '{formula}' t.jsonl")).file("t.jsonl", bytes)
}

fn json(name: &'static str, bytes: impl AsRef<[u8]>) -> Case {
    bad(name, "check -e 'G a' t.json").file("t.json", bytes)
}

/// A key that nobody but whole records reads.
const TWICE: &str =
    "{\"event\": \"e\", \"a\": 1}\n{\"event\": \"e\", \"x\": {\"y\": [1]}, \"a\": 1, \"a\": 2}\n";

fn nested(depth: usize) -> String {
    format!("{}1{}", "[".repeat(depth), "]".repeat(depth))
}

pub fn cases() -> Vec<Case> {
    vec![
        // Structure.
        jsonl("jsonl-empty", "G a", ""),
        jsonl("jsonl-cut-in-a-line", "G a", "{\"a\": 1}\n{\"a\": 1, \"b"),
        jsonl("jsonl-cut-before-a-brace", "G a", "{\"a\": 1}\n{\"a\": 1, \"b\": 2\n{\"a\": 1}\n"),
        jsonl("jsonl-array", "G a", "[{\"a\": 1}, {\"a\": 0}]\n"),
        jsonl("jsonl-number", "G a", "{\"a\": 1}\n17\n"),
        jsonl("jsonl-word", "G a", "a\n"),
        jsonl("jsonl-after-the-object", "G a", "{\"a\": 1} # start\n"),
        jsonl("jsonl-two-objects", "G a", "{\"a\": 1} {\"a\": 0}\n"),
        jsonl("jsonl-closed-twice", "G a", "{\"a\": 1}}\n"),
        jsonl("jsonl-other-bracket", "G a", "{\"a\": 1, \"b\": [1, 2}}\n"),
        jsonl("jsonl-comma-at-the-end", "G a", "{\"a\": 1, }\n"),
        jsonl("jsonl-no-comma", "G a", "{\"a\": 1 \"b\": 2}\n"),
        jsonl("jsonl-no-colon", "G a", "{\"a\" 1}\n"),
        jsonl("jsonl-no-value", "G a", "{\"b\": , \"a\": 1}\n"),
        jsonl("jsonl-bare-key", "G a", "{a: 1}\n"),
        jsonl("jsonl-single-quotes", "G a", "{'a': 1}\n"),
        jsonl("jsonl-python-words", "G a", "{\"a\": True}\n"),
        jsonl("jsonl-pretty-printed", "G a", "{\n  \"a\": 1\n}\n"),
        jsonl("jsonl-csv-inside", "G a", "a,b\n1,0\n"),
        jsonl("jsonl-nested-10000-unclosed", "G a", format!("{{\"b\": {}\n", "[".repeat(10_000))),
        jsonl("jsonl-nested-10000-unused", "G a", format!("{{\"b\": {}, \"a\": 1}}\n", nested(10_000))),
        jsonl("jsonl-nested-10000-as-a-number", "G (b > 1)", format!("{{\"b\": {}}}\n", nested(10_000))),
        // Strings.
        jsonl("jsonl-unclosed-string", "G a", "{\"a\": 1, \"b\": \"x}\n{\"a\": 1}\n"),
        jsonl("jsonl-bad-escape", "G a", "{\"a\": 1, \"b\": \"C:\\data\"}\n"),
        jsonl("jsonl-bad-escape-wanted", "F (b == \"x\")", "{\"b\": \"\\q\"}\n"),
        jsonl("jsonl-bad-unicode-escape", "F (b == \"x\")", "{\"b\": \"\\u12g4\"}\n"),
        jsonl("jsonl-lone-surrogate", "F (b == \"x\")", "{\"b\": \"\\ud800\"}\n"),
        jsonl("jsonl-lone-surrogate-unused", "G a", "{\"a\": 1, \"b\": \"\\ud800\"}\n"),
        jsonl("jsonl-control-character", "G a", "{\"a\": 1, \"b\": \"x\ty\"}\n"),
        jsonl("jsonl-escape-character", "G a", "{\"a\": 1, \"b\": \"\u{1b}[31m\"}\n"),
        jsonl("jsonl-invalid-utf8", "G a", b"{\"a\": 1}\n{\"a\": 1, \"b\": \"\xc3\x28\"}\n"),
        jsonl("jsonl-utf16", "G a", b"\xfe\xff\0{\0}"),
        // Numbers.
        jsonl("jsonl-nan", "G (x > 1)", "{\"x\": NaN}\n"),
        jsonl("jsonl-infinity", "G (x > 1)", "{\"x\": -Infinity}\n"),
        jsonl("jsonl-beyond-f64", "G (x > 1)", "{\"x\": 1e400}\n"),
        jsonl("jsonl-beyond-i64", "G (x > 1)", "{\"x\": 2}\n{\"x\": 18446744073709551616}\n"),
        jsonl("jsonl-leading-zero", "G (x > 1)", "{\"x\": 007}\n"),
        jsonl("jsonl-plus-sign", "G (x > 1)", "{\"x\": +7}\n"),
        jsonl("jsonl-bare-point", "G a", "{\"a\": 1, \"x\": 7.}\n"),
        // Types and names.
        jsonl("jsonl-text-in-a-number", "G (x > 1)", "{\"x\": 2}\n{\"x\": \"two\"}\n"),
        jsonl("jsonl-number-in-a-text", "G (name == \"bob\")", "{\"name\": \"bob\"}\n{\"name\": 7}\n"),
        jsonl("jsonl-number-matched", "G (name matches \"b.*\")", "{\"name\": \"bob\"}\n{\"name\": 7}\n"),
        jsonl("jsonl-text-as-a-proposition", "G a", "{\"a\": true}\n{\"a\": \"true\"}\n"),
        jsonl("jsonl-object-as-a-number", "G (x > 1)", "{\"x\": {\"y\": 1}}\n"),
        jsonl(
            "jsonl-long-text-in-a-number",
            "G (x > 1)",
            format!("{{\"x\": \"{}\"}}\n", "two".repeat(100_000)),
        ),
        jsonl("jsonl-key-twice", "G a", "{\"a\": 1, \"a\": 0}\n"),
        jsonl(
            "jsonl-key-twice-inside",
            "G (n.b > 0)",
            "{\"n\": {\"b\": 1}}\n{\"n\": {\"c\": 1, \"b\": 1, \"b\": 2}}\n",
        ),
        jsonl("jsonl-key-twice-converted", "", TWICE).command("convert t.jsonl --to csv --out -"),
        jsonl("jsonl-key-twice-inspected", "", TWICE).command("inspect t.jsonl"),
        jsonl("jsonl-key-twice-merged", "", TWICE).command("merge t.jsonl --state a --keep time --out -"),
        odd_jsonl("fine-jsonl-key-twice-unread", "G e", TWICE),
        bad("json-key-twice-inspected", "inspect t.json")
            .file("t.json", "[{\"a\": 1},\n {\"n\": [{\"b\": 1,\n   \"b\": 1}]}]"),
        jsonl("jsonl-unknown-name", "G requst", "{\"request\": true}\n"),
        jsonl("jsonl-unknown-path", "G (http.staus < 500)", "{\"http\": {\"status\": 200}}\n"),
        jsonl("jsonl-event-without-events", "G !login", "{\"user\": \"bob\"}\n"),
        jsonl("jsonl-event-not-a-text", "G !login", "{\"event\": \"login\"}\n{\"event\": 5}\n"),
        jsonl("jsonl-key-and-event", "G !login", "{\"event\": \"login\", \"login\": true}\n"),
        // Time.
        jsonl("jsonl-decreasing-time", "G[0,9] a", "{\"time\": 2, \"a\": 1}\n{\"time\": 1, \"a\": 1}\n"),
        jsonl(
            "jsonl-decreasing-dates",
            "G (elapsed > 0 | a)",
            "{\"time\": \"2026-01-02T00:00:00Z\", \"a\": 1}\n{\"time\": \"2026-01-01T00:00:00Z\", \"a\": 1}\n",
        ),
        jsonl("jsonl-time-is-no-time", "G a", "{\"time\": \"yesterday\", \"a\": 1}\n"),
        jsonl("jsonl-time-of-another-type", "G a", "{\"time\": true, \"a\": 1}\n"),
        jsonl("jsonl-time-missing", "G a", "{\"time\": 1, \"a\": 1}\n{\"a\": 1}\n"),
        jsonl("jsonl-time-too-large", "G a", "{\"time\": 1763200000000000000000, \"a\": 1}\n"),
        // One array.
        json("json-empty", ""),
        json("json-empty-array", "[]"),
        json("json-object", "{\"a\": 1}\n"),
        json("json-cut", "[{\"a\": 1},\n {\"a\": 1"),
        json("json-not-closed", "[{\"a\": 1},\n {\"a\": 1}\n"),
        json("json-after-the-array", "[{\"a\": 1}]\n{\"a\": 1}\n"),
        json("json-no-comma", "[{\"a\": 1}\n {\"a\": 1}]\n"),
        json("json-comma-at-the-end", "[{\"a\": 1},\n]\n"),
        json("json-element-of-another-type", "[{\"a\": 1},\n null]\n"),
        json("json-lines-inside", "{\"a\": 1}\n{\"a\": 0}\n"),
        json("json-nested-10000-unclosed", format!("[{{\"b\": {}\n", "[".repeat(10_000))),
        // Odd, but fine.
        odd_jsonl("fine-jsonl-byte-order-mark", "G a", "\u{feff}{\"a\": 1}\n"),
        odd_jsonl("fine-jsonl-crlf", "G a", "{\"a\": 1}\r\n{\"a\": 1}\r\n"),
        odd_jsonl(
            "fine-jsonl-line-of-a-megabyte",
            "G a",
            format!("{{\"b\": \"{}\", \"a\": 1}}\n", "x".repeat(1 << 20)),
        ),
        odd_jsonl("fine-jsonl-nested-500", "G a", format!("{{\"b\": {}, \"a\": 1}}\n", nested(500))),
        odd_jsonl("fine-jsonl-key-twice-unused", "G a", "{\"a\": 1, \"b\": 1, \"b\": 2}\n"),
        fine("fine-json-on-one-line", "check --output json -e 'G a' t.json")
            .file("t.json", "[{\"a\":1},{\"a\":1}]"),
        fine("fine-jsonl-standard-input", "check --output json -e 'G a' -").input(b"{\"a\": 1}"),
    ]
}

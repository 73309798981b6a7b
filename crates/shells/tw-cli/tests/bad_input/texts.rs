//! Text logs.

use super::{Case, bad, fine};

const SPEC: &str = "event failed(user) = text \"failed for {user}\";\nproperty p : G !failed(\"root\");\n";

fn log(name: &'static str, bytes: impl AsRef<[u8]>) -> Case {
    bad(name, "check s.tw t.log --format lines").file("s.tw", SPEC).file("t.log", bytes)
}

const GOOD: &[u8] = b"Dec 10 06:55:46 host failed for ann\n";
const AFTER: &[u8] = b"Dec 10 06:55:48 host failed for bob\n";

/// Two good lines with others between.
fn between(line: &[u8]) -> Vec<u8> {
    [GOOD, line, b"\n", AFTER].concat()
}

/// A line of so many bytes.
fn long(bytes: usize) -> Vec<u8> {
    [b"Dec 10 06:55:47 host ".as_slice(), &vec![b'x'; bytes]].concat()
}

pub fn cases() -> Vec<Case> {
    let binary: Vec<u8> = (0..=255u8).filter(|byte| *byte != b'\n').collect();
    vec![
        log("lines-empty", ""),
        log("lines-binary", between(&binary)),
        log("lines-invalid-utf8", between(b"Dec 10 06:55:47 host caf\xe9")),
        log("lines-invalid-utf8-in-a-continuation", between(b"  at \xff\xfe")),
        log("lines-of-another-form", between(b"2015-10-18 18:01:47 host")),
        log("lines-no-such-day", between(b"Nov 31 06:55:47 host")),
        log("lines-too-long", between(&long(65 << 20))),
        log("lines-utf16", b"\xff\xfeD\0e\0c\0\n\0"),
        // Long, but it can be read.
        fine("lines-of-ten-megabytes", "check s.tw t.log --format lines --output json")
            .file("s.tw", SPEC)
            .file("t.log", between(&long(10 << 20))),
        bad("templates-of-binary", "templates t.log").file("t.log", &binary),
        bad("init-of-binary", "init t.log").file("t.log", &binary),
    ]
}

//! Tests of the formats of text logs.

mod live;

use crate::formats::combined::Combined;
use crate::formats::lines::PlainLines;
use crate::formats::logfmt::Logfmt;
use crate::formats::strace::Strace;
use crate::formats::syslog::Syslog;
use crate::formats::testing::*;
use crate::{Input, Projection, ReadOptions, Row, TraceFormat, scan};
use std::ops::ControlFlow;
use std::sync::Mutex;
use tw_core::{Batch, Time, Value};
use tw_ir::Expect;
use tw_testkit::Rng;

/// Options as they are settled for a trace.
fn settled(format: &dyn TraceFormat, text: &[u8], options: &ReadOptions) -> ReadOptions {
    let mut options = options.clone();
    options.settle(format, text);
    options
}

fn rows(format: &dyn TraceFormat, text: &str) -> Vec<Row> {
    let options = settled(format, text.as_bytes(), &ReadOptions::default());
    rows_of(format, text.as_bytes(), &options).unwrap()
}

fn get<'r>(row: &'r Row, name: &str) -> &'r Value {
    &row.variables.iter().find(|(known, _)| &**known == name).unwrap_or_else(|| panic!("no {name}")).1
}

fn texts(rows: &[Row]) -> Vec<String> {
    rows.iter().map(|row| get(row, "text").to_string().trim_matches('"').to_string()).collect()
}

/// Seconds between the first position and each.
fn distances(rows: &[Row]) -> Vec<f64> {
    let times: Vec<Time> = rows.iter().map(|row| row.time.expect("a time").time).collect();
    times.iter().map(|time| (time - times[0]) as f64 / 1e9).collect()
}

#[test]
fn each_form_in_a_log_of_its_own() {
    let logs: &[(&[&str], &[f64])] = &[
        (&["Dec 10 06:55:46", "Dec 10 06:55:48", "Dec 10 07:00:00"], &[0.0, 2.0, 254.0]),
        (&["Dec 31 23:59:59", "Jan  1 00:00:01", "Jan  1 00:00:02"], &[0.0, 2.0, 3.0]),
        (&["[Sun Dec 04 04:47:44 2005]", "[Sun Dec 04 04:47:45 2005]"], &[0.0, 1.0]),
        (&["2015-10-18 18:01:47,978", "2015-10-18 18:01:48,112"], &[0.0, 0.134]),
        (&["2015-10-18 18:01:47.978", "2015-10-18 18:01:48.1"], &[0.0, 0.122]),
        (&["17/06/09 20:10:40", "17/06/10 20:10:41"], &[0.0, 86_401.0]),
        (&["081109 203615", "081109 203616"], &[0.0, 1.0]),
        (&["20171223-22:15:29:606", "20171224-0:0:1:006"], &[0.0, 6_271.4]),
        (&["03-17 16:13:38.811", "03-17 16:13:39.000"], &[0.0, 0.189]),
        (&["2005-06-03-15.42.50.675872", "2005-06-03-15.42.50.675873"], &[0.0, 0.000_001]),
        (&["[10.30 16:49:06]", "[10.30 16:49:08]"], &[0.0, 2.0]),
        (&["10/Oct/2000:13:55:36 -0700", "10/Oct/2000:22:55:37 +0200"], &[0.0, 1.0]),
        (&["Fri, 21 Nov 1997 09:55:06 -0600", "Fri, 21 Nov 1997 09:55:07 -0600"], &[0.0, 1.0]),
        (&["2024-02-28T23:59:59Z", "2024-02-29T00:00:00Z", "2024-03-01T00:00:00Z"], &[0.0, 1.0, 86_401.0]),
        (&["1117838570", "1117838573"], &[0.0, 3.0]),
        (&["1700000000123", "1700000000124"], &[0.0, 0.001]),
        (&["1700000000123456789", "1700000000123456790"], &[0.0, 1e-9]),
    ];
    for (stamps, expected) in logs {
        for (before, after) in [("", " the rest"), ("INFO [main] x.y ", "] more of it"), ("a b c d e ", "|x")]
        {
            for end in ["\n", "\r\n"] {
                let text: String =
                    stamps.iter().map(|stamp| format!("{before}{stamp}{after}{end}")).collect();
                let rows = rows(&PlainLines, &text);
                assert_eq!(rows.len(), stamps.len(), "{text}");
                let found = distances(&rows);
                let near = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-10 * b.max(1.0);
                assert!(found.iter().zip(*expected).all(near), "{text}: {found:?}");
            }
        }
    }
}

#[test]
fn lines_continue_the_line_before() {
    let text = "banner\n\n2015-10-18 18:01:47,978 ERROR a\njava.io.IOException: closed\n\n    at x(y:1)\n2015-10-18 18:01:48 b\n";
    let joined = rows(&PlainLines, text);
    assert_eq!(
        texts(&joined),
        [
            "2015-10-18 18:01:47,978 ERROR a\njava.io.IOException: closed\n\n    at x(y:1)",
            "2015-10-18 18:01:48 b"
        ]
    );
    assert_eq!(joined.iter().map(|row| row.line).collect::<Vec<_>>(), [3, 7]);
    let mut options = ReadOptions { own_lines: true, ..ReadOptions::default() };
    assert_eq!(options.settle(&PlainLines, text.as_bytes()).preamble, 2);
    let own = rows_of(&PlainLines, text.as_bytes(), &options).unwrap();
    assert_eq!(own.iter().map(|row| row.line).collect::<Vec<_>>(), [3, 4, 5, 6, 7]);
    assert_eq!(distances(&own)[..4], [0.0; 4]);
    // Without any timestamps every line is a position.
    let plain = rows(&PlainLines, "a\n\n b c\n");
    assert_eq!(texts(&plain), ["a", "", " b c"]);
    assert!(plain.iter().all(|row| row.time.is_none()));
}

#[test]
fn what_is_wrong_with_a_timestamp_names_its_line() {
    for (text, said) in [
        ("Dec 10 06:55:46 a\n2015-10-18 18:01:47 b\n", "2:1: found `2015-10-18 18:01:47`"),
        (
            "2015-02-28 18:01:47 a\n2015-02-30 18:01:47 b\n",
            "2:1: found `2015-02-30 18:01:47 b`, expected a day",
        ),
        (
            "2015-02-28 18:01:47 a\n9999-01-01 18:01:47 b\n",
            "2:1: found `9999-01-01 18:01:47 b`, expected a time that",
        ),
        ("Feb 28 00:00:00 a\nFeb 29 00:00:00 b\n", "2:1: found 29 February, but 1970 has none; `⟨year: N⟩`"),
        ("Feb 28 00:00:00 a\nFeb 28 00:00:01 \u{e9}\rb\n", "2:18: found a carriage return"),
    ] {
        let options = settled(&PlainLines, text.as_bytes(), &ReadOptions::default());
        let error = rows_of(&PlainLines, text.as_bytes(), &options).unwrap_err().in_file("f").to_string();
        assert!(error.starts_with(&format!("f:{said}")), "{error}");
    }
    let year = ReadOptions { year: Some(2024), ..ReadOptions::default() };
    let text = b"Feb 28 00:00:00 a\nFeb 29 00:00:00 b\nMar 1 00:00:00 c\n";
    let leap = rows_of(&PlainLines, text, &settled(&PlainLines, text, &year)).unwrap();
    assert_eq!(distances(&leap), [0.0, 86_400.0, 172_800.0]);
}

#[test]
fn forms_of_ones_own() {
    let options = ReadOptions { time_format: Some("%d.%m.%y %H:%M".into()), ..ReadOptions::default() };
    let text = b"x 09.11.89 18:53 a\nno\nx 09.11.89 18:54 b\n";
    let found = rows_of(&PlainLines, text, &settled(&PlainLines, text, &options)).unwrap();
    assert_eq!(distances(&found), [0.0, 60.0]);
    assert_eq!(found[0].time.unwrap().format(), "1989-11-09T18:53:00Z");
}

#[test]
fn fields_of_access_logs() {
    let text = "10.0.0.9 - bob [10/Oct/2000:13:55:36 -0700] \"GET /a?b HTTP/1.0\" 200 2326 \"http://f/\" \"an \\\"agent\\\"\"\nh - - [10/Oct/2000:13:55:37 -0700] \"-\" 408 -\n";
    let found = rows(&Combined, text);
    let fields = |row: &Row| -> Vec<String> {
        let names =
            ["host", "ident", "user", "method", "path", "protocol", "status", "bytes", "referer", "agent"];
        names.iter().map(|name| get(row, name).to_string()).collect()
    };
    assert_eq!(
        fields(&found[0]),
        ["10.0.0.9", "null", "bob", "GET", "/a?b", "HTTP/1.0", "200", "2326", "http://f/", "an \"agent\""]
    );
    assert!(matches!(get(&found[1], "path"), Value::Null) && matches!(get(&found[1], "bytes"), Value::Null));
    assert_eq!(found[0].time.unwrap().format(), "2000-10-10T20:55:36Z");
    assert_eq!(texts(&found)[1], "h - - [10/Oct/2000:13:55:37 -0700] \"-\" 408 -");
    let error = rows_of(
        &Combined,
        b"h - - [10/Oct/2000:13:55:37 -0700] \"GET / HTTP/1.0\" ok 5\n",
        &ReadOptions::default(),
    );
    assert_eq!(error.unwrap_err().in_file("f").to_string(), "f:1:53: found `ok`, expected a status");
}

#[test]
fn fields_of_system_logs() {
    let text = "<34>Oct 11 22:14:15 mymachine su[77]: 'su root' failed\nOct 11 22:14:16 host cron: done: all\n  of it\nOct 11 22:14:17 host no tag here\n";
    let found = rows(&Syslog, text);
    let fields = |row: &Row| {
        let names = ["facility", "severity", "host", "app", "pid", "msgid", "message"];
        names.map(|name| get(row, name).to_string().trim_matches('"').to_string())
    };
    assert_eq!(fields(&found[0]), ["4", "2", "mymachine", "su", "77", "null", "'su root' failed"]);
    assert_eq!(fields(&found[1]), ["null", "null", "host", "cron", "null", "null", "done: all"]);
    assert_eq!(fields(&found[2]), ["null", "null", "host", "null", "null", "null", "no tag here"]);
    assert_eq!(distances(&found), [0.0, 1.0, 2.0]);
    let text = "<165>1 2003-08-24T05:14:15.000003-07:00 192.0.2.1 myproc 8710 ID47 [a@1 k=\"v \\\" ]\"][b@2] It's time\n<165>1 2003-08-24T05:14:16Z h p - - - \u{feff}bom\n";
    let found = rows(&Syslog, text);
    assert_eq!(fields(&found[0]), ["20", "5", "192.0.2.1", "myproc", "8710", "ID47", "It's time"]);
    assert_eq!(fields(&found[1]), ["20", "5", "h", "p", "null", "null", "bom"]);
}

#[test]
fn fields_of_logfmt_and_strace() {
    let found = rows(
        &Logfmt,
        "time=2024-05-01T12:00:00Z level=info msg=\"a \\\"b\\\"\" n=5 flag\n\ntime=2024-05-01T12:00:01Z event=login user=bob e=\n",
    );
    assert_eq!(get(&found[0], "msg"), &Value::text("a \"b\""));
    assert_eq!(get(&found[0], "flag"), &Value::text("true"));
    assert_eq!((&*found[1].events[0].name, get(&found[1], "e")), ("login", &Value::Null));
    assert_eq!(distances(&found), [0.0, 1.0]);
    check_errors(
        &Logfmt,
        &ReadOptions::default(),
        &[
            ("a=1 =2\n", "1:5: found `=2`, expected a key, as in `key=value`"),
            ("a=1 b=\"x\n", "1:7: found `\\\"x`, expected a closing quote"),
            ("a=1 a=2\n", "1:5: found the key `a` for the second time in one line, expected it once"),
        ],
    );
    let text = "12 1700000000.000100 openat(AT_FDCWD, \"/etc/a, b\", O_RDONLY|O_CLOEXEC) = -1 ENOENT (No such file or directory)\n[pid  13] 1700000000.000200 read(3,  <unfinished ...>\n13 1700000000.000300 <... read resumed>\"ab\", 2) = 2\n13 1700000000.000400 --- SIGCHLD {si_signo=SIGCHLD} ---\n13 1700000000.000500 +++ exited with 0 +++\n";
    let found = rows(&Strace, text);
    let names: Vec<&str> = found.iter().map(|row| &*row.events[0].name).collect();
    assert_eq!(names, ["openat", "read", "read_resumed", "SIGCHLD", "exited"]);
    let value = |row: usize, name: &str| get(&found[row], name).to_string().trim_matches('"').to_string();
    assert_eq!(
        (value(0, "arg1"), value(0, "result"), value(0, "errno")),
        ("/etc/a, b".into(), "-1".into(), "ENOENT".into())
    );
    assert_eq!(
        (value(1, "pid"), value(1, "arg0"), value(2, "result"), value(4, "arg0")),
        ("13".into(), "3".into(), "2".into(), "0".into())
    );
    assert_eq!(get(&found[1], "result"), &Value::Null);
    let found =
        rows(&Strace, "13 1.5 +++ killed by SIGSEGV (core dumped) +++\n13 2.5 +++ killed by SIGKILL +++\n");
    let signals = found.iter().map(|row| get(row, "arg0"));
    assert!(signals.eq([&Value::text("SIGSEGV"), &Value::text("SIGKILL")]));
}

#[test]
fn formats_are_known_by_look() {
    let look = |head: &str| crate::recognise(head.as_bytes(), crate::FORMATS).map(|format| format.name());
    for (head, format) in [
        ("10.0.0.9 - - [10/Oct/2000:13:55:36 -0700] \"GET /a HTTP/1.0\" 200 2326\n", "combined"),
        ("Dec 10 06:55:46 LabSZ sshd[24200]: Failed password for root\n", "syslog"),
        ("<34>Oct 11 22:14:15 mymachine su: failed\n", "syslog"),
        ("<165>1 2003-08-24T05:14:15Z h p - - - m\n", "syslog"),
        ("level=info msg=\"a b\" n=5\nlevel=warn msg=c n=6\n", "logfmt"),
        ("12 1700000000.000100 close(3) = 0\n", "strace"),
        (
            "2015-10-18 18:01:47,978 INFO [main] started, now\n2015-10-18 18:01:48,112 WARN late, very\n",
            "lines",
        ),
        ("081109 203615 148 INFO dfs.DataNode: Receiving block\n", "lines"),
        ("03-17 16:13:38.811  1702  2395 D WindowManager: printFreezingDisplayLogs\n", "lines"),
        ("just words\nand more\n", "lines"),
    ] {
        assert_eq!(look(head), Some(format), "{head}");
    }
    assert_eq!(look("PAR1\0\0"), None);
}

/// What a scan of these bytes delivers: texts, times and lines, or the error.
fn scanned(format: &dyn TraceFormat, files: &[&[u8]], options: &ReadOptions, rows: bool) -> String {
    let mut input: Option<Input> = None;
    for (number, bytes) in files.iter().enumerate() {
        let next = Input::from_bytes(&format!("f{number}"), *bytes);
        input = Some(match input {
            Some(before) => before.followed_by(next),
            None => next,
        });
    }
    let input = input.expect("a file");
    let projection = Projection::new(&[variable("text", Expect::Any)], None, true);
    let out = Mutex::new(String::new());
    let map = |batch: Batch| Ok(batch);
    let mut fold = |batch: Batch| {
        for at in 0..batch.len {
            let time = batch.times.as_ref().map(|times| times[at]);
            out.lock().unwrap().push_str(&format!("{:?} {}\n", time, batch.slots[0].value(at)));
        }
        Ok(ControlFlow::Continue(()))
    };
    let summary = match rows {
        true => crate::scan::scan_by_rows(&input, format, &projection, options, &map, &mut fold),
        false => scan(&input, format, &projection, options, &map, &mut fold),
    };
    match summary {
        Err(error) => error.to_string(),
        Ok(summary) => {
            let positions: Vec<usize> = (0..summary.positions as usize).collect();
            let located = summary.locator.locate(&input, format, options, &positions).unwrap();
            let lines: Vec<_> = located.iter().map(|one| (one.file.clone(), one.line)).collect();
            format!("{}{lines:?}", out.into_inner().unwrap())
        }
    }
}

#[test]
fn blocks_are_rows() {
    const PIECES: [&str; 18] = [
        "Dec 10 06:55:46",
        "Dec 10 06:55:47",
        "Dec 31 23:59:59",
        "Jan  1 00:00:01",
        "Feb 28 12:00:00",
        "Jul 4 1:2:3",
        " x",
        "host app[5]: m",
        "\n",
        "\n",
        "\n",
        "\r\n",
        "  at y",
        "<34>",
        "Feb 29 00:00:00",
        "ä",
        "2015-10-18 18:01:47",
        "=",
    ];
    let cases = tw_testkit::cases(3000);
    for seed in 0..cases as u64 {
        let mut rng = Rng::new(seed);
        let mut at = 0;
        let files: Vec<String> = (0..1 + rng.below(2))
            .map(|_| {
                let dated = if rng.below(8) == 0 { PIECES.len() } else { 14 };
                let mut text = String::new();
                for _ in 0..rng.below(12) {
                    // The first five go on through the years.
                    at += rng.below(3);
                    let lead = if rng.below(3) > 0 { PIECES[at % 5] } else { "" };
                    text.push_str(lead);
                    for _ in 0..rng.below(4) {
                        text.push_str(PIECES[rng.below(dated)]);
                    }
                    text.push('\n');
                }
                text
            })
            .collect();
        let files: Vec<&[u8]> = files.iter().map(|file| file.as_bytes()).collect();
        let formats: [&dyn TraceFormat; 3] = [&PlainLines, &Syslog, &Logfmt];
        let format = formats[rng.below(3)];
        let base = ReadOptions {
            own_lines: rng.below(3) == 0,
            year: Some(2023),
            threads: 1 + rng.below(3),
            block: 1 + rng.below(80),
            ..ReadOptions::default()
        };
        let options = settled(format, files[0], &base);
        let expected = scanned(format, &files, &options, true);
        let found = scanned(format, &files, &options, false);
        assert_eq!(
            found,
            expected,
            "seed {seed}: {} {:?} {options:?}",
            format.name(),
            files.iter().map(|file| String::from_utf8_lossy(file)).collect::<Vec<_>>()
        );
    }
}

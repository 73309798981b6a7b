//! Tests of `monpoly`.

use super::Monpoly;
use crate::formats::testing::*;
use crate::{Arguments, Event, ReadOptions, Row, Stamp, TimeStyle};
use tw_core::{TimeUnit, Value};
use tw_testkit::Rng;

fn shown(text: &str) -> Vec<String> {
    rows_of(&Monpoly, text.as_bytes(), &ReadOptions::default()).unwrap().iter().map(show).collect()
}

#[test]
fn entries_are_positions() {
    assert_eq!(shown(""), [""; 0]);
    assert_eq!(shown(" # nothing\n"), [""; 0]);
    assert_eq!(
        shown(
            "@1 publish (160)\n@2 approve (152) (163,\"a, \"\"b\"\"\")\n  login() tick\n\n@2;@ 3.5 p(a)(b) q @4"
        ),
        [
            "@1 publish['160']",
            "@2 approve['152'] approve['163', 'a, ''b'''] login[] tick[]",
            "@2",
            "@3.5 p['a'] p['b'] q[]",
            "@4"
        ]
    );
    assert_eq!(shown("@1 # one\np ( a , b@c;d ) # two\n(,\"\")#"), ["@1 p['a', 'b@c;d'] p[Null, '']"]);
    assert_eq!(
        shown("\u{feff}@1 \"odd name\" (\"a\nb\") p@2 ü (ö)"),
        ["@1 odd name['a\\nb'] p[]", "@2 ü['ö']"]
    );
    let rows = rows_of(&Monpoly, b"\n@1 p\n(a)\r\n\r\n  @2 q", &ReadOptions::default()).unwrap();
    assert_eq!(rows.iter().map(|row| row.line).collect::<Vec<_>>(), [2, 5]);
}

#[test]
fn errors_name_their_place() {
    let options = ReadOptions { max_columns: 3, max_record: 60, ..ReadOptions::default() };
    check_errors(
        &Monpoly,
        &options,
        &[
            ("\n p (a)", "2:2: found `p`, expected `@TIME`, the start of an entry"),
            ("@1;\nä", "2:1: found `ä`, expected `@TIME`, the start of an entry"),
            ("@soon p", "1:2: found `soon`, expected a timestamp: a number (s) or RFC 3339 text"),
            ("@", "1:2: found nothing, expected a timestamp: a number (s) or RFC 3339 text"),
            ("@1 (a)", "1:4: found `(`, expected an event name, `@TIME` or `;`"),
            ("@1 p )", "1:6: found `)`, expected an event name, `@TIME` or `;`"),
            ("@1 p (a", "1:8: found the end of the file, expected `,` or `)`"),
            ("@1 p (a,", "1:9: found the end of the file, expected a value or `)`"),
            ("@1 ü (a bc)", "1:9: found `bc`, expected `,` or `)`"),
            ("@1 p (a\n(b))", "2:1: found `(`, expected `,` or `)`"),
            ("@1 p ((b))", "1:7: found `(`, expected a value"),
            (
                "@1 p (\"a)",
                "1:7: found a quote that is not closed before the end of the file, expected a closing `\"`",
            ),
            (
                "@1 >exit<",
                "1:4: found `>exit<`, expected an event name (commands such as `>exit<` are not part of a trace)",
            ),
            (
                "@1 p (a,b,c,d)",
                "1: this record has more than 3 arguments, the limit; is the format the right one?",
            ),
            ("@1\np p p p", "2: this record has more than 3 events, the limit; is the format the right one?"),
            (
                &("@1 ".to_string() + &"x".repeat(80)),
                "1: this record is longer than 60 bytes, the limit; is the format the right one?",
            ),
        ],
    );
    for (text, place) in [(&b"@1 \xC3\xA4\xFF"[..], "1:5"), (b"@1 p (\"a\n\xC3\xA4b\xFF\")", "2:3")] {
        let error = rows_of(&Monpoly, text, &options).unwrap_err();
        assert_eq!(
            error.in_file("f").to_string(),
            format!("f:{place}: found the byte 0xff, expected UTF-8 text")
        );
    }
}

#[test]
fn any_bytes_are_read_or_refused() {
    let mut rng = Rng::new(17);
    let pieces: [&str; 16] =
        ["@", "1", "@2 ", "p", "(", ")", ",", "\"", ";", "#", "\n", " ", "ä", "\r\n", "q (a) ", "\u{feff}"];
    for _ in 0..20_000 {
        let mut text: Vec<u8> = Vec::new();
        for _ in 0..rng.below(12) {
            text.extend(rng.pick(&pieces).as_bytes());
            if rng.below(100) == 0 {
                text.push(0xFF);
            }
        }
        if let Ok(rows) = rows_of(&Monpoly, &text, &ReadOptions::default()) {
            assert!(rows.iter().all(|row| row.time.is_some()));
        }
    }
}

fn event(name: &str, arguments: Arguments) -> Event {
    Event { name: name.into(), arguments }
}

#[test]
fn rows_survive_writing() {
    let mut rng = Rng::new(31337);
    for _ in 0..1000 {
        let mut rows = Vec::new();
        for line in 0..rng.below(5) as u64 {
            let events = (0..rng.below(4))
                .map(|_| {
                    let name = rng.pick(&["a", "log in", "@x", "#", "ü", "a-b", "p(", "\""]);
                    let mut values: Vec<Value> = (0..rng.below(4))
                        .map(|_| if rng.below(6) == 0 { Value::Null } else { random_value(&mut rng, true) })
                        .collect();
                    if values == [Value::Null] {
                        values.clear();
                    }
                    event(name, Arguments::Positional(values))
                })
                .collect();
            let time = Some(Stamp {
                time: line as i64 * 1_500_000_000,
                style: TimeStyle::Number(TimeUnit::Seconds),
            });
            rows.push(Row { line: line + 1, time, events, ..Row::default() });
        }
        let text = write(&Monpoly, &rows).unwrap();
        let mut back = rows_of(&Monpoly, text.as_bytes(), &ReadOptions::default()).unwrap();
        for event in rows.iter_mut().flat_map(|row| &mut row.events) {
            if let Arguments::Positional(values) = &mut event.arguments {
                values.iter_mut().for_each(|value| *value = untyped(value));
            }
        }
        // Values may hold line breaks, so lines differ.
        back.iter_mut().zip(&rows).for_each(|(back, row)| back.line = row.line);
        assert_eq!(back, rows, "{text}");
    }
}

#[test]
fn positions_stand_for_missing_time_and_variables_for_events() {
    let row = |events, variables: &[(&str, Value)]| Row {
        line: 3,
        events,
        variables: variables.iter().map(|(name, value)| ((*name).into(), value.clone())).collect(),
        ..Row::default()
    };
    let rows = [
        row(vec![], &[("a", Value::text("1")), ("b", Value::text("0")), ("c d", Value::text("true"))]),
        row(vec![event("login", Arguments::OfRow)], &[("u", Value::text("bob")), ("v", Value::Null)]),
        row(vec![], &[]),
    ];
    assert_eq!(write(&Monpoly, &rows).unwrap(), "@0 a () \"c d\" ()\n@1 login (bob)\n@2\n");
    for (row, expected) in [
        (row(vec![], &[("q", Value::text("5"))]), "column `q`, which holds `5`; convert to `csv` or `jsonl`"),
        (
            row(vec![event("e", Arguments::Positional(vec![Value::Null]))], &[]),
            "a single null as the arguments of `e`; convert to `events`",
        ),
        (
            row(vec![event("e", Arguments::OfRow)], &[("o", Value::Object(vec![]))]),
            "an object as an argument of `e`; convert to `jsonl`",
        ),
        (row(vec![event("", Arguments::OfRow)], &[]), "an event without a name; convert to `jsonl`"),
    ] {
        let error = write(&Monpoly, &[row]).unwrap_err().in_file("f").to_string();
        assert_eq!(error, format!("f:3: `monpoly` cannot hold {expected}"));
    }
}

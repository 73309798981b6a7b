//! Tests of `monpoly`.

use super::Monpoly;
use crate::formats::testing::{event as event_slot, *};
use crate::{Arguments, Event, Input, Projection, ReadOptions, Row, Stamp, TimeStyle, TraceFormat, scan};
use std::ops::ControlFlow;
use tw_core::{Batch, TimeUnit, Value};
use tw_ir::{ArgumentKey, Expect, Slot};
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

/// Entries on lines of their own mostly; one text in five has something wrong somewhere.
fn random_text(rng: &mut Rng) -> Vec<u8> {
    const NAMES: [&str; 9] = ["a", "b", "ab", "login", "\"login\"", "\"a b\"", "ä", "\"lo\"\"\"", "a#b"];
    const VALUES: [&str; 16] = [
        "1",
        "bob",
        "",
        "true",
        "10.0.0.1",
        "\"bob\"",
        "\"a,b\"",
        "\"\"",
        " 1 ",
        "1.0",
        "ä",
        "b@c;d",
        "-7",
        "\"q\"\"r\"",
        "\"@2\n\"",
        "007",
    ];
    const GAPS: [&str; 10] = ["", " ", " ", " ", " ", "\t", "\n", "\r\n", " # (p\n", "  "];
    const ODD: [&[u8]; 11] =
        [b"\xFF", b"\"", b"(", b")", b",", b"@", b";", b"# \xFF\n", b" >x", b"@1", b" (nan) "];
    let odd = rng.below(5) == 0;
    let neat = rng.below(2) == 0;
    let mut text = Vec::new();
    if rng.below(20) == 0 {
        text.extend(b"\xEF\xBB\xBF");
    }
    let gap = |rng: &mut Rng, text: &mut Vec<u8>| {
        text.extend(if neat { "" } else { rng.pick(&GAPS) }.as_bytes());
    };
    let mut time = 0;
    let most = if rng.below(10) == 0 { 90 } else { 9 };
    for _ in 0..rng.below(most) {
        gap(rng, &mut text);
        time += rng.below(3);
        let shown = if odd && rng.below(20) == 0 { time.saturating_sub(2) } else { time };
        text.extend(format!("@{shown}{}", rng.pick(&["", "", ".0", ".00"])).as_bytes());
        for _ in 0..rng.below(4) {
            text.push(b' ');
            gap(rng, &mut text);
            text.extend(rng.pick(&NAMES).as_bytes());
            for _ in 0..rng.below(4) {
                gap(rng, &mut text);
                text.push(b'(');
                for value in 0..rng.below(4) {
                    text.extend(if value > 0 { "," } else { "" }.as_bytes());
                    gap(rng, &mut text);
                    text.extend(rng.pick(&VALUES).as_bytes());
                }
                text.push(b')');
            }
            if odd && rng.below(15) == 0 {
                text.extend(rng.pick(&ODD));
            }
        }
        text.extend(
            match rng.below(12) {
                0 => ";",
                1 => " ; \n",
                2 if !neat => " ",
                3 => "\r\n",
                4 if !neat => " # one\n\n",
                _ => "\n",
            }
            .as_bytes(),
        );
    }
    text
}

#[test]
fn blocks_deliver_what_rows_deliver() {
    let index = ArgumentKey::Index;
    let declared = |index, name: &str| ArgumentKey::Declared { index, name: name.into(), of: 2 };
    let plain: Vec<Slot> = vec![
        proposition("a"),
        event_slot("login", &[], None),
        proposition("a b"),
        event_slot("a", &[(index(0), Value::text("bob"))], Some(1)),
        event_slot(
            "b",
            &[(declared(1, "x"), Value::Bool(true)), (declared(0, "y"), Value::text("a,b"))],
            Some(2),
        ),
        event_slot("login", &[(index(1), Value::text(""))], None),
        proposition("lo\""),
    ];
    let mut bound = plain.clone();
    bound.push(tuples("a", &[], Some(1), &[0]));
    bound.push(tuples("login", &[], None, &[1, 0, 1]));
    bound.push(tuples("login", &[], None, &[0, 1, 0, 1, 0, 1]));
    bound.push(tuples("b", &[(index(1), Value::Int(1))], Some(3), &[2, 0]));
    bound.push(tuples("ä", &[(declared(0, "x"), Value::text("bob"))], None, &[1]));
    bound.push(tuples("ab", &[], None, &[0]));
    let mut variables = bound.clone();
    variables.push(Slot { declared: true, ..variable("q", Expect::Text) });
    variables.push(variable("b", Expect::Bool));
    variables.push(proposition("missing"));
    let mut named = bound.clone();
    named.push(event_slot("login", &[(ArgumentKey::Name("x".into()), Value::Int(1))], None));
    let unknown = vec![variable("a", Expect::Number)];
    let mut rng = Rng::new(0x30_9017);
    let mut good = 0;
    for round in 0..20_000 {
        let slots = match round % 3 {
            0 => [&plain, &variables, &named, &unknown][round / 3 % 4],
            _ => &bound,
        };
        let projection = Projection::new(slots, (round % 50 == 7).then_some("user"), round % 2 == 0);
        let small = ReadOptions { max_columns: 2, ..ReadOptions::default() };
        let options = if round % 40 == 9 { small } else { ReadOptions::default() };
        let text = random_text(&mut rng);
        good += usize::from(check_blocks(&Monpoly, &text, &projection, &options, &mut rng));
    }
    assert!((12_000..19_000).contains(&good), "{good}");
}

/// Positions with their tuples, times and lines as a scan delivers them and finds them again, or the error.
fn scanned(text: &[u8], options: &ReadOptions) -> Result<Vec<String>, String> {
    let slots = [tuples("a", &[], None, &[0]), proposition("login")];
    let input = Input::from_bytes("f", text);
    let mut all = Vec::new();
    let mut fold = |batch: Batch| {
        let values = |at| batch.slots.iter().map(|slot| slot.value(at)).collect::<Vec<_>>();
        let times = batch.times.clone().unwrap_or_default();
        all.extend((0..batch.len).map(|at| format!("{:?} {}", values(at), times[at])));
        Ok(ControlFlow::Continue(()))
    };
    let projection = Projection::new(&slots.map(|slot| Slot { declared: true, ..slot }), None, true);
    let summary = scan(&input, &Monpoly, &projection, options, &Ok, &mut fold).map_err(|e| e.to_string())?;
    let positions: Vec<usize> = (0..all.len()).collect();
    let located = summary.locator.locate(&input, &Monpoly, options, &positions).map_err(|e| e.to_string())?;
    assert_eq!(located.len(), all.len());
    for (told, found) in all.iter_mut().zip(located) {
        if let (Some(line), Some(known)) = (found.line, summary.locator.line(found.position)) {
            assert_eq!(line, known);
        }
        told.push_str(&format!(" {:?} {}", found.line, found.row.as_ref().map_or(String::new(), show)));
    }
    Ok(all)
}

#[test]
fn entries_cut_anywhere_are_put_together_again() {
    let mut rng = Rng::new(77);
    for _ in 0..1500 {
        let text = random_text(&mut rng);
        let options = ReadOptions { threads: 1, ..ReadOptions::default() };
        // Sorting by nothing is reading by rows.
        let rows = scanned(&text, &ReadOptions { sort: Some(0), ..options.clone() });
        for block in [1, 7, 40, 1 << 20] {
            let blocks = scanned(&text, &ReadOptions { block, ..options.clone() });
            let shown = String::from_utf8_lossy(&text);
            match (&rows, &blocks) {
                (Ok(rows), Ok(blocks)) => assert_eq!(rows, blocks, "{block} {shown:?}"),
                // Sorting words it otherwise.
                (Err(rows), Err(blocks)) if rows.contains("out of order") => {
                    assert!(blocks.contains("timestamp"), "{block} {shown:?}\n{rows}\n{blocks}");
                }
                (Err(rows), Err(blocks)) => assert_eq!(rows, blocks, "{block} {shown:?}"),
                _ => panic!("{block} {shown:?}\n{rows:?}\n{blocks:?}"),
            }
        }
    }
}

#[test]
fn sorting_is_left_to_rows() {
    let options = ReadOptions { sort: Some(1), ..ReadOptions::default() };
    assert!(Monpoly.blocks(b"@1 a\n", &Projection::default(), &options).unwrap().is_none());
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

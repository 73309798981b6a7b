//! Tests of `props`.

use super::Props;
use crate::formats::testing::*;
use crate::{Arguments, Event, Input, Projection, ReadOptions, Row, Stamp, TimeStyle, TraceFormat, scan};
use tw_core::{Batch, TimeUnit, Value};
use tw_ir::{ArgumentKey, Expect, Slot};
use tw_testkit::Rng;

fn shown(text: &str) -> Vec<String> {
    let rows = rows_of(&Props, text.as_bytes(), &ReadOptions::default()).unwrap();
    rows.iter().map(|row| show(row).replace("[]", "")).collect()
}

#[test]
fn lines_are_positions() {
    assert_eq!(shown(""), [""; 0]);
    assert_eq!(shown("\n"), [""]);
    assert_eq!(shown("a b\n\na"), ["a b", "", "a"]);
    assert_eq!(shown("a\n\n"), ["a", ""]);
    assert_eq!(shown("\ta \t b \r\n \r\nü@1 \"x\"\r\n"), ["a b", "", "ü@1 \"x\""]);
    assert_eq!(shown("@1 a\n@1.5\n@2 @x b\n"), ["@1 a", "@1.5", "@2 @x b"]);
    assert_eq!(shown("@1970-01-01T00:00:01Z a\n"), ["@1970-01-01T00:00:01Z a"]);
    assert_eq!(shown("\u{feff}a\n"), ["a"]);
}

#[test]
fn errors_name_their_place() {
    let options = ReadOptions { max_columns: 3, max_record: 40, ..ReadOptions::default() };
    check_errors(
        &Props,
        &options,
        &[
            (
                "a\n @5 b\n",
                "2:2: found `@5`, expected a proposition: the lines before have no `@TIME`, and either all lines have one or none",
            ),
            (
                "@5 b\n\n",
                "2:1: found an empty line, expected `@TIME` at the start of the line, as on the lines before",
            ),
            (
                "@5 b\nä b\n",
                "2:1: found `ä`, expected `@TIME` at the start of the line, as on the lines before",
            ),
            ("@x b\n", "1:2: found `x`, expected a timestamp: a number (s) or RFC 3339 text"),
            ("@\n", "1:2: found nothing, expected a timestamp: a number (s) or RFC 3339 text"),
            (
                "@1e400\n",
                "1:2: found `1e400`, which is beyond the range of 64-bit nanoseconds (about ±292 years), expected a timestamp: a number (s) or RFC 3339 text",
            ),
            (
                "a\rb\n",
                "1:2: found a carriage return inside a line, expected lines that end with a line feed, or with a carriage return and a line feed",
            ),
            (
                "\na b c d\n",
                "2: this record has more than 3 propositions, the limit; is the format the right one?",
            ),
            (
                &("x".repeat(50) + "\n"),
                "1: this record is longer than 40 bytes, the limit; is the format the right one?",
            ),
        ],
    );
    let error = rows_of(&Props, b"a\nb \xC3\xA4\xFF\n", &options).unwrap_err();
    assert_eq!(error.in_file("f").to_string(), "f:2:4: found the byte 0xff, expected UTF-8 text");
}

fn random_text(rng: &mut Rng) -> Vec<u8> {
    const NAMES: [&str; 14] = [
        "a",
        "b",
        "ab",
        "ba",
        "abc",
        "req",
        "long_name_15_by",
        "long_name_16_byt",
        "long_name_17_byte",
        "a_name_that_is_quite_a_bit_longer_than_sixty_four_bytes_and_so_spans_chunks",
        "ä",
        "\"",
        "a@",
        "x",
    ];
    let timed = rng.below(4) == 0;
    let odd = rng.below(6) == 0;
    let mut text = Vec::new();
    if rng.below(20) == 0 {
        text.extend(b"\xEF\xBB\xBF");
    }
    let most = if rng.below(10) == 0 { 200 } else { 20 };
    let lines = rng.below(most);
    let mut time = 0;
    for line in 0..lines {
        if timed {
            time += rng.below(3);
            let time = if odd && rng.below(40) == 0 { time.saturating_sub(2) } else { time };
            text.extend(
                match rng.below(8) {
                    0 => format!("@{time}.5 "),
                    1 if odd => format!(" @{time} "),
                    2 if odd && rng.below(9) == 0 => "a ".to_string(),
                    _ => format!("@{time} "),
                }
                .as_bytes(),
            );
        }
        for _ in 0..rng.below(4) {
            text.extend(rng.pick(&NAMES).as_bytes());
            text.extend(match rng.below(12) {
                0 => &b"  "[..],
                1 => b"\t",
                2 if odd => b" @z ",
                _ => b" ",
            });
        }
        if rng.below(3) > 0 && text.last() == Some(&b' ') {
            text.pop();
        }
        if odd && rng.below(60) == 0 {
            text.extend([&b"\r"[..], b"\xFF", b"\xC3\xA4", b"\0"][rng.below(4)]);
        }
        if odd && rng.below(4) == 0 {
            text.push(b'\r');
        }
        if line + 1 < lines || rng.below(3) > 0 {
            text.push(b'\n');
        }
    }
    text
}

#[test]
fn blocks_deliver_what_rows_deliver() {
    let few: Vec<Slot> = vec![
        proposition("a"),
        proposition("abc"),
        event("long_name_17_byte", &[], None),
        proposition("a_name_that_is_quite_a_bit_longer_than_sixty_four_bytes_and_so_spans_chunks"),
        proposition("ä"),
        proposition("a b"),
        event("b", &[(ArgumentKey::Index(0), Value::Int(1))], Some(1)),
        event("long_name_16_byt", &[], Some(0)),
        event("long_name_15_by", &[], None),
        proposition("a"),
        proposition("@1"),
    ];
    let mut many = few.clone();
    many.extend((0..20).map(|i| proposition(&format!("n{i}"))));
    let refused: Vec<Slot> = vec![
        proposition("b"),
        event("req", &[(ArgumentKey::Name("x".into()), Value::Int(1))], None),
        proposition("missing"),
    ];
    let mut variables = few.clone();
    variables.push(Slot { declared: true, ..variable("queue", Expect::Number) });
    variables.push(Slot { declared: true, ..variable("name", Expect::Any) });
    // A name in backquotes, and one that is never a proposition.
    let unknown = vec![proposition("a"), variable("a", Expect::Bool), variable("abc", Expect::Bool)];
    let mut rng = Rng::new(0x5EED);
    let mut good = 0;
    for round in 0..25_000 {
        let slots =
            [&few, &many, &refused, &variables, &unknown][if round % 3 > 0 { 0 } else { round / 3 % 5 }];
        let projection = Projection::new(slots, (round % 50 == 7).then_some("user"), round % 2 == 0);
        let text = random_text(&mut rng);
        good += usize::from(check_blocks(&Props, &text, &projection, &ReadOptions::default(), &mut rng));
    }
    assert!((15_000..24_000).contains(&good), "{good}");
}

#[test]
fn many_propositions_on_a_line_are_counted() {
    let slots = [proposition("a")];
    let projection = Projection::new(&slots, None, false);
    let options = ReadOptions { max_columns: 5, ..ReadOptions::default() };
    for text in ["a a a a a\n", "a a a a a a\n", "\n\n\na\n\n\n\n\n\n\n"] {
        check_blocks(&Props, text.as_bytes(), &projection, &options, &mut Rng::new(1));
    }
}

#[test]
fn sorting_is_left_to_rows() {
    let options = ReadOptions { sort: Some(1), ..ReadOptions::default() };
    let blocks = |text: &[u8]| Props.blocks(text, &Projection::default(), &options).unwrap().is_some();
    assert!(!blocks(b" @1 a\n"));
    assert!(blocks(b"a\n@1\n"));
}

fn row(line: u64, names: &[&str]) -> Row {
    let events = names
        .iter()
        .map(|name| Event { name: (*name).into(), arguments: Arguments::Positional(Vec::new()) })
        .collect();
    Row { line, events, ..Row::default() }
}

#[test]
fn rows_survive_writing() {
    let mut rng = Rng::new(99);
    for round in 0..500 {
        let mut rows = Vec::new();
        for line in 0..rng.below(6) as u64 {
            let names: Vec<&str> =
                (0..rng.below(4)).map(|_| rng.pick(&["a", "bb", "ü", "a,b", "x@", "=", "1"])).collect();
            let mut row = row(line + 1, &names);
            if round % 2 == 0 {
                let style =
                    if round % 4 == 0 { TimeStyle::Text } else { TimeStyle::Number(TimeUnit::Seconds) };
                row.time = Some(Stamp { time: line as i64 * 250_000_000, style });
            }
            rows.push(row);
        }
        let text = write(&Props, &rows).unwrap();
        assert_eq!(rows_of(&Props, text.as_bytes(), &ReadOptions::default()).unwrap(), rows, "{text}");
    }
}

#[test]
fn variables_become_propositions_or_errors() {
    let with = |typed, variables: &[(&str, Value)]| Row {
        line: 7,
        typed,
        variables: variables.iter().map(|(name, value)| ((*name).into(), value.clone())).collect(),
        ..row(7, &["e"])
    };
    let cells =
        [("a", Value::text("1")), ("b", Value::text("0")), ("c", Value::Null), ("d", Value::text("true"))];
    assert_eq!(write(&Props, &[with(false, &cells)]).unwrap(), "e a d\n");
    let values = [("a", Value::Bool(true)), ("b", Value::Int(0)), ("c", Value::Int(1))];
    assert_eq!(write(&Props, &[with(true, &values)]).unwrap(), "e a c\n");
    let cases = [
        (with(false, &[("q", Value::text("5"))]), "column `q`, which holds `5`; convert to `csv` or `jsonl`"),
        (with(true, &[("q", Value::text("1"))]), "column `q`, which holds `1`; convert to `csv` or `jsonl`"),
        (with(false, &[("a b", Value::text("1"))]), "the name `a b`; convert to `csv` or `jsonl`"),
        (row(7, &["@x"]), "the name `@x`; convert to `csv` or `jsonl`"),
        (row(7, &["a\nb"]), "the name `a\\nb`; convert to `csv` or `jsonl`"),
    ];
    for (row, expected) in cases {
        let error = write(&Props, &[row]).unwrap_err().in_file("f").to_string();
        assert_eq!(error, format!("f:7: `props` cannot hold {expected}"));
    }
    let mut login = row(7, &[]);
    login
        .events
        .push(Event { name: "login".into(), arguments: Arguments::Positional(vec![Value::text("bob")]) });
    let error = write(&Props, &[login]).unwrap_err().message;
    assert_eq!(error, "`props` cannot hold the arguments of event `login`; convert to `events` or `monpoly`");
    let timed = Row { time: Some(Stamp { time: 0, style: TimeStyle::Text }), ..row(1, &[]) };
    let error = write(&Props, &[timed, row(2, &[])]).unwrap_err();
    assert_eq!((error.line, error.message.contains("no timestamp")), (Some(2), true));
}

#[test]
fn threads_and_blocks_deliver_the_whole_in_order() {
    let lines = ["a b", "", "b", "a", "abc a"];
    let text: String = (0..5000).map(|i| format!("@{} {}\n", i / 3, lines[i % 7 % 5])).collect();
    let slots = [proposition("a"), proposition("abc")];
    let projection = Projection::new(&slots, None, true);
    for (block, threads) in [(64, 1), (100, 2), (4096, 2), (1 << 20, 1)] {
        let input = Input::from_bytes("f", text.as_bytes().to_vec());
        let options = ReadOptions { block, threads, ..ReadOptions::default() };
        let (mut values, mut times) = (Vec::new(), Vec::new());
        let summary = scan(&input, &Props, &projection, &options, &Ok, &mut |batch: Batch| {
            values.extend((0..batch.len).map(|at| (batch.slots[0].value(at), batch.slots[1].value(at))));
            times.extend(batch.times.into_iter().flatten());
            Ok(std::ops::ControlFlow::Continue(()))
        });
        assert_eq!(summary.unwrap().warnings, []);
        assert_eq!(times, (0..5000).map(|i| i / 3 * 1_000_000_000).collect::<Vec<_>>());
        for (at, value) in values.iter().enumerate() {
            let line = lines[at % 7 % 5];
            let holds = |name| Value::Bool(line.split(' ').any(|held| held == name));
            assert_eq!(*value, (holds("a"), holds("abc")), "{at}");
        }
        assert_eq!(values.len(), 5000);
    }
}

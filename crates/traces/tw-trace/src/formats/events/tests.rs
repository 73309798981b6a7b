//! Tests of `events`.

use super::Events;
use crate::formats::testing::*;
use crate::{Arguments, Event, Projection, ReadOptions, Row, Stamp, TimeStyle, TraceFormat};
use tw_core::{TimeUnit, Value};
use tw_ir::{ArgumentKey, Expect, Slot};
use tw_testkit::Rng;

fn timed() -> ReadOptions {
    ReadOptions { timed: true, ..ReadOptions::default() }
}

fn shown(text: &str, options: &ReadOptions) -> Vec<String> {
    rows_of(&Events, text.as_bytes(), options).unwrap().iter().map(show).collect()
}

#[test]
fn lines_are_events() {
    let plain = ReadOptions::default();
    assert_eq!(shown("", &plain), [""; 0]);
    assert_eq!(shown("open,f1\n\n  \r\nclose\n", &plain), ["open['f1']", "close[]"]);
    assert_eq!(shown("a, x ,\"b, \"\"c\"\"\" ,,\"\"\r\n", &plain), ["a['x', 'b, ''c''', Null, '']"]);
    assert_eq!(shown("\"a,b\",1", &plain), ["a,b['1']"]);
    assert_eq!(shown("a,x,1.5\nb, 2\n", &timed()), ["@1.5 a['x']", "@2 b[]"]);
    let rows = rows_of(&Events, b"\n\na\n\nb\n", &plain).unwrap();
    assert_eq!(rows.iter().map(|row| row.line).collect::<Vec<_>>(), [3, 5]);
}

#[test]
fn errors_name_their_place() {
    let options = ReadOptions { max_columns: 3, ..ReadOptions::default() };
    check_errors(
        &Events,
        &options,
        &[
            ("a\n ,b\n", "2:2: found nothing, expected an event name"),
            ("ä,\"b\n", "1:3: found a quote that is not closed on its line, expected a closing `\"`"),
            ("ä,\"b\"c,d\n", "1:6: found `c,d` after a closing quote, expected `,` or the end of the line"),
            (
                "a,1,2,3,4\n",
                "1: this record has more than 3 arguments, the limit; is the format the right one?",
            ),
        ],
    );
    check_errors(
        &Events,
        &timed(),
        &[
            (
                "a\n",
                "1:2: found the end of the line, expected `,` and a timestamp as the last field, because of `⟨timed⟩`",
            ),
            ("a,x, soon\n", "1:6: found `soon`, expected a timestamp: a number (s) or RFC 3339 text"),
            ("a,\n", "1:3: found nothing, expected a timestamp: a number (s) or RFC 3339 text"),
        ],
    );
}

fn random_text(rng: &mut Rng, timed: bool) -> Vec<u8> {
    const NAMES: [&str; 9] =
        ["a", "b", "ab", "login", "logout", "a_much_longer_name_of_an_event", "\"a\"", " a ", "ä"];
    const VALUES: [&str; 14] = [
        "1",
        "bob",
        "",
        "true",
        "10.0.0.1",
        "\"bob\"",
        "\"a,b\"",
        "\"\"",
        " 1",
        "1.0",
        "ä",
        "x\"y",
        "0",
        "\"q\"\"r\" ",
    ];
    let odd = rng.below(6) == 0;
    let mut text = Vec::new();
    if rng.below(20) == 0 {
        text.extend(b"\xEF\xBB\xBF");
    }
    let most = if rng.below(10) == 0 { 100 } else { 15 };
    let lines = rng.below(most);
    let mut time = 0;
    for line in 0..lines {
        if rng.below(8) > 0 {
            text.extend(rng.pick(&NAMES).as_bytes());
            for _ in 0..rng.below(4) {
                text.push(b',');
                let value = if odd && rng.below(30) == 0 { "nan" } else { rng.pick(&VALUES) };
                text.extend(value.as_bytes());
            }
            if timed && !(odd && rng.below(30) == 0) {
                time += rng.below(3);
                let time = if odd && rng.below(40) == 0 { time.saturating_sub(2) } else { time };
                text.extend(
                    match rng.below(5) {
                        0 => format!(",\"{time}\""),
                        1 => format!(", {time}.25"),
                        _ => format!(",{time}"),
                    }
                    .as_bytes(),
                );
            }
        } else if rng.below(3) == 0 {
            text.push(b' ');
        }
        if odd && rng.below(40) == 0 {
            text.extend([&b"\r"[..], b"\xFF", b",\"", b"\"\"x"][rng.below(4)]);
        }
        if rng.below(6) == 0 {
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
    let index = ArgumentKey::Index;
    let declared = |index, name: &str| ArgumentKey::Declared { index, name: name.into(), of: 2 };
    let plain: Vec<Slot> = vec![
        proposition("a"),
        event("login", &[], None),
        event("a_much_longer_name_of_an_event", &[], None),
        proposition("ä"),
        event("a", &[(index(0), Value::text("bob"))], Some(1)),
        event("a", &[(index(0), Value::Int(1))], None),
        event("b", &[(declared(1, "x"), Value::Bool(true)), (declared(0, "y"), Value::text("a,b"))], Some(3)),
        event("logout", &[], Some(2)),
        event("login", &[(index(2), Value::Real(1.0))], Some(3)),
        event("login", &[(index(1), Value::text(""))], None),
        proposition("b"),
    ];
    let mut variables = plain.clone();
    variables.push(Slot { declared: true, ..variable("q", Expect::Text) });
    variables.push(proposition("missing"));
    let mut bound = plain.clone();
    bound.push(tuples("a", &[], Some(1), &[0]));
    bound.push(tuples("login", &[], None, &[1, 0, 1]));
    bound.push(tuples("b", &[(index(1), Value::Int(1))], Some(3), &[2, 0]));
    bound.push(tuples("ä", &[(declared(0, "x"), Value::text("bob"))], None, &[1]));
    let mut named = plain.clone();
    named.push(event(
        "login",
        &[(index(0), Value::text("bob")), (ArgumentKey::Name("x".into()), Value::Int(1))],
        None,
    ));
    let unknown = vec![variable("a", Expect::Number)];
    let mut rng = Rng::new(0xE7E);
    let mut good = 0;
    for round in 0..25_000 {
        let slots = match round % 3 {
            0 => [&plain, &variables, &named, &unknown][round / 3 % 4],
            1 => &plain,
            _ => &bound,
        };
        let projection = Projection::new(slots, (round % 50 == 7).then_some("user"), round % 2 == 0);
        let options = if round % 4 == 1 { timed() } else { ReadOptions::default() };
        let text = random_text(&mut rng, options.timed);
        good += usize::from(check_blocks(&Events, &text, &projection, &options, &mut rng));
    }
    assert!((15_000..24_000).contains(&good), "{good}");
}

#[test]
fn rows_survive_writing() {
    let mut rng = Rng::new(4242);
    for round in 0..1000 {
        let mut rows = Vec::new();
        for line in 0..rng.below(6) as u64 {
            let name = rng.pick(&["a", "log in", "a,b", "\"", "ü", " x"]);
            let values: Vec<Value> = (0..rng.below(4))
                .map(|_| if rng.below(6) == 0 { Value::Null } else { random_value(&mut rng, false) })
                .collect();
            let time = (round % 2 == 0).then_some(Stamp {
                time: line as i64 * 1_000_000,
                style: TimeStyle::Number(TimeUnit::Seconds),
            });
            let events = vec![Event { name: name.into(), arguments: Arguments::Positional(values) }];
            rows.push(Row { line: line + 1, time, events, ..Row::default() });
        }
        let options = ReadOptions { timed: round % 2 == 0, ..ReadOptions::default() };
        let text = write(&Events, &rows).unwrap();
        for event in rows.iter_mut().flat_map(|row| &mut row.events) {
            if let Arguments::Positional(values) = &mut event.arguments {
                values.iter_mut().for_each(|value| *value = untyped(value));
            }
        }
        assert_eq!(rows_of(&Events, text.as_bytes(), &options).unwrap(), rows, "{text}");
    }
}

#[test]
fn what_cannot_be_written_is_an_error() {
    let event = |arguments| Event { name: "e".into(), arguments };
    let row = |events, variables: &[(&str, Value)]| Row {
        line: 3,
        events,
        variables: variables.iter().map(|(name, value)| ((*name).into(), value.clone())).collect(),
        ..Row::default()
    };
    let named = |names: [&str; 3]| {
        let values = [Value::text("bob"), Value::Null, Value::Int(5)];
        let variables: Vec<(&str, Value)> = names.into_iter().zip(values).collect();
        row(vec![event(Arguments::OfRow)], &variables)
    };
    assert_eq!(write(&Events, &[named(["u", "w", "arg1"])]).unwrap_err().line, Some(3));
    assert_eq!(write(&Events, &[named(["arg1", "arg2", "arg3"])]).unwrap(), "e,bob,,5\n");
    // Each has its place, whatever their order; in a table an empty cell at the end is no argument.
    assert_eq!(write(&Events, &[named(["arg2", "arg3", "arg1"])]).unwrap(), "e,5,bob\n");
    let typed = Row { typed: true, ..named(["arg2", "arg3", "arg1"]) };
    assert_eq!(write(&Events, &[typed]).unwrap(), "e,5,bob,\n");
    let bob = ("u", Value::text("bob"));
    for (row, expected) in [
        (row(vec![], &[]), "a position without an event; convert to `csv` or `jsonl`"),
        (
            row(vec![event(Arguments::OfRow), event(Arguments::OfRow)], &[]),
            "several events at one position; convert to `monpoly`",
        ),
        (
            row(vec![event(Arguments::Positional(vec![]))], &[bob]),
            "variable `u` beside an event; convert to `jsonl`",
        ),
        (
            row(vec![event(Arguments::OfRow)], &[("u", Value::List(vec![]))]),
            "a list as an argument of `e`; convert to `jsonl`",
        ),
        (named(["u", "v", "w"]), "the null `v` among the arguments of `e`, by position; convert to `jsonl`"),
        (
            Row { typed: true, ..row(vec![event(Arguments::OfRow)], &[("u", Value::text(""))]) },
            "an empty text as an argument of `e`, which would be null; convert to `jsonl`",
        ),
        (
            row(vec![event(Arguments::OfRow)], &[("u", Value::text("a\nb"))]),
            "the line break in `a\\nb`; convert to `monpoly` or `jsonl`",
        ),
    ] {
        let error = write(&Events, &[row]).unwrap_err().in_file("f").to_string();
        assert_eq!(error, format!("f:3: `events` cannot hold {expected}"));
    }
}

#[test]
fn sorting_is_left_to_rows() {
    let options = ReadOptions { sort: Some(1), ..timed() };
    assert!(Events.blocks(b"a,1\n", &Projection::default(), &options).unwrap().is_none());
}

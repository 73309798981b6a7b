//! Tests of the three competition forms, which hold the same events.

use crate::formats::testing::*;
use crate::formats::{csrv_block::CsrvBlock, csrv_csv::CsrvCsv, csrv_xml::CsrvXml};
use crate::{Arguments, Event, ReadOptions, Row, Stamp, TimeStyle, TraceFormat};
use std::sync::Arc;
use tw_core::{TimeUnit, Value};
use tw_testkit::Rng;

const FORMS: [&dyn TraceFormat; 3] = [&CsrvCsv, &CsrvBlock, &CsrvXml];

fn shown(format: &dyn TraceFormat, text: &str) -> Vec<String> {
    rows_of(format, text.as_bytes(), &ReadOptions::default()).unwrap().iter().map(show).collect()
}

#[test]
fn the_snippets_of_the_report_are_the_same_events() {
    let line = "an_event_name, a_field_name = a_value, a_field_name = a_value\n";
    let block = "an_event_name\na_field_name = a_value\na_field_name = a_value\n";
    let field = "    <field><name>a_field_name</name><value>a_value</value></field>\n";
    let xml = |name: &str| format!("  <event>\n    <name>{name}</name>\n{field}{field}  </event>\n");
    let expected = "an_event_name a_field_name=[a_value, a_value]";
    assert_eq!(shown(&CsrvCsv, &line.repeat(2)), [expected; 2]);
    assert_eq!(shown(&CsrvBlock, &format!("{block}\n{block}")), [expected; 2]);
    let log = format!("<log>\n{}{}</log>\n", xml("an_event_name"), xml("EVR"));
    assert_eq!(shown(&CsrvXml, &log), [expected, "EVR a_field_name=[a_value, a_value]"]);
    for form in FORMS {
        assert_eq!(shown(form, ""), [""; 0], "{}", form.name());
        assert_eq!(shown(form, "\n \r\n"), [""; 0], "{}", form.name());
    }
}

#[test]
fn time_quotes_and_nulls() {
    let expected = ["@1.5 login user=bob, \"the builder\" note=null", "@2 out"];
    assert_eq!(
        shown(&CsrvCsv, "login, time = 1.5, user=\"bob, \"\"the builder\"\"\" , note =\n\nout,time=2"),
        expected
    );
    assert_eq!(
        shown(&CsrvBlock, "\nlogin\n time = 1.5\nuser = bob, \"the builder\"\nnote =\n\n\nout\r\ntime=2"),
        expected
    );
    let xml = "<?xml version=\"1.0\"?><!DOCTYPE log><!-- two --><log a='1'><event><field><value>1.5</value><name>time</name></field>\
        <name> login </name><field><name>user</name><value>\n bob, &quot;<![CDATA[the builder]]>&#34;\n</value></field>\
        <field><name>note</name><value/></field></event><event ><name>out</name ><field><name>time</name><value>2</value></field></event></log>";
    assert_eq!(shown(&CsrvXml, xml), expected);
    let options = ReadOptions { time: Some("ts".into()), ..ReadOptions::default() };
    let rows = rows_of(&CsrvCsv, b"a, ts = 5, time = x", &options).unwrap();
    assert_eq!(show(&rows[0]), "@5 a time=x");
    assert_eq!(shown(&CsrvXml, "<log/>"), [""; 0]);
    assert_eq!(shown(&CsrvXml, "\u{feff}<log>\n</log>\n"), [""; 0]);
}

#[test]
fn repeated_fields_are_lists_however_many_there_are() {
    let mut line = "e".to_string();
    for field in (0..40).chain(0..40).chain([3]) {
        line.push_str(&format!(", f{field} = {field}"));
    }
    let rows = rows_of(&CsrvCsv, line.as_bytes(), &ReadOptions::default()).unwrap();
    assert_eq!(rows[0].variables.len(), 40);
    for (index, (name, value)) in rows[0].variables.iter().enumerate() {
        let count = if index == 3 { 3 } else { 2 };
        assert_eq!(**name, *format!("f{index}"));
        assert_eq!(*value, Value::List(vec![Value::text(&index.to_string()); count]));
    }
}

#[test]
fn errors_name_their_place() {
    let options = ReadOptions { max_columns: 2, max_record: 200, ..ReadOptions::default() };
    check_errors(
        &CsrvCsv,
        &options,
        &[
            ("a\nü, b = 1, c, d = 2", "2:11: found `c`, expected 'field = value'"),
            ("a,", "1:3: found nothing, expected 'field = value'"),
            ("a, = 5", "1:4: found `= 5`, expected 'field = value'"),
            ("a, \"b\" c = 5", "1:4: found `\\\"b\\\" c = 5`, expected 'field = value'"),
            ("a, \"b = 5", "1:4: found `\\\"b = 5`, expected 'field = value'"),
            (", a = 5", "1:1: found nothing, expected an event name"),
            ("a = 5", "1:1: found `a = 5`, expected an event name"),
            ("a, b = \"5\" 6", "1:12: found `6` after a closing quote, expected `,` or the end of the line"),
            ("a, b = \"5", "1:8: found a quote that is not closed on its line, expected a closing `\"`"),
            ("a, time = soon", "1:11: found `soon`, expected a timestamp: a number (s) or RFC 3339 text"),
            ("a, time =", "1:10: found nothing, expected a timestamp: a number (s) or RFC 3339 text"),
            ("a, time = 1, time = 2", "1:21: the timestamp `time` is the event's second"),
            (
                "a, b = 1, c = 2, d = 3",
                "1: this record has more than 2 fields, the limit; is the format the right one?",
            ),
        ],
    );
    check_errors(
        &CsrvBlock,
        &options,
        &[
            ("b = 5\n", "1:1: found `b = 5`, expected an event name on a line of its own"),
            ("a\n\nü\n b\n", "4:2: found `b`, expected 'field = value'"),
            ("a\n= 5\n", "2:1: found `= 5`, expected 'field = value'"),
            ("a\nb = \"5\" 6\n", "2:9: found `6` after a closing quote, expected the end of the line"),
            ("a\ntime = soon\n", "2:8: found `soon`, expected a timestamp: a number (s) or RFC 3339 text"),
        ],
    );
    check_errors(
        &CsrvXml,
        &options,
        &[
            ("hello", "1:1: found `hello`, expected `<log>`"),
            ("<logs>", "1:1: found `<logs>`, expected `<log>`"),
            ("<log>", "1:6: found the end of the file, expected `<event>` or `</log>`"),
            ("<log>\n <evnt>", "2:2: found `<evnt>`, expected `<event>` or `</log>`"),
            ("<log><event>\nx", "1:13: found `x`, expected `<name>`, `<field>` or `</event>`"),
            ("<log><event></event>", "1:13: found `</event>`, expected `<name>`: an event has a name"),
            ("<log><event><name/>", "1:13: found an empty `<name>`, expected a name"),
            (
                "<log><event><name>a</name><name>",
                "1:27: found `<name>`, expected `<field>` or `</event>`: the event has a name already",
            ),
            ("<log><event><name>ä</nme>", "1:20: found `</nme>`, expected text or `</name>`"),
            ("<log><event><name>a", "1:20: found the end of the file, expected text or `</name>`"),
            (
                "<log><event><name>a</name></log>",
                "1:27: found `</log>`, expected `<name>`, `<field>` or `</event>`",
            ),
            ("<log><event><field></field>", "1:20: found `</field>`, expected `<name>` or `<value>`"),
            (
                "<log><event><field><name>a</name></field>",
                "1:34: found `</field>`, expected `<value>`: a field has one",
            ),
            (
                "<log><event><field><value>a</value></field>",
                "1:36: found `</field>`, expected `<name>`: a field has one",
            ),
            ("<log><event><field/>", "1:13: found `<field/>`, expected `<name>`, `<field>` or `</event>`"),
            ("<log><event id=5>", "1:6: found `<event id=5>`, expected a tag without attributes"),
            ("<log></log>\n<log>", "2:1: found `<log>`, expected the end of the file"),
            (
                "<log><event><name>a&b</name>",
                "1:20: found `&` that begins no reference, expected `&amp;` for the character `&`",
            ),
            (
                "<log><event><name>&nbsp;</name>",
                "1:19: found `&nbsp;`, expected a character reference or one of `&lt;` `&gt;` `&amp;` `&quot;` `&apos;`",
            ),
            (
                "<log>\n<event",
                "2:1: found malformed markup (tag not closed: `>` not found before end of input), expected well-formed XML",
            ),
            (
                "<log><!-- x",
                "1:6: found malformed markup (comment not closed: `-->` not found before end of input), expected well-formed XML",
            ),
            (
                &format!("<log>\n<event><name>{}", "x".repeat(300)),
                "2: this record is longer than 200 bytes, the limit; is the format the right one?",
            ),
            (
                "<log><event><field><name>time</name><value>x</value></field>",
                "1:44: found `x`, expected a timestamp: a number (s) or RFC 3339 text",
            ),
        ],
    );
    let error = rows_of(&CsrvXml, b"<log><event><name>a\n\xC3\xA4\xFF</name>", &options).unwrap_err();
    assert_eq!(error.in_file("f").to_string(), "f:2:2: found the byte 0xff, expected UTF-8 text");
}

#[test]
fn any_bytes_are_read_or_refused() {
    let mut rng = Rng::new(23);
    let pieces: [&str; 24] = [
        "<log>", "</log>", "<event>", "</event>", "<name>", "</name>", "<field>", "</field>", "<value>",
        "</value>", "a", " ", "=", ",", "\"", "\n", "ä", "&lt;", "&", "<!--", "-->", "<", ">", "\r\n",
    ];
    for _ in 0..20_000 {
        let mut text: Vec<u8> =
            if rng.below(2) == 0 { b"<log><event><name>".to_vec() } else { b"e, ".to_vec() };
        for _ in 0..rng.below(14) {
            text.extend(rng.pick(&pieces).as_bytes());
            if rng.below(100) == 0 {
                text.push(0xFF);
            }
        }
        for form in FORMS {
            if let Ok(rows) = rows_of(form, &text, &ReadOptions::default()) {
                assert!(rows.iter().all(|row| row.events.len() == 1));
            }
        }
    }
}

fn no_empty_text(value: &mut Value) {
    match value {
        Value::List(values) => values.iter_mut().for_each(no_empty_text),
        Value::Str(text) if text.is_empty() => *value = Value::text("-"),
        _ => {}
    }
}

fn random_rows(rng: &mut Rng, timed: bool, line_breaks: bool) -> Vec<Row> {
    (0..rng.below(5) as u64)
        .map(|line| {
            let names: [&str; 8] = ["a", "log in", "a,b", "a=b", "\"", "ü", " x", "<&>"];
            let mut variables: Vec<(Arc<str>, Value)> = Vec::new();
            for name in names.iter().skip(rng.below(4)).take(rng.below(5)) {
                let mut value = random_value(rng, line_breaks);
                if rng.below(6) == 0 {
                    value = Value::List(vec![value, Value::Null, random_value(rng, line_breaks)]);
                }
                variables.push(((*name).into(), value));
            }
            // A field without text is null.
            variables.iter_mut().for_each(|(_, value)| no_empty_text(value));
            let time = timed.then_some(Stamp {
                time: line as i64 * 1_500_000,
                style: TimeStyle::Number(TimeUnit::Seconds),
            });
            let events = vec![Event { name: rng.pick(&names).into(), arguments: Arguments::OfRow }];
            Row { line: 0, time, variables, events, typed: true, ..Default::default() }
        })
        .collect()
}

#[test]
fn rows_survive_a_tour_of_the_forms() {
    let mut rng = Rng::new(77);
    for round in 0..600 {
        let first = random_rows(&mut rng, round % 2 == 0, false);
        let mut rows = first.clone();
        for form in [&CsrvCsv as &dyn TraceFormat, &CsrvXml, &CsrvBlock, &CsrvCsv] {
            let text = write(form, &rows).unwrap();
            rows = rows_of(form, text.as_bytes(), &ReadOptions::default()).unwrap();
            let expected: Vec<Row> = first
                .iter()
                .zip(&rows)
                .map(|(row, back)| Row {
                    line: back.line,
                    typed: false,
                    variables: row
                        .variables
                        .iter()
                        .map(|(name, value)| (name.clone(), untyped(value)))
                        .collect(),
                    ..row.clone()
                })
                .collect();
            assert_eq!(rows, expected, "{}\n{text}", form.name());
        }
        let first = random_rows(&mut rng, false, true);
        let text = write(&CsrvXml, &first).unwrap();
        let back = rows_of(&CsrvXml, text.as_bytes(), &ReadOptions::default()).unwrap();
        assert_eq!(back.len(), first.len());
        for (row, back) in first.iter().zip(&back) {
            let expected: Vec<_> =
                row.variables.iter().map(|(name, value)| (name.clone(), untyped(value))).collect();
            assert_eq!(back.variables, expected, "{text}");
        }
    }
}

#[test]
fn what_is_written_looks_like_the_report() {
    let variables =
        vec![("user".into(), Value::text("bob")), ("n".into(), Value::Int(5)), ("x".into(), Value::Null)];
    let events = vec![Event { name: "login".into(), arguments: Arguments::OfRow }];
    let time = Some(Stamp { time: 1_000_000_000, style: TimeStyle::Number(TimeUnit::Seconds) });
    let rows = [Row { line: 1, time, variables, events, typed: true, ..Default::default() }];
    assert_eq!(write(&CsrvCsv, &rows).unwrap(), "login, time = 1, user = bob, n = 5\n");
    let twice = [rows[0].clone(), rows[0].clone()];
    let block = "login\ntime = 1\nuser = bob\nn = 5\n";
    assert_eq!(write(&CsrvBlock, &twice).unwrap(), format!("{block}\n{block}"));
    assert_eq!(
        write(&CsrvXml, &rows).unwrap(),
        "<log>\n  <event>\n    <name>login</name>\n    <field><name>time</name><value>1</value></field>\n    \
         <field><name>user</name><value>bob</value></field>\n    <field><name>n</name><value>5</value></field>\n  \
         </event>\n</log>\n"
    );
    assert_eq!(write(&CsrvXml, &[]).unwrap(), "<log>\n</log>\n");
    let positional = Row {
        events: vec![Event {
            name: "e".into(),
            arguments: Arguments::Positional(vec![Value::Int(1), Value::Null]),
        }],
        ..Row::default()
    };
    assert_eq!(write(&CsrvCsv, &[positional]).unwrap(), "e, arg1 = 1, arg2 =\n");
}

#[test]
fn what_cannot_be_written_is_an_error() {
    let row = |variables: &[(&str, Value)]| Row {
        line: 3,
        events: vec![Event { name: "e".into(), arguments: Arguments::OfRow }],
        variables: variables.iter().map(|(name, value)| ((*name).into(), value.clone())).collect(),
        ..Row::default()
    };
    let nested = Value::List(vec![Value::Int(1), Value::List(vec![])]);
    for (form, row, expected) in [
        (
            FORMS[0],
            Row { line: 3, ..Row::default() },
            "a position without an event; convert to `csv` or `jsonl`",
        ),
        (
            FORMS[1],
            row(&[("a", Value::text("x\ny"))]),
            "the line break in `x\\ny`; convert to `csrv-xml` or `jsonl`",
        ),
        (
            FORMS[2],
            row(&[("a", Value::text("\0"))]),
            "the character `\\0` (XML has none such); convert to `csrv-csv` or `jsonl`",
        ),
        (
            FORMS[0],
            row(&[("a", Value::List(vec![Value::Int(1)]))]),
            "a list as field `a`; convert to `jsonl`",
        ),
        (
            FORMS[0],
            Row { typed: true, ..row(&[("a", Value::text(""))]) },
            "an empty text as field `a`, which would be null; convert to `jsonl`",
        ),
        (FORMS[0], row(&[("a", nested)]), "a list as field `a`; convert to `jsonl`"),
    ] {
        let error = write(form, &[row]).unwrap_err().in_file("f").to_string();
        assert_eq!(error, format!("f:3: `{}` cannot hold {expected}", form.name()));
    }
    let error = write(FORMS[0], &[row(&[("time", Value::Int(1))])]).unwrap_err().message;
    assert_eq!(error, "the variable `time` would be read back as the timestamp; rename it first");
}

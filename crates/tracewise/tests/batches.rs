//! Record batches in memory: every verb says of them what it says of the same trace in a file.
#![cfg(feature = "parquet")]

use std::sync::Arc;
use tracewise::check::{CheckOptions, CheckReport};
use tracewise::query::QueryOptions;
use tracewise::robust::RobustOptions;
use tracewise::trace::arrow::array::{
    ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray,
};
use tracewise::trace::arrow::datatypes::SchemaRef;
use tracewise::{Reading, Session, Specification};

const ROWS: usize = 50;

/// The same trace as batches of so many rows, and as a file's text.
fn trace(cut: usize) -> (SchemaRef, Vec<RecordBatch>, String) {
    let rows = || 0..ROWS;
    let user = |at: usize| ["bob", "eve", "mia"][at % 3];
    let columns: [(&str, ArrayRef); 5] = [
        ("time", Arc::new(Int64Array::from_iter_values(rows().map(|at| at as i64 / 2)))),
        (
            "event",
            Arc::new(StringArray::from_iter(rows().map(|at| (!at.is_multiple_of(7)).then_some("login")))),
        ),
        ("user", Arc::new(StringArray::from_iter_values(rows().map(user)))),
        ("x", Arc::new(Float64Array::from_iter_values(rows().map(|at| 40.5 - at as f64)))),
        ("open", Arc::new(BooleanArray::from_iter(rows().map(|at| Some(at != 31))))),
    ];
    let whole = RecordBatch::try_from_iter(columns).unwrap();
    let batches = rows().step_by(cut).map(|from| whole.slice(from, cut.min(ROWS - from))).collect();
    let line = |at: usize| {
        let event = if at.is_multiple_of(7) { "null" } else { "\"login\"" };
        format!(
            "{{\"time\":{},\"event\":{event},\"user\":\"{}\",\"x\":{:?},\"open\":{}}}\n",
            at / 2,
            user(at),
            40.5 - at as f64,
            at != 31
        )
    };
    (whole.schema(), batches, rows().map(line).collect())
}

fn specification() -> Specification {
    let text = "property positive : G x > 0;
        property open : G (login -> F[0,3s] open);
        property known : G !login(user: \"eve\");
        property shut : G open;";
    Specification::from_text("s.tw", text).unwrap()
}

/// A report without the name of the trace and its bytes; the lines' texts apart.
fn told(report: &CheckReport, name: &str) -> (String, Vec<String>) {
    let mut texts = Vec::new();
    let mut all = format!("{} {} {:?}\n", report.positions, report.engine, report.by);
    for property in &report.properties {
        let violations: Vec<_> = property
            .violations
            .iter()
            .map(|violation| {
                let line = violation.line.as_ref().map(|line| {
                    assert_eq!(line.file, name);
                    // A row that has no event is shown without one.
                    texts.push(line.text.replace("\"event\":null,", ""));
                    line.line
                });
                (violation.position, violation.time, violation.bindings.clone(), line)
            })
            .collect();
        let reason = property.explanation.as_ref().map(|step| step.reason.clone());
        all += &format!(
            "{} {:?} {} {violations:?} {reason:?}\n",
            property.name, property.verdict, property.violation_count
        );
    }
    (all, texts)
}

#[test]
fn verbs_on_batches_are_verbs_on_files() {
    let file = std::env::temp_dir().join(format!("tracewise-batches-{}.jsonl", std::process::id()));
    std::fs::write(&file, trace(1).2).unwrap();
    let name = file.display().to_string();
    let spec = specification();
    let query = Specification::from_query("max[x] by user").unwrap();
    let signal = Specification::from_formula("G x > 0").unwrap();
    for by in [None, Some("user".to_string())] {
        let session = Session::new();
        let check = CheckOptions { by: by.clone(), violations: 100, ..CheckOptions::default() };
        let ask = QueryOptions { by: by.clone(), ..QueryOptions::default() };
        let (expected, lines) =
            told(&session.check(&spec, std::slice::from_ref(&name), &check).unwrap(), &name);
        let groups = |report: tracewise::query::QueryReport| format!("{:?}", report.queries[0].groups);
        let values = |report: tracewise::robust::RobustReport| {
            let value = |property: &tracewise::robust::Robustness| {
                (property.key.clone(), property.value, property.position)
            };
            report.properties.iter().map(value).collect::<Vec<_>>()
        };
        for cut in [1, 7, ROWS] {
            let (schema, batches, _) = trace(cut);
            let report =
                session.check_batches(&spec, "memory", schema.clone(), batches.clone(), &check).unwrap();
            assert_eq!(told(&report, "memory"), (expected.clone(), lines.clone()), "{by:?} {cut}");
            assert!(report.bytes > 0);
            let found =
                session.query_batches(&query, "memory", schema.clone(), batches.clone(), &ask).unwrap();
            let direct = session.query(&query, std::slice::from_ref(&name), &ask).unwrap();
            assert_eq!(groups(found), groups(direct));
            let options = RobustOptions { by: by.clone(), ..RobustOptions::default() };
            let found =
                session.robust_batches(&signal, "memory", schema.clone(), batches.clone(), &options).unwrap();
            assert_eq!(
                values(found),
                values(session.robust(&signal, std::slice::from_ref(&name), &options).unwrap())
            );
            let found = session.eval_batches(&signal, "memory", schema, batches);
            let direct = session.eval(&signal, std::slice::from_ref(&name));
            match (found, direct) {
                (Ok(found), Ok(direct)) => assert_eq!(found.values, direct.values),
                (found, direct) => assert_eq!(found.is_err(), direct.is_err()),
            }
        }
    }
    std::fs::remove_file(file).unwrap();
}

#[test]
fn rows_are_shown_as_json_and_counted_from_one() {
    let (schema, batches, text) = trace(8);
    let report = Session::new()
        .check_batches(&specification(), "memory", schema, batches, &CheckOptions::default())
        .unwrap();
    let line = report.properties[3].violations[0].line.as_ref().unwrap();
    assert_eq!((line.line, &*line.text), (32, text.lines().nth(31).unwrap()));
}

#[test]
fn several_tables_are_one_trace_and_errors_name_the_row() {
    let (schema, batches, _) = trace(10);
    let (first, second) = batches.split_at(3);
    let session = Session::new().batches("one", schema.clone(), first.to_vec()).unwrap();
    let session = session.batches("two", schema.clone(), second.to_vec()).unwrap();
    let names = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
    let report = session.check(&specification(), &names(&["one", "two"]), &CheckOptions::default()).unwrap();
    assert_eq!(report.positions, ROWS as u64);
    let line = report.properties[3].violations[0].line.as_ref().unwrap();
    assert_eq!((line.file.as_str(), line.line), ("two", 2));

    let back =
        session.check(&specification(), &names(&["two", "one"]), &CheckOptions::default()).unwrap_err();
    assert!(back.to_string().contains("one:1:1: the timestamp `0` is earlier than `24`"), "{back}");
    let mixed =
        session.check(&specification(), &names(&["one", "three.csv"]), &CheckOptions::default()).unwrap_err();
    assert!(mixed.to_string().contains("`three.csv` is a file"), "{mixed}");
    let other = batches[0].project(&[0, 1]).unwrap();
    let error = Session::new().batches("odd", schema.clone(), vec![batches[0].clone(), other]).unwrap_err();
    assert!(error.to_string().contains("batch 2: found 2 columns"), "{error}");

    // Every verb that takes files takes them.
    let inspected = session.inspect(&names(&["one"])).unwrap();
    assert_eq!(inspected.positions, 30);
    let read = Reading { time: Some("x".into()), sort: Some(i64::MAX), ..Reading::default() };
    let sorted = session
        .reading(read)
        .check(&Specification::from_formula("G open").unwrap(), &names(&["two"]), &CheckOptions::default())
        .unwrap();
    let violation = &sorted.properties[0].violations[0];
    assert_eq!((violation.position, violation.line.as_ref().unwrap().line), (Some(18), 2));
}

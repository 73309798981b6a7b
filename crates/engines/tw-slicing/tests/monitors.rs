//! What monitors report: the traces of the papers, word for word, and the corners of the definition.

use tw_core::Value;
use tw_ir::monitor::Category;
use tw_slicing::monitor::{Found, reports};
use tw_testkit::first_order::Log;
use tw_testkit::texts;

/// A trace written as `name(value, …)` per position, `;` between positions, several events at one position by blanks.
fn log(text: &str) -> Log {
    let mut log = Log::default();
    for (at, position) in text.split(';').enumerate() {
        let event = |word: &str| {
            let (name, arguments) = word.split_once('(').unwrap_or((word, ""));
            let arguments =
                arguments.trim_end_matches(')').split(',').filter(|argument| !argument.is_empty());
            let value = |text: &str| Value::from_cell(text).unwrap_or(Value::Null);
            (name.to_owned(), arguments.map(value).collect())
        };
        log.times.push(at as i64);
        log.events.push(position.split_whitespace().map(event).collect());
    }
    log
}

fn run(monitor: &str, log: &Log) -> Vec<Found> {
    let program = texts::specification(monitor);
    reports(&program, &program.monitors[0], &log.batch(&program)).expect("an automaton")
}

/// Reports in short: `position: values`, positions from 1, `end` for the end, with the category where it is no match.
fn told(monitor: &str, trace: &str) -> Vec<String> {
    let one = |found: Found| {
        let value = |value: &Option<Value>| value.as_ref().map_or("_".to_owned(), Value::to_string);
        let values: Vec<String> = found.bindings.iter().map(value).collect();
        let place = found.position.map_or("end".to_owned(), |position| (position + 1).to_string());
        let category = match found.category {
            Category::Match => String::new(),
            other => format!(" {other:?}"),
        };
        format!("{place}: {}{category}", values.join(" "))
    };
    run(monitor, &log(trace)).into_iter().map(one).collect()
}

fn unsafe_iterator(words: &str) -> String {
    format!(
        "monitor UnsafeIterator(m, c, i) {words} {{ creation event C(m, c); event I(c, i); event M(m); event N(c); event U(i);
         ere : C (M | N)* I U* (M | N)+ U; }}"
    )
}

/// The eight traces of the RV-Monitor spec.
#[test]
fn unsafe_iterators() {
    let cases: &[(&str, &[&str], &[&str])] = &[
        ("C(m1,c1); I(c1,i1); U(i1); M(m1); U(i1); U(i1)", &["5: m1 c1 i1"], &["5: m1 c1 i1"]),
        (
            "C(m1,c1); I(c1,i1); I(c1,i2); M(m1); U(i2); U(i1)",
            &["5: m1 c1 i2", "6: m1 c1 i1"],
            &["5: m1 c1 i2", "6: m1 c1 i1"],
        ),
        (
            "C(m1,c1); C(m1,c2); I(c1,i1); I(c2,i2); M(m1); U(i1); U(i2)",
            &["6: m1 c1 i1", "7: m1 c2 i2"],
            &["6: m1 c1 i1", "7: m1 c2 i2"],
        ),
        ("C(m1,c1); C(m2,c2); I(c1,i1); M(m2); U(i1); N(c1); U(i1)", &["7: m1 c1 i1"], &["7: m1 c1 i1"]),
        ("M(m1); C(m1,c1); I(c1,i1); N(c1); U(i1)", &["5: m1 c1 i1"], &[]),
        ("U(i1); C(m1,c2); I(c2,i1); N(c2); U(i1)", &["5: m1 c2 i1"], &[]),
        ("I(c1,i1); C(m1,c1); M(m1); U(i1)", &[], &[]),
        ("C(m1,c1); U(i1); I(c1,i1); M(m1); U(i1)", &[], &[]),
    ];
    for (trace, creation, strict) in cases {
        assert_eq!(told(&unsafe_iterator(""), trace), *creation, "{trace}");
        assert_eq!(told(&unsafe_iterator("strict"), trace), *strict, "{trace}");
        // What creates is also found without being told.
        let computed = unsafe_iterator("").replace("creation ", "");
        assert_eq!(told(&computed, trace), *creation, "{trace}");
    }
}

#[test]
fn others_of_the_text() {
    let reader = "monitor Reader(r) { event close(r); event manipulate(r); ere : close+ manipulate+; }";
    assert_eq!(
        told(reader, "manipulate(1); close(1); manipulate(2); manipulate(1); manipulate(1)"),
        ["4: 1", "5: 1"]
    );
    let next = "monitor HasNext(i) { event next(i); event has(i); ltl : G (`next` -> Y has); }";
    assert_eq!(told(next, "has(1); next(1); next(1); next(1)"), ["3: 1 Violation"]);
    assert_eq!(told(next, "next(1); has(2); next(2)"), ["1: 1 Violation"]);
}

#[test]
fn what_is_pending_at_the_end_is_judged() {
    let closed = "monitor Closed(f) { event open(f); event close(f); ltl : open -> F close; }";
    assert_eq!(told(closed, "open(1); open(2); close(1); close(3)"), ["end: 2 Violation"]);
    let ended = closed.replace("ltl", "end free(f); ltl");
    assert_eq!(
        told(&ended, "open(1); open(2); free(1); close(1); open(1); close(1)"),
        ["3: 1 Violation", "end: 2 Violation"]
    );
    // The event comes first, then its end.
    let own = "monitor Closed(f) { event open(f); event close(f); end close(f); fsm : s [open -> t] t [close -> s]; on fail; }";
    assert_eq!(told(own, "open(1); close(1); open(1); close(1); close(1)"), ["5: 1 Fail"]);
    let validated = "monitor Va(f) { event open(f); event close(f); ltl : open -> F close; on validation; }";
    assert_eq!(told(validated, "open(1); close(1); close(1)"), ["2: 1 Validation"]);
}

#[test]
fn things_that_end_are_others_afterwards() {
    let text = unsafe_iterator("").replace("ere", "end free(i); ere");
    let trace = "C(m1,c1); I(c1,i1); free(i1); N(c1); U(i1)";
    assert_eq!(told(&unsafe_iterator(""), trace), ["5: m1 c1 i1"]);
    assert!(told(&text, trace).is_empty());
    // The map is dead, its iterators are not.
    let map = unsafe_iterator("").replace("ere", "end free(m); ere");
    assert_eq!(told(&map, "C(m1,c1); I(c1,i1); free(m1); N(c1); U(i1)"), ["5: m1 c1 i1"]);
    assert!(told(&map, "C(m1,c1); I(c1,i1); free(m1); M(m1); U(i1)").is_empty());
}

#[test]
fn pairs_are_of_two_things_unless_equal() {
    let text = |words: &str| {
        format!(
            "monitor Pairs(x, y) {words} {{ event f1(x) = fire(x); event f2(y) = fire(y); ere : f1 f2; }}"
        )
    };
    assert_eq!(told(&text(""), "fire(1); fire(2)"), ["2: 1 2"]);
    assert_eq!(told(&text("equal"), "fire(1); fire(2)"), ["1: 1 1", "2: 1 2", "2: 2 2"]);
    let ordered = text("").replace("ere", "where x > y; ere");
    assert!(told(&ordered, "fire(1); fire(2)").is_empty());
    assert_eq!(told(&ordered, "fire(2); fire(1)"), ["2: 2 1"]);
    // Where events are not shared, two parameters may have one value.
    let other = "monitor Two(x, y) { event a(x); event b(y); ere : a b; }";
    assert_eq!(told(other, "a(1); b(1)"), ["2: 1 1"]);
}

#[test]
fn bindings_report_when_their_events_bind_just_them() {
    // Every event is a match of what it is about, and of what its trace has bound before.
    let raw = "monitor Raw(x, y) { event a(x); event b(y); event c; }";
    assert_eq!(
        told(raw, "c; a(1); b(2); c"),
        ["1: _ _", "2: 1 _", "3: _ 2", "3: 1 2", "4: _ _", "4: _ 2", "4: 1 _", "4: 1 2"]
    );
    let fails = "monitor Once(x) { event a(x); event b(x); fsm : s [a -> t] t [ ]; on t; on fail; }";
    assert_eq!(told(fails, "a(1); a(1); b(1); b(2)"), ["1: 1 State(1)", "2: 1 Fail", "4: 2 Fail"]);
}

#[test]
fn conditions_and_constants_choose_events() {
    let text = "monitor Wh(x) { event big(x) = e(x, _) when x > 1; event same(x) = e(x, x); event five(x) = e(x, 5); ere : big | same | five; }";
    // At the third position both happen, one after the other, and the word is too long for a match.
    assert_eq!(told(text, "e(1,5); e(2,1); e(0,0); e(9,9)"), ["1: 1", "2: 2", "3: 0", "4: 9"]);
    let mut log = log("e(1); e(2)");
    log.columns = vec![("c".to_owned(), vec![Value::Int(0), Value::Int(7)])];
    let found = run("monitor Wh(x) { event e(x) when c > 3; }", &log);
    assert_eq!(found.iter().map(|found| found.position).collect::<Vec<_>>(), [Some(1)]);
}

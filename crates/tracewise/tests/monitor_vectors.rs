//! The worked examples of "RV-Monitor" and of "Two Generalisations of Roşu and Chen's Trace Slicing Algorithm A", through `check`.

use std::collections::BTreeMap;
use tracewise::check::CheckOptions;
use tracewise::{Reading, Session, Specification};

/// A report: position, bindings, category.
type Told = (Option<usize>, String, String);

/// What the monitors of a text report of a log of events.
fn check(text: &str, log: &str) -> Vec<Told> {
    let spec = Specification::from_text("s.tw", text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let reading = Reading { format: Some("events".into()), ..Reading::default() };
    let session = Session::new().reading(reading).text("t", log.as_bytes().to_vec());
    let options = CheckOptions { violations: usize::MAX, ..CheckOptions::default() };
    let report = session.check(&spec, &["t".into()], &options).unwrap_or_else(|error| panic!("{error}"));
    let mut told = Vec::new();
    for property in &report.properties {
        for found in &property.violations {
            let bound: Vec<String> =
                found.bindings.iter().map(|(name, value)| format!("{name}={value}")).collect();
            told.push((found.position, bound.join(" "), found.category.clone().unwrap_or_default()));
        }
        // The first is explained by the events of its binding up to the report.
        if let (Some(first), Some(why)) = (property.violations.first(), &property.explanation) {
            let last = why.because.last().map(|step| step.from);
            assert!(first.position.is_none() || last == first.position, "{why:?}");
        }
    }
    told
}

/// `C(m1,c1) U(i1)` as a log.
fn lines(trace: &str) -> String {
    trace
        .split_whitespace()
        .map(|event| {
            event.trim_end_matches(')').replacen('(', ",", 1).trim_end_matches(',').to_owned() + "\n"
        })
        .collect()
}

fn iterators(words: &str) -> String {
    format!(
        "monitor Map_UnsafeIterator(m, c, i) {words} {{
             creation event C(m, c);
             event I(c, i);   event M(m);   event N(c);   event U(i);
             ere : C (M | N)* I U* (M | N)+ U;
         }}"
    )
}

#[test]
fn the_eight_traces_of_rv_monitor() {
    // Traces, and where which binding matches: with creation events, and strictly. Events are counted from 1.
    type Row = (&'static str, &'static [(usize, &'static str)], &'static [(usize, &'static str)]);
    let rows: [Row; 8] = [
        ("C(m1,c1) I(c1,i1) U(i1) M(m1) U(i1) U(i1)", &[(5, "m=m1 c=c1 i=i1")], &[(5, "m=m1 c=c1 i=i1")]),
        (
            "C(m1,c1) I(c1,i1) I(c1,i2) M(m1) U(i2) U(i1)",
            &[(5, "m=m1 c=c1 i=i2"), (6, "m=m1 c=c1 i=i1")],
            &[(5, "m=m1 c=c1 i=i2"), (6, "m=m1 c=c1 i=i1")],
        ),
        (
            "C(m1,c1) C(m1,c2) I(c1,i1) I(c2,i2) M(m1) U(i1) U(i2)",
            &[(6, "m=m1 c=c1 i=i1"), (7, "m=m1 c=c2 i=i2")],
            &[(6, "m=m1 c=c1 i=i1"), (7, "m=m1 c=c2 i=i2")],
        ),
        (
            "C(m1,c1) C(m2,c2) I(c1,i1) M(m2) U(i1) N(c1) U(i1)",
            &[(7, "m=m1 c=c1 i=i1")],
            &[(7, "m=m1 c=c1 i=i1")],
        ),
        ("M(m1) C(m1,c1) I(c1,i1) N(c1) U(i1)", &[(5, "m=m1 c=c1 i=i1")], &[]),
        ("U(i1) C(m1,c2) I(c2,i1) N(c2) U(i1)", &[(5, "m=m1 c=c2 i=i1")], &[]),
        ("I(c1,i1) C(m1,c1) M(m1) U(i1)", &[], &[]),
        ("C(m1,c1) U(i1) I(c1,i1) M(m1) U(i1)", &[], &[]),
    ];
    for (trace, creation, strict) in rows {
        for (words, expected) in [("", creation), ("strict", strict)] {
            let expected: Vec<Told> = expected
                .iter()
                .map(|(event, bound)| (Some(event - 1), bound.to_string(), "match".to_string()))
                .collect();
            assert_eq!(check(&iterators(words), &lines(trace)), expected, "{words} {trace}");
        }
    }
}

#[test]
fn the_other_examples_of_rv_monitor() {
    let reader = "monitor Reader_ManipulateAfterClose(r) { event close(r); event manipulate(r); ere : close+ manipulate+; }";
    let matched = |at: usize, bound: &str| (Some(at), bound.to_string(), "match".to_string());
    assert_eq!(
        check(reader, &lines("manipulate(r2) close(r1) manipulate(r1) manipulate(r1) manipulate(r2)")),
        [matched(2, "r=r1"), matched(3, "r=r1")]
    );
    let iterator = "monitor Iterator_HasNext(i) { event hasnexttrue(i); event next(i); ltl : [](`next` => Y hasnexttrue); }";
    let violated = |at: usize| (Some(at), "i=1".to_string(), "violation".to_string());
    assert_eq!(check(iterator, &lines("hasnexttrue(1) next(1)")), []);
    assert_eq!(check(iterator, &lines("next(1)")), [violated(0)]);
    assert_eq!(check(iterator, &lines("hasnexttrue(1) next(1) next(1)")), [violated(2)]);
}

const SCHEDULE: &str = "f(2) h(2) f(1) f(2) h(2) f(3) h(3) h(1)";

/// A monitor whose state says how many events a binding's trace has had.
fn counting(head: &str, events: &str, names: &[&str], most: usize) -> String {
    let state = |number: usize| {
        let next = (number + 1).min(most);
        let moves: Vec<String> = names.iter().map(|name| format!("{name} -> n{next}")).collect();
        format!("n{number} [ {} ]", moves.join(", "))
    };
    let states: Vec<String> = (0..=most).map(state).collect();
    let told: String = (1..=most).map(|number| format!("on n{number};\n")).collect();
    format!("monitor {head} {{\n{events}\nfsm : {};\n{told}}}", states.join(" "))
}

/// Of each binding the slice, as positions; each is told from where all that it binds is bound, with the slice's length so far.
fn slices(slices: &[(&str, &[usize])], bound: impl Fn(usize) -> Vec<String>) -> Vec<Told> {
    let mut told = Vec::new();
    for (binding, positions) in slices {
        let mut open: Vec<&str> = binding.split_whitespace().collect();
        for (nth, &at) in positions.iter().enumerate() {
            let now = bound(at);
            open.retain(|own| !now.iter().any(|other| own == other));
            if open.is_empty() {
                told.push((Some(at), binding.to_string(), format!("n{}", nth + 1)));
            }
        }
    }
    told.sort();
    told
}

fn sorted(mut told: Vec<Told>) -> Vec<Told> {
    told.sort();
    told
}

/// The value of each event of the schedule: x or y may be it.
fn either(at: usize) -> Vec<String> {
    let value = [2, 2, 1, 2, 2, 3, 3, 1][at];
    vec![format!("x={value}"), format!("y={value}")]
}

const PAIRS: &str = "event fx(x) = f(x); event fy(y) = f(y); event hx(x) = h(x); event hy(y) = h(y);";
const NAMES: [&str; 4] = ["fx", "fy", "hx", "hy"];

#[test]
fn table_one_of_slicing_with_patterns() {
    let text = counting("Slices(x, y) strict", PAIRS, &NAMES, 8);
    let (one, two, three): (&[usize], &[usize], &[usize]) = (&[2, 7], &[0, 1, 3, 4], &[5, 6]);
    let (low, wide, high): (&[usize], &[usize], &[usize]) =
        (&[0, 1, 2, 3, 4, 7], &[2, 5, 6, 7], &[0, 1, 3, 4, 5, 6]);
    let partial = [("x=2", two), ("y=2", two), ("x=1", one), ("y=1", one), ("x=3", three), ("y=3", three)];
    let above = [("x=2 y=1", low), ("x=3 y=1", wide), ("x=3 y=2", high)];
    let below = [("x=1 y=2", low), ("x=1 y=3", wide), ("x=2 y=3", high)];
    let all = [&partial[..], &above, &below].concat();
    assert_eq!(
        all.len(),
        12,
        "with the empty binding and the whole trace, which no monitor reports, fourteen"
    );
    assert_eq!(sorted(check(&text, &lines(SCHEDULE))), slices(&all, either));

    // With the constraint three of them are gone.
    let constrained = text.replace(PAIRS, &format!("{PAIRS} where x > y;"));
    let all = [&partial[..], &above].concat();
    assert_eq!(sorted(check(&constrained, &lines(SCHEDULE))), slices(&all, either));
}

#[test]
fn scheduling_by_priority() {
    let literal = "G (fx -> ((!fy U hx) | (!hy U hx)))";
    let stronger = "G (fx -> (!hy U hx))";
    let monitor =
        |formula: &str| format!("monitor Fair(x, y) strict {{ {PAIRS} where x > y; ltl : {formula}; }}");
    let violated = |formula: &str, trace: &str| {
        let told = check(&monitor(formula), &lines(trace));
        assert!(told.iter().all(|(_, bound, _)| bound == "x=3 y=1"), "{told:?}");
        !told.is_empty()
    };
    for formula in [literal, stronger] {
        assert!(!violated(formula, SCHEDULE), "{formula}");
        assert!(violated(formula, "f(3) f(1) h(1) h(3)"), "{formula}");
    }
    assert!(!violated(literal, "f(1) f(3) h(1) h(3)"));
    assert!(violated(stronger, "f(1) f(3) h(1) h(3)"));
}

#[test]
fn the_classic_trace() {
    let trace = "e1(a1) e2(a2) e3(b1) e4(a2,b1) e5(a1) e6() e7(b1) e8(c1) e9(a2,c1) e10(a1,b1,c1) e11()";
    let bound: [&[&str]; 11] = [
        &["a=a1"],
        &["a=a2"],
        &["b=b1"],
        &["a=a2", "b=b1"],
        &["a=a1"],
        &[],
        &["b=b1"],
        &["c=c1"],
        &["a=a2", "c=c1"],
        &["a=a1", "b=b1", "c=c1"],
        &[],
    ];
    let parameters = ["a", "a", "b", "a, b", "a", "", "b", "c", "a, c", "a, b, c", ""];
    let names: Vec<String> = (1..=11).map(|number| format!("e{number}")).collect();
    let declared = names.iter().zip(parameters).map(|(name, own)| match own {
        "" => format!("event {name};"),
        own => format!("event {name}({own});"),
    });
    let events: String = declared.collect::<Vec<_>>().join(" ");
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    // Events are counted from 1.
    let table: BTreeMap<&str, &[usize]> = BTreeMap::from([
        ("", &[6, 11][..]),
        ("a=a1", &[1, 5, 6, 11]),
        ("a=a2", &[2, 6, 11]),
        ("b=b1", &[3, 6, 7, 11]),
        ("c=c1", &[6, 8, 11]),
        ("a=a1 b=b1", &[1, 3, 5, 6, 7, 11]),
        ("a=a1 c=c1", &[1, 5, 6, 8, 11]),
        ("a=a2 b=b1", &[2, 3, 4, 6, 7, 11]),
        ("a=a2 c=c1", &[2, 6, 8, 9, 11]),
        ("b=b1 c=c1", &[3, 6, 7, 8, 11]),
        ("a=a1 b=b1 c=c1", &[1, 3, 5, 6, 7, 8, 10, 11]),
        ("a=a2 b=b1 c=c1", &[2, 3, 4, 6, 7, 8, 9, 11]),
    ]);
    let positions: Vec<(&str, Vec<usize>)> =
        table.into_iter().map(|(own, at)| (own, at.iter().map(|at| at - 1).collect())).collect();
    let expected: Vec<(&str, &[usize])> = positions.iter().map(|(own, at)| (*own, &at[..])).collect();
    let expected = slices(&expected, |at| bound[at].iter().map(|own| own.to_string()).collect());
    // With one pattern for each event, whether two parameters may be equal does not matter.
    for words in ["strict", "strict equal"] {
        let text = counting(&format!("Classic(a, b, c) {words}"), &events, &names, 11);
        assert_eq!(sorted(check(&text, &lines(trace))), expected, "{words}");
    }
}

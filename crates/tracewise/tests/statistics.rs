//! `check --stat`: each statistic on small traces, by its definition.

use tracewise::check::{CheckOptions, Part, Statistic, StatisticReport};
use tracewise::{Evaluating, Reading, Session, Specification};

fn statistic(formula: &str, trace: &str, statistic: Statistic, engine: &str) -> StatisticReport {
    let spec = Specification::from_formula(formula).unwrap();
    let name = format!("tracewise-statistics-{}-{:?}", std::process::id(), std::thread::current().id());
    let file = std::env::temp_dir().join(name);
    std::fs::write(&file, trace.replace(", ", "\n")).unwrap();
    let read = Reading { format: Some("props".into()), ..Reading::default() };
    let evaluating = Evaluating { engine: engine.into(), ..Evaluating::default() };
    let session = Session::new().reading(read).evaluating(evaluating);
    let options = CheckOptions { statistic: Some(statistic), ..CheckOptions::default() };
    let report = session.check(&spec, &[file.display().to_string()], &options);
    std::fs::remove_file(&file).unwrap();
    report.unwrap_or_else(|error| panic!("{formula}: {error}")).properties.remove(0).statistic.unwrap()
}

fn words(parts: &[Part]) -> Vec<&str> {
    parts.iter().map(|part| part.formula.as_str()).collect()
}

#[test]
fn rejecting_counts_obligations_that_are_carried_on() {
    // (formula, trace, count): "!a -> (!b U c)" as published.
    let cases = [
        ("!a -> (!b U c)", "a, a c", Some(0)),
        ("!a -> (!b U c)", "-, c", Some(1)),
        ("F a", "-, -, a", Some(2)),
        ("F a", "-, -, -", None),
        ("G F a", "-, -, -, -, a", Some(10)),
    ];
    for (formula, trace, expected) in cases {
        for engine in ["auto", "depth-first", "reverse"] {
            let StatisticReport::Rejecting { value, per_slice: false, .. } =
                statistic(formula, trace, Statistic::Rejecting, engine)
            else {
                panic!("{formula}")
            };
            assert_eq!(value, expected, "{formula} on {trace} by {engine}");
        }
    }
    let per_slice = statistic("G F a", "-, -, -, -, a", Statistic::Rejecting, "breadth-first");
    assert_eq!(
        per_slice,
        StatisticReport::Rejecting { value: Some(7), traversal: "breadth-first", per_slice: true }
    );
}

#[test]
fn coverage_names_what_every_run_exercises() {
    let cases: [(&str, &[&str], &[&str]); 2] =
        [("a, a c", &[], &["a", "!b", "c", "!b U c"]), ("-, c", &["!b", "c", "!b U c"], &["a"])];
    for (trace, covered, never) in cases {
        for engine in ["depth-first", "breadth-first", "reverse"] {
            let StatisticReport::Coverage { parts: Some((on, off)), .. } =
                statistic("!a -> (!b U c)", trace, Statistic::Coverage, engine)
            else {
                panic!("{trace}")
            };
            let mut found = (words(&on), words(&off));
            found.0.sort_unstable();
            found.1.sort_unstable();
            let mut expected = (covered.to_vec(), never.to_vec());
            expected.0.sort_unstable();
            expected.1.sort_unstable();
            assert_eq!(found, expected, "{trace} by {engine}");
        }
    }
}

#[test]
fn waiting_measures_from_where_an_eventuality_is_asked_for() {
    // formula, trace, then for each eventuality: words, asked, met, shortest, longest, where the longest began
    type Expected = (&'static str, usize, usize, Option<(usize, usize)>, Option<usize>);
    let cases: [(&str, &str, &[Expected]); 8] = [
        ("G (q -> F a)", "q, -, a, q, q, -, a", &[("F a", 3, 3, Some((2, 3)), Some(3))]),
        ("G (q -> F a)", "q, a, q, -", &[("F a", 2, 1, Some((1, 1)), Some(2))]),
        ("G (q -> F a)", "-, -", &[("F a", 0, 0, None, None)]),
        ("q U a", "q, q, a", &[("q U a", 1, 1, Some((2, 2)), Some(0))]),
        ("q U a", "q, -, a", &[("q U a", 1, 0, None, Some(0))]),
        ("!G q", "q, -", &[("!(G q)", 1, 1, Some((1, 1)), Some(0))]),
        ("G (q -> a | F b)", "q a, q, b", &[("F b", 1, 1, Some((1, 1)), Some(1))]),
        (
            "F (a & F b)",
            "-, a, -, b",
            &[("F (a & F b)", 1, 1, Some((1, 1)), Some(0)), ("F b", 1, 1, Some((2, 2)), Some(1))],
        ),
    ];
    for (formula, trace, expected) in cases {
        let StatisticReport::Waiting(waits) = statistic(formula, trace, Statistic::Waiting, "auto") else {
            panic!("{formula}")
        };
        let found: Vec<_> = waits
            .iter()
            .map(|w| (w.part.formula.as_str(), w.asked, w.met, w.range, w.longest_from))
            .collect();
        assert_eq!(found, expected, "{formula} on {trace}");
    }
    let StatisticReport::Waiting(waits) =
        statistic("G (q -> F a)", "q, -, a, q, q, -, a", Statistic::Waiting, "reverse")
    else {
        panic!("waits")
    };
    assert_eq!(waits[0].mean, Some((2 + 3 + 2) as f64 / 3.0));
}

#[test]
fn vacuity_finds_what_did_not_matter() {
    /// Parts that did not matter, and the constant in their place.
    type Expected = &'static [(&'static str, bool)];
    let cases: [(&str, &str, Expected); 6] = [
        ("G (q -> F a)", "q, a, -", &[]),
        ("G (q -> F a)", "-, a, -", &[("F a", false)]),
        ("G (q -> F a)", "q, a, q, a", &[("q", true)]),
        ("G (a | b)", "a, a b", &[("b", false)]),
        ("F (a & X b)", "a, b", &[]),
        ("G (a <-> b)", "a b, -", &[]),
    ];
    for (formula, trace, expected) in cases {
        let StatisticReport::Vacuity(Some(parts)) = statistic(formula, trace, Statistic::Vacuity, "auto")
        else {
            panic!("{formula}")
        };
        let found: Vec<_> = parts.iter().map(|(part, constant)| (part.formula.as_str(), *constant)).collect();
        assert_eq!(found, expected, "{formula} on {trace}");
    }
    assert_eq!(statistic("G a", "a, -", Statistic::Vacuity, "auto"), StatisticReport::Vacuity(None));
}

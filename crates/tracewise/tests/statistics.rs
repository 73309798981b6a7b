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

/// Aggregates that are folded per key while the trace is read, against dividing it first.
#[test]
fn folding_per_key_is_dividing() {
    use tracewise::query::QueryOptions;
    use tw_testkit::{Rng, cases};
    let path = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("by-key.csv");
    let file = [path.to_str().unwrap().to_owned()];
    for seed in 0..cases(300) {
        let mut rng = Rng::new(seed);
        let (whole, keyless) = (rng.one_in(2), rng.one_in(3));
        let mut text = String::from("user,p,x,y\n");
        for _ in 0..1 + rng.below(200) {
            let user = match rng.below(8) {
                0 if keyless => String::new(),
                1 => "99".into(),
                own => format!("u{own}"),
            };
            let x = match rng.below(10) {
                0 => String::new(),
                1 if !whole => "1.5".into(),
                2 => "9223372036854775807".into(),
                other => (other as i64 - 5).to_string(),
            };
            text.push_str(&format!("{user},{},{x},{}.25\n", rng.below(2), rng.below(9) as i64 - 4));
        }
        std::fs::write(&path, &text).unwrap();
        let queries =
            ["max[x]", "min[p : x]", "count[p]", "count[true]", "sum[x]", "max[y]", "min[y]", "count[p : x]"];
        let spec: String = (0..1 + rng.below(3))
            .map(|number| format!("query q{number} : {} by user;\n", rng.pick(&queries)))
            .collect();
        let spec = Specification::from_text("s.tw", &spec).unwrap();
        let answer = |witness: bool| {
            let options = QueryOptions { witness, ..QueryOptions::default() };
            let report = Session::new().query(&spec, &file, &options).map_err(|error| error.to_string())?;
            let failures: Vec<String> = report.failures.iter().map(ToString::to_string).collect();
            let groups = |query: &tracewise::query::QueryResult| {
                let group = |group: &tracewise::query::Group| {
                    (group.key.clone(), group.value.to_string(), group.missing.clone())
                };
                query.groups.iter().map(group).collect::<Vec<_>>()
            };
            Ok::<_, String>((report.queries.iter().map(groups).collect::<Vec<_>>(), failures))
        };
        assert_eq!(answer(false), answer(true), "seed {seed}\n{text}");
    }
}

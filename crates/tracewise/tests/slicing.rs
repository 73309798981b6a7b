//! Slices of a log: the report is that of the whole, on random properties, logs and ways of slicing.

use tracewise::check::{CheckOptions, CheckReport};
use tracewise::slicing::{Filter, Partial, Plan, Slicing};
use tracewise::{Evaluating, Reading, Session, Specification};
use tw_testkit::Rng;
use tw_testkit::conformance::cases;
use tw_testkit::first_order::case;

/// Properties with and without variables, several of which are not sliced alone.
const PROPERTIES: [&str; 12] = [
    "G forall x. p(x) -> F[0,4] q(x)",
    "G forall x, y. r(x, y) -> O[0,3] p(x)",
    "G forall x, y. r(x, y) & O p(y) -> X e",
    "forall x. G (q(x) -> forall y. r(x, y) -> O[0,5] q(y))",
    "G forall x. p(x) -> count(y : O[0,6] r(x, y)) <= 1",
    "G forall x. !(p(x) & !q(x) & (exists y. p(y) & q(y)))",
    "G (e -> F[0,3] p)",
    "G (p(1) -> Y (e | q))",
    "G forall x, y. p(x) & q(y) -> !r(x, y)",
    "G forall x. p(x) | !q(x) -> O e",
    "F e",
    "G forall x. (p(x) S q(x)) -> F[1,3] e",
];

fn log(rng: &mut Rng) -> String {
    let mut time = 0;
    // Most logs write a number in one way.
    let values: &[&str] = match rng.below(4) {
        0 => &["0", "1", "2", "1.5", "2.0", "\"a\""],
        _ => &["0", "1", "2", "3", "4", "1.5", "\"a\"", "\"b\""],
    };
    let line = |rng: &mut Rng, time: &mut i64| {
        *time += rng.pick(&[0, 0, 1, 1, 2, 5]);
        let event = |rng: &mut Rng| {
            let value = |rng: &mut Rng| rng.pick(values);
            match rng.below(4) {
                0 => format!("p ({})", value(rng)),
                1 => format!("q ({})", value(rng)),
                2 => format!("r ({},{})", value(rng), value(rng)),
                _ => "e ()".to_string(),
            }
        };
        let events: Vec<String> = (0..rng.pick(&[0, 1, 1, 2, 4])).map(|_| event(rng)).collect();
        format!("@{time} {}\n", events.join(" "))
    };
    (0..2 + rng.below(40)).map(|_| line(rng, &mut time)).collect()
}

fn session(log: &str, memory: Option<usize>) -> Session {
    let read = Reading { format: Some("monpoly".into()), threads: 1, ..Reading::default() };
    let mut evaluating = Evaluating::default();
    evaluating.memory_budget = memory.unwrap_or(evaluating.memory_budget);
    Session::new().reading(read).evaluating(evaluating).text("log", log.as_bytes().to_vec())
}

fn told(report: CheckReport) -> String {
    format!("{:?}", CheckReport { slicing: Vec::new(), ..report })
}

fn way(rng: &mut Rng) -> Slicing {
    let on: &[&str] = rng.pick(&[&[], &[], &["x"], &["y"], &["x", "y"]]);
    let period: Option<&str> = rng.pick(&[None, None, Some("3"), Some("10")]);
    Slicing {
        slices: 1 + rng.below(6),
        on: on.iter().map(ToString::to_string).collect(),
        period: period.map(Into::into),
        jobs: Some(1 + rng.below(2)),
        filter: rng.pick(&[Filter::Auto, Filter::Auto, Filter::Off, Filter::On]),
        ..Slicing::default()
    }
}

#[test]
fn the_report_of_slices_is_that_of_the_whole() {
    let files = ["log".to_string()];
    let (mut same, mut refused) = (0, 0);
    for seed in 0..cases(300) {
        let mut rng = Rng::new(seed ^ 0x7265_706f_7274);
        let text = match seed % 3 {
            0 => case(rng.bits()).text,
            _ => {
                let one =
                    |nth: usize, rng: &mut Rng| format!("property p{nth} : {};\n", rng.pick(&PROPERTIES));
                (0..1 + rng.below(3)).map(|nth| one(nth, &mut rng)).collect()
            }
        };
        let Ok(spec) = Specification::from_text("spec.tw", &text) else { continue };
        let log = log(&mut rng);
        let options =
            CheckOptions { violations: rng.pick(&[0, 1, 10, usize::MAX]), ..CheckOptions::default() };
        let session = session(&log, None);
        let Ok(whole) = session.check(&spec, &files, &options) else { continue };
        let whole = told(whole);
        for _ in 0..3 {
            let slicing = way(&mut rng);
            let sliced = CheckOptions { slicing: Some(slicing.clone()), ..options.clone() };
            match session.check(&spec, &files, &sliced) {
                Ok(report) => {
                    assert_eq!(told(report), whole, "seed {seed}, {slicing:?}\n{text}{log}");
                    same += 1;
                }
                Err(error) => {
                    assert!(
                        error.to_string().contains("is not sliced"),
                        "seed {seed}, {slicing:?}: {error}\n{text}"
                    );
                    refused += 1;
                }
            }
        }
    }
    eprintln!("{same} reports are the same, {refused} refused");
    assert!(same > refused && refused > 0, "{same} {refused}");
}

#[test]
fn a_log_beyond_the_budget_flows() {
    let files = ["log".to_string()];
    let (mut flowed, mut refused) = (0, 0);
    for seed in 0..cases(60) {
        let mut rng = Rng::new(seed ^ 0x666c_6f77);
        let properties: Vec<&str> =
            PROPERTIES.iter().copied().filter(|own| own.contains("forall") && !own.contains("|")).collect();
        let text = format!("property a : {};", rng.pick(&properties));
        let spec = Specification::from_text("spec.tw", &text).unwrap();
        let log: String = log(&mut rng);
        let options = CheckOptions {
            violations: rng.pick(&[1, 10, usize::MAX]),
            explain: false,
            ..CheckOptions::default()
        };
        let whole = session(&log, None).check(&spec, &files, &options).unwrap();
        let slicing =
            Slicing { slices: 1 + rng.below(5), jobs: Some(1 + rng.below(3)), ..Slicing::default() };
        let sliced = CheckOptions { slicing: Some(slicing), ..options };
        let found = match session(&log, Some(1)).check(&spec, &files, &sliced) {
            Ok(found) => found,
            Err(error) => {
                assert!(error.to_string().contains("both as 2 and as 2.0"), "seed {seed}: {error}\n{text}");
                refused += 1;
                continue;
            }
        };
        let listed = |report: &CheckReport| {
            let one = |own: &tracewise::check::PropertyReport| {
                format!("{:?} {:?} {} {:?}", own.verdict, own.position, own.violation_count, own.violations)
            };
            report.properties.iter().map(one).collect::<Vec<_>>()
        };
        assert_eq!(listed(&found), listed(&whole), "seed {seed}\n{text}\n{log}");
        assert_eq!((found.positions, found.bytes), (whole.positions, whole.bytes));
        flowed += 1;
    }
    assert!(flowed > 10 && refused > 0, "{flowed} {refused}");
}

#[test]
fn keys_are_sliced() {
    let mut rng = Rng::new(7);
    let mut line = |at: usize| {
        let event = rng.pick(&["order", "pay", "ship"]);
        format!("{{\"time\":{},\"event\":\"{event}\",\"user\":\"u{}\"}}\n", at / 3, rng.below(20))
    };
    let log: String = (0..600).map(&mut line).collect();
    let read = Reading { format: Some("jsonl".into()), ..Reading::default() };
    let session = Session::new().reading(read).text("log", log.into_bytes());
    let text = "property paid : G (order -> F[0,30] pay); property end : F ship; property before : G (ship -> O pay);";
    let spec = Specification::from_text("spec.tw", text).unwrap();
    let options = CheckOptions { by: Some("user".into()), violations: 50, ..CheckOptions::default() };
    let files = ["log".to_string()];
    let whole = told(session.check(&spec, &files, &options).unwrap());
    for slices in [1, 3, 7, 100] {
        let slicing = Some(Slicing { slices, ..Slicing::default() });
        let sliced = CheckOptions { slicing, ..options.clone() };
        assert_eq!(told(session.check(&spec, &files, &sliced).unwrap()), whole, "{slices}");
    }
}

#[test]
fn what_is_far_larger_is_cut_again_and_what_is_too_large_waits_on_disk() {
    // Nine of ten events are about one value.
    let mut rng = Rng::new(11);
    let line = |at: usize, rng: &mut Rng| {
        let x = if rng.one_in(10) { rng.below(400) } else { 7 };
        let event = if rng.one_in(3) { "q" } else { "p" };
        format!("@{} {event} ({x})\n", at / 4)
    };
    let log: String = (0..40_000).map(|at| line(at, &mut rng)).collect();
    let files = ["log".to_string()];
    let spec = Specification::from_text("spec.tw", "property a : G forall x. p(x) -> F[0,2] q(x);").unwrap();
    let options = CheckOptions { violations: 20, ..CheckOptions::default() };
    let whole = told(session(&log, None).check(&spec, &files, &options).unwrap());
    for memory in [None, Some(3_500_000)] {
        let slicing = Some(Slicing { slices: 8, ..Slicing::default() });
        let sliced = CheckOptions { slicing, ..options.clone() };
        assert_eq!(told(session(&log, memory).check(&spec, &files, &sliced).unwrap()), whole);
    }
}

/// What is told of properties beside the lines and bytes of the log, which are those of other files, and beside explanations.
fn without_lines(report: CheckReport) -> String {
    let mut properties = report.properties;
    for property in &mut properties {
        property.violations.iter_mut().for_each(|own| own.line = None);
        (property.explanation, property.ranges) = (None, Vec::new());
    }
    format!("{} {} {properties:?}", report.trace, report.positions)
}

#[test]
fn plans_and_partial_answers_travel() {
    let files = ["log".to_string()];
    let (mut same, mut refused, mut violated) = (0, 0, 0);
    for seed in 0..cases(200) {
        let mut rng = Rng::new(seed ^ 0x706c_616e);
        let one = |nth: usize, rng: &mut Rng| format!("property p{nth} : {};\n", rng.pick(&PROPERTIES));
        let text: String = (0..1 + rng.below(2)).map(|nth| one(nth, &mut rng)).collect();
        let spec = Specification::from_text("spec.tw", &text).unwrap();
        let log = log(&mut rng);
        let lines: Vec<&str> = log.lines().collect();
        let options = CheckOptions {
            violations: rng.pick(&[1, 10, usize::MAX]),
            explain: false,
            ..CheckOptions::default()
        };
        let Ok(whole) = session(&log, None).check(&spec, &files, &options) else { continue };
        let slicing = way(&mut rng);
        let planned = Session::new().plan_slices(&spec, &Slicing { period: None, ..slicing.clone() });
        let Ok(plan) = planned.and_then(|plan| Plan::from_json(&plan.to_json())) else {
            refused += 1;
            continue;
        };
        // Parts of the log are looked at in any order, as if on several machines.
        let mut slices: Vec<Vec<u64>> = vec![Vec::new(); plan.slices as usize];
        let size = 1 + rng.below(lines.len());
        let parts = lines.chunks(size).enumerate().map(|(nth, part)| ((nth * size) as u64, part.join("\n")));
        for (from, part) in parts.collect::<Vec<_>>().into_iter().rev() {
            let own = session(&part, None).slices_of(&spec, &plan, &files).unwrap();
            own.iter().for_each(|&(at, slice)| slices[slice as usize].push(from + at));
        }
        let mut partials = Vec::new();
        for (slice, positions) in slices.iter_mut().enumerate() {
            positions.sort_unstable();
            let own: Vec<&str> = positions.iter().map(|&at| lines[at as usize]).collect();
            let own = session(&(own.join("\n") + "\n"), None);
            let told = own.check_slice(&spec, &plan, slice as u32, (&files, positions), &options).unwrap();
            let saved = told.save();
            let back = Partial::load(&saved).unwrap();
            assert_eq!(back, told);
            (0..saved.len()).for_each(|len| assert!(Partial::load(&saved[..len]).is_err()));
            // Some are evaluated twice.
            partials.extend(std::iter::repeat_n(back, 1 + rng.below(2)));
        }
        let together =
            Session::new().check_together(&spec, partials, ("log", whole.positions), &options).unwrap();
        violated += together.properties.iter().map(|own| own.violation_count).sum::<usize>();
        assert_eq!(without_lines(together), without_lines(whole), "seed {seed}, {slicing:?}\n{text}{log}");
        same += 1;
    }
    eprintln!("{same} plans say the same, {refused} refused, {violated} violations");
    assert!(same > 20 && refused > 0 && violated > 0, "{same} {refused} {violated}");
}

#[test]
fn a_plan_is_for_its_specification_and_whole() {
    let spec = Specification::from_formula("G forall x, y. r(x, y) -> O p(x)").unwrap();
    let on = vec!["x".to_string(), "y".to_string()];
    let slicing = Slicing { slices: 6, on, ..Slicing::default() };
    let plan = Session::new().plan_slices(&spec, &slicing).unwrap();
    assert_eq!((plan.slices, plan.variables("G forall x, y. r(x, y) -> O p(x)")), (6, vec!["x", "y"]));
    let json = plan.to_json();
    assert_eq!(Plan::from_json(&json).unwrap(), plan);
    for bad in [
        "",
        "{}",
        "7",
        &json.replace("\"plan\"", "\"x\""),
        &json.replace("\"of\":2", "\"of\":0"),
        &json.replace(":6", ":7"),
    ] {
        assert!(Plan::from_json(bad).is_err(), "{bad}");
    }
    let other = Specification::from_formula("G forall x. p(x) -> F q(x)").unwrap();
    let session = session("@1 p (1)\n@2 q (1)\n", None);
    let files = ["log".to_string()];
    let told = |error: tracewise::Error| error.to_string();
    assert!(told(session.slices_of(&other, &plan, &files).unwrap_err()).contains("not made for"));
    let options = CheckOptions::default();
    let asked = |slice, positions: &[u64]| {
        told(session.check_slice(&spec, &plan, slice, (&files, positions), &options).unwrap_err())
    };
    assert!(asked(6, &[0, 1]).contains("no slice 6"));
    assert!(asked(0, &[0]).contains("1 are listed"));
    assert!(asked(0, &[1, 0]).contains("not in its order"));
    let why = |formula: &str, slicing: &Slicing| {
        told(Session::new().plan_slices(&Specification::from_formula(formula).unwrap(), slicing).unwrap_err())
    };
    let four = Slicing { slices: 4, ..Slicing::default() };
    assert!(why("G (p -> F[0,3] q)", &four).contains("no outer variable"));
    assert!(why("F p", &four).contains("only `G φ`"));
    assert!(why("G forall u. (u = user & n[-1|0] > 3) -> O p(u)", &four).contains("other positions"));
    let weekly = Slicing { period: Some("7d".into()), ..four };
    assert!(why("G forall x. p(x) -> F[0,3] q(x)", &weekly).contains("at hand"));
}

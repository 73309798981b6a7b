//! Formulas that are bad for this engine end in an answer or in a refusal that names a budget, soon.

mod common;

use common::program;
use std::time::{Duration, Instant};
use tw_core::Bits;
use tw_engine_reference::Reference;
use tw_engine_rewrite::Rewrite;
use tw_ir::{Program, Semantics, display};
use tw_monitor::{Engine, EvaluateOptions, Trace, words};
use tw_testkit::Rng;

/// A generous bound: each case takes a fraction of it on an idle machine.
const SOON: Duration = Duration::from_secs(60);

fn random(program: &Program, len: usize, per_mille: usize) -> Trace {
    let mut rng = Rng::new(1);
    let mut column = |_| (0..len).map(|_| rng.chance(per_mille)).collect::<Bits>();
    let atoms = (0..program.atoms().len()).map(&mut column).collect();
    Trace { len, atoms, ..Trace::default() }
}

/// Evaluates under each semantics; `Ok` answers are compared with the reference where there is one.
fn ends_soon(formula: &str, len: usize, per_mille: usize) -> Vec<&'static str> {
    let program = program(&[formula]);
    let trace = random(&program, len, per_mille);
    let mut ends = Vec::new();
    for (name, semantics) in Semantics::ALL {
        let options = EvaluateOptions { semantics, ..EvaluateOptions::default() };
        let start = Instant::now();
        let answer = Rewrite.plan(&program, &options).and_then(|mut plan| plan.evaluate(&trace, 10));
        assert!(start.elapsed() < SOON, "{name}: {:?}", start.elapsed());
        println!("{name}: {:?} {:?}", start.elapsed(), answer.as_ref().map(|a| a[0].holds.get(0)));
        match answer {
            Ok(answers) => {
                if semantics != Semantics::Ltl3 {
                    let expected = Reference.plan(&program, &options).unwrap().evaluate(&trace, 10).unwrap();
                    assert_eq!(answers, expected, "{name}");
                }
                ends.push("answer");
            }
            Err(refused) => {
                assert!(refused.exhausted, "{refused:?}");
                assert!(refused.what.chars().any(|c| c.is_ascii_digit()), "no number in {:?}", refused.what);
                ends.push("refusal");
            }
        }
    }
    ends
}

fn list(count: usize, item: impl Fn(usize) -> String, joint: &str) -> String {
    (0..count).map(item).collect::<Vec<String>>().join(joint)
}

#[test]
fn disjunctions_of_temporal_formulas() {
    // 2^30 - 1 monomials.
    let formula = list(30, |i| format!("F a{i}"), " | ");
    assert_eq!(ends_soon(&formula, 1_000, 10), ["refusal"; 3]);
    // 2^8 - 1.
    let formula = list(8, |i| format!("F a{i}"), " | ");
    assert_eq!(ends_soon(&formula, 1_000, 10), ["answer"; 3]);
}

#[test]
fn disjunctions_of_propositions() {
    let any = list(30, |i| format!("a{i}"), " | ");
    assert_eq!(ends_soon(&format!("G (({any}) -> F b)"), 1_000, 10), ["answer"; 3]);
    let all = list(30, |i| format!("(a{i} xor b{i})"), " & ");
    assert_eq!(ends_soon(&format!("F ({all}) | G !({all})"), 1_000, 500), ["answer"; 3]);
}

#[test]
fn nested_untils() {
    for per_mille in [10, 500, 990] {
        let right = (0..30).rfold("z".to_owned(), |f, i| format!("a{i} U ({f})"));
        ends_soon(&right, 2_000, per_mille);
        let left = (0..30).fold("z".to_owned(), |f, i| format!("({f}) U a{i}"));
        ends_soon(&left, 2_000, per_mille);
        let always = (0..30).rfold("z".to_owned(), |f, i| format!("a{i} U ({f})"));
        ends_soon(&format!("G (b -> {always})"), 2_000, per_mille);
    }
}

#[test]
fn conjoined_responses() {
    let formula = list(30, |i| format!("G (a{i} -> F b{i})"), " & ");
    assert_eq!(ends_soon(&formula, 1_000, 10), ["answer"; 3]);
    // Nearly each event has a residual of its own, so most of them are forgotten. The reference would take minutes.
    let program = program(&[&formula]);
    let trace = random(&program, 50_000, 500);
    let options = EvaluateOptions { semantics: Semantics::RepeatLast, ..EvaluateOptions::default() };
    let start = Instant::now();
    let answers = Rewrite.plan(&program, &options).unwrap().evaluate(&trace, 10).unwrap();
    assert!(start.elapsed() < SOON, "{:?}", start.elapsed());
    println!("{:?} for 50,000 events", start.elapsed());
    let place =
        |name: String| program.atoms().iter().position(|&atom| display(&program, atom) == name).unwrap();
    let last = |name: String| trace.atoms[place(name)].iter_ones().last();
    let answered = |i: usize| last(format!("a{i}")) <= last(format!("b{i}"));
    assert_eq!(answers[0].holds.get(0), (0..30).all(answered));
    let formula = list(30, |i| format!("G (a{i} -> F b{i})"), " | ");
    assert_eq!(ends_soon(&formula, 1_000, 10), ["refusal"; 3]);
}

#[test]
fn many_open_obligations() {
    let nexts = "X ".repeat(30);
    ends_soon(&format!("G (a -> {nexts} b)"), 20_000, 500);
    ends_soon(&format!("F (a & {nexts} b)"), 20_000, 100);
}

#[test]
fn depth_costs_no_stack() {
    let deep = 100_000;
    for formula in [
        format!("{} a", "X ".repeat(deep)),
        format!("{} a", "! ".repeat(deep)),
        format!("{} a", "X ! ".repeat(deep / 2)),
        format!("{} a", "F G ".repeat(deep / 2)),
        format!("{}a{}", "a U (".repeat(deep), ")".repeat(deep)),
        format!("{}a{}", "a & (b | (".repeat(deep / 2), "))".repeat(deep / 2)),
    ] {
        ends_soon_without_reference(&formula);
    }
}

/// As `ends_soon` for formulas that take the reference too long.
fn ends_soon_without_reference(formula: &str) {
    let program = program(&[formula]);
    let trace = random(&program, 200, 500);
    for (name, semantics) in Semantics::ALL {
        let options = EvaluateOptions { semantics, ..EvaluateOptions::default() };
        let start = Instant::now();
        let answer = Rewrite.plan(&program, &options).and_then(|mut plan| plan.evaluate(&trace, 10));
        println!(
            "{} {name}: {:?} {:?}",
            &formula[..10],
            start.elapsed(),
            answer.as_ref().map(|a| a[0].holds.get(0))
        );
        assert!(start.elapsed() < SOON, "{name}: {:?}", start.elapsed());
        assert!(answer.map_err(|refused| refused.exhausted).err().unwrap_or(true));
        let mut monitor = match Rewrite.monitor(&program, &options, tw_monitor::Telling::Verdicts) {
            Ok(monitor) => monitor,
            Err(refused) => {
                assert!(refused.exhausted);
                continue;
            }
        };
        let row = vec![1; words(program.atoms().len())];
        if monitor.step(&row, &mut tw_monitor::Sink::default()).is_ok() {
            assert!(monitor.pending().iter().all(|owed| owed.residual.len() < 5 << 20));
        }
    }
}

/// One residual that meets a new row of atoms at every position: what is remembered about rows is bounded.
#[test]
fn rows_without_end() {
    let any = list(40, |i| format!("a{i}"), " & ");
    let program = program(&[&format!("G F !({any})")]);
    let mut monitor =
        Rewrite.monitor(&program, &EvaluateOptions::default(), tw_monitor::Telling::Verdicts).unwrap();
    let mut rng = Rng::new(7);
    let (mut out, mut most) = (tw_monitor::Sink::default(), 0);
    for at in 0..600_000 {
        monitor.step(&[rng.bits() >> 24], &mut out).unwrap();
        if at % 1_000 == 0 {
            most = most.max(monitor.heap_bytes());
        }
    }
    assert!(out.settled.is_empty() && most > 1 << 20 && most < 64 << 20, "{most} bytes, {out:?}");
}

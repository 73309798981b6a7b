//! The engine against the definition, on formulas that can be read forward.

mod common;

use common::program;
use tw_core::Bits;
use tw_engine_reference::Reference;
use tw_engine_rewrite::Rewrite;
use tw_ir::{NodeId, Semantics, display};
use tw_monitor::{Engine, EvaluateOptions, Trace};
use tw_testkit::conformance::{cases, compare};
use tw_testkit::online::compare_online;
use tw_testkit::{Case, Rng, Shape};

const CASES: u64 = 100_000;

fn agrees(seeds: std::ops::Range<u64>) {
    let summary = compare(&Rewrite, &Shape::ONLINE, seeds.clone());
    let all = seeds.end - seeds.start;
    println!("{summary:?}");
    assert_eq!(summary.compared + summary.refused, all);
    assert!(summary.refused * 20 < all, "{} of {all} cases were refused", summary.refused);
}

// Two halves, so that they run on two cores.
#[test]
fn agrees_with_the_reference_1() {
    agrees(0..cases(CASES) / 2);
}

#[test]
fn agrees_with_the_reference_2() {
    let cases = cases(CASES);
    agrees(cases / 2..cases);
}

/// Live: position by position, in chunks, and saved and restored; every third case is three-valued.
#[test]
fn monitors_agree_with_the_reference() {
    let cases = cases(CASES);
    let summary = compare_online(&Rewrite, 0..cases);
    println!("{summary:?}");
    assert!(summary.refused * 20 < cases, "{} of {cases} cases were refused", summary.refused);
}

/// A formula over many propositions; recursion is bounded by the depth.
fn wide(rng: &mut Rng, depth: usize, past: bool) -> String {
    if depth == 0 {
        return format!("q{}", rng.below(80));
    }
    // Inside a past operator there are past operators alone.
    let operator = rng.below(if past { 8 } else { 16 });
    let past = past || operator > 3 && operator < 8;
    let a = wide(rng, depth - 1, past);
    let b = wide(rng, rng.clone().below(depth), past);
    match operator {
        0 => format!("!({a})"),
        1 => format!("(({a}) & ({b}))"),
        2 => format!("(({a}) | ({b}))"),
        3 => format!("(({a}) -> ({b}))"),
        4 => format!("Y ({a})"),
        5 => format!("O ({a})"),
        6 => format!("(({a}) S ({b}))"),
        7 => format!("(({a}) T ({b}))"),
        8 => format!("X ({a})"),
        9 => format!("N ({a})"),
        10 => format!("F ({a})"),
        11 => format!("G ({a})"),
        12 => format!("(({a}) U ({b}))"),
        13 => format!("(({a}) W ({b}))"),
        14 => format!("(({a}) R ({b}))"),
        _ => format!("(({a}) M ({b}))"),
    }
}

/// Many atoms matter to one residual: transitions are remembered by row, and rows are longer than a word.
#[test]
fn agrees_with_the_reference_on_many_atoms() {
    let all = cases(CASES) / 50;
    let mut refused = 0;
    for seed in 0..all {
        let mut rng = Rng::new(seed);
        let texts: Vec<String> = (0..2 + rng.below(6)).map(|_| wide(&mut rng, 4, false)).collect();
        let together = texts.join(if rng.one_in(2) { " & " } else { " xor " });
        let program = program(&[&together, &texts[0]]);
        let len = rng.pick(&[1, 2, 20, 70]);
        let per_mille = rng.pick(&[50, 500, 950]);
        let atoms =
            (0..program.atoms().len()).map(|_| (0..len).map(|_| rng.chance(per_mille)).collect::<Bits>());
        let trace = Trace { len, atoms: atoms.collect(), ..Trace::default() };
        let semantics = rng.pick(&[Semantics::Finite, Semantics::RepeatLast]);
        let options = EvaluateOptions { semantics, ..EvaluateOptions::default() };
        let nodes: Vec<NodeId> = program.roots.iter().map(|root| root.node).collect();
        let answers = |engine: &dyn Engine| {
            let mut plan = engine.plan(&program, &options)?;
            Ok((plan.evaluate(&trace, 3)?, plan.columns(&trace, &nodes)?))
        };
        match answers(&Rewrite) {
            Ok(found) => assert_eq!(
                found,
                answers(&Reference).unwrap(),
                "seed {seed}: {} on {trace:?}",
                display(&program, nodes[0])
            ),
            Err(why) => {
                let why: tw_monitor::Unsupported = why;
                assert!(why.exhausted, "{why:?}");
                refused += 1;
            }
        }
    }
    assert!(refused * 20 <= all, "{refused} of {all} cases were refused");
}

/// With room for eight residuals most of them are forgotten again and again; answers stay the same.
#[test]
fn forgetting_changes_no_verdict() {
    let all = cases(CASES) / 20;
    let (mut compared, mut refused) = (0, 0);
    for seed in 0..all {
        let case = Case::new(seed, &Shape::ONLINE);
        let Ok(trace) = case.trace(false) else { continue };
        let holds = |options: &EvaluateOptions| {
            let answers = Rewrite.plan(&case.program, options)?.evaluate(&trace, 0)?;
            Ok(answers.into_iter().map(|answer| answer.holds).collect::<Vec<Bits>>())
        };
        let tight = EvaluateOptions { state_budget: 8, ..case.options.clone() };
        match (holds(&case.options), holds(&tight)) {
            (Ok(expected), Ok(found)) => {
                assert_eq!(found, expected, "seed {seed}");
                compared += 1;
            }
            (_, Err(why)) => {
                let why: tw_monitor::Unsupported = why;
                assert!(why.exhausted, "{why:?}");
                refused += 1;
            }
            _ => {}
        }
    }
    assert!(refused * 10 < compared, "{compared} compared, {refused} refused");
}

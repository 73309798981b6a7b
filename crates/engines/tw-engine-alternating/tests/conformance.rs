//! The engines against the reference.

use tw_engine_alternating::statistics::{self, Traversal};
use tw_engine_alternating::{BreadthFirst, DepthFirst, Reverse};
use tw_ir::{Node, NodeId};
use tw_monitor::{Engine, EvaluateOptions};
use tw_testkit::online::online_difference;
use tw_testkit::{Case, Shape, compare_online, conformance};

#[test]
fn depth_first_agrees_with_the_reference() {
    let cases = conformance::cases(100_000);
    let summary = conformance::compare(&DepthFirst, &Shape::SMALL, 0..cases);
    assert_eq!(summary.refused, 0);
}

#[test]
fn reverse_agrees_with_the_reference() {
    let cases = conformance::cases(100_000);
    let summary = conformance::compare(&Reverse, &Shape::SMALL, 0..cases);
    assert_eq!(summary.refused, 0);
}

#[test]
fn breadth_first_agrees_with_the_reference() {
    let cases = conformance::cases(100_000);
    let summary = conformance::compare(&BreadthFirst, &Shape::ONLINE, 0..cases);
    assert_eq!(summary.refused, 0);
}

#[test]
fn monitors_agree_with_the_reference() {
    let cases = conformance::cases(100_000);
    let summary = compare_online(&BreadthFirst, 0..cases);
    assert_eq!(summary.refused, 0);
}

/// The published forms: no memory and loops first, all candidates. Short traces, since nothing bounds their cost.
#[test]
fn faithful_engines_agree_with_the_reference() {
    let shape = Shape { lengths: &[1, 2, 3, 5, 8], depth: 4, values: 0, ..Shape::SMALL };
    let online = Shape { online: true, depth: 3, ..shape };
    let mut refused = 0;
    for seed in 0..conformance::cases(20_000) {
        for (engine, shape) in
            [(&DepthFirst as &dyn Engine, &shape), (&Reverse, &shape), (&BreadthFirst, &online)]
        {
            let mut case = Case::new(seed, shape);
            case.options.faithful = true;
            match conformance::difference(engine, &case) {
                Ok(None) => {}
                Ok(Some(what)) => {
                    panic!("{}, seed {seed}\n{}{what}", engine.name(), conformance::describe(&case))
                }
                Err(refusal) => {
                    assert!(refusal.exhausted && engine.name() == "breadth-first", "{refusal:?}");
                    refused += 1;
                }
            }
        }
    }
    assert!(refused * 100 <= conformance::cases(20_000), "{refused} refused");
}

/// Published slices on a live trace.
#[test]
fn faithful_monitors_agree_with_the_reference() {
    let shape = Shape { lengths: &[1, 2, 3, 5, 8], depth: 3, values: 0, ..Shape::ONLINE };
    let cases = conformance::cases(20_000);
    let mut refused = 0;
    for seed in 0..cases {
        let mut case = Case::new(seed, &shape);
        (case.starts, case.options.faithful) = (vec![0], true);
        case.times = (0..case.len() as i64).collect();
        match online_difference(&BreadthFirst, &case) {
            Ok(None) => {}
            Ok(Some(what)) => panic!("seed {seed}\n{}{what}", conformance::describe(&case)),
            Err(_) => refused += 1,
        }
    }
    assert!(refused * 100 <= cases, "{refused} refused");
}

/// So little memory that states are forgotten all the time.
#[test]
fn forgetful_monitors_agree_with_the_reference() {
    let cases = conformance::cases(20_000);
    let mut compared = 0;
    for seed in 0..cases {
        let mut case = Case::new(seed, &Shape::ONLINE);
        case.starts = vec![0];
        case.times = (0..case.len() as i64).collect();
        case.options.memory_budget = 4_000;
        if let Ok(difference) = online_difference(&BreadthFirst, &case) {
            assert_eq!(difference, None, "seed {seed}\n{}", conformance::describe(&case));
            compared += 1;
        }
    }
    assert!(compared * 2 > cases, "{compared} of {cases}");
}

/// Longer than the blocks in which forward engines read a trace; too long for the reference.
#[test]
fn long_traces() {
    let shape = Shape { lengths: &[16_383, 16_384, 16_385, 33_000], depth: 3, ..Shape::ONLINE };
    for seed in 0..conformance::cases(100_000) / 500 {
        let case = Case::new(seed, &shape);
        let trace = case.trace(false).unwrap();
        let answers = |engine: &dyn Engine| {
            let mut evaluator = engine.plan(&case.program, &case.options).unwrap();
            let roots: Vec<NodeId> = case.program.roots.iter().map(|root| root.node).collect();
            (evaluator.evaluate(&trace, 5).unwrap(), evaluator.columns(&trace, &roots).unwrap())
        };
        let expected = answers(&Reverse);
        for engine in [&DepthFirst as &dyn Engine, &BreadthFirst] {
            assert!(answers(engine) == expected, "{} on seed {seed}", engine.name());
        }
    }
}

/// Values of all three traversals against each other, on every case and with all segments.
#[test]
fn statistics_agree() {
    let cases = conformance::cases(30_000);
    let (mut per_slice, mut compared) = (0, 0);
    for seed in 0..cases {
        let any = Case::new(seed, &Shape { lengths: &[1, 2, 3, 5, 8, 17], depth: 4, ..Shape::SMALL });
        let online = Case::new(seed, &Shape { lengths: &[1, 2, 3, 5, 8], depth: 3, ..Shape::ONLINE });
        for (case, forward) in [(any, false), (online, true)] {
            let trace = case.trace(false).unwrap();
            let root = case.program.roots[0].node;
            let told = |what: &str| format!("{what}, seed {seed}\n{}", conformance::describe(&case));
            let (program, options) = (&case.program, &case.options);
            let visits = |t| statistics::rejecting(program, root, &trace, options, t).unwrap();
            let covered = |t| statistics::coverage(program, root, &trace, options, t).unwrap();
            let runs = |t| statistics::runs(program, root, &trace, options, t).unwrap();
            let holds = |t| statistics::cost(program, root, &trace, options, t).unwrap().holds;
            let tree = visits(Traversal::Reverse);
            assert_eq!(visits(Traversal::DepthFirst), tree, "{}", told("visits"));
            assert_eq!(covered(Traversal::DepthFirst), covered(Traversal::Reverse), "{}", told("coverage"));
            assert_eq!(runs(Traversal::DepthFirst), runs(Traversal::Reverse), "{}", told("runs"));
            assert_eq!(holds(Traversal::DepthFirst), holds(Traversal::Reverse), "{}", told("verdict"));
            assert_eq!(tree.is_some(), holds(Traversal::Reverse), "{}", told("visits and verdict"));
            if trace.len <= 3 {
                let plain = EvaluateOptions { faithful: true, ..options.clone() };
                let traversal = Traversal::DepthFirst;
                let visits = statistics::rejecting(program, root, &trace, &plain, traversal).unwrap();
                assert_eq!(visits, tree, "{}", told("visits without memory"));
            }
            assert_eq!(
                runs(Traversal::Reverse) > 0,
                holds(Traversal::Reverse),
                "{}",
                told("runs and verdict")
            );
            if forward {
                compared += 1;
                assert_eq!(
                    covered(Traversal::BreadthFirst),
                    covered(Traversal::Reverse),
                    "{}",
                    told("coverage")
                );
                assert_eq!(holds(Traversal::BreadthFirst), holds(Traversal::Reverse), "{}", told("verdict"));
                let slices = visits(Traversal::BreadthFirst);
                assert!(slices <= tree && slices.is_some() == tree.is_some(), "{}", told("per slice"));
                per_slice += u64::from(slices != tree);
            }
        }
    }
    // Rarely, but it happens, that a slice shares nodes.
    assert!(per_slice * 20 < compared, "{per_slice} of {compared}");
}

/// A formula and its negation: exactly one holds, everywhere.
#[test]
fn negations_are_dual() {
    for seed in 0..conformance::cases(20_000) {
        let mut case = Case::new(seed, &Shape { lengths: &[1, 2, 3, 5, 8], ..Shape::SMALL });
        let root = case.program.roots[0].node;
        let negation = case.program.dag.add(Node::Not(root));
        case.program.spans.resize(case.program.dag.len(), None);
        let trace = case.trace(false).unwrap();
        for engine in [&DepthFirst as &dyn Engine, &Reverse] {
            let mut evaluator = engine.plan(&case.program, &case.options).unwrap();
            let columns = evaluator.columns(&trace, &[root, negation]).unwrap();
            assert!((0..trace.len).all(|at| columns[0].get(at) != columns[1].get(at)), "seed {seed}");
        }
    }
}

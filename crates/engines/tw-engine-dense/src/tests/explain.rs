//! Explanations: every claim is true, and rests on others unless it is a leaf.

use super::make::{Shape, formula, options, parse, trace};
use crate::{Reading, dense, explain};
use tw_core::{Bits, Time};
use tw_ir::{Applied, Node, Program, display};
use tw_monitor::Trace;
use tw_testkit::{Rng, cases};

#[test]
fn the_instants_that_decide() {
    let told = |text: &str, positions: &[(i64, &str)]| {
        let program = parse(text);
        let trace = trace(&program, positions);
        let root = program.roots[0].node;
        let claims = explain(&program, root, &trace, 0..trace.len, &options(), 100).unwrap();
        let words = claims.iter().map(|claim| {
            let mark = if claim.holds { "" } else { "not " };
            format!("{mark}{} {}", display(&program, claim.node), claim.when)
        });
        words.collect::<Vec<_>>()[1..].join("; ")
    };
    let states = &[(0, "p"), (4, ""), (9, "q"), (12, "")];
    assert_eq!(told("F[5,10] q", states), "q [9,9]");
    assert_eq!(told("F[1,5] q", states), "not q [1,5]");
    assert_eq!(
        told("G (p -> F[0,5] q)", states),
        "not p -> F[0,5] q [0,0]; p [0,0]; not F[0,5] q [0,0]; not q [0,5]"
    );
    assert_eq!(
        told("G (q -> O[0,5) p)", states),
        "not q -> O[0,5) p [9,9]; q [9,9]; not O[0,5) p [9,9]; not p (4,9]"
    );
    assert_eq!(told("p U q", states), "not p [4,4]; not q [0,4]");
    assert_eq!(told("(p | true) U q", states), "q [9,9]; p | true [0,9)");
    assert_eq!(told("F[20,30] q", states), "");
    // φ fails right after 4 first.
    assert_eq!(told("G O[0,1] (p | q)", states), "not O[0,1] (p | q) [5,5]; not p | q [4,5]");
}

fn random(rng: &mut Rng) -> (Program, Trace) {
    let shape = Shape { propositions: 2, operators: 5, metric: 700, unit: 2, since: true };
    let program = formula(rng, shape);
    let len = 1 + rng.below(6);
    let mut now = 0;
    let times: Vec<Time> = (0..len)
        .map(|_| {
            now += rng.below(4) as Time;
            now
        })
        .collect();
    let atoms = program.atoms().iter().map(|_| (0..len).map(|_| rng.one_in(2)).collect::<Bits>()).collect();
    let trace = Trace { len, atoms, times: Some(times), ..Trace::default() };
    (program, trace)
}

#[test]
fn claims_are_true() {
    for seed in 0..cases(5_000).min(50_000) {
        let mut rng = Rng::new(seed);
        let (program, trace) = random(&mut rng);
        let root = program.roots[0].node;
        let claims = explain(&program, root, &trace, 0..trace.len, &options(), 1000).unwrap();
        for (index, claim) in claims.iter().enumerate() {
            let what = || format!("seed {seed}: {} {claim:?} of {claims:?}", display(&program, claim.node));
            let signal = dense(&program, claim.node, &trace, Reading::States, &options()).unwrap();
            let inside = crate::Signal::new(signal.span(), [claim.when]);
            let truth = if claim.holds { signal.clone() } else { signal.clone().complement() };
            assert_eq!(inside.and(&truth), inside, "{}", what());
            assert!(inside.runs(true).next().is_some(), "{}", what());
            assert!(claim.children.iter().all(|&child| child > index), "{}", what());
            // Without children: a leaf, a stretch, an abbreviation, or a window that reaches out of the trace.
            let one = claim.when.low == claim.when.high;
            let node = program.dag.node(claim.node);
            if !claim.children.is_empty() || !one || program.atoms().contains(&claim.node) {
                continue;
            }
            match (node, node.temporal().and_then(Applied::way)) {
                (Node::Bool(_) | Node::First | Node::Last, _) => {}
                // An abbreviation of formulas that were not written.
                (_, Some(way)) if way.goal.1.is_some() => {}
                (_, Some(way)) if node.interval().is_some() => {
                    assert_eq!(claim.holds, way.dual, "{}", what())
                }
                _ => panic!("unexplained: {}", what()),
            }
        }
    }
}

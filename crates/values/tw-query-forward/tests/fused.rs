//! Aggregates over aggregates over stretches: every pair, over any parts, against the reference.

use tw_ir::{Aggregate, Node, NodeId, Root, RootKind};
use tw_query_forward::{Forward, why_not};
use tw_testkit::query::{QueryCase, QueryShape, describe, difference, live_difference, shrink};
use tw_testkit::{Rng, cases};

const PAIRS: [Aggregate; 9] = {
    use Aggregate::*;
    [Count, Sum, Avg, Min, Max, First, Last, Median, Var]
};

/// A case whose queries are `outer[inner[ψ while φ]]`, with ψ and φ taken from a random case.
fn case(seed: u64) -> Option<QueryCase> {
    let mut rng = Rng::new(seed ^ 0x66_7573_6564);
    let shape = if rng.one_in(2) { QueryShape::FORWARD } else { QueryShape::NUMERIC };
    let mut case = QueryCase::new(seed, &shape);
    let program = &mut case.program;
    let roots: Vec<NodeId> = program.roots.iter().map(|root| root.node).collect();
    let streams = |id: &NodeId| {
        let below = program.reachable(&[*id]);
        below.iter().all(|id| !matches!(program.dag.node(*id), Node::Collect(..)))
    };
    let mut experiments = program.reachable(&roots);
    experiments.retain(|id| program.dag.node(*id).is_experiment() && streams(id));
    let guards = program.guards();
    if experiments.is_empty() || guards.is_empty() {
        return None;
    }
    program.roots.clear();
    for number in 0..3 {
        // Five in six pairs are those computed without keeping stretches.
        let pick = |rng: &mut Rng| {
            let pairs = if rng.one_in(6) { 9 } else { 5 };
            rng.pick(&PAIRS[..pairs])
        };
        let (outer, inner) = (pick(&mut rng), pick(&mut rng));
        let body = rng.pick(&experiments);
        let guard = if rng.one_in(4) { rng.pick(&experiments) } else { rng.pick(&guards) };
        let stretch = program.dag.add(Node::CollectWhile(inner, body, guard));
        let node = program.dag.add(Node::Collect(outer, stretch));
        let (title, division, kind) = (None, Default::default(), RootKind::Query);
        program.roots.push(Root {
            name: format!("q{number}"),
            title,
            division,
            kind,
            node,
            span: Default::default(),
        });
    }
    program.spans = vec![None; program.dag.len()];
    Some(case)
}

#[test]
fn pairs_agree_with_the_reference() {
    let mut compared = 0;
    for seed in 0..cases(6_000) {
        let Some(case) = case(seed) else { continue };
        assert!(case.program.roots.iter().all(|root| why_not(&case.program, root.node).is_none()));
        let live = seed % 2 == 0;
        let wrong = |case: &QueryCase| {
            let found = if live { live_difference(&Forward, case) } else { difference(&Forward, case) };
            found.unwrap_or_else(|refusal| Some(format!("{refusal:?}")))
        };
        let mut case = case;
        if live {
            case.starts = vec![0];
        }
        if wrong(&case).is_some() {
            let small = shrink(case, |case| wrong(case).is_some());
            panic!("seed {seed}\n{}{}", describe(&small), wrong(&small).unwrap_or_default());
        }
        compared += 1;
    }
    assert!(compared > 0);
}

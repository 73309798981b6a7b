//! Random models and formulas, against the definitions.

use super::*;
use crate::naive::{self, random_model, random_set};
use tw_ir::{Bound, Interval, Path, Root, Slot, Temporal, What};
use tw_testkit::{Rng, cases};

fn interval(random: &mut Rng) -> Option<Interval> {
    if !random.one_in(3) {
        return None;
    }
    let bound = |ticks: usize, open| Bound { billionths: ticks as i128 * 1_000_000_000, unit: None, open };
    let low = random.below(4);
    let high = low + random.below(5);
    match random.below(4) {
        0 => Some(Interval { low: bound(low, false), high: None }),
        1 => Some(Interval { low: bound(low, true), high: Some(bound(high + 2, true)) }),
        _ => Some(Interval { low: bound(low, false), high: Some(bound(high, false)) }),
    }
}

/// A state formula: atoms, connectives, quantified operators (perhaps negated) over state formulas.
fn formula(random: &mut Rng, program: &mut Program, depth: usize) -> NodeId {
    if depth == 0 || random.one_in(10) {
        let leaf = match random.below(12) {
            0 => Node::Bool(random.one_in(2)),
            1 => Node::Last,
            other => Node::Truth(other as u32 % 3),
        };
        return program.dag.add(leaf);
    }
    let a = formula(random, program, depth - 1);
    let choice = random.below(24);
    let simple = match choice {
        0 | 1 => Some(Node::Not(a)),
        2 => Some(Node::SomePath(a)),
        3 => Some(Node::AllPaths(a)),
        _ => None,
    };
    if let Some(node) = simple {
        return program.dag.add(node);
    }
    let below = random.below(depth);
    let b = formula(random, program, below);
    let interval = interval(random);
    let node = match choice {
        4 | 5 => Node::And(a, b),
        6 | 7 => Node::Or(a, b),
        8 => Node::Xor(a, b),
        9 => Node::Implies(a, b),
        10 => Node::Iff(a, b),
        11 => Node::Unary(Temporal::Next, interval, a),
        12 => Node::Unary(Temporal::WeakNext, interval, a),
        13 | 14 => Node::Unary(Temporal::Finally, interval, a),
        15 | 16 => Node::Unary(Temporal::Globally, interval, a),
        17 | 18 => Node::Binary(Temporal::Until, interval, a, b),
        19 | 20 => Node::Binary(Temporal::WeakUntil, interval, a, b),
        21 | 22 => Node::Binary(Temporal::Release, interval, a, b),
        _ => Node::Binary(Temporal::StrongRelease, interval, a, b),
    };
    let mut id = program.dag.add(node);
    if node.is_future() {
        if random.one_in(6) {
            id = program.dag.add(Node::Not(id));
        }
        id = program.dag.add(if random.one_in(2) { Node::SomePath(id) } else { Node::AllPaths(id) });
    }
    id
}

pub(crate) fn random_program(random: &mut Rng) -> Program {
    let mut program = Program::default();
    for name in ["p", "q", "r"] {
        let what = What::Proposition(Path::field(name));
        program.slots.push(Slot { what, declared: false, span: Default::default() });
    }
    let depth = 1 + random.below(4);
    let node = formula(random, &mut program, depth);
    program.roots.push(Root::property("", node));
    program
}

#[test]
fn sets_are_those_of_the_definitions_and_evidence_is_valid() {
    let (mut quantified, mut paths) = (0, 0u64);
    for seed in 0..cases(24_000) {
        let random = &mut Rng::new(seed);
        let model = random_model(random, 8);
        let fairness = if random.one_in(2) { 0 } else { 1 + random.below(3) };
        let fairness = (0..fairness).map(|_| random_set(random, model.states())).collect();
        let checker = Checker::new(&model).fairness(fairness);
        let program = random_program(random);
        let root = program.roots[0].node;
        let atoms: Vec<Bits> = program.atoms().iter().map(|_| random_set(random, model.states())).collect();
        let answer = branching(&checker, &program, root, &atoms).unwrap();
        let expected = naive::satisfied(&checker, &program, root, &atoms);
        for id in used(&program, root, &program.atoms()) {
            if answer.state[id.index()] {
                let found: Vec<bool> =
                    (0..model.states()).map(|state| answer.satisfied(id).get(state)).collect();
                let expected = expected[id.index()].as_ref().unwrap();
                assert_eq!(
                    &found,
                    expected,
                    "seed {seed}: `{}` {checker:?} {atoms:?}",
                    display(&program, id)
                );
                quantified += u64::from(program.dag.node(id).is_branching());
            }
        }
        for state in 0..model.states() as State {
            let evidence = answer.evidence(state);
            valid(&checker, &program, &atoms, &evidence)
                .unwrap_or_else(|error| panic!("seed {seed}: {error} {checker:?} {atoms:?}"));
            assert!(!evidence.cut, "seed {seed}");
            paths += u64::from(evidence.steps.len() > 1 || evidence.cycle.is_some());
        }
    }
    // The cases are not trivial.
    assert!(quantified > cases(24_000) && paths > cases(24_000) / 4, "{quantified} {paths}");
}

/// Models in which few of many states are in play, and windows that begin later than the model is deep.
#[test]
fn windows_on_larger_models() {
    let texts = [
        "EF[7,9] p",
        "EF[40,40] p",
        "EG[3,5] p",
        "E[q U[6,20] p]",
        "A[q U[0,4] p]",
        "EG[12,inf) !p",
        "A[p R[9,12] q]",
        "AF[300,310] p",
        "EX EF[100,inf) p",
    ];
    for seed in 0..cases(20).min(200) {
        let random = &mut Rng::new(seed);
        let count = 400 + random.below(400);
        let target = |random: &mut Rng| random.below(count) as State;
        let edges: Vec<(State, State)> =
            (0..count * 5 / 4).map(|_| (target(random), target(random))).collect();
        let graph = Graph::from_edges(count, edges.into_iter());
        let model = Model { graph, initial: vec![0], ..Model::default() };
        let rare: Bits = (0..count).map(|_| random.one_in(200)).collect();
        let fairness = if random.one_in(2) { vec![] } else { vec![random_set(random, count)] };
        let checker = Checker::new(&model).fairness(fairness);
        let often = random_set(random, count);
        for text in texts {
            let program = program(text);
            let is_p = |id: &NodeId| display(&program, *id) == "p";
            let atoms: Vec<Bits> = program
                .atoms()
                .iter()
                .map(|id| if is_p(id) { rare.clone() } else { often.clone() })
                .collect();
            let root = program.roots[0].node;
            let answer = branching(&checker, &program, root, &atoms).unwrap();
            let expected = naive::satisfied(&checker, &program, root, &atoms)[root.index()].clone().unwrap();
            let found: Vec<bool> = (0..count).map(|state| answer.satisfied(root).get(state)).collect();
            assert_eq!(found, expected, "seed {seed}: `{text}`");
            let state = random.below(count) as State;
            valid(&checker, &program, &atoms, &answer.evidence(state))
                .unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        }
    }
}

/// The evidence of CTL* is valid, and so is what stands on its paths.
#[test]
fn evidence_of_nested_path_formulas_is_valid() {
    let texts = [
        "A G F p",
        "E (F p & G q)",
        "E G (p -> F EX q)",
        "EF A (p U (q & X p))",
        "A (G F p -> G F q)",
        "E (F (q & O p) & !G p)",
        "A F (EG p | X AG q)",
        "E (first & X !first & p W X q)",
    ];
    let mut lassos = 0;
    for seed in 0..cases(400).min(4_000) {
        let random = &mut Rng::new(seed);
        let model = random_model(random, 7);
        let fairness = if random.one_in(2) { vec![] } else { vec![random_set(random, model.states())] };
        let checker = Checker::new(&model).fairness(fairness);
        for text in texts {
            let program = program(text);
            let atoms: Vec<Bits> =
                program.atoms().iter().map(|_| random_set(random, model.states())).collect();
            let answer = branching(&checker, &program, program.roots[0].node, &atoms).unwrap();
            for state in 0..model.states() as State {
                let evidence = answer.evidence(state);
                lassos += usize::from(evidence.cycle.is_some());
                valid(&checker, &program, &atoms, &evidence)
                    .unwrap_or_else(|error| panic!("seed {seed}: {error} {checker:?} {atoms:?}"));
            }
        }
    }
    assert!(lassos > 1_000.min(2 * cases(400) as usize), "{lassos}");
}

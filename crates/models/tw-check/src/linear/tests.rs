//! Random models and formulas against the definitions, every path checked step by step, and speed.

use super::tableau::Tableau;
use super::*;
use tw_model::{Graph, Model};
use tw_testkit::{Case, Rng, Shape, cases, lasso};

/// A model of a few states, sometimes with dead ends, over random propositions, sometimes with fairness.
struct Small {
    model: Model,
    atoms: Vec<Bits>,
    fairness: Vec<Bits>,
}

fn small(rng: &mut Rng, atoms: usize, most: usize) -> Small {
    let states = 1 + rng.below(most);
    let edges: Vec<(State, State)> = (0..rng.below(2 * states + 2))
        .map(|_| (rng.below(states) as State, rng.below(states) as State))
        .collect();
    let mut initial: Vec<State> = (0..1 + rng.below(2)).map(|_| rng.below(states) as State).collect();
    initial.sort_unstable();
    initial.dedup();
    let model = Model { initial, graph: Graph::from_edges(states, edges.into_iter()), ..Model::default() };
    let mut set = || (0..states).map(|_| rng.one_in(2)).collect::<Bits>();
    let atoms = (0..atoms).map(|_| set()).collect();
    let fairness = (0..2).map(|_| set()).collect::<Vec<_>>();
    let sets = if rng.one_in(3) { 1 + rng.below(2) } else { 0 };
    Small { model, atoms, fairness: fairness[..sets].to_vec() }
}

/// The letters of states.
fn word(states: &[State], atoms: &[Bits]) -> Vec<u64> {
    let letter = |&state: &State| {
        atoms.iter().enumerate().fold(0, |row, (at, bits)| row | u64::from(bits.get(state as usize)) << at)
    };
    states.iter().map(letter).collect()
}

/// All lassos from a state with at most so many positions, as steps and where the cycle begins; at most `limit` of
/// them.
fn lassos(checker: &Checker, from: State, longest: usize, limit: usize) -> Vec<(Vec<State>, usize)> {
    let (mut found, mut paths, mut next) = (Vec::new(), vec![vec![from]], 0);
    while next < paths.len() && found.len() < limit {
        let path = paths[next].clone();
        next += 1;
        for &to in checker.graph().successors(path[path.len() - 1]) {
            found.extend((0..path.len()).filter(|&at| path[at] == to).map(|at| (path.clone(), at)));
            if path.len() < longest {
                paths.push(path.iter().copied().chain([to]).collect());
            }
        }
    }
    found
}

/// Whether a path is one of the model's that counts, and the formula has the claimed truth on it: if it has no cycle, on
/// every lasso that goes on from it.
pub(crate) fn check(checker: &Checker, program: &Program, atoms: &[Bits], evidence: &Evidence) {
    let steps = &evidence.steps;
    let follows = |from: State, to: State| checker.graph().successors(from).contains(&to);
    assert!(checker.initial().contains(&steps[0]), "{evidence:?}");
    assert!(steps.windows(2).all(|step| follows(step[0], step[1])), "{evidence:?}");
    let truth = |steps: &[State], cycle: usize| {
        let word = word(steps, atoms);
        lasso::holds(program, evidence.node, &word[..cycle], &word[cycle..])
    };
    match evidence.cycle {
        Some(cycle) => {
            assert!(follows(steps[steps.len() - 1], steps[cycle]), "{evidence:?}");
            let met = |set: &Bits| steps[cycle..].iter().any(|&state| set.get(state as usize));
            assert!(checker.fair_sets().iter().all(met), "{evidence:?}");
            assert_eq!(truth(steps, cycle), evidence.holds, "{evidence:?}");
        }
        None => {
            assert!(checker.fair_sets().is_empty());
            for (rest, cycle) in lassos(checker, steps[steps.len() - 1], 4, 100) {
                let whole: Vec<State> = steps.iter().chain(&rest[1..]).copied().collect();
                assert_eq!(truth(&whole, steps.len() - 1 + cycle), evidence.holds, "{evidence:?} {rest:?}");
            }
        }
    }
}

/// Runs random cases; the number of those that were violated and of those that held.
fn compare(shape: &Shape, seeds: std::ops::Range<u64>, guesses: usize) -> (usize, usize) {
    let (mut violated, mut held) = (0, 0);
    for seed in seeds {
        let mut rng = Rng::new(seed ^ 0x5eed);
        let case = Case::new(seed, shape);
        let (program, root) = (&case.program, case.program.roots[0].node);
        let small = small(&mut rng, program.atoms().len(), 6);
        let checker = Checker::new(&small.model).fairness(small.fairness.clone());
        let Some(tableau) = Tableau::new(&checker, program, root, &small.atoms, guesses) else { continue };
        let text = || format!("seed {seed}: {}\n{:?}", tw_ir::display(program, root), small.model.graph);
        let some = |value| {
            let states = tableau.some_path(value);
            checker.initial().iter().any(|&state| states[state as usize])
        };
        let found =
            linear(&checker, program, root, &small.atoms).unwrap_or_else(|e| panic!("{e:?} {}", text()));
        assert_eq!(found.holds(), !some(false), "{}", text());
        let witness = linear_witness(&checker, program, root, &small.atoms).expect("as its negation");
        assert_eq!(witness.is_some(), some(true), "{}", text());
        for evidence in found.counterexample.iter().chain(&witness) {
            check(&checker, program, &small.atoms, evidence);
        }
        // Where it holds, it holds on every short lasso that counts.
        let fair = |states: &[State]| {
            small.fairness.iter().all(|set| states.iter().any(|&state| set.get(state as usize)))
        };
        let limit = if found.holds() { 30 } else { 0 };
        for (steps, cycle) in checker.initial().iter().flat_map(|&from| lassos(&checker, from, 5, limit)) {
            let word = word(&steps, &small.atoms);
            let truth = lasso::holds(program, root, &word[..cycle], &word[cycle..]);
            assert!(truth || !fair(&steps[cycle..]), "{} {steps:?} {cycle}", text());
        }
        *if found.holds() { &mut held } else { &mut violated } += 1;
    }
    (violated, held)
}

#[test]
fn equals_the_definition_on_random_models() {
    let shape = Shape { depth: 3, values: 0, lengths: &[1], ..Shape::SMALL };
    let seeds = cases(24_000).min(200_000) as u64;
    let (violated, held) = compare(&shape, 0..seeds, 4);
    assert!((violated + held) as u64 > seeds * 4 / 5, "{violated} violated, {held} held");
    assert!(violated as u64 > seeds / 8 && held as u64 > seeds / 8, "{violated} violated, {held} held");
}

fn formula(text: &str) -> (Program, NodeId) {
    let program = tw_testkit::texts::formula(text);
    let root = program.roots[0].node;
    (program, root)
}

/// The columns of a program whose atoms are propositions.
fn columns(program: &Program, states: usize, holds: impl Fn(&str, usize) -> bool) -> Vec<Bits> {
    let atom = |&id: &NodeId| {
        let name = display(program, id);
        (0..states).map(|state| holds(&name, state)).collect()
    };
    program.atoms().iter().map(atom).collect()
}

/// 0 -> 1 -> 2 -> 1, 2 -> 3, and 3 has no successor: p in 1, q in 2, end in 3.
#[test]
fn a_small_model() {
    let edges = [(0, 1), (1, 2), (2, 1), (2, 3)];
    let model =
        Model { initial: vec![0], graph: Graph::from_edges(4, edges.into_iter()), ..Model::default() };
    let holds = |name: &str, state: usize| ["start", "p", "q", "end"][state] == name;
    let path = |text: &str, fair: &[usize]| {
        let (program, root) = formula(text);
        let sets = if fair.is_empty() { vec![] } else { vec![(0..4).map(|s| fair.contains(&s)).collect()] };
        let checker = Checker::new(&model).fairness(sets);
        let atoms = columns(&program, 4, holds);
        let found = linear(&checker, &program, root, &atoms).expect(text);
        let evidence = found.counterexample.as_ref().map(|found| (found.steps.clone(), found.cycle));
        found.counterexample.iter().for_each(|evidence| check(&checker, &program, &atoms, evidence));
        evidence
    };
    for text in [
        "start",
        "X p",
        "G (p -> X q)",
        "G (p -> F q)",
        "F q",
        "G (end -> G end)",
        "G F p | F G end",
        "G (q -> O p)",
        "G (end -> Y (q | end))",
        "G (q -> X[1,1] (p | end))",
        "first & X G !first",
        "!F last",
    ] {
        assert_eq!(path(text, &[]), None, "{text}");
    }
    // A violated safety property is shown by a shortest path, whatever comes after it.
    assert_eq!(path("G !end", &[]), Some((vec![0, 1, 2, 3], None)));
    assert_eq!(path("X q", &[]), Some((vec![0, 1], None)));
    assert_eq!(path("G[0,1] !p", &[]), Some((vec![0, 1], None)));
    assert_eq!(path("G (q -> X p)", &[]), Some((vec![0, 1, 2, 3], None)));
    // Others by a lasso.
    assert_eq!(path("F end", &[]), Some((vec![0, 1, 2], Some(1))));
    assert_eq!(path("G F p", &[]), Some((vec![0, 1, 2, 3], Some(3))));
    assert_eq!(path("F G (p | q)", &[]), Some((vec![0, 1, 2, 3], Some(3))));
    // Paths that stay in 1 and 2 do not count, or none but they.
    assert_eq!(path("F end", &[3]), None);
    assert_eq!(path("G F p", &[1]), None);
    assert_eq!(path("G !end", &[1]), None);
    assert_eq!(path("G !end", &[3]), Some((vec![0, 1, 2, 3], Some(3))));
    // No path counts.
    assert_eq!(path("false", &[0]), None);
}

/// Long paths, and components of many states, need no stack of calls.
#[test]
fn long_paths_do_not_recurse() {
    let states = 300_000;
    let edges = (0..states as State).map(|state| (state, (state + 1) % states as State));
    let model = Model { initial: vec![0], graph: Graph::from_edges(states, edges), ..Model::default() };
    let checker = Checker::new(&model);
    for (text, expected) in [
        ("G F q", None),
        ("G (p -> F q)", None),
        ("F G !q", Some((states, Some(0)))),
        ("G !q", Some((states, None))),
        ("F p", Some((states, Some(0)))),
    ] {
        let (program, root) = formula(text);
        let atoms = columns(&program, states, |name, state| name == "q" && state == states - 1);
        let found = linear(&checker, &program, root, &atoms).expect(text);
        let path = found.counterexample.map(|evidence| (evidence.steps.len(), evidence.cycle));
        assert_eq!(path, expected, "{text}");
    }
}

#[test]
fn what_cannot_be_asked_is_refused_by_name() {
    let model =
        Model { initial: vec![0], graph: Graph::from_edges(1, [(0, 0)].into_iter()), ..Model::default() };
    let ask = |text: &str, sets: usize| {
        let (program, root) = formula(text);
        let checker = Checker::new(&model).fairness(vec![Bits::repeat(true, 1); sets]);
        linear(&checker, &program, root, &columns(&program, 1, |_, _| true))
    };
    let refused = ask("F[0,3s] p", 0).expect_err("a unit");
    assert!(refused.what.contains("`F[0,3s] p`") && !refused.exhausted, "{refused:?}");
    let refused = ask("p & F[0,99999] q", 0).expect_err("a wide interval");
    assert!(refused.what.contains("further than 10000 transitions") && refused.exhausted, "{refused:?}");
    let refused = ask("!G p", 70).expect_err("too many sets");
    assert!(refused.what.contains("64 eventualities") && refused.exhausted, "{refused:?}");
    assert!(ask("G p", 60).is_ok_and(|found| found.holds()));
}

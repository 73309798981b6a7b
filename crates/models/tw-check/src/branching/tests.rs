use super::*;
use crate::Labels;
use crate::valid::valid;
use tw_core::Value;
use tw_model::{Cells, Domain, Graph, Model, Variable};
use tw_testkit::texts::branching as program;

mod evidence;
pub(crate) mod random;
mod table;

/// A model of named states (and instants), all paths counting.
fn model(states: &[(&str, i64)], edges: &[(State, State)], initial: &[State]) -> Model {
    let mut names: Vec<&str> = states.iter().map(|(name, _)| *name).collect();
    names.sort_unstable();
    names.dedup();
    let code = |name: &str| names.iter().position(|known| *known == name).unwrap() as u32;
    let last = states.iter().map(|(_, time)| *time).max().unwrap();
    let values = names.iter().map(|name| Value::text(name)).collect();
    let state = Variable {
        name: "state".into(),
        domain: Domain::Values(values),
        cells: Cells::Own(states.iter().map(|(name, _)| code(name)).collect()),
    };
    let time = Variable {
        name: "time".into(),
        domain: Domain::Range(1, last),
        cells: Cells::Own(states.iter().map(|(_, time)| *time as u32 - 1).collect()),
    };
    Model {
        variables: vec![state, time],
        initial: initial.to_vec(),
        graph: Graph::from_edges(states.len(), edges.iter().copied()),
        ..Model::default()
    }
}

/// The states that satisfy a formula. The evidence of every state is checked on the way.
fn states(model: &Model, fairness: &[&[State]], formula: &str) -> Vec<usize> {
    let program = program(formula);
    let set = |states: &&[State]| (0..model.states() as State).map(|state| states.contains(&state)).collect();
    let checker = Checker::new(model).fairness(fairness.iter().map(set).collect());
    let labels = Labels::new(model, &program).unwrap();
    let root = program.roots[0].node;
    let answer = branching(&checker, &program, root, &labels.atoms).unwrap();
    for state in 0..model.states() as State {
        valid(&checker, &program, &labels.atoms, &answer.evidence(state)).unwrap();
    }
    answer.satisfied(root).iter_ones().collect()
}

fn refused(model: &Model, formula: &str) -> Unsupported {
    let program = program(formula);
    let checker = Checker::new(model);
    let labels = Labels::new(model, &program).unwrap();
    branching(&checker, &program, program.roots[0].node, &labels.atoms).err().expect(formula)
}

#[test]
fn what_is_about_a_path_needs_a_quantifier() {
    let model = model(&[("p", 1), ("q", 1)], &[(0, 1)], &[0]);
    for (formula, message) in [
        ("G p", "`G p` is about a path: put `A` or `E` before it"),
        ("p & (EF q | p U q)", "`p U q` is about a path: put `A` or `E` before it"),
        ("p -> O q", "`O q` looks back along a path, and a state has many"),
        ("first", "`first` looks back along a path, and a state has many"),
        ("EF[0,3s] p", "`F[0,3s] p`: the interval has a unit, but time is counted in positions here"),
        ("EF[0,0.5] p", "`F[0,0.5] p`: the bound is finer than the clock"),
    ] {
        assert_eq!(refused(&model, formula).what, message, "{formula}");
    }
}

#[test]
fn windows_far_away_end_where_sets_repeat_or_in_a_refusal() {
    // A ring of three and one of five: what holds every third step is found at any distance.
    let ring = |first: State, len: State| (0..len).map(move |at| (first + at, first + (at + 1) % len));
    let edges: Vec<(State, State)> = ring(0, 3).chain(ring(3, 5)).collect();
    let names = ["p", "o", "o", "p", "o", "o", "o", "o"].map(|name| (name, 1));
    let model = model(&names, &edges, &[0]);
    let far = 3_000_000_000_000_000_000u64;
    let there = |at: usize, first: usize, len: usize| (at - first) as u64 + far % len as u64;
    let expected: Vec<usize> = (0..8)
        .filter(|&at| if at < 3 { there(at, 0, 3) % 3 == 0 } else { there(at, 3, 5) % 5 == 0 })
        .collect();
    let set = |formula: &str| {
        let program = program(formula);
        let (checker, labels) = (Checker::new(&model), Labels::new(&model, &program).unwrap());
        let answer = branching(&checker, &program, program.roots[0].node, &labels.atoms).unwrap();
        let evidence = answer.evidence(expected[0] as State);
        assert!(evidence.cut || formula.starts_with("AF"), "too long to be written down: {evidence:?}");
        answer.satisfied(program.roots[0].node).iter_ones().collect::<Vec<_>>()
    };
    assert_eq!(set(&format!("EF[{far},{far}] p")), expected);
    assert_eq!(set(&format!("EG[{far},{far}] p")), expected);
    assert_eq!(set(&format!("AF[1,{far}] p")), [0, 1, 2, 3, 4, 5, 6, 7]);

    let program = program("EF[1000,1000] p");
    let (checker, labels) = (Checker::new(&model), Labels::new(&model, &program).unwrap());
    let fair = Fair::new(&checker);
    let mut windows = Windows { budget: 100, ..Windows::new(&checker, &fair, 0) };
    let ticks = tw_ir::Ticks { low: 1000, high: 1000 };
    assert!(windows.until(ticks, &Bits::repeat(true, 8), &labels.atoms[0]).is_err());
}

/// A chain of a million states: `p` all along, `q` at the end.
#[test]
fn long_chains_need_no_stack() {
    let count = 1_000_000;
    let edges = (0..count as State - 1).map(|state| (state, state + 1));
    let model = Model { initial: vec![0], graph: Graph::from_edges(count, edges), ..Model::default() };
    let checker = Checker::new(&model);
    let last = [(0..count).map(|state| state + 1 == count).collect::<Bits>()];
    for (formula, holds, len, cycle) in [
        ("EF q", true, count, None),
        ("AF q", true, 1, None),
        ("AG !q", false, count, None),
        ("EG !q", false, 1, None),
        ("E[!q W q]", true, count, None),
        ("EG EF q", true, count, Some(count - 1)),
        ("EF[999999,inf) q", true, count, None),
    ] {
        let program = program(formula);
        let answer = branching(&checker, &program, program.roots[0].node, &last).unwrap();
        assert_eq!(answer.holds(), holds, "{formula}");
        let evidence = answer.evidence(0);
        assert_eq!((evidence.steps.len(), evidence.cycle), (len, cycle), "{formula}");
    }
    let fair = Checker::new(&model).fairness(last.to_vec());
    let program = program("EG !q | AX q");
    let answer = branching(&fair, &program, program.roots[0].node, &last).unwrap();
    assert_eq!(
        answer.satisfied(program.roots[0].node).iter_ones().collect::<Vec<_>>(),
        [count - 2, count - 1]
    );
}

#[test]
fn deep_formulas_need_no_stack() {
    let model = model(&[("p", 1), ("q", 1)], &[(0, 1), (1, 0)], &[0, 1]);
    let deep = 100_000;
    let program = program(&format!("{}p", "EX ".repeat(deep)));
    let (checker, labels) = (Checker::new(&model), Labels::new(&model, &program).unwrap());
    let answer = branching(&checker, &program, program.roots[0].node, &labels.atoms).unwrap();
    assert_eq!(answer.failing().collect::<Vec<_>>(), [1]);
    let mut evidence = &answer.evidence(0);
    let mut depth = 0;
    while let [(1, inner)] = evidence.branches.as_slice() {
        (evidence, depth) = (inner, depth + 1);
    }
    assert!(evidence.cut && depth >= 100, "{depth}");
}

#[test]
fn shared_operands_are_shown_once() {
    let model = model(&[("p", 1), ("q", 1)], &[(0, 1), (1, 0)], &[0]);
    let mut program = program("EF q");
    let mut node = program.roots[0].node;
    for _ in 0..200 {
        node = program.dag.add(Node::And(node, node));
    }
    program.roots[0].node = node;
    let (checker, labels) = (Checker::new(&model), Labels::new(&model, &program).unwrap());
    let evidence = branching(&checker, &program, node, &labels.atoms).unwrap().evidence(0);
    assert_eq!(evidence.branches.len(), 1);
    assert_eq!(evidence.branches[0].1.steps, [0, 1]);
}

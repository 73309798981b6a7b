//! CTL*: the states from which some path satisfies a formula of linear time.
//!
//! State formulas inside it are letters of its automaton. The product of the model with the automaton, from every state
//! at once, is searched to the end, component by component: a pair has an accepting run if its component has all marks
//! or leads to a pair that has one, which is known when the component is left.

use crate::Checker;
use crate::linear::{Kind, Product, Search, find, unsupported};
use tw_automata::Buchi;
use tw_automata::buchi::Budget;
use tw_core::Bits;
use tw_ir::{Node, NodeId, Program};
use tw_model::State;
use tw_monitor::Unsupported;

/// The states of the state formulas below a path formula.
pub type Truth<'a> = dyn Fn(NodeId) -> Option<&'a Bits> + 'a;

/// The states from which, on some path that counts, the path formula has this truth. `known` tells the states of the
/// state formulas in it: of the outermost ones, at least.
pub fn some_path<'a>(
    checker: &Checker,
    program: &Program,
    path: NodeId,
    value: bool,
    known: &Truth<'a>,
) -> Result<Bits, Unsupported> {
    let buchi = automaton(program, path, value, known)?;
    let mut product = Product::new(checker, &buchi, letters(&buchi, known))?;
    let mut search = Search::new(&product, vec![Kind::Recurrent; buchi.states.len()], false);
    let states = checker.graph().states();
    search.run(&mut product, 0..states as State);
    Ok((0..states).map(|state| search.accepts(state * product.width())).collect())
}

/// A lasso from a state on which the path formula has this truth, if there is one that counts: its states, and which of
/// them comes after the last.
pub fn lasso_from<'a>(
    checker: &Checker,
    program: &Program,
    path: NodeId,
    value: bool,
    known: &Truth<'a>,
    state: State,
) -> Result<Option<(Vec<State>, usize)>, Unsupported> {
    let buchi = automaton(program, path, value, known)?;
    let (found, _) = find(checker, &buchi, letters(&buchi, known), &[state], true)?;
    Ok(found.and_then(|(steps, cycle)| Some((steps, cycle?))))
}

fn automaton(program: &Program, path: NodeId, value: bool, known: &Truth<'_>) -> Result<Buchi, Unsupported> {
    // Constants are left to the automaton, which is smaller for it.
    let literal = |id| !matches!(program.dag.node(id), Node::Bool(_)) && known(id).is_some();
    Buchi::over(program, path, !value, literal, Budget::default())
        .map_err(|obstacle| unsupported(program, obstacle))
}

fn letters<'a>(buchi: &Buchi, known: &Truth<'a>) -> Vec<&'a Bits> {
    buchi.letters.iter().filter_map(|&letter| known(letter)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::tableau::Tableau;
    use crate::{Evidence, branching};
    use tw_model::{Graph, Model};
    use tw_testkit::{Case, Rng, Shape, cases, lasso};

    fn random(rng: &mut Rng, states: usize) -> Graph {
        let edges: Vec<(State, State)> = (0..rng.below(2 * states + 2))
            .map(|_| (rng.below(states) as State, rng.below(states) as State))
            .collect();
        Graph::from_edges(states, edges.into_iter())
    }

    fn set(rng: &mut Rng, states: usize) -> Bits {
        (0..states).map(|_| rng.one_in(2)).collect()
    }

    #[test]
    fn every_state_is_told_and_has_its_lasso() {
        let shape = Shape { depth: 3, values: 0, lengths: &[1], ..Shape::SMALL };
        let mut told = 0;
        for seed in 0..cases(6_000).min(50_000) as u64 {
            let mut rng = Rng::new(seed);
            let case = Case::new(seed, &shape);
            let (program, root) = (&case.program, case.program.roots[0].node);
            let known = program.atoms();
            let states = 1 + rng.below(5);
            let model = Model { graph: random(&mut rng, states), ..Model::default() };
            let atoms: Vec<Bits> = known.iter().map(|_| set(&mut rng, states)).collect();
            let fairness = if rng.one_in(3) { vec![set(&mut rng, states)] } else { Vec::new() };
            let checker = Checker::new(&model).fairness(fairness);
            let Some(tableau) = Tableau::new(&checker, program, root, &atoms, 4) else { continue };
            let truth = |id: NodeId| known.binary_search(&id).ok().map(|atom| &atoms[atom]);
            for value in [false, true] {
                let found = some_path(&checker, program, root, value, &truth).expect("small formulas");
                let text = || format!("seed {seed}, {value}: {}", tw_ir::display(program, root));
                let expected: Bits = tableau.some_path(value).into_iter().collect();
                assert_eq!(found, expected, "{}\n{:?}", text(), model.graph);
                for state in 0..states {
                    let path = lasso_from(&checker, program, root, value, &truth, state as State);
                    let path = path.expect("small formulas");
                    assert_eq!(path.is_some(), expected.get(state), "{}", text());
                    let Some((steps, cycle)) = path else { continue };
                    let follows = |a: State, b: State| checker.graph().successors(a).contains(&b);
                    assert!(steps.windows(2).all(|step| follows(step[0], step[1])), "{} {steps:?}", text());
                    assert!(follows(steps[steps.len() - 1], steps[cycle]) && steps[0] as usize == state);
                    let met = |set: &Bits| steps[cycle..].iter().any(|&state| set.get(state as usize));
                    assert!(checker.fair_sets().iter().all(met), "{} {steps:?}", text());
                    let letter = |&state: &State| {
                        let bits = atoms.iter().enumerate();
                        bits.fold(0, |row, (at, set)| row | u64::from(set.get(state as usize)) << at)
                    };
                    let word: Vec<u64> = steps.iter().map(letter).collect();
                    let holds = lasso::holds(program, root, &word[..cycle], &word[cycle..]);
                    assert_eq!(holds, value, "{} {steps:?} {cycle}", text());
                    told += 1;
                }
            }
        }
        assert!(told > 1_000, "{told} lassos");
    }

    /// The states that satisfy a formula of branching time over p, q and r, and the evidence of each.
    fn satisfied(checker: &Checker, atoms: &[Bits; 3], text: &str) -> (Bits, Vec<Evidence>) {
        let tree = tw_spec::parse_branching(text, 0);
        assert!(!tree.has_errors(), "{text}: {:?}", tree.diagnostics);
        let program = tw_spec::lower(&tree.value, &tw_spec::LowerOptions::default()).value;
        let column = |&id: &NodeId| match tw_ir::display(&program, id).as_str() {
            "p" => atoms[0].clone(),
            "q" => atoms[1].clone(),
            _ => atoms[2].clone(),
        };
        let atoms: Vec<Bits> = program.atoms().iter().map(column).collect();
        let root = program.roots[0].node;
        let answer = branching(checker, &program, root, &atoms).unwrap_or_else(|e| panic!("{text}: {e:?}"));
        let evidence = (0..checker.graph().states()).map(|state| answer.evidence(state as State)).collect();
        (answer.satisfied(root).clone(), evidence)
    }

    #[test]
    fn what_ctl_can_say_too() {
        let mut random_numbers = Rng::new(5);
        for _ in 0..cases(300).min(3_000) {
            let rng = &mut random_numbers;
            let states = 1 + rng.below(7);
            let model = Model { graph: random(rng, states), ..Model::default() };
            let atoms = [set(rng, states), set(rng, states), set(rng, states)];
            let fairness = if rng.one_in(3) { vec![set(rng, states)] } else { Vec::new() };
            let checker = Checker::new(&model).fairness(fairness.clone());
            for (star, ctl) in [
                ("A G F p", "AG AF p"),
                ("E F (p & F q)", "EF (p & EF q)"),
                ("E (F p & F q)", "EF (p & EF q) | EF (q & EF p)"),
                ("A (F p & G q)", "AF p & AG q"),
                ("E X (p | F q)", "EX p | EX EF q"),
                ("E X X p", "EX EX p"),
                ("E (p U (q & F r))", "E[p U (q & EF r)]"),
                ("E F (EG p & X AF q)", "EF (EG p & EX AF q)"),
                ("A ((A F p) | G q)", "AF p | AG q"),
                ("E (G F p & F G !p)", "false & p"),
            ] {
                let (found, expected) = (satisfied(&checker, &atoms, star), satisfied(&checker, &atoms, ctl));
                assert_eq!(found.0, expected.0, "{star}: {:?} {atoms:?} {fairness:?}", model.graph);
                for (state, evidence) in found.1.iter().enumerate() {
                    assert_eq!(evidence.holds, found.0.get(state));
                }
            }
            // Fairness is what `G F` says.
            let plain = Checker::new(&model);
            let also: Vec<Bits> = fairness.iter().cloned().chain([atoms[0].clone()]).collect();
            let fair = Checker::new(&model).fairness(also);
            let left = satisfied(&checker, &atoms, "E (G F p & G q)").0;
            assert_eq!(left, satisfied(&fair, &atoms, "EG q").0);
            let left = satisfied(&plain, &atoms, "E (G F p & G F q & r U q)").0;
            let fair = Checker::new(&model).fairness(vec![atoms[0].clone(), atoms[1].clone()]);
            assert_eq!(left, satisfied(&fair, &atoms, "E[r U q]").0);
        }
    }
}

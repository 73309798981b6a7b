//! Formulas as equations, against the reference engine.

mod common;

use tw_engine_reference::Reference;
use tw_ir::{Node, Semantics};
use tw_monitor::Engine;
use tw_stream_boolean::graph::Graph;
use tw_stream_boolean::{Limits, NotLtl, Passes, Program, Word, accepts, from_ltl, models};
use tw_testkit::{Case, Shape, cases, texts};

#[test]
fn formulas_are_their_equations() {
    let mut holds = [0; 2];
    for seed in 0..cases(5_000) {
        let mut case = Case::new(seed, &Shape::SMALL);
        case.starts = vec![0];
        case.options.semantics = Semantics::Finite;
        let atoms = case.program.atoms();
        let trace = case.trace(case.has_values()).unwrap();
        for root in &case.program.roots {
            let Ok(mut reference) = Reference.plan(&case.program, &case.options) else { continue };
            let expected = &reference.columns(&trace, &[root.node]).unwrap()[0];
            let name = |atom| format!("p{}", atoms.binary_search(&atom).unwrap());
            let spec = from_ltl(&case.program, root.node, "y", false, name).unwrap();
            assert!(Graph::new(&spec).is_well_formed(), "{spec}");
            let column = |name: &String| trace.atoms[name[1..].parse::<usize>().unwrap()].clone();
            let input = Word { len: trace.len, columns: spec.inputs().iter().map(column).collect() };
            let found = Program::new(&spec, Passes::Auto).unwrap().run(&input, &Limits::default()).unwrap();
            assert_eq!(found[0].as_ref(), Some(expected), "seed {seed}\n{spec}");
            let accepting = from_ltl(&case.program, root.node, "y", true, name).unwrap();
            let accepted = accepts(&accepting, &input, &Limits::default()).unwrap();
            assert_eq!(accepted, expected.get(0), "seed {seed}\n{accepting}");
            holds[usize::from(accepted)] += 1;
        }
    }
    assert!(holds.iter().all(|count| *count > 100), "{holds:?}");
}

/// The paper's examples on all words over two letters, with and without `init`.
#[test]
fn worked_examples() {
    for formula in ["p U q", "p S q", "X (p S q)", "(!(Y q)) U q"] {
        let program = texts::formula(formula);
        let root = program.roots[0].node;
        let names: Vec<_> = program.atoms();
        let name = |atom| {
            let place = names.iter().position(|known| *known == atom).unwrap();
            ["p", "q"][place].to_string()
        };
        assert!(names.iter().all(|&atom| matches!(program.dag.node(atom), Node::Truth(_))));
        let accepting = from_ltl(&program, root, "psi", true, name).unwrap();
        for len in 1..=3usize {
            for number in 0..1u64 << (2 * len) {
                let letters: Vec<u64> = (0..len).map(|at| number >> (2 * at) & 3).collect();
                let input = Word::from_letters(accepting.inputs().len(), &letters);
                let mut reference = Reference.plan(&program, &Default::default()).unwrap();
                let trace = tw_monitor::Trace { len, atoms: input.columns.clone(), ..Default::default() };
                let expected = reference.columns(&trace, &[root]).unwrap()[0].get(0);
                let found = models(&accepting, &input).map(|models| !models.is_empty());
                let known = found.unwrap_or_else(|| accepts(&accepting, &input, &Limits::default()).unwrap());
                assert_eq!(known, expected, "{formula} {letters:?}");
            }
        }
    }
    let spec = from_ltl(&texts::formula("p U q"), texts::formula("p U q").roots[0].node, "psi", true, |_| {
        "x".into()
    });
    assert_eq!(
        spec.unwrap().to_string(),
        "stream psi: bool = x | x & psi[+1|false];\nstream init: bool = first -> psi | !init;\n"
    );
}

#[test]
fn what_is_no_ltl_is_named() {
    let program = texts::formula("F[0,3] p");
    let refused = from_ltl(&program, program.roots[0].node, "y", false, |_| "p".into());
    assert_eq!(refused, Err(NotLtl::Node(program.roots[0].node)));
}

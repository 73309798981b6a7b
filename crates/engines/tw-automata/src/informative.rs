//! Formulas that are settled as soon as what is owed is nothing, or cannot be met: their prefixes are *informative*
//! ("Model Checking of Safety Properties", Kupferman and Vardi).
//!
//! What is owed is a combination, by and and or, of subformulas. It may be the same for all continuations without being
//! a constant: `F last`, `X a | N !a`, `F a | G !a`, and `G (p -> O q)` after `q`. Not so where every atom has one sign
//! and there are no past operators, no steps, no constants and neither `first` nor `last`. If all literals are false from
//! here on, then so is each subformula, and if all are true, so is each: whatever is owed is false in the one
//! continuation and true in the other.

use tw_ir::{Node, NodeId, Program};

/// Whether a formula is settled, under the finite semantics, only where what is owed is a constant. Where it says no, that
/// may be so nevertheless.
pub fn informative(program: &Program, root: NodeId) -> bool {
    let atoms = program.atoms();
    // By node: met as it is, met negated.
    let mut met = vec![[false; 2]; program.dag.len()];
    let mut todo = vec![(root, false)];
    while let Some((id, negated)) = todo.pop() {
        if std::mem::replace(&mut met[id.index()][usize::from(negated)], true) {
            continue;
        }
        if atoms.binary_search(&id).is_ok() {
            if met[id.index()] == [true; 2] {
                return false;
            }
            continue;
        }
        match program.dag.node(id) {
            Node::Not(a) => todo.push((a, !negated)),
            Node::And(a, b) | Node::Or(a, b) => todo.extend([(a, negated), (b, negated)]),
            Node::Implies(a, b) => todo.extend([(a, !negated), (b, negated)]),
            node => match node.temporal() {
                Some(operator)
                    if !operator.past && operator.interval.is_none() && operator.way().is_some() =>
                {
                    todo.extend(node.children().map(|child| (child, negated)));
                }
                _ => return false,
            },
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deterministic::{Budget, Deterministic, Options};
    use std::sync::Arc;
    use tw_ir::Semantics;
    use tw_testkit::{Case, Shape, cases, texts};

    fn automaton(program: &Program, root: NodeId) -> Option<Deterministic> {
        let budget = Budget { states: 2_000, nodes: 1 << 16 };
        let options = Options { semantics: Semantics::Finite, budget, anywhere: false, verdicts_only: false };
        Deterministic::new(&Arc::new(program.clone()), root, &options).ok()
    }

    #[test]
    fn which_formulas() {
        let is = |text: &str| {
            let program = texts::formula(text);
            informative(&program, program.roots[0].node)
        };
        for text in ["G (a -> F b)", "a U (b & G c)", "!F a", "F a & F a", "G (a -> b W c)", "a"] {
            assert!(is(text), "{text}");
        }
        for text in
            ["F last", "X a", "X a | N !a", "F a | G !a", "G (p -> O q)", "G first", "F true", "a <-> F b"]
        {
            assert!(!is(text), "{text}");
        }
    }

    /// A state of such a formula is settled only if it is one of the two that owe a constant: whatever comes, it stays.
    #[test]
    fn settled_states_owe_constants() {
        let (mut told, mut constants) = (0, 0);
        for seed in 0..cases(3_000) {
            let case = Case::new(seed, &Shape { values: 0, ..Shape::SMALL });
            let (program, root) = (&case.program, case.program.roots[0].node);
            let Some(automaton) = automaton(program, root) else { continue };
            if !informative(program, root) {
                continue;
            }
            for state in 0..automaton.len() as u32 {
                if let Some(verdict) = automaton.settled(state) {
                    assert_eq!(automaton.residual(state), verdict.to_string(), "seed {seed}");
                    constants += 1;
                }
            }
            assert!(automaton.settled(automaton.initial()).is_none(), "seed {seed}");
            told += 1;
        }
        assert!(told > cases(3_000) / 200 && constants > told, "{told} {constants}");
    }
}

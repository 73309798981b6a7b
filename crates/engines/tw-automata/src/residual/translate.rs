//! From the program's formulas to canonical ones.

use super::{Atom, Exceeded, FormulaId, Terms};
use crate::alternating::{Refused, refusal};
use crate::past::Past;
use crate::residual::state::Code;
use tw_ir::{Applied, Node, NodeId, Program, Temporal};

/// Subformulas over propositions alone are multiplied out up to as many monomials, and kept whole beyond.
const STATE_MONOMIALS: usize = 64;

/// Why a formula has no canonical form here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Untranslatable {
    /// A construct outside of linear temporal logic.
    Refused(Refused),
    /// A subformula that is too large when multiplied out.
    Exceeded(NodeId, Exceeded),
}

impl Terms {
    /// The canonical form of a formula of `program`, whose past operators are in `past`.
    pub fn translate(
        &mut self,
        program: &Program,
        past: &Past,
        goal: NodeId,
    ) -> Result<FormulaId, Untranslatable> {
        let atoms = program.atoms();
        let proposition = |id: NodeId| match atoms.binary_search(&id) {
            Ok(atom) => Some(atom as u32),
            Err(_) => past.atom(id),
        };
        let mut needed = vec![false; goal.index() + 1];
        needed[goal.index()] = true;
        for index in (0..=goal.index()).rev() {
            let id = NodeId(index as u32);
            let node = program.dag.node(id);
            if !needed[index] || proposition(id).is_some() {
                continue;
            }
            if let Some(what) = refusal(node) {
                return Err(Untranslatable::Refused(Refused { node: id, what }));
            }
            node.children().for_each(|child| needed[child.index()] = true);
        }
        let mut translated = vec![FormulaId::FALSE; goal.index() + 1];
        // Which translations are about one position alone.
        let mut state = vec![false; goal.index() + 1];
        for id in (0..=goal.0).map(NodeId).filter(|id| needed[id.index()]) {
            let node = program.dag.node(id);
            if let Some(proposition) = proposition(id) {
                translated[id.index()] = self.atom_formula(Atom::Proposition(proposition), id);
                state[id.index()] = true;
                continue;
            }
            let local = !node.is_future() && node.children().all(|child| state[child.index()]);
            state[id.index()] = local;
            let formula = self.operator(node, id, |child| translated[child.index()]);
            translated[id.index()] = match formula {
                Ok(formula) if !(local && self.is_wide(formula)) => formula,
                // A conjunction of monomials that was too large, or that an unwieldy part made so.
                Ok(_) | Err(Exceeded::Monomials { .. }) if local => self.atom_formula(Atom::State(id), id),
                Ok(formula) => formula,
                Err(exceeded) => return Err(Untranslatable::Exceeded(id, exceeded)),
            };
        }
        let formula = translated[goal.index()];
        self.compile(program, &atoms, past, formula);
        Ok(formula)
    }

    /// Whether a formula over propositions is better kept whole.
    fn is_wide(&self, formula: FormulaId) -> bool {
        let size = self.size(formula);
        size > STATE_MONOMIALS
            || size > 2
                && self.atoms_of(formula).iter().any(|&atom| matches!(self.atom(atom), Atom::State(_)))
    }

    fn operator(
        &mut self,
        node: Node,
        id: NodeId,
        of: impl Fn(NodeId) -> FormulaId,
    ) -> Result<FormulaId, Exceeded> {
        if let Some(Applied { operator, left, right, .. }) = node.temporal().filter(|operator| !operator.past)
        {
            // With the last state repeated there is one next, and it is its own dual.
            let one = operator == Temporal::WeakNext && self.repeat_last;
            let operator = if one { Temporal::Next } else { operator };
            return Ok(self.atom_formula(Atom::Temporal(operator, left.map(&of), of(right)), id));
        }
        let atom = match node {
            Node::Bool(value) => return Ok(FormulaId::constant(value)),
            Node::Not(a) => return self.not(of(a)),
            Node::And(a, b) => return self.and(of(a), of(b)),
            Node::Or(a, b) => return self.or(of(a), of(b)),
            Node::Xor(a, b) => return self.xor(of(a), of(b)),
            Node::Implies(a, b) => return self.implies(of(a), of(b)),
            Node::Iff(a, b) => {
                let differ = self.xor(of(a), of(b))?;
                return self.not(differ);
            }
            // `first` and past operators are propositions; everything else was refused.
            _ => Atom::Last,
        };
        Ok(self.atom_formula(atom, id))
    }

    /// Prepares the evaluation of combinations that were kept whole and are still in use.
    fn compile(&mut self, program: &Program, atoms: &[NodeId], past: &Past, formula: FormulaId) {
        for atom in self.needed(formula, |_| true) {
            if let Atom::State(node) = self.atom(atom) {
                self.codes.entry(atom).or_insert_with(|| Code::new(program, atoms, past, node));
            }
        }
    }
}

//! What a set of slices still asks for, in the user's words.

use super::machine::Slices;
use tw_automata::alternating::{Direction, NodeIndex};
use tw_ir::{Node, NodeId, Program, Temporal, display};

/// Slices that are spelled out.
const SLICES: usize = 16;
/// Texts that are kept, since the same is often asked for again.
const TEXTS: usize = 1000;
/// Bytes that are shown.
const BYTES: usize = 4000;

impl Slices {
    /// A disjunction of conjunctions, what all slices have in common first.
    pub(super) fn text(&self, set: u32) -> String {
        if let Some(text) = self.texts.borrow().get(&set) {
            return text.clone();
        }
        let text = self.spell(set);
        let mut texts = self.texts.borrow_mut();
        if texts.len() >= TEXTS {
            texts.clear();
        }
        texts.insert(set, text.clone());
        text
    }

    fn spell(&self, set: u32) -> String {
        let slices: Vec<&[u32]> = self.sets.get(set).iter().map(|&slice| self.slices.get(slice)).collect();
        let Some(first) = slices.first() else { return "false".into() };
        let everywhere = |number: &u32| slices.iter().all(|slice| slice.binary_search(number).is_ok());
        let common: Vec<u32> = first.iter().copied().filter(everywhere).collect();
        let mut program = self.program.clone();
        let mut parts = Vec::new();
        let mut choice = Vec::new();
        for slice in slices.iter().take(SLICES) {
            let rest = slice.iter().filter(|number| common.binary_search(number).is_err());
            let owed: Vec<NodeId> = rest.map(|&number| self.wanted(&mut program, number)).collect();
            choice.push(connect(&mut program, &owed, true));
        }
        let free = slices.iter().any(|slice| slice.len() == common.len());
        parts.extend(common.iter().map(|&number| self.wanted(&mut program, number)));
        if !free {
            parts.push(connect(&mut program, &choice, false));
        }
        let whole = connect(&mut program, &parts, true);
        let mut text = display(&program, whole);
        if text.len() > BYTES {
            let cut = (0..=BYTES).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
            text.truncate(cut);
            text.push('…');
        } else if slices.len() > SLICES && !free {
            text.push_str(" | …");
        }
        text
    }

    /// What a member of a slice asks of the next position, added to `program`.
    fn wanted(&self, program: &mut Program, number: u32) -> NodeId {
        if !self.published || self.entry(number).is_some() {
            let (formula, negated) = self.formula(number);
            return negate(program, formula, negated);
        }
        // Published slices are about the next position: a loop there is what it stands for one position further.
        let node = self.automaton.node(NodeIndex(number));
        let formula = negate(program, node.origin.0, node.origin.1);
        if !node.looping || node.direction != Direction::Future {
            return formula;
        }
        let next = if node.accepting {
            Node::Unary(Temporal::WeakNext, None, formula)
        } else {
            Node::Unary(Temporal::Next, None, formula)
        };
        program.dag.add(next)
    }
}

fn negate(program: &mut Program, formula: NodeId, negated: bool) -> NodeId {
    if negated { program.dag.add(Node::Not(formula)) } else { formula }
}

/// A conjunction or a disjunction; of nothing, its neutral element.
fn connect(program: &mut Program, parts: &[NodeId], conjunction: bool) -> NodeId {
    let Some((&first, rest)) = parts.split_first() else { return program.dag.add(Node::Bool(conjunction)) };
    rest.iter().fold(first, |left, &right| {
        let node = if conjunction { Node::And(left, right) } else { Node::Or(left, right) };
        program.dag.add(node)
    })
}

//! Branching time: CTL by fixpoints, every transition looked at once or twice for each operator.
//!
//! Formulas are evaluated in the order of the arena, operands first: to each state formula the set of states that
//! satisfy it. A path quantifier over one temporal operator is a shape (`shape`) that a fixpoint answers
//! (`fixpoint`, `window`); `A` is what no path of the negated shape refutes. Under fairness (`fair`) only paths count
//! that meet every fairness set again and again. Quantifiers over other path formulas are CTL*, which is left to the
//! product with an automaton (`star`).

pub(crate) mod evidence;
mod fair;
mod fixpoint;
mod paths;
mod search;
mod sets;
pub(crate) mod shape;
mod window;

#[cfg(test)]
pub(crate) mod tests;

use crate::{Checker, Evidence, star};
use fair::Fair;
use sets::{and, combine, complement, or};
use shape::{Operand, Shape};
use tw_core::Bits;
use tw_ir::{Node, NodeId, Program, display};
use tw_model::State;
use tw_monitor::Unsupported;
use window::Windows;

/// Bytes that the sets of one formula may take.
const MEMORY: usize = 1 << 30;

/// The states that satisfy a formula and each of its parts.
pub struct Branching<'a> {
    checker: &'a Checker<'a>,
    program: &'a Program,
    root: NodeId,
    /// Of each state formula.
    sets: Vec<Option<Bits>>,
    /// Whether a formula is about a state, rather than about a path.
    state: Vec<bool>,
    fair: Fair,
}

/// Evaluates a formula of branching time; `atoms` are the states of each of [`Program::atoms`].
pub fn branching<'a>(
    checker: &'a Checker<'a>,
    program: &'a Program,
    root: NodeId,
    atoms: &[Bits],
) -> Result<Branching<'a>, Unsupported> {
    let known = program.atoms();
    let used = used(program, root, &known);
    let state = states(program, &used, &known)?;
    if !state[root.index()] {
        return Err(bare(program, root));
    }
    let states = checker.graph().states();
    let sets = used.iter().filter(|id| state[id.index()]).count();
    if sets.saturating_mul(states / 8) > MEMORY {
        let what = format!("more than {} MB for {sets} subformulas in {states} states", MEMORY >> 20);
        return Err(Unsupported::budget(what).help("split the formula"));
    }
    let fair = Fair::new(checker);
    let mut answer = Branching { checker, program, root, sets: vec![None; program.dag.len()], state, fair };
    answer.evaluate(&used, &known, atoms)?;
    Ok(answer)
}

impl Branching<'_> {
    /// The states that satisfy a state formula: the root or one below it.
    ///
    /// # Panics
    /// If the node is a path formula, or not part of the formula.
    pub fn satisfied(&self, node: NodeId) -> &Bits {
        self.sets[node.index()].as_ref().expect("a state formula below the root")
    }

    /// Whether every initial state satisfies the formula.
    pub fn holds(&self) -> bool {
        self.failing().next().is_none()
    }

    /// The initial states that do not satisfy the formula, ascending.
    pub fn failing(&self) -> impl Iterator<Item = State> + '_ {
        let set = self.satisfied(self.root);
        self.checker.initial().iter().copied().filter(|&state| !set.get(state as usize))
    }

    /// Why the formula holds in a state, or why it does not.
    pub fn evidence(&self, state: State) -> Evidence {
        evidence::evidence(paths::Paths::new(self), self.root, state)
    }

    fn evaluate(&mut self, used: &[NodeId], known: &[NodeId], atoms: &[Bits]) -> Result<(), Unsupported> {
        let states = self.checker.graph().states();
        let mut work = 0;
        for &id in used.iter().filter(|id| self.state[id.index()]) {
            let of = |id: NodeId| self.satisfied(id);
            let set = match (known.binary_search(&id), self.program.dag.node(id)) {
                (Ok(atom), _) => atoms[atom].clone(),
                (_, Node::Bool(value)) => Bits::repeat(value, states),
                (_, Node::Not(a)) => complement(of(a)),
                (_, Node::And(a, b)) => and(of(a), of(b)),
                (_, Node::Or(a, b)) => or(of(a), of(b)),
                (_, Node::Xor(a, b)) => combine(of(a), of(b), |a, b| a ^ b),
                (_, Node::Implies(a, b)) => combine(of(a), of(b), |a, b| !a | b),
                (_, Node::Iff(a, b)) => combine(of(a), of(b), |a, b| !(a ^ b)),
                (_, Node::SomePath(path)) => self.some(id, path, true, &mut work)?,
                // A formula holds on all paths where no path refutes it.
                (_, Node::AllPaths(path)) => complement(&self.some(id, path, false, &mut work)?),
                // Paths are infinite: no position is the last.
                _ => Bits::repeat(false, states),
            };
            self.sets[id.index()] = Some(set);
        }
        Ok(())
    }

    /// The states from which some path that counts gives a path formula this truth.
    fn some(
        &self,
        quantifier: NodeId,
        path: NodeId,
        value: bool,
        work: &mut u64,
    ) -> Result<Bits, Unsupported> {
        let Some(shape) = shape::shape(self.program, path, value, &self.state)? else {
            let known = |id: NodeId| self.sets[id.index()].as_ref();
            return star::some_path(self.checker, self.program, path, value, &known);
        };
        let mut windows = Windows::new(self.checker, &self.fair, *work);
        let set = match &shape {
            Shape::Here(operand) => Ok(self.fair.only(&self.operand(operand))),
            Shape::Next(operand) => Ok(windows.next(&self.operand(operand))),
            Shape::Until(ticks, a, b) => windows.until(*ticks, &self.operand(a), &self.operand(b)),
            Shape::Release(ticks, a, b) => windows.release(*ticks, &self.operand(a), &self.operand(b)),
        };
        *work = windows.work;
        set.map_err(|window::Exhausted| {
            let formula = display(self.program, quantifier);
            let what = format!("the steps before the interval of `{formula}` are too many for this model");
            Unsupported { node: Some(path), ..Unsupported::budget(what) }
                .help("let the interval begin earlier")
        })
    }

    fn operand(&self, operand: &Operand) -> Bits {
        let states = self.checker.graph().states();
        let sets = operand.parts.iter().map(|part| {
            let set = self.satisfied(part.node);
            if part.value { set.clone() } else { complement(set) }
        });
        sets.reduce(|a, b| if operand.any { or(&a, &b) } else { and(&a, &b) })
            .unwrap_or_else(|| Bits::repeat(!operand.any, states))
    }
}

/// The formulas below the root, ascending, without what predicates are made of.
pub(crate) fn used(program: &Program, root: NodeId, atoms: &[NodeId]) -> Vec<NodeId> {
    let mut seen = vec![false; program.dag.len()];
    seen[root.index()] = true;
    for index in (0..=root.index()).rev() {
        if seen[index] && atoms.binary_search(&NodeId(index as u32)).is_err() {
            program.dag.nodes()[index].children().for_each(|child| seen[child.index()] = true);
        }
    }
    (0..=root.0).map(NodeId).filter(|id| seen[id.index()]).collect()
}

/// Which formulas are about a state. Refuses what is no formula of branching time.
pub(crate) fn states(program: &Program, used: &[NodeId], atoms: &[NodeId]) -> Result<Vec<bool>, Unsupported> {
    let mut state = vec![false; program.dag.len()];
    for &id in used {
        let node = program.dag.node(id);
        state[id.index()] = match node {
            _ if atoms.binary_search(&id).is_ok() => true,
            Node::Bool(_) | Node::Last | Node::AllPaths(_) | Node::SomePath(_) => true,
            Node::Not(_)
            | Node::And(..)
            | Node::Or(..)
            | Node::Xor(..)
            | Node::Implies(..)
            | Node::Iff(..) => node.children().all(|child| state[child.index()]),
            Node::First => false,
            _ if node.is_future() || node.is_past() => false,
            _ => {
                let what = format!("`{}`: {} on a model", display(program, id), node.operator());
                return Err(Unsupported::construct(id, what));
            }
        };
    }
    Ok(state)
}

/// A path formula where a state formula must stand: names its outermost operator that is about a path.
pub(crate) fn bare(program: &Program, root: NodeId) -> Unsupported {
    let mut node = root;
    let is_path = |node: Node| node.is_future() || node.is_past() || node == Node::First;
    // Below connectives alone, something is about a path: the first such from the left.
    let mut todo = vec![root];
    let mut seen = vec![false; program.dag.len()];
    while let Some(id) = todo.pop() {
        if is_path(program.dag.node(id)) {
            node = id;
            break;
        }
        if !program.dag.node(id).is_branching() && !std::mem::replace(&mut seen[id.index()], true) {
            let children: Vec<NodeId> = program.dag.node(id).children().collect();
            todo.extend(children.into_iter().rev());
        }
    }
    let text = display(program, node);
    if program.dag.node(node).is_future() {
        return Unsupported::construct(node, format!("`{text}` is about a path: put `A` or `E` before it"));
    }
    Unsupported::construct(node, format!("`{text}` looks back along a path, and a state has many"))
        .help("put `A` or `E` before a formula that looks ahead: `A G (q -> O p)`; or ask it in linear time")
}

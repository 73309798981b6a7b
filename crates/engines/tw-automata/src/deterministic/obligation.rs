//! What a goal may owe to later positions, and what one position does to it.
//!
//! A residual is a truth function of *literals*: the future operators of the goal, and the atoms and past operators
//! that stand directly below a next. Reading a position replaces every literal by its progress, a function of the
//! atoms there and of literals again; ending the trace replaces it by its value there:
//!
//! | literal | progress | at the last position |
//! |---|---|---|
//! | atom | the atom | the atom |
//! | past operator | its value, from the atoms and the remembered bits | the same |
//! | `last` | false | true |
//! | `X f`, `N f` | f | false, true; f under repeat-last |
//! | `F f`, `G f` | f or `F f`, f and `G f` | f |
//! | `f U g`, `f W g` | g or (f and itself) | g, f or g |
//! | `f R g`, `f M g` | g and (f or itself) | g, f and g |
//!
//! Variables of the diagrams are the atoms, then the literals: what stands above the first literal is the choice that
//! a position makes, what stands below is the residual it leads to.

use super::Stop;
use super::progress::connective;
use crate::alternating::{Refused, refusal};
use crate::diagram::{Diagram, Diagrams, Full, VARIABLES};
use crate::past::Past;
use rustc_hash::FxHashMap;
use std::sync::Arc;
use tw_ir::{Applied, Form, Node, NodeId, Program};

/// A goal taken apart.
#[derive(Clone, Debug)]
pub(super) struct Obligations {
    pub(super) program: Arc<Program>,
    /// The past operators of the goal.
    pub(super) past: Past,
    /// The atoms of the program that the goal uses, ascending; their places here are their variables.
    pub(super) atoms: Vec<u32>,
    /// Subformulas that do not stand below a past operator, operands first; the goal is the last.
    pub(super) formulas: Vec<Formula>,
    /// Indices of the formulas that are literals, ascending.
    pub(super) literals: Vec<usize>,
    /// For each literal, which past operators it contains. All of them, where they are too many for a word.
    memories: Vec<u64>,
    pub(super) repeat_last: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Formula {
    node: NodeId,
    pub(super) kind: Kind,
    /// Its variable, if it is a literal.
    literal: Option<u32>,
}

/// Operands are indices of formulas.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    Constant(bool),
    /// The variable of an atom.
    Atom(u32),
    /// A past operator, by its memory.
    Past(usize),
    Last,
    Not(usize),
    And(usize, usize),
    Or(usize, usize),
    Xor(usize, usize),
    /// `X`, or `N` if weak.
    Next(usize, bool),
    /// `F f` as `true U f`, and so on: holds with g, or with f and itself; weak if f for ever will do.
    Until(Option<usize>, usize, bool),
    /// Holds with g and one of f and itself; weak if g for ever will do.
    Release(Option<usize>, usize, bool),
    /// `f -> g`, `f <-> g`.
    Implies(usize, usize),
    Iff(usize, usize),
}

impl Obligations {
    pub(super) fn new(
        program: &Arc<Program>,
        all_atoms: &[NodeId],
        goal: NodeId,
        repeat_last: bool,
    ) -> Result<Self, Stop> {
        let past = Past::among(program, all_atoms, &[goal])?;
        // Subformulas, not looking below atoms and past operators.
        let (mut todo, mut found) = (vec![goal], std::collections::BTreeSet::new());
        while let Some(id) = todo.pop() {
            let node = program.dag.node(id);
            if found.insert(id) && all_atoms.binary_search(&id).is_err() {
                if let Some(what) = refusal(node) {
                    return Err(Refused { node: id, what }.into());
                }
                if past.atom(id).is_none() {
                    todo.extend(node.children());
                }
            }
        }
        let mut atoms: Vec<u32> = Vec::new();
        for id in program.reachable(&[goal]) {
            atoms.extend(all_atoms.binary_search(&id).ok().map(|atom| atom as u32));
        }
        let mut obligations = Self {
            program: program.clone(),
            past,
            atoms,
            formulas: Vec::with_capacity(found.len()),
            literals: Vec::new(),
            memories: Vec::new(),
            repeat_last,
        };
        let mut index: FxHashMap<NodeId, usize> = FxHashMap::default();
        for node in found {
            let kind = obligations.kind(node, all_atoms, &index);
            index.insert(node, obligations.formulas.len());
            obligations.formulas.push(Formula { node, kind, literal: None });
        }
        obligations.number_literals();
        let variables = obligations.atoms.len() + obligations.literals.len();
        if variables > VARIABLES {
            return Err(Stop::Budget(format!("{variables} atoms and obligations, more than {VARIABLES}")));
        }
        Ok(obligations)
    }

    fn kind(&self, id: NodeId, all_atoms: &[NodeId], index: &FxHashMap<NodeId, usize>) -> Kind {
        if let Ok(atom) = all_atoms.binary_search(&id) {
            let variable = self.atoms.partition_point(|&other| other < atom as u32);
            return Kind::Atom(variable as u32);
        }
        if let Some(atom) = self.past.atom(id) {
            return Kind::Past(atom as usize - all_atoms.len());
        }
        let of = |id: NodeId| index[&id];
        let node = self.program.dag.node(id);
        if let Some(Applied { form, weak, left, right, .. }) = node.temporal() {
            return match form {
                Form::Step => Kind::Next(of(right), weak),
                Form::Until => Kind::Until(left.map(of), of(right), weak),
                Form::Release => Kind::Release(left.map(of), of(right), weak),
            };
        }
        match node {
            Node::Bool(value) => Kind::Constant(value),
            Node::Last => Kind::Last,
            Node::Not(a) => Kind::Not(of(a)),
            Node::And(a, b) => Kind::And(of(a), of(b)),
            Node::Or(a, b) => Kind::Or(of(a), of(b)),
            Node::Xor(a, b) => Kind::Xor(of(a), of(b)),
            Node::Implies(a, b) => Kind::Implies(of(a), of(b)),
            Node::Iff(a, b) => Kind::Iff(of(a), of(b)),
            _ => unreachable!("refused before"),
        }
    }

    /// Looping operators may be owed, and what the goal and the operands of next are made of.
    fn number_literals(&mut self) {
        let mut owed = vec![false; self.formulas.len()];
        if let Some(goal) = owed.last_mut() {
            *goal = true;
        }
        for index in (0..self.formulas.len()).rev() {
            match self.formulas[index].kind {
                Kind::Next(a, _) => owed[a] = true,
                Kind::Not(a) if owed[index] => owed[a] = true,
                Kind::And(a, b)
                | Kind::Or(a, b)
                | Kind::Xor(a, b)
                | Kind::Implies(a, b)
                | Kind::Iff(a, b)
                    if owed[index] =>
                {
                    (owed[a], owed[b]) = (true, true);
                }
                _ => {}
            }
        }
        // Which past operators each formula contains.
        let few = self.past.memories().len() <= 64;
        let mut within = vec![0u64; self.formulas.len()];
        for index in 0..self.formulas.len() {
            let Formula { node, kind, .. } = self.formulas[index];
            within[index] = match kind {
                _ if !few => u64::MAX,
                Kind::Past(_) => {
                    let inside = self.program.reachable(&[node]);
                    let memories = self.past.memories().iter().enumerate();
                    memories
                        .filter(|(_, memory)| inside.binary_search(&memory.node).is_ok())
                        .fold(0, |mask, (index, _)| mask | 1 << index)
                }
                Kind::Constant(_) | Kind::Atom(_) | Kind::Last => 0,
                Kind::Not(a) | Kind::Next(a, _) | Kind::Until(None, a, _) | Kind::Release(None, a, _) => {
                    within[a]
                }
                Kind::And(a, b)
                | Kind::Or(a, b)
                | Kind::Xor(a, b)
                | Kind::Implies(a, b)
                | Kind::Iff(a, b) => within[a] | within[b],
                Kind::Until(Some(a), b, _) | Kind::Release(Some(a), b, _) => within[a] | within[b],
            };
            let literal = match kind {
                Kind::Until(..) | Kind::Release(..) => true,
                Kind::Atom(_) | Kind::Past(_) | Kind::Last | Kind::Next(..) => owed[index],
                _ => false,
            };
            if literal {
                self.formulas[index].literal = Some((self.atoms.len() + self.literals.len()) as u32);
                self.literals.push(index);
                self.memories.push(within[index]);
            }
        }
    }

    /// Whether the goal is safe and whether its negation is, going by its operators: a word violates a safe formula
    /// exactly if the residual becomes false on the way. (A run of the alternating automaton, all of whose loops
    /// accept, fails to exist exactly if all runs of some length do.)
    pub(super) fn safe(&self) -> [bool; 2] {
        let mut safe: Vec<[bool; 2]> = Vec::with_capacity(self.formulas.len());
        let both = |[a, not_a]: [bool; 2], [b, not_b]: [bool; 2]| [a && b, not_a && not_b];
        let negated = |[a, not_a]: [bool; 2]| [not_a, a];
        for formula in &self.formulas {
            safe.push(match formula.kind {
                Kind::Constant(_) | Kind::Atom(_) | Kind::Past(_) | Kind::Last => [true; 2],
                Kind::Not(a) => negated(safe[a]),
                Kind::And(a, b) | Kind::Or(a, b) => both(safe[a], safe[b]),
                Kind::Implies(a, b) => both(negated(safe[a]), safe[b]),
                Kind::Xor(a, b) | Kind::Iff(a, b) => [safe[a] == [true; 2] && safe[b] == [true; 2]; 2],
                Kind::Next(a, _) => safe[a],
                Kind::Until(a, b, weak) | Kind::Release(a, b, weak) => {
                    let [holds, fails] = a.map_or(safe[b], |a| both(safe[a], safe[b]));
                    [holds && weak, fails && !weak]
                }
            });
        }
        safe.last().copied().unwrap_or([true; 2])
    }

    /// Number of literals.
    pub(super) fn literals(&self) -> usize {
        self.literals.len()
    }

    /// The formula that a variable stands for.
    pub(super) fn formula(&self, variable: u32) -> NodeId {
        self.formulas[self.literals[variable as usize - self.atoms.len()]].node
    }

    /// Which past operators a literal contains.
    pub(super) fn memories(&self, variable: u32) -> u64 {
        self.memories[variable as usize - self.atoms.len()]
    }

    /// Each formula as a function of literals: what is owed when it is to hold at the next position.
    pub(super) fn owed(&self, diagrams: &mut Diagrams) -> Result<Vec<Diagram>, Full> {
        let mut owed: Vec<Diagram> = Vec::with_capacity(self.formulas.len());
        for formula in &self.formulas {
            let value = match (formula.literal, formula.kind) {
                (Some(variable), _) => diagrams.variable(variable)?,
                // Never owed by itself.
                (None, Kind::Atom(_) | Kind::Past(_) | Kind::Last | Kind::Next(..)) => Diagram::FALSE,
                (None, kind) => connective(diagrams, kind, &owed)?,
            };
            owed.push(value);
        }
        Ok(owed)
    }
}

//! What the search has to know about expressions and nodes of the alternating automaton, kept as it grows.

use crate::alternating::{Alternating, Direction, Expr, ExprId, Label, NodeIndex};
use crate::past::Past;

/// What an expression rests on.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Traits {
    /// Past operators: bit `j` for memory `j`, the last bit for all from 127 on.
    pub memories: u128,
    /// Atoms, modulo 128.
    pub atoms: u128,
    /// Whether it holds a past operator that is not among those known.
    pub foreign: bool,
}

impl Traits {
    fn with(self, other: Traits) -> Traits {
        Traits {
            memories: self.memories | other.memories,
            atoms: self.atoms | other.atoms,
            foreign: self.foreign || other.foreign,
        }
    }

    /// Whether it rests on memory `j`.
    pub fn remembers(self, memory: usize) -> bool {
        self.memories >> memory.min(127) & 1 == 1
    }
}

/// Per expression and per node.
#[derive(Clone, Debug)]
pub(crate) struct Tables {
    pub past: Past,
    atoms: usize,
    traits: Vec<Traits>,
    /// For an expression that is the next automaton of a looping node, that node.
    loops: Vec<Option<NodeIndex>>,
    /// For each past node, its memory.
    memories: Vec<u32>,
}

impl Tables {
    pub fn new(past: Past, atoms: usize) -> Self {
        Self { past, atoms, traits: Vec::new(), loops: Vec::new(), memories: Vec::new() }
    }

    pub fn of(&self, expr: ExprId) -> Traits {
        self.traits[expr.index()]
    }

    /// Whether a past node holds, given what is remembered: what it stands for held at the previous position, or
    /// there is none and it accepts. This is what the operator's memory keeps.
    pub fn past_holds(&self, automaton: &Alternating, node: NodeIndex, memory: &[bool]) -> bool {
        let negated = automaton.node(node).origin.1;
        memory.get(self.memories[node.index()] as usize).is_some_and(|&kept| kept != negated)
    }

    /// The loop that an obligation may be put off with for ever, if it must not be.
    pub fn rejecting(&self, automaton: &Alternating, obligation: ExprId) -> Option<NodeIndex> {
        self.loops[obligation.index()].filter(|&node| !automaton.node(node).accepting)
    }

    /// Whether a loop leads back to this expression.
    pub fn is_loop(&self, expr: ExprId) -> bool {
        self.loops[expr.index()].is_some()
    }

    /// Takes in what was added to the automaton. Operands stand before what contains them, and wherever the loop node
    /// of an operator occurs its operands do, too: one pass finds everything.
    pub fn extend(&mut self, automaton: &Alternating) {
        let fresh = self.memories.len();
        for node in &automaton.nodes()[fresh..] {
            let memory = match node.direction {
                Direction::Past => self.past.atom(node.origin.0).map(|atom| atom - self.atoms as u32),
                Direction::State | Direction::Future => None,
            };
            self.memories.push(memory.unwrap_or(u32::MAX));
        }
        for &expr in &automaton.exprs()[self.traits.len()..] {
            let traits = match expr {
                Expr::True | Expr::False => Traits::default(),
                Expr::And(a, b) | Expr::Or(a, b) => self.of(a).with(self.of(b)),
                Expr::Node(index) => self.of_node(automaton, index),
            };
            self.traits.push(traits);
            self.loops.push(None);
        }
        for (index, node) in automaton.nodes().iter().enumerate().skip(fresh) {
            if node.looping && node.direction == Direction::Future {
                // `false U f` leads to f alone, whose own loop, an earlier node, is the one that counts.
                self.loops[node.delta.index()].get_or_insert(NodeIndex(index as u32));
            }
        }
    }

    fn of_node(&self, automaton: &Alternating, index: NodeIndex) -> Traits {
        let node = automaton.node(index);
        let mut traits = if node.looping { Traits::default() } else { self.of(node.delta) };
        if let Label::Atom(atom, _) = node.label {
            traits.atoms |= 1 << (atom % 128);
        }
        if node.direction == Direction::Past {
            match self.memories[index.index()] {
                u32::MAX => traits.foreign = true,
                memory => traits.memories |= 1 << memory.min(127),
            }
        }
        traits
    }

    /// The conjuncts, split at conjunctions, in groups that share no atom.
    pub fn components(&self, automaton: &Alternating, conjuncts: &[ExprId]) -> Vec<Vec<ExprId>> {
        let mut flat = Vec::new();
        let mut todo = conjuncts.to_vec();
        while let Some(id) = todo.pop() {
            match automaton.expr(id) {
                // A loop's own conjunction is kept whole: it is what the loop leads back to.
                Expr::And(a, b) if !self.is_loop(id) => todo.extend([a, b]),
                Expr::True => {}
                _ => flat.push(id),
            }
        }
        flat.sort_unstable();
        flat.dedup();
        let mut groups: Vec<(u128, Vec<ExprId>)> = Vec::new();
        for id in flat {
            let mut group = (self.of(id).atoms, vec![id]);
            // There are never more groups than bits, plus one for what has no atoms.
            let (touching, apart): (Vec<_>, Vec<_>) =
                groups.into_iter().partition(|&(atoms, _)| atoms & group.0 != 0 || atoms | group.0 == 0);
            for (atoms, members) in touching {
                group.0 |= atoms;
                group.1.extend(members);
            }
            groups = apart;
            groups.push(group);
        }
        groups.into_iter().map(|(_, members)| members).collect()
    }

    pub fn heap_bytes(&self) -> usize {
        self.traits.len() * (size_of::<Traits>() + size_of::<Option<NodeIndex>>()) + self.memories.len() * 4
    }
}

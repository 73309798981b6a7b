//! The past part of formulas, for engines that read forward: one bit of memory per past operator.
//!
//! Allowed is the restricted class of online monitoring: no future operator (and no `last`) inside a past one. Then
//! the truth of a past operator at a position follows from the atoms there and from one remembered bit:
//!
//! | operator | now | remembered | before the first position |
//! |---|---|---|---|
//! | `Y f`, `Z f` | memory | f | false, true |
//! | `O f`, `H f` | f or memory, f and memory | the operator | false, true |
//! | `f S g`, `f B g` | g or (f and memory) | the operator | false, true |
//! | `f T g` | g and (f or memory) | the operator | true |
//! | `first` | memory | false | true |
//!
//! To the rest of the formula, past operators are further atoms: atom `A + j` is the operator of memory `j`, where `A`
//! is the number of the program's atoms.

use crate::alternating::Refused;
use rustc_hash::FxHashMap;
use tw_ir::{Applied, Form, Node, NodeId, Program};

/// Truth values of some kind: bits, or functions of atoms.
pub trait Algebra {
    /// A truth value.
    type Value: Clone;
    /// A constant.
    fn constant(&mut self, value: bool) -> Self::Value;
    /// Negation.
    fn not(&mut self, a: &Self::Value) -> Self::Value;
    /// Conjunction.
    fn and(&mut self, a: &Self::Value, b: &Self::Value) -> Self::Value;
    /// Disjunction.
    fn or(&mut self, a: &Self::Value, b: &Self::Value) -> Self::Value;
    /// Exclusive or.
    fn xor(&mut self, a: &Self::Value, b: &Self::Value) -> Self::Value;
}

/// Plain truth values.
pub struct Bools;

impl Algebra for Bools {
    type Value = bool;
    fn constant(&mut self, value: bool) -> bool {
        value
    }
    fn not(&mut self, a: &bool) -> bool {
        !a
    }
    fn and(&mut self, a: &bool, b: &bool) -> bool {
        *a && *b
    }
    fn or(&mut self, a: &bool, b: &bool) -> bool {
        *a || *b
    }
    fn xor(&mut self, a: &bool, b: &bool) -> bool {
        a != b
    }
}

/// One past operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// The operator.
    pub node: NodeId,
    /// What is remembered before the first position.
    pub initial: bool,
}

/// A straight-line program; the result of a step is the register of its number.
#[derive(Clone, Copy, Debug)]
enum Step {
    Constant(bool),
    Atom(u32),
    Not(u32),
    And(u32, u32),
    Or(u32, u32),
    Xor(u32, u32),
    /// `Y Z`: the value now is the memory, the operand is remembered.
    Previous(u32, u32),
    First(u32),
    /// g or (f and memory); with f missing, g or memory.
    Since(u32, Option<u32>, u32),
    /// g and (f or memory); with f missing, g and memory.
    Trigger(u32, Option<u32>, u32),
}

/// The past operators of some formulas, ready to run forward.
#[derive(Clone, Debug, Default)]
pub struct Past {
    memories: Vec<Memory>,
    steps: Vec<Step>,
    index: FxHashMap<NodeId, u32>,
    atoms: u32,
}

impl Past {
    /// The past operators that the goals contain. Refuses a future operator inside a past one.
    pub fn new(program: &Program, goals: &[NodeId]) -> Result<Self, Refused> {
        Self::among(program, &program.atoms(), goals)
    }

    /// As [`Past::new`], where the program's atoms are known: it has many formulas, and these are few of them.
    pub fn among(program: &Program, atoms: &[NodeId], goals: &[NodeId]) -> Result<Self, Refused> {
        let reachable = program.reachable(goals);
        // What stands below a past operator, by its place.
        let mut below = vec![false; reachable.len()];
        for (place, &id) in reachable.iter().enumerate().rev() {
            let node = program.dag.node(id);
            if (below[place] || node.is_past()) && atoms.binary_search(&id).is_err() {
                for child in node.children() {
                    reachable.binary_search(&child).into_iter().for_each(|child| below[child] = true);
                }
            }
        }
        let mut past = Past { atoms: atoms.len() as u32, ..Past::default() };
        let mut registers: FxHashMap<NodeId, u32> = FxHashMap::default();
        for (place, &id) in reachable.iter().enumerate() {
            let node = program.dag.node(id);
            if !(below[place] || node.is_past() || node == Node::First) {
                continue;
            }
            if let Ok(atom) = atoms.binary_search(&id) {
                past.push(&mut registers, id, Step::Atom(atom as u32));
                continue;
            }
            if node.interval().is_some() {
                return Err(Refused { node: id, what: "intervals on temporal operators" });
            }
            if node.is_future() || node == Node::Last {
                let what = "future operators inside past ones while reading forward";
                return Err(Refused { node: id, what });
            }
            past.operator(&mut registers, id, node)?;
        }
        Ok(past)
    }

    fn push(&mut self, registers: &mut FxHashMap<NodeId, u32>, id: NodeId, step: Step) {
        self.steps.push(step);
        registers.insert(id, (self.steps.len() - 1) as u32);
    }

    fn operator(
        &mut self,
        registers: &mut FxHashMap<NodeId, u32>,
        id: NodeId,
        node: Node,
    ) -> Result<(), Refused> {
        use Node::*;
        let mut remember = |initial: bool| {
            self.memories.push(Memory { node: id, initial });
            let memory = (self.memories.len() - 1) as u32;
            self.index.insert(id, memory);
            memory
        };
        if let Some(Applied { form, weak, left, right, .. }) = node.temporal() {
            let (memory, left, right) =
                (remember(weak), left.map(|left| registers[&left]), registers[&right]);
            let step = match form {
                Form::Step => Step::Previous(memory, right),
                Form::Until => Step::Since(memory, left, right),
                Form::Release => Step::Trigger(memory, left, right),
            };
            self.push(registers, id, step);
            return Ok(());
        }
        let step = match node {
            Bool(value) => Step::Constant(value),
            First => Step::First(remember(true)),
            Not(a) => Step::Not(registers[&a]),
            And(a, b) => Step::And(registers[&a], registers[&b]),
            Or(a, b) => Step::Or(registers[&a], registers[&b]),
            Xor(a, b) => Step::Xor(registers[&a], registers[&b]),
            Implies(a, b) | Iff(a, b) => {
                let (a, b) = (registers[&a], registers[&b]);
                let first = if matches!(node, Iff(..)) { Step::Xor(a, b) } else { Step::Not(a) };
                self.steps.push(first);
                let first = (self.steps.len() - 1) as u32;
                if matches!(node, Iff(..)) { Step::Not(first) } else { Step::Or(first, b) }
            }
            Forall(..) | Exists(..) | Variable(_) => {
                return Err(Refused { node: id, what: "quantified variables" });
            }
            Pattern(_) => return Err(Refused { node: id, what: "event patterns with variables" }),
            Tally(..) => return Err(Refused { node: id, what: "aggregates over valuations" }),
            _ => return Err(Refused { node: id, what: "predicates over temporal formulas" }),
        };
        self.push(registers, id, step);
        Ok(())
    }

    /// The past operators, subformulas first.
    pub fn memories(&self) -> &[Memory] {
        &self.memories
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.memories.is_empty()
    }

    /// The atom that stands for a past operator in the rest of the formula.
    pub fn atom(&self, node: NodeId) -> Option<u32> {
        self.index.get(&node).map(|memory| self.atoms + memory)
    }

    /// What each operator is worth at a position, and what is remembered after it.
    pub fn evaluate<A: Algebra>(
        &self,
        algebra: &mut A,
        atom: impl Fn(&mut A, u32) -> A::Value,
        memory: &[A::Value],
    ) -> (Vec<A::Value>, Vec<A::Value>) {
        let mut registers: Vec<A::Value> = Vec::with_capacity(self.steps.len());
        let (mut now, mut next) = (memory.to_vec(), memory.to_vec());
        for &step in &self.steps {
            let get = |register: u32| &registers[register as usize];
            let value = match step {
                Step::Constant(value) => algebra.constant(value),
                Step::Atom(index) => atom(algebra, index),
                Step::Not(a) => algebra.not(get(a)),
                Step::And(a, b) => algebra.and(get(a), get(b)),
                Step::Or(a, b) => algebra.or(get(a), get(b)),
                Step::Xor(a, b) => algebra.xor(get(a), get(b)),
                Step::Previous(m, a) => {
                    next[m as usize] = get(a).clone();
                    memory[m as usize].clone()
                }
                Step::First(m) => {
                    next[m as usize] = algebra.constant(false);
                    memory[m as usize].clone()
                }
                Step::Since(m, f, g) => {
                    let kept = match f {
                        Some(f) => algebra.and(get(f), &memory[m as usize]),
                        None => memory[m as usize].clone(),
                    };
                    let value = algebra.or(get(g), &kept);
                    next[m as usize] = value.clone();
                    value
                }
                Step::Trigger(m, f, g) => {
                    let kept = match f {
                        Some(f) => algebra.or(get(f), &memory[m as usize]),
                        None => memory[m as usize].clone(),
                    };
                    let value = algebra.and(get(g), &kept);
                    next[m as usize] = value.clone();
                    value
                }
            };
            if let Step::Previous(m, _) | Step::First(m) | Step::Since(m, ..) | Step::Trigger(m, ..) = step {
                now[m as usize] = value.clone();
            }
            registers.push(value);
        }
        (now, next)
    }

    /// As [`Past::evaluate`] on plain truth values: `row` holds the atoms, packed 64 to a word.
    pub fn advance(&self, row: &[u64], memory: &[bool]) -> (Vec<bool>, Vec<bool>) {
        self.evaluate(&mut Bools, |_, atom| row[atom as usize / 64] >> (atom % 64) & 1 == 1, memory)
    }

    /// What is remembered before the first position.
    pub fn origin(&self) -> Vec<bool> {
        self.memories.iter().map(|memory| memory.initial).collect()
    }
}

//! Modules as written.

use super::table::Rows;
use rustc_hash::FxHashMap;
use tw_core::Value;

/// What is wrong, and where.
#[derive(Debug)]
pub(super) struct Error {
    /// Byte in the text.
    pub at: u32,
    pub message: String,
}

impl Error {
    pub fn new(at: u32, message: impl Into<String>) -> Self {
        Self { at, message: message.into() }
    }
}

/// Index of a [`Node`].
pub(super) type Id = u32;

/// Kind of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    /// A number: its halves are `a` and `b`.
    Int,
    True,
    False,
    /// A name: `a` is its number.
    Name,
    Not,
    Negate,
    Next,
    And,
    Or,
    Xor,
    Xnor,
    Implies,
    Iff,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    In,
    Union,
    Range,
    /// If `a` then `b` else `c`; a `case` is a chain of them.
    If,
    /// No case applies.
    Nothing,
}

/// An expression; parts stand before the whole.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub op: Op,
    pub at: u32,
    pub a: Id,
    pub b: Id,
    pub c: Id,
}

impl Node {
    /// The number that this is.
    pub fn int(&self) -> i64 {
        (u64::from(self.a) | u64::from(self.b) << 32) as i64
    }

    /// How many parts it has.
    pub fn parts(&self) -> usize {
        match self.op {
            Op::Int | Op::True | Op::False | Op::Name | Op::Nothing => 0,
            Op::Not | Op::Negate | Op::Next => 1,
            Op::If => 3,
            _ => 2,
        }
    }
}

/// A value of an enumeration, as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Symbol {
    Int(i64),
    Name(u32),
}

/// The type of a variable.
#[derive(Clone, Debug)]
pub(super) enum Type {
    Boolean,
    Range(i64, i64),
    /// In the order of their numbers, which is the reverse of the text's.
    Values(Vec<Symbol>),
}

/// A declared variable.
#[derive(Clone, Debug)]
pub(super) struct Declared {
    pub name: u32,
    pub kind: Type,
    pub frozen: bool,
    pub at: u32,
}

/// Which part of an assignment's variable is assigned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    Init,
    Next,
    Always,
}

/// `next(x) := e`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Assign {
    pub when: When,
    pub name: u32,
    pub value: Id,
    pub at: u32,
}

/// What a section asks for.
#[derive(Debug)]
pub(super) enum Constraint {
    Formula(Id),
    /// A disjunction of valuations, as mergers write them.
    Rows(Rows),
}

/// A formula for the checker, in the language of specifications.
#[derive(Debug)]
pub(super) struct Spec {
    pub linear: bool,
    pub text: String,
    pub at: u32,
}

/// A module.
#[derive(Debug, Default)]
pub(super) struct Module<'t> {
    pub nodes: Vec<Node>,
    /// Names by number.
    pub names: Vec<&'t str>,
    pub numbers: FxHashMap<&'t str, u32>,
    pub variables: Vec<Declared>,
    /// Name, expression, place.
    pub defines: Vec<(u32, Id, u32)>,
    pub init: Vec<Constraint>,
    pub trans: Vec<Constraint>,
    pub invar: Vec<Id>,
    /// Symbols beside those of enumerations.
    pub constants: Vec<u32>,
    pub assigns: Vec<Assign>,
    pub fairness: Vec<Spec>,
    pub specs: Vec<Spec>,
    /// Names that stand for values which the language cannot name.
    pub changed: Vec<(&'t str, Value)>,
}

impl<'t> Module<'t> {
    /// The number of a name.
    pub fn name(&mut self, name: &'t str) -> u32 {
        let next = self.names.len() as u32;
        let number = *self.numbers.entry(name).or_insert(next);
        if number == next {
            self.names.push(name);
        }
        number
    }

    pub fn push(&mut self, op: Op, at: u32, a: Id, b: Id, c: Id) -> Id {
        self.nodes.push(Node { op, at, a, b, c });
        self.nodes.len() as Id - 1
    }

    pub fn node(&self, id: Id) -> Node {
        self.nodes[id as usize]
    }
}

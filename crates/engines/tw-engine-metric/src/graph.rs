//! Formulas reduced to what the kernels can do.
//!
//! Edges carry a negation bit ([`Lit`]), so that duals need no operation of their own, and the future is the past read
//! from the end: conjunction, exclusive or, a shift by one position and `hold S[I] goal` are all that is left of the
//! connectives and fifteen temporal operators. Equal operations are stored once, operands before their users.

use rustc_hash::FxHashMap;
use std::ops::Not;
use tw_ir::Ticks;

/// An operation or its negation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Lit(u32);

impl Lit {
    pub(crate) const FALSE: Lit = Lit(0);
    pub(crate) const TRUE: Lit = Lit(1);

    /// Index of the operation.
    pub(crate) fn op(self) -> usize {
        (self.0 >> 1) as usize
    }

    pub(crate) fn is_negated(self) -> bool {
        self.0 & 1 == 1
    }
}

impl Not for Lit {
    type Output = Lit;
    fn not(self) -> Lit {
        Lit(self.0 ^ 1)
    }
}

/// One operation. Temporal ones look at the past, or (`back`) at the future.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Op {
    /// False everywhere; always operation 0.
    False,
    /// A column of the trace.
    Atom(u32),
    /// The first position of each segment.
    First,
    /// The last position of each segment.
    Last,
    /// Both.
    And(Lit, Lit),
    /// Not equal.
    Xor(Lit, Lit),
    /// The operand at the neighbour, if its distance lies inside; with `repeat` the last position is its own
    /// neighbour.
    Shift { back: bool, body: Lit, ticks: Option<Ticks>, repeat: bool },
    /// `hold S goal`, or `hold U goal`.
    Since { back: bool, hold: Lit, goal: Lit, ticks: Option<Ticks> },
}

impl Op {
    /// The operands that are read: `true` on the left of a temporal operator is not.
    pub(crate) fn operands(self) -> impl Iterator<Item = Lit> {
        let (a, b) = match self {
            Op::False | Op::Atom(_) | Op::First | Op::Last => (None, None),
            Op::And(a, b) | Op::Xor(a, b) => (Some(a), Some(b)),
            Op::Shift { body, .. } => (Some(body), None),
            Op::Since { hold, goal, .. } => (Some(hold).filter(|&hold| hold != Lit::TRUE), Some(goal)),
        };
        [a, b].into_iter().flatten()
    }

    /// The interval, if it leaves anything out.
    pub(crate) fn ticks(self) -> Option<Ticks> {
        match self {
            Op::Shift { ticks, .. } | Op::Since { ticks, .. } => ticks,
            _ => None,
        }
    }
}

/// The operations of a program, simplified while they are added.
#[derive(Clone, Debug)]
pub(crate) struct Graph {
    ops: Vec<Op>,
    index: FxHashMap<Op, u32>,
}

impl Graph {
    pub(crate) fn new() -> Self {
        let mut graph = Graph { ops: Vec::new(), index: FxHashMap::default() };
        graph.add(Op::False);
        graph
    }

    /// All operations, operands first.
    pub(crate) fn ops(&self) -> &[Op] {
        &self.ops
    }

    /// The operation, made if it is new.
    pub(crate) fn add(&mut self, op: Op) -> Lit {
        let index = *self.index.entry(op).or_insert_with(|| {
            self.ops.push(op);
            (self.ops.len() - 1) as u32
        });
        Lit(index << 1)
    }

    pub(crate) fn and(&mut self, a: Lit, b: Lit) -> Lit {
        let (a, b) = (a.min(b), a.max(b));
        match (a, b) {
            (Lit::FALSE, _) => Lit::FALSE,
            (Lit::TRUE, b) => b,
            (a, b) if a == b => a,
            (a, b) if a == !b => Lit::FALSE,
            (a, b) => self.add(Op::And(a, b)),
        }
    }

    pub(crate) fn or(&mut self, a: Lit, b: Lit) -> Lit {
        !self.and(!a, !b)
    }

    pub(crate) fn xor(&mut self, a: Lit, b: Lit) -> Lit {
        // Negations move outwards, so that `!a ^ b` and `a ^ b` are one operation.
        let negated = a.is_negated() != b.is_negated();
        let (a, b) = (Lit(a.0 & !1), Lit(b.0 & !1));
        let (a, b) = (a.min(b), a.max(b));
        let differ = match (a, b) {
            (a, b) if a == b => Lit::FALSE,
            (Lit::FALSE, b) => b,
            (a, b) => self.add(Op::Xor(a, b)),
        };
        if negated { !differ } else { differ }
    }

    pub(crate) fn shift(&mut self, back: bool, body: Lit, ticks: Option<Ticks>, repeat: bool) -> Lit {
        if body == Lit::FALSE {
            return Lit::FALSE;
        }
        self.add(Op::Shift { back, body, ticks: narrower(ticks), repeat })
    }

    pub(crate) fn since(&mut self, back: bool, hold: Lit, goal: Lit, ticks: Option<Ticks>) -> Lit {
        let ticks = narrower(ticks);
        let here = ticks.is_none_or(|ticks| ticks.low == 0);
        match (hold, goal) {
            (_, Lit::FALSE) => Lit::FALSE,
            (_, Lit::TRUE) if here => Lit::TRUE,
            // What never holds reaches no further than the position itself.
            (Lit::FALSE, goal) => {
                if here {
                    goal
                } else {
                    Lit::FALSE
                }
            }
            _ => self.add(Op::Since { back, hold, goal, ticks }),
        }
    }
}

/// An interval that leaves something out.
fn narrower(ticks: Option<Ticks>) -> Option<Ticks> {
    ticks.filter(|&ticks| ticks != Ticks { low: 0, high: i64::MAX })
}

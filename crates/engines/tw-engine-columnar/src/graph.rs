//! Formulas reduced to what the kernels can do.
//!
//! Edges carry a negation bit ([`Lit`]), so that duals need no operation of their own: with `¬` free on every edge,
//! conjunction, exclusive or, a shift by one, the chain `r = now | hold & r'` and the fill "some position up to here"
//! are all that is left of the connectives and fifteen temporal operators. Equal operations are stored once, operands
//! before their users.

use rustc_hash::FxHashMap;
use std::ops::Not;

/// An operation or its negation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Lit(u32);

impl Lit {
    pub(crate) const FALSE: Lit = Lit(0);
    pub(crate) const TRUE: Lit = Lit(1);

    pub(crate) fn new(op: usize, negated: bool) -> Self {
        Lit((op as u32) << 1 | u32::from(negated))
    }

    /// Index of the operation.
    pub(crate) fn op(self) -> usize {
        (self.0 >> 1) as usize
    }

    pub(crate) fn is_negated(self) -> bool {
        self.0 & 1 == 1
    }

    /// The operation without its negation.
    fn positive(self) -> Lit {
        Lit(self.0 & !1)
    }
}

impl Not for Lit {
    type Output = Lit;
    fn not(self) -> Lit {
        Lit(self.0 ^ 1)
    }
}

/// Which way information flows: from the first position on (past operators) or from the last one back (future).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Direction {
    /// Past operators.
    Forward,
    /// Future operators.
    Backward,
}

/// One operation. "Before" is the previous position going forward and the next one going backward; "the edge" is
/// where there is none.
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
    /// Not equal. Operands carry no negation.
    Xor(Lit, Lit),
    /// The operand before; at the edge false, or with `repeat` the operand itself.
    Shift { direction: Direction, body: Lit, repeat: bool },
    /// `now | hold & (itself before)`; at the edge `now`, or with `weak` `now | hold`.
    Chain { direction: Direction, hold: Lit, now: Lit, weak: bool },
    /// Whether the operand holds here or anywhere before.
    Fill { direction: Direction, body: Lit },
}

impl Op {
    /// The operands.
    pub(crate) fn operands(self) -> impl Iterator<Item = Lit> {
        let (a, b) = match self {
            Op::False | Op::Atom(_) | Op::First | Op::Last => (None, None),
            Op::And(a, b) | Op::Xor(a, b) => (Some(a), Some(b)),
            Op::Shift { body, .. } | Op::Fill { body, .. } => (Some(body), None),
            Op::Chain { hold, now, .. } => (Some(hold), Some(now)),
        };
        [a, b].into_iter().flatten()
    }

    /// The direction of a temporal operation.
    pub(crate) fn direction(self) -> Option<Direction> {
        match self {
            Op::Shift { direction, .. } | Op::Chain { direction, .. } | Op::Fill { direction, .. } => {
                Some(direction)
            }
            _ => None,
        }
    }

    /// Whether the operation is read rather than computed.
    pub(crate) fn is_source(self) -> bool {
        matches!(self, Op::False | Op::Atom(_) | Op::First | Op::Last)
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

    fn add(&mut self, op: Op) -> Lit {
        let ops = &mut self.ops;
        let index = *self.index.entry(op).or_insert_with(|| {
            ops.push(op);
            (ops.len() - 1) as u32
        });
        Lit::new(index as usize, false)
    }

    pub(crate) fn atom(&mut self, index: u32) -> Lit {
        self.add(Op::Atom(index))
    }

    pub(crate) fn first(&mut self) -> Lit {
        self.add(Op::First)
    }

    pub(crate) fn last(&mut self) -> Lit {
        self.add(Op::Last)
    }

    pub(crate) fn and(&mut self, a: Lit, b: Lit) -> Lit {
        let (a, b) = if a <= b { (a, b) } else { (b, a) };
        if a == Lit::FALSE || a == !b {
            Lit::FALSE
        } else if a == Lit::TRUE || a == b {
            b
        } else {
            self.add(Op::And(a, b))
        }
    }

    pub(crate) fn or(&mut self, a: Lit, b: Lit) -> Lit {
        !self.and(!a, !b)
    }

    pub(crate) fn xor(&mut self, a: Lit, b: Lit) -> Lit {
        let negated = a.is_negated() ^ b.is_negated();
        let (a, b) = (a.positive(), b.positive());
        let (a, b) = if a <= b { (a, b) } else { (b, a) };
        let xor = if a == b {
            Lit::FALSE
        } else if a == Lit::FALSE {
            b
        } else {
            self.add(Op::Xor(a, b))
        };
        if negated { !xor } else { xor }
    }

    /// `X`/`Y`, or with `repeat` the next of the semantics that repeats the last position.
    pub(crate) fn shift(&mut self, direction: Direction, body: Lit, repeat: bool) -> Lit {
        if repeat {
            // Its own dual, so the negation can stand outside.
            let positive = body.positive();
            let shifted = if positive == Lit::FALSE {
                Lit::FALSE
            } else {
                self.add(Op::Shift { direction, body: positive, repeat })
            };
            return if body.is_negated() { !shifted } else { shifted };
        }
        match (body, direction) {
            (Lit::FALSE, _) => Lit::FALSE,
            (Lit::TRUE, Direction::Forward) => !self.first(),
            (Lit::TRUE, Direction::Backward) => !self.last(),
            _ => self.add(Op::Shift { direction, body, repeat }),
        }
    }

    /// `F`/`O`.
    pub(crate) fn fill(&mut self, direction: Direction, body: Lit) -> Lit {
        if body == Lit::FALSE || body == Lit::TRUE {
            return body;
        }
        // "Some time before, some time before" is "some time before". Not so under a negation: `F G` is not `G`.
        let inner = self.ops[body.op()].direction();
        if !body.is_negated() && inner == Some(direction) && matches!(self.ops[body.op()], Op::Fill { .. }) {
            return body;
        }
        self.add(Op::Fill { direction, body })
    }

    /// `U`/`S`, weak `W`/`B`.
    pub(crate) fn chain(&mut self, direction: Direction, hold: Lit, now: Lit, weak: bool) -> Lit {
        if now == Lit::TRUE || hold == now || hold == Lit::FALSE {
            return now;
        }
        // Holding until it is there is no more than waiting for it.
        let hold = if hold == !now { Lit::TRUE } else { hold };
        match (weak, hold, now) {
            (true, Lit::TRUE, _) => Lit::TRUE,
            (false, Lit::TRUE, _) => self.fill(direction, now),
            (false, _, Lit::FALSE) => Lit::FALSE,
            (true, _, Lit::FALSE) => !self.fill(direction, !hold),
            _ => self.add(Op::Chain { direction, hold, now, weak }),
        }
    }
}

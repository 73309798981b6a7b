//! Random terms and formulas for queries.

use super::generate::{ARITHMETIC, Maker, Sort};
use super::slots::{ANY, FLAG, HALVES, LARGE, MIXED, NAME, NAMES, PROPOSITIONS, SMALL, TAGS, WILD};
use crate::generate::{readable_forward, temporals};
use tw_core::Value;
use tw_ir::{ArithmeticOp, CompareOp, Node, NodeId, Temporal};

impl Maker<'_> {
    /// The `c` of `!{c}`: a constant as a user must write it, now and then a term as the IR allows.
    pub(super) fn instead(&mut self, sort: Sort) -> NodeId {
        let depth = usize::from(self.rng.one_in(8));
        self.term(depth, sort)
    }

    /// A term without slots at depth 0.
    pub(super) fn term(&mut self, depth: usize, sort: Sort) -> NodeId {
        let sort = self.sort(sort);
        if sort == Sort::Number {
            return self.number(depth);
        }
        if depth == 0 {
            let value = match self.rng.below(10) {
                0 => Value::Null,
                1..4 => Value::Bool(self.rng.one_in(2)),
                4..7 => Value::text(self.rng.pick(&NAMES)),
                _ => Value::Real(self.rng.below(9) as f64 / 2.0),
            };
            return self.program.dag.constant(value);
        }
        match self.rng.below(9) {
            0 | 1 => self.add(Node::Slot(NAME)),
            2 => self.add(Node::Slot(ANY)),
            3 => self.add(Node::Slot(FLAG)),
            4 => {
                let (a, b) = (self.term(depth - 1, Sort::Any), self.term(depth - 1, Sort::Any));
                self.add(Node::Tuple(a, b))
            }
            5 => {
                let condition = self.predicate();
                let (yes, no) = (Value::Bool(true), Value::Bool(false));
                let (yes, no) = (self.program.dag.constant(yes), self.program.dag.constant(no));
                self.add(Node::IfThenElse(condition, yes, no))
            }
            6 if self.rng.one_in(4) => self.add(Node::Slot(TAGS)),
            _ => self.term(0, Sort::Any),
        }
    }

    fn number(&mut self, depth: usize) -> NodeId {
        if depth == 0 {
            return match self.rng.below(4) {
                0 => self.program.dag.constant(Value::Real(self.rng.below(9) as f64 / 2.0 - 2.0)),
                1 if self.rng.one_in(20) => self.int(i64::MAX),
                _ => {
                    let int = self.rng.below(9) as i64 - 4;
                    self.int(int)
                }
            };
        }
        if self.rng.one_in(2) {
            let slot =
                self.rng.pick(&[SMALL, SMALL, SMALL, HALVES, HALVES, MIXED, MIXED, LARGE, LARGE, WILD, WILD]);
            return self.add(Node::Slot(slot));
        }
        let a = self.number(depth - 1);
        let node = match self.rng.below(9) {
            0 => Node::Negate(a),
            1 => Node::Abs(a),
            2 => {
                let condition = self.predicate();
                Node::IfThenElse(condition, a, self.number(depth - 1))
            }
            3 => return a,
            _ => {
                let slot = self.rng.pick(&[SMALL, HALVES, MIXED, LARGE, WILD]);
                let slot = self.add(Node::Slot(slot));
                Node::Arithmetic(self.rng.pick(&ARITHMETIC), slot, a)
            }
        };
        self.add(node)
    }

    /// A formula of depth up to 3, seldom constant.
    pub(super) fn guard(&mut self) -> NodeId {
        let depth = self.rng.pick(&[0, 0, 1, 2, 3]);
        self.formula(depth)
    }

    fn formula(&mut self, depth: usize) -> NodeId {
        if !self.formulas.is_empty() && self.rng.one_in(6) {
            return self.rng.pick(&self.formulas);
        }
        if depth == 0 {
            if self.rng.one_in(15) {
                let node = self.rng.pick(&[Node::First, Node::Last]);
                return self.add(node);
            }
            return self.predicate();
        }
        let a = self.formula(depth - 1);
        let (prefixes, infixes) = (temporals(true), temporals(false));
        let binary = 3 + prefixes.len();
        let choice = self.rng.below(binary + 5 + infixes.len());
        let node = match choice {
            0 | 1 => Node::Not(a),
            2 => Node::Unary(Temporal::Next, None, a),
            prefix if prefix < binary => Node::Unary(prefixes[prefix - 3], None, a),
            _ => {
                let smaller = self.rng.below(depth);
                let b = self.formula(smaller);
                match choice - binary {
                    0 | 1 => Node::And(a, b),
                    2 => Node::Or(a, b),
                    3 => Node::Implies(a, b),
                    4 => Node::Binary(Temporal::Until, None, a, b),
                    infix => Node::Binary(infixes[infix - 5], None, a, b),
                }
            }
        };
        let node = if self.shape.forward { readable_forward(&self.program, node) } else { node };
        let node = self.add(node);
        self.formulas.push(node);
        node
    }

    /// Something that one position decides; its arithmetic cannot overflow, so that it always has a truth value.
    fn predicate(&mut self) -> NodeId {
        use CompareOp::*;
        let op = self.rng.pick(&[Eq, Ne, Lt, Le, Gt, Ge]);
        let node = match self.rng.below(24) {
            0 => Node::Bool(true),
            1 => Node::Compare(op, self.add(Node::Slot(LARGE)), self.add(Node::Slot(SMALL))),
            2 => Node::In(self.add(Node::Slot(MIXED)), 0),
            3 => Node::In(self.add(Node::Slot(NAME)), 1),
            4 => Node::Matches(self.add(Node::Slot(NAME)), 0),
            5 => Node::Compare(Eq, self.add(Node::Slot(NAME)), self.program.dag.constant(Value::text("eve"))),
            6 => {
                let sum = Node::Arithmetic(
                    ArithmeticOp::Add,
                    self.add(Node::Slot(SMALL)),
                    self.add(Node::Slot(HALVES)),
                );
                Node::Compare(op, self.add(sum), self.int(1))
            }
            7..11 => Node::Compare(op, self.add(Node::Slot(SMALL)), self.int(0)),
            _ => Node::Truth(self.rng.below(PROPOSITIONS) as u32),
        };
        self.add(node)
    }
}

//! Random queries, typed as `tw-spec` types them: numbers where numbers are needed, anything elsewhere.

use super::QueryShape;
use super::slots::declare;
use crate::Rng;
use tw_core::Value;
use tw_ir::{Aggregate, ArithmeticOp, CompareOp, Function, Node, NodeId, Program, Root, SetItem};

/// What the values of an experiment or a term must be.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sort {
    Any,
    Number,
}

pub(super) fn program(rng: &mut Rng, shape: &QueryShape) -> Program {
    let mut program = Program::default();
    declare(&mut program);
    program.dag.sets.push(vec![SetItem::Range(0, 2), SetItem::Value(Value::Int(-3))]);
    program.dag.sets.push(vec![SetItem::Value(Value::text("bob"))]);
    program.dag.regexes.extend(regex::Regex::new("^[ab]"));
    program.dag.variables.push("v".into());
    let mut maker = Maker { rng, program, shape, formulas: Vec::new(), made: Vec::new() };
    for number in 0..1 + maker.rng.below(3) {
        let depth = maker.rng.below(shape.depth + 1);
        let sort = maker.sort(Sort::Any);
        let node = if shape.forward { maker.asked_once(depth, sort) } else { maker.experiment(depth, sort) };
        maker.program.roots.push(Root::query(format!("q{number}"), node));
    }
    let mut program = maker.program;
    program.spans = vec![None; program.dag.len()];
    program
}

pub(super) struct Maker<'r> {
    pub(super) rng: &'r mut Rng,
    pub(super) program: Program,
    pub(super) shape: &'r QueryShape,
    /// Formulas to share.
    pub(super) formulas: Vec<NodeId>,
    /// Experiments to share.
    made: Vec<(Sort, NodeId)>,
}

/// Functions for `&{g}` and `|{g}` between numbers.
pub(super) const ARITHMETIC: [ArithmeticOp; 7] = [
    ArithmeticOp::Add,
    ArithmeticOp::Sub,
    ArithmeticOp::Mul,
    ArithmeticOp::Div,
    ArithmeticOp::Rem,
    ArithmeticOp::Min,
    ArithmeticOp::Max,
];

impl Maker<'_> {
    pub(super) fn add(&mut self, node: Node) -> NodeId {
        self.program.dag.add(node)
    }

    pub(super) fn int(&mut self, int: i64) -> NodeId {
        self.program.dag.constant(Value::Int(int))
    }

    /// Numbers more often than they are needed, so that there is something to compute.
    pub(super) fn sort(&mut self, needed: Sort) -> Sort {
        if needed == Sort::Number || self.rng.chance(self.shape.numbers) { Sort::Number } else { Sort::Any }
    }

    /// An experiment in which `agg[ψ]` stands where the first position alone is asked. Recursion is bounded by the
    /// depth, here and below.
    fn asked_once(&mut self, depth: usize, sort: Sort) -> NodeId {
        if depth == 0 || self.rng.one_in(5) {
            return self.experiment(depth, sort);
        }
        if self.rng.one_in(2) {
            return self.aggregate(depth, sort, false);
        }
        let smaller = self.rng.below(depth);
        let node = match self.rng.below(4) {
            0 => {
                let a = self.asked_once(depth - 1, sort);
                Node::Default(a, self.term(1, sort))
            }
            1 => {
                let a = self.sort(Sort::Any);
                let a = self.asked_once(depth - 1, a);
                Node::Fails(a, self.instead(sort))
            }
            _ => {
                let (both, function, a, b) = self.function(sort);
                let (a, b) = (self.asked_once(depth - 1, a), self.asked_once(smaller, b));
                if both { Node::Both(function, a, b) } else { Node::Either(function, a, b) }
            }
        };
        self.add(node)
    }

    fn experiment(&mut self, depth: usize, sort: Sort) -> NodeId {
        if !self.made.is_empty() && self.rng.one_in(8) {
            let (made, node) = self.rng.pick(&self.made);
            if made == sort || sort == Sort::Any {
                return node;
            }
        }
        let node = self.new_experiment(depth, sort);
        self.made.push((sort, node));
        node
    }

    fn new_experiment(&mut self, depth: usize, sort: Sort) -> NodeId {
        if depth == 0 {
            if sort == Sort::Any && self.rng.one_in(3) {
                return self.guard();
            }
            let guard = if self.rng.one_in(2) { self.add(Node::Bool(true)) } else { self.guard() };
            let term = self.term(2, sort);
            return self.add(Node::Emit(guard, term));
        }
        let any = self.sort(Sort::Any);
        let smaller = self.rng.below(depth);
        let node = match self.rng.below(13) {
            0 => {
                let a = self.experiment(depth - 1, sort);
                Node::Default(a, self.term(1, sort))
            }
            1 => {
                let a = self.experiment(depth - 1, any);
                Node::Fails(a, self.instead(sort))
            }
            2 | 3 => {
                let (both, function, a, b) = self.function(sort);
                let (mut a, mut b) = (self.experiment(depth - 1, a), self.experiment(smaller, b));
                if self.rng.one_in(2) && function != Function::First && function != Function::Second {
                    (a, b) = (b, a);
                }
                if both { Node::Both(function, a, b) } else { Node::Either(function, a, b) }
            }
            4 | 5 => {
                let (result, body) = self.map(sort);
                let body = self.experiment(depth - 1, body);
                Node::NextMap { body, result, parameter: 0 }
            }
            6 | 7 => {
                let (result, b) = self.map(sort);
                let a = self.experiment(smaller, any);
                let b = self.experiment(depth - 1, b);
                let pair = self.add(Node::Tuple(a, b));
                Node::UntilMap { pair, result, parameter: 0 }
            }
            _ => {
                let during = self.shape.forward || self.rng.one_in(2);
                return self.aggregate(depth, sort, during);
            }
        };
        self.add(node)
    }

    /// `agg[ψ]` or `agg[ψ while φ]`.
    fn aggregate(&mut self, depth: usize, sort: Sort, during: bool) -> NodeId {
        use Aggregate::*;
        let quantile = self.rng.pick(&[
            0,
            123_456_789,
            250_000_000,
            333_333_333,
            500_000_000,
            900_000_000,
            1_000_000_000,
        ]);
        let mut aggregates = vec![
            Count,
            Sum,
            Sum,
            Min,
            Max,
            Avg,
            First,
            Last,
            Var,
            Stddev,
            Median,
            Quantile(quantile),
            Mode,
            Distinct,
            Corr,
        ];
        if sort == Sort::Any {
            aggregates.push(Histogram(self.rng.pick(&[1, 2, 3, 5, 10])));
        }
        let aggregate = self.rng.pick(&aggregates);
        let body = match aggregate {
            Count | Distinct => self.sort(Sort::Any),
            First | Last | Mode => sort,
            _ => Sort::Number,
        };
        let mut a = self.experiment(depth - 1, body);
        if aggregate == Corr {
            let smaller = self.rng.below(depth);
            let b = self.experiment(smaller, Sort::Number);
            a = self.add(Node::Both(Function::Pair, a, b));
        }
        let node = if !during {
            Node::Collect(aggregate, a)
        } else {
            let smaller = self.rng.below(depth);
            let during = if self.rng.one_in(3) { self.experiment(smaller, Sort::Any) } else { self.guard() };
            Node::CollectWhile(aggregate, a, during)
        };
        self.add(node)
    }

    /// Whether both sides must be there, a function, and what its sides must be for a result of that sort.
    fn function(&mut self, sort: Sort) -> (bool, Function, Sort, Sort) {
        let both = self.rng.one_in(2);
        let any = self.sort(Sort::Any);
        let arithmetic = Function::Arithmetic(self.rng.pick(&ARITHMETIC));
        match self.rng.below(if sort == Sort::Any { 7 } else { 5 }) {
            0 if both => (both, Function::First, sort, any),
            1 if both => (both, Function::Second, any, sort),
            0 => (both, Function::First, sort, sort),
            1 => (both, Function::Second, sort, sort),
            2..5 => (both, arithmetic, Sort::Number, Sort::Number),
            5 => (both, Function::Pair, any, Sort::Any),
            _ => (both, Function::True, any, Sort::Any),
        }
    }

    /// The result of a function of `v`, and what its argument should be.
    fn map(&mut self, sort: Sort) -> (NodeId, Sort) {
        use ArithmeticOp::*;
        let v = self.add(Node::Variable(0));
        let (one, two, three) = (self.int(1), self.int(2), self.int(3));
        let zero = self.int(0);
        // Now and then the argument is no number, and arithmetic on it an error.
        let number = if self.rng.one_in(8) { Sort::Any } else { Sort::Number };
        let node = match self.rng.below(if sort == Sort::Any { 13 } else { 12 }) {
            0..4 => return (v, sort),
            4 => return (if self.rng.one_in(2) { three } else { self.term(0, sort) }, self.sort(Sort::Any)),
            5 => Node::Arithmetic(Add, v, one),
            6 => {
                let twice = self.add(Node::Arithmetic(Mul, v, two));
                Node::Arithmetic(Sub, twice, three)
            }
            7 => {
                let positive = self.add(Node::Compare(CompareOp::Gt, v, zero));
                Node::IfThenElse(positive, v, zero)
            }
            8 => Node::Arithmetic(Div, one, v),
            9 => Node::Abs(v),
            10 => Node::Arithmetic(Rem, v, three),
            11 => Node::Negate(v),
            _ => Node::Tuple(v, one),
        };
        (self.add(node), number)
    }
}

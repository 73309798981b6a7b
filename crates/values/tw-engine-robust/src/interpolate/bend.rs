//! Predicates that bend where their signals run straight, as formulas over predicates that do not.
//!
//! `abs`, `min` and `max` are greatest and least of straight terms, and sums of them are so again; a comparison with the greatest is a
//! disjunction, one with the least a conjunction. What a disjunction is worth is the greatest of its sides, so that the values are the
//! same, at the samples and exact between them. `a == b` is `a <= b & a >= b`.
//!
//! Sides that bend meet in rounded values. What is certain of them all the same, that `abs(x)` is not below 0 and `a == b` not worth
//! more, is written beside them: a comparison of constants, which no rounding passes.

use crate::lattice::{max, min, negate};
use rustc_hash::FxHashMap;
use tw_core::Value;
use tw_ir::{ArithmeticOp, CompareOp, Expect, Node, NodeId, Program, What};
use tw_monitor::Unsupported;

/// Straight parts of one predicate: sums of absolute values double them with each.
const MOST: usize = 256;

/// A term as the greatest or least of straight terms.
#[derive(Clone)]
enum Bent {
    Straight(NodeId),
    /// The greatest of the two, or the least.
    Of(bool, Box<[Bent; 2]>),
}

/// The program with roots of the same values in which every predicate runs straight where its signals do, as far as it can be
/// written so: products and remainders of signals, and choices between them, cannot.
pub fn straighten(program: &Program) -> Result<Program, Unsupported> {
    let mut made = program.clone();
    let roots: Vec<NodeId> = program.roots.iter().map(|root| root.node).collect();
    let mut bends = Bends { program: &mut made, terms: FxHashMap::default(), ranges: FxHashMap::default() };
    let mut places: FxHashMap<NodeId, NodeId> = FxHashMap::default();
    for id in program.reachable(&roots) {
        let node = program.dag.node(id);
        let place = match node {
            Node::Compare(op, a, b) => bends.compare(id, op, a, b)?,
            // Terms stay as they are: predicates are made of them.
            _ if is_term(node) => {
                let range = bends.range(node);
                bends.ranges.insert(id, range);
                bends.term(id, node)?;
                id
            }
            other => bends.add(id, other.with_children(|child| places[&child])),
        };
        places.insert(id, place);
    }
    for root in &mut made.roots {
        root.node = places[&root.node];
    }
    Ok(made)
}

fn ordered(a: f64, b: f64) -> (f64, f64) {
    (min(a, b), max(a, b))
}

fn is_term(node: Node) -> bool {
    matches!(
        node,
        Node::Constant(_)
            | Node::Slot(_)
            | Node::Negate(_)
            | Node::Abs(_)
            | Node::Arithmetic(..)
            | Node::IfThenElse(..)
    )
}

struct Bends<'p> {
    program: &'p mut Program,
    /// The terms that bend.
    terms: FxHashMap<NodeId, Bent>,
    /// What terms are at least and at most, by their form.
    ranges: FxHashMap<NodeId, (f64, f64)>,
}

/// Of a term that may be any number.
const ANY: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

impl Bends<'_> {
    /// A node that stands for the written one.
    fn add(&mut self, written: NodeId, node: Node) -> NodeId {
        let made = self.program.dag.add(node);
        self.program.spans.resize(self.program.dag.len(), None);
        let span = self.program.spans[made.index()].or(self.program.spans[written.index()]);
        self.program.spans[made.index()] = span;
        made
    }

    fn of(&self, id: NodeId) -> Bent {
        self.terms.get(&id).cloned().unwrap_or(Bent::Straight(id))
    }

    fn range_of(&self, id: NodeId) -> (f64, f64) {
        self.ranges.get(&id).copied().unwrap_or(ANY)
    }

    /// What a term is at least and at most. Each bound is computed as the term is, so that rounding keeps the order.
    fn range(&self, node: Node) -> (f64, f64) {
        let of = |id: NodeId| self.range_of(id);
        let turned = |(low, high): (f64, f64)| (negate(high), negate(low));
        let (low, high) = match node {
            Node::Constant(at) => match self.program.dag.constants[at as usize] {
                Value::Int(int) => (int as f64, int as f64),
                Value::Real(real) => (real, real),
                _ => ANY,
            },
            Node::Negate(a) => turned(of(a)),
            Node::Abs(a) => match of(a) {
                (low, high) if low >= 0.0 => (low, high),
                (low, high) if high <= 0.0 => turned((low, high)),
                (low, high) => (0.0, max(negate(low), high)),
            },
            Node::Arithmetic(op, a, b) => {
                let (a, b) = (of(a), of(b));
                match op {
                    ArithmeticOp::Add => (a.0 + b.0, a.1 + b.1),
                    ArithmeticOp::Sub => (a.0 - b.1, a.1 - b.0),
                    ArithmeticOp::Min => (min(a.0, b.0), min(a.1, b.1)),
                    ArithmeticOp::Max => (max(a.0, b.0), max(a.1, b.1)),
                    ArithmeticOp::Mul if b.0 == b.1 && b.0 != 0.0 => ordered(a.0 * b.0, a.1 * b.0),
                    ArithmeticOp::Mul if a.0 == a.1 && a.0 != 0.0 => ordered(a.0 * b.0, a.0 * b.1),
                    ArithmeticOp::Div if b.0 == b.1 && b.0 != 0.0 => ordered(a.0 / b.0, a.1 / b.0),
                    _ => ANY,
                }
            }
            _ => ANY,
        };
        // Infinities that cancel say nothing; 0.0 is added because nothing is −0.0.
        if low <= high { (low + 0.0, high + 0.0) } else { ANY }
    }

    /// A comparison of constants, if they are finite.
    fn certain(&mut self, written: NodeId, op: CompareOp, (a, b): (f64, f64)) -> Option<NodeId> {
        if !(a - b).is_finite() {
            return None;
        }
        let [a, b] = [a, b].map(|side| self.program.dag.constant(Value::Real(side)));
        Some(self.add(written, Node::Compare(op, a, b)))
    }

    /// A comparison within what its sides can be.
    fn within(&mut self, written: NodeId, made: NodeId, op: CompareOp, sides: [NodeId; 2]) -> NodeId {
        let [(least_a, most_a), (least_b, most_b)] = sides.map(|side| self.range_of(side));
        let above = matches!(op, CompareOp::Gt | CompareOp::Ge);
        let (least, most) = match above {
            true => ((least_a, most_b), (most_a, least_b)),
            false => ((most_a, least_b), (least_a, most_b)),
        };
        let most = self.certain(written, op, most);
        let made = most.map_or(made, |most| self.add(written, Node::And(made, most)));
        let least = self.certain(written, op, least);
        least.map_or(made, |least| self.add(written, Node::Or(made, least)))
    }

    /// Notes a term that bends, if the parts that bend come through.
    fn term(&mut self, id: NodeId, node: Node) -> Result<(), Unsupported> {
        let bends = |id: &NodeId| self.terms.contains_key(id);
        let found = match node {
            // What has no signal in it is one number.
            _ if self.constant(id).is_some() => return Ok(()),
            Node::Abs(a) => {
                let a = self.of(a);
                let turned = self.negate(id, &a);
                Bent::Of(true, Box::new([a, turned]))
            }
            Node::Arithmetic(ArithmeticOp::Max, a, b) => Bent::Of(true, Box::new([self.of(a), self.of(b)])),
            Node::Arithmetic(ArithmeticOp::Min, a, b) => Bent::Of(false, Box::new([self.of(a), self.of(b)])),
            Node::Negate(a) if bends(&a) => {
                let a = self.of(a);
                self.negate(id, &a)
            }
            Node::Arithmetic(op @ (ArithmeticOp::Add | ArithmeticOp::Sub), a, b)
                if bends(&a) || bends(&b) =>
            {
                let (a, b) = (self.of(a), self.of(b));
                if a.size() * b.size() > MOST {
                    return Err(too_bent(id));
                }
                self.sum(id, op, &a, &b)
            }
            Node::Arithmetic(op @ (ArithmeticOp::Mul | ArithmeticOp::Div), a, b)
                if bends(&a) || bends(&b) =>
            {
                match (self.constant(a), self.constant(b)) {
                    (Some(factor), None) if op == ArithmeticOp::Mul => {
                        let bent = self.of(b);
                        bent.map(factor < 0.0, &mut |leaf| self.add(id, Node::Arithmetic(op, a, leaf)))
                    }
                    (None, Some(factor)) => {
                        let bent = self.of(a);
                        bent.map(factor < 0.0, &mut |leaf| self.add(id, Node::Arithmetic(op, leaf, b)))
                    }
                    // Named where it is compared.
                    _ => return Ok(()),
                }
            }
            _ => return Ok(()),
        };
        if found.size() > MOST {
            return Err(too_bent(id));
        }
        self.terms.insert(id, found);
        Ok(())
    }

    fn negate(&mut self, written: NodeId, bent: &Bent) -> Bent {
        bent.map(true, &mut |leaf| self.add(written, Node::Negate(leaf)))
    }

    fn sum(&mut self, written: NodeId, op: ArithmeticOp, a: &Bent, b: &Bent) -> Bent {
        match (a, b) {
            (Bent::Straight(a), Bent::Straight(b)) => {
                Bent::Straight(self.add(written, Node::Arithmetic(op, *a, *b)))
            }
            (Bent::Of(greatest, sides), b) => {
                let [first, second] = &**sides;
                let sides = [self.sum(written, op, first, b), self.sum(written, op, second, b)];
                Bent::Of(*greatest, Box::new(sides))
            }
            (a, Bent::Of(greatest, sides)) => {
                let [first, second] = &**sides;
                let sides = [self.sum(written, op, a, first), self.sum(written, op, a, second)];
                Bent::Of(*greatest == (op == ArithmeticOp::Add), Box::new(sides))
            }
        }
    }

    /// The number that a term without signals is.
    fn constant(&self, id: NodeId) -> Option<f64> {
        let dag = &self.program.dag;
        match dag.node(id) {
            Node::Constant(at) => match dag.constants[at as usize] {
                Value::Int(int) => Some(int as f64),
                Value::Real(real) => Some(real),
                _ => None,
            },
            Node::Negate(a) => Some(-self.constant(a)?),
            Node::Abs(a) => Some(self.constant(a)?.abs()),
            Node::Arithmetic(op, a, b) => {
                let (a, b) = (self.constant(a)?, self.constant(b)?);
                match op {
                    ArithmeticOp::Add => Some(a + b),
                    ArithmeticOp::Sub => Some(a - b),
                    ArithmeticOp::Mul => Some(a * b),
                    ArithmeticOp::Div => Some(a / b),
                    ArithmeticOp::Min => Some(a.min(b)),
                    ArithmeticOp::Max => Some(a.max(b)),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// A comparison without bends.
    fn compare(&mut self, id: NodeId, op: CompareOp, a: NodeId, b: NodeId) -> Result<NodeId, Unsupported> {
        let (left, right) = (self.of(a), self.of(b));
        if left.size() * right.size() > MOST {
            return Err(too_bent(id));
        }
        let equal = matches!(op, CompareOp::Eq | CompareOp::Ne);
        if equal && !self.is_number(a) && !self.is_number(b) {
            return Ok(id);
        }
        let bends = left.size() * right.size() > 1;
        let made = match op {
            CompareOp::Eq | CompareOp::Ne => {
                let least = self.pairs(id, CompareOp::Le, &left, &right);
                let most = self.pairs(id, CompareOp::Ge, &left, &right);
                let both = self.add(id, Node::And(least, most));
                let none = self.certain(id, CompareOp::Ge, (0.0, 0.0));
                let both = none.map_or(both, |none| self.add(id, Node::And(both, none)));
                if op == CompareOp::Eq { both } else { self.add(id, Node::Not(both)) }
            }
            op => {
                let made = self.pairs(id, op, &left, &right);
                if bends { self.within(id, made, op, [a, b]) } else { made }
            }
        };
        // A comparison with null is false; with a part of it that is not null it might hold.
        let partly = op == CompareOp::Ne || bends;
        match partly {
            false => Ok(made),
            true => {
                let given = [a, b].into_iter().filter(|&side| self.constant(side).is_none());
                let given: Vec<NodeId> = given.collect();
                Ok(given.into_iter().fold(made, |made, side| {
                    let has = self.add(id, Node::Has(side));
                    self.add(id, Node::And(made, has))
                }))
            }
        }
    }

    /// Whether a term is a number wherever it is not null: equality of texts is another matter.
    fn is_number(&self, id: NodeId) -> bool {
        match self.program.dag.node(id) {
            Node::Constant(_) => self.constant(id).is_some(),
            Node::Slot(slot) => match &self.program.slots[slot as usize].what {
                What::Variable(path, expect) => {
                    matches!(expect, Expect::Number | Expect::Int | Expect::Real) && !path.has_each()
                }
                What::Timing(_) => true,
                _ => false,
            },
            node => is_term(node) && !matches!(node, Node::IfThenElse(..)),
        }
    }

    /// `a op b` for every pair of straight parts.
    fn pairs(&mut self, written: NodeId, op: CompareOp, a: &Bent, b: &Bent) -> NodeId {
        let above = matches!(op, CompareOp::Gt | CompareOp::Ge);
        let (any, sides) = match (a, b) {
            (Bent::Straight(a), Bent::Straight(b)) => return self.add(written, Node::Compare(op, *a, *b)),
            (Bent::Of(greatest, sides), b) => {
                let [first, second] = &**sides;
                let sides = [self.pairs(written, op, first, b), self.pairs(written, op, second, b)];
                (*greatest == above, sides)
            }
            (a, Bent::Of(greatest, sides)) => {
                let [first, second] = &**sides;
                let sides = [self.pairs(written, op, a, first), self.pairs(written, op, a, second)];
                (*greatest != above, sides)
            }
        };
        let [first, second] = sides;
        self.add(written, if any { Node::Or(first, second) } else { Node::And(first, second) })
    }
}

impl Bent {
    /// How many straight parts it has.
    fn size(&self) -> usize {
        match self {
            Bent::Straight(_) => 1,
            Bent::Of(_, sides) => sides.iter().map(Bent::size).sum(),
        }
    }

    /// Each part changed; `turned` says whether the greatest becomes the least.
    fn map(&self, turned: bool, change: &mut impl FnMut(NodeId) -> NodeId) -> Bent {
        match self {
            Bent::Straight(leaf) => Bent::Straight(change(*leaf)),
            Bent::Of(greatest, sides) => {
                let [first, second] = &**sides;
                let sides = [first.map(turned, change), second.map(turned, change)];
                Bent::Of(*greatest != turned, Box::new(sides))
            }
        }
    }
}

fn too_bent(id: NodeId) -> Unsupported {
    let what =
        format!("a predicate that bends in more than {MOST} places between samples (⟨interpolate: linear⟩)");
    Unsupported::construct(id, what).help("split it: each `abs`, `min` or `max` in a sum doubles its parts")
}

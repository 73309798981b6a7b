//! From formulas to alternating automata.

use super::{Alternating, Direction, Expr, ExprId, Label, Node, NodeIndex, Options};
use tw_ir::{Applied, Form, Node as Formula, NodeId, Program};

/// A construct that has no automaton.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The subformula.
    pub node: NodeId,
    /// What it is: "intervals on temporal operators".
    pub what: &'static str,
}

/// The part of a binary temporal operator that decides its automaton: does a path that never meets the goal accept?
#[derive(Clone, Copy)]
struct Loop {
    accepting: bool,
    direction: Direction,
}

impl Alternating {
    /// Without any formula.
    pub fn new(options: Options) -> Self {
        let mut automaton = Self {
            exprs: Vec::new(),
            nodes: Vec::new(),
            index: Default::default(),
            translated: Default::default(),
            options,
        };
        automaton.add(Expr::True);
        automaton.add(Expr::False);
        automaton
    }

    /// The expression that accepts everything.
    pub fn truth(&self) -> ExprId {
        ExprId(0)
    }

    /// The expression that accepts nothing.
    pub fn falsity(&self) -> ExprId {
        ExprId(1)
    }

    fn add(&mut self, expr: Expr) -> ExprId {
        *self.index.entry(expr).or_insert_with(|| {
            self.exprs.push(expr);
            ExprId((self.exprs.len() - 1) as u32)
        })
    }

    /// Both expressions.
    pub fn and(&mut self, a: ExprId, b: ExprId) -> ExprId {
        match (self.expr(a), self.expr(b)) {
            (Expr::True, _) => b,
            (_, Expr::True) => a,
            (Expr::False, _) | (_, Expr::False) => self.falsity(),
            _ if a == b => a,
            _ => self.add(Expr::And(a, b)),
        }
    }

    /// Either expression.
    pub fn or(&mut self, a: ExprId, b: ExprId) -> ExprId {
        match (self.expr(a), self.expr(b)) {
            (Expr::False, _) => b,
            (_, Expr::False) => a,
            (Expr::True, _) | (_, Expr::True) => self.truth(),
            _ if a == b => a,
            _ => self.add(Expr::Or(a, b)),
        }
    }

    fn node_expr(&mut self, node: Node) -> ExprId {
        self.nodes.push(node);
        let index = NodeIndex((self.nodes.len() - 1) as u32);
        self.add(Expr::Node(index))
    }

    /// The automaton of a formula, or of its negation. Formulas translated before are shared.
    pub fn formula(&mut self, program: &Program, formula: NodeId, negated: bool) -> Result<ExprId, Refused> {
        let atoms = program.atoms();
        let literal = |id| atoms.binary_search(&id).ok().map(|atom| atom as u32);
        self.formula_over(program, formula, negated, literal)
    }

    /// As [`Alternating::formula`], where `literal` tells which subformulas are read off the position, and by which
    /// number: engines that read forward compute past operators beside the automaton and add them to the atoms.
    pub fn formula_over(
        &mut self,
        program: &Program,
        formula: NodeId,
        negated: bool,
        literal: impl Fn(NodeId) -> Option<u32>,
    ) -> Result<ExprId, Refused> {
        // Which subformulas are needed in which polarity, from the top down; then built from the bottom up.
        let mut needed = std::collections::BTreeSet::from([(formula, negated)]);
        let mut build = Vec::new();
        while let Some((id, negated)) = needed.pop_last() {
            if self.translated.contains_key(&(id, negated)) {
                continue;
            }
            build.push((id, negated));
            let node = program.dag.node(id);
            if literal(id).is_none() {
                if let Some(what) = refusal(node) {
                    return Err(Refused { node: id, what });
                }
                needed.extend(operands(node, negated));
            }
        }
        for (id, negated) in build.into_iter().rev() {
            let expr = match literal(id) {
                Some(atom) => self.literal(Label::Atom(atom, !negated), (id, negated)),
                None => self.operator(program.dag.node(id), (id, negated)),
            };
            self.translated.insert((id, negated), expr);
        }
        Ok(self.translated[&(formula, negated)])
    }

    fn literal(&mut self, label: Label, origin: (NodeId, bool)) -> ExprId {
        let (delta, direction) = (self.truth(), Direction::State);
        self.node_expr(Node {
            label,
            delta,
            accepting: true,
            direction,
            stays: false,
            looping: false,
            origin,
        })
    }

    fn operator(&mut self, node: Formula, origin: (NodeId, bool)) -> ExprId {
        use Formula::*;
        let n = origin.1;
        let sub = |automaton: &Self, id: NodeId, negated: bool| automaton.translated[&(id, negated)];
        if let Some(operator) = node.temporal() {
            return self.temporal(operator, origin);
        }
        match node {
            Bool(value) => {
                if value != n {
                    self.truth()
                } else {
                    self.falsity()
                }
            }
            Last => self.literal(Label::Last(!n), origin),
            // There is a previous position, or there is none.
            First => {
                let delta = if n { self.truth() } else { self.falsity() };
                self.step(delta, !n, Direction::Past, origin)
            }
            Not(a) => sub(self, a, !n),
            And(a, b) | Or(a, b) => {
                let (x, y) = (sub(self, a, n), sub(self, b, n));
                if matches!(node, And(..)) != n { self.and(x, y) } else { self.or(x, y) }
            }
            Implies(a, b) => {
                let (x, y) = (sub(self, a, !n), sub(self, b, n));
                if n { self.and(x, y) } else { self.or(x, y) }
            }
            Xor(a, b) | Iff(a, b) => {
                // a differs from b where exactly one of the two holds.
                let differ = matches!(node, Xor(..)) != n;
                let (pa, na) = (sub(self, a, false), sub(self, a, true));
                let (pb, nb) = (sub(self, b, false), sub(self, b, true));
                let (one, other) = if differ {
                    (self.and(pa, nb), self.and(na, pb))
                } else {
                    (self.and(pa, pb), self.and(na, nb))
                };
                self.or(one, other)
            }
            _ => unreachable!("refused before"),
        }
    }

    fn temporal(&mut self, operator: Applied, origin: (NodeId, bool)) -> ExprId {
        let (n, Applied { form, weak, left, right, .. }) = (origin.1, operator);
        let direction = if operator.past { Direction::Past } else { Direction::Future };
        // The dual of a weak operator is strong.
        let kind = Loop { accepting: weak != n, direction };
        let right = self.translated[&(right, n)];
        if form == Form::Step {
            return self.step(right, kind.accepting, direction, origin);
        }
        let Some(left) = left.map(|left| self.translated[&(left, n)]) else {
            return self.unary_loop(right, kind, origin);
        };
        // The dual of until is release, and of release until: f R g = g W (f & g), and f M g = g U (f & g).
        if (form == Form::Until) != n {
            self.binary_loop(left, right, kind, origin)
        } else {
            let goal = self.and(left, right);
            self.binary_loop(right, goal, kind, origin)
        }
    }

    /// `X N Y Z`.
    fn step(
        &mut self,
        delta: ExprId,
        accepting: bool,
        direction: Direction,
        origin: (NodeId, bool),
    ) -> ExprId {
        if let Some(constant) = self.constant(delta, Loop { accepting, direction }) {
            return constant;
        }
        let stays = self.options.repeat_last && direction == Direction::Future;
        self.node_expr(Node {
            label: Label::True,
            delta,
            accepting,
            direction,
            stays,
            looping: false,
            origin,
        })
    }

    /// What an operator is worth whose operand is the constant that its acceptance agrees with: `N true`, `G true` and
    /// `true W f`, or `X false`, `F false` and `f U false`. It is settled at once then. Past operators stay as they are: what
    /// those around them remember is computed from the formula, which has them.
    fn constant(&mut self, operand: ExprId, kind: Loop) -> Option<ExprId> {
        let constant = if kind.accepting { self.truth() } else { self.falsity() };
        let folds = kind.direction == Direction::Future && !self.options.faithful;
        (folds && operand == constant).then_some(constant)
    }

    /// A node whose delta is still to be set, for the loops.
    fn loop_node(&mut self, kind: Loop, origin: (NodeId, bool)) -> (NodeIndex, ExprId) {
        let delta = self.truth();
        let (accepting, direction) = (kind.accepting, kind.direction);
        let node =
            Node { label: Label::True, delta, accepting, direction, stays: false, looping: true, origin };
        let expr = self.node_expr(node);
        (NodeIndex((self.nodes.len() - 1) as u32), expr)
    }

    /// `G F H O`: the loop of a universal one accepts.
    fn unary_loop(&mut self, local: ExprId, kind: Loop, origin: (NodeId, bool)) -> ExprId {
        if let Some(constant) = self.constant(local, kind) {
            return constant;
        }
        let (index, node) = self.loop_node(kind, origin);
        let (first, second) = if self.options.faithful { (node, local) } else { (local, node) };
        let expr = if kind.accepting { self.and(first, second) } else { self.or(first, second) };
        self.nodes[index.index()].delta = expr;
        expr
    }

    /// `U W S B` and their duals.
    fn binary_loop(&mut self, f: ExprId, g: ExprId, kind: Loop, origin: (NodeId, bool)) -> ExprId {
        let decides = if kind.accepting { f } else { g };
        if let Some(constant) = self.constant(decides, kind) {
            return constant;
        }
        let (index, node) = self.loop_node(kind, origin);
        let (first, second) = if self.options.faithful { (node, f) } else { (f, node) };
        let stay = self.and(first, second);
        let expr = self.or(g, stay);
        self.nodes[index.index()].delta = expr;
        expr
    }
}

/// The operands that the automaton of a formula is made of, with their polarities.
fn operands(node: Formula, negated: bool) -> Vec<(NodeId, bool)> {
    match node {
        Formula::Not(a) => vec![(a, !negated)],
        Formula::Implies(a, b) => vec![(a, !negated), (b, negated)],
        Formula::Xor(a, b) | Formula::Iff(a, b) => vec![(a, false), (a, true), (b, false), (b, true)],
        _ => node.children().map(|child| (child, negated)).collect(),
    }
}

/// Why the node has no automaton; atoms have been looked at before.
pub(crate) fn refusal(node: Formula) -> Option<&'static str> {
    use Formula::*;
    if node.interval().is_some() {
        return Some("intervals on temporal operators");
    }
    match node {
        Bool(_) | First | Last | Not(_) | And(..) | Or(..) | Xor(..) | Implies(..) | Iff(..) => None,
        _ if node.is_temporal() => None,
        Forall(..) | Exists(..) | Variable(_) => Some("quantified variables"),
        Pattern(_) => Some("event patterns with variables"),
        Tally(..) => Some("aggregates over valuations"),
        _ if node.is_experiment() => Some("queries that return values"),
        _ => Some("predicates over temporal formulas"),
    }
}

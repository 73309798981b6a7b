//! From queries to algebraic automata.

use super::{
    Algebraic, Apply, Assertion, Combine, Datum, Expr, ExprId, Node, NodeIndex, Options, Refused, Role,
    Transient,
};
use tw_core::Value;
use tw_ir::{Aggregate, Applied, Function, Node as Part, NodeId, Program, Way};

/// What it takes to know whether a formula holds at a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Takes {
    /// The position.
    Position,
    /// Positions from there on.
    Future,
    /// More than an automaton knows that is read backwards once.
    Given,
    /// It is an experiment, or made of such.
    Values,
}

impl Algebraic {
    /// For queries of `program`; none is translated yet.
    pub fn new(program: &Program, options: Options) -> Self {
        let mut takes: Vec<Takes> = Vec::with_capacity(program.dag.len());
        for node in program.dag.nodes() {
            let given = node.is_past() || node.interval().is_some() || node.is_first_order();
            let own = match node {
                _ if node.is_experiment() => Takes::Values,
                _ if given => Takes::Given,
                _ if node.is_future() => Takes::Future,
                _ => Takes::Position,
            };
            takes.push(node.children().map(|child| takes[child.index()]).fold(own, Ord::max));
        }
        Self {
            exprs: Vec::new(),
            nodes: Vec::new(),
            index: Default::default(),
            terminals: Default::default(),
            loops: Default::default(),
            translated: Default::default(),
            takes,
            guards: Vec::new(),
            options,
        }
    }

    /// The automaton of a query, an experiment or a formula. What was translated before is shared.
    pub fn query(&mut self, program: &Program, root: NodeId) -> Result<ExprId, Refused> {
        let mut needed = std::collections::BTreeSet::from([root]);
        let mut build = Vec::new();
        while let Some(id) = needed.pop_last() {
            if self.translated.contains_key(&id) {
                continue;
            }
            build.push(id);
            needed.extend(self.parts(program, id)?);
        }
        for id in build.into_iter().rev() {
            let expr = self.part(program, id);
            self.translated.insert(id, expr);
        }
        Ok(self.translated[&root])
    }

    /// The parts whose automata that of `id` is made of.
    fn parts(&self, program: &Program, id: NodeId) -> Result<Vec<NodeId>, Refused> {
        use Part::*;
        let dag = &program.dag;
        let node = dag.node(id);
        if self.takes[id.index()] == Takes::Values && !node.is_experiment() {
            return Err(Refused { node: id, what: "formulas over values" });
        }
        Ok(match node {
            Emit(formula, _) if self.is_assertion(formula) => Vec::new(),
            Emit(a, _) | Fails(a, _) | Default(a, _) | NextMap { body: a, .. } | Collect(_, a) => vec![a],
            Both(_, a, b) | Either(_, a, b) | CollectWhile(_, a, b) => vec![a, b],
            UntilMap { pair, .. } if matches!(dag.node(pair), Tuple(..)) => {
                dag.node(pair).children().collect()
            }
            Bool(_) | First | Last | Truth(_) | Compare(..) | In(..) | Matches(..) | Has(_) => Vec::new(),
            Pattern(_) | Forall(..) | Exists(..) => Vec::new(),
            _ if node.is_past() => Vec::new(),
            Not(_) | And(..) | Or(..) | Xor(..) | Implies(..) | Iff(..) => match self.is_assertion(id) {
                true => Vec::new(),
                false => node.children().collect(),
            },
            _ if node.is_future() => match self.is_assertion(id) {
                true => Vec::new(),
                false => node.children().collect(),
            },
            _ => return Err(Refused { node: id, what: "terms outside `φ : e`" }),
        })
    }

    fn is_assertion(&self, formula: NodeId) -> bool {
        matches!(self.takes[formula.index()], Takes::Position | Takes::Given)
    }

    /// The automaton of `id`, whose parts are translated.
    fn part(&mut self, program: &Program, id: NodeId) -> ExprId {
        use Part::*;
        let of = |automaton: &Self, id: NodeId| automaton.translated[&id];
        let node = program.dag.node(id);
        match node {
            Emit(formula, term) => {
                let datum = datum(program, term);
                if self.is_assertion(formula) {
                    let assertion = self.assertion(program, formula);
                    self.terminal(assertion, datum)
                } else {
                    let term = self.terminal(Assertion::Constant(true), datum);
                    self.add(Expr::And(Combine::Second, of(self, formula), term))
                }
            }
            Both(g, a, b) => self.add(Expr::And(Combine::Function(g), of(self, a), of(self, b))),
            Either(g, a, b) => self.add(Expr::Or(Combine::Function(g), of(self, a), of(self, b))),
            Fails(a, c) => self.add(Expr::Apply(Apply::Negate(datum(program, c)), of(self, a))),
            Default(a, c) => self.add(Expr::Apply(Apply::Default(c), of(self, a))),
            NextMap { body, result, parameter } => {
                let map = (program.dag.node(result) != Variable(parameter)).then_some((result, parameter));
                self.transient(of(self, body), map, false, Role::Next, id).1
            }
            UntilMap { pair, result, parameter } => {
                let Tuple(a, b) = program.dag.node(pair) else { unreachable!("refused before") };
                let until = self.until(Some(of(self, a)), of(self, b), id);
                match program.dag.node(result) {
                    Variable(variable) if variable == parameter => until,
                    _ => self.add(Expr::Apply(Apply::Map { result, parameter }, until)),
                }
            }
            Collect(aggregate, a) => self.collect(aggregate, of(self, a), id),
            CollectWhile(aggregate, a, condition) => {
                self.during(aggregate, of(self, a), of(self, condition), id)
            }
            _ => self.formula(program, id),
        }
    }

    /// The automaton of a formula: `true` where it holds.
    fn formula(&mut self, program: &Program, id: NodeId) -> ExprId {
        use Part::*;
        if self.is_assertion(id) {
            let assertion = self.assertion(program, id);
            return self.terminal(assertion, Datum::True);
        }
        let of = |automaton: &Self, id: NodeId| automaton.translated[&id];
        if let Some(operator) = program.dag.node(id).temporal() {
            return self.temporal(operator, id);
        }
        match program.dag.node(id) {
            Not(a) => self.not(of(self, a)),
            And(a, b) => self.and(of(self, a), of(self, b)),
            Or(a, b) => self.or(of(self, a), of(self, b)),
            Implies(a, b) => {
                let a = self.not(of(self, a));
                self.or(a, of(self, b))
            }
            Xor(a, b) | Iff(a, b) => {
                let (a, b) = (of(self, a), of(self, b));
                let (not_a, not_b) = (self.not(a), self.not(b));
                let differ = matches!(program.dag.node(id), Xor(..));
                let (one, other) = if differ { (not_b, b) } else { (b, not_b) };
                let (one, other) = (self.and(a, one), self.and(not_a, other));
                self.or(one, other)
            }
            _ => unreachable!("refused before"),
        }
    }

    /// `X` and `U`, and the others as their duals or abbreviations.
    fn temporal(&mut self, operator: Applied, id: NodeId) -> ExprId {
        let of = |automaton: &mut Self, id: NodeId, negated: bool| {
            let expr = automaton.translated[&id];
            if negated { automaton.not(expr) } else { expr }
        };
        let Some(Way { dual, hold, goal: (goal, beside) }) = operator.way() else {
            // With the last position repeated there is one next, and it is its own dual.
            let dual = operator.weak && !self.options.repeat_last;
            let body = of(self, operator.right, dual);
            let next = self.next(body, id);
            return if dual { self.not(next) } else { next };
        };
        let goal = match (of(self, goal, dual), beside) {
            (goal, Some(beside)) => {
                let beside = of(self, beside, dual);
                self.and(goal, beside)
            }
            (goal, None) => goal,
        };
        let hold = hold.map(|hold| of(self, hold, dual));
        let until = self.until(hold, goal, id);
        if dual { self.not(until) } else { until }
    }

    fn assertion(&mut self, program: &Program, formula: NodeId) -> Assertion {
        if let Part::Bool(value) = program.dag.node(formula) {
            return Assertion::Constant(value);
        }
        if self.takes[formula.index()] == Takes::Given
            && let Err(place) = self.guards.binary_search(&formula)
        {
            self.guards.insert(place, formula);
        }
        Assertion::Formula(formula, true)
    }

    fn add(&mut self, expr: Expr) -> ExprId {
        *self.index.entry(expr).or_insert_with(|| {
            self.exprs.push(expr);
            ExprId((self.exprs.len() - 1) as u32)
        })
    }

    fn push(&mut self, node: Node) -> (NodeIndex, ExprId) {
        self.nodes.push(node);
        let index = NodeIndex((self.nodes.len() - 1) as u32);
        (index, self.add(Expr::Node(index)))
    }

    fn terminal(&mut self, assertion: Assertion, datum: Datum) -> ExprId {
        if let Some(&known) = self.terminals.get(&(assertion, datum)) {
            return known;
        }
        let (_, expr) = self.push(Node::Terminal(assertion, datum));
        self.terminals.insert((assertion, datum), expr);
        expr
    }

    fn transient(
        &mut self,
        successor: ExprId,
        map: Option<(NodeId, u32)>,
        stays: bool,
        role: Role,
        origin: NodeId,
    ) -> (NodeIndex, ExprId) {
        self.push(Node::Transient(Transient { successor, map, stays, role, origin }))
    }

    fn and(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.add(Expr::And(Combine::Function(Function::True), a, b))
    }

    fn or(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.add(Expr::Or(Combine::Function(Function::True), a, b))
    }

    /// The negation of a formula.
    fn not(&mut self, a: ExprId) -> ExprId {
        match self.expr(a) {
            // What is not a formula is never negated here, so negating twice is the identity.
            Expr::Apply(Apply::Negate(Datum::True), inner) => return inner,
            Expr::Node(index) => {
                if let Node::Terminal(assertion, Datum::True) = *self.node(index) {
                    let negation = match assertion {
                        Assertion::Constant(value) => Assertion::Constant(!value),
                        Assertion::Formula(formula, positive) => Assertion::Formula(formula, !positive),
                    };
                    return self.terminal(negation, Datum::True);
                }
            }
            _ => {}
        }
        self.add(Expr::Apply(Apply::Negate(Datum::True), a))
    }

    fn next(&mut self, a: ExprId, origin: NodeId) -> ExprId {
        self.transient(a, None, self.options.repeat_last, Role::Next, origin).1
    }

    /// Ties a loop: its head is what the node leads to.
    fn close(&mut self, index: NodeIndex, head: ExprId) -> ExprId {
        if let Node::Transient(transient) = &mut self.nodes[index.index()] {
            transient.successor = head;
        }
        self.loops.insert(head, index);
        head
    }

    fn until(&mut self, hold: Option<ExprId>, goal: ExprId, origin: NodeId) -> ExprId {
        let (index, node) = self.transient(goal, None, false, Role::Until { hold, goal }, origin);
        let stay = match hold {
            Some(hold) => self.add(Expr::And(Combine::Second, hold, node)),
            None => node,
        };
        let head = self.add(Expr::Or(Combine::First, goal, stay));
        self.close(index, head)
    }

    fn collect(&mut self, aggregate: Aggregate, body: ExprId, origin: NodeId) -> ExprId {
        let (index, node) = self.transient(body, None, false, Role::Collect(aggregate, body), origin);
        let head = self.add(Expr::Or(Combine::Fold(aggregate), node, body));
        self.close(index, head);
        self.statistic(aggregate, head)
    }

    fn during(&mut self, aggregate: Aggregate, body: ExprId, condition: ExprId, origin: NodeId) -> ExprId {
        let role = Role::During { aggregate, body, condition };
        let (index, node) = self.transient(body, None, false, role, origin);
        let fold = self.add(Expr::Or(Combine::Fold(aggregate), node, body));
        let head = self.add(Expr::And(Combine::Second, condition, fold));
        self.close(index, head);
        self.statistic(aggregate, head)
    }

    /// Reads the value out of what was collected, unless that is the value.
    fn statistic(&mut self, aggregate: Aggregate, state: ExprId) -> ExprId {
        use Aggregate::*;
        match aggregate {
            Count | Sum | Min | Max | First | Last => state,
            _ => self.add(Expr::Apply(Apply::Statistic(aggregate), state)),
        }
    }
}

/// A term, or `true`.
fn datum(program: &Program, term: NodeId) -> Datum {
    match program.dag.node(term) {
        Part::Constant(constant) if program.dag.constants[constant as usize] == Value::Bool(true) => {
            Datum::True
        }
        _ => Datum::Term(term),
    }
}

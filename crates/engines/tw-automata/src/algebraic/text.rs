//! Algebraic automata in writing: one line per automaton and node, named as in the paper.

use super::{Algebraic, Apply, Assertion, Combine, Datum, Expr, ExprId, Node};
use rustc_hash::FxHashMap;
use tw_ir::{Function, NodeId, Program, display};

/// What the parts of an automaton are called: A0, A1, … for automata, n0, n1, … for nodes, from the root on.
#[derive(Clone, Debug)]
pub struct Names {
    order: Vec<ExprId>,
    names: FxHashMap<ExprId, String>,
}

impl Names {
    /// Of everything that `root` leads to.
    pub fn new(automaton: &Algebraic, root: ExprId) -> Self {
        let order = automaton.reachable(&[root]);
        let (mut automata, mut nodes) = (0, 0);
        let mut names = FxHashMap::default();
        for &id in &order {
            let (letter, count) = match automaton.expr(id) {
                Expr::Node(_) => ('n', &mut nodes),
                _ => ('A', &mut automata),
            };
            names.insert(id, format!("{letter}{count}"));
            *count += 1;
        }
        Self { order, names }
    }

    /// What is named, from the root on.
    pub fn order(&self) -> &[ExprId] {
        &self.order
    }

    /// The name of an expression that the root leads to.
    pub fn of(&self, id: ExprId) -> &str {
        self.names.get(&id).map_or("?", String::as_str)
    }
}

impl Algebraic {
    /// One line for each part that `root` leads to, the root first: `A0 = n0 or[f_max] A1`, `n0 = ⟨A0, id⟩`.
    pub fn text(&self, program: &Program, root: ExprId) -> String {
        let names = Names::new(self, root);
        let mut out = String::new();
        for &id in names.order() {
            out.push_str(names.of(id));
            out.push_str(" = ");
            match self.expr(id) {
                Expr::Node(index) => out.push_str(&node_text(program, self.node(index), &names)),
                Expr::And(g, a, b) => out.push_str(&infix("and", g, names.of(a), names.of(b))),
                Expr::Or(g, a, b) => out.push_str(&infix("or", g, names.of(a), names.of(b))),
                Expr::Apply(f, a) => {
                    out.push_str(&apply_text(program, f));
                    out.push_str(&format!("({})", names.of(a)));
                }
            }
            out.push('\n');
        }
        out
    }
}

fn infix(operator: &str, g: Combine, a: &str, b: &str) -> String {
    match combine_text(g) {
        Some(g) => format!("{a} {operator}[{g}] {b}"),
        None => format!("{a} {operator} {b}"),
    }
}

/// A node: `⟨p, x⟩`, `⟨A0, id⟩`.
pub(crate) fn node_text(program: &Program, node: &Node, names: &Names) -> String {
    match node {
        Node::Terminal(assertion, datum) => {
            let assertion = match *assertion {
                Assertion::Constant(value) => value.to_string(),
                Assertion::Formula(formula, true) => display(program, formula),
                Assertion::Formula(formula, false) => negation(&display(program, formula)),
            };
            format!("⟨{assertion}, {}⟩", datum_text(program, *datum))
        }
        Node::Transient(transient) => {
            let f =
                transient.map.map_or("id".to_owned(), |(result, parameter)| map(program, result, parameter));
            format!("⟨{}, {f}⟩", names.of(transient.successor))
        }
    }
}

fn negation(text: &str) -> String {
    match text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.')) {
        true => format!("!{text}"),
        false => format!("!({text})"),
    }
}

fn datum_text(program: &Program, datum: Datum) -> String {
    match datum {
        Datum::True => "true".to_owned(),
        Datum::Term(term) => display(program, term),
    }
}

/// `v => v + 1`, or the constant that it is.
fn map(program: &Program, result: NodeId, parameter: u32) -> String {
    let shown = display(program, result);
    let (mut uses, mut seen) = (false, rustc_hash::FxHashSet::default());
    let mut todo = vec![result];
    while let Some(id) = todo.pop() {
        uses |= program.dag.node(id) == tw_ir::Node::Variable(parameter);
        todo.extend(program.dag.node(id).children().filter(|child| seen.insert(*child)));
    }
    match uses {
        true => {
            let name = program.dag.variables.get(parameter as usize).map_or("v", String::as_str);
            format!("{name} => {shown}")
        }
        false => shown,
    }
}

/// The function of `and` and `or`; the one that is left out is `true` of anything.
pub(crate) fn combine_text(g: Combine) -> Option<String> {
    Some(match g {
        Combine::Function(Function::True) => return None,
        Combine::Function(Function::Pair) => "pair".to_owned(),
        Combine::Function(Function::First) => "first".to_owned(),
        Combine::Function(Function::Second) => "second".to_owned(),
        Combine::Function(Function::Arithmetic(op)) => op.symbol().to_owned(),
        Combine::First => "first".to_owned(),
        Combine::Second => "pi2".to_owned(),
        Combine::Fold(aggregate) => format!("f_{aggregate}"),
    })
}

/// The function of f(A).
pub(crate) fn apply_text(program: &Program, f: Apply) -> String {
    match f {
        Apply::Negate(Datum::True) => "not".to_owned(),
        Apply::Negate(c) => format!("negate[{}]", datum_text(program, c)),
        Apply::Default(c) => format!("default[{}]", display(program, c)),
        Apply::Map { result, parameter } => format!("[{}]", map(program, result, parameter)),
        Apply::Statistic(aggregate) => aggregate.to_string(),
    }
}

//! Formulas over few operators: conjunction, exclusive or, and reaching a goal ahead or behind; negation is a mark on an
//! operand. All other operators are these, their duals or abbreviations.

use crate::Window;
use crate::formula::Formulas;
use tw_ir::{Node, NodeId};

/// A step, or its negation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Operand {
    pub(crate) step: usize,
    pub(crate) negated: bool,
}

impl std::ops::Not for Operand {
    type Output = Operand;

    fn not(self) -> Operand {
        Operand { negated: !self.negated, ..self }
    }
}

/// One operator; operands come before it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    True,
    /// The first instant, or the last.
    First,
    Last,
    /// By its place in `Program::atoms`.
    Atom(usize),
    And(Operand, Operand),
    Xor(Operand, Operand),
    /// `hold U[I] goal`, or `S` if not `ahead`; without `hold`, `F` or `O`.
    Reach {
        hold: Option<Operand>,
        goal: Operand,
        window: Window,
        ahead: bool,
    },
}

/// The steps of a formula, and the formula itself among them.
pub(crate) struct Steps {
    pub(crate) list: Vec<Step>,
    pub(crate) formula: Operand,
}

impl Steps {
    /// Of the formula at `node`, which is one of `formulas`.
    pub(crate) fn new(formulas: &Formulas, node: NodeId) -> Steps {
        let mut list = Vec::new();
        let mut of: Vec<Option<Operand>> = vec![None; node.index() + 1];
        for (id, at, window, atom) in formulas.nodes() {
            let operand = |id: NodeId| of[id.index()].unwrap_or(Operand { step: 0, negated: false });
            let made = match atom {
                Some(atom) => add(&mut list, Step::Atom(atom)),
                None => operator(&mut list, at, window, operand),
            };
            of[id.index()] = Some(made);
        }
        let formula = of[node.index()].unwrap_or(Operand { step: 0, negated: false });
        Steps { list, formula }
    }
}

fn add(list: &mut Vec<Step>, step: Step) -> Operand {
    list.push(step);
    Operand { step: list.len() - 1, negated: false }
}

fn operator(list: &mut Vec<Step>, node: Node, window: Window, of: impl Fn(NodeId) -> Operand) -> Operand {
    use Node::*;
    let reach =
        |list: &mut Vec<Step>, hold, goal, ahead| add(list, Step::Reach { hold, goal, window, ahead });
    match node {
        Bool(value) => {
            let made = add(list, Step::True);
            if value { made } else { !made }
        }
        First => add(list, Step::First),
        Last => add(list, Step::Last),
        Not(a) => !of(a),
        And(a, b) => add(list, Step::And(of(a), of(b))),
        Or(a, b) => !add(list, Step::And(!of(a), !of(b))),
        Implies(a, b) => !add(list, Step::And(of(a), !of(b))),
        Xor(a, b) => add(list, Step::Xor(of(a), of(b))),
        Iff(a, b) => !add(list, Step::Xor(of(a), of(b))),
        Finally(_, a) => reach(list, None, of(a), true),
        Once(_, a) => reach(list, None, of(a), false),
        Globally(_, a) => !reach(list, None, !of(a), true),
        Historically(_, a) => !reach(list, None, !of(a), false),
        Until(_, a, b) => reach(list, Some(of(a)), of(b), true),
        Since(_, a, b) => reach(list, Some(of(a)), of(b), false),
        Release(_, a, b) => !reach(list, Some(!of(a)), !of(b), true),
        Trigger(_, a, b) => !reach(list, Some(!of(a)), !of(b), false),
        // b R (a | b), which is !(!b U (!a & !b)); and mirrored.
        WeakUntil(_, a, b) | BackTo(_, a, b) => {
            let neither = add(list, Step::And(!of(a), !of(b)));
            !reach(list, Some(!of(b)), neither, matches!(node, WeakUntil(..)))
        }
        StrongRelease(_, a, b) => {
            let both = add(list, Step::And(of(a), of(b)));
            reach(list, Some(of(b)), both, true)
        }
        // Refused when the formulas were checked.
        _ => !add(list, Step::True),
    }
}

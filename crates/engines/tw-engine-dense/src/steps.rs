//! Formulas over few operators: conjunction, exclusive or, and reaching a goal ahead or behind; negation is a mark on an
//! operand. All other operators are these, their duals or abbreviations.

use crate::Window;
use crate::formula::Formulas;
use tw_ir::NodeId;
use tw_monitor::{Circuit, Connectives, gate};

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
            let mut making = Making { list: &mut list, window };
            let made = match atom {
                Some(atom) => making.atom(atom as u32),
                None => {
                    // What is no formula was refused when the formulas were checked.
                    gate(&mut making, at, operand).unwrap_or_else(|| !making.truth())
                }
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

/// The steps of an operator that has this window.
struct Making<'l> {
    list: &'l mut Vec<Step>,
    window: Window,
}

impl Connectives for Making<'_> {
    type Edge = Operand;

    fn truth(&mut self) -> Operand {
        add(self.list, Step::True)
    }

    fn atom(&mut self, index: u32) -> Operand {
        add(self.list, Step::Atom(index as usize))
    }

    fn first(&mut self) -> Operand {
        add(self.list, Step::First)
    }

    fn last(&mut self) -> Operand {
        add(self.list, Step::Last)
    }

    fn and(&mut self, a: Operand, b: Operand) -> Operand {
        add(self.list, Step::And(a, b))
    }

    fn xor(&mut self, a: Operand, b: Operand) -> Operand {
        add(self.list, Step::Xor(a, b))
    }
}

impl<'l> Circuit for Making<'l> {
    type Edge = Operand;
    type Gates = Making<'l>;

    fn gates(&mut self) -> &mut Self {
        self
    }

    /// Refused when the formulas were checked.
    fn step(&mut self, _: bool, _: Operand) -> Operand {
        !self.truth()
    }

    fn until(&mut self, past: bool, hold: Option<Operand>, goal: Operand) -> Operand {
        add(self.list, Step::Reach { hold, goal, window: self.window, ahead: !past })
    }
}

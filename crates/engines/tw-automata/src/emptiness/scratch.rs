//! Dense tables for the expansion at work, and evaluation of expressions in them.

use super::tables::Tables;
use crate::alternating::{Alternating, Direction, Expr, ExprId, Label, NodeIndex};

/// The automaton and what is known about it.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'a> {
    pub automaton: &'a Alternating,
    pub tables: &'a Tables,
}

impl Reader<'_> {
    /// Whether a node is certain to hold, or certain not to; `None` for what reaches into the future.
    pub fn certain(self, scratch: &Scratch, memory: &[bool], index: NodeIndex) -> Option<bool> {
        let node = self.automaton.node(index);
        let label = match node.label {
            Label::True => Some(true),
            Label::Atom(atom, value) => scratch.atoms[atom as usize].map(|known| known == value),
            Label::Last(value) => Some(!value),
        };
        match node.direction {
            Direction::State => label,
            Direction::Past if label == Some(true) => {
                Some(self.tables.past_holds(self.automaton, index, memory))
            }
            // There is always a next position.
            Direction::Future if self.automaton.expr(node.delta) == Expr::True => label,
            Direction::Future if self.automaton.expr(node.delta) == Expr::False => Some(false),
            Direction::Past | Direction::Future => label.filter(|holds| !holds),
        }
    }
}

/// What expansions read, and the work that they may still do.
pub(crate) struct Context<'a> {
    pub reader: Reader<'a>,
    pub work: &'a mut usize,
}

impl Context<'_> {
    /// Accounts for work.
    pub fn spend(&mut self, units: usize) {
        *self.work = self.work.saturating_sub(units);
    }
}

/// What has been decided about the position, in order, so that it can be taken back.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Mark {
    Atom(u32),
    Owed(NodeIndex),
    Required(ExprId),
}

/// Tables that belong to the expansion at work.
#[derive(Clone, Debug)]
pub(crate) struct Scratch {
    /// What the position is known to satisfy.
    pub atoms: Vec<Option<bool>>,
    /// Future nodes that are taken.
    pub owed: Vec<bool>,
    /// Connectives that are being met already.
    pub required: Vec<bool>,
    /// For [`Scratch::evaluate`]: values by expression, valid where the stamp is the current one.
    values: Vec<(u32, Option<bool>)>,
    stamp: u32,
    stack: Vec<ExprId>,
}

impl Scratch {
    pub fn new(atoms: usize) -> Self {
        Self {
            atoms: vec![None; atoms],
            owed: Vec::new(),
            required: Vec::new(),
            values: Vec::new(),
            stamp: 1,
            stack: Vec::new(),
        }
    }

    /// Makes room for all of the automaton.
    pub fn extend(&mut self, automaton: &Alternating) {
        self.owed.resize(automaton.nodes().len(), false);
        self.required.resize(automaton.exprs().len(), false);
        self.values.resize(automaton.exprs().len(), (0, None));
    }

    /// Decides something, or takes it back.
    pub fn set(&mut self, mark: Mark, value: Option<bool>) {
        match mark {
            Mark::Atom(atom) => self.atoms[atom as usize] = value,
            Mark::Owed(node) => self.owed[node.index()] = value.is_some(),
            Mark::Required(id) => self.required[id.index()] = value.is_some(),
        }
    }

    /// Forgets what expressions came to, as what their nodes are worth has changed.
    pub fn forget(&mut self) {
        self.stamp = self.stamp.wrapping_add(1);
        if self.stamp == 0 {
            self.values.iter_mut().for_each(|value| value.0 = 0);
            self.stamp = 1;
        }
    }

    /// The value of an expression as far as that of its nodes is known; remembered until [`Scratch::forget`].
    pub fn evaluate(
        &mut self,
        context: &mut Context<'_>,
        root: ExprId,
        leaf: impl Fn(&Self, NodeIndex) -> Option<bool>,
    ) -> Option<bool> {
        let known = |scratch: &Self, id: ExprId| {
            let (stamp, value) = scratch.values[id.index()];
            (stamp == scratch.stamp).then_some(value)
        };
        let mut todo = std::mem::take(&mut self.stack);
        todo.push(root);
        while let Some(&id) = todo.last() {
            context.spend(1);
            let value = match context.reader.automaton.expr(id) {
                Expr::True => Some(true),
                Expr::False => Some(false),
                Expr::Node(node) => leaf(self, node),
                expr @ (Expr::And(a, b) | Expr::Or(a, b)) => {
                    let decisive = Some(matches!(expr, Expr::Or(..)));
                    match (known(self, a), known(self, b)) {
                        (Some(a), _) if a == decisive => decisive,
                        (None, _) => {
                            todo.push(a);
                            continue;
                        }
                        (_, None) => {
                            todo.push(b);
                            continue;
                        }
                        (_, Some(b)) if b == decisive => decisive,
                        (Some(a), Some(b)) => a.and(b),
                    }
                }
            };
            self.values[id.index()] = (self.stamp, value);
            todo.pop();
        }
        self.stack = todo;
        self.values[root.index()].1
    }
}

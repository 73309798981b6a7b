//! Truth at single positions, by the definitions, as far as it is settled nearby. Most violations are: a column of every
//! subformula over the whole trace costs more than all that an explanation looks at.

use super::step::{Part, Source, Truths, justify};
use super::walk::{Walk, Window};
use super::{Bindings, Rule};
use crate::{EvaluateOptions, Trace, Unsupported};
use rustc_hash::FxHashMap;
use std::cell::{Cell, RefCell};
use tw_core::{Bits, Position};
use tw_ir::{Applied, Form, Node, NodeId, Program, Semantics};

/// Subformulas that are asked for at some position before it is left to columns.
const MOST: usize = 500;
/// How deep they may be inside each other.
const DEEPEST: usize = 60;

/// What is settled nearby.
pub(super) struct Nearby<'a> {
    program: &'a Program,
    trace: &'a Trace,
    options: &'a EvaluateOptions,
    atoms: &'a FxHashMap<NodeId, usize>,
    known: RefCell<FxHashMap<(NodeId, Position), bool>>,
    left: Cell<usize>,
    depth: Cell<usize>,
    /// A formula that fails first, from a position on, at another.
    pub(super) fails: Option<(NodeId, Position, Position)>,
    /// It is not: what was said since means nothing.
    far: Cell<bool>,
}

impl<'a> Nearby<'a> {
    pub(super) fn new(
        program: &'a Program,
        trace: &'a Trace,
        options: &'a EvaluateOptions,
        atoms: &'a FxHashMap<NodeId, usize>,
    ) -> Self {
        let (left, depth, far) = (Cell::new(MOST), Cell::new(0), Cell::new(false));
        Self { program, trace, options, atoms, known: RefCell::default(), left, depth, fails: None, far }
    }

    fn atom(&self, node: NodeId) -> Option<&'a Bits> {
        self.atoms.get(&node).map(|&index| &self.trace.atoms[index])
    }

    /// Not here.
    fn give_up(&self) -> bool {
        self.far.set(true);
        false
    }

    fn settle(&self, node: NodeId, at: Position) -> bool {
        let get = |node| self.get(node, at);
        match self.program.dag.node(node) {
            Node::Bool(value) => value,
            Node::First => self.trace.segment_of(at).0 == at,
            Node::Last => self.trace.segment_of(at).1 == at + 1,
            Node::Not(a) => !get(a),
            Node::And(a, b) => get(a) && get(b),
            Node::Or(a, b) => get(a) || get(b),
            Node::Implies(a, b) => !get(a) || get(b),
            Node::Xor(a, b) => get(a) != get(b),
            Node::Iff(a, b) => get(a) == get(b),
            own => match own.temporal() {
                Some(operator) => self.temporal(node, operator, at),
                None => self.give_up(),
            },
        }
    }

    fn temporal(&self, node: NodeId, operator: Applied, at: Position) -> bool {
        let forward = !operator.past;
        let walk = Walk::new(self.trace, self.options, at, forward);
        let Ok(window) = walk.window(self.program, self.options, node) else { return self.give_up() };
        let right = operator.right;
        if operator.is_step() {
            let inside = |offset: usize| matches!(window, Window::Offsets { low, high, .. } if (low..=high).contains(&offset));
            return match walk.neighbour() {
                Some(k) if inside(1) => self.get(right, k),
                None if forward && self.options.semantics == Semantics::RepeatLast && inside(0) => {
                    self.get(right, at)
                }
                _ => operator.weak,
            };
        }
        let Window::Offsets { low, high, .. } = window else { return operator.weak };
        // The first offset up to one where a formula has a value.
        let first =
            |node: NodeId, value: bool, low: usize, high: usize| self.find(&walk, node, value, low, high);
        // Whether there is none before an offset.
        let none = |node: NodeId, value: bool, end: usize| {
            end.checked_sub(1).is_none_or(|high| first(node, value, 0, high).is_none())
        };
        match (operator.form, operator.weak, operator.left) {
            (Form::Release, true, None) => first(right, false, low, high).is_none(),
            (Form::Release, true, Some(left)) => {
                first(right, false, low, high).is_none_or(|k| !none(left, true, k))
            }
            (Form::Release, false, Some(left)) => {
                first(left, true, low, high).is_some_and(|k| none(right, false, k + 1))
            }
            (_, true, Some(left)) => first(left, false, low, high).is_none_or(|k| !none(right, true, k + 1)),
            (_, _, left) => {
                first(right, true, low, high).is_some_and(|k| left.is_none_or(|left| none(left, false, k)))
            }
        }
    }
}

impl Truths for Nearby<'_> {
    fn get(&self, node: NodeId, at: Position) -> bool {
        if let Some(bits) = self.atom(node) {
            return bits.get(at);
        }
        if let Some(&known) = self.known.borrow().get(&(node, at)) {
            return known;
        }
        if self.far.get() || self.left.get() == 0 || self.depth.get() == DEEPEST {
            return self.give_up();
        }
        self.left.set(self.left.get() - 1);
        self.depth.set(self.depth.get() + 1);
        let holds = self.settle(node, at);
        self.depth.set(self.depth.get() - 1);
        self.known.borrow_mut().insert((node, at), holds);
        holds
    }

    fn find(&self, walk: &Walk<'_>, node: NodeId, value: bool, low: usize, high: usize) -> Option<usize> {
        if let (Some((own, from, at)), false, 0) = (self.fails, value, low)
            && own == node
            && from == walk.place(0)
            && (from..=walk.place(high)).contains(&at)
            && !self.get(node, at)
        {
            return Some(at - from);
        }
        match self.atom(node) {
            Some(bits) => walk.find(bits, value, low, high),
            None => {
                (low..=high).find(|&offset| self.get(node, walk.place(offset)) == value || self.far.get())
            }
        }
    }
}

impl Source for Nearby<'_> {
    fn root(&mut self, node: NodeId, _: &Bindings, at: Position) -> Result<bool, Unsupported> {
        Ok(self.get(node, at))
    }

    fn ask(&mut self, _: &[(NodeId, &Bindings)], _: usize) -> Result<(), Unsupported> {
        Ok(())
    }

    fn reasons(
        &mut self,
        node: NodeId,
        _: &mut Bindings,
        at: Position,
        holds: bool,
    ) -> Result<(Rule, Vec<Part>), Unsupported> {
        let own = self.program.dag.node(node);
        if matches!(own, Node::Exists(..) | Node::Forall(..)) {
            self.give_up();
        }
        justify(self.program, self.trace, self.options, self, node, at, holds)
    }

    fn knows(&self) -> bool {
        !self.far.get()
    }
}

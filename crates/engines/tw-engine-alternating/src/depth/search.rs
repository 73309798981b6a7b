//! The search itself, for truth and for any other semiring.

use super::memo::Memo;
use crate::goals::Segment;
use crate::semiring::Semiring;
use tw_automata::alternating::{Alternating, Direction, Expr, ExprId, NodeIndex};
use tw_core::Position;
use tw_monitor::Unsupported;

/// What is to be done with the value of what is being searched.
enum Frame<V> {
    /// The other operand of a conjunction or disjunction is yet to be searched.
    And(ExprId, Position),
    Or(ExprId, Position),
    /// The value of the other operand is known.
    Meet(V),
    Join(V),
    /// It is the value of the node's next automaton.
    Node(NodeIndex, Position),
}

/// DEPTH-FIRST, with what it remembers between questions about one trace.
pub(crate) struct Search<'a, S: Semiring> {
    automaton: &'a Alternating,
    semiring: &'a S,
    memo: Option<Memo<S::Value>>,
    stack: Vec<Frame<S::Value>>,
    budget: usize,
    /// Nodes visited, as often as they were.
    pub(crate) visits: u64,
}

impl<'a, S: Semiring> Search<'a, S> {
    /// For a trace of `len` positions. Without a memo every question is answered from scratch.
    pub(crate) fn new(
        automaton: &'a Alternating,
        semiring: &'a S,
        len: usize,
        remember: bool,
        budget: usize,
    ) -> Result<Self, Unsupported> {
        let memo = if remember {
            let nodes = automaton.nodes().len();
            Some(Memo::new(nodes, len, semiring.heap_bytes(), budget).ok_or_else(|| over(budget))?)
        } else {
            None
        };
        Ok(Self { automaton, semiring, memo, stack: Vec::new(), budget, visits: 0 })
    }

    /// What the runs from `expr` at a position are worth.
    pub(crate) fn value(
        &mut self,
        segment: &Segment<'_>,
        expr: ExprId,
        at: Position,
    ) -> Result<S::Value, Unsupported> {
        let (mut expr, mut at) = (expr, at);
        loop {
            // Down to a leaf.
            let mut value = loop {
                match self.automaton.expr(expr) {
                    Expr::True => break self.semiring.top(),
                    Expr::False => break self.semiring.bottom(),
                    Expr::And(a, b) => {
                        self.stack.push(Frame::And(b, at));
                        expr = a;
                    }
                    Expr::Or(a, b) => {
                        self.stack.push(Frame::Or(b, at));
                        expr = a;
                    }
                    Expr::Node(index) => match self.visit(segment, index, at)? {
                        Visit::Value(value) => break value,
                        Visit::Go(next, neighbour) => {
                            self.stack.push(Frame::Node(index, at));
                            (expr, at) = (next, neighbour);
                        }
                    },
                }
            };
            // Up to the next thing to be searched.
            (expr, at) = loop {
                let Some(frame) = self.stack.pop() else { return Ok(value) };
                match frame {
                    Frame::And(b, at) => {
                        if value == self.semiring.bottom() {
                            continue;
                        }
                        if value != self.semiring.top() {
                            self.stack.push(Frame::Meet(value));
                        }
                        break (b, at);
                    }
                    Frame::Or(b, at) => {
                        if self.semiring.absorbs(&value) {
                            continue;
                        }
                        if value != self.semiring.bottom() {
                            self.stack.push(Frame::Join(value));
                        }
                        break (b, at);
                    }
                    Frame::Meet(other) => value = self.semiring.meet(&other, &value),
                    Frame::Join(other) => value = self.semiring.join(&other, &value),
                    Frame::Node(index, at) => {
                        if value != self.semiring.bottom() {
                            value = self.semiring.update(&value, index);
                        }
                        if let Some(memo) = &mut self.memo {
                            memo.put(index, at, value.clone());
                        }
                    }
                }
            };
        }
    }

    /// The value of a node, or where its next automaton is to be searched.
    fn visit(
        &mut self,
        segment: &Segment<'_>,
        index: NodeIndex,
        at: Position,
    ) -> Result<Visit<S::Value>, Unsupported> {
        self.visits += 1;
        let node = self.automaton.node(index);
        if !segment.holds(node.label, at) {
            return Ok(Visit::Value(self.semiring.bottom()));
        }
        let neighbour = match node.direction {
            Direction::State => {
                return Ok(Visit::Value(self.semiring.update(&self.semiring.top(), index)));
            }
            Direction::Future => (at + 1 < segment.end).then_some(at + 1),
            Direction::Past => (at > segment.start).then(|| at - 1),
        };
        let Some(neighbour) = neighbour.or(node.stays.then_some(at)) else {
            return Ok(Visit::Value(if node.accepting {
                self.semiring.update(&self.semiring.top(), index)
            } else {
                self.semiring.bottom()
            }));
        };
        if let Some(value) = self.memo.as_ref().and_then(|memo| memo.get(index, at)) {
            return Ok(Visit::Value(value));
        }
        let frame = size_of::<Frame<S::Value>>() + self.semiring.heap_bytes();
        let held = self.memo.as_ref().map_or(0, Memo::bytes) + self.stack.len() * frame;
        if held > self.budget {
            self.stack.clear();
            return Err(over(self.budget));
        }
        Ok(Visit::Go(node.delta, neighbour))
    }
}

enum Visit<V> {
    Value(V),
    Go(ExprId, Position),
}

fn over(budget: usize) -> Unsupported {
    Unsupported::budget(format!("more than {budget} bytes of values by node and position"))
        .help("`reverse` needs memory for the formula alone")
}

//! The truth of every part of a formula at every position: two bits each, whether it is true, and whether it may be.
//!
//! For formulas without intervals and quantifiers an engine computes them, 64 positions per word ([`Lifted`]); for the others,
//! and for single traces, [`Columns::of_trace`] goes from position to position.

use crate::formula::{Cell, CellId, Formula, Kind};
use crate::time::Timing;
use crate::truth::{Kleene, Mask, Truth, connective};
use std::borrow::Cow;
use tw_core::{Bits, Position};
use tw_ir::{Applied, Form, Node, NodeId, Program, Temporal};
use tw_monitor::Unsupported;

/// The truth of a part: where it is true, and where it is not false; the latter is missing where they are the same.
#[derive(Clone, Debug)]
pub(crate) struct Column<'a> {
    pub holds: Cow<'a, Bits>,
    pub may: Option<Cow<'a, Bits>>,
}

impl Column<'_> {
    pub(crate) fn get(&self, at: Position) -> Truth {
        match self.holds.get(at) {
            true => Truth::True,
            false if self.may().get(at) && self.may.is_some() => Truth::Unknown,
            false => Truth::False,
        }
    }

    pub(crate) fn may(&self) -> &Bits {
        self.may.as_deref().unwrap_or(&self.holds)
    }
}

/// Columns of the parts that are looked at.
#[derive(Clone, Debug)]
pub struct Columns<'a>(pub(crate) Vec<Option<Column<'a>>>);

impl Columns<'_> {
    pub(crate) fn of(&self, cell: CellId) -> Option<&Column<'_>> {
        self.0[cell as usize].as_ref()
    }
}

/// The formulas whose truth an engine is asked for, and whose they are.
#[derive(Clone, Debug)]
pub struct Lifted {
    /// By cell, the places in the engine's answer.
    places: Vec<Option<(usize, Option<usize>)>>,
    /// What to ask for.
    pub nodes: Vec<NodeId>,
}

impl Lifted {
    /// Adds to a program what is true, and what is not false, for the cells that are needed.
    pub(crate) fn new(program: &mut Program, formula: &Formula, needed: &[bool]) -> Self {
        let mut both: Vec<(NodeId, NodeId)> = Vec::with_capacity(formula.cells.len());
        let (mut places, mut nodes) = (Vec::new(), Vec::new());
        for (at, cell) in formula.cells.iter().enumerate() {
            let own = lift(program, cell, &both);
            both.push(own);
            places.push(needed[at].then(|| {
                let mut ask = |node: NodeId| {
                    nodes.push(node);
                    nodes.len() - 1
                };
                let holds = ask(own.0);
                (holds, cell.possible.has(Truth::Unknown).then(|| ask(own.1)))
            }));
        }
        Self { places, nodes }
    }

    /// The columns, from the engine's answer.
    pub fn columns<'a>(&self, answer: &'a [Bits]) -> Columns<'a> {
        let column = |(holds, may): (usize, Option<usize>)| Column {
            holds: Cow::Borrowed(&answer[holds]),
            may: may.map(|may| Cow::Borrowed(&answer[may])),
        };
        Columns(self.places.iter().map(|place| place.map(column)).collect())
    }
}

/// Where a cell is true and where it is not false, as formulas of two values, from those of its children.
fn lift(program: &mut Program, cell: &Cell, both: &[(NodeId, NodeId)]) -> (NodeId, NodeId) {
    let of = |at: usize| both[cell.children[at] as usize];
    let dag = &mut program.dag;
    let mut add = |node: Node| dag.add(node);
    match &cell.kind {
        Kind::Leaf(node) => (*node, *node),
        Kind::Not => (add(Node::Not(of(0).1)), add(Node::Not(of(0).0))),
        Kind::And => (add(Node::And(of(0).0, of(1).0)), add(Node::And(of(0).1, of(1).1))),
        Kind::Or => (add(Node::Or(of(0).0, of(1).0)), add(Node::Or(of(0).1, of(1).1))),
        Kind::Implies => (add(Node::Implies(of(0).1, of(1).0)), add(Node::Implies(of(0).0, of(1).1))),
        Kind::Xor | Kind::Iff => {
            let ((a, may_a), (b, may_b)) = (of(0), of(1));
            let xor = matches!(cell.kind, Kind::Xor);
            let (not_a, never_a) = (add(Node::Not(may_a)), add(Node::Not(a)));
            let (not_b, never_b) = (add(Node::Not(may_b)), add(Node::Not(b)));
            let mut pair = |a: NodeId, b: NodeId, not_a: NodeId, not_b: NodeId| {
                let (left, right) = match xor {
                    true => (add(Node::And(a, not_b)), add(Node::And(not_a, b))),
                    false => (add(Node::And(a, b)), add(Node::And(not_a, not_b))),
                };
                add(Node::Or(left, right))
            };
            (pair(a, b, not_a, not_b), pair(may_a, may_b, never_a, never_b))
        }
        Kind::Step(applied) => {
            let (holds, may) = of(0);
            // Nothing comes before the first position: what looks back is decided.
            let own = |weak: bool| applied.operator.with_weak(weak).filter(|_| !applied.past);
            let own = |weak: bool| own(weak).unwrap_or(applied.operator);
            (add(Node::Unary(own(false), None, holds)), add(Node::Unary(own(true), None, may)))
        }
        Kind::Walk(applied) => {
            let last = cell.children.len() - 1;
            let operand = |at: usize, may: bool| if may { of(at).1 } else { of(at).0 };
            let mut made = |operator: Temporal, may: bool| {
                let right = operand(last, may);
                add(match applied.left {
                    Some(_) => Node::Binary(operator, None, operand(0, may), right),
                    None => Node::Unary(operator, None, right),
                })
            };
            if applied.past {
                return (made(applied.operator, false), made(applied.operator, true));
            }
            // The end of the trace decides nothing: for what is true the operator is strong, for what may be it is weak.
            match (applied.operator.with_weak(false), applied.operator.with_weak(true)) {
                (Some(strong), Some(weak)) => (made(strong, false), made(weak, true)),
                // Of `F` and `G` there is one each: the other holds nowhere for sure, or may everywhere.
                (None, _) => {
                    let may = made(applied.operator, true);
                    (add(Node::Bool(false)), may)
                }
                (_, None) => (made(applied.operator, false), add(Node::Bool(true))),
            }
        }
        // Formulas with quantifiers are not given to engines.
        Kind::Quantifier { forall, .. } => {
            let node = add(Node::Bool(*forall));
            (node, node)
        }
    }
}

impl Columns<'static> {
    /// Of one trace, of all parts: from the truth of leaves, asked for by node.
    pub fn of_trace(
        formula: &Formula,
        program: &Program,
        len: usize,
        timing: &Timing<'_>,
        leaf: &dyn Fn(NodeId) -> Option<Bits>,
    ) -> Result<Self, Unsupported> {
        let program = formula.program().unwrap_or(program);
        let mut columns: Vec<Option<Column<'static>>> = Vec::with_capacity(formula.cells.len());
        for cell in &formula.cells {
            let of = |at: usize| columns[cell.children[at] as usize].as_ref();
            let column = match &cell.kind {
                Kind::Leaf(node) => {
                    let bits = match program.dag.node(*node) {
                        Node::Bool(holds) => Bits::repeat(holds, len),
                        Node::First => (0..len).map(|at| at == 0).collect(),
                        Node::Last => (0..len).map(|at| at + 1 == len).collect(),
                        _ => leaf(*node)
                            .ok_or_else(|| Unsupported::construct(cell.node, "this part of the formula"))?,
                    };
                    Column { holds: Cow::Owned(bits), may: None }
                }
                Kind::Quantifier { forall, values } => {
                    let value = |at: Position| {
                        let present = |guard: CellId| {
                            columns[guard as usize].as_ref().is_some_and(|own| own.holds.get(at))
                        };
                        let start = Truth::from(*forall);
                        let own = values.iter().zip(&cell.children).filter(|((_, guard), _)| present(*guard));
                        own.fold(start, |truth, (_, &child)| {
                            let below =
                                columns[child as usize].as_ref().map_or(start, |column| column.get(at));
                            if *forall { truth.and(below) } else { truth.or(below) }
                        })
                    };
                    pack(len, cell.possible, value)
                }
                Kind::Step(applied) => {
                    if let Some(interval) = applied.interval {
                        timing.ticks(interval)?;
                    }
                    let value = |at: Position| match timing.neighbour(applied, at, len) {
                        Some(next) => of(0).map_or(Truth::Unknown, |column| column.get(next)),
                        None if applied.past || at + 1 < len => Truth::from(applied.weak),
                        None if timing.window(applied, at, len).closed => Truth::from(applied.weak),
                        None => Truth::Unknown,
                    };
                    pack(len, cell.possible.with(Truth::from(applied.weak)), value)
                }
                Kind::Walk(applied) => {
                    let right = of(cell.children.len() - 1);
                    let left = (cell.children.len() > 1).then(|| of(0)).flatten();
                    let Some(right) = right else { continue };
                    walk(applied, left, right, len, timing)?
                }
                kind => {
                    let value = |at: Position| {
                        let own = |nth: usize| of(nth).map_or(Truth::Unknown, |column| column.get(at));
                        connective(kind, own(0), own(cell.children.len() - 1))
                    };
                    pack(len, cell.possible, value)
                }
            };
            columns.push(Some(column));
        }
        Ok(Columns(columns))
    }
}

fn pack(len: usize, possible: Mask, value: impl Fn(Position) -> Truth) -> Column<'static> {
    let (mut holds, mut may) = (Bits::with_capacity(len), Bits::with_capacity(len));
    for at in 0..len {
        let own = value(at);
        holds.push(own == Truth::True);
        may.push(own != Truth::False);
    }
    Column { holds: Cow::Owned(holds), may: possible.has(Truth::Unknown).then_some(Cow::Owned(may)) }
}

/// Until, release and all between, forwards or backwards.
fn walk(
    applied: &Applied,
    left: Option<&Column<'_>>,
    right: &Column<'_>,
    len: usize,
    timing: &Timing<'_>,
) -> Result<Column<'static>, Unsupported> {
    if let Some(interval) = applied.interval {
        timing.ticks(interval)?;
        let value = |at: Position| {
            let holds = inside(applied, left, right, len, timing, at, false);
            let may = holds || inside(applied, left, right, len, timing, at, true);
            if holds {
                Truth::True
            } else if may {
                Truth::Unknown
            } else {
                Truth::False
            }
        };
        return Ok(pack(len, Mask::ALL, value));
    }
    // By its own equation, from the end that it looks at. Backwards the end decides, forwards it leaves all open.
    let run = |may: bool| {
        let bit =
            |column: &Column<'_>, at: Position| if may { column.may().get(at) } else { column.holds.get(at) };
        let mut bits = Bits::repeat(false, len);
        let mut neighbour = if applied.past { applied.weak } else { may };
        for step in 0..len {
            let at = if applied.past { step } else { len - 1 - step };
            neighbour = applied.unfold(left.map(|left| bit(left, at)), bit(right, at), neighbour);
            bits.set(at, neighbour);
        }
        bits
    };
    Ok(Column { holds: Cow::Owned(run(false)), may: Some(Cow::Owned(run(true))) })
}

/// An operator with an interval at a position: whether it is true or, with `may`, whether it may be.
fn inside(
    applied: &Applied,
    left: Option<&Column<'_>>,
    right: &Column<'_>,
    len: usize,
    timing: &Timing<'_>,
    at: Position,
    may: bool,
) -> bool {
    let bit =
        |column: &Column<'_>, at: Position| if may { column.may().get(at) } else { column.holds.get(at) };
    let window = timing.window(applied, at, len);
    // `φ W ψ = ψ R (φ | ψ)`, `φ M ψ = ψ U (φ & ψ)`: what has to hold meanwhile, and what is awaited.
    let swapped = applied.left.is_some() && (applied.form == Form::Until) == applied.weak;
    let dual = applied.weak;
    let hold = |at: Position| match left {
        _ if swapped => bit(right, at),
        Some(left) => bit(left, at),
        None => !dual,
    };
    let goal = |at: Position| match left {
        Some(left) if swapped && dual => bit(left, at) || bit(right, at),
        Some(left) if swapped => bit(left, at) && bit(right, at),
        _ => bit(right, at),
    };
    let (first, last) = window.range.unwrap_or((1, 0));
    // From the position away from it.
    let steps = if applied.past { at + 1 } else { len - at };
    let place = |step: usize| if applied.past { at - step } else { at + step };
    let inside = |at: Position| first <= at && at <= last;
    for step in 0..steps {
        let here = place(step);
        if inside(here) && goal(here) != dual {
            return !dual;
        }
        // Past the window, what has to hold matters only while it may go on.
        if hold(here) == dual {
            return dual;
        }
        let past_window = if applied.past { here <= first } else { here >= last };
        if window.closed && past_window {
            return dual;
        }
    }
    // The trace ends first.
    if window.closed { dual } else { may }
}

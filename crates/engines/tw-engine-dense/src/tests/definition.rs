//! The operators by their definitions.
//!
//! Truth is constant on every cell (an instant t, or what lies strictly between t and t + 1), so a cell is looked at
//! through one of its instants: t, or t + 1/2. What such an instant sees at t′ depends on the cell of t′ and on how
//! their distance compares with whole numbers, so t′ on multiples of 1/4 meet all cases; and t″ on multiples of 1/8
//! look between those. Instants are counted in eighths here.

use crate::{Signal, Span};
use tw_ir::{Bound, Interval, Node, NodeId, Way};

/// A truth value per cell.
pub(crate) type Cells = Vec<bool>;

pub(crate) fn cells(signal: &Signal) -> Cells {
    (0..signal.span().cells()).map(|cell| signal.at_cell(cell)).collect()
}

fn instant(cell: usize) -> usize {
    cell / 2 * 8 + cell % 2 * 4
}

fn cell(instant: usize) -> usize {
    instant / 8 * 2 + usize::from(!instant.is_multiple_of(8))
}

/// Whether a distance, in eighths, is in the interval; bounds are whole nanoseconds.
fn within(interval: Option<Interval>, distance: usize) -> bool {
    let Some(Interval { low, high }) = interval else { return true };
    let eighths = |bound: Bound| bound.billionths / 1_000_000_000 * 8;
    let distance = distance as i128;
    (eighths(low) < distance || !low.open && eighths(low) == distance)
        && high.is_none_or(|high| distance < eighths(high) || !high.open && distance == eighths(high))
}

/// The truth of a node on every cell, from that of its operands.
pub(crate) fn define(node: Node, span: Span, of: impl Fn(NodeId) -> Cells) -> Cells {
    use Node::*;
    let end = 4 * (span.cells() as usize - 1);
    let interval = node.interval();
    let at = |truth: &Cells, instant: usize| truth[cell(instant)];
    // Some t′ ahead (or behind) with the goal there, and the other operand at every t″ between.
    let until = |phi: &Cells, psi: &Cells, t: usize| {
        (t..=end)
            .filter(|u| u.is_multiple_of(2))
            .any(|u| within(interval, u - t) && at(psi, u) && (t..u).all(|between| at(phi, between)))
    };
    let since = |phi: &Cells, psi: &Cells, t: usize| {
        (0..=t)
            .filter(|u| u.is_multiple_of(2))
            .any(|u| within(interval, t - u) && at(psi, u) && (u + 1..=t).all(|between| at(phi, between)))
    };
    // At every t′, unless the other operand held at some t″ before.
    let release = |phi: &Cells, psi: &Cells, t: usize| {
        (t..=end)
            .filter(|u| u.is_multiple_of(2))
            .all(|u| !within(interval, u - t) || at(psi, u) || (t..u).any(|between| at(phi, between)))
    };
    let trigger = |phi: &Cells, psi: &Cells, t: usize| {
        (0..=t)
            .filter(|u| u.is_multiple_of(2))
            .all(|u| !within(interval, t - u) || at(psi, u) || (u + 1..=t).any(|between| at(phi, between)))
    };
    let every = |f: &dyn Fn(usize) -> bool| (0..span.cells() as usize).map(|c| f(instant(c))).collect();
    let one = |a: NodeId, f: &dyn Fn(bool) -> bool| of(a).into_iter().map(f).collect();
    let two = |a: NodeId, b: NodeId, f: &dyn Fn(bool, bool) -> bool| -> Cells {
        of(a).into_iter().zip(of(b)).map(|(a, b)| f(a, b)).collect()
    };
    let constant = |value: bool| vec![value; span.cells() as usize];
    if let Some(operator) = node.temporal()
        && let Some(Way { dual, hold, goal: (goal, beside) }) = operator.way()
    {
        let hold = hold.map_or(constant(!dual), &of);
        let goal = match beside {
            Some(beside) => two(goal, beside, &|a, b| if dual { a || b } else { a && b }),
            None => of(goal),
        };
        return every(&|t| match (dual, operator.past) {
            (false, false) => until(&hold, &goal, t),
            (false, true) => since(&hold, &goal, t),
            (true, false) => release(&hold, &goal, t),
            (true, true) => trigger(&hold, &goal, t),
        });
    }
    match node {
        Bool(value) => constant(value),
        First => every(&|t| t == 0),
        Last => every(&|t| t == end),
        Not(a) => one(a, &|a| !a),
        And(a, b) => two(a, b, &|a, b| a && b),
        Or(a, b) => two(a, b, &|a, b| a || b),
        Xor(a, b) => two(a, b, &|a, b| a != b),
        Implies(a, b) => two(a, b, &|a, b| !a || b),
        Iff(a, b) => two(a, b, &|a, b| a == b),
        node => panic!("`{}` is not defined over continuous time", node.operator()),
    }
}

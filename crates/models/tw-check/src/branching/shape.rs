//! Path formulas of CTL: one temporal operator over state formulas, brought to four shapes.

use tw_core::TimeUnit;
use tw_ir::{Clock, Interval, Node, NodeId, Program, Ticks, Way, display};
use tw_monitor::Unsupported;

/// A state formula and the truth that is asked of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Literal {
    pub node: NodeId,
    pub value: bool,
}

/// What is asked of one state: all of these, or (`any`) one of them.
#[derive(Clone, Debug)]
pub(crate) struct Operand {
    pub any: bool,
    pub parts: Vec<Literal>,
}

impl Operand {
    const TRUE: Operand = Operand { any: false, parts: Vec::new() };
    const FALSE: Operand = Operand { any: true, parts: Vec::new() };

    fn of(node: NodeId, value: bool) -> Self {
        Self { any: false, parts: vec![Literal { node, value }] }
    }

    fn constant(value: bool) -> Self {
        if value { Self::TRUE } else { Self::FALSE }
    }
}

/// Paths, by what is asked of their states.
#[derive(Clone, Debug)]
pub(crate) enum Shape {
    /// The first state.
    Here(Operand),
    /// The second state.
    Next(Operand),
    /// At a distance within the ticks a state as the second says, those before it as the first says.
    Until(Ticks, Operand, Operand),
    /// At every distance within the ticks a state as the second says, unless one before it is as the first says.
    Release(Ticks, Operand, Operand),
}

const ALWAYS: Ticks = Ticks { low: 0, high: i64::MAX };

/// An interval in transitions.
pub(crate) fn ticks(
    program: &Program,
    node: NodeId,
    interval: Option<Interval>,
) -> Result<Ticks, Unsupported> {
    let Some(interval) = interval else { return Ok(ALWAYS) };
    interval.ticks(Clock::Index, TimeUnit::Seconds).map_err(|error| {
        Unsupported::construct(node, format!("`{}`: {error}", display(program, node)))
            .help("on a model, intervals count transitions: `F[0,10] p`")
    })
}

/// The paths on which a path formula has the given truth; `None` if it is more than one temporal operator over state
/// formulas (those that `state` says).
pub(crate) fn shape(
    program: &Program,
    mut node: NodeId,
    mut value: bool,
    state: &[bool],
) -> Result<Option<Shape>, Unsupported> {
    use Node::*;
    let is_state = |node: NodeId| state[node.index()];
    while let (false, Not(inner)) = (is_state(node), program.dag.node(node)) {
        (node, value) = (inner, !value);
    }
    if is_state(node) {
        return Ok(Some(Shape::Here(Operand::of(node, value))));
    }
    let Some(operator) = program.dag.node(node).temporal() else { return Ok(None) };
    if operator.past || !program.dag.node(node).children().all(is_state) {
        return Ok(None);
    }
    let ticks = ticks(program, node, operator.interval)?;
    let of = |node: NodeId| Operand::of(node, value);
    let Some(Way { dual, hold, goal: (goal, beside) }) = operator.way() else {
        // Where the step lies outside the interval, `X` is false and its dual `N` is true.
        return Ok(Some(match ticks.contains(1) {
            true => Shape::Next(of(operator.right)),
            false => Shape::Here(Operand::constant(value == operator.weak)),
        }));
    };
    // The negation of an until is the release of the negations, and the other way round.
    let until = value != dual;
    let hold = hold.map_or(Operand::constant(until), of);
    let goal = match beside {
        Some(beside) => {
            let parts = [goal, beside].map(|node| Literal { node, value });
            Operand { any: !until, parts: parts.to_vec() }
        }
        None => of(goal),
    };
    Ok(Some(if until { Shape::Until(ticks, hold, goal) } else { Shape::Release(ticks, hold, goal) }))
}

//! Formulas reduced to what the kernels can do.
//!
//! Edges carry a negation bit ([`Lit`]): with `¬` free on every edge, conjunction, exclusive or, a shift by one, the chain
//! `r = now | hold & r'` and the fill "some position up to here" are all that is left of the connectives and temporal
//! operators.

use tw_ir::{Applied, Form, Interval, Node, NodeId};
use tw_monitor::{Circuit, Connectives, Gate, Gates, Lit, Lower, Unsupported};

/// Which way information flows: from the first position on (past operators) or from the last one back (future).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Direction {
    /// Past operators.
    Forward,
    /// Future operators.
    Backward,
}

/// One operation. "Before" is the previous position going forward and the next one going backward; "the edge" is
/// where there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Op {
    /// False everywhere; always operation 0.
    False,
    /// A column of the trace.
    Atom(u32),
    /// The first position of each segment.
    First,
    /// The last position of each segment.
    Last,
    /// Both.
    And(Lit, Lit),
    /// Not equal. Operands carry no negation.
    Xor(Lit, Lit),
    /// The operand before; at the edge false, or with `repeat` the operand itself.
    Shift { direction: Direction, body: Lit, repeat: bool },
    /// `now | hold & (itself before)`; at the edge `now`, or with `weak` `now | hold`.
    Chain { direction: Direction, hold: Lit, now: Lit, weak: bool },
    /// Whether the operand holds here or anywhere before.
    Fill { direction: Direction, body: Lit },
}

impl Op {
    /// The operands.
    pub(crate) fn operands(self) -> impl Iterator<Item = Lit> {
        let (a, b) = match self {
            Op::False | Op::Atom(_) | Op::First | Op::Last => (None, None),
            Op::And(a, b) | Op::Xor(a, b) => (Some(a), Some(b)),
            Op::Shift { body, .. } | Op::Fill { body, .. } => (Some(body), None),
            Op::Chain { hold, now, .. } => (Some(hold), Some(now)),
        };
        [a, b].into_iter().flatten()
    }

    /// The direction of a temporal operation.
    pub(crate) fn direction(self) -> Option<Direction> {
        match self {
            Op::Shift { direction, .. } | Op::Chain { direction, .. } | Op::Fill { direction, .. } => {
                Some(direction)
            }
            _ => None,
        }
    }

    /// Whether the operation is read rather than computed.
    pub(crate) fn is_source(self) -> bool {
        matches!(self, Op::False | Op::Atom(_) | Op::First | Op::Last)
    }
}

impl Gate for Op {
    const FALSE: Op = Op::False;
    const FIRST: Op = Op::First;
    const LAST: Op = Op::Last;

    fn atom(index: u32) -> Op {
        Op::Atom(index)
    }

    fn and(a: Lit, b: Lit) -> Op {
        Op::And(a, b)
    }

    fn xor(a: Lit, b: Lit) -> Op {
        Op::Xor(a, b)
    }
}

/// The operations of a program, simplified while they are added.
pub(crate) struct Graph {
    gates: Gates<Op>,
    /// Whether the last position is its own successor.
    repeat: bool,
}

impl Graph {
    pub(crate) fn new(repeat: bool) -> Self {
        Graph { gates: Gates::default(), repeat }
    }

    /// All operations, operands first.
    pub(crate) fn ops(&self) -> &[Op] {
        self.gates.list()
    }

    /// `F`/`O`.
    fn fill(&mut self, direction: Direction, body: Lit) -> Lit {
        if body == Lit::FALSE || body == Lit::TRUE {
            return body;
        }
        // "Some time before, some time before" is "some time before". Not so under a negation: `F G` is not `G`.
        let inner = self.ops()[body.op()];
        if !body.is_negated() && inner.direction() == Some(direction) && matches!(inner, Op::Fill { .. }) {
            return body;
        }
        self.gates.add(Op::Fill { direction, body })
    }

    /// `U`/`S`, weak `W`/`B`.
    fn chain(&mut self, direction: Direction, hold: Lit, now: Lit, weak: bool) -> Lit {
        if now == Lit::TRUE || hold == now || hold == Lit::FALSE {
            return now;
        }
        // Holding until it is there is no more than waiting for it.
        let hold = if hold == !now { Lit::TRUE } else { hold };
        match (weak, hold, now) {
            (true, Lit::TRUE, _) => Lit::TRUE,
            (false, Lit::TRUE, _) => self.fill(direction, now),
            (false, _, Lit::FALSE) => Lit::FALSE,
            (true, _, Lit::FALSE) => !self.fill(direction, !hold),
            _ => self.gates.add(Op::Chain { direction, hold, now, weak }),
        }
    }
}

fn direction(past: bool) -> Direction {
    if past { Direction::Forward } else { Direction::Backward }
}

/// Whether an interval leaves nothing out.
fn is_whole(interval: Interval) -> bool {
    interval.high.is_none() && interval.low.billionths == 0 && !interval.low.open
}

impl Lower for Graph {
    fn enter(&mut self, id: NodeId, node: Node) -> Result<(), Unsupported> {
        match node.interval() {
            Some(interval) if !is_whole(interval) => Err(self.refusal(id, node)),
            _ => Ok(()),
        }
    }

    fn refusal(&self, id: NodeId, node: Node) -> Unsupported {
        let operator = node.operator();
        let (what, help) = if let Some(interval) = node.interval() {
            (
                format!("the interval of `{operator}{interval}`"),
                "leave the interval out, or use the engine for metric operators (`⟨engine: metric⟩`)",
            )
        } else {
            match node {
                node if node.is_first_order() => (
                    format!("`{operator}`, since it has no place for the values of variables"),
                    "use `⟨engine: relational⟩`, or `⟨by: COLUMN⟩` to check each value's trace on its own",
                ),
                node if node.is_experiment() => (
                    format!("`{operator}`, since it computes truth and no other values"),
                    "use `⟨engine: reference⟩`",
                ),
                _ => (
                    format!("{operator} here, since its truth is not among the trace's columns"),
                    "ask for formulas of the program's properties",
                ),
            }
        };
        Unsupported { node: Some(id), what, help: Some(help.into()), exhausted: false }
    }
}

impl Circuit for Graph {
    type Edge = Lit;
    type Gates = Gates<Op>;

    fn gates(&mut self) -> &mut Gates<Op> {
        &mut self.gates
    }

    /// `X`/`Y`, or the next of the semantics that repeats the last position.
    fn step(&mut self, past: bool, body: Lit) -> Lit {
        let (direction, repeat) = (direction(past), self.repeat && !past);
        if repeat {
            // Its own dual, so the negation can stand outside.
            let positive = body.positive();
            let shifted = if positive == Lit::FALSE {
                Lit::FALSE
            } else {
                self.gates.add(Op::Shift { direction, body: positive, repeat })
            };
            return if body.is_negated() { !shifted } else { shifted };
        }
        match (body, past) {
            (Lit::FALSE, _) => Lit::FALSE,
            (Lit::TRUE, true) => !self.gates.first(),
            (Lit::TRUE, false) => !self.gates.last(),
            _ => self.gates.add(Op::Shift { direction, body, repeat }),
        }
    }

    fn until(&mut self, past: bool, hold: Option<Lit>, goal: Lit) -> Lit {
        match hold {
            Some(hold) => self.chain(direction(past), hold, goal, false),
            None => self.fill(direction(past), goal),
        }
    }

    /// A chain may be weak, which spares `W` and `M` a conjunction: release is the dual of until, strong release that of
    /// weak until.
    fn path(&mut self, operator: Applied, of: &impl Fn(NodeId) -> Lit) -> Lit {
        let dual = operator.form == Form::Release;
        let of = |id: NodeId| if dual { !of(id) } else { of(id) };
        let direction = direction(operator.past);
        let made = match operator.left.map(of) {
            Some(left) => self.chain(direction, left, of(operator.right), operator.weak != dual),
            None => self.fill(direction, of(operator.right)),
        };
        if dual { !made } else { made }
    }
}

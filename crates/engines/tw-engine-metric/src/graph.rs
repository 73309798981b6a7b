//! Formulas reduced to what the kernels can do.
//!
//! Edges carry a negation bit ([`Lit`]), and the future is the past read from the end: conjunction, exclusive or, a shift
//! by one position and `hold S[I] goal` are all that is left of the connectives and temporal operators.

use tw_ir::{Clock, Node, NodeId, Semantics, Ticks};
use tw_monitor::{Circuit, EvaluateOptions, Gate, Gates, Lit, Lower, Unsupported};

/// One operation. Temporal ones look at the past, or (`back`) at the future.
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
    /// Not equal.
    Xor(Lit, Lit),
    /// The operand at the neighbour, if its distance lies inside; with `repeat` the last position is its own
    /// neighbour.
    Shift { back: bool, body: Lit, ticks: Option<Ticks>, repeat: bool },
    /// `hold S goal`, or `hold U goal`.
    Since { back: bool, hold: Lit, goal: Lit, ticks: Option<Ticks> },
}

impl Op {
    /// The operands that are read: `true` on the left of a temporal operator is not.
    pub(crate) fn operands(self) -> impl Iterator<Item = Lit> {
        let (a, b) = match self {
            Op::False | Op::Atom(_) | Op::First | Op::Last => (None, None),
            Op::And(a, b) | Op::Xor(a, b) => (Some(a), Some(b)),
            Op::Shift { body, .. } => (Some(body), None),
            Op::Since { hold, goal, .. } => (Some(hold).filter(|&hold| hold != Lit::TRUE), Some(goal)),
        };
        [a, b].into_iter().flatten()
    }

    /// The interval, if it leaves anything out.
    pub(crate) fn ticks(self) -> Option<Ticks> {
        match self {
            Op::Shift { ticks, .. } | Op::Since { ticks, .. } => ticks,
            _ => None,
        }
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
    options: EvaluateOptions,
    /// The interval of the operator being lowered, if it leaves anything out.
    ticks: Option<Ticks>,
}

impl Graph {
    pub(crate) fn new(options: &EvaluateOptions) -> Self {
        Graph { gates: Gates::default(), options: options.clone(), ticks: None }
    }

    /// All operations, operands first.
    pub(crate) fn ops(&self) -> &[Op] {
        self.gates.list()
    }
}

impl Lower for Graph {
    fn enter(&mut self, id: NodeId, node: Node) -> Result<(), Unsupported> {
        self.ticks = None;
        let Some(interval) = node.interval() else { return Ok(()) };
        if self.options.clock == Clock::Dense {
            return Err(Unsupported::construct(id, "intervals over continuous time (`⟨clock: dense⟩`)"));
        }
        match interval.ticks(self.options.clock, self.options.unit) {
            Ok(ticks) => self.ticks = narrower(ticks),
            Err(error) => return Err(Unsupported::construct(id, format!("this interval: {error}"))),
        }
        Ok(())
    }

    fn refusal(&self, id: NodeId, node: Node) -> Unsupported {
        let operator = node.operator();
        match node {
            node if node.is_first_order() => {
                Unsupported::construct(id, "quantified variables and event patterns with variables")
                    .help("`⟨by: COL⟩` checks a property once per value of a column")
            }
            node if node.is_experiment() => Unsupported::construct(
                id,
                format!("`{operator}`, since it computes truth and no other values"),
            ),
            node if node.is_branching() => {
                Unsupported::construct(id, format!("`{operator}`, which is about the paths of a model"))
            }
            _ => {
                let what = format!("{operator} here, since its truth is not among the trace's columns");
                Unsupported::construct(id, what).help("ask for formulas of the program's properties")
            }
        }
    }
}

impl Circuit for Graph {
    type Edge = Lit;
    type Gates = Gates<Op>;

    fn gates(&mut self) -> &mut Gates<Op> {
        &mut self.gates
    }

    fn step(&mut self, past: bool, body: Lit) -> Lit {
        if body == Lit::FALSE {
            return Lit::FALSE;
        }
        let repeat = !past && self.options.semantics == Semantics::RepeatLast;
        self.gates.add(Op::Shift { back: !past, body, ticks: self.ticks, repeat })
    }

    fn until(&mut self, past: bool, hold: Option<Lit>, goal: Lit) -> Lit {
        let (ticks, hold) = (self.ticks, hold.unwrap_or(Lit::TRUE));
        let here = ticks.is_none_or(|ticks| ticks.low == 0);
        match (hold, goal) {
            (_, Lit::FALSE) => Lit::FALSE,
            (_, Lit::TRUE) if here => Lit::TRUE,
            // What never holds reaches no further than the position itself.
            (Lit::FALSE, goal) => {
                if here {
                    goal
                } else {
                    Lit::FALSE
                }
            }
            _ => self.gates.add(Op::Since { back: !past, hold, goal, ticks }),
        }
    }
}

/// An interval that leaves something out.
fn narrower(ticks: Ticks) -> Option<Ticks> {
    Some(ticks).filter(|&ticks| ticks != Ticks { low: 0, high: i64::MAX })
}

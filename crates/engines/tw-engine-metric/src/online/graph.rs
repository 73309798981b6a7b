//! Formulas as few kinds of operators, negation on the edges.
//!
//! With negated edges `X`, `Y`, `U` and `S` are all the temporal operators there are, and a formula and its negation share
//! their work.

mod delay;
mod edge;

pub use delay::Delay;
pub(super) use edge::Edge;

use rustc_hash::FxHashMap;
use tw_ir::{Clock, Node, NodeId, Program, Ticks};
use tw_monitor::{Circuit, Connectives, EvaluateOptions, Lower, Lowered, Unsupported};

/// What an operator does; operands have smaller numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    True,
    Atom(u32),
    First,
    Last,
    And(Edge, Edge),
    Xor(Edge, Edge),
    Next(Ticks, Edge),
    Previous(Ticks, Edge),
    Until(Ticks, Edge, Edge),
    Since(Ticks, Edge, Edge),
    /// Among the positions more than so many ticks after this one, but not after the next one, there is the second with the
    /// first before it (`separate`).
    Beyond(i64, Edge, Edge),
}

impl Kind {
    /// The operands.
    pub(super) fn operands(self) -> impl Iterator<Item = Edge> {
        let (a, b) = match self {
            Kind::True | Kind::Atom(_) | Kind::First | Kind::Last => (None, None),
            Kind::Next(_, a) | Kind::Previous(_, a) => (Some(a), None),
            Kind::And(a, b)
            | Kind::Xor(a, b)
            | Kind::Until(_, a, b)
            | Kind::Since(_, a, b)
            | Kind::Beyond(_, a, b) => (Some(a), Some(b)),
        };
        [a, b].into_iter().flatten()
    }

    /// The same over other operands, asked for in their order.
    pub(super) fn map(self, mut of: impl FnMut(Edge) -> Edge) -> Kind {
        match self {
            Kind::True | Kind::Atom(_) | Kind::First | Kind::Last => self,
            Kind::And(a, b) => Kind::And(of(a), of(b)),
            Kind::Xor(a, b) => Kind::Xor(of(a), of(b)),
            Kind::Next(ticks, a) => Kind::Next(ticks, of(a)),
            Kind::Previous(ticks, a) => Kind::Previous(ticks, of(a)),
            Kind::Until(ticks, a, b) => Kind::Until(ticks, of(a), of(b)),
            Kind::Since(ticks, a, b) => Kind::Since(ticks, of(a), of(b)),
            Kind::Beyond(ticks, a, b) => Kind::Beyond(ticks, of(a), of(b)),
        }
    }

    /// The interval of a temporal operator.
    pub(super) fn ticks(self) -> Option<Ticks> {
        match self {
            Kind::Next(ticks, _)
            | Kind::Previous(ticks, _)
            | Kind::Until(ticks, ..)
            | Kind::Since(ticks, ..) => Some(ticks),
            _ => None,
        }
    }
}

/// Every distance.
pub(super) const ALWAYS: Ticks = Ticks { low: 0, high: i64::MAX };

/// An operator with what is known of it beforehand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operator {
    pub(super) kind: Kind,
    /// What the user wrote.
    pub(super) node: Option<NodeId>,
    /// The longest that a verdict may take; `None` is for ever.
    pub(super) delay: Option<Delay>,
}

/// All operators, operands first.
pub(super) struct Graph {
    pub(super) operators: Vec<Operator>,
    known: FxHashMap<Kind, usize>,
    /// What is being lowered.
    pub(super) node: Option<NodeId>,
    ticks: Ticks,
    options: EvaluateOptions,
    index: bool,
    repeat: bool,
}

impl Graph {
    /// The given formulas of the program, in their order.
    pub(super) fn new(
        program: &Program,
        nodes: &[NodeId],
        options: &EvaluateOptions,
        repeat: bool,
    ) -> Result<(Graph, Vec<Edge>), Unsupported> {
        let index = options.clock == Clock::Index;
        let mut graph = Graph {
            operators: Vec::new(),
            known: FxHashMap::default(),
            node: None,
            ticks: ALWAYS,
            options: options.clone(),
            index,
            repeat,
        };
        graph.add(Kind::True);
        let mut lowered = Lowered::new(program, graph);
        let edges = lowered.lower(nodes)?;
        let mut graph = lowered.circuit;
        graph.node = None;
        Ok((graph, edges))
    }

    fn add(&mut self, kind: Kind) -> Edge {
        if let Some(&known) = self.known.get(&kind) {
            return Edge::new(known, false);
        }
        let delay = self.delay_of(kind);
        self.known.insert(kind, self.operators.len());
        self.operators.push(Operator { kind, node: self.node, delay });
        Edge::new(self.operators.len() - 1, false)
    }

    /// An operator, simplified where operands are constant.
    pub(super) fn build(&mut self, kind: Kind) -> Edge {
        match kind {
            Kind::And(a, b) => self.and(a, b),
            Kind::Xor(a, b) => self.xor(a, b),
            Kind::Until(ticks, a, b) => self.until(ticks, a, b),
            Kind::Since(ticks, a, b) => self.since(ticks, a, b),
            Kind::Beyond(.., Edge::FALSE) => Edge::FALSE,
            kind => self.add(kind),
        }
    }

    pub(super) fn and(&mut self, a: Edge, b: Edge) -> Edge {
        match (a, b) {
            (Edge::TRUE, other) | (other, Edge::TRUE) => other,
            (Edge::FALSE, _) | (_, Edge::FALSE) => Edge::FALSE,
            _ if a == b => a,
            _ if a == !b => Edge::FALSE,
            _ => self.add(Kind::And(a.min(b), a.max(b))),
        }
    }

    pub(super) fn or(&mut self, a: Edge, b: Edge) -> Edge {
        !self.and(!a, !b)
    }

    fn xor(&mut self, a: Edge, b: Edge) -> Edge {
        let negate = a.negated() != b.negated();
        let (a, b) = (a.negate_if(a.negated()), b.negate_if(b.negated()));
        let edge = match (a, b) {
            (Edge::TRUE, other) | (other, Edge::TRUE) => !other,
            _ if a == b => Edge::FALSE,
            _ => self.add(Kind::Xor(a.min(b), a.max(b))),
        };
        edge.negate_if(negate)
    }

    pub(super) fn until(&mut self, ticks: Ticks, a: Edge, b: Edge) -> Edge {
        if b == Edge::FALSE || (ticks.low == 0 && b == Edge::TRUE) {
            return b;
        }
        self.add(Kind::Until(ticks, a, b))
    }

    fn since(&mut self, ticks: Ticks, a: Edge, b: Edge) -> Edge {
        if b == Edge::FALSE || (ticks.low == 0 && b == Edge::TRUE) {
            return b;
        }
        self.add(Kind::Since(ticks, a, b))
    }
}

impl Lower for Graph {
    fn enter(&mut self, id: NodeId, node: Node) -> Result<(), Unsupported> {
        self.node = Some(id);
        self.ticks = match node.interval() {
            None => ALWAYS,
            Some(_) if self.options.clock == Clock::Dense => {
                return Err(Unsupported::construct(id, "intervals over continuous time (⟨clock: dense⟩)"));
            }
            Some(interval) => interval
                .ticks(self.options.clock, self.options.unit)
                .map_err(|error| Unsupported::construct(id, format!("this interval: {error}")))?,
        };
        Ok(())
    }

    fn refusal(&self, id: NodeId, node: Node) -> Unsupported {
        match node {
            node if node.is_first_order() => Unsupported::construct(id, "quantified variables")
                .help("`⟨by: COL⟩` checks a property once per value of a column"),
            node if node.is_branching() => Unsupported::construct(id, "the paths of a model"),
            node if node.is_experiment() => Unsupported::construct(id, "queries that return values"),
            _ => Unsupported::construct(id, "values inside temporal formulas"),
        }
    }
}

impl Connectives for Graph {
    type Edge = Edge;

    fn truth(&mut self) -> Edge {
        Edge::TRUE
    }

    fn atom(&mut self, index: u32) -> Edge {
        self.add(Kind::Atom(index))
    }

    fn first(&mut self) -> Edge {
        self.add(Kind::First)
    }

    fn last(&mut self) -> Edge {
        self.add(Kind::Last)
    }

    fn and(&mut self, a: Edge, b: Edge) -> Edge {
        Graph::and(self, a, b)
    }

    fn xor(&mut self, a: Edge, b: Edge) -> Edge {
        Graph::xor(self, a, b)
    }
}

impl Circuit for Graph {
    type Edge = Edge;
    type Gates = Graph;

    fn gates(&mut self) -> &mut Graph {
        self
    }

    fn step(&mut self, past: bool, body: Edge) -> Edge {
        if body == Edge::FALSE {
            return body;
        }
        let ticks = self.ticks;
        self.add(if past { Kind::Previous(ticks, body) } else { Kind::Next(ticks, body) })
    }

    fn until(&mut self, past: bool, hold: Option<Edge>, goal: Edge) -> Edge {
        let (ticks, hold) = (self.ticks, hold.unwrap_or(Edge::TRUE));
        if past { self.since(ticks, hold, goal) } else { Graph::until(self, ticks, hold, goal) }
    }
}

//! Formulas as few kinds of operators, negation on the edges.
//!
//! `G`, `R`, `W`, `N`, `H`, `T`, `B`, `Z` are duals of `U`, `X`, `S`, `Y`: with negated edges four temporal operators are
//! all there are, and a formula and its negation share their work.

mod delay;
mod edge;

pub use delay::Delay;
pub(super) use edge::Edge;

use rustc_hash::FxHashMap;
use tw_ir::{Clock, Interval, Node, NodeId, Program, Ticks};
use tw_monitor::{EvaluateOptions, Unsupported};

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
        let mut graph =
            Graph { operators: Vec::new(), known: FxHashMap::default(), node: None, index, repeat };
        graph.add(Kind::True);
        let atoms = program.atoms();
        let mut edges: Vec<Option<Edge>> = vec![None; program.dag.len()];
        for id in formulas(program, nodes, &atoms) {
            graph.node = Some(id);
            let edge = match atoms.binary_search(&id) {
                Ok(atom) => graph.add(Kind::Atom(atom as u32)),
                Err(_) => graph.lower(program, id, &edges, options)?,
            };
            edges[id.index()] = Some(edge);
        }
        graph.node = None;
        let edges = nodes.iter().map(|node| edges[node.index()].unwrap_or(Edge::TRUE)).collect();
        Ok((graph, edges))
    }

    fn lower(
        &mut self,
        program: &Program,
        id: NodeId,
        edges: &[Option<Edge>],
        options: &EvaluateOptions,
    ) -> Result<Edge, Unsupported> {
        let node = program.dag.node(id);
        let of = |part: NodeId| {
            edges[part.index()].ok_or_else(|| Unsupported::construct(id, "values inside temporal formulas"))
        };
        let ticks = |interval: Option<Interval>| match interval {
            None => Ok(ALWAYS),
            Some(_) if options.clock == Clock::Dense => {
                Err(Unsupported::construct(id, "intervals over continuous time (--clock dense)"))
            }
            Some(interval) => interval
                .ticks(options.clock, options.unit)
                .map_err(|error| Unsupported::construct(id, format!("this interval: {error}"))),
        };
        Ok(match node {
            Node::Bool(value) => Edge::TRUE.negate_if(!value),
            Node::First => self.add(Kind::First),
            Node::Last => self.add(Kind::Last),
            Node::Not(a) => !of(a)?,
            Node::And(a, b) => self.and(of(a)?, of(b)?),
            Node::Or(a, b) => self.or(of(a)?, of(b)?),
            Node::Implies(a, b) => self.or(!of(a)?, of(b)?),
            Node::Xor(a, b) => self.xor(of(a)?, of(b)?),
            Node::Iff(a, b) => !self.xor(of(a)?, of(b)?),
            Node::Next(i, a) => self.add(Kind::Next(ticks(i)?, of(a)?)),
            Node::WeakNext(i, a) => !self.add(Kind::Next(ticks(i)?, !of(a)?)),
            Node::Finally(i, a) => self.until(ticks(i)?, Edge::TRUE, of(a)?),
            Node::Globally(i, a) => !self.until(ticks(i)?, Edge::TRUE, !of(a)?),
            Node::Until(i, a, b) => self.until(ticks(i)?, of(a)?, of(b)?),
            Node::Release(i, a, b) => !self.until(ticks(i)?, !of(a)?, !of(b)?),
            // φ W ψ = ψ R (φ | ψ), φ M ψ = ψ U (φ & ψ).
            Node::WeakUntil(i, a, b) => {
                let (ticks, a, b) = (ticks(i)?, of(a)?, of(b)?);
                let both = self.and(!a, !b);
                !self.until(ticks, !b, both)
            }
            Node::StrongRelease(i, a, b) => {
                let (ticks, a, b) = (ticks(i)?, of(a)?, of(b)?);
                let both = self.and(a, b);
                self.until(ticks, b, both)
            }
            Node::Previous(i, a) => self.add(Kind::Previous(ticks(i)?, of(a)?)),
            Node::WeakPrevious(i, a) => !self.add(Kind::Previous(ticks(i)?, !of(a)?)),
            Node::Once(i, a) => self.since(ticks(i)?, Edge::TRUE, of(a)?),
            Node::Historically(i, a) => !self.since(ticks(i)?, Edge::TRUE, !of(a)?),
            Node::Since(i, a, b) => self.since(ticks(i)?, of(a)?, of(b)?),
            Node::Trigger(i, a, b) => !self.since(ticks(i)?, !of(a)?, !of(b)?),
            Node::BackTo(i, a, b) => {
                let (ticks, a, b) = (ticks(i)?, of(a)?, of(b)?);
                let both = self.and(!a, !b);
                !self.since(ticks, !b, both)
            }
            Node::Forall(..) | Node::Exists(..) | Node::Variable(_) | Node::Pattern(_) => {
                return Err(Unsupported::construct(id, "quantified variables")
                    .help("`--by COL` checks a property once per value of a column"));
            }
            node if node.is_branching() => {
                return Err(Unsupported::construct(id, "the paths of a model"));
            }
            node if node.is_experiment() => {
                return Err(Unsupported::construct(id, "queries that return values"));
            }
            _ => return Err(Unsupported::construct(id, "values inside temporal formulas")),
        })
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

/// The formulas that the given ones rest on, down to atoms, ascending.
fn formulas(program: &Program, nodes: &[NodeId], atoms: &[NodeId]) -> Vec<NodeId> {
    let mut seen = vec![false; program.dag.len()];
    let mut todo = nodes.to_vec();
    while let Some(id) = todo.pop() {
        if !std::mem::replace(&mut seen[id.index()], true) && atoms.binary_search(&id).is_err() {
            todo.extend(program.dag.node(id).children());
        }
    }
    (0..program.dag.len() as u32).map(NodeId).filter(|id| seen[id.index()]).collect()
}

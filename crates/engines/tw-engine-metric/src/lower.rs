//! From formulas to operations, refusing what is not propositional.

use crate::graph::{Graph, Lit, Op};
use tw_ir::{Clock, Node, NodeId, Program, Semantics, Ticks};
use tw_monitor::{EvaluateOptions, Unsupported};

/// A program's formulas as operations. More formulas can be lowered later; what is shared stays shared.
pub(crate) struct Lowered<'p> {
    program: &'p Program,
    options: EvaluateOptions,
    /// Index in `Trace::atoms` of each node that is an atom.
    atom: Vec<Option<u32>>,
    /// What each node has become.
    lit: Vec<Option<Lit>>,
    pub(crate) graph: Graph,
}

impl<'p> Lowered<'p> {
    pub(crate) fn new(program: &'p Program, options: &EvaluateOptions) -> Self {
        let mut atom = vec![None; program.dag.len()];
        for (index, id) in program.atoms().into_iter().enumerate() {
            atom[id.index()] = Some(index as u32);
        }
        Lowered {
            program,
            options: options.clone(),
            atom,
            lit: vec![None; program.dag.len()],
            graph: Graph::new(),
        }
    }

    /// How many atoms the program reads.
    pub(crate) fn atoms(&self) -> usize {
        self.atom.iter().flatten().count()
    }

    /// What a lowered node has become.
    pub(crate) fn lit(&self, id: NodeId) -> Lit {
        self.lit[id.index()].unwrap_or(Lit::FALSE)
    }

    /// Lowers the given formulas and all they need.
    pub(crate) fn lower(&mut self, ids: &[NodeId]) -> Result<(), Unsupported> {
        // What an atom is made of is not the engine's business.
        let known = |id: NodeId| self.lit[id.index()].is_some() || self.atom[id.index()].is_some();
        for id in self.program.reachable_until(ids, known) {
            if self.lit[id.index()].is_none() {
                self.lit[id.index()] = Some(self.node(id)?);
            }
        }
        Ok(())
    }

    fn node(&mut self, id: NodeId) -> Result<Lit, Unsupported> {
        const PAST: bool = false;
        const FUTURE: bool = true;
        if let Some(atom) = self.atom[id.index()] {
            return Ok(self.graph.add(Op::Atom(atom)));
        }
        let node = self.program.dag.node(id);
        let ticks = self.ticks(id, node)?;
        let of = |id: NodeId| self.lit[id.index()].unwrap_or(Lit::FALSE);
        let repeat = self.options.semantics == Semantics::RepeatLast;
        let graph = &mut self.graph;
        Ok(match node {
            Node::Bool(value) => {
                if value {
                    Lit::TRUE
                } else {
                    Lit::FALSE
                }
            }
            Node::First => graph.add(Op::First),
            Node::Last => graph.add(Op::Last),
            Node::Not(a) => !of(a),
            Node::And(a, b) => graph.and(of(a), of(b)),
            Node::Or(a, b) => graph.or(of(a), of(b)),
            Node::Xor(a, b) => graph.xor(of(a), of(b)),
            Node::Implies(a, b) => graph.or(!of(a), of(b)),
            Node::Iff(a, b) => !graph.xor(of(a), of(b)),

            Node::Next(_, a) => graph.shift(FUTURE, of(a), ticks, repeat),
            Node::WeakNext(_, a) => !graph.shift(FUTURE, !of(a), ticks, repeat),
            Node::Finally(_, a) => graph.since(FUTURE, Lit::TRUE, of(a), ticks),
            Node::Globally(_, a) => !graph.since(FUTURE, Lit::TRUE, !of(a), ticks),
            Node::Until(_, a, b) => graph.since(FUTURE, of(a), of(b), ticks),
            // φ R ψ is the dual of until, φ W ψ = ψ R (φ | ψ), φ M ψ = ψ U (φ & ψ).
            Node::Release(_, a, b) => !graph.since(FUTURE, !of(a), !of(b), ticks),
            Node::WeakUntil(_, a, b) => {
                let neither = graph.and(!of(a), !of(b));
                !graph.since(FUTURE, !of(b), neither, ticks)
            }
            Node::StrongRelease(_, a, b) => {
                let both = graph.and(of(a), of(b));
                graph.since(FUTURE, of(b), both, ticks)
            }

            Node::Previous(_, a) => graph.shift(PAST, of(a), ticks, false),
            Node::WeakPrevious(_, a) => !graph.shift(PAST, !of(a), ticks, false),
            Node::Once(_, a) => graph.since(PAST, Lit::TRUE, of(a), ticks),
            Node::Historically(_, a) => !graph.since(PAST, Lit::TRUE, !of(a), ticks),
            Node::Since(_, a, b) => graph.since(PAST, of(a), of(b), ticks),
            Node::Trigger(_, a, b) => !graph.since(PAST, !of(a), !of(b), ticks),
            Node::BackTo(_, a, b) => {
                let neither = graph.and(!of(a), !of(b));
                !graph.since(PAST, !of(b), neither, ticks)
            }
            _ => return Err(refusal(id, node)),
        })
    }

    fn ticks(&self, id: NodeId, node: Node) -> Result<Option<Ticks>, Unsupported> {
        let Some(interval) = node.interval() else { return Ok(None) };
        if self.options.clock == Clock::Dense {
            return Err(Unsupported::construct(id, "intervals over continuous time (`--clock dense`)"));
        }
        match interval.ticks(self.options.clock, self.options.unit) {
            Ok(ticks) => Ok(Some(ticks)),
            Err(error) => Err(Unsupported::construct(id, format!("this interval: {error}"))),
        }
    }
}

/// Why a node is not for this engine.
fn refusal(id: NodeId, node: Node) -> Unsupported {
    let operator = node.operator();
    match node {
        Node::Forall(..) | Node::Exists(..) | Node::Pattern(_) | Node::Variable(_) => {
            Unsupported::construct(id, "quantified variables and event patterns with variables")
                .help("`--by COL` checks a property once per value of a column")
        }
        node if node.is_experiment() => {
            Unsupported::construct(id, format!("`{operator}`, since it computes truth and no other values"))
        }
        node if node.is_branching() => {
            Unsupported::construct(id, format!("`{operator}`, which is about the paths of a model"))
        }
        _ => {
            let what = format!("{operator} here, since its truth is not among the trace's columns");
            Unsupported::construct(id, what).help("ask for formulas of the program's properties")
        }
    }
}

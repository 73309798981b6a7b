//! From formulas to operations, refusing what is not propositional.

use crate::graph::{Direction, Graph, Lit};
use tw_ir::{Interval, Node, NodeId, Program, Semantics};
use tw_monitor::Unsupported;

/// A program's formulas as operations. More formulas can be lowered later; what is shared stays shared.
pub(crate) struct Lowered<'p> {
    program: &'p Program,
    repeat: bool,
    /// Index in `Trace::atoms` of each node that is an atom.
    atom: Vec<Option<u32>>,
    /// What each node has become.
    lit: Vec<Option<Lit>>,
    pub(crate) graph: Graph,
}

/// Whether an interval leaves nothing out.
fn is_whole(interval: Interval) -> bool {
    interval.high.is_none() && interval.low.billionths == 0 && !interval.low.open
}

/// φ of a formula `G φ` without an interval (also not `[0,inf)`), whose violations are listed.
pub(crate) fn body_of_globally(node: Node) -> Option<NodeId> {
    match node {
        Node::Globally(None, body) => Some(body),
        _ => None,
    }
}

impl<'p> Lowered<'p> {
    pub(crate) fn new(program: &'p Program, semantics: Semantics) -> Result<Self, Unsupported> {
        if semantics == Semantics::Ltl3 {
            return Err(Unsupported {
                node: None,
                what: "three-valued verdicts (`--semantics ltl3`)".into(),
                help: Some("use `--semantics finite`, or an engine that looks at all continuations".into()),
                exhausted: false,
            });
        }
        let mut atom = vec![None; program.dag.len()];
        for (index, id) in program.atoms().into_iter().enumerate() {
            atom[id.index()] = Some(index as u32);
        }
        Ok(Lowered {
            program,
            repeat: semantics == Semantics::RepeatLast,
            atom,
            lit: vec![None; program.dag.len()],
            graph: Graph::new(),
        })
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
        use Direction::{Backward, Forward};
        if let Some(atom) = self.atom[id.index()] {
            return Ok(self.graph.atom(atom));
        }
        let node = self.program.dag.node(id);
        if node.interval().is_some_and(|interval| !is_whole(interval)) {
            return Err(refusal(id, node));
        }
        let of = |id: NodeId| self.lit[id.index()].unwrap_or(Lit::FALSE);
        let (repeat, graph) = (self.repeat, &mut self.graph);
        Ok(match node {
            Node::Bool(value) => {
                if value {
                    Lit::TRUE
                } else {
                    Lit::FALSE
                }
            }
            Node::First => graph.first(),
            Node::Last => graph.last(),
            Node::Not(a) => !of(a),
            Node::And(a, b) => graph.and(of(a), of(b)),
            Node::Or(a, b) => graph.or(of(a), of(b)),
            Node::Xor(a, b) => graph.xor(of(a), of(b)),
            Node::Implies(a, b) => graph.or(!of(a), of(b)),
            Node::Iff(a, b) => !graph.xor(of(a), of(b)),
            Node::Next(_, a) => graph.shift(Backward, of(a), repeat),
            Node::WeakNext(_, a) => !graph.shift(Backward, !of(a), repeat),
            Node::Previous(_, a) => graph.shift(Forward, of(a), false),
            Node::WeakPrevious(_, a) => !graph.shift(Forward, !of(a), false),
            Node::Finally(_, a) => graph.fill(Backward, of(a)),
            Node::Globally(_, a) => !graph.fill(Backward, !of(a)),
            Node::Once(_, a) => graph.fill(Forward, of(a)),
            Node::Historically(_, a) => !graph.fill(Forward, !of(a)),
            Node::Until(_, a, b) => graph.chain(Backward, of(a), of(b), false),
            Node::WeakUntil(_, a, b) => graph.chain(Backward, of(a), of(b), true),
            // Release is the dual of until, strong release that of weak until, trigger that of since.
            Node::Release(_, a, b) => !graph.chain(Backward, !of(a), !of(b), false),
            Node::StrongRelease(_, a, b) => !graph.chain(Backward, !of(a), !of(b), true),
            Node::Since(_, a, b) => graph.chain(Forward, of(a), of(b), false),
            Node::BackTo(_, a, b) => graph.chain(Forward, of(a), of(b), true),
            Node::Trigger(_, a, b) => !graph.chain(Forward, !of(a), !of(b), false),
            _ => return Err(refusal(id, node)),
        })
    }
}

/// Why a node is not for this engine.
fn refusal(id: NodeId, node: Node) -> Unsupported {
    let operator = node.operator();
    let (what, help) = if let Some(interval) = node.interval() {
        (
            format!("the interval of `{operator}{interval}`"),
            "leave the interval out, or use the engine for metric operators (`--engine metric`)",
        )
    } else {
        match node {
            Node::Forall(..) | Node::Exists(..) | Node::Pattern(_) | Node::Variable(_) => (
                format!("`{operator}`, since it has no place for the values of variables"),
                "use `--engine reference`, or `--by COLUMN` to check each value's trace on its own",
            ),
            Node::Emit(..)
            | Node::Both(..)
            | Node::Either(..)
            | Node::Fails(..)
            | Node::NextMap { .. }
            | Node::UntilMap { .. }
            | Node::Collect(..)
            | Node::CollectWhile(..)
            | Node::Default(..) => (
                format!("`{operator}`, since it computes truth and no other values"),
                "use `--engine reference`",
            ),
            _ => (
                format!("{operator} here, since its truth is not among the trace's columns"),
                "ask for formulas of the program's properties",
            ),
        }
    };
    Unsupported { node: Some(id), what, help: Some(help.into()), exhausted: false }
}

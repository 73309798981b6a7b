//! Live monitoring of metric temporal logic: the truth at each position, as soon as it is settled and in order.
//!
//! Every operator is a node with the settled truth of a prefix of the positions (`network`). Past operators settle a
//! position when their operands have; a bounded future operator at a witness, at a failure, or when time has passed its
//! window: an event with a later timestamp, or [`Online::advance`]. The verdict of a property, which is about position 0,
//! comes from progression over the bounded subformulas (`progress`): good, bad or open, by informative prefixes. For that,
//! unbounded future is taken out of bounded operators (`separate`). What is known at once of the last position is in `now`,
//! what is open in `pending`.
//!
//! Cost per event: amortised O(1) per operator, whatever the bounds; a look-up per conjunct of a property for its
//! verdict. Memory: the timestamps and one bit per operator for events whose verdicts are open, at most the events within
//! [`Online::delay`]; constant for past operators (`S[a,b]` keeps at most 2 + a / (b − a) witnesses, `S[a,inf)` one). The
//! truth at each position of an unbounded future operator may stay open for ever, one bit per event; verdicts of untimed
//! properties take constant memory, and so do those of separated ones. Rows of separated properties that are not complete
//! are looked at as decision diagrams, when something new is known of them.
//!
//! Several traces share what is made of the formulas, and the states that progression has seen: a trace more costs what it
//! owns alone ([`Owned`]), for `G (a -> F[0,5s] b)` some 900 bytes (`tests/traces.rs` measures it).

mod exact;
mod foresight;
mod graph;
mod monitor;
mod network;
mod now;
mod pending;
mod progress;
mod saved;
mod separate;
mod split;
mod stored;
mod stream;
mod trace;

pub(crate) use exact::refuse_exact;
pub use graph::Delay;
pub use monitor::MetricMonitor;
pub use pending::{OBLIGATIONS, Open};
pub use stored::Prefixes;
pub use trace::Owned;

use exact::Kind;
use foresight::Foresight;
use graph::{Edge, Graph};
use network::Network;
use progress::Progress;
use rustc_hash::FxHashSet;
use std::sync::Arc;
use tw_core::Position;
use tw_ir::{Clock, Node, NodeId, Program, Semantics, Temporal};
use tw_monitor::{EvaluateOptions, Unsupported, words};

/// Which truth is told at each position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Each {
    /// None: only verdicts of properties, in the least memory.
    Nothing,
    /// That of each root.
    Root,
    /// That of φ for a root `G φ` without interval, of the root otherwise.
    Body,
    /// That of φ for a root `G φ` without interval alone: what others wait for is not kept position by position.
    Invariants,
}

/// What is known of one root.
#[derive(Clone, Debug)]
struct Told {
    node: NodeId,
    each: Option<Edge>,
    /// What [`Online::now`] is about.
    observed: Edge,
    /// Positions whose truth was told.
    told: u64,
    /// The verdict is the conjunction of these parts, or its negation.
    parts: Vec<Progress>,
    negated: bool,
    /// What knows the verdict earlier, where the parts may not show it.
    foresight: Option<Foresight>,
    verdict: Option<bool>,
    delay: Option<Delay>,
}

/// A program on its way through a live trace.
#[derive(Clone, Debug)]
pub struct Online {
    network: Network,
    roots: Vec<Told>,
    /// A node that needs timestamps.
    stamped: Option<NodeId>,
    width: usize,
    memory_budget: usize,
    last: Option<i64>,
    ended: bool,
    /// Positions at which memory is looked at next.
    tidy: u64,
    /// What positions are called, by the monitor that tells of them.
    numbers: trace::Numbers,
}

impl Online {
    /// The earliest time whose passing ([`Online::advance`]) may settle something; `None` if none does.
    pub fn next_deadline(&self) -> Option<i64> {
        if self.stamped.is_some() { self.network.next_deadline() } else { None }
    }

    /// Prepares to run every root, or refuses with the construct that it cannot do.
    pub fn new(program: &Program, options: &EvaluateOptions, each: Each) -> Result<Self, Unsupported> {
        let roots: Vec<NodeId> = program.roots.iter().map(|root| root.node).collect();
        Self::of(program, &roots, options, each)
    }

    /// As [`Online::new`], for formulas of the program in place of its roots.
    fn of(
        program: &Program,
        nodes: &[NodeId],
        options: &EvaluateOptions,
        each: Each,
    ) -> Result<Self, Unsupported> {
        let repeat = options.semantics == Semantics::RepeatLast;
        let (mut graph, edges) = Graph::new(program, nodes, options, repeat)?;
        // Splitting adds operators, so that parts are made when all of them are there.
        let mut splits: Vec<_> = edges.iter().map(|&edge| split::split(&mut graph, edge)).collect();
        let mut separated = FxHashSet::default();
        for part in splits.iter_mut().flat_map(|(parts, _)| parts) {
            if let Some(form) = separate::separate(&mut graph, *part) {
                separated.insert(form);
                *part = form;
            }
        }
        let (kinds, shared) = (exact::kinds(program), Arc::new(program.clone()));
        let mut roots = Vec::with_capacity(edges.len());
        for ((&node, &edge), (parts, negated)) in nodes.iter().zip(&edges).zip(splits) {
            let observed = match (program.dag.node(node), each) {
                (Node::Unary(Temporal::Globally, None, _), Each::Body | Each::Nothing | Each::Invariants) => {
                    globally(&graph, edge)
                }
                _ => edge,
            };
            let invariant = matches!(program.dag.node(node), Node::Unary(Temporal::Globally, None, _));
            let each = match each {
                Each::Nothing => None,
                Each::Invariants if !invariant => None,
                _ => Some(observed),
            };
            let part = |&part: &Edge| {
                let progress = Progress::new(&graph, part, repeat, options.state_budget)?;
                let peeks = separated.contains(&part) || progress.waits(&graph);
                Ok(if peeks { progress.peeking() } else { progress })
            };
            let parts = parts.iter().map(part).collect::<Result<_, _>>()?;
            let delay = graph.delay(each.unwrap_or(edge));
            let foresight = match (options.semantics == Semantics::Ltl3, kinds[node.index()]) {
                (true, Kind::Foresight) => Some(Foresight::guessing(program, node, options)?),
                (false, Kind::Others) => Foresight::automaton(&shared, node, options),
                _ => None,
            };
            roots.push(Told {
                node,
                each,
                observed,
                told: 0,
                parts,
                negated,
                foresight,
                verdict: None,
                delay,
            });
        }
        let metric = program.reachable(nodes);
        let stamped = match options.clock {
            Clock::Index => None,
            _ => metric.into_iter().find(|&id| program.dag.node(id).interval().is_some()),
        };
        let mut online = Self {
            network: Network::new(&graph, stamped.is_some(), repeat),
            roots,
            stamped,
            width: words(program.atoms().len()),
            memory_budget: options.memory_budget,
            last: None,
            ended: false,
            tidy: 64,
            numbers: trace::Numbers::default(),
        };
        online.ask();
        Ok(online)
    }

    /// Takes the next position: its time, never before that of the position before, and its atoms, 64 to a word.
    #[inline]
    pub fn step(&mut self, time: Option<i64>, atoms: &[u64]) -> Result<(), Unsupported> {
        let time = match (self.stamped, time) {
            (None, _) => 0,
            (Some(_), Some(time)) => {
                if self.last.is_some_and(|last| time < last)
                    || self.network.passed().is_some_and(|passed| time <= passed)
                {
                    return Err(self.refuse(format!("a position at {time}, a time that has passed")));
                }
                self.last = Some(time);
                time
            }
            (Some(_), None) => {
                let refusal = self.refuse("an interval on a trace without timestamps".into());
                return Err(refusal.help("count positions: ⟨clock: index⟩"));
            }
        };
        if self.ended || atoms.len() < self.width {
            return Err(self.refuse("positions after the end, or without their atoms".into()));
        }
        self.network.step(time, atoms);
        self.read()?;
        self.foresee(atoms)?;
        if self.network.len >= self.tidy {
            self.forget()?;
        }
        Ok(())
    }

    /// Time is known to have passed strictly beyond `time`: no later position is at `time` or before. Without timestamps
    /// this says nothing.
    pub fn advance(&mut self, time: i64) -> Result<(), Unsupported> {
        if self.stamped.is_some() && !self.ended {
            self.network.advance(time);
            self.read()?;
        }
        Ok(())
    }

    /// The trace ends: everything is settled by the finite semantics.
    pub fn end(&mut self) -> Result<(), Unsupported> {
        self.ended = true;
        self.network.end();
        if self.network.len == 0 {
            return Ok(());
        }
        self.read()?;
        for root in self.roots.iter_mut().filter(|root| root.verdict.is_none()) {
            root.verdict = Some(root.parts.iter().all(Progress::at_end) != root.negated);
        }
        self.ask();
        Ok(())
    }

    /// Whether each root holds if the trace ends here; `None` before the first position.
    pub fn at_end(&self) -> Option<Vec<bool>> {
        let mut copy = self.clone();
        copy.end().ok()?;
        copy.roots.iter().map(|root| root.verdict).collect()
    }

    /// The next position whose truth is settled, in order, and that truth. Nothing with [`Each::Nothing`].
    #[inline]
    pub fn next_settled(&mut self, root: usize) -> Option<(Position, bool)> {
        let root = &mut self.roots[root];
        let holds = self.network.known(root.each?, root.told)?;
        root.told += 1;
        Some((root.told as Position - 1, holds))
    }

    /// How many positions of a root were told.
    pub(crate) fn told(&self, root: usize) -> Position {
        self.roots[root].told as Position
    }

    /// The verdict of a root about position 0, if every continuation has it.
    pub fn verdict(&self, root: usize) -> Option<bool> {
        self.roots[root].verdict
    }

    /// The longest that the truth at a position may take to be settled; `None` is for ever.
    pub fn delay(&self, root: usize) -> Option<Delay> {
        self.roots[root].delay
    }

    /// How many positions were taken.
    pub fn positions(&self) -> Position {
        self.network.len as Position
    }

    /// What can be said at once about the last position, `None` for maybe: of what is told at each position, of φ for a
    /// root `G φ` without interval if nothing is. It agrees with what will be settled.
    pub fn now(&self, root: usize) -> Option<bool> {
        self.network.now(self.roots[root].observed)
    }

    /// Reads complete rows into the verdicts.
    #[inline]
    fn read(&mut self) -> Result<(), Unsupported> {
        let mut settled = false;
        for root in self.roots.iter_mut().filter(|root| root.verdict.is_none()) {
            let mut all = Some(true);
            for part in &mut root.parts {
                part.read(&self.network)?;
                all = match (all, part.verdict) {
                    (Some(false), _) | (_, Some(false)) => Some(false),
                    (Some(true), Some(true)) => Some(true),
                    _ => None,
                };
            }
            root.verdict = all.map(|all| all != root.negated);
            settled |= all.is_some();
        }
        if settled {
            self.ask();
        }
        Ok(())
    }

    /// Asks those who know a verdict before complete rows show it.
    #[inline]
    fn foresee(&mut self, atoms: &[u64]) -> Result<(), Unsupported> {
        let mut settled = false;
        for root in self.roots.iter_mut().filter(|root| root.verdict.is_none()) {
            if let Some(foresight) = &mut root.foresight {
                root.verdict = foresight.step(atoms)?;
                settled |= root.verdict.is_some();
            }
        }
        if settled {
            self.ask();
        }
        Ok(())
    }

    /// Says which operators are still needed.
    fn ask(&mut self) {
        let open = |root: &&Told| root.verdict.is_none();
        let atoms = self.roots.iter().filter(open).flat_map(|root| &root.parts).flat_map(|part| &part.atoms);
        let each = self.roots.iter().filter_map(|root| root.each.as_ref());
        self.network.ask(atoms.chain(each).copied());
    }

    /// Forgets what is not needed any more, and looks at the memory that is left.
    #[inline(never)]
    fn forget(&mut self) -> Result<(), Unsupported> {
        let open = |root: &&Told| root.verdict.is_none();
        let parts = self.roots.iter().filter(open).flat_map(|root| &root.parts);
        let parts = parts.filter(|part| part.verdict.is_none());
        let atoms = parts.flat_map(|part| part.atoms.iter().map(|&atom| (atom, part.row)));
        let each = self.roots.iter().filter_map(|root| Some((root.each?, root.told)));
        self.network.forget(atoms.chain(each));
        // Time for this is bounded by that of the events since, also for large programs.
        self.tidy = self.network.len + 64;
        if self.heap_bytes() > self.memory_budget {
            let what = format!("open verdicts take more than {} bytes", self.memory_budget);
            return Err(Unsupported::budget(what));
        }
        Ok(())
    }

    fn refuse(&self, what: String) -> Unsupported {
        Unsupported { node: self.stamped, what, help: None, exhausted: false }
    }

    /// Bytes held.
    pub fn heap_bytes(&self) -> usize {
        let parts = self.roots.iter().flat_map(|root| &root.parts).map(Progress::heap_bytes);
        let foresight = self.roots.iter().filter_map(|root| root.foresight.as_ref());
        self.network.heap_bytes() + parts.sum::<usize>() + foresight.map(Foresight::heap_bytes).sum::<usize>()
    }
}

/// φ of `G φ`.
fn globally(graph: &Graph, edge: Edge) -> Edge {
    match graph.operators[edge.op()].kind {
        graph::Kind::Until(_, _, b) if edge.negated() => !b,
        _ => edge,
    }
}

#[cfg(test)]
mod tests;

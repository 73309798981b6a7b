//! Verdicts about position 0 by progression: what is settled of the unbounded future, and what is left of it.
//!
//! "Online Monitoring of Metric Temporal Logic" (Ho, Ouaknine, Worrell) keeps the value of a formula as a Boolean function
//! of variables that stand for its future operators at the next position. Atoms of that formula are the subformulas whose
//! verdicts take a bounded time, computed by the [`Network`]; a row of them is read when it is complete. The verdict is
//! settled when the function is constant. Functions are decision diagrams; states and transitions are kept, so that a
//! row costs one look-up once its transition has been seen.

mod row;
mod saved;

use super::graph::{Edge, Graph, Kind};
use super::network::Network;
use super::separate::unfolds;
use rustc_hash::FxHashMap;
use tw_automata::diagram::{Diagram, Diagrams, Full, VARIABLES};
use tw_ir::NodeId;
use tw_monitor::Unsupported;

/// What a step of the formula does; edges are to steps.
#[derive(Clone, Copy, Debug)]
enum Step {
    True,
    /// An atom, by number.
    Atom(usize),
    And(Edge, Edge),
    Xor(Edge, Edge),
    /// Variables stand for the operand at the next position …
    Next(Edge, u32),
    /// … for there being none …
    Last(u32),
    /// … and for the operator itself there.
    Until(Edge, Edge, u32),
    /// Kept: its own value.
    Since(Edge, Edge, usize),
    /// Kept: the operand's value.
    Previous(Edge, usize),
}

/// One conjunct of a root.
#[derive(Clone, Debug)]
pub(super) struct Progress {
    steps: Vec<Step>,
    root: Edge,
    /// The atoms, operators of the network.
    pub(super) atoms: Vec<Edge>,
    /// The variables' steps.
    variables: Vec<usize>,
    /// What the user wrote of them.
    nodes: Vec<Option<NodeId>>,
    /// Values kept beside the root's: of past operators, and with repetition of the last position of `X`'s operands.
    kept: usize,
    repeat: bool,
    /// Whether rows may be long in coming, so that they are looked at before they are complete …
    peeks: bool,
    /// … and what was known of the last ones: which atoms, and their truth.
    peeked: Vec<(u64, u64, u64)>,
    /// The first row that is not read.
    pub(super) row: u64,
    /// Root, then kept values.
    state: Vec<Diagram>,
    number: u32,
    diagrams: Diagrams,
    numbers: FxHashMap<Vec<Diagram>, u32>,
    states: Vec<Vec<Diagram>>,
    seen: FxHashMap<(u32, u64), u32>,
    limit: usize,
    pub(super) verdict: Option<bool>,
}

/// Nodes that the diagrams of one conjunct may have.
const NODES: usize = 1 << 20;

impl Progress {
    pub(super) fn new(graph: &Graph, edge: Edge, repeat: bool, limit: usize) -> Result<Self, Unsupported> {
        let mut needed = vec![false; graph.operators.len()];
        needed[edge.op()] = true;
        let unfolds = |at: usize| unfolds(graph, at);
        for at in (0..=edge.op()).rev().filter(|&at| unfolds(at)) {
            if needed[at] {
                graph.operators[at].kind.operands().for_each(|operand| needed[operand.op()] = true);
            }
        }
        let mut progress = Self {
            steps: Vec::new(),
            root: Edge::TRUE,
            atoms: Vec::new(),
            variables: Vec::new(),
            nodes: Vec::new(),
            kept: 0,
            repeat,
            peeks: false,
            peeked: Vec::new(),
            row: 0,
            state: Vec::new(),
            number: 0,
            diagrams: Diagrams::new(NODES),
            numbers: FxHashMap::default(),
            states: Vec::new(),
            seen: FxHashMap::default(),
            limit: limit.max(1),
            verdict: None,
        };
        let mut place = vec![0; graph.operators.len()];
        for at in (0..=edge.op()).filter(|&at| needed[at]) {
            let to = |edge: Edge| Edge::new(place[edge.op()], edge.negated());
            let step = match graph.operators[at].kind {
                Kind::True => Step::True,
                Kind::Last => Step::Last(progress.variable()),
                _ if !unfolds(at) => {
                    progress.atoms.push(Edge::new(at, false));
                    Step::Atom(progress.atoms.len() - 1)
                }
                Kind::And(a, b) => Step::And(to(a), to(b)),
                Kind::Xor(a, b) => Step::Xor(to(a), to(b)),
                Kind::Next(_, a) => Step::Next(to(a), progress.variable()),
                Kind::Until(_, a, b) => Step::Until(to(a), to(b), progress.variable()),
                Kind::Since(_, a, b) => Step::Since(to(a), to(b), progress.keep()),
                Kind::Previous(_, a) => Step::Previous(to(a), progress.keep()),
                Kind::Atom(_) | Kind::First | Kind::Beyond(..) => continue,
            };
            if progress.variables.len() > progress.nodes.len() {
                progress.nodes.push(graph.operators[at].node);
            }
            place[at] = progress.steps.len();
            progress.steps.push(step);
        }
        progress.root = Edge::new(place[edge.op()], edge.negated());
        if progress.variables.len() > VARIABLES {
            return Err(Unsupported::budget(format!(
                "more than {VARIABLES} unbounded operators in one property"
            )));
        }
        Ok(progress)
    }

    /// Looks at rows before they are complete, too.
    pub(super) fn peeking(mut self) -> Self {
        self.peeks = self.atoms.len() <= 64 && self.variables.len() + 4 * self.atoms.len() <= VARIABLES;
        self
    }

    /// A variable for the step that comes next.
    fn variable(&mut self) -> u32 {
        self.variables.push(self.steps.len());
        self.variables.len() as u32 - 1
    }

    fn keep(&mut self) -> usize {
        self.kept += 1;
        self.kept
    }

    /// Reads the rows that are complete, and notes the verdict when they settle it.
    #[inline]
    pub(super) fn read(&mut self, network: &Network) -> Result<(), Unsupported> {
        while self.verdict.is_none() && self.row < network.len {
            let mut row = 0u64;
            for (number, &atom) in self.atoms.iter().enumerate() {
                let Some(value) = network.known(atom, self.row) else {
                    if self.peeks {
                        self.peek(network);
                    }
                    return Ok(());
                };
                row |= u64::from(value) << (number % 64);
            }
            let short = self.atoms.len() <= 64;
            let known =
                if self.row > 0 && short { self.seen.get(&(self.number, row)).copied() } else { None };
            match known {
                Some(number) if number == self.number => {}
                Some(number) => {
                    self.number = number;
                    self.state.clone_from(&self.states[number as usize]);
                }
                None => {
                    let (before, first) = (self.number, self.row == 0);
                    let forgot = self.go(network)?;
                    if !first && short && !forgot {
                        self.seen.insert((before, row), self.number);
                    }
                }
            }
            self.verdict = self.state[0].as_constant();
            self.row += 1;
        }
        Ok(())
    }

    /// Computes the state after the row. Returns whether earlier states were forgotten to make room.
    fn go(&mut self, network: &Network) -> Result<bool, Unsupported> {
        let mut forgot = self.states.len() >= self.limit;
        if forgot {
            self.forget();
        }
        let before = self.state.clone();
        let state = match self.after(network, &before, self.row, 0) {
            Ok(state) => state,
            Err(Full(_)) => {
                self.forget();
                forgot = true;
                let before = self.state.clone();
                self.after(network, &before, self.row, 0).map_err(|Full(limit)| {
                    Unsupported::budget(format!("what is open of the property has more than {limit} parts"))
                })?
            }
        };
        self.state = state;
        self.number = match self.numbers.get(&self.state) {
            Some(&number) => number,
            None => {
                let number = self.states.len() as u32;
                self.states.push(self.state.clone());
                self.numbers.insert(self.state.clone(), number);
                number
            }
        };
        Ok(forgot)
    }

    /// Forgets all states but the present one.
    fn forget(&mut self) {
        self.states.clear();
        self.numbers.clear();
        self.seen.clear();
        self.diagrams.compact(&mut self.state);
    }

    /// The verdict if no position follows the rows read, at least one.
    pub(super) fn at_end(&self) -> bool {
        if let Some(verdict) = self.verdict {
            return verdict;
        }
        let mut ends: Vec<bool> = Vec::with_capacity(self.variables.len());
        let mut operands = self.state.iter().skip(1 + self.kept);
        for &at in &self.variables {
            let value = match self.steps[at] {
                Step::Last(_) => true,
                Step::Next(..) if self.repeat => operands.next().is_some_and(|&operand| {
                    self.diagrams.evaluate(operand, |variable| ends.get(variable as usize) == Some(&true))
                }),
                _ => false,
            };
            ends.push(value);
        }
        self.state
            .first()
            .is_some_and(|&root| self.diagrams.evaluate(root, |variable| ends[variable as usize]))
    }

    /// What the user wrote of the future operators that the verdict depends on.
    pub(super) fn owed(&self) -> impl Iterator<Item = NodeId> {
        let support = self.state.first().map_or_else(Vec::new, |&root| self.diagrams.support(root));
        support.into_iter().filter_map(|variable| self.nodes[variable as usize])
    }

    pub(super) fn heap_bytes(&self) -> usize {
        let states = self.states.len() * (56 + 8 * (1 + self.kept)) + self.seen.capacity() * 24;
        self.diagrams.heap_bytes() + states + self.steps.capacity() * size_of::<Step>()
    }
}

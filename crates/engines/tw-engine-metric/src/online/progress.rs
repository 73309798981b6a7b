//! Verdicts about position 0 by progression: what is settled of the unbounded future, and what is left of it.
//!
//! "Online Monitoring of Metric Temporal Logic" (Ho, Ouaknine, Worrell) keeps the value of a formula as a Boolean function
//! of variables that stand for its future operators at the next position. Atoms of that formula are the subformulas whose
//! verdicts take a bounded time, computed by the [`Network`]; a row of them is read when it is complete. The verdict is
//! settled when the function is constant. Functions are decision diagrams; states and transitions are kept, so that a
//! row costs one look-up once its transition has been seen. They are kept once for all traces of a monitor ([`states`]).

mod row;
mod saved;
mod states;

use super::graph::{Delay, Edge, Graph, Kind};
use super::network::Network;
use super::separate::{needed, unfolds};
use states::{NOWHERE, States};
use tw_automata::diagram::{Diagram, Full, VARIABLES};
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
    /// The state of the trace at work.
    number: u32,
    states: States,
    pub(super) verdict: Option<bool>,
}

impl Place {
    /// Bytes held elsewhere.
    pub(super) fn heap_bytes(&self) -> usize {
        self.peeked.capacity() * size_of::<(u64, u64, u64)>()
    }
}

/// What a trace owns of a conjunct; the states are there once for all.
#[derive(Clone, Debug)]
pub(super) struct Place {
    peeked: Vec<(u64, u64, u64)>,
    row: u64,
    number: u32,
    verdict: Option<bool>,
}

impl Progress {
    pub(super) fn new(graph: &Graph, edge: Edge, repeat: bool, limit: usize) -> Result<Self, Unsupported> {
        let unfolds = |at: usize| unfolds(graph, at);
        let needed = needed(graph, edge, unfolds);
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
            number: NOWHERE,
            states: States::new(limit),
            verdict: None,
        };
        // By place among what is needed, the step.
        let mut steps = vec![0; needed.len()];
        let step_of = |steps: &[usize], op: usize| needed.binary_search(&op).map_or(0, |place| steps[place]);
        for (place, &at) in needed.iter().enumerate() {
            let to = |edge: Edge| Edge::new(step_of(&steps, edge.op()), edge.negated());
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
            steps[place] = progress.steps.len();
            progress.steps.push(step);
        }
        progress.root = Edge::new(step_of(&steps, edge.op()), edge.negated());
        if progress.variables.len() > VARIABLES {
            return Err(Unsupported::budget(format!(
                "more than {VARIABLES} unbounded operators in one property"
            )));
        }
        Ok(progress)
    }

    /// Another trace is at work; `place` takes what the last one owned.
    #[inline]
    pub(super) fn swap(&mut self, place: &mut Place) {
        std::mem::swap(&mut self.peeked, &mut place.peeked);
        std::mem::swap(&mut self.row, &mut place.row);
        std::mem::swap(&mut self.number, &mut place.number);
        std::mem::swap(&mut self.verdict, &mut place.verdict);
    }

    /// A copy of what the trace at work owns.
    pub(super) fn copy(&mut self) -> Place {
        self.states.hold(self.number);
        Place { peeked: self.peeked.clone(), row: self.row, number: self.number, verdict: self.verdict }
    }

    /// A trace is no more: nobody needs its state for it.
    pub(super) fn leave(&mut self, place: &Place) {
        self.states.release(place.number);
    }

    /// The functions of the trace at work: the root's, then kept values; none before the first row.
    fn state(&self) -> &[Diagram] {
        self.states.get(self.number)
    }

    /// The trace at work is in this state now.
    #[inline]
    fn enter(&mut self, number: u32) {
        self.states.hold(number);
        self.states.release(self.number);
        self.number = number;
    }

    /// Whether one atom may decide a row while another is still open.
    pub(super) fn waits(&self, graph: &Graph) -> bool {
        let open = |&atom: &Edge| graph.delay(atom) != Some(Delay::default());
        self.atoms.len() > 1 && self.atoms.iter().any(open)
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
            let known = if self.row > 0 && short { self.states.after(self.number, row) } else { None };
            match known {
                Some(number) if number == self.number => {}
                Some(number) => self.enter(number),
                None => {
                    let (before, first) = (self.number, self.row == 0);
                    let forgot = self.go(network)?;
                    if !first && short && !forgot {
                        self.states.learn(before, row, self.number);
                    }
                }
            }
            self.verdict = self.state()[0].as_constant();
            self.row += 1;
        }
        Ok(())
    }

    /// Computes the state after the row. Returns whether earlier states were forgotten to make room.
    fn go(&mut self, network: &Network) -> Result<bool, Unsupported> {
        let mut forgot = self.states.crowded();
        if forgot {
            self.states.forget();
        }
        let before = self.state().to_vec();
        let state = match self.after(network, &before, self.row, 0) {
            Ok(state) => state,
            Err(Full(_)) => {
                self.states.forget();
                forgot = true;
                let before = self.state().to_vec();
                self.after(network, &before, self.row, 0).map_err(|Full(limit)| {
                    Unsupported::budget(format!("what is open of the property has more than {limit} parts"))
                })?
            }
        };
        let number = self.states.number(state);
        self.enter(number);
        Ok(forgot)
    }

    /// The verdict if no position follows the rows read, at least one.
    pub(super) fn at_end(&self) -> bool {
        if let Some(verdict) = self.verdict {
            return verdict;
        }
        let mut ends: Vec<bool> = Vec::with_capacity(self.variables.len());
        let mut operands = self.state().iter().skip(1 + self.kept);
        for &at in &self.variables {
            let value = match self.steps[at] {
                Step::Last(_) => true,
                Step::Next(..) if self.repeat => operands.next().is_some_and(|&operand| {
                    self.states
                        .diagrams
                        .evaluate(operand, |variable| ends.get(variable as usize) == Some(&true))
                }),
                _ => false,
            };
            ends.push(value);
        }
        self.state()
            .first()
            .is_some_and(|&root| self.states.diagrams.evaluate(root, |variable| ends[variable as usize]))
    }

    /// What the user wrote of the future operators that the verdict depends on.
    pub(super) fn owed(&self) -> impl Iterator<Item = NodeId> {
        let diagrams = &self.states.diagrams;
        let support = self.state().first().map_or_else(Vec::new, |&root| diagrams.support(root));
        support.into_iter().filter_map(|variable| self.nodes[variable as usize])
    }

    /// Bytes held by all traces together.
    pub(super) fn heap_bytes(&self) -> usize {
        self.states.heap_bytes(1 + self.kept) + self.steps.capacity() * size_of::<Step>()
    }
}

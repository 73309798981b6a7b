//! Evidence: the paths that show why a formula holds in a state, or why it does not.
//!
//! Claims wait in a list, parents before what is to be shown on their paths, so that depth costs memory and no stack,
//! and so that what is cut when there is too much is what lies deepest.

use super::shape::{Literal, Operand};
use crate::Evidence;
use rustc_hash::FxHashSet;
use tw_ir::{Node, NodeId, Program};
use tw_model::State;

/// Claims shown in one tree, and how many of them may stand one below another.
const PIECES: usize = 1_000;
const DEPTH: u32 = 400;

struct Piece {
    evidence: Evidence,
    /// The piece on whose path this one is to be shown, and where.
    parent: usize,
    at: usize,
    depth: u32,
}

/// A path, and what it asks of its states: from, to (inside), what.
pub(crate) struct Path {
    pub steps: Vec<State>,
    pub cycle: Option<usize>,
    pub asks: Vec<(usize, usize, Operand)>,
    /// A path formula of many operators, all of whose parts are asked of every state.
    pub whole: Option<NodeId>,
}

impl Path {
    /// A path of one operator.
    pub fn new(steps: Vec<State>, cycle: Option<usize>, asks: Vec<(usize, usize, Operand)>) -> Self {
        Self { steps, cycle, asks, whole: None }
    }
}

/// The states that satisfy each state formula, and the paths that show it: what evidence is made of, whether states are
/// listed or told as sets.
pub(crate) trait Answer {
    /// What is asked.
    fn program(&self) -> &Program;

    /// Whether a formula is about a state, rather than about a path.
    fn is_state(&self, node: NodeId) -> bool;

    /// Whether a state formula holds in a state.
    fn holds(&self, node: NodeId, state: State) -> bool;

    /// A path from a state on which a path formula has this truth; there is one. `None` if it would cost too much; the
    /// `first` of a tree is found whatever it costs.
    fn path(&mut self, first: bool, node: NodeId, value: bool, from: State) -> Option<Path>;
}

/// The claims of one tree of evidence, as far as they have been found.
struct Claims<A> {
    answer: A,
    /// Formulas without path quantifiers: the state's values show them.
    plain: Vec<bool>,
    pieces: Vec<Piece>,
    seen: FxHashSet<(NodeId, State)>,
}

/// Why a formula holds in a state, or why it does not.
pub(crate) fn evidence(answer: impl Answer, root: NodeId, state: State) -> Evidence {
    let holds = answer.holds(root, state);
    let mut claims =
        Claims { plain: plain(answer.program()), answer, pieces: Vec::new(), seen: FxHashSet::default() };
    let first = Evidence::path(root, holds, vec![state], None);
    claims.pieces.push(Piece { evidence: first, parent: 0, at: 0, depth: 0 });
    claims.seen.insert((root, state));
    let mut next = 0;
    while next < claims.pieces.len() {
        claims.expand(next);
        next += 1;
    }
    assemble(claims.pieces)
}

fn plain(program: &Program) -> Vec<bool> {
    let mut plain = vec![true; program.dag.len()];
    for (index, node) in program.dag.nodes().iter().enumerate() {
        plain[index] = !node.is_branching() && node.children().all(|child| plain[child.index()]);
    }
    plain
}

/// Pieces stand after their parents: from the last to the first, each is handed to its own.
fn assemble(pieces: Vec<Piece>) -> Evidence {
    let mut branches: Vec<Vec<(usize, Evidence)>> = Vec::new();
    branches.resize_with(pieces.len(), Vec::new);
    let mut root = None;
    for (index, piece) in pieces.into_iter().enumerate().rev() {
        let mut evidence = piece.evidence;
        evidence.branches = std::mem::take(&mut branches[index]);
        evidence.branches.reverse();
        if index == 0 {
            root = Some(evidence);
        } else {
            branches[piece.parent].push((piece.at, evidence));
        }
    }
    root.expect("the first piece is the root")
}

impl<A: Answer> Claims<A> {
    fn expand(&mut self, index: usize) {
        let evidence = &self.pieces[index].evidence;
        let (node, holds, from) = (evidence.node, evidence.holds, evidence.steps[0]);
        let path = match self.answer.program().dag.node(node) {
            Node::SomePath(path) if holds => self.answer.path(index == 0, path, true, from),
            Node::AllPaths(path) if !holds => self.answer.path(index == 0, path, false, from),
            // No single path shows these.
            Node::SomePath(_) | Node::AllPaths(_) => return,
            _ => {
                let operand = Operand { any: false, parts: vec![Literal { node, value: holds }] };
                self.seen.remove(&(node, from));
                Some(Path::new(vec![from], None, vec![(0, 0, operand)]))
            }
        };
        let Some(mut path) = path else {
            self.pieces[index].evidence.cut = true;
            return;
        };
        if let Some(whole) = path.whole {
            path.asks = self.whole_asks(whole, &path.steps);
        }
        for (first, last, operand) in &path.asks {
            if !operand.parts.iter().all(|part| self.plain[part.node.index()]) {
                (*first..=*last).for_each(|at| self.ask(index, at, path.steps[at], operand));
            }
        }
        let evidence = &mut self.pieces[index].evidence;
        (evidence.steps, evidence.cycle) = (path.steps, path.cycle);
    }

    /// Whether a literal is so in a state.
    fn is(&self, literal: Literal, state: State) -> bool {
        self.answer.holds(literal.node, state) == literal.value
    }

    /// What is to be shown at a place of a path: the path quantifiers that decide the operand there.
    fn ask(&mut self, index: usize, at: usize, state: State, operand: &Operand) {
        let mut todo = Vec::new();
        self.push(&mut todo, operand.any, &operand.parts, state);
        while let Some(Literal { node, value }) = todo.pop() {
            if self.plain[node.index()] || self.seen.contains(&(node, state)) {
                continue;
            }
            let part = |node, value| Literal { node, value };
            let (any, parts) = match self.answer.program().dag.node(node) {
                Node::Not(a) => (false, vec![part(a, !value)]),
                Node::And(a, b) => (!value, vec![part(a, value), part(b, value)]),
                Node::Or(a, b) => (value, vec![part(a, value), part(b, value)]),
                Node::Implies(a, b) => (value, vec![part(a, !value), part(b, value)]),
                Node::Xor(a, b) | Node::Iff(a, b) => {
                    let own = |node: NodeId| part(node, self.answer.holds(node, state));
                    (false, vec![own(a), own(b)])
                }
                _ => {
                    let depth = self.pieces[index].depth + 1;
                    if self.pieces.len() >= PIECES || depth > DEPTH {
                        self.pieces[index].evidence.cut = true;
                        return;
                    }
                    self.seen.insert((node, state));
                    let evidence = Evidence::path(node, value, vec![state], None);
                    self.pieces.push(Piece { evidence, parent: index, at, depth });
                    continue;
                }
            };
            self.seen.insert((node, state));
            self.push(&mut todo, any, &parts, state);
        }
    }

    /// All of the parts in order, or of those that hold one: rather one that needs no evidence.
    fn push(&self, todo: &mut Vec<Literal>, any: bool, parts: &[Literal], state: State) {
        if any {
            let holding = || parts.iter().filter(|part| self.is(**part, state));
            let easy = holding().find(|part| self.plain[part.node.index()]);
            todo.extend(easy.or_else(|| holding().next()));
        } else {
            todo.extend(parts.iter().rev());
        }
    }

    /// At each state of a path, the state formulas with path quantifiers that a path formula is made of.
    fn whole_asks(&self, path: NodeId, steps: &[State]) -> Vec<(usize, usize, Operand)> {
        let (mut todo, mut seen, mut parts) = (vec![path], FxHashSet::default(), Vec::new());
        while let Some(node) = todo.pop() {
            if self.plain[node.index()] || !seen.insert(node) {
                continue;
            }
            if self.answer.is_state(node) {
                parts.push(node);
            } else {
                todo.extend(self.answer.program().dag.node(node).children());
            }
        }
        parts.sort_unstable();
        let own = |node: NodeId, state: State| {
            let value = self.answer.holds(node, state);
            Literal { node, value }
        };
        let asks = steps.iter().enumerate().map(|(at, &state)| {
            let parts = parts.iter().map(|&node| own(node, state)).collect();
            (at, at, Operand { any: false, parts })
        });
        if parts.is_empty() { Vec::new() } else { asks.collect() }
    }
}

//! Evidence: the paths that show why a formula holds in a state, or why it does not.
//!
//! Claims wait in a list, parents before what is to be shown on their paths, so that depth costs memory and no stack,
//! and so that what is cut when there is too much is what lies deepest.

use super::Branching;
use super::fixpoint::{reach, stay};
use super::search::Search;
use super::sets::and;
use super::shape::{Literal, Operand, Shape, shape};
use super::window::{Windows, width};
use crate::{Evidence, star};
use rustc_hash::FxHashSet;
use tw_core::Bits;
use tw_ir::{Node, NodeId, Ticks};
use tw_model::State;

/// Claims shown in one tree, and how many of them may stand one below another.
const PIECES: usize = 1_000;
const DEPTH: u32 = 400;
/// States and transitions looked at for one tree; its first path is found whatever it costs.
const WORK: u64 = 1 << 26;
/// Longest part of a path that an interval may ask for.
const LENGTH: u64 = 1 << 22;

struct Piece {
    evidence: Evidence,
    /// The piece on whose path this one is to be shown, and where.
    parent: usize,
    at: usize,
    depth: u32,
}

/// A path, and what it asks of its states: from, to (inside), what.
struct Path {
    steps: Vec<State>,
    cycle: Option<usize>,
    asks: Vec<(usize, usize, Operand)>,
}

/// The claims of one tree of evidence, as far as they have been found.
struct Claims<'a> {
    answer: &'a Branching<'a>,
    search: Search<'a>,
    /// Formulas without path quantifiers: the state's values show them.
    plain: Vec<bool>,
    pieces: Vec<Piece>,
    seen: FxHashSet<(NodeId, State)>,
}

pub(super) fn evidence(answer: &Branching, root: NodeId, state: State) -> Evidence {
    let holds = answer.satisfied(root).get(state as usize);
    let mut claims = Claims {
        answer,
        search: Search::new(answer.checker.graph()),
        plain: plain(answer),
        pieces: Vec::new(),
        seen: FxHashSet::default(),
    };
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

fn plain(answer: &Branching) -> Vec<bool> {
    let mut plain = vec![true; answer.sets.len()];
    for (index, node) in answer.program.dag.nodes().iter().enumerate() {
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

impl Claims<'_> {
    fn expand(&mut self, index: usize) {
        let evidence = &self.pieces[index].evidence;
        let (node, holds, from) = (evidence.node, evidence.holds, evidence.steps[0]);
        let path = match self.answer.program.dag.node(node) {
            Node::SomePath(path) if holds => self.path(index, path, true, from),
            Node::AllPaths(path) if !holds => self.path(index, path, false, from),
            // No single path shows these.
            Node::SomePath(_) | Node::AllPaths(_) => return,
            _ => {
                let operand = Operand { any: false, parts: vec![Literal { node, value: holds }] };
                self.seen.remove(&(node, from));
                Some(Path { steps: vec![from], cycle: None, asks: vec![(0, 0, operand)] })
            }
        };
        let Some(path) = path else {
            self.pieces[index].evidence.cut = true;
            return;
        };
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
        self.answer.satisfied(literal.node).get(state as usize) == literal.value
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
            let (any, parts) = match self.answer.program.dag.node(node) {
                Node::Not(a) => (false, vec![part(a, !value)]),
                Node::And(a, b) => (!value, vec![part(a, value), part(b, value)]),
                Node::Or(a, b) => (value, vec![part(a, value), part(b, value)]),
                Node::Implies(a, b) => (value, vec![part(a, !value), part(b, value)]),
                Node::Xor(a, b) | Node::Iff(a, b) => {
                    let own = |node: NodeId| part(node, self.answer.satisfied(node).get(state as usize));
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

    /// A path from a state on which a path formula has this truth; there is one. `None` if it would cost too much.
    fn path(&mut self, index: usize, node: NodeId, value: bool, from: State) -> Option<Path> {
        if index > 0 && self.search.work > WORK {
            return None;
        }
        let answer = self.answer;
        let Some(shape) = shape(answer.program, node, value, &answer.state).ok()? else {
            let known = |id: NodeId| answer.sets[id.index()].as_ref();
            let lasso = star::lasso_from(answer.checker, answer.program, node, value, &known, from);
            let (steps, cycle) = lasso.ok().flatten()?;
            let asks = self.star_asks(node, &steps);
            return Some(Path { steps, cycle: Some(cycle), asks });
        };
        match shape {
            Shape::Here(operand) => {
                Some(Path { steps: vec![from], cycle: None, asks: vec![(0, 0, operand)] })
            }
            Shape::Next(operand) => {
                let set = answer.fair.only(&answer.operand(&operand));
                let successors = answer.checker.graph().successors(from);
                let next = *successors.iter().find(|&&state| set.get(state as usize))?;
                Some(Path { steps: vec![from, next], cycle: None, asks: vec![(1, 1, operand)] })
            }
            Shape::Until(ticks, a, b) => self.until(ticks, a, b, from),
            Shape::Release(ticks, a, b) => self.release(ticks, a, b, from),
        }
    }

    fn until(&mut self, ticks: Ticks, a: Operand, b: Operand, from: State) -> Option<Path> {
        let answer = self.answer;
        let (through, goal) = (answer.operand(&a), answer.fair.only(&answer.operand(&b)));
        let mut steps = vec![from];
        if ticks.low > 0 {
            self.search.work += self.size();
            let (graph, reverse) = (answer.checker.graph(), answer.checker.reverse());
            let inside = reach(graph, reverse, &through, &goal, width(ticks));
            steps = self.lead(ticks, from, &through, &Bits::repeat(false, inside.len()), &inside)?.0;
        }
        let path = self.search.path(*steps.last()?, false, has(&through), has(&goal))?;
        steps.extend_from_slice(&path[1..]);
        let last = steps.len() - 1;
        let mut asks = vec![(last, last, b)];
        if last > 0 {
            asks.insert(0, (0, last - 1, a));
        }
        Some(Path { steps, cycle: None, asks })
    }

    fn release(&mut self, ticks: Ticks, a: Operand, b: Operand, from: State) -> Option<Path> {
        let answer = self.answer;
        let (stop, hold) = (answer.fair.only(&answer.operand(&a)), answer.operand(&b));
        let released = and(&stop, &hold);
        let mut steps = vec![from];
        if ticks.low > 0 {
            self.search.work += 2 * self.size();
            let inside = Windows::new(answer.checker, &answer.fair, 0).inside(ticks, &stop, &hold);
            let all = Bits::repeat(true, inside.len());
            let stopped;
            (steps, stopped) = self.lead(ticks, from, &all, &stop, &inside)?;
            if stopped {
                let last = steps.len() - 1;
                return Some(Path { steps, cycle: None, asks: vec![(last, last, a)] });
            }
        }
        let first = steps.len() - 1;
        // A path that stays for as many transitions as there are states can stay for ever, if all paths count.
        let wide = width(ticks);
        let ever =
            ticks.high == i64::MAX || answer.fair.all() && wide >= answer.checker.graph().states() as u64;
        let (mut cycle, mut stopped) = (None, true);
        if ever {
            // `G` is never released: no need to look for where.
            let look = |search: &mut Search| search.path(steps[first], false, has(&hold), has(&released));
            match Some(&mut self.search).filter(|_| released.count_ones() > 0).and_then(look) {
                Some(path) => steps.extend_from_slice(&path[1..]),
                None => {
                    let (path, begin) = self.search.lasso(answer.checker, steps[first], &hold)?;
                    steps.extend_from_slice(&path[1..]);
                    (cycle, stopped) = (Some(first + begin), false);
                }
            }
        } else {
            let (path, is_released) = self.remain(wide, steps[first], &answer.fair.only(&hold), &released)?;
            steps.extend_from_slice(&path[1..]);
            stopped = is_released;
        }
        let last = steps.len() - 1;
        let mut asks = vec![(first, last, b)];
        if stopped {
            asks.push((last, last, a));
        }
        Some(Path { steps, cycle, asks })
    }

    /// The way to the beginning of a window, or to a state in `stop` before it.
    fn lead(
        &mut self,
        ticks: Ticks,
        from: State,
        through: &Bits,
        stop: &Bits,
        inside: &Bits,
    ) -> Option<(Vec<State>, bool)> {
        let steps = u64::try_from(ticks.low).ok().filter(|&steps| steps <= LENGTH)?;
        self.search.walk(from, steps, has(through), has(stop), has(inside))
    }

    /// A path that stays in `within` for `wide` transitions or until it is released.
    fn remain(
        &mut self,
        wide: u64,
        from: State,
        within: &Bits,
        released: &Bits,
    ) -> Option<(Vec<State>, bool)> {
        if wide > LENGTH {
            return None;
        }
        self.search.work += 2 * self.size() + wide;
        let (graph, reverse) = (self.answer.checker.graph(), self.answer.checker.reverse());
        let ranks = stay(graph, reverse, within, released, wide, true).ranks?;
        let mut steps = vec![from];
        let mut at = from;
        for left in (0..wide).rev() {
            if released.get(at as usize) {
                break;
            }
            let fits = |&&to: &&State| within.get(to as usize) && u64::from(ranks[to as usize]) >= left;
            at = *graph.successors(at).iter().find(fits)?;
            steps.push(at);
        }
        let stopped = released.get(at as usize);
        Some((steps, stopped))
    }

    /// At each state of a path, the state formulas with path quantifiers that a path formula is made of.
    fn star_asks(&self, path: NodeId, steps: &[State]) -> Vec<(usize, usize, Operand)> {
        let (mut todo, mut seen, mut parts) = (vec![path], FxHashSet::default(), Vec::new());
        while let Some(node) = todo.pop() {
            if self.plain[node.index()] || !seen.insert(node) {
                continue;
            }
            if self.answer.state[node.index()] {
                parts.push(node);
            } else {
                todo.extend(self.answer.program.dag.node(node).children());
            }
        }
        parts.sort_unstable();
        let own = |node: NodeId, state: State| {
            let value = self.answer.satisfied(node).get(state as usize);
            Literal { node, value }
        };
        let asks = steps.iter().enumerate().map(|(at, &state)| {
            let parts = parts.iter().map(|&node| own(node, state)).collect();
            (at, at, Operand { any: false, parts })
        });
        if parts.is_empty() { Vec::new() } else { asks.collect() }
    }

    fn size(&self) -> u64 {
        let graph = self.answer.checker.graph();
        (graph.states() + graph.edges()) as u64
    }
}

fn has(set: &Bits) -> impl Fn(State) -> bool + '_ {
    |state| set.get(state as usize)
}

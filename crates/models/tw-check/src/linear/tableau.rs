//! Linear time by its definitions, for tests: every state with every guess of what temporal operators are worth there.
//!
//! Guesses must agree with each other along a transition by the operators' own equations, and operators whose equation
//! has two solutions must have reasons again and again: a true `F a` for a, a false `G a` for !a. Then some path
//! satisfies a formula if and only if a fair cycle can be reached from a first guess in which it is true. Nothing is
//! shared with the automata.

use crate::Checker;
use tw_core::Bits;
use tw_ir::{Applied, Node, NodeId, Program};
use tw_model::State;

pub(crate) struct Tableau<'a> {
    checker: &'a Checker<'a>,
    program: &'a Program,
    atoms: &'a [Bits],
    known: Vec<NodeId>,
    parts: Vec<NodeId>,
    /// Operators that are guessed.
    guessed: Vec<NodeId>,
    root: NodeId,
}

/// A state and the guesses there.
type Point = (State, u32);

impl<'a> Tableau<'a> {
    /// `None` if there are too many operators to guess.
    pub fn new(
        checker: &'a Checker,
        program: &'a Program,
        root: NodeId,
        atoms: &'a [Bits],
        most: usize,
    ) -> Option<Self> {
        let known = program.atoms();
        let parts = program.reachable(&[root]);
        let temporal = |id: &NodeId| {
            let node = program.dag.node(*id);
            node.is_future() || node.is_past() || node == Node::First
        };
        let guessed: Vec<NodeId> = parts.iter().copied().filter(temporal).collect();
        (guessed.len() <= most).then_some(Self { checker, program, atoms, known, parts, guessed, root })
    }

    fn guess(&self, id: NodeId) -> usize {
        self.guessed.iter().position(|&known| known == id).expect("temporal")
    }

    /// What each part is worth, by node.
    fn values(&self, (state, guesses): Point) -> Vec<bool> {
        let mut values = vec![false; self.program.dag.len()];
        for &id in &self.parts {
            let of = |id: NodeId| values[id.index()];
            values[id.index()] = match (self.known.binary_search(&id), self.program.dag.node(id)) {
                (Ok(atom), _) => self.atoms[atom].get(state as usize),
                (_, Node::Bool(value)) => value,
                (_, Node::Not(a)) => !of(a),
                (_, Node::And(a, b)) => of(a) && of(b),
                (_, Node::Or(a, b)) => of(a) || of(b),
                (_, Node::Xor(a, b)) => of(a) != of(b),
                (_, Node::Implies(a, b)) => !of(a) || of(b),
                (_, Node::Iff(a, b)) => of(a) == of(b),
                _ if self.guessed.contains(&id) => guesses >> self.guess(id) & 1 == 1,
                _ => false,
            };
        }
        values
    }

    /// What an operator's own equation makes it, from guesses at a position and its guess at the neighbour.
    fn unfolded(operator: Applied, values: &[bool], neighbour: bool) -> bool {
        let of = |id: NodeId| values[id.index()];
        operator.unfold(operator.left.map(of), of(operator.right), neighbour)
    }

    /// Whether guesses can be those of a first position.
    fn begins(&self, values: &[bool]) -> bool {
        let of = |id: NodeId| values[id.index()];
        self.guessed.iter().all(|&id| match self.program.dag.node(id) {
            Node::First => of(id),
            node => match node.temporal().filter(|operator| operator.past) {
                Some(operator) if operator.is_step() => of(id) == operator.weak,
                Some(operator) => of(id) == Self::unfolded(operator, values, operator.weak),
                None => true,
            },
        })
    }

    /// Whether guesses at a position and at the next agree.
    fn agree(&self, here: &[bool], next: &[bool]) -> bool {
        let (of, then) = (|id: NodeId| here[id.index()], |id: NodeId| next[id.index()]);
        self.guessed.iter().all(|&id| {
            let node = self.program.dag.node(id);
            match node.temporal() {
                None => node != Node::First || !then(id),
                Some(operator) => match (operator.is_step(), operator.past) {
                    (true, false) => of(id) == then(operator.right),
                    (true, true) => then(id) == of(operator.right),
                    (false, false) => of(id) == Self::unfolded(operator, here, then(id)),
                    (false, true) => then(id) == Self::unfolded(operator, next, of(id)),
                },
            }
        })
    }

    /// Whether an operator has its reason at a position, or needs none: one that is not what it is for want of any is
    /// so by its operands.
    fn reason(&self, id: NodeId, values: &[bool]) -> bool {
        let value = values[id.index()];
        match self.program.dag.node(id).temporal().filter(|operator| !operator.past && !operator.is_step()) {
            Some(operator) => {
                value == operator.weak || value == Self::unfolded(operator, values, operator.weak)
            }
            None => true,
        }
    }

    /// For each state, whether on some path that counts from it the formula has this truth.
    pub fn some_path(&self, value: bool) -> Vec<bool> {
        let graph = self.checker.graph();
        let width = 1u32 << self.guessed.len();
        let points: Vec<Point> = (0..graph.states() as State)
            .flat_map(|state| (0..width).map(move |guess| (state, guess)))
            .collect();
        let values: Vec<Vec<bool>> = points.iter().map(|&point| self.values(point)).collect();
        let number = |state: State, guess: u32| (state * width + guess) as usize;
        let follow = |&(state, guess): &Point| -> Vec<usize> {
            let here = &values[number(state, guess)];
            let next =
                graph.successors(state).iter().flat_map(|&to| (0..width).map(move |guess| number(to, guess)));
            next.filter(|&next| self.agree(here, &values[next])).collect()
        };
        let edges: Vec<Vec<usize>> = points.iter().map(follow).collect();
        // A point on a fair cycle: it reaches itself, and among what it reaches and is reached by, all is met.
        let reach = |from: usize| {
            let (mut seen, mut todo) = (vec![false; points.len()], vec![from]);
            while let Some(point) = todo.pop() {
                for &next in &edges[point] {
                    if !std::mem::replace(&mut seen[next], true) {
                        todo.push(next);
                    }
                }
            }
            seen
        };
        let mut good: Vec<Option<bool>> = vec![None; points.len()];
        let mut reached: Vec<Option<Vec<bool>>> = vec![None; points.len()];
        let mut answer = vec![false; graph.states()];
        for start in 0..points.len() {
            let state = points[start].0 as usize;
            let first = self.begins(&values[start]) && values[start][self.root.index()] == value;
            if !first || answer[state] {
                continue;
            }
            let from = reached[start].get_or_insert_with(|| reach(start)).clone();
            answer[state] = (0..points.len()).filter(|&point| point == start || from[point]).any(|point| {
                if let Some(known) = good[point] {
                    return known;
                }
                let own = reached[point].get_or_insert_with(|| reach(point)).clone();
                let inside: Vec<usize> = (0..points.len())
                    .filter(|&other| own[other] && reached[other].get_or_insert_with(|| reach(other))[point])
                    .collect();
                let reasons =
                    self.guessed.iter().all(|&id| inside.iter().any(|&at| self.reason(id, &values[at])));
                let fair = |set: &Bits| inside.iter().any(|&at| set.get(points[at].0 as usize));
                let accepts = own[point] && reasons && self.checker.fair_sets().iter().all(fair);
                inside.iter().for_each(|&at| good[at] = Some(accepts));
                good[point] = Some(accepts);
                accepts
            });
        }
        answer
    }
}

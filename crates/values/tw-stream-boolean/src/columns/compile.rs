//! From equations to the steps of a pass.

use super::machine::{Machine, Step};
use super::{Op, Pass, Slot};
use crate::graph::{Graph, Sign};
use crate::{Id, Node, Specification};
use rustc_hash::{FxHashMap, FxHashSet};

/// How an equation stands to the component that is being solved: as it is, or with the one reference replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Mode {
    Plain,
    With(bool),
}

struct Compiler<'a> {
    spec: &'a Specification,
    graph: &'a Graph,
    delays: Vec<i64>,
    ops: Vec<Op>,
    machines: Vec<Machine>,
    made: FxHashMap<(Id, i64, Mode), Slot>,
    /// The nodes with a member of the component below them, while one is solved.
    inner: FxHashSet<Id>,
    /// The outputs whose columns are there for the present block.
    done: FxHashMap<usize, Slot>,
}

pub(super) fn compile(spec: &Specification) -> Option<Pass> {
    let graph = Graph::new(spec);
    let delays = graph.delays(spec, true)?;
    let (ops, machines) = (Vec::new(), Vec::new());
    let mut compiler = Compiler {
        spec,
        graph: &graph,
        delays,
        ops,
        machines,
        made: FxHashMap::default(),
        inner: FxHashSet::default(),
        done: FxHashMap::default(),
    };
    for component in 0..graph.members.len() {
        compiler.component(component);
    }
    Some(Pass { ops: compiler.ops, machines: compiler.machines, delays: compiler.delays })
}

/// The pass in which each component is found, when passes go back and forth in turn.
pub(super) fn levels(graph: &Graph, backwards: bool) -> Option<Vec<usize>> {
    let mut levels = vec![0usize; graph.members.len()];
    for component in 0..levels.len() {
        let below = graph.edges[component].iter().map(|edge| graph.component[edge.to]);
        let lowest = below.filter(|&to| to != component).map(|to| levels[to]).max().unwrap_or(0);
        levels[component] = match graph.signs[component] {
            Sign::Free => lowest,
            Sign::Back => lowest + usize::from(backwards ^ (lowest % 2 == 1)),
            Sign::Ahead => lowest + usize::from(!(backwards ^ (lowest % 2 == 1))),
            Sign::Zero => return None,
        };
    }
    Some(levels)
}

impl Compiler<'_> {
    fn push(&mut self, op: Op) -> Slot {
        self.ops.push(op);
        self.ops.len() - 1
    }

    fn component(&mut self, component: usize) {
        let members = self.graph.order(&self.graph.members[component], &self.delays);
        if self.graph.signs[component] == Sign::Free {
            return members.into_iter().for_each(|output| self.plain(output));
        }
        let own: FxHashSet<usize> = members.iter().copied().collect();
        let mut back: Vec<(usize, usize, i32, bool)> = Vec::new();
        for &member in &members {
            for (stream, offset, default) in self.spec.references(member) {
                if let Some(to) = self.spec.as_output(stream)
                    && own.contains(&to)
                    && self.delays[member] != self.delays[to] + i64::from(offset)
                {
                    back.push((member, to, offset, default));
                }
            }
        }
        // One reference: all that lead back are `to[offset|default]`, asked at one delay.
        let (by, to, offset, default) = back[0];
        let delay = self.delays[by];
        let same = |other: &(usize, usize, i32, bool)| {
            (other.1, other.2, other.3, self.delays[other.0]) == (to, offset, default, delay)
        };
        // Members that are asked at the same moment from another position would be read from a column that is not there.
        let level = |member: usize| {
            let references = self.spec.references(member).into_iter();
            references.filter_map(|(stream, offset, _)| Some((self.spec.as_output(stream)?, offset))).all(
                |(other, offset)| {
                    !own.contains(&other)
                        || offset == 0
                        || self.delays[member] != self.delays[other] + i64::from(offset)
                },
            )
        };
        if back.iter().all(same) && members.iter().all(|&member| level(member)) {
            self.one_reference(&members, to, offset, default, delay);
        } else {
            self.machine(&members);
        }
    }

    fn plain(&mut self, output: usize) {
        let from = self.expression(self.spec.equations[output], self.delays[output], Mode::Plain, None);
        self.push(Op::Store { output, from });
        self.done.insert(output, from);
    }

    fn one_reference(&mut self, members: &[usize], to: usize, offset: i32, default: bool, delay: i64) {
        let solved = Some((to, offset, default, delay));
        let own: FxHashSet<usize> = members.iter().copied().collect();
        for &member in members {
            self.inner.extend(inner(self.spec, self.spec.equations[member], |output| own.contains(&output)));
        }
        let root = self.spec.equations[to];
        let [yes, no] =
            [true, false].map(|value| self.expression(root, self.delays[to], Mode::With(value), solved));
        self.inner.clear();
        self.made.retain(|(_, _, mode), _| *mode == Mode::Plain);
        let back = delay - self.delays[to] - i64::from(offset);
        let shift = i64::from(offset) - delay;
        let slot = self.push(Op::Solve { output: to, yes, no, back, shift, default });
        self.done.insert(to, slot);
        for &member in members.iter().filter(|&&member| member != to) {
            self.plain(member);
        }
    }

    /// Nodes without a member of the component below them are the same in every mode.
    fn key(&self, id: Id, delay: i64, mode: Mode) -> (Id, i64, Mode) {
        (id, delay, if self.inner.contains(&id) { mode } else { Mode::Plain })
    }

    /// The slot of an expression for positions that lie `delay` before the moment. With a mode other than plain, members
    /// of the component that are not there yet are written out, down to the one reference.
    fn expression(
        &mut self,
        root: Id,
        delay: i64,
        mode: Mode,
        solved: Option<(usize, i32, bool, i64)>,
    ) -> Slot {
        let mut todo = vec![root];
        while let Some(&id) = todo.last() {
            let key = self.key(id, delay, mode);
            if self.made.contains_key(&key) {
                todo.pop();
                continue;
            }
            let node = self.spec.nodes[id as usize];
            let before = todo.len();
            match node {
                Node::Stream { stream, offset: 0, .. } => {
                    if let Some(output) = self.spec.as_output(stream)
                        && !self.done.contains_key(&output)
                    {
                        todo.push(self.spec.equations[output]);
                    }
                }
                _ => todo.extend(node.children()),
            }
            let missing = |&id: &Id| !self.made.contains_key(&self.key(id, delay, mode));
            let waiting: Vec<Id> = todo.drain(before..).filter(missing).collect();
            if waiting.is_empty() {
                todo.pop();
                let slot = self.operator(node, delay, mode, solved);
                self.made.insert(key, slot);
            } else {
                todo.extend(waiting);
            }
        }
        self.made[&self.key(root, delay, mode)]
    }

    fn operator(
        &mut self,
        node: Node,
        delay: i64,
        mode: Mode,
        solved: Option<(usize, i32, bool, i64)>,
    ) -> Slot {
        let of = |id: Id| self.made[&self.key(id, delay, mode)];
        let op = match node {
            Node::Constant(value) => Op::Constant(value),
            Node::Outside(offset) => Op::Outside { shift: i64::from(offset) - delay },
            Node::Stream { stream, offset, default } => {
                let shift = i64::from(offset) - delay;
                match (self.spec.as_output(stream), mode) {
                    (None, _) => Op::Input { input: stream as usize, shift, default },
                    (Some(output), Mode::With(value)) if solved == Some((output, offset, default, delay)) => {
                        Op::Constant(value)
                    }
                    (Some(output), _) if offset == 0 => match self.done.get(&output) {
                        Some(&slot) if self.delays[output] == delay => return slot,
                        Some(_) => Op::Output { output, back: delay - self.delays[output], shift, default },
                        None => return of(self.spec.equations[output]),
                    },
                    (Some(output), _) => {
                        let back = delay - self.delays[output] - i64::from(offset);
                        Op::Output { output, back, shift, default }
                    }
                }
            }
            Node::Not(a) => Op::Not(of(a)),
            Node::And(a, b) => Op::And(of(a), of(b)),
            Node::Or(a, b) => Op::Or(of(a), of(b)),
            Node::Xor(a, b) => Op::Xor(of(a), of(b)),
            Node::Iff(a, b) => Op::Iff(of(a), of(b)),
            Node::Implies(a, b) => Op::Implies(of(a), of(b)),
            Node::If(a, b, c) => Op::If(of(a), of(b), of(c)),
        };
        self.push(op)
    }

    /// A component with several references back to itself.
    fn machine(&mut self, members: &[usize]) {
        let place: FxHashMap<usize, usize> =
            members.iter().enumerate().map(|(at, &output)| (output, at)).collect();
        let mut letters: Vec<Slot> = Vec::new();
        let mut known: FxHashMap<Slot, usize> = FxHashMap::default();
        let mut kept = vec![0i64; members.len()];
        let mut shifts = (0i64, 0i64);
        let mut equations = Vec::new();
        for &member in members {
            let delay = self.delays[member];
            let root = self.spec.equations[member];
            // A node is inner if a member is below it; others are letters where an inner node meets them.
            let inner: FxHashSet<Id> = inner(self.spec, root, |output| place.contains_key(&output)).collect();
            let mut steps: Vec<Step> = Vec::new();
            let mut step_of: FxHashMap<Id, Id> = FxHashMap::default();
            let mut wanted: FxHashSet<Id> = FxHashSet::from_iter([root]);
            let below = self.spec.below(root);
            for at in below.iter().rev().filter(|at| inner.contains(at)) {
                if wanted.contains(at) {
                    wanted.extend(self.spec.nodes[*at as usize].children());
                }
            }
            for at in below.into_iter().filter(|at| wanted.contains(at)) {
                let step = match self.spec.nodes[at as usize] {
                    _ if !inner.contains(&at) => {
                        let slot = self.expression(at, delay, Mode::Plain, None);
                        let next = letters.len();
                        let letter = *known.entry(slot).or_insert_with(|| {
                            letters.push(slot);
                            next
                        });
                        Step::Letter(letter)
                    }
                    Node::Stream { stream, offset, default } => {
                        let output = self.spec.as_output(stream).unwrap_or_default();
                        let back = delay - self.delays[output] - i64::from(offset);
                        let shift = i64::from(offset) - delay;
                        let member = place[&output];
                        kept[member] = kept[member].max(back);
                        shifts = (shifts.0.min(shift), shifts.1.max(shift));
                        Step::Member { member, back, shift, default }
                    }
                    node => Step::Apply(node.map(|child| step_of[&child])),
                };
                step_of.insert(at, steps.len() as Id);
                steps.push(step);
            }
            equations.push(steps);
        }
        let machine = Machine { members: members.to_vec(), equations, letters, kept, shifts };
        self.machines.push(machine);
        let run = self.push(Op::Run(self.machines.len() - 1));
        debug_assert_eq!(run + 1, self.ops.len());
        for &output in members {
            let slot = self.push(Op::Output { output, back: 0, shift: -self.delays[output], default: false });
            self.done.insert(output, slot);
        }
    }
}

/// The nodes of an expression that have one of these outputs below them.
fn inner(spec: &Specification, root: Id, own: impl Fn(usize) -> bool) -> impl Iterator<Item = Id> {
    let mut found: FxHashSet<Id> = FxHashSet::default();
    for id in spec.below(root) {
        let is = match spec.nodes[id as usize] {
            Node::Stream { stream, .. } => spec.as_output(stream).is_some_and(&own),
            node => node.children().any(|child| found.contains(&child)),
        };
        if is {
            found.insert(id);
        }
    }
    found.into_iter()
}

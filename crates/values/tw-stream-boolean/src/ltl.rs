//! Linear temporal logic with past, as equations: a stream per temporal operator, defined by the operator's own equation,
//! whose value beyond the trace's ends is the default of the reference.

use crate::{Builder, Flaw, Id, Named, Specification};
use rustc_hash::FxHashMap;
use std::fmt;
use std::ops::{BitAnd, BitOr};
use tw_ir::{Applied, Node, NodeId, Program};

/// Why a formula is no set of equations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotLtl {
    /// This node is no operator of linear temporal logic without intervals.
    Node(NodeId),
    /// The names do not fit together.
    Flaw(Flaw),
}

impl fmt::Display for NotLtl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotLtl::Node(_) => write!(f, "not an operator of linear temporal logic without intervals"),
            NotLtl::Flaw(flaw) => flaw.fmt(f),
        }
    }
}

impl std::error::Error for NotLtl {}

impl From<Flaw> for NotLtl {
    fn from(flaw: Flaw) -> Self {
        NotLtl::Flaw(flaw)
    }
}

/// An operator's equation, before it is built.
enum Unfolded {
    Built(Id),
    Both(Box<[Unfolded; 2]>),
    Either(Box<[Unfolded; 2]>),
}

impl BitAnd for Unfolded {
    type Output = Unfolded;
    fn bitand(self, other: Self) -> Self {
        Unfolded::Both(Box::new([self, other]))
    }
}

impl BitOr for Unfolded {
    type Output = Unfolded;
    fn bitor(self, other: Self) -> Self {
        Unfolded::Either(Box::new([self, other]))
    }
}

impl Unfolded {
    /// Operators have a few parts: the recursion is as deep as that.
    fn build(self, build: &mut Builder) -> Id {
        match self {
            Unfolded::Built(id) => id,
            Unfolded::Both(parts) => {
                let [a, b] = parts.map(|part| part.build(build));
                build.and(a, b)
            }
            Unfolded::Either(parts) => {
                let [a, b] = parts.map(|part| part.build(build));
                build.or(a, b)
            }
        }
    }
}

/// The equations of a formula. The stream `name` is the formula's truth at every position; predicates are inputs, named by
/// `input`. With `accept` there is a stream `init` too, which has a value if and only if the formula holds at the first
/// position: the language of the specification is then that of the formula.
pub fn from_ltl(
    program: &Program,
    root: NodeId,
    name: &str,
    accept: bool,
    input: impl Fn(NodeId) -> String,
) -> Result<Specification, NotLtl> {
    let mut build = Builder::new();
    let mut inputs: FxHashMap<NodeId, Named> = FxHashMap::default();
    let mut nodes: Vec<NodeId> = program.reachable(&[root]);
    nodes.sort_unstable();
    let atoms = program.atoms();
    let within = |node: &NodeId| nodes.binary_search(node).is_ok();
    for &atom in atoms.iter().filter(|atom| within(atom)) {
        let name = input(atom);
        let stream = match build.find(&name) {
            Some(known) => known,
            None => build.input(&name)?,
        };
        inputs.insert(atom, stream);
    }
    // What stands above an atom is a formula; what is below it is the atom's own business.
    let formulas = program.reachable_until(&[root], |node| inputs.contains_key(&node));
    let mut making =
        Making { program, build, inputs, named: FxHashMap::default(), made: FxHashMap::default() };
    let mut formulas: Vec<NodeId> = formulas;
    formulas.sort_unstable();
    formulas.dedup();
    let mut wanted = making.streams(&formulas, root)?;
    let output = making.build.output(&making.build.fresh(name))?;
    making.named.insert(root, output);
    wanted.retain(|&node| node != root);
    for (nth, &node) in wanted.iter().enumerate() {
        let name = making.build.fresh(&format!("{name}_{}", nth + 1));
        let stream = making.build.output(&name)?;
        making.named.insert(node, stream);
    }
    for &node in &formulas {
        making.node(node)?;
    }
    if accept {
        let build = &mut making.build;
        let init = build.output(&build.fresh("init"))?;
        let (first, now, itself) = (build.first(), build.now(output), build.now(init));
        let not = build.not(itself);
        let holds = build.or(now, not);
        let equation = build.implies(first, holds);
        build.define(init, equation)?;
    }
    Ok(making.build.finish()?)
}

struct Making<'a> {
    program: &'a Program,
    build: Builder,
    inputs: FxHashMap<NodeId, Named>,
    /// The formulas that are streams.
    named: FxHashMap<NodeId, Named>,
    /// The formulas as expressions: the stream, where there is one.
    made: FxHashMap<NodeId, Id>,
}

impl Making<'_> {
    /// Which formulas have to be streams: temporal operators, what a step refers to, and what is used more than once.
    fn streams(&self, formulas: &[NodeId], root: NodeId) -> Result<Vec<NodeId>, NotLtl> {
        let mut uses: FxHashMap<NodeId, usize> = FxHashMap::default();
        let mut wanted: Vec<NodeId> = vec![root];
        for &id in formulas.iter().filter(|id| !self.inputs.contains_key(id)) {
            let node = self.program.dag.node(id);
            node.children().for_each(|child| *uses.entry(child).or_default() += 1);
            if let Some(applied) = node.temporal() {
                wanted.push(if applied.is_step() { applied.right } else { id });
            }
        }
        let leaf = |id: NodeId| {
            self.inputs.contains_key(&id)
                || matches!(self.program.dag.node(id), Node::Bool(_) | Node::First | Node::Last)
        };
        wanted.extend(uses.iter().filter(|(id, uses)| **uses > 1 && !leaf(**id)).map(|(id, _)| *id));
        wanted.retain(|id| !self.inputs.contains_key(id));
        wanted.push(root);
        wanted.sort_unstable();
        wanted.dedup();
        Ok(wanted)
    }

    fn node(&mut self, id: NodeId) -> Result<(), NotLtl> {
        if let Some(&input) = self.inputs.get(&id) {
            let mut now = self.build.now(input);
            if let Some(&stream) = self.named.get(&id) {
                self.build.define(stream, now)?;
                now = self.build.now(stream);
            }
            self.made.insert(id, now);
            return Ok(());
        }
        let node = self.program.dag.node(id);
        let build = &mut self.build;
        let of = |id: NodeId| self.made[&id];
        let value = match node {
            Node::Bool(value) => build.constant(value),
            Node::First => build.first(),
            Node::Last => build.last(),
            Node::Not(a) => build.not(of(a)),
            Node::And(a, b) => build.and(of(a), of(b)),
            Node::Or(a, b) => build.or(of(a), of(b)),
            Node::Xor(a, b) => build.xor(of(a), of(b)),
            Node::Implies(a, b) => build.implies(of(a), of(b)),
            Node::Iff(a, b) => build.iff(of(a), of(b)),
            _ => match node.temporal() {
                Some(applied) if applied.interval.is_none() => self.temporal(id, applied)?,
                _ => return Err(NotLtl::Node(id)),
            },
        };
        let value = match self.named.get(&id) {
            Some(&stream) => {
                self.build.define(stream, value)?;
                self.build.now(stream)
            }
            None => value,
        };
        self.made.insert(id, value);
        Ok(())
    }

    fn temporal(&mut self, id: NodeId, applied: Applied) -> Result<Id, NotLtl> {
        let side = if applied.past { -1 } else { 1 };
        if applied.is_step() {
            let operand = applied.right;
            let stream = self.named.get(&operand).or(self.inputs.get(&operand));
            let stream = *stream.ok_or(NotLtl::Node(operand))?;
            return Ok(self.build.at(stream, side, applied.weak)?);
        }
        let stream = *self.named.get(&id).ok_or(NotLtl::Node(id))?;
        let neighbour = Unfolded::Built(self.build.at(stream, side, applied.weak)?);
        let left = applied.left.map(|left| Unfolded::Built(self.made[&left]));
        let right = Unfolded::Built(self.made[&applied.right]);
        Ok(applied.unfold(left, right, neighbour).build(&mut self.build))
    }
}

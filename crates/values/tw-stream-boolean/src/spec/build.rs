//! Making specifications: every node once, constants folded, names checked.

use super::{Id, Node, Specification, Stream};
use rustc_hash::FxHashMap;
use std::fmt;

/// Why something is no specification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// Two streams have this name.
    Twice(String),
    /// The output has no equation.
    Undefined(String),
    /// The output has two equations.
    Redefined(String),
    /// An input cannot have an equation.
    Input(String),
    /// An offset beyond 2³¹ positions.
    Offset(i64),
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Flaw::Twice(name) => write!(f, "two streams are named `{name}`"),
            Flaw::Undefined(name) => write!(f, "the stream `{name}` has no equation"),
            Flaw::Redefined(name) => write!(f, "the stream `{name}` has two equations"),
            Flaw::Input(name) => write!(f, "`{name}` is an input and cannot have an equation"),
            Flaw::Offset(offset) => {
                write!(f, "an offset of {offset} positions, expected at most {}", i32::MAX)
            }
        }
    }
}

impl std::error::Error for Flaw {}

/// Makes a [`Specification`].
///
/// ```
/// use tw_stream_boolean::Builder;
/// let mut build = Builder::new();
/// let (x, y) = (build.input("x").unwrap(), build.output("y").unwrap());
/// let (test, ahead, back) = (build.now(x), build.at(x, 2, false).unwrap(), build.at(x, -2, false).unwrap());
/// let equation = build.choose(test, ahead, back);
/// build.define(y, equation).unwrap();
/// let spec = build.finish().unwrap();
/// assert_eq!(spec.to_string(), "stream y: bool = if x then x[+2|false] else x[-2|false];\n");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Builder {
    names: FxHashMap<String, (bool, u32)>,
    inputs: Vec<String>,
    outputs: Vec<String>,
    nodes: Vec<Node>,
    known: FxHashMap<Node, Id>,
    equations: Vec<Option<Id>>,
    observed: Vec<bool>,
}

/// A stream under construction: inputs and outputs are numbered apart until all are there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Named {
    output: bool,
    at: u32,
}

/// In the nodes of an unfinished specification, outputs have this bit.
const OUTPUT: u32 = 1 << 31;

impl Builder {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// A new input.
    pub fn input(&mut self, name: &str) -> Result<Named, Flaw> {
        self.named(name, false)
    }

    /// A new output, whose equation is still to come.
    pub fn output(&mut self, name: &str) -> Result<Named, Flaw> {
        self.named(name, true)
    }

    fn named(&mut self, name: &str, output: bool) -> Result<Named, Flaw> {
        let list = if output { &mut self.outputs } else { &mut self.inputs };
        let at = list.len() as u32;
        if self.names.contains_key(name) {
            return Err(Flaw::Twice(name.to_string()));
        }
        list.push(name.to_string());
        self.names.insert(name.to_string(), (output, at));
        if output {
            self.equations.push(None);
            self.observed.push(false);
        }
        Ok(Named { output, at })
    }

    /// The stream of that name.
    pub fn find(&self, name: &str) -> Option<Named> {
        self.names.get(name).map(|&(output, at)| Named { output, at })
    }

    /// A name that no stream has, made from this one.
    pub fn fresh(&self, name: &str) -> String {
        let mut names = std::iter::once(name.to_string()).chain((2..).map(|nth| format!("{name}_{nth}")));
        names.find(|name| !self.names.contains_key(name)).unwrap_or_default()
    }

    /// The equation of an output.
    pub fn define(&mut self, output: Named, equation: Id) -> Result<(), Flaw> {
        if !output.output {
            return Err(Flaw::Input(self.inputs[output.at as usize].clone()));
        }
        let place = &mut self.equations[output.at as usize];
        if place.replace(equation).is_some() {
            return Err(Flaw::Redefined(self.outputs[output.at as usize].clone()));
        }
        Ok(())
    }

    /// The value of this output matters. If no output is marked so, all are.
    pub fn observe(&mut self, output: Named) -> Result<(), Flaw> {
        if !output.output {
            return Err(Flaw::Input(self.inputs[output.at as usize].clone()));
        }
        self.observed[output.at as usize] = true;
        Ok(())
    }

    /// The specification, if every output has its equation.
    pub fn finish(self) -> Result<Specification, Flaw> {
        let count = self.inputs.len() as u32;
        let number = |stream: Stream| if stream & OUTPUT == 0 { stream } else { (stream & !OUTPUT) + count };
        let nodes = self.nodes.into_iter().map(|node| match node {
            Node::Stream { stream, offset, default } => {
                Node::Stream { stream: number(stream), offset, default }
            }
            other => other,
        });
        let found = |(equation, name): (Option<Id>, &String)| equation.ok_or(Flaw::Undefined(name.clone()));
        let equations = self.equations.into_iter().zip(&self.outputs).map(found).collect::<Result<_, _>>()?;
        let all = !self.observed.contains(&true);
        Ok(Specification {
            nodes: nodes.collect(),
            equations,
            observed: self.observed.into_iter().map(|one| one || all).collect(),
            inputs: self.inputs,
            outputs: self.outputs,
        })
    }

    fn node(&mut self, node: Node) -> Id {
        let nodes = &mut self.nodes;
        *self.known.entry(node).or_insert_with(|| {
            nodes.push(node);
            (nodes.len() - 1) as Id
        })
    }

    fn fixed(&self, id: Id) -> Option<bool> {
        match self.nodes[id as usize] {
            Node::Constant(value) => Some(value),
            _ => None,
        }
    }

    /// A constant.
    pub fn constant(&mut self, value: bool) -> Id {
        self.node(Node::Constant(value))
    }

    /// The present value of a stream.
    pub fn now(&mut self, stream: Named) -> Id {
        let stream = stream.at | if stream.output { OUTPUT } else { 0 };
        self.node(Node::Stream { stream, offset: 0, default: false })
    }

    /// `stream[offset|default]`.
    pub fn at(&mut self, stream: Named, offset: i64, default: bool) -> Result<Id, Flaw> {
        if offset == 0 {
            return Ok(self.now(stream));
        }
        let offset = short(offset)?;
        let stream = stream.at | if stream.output { OUTPUT } else { 0 };
        Ok(self.node(Node::Stream { stream, offset, default }))
    }

    /// `constant[offset|default]`.
    pub fn constant_at(&mut self, constant: bool, offset: i64, default: bool) -> Result<Id, Flaw> {
        if offset == 0 || constant == default {
            return Ok(self.constant(constant));
        }
        let offset = short(offset)?;
        let outside = self.node(Node::Outside(offset));
        Ok(if default { outside } else { self.not(outside) })
    }

    /// Only true at the first position.
    pub fn first(&mut self) -> Id {
        self.node(Node::Outside(-1))
    }

    /// Only true at the last position.
    pub fn last(&mut self) -> Id {
        self.node(Node::Outside(1))
    }

    /// Negation.
    pub fn not(&mut self, a: Id) -> Id {
        match self.nodes[a as usize] {
            Node::Constant(value) => self.constant(!value),
            Node::Not(inner) => inner,
            _ => self.node(Node::Not(a)),
        }
    }

    /// Conjunction.
    pub fn and(&mut self, a: Id, b: Id) -> Id {
        match (self.fixed(a), self.fixed(b)) {
            (Some(false), _) | (_, Some(true)) => a,
            (Some(true), _) | (_, Some(false)) => b,
            _ if a == b => a,
            _ => self.node(Node::And(a, b)),
        }
    }

    /// Disjunction.
    pub fn or(&mut self, a: Id, b: Id) -> Id {
        match (self.fixed(a), self.fixed(b)) {
            (Some(true), _) | (_, Some(false)) => a,
            (Some(false), _) | (_, Some(true)) => b,
            _ if a == b => a,
            _ => self.node(Node::Or(a, b)),
        }
    }

    /// Exclusive or.
    pub fn xor(&mut self, a: Id, b: Id) -> Id {
        match (self.fixed(a), self.fixed(b)) {
            (Some(value), _) => self.flip(b, value),
            (_, Some(value)) => self.flip(a, value),
            _ => self.node(Node::Xor(a, b)),
        }
    }

    /// Equivalence.
    pub fn iff(&mut self, a: Id, b: Id) -> Id {
        match (self.fixed(a), self.fixed(b)) {
            (Some(value), _) => self.flip(b, !value),
            (_, Some(value)) => self.flip(a, !value),
            _ => self.node(Node::Iff(a, b)),
        }
    }

    fn flip(&mut self, a: Id, negated: bool) -> Id {
        if negated { self.not(a) } else { a }
    }

    /// Implication.
    pub fn implies(&mut self, a: Id, b: Id) -> Id {
        match (self.fixed(a), self.fixed(b)) {
            (Some(false), _) => self.constant(true),
            (Some(true), _) | (_, Some(true)) => b,
            (_, Some(false)) => self.not(a),
            _ => self.node(Node::Implies(a, b)),
        }
    }

    /// `if test then yes else no`.
    pub fn choose(&mut self, test: Id, yes: Id, no: Id) -> Id {
        match self.fixed(test) {
            Some(true) => yes,
            Some(false) => no,
            None if yes == no => yes,
            None => self.node(Node::If(test, yes, no)),
        }
    }

    /// The conjunction of all, as a tree of small depth.
    pub fn all(&mut self, parts: Vec<Id>) -> Id {
        self.balanced(parts, true, Self::and)
    }

    /// The disjunction of all, as a tree of small depth.
    pub fn any(&mut self, parts: Vec<Id>) -> Id {
        self.balanced(parts, false, Self::or)
    }

    fn balanced(&mut self, mut parts: Vec<Id>, none: bool, join: fn(&mut Self, Id, Id) -> Id) -> Id {
        while parts.len() > 1 {
            let halves = parts.chunks(2);
            let joined: Vec<[Id; 2]> =
                halves.map(|pair| [pair[0], *pair.last().unwrap_or(&pair[0])]).collect();
            parts = joined.into_iter().map(|[a, b]| if a == b { a } else { join(self, a, b) }).collect();
        }
        match parts.first() {
            Some(&one) => one,
            None => self.constant(none),
        }
    }

    /// The paper's idiom for a demand: `control = if demand then control else !control` has a value if and only if the
    /// demand holds.
    pub fn demand(&mut self, control: Named, demand: Id) -> Result<(), Flaw> {
        let now = self.now(control);
        let never = self.not(now);
        let equation = self.choose(demand, now, never);
        self.define(control, equation)
    }

    /// A node of another specification over streams of this one; `leaf` makes the references.
    pub(crate) fn copy(
        &mut self,
        from: &Specification,
        root: Id,
        leaf: impl FnMut(&mut Self, Node) -> Result<Id, Flaw>,
    ) -> Result<Id, Flaw> {
        self.copy_until(from, root, leaf, |_, _| None)
    }

    /// The same, where some nodes are replaced by others.
    pub(crate) fn copy_until(
        &mut self,
        from: &Specification,
        root: Id,
        mut leaf: impl FnMut(&mut Self, Node) -> Result<Id, Flaw>,
        mut other: impl FnMut(&mut Self, Id) -> Option<Id>,
    ) -> Result<Id, Flaw> {
        let mut made: FxHashMap<Id, Id> = FxHashMap::default();
        for at in from.below(root) {
            if let Some(other) = other(self, at) {
                made.insert(at, other);
                continue;
            }
            let of = |id: Id| made[&id];
            let node = from.nodes[at as usize];
            let copied = match node {
                Node::Constant(value) => self.constant(value),
                Node::Stream { .. } | Node::Outside(_) => leaf(self, node)?,
                Node::Not(a) => self.not(of(a)),
                Node::And(a, b) => self.and(of(a), of(b)),
                Node::Or(a, b) => self.or(of(a), of(b)),
                Node::Xor(a, b) => self.xor(of(a), of(b)),
                Node::Iff(a, b) => self.iff(of(a), of(b)),
                Node::Implies(a, b) => self.implies(of(a), of(b)),
                Node::If(a, b, c) => self.choose(of(a), of(b), of(c)),
            };
            made.insert(at, copied);
        }
        Ok(made[&root])
    }
}

fn short(offset: i64) -> Result<i32, Flaw> {
    i32::try_from(offset).ok().filter(|offset| *offset > i32::MIN).ok_or(Flaw::Offset(offset))
}

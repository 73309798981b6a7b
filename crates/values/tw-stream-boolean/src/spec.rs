//! Specifications: named inputs, named outputs, and one equation for each output.

mod build;
mod show;

pub use build::{Builder, Flaw, Named};

/// The place of a node in [`Specification::nodes`]; children stand before their parents.
pub type Id = u32;

/// A stream: inputs come first, in their order, then outputs.
pub type Stream = u32;

/// One operator of an equation. Equal nodes of a specification are one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// The same at every position.
    Constant(bool),
    /// `stream[offset|default]`: the stream's value `offset` positions away, `default` where there is no such position.
    /// With offset 0 the present value (and `default` is false).
    Stream {
        /// Which stream.
        stream: Stream,
        /// How far away.
        offset: i32,
        /// What holds beyond the ends.
        default: bool,
    },
    /// `false[offset|true]`: there is no position so far away. `first` is `Outside(-1)`, `last` is `Outside(1)`.
    Outside(i32),
    /// Negation.
    Not(Id),
    /// Conjunction.
    And(Id, Id),
    /// Disjunction.
    Or(Id, Id),
    /// Exclusive or.
    Xor(Id, Id),
    /// Equivalence.
    Iff(Id, Id),
    /// Implication.
    Implies(Id, Id),
    /// `if … then … else …`.
    If(Id, Id, Id),
}

impl Node {
    /// What the node is made of.
    pub fn children(self) -> impl DoubleEndedIterator<Item = Id> {
        let (some, count) = match self {
            Node::Constant(_) | Node::Stream { .. } | Node::Outside(_) => ([0; 3], 0),
            Node::Not(a) => ([a, 0, 0], 1),
            Node::And(a, b) | Node::Or(a, b) | Node::Xor(a, b) | Node::Iff(a, b) | Node::Implies(a, b) => {
                ([a, b, 0], 2)
            }
            Node::If(a, b, c) => ([a, b, c], 3),
        };
        some.into_iter().take(count)
    }

    /// The same operator over other children.
    pub fn map(self, mut child: impl FnMut(Id) -> Id) -> Node {
        match self {
            Node::Constant(_) | Node::Stream { .. } | Node::Outside(_) => self,
            Node::Not(a) => Node::Not(child(a)),
            Node::And(a, b) => Node::And(child(a), child(b)),
            Node::Or(a, b) => Node::Or(child(a), child(b)),
            Node::Xor(a, b) => Node::Xor(child(a), child(b)),
            Node::Iff(a, b) => Node::Iff(child(a), child(b)),
            Node::Implies(a, b) => Node::Implies(child(a), child(b)),
            Node::If(a, b, c) => Node::If(child(a), child(b), child(c)),
        }
    }

    /// The operator applied to 64 valuations at once; leaves have no operator.
    #[inline]
    pub fn apply(self, value: impl Fn(Id) -> u64) -> u64 {
        match self {
            Node::Constant(constant) => {
                if constant {
                    u64::MAX
                } else {
                    0
                }
            }
            Node::Stream { .. } | Node::Outside(_) => 0,
            Node::Not(a) => !value(a),
            Node::And(a, b) => value(a) & value(b),
            Node::Or(a, b) => value(a) | value(b),
            Node::Xor(a, b) => value(a) ^ value(b),
            Node::Iff(a, b) => !(value(a) ^ value(b)),
            Node::Implies(a, b) => !value(a) | value(b),
            Node::If(a, b, c) => {
                let test = value(a);
                (test & value(b)) | (!test & value(c))
            }
        }
    }
}

/// Inputs, outputs and their equations. Made by a [`Builder`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Specification {
    pub(crate) inputs: Vec<String>,
    pub(crate) outputs: Vec<String>,
    pub(crate) nodes: Vec<Node>,
    pub(crate) equations: Vec<Id>,
    pub(crate) observed: Vec<bool>,
}

impl Specification {
    /// The names of the inputs.
    pub fn inputs(&self) -> &[String] {
        &self.inputs
    }

    /// The names of the outputs.
    pub fn outputs(&self) -> &[String] {
        &self.outputs
    }

    /// All nodes of all equations, children before parents.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The root of the nth output's equation.
    pub fn equation(&self, output: usize) -> Id {
        self.equations[output]
    }

    /// Whether the value of the nth output matters; all do unless some were named.
    pub fn is_observed(&self, output: usize) -> bool {
        self.observed[output]
    }

    /// Which outputs are observed, by their places.
    pub fn observed(&self) -> Vec<usize> {
        (0..self.outputs.len()).filter(|&output| self.observed[output]).collect()
    }

    /// The stream of the nth output.
    pub fn output(&self, output: usize) -> Stream {
        (self.inputs.len() + output) as Stream
    }

    /// Which output a stream is, if it is one.
    pub fn as_output(&self, stream: Stream) -> Option<usize> {
        (stream as usize).checked_sub(self.inputs.len())
    }

    /// The name of a stream.
    pub fn name(&self, stream: Stream) -> &str {
        match self.as_output(stream) {
            Some(output) => &self.outputs[output],
            None => &self.inputs[stream as usize],
        }
    }

    /// The stream of that name.
    pub fn find(&self, name: &str) -> Option<Stream> {
        let all = self.inputs.iter().chain(&self.outputs);
        all.zip(0..).find(|(known, _)| *known == name).map(|(_, stream)| stream)
    }

    /// The size of the paper: one for each subexpression, an offset counts as often as it is long.
    pub fn size(&self) -> u64 {
        let used = self.used();
        let one = |node: &Node| match node {
            Node::Stream { offset, .. } | Node::Outside(offset) => u64::from(offset.unsigned_abs()).max(1),
            _ => 1,
        };
        self.nodes.iter().zip(used).filter(|(_, used)| *used).map(|(node, _)| one(node)).sum()
    }

    /// Which nodes an equation reaches.
    pub(crate) fn used(&self) -> Vec<bool> {
        self.reached(self.equations.iter().copied())
    }

    /// Which nodes are in the expressions of these roots.
    pub(crate) fn reached(&self, roots: impl IntoIterator<Item = Id>) -> Vec<bool> {
        let mut reached = vec![false; self.nodes.len()];
        roots.into_iter().for_each(|root| reached[root as usize] = true);
        for at in (0..self.nodes.len()).rev() {
            if reached[at] {
                self.nodes[at].children().for_each(|child| reached[child as usize] = true);
            }
        }
        reached
    }

    /// The nodes of an expression, children first; the cost is its size, however large the specification.
    pub(crate) fn below(&self, root: Id) -> Vec<Id> {
        let mut seen = rustc_hash::FxHashSet::default();
        let mut todo = vec![root];
        while let Some(id) = todo.pop() {
            if seen.insert(id) {
                todo.extend(self.nodes[id as usize].children());
            }
        }
        let mut found: Vec<Id> = seen.into_iter().collect();
        found.sort_unstable();
        found
    }

    /// The references of one equation: stream, offset, default.
    pub(crate) fn references(&self, output: usize) -> Vec<(Stream, i32, bool)> {
        let nodes = self.below(self.equations[output]).into_iter().map(|id| self.nodes[id as usize]);
        nodes
            .filter_map(|node| match node {
                Node::Stream { stream, offset, default } => Some((stream, offset, default)),
                _ => None,
            })
            .collect()
    }

    /// How far ahead of its position an equation asks for inputs, or for the end of the trace.
    pub(crate) fn ahead(&self, output: usize) -> i64 {
        let nodes = self.below(self.equations[output]).into_iter().map(|id| self.nodes[id as usize]);
        let offsets = nodes.filter_map(|node| match node {
            Node::Stream { stream, .. } if self.as_output(stream).is_some() => None,
            Node::Stream { offset, .. } | Node::Outside(offset) => Some(i64::from(offset)),
            _ => None,
        });
        offsets.max().unwrap_or(0).max(0)
    }
}

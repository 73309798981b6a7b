//! Alternating automata: one node per temporal operator and per literal, linear in the formula.
//!
//! `A ::= eps | node | A and A | A or A`, where a node is ⟨label, next automaton, accepting?, direction⟩. Formulas are
//! put into negation normal form on the way, with the weak next that finite traces need: `!(X f) = N !f`. Every
//! subformula is translated at most once per polarity, so the automaton is linear in the formula also where `^` and
//! `<->` use both.
//!
//! | formula | automaton |
//! |---|---|
//! | literal | ⟨literal, eps, accepting, state⟩ |
//! | `X f`, `N f` | ⟨true, A(f), rejecting / accepting, future⟩ |
//! | `G f` | ⟨true, A(G f), accepting, future⟩ and A(f) |
//! | `F f` | ⟨true, A(F f), rejecting, future⟩ or A(f) |
//! | `f U g`, `f W g` | A(g) or (⟨true, A(f U g), rejecting / accepting, future⟩ and A(f)) |
//! | past | the same with direction past: `Y Z H O S B` for `X N G F U W` |
//!
//! `R M T` are `g W (f & g)`, `g U (f & g)`, `g B (f & g)`; `first` is `Z false`.

mod build;

pub use build::Refused;
pub(crate) use build::refusal;

use tw_ir::NodeId;

/// Index of an expression (a positive combination of nodes).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ExprId(pub u32);

/// Index of a node of the automaton.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeIndex(pub u32);

impl ExprId {
    /// As an index into per-expression tables.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl NodeIndex {
    /// As an index into per-node tables.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A positive combination of nodes. Operands stand in the order in which depth-first evaluation tries them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Expr {
    /// `eps`, the automaton that accepts everything.
    True,
    /// The automaton that accepts nothing.
    False,
    /// One node.
    Node(NodeIndex),
    /// Both.
    And(ExprId, ExprId),
    /// Either.
    Or(ExprId, ExprId),
}

/// What must hold at a node's position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Label {
    /// Nothing.
    True,
    /// An atom (an index into `Program::atoms()`), or its negation.
    Atom(u32, bool),
    /// `last`, or its negation: whether there is no next position.
    Last(bool),
}

impl Label {
    /// Whether it holds where the atoms are `row` (packed 64 to a word).
    pub fn holds(self, row: &[u64], last: bool) -> bool {
        match self {
            Label::True => true,
            Label::Atom(atom, value) => (row[atom as usize / 64] >> (atom % 64) & 1 == 1) == value,
            Label::Last(value) => last == value,
        }
    }
}

/// Where a node's next automaton is to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Nowhere: the label is all.
    State,
    /// At the next position.
    Future,
    /// At the previous position.
    Past,
}

/// A node ⟨label, delta, accepting, direction⟩.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// What must hold here.
    pub label: Label,
    /// What must hold at the neighbouring position; `Expr::True` for state nodes.
    pub delta: ExprId,
    /// Whether a path may end in it for want of a neighbouring position.
    pub accepting: bool,
    /// Where `delta` runs.
    pub direction: Direction,
    /// Under `repeat-last`, a next that at the last position stays there: `delta` runs at the same position.
    pub stays: bool,
    /// Whether `delta` leads back to the node: the loop of `G F U W H O S B`, as opposed to `X N Y Z`.
    pub looping: bool,
    /// The formula that it stands for, and whether for its negation.
    pub origin: (NodeId, bool),
}

/// An alternating automaton, or several that share nodes.
#[derive(Clone, Debug)]
pub struct Alternating {
    pub(crate) exprs: Vec<Expr>,
    pub(crate) nodes: Vec<Node>,
    index: rustc_hash::FxHashMap<Expr, ExprId>,
    /// For each formula, its automaton and that of its negation, once translated.
    translated: rustc_hash::FxHashMap<(NodeId, bool), ExprId>,
    options: Options,
}

/// How to build.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// At the last position `X f` and `N f` mean f there.
    pub repeat_last: bool,
    /// Operands in the published order, the loop before the local part. It makes depth-first search quadratic on
    /// `G F a`, which is why it is not the default.
    pub faithful: bool,
}

impl Alternating {
    /// The expression with that id.
    pub fn expr(&self, id: ExprId) -> Expr {
        self.exprs[id.index()]
    }

    /// The node with that index.
    pub fn node(&self, index: NodeIndex) -> &Node {
        &self.nodes[index.index()]
    }

    /// All nodes. Those of subformulas stand before those of the formulas that contain them.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// All expressions. Operands stand before what contains them (`delta` of a looping node does not).
    pub fn exprs(&self) -> &[Expr] {
        &self.exprs
    }

    /// The options it was built with.
    pub fn options(&self) -> Options {
        self.options
    }

    /// The nodes that can be reached from an expression, through `delta` too, ascending.
    pub fn reachable(&self, from: ExprId) -> Vec<NodeIndex> {
        let mut seen_exprs = vec![false; self.exprs.len()];
        let mut seen_nodes = vec![false; self.nodes.len()];
        let mut todo = vec![from];
        while let Some(id) = todo.pop() {
            if std::mem::replace(&mut seen_exprs[id.index()], true) {
                continue;
            }
            match self.expr(id) {
                Expr::True | Expr::False => {}
                Expr::Node(index) => {
                    seen_nodes[index.index()] = true;
                    todo.push(self.node(index).delta);
                }
                Expr::And(a, b) | Expr::Or(a, b) => todo.extend([a, b]),
            }
        }
        (0..self.nodes.len() as u32).map(NodeIndex).filter(|index| seen_nodes[index.index()]).collect()
    }
}

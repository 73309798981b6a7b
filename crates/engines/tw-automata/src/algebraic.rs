//! Algebraic alternating automata: what queries are translated to ("Collecting Statistics Over Runtime Executions").
//!
//! Where an alternating automaton accepts or rejects, an algebraic one has a value, or none (⊥):
//! `A ::= ⟨p, d⟩ | ⟨A, f⟩ | A and[g] A | A or[g] A | f(A)`. At position j,
//!
//! - a terminal ⟨p, d⟩ is d where the assertion p holds, else ⊥;
//! - a transient ⟨A, f⟩ is f(A at j + 1), ⊥ at the last position and where A is ⊥ there;
//! - `A and[g] B` is g of both values, ⊥ unless both are there; `A or[g] B` is ⊥ only if both are;
//! - f(A) is f of the value or of ⊥, and may be ⊥.
//!
//! | query | automaton |
//! |---|---|
//! | `p : d` | ⟨p, d⟩; with a temporal φ for p, `A(φ) and[pi2] ⟨true, d⟩` |
//! | `a &{g} b`, `a \|{g} b` | `A(a) and[g] A(b)`, `A(a) or[g] A(b)` |
//! | `!{c} a`, `a ?? c` | negate_c(A(a)), default_c(A(a)) |
//! | `X{f} a` | ⟨A(a), f⟩ |
//! | `a U{f} b` | f(U), `U = A(b) or[first] (A(a) and[pi2] ⟨U, id⟩)` |
//! | `agg[a]` | `C = ⟨C, id⟩ or[f_agg] A(a)` |
//! | `agg[a while φ]` | `I = A(φ) and[pi2] (⟨I, id⟩ or[f_agg] A(a))` |
//!
//! The published `COLLECT` has the operands of `or` the other way round, which is wrong for `count`: f_agg takes what is
//! collected so far, then the value. Statistics whose next value does not follow from the last one (`avg`, `median`)
//! collect into a state, from which a function reads the value: avg(C).
//!
//! Formulas are the special case in which every value is `true`: `X` is ⟨A, id⟩, `U` its loop, and the others follow
//! with `not`, that is negate_true. A formula that one position decides is an assertion, hence one terminal; so is one
//! with past operators, intervals or quantifiers, whose truth has to be known before (see [`Algebraic::guards`]).
//!
//! `first` and `pi2` of the translation look at their right side only if the left one does not decide; that tells
//! which errors a value needs. Every part of a query is translated once: the automaton is linear in the query, with one
//! transient node per `X`, `U`, `agg[…]` and `agg[… while …]`.

mod build;
#[cfg(test)]
mod tests;
mod text;

pub use crate::alternating::{ExprId, NodeIndex, Refused};
pub use text::Names;
pub(crate) use text::{apply_text, combine_text, node_text};

use crate::draw::{self, Graph};
use tw_ir::{Aggregate, Function, NodeId, Program};

/// What a position is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Assertion {
    /// Nothing, or the impossible.
    Constant(bool),
    /// A formula that one position decides, or whose truth is given; `false` for its negation.
    Formula(NodeId, bool),
}

/// What a terminal is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Datum {
    /// `true`.
    True,
    /// A term.
    Term(NodeId),
}

/// The function `g` of `and[g]` and `or[g]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Combine {
    /// A user's.
    Function(Function),
    /// The left side if it has a value, else the right one.
    First,
    /// The right side, where the left one has a value.
    Second,
    /// f_agg: what is collected so far, then a value.
    Fold(Aggregate),
}

/// The function of f(A).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Apply {
    /// c of ⊥, ⊥ of a value.
    Negate(Datum),
    /// The term of ⊥, a value of itself.
    Default(NodeId),
    /// The term `result`, in which the variable `parameter` is the value; ⊥ of ⊥.
    Map {
        /// The term.
        result: NodeId,
        /// The variable.
        parameter: u32,
    },
    /// The statistic of what was collected.
    Statistic(Aggregate),
}

/// An automaton made of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Expr {
    /// One node.
    Node(NodeIndex),
    /// `and[g]`.
    And(Combine, ExprId, ExprId),
    /// `or[g]`.
    Or(Combine, ExprId, ExprId),
    /// `f(A)`.
    Apply(Apply, ExprId),
}

/// Where automata end or go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node {
    /// ⟨p, d⟩.
    Terminal(Assertion, Datum),
    /// ⟨A, f⟩.
    Transient(Transient),
}

/// A node ⟨A, f⟩.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transient {
    /// What is run at the next position.
    pub successor: ExprId,
    /// The term that f results in and its parameter; `None` is the identity.
    pub map: Option<(NodeId, u32)>,
    /// Under `repeat-last`, the next of a formula: at the last position `successor` is run there.
    pub stays: bool,
    /// What it is for.
    pub role: Role,
    /// The part of the query that it belongs to.
    pub origin: NodeId,
}

/// What a transient node is for. A loop runs through one node alone, so evaluators may take it as one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// `X`: no loop.
    Next,
    /// `goal or[first] (hold and[pi2] ⟨…, id⟩)`; without `hold`, the loop of `F`.
    Until {
        /// What has a value until then.
        hold: Option<ExprId>,
        /// What is waited for.
        goal: ExprId,
    },
    /// `⟨…, id⟩ or[f_agg] body`.
    Collect(Aggregate, ExprId),
    /// `condition and[pi2] (⟨…, id⟩ or[f_agg] body)`.
    During {
        /// The statistic.
        aggregate: Aggregate,
        /// What is collected.
        body: ExprId,
        /// While what has a value.
        condition: ExprId,
    },
}

/// How to build.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// At the last position the formulas `X f` and `N f` mean f there. Experiments `X{f}` have no value there.
    pub repeat_last: bool,
}

/// The algebraic automata of queries, which share what the queries share.
#[derive(Clone, Debug)]
pub struct Algebraic {
    exprs: Vec<Expr>,
    nodes: Vec<Node>,
    index: rustc_hash::FxHashMap<Expr, ExprId>,
    terminals: rustc_hash::FxHashMap<(Assertion, Datum), ExprId>,
    /// The loop that each expression closes, if it does.
    loops: rustc_hash::FxHashMap<ExprId, NodeIndex>,
    translated: rustc_hash::FxHashMap<NodeId, ExprId>,
    /// For each formula of the program, what it takes to know its truth.
    takes: Vec<build::Takes>,
    guards: Vec<NodeId>,
    options: Options,
}

impl Algebraic {
    /// The expression with that id.
    pub fn expr(&self, id: ExprId) -> Expr {
        self.exprs[id.index()]
    }

    /// The node with that index.
    pub fn node(&self, index: NodeIndex) -> &Node {
        &self.nodes[index.index()]
    }

    /// All expressions. Operands stand before what contains them, and so does the successor of a node without a loop.
    pub fn exprs(&self) -> &[Expr] {
        &self.exprs
    }

    /// All nodes. Those of parts of a query stand before those of what contains them.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The transient node of the loop that `id` stands for.
    pub fn loop_of(&self, id: ExprId) -> Option<NodeIndex> {
        self.loops.get(&id).copied()
    }

    /// The formulas among the assertions that take more than one position: past operators, intervals, quantifiers.
    /// Their truth at every position is given to those who evaluate the automaton.
    pub fn guards(&self) -> &[NodeId] {
        &self.guards
    }

    /// The expressions that can be reached from some, through nodes too, each before those that it is the first to
    /// lead to.
    pub fn reachable(&self, from: &[ExprId]) -> Vec<ExprId> {
        let mut seen = vec![false; self.exprs.len()];
        let mut found = Vec::new();
        let mut todo: Vec<ExprId> = from.iter().rev().copied().collect();
        while let Some(id) = todo.pop() {
            if std::mem::replace(&mut seen[id.index()], true) {
                continue;
            }
            found.push(id);
            match self.expr(id) {
                Expr::Node(index) => {
                    if let Node::Transient(transient) = self.node(index) {
                        todo.push(transient.successor);
                    }
                }
                Expr::And(_, a, b) | Expr::Or(_, a, b) => todo.extend([b, a]),
                Expr::Apply(_, a) => todo.push(a),
            }
        }
        found
    }
}

/// The automaton of a query, to be drawn.
pub fn graph(program: &Program, query: NodeId, title: &str, options: Options) -> Result<Graph, Refused> {
    let mut automaton = Algebraic::new(program, options);
    let root = automaton.query(program, query)?;
    Ok(draw::algebraic(program, &automaton, root, title))
}

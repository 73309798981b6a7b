//! The arena: nodes, hash-consing, sorts of operators.

use crate::{Applied, ArgumentKey, Interval, SlotId, Temporal};
use rustc_hash::FxHashMap;
use tw_core::{TimeUnit, Value};

/// Index of a node. Children have smaller indices than their parents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u32);

impl NodeId {
    /// As an index into per-node tables.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Comparison operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum CompareOp {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

/// Arithmetic operators. `/` is real division; by zero it is null.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum ArithmeticOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Min,
    Max,
}

/// The function `g` of an experiment `ψ1 &{g} ψ2` or `ψ1 |{g} ψ2`; left out, it is `True`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Function {
    True,
    Arithmetic(ArithmeticOp),
    Pair,
    First,
    Second,
}

/// A statistic collected over positions. Parameters are constants: `quantile(q)`, `histogram(k)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Aggregate {
    Count,
    Sum,
    Min,
    Max,
    Avg,
    First,
    Last,
    Var,
    Stddev,
    Median,
    /// q in billionths.
    Quantile(u32),
    Histogram(u32),
    Mode,
    Distinct,
    Corr,
}

/// What an aggregate over valuations makes of them: `count(x : φ)`, `sum(e for x : φ)`. Of no valuation, count and sum are
/// 0, the others null.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Tally {
    Count,
    Sum,
    Min,
    Max,
    Avg,
}

impl Tally {
    /// Every one with its name.
    pub const ALL: [(&'static str, Tally); 5] = [
        ("count", Tally::Count),
        ("sum", Tally::Sum),
        ("min", Tally::Min),
        ("max", Tally::Max),
        ("avg", Tally::Avg),
    ];

    /// The word for it.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, tally)| *tally == self).map_or("count", |(name, _)| name)
    }
}

/// Index into the constants of a [`Dag`].
pub type Constant = u32;

/// An item of `x in {…}`.
#[derive(Clone, Debug, PartialEq)]
pub enum SetItem {
    /// One value.
    Value(Value),
    /// `low..high`, both inside.
    Range(i64, i64),
}

/// An event pattern with variables bound by quantifiers.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    /// Event name.
    pub name: String,
    /// Arguments that are constrained.
    pub arguments: Vec<(ArgumentKey, PatternArgument)>,
    /// Number of positional arguments written, wildcards included.
    pub arity: Option<usize>,
    /// Where its events are read (`What::Tuples`), one column per variable.
    pub slot: SlotId,
}

impl Pattern {
    /// The variables, in the order of the columns of its slot; one that is written twice stands there twice.
    pub fn variables(&self) -> impl Iterator<Item = u32> + '_ {
        self.arguments.iter().filter_map(|(_, argument)| match argument {
            PatternArgument::Variable(number) => Some(*number),
            PatternArgument::Constant(_) => None,
        })
    }
}

/// What an argument of a [`Pattern`] must be.
#[derive(Clone, Debug, PartialEq)]
pub enum PatternArgument {
    /// This value.
    Constant(Value),
    /// The value of a quantified variable.
    Variable(u32),
}

/// A formula, a term or an experiment. The temporal operators carry an optional interval; `None` is `[0,inf)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Node {
    // Terms.
    Constant(Constant),
    /// A slot's value (`What::Variable`).
    Slot(SlotId),
    Negate(NodeId),
    Abs(NodeId),
    Arithmetic(ArithmeticOp, NodeId, NodeId),
    /// `if c then a else b`.
    IfThenElse(NodeId, NodeId, NodeId),
    Tuple(NodeId, NodeId),
    /// A quantified variable, numbered program-wide.
    Variable(u32),
    /// `count(x, y : φ)`, `sum(e for x, y : φ)`: an aggregate over the valuations of the variables it binds (an index into
    /// `Dag::bound`) that make φ true here; then e (of a count, φ itself), then φ. Its value is a number or null.
    Tally(Tally, u32, NodeId, NodeId),

    // Formulas about one position.
    Bool(bool),
    /// There is no previous position.
    First,
    /// There is no next position.
    Last,
    /// A slot that is a truth value (`What::Proposition`, `What::Event`, `What::Variable(_, Bool)`).
    Truth(SlotId),
    Compare(CompareOp, NodeId, NodeId),
    /// `term in {…}`; index into `Dag::sets`.
    In(NodeId, u32),
    /// `term matches "…"`; index into `Dag::regexes`.
    Matches(NodeId, u32),
    /// `has(term)`: the term has a value here.
    Has(NodeId),
    /// Index into `Dag::patterns`.
    Pattern(u32),
    /// A chart (an index into `Dag::charts`) over its events, a chain of `|` from the first to the last: no event of this position
    /// settles a violation. It stands only below the `G` of a root, and what is pending at the end counts too.
    Chart(u32, NodeId),

    // Connectives.
    Not(NodeId),
    And(NodeId, NodeId),
    Or(NodeId, NodeId),
    Xor(NodeId, NodeId),
    Implies(NodeId, NodeId),
    Iff(NodeId, NodeId),

    // Time. Which operator has one operand and which has two is said by its row.
    Unary(Temporal, Option<Interval>, NodeId),
    Binary(Temporal, Option<Interval>, NodeId, NodeId),

    // Branching time: about the paths of a model that begin here, never about a trace.
    /// `A`.
    AllPaths(NodeId),
    /// `E`.
    SomePath(NodeId),

    // First-order. One node per bound variable.
    Forall(u32, NodeId),
    Exists(u32, NodeId),

    // Experiments.
    /// `φ : e`.
    Emit(NodeId, NodeId),
    /// `ψ1 &{g} ψ2`.
    Both(Function, NodeId, NodeId),
    /// `ψ1 |{g} ψ2`.
    Either(Function, NodeId, NodeId),
    /// `!{c} ψ`: ψ, then c, a term.
    Fails(NodeId, NodeId),
    /// `X{f} ψ`: body, f's result, f's parameter. The parameter is a `Variable`; a constant f ignores it.
    NextMap {
        body: NodeId,
        result: NodeId,
        parameter: u32,
    },
    /// `ψ1 U{f} ψ2`: the pair is a `Tuple(ψ1, ψ2)` node.
    UntilMap {
        pair: NodeId,
        result: NodeId,
        parameter: u32,
    },
    /// `agg[ψ]`.
    Collect(Aggregate, NodeId),
    /// `agg[ψ while φ]`.
    CollectWhile(Aggregate, NodeId, NodeId),
    /// `ψ ?? c`.
    Default(NodeId, NodeId),
}

impl Node {
    /// The children, in order.
    pub fn children(self) -> impl Iterator<Item = NodeId> {
        use Node::*;
        let (a, b, c) = match self {
            Constant(_) | Slot(_) | Variable(_) | Bool(_) | First | Last | Truth(_) | Pattern(_) => {
                (None, None, None)
            }
            Negate(a)
            | Abs(a)
            | In(a, _)
            | Matches(a, _)
            | Has(a)
            | Chart(_, a)
            | Not(a)
            | Unary(_, _, a)
            | AllPaths(a)
            | SomePath(a)
            | Forall(_, a)
            | Exists(_, a)
            | Collect(_, a) => (Some(a), None, None),
            Arithmetic(_, a, b)
            | Tuple(a, b)
            | Compare(_, a, b)
            | And(a, b)
            | Or(a, b)
            | Xor(a, b)
            | Implies(a, b)
            | Iff(a, b)
            | Binary(_, _, a, b)
            | Emit(a, b)
            | Both(_, a, b)
            | Either(_, a, b)
            | Fails(a, b)
            | CollectWhile(_, a, b)
            | Default(a, b)
            | Tally(_, _, a, b) => (Some(a), Some(b), None),
            NextMap { body: a, result: b, .. } | UntilMap { pair: a, result: b, .. } => {
                (Some(a), Some(b), None)
            }
            IfThenElse(a, b, c) => (Some(a), Some(b), Some(c)),
        };
        [a, b, c].into_iter().flatten()
    }

    /// The same operator over other children.
    #[must_use]
    pub fn with_children(self, mut f: impl FnMut(NodeId) -> NodeId) -> Node {
        use Node::*;
        match self {
            Constant(_) | Slot(_) | Variable(_) | Bool(_) | First | Last | Truth(_) | Pattern(_) => self,
            Negate(a) => Negate(f(a)),
            Abs(a) => Abs(f(a)),
            In(a, set) => In(f(a), set),
            Matches(a, regex) => Matches(f(a), regex),
            Has(a) => Has(f(a)),
            Chart(chart, a) => Chart(chart, f(a)),
            Not(a) => Not(f(a)),
            Unary(op, i, a) => Unary(op, i, f(a)),
            AllPaths(a) => AllPaths(f(a)),
            SomePath(a) => SomePath(f(a)),
            Forall(v, a) => Forall(v, f(a)),
            Exists(v, a) => Exists(v, f(a)),
            Collect(agg, a) => Collect(agg, f(a)),
            Arithmetic(op, a, b) => Arithmetic(op, f(a), f(b)),
            Tuple(a, b) => Tuple(f(a), f(b)),
            Compare(op, a, b) => Compare(op, f(a), f(b)),
            And(a, b) => And(f(a), f(b)),
            Or(a, b) => Or(f(a), f(b)),
            Xor(a, b) => Xor(f(a), f(b)),
            Implies(a, b) => Implies(f(a), f(b)),
            Iff(a, b) => Iff(f(a), f(b)),
            Binary(op, i, a, b) => Binary(op, i, f(a), f(b)),
            Emit(a, b) => Emit(f(a), f(b)),
            Both(g, a, b) => Both(g, f(a), f(b)),
            Either(g, a, b) => Either(g, f(a), f(b)),
            Fails(a, b) => Fails(f(a), f(b)),
            CollectWhile(agg, a, b) => CollectWhile(agg, f(a), f(b)),
            Default(a, b) => Default(f(a), f(b)),
            Tally(tally, bound, a, b) => Tally(tally, bound, f(a), f(b)),
            NextMap { body, result, parameter } => NextMap { body: f(body), result: f(result), parameter },
            UntilMap { pair, result, parameter } => UntilMap { pair: f(pair), result: f(result), parameter },
            IfThenElse(a, b, c) => IfThenElse(f(a), f(b), f(c)),
        }
    }

    /// A temporal operator and its operands, by properties.
    pub fn temporal(self) -> Option<Applied> {
        match self {
            Node::Unary(operator, interval, a) => Some(Applied::new(operator, interval, None, a)),
            Node::Binary(operator, interval, a, b) => Some(Applied::new(operator, interval, Some(a), b)),
            _ => None,
        }
    }

    /// The interval of a temporal operator that has one.
    pub fn interval(self) -> Option<Interval> {
        match self {
            Node::Unary(_, interval, _) | Node::Binary(_, interval, ..) => interval,
            _ => None,
        }
    }

    /// Whether this is a temporal operator.
    pub fn is_temporal(self) -> bool {
        matches!(self, Node::Unary(..) | Node::Binary(..))
    }

    /// Whether this is a future operator.
    pub fn is_future(self) -> bool {
        matches!(self, Node::Unary(operator, ..) | Node::Binary(operator, ..) if !operator.is_past())
    }

    /// Whether this is a past operator.
    pub fn is_past(self) -> bool {
        matches!(self, Node::Unary(operator, ..) | Node::Binary(operator, ..) if operator.is_past())
    }

    /// Whether this is about the paths of a model.
    pub fn is_branching(self) -> bool {
        matches!(self, Node::AllPaths(_) | Node::SomePath(_))
    }

    /// Whether this needs the values of quantified variables.
    pub fn is_first_order(self) -> bool {
        use Node::*;
        matches!(self, Forall(..) | Exists(..) | Pattern(_) | Variable(_) | Tally(..))
    }

    /// Whether this returns a value rather than a truth value.
    pub fn is_experiment(self) -> bool {
        use Node::*;
        matches!(
            self,
            Emit(..)
                | Both(..)
                | Either(..)
                | Fails(..)
                | NextMap { .. }
                | UntilMap { .. }
                | Collect(..)
                | CollectWhile(..)
                | Default(..)
        )
    }

    /// How the operator is written, for messages: `F`, `forall`, `max[…]`.
    pub fn operator(self) -> &'static str {
        use Node::*;
        match self {
            Constant(_) => "constant",
            Slot(_) | Truth(_) => "name",
            Negate(_) => "-",
            Abs(_) => "abs",
            Arithmetic(..) => "arithmetic",
            IfThenElse(..) => "if",
            Tuple(..) => "tuple",
            Variable(_) => "variable",
            Tally(tally, ..) => tally.name(),
            Bool(true) => "true",
            Bool(false) => "false",
            First => "first",
            Last => "last",
            Compare(..) => "comparison",
            In(..) => "in",
            Matches(..) => "matches",
            Has(_) => "has",
            Pattern(_) => "event pattern with variables",
            Chart(..) => "chart",
            Not(_) => "!",
            And(..) => "&",
            Or(..) => "|",
            Xor(..) => "^",
            Implies(..) => "->",
            Iff(..) => "<->",
            Unary(operator, ..) | Binary(operator, ..) => operator.row().letter,
            AllPaths(_) => "A",
            SomePath(_) => "E",
            Forall(..) => "forall",
            Exists(..) => "exists",
            Emit(..) => ":",
            Both(..) => "&{…}",
            Either(..) => "|{…}",
            Fails(..) => "!{…}",
            NextMap { .. } => "X{…}",
            UntilMap { .. } => "U{…}",
            Collect(..) | CollectWhile(..) => "aggregate",
            Default(..) => "??",
        }
    }
}

/// The arena. Equal nodes are stored once.
#[derive(Clone, Debug, Default)]
pub struct Dag {
    nodes: Vec<Node>,
    index: FxHashMap<Node, NodeId>,
    constant_index: FxHashMap<String, Constant>,
    bound_index: FxHashMap<Vec<u32>, u32>,
    /// Constant values.
    pub constants: Vec<Value>,
    /// Those of them that were written as lengths of time (`200ms`), with their nanoseconds: the trace's unit says which
    /// number they are.
    pub lengths: Vec<(Constant, i64)>,
    /// Sets of `in`.
    pub sets: Vec<Vec<SetItem>>,
    /// Regular expressions of `matches`.
    pub regexes: Vec<regex::Regex>,
    /// Event patterns with variables.
    pub patterns: Vec<Pattern>,
    /// Charts.
    pub charts: Vec<crate::chart::Check>,
    /// Names of quantified variables, by number.
    pub variables: Vec<String>,
    /// Of each variable, by number, whether a declaration makes it `int`: it then ranges over whole numbers alone. Beyond
    /// the end, none is.
    pub variable_whole: Vec<bool>,
    /// The variables that aggregates over valuations bind, in the order written; equal lists are stored once.
    pub bound: Vec<Vec<u32>>,
}

impl Dag {
    /// The node for `node`, made if it is new.
    pub fn add(&mut self, node: Node) -> NodeId {
        debug_assert!(node.children().all(|child| child.index() < self.nodes.len()));
        debug_assert!(node.temporal().is_none_or(|t| t.operator.row().prefix == t.left.is_none()));
        *self.index.entry(node).or_insert_with(|| {
            self.nodes.push(node);
            NodeId((self.nodes.len() - 1) as u32)
        })
    }

    /// The node for a constant.
    pub fn constant(&mut self, value: Value) -> NodeId {
        // The debug form tells kinds apart and prints reals exactly, so it is a key for equality by bits.
        let index = *self.constant_index.entry(format!("{value:?}")).or_insert_with(|| {
            self.constants.push(value);
            (self.constants.len() - 1) as u32
        });
        self.add(Node::Constant(index))
    }

    /// The node for a length of time, a number of seconds until [`Dag::count_in`] says otherwise.
    pub fn length(&mut self, nanoseconds: i64) -> NodeId {
        let (constants, lengths) = (&mut self.constants, &mut self.lengths);
        let index = *self.constant_index.entry(format!("{nanoseconds} ns")).or_insert_with(|| {
            let index = constants.len() as u32;
            constants.push(TimeUnit::Seconds.value(nanoseconds.into()));
            lengths.push((index, nanoseconds));
            index
        });
        self.add(Node::Constant(index))
    }

    /// Makes lengths of time numbers of this unit.
    pub fn count_in(&mut self, unit: TimeUnit) {
        for (constant, nanoseconds) in &self.lengths {
            self.constants[*constant as usize] = unit.value((*nanoseconds).into());
        }
    }

    /// The index in [`Dag::bound`] of a list of variables.
    pub fn bind(&mut self, variables: Vec<u32>) -> u32 {
        let bound = &mut self.bound;
        *self.bound_index.entry(variables).or_insert_with_key(|variables| {
            bound.push(variables.clone());
            (bound.len() - 1) as u32
        })
    }

    /// The variables that a node binds in its parts, in the order written.
    pub fn binds(&self, node: Node) -> &[u32] {
        match node {
            Node::Tally(_, bound, ..) => &self.bound[bound as usize],
            _ => &[],
        }
    }

    /// Whether a variable ranges over whole numbers alone.
    pub fn is_whole(&self, variable: u32) -> bool {
        self.variable_whole.get(variable as usize).copied().unwrap_or(false)
    }

    /// The node with that id.
    pub fn node(&self, id: NodeId) -> Node {
        self.nodes[id.index()]
    }

    /// All nodes, children before parents.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }
}

//! Formulas as circuits: gates with negation on the edges.
//!
//! With negation free on every edge duals need no gate of their own: conjunction, exclusive or, a step to the neighbour
//! and `hold U goal`, ahead or back, are all that is left of the connectives and the temporal operators. [`Lowered`] makes
//! the gates of a program's formulas in whatever circuit an engine has; [`Gates`] stores equal gates once.

use crate::Unsupported;
use rustc_hash::FxHashMap;
use std::hash::Hash;
use std::ops::Not;
use tw_ir::{Applied, Node, NodeId, Program, Way};

/// A gate or its negation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Lit(u32);

impl Lit {
    /// Gate 0 is false everywhere.
    pub const FALSE: Lit = Lit(0);
    /// Its negation.
    pub const TRUE: Lit = Lit(1);

    /// The gate with this number, negated or not.
    pub fn new(gate: usize, negated: bool) -> Self {
        Lit((gate as u32) << 1 | u32::from(negated))
    }

    /// Number of the gate.
    pub fn op(self) -> usize {
        (self.0 >> 1) as usize
    }

    /// Whether it is the gate's negation.
    pub fn is_negated(self) -> bool {
        self.0 & 1 == 1
    }

    /// The gate without its negation.
    pub fn positive(self) -> Lit {
        Lit(self.0 & !1)
    }
}

impl Not for Lit {
    type Output = Lit;
    fn not(self) -> Lit {
        Lit(self.0 ^ 1)
    }
}

/// What formulas about one position are made of.
pub trait Connectives {
    /// A gate or its negation.
    type Edge: Copy + Not<Output = Self::Edge>;

    /// True everywhere.
    fn truth(&mut self) -> Self::Edge;
    /// A column of the trace.
    fn atom(&mut self, index: u32) -> Self::Edge;
    /// The first position.
    fn first(&mut self) -> Self::Edge;
    /// The last position.
    fn last(&mut self) -> Self::Edge;
    /// Both.
    fn and(&mut self, a: Self::Edge, b: Self::Edge) -> Self::Edge;
    /// Not equal.
    fn xor(&mut self, a: Self::Edge, b: Self::Edge) -> Self::Edge;
}

/// Gates that [`Gates`] can make by itself.
pub trait Gate: Copy + Eq + Hash {
    /// False everywhere.
    const FALSE: Self;
    /// The first position.
    const FIRST: Self;
    /// The last position.
    const LAST: Self;
    /// A column of the trace.
    fn atom(index: u32) -> Self;
    /// Both.
    fn and(a: Lit, b: Lit) -> Self;
    /// Not equal; the operands carry no negation.
    fn xor(a: Lit, b: Lit) -> Self;
}

/// Gates, each stored once, operands before their users.
#[derive(Clone, Debug)]
pub struct Gates<G> {
    list: Vec<G>,
    index: FxHashMap<G, u32>,
}

impl<G: Gate> Default for Gates<G> {
    fn default() -> Self {
        let mut gates = Gates { list: Vec::new(), index: FxHashMap::default() };
        gates.add(G::FALSE);
        gates
    }
}

impl<G: Gate> Gates<G> {
    /// All gates, operands first.
    pub fn list(&self) -> &[G] {
        &self.list
    }

    /// The gate, made if it is new.
    pub fn add(&mut self, gate: G) -> Lit {
        let list = &mut self.list;
        let index = *self.index.entry(gate).or_insert_with(|| {
            list.push(gate);
            (list.len() - 1) as u32
        });
        Lit::new(index as usize, false)
    }
}

impl<G: Gate> Connectives for Gates<G> {
    type Edge = Lit;

    fn truth(&mut self) -> Lit {
        Lit::TRUE
    }

    fn atom(&mut self, index: u32) -> Lit {
        self.add(G::atom(index))
    }

    fn first(&mut self) -> Lit {
        self.add(G::FIRST)
    }

    fn last(&mut self) -> Lit {
        self.add(G::LAST)
    }

    fn and(&mut self, a: Lit, b: Lit) -> Lit {
        let (a, b) = (a.min(b), a.max(b));
        match (a, b) {
            (Lit::FALSE, _) => Lit::FALSE,
            (Lit::TRUE, b) => b,
            (a, b) if a == b => a,
            (a, b) if a == !b => Lit::FALSE,
            (a, b) => self.add(G::and(a, b)),
        }
    }

    fn xor(&mut self, a: Lit, b: Lit) -> Lit {
        // Negations move outwards, so that `!a ^ b` and `a ^ b` are one gate.
        let negated = a.is_negated() != b.is_negated();
        let (a, b) = (a.positive(), b.positive());
        let (a, b) = (a.min(b), a.max(b));
        let differ = match (a, b) {
            (a, b) if a == b => Lit::FALSE,
            (Lit::FALSE, b) => b,
            (a, b) => self.add(G::xor(a, b)),
        };
        if negated { !differ } else { differ }
    }
}

/// What an engine makes of formulas.
pub trait Circuit {
    /// A gate or its negation.
    type Edge: Copy + Not<Output = Self::Edge>;
    /// Its connectives.
    type Gates: Connectives<Edge = Self::Edge>;

    /// Its connectives.
    fn gates(&mut self) -> &mut Self::Gates;
    /// There is a neighbour, within the interval, and the body holds there.
    fn step(&mut self, past: bool, body: Self::Edge) -> Self::Edge;
    /// `hold U goal`, or with `past` `hold S goal`; without `hold`, `F` and `O`.
    fn until(&mut self, past: bool, hold: Option<Self::Edge>, goal: Self::Edge) -> Self::Edge;

    /// An operator other than `X N Y Z`, for circuits that have more than [`Circuit::until`].
    fn path(&mut self, operator: Applied, of: &impl Fn(NodeId) -> Self::Edge) -> Self::Edge {
        match operator.way() {
            Some(Way { dual, hold, goal: (goal, beside) }) => {
                let of = |id: NodeId| if dual { !of(id) } else { of(id) };
                let hold = hold.map(of);
                let goal = beside.map(of).map_or(of(goal), |beside| self.gates().and(of(goal), beside));
                let until = self.until(operator.past, hold, goal);
                if dual { !until } else { until }
            }
            None => of(operator.right),
        }
    }
}

/// A circuit that [`Lowered`] fills.
pub trait Lower: Circuit {
    /// Comes before the gates of a node: the engine notes its interval, or refuses it.
    fn enter(&mut self, id: NodeId, node: Node) -> Result<(), Unsupported>;
    /// Why the engine has no gates for a node.
    fn refusal(&self, id: NodeId, node: Node) -> Unsupported;
}

/// The gates of one node over those of its operands; nothing for what is no propositional formula.
pub fn gate<C: Circuit>(circuit: &mut C, node: Node, of: impl Fn(NodeId) -> C::Edge) -> Option<C::Edge> {
    if let Some(operator) = node.temporal() {
        let (past, right) = (operator.past, operator.right);
        // The weak neighbour is the dual of the strong one.
        return Some(match (operator.is_step(), operator.weak) {
            (true, false) => circuit.step(past, of(right)),
            (true, true) => !circuit.step(past, !of(right)),
            (false, _) => circuit.path(operator, &of),
        });
    }
    let gates = circuit.gates();
    Some(match node {
        Node::Bool(true) => gates.truth(),
        Node::Bool(false) => !gates.truth(),
        Node::First => gates.first(),
        Node::Last => gates.last(),
        Node::Not(a) => !of(a),
        Node::And(a, b) => gates.and(of(a), of(b)),
        Node::Or(a, b) => !gates.and(!of(a), !of(b)),
        Node::Implies(a, b) => !gates.and(of(a), !of(b)),
        Node::Xor(a, b) => gates.xor(of(a), of(b)),
        Node::Iff(a, b) => !gates.xor(of(a), of(b)),
        _ => return None,
    })
}

/// A program's formulas as gates. More formulas can be lowered later; what is shared stays shared.
pub struct Lowered<'p, C: Circuit> {
    program: &'p Program,
    /// Index in `Trace::atoms` of each node that is an atom.
    atom: Vec<Option<u32>>,
    /// What each node has become.
    edge: Vec<Option<C::Edge>>,
    /// The gates.
    pub circuit: C,
}

impl<'p, C: Lower> Lowered<'p, C> {
    /// None of the formulas yet.
    pub fn new(program: &'p Program, circuit: C) -> Self {
        let mut atom = vec![None; program.dag.len()];
        for (index, id) in program.atoms().into_iter().enumerate() {
            atom[id.index()] = Some(index as u32);
        }
        Lowered { program, atom, edge: vec![None; program.dag.len()], circuit }
    }

    /// How many atoms the program reads.
    pub fn atoms(&self) -> usize {
        self.atom.iter().flatten().count()
    }

    /// Lowers the given formulas and all they need, and says what they have become.
    pub fn lower(&mut self, ids: &[NodeId]) -> Result<Vec<C::Edge>, Unsupported> {
        // What an atom is made of is not the engine's business.
        let known = |id: NodeId| self.edge[id.index()].is_some() || self.atom[id.index()].is_some();
        for id in self.program.reachable_until(ids, known) {
            if self.edge[id.index()].is_some() {
                continue;
            }
            let node = self.program.dag.node(id);
            self.circuit.enter(id, node)?;
            let edge = match self.atom[id.index()] {
                Some(atom) => Some(self.circuit.gates().atom(atom)),
                None => {
                    let edge = &self.edge;
                    let of = |part: NodeId| edge[part.index()].expect("operands come first");
                    gate(&mut self.circuit, node, of)
                }
            };
            self.edge[id.index()] = Some(edge.ok_or_else(|| self.circuit.refusal(id, node))?);
        }
        Ok(ids.iter().map(|id| self.edge[id.index()].expect("lowered before")).collect())
    }
}

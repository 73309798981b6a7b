//! A formula as holograms see it: cells, children before parents, with quantifiers over paths written out for the values
//! that a trace has.

use crate::truth::{Mask, Truth, connective};
use rustc_hash::FxHashMap;
use std::cmp::Ordering;
use tw_core::Value;
use tw_ir::{Applied, CompareOp, Form, Node, NodeId, Program, SlotId, display, display_with};
use tw_monitor::{Unsupported, order};

/// Index of a cell.
pub(crate) type CellId = u32;

/// What a cell does with its children.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    /// What one position decides; the node is one of [`Formula::program`].
    Leaf(NodeId),
    Not,
    And,
    Or,
    Xor,
    Implies,
    Iff,
    /// `X N Y Z`.
    Step(Applied),
    /// The other temporal operators.
    Walk(Applied),
    /// A quantifier over a path: one child per value, in the order of the values; of each value its text and the leaf that
    /// says where the path has it.
    Quantifier {
        forall: bool,
        values: Vec<(String, CellId)>,
    },
}

/// A subformula for certain values of its free variables.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    pub kind: Kind,
    /// Of an operator with two operands, left and right.
    pub children: Vec<CellId>,
    /// The operator, or the leaf with the values of variables in their places.
    pub label: String,
    /// The same with the variables' names.
    pub plain: String,
    /// Where it comes from.
    pub node: NodeId,
    /// The truth values that it can have.
    pub possible: Mask,
}

impl Cell {
    /// Whether other positions have a say.
    pub(crate) fn is_temporal(&self) -> bool {
        matches!(self.kind, Kind::Step(_) | Kind::Walk(_))
    }
}

/// A formula whose holograms are wanted.
#[derive(Clone, Debug)]
pub struct Formula {
    pub(crate) cells: Vec<Cell>,
    pub(crate) root: CellId,
    /// The program that leaves are nodes of.
    program: Option<Box<Program>>,
    leaves: Vec<NodeId>,
}

/// Cells that a formula may have once quantifiers are written out.
const MOST_CELLS: usize = 1_000_000;
/// Quantifiers that may stand in each other.
const MOST_NESTED: usize = 32;

/// The path that a quantifier ranges over, and what it says about each value: `forall x in PATH. φ` is lowered to
/// `forall x. x == PATH -> φ`, `exists` to a conjunction.
fn ranged(program: &Program, node: Node) -> Option<(u32, SlotId, NodeId)> {
    let (variable, body, forall) = match node {
        Node::Forall(variable, body) => (variable, body, true),
        Node::Exists(variable, body) => (variable, body, false),
        _ => return None,
    };
    let (guard, body) = match (forall, program.dag.node(body)) {
        (true, Node::Implies(guard, body)) | (false, Node::And(guard, body)) => (guard, body),
        _ => return None,
    };
    let Node::Compare(CompareOp::Eq, left, right) = program.dag.node(guard) else { return None };
    match (program.dag.node(left), program.dag.node(right)) {
        (Node::Variable(own), Node::Slot(slot)) if own == variable => Some((variable, slot, body)),
        _ => None,
    }
}

/// The paths that quantifiers of a formula range over, or why it has no hologram.
pub fn paths(program: &Program, root: NodeId) -> Result<Vec<SlotId>, Unsupported> {
    let mut paths = Vec::new();
    let nodes = program.reachable(&[root]);
    for &id in nodes.iter().rev() {
        let node = program.dag.node(id);
        match node {
            Node::Forall(variable, _) | Node::Exists(variable, _) => {
                let Some((_, slot, _)) = ranged(program, node) else {
                    let name = &program.dag.variables[variable as usize];
                    return Err(Unsupported::construct(
                        id,
                        format!("`{name}`, which ranges over all values: a hologram has one child per value"),
                    )
                    .help(format!(
                        "write `{} {name} in items[*].id. φ`, with a path to the values",
                        node.operator()
                    )));
                };
                paths.push(slot);
            }
            Node::Pattern(_) | Node::Tally(..) | Node::AllPaths(_) | Node::SomePath(_) => {
                return Err(Unsupported::construct(id, format!("`{}` in a hologram", display(program, id))));
            }
            _ if node.is_experiment() => {
                return Err(Unsupported::construct(
                    id,
                    format!("a value (`{}`) in a hologram", node.operator()),
                ));
            }
            _ => {}
        }
    }
    paths.sort_unstable();
    paths.dedup();
    Ok(paths)
}

/// The values of a path over positions, each once, in the order of their children.
pub fn domain(values: impl Iterator<Item = Value>) -> Vec<Value> {
    fn add(value: Value, into: &mut Vec<Value>) {
        match value {
            Value::Null => {}
            Value::List(values) => values.into_iter().for_each(|value| add(value, into)),
            value => into.push(value),
        }
    }
    let mut all = Vec::new();
    values.for_each(|value| add(value, &mut all));
    all.sort_by(by_value);
    all.dedup_by(|a, b| by_value(a, b) == Ordering::Equal);
    all
}

/// Numbers, then texts, then the rest.
fn by_value(a: &Value, b: &Value) -> Ordering {
    let rank = |value: &Value| match value {
        Value::Int(_) | Value::Real(_) => 0,
        Value::Str(_) => 1,
        Value::Bool(_) => 2,
        _ => 3,
    };
    let text = |value: &Value| value.to_string();
    rank(a).cmp(&rank(b)).then_with(|| order(a, b).unwrap_or_else(|| text(a).cmp(&text(b))))
}

impl Formula {
    /// The formula at `root`. `domain` gives the values of a path over all positions of the trace that it is for; formulas
    /// without quantifiers never ask, and serve for all traces.
    pub fn new(
        program: &Program,
        root: NodeId,
        domain: &dyn Fn(SlotId) -> Vec<Value>,
    ) -> Result<Self, Unsupported> {
        let quantified = !paths(program, root)?.is_empty();
        let mut builder = Builder {
            program,
            ground: quantified.then(|| Box::new(program.clone())),
            domain,
            cells: Vec::new(),
            known: FxHashMap::default(),
            free: free(program, root),
            leaves: Vec::new(),
        };
        let root = builder.build(root, &[], 0)?;
        let mut leaves = builder.leaves;
        leaves.sort_unstable();
        leaves.dedup();
        Ok(Formula { cells: builder.cells, root, program: builder.ground, leaves })
    }

    /// The program that leaves belong to, where it is not the one that the formula came from.
    pub fn program(&self) -> Option<&Program> {
        self.program.as_deref()
    }

    /// The leaves, ascending: what one position decides.
    pub fn leaves(&self) -> &[NodeId] {
        &self.leaves
    }

    /// Whether operators have intervals, so that time has a say.
    pub fn timed(&self) -> bool {
        self.cells.iter().any(|cell| match cell.kind {
            Kind::Step(applied) | Kind::Walk(applied) => applied.interval.is_some(),
            _ => false,
        })
    }
}

/// Of each node whether a variable is free in it, or bound: what has none is the same for all values.
fn free(program: &Program, root: NodeId) -> Vec<bool> {
    let mut free = vec![false; program.dag.len()];
    for id in program.reachable(&[root]) {
        let node = program.dag.node(id);
        free[id.index()] =
            matches!(node, Node::Variable(_)) || node.children().any(|child| free[child.index()]);
    }
    free
}

type Bound = Vec<(u32, Value)>;

struct Builder<'a> {
    program: &'a Program,
    ground: Option<Box<Program>>,
    domain: &'a dyn Fn(SlotId) -> Vec<Value>,
    cells: Vec<Cell>,
    /// By node and the text of the values.
    known: FxHashMap<(NodeId, String), CellId>,
    free: Vec<bool>,
    leaves: Vec<NodeId>,
}

impl Builder<'_> {
    fn key(&self, node: NodeId, bound: &[(u32, Value)]) -> (NodeId, String) {
        let own = !bound.is_empty() && self.free[node.index()];
        (node, if own { format!("{bound:?}") } else { String::new() })
    }

    /// The cell of a node. Loops over the nodes below it, and calls itself for what quantifiers stand before.
    fn build(&mut self, root: NodeId, bound: &[(u32, Value)], nested: usize) -> Result<CellId, Unsupported> {
        let program = self.program;
        let inner = |id: NodeId| {
            let node = program.dag.node(id);
            use Node::*;
            let connective = matches!(node, Not(_) | And(..) | Or(..) | Xor(..) | Implies(..) | Iff(..));
            !connective && !node.is_temporal()
        };
        for id in program.reachable_until(&[root], inner) {
            let key = self.key(id, bound);
            if self.known.contains_key(&key) {
                continue;
            }
            let cell = self.cell(id, bound, nested)?;
            if self.cells.len() >= MOST_CELLS {
                return Err(Unsupported::budget(format!(
                    "a formula that has more than {MOST_CELLS} parts once its quantifiers are written out"
                )));
            }
            self.cells.push(cell);
            self.known.insert(key, self.cells.len() as CellId - 1);
        }
        Ok(self.known[&self.key(root, bound)])
    }

    fn cell(&mut self, id: NodeId, bound: &[(u32, Value)], nested: usize) -> Result<Cell, Unsupported> {
        let node = self.program.dag.node(id);
        let own = |child: NodeId| self.known[&self.key(child, bound)];
        let (kind, children): (Kind, Vec<CellId>) = match node {
            Node::Not(a) => (Kind::Not, vec![own(a)]),
            Node::And(a, b) => (Kind::And, vec![own(a), own(b)]),
            Node::Or(a, b) => (Kind::Or, vec![own(a), own(b)]),
            Node::Xor(a, b) => (Kind::Xor, vec![own(a), own(b)]),
            Node::Implies(a, b) => (Kind::Implies, vec![own(a), own(b)]),
            Node::Iff(a, b) => (Kind::Iff, vec![own(a), own(b)]),
            Node::Unary(..) | Node::Binary(..) => {
                let Some(applied) = node.temporal() else { return Err(Unsupported::construct(id, "this")) };
                let children = applied.left.into_iter().chain([applied.right]).map(own).collect();
                (if applied.is_step() { Kind::Step(applied) } else { Kind::Walk(applied) }, children)
            }
            Node::Forall(..) | Node::Exists(..) => return self.quantifier(id, bound, nested),
            _ => return Ok(self.leaf(id, bound)),
        };
        let label = match node.interval() {
            Some(interval) => format!("{}{interval}", node.operator()),
            None => node.operator().to_string(),
        };
        let of = |at: usize| self.cells[children[at] as usize].possible;
        let possible = match &kind {
            Kind::Step(applied) if applied.past => of(0).with(Truth::from(applied.weak)),
            Kind::Step(_) => of(0).with(Truth::Unknown),
            // Nothing is decided for good at the end of a trace; what looks back is, but for what its operands leave open.
            Kind::Walk(applied) if !applied.past && applied.interval.is_none() && applied.left.is_none() => {
                let decided = Truth::from(applied.form == Form::Until);
                if of(0).has(decided) {
                    Mask::of(decided).with(Truth::Unknown)
                } else {
                    Mask::of(Truth::Unknown)
                }
            }
            Kind::Walk(applied)
                if applied.past
                    && children
                        .iter()
                        .all(|&child| !self.cells[child as usize].possible.has(Truth::Unknown)) =>
            {
                Mask::DECIDED
            }
            Kind::Walk(_) => Mask::ALL,
            Kind::Not => of(0).iter().map(|a| connective(&kind, a, a)).collect(),
            _ => of(0)
                .iter()
                .flat_map(|a| of(1).iter().map(move |b| (a, b)))
                .map(|(a, b)| connective(&kind, a, b))
                .collect(),
        };
        Ok(Cell { kind, children, plain: label.clone(), label, node: id, possible })
    }

    fn quantifier(&mut self, id: NodeId, bound: &[(u32, Value)], nested: usize) -> Result<Cell, Unsupported> {
        let node = self.program.dag.node(id);
        let Some((variable, slot, body)) = ranged(self.program, node) else {
            return Err(Unsupported::construct(id, "a quantifier without a path"));
        };
        if nested >= MOST_NESTED {
            return Err(Unsupported::construct(
                id,
                format!("more than {MOST_NESTED} quantifiers in each other"),
            ));
        }
        let (mut values, mut children) = (Vec::new(), Vec::new());
        for value in (self.domain)(slot) {
            let text = display_with(self.program, self.variable_node(variable), &[(variable, value.clone())]);
            let guard = self.guard(slot, &value, id);
            let mut inner: Bound = bound.iter().filter(|(own, _)| *own != variable).cloned().collect();
            inner.push((variable, value));
            children.push(self.build(body, &inner, nested + 1)?);
            values.push((text, guard));
        }
        let forall = matches!(node, Node::Forall(..));
        let below = children.iter().flat_map(|&child| self.cells[child as usize].possible.iter());
        let possible = below.collect::<Mask>().with(Truth::from(forall));
        let label = node.operator().to_string();
        Ok(Cell {
            kind: Kind::Quantifier { forall, values },
            children,
            plain: label.clone(),
            label,
            node: id,
            possible,
        })
    }

    /// The node of a variable; it is there, since its range mentions it.
    fn variable_node(&self, variable: u32) -> NodeId {
        let own = |node: &Node| *node == Node::Variable(variable);
        NodeId(self.program.dag.nodes().iter().position(own).unwrap_or_default() as u32)
    }

    /// The leaf that says where a path has a value.
    fn guard(&mut self, slot: SlotId, value: &Value, node: NodeId) -> CellId {
        let key = (node, format!("{slot} has {value:?}"));
        if let Some(&known) = self.known.get(&key) {
            return known;
        }
        let ground = self.ground.get_or_insert_with(|| Box::new(self.program.clone()));
        let (constant, path) = (ground.dag.constant(value.clone()), ground.dag.add(Node::Slot(slot)));
        let leaf = ground.dag.add(Node::Compare(CompareOp::Eq, constant, path));
        self.leaves.push(leaf);
        let (label, possible) = (String::new(), Mask::DECIDED);
        self.cells.push(Cell {
            kind: Kind::Leaf(leaf),
            children: vec![],
            plain: label.clone(),
            label,
            node,
            possible,
        });
        self.known.insert(key, self.cells.len() as CellId - 1);
        self.cells.len() as CellId - 1
    }

    fn leaf(&mut self, id: NodeId, bound: &[(u32, Value)]) -> Cell {
        let label = display_with(self.program, id, bound);
        let plain = display(self.program, id);
        let mut leaf = id;
        if let Some(ground) = self.ground.as_mut().filter(|_| !bound.is_empty() && self.free[id.index()]) {
            let mut places: FxHashMap<NodeId, NodeId> = FxHashMap::default();
            for id in self.program.reachable(&[id]) {
                let node = self.program.dag.node(id);
                let value = match node {
                    Node::Variable(own) => bound.iter().find(|(variable, _)| *variable == own),
                    _ => None,
                };
                let place = match value {
                    Some((_, value)) => ground.dag.constant(value.clone()),
                    None => ground.dag.add(node.with_children(|child| places[&child])),
                };
                places.insert(id, place);
            }
            leaf = places[&id];
        }
        self.leaves.push(leaf);
        let possible = match self.program.dag.node(id) {
            Node::Bool(holds) => Mask::of(Truth::from(holds)),
            _ => Mask::DECIDED,
        };
        Cell { kind: Kind::Leaf(leaf), children: Vec::new(), label, plain, node: id, possible }
    }
}

//! Alternating automata as graphs.

use super::{Edge, Graph, Kind, Vertex};
use crate::alternating::{Alternating, Direction, Expr, ExprId, Label, Node, NodeIndex};
use rustc_hash::{FxHashMap, FxHashSet};
use tw_ir::{NodeId, Program, display};

/// Nodes up to which each is labelled with the whole formula it stands for: together they are quadratic in the depth.
const WHOLE: usize = 5_000;

/// The automaton that `root` starts. Nodes are called n0, n1, … in the order of [`Alternating::reachable`], and labelled
/// with the formula they stand for and ⟨what must hold here, accepting or rejecting⟩. Connectives are vertices of their
/// own, chains of the same one drawn as one; an edge from a node leads to what must hold at the neighbouring position.
pub fn alternating(program: &Program, automaton: &Alternating, root: ExprId, title: &str) -> Graph {
    let nodes = automaton.reachable(root);
    let whole = nodes.len() <= WHOLE;
    let vertex = |(at, index): (usize, &NodeIndex)| vertex(program, at, automaton.node(*index), whole);
    let vertices = nodes.iter().enumerate().map(vertex).collect();
    let graph = Graph { title: title.to_owned(), vertices, ..Graph::default() };
    let node_vertices = nodes.iter().enumerate().map(|(at, &index)| (index, at)).collect();
    let mut drawing =
        Drawing { automaton, graph, node_vertices, junctions: Default::default(), todo: Vec::new() };
    let initial = drawing.vertex_of(root);
    drawing.graph.initial.push(initial);
    for (from, &index) in nodes.iter().enumerate() {
        let node = automaton.node(index);
        if node.direction != Direction::State {
            let (to, past) = (drawing.vertex_of(node.delta), node.direction == Direction::Past);
            let label = if past { "previous" } else { "next" }.to_owned();
            drawing.graph.edges.push(Edge { from, to, label, past, ..Edge::default() });
        }
    }
    drawing.connect();
    drawing.graph
}

/// A graph in the making.
struct Drawing<'a> {
    automaton: &'a Alternating,
    graph: Graph,
    node_vertices: FxHashMap<NodeIndex, usize>,
    junctions: FxHashMap<ExprId, usize>,
    /// Junctions whose operands are not connected yet.
    todo: Vec<ExprId>,
}

impl Drawing<'_> {
    /// The vertex of an expression, made if it is new.
    fn vertex_of(&mut self, id: ExprId) -> usize {
        let expr = self.automaton.expr(id);
        if let Expr::Node(index) = expr {
            return self.node_vertices[&index];
        }
        if let Some(&known) = self.junctions.get(&id) {
            return known;
        }
        let (name, kind) = match expr {
            Expr::True => ("true".to_owned(), Kind::True),
            Expr::False => ("false".to_owned(), Kind::False),
            Expr::And(..) => (format!("and{}", self.junctions.len()), Kind::And),
            _ => (format!("or{}", self.junctions.len()), Kind::Or),
        };
        let label = if kind.is_junction() { kind.name().to_owned() } else { name.clone() };
        self.graph.vertices.push(Vertex { name, label, kind });
        let vertex = self.graph.vertices.len() - 1;
        self.junctions.insert(id, vertex);
        self.todo.push(id);
        vertex
    }

    /// Draws the edges from all junctions to their operands.
    fn connect(&mut self) {
        while let Some(id) = self.todo.pop() {
            let from = self.junctions[&id];
            for operand in operands(self.automaton, id) {
                let to = self.vertex_of(operand);
                self.graph.edges.push(Edge { from, to, ..Edge::default() });
            }
        }
    }
}

/// What a chain of one connective combines.
fn operands(automaton: &Alternating, id: ExprId) -> Vec<ExprId> {
    let all = matches!(automaton.expr(id), Expr::And(..));
    let (mut found, mut todo, mut seen) = (Vec::new(), Vec::new(), FxHashSet::default());
    if let Expr::And(a, b) | Expr::Or(a, b) = automaton.expr(id) {
        todo.extend([b, a]);
    }
    while let Some(id) = todo.pop() {
        match automaton.expr(id) {
            Expr::And(a, b) if all => todo.extend([b, a]),
            Expr::Or(a, b) if !all => todo.extend([b, a]),
            _ if !seen.insert(id) => {}
            _ => found.push(id),
        }
    }
    found
}

fn vertex(program: &Program, at: usize, node: &Node, whole: bool) -> Vertex {
    let (kind, flag) = if node.accepting { (Kind::Accepting, "acc") } else { (Kind::Rejecting, "rej") };
    let formula = if whole || node.direction == Direction::State {
        origin(program, node.origin)
    } else {
        format!("{} …", program.dag.node(node.origin.0).operator())
    };
    let label = match node.direction {
        Direction::State => format!("⟨{formula}, {flag}⟩"),
        Direction::Future | Direction::Past => {
            let here = match node.label {
                Label::True => "true".to_owned(),
                Label::Atom(..) | Label::Last(_) => formula.clone(),
            };
            format!("{formula}\n⟨{here}, {flag}⟩")
        }
    };
    Vertex { name: format!("n{at}"), label, kind }
}

/// A formula or its negation, as one would write it.
fn origin(program: &Program, (id, negated): (NodeId, bool)) -> String {
    let text = display(program, id);
    let plain = text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.'));
    match (negated, plain) {
        (false, _) => text,
        (true, true) => format!("!{text}"),
        (true, false) => format!("!({text})"),
    }
}

//! Algebraic automata as graphs.

use super::{Edge, Graph, Kind, Vertex};
use crate::algebraic::{Algebraic, Combine, Expr, ExprId, Names, Node, apply_text, combine_text, node_text};
use tw_ir::{ArithmeticOp, Function, Program};

/// The automaton that `root` starts, its parts named as [`Algebraic::text`] names them. Terminals end a path and have a
/// double border; the edge of a transient node leads to what is run at the next position. `and` and `or` of which the
/// value is `true` are junctions, others boxes with their function; edges tell the operands apart where it matters.
pub fn algebraic(program: &Program, automaton: &Algebraic, root: ExprId, title: &str) -> Graph {
    let names = Names::new(automaton, root);
    let mut graph = Graph { title: title.to_owned(), initial: vec![0], ..Graph::default() };
    let mut vertex_of = vec![0; automaton.exprs().len()];
    for (vertex, &id) in names.order().iter().enumerate() {
        vertex_of[id.index()] = vertex;
        let (label, kind) = look(program, automaton, id, &names);
        graph.vertices.push(Vertex { name: names.of(id).to_owned(), label, kind });
    }
    for (from, &id) in names.order().iter().enumerate() {
        let mut edge = |to: ExprId, label: &str| {
            let to = vertex_of[to.index()];
            graph.edges.push(Edge { from, to, label: label.to_owned(), ..Edge::default() });
        };
        match automaton.expr(id) {
            Expr::And(g, a, b) | Expr::Or(g, a, b) => {
                let (left, right) = sides(g);
                edge(a, left);
                edge(b, right);
            }
            Expr::Apply(_, a) => edge(a, ""),
            Expr::Node(index) => {
                if let Node::Transient(transient) = automaton.node(index) {
                    edge(transient.successor, "next");
                }
            }
        }
    }
    graph
}

/// What is written on the edges to the operands.
fn sides(g: Combine) -> (&'static str, &'static str) {
    use ArithmeticOp::*;
    match g {
        Combine::Function(Function::True | Function::Arithmetic(Add | Mul | Min | Max)) => ("", ""),
        Combine::Function(_) => ("left", "right"),
        Combine::First => ("first", "else"),
        Combine::Second => ("if", "then"),
        Combine::Fold(_) => ("so far", "here"),
    }
}

fn look(program: &Program, automaton: &Algebraic, id: ExprId, names: &Names) -> (String, Kind) {
    match automaton.expr(id) {
        Expr::And(g, ..) => match combine_text(g) {
            Some(g) => (format!("∧ {g}"), Kind::Open),
            None => (Kind::And.name().to_owned(), Kind::And),
        },
        Expr::Or(g, ..) => match combine_text(g) {
            Some(g) => (format!("∨ {g}"), Kind::Open),
            None => (Kind::Or.name().to_owned(), Kind::Or),
        },
        Expr::Apply(f, _) => (apply_text(program, f), Kind::Open),
        Expr::Node(index) => {
            let node = automaton.node(index);
            let kind = match node {
                Node::Terminal(..) => Kind::Accepting,
                Node::Transient(_) => Kind::Rejecting,
            };
            (node_text(program, node, names), kind)
        }
    }
}

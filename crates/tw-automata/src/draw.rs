//! Pictures of automata: one graph, written as DOT, SVG or JSON.

/// What a node of a picture is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Accepting, or a state in which the trace may end.
    Accepting,
    /// Rejecting, or a state in which the trace may not end.
    Rejecting,
    /// A state in which the property is settled to hold.
    True,
    /// A state in which it is settled not to hold.
    False,
    /// A connective: all branches.
    And,
    /// A connective: one of the branches.
    Or,
}

/// A node of a picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vertex {
    /// Short name, unique in the graph: `n3`.
    pub name: String,
    /// What it stands for, in the user's words; may be long.
    pub label: String,
    /// What it is.
    pub kind: Kind,
}

/// An edge of a picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Index of the vertex it leaves.
    pub from: usize,
    /// Index of the vertex it enters.
    pub to: usize,
    /// When it is taken; may be empty.
    pub label: String,
    /// Whether it goes to the previous position.
    pub past: bool,
}

/// A graph to draw.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    /// Title.
    pub title: String,
    /// Vertices.
    pub vertices: Vec<Vertex>,
    /// Edges.
    pub edges: Vec<Edge>,
    /// Indices of initial vertices.
    pub initial: Vec<usize>,
}

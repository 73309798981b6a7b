//! Pictures of automata: one graph, written as DOT, SVG or JSON.
//!
//! DOT is for those who have a program to lay it out, JSON for other programs, and SVG is laid out here: in layers from
//! the initial vertices down (Sugiyama, Tagawa, Toda: "Methods for Visual Understanding of Hierarchical System
//! Structures"), so that a picture needs nothing but a browser.

mod algebraic;
mod alternating;
mod deterministic;
mod dot;
mod json;
mod layers;
mod layout;
mod order;
mod route;
mod svg;
#[cfg(test)]
mod tests;
mod text;

pub use algebraic::algebraic;
pub use alternating::alternating;
pub use deterministic::deterministic;
pub use svg::TooLarge;

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
    /// A state of a three-valued machine in which the property is not settled.
    Open,
    /// A state of a model: its label is all there is to show.
    State,
    /// A connective: all branches.
    And,
    /// A connective: one of the branches.
    Or,
}

impl Kind {
    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Accepting => "accepting",
            Kind::Rejecting => "rejecting",
            Kind::True => "true",
            Kind::False => "false",
            Kind::Open => "open",
            Kind::State => "state",
            Kind::And => "and",
            Kind::Or => "or",
        }
    }

    /// Whether it is drawn as a junction of edges rather than as a state.
    fn is_junction(self) -> bool {
        matches!(self, Kind::And | Kind::Or)
    }
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
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edge {
    /// Index of the vertex it leaves.
    pub from: usize,
    /// Index of the vertex it enters.
    pub to: usize,
    /// When it is taken; may be empty.
    pub label: String,
    /// Whether it goes to the previous position; of a model, whether nobody saw it. It is dashed.
    pub past: bool,
    /// How often it was seen, beside the others.
    pub weight: Weight,
}

/// How often an edge was seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Weight {
    /// That is not told.
    #[default]
    Plain,
    /// So seldom that it stands out.
    Rare,
    /// From 0 to 4, wider for more.
    Common(u8),
}

impl Weight {
    /// Width of the line, in tenths of a pixel.
    fn width(self) -> u32 {
        match self {
            Weight::Plain => 14,
            Weight::Rare => 16,
            Weight::Common(step) => [10, 16, 24, 34, 46][usize::from(step.min(4))],
        }
    }
}

/// What the legend of a picture explains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sample {
    /// Lines of different widths.
    Widths,
    /// A line that stands out.
    Rare,
    /// A dashed line.
    Dashed,
    /// A double border.
    End,
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
    /// Indices of vertices in which something ends: they have a double border.
    pub ends: Vec<usize>,
    /// What is told of lines and borders.
    pub legend: Vec<(Sample, String)>,
}

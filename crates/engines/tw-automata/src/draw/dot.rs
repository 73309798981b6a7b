//! Graphs in the language of Graphviz.

use super::text::{quoted, wrap};
use super::{Graph, Kind, Vertex, Weight};
use std::fmt::Write;

/// Columns of a label before it is broken.
const COLUMNS: usize = 32;

impl Graph {
    /// For `dot`.
    pub fn to_dot(&self) -> String {
        let mut out = String::from("digraph automaton {\n");
        let _ = writeln!(out, "  label={};", quoted(&self.title));
        out.push_str("  labelloc=t;\n  rankdir=TB;\n  fontname=\"monospace\";\n");
        out.push_str("  node [fontname=\"monospace\", fontsize=11, shape=box, style=\"rounded,filled\",");
        out.push_str(" fillcolor=\"#f8fafc\", color=\"#64748b\"];\n");
        out.push_str("  edge [fontname=\"monospace\", fontsize=10, color=\"#64748b\", arrowsize=0.7];\n");
        for (index, vertex) in self.vertices.iter().enumerate() {
            let ends = if self.ends.contains(&index) { ", peripheries=2" } else { "" };
            let _ = writeln!(out, "  {} [{}{ends}];", quoted(&vertex.name), attributes(vertex));
        }
        for (number, &index) in self.initial.iter().enumerate() {
            // The space keeps it apart from the names of vertices, which have none.
            let start = quoted(&format!("start {number}"));
            let _ = writeln!(out, "  {start} [shape=point, width=0.08, label=\"\"];");
            let _ = writeln!(out, "  {start} -> {};", quoted(&self.vertices[index].name));
        }
        for edge in &self.edges {
            let name = |index: usize| quoted(&self.vertices[index].name);
            let _ = write!(out, "  {} -> {}", name(edge.from), name(edge.to));
            let mut attributes = Vec::new();
            if !edge.label.is_empty() {
                attributes.push(format!("label={}", quoted(&wrap(&edge.label, COLUMNS, 8).join("\n"))));
            }
            if edge.past {
                attributes.push("style=dashed".to_owned());
            }
            if edge.weight != Weight::Plain {
                attributes.push(format!("penwidth={:.1}", f64::from(edge.weight.width()) / 10.0));
            }
            if edge.weight == Weight::Rare {
                attributes.push("color=\"#d97706\"".to_owned());
            }
            if !attributes.is_empty() {
                let _ = write!(out, " [{}]", attributes.join(", "));
            }
            out.push_str(";\n");
        }
        out.push_str("}\n");
        out
    }
}

fn attributes(vertex: &Vertex) -> String {
    let label = match vertex.kind {
        Kind::And => "∧".to_owned(),
        Kind::Or => "∨".to_owned(),
        _ => {
            let mut lines = wrap(&vertex.label, COLUMNS, 12);
            if vertex.label != vertex.name && vertex.kind != Kind::State {
                lines.insert(0, vertex.name.clone());
            }
            lines.join("\n")
        }
    };
    let look = match vertex.kind {
        Kind::Accepting => ", peripheries=2",
        Kind::Rejecting | Kind::Open | Kind::State => "",
        Kind::True => ", peripheries=2, fillcolor=\"#bbf7d0\"",
        Kind::False => ", fillcolor=\"#fecaca\"",
        Kind::And | Kind::Or => ", shape=circle, width=0.3, height=0.3, fixedsize=true",
    };
    format!("label={}{look}", quoted(&label))
}

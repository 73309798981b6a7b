//! Graphs as JSON: vertices by name, so that nothing hangs on their order.

use super::Graph;
use serde_json::{Value, json};

impl Graph {
    /// `{"title", "vertices": [{"name", "label", "kind"}], "edges": [{"from", "to", "label", "past"}], "initial":
    /// [name]}`.
    pub fn to_json(&self) -> Value {
        let name = |index: usize| self.vertices[index].name.as_str();
        let vertices: Vec<Value> = self
            .vertices
            .iter()
            .map(|v| json!({ "name": v.name, "label": v.label, "kind": v.kind.name() }))
            .collect();
        let edges: Vec<Value> = self
            .edges
            .iter()
            .map(|e| json!({ "from": name(e.from), "to": name(e.to), "label": e.label, "past": e.past }))
            .collect();
        let initial: Vec<&str> = self.initial.iter().map(|&index| name(index)).collect();
        json!({ "title": self.title, "vertices": vertices, "edges": edges, "initial": initial })
    }
}

//! From a graph to a layered one: every vertex on a layer, every edge going down from layer to layer.
//!
//! Edges that close a cycle are turned round. A vertex stands one layer below the lowest of those that lead to it.
//! Layers of vertices alternate with layers for the labels of the edges between them, and an edge that crosses a layer
//! has a place on it, so that it is routed between what stands there.

use super::Graph;

/// Something that takes a place on a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Item {
    /// A vertex.
    Vertex(usize),
    /// An edge that passes.
    Passing(usize),
    /// An edge that passes, with its label.
    Label(usize),
}

/// An edge with its places, from top to bottom.
#[derive(Clone, Debug)]
pub(super) struct Route {
    pub edge: usize,
    /// Whether the edge leads up: from the last place to the first.
    pub upward: bool,
    /// Its vertices and what is between: at least one place, unless it is drawn straight.
    pub places: Vec<usize>,
}

/// The layered graph. Places are numbered; `layers` say where each stands.
#[derive(Clone, Debug, Default)]
pub(super) struct Layers {
    pub items: Vec<Item>,
    pub layers: Vec<Vec<usize>>,
    pub routes: Vec<Route>,
    /// Edges from a vertex to itself.
    pub selfs: Vec<usize>,
}

impl Layers {
    /// With more than about `limit` places, the longest edges have none: they are drawn straight, behind everything.
    pub fn new(graph: &Graph, limit: usize) -> Self {
        let (order, left) = depth_first(graph);
        // An edge to a vertex that is left later leads back to where the search had come from.
        let upward: Vec<bool> = graph.edges.iter().map(|edge| left[edge.from] < left[edge.to]).collect();
        let depth = depth(graph, &upward);
        let span = |edge: usize| depth[graph.edges[edge].from].abs_diff(depth[graph.edges[edge].to]);
        let longest = longest(graph.edges.len(), span, limit);
        let deepest = depth.iter().map(|depth| depth + 1).max().unwrap_or(0);
        let mut layered = Layers { layers: vec![Vec::new(); 2 * deepest], ..Layers::default() };
        for &vertex in &order {
            layered.place(Item::Vertex(vertex), 2 * depth[vertex]);
        }
        let mut place_of = vec![0; graph.vertices.len()];
        for (place, &vertex) in order.iter().enumerate() {
            place_of[vertex] = place;
        }
        for (edge, it) in graph.edges.iter().enumerate() {
            if it.from == it.to {
                layered.selfs.push(edge);
                continue;
            }
            let (top, bottom) = if upward[edge] { (it.to, it.from) } else { (it.from, it.to) };
            let (first, last) = (2 * depth[top], 2 * depth[bottom]);
            // The label stands where the edge is about half way, on a layer of labels.
            let label = if it.label.is_empty() { usize::MAX } else { ((first + last) / 2) | 1 };
            let mut places = vec![place_of[top]];
            let crossed = if span(edge) > longest { 0..0 } else { first + 1..last };
            for layer in crossed {
                let item = if layer == label { Item::Label(edge) } else { Item::Passing(edge) };
                places.push(layered.place(item, layer));
            }
            places.push(place_of[bottom]);
            layered.routes.push(Route { edge, upward: upward[edge], places });
        }
        layered
    }

    fn place(&mut self, item: Item, layer: usize) -> usize {
        self.items.push(item);
        self.layers[layer].push(self.items.len() - 1);
        self.items.len() - 1
    }
}

/// The longest span up to which all edges together cross no more than `limit` layers of vertices.
fn longest(edges: usize, span: impl Fn(usize) -> usize, limit: usize) -> usize {
    let mut spans: Vec<usize> = (0..edges).map(span).collect();
    spans.sort_unstable();
    let mut crossed = 0;
    for span in spans {
        crossed += span;
        if crossed > limit {
            // Edges between neighbouring layers always have a place for their label.
            return span.saturating_sub(1).max(1);
        }
    }
    usize::MAX
}

/// The vertices in the order in which depth-first search from the initial ones (then from the others) meets them, and
/// when it leaves each.
fn depth_first(graph: &Graph) -> (Vec<usize>, Vec<usize>) {
    let count = graph.vertices.len();
    let mut out = vec![Vec::new(); count];
    for edge in &graph.edges {
        out[edge.from].push(edge.to);
    }
    let (mut order, mut left, mut clock) = (Vec::new(), vec![usize::MAX; count], 0);
    let mut met = vec![false; count];
    for start in graph.initial.iter().copied().chain(0..count) {
        if std::mem::replace(&mut met[start], true) {
            continue;
        }
        order.push(start);
        let mut path = vec![(start, 0)];
        while let Some((vertex, next)) = path.last_mut() {
            match out[*vertex].get(*next) {
                Some(&to) => {
                    *next += 1;
                    if !std::mem::replace(&mut met[to], true) {
                        order.push(to);
                        path.push((to, 0));
                    }
                }
                None => {
                    left[*vertex] = clock;
                    clock += 1;
                    path.pop();
                }
            }
        }
    }
    (order, left)
}

/// How deep each vertex stands: the longest way to it.
fn depth(graph: &Graph, upward: &[bool]) -> Vec<usize> {
    let count = graph.vertices.len();
    let (mut below, mut waiting) = (vec![Vec::new(); count], vec![0; count]);
    for (edge, it) in graph.edges.iter().enumerate().filter(|(_, it)| it.from != it.to) {
        let (top, bottom) = if upward[edge] { (it.to, it.from) } else { (it.from, it.to) };
        below[top].push(bottom);
        waiting[bottom] += 1;
    }
    let mut depth = vec![0; count];
    let mut ready: Vec<usize> = (0..count).filter(|&vertex| waiting[vertex] == 0).collect();
    while let Some(vertex) = ready.pop() {
        for &to in &below[vertex] {
            depth[to] = depth[to].max(depth[vertex] + 1);
            waiting[to] -= 1;
            if waiting[to] == 0 {
                ready.push(to);
            }
        }
    }
    depth
}

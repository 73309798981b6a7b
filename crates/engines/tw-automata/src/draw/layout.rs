//! Coordinates: what stands on a layer keeps its order and its distance, and comes as near as it can to what it is
//! connected to.

use super::layers::{Item, Layers};
use super::order::{Neighbours, order};

/// A place's room: how far it reaches from its middle, which is where edges pass.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Room {
    pub left: f64,
    pub right: f64,
    pub height: f64,
}

/// A place on the plane: the middle of a vertex, or where an edge passes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Point {
    pub x: f64,
    pub y: f64,
    /// Height of its layer.
    pub height: f64,
}

/// A layered graph with coordinates.
pub(super) struct Layout {
    pub layered: Layers,
    pub rooms: Vec<Room>,
    pub points: Vec<Point>,
    pub width: f64,
    pub height: f64,
}

/// Between neighbours on a layer.
const APART: f64 = 18.0;
/// Between a layer of vertices and the layer of labels next to it.
const BETWEEN: f64 = 22.0;
const ROUNDS: usize = 24;

/// Lays a graph out, given the room that each place takes.
pub(super) fn layout(mut layered: Layers, room: impl Fn(Item) -> Room) -> Layout {
    order(&mut layered);
    let rooms: Vec<Room> = layered.items.iter().map(|&item| room(item)).collect();
    let mut x = vec![0.0; rooms.len()];
    for layer in &layered.layers {
        let mut edge = 0.0;
        for &place in layer {
            x[place] = edge + rooms[place].left;
            edge = x[place] + rooms[place].right + APART;
        }
    }
    let neighbours = Neighbours::new(&layered);
    for round in 0..ROUNDS {
        let layers = layered.layers.len();
        for step in 0..layers {
            // The last rounds look both ways, which evens out what going one way leaves.
            let (layer, above, below) = match round % 2 {
                _ if round + 4 >= ROUNDS => (step, true, true),
                0 => (step, true, false),
                _ => (layers - 1 - step, false, true),
            };
            let wanted = |place: usize| {
                let up = neighbours.above[place].iter().filter(|_| above);
                let near: Vec<f64> = up
                    .chain(neighbours.below[place].iter().filter(|_| below))
                    .map(|&other| x[other])
                    .collect();
                // Long edges are to be straight, hence hard to push aside.
                let weight = if matches!(layered.items[place], Item::Vertex(_)) { 1.0 } else { 4.0 };
                match near.len() {
                    0 => (x[place], 0.1),
                    count => (near.iter().sum::<f64>() / count as f64, weight),
                }
            };
            let wanted: Vec<(f64, f64)> = layered.layers[layer].iter().map(|&place| wanted(place)).collect();
            spread(&layered.layers[layer], &wanted, &rooms, &mut x);
        }
    }
    let leftmost = (0..rooms.len()).map(|place| x[place] - rooms[place].left).fold(f64::INFINITY, f64::min);
    let mut points = vec![Point::default(); rooms.len()];
    let (mut width, mut y) = (0.0f64, 0.0);
    for (index, layer) in layered.layers.iter().enumerate() {
        let height = layer.iter().map(|&place| rooms[place].height).fold(0.0, f64::max);
        for &place in layer {
            points[place] = Point { x: x[place] - leftmost, y: y + height / 2.0, height };
            width = width.max(points[place].x + rooms[place].right);
        }
        y += height + if index + 2 < layered.layers.len() { BETWEEN } else { 0.0 };
    }
    Layout { layered, rooms, points, width, height: y }
}

/// Moves the places of a layer to where they are wanted, as near as their order and distances allow: the least sum of
/// weighted squares. Places that would come too close are pooled, and a pool stands at its mean.
fn spread(layer: &[usize], wanted: &[(f64, f64)], rooms: &[Room], x: &mut [f64]) {
    /// Places side by side: how many, their weight, and where the first of them stands.
    struct Pool {
        count: usize,
        weight: f64,
        at: f64,
    }
    // Measured from where each place would stand if all stood as far to the left as they can, distances vanish.
    let mut shifts = Vec::with_capacity(layer.len());
    let mut shift = 0.0;
    for (index, &place) in layer.iter().enumerate() {
        if index > 0 {
            shift += rooms[layer[index - 1]].right + APART + rooms[place].left;
        }
        shifts.push(shift);
    }
    let mut pools: Vec<Pool> = Vec::new();
    for (&(wanted, weight), shift) in wanted.iter().zip(&shifts) {
        let mut pool = Pool { count: 1, weight, at: wanted - shift };
        while let Some(left) = pools.pop_if(|left| left.at > pool.at) {
            let weight = left.weight + pool.weight;
            let at = (left.at * left.weight + pool.at * pool.weight) / weight;
            pool = Pool { count: left.count + pool.count, weight, at };
        }
        pools.push(pool);
    }
    let stands = pools.iter().flat_map(|pool| std::iter::repeat_n(pool.at, pool.count));
    for ((&place, shift), at) in layer.iter().zip(&shifts).zip(stands) {
        x[place] = at + shift;
    }
}

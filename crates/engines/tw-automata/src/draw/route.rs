//! Lines: from where they leave a vertex to where they meet one, pulled tight between what stands on the layers.

use super::layers::{Item, Route};
use super::layout::{Layout, Point};
use std::fmt::Write;

/// What a line keeps away from boxes and labels, and from other lines beside it.
const CLEAR: f64 = 9.0;
/// How often lines are pulled.
const PULLS: usize = 40;

/// The outline of a vertex.
pub(super) struct Reach {
    pub wide: f64,
    pub high: f64,
    pub round: bool,
}

/// A point of a line, and how far it may move.
#[derive(Clone, Copy)]
struct Bend {
    x: f64,
    y: f64,
    low: f64,
    high: f64,
}

/// The points of a line, from top to bottom.
pub(super) type Line = Vec<(f64, f64)>;

/// The line of each route.
pub(super) fn lines(layout: &Layout, reach: impl Fn(usize) -> Reach) -> Vec<Line> {
    let free = free(layout);
    let ends = ends(layout, reach);
    let line = |(route, &(start, end)): (&Route, &(_, _))| tight(layout, &free, route, start, end);
    layout.layered.routes.iter().zip(&ends).map(line).collect()
}

/// Pulls a line tight. On every layer it has a point at the upper and at the lower edge, so that it stays clear of what
/// stands there however tall that is.
fn tight(layout: &Layout, free: &[(f64, f64)], route: &Route, start: (f64, f64), end: (f64, f64)) -> Line {
    let fixed = |(x, y)| Bend { x, y, low: x, high: x };
    // A vertex that is lower than its layer is left, or met, between its neighbours.
    let edge = |place: usize, (x, y): (f64, f64)| {
        let (point, (low, high)) = (layout.points[place], free[place]);
        let at = point.y + (point.height / 2.0).copysign(y - point.y);
        ((at - y).abs() > 3.0).then(|| Bend { x, y: at, low: low.min(x), high: high.max(x) })
    };
    let mut bends = vec![fixed(start)];
    bends.extend(edge(route.places[0], start));
    for &place in &route.places[1..route.places.len() - 1] {
        let Point { x, y, height } = layout.points[place];
        let (low, high) = free[place];
        bends.push(Bend { x, y: y - height / 2.0, low, high });
        bends.push(Bend { x, y: y + height / 2.0, low, high });
    }
    bends.extend(edge(route.places[route.places.len() - 1], end));
    bends.push(fixed(end));
    bends.dedup_by(|b, a| (a.y - b.y).abs() < 0.5 && a.low == b.low && a.high == b.high);
    for pull in 0..PULLS {
        for step in 1..bends.len() - 1 {
            let at = if pull % 2 == 0 { step } else { bends.len() - 1 - step };
            let (above, below) = (bends[at - 1], bends[at + 1]);
            let share = (bends[at].y - above.y) / (below.y - above.y).max(0.1);
            let straight = above.x + (below.x - above.x) * share;
            bends[at].x = straight.max(bends[at].low).min(bends[at].high);
        }
    }
    bends.into_iter().map(|bend| (bend.x, bend.y)).collect()
}

/// How far a line may move on each layer that it crosses.
fn free(layout: &Layout) -> Vec<(f64, f64)> {
    let mut free = vec![(0.0, layout.width); layout.points.len()];
    let left = |place: usize| layout.points[place].x - layout.rooms[place].left;
    let right = |place: usize| layout.points[place].x + layout.rooms[place].right;
    for (number, layer) in layout.layered.layers.iter().enumerate() {
        if number % 2 == 0 {
            between_boxes(layout, layer, &mut free);
            continue;
        }
        // Labels move with their lines: each has what lies half way to its neighbours.
        for pair in layer.windows(2) {
            let border = (right(pair[0]) + left(pair[1])) / 2.0;
            (free[pair[0]].1, free[pair[1]].0) = (border, border);
        }
        for &place in layer {
            let room = layout.rooms[place];
            free[place] = (free[place].0 + room.left, free[place].1 - room.right);
        }
    }
    for (place, (low, high)) in free.iter_mut().enumerate() {
        // Where it stands now is always possible.
        let x = layout.points[place].x;
        (*low, *high) = (low.min(x), high.max(x));
    }
    free
}

/// On a layer of vertices: between the boxes to the left and right, leaving room for the lines between it and them. For
/// a box, where its own lines may go.
fn between_boxes(layout: &Layout, layer: &[usize], free: &mut [(f64, f64)]) {
    let is_box = |place: usize| matches!(layout.layered.items[place], Item::Vertex(_));
    let mut wall = -CLEAR;
    for &place in layer {
        if is_box(place) {
            free[place].0 = wall + CLEAR;
            wall = layout.points[place].x + layout.rooms[place].right;
        } else {
            wall += CLEAR;
            free[place].0 = wall;
        }
    }
    let mut wall = layout.width + CLEAR;
    for &place in layer.iter().rev() {
        if is_box(place) {
            free[place].1 = wall - CLEAR;
            wall = layout.points[place].x - layout.rooms[place].left;
        } else {
            wall -= CLEAR;
            free[place].1 = wall;
        }
    }
}

/// Where each route leaves its upper vertex and meets its lower one: side by side, in the order in which they go on.
fn ends(layout: &Layout, reach: impl Fn(usize) -> Reach) -> Vec<((f64, f64), (f64, f64))> {
    let routes = &layout.layered.routes;
    let mut ends = vec![((0.0, 0.0), (0.0, 0.0)); routes.len()];
    // For each place, the routes at its upper and at its lower side.
    let mut sides: Vec<[Vec<(f64, usize)>; 2]> = vec![Default::default(); layout.points.len()];
    for (number, route) in routes.iter().enumerate() {
        let (first, last) = (route.places[0], route.places[route.places.len() - 1]);
        sides[first][1].push((layout.points[route.places[1]].x, number));
        sides[last][0].push((layout.points[route.places[route.places.len() - 2]].x, number));
    }
    for (place, item) in layout.layered.items.iter().enumerate() {
        let Item::Vertex(vertex) = *item else { continue };
        let Point { x, y, .. } = layout.points[place];
        let Reach { wide, high, round } = reach(vertex);
        for (side, routes) in sides[place].iter_mut().enumerate() {
            routes.sort_by(|a, b| a.0.total_cmp(&b.0));
            let step = (wide * 0.7 / routes.len().max(1) as f64).min(18.0);
            let middle = routes.len().saturating_sub(1) as f64 / 2.0;
            for (index, &(_, route)) in routes.iter().enumerate() {
                let dx = (index as f64 - middle) * step;
                let dy = if round { (high * high / 4.0 - dx * dx).max(0.0).sqrt() } else { high / 2.0 };
                match side {
                    0 => ends[route].1 = (x + dx, y - dy),
                    _ => ends[route].0 = (x + dx, y + dy),
                }
            }
        }
    }
    ends
}

/// A smooth line through points that go down, nowhere further left or right than the points are (the monotone
/// interpolation of Fritsch and Carlson).
pub(super) fn curve(points: &[(f64, f64)]) -> String {
    let mut path = String::new();
    for (at, &(x, y)) in points.iter().enumerate() {
        if at == 0 {
            let _ = write!(path, "M{x:.1} {y:.1}");
            continue;
        }
        let (from, above) = points[at - 1];
        let third = (y - above) / 3.0;
        let (x1, x2) = (from + tangent(points, at - 1) * third, x - tangent(points, at) * third);
        let _ = write!(path, "C{x1:.1} {:.1} {x2:.1} {:.1} {x:.1} {y:.1}", above + third, y - third);
    }
    path
}

/// How far a line moves to the right per unit down, at one of its points. At its ends it is steep, so that it meets a
/// box from above or below.
pub(super) fn tangent(points: &[(f64, f64)], at: usize) -> f64 {
    let slope = |at: usize| {
        let ((x0, y0), (x1, y1)) = (points[at], points[at + 1]);
        (x1 - x0) / (y1 - y0).max(0.1)
    };
    if points.len() < 2 {
        return 0.0;
    }
    if at == 0 || at + 1 == points.len() {
        return (slope(at.min(points.len() - 2)) * 0.7).clamp(-0.9, 0.9);
    }
    let (above, below) = (slope(at - 1), slope(at));
    if above * below <= 0.0 { 0.0 } else { 2.0 * above * below / (above + below) }
}

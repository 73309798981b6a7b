//! Graphs as pictures that a browser shows.
//!
//! States are boxes with their name and label, a double border where a trace may end; connectives are small circles.
//! Edges run down from layer to layer, those that close a cycle run up, and edges to the previous position are dashed.
//! Colours are readable on light and on dark ground.

use super::layers::{Item, Layers};
use super::layout::{Layout, Point, Room, layout};
use super::route::{Reach, curve, lines, tangent};
use super::text::{width, wrap};
use super::{Graph, Kind, Sample, Weight};
use std::fmt::Write;
use tw_core::xml;

/// Most vertices of a picture: nobody reads more, and the order on the layers takes long.
const VERTICES: usize = 2_000;
/// Most edges.
const EDGES: usize = 20_000;
/// Layers that edges may cross together before the longest are drawn straight.
const PLACES: usize = 10_000;

/// A column of the font of labels, and a line.
const COLUMN: f64 = 7.25;
const LINE: f64 = 16.0;
/// Radius of a junction.
const JUNCTION: f64 = 10.0;
/// Around the picture, and between the text of a box and its border.
const MARGIN: f64 = 16.0;
const PADDING: f64 = 9.0;
/// Length of the arrow to an initial vertex, and how far a loop reaches out.
const START: f64 = 30.0;
const LOOP: f64 = 30.0;

const STYLE: &str = "\
text { font: 12px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace; }
.title { font-weight: bold; font-size: 13px; fill: #64748b; }
.name { font-size: 10px; fill: #64748b; }
.state { fill: #0f172a; }
.when { fill: #64748b; font-size: 11px; }
.box { fill: #f8fafc; stroke: #64748b; stroke-width: 1.4; }
.true { fill: #bbf7d0; stroke: #15803d; }
.false { fill: #fecaca; stroke: #b91c1c; }
.inner { fill: none; }
.edge { fill: none; stroke: #64748b; stroke-width: 1.4; }
.past { stroke-dasharray: 5 4; }
.head { fill: #64748b; }
.rare { stroke: #d97706; }
.head.rare { fill: #d97706; stroke: none; }
@media (prefers-color-scheme: dark) {
.title, .when { fill: #cbd5e1; }
.edge { stroke: #94a3b8; }
.head { fill: #94a3b8; }
.edge.rare { stroke: #f59e0b; }
.head.rare { fill: #f59e0b; }
}
";

/// A graph too large for a picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TooLarge {
    /// Its vertices.
    pub vertices: usize,
    /// Its edges.
    pub edges: usize,
}

impl std::fmt::Display for TooLarge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let TooLarge { vertices, edges } = self;
        write!(f, "{vertices} vertices and {edges} edges are too many for a picture")?;
        write!(f, " (the limits are {VERTICES} and {EDGES}); DOT and JSON have no limit")
    }
}

impl std::error::Error for TooLarge {}

impl Graph {
    /// A picture of it.
    pub fn to_svg(&self) -> Result<String, TooLarge> {
        if self.vertices.len() > VERTICES || self.edges.len() > EDGES {
            return Err(TooLarge { vertices: self.vertices.len(), edges: self.edges.len() });
        }
        let layers = Layers::new(self, PLACES);
        let boxes = Boxes::new(self, &layers);
        let layout = layout(layers, |item| boxes.room(item));
        let title = wrap(&self.title, 88, 4);
        let title_width = title.iter().map(|line| width(line) as f64 * 8.0).fold(0.0, f64::max);
        let wide = layout.width.max(title_width).max(legend_width(&self.legend)) + 2.0 * MARGIN;
        let titled = MARGIN + if title.is_empty() { 0.0 } else { title.len() as f64 * LINE + 8.0 };
        let above = titled + self.legend.len() as f64 * LINE;
        let high = above + layout.height + MARGIN;
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{wide:.0}\" height=\"{high:.0}\" viewBox=\"0 0 \
             {wide:.0} {high:.0}\" role=\"img\">\n<title>{}</title>\n<style>\n{STYLE}</style>\n",
            xml(&self.title)
        );
        for (number, line) in title.iter().enumerate() {
            let y = MARGIN + number as f64 * LINE + 11.0;
            text(&mut out, "title", "start", MARGIN, y, line);
        }
        legend(&mut out, &self.legend, titled - 4.0);
        let left = (wide - layout.width) / 2.0;
        let _ = writeln!(out, "<g transform=\"translate({left:.1} {above:.1})\">");
        let picture = Picture { graph: self, boxes: &boxes, layout: &layout };
        picture.edges(&mut out);
        picture.vertices(&mut out);
        out.push_str("</g>\n</svg>\n");
        Ok(out)
    }
}

/// Width of the sample of a line in the legend.
const SAMPLE: f64 = 34.0;

fn legend_width(legend: &[(Sample, String)]) -> f64 {
    legend.iter().map(|(_, said)| SAMPLE + width(said) as f64 * COLUMN).fold(0.0, f64::max)
}

/// What lines and borders mean, one below the other.
fn legend(out: &mut String, legend: &[(Sample, String)], top: f64) {
    for (number, (sample, said)) in legend.iter().enumerate() {
        let (x, y) = (MARGIN, top + number as f64 * LINE + LINE / 2.0);
        let end = x + SAMPLE - 8.0;
        let mut path = |class: &str, from: f64, to: f64, wide: u32| {
            let wide = f64::from(wide) / 10.0;
            let _ = writeln!(
                out,
                "<path class=\"{class}\" style=\"stroke-width:{wide:.1}\" d=\"M{from:.1} {y:.1}H{to:.1}\"/>"
            );
        };
        match sample {
            Sample::Widths => {
                let third = (end - x) / 3.0;
                for (step, weight) in [0u8, 2, 4].into_iter().enumerate() {
                    let from = x + step as f64 * third;
                    path("edge", from, from + third - 1.0, Weight::Common(weight).width());
                }
            }
            Sample::Rare => path("edge rare", x, end, Weight::Rare.width()),
            Sample::Dashed => path("edge past", x, end, Weight::Plain.width()),
            Sample::End => {
                rect(out, "box", x + 4.0, y - 6.0, 18.0, 12.0, 4.0);
                rect(out, "box inner", x + 6.5, y - 3.5, 13.0, 7.0, 2.5);
            }
        }
        text(out, "when", "start", x + SAMPLE, y + 4.0, said);
    }
}

fn text(out: &mut String, class: &str, anchor: &str, x: f64, y: f64, line: &str) {
    let line = xml(line);
    let _ = writeln!(
        out,
        "<text class=\"{class}\" text-anchor=\"{anchor}\" xml:space=\"preserve\" x=\"{x:.1}\" y=\"{y:.1}\">{line}</text>"
    );
}

/// What is written where, and the room it takes.
struct Boxes {
    /// Lines, width and height of each vertex.
    vertices: Vec<(Vec<String>, f64, f64)>,
    /// Lines on each edge.
    labels: Vec<Vec<String>>,
    /// Lines on the loop of each vertex; `None` without a loop.
    loops: Vec<Option<Vec<String>>>,
    initial: Vec<bool>,
}

fn longest(lines: &[String]) -> f64 {
    lines.iter().map(|line| width(line) as f64 * COLUMN).fold(0.0, f64::max)
}

impl Boxes {
    fn new(graph: &Graph, layers: &Layers) -> Self {
        let vertices = graph.vertices.iter().map(|vertex| {
            if vertex.kind.is_junction() {
                return (Vec::new(), 2.0 * JUNCTION, 2.0 * JUNCTION);
            }
            if vertex.kind == Kind::State {
                let lines = wrap(&vertex.label, 30, 7);
                let wide = (longest(&lines) + 2.0 * PADDING).max(32.0);
                let high = lines.len() as f64 * LINE + PADDING;
                return (lines, wide, high);
            }
            let lines = if vertex.label == vertex.name { Vec::new() } else { wrap(&vertex.label, 30, 7) };
            let name = width(&vertex.name) as f64 * COLUMN;
            let wide = (longest(&lines).max(name) + 2.0 * PADDING).max(44.0);
            (lines.clone(), wide, lines.len() as f64 * LINE + 12.0 + 2.0 * PADDING)
        });
        let mut loops = vec![None; graph.vertices.len()];
        for &edge in &layers.selfs {
            let lines: &mut Vec<String> = loops[graph.edges[edge].from].get_or_insert_default();
            lines.extend(wrap(&graph.edges[edge].label, 24, 4));
        }
        let mut initial = vec![false; graph.vertices.len()];
        graph.initial.iter().for_each(|&vertex| initial[vertex] = true);
        Boxes {
            vertices: vertices.collect(),
            labels: graph.edges.iter().map(|edge| wrap(&edge.label, 24, 4)).collect(),
            loops,
            initial,
        }
    }

    fn room(&self, item: Item) -> Room {
        match item {
            Item::Passing(_) => Room { left: 2.0, right: 2.0, height: 0.0 },
            // The edge passes to the left of its label.
            Item::Label(edge) => {
                let lines = &self.labels[edge];
                Room { left: 4.0, right: longest(lines) + 8.0, height: lines.len() as f64 * (LINE - 2.0) }
            }
            Item::Vertex(vertex) => {
                let (_, wide, high) = self.vertices[vertex];
                let (mut right, mut height) = (wide / 2.0, high);
                if let Some(lines) = &self.loops[vertex] {
                    right += LOOP + longest(lines);
                    height = height.max(lines.len() as f64 * (LINE - 2.0));
                }
                let left = wide / 2.0 + if self.initial[vertex] { START } else { 0.0 };
                Room { left, right, height }
            }
        }
    }
}

struct Picture<'a> {
    graph: &'a Graph,
    boxes: &'a Boxes,
    layout: &'a Layout,
}

impl Picture<'_> {
    fn edges(&self, out: &mut String) {
        let reach = |vertex: usize| {
            let (_, wide, high) = self.boxes.vertices[vertex];
            let round = self.graph.vertices[vertex].kind.is_junction();
            Reach { wide, high, round }
        };
        let lines = lines(self.layout, reach);
        for (route, mut points) in self.layout.layered.routes.iter().zip(lines) {
            for &place in &route.places {
                if self.layout.layered.items[place] == Item::Label(route.edge) {
                    // Beside the line, wherever it was pulled to.
                    let Point { y, height, .. } = self.layout.points[place];
                    let beside = points.iter().filter(|point| (point.1 - y).abs() < height / 2.0 + 1.0);
                    let x = beside.map(|point| point.0).fold(0.0, f64::max);
                    self.label(out, x + 6.0, y, &self.boxes.labels[route.edge]);
                }
            }
            if let ([_, _], &[(x0, y0), .., (x1, y1)]) = (&route.places[..], &points[..]) {
                self.label(out, (x0 + x1) / 2.0 + 6.0, (y0 + y1) / 2.0, &self.boxes.labels[route.edge]);
            }
            // The head points along the line, and the line stops within the head.
            let at = if route.upward { 0 } else { points.len() - 1 };
            let down = if route.upward { -1.0 } else { 1.0 };
            let slope = tangent(&points, at) * down;
            let (x, y) = points[at];
            let weight = self.graph.edges[route.edge].weight;
            head(out, x, y, (slope, down), weight);
            let length = slope.hypot(down);
            points[at] = (x - 6.0 * slope / length, y - 6.0 * down / length);
            let look = look(self.graph.edges[route.edge].past, weight);
            let _ = writeln!(out, "<path {look} d=\"{}\"/>", curve(&points));
        }
        for (vertex, lines) in self.boxes.loops.iter().enumerate() {
            let Some(lines) = lines else { continue };
            let at = self.vertex_point(vertex);
            let x = at.x + self.boxes.vertices[vertex].1 / 2.0;
            let own = self.graph.edges.iter().find(|edge| edge.from == vertex && edge.to == vertex);
            let (past, weight) = own.map_or((false, Weight::Plain), |edge| (edge.past, edge.weight));
            let look = look(past, weight);
            let (y, far) = (at.y, x + LOOP);
            let _ = writeln!(
                out,
                "<path {look} d=\"M{x:.1} {:.1}C{far:.1} {:.1} {far:.1} {:.1} {:.1} {:.1}\"/>",
                y - 7.0,
                y - 20.0,
                y + 20.0,
                x + 6.0,
                y + 8.5
            );
            head(out, x, y + 7.0, (-1.0, -0.35), weight);
            self.label(out, x + LOOP - 4.0, y, lines);
        }
    }

    fn label(&self, out: &mut String, x: f64, y: f64, lines: &[String]) {
        let step = LINE - 2.0;
        let top = y - lines.len() as f64 * step / 2.0 + step / 2.0 + 4.0;
        for (number, line) in lines.iter().enumerate() {
            text(out, "when", "start", x, top + number as f64 * step, line);
        }
    }

    fn vertex_point(&self, vertex: usize) -> Point {
        let at = self.layout.layered.items.iter().position(|&item| item == Item::Vertex(vertex));
        at.map_or_else(Point::default, |place| self.layout.points[place])
    }

    fn vertices(&self, out: &mut String) {
        for (place, item) in self.layout.layered.items.iter().enumerate() {
            let Item::Vertex(index) = *item else { continue };
            let vertex = &self.graph.vertices[index];
            let Point { x, y, .. } = self.layout.points[place];
            let (lines, wide, high) = &self.boxes.vertices[index];
            let _ = writeln!(out, "<g><title>{}: {}</title>", xml(&vertex.name), xml(&vertex.label));
            if self.boxes.initial[index] {
                let (from, to) = (x - wide / 2.0 - START + 4.0, x - wide / 2.0);
                let _ = writeln!(out, "<circle class=\"head\" cx=\"{from:.1}\" cy=\"{y:.1}\" r=\"3\"/>");
                let _ = writeln!(out, "<path class=\"edge\" d=\"M{from:.1} {y:.1}H{:.1}\"/>", to - 6.0);
                head(out, to, y, (1.0, 0.0), Weight::Plain);
            }
            if vertex.kind.is_junction() {
                let sign = if vertex.kind == Kind::And { "∧" } else { "∨" };
                let _ = writeln!(out, "<circle class=\"box\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{JUNCTION}\"/>");
                text(out, "state", "middle", x, y + 4.0, sign);
            } else {
                let class = match vertex.kind {
                    Kind::True => "box true",
                    Kind::False => "box false",
                    _ => "box",
                };
                let (left, top) = (x - wide / 2.0, y - high / 2.0);
                rect(out, class, left, top, *wide, *high, 8.0);
                if matches!(vertex.kind, Kind::Accepting | Kind::True) || self.graph.ends.contains(&index) {
                    let inner = format!("{class} inner");
                    rect(out, &inner, left + 3.0, top + 3.0, wide - 6.0, high - 6.0, 5.5);
                }
                let mut first = top + PADDING + 24.0;
                if vertex.kind == Kind::State {
                    first = top + PADDING / 2.0 + 12.0;
                } else {
                    text(out, "name", "middle", x, top + PADDING + 9.0, &vertex.name);
                }
                for (number, line) in lines.iter().enumerate() {
                    let y = first + number as f64 * LINE;
                    text(out, "state", "middle", x, y, line);
                }
            }
            out.push_str("</g>\n");
        }
    }
}

fn rect(out: &mut String, class: &str, x: f64, y: f64, wide: f64, high: f64, radius: f64) {
    let _ = writeln!(
        out,
        "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{wide:.1}\" height=\"{high:.1}\" rx=\"{radius}\"/>"
    );
}

/// How a line is drawn.
fn look(past: bool, weight: Weight) -> String {
    let past = if past { " past" } else { "" };
    match weight {
        Weight::Plain => format!("class=\"edge{past}\""),
        Weight::Rare => format!("class=\"edge rare{past}\""),
        Weight::Common(_) => {
            let wide = f64::from(weight.width()) / 10.0;
            format!("class=\"edge{past}\" style=\"stroke-width:{wide:.1}\"")
        }
    }
}

/// An arrow head with its tip at a point.
fn head(out: &mut String, x: f64, y: f64, towards: (f64, f64), weight: Weight) {
    let class = if weight == Weight::Rare { "head rare" } else { "head" };
    let length = towards.0.hypot(towards.1);
    let (dx, dy) = (towards.0 / length, towards.1 / length);
    let (back_x, back_y) = (x - 8.5 * dx, y - 8.5 * dy);
    let _ = writeln!(
        out,
        "<path class=\"{class}\" d=\"M{x:.1} {y:.1}L{:.1} {:.1}L{:.1} {:.1}Z\"/>",
        back_x - 3.6 * dy,
        back_y + 3.6 * dx,
        back_x + 3.6 * dy,
        back_y - 3.6 * dx
    );
}

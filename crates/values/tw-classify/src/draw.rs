//! Holograms as pictures: a tree of lines for terminals, DOT, and SVG cards.

use crate::tree::Tree;
use crate::truth::{Kleene, Truth};
use std::fmt::Write;

/// A class to be drawn.
pub struct Card<'a> {
    /// What stands above the tree, most important first.
    pub title: String,
    /// The sentence below it.
    pub note: String,
    /// The hologram.
    pub tree: &'a Tree,
}

/// The tree, one node a line, with branches; at most so many lines.
pub fn lines(tree: &Tree, most: usize) -> Vec<String> {
    let mut lines = Vec::new();
    // Of each node the text of the branches before it.
    let mut todo: Vec<(usize, String, &str)> = vec![(0, String::new(), "")];
    while let Some((at, before, branch)) = todo.pop() {
        let node = &tree.nodes[at];
        if lines.len() >= most {
            lines.push(format!("{before}…"));
            return lines;
        }
        let edge = node.edge.as_ref().map_or(String::new(), |edge| format!("{edge}: "));
        lines.push(format!("{before}{branch}{edge}{} {}", node.label, node.truth.sign()));
        let below = match branch {
            "├─ " => format!("{before}│  "),
            "└─ " => format!("{before}   "),
            _ => before,
        };
        let last = node.children.len().saturating_sub(1);
        for (nth, &child) in node.children.iter().enumerate().rev() {
            todo.push((child, below.clone(), if nth == last { "└─ " } else { "├─ " }));
        }
    }
    if tree.more {
        lines.push("…".into());
    }
    lines
}

fn colors(truth: Truth) -> (&'static str, &'static str) {
    match truth {
        Truth::True => ("#e3f4e6", "#2e7d44"),
        Truth::False => ("#fde7e7", "#b3261e"),
        Truth::Unknown => ("#fff4d6", "#8a6100"),
    }
}

fn in_dot(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', " ")
}

/// All cards as one graph.
pub fn dot(cards: &[Card<'_>]) -> String {
    let mut out = String::from(
        "digraph classes {\n  node [shape=box, style=\"rounded,filled\", fontname=\"sans-serif\"];\n",
    );
    for (number, card) in cards.iter().enumerate() {
        let _ = writeln!(out, "  subgraph cluster_{number} {{\n    label=\"{}\";", in_dot(&card.title));
        for (at, node) in card.tree.nodes.iter().enumerate() {
            let (fill, line) = colors(node.truth);
            let text = in_dot(&format!("{} {}", node.label, node.truth.sign()));
            let _ = writeln!(
                out,
                "    n{number}_{at} [label=\"{text}\", fillcolor=\"{fill}\", color=\"{line}\"];"
            );
            for &child in &node.children {
                let edge = card.tree.nodes[child]
                    .edge
                    .as_deref()
                    .map_or(String::new(), |edge| format!(" [label=\"{}\"]", in_dot(edge)));
                let _ = writeln!(out, "    n{number}_{at} -> n{number}_{child}{edge};");
            }
        }
        out.push_str("  }\n");
    }
    out.push_str("}\n");
    out
}

const ROW: f64 = 54.0;
const GAP: f64 = 14.0;
const PAD: f64 = 18.0;
const LETTER: f64 = 7.3;
/// Nodes of one card in a picture.
const DRAWN: usize = 60;
const WIDEST_LABEL: usize = 28;

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn clip(text: &str, most: usize) -> String {
    match text.chars().count() > most {
        true => text.chars().take(most.saturating_sub(1)).chain(['…']).collect(),
        false => text.to_string(),
    }
}

/// A node of a picture.
struct Box {
    center: f64,
    top: f64,
    width: f64,
    text: String,
    truth: Truth,
    edge: Option<String>,
    parent: Option<usize>,
}

/// Places the nodes of a tree: leaves side by side, parents over the middle of their children. Returns width and depth too.
fn layout(tree: &Tree) -> (Vec<Box>, f64, usize) {
    let shown = tree.nodes.len().min(DRAWN);
    let mut boxes: Vec<Box> = Vec::with_capacity(shown);
    let mut depth = vec![0usize; shown];
    let mut parents = vec![None; shown];
    for (at, node) in tree.nodes.iter().take(shown).enumerate() {
        for &child in node.children.iter().filter(|child| **child < shown) {
            (depth[child], parents[child]) = (depth[at] + 1, Some(at));
        }
        let more = node.children.iter().any(|child| *child >= shown)
            || (tree.more && node.children.is_empty() && at + 1 == shown);
        let text = format!(
            "{} {}{}",
            clip(&node.label, WIDEST_LABEL),
            node.truth.sign(),
            if more { " …" } else { "" }
        );
        let width = (text.chars().count() as f64 * LETTER + 18.0).max(34.0);
        boxes.push(Box {
            center: 0.0,
            top: 0.0,
            width,
            text,
            truth: node.truth,
            edge: node.edge.as_ref().map(|edge| clip(edge, 16)),
            parent: parents[at],
        });
    }
    // Widths of subtrees, from the last node up; then places, from the first down.
    let mut span: Vec<f64> = boxes.iter().map(|own| own.width).collect();
    let children = |at: usize| tree.nodes[at].children.iter().copied().filter(|child| *child < shown);
    for at in (0..shown).rev() {
        let below: f64 = children(at).map(|child| span[child] + GAP).sum::<f64>() - GAP;
        span[at] = span[at].max(below);
    }
    let mut left = vec![0.0; shown];
    for at in 0..shown {
        boxes[at].center = left[at] + span[at] / 2.0;
        boxes[at].top = depth[at] as f64 * ROW;
        let below: f64 = children(at).map(|child| span[child] + GAP).sum::<f64>() - GAP;
        let mut next = left[at] + (span[at] - below) / 2.0;
        for child in children(at) {
            left[child] = next;
            next += span[child] + GAP;
        }
    }
    let deepest = depth.iter().max().copied().unwrap_or(0);
    (boxes, span[0], deepest)
}

/// Cards one below the other.
pub fn svg(cards: &[Card<'_>]) -> String {
    let laid: Vec<_> = cards.iter().map(|card| layout(card.tree)).collect();
    let text_width = |card: &Card<'_>| card.title.chars().count().min(110) as f64 * 8.2;
    let widest =
        laid.iter().zip(cards).map(|((_, width, _), card)| width.max(text_width(card))).fold(420.0, f64::max);
    let width = widest + 4.0 * PAD;
    let note_letters = (((width - 4.0 * PAD) / 6.4) as usize).max(40);
    let (mut body, mut top) = (String::new(), PAD);
    for (card, (boxes, own, depth)) in cards.iter().zip(&laid) {
        let notes = wrap(&card.note, note_letters);
        let tree_top = 44.0 + notes.len() as f64 * 17.0 + 10.0;
        let height = tree_top + *depth as f64 * ROW + 26.0 + PAD;
        let (_, line) = colors(card.tree.nodes[0].truth);
        let _ = writeln!(
            body,
            "<rect x=\"{PAD}\" y=\"{top}\" width=\"{:.1}\" height=\"{height:.1}\" rx=\"10\" fill=\"#ffffff\" stroke=\"#d5d8de\"/>\n\
             <rect x=\"{PAD}\" y=\"{top}\" width=\"6\" height=\"{height:.1}\" rx=\"3\" fill=\"{line}\"/>",
            width - 2.0 * PAD
        );
        let left = 2.0 * PAD;
        let _ = writeln!(
            body,
            "<text x=\"{left}\" y=\"{:.1}\" font-size=\"15\" font-weight=\"600\" fill=\"#1c2330\">{}</text>",
            top + 27.0,
            escape(&clip(&card.title, 110))
        );
        for (nth, text) in notes.iter().enumerate() {
            let _ = writeln!(
                body,
                "<text x=\"{left}\" y=\"{:.1}\" font-size=\"12.5\" fill=\"#4b5565\">{}</text>",
                top + 47.0 + nth as f64 * 17.0,
                escape(text)
            );
        }
        let shift = left + ((width - 4.0 * PAD) - own).max(0.0) / 2.0;
        for node in boxes {
            if let Some(parent) = node.parent.map(|parent| &boxes[parent]) {
                let (x, y) = (shift + node.center, top + tree_top + node.top);
                let (px, py) = (shift + parent.center, top + tree_top + parent.top + 26.0);
                let middle = (y + py) / 2.0;
                let _ = writeln!(
                    body,
                    "<path d=\"M{px:.1} {py:.1}C{px:.1} {middle:.1} {x:.1} {middle:.1} {x:.1} {y:.1}\" fill=\"none\" stroke=\"#9aa3b2\"/>"
                );
            }
        }
        for node in boxes {
            let (x, y) = (shift + node.center, top + tree_top + node.top);
            let (fill, line) = colors(node.truth);
            let _ = writeln!(
                body,
                "<rect x=\"{:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"26\" rx=\"7\" fill=\"{fill}\" stroke=\"{line}\"/>\n\
                 <text x=\"{x:.1}\" y=\"{:.1}\" font-size=\"12.5\" text-anchor=\"middle\" font-family=\"ui-monospace, Menlo, Consolas, monospace\" fill=\"{line}\">{}</text>",
                x - node.width / 2.0,
                node.width,
                y + 17.5,
                escape(&node.text)
            );
            if let Some(edge) = &node.edge {
                let _ = writeln!(
                    body,
                    "<text x=\"{:.1}\" y=\"{:.1}\" font-size=\"11\" text-anchor=\"middle\" fill=\"#4b5565\">{}</text>",
                    x,
                    y - 5.0,
                    escape(edge)
                );
            }
        }
        top += height + PAD;
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{top:.0}\" viewBox=\"0 0 {width:.0} {top:.0}\" \
         font-family=\"Inter, 'Segoe UI', Helvetica, Arial, sans-serif\">\n<rect width=\"{width:.0}\" height=\"{top:.0}\" fill=\"#f5f6f8\"/>\n{body}</svg>\n"
    )
}

/// A text in lines of at most so many letters.
fn wrap(text: &str, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= most => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(clip(word, most)),
        }
        if lines.len() > 4 {
            lines.truncate(4);
            if let Some(last) = lines.last_mut() {
                last.push('…');
            }
            break;
        }
    }
    lines
}

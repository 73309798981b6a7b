//! Why a trace is in its class, in one sentence.

use crate::tree::{Node, Tree};
use crate::truth::Truth;
use tw_core::Position;
use tw_ir::NodeId;

/// What the sentence needs from whoever knows the specification and the log.
pub struct Speaker<'a> {
    /// A part of the formula as its author wrote it.
    pub part: &'a dyn Fn(NodeId) -> String,
    /// A position as the log counts it: `position 17 (log.jsonl:18)`.
    pub place: &'a dyn Fn(Position) -> String,
}

/// Steps from the root that a sentence tells.
const STEPS: usize = 6;
/// Children of one node that it tells.
const TOLD: usize = 3;

/// Why the root is what it is, from a hologram without children that do not contribute.
pub fn sentence(tree: &Tree, speaker: &Speaker<'_>) -> String {
    let root = &tree.nodes[0];
    let part = quoted(root, speaker);
    let mut text = match root.truth {
        Truth::True => format!("{part} holds"),
        Truth::False => format!("{part} fails"),
        Truth::Unknown => format!("{part} is open"),
    };
    if let Some(why) = reasons(tree, root, speaker, STEPS) {
        text.push_str(": ");
        text.push_str(&why);
    } else if root.truth == Truth::Unknown {
        text.push_str(" when the trace ends");
    }
    text
}

fn quoted(node: &Node, speaker: &Speaker<'_>) -> String {
    let text = if node.leaf { node.label.clone() } else { (speaker.part)(node.node) };
    format!("`{text}`")
}

/// What the children of a node say, if it has any.
fn reasons(tree: &Tree, node: &Node, speaker: &Speaker<'_>, steps: usize) -> Option<String> {
    if steps == 0 || node.children.is_empty() {
        return None;
    }
    let told = node.children.iter().take(TOLD).map(|&child| {
        let child = &tree.nodes[child];
        let mut text = String::new();
        if child.at != node.at || node.label.starts_with(['G', 'F', 'H', 'O']) {
            text.push_str(&format!("at {} ", (speaker.place)(child.at)));
        }
        if let Some(edge) = &child.edge {
            text.push_str(&format!("for {edge} "));
        }
        text.push_str(&told(tree, child, speaker, steps - 1));
        text
    });
    let mut text = told.collect::<Vec<_>>().join(" and ");
    if node.children.len() > TOLD {
        text.push_str(&format!(" and {} more", node.children.len() - TOLD));
    }
    Some(text)
}

/// What is to be said of a node below the root.
fn told(tree: &Tree, node: &Node, speaker: &Speaker<'_>, steps: usize) -> String {
    // Connectives are told by their parts.
    if matches!(node.label.as_str(), "->" | "&" | "|" | "!")
        && let Some(text) = reasons(tree, node, speaker, steps + 1)
    {
        return text;
    }
    let part = quoted(node, speaker);
    let verdict = match (node.truth, node.leaf) {
        (Truth::True, _) => format!("{part} holds"),
        (Truth::False, _) => format!("{part} does not hold"),
        (Truth::Unknown, _) => format!("{part} is still open"),
    };
    let simple = node.leaf || node.label == "X" || node.label == "N";
    // Of many positions that all say the same, none is worth telling.
    let few = node.children.len() <= TOLD;
    match reasons(tree, node, speaker, steps).filter(|_| few && !simple) {
        Some(why) => format!("{verdict} ({why})"),
        None => verdict,
    }
}

//! A pruned hologram as a tree, to be shown.

use crate::formula::Kind;
use crate::name::{self, List, Name};
use crate::plan::Plan;
use crate::scan::{Class, Scan};
use crate::truth::{Kleene, Truth, connective};
use std::fmt::Write;
use tw_core::Position;
use tw_ir::NodeId;

/// A node of a hologram.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Operator, or leaf.
    pub label: String,
    /// Its truth.
    pub truth: Truth,
    /// The value that leads here from a quantifier.
    pub edge: Option<String>,
    /// Children, as indices; greater than its own.
    pub children: Vec<usize>,
    /// Whether it is a leaf of the formula.
    pub leaf: bool,
    /// The part of the formula.
    pub node: NodeId,
    /// Where in the trace.
    pub at: Position,
}

/// The hologram of a trace without positions, where temporal operators are unknown and have no children; none if the formula says
/// something about a first position.
pub fn of_nothing(plan: &Plan<'_>) -> Option<(Class, Tree)> {
    // Children before parents: of each place its truth and its name.
    let mut known: Vec<Option<(Truth, Name)>> = vec![None; plan.places.len()];
    for (at, place) in plan.places.iter().enumerate().rev() {
        let cell = &plan.formula.cells[place.cell as usize];
        let below = |nth: usize| known[*place.children.get(nth)? as usize];
        let (truth, mut list) = match &cell.kind {
            Kind::Step(_) | Kind::Walk(_) => (Truth::Unknown, List::EMPTY),
            // What a position decides; that is nothing here but for `true` and `false`.
            Kind::Leaf(_) => match cell.possible.iter().collect::<Vec<_>>()[..] {
                [one] => (one, List::EMPTY),
                _ => continue,
            },
            // Below the last level that is kept, nobody can tell.
            Kind::Quantifier { .. } => continue,
            _ if place.cut => continue,
            kind => match (below(0), below(place.children.len() - 1)) {
                (Some((a, _)), Some((b, _))) => (connective(kind, a, b), List::EMPTY),
                _ => continue,
            },
        };
        for nth in (0..place.children.len()).rev() {
            if let (false, Some((own, name))) = (cell.is_temporal(), below(nth))
                && plan.keeps(&cell.kind, truth, nth, own)
            {
                list.push(name);
            }
        }
        known[at] = Some((truth, name::tree(place.label, truth, list.name())));
    }
    let (truth, name) = known[0]?;
    let mut tree = Tree { nodes: Vec::new(), more: false };
    let mut todo = vec![(0, None)];
    while let Some((place, parent)) = todo.pop() {
        let (own, Some((truth, _))) = (&plan.places[place], known[place]) else { continue };
        let cell = &plan.formula.cells[own.cell as usize];
        let leaf = matches!(cell.kind, Kind::Leaf(_));
        let (label, node) = (cell.label.clone(), cell.node);
        tree.nodes.push(Node { label, truth, edge: None, children: Vec::new(), leaf, node, at: 0 });
        let number = tree.nodes.len() - 1;
        if let Some(parent) = parent {
            let parent: &mut Node = &mut tree.nodes[parent];
            parent.children.push(number);
        }
        let kept = own.children.iter().map(|&child| child as usize).enumerate().filter(|&(nth, child)| {
            !cell.is_temporal()
                && known[child].is_some_and(|(below, _)| plan.keeps(&cell.kind, truth, nth, below))
        });
        let kept: Vec<usize> = kept.map(|(_, child)| child).collect();
        todo.extend(kept.into_iter().rev().map(|child| (child, Some(number))));
    }
    Some((Class { name, truth }, tree))
}

/// A pruned hologram.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    /// Parents before children; the first is the root.
    pub nodes: Vec<Node>,
    /// Whether there is more than was wanted.
    pub more: bool,
}

impl Tree {
    /// The hologram of the one trace that the scan's columns hold, of all parts; at most so many nodes.
    pub fn new(scan: &mut Scan<'_>, len: usize, most: usize) -> Tree {
        scan.select(0, len);
        let truth = scan.root();
        let mut tree = Tree { nodes: Vec::new(), more: false };
        let mut todo = vec![(0, 0, truth, None, None)];
        while let Some((place, at, truth, edge, parent)) = todo.pop() {
            if tree.nodes.len() >= most {
                tree.more = true;
                break;
            }
            let own = &scan.plan.places[place];
            let cell = &scan.plan.formula.cells[own.cell as usize];
            let label = if scan.plan.rules.equalities { &cell.plain } else { &cell.label };
            let (label, leaf) = (label.clone(), matches!(cell.kind, Kind::Leaf(_)));
            tree.nodes.push(Node { label, truth, edge, children: Vec::new(), leaf, node: cell.node, at });
            let number = tree.nodes.len() - 1;
            if let Some(parent) = parent {
                let parent: &mut Node = &mut tree.nodes[parent];
                parent.children.push(number);
            }
            // Children are taken from the end, so that the first comes next.
            let room = (most + 1).saturating_sub(tree.nodes.len());
            let kept = kept(scan, place, at, truth, room);
            todo.extend(
                kept.into_iter().rev().map(|(edge, child, at, truth)| (child, at, truth, edge, Some(number))),
            );
        }
        tree
    }

    /// The tree in one line: `G-(->-(a+ X-(b-)))`.
    pub fn line(&self) -> String {
        let mut out = String::new();
        enum Step {
            Open(usize),
            Text(char),
        }
        let mut todo = vec![Step::Open(0)];
        while let Some(step) = todo.pop() {
            match step {
                Step::Text(text) => out.push(text),
                Step::Open(at) => {
                    let node = &self.nodes[at];
                    if let Some(edge) = &node.edge {
                        let _ = write!(out, "{edge}:");
                    }
                    let _ = write!(out, "{}{}", node.label, node.truth.sign());
                    if !node.children.is_empty() {
                        out.push('(');
                        todo.push(Step::Text(')'));
                        for (nth, &child) in node.children.iter().enumerate().rev() {
                            todo.push(Step::Open(child));
                            if nth > 0 {
                                todo.push(Step::Text(' '));
                            }
                        }
                    }
                }
            }
        }
        if self.more {
            out.push('…');
        }
        out
    }

    /// The weighted sum of the nodes that fail; `weight` is that of a part of the formula below others, from the root on.
    pub fn severity(&self, weight: impl Fn(NodeId) -> Option<f64>) -> f64 {
        let mut own = vec![1.0; self.nodes.len()];
        let mut sum = 0.0;
        for (at, node) in self.nodes.iter().enumerate() {
            if let Some(weight) = weight(node.node) {
                own[at] = weight;
            }
            for &child in &node.children {
                own[child] = own[at];
            }
            if node.truth == Truth::False {
                sum += own[at];
            }
        }
        sum
    }
}

type Kept = (Option<String>, usize, Position, Truth);

/// The children that the rules keep, in order; at most so many.
fn kept(scan: &mut Scan<'_>, place: usize, at: Position, truth: Truth, most: usize) -> Vec<Kept> {
    let plan = scan.plan;
    let own = &plan.places[place];
    if own.cut {
        return Vec::new();
    }
    let kind = plan.kind(place);
    match kind {
        Kind::Walk(applied) => {
            let Some((first, last)) = scan.range(place, applied, at, truth) else { return Vec::new() };
            let positions = (first..=last).map(|here| if applied.past { first + last - here } else { here });
            let children = positions.flat_map(|here| {
                let nth = (0..own.children.len()).rev();
                nth.map(move |nth| (nth, here))
            });
            let kept = children.filter_map(|(nth, here)| {
                let child = own.children[nth] as usize;
                let below = scan.truth(child, here);
                plan.keeps(kind, truth, nth, below).then_some((None, child, here, below))
            });
            kept.take(most).collect()
        }
        Kind::Step(applied) => {
            let child = own.children[0] as usize;
            let next = scan.neighbour(applied, at).into_iter();
            next.map(|next| (None, child, next, scan.truth(child, next))).collect()
        }
        Kind::Quantifier { values, .. } => {
            let mut kept = scan.values(place, at, truth);
            if plan.rules.quantifiers {
                kept.sort_by_cached_key(|&(_, child)| scan.name(child, at, scan.truth(child, at)));
            }
            let edge = |nth: usize| (!plan.rules.quantifiers).then(|| values[nth].0.clone());
            kept.into_iter()
                .map(|(nth, child)| (edge(nth), child, at, scan.truth(child, at)))
                .take(most)
                .collect()
        }
        _ => {
            let children = own.children.iter().map(|&child| child as usize).enumerate();
            let with = children.map(|(nth, child)| (nth, child, scan.truth(child, at)));
            let kept = with.filter(|&(nth, _, below)| plan.keeps(kind, truth, nth, below));
            kept.map(|(_, child, below)| (None, child, at, below)).collect()
        }
    }
}

//! Which constructs a formula uses: the basis for choosing an engine and for `explain`.

use crate::{Node, NodeId, Program};

/// The constructs of a formula.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fragment {
    /// Future operators.
    pub future: bool,
    /// Past operators.
    pub past: bool,
    /// Intervals on operators.
    pub metric: bool,
    /// Quantifiers or patterns with variables.
    pub first_order: bool,
    /// Experiments that return values.
    pub experiments: bool,
    /// Deepest nesting of temporal operators.
    pub temporal_depth: u32,
    /// Distinct nodes.
    pub nodes: usize,
}

impl Fragment {
    /// A name people know: `past LTL`, `MTL with past`, ….
    pub fn name(&self) -> String {
        let base = match (self.metric, self.future, self.past) {
            (true, true, true) => "metric temporal logic with past (MTL+past)",
            (true, _, true) => "past metric temporal logic (past MTL)",
            (true, _, _) => "metric temporal logic (MTL)",
            (_, true, true) => "linear temporal logic with past (LTL+past)",
            (_, false, true) => "past linear temporal logic (past LTL)",
            (_, true, false) => "linear temporal logic (LTL)",
            _ => "propositional logic",
        };
        let mut name = String::new();
        if self.first_order {
            name.push_str("first-order ");
        }
        name.push_str(base);
        if self.experiments {
            name.push_str(" with statistics");
        }
        name
    }
}

/// The fragment of the formula at `root`.
pub fn fragment(program: &Program, root: NodeId) -> Fragment {
    let reachable = reachable(program, &[root]);
    let mut fragment = Fragment { nodes: reachable.len(), ..Fragment::default() };
    let mut depth = vec![0u32; program.dag.len()];
    for &id in &reachable {
        let node = program.dag.node(id);
        let temporal = node.is_future() || node.is_past();
        depth[id.index()] =
            node.children().map(|c| depth[c.index()]).max().unwrap_or(0) + u32::from(temporal);
        fragment.future |= node.is_future();
        fragment.past |= node.is_past();
        fragment.metric |= node.interval().is_some();
        fragment.first_order |= is_first_order(node);
        fragment.experiments |= is_experiment(node);
        fragment.temporal_depth = fragment.temporal_depth.max(depth[id.index()]);
    }
    fragment
}

/// Whether the node needs bindings.
pub(crate) fn is_first_order(node: Node) -> bool {
    matches!(node, Node::Forall(..) | Node::Exists(..) | Node::Pattern(_) | Node::Variable(_))
}

/// Whether the node returns a value rather than a truth value.
pub(crate) fn is_experiment(node: Node) -> bool {
    matches!(
        node,
        Node::Emit(..)
            | Node::Both(..)
            | Node::Either(..)
            | Node::Fails(..)
            | Node::NextMap { .. }
            | Node::UntilMap { .. }
            | Node::Collect(..)
            | Node::CollectWhile(..)
            | Node::Default(..)
    )
}

pub(crate) fn reachable(program: &Program, from: &[NodeId]) -> Vec<NodeId> {
    let mut seen = vec![false; program.dag.len()];
    for id in from {
        seen[id.index()] = true;
    }
    for index in (0..program.dag.len()).rev() {
        if seen[index] {
            for child in program.dag.nodes()[index].children() {
                seen[child.index()] = true;
            }
        }
    }
    (0..program.dag.len() as u32).map(NodeId).filter(|id| seen[id.index()]).collect()
}

pub(crate) fn atoms(program: &Program) -> Vec<NodeId> {
    let dag = &program.dag;
    let roots: Vec<NodeId> = program.roots.iter().map(|root| root.node).collect();
    let reachable = reachable(program, &roots);
    // Local: a truth value that one position alone decides. Constants are left to the engines, and `if` terms,
    // comparisons and so on over local parts are local.
    let mut local = vec![false; dag.len()];
    for &id in &reachable {
        let node = dag.node(id);
        let itself = match node {
            Node::First | Node::Last => false,
            _ => !(node.is_future() || node.is_past() || is_first_order(node) || is_experiment(node)),
        };
        local[id.index()] = itself && node.children().all(|child| local[child.index()]);
    }
    let truth = |id: NodeId| {
        local[id.index()]
            && matches!(
                dag.node(id),
                Node::Truth(_)
                    | Node::Compare(..)
                    | Node::In(..)
                    | Node::Matches(..)
                    | Node::Not(_)
                    | Node::And(..)
                    | Node::Or(..)
                    | Node::Xor(..)
                    | Node::Implies(..)
                    | Node::Iff(..)
            )
    };
    // Connectives stay with the engines, which share and fuse them word by word: an atom is a predicate that
    // reads slots, not a combination of such.
    let mut atom = vec![false; dag.len()];
    for &id in &reachable {
        let connective = matches!(
            dag.node(id),
            Node::Not(_) | Node::And(..) | Node::Or(..) | Node::Xor(..) | Node::Implies(..) | Node::Iff(..)
        );
        atom[id.index()] = truth(id) && !connective;
    }
    // A predicate nested in a term (`if p then 1 else 2`) belongs to the enclosing predicate, unless a
    // formula uses it too.
    let mut used_by_formula = vec![false; dag.len()];
    for root in &roots {
        used_by_formula[root.index()] = true;
    }
    for index in (0..dag.len()).rev() {
        if !used_by_formula[index] || atom[index] {
            continue;
        }
        for child in dag.nodes()[index].children() {
            used_by_formula[child.index()] = true;
        }
    }
    reachable.into_iter().filter(|id| atom[id.index()] && used_by_formula[id.index()]).collect()
}

//! Which constructs a formula uses: the basis for choosing an engine and for `explain`.

use crate::{Node, NodeId, Program};
use rustc_hash::FxHashSet;

/// The constructs of a formula.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fragment {
    /// Future operators.
    pub future: bool,
    /// Past operators.
    pub past: bool,
    /// Intervals on operators.
    pub metric: bool,
    /// Quantifiers, patterns with variables, or aggregates over valuations.
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
    let reachable = program.reachable(&[root]);
    let mut fragment = Fragment { nodes: reachable.len(), ..Fragment::default() };
    let mut depth = vec![0u32; reachable.len()];
    for (place, &id) in reachable.iter().enumerate() {
        let node = program.dag.node(id);
        let below = |child: NodeId| reachable.binary_search(&child).map_or(0, |place| depth[place]);
        depth[place] = node.children().map(below).max().unwrap_or(0) + u32::from(node.is_temporal());
        fragment.future |= node.is_future();
        fragment.past |= node.is_past();
        fragment.metric |= node.interval().is_some();
        // A variable without a quantifier is the parameter of a map (`X{v => v + 1}`), which binds by itself.
        fragment.first_order |= node.is_first_order() && !matches!(node, Node::Variable(_));
        fragment.experiments |= node.is_experiment();
        fragment.temporal_depth = fragment.temporal_depth.max(depth[place]);
    }
    fragment
}

pub(crate) fn terms(program: &Program) -> Vec<NodeId> {
    let dag = &program.dag;
    let roots: Vec<NodeId> = program.roots.iter().map(|root| root.node).collect();
    let reachable = program.reachable(&roots);
    let mut terms: Vec<NodeId> = reachable
        .iter()
        .filter_map(|&id| match dag.node(id) {
            Node::Emit(_, term) | Node::Fails(_, term) | Node::Default(_, term) => Some(term),
            _ => None,
        })
        .filter(|term| !matches!(dag.node(*term), Node::Constant(_)))
        .collect();
    terms.extend(beside_variables(program, &reachable));
    terms.sort_unstable();
    terms.dedup();
    terms
}

/// The columns in predicates over quantified variables (`user` in `u == user`): no atom tells what they say there.
fn beside_variables(program: &Program, reachable: &[NodeId]) -> Vec<NodeId> {
    let dag = &program.dag;
    // A variable alone is the parameter of a map.
    let binds = |&id: &NodeId| dag.node(id).is_first_order() && !matches!(dag.node(id), Node::Variable(_));
    if !reachable.iter().any(binds) {
        return Vec::new();
    }
    let (mut first_order, mut predicates) = (vec![false; dag.len()], Vec::new());
    for &id in reachable {
        let node = dag.node(id);
        let own = node.is_first_order() || node.children().any(|child| first_order[child.index()]);
        first_order[id.index()] = own;
        if own && matches!(node, Node::Compare(..) | Node::In(..) | Node::Matches(..) | Node::Has(_)) {
            predicates.push(id);
        }
    }
    let mut slots = program.reachable(&predicates);
    slots.retain(|&id| matches!(dag.node(id), Node::Slot(_)));
    slots
}

pub(crate) fn guards(program: &Program) -> Vec<NodeId> {
    let dag = &program.dag;
    let roots: Vec<NodeId> = program.roots.iter().map(|root| root.node).collect();
    let mut below: Vec<NodeId> = roots.clone();
    for id in program.reachable(&roots) {
        match dag.node(id) {
            Node::Emit(formula, _) => below.push(formula),
            Node::Both(_, a, b) | Node::Either(_, a, b) | Node::CollectWhile(_, a, b) => below.extend([a, b]),
            Node::Fails(a, _) | Node::NextMap { body: a, .. } | Node::Collect(_, a) | Node::Default(a, _) => {
                below.push(a)
            }
            Node::UntilMap { pair, .. } => below.extend(dag.node(pair).children()),
            _ => {}
        }
    }
    below.retain(|id| !dag.node(*id).is_experiment());
    below.sort_unstable();
    below.dedup();
    below
}

/// Nodes of a program for each one that is looked up in a set, before a table of all nodes is made instead.
const SPARSE: usize = 32;

pub(crate) fn reachable(program: &Program, from: &[NodeId], leaf: impl Fn(NodeId) -> bool) -> Vec<NodeId> {
    let top = from.iter().map(|id| id.index() + 1).max().unwrap_or(0);
    // One of many formulas is not worth a look at all of them.
    if let Some(few) = few_reachable(program, from, &leaf, top / SPARSE) {
        return few;
    }
    let mut seen = vec![false; top];
    for id in from {
        seen[id.index()] = true;
    }
    for index in (0..top).rev() {
        if seen[index] && !leaf(NodeId(index as u32)) {
            for child in program.dag.nodes()[index].children() {
                seen[child.index()] = true;
            }
        }
    }
    (0..top as u32).map(NodeId).filter(|id| seen[id.index()]).collect()
}

/// The same where no more than `limit` nodes are reachable.
fn few_reachable(
    program: &Program,
    from: &[NodeId],
    leaf: &impl Fn(NodeId) -> bool,
    limit: usize,
) -> Option<Vec<NodeId>> {
    if from.len() > limit {
        return None;
    }
    let mut seen: FxHashSet<NodeId> = from.iter().copied().collect();
    let mut todo: Vec<NodeId> = seen.iter().copied().collect();
    while let Some(id) = todo.pop() {
        if seen.len() > limit {
            return None;
        }
        if !leaf(id) {
            todo.extend(program.dag.node(id).children().filter(|&child| seen.insert(child)));
        }
    }
    let mut found: Vec<NodeId> = seen.into_iter().collect();
    found.sort_unstable();
    Some(found)
}

pub(crate) fn atoms(program: &Program) -> Vec<NodeId> {
    let dag = &program.dag;
    let roots: Vec<NodeId> = program.roots.iter().map(|root| root.node).collect();
    let reachable = program.reachable(&roots);
    // Local: a truth value that one position alone decides. Constants are left to the engines, and `if` terms,
    // comparisons and so on over local parts are local.
    let mut local = vec![false; dag.len()];
    for &id in &reachable {
        let node = dag.node(id);
        let itself = match node {
            Node::First | Node::Last | Node::Chart(..) | Node::AllPaths(_) | Node::SomePath(_) => false,
            _ => !(node.is_temporal() || node.is_first_order() || node.is_experiment()),
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
                    | Node::Has(_)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Aggregate, Bound, CompareOp, Expect, Interval, Path, Pattern, PatternArgument, Root, RootKind, Slot,
        Temporal, What,
    };
    use crate::{ArgumentKey, display};
    use tw_core::Value;
    use tw_diag::Span;

    /// A program under construction, with propositions by name.
    #[derive(Default)]
    struct Make(Program);

    impl Make {
        fn slot(&mut self, what: What) -> u32 {
            self.0.slots.push(Slot { what, declared: false, span: Span::default() });
            (self.0.slots.len() - 1) as u32
        }

        fn p(&mut self, name: &str) -> NodeId {
            let slot = self.slot(What::Proposition(Path::field(name)));
            self.add(Node::Truth(slot))
        }

        fn x(&mut self, name: &str) -> NodeId {
            let slot = self.slot(What::Variable(Path::field(name), Expect::Number));
            self.add(Node::Slot(slot))
        }

        fn number(&mut self, number: i64) -> NodeId {
            self.0.dag.constant(Value::Int(number))
        }

        fn add(&mut self, node: Node) -> NodeId {
            self.0.dag.add(node)
        }

        fn root(&mut self, node: NodeId) {
            let (kind, span) = (RootKind::Property, Span::default());
            self.0.roots.push(Root {
                name: "r".into(),
                title: None,
                division: Default::default(),
                kind,
                node,
                span,
            });
        }

        fn atoms(&self) -> Vec<String> {
            self.0.atoms().into_iter().map(|id| display(&self.0, id)).collect()
        }
    }

    #[test]
    fn fragments_have_their_names() {
        let mut m = Make::default();
        let (p, q) = (m.p("p"), m.p("q"));
        let bound = |n: i128| Bound { billionths: n * 1_000_000_000, unit: None, open: false };
        let interval = Some(Interval { low: bound(0), high: Some(bound(5)) });
        let future = m.add(Node::Unary(Temporal::Finally, None, p));
        let past = m.add(Node::Binary(Temporal::Since, None, p, q));
        let mixed = m.add(Node::Unary(Temporal::Globally, None, past));
        let metric = m.add(Node::Unary(Temporal::Finally, interval, p));
        let metric_past = m.add(Node::Unary(Temporal::Once, interval, p));
        let metric_mixed = m.add(Node::And(metric, metric_past));
        let arguments = vec![(ArgumentKey::Index(0), PatternArgument::Variable(0))];
        m.0.dag.patterns.push(Pattern { name: "e".into(), arguments, arity: Some(1), slot: 0 });
        m.0.dag.variables = vec!["u".into(), "v".into()];
        let pattern = m.add(Node::Pattern(0));
        let forall = m.add(Node::Forall(0, pattern));
        let quantified = m.add(Node::Unary(Temporal::Globally, None, forall));
        let count = m.add(Node::Collect(Aggregate::Count, future));
        let parameter = m.add(Node::Variable(1));
        let mapped = m.add(Node::NextMap { body: count, result: parameter, parameter: 1 });
        for (node, name, depth) in [
            (p, "propositional logic", 0),
            (future, "linear temporal logic (LTL)", 1),
            (past, "past linear temporal logic (past LTL)", 1),
            (mixed, "linear temporal logic with past (LTL+past)", 2),
            (metric, "metric temporal logic (MTL)", 1),
            (metric_past, "past metric temporal logic (past MTL)", 1),
            (metric_mixed, "metric temporal logic with past (MTL+past)", 1),
            (quantified, "first-order linear temporal logic (LTL)", 1),
            (count, "linear temporal logic (LTL) with statistics", 1),
            (mapped, "linear temporal logic (LTL) with statistics", 1),
        ] {
            let found = fragment(&m.0, node);
            assert_eq!(
                (found.name().as_str(), found.temporal_depth),
                (name, depth),
                "{}",
                display(&m.0, node)
            );
        }
        // Shared nodes count once.
        assert_eq!(fragment(&m.0, metric_mixed).nodes, 4);
    }

    #[test]
    fn reachable_nodes_are_ascending_and_complete() {
        let mut m = Make::default();
        let (p, q) = (m.p("p"), m.p("q"));
        let unused = m.add(Node::Not(q));
        let next = m.add(Node::Unary(Temporal::Next, None, p));
        let root = m.add(Node::And(p, next));
        assert_eq!(m.0.reachable(&[root]), [p, next, root]);
        assert_eq!(m.0.reachable(&[unused, next]), [p, q, unused, next]);
        assert!(m.0.reachable(&[]).is_empty());
        assert_eq!(
            m.0.reachable_until(&[root, unused], |id| id == unused || id == next),
            [p, unused, next, root]
        );
        assert_eq!(m.0.reachable_until(&[next], |id| id == next), [next]);
    }

    #[test]
    fn atoms_are_predicates_not_connectives_nor_constants() {
        let mut m = Make::default();
        let (p, x) = (m.p("p"), m.x("x"));
        let three = m.number(3);
        let more = m.add(Node::Compare(CompareOp::Gt, x, three));
        let (yes, first) = (m.add(Node::Bool(true)), m.add(Node::First));
        let both = m.add(Node::And(p, more));
        let either = m.add(Node::Or(both, yes));
        let all = m.add(Node::Xor(either, first));
        let root = m.add(Node::Unary(Temporal::Globally, None, all));
        let unused = m.p("unused");
        m.add(Node::Not(unused));
        m.root(root);
        assert_eq!(m.atoms(), ["p", "x > 3"]);
    }

    #[test]
    fn a_condition_inside_a_term_is_no_atom_unless_a_formula_uses_it() {
        let mut m = Make::default();
        let (p, x) = (m.p("p"), m.x("x"));
        let (one, two) = (m.number(1), m.number(2));
        let term = m.add(Node::IfThenElse(p, one, two));
        let compare = m.add(Node::Compare(CompareOp::Lt, x, term));
        m.root(compare);
        assert_eq!(m.atoms(), ["x < if p then 1 else 2"]);
        let also = m.add(Node::Unary(Temporal::Finally, None, p));
        m.root(also);
        assert_eq!(m.atoms(), ["p", "x < if p then 1 else 2"]);
    }

    #[test]
    fn what_needs_a_binding_is_no_atom() {
        let mut m = Make::default();
        m.0.dag.variables = vec!["u".into()];
        let (u, x) = (m.add(Node::Variable(0)), m.x("x"));
        let compare = m.add(Node::Compare(CompareOp::Eq, u, x));
        let p = m.p("p");
        let both = m.add(Node::And(compare, p));
        let root = m.add(Node::Exists(0, both));
        m.root(root);
        assert_eq!(m.atoms(), ["p"]);
    }

    #[test]
    fn depth_costs_no_stack() {
        let mut m = Make::default();
        let mut node = m.p("p");
        for _ in 0..100_000 {
            node = m.add(Node::Unary(Temporal::Next, None, node));
        }
        m.root(node);
        assert_eq!(fragment(&m.0, node).temporal_depth, 100_000);
        assert_eq!(m.atoms(), ["p"]);
    }
}

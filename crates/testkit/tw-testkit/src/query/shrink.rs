//! Making a failing case small: fewer positions, fewer segments, smaller queries, as long as it still fails.

use super::{QueryCase, has_numbers};
use crate::shrink::{pieces, smallest};
use tw_ir::{Dag, Node, NodeId, Program};

/// The smallest case found, by greedy steps, on which `fails` still says yes.
pub fn shrink(case: QueryCase, fails: impl Fn(&QueryCase) -> bool) -> QueryCase {
    smallest(case, |case| candidates(case).find(&fails))
}

/// Cases one step smaller, the boldest first.
fn candidates(case: &QueryCase) -> impl Iterator<Item = QueryCase> + '_ {
    let roots = if case.program.roots.len() > 1 { case.program.roots.len() } else { 0 };
    let one_root = (0..roots).map(move |keep| {
        let mut smaller = case.clone();
        smaller.program.roots = vec![case.program.roots[keep].clone()];
        smaller
    });
    let whole = (case.starts.len() > 1).then(|| QueryCase { starts: vec![0], ..case.clone() });
    let shorter = pieces(case.len()).filter_map(move |(from, size)| without(case, from, size));
    let plain = (case.options.threads > 1 || case.options.block.is_some()).then(|| {
        let mut smaller = case.clone();
        (smaller.options.threads, smaller.options.block) = (1, None);
        smaller
    });
    let roots: Vec<NodeId> = case.program.roots.iter().map(|root| root.node).collect();
    let nodes = case.program.reachable(&roots);
    let simpler = nodes.into_iter().rev().flat_map(move |id| {
        let by = replacements(&case.program, id).into_iter();
        by.filter_map(move |by| replace(&case.program, id, by))
            .map(|program| QueryCase { program, ..case.clone() })
    });
    one_root.chain(whole).chain(shorter).chain(simpler).chain(plain)
}

/// The case without some positions.
fn without(case: &QueryCase, from: usize, size: usize) -> Option<QueryCase> {
    let kept: Vec<u32> =
        (0..case.len()).filter(|at| !(from..from + size).contains(at)).map(|at| at as u32).collect();
    if kept.is_empty() || kept.len() == case.len() {
        return None;
    }
    // Each kept position stays in its segment; segments without positions vanish.
    let segment = |at: u32| case.starts.partition_point(|&start| start <= at as usize);
    Some(QueryCase {
        slots: case.slots.iter().map(|column| column.gather(&kept)).collect(),
        times: kept.iter().map(|&at| case.times[at as usize]).collect(),
        starts: (0..kept.len()).filter(|&i| i == 0 || segment(kept[i]) != segment(kept[i - 1])).collect(),
        ..case.clone()
    })
}

#[derive(Clone, Copy)]
enum Replacement {
    Part(NodeId),
    Constant(bool),
}

/// What may stand for a node: a part of the same sort, and for a formula a constant.
fn replacements(program: &Program, id: NodeId) -> Vec<Replacement> {
    let dag = &program.dag;
    let node = dag.node(id);
    let formula = |id: NodeId| is_formula(dag.node(id));
    if node.is_experiment() {
        let parts: Vec<NodeId> = match node {
            Node::UntilMap { pair, .. } => dag.node(pair).children().collect(),
            Node::NextMap { body, .. } => vec![body],
            node => node.children().collect(),
        };
        let numbers = has_numbers(program, id);
        let fits = |part: &NodeId| match dag.node(*part).is_experiment() {
            true => !numbers || has_numbers(program, *part),
            false => !numbers && formula(*part),
        };
        return parts.into_iter().filter(fits).map(Replacement::Part).collect();
    }
    if is_formula(node) {
        let parts = node.children().filter(|part| formula(*part)).map(Replacement::Part);
        return parts.chain([true, false].map(Replacement::Constant)).collect();
    }
    match node {
        Node::Negate(_) | Node::Abs(_) | Node::Arithmetic(..) => {
            node.children().map(Replacement::Part).collect()
        }
        _ => Vec::new(),
    }
}

fn is_formula(node: Node) -> bool {
    use Node::*;
    let term = matches!(
        node,
        Constant(_)
            | Slot(_)
            | Negate(_)
            | Abs(_)
            | Arithmetic(..)
            | IfThenElse(..)
            | Tuple(..)
            | Variable(_)
    );
    !term && !node.is_experiment()
}

/// The program with one node replaced; `None` if nothing would change.
fn replace(program: &Program, target: NodeId, by: Replacement) -> Option<Program> {
    if matches!(program.dag.node(target), Node::Bool(_)) {
        return None;
    }
    let mut dag = Dag::default();
    dag.sets.clone_from(&program.dag.sets);
    dag.regexes.clone_from(&program.dag.regexes);
    dag.variables.clone_from(&program.dag.variables);
    let mut renamed: Vec<NodeId> = Vec::with_capacity(program.dag.len());
    for (index, &node) in program.dag.nodes().iter().enumerate() {
        let id = if index == target.index() {
            match by {
                Replacement::Part(part) => renamed[part.index()],
                Replacement::Constant(value) => dag.add(Node::Bool(value)),
            }
        } else if let Node::Constant(constant) = node {
            dag.constant(program.dag.constants[constant as usize].clone())
        } else {
            dag.add(node.with_children(|child| renamed[child.index()]))
        };
        renamed.push(id);
    }
    let mut smaller = Program { dag, ..program.clone() };
    for root in &mut smaller.roots {
        root.node = renamed[root.node.index()];
    }
    smaller.spans = vec![None; smaller.dag.len()];
    Some(smaller)
}

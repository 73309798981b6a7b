//! Making a failing case small: fewer positions, fewer segments, smaller formulas, as long as it still fails.

use crate::Case;
use tw_ir::{Dag, Node, NodeId, Program};

/// The smallest case found, by greedy steps, on which `fails` still says yes.
pub fn shrink(case: Case, fails: impl Fn(&Case) -> bool) -> Case {
    let mut case = case;
    loop {
        let smaller = candidates(&case).find(&fails);
        match smaller {
            Some(smaller) => case = smaller,
            None => return case,
        }
    }
}

/// Cases one step smaller, the boldest first.
fn candidates(case: &Case) -> impl Iterator<Item = Case> + '_ {
    let roots = if case.program.roots.len() > 1 { case.program.roots.len() } else { 0 };
    let one_root = (0..roots).map(move |keep| {
        let mut smaller = case.clone();
        smaller.program.roots = vec![case.program.roots[keep].clone()];
        smaller
    });
    let mut pieces: Vec<(usize, usize)> = Vec::new();
    let mut size = case.len() / 2;
    while size > 0 {
        pieces.extend((0..case.len()).step_by(size).map(|from| (from, size)));
        size /= 2;
    }
    let shorter = pieces.into_iter().filter_map(move |(from, size)| without(case, from, size));
    let whole = (case.starts.len() > 1).then(|| {
        let mut smaller = case.clone();
        smaller.starts = vec![0];
        // Times restart with each segment; one trace needs them to grow.
        smaller.times = (0..case.len() as i64).collect();
        smaller
    });
    let nodes = case.formulas();
    let simpler = nodes.into_iter().rev().flat_map(move |id| {
        let children = case.program.dag.node(id).children().map(Replacement::Child);
        let constants = [Replacement::Constant(true), Replacement::Constant(false)];
        let formulas = case.formulas();
        children
            .filter(
                move |by| matches!(by, Replacement::Child(child) if formulas.binary_search(child).is_ok()),
            )
            .chain(constants)
            .filter_map(move |by| replace(&case.program, id, by))
            .map(|program| Case { program, ..case.clone() })
    });
    one_root.chain(whole).chain(shorter).chain(simpler)
}

/// The case without some positions.
fn without(case: &Case, from: usize, size: usize) -> Option<Case> {
    let kept: Vec<u32> =
        (0..case.len()).filter(|at| !(from..from + size).contains(at)).map(|at| at as u32).collect();
    if kept.is_empty() || kept.len() == case.len() {
        return None;
    }
    let mut smaller = case.clone();
    smaller.slots = case.slots.iter().map(|column| column.gather(&kept)).collect();
    smaller.times = kept.iter().map(|&at| case.times[at as usize]).collect();
    // Each kept position stays in its segment; segments without positions vanish.
    let segment = |at: u32| case.starts.partition_point(|&start| start <= at as usize);
    smaller.starts =
        (0..kept.len()).filter(|&i| i == 0 || segment(kept[i]) != segment(kept[i - 1])).collect();
    Some(smaller)
}

#[derive(Clone, Copy)]
enum Replacement {
    Child(NodeId),
    Constant(bool),
}

/// The program with one formula replaced by one of its parts or a constant; `None` if nothing would change.
fn replace(program: &Program, target: NodeId, by: Replacement) -> Option<Program> {
    if matches!(program.dag.node(target), Node::Bool(_)) {
        return None;
    }
    let mut dag = Dag::default();
    dag.sets.clone_from(&program.dag.sets);
    dag.regexes.clone_from(&program.dag.regexes);
    let mut renamed: Vec<NodeId> = Vec::with_capacity(program.dag.len());
    for (index, &node) in program.dag.nodes().iter().enumerate() {
        let id = if index == target.index() {
            match by {
                Replacement::Child(child) => renamed[child.index()],
                Replacement::Constant(value) => dag.add(Node::Bool(value)),
            }
        } else if let Node::Constant(constant) = node {
            dag.constant(program.dag.constants[constant as usize].clone())
        } else {
            dag.add(node.with_children(|child| renamed[child.index()]))
        };
        renamed.push(id);
    }
    let mut smaller = Program { dag, spans: Vec::new(), ..program.clone() };
    for root in &mut smaller.roots {
        root.node = renamed[root.node.index()];
    }
    smaller.spans = vec![None; smaller.dag.len()];
    Some(smaller)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Shape;
    use tw_engine_reference::Reference;
    use tw_ir::Temporal;
    use tw_monitor::Engine;

    /// "The first root is false and mentions an until" shrinks to an until of a few nodes on one position.
    #[test]
    fn shrinks_to_something_readable() {
        let fails = |case: &Case| {
            let formulas = case.formulas();
            let until = formulas
                .iter()
                .any(|&id| matches!(case.program.dag.node(id), Node::Binary(Temporal::Until, ..)));
            let trace = case.trace(false).unwrap();
            let mut evaluator = Reference.plan(&case.program, &case.options).unwrap();
            until && !evaluator.evaluate(&trace, 0).unwrap()[0].holds.get(0)
        };
        let mut tried = 0;
        for seed in 0..400 {
            let case = Case::new(seed, &Shape::SMALL);
            if fails(&case) {
                let small = shrink(case, fails);
                assert!(fails(&small));
                assert_eq!((small.len(), small.starts.len()), (1, 1), "seed {seed}");
                assert!(
                    small.formulas().len() <= 5,
                    "seed {seed}: {}",
                    tw_ir::display(&small.program, small.program.roots[0].node)
                );
                tried += 1;
            }
        }
        assert!(tried > 20);
    }
}

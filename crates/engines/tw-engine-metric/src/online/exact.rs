//! Which formulas have an exact three-valued verdict, and so are not for this engine.

use tw_ir::{NodeId, Program, Semantics};
use tw_monitor::{EvaluateOptions, Unsupported};

/// Refuses roots that `ltl3` defines over all continuations. Informative prefixes may leave open what these settle (`F last`
/// never holds of an infinite trace, which no prefix shows), so that two engines would differ. With intervals informative
/// prefixes are the definition; where the future stands inside the past no engine that reads forward has another.
pub(crate) fn refuse_exact(program: &Program, options: &EvaluateOptions) -> Result<(), Unsupported> {
    if options.semantics != Semantics::Ltl3 {
        return Ok(());
    }
    let dag = &program.dag;
    // For each node: whether the future stands below, and whether the formula is this engine's.
    let (mut future, mut ours) = (vec![false; dag.len()], vec![false; dag.len()]);
    let roots: Vec<NodeId> = program.roots.iter().map(|root| root.node).collect();
    for id in program.reachable(&roots) {
        let node = dag.node(id);
        let below = node.children().any(|child| future[child.index()]);
        future[id.index()] = below || node.is_future();
        ours[id.index()] = node.interval().is_some()
            || node.is_past() && below
            || node.children().any(|child| ours[child.index()]);
    }
    match roots.iter().find(|root| !ours[root.index()]) {
        None => Ok(()),
        Some(&root) => Err(Unsupported::construct(root, "three-valued verdicts without an interval").help(
            "`automaton`, `rewrite` and `breadth-first` settle them over all continuations: ⟨engine: auto⟩",
        )),
    }
}

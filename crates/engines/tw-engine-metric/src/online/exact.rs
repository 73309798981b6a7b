//! Which formulas have an exact three-valued verdict, and so are not for this engine.

use tw_ir::{Node, NodeId, Program, Semantics};
use tw_monitor::{EvaluateOptions, Unsupported};

/// Refuses roots that `ltl3` defines over all continuations. Informative prefixes may leave open what these settle (`F last`
/// never holds of an infinite trace, which no prefix shows), so that two engines would differ. With intervals informative
/// prefixes are the definition; where the future stands inside the past this engine is exact too (`foresight`), and the
/// only one.
pub(crate) fn refuse_exact(program: &Program, options: &EvaluateOptions) -> Result<(), Unsupported> {
    if options.semantics != Semantics::Ltl3 {
        return Ok(());
    }
    let kinds = kinds(program);
    match program.roots.iter().find(|root| kinds[root.node.index()] == Kind::Others) {
        None => Ok(()),
        Some(root) => Err(Unsupported::construct(root.node, "three-valued verdicts without an interval").help(
            "`automaton`, `rewrite` and `breadth-first` settle them over all continuations: ⟨engine: auto⟩",
        )),
    }
}

/// Whose a formula is under `ltl3`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// That of the engines that look at all continuations.
    Others,
    /// Its past looks at the future.
    Foresight,
    /// It has intervals.
    Timed,
}

/// Of each node of the program that roots reach.
pub(super) fn kinds(program: &Program) -> Vec<Kind> {
    let dag = &program.dag;
    let (mut future, mut kinds) = (vec![false; dag.len()], vec![Kind::Others; dag.len()]);
    let roots: Vec<NodeId> = program.roots.iter().map(|root| root.node).collect();
    for id in program.reachable(&roots) {
        let node = dag.node(id);
        let below = node.children().any(|child| future[child.index()]);
        future[id.index()] = below || node.is_future() || node == Node::Last;
        let own = match (node.interval(), node.is_past() && below) {
            (Some(_), _) => Kind::Timed,
            (None, true) => Kind::Foresight,
            (None, false) => Kind::Others,
        };
        kinds[id.index()] = node.children().map(|child| kinds[child.index()]).fold(own, Kind::max);
    }
    kinds
}

//! CTL*: path quantifiers over any path formula, by the product with an automaton.

use crate::{Checker, star};
use tw_core::Bits;
use tw_ir::{NodeId, Program};
use tw_model::State;
use tw_monitor::Unsupported;

/// The states from which some path that counts gives the path formula this truth. `known` are the states of the state
/// formulas in it.
pub(super) fn some_path(
    checker: &Checker,
    program: &Program,
    path: NodeId,
    value: bool,
    known: &[Option<Bits>],
) -> Result<Bits, Unsupported> {
    star::some_path(checker, program, path, value, &|id| known[id.index()].as_ref())
}

/// Such a path from a state: its steps, and where it goes on after the last.
pub(super) fn path(
    checker: &Checker,
    program: &Program,
    path: NodeId,
    value: bool,
    known: &[Option<Bits>],
    from: State,
) -> Option<(Vec<State>, usize)> {
    star::lasso_from(checker, program, path, value, &|id| known[id.index()].as_ref(), from).ok().flatten()
}

//! Why a formula holds in a state, or why it does not.

use tw_ir::NodeId;
use tw_model::State;

/// A path that shows why a formula holds in its first state, or why it does not; with what is to be shown further at
/// states on it.
///
/// Claims about all paths (`AG p` where it holds, `EF p` where it does not) are shown by no single path: of them
/// `steps` is the state alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// The formula.
    pub node: NodeId,
    /// Whether it holds in the first state.
    pub holds: bool,
    /// The path; consecutive states are transitions of the model.
    pub steps: Vec<State>,
    /// Where the path goes on for ever: after the last state comes this one again. `None` for a path whose end does not
    /// matter.
    pub cycle: Option<usize>,
    /// What is to be shown at states on the path: index into `steps`, and why.
    /// The same claim at the same state is shown once, where it comes first.
    pub branches: Vec<(usize, Evidence)>,
    /// Whether something was left out because there is too much to show: the path, or branches of it.
    pub cut: bool,
}

impl Evidence {
    /// A path that ends where its end does not matter, or goes on at `cycle`; nothing further to show.
    pub fn path(node: NodeId, holds: bool, steps: Vec<State>, cycle: Option<usize>) -> Self {
        Self { node, holds, steps, cycle, branches: Vec::new(), cut: false }
    }
}

//! A path in words: states, what is shown at each, and where in the logs they were seen.

use crate::Specification;
use tw_check::Evidence;
use tw_core::Value;
use tw_ir::{Node, NodeId};
use tw_model::{Cells, Model, State};

/// Models with more variables than these have states with little to say of most of them; of long paths it is not told.
const MANY: usize = 1 << 10;
/// Most values told of such a model.
const VALUES: usize = 1 << 21;

/// A path that shows why a formula holds, or why it does not.
#[derive(Clone, Debug, PartialEq)]
pub struct TracePath {
    /// What it shows, in the user's words.
    pub formula: String,
    /// Whether that holds in its first state.
    pub holds: bool,
    /// The states, in order.
    pub steps: Vec<TraceStep>,
    /// After the last step comes this one again, for ever; `None` where the rest of the path does not matter.
    pub cycle: Option<usize>,
    /// What is shown further at steps of the path.
    pub branches: Vec<Told>,
    /// Whether something was left out as there is too much to show.
    pub cut: bool,
}

/// What is shown at a step of a path.
#[derive(Clone, Debug, PartialEq)]
pub struct Told {
    /// The step.
    pub step: usize,
    /// What is shown there.
    pub path: TracePath,
}

/// A state on a path.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceStep {
    /// Its number in the model.
    pub state: State,
    /// As people read it.
    pub label: String,
    /// Its variables.
    pub values: Vec<(String, Value)>,
    /// Trace and line where the step was seen first: the transition to it or, of the first step, the state.
    pub seen: Option<(String, u64)>,
    /// Nobody went here from the step before: it was assumed, as nothing is known after the end of a trace.
    pub assumed: bool,
}

impl TracePath {
    /// The states along the path, the return to the first of the cycle included.
    pub fn walk(&self) -> Vec<State> {
        let back = self.cycle.and_then(|cycle| self.steps.get(cycle));
        self.steps.iter().chain(back).map(|step| step.state).collect()
    }

    /// Whether the return from the last step to the cycle's first was assumed.
    pub fn back_assumed(&self, model: &Model) -> bool {
        let (Some(last), Some(first)) =
            (self.steps.last(), self.cycle.and_then(|cycle| self.steps.get(cycle)))
        else {
            return false;
        };
        seen(model, last.state, first.state).1
    }
}

/// Evidence in words. `None` if a path shows nothing beyond the verdict: a claim about all paths that holds, or about
/// some path that does not.
pub(super) fn told(model: &Model, spec: &Specification, evidence: &Evidence) -> Option<TracePath> {
    let bare = |evidence: &Evidence| evidence.steps.len() < 2 && evidence.cycle.is_none();
    let nothing = |(_, branch): &(usize, Evidence)| {
        bare(branch) && branch.branches.is_empty() && !shows(spec, branch.node, branch.holds)
    };
    let alone = bare(evidence) && evidence.branches.iter().all(nothing);
    if alone && !shows(spec, evidence.node, evidence.holds) {
        return None;
    }
    Some(chain(tell(model, spec, evidence)))
}

/// Whether a single path can show a formula's truth.
fn shows(spec: &Specification, mut node: NodeId, mut holds: bool) -> bool {
    let dag = &spec.program.dag;
    while let Node::Not(inner) = dag.node(node) {
        (node, holds) = (inner, !holds);
    }
    match dag.node(node) {
        Node::AllPaths(_) => !holds,
        Node::SomePath(_) => holds,
        // Connectives of such claims are shown by what stands at the state; without quantifier, by the state itself.
        _ => !spec.program.reachable(&[node]).into_iter().any(|id| dag.node(id).is_branching()),
    }
}

/// One path of a path and what is shown at its end: `EF (p & EX q)` is a walk to `p` and one step further.
fn chain(mut path: TracePath) -> TracePath {
    while path.cycle.is_none()
        && let [only] = path.branches.as_slice()
        && only.step + 1 == path.steps.len()
    {
        let Some(Told { path: rest, step }) = path.branches.pop() else { break };
        path.steps.extend(rest.steps.into_iter().skip(1));
        path.cycle = rest.cycle.map(|cycle| cycle + step);
        path.cut |= rest.cut;
        path.branches.extend(rest.branches.into_iter().map(|told| Told { step: told.step + step, ..told }));
    }
    path
}

/// Children before parents on a stack of its own: evidence nests as deep as formulas do.
fn tell(model: &Model, spec: &Specification, evidence: &Evidence) -> TracePath {
    let mut order = vec![evidence];
    let mut next = 0;
    while next < order.len() {
        let branches = &order[next].branches;
        order.extend(branches.iter().map(|(_, branch)| branch));
        next += 1;
    }
    let (variables, steps_of) = (model.variables.len(), order.iter().map(|evidence| evidence.steps.len()));
    let whole = variables <= MANY || steps_of.sum::<usize>().saturating_mul(variables) <= VALUES;
    let told = told_variables(model, whole);
    // Breadth first, so the branches of an evidence stand together; built from the last to the first.
    let mut built: Vec<Option<TracePath>> = vec![None; order.len()];
    let mut end = order.len();
    for index in (0..order.len()).rev() {
        let evidence = order[index];
        let start = end - evidence.branches.len();
        let branches = evidence
            .branches
            .iter()
            .zip(start..end)
            .filter_map(|((step, _), child)| Some(Told { step: *step, path: built[child].take()? }))
            .collect();
        end = start;
        built[index] = Some(TracePath {
            formula: spec.words(evidence.node),
            holds: evidence.holds,
            steps: steps(model, &evidence.steps, &told),
            cycle: evidence.cycle,
            branches,
            cut: evidence.cut || !whole,
        });
    }
    built.swap_remove(0).unwrap_or_else(|| TracePath {
        formula: String::new(),
        holds: evidence.holds,
        steps: Vec::new(),
        cycle: None,
        branches: Vec::new(),
        cut: evidence.cut,
    })
}

fn steps(model: &Model, states: &[State], told: &[usize]) -> Vec<TraceStep> {
    let step = |(at, &state): (usize, &State)| {
        let (seen, assumed) = match at.checked_sub(1) {
            Some(before) => seen(model, states[before], state),
            None => (first_seen(model, state), false),
        };
        TraceStep { state, label: model.label(state), values: values(model, state, told), seen, assumed }
    };
    states.iter().enumerate().map(step).collect()
}

/// Where a transition was seen first, and whether it was only assumed.
fn seen(model: &Model, from: State, to: State) -> (Option<(String, u64)>, bool) {
    let Some(record) = &model.record else { return (None, false) };
    // Loops that the checker added have no number.
    let seen = model.graph.edge(from, to).and_then(|edge| record.edges.get(edge as usize));
    match seen.filter(|seen| seen.count > 0) {
        Some(seen) => (place(model, seen.first), false),
        None => (None, true),
    }
}

fn first_seen(model: &Model, state: State) -> Option<(String, u64)> {
    let seen = model.record.as_ref()?.states.get(state as usize)?;
    place(model, seen.first)
}

fn place(model: &Model, place: tw_model::Place) -> Option<(String, u64)> {
    Some((model.record.as_ref()?.traces.get(place.trace() as usize)?.clone(), place.line()))
}

/// The variables that tell a state from others, then (`whole`) those that follow from that.
fn told_variables(model: &Model, whole: bool) -> Vec<usize> {
    let own = |at: &usize| matches!(model.variables[*at].cells, Cells::Own(_));
    let all = 0..model.variables.len();
    all.clone().filter(own).chain(all.filter(|at| whole && !own(at))).collect()
}

fn values(model: &Model, state: State, variables: &[usize]) -> Vec<(String, Value)> {
    variables.iter().map(|&at| (model.variables[at].name.clone(), model.value(at, state))).collect()
}

//! What a model says about a formula: the path that shows it, and where it was seen.

use crate::merge::Piece;
use crate::model::{Failing, FormulaReport, Logic, Model, Probability, TracePath, TraceStep};
use crate::{Value, merge};

/// The answer to a formula.
#[derive(Clone, Debug)]
pub struct Evidence {
    /// Its logic.
    pub logic: Logic,
    /// Whether the model satisfies it.
    pub holds: bool,
    /// Initial states that do not.
    pub failing: Option<Failing>,
    /// The path that shows it and, after each path, those shown at its steps; empty where no path can show it.
    pub paths: Vec<EvidencePath>,
    /// Where the path comes from.
    pub origin: merge::Origin,
    /// How likely the formula is, or why that cannot be said.
    pub probability: Option<Result<Probability, String>>,
    /// Whether the model was merged from traces: what was not seen may still be.
    pub merged: bool,
    /// Whether only fair paths count.
    pub fair: bool,
}

/// A path of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct EvidencePath {
    /// The path that it is shown at, by index, and the step of it; nothing for the first.
    pub at: Option<(usize, usize)>,
    /// How many paths it stands inside.
    pub depth: usize,
    /// What it shows.
    pub formula: String,
    /// Whether that holds in its first state.
    pub holds: bool,
    /// The states, in order.
    pub steps: Vec<EvidenceStep>,
    /// After the last step comes this one again, for ever.
    pub cycle: Option<usize>,
    /// Why the return to it is assumed; nothing if it was seen.
    pub back: Option<&'static str>,
    /// Whether something was left out as there is too much to show.
    pub cut: bool,
    /// Whether a path is shown at one of its steps.
    pub branches: bool,
}

/// A state on a path.
#[derive(Clone, Debug, PartialEq)]
pub struct EvidenceStep {
    /// As people read it.
    pub label: String,
    /// Its variables.
    pub values: Vec<(String, Value)>,
    /// Trace and line where the step was seen first.
    pub seen: Option<(String, u64)>,
    /// Trace and line of the step in the pieces that the path is put together from.
    pub piece: Option<(String, u64)>,
    /// Why the step is assumed; nothing if it was seen.
    pub assumed: Option<&'static str>,
}

impl EvidenceStep {
    /// Where it was seen: by the trace that went along the path, or first.
    pub fn place(&self) -> Option<&(String, u64)> {
        match (&self.piece, self.assumed) {
            (Some(piece), _) => Some(piece),
            (None, Some(_)) => None,
            (None, None) => self.seen.as_ref(),
        }
    }
}

impl Evidence {
    /// What was found, with what the model knows about its states; `rare` transitions were left out of it.
    pub(super) fn new(report: &FormulaReport, model: &Model, fair: bool, rare: bool) -> Self {
        let writer = PathWriter { model, rare };
        Self {
            logic: report.logic,
            holds: report.holds,
            failing: report.failing.clone(),
            paths: report.path.as_ref().map_or(Vec::new(), |path| writer.paths(path, report.origin.pieces())),
            origin: report.origin.clone(),
            probability: report.probability.clone(),
            merged: model.merged.is_some(),
            fair,
        }
    }
}

struct PathWriter<'m> {
    model: &'m Model,
    rare: bool,
}

impl PathWriter<'_> {
    /// A path and all inside it, each before those at its steps. The list stands in for the stack: evidence nests as deep
    /// as formulas do.
    fn paths(&self, path: &TracePath, pieces: &[Piece]) -> Vec<EvidencePath> {
        let mut paths: Vec<EvidencePath> = Vec::new();
        let mut todo = vec![(path, None, 0)];
        while let Some((path, at, depth)) = todo.pop() {
            let own = paths.len();
            let pieces = if own == 0 { pieces } else { &[] };
            let back = path.cycle.filter(|_| path.back_assumed(self.model));
            paths.push(EvidencePath {
                at,
                depth,
                formula: path.formula.clone(),
                holds: path.holds,
                steps: path.steps.iter().enumerate().map(|(at, step)| self.step(step, pieces, at)).collect(),
                cycle: path.cycle,
                back: back.map(|cycle| self.why(path.steps[cycle].state)),
                cut: path.cut,
                branches: !path.branches.is_empty(),
            });
            let below = path.branches.iter().rev();
            todo.extend(below.map(|told| (&told.path, Some((own, told.step)), depth + 1)));
        }
        paths
    }

    fn step(&self, step: &TraceStep, pieces: &[Piece], at: usize) -> EvidenceStep {
        EvidenceStep {
            label: step.label.clone(),
            values: step.values.clone(),
            seen: step.seen.clone(),
            piece: place(pieces, at),
            assumed: step.assumed.then(|| self.why(step.state)),
        }
    }

    /// Why a path is taken to stay where it is.
    fn why(&self, state: u32) -> &'static str {
        let others = self.model.graph.successors(state).iter().any(|&to| to != state);
        match (others, self.rare) {
            (true, _) => "assumed: some trace ended here",
            (false, true) => "assumed: what was seen next, if anything, is left out as rare",
            (false, false) => "assumed: no trace says what comes next",
        }
    }
}

/// Trace and line of a step in the pieces that a path is put together from.
fn place(pieces: &[Piece], at: usize) -> Option<(String, u64)> {
    // Where two pieces meet, the step was reached by the first.
    let piece = pieces.iter().find(|piece| {
        piece.trace.is_some() && piece.steps.0 <= at && at <= piece.steps.1 && (at > piece.steps.0 || at == 0)
    })?;
    Some((piece.trace.clone()?, *piece.lines.get(at - piece.steps.0)?))
}

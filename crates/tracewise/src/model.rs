//! `model-check`: does a model satisfy a formula, and which path shows it.
//!
//! Formulas of branching time go to fixpoints, formulas of linear time to the product with an automaton (`tw-check`);
//! the paths they come back with are told state by state, with the lines of the traces they were merged from.

mod file;
mod implicit;
mod path;
mod questions;

use crate::error::Setting;
use crate::merge::{Origin, lost_ends, origin};
use crate::{Error, Session, Specification};
use tw_check::{Branching, Checker, Evidence, Labels, branching, linear, markov};
use tw_core::Bits;
use tw_diag::{Diagnostic, Sources};
use tw_ir::NodeId;
use tw_monitor::Unsupported;

pub use file::{read_model, read_model_for, write_model};
pub use path::{Told, TracePath, TraceStep};
pub use questions::{Logic, Question, questions_in};
pub use tw_check::markov::{Method, Probability};
pub use tw_model::{FORMATS, Model};

/// How a model is checked.
#[derive(Clone, Debug, Default)]
pub struct ModelOptions {
    /// Formulas about states, each of which holds again and again on every path that counts; those that stand in the
    /// model come on top.
    pub fairness: Vec<String>,
    /// Transitions seen less often are left out.
    pub min_count: u64,
    /// Also how likely the formula is, going by how often each transition was seen.
    pub probability: bool,
    /// Look for the paths in the traces again, to tell whether one trace went all along them.
    pub origins: bool,
}

/// What became of a formula.
#[derive(Clone, Debug)]
pub struct FormulaReport {
    /// The formula as written.
    pub formula: String,
    /// What it asks, in words, if the file says so.
    pub title: Option<String>,
    /// Its logic.
    pub logic: Logic,
    /// Whether every initial state (every path) satisfies it.
    pub holds: bool,
    /// Initial states that do not, the first of them in words, and how many initial states there are. Of linear time one
    /// path is found, not all initial states.
    pub failing: Option<Failing>,
    /// The path that shows it; `None` where no single path can (a claim about all paths that is true, or about some
    /// path that is false).
    pub path: Option<TracePath>,
    /// Where the path comes from.
    pub origin: Origin,
    /// How likely it is; or why that cannot be said.
    pub probability: Option<Result<markov::Probability, String>>,
    /// Names that the model lacks, and the like.
    pub warnings: Vec<Diagnostic>,
    /// The text they point into.
    pub sources: Sources,
}

/// The initial states that do not satisfy a formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failing {
    /// How many.
    pub count: usize,
    /// How many initial states there are.
    pub initial: usize,
    /// The first that fails.
    pub example: Option<String>,
}

/// A model as it is asked.
#[derive(Clone, Debug)]
pub struct ModelReport {
    /// States.
    pub states: usize,
    /// Whether states were told as sets, as there are too many to be listed.
    pub symbolic: bool,
    /// Transitions, those that were assumed included; `None` where sets of states are known, and how many they are is too
    /// much to find out.
    pub edges: Option<usize>,
    /// Transitions left out as they were seen too rarely.
    pub left_out: usize,
    /// Initial states.
    pub initial: usize,
    /// Traces it was merged from.
    pub traces: Option<usize>,
    /// States that nothing followed, and which were given a loop.
    pub looped: usize,
    /// Traces that end where others go on: no path stays at their end.
    pub lost_ends: u64,
    /// Whether only fair paths count.
    pub fair: bool,
    /// Initial states that no fair path begins in.
    pub unfair: usize,
    /// Findings about the fairness conditions.
    pub fair_warnings: Vec<(Diagnostic, Sources)>,
    /// One per formula.
    pub formulas: Vec<FormulaReport>,
}

pub(crate) fn model_check(
    session: &Session,
    model: &Model,
    questions: &[Question],
    options: &ModelOptions,
) -> Result<ModelReport, Error> {
    if let Some(program) = &model.implicit {
        return implicit::model_check(session, program, questions, options);
    }
    let pruned = (options.min_count > 1).then(|| model.without_rare(options.min_count));
    let left_out = pruned.as_ref().map_or(0, |pruned| model.graph.edges() - pruned.graph.edges());
    let model = pruned.as_ref().unwrap_or(model);
    if model.initial.is_empty() {
        return Err(Error::refused("the model has no initial state, so nothing can be asked of it"));
    }
    let checker = Checker::new(model);
    let looped = checker.looped().len();
    let texts = model.fairness.iter().chain(&options.fairness);
    let (mut sets, mut fair_warnings) = (Vec::new(), Vec::new());
    for text in texts {
        let (set, warnings) = fairness(&checker, text)?;
        sets.push(set);
        fair_warnings.extend(warnings);
    }
    let checker = checker.fairness(sets);
    let unfair = unfair(&checker)?;
    let formulas = questions
        .iter()
        .map(|question| answer(session, &checker, question, options))
        .collect::<Result<Vec<FormulaReport>, Error>>()?;
    Ok(ModelReport {
        states: model.states(),
        symbolic: false,
        edges: Some(model.graph.edges()),
        left_out,
        initial: model.initial.len(),
        traces: model.record.as_ref().map(|record| record.traces.len()),
        looped,
        lost_ends: lost_ends(model),
        fair: !checker.fair_sets().is_empty(),
        unfair,
        fair_warnings,
        formulas,
    })
}

/// A formula and the truth of its atoms in every state.
fn labels(model: &Model, spec: &Specification) -> Result<Labels, Error> {
    Labels::new(model, &spec.program)
        .map_err(|diagnostics| Error::Specification { diagnostics, sources: Box::new(spec.sources.clone()) })
}

/// The states in which a fairness condition holds.
fn fairness(checker: &Checker<'_>, text: &str) -> Result<(Bits, Vec<(Diagnostic, Sources)>), Error> {
    let spec = Specification::from_branching(text)?;
    let labels = labels(checker.model, &spec)?;
    let root = root(&spec);
    let answer = branching(checker, &spec.program, root, &labels.atoms).map_err(|why| refused(&spec, why))?;
    let warnings = spec.warnings.iter().chain(&labels.warnings);
    let warnings = warnings.map(|warning| (warning.clone(), spec.sources.clone())).collect();
    Ok((answer.satisfied(root).clone(), warnings))
}

/// How many initial states no fair path begins in: what is claimed of all paths from them is true, and of some path false.
fn unfair(checker: &Checker<'_>) -> Result<usize, Error> {
    if checker.fair_sets().is_empty() {
        return Ok(0);
    }
    let spec = Specification::from_branching("EG true")?;
    let answer = branching(checker, &spec.program, root(&spec), &[]).map_err(|why| refused(&spec, why))?;
    Ok(answer.failing().count())
}

fn root(spec: &Specification) -> NodeId {
    spec.program.roots.first().map_or(NodeId(0), |root| root.node)
}

/// Whether a formula holds, where it does not, the evidence, and how likely it is if that is asked.
type Verdict = (bool, Option<Failing>, Option<Evidence>, Option<Result<markov::Probability, String>>);

fn answer(
    session: &Session,
    checker: &Checker<'_>,
    question: &Question,
    options: &ModelOptions,
) -> Result<FormulaReport, Error> {
    let spec = asked(question)?;
    let labels = labels(checker.model, &spec)?;
    let (program, root) = (&spec.program, root(&spec));
    let refused = |why| refused(&spec, why);
    let chance = |answer: Option<&Branching<'_>>| {
        options.probability.then(|| probability(checker, &spec, root, &labels.atoms, answer))
    };
    let (holds, failing, evidence, probability): Verdict = match question.logic {
        Logic::Branching => {
            let answer = branching(checker, program, root, &labels.atoms).map_err(refused)?;
            let (count, first) = (answer.failing().count(), answer.failing().next());
            let state = first.or(checker.initial().first().copied());
            let evidence = state.map(|state| answer.evidence(state));
            let example = first.map(|state| checker.model.label(state));
            let failing = Failing { count, initial: checker.initial().len(), example };
            (count == 0, Some(failing), evidence, chance(Some(&answer)))
        }
        Logic::Linear => {
            let answer = linear(checker, program, root, &labels.atoms).map_err(refused)?;
            (answer.holds(), None, answer.counterexample, chance(None))
        }
    };
    let path = evidence.and_then(|evidence| path::told(checker.model, &spec, &evidence));
    let origin = match &path {
        Some(path) if options.origins => origin(session, checker.model, &path.walk(), path.cycle.is_some()),
        _ => Origin::Nowhere,
    };
    let mut warnings = spec.warnings.clone();
    warnings.extend(labels.warnings);
    Ok(FormulaReport {
        formula: question.text.clone(),
        title: question.title.clone(),
        logic: question.logic,
        holds,
        failing,
        path,
        origin,
        probability,
        warnings,
        sources: spec.sources.clone(),
    })
}

/// A formula, read.
fn asked(question: &Question) -> Result<Specification, Error> {
    match question.logic {
        Logic::Branching => question.specification(),
        Logic::Linear => question.specification().map_err(|error| quantified(question, error)),
    }
}

/// A formula of linear time with path quantifiers is one of branching time.
fn quantified(question: &Question, error: Error) -> Error {
    match Specification::from_branching(&question.text) {
        Ok(spec) if spec.program.dag.nodes().iter().any(|node| node.is_branching()) => {
            Error::refused_instead(
                format!("`{}` speaks of all paths or of some path (`A`, `E`)", question.text),
                format!("ask it with {}", Setting::Branching),
            )
        }
        _ => error,
    }
}

/// How likely a formula is on the chain of what was seen; where it cannot be said, why. `answer` knows the states of the
/// path quantifiers below the root.
fn probability(
    checker: &Checker<'_>,
    spec: &Specification,
    root: NodeId,
    atoms: &[Bits],
    answer: Option<&Branching<'_>>,
) -> Result<markov::Probability, String> {
    let (program, known) = (&spec.program, spec.program.atoms());
    let truth = |id: NodeId| match known.binary_search(&id) {
        Ok(atom) => atoms.get(atom),
        Err(_) if id == root || !program.dag.node(id).is_branching() => None,
        Err(_) => answer.map(|answer| answer.satisfied(id)),
    };
    markov::probability(checker, program, root, &truth).map_err(|why| why.what)
}

/// A refusal of the checker as an error that points at the subformula.
fn refused(spec: &Specification, why: Unsupported) -> Error {
    crate::plan::refusal_error(spec, "this formula cannot be checked:", why)
}

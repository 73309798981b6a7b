//! Models whose states are not listed: they are asked as sets, and listed after all where that is not possible.

use super::file::model_error;
use super::{Failing, FormulaReport, Logic, ModelOptions, ModelReport, Question, asked, path, refused, root};
use crate::merge::Origin;
use crate::{Error, Session, Specification};
use tw_check::{Checker, Evidence, SymbolicChecker, SymbolicLabels, Unlabelled, markov};
use tw_diag::{Diagnostic, Sources};
use tw_model::formats::smv::{Implicit, Unsuited};
use tw_model::symbolic::Bdd;
use tw_model::{Model, ModelError};
use tw_monitor::Unsupported;

/// Why sets have no answer.
enum Failure {
    /// There is none.
    Final(Error),
    /// Listed states may have one: what stands in the way here.
    Sets(String),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Final(error)
    }
}

/// A construct that no model can be asked about is one error; what is too much for sets may not be for a list.
fn failure(spec: &Specification, why: Unsupported) -> Failure {
    if why.exhausted { Failure::Sets(why.what) } else { refused(spec, why).into() }
}

pub(super) fn model_check(
    session: &Session,
    program: &Implicit,
    questions: &[Question],
    options: &ModelOptions,
) -> Result<ModelReport, Error> {
    let why = match as_sets(program, questions, options) {
        Ok(report) => return Ok(report),
        Err(Failure::Final(error)) => return Err(error),
        Err(Failure::Sets(why)) => why,
    };
    let model = program.listed().map_err(|error| match error {
        ModelError::Unfit(message) => {
            let message = format!("{message}; and they are not told as sets: {why}");
            model_error(program.file(), ModelError::Unfit(message))
        }
        other => model_error(program.file(), other),
    })?;
    super::model_check(session, &model, questions, options)
}

fn as_sets(
    program: &Implicit,
    questions: &[Question],
    options: &ModelOptions,
) -> Result<ModelReport, Failure> {
    let space = program.symbolic().map_err(|unsuited| match unsuited {
        Unsuited::Sets(why) => Failure::Sets(why),
        Unsuited::Model(error) => model_error(program.file(), error).into(),
    })?;
    let mut checker = SymbolicChecker::new(space);
    let (mut sets, mut fair_warnings) = (Vec::new(), Vec::new());
    for text in program.fairness().chain(options.fairness.iter().map(String::as_str)) {
        let (set, warnings) = fairness(&mut checker, text)?;
        sets.push(set);
        fair_warnings.extend(warnings);
    }
    let full = |why: Unsupported| Failure::Sets(why.what);
    let mut checker = checker.fairness(sets).map_err(full)?;
    let unfair = checker.unfair().map_err(full)?;
    let formulas = questions
        .iter()
        .map(|question| answer(&mut checker, question, options))
        .collect::<Result<Vec<FormulaReport>, Failure>>()?;
    let fair = checker.is_fair();
    let space = checker.space();
    Ok(ModelReport {
        states: size(space.count(space.states)),
        symbolic: true,
        edges: space.transitions().map(size),
        left_out: 0,
        initial: size(space.count(space.initial)),
        traces: None,
        looped: size(space.count(space.dead)),
        lost_ends: 0,
        fair,
        unfair: size(unfair),
        fair_warnings,
        formulas,
    })
}

fn size(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

/// The truth of a formula's atoms.
fn labels(checker: &mut SymbolicChecker, spec: &Specification) -> Result<SymbolicLabels, Failure> {
    checker.labels(&spec.program).map_err(|why| match why {
        Unlabelled::Wrong(diagnostics) => {
            Error::Specification { diagnostics, sources: Box::new(spec.sources.clone()) }.into()
        }
        Unlabelled::Refused(why) => failure(spec, why),
    })
}

/// The states in which a fairness condition holds.
fn fairness(checker: &mut SymbolicChecker, text: &str) -> Result<(Bdd, Vec<(Diagnostic, Sources)>), Failure> {
    let spec = Specification::from_branching(text)?;
    let labels = labels(checker, &spec)?;
    let answer =
        checker.branching(&spec.program, root(&spec), &labels.atoms).map_err(|why| failure(&spec, why))?;
    let warnings = spec.warnings.iter().chain(&labels.warnings);
    let warnings = warnings.map(|warning| (warning.clone(), spec.sources.clone())).collect();
    Ok((answer.satisfied(), warnings))
}

/// Where a formula of branching time does not hold, and the evidence.
fn branching(
    checker: &mut SymbolicChecker,
    spec: &Specification,
    atoms: &[Bdd],
) -> Result<(Failing, Option<Evidence>), Failure> {
    let answer = checker.branching(&spec.program, root(spec), atoms).map_err(|why| failure(spec, why))?;
    let space = checker.space();
    let initial = space.initial;
    let too_large = |_| Failure::Sets("its decision diagrams are larger than the limit".into());
    let failing = space.store.minus(initial, answer.satisfied()).map_err(too_large)?;
    let (count, all) = (size(space.count(failing)), size(space.count(initial)));
    let found = checker.evidence(&answer, if failing.is_empty() { initial } else { failing });
    let example = found.as_ref().filter(|_| count > 0).map(|&(state, _)| checker.model().label(state));
    Ok((Failing { count, initial: all, example }, found.map(|(_, evidence)| evidence)))
}

fn answer(
    checker: &mut SymbolicChecker,
    question: &Question,
    options: &ModelOptions,
) -> Result<FormulaReport, Failure> {
    let spec = asked(question)?;
    let labels = labels(checker, &spec)?;
    let (holds, failing, evidence) = match question.logic {
        Logic::Branching => {
            let (failing, evidence) = branching(checker, &spec, &labels.atoms)?;
            (failing.count == 0, Some(failing), evidence)
        }
        Logic::Linear => {
            let answer = checker
                .linear(&spec.program, root(&spec), &labels.atoms)
                .map_err(|why| failure(&spec, why))?;
            (answer.holds(), None, answer.counterexample)
        }
    };
    // A model that was not merged has no counts, however its states are told.
    let chance = || {
        let empty = Model::default();
        markov::probability(&Checker::new(&empty), &spec.program, root(&spec), &|_| None)
    };
    let model = checker.model();
    let mut warnings = spec.warnings.clone();
    warnings.extend(labels.warnings);
    Ok(FormulaReport {
        formula: question.text.clone(),
        title: question.title.clone(),
        logic: question.logic,
        holds,
        failing,
        path: evidence.and_then(|evidence| path::told(&model, &spec, &evidence)),
        origin: Origin::Nowhere,
        probability: options.probability.then(|| chance().map_err(|why| why.what)),
        warnings,
        sources: spec.sources.clone(),
    })
}

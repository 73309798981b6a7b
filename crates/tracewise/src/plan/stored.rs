//! The engine for a stored trace: chosen, given what it needs, and replaced where its budget runs out.

use super::several::{Evaluators, divide};
use super::{named, refusal_error, refused};
use crate::engines;
use crate::error::Setting;
use crate::run::clock::{counts_positions, refuse_empty_intervals, refuse_units};
use crate::{Error, Session, Specification};
use std::borrow::Cow;
use tw_core::Bits;
use tw_diag::Diagnostic;
use tw_ir::{Clock, NodeId, Program, Root, RootKind};
use tw_monitor::{
    Answer, Answers, Engine, EvaluateOptions, Evaluator, Note, Sink, Trace, Unsupported, Values,
};

/// Who is to answer.
#[derive(Clone, Copy)]
pub(crate) enum Who<'a> {
    /// An engine of the registry that answers so: the one that the session names, or the first that accepts.
    Any(Answers),
    /// This one, which has options of its own.
    This(&'a dyn Engine),
}

/// An engine ready to run a program, and what is to be said about the choice.
pub(crate) struct Chosen<'p> {
    /// Its name.
    pub engine: &'static str,
    /// One line about it.
    pub about: &'static str,
    /// Whose algorithm it is, if it is kept as published.
    pub published: Option<&'static str>,
    pub evaluator: Box<dyn Evaluator + 'p>,
    /// That another engine had to step in.
    pub notes: Vec<Diagnostic>,
    /// Whether other engines run some of the roots.
    pub divided: bool,
    answers: Answers,
}

impl<'p> Chosen<'p> {
    fn new(engine: &dyn Engine, evaluator: Box<dyn Evaluator + 'p>) -> Self {
        let (name, about, answers) = (engine.name(), engine.about(), engine.answers());
        Self {
            engine: name,
            about,
            published: engine.published(),
            evaluator,
            notes: Vec::new(),
            divided: false,
            answers,
        }
    }

    /// What each property is worth. Where the engine's budget runs out, another answers, and a note says so.
    pub fn answers(
        &mut self,
        spec: &'p Specification,
        options: &EvaluateOptions,
        trace: &Trace,
        limit: usize,
    ) -> Result<Vec<Answer>, Error> {
        let run = |evaluator: &mut dyn Evaluator| {
            let mut sink = Sink::with_limit(limit);
            evaluator.run(trace, &mut sink)?;
            Ok(sink.into_answers())
        };
        self.run(spec, options, trace, run)
    }

    /// What each query is worth, one value per segment, likewise.
    pub fn values(
        &mut self,
        spec: &'p Specification,
        options: &EvaluateOptions,
        trace: &Trace,
    ) -> Result<Vec<Values>, Error> {
        let run = |evaluator: &mut dyn Evaluator| {
            let mut sink = Sink::default();
            evaluator.run(trace, &mut sink)?;
            Ok(sink.into_values())
        };
        self.run(spec, options, trace, run)
    }

    /// The truth of formulas at every position, likewise.
    pub fn columns(
        &mut self,
        spec: &'p Specification,
        options: &EvaluateOptions,
        trace: &Trace,
        nodes: &[NodeId],
    ) -> Result<Vec<Bits>, Error> {
        self.run(spec, options, trace, |evaluator| evaluator.columns(trace, nodes))
    }

    /// The values of experiments at every position. Nobody steps in: values were found by this engine before.
    pub fn value_columns(
        &mut self,
        spec: &Specification,
        trace: &Trace,
        nodes: &[NodeId],
    ) -> Result<Vec<Values>, Error> {
        self.evaluator.values(trace, nodes).map_err(|refusal| refused(spec, self.engine, refusal))
    }

    /// What is to be said about the last answers.
    pub fn about_answers(&self) -> Vec<Note> {
        self.evaluator.notes()
    }

    fn run<T>(
        &mut self,
        spec: &'p Specification,
        options: &EvaluateOptions,
        trace: &Trace,
        run: impl Fn(&mut dyn Evaluator) -> Result<T, Unsupported>,
    ) -> Result<T, Error> {
        let refusal = match run(self.evaluator.as_mut()) {
            Ok(answer) => return Ok(answer),
            Err(refusal) => refusal,
        };
        let Some(other) = stand_in(spec, options, self.answers, self.engine, &refusal) else {
            return Err(refused(spec, self.engine, refusal));
        };
        *self = other;
        self.give_guards(spec, options, trace)?;
        run(self.evaluator.as_mut()).map_err(|refusal| refused(spec, self.engine, refusal))
    }

    /// Gives the engine the truth of the formulas that it asks for, found by the fastest that can; by the definition, if
    /// it is the definition.
    pub fn give_guards(
        &mut self,
        spec: &Specification,
        options: &EvaluateOptions,
        trace: &Trace,
    ) -> Result<(), Error> {
        let nodes = self.evaluator.guards().to_vec();
        if nodes.is_empty() {
            return Ok(());
        }
        let roots = nodes.iter().map(|&node| spec.unnamed(node, RootKind::Property)).collect();
        let formulas = spec.with_roots(roots);
        let trace = restrict(trace, &spec.program, &formulas.program);
        let engine = if self.engine == "reference" { "reference" } else { "auto" };
        let session = Session::new().engine(engine);
        let mut chosen = choose(&session, &formulas, options, Who::Any(Answers::Verdicts))?;
        let guards = chosen.columns(&formulas, options, &trace, &nodes)?;
        self.evaluator.give(guards);
        Ok(())
    }
}

/// Another engine for one whose budget ran out.
fn stand_in<'p>(
    spec: &'p Specification,
    options: &EvaluateOptions,
    answers: Answers,
    exhausted: &str,
    refusal: &Unsupported,
) -> Option<Chosen<'p>> {
    // Who was stopped is not to be replaced by one who goes on.
    if !refusal.exhausted || options.stopped() {
        return None;
    }
    let mut others = engines::giving(answers).filter(|engine| engine.name() != exhausted);
    let (engine, evaluator) =
        others.find_map(|engine| Some((engine, engine.plan(&spec.program, options).ok()?)))?;
    let message = format!("engine `{exhausted}` gave up ({}); `{}` ran instead", refusal.what, engine.name());
    let mut chosen = Chosen::new(engine, evaluator);
    chosen.notes.push(Diagnostic::warning("engine-gave-up", message));
    Some(chosen)
}

/// The engine for a program: the one that is meant, the one that the session names, or the first that accepts.
pub(crate) fn choose<'p>(
    session: &Session,
    spec: &'p Specification,
    options: &EvaluateOptions,
    who: Who<'_>,
) -> Result<Chosen<'p>, Error> {
    if options.clock == Clock::Index {
        refuse_units(spec, options, &counts_positions())?;
    }
    refuse_empty_intervals(spec, options)?;
    let answers = match who {
        Who::This(engine) => {
            let planned = engine.plan(&spec.program, options);
            let planned = planned.map_err(|refusal| refused(spec, engine.name(), refusal));
            return planned.map(|evaluator| Chosen::new(engine, evaluator));
        }
        Who::Any(answers) => answers,
    };
    if answers == Answers::Values && options.clock == Clock::Dense {
        return Err(Error::refused_instead(
            "a query has values at positions, not between them",
            format!("use {}", Setting::Clock.to("stamps")),
        ));
    }
    // Continuous time has one engine, whose reasons are the informative ones.
    let name = match (session.evaluate.engine.as_str(), options.clock) {
        ("auto", Clock::Dense) => "dense",
        (name, _) => name,
    };
    if name != "auto" {
        let engine = named(answers, name)?;
        return match engine.plan(&spec.program, options) {
            Ok(evaluator) => Ok(Chosen::new(engine, evaluator)),
            Err(refusal) => stand_in(spec, options, answers, engine.name(), &refusal)
                .ok_or_else(|| refused(spec, engine.name(), refusal)),
        };
    }
    // The definition is for small traces: several engines that run each its part are better than it alone.
    let is_definition = |engine: &&dyn Engine| engine.name() == "reference";
    let (last, fast): (Vec<_>, Vec<_>) = engines::giving(answers).partition(is_definition);
    let mut refusals = Vec::new();
    let mut alone = |engines: Vec<&'static dyn Engine>| {
        engines.into_iter().find_map(|engine| match engine.plan(&spec.program, options) {
            Ok(evaluator) => Some(Chosen::new(engine, evaluator)),
            Err(refusal) => {
                refusals.push((engine.name(), refusal));
                None
            }
        })
    };
    if let Some(chosen) = alone(fast) {
        return Ok(chosen);
    }
    let accepts =
        |alone: &Program| engines::giving(answers).find(|engine| engine.plan(alone, options).is_ok());
    if let Some(shares) = divide(&spec.program, accepts)
        && let Some(engine) = shares.last().map(|share| share.engine)
        && let Ok(evaluators) = Evaluators::new(shares, options)
    {
        return Ok(Chosen { divided: true, ..Chosen::new(engine, Box::new(evaluators)) });
    }
    alone(last).map_or_else(|| Err(nobody(spec, answers, refusals)), Ok)
}

/// Why no engine accepts.
fn nobody(spec: &Specification, answers: Answers, mut refusals: Vec<(&str, Unsupported)>) -> Error {
    if answers != Answers::Verdicts {
        return match refusals.into_iter().next() {
            Some((engine, refusal)) => refused(spec, engine, refusal),
            None => Error::refused("this build has no engine for queries"),
        };
    }
    // One that could but for its budget says what is in the way. Else the last engine is the reference, which refuses
    // least: its reason is the informative one, unless it refuses the semantics altogether and another engine got as far
    // as a subformula.
    if let Some(at) = refusals.iter().position(|(_, refusal)| refusal.exhausted) {
        return refusal_error(spec, "no engine of this build can run", refusals.swap_remove(at).1);
    }
    let last = refusals.pop();
    let informative = match &last {
        Some((_, refusal)) if refusal.node.is_none() => {
            refusals.into_iter().find(|(_, other)| other.node.is_some())
        }
        _ => None,
    };
    match informative.or(last) {
        Some((_, refusal)) => refusal_error(spec, "no engine of this build can run", refusal),
        None => Error::refused("this build has no engines"),
    }
}

/// What explains verdicts: the fastest engine for the columns of subformulas, under the two-valued semantics.
pub(crate) fn explainer<'p>(
    spec: &'p Specification,
    options: &EvaluateOptions,
) -> Option<Box<dyn Evaluator + 'p>> {
    let chosen = choose(&Session::new(), spec, options, Who::Any(Answers::Verdicts));
    chosen.ok().map(|chosen| chosen.evaluator)
}

/// The trace as a program with other roots reads it: atoms, terms and relations are numbered per program.
pub(crate) fn restrict<'t>(trace: &'t Trace, from: &Program, to: &Program) -> Cow<'t, Trace> {
    let places = |all: &[NodeId], kept: &[NodeId]| -> Vec<usize> {
        kept.iter().filter_map(|id| all.binary_search(id).ok()).collect()
    };
    let (atoms, terms, patterns) = (from.atoms(), from.terms(), from.patterns());
    let (kept_atoms, kept_terms, kept_patterns) = (to.atoms(), to.terms(), to.patterns());
    let same_terms = terms == kept_terms || trace.terms.is_empty();
    if atoms == kept_atoms && same_terms && (patterns == kept_patterns || trace.relations.is_empty()) {
        return Cow::Borrowed(trace);
    }
    let pick = |at: usize| trace.terms.get(at).cloned();
    let relation = |at: usize| trace.relations.get(at).cloned();
    Cow::Owned(Trace {
        len: trace.len,
        atoms: places(&atoms, &kept_atoms).into_iter().map(|at| trace.atoms[at].clone()).collect(),
        times: trace.times.clone(),
        slots: trace.slots.clone(),
        terms: places(&terms, &kept_terms).into_iter().filter_map(pick).collect(),
        relations: places(&patterns, &kept_patterns).into_iter().filter_map(relation).collect(),
        signals: Vec::new(),
        segments: trace.segments.clone(),
        until: trace.until,
    })
}

/// A node as a root, for questions that nobody named.
impl Specification {
    pub(crate) fn unnamed(&self, node: NodeId, kind: RootKind) -> Root {
        let span = self.span(node).unwrap_or_default();
        // Nobody reads its name, and parts of a long text would have long names.
        Root { name: String::new(), title: None, division: Default::default(), kind, node, span }
    }
}

//! Queries on a live trace: their values so far.

use super::WatchValue;
use crate::engines;
use crate::require::{self, Required};
use crate::{Error, Session, Specification, plan, query};
use tw_core::codec::{Corrupt, put, put_value, take, take_value};
use tw_core::{Batch, Bits, Position, Time, Verdict};
use tw_ir::{Aggregate, CompareOp, Node, Requirement, RootKind};
use tw_monitor::{
    Answers, AtomParts, Computed, EvaluateOptions, Known, Monitor, Positions, PredicateError, Predicates,
    Sink, Telling, Term, Terms, Unsupported, order,
};

/// The queries of a specification and what they have seen.
pub(super) struct QueryMonitor {
    spec: Specification,
    engine: &'static str,
    monitor: Box<dyn Monitor>,
    atoms: AtomParts,
    terms: AtomParts,
    /// Requirements stand behind the queries: of each, what was settled and told.
    required: Vec<Option<(Verdict, Required, Position)>>,
}

/// What queries read of some positions.
pub(super) struct Read {
    atoms: Vec<Bits>,
    terms: Vec<Term>,
}

impl Read {
    /// The positions from `from` on, `len` of them.
    pub(super) fn part(&self, from: usize, len: usize) -> Self {
        let order: Vec<u32> = (from..from + len).map(|at| at as u32).collect();
        let part = |bits: &Bits| (from..from + len).map(|at| bits.get(at)).collect();
        Self {
            atoms: self.atoms.iter().map(part).collect(),
            terms: self.terms.iter().map(|term| term.gather(&order)).collect(),
        }
    }
}

impl QueryMonitor {
    /// Of the queries of `spec`, if it has some.
    pub(super) fn open(session: &Session, spec: &Specification) -> Result<Option<Self>, Error> {
        let own = spec.of_kind(RootKind::Query).into_owned();
        let spec = own.with_required(own.program.roots.clone());
        if spec.program.roots.is_empty() {
            return Ok(None);
        }
        if let Some(root) = spec.program.roots.iter().find(|root| !root.division.is_whole()) {
            return Err(plan::refuse_division(&spec, root));
        }
        let options = EvaluateOptions { semantics: tw_ir::Semantics::Finite, ..session.evaluate_options() };
        let mut refusal = None;
        for engine in engines::giving(Answers::Values).filter(|engine| engine.reads_forward()) {
            match engine.monitor(&spec.program, &options, Telling::Verdicts) {
                Ok(monitor) => {
                    let (atoms, terms) =
                        (Predicates::new(&spec.program).parts(), Terms::new(&spec.program).parts());
                    let required = vec![None; spec.program.requirements.len()];
                    return Ok(Some(Self { engine: engine.name(), monitor, atoms, terms, spec, required }));
                }
                Err(found) => {
                    refusal.get_or_insert((engine.name(), found));
                }
            }
        }
        Err(match refusal {
            Some((engine, refusal)) => plan::refused(&spec, engine, refusal),
            None => Error::refused("this build has no engine that watches queries"),
        })
    }

    /// The engine.
    pub(super) fn engine(&self) -> &'static str {
        self.engine
    }

    /// What the queries read of a batch.
    pub(super) fn read(&self, batch: &Batch) -> Result<Read, PredicateError> {
        let atoms = Predicates::with_parts(&self.spec.program, self.atoms.clone()).evaluate(batch)?;
        let terms = Terms::with_parts(&self.spec.program, self.terms.clone()).evaluate(batch);
        Ok(Read { atoms, terms })
    }

    /// Takes the next positions.
    pub(super) fn take(
        &mut self,
        len: usize,
        read: &Read,
        times: Option<&[Time]>,
    ) -> Result<(), Unsupported> {
        let positions =
            Positions { len, atoms: &read.atoms, terms: &read.terms, times, ..Positions::default() };
        self.monitor.feed(&positions, &mut Sink::default())
    }

    /// The values of queries so far: those of a trace that ends here.
    pub(super) fn values(&mut self) -> Result<Vec<WatchValue>, Error> {
        let mut values = self.all_values()?;
        values.truncate(self.spec.program.roots.len() - self.required.len());
        Ok(values)
    }

    /// Whether a requirement may be settled before the end.
    pub(super) fn awaits(&self) -> bool {
        let requirements = self.spec.program.requirements.iter().zip(&self.required);
        requirements.into_iter().any(|(own, told)| told.is_none() && monotone(&self.spec, own).is_some())
    }

    /// The requirements that are settled now, with their values; at the end, all that were not before.
    pub(super) fn settle(&mut self, end: bool) -> Result<Vec<usize>, Error> {
        let values = self.all_values()?;
        let own = self.spec.program.roots.len() - self.required.len();
        let mut settled = Vec::new();
        for (number, found) in values.into_iter().skip(own).enumerate() {
            let requirement = &self.spec.program.requirements[number];
            let verdict = require::verdict(&self.spec, requirement, &found.value);
            let over = monotone(&self.spec, requirement);
            let now = over.is_some_and(|over| is_final(requirement, &self.spec, over, &found.value));
            if self.required[number].is_some() || !(end || now) {
                continue;
            }
            let required = Required {
                value: found.value,
                relation: require::relation(&self.spec, requirement),
                by: None,
                window: None,
                missing: found.fault,
            };
            self.required[number] = Some((verdict, required, found.position));
            settled.push(number);
        }
        Ok(settled)
    }

    /// A requirement that was settled.
    pub(super) fn settled(&self, number: usize) -> Option<(&Requirement, &(Verdict, Required, Position))> {
        Some((&self.spec.program.requirements[number], self.required[number].as_ref()?))
    }

    /// The verdicts of requirements, should the trace end here.
    pub(super) fn verdicts(&mut self) -> Vec<Verdict> {
        let own = self.spec.program.roots.len() - self.required.len();
        let values = self.all_values().unwrap_or_default();
        let verdict = |(number, settled): (usize, &Option<(Verdict, Required, Position)>)| match settled {
            Some((verdict, ..)) => *verdict,
            None => values.get(own + number).map_or(Verdict::Unknown, |found| {
                require::verdict(&self.spec, &self.spec.program.requirements[number], &found.value)
            }),
        };
        self.required.iter().enumerate().map(verdict).collect()
    }

    fn all_values(&mut self) -> Result<Vec<WatchValue>, Error> {
        if self.monitor.positions() == 0 {
            return Ok(Vec::new());
        }
        let position: Position = self.monitor.positions() - 1;
        let finished = self.monitor.finish(&mut Sink::default());
        let values =
            finished.map_err(|refusal| plan::refused(&self.spec, self.engine, refusal))?.unwrap_or_default();
        let notes = self.monitor.notes();
        let roots = &self.spec.program.roots;
        let bounds = |root: &tw_ir::Root| {
            let parts = query::approximations(&self.spec, root, &notes);
            parts.into_iter().map(|part| part.bound).collect::<Vec<String>>()
        };
        let told = roots.iter().zip(values).map(|(root, computed)| (computed, bounds(root)));
        let told: Vec<(Known, Vec<String>)> = told.collect();
        let value = |(root, (computed, approximate)): (&'_ tw_ir::Root, _)| {
            let (value, fault) = match computed {
                Known::Value(Computed::Value(value)) => (value, None),
                Known::Value(Computed::Error(message)) => (tw_core::Value::Null, Some(message)),
                // An engine for queries answers with values.
                Known::Truth(_) | Known::Robustness(..) => (tw_core::Value::Null, None),
            };
            let (query, title) = (root.name.clone(), root.title.clone());
            WatchValue {
                query,
                title,
                value,
                fault,
                approximate,
                position,
                bindings: Vec::new(),
                ended: None,
            }
        };
        Ok(roots.iter().zip(told).map(value).collect())
    }

    pub(super) fn save(&self, out: &mut Vec<u8>) {
        for settled in &self.required {
            put(settled.as_ref().map_or(0, |(verdict, ..)| 1 + *verdict as u64), out);
            if let Some((_, required, position)) = settled {
                put_value(&required.value, out);
                put(*position as u64, out);
            }
        }
        self.monitor.save(out);
    }

    pub(super) fn restore(&mut self, mut bytes: &[u8]) -> Result<(), Corrupt> {
        for (number, settled) in self.required.iter_mut().enumerate() {
            let verdict = match take(&mut bytes)? {
                0 => {
                    *settled = None;
                    continue;
                }
                1 => Verdict::Satisfied,
                2 => Verdict::Violated,
                _ => Verdict::Unknown,
            };
            let (value, position) = (take_value(&mut bytes)?, take(&mut bytes)? as Position);
            let relation = require::relation(&self.spec, &self.spec.program.requirements[number]);
            let required = Required { value, relation, by: None, window: None, missing: None };
            *settled = Some((verdict, required, position));
        }
        self.monitor.restore(bytes)
    }

    pub(super) fn refused(&self, refusal: Unsupported) -> Error {
        plan::refused(&self.spec, self.engine, refusal)
    }
}

/// How a value goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Course {
    /// It never falls.
    Up,
    /// It never rises.
    Down,
    /// It stays what it is once it is there.
    Fixed,
}

/// How the value of a requirement goes on, if that is known.
fn monotone(spec: &Specification, requirement: &Requirement) -> Option<Course> {
    let dag = &spec.program.dag;
    let node = match dag.node(requirement.root.node) {
        Node::Default(node, _) => dag.node(node),
        node => node,
    };
    let (Node::Collect(aggregate, _) | Node::CollectWhile(aggregate, ..)) = node else { return None };
    match aggregate {
        Aggregate::Count | Aggregate::Max | Aggregate::Distinct => Some(Course::Up),
        Aggregate::Min => Some(Course::Down),
        Aggregate::First => Some(Course::Fixed),
        _ => None,
    }
}

/// Whether no later value changes the verdict.
fn is_final(requirement: &Requirement, spec: &Specification, course: Course, value: &tw_core::Value) -> bool {
    let Some(order) = order(value, requirement.limit(&spec.program)) else { return false };
    // What the value has passed, or reached, it does not come back to.
    let (passed, reached) = match course {
        Course::Fixed => return true,
        Course::Up => (order.is_gt(), order.is_ge()),
        Course::Down => (order.is_lt(), order.is_le()),
    };
    match (requirement.op, course) {
        (CompareOp::Le | CompareOp::Gt, Course::Up) | (CompareOp::Ge | CompareOp::Lt, Course::Down) => passed,
        (CompareOp::Eq | CompareOp::Ne, _) => passed,
        _ => reached,
    }
}

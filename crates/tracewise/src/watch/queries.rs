//! Queries on a live trace, their values so far; and requirements, part by part.

use super::WatchValue;
use crate::require::parts::{self, Parts, Settled};
use crate::{Error, Session, Specification, plan, query};
use tw_core::codec::{Corrupt, put_bytes, take_bytes};
use tw_core::{Batch, Bits, Position, Time, Verdict};
use tw_ir::{Requirement, RootKind};
use tw_monitor::{
    AtomParts, Computed, EvaluateOptions, Known, Monitor, Positions, PredicateError, Predicates, Sink, Term,
    Terms, Unsupported,
};
use tw_trace::Stamp;

/// The queries and requirements of a specification and what they have seen.
pub(super) struct QueryMonitor {
    queries: Option<Queries>,
    pub required: Option<Parts>,
}

struct Queries {
    spec: Specification,
    engine: &'static str,
    monitor: Box<dyn Monitor>,
    atoms: AtomParts,
    terms: AtomParts,
}

/// What they read of some positions.
pub(super) struct Read {
    queries: Option<(Vec<Bits>, Vec<Term>)>,
    required: Option<parts::Read>,
}

impl Read {
    /// The positions from `from` on, `len` of them.
    pub(super) fn part(&self, from: usize, len: usize) -> Self {
        let order: Vec<u32> = (from..from + len).map(|at| at as u32).collect();
        let part = |bits: &Bits| (from..from + len).map(|at| bits.get(at)).collect();
        let queries = |(atoms, terms): &(Vec<Bits>, Vec<Term>)| {
            (atoms.iter().map(part).collect(), terms.iter().map(|term| term.gather(&order)).collect())
        };
        Self {
            queries: self.queries.as_ref().map(queries),
            required: self.required.as_ref().map(|read| read.part(from, len)),
        }
    }
}

impl QueryMonitor {
    /// Of the queries and requirements of `spec`, if it has some.
    pub(super) fn open(session: &Session, spec: &Specification) -> Result<Option<Self>, Error> {
        let own = spec.of_kind(RootKind::Query);
        let queries = match own.program.roots.is_empty() {
            true => None,
            false => Some(Queries::open(session, own.into_owned())?),
        };
        let required = Parts::open(session, spec, true)?;
        Ok((queries.is_some() || required.is_some()).then_some(Self { queries, required }))
    }

    /// The engine.
    pub(super) fn engine(&self) -> &'static str {
        let required = || self.required.as_ref().map(Parts::engine);
        self.queries.as_ref().map(|queries| queries.engine).or_else(required).unwrap_or_default()
    }

    /// What is read of a batch.
    pub(super) fn read(&self, batch: &Batch, times: Option<&[Time]>) -> Result<Read, PredicateError> {
        let queries = self.queries.as_ref().map(|queries| queries.read(batch)).transpose()?;
        let required = self.required.as_ref().map(|parts| parts.read(batch, times)).transpose()?;
        Ok(Read { queries, required })
    }

    /// Takes the next positions; gives the requirements that they settle.
    pub(super) fn take(
        &mut self,
        len: usize,
        read: &Read,
        times: Option<&[Time]>,
        stamp: &dyn Fn(Time) -> Stamp,
    ) -> Result<Vec<Settled>, Error> {
        if let (Some(queries), Some((atoms, terms))) = (&mut self.queries, &read.queries) {
            let positions = Positions { len, atoms, terms, times, ..Positions::default() };
            let taken = queries.monitor.feed(&positions, &mut Sink::default());
            taken.map_err(|refusal| queries.refused(refusal))?;
        }
        match (&mut self.required, &read.required) {
            (Some(parts), Some(read)) => parts.take(len, read, times, stamp),
            _ => Ok(Vec::new()),
        }
    }

    /// The values of queries so far: those of a trace that ends here.
    pub(super) fn values(&mut self) -> Result<Vec<WatchValue>, Error> {
        self.queries.as_mut().map_or(Ok(Vec::new()), Queries::values)
    }

    /// Whether there are queries, beside requirements.
    pub(super) fn has_queries(&self) -> bool {
        self.queries.is_some()
    }

    /// The requirement of that number.
    pub(super) fn requirement(&self, number: usize) -> Option<&Requirement> {
        self.required.as_ref().map(|parts| parts.requirement(number))
    }

    /// The verdicts of requirements, should the trace end here.
    pub(super) fn verdicts(&mut self) -> Vec<Verdict> {
        self.required.as_mut().map_or(Vec::new(), Parts::verdicts)
    }

    pub(super) fn save(&mut self, out: &mut Vec<u8>) {
        if let Some(parts) = &mut self.required {
            parts.save(out);
        }
        if let Some(queries) = &self.queries {
            let mut own = Vec::new();
            queries.monitor.save(&mut own);
            put_bytes(&own, out);
        }
    }

    pub(super) fn restore(&mut self, mut bytes: &[u8]) -> Result<(), Corrupt> {
        if let Some(parts) = &mut self.required {
            parts.restore(&mut bytes)?;
        }
        match &mut self.queries {
            Some(queries) => queries.monitor.restore(take_bytes(&mut bytes)?),
            None => Ok(()),
        }
    }
}

impl Queries {
    fn open(session: &Session, spec: Specification) -> Result<Self, Error> {
        if let Some(root) = spec.program.roots.iter().find(|root| !root.division.is_whole()) {
            return Err(plan::refuse_division(&spec, root));
        }
        let options = EvaluateOptions { semantics: tw_ir::Semantics::Finite, ..session.evaluate_options() };
        let (engine, monitor) = plan::choose_query_monitor(&spec, &options)?;
        let (atoms, terms) = (Predicates::new(&spec.program).parts(), Terms::new(&spec.program).parts());
        Ok(Self { spec, engine, monitor, atoms, terms })
    }

    fn read(&self, batch: &Batch) -> Result<(Vec<Bits>, Vec<Term>), PredicateError> {
        let atoms = Predicates::with_parts(&self.spec.program, self.atoms.clone()).evaluate(batch)?;
        Ok((atoms, Terms::with_parts(&self.spec.program, self.terms.clone()).evaluate(batch)))
    }

    fn values(&mut self) -> Result<Vec<WatchValue>, Error> {
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

    fn refused(&self, refusal: Unsupported) -> Error {
        plan::refused(&self.spec, self.engine, refusal)
    }
}

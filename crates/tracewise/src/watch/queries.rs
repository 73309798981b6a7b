//! Queries on a live trace: their values so far.

use super::WatchValue;
use crate::engines;
use crate::{Error, Session, Specification, plan, query};
use tw_core::codec::Corrupt;
use tw_core::{Batch, Bits, Position, Time};
use tw_ir::RootKind;
use tw_monitor::{
    Answers, AtomParts, Computed, EvaluateOptions, Known, Monitor, Positions, PredicateError, Predicates,
    Sink, Telling, Term, Terms, Unsupported,
};

/// The queries of a specification and what they have seen.
pub(super) struct QueryMonitor {
    spec: Specification,
    engine: &'static str,
    monitor: Box<dyn Monitor>,
    atoms: AtomParts,
    terms: AtomParts,
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
        let spec = spec.of_kind(RootKind::Query).into_owned();
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
                    return Ok(Some(Self { engine: engine.name(), monitor, atoms, terms, spec }));
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

    /// The values so far: those of a trace that ends here.
    pub(super) fn values(&mut self) -> Result<Vec<WatchValue>, Error> {
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
        self.monitor.save(out);
    }

    pub(super) fn restore(&mut self, bytes: &[u8]) -> Result<(), Corrupt> {
        self.monitor.restore(bytes)
    }

    pub(super) fn refused(&self, refusal: Unsupported) -> Error {
        plan::refused(&self.spec, self.engine, refusal)
    }
}

//! Queries on a live trace: their values so far.

use super::WatchValue;
use crate::{Error, QUERY_ENGINES, Session, Specification, plan, query};
use tw_core::{Batch, Bits, Position, Time};
use tw_ir::RootKind;
use tw_monitor::{
    AtomParts, Computed, Corrupt, EvaluateOptions, Positions, PredicateError, Predicates, QueryMonitor, Term,
    Terms, Unsupported,
};

/// The queries of a specification and what they have seen.
pub(super) struct Accounts {
    spec: Specification,
    engine: &'static str,
    monitor: Box<dyn QueryMonitor>,
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

impl Accounts {
    /// Of the queries of `spec`, if it has some.
    pub(super) fn open(session: &Session, spec: &Specification) -> Result<Option<Self>, Error> {
        let mut spec = spec.clone();
        spec.program.roots.retain(|root| root.kind == RootKind::Query);
        if spec.program.roots.is_empty() {
            return Ok(None);
        }
        if let Some(root) = spec.program.roots.iter().find(|root| !root.division.is_whole()) {
            let diagnostic = tw_diag::Diagnostic::error(
                "engine-refuses",
                "a query that divides the trace (`by`, `every`) cannot be watched",
            )
            .at(root.span, "this query")
            .help("`tracewise query` computes it on a stored trace");
            return Err(Error::Unsupported { diagnostic, sources: Box::new(spec.sources.clone()) });
        }
        let options = EvaluateOptions { semantics: tw_ir::Semantics::Finite, ..session.evaluate_options() };
        let mut refusal = None;
        for engine in QUERY_ENGINES.iter().filter(|engine| engine.reads_forward()) {
            match engine.monitor(&spec.program, &options) {
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
            None => Error::Usage("this build has no engine that watches queries".into()),
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
        self.monitor.push(&Positions {
            len,
            atoms: &read.atoms,
            terms: &read.terms,
            times,
            ..Positions::default()
        })
    }

    /// The values so far: those of a trace that ends here.
    pub(super) fn values(&mut self) -> Result<Vec<WatchValue>, Error> {
        if self.monitor.position() == 0 {
            return Ok(Vec::new());
        }
        let position: Position = self.monitor.position() - 1;
        let values =
            self.monitor.values().map_err(|refusal| plan::refused(&self.spec, self.engine, refusal))?;
        let notes = self.monitor.notes();
        let roots = &self.spec.program.roots;
        let bounds = |root: &tw_ir::Root| {
            let parts = query::approximations(&self.spec, root, &notes);
            parts.into_iter().map(|part| part.bound).collect::<Vec<String>>()
        };
        let told = roots.iter().zip(values).map(|(root, computed)| (computed, bounds(root)));
        let told: Vec<(Computed, Vec<String>)> = told.collect();
        let value = |(root, (computed, approximate)): (&'_ tw_ir::Root, _)| {
            let (value, fault) = match computed {
                Computed::Value(value) => (value, None),
                Computed::Error(message) => (tw_core::Value::Null, Some(message)),
            };
            let (query, title) = (root.name.clone(), root.title.clone());
            WatchValue { query, title, value, fault, approximate, position }
        };
        Ok(roots.iter().zip(told).map(value).collect())
    }

    pub(super) fn save(&self, out: &mut Vec<u8>) {
        self.monitor.save(out);
    }

    pub(super) fn restore(&mut self, mut bytes: &[u8]) -> Result<(), Corrupt> {
        self.monitor.restore(&mut bytes)?;
        if bytes.is_empty() { Ok(()) } else { Err(Corrupt("it is longer than it should be".into())) }
    }

    pub(super) fn refused(&self, refusal: Unsupported) -> Error {
        plan::refused(&self.spec, self.engine, refusal)
    }
}

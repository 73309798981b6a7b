//! Which engine runs what: made once, shared by all shards.

use crate::plan::{self, answers, live_options, refusal_error, refuse_division};
use crate::run::beside::{Beside, BesideReader};
use crate::run::clock::refuse_units;
use crate::run::timing::measures;
use crate::{Error, Specification, engines};
use std::sync::Arc;
use tw_core::{Batch, TimeUnit};
use tw_ir::{Alone, Clock, Fingerprint, NodeId, Program, RootKind, Semantics, Slot, alone, fingerprint};
use tw_monitor::{AtomParts, Engine, EvaluateOptions, Monitor, Predicates, Telling, Terms, Unsupported};

/// How a specification is to be monitored.
#[derive(Clone, Debug)]
pub struct PlanOptions {
    /// Which verdicts are settled, and what the end decides: three-valued by default. Queries know two values.
    pub semantics: Semantics,
    /// Where time comes from: timestamps, or the number of a position in its key's trace.
    pub clock: Clock,
    /// What a bare number in an interval counts.
    pub unit: TimeUnit,
    /// What is told beside the verdicts of properties.
    pub telling: Telling,
    /// The engine for properties, by name; `auto` takes for each the first that accepts it.
    pub engine: String,
    /// Bytes that one trace may hold.
    pub memory_budget: usize,
    /// States that a machine may keep.
    pub state_budget: usize,
}

impl Default for PlanOptions {
    fn default() -> Self {
        let defaults = EvaluateOptions::default();
        Self {
            semantics: Semantics::Ltl3,
            clock: Clock::Stamps,
            unit: TimeUnit::Seconds,
            telling: Telling::Verdicts,
            engine: "auto".into(),
            memory_budget: defaults.memory_budget,
            state_budget: defaults.state_budget,
        }
    }
}

/// A specification ready to be monitored. Copies share it.
#[derive(Clone)]
pub struct Plan(Arc<Inner>);

struct Inner {
    spec: Specification,
    options: PlanOptions,
    properties: Vec<Planned>,
    atoms: AtomParts,
    terms: AtomParts,
    beside: Option<BesideReader>,
    parametric: Option<Arc<tw_engine_parametric::Plan>>,
}

/// A property or query with its engine.
#[derive(Clone)]
pub struct Planned {
    /// Its name.
    pub name: String,
    /// Whether it has a value, rather than a verdict.
    pub query: bool,
    /// What it means: equal for equal formulas, wherever they stand and whatever they are called.
    pub fingerprint: Fingerprint,
    /// The engine that runs it, by name …
    pub engine: &'static str,
    /// … and why it is this one: what it does, and what faster ones refuse.
    pub reason: String,
    /// Whether it measures time.
    pub timed: bool,
    pub(super) by: Option<String>,
    /// The numbers of its atoms and terms in the whole program.
    pub(super) atoms: Vec<usize>,
    pub(super) terms: Vec<usize>,
    /// The numbers of its event patterns with variables.
    pub(super) patterns: Vec<usize>,
    runs: &'static dyn Engine,
    alone: Alone,
    options: EvaluateOptions,
}

impl Plan {
    /// Chooses an engine for each property and query, or refuses with the subformula that none can run.
    pub fn new(spec: &Specification, options: &PlanOptions) -> Result<Self, Error> {
        let spec = &*spec.counted_in(options.unit);
        let evaluate = EvaluateOptions {
            semantics: options.semantics,
            clock: options.clock,
            unit: options.unit,
            threads: 1,
            memory_budget: options.memory_budget,
            state_budget: options.state_budget,
            ..EvaluateOptions::default()
        };
        match options.clock {
            Clock::Dense => return Err(Error::refused("continuous time is for stored traces")),
            Clock::Index => refuse_units(spec, &evaluate, "positions are the clock")?,
            Clock::Stamps => {}
        }
        let parametric = crate::monitors::plan(spec)?;
        let required = !spec.program.requirements.is_empty();
        if spec.program.roots.is_empty() && parametric.is_none() && !required {
            return Err(Error::refused("the specification has no properties, no queries and no monitors"));
        }
        let planned = |root| Planned::new(spec, root, options, &evaluate);
        let properties = (0..spec.program.roots.len()).map(planned).collect::<Result<Vec<_>, Error>>()?;
        let (atoms, terms) = (Predicates::new(&spec.program).parts(), Terms::new(&spec.program).parts());
        let (spec, options) = (spec.clone(), options.clone());
        let beside = BesideReader::new(&spec.program);
        Ok(Self(Arc::new(Inner { spec, options, properties, atoms, terms, beside, parametric })))
    }

    /// The specification.
    pub fn specification(&self) -> &Specification {
        &self.0.spec
    }

    /// How it is monitored.
    pub fn options(&self) -> &PlanOptions {
        &self.0.options
    }

    /// Its properties and queries, in the order of the specification.
    pub fn properties(&self) -> &[Planned] {
        &self.0.properties
    }

    /// What has to be read at each position, in the order of the columns of a batch.
    pub fn slots(&self) -> &[Slot] {
        &self.0.spec.program.slots
    }

    /// Whether positions need a time.
    pub fn timed(&self) -> bool {
        self.measures() || self.0.properties.iter().any(|property| property.timed)
    }

    /// Whether terms read the time of positions.
    pub(super) fn measures(&self) -> bool {
        measures(self.program())
    }

    /// What its monitors mean.
    pub(super) fn meaning(&self) -> [u8; 32] {
        let mut hash = blake3::Hasher::new();
        for monitor in &self.program().monitors {
            hash.update(crate::monitors::meaning(&self.0.spec, monitor).as_bytes());
        }
        *hash.finalize().as_bytes()
    }

    /// The monitors, made ready.
    pub(super) fn parametric(&self) -> Option<&Arc<tw_engine_parametric::Plan>> {
        self.0.parametric.as_ref()
    }

    pub(super) fn program(&self) -> &Program {
        &self.0.spec.program
    }

    pub(super) fn predicates(&self) -> Predicates<'_> {
        Predicates::with_parts(self.program(), self.0.atoms.clone())
    }

    /// What is read beside atoms, for programs that have something of the kind.
    pub(super) fn beside(&self, batch: &Batch) -> Option<Beside> {
        self.0.beside.as_ref().map(|reader| reader.read(self.program(), batch))
    }

    pub(super) fn terms(&self) -> Terms<'_> {
        Terms::with_parts(self.program(), self.0.terms.clone())
    }

    /// A monitor of each property and query.
    pub(super) fn monitors(&self) -> Result<Vec<Box<dyn Monitor>>, Error> {
        let monitor = |(number, property): (usize, &Planned)| {
            let made =
                property.runs.monitor(&property.alone.program, &property.options, self.0.options.telling);
            made.map_err(|refusal| self.refused(number, refusal))
        };
        self.0.properties.iter().enumerate().map(monitor).collect()
    }

    /// A refusal of the engine of a property.
    pub(super) fn refused(&self, property: usize, refusal: Unsupported) -> Error {
        let planned = &self.0.properties[property];
        planned.refused(&self.0.spec, refusal, &format!("engine `{}` cannot run", planned.engine))
    }
}

impl Planned {
    fn new(
        spec: &Specification,
        number: usize,
        options: &PlanOptions,
        evaluate: &EvaluateOptions,
    ) -> Result<Self, Error> {
        let root = &spec.program.roots[number];
        if root.division.every.is_some() {
            return Err(refuse_division(spec, root));
        }
        let alone = alone(&spec.program, number);
        let place = |all: &[NodeId], of: Vec<NodeId>| -> Vec<usize> {
            of.iter().filter_map(|id| all.binary_search(&alone.nodes[id.index()]).ok()).collect()
        };
        let (atoms, terms) = (alone.program.atoms(), alone.program.terms());
        let stamped = evaluate.clock == Clock::Stamps;
        let mut planned = Self {
            name: root.name.clone(),
            query: root.kind == RootKind::Query,
            fingerprint: fingerprint(&alone.program),
            engine: "",
            reason: String::new(),
            timed: stamped && alone.program.dag.nodes().iter().any(|node| node.interval().is_some()),
            by: root.division.by.as_ref().map(ToString::to_string),
            atoms: place(&spec.program.atoms(), atoms),
            terms: place(&spec.program.terms(), terms),
            patterns: place(&spec.program.patterns(), alone.program.patterns()),
            runs: crate::engines::ENGINES[0],
            options: live_options(answers(root), evaluate),
            alone,
        };
        let named = (options.engine != "auto" && !planned.query).then_some(options.engine.as_str());
        let candidates: Vec<&'static dyn Engine> = match named {
            Some(name) => vec![plan::named(answers(root), name)?],
            None => engines::giving(answers(root)).filter(|engine| engine.reads_forward()).collect(),
        };
        let mut refusals: Vec<(&str, Unsupported)> = Vec::new();
        for engine in candidates {
            match engine.monitor(&planned.alone.program, &planned.options, options.telling) {
                Ok(_) => {
                    let others: Vec<String> = refusals
                        .iter()
                        .map(|(name, refusal)| format!("; {name} refuses {}", refusal.what))
                        .collect();
                    (planned.runs, planned.engine) = (engine, engine.name());
                    planned.reason = format!("{}{}", engine.about(), others.concat());
                    return Ok(planned);
                }
                Err(refusal) => refusals.push((engine.name(), refusal)),
            }
        }
        // The first is the fastest that might; one that could, had it more budget, says more.
        let first = refusals.iter().position(|(_, refusal)| refusal.exhausted).unwrap_or(0);
        match refusals.into_iter().nth(first) {
            Some((_, refusal)) => Err(planned.refused(spec, refusal, "no engine of this build can watch")),
            None => Err(Error::refused("this build has no engine that reads live events")),
        }
    }

    fn refused(&self, spec: &Specification, mut refusal: Unsupported, who: &str) -> Error {
        refusal.node = refusal.node.and_then(|node| self.alone.nodes.get(node.index()).copied());
        refusal_error(spec, who, refusal)
    }
}

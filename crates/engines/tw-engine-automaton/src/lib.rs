//! Deterministic automata: one table look-up per event.
//!
//! The paper, "Monitoring Programs using Rewriting", suggests to enumerate the residuals of a formula beforehand, as
//! the states of an automaton whose transitions test only the atoms that matter. [`tw_automata::deterministic`] builds
//! and minimises it; this crate runs it. The state kept is one number per property.
//!
//! | how a property runs | when | one event | memory |
//! |---|---|---|---|
//! | table | at most 8 atoms | one look-up; several positions at once from columns | states × 2^atoms |
//! | tree | more atoms | one test per atom that matters | the trees |
//! | parts | the product of its conjuncts is too large | one step of each, and a hash | the parts, and tuples in use |
//! | on demand | otherwise | cached, else one composition of diagrams | at most the budgets |
//!
//! [`mode`] tells which. Verdicts of the first two are settled as early as possible; those in parts as soon as the
//! parts tell (one conjunct fails, or all are settled to hold); those on demand when the residual is constant or, under
//! `ltl3`, when no infinite continuation can change it.

mod bank;
mod goal;
mod leap;
mod machine;
mod quiet;
mod split;
mod table;

pub use machine::Automata;

use goal::Goal;
use std::sync::Arc;
use tw_automata::deterministic::{Budget, Deterministic, Options, Stop};
use tw_automata::draw::{self, Graph};
use tw_ir::{NodeId, Program, Semantics};
use tw_monitor::{Engine, EvaluateOptions, Forward, PlannedEvaluator, PlannedMonitor, Telling, Unsupported};

/// The engine of deterministic automata.
#[derive(Clone, Copy, Debug, Default)]
pub struct Automaton;

impl Engine for Automaton {
    fn name(&self) -> &'static str {
        "automaton"
    }

    fn about(&self) -> &'static str {
        "minimal deterministic automata, one look-up per event; verdicts as early as possible"
    }

    fn plan<'p>(&self, program: &'p Program, options: &EvaluateOptions) -> PlannedEvaluator<'p> {
        Forward::evaluator(program, options, Automata::new)
    }

    fn reads_forward(&self) -> bool {
        true
    }

    fn monitor(&self, program: &Program, options: &EvaluateOptions, telling: Telling) -> PlannedMonitor {
        Forward::monitor(program, options, telling, Automata::new)
    }
}

/// How a property is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// By its minimal automaton.
    Complete {
        /// Number of states.
        states: usize,
        /// Whether transitions are a table rather than trees.
        table: bool,
    },
    /// By the automata of its conjuncts or disjuncts.
    Split {
        /// How many there are.
        parts: usize,
        /// How many of them make their states on demand.
        on_demand: usize,
    },
    /// By states made on demand.
    OnDemand,
}

impl std::fmt::Display for Mode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {
            Mode::Complete { states, table } => {
                let (plural, how) =
                    (if states == 1 { "" } else { "s" }, if table { "table" } else { "trees" });
                write!(f, "{states} state{plural}, transitions as {how}")
            }
            Mode::Split { parts, on_demand: 0 } => write!(f, "split into {parts} automata"),
            Mode::Split { parts, on_demand } => {
                write!(f, "split into {parts} automata, {on_demand} of them with states on demand")
            }
            Mode::OnDemand => write!(f, "states on demand"),
        }
    }
}

/// How the engine would run a formula of the program.
pub fn mode(program: &Program, goal: NodeId, options: &EvaluateOptions) -> Result<Mode, Unsupported> {
    let atoms = program.atoms().into();
    Ok(Goal::new(&Arc::new(program.clone()), &atoms, goal, &build_options(options, 1))?.mode())
}

/// The minimal automaton of a formula, to be drawn.
pub fn graph(
    program: &Program,
    goal: NodeId,
    title: &str,
    options: &EvaluateOptions,
) -> Result<Graph, Unsupported> {
    let mut build = build_options(options, 1);
    // Drawn is what is reached from the start; a verdict that stands hides what the end would say.
    (build.anywhere, build.verdicts_only) = (false, options.semantics == Semantics::Ltl3);
    let automaton = Deterministic::new(&Arc::new(program.clone()), goal, &build).map_err(unsupported)?;
    Ok(draw::deterministic(&automaton, title))
}

/// Nodes of diagrams for a single property; many properties share twice as much.
const NODES: usize = 1 << 17;
/// Nodes that every property may have.
const NODES_AT_LEAST: usize = 1 << 13;
/// What a node costs, with the tables it stands in.
const NODE_BYTES: usize = 128;

/// Budgets of one of several goals.
fn build_options(options: &EvaluateOptions, goals: usize) -> Options {
    let shared = (4 * NODES / goals.max(1)).clamp(NODES_AT_LEAST, NODES);
    let nodes = shared.min(options.memory_budget / NODE_BYTES / goals.max(1));
    let budget = Budget { states: options.state_budget, nodes };
    Options { semantics: options.semantics, budget, anywhere: true, verdicts_only: false }
}

fn unsupported(stop: Stop) -> Unsupported {
    match stop {
        Stop::Refused(refused) => Unsupported::construct(refused.node, refused.what),
        Stop::Budget(what) => Unsupported::budget(what),
    }
}

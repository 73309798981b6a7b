//! Breadth-first traversal: forwards, one position at a time, with every run that is still possible.
//!
//! BREADTH-FIRST and BREADTH-FIRST-PAST of "Checking Finite Traces using Alternating Automata". A *slice* is a set of
//! nodes that one run is in at a position; the traversal keeps the set of slices of all runs and moves it on by one
//! position at a time. Past operators have one remembered bit each and are read like atoms, which is the `past[]` of
//! the paper; so no future operator may stand inside a past one. As against the print: slices are collected as
//! members of a set (the surviving empty slice is not lost), past nodes are never followed forwards and never reject.
//!
//! Two improvements change no verdict. Literals are decided before slices are multiplied out, so slices hold future
//! nodes alone; and slices that include others are dropped, since whatever continues the larger continues the smaller.
//! With `faithful` both are left out and a state is the published set of candidates.
//!
//! A goal is settled to be false when no slice is left and to be true when the empty slice is among them, and where that
//! may come late, by a small automaton beside the slices (`settle`; not with `faithful`). Under the
//! three-valued semantics the slices of the negation are followed too, and a goal is settled exactly when all slices of
//! the one or of the other are empty over infinite words.
//!
//! **State kept.** A set of slices (and one of the negation), the bits of the past, and whether the goal holds if the
//! trace ends here; each distinct state once.
//!
//! **Cost.** One look-up per position where a state met the row before; otherwise the slices are multiplied out, in
//! the worst case exponentially many in |φ|, at most `state_budget` of them. States that are no longer in use are
//! forgotten when there are more than `state_budget` of them or they take half of `memory_budget`; neither time nor
//! memory grows with the trace.

mod build;
mod family;
mod forget;
mod intern;
mod machine;
mod residual;
mod saved;
mod settle;
mod step;
mod stored;
mod table;
mod unfold;
mod weighted;

pub(crate) use family::Limits;
pub(crate) use stored::Stored;

use machine::Slices;
use tw_ir::Program;
use tw_monitor::{Engine, EvaluateOptions, Forward, PlannedEvaluator, PlannedMonitor, Telling};

/// The engine `breadth-first`.
#[derive(Clone, Copy, Debug, Default)]
pub struct BreadthFirst;

impl Engine for BreadthFirst {
    fn name(&self) -> &'static str {
        "breadth-first"
    }

    fn about(&self) -> &'static str {
        "alternating automaton, every run at once, forwards; live traces and three-valued verdicts"
    }

    fn published(&self) -> Option<&'static str> {
        Some("Checking Finite Traces using Alternating Automata")
    }

    fn plan<'p>(&self, program: &'p Program, options: &EvaluateOptions) -> PlannedEvaluator<'p> {
        Forward::evaluator(program, options, Slices::build)
    }

    fn reads_forward(&self) -> bool {
        true
    }

    fn monitor(&self, program: &Program, options: &EvaluateOptions, telling: Telling) -> PlannedMonitor {
        Forward::monitor(program, options, telling, Slices::build)
    }
}

//! Monitoring by rewriting: the state is a formula ("Monitoring Programs using Rewriting", Havelund and Roşu).
//!
//! **Idea.** An event `e` turns what is owed, φ, into what the rest of the trace owes, `φ{e}`; the last event turns it
//! into a verdict, `φ{e*}`. A canonical form, exclusive-or of conjunctions ([`tw_automata::residual`]), keeps residuals
//! small and equal ones identical. Past operators (without future ones inside) are one remembered bit each.
//!
//! **State.** A residual, the memory of the past operators, and the verdict should the trace end here.
//!
//! **Cost.** The first time a residual meets the atoms that matter to it, it is rewritten: polynomial in its size, which
//! is exponential in the formula at worst and about twice the formula as a rule. Every further time is one look-up
//! in a table: dense where at most eight atoms matter, hashed beyond. Memory is that of the residuals met and of the
//! table; beyond `EvaluateOptions::state_budget` residuals of a formula those that are not in use are forgotten.
//!
//! **Definite verdicts.** A residual that is a constant settles the formula, but rewriting knows no temporal laws and
//! may miss that. A search through the graph of residuals finds that every continuation has the same end; over
//! infinite continuations ([`tw_ir::Semantics::Ltl3`]) the question is one of emptiness. Both are bounded, and leave the
//! verdict open when the bound is reached.
//!
//! [`residuals`] shows the formula after each event; [`maude()`] writes the rewriting system itself, for a second opinion.
//!
//! ```
//! use tw_core::Bits;
//! use tw_engine_rewrite::residuals;
//! use tw_monitor::{EvaluateOptions, Trace};
//! use tw_spec::{LowerOptions, lower, parse_formula};
//!
//! let program = lower(&parse_formula("G (req -> F ack)", 0).value, &LowerOptions::default()).value;
//! let column = |bits: [bool; 3]| bits.into_iter().collect::<Bits>();
//! let atoms = vec![column([false, true, false]), column([false, false, true])];
//! let trace = Trace { len: 3, atoms, ..Trace::default() };
//! let owed = residuals(&program, program.roots[0].node, &trace, &EvaluateOptions::default(), 100).unwrap();
//! assert_eq!(owed[0].owed, "G (req -> F ack)");
//! assert_eq!(owed[1].owed, "G (req -> F ack) & F ack");
//! assert_eq!(owed[2].canonical, "G (true ^ req ^ req & F ack)");
//! ```

mod goal;
mod machine;
mod maude;
mod memo;
mod memory;
mod residuals;
mod room;
mod run;
mod settle;

pub use maude::maude;
pub use residuals::{Residual, Rewriting, residuals};

use machine::Rewriter;
use tw_ir::Program;
use tw_monitor::{Engine, EvaluateOptions, Forward, PlannedEvaluator, PlannedMonitor, Telling};

/// The rewriting engine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rewrite;

impl Engine for Rewrite {
    fn name(&self) -> &'static str {
        "rewrite"
    }

    fn about(&self) -> &'static str {
        "formula transformation: each event rewrites what is owed; linear in the trace, reads forward"
    }

    fn published(&self) -> Option<&'static str> {
        Some("Monitoring Programs using Rewriting")
    }

    fn plan<'p>(&self, program: &'p Program, options: &EvaluateOptions) -> PlannedEvaluator<'p> {
        Forward::evaluator(program, options, Rewriter::build)
    }

    fn reads_forward(&self) -> bool {
        true
    }

    fn monitor(&self, program: &Program, options: &EvaluateOptions, telling: Telling) -> PlannedMonitor {
        Forward::monitor(program, options, telling, Rewriter::build)
    }
}

//! Whether some infinite continuation satisfies what is still owed: the question behind three-valued verdicts.
//!
//! After a prefix, a property is settled to hold when no infinite continuation satisfies the negation of what it still
//! owes, and settled to fail when none satisfies what it owes. Each is a question of emptiness, answered as in "Fast
//! LTL to Büchi Automata Translation" (Gastin, Oddoux): the alternating automaton of the owed formulas, very weak as
//! its only cycles are loops of single nodes, is read as a generalised Büchi automaton whose acceptance stands on
//! transitions.
//!
//! - A *configuration* is a set of obligations (expressions of the alternating automaton that are to hold from the next
//!   position on) and what the past operators in them remember.
//! - A *transition* picks, for every obligation, a way to meet it: literals that the position must satisfy, and
//!   obligations for the position after. Literals are symbolic, so a transition stands for all letters that satisfy
//!   them; only atoms that a past operator has to remember are split further. Transitions are made one at a time, as
//!   the search asks for them, and those that another one makes superfluous are left out.
//! - A rejecting loop `f` (of `F U M`) that is owed before a transition is *pending* over it unless the transition
//!   meets it without taking its loop. A run is accepting if no loop is pending over all its transitions from some
//!   point on.
//!
//! Some run is accepting if and only if a strongly connected component can be reached over whose transitions no loop is
//! pending throughout; Couvreur's variant of Tarjan's search finds it as soon as the edge that closes it is seen.
//! Conjuncts that share no atom are separate questions, as a word of each together make a word of both.
//!
//! The cost is that of satisfiability, exponential in the worst case, hence budgets: of configurations and steps for one
//! question, and of steps for all questions together ([`STEPS`]), so that many questions that each just fit do not
//! add up. Verdicts about configurations are kept for the questions that follow, and so is what each question came to;
//! a question that ran out of budget is not tried again, and that there was one is told ([`Emptiness::gave_up`]).

pub(crate) mod expand;
pub(crate) mod graph;
mod remember;
pub(crate) mod scratch;
mod search;
pub(crate) mod tables;
#[cfg(test)]
mod tests;
pub(crate) mod transition;

use crate::alternating::{Alternating, ExprId, Options};
use crate::past::Past;
use graph::{Configurations, Verdict};
use rustc_hash::FxHashMap;
use std::sync::Arc;
use tables::Tables;
use tw_ir::{NodeId, Program};

/// Units of work (expressions looked at) per configuration of the budget.
const WORK_PER_CONFIGURATION: usize = 10_000;

/// Units of work (expressions looked at, obligations compared) for all questions together: a fraction of a second.
pub const STEPS: usize = 60_000_000;

/// That questions were given up, in words.
pub fn gave_up() -> String {
    format!("more than {STEPS} steps to find out which infinite continuations satisfy what is owed")
}

/// Decides satisfiability over infinite words, remembering what it found.
#[derive(Clone, Debug)]
pub struct Emptiness {
    automaton: Alternating,
    atoms: Arc<[NodeId]>,
    tables: Tables,
    configurations: Configurations,
    /// The automata of owed formulas; `None` for those that have none.
    translated: FxHashMap<(NodeId, bool), Option<ExprId>>,
    /// What questions came to, by what was owed and what was remembered.
    answers: FxHashMap<Box<[u32]>, bool>,
    scratch: scratch::Scratch,
    budget: usize,
    /// Left of the steps for all questions.
    steps: usize,
    gave_up: bool,
}

impl Emptiness {
    /// For formulas of `program`; `past` are the past operators in them. `budget` bounds the configurations explored
    /// per question; all of them share [`STEPS`].
    pub fn new(program: &Program, past: &Past, budget: usize) -> Self {
        Self::among(&program.atoms().into(), past, budget)
    }

    /// As [`Emptiness::new`], where the program's atoms are known.
    pub fn among(all: &Arc<[NodeId]>, past: &Past, budget: usize) -> Self {
        let atoms = all.len();
        Self {
            automaton: Alternating::new(Options::default()),
            atoms: all.clone(),
            tables: Tables::new(past.clone(), atoms),
            configurations: Configurations::default(),
            translated: FxHashMap::default(),
            answers: FxHashMap::default(),
            scratch: scratch::Scratch::new(atoms),
            budget,
            steps: STEPS,
            gave_up: false,
        }
    }

    /// With other steps for all questions.
    #[must_use]
    pub fn with_steps(self, steps: usize) -> Self {
        Self { steps, ..self }
    }

    /// Whether some question was left without an answer because a budget ran out.
    pub fn gave_up(&self) -> bool {
        self.gave_up
    }

    /// Steps that are left for further questions.
    pub fn steps_left(&self) -> usize {
        self.steps
    }

    /// Whether some infinite word, read after a prefix that left `memory` (of `past`), satisfies all of `owed` at its
    /// first position: each a formula and whether it is negated. `None` when the budget runs out, and for formulas
    /// that have no alternating automaton or hold past operators that `past` does not.
    pub fn satisfiable(
        &mut self,
        program: &Program,
        owed: &[(NodeId, bool)],
        memory: &[bool],
    ) -> Option<bool> {
        let question = question(owed, memory);
        if let Some(&answer) = self.answers.get(&question) {
            return Some(answer);
        }
        let mut conjuncts = Vec::with_capacity(owed.len());
        for &formula in owed {
            conjuncts.push(self.translate(program, formula)?);
        }
        self.make_room();
        let answer = self.decide(&conjuncts, memory)?;
        self.answers.insert(question, answer);
        Some(answer)
    }

    /// Bytes held by what is remembered between questions.
    pub fn heap_bytes(&self) -> usize {
        let answers: usize = self.answers.keys().map(|key| key.len() * 4 + 40).sum();
        answers + self.configurations.heap_bytes() + self.tables.heap_bytes()
    }

    fn translate(&mut self, program: &Program, formula: (NodeId, bool)) -> Option<ExprId> {
        if let Some(&expr) = self.translated.get(&formula) {
            return expr;
        }
        let literal = |id| self.atoms.binary_search(&id).ok().map(|atom| atom as u32);
        let expr = self.automaton.formula_over(program, formula.0, formula.1, literal).ok();
        self.tables.extend(&self.automaton);
        let expr = expr.filter(|&expr| !self.tables.of(expr).foreign);
        self.translated.insert(formula, expr);
        expr
    }

    /// Forgets configurations when they are many more than one question may explore.
    fn make_room(&mut self) {
        let limit = self.budget.saturating_mul(16).max(1 << 16);
        if self.configurations.len() > limit {
            self.configurations = Configurations::default();
        }
        if self.answers.len() > limit {
            self.answers = FxHashMap::default();
        }
    }

    fn decide(&mut self, conjuncts: &[ExprId], memory: &[bool]) -> Option<bool> {
        let all = self.budget;
        let allowed = all.saturating_mul(WORK_PER_CONFIGURATION).min(self.steps);
        let (mut configurations, mut work) = (all, allowed);
        let (mut exhausted, mut empty) = (false, false);
        for component in self.tables.components(&self.automaton, conjuncts) {
            let start = self.configurations.intern(&self.tables, component, memory);
            let mut verdict = self.configurations.verdict(start);
            if verdict == Verdict::Unknown && !self.configurations.is_given_up(start) {
                let whole = configurations == all;
                verdict = search::Search::new(self, &mut configurations, &mut work).run(start);
                if verdict == Verdict::Unknown && whole {
                    self.configurations.give_up(start);
                }
            }
            match verdict {
                Verdict::Empty => {
                    empty = true;
                    break;
                }
                Verdict::NonEmpty => {}
                Verdict::Unknown => exhausted = true,
            }
        }
        self.steps -= allowed - work;
        if empty {
            return Some(false);
        }
        self.gave_up |= exhausted;
        if exhausted { None } else { Some(true) }
    }
}

/// A question as a key. The order and number of times in which formulas are owed does not matter.
fn question(owed: &[(NodeId, bool)], memory: &[bool]) -> Box<[u32]> {
    let mut key: Vec<u32> = owed.iter().map(|(node, negated)| node.0 << 1 | u32::from(*negated)).collect();
    key.sort_unstable();
    key.dedup();
    key.push(u32::MAX);
    key.extend(
        memory.chunks(32).map(|bits| bits.iter().rev().fold(0, |word, &bit| word << 1 | u32::from(bit))),
    );
    key.into_boxed_slice()
}

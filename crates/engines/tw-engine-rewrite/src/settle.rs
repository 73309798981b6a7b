//! Whether every continuation gives the same verdict.
//!
//! *Finite continuations.* From a state, the graph of residuals is searched: if every state that can be reached (and
//! the state itself) has the same end, that is the verdict, of all states met on the way too. This is the greatest
//! fixed point of "my end is v, and so it is for all my successors"; it finds `F (G a | G !a)` true from the start.
//!
//! *Infinite continuations.* A residual is unsatisfiable if each of its cubes is: the cubes, disjoint conjunctions of
//! its atoms and their negations, come from splitting on one atom after the other, and are put to
//! [`Emptiness`]. The cubes of its negation come from the same splitting.
//!
//! Both searches are cut off, for each question and over all of them. The verdict is then left open; over infinite
//! continuations, where it is the answer, whoever asked is told ([`Settle::undecided`]).

use crate::goal::{ENTERED, Goal, core_of, end_of};
use rustc_hash::FxHashSet;
use tw_automata::emptiness::{Emptiness, gave_up};
use tw_automata::past::Past;
use tw_automata::residual::{Atom, AtomId};
use tw_ir::{NodeId, Program, Semantics};
use tw_monitor::{EvaluateOptions, State, Unsupported};

/// Residuals that searches may add to those met in traces: one in as many of the budget.
const SHARE: usize = 4;
/// Transitions looked at for one question, and for all questions about a formula.
const STEPS: usize = 1 << 12;
const ALL_STEPS: usize = 1 << 17;
/// Cubes of one residual.
const CUBES: usize = 1 << 8;
/// Configurations that one question of emptiness may explore, and how many questions may fail for want of more.
const CONFIGURATIONS: usize = 1 << 10;
const FAILURES: usize = 16;

/// What is known about states.
pub(crate) struct Settle {
    /// By state: 0 not asked, 1 open, 2 false, 3 true.
    known: Vec<u8>,
    /// Left of `ALL_STEPS`, and of the residuals that searches may add.
    steps: usize,
    cores: usize,
    /// For infinite continuations.
    emptiness: Option<Emptiness>,
    failures: usize,
    /// Whether a verdict was left open for want of budget.
    undecided: bool,
}

const OPEN: u8 = 1;

fn code(verdict: Option<bool>) -> u8 {
    verdict.map_or(OPEN, |verdict| 2 + u8::from(verdict))
}

impl Settle {
    pub(crate) fn new(program: &Program, past: &Past, options: &EvaluateOptions) -> Self {
        let emptiness = (options.semantics == Semantics::Ltl3)
            .then(|| Emptiness::new(program, past, CONFIGURATIONS.min(options.state_budget)));
        let cores = options.state_budget / SHARE;
        Self { known: Vec::new(), steps: ALL_STEPS, cores, emptiness, failures: 0, undecided: false }
    }

    /// Whether a verdict over infinite continuations was left open that may be settled.
    pub(crate) fn undecided(&self) -> bool {
        self.undecided
    }

    /// Room for one more core.
    pub(crate) fn push(&mut self) {
        self.known.extend([0; 4]);
    }

    /// A core was forgotten; its number is free for another.
    pub(crate) fn forget(&mut self, core: u32) {
        self.known[(core as usize) << 2..][..4].fill(0);
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        self.known.capacity() + self.emptiness.as_ref().map_or(0, Emptiness::heap_bytes)
    }
}

impl Goal {
    /// The verdict that all continuations of a state have in common.
    pub(crate) fn settled(&mut self, program: &Program, state: State) -> Option<bool> {
        let known = self.settle.known[state as usize];
        if known != 0 {
            return (known > OPEN).then_some(known == 3);
        }
        let verdict = if self.settle.emptiness.is_some() {
            self.over_infinite(program, state)
        } else {
            self.over_finite(state)
        };
        self.settle.known[state as usize] = code(verdict);
        verdict
    }

    /// Refuses a formula whose verdict over infinite continuations cannot even be asked for before the first position.
    pub(crate) fn probe(&mut self, program: &Program) -> Result<(), Unsupported> {
        if self.settle.emptiness.is_some() {
            self.over_infinite(program, ENTERED);
        }
        if self.settle.undecided { Err(Unsupported::budget(gave_up())) } else { Ok(()) }
    }

    fn over_finite(&mut self, state: State) -> Option<bool> {
        let (core, end) = (core_of(state), end_of(state));
        // A constant is final; but `X true` owes nothing to what follows and fails if nothing does.
        if let Some(constant) = self.core_at(state).residual.as_constant() {
            return (u32::from(constant) == end).then_some(constant);
        }
        let mut seen = FxHashSet::from_iter([core]);
        let mut todo = vec![core];
        let mut steps = STEPS.min(self.settle.steps);
        while let Some(core) = todo.pop() {
            let mask = self.letters(core)?;
            let mut letter = 0;
            loop {
                steps = steps.checked_sub(1)?;
                self.settle.steps -= 1;
                // Out of budget: leave it open.
                let before = self.len();
                let next = self.look(core, letter).ok()?;
                self.settle.cores = self.settle.cores.checked_sub(self.len() - before)?;
                if end_of(next) != end || self.settle.known[next as usize] == OPEN {
                    return None;
                }
                if self.settle.known[next as usize] == 0 && seen.insert(core_of(next)) {
                    todo.push(core_of(next));
                }
                // The next subset of the mask.
                letter = letter.wrapping_sub(mask) & mask;
                if letter == 0 {
                    break;
                }
            }
        }
        let verdict = Some(end == 1);
        for core in seen {
            self.settle.known[(core << 2 | end) as usize] = code(verdict);
        }
        verdict
    }

    fn over_infinite(&mut self, program: &Program, state: State) -> Option<bool> {
        let core = self.core_at(state);
        if let Some(constant) = core.residual.as_constant() {
            return Some(constant);
        }
        if self.settle.failures >= FAILURES {
            self.settle.undecided = true;
            return None;
        }
        // Whether the residual can come out false, true; whether that could not be found out.
        let (mut possible, mut unsure) = ([false; 2], [false; 2]);
        for (count, (value, cube)) in self.terms.cubes(core.residual).enumerate() {
            if count == CUBES {
                self.settle.undecided = true;
                return None;
            }
            let value = usize::from(value);
            if possible[value] {
                continue;
            }
            // A word without end has no last position.
            let is_last = |(atom, _): &(AtomId, bool)| self.terms.atom(*atom) == Atom::Last;
            if cube.iter().any(|literal| is_last(literal) && literal.1) {
                continue;
            }
            let owed = cube.iter().filter(|literal| !is_last(literal));
            let owed: Vec<(NodeId, bool)> =
                owed.map(|&(atom, holds)| (self.terms.origin(atom), !holds)).collect();
            let memory = self.memories.get(core.memory);
            match self.settle.emptiness.as_mut()?.satisfiable(program, &owed, memory) {
                Some(satisfiable) => possible[value] = satisfiable,
                None => {
                    unsure[value] = true;
                    self.settle.failures += 1;
                }
            }
            if possible == [true; 2] {
                return None;
            }
        }
        match (possible, unsure) {
            ([false, _], [false, _]) => Some(true),
            ([_, false], [_, false]) => Some(false),
            _ => {
                self.settle.undecided = true;
                None
            }
        }
    }
}

//! The product with an automaton: sets of pairs are one set of states for each state of the automaton.

mod runs;

use super::fixpoint::bounded;
use super::{MARKS, Stop, SymbolicBranching, SymbolicChecker};
use crate::linear::unsupported;
use tw_automata::Buchi;
use tw_automata::buchi::Budget;
use tw_ir::{Node, NodeId};
use tw_model::State;
use tw_model::symbolic::Bdd;
use tw_monitor::Unsupported;

/// A transition of the automaton: the states it can read, where it leads, its marks.
#[derive(Clone, Copy, Debug)]
struct Move {
    when: Bdd,
    target: usize,
    marks: u64,
}

/// An automaton over states.
#[derive(Debug)]
pub(super) struct Automaton {
    moves: Vec<Vec<Move>>,
    marks: u32,
}

/// Pairs, by automaton state.
pub(super) type Pairs = Vec<Bdd>;

/// A state, and a state of the automaton.
pub(super) type Pair = (State, usize);

impl Automaton {
    /// One that stays in a set.
    pub fn within(set: Bdd) -> Self {
        Self { moves: vec![vec![Move { when: set, target: 0, marks: 0 }]], marks: 0 }
    }
}

impl SymbolicChecker {
    /// The automaton whose letters have these sets.
    pub(super) fn automaton(&mut self, buchi: &Buchi, letters: &[Bdd]) -> Result<Automaton, Stop> {
        if buchi.marks as usize + self.fairness.len() > MARKS {
            let what = format!("more than {MARKS} eventualities and fairness sets");
            return Err(Unsupported::budget(what).into());
        }
        let mut moves = Vec::with_capacity(buchi.states.len());
        for transitions in &buchi.states {
            let mut own = Vec::with_capacity(transitions.len());
            for transition in transitions {
                let mut when = self.space.states;
                for &(letter, value) in &transition.literals {
                    let set = letters[letter as usize];
                    when = if value { self.and(when, set)? } else { self.space.store.minus(when, set)? };
                }
                if !when.is_empty() {
                    own.push(Move { when, target: transition.target as usize, marks: transition.marks });
                }
            }
            moves.push(own);
        }
        Ok(Automaton { moves, marks: buchi.marks })
    }

    /// The states from which some path that counts gives a path formula this truth.
    pub(super) fn some_path(
        &mut self,
        answer: &SymbolicBranching,
        path: NodeId,
        value: bool,
    ) -> Result<Bdd, Stop> {
        let automaton = self.path_automaton(answer, path, value)?;
        let all = vec![self.space.states; automaton.moves.len()];
        Ok(self.accepting(&automaton, all)?[0])
    }

    /// The automaton of a path formula over the state formulas in it.
    pub(super) fn path_automaton(
        &mut self,
        answer: &SymbolicBranching,
        path: NodeId,
        value: bool,
    ) -> Result<Automaton, Stop> {
        let program = answer.program;
        let literal = |id: NodeId| !matches!(program.dag.node(id), Node::Bool(_)) && answer.state[id.index()];
        let buchi = Buchi::over(program, path, !value, literal, Budget::default())
            .map_err(|obstacle| unsupported(program, obstacle))?;
        let letters: Vec<Bdd> = buchi.letters.iter().map(|&letter| answer.of(letter)).collect();
        self.automaton(&buchi, &letters)
    }

    /// The states from which a path that counts stays in a set.
    pub(super) fn fair_globally(&mut self, set: Bdd) -> Result<Bdd, Stop> {
        Ok(self.accepting(&Automaton::within(set), vec![set])?[0])
    }

    /// How many marks a cycle has to have: those of the automaton, then the fairness sets.
    fn all_marks(&self, automaton: &Automaton) -> usize {
        automaton.marks as usize + self.fairness.len()
    }

    /// The states in which a move has a mark, if one is asked for.
    fn marked(&mut self, automaton: &Automaton, step: Move, mark: Option<usize>) -> Result<Bdd, Stop> {
        let own = automaton.marks as usize;
        Ok(match mark {
            None => step.when,
            Some(mark) if mark < own => {
                if step.marks >> mark & 1 == 1 {
                    step.when
                } else {
                    Bdd::FALSE
                }
            }
            Some(mark) => self.and(step.when, self.fairness[mark - own])?,
        })
    }

    /// The pairs with a move to others, one that has a mark if one is asked for.
    fn before_pairs(
        &mut self,
        automaton: &Automaton,
        pairs: &Pairs,
        mark: Option<usize>,
    ) -> Result<Pairs, Stop> {
        let mut before = Vec::with_capacity(pairs.len());
        for &set in pairs {
            before.push(if set.is_empty() { set } else { self.space.before(set)? });
        }
        let mut found = vec![Bdd::FALSE; pairs.len()];
        for (moves, found) in automaton.moves.iter().zip(&mut found) {
            for &step in moves.iter().filter(|step| !before[step.target].is_empty()) {
                let when = self.marked(automaton, step, mark)?;
                let set = self.and(when, before[step.target])?;
                *found = self.or(*found, set)?;
            }
        }
        Ok(found)
    }

    fn and_pairs(&mut self, a: &Pairs, b: &Pairs) -> Result<Pairs, Stop> {
        a.iter().zip(b).map(|(&a, &b)| Ok(self.and(a, b)?)).collect()
    }

    fn or_pairs(&mut self, a: &Pairs, b: &Pairs) -> Result<Pairs, Stop> {
        a.iter().zip(b).map(|(&a, &b)| Ok(self.or(a, b)?)).collect()
    }

    /// The pairs with an accepting run among these pairs ("Efficient Model Checking in Fragments of the Propositional
    /// Mu-Calculus", Emerson, Lei): from each of them there is, for every mark, a way inside to a move that has it.
    pub(super) fn accepting(&mut self, automaton: &Automaton, mut pairs: Pairs) -> Result<Pairs, Stop> {
        loop {
            let start = pairs.clone();
            for mark in 0..self.all_marks(automaton) {
                let goal = self.goal(automaton, &pairs, Some(mark))?;
                pairs = self.reach_pairs(automaton, &pairs, goal, None)?.pop().unwrap_or(pairs);
            }
            pairs = self.goal(automaton, &pairs, None)?;
            if pairs == start {
                return Ok(pairs);
            }
        }
    }

    /// Of some pairs those with a move to one of them, which has a mark.
    fn goal(&mut self, automaton: &Automaton, pairs: &Pairs, mark: Option<usize>) -> Result<Pairs, Stop> {
        let before = self.before_pairs(automaton, pairs, mark)?;
        self.and_pairs(&before, pairs)
    }

    /// The pairs that lead to a goal inside others, ring after ring, each with those inside it; up to one with a pair.
    fn reach_pairs(
        &mut self,
        automaton: &Automaton,
        within: &Pairs,
        goal: Pairs,
        until: Option<Pair>,
    ) -> Result<Vec<Pairs>, Stop> {
        let mut rings = vec![goal];
        for round in 0.. {
            let ring = &rings[rings.len() - 1];
            if until.is_some_and(|(state, at)| self.has(ring[at], state)) {
                break;
            }
            let before = self.before_pairs(automaton, ring, None)?;
            let before = self.and_pairs(&before, within)?;
            let next = self.or_pairs(ring, &before)?;
            if next == *ring {
                break;
            }
            rings.push(next);
            bounded(round)?;
        }
        Ok(rings)
    }
}

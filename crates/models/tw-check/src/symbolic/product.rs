//! The product with an automaton: sets of pairs are one set of states for each state of the automaton.

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

    /// A move from a pair into others, and its marks.
    fn step(
        &mut self,
        automaton: &Automaton,
        (state, at): Pair,
        into: &Pairs,
        mark: Option<usize>,
    ) -> Result<Option<(Pair, u64)>, Stop> {
        let single = self.single(state)?;
        let after = self.space.after(single)?;
        let own = automaton.marks as usize;
        let fair = self.fairness.iter().enumerate();
        let fair =
            fair.filter(|&(_, &set)| self.has(set, state)).fold(0, |marks, (at, _)| marks | 1 << (own + at));
        for &step in &automaton.moves[at] {
            let when = self.marked(automaton, step, mark)?;
            let found = self.and(after, into[step.target])?;
            if self.has(when, state)
                && let Some(next) = self.pick(found)
            {
                return Ok(Some(((next, step.target), step.marks | fair)));
            }
        }
        Ok(None)
    }

    /// A shortest way from a pair inside others to a goal: the pairs after the first, and all marks met. `None` if there
    /// is none.
    fn lead(
        &mut self,
        automaton: &Automaton,
        within: &Pairs,
        from: Pair,
        goal: Pairs,
    ) -> Result<Option<(Vec<Pair>, u64)>, Stop> {
        let mut rings = self.reach_pairs(automaton, within, goal, Some(from))?;
        if !self.has(rings[rings.len() - 1][from.1], from.0) {
            return Ok(None);
        }
        rings.pop();
        let (mut way, mut marks, mut at) = (Vec::new(), 0, from);
        while let Some(ring) = rings.pop() {
            let Some((next, met)) = self.step(automaton, at, &ring, None)? else { return Ok(None) };
            marks |= met;
            way.push(next);
            at = next;
        }
        Ok(Some((way, marks)))
    }

    /// A run from a pair that accepts, among the pairs that have one: its pairs, and which of them comes after the last.
    pub(super) fn lasso(
        &mut self,
        automaton: &Automaton,
        accepting: &Pairs,
        from: Pair,
    ) -> Result<Option<(Vec<Pair>, usize)>, Stop> {
        let (mut stem, mut start) = (Vec::new(), from);
        for round in 0.. {
            bounded(round)?;
            let (mut cycle, mut marks, mut at) = (vec![start], 0u64, start);
            for mark in 0..self.all_marks(automaton) {
                if marks >> mark & 1 == 1 {
                    continue;
                }
                let goal = self.goal(automaton, accepting, Some(mark))?;
                let Some((way, met)) = self.lead(automaton, accepting, at, goal)? else { return Ok(None) };
                cycle.extend(way);
                at = cycle[cycle.len() - 1];
                let Some((next, also)) = self.step(automaton, at, accepting, Some(mark))? else {
                    return Ok(None);
                };
                marks |= met | also;
                cycle.push(next);
                at = next;
            }
            if cycle.len() == 1 {
                let Some((next, _)) = self.step(automaton, at, accepting, None)? else { return Ok(None) };
                cycle.push(next);
                at = next;
            }
            let mut back = vec![Bdd::FALSE; accepting.len()];
            back[start.1] = self.single(start.0)?;
            if let Some((way, _)) = self.lead(automaton, accepting, at, back)? {
                cycle.extend(way);
                cycle.pop();
                let begin = stem.len();
                stem.extend(cycle);
                return Ok(Some((stem, begin)));
            }
            // There is no way back: the cycle lies further on.
            cycle.pop();
            stem.extend(cycle);
            start = at;
        }
        Ok(None)
    }

    /// The pairs that follow others.
    fn after_pairs(&mut self, automaton: &Automaton, pairs: &Pairs) -> Result<Pairs, Stop> {
        let mut leaving = vec![Bdd::FALSE; pairs.len()];
        for (moves, &set) in automaton.moves.iter().zip(pairs) {
            for step in moves {
                let when = self.and(step.when, set)?;
                leaving[step.target] = self.or(leaving[step.target], when)?;
            }
        }
        let after =
            leaving.into_iter().map(|set| Ok(if set.is_empty() { set } else { self.space.after(set)? }));
        after.collect()
    }

    /// The pairs that the automaton's first state in some states leads to; and a shortest way to one of the automaton
    /// states that are wanted, if there is one.
    pub(super) fn forward(
        &mut self,
        automaton: &Automaton,
        from: Bdd,
        wanted: impl Fn(usize) -> bool,
    ) -> Result<(Pairs, Option<Vec<Pair>>), Stop> {
        let mut ring = vec![Bdd::FALSE; automaton.moves.len()];
        ring[0] = from;
        let mut rings = vec![ring];
        for round in 0.. {
            bounded(round)?;
            let ring = &rings[rings.len() - 1];
            if let Some(at) = (0..ring.len()).find(|&at| wanted(at) && !ring[at].is_empty()) {
                let state = self.pick(ring[at]).unwrap_or_default();
                let way = self.back(automaton, &rings, (state, at))?;
                return Ok((rings.pop().unwrap_or_default(), Some(way)));
            }
            let after = self.after_pairs(automaton, ring)?;
            let next = self.or_pairs(ring, &after)?;
            if next == *ring {
                break;
            }
            rings.push(next);
        }
        Ok((rings.pop().unwrap_or_default(), None))
    }

    /// The way to a pair of the last ring.
    fn back(&mut self, automaton: &Automaton, rings: &[Pairs], mut pair: Pair) -> Result<Vec<Pair>, Stop> {
        let mut way = vec![pair];
        for ring in rings[..rings.len() - 1].iter().rev() {
            let mut only = vec![Bdd::FALSE; ring.len()];
            only[pair.1] = self.single(pair.0)?;
            let before = self.before_pairs(automaton, &only, None)?;
            let before = self.and_pairs(&before, ring)?;
            if let Some(at) = before.iter().position(|set| !set.is_empty())
                && let Some(state) = self.pick(before[at])
            {
                pair = (state, at);
                way.push(pair);
            }
        }
        way.reverse();
        Ok(way)
    }
}

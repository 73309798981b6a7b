//! Runs of the product: single steps, shortest ways, and lassos.

use super::{Automaton, Pair, Pairs};
use crate::symbolic::fixpoint::bounded;
use crate::symbolic::{Stop, SymbolicChecker};
use tw_model::symbolic::Bdd;

impl SymbolicChecker {
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
    pub(in crate::symbolic) fn lasso(
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
    pub(in crate::symbolic) fn forward(
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

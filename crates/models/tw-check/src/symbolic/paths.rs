//! The paths that show a formula of branching time where states are sets.

use super::fixpoint::width;
use super::product::Automaton;
use super::{Stop, SymbolicBranching, SymbolicChecker};
use crate::Evidence;
use crate::branching::evidence::{Answer, Path, evidence};
use crate::branching::shape::{Operand, Shape, shape};
use tw_ir::{NodeId, Program, Ticks};
use tw_model::State;
use tw_model::symbolic::Bdd;

/// Longest part of a path that an interval may ask for.
const LENGTH: u64 = 1 << 14;

/// Finds paths.
struct Paths<'a, 'p> {
    checker: &'a mut SymbolicChecker,
    answer: &'a SymbolicBranching<'p>,
}

impl SymbolicChecker {
    /// A state of a set, by its number, and why the formula holds in it or why it does not. `None` of an empty set.
    pub fn evidence(&mut self, answer: &SymbolicBranching, set: Bdd) -> Option<(State, Evidence)> {
        let state = self.pick(set)?;
        Some((state, evidence(Paths { checker: self, answer }, answer.root, state)))
    }
}

impl Answer for Paths<'_, '_> {
    fn program(&self) -> &Program {
        self.answer.program
    }

    fn is_state(&self, node: NodeId) -> bool {
        self.answer.state[node.index()]
    }

    fn holds(&self, node: NodeId, state: State) -> bool {
        self.checker.has(self.answer.of(node), state)
    }

    fn path(&mut self, _first: bool, node: NodeId, value: bool, from: State) -> Option<Path> {
        self.find(node, value, from).ok().flatten()
    }
}

impl Paths<'_, '_> {
    fn find(&mut self, node: NodeId, value: bool, from: State) -> Result<Option<Path>, Stop> {
        let Some(shape) = shape(self.answer.program, node, value, &self.answer.state)? else {
            let automaton = self.checker.path_automaton(self.answer, node, value)?;
            let found = self.lasso(&automaton, from)?;
            let path =
                |(steps, cycle)| Path { steps, cycle: Some(cycle), asks: Vec::new(), whole: Some(node) };
            return Ok(found.map(path));
        };
        match shape {
            Shape::Here(operand) => Ok(Some(Path::new(vec![from], None, vec![(0, 0, operand)]))),
            Shape::Next(operand) => {
                let set = self.checker.operand(self.answer, &operand)?;
                let set = self.checker.only(set)?;
                let next = self.step(from, set)?;
                Ok(next.map(|next| Path::new(vec![from, next], None, vec![(1, 1, operand)])))
            }
            Shape::Until(ticks, a, b) => self.until(ticks, a, b, from),
            Shape::Release(ticks, a, b) => self.release(ticks, a, b, from),
        }
    }

    /// A state of a set that follows another.
    fn step(&mut self, from: State, set: Bdd) -> Result<Option<State>, Stop> {
        let single = self.checker.single(from)?;
        let after = self.checker.space.after(single)?;
        let found = self.checker.and(after, set)?;
        Ok(self.checker.pick(found))
    }

    /// A run that accepts, from the automaton's first state.
    fn lasso(&mut self, automaton: &Automaton, from: State) -> Result<Option<(Vec<State>, usize)>, Stop> {
        let single = self.checker.single(from)?;
        let (pairs, _) = self.checker.forward(automaton, single, |_| false)?;
        let accepting = self.checker.accepting(automaton, pairs)?;
        if !self.checker.has(accepting[0], from) {
            return Ok(None);
        }
        let found = self.checker.lasso(automaton, &accepting, (from, 0))?;
        Ok(found.map(|(pairs, begin)| (pairs.into_iter().map(|pair| pair.0).collect(), begin)))
    }

    /// A shortest way through others to a goal, with at most so many steps: added to the steps of a path. `false` if there
    /// is none.
    fn way(
        &mut self,
        steps: &mut Vec<State>,
        through: Bdd,
        goal: Bdd,
        most: Option<u64>,
    ) -> Result<bool, Stop> {
        let rings = self.checker.reach(through, goal, most)?;
        let from = steps[steps.len() - 1];
        let Some(nearest) = rings.iter().position(|&ring| self.checker.has(ring, from)) else {
            return Ok(false);
        };
        for &ring in rings[..nearest].iter().rev() {
            let Some(next) = self.step(steps[steps.len() - 1], ring)? else { return Ok(false) };
            steps.push(next);
        }
        Ok(true)
    }

    fn until(&mut self, ticks: Ticks, a: Operand, b: Operand, from: State) -> Result<Option<Path>, Stop> {
        let (through, goal) =
            (self.checker.operand(self.answer, &a)?, self.checker.operand(self.answer, &b)?);
        let goal = self.checker.only(goal)?;
        let inside = self.checker.reach(through, goal, width(ticks))?.pop().unwrap_or(goal);
        let mut steps = vec![from];
        if self.lead(&mut steps, ticks, inside, through, Bdd::FALSE)?.is_none()
            || !self.way(&mut steps, through, goal, width(ticks))?
        {
            return Ok(None);
        }
        let last = steps.len() - 1;
        let mut asks = vec![(last, last, b)];
        if last > 0 {
            asks.insert(0, (0, last - 1, a));
        }
        Ok(Some(Path::new(steps, None, asks)))
    }

    fn release(&mut self, ticks: Ticks, a: Operand, b: Operand, from: State) -> Result<Option<Path>, Stop> {
        let (stop, hold) = (self.checker.operand(self.answer, &a)?, self.checker.operand(self.answer, &b)?);
        let inside = self.checker.inside(ticks, stop, hold)?;
        let stop = self.checker.only(stop)?;
        let released = self.checker.and(stop, hold)?;
        let (all, mut steps) = (self.checker.space.states, vec![from]);
        match self.lead(&mut steps, ticks, inside, all, stop)? {
            None => return Ok(None),
            Some(true) => {
                let last = steps.len() - 1;
                return Ok(Some(Path::new(steps, None, vec![(last, last, a)])));
            }
            Some(false) => {}
        }
        let first = steps.len() - 1;
        let (mut cycle, mut stopped) = (None, true);
        match width(ticks) {
            None => {
                if !self.way(&mut steps, hold, released, None)? {
                    let found = self.lasso(&Automaton::within(hold), steps[first])?;
                    let Some((path, begin)) = found else { return Ok(None) };
                    steps.extend_from_slice(&path[1..]);
                    (cycle, stopped) = (Some(first + begin), false);
                }
            }
            Some(wide) => {
                let Some(is_released) = self.remain(&mut steps, wide, hold, released)? else {
                    return Ok(None);
                };
                stopped = is_released;
            }
        }
        let last = steps.len() - 1;
        let mut asks = vec![(first, last, b)];
        if stopped {
            asks.push((last, last, a));
        }
        Ok(Some(Path::new(steps, cycle, asks)))
    }

    /// The way to the beginning of a window, or to a state in `stop` before it: whether it is such a one. `None` if there
    /// is none, or if it is too long.
    fn lead(
        &mut self,
        steps: &mut Vec<State>,
        ticks: Ticks,
        inside: Bdd,
        through: Bdd,
        stop: Bdd,
    ) -> Result<Option<bool>, Stop> {
        let low = ticks.low as u64;
        if low > LENGTH {
            return Ok(None);
        }
        let layers = self.checker.earlier(low, inside, through, stop)?;
        for left in (0..low).rev() {
            let at = steps[steps.len() - 1];
            if self.checker.has(stop, at) {
                return Ok(Some(true));
            }
            let layer = layers[(left as usize).min(layers.len() - 1)];
            let Some(next) = self.step(at, layer)? else { return Ok(None) };
            steps.push(next);
        }
        Ok(Some(false))
    }

    /// A path that stays in a set for `wide` transitions or until it is released: whether it is.
    fn remain(
        &mut self,
        steps: &mut Vec<State>,
        wide: u64,
        hold: Bdd,
        released: Bdd,
    ) -> Result<Option<bool>, Stop> {
        if wide > LENGTH {
            return Ok(None);
        }
        let within = self.checker.only(hold)?;
        let layers = self.checker.stay(within, released, Some(wide))?;
        for left in (0..wide).rev() {
            let at = steps[steps.len() - 1];
            if self.checker.has(released, at) {
                break;
            }
            let layer = layers[(left as usize).min(layers.len() - 1)];
            let Some(next) = self.step(at, layer)? else { return Ok(None) };
            steps.push(next);
        }
        Ok(Some(self.checker.has(released, steps[steps.len() - 1])))
    }
}

//! Branching time: to each state formula the set of states that satisfy it.

use super::{ROUNDS, Stop, SymbolicChecker};
use crate::branching::shape::{Operand, Shape, shape};
use crate::branching::{bare, states, used};
use tw_ir::{Node, NodeId, Program, Ticks};
use tw_model::symbolic::Bdd;
use tw_monitor::Unsupported;

/// The states that satisfy a formula and each of its parts.
pub struct SymbolicBranching<'p> {
    pub(super) program: &'p Program,
    pub(super) root: NodeId,
    /// Of each state formula.
    pub(super) sets: Vec<Option<Bdd>>,
    pub(super) state: Vec<bool>,
}

impl SymbolicBranching<'_> {
    /// The states that satisfy the formula.
    pub fn satisfied(&self) -> Bdd {
        self.of(self.root)
    }

    pub(super) fn of(&self, node: NodeId) -> Bdd {
        self.sets[node.index()].unwrap_or(Bdd::FALSE)
    }
}

/// From the beginning of a window to its end; `None` if it has none.
pub(super) fn width(ticks: Ticks) -> Option<u64> {
    (ticks.high != i64::MAX).then(|| (ticks.high - ticks.low) as u64)
}

impl SymbolicChecker {
    /// Evaluates a formula of branching time; `atoms` are the states of each of [`Program::atoms`].
    pub fn branching<'p>(
        &mut self,
        program: &'p Program,
        root: NodeId,
        atoms: &[Bdd],
    ) -> Result<SymbolicBranching<'p>, Unsupported> {
        let known = program.atoms();
        let used = used(program, root, &known);
        let state = states(program, &used, &known)?;
        if !state[root.index()] {
            return Err(bare(program, root));
        }
        let mut answer = SymbolicBranching { program, root, sets: vec![None; program.dag.len()], state };
        for id in used {
            if answer.state[id.index()] {
                let atom = known.binary_search(&id).ok().map(|atom| atoms[atom]);
                answer.sets[id.index()] = Some(self.evaluate(&answer, id, atom)?);
            }
        }
        Ok(answer)
    }

    fn evaluate(&mut self, answer: &SymbolicBranching, id: NodeId, atom: Option<Bdd>) -> Result<Bdd, Stop> {
        if let Some(set) = atom {
            return Ok(set);
        }
        let of = |id: NodeId| answer.of(id);
        Ok(match answer.program.dag.node(id) {
            Node::Bool(true) => self.space.states,
            Node::Not(a) => self.space.others(of(a))?,
            Node::And(a, b) => self.and(of(a), of(b))?,
            Node::Or(a, b) => self.or(of(a), of(b))?,
            Node::Xor(a, b) => self.space.store.xor(of(a), of(b))?,
            Node::Implies(a, b) => {
                let not = self.space.others(of(a))?;
                self.or(not, of(b))?
            }
            Node::Iff(a, b) => {
                let differ = self.space.store.xor(of(a), of(b))?;
                self.space.others(differ)?
            }
            Node::SomePath(path) => self.some(answer, path, true)?,
            Node::AllPaths(path) => {
                let refuted = self.some(answer, path, false)?;
                self.space.others(refuted)?
            }
            // Paths are infinite: no position is the last.
            _ => Bdd::FALSE,
        })
    }

    /// The states from which some path that counts gives a path formula this truth.
    fn some(&mut self, answer: &SymbolicBranching, path: NodeId, value: bool) -> Result<Bdd, Stop> {
        let Some(shape) = shape(answer.program, path, value, &answer.state)? else {
            return self.some_path(answer, path, value);
        };
        match &shape {
            Shape::Here(operand) => {
                let set = self.operand(answer, operand)?;
                Ok(self.only(set)?)
            }
            Shape::Next(operand) => {
                let set = self.operand(answer, operand)?;
                let set = self.only(set)?;
                Ok(self.space.before(set)?)
            }
            Shape::Until(ticks, a, b) => {
                let (a, b) = (self.operand(answer, a)?, self.operand(answer, b)?);
                let goal = self.only(b)?;
                let inside = self.reach(a, goal, width(*ticks))?.pop().unwrap_or(goal);
                Ok(self.earlier(ticks.low as u64, inside, a, Bdd::FALSE)?.pop().unwrap_or(inside))
            }
            Shape::Release(ticks, a, b) => {
                let (a, b) = (self.operand(answer, a)?, self.operand(answer, b)?);
                let inside = self.inside(*ticks, a, b)?;
                let (all, stop) = (self.space.states, self.only(a)?);
                Ok(self.earlier(ticks.low as u64, inside, all, stop)?.pop().unwrap_or(inside))
            }
        }
    }

    /// What an operand asks of one state.
    pub(super) fn operand(&mut self, answer: &SymbolicBranching, operand: &Operand) -> Result<Bdd, Stop> {
        let mut all = if operand.any { Bdd::FALSE } else { self.space.states };
        for part in &operand.parts {
            let set = answer.of(part.node);
            let set = if part.value { set } else { self.space.others(set)? };
            all = if operand.any { self.or(all, set)? } else { self.and(all, set)? };
        }
        Ok(all)
    }

    /// The states that reach a goal through others, by at most how many steps: ring after ring, each with those inside it.
    pub(super) fn reach(&mut self, through: Bdd, goal: Bdd, most: Option<u64>) -> Result<Vec<Bdd>, Stop> {
        self.rounds(goal, most, |own, ring, before| {
            let before = own.and(through, before)?;
            Ok(own.or(ring, before)?)
        })
    }

    /// A set, and what a step makes of it and of the states before it, round after round until nothing changes.
    fn rounds(
        &mut self,
        start: Bdd,
        most: Option<u64>,
        step: impl Fn(&mut Self, Bdd, Bdd) -> Result<Bdd, Stop>,
    ) -> Result<Vec<Bdd>, Stop> {
        let mut sets = vec![start];
        let mut set = start;
        for round in 0..most.unwrap_or(u64::MAX) {
            let before = self.space.before(set)?;
            let next = step(self, set, before)?;
            if next == set {
                break;
            }
            set = next;
            sets.push(set);
            bounded(round)?;
        }
        Ok(sets)
    }

    /// The states with a path that stays inside a set for ever longer, up to how many steps, or until it is released.
    pub(super) fn stay(&mut self, within: Bdd, released: Bdd, most: Option<u64>) -> Result<Vec<Bdd>, Stop> {
        self.rounds(within, most, |own, _, before| {
            let on = own.or(released, before)?;
            Ok(own.and(within, on)?)
        })
    }

    /// The states that fit a release when its window begins there.
    pub(super) fn inside(&mut self, ticks: Ticks, a: Bdd, b: Bdd) -> Result<Bdd, Stop> {
        let both = self.and(a, b)?;
        let released = self.only(both)?;
        if ticks.high == i64::MAX && self.is_fair() {
            let ever = self.fair_globally(b)?;
            let goal = self.or(ever, released)?;
            return Ok(self.reach(b, goal, None)?.pop().unwrap_or(goal));
        }
        // After the window the path must still be one that counts.
        let within = self.only(b)?;
        Ok(self.stay(within, released, width(ticks))?.pop().unwrap_or(within))
    }

    /// The states one, two, … steps before a set: those in `always`, and of those in `through` the ones that lead to the
    /// step after. Where all further ones are the same, the list ends.
    pub(super) fn earlier(
        &mut self,
        steps: u64,
        set: Bdd,
        through: Bdd,
        always: Bdd,
    ) -> Result<Vec<Bdd>, Stop> {
        let mut layers = vec![set];
        let mut layer = set;
        for round in 0..steps {
            let before = self.space.before(layer)?;
            let before = self.and(through, before)?;
            let next = self.or(always, before)?;
            if next == layer {
                break;
            }
            layer = next;
            layers.push(layer);
            bounded(round)?;
        }
        Ok(layers)
    }
}

/// Rounds cost nothing where everything is known already; still there are not more than these.
pub(super) fn bounded(round: u64) -> Result<(), Stop> {
    if round < ROUNDS { Ok(()) } else { Err(Stop::Full) }
}

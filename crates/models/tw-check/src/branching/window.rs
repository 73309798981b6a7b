//! Path shapes evaluated: which states have a path that fits.

use super::fair::Fair;
use super::fixpoint::{before, reach, stay};
use super::sets::{and, or};
use crate::Checker;
use tw_core::Bits;
use tw_ir::Ticks;
use tw_model::State;

/// Transitions that the steps before a window may look at, all formulas together, before a formula is refused.
const WORK: u64 = 1 << 33;

/// The work is more than the budget.
#[derive(Debug)]
pub(super) struct Exhausted;

/// What all shapes of a formula share.
pub(super) struct Windows<'a> {
    pub checker: &'a Checker<'a>,
    pub fair: &'a Fair,
    /// Transitions looked at.
    pub work: u64,
    pub budget: u64,
}

impl<'a> Windows<'a> {
    pub fn new(checker: &'a Checker<'a>, fair: &'a Fair, work: u64) -> Self {
        Self { checker, fair, work, budget: WORK }
    }

    /// States with a path that counts to a successor in `set`.
    pub fn next(&mut self, set: &Bits) -> Bits {
        let (graph, reverse) = (self.checker.graph(), self.checker.reverse());
        before(graph, reverse, &self.fair.only(set), &mut self.work)
    }

    /// States with a path on which, at a distance within the ticks, `b` holds, and `a` before.
    pub fn until(&mut self, ticks: Ticks, a: &Bits, b: &Bits) -> Result<Bits, Exhausted> {
        let (graph, reverse) = (self.checker.graph(), self.checker.reverse());
        let inside = reach(graph, reverse, a, &self.fair.only(b), width(ticks));
        self.earlier(ticks.low as u64, inside, a, &Bits::repeat(false, a.len()))
    }

    /// States with a path on which `b` holds at every distance within the ticks, unless `a` held before.
    pub fn release(&mut self, ticks: Ticks, a: &Bits, b: &Bits) -> Result<Bits, Exhausted> {
        let inside = self.inside(ticks, a, b);
        self.earlier(ticks.low as u64, inside, &Bits::repeat(true, a.len()), &self.fair.only(a))
    }

    /// The states that fit a release when the window begins there.
    pub fn inside(&self, ticks: Ticks, a: &Bits, b: &Bits) -> Bits {
        let (graph, reverse) = (self.checker.graph(), self.checker.reverse());
        let released = self.fair.only(&and(a, b));
        if ticks.high == i64::MAX && !self.fair.all() {
            let ever = self.fair.globally(self.checker, b);
            return reach(graph, reverse, b, &or(&ever, &released), u64::MAX);
        }
        // After the window the path must still be one that counts.
        stay(graph, reverse, &self.fair.only(b), &released, width(ticks), false).set
    }

    /// The states `steps` transitions before `set`: at each step those in `always`, and of those in `through` the ones
    /// with a successor in the set so far. The sets repeat sooner or later; whole rounds are left out.
    fn earlier(
        &mut self,
        mut steps: u64,
        mut set: Bits,
        through: &Bits,
        always: &Bits,
    ) -> Result<Bits, Exhausted> {
        // Few states are kept as a list, so that a step costs what it looks at and not the size of the model.
        let few = if always.count_ones() == 0 { set.len() / 128 } else { 0 };
        let mut rounds = Rounds::new(set.clone());
        while steps > 0 {
            if set.count_ones() < few {
                (set, steps) = self.earlier_few(steps, &set, through, 4 * few)?;
                rounds = Rounds::new(set.clone());
                continue;
            }
            let found = before(self.checker.graph(), self.checker.reverse(), &set, &mut self.work);
            set = or(always, &and(through, &found));
            steps = rounds.skip(steps - 1, &set);
            self.spend(set.words().len())?;
        }
        Ok(set)
    }

    /// The same without `always`, as long as there are at most `most` states; and how many steps are left then.
    fn earlier_few(
        &mut self,
        mut steps: u64,
        set: &Bits,
        through: &Bits,
        most: usize,
    ) -> Result<(Bits, u64), Exhausted> {
        let mut marked = Bits::repeat(false, set.len());
        let mut list: Vec<State> = set.iter_ones().map(|state| state as State).collect();
        let mut rounds = Rounds::new(list.clone());
        while steps > 0 && list.len() <= most {
            let mut found = Vec::new();
            for &state in &list {
                for &from in self.checker.reverse().successors(state) {
                    if through.get(from as usize) && !marked.get(from as usize) {
                        marked.set(from as usize, true);
                        found.push(from);
                    }
                }
                self.spend(1 + self.checker.reverse().successors(state).len())?;
            }
            found.iter().for_each(|&state| marked.set(state as usize, false));
            found.sort_unstable();
            list = found;
            steps = rounds.skip(steps - 1, &list);
        }
        list.iter().for_each(|&state| marked.set(state as usize, true));
        Ok((marked, steps))
    }

    fn spend(&mut self, work: usize) -> Result<(), Exhausted> {
        self.work += work as u64;
        if self.work > self.budget { Err(Exhausted) } else { Ok(()) }
    }
}

/// Finds that sets repeat, by Brent's search: one set is kept, at distances that double.
struct Rounds<T> {
    kept: T,
    since: u64,
    until: u64,
}

impl<T: Clone + PartialEq> Rounds<T> {
    fn new(first: T) -> Self {
        Self { kept: first, since: 0, until: 1 }
    }

    /// Of the steps that are left after this set, those that whole rounds do not save.
    fn skip(&mut self, left: u64, set: &T) -> u64 {
        self.since += 1;
        if *set == self.kept {
            return left % self.since;
        }
        if self.since == self.until {
            self.kept.clone_from(set);
            (self.since, self.until) = (0, self.until * 2);
        }
        left
    }
}

/// Transitions from the beginning of a window to its end.
pub(super) fn width(ticks: Ticks) -> u64 {
    if ticks.high == i64::MAX { u64::MAX } else { (ticks.high - ticks.low) as u64 }
}

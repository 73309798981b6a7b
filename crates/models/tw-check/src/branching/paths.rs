//! The paths that show a formula of branching time where states are listed.

use super::Branching;
use super::evidence::{Answer, Path};
use super::fixpoint::{reach, stay};
use super::search::Search;
use super::sets::and;
use super::shape::{Operand, Shape, shape};
use super::window::{Windows, width};
use crate::star;
use tw_core::Bits;
use tw_ir::{NodeId, Program, Ticks};
use tw_model::State;

/// States and transitions looked at for one tree; its first path is found whatever it costs.
const WORK: u64 = 1 << 26;
/// Longest part of a path that an interval may ask for.
const LENGTH: u64 = 1 << 22;

/// Finds paths.
pub(super) struct Paths<'a> {
    answer: &'a Branching<'a>,
    search: Search<'a>,
}

impl<'a> Paths<'a> {
    pub fn new(answer: &'a Branching<'a>) -> Self {
        Self { answer, search: Search::new(answer.checker.graph()) }
    }
}

impl Answer for Paths<'_> {
    fn program(&self) -> &Program {
        self.answer.program
    }

    fn is_state(&self, node: NodeId) -> bool {
        self.answer.state[node.index()]
    }

    fn holds(&self, node: NodeId, state: State) -> bool {
        self.answer.satisfied(node).get(state as usize)
    }

    fn path(&mut self, first: bool, node: NodeId, value: bool, from: State) -> Option<Path> {
        if !first && self.search.work > WORK {
            return None;
        }
        let answer = self.answer;
        let Some(shape) = shape(answer.program, node, value, &answer.state).ok()? else {
            let known = |id: NodeId| answer.sets[id.index()].as_ref();
            let lasso = star::lasso_from(answer.checker, answer.program, node, value, &known, from);
            let (steps, cycle) = lasso.ok().flatten()?;
            return Some(Path { steps, cycle: Some(cycle), asks: Vec::new(), whole: Some(node) });
        };
        match shape {
            Shape::Here(operand) => Some(Path::new(vec![from], None, vec![(0, 0, operand)])),
            Shape::Next(operand) => {
                let set = answer.fair.only(&answer.operand(&operand));
                let successors = answer.checker.graph().successors(from);
                let next = *successors.iter().find(|&&state| set.get(state as usize))?;
                Some(Path::new(vec![from, next], None, vec![(1, 1, operand)]))
            }
            Shape::Until(ticks, a, b) => self.until(ticks, a, b, from),
            Shape::Release(ticks, a, b) => self.release(ticks, a, b, from),
        }
    }
}

impl Paths<'_> {
    fn until(&mut self, ticks: Ticks, a: Operand, b: Operand, from: State) -> Option<Path> {
        let answer = self.answer;
        let (through, goal) = (answer.operand(&a), answer.fair.only(&answer.operand(&b)));
        let mut steps = vec![from];
        if ticks.low > 0 {
            self.search.work += self.size();
            let (graph, reverse) = (answer.checker.graph(), answer.checker.reverse());
            let inside = reach(graph, reverse, &through, &goal, width(ticks));
            steps = self.lead(ticks, from, &through, &Bits::repeat(false, inside.len()), &inside)?.0;
        }
        let path = self.search.path(*steps.last()?, false, has(&through), has(&goal))?;
        steps.extend_from_slice(&path[1..]);
        let last = steps.len() - 1;
        let mut asks = vec![(last, last, b)];
        if last > 0 {
            asks.insert(0, (0, last - 1, a));
        }
        Some(Path::new(steps, None, asks))
    }

    fn release(&mut self, ticks: Ticks, a: Operand, b: Operand, from: State) -> Option<Path> {
        let answer = self.answer;
        let (stop, hold) = (answer.fair.only(&answer.operand(&a)), answer.operand(&b));
        let released = and(&stop, &hold);
        let mut steps = vec![from];
        if ticks.low > 0 {
            self.search.work += 2 * self.size();
            let inside = Windows::new(answer.checker, &answer.fair, 0).inside(ticks, &stop, &hold);
            let all = Bits::repeat(true, inside.len());
            let stopped;
            (steps, stopped) = self.lead(ticks, from, &all, &stop, &inside)?;
            if stopped {
                let last = steps.len() - 1;
                return Some(Path::new(steps, None, vec![(last, last, a)]));
            }
        }
        let first = steps.len() - 1;
        // A path that stays for as many transitions as there are states can stay for ever, if all paths count.
        let wide = width(ticks);
        let ever =
            ticks.high == i64::MAX || answer.fair.all() && wide >= answer.checker.graph().states() as u64;
        let (mut cycle, mut stopped) = (None, true);
        if ever {
            // `G` is never released: no need to look for where.
            let look = |search: &mut Search| search.path(steps[first], false, has(&hold), has(&released));
            match Some(&mut self.search).filter(|_| released.count_ones() > 0).and_then(look) {
                Some(path) => steps.extend_from_slice(&path[1..]),
                None => {
                    let (path, begin) = self.search.lasso(answer.checker, steps[first], &hold)?;
                    steps.extend_from_slice(&path[1..]);
                    (cycle, stopped) = (Some(first + begin), false);
                }
            }
        } else {
            let (path, is_released) = self.remain(wide, steps[first], &answer.fair.only(&hold), &released)?;
            steps.extend_from_slice(&path[1..]);
            stopped = is_released;
        }
        let last = steps.len() - 1;
        let mut asks = vec![(first, last, b)];
        if stopped {
            asks.push((last, last, a));
        }
        Some(Path::new(steps, cycle, asks))
    }

    /// The way to the beginning of a window, or to a state in `stop` before it.
    fn lead(
        &mut self,
        ticks: Ticks,
        from: State,
        through: &Bits,
        stop: &Bits,
        inside: &Bits,
    ) -> Option<(Vec<State>, bool)> {
        let steps = u64::try_from(ticks.low).ok().filter(|&steps| steps <= LENGTH)?;
        self.search.walk(from, steps, has(through), has(stop), has(inside))
    }

    /// A path that stays in `within` for `wide` transitions or until it is released.
    fn remain(
        &mut self,
        wide: u64,
        from: State,
        within: &Bits,
        released: &Bits,
    ) -> Option<(Vec<State>, bool)> {
        if wide > LENGTH {
            return None;
        }
        self.search.work += 2 * self.size() + wide;
        let (graph, reverse) = (self.answer.checker.graph(), self.answer.checker.reverse());
        let ranks = stay(graph, reverse, within, released, wide, true).ranks?;
        let mut steps = vec![from];
        let mut at = from;
        for left in (0..wide).rev() {
            if released.get(at as usize) {
                break;
            }
            let fits = |&&to: &&State| within.get(to as usize) && u64::from(ranks[to as usize]) >= left;
            at = *graph.successors(at).iter().find(fits)?;
            steps.push(at);
        }
        let stopped = released.get(at as usize);
        Some((steps, stopped))
    }

    fn size(&self) -> u64 {
        let graph = self.answer.checker.graph();
        (graph.states() + graph.edges()) as u64
    }
}

fn has(set: &Bits) -> impl Fn(State) -> bool + '_ {
    |state| set.get(state as usize)
}

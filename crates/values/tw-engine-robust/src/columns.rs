//! Whole traces: one pass per operator over a column of numbers.
//!
//! Cost per position and operator, whatever the width of the window: `F G O H` three comparisons (blocks of one width,
//! [`crate::uniform`]) or two stacks where timestamps are irregular, `U S` and their kin the same with pairs. Memory:
//! one column of eight bytes per position for each formula whose value is still needed, and two windows.

use crate::clock::{Reach, Stamps, in_positions, period, size};
use crate::irregular::{self, Reaches};
use crate::lattice::{Down, Joined, Lattice, Met, Monoid, Sinces, Untils, Up, Way, max, min, negate};
use crate::plan::{Connective, Step};
use crate::signals::truth;
use crate::{Robust, Samples, uniform};
use std::borrow::Cow;
use tw_ir::{Clock, NodeId, Semantics, Ticks};
use tw_monitor::Unsupported;

impl Robust {
    /// The robustness of the given formulas at every position.
    pub fn columns(&self, samples: &Samples, nodes: &[NodeId]) -> Result<Vec<Vec<f64>>, Unsupported> {
        let wanted: Vec<usize> = nodes.iter().map(|&node| self.step(node)).collect::<Result<_, _>>()?;
        self.compute(samples, &wanted)
    }

    /// The values of the given steps at every position.
    pub(crate) fn compute(&self, samples: &Samples, wanted: &[usize]) -> Result<Vec<Vec<f64>>, Unsupported> {
        self.check(samples)?;
        let steps = &self.plan.steps;
        let needed = self.plan.needed(wanted.iter().copied());
        let mut uses = vec![0usize; steps.len()];
        wanted.iter().for_each(|&step| uses[step] += 1);
        for step in (0..steps.len()).filter(|&step| needed[step]) {
            steps[step].operands().for_each(|operand| uses[operand] += 1);
        }
        self.afford(samples.len, &needed, &uses)?;
        // Equal distances between neighbours make an interval a number of positions.
        let periods: Vec<Option<i64>> = match (&samples.times, self.options.clock) {
            (Some(times), Clock::Stamps) if self.plan.timed => {
                samples.segments().map(|(start, end)| period(&times[start..end])).collect()
            }
            _ => Vec::new(),
        };
        let mut columns: Vec<Option<Cow<'_, [f64]>>> = vec![None; steps.len()];
        // Columns no longer needed are filled again: fresh memory costs more than the arithmetic.
        let mut pool: Vec<Vec<f64>> = Vec::new();
        for step in (0..steps.len()).filter(|&step| needed[step]) {
            if let Step::Predicate(place) = steps[step] {
                columns[step] = Some(Cow::Borrowed(&samples.predicates[place]));
                continue;
            }
            let mut out = pool.pop().unwrap_or_else(|| vec![0.0; samples.len]);
            for (segment, (start, end)) in samples.segments().enumerate() {
                let stamps = match (&samples.times, self.options.clock) {
                    (Some(times), Clock::Stamps) => Stamps::Times { base: 0, times: &times[start..end] },
                    _ => Stamps::Index,
                };
                let period = periods.get(segment).copied().flatten();
                let repeat = self.options.semantics == Semantics::RepeatLast;
                let place = Segment { stamps, period, repeat };
                let operand = |id: usize| &columns[id].as_deref().unwrap_or_default()[start..end];
                place.apply(steps[step], operand, &mut out[start..end]);
            }
            for operand in steps[step].operands() {
                uses[operand] -= 1;
                if uses[operand] == 0
                    && let Some(Cow::Owned(column)) = columns[operand].take()
                {
                    pool.push(column);
                }
            }
            columns[step] = Some(Cow::Owned(out));
        }
        let mut results = Vec::with_capacity(wanted.len());
        for (place, &step) in wanted.iter().enumerate() {
            let again = wanted[place + 1..].contains(&step);
            let column = if again { columns[step].clone() } else { columns[step].take() };
            results.push(column.map_or_else(Vec::new, Cow::into_owned));
        }
        Ok(results)
    }

    /// Refuses what would take more memory than the budget.
    fn afford(&self, len: usize, needed: &[bool], uses: &[usize]) -> Result<(), Unsupported> {
        let mut left = uses.to_vec();
        let (mut live, mut most) = (0usize, 0usize);
        for (step, _) in needed.iter().enumerate().filter(|(_, needed)| **needed) {
            let step = self.plan.steps[step];
            if !matches!(step, Step::Predicate(_)) {
                live += 1;
            }
            most = most.max(live);
            for operand in step.operands() {
                left[operand] -= 1;
                let owned = !matches!(self.plan.steps[operand], Step::Predicate(_));
                live -= usize::from(left[operand] == 0 && owned);
            }
        }
        let bytes = most.saturating_mul(len).saturating_mul(size_of::<f64>());
        if bytes > self.options.memory_budget {
            return Err(Unsupported::budget(format!(
                "{most} columns of {len} numbers within the memory budget of {} bytes",
                self.options.memory_budget
            ))
            .help("read the trace as a stream, or raise the memory budget"));
        }
        Ok(())
    }
}

/// A trace by itself.
pub(crate) struct Segment<'t> {
    pub stamps: Stamps<'t>,
    /// The time between neighbours, if it is the same everywhere.
    pub period: Option<i64>,
    pub repeat: bool,
}

impl Segment<'_> {
    /// Computes a step from its operands.
    pub(crate) fn apply<'c>(&self, step: Step, operand: impl Fn(usize) -> &'c [f64], out: &mut [f64]) {
        let last = out.len() - 1;
        match step {
            Step::Predicate(_) => {}
            Step::Bool(holds) => out.fill(truth(holds)),
            Step::First => {
                out.fill(f64::NEG_INFINITY);
                out[0] = f64::INFINITY;
            }
            Step::Last => {
                out.fill(f64::NEG_INFINITY);
                out[last] = f64::INFINITY;
            }
            Step::Not(a) => out.iter_mut().zip(operand(a)).for_each(|(out, a)| *out = negate(*a)),
            Step::Connect(connective, a, b) => {
                let (a, b) = (operand(a), operand(b));
                match connective {
                    Connective::And => zip(out, a, b, min),
                    Connective::Or => zip(out, a, b, max),
                    Connective::Implies => zip(out, a, b, |a, b| max(negate(a), b)),
                    Connective::Iff => zip(out, a, b, iff),
                    Connective::Xor => zip(out, a, b, |a, b| negate(iff(a, b))),
                }
            }
            Step::Neighbour { dual: false, .. }
            | Step::Window { dual: false, .. }
            | Step::Until { dual: false, .. }
            | Step::Scan { dual: false, .. }
            | Step::Shift { dual: false, .. } => self.temporal::<Up>(step, operand, out),
            _ => self.temporal::<Down>(step, operand, out),
        }
    }

    fn temporal<'c, L: Lattice>(&self, step: Step, operand: impl Fn(usize) -> &'c [f64], out: &mut [f64]) {
        match step {
            Step::Neighbour { past, ticks, body, .. } => self.neighbour::<L>(past, ticks, operand(body), out),
            Step::Window { past, ticks, body, .. } => {
                let (body, len) = (operand(body), out.len());
                self.sweep::<Joined<L>>(past, ticks, |k| body[k], |i, worth| out[i] = worth, len);
            }
            Step::Until { past: false, ticks, hold, goal, .. } => {
                self.until::<L, Untils<L>>(false, ticks, operand(hold), operand(goal), out);
            }
            Step::Until { past: true, ticks, hold, goal, .. } => {
                self.until::<L, Sinces<L>>(true, ticks, operand(hold), operand(goal), out);
            }
            Step::Scan { past, hold, goal, .. } => {
                let goal = operand(goal);
                let mut worth = L::BOTTOM;
                let mut one = |i: usize, held: f64| {
                    worth = L::join(goal[i], L::meet(held, worth));
                    out[i] = worth;
                };
                match (past, hold.map(operand)) {
                    (false, None) => (0..goal.len()).rev().for_each(|i| one(i, L::TOP)),
                    (true, None) => (0..goal.len()).for_each(|i| one(i, L::TOP)),
                    (false, Some(hold)) => (0..goal.len()).rev().for_each(|i| one(i, hold[i])),
                    (true, Some(hold)) => (0..goal.len()).for_each(|i| one(i, hold[i])),
                }
            }
            Step::Shift { past, low, hold, inner, .. } => {
                self.shift::<L>(past, low, hold.map(&operand), operand(inner), out);
            }
            _ => {}
        }
    }

    fn neighbour<L: Lattice>(&self, past: bool, ticks: Option<Ticks>, body: &[f64], out: &mut [f64]) {
        let last = out.len() - 1;
        let within = |distance: i64| ticks.is_none_or(|ticks| ticks.contains(distance));
        for (i, out) in out.iter_mut().enumerate() {
            let k = match past {
                false if i < last => Some(i + 1),
                true if i > 0 => Some(i - 1),
                false if self.repeat => Some(i),
                _ => None,
            };
            let k = k.filter(|&k| within(self.stamps.distance(i.min(k), i.max(k))));
            *out = k.map_or(L::BOTTOM, |k| body[k]);
        }
    }

    /// The interval in positions, if neighbours are equally far apart; `Err` if it contains none of their distances.
    fn uniform(&self, ticks: Ticks) -> Option<Result<Ticks, ()>> {
        match (self.stamps, self.period) {
            (Stamps::Index, _) => Some(Ok(ticks)),
            (_, Some(period)) => Some(in_positions(ticks, period).ok_or(())),
            _ => None,
        }
    }

    /// What the positions that the interval reaches are worth, for each position.
    pub(crate) fn sweep<M: Monoid>(
        &self,
        past: bool,
        ticks: Ticks,
        item: impl Fn(usize) -> M::Item,
        mut emit: impl FnMut(usize, M::Item),
        len: usize,
    ) {
        match self.uniform(ticks) {
            Some(Err(())) => (0..len).for_each(|i| emit(i, M::EMPTY)),
            Some(Ok(Ticks { low, high })) => {
                let (low, high) = (size(low).min(len), size(high).min(len));
                let offset = if past { -(high as isize) } else { low as isize };
                uniform::windows::<M>(len, offset, high - low + 1, item, emit);
            }
            None => {
                let reach = self.reaches(past, ticks);
                irregular::windows::<M>(len, |i| reach.at(i), item, emit);
            }
        }
    }

    /// For timestamps that are not equally far apart.
    fn reaches(&self, past: bool, ticks: Ticks) -> Reaches {
        match self.stamps {
            Stamps::Times { times, .. } => Reaches::new(times, past, ticks),
            Stamps::Index => Reaches::new(&[], past, ticks),
        }
    }

    pub(crate) fn until<L: Lattice, M: Monoid<Item = Way>>(
        &self,
        past: bool,
        ticks: Ticks,
        hold: &[f64],
        goal: &[f64],
        out: &mut [f64],
    ) {
        let len = out.len();
        let item = |k: usize| Way { hold: hold[k], goal: goal[k] };
        if self.uniform(ticks).is_some() {
            self.sweep::<M>(past, ticks, item, |i, worth| out[i] = worth.goal, len);
            if ticks.low > 0 {
                self.on_the_way::<L>(past, ticks.low, hold, out);
            }
            return;
        }
        let reach = self.reaches(past, ticks);
        irregular::windows::<M>(len, |i| reach.at(i), item, |i, worth| out[i] = worth.goal);
        if ticks.low > 0 {
            let near = reach.nearer(past);
            let meet = |i: usize, held: f64| out[i] = L::meet(out[i], held);
            irregular::windows::<Met<L>>(len, |i| near.at(i), |k| hold[k], meet);
        }
    }

    /// Meets each value with what has to hold on the way to the nearest position `low` or more away.
    fn on_the_way<L: Lattice>(&self, past: bool, low: i64, hold: &[f64], out: &mut [f64]) {
        let near = Ticks { low: 0, high: low - 1 };
        let len = out.len();
        self.sweep::<Met<L>>(past, near, |k| hold[k], |i, held| out[i] = L::meet(out[i], held), len);
    }

    fn shift<L: Lattice>(&self, past: bool, low: i64, hold: Option<&[f64]>, inner: &[f64], out: &mut [f64]) {
        let far = Ticks { low, high: i64::MAX };
        let len = out.len();
        let mut reach = Reach::default();
        for (i, out) in out.iter_mut().enumerate() {
            let (from, to) = reach.at(self.stamps, len, past, far, i);
            *out = match past {
                _ if from >= to => L::BOTTOM,
                false => inner[from],
                true => inner[to - 1],
            };
        }
        if let Some(hold) = hold {
            self.on_the_way::<L>(past, low, hold, out);
        }
    }
}

fn zip(out: &mut [f64], a: &[f64], b: &[f64], f: impl Fn(f64, f64) -> f64) {
    for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
        *out = f(*a, *b);
    }
}

/// `a <-> b`.
#[inline(always)]
pub(crate) fn iff(a: f64, b: f64) -> f64 {
    min(max(negate(a), b), max(negate(b), a))
}

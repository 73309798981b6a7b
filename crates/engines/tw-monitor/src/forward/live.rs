//! A machine on live traces.
//!
//! The selected trace stands apart, so that a step is as short as if it were the only one; the others lie side by side in
//! `traces`, 13 bytes for each root and 12 for the trace.

mod traces;

use super::{BLOCK, Scratch, Tokens, decided};
use crate::{
    Bindings, Corrupt, Known, Machine, Monitor, Obligation, Positions, Settled, Sink, State, Stretch,
    Telling, TraceId, Unsupported, put, take,
};
use rustc_hash::FxHashSet;
use traces::Traces;
use tw_core::Position;

pub(super) struct Live<M> {
    machine: M,
    positions: Position,
    /// Of each root its state, which is of no use once there is a verdict.
    states: Vec<State>,
    /// Of each root the position that last changed its state.
    since: Vec<Position>,
    verdicts: Vec<Option<bool>>,
    /// Runs from each position, of the roots in `followed`; their goals follow those of the roots.
    each: Vec<Tokens>,
    history: State,
    followed: Vec<usize>,
    telling: Telling,
    /// The states before the first position.
    fresh: Vec<State>,
    scratch: Scratch,
    selected: usize,
    /// The traces that are not selected; all but the selected trace's own place is up to date.
    traces: Traces,
    /// Steps for which states are not looked through again.
    quiet: usize,
    /// Whether the next position is the first of its trace, though not number 0.
    first: bool,
}

impl<M: Machine> Live<M> {
    pub(super) fn new(
        mut machine: M,
        roots: usize,
        followed: Vec<usize>,
        telling: Telling,
    ) -> Result<Self, Unsupported> {
        let history = machine.origin();
        let states = (0..roots).map(|goal| machine.enter(goal, history)).collect::<Result<Vec<_>, _>>()?;
        let traces = Traces::new(roots, followed.len());
        Ok(Self {
            machine,
            positions: 0,
            fresh: states.clone(),
            states,
            since: vec![0; roots],
            verdicts: vec![None; roots],
            each: followed.iter().map(|_| Tokens::default()).collect(),
            history,
            followed,
            telling,
            scratch: Scratch::new(telling == Telling::Violations),
            selected: 0,
            traces,
            quiet: 0,
            first: false,
        })
    }

    /// Before the first position again.
    fn clear(&mut self) {
        self.positions = 0;
        self.states.copy_from_slice(&self.fresh);
        self.since.fill(0);
        self.verdicts.fill(None);
        self.each.iter_mut().for_each(|tokens| *tokens = Tokens::default());
        self.history = self.machine.origin();
    }

    /// As [`Monitor::feed`], for positions whose atoms are packed together.
    fn stretch(&mut self, stretch: &Stretch<'_>, sink: &mut Sink) -> Result<(), Unsupported> {
        let (start, len) = (self.positions, stretch.len());
        for goal in 0..self.states.len() {
            if self.verdicts[goal].is_some() {
                continue;
            }
            let run = self.machine.run(goal, self.states[goal], stretch, 0, len)?;
            self.states[goal] = run.state;
            if let Some(changed) = run.changed {
                self.since[goal] = start + changed;
            }
            // An empty stretch settles nothing, and its state may be one that was only entered.
            if run.end > 0 {
                self.settle(goal, start + run.end - 1, sink);
            }
        }
        if self.each.is_empty() {
        } else if self.machine.constant() {
            self.each_in(stretch, sink)?;
        } else {
            (0..len).try_for_each(|offset| self.each(start + offset, stretch.row(offset), sink))?;
        }
        self.positions += len;
        decided(&self.machine)
    }

    /// The same, where other traces have states of the goals: a run over a stretch takes its own for the only one
    /// ([`Machine::run`]).
    #[inline(never)]
    fn steps(&mut self, stretch: &Stretch<'_>, sink: &mut Sink) -> Result<(), Unsupported> {
        (0..stretch.len()).try_for_each(|offset| self.step(stretch.row(offset), sink))
    }

    /// Notes the verdict of a root if the state reached at `at` settles it.
    fn settle(&mut self, goal: usize, at: Position, sink: &mut Sink) {
        if let Some(holds) = self.machine.settled(goal, self.states[goal]) {
            self.verdicts[goal] = Some(holds);
            sink.settled.push(Settled::truth(goal, None, at, holds));
        }
    }

    /// Looks whether roots whose state changed at `at` are settled. A state that stays was looked at when it was
    /// reached, but for the first.
    #[inline(never)]
    fn settle_changed(&mut self, at: Position, sink: &mut Sink) -> Result<(), Unsupported> {
        self.first = false;
        for goal in 0..self.states.len() {
            if self.since[goal] == at && self.verdicts[goal].is_none() {
                self.settle(goal, at, sink);
            }
        }
        decided(&self.machine)
    }

    /// Steps the runs from each position. Apart, so that a step without them stays short.
    #[inline(never)]
    fn each(&mut self, at: Position, row: &[u64], sink: &mut Sink) -> Result<(), Unsupported> {
        let all = self.telling == Telling::Positions;
        for (index, (&root, tokens)) in self.followed.iter().zip(&mut self.each).enumerate() {
            let (goal, machine, history) = (self.states.len() + index, &mut self.machine, self.history);
            tokens.step(machine, goal, history, (at, row), &mut self.scratch, &mut |from, to, holds| {
                tell(sink, root, (from, to), at, holds, all);
            })?;
        }
        self.history = self.machine.remember(self.history, row)?;
        if self.machine.crowded() {
            self.tidy();
        }
        decided(&self.machine)
    }

    /// Steps the runs from each position of a stretch, one root after the other.
    fn each_in(&mut self, stretch: &Stretch<'_>, sink: &mut Sink) -> Result<(), Unsupported> {
        let (start, all) = (self.positions, self.telling == Telling::Positions);
        for (index, (&root, tokens)) in self.followed.iter().zip(&mut self.each).enumerate() {
            let goal = (self.states.len() + index, self.history);
            tokens.run(
                &mut self.machine,
                goal,
                (start, stretch),
                &mut self.scratch,
                &mut |at, from, to, holds| {
                    tell(sink, root, (from, to), at, holds, all);
                },
            )?;
        }
        Ok(())
    }

    /// Lets the machine forget what is not in use by any trace.
    #[inline(never)]
    fn tidy(&mut self) {
        if self.quiet > 0 {
            self.quiet -= 1;
            return;
        }
        let roots = self.states.len();
        // What traces begin with is not made again.
        let mut live: FxHashSet<(usize, State)> = self.fresh.iter().copied().enumerate().collect();
        let open = |(goal, _): &(usize, State)| self.verdicts[*goal].is_none();
        live.extend(self.states.iter().copied().enumerate().filter(open));
        for (index, tokens) in self.each.iter().enumerate() {
            live.extend(tokens.states().map(|state| (roots + index, state)));
        }
        let mut histories = FxHashSet::from_iter([self.history]);
        self.traces.states(self.selected, &mut live, &mut histories);
        let live: Vec<(usize, State)> = live.into_iter().collect();
        self.machine.retain(&live, &Vec::from_iter(histories));
        // Looking through many traces takes as long as many steps: not at each of them.
        self.quiet = self.traces.len() * roots / 64;
    }
}

/// Tells that runs from some positions are settled: each, or that so many fail.
fn tell(
    sink: &mut Sink,
    root: usize,
    (from, to): (Position, Position),
    at: Position,
    holds: bool,
    all: bool,
) {
    if all {
        sink.settled.extend((from..to).map(|about| Settled::truth(root, Some(about), at, holds)));
    } else if !holds {
        let count = (to - from) as u64;
        sink.settled.push(Settled { count, ..Settled::truth(root, Some(from), at, false) });
    }
}

impl<M: Machine> Monitor for Live<M> {
    fn open(&mut self) -> TraceId {
        let trace = self.traces.open(&self.fresh, self.machine.origin());
        // The number of a trace that was closed while it was selected.
        if trace.0 as usize == self.selected {
            self.clear();
        }
        trace
    }

    fn select(&mut self, trace: TraceId) {
        let to = trace.0 as usize;
        if to == self.selected || !self.traces.is_open(to) {
            return;
        }
        let from = std::mem::replace(&mut self.selected, to);
        let (positions, history) = (&mut self.positions, &mut self.history);
        self.traces.store(from, (*positions, *history), &self.states, &self.since, &self.verdicts);
        (*positions, *history) = self.traces.load(to, &mut self.states, &mut self.since, &mut self.verdicts);
        if !self.followed.is_empty() {
            self.traces.swap_tokens(from, &mut self.each);
            self.traces.swap_tokens(to, &mut self.each);
        }
    }

    fn close(&mut self, trace: TraceId) {
        let number = trace.0 as usize;
        if self.traces.close(number) && number == self.selected {
            self.clear();
        }
    }

    fn skip_to(&mut self, position: Position) {
        if self.positions == 0 && position > 0 {
            self.first = true;
            self.since.fill(position);
        }
        self.positions = position.max(self.positions);
    }

    fn feed(&mut self, positions: &Positions<'_>, sink: &mut Sink) -> Result<(), Unsupported> {
        let before = sink.settled.len();
        for block in (0..positions.len).step_by(BLOCK) {
            let stretch = Stretch::new(positions.atoms, block, BLOCK.min(positions.len - block));
            match self.traces.len() {
                1 => self.stretch(&stretch, sink)?,
                _ => self.steps(&stretch, sink)?,
            }
        }
        sink.settled[before..].sort_by_key(|settled| (settled.at, settled.root, settled.about));
        Ok(())
    }

    fn step(&mut self, atoms: &[u64], sink: &mut Sink) -> Result<(), Unsupported> {
        let at = self.positions;
        if self.machine.step_all(&mut self.states, &mut self.since, &self.verdicts, at, atoms)? | self.first {
            self.settle_changed(at, sink)?;
        }
        if !self.each.is_empty() {
            let before = sink.settled.len();
            self.each(at, atoms, sink)?;
            sink.settled[before..].sort_by_key(|settled| (settled.root, settled.about));
        } else if self.machine.crowded() {
            self.tidy();
        }
        self.positions += 1;
        Ok(())
    }

    fn positions(&self) -> Position {
        self.positions
    }

    fn verdicts(&self) -> Vec<Option<bool>> {
        self.verdicts.clone()
    }

    fn pending(&self) -> Vec<Obligation> {
        let open = |(goal, &state): (usize, &State)| {
            self.verdicts[goal].is_none().then(|| Obligation {
                root: goal,
                since: self.since[goal],
                residual: self.machine.residual(goal, state),
                deadline: None,
                bindings: Bindings::default(),
            })
        };
        self.states.iter().enumerate().filter_map(open).collect()
    }

    fn finish(&mut self, sink: &mut Sink) -> Result<Option<Vec<Known>>, Unsupported> {
        let Some(at) = self.positions.checked_sub(1) else { return Ok(None) };
        let (before, all) = (sink.settled.len(), self.telling == Telling::Positions);
        for (index, (&root, tokens)) in self.followed.iter().zip(&self.each).enumerate() {
            tokens.at_end(&self.machine, self.states.len() + index, &mut |from, to, holds| {
                tell(sink, root, (from, to), at, holds, all);
            });
        }
        sink.settled[before..].sort_by_key(|settled| (settled.root, settled.about));
        let verdict = |(goal, verdict): (usize, &Option<bool>)| {
            verdict.unwrap_or_else(|| self.machine.holds_at_end(goal, self.states[goal]))
        };
        Ok(Some(self.verdicts.iter().enumerate().map(verdict).map(Known::Truth).collect()))
    }

    fn save(&self, out: &mut Vec<u8>) {
        put(self.positions as u64, out);
        put(self.states.len() as u64, out);
        for (goal, &state) in self.states.iter().enumerate() {
            put(self.since[goal] as u64, out);
            match self.verdicts[goal] {
                Some(holds) => put(u64::from(holds), out),
                None => {
                    put(2, out);
                    self.machine.save(goal, state, out);
                }
            }
        }
        put(self.telling as u64, out);
        if self.telling.each() {
            self.machine.save_history(self.history, out);
            for (index, tokens) in self.each.iter().enumerate() {
                tokens.save(&self.machine, self.states.len() + index, out);
            }
        }
    }

    fn restore(&mut self, mut from: &[u8]) -> Result<(), Corrupt> {
        self.clear();
        let from = &mut from;
        let positions = take(from)? as Position;
        if positions > isize::MAX as usize {
            return Err(Corrupt("the saved state has too many positions".into()));
        }
        let roots = self.states.len();
        if take(from)? != roots as u64 {
            return Err(Corrupt("the saved state is of another number of properties".into()));
        }
        let (mut states, mut since, mut verdicts) = (self.states.clone(), vec![0; roots], vec![None; roots]);
        for goal in 0..roots {
            since[goal] = take(from)? as Position;
            match take(from)? {
                2 => states[goal] = self.machine.load(goal, from)?,
                holds => verdicts[goal] = Some(holds == 1),
            }
        }
        if take(from)? != self.telling as u64 {
            return Err(Corrupt("the two runs do not tell the same about positions".into()));
        }
        let mut restored = None;
        if self.telling.each() {
            let history = self.machine.load_history(from)?;
            let mut each = Vec::with_capacity(self.each.len());
            for index in 0..self.each.len() {
                each.push(Tokens::load(&mut self.machine, roots + index, positions, from)?);
            }
            restored = Some((history, each));
        }
        if !from.is_empty() {
            return Err(Corrupt("the saved state is longer than it should be".into()));
        }
        if let Some((history, each)) = restored {
            (self.history, self.each) = (history, each);
        }
        (self.positions, self.states, self.since, self.verdicts) = (positions, states, since, verdicts);
        Ok(())
    }

    fn heap_bytes(&self) -> usize {
        let each = self.each.iter().map(Tokens::heap_bytes).sum::<usize>();
        self.machine.heap_bytes() + each + self.states.len() * 16 + self.traces.heap_bytes()
    }
}

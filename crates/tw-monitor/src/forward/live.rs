//! A machine on a live trace.

use super::{BLOCK, Tokens};
use crate::{
    Bindings, Corrupt, Known, Machine, Monitor, Obligation, Positions, Settled, Sink, State, Stretch,
    Telling, Unsupported, put, take,
};
use tw_core::Position;

pub(super) struct Live<M> {
    machine: M,
    positions: Position,
    /// Of each root its state, which is of no use once there is a verdict.
    states: Vec<State>,
    /// Of each root the position that last changed its state.
    since: Vec<Position>,
    verdicts: Vec<Option<bool>>,
    /// Runs from each position, with the root that they are about; their goals follow those of the roots.
    each: Vec<(usize, Tokens)>,
    telling: Telling,
    history: State,
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
        let each = followed.into_iter().map(|root| (root, Tokens::default())).collect();
        Ok(Self {
            machine,
            positions: 0,
            states,
            since: vec![0; roots],
            verdicts: vec![None; roots],
            each,
            telling,
            history,
        })
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
        for offset in 0..if self.each.is_empty() { 0 } else { len } {
            self.each(start + offset, stretch.row(offset), sink)?;
        }
        self.positions += len;
        Ok(())
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
    fn settle_changed(&mut self, at: Position, sink: &mut Sink) {
        for goal in 0..self.states.len() {
            if self.since[goal] == at && self.verdicts[goal].is_none() {
                self.settle(goal, at, sink);
            }
        }
    }

    /// Steps the runs from each position. Apart, so that a step without them stays short.
    #[inline(never)]
    fn each(&mut self, at: Position, row: &[u64], sink: &mut Sink) -> Result<(), Unsupported> {
        let all = self.telling == Telling::Positions;
        for (index, (root, tokens)) in self.each.iter_mut().enumerate() {
            let goal = self.states.len() + index;
            tokens.step(&mut self.machine, goal, self.history, at, row, &mut |from, to, holds| {
                if all || !holds {
                    let settled = |about| Settled::truth(*root, Some(about), at, holds);
                    sink.settled.extend((from..to).map(settled));
                }
            })?;
        }
        self.history = self.machine.remember(self.history, row)?;
        if self.machine.crowded() {
            self.tidy();
        }
        Ok(())
    }

    /// Lets the machine forget what is not in use.
    #[inline(never)]
    fn tidy(&mut self) {
        let open = |(goal, _): &(usize, State)| self.verdicts[*goal].is_none();
        let mut live: Vec<_> = self.states.iter().copied().enumerate().filter(open).collect();
        for (index, (_, tokens)) in self.each.iter().enumerate() {
            live.extend(tokens.states().map(|state| (self.states.len() + index, state)));
        }
        self.machine.retain(&live);
    }
}

impl<M: Machine> Monitor for Live<M> {
    fn feed(&mut self, positions: &Positions<'_>, sink: &mut Sink) -> Result<(), Unsupported> {
        let before = sink.settled.len();
        for block in (0..positions.len).step_by(BLOCK) {
            self.stretch(&Stretch::new(positions.atoms, block, BLOCK.min(positions.len - block)), sink)?;
        }
        sink.settled[before..].sort_by_key(|settled| (settled.at, settled.root, settled.about));
        Ok(())
    }

    fn step(&mut self, atoms: &[u64], sink: &mut Sink) -> Result<(), Unsupported> {
        let at = self.positions;
        if self.machine.step_all(&mut self.states, &mut self.since, &self.verdicts, at, atoms)? {
            self.settle_changed(at, sink);
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
        for (index, (root, tokens)) in self.each.iter().enumerate() {
            tokens.at_end(&self.machine, self.states.len() + index, &mut |from, to, holds| {
                if all || !holds {
                    let settled = |about| Settled::truth(*root, Some(about), at, holds);
                    sink.settled.extend((from..to).map(settled));
                }
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
            for (index, (_, tokens)) in self.each.iter().enumerate() {
                tokens.save(&self.machine, self.states.len() + index, out);
            }
        }
    }

    fn restore(&mut self, mut from: &[u8]) -> Result<(), Corrupt> {
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
            for (index, (root, _)) in self.each.iter().enumerate() {
                each.push((*root, Tokens::load(&mut self.machine, roots + index, positions, from)?));
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
        let each = self.each.iter().map(|(_, tokens)| tokens.heap_bytes()).sum::<usize>();
        self.machine.heap_bytes() + each + self.states.len() * 16
    }
}

//! A machine on a live trace.

use super::{BLOCK, Progress, Tokens};
use crate::{Chunk, Corrupt, Machine, Monitor, Obligation, Settled, State, Stretch, Unsupported, put, take};
use tw_core::Position;

pub(super) struct Live<M> {
    machine: M,
    positions: Position,
    roots: Vec<Root>,
    /// Runs from each position, one set per root; their goals follow those of the roots.
    each: Option<Vec<Tokens>>,
    history: State,
}

struct Root {
    progress: Progress,
    /// Positions read when the state last changed.
    since: Position,
}

impl<M: Machine> Live<M> {
    pub(super) fn new(mut machine: M, roots: usize, each_position: bool) -> Result<Self, Unsupported> {
        let history = machine.origin();
        let mut all = Vec::with_capacity(roots);
        for goal in 0..roots {
            all.push(Root { progress: Progress::Open(machine.enter(goal, history)?), since: 0 });
        }
        let each = each_position.then(|| (0..roots).map(|_| Tokens::default()).collect());
        Ok(Self { machine, positions: 0, roots: all, each, history })
    }

    /// As [`Monitor::feed`], for positions whose atoms are packed together.
    fn stretch(&mut self, stretch: &Stretch<'_>, out: &mut Vec<Settled>) -> Result<(), Unsupported> {
        let (start, len) = (self.positions, stretch.len());
        for (goal, root) in self.roots.iter_mut().enumerate() {
            let Progress::Open(state) = root.progress else { continue };
            let run = self.machine.run(goal, state, stretch, 0, len)?;
            root.progress = Progress::Open(run.state);
            if let Some(changed) = run.changed {
                root.since = start + changed;
            }
            // An empty stretch settles nothing, and its state may be one that was only entered.
            if run.end > 0
                && let Some(holds) = self.machine.settled(goal, run.state)
            {
                root.progress = Progress::Settled(holds);
                out.push(Settled { root: goal, about: None, at: start + run.end - 1, holds });
            }
        }
        for offset in 0..if self.each.is_some() { len } else { 0 } {
            self.each(start + offset, stretch.row(offset), out)?;
        }
        self.positions += len;
        Ok(())
    }

    /// Steps the runs from each position.
    fn each(&mut self, at: Position, row: &[u64], out: &mut Vec<Settled>) -> Result<(), Unsupported> {
        let Some(each) = &mut self.each else { return Ok(()) };
        for (root, tokens) in each.iter_mut().enumerate() {
            let goal = self.roots.len() + root;
            tokens.step(&mut self.machine, goal, self.history, at, row, &mut |from, to, holds| {
                let settled = |about| Settled { root, about: Some(about), at, holds };
                out.extend((from..to).map(settled));
            })?;
        }
        self.history = self.machine.remember(self.history, row)?;
        Ok(())
    }
}

impl<M: Machine> Monitor for Live<M> {
    fn feed(&mut self, chunk: &Chunk<'_>, out: &mut Vec<Settled>) -> Result<(), Unsupported> {
        let before = out.len();
        for block in (0..chunk.len).step_by(BLOCK) {
            self.stretch(&Stretch::new(chunk.atoms, block, BLOCK.min(chunk.len - block)), out)?;
        }
        out[before..].sort_by_key(|settled| (settled.at, settled.root, settled.about));
        Ok(())
    }

    fn step(&mut self, atoms: &[u64], out: &mut Vec<Settled>) -> Result<(), Unsupported> {
        let at = self.positions;
        for (goal, root) in self.roots.iter_mut().enumerate() {
            let Progress::Open(state) = root.progress else { continue };
            let next = self.machine.step(goal, state, atoms)?;
            if next != state {
                root.since = at;
                root.progress = Progress::Open(next);
            }
            // A state that stays was looked at when it was reached, but for the first.
            if (next != state || at == 0)
                && let Some(holds) = self.machine.settled(goal, next)
            {
                root.progress = Progress::Settled(holds);
                out.push(Settled { root: goal, about: None, at, holds });
            }
        }
        if self.each.is_some() {
            let before = out.len();
            self.each(at, atoms, out)?;
            out[before..].sort_by_key(|settled| (settled.root, settled.about));
        }
        self.positions += 1;
        Ok(())
    }

    fn positions(&self) -> Position {
        self.positions
    }

    fn verdicts(&self) -> Vec<Option<bool>> {
        let verdict = |root: &Root| match root.progress {
            Progress::Open(_) => None,
            Progress::Settled(holds) => Some(holds),
        };
        self.roots.iter().map(verdict).collect()
    }

    fn pending(&self) -> Vec<Obligation> {
        let open = |(goal, root): (usize, &Root)| match root.progress {
            Progress::Open(state) => Some(Obligation {
                root: goal,
                since: root.since,
                residual: self.machine.residual(goal, state),
            }),
            Progress::Settled(_) => None,
        };
        self.roots.iter().enumerate().filter_map(open).collect()
    }

    fn finish(&self, out: &mut Vec<Settled>) -> Option<Vec<bool>> {
        let at = self.positions.checked_sub(1)?;
        if let Some(each) = &self.each {
            let before = out.len();
            for (root, tokens) in each.iter().enumerate() {
                tokens.at_end(&self.machine, self.roots.len() + root, &mut |from, to, holds| {
                    out.extend((from..to).map(|about| Settled { root, about: Some(about), at, holds }));
                });
            }
            out[before..].sort_by_key(|settled| (settled.root, settled.about));
        }
        let verdict = |(goal, root): (usize, &Root)| match root.progress {
            Progress::Open(state) => self.machine.holds_at_end(goal, state),
            Progress::Settled(holds) => holds,
        };
        Some(self.roots.iter().enumerate().map(verdict).collect())
    }

    fn save(&self, out: &mut Vec<u8>) {
        put(self.positions as u64, out);
        put(self.roots.len() as u64, out);
        for (goal, root) in self.roots.iter().enumerate() {
            put(root.since as u64, out);
            match root.progress {
                Progress::Settled(holds) => put(u64::from(holds), out),
                Progress::Open(state) => {
                    put(2, out);
                    self.machine.save(goal, state, out);
                }
            }
        }
        put(u64::from(self.each.is_some()), out);
        if let Some(each) = &self.each {
            self.machine.save_history(self.history, out);
            for (root, tokens) in each.iter().enumerate() {
                tokens.save(&self.machine, self.roots.len() + root, out);
            }
        }
    }

    fn restore(&mut self, mut from: &[u8]) -> Result<(), Corrupt> {
        let from = &mut from;
        let positions = take(from)? as Position;
        if take(from)? != self.roots.len() as u64 {
            return Err(Corrupt("the saved state is of another number of properties".into()));
        }
        let mut roots = Vec::with_capacity(self.roots.len());
        for goal in 0..self.roots.len() {
            let since = take(from)? as Position;
            let progress = match take(from)? {
                2 => Progress::Open(self.machine.load(goal, from)?),
                holds => Progress::Settled(holds == 1),
            };
            roots.push(Root { progress, since });
        }
        if (take(from)? == 1) != self.each.is_some() {
            return Err(Corrupt("one of the two runs reports each position, the other does not".into()));
        }
        let mut restored = None;
        if self.each.is_some() {
            let history = self.machine.load_history(from)?;
            let mut each = Vec::with_capacity(roots.len());
            for root in 0..roots.len() {
                each.push(Tokens::load(&mut self.machine, roots.len() + root, from)?);
            }
            restored = Some((history, each));
        }
        if !from.is_empty() {
            return Err(Corrupt("the saved state is longer than it should be".into()));
        }
        if let Some((history, each)) = restored {
            (self.history, self.each) = (history, Some(each));
        }
        (self.positions, self.roots) = (positions, roots);
        Ok(())
    }

    fn heap_bytes(&self) -> usize {
        let each = self.each.iter().flatten().map(Tokens::heap_bytes).sum::<usize>();
        self.machine.heap_bytes() + each + self.roots.len() * size_of::<Root>()
    }
}

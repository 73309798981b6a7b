//! The live monitor that `watch` runs.

use super::{Each, Online, Open};
use tw_core::{Position, Time};
use tw_ir::{NodeId, Program, display};
use tw_monitor::{Chunk, Corrupt, EvaluateOptions, Monitor, Obligation, Settled, Stretch, Unsupported};

/// [`Online`] as a [`Monitor`]. With `each_position` it reports the truth about every position, in order.
pub struct MetricMonitor {
    online: Online,
    /// The monitor before the first position, which a failed [`Monitor::restore`] goes back to.
    fresh: Online,
    program: Program,
    told: Vec<bool>,
}

impl MetricMonitor {
    /// Prepares to run every root, or refuses with the construct that it cannot do.
    pub fn new(
        program: &Program,
        options: &EvaluateOptions,
        each_position: bool,
    ) -> Result<Self, Unsupported> {
        let online = Online::new(program, options, if each_position { Each::Body } else { Each::Nothing })?;
        let told = vec![false; program.roots.len()];
        Ok(Self { fresh: online.clone(), online, program: program.clone(), told })
    }

    /// The state.
    pub fn online(&self) -> &Online {
        &self.online
    }

    /// Tells what was settled by the last position read, or by time after it.
    fn tell(&mut self, out: &mut Vec<Settled>) {
        let at = self.online.positions().saturating_sub(1);
        for root in 0..self.told.len() {
            if !self.told[root]
                && let Some(holds) = self.online.verdict(root)
            {
                self.told[root] = true;
                out.push(Settled { root, about: None, at, holds });
            }
            while let Some((about, holds)) = self.online.next_settled(root) {
                out.push(Settled { root, about: Some(about), at, holds });
            }
        }
    }

    /// What a root waits for, in the user's words.
    fn owed(&self, root: usize) -> Vec<Obligation> {
        let formula = |node: Option<NodeId>| {
            display(&self.program, node.unwrap_or_else(|| self.program.roots[root].node))
        };
        let mut open = self.online.pending(root);
        if open.is_empty() && self.online.verdict(root).is_none() {
            let position = self.online.positions().saturating_sub(1);
            open.push(Open { position, node: None, deadline: None });
        }
        let words = |open: Open| Obligation {
            root,
            since: open.position,
            residual: formula(open.node),
            deadline: open.deadline,
        };
        open.into_iter().map(words).collect()
    }
}

/// Positions whose rows are made at a time.
const BLOCK: usize = 4096;

impl Monitor for MetricMonitor {
    fn feed(&mut self, chunk: &Chunk<'_>, out: &mut Vec<Settled>) -> Result<(), Unsupported> {
        for block in (0..chunk.len).step_by(BLOCK) {
            let stretch = Stretch::new(chunk.atoms, block, BLOCK.min(chunk.len - block));
            for offset in 0..stretch.len() {
                let time = chunk.times.map(|times| times[block + offset]);
                self.online.step(time, stretch.row(offset))?;
                self.tell(out);
            }
        }
        Ok(())
    }

    fn step(&mut self, atoms: &[u64], out: &mut Vec<Settled>) -> Result<(), Unsupported> {
        self.step_at(None, atoms, out)
    }

    fn step_at(
        &mut self,
        time: Option<Time>,
        atoms: &[u64],
        out: &mut Vec<Settled>,
    ) -> Result<(), Unsupported> {
        self.online.step(time, atoms)?;
        self.tell(out);
        Ok(())
    }

    fn advance(&mut self, time: Time, out: &mut Vec<Settled>) -> Result<(), Unsupported> {
        self.online.advance(time)?;
        self.tell(out);
        Ok(())
    }

    fn now(&self, root: usize) -> Option<bool> {
        self.online.now(root)
    }

    fn positions(&self) -> Position {
        self.online.positions()
    }

    fn verdicts(&self) -> Vec<Option<bool>> {
        (0..self.told.len()).map(|root| self.online.verdict(root)).collect()
    }

    fn pending(&self) -> Vec<Obligation> {
        (0..self.told.len()).flat_map(|root| self.owed(root)).collect()
    }

    fn finish(&self, out: &mut Vec<Settled>) -> Option<Vec<bool>> {
        let at = self.online.positions().checked_sub(1)?;
        let mut copy = self.online.clone();
        copy.end().ok()?;
        for root in 0..self.told.len() {
            while let Some((about, holds)) = copy.next_settled(root) {
                out.push(Settled { root, about: Some(about), at, holds });
            }
        }
        (0..self.told.len()).map(|root| copy.verdict(root)).collect()
    }

    fn save(&self, out: &mut Vec<u8>) {
        self.online.save(out);
    }

    fn restore(&mut self, mut from: &[u8]) -> Result<(), Corrupt> {
        self.online = self.fresh.clone();
        let loaded = self.online.load(&mut from).and_then(|()| match from {
            [] => Ok(()),
            _ => Err(Corrupt("the saved state is longer than it should be".into())),
        });
        if loaded.is_err() {
            self.online = self.fresh.clone();
        }
        self.told = self.verdicts().iter().map(Option::is_some).collect();
        loaded
    }

    fn heap_bytes(&self) -> usize {
        self.online.heap_bytes()
    }
}

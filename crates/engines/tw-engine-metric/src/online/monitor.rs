//! The live monitor that `watch` runs.

use super::trace::Numbers;
use super::{Each, Online, Open, Owned};
use tw_core::{Position, Time};
use tw_ir::{Node, NodeId, Program, Temporal, display};
use tw_monitor::{
    Bindings, Corrupt, EvaluateOptions, Known, Monitor, Obligation, Positions, Settled, Sink, Slab, Stretch,
    Telling, TraceId, Unsupported,
};

/// [`Online`] as a [`Monitor`]. Where it reports positions, it does so in their order.
pub struct MetricMonitor {
    online: Online,
    /// A trace before the first position, as new ones are and as a failed [`Monitor::restore`] leaves one.
    fresh: Owned,
    /// The traces; the place of the selected one, which `online` works on, is of no use.
    traces: Slab<Owned>,
    selected: TraceId,
    program: Program,
    /// Of which roots of the selected trace the verdict was told.
    told: Vec<bool>,
    tells: Vec<Tells>,
}

/// What is told of a root's positions.
#[derive(Clone, Copy, PartialEq)]
enum Tells {
    Nothing,
    Failures,
    All,
}

impl Tells {
    fn tells(self, holds: bool) -> bool {
        match self {
            Tells::Nothing => false,
            Tells::Failures => !holds,
            Tells::All => true,
        }
    }
}

impl MetricMonitor {
    /// Prepares to run every root, or refuses with the construct that it cannot do.
    pub fn new(program: &Program, options: &EvaluateOptions, telling: Telling) -> Result<Self, Unsupported> {
        let each = match telling {
            Telling::Verdicts => Each::Nothing,
            Telling::Violations => Each::Invariants,
            Telling::Positions => Each::Body,
        };
        let mut online = Online::new(program, options, each)?;
        // Before the first position no state is held, so that copies of it are as good as new ones.
        let (fresh, mut traces) = (online.copy(), Slab::new());
        let selected = traces.insert(fresh.clone());
        let told = vec![false; program.roots.len()];
        let invariant = |root: &tw_ir::Root| {
            matches!(program.dag.node(root.node), Node::Unary(Temporal::Globally, None, _))
        };
        let tells = match telling {
            Telling::Verdicts => vec![Tells::Nothing; told.len()],
            Telling::Positions => vec![Tells::All; told.len()],
            Telling::Violations => program
                .roots
                .iter()
                .map(|root| if invariant(root) { Tells::Failures } else { Tells::Nothing })
                .collect(),
        };
        Ok(Self { online, fresh, traces, selected, program: program.clone(), told, tells })
    }

    /// The state.
    pub fn online(&self) -> &Online {
        &self.online
    }

    fn take(&mut self, time: Option<Time>, atoms: &[u64]) -> Result<(), Unsupported> {
        let places = self.online.positions();
        self.online.step(time, atoms)?;
        self.online.numbers.push(places);
        Ok(())
    }

    /// What is settled was told when it was.
    fn note_told(&mut self) {
        for root in 0..self.told.len() {
            self.told[root] = self.online.verdict(root).is_some();
        }
    }

    /// Tells what was settled by the last position read, or by time after it.
    fn tell(&mut self, sink: &mut Sink) {
        let at = self.online.numbers.of(self.online.positions().saturating_sub(1));
        let mut open = self.online.positions();
        for root in 0..self.told.len() {
            if !self.told[root]
                && let Some(holds) = self.online.verdict(root)
            {
                self.told[root] = true;
                sink.settled.push(Settled::truth(root, None, at, holds));
            }
            while let Some((about, holds)) = self.online.next_settled(root) {
                if self.tells[root].tells(holds) {
                    let about = self.online.numbers.of(about);
                    sink.settled.push(Settled::truth(root, Some(about), at, holds));
                }
            }
            if self.tells[root] != Tells::Nothing {
                open = open.min(self.online.told(root));
            }
        }
        self.online.numbers.forget(open);
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
            since: self.online.numbers.of(open.position),
            residual: formula(open.node),
            deadline: open.deadline,
            bindings: Bindings::default(),
        };
        open.into_iter().map(words).collect()
    }
}

/// Positions whose rows are made at a time.
const BLOCK: usize = 4096;

impl Monitor for MetricMonitor {
    fn open(&mut self) -> TraceId {
        let trace = self.traces.insert(self.fresh.clone());
        // The number of a trace that was closed while it was selected.
        if trace == self.selected {
            self.online.put(self.fresh.clone());
            self.note_told();
        }
        trace
    }

    fn select(&mut self, trace: TraceId) {
        if trace == self.selected || !self.traces.contains(trace) {
            return;
        }
        for place in [self.selected, trace] {
            if let Some(owned) = self.traces.get_mut(place) {
                self.online.swap(owned);
            }
        }
        self.selected = trace;
        self.note_told();
    }

    fn close(&mut self, trace: TraceId) {
        if let Some(owned) = self.traces.remove(trace) {
            self.online.forget_trace(&owned);
            if trace == self.selected {
                self.online.put(self.fresh.clone());
                self.note_told();
            }
        }
    }

    fn next_deadline(&self) -> Option<Time> {
        self.online.next_deadline()
    }

    fn skip_to(&mut self, position: Position) {
        self.online.numbers.next = Some(position);
    }

    fn feed(&mut self, chunk: &Positions<'_>, sink: &mut Sink) -> Result<(), Unsupported> {
        for block in (0..chunk.len).step_by(BLOCK) {
            let stretch = Stretch::new(chunk.atoms, block, BLOCK.min(chunk.len - block));
            for offset in 0..stretch.len() {
                let time = chunk.times.map(|times| times[block + offset]);
                self.take(time, stretch.row(offset))?;
                self.tell(sink);
            }
        }
        Ok(())
    }

    fn step(&mut self, atoms: &[u64], sink: &mut Sink) -> Result<(), Unsupported> {
        self.step_at(None, atoms, sink)
    }

    fn step_at(&mut self, time: Option<Time>, atoms: &[u64], sink: &mut Sink) -> Result<(), Unsupported> {
        self.take(time, atoms)?;
        self.tell(sink);
        Ok(())
    }

    fn advance(&mut self, time: Time, sink: &mut Sink) -> Result<(), Unsupported> {
        self.online.advance(time)?;
        self.tell(sink);
        Ok(())
    }

    fn now(&self, root: usize) -> Option<bool> {
        self.online.now(root)
    }

    fn positions(&self) -> Position {
        match self.online.positions() {
            0 => 0,
            places => self.online.numbers.of(places - 1) + 1,
        }
    }

    fn verdicts(&self) -> Vec<Option<bool>> {
        (0..self.told.len()).map(|root| self.online.verdict(root)).collect()
    }

    fn pending(&self) -> Vec<Obligation> {
        (0..self.told.len()).flat_map(|root| self.owed(root)).collect()
    }

    fn finish(&mut self, sink: &mut Sink) -> Result<Option<Vec<Known>>, Unsupported> {
        let Some(at) = self.online.positions().checked_sub(1) else { return Ok(None) };
        let at = self.online.numbers.of(at);
        let before = self.online.copy();
        let ended = self.online.end();
        let copy = &mut self.online;
        for root in 0..self.told.len() {
            while let Some((about, holds)) = copy.next_settled(root) {
                if self.tells[root].tells(holds) {
                    let about = copy.numbers.of(about);
                    sink.settled.push(Settled::truth(root, Some(about), at, holds));
                }
            }
        }
        let verdicts = (0..self.told.len()).map(|root| copy.verdict(root).map(Known::Truth)).collect();
        self.online.put(before);
        ended.map(|()| verdicts)
    }

    fn save(&self, out: &mut Vec<u8>) {
        self.online.save(out);
        self.online.numbers.save(out);
    }

    fn restore(&mut self, mut from: &[u8]) -> Result<(), Corrupt> {
        self.online.put(self.fresh.clone());
        let loaded = self.online.load(&mut from).and_then(|()| {
            self.online.numbers = Numbers::load(&mut from)?;
            match from {
                [] => Ok(()),
                _ => Err(Corrupt("the saved state is longer than it should be".into())),
            }
        });
        if loaded.is_err() {
            self.online.put(self.fresh.clone());
        }
        self.note_told();
        loaded
    }

    fn heap_bytes(&self) -> usize {
        let others: usize = self.traces.iter().map(Owned::heap_bytes).sum();
        self.online.heap_bytes() + others + self.traces.heap_bytes()
    }
}

//! The same machine on live traces: one per trace, which are told apart by number.

use crate::answers;
use crate::gate::Plan;
use crate::machine::{Fails, Found, Machine};
use crate::trie::Trie;
use crate::truth::Truth;
use crate::{bindings, closed, row_bindings, truths, undecided};
use std::sync::Arc;
use tw_core::codec::{Corrupt, put, take};
use tw_core::{Bits, Position, Time, Value};
use tw_ir::{NodeId, display_with};
use tw_monitor::{
    Bindings, Known, Monitor, Obligation, Positions, Settled, Sink, Slab, Telling, TraceId, Unsupported,
};

/// Obligations that are told at a time.
const OBLIGATIONS: usize = 1_000;

/// Bytes of a value that is put into an obligation.
const LONGEST: usize = 1_000;

/// One trace.
#[derive(Clone, Debug)]
pub(crate) struct Following {
    pub(crate) machine: Machine,
    pub(crate) verdicts: Vec<Option<bool>>,
    /// The number of the next position.
    pub(crate) next: Position,
    /// The last position, for what is settled by time or by asking.
    last: Option<Position>,
}

pub(crate) struct Live {
    plan: Arc<Plan>,
    telling: Telling,
    traces: Slab<Following>,
    selected: TraceId,
}

impl Live {
    pub(crate) fn new(plan: Arc<Plan>, telling: Telling) -> Self {
        let mut live = Self { plan, telling, traces: Slab::new(), selected: TraceId(0) };
        live.selected = live.open();
        live
    }

    fn fresh(&self) -> Following {
        let mut machine = Machine::new(self.plan.clone(), truths(&self.plan));
        if let Some(runner) = &mut machine.runner {
            runner.early = true;
        }
        Following { machine, verdicts: vec![None; self.plan.roots], next: 0, last: None }
    }

    /// Does something with the selected trace.
    fn with<T: Default>(
        &mut self,
        f: impl FnOnce(&Arc<Plan>, Telling, &mut Following) -> Result<T, Unsupported>,
    ) -> Result<T, Unsupported> {
        match self.traces.get_mut(self.selected) {
            Some(trace) => f(&self.plan, self.telling, trace),
            None => Ok(T::default()),
        }
    }
}

impl Following {
    /// Tells what was found out, at a position.
    fn tell(
        &mut self,
        (plan, telling): (&Plan, Telling),
        at: Position,
        found: &mut Vec<Found>,
        sink: &mut Sink,
    ) -> Result<(), Unsupported> {
        let before = sink.settled.len();
        for Found { asked: root, about, first, fails } in found.drain(..) {
            let question = &plan.asked[root];
            let fails = match fails {
                Fails::Set(set) => set,
                // Live, all are told.
                Fails::More(_) => continue,
                Fails::Rows(rows) => {
                    let told = rows.iter().map(|row| row_bindings(plan, root, row));
                    self.violated((telling, root, about), at, told, sink);
                    continue;
                }
            };
            let Some(outer) = &question.outer else {
                let Some(fails) = closed(&fails) else { return Err(undecided(plan, &self.machine, &fails)) };
                if first && self.verdicts[root].is_none() {
                    self.verdicts[root] = Some(!fails);
                    sink.settled.push(Settled::truth(root, None, at, !fails));
                }
                if question.each && (telling == Telling::Positions || fails) {
                    sink.settled.push(Settled::truth(root, Some(about), at, !fails));
                }
                continue;
            };
            if let Trie::Leaf(Truth::NO) = fails {
                if telling == Telling::Positions {
                    sink.settled.push(Settled::truth(root, Some(about), at, true));
                }
                continue;
            }
            let listed = answers::list(&mut self.machine.truths, &fails, outer);
            let listed = listed.map_err(|refused| plan.refusal(refused))?;
            if listed.entries.is_empty() {
                continue;
            }
            let told = listed.entries.iter().map(|entry| bindings(plan, entry, listed.infinite));
            self.violated((telling, root, about), at, told, sink);
        }
        sink.settled[before..].sort_by_key(|settled| (settled.at, settled.root, settled.about));
        match self.machine.truths.refused.take() {
            Some(refused) => Err(plan.refusal(refused)),
            None => Ok(()),
        }
    }

    /// Tells violations of a root at a position.
    fn violated(
        &mut self,
        (telling, root, about): (Telling, usize, Position),
        at: Position,
        told: impl Iterator<Item = Bindings>,
        sink: &mut Sink,
    ) {
        if self.verdicts[root].is_none() {
            self.verdicts[root] = Some(false);
            sink.settled.push(Settled::truth(root, None, at, false));
        }
        if telling.each() {
            let settled = |bindings| Settled { bindings, ..Settled::truth(root, Some(about), at, false) };
            sink.settled.extend(told.map(settled));
        }
    }

    fn feed(
        &mut self,
        (plan, telling): (&Plan, Telling),
        positions: &Positions<'_>,
        numbers: Option<&[Position]>,
        sink: &mut Sink,
    ) -> Result<(), Unsupported> {
        let mut found = Vec::new();
        self.machine.begin();
        for place in 0..positions.len {
            let at = numbers.map_or(self.next, |numbers| numbers[place].max(self.next));
            self.machine.step(positions, place, at, &mut found);
            (self.next, self.last) = (at + 1, Some(at));
            if !found.is_empty() {
                self.tell((plan, telling), at, &mut found, sink)?;
            }
        }
        Ok(())
    }
}

impl Monitor for Live {
    fn open(&mut self) -> TraceId {
        let fresh = self.fresh();
        self.traces.insert(fresh)
    }

    fn select(&mut self, trace: TraceId) {
        if self.traces.get_mut(trace).is_some() {
            self.selected = trace;
        }
    }

    fn close(&mut self, trace: TraceId) {
        self.traces.remove(trace);
    }

    fn next_deadline(&self) -> Option<Time> {
        self.traces.get(self.selected)?.machine.deadline()
    }

    fn skip_to(&mut self, position: Position) {
        if let Some(trace) = self.traces.get_mut(self.selected) {
            trace.next = trace.next.max(position);
        }
    }

    fn feed(&mut self, positions: &Positions<'_>, sink: &mut Sink) -> Result<(), Unsupported> {
        self.with(|plan, telling, trace| trace.feed((plan, telling), positions, None, sink))
    }

    fn feed_numbered(
        &mut self,
        positions: &Positions<'_>,
        numbers: &[Position],
        sink: &mut Sink,
    ) -> Result<(), Unsupported> {
        self.with(|plan, telling, trace| trace.feed((plan, telling), positions, Some(numbers), sink))
    }

    fn step(&mut self, atoms: &[u64], sink: &mut Sink) -> Result<(), Unsupported> {
        self.step_at(None, atoms, sink)
    }

    fn step_at(&mut self, time: Option<Time>, atoms: &[u64], sink: &mut Sink) -> Result<(), Unsupported> {
        let bit = |at: usize| Bits::repeat(atoms[at / 64] >> (at % 64) & 1 == 1, 1);
        let atoms: Vec<Bits> = (0..self.plan.atoms).map(bit).collect();
        let times = time.map(|time| [time]);
        let times = times.as_ref().map(|times| times.as_slice());
        let positions = Positions { len: 1, atoms: &atoms, times, ..Positions::default() };
        self.feed(&positions, sink)
    }

    fn advance(&mut self, time: Time, sink: &mut Sink) -> Result<(), Unsupported> {
        self.with(|plan, telling, trace| {
            let Some(at) = trace.last else { return Ok(()) };
            let mut found = Vec::new();
            trace.machine.pass(time, &mut found);
            trace.tell((plan, telling), at, &mut found, sink)
        })
    }

    fn positions(&self) -> Position {
        self.traces.get(self.selected).map_or(0, |trace| trace.next)
    }

    fn verdicts(&self) -> Vec<Option<bool>> {
        self.traces.get(self.selected).map_or_else(Vec::new, |trace| trace.verdicts.clone())
    }

    fn pending(&self) -> Vec<Obligation> {
        let Some(trace) = self.traces.get(self.selected) else { return Vec::new() };
        let mut machine = trace.machine.clone();
        let mut owed = Vec::new();
        for waiting in machine.waiting() {
            let question = &self.plan.asked[waiting.asked];
            let outer = question.outer.as_deref().unwrap_or_default();
            let told: Vec<Bindings> = match &waiting.fails {
                Fails::Rows(rows) => {
                    rows.iter().map(|row| row_bindings(&self.plan, waiting.asked, row)).collect()
                }
                Fails::More(_) => Vec::new(),
                Fails::Set(set) => {
                    let Ok(listed) = answers::list(&mut machine.truths, set, outer) else { continue };
                    listed.entries.iter().map(|entry| bindings(&self.plan, entry, listed.infinite)).collect()
                }
            };
            for bindings in told {
                // A long text would be there once for every obligation: its variable is enough.
                let short =
                    |(_, value): &&(u32, Value)| !matches!(value, Value::Str(text) if text.len() > LONGEST);
                let bound: Vec<_> = bindings.pairs().iter().filter(short).cloned().collect();
                let one = |(node, negated): &(NodeId, bool)| {
                    let text = display_with(&self.plan.program, *node, &bound);
                    if *negated { format!("!({text})") } else { text }
                };
                let residual = waiting.owed.iter().map(one).collect::<Vec<_>>().join(" | ");
                let (root, since, deadline) = (waiting.asked, waiting.since, waiting.deadline);
                owed.push(Obligation { root, since, residual, deadline, bindings });
                if owed.len() >= OBLIGATIONS {
                    return owed;
                }
            }
        }
        for (root, verdict) in trace.verdicts.iter().enumerate() {
            // What is not settled and owes nothing that could be named owes itself.
            if verdict.is_none() && !owed.iter().any(|own| own.root == root) {
                let residual = self.plan.told(&[(self.plan.program.roots[root].node, false)]);
                let (since, deadline) = (trace.last.unwrap_or(0), None);
                owed.push(Obligation { root, since, residual, deadline, bindings: Bindings::default() });
            }
        }
        owed.sort_by_key(|own| own.root);
        owed
    }

    fn finish(&mut self, sink: &mut Sink) -> Result<Option<Vec<Known>>, Unsupported> {
        let (plan, telling) = (self.plan.clone(), self.telling);
        let Some(trace) = self.traces.get(self.selected) else { return Ok(None) };
        let Some(at) = trace.last else { return Ok(None) };
        let mut ended = trace.clone();
        let (mut found, mut told) = (Vec::new(), Sink::default());
        ended.machine.end(&mut found);
        ended.tell((&plan, telling), at, &mut found, &mut told)?;
        sink.settled.extend(told.settled.into_iter().filter(|settled| settled.about.is_some()));
        // Nothing violates what has not been violated by the end.
        Ok(Some(ended.verdicts.iter().map(|verdict| Known::Truth(verdict.unwrap_or(true))).collect()))
    }

    fn save(&self, out: &mut Vec<u8>) {
        let Some(trace) = self.traces.get(self.selected) else { return };
        put(trace.next as u64, out);
        put(trace.last.map_or(0, |last| last as u64 + 1), out);
        for verdict in &trace.verdicts {
            put(verdict.map_or(2, u64::from), out);
        }
        put(self.telling as u64, out);
        trace.machine.save(out);
    }

    fn restore(&mut self, mut from: &[u8]) -> Result<(), Corrupt> {
        let mut trace = self.fresh();
        if let Some(own) = self.traces.get_mut(self.selected) {
            *own = trace.clone();
        }
        let from = &mut from;
        trace.next = take(from)? as Position;
        trace.last = (take(from)? as Position).checked_sub(1);
        for verdict in &mut trace.verdicts {
            *verdict = match take(from)? {
                2 => None,
                holds => Some(holds == 1),
            };
        }
        if take(from)? != self.telling as u64 {
            return Err(Corrupt("the two runs do not tell the same about positions".into()));
        }
        trace.machine.load(from)?;
        if !from.is_empty() {
            return Err(Corrupt("the saved state is longer than it should be".into()));
        }
        if let Some(own) = self.traces.get_mut(self.selected) {
            *own = trace;
        }
        Ok(())
    }

    fn heap_bytes(&self) -> usize {
        self.traces.iter().map(|trace| trace.machine.heap_bytes()).sum()
    }
}

//! Several engines on live traces, as one monitor.

use super::{Share, pick};
use crate::plan::{Tell, live_options};
use tw_core::codec::{Corrupt, put_bytes, take_bytes};
use tw_core::{Position, Time};
use tw_monitor::{
    EvaluateOptions, Known, Monitor, Obligation, Positions, Sink, Slab, TraceId, Unsupported, words,
};

/// Monitors of a live trace, which step together.
pub(in crate::plan) struct Monitors {
    parts: Vec<(Share, Box<dyn Monitor>)>,
    roots: usize,
    /// A position's atoms for one part.
    row: Vec<u64>,
    /// What each part calls a trace.
    traces: Slab<Box<[TraceId]>>,
}

impl Monitors {
    pub(in crate::plan) fn new(
        shares: Vec<Share>,
        options: &EvaluateOptions,
        tell: Tell,
    ) -> Result<Self, Unsupported> {
        let roots = shares.iter().map(|share| share.roots.len()).sum();
        let monitor = |share: Share| {
            let options = live_options(share.engine.answers(), options);
            let monitor = share.engine.monitor(&share.program, &options, tell.of(&share.program))?;
            Ok((share, monitor))
        };
        let parts: Vec<_> = shares.into_iter().map(monitor).collect::<Result<_, Unsupported>>()?;
        let (selected, mut traces) = (vec![TraceId(0); parts.len()], Slab::new());
        traces.insert(selected.into_boxed_slice());
        Ok(Self { parts, roots, row: Vec::new(), traces })
    }

    /// Asks every part, and puts what they settle in the order in which one would tell it.
    fn each(
        &mut self,
        sink: &mut Sink,
        mut ask: impl FnMut(&Share, &mut dyn Monitor, &mut Vec<u64>, &mut Sink) -> Result<(), Unsupported>,
    ) -> Result<(), Unsupported> {
        let from = sink.settled.len();
        for (share, monitor) in &mut self.parts {
            let before = sink.settled.len();
            let asked = ask(share, monitor.as_mut(), &mut self.row, sink);
            for settled in &mut sink.settled[before..] {
                settled.root = share.roots[settled.root];
            }
            asked?;
        }
        sink.settled[from..].sort_by_key(|settled| (settled.at, settled.root));
        Ok(())
    }

    /// What every part says of its roots, by root.
    fn gather<T: Clone>(&self, none: T, of: impl Fn(&dyn Monitor) -> Vec<T>) -> Vec<T> {
        let mut all = vec![none; self.roots];
        for (share, monitor) in &self.parts {
            for (&root, found) in share.roots.iter().zip(of(monitor.as_ref())) {
                all[root] = found;
            }
        }
        all
    }
}

impl Monitor for Monitors {
    fn open(&mut self) -> TraceId {
        self.traces.insert(self.parts.iter_mut().map(|(_, monitor)| monitor.open()).collect())
    }

    fn select(&mut self, trace: TraceId) {
        if let Some(own) = self.traces.get(trace) {
            self.parts.iter_mut().zip(own).for_each(|((_, monitor), &own)| monitor.select(own));
        }
    }

    fn close(&mut self, trace: TraceId) {
        if let Some(own) = self.traces.remove(trace) {
            self.parts.iter_mut().zip(own).for_each(|((_, monitor), own)| monitor.close(own));
        }
    }

    fn next_deadline(&self) -> Option<Time> {
        self.parts.iter().filter_map(|(_, monitor)| monitor.next_deadline()).min()
    }

    fn skip_to(&mut self, position: Position) {
        self.parts.iter_mut().for_each(|(_, monitor)| monitor.skip_to(position));
    }

    fn feed(&mut self, positions: &Positions<'_>, sink: &mut Sink) -> Result<(), Unsupported> {
        self.each(sink, |share, monitor, _, sink| {
            let terms = pick(&share.terms, positions.terms, true);
            let relations = pick(&share.patterns, positions.relations, true);
            let atoms = share.columns(positions.atoms);
            monitor
                .feed(&Positions { atoms: &atoms, terms: &terms, relations: &relations, ..*positions }, sink)
        })
    }

    fn step(&mut self, atoms: &[u64], sink: &mut Sink) -> Result<(), Unsupported> {
        self.step_at(None, atoms, sink)
    }

    fn step_at(&mut self, time: Option<Time>, atoms: &[u64], sink: &mut Sink) -> Result<(), Unsupported> {
        self.each(sink, |share, monitor, row, sink| {
            row.clear();
            row.resize(words(share.atoms.len()), 0);
            for (to, &from) in share.atoms.iter().enumerate() {
                row[to / 64] |= (atoms[from / 64] >> (from % 64) & 1) << (to % 64);
            }
            monitor.step_at(time, row, sink)
        })
    }

    fn advance(&mut self, time: Time, sink: &mut Sink) -> Result<(), Unsupported> {
        self.each(sink, |_, monitor, _, sink| monitor.advance(time, sink))
    }

    fn now(&self, root: usize) -> Option<bool> {
        let place = |share: &Share| share.roots.iter().position(|&other| other == root);
        self.parts.iter().find_map(|(share, monitor)| Some(monitor.now(place(share)?)))?
    }

    fn positions(&self) -> Position {
        self.parts.first().map_or(0, |(_, monitor)| monitor.positions())
    }

    fn verdicts(&self) -> Vec<Option<bool>> {
        self.gather(None, |monitor| monitor.verdicts())
    }

    fn pending(&self) -> Vec<Obligation> {
        let mut all: Vec<Obligation> = Vec::new();
        for (share, monitor) in &self.parts {
            let owed = monitor.pending().into_iter();
            all.extend(owed.map(|owed| Obligation { root: share.roots[owed.root], ..owed }));
        }
        all.sort_by_key(|owed| owed.root);
        all
    }

    fn finish(&mut self, sink: &mut Sink) -> Result<Option<Vec<Known>>, Unsupported> {
        let mut all = vec![Known::Truth(false); self.roots];
        let mut begun = true;
        self.each(sink, |share, monitor, _, sink| {
            match monitor.finish(sink)? {
                Some(known) => share.roots.iter().zip(known).for_each(|(&root, known)| all[root] = known),
                None => begun = false,
            }
            Ok(())
        })?;
        Ok(begun.then_some(all))
    }

    fn save(&self, out: &mut Vec<u8>) {
        for (_, monitor) in &self.parts {
            let mut state = Vec::new();
            monitor.save(&mut state);
            put_bytes(&state, out);
        }
    }

    fn restore(&mut self, mut from: &[u8]) -> Result<(), Corrupt> {
        for (_, monitor) in &mut self.parts {
            monitor.restore(take_bytes(&mut from)?)?;
        }
        let same = self.parts.windows(2).all(|pair| pair[0].1.positions() == pair[1].1.positions());
        match (from, same) {
            ([], true) => Ok(()),
            ([], false) => Err(Corrupt("the saved states are not of one moment".into())),
            _ => Err(Corrupt("the saved state is longer than it should be".into())),
        }
    }

    fn heap_bytes(&self) -> usize {
        let numbers = self.traces.heap_bytes() + self.traces.room() * self.parts.len() * size_of::<TraceId>();
        self.parts.iter().map(|(_, monitor)| monitor.heap_bytes()).sum::<usize>() + numbers
    }
}

//! Several engines for one specification: each property goes to the first that accepts it alone, and so does each query.
//!
//! A bound in one property need not cost the others their automata, nor, under `ltl3`, their exact verdicts: with
//! intervals a verdict is that of informative prefixes, without it is over all continuations.

use super::live_options;
use tw_core::{Bits, Position, Time};
use tw_ir::{NodeId, Program};
use tw_monitor::{
    Corrupt, Engine, EvaluateOptions, Evaluator, Known, Monitor, Obligation, Positions, Sink, Slab, Telling,
    Term, Trace, TraceId, Unsupported, Wanted, Worth, put, take, words,
};

/// The properties that one engine runs.
pub(super) struct Share {
    pub engine: &'static dyn Engine,
    /// The program with these roots alone.
    program: Program,
    /// Their numbers in the whole program.
    roots: Vec<usize>,
    /// The numbers of their atoms in the whole program.
    atoms: Vec<usize>,
    /// The numbers of their terms in the whole program.
    terms: Vec<usize>,
    /// Whether they measure time.
    timed: bool,
}

/// Divides the roots among engines; `None` if one engine has them all, or one root has none.
pub(super) fn divide(
    program: &Program,
    accepts: impl Fn(&Program) -> Option<&'static dyn Engine>,
) -> Option<Vec<Share>> {
    let mut shares: Vec<Share> = Vec::new();
    let mut alone = program.clone();
    for (number, root) in program.roots.iter().enumerate() {
        alone.roots = vec![root.clone()];
        let engine = accepts(&alone)?;
        match shares.iter_mut().find(|share| same(share.engine, engine)) {
            Some(share) => share.roots.push(number),
            None => {
                let (program, roots) = (program.clone(), vec![number]);
                let (atoms, terms) = (Vec::new(), Vec::new());
                shares.push(Share { engine, program, roots, atoms, terms, timed: false });
            }
        }
    }
    if shares.len() < 2 {
        return None;
    }
    let (atoms, terms) = (program.atoms(), program.terms());
    for share in &mut shares {
        share.program.roots = share.roots.iter().map(|&root| program.roots[root].clone()).collect();
        let nodes: Vec<NodeId> = share.program.roots.iter().map(|root| root.node).collect();
        let timed = |&id: &NodeId| program.dag.node(id).interval().is_some();
        share.timed = program.reachable(&nodes).iter().any(timed);
        let place = |id: &NodeId| atoms.binary_search(id).ok();
        share.atoms = share.program.atoms().iter().map(place).collect::<Option<_>>()?;
        let place = |id: &NodeId| terms.binary_search(id).ok();
        share.terms = share.program.terms().iter().map(place).collect::<Option<_>>()?;
    }
    Some(shares)
}

/// Engines of different kinds may have one name.
fn same(one: &dyn Engine, other: &dyn Engine) -> bool {
    one.name() == other.name() && one.answers() == other.answers()
}

impl Share {
    /// The share's columns of all.
    fn columns(&self, atoms: &[Bits]) -> Vec<Bits> {
        self.atoms.iter().map(|&atom| atoms[atom].clone()).collect()
    }
}

/// Evaluators of stored traces. Each is made when it is asked: it borrows the share that stands here beside it.
pub(super) struct Evaluators {
    shares: Vec<Share>,
    options: EvaluateOptions,
}

impl Evaluators {
    pub(super) fn new(shares: Vec<Share>, options: &EvaluateOptions) -> Result<Self, Unsupported> {
        for share in &shares {
            share.engine.plan(&share.program, options)?;
        }
        Ok(Self { shares, options: options.clone() })
    }

    fn trace(&self, share: &Share, trace: &Trace) -> Trace {
        Trace {
            len: trace.len,
            atoms: share.columns(&trace.atoms),
            times: trace.times.clone().filter(|_| share.timed),
            segments: trace.segments.clone(),
            ..Trace::default()
        }
    }
}

impl Evaluator for Evaluators {
    fn wanted(&self) -> Wanted {
        Wanted::ATOMS
    }

    fn run(&mut self, trace: &Trace, sink: &mut Sink) -> Result<(), Unsupported> {
        let mut worth: Vec<(usize, Worth)> = Vec::new();
        for share in &self.shares {
            let mut evaluator = share.engine.plan(&share.program, &self.options)?;
            let mut own = Sink::with_limit(sink.limit);
            evaluator.run(&self.trace(share, trace), &mut own)?;
            worth.extend(share.roots.iter().copied().zip(own.worth));
        }
        worth.sort_by_key(|(root, _)| *root);
        sink.worth.extend(worth.into_iter().map(|(_, worth)| worth));
        Ok(())
    }

    fn columns(&mut self, trace: &Trace, nodes: &[NodeId]) -> Result<Vec<Bits>, Unsupported> {
        let mut columns = vec![Bits::new(); nodes.len()];
        let mut done = vec![false; nodes.len()];
        for share in &self.shares {
            let roots: Vec<NodeId> = share.program.roots.iter().map(|root| root.node).collect();
            let reachable = share.program.reachable(&roots);
            let mine = |&at: &usize| !done[at] && reachable.binary_search(&nodes[at]).is_ok();
            let mine: Vec<usize> = (0..nodes.len()).filter(mine).collect();
            let asked: Vec<NodeId> = mine.iter().map(|&at| nodes[at]).collect();
            let mut evaluator = share.engine.plan(&share.program, &self.options)?;
            let found = evaluator.columns(&self.trace(share, trace), &asked)?;
            for (at, column) in mine.into_iter().zip(found) {
                (columns[at], done[at]) = (column, true);
            }
        }
        match done.iter().position(|done| !done) {
            Some(at) => Err(Unsupported::construct(nodes[at], "a formula of no property")),
            None => Ok(columns),
        }
    }
}

/// Monitors of a live trace, which step together.
pub(super) struct Monitors {
    parts: Vec<(Share, Box<dyn Monitor>)>,
    roots: usize,
    /// A position's atoms for one part.
    row: Vec<u64>,
    /// What each part calls a trace.
    traces: Slab<Box<[TraceId]>>,
}

impl Monitors {
    pub(super) fn new(
        shares: Vec<Share>,
        options: &EvaluateOptions,
        telling: Telling,
    ) -> Result<Self, Unsupported> {
        let roots = shares.iter().map(|share| share.roots.len()).sum();
        let monitor = |share: Share| {
            let options = match share.program.roots.first() {
                Some(root) => &live_options(root, options),
                None => options,
            };
            let monitor = share.engine.monitor(&share.program, options, telling)?;
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

    fn feed(&mut self, positions: &Positions<'_>, sink: &mut Sink) -> Result<(), Unsupported> {
        self.each(sink, |share, monitor, _, sink| {
            let terms: Vec<Term> =
                share.terms.iter().filter_map(|&term| positions.terms.get(term).cloned()).collect();
            let atoms = share.columns(positions.atoms);
            monitor.feed(&Positions { atoms: &atoms, terms: &terms, ..*positions }, sink)
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
            put(state.len() as u64, out);
            out.extend(state);
        }
    }

    fn restore(&mut self, mut from: &[u8]) -> Result<(), Corrupt> {
        for (_, monitor) in &mut self.parts {
            let len = take(&mut from)? as usize;
            let cut = || Corrupt("the saved state is cut short".into());
            let (state, rest) = from.split_at_checked(len).ok_or_else(cut)?;
            monitor.restore(state)?;
            from = rest;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::choose_monitor;
    use crate::{Session, Specification};
    use tw_ir::Semantics;
    use tw_monitor::Settled;
    use tw_testkit::Rng;

    /// Feeds a monitor; column `at` of `trace` is the proposition called so.
    fn run(spec: &Specification, trace: &[(Time, [bool; 3])], chunk: usize, each: bool) -> Vec<Settled> {
        let session = Session::new().semantics(Semantics::Ltl3);
        let telling = if each { Telling::Positions } else { Telling::Verdicts };
        let fresh = || choose_monitor(&session, spec, telling, &mut |_| {}).unwrap().1;
        let names: Vec<String> =
            spec.program.atoms().iter().map(|&id| tw_ir::display(&spec.program, id)).collect();
        let (mut monitor, mut out) = (fresh(), Sink::default());
        for part in trace.chunks(chunk) {
            // Another process goes on.
            let mut saved = Vec::new();
            monitor.save(&mut saved);
            monitor = fresh();
            monitor.restore(&saved).unwrap();
            let place = |name: &String| ["a", "b", "c"].iter().position(|known| known == name).unwrap();
            let column = |name: &String| part.iter().map(|row| row.1[place(name)]).collect::<Bits>();
            let atoms: Vec<Bits> = names.iter().map(column).collect();
            let times: Vec<Time> = part.iter().map(|row| row.0).collect();
            let chunk =
                Positions { len: part.len(), atoms: &atoms, times: Some(&times), ..Positions::default() };
            monitor.feed(&chunk, &mut out).unwrap();
        }
        monitor.finish(&mut out).unwrap();
        out.settled
    }

    #[test]
    fn side_by_side_as_each_alone() {
        let texts = ["G (a -> F[0,2s] b)", "F (b & F c)", "G (c -> O[1s,3s] a)", "F last", "a U b"];
        let spec = |texts: &[&str]| {
            let named = texts.iter().enumerate().map(|(at, text)| format!("property p{at} : {text};"));
            Specification::from_text("t", &named.collect::<String>()).unwrap()
        };
        let mut rng = Rng::new(7);
        let mut settled = 0;
        for case in 0..60 {
            let mut now = 0;
            let mut row = || {
                now += 500_000_000 * rng.below(4) as Time;
                (now, [(); 3].map(|()| rng.below(3) == 0))
            };
            let trace: Vec<_> = (0..20).map(|_| row()).collect();
            let (chunk, each) = (1 + rng.below(20), case % 2 == 0);
            let together = run(&spec(&texts), &trace, chunk, each);
            for (root, text) in texts.iter().enumerate() {
                let mine: Vec<Settled> = together
                    .iter()
                    .filter(|found| found.root == root)
                    .map(|found| Settled { root: 0, ..found.clone() })
                    .collect();
                assert_eq!(mine, run(&spec(&[text]), &trace, chunk, each), "{text} in case {case}");
                settled += mine.len();
            }
        }
        assert!(settled > 1000);
    }

    /// One of several traces through a monitor of a mixed specification.
    struct Followed {
        trace: TraceId,
        /// A monitor for each root, of that root alone.
        alone: Vec<(Specification, Box<dyn Monitor>)>,
        now: Time,
    }

    /// Positions at random, as a specification reads them.
    fn batch(spec: &Specification, rows: &[(bool, bool, i64)], times: &[Time]) -> (Vec<Bits>, Vec<Term>) {
        let column = |slot: &tw_ir::Slot| match tw_trace::describe(&slot.what).as_str() {
            "a" => tw_core::Column::Truth(rows.iter().map(|row| row.0).collect()),
            "b" => tw_core::Column::Truth(rows.iter().map(|row| row.1).collect()),
            _ => tw_core::Column::of_values(rows.iter().map(|row| tw_core::Value::Int(row.2)).collect()),
        };
        let slots = spec.program.slots.iter().map(column).collect();
        let batch = tw_core::Batch { len: rows.len(), slots, times: Some(times.to_vec()) };
        let atoms = tw_monitor::Predicates::new(&spec.program).evaluate(&batch).unwrap();
        (atoms, tw_monitor::Terms::new(&spec.program).evaluate(&batch))
    }

    #[test]
    fn properties_and_queries_on_many_traces() {
        let roots = [
            "property p : G (a -> F[0,2s] b);",
            "query n : count[a];",
            "property q : F (b & F a);",
            "query m : max[b : x + 1];",
            "property r : G (x < 9);",
            "query s : sum[x > 2 : x];",
        ];
        let session = Session::new().semantics(Semantics::Ltl3);
        let spec = |text: &str| Specification::from_text("t", text).unwrap();
        let fresh =
            |spec: &Specification| choose_monitor(&session, spec, Telling::Verdicts, &mut |_| {}).unwrap().1;
        let whole = spec(&roots.concat());
        let (mut rng, mut settled) = (Rng::new(11), 0);
        for _ in 0..20 {
            let mut monitor = fresh(&whole);
            let mut traces: Vec<Followed> = Vec::new();
            for number in 0..4 {
                let trace = if number == 0 { TraceId(0) } else { monitor.open() };
                let alone = roots.iter().map(|text| spec(text)).map(|spec| (spec.clone(), fresh(&spec)));
                traces.push(Followed { trace, alone: alone.collect(), now: 0 });
            }
            for _ in 0..30 {
                let followed = &mut traces[rng.below(4)];
                let mut times = Vec::new();
                let mut row = || {
                    followed.now += 500_000_000 * rng.below(4) as Time;
                    times.push(followed.now);
                    (rng.one_in(3), rng.one_in(3), rng.below(10) as i64)
                };
                let rows: Vec<_> = (0..4).map(|_| row()).collect();
                let (mut together, mut apart) = (Sink::default(), Vec::new());
                let (atoms, terms) = batch(&whole, &rows, &times);
                let positions = Positions {
                    len: 4,
                    atoms: &atoms,
                    terms: &terms,
                    times: Some(&times),
                    ..Default::default()
                };
                monitor.select(followed.trace);
                monitor.feed(&positions, &mut together).unwrap();
                let known = monitor.finish(&mut Sink::default()).unwrap().unwrap();
                let mut ends = Vec::new();
                for (root, (spec, alone)) in followed.alone.iter_mut().enumerate() {
                    let (atoms, terms) = batch(spec, &rows, &times);
                    let mut sink = Sink::default();
                    let positions = Positions { atoms: &atoms, terms: &terms, ..positions };
                    alone.feed(&positions, &mut sink).unwrap();
                    apart.extend(sink.settled.into_iter().map(|found| Settled { root, ..found }));
                    ends.extend(alone.finish(&mut Sink::default()).unwrap().unwrap());
                }
                apart.sort_by_key(|found| (found.at, found.root));
                assert_eq!((&together.settled, known), (&apart, ends));
                let deadlines = followed.alone.iter().filter_map(|(_, alone)| alone.next_deadline());
                assert_eq!(monitor.next_deadline(), deadlines.min());
                settled += apart.len();
                if rng.one_in(5) {
                    // To another place.
                    let mut saved = Vec::new();
                    monitor.save(&mut saved);
                    monitor.close(followed.trace);
                    followed.trace = monitor.open();
                    monitor.select(followed.trace);
                    monitor.restore(&saved).unwrap();
                }
            }
        }
        assert!(settled > 100, "{settled}");
    }
}

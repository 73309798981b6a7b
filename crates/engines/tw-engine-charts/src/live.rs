//! Charts on live traces.

use crate::bank::{Bank, Ending, States};
use crate::checks;
use crate::feed::Feed;
use crate::stored::too_much;
use tw_core::Position;
use tw_core::codec::{Corrupt, put, take, take_byte};
use tw_ir::chart::{Check, Condition};
use tw_ir::{Program, display};
use tw_monitor::{
    Bindings, EvaluateOptions, Known, Monitor, Obligation, Positions, Settled, Sink, Slab, Telling, TraceId,
    Unsupported,
};

/// Positions between two looks at the memory that is held.
const LOOK: Position = 1 << 14;

/// A trace.
#[derive(Clone, Debug)]
struct Own {
    states: States,
    /// Of each root, its verdict.
    verdicts: Vec<Option<bool>>,
    /// The number of the next position, if there was one.
    next: Position,
    /// Whether there were positions.
    begun: bool,
    /// The last position with an event of a chart.
    since: Position,
    /// Of each root the last position that violated it.
    failed: Vec<Position>,
}

/// A program of charts on its way through live traces.
pub(crate) struct Live {
    bank: Bank,
    feed: Feed,
    program: Program,
    checks: Vec<Check>,
    telling: Telling,
    fresh: Own,
    traces: Slab<Own>,
    selected: TraceId,
    found: Vec<u32>,
    /// Roots that a position violates.
    failed: Vec<usize>,
    memory_budget: usize,
}

impl Live {
    pub fn new(program: &Program, options: &EvaluateOptions, telling: Telling) -> Result<Self, Unsupported> {
        options.pointwise()?;
        let checks = checks(program)?;
        let own: Vec<Check> = checks.iter().map(|(_, check, _)| (*check).clone()).collect();
        let bank = Bank::new(checks, options.state_budget);
        let feed = Feed::new(program, &bank.events)?;
        let verdicts = vec![None; own.len()];
        let failed = vec![Position::MAX; own.len()];
        let fresh = Own { states: bank.fresh(), verdicts, next: 0, begun: false, since: 0, failed };
        let mut traces = Slab::new();
        let selected = traces.insert(fresh.clone());
        Ok(Self {
            bank,
            feed,
            program: program.clone(),
            checks: own,
            telling,
            fresh,
            traces,
            selected,
            found: Vec::new(),
            failed: Vec::new(),
            memory_budget: options.memory_budget,
        })
    }

    /// Takes the events in `self.found` of the next position.
    #[inline]
    fn position(&mut self, sink: &mut Sink) -> Result<(), Unsupported> {
        let Some(own) = self.traces.get_mut(self.selected) else { return Ok(()) };
        let at = own.next;
        own.next += 1;
        own.begun = true;
        if !self.found.is_empty() {
            own.since = at;
            self.failed.clear();
            let failed = &mut self.failed;
            self.bank.events(&mut own.states, &self.found, &mut |root| failed.push(root));
            if !self.failed.is_empty() {
                self.failed.sort_unstable();
                self.failed.dedup();
                self.failed.iter().for_each(|&root| own.failed[root] = at);
            }
        } else {
            self.failed.clear();
        }
        let settled = if self.found.is_empty() { &[] } else { self.bank.settled() };
        for &root in settled {
            if own.verdicts[root].is_none() {
                own.verdicts[root] = Some(true);
                sink.settled.push(Settled::truth(root, None, at, true));
            }
        }
        if self.telling == Telling::Positions {
            for root in 0..own.verdicts.len() {
                let fails = self.failed.contains(&root);
                if fails && own.verdicts[root].is_none() {
                    own.verdicts[root] = Some(false);
                    sink.settled.push(Settled::truth(root, None, at, false));
                }
                sink.settled.push(Settled::truth(root, Some(at), at, !fails));
            }
        } else {
            for &root in &self.failed {
                if own.verdicts[root].is_none() {
                    own.verdicts[root] = Some(false);
                    sink.settled.push(Settled::truth(root, None, at, false));
                }
                if self.telling == Telling::Violations {
                    sink.settled.push(Settled::truth(root, Some(at), at, false));
                }
            }
        }
        if at.is_multiple_of(LOOK) {
            let held = own.states.heap_bytes();
            if held > self.memory_budget {
                return Err(too_much(held, self.memory_budget));
            }
        }
        Ok(())
    }

    fn own(&self) -> Option<&Own> {
        self.traces.get(self.selected)
    }

    /// What each root is worth if the trace ends here.
    fn endings(&self, own: &Own) -> Vec<(Ending, bool)> {
        let mut endings = vec![(Ending::Holds, false); own.verdicts.len()];
        self.bank.end(&own.states, |question, ending| endings[question.root] = (ending, question.open_end));
        endings
    }

    /// What a pending chart waits for, in words.
    fn owed(&self, own: &Own, root: usize) -> String {
        let check = &self.checks[root];
        if check.condition == Condition::Sufficient {
            return display(&self.program, self.program.roots[root].node);
        }
        let done = self.bank.progress(&own.states, root);
        let left = |at: &usize| done >> at & 1 == 0;
        let name = |at: usize| {
            let event = &check.events[check.pre + at];
            format!("{} {}", event.direction.word(), event.message)
        };
        let rest: Vec<String> = (0..check.main()).filter(left).map(name).collect();
        let (chart, part) = &check.parts[1];
        format!("{chart}.{part}: {}", rest.join(", "))
    }
}

impl Monitor for Live {
    fn open(&mut self) -> TraceId {
        self.traces.insert(self.fresh.clone())
    }

    fn select(&mut self, trace: TraceId) {
        if self.traces.contains(trace) {
            self.selected = trace;
        }
    }

    fn close(&mut self, trace: TraceId) {
        self.traces.remove(trace);
    }

    fn skip_to(&mut self, position: Position) {
        if let Some(own) = self.traces.get_mut(self.selected) {
            own.next = position;
        }
    }

    fn feed(&mut self, positions: &Positions<'_>, sink: &mut Sink) -> Result<(), Unsupported> {
        // Positions without events have nothing to tell, unless each is told.
        let mut hits: Vec<(Position, u32)> = Vec::new();
        self.feed.columns(positions.atoms, positions.len, |at, events| {
            hits.extend(events.iter().map(|&event| (at, event)));
        });
        let (mut from, mut hit) = (0, 0);
        while from < positions.len {
            let next = hits.get(hit).map_or(positions.len, |own| own.0);
            if next > from {
                if self.telling == Telling::Positions {
                    self.found.clear();
                    for _ in from..next {
                        self.position(sink)?;
                    }
                } else if let Some(own) = self.traces.get_mut(self.selected) {
                    own.next += next - from;
                    own.begun = true;
                }
                from = next;
                continue;
            }
            self.found.clear();
            while let Some(&(at, event)) = hits.get(hit).filter(|own| own.0 == from) {
                debug_assert_eq!(at, from);
                self.found.push(event);
                hit += 1;
            }
            self.position(sink)?;
            from += 1;
        }
        Ok(())
    }

    fn step(&mut self, atoms: &[u64], sink: &mut Sink) -> Result<(), Unsupported> {
        self.feed.row(atoms, &mut self.found);
        self.position(sink)
    }

    fn now(&self, root: usize) -> Option<bool> {
        self.own().filter(|own| own.begun).map(|own| own.failed[root] != own.next - 1)
    }

    fn positions(&self) -> Position {
        self.own().filter(|own| own.begun).map_or(0, |own| own.next)
    }

    fn verdicts(&self) -> Vec<Option<bool>> {
        self.own().unwrap_or(&self.fresh).verdicts.clone()
    }

    fn pending(&self) -> Vec<Obligation> {
        let Some(own) = self.own() else { return Vec::new() };
        let endings = self.endings(own);
        let open = (0..own.verdicts.len()).filter(|&root| own.verdicts[root].is_none());
        let one = |root: usize| Obligation {
            root,
            since: own.since,
            residual: match endings[root].0 {
                Ending::Pending => self.owed(own, root),
                _ => display(&self.program, self.program.roots[root].node),
            },
            deadline: None,
            bindings: Bindings::default(),
        };
        open.map(one).collect()
    }

    fn finish(&mut self, _: &mut Sink) -> Result<Option<Vec<Known>>, Unsupported> {
        let Some(own) = self.own().filter(|own| own.begun) else { return Ok(None) };
        let endings = self.endings(own);
        let one = |(root, (ending, open)): (usize, &(Ending, bool))| {
            let holds = *ending == Ending::Holds || *ending == Ending::Pending && *open;
            Known::Truth(own.verdicts[root].unwrap_or(holds))
        };
        Ok(Some(endings.iter().enumerate().map(one).collect()))
    }

    fn save(&self, out: &mut Vec<u8>) {
        let Some(own) = self.own() else { return };
        self.bank.save(&own.states, out);
        put(own.next as u64, out);
        put(own.since as u64, out);
        out.push(u8::from(own.begun));
        out.extend(own.verdicts.iter().map(|verdict| match verdict {
            None => 0,
            Some(false) => 1,
            Some(true) => 2,
        }));
    }

    fn restore(&mut self, mut from: &[u8]) -> Result<(), Corrupt> {
        let loaded = self.load(&mut from).and_then(|own| match from {
            [] => Ok(own),
            _ => Err(Corrupt("the saved state is longer than it should be".into())),
        });
        let (own, result) = match loaded {
            Ok(own) => (own, Ok(())),
            Err(corrupt) => (self.fresh.clone(), Err(corrupt)),
        };
        if let Some(place) = self.traces.get_mut(self.selected) {
            *place = own;
        }
        result
    }

    fn heap_bytes(&self) -> usize {
        let own = |own: &Own| own.states.heap_bytes() + own.verdicts.capacity();
        self.bank.heap_bytes() + self.traces.heap_bytes() + self.traces.iter().map(own).sum::<usize>()
    }
}

impl Live {
    fn load(&mut self, from: &mut &[u8]) -> Result<Own, Corrupt> {
        let bad = || Corrupt("the saved state of charts is damaged".into());
        let states = self.bank.load(from)?;
        let next = usize::try_from(take(from)?).map_err(|_| bad())?;
        let since = usize::try_from(take(from)?).map_err(|_| bad())?;
        let begun = take_byte(from)? == 1;
        let mut verdicts = Vec::with_capacity(self.checks.len());
        for _ in 0..self.checks.len() {
            verdicts.push(match take_byte(from)? {
                0 => None,
                1 => Some(false),
                2 => Some(true),
                _ => return Err(bad()),
            });
        }
        Ok(Own { states, verdicts, next, begun, since, failed: self.fresh.failed.clone() })
    }
}

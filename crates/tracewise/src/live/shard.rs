//! A plan at work on the traces of many keys.

use super::deadlines::Deadlines;
use super::ending::{Ended, Ending, Idles, Over};
use super::keys::Keys;
use super::parametric::Parametric;
use super::push::Quick;
use super::{Fingerprint, Plan};
use crate::check::Violation;
use crate::findings::Severity;
use crate::{Error, Verdict};
use tw_core::{Position, Time};
use tw_ir::{Expect, Path, Slot, What};
use tw_monitor::{Bindings, Known, Monitor, Obligation, Settled, Sink, Telling, TraceId};

/// One trace per value of a key, or a single one without a key.
pub struct ShardMonitor {
    pub(super) plan: Plan,
    pub(super) key: Option<String>,
    /// The plan's slots, and the key's behind them.
    pub(super) slots: Vec<Slot>,
    /// One per property and query.
    pub(super) monitors: Vec<Box<dyn Monitor>>,
    pub(super) keys: Keys,
    /// Of each key when its last position was, where terms read that.
    pub(super) last: Vec<Option<Time>>,
    /// Of each key what each property has come to.
    pub(super) places: Vec<Place>,
    pub(super) deadlines: Deadlines,
    /// Positions taken, of all keys and of none.
    pub(super) positions: Position,
    /// No later position is before this time.
    pub(super) now: Option<Time>,
    pub(super) sink: Sink,
    /// When the trace of a key is over.
    pub(super) ending: Ending,
    pub(super) idles: Idles,
    pub(super) over: Over,
    pub(super) parametric: Option<Parametric>,
    pub(super) quick: Option<Box<Quick>>,
}

/// What a property of a key has come to: the number of its trace, or that it has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place(u32);

impl Place {
    /// No position has come yet.
    pub(super) const NEW: Place = Place(u32::MAX);
    pub(super) const HOLDS: Place = Place(u32::MAX - 1);
    pub(super) const FAILS: Place = Place(u32::MAX - 2);

    pub(super) fn of(trace: TraceId) -> Place {
        Place(trace.0)
    }

    pub(super) fn trace(self) -> Option<TraceId> {
        (self.0 < Place::FAILS.0).then_some(TraceId(self.0))
    }

    /// The verdict of a property that needs no trace any more.
    pub(super) fn verdict(self) -> Option<bool> {
        match self {
            Place::HOLDS => Some(true),
            Place::FAILS => Some(false),
            _ => None,
        }
    }
}

/// Something that no continuation changes.
#[derive(Clone, Debug)]
pub struct Outcome<'a> {
    /// The property, by number in [`Plan::properties`], or a monitor, numbered behind these …
    pub property: usize,
    /// … and by name.
    pub name: &'a str,
    /// The key; `None` without a key column.
    pub key: Option<&'a str>,
    /// Its number, in the order in which keys came.
    pub number: u32,
    /// Satisfied or violated.
    pub verdict: Verdict,
    /// The position that it is about, where positions are told: a violation of `G φ`, say. `None` is the property itself.
    pub about: Option<Position>,
    /// For how many positions it stands, of which `about` is the first: violations that are settled together.
    pub count: u64,
    /// The position that settled it, or with which time passed its deadline, counted over all that this monitor was fed.
    pub position: Position,
    /// The time of that position, or the deadline.
    pub time: Option<Time>,
    /// Whether a deadline was missed or kept by the passing of time, rather than a position.
    pub overdue: bool,
    /// What quantified variables are there.
    pub bindings: Bindings,
    /// Why the key's trace is over, if it is that which settled it.
    pub ended: Option<Ended>,
    /// How much a violation weighs: that of a monitor may be less than an error.
    pub severity: Severity,
    /// What a monitor reports.
    pub report: Option<Violation>,
}

/// What a property, query or monitor of a key is worth if the log ends here.
#[derive(Clone, Debug)]
pub struct End<'a> {
    /// The property, by number in [`Plan::properties`], or a monitor, numbered behind these …
    pub property: usize,
    /// … and by name.
    pub name: &'a str,
    /// The key; `None` without a key column.
    pub key: Option<&'a str>,
    /// Whether it holds, or its value.
    pub known: Known,
    /// Whether no continuation would have changed it; never so of a query.
    pub settled: bool,
    /// The positions that violate it by the end, where violations are told: the first of some, and how many.
    pub violations: Vec<(Position, u64)>,
    /// The last position of the key.
    pub position: Position,
    /// What a monitor reports because of the end.
    pub reports: Vec<Violation>,
}

/// What a property or query is worth if its trace ends.
pub(super) struct Worth {
    pub known: Known,
    pub settled: bool,
    pub violations: Vec<(Position, u64)>,
    pub position: Position,
}

impl ShardMonitor {
    /// Follows a trace for each value of `key` (a column, or a path into nested data: `user.id`), or one trace in all.
    pub fn new(plan: &Plan, key: Option<&str>) -> Result<Self, Error> {
        let divided = |property: &&super::Planned| property.by.is_some() && property.by.as_deref() != key;
        if let Some(property) = plan.properties().iter().find(divided) {
            return Err(Error::refused(format!(
                "the query `{}` divides the log by `{}`: that has to be the key of its monitor",
                property.name,
                property.by.as_deref().unwrap_or_default()
            )));
        }
        let mut slots = plan.slots().to_vec();
        slots.extend(key.map(|key| {
            let what = What::Variable(Path::parse(key), Expect::Any);
            Slot { what, declared: false, span: Default::default() }
        }));
        let mut shard = Self {
            plan: plan.clone(),
            key: key.map(Into::into),
            slots,
            monitors: Vec::new(),
            keys: Keys::default(),
            last: Vec::new(),
            places: Vec::new(),
            deadlines: Deadlines::default(),
            positions: 0,
            now: None,
            sink: Sink::default(),
            ending: Ending::default(),
            idles: Idles::default(),
            over: Over::default(),
            parametric: None,
            // A key that is a path into nested data is found by columns.
            quick: Quick::new(plan)
                .filter(|_| key.is_none_or(|key| !key.contains('.') && !key.contains('[')))
                .map(Box::new),
        };
        shard.clear()?;
        Ok(shard)
    }

    /// Before the first position again.
    pub fn clear(&mut self) -> Result<(), Error> {
        self.monitors = self.plan.monitors()?;
        self.keys = Keys::default();
        self.last.clear();
        self.places.clear();
        (self.idles, self.over) = (Idles::default(), Over::default());
        self.deadlines = Deadlines::new(self.plan.properties().iter().map(|property| property.timed));
        (self.positions, self.now) = (0, None);
        let budget = self.plan.options().memory_budget;
        self.parametric = self.plan.parametric().map(|plan| Parametric::new(plan, budget));
        if self.key.is_none() {
            self.number("");
        }
        Ok(())
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// What a batch has a column for: the plan's slots, then the key.
    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// How many positions were fed.
    pub fn positions(&self) -> Position {
        self.positions
    }

    /// How many keys there are: of those that have been seen, those whose trace is not over.
    pub fn keys(&self) -> usize {
        if self.key.is_some() { self.keys.len() } else { 1 }
    }

    /// Bytes held: of all keys, and of what is made of the specification.
    pub fn heap_bytes(&self) -> usize {
        let monitors: usize = self.monitors.iter().map(|monitor| monitor.heap_bytes()).sum();
        self.keys.heap_bytes()
            + self.last.capacity() * 16
            + self.places.capacity() * 4
            + self.deadlines.heap_bytes()
            + self.idles.heap_bytes()
            + self.parametric.as_ref().map_or(0, Parametric::heap_bytes)
            + monitors
    }

    /// Time has come to `time`: positions at that time may still come, none before. Deadlines before it are missed.
    pub fn watermark(&mut self, time: Time, told: &mut dyn FnMut(Outcome<'_>)) -> Result<(), Error> {
        self.now = self.now.max(Some(time));
        self.pass(time, self.positions.saturating_sub(1), told)
    }

    /// What each property and query of each key is worth if the log ends here: the verdict that is settled, else that of the
    /// finite trace; a query's value. Keys come in the order of their first positions. Nothing changes by asking.
    pub fn finish(&mut self, told: &mut dyn FnMut(End<'_>)) -> Result<(), Error> {
        for key in (0..self.keys.bound()).filter(|&key| self.is_open(key)).collect::<Vec<_>>() {
            for property in 0..self.monitors.len() {
                if self.ending.until == Some(property) {
                    continue;
                }
                let Some(Worth { known, settled, violations, position }) = self.worth(key, property)? else {
                    continue;
                };
                let name = self.plan.properties()[property].name.as_str();
                let key = self.key.as_ref().map(|_| self.keys.text(key));
                told(End { property, name, key, known, settled, violations, position, reports: Vec::new() });
            }
            self.finish_monitors(key, told);
        }
        Ok(())
    }

    /// Whether a number is that of a key whose trace is not over.
    fn is_open(&self, key: usize) -> bool {
        self.key.is_none() || self.keys.is_taken(key)
    }

    /// What a property or query of a key is worth if its trace ends here.
    pub(super) fn worth(&mut self, key: usize, property: usize) -> Result<Option<Worth>, Error> {
        let place = self.places[key * self.monitors.len() + property];
        let (known, settled, position) = match (place.verdict(), place.trace()) {
            (Some(holds), _) => (Some(Known::Truth(holds)), true, None),
            (None, None) => (None, false, None),
            (None, Some(trace)) => {
                let monitor = &mut self.monitors[property];
                monitor.select(trace);
                let settled = matches!(monitor.verdicts()[..], [Some(_)]);
                self.sink.settled.clear();
                let known = monitor.finish(&mut self.sink);
                let known = known.map_err(|refusal| self.plan.refused(property, refusal))?;
                let position = self.monitors[property].positions().checked_sub(1);
                (known.and_then(|mut known| known.pop()), settled, position)
            }
        };
        let Some(known) = known else { return Ok(None) };
        let fails = self.sink.settled.drain(..).filter(Settled::fails);
        let violations = fails.filter_map(|settled| Some((settled.about?, settled.count))).collect();
        Ok(Some(Worth { known, settled, violations, position: position.unwrap_or(0) }))
    }

    /// What properties of keys wait for, in the order of keys; `told` says whether to go on.
    pub fn pending(&mut self, told: &mut dyn FnMut(usize, Option<&str>, Obligation) -> bool) {
        for key in (0..self.keys.bound()).filter(|&key| self.is_open(key)).collect::<Vec<_>>() {
            for property in
                (0..self.monitors.len()).filter(|&own| self.ending.until != Some(own)).collect::<Vec<_>>()
            {
                let place = self.places[key * self.monitors.len() + property];
                let Some(trace) = place.trace() else { continue };
                self.monitors[property].select(trace);
                for owed in self.monitors[property].pending() {
                    if !told(property, self.key.as_ref().map(|_| self.keys.text(key)), owed) {
                        return;
                    }
                }
            }
        }
    }

    /// The number of a key.
    pub(super) fn number(&mut self, text: &str) -> u32 {
        let number = self.keys.number(text);
        if number as usize * self.monitors.len() == self.places.len() {
            self.places.resize(self.places.len() + self.monitors.len(), Place::NEW);
            self.deadlines.open();
        }
        number
    }

    /// Selects the trace of a key in the monitor of a property; `None` if it needs none any more.
    #[inline]
    pub(super) fn enter(&mut self, key: u32, property: usize) -> Option<TraceId> {
        let place = &mut self.places[key as usize * self.monitors.len() + property];
        let monitor = &mut self.monitors[property];
        if *place == Place::NEW {
            *place = Place::of(monitor.open());
        }
        let trace = place.trace()?;
        monitor.select(trace);
        Some(trace)
    }

    /// Tells what a property of a key has settled, and lets go of the trace if that is all that was to be said.
    pub(super) fn tell(
        &mut self,
        key: u32,
        property: usize,
        (position, time, overdue): (Position, Option<Time>, bool),
        told: &mut dyn FnMut(Outcome<'_>),
    ) {
        let mut verdict = None;
        for settled in self.sink.settled.drain(..) {
            let Some(holds) = settled.known.truth() else { continue };
            if settled.about.is_none() {
                verdict = Some(holds);
            }
            if self.ending.until == Some(property) {
                self.over.here |= !holds;
                continue;
            }
            told(Outcome {
                property,
                name: &self.plan.properties()[property].name,
                key: self.key.as_ref().map(|_| self.keys.text(key as usize)),
                number: key,
                verdict: if holds { Verdict::Satisfied } else { Verdict::Violated },
                about: settled.about,
                count: settled.count,
                position,
                time,
                overdue,
                bindings: settled.bindings,
                ended: None,
                severity: Severity::Error,
                report: None,
            });
        }
        let place = &mut self.places[key as usize * self.monitors.len() + property];
        if let (Some(holds), Telling::Verdicts) = (verdict, self.plan.options().telling) {
            if let Some(trace) = place.trace() {
                self.monitors[property].close(trace);
            }
            *place = if holds { Place::HOLDS } else { Place::FAILS };
        }
    }

    /// What its properties and queries mean, in their order.
    pub fn fingerprints(&self) -> Vec<Fingerprint> {
        self.plan.properties().iter().map(|property| property.fingerprint).collect()
    }
}

//! Requirements that divide the trace alike: one monitor of their queries, a trace in it for each part.

use super::course::{Course, is_final, monotone};
use super::parts::Settled;
use super::{Required, relation, verdict};
use crate::query::{Edge, missing_of};
use crate::run::columns::Keys;
use crate::run::divide::length_on;
use crate::run::timing::{elapsed_column, time_column};
use crate::{Error, Session, Specification, plan};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use tw_core::codec::{
    Corrupt, put, put_bytes, put_option, put_signed, put_text, take, take_bytes, take_option, take_signed,
    take_text,
};
use tw_core::{Batch, Bits, Position, Time, Value};
use tw_ir::{Clock, Division, Measure, SlotId};
use tw_monitor::{
    AtomParts, Computed, EvaluateOptions, Known, Monitor, Positions, PredicateError, Predicates, Sink, Term,
    Terms, TraceId, Unsupported,
};
use tw_trace::Stamp;

/// Requirements that divide the trace alike.
pub(super) struct Divided {
    /// Their queries are its roots.
    spec: Specification,
    pub(super) numbers: Vec<usize>,
    courses: Vec<Option<Course>>,
    pub(super) division: Division,
    pub(super) engine: &'static str,
    pub(super) monitor: Box<dyn Monitor>,
    atoms: AtomParts,
    terms: AtomParts,
    /// The column of `by`.
    pub(super) slot: Option<SlotId>,
    /// The slots that hold what timestamps say, of those that are filled here: all on a live trace, but for the time since the
    /// previous position of the whole.
    timings: Vec<(SlotId, Measure)>,
    options: EvaluateOptions,
    /// How long windows are, once it is known whether there are timestamps, and whether they are measured by them.
    pub(super) length: Option<(i64, bool)>,
    pub(super) keys: Keys,
    /// Of each key when its last position was, and how many it has.
    latest: Vec<(Option<Time>, u64)>,
    /// In the order of their first positions.
    pub(super) open: BTreeMap<u64, Part>,
    places: FxHashMap<(u32, i64), u64>,
    next: u64,
    /// The window that time is in.
    current: Option<i64>,
}

pub(super) struct Part {
    key: u32,
    window: i64,
    trace: TraceId,
    pub(super) told: Vec<bool>,
    /// Its last position in the log.
    last: Position,
    /// Positions of the batch that it has not been fed yet.
    rows: Vec<u32>,
}

/// What is read of some positions.
#[derive(Clone)]
pub(super) struct Columns {
    atoms: Vec<Bits>,
    terms: Vec<Term>,
    /// The keys by their places in `names`; `u32::MAX` is none.
    ids: Vec<u32>,
    names: Vec<std::sync::Arc<str>>,
}

impl Columns {
    /// The positions from `from` on, `len` of them.
    pub(super) fn part(&self, from: usize, len: usize) -> Self {
        let order: Vec<u32> = (from..from + len).map(|at| at as u32).collect();
        let bits = |bits: &Bits| (from..from + len).map(|at| bits.get(at)).collect();
        Self {
            atoms: self.atoms.iter().map(bits).collect(),
            terms: self.terms.iter().map(|term| term.gather(&order)).collect(),
            ids: self.ids[from..from + len].to_vec(),
            names: self.names.clone(),
        }
    }
}

impl Divided {
    pub(super) fn open(
        session: &Session,
        spec: &Specification,
        division: Division,
        numbers: Vec<usize>,
        live: bool,
    ) -> Result<Self, Error> {
        let whole = |&number: &usize| {
            let root = spec.program.requirements[number].root.clone();
            tw_ir::Root { division: Division::default(), ..root }
        };
        let own = spec.with_roots(numbers.iter().map(whole).collect());
        let options = EvaluateOptions { semantics: tw_ir::Semantics::Finite, ..session.evaluate_options() };
        let (engine, monitor) = plan::choose_query_monitor(&own, &options)?;
        let path = division.by.as_ref();
        let slot = path.and_then(|path| {
            let same = |what: &tw_ir::What| *what == tw_ir::What::Variable(path.clone(), tw_ir::Expect::Any);
            own.program.slots.iter().position(|slot| same(&slot.what)).map(|slot| slot as SlotId)
        });
        let read = own.program.reachable(&own.program.roots.iter().map(|root| root.node).collect::<Vec<_>>());
        let reads = |slot: SlotId| read.iter().any(|&id| own.program.dag.node(id) == tw_ir::Node::Slot(slot));
        let own_timing = |(slot, timing): (SlotId, &tw_ir::Timing)| (slot, timing.measure);
        let timings =
            own.program.timings().map(own_timing).filter(|&(slot, measure)| {
                live && reads(slot) && (path.is_some() || measure == Measure::Time)
            });
        // A stored trace is read to its end: its values are those of the end.
        let course = |&number: &usize| monotone(&own, &spec.program.requirements[number]).filter(|_| live);
        let courses = numbers.iter().map(course);
        Ok(Self {
            timings: timings.collect(),
            courses: courses.collect(),
            atoms: Predicates::new(&own.program).parts(),
            terms: Terms::new(&own.program).parts(),
            spec: own,
            numbers,
            division,
            engine,
            monitor,
            slot,
            options,
            length: None,
            keys: Keys::default(),
            latest: Vec::new(),
            open: BTreeMap::new(),
            places: FxHashMap::default(),
            next: 0,
            current: None,
        })
    }

    pub(super) fn read(&self, batch: &Batch, times: Option<&[Time]>) -> Result<Columns, PredicateError> {
        let mut keys = Keys::default();
        match self.slot {
            Some(slot) => keys.extend_values(&batch.slots[slot as usize]),
            None => keys.ids.resize(batch.len, 0),
        }
        let filled = self.timed(batch, times, &keys);
        let batch = filled.as_ref().unwrap_or(batch);
        let atoms = Predicates::with_parts(&self.spec.program, self.atoms.clone()).evaluate(batch)?;
        let terms = Terms::with_parts(&self.spec.program, self.terms.clone()).evaluate(batch);
        Ok(Columns { atoms, terms, ids: keys.ids, names: keys.names })
    }

    /// The batch with what timestamps say of each position, in the trace of its key.
    fn timed(&self, batch: &Batch, times: Option<&[Time]>, keys: &Keys) -> Option<Batch> {
        let times = times.filter(|_| !self.timings.is_empty())?;
        let known = |name: &std::sync::Arc<str>| self.latest.get(self.keys.find(name)? as usize)?.0;
        let mut latest: Vec<Option<Time>> = keys.names.iter().map(known).collect();
        let since = |(&key, &time): (&u32, &Time)| latest.get_mut(key as usize)?.replace(time);
        let since: Vec<Option<Time>> = keys.ids.iter().zip(times).map(since).collect();
        let mut filled = batch.clone();
        for &(slot, measure) in &self.timings {
            filled.slots[slot as usize] = match measure {
                Measure::Time => time_column(times, self.options.unit),
                Measure::Elapsed => elapsed_column(times, &since, self.options.unit),
            };
        }
        Some(filled)
    }

    pub(super) fn take(
        &mut self,
        all: &Specification,
        (before, len): (Position, usize),
        columns: &Columns,
        times: Option<&[Time]>,
        stamp: &dyn Fn(Time) -> Stamp,
        settled: &mut Vec<Settled>,
    ) -> Result<(), Error> {
        if let Some(every) = self.division.every.filter(|_| self.length.is_none()) {
            let clock = if times.is_some() { self.options.clock } else { Clock::Index };
            let length = length_on(every, clock, "this trace", self.options.unit)?;
            self.length = Some((length, clock != Clock::Index));
        }
        let numbers: Vec<u32> = columns.names.iter().map(|name| self.keys.number(name)).collect();
        self.latest.resize(self.latest.len().max(self.keys.names.len()).max(1), (None, 0));
        let read =
            Positions { len, atoms: &columns.atoms, terms: &columns.terms, times, ..Positions::default() };
        let mut touched = Vec::new();
        for at in 0..len {
            let key = match (self.slot, columns.ids[at]) {
                (None, _) => 0,
                (Some(_), u32::MAX) => {
                    // It belongs to no part, but time has come to it.
                    if let (Some((length, true)), Some(times)) = (self.length, times) {
                        self.feed(&mut touched, &read)?;
                        let window = times[at].div_euclid(length);
                        self.enter(all, (window, before + at), stamp, settled)?;
                    }
                    continue;
                }
                (Some(_), id) => numbers[id as usize],
            };
            let (latest, count) = &mut self.latest[key as usize];
            *latest = times.map(|times| times[at]).or(*latest);
            let nth = *count;
            *count += 1;
            let window = match (self.length, times) {
                (Some((length, true)), Some(times)) => {
                    let window = times[at].div_euclid(length);
                    if self.current != Some(window) {
                        self.feed(&mut touched, &read)?;
                        self.enter(all, (window, before + at), stamp, settled)?;
                    }
                    window
                }
                (Some((length, _)), _) => {
                    let window = nth as i64 / length;
                    let last = nth as i64 % length == 0 && nth > 0;
                    if let Some(&part) = self.places.get(&(key, window - 1)).filter(|_| last) {
                        self.feed(&mut touched, &read)?;
                        self.close(all, part, Some(before + at), stamp, settled)?;
                    }
                    window
                }
                (None, _) => 0,
            };
            let number = self.part(key, window);
            let Some(part) = self.open.get_mut(&number) else { continue };
            part.last = before + at;
            if part.told.iter().all(|told| *told) {
                continue;
            }
            if part.rows.is_empty() {
                touched.push(number);
            }
            part.rows.push(at as u32);
            let awaits = |(told, course): (&bool, &Option<Course>)| !told && course.is_some();
            if part.told.iter().zip(&self.courses).any(awaits) {
                touched.retain(|own| *own != number);
                self.feed_part(number, &read)?;
                self.look(all, number, stamp, settled)?;
            }
        }
        self.feed(&mut touched, &read)
    }

    /// The number of a part, which may be new.
    fn part(&mut self, key: u32, window: i64) -> u64 {
        if let Some(&known) = self.places.get(&(key, window)) {
            return known;
        }
        let number = self.next;
        self.next += 1;
        let (trace, told) = (self.monitor.open(), vec![false; self.numbers.len()]);
        self.open.insert(number, Part { key, window, trace, told, last: 0, rows: Vec::new() });
        self.places.insert((key, window), number);
        number
    }

    /// Gives the parts that were touched what they have not seen.
    fn feed(&mut self, touched: &mut Vec<u64>, read: &Positions<'_>) -> Result<(), Error> {
        touched.drain(..).try_for_each(|part| self.feed_part(part, read))
    }

    fn feed_part(&mut self, number: u64, read: &Positions<'_>) -> Result<(), Error> {
        let Some(part) = self.open.get_mut(&number) else { return Ok(()) };
        let rows = std::mem::take(&mut part.rows);
        self.monitor.select(part.trace);
        let fed = match rows.len() == read.len {
            true => self.monitor.feed(read, &mut Sink::default()),
            false => self.monitor.feed(&read.gather(&rows).positions(), &mut Sink::default()),
        };
        fed.map_err(|refusal| self.refused(refusal))
    }

    fn refused(&self, refusal: Unsupported) -> Error {
        plan::refused(&self.spec, self.engine, refusal)
    }

    pub(super) fn values(&mut self, number: u64) -> Result<Vec<Computed>, Error> {
        let Some(part) = self.open.get(&number) else { return Ok(Vec::new()) };
        self.monitor.select(part.trace);
        let found = self.monitor.finish(&mut Sink::default()).map_err(|refusal| self.refused(refusal))?;
        let value = |known| match known {
            Known::Value(computed) => computed,
            // An engine for queries answers with values.
            Known::Truth(_) | Known::Robustness(..) => Computed::Value(Value::Null),
        };
        Ok(found.unwrap_or_default().into_iter().map(value).collect())
    }

    /// Tells what no later position of a part changes.
    fn look(
        &mut self,
        all: &Specification,
        number: u64,
        stamp: &dyn Fn(Time) -> Stamp,
        settled: &mut Vec<Settled>,
    ) -> Result<(), Error> {
        let values = self.values(number)?;
        for (root, value) in values.into_iter().enumerate() {
            let requirement = &all.program.requirements[self.numbers[root]];
            let is_final = match (&value, self.courses[root]) {
                (Computed::Value(value), Some(course)) => is_final(requirement, all, course, value),
                _ => false,
            };
            if is_final {
                self.tell(all, (number, root), value, None, stamp, settled);
            }
        }
        Ok(())
    }

    /// Time has come to a window, with that position: those before it are over.
    pub(super) fn enter(
        &mut self,
        all: &Specification,
        (window, position): (i64, Position),
        stamp: &dyn Fn(Time) -> Stamp,
        settled: &mut Vec<Settled>,
    ) -> Result<(), Error> {
        if self.current.is_some_and(|current| current >= window) {
            return Ok(());
        }
        self.current = Some(window);
        let over = |(number, part): (&u64, &Part)| (part.window < window).then_some(*number);
        let over: Vec<u64> = self.open.iter().filter_map(over).collect();
        over.into_iter().try_for_each(|part| self.close(all, part, Some(position), stamp, settled))
    }

    /// A part is over, settled by that position.
    pub(super) fn close(
        &mut self,
        all: &Specification,
        number: u64,
        position: Option<Position>,
        stamp: &dyn Fn(Time) -> Stamp,
        settled: &mut Vec<Settled>,
    ) -> Result<(), Error> {
        if self.open.get(&number).is_some_and(|part| part.told.iter().any(|told| !told)) {
            for (root, value) in self.values(number)?.into_iter().enumerate() {
                self.tell(all, (number, root), value, position, stamp, settled);
            }
        }
        if let Some(part) = self.open.remove(&number) {
            self.places.remove(&(part.key, part.window));
            self.monitor.close(part.trace);
        }
        Ok(())
    }

    fn tell(
        &mut self,
        all: &Specification,
        (number, root): (u64, usize),
        value: Computed,
        position: Option<Position>,
        stamp: &dyn Fn(Time) -> Stamp,
        settled: &mut Vec<Settled>,
    ) {
        let Some(part) = self.open.get_mut(&number) else { return };
        if std::mem::replace(&mut part.told[root], true) {
            return;
        }
        let requirement = &all.program.requirements[self.numbers[root]];
        let (value, fault) = plain(value);
        let missing = fault.or_else(|| match value {
            Value::Null => missing_of(&self.spec, self.spec.program.roots[root].node),
            _ => None,
        });
        let by = self.division.by.as_ref().map(|path| {
            let key = self.keys.names.get(part.key as usize);
            (path.to_string(), key.map_or(Value::Null, |key| Value::Str(key.clone())))
        });
        let window = self.length.map(|(length, timed)| {
            let edge = |window: i64| match (window.saturating_mul(length), timed) {
                (time, true) => Edge::Time(stamp(time)),
                (position, false) => Edge::Position(position as Position),
            };
            (edge(part.window), edge(part.window.saturating_add(1)))
        });
        settled.push(Settled {
            number: self.numbers[root],
            verdict: verdict(all, requirement, &value),
            position: position.unwrap_or(part.last),
            place: (part.key, part.window),
            required: Required { value, relation: relation(all, requirement), by, window, missing },
        });
    }

    pub(super) fn save(&mut self, out: &mut Vec<u8>) {
        let (length, timed) = self.length.unwrap_or((0, false));
        put(length as u64, out);
        put(u64::from(timed), out);
        put(self.keys.names.len() as u64, out);
        self.keys.names.iter().for_each(|name| put_text(name, out));
        put(self.latest.len() as u64, out);
        for (latest, count) in &self.latest {
            put_option(*latest, out);
            put(*count, out);
        }
        put_option(self.current, out);
        put(self.next, out);
        put(self.open.len() as u64, out);
        for (number, part) in &self.open {
            put(*number, out);
            put(u64::from(part.key), out);
            put_signed(part.window, out);
            put(part.last as u64, out);
            part.told.iter().for_each(|told| put(u64::from(*told), out));
            // A monitor of queries saves the trace that is selected.
            let mut own = Vec::new();
            self.monitor.select(part.trace);
            self.monitor.save(&mut own);
            put_bytes(&own, out);
        }
    }

    pub(super) fn restore(&mut self, from: &mut &[u8]) -> Result<(), Corrupt> {
        let (length, timed) = (take(from)? as i64, take(from)? == 1);
        self.length = (length > 0).then_some((length, timed));
        for _ in 0..take(from)? {
            self.keys.number(&take_text(from)?);
        }
        self.latest.clear();
        for _ in 0..take(from)? {
            self.latest.push((take_option(from)?, take(from)?));
        }
        self.current = take_option(from)?;
        self.next = take(from)?;
        for _ in 0..take(from)? {
            let number = take(from)?;
            let key = take(from)? as u32;
            let window = take_signed(from)?;
            let last = take(from)? as Position;
            let told =
                (0..self.numbers.len()).map(|_| Ok(take(from)? == 1)).collect::<Result<_, Corrupt>>()?;
            let trace = self.monitor.open();
            self.monitor.select(trace);
            self.monitor.restore(take_bytes(from)?)?;
            self.places.insert((key, window), number);
            self.open.insert(number, Part { key, window, trace, told, last, rows: Vec::new() });
        }
        Ok(())
    }
}

/// A value, or why it cannot be computed.
pub(super) fn plain(computed: Computed) -> (Value, Option<String>) {
    match computed {
        Computed::Value(value) => (value, None),
        Computed::Error(message) => (Value::Null, Some(message)),
    }
}

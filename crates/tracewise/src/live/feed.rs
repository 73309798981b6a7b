//! Positions into monitors, and time.

use super::ending::{Cut, Cuts, Ended};
use super::plan::Planned;
use super::{Outcome, ShardMonitor};
use crate::Error;
use crate::run::beside::Beside;
use crate::run::timing::fill_since;
use rustc_hash::FxHashMap;
use std::ops::Range;
use tw_core::{Batch, Bits, Column, Position, Time, Value};
use tw_monitor::{Monitor, Positions, PredicateError, Sink, Stretch, Term, Unsupported};

/// The key of a position that has none.
pub(super) const NOBODY: u32 = u32::MAX;

/// Positions whose rows are made at a time.
const BLOCK: usize = 1 << 12;

/// Positions on their way in: their predicates and terms, computed.
pub(crate) struct Prepared {
    pub len: usize,
    atoms: Vec<Bits>,
    terms: Vec<Term>,
    beside: Option<Beside>,
    monitors: Option<Batch>,
    key: Option<Column>,
    pub times: Option<Vec<Time>>,
}

/// What a property reads of them.
struct Judged {
    property: usize,
    atoms: Vec<Bits>,
    beside: Option<Beside>,
}

impl ShardMonitor {
    /// Takes the next positions: one column per slot ([`ShardMonitor::slots`]), the key's last, and times if a property
    /// measures time, none before that of an earlier position. What they settle is told in their order.
    pub fn feed(&mut self, batch: &Batch, told: &mut dyn FnMut(Outcome<'_>)) -> Result<(), Error> {
        if batch.slots.len() != self.slots.len() || batch.slots.iter().any(|slot| slot.len() != batch.len) {
            return Err(Error::refused(format!(
                "a batch needs {} columns of {} positions each",
                self.slots.len(),
                batch.len
            )));
        }
        let prepared = self.prepare(batch).map_err(|error| {
            let (node, at) = (error.node, self.positions + error.position);
            let error = tw_trace::TraceError::new(tw_trace::TraceErrorKind::Type, error.message);
            crate::run::faults::not_computable_at(self.plan.specification(), error, node, at)
        })?;
        self.feed_prepared(&prepared, told)
    }

    /// What is computed of positions before they are fed, or the first that cannot be; nothing changes by that.
    pub(crate) fn prepare(&self, batch: &Batch) -> Result<Prepared, PredicateError> {
        let filled = self.filled(batch);
        let batch = filled.as_ref().unwrap_or(batch);
        let reads_terms = self.plan.properties().iter().any(|property| !property.terms.is_empty());
        Ok(Prepared {
            len: batch.len,
            atoms: self.plan.predicates().evaluate(batch)?,
            terms: if reads_terms { self.plan.terms().evaluate(batch) } else { Vec::new() },
            beside: self.plan.beside(batch),
            monitors: self.parametric.as_ref().map(|own| own.read(batch)),
            key: self.key.is_some().then(|| batch.slots.last().cloned()).flatten(),
            times: batch.times.clone(),
        })
    }

    /// The batch with what timestamps say of its positions, if the plan asks for that.
    fn filled(&self, batch: &Batch) -> Option<Batch> {
        let times = batch.times.as_ref().filter(|_| self.plan.measures())?;
        let mut latest: FxHashMap<String, Time> = FxHashMap::default();
        let key = batch.slots.last().filter(|_| self.key.is_some());
        let mut since = |(at, &time): (usize, &Time)| {
            let text = key.map_or(String::new(), |column| match column.value(at) {
                Value::Null => String::new(),
                value => value.to_string(),
            });
            if text.is_empty() && key.is_some() {
                return None;
            }
            let known = || self.keys.find(&text).and_then(|key| *self.last.get(key as usize)?);
            match latest.get_mut(&text) {
                Some(last) => Some(std::mem::replace(last, time)),
                None => {
                    let known = known();
                    latest.insert(text, time);
                    known
                }
            }
        };
        let since: Vec<Option<Time>> = times.iter().enumerate().map(&mut since).collect();
        let mut filled = batch.clone();
        fill_since(self.plan.program(), self.plan.options().unit, &mut filled, times, &since);
        Some(filled)
    }

    /// Takes positions that were prepared by this monitor, as [`ShardMonitor::feed`].
    pub(crate) fn feed_prepared(
        &mut self,
        prepared: &Prepared,
        told: &mut dyn FnMut(Outcome<'_>),
    ) -> Result<(), Error> {
        let plan = self.plan.clone();
        let Prepared { len, atoms, terms, beside, monitors, key, times } = prepared;
        let times = times.as_deref();
        self.check_times(times, *len)?;
        let keys = self.numbers(key.as_ref(), *len);
        if let Some(times) = times.filter(|_| self.plan.measures()) {
            self.last.resize(self.keys.bound(), None);
            for (&key, &time) in keys.iter().zip(times).filter(|(key, _)| **key != NOBODY) {
                self.last[key as usize] = Some(time);
            }
        }
        let columns = |property: usize| -> Vec<Bits> {
            plan.properties()[property].atoms.iter().map(|&atom| atoms[atom].clone()).collect()
        };
        let queries = |property: &usize| plan.properties()[*property].query;
        let (queries, verdicts): (Vec<usize>, Vec<usize>) = (0..self.monitors.len()).partition(queries);
        let beside = |property: usize| {
            let Planned { patterns, terms, .. } = &plan.properties()[property];
            beside.as_ref().filter(|_| !patterns.is_empty()).map(|beside| beside.of(patterns, terms))
        };
        let judged = |property| Judged { property, atoms: columns(property), beside: beside(property) };
        let verdicts: Vec<Judged> = verdicts.into_iter().map(judged).collect();
        let begin = self.positions;
        for start in (0..*len).step_by(BLOCK) {
            let range = start..(*len).min(start + BLOCK);
            self.judge(&verdicts, &keys, times, range, told)?;
        }
        let cuts = self.over.cuts();
        for property in queries {
            self.count((property, &columns(property), terms), &keys, times, cuts.clone())?;
        }
        if let Some(read) = monitors {
            self.report(read, &keys, (begin, times), cuts, told)?;
        }
        self.forget_ended();
        Ok(())
    }

    /// Refuses times that are not there, or go back.
    pub(super) fn check_times(&mut self, times: Option<&[Time]>, len: usize) -> Result<(), Error> {
        let refuse = |what: String| Err(Error::refused(what));
        match times {
            None if self.plan.timed() && len > 0 => {
                refuse("a property measures time, so every position needs one".into())
            }
            Some(times) if times.len() != len => refuse(format!("{} times for {len} positions", times.len())),
            Some(times) if self.plan.timed() || self.ending.idle.is_some() => {
                let mut now = self.now;
                for (at, &time) in times.iter().enumerate() {
                    if Some(time) < now {
                        let position = self.positions + at;
                        return refuse(format!("position {position} is at {time}, a time that has passed"));
                    }
                    now = Some(time);
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// The number of each position's key.
    fn numbers(&mut self, column: Option<&Column>, len: usize) -> Vec<u32> {
        let Some(column) = column else { return vec![0; len] };
        let mut numbers = Vec::with_capacity(len);
        if let Column::Text { ids, dictionary, valid } = column {
            // Each text is looked up once.
            let mut known = vec![NOBODY; dictionary.entries.len()];
            for (at, &id) in ids.iter().enumerate() {
                let text =
                    &dictionary.entries.get(id as usize).filter(|text| valid.get(at) && !text.is_empty());
                let Some(text) = text else {
                    numbers.push(NOBODY);
                    continue;
                };
                if known[id as usize] == NOBODY {
                    known[id as usize] = self.number(text);
                }
                numbers.push(known[id as usize]);
            }
            return numbers;
        }
        let mut text = String::new();
        for at in 0..len {
            text.clear();
            let value = column.value(at);
            if !value.is_null() {
                // Writing to a string does not fail.
                let _ = std::fmt::Write::write_fmt(&mut text, format_args!("{value}"));
            }
            numbers.push(if text.is_empty() { NOBODY } else { self.number(&text) });
        }
        numbers
    }

    /// Positions one by one into the monitors of properties, with the passing of time between them.
    fn judge(
        &mut self,
        properties: &[Judged],
        keys: &[u32],
        times: Option<&[Time]>,
        range: Range<usize>,
        told: &mut dyn FnMut(Outcome<'_>),
    ) -> Result<(), Error> {
        let stretches: Vec<Stretch<'_>> =
            properties.iter().map(|judged| Stretch::new(&judged.atoms, range.start, range.len())).collect();
        for at in range.clone() {
            let time = times.map(|times| times[at]);
            let each = |nth: usize| properties[nth].property;
            self.position((at, keys[at], time), (properties.len(), &each), told, |nth, monitor, sink| {
                let Judged { atoms, beside, .. } = &properties[nth];
                let row = stretches[nth].row(at - range.start);
                match beside {
                    Some(beside) => beside.at(at).step(monitor, time, (row, atoms.len()), sink),
                    None => monitor.step_at(time, row, sink),
                }
            })?;
        }
        self.over.at = None;
        Ok(())
    }

    /// One position of a batch, by its number there, key and time: into the monitors of so many properties, by `step`, with the
    /// passing of time before it.
    #[inline]
    pub(super) fn position(
        &mut self,
        (at, key, time): (usize, u32, Option<Time>),
        (properties, each): (usize, &dyn Fn(usize) -> usize),
        told: &mut dyn FnMut(Outcome<'_>),
        mut step: impl FnMut(usize, &mut dyn Monitor, &mut Sink) -> Result<(), Unsupported>,
    ) -> Result<(), Error> {
        self.over.at = Some(at);
        if let Some(time) = time.filter(|&time| self.now.is_none_or(|now| now < time)) {
            self.now = Some(time);
            self.pass(time, self.positions, told)?;
        }
        if let (Some(time), false) = (time, key == NOBODY) {
            self.idles.seen(key, time, self.ending.idle);
        }
        for nth in 0..properties {
            let property = each(nth);
            if key == NOBODY || self.enter(key, property).is_none() {
                continue;
            }
            let monitor = &mut self.monitors[property];
            monitor.skip_to(self.positions);
            let stepped = step(nth, monitor.as_mut(), &mut self.sink);
            stepped.map_err(|refusal| self.plan.refused(property, refusal))?;
            self.deadlines.set(key, property, self.monitors[property].next_deadline());
            if !self.sink.settled.is_empty() {
                self.tell(key, property, (self.positions, time, false), told);
            }
        }
        if std::mem::take(&mut self.over.here) {
            self.over.at = Some(at + 1);
            self.end(key, Ended::Until, time, told)?;
        }
        self.positions += 1;
        Ok(())
    }

    /// Positions into a query, key by key: its value is asked for in the end alone, and where a key's trace is cut.
    fn count(
        &mut self,
        (property, atoms, terms): (usize, &[Bits], &[Term]),
        keys: &[u32],
        times: Option<&[Time]>,
        cuts: Cuts,
    ) -> Result<(), Error> {
        let mut order: Vec<u32> = (0..keys.len() as u32).filter(|&at| keys[at as usize] != NOBODY).collect();
        order.sort_by_key(|&at| keys[at as usize]);
        let terms: Vec<&Term> =
            self.plan.properties()[property].terms.iter().filter_map(|&term| terms.get(term)).collect();
        for (key, group, cut) in pieces(&order, keys, cuts) {
            let ended = cut.map(|cut| cut.why);
            if group.is_empty() {
                self.end_value(key, property, ended)?;
                continue;
            }
            if self.enter(key, property).is_none() {
                continue;
            }
            let bits = |bits: &Bits| group.iter().map(|&at| bits.get(at as usize)).collect::<Bits>();
            let atoms: Vec<Bits> = atoms.iter().map(bits).collect();
            let terms: Vec<Term> = terms.iter().map(|term| term.gather(group)).collect();
            let times: Option<Vec<Time>> =
                times.map(|times| group.iter().map(|&at| times[at as usize]).collect());
            let positions = Positions {
                len: group.len(),
                atoms: &atoms,
                terms: &terms,
                relations: &[],
                times: times.as_deref(),
            };
            let fed = self.monitors[property].feed(&positions, &mut self.sink);
            fed.map_err(|refusal| self.plan.refused(property, refusal))?;
            self.end_value(key, property, ended)?;
        }
        Ok(())
    }

    /// Time has come to `time`, with the position `at` or after it: tells what deadlines before that settle.
    pub(super) fn pass(
        &mut self,
        time: Time,
        at: Position,
        told: &mut dyn FnMut(Outcome<'_>),
    ) -> Result<(), Error> {
        let Some(beyond) = time.checked_sub(1) else { return Ok(()) };
        // What is due before a key has been idle for long belongs to its trace.
        while let Some((since, key)) = self.idles.next(beyond, self.ending.idle) {
            self.pass_deadlines(since, at, told)?;
            self.end(key, Ended::Idle, Some(since), told)?;
        }
        self.pass_deadlines(beyond, at, told)?;
        if self.over.at.is_none() {
            self.forget_ended();
        }
        Ok(())
    }

    /// Tells what deadlines up to `beyond` settle.
    fn pass_deadlines(
        &mut self,
        beyond: Time,
        at: Position,
        told: &mut dyn FnMut(Outcome<'_>),
    ) -> Result<(), Error> {
        while let Some((deadline, key, property)) = self.deadlines.next(beyond) {
            if self.enter(key, property).is_none() {
                continue;
            }
            // It may have been put off since.
            if self.monitors[property].next_deadline().is_some_and(|next| next <= deadline) {
                let advanced = self.monitors[property].advance(deadline, &mut self.sink);
                advanced.map_err(|refusal| self.plan.refused(property, refusal))?;
            }
            self.deadlines.set(key, property, self.monitors[property].next_deadline());
            if !self.sink.settled.is_empty() {
                self.tell(key, property, (at, Some(deadline), true), told);
            }
        }
        Ok(())
    }
}

/// The positions of each key, given in the order of keys: up to where its trace is cut, and what is left.
pub(super) fn pieces<'o>(
    order: &'o [u32],
    keys: &[u32],
    mut cuts: Cuts,
) -> Vec<(u32, &'o [u32], Option<Cut>)> {
    let mut pieces: Vec<(u32, &[u32], Option<Cut>)> = Vec::new();
    for mut group in order.chunk_by(|&a, &b| keys[a as usize] == keys[b as usize]) {
        let key = keys[group[0] as usize];
        for cut in cuts.remove(&key).unwrap_or_default() {
            let (before, after) = group.split_at(group.partition_point(|&own| (own as usize) < cut.at));
            pieces.push((key, before, Some(cut)));
            group = after;
        }
        pieces.push((key, group, None));
    }
    // Keys whose time has come though nothing came of them.
    pieces.extend(cuts.into_iter().map(|(key, cuts)| (key, &[][..], cuts.first().copied())));
    pieces
}

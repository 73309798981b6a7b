//! Requirements on a trace that is being read, live or stored: every part of the trace has a trace of its own in a monitor of the
//! query, and is told when no later position changes its verdict, else at the end.
//!
//! Requirements that divide the trace alike share a monitor and the columns that it reads. A window of `every` is told and
//! forgotten when time has passed it, so memory is what the open parts hold.

use super::divided::{Columns, Divided, plain};
use super::{Required, verdict, worse};
use crate::{Error, Session, Specification};
use tw_core::codec::{Corrupt, put, take};
use tw_core::{Batch, Position, Time, Verdict};
use tw_ir::{Division, Requirement, SlotId};
use tw_monitor::PredicateError;
use tw_trace::Stamp;

/// The requirements of a specification at work.
pub(crate) struct Parts {
    spec: Specification,
    divided: Vec<Divided>,
    /// Of each requirement the worst verdict that was told.
    worst: Vec<Option<Verdict>>,
    /// Positions of the log that were taken.
    positions: Position,
}

/// What was settled of one part.
pub(crate) struct Settled {
    /// Which requirement.
    pub number: usize,
    pub verdict: Verdict,
    pub required: Required,
    /// The position of the log that settled it, or the last one.
    pub position: Position,
    /// The places of its key and of its window among others.
    pub place: (u32, i64),
}

/// What requirements read of some positions.
#[derive(Clone)]
pub(crate) struct Read(Vec<Columns>);

impl Read {
    /// The positions from `from` on, `len` of them.
    pub(crate) fn part(&self, from: usize, len: usize) -> Self {
        Self(self.0.iter().map(|own| own.part(from, len)).collect())
    }
}

impl Specification {
    /// Makes requirements readable while the trace is: divided by `by` unless they say so themselves, each column of keys a slot, what
    /// looks at neighbours counted in its own part.
    pub(crate) fn with_divided_requirements(&self, by: Option<&str>) -> Specification {
        let mut spec = self.clone();
        let program = &mut spec.program;
        for number in 0..program.requirements.len() {
            let root = &mut program.requirements[number].root;
            let span = root.span;
            let own = root.division.by.clone();
            let path = own.clone().or_else(|| by.map(tw_ir::Path::parse));
            root.division.by = path.clone();
            let node = root.node;
            // The traces of `by` have neighbours of their own already.
            if let Some(own) = own.filter(|own| Some(own.to_string().as_str()) != by) {
                program.requirements[number].root.node = program.per_key(node, &own, false);
            }
            if let Some(path) = path {
                let what = tw_ir::What::Variable(path, tw_ir::Expect::Any);
                if !program.slots.iter().any(|slot| slot.what == what) {
                    program.slots.push(tw_ir::Slot { what, declared: false, span });
                }
            }
        }
        spec
    }
}

impl Parts {
    /// Of a specification that [`Specification::with_divided_requirements`] gave, if it has some. `live` is whether the time since the
    /// key's previous position has to be found here.
    pub(crate) fn open(session: &Session, spec: &Specification, live: bool) -> Result<Option<Self>, Error> {
        let requirements = &spec.program.requirements;
        if requirements.is_empty() {
            return Ok(None);
        }
        let mut divided: Vec<(Division, Vec<usize>)> = Vec::new();
        for (number, requirement) in requirements.iter().enumerate() {
            match divided.iter_mut().find(|(division, _)| *division == requirement.root.division) {
                Some((_, numbers)) => numbers.push(number),
                None => divided.push((requirement.root.division.clone(), vec![number])),
            }
        }
        let open = |(division, numbers)| Divided::open(session, spec, division, numbers, live);
        let divided = divided.into_iter().map(open).collect::<Result<_, Error>>()?;
        Ok(Some(Self { worst: vec![None; requirements.len()], spec: spec.clone(), divided, positions: 0 }))
    }

    /// The engine.
    pub(crate) fn engine(&self) -> &'static str {
        self.divided.first().map_or("", |divided| divided.engine)
    }

    /// The requirement of that number.
    pub(crate) fn requirement(&self, number: usize) -> &Requirement {
        &self.spec.program.requirements[number]
    }

    /// The column of `by` that has no value anywhere, if there is one.
    pub(crate) fn without_keys(&self) -> Option<String> {
        let empty = |divided: &&Divided| divided.slot.is_some() && divided.keys.names.is_empty();
        let found = self.divided.iter().find(empty)?;
        found.division.by.as_ref().map(ToString::to_string)
    }

    /// The slots that are read, ascending.
    pub(crate) fn slots(&self) -> Vec<SlotId> {
        let program = &self.spec.program;
        let mut slots: Vec<SlotId> = self.divided.iter().filter_map(|divided| divided.slot).collect();
        let roots: Vec<_> = program.requirements.iter().map(|requirement| requirement.root.node).collect();
        for id in program.reachable(&roots) {
            slots.extend(match program.dag.node(id) {
                tw_ir::Node::Slot(slot) | tw_ir::Node::Truth(slot) => Some(slot),
                _ => program.pattern_slot(id),
            });
        }
        slots.sort_unstable();
        slots.dedup();
        slots
    }

    /// Whether windows are measured by timestamps where there are some.
    pub(crate) fn asks_times(&self) -> bool {
        self.divided.iter().any(|divided| divided.division.every.is_some())
    }

    /// What is read of a batch.
    pub(crate) fn read(&self, batch: &Batch, times: Option<&[Time]>) -> Result<Read, PredicateError> {
        self.divided.iter().map(|divided| divided.read(batch, times)).collect::<Result<_, _>>().map(Read)
    }

    /// Takes the next positions of the log, and gives what they settle.
    pub(crate) fn take(
        &mut self,
        len: usize,
        read: &Read,
        times: Option<&[Time]>,
        stamp: &dyn Fn(Time) -> Stamp,
    ) -> Result<Vec<Settled>, Error> {
        let mut settled = Vec::new();
        for (divided, columns) in self.divided.iter_mut().zip(&read.0) {
            divided.take(&self.spec, (self.positions, len), columns, times, stamp, &mut settled)?;
        }
        self.positions += len;
        // As the positions come.
        settled.sort_by_key(|found| found.position);
        Ok(self.note(settled))
    }

    /// No position before `time` comes any more: windows that end by then are over.
    pub(crate) fn come_to(
        &mut self,
        time: Time,
        stamp: &dyn Fn(Time) -> Stamp,
    ) -> Result<Vec<Settled>, Error> {
        let mut settled = Vec::new();
        let last = self.positions.saturating_sub(1);
        for divided in &mut self.divided {
            if let Some((length, true)) = divided.length {
                divided.enter(&self.spec, (time.div_euclid(length), last), stamp, &mut settled)?;
            }
        }
        Ok(self.note(settled))
    }

    /// The trace is over: what was not told before.
    pub(crate) fn finish(&mut self, stamp: &dyn Fn(Time) -> Stamp) -> Result<Vec<Settled>, Error> {
        let mut settled = Vec::new();
        let last = self.positions.saturating_sub(1);
        for divided in &mut self.divided {
            let parts: Vec<u64> = divided.open.keys().copied().collect();
            for part in parts {
                divided.close(&self.spec, part, Some(last), stamp, &mut settled)?;
            }
        }
        settled.sort_by_key(|found| (found.number, found.place));
        Ok(self.note(settled))
    }

    fn note(&mut self, settled: Vec<Settled>) -> Vec<Settled> {
        for found in &settled {
            let worst = &mut self.worst[found.number];
            *worst = Some(worst.map_or(found.verdict, |before| worse(before, found.verdict)));
        }
        settled
    }

    /// The verdict of each requirement: the worst of all parts, should the trace end here.
    pub(crate) fn verdicts(&mut self) -> Vec<Verdict> {
        let mut worst = self.worst.clone();
        for divided in &mut self.divided {
            let open: Vec<u64> = divided.open.keys().copied().collect();
            for part in open {
                let values = divided.values(part).unwrap_or_default();
                for (root, value) in values.into_iter().enumerate() {
                    let number = divided.numbers[root];
                    if !divided.open[&part].told[root] {
                        let (value, _) = plain(value);
                        let found = verdict(&self.spec, &self.spec.program.requirements[number], &value);
                        worst[number] = Some(worst[number].map_or(found, |before| worse(before, found)));
                    }
                }
            }
        }
        worst.into_iter().map(|found| found.unwrap_or(Verdict::Unknown)).collect()
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        self.divided.iter().map(|divided| divided.monitor.heap_bytes() + divided.open.len() * 96).sum()
    }

    pub(crate) fn save(&mut self, out: &mut Vec<u8>) {
        put(self.positions as u64, out);
        self.worst.iter().for_each(|worst| put(worst.map_or(0, |verdict| 1 + verdict as u64), out));
        self.divided.iter_mut().for_each(|divided| divided.save(out));
    }

    pub(crate) fn restore(&mut self, from: &mut &[u8]) -> Result<(), Corrupt> {
        self.positions = take(from)? as Position;
        for worst in &mut self.worst {
            *worst = match take(from)? {
                0 => None,
                1 => Some(Verdict::Satisfied),
                2 => Some(Verdict::Violated),
                _ => Some(Verdict::Unknown),
            };
        }
        self.divided.iter_mut().try_for_each(|divided| divided.restore(from))
    }
}

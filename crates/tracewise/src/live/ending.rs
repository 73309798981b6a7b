//! Keys whose trace is over: where a formula holds, or because nothing came of them for long. What they are worth is told, and what
//! was kept of them is given back; the same value later is a new trace.

use super::shard::{Outcome, Place, ShardMonitor, Worth};
use crate::findings::Severity;
use crate::{Error, Verdict};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use tw_core::{Position, Time};
use tw_monitor::{Bindings, Computed, Known};

/// When the trace of a key is over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ending {
    /// With a position that violates this property (`G !φ` ends it where φ holds), which is told nowhere.
    pub until: Option<usize>,
    /// When no position of it came for longer than this.
    pub idle: Option<Time>,
}

/// Why a trace is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// What ends it held.
    Until,
    /// Nothing came of it for long.
    Idle,
}

impl Ended {
    /// As reports name it.
    pub fn name(self) -> &'static str {
        match self {
            Ended::Until => "until",
            Ended::Idle => "idle",
        }
    }
}

/// What a query of a key was worth when its trace was over.
#[derive(Clone, Debug)]
pub struct EndedValue {
    /// The query, by number in [`Plan::properties`](super::Plan::properties).
    pub property: usize,
    /// The key.
    pub key: String,
    /// Its value.
    pub value: Computed,
    /// The last position of the key.
    pub position: Position,
    /// Why.
    pub ended: Ended,
}

/// Where the trace of a key is cut.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cut {
    /// Before which position of a batch.
    pub at: usize,
    pub why: Ended,
    /// When that was.
    pub time: Option<Time>,
}

/// Where the traces of keys are cut.
pub(super) type Cuts = FxHashMap<u32, Vec<Cut>>;

/// What has ended lately.
#[derive(Clone, Debug, Default)]
pub(super) struct Over {
    /// Whether the position that is being read ends its key's trace.
    pub here: bool,
    /// The position of the batch before which time stands; none between batches.
    pub at: Option<usize>,
    cuts: Cuts,
    keys: Vec<u32>,
    values: Vec<EndedValue>,
}

impl Over {
    /// Where the batch that was read is cut.
    pub fn cuts(&mut self) -> Cuts {
        std::mem::take(&mut self.cuts)
    }
}

/// When something came last of each key, and of which nothing came for longest.
#[derive(Clone, Debug, Default)]
pub(super) struct Idles {
    last: Vec<Time>,
    /// Whether a key stands in the queue, where it may have come up too early: then it is put right.
    queued: Vec<bool>,
    queue: BinaryHeap<Reverse<(Time, u32)>>,
}

const NEVER: Time = Time::MIN;

impl Idles {
    pub fn seen(&mut self, key: u32, time: Time, idle: Option<Time>) {
        let Some(idle) = idle else { return };
        if self.last.len() <= key as usize {
            self.last.resize(key as usize + 1, NEVER);
            self.queued.resize(key as usize + 1, false);
        }
        self.last[key as usize] = time;
        if !std::mem::replace(&mut self.queued[key as usize], true) {
            self.queue.push(Reverse((time.saturating_add(idle), key)));
        }
    }

    /// A key that has been idle for too long, as it turned out up to `beyond`, and when it did.
    pub fn next(&mut self, beyond: Time, idle: Option<Time>) -> Option<(Time, u32)> {
        let idle = idle?;
        while let Some(&Reverse((due, key))) = self.queue.peek().filter(|Reverse((due, _))| *due <= beyond) {
            self.queue.pop();
            self.queued[key as usize] = false;
            let last = self.last[key as usize];
            if last == NEVER {
                continue;
            }
            let really = last.saturating_add(idle);
            if really <= due {
                return Some((due, key));
            }
            self.seen(key, last, Some(idle));
        }
        None
    }

    /// When something came last of a key.
    pub fn last(&self, key: usize) -> Option<Time> {
        self.last.get(key).copied().filter(|&time| time != NEVER)
    }

    fn forget(&mut self, key: u32) {
        if let Some(last) = self.last.get_mut(key as usize) {
            *last = NEVER;
        }
    }

    pub fn heap_bytes(&self) -> usize {
        self.last.capacity() * 8 + self.queued.capacity() + self.queue.capacity() * 16
    }
}

impl ShardMonitor {
    /// Lets the traces of keys end.
    pub fn ending(mut self, ending: Ending) -> Self {
        self.ending = ending;
        self
    }

    /// What queries of keys were worth whose traces were over since this was last asked.
    pub fn take_ended_values(&mut self) -> Vec<EndedValue> {
        std::mem::take(&mut self.over.values)
    }

    /// The trace of a key is over: tells what its properties are worth, and lets go of it.
    pub(super) fn end(
        &mut self,
        key: u32,
        ended: Ended,
        time: Option<Time>,
        told: &mut dyn FnMut(Outcome<'_>),
    ) -> Result<(), Error> {
        for property in 0..self.monitors.len() {
            if self.plan.properties()[property].query {
                match self.over.at {
                    // Its positions are counted at the end of the batch.
                    Some(_) => {}
                    None => self.end_value(key, property, Some(ended))?,
                }
                continue;
            }
            if self.ending.until != Some(property) {
                self.tell_end(key, property, ended, time, told)?;
            }
            self.let_go(key, property);
        }
        if let Some(at) = self.over.at {
            self.over.cuts.entry(key).or_default().push(Cut { at, why: ended, time });
        } else {
            self.end_monitors(key, Cut { at: 0, why: ended, time }, told);
        }
        self.deadlines.forget(key);
        self.idles.forget(key);
        self.over.keys.push(key);
        Ok(())
    }

    fn tell_end(
        &mut self,
        key: u32,
        property: usize,
        ended: Ended,
        time: Option<Time>,
        told: &mut dyn FnMut(Outcome<'_>),
    ) -> Result<(), Error> {
        let Some(Worth { known, settled, violations, position }) = self.worth(key as usize, property)? else {
            return Ok(());
        };
        let Some(holds) = known.truth() else { return Ok(()) };
        if settled && violations.is_empty() {
            return Ok(());
        }
        let holds = holds && !settled;
        told(Outcome {
            property,
            name: &self.plan.properties()[property].name,
            key: self.key.as_ref().map(|_| self.keys.text(key as usize)),
            number: key,
            verdict: if holds { Verdict::Satisfied } else { Verdict::Violated },
            about: violations.iter().map(|&(at, _)| at).min(),
            count: violations.iter().map(|(_, count)| count).sum(),
            position,
            time,
            overdue: false,
            bindings: Bindings::default(),
            ended: Some(ended),
            severity: Severity::Error,
            report: None,
        });
        Ok(())
    }

    /// The value of a query of a key whose trace is over, if it is.
    pub(super) fn end_value(&mut self, key: u32, property: usize, ended: Option<Ended>) -> Result<(), Error> {
        let Some(ended) = ended else { return Ok(()) };
        if let Some(Worth { known: Known::Value(value), position, .. }) =
            self.worth(key as usize, property)?
        {
            let key = self.keys.text(key as usize).to_owned();
            self.over.values.push(EndedValue { property, key, value, position, ended });
        }
        self.let_go(key, property);
        Ok(())
    }

    fn let_go(&mut self, key: u32, property: usize) {
        let place = &mut self.places[key as usize * self.monitors.len() + property];
        if let Some(trace) = place.trace() {
            self.monitors[property].close(trace);
        }
        *place = Place::NEW;
    }

    /// Forgets the keys that have ended, but for those that have begun again.
    pub(super) fn forget_ended(&mut self) {
        for key in std::mem::take(&mut self.over.keys) {
            let width = self.monitors.len();
            let places = &self.places[key as usize * width..][..width];
            let begun = self.parametric.as_ref().is_some_and(|own| own.knows(key));
            if self.key.is_some() && !begun && places.iter().all(|place| *place == Place::NEW) {
                self.keys.forget(key);
            }
        }
    }
}

//! Groups of violations: what waits, what is on its way, when something is due. Time comes from outside, in milliseconds.

mod kept;

use super::matching::Labels;
use super::settings::Settings;
use crate::verdicts::Told;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// Violations that one request lists; the others are counted.
const LISTED: usize = 100;
/// Violations that all groups together list, so that memory is bounded, and those that a reminder lists.
const ALL_LISTED: usize = 20_000;
const REMINDED: usize = 10;
/// Groups at one time; what would be one more goes to a group of everything else.
const GROUPS: usize = 1000;
/// The first and the longest pause after something failed, in milliseconds.
const PAUSES: (u64, u64) = (1000, 300_000);

/// How long to wait after so many failures, in milliseconds; `dice` spreads those that fail together.
pub fn pause(failures: u32, dice: u64) -> u64 {
    let pause = PAUSES.0.saturating_mul(1 << failures.saturating_sub(1).min(20)).min(PAUSES.1);
    pause - dice % (pause / 4)
}

/// Violations that are told together.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// The first of them by number; the text is read again after a restart.
    pub listed: Vec<(u64, Option<Arc<Told>>)>,
    /// How many there are.
    pub count: u64,
    /// The number of the last.
    pub last: u64,
    /// They were told before.
    pub again: bool,
}

impl Batch {
    fn add(&mut self, number: u64, told: Arc<Told>, room: bool) {
        if room && self.listed.len() < LISTED {
            self.listed.push((number, Some(told)));
        }
        self.count += 1;
        self.last = number;
    }
}

/// A group.
#[derive(Debug, Default)]
pub struct Group {
    /// Found, and not on its way.
    waiting: Batch,
    /// On its way, until it is taken.
    pub sending: Option<Batch>,
    /// What was taken last.
    taken: Option<Batch>,
    /// Attempts that failed.
    failures: u32,
    /// When something is to be done.
    due: u64,
    /// When something was taken.
    told: u64,
    /// When something was found.
    found: u64,
}

/// The groups of a webhook, and how far it has read.
#[derive(Debug)]
pub struct Groups {
    /// The number of the next violation to be read.
    pub next: u64,
    by: Vec<String>,
    all: BTreeMap<Vec<String>, Group>,
    /// Violations that are listed, at most.
    listed: usize,
    wait: u64,
    interval: u64,
    repeat: Option<u64>,
    quiet: u64,
}

fn millis(time: Duration) -> u64 {
    time.as_millis() as u64
}

impl Groups {
    /// None yet, from a violation on.
    pub fn new(settings: &Settings, next: u64) -> Self {
        Self {
            next,
            by: settings.group_by.clone(),
            all: BTreeMap::new(),
            listed: 0,
            wait: millis(settings.group_wait),
            interval: millis(settings.group_interval),
            repeat: settings.repeat.map(millis),
            quiet: millis(settings.quiet),
        }
    }

    /// How many groups there are, and violations that nobody has taken yet.
    pub fn figures(&self) -> (usize, u64) {
        let open = |own: &Group| own.waiting.count + own.sending.as_ref().map_or(0, |batch| batch.count);
        (self.all.len(), self.all.values().map(open).sum())
    }

    /// A violation belongs to its group.
    pub fn add(&mut self, told: Arc<Told>, labels: &Labels, now: u64) {
        let Some(number) = told.number else { return };
        let mut key: Vec<String> = self.by.iter().map(|name| labels.get(name).to_string()).collect();
        if !self.all.contains_key(&key) && self.all.len() >= GROUPS {
            self.forget(now);
            if self.all.len() >= GROUPS {
                key = vec!["…".to_string(); self.by.len()];
            }
        }
        let group = self.all.entry(key).or_default();
        if group.waiting.count == 0 && group.sending.is_none() {
            group.due = match group.told {
                0 => now + self.wait,
                told => (told + self.interval).max(now),
            };
        }
        group.found = now;
        // The first of a group is always there.
        let room = self.listed < ALL_LISTED || group.waiting.listed.is_empty();
        group.waiting.add(number, told, room);
        self.listed += 1;
        if self.listed > 2 * ALL_LISTED {
            self.listed = self.batches().map(|batch| batch.listed.len()).sum();
        }
    }

    /// Groups that nothing is to be told of, for long now.
    fn forget(&mut self, now: u64) {
        let quiet = self.quiet;
        self.all.retain(|_, own| own.waiting.count > 0 || own.sending.is_some() || own.found + quiet > now);
    }

    /// What is to be sent now. What was silenced since it was found is left out; how many that were comes with it.
    pub fn due(&mut self, now: u64, silenced: &dyn Fn(&Told) -> bool) -> (Vec<Vec<String>>, u64) {
        self.forget(now);
        let (mut due, mut left_out) = (Vec::new(), 0);
        for (key, group) in &mut self.all {
            let reminds = group.waiting.count == 0 && group.sending.is_none();
            if reminds {
                let Some(repeat) = self.repeat.filter(|_| group.taken.is_some()) else { continue };
                if group.told + repeat > now {
                    continue;
                }
                group.sending = group.taken.clone().map(|batch| Batch { again: true, ..batch });
            } else if group.due > now {
                continue;
            } else if group.sending.is_none() {
                group.sending = Some(std::mem::take(&mut group.waiting));
            }
            if let Some(batch) = &mut group.sending {
                let before = batch.listed.len();
                batch.listed.retain(|(_, told)| !told.as_deref().is_some_and(silenced));
                let gone = (before - batch.listed.len()) as u64;
                batch.count -= gone;
                if !batch.again {
                    left_out += gone;
                }
                // A reminder of what is silenced now is due again when the next would have been.
                if batch.count == 0 || batch.again && batch.listed.is_empty() {
                    group.told = if batch.again { now } else { group.told };
                    group.sending = None;
                    continue;
                }
            }
            due.push(key.clone());
        }
        (due, left_out)
    }

    /// What is on its way of a group.
    pub fn sending(&self, key: &[String]) -> Option<&Batch> {
        self.all.get(key)?.sending.as_ref()
    }

    /// The names and values that make a group.
    pub fn labels<'g>(&'g self, key: &'g [String]) -> impl Iterator<Item = (&'g str, &'g str)> {
        self.by.iter().zip(key).map(|(name, value)| (&**name, &**value))
    }

    /// What a request is known by: it follows from the webhook, the group and what is in it.
    pub fn id(&self, webhook: &str, key: &[String]) -> String {
        let mut hash = blake3::Hasher::new();
        let mut part = |text: &str| {
            hash.update(&(text.len() as u64).to_le_bytes());
            hash.update(text.as_bytes());
        };
        part(webhook);
        key.iter().for_each(|value| part(value));
        if let Some(group) = self.all.get(key)
            && let Some(batch) = &group.sending
        {
            let first = batch.listed.first().map_or(0, |(number, _)| *number);
            // What was told before is told anew under another id.
            let round = if batch.again { group.told } else { 0 };
            [first, batch.last, round].iter().for_each(|number| part(&number.to_string()));
        }
        hash.finalize().to_hex()[..32].to_string()
    }

    /// It was taken.
    pub fn taken(&mut self, key: &[String], now: u64) {
        let Some(group) = self.all.get_mut(key) else { return };
        group.taken = group.sending.take();
        if let Some(batch) = &mut group.taken {
            batch.listed.truncate(REMINDED);
        }
        group.failures = 0;
        group.told = now;
        group.due = now + self.interval;
        self.listed = self.batches().map(|batch| batch.listed.len()).sum();
    }

    /// It was not, for so many times now; it is tried again later.
    pub fn failed(&mut self, key: &[String], now: u64, later: Option<u64>, dice: u64) -> u32 {
        let Some(group) = self.all.get_mut(key) else { return 0 };
        group.failures = group.failures.saturating_add(1);
        group.due = now + later.unwrap_or(0).max(pause(group.failures, dice));
        group.failures
    }

    /// The first violation whose text is wanted.
    pub fn first_wanted(&self) -> Option<u64> {
        self.batches().flat_map(|batch| batch.listed.iter().map(|(number, _)| *number)).min()
    }

    fn batches(&self) -> impl Iterator<Item = &Batch> {
        self.all.values().flat_map(|own| own.sending.iter().chain(&own.taken).chain([&own.waiting]))
    }

    /// Texts that were read again.
    pub fn texts(&mut self, of: impl Fn(u64) -> Option<Arc<Told>>) {
        for group in self.all.values_mut() {
            for batch in group.sending.iter_mut().chain(&mut group.taken).chain([&mut group.waiting]) {
                for (number, told) in batch.listed.iter_mut().filter(|(_, told)| told.is_none()) {
                    *told = of(*number);
                }
            }
        }
    }

    /// All numbers whose texts are wanted.
    pub fn wanted(&self) -> std::collections::HashSet<u64> {
        let missing = |batch: &'_ Batch| -> Vec<u64> {
            batch.listed.iter().filter(|(_, told)| told.is_none()).map(|(number, _)| *number).collect()
        };
        self.batches().flat_map(missing).collect()
    }
}

#[cfg(test)]
mod tests;

//! Violations: kept in a log of their own, told to who listens, found again by their number.
//!
//! A violation has an id that follows from what was violated and where, so that who is told of it twice (after a crash, after a
//! lost connection) knows. Its number is its place in the log: what `since` and `next` count.

use crate::log::{Found, Limits, Log};
use crate::tokens::{Rights, Role};
use std::collections::{HashMap, VecDeque};
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::broadcast;

/// Violations kept in memory.
const RECENT: usize = 10_000;
/// What listeners may be behind before they are told that they missed something.
const BEHIND: usize = 8192;
/// Bytes of a violation's stream and property in the log, about.
const LABELS: usize = 64;

/// Something to be told.
#[derive(Clone, Debug)]
pub struct Told {
    /// Its place among violations; nothing else has one.
    pub number: Option<u64>,
    /// `violation`, `verdict`, `value` or `note`.
    pub kind: &'static str,
    /// The stream.
    pub stream: Arc<str>,
    /// The property or query, if it is about one.
    pub property: Arc<str>,
    /// The rest, as JSON.
    pub json: String,
}

/// What is asked for: everything, or what is about a stream, a property.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// This stream alone.
    pub stream: Option<String>,
    /// This property alone.
    pub property: Option<String>,
    /// What these rights let be read alone.
    pub rights: Option<Rights>,
}

impl Filter {
    /// Whether that is asked for.
    pub fn takes(&self, stream: &str, property: &str) -> bool {
        self.rights.as_ref().is_none_or(|own| own.may(Role::Read, stream))
            && self.stream.as_deref().is_none_or(|own| own == stream)
            && self.property.as_deref().is_none_or(|own| own == property)
    }
}

/// All violations, and who listens.
pub struct Verdicts {
    log: Log,
    recent: Mutex<VecDeque<Arc<Told>>>,
    feed: broadcast::Sender<Arc<Told>>,
}

/// The id of a violation: 32 hexadecimal digits that stand first in its JSON.
pub const ID: std::ops::Range<usize> = 7..39;

impl Verdicts {
    /// Opens what is kept in a folder.
    pub fn open(folder: &Path, limits: Limits) -> io::Result<(Self, Found)> {
        let (log, found) = Log::open(folder, limits)?;
        let feed = broadcast::Sender::new(BEHIND);
        let verdicts = Self { log, recent: Mutex::default(), feed };
        // Nobody has to have read them.
        verdicts.log.may_delete(u64::MAX);
        let end = verdicts.log.end();
        let mut recent = VecDeque::new();
        verdicts.read(end.saturating_sub(RECENT as u64), &mut |told| {
            recent.push_back(Arc::new(told));
            true
        })?;
        *verdicts.recent() = recent;
        Ok((verdicts, found))
    }

    fn recent(&self) -> MutexGuard<'_, VecDeque<Arc<Told>>> {
        self.recent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many violations there were.
    pub fn end(&self) -> u64 {
        self.log.end()
    }

    /// Keeps violations, and tells them and all else, in this order. After an error nothing was told, and all is still there.
    pub fn tell(&self, told: &mut Vec<Told>) -> io::Result<()> {
        let mut lines = String::with_capacity(told.iter().map(|told| told.json.len() + LABELS).sum());
        let mut count = 0;
        for told in told.iter().filter(|told| told.kind == "violation") {
            lines.extend([
                &*told.stream,
                "\t",
                &told.property.replace(['\t', '\n'], " "),
                "\t",
                &told.json,
                "\n",
            ]);
            count += 1;
        }
        // Numbers are given in the order of the log.
        let mut recent = self.recent();
        if count > 0 {
            let first = self.log.end();
            self.log.append(lines.as_bytes(), count, false)?;
            let violations = told.iter_mut().filter(|told| told.kind == "violation");
            violations.zip(first..).for_each(|(told, number)| told.number = Some(number));
        }
        for told in told.drain(..) {
            let told = Arc::new(told);
            if told.number.is_some() {
                if recent.len() == RECENT {
                    recent.pop_front();
                }
                recent.push_back(told.clone());
            }
            // Nobody has to listen.
            let _ = self.feed.send(told);
        }
        Ok(())
    }

    /// Deletes what is older than is kept; says what.
    pub fn tidy(&self) -> io::Result<Vec<String>> {
        // While none is told.
        let _recent = self.recent();
        self.log.tidy()
    }

    /// How often that is worth it.
    pub fn tidies(&self) -> Option<Duration> {
        self.log.tidies()
    }

    /// All violations so far are on disk for good.
    pub fn sync(&self) -> io::Result<u64> {
        self.log.sync()
    }

    /// What is told from now on.
    pub fn listen(&self) -> broadcast::Receiver<Arc<Told>> {
        self.feed.subscribe()
    }

    /// Reads violations from a number on, as long as `more` says so.
    fn read(&self, since: u64, more: &mut dyn FnMut(Told) -> bool) -> io::Result<()> {
        let mut reader = self.log.read_from(since);
        while let Some(record) = reader.next()? {
            let text = String::from_utf8_lossy(&record.bytes);
            for (number, line) in (record.before..).zip(text.lines()) {
                let mut parts = line.splitn(3, '\t');
                let (Some(stream), Some(property), Some(json)) = (parts.next(), parts.next(), parts.next())
                else {
                    continue;
                };
                let told = Told {
                    number: Some(number),
                    kind: "violation",
                    stream: stream.into(),
                    property: property.into(),
                    json: json.into(),
                };
                if number >= since && !more(told) {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// At most so many violations from a number on, and the number from which to go on.
    pub fn list(&self, filter: &Filter, since: u64, limit: usize) -> io::Result<(Vec<Arc<Told>>, u64)> {
        let mut found = Vec::new();
        let mut next = since;
        {
            let recent = self.recent();
            let first = recent.front().and_then(|told| told.number);
            if first.is_some_and(|first| first <= since) || recent.is_empty() && self.log.end() == 0 {
                let skip = (since - first.unwrap_or(0)).min(recent.len() as u64) as usize;
                for told in recent.iter().skip(skip) {
                    if found.len() == limit {
                        return Ok((found, next));
                    }
                    next = told.number.map_or(next, |number| number + 1);
                    if filter.takes(&told.stream, &told.property) {
                        found.push(told.clone());
                    }
                }
                return Ok((found, next));
            }
        }
        self.read(since, &mut |told| {
            if found.len() == limit {
                return false;
            }
            next = told.number.map_or(next, |number| number + 1);
            if filter.takes(&told.stream, &told.property) {
                found.push(Arc::new(told));
            }
            true
        })?;
        Ok((found, next))
    }

    /// The ids of a stream's violations from a number on, and their numbers.
    pub fn ids(&self, stream: &str, since: u64) -> io::Result<HashMap<String, u64>> {
        let mut ids = HashMap::new();
        self.read(since, &mut |told| {
            if &*told.stream == stream {
                ids.extend(told.json.get(ID).map(str::to_string).zip(told.number));
            }
            true
        })?;
        Ok(ids)
    }
}

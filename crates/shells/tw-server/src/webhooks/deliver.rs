//! The thread of a webhook: reads the violations, groups them, sends what is due.

use super::groups::{Groups, pause};
use super::matching::Labels;
use super::now;
use super::send::{Sent, Target, signature};
use super::settings::Settings;
use super::silences::Silences;
use crate::tls;
use crate::verdicts::{Filter, Told, Verdicts};
use futures_util::future::{Either, select};
use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;
use tokio_rustls::TlsConnector;
use tracewise::findings::json::{Object, array};

/// Violations that are read at once.
const PIECE: usize = 1000;
/// How long to do nothing when there is nothing to do.
const PATIENCE: Duration = Duration::from_millis(100);
/// How often it is kept how far it has read.
const KEEP: Duration = Duration::from_secs(1);
/// The longest that a receiver may put off the next attempt, in milliseconds.
const LATEST: u64 = 3_600_000;

/// How a webhook is doing.
#[derive(Debug, Default)]
pub struct Status {
    /// Requests that were taken.
    pub taken: AtomicU64,
    /// Attempts that failed.
    pub failed: AtomicU64,
    /// Violations that wait.
    pub waiting: AtomicU64,
    /// Violations that were silenced.
    pub silenced: AtomicU64,
    /// Violations that were deleted before they could be told.
    pub missed: AtomicU64,
    /// Why the last attempt failed, until one does not.
    pub failing: Mutex<Option<String>>,
}

/// A webhook at work.
pub struct Webhook {
    settings: Settings,
    target: Target,
    secured: Option<TlsConnector>,
    runtime: Runtime,
    /// How it is doing, for who asks.
    pub status: Arc<Status>,
    verdicts: Arc<Verdicts>,
    silences: Arc<Silences>,
    path: PathBuf,
    groups: Groups,
    said: Arc<dyn Fn(String) + Send + Sync>,
    /// Attempts that nobody heard, and until when there is no other.
    unheard: (u32, u64),
    dice: u64,
}

impl Webhook {
    /// Opens what is kept of it.
    pub fn open(
        settings: Settings,
        path: PathBuf,
        verdicts: Arc<Verdicts>,
        silences: Arc<Silences>,
        said: Arc<dyn Fn(String) + Send + Sync>,
    ) -> io::Result<Self> {
        let other = |why: String| io::Error::other(format!("webhook {}: {why}", settings.name));
        let target = Target::parse(&settings.url.0).map_err(other)?;
        let secured = match target.place().starts_with("https") {
            true => Some(tls::connector(settings.trust.as_deref()).map_err(other)?),
            false => None,
        };
        let end = verdicts.end();
        // A new one is told what is found from now on.
        let groups =
            Groups::load(&settings, &path).map_err(|error| other(format!("{}: {error}", path.display())))?;
        let mut groups = groups.unwrap_or_else(|| Groups::new(&settings, end));
        // What the log lost is found again under new numbers.
        groups.next = groups.next.min(end);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let status = Arc::new(Status::default());
        let mut own = Self {
            settings,
            target,
            secured,
            runtime,
            status,
            verdicts,
            silences,
            path,
            groups,
            said,
            unheard: (0, 0),
            dice: now(),
        };
        own.recall()?;
        own.groups.save(&own.path)?;
        Ok(own)
    }

    /// Its name, and where it sends to.
    pub fn name(&self) -> (String, String) {
        (self.settings.name.clone(), self.target.place())
    }

    /// Reads the texts of violations again that were waiting.
    fn recall(&mut self) -> io::Result<()> {
        let wanted = self.groups.wanted();
        let (Some(mut next), end) = (self.groups.first_wanted(), self.groups.next) else { return Ok(()) };
        let mut texts: HashMap<u64, Arc<Told>> = HashMap::new();
        while next < end && texts.len() < wanted.len() {
            let (found, after) = self.verdicts.list(&Filter::default(), next, PIECE)?;
            let numbered = found.into_iter().filter_map(|told| Some((told.number?, told)));
            texts.extend(numbered.filter(|(number, _)| wanted.contains(number)));
            if after == next {
                break;
            }
            next = after;
        }
        self.groups.texts(|number| texts.get(&number).cloned());
        Ok(())
    }

    fn say(&self, what: &str) {
        (self.said)(format!("webhook {}: {what}", self.settings.name));
    }

    /// Works until the server ends.
    pub fn run(mut self, ending: &AtomicBool) {
        let mut kept = (self.groups.next, Instant::now());
        let mut trouble = false;
        while !ending.load(Ordering::SeqCst) {
            let read = match self.read() {
                Ok(read) => read,
                Err(error) => {
                    if !std::mem::replace(&mut trouble, true) {
                        self.say(&format!("violations cannot be read: {error}; trying again"));
                    }
                    false
                }
            };
            let sent = self.send_due(ending);
            if !sent && kept.0 != self.groups.next && kept.1.elapsed() >= KEEP {
                kept = (self.groups.next, Instant::now());
                self.keep();
            }
            self.status.waiting.store(self.groups.figures().1, Ordering::Relaxed);
            if !read && !sent {
                std::thread::sleep(PATIENCE);
            }
        }
        self.keep();
    }

    /// Reads what was found; whether there was something.
    fn read(&mut self) -> io::Result<bool> {
        let before = self.groups.next;
        let (found, next) = self.verdicts.list(&Filter::default(), before, PIECE)?;
        let now = now();
        let mut at = before;
        for told in found {
            let number = told.number.unwrap_or(at);
            if number > at {
                self.status.missed.fetch_add(number - at, Ordering::Relaxed);
                self.say(&format!("violations {at} to {} were deleted before they were told", number - 1));
            }
            at = number + 1;
            let labels = Labels::of(&told);
            if !self.settings.matchers.iter().all(|own| own.takes(&labels)) {
                continue;
            }
            if self.silences.silences(&labels, now) {
                self.status.silenced.fetch_add(1, Ordering::Relaxed);
                continue;
            }
            self.groups.add(told, &labels, now);
        }
        self.groups.next = next;
        Ok(next > before)
    }

    /// What is on its way is kept before it goes, and under the same id again after a crash.
    fn keep(&self) {
        if let Err(error) = self.verdicts.sync().and_then(|_| self.groups.save(&self.path)) {
            self.say(&format!("its state cannot be kept: {error}; going on"));
        }
    }

    /// Sends what is due; whether there was something.
    fn send_due(&mut self, ending: &AtomicBool) -> bool {
        if self.unheard.1 > now() {
            return false;
        }
        let silences = self.silences.clone();
        let at = now();
        let (due, silenced) = self.groups.due(at, &|told| silences.silences(&Labels::of(told), at));
        self.status.silenced.fetch_add(silenced, Ordering::Relaxed);
        if due.is_empty() {
            return false;
        }
        self.keep();
        for key in due {
            if ending.load(Ordering::SeqCst) {
                break;
            }
            let text = self.text(&key);
            let id = self.groups.id(&self.settings.name, &key);
            let mut headers = vec![("x-tracewise-delivery", id)];
            if let Some(secret) = &self.settings.secret {
                headers.push(("x-tracewise-signature", signature(&secret.0, now() / 1000, &text)));
            }
            let Some(sent) = self.send(&headers, text, ending) else { break };
            self.dice = self.dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let dice = self.dice >> 33;
            match sent {
                Sent::Taken => {
                    self.groups.taken(&key, now());
                    self.status.taken.fetch_add(1, Ordering::Relaxed);
                    self.unheard = (0, 0);
                    if self.failing().take().is_some() {
                        self.say("its requests are taken again");
                    }
                }
                Sent::Refused(status, later) => {
                    let later = later.map(|seconds| seconds.saturating_mul(1000).min(LATEST));
                    self.groups.failed(&key, now(), later, dice);
                    self.note(format!("{} answers {status}", self.target.place()));
                }
                // Others would not be heard, either.
                Sent::Unheard(why) => {
                    let failures = self.unheard.0.saturating_add(1);
                    self.unheard = (failures, now() + pause(failures, dice));
                    self.note(format!("{} cannot be reached: {why}", self.target.place()));
                    break;
                }
            }
        }
        self.keep();
        true
    }

    fn failing(&self) -> std::sync::MutexGuard<'_, Option<String>> {
        self.status.failing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An attempt failed; people are told once.
    fn note(&self, why: String) {
        self.status.failed.fetch_add(1, Ordering::Relaxed);
        if self.failing().replace(why.clone()).is_none() {
            self.say(&format!("{why}; trying again"));
        }
    }

    /// Sends, unless the server ends before it is answered.
    fn send(&self, headers: &[(&'static str, String)], text: String, ending: &AtomicBool) -> Option<Sent> {
        let over = async {
            while !ending.load(Ordering::SeqCst) {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        self.runtime.block_on(async {
            let sent = pin!(self.target.send(headers, text, self.secured.as_ref(), self.settings.timeout));
            match select(sent, pin!(over)).await {
                Either::Left((sent, _)) => Some(sent),
                Either::Right(_) => None,
            }
        })
    }

    /// What is sent.
    fn text(&self, key: &[String]) -> String {
        let group =
            self.groups.labels(key).fold(Object::new(), |object, (name, value)| object.field(name, value));
        let Some(batch) = self.groups.sending(key) else { return String::new() };
        let listed = batch.listed.iter().filter_map(|(_, told)| Some(told.as_ref()?.json.clone()));
        Object::new()
            .field("id", self.groups.id(&self.settings.name, key))
            .field("webhook", self.settings.name.as_str())
            .raw("group", &group.end())
            .field("repeated", batch.again)
            .field("count", batch.count)
            .field("since", batch.listed.first().map(|(number, _)| *number))
            .field("last", batch.last)
            .raw("violations", &array(listed))
            .end()
    }
}

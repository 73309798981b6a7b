//! The thread that judges a stream.

use super::checkpoint::{Assigned, Change, State, add_cut, save_plan};
use super::states::Watched;
use super::teller::{Collected, Teller};
use super::ticks::Ticks;
use super::together::Together;
use super::work::Work;
use crate::log::{Commit, Log, Record};
use crate::verdicts::Verdicts;
use crate::words;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tracewise::watch::Prepared;

/// How long nothing may happen before the thread looks up.
const PATIENCE: Duration = Duration::from_millis(500);
/// How often it is looked at what specifications hold, while events come.
const WEIGH: Duration = Duration::from_millis(250);
/// What is told at once, of which the memory is kept.
const KEPT: usize = 1024;
/// How long after something failed it is tried again.
const AGAIN: Duration = Duration::from_millis(200);

/// How far the judging of a stream is.
#[derive(Debug, Default)]
pub struct Progress {
    /// Lines judged, those that were deleted before included.
    pub judged: AtomicU64,
}

/// What judges a stream.
pub struct Judge {
    /// The stream.
    pub stream: Arc<str>,
    /// Where it keeps what it keeps.
    pub folder: PathBuf,
    /// Its log.
    pub log: Log,
    /// What comes to it.
    pub commit: Commit,
    /// Where violations go.
    pub verdicts: Arc<Verdicts>,
    /// Which specifications judge from which line on; the first is in force.
    pub changes: Mutex<VecDeque<Change>>,
    /// Those that are at work.
    pub watched: Mutex<Vec<Arc<Watched>>>,
    /// Lines that were there when the server began: some may have been judged before.
    pub judged_before: u64,
    /// Lines before which the log was cut back: what is found from there on is not what was found there before.
    pub cuts: Mutex<Vec<u64>>,
    /// How far it is.
    pub progress: Progress,
    /// Asked to end.
    pub stop: AtomicBool,
    /// Asked what is pending, so often; answered so often.
    pub asked: (AtomicU64, Mutex<u64>, Condvar),
    /// Bytes that a specification may hold.
    pub memory: usize,
    /// How often the state is kept.
    pub every: Duration,
    /// How late lines may come, where time passes without them.
    pub late: Option<Duration>,
    /// Told what people should know.
    pub said: Arc<dyn Fn(String) + Send + Sync>,
}

/// Why a stretch of judging ended.
enum Over {
    /// Other specifications judge from here on.
    Change,
    /// The server ends.
    Stop,
    /// It ends, and what was found last could not be told: the lines are judged again.
    Untold,
}

impl Judge {
    /// The specifications at work.
    pub fn watched(&self) -> Vec<Arc<Watched>> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn changes(&self) -> MutexGuard<'_, VecDeque<Change>> {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From a line on, other specifications judge: those that `next` makes of the latest change, if it makes any. It is on disk before
    /// this returns. Nothing is judged meanwhile, so that lines that came before `next` is asked are those of the specifications before.
    pub fn change(&self, next: impl FnOnce(Option<&Change>) -> Option<Change>) -> io::Result<()> {
        let mut changes = self.changes();
        let Some(change) = next(changes.back()) else { return Ok(()) };
        let mut all: Vec<Change> = changes.iter().cloned().collect();
        all.push(change);
        save_plan(&self.folder, &all)?;
        *changes = all.into();
        drop(changes);
        self.log.wake();
        Ok(())
    }

    /// What is to judge in the end.
    pub fn latest(&self) -> Option<Change> {
        self.changes().back().cloned()
    }

    /// Has what is pending noted in the states, and waits until that is done, not longer than `patience`.
    pub fn ask_pending(&self, patience: Duration) -> bool {
        let (asked, answered, news) = &self.asked;
        let mine = asked.fetch_add(1, Ordering::SeqCst) + 1;
        self.log.wake();
        let guard = answered.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = news.wait_timeout_while(guard, patience, |answered| *answered < mine);
        waited.is_ok_and(|(_, timeout)| !timeout.timed_out())
    }

    /// Judges until it is asked to end.
    pub fn run(&self) {
        let mut state = match State::load(&self.folder) {
            Ok(state) => state,
            Err(error) => {
                (self.said)(format!(
                    "stream {}: the state cannot be read ({error}); its log is judged again",
                    self.stream
                ));
                None
            }
        };
        // A state from a future that the log has lost is none. More may have come since it was opened.
        let end = self.judged_before;
        if state.as_ref().is_some_and(|state| state.next > end) {
            (self.said)(format!(
                "stream {}: the state is ahead of the log, which is judged again",
                self.stream
            ));
            state = None;
            let mut cuts = self.cuts.lock().unwrap_or_else(PoisonError::into_inner);
            if cuts.last() != Some(&end)
                && let Err(error) = add_cut(&self.folder, &mut cuts, end)
            {
                (self.said)(format!("stream {}: that it was cut cannot be kept: {error}", self.stream));
            }
        }
        self.log.may_delete(state.as_ref().map_or(0, |state| state.next));
        let known = state.as_ref().map_or(0, |state| state.told);
        let collected = Rc::new(RefCell::new(Collected::default()));
        match self.verdicts.ids(&self.stream, known) {
            Ok(ids) => collected.borrow_mut().known = ids,
            Err(error) => (self.said)(format!("violations cannot be read: {error}")),
        }
        let judged = state.as_ref().map_or(0, |state| state.next);
        let mut ticks = Ticks::open(&self.folder, self.late, judged, end).unwrap_or_else(|error| {
            (self.said)(format!("stream {}: it has no clock: {error}", self.stream));
            Ticks::none()
        });
        loop {
            let change = self.begin(state.as_ref().map_or(0, |state| state.next));
            match self.stretch(&change, &mut state, &mut ticks, &collected) {
                Over::Change => {}
                Over::Stop | Over::Untold => return,
            }
        }
    }

    /// The change in force at a line; those before it are forgotten.
    fn begin(&self, line: u64) -> Change {
        let mut changes = self.changes();
        while changes.get(1).is_some_and(|next| next.at <= line) {
            changes.pop_front();
        }
        changes.front().cloned().unwrap_or(Change { at: 0, specs: Vec::new() })
    }

    /// Judges under the specifications of one change.
    fn stretch(
        &self,
        change: &Change,
        state: &mut Option<State>,
        ticks: &mut Ticks,
        collected: &Rc<RefCell<Collected>>,
    ) -> Over {
        let prepare = |assigned: &Assigned| assigned.spec.prepare(&self.stream, self.memory);
        let prepared: Vec<Result<Prepared, String>> =
            change.specs.iter().map(|own| prepare(own).map_err(|error| words::error(&error))).collect();
        let watched =
            |own: &Assigned| Arc::new(Watched::new(&self.stream, &own.spec.name, &own.spec.specification));
        let watched: Vec<Arc<Watched>> = change.specs.iter().map(watched).collect();
        *self.watched.lock().unwrap_or_else(PoisonError::into_inner) = watched.clone();
        let next = state.as_ref().map_or(change.at, |state| state.next);
        let start = self.log.start();
        if start > next && state.is_some() {
            (self.said)(format!(
                "stream {}: lines {} to {start} were deleted before they were judged",
                self.stream,
                next + 1
            ));
        }
        let next = next.max(start);
        let mut tellers: Vec<Vec<Teller>> = Vec::new();
        for ((own, watched), prepared) in change.specs.iter().zip(&watched).zip(&prepared) {
            // Twice, for a state that turns out to be no good.
            let sinks = prepared.as_ref().map_or(0, |prepared| 2 * prepared.sinks());
            let teller = || Teller::new(watched.clone(), own.since, &self.log, collected.clone());
            tellers.push((0..sinks).map(|_| teller()).collect());
        }
        let mut work = Vec::new();
        for (((own, prepared), watched), tellers) in
            change.specs.iter().zip(&prepared).zip(&watched).zip(&mut tellers)
        {
            let kept =
                state.as_ref().and_then(|state| state.specs.iter().find(|kept| *kept.name == *own.spec.name));
            let half = tellers.len() / 2;
            let (first, second) = tellers.split_at_mut(half);
            work.push(self.open(own, prepared, watched, [first, second], kept, next, collected));
        }
        let over = self.judge(&mut work, next, ticks, collected);
        if matches!(over, Over::Untold) {
            return over;
        }
        *state = Some(self.state(&mut work, self.progress.judged.load(Ordering::Relaxed), collected));
        if let Some(state) = state {
            self.keep(state, ticks);
        }
        over
    }

    /// Reads and judges until something else is to be done.
    fn judge(
        &self,
        work: &mut [Work<'_>],
        next: u64,
        ticks: &mut Ticks,
        collected: &RefCell<Collected>,
    ) -> Over {
        let mut reader = Together::new(self.log.read_from(next));
        let mut next = next;
        let again = self.judged_before;
        let mut weighed = Instant::now();
        let mut kept = Instant::now();
        let mut kept_at = next;
        let mut stands = false;
        self.progress.judged.store(next, Ordering::Relaxed);
        loop {
            if !self.answer(work, collected) {
                return Over::Untold;
            }
            if self.stop.load(Ordering::SeqCst) {
                return Over::Stop;
            }
            if let Some(passed) = ticks.before(next)
                && !self.pass(work, next, passed, ticks, collected)
            {
                return Over::Untold;
            }
            if self.until().is_some_and(|until| until <= next) {
                return Over::Change;
            }
            if next >= again {
                // What was not found again by now never will be: its specification is another.
                collected.borrow_mut().known.clear();
            }
            let read = self.read(&mut reader, ticks);
            // No silence: lines are there or on their way, or cannot come.
            let heard = read.is_err() || ticks.runs() && self.commit.is_awaited(next);
            if heard && next >= again {
                ticks.come();
            }
            match read {
                Err(()) => {}
                Ok(None) if heard => self.log.wait_beyond(next, PATIENCE),
                Ok(None) => match ticks.ask(next) {
                    Ok(Some(passed)) => {
                        if !self.pass(work, next, passed, ticks, collected) {
                            return Over::Untold;
                        }
                    }
                    Ok(None) => self.log.wait_beyond(next, ticks.patience(PATIENCE)),
                    // Without it nothing follows from the clock: what is found would not be found again.
                    Err(error) => {
                        if !std::mem::replace(&mut stands, true) {
                            (self.said)(format!("stream {}: its clock stands still: {error}", self.stream));
                        }
                        self.log.wait_beyond(next, PATIENCE);
                    }
                },
                Ok(Some(record)) => {
                    // What changes after this is asked begins after lines that are read already.
                    let until = self.until();
                    collected.borrow_mut().cuts = self.cuts_before(record.before);
                    next = self.feed(work, &record, next, until);
                    if !self.tell(collected) {
                        return Over::Untold;
                    }
                    self.progress.judged.store(next, Ordering::Relaxed);
                    if weighed.elapsed() >= WEIGH {
                        self.weigh(work);
                        weighed = Instant::now();
                    }
                    // The record goes on under other specifications.
                    if until == Some(next) && next < record.after() {
                        return Over::Change;
                    }
                }
            }
            if next > kept_at && kept.elapsed() >= self.every {
                let state = self.state(work, next, collected);
                self.keep(&state, ticks);
                (kept, kept_at) = (Instant::now(), next);
            }
        }
    }

    /// The line from which on other specifications judge, if that is known.
    fn until(&self) -> Option<u64> {
        self.changes().get(1).map(|change| change.at)
    }

    /// How often the log was cut before a line.
    pub(super) fn cuts_before(&self, line: u64) -> usize {
        let cuts = self.cuts.lock().unwrap_or_else(PoisonError::into_inner);
        cuts.iter().filter(|cut| **cut <= line).count()
    }

    fn read(&self, reader: &mut Together, ticks: &Ticks) -> Result<Option<Record>, ()> {
        let same = |from, to| self.cuts_before(from) == self.cuts_before(to) && !ticks.between(from, to);
        match reader.next(same) {
            Ok(record) => Ok(record),
            Err(error) => {
                (self.said)(format!("stream {}: the log cannot be read: {error}", self.stream));
                std::thread::sleep(AGAIN);
                Err(())
            }
        }
    }

    /// Tells what was collected; while that cannot be kept, nothing else happens. False if the server ends before.
    pub(super) fn tell(&self, collected: &RefCell<Collected>) -> bool {
        let mut told = std::mem::take(&mut collected.borrow_mut().told);
        let mut first = true;
        while !told.is_empty() {
            let Err(error) = self.verdicts.tell(&mut told) else { break };
            if std::mem::take(&mut first) {
                (self.said)(format!("violations cannot be kept: {error}; trying again"));
            }
            if self.stop.load(Ordering::SeqCst) {
                return false;
            }
            std::thread::sleep(AGAIN);
        }
        // Its memory serves again, unless that was much.
        told.shrink_to(KEPT);
        collected.borrow_mut().told = told;
        true
    }

    /// Notes what is pending, if somebody asked.
    fn answer(&self, work: &mut [Work<'_>], collected: &RefCell<Collected>) -> bool {
        let (asked, answered, news) = &self.asked;
        let asked = asked.load(Ordering::SeqCst);
        if *answered.lock().unwrap_or_else(PoisonError::into_inner) >= asked {
            return true;
        }
        for own in work.iter_mut() {
            if let Some(watch) = &mut own.watch {
                own.watched.forget_pending();
                if let Err(error) = watch.tell_pending() {
                    own.watched.stop(words::error(&error));
                    own.watch = None;
                }
            }
        }
        self.weigh(work);
        let told = self.tell(collected);
        *answered.lock().unwrap_or_else(PoisonError::into_inner) = asked;
        news.notify_all();
        told
    }

    /// Keeps a state: what it stands on is on disk before it.
    fn keep(&self, state: &State, ticks: &mut Ticks) {
        let kept = self.log.sync().and_then(|_| self.verdicts.sync()).and_then(|_| state.save(&self.folder));
        let kept = kept.and_then(|()| {
            self.log.may_delete(state.next);
            ticks.forget(state.next)
        });
        if let Err(error) = kept {
            (self.said)(format!("stream {}: the state cannot be kept: {error}; going on", self.stream));
        }
    }
}

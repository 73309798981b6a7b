//! Slices on their way through several hands: each takes the next one that waits. A hand that finds none looks at those that are still
//! being evaluated: one that takes far longer than most is divided again, its parts wait for whoever comes first, and its evaluation
//! is given up.

use crate::Error;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// A slice is divided again if it takes so many times what half of them took …
const FAR_SLOWER: u32 = 4;
/// … and so often.
const AGAIN: u32 = 3;

/// Tells an evaluation that nobody waits for it any more.
#[derive(Default)]
pub(super) struct Stop {
    /// What evaluations look at.
    pub flag: Arc<AtomicBool>,
    /// What else is to be done: a process is ended.
    end: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

impl Stop {
    pub fn is_set(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
    }

    /// What to do when it is set; nothing any more.
    pub fn on_set(&self, end: Option<Box<dyn FnOnce() + Send>>) {
        *lock(&self.end) = end;
    }

    fn set(&self) {
        self.flag.store(true, Ordering::Relaxed);
        let end = lock(&self.end).take();
        if let Some(end) = end {
            end();
        }
    }
}

fn lock<T>(own: &Mutex<T>) -> MutexGuard<'_, T> {
    own.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// What divides a slice that has been divided so often, if it can be divided at all.
type Divide<'h, S> = dyn Fn(&S, u32) -> Result<Option<Vec<S>>, Error> + Sync + 'h;

/// What is done with slices, and what becomes of one that is slow.
pub(super) struct Hands<'h, S, T> {
    /// Evaluates a slice, unless it is stopped.
    pub evaluate: &'h (dyn Fn(&S, &Stop) -> Result<T, Error> + Sync),
    /// A slice as several; the number says how often it has been divided. Nothing if that is not possible.
    pub divide: &'h Divide<'h, S>,
    /// How many there are.
    pub count: usize,
    /// How long a slice may take, whatever others take. If that is no time at all, every slice is slow that others wait for.
    pub patience: Duration,
}

struct Running<S> {
    number: usize,
    slice: Arc<S>,
    depth: u32,
    since: Instant,
    stop: Arc<Stop>,
    /// Whether somebody divides it, or found that it cannot be.
    looked_at: bool,
}

struct State<S, T> {
    todo: VecDeque<(Arc<S>, u32)>,
    running: Vec<Running<S>>,
    took: Vec<Duration>,
    done: Vec<T>,
    failed: Option<Error>,
    number: usize,
    /// How many were divided.
    divided: usize,
}

impl<S: Send + Sync, T: Send> Hands<'_, S, T> {
    /// What all slices come to, in any order, and how many of them were divided again.
    pub fn run(&self, slices: Vec<S>) -> Result<(Vec<T>, usize), Error> {
        let todo: VecDeque<_> = slices.into_iter().map(|slice| (Arc::new(slice), 0)).collect();
        let (count, took) = (self.count.clamp(1, todo.len().max(1)), Vec::with_capacity(todo.len()));
        let count = if self.patience.is_zero() { self.count.max(1) } else { count };
        let state =
            State { todo, running: Vec::new(), took, done: Vec::new(), failed: None, number: 0, divided: 0 };
        let (state, changed) = (Mutex::new(state), Condvar::new());
        std::thread::scope(|scope| {
            (1..count).for_each(|_| _ = scope.spawn(|| self.hand(&state, &changed)));
            self.hand(&state, &changed);
        });
        let state = state.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
        match state.failed {
            Some(error) => Err(error),
            None => Ok((state.done, state.divided)),
        }
    }

    fn hand(&self, state: &Mutex<State<S, T>>, changed: &Condvar) {
        let mut own = lock(state);
        loop {
            if own.failed.is_some() {
                own.running.iter().for_each(|running| running.stop.set());
                return;
            }
            if let Some((slice, depth)) = own.todo.pop_front() {
                own.number += 1;
                let (number, stop, since) = (own.number, Arc::new(Stop::default()), Instant::now());
                let running = Running {
                    number,
                    slice: slice.clone(),
                    depth,
                    since,
                    stop: stop.clone(),
                    looked_at: false,
                };
                own.running.push(running);
                changed.notify_all();
                drop(own);
                let result = (self.evaluate)(&slice, &stop);
                own = lock(state);
                own.running.retain(|running| running.number != number);
                // One that was stopped is told by its parts, even if it came to an end.
                if !stop.is_set() {
                    own.took.push(since.elapsed());
                    match result {
                        Ok(result) => own.done.push(result),
                        Err(error) => own.failed = Some(error),
                    }
                }
                changed.notify_all();
            } else if own.running.is_empty() {
                return;
            } else {
                own = self.look(own, state, changed);
            }
        }
    }

    /// Divides the slice that has taken longest, if it is slow, or waits until there is something to do.
    fn look<'s>(
        &self,
        mut own: MutexGuard<'s, State<S, T>>,
        state: &'s Mutex<State<S, T>>,
        changed: &Condvar,
    ) -> MutexGuard<'s, State<S, T>> {
        let most = self.most(&own.took);
        let divisible = |running: &&mut Running<S>| !running.looked_at && running.depth < AGAIN;
        let Some(slow) = own.running.iter_mut().filter(divisible).min_by_key(|running| running.since) else {
            return changed.wait(own).unwrap_or_else(|poisoned| poisoned.into_inner());
        };
        let Some(left) = most.map(|most| most.saturating_sub(slow.since.elapsed())) else {
            return changed.wait(own).unwrap_or_else(|poisoned| poisoned.into_inner());
        };
        if !left.is_zero() {
            let waited = changed.wait_timeout(own, left);
            return waited.unwrap_or_else(|poisoned| poisoned.into_inner()).0;
        }
        slow.looked_at = true;
        let (number, slice, depth) = (slow.number, slow.slice.clone(), slow.depth);
        drop(own);
        let parts = (self.divide)(&slice, depth + 1);
        own = lock(state);
        match parts {
            Err(error) => own.failed = Some(error),
            Ok(None) => {}
            // It may have come to an end in the meantime.
            Ok(Some(parts)) => {
                if let Some(running) = own.running.iter().find(|running| running.number == number) {
                    running.stop.set();
                    own.divided += 1;
                    own.todo.extend(parts.into_iter().map(|part| (Arc::new(part), depth + 1)));
                }
            }
        }
        changed.notify_all();
        own
    }

    /// How long a slice may take while others wait; it is not known before some have come to an end.
    fn most(&self, took: &[Duration]) -> Option<Duration> {
        if self.patience.is_zero() {
            return Some(Duration::ZERO);
        }
        let mut took = took.to_vec();
        let middle = took.len() / 2;
        if took.is_empty() {
            return None;
        }
        let (_, median, _) = took.select_nth_unstable(middle);
        Some((*median * FAR_SLOWER).max(self.patience))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A slice is the numbers from one to another; evaluated, each takes a while, and the first of all far longer.
    type Numbers = (u64, u64);

    fn run(slices: Vec<Numbers>, patience: Duration, slow: Duration) -> (Vec<u64>, usize) {
        let evaluate = |&(from, to): &Numbers, stop: &Stop| {
            let mut sum = Vec::new();
            for own in from..to {
                let begun = Instant::now();
                while begun.elapsed() < (if own < 8 { slow } else { Duration::from_micros(50) }) {
                    if stop.is_set() {
                        return Err(Error::refused("stopped"));
                    }
                    std::thread::sleep(Duration::from_micros(20));
                }
                sum.push(own);
            }
            Ok(sum)
        };
        let divide = |&(from, to): &Numbers, _| {
            let half = (from + to) / 2;
            Ok((half > from).then(|| vec![(from, half), (half, to)]))
        };
        let hands = Hands { evaluate: &evaluate, divide: &divide, count: 3, patience };
        let (found, divided) = hands.run(slices).unwrap();
        let mut all: Vec<u64> = found.into_iter().flatten().collect();
        all.sort_unstable();
        (all, divided)
    }

    #[test]
    fn a_slow_slice_is_divided_and_nothing_is_told_twice() {
        let slices: Vec<Numbers> = (0..16).map(|own| (own * 8, own * 8 + 8)).collect();
        let all: Vec<u64> = (0..128).collect();
        let (found, divided) = run(slices.clone(), Duration::from_millis(2), Duration::from_millis(40));
        assert_eq!(found, all);
        assert!((1..=7).contains(&divided), "{divided}");
        // Whoever waits divides what there is.
        for _ in 0..20 {
            assert_eq!(run(slices.clone(), Duration::ZERO, Duration::from_micros(300)).0, all);
        }
        // As slow as others is not slow.
        assert_eq!(run(slices, Duration::from_secs(5), Duration::from_millis(1)), (all, 0));
        assert_eq!(run(Vec::new(), Duration::ZERO, Duration::ZERO), (vec![], 0));
    }

    #[test]
    fn an_error_is_the_end_of_all() {
        let evaluate = |own: &u64, stop: &Stop| {
            if *own == 3 {
                return Err(Error::refused("three"));
            }
            let begun = Instant::now();
            while *own == 0 && !stop.is_set() && begun.elapsed() < Duration::from_secs(20) {
                std::thread::sleep(Duration::from_micros(50));
            }
            Ok(*own)
        };
        let divide = |_: &u64, _| Ok(None);
        let hands =
            Hands { evaluate: &evaluate, divide: &divide, count: 2, patience: Duration::from_millis(1) };
        let begun = Instant::now();
        assert!(hands.run((0..9).collect()).unwrap_err().to_string().contains("three"));
        assert!(begun.elapsed() < Duration::from_secs(10));
    }
}

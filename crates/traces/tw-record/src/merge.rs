//! Puts the records of all threads into one order: that of their tickets, which were taken when the calls were made or had
//! come back. Tickets are numbers without gaps, so it is known what has not come yet. What does not come (its thread was killed
//! between taking the ticket and writing) is passed over after a while and counted.

use crate::json::Record;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// What a record has in place of a call if its ticket is only given back.
pub(crate) const VOID: u16 = 0xffff;
/// How long a record is waited for while processes live.
const PATIENCE: Duration = Duration::from_secs(3);
/// Records that may wait behind one that is missing.
const WAITING: usize = 1 << 20;

enum Kept {
    Record {
        words: Box<[u64]>,
        pid: u32,
        thread: u32,
        foreign: bool,
        came: Instant,
    },
    /// Nobody will write it: a signal handler left the call by longjmp.
    Void,
}

/// Records that wait for earlier ones.
#[derive(Default)]
pub(crate) struct Merge {
    next: u64,
    waiting: VecDeque<Option<Kept>>,
    /// Tickets whose records did not come.
    pub(crate) missing: u64,
    /// Records that came after they were passed over.
    pub(crate) late: u64,
}

impl Merge {
    /// Takes a record, and hands on what is in order now.
    pub(crate) fn take(&mut self, record: Record<'_>, emit: &mut dyn FnMut(Record<'_>)) {
        let (ticket, void) = (record.ticket(), record.call() == VOID);
        if ticket < self.next {
            if void {
                return;
            }
            // Its call took so long that others did not wait for it. Better late than lost.
            self.missing = self.missing.saturating_sub(1);
            self.late += 1;
            emit(record);
            return;
        }
        if ticket == self.next && self.waiting.is_empty() {
            self.next += 1;
            match void {
                true => self.missing += 1,
                false => emit(record),
            }
            return;
        }
        let at = (ticket - self.next) as usize;
        if at > 64 * WAITING {
            // No such ticket was given out: the process has written over its ring.
            return;
        }
        while self.waiting.len() <= at {
            self.waiting.push_back(None);
        }
        match void {
            // What was given back had been written after all.
            true if self.waiting[at].is_some() => {}
            true => self.waiting[at] = Some(Kept::Void),
            false => {
                let (words, came) = (record.words.into(), Instant::now());
                let Record { pid, thread, foreign, .. } = record;
                self.waiting[at] = Some(Kept::Record { words, pid, thread, foreign, came });
            }
        }
        self.release(emit);
    }

    fn release(&mut self, emit: &mut dyn FnMut(Record<'_>)) {
        while let Some(Some(kept)) = self.waiting.front() {
            match kept {
                Kept::Record { words, pid, thread, foreign, .. } => {
                    emit(Record { words, pid: *pid, thread: *thread, foreign: *foreign })
                }
                Kept::Void => self.missing += 1,
            }
            self.waiting.pop_front();
            self.next += 1;
        }
    }

    /// Passes over a record that has been missing for too long; all, where no process is left that could write them.
    pub(crate) fn overdue(&mut self, over: bool, emit: &mut dyn FnMut(Record<'_>)) {
        while !self.waiting.is_empty() {
            // The first that waits has waited longest, unless it came late itself.
            let first = self.waiting.iter().flatten().find_map(|kept| match kept {
                Kept::Record { came, .. } => Some(*came),
                Kept::Void => None,
            });
            let long = first.is_none_or(|came| came.elapsed() >= PATIENCE);
            if !over && !long && self.waiting.len() < WAITING {
                return;
            }
            while let Some(None) = self.waiting.front() {
                self.waiting.pop_front();
                self.next += 1;
                self.missing += 1;
            }
            self.release(emit);
        }
    }

    /// At the end: tickets below `given` that never came.
    pub(crate) fn finish(&mut self, given: u64) {
        self.missing += given.saturating_sub(self.next);
        self.next = self.next.max(given);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn feed(merge: &mut Merge, ticket: u64, out: &mut Vec<u64>) {
        give(merge, 0, ticket, out);
    }

    fn give(merge: &mut Merge, call: u16, ticket: u64, out: &mut Vec<u64>) {
        let words = [5 << 32 | u64::from(call), ticket, 0, 0, 0];
        merge.take(Record { words: &words, pid: 1, thread: 1, foreign: false }, &mut |record| {
            out.push(record.ticket())
        });
    }

    #[test]
    fn any_order_of_arrival_gives_the_order_of_tickets() {
        // All orders of six tickets.
        let mut order: Vec<u64> = (0..6).collect();
        let mut seen = 0;
        permute(&mut order, 0, &mut |order| {
            let (mut merge, mut out) = (Merge::default(), Vec::new());
            order.iter().for_each(|ticket| feed(&mut merge, *ticket, &mut out));
            assert_eq!(out, [0, 1, 2, 3, 4, 5], "{order:?}");
            assert_eq!((merge.missing, merge.late), (0, 0));
            seen += 1;
        });
        assert_eq!(seen, 720);
    }

    fn permute(order: &mut Vec<u64>, from: usize, visit: &mut dyn FnMut(&[u64])) {
        if from == order.len() {
            return visit(order);
        }
        for at in from..order.len() {
            order.swap(from, at);
            permute(order, from + 1, visit);
            order.swap(from, at);
        }
    }

    #[test]
    fn what_never_comes_is_passed_over_and_counted() {
        let (mut merge, mut out) = (Merge::default(), Vec::new());
        for ticket in [0, 2, 3, 6] {
            feed(&mut merge, ticket, &mut out);
        }
        assert_eq!(out, [0]);
        merge.overdue(false, &mut |_| panic!("it may still come"));
        merge.overdue(true, &mut |record| out.push(record.ticket()));
        assert_eq!(out, [0, 2, 3, 6]);
        assert_eq!(merge.missing, 3);
        feed(&mut merge, 4, &mut out);
        assert_eq!((out.last(), merge.missing, merge.late), (Some(&4), 2, 1));
        merge.finish(9);
        assert_eq!(merge.missing, 4);
    }

    #[test]
    fn what_is_given_back_is_not_waited_for() {
        let (mut merge, mut out) = (Merge::default(), Vec::new());
        give(&mut merge, VOID, 0, &mut out);
        feed(&mut merge, 1, &mut out);
        feed(&mut merge, 3, &mut out);
        give(&mut merge, VOID, 2, &mut out);
        assert_eq!((out.as_slice(), merge.missing), (&[1, 3][..], 2));
        // A record that had been written is no less there for it, whichever comes first.
        feed(&mut merge, 5, &mut out);
        give(&mut merge, VOID, 5, &mut out);
        give(&mut merge, VOID, 4, &mut out);
        give(&mut merge, VOID, 4, &mut out);
        assert_eq!((out.as_slice(), merge.missing), (&[1, 3, 5][..], 3));
    }
}

//! Puts the records of all threads into one order: that of their tickets, which were taken when the calls were made or had
//! come back. Tickets are numbers without gaps, so it is known what has not come yet. What does not come (its thread was killed
//! between taking the ticket and writing) is passed over after a while and counted.

use crate::json::Record;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// How long a record is waited for while processes live.
const PATIENCE: Duration = Duration::from_secs(3);
/// Records that may wait behind one that is missing.
const WAITING: usize = 1 << 20;

struct Kept {
    words: Box<[u64]>,
    pid: u32,
    thread: u32,
}

/// Records that wait for earlier ones.
#[derive(Default)]
pub(crate) struct Merge {
    next: u64,
    waiting: VecDeque<Option<Kept>>,
    stuck: Option<Instant>,
    /// Tickets whose records did not come.
    pub(crate) missing: u64,
    /// Records that came after they were passed over.
    pub(crate) late: u64,
}

impl Merge {
    /// Takes a record, and hands on what is in order now.
    pub(crate) fn take(&mut self, record: Record<'_>, emit: &mut dyn FnMut(Record<'_>)) {
        let ticket = record.ticket();
        if ticket < self.next {
            // Its call took so long that others did not wait for it. Better late than lost.
            self.missing = self.missing.saturating_sub(1);
            self.late += 1;
            emit(record);
            return;
        }
        if ticket == self.next && self.waiting.is_empty() {
            self.next += 1;
            emit(record);
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
        self.waiting[at] = Some(Kept { words: record.words.into(), pid: record.pid, thread: record.thread });
        self.release(emit);
    }

    fn release(&mut self, emit: &mut dyn FnMut(Record<'_>)) {
        while let Some(Some(kept)) = self.waiting.front() {
            emit(Record { words: &kept.words, pid: kept.pid, thread: kept.thread });
            self.waiting.pop_front();
            self.next += 1;
            self.stuck = None;
        }
    }

    /// Passes over a record that has been missing for too long; all, where no process is left that could write them.
    pub(crate) fn overdue(&mut self, over: bool, emit: &mut dyn FnMut(Record<'_>)) {
        while !self.waiting.is_empty() {
            let since = *self.stuck.get_or_insert_with(Instant::now);
            if !over && since.elapsed() < PATIENCE && self.waiting.len() < WAITING {
                return;
            }
            while let Some(None) = self.waiting.front() {
                self.waiting.pop_front();
                self.next += 1;
                self.missing += 1;
            }
            self.stuck = None;
            self.release(emit);
        }
        self.stuck = None;
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
        let words = [5 << 32, ticket, 0, 0, 0];
        merge.take(Record { words: &words, pid: 1, thread: 1 }, &mut |record| out.push(record.ticket()));
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
}

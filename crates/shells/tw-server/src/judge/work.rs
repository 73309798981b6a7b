//! One specification at work on a stream: from its state, or its first line, over lines and over time to its next state.

use super::checkpoint::{Assigned, SpecState, State};
use super::states::Watched;
use super::teller::{Collected, Teller};
use super::thread::Judge;
use super::ticks::Ticks;
use super::together::PIECE;
use crate::log::Record;
use crate::words;
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tracewise::watch::{Prepared, Stepped};

/// One specification at work.
pub(super) struct Work<'w> {
    pub(super) watched: Arc<Watched>,
    /// `None` once it was stopped.
    pub(super) watch: Option<Box<dyn Stepped + 'w>>,
    /// What its parts consist of.
    pub(super) names: Vec<Vec<String>>,
    /// Lines before the first that it was to judge …
    pub(super) since: u64,
    /// … and that it judged: older ones may be gone.
    pub(super) first: u64,
}

impl Judge {
    /// A specification at work: from its state, or from its first line on.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn open<'w>(
        &self,
        own: &Assigned,
        prepared: &'w Result<Prepared, String>,
        watched: &Arc<Watched>,
        [tellers, spare]: [&'w mut [Teller]; 2],
        kept: Option<&SpecState>,
        next: u64,
        collected: &RefCell<Collected>,
    ) -> Work<'w> {
        let mut work = Work {
            watched: watched.clone(),
            watch: None,
            names: Vec::new(),
            since: own.since,
            first: own.since,
        };
        let prepared = match prepared {
            Ok(prepared) => prepared,
            Err(why) => {
                watched.stop(why.clone());
                return work;
            }
        };
        work.names = prepared.part_names();
        // A text that is another is tried anew, whatever became of the one before.
        let same = kept.is_some_and(|kept| kept.since == own.since);
        if let Some(kept) = kept {
            recall(watched, kept, same);
            if let (true, Some(why)) = (same, &kept.stopped) {
                watched.stop(why.clone());
                return work;
            }
        }
        let begin = |tellers: &'w mut [Teller]| {
            let begun = prepared.begin(tellers);
            begun.map_err(|error| watched.stop(words::error(&error))).ok()
        };
        if let Some(kept) = kept.filter(|kept| kept.stopped.is_none()) {
            let Some(mut watch) = begin(tellers) else { return work };
            collected.borrow_mut().repeats = true;
            let restored = watch.restore(&kept.watch);
            collected.borrow_mut().repeats = false;
            match restored {
                Ok(()) => {
                    work.watch = Some(watch);
                    return work;
                }
                Err(error) => (self.said)(format!(
                    "stream {}, specification {}: all begins anew after line {next}: {}",
                    self.stream,
                    own.spec.name,
                    words::error(&error)
                )),
            }
        }
        let Some(mut watch) = begin(spare) else { return work };
        work.first = next.max(own.since);
        watch.begin_after(work.first);
        work.watch = Some(watch);
        work
    }

    /// Pushes the lines of a record that are next, up to a line; says which line is the next then.
    pub(super) fn feed(&self, work: &mut [Work<'_>], record: &Record, next: u64, until: Option<u64>) -> u64 {
        let from = next.max(record.before);
        let to = until.map_or(record.after(), |until| until.min(record.after()));
        let bytes = part(record, from, to);
        for own in work {
            let Some(watch) = &mut own.watch else { continue };
            // Lines before its first are not its.
            let own_from = from.max(own.first);
            if own_from >= to {
                continue;
            }
            let bytes = if own_from == from { bytes } else { part(record, own_from, to) };
            let mut pieces = pieces(bytes);
            match pieces.try_for_each(|piece| watch.push(piece)) {
                Ok(()) => own.watched.positions.store(watch.positions(), Ordering::Relaxed),
                Err(error) => {
                    own.watched.stop(words::error(&error));
                    own.watch = None;
                }
            }
        }
        to
    }

    /// Time has passed before a line; false if what that settles could not be told.
    pub(super) fn pass(
        &self,
        work: &mut [Work<'_>],
        next: u64,
        passed: Duration,
        ticks: &Ticks,
        collected: &RefCell<Collected>,
    ) -> bool {
        collected.borrow_mut().cuts = self.cuts_before(next.saturating_sub(1));
        for own in work {
            let Some(watch) = &mut own.watch else { continue };
            if let Err(error) = watch.pass(passed) {
                own.watched.stop(words::error(&error));
                own.watch = None;
            }
        }
        if !collected.borrow().told.is_empty()
            && let Err(error) = ticks.sync()
        {
            (self.said)(format!("stream {}: its clock cannot be kept: {error}; going on", self.stream));
        }
        self.tell(collected)
    }

    /// Notes what parts hold; those that hold too much end, and so does what they were judged for.
    pub(super) fn weigh(&self, work: &mut [Work<'_>]) {
        for own in work {
            let Some(watch) = &mut own.watch else { continue };
            let parts = watch.parts().into_iter().map(|part| (part.bytes, part.stopped.map(str::to_string)));
            let parts: Vec<(usize, Option<String>)> = parts.collect();
            let mut all = 0;
            for (number, ((bytes, stopped), names)) in parts.into_iter().zip(&own.names).enumerate() {
                all += bytes as u64;
                own.watched.weigh(names, bytes as u64);
                let budget = self.memory;
                let why = stopped.or_else(|| {
                    (bytes > budget)
                        .then(|| format!("it holds {bytes} bytes, more than the {budget} that it may"))
                });
                let Some(why) = why else { continue };
                if own.watched.stop_some(names, &why) {
                    (self.said)(format!(
                        "stream {}, specification {}: {} stopped: {why}",
                        self.stream,
                        own.watched.spec,
                        names.join(", ")
                    ));
                }
                watch.stop(number, &why);
            }
            own.watched.bytes.store(all, Ordering::Relaxed);
            if own.names.len() == 1 && all > self.memory as u64 {
                own.watched.stop(format!("it holds {all} bytes, more than the {} that it may", self.memory));
                own.watch = None;
            }
        }
    }

    pub(super) fn state(&self, work: &mut [Work<'_>], next: u64, collected: &RefCell<Collected>) -> State {
        // What was told before a restart and not found again yet is not to be told again after the next.
        let known = collected.borrow().known.values().copied().min();
        let told = known.unwrap_or_else(|| self.verdicts.end());
        let specs = work.iter_mut().map(|own| SpecState {
            name: own.watched.spec.to_string(),
            since: own.since,
            watch: own.watch.as_mut().map_or(Vec::new(), |watch| watch.save()),
            stopped: own.watched.stopped(),
            left_out: own.watched.left_out.load(Ordering::Relaxed),
            properties: own.watched.properties().clone(),
        });
        State { next, told, specs: specs.collect() }
    }
}

/// What properties had come to, as far as they are the same.
fn recall(watched: &Watched, kept: &SpecState, same: bool) {
    if same {
        watched.left_out.store(kept.left_out, Ordering::Relaxed);
    }
    for own in watched.properties().iter_mut() {
        let known = kept.properties.iter().find(|kept| (&kept.name, &kept.text) == (&own.name, &own.text));
        if let Some(kept) = known {
            own.verdict = kept.verdict;
            own.violations = kept.violations;
            own.last.clone_from(&kept.last);
            own.value.clone_from(&kept.value);
            if same {
                own.stopped.clone_from(&kept.stopped);
            }
        }
    }
}

/// Lines by pieces: a watch looks for the line of each violation in what it was pushed, from its start.
fn pieces(mut bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let least = PIECE.min(bytes.len());
        let end = memchr::memchr(b'\n', &bytes[least.saturating_sub(1)..]);
        let end = end.map_or(bytes.len(), |end| least.saturating_sub(1) + end + 1);
        let (piece, rest) = bytes.split_at(end);
        bytes = rest;
        (!piece.is_empty()).then_some(piece)
    })
}

/// The lines of a record from one to another.
pub fn part(record: &Record, from: u64, to: u64) -> &[u8] {
    let place = |line: u64| match line - record.before {
        0 => 0,
        lines => memchr::memchr_iter(b'\n', &record.bytes)
            .nth(lines as usize - 1)
            .map_or(record.bytes.len(), |at| at + 1),
    };
    if (from, to) == (record.before, record.after()) {
        return &record.bytes;
    }
    &record.bytes[place(from)..place(to)]
}

#[cfg(test)]
mod tests {
    use super::{PIECE, pieces};

    #[test]
    fn pieces_are_whole_lines_and_all_of_them() {
        for (line, count) in [(1, 0), (1, 1), (100, 3000), (PIECE - 1, 3), (PIECE, 2), (3 * PIECE, 2)] {
            let text = ("x".repeat(line) + "\n").repeat(count);
            let all: Vec<&[u8]> = pieces(text.as_bytes()).collect();
            assert_eq!(all.concat(), text.as_bytes());
            assert!(all.iter().all(|piece| piece.ends_with(b"\n") && piece.len() <= PIECE + line));
        }
    }
}

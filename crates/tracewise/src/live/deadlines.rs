//! When time settles something, over all keys: the earliest deadline is found without looking at the others.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use tw_core::Time;

/// Deadlines of keys and properties. Each has one at most that counts; what it had before is skipped when it comes up.
#[derive(Clone, Debug, Default)]
pub(super) struct Deadlines {
    queue: BinaryHeap<Reverse<(Time, u32, u32)>>,
    /// The deadline that counts of each key and property that measures time.
    due: Vec<Time>,
    /// Of each property its place among those that measure time.
    places: Vec<Option<usize>>,
    width: usize,
}

const NONE: Time = Time::MAX;

impl Deadlines {
    /// For properties that measure time where `timed` says so.
    pub(super) fn new(timed: impl Iterator<Item = bool>) -> Self {
        let mut width = 0;
        let place = |timed: bool| {
            timed.then(|| {
                width += 1;
                width - 1
            })
        };
        let places = timed.map(place).collect();
        Self { places, width, ..Self::default() }
    }

    /// A key more.
    pub(super) fn open(&mut self) {
        self.due.resize(self.due.len() + self.width, NONE);
    }

    /// The deadline of a property of a key is now this one.
    pub(super) fn set(&mut self, key: u32, property: usize, deadline: Option<Time>) {
        let Some(place) = self.places[property] else { return };
        let due = &mut self.due[key as usize * self.width + place];
        let deadline = deadline.unwrap_or(NONE);
        // One that comes up too early is put right then.
        if deadline < *due {
            self.queue.push(Reverse((deadline, key, property as u32)));
            *due = deadline;
        }
    }

    /// Nothing of a key is waited for any more.
    pub(super) fn forget(&mut self, key: u32) {
        let from = key as usize * self.width;
        self.due[from..from + self.width].fill(NONE);
    }

    /// The next deadline up to `beyond`: when, of which key and property. It counts no more.
    pub(super) fn next(&mut self, beyond: Time) -> Option<(Time, u32, usize)> {
        while let Some(&Reverse((deadline, key, property))) = self.queue.peek() {
            if deadline > beyond {
                return None;
            }
            self.queue.pop();
            let Some(place) = self.places[property as usize] else { continue };
            let due = &mut self.due[key as usize * self.width + place];
            if *due == deadline {
                *due = NONE;
                return Some((deadline, key, property as usize));
            }
        }
        None
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.queue.capacity() * size_of::<Reverse<(Time, u32, u32)>>() + self.due.capacity() * 8
    }
}

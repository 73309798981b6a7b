//! What one of several traces owns.

use super::Online;
use super::foresight::Ahead;
use super::network::Network;
use super::progress::{Place, Progress};
use std::collections::VecDeque;
use tw_core::Position;
use tw_core::codec::{Corrupt, put, take, take_len};

/// The state of one trace. Whoever holds some of them, of one [`Online`], has it work on one after the other.
#[derive(Clone, Debug)]
pub struct Owned {
    network: Network,
    /// Of each root, how many positions were told, and the verdict.
    roots: Box<[(u64, Option<bool>)]>,
    /// Of all their parts.
    places: Box<[Place]>,
    /// Of the roots that have foresight.
    ahead: Box<[Ahead]>,
    last: Option<i64>,
    ended: bool,
    tidy: u64,
    /// What positions are called, where they are not counted.
    pub(super) numbers: Numbers,
}

/// The numbers of the positions about which something may still be told, and of the last one; nothing where positions are
/// counted. Eight bytes for each that is open.
#[derive(Clone, Debug, Default)]
pub(super) struct Numbers {
    /// The place of the first of them in the trace.
    base: usize,
    list: VecDeque<Position>,
    /// The number of the next position, if it is not the one after the last.
    pub next: Option<Position>,
}

impl Numbers {
    /// A position comes, after `places` others.
    pub(super) fn push(&mut self, places: usize) {
        let Some(next) = self.next.take().or_else(|| Some(self.list.back()? + 1)) else { return };
        if self.list.is_empty() {
            self.base = places;
        }
        self.list.push_back(next);
    }

    /// What the position at this place is called.
    pub(super) fn of(&self, place: Position) -> Position {
        match self.list.front() {
            None => place,
            Some(&first) => {
                let known = place.checked_sub(self.base).and_then(|at| self.list.get(at));
                known.copied().unwrap_or(first)
            }
        }
    }

    /// Nothing more is told about places before this one.
    pub(super) fn forget(&mut self, before: usize) {
        while self.list.len() > 1 && self.base < before {
            self.list.pop_front();
            self.base += 1;
        }
    }

    pub(super) fn save(&self, out: &mut Vec<u8>) {
        put(self.base as u64, out);
        put(self.list.len() as u64, out);
        self.list.iter().for_each(|&number| put(number as u64, out));
    }

    pub(super) fn load(from: &mut &[u8]) -> Result<Self, Corrupt> {
        let base = take(from)? as usize;
        let list =
            (0..take_len(from)?).map(|_| Ok(take(from)? as Position)).collect::<Result<_, Corrupt>>()?;
        Ok(Self { base, list, next: None })
    }
}

impl Online {
    /// Exchanges the trace at work for another.
    pub fn swap(&mut self, owned: &mut Owned) {
        std::mem::swap(&mut self.network, &mut owned.network);
        std::mem::swap(&mut self.last, &mut owned.last);
        std::mem::swap(&mut self.ended, &mut owned.ended);
        std::mem::swap(&mut self.tidy, &mut owned.tidy);
        std::mem::swap(&mut self.numbers, &mut owned.numbers);
        let foresights = self.roots.iter_mut().filter_map(|root| root.foresight.as_mut());
        for (foresight, ahead) in foresights.zip(&mut owned.ahead) {
            std::mem::swap(&mut foresight.ahead, ahead);
        }
        let mut places = owned.places.iter_mut();
        for (root, (told, verdict)) in self.roots.iter_mut().zip(&mut owned.roots) {
            std::mem::swap(&mut root.told, told);
            std::mem::swap(&mut root.verdict, verdict);
            root.parts.iter_mut().zip(&mut places).for_each(|(part, place)| part.swap(place));
        }
    }

    /// A copy of the trace at work, to be given back with [`Online::put`] or [`Online::forget_trace`].
    pub fn copy(&mut self) -> Owned {
        Owned {
            network: self.network.clone(),
            roots: self.roots.iter().map(|root| (root.told, root.verdict)).collect(),
            places: self.parts_mut().map(Progress::copy).collect(),
            ahead: self
                .roots
                .iter()
                .filter_map(|root| Some(root.foresight.as_ref()?.ahead.clone()))
                .collect(),
            last: self.last,
            ended: self.ended,
            tidy: self.tidy,
            numbers: self.numbers.clone(),
        }
    }

    /// Goes on with this trace in place of the one at work, which is forgotten.
    pub fn put(&mut self, mut owned: Owned) {
        self.swap(&mut owned);
        self.forget_trace(&owned);
    }

    /// A trace is no more.
    pub fn forget_trace(&mut self, owned: &Owned) {
        self.parts_mut().zip(&owned.places).for_each(|(part, place)| part.leave(place));
    }

    fn parts_mut(&mut self) -> impl Iterator<Item = &mut Progress> {
        self.roots.iter_mut().flat_map(|root| &mut root.parts)
    }
}

impl Owned {
    /// Bytes held elsewhere.
    pub fn heap_bytes(&self) -> usize {
        let peeked: usize = self.places.iter().map(Place::heap_bytes).sum();
        let open = |ahead: &Ahead| match ahead {
            Ahead::Guesses(guesses) => guesses.open.iter().map(|open| open.capacity() * 4).sum(),
            Ahead::State(_) => 0,
        };
        let guesses = size_of_val(&*self.ahead) + self.ahead.iter().map(open).sum::<usize>();
        let roots = size_of_val(&*self.roots) + size_of_val(&*self.places);
        self.network.heap_bytes() + roots + peeked + guesses + self.numbers.list.capacity() * 8
    }
}

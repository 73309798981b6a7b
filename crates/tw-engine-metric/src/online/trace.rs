//! What one of several traces owns.

use super::Online;
use super::network::Network;
use super::progress::{Place, Progress};

/// The state of one trace. Whoever holds some of them, of one [`Online`], has it work on one after the other.
#[derive(Clone, Debug)]
pub struct Owned {
    network: Network,
    /// Of each root, how many positions were told, and the verdict.
    roots: Box<[(u64, Option<bool>)]>,
    /// Of all their parts.
    places: Box<[Place]>,
    last: Option<i64>,
    ended: bool,
    tidy: u64,
}

impl Online {
    /// Exchanges the trace at work for another.
    pub fn swap(&mut self, owned: &mut Owned) {
        std::mem::swap(&mut self.network, &mut owned.network);
        std::mem::swap(&mut self.last, &mut owned.last);
        std::mem::swap(&mut self.ended, &mut owned.ended);
        std::mem::swap(&mut self.tidy, &mut owned.tidy);
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
            last: self.last,
            ended: self.ended,
            tidy: self.tidy,
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
        let roots = size_of_val(&*self.roots) + size_of_val(&*self.places);
        self.network.heap_bytes() + roots + peeked
    }
}

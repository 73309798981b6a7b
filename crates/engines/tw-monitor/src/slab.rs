//! Numbers of traces, and what each of them owns.

use crate::TraceId;

/// What traces own, by number: the numbers of closed ones are given again, so that a slab is as long as the most traces that
/// were open at once.
#[derive(Clone, Debug, Default)]
pub struct Slab<T> {
    items: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Slab<T> {
    /// Of nothing.
    pub fn new() -> Self {
        Self { items: Vec::new(), free: Vec::new() }
    }

    /// Takes what a new trace owns.
    pub fn insert(&mut self, item: T) -> TraceId {
        match self.free.pop() {
            Some(number) => {
                self.items[number as usize] = Some(item);
                TraceId(number)
            }
            None => {
                self.items.push(Some(item));
                TraceId(self.items.len() as u32 - 1)
            }
        }
    }

    /// What a trace owned, which is closed.
    pub fn remove(&mut self, trace: TraceId) -> Option<T> {
        let item = self.items.get_mut(trace.0 as usize)?.take()?;
        self.free.push(trace.0);
        Some(item)
    }

    /// Whether a trace is open.
    pub fn contains(&self, trace: TraceId) -> bool {
        self.get(trace).is_some()
    }

    /// What a trace owns.
    #[inline]
    pub fn get(&self, trace: TraceId) -> Option<&T> {
        self.items.get(trace.0 as usize)?.as_ref()
    }

    /// What a trace owns, to be changed.
    #[inline]
    pub fn get_mut(&mut self, trace: TraceId) -> Option<&mut T> {
        self.items.get_mut(trace.0 as usize)?.as_mut()
    }

    /// What all traces own.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.items.iter().flatten()
    }

    /// How many traces there is room for: one more than the largest number that was given.
    pub fn room(&self) -> usize {
        self.items.len()
    }

    /// Bytes of the slab itself, without what its items hold elsewhere.
    pub fn heap_bytes(&self) -> usize {
        self.items.capacity() * size_of::<Option<T>>() + self.free.capacity() * 4
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_used_again() {
        let mut slab = Slab::new();
        let ids: Vec<TraceId> = (0..4).map(|item| slab.insert(item)).collect();
        assert_eq!(ids, [0, 1, 2, 3].map(TraceId));
        assert_eq!(slab.remove(TraceId(1)), Some(1));
        assert_eq!(slab.remove(TraceId(1)), None);
        assert!(!slab.contains(TraceId(1)) && !slab.contains(TraceId(9)));
        assert_eq!((slab.insert(7), slab.room()), (TraceId(1), 4));
        assert_eq!(slab.iter().copied().collect::<Vec<_>>(), [0, 7, 2, 3]);
        *slab.get_mut(TraceId(0)).unwrap() = 5;
        assert_eq!(slab.get(TraceId(0)), Some(&5));
    }
}

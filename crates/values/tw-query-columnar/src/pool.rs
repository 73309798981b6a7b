//! Block-sized lists of numbers that are used again and again: giving them back to the system after each block would
//! cost more (its pages are cleared anew each time) than what is computed with them.

use std::cell::RefCell;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// Lists kept for later, per thread and kind.
const KEPT: usize = 32;

thread_local! {
    static INTS: RefCell<Vec<Vec<i64>>> = const { RefCell::new(Vec::new()) };
    static REALS: RefCell<Vec<Vec<f64>>> = const { RefCell::new(Vec::new()) };
}

/// A number that lists are kept of.
pub(crate) trait Number: Copy + Default + 'static {
    /// Calls `f` with the lists kept; not at all when the thread is ending.
    fn kept<R>(f: impl FnOnce(&mut Vec<Vec<Self>>) -> R) -> Option<R>;
}

impl Number for i64 {
    fn kept<R>(f: impl FnOnce(&mut Vec<Vec<Self>>) -> R) -> Option<R> {
        INTS.try_with(|kept| f(&mut kept.borrow_mut())).ok()
    }
}

impl Number for f64 {
    fn kept<R>(f: impl FnOnce(&mut Vec<Vec<Self>>) -> R) -> Option<R> {
        REALS.try_with(|kept| f(&mut kept.borrow_mut())).ok()
    }
}

/// Lets go of what this thread keeps.
pub(crate) fn empty() {
    i64::kept(|kept| *kept = Vec::new());
    f64::kept(|kept| *kept = Vec::new());
}

/// A list that is kept for later when it is dropped.
#[derive(Debug)]
pub(crate) struct Buffer<T: Number>(Vec<T>);

impl<T: Number> Buffer<T> {
    /// An empty list with room for `len` numbers.
    pub(crate) fn with_capacity(len: usize) -> Self {
        let mut list = T::kept(Vec::pop).flatten().unwrap_or_default();
        list.clear();
        list.reserve(len);
        Buffer(list)
    }

    /// `len` times the same number.
    pub(crate) fn repeat(number: T, len: usize) -> Self {
        let mut buffer = Self::with_capacity(len);
        buffer.0.resize(len, number);
        buffer
    }

    /// `len` zeros.
    pub(crate) fn zeros(len: usize) -> Self {
        Self::repeat(T::default(), len)
    }

    pub(crate) fn collect(numbers: impl ExactSizeIterator<Item = T>) -> Self {
        let mut buffer = Self::with_capacity(numbers.len());
        buffer.0.extend(numbers);
        buffer
    }
}

impl<T: Number> Drop for Buffer<T> {
    fn drop(&mut self) {
        let list = std::mem::take(&mut self.0);
        T::kept(|kept| {
            if kept.len() < KEPT {
                kept.push(list);
            }
        });
    }
}

impl<T: Number> Deref for Buffer<T> {
    type Target = Vec<T>;
    fn deref(&self) -> &Vec<T> {
        &self.0
    }
}

impl<T: Number> DerefMut for Buffer<T> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        &mut self.0
    }
}

/// Numbers of the trace or computed ones. Copies share them.
#[derive(Clone, Debug)]
pub(crate) enum Numbers<'t, T: Number> {
    Given(&'t [T]),
    Computed(Arc<Buffer<T>>),
}

impl<T: Number> Deref for Numbers<'_, T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        match self {
            Numbers::Given(numbers) => numbers,
            Numbers::Computed(numbers) => numbers,
        }
    }
}

impl<T: Number> From<Buffer<T>> for Numbers<'_, T> {
    fn from(buffer: Buffer<T>) -> Self {
        Numbers::Computed(Arc::new(buffer))
    }
}

//! Texts and their numbers, in little memory: keys are many and never forgotten.

use std::hash::{BuildHasher, RandomState};

/// Texts, numbered in the order in which they came.
#[derive(Clone, Debug, Default)]
pub(super) struct Keys {
    text: String,
    /// Where each text ends.
    ends: Vec<usize>,
    /// Numbers, at the place of their hash or soon after it; its length is a power of two.
    table: Vec<u32>,
    /// With a seed of its own: keys come from outside, and might be chosen to collide.
    hasher: RandomState,
}

const FREE: u32 = u32::MAX;

impl Keys {
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn text(&self, number: usize) -> &str {
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        &self.text[start..self.ends[number]]
    }

    /// The number of a text, which is new if it has not been seen.
    pub(super) fn number(&mut self, text: &str) -> u32 {
        if 4 * (self.len() + 1) > 3 * self.table.len() {
            self.grow();
        }
        let place = self.place(text);
        if self.table[place] == FREE {
            self.table[place] = self.len() as u32;
            self.text.push_str(text);
            self.ends.push(self.text.len());
        }
        self.table[place]
    }

    /// The number of a text, if it has been seen.
    pub(super) fn find(&self, text: &str) -> Option<u32> {
        if self.table.is_empty() {
            return None;
        }
        Some(self.table[self.place(text)]).filter(|number| *number != FREE)
    }

    /// Where a text is in the table, or would be.
    fn place(&self, text: &str) -> usize {
        let mask = self.table.len() - 1;
        let mut place = self.hasher.hash_one(text) as usize & mask;
        while self.table[place] != FREE && self.text(self.table[place] as usize) != text {
            place = (place + 1) & mask;
        }
        place
    }

    fn grow(&mut self) {
        self.table = vec![FREE; (2 * self.table.len()).max(16)];
        for number in 0..self.len() {
            let place = self.place(self.text(number));
            self.table[place] = number as u32;
        }
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.text.capacity() + self.ends.capacity() * 8 + self.table.capacity() * 4
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_keep_their_numbers() {
        let mut keys = Keys::default();
        let name = |number: usize| format!("key {}", number * 7919 % 5000);
        let numbers: Vec<u32> = (0..5000).map(|number| keys.number(&name(number))).collect();
        assert_eq!(numbers, (0..5000).collect::<Vec<u32>>());
        for number in (0..5000).rev() {
            assert_eq!(keys.number(&name(number)), number as u32);
            assert_eq!(keys.text(number), name(number));
        }
        assert_eq!(keys.number(""), 5000);
        assert_eq!((keys.text(5000), keys.len()), ("", 5001));
    }
}

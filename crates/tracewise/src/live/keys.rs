//! Texts and their numbers, in little memory: keys are many. Those that are forgotten leave their numbers to others.

use std::hash::{BuildHasher, RandomState};

/// Texts, numbered in the order in which they came as long as none is forgotten.
#[derive(Clone, Debug, Default)]
pub(super) struct Keys {
    /// Each text behind its length.
    text: Vec<u8>,
    /// Where each begins.
    starts: Vec<usize>,
    /// Numbers, at the place of their hash or soon after it; its length is a power of two.
    table: Vec<u32>,
    /// Numbers that nobody has, the next to be given last.
    free: Vec<u32>,
    /// Bytes of texts that were forgotten.
    dead: usize,
    /// With a seed of its own: keys come from outside, and might be chosen to collide.
    hasher: RandomState,
}

const FREE: u32 = u32::MAX;
const NOWHERE: usize = usize::MAX;

impl Keys {
    /// How many texts there are.
    pub(super) fn len(&self) -> usize {
        self.starts.len() - self.free.len()
    }

    /// All numbers are below this one.
    pub(super) fn bound(&self) -> usize {
        self.starts.len()
    }

    /// Whether somebody has this number.
    pub(super) fn is_taken(&self, number: usize) -> bool {
        self.starts.get(number).is_some_and(|&start| start != NOWHERE)
    }

    /// The numbers that nobody has, in the order in which they are given, last first.
    pub(super) fn free(&self) -> &[u32] {
        &self.free
    }

    fn bytes(&self, number: usize) -> &[u8] {
        let start = self.starts[number];
        if start == NOWHERE {
            return &[];
        }
        let (mut length, mut shift, mut at) = (0usize, 0, start);
        loop {
            let byte = self.text[at];
            length |= usize::from(byte & 0x7f) << shift;
            (shift, at) = (shift + 7, at + 1);
            if byte < 0x80 {
                return &self.text[at..at + length];
            }
        }
    }

    pub(super) fn text(&self, number: usize) -> &str {
        // Only texts are put in.
        std::str::from_utf8(self.bytes(number)).unwrap_or_default()
    }

    fn write(&mut self, number: usize, text: &[u8]) {
        self.starts[number] = self.text.len();
        let mut length = text.len();
        while length >= 0x80 {
            self.text.push(length as u8 | 0x80);
            length >>= 7;
        }
        self.text.push(length as u8);
        self.text.extend_from_slice(text);
    }

    /// The number of a text, which is new if it has not been seen.
    pub(super) fn number(&mut self, text: &str) -> u32 {
        if 4 * (self.len() + 1) > 3 * self.table.len() {
            self.rehash((2 * self.table.len()).max(16));
        }
        let place = self.place(text.as_bytes());
        if self.table[place] == FREE {
            let number = self.free.pop().unwrap_or_else(|| {
                self.starts.push(NOWHERE);
                (self.starts.len() - 1) as u32
            });
            self.table[place] = number;
            self.write(number as usize, text.as_bytes());
        }
        self.table[place]
    }

    /// The number of a text, if it has been seen.
    pub(super) fn find(&self, text: &str) -> Option<u32> {
        if self.table.is_empty() {
            return None;
        }
        Some(self.table[self.place(text.as_bytes())]).filter(|number| *number != FREE)
    }

    /// Forgets the text of a number.
    pub(super) fn forget(&mut self, number: u32) {
        if !self.is_taken(number as usize) {
            return;
        }
        let mask = self.table.len() - 1;
        let mut hole = self.place(self.bytes(number as usize));
        self.table[hole] = FREE;
        // What was put further on because of it moves up.
        let mut next = (hole + 1) & mask;
        while self.table[next] != FREE {
            let home = self.hasher.hash_one(self.bytes(self.table[next] as usize)) as usize & mask;
            if next.wrapping_sub(home) & mask >= next.wrapping_sub(hole) & mask {
                self.table.swap(hole, next);
                hole = next;
            }
            next = (next + 1) & mask;
        }
        self.dead += self.bytes(number as usize).len() + 1;
        self.starts[number as usize] = NOWHERE;
        self.free.push(number);
        if self.dead > 4096 && 2 * self.dead > self.text.len() {
            self.compact();
        }
    }

    /// Gives the memory of forgotten texts back; a number keeps its twelve bytes for the next text.
    fn compact(&mut self) {
        let old = std::mem::take(&mut self.text);
        let before = Keys { text: old, starts: self.starts.clone(), ..Keys::default() };
        for number in (0..self.starts.len()).filter(|&number| before.is_taken(number)) {
            self.write(number, before.bytes(number));
        }
        self.text.shrink_to_fit();
        self.dead = 0;
        let wanted = (4 * (self.len() + 1) / 3 + 1).next_power_of_two().max(16);
        if 4 * wanted <= self.table.len() {
            self.rehash(2 * wanted);
        }
    }

    /// As it was saved: the texts of all numbers, and those that nobody has.
    pub(super) fn put_free(&mut self, free: Vec<u32>) {
        free.into_iter().for_each(|number| self.forget(number));
    }

    /// Where a text is in the table, or would be.
    fn place(&self, text: &[u8]) -> usize {
        let mask = self.table.len() - 1;
        let mut place = self.hasher.hash_one(text) as usize & mask;
        while self.table[place] != FREE && self.bytes(self.table[place] as usize) != text {
            place = (place + 1) & mask;
        }
        place
    }

    fn rehash(&mut self, size: usize) {
        self.table = vec![FREE; size];
        for number in (0..self.starts.len()).filter(|&number| self.starts[number] != NOWHERE) {
            let place = self.place(self.bytes(number));
            self.table[place] = number as u32;
        }
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.text.capacity() + self.starts.capacity() * 8 + (self.table.capacity() + self.free.capacity()) * 4
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

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

    /// Against a map, with texts of all lengths that come and go.
    #[test]
    fn what_is_forgotten_is_gone() {
        let mut keys = Keys::default();
        let mut known: HashMap<String, u32> = HashMap::new();
        let mut seed = 7u64;
        for step in 0..200_000u64 {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let text = format!("{:0width$}", seed >> 40 & 0x3ff, width = (seed >> 52 & 0xff) as usize);
            match known.remove(&text) {
                Some(number) if seed >> 60 > 4 => {
                    keys.forget(number);
                    assert!(!keys.is_taken(number as usize));
                }
                Some(number) => {
                    assert_eq!(keys.number(&text), number, "step {step}");
                    known.insert(text, number);
                }
                None => {
                    let number = keys.number(&text);
                    assert!(step > 2000 || known.values().all(|&other| other != number));
                    known.insert(text, number);
                }
            }
            assert_eq!(keys.len(), known.len());
        }
        for (text, &number) in &known {
            assert_eq!(keys.number(text), number);
            assert_eq!(keys.text(number as usize), text);
        }
        known.values().for_each(|&number| keys.forget(number));
        assert_eq!(keys.len(), 0);
        assert!(keys.heap_bytes() < 24 * keys.bound() + 1000, "{}", keys.heap_bytes());
    }
}

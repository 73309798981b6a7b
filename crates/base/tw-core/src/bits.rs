//! One truth value per position, 64 positions per machine word.

/// A growable bit vector. Bits past `len` in the last word are always zero, so that
/// words can be compared, counted and combined without masking at each use.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Bits {
    words: Vec<u64>,
    len: usize,
}

impl Bits {
    /// No bits.
    pub fn new() -> Self {
        Self::default()
    }

    /// No bits yet, room for `len`.
    pub fn with_capacity(len: usize) -> Self {
        Self { words: Vec::with_capacity(len.div_ceil(64)), len: 0 }
    }

    /// `len` bits, all `value`.
    pub fn repeat(value: bool, len: usize) -> Self {
        let mut bits = Self { words: vec![if value { u64::MAX } else { 0 }; len.div_ceil(64)], len };
        bits.clear_tail();
        bits
    }

    /// Takes words as they are; bits past `len` are cleared and missing words are zero.
    pub fn from_words(mut words: Vec<u64>, len: usize) -> Self {
        words.resize(len.div_ceil(64), 0);
        let mut bits = Self { words, len };
        bits.clear_tail();
        bits
    }

    fn clear_tail(&mut self) {
        if !self.len.is_multiple_of(64)
            && let Some(last) = self.words.last_mut()
        {
            *last &= (1 << (self.len % 64)) - 1;
        }
    }

    /// Number of bits.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no bits.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The words, lowest position in the lowest bit of the first word.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Mutable words. The caller keeps bits past `len` zero.
    pub fn words_mut(&mut self) -> &mut [u64] {
        &mut self.words
    }

    /// The bit at `index`, which must be below `len`.
    pub fn get(&self, index: usize) -> bool {
        assert!(index < self.len, "bit {index} of {}", self.len);
        self.words[index / 64] >> (index % 64) & 1 == 1
    }

    /// Sets the bit at `index`, which must be below `len`.
    pub fn set(&mut self, index: usize, value: bool) {
        assert!(index < self.len, "bit {index} of {}", self.len);
        let mask = 1u64 << (index % 64);
        if value {
            self.words[index / 64] |= mask;
        } else {
            self.words[index / 64] &= !mask;
        }
    }

    /// Appends one bit.
    pub fn push(&mut self, value: bool) {
        self.push_word(value as u64, 1);
    }

    /// Appends the `count` (at most 64) lowest bits of `word`.
    #[inline]
    pub fn push_word(&mut self, word: u64, count: usize) {
        debug_assert!(count <= 64);
        if count == 0 {
            return;
        }
        let word = if count == 64 { word } else { word & ((1 << count) - 1) };
        let offset = self.len % 64;
        if offset == 0 {
            self.words.push(word);
        } else {
            *self.words.last_mut().expect("a partial word exists when len % 64 != 0") |= word << offset;
            if offset + count > 64 {
                self.words.push(word >> (64 - offset));
            }
        }
        self.len += count;
    }

    /// Appends `count` copies of `value`.
    pub fn push_repeat(&mut self, value: bool, count: usize) {
        let word = if value { u64::MAX } else { 0 };
        let head = (64 - self.len % 64) % 64;
        let head = head.min(count);
        self.push_word(word, head);
        let whole = (count - head) / 64;
        self.words.extend(std::iter::repeat_n(word, whole));
        self.len += whole * 64;
        self.push_word(word, (count - head) % 64);
    }

    /// Appends all bits of `other`.
    pub fn append(&mut self, other: &Bits) {
        let offset = self.len % 64;
        if offset == 0 {
            self.words.extend_from_slice(&other.words);
            self.len += other.len;
            return;
        }
        self.words.reserve(other.words.len());
        let mut carry = self.words.pop().unwrap_or(0);
        for &word in &other.words {
            self.words.push(carry | word << offset);
            carry = word >> (64 - offset);
        }
        self.len += other.len;
        if self.words.len() < self.len.div_ceil(64) {
            self.words.push(carry);
        }
    }

    /// How many bits are set.
    pub fn count_ones(&self) -> usize {
        self.words.iter().map(|w| w.count_ones() as usize).sum()
    }

    /// Positions of the set bits, ascending.
    pub fn iter_ones(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().flat_map(|(i, &word)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                (rest != 0).then(|| {
                    let bit = rest.trailing_zeros() as usize;
                    rest &= rest - 1;
                    i * 64 + bit
                })
            })
        })
    }

    /// First position at or after `from` whose bit equals `value`.
    pub fn find(&self, value: bool, from: usize) -> Option<usize> {
        if from >= self.len {
            return None;
        }
        let flip = if value { 0 } else { u64::MAX };
        let mut index = from / 64;
        let mut word = (self.words[index] ^ flip) & (u64::MAX << (from % 64));
        loop {
            if word != 0 {
                let at = index * 64 + word.trailing_zeros() as usize;
                return (at < self.len).then_some(at);
            }
            index += 1;
            word = *self.words.get(index)? ^ flip;
        }
    }

    /// Last position at or before `from` whose bit equals `value`.
    pub fn rfind(&self, value: bool, from: usize) -> Option<usize> {
        let from = from.min(self.len.checked_sub(1)?);
        let flip = if value { 0 } else { u64::MAX };
        let mut index = from / 64;
        let mut word = (self.words[index] ^ flip) & (u64::MAX >> (63 - from % 64));
        loop {
            if word != 0 {
                return Some(index * 64 + 63 - word.leading_zeros() as usize);
            }
            index = index.checked_sub(1)?;
            word = self.words[index] ^ flip;
        }
    }

    /// Bytes held on the heap.
    pub fn heap_bytes(&self) -> usize {
        self.words.capacity() * 8
    }
}

impl FromIterator<bool> for Bits {
    fn from_iter<I: IntoIterator<Item = bool>>(iter: I) -> Self {
        let mut bits = Bits::new();
        for value in iter {
            bits.push(value);
        }
        bits
    }
}

impl std::fmt::Debug for Bits {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Bits[{}](", self.len)?;
        for i in 0..self.len.min(256) {
            write!(f, "{}", self.get(i) as u8)?;
        }
        write!(f, "{})", if self.len > 256 { "…" } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A deterministic mix of lengths around word boundaries.
    fn sample(len: usize, seed: u64) -> Vec<bool> {
        (0..len as u64).map(|i| (i * 2654435761 + seed).count_ones() % 2 == 1).collect()
    }

    #[test]
    fn append_equals_pushing_each() {
        for a in [0, 1, 63, 64, 65, 127, 128, 129] {
            for b in [0, 1, 2, 63, 64, 65, 128, 200] {
                let (x, y) = (sample(a, 1), sample(b, 7));
                let mut bits: Bits = x.iter().copied().collect();
                bits.append(&y.iter().copied().collect());
                let expected: Bits = x.iter().chain(&y).copied().collect();
                assert_eq!(bits, expected, "{a} then {b}");
            }
        }
    }

    #[test]
    fn repeat_and_find() {
        for len in [1, 64, 65, 130] {
            let mut bits = Bits::new();
            bits.push_repeat(true, 3);
            bits.push_repeat(false, len);
            bits.push(true);
            assert_eq!(bits.count_ones(), 4);
            assert_eq!(bits.find(false, 0), Some(3));
            assert_eq!(bits.find(true, 3), Some(3 + len));
            assert_eq!(bits.rfind(true, 2 + len), Some(2));
            assert_eq!(bits.rfind(false, 2), None);
            assert_eq!(bits.find(false, 3 + len), None);
        }
        assert_eq!(Bits::repeat(true, 65).words(), &[u64::MAX, 1]);
    }
}

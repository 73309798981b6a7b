//! Columns of one segment as words: read negated or delayed, searched, filled, turned around, and the untimed chain.
//!
//! Kernels see one segment at a time, its first position in the lowest bit of the first word. They only carry
//! information upwards, so bits past the end of the operands may be anything: the caller clears those of the result.

/// A column, perhaps negated. Bits past `len` are not looked at by searches.
#[derive(Clone, Copy)]
pub(crate) struct Words<'a> {
    pub(crate) words: &'a [u64],
    /// All ones to read it negated.
    pub(crate) flip: u64,
    /// Positions.
    pub(crate) len: usize,
}

impl<'a> Words<'a> {
    pub(crate) fn new(words: &'a [u64], negated: bool, len: usize) -> Self {
        debug_assert!(words.len() == len.div_ceil(64));
        Words { words, flip: flip(negated), len }
    }

    pub(crate) fn negated(self) -> Self {
        Words { flip: !self.flip, ..self }
    }

    /// The word at `index`; zero before the first (wrapped around) and after the last.
    #[inline(always)]
    pub(crate) fn get(&self, index: usize) -> u64 {
        match self.words.get(index) {
            Some(word) => word ^ self.flip,
            None => 0,
        }
    }

    /// The word at `index` of the column moved up by `delay` positions.
    #[inline(always)]
    pub(crate) fn delayed(&self, index: usize, delay: usize) -> u64 {
        let (at, offset) = (index.wrapping_sub(delay / 64), delay % 64);
        if offset == 0 {
            return self.get(at);
        }
        self.get(at) << offset | self.get(at.wrapping_sub(1)) >> (64 - offset)
    }

    /// The 64 positions from `from` on; past the end they may be anything.
    #[inline(always)]
    pub(crate) fn ahead(&self, from: usize) -> u64 {
        let (index, offset) = (from / 64, from % 64);
        // Shifted twice, since a shift by 64 is none.
        self.get(index) >> offset | self.get(index + 1) << 1 << (63 - offset)
    }

    /// The first set position from `from` on, or `len`.
    #[inline]
    pub(crate) fn find(&self, from: usize) -> usize {
        if from >= self.len {
            return self.len;
        }
        let mut index = from / 64;
        let mut word = self.get(index) & (u64::MAX << (from % 64));
        while word == 0 {
            index += 1;
            if index == self.words.len() {
                return self.len;
            }
            word = self.words[index] ^ self.flip;
        }
        (index * 64 + word.trailing_zeros() as usize).min(self.len)
    }
}

/// All ones if negated.
#[inline(always)]
pub(crate) fn flip(negated: bool) -> u64 {
    if negated { u64::MAX } else { 0 }
}

/// Clears what stands past `len`.
pub(crate) fn clear_tail(words: &mut [u64], len: usize) {
    if !len.is_multiple_of(64)
        && let Some(last) = words.last_mut()
    {
        *last &= u64::MAX >> (64 - len % 64);
    }
}

/// Sets the positions of `from..to`.
#[inline]
pub(crate) fn fill(words: &mut [u64], from: usize, to: usize) {
    if from >= to {
        return;
    }
    let (first, last) = (from / 64, (to - 1) / 64);
    let (low, high) = (u64::MAX << (from % 64), u64::MAX >> (63 - (to - 1) % 64));
    if first == last {
        words[first] |= low & high;
        return;
    }
    words[first] |= low;
    words[first + 1..last].fill(u64::MAX);
    words[last] |= high;
}

/// Clears the positions of `from..to`.
#[inline]
pub(crate) fn clear(words: &mut [u64], from: usize, to: usize) {
    if from >= to {
        return;
    }
    let (first, last) = (from / 64, (to - 1) / 64);
    let (low, high) = (u64::MAX << (from % 64), u64::MAX >> (63 - (to - 1) % 64));
    if first == last {
        words[first] &= !(low & high);
        return;
    }
    words[first] &= !low;
    words[first + 1..last].fill(0);
    words[last] &= !high;
}

/// One word of `r = now | hold & (r one position lower)`: adding `now` to `hold | now` lets a carry run through the
/// positions that hold.
#[inline(always)]
pub(crate) fn link(hold: u64, now: u64, carry: &mut bool) -> u64 {
    let either = hold | now;
    let (sum, over) = either.overflowing_add(now);
    let (sum, over_by_carry) = sum.overflowing_add(u64::from(*carry));
    *carry = over | over_by_carry;
    now | (hold & (sum ^ either ^ now))
}

/// `hold S now` without an interval.
pub(crate) fn chain_up(out: &mut [u64], hold: Words<'_>, now: Words<'_>) {
    let mut carry = false;
    for ((out, hold_word), now_word) in out.iter_mut().zip(hold.words).zip(now.words) {
        *out = link(hold_word ^ hold.flip, now_word ^ now.flip, &mut carry);
    }
}

/// `hold S now` cut at the starts of segments, or (`back`) `hold U now` cut at their ends: `edges` marks them. Without
/// `hold` everything holds.
pub(crate) fn chain(
    out: &mut [u64],
    hold: Option<Words<'_>>,
    now: Words<'_>,
    edges: Option<&[u64]>,
    back: bool,
) {
    let hold =
        |index: usize| hold.map_or(u64::MAX, |hold| hold.get(index)) & !edges.map_or(0, |edges| edges[index]);
    let mut carry = false;
    if !back {
        for (index, out) in out.iter_mut().enumerate() {
            *out = link(hold(index), now.get(index), &mut carry);
        }
        return;
    }
    let last = out.len() - 1;
    for (index, out) in out.iter_mut().enumerate().rev() {
        let mut word = now.get(index);
        if index == last {
            // Here the end of the words is where information comes from.
            clear_tail(std::slice::from_mut(&mut word), now.len);
        }
        *out = link(hold(index).reverse_bits(), word.reverse_bits(), &mut carry).reverse_bits();
    }
}

/// The positions `start..end` of a column, from the first on or (`back`) from the last back. Past them come zeros.
pub(crate) fn cut(out: &mut Vec<u64>, column: &[u64], start: usize, end: usize, back: bool) {
    let at = |from: usize| {
        let (index, offset) = (from / 64, from % 64);
        let low = column[index] >> offset;
        if offset == 0 { low } else { low | column.get(index + 1).copied().unwrap_or(0) << (64 - offset) }
    };
    out.clear();
    let (mut left, mut from) = (end - start, start);
    while left > 0 {
        let count = left.min(64);
        let mask = u64::MAX >> (64 - count);
        if back {
            // The `count` positions below `start + left`, last one first.
            out.push((at(start + left - count) & mask).reverse_bits() >> (64 - count));
        } else {
            out.push(at(from) & mask);
            from += count;
        }
        left -= count;
    }
}

/// Puts what was computed on a [`cut`] back where it was cut out; `column` is zero there.
pub(crate) fn paste(column: &mut [u64], piece: &[u64], start: usize, end: usize, back: bool) {
    let (mut left, mut from) = (end - start, start);
    for &word in piece {
        let count = left.min(64);
        let mask = u64::MAX >> (64 - count);
        let (to, word) = match back {
            true => (start + left - count, (word & mask).reverse_bits() >> (64 - count)),
            false => (from, word & mask),
        };
        let (index, offset) = (to / 64, to % 64);
        column[index] |= word << offset;
        if offset + count > 64 {
            column[index + 1] |= word >> (64 - offset);
        }
        from += count;
        left -= count;
    }
}

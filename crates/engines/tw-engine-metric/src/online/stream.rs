//! What is known of each position: truth values and timestamps, forgotten from the front.

use tw_core::codec::{Corrupt, put, put_signed, take, take_part, take_signed};

/// The settled truth of the positions up to `end`, the older of which are forgotten.
#[derive(Clone, Debug, Default)]
pub(super) struct Stream {
    /// Positions before are forgotten; a multiple of 64.
    base: u64,
    words: Vec<u64>,
    end: u64,
}

impl Stream {
    /// The first position that is not settled.
    #[inline]
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// Positions before are forgotten.
    pub(super) fn base(&self) -> u64 {
        self.base
    }

    /// The truth at a position that is settled and not forgotten.
    #[inline]
    pub(super) fn get(&self, at: u64) -> bool {
        debug_assert!(self.base <= at && at < self.end);
        self.words[((at - self.base) >> 6) as usize] >> (at & 63) & 1 == 1
    }

    /// Settles the next position.
    #[inline]
    pub(super) fn push(&mut self, value: bool) {
        if self.end & 63 == 0 {
            self.words.push(u64::from(value));
        } else if let Some(last) = self.words.last_mut() {
            *last |= u64::from(value) << (self.end & 63);
        }
        self.end += 1;
    }

    /// Settles the next positions up to `to`, all alike.
    #[inline]
    pub(super) fn fill(&mut self, value: bool, to: u64) {
        while self.end < to {
            if self.end & 63 != 0 || to - self.end < 64 {
                self.push(value);
            } else {
                self.words.push(if value { u64::MAX } else { 0 });
                self.end += 64;
            }
        }
    }

    /// Forgets positions before `at`, soon.
    pub(super) fn forget(&mut self, at: u64) {
        let words = (at.min(self.end).saturating_sub(self.base) >> 6) as usize;
        // Half of what is held at least, so that each word is moved once on average.
        if words > 0 && 2 * words >= self.words.len() {
            self.words.drain(..words);
            self.base += 64 * words as u64;
        }
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.words.capacity() * 8
    }

    pub(super) fn save(&self, out: &mut Vec<u8>) {
        put(self.base, out);
        put(self.end, out);
        for &word in &self.words {
            out.extend(word.to_le_bytes());
        }
    }

    /// What [`Stream::save`] wrote when `read` positions had been read.
    pub(super) fn load(read: u64, from: &mut &[u8]) -> Result<Self, Corrupt> {
        let (base, end) = (take(from)?, take(from)?);
        if base % 64 != 0 || base > end || end > read {
            return Err(Corrupt("the saved state settles positions that were not read".into()));
        }
        let count = (end - base).div_ceil(64) as usize;
        let bytes = take_part(count.saturating_mul(8), from)?;
        let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
        let mut words: Vec<u64> = bytes.chunks(8).map(word).collect();
        if let Some(last) = words.last_mut()
            && end & 63 != 0
        {
            *last &= (1 << (end & 63)) - 1;
        }
        Ok(Self { base, words, end })
    }
}

/// When positions were; without timestamps, their numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct Times {
    /// Positions before are forgotten.
    base: u64,
    /// `None` counts positions.
    stamps: Option<Vec<i64>>,
}

impl Times {
    pub(super) fn new(stamped: bool) -> Self {
        Self { base: 0, stamps: stamped.then(Vec::new) }
    }

    /// Positions before are forgotten; none without timestamps.
    pub(super) fn base(&self) -> u64 {
        self.base
    }

    /// Whether there are timestamps.
    pub(super) fn stamped(&self) -> bool {
        self.stamps.is_some()
    }

    #[inline]
    pub(super) fn at(&self, position: u64) -> i64 {
        match &self.stamps {
            Some(stamps) => stamps[(position - self.base) as usize],
            None => position as i64,
        }
    }

    pub(super) fn push(&mut self, time: i64) {
        if let Some(stamps) = &mut self.stamps {
            stamps.push(time);
        }
    }

    /// Forgets positions before `at`, soon.
    pub(super) fn forget(&mut self, at: u64) {
        if let Some(stamps) = &mut self.stamps {
            let count = (at.saturating_sub(self.base) as usize).min(stamps.len());
            if 2 * count >= stamps.len() {
                stamps.drain(..count);
                self.base += count as u64;
            }
        }
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.stamps.as_ref().map_or(0, |stamps| stamps.capacity() * 8)
    }

    pub(super) fn save(&self, out: &mut Vec<u8>) {
        if let Some(stamps) = &self.stamps {
            put(self.base, out);
            let mut before = 0i64;
            for &stamp in stamps {
                put_signed(stamp.wrapping_sub(before), out);
                before = stamp;
            }
        }
    }

    /// What [`Times::save`] wrote when `read` positions had been read.
    pub(super) fn load(stamped: bool, read: u64, from: &mut &[u8]) -> Result<Self, Corrupt> {
        let mut times = Times::new(stamped);
        if let Some(stamps) = &mut times.stamps {
            times.base = take(from)?;
            if times.base > read {
                return Err(Corrupt("the saved state has times of positions that were not read".into()));
            }
            let mut before = 0i64;
            for at in times.base..read {
                let stamp = before.wrapping_add(take_signed(from)?);
                if at > times.base && stamp < before {
                    return Err(Corrupt("the saved times go back".into()));
                }
                stamps.push(stamp);
                before = stamp;
            }
        }
        Ok(times)
    }
}

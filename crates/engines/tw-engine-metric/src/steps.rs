//! Operators whose bounds count positions: 64 positions per word, nothing depends on the bounds or on the data.
//!
//! `O[a,b] p` is a window of b − a + 1 positions that trails by a. A window of at most 64 positions is doubled up
//! within two words. A longer one consists of the end of its first word, whole words, and the beginning of its last
//! one: the two ends are smears of one word, and of the whole words only the last that is not empty matters.
//!
//! `p S[a,b] q` = `p S[a,inf) q & O[a,b] q` (the nearer of two witnesses serves for both), and `p S[a,inf) q` says
//! that `p S q` held a positions ago and p at every position since.

use crate::words::{Words, chain_up, fill};

/// `O[delay, delay+size-1]` of a column, word by word, ascending.
pub(crate) struct Window<'a> {
    of: Words<'a>,
    delay: usize,
    /// Whole words and bits between the first and the last position of the window.
    whole: usize,
    rest: usize,
    /// The delayed word before.
    before: u64,
    /// Smear of the word in which the window began for the word before.
    began: u64,
    /// Up to which word the last delayed word that is not empty lies in the window as a whole; -1 if there was none.
    until: isize,
}

/// Every bit at or above the lowest set one.
#[inline(always)]
fn smear_up(word: u64) -> u64 {
    word | word.wrapping_neg()
}

/// Every bit at or below the highest set one.
#[inline(always)]
fn smear_down(word: u64) -> u64 {
    u64::MAX.checked_shr(word.leading_zeros()).unwrap_or(0)
}

/// Every bit at most `reach` (below 64) above a set one; `before` is the word below.
#[inline(always)]
fn dilate(word: u64, before: u64, reach: usize) -> u64 {
    let (mut word, mut before, mut done, mut step) = (word, before, 0, 1);
    while done < reach {
        let by = step.min(reach - done);
        word |= word << by | before >> (64 - by);
        before |= before << by;
        done += by;
        step *= 2;
    }
    word
}

impl<'a> Window<'a> {
    /// `size` is at least 1.
    pub(crate) fn new(of: Words<'a>, delay: usize, size: usize) -> Self {
        let reach = size - 1;
        Window { of, delay, whole: reach / 64, rest: reach % 64, before: 0, began: 0, until: -1 }
    }

    /// The word at `index`. Called for 0, 1, 2, …
    #[inline(always)]
    pub(crate) fn word(&mut self, index: usize) -> u64 {
        let word = self.of.delayed(index, self.delay);
        if self.whole == 0 {
            let window = dilate(word, self.before, self.rest);
            self.before = word;
            return window;
        }
        let begins = smear_down(self.of.delayed(index, self.delay + self.whole * 64));
        let mut window = smear_up(word) | begins << self.rest;
        if self.rest > 0 {
            window |= self.began >> (64 - self.rest);
        }
        let index = index as isize;
        if self.until > index {
            window = u64::MAX;
        } else if self.until == index {
            window |= (1 << self.rest) - 1;
        }
        self.began = begins;
        if word != 0 {
            self.until = index + self.whole as isize;
        }
        window
    }
}

/// `hold S[low,high] goal` counted in positions; without `hold` it is `O`. `scratch` is overwritten.
pub(crate) fn since(
    out: &mut [u64],
    hold: Option<Words<'_>>,
    goal: Words<'_>,
    (low, high): (usize, usize),
    scratch: &mut Vec<u64>,
) {
    let len = goal.len;
    if low > high || low >= len {
        out.fill(0);
        return;
    }
    // A window that reaches the start from everywhere is unbounded.
    let mut near = (high < len - 1).then(|| Window::new(goal, low, high - low + 1));
    let Some(hold) = hold else {
        match &mut near {
            Some(near) => {
                for (index, out) in out.iter_mut().enumerate() {
                    *out = near.word(index);
                }
            }
            None => {
                out.fill(0);
                fill(out, goal.find(0).saturating_add(low).min(len), len);
            }
        }
        return;
    };
    if low == 0 {
        chain_up(out, hold, goal);
        if let Some(near) = &mut near {
            for (index, out) in out.iter_mut().enumerate() {
                *out &= near.word(index);
            }
        }
        return;
    }
    scratch.resize(out.len(), 0);
    chain_up(scratch, hold, goal);
    let chained = Words::new(scratch, false, len);
    let mut failed = Window::new(hold.negated(), 0, low);
    for (index, out) in out.iter_mut().enumerate() {
        *out = chained.delayed(index, low) & !failed.word(index);
    }
    if let Some(near) = &mut near {
        for (index, out) in out.iter_mut().enumerate() {
            *out &= near.word(index);
        }
    }
}

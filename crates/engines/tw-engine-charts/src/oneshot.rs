//! Reading `ltl`: each event once in the whole trace, in its order, and no main event before the whole prechart.
//!
//! That is what the translation to linear temporal logic says. What has happened is a cut of each basic chart; an event that
//! comes again or too early breaks its chart for good.

use crate::shape::{NECESSARY, Out, SUFFICIENT, Shape};
use tw_core::codec::{Corrupt, put, put_word, take, take_word};

/// Where a trace is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OneShot {
    /// What has happened, of the prechart and of the main chart.
    cuts: [u64; 2],
    /// Whether their order or their number is broken.
    broken: [bool; 2],
    /// Whether a main event came before the whole prechart.
    early: bool,
}

impl OneShot {
    /// Takes an event. Whatever it breaks, another may make the question pointless: only the end decides.
    #[inline]
    pub fn step(&mut self, shape: &Shape, letter: usize) {
        if self.settled() == NECESSARY | SUFFICIENT {
            return;
        }
        let (main, event) = shape.side(letter);
        let side = usize::from(main);
        let cut = self.cuts[side];
        self.broken[side] |= cut >> event & 1 == 1 || shape.before[letter] & !cut != 0;
        self.early |= main && self.cuts[0] != shape.full(false);
        self.cuts[side] = cut | 1 << event;
    }

    /// What the end makes of it: a violation is a bit.
    pub fn end(&self, shape: &Shape) -> Out {
        let happened = |side: usize| !self.broken[side] && self.cuts[side] == shape.full(side == 1);
        match (happened(0) && !self.early, happened(1)) {
            (true, false) => NECESSARY,
            (false, true) => SUFFICIENT,
            _ => 0,
        }
    }

    /// Whether the prechart is done, and the main chart may still be.
    pub fn pending(&self, shape: &Shape) -> bool {
        self.end(shape) & NECESSARY != 0 && !self.broken[1]
    }

    /// What has happened of the main chart.
    pub fn progress(&self) -> u64 {
        self.cuts[1]
    }

    /// The question that no continuation changes: bits of those that hold for good.
    pub fn settled(&self) -> Out {
        let necessary = if self.broken[0] || self.early { NECESSARY } else { 0 };
        necessary | if self.broken[1] { SUFFICIENT } else { 0 }
    }

    pub(crate) fn save(&self, out: &mut Vec<u8>) {
        self.cuts.iter().for_each(|&cut| put_word(cut, out));
        put(u64::from(self.broken[0]) | u64::from(self.broken[1]) << 1 | u64::from(self.early) << 2, out);
    }

    pub(crate) fn load(shape: &Shape, from: &mut &[u8]) -> Result<Self, Corrupt> {
        let cuts = [take_word(from)?, take_word(from)?];
        let flags = take(from)?;
        if flags > 7 || cuts[0] & !shape.full(false) != 0 || cuts[1] & !shape.full(true) != 0 {
            return Err(Corrupt("the saved state of a chart names events that it does not have".into()));
        }
        Ok(Self { cuts, broken: [flags & 1 == 1, flags >> 1 & 1 == 1], early: flags >> 2 == 1 })
    }
}

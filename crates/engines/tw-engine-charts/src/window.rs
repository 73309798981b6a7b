//! Readings `segment` and `precedes`: occurrences are windows of the projection on the events of both charts.
//!
//! A window that ends here and may still become an occurrence is a sequence of distinct events, each after those that precede
//! it. Of all such the longest is kept, in its order: the others are its ends. An event that fits is appended; one that does not
//! shortens it from the front. What has to follow directly needs no more than whether that sequence follows an occurrence of
//! the prechart directly.

use crate::shape::{NECESSARY, Out, SUFFICIENT, Shape};
use tw_core::codec::{Corrupt, put, put_bytes, take, take_bytes};
use tw_ir::chart::Reading;

/// Where a trace is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Window {
    /// Whether the last event was of the main chart.
    main: bool,
    /// Whether the sequence follows an occurrence of the prechart directly.
    lead: bool,
    /// In `precedes`: whether the prechart has occurred.
    seen: bool,
    /// In `precedes`: whether it has since the main chart last did.
    owed: bool,
    /// The events of the sequence, by their numbers in their basic chart.
    list: Vec<u8>,
}

impl Window {
    /// The cut: the events of the sequence.
    fn cut(&self) -> u64 {
        self.list.iter().fold(0, |cut, event| cut | 1 << event)
    }

    fn whole(&self, shape: &Shape) -> bool {
        self.list.len() == if self.main { shape.main } else { shape.pre }
    }

    /// Whether the main chart has to come next, or to go on.
    pub fn pending(&self, shape: &Shape) -> bool {
        match shape.reading {
            Reading::Precedes => self.owed,
            _ if self.main => self.lead && !self.whole(shape),
            _ => self.whole(shape),
        }
    }

    /// How far the main chart got that is pending.
    pub fn progress(&self, shape: &Shape) -> u64 {
        match shape.reading {
            Reading::Precedes if !self.main => 0,
            _ if self.main => self.cut(),
            _ => 0,
        }
    }

    /// Takes an event.
    pub fn step(&mut self, shape: &Shape, letter: usize) -> Out {
        let (main, event) = shape.side(letter);
        let pending = shape.reading == Reading::Segment && self.pending(shape);
        if main != self.main {
            self.lead = main && self.whole(shape);
            self.main = main;
            self.list.clear();
        }
        let cut = self.cut();
        let fits = cut >> event & 1 == 0 && shape.before(main, event) & !cut == 0;
        self.list.push(event as u8);
        if !fits {
            self.lead = false;
            self.shorten(shape);
        }
        let mut out = 0;
        if pending && !(main && self.lead) {
            out |= NECESSARY;
        }
        if self.whole(shape) {
            match (shape.reading, main) {
                (Reading::Segment, true) if !self.lead => out |= SUFFICIENT,
                (Reading::Precedes, false) => (self.seen, self.owed) = (true, true),
                (Reading::Precedes, true) => {
                    out |= if self.seen { 0 } else { SUFFICIENT };
                    self.owed = false;
                }
                _ => {}
            }
        }
        out
    }

    /// Leaves the longest end of the sequence that may become an occurrence.
    fn shorten(&mut self, shape: &Shape) {
        let sound = |list: &[u8]| {
            let mut cut = 0u64;
            list.iter().all(|&event| {
                let (bit, before) = (1 << event, shape.before(self.main, event.into()));
                let fits = cut & bit == 0 && before & !cut == 0;
                cut |= bit;
                fits
            })
        };
        let start = (1..=self.list.len()).find(|&start| sound(&self.list[start..])).unwrap_or(0);
        self.list.drain(..start);
    }

    /// Whether a look at it costs little.
    pub(crate) fn list_is_short(&self) -> bool {
        self.list.len() <= 2
    }

    pub(crate) fn save(&self, out: &mut Vec<u8>) {
        let flags = [self.main, self.lead, self.seen, self.owed];
        put(flags.iter().fold(0, |all, flag| all << 1 | u64::from(*flag)), out);
        put_bytes(&self.list, out);
    }

    pub(crate) fn load(shape: &Shape, from: &mut &[u8]) -> Result<Self, Corrupt> {
        let flags = take(from)?;
        let list = take_bytes(from)?.to_vec();
        let flag = |at: u32| flags >> at & 1 == 1;
        let window = Window { main: flag(3), lead: flag(2), seen: flag(1), owed: flag(0), list };
        let events = if window.main { shape.main } else { shape.pre };
        let mut cut = 0u64;
        for &event in &window.list {
            let event = usize::from(event);
            if event >= events || cut >> event & 1 == 1 || shape.before(window.main, event) & !cut != 0 {
                return Err(Corrupt("the saved state of a chart is no cut of it".into()));
            }
            cut |= 1 << event;
        }
        Ok(window)
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        size_of::<Self>() + self.list.capacity()
    }
}

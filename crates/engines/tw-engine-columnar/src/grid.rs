//! The trace cut into blocks of words, and where its segments begin and end.

use crate::graph::Direction;
use std::ops::Range;
use tw_monitor::{Trace, Unsupported};

/// Positions, words and blocks of a trace.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grid {
    /// Positions.
    pub(crate) len: usize,
    /// Words of a column.
    pub(crate) words: usize,
    /// Words of a block; the last one may be shorter.
    pub(crate) block: usize,
    /// Number of blocks.
    pub(crate) blocks: usize,
}

impl Grid {
    pub(crate) fn new(len: usize, block: usize) -> Self {
        let words = len.div_ceil(64);
        let block = block.clamp(1, words.max(1));
        Grid { len, words, block, blocks: words.div_ceil(block) }
    }

    /// The words of a block.
    pub(crate) fn range(&self, block: usize) -> Range<usize> {
        let start = block * self.block;
        start..(start + self.block).min(self.words)
    }

    /// The first position of a block.
    pub(crate) fn start(&self, block: usize) -> usize {
        block * self.block * 64
    }

    /// How many positions of the trace a block holds.
    pub(crate) fn positions(&self, block: usize) -> usize {
        (self.block * 64).min(self.len - self.start(block))
    }
}

/// First or last positions of the segments, as bits where there are any.
#[derive(Debug)]
pub(crate) struct Marks {
    /// For each block the number of segments marked in earlier blocks, and their total.
    before: Vec<usize>,
    /// All words, or for a plain trace those of the one block with a mark.
    words: Vec<u64>,
    plain: bool,
}

impl Marks {
    fn new(grid: Grid, plain: bool, positions: impl Iterator<Item = usize>) -> Self {
        let mut before = vec![0; grid.blocks + 1];
        let mut words = vec![0; if plain { grid.block } else { grid.words }];
        // Positions ascend, so blocks are found by walking along; dividing for each would cost more than the rest.
        let (mut block, mut range) = (0, grid.range(0));
        let mut count = 0;
        for position in positions {
            let word = position / 64;
            while word >= range.end {
                block += 1;
                before[block] = count;
                range = grid.range(block);
            }
            count += 1;
            words[if plain { word - range.start } else { word }] |= 1u64 << (position % 64);
        }
        before[block + 1..].fill(count);
        Marks { before, words, plain }
    }

    /// The segments marked in these blocks.
    pub(crate) fn segments(&self, blocks: Range<usize>) -> Range<usize> {
        self.before[blocks.start]..self.before[blocks.end]
    }

    /// The least number of blocks, from the first one on, that hold all marks.
    pub(crate) fn blocks(&self) -> usize {
        let total = self.before[self.before.len() - 1];
        self.before.partition_point(|&before| before < total)
    }

    /// The marks of a block, if it has any.
    pub(crate) fn of(&self, grid: Grid, block: usize) -> Option<&[u64]> {
        if self.before[block] == self.before[block + 1] {
            return None;
        }
        let range = grid.range(block);
        Some(if self.plain { &self.words[..range.len()] } else { &self.words[range] })
    }
}

/// Where segments begin and end.
#[derive(Debug)]
pub(crate) struct Edges {
    pub(crate) first: Marks,
    pub(crate) last: Marks,
}

impl Edges {
    pub(crate) fn new(grid: Grid, trace: &Trace) -> Result<Self, Unsupported> {
        let starts = trace.starts();
        let sound = starts.first().is_none_or(|&start| start == 0)
            && starts.is_sorted_by(|a, b| a < b)
            && starts.last().is_none_or(|&start| start < trace.len)
            && (trace.len == 0) == starts.is_empty();
        if !sound {
            return Err(Unsupported {
                node: None,
                what: "a trace without positions".into(),
                help: Some("every trace needs at least one position".into()),
                exhausted: false,
            });
        }
        let plain = starts.len() == 1;
        let lasts = starts.iter().skip(1).copied().chain([trace.len]).map(|end| end.wrapping_sub(1));
        Ok(Edges {
            first: Marks::new(grid, plain, starts.iter().copied()),
            last: Marks::new(grid, plain, lasts.take(starts.len())),
        })
    }

    /// Where a walk in this direction enters a segment.
    pub(crate) fn entry(&self, direction: Direction) -> &Marks {
        match direction {
            Direction::Forward => &self.first,
            Direction::Backward => &self.last,
        }
    }

    /// Where it leaves it.
    pub(crate) fn exit(&self, direction: Direction) -> &Marks {
        match direction {
            Direction::Forward => &self.last,
            Direction::Backward => &self.first,
        }
    }
}

//! Both passes by tables.
//!
//! Away from the ends a letter of `stream[k|d]` is a bit of the column, so some positions together need a *window* of
//! each column. A look-up takes the set and the windows' bits to the next set and to an *edge*, a number for the two;
//! the tape is the edges. Backwards, a look-up takes an edge and what is left after it (numbered within the edge's target)
//! to what is left before it and the outputs between.

use super::steps::{NONE, START, Steps};
use super::tape::Tape;
use super::{Group, Limits, Trace};
use crate::Unsolved;
use crate::columns::fetch;
use rustc_hash::FxHashMap;
use tw_core::Bits;

pub(super) enum Stop {
    Unsolved(Unsolved),
    /// The tables would be too large.
    Full,
}

impl From<Unsolved> for Stop {
    fn from(unsolved: Unsolved) -> Self {
        Stop::Unsolved(unsolved)
    }
}

impl From<std::io::Error> for Stop {
    fn from(error: std::io::Error) -> Self {
        Stop::Unsolved(Unsolved::Tape(error.to_string()))
    }
}

/// The most bytes of a table.
const MOST_BYTES: usize = 4 << 20;

/// Outputs of a look-up are so many bits at most: the rest of a word says where it leads.
const MOST_VALUES: usize = 40;

/// Positions per look-up, from the most.
const STRIDES: [u32; 4] = [8, 4, 2, 1];

/// How many bits the windows of so many positions have.
fn width(group: &Group, stride: u32) -> u32 {
    group.windows.iter().map(|window| (window.largest - window.least) as u32 + stride).sum()
}

fn fits(group: &Group, stride: u32, most: u32) -> bool {
    let spans = group.windows.iter().all(|window| window.largest - window.least < 32);
    spans && width(group, stride) <= most && group.members.len() * stride as usize <= MOST_VALUES
}

/// Positions per look-up for a trace: filling a table must not take longer than going through the trace.
pub(super) fn widest(group: &Group, len: usize) -> Option<u32> {
    let most = (usize::BITS - len.leading_zeros()).saturating_sub(10).min(13);
    let strides = STRIDES.into_iter();
    strides.clone().find(|&stride| fits(group, stride, most)).or_else(|| {
        // Long traces go by tables even if a single position is as wide as that.
        (most >= 8).then_some(()).and_then(|()| strides.clone().find(|&stride| fits(group, stride, 14)))
    })
}

/// The letters of each position of a look-up, for each value of the windows' bits.
fn letters(group: &Group, stride: u32, width: u32) -> Vec<u32> {
    let mut starts = Vec::with_capacity(group.windows.len());
    let mut start = 0;
    for window in &group.windows {
        starts.push(start);
        start += (window.largest - window.least) as u32 + stride;
    }
    let mut letters = Vec::with_capacity((stride as usize) << width);
    for windows in 0..1u32 << width {
        for nth in 0..stride {
            let bits = group.places.iter().enumerate();
            letters.push(bits.fold(0, |all, (bit, &(window, place))| {
                all | (windows >> (starts[window] + place + nth) & 1) << bit
            }));
        }
    }
    letters
}

/// The next smaller number of positions, if there is one.
pub(super) fn narrower(group: &Group, stride: u32) -> Option<u32> {
    STRIDES.into_iter().find(|&other| other < stride && fits(group, other, 14))
}

#[derive(Clone, Copy)]
struct Forward {
    /// Where the next set's rows begin; `UNKNOWN` where nobody asked yet.
    next: u32,
    edge: u32,
}

const UNKNOWN: u32 = u32::MAX;

/// Backwards: bit 63 says that the entry is known, bit 62 that models differ, sixteen bits from 46 on what is left.
const KNOWN: u64 = 1 << 63;
const SEVERAL: u64 = 1 << 62;
const LEFT: u32 = 46;

struct Tables<'g, 's, 'a> {
    group: &'g Group,
    steps: &'s mut Steps<'a>,
    stride: u32,
    width: u32,
    /// The letters of the positions of a look-up, for all windows.
    letters: Vec<u32>,
    /// The sets before each position of a look-up, while an entry is made.
    path: Vec<u32>,
    forward: Vec<Forward>,
    /// The set of each row, and the row of each set.
    rows: Vec<u32>,
    row_of: FxHashMap<u32, u32>,
    /// The row and the windows' bits of each edge, and the row after it.
    edges: Vec<(u32, u32, u32)>,
    /// More of them are not worth their making: fewer positions per look-up are then faster.
    most_edges: usize,
    backward: Vec<u64>,
    /// Entries per edge.
    lefts: usize,
    /// For each row what was left of its set, numbered within it.
    left: Vec<Vec<u32>>,
}

impl Tables<'_, '_, '_> {
    fn row(&mut self, set: u32) -> Result<u32, Stop> {
        if let Some(&row) = self.row_of.get(&set) {
            return Ok(row);
        }
        let row = self.rows.len();
        let size = 1usize << self.width;
        if (row + 1) * size * size_of::<Forward>() > MOST_BYTES {
            return Err(Stop::Full);
        }
        self.rows.push(set);
        self.left.push(Vec::new());
        self.row_of.insert(set, row as u32);
        self.forward.resize((row + 1) * size, Forward { next: UNKNOWN, edge: 0 });
        Ok(row as u32)
    }

    /// The letter of one of the positions of a look-up.
    fn letter(&self, windows: u32, nth: u32) -> u64 {
        self.letters[(windows * self.stride + nth) as usize].into()
    }

    /// An entry of the forward table; nothing if a set on the way is empty.
    #[cold]
    fn make_forward(&mut self, index: usize) -> Result<Option<Forward>, Stop> {
        let (row, windows) = (index >> self.width, index as u32 & ((1u32 << self.width) - 1));
        let mut set = self.rows[row];
        for nth in 0..self.stride {
            set = self.steps.forwards(set, self.letter(windows, nth), 0)?;
        }
        if set == NONE {
            return Ok(None);
        }
        let next = self.row(set)?;
        let edge = self.edges.len() as u32;
        if self.edges.len() >= self.most_edges {
            return Err(Stop::Full);
        }
        self.edges.push((row as u32, windows, next));
        let made = Forward { next: next << self.width, edge };
        self.forward[index] = made;
        Ok(Some(made))
    }

    /// The sets before each position of a look-up.
    fn find_path(&mut self, row: u32, windows: u32) -> Result<(), Stop> {
        let mut set = self.rows[row as usize];
        self.path.clear();
        for nth in 0..self.stride {
            self.path.push(set);
            set = self.steps.forwards(set, self.letter(windows, nth), 0)?;
        }
        Ok(())
    }

    /// The number of what is left within its row.
    fn left(&mut self, row: u32, left: u32) -> Result<u32, Stop> {
        let own = &mut self.left[row as usize];
        let number = own.iter().position(|&known| known == left).unwrap_or_else(|| {
            own.push(left);
            own.len() - 1
        });
        if number >= 1 << 16 {
            return Err(Stop::Full);
        }
        if number >= self.lefts {
            // Entries move apart; they are few by now, and are asked for again.
            self.lefts *= 2;
            self.backward.clear();
        }
        Ok(number as u32)
    }

    #[cold]
    fn make_backward(&mut self, edge: u32, left: u32) -> Result<u64, Stop> {
        let (row, windows, next) = self.edges[edge as usize];
        self.find_path(row, windows)?;
        let mut rest = self.left[next as usize][left as usize];
        let mut entry = KNOWN;
        for nth in (0..self.stride).rev() {
            let found = self.steps.backwards(self.path[nth as usize], self.letter(windows, nth), 0, rest)?;
            rest = found.before;
            for member in 0..self.group.members.len() {
                entry |= (found.label >> member & 1) << (member as u32 * self.stride + nth);
            }
            if found.several {
                entry |= SEVERAL;
            }
        }
        let number = self.left(row, rest)?;
        entry |= u64::from(number) << LEFT;
        let size = self.edges.len() * self.lefts;
        if size * 8 > 4 * MOST_BYTES {
            return Err(Stop::Full);
        }
        self.backward.resize(size.max(self.backward.len()), 0);
        self.backward[edge as usize * self.lefts + left as usize] = entry;
        Ok(entry)
    }

    /// Where in a look-up models differ first.
    fn first_several(&mut self, edge: u32, left: u32) -> Result<usize, Stop> {
        let (row, windows, next) = self.edges[edge as usize];
        self.find_path(row, windows)?;
        let (mut rest, mut first) = (self.left[next as usize][left as usize], 0);
        for nth in (0..self.stride).rev() {
            let found = self.steps.backwards(self.path[nth as usize], self.letter(windows, nth), 0, rest)?;
            rest = found.before;
            if found.several {
                first = nth as usize;
            }
        }
        Ok(first)
    }

    /// Goes through windows from a position on; false if a set is empty.
    fn forwards<const COLUMNS: usize>(
        &mut self,
        columns: &[(&[u64], i64, u32); COLUMNS],
        start: i64,
        count: usize,
        set: &mut u32,
        tape: &mut Tape,
    ) -> Result<usize, Stop> {
        let stride = self.stride;
        let span = self.group.windows.iter().map(|window| (window.largest - window.least) as u32).max();
        let each = ((64 - span.unwrap_or(0)) / stride) as usize;
        let mut base = self.row(*set)? << self.width;
        let mut masks = [(0u64, 0u32); COLUMNS];
        let mut place = 0;
        for (mask, column) in masks.iter_mut().zip(columns) {
            *mask = ((1 << column.2) - 1, place);
            place += column.2;
        }
        let mut done = 0;
        while done < count {
            let now = each.min(count - done);
            let position = start + done as i64 * i64::from(stride);
            let mut words = [0u64; COLUMNS];
            for (word, column) in words.iter_mut().zip(columns) {
                *word = fetch(column.0, position + column.1);
            }
            let part = tape.part(now)?;
            for nth in 0..now {
                let mut index = base as usize;
                for (word, (mask, place)) in words.iter_mut().zip(masks) {
                    index |= ((*word & mask) << place) as usize;
                    *word >>= stride;
                }
                let mut entry = self.forward[index];
                if entry.next == UNKNOWN {
                    match self.make_forward(index)? {
                        Some(made) => entry = made,
                        None => {
                            *set = self.rows[(base >> self.width) as usize];
                            return Ok(done + nth);
                        }
                    }
                }
                part.push(entry.edge);
                base = entry.next;
            }
            done += now;
        }
        *set = self.rows[(base >> self.width) as usize];
        Ok(done)
    }

    /// Goes back through the tape; the outputs are written from the last look-up on.
    fn backwards(
        &mut self,
        tape: &mut Tape,
        count: usize,
        after: u32,
        left: &mut u32,
        first: &mut Option<usize>,
        found: &mut [Vec<u64>],
    ) -> Result<(), Stop> {
        let stride = self.stride;
        let each = (64 / stride) as usize;
        let mut now = self.left(after, *left)?;
        let mut at = count;
        let mask = (1u64 << stride) - 1;
        let members = self.group.members.len();
        let mut words = [0u64; 64];
        let mut row = after;
        // The last one found is the first one in the trace.
        let mut several = None;
        while let Some(part) = tape.pop()? {
            for &edge in part.iter().rev() {
                at -= 1;
                let place = edge as usize * self.lefts + now as usize;
                let mut entry = self.backward.get(place).copied().unwrap_or(0);
                if entry & KNOWN == 0 {
                    entry = self.make_backward(edge, now)?;
                }
                if entry & SEVERAL != 0 {
                    several = Some((at, edge, now));
                }
                for (member, word) in words[..members].iter_mut().enumerate() {
                    *word = *word << stride | (entry >> (member as u32 * stride) & mask);
                }
                if at.is_multiple_of(each) {
                    for (column, word) in found.iter_mut().zip(&mut words) {
                        column[at / each] = std::mem::take(word);
                    }
                }
                now = (entry >> LEFT) as u32 & 0xffff;
                row = edge;
            }
        }
        if let Some((at, edge, left)) = several {
            *first = Some(at * stride as usize + self.first_several(edge, left)?);
        }
        if count > 0 {
            let before = self.edges[row as usize].0;
            *left = self.left[before as usize][now as usize];
        }
        Ok(())
    }
}

/// Both passes over a trace; without a stride position by position.
pub(super) fn run(
    group: &Group,
    steps: &mut Steps<'_>,
    trace: &Trace<'_>,
    stride: Option<u32>,
    limits: &Limits,
) -> Result<Vec<Bits>, Stop> {
    let len = trace.len;
    let windows = group.windows.iter();
    let offsets = windows.flat_map(|window| [window.least, window.largest]);
    let offsets = offsets.chain(group.system.outside.iter().map(|&offset| offset.into()));
    let (least, largest) =
        offsets.fold((0i64, 0i64), |(least, largest), offset| (least.min(offset), largest.max(offset)));
    // Positions before `head` and after the middle are taken one by one.
    let head = (-least).max(1) as usize;
    let tail = (largest.max(1) as usize).max(group.system.farthest());
    let stride = stride.filter(|_| len > head + tail + 64);
    let count = stride.map_or(0, |stride| (len - head - tail) / stride as usize);
    let head = if count == 0 { len } else { head };
    let middle = count * stride.unwrap_or(0) as usize;
    let mut set = START;
    let mut sets: Vec<u32> = Vec::new();
    let mut single = |steps: &mut Steps<'_>, set: &mut u32, position: usize| -> Result<(), Stop> {
        let (letter, outside) = group.letter(trace, position);
        sets.push(*set);
        *set = steps.forwards(*set, letter, outside)?;
        *set = steps.within(*set, len - 1 - position)?;
        if *set == NONE { Err(Unsolved::NoModel { position }.into()) } else { Ok(()) }
    };
    for position in 0..head {
        single(steps, &mut set, position)?;
    }
    let mut tape = Tape::new(limits.tape);
    let width = stride.map_or(0, |stride| width(group, stride));
    let (stride, mut after) = (stride.unwrap_or(1), 0);
    let mut tables = Tables {
        group,
        steps,
        stride,
        width,
        letters: if count > 0 { letters(group, stride, width) } else { Vec::new() },
        path: Vec::new(),
        forward: Vec::new(),
        rows: Vec::new(),
        row_of: FxHashMap::default(),
        edges: Vec::new(),
        most_edges: if stride == 1 { usize::MAX } else { (len >> 10).max(256) },
        backward: Vec::new(),
        lefts: 4,
        left: Vec::new(),
    };
    if count > 0 {
        let columns: Vec<(&[u64], i64, u32)> = group
            .windows
            .iter()
            .map(|window| {
                let width = (window.largest - window.least) as u32 + stride;
                (trace.columns[window.stream as usize].words(), window.least, width)
            })
            .collect();
        let start = head as i64;
        let done = match columns.len() {
            0 => tables.forwards::<0>(&[], start, count, &mut set, &mut tape)?,
            1 => tables.forwards(&[columns[0]], start, count, &mut set, &mut tape)?,
            2 => tables.forwards(&[columns[0], columns[1]], start, count, &mut set, &mut tape)?,
            3 => tables.forwards(&[columns[0], columns[1], columns[2]], start, count, &mut set, &mut tape)?,
            4 => {
                let four = [columns[0], columns[1], columns[2], columns[3]];
                tables.forwards(&four, start, count, &mut set, &mut tape)?
            }
            _ => {
                let mut more = [(&[][..], 0, 0); 16];
                columns.iter().zip(&mut more).for_each(|(column, place)| *place = *column);
                tables.forwards(&more, start, count, &mut set, &mut tape)?
            }
        };
        after = tables.row(set)?;
        if done < count {
            // The empty set is within the next look-up.
            for position in head + done * stride as usize.. {
                single(tables.steps, &mut set, position)?;
            }
        }
    }
    for position in head + middle..len {
        single(tables.steps, &mut set, position)?;
    }
    let mut first = None;
    let mut left = set;
    let mut ends: Vec<Vec<(usize, u64)>> = vec![Vec::new()];
    let mut back = |steps: &mut Steps<'_>, left: &mut u32, position: usize, set: u32| -> Result<bool, Stop> {
        let (letter, outside) = group.letter(trace, position);
        let found = steps.backwards(set, letter, outside, *left)?;
        *left = found.before;
        ends[0].push((position, found.label));
        Ok(found.several)
    };
    for position in (head + middle..len).rev() {
        let set = sets[position - middle];
        if back(tables.steps, &mut left, position, set)? {
            first = Some(position);
        }
    }
    let mut found: Vec<Vec<u64>> = vec![vec![0; middle.div_ceil(64)]; group.members.len()];
    if count > 0 {
        let mut inner = None;
        tables.backwards(&mut tape, count, after, &mut left, &mut inner, &mut found)?;
        first = inner.map(|position| head + position).or(first);
    }
    for position in (0..head).rev() {
        if back(tables.steps, &mut left, position, sets[position])? {
            first = Some(position);
        }
    }
    if let Some(position) = first {
        return Err(Unsolved::Several { position }.into());
    }
    let column = |member: usize| {
        let shifted = (0..len.div_ceil(64) as i64).map(|word| fetch(&found[member], 64 * word - head as i64));
        let mut bits = Bits::from_words(shifted.collect(), len);
        for &(position, label) in &ends[0] {
            bits.set(position, label >> member & 1 == 1);
        }
        bits
    };
    Ok((0..group.members.len()).map(column).collect())
}

//! Numbers found by hash, in segments that divide: no event pays for moving all of them.
//!
//! Extendible hashing. The leading bits of a hash choose a segment, its last bits a line of memory in it. A line holds seven numbers with
//! their hashes, and how many have passed it because it was full: a look goes to one line and compares all of it at once, so that
//! there is nothing to guess, and dividing a segment asks nobody for hashes. A segment has at most `LINES` lines and is at
//! most 7/8 full.

use crate::values::NONE;

/// Lines of a segment that is divided when it is full.
const LINES: usize = 1 << 7;
/// Numbers in a line.
const PLACES: usize = 7;
/// Leading bits of a hash that choose a segment, at most.
const DEEPEST: u32 = 20;

/// Numbers by hash.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    /// By the leading bits, the segment.
    directory: Vec<u32>,
    /// How many bits those are.
    bits: u32,
    segments: Vec<Segment>,
    /// Lines of all segments.
    lines: usize,
}

#[derive(Clone, Debug)]
struct Segment {
    lines: Box<[Line]>,
    used: usize,
    /// How many leading bits its hashes share.
    depth: u32,
}

/// Hashes and their numbers. At the last place of the numbers stands how many have passed.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Line {
    hashes: [u32; PLACES + 1],
    numbers: [u32; PLACES + 1],
}

/// Which places hold this word: the lowest bit of the byte of each. As bytes, they are compared all at once.
#[inline]
fn places(words: &[u32; PLACES + 1], word: u32) -> u64 {
    let same: [u8; PLACES + 1] = std::array::from_fn(|nth| u8::from(words[nth] == word));
    u64::from_le_bytes(same) << 8 >> 8
}

/// The first of them.
#[inline]
fn first(places: u64) -> usize {
    places.trailing_zeros() as usize / 8
}

impl Line {
    const EMPTY: Self = {
        let mut numbers = [NONE; PLACES + 1];
        numbers[PLACES] = 0;
        Self { hashes: [0; PLACES + 1], numbers }
    };
}

impl Segment {
    fn new(lines: usize, depth: u32) -> Self {
        Self { lines: vec![Line::EMPTY; lines].into_boxed_slice(), used: 0, depth }
    }

    fn mask(&self) -> usize {
        self.lines.len() - 1
    }

    /// The line and the place of the number with this hash that is the same.
    #[inline]
    fn find(&self, hash: u32, same: impl Fn(u32) -> bool) -> Option<(usize, usize)> {
        let mut at = hash as usize & self.mask();
        loop {
            let line = &self.lines[at];
            let mut hits = places(&line.hashes, hash);
            while hits != 0 {
                let place = first(hits);
                let number = line.numbers[place];
                if number != NONE && same(number) {
                    return Some((at, place));
                }
                hits &= hits - 1;
            }
            if line.numbers[PLACES] == 0 {
                return None;
            }
            at = (at + 1) & self.mask();
        }
    }

    /// Adds a hash with its number. There is room.
    fn insert(&mut self, hash: u32, number: u32) {
        let mut at = hash as usize & self.mask();
        loop {
            let line = &mut self.lines[at];
            let free = places(&line.numbers, NONE);
            if free != 0 {
                let place = first(free);
                (line.hashes[place], line.numbers[place]) = (hash, number);
                self.used += 1;
                return;
            }
            line.numbers[PLACES] += 1;
            at = (at + 1) & self.mask();
        }
    }

    /// Takes out what is at a place. It no longer passes the lines before.
    fn remove(&mut self, line: usize, place: usize) {
        self.lines[line].numbers[place] = NONE;
        let mut at = self.lines[line].hashes[place] as usize & self.mask();
        while at != line {
            self.lines[at].numbers[PLACES] -= 1;
            at = (at + 1) & self.mask();
        }
        self.used -= 1;
    }

    /// Every hash with its number.
    fn all(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let line = |line: &Line| {
            (0..PLACES).map({
                let line = *line;
                move |place| (line.hashes[place], line.numbers[place])
            })
        };
        self.lines.iter().flat_map(line).filter(|(_, number)| *number != NONE)
    }
}

impl Table {
    #[inline]
    fn segment(&self, hash: u32) -> usize {
        self.directory[(u64::from(hash) >> (32 - self.bits)) as usize] as usize
    }

    /// The number with this hash that is the same.
    #[inline]
    pub fn find(&self, hash: u32, same: impl Fn(u32) -> bool) -> u32 {
        if self.segments.is_empty() {
            return NONE;
        }
        let segment = &self.segments[self.segment(hash)];
        segment.find(hash, same).map_or(NONE, |(line, place)| segment.lines[line].numbers[place])
    }

    /// A number that may be the one with this hash; whether it is nobody asks.
    #[inline]
    pub fn guess(&self, hash: u32) -> u32 {
        if self.segments.is_empty() {
            return NONE;
        }
        let segment = &self.segments[self.segment(hash)];
        let line = &segment.lines[hash as usize & segment.mask()];
        line.numbers[first(places(&line.hashes, hash)) % PLACES]
    }

    /// Puts a number in the place of the one that is the same, which is returned, or adds it.
    pub fn set(&mut self, hash: u32, number: u32, same: impl Fn(u32) -> bool) -> u32 {
        if !self.segments.is_empty() {
            let segment = self.segment(hash);
            let segment = &mut self.segments[segment];
            if let Some((line, place)) = segment.find(hash, same) {
                return std::mem::replace(&mut segment.lines[line].numbers[place], number);
            }
        }
        self.add(hash, number);
        NONE
    }

    /// Adds a number that is not there.
    pub fn add(&mut self, hash: u32, number: u32) {
        if self.segments.is_empty() {
            self.segments.push(Segment::new(1, 0));
            self.directory.push(0);
            self.lines += 1;
        }
        let mut segment = self.segment(hash);
        let own = &self.segments[segment];
        if (own.used + 1) * 8 > own.lines.len() * PLACES * 7 {
            self.make_room(segment, hash);
            segment = self.segment(hash);
        }
        self.segments[segment].insert(hash, number);
    }

    /// Takes out the number that is the same.
    pub fn remove(&mut self, hash: u32, same: impl Fn(u32) -> bool) {
        if self.segments.is_empty() {
            return;
        }
        let segment = self.segment(hash);
        let segment = &mut self.segments[segment];
        if let Some((line, place)) = segment.find(hash, same) {
            segment.remove(line, place);
        }
    }

    /// Divides a full segment, which has this hash, or makes it longer.
    #[cold]
    fn make_room(&mut self, number: usize, hash: u32) {
        let old = &self.segments[number];
        let (len, depth) = (old.lines.len(), old.depth);
        self.lines += len;
        // Where hashes are alike, dividing does not help, and the directory would outgrow the segments.
        let alike = depth == self.bits && self.directory.len() >= 16 * self.segments.len();
        if len < LINES || alike || depth == DEEPEST {
            let mut longer = Segment::new(2 * len, depth);
            old.all().for_each(|(hash, number)| longer.insert(hash, number));
            self.segments[number] = longer;
            return;
        }
        if depth == self.bits {
            self.directory = self.directory.iter().flat_map(|&own| [own, own]).collect();
            self.bits += 1;
        }
        let mut parts = [Segment::new(len, depth + 1), Segment::new(len, depth + 1)];
        old.all().for_each(|(hash, number)| parts[(hash >> (31 - depth)) as usize & 1].insert(hash, number));
        let fresh = self.segments.len() as u32;
        let [first, second] = parts;
        self.segments[number] = first;
        self.segments.push(second);
        // The entries of a segment are neighbours; the later half of them has the next bit.
        let half = 1usize << (self.bits - depth - 1);
        let from = ((u64::from(hash) >> (32 - depth)) as usize * 2 + 1) * half;
        self.directory[from..from + half].fill(fresh);
    }

    /// Forgets the numbers that are not kept.
    pub fn retain(&mut self, kept: impl Fn(u32) -> bool) {
        for segment in &mut self.segments {
            let mut fresh = Segment::new(segment.lines.len(), segment.depth);
            let all = segment.all().filter(|(_, number)| kept(*number));
            all.for_each(|(hash, number)| fresh.insert(hash, number));
            *segment = fresh;
        }
    }

    /// Bytes held, about.
    pub fn heap_bytes(&self) -> usize {
        self.lines * size_of::<Line>()
            + self.directory.capacity() * 4
            + self.segments.capacity() * size_of::<Segment>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustc_hash::FxHashMap;
    use tw_testkit::Rng;

    /// Against a map of the standard kind, with good hashes and with ones that are all alike.
    #[test]
    fn numbers_are_found_as_in_a_map() {
        for spread in [1u32, 0x9e37_79b9, 1 << 24, 0] {
            let keys = if spread == 0 { 2_000 } else { 40_000 };
            let hash = |key: u32| key.wrapping_mul(spread);
            let (mut table, mut map) = (Table::default(), FxHashMap::default());
            // A number is its key twice or twice and one: the table sees keys only through `same`.
            let random = &mut Rng::new(u64::from(spread));
            for _ in 0..3 * keys {
                let key = random.below(keys) as u32;
                let number = 2 * key + random.below(2) as u32;
                let same = |own: u32| own / 2 == key;
                match random.below(3) {
                    0 => {
                        table.remove(hash(key), same);
                        map.remove(&key);
                    }
                    _ => {
                        table.set(hash(key), number, same);
                        map.insert(key, number);
                    }
                }
            }
            let check = |table: &Table, map: &FxHashMap<u32, u32>| {
                for key in 0..keys as u32 {
                    let known = map.get(&key).copied().unwrap_or(NONE);
                    assert_eq!(table.find(hash(key), |own| own / 2 == key), known);
                }
                let used: usize = table.segments.iter().map(|segment| segment.used).sum();
                assert_eq!(used, map.len());
            };
            check(&table, &map);
            table.retain(|own| own % 3 != 0);
            map.retain(|_, own| *own % 3 != 0);
            check(&table, &map);
            assert!(table.heap_bytes() < 40 * keys + 1_000, "{spread} {}", table.heap_bytes());
        }
    }
}

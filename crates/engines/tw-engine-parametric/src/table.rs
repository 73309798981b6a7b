//! Numbers found by hash, in segments that divide: no event pays for moving all of them.
//!
//! Extendible hashing. The leading bits of a hash choose a segment, its last bits a place in it; a place holds the hash beside the number,
//! so that a look goes to one line of memory, and dividing a segment asks nobody for hashes. A segment is at most `SEGMENT` places
//! long and at most 13/16 full.

use crate::values::NONE;

/// Places of a segment that is divided when it is full.
const SEGMENT: usize = 1 << 10;
/// Leading bits of a hash that choose a segment, at most.
const DEEPEST: u32 = 20;
const EMPTY: u64 = u64::MAX;

/// Numbers by hash.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    /// By the leading bits, the segment.
    directory: Vec<u32>,
    /// How many bits those are.
    bits: u32,
    segments: Vec<Segment>,
    /// Places of all segments.
    places: usize,
}

#[derive(Clone, Debug)]
struct Segment {
    /// Hash and number.
    places: Box<[u64]>,
    used: usize,
    /// How many leading bits its hashes share.
    depth: u32,
}

fn place(hash: u32, number: u32) -> u64 {
    u64::from(hash) << 32 | u64::from(number)
}

impl Segment {
    fn new(places: usize, depth: u32) -> Self {
        Self { places: vec![EMPTY; places].into_boxed_slice(), used: 0, depth }
    }

    /// The place of a number with this hash, or the empty one behind those that have it.
    #[inline]
    fn find(&self, hash: u32, same: impl Fn(u32) -> bool) -> usize {
        let mask = self.places.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let own = self.places[at & mask];
            if own == EMPTY || (own >> 32) as u32 == hash && same(own as u32) {
                return at & mask;
            }
            at += 1;
        }
    }

    fn insert(&mut self, own: u64) {
        let at = self.find((own >> 32) as u32, |_| false);
        self.places[at] = own;
        self.used += 1;
    }

    /// Takes out what is at a place, and moves up what stands behind it because of it.
    fn remove(&mut self, mut gap: usize) {
        let mask = self.places.len() - 1;
        let mut at = gap;
        loop {
            at = (at + 1) & mask;
            let own = self.places[at];
            if own == EMPTY {
                break;
            }
            let home = (own >> 32) as usize & mask;
            if at.wrapping_sub(home) & mask >= at.wrapping_sub(gap) & mask {
                self.places[gap] = own;
                gap = at;
            }
        }
        self.places[gap] = EMPTY;
        self.used -= 1;
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
        segment.places[segment.find(hash, same)] as u32
    }

    /// A number that may be the one with this hash; whether it is nobody asks.
    #[inline]
    pub fn guess(&self, hash: u32) -> u32 {
        if self.segments.is_empty() {
            return NONE;
        }
        let places = &self.segments[self.segment(hash)].places;
        places[hash as usize & (places.len() - 1)] as u32
    }

    /// Puts a number in the place of the one that is the same, or adds it.
    pub fn set(&mut self, hash: u32, number: u32, same: impl Fn(u32) -> bool) {
        if self.segments.is_empty() {
            self.segments.push(Segment::new(8, 0));
            self.directory.push(0);
            self.places += 8;
        }
        let mut number_of = self.segment(hash);
        let at = self.segments[number_of].find(hash, same);
        let segment = &mut self.segments[number_of];
        if segment.places[at] != EMPTY {
            segment.places[at] = place(hash, number);
            return;
        }
        if (segment.used + 1) * 16 > segment.places.len() * 13 {
            self.make_room(number_of, hash);
            number_of = self.segment(hash);
        }
        self.segments[number_of].insert(place(hash, number));
    }

    /// Takes out the number that is the same.
    pub fn remove(&mut self, hash: u32, same: impl Fn(u32) -> bool) {
        if self.segments.is_empty() {
            return;
        }
        let segment = self.segment(hash);
        let segment = &mut self.segments[segment];
        let at = segment.find(hash, same);
        if segment.places[at] != EMPTY {
            segment.remove(at);
        }
    }

    /// Divides a full segment, which has this hash, or makes it longer.
    #[cold]
    fn make_room(&mut self, number: usize, hash: u32) {
        let old = &self.segments[number];
        let (len, depth) = (old.places.len(), old.depth);
        // Where hashes are alike, dividing does not help, and the directory would outgrow the segments.
        let alike = depth == self.bits && self.directory.len() >= 16 * self.segments.len();
        if len < SEGMENT || alike || depth == DEEPEST {
            let mut longer = Segment::new(2 * len, depth);
            old.places.iter().filter(|own| **own != EMPTY).for_each(|&own| longer.insert(own));
            self.segments[number] = longer;
            self.places += len;
            return;
        }
        if depth == self.bits {
            self.directory = self.directory.iter().flat_map(|&own| [own, own]).collect();
            self.bits += 1;
        }
        let mut parts = [Segment::new(len, depth + 1), Segment::new(len, depth + 1)];
        for &own in old.places.iter().filter(|own| **own != EMPTY) {
            parts[(own >> (63 - depth)) as usize & 1].insert(own);
        }
        let fresh = self.segments.len() as u32;
        let [first, second] = parts;
        self.segments[number] = first;
        self.segments.push(second);
        self.places += len;
        // The entries of a segment are neighbours; the later half of them has the next bit.
        let half = 1usize << (self.bits - depth - 1);
        let from = ((u64::from(hash) >> (32 - depth)) as usize * 2 + 1) * half;
        self.directory[from..from + half].fill(fresh);
    }

    /// Forgets the numbers that are not kept.
    pub fn retain(&mut self, kept: impl Fn(u32) -> bool) {
        for segment in &mut self.segments {
            let old = std::mem::replace(&mut segment.places, Box::new([]));
            segment.places = vec![EMPTY; old.len()].into_boxed_slice();
            segment.used = 0;
            old.iter()
                .filter(|own| **own != EMPTY && kept(**own as u32))
                .for_each(|&own| segment.insert(own));
        }
    }

    /// Bytes held, about.
    pub fn heap_bytes(&self) -> usize {
        self.places * 8 + self.directory.capacity() * 4 + self.segments.capacity() * size_of::<Segment>()
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

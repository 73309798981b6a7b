//! A sorted list with counts, in leaves.
//!
//! Keys are kept in leaves of at most 256, with the last key and the number of values of each leaf in flat arrays, and
//! the sums of 64 such numbers in a third. Inserting searches one array and moves half a leaf, selecting the k-th value
//! scans n/12,000 sums, 64 numbers and at most one leaf. 8 bytes a key and a third of that for room; a leaf in which a
//! value occurs twice has counts, 8 bytes a key more.

/// Keys in a full leaf.
const FULL: usize = 256;
/// Keys in a leaf that is built from sorted keys: room for some more.
const BUILT: usize = 192;
/// Leaves whose numbers of values are summed up.
const GROUP: usize = 64;

#[derive(Clone, Debug, Default)]
struct Leaf {
    keys: Vec<i64>,
    /// How often each key occurs; empty if each does once.
    counts: Vec<u64>,
}

impl Leaf {
    fn count(&self, at: usize) -> u64 {
        self.counts.get(at).copied().unwrap_or(1)
    }

    fn heap_bytes(&self) -> usize {
        (self.keys.capacity() + self.counts.capacity()) * 8
    }
}

/// A multiset of keys.
#[derive(Clone, Debug, Default)]
pub struct Leaves {
    leaves: Vec<Leaf>,
    /// The last key of each leaf.
    lasts: Vec<i64>,
    /// The number of values of each leaf.
    totals: Vec<u64>,
    /// The sums of [`GROUP`] totals each.
    sums: Vec<u64>,
    /// Number of values.
    count: u64,
    /// Number of different keys.
    keys: usize,
    /// Bytes of keys and counts.
    bytes: usize,
}

impl Leaves {
    /// Number of values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Number of different keys.
    pub fn keys(&self) -> usize {
        self.keys
    }

    /// Bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        self.bytes + self.leaves.capacity() * (size_of::<Leaf>() + 16) + self.sums.capacity() * 8
    }

    /// From keys in order with their counts.
    pub fn build(runs: impl Iterator<Item = (i64, u64)>) -> Self {
        let mut built = Leaves::default();
        let (mut leaf, mut total) = (Leaf::default(), 0);
        for (key, count) in runs {
            if leaf.keys.last() == Some(&key) {
                let at = leaf.keys.len() - 1;
                add_count(&mut leaf, at, count);
                total += count;
                continue;
            }
            if leaf.keys.len() == BUILT {
                built.close(std::mem::take(&mut leaf), std::mem::take(&mut total));
            }
            if leaf.keys.capacity() == 0 && !built.leaves.is_empty() {
                leaf.keys.reserve_exact(FULL);
            }
            leaf.keys.push(key);
            if count != 1 || !leaf.counts.is_empty() {
                add_count(&mut leaf, 0, 0);
                let at = leaf.keys.len() - 1;
                leaf.counts[at] = count;
            }
            total += count;
        }
        if !leaf.keys.is_empty() {
            built.close(leaf, total);
        }
        built.sum_from(0);
        built
    }

    fn close(&mut self, leaf: Leaf, total: u64) {
        self.lasts.push(*leaf.keys.last().expect("no leaf is empty"));
        self.totals.push(total);
        self.count += total;
        self.keys += leaf.keys.len();
        self.bytes += leaf.heap_bytes();
        self.leaves.push(leaf);
    }

    fn sum_from(&mut self, leaf: usize) {
        self.sums.truncate(leaf / GROUP);
        let done = self.sums.len() * GROUP;
        self.sums.extend(self.totals[done..].chunks(GROUP).map(|group| group.iter().sum::<u64>()));
    }

    /// Adds a key `times` times.
    pub fn insert(&mut self, key: i64, times: u64) {
        if self.leaves.is_empty() {
            *self = Leaves::build([(key, times)].into_iter());
            return;
        }
        // Keys beyond all go to the last leaf.
        let at = self.lasts.partition_point(|last| *last < key).min(self.leaves.len() - 1);
        let leaf = &mut self.leaves[at];
        let before = leaf.heap_bytes();
        match leaf.keys.binary_search(&key) {
            Ok(place) => add_count(leaf, place, times),
            Err(place) => {
                leaf.keys.insert(place, key);
                self.keys += 1;
                if !leaf.counts.is_empty() {
                    leaf.counts.insert(place, times);
                } else if times != 1 {
                    add_count(leaf, place, times - 1);
                }
                self.lasts[at] = self.lasts[at].max(key);
            }
        }
        self.bytes = self.bytes + leaf.heap_bytes() - before;
        self.totals[at] += times;
        self.sums[at / GROUP] += times;
        self.count += times;
        if leaf.keys.len() == FULL {
            self.split(at);
        }
    }

    fn split(&mut self, at: usize) {
        let leaf = &mut self.leaves[at];
        let before = leaf.heap_bytes();
        let half = FULL / 2;
        let mut upper = Leaf { keys: Vec::with_capacity(FULL), counts: Vec::new() };
        upper.keys.extend(leaf.keys.drain(half..));
        if !leaf.counts.is_empty() {
            upper.counts.reserve_exact(FULL);
            upper.counts.extend(leaf.counts.drain(half..));
        }
        let total = if upper.counts.is_empty() { upper.keys.len() as u64 } else { upper.counts.iter().sum() };
        self.bytes = self.bytes + leaf.heap_bytes() + upper.heap_bytes() - before;
        self.lasts.insert(at, leaf.keys[half - 1]);
        self.totals[at] -= total;
        self.totals.insert(at + 1, total);
        self.leaves.insert(at + 1, upper);
        self.sum_from(at);
    }

    /// The value of rank `rank` (0 is the least), which must be below the count.
    pub fn select(&self, rank: u64) -> i64 {
        let (at, place, _) = self.find(rank);
        self.leaves[at].keys[place]
    }

    /// The values of ranks `rank` and `rank + 1`, which must be below the count.
    pub fn select_two(&self, rank: u64) -> (i64, i64) {
        let (at, place, more) = self.find(rank);
        let leaf = &self.leaves[at];
        let low = leaf.keys[place];
        if more > 0 {
            return (low, low);
        }
        (low, leaf.keys.get(place + 1).copied().unwrap_or_else(|| self.leaves[at + 1].keys[0]))
    }

    /// The leaf and the place of the value of rank `rank`, and how many equal ones follow.
    fn find(&self, rank: u64) -> (usize, usize, u64) {
        let mut rest = rank;
        let mut group = 0;
        while rest >= self.sums[group] {
            rest -= self.sums[group];
            group += 1;
        }
        let mut at = group * GROUP;
        while rest >= self.totals[at] {
            rest -= self.totals[at];
            at += 1;
        }
        let leaf = &self.leaves[at];
        if leaf.counts.is_empty() {
            return (at, rest as usize, 0);
        }
        let mut place = 0;
        while rest >= leaf.counts[place] {
            rest -= leaf.counts[place];
            place += 1;
        }
        (at, place, leaf.counts[place] - 1 - rest)
    }

    /// The number of values whose key `is_below`, which must hold for a first part of the keys.
    pub fn rank(&self, is_below: impl Fn(i64) -> bool) -> u64 {
        let at = self.lasts.partition_point(|last| is_below(*last));
        let whole: u64 = self.sums[..at / GROUP].iter().sum();
        let group: u64 = self.totals[at / GROUP * GROUP..at].iter().sum();
        let Some(leaf) = self.leaves.get(at) else { return whole + group };
        let place = leaf.keys.partition_point(|key| is_below(*key));
        let part = if leaf.counts.is_empty() { place as u64 } else { leaf.counts[..place].iter().sum() };
        whole + group + part
    }

    /// Keys in order with their counts.
    pub fn runs(&self) -> impl Iterator<Item = (i64, u64)> {
        self.leaves
            .iter()
            .flat_map(|leaf| leaf.keys.iter().enumerate().map(|(at, key)| (*key, leaf.count(at))))
    }

    /// This and other runs in order.
    pub fn merged(&self, others: impl Iterator<Item = (i64, u64)>) -> Self {
        let (mut mine, mut others) = (self.runs().peekable(), others.peekable());
        Leaves::build(std::iter::from_fn(|| match (mine.peek(), others.peek()) {
            (Some(a), Some(b)) if b.0 < a.0 => others.next(),
            (Some(_), _) => mine.next(),
            _ => others.next(),
        }))
    }
}

/// Counts `times` more at a place.
fn add_count(leaf: &mut Leaf, at: usize, times: u64) {
    if leaf.counts.len() < leaf.keys.len() {
        leaf.counts.reserve_exact(leaf.keys.capacity() - leaf.counts.len());
        leaf.counts.resize(leaf.keys.len(), 1);
    }
    leaf.counts[at] += times;
}

//! Binary decision diagrams ("Graph-Based Algorithms for Boolean Function Manipulation", Bryant): sets of valuations of
//! bits, each set one number.
//!
//! Nodes are unique, so that equal sets have equal numbers; what an operation came to is kept in a table that forgets.
//! Nothing is freed: a budget of nodes and steps ends what grows too far. The depth of recursion is the number of bits.

/// A set: the number of its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Bdd(u32);

impl Bdd {
    /// No valuation.
    pub const FALSE: Bdd = Bdd(0);
    /// Every valuation.
    pub const TRUE: Bdd = Bdd(1);

    /// Whether it has no member.
    pub fn is_empty(self) -> bool {
        self == Bdd::FALSE
    }
}

/// The budget is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exhausted;

/// Most nodes: with their tables half a gigabyte.
const NODES: usize = 1 << 24;
/// Most steps of operations, some seconds of them.
const WORK: u64 = 100_000_000;
/// Level of the two ends.
const END: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Node {
    level: u32,
    low: u32,
    high: u32,
}

/// What is remembered: an operation, its operands, and its result.
#[derive(Clone, Copy, Debug)]
struct Entry {
    key: [u32; 3],
    op: u32,
    result: u32,
}

const AND: u32 = 1;
const OR: u32 = 2;
const XOR: u32 = 3;
const EXISTS: u32 = 4;
const PRODUCT: u32 = 5;
const SHIFT: u32 = 6;

/// All nodes, and what operations on them came to.
#[derive(Clone, Debug)]
pub struct Store {
    nodes: Vec<Node>,
    /// Open addressing: numbers of nodes, or 0.
    table: Vec<u32>,
    cache: Vec<Entry>,
    /// Nodes and steps that may still be.
    most: usize,
    work: u64,
}

impl Default for Store {
    fn default() -> Self {
        let end = Node { level: END, low: 0, high: 0 };
        let nothing = Entry { key: [0; 3], op: 0, result: 0 };
        Self {
            nodes: vec![end, end],
            table: vec![0; 1 << 10],
            cache: vec![nothing; 1 << 12],
            most: NODES,
            work: WORK,
        }
    }
}

fn hash(a: u32, b: u32, c: u32) -> usize {
    let mix =
        |hash: u64, part: u32| (hash.rotate_left(23) ^ u64::from(part)).wrapping_mul(0x517c_c1b7_2722_0a95);
    let mixed = mix(mix(mix(0x9e37_79b9, a), b), c);
    (mixed ^ mixed >> 32) as usize
}

impl Store {
    /// Nodes so far.
    pub fn nodes(&self) -> usize {
        self.nodes.len()
    }

    /// Does something within a part of what is left: at most so many nodes more, and a tenth of the steps.
    pub fn within<T>(
        &mut self,
        nodes: usize,
        act: impl FnOnce(&mut Store) -> Result<T, Exhausted>,
    ) -> Result<T, Exhausted> {
        let (most, work) = (self.most, self.work);
        self.most = most.min(self.nodes.len() + nodes);
        self.work = work / 10;
        let result = act(self);
        self.work += work - work / 10;
        self.most = most;
        result
    }

    fn spend(&mut self) -> Result<(), Exhausted> {
        self.work = self.work.checked_sub(1).ok_or(Exhausted)?;
        Ok(())
    }

    fn node(&mut self, level: u32, low: u32, high: u32) -> Result<u32, Exhausted> {
        if low == high {
            return Ok(low);
        }
        if self.nodes.len() * 2 >= self.table.len() {
            self.grow();
        }
        let mask = self.table.len() - 1;
        let mut at = hash(level, low, high) & mask;
        while self.table[at] != 0 {
            let known = self.nodes[self.table[at] as usize];
            if (known.level, known.low, known.high) == (level, low, high) {
                return Ok(self.table[at]);
            }
            at = (at + 1) & mask;
        }
        if self.nodes.len() >= self.most {
            return Err(Exhausted);
        }
        let number = self.nodes.len() as u32;
        self.table[at] = number;
        self.nodes.push(Node { level, low, high });
        Ok(number)
    }

    fn grow(&mut self) {
        let mut table = vec![0; self.table.len() * 2];
        let mask = table.len() - 1;
        for (number, node) in self.nodes.iter().enumerate().skip(2) {
            let mut at = hash(node.level, node.low, node.high) & mask;
            while table[at] != 0 {
                at = (at + 1) & mask;
            }
            table[at] = number as u32;
        }
        self.table = table;
        if self.cache.len() < 1 << 22 {
            self.cache = vec![Entry { key: [0; 3], op: 0, result: 0 }; self.cache.len() * 2];
        }
    }

    fn place(&self, op: u32, key: [u32; 3]) -> usize {
        hash(key[0] ^ op << 28, key[1], key[2]) & (self.cache.len() - 1)
    }

    fn known(&self, op: u32, key: [u32; 3]) -> Option<u32> {
        let entry = self.cache[self.place(op, key)];
        (entry.op == op && entry.key == key).then_some(entry.result)
    }

    fn keep(&mut self, op: u32, key: [u32; 3], result: u32) -> u32 {
        // Asked again, as the table may have grown.
        let place = self.place(op, key);
        self.cache[place] = Entry { key, op, result };
        result
    }

    fn level(&self, node: u32) -> u32 {
        self.nodes[node as usize].level
    }

    /// The parts of a set where the bit of a level is 0 and 1.
    fn parts(&self, node: u32, level: u32) -> (u32, u32) {
        let known = self.nodes[node as usize];
        if known.level == level { (known.low, known.high) } else { (node, node) }
    }

    /// The valuations in which a bit is 1.
    pub fn bit(&mut self, level: u32) -> Result<Bdd, Exhausted> {
        self.node(level, 0, 1).map(Bdd)
    }

    /// The valuations in both.
    pub fn and(&mut self, a: Bdd, b: Bdd) -> Result<Bdd, Exhausted> {
        self.apply(AND, a.0, b.0).map(Bdd)
    }

    /// The valuations in one or the other.
    pub fn or(&mut self, a: Bdd, b: Bdd) -> Result<Bdd, Exhausted> {
        self.apply(OR, a.0, b.0).map(Bdd)
    }

    /// The valuations in one of them alone.
    pub fn xor(&mut self, a: Bdd, b: Bdd) -> Result<Bdd, Exhausted> {
        self.apply(XOR, a.0, b.0).map(Bdd)
    }

    /// All others.
    pub fn not(&mut self, a: Bdd) -> Result<Bdd, Exhausted> {
        self.xor(a, Bdd::TRUE)
    }

    /// The valuations in the first that are not in the second.
    pub fn minus(&mut self, a: Bdd, b: Bdd) -> Result<Bdd, Exhausted> {
        let b = self.not(b)?;
        self.and(a, b)
    }

    fn apply(&mut self, op: u32, a: u32, b: u32) -> Result<u32, Exhausted> {
        match (op, a.min(b), a.max(b)) {
            (AND, 0, _) => return Ok(0),
            (AND, 1, other) | (OR | XOR, 0, other) => return Ok(other),
            (OR, 1, _) => return Ok(1),
            (AND | OR, one, other) if one == other => return Ok(one),
            (XOR, one, other) if one == other => return Ok(0),
            _ => {}
        }
        let key = [a.min(b), a.max(b), 0];
        if let Some(result) = self.known(op, key) {
            return Ok(result);
        }
        self.spend()?;
        let level = self.level(a).min(self.level(b));
        let ((a0, a1), (b0, b1)) = (self.parts(a, level), self.parts(b, level));
        let (low, high) = (self.apply(op, a0, b0)?, self.apply(op, a1, b1)?);
        let result = self.node(level, low, high)?;
        Ok(self.keep(op, key, result))
    }

    /// The valuations that are in the set whatever the bits of a cube are changed to: it is the conjunction of them.
    pub fn exists(&mut self, set: Bdd, cube: Bdd) -> Result<Bdd, Exhausted> {
        self.without(set.0, cube.0).map(Bdd)
    }

    fn without(&mut self, set: u32, mut cube: u32) -> Result<u32, Exhausted> {
        while self.level(cube) < self.level(set) {
            cube = self.nodes[cube as usize].high;
        }
        if set < 2 || cube == 1 {
            return Ok(set);
        }
        let key = [set, cube, 0];
        if let Some(result) = self.known(EXISTS, key) {
            return Ok(result);
        }
        self.spend()?;
        let node = self.nodes[set as usize];
        let result = if self.level(cube) == node.level {
            let rest = self.nodes[cube as usize].high;
            match self.without(node.low, rest)? {
                1 => 1,
                low => {
                    let high = self.without(node.high, rest)?;
                    self.apply(OR, low, high)?
                }
            }
        } else {
            let (low, high) = (self.without(node.low, cube)?, self.without(node.high, cube)?);
            self.node(node.level, low, high)?
        };
        Ok(self.keep(EXISTS, key, result))
    }

    /// The relational product: what is in both, without the bits of a cube.
    pub fn product(&mut self, a: Bdd, b: Bdd, cube: Bdd) -> Result<Bdd, Exhausted> {
        self.both_without(a.0, b.0, cube.0).map(Bdd)
    }

    fn both_without(&mut self, a: u32, b: u32, mut cube: u32) -> Result<u32, Exhausted> {
        if a == 0 || b == 0 {
            return Ok(0);
        }
        let level = self.level(a).min(self.level(b));
        while self.level(cube) < level {
            cube = self.nodes[cube as usize].high;
        }
        if cube == 1 {
            return self.apply(AND, a, b);
        }
        if a == 1 || b == 1 || a == b {
            return self.without(a.max(b), cube);
        }
        let key = [a.min(b), a.max(b), cube];
        if let Some(result) = self.known(PRODUCT, key) {
            return Ok(result);
        }
        self.spend()?;
        let ((a0, a1), (b0, b1)) = (self.parts(a, level), self.parts(b, level));
        let result = if self.level(cube) == level {
            let rest = self.nodes[cube as usize].high;
            match self.both_without(a0, b0, rest)? {
                1 => 1,
                low => {
                    let high = self.both_without(a1, b1, rest)?;
                    self.apply(OR, low, high)?
                }
            }
        } else {
            let (low, high) = (self.both_without(a0, b0, cube)?, self.both_without(a1, b1, cube)?);
            self.node(level, low, high)?
        };
        Ok(self.keep(PRODUCT, key, result))
    }

    /// The same set over the bits beside its own: of each pair of levels the second (`later`) or the first.
    pub fn shift(&mut self, set: Bdd, later: bool) -> Result<Bdd, Exhausted> {
        self.shifted(set.0, u32::from(later)).map(Bdd)
    }

    fn shifted(&mut self, set: u32, later: u32) -> Result<u32, Exhausted> {
        if set < 2 {
            return Ok(set);
        }
        let key = [set, later, 0];
        if let Some(result) = self.known(SHIFT, key) {
            return Ok(result);
        }
        self.spend()?;
        let node = self.nodes[set as usize];
        let (low, high) = (self.shifted(node.low, later)?, self.shifted(node.high, later)?);
        let result = self.node(node.level & !1 | later, low, high)?;
        Ok(self.keep(SHIFT, key, result))
    }

    /// One of the valuations: the bits that it must have, all others are free.
    pub fn pick(&self, set: Bdd) -> Option<Vec<(u32, bool)>> {
        let (mut bits, mut at) = (Vec::new(), set.0);
        while at > 1 {
            let node = self.nodes[at as usize];
            let one = node.low == 0;
            bits.push((node.level, one));
            at = if one { node.high } else { node.low };
        }
        (at == 1).then_some(bits)
    }

    /// Whether a valuation is a member.
    pub fn has(&self, set: Bdd, bit: impl Fn(u32) -> bool) -> bool {
        let mut at = set.0;
        while at > 1 {
            let node = self.nodes[at as usize];
            at = if bit(node.level) { node.high } else { node.low };
        }
        at == 1
    }

    /// The levels that a set depends on, ascending.
    pub fn support(&self, set: Bdd) -> Vec<u32> {
        let mut levels: Vec<u32> = self.below(set).into_iter().map(|node| self.level(node)).collect();
        levels.sort_unstable();
        levels.dedup();
        levels
    }

    /// How many nodes a set has.
    pub fn size(&self, set: Bdd) -> usize {
        self.below(set).len()
    }

    fn below(&self, set: Bdd) -> Vec<u32> {
        let mut met = rustc_hash::FxHashSet::default();
        let (mut found, mut todo) = (Vec::new(), vec![set.0]);
        while let Some(node) = todo.pop() {
            if node > 1 && met.insert(node) {
                found.push(node);
                todo.extend([self.nodes[node as usize].low, self.nodes[node as usize].high]);
            }
        }
        found
    }

    /// How many valuations of some bits, given by their levels, ascending, a set has; it depends on no others. The largest
    /// number stands for more.
    pub fn count(&self, set: Bdd, levels: &[u32]) -> u128 {
        let depth = |node: u32| {
            let level = self.level(node);
            levels.partition_point(|&known| known < level)
        };
        let times = |count: u128, bits: usize| {
            let factor = u32::try_from(bits).ok().and_then(|bits| 1u128.checked_shl(bits));
            count.saturating_mul(factor.unwrap_or(u128::MAX))
        };
        // Those below a node come later: from the deepest level up.
        let mut nodes = self.below(set);
        nodes.sort_unstable_by_key(|&node| std::cmp::Reverse(self.level(node)));
        let mut counts = rustc_hash::FxHashMap::default();
        counts.extend([(0, 0), (1, 1u128)]);
        for node in nodes {
            let own = depth(node);
            let below = |child: u32| times(counts[&child], depth(child) - own - 1);
            let known = self.nodes[node as usize];
            let count = below(known.low).saturating_add(below(known.high));
            counts.insert(node, count);
        }
        times(counts[&set.0], depth(set.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tw_testkit::{Rng, cases};

    const BITS: u32 = 6;

    /// A random set, and its members one by one: bit `v` is valuation `v`.
    fn random(store: &mut Store, random: &mut Rng, depth: usize) -> (Bdd, u64) {
        if depth == 0 {
            let level = random.below(BITS as usize) as u32;
            let members = (0..64u64).filter(|v| v >> level & 1 == 1).fold(0, |all, v| all | 1 << v);
            return (store.bit(level).unwrap(), members);
        }
        let ((a, of_a), (b, of_b)) =
            (self::random(store, random, depth - 1), self::random(store, random, depth - 1));
        match random.below(4) {
            0 => (store.and(a, b).unwrap(), of_a & of_b),
            1 => (store.or(a, b).unwrap(), of_a | of_b),
            2 => (store.xor(a, b).unwrap(), of_a ^ of_b),
            _ => (store.minus(a, b).unwrap(), of_a & !of_b),
        }
    }

    fn members(store: &Store, set: Bdd) -> u64 {
        (0..64u64).filter(|v| store.has(set, |level| v >> level & 1 == 1)).fold(0, |all, v| all | 1 << v)
    }

    #[test]
    fn operations_are_those_on_sets() {
        for seed in 0..cases(2_000) {
            let (store, rng) = (&mut Store::default(), &mut Rng::new(seed));
            let ((a, of_a), (b, of_b)) = (random(store, rng, 4), random(store, rng, 4));
            assert_eq!((members(store, a), members(store, b)), (of_a, of_b), "seed {seed}");
            assert_eq!(a == b, of_a == of_b, "seed {seed}: equal sets have one node");
            let quantified: Vec<u32> = (0..BITS).filter(|_| rng.one_in(2)).collect();
            let mut cube = Bdd::TRUE;
            for &level in &quantified {
                let bit = store.bit(level).unwrap();
                cube = store.and(cube, bit).unwrap();
            }
            let expected = quantified.iter().fold(of_a & of_b, |set, &level| {
                (0..64u64)
                    .filter(|v| (set >> v | set >> (v ^ 1 << level)) & 1 == 1)
                    .fold(0, |all, v| all | 1 << v)
            });
            let product = store.product(a, b, cube).unwrap();
            assert_eq!(members(store, product), expected, "seed {seed}");
            let both = store.and(a, b).unwrap();
            assert_eq!(store.exists(both, cube).unwrap(), product, "seed {seed}");
            let levels: Vec<u32> = (0..BITS).collect();
            assert_eq!(store.count(a, &levels), u128::from(of_a.count_ones()), "seed {seed}");
            assert_eq!(store.pick(a).is_none(), of_a == 0);
            if let Some(bits) = store.pick(a) {
                assert!(store.has(a, |level| bits.contains(&(level, true))), "seed {seed}");
            }
        }
    }

    #[test]
    fn counts_saturate_and_budgets_end() {
        let mut store = Store::default();
        let levels: Vec<u32> = (0..300).collect();
        assert_eq!(store.count(Bdd::TRUE, &levels), u128::MAX);
        let mut cube = Bdd::TRUE;
        for &level in &levels {
            let bit = store.bit(level).unwrap();
            cube = store.and(cube, bit).unwrap();
        }
        assert_eq!(store.count(cube, &levels), 1);
        let all = store.nodes();
        let grown = store.within(10, |store| {
            (300..400).try_fold(cube, |set, level| {
                let bit = store.bit(level)?;
                store.xor(set, bit)
            })
        });
        assert_eq!(grown, Err(Exhausted));
        assert!(store.nodes() <= all + 10);
        assert!(store.bit(500).is_ok(), "the rest of the budget is still there");
    }
}

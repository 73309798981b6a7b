//! Binary decision diagrams ("Graph-Based Algorithms for Boolean Function Manipulation", Bryant): sets of valuations of
//! bits, each set one number.
//!
//! Nodes are unique, so that equal sets have equal numbers; what an operation came to is kept in a table that forgets.
//! Nothing is freed: a budget of nodes and steps ends what grows too far. The depth of recursion is the number of bits.

mod ask;

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
    /// With room for so many nodes, and time for some operations on each.
    pub fn limited(nodes: usize) -> Self {
        let most = nodes.min(NODES);
        Self { most, work: WORK.min(16 * most as u64), ..Self::default() }
    }

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

    /// The valuations that are in the set once some bits are changed: those of a cube, which is their conjunction.
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
}

#[cfg(test)]
mod tests;

//! Names of trees: 128 bits that depend on labels, truth values and the order of children, and on nothing else, so that a
//! tree has the same name in every run and on every machine. Equal trees are one node (hash-consing) whose identity is its
//! name; nothing is stored under it, so that a tree costs no memory.
//!
//! A list of children is made of runs: so many equal ones, then the rest. That is what lets thousands of equal children be
//! counted by population counts, and what makes the list of a position out of that of its neighbour in a few instructions.

use crate::Truth;

/// The name of a tree, or of a list of trees.
pub(crate) type Name = u128;

/// The empty list.
pub(crate) const NIL: Name = 0x7a1d_6c2f_93b8_e4d5_0f6b_58a7_c13e_924d;

const KEYS: [[u64; 6]; 2] = [
    [
        0x9e37_79b9_7f4a_7c15,
        0xd1b5_4a32_d192_ed03,
        0xa24b_aed4_963e_e407,
        0x9fb2_1c65_1e98_df25,
        0xc2b2_ae3d_27d4_eb4f,
        0x1656_67b1_9e37_79f9,
    ],
    [
        0x8ebc_6af0_9c88_c6e3,
        0x5899_65cc_7537_4cc3,
        0xe703_7ed1_a0b4_28db,
        0xf813_3775_903d_7d85,
        0x2d35_8dcc_aa6c_78a5,
        0x8bb8_4b93_962e_acc9,
    ],
];

/// The product of two words, folded.
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

fn half([a, b, c, d, e, f]: [u64; 6], head: Name, count: u64, rest: Name) -> u64 {
    let left = fold(head as u64 ^ a, (head >> 64) as u64 ^ b) ^ count.wrapping_mul(e);
    let right = fold(rest as u64 ^ c, (rest >> 64) as u64 ^ d) ^ f;
    fold(left ^ d, right ^ count.rotate_left(32))
}

/// A list: `count` times `head`, then `rest`, which does not begin with `head`.
fn cell(head: Name, count: u64, rest: Name) -> Name {
    u128::from(half(KEYS[0], head, count, rest)) << 64 | u128::from(half(KEYS[1], head, count, rest))
}

/// A tree of a label, a truth value and a list of children.
pub(crate) fn tree(label: Name, truth: Truth, children: Name) -> Name {
    cell(label, u64::MAX - truth as u64, children)
}

/// The name of a text.
pub(crate) fn text(text: &str) -> Name {
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&blake3::hash(text.as_bytes()).as_bytes()[..16]);
    Name::from_be_bytes(bytes)
}

/// A list that is made from its end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct List {
    head: Name,
    count: u64,
    rest: Name,
}

impl List {
    pub(crate) const EMPTY: List = List { head: 0, count: 0, rest: NIL };

    /// Puts a tree before the others.
    pub(crate) fn push(&mut self, head: Name) {
        self.push_many(head, 1);
    }

    /// Puts the same tree before the others so many times.
    pub(crate) fn push_many(&mut self, head: Name, count: u64) {
        if count == 0 {
            return;
        }
        if self.count > 0 && self.head == head {
            self.count += count;
            return;
        }
        *self = List { head, count, rest: self.name() };
    }

    /// Its name.
    pub(crate) fn name(&self) -> Name {
        if self.count == 0 { self.rest } else { cell(self.head, self.count, self.rest) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_told_apart_by_order_and_number() {
        let (a, b) = (text("a"), text("b"));
        let list = |trees: &[Name]| {
            let mut list = List::EMPTY;
            trees.iter().rev().for_each(|&tree| list.push(tree));
            list.name()
        };
        let lists: [&[Name]; 9] =
            [&[], &[a], &[b], &[a, a], &[a, b], &[b, a], &[a, a, b], &[a, b, a], &[a, a, a]];
        for (i, one) in lists.iter().enumerate() {
            for (j, other) in lists.iter().enumerate() {
                assert_eq!(list(one) == list(other), i == j, "{i} {j}");
            }
        }
        let mut many = List::EMPTY;
        many.push(b);
        many.push_many(a, 2);
        assert_eq!(many.name(), list(&[a, a, b]));
        // A tree is no list of itself, and its truth counts.
        let trees = [Truth::True, Truth::False, Truth::Unknown].map(|truth| tree(a, truth, NIL));
        assert!(
            trees[0] != trees[1] && trees[1] != trees[2] && trees[0] != trees[2] && trees[0] != list(&[a])
        );
    }
}

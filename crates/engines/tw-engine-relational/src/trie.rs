//! Sets of valuations as tries: at each level the values of one variable that make a difference, and the rest.
//!
//! A leaf may stand at any depth, for all values of the variables below. The rest stands for infinitely many values, which is
//! how negation and quantifiers are exact over values that nobody has seen. Tries share what they have in common.

use crate::key::Key;
use crate::map::Map;
use crate::predicate::Level;
use crate::truth::{Truth, Truths};
use std::sync::Arc;

#[derive(Clone, Debug)]
pub(crate) enum Trie<L> {
    Leaf(L),
    Split(Arc<Split<L>>),
}

#[derive(Clone, Debug)]
pub(crate) struct Split<L> {
    pub(crate) level: Level,
    /// Of all values but the points.
    pub(crate) rest: Trie<L>,
    pub(crate) points: Map<Trie<L>>,
}

/// The set itself.
pub(crate) type Set = Trie<Truth>;

impl Trie<Truth> {
    pub(crate) const NO: Set = Trie::Leaf(Truth::NO);
    pub(crate) const YES: Set = Trie::Leaf(Truth::YES);

    pub(crate) fn of(holds: bool) -> Set {
        Trie::Leaf(Truth::of(holds))
    }
}

impl<L: Clone + PartialEq> Trie<L> {
    /// Whether both are one and the same without a closer look.
    pub(crate) fn same(&self, other: &Trie<L>) -> bool {
        match (self, other) {
            (Trie::Leaf(a), Trie::Leaf(b)) => a == b,
            (Trie::Split(a), Trie::Split(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }

    /// A trie of these points, of which those that say what the rest says are left out.
    pub(crate) fn split(level: Level, rest: Trie<L>, points: Map<Trie<L>>) -> Trie<L> {
        if points.is_empty() { rest } else { Trie::Split(Arc::new(Split { level, rest, points })) }
    }
}

impl<L: Clone + PartialEq> Split<L> {
    /// A trie on the same points, of which those are left out that become what the rest becomes. The rest has no key.
    pub(crate) fn map<M: Clone + PartialEq>(
        &self,
        mut f: impl FnMut(Option<&Key>, &Trie<L>) -> Trie<M>,
    ) -> Trie<M> {
        let rest = f(None, &self.rest);
        let mut points = Map::default();
        self.points.each(&mut |key, child| {
            let child = f(Some(key), child);
            if !child.same(&rest) {
                points.insert(key, child);
            }
            true
        });
        Trie::split(self.level, rest, points)
    }
}

/// How leaves of a trie are read as truth: a state is read without being copied.
pub(crate) trait Read: Copy {
    type Leaf: Clone + PartialEq;
    fn read(self, truths: &mut Truths, leaf: &Self::Leaf) -> Truth;
}

/// A set as it is, or its complement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plain {
    pub(crate) negated: bool,
}

impl Read for Plain {
    type Leaf = Truth;
    fn read(self, truths: &mut Truths, leaf: &Truth) -> Truth {
        if self.negated { truths.not(*leaf) } else { *leaf }
    }
}

/// Conjunction or disjunction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    And,
    Or,
}

impl Op {
    /// What decides it alone.
    fn zero(self) -> Truth {
        Truth::of(self == Op::Or)
    }

    fn one(self) -> Truth {
        Truth::of(self == Op::And)
    }

    fn join(self, truths: &mut Truths, a: Truth, b: Truth) -> Truth {
        match self {
            Op::And => truths.and(a, b),
            Op::Or => truths.or(a, b),
        }
    }
}

/// The set that a state stands for.
pub(crate) fn copy<R: Read>(truths: &mut Truths, read: R, trie: &Trie<R::Leaf>) -> Set {
    match trie {
        Trie::Leaf(leaf) => Trie::Leaf(read.read(truths, leaf)),
        Trie::Split(split) => split.map(|_, child| copy(truths, read, child)),
    }
}

/// The set where a variable has this value.
pub(crate) fn restrict(truths: &mut Truths, set: &Set, level: Level, key: &Key) -> Set {
    match set {
        Trie::Split(split) if split.level == level => match split.points.get(key) {
            Some(child) => child.clone(),
            None => at(truths, &split.rest, level, key),
        },
        Trie::Split(split) if split.level < level => {
            split.map(|_, child| restrict(truths, child, level, key))
        }
        _ => at(truths, set, level, key),
    }
}

/// The same where a variable has this value: in conditions, where no path says it.
pub(crate) fn at(truths: &mut Truths, set: &Set, level: Level, key: &Key) -> Set {
    if !truths.any() {
        return set.clone();
    }
    let value = key.value();
    change(truths, set, &mut |truths, leaf| truths.put(leaf, level, &value))
}

/// The set with other leaves.
pub(crate) fn change(truths: &mut Truths, set: &Set, f: &mut dyn FnMut(&mut Truths, Truth) -> Truth) -> Set {
    match set {
        Trie::Leaf(leaf) => Trie::Leaf(f(truths, *leaf)),
        Trie::Split(split) => split.map(|_, child| change(truths, child, f)),
    }
}

/// Both sets, or either. Costs what the smaller side has of points where its rest decides, else what both have.
pub(crate) fn join<R: Read>(truths: &mut Truths, op: Op, a: &Set, read: R, b: &Trie<R::Leaf>) -> Set {
    let (sa, sb) = match (a, b) {
        (Trie::Leaf(leaf), _) if *leaf == op.zero() => return a.clone(),
        (Trie::Leaf(leaf), _) if *leaf == op.one() => return copy(truths, read, b),
        (Trie::Leaf(leaf), Trie::Leaf(other)) => {
            let other = read.read(truths, other);
            return Trie::Leaf(op.join(truths, *leaf, other));
        }
        (_, Trie::Leaf(other)) => {
            let other = read.read(truths, other);
            if other == op.zero() {
                return Trie::Leaf(other);
            }
            if other == op.one() {
                return a.clone();
            }
            return join(truths, op, &Trie::Leaf(other), Plain { negated: false }, a);
        }
        (Trie::Leaf(_), Trie::Split(sb)) => (None, sb),
        (Trie::Split(sa), Trie::Split(sb)) => (Some(sa), sb),
    };
    let Some(sa) = sa.filter(|sa| sa.level <= sb.level) else {
        // The first set does not tell the values of this variable apart.
        return sb.map(|key, child| match key {
            None => join(truths, op, a, read, child),
            Some(key) => {
                let own = at(truths, a, sb.level, key);
                join(truths, op, &own, read, child)
            }
        });
    };
    if sa.level < sb.level {
        return sa.map(|key, child| match key {
            None => join(truths, op, child, read, b),
            Some(key) => with(truths, op, child, read, b, sa.level, key),
        });
    }
    let mut points = Map::default();
    let rest = join(truths, op, &sa.rest, read, &sb.rest);
    let zero = |trie: &Set| matches!(trie, Trie::Leaf(leaf) if *leaf == op.zero());
    let decided = matches!(&sb.rest, Trie::Leaf(leaf) if read.read(truths, leaf) == op.zero());
    if !decided || zero(&sa.rest) {
        sa.points.each(&mut |key, child| {
            let child = match sb.points.get(key) {
                Some(other) => join(truths, op, child, read, other),
                None => with(truths, op, child, read, &sb.rest, sa.level, key),
            };
            if !child.same(&rest) {
                points.insert(key, child);
            }
            true
        });
    }
    if !zero(&sa.rest) {
        sb.points.each(&mut |key, other| {
            let child = match sa.points.get(key) {
                Some(_) if !decided => return true,
                Some(child) => join(truths, op, child, read, other),
                None => {
                    let own = at(truths, &sa.rest, sa.level, key);
                    join(truths, op, &own, read, other)
                }
            };
            if !child.same(&rest) {
                points.insert(key, child);
            }
            true
        });
    }
    Trie::split(sa.level, rest, points)
}

/// Joins a child of a point with what the other trie says of all values, this one put in.
fn with<R: Read>(
    truths: &mut Truths,
    op: Op,
    child: &Set,
    read: R,
    b: &Trie<R::Leaf>,
    level: Level,
    key: &Key,
) -> Set {
    if !truths.any() {
        return join(truths, op, child, read, b);
    }
    let other = copy(truths, read, b);
    let other = at(truths, &other, level, key);
    join(truths, op, child, Plain { negated: false }, &other)
}

/// The valuations of the other variables for which some value of this one is in the set.
pub(crate) fn exists<R: Read>(truths: &mut Truths, read: R, trie: &Trie<R::Leaf>, level: Level) -> Set {
    match trie {
        Trie::Leaf(leaf) => {
            let leaf = read.read(truths, leaf);
            Trie::Leaf(truths.exists(leaf, level, &[]))
        }
        Trie::Split(split) if split.level == level => {
            let mut found = match (&split.rest, truths.any()) {
                (Trie::Leaf(leaf), false) => Trie::Leaf(read.read(truths, leaf)),
                _ => {
                    let rest = copy(truths, read, &split.rest);
                    let mut taken = Vec::new();
                    if truths.any() {
                        split.points.each(&mut |key, _| {
                            taken.push(key.clone());
                            true
                        });
                    }
                    change(truths, &rest, &mut |truths, leaf| truths.exists(leaf, level, &taken))
                }
            };
            split.points.each(&mut |_, child| {
                found = join(truths, Op::Or, &found, read, child);
                !matches!(found, Trie::Leaf(Truth::YES))
            });
            found
        }
        Trie::Split(split) if split.level < level => split.map(|_, child| exists(truths, read, child, level)),
        Trie::Split(_) => {
            let set = copy(truths, read, trie);
            change(truths, &set, &mut |truths, leaf| truths.exists(leaf, level, &[]))
        }
    }
}

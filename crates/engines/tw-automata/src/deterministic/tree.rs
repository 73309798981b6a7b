//! Binary transition trees: which atoms a state looks at, in which order, and where it goes.

use rustc_hash::FxHashMap;

/// A tree of a [`Forest`]: a leaf, which is a state, or a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tree(u32);

const LEAF: u32 = 1 << 31;

impl Tree {
    /// The tree that tests nothing.
    pub fn leaf(state: u32) -> Self {
        debug_assert!(state < LEAF);
        Tree(state | LEAF)
    }

    /// The state of a leaf.
    pub fn state(self) -> Option<u32> {
        (self.0 & LEAF != 0).then_some(self.0 & !LEAF)
    }
}

/// A test of an atom, with the trees for false and true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Test {
    /// The atom.
    pub atom: u32,
    /// Where it is false.
    pub low: Tree,
    /// Where it is true.
    pub high: Tree,
}

/// Trees that share what they have in common. No test has equal branches, and along a path atoms grow, so equal
/// functions are equal trees.
#[derive(Clone, Debug, Default)]
pub struct Forest {
    tests: Vec<Test>,
    index: FxHashMap<Test, Tree>,
}

impl Forest {
    /// Number of tests.
    pub fn len(&self) -> usize {
        self.tests.len()
    }

    /// Whether all trees are leaves.
    pub fn is_empty(&self) -> bool {
        self.tests.is_empty()
    }

    /// The test at the root of a tree, unless it is a leaf.
    pub fn test(&self, tree: Tree) -> Option<Test> {
        (tree.0 & LEAF == 0).then(|| self.tests[tree.0 as usize])
    }

    /// The tree that tests `atom` first.
    pub fn branch(&mut self, atom: u32, low: Tree, high: Tree) -> Tree {
        if low == high {
            return low;
        }
        let test = Test { atom, low, high };
        *self.index.entry(test).or_insert_with(|| {
            self.tests.push(test);
            Tree((self.tests.len() - 1) as u32)
        })
    }

    /// The state that a tree leads to.
    pub fn walk(&self, mut tree: Tree, holds: impl Fn(u32) -> bool) -> u32 {
        loop {
            if tree.0 & LEAF != 0 {
                return tree.0 & !LEAF;
            }
            let test = &self.tests[tree.0 as usize];
            tree = if holds(test.atom) { test.high } else { test.low };
        }
    }

    /// The states that a tree leads to, ascending.
    pub fn leaves(&self, tree: Tree) -> Vec<u32> {
        let mut seen = rustc_hash::FxHashSet::default();
        let (mut todo, mut states) = (vec![tree], Vec::new());
        while let Some(tree) = todo.pop() {
            if !seen.insert(tree) {
                continue;
            }
            match (tree.state(), self.test(tree)) {
                (Some(state), _) => states.push(state),
                (_, Some(test)) => todo.extend([test.low, test.high]),
                _ => {}
            }
        }
        states.sort_unstable();
        states
    }

    /// The most atoms tested on the way to a leaf.
    pub fn depth(&self, tree: Tree) -> usize {
        // Branches stand before the tests that have them.
        let mut depths: FxHashMap<Tree, usize> = FxHashMap::default();
        let mut todo = vec![tree];
        while let Some(&next) = todo.last() {
            let below = |tree| if self.test(tree).is_none() { Some(0) } else { depths.get(&tree).copied() };
            match self.test(next).map(|test| (test, below(test.low), below(test.high))) {
                Some((_, Some(low), Some(high))) => {
                    depths.insert(next, 1 + low.max(high));
                    todo.pop();
                }
                Some((test, low, _)) => todo.push(if low.is_none() { test.low } else { test.high }),
                None => return 0,
            }
        }
        depths[&tree]
    }

    /// A tree of another forest with its states and atoms renamed, atoms in the same order. `done` remembers what was
    /// copied before under the same names.
    pub fn copy(
        &mut self,
        from: &Forest,
        tree: Tree,
        atom: &dyn Fn(u32) -> u32,
        state: &dyn Fn(u32) -> u32,
        done: &mut FxHashMap<Tree, Tree>,
    ) -> Tree {
        // The recursion is as deep as there are atoms on a path.
        let Some(test) = from.test(tree) else { return Tree::leaf(state(tree.0 & !LEAF)) };
        if let Some(&known) = done.get(&tree) {
            return known;
        }
        let low = self.copy(from, test.low, atom, state, done);
        let high = self.copy(from, test.high, atom, state, done);
        let copied = self.branch(atom(test.atom), low, high);
        done.insert(tree, copied);
        copied
    }

    /// Bytes held.
    pub fn heap_bytes(&self) -> usize {
        self.tests.capacity() * size_of::<Test>() + self.index.capacity() * 20
    }
}

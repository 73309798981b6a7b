//! What depth-first search has found out: values by node and position, in pages that exist once they are written to.

use tw_automata::alternating::NodeIndex;
use tw_core::Position;

/// Positions per page: short enough that a search that stops early stays small.
const PAGE: usize = 512;

type Page<V> = Option<Box<[Option<V>]>>;

/// A value per node and position, where known.
pub(super) struct Memo<V> {
    pages: Vec<Page<V>>,
    /// Pages per node.
    per_node: usize,
    page_len: usize,
    /// Bytes in pages.
    bytes: usize,
    /// Bytes that each value holds outside of itself.
    per_value: usize,
}

impl<V: Clone> Memo<V> {
    /// `per_value` is what a value holds outside of itself. `None` if the table of pages alone exceeds the budget.
    pub(super) fn new(nodes: usize, len: usize, per_value: usize, budget: usize) -> Option<Self> {
        let page_len = PAGE.min(len.max(1));
        let per_node = len.div_ceil(page_len);
        let count = nodes.checked_mul(per_node)?;
        let bytes = count.checked_mul(size_of::<Page<V>>()).filter(|&bytes| bytes <= budget)?;
        let pages = (0..count).map(|_| None).collect();
        Some(Self { pages, per_node, page_len, bytes, per_value })
    }

    fn place(&self, node: NodeIndex, at: Position) -> (usize, usize) {
        (node.index() * self.per_node + at / self.page_len, at % self.page_len)
    }

    pub(super) fn get(&self, node: NodeIndex, at: Position) -> Option<V> {
        let (page, offset) = self.place(node, at);
        self.pages[page].as_ref().and_then(|page| page[offset].clone())
    }

    pub(super) fn put(&mut self, node: NodeIndex, at: Position, value: V) {
        let (page, offset) = self.place(node, at);
        if self.pages[page].is_none() {
            self.pages[page] = Some((0..self.page_len).map(|_| None).collect());
            self.bytes += self.page_len * size_of::<Option<V>>();
        }
        if let Some(page) = &mut self.pages[page] {
            page[offset] = Some(value);
        }
        self.bytes += self.per_value;
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }
}

//! Values that are counted or told apart, of any kind: `mode` and `distinct`.

pub mod distinct;
mod frequent;
pub mod key;
pub mod tally;

use std::collections::{HashMap, HashSet};

/// Seeded by chance: keys come from traces, which others may write.
type Hash = foldhash::fast::RandomState;
type Map<K, V> = HashMap<K, V, Hash>;
type Set<K> = HashSet<K, Hash>;

/// About the bytes of a table: one byte and an entry for each bucket, of which seven in eight may be used.
fn table_bytes(capacity: usize, entry: usize) -> usize {
    capacity * 8 / 7 * (entry + 1)
}

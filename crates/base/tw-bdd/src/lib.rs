//! Sets of states that are not listed: decision diagrams, and relations that lead from one set to the next.
//!
//! [`Store`] has the diagrams and the operations on them, [`Relation`] a conjunction of parts that is never multiplied out.
//! State-spaces are searched with both (`tw-model`), and so are Boolean streams whose states are too many to be listed
//! (`tw-stream-boolean`).

mod relation;
mod store;

pub use relation::{Levels, Relation};
pub use store::{Bdd, Exhausted, Store};

/// The valuations in which bits, given by their levels, ascending, are so.
pub fn cube(store: &mut Store, bits: impl Iterator<Item = (u32, bool)>) -> Result<Bdd, Exhausted> {
    let bits: Vec<(u32, bool)> = bits.collect();
    bits.into_iter().rev().try_fold(Bdd::TRUE, |set, (level, one)| {
        let bit = store.bit(level)?;
        if one { store.and(bit, set) } else { store.minus(set, bit) }
    })
}

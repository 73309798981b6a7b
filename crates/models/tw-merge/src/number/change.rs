//! The change-preserving model. Transitions leave any earlier instant.

use super::{Ended, Finished, Starts, gather, instants};
use crate::Ends;
use crate::layers::{Layers, Step};
use crate::merger::{Budget, TooLarge};

pub(crate) fn rows(
    layers: Layers<[u32; 3]>,
    known: usize,
    starts: &Starts,
    ends: &Ended,
    policy: Ends,
    budget: Budget,
) -> Result<Finished, TooLarge> {
    let (numbered, positions, codes) = instants::number(&layers, known, starts, ends, budget)?;
    let mut edges = Vec::with_capacity(layers.edges());
    let mut after = vec![0u32; known];
    for (position, table) in layers.tables() {
        for state in positions.get(position) {
            after[numbered.order[numbered.names[state] as usize] as usize] = state as u32;
        }
        for (step, pass) in table.iter() {
            let (at, name) = step.from(position);
            let from = positions.state(&numbered.names, at, codes[name as usize]);
            edges.push((from, after[step.to() as usize], pass));
        }
    }
    drop(layers);
    gather(
        numbered,
        &edges,
        (policy, budget),
        |&(from, to, _)| (from, to),
        |&(_, to, pass), numbered| instants::seen(pass, numbered.positions[to as usize]),
    )
}

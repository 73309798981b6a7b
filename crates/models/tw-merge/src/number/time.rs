//! The time-preserving model. Transitions go from one instant to the next, so rows are written instant by instant.

use super::{Ended, Finished, Starts, instants};
use crate::Ends;
use crate::ends::Rows;
use crate::finish::close;
use crate::layers::{Layers, Pass};
use crate::merger::{Budget, TooLarge};
use tw_model::State;

pub(crate) fn rows(
    layers: Layers<[u32; 2]>,
    known: usize,
    starts: &Starts,
    ends: &Ended,
    policy: Ends,
    budget: Budget,
) -> Result<Finished, TooLarge> {
    let (numbered, positions, _) = instants::number(&layers, known, starts, ends, budget)?;
    let states = numbered.names.len();
    let mut rows = Rows::new(policy, &numbered.ended, budget, states, layers.edges());
    // By old code: the index of the name's state among those of its instant, before and after.
    let (mut before, mut after) = (vec![0u32; known], vec![0u32; known]);
    let index = |index: &mut [u32], position: u32| {
        let states = positions.get(position);
        for (at, &name) in numbered.names[states.clone()].iter().enumerate() {
            index[numbered.order[name as usize] as usize] = at as u32;
        }
        states
    };
    let mut from = index(&mut before, 0);
    let (mut grid, mut sorted) = (Vec::new(), Vec::new());
    for (position, table) in layers.tables() {
        let to = index(&mut after, position);
        let cells = table
            .iter()
            .map(|([a, b], pass)| (before[a as usize] as usize, after[b as usize] as usize, pass));
        let width = to.len();
        if from.len() * width <= 4 * table.len() + 64 {
            grid.clear();
            grid.resize(from.len() * width, Pass::default());
            cells.for_each(|(a, b, pass)| grid[a * width + b] = pass);
            for row in grid.chunks(width.max(1)) {
                for (b, &pass) in row.iter().enumerate().filter(|(_, pass)| pass.count > 0) {
                    rows.push((to.start + b) as State, instants::seen(pass, position));
                }
                rows.close()?;
            }
        } else {
            sorted.clear();
            sorted.extend(cells);
            sorted.sort_unstable_by_key(|&(a, b, _)| (a, b));
            let mut edges = sorted.iter().peekable();
            for at in 0..from.len() {
                while let Some(&(_, b, pass)) = edges.next_if(|&&(a, ..)| a == at) {
                    rows.push((to.start + b) as State, instants::seen(pass, position));
                }
                rows.close()?;
            }
        }
        from = to;
        std::mem::swap(&mut before, &mut after);
    }
    for _ in from {
        rows.close()?;
    }
    let graph = close(rows, policy, states, budget)?;
    Ok((numbered, graph))
}

//! Numbers for states, and their rows, from what each way of merging keeps.

pub(crate) mod chain;
pub(crate) mod change;
pub(crate) mod instants;
pub(crate) mod time;
pub(crate) mod tree;

use crate::Ends;
use crate::ends::Rows;
use crate::finish::{Numbered, close};
use crate::merger::{Budget, TooLarge};
use rustc_hash::FxHashMap;
use tw_model::{Graph, Seen, State};

/// Traces that begin with a name, by its old code.
pub(crate) type Starts = FxHashMap<u32, Seen>;

/// Traces that end in a state, by what the merger calls it.
pub(crate) type Ended = FxHashMap<[u32; 2], Seen>;

/// The states, their transitions and what was seen of those.
pub(crate) type Finished = (Numbered, (Graph, Vec<Seen>));

/// Where traces end, in the order of states.
fn ended(ends: &Ended, number: impl Fn([u32; 2]) -> State) -> Vec<(State, Seen)> {
    let mut ended: Vec<_> = ends.iter().map(|(&state, &seen)| (number(state), seen)).collect();
    ended.sort_unstable_by_key(|&(state, _)| state);
    ended
}

/// Rows from transitions in any order, each of which is there once.
fn gather<E>(
    numbered: Numbered,
    edges: &[E],
    ends: (Ends, Budget),
    between: impl Fn(&E) -> (State, State),
    seen: impl Fn(&E, &Numbered) -> Seen,
) -> Result<Finished, TooLarge> {
    let (ends, budget) = ends;
    let states = numbered.names.len();
    budget.edges(edges.len())?;
    let mut starts = vec![0u32; states + 1];
    for edge in edges {
        starts[between(edge).0 as usize + 1] += 1;
    }
    for state in 0..states {
        starts[state + 1] += starts[state];
    }
    let mut next = starts.clone();
    let mut order = vec![0u32; edges.len()];
    for (index, edge) in edges.iter().enumerate() {
        let place = &mut next[between(edge).0 as usize];
        order[*place as usize] = index as u32;
        *place += 1;
    }
    let to = |index: &u32| between(&edges[*index as usize]).1;
    let mut rows = Rows::new(ends, &numbered.ended, budget, states, edges.len());
    for state in 0..states {
        let row = &mut order[starts[state] as usize..starts[state + 1] as usize];
        if !row.is_sorted_by_key(to) {
            row.sort_unstable_by_key(to);
        }
        for &index in &*row {
            let edge = &edges[index as usize];
            rows.push(between(edge).1, seen(edge, &numbered));
        }
        rows.close()?;
    }
    let graph = close(rows, ends, states, budget)?;
    Ok((numbered, graph))
}

//! The state-preserving model, and those that keep history: states in the order in which they first appear, which is
//! that of their names where no history is kept.

use super::{Ended, Finished, Starts, ended, gather};
use crate::Ends;
use crate::chain::{Chain, NONE};
use crate::finish::{Numbered, appearance};
use crate::merger::{Budget, TooLarge};
use tw_model::{Seen, State};

pub(crate) fn rows(
    mut chain: Chain,
    known: usize,
    starts: &Starts,
    ends: &Ended,
    policy: Ends,
    budget: Budget,
) -> Result<Finished, TooLarge> {
    let roots: Vec<(u32, Seen)> = starts.iter().map(|(&name, &seen)| (chain.root(name), seen)).collect();
    let mut seen = vec![Seen::default(); chain.states()];
    roots.iter().for_each(|(state, start)| seen[*state as usize].add(start));
    for (_, walk) in chain.edges.iter() {
        seen[walk.target as usize].add(&walk.seen);
    }
    // A trace that comes by several transitions was counted for each.
    (0u32..).zip(&mut seen).for_each(|(state, seen)| seen.traces = chain.traces(state));

    let mut states: Vec<u32> = (0..chain.states() as u32).filter(|&id| seen[id as usize].count > 0).collect();
    budget.states(states.len())?;
    states.sort_unstable_by_key(|&id| seen[id as usize].first);
    let name = |id: u32| chain.before(id, 0);
    let mut first = vec![None; known];
    for &id in states.iter().rev() {
        first[name(id) as usize] = Some(seen[id as usize].first);
    }
    let (order, codes) = appearance(&first);
    let mut numbers = vec![NONE; chain.states()];
    (0u32..).zip(&states).for_each(|(number, &id)| numbers[id as usize] = number);
    let number = |id: u32| numbers[id as usize];

    let history = chain.history();
    let back = |length: usize| {
        let before = |&id: &u32| chain.before(id, length);
        let code = |name: u32| if name == NONE { 0 } else { codes[name as usize] + 1 };
        states.iter().map(before).map(code).collect()
    };
    let mut initial: Vec<(State, u64)> = roots.iter().map(|&(id, start)| (number(id), start.count)).collect();
    initial.sort_unstable();
    let numbered = Numbered {
        names: states.iter().map(|&id| codes[name(id) as usize]).collect(),
        backs: (1..=history).map(back).collect(),
        seen: states.iter().map(|&id| seen[id as usize]).collect(),
        ended: ended(ends, |[id, _]| number(id)),
        positions: Vec::new(),
        order,
        initial,
    };
    let mut edges = Vec::with_capacity(chain.edges.len());
    edges.extend(chain.edges.iter().map(|([from, _], walk)| (number(from), number(walk.target), walk.seen)));
    drop(chain);
    gather(numbered, &edges, (policy, budget), |&(from, to, _)| (from, to), |&(_, _, seen), _| seen)
}

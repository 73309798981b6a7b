//! The tree of prefixes: states in the order in which they first appear.

use super::{Ended, Finished, Starts, ended, gather, instants};
use crate::Ends;
use crate::finish::{Numbered, appearance};
use crate::merger::{Budget, TooLarge};
use crate::tree::{NONE, Tree};
use tw_model::{Seen, State};

pub(crate) fn rows(
    mut tree: Tree,
    known: usize,
    starts: &Starts,
    ends: &Ended,
    policy: Ends,
    budget: Budget,
) -> Result<Finished, TooLarge> {
    let roots: Vec<(u32, u64)> = starts.iter().map(|(&name, start)| (tree.root(name), start.count)).collect();
    let nodes = tree.nodes;
    budget.states(nodes.len())?;
    // Parents stand before children, so their depth is known when it is asked for.
    let mut depth = Vec::with_capacity(nodes.len());
    for node in &nodes {
        depth.push(if node.parent == NONE { 0 } else { depth[node.parent as usize] + 1 });
    }
    let seen = |id: u32| instants::seen(nodes[id as usize].pass, depth[id as usize]);
    let mut states: Vec<u32> = (0..nodes.len() as u32).collect();
    states.sort_unstable_by_key(|&id| seen(id).first);
    let mut first = vec![None; known];
    for &id in states.iter().rev() {
        first[nodes[id as usize].name as usize] = Some(seen(id).first);
    }
    let (order, codes) = appearance(&first);
    let mut numbers = vec![NONE; nodes.len()];
    (0u32..).zip(&states).for_each(|(number, &id)| numbers[id as usize] = number);

    let mut initial: Vec<(State, u64)> =
        roots.iter().map(|&(id, count)| (numbers[id as usize], count)).collect();
    initial.sort_unstable();
    let numbered = Numbered {
        names: states.iter().map(|&id| codes[nodes[id as usize].name as usize]).collect(),
        seen: states.iter().map(|&id| seen(id)).collect(),
        ended: ended(ends, |[id, _]| numbers[id as usize]),
        positions: Vec::new(),
        backs: Vec::new(),
        order,
        initial,
    };
    // The transition into a state is seen whenever the state is.
    let edges: Vec<(State, State)> = states
        .iter()
        .filter(|&&id| nodes[id as usize].parent != NONE)
        .map(|&id| (numbers[nodes[id as usize].parent as usize], numbers[id as usize]))
        .collect();
    let seen = |&(_, to): &(State, State), numbered: &Numbered| -> Seen { numbered.seen[to as usize] };
    gather(numbered, &edges, (policy, budget), |&edge| edge, seen)
}

//! The fixpoints: each transition is looked at once, or twice.
//!
//! Searches run backwards from a queue that holds every state at most once. Whether a neighbour is new is a bit that is
//! moved into the queue's length, so that nothing is guessed by the processor: on random graphs every guess would be a
//! coin toss. States are taken from the queue a few at a time, and their rows are asked for together: the memory answers
//! many requests in the time of one, if none waits for another.

use super::sets::{or, without};
use tw_core::Bits;
use tw_model::{Graph, State};

/// States taken from a queue together.
const BATCH: usize = 32;

/// Where the rows of some states begin and end. The first entry of each row has been looked at, all of them at once.
#[inline]
fn rows(graph: &Graph, states: &[State]) -> [(u32, u32); BATCH] {
    let (offsets, targets) = (graph.offsets(), graph.targets());
    let mut rows = [(0, 0); BATCH];
    for (row, &state) in rows.iter_mut().zip(states) {
        *row = (offsets[state as usize], offsets[state as usize + 1]);
    }
    let first = |row: &(u32, u32)| targets.get(row.0 as usize).copied().unwrap_or(0);
    std::hint::black_box(rows[..states.len()].iter().fold(0, |all, row| all ^ first(row)));
    rows
}

/// The states that have a successor in `set`: `EX set`. Adds the transitions looked at to `work`.
pub(super) fn before(graph: &Graph, reverse: &Graph, set: &Bits, work: &mut u64) -> Bits {
    let states = graph.states();
    let count = set.count_ones();
    // Few states: their predecessors. Many: every state looks at its successors, in order.
    if count < states / 16 {
        let mut found = Bits::repeat(false, states);
        let words = found.words_mut();
        for state in set.iter_ones() {
            let row = reverse.successors(state as State);
            *work += row.len() as u64;
            row.iter().for_each(|&state| words[state as usize / 64] |= 1 << (state % 64));
        }
        return found;
    }
    *work += graph.edges() as u64;
    let (offsets, targets, set) = (graph.offsets(), graph.targets(), set.words());
    let words = (0..states.div_ceil(64)).map(|word| {
        let (first, last) = (word * 64, states.min(word * 64 + 64));
        let mut found = 0;
        for state in first..last {
            let row = &targets[offsets[state] as usize..offsets[state + 1] as usize];
            let any = row.iter().fold(0, |any, &to| any | set[to as usize / 64] >> (to % 64));
            found |= (any & 1) << (state - first);
        }
        found
    });
    Bits::from_words(words.collect(), states)
}

/// The states from which a path through `through` leads to `goal` in at most `depth` transitions: `E[through U goal]`.
pub(super) fn reach(graph: &Graph, reverse: &Graph, through: &Bits, goal: &Bits, depth: u64) -> Bits {
    let mut open = without(through, goal);
    let start = goal.count_ones();
    // One more place than can be filled: what is not new is written, too, and overwritten by the next.
    let mut queue: Vec<State> = vec![0; start + open.count_ones() + 1];
    goal.iter_ones().zip(&mut queue).for_each(|(state, place)| *place = state as State);
    let targets = reverse.targets();
    let (mut done, mut filled, mut layers) = (0, start, 0);
    while done < filled && layers < depth {
        let layer = filled;
        layers += 1;
        // Many states at once: all that are open look at their successors, in the order of the memory. What is found
        // counts for those that come later, so this is for searches without a bound.
        if depth == u64::MAX && layer - done > graph.states() / 16 {
            done = layer;
            let reached = or(goal, &without(through, &open));
            filled = pull(graph, &mut open, reached, &mut queue, filled);
            continue;
        }
        let words = open.words_mut();
        while done < layer {
            let batch = BATCH.min(layer - done);
            let rows = rows(reverse, &queue[done..done + batch]);
            done += batch;
            for &from in rows[..batch].iter().flat_map(|row| &targets[row.0 as usize..row.1 as usize]) {
                let word = &mut words[from as usize / 64];
                let new = *word >> (from % 64) & 1;
                *word &= !(1 << (from % 64));
                queue[filled] = from;
                filled += new as usize;
            }
        }
    }
    or(goal, &without(through, &open))
}

/// Moves open states with a reached successor to the queue; how far it is filled then.
fn pull(graph: &Graph, open: &mut Bits, mut reached: Bits, queue: &mut [State], mut filled: usize) -> usize {
    let (offsets, targets) = (graph.offsets(), graph.targets());
    let (words, reached) = (open.words_mut(), reached.words_mut());
    for index in 0..words.len() {
        let mut rest = words[index];
        while rest != 0 {
            let bit = rest.trailing_zeros();
            rest &= rest - 1;
            let state = index * 64 + bit as usize;
            let row = &targets[offsets[state] as usize..offsets[state + 1] as usize];
            let any = row.iter().fold(0, |any, &to| any | reached[to as usize / 64] >> (to % 64)) & 1;
            reached[index] |= any << bit;
            words[index] &= !(any << bit);
            queue[filled] = state as State;
            filled += any as usize;
        }
    }
    filled
}

/// How long paths can stay.
pub(super) struct Stay {
    /// The states from which a path of `depth` transitions stays, or is released on the way.
    pub set: Bits,
    /// For each state within that cannot stay so long: how many transitions it can. For all others the greatest number.
    pub ranks: Option<Vec<u32>>,
}

/// The states from which a path stays in `within` for `depth` transitions, or until it is in `released`:
/// `E[released R within]` for released states within. By counting the successors that are left.
pub(super) fn stay(
    graph: &Graph,
    reverse: &Graph,
    within: &Bits,
    released: &Bits,
    depth: u64,
    ranked: bool,
) -> Stay {
    let states = graph.states();
    let mut open = without(within, released);
    let mut ranks = ranked.then(|| vec![u32::MAX; states]);
    if depth == 0 {
        return Stay { set: within.clone(), ranks };
    }
    let mut counts = vec![0u32; states];
    let mut queue: Vec<State> = vec![0; open.count_ones() + 1];
    let mut filled = 0;
    let (offsets, targets, inside) = (graph.offsets(), graph.targets(), within.words());
    for state in open.iter_ones() {
        let row = &targets[offsets[state] as usize..offsets[state + 1] as usize];
        let left = row.iter().map(|&to| (inside[to as usize / 64] >> (to % 64) & 1) as u32).sum::<u32>();
        counts[state] = left;
        queue[filled] = state as State;
        filled += usize::from(left == 0);
    }
    let words = open.words_mut();
    queue[..filled].iter().for_each(|&state| words[state as usize / 64] &= !(1 << (state % 64)));
    let targets = reverse.targets();
    let (mut done, mut layers) = (0, 1u64);
    loop {
        if let Some(ranks) = &mut ranks {
            let rank = u32::try_from(layers - 1).unwrap_or(u32::MAX);
            queue[done..filled].iter().for_each(|&state| ranks[state as usize] = rank);
        }
        if done == filled || layers >= depth {
            break;
        }
        let layer = filled;
        while done < layer {
            let batch = BATCH.min(layer - done);
            let rows = rows(reverse, &queue[done..done + batch]);
            done += batch;
            for &from in rows[..batch].iter().flat_map(|row| &targets[row.0 as usize..row.1 as usize]) {
                // States outside have no count; theirs wraps round, and their bit is not open.
                let count = &mut counts[from as usize];
                *count = count.wrapping_sub(1);
                let word = &mut words[from as usize / 64];
                let gone = (*word >> (from % 64) & 1) & u64::from(*count == 0);
                *word &= !(gone << (from % 64));
                queue[filled] = from;
                filled += gone as usize;
            }
        }
        layers += 1;
    }
    let gone = without(&without(within, released), &open);
    Stay { set: without(within, &gone), ranks }
}

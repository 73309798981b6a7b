//! From traces to the model's states, and from paths back to traces.

use super::{ENDS, KEEPS, merge, naive, random};
use crate::{Ends, Follower, Found, Keep, Piece, Splice};
use std::collections::BTreeMap;
use tw_model::{Model, State};
use tw_testkit::{Rng, cases};

/// Codes of names in the model, by their codes in the traces.
fn codes(model: &Model, count: usize) -> Vec<u32> {
    let code = |name: usize| model.variables[0].domain.code(&tw_core::Value::text(&format!("s{name}")));
    (0..count).map(|name| code(name).unwrap_or(u32::MAX)).collect()
}

fn key(model: &Model, keep: Keep, state: State, back: &[Option<u32>]) -> naive::Key {
    let name = back[model.code(0, state) as usize];
    let before = |length: u32| {
        let code = model.code(length as usize, state);
        code.checked_sub(1).and_then(|code| back[code as usize])
    };
    match keep {
        Keep::State => vec![name],
        Keep::Time | Keep::Change => vec![Some(model.code(1, state) + 1), name],
        Keep::History(k) => (1..=k).rev().map(before).chain([name]).collect(),
        Keep::Tree => {
            // The names on the only way to it.
            let mut names = vec![name];
            let mut at = state;
            let into = |at: State| model.graph.iter().find(|&(from, to)| to == at && from != at);
            while let Some((from, _)) = into(at) {
                names.insert(0, back[model.code(0, from) as usize]);
                at = from;
            }
            names
        }
    }
}

/// Where each trace is, by definition: states with positions, `end` included.
fn walks(model: &Model, keep: Keep, ends: Ends, traces: &[Vec<u32>]) -> Vec<Vec<(State, u64)>> {
    let count = 8;
    let mut back = vec![None; count + 1];
    for (name, code) in (0u32..).zip(codes(model, count)) {
        if code != u32::MAX {
            back[code as usize] = Some(name);
        }
    }
    let real = model.states() - usize::from(ends == Ends::State && model.states() > 0);
    let states: BTreeMap<naive::Key, State> =
        (0..real as State).map(|state| (key(model, keep, state, &back), state)).collect();
    let walk = |trace: &Vec<u32>| {
        let mut walk: Vec<(State, u64)> =
            naive::moments(keep, trace).into_iter().map(|(key, at)| (states[&key], at)).collect();
        if ends == Ends::State && !trace.is_empty() {
            walk.push((real as State, trace.len() as u64 - 1));
        }
        walk
    };
    traces.iter().map(walk).collect()
}

#[test]
fn traces_are_followed_to_their_states() {
    for seed in 0..cases(2_000).min(4_000) {
        let mut rng = Rng::new(seed);
        let (count, traces) = random::traces(&mut rng);
        for keep in KEEPS {
            let ends = rng.pick(&ENDS);
            let model = merge(keep, ends, &traces);
            let codes = codes(&model, count);
            let mut follower = Follower::new(&model).expect("merged");
            let walks = walks(&model, keep, ends, &traces);
            for (trace, walk) in traces.iter().zip(walks).filter(|(trace, _)| !trace.is_empty()) {
                // The state `end` has no position of its own.
                let length = walk.len() - usize::from(ends == Ends::State);
                let mut walk = walk.into_iter().take(length).peekable();
                for (at, &name) in (0u64..).zip(trace) {
                    let code = codes[name as usize];
                    let found = if at == 0 { follower.start(code) } else { follower.step(code) };
                    let expected = walk.next_if(|&(_, position)| position == at).map(|(state, _)| state);
                    assert_eq!(found, expected, "seed {seed}: {keep}, {ends}, {trace:?} at {at}");
                    assert_eq!(follower.position(), at);
                }
            }
            // What the model has not seen is nowhere, also after states that it has.
            assert_eq!(follower.start(u32::MAX), None);
            assert_eq!(follower.step(u32::MAX), None);
        }
    }
}

/// Where traces have left the model they may come back to it.
#[test]
fn strangers_are_followed_as_far_as_they_are_known() {
    let traces = [vec![0, 1, 2, 0], vec![1, 1, 1, 2]];
    let stranger = [0, 7, 1, 2];
    let expected = [
        (Keep::State, [Some("s0"), None, Some("s1"), Some("s2")]),
        (Keep::Time, [Some("s0 @ 1"), None, Some("s1 @ 3"), Some("s2 @ 4")]),
        (Keep::Change, [Some("s0 @ 1"), None, None, Some("s2 @ 4")]),
        (Keep::History(1), [Some("s0"), None, None, Some("s2")]),
        (Keep::Tree, [Some("s0"), None, None, None]),
    ];
    for (keep, expected) in expected {
        let model = merge(keep, Ends::Dead, &traces);
        let codes = codes(&model, 8);
        let mut follower = Follower::new(&model).expect("merged");
        let mut step = |(at, &name): (usize, &usize)| {
            let code = codes[name];
            let state = if at == 0 { follower.start(code) } else { follower.step(code) };
            state.map(|state| model.label(state))
        };
        let found: Vec<Option<String>> = stranger.iter().enumerate().map(&mut step).collect();
        assert_eq!(found, expected.map(|label| label.map(str::to_string)), "{keep}");
    }
    assert!(Follower::new(&Model::default()).is_none());
}

/// A loop that is only assumed is no way to go on.
#[test]
fn assumed_loops_are_not_followed_in_trees() {
    let model = merge(Keep::Tree, Ends::All, &[vec![0], vec![0, 0, 0]]);
    let mut follower = Follower::new(&model).expect("merged");
    assert_eq!(
        [follower.start(0), follower.step(0), follower.step(0), follower.step(0)],
        [Some(0), Some(1), Some(2), None]
    );
}

/// The lowest trace and position at which a part of a path is.
fn search(walks: &[Vec<(State, u64)>], part: &[State]) -> Option<Found> {
    for (trace, walk) in (0u32..).zip(walks) {
        for window in walk.windows(part.len()) {
            if window.iter().map(|&(state, _)| state).eq(part.iter().copied()) {
                return Some(Found { trace, first: window[0].1, last: window[part.len() - 1].1 });
            }
        }
    }
    None
}

fn pieces(walks: &[Vec<(State, u64)>], path: &[State]) -> Vec<Piece> {
    if path.len() == 1 {
        return vec![Piece { steps: 0..1, found: search(walks, path) }];
    }
    let mut pieces: Vec<Piece> = Vec::new();
    let mut start = 0;
    while start + 1 < path.len() {
        let ends = (start + 2..=path.len()).rev();
        let best = ends.map(|end| (end, search(walks, &path[start..end]))).find(|(_, found)| found.is_some());
        let (end, found) = best.unwrap_or((start + 2, None));
        match pieces.last_mut() {
            Some(last) if last.found.is_none() && found.is_none() => last.steps.end = end,
            _ => pieces.push(Piece { steps: start..end, found }),
        }
        start = end - 1;
    }
    pieces
}

/// The fewest pieces by dynamic programming over all ways to cut, transitions that nobody went counting nothing.
fn fewest(walks: &[Vec<(State, u64)>], path: &[State]) -> usize {
    let mut least = vec![usize::MAX; path.len()];
    least[0] = 0;
    for end in 1..path.len() {
        for start in 0..end {
            if search(walks, &path[start..=end]).is_some() {
                least[end] = least[end].min(least[start].saturating_add(1));
            } else if start + 1 == end {
                least[end] = least[end].min(least[start]);
            }
        }
    }
    least[path.len() - 1]
}

#[test]
fn paths_are_cut_into_the_fewest_pieces() {
    let (mut whole, mut spliced, mut assumed) = (0, 0, 0);
    for seed in 0..cases(2_000).min(4_000) {
        let mut rng = Rng::new(seed);
        let (count, traces) = random::traces(&mut rng);
        for keep in KEEPS {
            let ends = rng.pick(&ENDS);
            let model = merge(keep, ends, &traces);
            if model.initial.is_empty() {
                continue;
            }
            let mut path = vec![rng.pick(&model.initial)];
            for _ in 0..rng.below(12) {
                let successors = model.graph.successors(path[path.len() - 1]);
                if successors.is_empty() {
                    break;
                }
                path.push(rng.pick(successors));
            }
            let walks = walks(&model, keep, ends, &traces);
            let codes = codes(&model, count);
            let mut splice = Splice::new(&model, &path).expect("merged");
            let mut order: Vec<usize> = (0..traces.len()).collect();
            for at in (1..order.len()).rev() {
                order.swap(at, rng.below(at + 1));
            }
            for index in order {
                splice.begin(index as u32);
                for part in traces[index].chunks(1 + rng.below(5)) {
                    splice.extend(&part.iter().map(|&name| codes[name as usize]).collect::<Vec<_>>());
                }
                splice.end();
            }
            let found = splice.finish();
            let case = format!("seed {seed}: {keep}, {ends}, {path:?}, {traces:?}");
            assert_eq!(found, pieces(&walks, &path), "{case}");
            let real = found.iter().filter(|piece| piece.found.is_some()).count();
            if path.len() > 1 {
                assert_eq!(real, fewest(&walks, &path), "{case}");
            }
            match &found[..] {
                [Piece { found: Some(_), .. }] => whole += 1,
                _ => spliced += 1,
            }
            assumed += usize::from(found.iter().any(|piece| piece.found.is_none()));
        }
    }
    assert!(whole > 100 && spliced > 100 && assumed > 100, "{whole} {spliced} {assumed}");
}

//! Which traces a path of a model is made of: whether one went all along it, or the fewest pieces of traces that do.
//!
//! The path becomes a suffix automaton (Blumer et al. 1985), through which traces go state by state: at each it knows the
//! longest part of the path that ends there. To cut off as much as some trace has, again and again from the front, gives
//! the fewest pieces, since every part of a part that a trace has is one.

use crate::Follower;
use rustc_hash::FxHashMap;
use std::ops::Range;
use tw_model::{Model, Place, State};

/// A part of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Which states of the path. Pieces share the state in which one ends and the next begins.
    pub steps: Range<usize>,
    /// The trace that went along it, the lowest if there are several, and the positions in it of the first and the last
    /// state; `None` if no trace did, as with loops that are only assumed. The state `end` is at the last position of
    /// its trace.
    pub found: Option<Found>,
}

/// Where a part of a path is in the traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// Index of the trace.
    pub trace: u32,
    /// Position of the first state.
    pub first: u64,
    /// Position of the last state.
    pub last: u64,
}

/// Looks for a path in traces, which are given as to a [`crate::Merger`], with the codes of names that the model has.
#[derive(Clone, Debug)]
pub struct Splice<'m> {
    follower: Follower<'m>,
    path: Vec<State>,
    /// Whether a state of the model is on the path.
    on_path: Vec<bool>,
    /// The state in which all traces end, if the model has one.
    end: Option<State>,
    automaton: Automaton,
    /// For each state of the automaton: how long a part of the path was found, and where its last state is. Longer ones
    /// are only kept of later places, so both ascend.
    found: Vec<Vec<(u32, Place)>>,
    trace: u32,
    started: bool,
    /// The part of the path that the trace has just gone along.
    node: u32,
    length: u32,
}

#[derive(Clone, Debug)]
struct Automaton {
    next: FxHashMap<(u32, State), u32>,
    length: Vec<u32>,
    /// Suffix links; the first state has itself.
    link: Vec<u32>,
    /// The state of each prefix of the path.
    prefix: Vec<u32>,
}

impl Automaton {
    fn new(path: &[State]) -> Self {
        let mut automaton = Self {
            next: FxHashMap::default(),
            length: vec![0],
            link: vec![0],
            prefix: Vec::with_capacity(path.len()),
        };
        // Which states a state has transitions under, as those of a clone are copied.
        let mut under: Vec<Vec<State>> = vec![Vec::new()];
        let mut last = 0;
        for &state in path {
            let new = automaton.push(automaton.length[last as usize] + 1, 0);
            under.push(Vec::new());
            let mut at = Some(last);
            let mut met = None;
            while let Some(node) = at {
                met = automaton.next.get(&(node, state)).copied();
                if met.is_some() {
                    break;
                }
                automaton.next.insert((node, state), new);
                under[node as usize].push(state);
                at = (node != 0).then(|| automaton.link[node as usize]);
            }
            if let (Some(node), Some(met)) = (at, met) {
                let length = automaton.length[node as usize] + 1;
                if automaton.length[met as usize] == length {
                    automaton.link[new as usize] = met;
                } else {
                    let clone = automaton.push(length, automaton.link[met as usize]);
                    under.push(under[met as usize].clone());
                    for &state in &under[met as usize] {
                        let to = automaton.next[&(met, state)];
                        automaton.next.insert((clone, state), to);
                    }
                    automaton.link[met as usize] = clone;
                    automaton.link[new as usize] = clone;
                    let mut at = Some(node);
                    while let Some(node) = at.filter(|&node| automaton.next.get(&(node, state)) == Some(&met))
                    {
                        automaton.next.insert((node, state), clone);
                        at = (node != 0).then(|| automaton.link[node as usize]);
                    }
                }
            }
            automaton.prefix.push(new);
            last = new;
        }
        automaton
    }

    fn push(&mut self, length: u32, link: u32) -> u32 {
        self.length.push(length);
        self.link.push(link);
        self.length.len() as u32 - 1
    }

    /// The state of the part of that length which ends with that prefix.
    fn part(&self, prefix: usize, length: u32) -> u32 {
        let mut node = self.prefix[prefix];
        while self.length[self.link[node as usize] as usize] >= length {
            node = self.link[node as usize];
        }
        node
    }
}

impl<'m> Splice<'m> {
    /// For a path of a merged model, i.e. states of which each leads to the next. `None` if the model does not say how it
    /// was merged.
    pub fn new(model: &'m Model, path: &[State]) -> Option<Self> {
        let follower = Follower::new(model)?;
        let automaton = Automaton::new(path);
        let mut on_path = vec![false; model.states()];
        for &state in path {
            *on_path.get_mut(state as usize)? = true;
        }
        Some(Self {
            follower,
            path: path.to_vec(),
            on_path,
            end: end(model),
            found: vec![Vec::new(); automaton.length.len()],
            automaton,
            trace: 0,
            started: false,
            node: 0,
            length: 0,
        })
    }

    /// A trace begins.
    pub fn begin(&mut self, trace: u32) {
        (self.trace, self.started, self.node, self.length) = (trace, false, 0, 0);
    }

    /// The trace goes on.
    pub fn extend(&mut self, names: &[u32]) {
        for &name in names {
            let state = if self.started { self.follower.step(name) } else { self.follower.start(name) };
            self.started = true;
            match state {
                Some(state) => self.step(state, self.follower.position()),
                // A state that lasts is no step.
                None if self.follower.keep() == crate::Keep::Change && self.follower.state().is_some() => {}
                None => (self.node, self.length) = (0, 0),
            }
        }
    }

    /// The trace has ended.
    pub fn end(&mut self) {
        if let Some(end) = self.end.filter(|_| self.started && self.follower.state().is_some()) {
            self.step(end, self.follower.position());
        }
    }

    fn step(&mut self, state: State, position: u64) {
        if !self.on_path[state as usize] {
            (self.node, self.length) = (0, 0);
            return;
        }
        loop {
            if let Some(&next) = self.automaton.next.get(&(self.node, state)) {
                self.node = next;
                self.length += 1;
                break;
            }
            if self.node == 0 {
                break;
            }
            self.node = self.automaton.link[self.node as usize];
            self.length = self.automaton.length[self.node as usize];
        }
        keep(&mut self.found[self.node as usize], self.length, Place::new(self.trace, position));
    }

    /// The pieces that the path is made of, in order: as few as can be, the first as long as can be, then the second…
    pub fn finish(mut self) -> Vec<Piece> {
        // A part that ends where a longer one was found was found too.
        let mut nodes: Vec<u32> = (1..self.automaton.length.len() as u32).collect();
        nodes.sort_unstable_by_key(|&node| self.automaton.length[node as usize]);
        for &node in nodes.iter().rev() {
            let link = self.automaton.link[node as usize];
            if let (true, Some(&(_, place))) = (link != 0, self.found[node as usize].first()) {
                keep(&mut self.found[link as usize], self.automaton.length[link as usize], place);
            }
        }
        let mut longest = vec![0; self.found.len()];
        for &node in &nodes {
            let link = self.automaton.link[node as usize];
            longest[node as usize] =
                self.found[node as usize].last().map_or(longest[link as usize], |found| found.0);
        }
        let longest = |prefix: usize| longest[self.automaton.prefix[prefix] as usize] as usize;

        let mut pieces: Vec<Piece> = Vec::new();
        let mut start = 0;
        if self.path.len() == 1 {
            pieces.push(Piece { steps: 0..1, found: self.locate(0, 0) });
        }
        while start + 1 < self.path.len() {
            let mut last = start;
            while last + 1 < self.path.len() && longest(last + 1) >= last + 2 - start {
                last += 1;
            }
            if last > start {
                pieces.push(Piece { steps: start..last + 1, found: self.locate(start, last) });
                start = last;
                continue;
            }
            // Nobody went on from here: one piece for all such transitions in a row.
            match pieces.last_mut().filter(|piece| piece.found.is_none()) {
                Some(piece) => piece.steps.end += 1,
                None => pieces.push(Piece { steps: start..start + 2, found: None }),
            }
            start += 1;
        }
        pieces
    }

    /// Where a part of the path is, from one of its states to another.
    fn locate(&self, start: usize, last: usize) -> Option<Found> {
        let length = (last + 1 - start) as u32;
        let found = &self.found[self.automaton.part(last, length) as usize];
        let &(_, place) = found.iter().find(|&&(found, _)| found >= length)?;
        let mut steps = u64::from(length) - 1;
        if self.end == Some(self.path[last]) {
            steps = steps.saturating_sub(1);
        }
        let first = match self.follower.instant(self.path[start]) {
            Some(instant) if length > 1 => u64::from(instant),
            _ => place.line() - steps,
        };
        Some(Found { trace: place.trace(), first, last: place.line() })
    }
}

/// Keeps a part that was found unless a longer one was, no later.
fn keep(found: &mut Vec<(u32, Place)>, length: u32, place: Place) {
    let longer = found.partition_point(|&(other, _)| other < length);
    if length == 0 || found.get(longer).is_some_and(|&(_, other)| other <= place) {
        return;
    }
    let upto = longer + usize::from(found.get(longer).is_some_and(|&(other, _)| other == length));
    let from = found[..longer].partition_point(|&(_, other)| other < place);
    found.splice(from..upto, [(length, place)]);
}

/// The state in which all traces end, if the model has one: the only one that nothing but itself follows.
fn end(model: &Model) -> Option<State> {
    model.merged.as_ref().filter(|merged| merged.ends == "state")?;
    let name = model.variable("state")?;
    (0..model.states() as State).rev().find(|&state| {
        model.graph.successors(state) == [state] && model.value(name, state).to_string().starts_with("end")
    })
}

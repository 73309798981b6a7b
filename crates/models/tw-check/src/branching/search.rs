//! Paths: shortest ones, those of an exact length, and those that go on for ever. Of equally good states the lowest
//! number is taken, so that the same question has the same answer.

use super::fair::good;
use crate::Checker;
use tw_core::Bits;
use tw_model::{Graph, State};

/// States that an exact walk may hold, all steps together.
const ENTRIES: usize = 1 << 23;

/// States in which a cycle is looked for first; then in eight times as many, and so on.
const BALL: usize = 1 << 12;

const NEW: State = State::MAX;

/// Searches forward. One table serves all of them; a search cleans up what it touched.
pub(super) struct Search<'a> {
    graph: &'a Graph,
    /// From where each state was met.
    parents: Vec<State>,
    /// States and transitions looked at so far.
    pub work: u64,
}

impl<'a> Search<'a> {
    pub fn new(graph: &'a Graph) -> Self {
        Self { graph, parents: vec![NEW; graph.states()], work: 0 }
    }

    /// The shortest path from a state to one in `goal`, all states before it in `through`; if `leave`, of at least one
    /// transition.
    pub fn path(
        &mut self,
        from: State,
        leave: bool,
        through: impl Fn(State) -> bool,
        goal: impl Fn(State) -> bool,
    ) -> Option<Vec<State>> {
        if !leave && goal(from) {
            return Some(vec![from]);
        }
        let mut met = vec![from];
        self.parents[from as usize] = from;
        let (mut done, mut found) = (0, None);
        'search: while done < met.len() {
            let state = met[done];
            done += 1;
            if !through(state) {
                continue;
            }
            for &to in self.graph.successors(state) {
                self.work += 1;
                if goal(to) {
                    found = Some((state, to));
                    break 'search;
                }
                if self.parents[to as usize] == NEW {
                    self.parents[to as usize] = state;
                    met.push(to);
                }
            }
        }
        let path = found.map(|(mut state, to)| {
            let mut path = vec![to, state];
            while state != from {
                state = self.parents[state as usize];
                path.push(state);
            }
            path.reverse();
            path
        });
        self.work += met.len() as u64;
        met.into_iter().for_each(|state| self.parents[state as usize] = NEW);
        path
    }

    /// A path of exactly `steps` transitions, all states before the last in `through`, the last one in `goal`; or a
    /// shorter one to a state in `stop`. `None` if too many states are in play.
    pub fn walk(
        &mut self,
        from: State,
        steps: u64,
        through: impl Fn(State) -> bool,
        stop: impl Fn(State) -> bool,
        goal: impl Fn(State) -> bool,
    ) -> Option<(Vec<State>, bool)> {
        // Step by step, the states that can be there, each with the place of one that leads to it.
        let mut entries: Vec<(State, u32)> = vec![(from, 0)];
        let (mut start, mut step) = (0, 0);
        let (at, stopped) = loop {
            let layer = start..entries.len();
            if step == steps {
                break (layer.into_iter().find(|&at| goal(entries[at].0))?, false);
            }
            if let Some(at) = layer.clone().find(|&at| stop(entries[at].0)) {
                break (at, true);
            }
            for at in layer.clone() {
                let state = entries[at].0;
                if !through(state) {
                    continue;
                }
                for &to in self.graph.successors(state) {
                    if self.parents[to as usize] == NEW {
                        self.parents[to as usize] = state;
                        entries.push((to, at as u32));
                    }
                }
                self.work += self.graph.successors(state).len() as u64;
            }
            entries[layer.end..].iter().for_each(|(state, _)| self.parents[*state as usize] = NEW);
            if entries.len() > ENTRIES {
                return None;
            }
            (start, step) = (layer.end, step + 1);
        };
        let mut path = vec![entries[at].0];
        let mut at = at;
        while at > 0 {
            at = entries[at].1 as usize;
            path.push(entries[at].0);
        }
        path.reverse();
        Some((path, stopped))
    }

    /// A path within a set that goes on for ever and meets every fairness set again and again: a short stem to states
    /// among which that is possible, then a cycle there. Where the cycle begins comes second.
    pub fn lasso(&mut self, checker: &Checker, from: State, within: &Bits) -> Option<(Vec<State>, usize)> {
        let inside = |state: State| within.get(state as usize);
        let mut size = BALL;
        let (home, here) = loop {
            let ball = self.ball(from, size, inside);
            let found = self.component(checker, &ball);
            ball.iter().for_each(|&state| self.parents[state as usize] = NEW);
            match found {
                Some(found) => break found,
                None if ball.len() < size => return None,
                None => size *= 8,
            }
        };
        let mut steps = self.path(from, false, inside, |state| state == home)?;
        let begin = steps.len() - 1;
        let here = |state: State| here.get(state as usize);
        let mut unmet: Vec<&Bits> = checker.fair_sets().iter().collect();
        unmet.retain(|set| !set.get(home as usize));
        let mut at = home;
        while !unmet.is_empty() {
            let goal = |state: State| here(state) && unmet.iter().any(|set| set.get(state as usize));
            let part = self.path(at, false, here, goal)?;
            at = part[part.len() - 1];
            // All that the way meets is met.
            unmet.retain(|set| !part.iter().any(|&state| set.get(state as usize)));
            steps.extend_from_slice(&part[1..]);
        }
        let back = self.path(at, true, here, |state| state == home)?;
        steps.extend_from_slice(&back[1..back.len() - 1]);
        Some((steps, begin))
    }

    /// The states nearest to one, at most `size`. Until they are forgotten, `parents` has their places in the list.
    fn ball(&mut self, from: State, size: usize, inside: impl Fn(State) -> bool) -> Vec<State> {
        let mut ball = vec![from];
        self.parents[from as usize] = 0;
        let mut done = 0;
        while done < ball.len() {
            for &to in self.graph.successors(ball[done]) {
                if ball.len() < size && self.parents[to as usize] == NEW && inside(to) {
                    self.parents[to as usize] = ball.len() as State;
                    ball.push(to);
                }
            }
            done += 1;
        }
        ball
    }

    /// Of the components of a ball in which a path can stay and be fair, the one that is met first: where, and its states.
    fn component(&mut self, checker: &Checker, ball: &[State]) -> Option<(State, Bits)> {
        let (mut offsets, mut targets) = (vec![0], Vec::new());
        for &state in ball {
            let start = targets.len();
            let places = self.graph.successors(state).iter().map(|&to| self.parents[to as usize]);
            targets.extend(places.filter(|&place| place != NEW));
            targets[start..].sort_unstable();
            offsets.push(targets.len() as u32);
            self.work += 1 + self.graph.successors(state).len() as u64;
        }
        let graph = Graph::from_rows(offsets, targets);
        let components = graph.components(None);
        let good = good(&graph, &components, checker.fair_sets(), |place| ball[place]);
        let first = components.of.iter().position(|&of| good.get(of as usize))?;
        let mut members = Bits::repeat(false, self.graph.states());
        for (place, &state) in ball.iter().enumerate() {
            if components.of[place] == components.of[first] {
                members.set(state as usize, true);
            }
        }
        Some((ball[first], members))
    }
}

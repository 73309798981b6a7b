//! The states of a model that a trace goes through.

use crate::Keep;
use rustc_hash::FxHashMap;
use std::ops::Range;
use tw_model::{Domain, Model, State};

/// Follows traces through a merged model, also one that was read from a file: it needs the model alone.
///
/// A trace is given as the codes of its names, i.e. their numbers in the domain of the model's variable `state`; names
/// that the model does not have may be any other number. Traces that were merged go from state to state along
/// transitions; others may be at no state of the model for a while, and return to one, except in a tree.
#[derive(Clone, Debug)]
pub struct Follower<'m> {
    model: &'m Model,
    keep: Keep,
    /// Name of each state.
    names: Vec<u32>,
    finder: Finder,
    position: u64,
    name: u32,
    state: Option<State>,
    /// The last names, oldest first, as codes plus one; 0 where there was none. Empty unless history is kept.
    window: Vec<u32>,
}

/// How the state of a moment is found.
#[derive(Clone, Debug)]
enum Finder {
    /// By name.
    Name(FxHashMap<u32, State>),
    /// By instant (its number in the domain), then name.
    Instant(Instants),
    /// By the state before and the name; if that fails, by the names before.
    Step(Steps),
}

/// States by instant, then name.
#[derive(Clone, Debug)]
struct Instants {
    times: Vec<u32>,
    /// Ordered by instant, then name.
    order: Vec<State>,
    /// Where instants begin in `order`; absent if there are too many.
    begin: Option<Vec<u32>>,
}

#[derive(Clone, Debug)]
struct Steps {
    /// Initial states by name.
    initial: FxHashMap<u32, State>,
    /// Successors of each state, rows as in the graph, ordered by name.
    successors: Vec<State>,
    /// By window, where history is kept; made when a trace has left the transitions of the model.
    windows: Option<FxHashMap<Vec<u32>, State>>,
}

impl<'m> Follower<'m> {
    /// For a merged model. `None` if it was not merged, or if variables are missing that say what its states are.
    pub fn new(model: &'m Model) -> Option<Self> {
        let keep = Keep::parse(&model.merged.as_ref()?.keep)?;
        let state = model.variable("state")?;
        let names = model.codes(state);
        let states = 0..model.states() as State;
        let mut window = Vec::new();
        let finder = match keep {
            Keep::State => Finder::Name(states.rev().map(|state| (names[state as usize], state)).collect()),
            Keep::Time | Keep::Change => {
                let time = model.variable("time")?;
                let Domain::Range(1, _) = model.variables[time].domain else { return None };
                Finder::Instant(Instants::new(model.codes(time), &names))
            }
            Keep::History(length) => {
                window = vec![0; length as usize + 1];
                Finder::Step(Steps::new(model, &names))
            }
            Keep::Tree => Finder::Step(Steps::new(model, &names)),
        };
        Some(Self { model, keep, names, finder, position: 0, name: 0, state: None, window })
    }

    /// What the model keeps.
    pub fn keep(&self) -> Keep {
        self.keep
    }

    /// The state in which the trace is, if the model has it. Where changes are kept it is the one of the last change.
    pub fn state(&self) -> Option<State> {
        self.state
    }

    /// Position at which the trace is.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Position that a state of the model tells by itself, if instants are kept.
    pub(crate) fn instant(&self, state: State) -> Option<u32> {
        match &self.finder {
            Finder::Instant(instants) => Some(instants.times[state as usize]),
            _ => None,
        }
    }

    /// A trace begins: its first state.
    pub fn start(&mut self, name: u32) -> Option<State> {
        self.position = 0;
        self.name = name;
        self.window.fill(0);
        if let Some(last) = self.window.last_mut() {
            *last = name.saturating_add(1);
        }
        self.state = match &self.finder {
            Finder::Step(steps) => steps.initial.get(&name).copied(),
            _ => self.find(),
        };
        self.state
    }

    /// It goes on: its next state. Where changes are kept, `None` as long as its state does not change.
    pub fn step(&mut self, name: u32) -> Option<State> {
        self.position += 1;
        if self.keep == Keep::Change && name == self.name {
            return None;
        }
        self.name = name;
        if let Some(last) = self.window.len().checked_sub(1) {
            self.window.copy_within(1.., 0);
            self.window[last] = name.saturating_add(1);
        }
        self.state = self.find();
        self.state
    }

    fn find(&mut self) -> Option<State> {
        match &mut self.finder {
            Finder::Name(states) => states.get(&self.name).copied(),
            Finder::Instant(instants) => instants.find(&self.names, self.position, self.name),
            Finder::Step(steps) => {
                let step = self.state.and_then(|state| steps.next(self.model, &self.names, state, self.name));
                if step.is_some() || self.window.is_empty() {
                    return step;
                }
                let windows = steps
                    .windows
                    .get_or_insert_with(|| windows(self.model, self.window.len() - 1).unwrap_or_default());
                windows.get(&self.window).copied()
            }
        }
    }
}

/// Whether some trace went that way, as far as the model knows.
fn real(model: &Model, from: State, to: State) -> bool {
    let seen = model.record.as_ref().zip(model.graph.edge(from, to));
    seen.is_none_or(|(record, edge)| record.edges.get(edge as usize).is_none_or(|seen| seen.count > 0))
}

impl Instants {
    fn new(times: Vec<u32>, names: &[u32]) -> Self {
        let key = |&state: &State| (times[state as usize], names[state as usize]);
        let mut order: Vec<State> = (0..times.len() as State).collect();
        if !order.is_sorted_by_key(key) {
            order.sort_unstable_by_key(key);
        }
        let instants = times.iter().max().map_or(0, |&last| last as usize + 1);
        let begin = (instants <= 4 * times.len() + 1024).then(|| {
            let mut begin = vec![0u32; instants + 1];
            times.iter().for_each(|&time| begin[time as usize + 1] += 1);
            for at in 0..instants {
                begin[at + 1] += begin[at];
            }
            begin
        });
        Self { times, order, begin }
    }

    fn range(&self, time: u32) -> Range<usize> {
        match &self.begin {
            Some(begin) => match begin.get(time as usize..time as usize + 2) {
                Some(range) => range[0] as usize..range[1] as usize,
                None => 0..0,
            },
            None => {
                let until = |time| self.order.partition_point(|&state| self.times[state as usize] < time);
                until(time)..until(time.saturating_add(1))
            }
        }
    }

    fn find(&self, names: &[u32], position: u64, name: u32) -> Option<State> {
        let states = &self.order[self.range(u32::try_from(position).ok()?)];
        let at = states.partition_point(|&state| names[state as usize] < name);
        states.get(at).copied().filter(|&state| names[state as usize] == name)
    }
}

impl Steps {
    fn new(model: &Model, names: &[u32]) -> Self {
        let mut successors = model.graph.targets().to_vec();
        for state in 0..model.states() as State {
            let row = model.graph.row(state);
            successors[row.start as usize..row.end as usize].sort_unstable_by_key(|&to| names[to as usize]);
        }
        let initial = model.initial.iter().rev().map(|&state| (names[state as usize], state)).collect();
        Self { initial, successors, windows: None }
    }

    /// The successor of that name.
    fn next(&self, model: &Model, names: &[u32], state: State, name: u32) -> Option<State> {
        let row = model.graph.row(state);
        let row = &self.successors[row.start as usize..row.end as usize];
        let at = row.partition_point(|&to| names[to as usize] < name);
        let mut same = row[at..].iter().copied().take_while(|&to| names[to as usize] == name);
        // A loop that is only assumed has the name of its state, as a real successor may have.
        same.find(|&to| to != state || real(model, state, to))
    }
}

/// States by their windows of names.
fn windows(model: &Model, length: usize) -> Option<FxHashMap<Vec<u32>, State>> {
    let state = model.variable("state")?;
    let present = model.codes(state);
    // Names and names before are of different domains, which may be larger than what there is of them.
    let text = |variable: usize, code: u32| model.variables[variable].domain.value(code).to_string();
    let mut distinct = present.clone();
    distinct.sort_unstable();
    distinct.dedup();
    let names: FxHashMap<String, u32> = distinct.into_iter().map(|code| (text(state, code), code)).collect();
    let mut columns = Vec::new();
    for back in (1..=length).rev() {
        let variable = model.variable(&format!("back{back}"))?;
        let mut known = FxHashMap::default();
        // What is no name says that there was none.
        let mut name = |code: u32| {
            *known.entry(code).or_insert_with(|| names.get(&text(variable, code)).map_or(0, |name| name + 1))
        };
        columns.push(model.codes(variable).into_iter().map(&mut name).collect::<Vec<u32>>());
    }
    columns.push(present.into_iter().map(|code| code.saturating_add(1)).collect());
    let window = |state: State| columns.iter().map(|column| column[state as usize]).collect();
    Some((0..model.states() as State).rev().map(|state| (window(state), state)).collect())
}

//! The search for an accepting component: Tarjan's depth-first search, with Couvreur's check of acceptance on the way.

use super::Emptiness;
use super::expand::{Expansion, Next};
use super::graph::{Configuration, Configurations, Verdict};
use super::scratch::{Context, Reader, Scratch};
use super::transition::Transition;
use crate::alternating::NodeIndex;
use rustc_hash::FxHashMap;

/// Loops that are pending over some transitions: over all of them. `None` over no transition at all.
type Pending = Option<Vec<NodeIndex>>;

/// A component, as far as it is known: the configurations from `first` on, up to the next component.
struct Component {
    first: usize,
    /// Pending over the transition that led to it.
    entry: Vec<NodeIndex>,
    /// Pending over all transitions inside.
    inside: Pending,
}

/// One search. Configurations that it settles stay settled, also when it runs out of budget.
pub(super) struct Search<'a> {
    reader: Reader<'a>,
    configurations: &'a mut Configurations,
    scratch: &'a mut Scratch,
    budget: &'a mut usize,
    work: &'a mut usize,
    /// Expansions on the path from the start.
    path: Vec<Expansion>,
    /// Configurations not yet settled, in the order in which they were found, and where each stands.
    live: Vec<Configuration>,
    place: FxHashMap<Configuration, usize>,
    components: Vec<Component>,
}

impl<'a> Search<'a> {
    pub fn new(emptiness: &'a mut Emptiness, budget: &'a mut usize, work: &'a mut usize) -> Self {
        emptiness.scratch.extend(&emptiness.automaton);
        Self {
            reader: Reader { automaton: &emptiness.automaton, tables: &emptiness.tables },
            configurations: &mut emptiness.configurations,
            scratch: &mut emptiness.scratch,
            budget,
            work,
            path: Vec::new(),
            live: Vec::new(),
            place: FxHashMap::default(),
            components: Vec::new(),
        }
    }

    /// Whether `start` has an accepting run; `Unknown` when the budget runs out.
    pub fn run(mut self, start: Configuration) -> Verdict {
        let verdict = self.explore(start);
        if let Some(expansion) = self.path.last() {
            expansion.suspend(self.scratch);
        }
        if verdict == Verdict::NonEmpty {
            // Whatever is live leads to the path, and the path to the accepting component.
            for &configuration in &self.live {
                self.configurations.settle(configuration, Verdict::NonEmpty);
            }
        }
        verdict
    }

    fn explore(&mut self, start: Configuration) -> Verdict {
        if !self.enter(start, Vec::new()) {
            return Verdict::Unknown;
        }
        while let Some(expansion) = self.path.last_mut() {
            let mut context = Context { reader: self.reader, work: &mut *self.work };
            match expansion.next(&mut context, self.scratch) {
                Next::Exhausted => return Verdict::Unknown,
                Next::End => self.leave(),
                Next::Transition(transition) => match self.follow(transition) {
                    Some(verdict) => return verdict,
                    None => continue,
                },
            }
        }
        Verdict::Empty
    }

    /// Starts on a configuration that is new; false when the budget does not allow it.
    fn enter(&mut self, configuration: Configuration, entry: Vec<NodeIndex>) -> bool {
        let Some(left) = self.budget.checked_sub(1) else { return false };
        *self.budget = left;
        if let Some(expansion) = self.path.last() {
            expansion.suspend(self.scratch);
        }
        self.components.push(Component { first: self.live.len(), entry, inside: None });
        self.place.insert(configuration, self.live.len());
        self.live.push(configuration);
        let obligations = self.configurations.obligations(configuration).collect();
        let memory = self.configurations.memory(configuration, self.reader.tables.past.memories().len());
        self.path.push(Expansion::new(self.reader, configuration, obligations, memory));
        true
    }

    /// Goes over a transition; a verdict ends the search.
    fn follow(&mut self, transition: Transition) -> Option<Verdict> {
        let Transition { obligations, memory, pending, .. } = transition;
        let target = self.configurations.intern(self.reader.tables, obligations, &memory);
        match self.configurations.verdict(target) {
            Verdict::NonEmpty => Some(Verdict::NonEmpty),
            Verdict::Empty => None,
            Verdict::Unknown => match self.place.get(&target) {
                Some(&place) => self.merge(place, pending).then_some(Verdict::NonEmpty),
                None => (!self.enter(target, pending)).then_some(Verdict::Unknown),
            },
        }
    }

    /// A transition back to a live configuration makes one component of all from there on. Whether it accepts.
    fn merge(&mut self, place: usize, pending: Vec<NodeIndex>) -> bool {
        let mut inside = pending;
        while let Some(top) = self.components.pop_if(|top| top.first > place) {
            restrict(&mut inside, &Some(top.entry));
            restrict(&mut inside, &top.inside);
        }
        let Some(top) = self.components.last_mut() else { return false };
        restrict(&mut inside, &top.inside);
        let accepts = inside.is_empty();
        top.inside = Some(inside);
        accepts
    }

    /// Leaves a configuration all of whose transitions have been followed. If it is the first of its component, the
    /// component is settled: it does not accept, and nothing that can be reached from it does.
    fn leave(&mut self) {
        let Some(done) = self.path.pop() else { return };
        done.suspend(self.scratch);
        if let Some(expansion) = self.path.last() {
            expansion.resume(self.scratch);
        }
        let place = self.place[&done.configuration];
        if self.components.pop_if(|top| top.first == place).is_some() {
            for configuration in self.live.drain(place..) {
                self.place.remove(&configuration);
                self.configurations.settle(configuration, Verdict::Empty);
            }
        }
    }
}

/// Keeps what is pending over the other transitions, too.
fn restrict(pending: &mut Vec<NodeIndex>, others: &Pending) {
    if let Some(others) = others {
        pending.retain(|index| others.binary_search(index).is_ok());
    }
}

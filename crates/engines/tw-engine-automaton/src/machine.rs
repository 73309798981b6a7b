//! All properties of a program, and the histories that they can be entered after.

use crate::bank::Bank;
use crate::goal::Goal;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;
use tw_automata::past::Past;
use tw_core::Position;
use tw_core::codec::{Corrupt, put, take};
use tw_ir::{NodeId, Program};
use tw_monitor::{EvaluateOptions, Machine, Run, State, Stretch, Unsupported, Waiting};

/// The deterministic automata of some formulas.
pub struct Automata {
    goals: Vec<Goal>,
    /// The goals that are stepped together, and the numbers of the others.
    bank: Bank,
    others: Vec<usize>,
    /// Whether all automata are complete, so that there is nothing to forget.
    complete: bool,
    /// Of each goal's past operators, the places among all of them.
    places: Vec<Vec<usize>>,
    /// Of each goal, where it is entered after which history.
    entries: Vec<FxHashMap<State, State>>,
    past: Past,
    histories: Vec<Box<[bool]>>,
    history_index: FxHashMap<Box<[bool]>, State>,
    /// Numbers of histories that were forgotten.
    free: Vec<State>,
    /// Whether there are as many histories as the budget allows.
    full: bool,
    budget: usize,
}

/// The places of some past operators among others.
pub(crate) fn places(some: &Past, among: &Past) -> Vec<usize> {
    // Ascending, as the nodes are.
    let place = |node: NodeId| among.memories().binary_search_by_key(&node, |other| other.node).unwrap_or(0);
    some.memories().iter().map(|memory| place(memory.node)).collect()
}

impl Automata {
    /// Builds the automata of the goals, as far as the budgets allow.
    pub fn new(program: &Program, goals: &[NodeId], options: &EvaluateOptions) -> Result<Self, Unsupported> {
        // Found once: looking at all of the program for each of its goals would take as long as there are goals, squared.
        let atoms: Arc<[NodeId]> = program.atoms().into();
        let past = Past::among(program, &atoms, goals)
            .map_err(|refused| Unsupported::construct(refused.node, refused.what))?;
        let shared = Arc::new(program.clone());
        let build = crate::build_options(options, goals.len());
        let goal = |&goal: &NodeId| Goal::new(&shared, &atoms, goal, &build);
        let mut all = goals.iter().map(goal).collect::<Result<Vec<_>, _>>()?;
        let origin: Box<[bool]> = past.origin().into();
        let (bank, others) = Bank::new(all.iter_mut().map(Goal::table).enumerate());
        Ok(Self {
            bank,
            others,
            complete: all.iter().all(|goal| matches!(goal, Goal::Complete(_))),
            places: all.iter().map(|goal| places(goal.past(), &past)).collect(),
            entries: vec![FxHashMap::default(); all.len()],
            goals: all,
            histories: vec![origin.clone()],
            history_index: FxHashMap::from_iter([(origin, 0)]),
            free: Vec::new(),
            full: false,
            past,
            budget: options.state_budget.max(2),
        })
    }

    /// Steps the goals that are not in the bank.
    #[inline(never)]
    fn step_others(
        &mut self,
        states: &mut [State],
        since: &mut [Position],
        verdicts: &[Option<bool>],
        at: Position,
        atoms: &[u64],
    ) -> Result<bool, Unsupported> {
        let (mut changed, roots) = (false, states.len());
        for &goal in self.others.iter().take_while(|&&goal| goal < roots) {
            if verdicts[goal].is_none() {
                let next = self.goals[goal].step(states[goal], atoms)?;
                if next != states[goal] {
                    (states[goal], since[goal], changed) = (next, at, true);
                }
            }
        }
        Ok(changed)
    }

    fn intern(&mut self, history: Box<[bool]>) -> State {
        if let Some(&known) = self.history_index.get(&history) {
            return known;
        }
        let number = self.free.pop().unwrap_or(self.histories.len() as State);
        match self.histories.get_mut(number as usize) {
            Some(free) => *free = history.clone(),
            None => self.histories.push(history.clone()),
        }
        self.history_index.insert(history, number);
        self.full = self.history_index.len() >= self.budget;
        number
    }

    /// Forgets the histories that are not in use; the others keep their numbers.
    fn keep_histories(&mut self, used: &[State]) {
        if !self.full {
            return;
        }
        let used: FxHashSet<State> = used.iter().copied().chain([0]).collect();
        let free = &mut self.free;
        self.history_index.retain(|_, number| {
            let keep = used.contains(number);
            if !keep {
                free.push(*number);
            }
            keep
        });
        self.entries.iter_mut().for_each(|entries| entries.retain(|history, _| used.contains(history)));
        self.full = self.history_index.len() >= self.budget;
    }
}

impl Machine for Automata {
    fn origin(&mut self) -> State {
        0
    }

    fn remember(&mut self, history: State, atoms: &[u64]) -> Result<State, Unsupported> {
        if self.past.is_empty() {
            return Ok(0);
        }
        let (_, next) = self.past.advance(atoms, &self.histories[history as usize]);
        Ok(self.intern(next.into()))
    }

    fn enter(&mut self, goal: usize, history: State) -> Result<State, Unsupported> {
        // States made on demand may have been forgotten.
        let known = matches!(self.goals[goal], Goal::Complete(_));
        if known && let Some(&state) = self.entries[goal].get(&history) {
            return Ok(state);
        }
        let all = &self.histories[history as usize];
        let memory: Vec<bool> = self.places[goal].iter().map(|&place| all[place]).collect();
        let state = self.goals[goal].enter(&memory)?;
        if known {
            self.entries[goal].insert(history, state);
        }
        Ok(state)
    }

    #[inline]
    fn step(&mut self, goal: usize, state: State, atoms: &[u64]) -> Result<State, Unsupported> {
        self.goals[goal].step(state, atoms)
    }

    #[inline]
    fn advance(
        &mut self,
        goal: usize,
        state: State,
        atoms: &[u64],
    ) -> Result<(State, Option<bool>), Unsupported> {
        if let Goal::Complete(table) = &self.goals[goal] {
            let next = table.step(state, atoms);
            return Ok((next, table.settled(next)));
        }
        let next = self.step(goal, state, atoms)?;
        Ok((next, self.settled(goal, next)))
    }

    fn constant(&self) -> bool {
        self.past.is_empty() && self.complete
    }

    fn follow(
        &mut self,
        goal: usize,
        fresh: State,
        waiting: &mut Option<Waiting>,
        stretch: &Stretch<'_>,
        from: usize,
    ) -> usize {
        match &self.goals[goal] {
            Goal::Complete(table) => table.follow(fresh, waiting, stretch, from),
            _ => from,
        }
    }

    fn holds_at_end(&self, goal: usize, state: State) -> bool {
        self.goals[goal].holds_at_end(state)
    }

    #[inline]
    fn settled(&mut self, goal: usize, state: State) -> Option<bool> {
        self.goals[goal].settled(state)
    }

    fn undecided(&self) -> Option<Unsupported> {
        if self.complete { None } else { self.goals.iter().find_map(Goal::undecided) }
    }

    fn residual(&self, goal: usize, state: State) -> String {
        self.goals[goal].residual(state)
    }

    fn save(&self, goal: usize, state: State, out: &mut Vec<u8>) {
        self.goals[goal].save(state, out);
    }

    fn load(&mut self, goal: usize, from: &mut &[u8]) -> Result<State, Corrupt> {
        self.goals[goal].load(from)
    }

    fn save_history(&self, history: State, out: &mut Vec<u8>) {
        let bits = &self.histories[history as usize];
        put(bits.len() as u64, out);
        bits.iter().for_each(|&bit| put(u64::from(bit), out));
    }

    fn load_history(&mut self, from: &mut &[u8]) -> Result<State, Corrupt> {
        if take(from)? != self.past.memories().len() as u64 {
            return Err(Corrupt("the saved state is of other past operators".into()));
        }
        let bits = (0..self.past.memories().len()).map(|_| Ok(take(from)? == 1));
        let bits = bits.collect::<Result<Box<[bool]>, Corrupt>>()?;
        Ok(self.intern(bits))
    }

    fn heap_bytes(&self) -> usize {
        let histories = self.histories.len() * (64 + 2 * self.past.memories().len());
        self.goals.iter().map(Goal::heap_bytes).sum::<usize>() + histories + self.bank.heap_bytes()
    }

    fn run(
        &mut self,
        goal: usize,
        state: State,
        stretch: &Stretch<'_>,
        from: usize,
        to: usize,
    ) -> Result<Run, Unsupported> {
        self.goals[goal].run(state, stretch, from, to)
    }

    #[inline]
    fn step_all(
        &mut self,
        states: &mut [State],
        since: &mut [Position],
        verdicts: &[Option<bool>],
        at: Position,
        atoms: &[u64],
    ) -> Result<bool, Unsupported> {
        let ask = self.bank.step(states, since, at, atoms) || at == 0;
        if self.others.is_empty() {
            return Ok(ask);
        }
        Ok(self.step_others(states, since, verdicts, at, atoms)? || ask)
    }

    #[inline]
    fn crowded(&self) -> bool {
        self.full || !self.complete && self.goals.iter().any(Goal::crowded)
    }

    fn misses(&self) -> u64 {
        if self.complete { 0 } else { self.goals.iter().map(Goal::misses).sum() }
    }

    fn retain(&mut self, live: &[(usize, State)], histories: &[State]) {
        self.keep_histories(histories);
        for (number, goal) in self.goals.iter_mut().enumerate() {
            if goal.crowded() {
                let own: Vec<State> =
                    live.iter().filter(|(goal, _)| *goal == number).map(|&(_, state)| state).collect();
                goal.retain(&own);
            }
        }
    }
}

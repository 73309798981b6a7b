//! Formulas under way as one deterministic machine.

use crate::goal::{ENTERED, Goal, end_of};
use crate::memory::Memories;
use rustc_hash::FxHashMap;
use tw_automata::past::Past;
use tw_core::codec::{Corrupt, put, take, take_part};
use tw_ir::{NodeId, Program};
use tw_monitor::{EvaluateOptions, Machine, Run, State, Stretch, Unsupported};

/// The machine of the rewriting engine.
pub(crate) struct Rewriter {
    program: Program,
    goals: Vec<Goal>,
    /// The past operators of all goals, and for each goal the places of its own among them.
    past: Past,
    places: Vec<Vec<usize>>,
    histories: Memories,
    budget: usize,
}

impl Rewriter {
    pub(crate) fn build(
        program: &Program,
        goals: &[NodeId],
        options: &EvaluateOptions,
    ) -> Result<Self, Unsupported> {
        let past = Past::new(program, goals)
            .map_err(|refused| Unsupported::construct(refused.node, refused.what))?;
        let mut built = Vec::with_capacity(goals.len());
        for &goal in goals {
            built.push(Goal::new(program, goal, options)?);
        }
        let all: FxHashMap<NodeId, usize> =
            past.memories().iter().enumerate().map(|(place, memory)| (memory.node, place)).collect();
        let places = |goal: &Goal| goal.past.memories().iter().map(|memory| all[&memory.node]).collect();
        let places: Vec<Vec<usize>> = built.iter().map(places).collect();
        let mut histories = Memories::default();
        histories.add(&past.origin());
        let budget = options.state_budget;
        Ok(Self { program: program.clone(), goals: built, past, places, histories, budget })
    }

    pub(crate) fn goal(&self, goal: usize) -> &Goal {
        &self.goals[goal]
    }

    pub(crate) fn program(&self) -> &Program {
        &self.program
    }
}

impl Machine for Rewriter {
    fn origin(&mut self) -> State {
        0
    }

    fn remember(&mut self, history: State, atoms: &[u64]) -> Result<State, Unsupported> {
        if self.past.is_empty() {
            return Ok(0);
        }
        let (_, next) = self.past.advance(atoms, self.histories.get(history));
        let next = self.histories.add(&next);
        if self.histories.len() > self.budget {
            return Err(Unsupported::budget(format!(
                "more than {} combinations of past operators (the limit is the budget of states)",
                self.budget
            )));
        }
        Ok(next)
    }

    fn enter(&mut self, goal: usize, history: State) -> Result<State, Unsupported> {
        let places = &self.places[goal];
        // The first residual of a goal is the goal itself, before the first position.
        if history == 0 || places.is_empty() {
            return Ok(ENTERED);
        }
        let history = self.histories.get(history);
        let memory: Vec<bool> = places.iter().map(|&place| history[place]).collect();
        let goal = &mut self.goals[goal];
        let state = goal.core(goal.initial, &memory)? << 2 | ENTERED;
        Ok(goal.expose(state))
    }

    #[inline]
    fn step(&mut self, goal: usize, state: State, atoms: &[u64]) -> Result<State, Unsupported> {
        let goal = &mut self.goals[goal];
        let next = goal.step(state, atoms)?;
        Ok(goal.expose(next))
    }

    fn holds_at_end(&self, _goal: usize, state: State) -> bool {
        end_of(state) == 1
    }

    fn settled(&mut self, goal: usize, state: State) -> Option<bool> {
        self.goals[goal].settled(&self.program, state)
    }

    fn undecided(&self) -> Option<Unsupported> {
        let open = self.goals.iter().any(|goal| goal.settle.undecided());
        open.then(|| Unsupported::budget(tw_automata::emptiness::gave_up()))
    }

    fn residual(&self, goal: usize, state: State) -> String {
        let goal = &self.goals[goal];
        goal.terms.words(goal.core_at(state).residual, &self.program)
    }

    /// The end, the memory and the monomials: atoms are numbered by the program alone.
    fn save(&self, goal: usize, state: State, out: &mut Vec<u8>) {
        let goal = &self.goals[goal];
        let core = goal.core_at(state);
        put(end_of(state).into(), out);
        out.extend(goal.memories.get(core.memory).iter().map(|&bit| u8::from(bit)));
        let monomials = goal.terms.monomials(core.residual);
        put(monomials.len() as u64, out);
        for monomial in monomials {
            put(monomial.len() as u64, out);
            monomial.iter().for_each(|&atom| put(atom.into(), out));
        }
    }

    fn load(&mut self, goal: usize, from: &mut &[u8]) -> Result<State, Corrupt> {
        let goal = &mut self.goals[goal];
        let end = take(from)? as u32;
        if end > ENTERED {
            return Err(Corrupt("the saved state has no such end".into()));
        }
        let memory = load_memory(goal.past.memories().len(), from)?;
        let mut monomials = Vec::new();
        for _ in 0..take(from)? {
            let mut monomial = Vec::new();
            for _ in 0..take(from)? {
                monomial.push(u32::try_from(take(from)?).unwrap_or(u32::MAX));
            }
            monomials.push(monomial);
        }
        let residual = goal
            .terms
            .sum_of(&monomials)
            .ok_or_else(|| Corrupt("the saved state is of another formula".into()))?
            .map_err(|exceeded| Corrupt(format!("the saved state is {exceeded}")))?;
        let core = goal.core(residual, &memory).map_err(|refused| Corrupt(refused.what))?;
        Ok(goal.expose(core << 2 | end))
    }

    fn save_history(&self, history: State, out: &mut Vec<u8>) {
        out.extend(self.histories.get(history).iter().map(|&bit| u8::from(bit)));
    }

    fn load_history(&mut self, from: &mut &[u8]) -> Result<State, Corrupt> {
        let memory = load_memory(self.past.memories().len(), from)?;
        Ok(self.histories.add(&memory))
    }

    fn heap_bytes(&self) -> usize {
        self.histories.heap_bytes() + self.goals.iter().map(Goal::heap_bytes).sum::<usize>()
    }

    fn run(
        &mut self,
        goal: usize,
        state: State,
        stretch: &Stretch<'_>,
        from: usize,
        to: usize,
    ) -> Result<Run, Unsupported> {
        let goal = &mut self.goals[goal];
        let run = match goal.run(&self.program, state, stretch, from, to) {
            Some(run) => run?,
            None => goal.run_by_rows(&self.program, state, stretch, from, to)?,
        };
        goal.expose(run.state);
        Ok(run)
    }
}

/// One byte for each remembered bit.
fn load_memory(len: usize, from: &mut &[u8]) -> Result<Vec<bool>, Corrupt> {
    take_part(len, from)?
        .iter()
        .map(|&byte| match byte {
            0 | 1 => Ok(byte == 1),
            _ => Err(Corrupt("the saved state remembers neither true nor false".into())),
        })
        .collect()
}

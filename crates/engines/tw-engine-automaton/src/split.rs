//! A property whose automaton is too large, as the automata of its conjuncts or disjuncts run side by side.
//!
//! A state is a tuple of states, one of each part. The end value is exact; the verdict is settled when one part decides
//! alone, or when all parts are settled.

use crate::goal::Goal;
use rustc_hash::FxHashMap;
use tw_automata::deterministic::{Options, Parts};
use tw_automata::past::Past;
use tw_core::codec::Corrupt;
use tw_monitor::{State, Unsupported};

pub(crate) struct Split {
    parts: Vec<Part>,
    conjunction: bool,
    past: Past,
    tuples: Vec<Box<[State]>>,
    free: Vec<State>,
    index: FxHashMap<Box<[State]>, State>,
    scratch: Vec<State>,
    budget: usize,
    /// From this number of tuples on there are too many.
    crowd: usize,
}

struct Part {
    goal: Goal,
    /// Of each of its past operators, the place among those of the whole.
    memories: Vec<usize>,
}

impl Split {
    pub(crate) fn new(parts: &Parts, options: &Options) -> Result<Self, Unsupported> {
        let atoms: std::sync::Arc<[tw_ir::NodeId]> = parts.program.atoms().into();
        let past = Past::among(&parts.program, &atoms, &parts.goals)
            .map_err(|refused| Unsupported::construct(refused.node, refused.what))?;
        let mut options = *options;
        options.budget.nodes =
            (2 * options.budget.nodes / parts.goals.len()).clamp(1 << 12, options.budget.nodes);
        let mut all = Vec::with_capacity(parts.goals.len());
        for &goal in &parts.goals {
            let goal = Goal::whole(&parts.program, &atoms, goal, &options)?;
            let memories = crate::machine::places(goal.past(), &past);
            all.push(Part { goal, memories });
        }
        Ok(Self {
            parts: all,
            conjunction: parts.conjunction,
            past,
            tuples: Vec::new(),
            free: Vec::new(),
            index: FxHashMap::default(),
            scratch: Vec::new(),
            budget: options.budget.states,
            crowd: options.budget.states,
        })
    }

    pub(crate) fn len(&self) -> usize {
        self.parts.len()
    }

    pub(crate) fn on_demand(&self) -> usize {
        self.parts.iter().filter(|part| matches!(part.goal, Goal::OnDemand(_))).count()
    }

    pub(crate) fn past(&self) -> &Past {
        &self.past
    }

    /// The number of the tuple in `scratch`.
    fn intern(&mut self) -> State {
        if let Some(&known) = self.index.get(&self.scratch[..]) {
            return known;
        }
        let tuple: Box<[State]> = self.scratch.as_slice().into();
        let number = self.free.pop().unwrap_or(self.tuples.len() as State);
        if number as usize == self.tuples.len() {
            self.tuples.push(tuple.clone());
        } else {
            self.tuples[number as usize] = tuple.clone();
        }
        self.index.insert(tuple, number);
        number
    }

    pub(crate) fn enter(&mut self, memory: &[bool]) -> Result<State, Unsupported> {
        self.scratch.clear();
        for part in &mut self.parts {
            let own: Vec<bool> = part.memories.iter().map(|&place| memory[place]).collect();
            self.scratch.push(part.goal.enter(&own)?);
        }
        Ok(self.intern())
    }

    pub(crate) fn step(&mut self, state: State, row: &[u64]) -> Result<State, Unsupported> {
        self.scratch.clear();
        for (part, &own) in self.parts.iter_mut().zip(&self.tuples[state as usize]) {
            self.scratch.push(part.goal.step(own, row)?);
        }
        if self.scratch[..] == self.tuples[state as usize][..] {
            return Ok(state);
        }
        Ok(self.intern())
    }

    pub(crate) fn holds_at_end(&self, state: State) -> bool {
        let mut ends = self.parts.iter().zip(&self.tuples[state as usize]);
        let deciding = !self.conjunction;
        if ends.any(|(part, &own)| part.goal.holds_at_end(own) == deciding) { deciding } else { !deciding }
    }

    pub(crate) fn settled(&mut self, state: State) -> Option<bool> {
        let deciding = !self.conjunction;
        let mut all = Some(!deciding);
        for (part, &own) in self.parts.iter_mut().zip(&self.tuples[state as usize]) {
            match part.goal.settled(own) {
                Some(verdict) if verdict == deciding => return Some(deciding),
                Some(_) => {}
                None => all = None,
            }
        }
        all
    }

    pub(crate) fn undecided(&self) -> Option<Unsupported> {
        self.parts.iter().find_map(|part| part.goal.undecided())
    }

    pub(crate) fn residual(&self, state: State) -> String {
        let neutral = if self.conjunction { "true" } else { "false" };
        let parts = self.parts.iter().zip(&self.tuples[state as usize]);
        let texts: Vec<String> =
            parts.map(|(part, &own)| part.goal.residual(own)).filter(|text| text != neutral).collect();
        match texts.len() {
            0 => neutral.into(),
            1 => texts.into_iter().collect(),
            _ => {
                let one = |text: &String| if text.contains(' ') { format!("({text})") } else { text.clone() };
                texts.iter().map(one).collect::<Vec<_>>().join(if self.conjunction { " & " } else { " | " })
            }
        }
    }

    pub(crate) fn crowded(&self) -> bool {
        self.index.len() > self.crowd || self.parts.iter().any(|part| part.goal.crowded())
    }

    pub(crate) fn misses(&self) -> u64 {
        self.parts.iter().map(|part| part.goal.misses()).sum()
    }

    pub(crate) fn retain(&mut self, live: &[State]) {
        let live: rustc_hash::FxHashSet<State> = live.iter().copied().collect();
        for (place, part) in self.parts.iter_mut().enumerate() {
            let own: Vec<State> = live.iter().map(|&state| self.tuples[state as usize][place]).collect();
            part.goal.retain(&own);
        }
        self.index.retain(|_, state| live.contains(state));
        self.free = (0..self.tuples.len() as State).filter(|state| !live.contains(state)).collect();
        self.crowd = self.budget.max(2 * live.len());
    }

    pub(crate) fn save(&self, state: State, out: &mut Vec<u8>) {
        let parts = self.parts.iter().zip(&self.tuples[state as usize]);
        parts.for_each(|(part, &own)| part.goal.save(own, out));
    }

    pub(crate) fn load(&mut self, from: &mut &[u8]) -> Result<State, Corrupt> {
        self.scratch.clear();
        for part in &mut self.parts {
            self.scratch.push(part.goal.load(from)?);
        }
        Ok(self.intern())
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        let parts: usize = self.parts.iter().map(|part| part.goal.heap_bytes()).sum();
        parts + self.tuples.len() * (64 + 8 * self.parts.len())
    }
}

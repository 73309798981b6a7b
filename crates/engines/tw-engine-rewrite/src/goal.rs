//! One formula under way: its residuals, numbered as they are met, and the transitions between them.

use crate::memo::{FRESH, Memo, Row, STATE, UNKNOWN};
use crate::memory::Memories;
use crate::settle::Settle;
use rustc_hash::FxHashMap;
use tw_automata::past::Past;
use tw_automata::residual::{Event, Exceeded, FormulaId, Limits, Terms, Untranslatable};
use tw_ir::{NodeId, Program, Semantics};
use tw_monitor::{EvaluateOptions, State, Unsupported, words};

/// A residual and what past operators remember.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Core {
    pub(crate) residual: FormulaId,
    pub(crate) memory: u32,
}

/// The verdict should the trace end here; `ENTERED` where nothing was read yet. A state is a core and an end.
pub(crate) const ENTERED: u32 = 2;

/// About what a term takes, with the tables that find it.
const BYTES_PER_TERM: usize = 64;

pub(crate) fn core_of(state: State) -> u32 {
    state >> 2
}

pub(crate) fn end_of(state: State) -> u32 {
    state & 3
}

pub(crate) struct Goal {
    pub(crate) terms: Terms,
    pub(crate) past: Past,
    pub(crate) memories: Memories,
    pub(crate) initial: FormulaId,
    /// How many atoms the program has.
    atoms: u32,
    /// Program atoms that past operators read: they always matter.
    past_atoms: Vec<u32>,
    pub(crate) cores: Vec<Core>,
    pub(crate) index: FxHashMap<Core, u32>,
    /// Cores whose numbers others may hold.
    pub(crate) exposed: Vec<bool>,
    /// Numbers of cores that were forgotten.
    pub(crate) free: Vec<u32>,
    pub(crate) memo: Memo,
    pub(crate) settle: Settle,
    pub(crate) budget: usize,
    /// Words of a row, and a row to put letters into.
    words: usize,
    row: Vec<u64>,
}

impl Goal {
    pub(crate) fn new(
        program: &Program,
        goal: NodeId,
        options: &EvaluateOptions,
    ) -> Result<Self, Unsupported> {
        let past = Past::new(program, &[goal])
            .map_err(|refused| Unsupported::construct(refused.node, refused.what))?;
        let repeat_last = options.semantics == Semantics::RepeatLast;
        let mut limits = Limits::default();
        limits.terms = limits.terms.min(options.memory_budget / BYTES_PER_TERM);
        let mut terms = Terms::new(repeat_last, limits);
        let initial = terms.translate(program, &past, goal).map_err(untranslatable)?;
        let atoms = program.atoms();
        let reached = |from: &[NodeId]| -> Vec<u32> {
            let reachable = program.reachable(from);
            let atom = |id: &NodeId| atoms.binary_search(id).ok().map(|atom| atom as u32);
            reachable.iter().filter_map(atom).collect()
        };
        let past_nodes: Vec<NodeId> = past.memories().iter().map(|memory| memory.node).collect();
        let mut goal = Self {
            settle: Settle::new(program, &past, options),
            memories: Memories::default(),
            initial,
            atoms: atoms.len() as u32,
            past_atoms: reached(&past_nodes),
            cores: Vec::new(),
            index: FxHashMap::default(),
            exposed: Vec::new(),
            free: Vec::new(),
            memo: Memo::new(&reached(&[goal])),
            budget: options.state_budget.clamp(4, (STATE >> 2) as usize),
            words: words(atoms.len()),
            row: vec![0; words(atoms.len())],
            terms,
            past,
        };
        let origin = goal.past.origin();
        goal.memories.add(&origin);
        goal.core(initial, &origin)?;
        // What cannot be decided at the start is not left to show in the middle of a trace.
        goal.probe(program)?;
        Ok(goal)
    }

    /// The number of a residual with a memory.
    pub(crate) fn core(&mut self, residual: FormulaId, memory: &[bool]) -> Result<u32, Unsupported> {
        // Nothing can be owed any more, so nothing need be remembered.
        let memory = if residual.as_constant().is_some() { 0 } else { self.memories.add(memory) };
        let core = Core { residual, memory };
        if let Some(&number) = self.index.get(&core) {
            return Ok(number);
        }
        if self.len() >= self.budget {
            return Err(Unsupported::budget(format!(
                "more than {} residual formulas (the limit is the budget of states)",
                self.budget
            )));
        }
        let mut support: Vec<u32> = self.terms.support(residual);
        support.retain(|&proposition| proposition < self.atoms);
        if residual.as_constant().is_none() {
            support.extend(&self.past_atoms);
            support.sort_unstable();
            support.dedup();
        }
        let number = self.free.pop().unwrap_or(self.cores.len() as u32);
        if number as usize == self.cores.len() {
            self.cores.push(core);
            self.exposed.push(number == 0);
            self.settle.push();
        }
        self.cores[number as usize] = core;
        self.memo.set(number, &support, self.words);
        self.index.insert(core, number);
        Ok(number)
    }

    pub(crate) fn core_at(&self, state: State) -> Core {
        self.cores[core_of(state) as usize]
    }

    /// How many residuals (with memories) were met and not forgotten.
    pub(crate) fn len(&self) -> usize {
        self.cores.len() - self.free.len()
    }

    /// Rewrites a residual.
    fn rewrite(&mut self, core: u32, row: &[u64]) -> Result<State, Unsupported> {
        let Core { residual, memory } = self.cores[core as usize];
        let (now, next) = if self.past.is_empty() {
            (Vec::new(), Vec::new())
        } else {
            self.past.advance(row, self.memories.get(memory))
        };
        let event = Event { row, atoms: self.atoms, past: &now };
        let end = self.terms.at_end(residual, &event);
        let after = self.terms.after(residual, &event).map_err(exceeded)?;
        Ok(self.core(after, &next)? << 2 | u32::from(end))
    }

    /// The state after one more position. The way that is taken nearly always is small enough to be inlined.
    #[inline]
    pub(crate) fn step(&mut self, state: State, row: &[u64]) -> Result<State, Unsupported> {
        if let Memo::Flat(flat) = &mut self.memo {
            let letter = flat.letters.gather(row);
            let entry = *flat.entry(core_of(state), letter);
            if entry != UNKNOWN {
                return Ok(entry & STATE);
            }
        }
        self.step_otherwise(state, row)
    }

    #[inline(never)]
    fn step_otherwise(&mut self, state: State, row: &[u64]) -> Result<State, Unsupported> {
        let core = core_of(state);
        let letter = match &self.memo {
            Memo::Flat(flat) => flat.letters.gather(row),
            Memo::Rows(rows, _) => match &rows[core as usize] {
                Row::Dense(letters, entries) => {
                    let letter = letters.gather(row);
                    match entries[letter] {
                        UNKNOWN => letter,
                        entry => return Ok(entry),
                    }
                }
                Row::Sparse(mask, entries) => {
                    self.row
                        .iter_mut()
                        .zip(mask.iter().zip(row))
                        .for_each(|(to, (mask, word))| *to = mask & word);
                    if let Some(&state) = entries.get(&self.row[..]) {
                        return Ok(state);
                    }
                    return self.learn(core);
                }
            },
        };
        self.with_room(core, |goal| goal.look(core, letter))
    }

    /// The transition under the masked row in `self.row`, for a residual to which many atoms matter.
    fn learn(&mut self, core: u32) -> Result<State, Unsupported> {
        let row = std::mem::take(&mut self.row);
        let next = self.with_room(core, |goal| goal.rewrite(core, &row));
        if let Ok(next) = next {
            self.memo.learn(core, &row, next);
        }
        self.row = row;
        next
    }

    /// The bits of letters that matter to a residual; `None` if there are too many to go through.
    pub(crate) fn letters(&self, core: u32) -> Option<usize> {
        match &self.memo {
            Memo::Flat(flat) => Some(flat.mask(core)),
            Memo::Rows(rows, _) => match &rows[core as usize] {
                Row::Dense(_, entries) => Some(entries.len() - 1),
                Row::Sparse(..) => None,
            },
        }
    }

    /// The transition under a letter.
    pub(crate) fn look(&mut self, core: u32, letter: usize) -> Result<State, Unsupported> {
        let mut row = std::mem::take(&mut self.row);
        let known = match &mut self.memo {
            Memo::Flat(flat) => {
                // What does not matter to this residual is false.
                let canonical = letter & flat.mask(core);
                flat.letters.scatter(canonical, &mut row);
                Some(*flat.entry(core, canonical)).filter(|&entry| entry != UNKNOWN)
            }
            Memo::Rows(rows, _) => match &rows[core as usize] {
                Row::Dense(letters, entries) => {
                    letters.scatter(letter, &mut row);
                    Some(entries[letter]).filter(|&entry| entry != UNKNOWN)
                }
                Row::Sparse(..) => None,
            },
        };
        let next = match known {
            Some(entry) => Ok(entry),
            None => self.rewrite(core, &row).map(|state| state | FRESH),
        };
        self.row = row;
        let entry = next?;
        match &mut self.memo {
            Memo::Flat(flat) => {
                let canonical = letter & flat.mask(core);
                *flat.entry(core, canonical) = entry;
                *flat.entry(core, letter) = entry;
            }
            Memo::Rows(rows, _) => {
                if let Row::Dense(_, entries) = &mut rows[core as usize] {
                    entries[letter] = entry & STATE;
                }
            }
        }
        Ok(entry & STATE)
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        self.terms.heap_bytes()
            + self.memories.heap_bytes()
            + self.memo.heap_bytes()
            + self.settle.heap_bytes()
            + self.cores.capacity() * 3 * size_of::<Core>()
    }
}

pub(crate) fn exceeded(exceeded: Exceeded) -> Unsupported {
    Unsupported::budget(exceeded.to_string())
        .help("`breadth-first` keeps sets of obligations instead of formulas")
}

pub(crate) fn untranslatable(why: Untranslatable) -> Unsupported {
    match why {
        Untranslatable::Refused(refused) => Unsupported::construct(refused.node, refused.what),
        Untranslatable::Exceeded(node, why) => Unsupported { node: Some(node), ..exceeded(why) },
    }
}

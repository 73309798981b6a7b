//! States on demand, for automata that are too large to build.
//!
//! As in the lazily built automata of regular expression engines: transitions are found when they are first taken and
//! kept until there are too many states; then all are forgotten but those that the caller still uses. A state whose
//! transition tree is small keeps the tree; otherwise each position is composed by itself and remembered by the atoms
//! that the goal uses. A verdict is settled here when the residual is constant, or under `Ltl3` by asking about its
//! infinite continuations; verdicts that follow only from looking at all later states are left open.

use super::explore::Explorer;
use super::tree::{Forest, Tree};
use super::{Budget, CONFIGURATIONS, Options, Stop, settle, text};
use crate::diagram::Diagram;
use crate::emptiness::Emptiness;
use crate::past::Past;
use rustc_hash::FxHashMap;
use std::sync::Arc;
use tw_core::codec::{Corrupt, put, take};
use tw_ir::{NodeId, Program, Semantics};

/// A transition tree with more tests is not kept.
const TESTS: usize = 64;

/// Fewer states than this are not worth forgetting.
const FEW: usize = 16;

/// A deterministic automaton whose states are made when they are reached.
pub struct Lazy {
    explorer: Explorer,
    emptiness: Option<Emptiness>,
    forest: Forest,
    transitions: FxHashMap<u32, Transitions>,
    verdicts: FxHashMap<u32, Option<bool>>,
    /// The atoms that the goal uses, as a row.
    mask: Vec<u64>,
    scratch: Vec<u64>,
    budget: Budget,
    /// From this number of states on there are too many.
    crowd: usize,
    /// Whether more states were in use at once than may be kept.
    exhausted: bool,
    /// Whether a verdict was left open because asking for it is too much work.
    undecided: bool,
    /// Transitions that had to be built.
    misses: u64,
}

/// How a state goes on.
enum Transitions {
    Tree(Tree),
    /// By the atoms of the goal.
    Rows(FxHashMap<Box<[u64]>, u32>),
}

impl Lazy {
    /// The automaton of a formula; none of its states yet.
    pub fn new(program: &Arc<Program>, goal: NodeId, options: &Options) -> Result<Self, Stop> {
        Self::among(program, &program.atoms().into(), goal, options)
    }

    /// As [`Lazy::new`], where the program's atoms are known.
    pub fn among(
        program: &Arc<Program>,
        atoms: &Arc<[NodeId]>,
        goal: NodeId,
        options: &Options,
    ) -> Result<Self, Stop> {
        let budget = options.budget;
        // The caller is told of the crowd after a step, so that steps are not bounded by it.
        let unbounded = Budget { states: 1 << 30, ..budget };
        let repeat_last = options.semantics == Semantics::RepeatLast;
        let explorer = Explorer::new(program, atoms, goal, repeat_last, unbounded, usize::MAX)?;
        let past = &explorer.obligations.past;
        let emptiness = (options.semantics == Semantics::Ltl3)
            .then(|| Emptiness::among(atoms, past, CONFIGURATIONS.min(budget.nodes)));
        let atoms = &explorer.obligations.atoms;
        let mut mask = vec![0; atoms.last().map_or(0, |&atom| atom as usize / 64 + 1)];
        atoms.iter().for_each(|&atom| mask[atom as usize / 64] |= 1 << (atom % 64));
        Ok(Self {
            explorer,
            emptiness,
            forest: Forest::default(),
            transitions: FxHashMap::default(),
            verdicts: FxHashMap::default(),
            mask,
            scratch: Vec::new(),
            budget,
            crowd: budget.states.max(FEW),
            exhausted: false,
            undecided: false,
            misses: 0,
        })
    }

    /// The past operators whose bits decide where the goal is entered.
    pub fn past(&self) -> &Past {
        &self.explorer.obligations.past
    }

    /// Number of states kept.
    pub fn len(&self) -> usize {
        self.explorer.len()
    }

    /// Whether no state is kept.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The state in which the goal is to hold next, after what past operators remember.
    pub fn enter(&mut self, memory: &[bool]) -> Result<u32, Stop> {
        self.explorer.enter(memory)
    }

    /// The state after a position whose atoms are packed 64 to a word.
    pub fn step(&mut self, state: u32, row: &[u64]) -> Result<u32, Stop> {
        if self.exhausted {
            return Err(Stop::states(self.budget.states));
        }
        self.scratch.clear();
        self.scratch.extend(self.mask.iter().zip(row).map(|(mask, word)| mask & word));
        match self.transitions.get(&state) {
            Some(&Transitions::Tree(tree)) => return Ok(self.follow(tree, row)),
            Some(Transitions::Rows(rows)) => {
                if let Some(&next) = rows.get(&self.scratch[..]) {
                    return Ok(next);
                }
            }
            None => match self.build(state) {
                Ok(tree) => {
                    self.transitions.insert(state, Transitions::Tree(tree));
                    return Ok(self.follow(tree, row));
                }
                Err(_) => {
                    self.transitions.insert(state, Transitions::Rows(FxHashMap::default()));
                }
            },
        }
        self.misses += 1;
        let next = match self.explorer.advance(state, row) {
            Ok(next) => next,
            Err(Stop::Budget(_)) => {
                // The diagrams of transitions taken before are in the way.
                let all = self.explorer.numbers();
                self.forget(&all)?;
                self.explorer.advance(state, row)?
            }
            Err(refused) => return Err(refused),
        };
        if let Transitions::Rows(rows) =
            self.transitions.entry(state).or_insert_with(|| Transitions::Rows(FxHashMap::default()))
        {
            rows.insert(self.scratch.clone().into(), next);
        }
        Ok(next)
    }

    /// All transitions of a state, if they are few tests.
    fn build(&mut self, state: u32) -> Result<Tree, Stop> {
        self.misses += 1;
        self.explorer.expand(state, &mut self.forest, TESTS)
    }

    /// How many steps had to build what they needed, which takes a thousand times as long as finding it.
    pub fn misses(&self) -> u64 {
        self.misses
    }

    fn follow(&self, tree: Tree, row: &[u64]) -> u32 {
        let atoms = &self.explorer.obligations.atoms;
        self.forest.walk(tree, |variable| {
            let atom = atoms[variable as usize];
            row[atom as usize / 64] >> (atom % 64) & 1 == 1
        })
    }

    /// Whether the goal holds if the trace ends with the position that led to the state.
    pub fn holds_at_end(&self, state: u32) -> bool {
        self.explorer.state(state).end == Some(true)
    }

    /// The verdict of the state, if it is known to have one for good.
    pub fn settled(&mut self, state: u32) -> Option<bool> {
        let key = self.explorer.state(state);
        let Some(emptiness) = &mut self.emptiness else {
            return key.residual.as_constant().filter(|&value| key.end == Some(value));
        };
        let (explorer, undecided) = (&mut self.explorer, &mut self.undecided);
        *self.verdicts.entry(state).or_insert_with(|| {
            let verdict = settle::alone(explorer, emptiness, state);
            *undecided |= verdict.is_none();
            verdict.flatten()
        })
    }

    /// Why some verdict was left open that may be settled, if one was: asking for it was too much work.
    pub fn undecided(&self) -> Option<Stop> {
        self.undecided.then(settle::undecided)
    }

    /// What is owed in a state, as a formula.
    pub fn residual(&self, state: u32) -> String {
        let residual = self.explorer.state(state).residual;
        text::residual(&self.explorer.diagrams, &self.explorer.obligations, residual)
    }

    /// Whether there are more states than may be kept: time to [`Lazy::retain`].
    pub fn crowded(&self) -> bool {
        self.explorer.len() > self.crowd
    }

    /// Forgets all states but those given, which keep their numbers.
    pub fn retain(&mut self, live: &[u32]) {
        // What is too large for the budget shows at the next step.
        self.exhausted |= self.forget(live).is_err();
        self.crowd = self.budget.states.max(FEW).max(2 * self.explorer.len());
        self.exhausted |= self.explorer.len() > self.budget.states.max(4096);
    }

    fn forget(&mut self, keep: &[u32]) -> Result<(), Stop> {
        self.transitions.clear();
        self.verdicts.clear();
        self.forest = Forest::default();
        self.explorer.retain(keep)
    }

    /// Writes a state so that another process can [`Lazy::load`] it.
    pub fn save(&self, state: u32, out: &mut Vec<u8>) {
        let key = self.explorer.state(state);
        let memory = self.explorer.memory(state);
        put(memory.len() as u64, out);
        memory.iter().for_each(|&bit| put(u64::from(bit), out));
        put(key.end.map_or(2, u64::from), out);
        put(key.residual.as_constant().map_or(2, u64::from), out);
        let tests = self.explorer.diagrams.write(key.residual);
        put(tests.len() as u64, out);
        for (variable, low, high) in tests {
            [variable, low, high].into_iter().for_each(|number| put(u64::from(number), out));
        }
    }

    /// Reads back what [`Lazy::save`] wrote, advancing `from`.
    pub fn load(&mut self, from: &mut &[u8]) -> Result<u32, Corrupt> {
        let foreign = || Corrupt("the saved state is of another property, or of other options".into());
        let bits = take(from)?;
        if bits != self.past().memories().len() as u64 {
            return Err(foreign());
        }
        let memory = (0..bits).map(|_| Ok(take(from)? == 1)).collect::<Result<Vec<bool>, Corrupt>>()?;
        let mut truth = || Ok(Some(take(from)?).filter(|&bit| bit < 2).map(|bit| bit == 1));
        let (end, constant): (Option<bool>, Option<bool>) = (truth()?, truth()?);
        let mut tests = Vec::new();
        for _ in 0..take(from)? {
            let mut number = || u32::try_from(take(from)?).map_err(|_| foreign());
            tests.push((number()?, number()?, number()?));
        }
        let first = self.explorer.obligations.atoms.len() as u32;
        let literals = first..first + self.explorer.obligations.literals() as u32;
        let residual = match constant {
            Some(constant) => Diagram::constant(constant),
            None => self.explorer.diagrams.read(&tests, literals).ok_or_else(foreign)?,
        };
        self.explorer.intern(residual, &memory, end).map_err(|_| foreign())
    }

    /// Bytes held, roughly.
    pub fn heap_bytes(&self) -> usize {
        let rows = self.transitions.values().map(|transitions| match transitions {
            Transitions::Tree(_) => 16,
            Transitions::Rows(rows) => 64 + rows.len() * (32 + 8 * self.mask.len()),
        });
        self.explorer.heap_bytes() + self.forest.heap_bytes() + rows.sum::<usize>()
    }
}

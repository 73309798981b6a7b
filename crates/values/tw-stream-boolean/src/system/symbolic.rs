//! The system as sets of states: decision diagrams, where states are too many to be listed.
//!
//! On random specifications lists are some ten times as fast as long as they fit their budget, so they go first. Diagrams win
//! where many registers go together in a regular way (a chain of twenty delays has a million states and a few hundred nodes), and
//! where a short word answers and the automaton is large. Inputs without a model are found by sets of such sets, of which regular
//! systems may have too many: that is given up, as with lists.
//!
//! Guessed promises are the bits of the next state, so that they cost nothing; letters and guessed outputs stand beside. Two
//! copies that read the same letters find inputs with two models, sets of one copy's states inputs without any.

use super::{Cell, Source, System};
use crate::Node;
use crate::nfa::GaveUp;
use rustc_hash::FxHashSet;
use tw_bdd::{Bdd, Exhausted, Levels, Relation, Store, cube};

/// Sets of states at most: each new one is compared with all before it.
const MOST_SETS: usize = 1 << 10;

/// Systems side by side.
struct Symbolic {
    store: Store,
    /// What every move fulfils, and what the first does, which keeps no promises.
    moves: Relation,
    begins: Relation,
    /// Before the first position, and after the last.
    first: Bdd,
    last: Bdd,
    letters: Vec<u32>,
}

/// A shortest word that has a model.
pub(crate) fn accepted(system: &System, limit: usize) -> Result<Option<Vec<u64>>, GaveUp> {
    told(Symbolic::new(system, 1, limit).and_then(|mut own| own.reached()), limit)
}

/// A shortest word that has two models with different labels.
pub(crate) fn ambiguous(system: &System, limit: usize) -> Result<Option<Vec<u64>>, GaveUp> {
    told(Symbolic::new(system, 2, limit).and_then(|mut own| own.reached()), limit)
}

/// A shortest word that has no model.
pub(crate) fn rejected(system: &System, limit: usize) -> Result<Option<Vec<u64>>, GaveUp> {
    told(Symbolic::new(system, 1, limit).and_then(|mut own| own.rejected()), limit)
}

fn told<T>(found: Result<T, Exhausted>, limit: usize) -> Result<T, GaveUp> {
    found.map_err(|Exhausted| GaveUp { states: limit })
}

/// The levels of a system's bits: in the order in which the equations come to speak of them, copy beside copy.
struct Places {
    letters: Vec<u32>,
    registers: Vec<u32>,
    guesses: Vec<u32>,
    used: u32,
    copies: u32,
}

impl Places {
    fn new(system: &System, copies: u32) -> Self {
        const NONE: u32 = u32::MAX;
        let (back, ahead) = (system.back.len(), system.ahead.len());
        let mut places = Places {
            letters: vec![NONE; system.letters.len()],
            registers: vec![NONE; back + ahead],
            guesses: vec![NONE; system.guesses - ahead],
            used: 0,
            copies,
        };
        let mut seen = vec![false; system.cells.len()];
        let sources = system.back.iter().chain(&system.ahead).filter_map(|source| match *source {
            Source::Cell(cell) => Some(cell),
            Source::Register(_) => None,
        });
        let roots = system.demands.iter().copied().chain(sources).chain(system.labels.iter().copied());
        // The larger ones tell more of what belongs together.
        let mut roots: Vec<(usize, u32)> = roots.map(|root| (system.below(root), root)).collect();
        roots.sort_by_key(|(size, _)| std::cmp::Reverse(*size));
        for (_, root) in roots {
            let mut todo = vec![root];
            while let Some(cell) = todo.pop() {
                if std::mem::replace(&mut seen[cell as usize], true) {
                    continue;
                }
                let place = match system.cells[cell as usize] {
                    Cell::Letter(bit) => &mut places.letters[bit as usize],
                    Cell::Back(bit) => &mut places.registers[bit as usize],
                    Cell::Guess(bit) if (bit as usize) < ahead => &mut places.registers[back + bit as usize],
                    Cell::Guess(bit) => &mut places.guesses[bit as usize - ahead],
                    Cell::Outside(_) => continue,
                    Cell::Apply(node) => {
                        todo.extend(node.children().rev());
                        continue;
                    }
                };
                if *place == NONE {
                    *place = places.used;
                    places.used += 1;
                }
            }
        }
        let all = places.letters.iter_mut().chain(&mut places.registers).chain(&mut places.guesses);
        for place in all.filter(|place| **place == NONE) {
            *place = places.used;
            places.used += 1;
        }
        places
    }

    fn level(&self, place: u32, copy: u32) -> u32 {
        2 * (place * self.copies + copy)
    }

    fn letter(&self, bit: u32) -> u32 {
        self.level(self.letters[bit as usize], 0)
    }

    fn register(&self, copy: u32, register: u32) -> u32 {
        self.level(self.registers[register as usize], copy)
    }

    fn guess(&self, copy: u32, output: u32) -> u32 {
        self.level(self.guesses[output as usize], copy)
    }

    /// Behind all others.
    fn behind(&self) -> u32 {
        self.level(self.used, 0)
    }
}

impl System {
    /// How many cells a cell is made of.
    fn below(&self, root: u32) -> usize {
        let (mut seen, mut todo) = (FxHashSet::default(), vec![root]);
        while let Some(cell) = todo.pop() {
            if seen.insert(cell)
                && let Cell::Apply(node) = self.cells[cell as usize]
            {
                todo.extend(node.children());
            }
        }
        seen.len()
    }
}

impl Symbolic {
    fn new(system: &System, copies: u32, limit: usize) -> Result<Self, Exhausted> {
        let mut store = Store::limited(limit);
        let (back, ahead) = (system.back.len() as u32, system.ahead.len() as u32);
        let guesses = system.guesses as u32 - ahead;
        let places = Places::new(system, copies);
        let letters: Vec<u32> = (0..system.letters.len() as u32).map(|bit| places.letter(bit)).collect();
        let (mut parts, mut promises, mut values) = (Vec::new(), Vec::new(), Vec::new());
        for copy in 0..copies {
            let later = |bit: u32| places.register(copy, back + bit) + 1;
            let mut cells: Vec<Bdd> = Vec::with_capacity(system.cells.len());
            for cell in &system.cells {
                let value = match *cell {
                    Cell::Letter(bit) => store.bit(places.letter(bit))?,
                    Cell::Back(bit) => store.bit(places.register(copy, bit))?,
                    Cell::Guess(bit) if bit < ahead => store.bit(later(bit))?,
                    Cell::Guess(bit) => store.bit(places.guess(copy, bit - ahead))?,
                    // Letters know the ends by registers.
                    Cell::Outside(_) => Bdd::FALSE,
                    Cell::Apply(node) => apply(&mut store, node, &cells)?,
                };
                cells.push(value);
            }
            parts.extend(system.demands.iter().map(|&demand| cells[demand as usize]));
            for (register, source) in (0..).zip(&system.back) {
                let value = match *source {
                    Source::Cell(cell) => cells[cell as usize],
                    Source::Register(of) => store.bit(places.register(copy, of))?,
                };
                let next = store.bit(places.register(copy, register) + 1)?;
                parts.push(same(&mut store, next, value)?);
            }
            for (register, source) in (0..).zip(&system.ahead) {
                let value = match *source {
                    Source::Cell(cell) => cells[cell as usize],
                    Source::Register(of) => store.bit(later(of))?,
                };
                let promised = store.bit(places.register(copy, back + register))?;
                promises.push(same(&mut store, promised, value)?);
            }
            values.push(cells);
        }
        let every = || (0..copies).flat_map(|copy| (0..back + ahead).map(move |register| (copy, register)));
        let mut levels = Levels {
            now: every().map(|(copy, register)| places.register(copy, register)).collect(),
            later: Vec::new(),
            beside: letters.clone(),
        };
        let chosen = (0..copies).flat_map(|copy| (0..guesses).map(move |output| (copy, output)));
        levels.beside.extend(chosen.map(|(copy, output)| places.guess(copy, output)));
        let side = |ahead: bool| {
            let own = every().filter(move |(_, register)| (*register >= back) == ahead);
            let mut bits: Vec<(u32, bool)> = own
                .map(|(copy, register)| {
                    let value = match register.checked_sub(back) {
                        Some(promise) => system.last >> promise & 1,
                        None => system.first >> register & 1,
                    };
                    (places.register(copy, register), value == 1)
                })
                .collect();
            bits.sort_unstable();
            bits
        };
        let (mut first, mut last) = (side(false), side(true));
        if let [one, other] = &values[..] {
            // Whether labels have differed, the lowest bit of all.
            let apart = places.behind();
            let mut differ = store.bit(apart)?;
            for &label in &system.labels {
                let here = store.xor(one[label as usize], other[label as usize])?;
                differ = store.or(differ, here)?;
            }
            let next = store.bit(apart + 1)?;
            parts.push(same(&mut store, next, differ)?);
            levels.now.push(apart);
            first.push((apart, false));
            last.push((apart, true));
        }
        levels.later = levels.now.iter().map(|level| level + 1).collect();
        let begins = Relation::new(&mut store, parts.clone(), &levels)?;
        promises.extend(parts);
        let moves = Relation::new(&mut store, promises, &levels)?;
        let (first, last) = (cube(&mut store, first.into_iter())?, cube(&mut store, last.into_iter())?);
        Ok(Symbolic { store, moves, begins, first, last, letters })
    }

    fn after(&mut self, set: Bdd, begin: bool) -> Result<Bdd, Exhausted> {
        let relation = if begin { &self.begins } else { &self.moves };
        relation.after(&mut self.store, set)
    }

    /// The letters of a shortest way to the end.
    fn reached(&mut self) -> Result<Option<Vec<u64>>, Exhausted> {
        let mut layers = vec![self.after(self.first, true)?];
        let mut seen = layers[0];
        loop {
            let layer = layers[layers.len() - 1];
            let ends = self.store.and(layer, self.last)?;
            if !ends.is_empty() {
                return self.word(&layers, ends).map(Some);
            }
            let next = self.after(layer, false)?;
            let new = self.store.minus(next, seen)?;
            if new.is_empty() {
                return Ok(None);
            }
            seen = self.store.or(seen, new)?;
            layers.push(new);
        }
    }

    /// The letters that lead to one of these states of the last layer, from its end.
    fn word(&mut self, layers: &[Bdd], ends: Bdd) -> Result<Vec<u64>, Exhausted> {
        let (mut word, mut ends) = (Vec::new(), ends);
        for at in (0..layers.len()).rev() {
            // One state is enough: all its bits, so that few are left to be chosen.
            let to = self.store.shift(ends, true)?;
            let bits = self.store.pick(to).unwrap_or_default();
            let mut found = cube(&mut self.store, bits.into_iter())?;
            let (from, relation) = match at {
                0 => (self.first, &self.begins),
                _ => (layers[at - 1], &self.moves),
            };
            for part in relation.parts() {
                found = self.store.and(found, part)?;
            }
            found = self.store.and(found, from)?;
            let chosen = self.store.pick(found).unwrap_or_default();
            let is_one = |level: u32| chosen.contains(&(level, true));
            let letter =
                (0..).zip(&self.letters).fold(0, |all, (bit, &level)| all | u64::from(is_one(level)) << bit);
            word.push(letter);
            // The state before it, of this choice.
            let registers =
                chosen.into_iter().filter(|(level, _)| level % 2 == 0 && !self.letters.contains(level));
            let registers: Vec<(u32, bool)> = registers.collect();
            let before = cube(&mut self.store, registers.into_iter())?;
            ends = self.store.and(from, before)?;
        }
        word.reverse();
        Ok(word)
    }

    /// States from which an end can be reached.
    fn alive(&mut self) -> Result<Bdd, Exhausted> {
        let (mut alive, mut new) = (self.last, self.last);
        while !new.is_empty() {
            let found = self.moves.before(&mut self.store, new)?;
            new = self.store.minus(found, alive)?;
            alive = self.store.or(alive, new)?;
        }
        Ok(alive)
    }

    /// A shortest word after which no state may be the last: sets of states in breadth, of which only the smallest count.
    fn rejected(&mut self) -> Result<Option<Vec<u64>>, Exhausted> {
        struct Reached {
            set: Bdd,
            from: usize,
            letter: u64,
        }
        let alive = self.alive()?;
        let letters: Result<Vec<Bdd>, Exhausted> = (0..1u64 << self.letters.len())
            .map(|letter| {
                let bits = (0..).zip(&self.letters).map(|(bit, &level)| (level, letter >> bit & 1 == 1));
                let mut bits: Vec<(u32, bool)> = bits.collect();
                bits.sort_unstable();
                cube(&mut self.store, bits.into_iter())
            })
            .collect();
        let letters = letters?;
        let mut found = vec![Reached { set: self.first, from: 0, letter: 0 }];
        let mut known: FxHashSet<Bdd> = FxHashSet::default();
        let mut at = 0;
        while at < found.len() {
            for (letter, &here) in (0..).zip(&letters) {
                let from = self.store.and(found[at].set, here)?;
                let next = self.after(from, at == 0)?;
                let next = self.store.and(next, alive)?;
                if self.store.and(next, self.last)?.is_empty() {
                    let (mut word, mut back) = (vec![letter], at);
                    while back != 0 {
                        word.push(found[back].letter);
                        back = found[back].from;
                    }
                    word.reverse();
                    return Ok(Some(word));
                }
                if !known.insert(next) {
                    continue;
                }
                if found.len() == MOST_SETS {
                    return Err(Exhausted);
                }
                let mut larger = false;
                for other in &found[1..] {
                    larger = larger || self.store.minus(other.set, next)?.is_empty();
                }
                if !larger {
                    found.push(Reached { set: next, from: at, letter });
                }
            }
            at += 1;
        }
        Ok(None)
    }
}

/// Where two are the same.
fn same(store: &mut Store, one: Bdd, other: Bdd) -> Result<Bdd, Exhausted> {
    let differ = store.xor(one, other)?;
    store.not(differ)
}

fn apply(store: &mut Store, node: Node, cells: &[Bdd]) -> Result<Bdd, Exhausted> {
    let of = |id: u32| cells[id as usize];
    match node {
        Node::Constant(true) => Ok(Bdd::TRUE),
        Node::Constant(false) | Node::Stream { .. } | Node::Outside(_) => Ok(Bdd::FALSE),
        Node::Not(a) => store.not(of(a)),
        Node::And(a, b) => store.and(of(a), of(b)),
        Node::Or(a, b) => store.or(of(a), of(b)),
        Node::Xor(a, b) => store.xor(of(a), of(b)),
        Node::Iff(a, b) => same(store, of(a), of(b)),
        Node::Implies(a, b) => {
            let not = store.not(of(a))?;
            store.or(not, of(b))
        }
        Node::If(a, b, c) => {
            let (yes, no) = (store.and(of(a), of(b))?, store.minus(of(c), of(a))?);
            store.or(yes, no)
        }
    }
}

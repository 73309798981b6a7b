//! Equations as a system over one position, of which automata are made.
//!
//! References to other positions become registers: one that looks back is what its source was a position before, one that
//! looks ahead what its source will be a position after. A state between two positions is the values of the registers that
//! look back, and those *promised* by the registers that look ahead. At a position the promises to come are guessed, with
//! them outputs that depend on themselves at that position; all else follows, 64 guesses per word. A guess that fulfils the
//! equations is a [`Move`]: the promises that it keeps, the state after it, the values of the outputs.
//!
//! Moves from the start to states whose promises are what holds beyond the end are the models, one to one.

mod moves;
pub(crate) mod symbolic;

use crate::{Id, Node, Specification};
use rustc_hash::FxHashMap;

/// A value of the present position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cell {
    /// A bit of the letter.
    Letter(u32),
    /// A register that looks back.
    Back(u32),
    /// A guessed bit: first the registers that look ahead, then outputs that depend on themselves.
    Guess(u32),
    /// Whether the position that far away is beyond the trace: a bit of what is told beside the letter.
    Outside(u32),
    /// An operator over earlier cells.
    Apply(Node),
}

/// Where a register takes its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Source {
    Cell(u32),
    /// The register before it in the chain.
    Register(u32),
}

/// How the streams that are not the system's own are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// Letters are the inputs of a position, the rest is guessed: what automata over inputs need.
    Letters,
    /// The trace is there: letters are whatever is referred to, at any distance.
    Ahead,
}

/// What a position may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Move {
    /// The promises that the position keeps.
    pub(crate) kept: u64,
    /// The state after it.
    pub(crate) next: State,
    /// The outputs of the labels.
    pub(crate) label: u64,
}

/// A state between two positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct State {
    /// The registers that look back.
    pub(crate) back: u64,
    /// The promises.
    pub(crate) ahead: u64,
}

/// The system of some outputs.
#[derive(Clone, Debug)]
pub(crate) struct System {
    cells: Vec<Cell>,
    back: Vec<Source>,
    ahead: Vec<Source>,
    /// What the registers hold before the first position, and beyond the last.
    pub(crate) first: u64,
    pub(crate) last: u64,
    /// How far ahead each promise is.
    depths: Vec<usize>,
    /// Guessed bits.
    guesses: usize,
    /// Cells that must be true.
    demands: Vec<u32>,
    labels: Vec<u32>,
    /// What the bits of a letter are: stream, offset and default.
    pub(crate) letters: Vec<(u32, i32, bool)>,
    /// What the bits beside the letter are: offsets.
    pub(crate) outside: Vec<i32>,
}

/// Why there is no system: it would be too large to be written in a machine's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooLarge;

/// The most guessed bits: beyond that, a position has too many moves to list.
const MOST_GUESSES: usize = 62;

/// Registers in a row: of a stream (of a constant, for the ends), ahead or back, and what is beyond.
type Chain = (Option<u32>, bool, bool);

struct Making<'a> {
    spec: &'a Specification,
    reading: Reading,
    system: System,
    /// The cell of each stream at the present position.
    present: FxHashMap<u32, u32>,
    member: Vec<bool>,
    made: FxHashMap<Id, u32>,
    chains: FxHashMap<Chain, Vec<u32>>,
    letter: FxHashMap<(u32, i32, bool), u32>,
    /// Whether registers that look back, or ahead, serve both defaults.
    shared: [bool; 2],
}

impl System {
    /// The system of `members`, with the values of `labels` (which are members) on its moves. Other streams are letters;
    /// with [`Reading::Letters`] they must be among `inputs`, the order of the bits of a letter.
    pub(crate) fn new(
        spec: &Specification,
        members: &[usize],
        labels: &[usize],
        inputs: &[u32],
        reading: Reading,
    ) -> Result<Self, TooLarge> {
        let mut member = vec![false; spec.outputs.len()];
        members.iter().for_each(|&output| member[output] = true);
        let system = System {
            cells: Vec::new(),
            back: Vec::new(),
            ahead: Vec::new(),
            first: 0,
            last: 0,
            depths: Vec::new(),
            guesses: 0,
            demands: Vec::new(),
            labels: Vec::new(),
            letters: Vec::new(),
            outside: Vec::new(),
        };
        let mut making = Making {
            spec,
            reading,
            system,
            present: FxHashMap::default(),
            member,
            made: FxHashMap::default(),
            chains: FxHashMap::default(),
            letter: FxHashMap::default(),
            shared: [false; 2],
        };
        if reading == Reading::Letters {
            for &input in inputs {
                making.letter_bit((input, 0, false));
            }
        }
        making.registers(members)?;
        making.equations(members);
        let mut system = making.system;
        system.labels = labels.iter().map(|&output| making.present[&spec.output(output)]).collect();
        if system.labels.len() > 64 || system.letters.len() > 24 || system.outside.len() > 64 {
            return Err(TooLarge);
        }
        Ok(system)
    }
}

impl System {
    /// How many registers look back, and how many ahead.
    pub(crate) fn widths(&self) -> (usize, usize) {
        (self.back.len(), self.ahead.len())
    }

    /// The farthest promise.
    pub(crate) fn farthest(&self) -> usize {
        self.depths.iter().copied().max().unwrap_or(0)
    }

    /// The promises about positions that are not there, when so many come after the present one.
    pub(crate) fn beyond(&self, left: usize) -> u64 {
        self.depths.iter().enumerate().fold(0, |all, (bit, &depth)| all | u64::from(depth > left) << bit)
    }
}

impl Making<'_> {
    fn cell(&mut self, cell: Cell) -> u32 {
        self.system.cells.push(cell);
        self.system.cells.len() as u32 - 1
    }

    fn letter_bit(&mut self, reference: (u32, i32, bool)) -> u32 {
        if let Some(&cell) = self.letter.get(&reference) {
            return cell;
        }
        self.system.letters.push(reference);
        let cell = self.cell(Cell::Letter(self.system.letters.len() as u32 - 1));
        self.letter.insert(reference, cell);
        cell
    }

    fn is_member(&self, stream: u32) -> bool {
        self.spec.as_output(stream).is_some_and(|output| self.member[output])
    }

    /// The registers of all references. Their sources are filled in when the cells are there.
    fn registers(&mut self, members: &[usize]) -> Result<(), TooLarge> {
        // The depth of each chain: of a stream (or of a constant, for the ends), ahead or back, by default.
        let mut depth: Vec<(Chain, u32)> = Vec::new();
        let mut places: FxHashMap<Chain, usize> = FxHashMap::default();
        let mut want = |key: Chain, offset: i32| {
            let place = *places.entry(key).or_insert_with(|| {
                depth.push((key, 0));
                depth.len() - 1
            });
            depth[place].1 = depth[place].1.max(offset.unsigned_abs());
        };
        for &output in members {
            for id in self.spec.below(self.spec.equations[output]) {
                match self.spec.nodes[id as usize] {
                    Node::Stream { stream, offset, default }
                        if offset != 0 && (self.reading == Reading::Letters || self.is_member(stream)) =>
                    {
                        want((Some(stream), offset > 0, default && self.reading == Reading::Letters), offset);
                    }
                    Node::Outside(offset) if self.reading == Reading::Letters => {
                        want((None, offset > 0, true), offset);
                    }
                    _ => {}
                }
            }
        }
        if self.reading == Reading::Letters {
            self.share(&mut depth);
        }
        let count = |ahead: bool| {
            let own = depth.iter().filter(|((_, way, _), _)| *way == ahead);
            own.map(|(_, depth)| u64::from(*depth)).sum::<u64>()
        };
        if count(false) > 62 || count(true) > 62 {
            return Err(TooLarge);
        }
        for ((stream, ahead, default), depth) in depth {
            let mut chain = Vec::new();
            for nth in 0..depth {
                let system = &mut self.system;
                let (list, initial) = if ahead {
                    (&mut system.ahead, &mut system.last)
                } else {
                    (&mut system.back, &mut system.first)
                };
                let register = list.len() as u32;
                // The first register's source is set when all cells are there.
                list.push(if nth == 0 { Source::Cell(u32::MAX) } else { Source::Register(register - 1) });
                *initial |= u64::from(default) << register;
                if ahead {
                    system.depths.push(nth as usize + 1);
                }
                chain.push(register);
            }
            self.chains.insert((stream, ahead, default), chain);
        }
        self.system.guesses = self.system.ahead.len();
        Ok(())
    }

    /// Where streams are referred to with both defaults, one chain for both and one that knows the end take fewer registers
    /// than two for each: `x[+1|1]` is `x[+1|0]`, or the end.
    fn share(&mut self, depth: &mut Vec<(Chain, u32)>) {
        for ahead in [false, true] {
            let own = || depth.iter().filter(|((_, way, _), _)| *way == ahead);
            let apart: u64 = own().map(|(_, depth)| u64::from(*depth)).sum();
            let mut together: Vec<(Chain, u32)> = Vec::new();
            for &((stream, _, default), deep) in own() {
                let mut want = |key: Chain| match together.iter_mut().find(|(known, _)| *known == key) {
                    Some((_, known)) => *known = (*known).max(deep),
                    None => together.push((key, deep)),
                };
                if stream.is_some() {
                    want((stream, ahead, false));
                }
                if default {
                    want((None, ahead, true));
                }
            }
            if together.iter().map(|(_, depth)| u64::from(*depth)).sum::<u64>() < apart {
                depth.retain(|((_, way, _), _)| *way != ahead);
                depth.extend(together);
                self.shared[usize::from(ahead)] = true;
            }
        }
    }

    /// Promises that nobody can keep: a value beyond the end, a position behind one that is beyond it.
    fn ends(&mut self) {
        let Some(ends) = self.chains.get(&(None, true, true)).filter(|_| self.shared[1]).cloned() else {
            return;
        };
        let chains: Vec<Vec<u32>> = self
            .chains
            .iter()
            .filter(|((stream, ahead, _), _)| stream.is_some() && *ahead)
            .map(|(_, chain)| chain.clone())
            .collect();
        for pair in ends.windows(2) {
            let (near, far) = (self.cell(Cell::Guess(pair[0])), self.cell(Cell::Guess(pair[1])));
            let demand = self.cell(Cell::Apply(Node::Implies(near, far)));
            self.system.demands.push(demand);
        }
        for chain in chains {
            for (&value, &end) in chain.iter().zip(&ends) {
                let not = self.cell(Cell::Guess(end));
                let not = self.cell(Cell::Apply(Node::Not(not)));
                let value = self.cell(Cell::Guess(value));
                let demand = self.cell(Cell::Apply(Node::Implies(value, not)));
                self.system.demands.push(demand);
            }
        }
    }

    fn equations(&mut self, members: &[usize]) {
        let (order, feedback) = order(self.spec, members);
        for &output in &feedback {
            let guess = self.system.guesses as u32;
            self.system.guesses += 1;
            let cell = self.cell(Cell::Guess(guess));
            self.present.insert(self.spec.output(output), cell);
        }
        for &output in &order {
            let stream = self.spec.output(output);
            let root = self.spec.equations[output];
            match self.present.get(&stream).copied() {
                None => {
                    let cell = self.expression(root);
                    self.present.insert(stream, cell);
                }
                Some(guess) => {
                    let demand = self.demand(stream, root, guess);
                    self.system.demands.push(demand);
                }
            }
        }
        self.ends();
        for (&(stream, ahead, _), chain) in &self.chains {
            let cell = match stream {
                Some(stream) => match self.present.get(&stream) {
                    Some(&cell) => Some(cell),
                    None => self.letter.get(&(stream, 0, false)).copied(),
                },
                None => None,
            };
            let cell = cell.unwrap_or_else(|| {
                self.system.cells.push(Cell::Apply(Node::Constant(false)));
                self.system.cells.len() as u32 - 1
            });
            if let Some(&first) = chain.first() {
                let list = if ahead { &mut self.system.ahead } else { &mut self.system.back };
                list[first as usize] = Source::Cell(cell);
            }
        }
    }

    /// What a guessed output demands: that it is what its equation says. `y = if e then y else !y` demands just `e`, which
    /// is settled earlier in a search.
    fn demand(&mut self, stream: u32, root: Id, guess: u32) -> u32 {
        if let Node::If(test, yes, no) = self.spec.nodes[root as usize]
            && self.spec.nodes[yes as usize] == (Node::Stream { stream, offset: 0, default: false })
            && self.spec.nodes[no as usize] == Node::Not(yes)
        {
            return self.expression(test);
        }
        let value = self.expression(root);
        self.cell(Cell::Apply(Node::Iff(guess, value)))
    }

    fn expression(&mut self, root: Id) -> u32 {
        for id in self.spec.below(root) {
            if self.made.contains_key(&id) {
                continue;
            }
            let cell = match self.spec.nodes[id as usize] {
                Node::Stream { stream, offset, default } => {
                    let member = self.is_member(stream);
                    match offset {
                        0 if member => self.present[&stream],
                        0 => self.letter_bit((stream, 0, false)),
                        _ if !member && self.reading == Reading::Ahead => {
                            self.letter_bit((stream, offset, default))
                        }
                        _ => self.register(Some(stream), offset, default),
                    }
                }
                Node::Outside(offset) => match self.reading {
                    Reading::Letters => self.register(None, offset, true),
                    Reading::Ahead => self.outside(offset),
                },
                node => {
                    let node = node.map(|child| self.made[&child]);
                    self.cell(Cell::Apply(node))
                }
            };
            self.made.insert(id, cell);
        }
        self.made[&root]
    }

    /// Whether the position that far away is beyond the trace.
    fn outside(&mut self, offset: i32) -> u32 {
        let known = self.system.outside.iter().position(|&known| known == offset);
        let place = known.unwrap_or_else(|| {
            self.system.outside.push(offset);
            self.system.outside.len() - 1
        });
        self.cell(Cell::Outside(place as u32))
    }

    /// A reference by its register. Where the ends are told, a stream has one register for both defaults: so no two of
    /// them are guessed differently.
    fn register(&mut self, stream: Option<u32>, offset: i32, default: bool) -> u32 {
        let told = self.reading == Reading::Ahead;
        let shared = stream.is_some() && (told || self.shared[usize::from(offset > 0)]);
        let chain = (stream, offset > 0, default && !shared);
        let register = self.chains[&chain][offset.unsigned_abs() as usize - 1];
        let cell = self.cell(if offset > 0 { Cell::Guess(register) } else { Cell::Back(register) });
        if default && shared {
            let outside = if told { self.outside(offset) } else { self.register(None, offset, true) };
            return self.cell(Cell::Apply(Node::Or(outside, cell)));
        }
        cell
    }
}

/// The members in an order in which each stands after those it refers to at the same position, but for some that have to
/// be guessed.
fn order(spec: &Specification, members: &[usize]) -> (Vec<usize>, Vec<usize>) {
    let place: FxHashMap<usize, usize> =
        members.iter().enumerate().map(|(at, &output)| (output, at)).collect();
    let needs: Vec<Vec<u32>> = members
        .iter()
        .map(|&output| {
            let references = spec.references(output).into_iter().filter(|(_, offset, _)| *offset == 0);
            let own = references.filter_map(|(stream, ..)| place.get(&spec.as_output(stream)?));
            own.map(|&at| at as u32).collect()
        })
        .collect();
    let mut guessed = vec![false; members.len()];
    loop {
        let open = |from: u32, nth: usize| {
            let mut own = needs[from as usize].iter().copied().filter(|&to| !guessed[to as usize]);
            own.nth(nth)
        };
        let components = tw_core::Components::new(members.len(), None, open);
        let edges = (0..members.len() as u32)
            .flat_map(|from| needs[from as usize].iter().map(move |&to| (from, to)))
            .filter(|&(_, to)| !guessed[to as usize]);
        let cyclic = components.cyclic(edges.clone());
        // The member of a cycle that most others of its cycle need.
        let mut needed = vec![0usize; members.len()];
        for (from, to) in edges {
            if components.of[from as usize] == components.of[to as usize] {
                needed[to as usize] += if from == to { members.len() } else { 1 };
            }
        }
        let worst = (0..members.len())
            .filter(|&at| !guessed[at] && cyclic.get(components.of[at] as usize))
            .max_by_key(|&at| needed[at]);
        match worst {
            Some(at) => guessed[at] = true,
            None => {
                let mut order: Vec<usize> = (0..members.len()).collect();
                // A guessed member's own equation comes last of all: nobody waits for it.
                order.sort_by_key(|&at| (guessed[at], components.of[at]));
                let feedback = (0..members.len()).filter(|&at| guessed[at]).map(|at| members[at]);
                return (order.into_iter().map(|at| members[at]).collect(), feedback.collect());
            }
        }
    }
}

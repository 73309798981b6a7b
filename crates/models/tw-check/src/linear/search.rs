//! Couvreur's search for an accepting component, and which pairs have an accepting run.

use super::product::{Pair, Product};
use rustc_hash::FxHashMap;
use tw_model::State;

/// Most pairs for which there is a table; beyond, those that are met are hashed.
const TABLE: usize = 1 << 28;

/// One number for each pair, 0 at first.
pub(crate) enum Numbers {
    /// Pages of it exist once they are written.
    Dense(Vec<u32>),
    Hashed(FxHashMap<usize, u32>),
}

impl Numbers {
    pub fn new(product: &Product) -> Self {
        if product.pairs() <= TABLE {
            Numbers::Dense(vec![0; product.pairs()])
        } else {
            Numbers::Hashed(FxHashMap::default())
        }
    }

    #[inline]
    pub fn get(&self, at: usize) -> u32 {
        match self {
            Numbers::Dense(table) => table[at],
            Numbers::Hashed(table) => table.get(&at).copied().unwrap_or(0),
        }
    }

    #[inline]
    pub fn set(&mut self, at: usize, value: u32) {
        match self {
            Numbers::Dense(table) => table[at] = value,
            Numbers::Hashed(table) => {
                table.insert(at, value);
            }
        }
    }
}

/// What a search came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// No accepting run, or the search was for all of them.
    Nothing,
    /// A pair from which every run accepts was reached.
    Decided,
    /// The live pairs from this place on have all marks between them.
    Component(u32),
}

/// What a search makes of an automaton state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It accepts whatever comes.
    Decided,
    /// An accepting run may meet it again and again.
    Recurrent,
    /// No accepting run does: that it can be reached is all that counts.
    Passing,
}

/// A pair is 0 while it was not met, its place plus 1 while it is live, and after that whether it has an accepting run.
const EMPTY: u32 = u32::MAX;
const ACCEPTING: u32 = u32::MAX - 1;

/// A pair on the path, and what of it comes next: a transition of the model, a move of the automaton.
struct Frame {
    pair: Pair,
    edge: u32,
    step: u32,
}

/// A component as far as it is known: the live pairs from `first` on, up to the next component.
struct Component {
    first: u32,
    /// Marks on the way to it.
    entry: u64,
    /// Marks inside.
    inside: u64,
    /// Whether an accepting run leaves it, or stays inside.
    accepting: bool,
}

/// One search from any number of states.
pub(crate) struct Search {
    numbers: Numbers,
    path: Vec<Frame>,
    live: Vec<Pair>,
    components: Vec<Component>,
    /// Pairs that are passed, in the order in which they were met.
    passing: Vec<Pair>,
    kinds: Vec<Kind>,
    /// Whether to stop at the first accepting component.
    first: bool,
    met: usize,
}

impl Search {
    /// For one accepting run (`first`), or for all pairs that have one; for those no state is only passed.
    pub fn new(product: &Product, kinds: Vec<Kind>, first: bool) -> Self {
        Self {
            numbers: Numbers::new(product),
            path: Vec::new(),
            live: Vec::new(),
            components: Vec::new(),
            passing: Vec::new(),
            kinds,
            first,
            met: 0,
        }
    }

    /// How many pairs were met.
    pub fn met(&self) -> usize {
        self.met
    }

    /// Whether a pair is live and stands at `first` or after it.
    pub fn is_live(&self, number: usize, first: u32) -> bool {
        let place = self.numbers.get(number);
        place > first && place < ACCEPTING
    }

    /// Whether a pair has an accepting run, after a search for all of them.
    pub fn accepts(&self, number: usize) -> bool {
        self.numbers.get(number) == ACCEPTING
    }

    /// Searches from the automaton's first state in each of the states.
    pub fn run(&mut self, product: &mut Product, from: impl Iterator<Item = State>) -> Outcome {
        for state in from {
            let outcome = self.visit(product, Pair { state, automaton: 0 });
            if outcome != Outcome::Nothing {
                return outcome;
            }
        }
        let mut at = 0;
        while at < self.passing.len() {
            let pair = self.passing[at];
            at += 1;
            let (first, last) = product.moves(pair);
            for edge in if first == last { 0..0 } else { product.graph.row(pair.state) } {
                let state = product.graph.target(edge);
                for step in first..last {
                    let outcome = self.visit(product, Pair { state, automaton: product.step(step).target });
                    if outcome != Outcome::Nothing {
                        return outcome;
                    }
                }
            }
        }
        Outcome::Nothing
    }

    #[inline]
    fn visit(&mut self, product: &mut Product, pair: Pair) -> Outcome {
        let number = product.number(pair);
        if self.numbers.get(number) != 0 {
            return Outcome::Nothing;
        }
        match self.kinds[pair.automaton as usize] {
            Kind::Decided => Outcome::Decided,
            Kind::Passing => {
                self.pass(number, pair);
                Outcome::Nothing
            }
            Kind::Recurrent => {
                self.enter(product, pair, 0);
                self.explore(product)
            }
        }
    }

    #[inline]
    fn pass(&mut self, number: usize, pair: Pair) {
        self.numbers.set(number, EMPTY);
        self.passing.push(pair);
        self.met += 1;
    }

    fn enter(&mut self, product: &mut Product, pair: Pair, entry: u64) {
        let first = self.live.len() as u32;
        self.numbers.set(product.number(pair), first + 1);
        self.live.push(pair);
        self.components.push(Component { first, entry, inside: 0, accepting: false });
        let (step, _) = product.moves(pair);
        self.path.push(Frame { pair, edge: product.graph.row(pair.state).start, step });
        self.met += 1;
    }

    fn explore(&mut self, product: &mut Product) -> Outcome {
        while let Some(frame) = self.path.last_mut() {
            let pair = frame.pair;
            let (first, last) = product.moves(pair);
            let end = if first == last { frame.edge } else { product.graph.row(pair.state).end };
            let (mut edge, mut step) = (frame.edge, frame.step);
            let mut next = None;
            // A state's pairs stand together, so all moves over one transition of the model come one after the other.
            while edge < end {
                let taken = product.step(step);
                let target = Pair { state: product.graph.target(edge), automaton: taken.target };
                step += 1;
                if step == last {
                    (edge, step) = (edge + 1, first);
                }
                let number = product.number(target);
                match self.numbers.get(number) {
                    0 => match self.kinds[taken.target as usize] {
                        Kind::Decided => return Outcome::Decided,
                        Kind::Passing => self.pass(number, target),
                        Kind::Recurrent => {
                            next = Some((target, taken.marks));
                            break;
                        }
                    },
                    EMPTY => {}
                    ACCEPTING => {
                        if let Some(top) = self.components.last_mut() {
                            top.accepting = true;
                        }
                    }
                    place => {
                        if let Some(component) = self.merge(product.all, place - 1, taken.marks) {
                            return Outcome::Component(component);
                        }
                    }
                }
            }
            match next {
                Some((target, marks)) => {
                    if let Some(frame) = self.path.last_mut() {
                        (frame.edge, frame.step) = (edge, step);
                    }
                    self.enter(product, target, marks);
                }
                None => self.leave(product),
            }
        }
        Outcome::Nothing
    }

    /// A transition back to a live pair makes one component of all from there on. Its first place, if it accepts and
    /// that is all that was asked.
    #[inline]
    fn merge(&mut self, all: u64, place: u32, marks: u64) -> Option<u32> {
        let (mut inside, mut accepting) = (marks, false);
        while let Some(top) = self.components.pop_if(|top| top.first > place) {
            inside |= top.entry | top.inside;
            accepting |= top.accepting;
        }
        let top = self.components.last_mut()?;
        top.inside |= inside;
        top.accepting |= accepting || top.inside == all;
        (self.first && top.inside == all).then_some(top.first)
    }

    /// Leaves a pair all of whose transitions have been looked at, and its component if it is the first of it.
    fn leave(&mut self, product: &Product) {
        let Some(done) = self.path.pop() else { return };
        let place = self.numbers.get(product.number(done.pair)) - 1;
        if let Some(component) = self.components.pop_if(|top| top.first == place) {
            let verdict = if component.accepting { ACCEPTING } else { EMPTY };
            for pair in self.live.drain(place as usize..) {
                self.numbers.set(product.number(pair), verdict);
            }
            if let Some(parent) = self.components.last_mut() {
                parent.accepting |= component.accepting;
            }
        }
    }
}

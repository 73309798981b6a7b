//! All charts of a program: an event goes to those that have it, each with a state of its own.

use crate::counting::Counting;
use crate::lazy::{Lazy, Place};
use crate::oneshot::OneShot;
use crate::shape::{NECESSARY, Out, SUFFICIENT, Shape, bit};
use crate::window::Window;
use rustc_hash::FxHashMap;
use tw_core::codec::{Corrupt, put, take};
use tw_ir::NodeId;
use tw_ir::chart::{Check, Reading};

/// A question of a program: which root it is, and its bit.
#[derive(Clone, Copy, Debug)]
pub struct Question {
    /// The root.
    pub root: usize,
    /// Its bit in what events do.
    pub bit: Out,
    /// Whether what is pending at the end is open.
    pub open_end: bool,
}

/// Two basic charts with all that is asked of them.
#[derive(Clone, Debug)]
struct Pair {
    machine: Machine,
    events: Vec<NodeId>,
    questions: Vec<Question>,
}

#[derive(Clone, Debug)]
enum Machine {
    Windows(Lazy),
    OneShot(Shape),
    Counting(Shape),
}

/// Where a trace is in one pair.
#[derive(Clone, Debug)]
enum State {
    Window(Place),
    OneShot(OneShot),
    Counting(Box<Counting>),
}

/// Where a trace is.
#[derive(Clone, Debug)]
pub struct States(Vec<State>);

/// What a question is worth if the trace ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Nothing is owed.
    Holds,
    /// The main chart is not complete, but may be.
    Pending,
    /// Whatever comes, this end violates it.
    Violated,
}

/// The charts of a program.
#[derive(Clone, Debug)]
pub struct Bank {
    pairs: Vec<Pair>,
    /// The formulas of events, by number.
    pub events: Vec<NodeId>,
    /// Of each event where its pairs and letters begin in `routes`; one more at the end.
    starts: Vec<u32>,
    routes: Vec<(u32, u32)>,
    /// Questions that the latest events made true for good.
    settled: Vec<usize>,
}

impl Bank {
    /// Of checks with their roots and the formulas of their events. At most so many states are made of each pair.
    pub fn new<'c>(checks: impl IntoIterator<Item = (usize, &'c Check, Vec<NodeId>)>, most: usize) -> Self {
        let mut pairs: Vec<Pair> = Vec::new();
        for (root, check, events) in checks {
            let shape = Shape::new(check);
            let question = Question { root, bit: bit(check.condition), open_end: check.open_end };
            let same = |pair: &&mut Pair| pair.events == events && *pair.machine.shape() == shape;
            match pairs.iter_mut().find(same) {
                Some(pair) => pair.questions.push(question),
                None => {
                    let machine = match (shape.iterate, shape.reading) {
                        (Some(_), _) => Machine::Counting(shape),
                        (None, Reading::Ltl) => Machine::OneShot(shape),
                        _ => Machine::Windows(Lazy::new(shape, most)),
                    };
                    pairs.push(Pair { machine, events, questions: vec![question] });
                }
            }
        }
        let (mut events, mut numbers) = (Vec::new(), FxHashMap::default());
        let mut routes: Vec<(u32, u32, u32)> = Vec::new();
        for (number, pair) in pairs.iter().enumerate() {
            for (letter, &node) in pair.events.iter().enumerate() {
                let event = *numbers.entry(node).or_insert_with(|| {
                    events.push(node);
                    events.len() as u32 - 1
                });
                routes.push((event, number as u32, letter as u32));
            }
        }
        routes.sort_unstable();
        let starts =
            (0..=events.len() as u32).map(|event| routes.partition_point(|route| route.0 < event) as u32);
        let starts = starts.collect();
        Self {
            settled: Vec::new(),
            pairs,
            events,
            starts,
            routes: routes.into_iter().map(|(_, pair, letter)| (pair, letter)).collect(),
        }
    }

    /// Before the first event.
    pub fn fresh(&self) -> States {
        let state = |pair: &Pair| match &pair.machine {
            Machine::Windows(_) => State::Window(Place::default()),
            Machine::OneShot(_) => State::OneShot(OneShot::default()),
            Machine::Counting(shape) => State::Counting(Box::new(Counting::new(shape))),
        };
        States(self.pairs.iter().map(state).collect())
    }

    /// Takes the event of a position, and names the questions that it settles a violation of.
    #[inline]
    pub fn event(&mut self, states: &mut States, event: usize, violated: &mut impl FnMut(usize)) {
        self.settled.clear();
        let routes = self.starts[event] as usize..self.starts[event + 1] as usize;
        for at in routes {
            let (pair, letter) = self.routes[at];
            self.letter(states, pair as usize, letter as usize, violated);
        }
    }

    /// Takes several events of one position: each pair in its own order.
    pub fn events(&mut self, states: &mut States, events: &[u32], violated: &mut impl FnMut(usize)) {
        if let [event] = events {
            return self.event(states, *event as usize, violated);
        }
        let of =
            |event: &u32| self.starts[*event as usize] as usize..self.starts[*event as usize + 1] as usize;
        let mut routes: Vec<(u32, u32)> =
            events.iter().flat_map(|event| &self.routes[of(event)]).copied().collect();
        routes.sort_unstable();
        routes.dedup();
        self.settled.clear();
        for (pair, letter) in routes {
            self.letter(states, pair as usize, letter as usize, violated);
        }
    }

    #[inline]
    fn letter(&mut self, states: &mut States, pair: usize, letter: usize, violated: &mut impl FnMut(usize)) {
        let Self { pairs, settled, .. } = self;
        let Pair { machine, questions, .. } = &mut pairs[pair];
        let out = match (machine, &mut states.0[pair]) {
            (Machine::Windows(lazy), State::Window(place)) => lazy.step(place, letter),
            (Machine::OneShot(shape), State::OneShot(state)) => {
                let before = state.settled();
                state.step(shape, letter);
                let now = state.settled() & !before;
                if now != 0 {
                    settled.extend(questions.iter().filter(|own| own.bit & now != 0).map(|own| own.root));
                }
                0
            }
            (Machine::Counting(shape), State::Counting(state)) => state.step(shape, letter),
            _ => 0,
        };
        if out != 0 {
            questions.iter().filter(|own| own.bit & out != 0).for_each(|own| violated(own.root));
        }
    }

    /// What each question is worth if the trace ends here.
    pub fn end(&self, states: &States, mut tell: impl FnMut(Question, Ending)) {
        for (pair, state) in self.pairs.iter().zip(&states.0) {
            let (owed, pending) = match (&pair.machine, state) {
                (Machine::Windows(lazy), State::Window(place)) => {
                    let pending = lazy.window(place).pending(lazy.shape());
                    let owed = if pending { NECESSARY } else { 0 };
                    (owed, owed)
                }
                (Machine::OneShot(shape), State::OneShot(state)) => {
                    (state.end(shape), if state.pending(shape) { NECESSARY } else { 0 })
                }
                (Machine::Counting(shape), State::Counting(state)) => {
                    (state.end(shape), NECESSARY | SUFFICIENT)
                }
                _ => (0, 0),
            };
            for question in &pair.questions {
                let ending = match (owed & question.bit != 0, pending & question.bit != 0) {
                    (false, _) => Ending::Holds,
                    (true, true) => Ending::Pending,
                    (true, false) => Ending::Violated,
                };
                tell(*question, ending);
            }
        }
    }

    /// Of the questions of one-shot charts, those that the latest events made true for good.
    #[inline]
    pub fn settled(&self) -> &[usize] {
        &self.settled
    }

    /// The events of the main chart that have happened of the one that is pending, as letters of the root's check.
    pub fn progress(&self, states: &States, root: usize) -> u64 {
        let own = |(pair, _): &(&Pair, &State)| pair.questions.iter().any(|question| question.root == root);
        match self.pairs.iter().zip(&states.0).find(own) {
            Some((Pair { machine: Machine::Windows(lazy), .. }, State::Window(place))) => {
                lazy.window(place).progress(lazy.shape())
            }
            Some((_, State::OneShot(state))) => state.progress(),
            Some((_, State::Counting(state))) => state.progress(),
            _ => 0,
        }
    }

    /// States of automata made so far.
    pub fn automaton_states(&self) -> usize {
        let states = |pair: &Pair| match &pair.machine {
            Machine::Windows(lazy) => lazy.states(),
            _ => 0,
        };
        self.pairs.iter().map(states).sum()
    }

    pub(crate) fn save(&self, states: &States, out: &mut Vec<u8>) {
        put(states.0.len() as u64, out);
        for (pair, state) in self.pairs.iter().zip(&states.0) {
            match (&pair.machine, state) {
                (Machine::Windows(lazy), State::Window(place)) => lazy.window(place).save(out),
                (_, State::OneShot(state)) => state.save(out),
                (_, State::Counting(state)) => state.save(out),
                _ => {}
            }
        }
    }

    pub(crate) fn load(&mut self, from: &mut &[u8]) -> Result<States, Corrupt> {
        if take(from)? != self.pairs.len() as u64 {
            return Err(Corrupt("the saved state has other charts".into()));
        }
        let mut states = Vec::new();
        for pair in &mut self.pairs {
            states.push(match &mut pair.machine {
                Machine::Windows(lazy) => {
                    let window = Window::load(lazy.shape(), from)?;
                    State::Window(lazy.place(window))
                }
                Machine::OneShot(shape) => State::OneShot(OneShot::load(shape, from)?),
                Machine::Counting(shape) => State::Counting(Box::new(Counting::load(shape, from)?)),
            });
        }
        Ok(States(states))
    }

    /// Bytes held for all traces.
    pub fn heap_bytes(&self) -> usize {
        let machine = |pair: &Pair| match &pair.machine {
            Machine::Windows(lazy) => lazy.heap_bytes(),
            _ => 0,
        };
        self.pairs.iter().map(machine).sum::<usize>() + self.routes.len() * 8
    }
}

impl Machine {
    fn shape(&self) -> &Shape {
        match self {
            Machine::Windows(lazy) => lazy.shape(),
            Machine::OneShot(shape) | Machine::Counting(shape) => shape,
        }
    }
}

impl States {
    /// Bytes held.
    pub fn heap_bytes(&self) -> usize {
        let state = |state: &State| match state {
            State::Window(place) => place.heap_bytes(),
            State::OneShot(_) => 0,
            State::Counting(state) => state.heap_bytes(),
        };
        self.0.capacity() * size_of::<State>() + self.0.iter().map(state).sum::<usize>()
    }
}

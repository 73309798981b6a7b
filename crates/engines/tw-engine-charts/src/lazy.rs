//! The windows of a pair as an automaton, built as far as traces need it: one look-up per event.
//!
//! Charts whose events are ordered have few states. Unordered ones have as many as there are sequences: beyond a bound no more
//! are made, and a trace that needs another one keeps its window itself.

use crate::shape::{Out, Shape};
use crate::window::Window;
use rustc_hash::FxHashMap;

/// Entries of the table at most: a quarter of what a second-level cache holds.
const ENTRIES: usize = 1 << 17;
/// No entry yet.
const UNKNOWN: u32 = u32::MAX;
/// Bits of an entry that are what the event does.
const OUT: u32 = 2;

/// The states of all traces.
#[derive(Clone, Debug)]
pub struct Lazy {
    shape: Shape,
    letters: usize,
    most: usize,
    /// Of each state and letter the next state and what the event does.
    table: Vec<u32>,
    states: Vec<Window>,
    numbers: FxHashMap<Window, u32>,
}

/// Where a trace is: a state, or a window of its own where there are too many.
#[derive(Clone, Debug, Default)]
pub struct Place {
    state: u32,
    own: Option<Box<Window>>,
}

impl Lazy {
    /// With at most so many states.
    pub fn new(shape: Shape, most: usize) -> Self {
        let letters = shape.letters();
        let most = most.min(ENTRIES / letters).max(1);
        let mut lazy = Self {
            shape,
            letters,
            most,
            table: Vec::new(),
            states: Vec::new(),
            numbers: FxHashMap::default(),
        };
        lazy.number(Window::default());
        lazy
    }

    /// The pair.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// States made so far.
    pub fn states(&self) -> usize {
        self.states.len()
    }

    fn number(&mut self, window: Window) -> Option<u32> {
        if let Some(&known) = self.numbers.get(&window) {
            return Some(known);
        }
        if self.states.len() >= self.most {
            return None;
        }
        let number = self.states.len() as u32;
        self.table.resize(self.table.len() + self.letters, UNKNOWN);
        self.numbers.insert(window.clone(), number);
        self.states.push(window);
        Some(number)
    }

    /// Takes an event.
    #[inline]
    pub fn step(&mut self, place: &mut Place, letter: usize) -> Out {
        let entry = self.table[place.state as usize * self.letters + letter];
        if entry != UNKNOWN && place.own.is_none() {
            place.state = entry >> OUT;
            return (entry & ((1 << OUT) - 1)) as Out;
        }
        self.slow(place, letter)
    }

    #[cold]
    fn slow(&mut self, place: &mut Place, letter: usize) -> Out {
        if let Some(own) = &mut place.own {
            let out = own.step(&self.shape, letter);
            // Back to the table where that costs little to find out.
            if own.list_is_short()
                && let Some(&state) = self.numbers.get(&**own)
            {
                *place = Place { state, own: None };
            }
            return out;
        }
        let mut window = self.states[place.state as usize].clone();
        let out = window.step(&self.shape, letter);
        match self.number(window.clone()) {
            Some(next) => {
                let entry = next << OUT | u32::from(out);
                self.table[place.state as usize * self.letters + letter] = entry;
                place.state = next;
            }
            None => place.own = Some(Box::new(window)),
        }
        out
    }

    /// The window of a trace.
    pub fn window<'l>(&'l self, place: &'l Place) -> &'l Window {
        place.own.as_deref().unwrap_or(&self.states[place.state as usize])
    }

    /// The place of a window.
    pub fn place(&mut self, window: Window) -> Place {
        match self.number(window.clone()) {
            Some(state) => Place { state, own: None },
            None => Place { state: 0, own: Some(Box::new(window)) },
        }
    }

    /// Bytes held for all traces.
    pub fn heap_bytes(&self) -> usize {
        let states: usize = self.states.iter().map(Window::heap_bytes).sum();
        self.table.capacity() * 4 + 2 * states + self.numbers.capacity() * 8
    }
}

impl Place {
    pub(crate) fn heap_bytes(&self) -> usize {
        self.own.as_ref().map_or(0, |own| own.heap_bytes())
    }
}

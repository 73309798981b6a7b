//! Live runs, position by position: for specifications without a cycle that looks ahead. Outputs come with the delay that
//! references ahead ask for, and the state is bounded: as many values of each stream as references reach back.

use crate::graph::{Graph, kept};
use crate::{Id, Node, Specification};

/// One step of an equation.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// A stream's value at an offset; beyond the ends the default.
    Stream {
        stream: u32,
        offset: i64,
        default: bool,
    },
    Outside(i64),
    Apply(Node),
}

/// The last values of a stream, in a ring.
#[derive(Clone, Debug)]
struct Ring {
    words: Vec<u64>,
    mask: u64,
}

impl Ring {
    /// The bytes of a ring of so many values.
    fn bytes(values: u64) -> u64 {
        (values + 1).next_power_of_two().max(64) / 8
    }

    fn new(values: u64) -> Self {
        let size = 8 * Self::bytes(values);
        Ring { words: vec![0; (size / 64) as usize], mask: size - 1 }
    }

    fn get(&self, position: i64) -> bool {
        let at = position as u64 & self.mask;
        self.words[(at / 64) as usize] >> (at % 64) & 1 == 1
    }

    fn set(&mut self, position: i64, value: bool) {
        let at = position as u64 & self.mask;
        let word = &mut self.words[(at / 64) as usize];
        *word = *word & !(1 << (at % 64)) | u64::from(value) << (at % 64);
    }
}

/// The bytes that a live run keeps, told before there is one: offsets may be larger than the memory.
pub(crate) fn state_bytes(kept: &[crate::graph::Kept]) -> u64 {
    kept.iter().map(|kept| Ring::bytes(kept.values)).sum()
}

/// The bytes of so many values of one stream.
pub(crate) fn ring_bytes(values: u64) -> u64 {
    Ring::bytes(values)
}

/// A live run.
#[derive(Clone, Debug)]
pub struct Live {
    inputs: usize,
    /// The outputs in an order of computation: which, its delay, its steps.
    equations: Vec<(usize, i64, Vec<Step>)>,
    rings: Vec<Ring>,
    slowest: i64,
    /// The moment that comes next, and the length of the trace once it is known.
    moment: i64,
    len: Option<i64>,
}

impl Live {
    /// A run from the start, or nothing if a cycle looks ahead or has weight 0.
    pub fn new(spec: &Specification) -> Option<Self> {
        let graph = Graph::new(spec);
        let delays = graph.delays(spec, false)?;
        let rings = kept(spec, &graph)?.into_iter().map(|kept| Ring::new(kept.values)).collect();
        let components = graph.members.iter().flat_map(|members| graph.order(members, &delays));
        let equations = components.map(|output| {
            let mut places = rustc_hash::FxHashMap::default();
            let mut steps = Vec::new();
            for id in spec.below(spec.equations[output]) {
                let step = match spec.nodes[id as usize] {
                    Node::Stream { stream, offset, default } => {
                        Step::Stream { stream, offset: offset.into(), default }
                    }
                    Node::Outside(offset) => Step::Outside(offset.into()),
                    node => Step::Apply(node.map(|child| places[&child])),
                };
                places.insert(id, steps.len() as Id);
                steps.push(step);
            }
            (output, delays[output], steps)
        });
        let equations = equations.collect();
        let slowest = delays.iter().copied().max().unwrap_or(0);
        Some(Live { inputs: spec.inputs.len(), equations, rings, slowest, moment: 0, len: None })
    }

    /// How many positions later than its own a row of outputs comes.
    pub fn delay(&self) -> u64 {
        self.slowest as u64
    }

    /// The bytes that the run keeps.
    pub fn state_bytes(&self) -> usize {
        self.rings.iter().map(|ring| 8 * ring.words.len()).sum()
    }

    /// One more position. If a row of outputs is complete now, it is written to `row` (a value per output) and its
    /// position returned.
    pub fn push(&mut self, inputs: &[bool], row: &mut [bool]) -> Option<u64> {
        debug_assert!(self.len.is_none() && inputs.len() == self.inputs);
        let moment = self.moment;
        self.rings.iter_mut().zip(inputs).for_each(|(ring, &value)| ring.set(moment, value));
        self.step(row)
    }

    /// The trace has ended; the rows that are still due, one at a call.
    pub fn finish(&mut self, row: &mut [bool]) -> Option<u64> {
        let len = *self.len.get_or_insert(self.moment);
        while self.moment < len + self.slowest {
            let found = self.step(row);
            if found.is_some() {
                return found;
            }
        }
        None
    }

    fn step(&mut self, row: &mut [bool]) -> Option<u64> {
        let (moment, len) = (self.moment, self.len.unwrap_or(i64::MAX));
        let mut values: Vec<bool> = Vec::new();
        for (output, delay, steps) in &self.equations {
            let position = moment - delay;
            if position < 0 || position >= len {
                continue;
            }
            values.clear();
            for step in steps {
                // What has not arrived is never asked for: the delay sees to that.
                let there = |offset: i64| (0..len).contains(&(position + offset));
                let value = match *step {
                    Step::Stream { stream, offset, default } => {
                        if there(offset) {
                            self.rings[stream as usize].get(position + offset)
                        } else {
                            default
                        }
                    }
                    Step::Outside(offset) => !there(offset),
                    Step::Apply(node) => crate::columns::apply(node, &values),
                };
                values.push(value);
            }
            let value = values.last() == Some(&true);
            self.rings[self.inputs + output].set(position, value);
        }
        self.moment += 1;
        let due = moment - self.slowest;
        if due < 0 || due >= len {
            return None;
        }
        for (ring, value) in self.rings[self.inputs..].iter().zip(row) {
            *value = ring.get(due);
        }
        Some(due as u64)
    }

    /// What is saved of a run, to go on elsewhere.
    pub fn save(&self, out: &mut Vec<u8>) {
        tw_core::codec::put_signed(self.moment, out);
        for word in self.rings.iter().flat_map(|ring| &ring.words) {
            tw_core::codec::put_word(*word, out);
        }
    }

    /// Goes on where a saved run of the same specification was.
    pub fn load(&mut self, from: &mut &[u8]) -> Result<(), tw_core::codec::Corrupt> {
        self.moment = tw_core::codec::take_signed(from)?;
        for word in self.rings.iter_mut().flat_map(|ring| &mut ring.words) {
            *word = tw_core::codec::take_word(from)?;
        }
        Ok(())
    }
}

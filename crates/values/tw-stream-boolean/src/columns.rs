//! One pass over columns, 64 positions per word, for equations without a cycle that looks ahead.
//!
//! An output `y` with delay π is computed for position t − π when the pass is at t (see [`Graph::delays`]), so that every
//! reference leads to what is there already; inputs are all there. A block of words goes through one operator after the
//! other. Cycles that look back are solved
//!
//! - where a component refers to itself by one reference alone, `y = y[-k|d] ? a : b`, by words (`solve.rs`);
//! - else by a table from states and some positions of what the component depends on to states and values (`machine.rs`);
//! - else position by position.
//!
//! One position costs a few operations per 64 positions and operator; memory is the columns.
//!
//! [`Graph::delays`]: crate::graph::Graph::delays

mod compile;
mod machine;
pub(crate) use machine::apply;
mod solve;

use crate::{Flaw, Specification};
use machine::Machine;
use tw_core::Bits;

/// Words per block: all blocks of a specification of some ten streams are in the nearest cache.
pub(crate) const BLOCK: usize = 32;

/// The values of one operator in a block.
pub(crate) type Block = [u64; BLOCK];

type Slot = usize;

/// One step over a block. `shift` is where a referred position is, seen from the moment; beyond the trace the default holds.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    Constant(bool),
    Input {
        input: usize,
        shift: i64,
        default: bool,
    },
    Output {
        output: usize,
        back: i64,
        shift: i64,
        default: bool,
    },
    Outside {
        shift: i64,
    },
    Not(Slot),
    And(Slot, Slot),
    Or(Slot, Slot),
    Xor(Slot, Slot),
    Iff(Slot, Slot),
    Implies(Slot, Slot),
    If(Slot, Slot, Slot),
    /// The block is what an output is.
    Store {
        output: usize,
        from: Slot,
    },
    /// `output = output[-back|default] ? yes : no`.
    Solve {
        output: usize,
        yes: Slot,
        no: Slot,
        back: i64,
        shift: i64,
        default: bool,
    },
    /// A component by its machine.
    Run(usize),
}

/// A program for specifications whose cycles all look back.
#[derive(Clone, Debug)]
pub struct Pass {
    ops: Vec<Op>,
    machines: Vec<Machine>,
    /// How much later than its position each output is computed.
    delays: Vec<i64>,
}

/// What a pass works on.
pub(crate) struct Columns<'a> {
    pub(crate) len: i64,
    pub(crate) inputs: &'a [&'a Bits],
    /// Each output, delayed; words after the present one are zero.
    pub(crate) outputs: Vec<Vec<u64>>,
}

impl Pass {
    /// The program, or nothing if a cycle looks ahead or has weight zero.
    pub fn new(spec: &Specification) -> Option<Self> {
        compile::compile(spec)
    }

    /// The outputs of an input of that length.
    pub fn run(&self, len: usize, inputs: &[&Bits]) -> Vec<Bits> {
        let longest = self.delays.iter().copied().max().unwrap_or(0) as usize;
        let words = (len + longest).div_ceil(64);
        let blocks = words.div_ceil(BLOCK);
        let outputs = self.delays.iter().map(|_| vec![0u64; blocks * BLOCK]).collect();
        let mut columns = Columns { len: len as i64, inputs, outputs };
        let mut slots: Vec<Block> = vec![[0; BLOCK]; self.ops.len()];
        let mut machines: Vec<machine::Running> = self.machines.iter().map(Machine::start).collect();
        for block in 0..blocks {
            for (at, op) in self.ops.iter().enumerate() {
                let (before, after) = slots.split_at_mut(at);
                self.step(op, block, before, &mut after[0], &mut columns, &mut machines);
            }
        }
        let finish = |(words, delay): (Vec<u64>, &i64)| {
            if *delay == 0 {
                return Bits::from_words(words, len);
            }
            let shifted = (0..len.div_ceil(64) as i64).map(|word| fetch(&words, word * 64 + delay)).collect();
            Bits::from_words(shifted, len)
        };
        columns.outputs.into_iter().zip(&self.delays).map(finish).collect()
    }

    fn step(
        &self,
        op: &Op,
        block: usize,
        slots: &[Block],
        to: &mut Block,
        columns: &mut Columns<'_>,
        machines: &mut [machine::Running],
    ) {
        let start = (block * BLOCK * 64) as i64;
        match *op {
            Op::Constant(value) => *to = [if value { u64::MAX } else { 0 }; BLOCK],
            Op::Input { input, shift, default } => {
                load(columns.inputs[input].words(), start + shift, to);
                outside(start + shift, columns.len, to, default);
            }
            Op::Output { output, back, shift, default } => {
                load(&columns.outputs[output], start - back, to);
                outside(start + shift, columns.len, to, default);
            }
            Op::Outside { shift } => {
                *to = [0; BLOCK];
                outside(start + shift, columns.len, to, true);
            }
            Op::Not(a) => to.iter_mut().zip(&slots[a]).for_each(|(to, a)| *to = !a),
            Op::And(a, b) => each(to, &slots[a], &slots[b], |a, b| a & b),
            Op::Or(a, b) => each(to, &slots[a], &slots[b], |a, b| a | b),
            Op::Xor(a, b) => each(to, &slots[a], &slots[b], |a, b| a ^ b),
            Op::Iff(a, b) => each(to, &slots[a], &slots[b], |a, b| !(a ^ b)),
            Op::Implies(a, b) => each(to, &slots[a], &slots[b], |a, b| !a | b),
            Op::If(a, b, c) => {
                let three = slots[a].iter().zip(&slots[b]).zip(&slots[c]);
                to.iter_mut().zip(three).for_each(|(to, ((a, b), c))| *to = (a & b) | (!a & c));
            }
            Op::Store { output, from } => {
                columns.outputs[output][block * BLOCK..][..BLOCK].copy_from_slice(&slots[from]);
            }
            Op::Solve { output, yes, no, back, shift, default } => {
                let range = (start + shift, columns.len);
                let column = &mut columns.outputs[output];
                solve::solve(column, block, (&slots[yes], &slots[no]), back, range, default);
                to.copy_from_slice(&column[block * BLOCK..][..BLOCK]);
            }
            Op::Run(machine) => self.machines[machine].block(&mut machines[machine], block, slots, columns),
        }
    }
}

#[inline]
fn each(to: &mut Block, a: &Block, b: &Block, f: impl Fn(u64, u64) -> u64) {
    for at in 0..BLOCK {
        to[at] = f(a[at], b[at]);
    }
}

/// The 64 bits from a bit on, zero where there are none.
#[inline]
pub(crate) fn fetch(words: &[u64], bit: i64) -> u64 {
    let (word, rest) = (bit.div_euclid(64), bit.rem_euclid(64) as u32);
    let at = |word: i64| usize::try_from(word).ok().and_then(|word| words.get(word)).copied().unwrap_or(0);
    if rest == 0 { at(word) } else { at(word) >> rest | at(word + 1) << (64 - rest) }
}

/// A block of bits from a bit on.
fn load(words: &[u64], bit: i64, to: &mut Block) {
    let (word, rest) = (bit.div_euclid(64), bit.rem_euclid(64) as u32);
    if word >= 0 && word as usize + BLOCK < words.len() {
        let from = &words[word as usize..][..BLOCK + 1];
        if rest == 0 {
            to.copy_from_slice(&from[..BLOCK]);
        } else {
            for at in 0..BLOCK {
                to[at] = from[at] >> rest | from[at + 1] << (64 - rest);
            }
        }
    } else {
        (0..).zip(to).for_each(|(at, to)| *to = fetch(words, bit + 64 * at));
    }
}

/// The bits of a word at `position` that are positions of a trace of that length.
#[inline]
pub(crate) fn inside(position: i64, len: i64) -> u64 {
    let below = |bits: i64| match bits {
        ..=0 => 0,
        1..64 => (1u64 << bits) - 1,
        _ => u64::MAX,
    };
    below(len - position) & !below(-position)
}

/// Writes the default where a block, whose first bit is at `position`, is beyond the trace.
fn outside(position: i64, len: i64, to: &mut Block, default: bool) {
    if position >= 0 && position + (BLOCK as i64) * 64 <= len {
        return;
    }
    for (at, to) in (0..).zip(to) {
        let inside = inside(position + 64 * at, len);
        *to = *to & inside | if default { !inside } else { 0 };
    }
}

/// A well-formed specification as passes, forwards and backwards in turn.
#[derive(Clone, Debug)]
pub struct Classic {
    stages: Vec<Stage>,
    outputs: usize,
}

#[derive(Clone, Debug)]
struct Stage {
    backwards: bool,
    /// The streams that are read: inputs, and outputs of earlier stages.
    reads: Vec<u32>,
    /// The outputs that are found.
    finds: Vec<usize>,
    pass: Pass,
}

impl Classic {
    /// The passes, or nothing if the specification is not well-formed.
    pub fn new(spec: &Specification) -> Option<Self> {
        let graph = crate::graph::Graph::new(spec);
        let levels = [false, true].map(|backwards| compile::levels(&graph, backwards));
        let [forwards, backwards] = levels;
        let (forwards, backwards) = (forwards?, backwards?);
        let most = |levels: &[usize]| levels.iter().copied().max().unwrap_or(0);
        let begins = most(&backwards) < most(&forwards);
        let levels = if begins { backwards } else { forwards };
        let mut stages = Vec::new();
        for level in 0..=most(&levels) {
            let of = |output: &usize| levels[graph.component[*output]];
            let all = 0..spec.outputs.len();
            let finds: Vec<usize> = all.clone().filter(|output| of(output) == level).collect();
            let earlier = all.filter(|output| of(output) < level).map(|output| spec.output(output));
            let reads: Vec<u32> = (0..spec.inputs.len() as u32).chain(earlier).collect();
            let backwards = begins ^ (level % 2 == 1);
            if let Some(pass) = stage(spec, &reads, &finds, backwards).ok()?
                && !finds.is_empty()
            {
                stages.push(Stage { backwards, reads, finds, pass });
            }
        }
        Some(Classic { stages, outputs: spec.outputs.len() })
    }

    /// How many passes there are.
    pub fn passes(&self) -> usize {
        self.stages.len()
    }

    /// The outputs of an input of that length.
    pub fn run(&self, len: usize, inputs: &[&Bits]) -> Vec<Bits> {
        let mut found: Vec<Bits> = vec![Bits::new(); self.outputs];
        for stage in &self.stages {
            let outputs = {
                let read = |&stream: &u32| match (stream as usize).checked_sub(inputs.len()) {
                    Some(output) => &found[output],
                    None => inputs[stream as usize],
                };
                let reads: Vec<&Bits> = stage.reads.iter().map(read).collect();
                if stage.backwards {
                    let turned: Vec<Bits> = reads.iter().map(|bits| reversed(bits)).collect();
                    let outputs = stage.pass.run(len, &turned.iter().collect::<Vec<_>>());
                    outputs.iter().map(reversed).collect()
                } else {
                    stage.pass.run(len, &reads)
                }
            };
            stage.finds.iter().zip(outputs).for_each(|(&output, bits)| found[output] = bits);
        }
        found
    }
}

fn stage(
    spec: &Specification,
    reads: &[u32],
    finds: &[usize],
    backwards: bool,
) -> Result<Option<Pass>, Flaw> {
    let part = crate::split::cut(spec, reads, finds)?;
    Ok(Pass::new(&if backwards { crate::algebra::reverse(&part)? } else { part }))
}

/// The bits in the other order.
pub(crate) fn reversed(bits: &Bits) -> Bits {
    let (words, len) = (bits.words(), bits.len());
    let last = len as i64 - 64;
    let turned = (0..words.len() as i64).map(|word| fetch(words, last - 64 * word).reverse_bits());
    Bits::from_words(turned.collect(), len)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_reversed() {
        for len in [0, 1, 5, 63, 64, 65, 130, 200] {
            let mut bits = Bits::new();
            (0..len).for_each(|at| bits.push(at % 7 < 3 || at % 5 == 0));
            let turned = reversed(&bits);
            assert!((0..len).all(|at| turned.get(at) == bits.get(len - 1 - at)), "{len}");
        }
    }

    #[test]
    fn masks_are_the_positions_of_the_trace() {
        for position in -70..70 {
            for len in [0i64, 1, 3, 63, 64, 65, 90] {
                let expected = (0..64)
                    .fold(0u64, |mask, bit| mask | u64::from((0..len).contains(&(position + bit))) << bit);
                assert_eq!(inside(position, len), expected, "{position} {len}");
            }
        }
    }
}

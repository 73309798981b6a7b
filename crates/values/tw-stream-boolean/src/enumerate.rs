//! The definition, executed: a model of an input gives every output a value at every position such that all equations
//! hold everywhere. All valuations are tried, so it is for small cases; every engine is compared with it.

use crate::{Id, Node, Specification};
use tw_core::Bits;

/// Streams of one length, in the order of their specification: an input, or a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// How many positions there are.
    pub len: usize,
    /// A column per stream.
    pub columns: Vec<Bits>,
}

impl Word {
    /// A word from its rows, each with a bit per stream (the first stream in the lowest bit).
    pub fn from_letters(streams: usize, letters: &[u64]) -> Self {
        let column = |stream: usize| {
            let mut bits = Bits::with_capacity(letters.len());
            letters.iter().for_each(|letter| bits.push(letter >> stream & 1 == 1));
            bits
        };
        Word { len: letters.len(), columns: (0..streams).map(column).collect() }
    }

    /// The values at one position, the first stream in the lowest bit; streams beyond 64 are left out.
    pub fn letter(&self, position: usize) -> u64 {
        let bits = self.columns.iter().take(64).enumerate();
        bits.fold(0, |letter, (stream, bits)| letter | u64::from(bits.get(position)) << stream)
    }
}

/// More output bits than that are not enumerated.
const MOST_BITS: usize = 24;

/// The value of a node at one position. `value` gives streams, `len` is the length of the word.
pub(crate) fn evaluate(
    spec: &Specification,
    root: Id,
    position: usize,
    len: usize,
    value: &impl Fn(u32, usize) -> bool,
) -> bool {
    let truth = |a: Id| evaluate(spec, a, position, len, value);
    let there = |offset: i32| {
        let place = position as i64 + i64::from(offset);
        (0..len as i64).contains(&place).then_some(place as usize)
    };
    match spec.nodes[root as usize] {
        Node::Constant(constant) => constant,
        Node::Stream { stream, offset, default } => {
            there(offset).map_or(default, |place| value(stream, place))
        }
        Node::Outside(offset) => there(offset).is_none(),
        Node::Not(a) => !truth(a),
        Node::And(a, b) => truth(a) && truth(b),
        Node::Or(a, b) => truth(a) || truth(b),
        Node::Xor(a, b) => truth(a) != truth(b),
        Node::Iff(a, b) => truth(a) == truth(b),
        Node::Implies(a, b) => !truth(a) || truth(b),
        Node::If(a, b, c) => {
            if truth(a) {
                truth(b)
            } else {
                truth(c)
            }
        }
    }
}

/// Whether these outputs are a model of that input: the definition of a valuation model.
pub fn is_model(spec: &Specification, input: &Word, outputs: &[Bits]) -> bool {
    let value = |stream: u32, position: usize| match spec.as_output(stream) {
        Some(output) => outputs[output].get(position),
        None => input.columns[stream as usize].get(position),
    };
    (0..input.len).all(|position| {
        (0..spec.outputs.len()).all(|output| {
            outputs[output].get(position)
                == evaluate(spec, spec.equations[output], position, input.len, &value)
        })
    })
}

/// All models of an input, or nothing if there are too many valuations to try (above 2²⁴) or no position.
pub fn models(spec: &Specification, input: &Word) -> Option<Vec<Vec<Bits>>> {
    let outputs = spec.outputs.len();
    let bits = input.len * outputs;
    if bits > MOST_BITS || input.len == 0 {
        return None;
    }
    let mut found = Vec::new();
    for valuation in 0..1u64 << bits {
        let value = |stream: u32, position: usize| match spec.as_output(stream) {
            Some(output) => valuation >> (position * outputs + output) & 1 == 1,
            None => input.columns[stream as usize].get(position),
        };
        let holds = (0..input.len).all(|position| {
            (0..outputs).all(|output| {
                value(spec.output(output), position)
                    == evaluate(spec, spec.equations[output], position, input.len, &value)
            })
        });
        if holds {
            let letters: Vec<u64> =
                (0..input.len).map(|position| valuation >> (position * outputs)).collect();
            found.push(Word::from_letters(outputs, &letters).columns);
        }
    }
    Some(found)
}

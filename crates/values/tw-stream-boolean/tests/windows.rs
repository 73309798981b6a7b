//! The paper's own automaton, whose states are windows of letters: its sizes on the examples, and its runs are the models.

mod common;

use common::{Shape, input, random, spec, word};
use std::collections::{BTreeMap, BTreeSet};
use tw_stream_boolean::{Id, Node, Specification, Word, models};
use tw_testkit::{Rng, cases};

/// Letters from `-b` to `f`; nothing where there is no position.
type Window = Vec<Option<u64>>;

struct Windows<'a> {
    spec: &'a Specification,
    back: usize,
    ahead: usize,
    letters: u64,
}

impl<'a> Windows<'a> {
    /// Distances of constants count (a correction): `first` and `last` look one position away.
    fn new(spec: &'a Specification) -> Self {
        let offsets = spec.nodes().iter().filter_map(|node| match *node {
            Node::Stream { offset, .. } | Node::Outside(offset) => Some(offset),
            _ => None,
        });
        let (mut back, mut ahead) = (0, 0);
        for offset in offsets {
            back = back.max(-offset);
            ahead = ahead.max(offset);
        }
        let letters = 1 << (spec.inputs().len() + spec.outputs().len());
        Windows { spec, back: back as usize, ahead: ahead as usize, letters }
    }

    fn value(&self, id: Id, window: &Window) -> bool {
        let of = |id: Id| self.value(id, window);
        let at = |offset: i32| window[(self.back as i32 + offset) as usize];
        match self.spec.nodes()[id as usize] {
            Node::Constant(value) => value,
            Node::Stream { stream, offset, default } => {
                at(offset).map_or(default, |letter| letter >> stream & 1 == 1)
            }
            Node::Outside(offset) => at(offset).is_none(),
            Node::Not(a) => !of(a),
            Node::And(a, b) => of(a) && of(b),
            Node::Or(a, b) => of(a) || of(b),
            Node::Xor(a, b) => of(a) != of(b),
            Node::Iff(a, b) => of(a) == of(b),
            Node::Implies(a, b) => !of(a) || of(b),
            Node::If(a, b, c) => {
                if of(a) {
                    of(b)
                } else {
                    of(c)
                }
            }
        }
    }

    /// Whether every equation holds in the middle.
    fn holds(&self, window: &Window) -> bool {
        let Some(letter) = window[self.back] else { return false };
        let outputs = 0..self.spec.outputs().len();
        outputs.into_iter().all(|output| {
            let value = letter >> self.spec.output(output) & 1 == 1;
            value == self.value(self.spec.equation(output), window)
        })
    }

    fn accepting(&self, window: &Window) -> bool {
        window[self.back + 1..].iter().all(Option::is_none)
    }

    /// The windows after the start: all that is ahead is guessed.
    fn first(&self) -> Vec<Window> {
        let mut all: Vec<Window> = vec![vec![None; self.back]];
        for nth in 0..=self.ahead {
            all = all.iter().flat_map(|window| self.longer(window, nth == 0)).collect();
        }
        all.retain(|window| self.holds(window));
        all
    }

    fn longer(&self, window: &Window, first: bool) -> Vec<Window> {
        let ended = !first && window.last() == Some(&None);
        let letters = (0..self.letters).map(Some).filter(|_| !ended);
        let none = (!first).then_some(None);
        letters.chain(none).map(|letter| [&window[..], &[letter]].concat()).collect()
    }

    fn next(&self, window: &Window) -> Vec<Window> {
        let shifted = window[1..].to_vec();
        // What was the last letter is now the middle, if nothing is ahead of it: then it is chosen here.
        let mut all = self.longer(&shifted, self.ahead == 0);
        all.retain(|window| self.holds(window));
        all
    }

    /// All states that are reached, the start counted; and how many accept.
    fn states(&self) -> (usize, usize) {
        let mut seen: BTreeSet<Window> = BTreeSet::new();
        let mut todo = self.first();
        while let Some(window) = todo.pop() {
            if seen.insert(window.clone()) {
                todo.extend(self.next(&window));
            }
        }
        (seen.len() + 1, seen.iter().filter(|window| self.accepting(window)).count())
    }

    /// The states after each position of an input, each with the number of runs that lead to it.
    fn forward(&self, input: &Word) -> Vec<BTreeMap<Window, usize>> {
        let mask = (1u64 << self.spec.inputs().len()) - 1;
        let reads = |window: &Window, at: usize| {
            window[self.back].is_some_and(|letter| letter & mask == input.letter(at))
        };
        let mut now: BTreeMap<Window, usize> = BTreeMap::new();
        self.first()
            .into_iter()
            .filter(|window| reads(window, 0))
            .for_each(|window| *now.entry(window).or_default() += 1);
        let mut tape = vec![now];
        for at in 1..input.len {
            let mut next: BTreeMap<Window, usize> = BTreeMap::new();
            for (window, runs) in &tape[at - 1] {
                for after in self.next(window).into_iter().filter(|window| reads(window, at)) {
                    *next.entry(after).or_default() += runs;
                }
            }
            tape.push(next);
        }
        tape
    }

    /// The number of accepting runs on an input.
    fn runs(&self, input: &Word) -> usize {
        let tape = self.forward(input);
        let ends = tape.last().into_iter().flatten().filter(|(window, _)| self.accepting(window));
        ends.map(|(_, runs)| runs).sum()
    }
}

#[test]
fn sizes_of_the_examples() {
    let example_3 =
        "y = if (first -> (x & y)) & (y -> !y[+1|0]) & (!y -> (x[+1|1] & y[+1|1])) then y else !y";
    for (text, states) in [
        ("y = x & y", (4, 3)),
        ("y = x & !y", (2, 1)),
        ("y = if x then x[+2|0] else x[-2|0]", (505, 24)),
        (example_3, (14, 5)),
    ] {
        assert_eq!(Windows::new(&spec(text)).states(), states, "{text}");
    }
}

/// The sets that a literal forward pass of the third specification of Example 2 would store.
#[test]
fn stored_sets_of_an_example() {
    let spec = spec("y = if x then x[+2|0] else x[-2|0]");
    for input in ["1", "01", "110010", "00000"] {
        let input = word(&[input]);
        let sizes: Vec<usize> = Windows::new(&spec).forward(&input).iter().map(BTreeMap::len).collect();
        assert_eq!(sizes, vec![21; input.len]);
    }
}

#[test]
fn runs_are_models() {
    for seed in 0..cases(400) {
        let mut rng = Rng::new(seed ^ 0x3147);
        let shape =
            Shape { inputs: 1, outputs: 1 + rng.below(2), offset: 1, size: 3, present: 40, observe: false };
        let spec = random(&mut rng, &shape);
        let windows = Windows::new(&spec);
        for _ in 0..3 {
            let len = 1 + rng.below(4);
            let input = input(&mut rng, 1, len);
            let count = models(&spec, &input).unwrap().len();
            assert_eq!(windows.runs(&input), count, "seed {seed}\n{spec}");
        }
    }
}

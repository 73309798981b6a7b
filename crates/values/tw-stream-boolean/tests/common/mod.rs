//! Specifications from short texts, and random ones.
#![allow(dead_code, reason = "each test takes what it needs")]

use tw_core::Bits;
use tw_stream_boolean::{Builder, Id, Named, Node, Specification, Word};
use tw_testkit::Rng;

/// A specification from a text such as `y = if x then x[+2|0] else x[-2|0]; observe y`. Names without an equation are
/// inputs, in the order in which they come up.
pub fn spec(text: &str) -> Specification {
    with_inputs(&[], text)
}

/// The same, with inputs in this order.
pub fn with_inputs(inputs: &[&str], text: &str) -> Specification {
    let mut build = Builder::new();
    inputs.iter().for_each(|name| {
        build.input(name).unwrap();
    });
    let parts: Vec<&str> = text.split(';').map(str::trim).filter(|part| !part.is_empty()).collect();
    let equations: Vec<(&str, &str)> = parts.iter().filter_map(|part| part.split_once(" = ")).collect();
    let outputs: Vec<_> = equations.iter().map(|(name, _)| build.output(name).unwrap()).collect();
    for ((_, right), output) in equations.iter().zip(outputs) {
        let mut parser = Parser { tokens: tokens(right), at: 0, build: &mut build };
        let root = parser.expression(0);
        assert_eq!(parser.at, parser.tokens.len(), "{right}");
        build.define(output, root).unwrap();
    }
    for name in parts.iter().filter_map(|part| part.strip_prefix("observe ")) {
        let output = build.find(name).unwrap();
        build.observe(output).unwrap();
    }
    build.finish().unwrap()
}

fn tokens(text: &str) -> Vec<String> {
    let (mut found, mut chars) = (Vec::new(), text.chars().peekable());
    while let Some(&c) = chars.peek() {
        if c.is_whitespace() {
            chars.next();
        } else if c.is_alphanumeric() || c == '_' {
            let mut word = String::new();
            while let Some(c) = chars.next_if(|c| c.is_alphanumeric() || *c == '_') {
                word.push(c);
            }
            found.push(word);
        } else {
            let mut sign = String::new();
            sign.push(c);
            chars.next();
            while let Some(&c) = chars.peek()
                && ["->", "<-", "<->"].contains(&format!("{sign}{c}").as_str())
            {
                sign.push(c);
                chars.next();
            }
            found.push(sign);
        }
    }
    found
}

struct Parser<'a> {
    tokens: Vec<String>,
    at: usize,
    build: &'a mut Builder,
}

impl Parser<'_> {
    fn peek(&self) -> &str {
        self.tokens.get(self.at).map_or("", String::as_str)
    }

    fn next(&mut self) -> String {
        self.at += 1;
        self.tokens[self.at - 1].clone()
    }

    fn expect(&mut self, token: &str) {
        assert_eq!(self.next(), token, "{:?}", self.tokens);
    }

    fn expression(&mut self, level: usize) -> Id {
        let mut left = self.operand();
        loop {
            let sign = self.peek().to_string();
            let Some(own) = ["<->", "->", "^", "|", "&"].iter().position(|known| *known == sign) else {
                return left;
            };
            if own < level {
                return left;
            }
            self.next();
            let right = self.expression(if sign == "->" { own } else { own + 1 });
            left = match sign.as_str() {
                "<->" => self.build.iff(left, right),
                "->" => self.build.implies(left, right),
                "^" => self.build.xor(left, right),
                "|" => self.build.or(left, right),
                _ => self.build.and(left, right),
            };
        }
    }

    fn operand(&mut self) -> Id {
        match self.next().as_str() {
            "(" => {
                let inner = self.expression(0);
                self.expect(")");
                inner
            }
            "!" => {
                let inner = self.operand();
                self.build.not(inner)
            }
            "if" => {
                let test = self.expression(0);
                self.expect("then");
                let yes = self.expression(0);
                self.expect("else");
                let no = self.expression(0);
                self.build.choose(test, yes, no)
            }
            "first" => self.build.first(),
            "last" => self.build.last(),
            constant @ ("0" | "1" | "true" | "false") => {
                let value = matches!(constant, "1" | "true");
                match self.reference() {
                    Some((offset, default)) => self.build.constant_at(value, offset, default).unwrap(),
                    None => self.build.constant(value),
                }
            }
            name => {
                let stream = self.build.find(name).unwrap_or_else(|| self.build.input(name).unwrap());
                match self.reference() {
                    Some((offset, default)) => self.build.at(stream, offset, default).unwrap(),
                    None => self.build.now(stream),
                }
            }
        }
    }

    fn reference(&mut self) -> Option<(i64, bool)> {
        if self.peek() != "[" {
            return None;
        }
        self.next();
        let sign = match self.peek() {
            "-" => -1,
            "+" => 1,
            _ => 0,
        };
        if sign != 0 {
            self.next();
        }
        let offset: i64 = self.next().parse().unwrap();
        self.expect("|");
        let default = matches!(self.next().as_str(), "1" | "true");
        self.expect("]");
        Some((if sign == -1 { -offset } else { offset }, default))
    }
}

/// An input from a text per stream: `["0110", "1010"]`.
pub fn word(columns: &[&str]) -> Word {
    let column = |text: &&str| {
        let mut bits = Bits::new();
        text.chars().for_each(|c| bits.push(c == '1'));
        bits
    };
    Word { len: columns[0].len(), columns: columns.iter().map(column).collect() }
}

/// A column as text.
pub fn text(bits: &Bits) -> String {
    (0..bits.len()).map(|at| if bits.get(at) { '1' } else { '0' }).collect()
}

/// What random specifications are like.
#[derive(Clone, Copy)]
pub struct Shape {
    pub inputs: usize,
    pub outputs: usize,
    /// The largest offset.
    pub offset: usize,
    /// Operators per equation, about.
    pub size: usize,
    /// Of a hundred references to outputs, how many are to the present position.
    pub present: usize,
    /// Whether some outputs may be unobserved.
    pub observe: bool,
}

/// A random specification.
pub fn random(rng: &mut Rng, shape: &Shape) -> Specification {
    let mut build = Builder::new();
    let inputs: Vec<_> = (0..shape.inputs).map(|nth| build.input(&format!("x{nth}")).unwrap()).collect();
    let outputs: Vec<_> = (0..shape.outputs).map(|nth| build.output(&format!("y{nth}")).unwrap()).collect();
    for &output in &outputs {
        let size = 1 + rng.below(shape.size.max(1));
        let root = expression(rng, &mut build, &inputs, &outputs, shape, size);
        build.define(output, root).unwrap();
    }
    if shape.observe && rng.one_in(3) {
        let output = rng.pick(&outputs);
        build.observe(output).unwrap();
    }
    build.finish().unwrap()
}

fn expression(
    rng: &mut Rng,
    build: &mut Builder,
    inputs: &[Named],
    outputs: &[Named],
    shape: &Shape,
    size: usize,
) -> Id {
    if size == 0 {
        let far = |rng: &mut Rng| (1 + rng.below(shape.offset) as i64) * if rng.one_in(2) { 1 } else { -1 };
        return match rng.below(20) {
            0 => build.constant(true),
            1 => build.first(),
            2 => build.last(),
            3..=9 if !inputs.is_empty() => {
                let input = rng.pick(inputs);
                if rng.one_in(2) {
                    build.now(input)
                } else {
                    let offset = far(rng);
                    build.at(input, offset, rng.one_in(2)).unwrap()
                }
            }
            _ => {
                let output = rng.pick(outputs);
                if rng.below(100) < shape.present {
                    build.now(output)
                } else {
                    let offset = far(rng);
                    build.at(output, offset, rng.one_in(2)).unwrap()
                }
            }
        };
    }
    let left = rng.below(size);
    let a = expression(rng, build, inputs, outputs, shape, left);
    let b = expression(rng, build, inputs, outputs, shape, size - 1 - left);
    match rng.below(8) {
        0 => build.not(b),
        1 | 2 => build.and(a, b),
        3 => build.or(a, b),
        4 => build.xor(a, b),
        5 => build.iff(a, b),
        6 => build.implies(a, b),
        _ => {
            let c = expression(rng, build, inputs, outputs, shape, 0);
            build.choose(c, a, b)
        }
    }
}

/// A random input.
pub fn input(rng: &mut Rng, streams: usize, len: usize) -> Word {
    let column = |rng: &mut Rng| {
        let dense = rng.below(3);
        let mut bits = Bits::new();
        (0..len).for_each(|_| {
            let value = match dense {
                0 => rng.one_in(8),
                1 => !rng.one_in(8),
                _ => rng.one_in(2),
            };
            bits.push(value);
        });
        bits
    };
    Word { len, columns: (0..streams).map(|_| column(rng)).collect() }
}

/// All valuations of the outputs over a word, tried 64 at a time: bit `position × outputs + output` of a valuation's number is that
/// output's value there.
pub struct Valuations<'s> {
    spec: &'s Specification,
    len: usize,
}

impl<'s> Valuations<'s> {
    pub fn new(spec: &'s Specification, len: usize) -> Self {
        Self { spec, len }
    }

    fn bits(&self) -> usize {
        self.len * self.spec.outputs().len()
    }

    /// Bit `place` of the valuations from `64 × word` on.
    fn bit(place: usize, word: usize) -> u64 {
        const LOW: [u64; 6] = [
            0xAAAA_AAAA_AAAA_AAAA,
            0xCCCC_CCCC_CCCC_CCCC,
            0xF0F0_F0F0_F0F0_F0F0,
            0xFF00_FF00_FF00_FF00,
            0xFFFF_0000_FFFF_0000,
            0xFFFF_FFFF_0000_0000,
        ];
        LOW.get(place).copied().unwrap_or_else(|| ((word >> (place - 6) & 1) as u64).wrapping_neg())
    }

    /// Which of them are models of an input: every equation holds everywhere.
    pub fn models(&self, input: &Word) -> Vec<u64> {
        let outputs = self.spec.outputs().len();
        let all = match self.bits() {
            bits @ 0..6 => (1 << (1 << bits)) - 1,
            _ => u64::MAX,
        };
        let mut values = vec![0u64; self.spec.nodes().len()];
        let words = 1usize << self.bits().saturating_sub(6);
        let mut models = Vec::with_capacity(words);
        for word in 0..words {
            let mut left = all;
            for at in 0..self.len {
                self.nodes(input, at, word, &mut values);
                for output in 0..outputs {
                    let own = Self::bit(at * outputs + output, word);
                    left &= !(own ^ values[self.spec.equation(output) as usize]);
                }
                if left == 0 {
                    break;
                }
            }
            models.push(left);
        }
        models
    }

    /// The values of all nodes at a position; children stand before parents.
    fn nodes(&self, input: &Word, at: usize, word: usize, values: &mut [u64]) {
        let outputs = self.spec.outputs().len();
        let truth = |value: bool| if value { u64::MAX } else { 0 };
        let there = |offset: i32| at.checked_add_signed(offset as isize).filter(|place| *place < self.len);
        for (id, node) in self.spec.nodes().iter().enumerate() {
            let of = |id: Id| values[id as usize];
            values[id] = match *node {
                Node::Constant(constant) => truth(constant),
                Node::Outside(offset) => truth(there(offset).is_none()),
                Node::Stream { stream, offset, default } => match there(offset) {
                    None => truth(default),
                    Some(place) => match self.spec.as_output(stream) {
                        Some(output) => Self::bit(place * outputs + output, word),
                        None => truth(input.columns[stream as usize].get(place)),
                    },
                },
                Node::Not(a) => !of(a),
                Node::And(a, b) => of(a) & of(b),
                Node::Or(a, b) => of(a) | of(b),
                Node::Xor(a, b) => of(a) ^ of(b),
                Node::Iff(a, b) => !(of(a) ^ of(b)),
                Node::Implies(a, b) => !of(a) | of(b),
                Node::If(a, b, c) => of(a) & of(b) | !of(a) & of(c),
            };
        }
    }

    /// Whether two models differ in what is observed.
    pub fn differ(&self, models: &[u64]) -> bool {
        let outputs = self.spec.outputs().len();
        let places =
            (0..self.len).flat_map(|at| self.spec.observed().into_iter().map(move |o| at * outputs + o));
        places.into_iter().any(|place| {
            let with = |value: bool| {
                models
                    .iter()
                    .enumerate()
                    .any(|(word, models)| models & (Self::bit(place, word) ^ truth_mask(!value)) != 0)
            };
            with(true) && with(false)
        })
    }

    /// What models give to some outputs, each once.
    pub fn values(&self, models: &[u64], on: &[usize]) -> std::collections::BTreeSet<u64> {
        let outputs = self.spec.outputs().len();
        let mut found = std::collections::BTreeSet::new();
        for (word, &models) in models.iter().enumerate() {
            let mut rest = models;
            while rest != 0 {
                let number = word << 6 | rest.trailing_zeros() as usize;
                rest &= rest - 1;
                let places = (0..self.len).flat_map(|at| on.iter().map(move |output| at * outputs + output));
                found.insert(places.fold(0, |values, place| values << 1 | (number >> place & 1) as u64));
            }
        }
        found
    }
}

fn truth_mask(value: bool) -> u64 {
    if value { u64::MAX } else { 0 }
}

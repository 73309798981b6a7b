//! Specifications from short texts, and random ones.
#![allow(dead_code, reason = "each test takes what it needs")]

use tw_core::Bits;
use tw_stream_boolean::{Builder, Id, Named, Specification, Word};
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

//! Disjunctions of valuations: what mergers write, read without a tree.

use super::syntax::{Module, Symbol, Type};
use rustc_hash::FxHashMap;

/// Valuations of current and next variables, all of them alternatives.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows {
    pub shapes: Vec<Shape>,
}

/// Valuations that speak of the same variables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Shape {
    /// Variables, ascending, of the current state.
    pub current: Vec<u32>,
    /// Variables, ascending, of the next state.
    pub next: Vec<u32>,
    /// Numbers of values, row after row: those of current variables, then those of next ones.
    pub codes: Vec<u32>,
}

/// Each is asked for every state.
const MOST_SHAPES: usize = 256;

/// `next`, variable, number of its value.
pub(super) type Literal = (bool, u32, u32);

impl Shape {
    /// Codes per row.
    pub fn width(&self) -> usize {
        self.current.len() + self.next.len()
    }
}

impl Rows {
    /// How many.
    pub fn len(&self) -> usize {
        self.shapes.iter().map(|shape| shape.codes.len() / shape.width().max(1)).sum()
    }

    /// Adds a conjunction; nothing if it contradicts itself. `false` if it cannot be a row: it says nothing at all, or
    /// there are rows of too many shapes.
    pub fn push(&mut self, literals: &mut Vec<Literal>) -> bool {
        literals.sort_unstable();
        literals.dedup();
        if literals.windows(2).any(|pair| (pair[0].0, pair[0].1) == (pair[1].0, pair[1].1)) {
            return true;
        }
        if literals.is_empty() {
            return false;
        }
        let same = |shape: &Shape| {
            shape.width() == literals.len()
                && literals.iter().enumerate().all(|(at, &(next, variable, _))| {
                    if at < shape.current.len() {
                        !next && shape.current[at] == variable
                    } else {
                        next && shape.next[at - shape.current.len()] == variable
                    }
                })
        };
        // Rows of one shape stand together, so the last one is tried first.
        let shape = match self.shapes.iter().rposition(same) {
            Some(at) => &mut self.shapes[at],
            None if self.shapes.len() == MOST_SHAPES => return false,
            None => {
                let of = |next: bool| literals.iter().filter(|l| l.0 == next).map(|l| l.1).collect();
                self.shapes.push(Shape { current: of(false), next: of(true), codes: Vec::new() });
                let last = self.shapes.len() - 1;
                &mut self.shapes[last]
            }
        };
        shape.codes.extend(literals.iter().map(|literal| literal.2));
        true
    }
}

/// Reads `(x = a & next(x) = b) | …` to the end of the section. `None` if the text is anything else; it is then read
/// as any expression is.
pub(super) struct Scanner<'m, 't> {
    text: &'t [u8],
    at: usize,
    variables: FxHashMap<&'t [u8], u32>,
    values: Vec<FxHashMap<&'t [u8], u32>>,
    numbers: Vec<FxHashMap<i64, u32>>,
    module: &'m Module<'t>,
}

impl<'m, 't> Scanner<'m, 't> {
    /// For the variables declared so far.
    pub fn new(text: &'t str, at: usize, module: &'m Module<'t>) -> Self {
        let variables = module
            .variables
            .iter()
            .enumerate()
            .map(|(at, variable)| (module.names[variable.name as usize].as_bytes(), at as u32))
            .collect();
        let mut values = vec![FxHashMap::default(); module.variables.len()];
        let mut numbers = vec![FxHashMap::default(); module.variables.len()];
        for (at, variable) in module.variables.iter().enumerate() {
            let Type::Values(symbols) = &variable.kind else { continue };
            for (code, symbol) in symbols.iter().enumerate() {
                match symbol {
                    Symbol::Name(name) => {
                        values[at].insert(module.names[*name as usize].as_bytes(), code as u32);
                    }
                    Symbol::Int(number) => {
                        numbers[at].insert(*number, code as u32);
                    }
                }
            }
        }
        Self { text: text.as_bytes(), at, variables, values, numbers, module }
    }

    fn peek(&mut self) -> u8 {
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = self.text.get(self.at) {
            self.at += 1;
        }
        self.text.get(self.at).copied().unwrap_or(0)
    }

    fn sign(&mut self, sign: u8) -> Option<()> {
        (self.peek() == sign).then(|| self.at += 1)
    }

    fn word(&mut self) -> &'t [u8] {
        self.peek();
        let start = self.at;
        while self.text.get(self.at).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_') {
            self.at += 1;
        }
        &self.text[start..self.at]
    }

    fn value(&mut self, variable: u32) -> Option<u32> {
        let negative = self.peek() == b'-';
        self.at += usize::from(negative);
        let word = self.word();
        // Names with other signs in them, `1..3` and the like are not for here.
        if word.is_empty() || matches!(self.text.get(self.at), Some(b'-' | b'$' | b'#' | b'.')) {
            return None;
        }
        let kind = &self.module.variables[variable as usize].kind;
        if word[0].is_ascii_digit() {
            let digits = std::str::from_utf8(word).ok()?.parse::<i64>().ok()?;
            let number = if negative { -digits } else { digits };
            return match kind {
                Type::Range(low, high) if (*low..=*high).contains(&number) => {
                    u32::try_from(number.wrapping_sub(*low) as u64).ok()
                }
                Type::Values(_) => self.numbers[variable as usize].get(&number).copied(),
                _ => None,
            };
        }
        match (kind, word) {
            _ if negative => None,
            (Type::Boolean, b"TRUE") => Some(1),
            (Type::Boolean, b"FALSE") => Some(0),
            (Type::Values(_), _) => self.values[variable as usize].get(word).copied(),
            _ => None,
        }
    }

    fn literal(&mut self) -> Option<Literal> {
        let mut name = self.word();
        let next = name == b"next";
        if next {
            self.sign(b'(')?;
            name = self.word();
            self.sign(b')')?;
        }
        let variable = *self.variables.get(name)?;
        self.sign(b'=')?;
        let code = self.value(variable)?;
        Some((next, variable, code))
    }

    /// The rows, and where the section ends. `next` says whether next variables may occur.
    pub fn rows(mut self, next: bool) -> Option<(Rows, usize)> {
        let mut rows = Rows::default();
        let mut literals = Vec::new();
        loop {
            literals.clear();
            self.sign(b'(')?;
            loop {
                literals.push(self.literal().filter(|literal| next || !literal.0)?);
                match self.peek() {
                    b'&' => self.at += 1,
                    b')' => break,
                    _ => return None,
                }
            }
            self.at += 1;
            rows.push(&mut literals).then_some(())?;
            match self.peek() {
                b'|' => self.at += 1,
                // The next section, its end sign, a comment, or the end of the text.
                b'A'..=b'Z' | b';' | b'-' | 0 => break,
                _ => return None,
            }
        }
        // What goes on after all (`… -> …`, a comment in the middle) is read again as an expression.
        let section = self.text.get(self.at).is_none_or(|byte| byte.is_ascii_uppercase() || *byte == b';');
        section.then_some((rows, self.at))
    }
}

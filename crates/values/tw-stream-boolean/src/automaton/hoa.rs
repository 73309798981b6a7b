//! Automata in the Hanoi Omega-Automata format, read as automata on finite words: a word is accepted if a run on it ends in
//! a state with the acceptance mark. Written and read are explicit labels and marks on states.

use super::{Automaton, Edge, MOST_INPUTS, MOST_STATES, ReadError, cover};
use std::fmt::Write as _;

impl Automaton {
    /// As HOA.
    pub fn to_hoa(&self) -> String {
        let mut text = format!("HOA: v1\nStates: {}\n", self.accepting.len());
        for state in &self.initial {
            let _ = writeln!(text, "Start: {state}");
        }
        let _ = write!(text, "AP: {}", self.inputs.len());
        for name in &self.inputs {
            let _ = write!(text, " \"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""));
        }
        text.push_str("\nacc-name: Buchi\nAcceptance: 1 Inf(0)\nproperties: explicit-labels state-acc\n");
        text.push_str("words: \"finite\"\n--BODY--\n");
        let mut edges = self.edges.clone();
        edges.sort_unstable();
        for (state, accepting) in self.accepting.iter().enumerate() {
            let _ = writeln!(text, "State: {state}{}", if *accepting { " {0}" } else { "" });
            let own: Vec<Edge> = edges.iter().filter(|edge| edge.from as usize == state).copied().collect();
            for same in own.chunk_by(|a, b| a.to == b.to) {
                let name = |input: usize| input.to_string();
                let labels: Vec<String> =
                    same.iter().map(|edge| edge.when.text(&name, self.inputs.len())).collect();
                let _ = writeln!(text, "[{}] {}", labels.join(" | "), same[0].to);
            }
        }
        text.push_str("--END--\n");
        text
    }

    /// From HOA.
    pub fn from_hoa(text: &str) -> Result<Self, ReadError> {
        let mut reader = Reader { tokens: tokens(text)?, at: 0 };
        reader.automaton()
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    /// A word that a colon follows.
    Header(String),
    Word(String),
    Number(u64),
    Text(String),
    Sign(char),
    Body,
    End,
}

struct At {
    token: Token,
    line: usize,
    column: usize,
}

fn tokens(text: &str) -> Result<Vec<At>, ReadError> {
    let chars: Vec<char> = text.chars().collect();
    let (mut found, mut at, mut line, mut start) = (Vec::new(), 0, 1, 0);
    while at < chars.len() {
        let (c, column, here) = (chars[at], at - start + 1, line);
        let fail = |message: &str| ReadError { line: here, column, message: message.to_string() };
        let word = |from: usize| {
            let part = |c: &char| c.is_alphanumeric() || matches!(c, '_' | '-' | '@');
            chars[from..].iter().take_while(|c| part(c)).count()
        };
        let token = if c == '\n' {
            at += 1;
            (line, start) = (line + 1, at);
            continue;
        } else if c.is_whitespace() {
            at += 1;
            continue;
        } else if chars[at..].starts_with(&['/', '*']) {
            let inner = chars[at + 2..].windows(2).position(|two| two == ['*', '/']);
            let inner = inner.ok_or_else(|| fail("a comment that does not end"))?;
            for (nth, _) in chars[at..at + 2 + inner].iter().enumerate().filter(|(_, c)| **c == '\n') {
                (line, start) = (line + 1, at + nth + 1);
            }
            at += inner + 4;
            continue;
        } else if chars[at..].starts_with(&['-', '-']) {
            let len = word(at);
            let name: String = chars[at..at + len].iter().collect();
            at += len;
            match name.as_str() {
                "--BODY--" => Token::Body,
                "--END--" => Token::End,
                "--ABORT--" => return Err(fail("the automaton is aborted")),
                _ => return Err(fail("expected --BODY-- or --END--")),
            }
        } else if c == '"' {
            let (mut inner, mut next) = (String::new(), at + 1);
            loop {
                match chars.get(next) {
                    None | Some('\n') => return Err(fail("a text that does not end")),
                    Some('"') => break,
                    Some('\\') => next += 1,
                    Some(_) => {}
                }
                inner.extend(chars.get(next));
                next += 1;
            }
            at = next + 1;
            Token::Text(inner)
        } else if c.is_ascii_digit() {
            let len = chars[at..].iter().take_while(|c| c.is_ascii_digit()).count();
            let digits: String = chars[at..at + len].iter().collect();
            at += len;
            Token::Number(digits.parse().map_err(|_| fail("a number that is too large"))?)
        } else if c.is_alphabetic() || matches!(c, '_' | '@') {
            let len = word(at);
            let name: String = chars[at..at + len].iter().collect();
            at += len;
            if chars.get(at) == Some(&':') {
                at += 1;
                Token::Header(name)
            } else {
                Token::Word(name)
            }
        } else if "[]{}()!&|".contains(c) {
            at += 1;
            Token::Sign(c)
        } else {
            return Err(fail(&format!("found `{c}`, which has no meaning here")));
        };
        found.push(At { token, line: here, column });
    }
    Ok(found)
}

struct Reader {
    tokens: Vec<At>,
    at: usize,
}

impl Reader {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at).map(|at| &at.token)
    }

    fn fail<T>(&self, expected: &str) -> Result<T, ReadError> {
        let (line, column) = match self.tokens.get(self.at).or(self.tokens.last()) {
            Some(at) => (at.line, at.column),
            None => (1, 1),
        };
        let found = self.peek().map_or("the end".to_string(), |token| match token {
            Token::Header(name) => format!("`{name}:`"),
            Token::Word(name) => format!("`{name}`"),
            Token::Number(number) => format!("`{number}`"),
            Token::Text(text) => format!("\"{text}\""),
            Token::Sign(sign) => format!("`{sign}`"),
            Token::Body => "`--BODY--`".to_string(),
            Token::End => "`--END--`".to_string(),
        });
        Err(ReadError { line, column, message: format!("found {found}, expected {expected}") })
    }

    fn number(&mut self, expected: &str, below: u64) -> Result<u64, ReadError> {
        match self.peek() {
            Some(&Token::Number(number)) if number < below => {
                self.at += 1;
                Ok(number)
            }
            _ => self.fail(expected),
        }
    }

    fn sign(&mut self, sign: char) -> Result<(), ReadError> {
        if self.peek() != Some(&Token::Sign(sign)) {
            return self.fail(&format!("`{sign}`"));
        }
        self.at += 1;
        Ok(())
    }

    fn automaton(&mut self) -> Result<Automaton, ReadError> {
        if self.peek() != Some(&Token::Header("HOA".to_string())) {
            return self.fail("`HOA: v1`");
        }
        let mut automaton = Automaton::default();
        let mut states: Option<u64> = None;
        while self.peek() != Some(&Token::Body) {
            let Some(Token::Header(name)) = self.peek().cloned() else {
                return self.fail("a header or --BODY--");
            };
            self.at += 1;
            match name.as_str() {
                "States" => states = Some(self.number("a number of states", MOST_STATES as u64 + 1)?),
                "Start" => {
                    automaton.initial.push(self.number("a state", MOST_STATES as u64)? as u32);
                    if self.peek() == Some(&Token::Sign('&')) {
                        return self.fail("one state (alternation is not supported)");
                    }
                }
                "AP" => {
                    let count = self.number("a number of inputs up to 16", MOST_INPUTS as u64 + 1)?;
                    for _ in 0..count {
                        let Some(Token::Text(name)) = self.peek().cloned() else {
                            return self.fail("the name of an input");
                        };
                        if automaton.inputs.contains(&name) {
                            return self.fail("another name");
                        }
                        automaton.inputs.push(name);
                        self.at += 1;
                    }
                }
                "Acceptance" => {
                    if !matches!(self.peek(), Some(Token::Number(1))) {
                        return self.fail("one acceptance set, `1 Inf(0)`");
                    }
                    self.skip();
                }
                "Alias" => return self.fail("labels without aliases"),
                _ => self.skip(),
            }
        }
        self.at += 1;
        let Some(states) = states else { return self.fail("a header `States:` before the body") };
        automaton.accepting = vec![false; states as usize];
        if let Some(beyond) = automaton.initial.iter().find(|start| u64::from(**start) >= states) {
            return self.fail(&format!("a start below {states}, not {beyond},"));
        }
        let mut from: Option<u32> = None;
        loop {
            match self.peek().cloned() {
                Some(Token::End) => return Ok(automaton),
                Some(Token::Header(name)) if name == "State" => {
                    self.at += 1;
                    if self.peek() == Some(&Token::Sign('[')) {
                        return self.fail("a state (labels stand before edges)");
                    }
                    let state = self.number("a state", states)?;
                    if let Some(Token::Text(_)) = self.peek() {
                        self.at += 1;
                    }
                    if self.peek() == Some(&Token::Sign('{')) {
                        self.at += 1;
                        self.number("the acceptance set 0", 1)?;
                        self.sign('}')?;
                        automaton.accepting[state as usize] = true;
                    }
                    from = Some(state as u32);
                }
                Some(Token::Sign('[')) => {
                    let Some(from) = from else { return self.fail("`State:`") };
                    self.at += 1;
                    let letters = self.label(automaton.inputs.len())?;
                    self.sign(']')?;
                    let to = self.number("a state", states)? as u32;
                    if matches!(self.peek(), Some(Token::Sign('&' | '{'))) {
                        return self.fail("an edge to one state, without a mark");
                    }
                    automaton.edges.extend(cover(&letters).into_iter().map(|when| Edge { from, to, when }));
                }
                _ => return self.fail("a state, a label or --END--"),
            }
        }
    }

    /// What a header says that nobody here asks for.
    fn skip(&mut self) {
        while !matches!(self.peek(), None | Some(Token::Header(_) | Token::Body)) {
            self.at += 1;
        }
    }

    /// A label as the set of its letters: `|` over `&` over negations, without recursion on the depth of parentheses.
    fn label(&mut self, inputs: usize) -> Result<Vec<bool>, ReadError> {
        let size = 1usize << inputs;
        // For each open parenthesis: what was said before it by `|`, by `&`, and whether it is negated.
        let mut open: Vec<(Vec<bool>, Vec<bool>, bool)> = Vec::new();
        let (mut any, mut all) = (vec![false; size], vec![true; size]);
        loop {
            let mut negated = false;
            while self.peek() == Some(&Token::Sign('!')) {
                self.at += 1;
                negated = !negated;
            }
            let mut value: Vec<bool> = match self.peek().cloned() {
                Some(Token::Word(word)) if word == "t" || word == "f" => vec![word == "t"; size],
                Some(Token::Number(input)) if (input as usize) < inputs => {
                    (0..size).map(|letter| letter >> input & 1 == 1).collect()
                }
                Some(Token::Sign('(')) if open.len() < 10_000 => {
                    self.at += 1;
                    open.push((std::mem::replace(&mut any, vec![false; size]), all, negated));
                    all = vec![true; size];
                    continue;
                }
                _ => return self.fail("an input's number, `t`, `f`, `!` or `(`"),
            };
            self.at += 1;
            loop {
                if negated {
                    value.iter_mut().for_each(|bit| *bit = !*bit);
                }
                all.iter_mut().zip(&value).for_each(|(all, bit)| *all &= bit);
                match self.peek() {
                    Some(Token::Sign('&')) => break,
                    Some(Token::Sign('|')) => {
                        any.iter_mut().zip(&all).for_each(|(any, bit)| *any |= bit);
                        all = vec![true; size];
                        break;
                    }
                    _ => {}
                }
                any.iter_mut().zip(&all).for_each(|(any, bit)| *any |= bit);
                match open.pop() {
                    Some((before, conjuncts, not)) => {
                        self.sign(')')?;
                        value = std::mem::replace(&mut any, before);
                        (all, negated) = (conjuncts, not);
                    }
                    None => return Ok(any),
                }
            }
            self.at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Cube;
    use super::*;

    /// The cube of one input.
    fn literal(input: u32, value: bool) -> Cube {
        Cube { mask: 1 << input, value: u64::from(value) << input }
    }

    #[test]
    fn labels_are_formulas() {
        let read = |label: &str| {
            let text =
                format!("HOA: v1 States: 1 Start: 0 AP: 2 \"a\" \"b\" --BODY-- State: 0 [{label}] 0 --END--");
            Automaton::from_hoa(&text).map(|automaton| {
                (0..4)
                    .map(|letter| automaton.edges.iter().any(|edge| edge.when.holds(letter)))
                    .collect::<Vec<_>>()
            })
        };
        for (label, expected) in [
            ("0", [false, true, false, true]),
            ("!0 & 1", [false, false, true, false]),
            ("0 | !1 & 0 | f", [false, true, false, true]),
            ("!(0 | 1)", [true, false, false, false]),
            ("((0)) & !(!(1) & t)", [false, false, false, true]),
            ("!!t", [true; 4]),
        ] {
            assert_eq!(read(label).unwrap(), expected, "{label}");
        }
        for label in ["", "2", "0 &", "(0", "0)", "0 1", "&", "!"] {
            assert!(read(label).is_err(), "{label}");
        }
        assert_eq!(literal(1, true).text(&|input| input.to_string(), 2), "1");
    }
}

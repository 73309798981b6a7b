//! Expressions, by precedence, with a stack of their own.

use super::Parser;
use crate::formats::smv::lexer::Tok;
use crate::formats::smv::syntax::{Error, Id, Op};

/// Whether a word begins a section.
pub(super) fn is_section(word: &str) -> bool {
    matches!(
        word,
        "MODULE"
            | "VAR"
            | "IVAR"
            | "FROZENVAR"
            | "DEFINE"
            | "CONSTANTS"
            | "ASSIGN"
            | "INIT"
            | "TRANS"
            | "INVAR"
            | "FAIRNESS"
            | "JUSTICE"
            | "COMPASSION"
            | "SPEC"
            | "CTLSPEC"
            | "LTLSPEC"
            | "INVARSPEC"
            | "PSLSPEC"
            | "COMPUTE"
            | "ISA"
            | "PRED"
            | "MIRROR"
            | "MDEFINE"
            | "FUN"
    )
}

/// What waits for its operand.
enum Frame {
    Binary {
        op: Op,
        power: u8,
        left: Id,
        at: u32,
    },
    Prefix {
        op: Op,
        power: u8,
        at: u32,
    },
    /// `( … )`.
    Paren,
    /// `next( … )`.
    Next {
        at: u32,
    },
    /// `{ … }`, with what came before the last comma.
    Set {
        before: Option<Id>,
        at: u32,
    },
    /// `c ? …`.
    Then {
        condition: Id,
        at: u32,
    },
    /// `c ? a : …`.
    Else {
        condition: Id,
        then: Id,
        at: u32,
    },
    /// `case …`: how many pairs stand below it, and the condition once it is read.
    Case {
        pairs: usize,
        condition: Option<Id>,
        at: u32,
    },
}

const CONDITIONAL: u8 = 3;

/// The operator of that sign or word, and how tightly it binds.
fn binary(sign: &str) -> Option<(Op, u8)> {
    Some(match sign {
        "->" => (Op::Implies, 1),
        "<->" => (Op::Iff, 2),
        "|" => (Op::Or, 4),
        "xor" => (Op::Xor, 4),
        "xnor" => (Op::Xnor, 4),
        "&" => (Op::And, 5),
        "=" => (Op::Eq, 6),
        "!=" => (Op::Ne, 6),
        "<" => (Op::Lt, 6),
        "<=" => (Op::Le, 6),
        ">" => (Op::Gt, 6),
        ">=" => (Op::Ge, 6),
        "in" => (Op::In, 7),
        "union" => (Op::Union, 8),
        ".." => (Op::Range, 9),
        "+" => (Op::Add, 10),
        "-" => (Op::Sub, 10),
        "*" => (Op::Mul, 11),
        "/" => (Op::Div, 11),
        "mod" => (Op::Mod, 11),
        _ => return None,
    })
}

impl Parser<'_> {
    /// An expression.
    pub(super) fn expression(&mut self) -> Result<Id, Error> {
        let mut frames = Vec::new();
        let mut pairs: Vec<(Id, Id, u32)> = Vec::new();
        loop {
            let Some(mut value) = self.operand(&mut frames, pairs.len())? else { continue };
            // After an operand: operators and closing signs, until another operand is wanted.
            loop {
                let sign = match self.token.kind {
                    Tok::Sign(sign) => sign,
                    Tok::Name => self.word(),
                    _ => "",
                };
                if let Some((op, power)) = binary(sign) {
                    // Implications lean to the right.
                    let bound = if op == Op::Implies { power + 1 } else { power };
                    value = self.reduce(&mut frames, value, bound);
                    let at = self.advance()?.start;
                    frames.push(Frame::Binary { op, power, left: value, at });
                    break;
                }
                if sign == "?" {
                    value = self.reduce(&mut frames, value, CONDITIONAL + 1);
                    let at = self.advance()?.start;
                    frames.push(Frame::Then { condition: value, at });
                    break;
                }
                value = self.reduce(&mut frames, value, 0);
                let Some(frame) = frames.pop() else { return Ok(value) };
                match (frame, sign) {
                    (Frame::Paren, ")") => drop(self.advance()?),
                    (Frame::Next { at }, ")") => {
                        self.advance()?;
                        value = self.module.push(Op::Next, at, value, 0, 0);
                    }
                    (Frame::Set { before, at }, "," | "}") => {
                        if let Some(before) = before {
                            value = self.module.push(Op::Union, at, before, value, 0);
                        }
                        if self.advance()?.kind == Tok::Sign(",") {
                            frames.push(Frame::Set { before: Some(value), at });
                            break;
                        }
                    }
                    (Frame::Then { condition, at }, ":") => {
                        self.advance()?;
                        frames.push(Frame::Else { condition, then: value, at });
                        break;
                    }
                    (Frame::Case { pairs, condition: None, at }, ":") => {
                        self.advance()?;
                        frames.push(Frame::Case { pairs, condition: Some(value), at });
                        break;
                    }
                    (Frame::Case { pairs: below, condition: Some(condition), at }, ";") => {
                        self.advance()?;
                        pairs.push((condition, value, at));
                        if self.word() != "esac" {
                            frames.push(Frame::Case { pairs: below, condition: None, at });
                            break;
                        }
                        self.advance()?;
                        value = self.module.push(Op::Nothing, at, 0, 0, 0);
                        for (condition, result, at) in pairs.drain(below..).rev() {
                            value = self.module.push(Op::If, at, condition, result, value);
                        }
                    }
                    (frame, _) => return Err(self.unexpected(frame.closing())),
                }
            }
        }
    }

    /// Applies what binds at least that tightly.
    fn reduce(&mut self, frames: &mut Vec<Frame>, mut value: Id, bound: u8) -> Id {
        loop {
            let power = match frames.last() {
                Some(Frame::Binary { power, .. } | Frame::Prefix { power, .. }) => *power,
                Some(Frame::Else { .. }) => CONDITIONAL,
                _ => return value,
            };
            if power < bound {
                return value;
            }
            match frames.pop() {
                Some(Frame::Binary { op, left, at, .. }) => value = self.module.push(op, at, left, value, 0),
                Some(Frame::Prefix { op, at, .. }) => value = self.module.push(op, at, value, 0, 0),
                Some(Frame::Else { condition, then, at }) => {
                    value = self.module.push(Op::If, at, condition, then, value);
                }
                _ => return value,
            }
        }
    }

    /// An operand, or `None` if another frame was opened.
    fn operand(&mut self, frames: &mut Vec<Frame>, pairs: usize) -> Result<Option<Id>, Error> {
        let at = self.token.start;
        let expected = "an expression";
        match self.token.kind {
            Tok::Number => {
                // A sign before a number is part of it, so that the least number can be written.
                if let Some(Frame::Prefix { op: Op::Negate, .. }) = frames.last() {
                    let digits = format!("-{}", self.text(self.token));
                    let number = digits.parse().map_err(|_| self.unexpected("a whole number of 64 bits"))?;
                    frames.pop();
                    self.advance()?;
                    return Ok(Some(self.int(at, number)));
                }
                let number = self.number()?;
                Ok(Some(self.int(at, number)))
            }
            Tok::Name => {
                let op = match self.word() {
                    "TRUE" => Op::True,
                    "FALSE" => Op::False,
                    "next" => {
                        self.advance()?;
                        self.expect("(")?;
                        frames.push(Frame::Next { at });
                        return Ok(None);
                    }
                    "case" => {
                        self.advance()?;
                        frames.push(Frame::Case { pairs, condition: None, at });
                        return Ok(None);
                    }
                    word if super::is_reserved(word) || is_section(word) => {
                        return Err(self.unexpected(expected));
                    }
                    _ => {
                        let (name, at) = self.new_name(expected)?;
                        if self.at_sign(".") || self.at_sign("[") || self.at_sign("(") {
                            return Err(
                                self.unexpected("an operator; modules, arrays and calls cannot be read")
                            );
                        }
                        return Ok(Some(self.module.push(Op::Name, at, name, 0, 0)));
                    }
                };
                self.advance()?;
                Ok(Some(self.module.push(op, at, 0, 0, 0)))
            }
            Tok::Sign(sign) => {
                frames.push(match sign {
                    "!" => Frame::Prefix { op: Op::Not, power: 13, at },
                    "-" => Frame::Prefix { op: Op::Negate, power: 12, at },
                    "(" => Frame::Paren,
                    "{" => Frame::Set { before: None, at },
                    _ => return Err(self.unexpected(expected)),
                });
                self.advance()?;
                Ok(None)
            }
            Tok::End => Err(self.unexpected(expected)),
        }
    }

    fn int(&mut self, at: u32, number: i64) -> Id {
        let bits = number as u64;
        self.module.push(Op::Int, at, bits as u32, (bits >> 32) as u32, 0)
    }
}

impl Frame {
    /// What would close it.
    fn closing(&self) -> &'static str {
        match self {
            Frame::Paren | Frame::Next { .. } => "an operator or `)`",
            Frame::Set { .. } => "an operator, `,` or `}`",
            Frame::Then { .. } | Frame::Case { condition: None, .. } => "an operator or `:`",
            Frame::Case { .. } => "an operator or `;`",
            Frame::Binary { .. } | Frame::Prefix { .. } | Frame::Else { .. } => "an operator",
        }
    }
}

//! Formulas from NuSMV's language to ours and back.
//!
//! Both are written alike, so the words are exchanged and the rest stays as it was; parentheses are added where the two
//! languages would group the same words otherwise.

mod ours;
mod respell;

pub(super) use ours::Speller;

use super::super::{json, names};
use super::lexer::{Tok, Token};
use super::syntax::Error;
use respell::{Class, Kind, Piece, respell};
use tw_core::Value;

/// A formula of NuSMV in our language. `end` is the token after it.
pub(super) fn from_smv(
    text: &str,
    tokens: &[Token],
    end: Token,
    changed: &[(&str, Value)],
) -> Result<String, Error> {
    let word = |token: &Token| &text[token.start as usize..token.end as usize];
    let mut pieces: Vec<Piece> = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while at < tokens.len() {
        let token = tokens[at];
        let mut piece = match token.kind {
            Tok::Name => name(word(&token), changed),
            Tok::Number => Some(Piece::atom(word(&token))),
            Tok::Sign(sign) => self::sign(sign),
            Tok::End => None,
        }
        .ok_or_else(|| refused(&token, word(&token)))?;
        piece.at = token.start;
        // `ABF 0..5 p` is `AF[0,5] p`.
        if let Some(operator) = bounded(word(&token)) {
            let number = |at: usize| {
                let token = tokens.get(at).filter(|token| token.kind == Tok::Number);
                token.map(word).ok_or_else(|| {
                    let place = tokens.get(at).unwrap_or(&end);
                    Error::new(
                        place.start,
                        format!("found `{}`, expected a whole number, as in `ABF 0..5 p`", word(place)),
                    )
                })
            };
            let (low, high) = (number(at + 1)?, number(at + 3)?);
            if tokens[at + 2].kind != Tok::Sign("..") {
                return Err(Error::new(
                    tokens[at + 2].start,
                    format!("found `{}`, expected `..`", word(&tokens[at + 2])),
                ));
            }
            piece.text = format!("{operator}[{low},{high}]");
            at += 3;
        }
        pieces.push(piece);
        at += 1;
    }
    // A minus is a sign where no operand stands before it.
    for at in 0..pieces.len() {
        let operand = at > 0 && matches!(pieces[at - 1].kind, Kind::Atom | Kind::Close);
        if pieces[at].class == Class::Arithmetic && pieces[at].text == "-" && !operand {
            pieces[at].kind = Kind::Prefix(14);
        }
    }
    respell(&pieces).map_err(|(index, expected)| {
        let (start, found) = match index {
            Some(index) => (pieces[index].at, format!("`{}`", word(&token_at(tokens, pieces[index].at)))),
            None if end.kind == Tok::End => (end.start, "the end of the file".to_owned()),
            None => (end.start, format!("`{}`", word(&end))),
        };
        Error::new(start, format!("found {found}, expected {expected}"))
    })
}

fn token_at(tokens: &[Token], start: u32) -> Token {
    tokens[tokens.partition_point(|token| token.start < start)]
}

fn refused(token: &Token, word: &str) -> Error {
    let message = match word {
        "case" | "?" | ":" | "esac" => "a choice in a specification; DEFINE it and use its name",
        "next" => "`next` in a specification; `X`, `EX` and `AX` say what is next",
        "union" => "`union` in a specification; write one set `{a, b}`",
        _ => "this cannot be read in a specification",
    };
    Error::new(token.start, format!("found `{word}`: {message}"))
}

fn bounded(word: &str) -> Option<&'static str> {
    Some(match word {
        "ABF" => "AF",
        "ABG" => "AG",
        "EBF" => "EF",
        "EBG" => "EG",
        _ => return None,
    })
}

fn name(word: &str, changed: &[(&str, Value)]) -> Option<Piece> {
    let (kind, class, text) = match word {
        "TRUE" => (Kind::Atom, Class::Other, "true"),
        "FALSE" => (Kind::Atom, Class::Other, "false"),
        "xor" => (Kind::Infix(4, false), Class::Xor, "^"),
        "xnor" => (Kind::Infix(4, false), Class::Xnor, "<->"),
        "U" | "S" | "T" => (Kind::Infix(6, false), Class::Until, word),
        "V" => (Kind::Infix(6, false), Class::Until, "R"),
        "X" | "F" | "G" | "Y" | "Z" | "O" | "H" | "EX" | "EF" | "EG" | "AX" | "AF" | "AG" | "ABF" | "ABG"
        | "EBF" | "EBG" | "A" | "E" => (Kind::Prefix(7), Class::Temporal, word),
        "in" => (Kind::Infix(9, false), Class::Compare, "in"),
        "mod" => (Kind::Infix(13, false), Class::Arithmetic, "%"),
        _ if super::words::is_reserved(word) => return None,
        _ => {
            let text = match changed.iter().find(|(name, _)| *name == word) {
                Some((_, value)) => value_in_ours(value),
                None => plain(word).unwrap_or_else(|| format!("`{word}`")),
            };
            return Some(Piece::atom(&text));
        }
    };
    Some(Piece::new(kind, class, text))
}

fn sign(sign: &'static str) -> Option<Piece> {
    let (kind, class) = match sign {
        "->" => (Kind::Infix(1, true), Class::Implies),
        "<->" => (Kind::Infix(2, false), Class::Iff),
        "|" => (Kind::Infix(4, false), Class::Or),
        "&" => (Kind::Infix(5, false), Class::Other),
        "=" | "!=" | "<" | "<=" | ">" | ">=" => (Kind::Infix(8, false), Class::Compare),
        ".." => (Kind::Infix(11, false), Class::Arithmetic),
        "+" | "-" => (Kind::Infix(12, false), Class::Arithmetic),
        "*" | "/" => (Kind::Infix(13, false), Class::Arithmetic),
        "!" => (Kind::Prefix(15), Class::Not),
        "(" | "[" | "{" => (Kind::Open, Class::Other),
        ")" | "]" | "}" => (Kind::Close, Class::Other),
        "," => (Kind::Infix(0, false), Class::Comma),
        _ => return None,
    };
    Some(Piece::new(kind, class, sign))
}

/// A name that our language reads as a name.
fn plain(name: &str) -> Option<String> {
    let paths = matches!(name, "A" | "E" | "AX" | "AF" | "AG" | "EX" | "EF" | "EG");
    let reserved = paths || tw_ir::is_keyword(name);
    (names::is_identifier(name) && !reserved).then(|| name.to_owned())
}

/// A value as our language writes it. Text that reads as a name is left bare, as it is for names of states.
fn value_in_ours(value: &Value) -> String {
    match value {
        Value::Str(text) => plain(text).unwrap_or_else(|| json::text(value)),
        _ => json::text(value),
    }
}

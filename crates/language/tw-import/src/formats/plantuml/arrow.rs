//! `"Radio block" -[#red]->> B ++ : request`: the ends of an arrow, its direction and its label.

use super::super::diagram::{found, place};
use crate::cursor::refuse;
use tw_diag::Diagnostic;
use tw_ir::chart::Direction;

/// What stands between the second participant and the label.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    Activate,
    Deactivate,
}

/// A message as drawn; an end that is `None` is the border.
pub(super) struct Drawn<'a> {
    pub from: Option<&'a str>,
    pub to: Option<&'a str>,
    pub label: Option<&'a str>,
    /// Which event is there alone, by a cross.
    pub only: Option<Direction>,
    pub suffix: Vec<Sign>,
}

/// The arrow between two participants.
struct Shaft {
    left: bool,
    right: bool,
    crossed: [bool; 2],
    length: usize,
}

/// The message that a line is; `None` if it begins with something else.
pub(super) fn read<'a>(whole: &str, line: &'a str) -> Result<Option<Drawn<'a>>, Diagnostic> {
    let Some((first, rest)) = end(line) else { return Ok(None) };
    let rest = rest.trim_start();
    let Some(shaft) = shaft(rest) else { return Ok(None) };
    let drawn = &rest[..shaft.length];
    let rest = rest[shaft.length..].trim_start();
    if shaft.left == shaft.right {
        if !shaft.left {
            return Err(found(whole, drawn, "an arrow such as `->`"));
        }
        let why = "draw a message for each direction";
        return Err(refuse(place(whole, drawn), "this arrow goes both ways", why));
    }
    let Some((second, mut rest)) = end(rest) else {
        return Err(found(whole, rest, "a participant behind the arrow"));
    };
    // `A -> "Long name" as B`.
    let behind = rest.trim_start();
    if let Some(named) = behind.strip_prefix("as ") {
        let (_, behind) = end(named.trim_start()).ok_or_else(|| found(whole, named, "a name"))?;
        rest = behind;
    }
    let (suffix, rest) = signs(rest.trim_start());
    let rest = rest.trim_start();
    let label = match rest.strip_prefix(':') {
        Some(label) => Some(label),
        None if rest.is_empty() => None,
        None => return Err(found(whole, rest, "`:` and what is sent")),
    };
    let (from, to) = if shaft.right { (first, second) } else { (second, first) };
    let [tail, head] = if shaft.right { shaft.crossed } else { [shaft.crossed[1], shaft.crossed[0]] };
    let only = match (tail, head) {
        (_, true) => Some(Direction::Send),
        (true, false) => Some(Direction::Recv),
        _ => None,
    };
    Ok(Some(Drawn { from, to, label, only, suffix }))
}

/// A participant or a border at the start, and what follows.
fn end(text: &str) -> Option<(Option<&str>, &str)> {
    if let Some(behind) = text.strip_prefix('"') {
        let close = behind.find('"')?;
        return Some((Some(&text[..close + 2]), &behind[close + 1..]));
    }
    for border in ["[", "]", "?", "o]", "x]", "o[", "x["] {
        if let Some(behind) = text.strip_prefix(border) {
            return Some((None, behind));
        }
    }
    let length =
        text.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.' | '@'))).unwrap_or(text.len());
    (length > 0).then(|| (Some(&text[..length]), &text[length..]))
}

/// The arrow at the start.
fn shaft(text: &str) -> Option<Shaft> {
    let mut shaft = Shaft { left: false, right: false, crossed: [false; 2], length: 0 };
    let bytes = text.as_bytes();
    let mut at = 0;
    let byte = |at: usize| bytes.get(at).copied().unwrap_or(0);
    if matches!(byte(at), b'o' | b'x') && matches!(byte(at + 1), b'<' | b'-' | b'/' | b'\\') {
        shaft.crossed[0] = byte(at) == b'x';
        at += 1;
    }
    while matches!(byte(at), b'<' | b'/' | b'\\') {
        shaft.left = true;
        at += 1;
    }
    if byte(at) != b'-' {
        return None;
    }
    while byte(at) == b'-' {
        at += 1;
        // `-[#red,dashed]->`
        if byte(at) == b'[' && (byte(at + 1) == b'#' || byte(at + 1).is_ascii_alphabetic()) {
            at += text[at..].find(']')? + 1;
        }
    }
    while matches!(byte(at), b'>' | b'/' | b'\\') {
        shaft.right = true;
        at += 1;
    }
    let ends = |at: usize| matches!(byte(at), 0 | b' ' | b'\t' | b']' | b'"');
    if matches!(byte(at), b'o' | b'x') && ends(at + 1) && byte(at + 1) != 0 {
        shaft.crossed[1] = byte(at) == b'x';
        at += 1;
    }
    shaft.length = at;
    Some(shaft)
}

/// `++`, `--`, `**`, `!!` and a colour.
fn signs(mut text: &str) -> (Vec<Sign>, &str) {
    let mut signs = Vec::new();
    loop {
        let known =
            [("++", Some(Sign::Activate)), ("--", Some(Sign::Deactivate)), ("**", None), ("!!", None)];
        if let Some((sign, what)) = known.iter().find(|(sign, _)| text.starts_with(sign)) {
            signs.extend(what);
            text = text[sign.len()..].trim_start();
        } else if text.starts_with('#') {
            text = text[text.find([' ', ':']).unwrap_or(text.len())..].trim_start();
        } else {
            return (signs, text);
        }
    }
}

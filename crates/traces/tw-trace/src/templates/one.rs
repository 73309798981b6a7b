//! One template and one text: whether the text contains the template, and what the placeholders take.
//!
//! Alternatives are tried in the order of the definition: starts from left to right, every placeholder as short as the literal
//! behind it allows. What failed once is not tried again (`fails`): a placeholder that finds no end from one place finds none
//! from a later place of the same run. A text of n bytes therefore costs about n steps per placeholder, whatever it looks like.

use memchr::memmem::Finder;
use tw_ir::{Piece, Take, Template};

/// A template made ready.
#[derive(Clone, Debug)]
pub(crate) struct One {
    steps: Vec<Step>,
}

#[derive(Clone, Debug)]
enum Step {
    /// The bytes, and the search for them made ready.
    Literal(Box<[u8]>, Box<Finder<'static>>),
    Take(Take),
}

/// What the matching of a text writes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    /// Of each piece that is a placeholder, what it took.
    pub spans: Vec<(u32, u32)>,
    /// Of each piece, a stretch of the text from which it is known to fail.
    fails: Vec<(usize, usize)>,
}

impl One {
    pub fn new(template: &Template) -> Self {
        let step = |piece: &Piece| match piece {
            Piece::Literal(text) => {
                let bytes = text.as_bytes();
                Step::Literal(bytes.into(), Box::new(Finder::new(bytes).into_owned()))
            }
            Piece::Placeholder { take, .. } => Step::Take(*take),
        };
        Self { steps: template.pieces.iter().map(step).collect() }
    }

    /// The literals, with the numbers of their pieces.
    pub fn literals(&self) -> impl Iterator<Item = (usize, &[u8])> {
        self.steps.iter().enumerate().filter_map(|(number, step)| match step {
            Step::Literal(text, _) => Some((number, &**text)),
            Step::Take(_) => None,
        })
    }

    /// Pieces.
    pub fn width(&self) -> usize {
        self.steps.len()
    }

    /// Begins with a text.
    pub fn begin(&self, scratch: &mut Scratch) {
        scratch.spans.clear();
        scratch.spans.resize(self.steps.len(), (0, 0));
        scratch.fails.clear();
        scratch.fails.resize(self.steps.len(), (usize::MAX, 0));
    }

    /// Whether the text contains the template; then the spans are those of the leftmost match.
    pub fn find(&self, text: &[u8], scratch: &mut Scratch) -> bool {
        self.begin(scratch);
        match &self.steps[0] {
            Step::Literal(_, finder) => {
                // One after the other, those that overlap too.
                let mut from = 0;
                while let Some(skip) = text.get(from..).and_then(|rest| finder.find(rest)) {
                    if self.go(text, 0, from + skip, scratch) {
                        return true;
                    }
                    from += skip + 1;
                }
                false
            }
            Step::Take(Take::Words | Take::Rest) => self.go(text, 0, 0, scratch),
            Step::Take(Take::Run) => {
                let mut at = 0;
                while at < text.len() {
                    at += white(text, at);
                    if at < text.len() && white(text, at) == 0 {
                        if self.go(text, 0, at, scratch) {
                            return true;
                        }
                        at = run_end(text, at);
                    }
                }
                false
            }
            Step::Take(take) => {
                (0..text.len()).any(|at| begins_number(text, at, *take) && self.go(text, 0, at, scratch))
            }
        }
    }

    /// Whether the literal that the template begins with stands at this place.
    #[inline]
    pub fn may_stand(&self, text: &[u8], at: usize) -> bool {
        match &self.steps[0] {
            Step::Literal(literal, _) => text[at..].starts_with(literal),
            Step::Take(_) => true,
        }
    }

    /// Whether the template, which begins with a literal, stands at this place. Places are asked from left to right.
    #[inline]
    pub fn at(&self, text: &[u8], at: usize, scratch: &mut Scratch) -> bool {
        self.go(text, 0, at, scratch)
    }

    /// Whether the template begins with a run.
    pub fn begins_with_run(&self) -> bool {
        matches!(self.steps[0], Step::Take(Take::Run))
    }

    /// Whether the template, which begins with a run and a literal, stands where the literal is at this place. Places are asked
    /// from left to right: each belongs to the run that ends or is cut there.
    #[inline]
    pub fn behind_run(&self, text: &[u8], at: usize, scratch: &mut Scratch) -> bool {
        let Some(Step::Literal(literal, _)) = self.steps.get(1) else { return false };
        if !text[at..].starts_with(literal) {
            return false;
        }
        let start = run_start(text, at);
        if start == at || !self.go(text, 2, at + literal.len(), scratch) {
            return false;
        }
        scratch.spans[0] = (start as u32, at as u32);
        true
    }

    fn go(&self, text: &[u8], piece: usize, at: usize, scratch: &mut Scratch) -> bool {
        let (mut piece, mut at) = (piece, at);
        loop {
            match self.steps.get(piece) {
                None => return true,
                Some(Step::Literal(literal, _)) => {
                    if !text[at..].starts_with(literal) {
                        return false;
                    }
                    at += literal.len();
                }
                Some(Step::Take(take @ (Take::Int | Take::Real))) => {
                    let Some(end) = number_end(text, at, *take) else { return false };
                    scratch.spans[piece] = (at as u32, end as u32);
                    at = end;
                }
                Some(Step::Take(Take::Rest)) => {
                    scratch.spans[piece] = (at as u32, text.len() as u32);
                    at = text.len();
                }
                Some(Step::Take(take)) => {
                    let words = *take == Take::Words;
                    let Some(Step::Literal(literal, finder)) = self.steps.get(piece + 1) else {
                        let end = if words { text.len() } else { run_end(text, at) };
                        scratch.spans[piece] = (at as u32, end as u32);
                        return end > at;
                    };
                    return self.shortest(text, piece, at, words.then_some(&**finder), literal, scratch);
                }
            }
            piece += 1;
        }
    }

    /// A placeholder with a literal behind it.
    fn shortest(
        &self,
        text: &[u8],
        piece: usize,
        at: usize,
        words: Option<&Finder>,
        literal: &[u8],
        scratch: &mut Scratch,
    ) -> bool {
        let (from, to) = scratch.fails[piece];
        if at >= from && at < to {
            return false;
        }
        let first = literal[0];
        let mut end = at;
        loop {
            if let Some(finder) = words {
                // The first character is taken whatever it is.
                let next = text.get(end + 1..).and_then(|rest| finder.find(rest));
                match next {
                    Some(skip) => end += 1 + skip,
                    None => break,
                }
            } else {
                if end >= text.len() || white(text, end) > 0 {
                    break;
                }
                end += 1;
                if end >= text.len() {
                    break;
                }
                if text[end] != first || !text[end..].starts_with(literal) {
                    continue;
                }
            }
            scratch.spans[piece] = (at as u32, end as u32);
            let (span, next) = (scratch.spans[piece], end + literal.len());
            if self.go(text, piece + 2, next, scratch) {
                scratch.spans[piece] = span;
                return true;
            }
        }
        scratch.fails[piece] = (at, if words.is_some() { usize::MAX } else { end.max(at + 1) });
        false
    }
}

/// What bytes begin: white space of one byte (1), perhaps white space of several (2), or neither.
static CLASS: [u8; 256] = {
    let mut class = [0; 256];
    let mut byte = 9;
    while byte <= 13 {
        class[byte] = 1;
        byte += 1;
    }
    class[b' ' as usize] = 1;
    class[0xC2] = 2;
    class[0xE1] = 2;
    class[0xE2] = 2;
    class[0xE3] = 2;
    class
};

/// Bytes of the character of white space that stands here, if one does.
#[inline]
fn white(text: &[u8], at: usize) -> usize {
    match CLASS[text[at] as usize] {
        0 => 0,
        1 => 1,
        _ => match text[at..] {
            [0xC2, 0x85 | 0xA0, ..] => 2,
            [0xE1, 0x9A, 0x80, ..] | [0xE3, 0x80, 0x80, ..] | [0xE2, 0x81, 0x9F, ..] => 3,
            [0xE2, 0x80, 0x80..=0x8A | 0xA8 | 0xA9 | 0xAF, ..] => 3,
            _ => 0,
        },
    }
}

fn run_end(text: &[u8], at: usize) -> usize {
    let mut end = at;
    while end < text.len() && white(text, end) == 0 {
        end += 1;
    }
    end
}

/// Where the run that ends here begins.
fn run_start(text: &[u8], end: usize) -> usize {
    let mut at = end;
    while at > 0 {
        // Characters of several bytes are looked at from their first one on.
        let mut first = at - 1;
        while first > 0 && text[first] & 0xC0 == 0x80 {
            first -= 1;
        }
        if white(text, first) > 0 {
            break;
        }
        at = first;
    }
    at
}

fn digits(text: &[u8], at: usize) -> usize {
    text[at.min(text.len())..].iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// Where the number that begins here ends; `None` if none does that can be held.
fn number_end(text: &[u8], at: usize, take: Take) -> Option<usize> {
    let signed = at + usize::from(matches!(text.get(at), Some(b'+' | b'-')));
    let whole = digits(text, signed);
    let mut end = signed + whole;
    if take == Take::Int {
        // Few digits always fit.
        let fits = whole > 0 && (whole <= 18 || number(&text[at..end]).parse::<i64>().is_ok());
        return fits.then_some(end);
    }
    if text.get(end) == Some(&b'.') {
        let fraction = digits(text, end + 1);
        end += if fraction > 0 { 1 + fraction } else { 0 };
    }
    if end == signed {
        return None;
    }
    if let Some(b'e' | b'E') = text.get(end) {
        let sign = usize::from(matches!(text.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits(text, end + 1 + sign);
        end += if exponent > 0 { 1 + sign + exponent } else { 0 };
    }
    number(&text[at..end]).parse::<f64>().is_ok_and(f64::is_finite).then_some(end)
}

fn number(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap_or_default()
}

/// Whether a number begins here: not in the middle of one.
fn begins_number(text: &[u8], at: usize, take: Take) -> bool {
    let digit = |at: usize| text.get(at).is_some_and(u8::is_ascii_digit);
    let before = |by: usize| at.checked_sub(by).and_then(|at| text.get(at)).copied();
    let inside = before(1).is_some_and(|byte| byte.is_ascii_digit())
        || take == Take::Real
            && before(1) == Some(b'.')
            && before(2).is_some_and(|byte| byte.is_ascii_digit());
    let here = match text[at] {
        b'0'..=b'9' => !matches!(before(1), Some(b'+' | b'-')),
        b'+' | b'-' => {
            return digit(at + 1) || take == Take::Real && text.get(at + 1) == Some(&b'.') && digit(at + 2);
        }
        b'.' => take == Take::Real && digit(at + 1) && !matches!(before(1), Some(b'+' | b'-')),
        _ => false,
    };
    here && !inside
}

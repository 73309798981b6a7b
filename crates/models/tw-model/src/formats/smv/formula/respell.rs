//! Puts the words of a formula together again, grouped as they were.

/// How a word takes part in a formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Atom,
    /// How tightly it binds.
    Prefix(u8),
    /// How tightly it binds, and whether it leans to the right.
    Infix(u8, bool),
    Open,
    Close,
}

/// What is grouped differently next to what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Implies,
    Iff,
    Or,
    Xor,
    Xnor,
    Until,
    Temporal,
    Not,
    Compare,
    Arithmetic,
    Comma,
    Other,
}

/// A word in its new spelling.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub kind: Kind,
    pub class: Class,
    pub text: String,
    /// Where it was.
    pub at: u32,
}

impl Piece {
    pub fn new(kind: Kind, class: Class, text: &str) -> Self {
        Self { kind, class, text: text.to_owned(), at: 0 }
    }

    pub fn atom(text: &str) -> Self {
        Self::new(Kind::Atom, Class::Other, text)
    }
}

/// Whether an operand of one class is put in parentheses beside an operator of another.
fn ambiguous(inner: Class, outer: Class) -> bool {
    use Class::{Arithmetic, Compare, Iff, Implies, Not, Or, Temporal, Until, Xnor, Xor};
    match inner {
        Implies => matches!(outer, Iff | Xnor),
        Iff => matches!(outer, Implies | Xnor),
        Or => outer == Xor,
        Xor => matches!(outer, Or | Xnor),
        Xnor => !matches!(outer, Class::Comma),
        Until => outer == Until,
        Compare => matches!(outer, Not | Compare),
        Not => matches!(outer, Compare | Arithmetic),
        Temporal => matches!(outer, Compare | Arithmetic),
        _ => false,
    }
}

/// What an operand is worth.
#[derive(Clone, Copy, PartialEq)]
enum Nature {
    /// A number, a symbol, or a name that may be anything.
    Value,
    /// `TRUE` or `FALSE`.
    Literal,
    /// What has operators of truth values or comparisons outermost.
    Formula,
}

struct Grouping<'p> {
    pieces: &'p [Piece],
    /// Words that are spelt otherwise than the pieces say.
    instead: Vec<Option<&'static str>>,
    /// Parentheses before and after each piece.
    opened: Vec<u32>,
    closed: Vec<u32>,
    /// Operators and opening signs that wait.
    waiting: Vec<usize>,
    /// Where operands begin, and what they are.
    starts: Vec<(usize, Nature)>,
}

impl Grouping<'_> {
    /// Applies the operators that bind at least that tightly; the piece after them is `next`, an operator of `class`.
    fn reduce(&mut self, bound: u8, next: usize, class: Option<Class>) {
        while let Some(&operator) = self.waiting.last() {
            let power = match self.pieces[operator].kind {
                Kind::Prefix(power) | Kind::Infix(power, _) => power,
                _ => return,
            };
            if power < bound {
                return;
            }
            self.waiting.pop();
            let inner = self.pieces[operator].class;
            let nature = match inner {
                Class::Arithmetic | Class::Comma => Nature::Value,
                _ => Nature::Formula,
            };
            let last = self.starts.pop();
            let start = match self.pieces[operator].kind {
                Kind::Prefix(_) => operator,
                _ => {
                    let first = self.starts.pop();
                    self.equal_formulas(operator, first, last);
                    first.map_or(0, |(start, _)| start)
                }
            };
            self.starts.push((start, nature));
            let before = self.waiting.last().filter(|&&at| self.pieces[at].kind != Kind::Open);
            // What replaces a comparison binds loosely.
            let replaced = self.instead[operator].is_some();
            let beside = |class: Class| replaced || ambiguous(inner, class);
            if before.is_some_and(|&at| beside(self.pieces[at].class)) || class.is_some_and(beside) {
                self.opened[start] += 1;
                self.closed[next - 1] += 1;
            }
        }
    }
}

impl Grouping<'_> {
    /// Comparing formulas, as NuSMV does, is to say that both hold or neither.
    fn equal_formulas(
        &mut self,
        operator: usize,
        first: Option<(usize, Nature)>,
        last: Option<(usize, Nature)>,
    ) {
        let is = |operand: Option<(usize, Nature)>, nature| operand.is_some_and(|(_, own)| own == nature);
        let formulas = is(first, Nature::Formula) || is(last, Nature::Formula);
        // A name may be compared with a literal, but not one literal with another.
        if formulas || is(first, Nature::Literal) && is(last, Nature::Literal) {
            self.instead[operator] = match self.pieces[operator].text.as_str() {
                "=" => Some("<->"),
                "!=" => Some("^"),
                _ => None,
            };
        }
    }
}

/// The formula, or which piece (`None`: the end) is wrong and what was expected there.
pub(super) fn respell(pieces: &[Piece]) -> Result<String, (Option<usize>, &'static str)> {
    let count = pieces.len();
    let mut grouping = Grouping {
        pieces,
        instead: vec![None; count],
        opened: vec![0; count],
        closed: vec![0; count],
        waiting: Vec::new(),
        starts: Vec::new(),
    };
    let mut operand = true;
    for (at, piece) in pieces.iter().enumerate() {
        match (piece.kind, operand) {
            (Kind::Atom, true) => {
                let literal = matches!(piece.text.as_str(), "true" | "false" | "TRUE" | "FALSE");
                grouping.starts.push((at, if literal { Nature::Literal } else { Nature::Value }));
                operand = false;
            }
            (Kind::Prefix(_), true) | (Kind::Open, true) => grouping.waiting.push(at),
            (Kind::Infix(power, right), false) => {
                grouping.reduce(if right { power + 1 } else { power }, at, Some(piece.class));
                grouping.waiting.push(at);
                operand = true;
            }
            (Kind::Close, false) => {
                grouping.reduce(0, at, None);
                let open = grouping.waiting.pop().filter(|&open| {
                    matches!(
                        (pieces[open].text.as_str(), piece.text.as_str()),
                        ("(", ")") | ("[", "]") | ("{", "}")
                    )
                });
                let Some(open) = open else { return Err((Some(at), "an operator or the sign that closes")) };
                if let Some((start, nature)) = grouping.starts.last_mut() {
                    *start = open;
                    if piece.text == "}" {
                        *nature = Nature::Value;
                    }
                }
            }
            (_, true) => return Err((Some(at), "a formula")),
            (_, false) => return Err((Some(at), "an operator or the end of the formula")),
        }
    }
    if operand {
        return Err((None, "a formula"));
    }
    grouping.reduce(0, count, None);
    if let Some(&open) = grouping.waiting.last() {
        let close =
            if pieces[open].text == "(" { "an operator or `)`" } else { "an operator or a closing bracket" };
        return Err((None, close));
    }
    Ok(spell(&grouping))
}

fn spell(grouping: &Grouping<'_>) -> String {
    let Grouping { pieces, instead, opened, closed, .. } = grouping;
    let mut text = String::new();
    let mut tight = true;
    for (at, piece) in pieces.iter().enumerate() {
        let leans = piece.kind == Kind::Close || piece.class == Class::Comma;
        if !tight && !leans {
            text.push(' ');
        }
        (0..opened[at]).for_each(|_| text.push('('));
        text.push_str(instead[at].unwrap_or(&piece.text));
        (0..closed[at]).for_each(|_| text.push(')'));
        tight = piece.kind == Kind::Open
            || matches!(piece.kind, Kind::Prefix(_)) && piece.class != Class::Temporal;
    }
    text
}

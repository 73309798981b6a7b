//! Three truth values: what a finite trace says about a formula whatever comes after it.
//!
//! Atoms are true or false; connectives are Kleene's. What looks ahead is unknown where the trace ends before it is decided:
//! `G` is never true, `F` never false. What looks back is decided, since nothing comes before the first position.

use crate::formula::Kind;

pub use tw_core::Truth;

/// Kleene's connectives, and how a hologram writes truth.
pub trait Kleene: Sized {
    /// All values.
    const ALL: [Self; 3];

    /// The other value; what is unknown stays so.
    #[must_use]
    fn not(self) -> Self;

    /// Both.
    #[must_use]
    fn and(self, other: Self) -> Self;

    /// One of them.
    #[must_use]
    fn or(self, other: Self) -> Self;

    /// `+`, `-` or `?`.
    fn sign(self) -> char;
}

impl Kleene for Truth {
    const ALL: [Truth; 3] = [Truth::True, Truth::False, Truth::Unknown];

    fn not(self) -> Truth {
        match self {
            Truth::True => Truth::False,
            Truth::False => Truth::True,
            Truth::Unknown => Truth::Unknown,
        }
    }

    fn and(self, other: Truth) -> Truth {
        match (self, other) {
            (Truth::False, _) | (_, Truth::False) => Truth::False,
            (Truth::True, Truth::True) => Truth::True,
            _ => Truth::Unknown,
        }
    }

    fn or(self, other: Truth) -> Truth {
        self.not().and(other.not()).not()
    }

    fn sign(self) -> char {
        match self {
            Truth::True => '+',
            Truth::False => '-',
            Truth::Unknown => '?',
        }
    }
}

/// The value of a connective; a negation looks at the first operand alone.
pub(crate) fn connective(kind: &Kind, a: Truth, b: Truth) -> Truth {
    match kind {
        Kind::Not => a.not(),
        Kind::And => a.and(b),
        Kind::Or => a.or(b),
        Kind::Implies => a.not().or(b),
        Kind::Xor => a.and(b.not()).or(a.not().and(b)),
        Kind::Iff => a.and(b).or(a.not().and(b.not())),
        Kind::Leaf(_) | Kind::Step(_) | Kind::Walk(_) | Kind::Quantifier { .. } => a,
    }
}

/// A set of truth values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mask(u8);

impl Mask {
    pub(crate) const ALL: Mask = Mask(7);
    pub(crate) const DECIDED: Mask = Mask(3);

    pub(crate) fn of(truth: Truth) -> Mask {
        Mask(1 << truth as u8)
    }

    pub(crate) fn with(self, truth: Truth) -> Mask {
        Mask(self.0 | 1 << truth as u8)
    }

    pub(crate) fn has(self, truth: Truth) -> bool {
        self.0 >> truth as u8 & 1 == 1
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = Truth> {
        Truth::ALL.into_iter().filter(move |&truth| self.has(truth))
    }
}

impl FromIterator<Truth> for Mask {
    fn from_iter<I: IntoIterator<Item = Truth>>(values: I) -> Self {
        values.into_iter().fold(Mask(0), Mask::with)
    }
}

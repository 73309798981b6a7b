//! Three truth values: what a finite trace says about a formula whatever comes after it.
//!
//! Atoms are true or false; connectives are Kleene's. What looks ahead is unknown where the trace ends before it is decided:
//! `G` is never true, `F` never false. What looks back is decided, since nothing comes before the first position.

use crate::formula::Kind;

/// A truth value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Truth {
    /// Whatever follows.
    True,
    /// Whatever follows.
    False,
    /// It depends on what follows.
    Unknown,
}

impl Truth {
    /// All of them.
    pub const ALL: [Truth; 3] = [Truth::True, Truth::False, Truth::Unknown];

    /// Of a condition.
    pub fn of(holds: bool) -> Self {
        if holds { Truth::True } else { Truth::False }
    }

    /// How a hologram writes it.
    pub fn sign(self) -> char {
        match self {
            Truth::True => '+',
            Truth::False => '-',
            Truth::Unknown => '?',
        }
    }
}

impl std::ops::Not for Truth {
    type Output = Truth;

    fn not(self) -> Truth {
        match self {
            Truth::True => Truth::False,
            Truth::False => Truth::True,
            Truth::Unknown => Truth::Unknown,
        }
    }
}

impl std::ops::BitAnd for Truth {
    type Output = Truth;

    fn bitand(self, other: Truth) -> Truth {
        match (self, other) {
            (Truth::False, _) | (_, Truth::False) => Truth::False,
            (Truth::True, Truth::True) => Truth::True,
            _ => Truth::Unknown,
        }
    }
}

impl std::ops::BitOr for Truth {
    type Output = Truth;

    fn bitor(self, other: Truth) -> Truth {
        !(!self & !other)
    }
}

/// The value of a connective; a negation looks at the first operand alone.
pub(crate) fn connective(kind: &Kind, a: Truth, b: Truth) -> Truth {
    match kind {
        Kind::Not => !a,
        Kind::And => a & b,
        Kind::Or => a | b,
        Kind::Implies => !a | b,
        Kind::Xor => (a & !b) | (!a & b),
        Kind::Iff => (a & b) | (!a & !b),
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

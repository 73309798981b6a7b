//! What a property or a subformula is worth.

/// Three-valued truth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Truth {
    /// Holds.
    True,
    /// Does not hold.
    False,
    /// Not settled by what has been seen.
    Unknown,
}

impl From<bool> for Truth {
    fn from(value: bool) -> Self {
        if value { Truth::True } else { Truth::False }
    }
}

/// The answer about one property of one trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// The trace has the property.
    Satisfied,
    /// It does not.
    Violated,
    /// The trace settles it neither way.
    Unknown,
}

impl Verdict {
    /// The word used in every output.
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Satisfied => "satisfied",
            Verdict::Violated => "violated",
            Verdict::Unknown => "unknown",
        }
    }
}

impl From<Truth> for Verdict {
    fn from(truth: Truth) -> Self {
        match truth {
            Truth::True => Verdict::Satisfied,
            Truth::False => Verdict::Violated,
            Truth::Unknown => Verdict::Unknown,
        }
    }
}

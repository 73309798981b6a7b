//! The temporal operators: one row each.
//!
//! Every operator is one of three [`Form`]s, and what else tells it from the others are properties: whether it looks
//! [back](Row::past), and whether it is [weak](Row::weak), i.e. true where the trace ends before it is decided. `F φ` is
//! `true U φ` and `G φ` is `false R φ`: an operator with one operand is that with two whose first is missing.
//!
//! | form | strong | weak |
//! |---|---|---|
//! | [`Form::Step`] | `X Y` | `N Z` |
//! | [`Form::Until`] | `U S`, `F O` | `W B` |
//! | [`Form::Release`] | `M` | `R T`, `G H` |
//!
//! Engines read [`Applied`], never names; the language reads and prints rows. A further operator of these forms is
//! therefore a variant and a row, and nothing else.

use crate::{Interval, NodeId};

/// A temporal operator: the name of its [`Row`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Temporal {
    /// `X`: there is a next position, and there.
    Next,
    /// `N`: if there is a next position, there.
    WeakNext,
    /// `F`.
    Finally,
    /// `G`.
    Globally,
    /// `U`.
    Until,
    /// `W`.
    WeakUntil,
    /// `R`.
    Release,
    /// `M`.
    StrongRelease,
    /// `Y`: there is a previous position, and there.
    Previous,
    /// `Z`: if there is a previous position, there.
    WeakPrevious,
    /// `O`.
    Once,
    /// `H`.
    Historically,
    /// `S`.
    Since,
    /// `B`.
    BackTo,
    /// `T`.
    Trigger,
}

/// What an operator does with its operands, up to direction and strength.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// φ at the neighbouring position.
    Step,
    /// `φ U ψ`: ψ at some position, and φ at every one before it.
    Until,
    /// `φ R ψ`, the dual of until: ψ at every position up to and with the first φ.
    Release,
}

/// What there is to know of an operator.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The operator.
    pub operator: Temporal,
    /// How it is printed.
    pub letter: &'static str,
    /// The word that may be written in place of the letter; empty if there is none.
    pub word: &'static str,
    /// What messages call it.
    pub name: &'static str,
    /// Whether it has one operand, which stands after it.
    pub prefix: bool,
    /// Its form.
    pub form: Form,
    /// Whether it looks back.
    pub past: bool,
    /// Whether it holds where the trace ends before it is decided.
    pub weak: bool,
}

/// Every operator.
#[rustfmt::skip]
static ROWS: &[Row] = {
    use Temporal::*;
    &[
        Row { operator: Next,          letter: "X", word: "next",            name: "next",            ..STEP },
        Row { operator: WeakNext,      letter: "N", word: "weak_next",       name: "weak next",       ..STEP.weak() },
        Row { operator: Finally,       letter: "F", word: "eventually",      name: "eventually",      ..UNTIL.prefix() },
        Row { operator: Globally,      letter: "G", word: "always",          name: "always",          ..RELEASE.weak().prefix() },
        Row { operator: Until,         letter: "U", word: "until",           name: "until",           ..UNTIL },
        Row { operator: WeakUntil,     letter: "W", word: "weak_until",      name: "weak until",      ..UNTIL.weak() },
        Row { operator: Release,       letter: "R", word: "release",         name: "release",         ..RELEASE.weak() },
        Row { operator: StrongRelease, letter: "M", word: "",                name: "strong release",  ..RELEASE },
        Row { operator: Previous,      letter: "Y", word: "previously",      name: "previously",      ..STEP.past() },
        Row { operator: WeakPrevious,  letter: "Z", word: "weak_previously", name: "weak previously", ..STEP.past().weak() },
        Row { operator: Once,          letter: "O", word: "once",            name: "once",            ..UNTIL.past().prefix() },
        Row { operator: Historically,  letter: "H", word: "historically",    name: "historically",    ..RELEASE.past().weak().prefix() },
        Row { operator: Since,         letter: "S", word: "since",           name: "since",           ..UNTIL.past() },
        Row { operator: BackTo,        letter: "B", word: "back_to",         name: "back to",         ..UNTIL.past().weak() },
        Row { operator: Trigger,       letter: "T", word: "",                name: "trigger",         ..RELEASE.past().weak() },
    ]
};

const UNTIL: Row = Row {
    operator: Temporal::Until,
    letter: "",
    word: "",
    name: "",
    prefix: false,
    form: Form::Until,
    past: false,
    weak: false,
};
const RELEASE: Row = Row { form: Form::Release, ..UNTIL };
const STEP: Row = Row { form: Form::Step, prefix: true, ..UNTIL };

impl Row {
    const fn past(self) -> Row {
        Row { past: true, ..self }
    }

    const fn weak(self) -> Row {
        Row { weak: true, ..self }
    }

    const fn prefix(self) -> Row {
        Row { prefix: true, ..self }
    }

    /// What distinguishes operators: no two rows are alike in all of these.
    fn properties(&self) -> (Form, bool, bool, bool) {
        (self.form, self.past, self.weak, self.prefix)
    }
}

impl Temporal {
    /// All of them.
    pub fn all() -> impl Iterator<Item = Temporal> {
        ROWS.iter().map(|row| row.operator)
    }

    /// What there is to know of it.
    pub fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }

    /// The operator that is written so, by letter or word.
    pub fn spelled(text: &str) -> Option<Temporal> {
        let row = ROWS.iter().find(|row| row.letter == text || (row.word == text && !text.is_empty()));
        row.map(|row| row.operator)
    }

    /// The operator with these properties, if the language has it.
    fn with(properties: (Form, bool, bool, bool)) -> Option<Temporal> {
        ROWS.iter().find(|row| row.properties() == properties).map(|row| row.operator)
    }

    /// The operator that holds of the negated operands where this one fails.
    pub fn dual(self) -> Option<Temporal> {
        let (form, past, weak, prefix) = self.row().properties();
        let form = match form {
            Form::Step => Form::Step,
            Form::Until => Form::Release,
            Form::Release => Form::Until,
        };
        Temporal::with((form, past, !weak, prefix))
    }

    /// The same operator in the other direction.
    pub fn mirror(self) -> Option<Temporal> {
        let (form, past, weak, prefix) = self.row().properties();
        Temporal::with((form, !past, weak, prefix))
    }

    /// The same operator, decided otherwise where the trace ends before it: `U` and `W`, `M` and `R`, `X` and `N`.
    pub fn with_weak(self, weak: bool) -> Option<Temporal> {
        let (form, past, _, prefix) = self.row().properties();
        Temporal::with((form, past, weak, prefix))
    }

    /// Whether it looks back.
    pub fn is_past(self) -> bool {
        self.row().past
    }
}

/// A temporal operator over its operands, as engines see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Applied {
    /// Which one; what it means is said by the properties.
    pub operator: Temporal,
    /// Its form.
    pub form: Form,
    /// Whether it looks back.
    pub past: bool,
    /// Whether it holds where the trace ends before it is decided.
    pub weak: bool,
    /// `None` is `[0,inf)`.
    pub interval: Option<Interval>,
    /// The first of two operands; missing, it is true before `U` and false before `R`.
    pub left: Option<NodeId>,
    /// The second of two operands, or the only one.
    pub right: NodeId,
}

/// What `U`, `R` and all between them have in common, also with intervals: `hold U goal`, or the dual of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    /// Whether it is `!(!hold U !goal)`.
    pub dual: bool,
    /// Missing, it is true, and false in the dual.
    pub hold: Option<NodeId>,
    /// One operand, or two that have to hold together; in the dual, one of which has to.
    pub goal: (NodeId, Option<NodeId>),
}

impl Applied {
    pub(crate) fn new(
        operator: Temporal,
        interval: Option<Interval>,
        left: Option<NodeId>,
        right: NodeId,
    ) -> Self {
        let Row { form, past, weak, .. } = *operator.row();
        Applied { operator, form, past, weak, interval, left, right }
    }

    /// Whether it is `X N Y Z`.
    pub fn is_step(self) -> bool {
        self.form == Form::Step
    }

    /// The operator without an interval by its own equation, from its operands at a position and its own value at the
    /// neighbour: `ψ | φ & …`, or `ψ & (φ | …)`. At the edge, where there is no neighbour, that value is
    /// [`weak`](Applied::weak), and the operator is the least (weak: the greatest) solution. `X N Y Z` have none.
    pub fn unfold<T>(self, left: Option<T>, right: T, neighbour: T) -> T
    where
        T: std::ops::BitAnd<Output = T> + std::ops::BitOr<Output = T>,
    {
        match (self.form, left) {
            (Form::Release, Some(left)) => right & (left | neighbour),
            (Form::Release, None) => right & neighbour,
            (_, Some(left)) => right | (left & neighbour),
            (_, None) => right | neighbour,
        }
    }

    /// As an until or its dual: `φ W ψ = ψ R (φ | ψ)`, `φ M ψ = ψ U (φ & ψ)`. For `X N Y Z` there is none.
    pub fn way(self) -> Option<Way> {
        let (left, right) = (self.left, self.right);
        let swapped = (left.unwrap_or(right), left.map(|_| right));
        Some(match (self.form, self.weak) {
            (Form::Step, _) => return None,
            (Form::Until, false) => Way { dual: false, hold: left, goal: (right, None) },
            (Form::Release, true) => Way { dual: true, hold: left, goal: (right, None) },
            (Form::Until, true) => Way { dual: true, hold: Some(right), goal: swapped },
            (Form::Release, false) => Way { dual: false, hold: Some(right), goal: swapped },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_at_their_operators_and_differ() {
        for (index, row) in ROWS.iter().enumerate() {
            assert_eq!(row.operator as usize, index);
            assert_eq!(
                Temporal::with(row.properties()),
                Some(row.operator),
                "{:?} is there twice",
                row.operator
            );
            // With one operand, the other two would be constants.
            assert!(!row.prefix || row.form == Form::Step || row.weak == (row.form == Form::Release));
            for spelling in [row.letter, row.word] {
                assert!(
                    spelling.is_empty() || Temporal::spelled(spelling) == Some(row.operator),
                    "{spelling}"
                );
            }
        }
        assert_eq!(Temporal::spelled(""), None);
    }

    #[test]
    fn the_dual_of_the_dual_is_the_operator_itself() {
        for operator in Temporal::all() {
            if let Some(dual) = operator.dual() {
                assert_eq!(dual.dual(), Some(operator));
                assert_ne!(dual.row().weak, operator.row().weak);
            }
            if let Some(mirror) = operator.mirror() {
                assert_eq!(mirror.mirror(), Some(operator));
                assert_ne!(mirror.is_past(), operator.is_past());
            }
        }
        use Temporal::*;
        for (a, b) in [(Next, WeakNext), (Finally, Globally), (Until, Release), (WeakUntil, StrongRelease)] {
            assert_eq!((a.dual(), b.dual()), (Some(b), Some(a)));
        }
        for (a, b) in [(Next, Previous), (WeakUntil, BackTo), (Release, Trigger), (Globally, Historically)] {
            assert_eq!((a.mirror(), b.mirror()), (Some(b), Some(a)));
        }
    }
}

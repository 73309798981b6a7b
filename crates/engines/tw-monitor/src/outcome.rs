//! What engines answer: truth, values, robustness, and the bindings that go with them, through one [`Sink`].

use crate::{Computed, Values};
use std::sync::Arc;
use tw_core::codec::{Corrupt, put, put_value, take, take_value};
use tw_core::{Bits, Position, Value};

/// What quantified variables are, in the order of their quantifiers. Most answers have none, which costs one word.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bindings(Option<Arc<Bound>>);

#[derive(Debug, PartialEq)]
struct Bound {
    pairs: Vec<(u32, Value)>,
    infinite: bool,
}

/// In a saved state, the bit of the number of pairs that says that they stand for infinitely many valuations.
const INFINITE: u64 = 1 << 63;

/// Values as they are told. A whole number may be written as 2 and as 2.0; it is one value, and which of them an engine saw first
/// is nobody's business: 2 is told.
fn told(mut pairs: Vec<(u32, Value)>) -> Vec<(u32, Value)> {
    for (_, value) in &mut pairs {
        if let Value::Real(real) = *value
            && real.fract() == 0.0
            && real.abs() < 9.2e18
        {
            *value = Value::Int(real as i64);
        }
    }
    pairs
}

impl Bindings {
    /// Of these variables (numbers in `Dag::variables`).
    pub fn new(pairs: Vec<(u32, Value)>) -> Self {
        Self((!pairs.is_empty()).then(|| Arc::new(Bound { pairs: told(pairs), infinite: false })))
    }

    /// Of the variables that have finitely many values, where the others have infinitely many.
    pub fn infinitely(pairs: Vec<(u32, Value)>) -> Self {
        Self(Some(Arc::new(Bound { pairs: told(pairs), infinite: true })))
    }

    /// The same, and this variable too.
    #[must_use]
    pub fn with(&self, variable: u32, value: Value) -> Self {
        let others = self.pairs().iter().filter(|(own, _)| *own != variable).cloned();
        Self::new(others.chain([(variable, value)]).collect())
    }

    /// Whether nothing is bound.
    pub fn is_empty(&self) -> bool {
        self.pairs().is_empty()
    }

    /// Whether they stand for infinitely many valuations, of which they are what is the same in all.
    pub fn infinite(&self) -> bool {
        self.0.as_ref().is_some_and(|bound| bound.infinite)
    }

    /// Variables and what they are.
    pub fn pairs(&self) -> &[(u32, Value)] {
        self.0.as_ref().map_or(&[], |bound| &bound.pairs)
    }

    /// Appends them to a state that is saved.
    pub fn save(&self, out: &mut Vec<u8>) {
        put(self.pairs().len() as u64 | if self.infinite() { INFINITE } else { 0 }, out);
        for (variable, value) in self.pairs() {
            put(u64::from(*variable), out);
            put_value(value, out);
        }
    }

    /// Reads back what [`Bindings::save`] wrote.
    pub fn load(from: &mut &[u8]) -> Result<Self, Corrupt> {
        let mut pairs = Vec::new();
        let len = take(from)?;
        for _ in 0..len & !INFINITE {
            let variable = u32::try_from(take(from)?);
            let variable =
                variable.map_err(|_| Corrupt("the saved state names an unknown variable".into()))?;
            pairs.push((variable, take_value(from)?));
        }
        Ok(if len & INFINITE != 0 { Self::infinitely(pairs) } else { Self::new(pairs) })
    }
}

/// The verdict of a root on a stored trace.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// Truth at the first position of each segment (one bit for a plain trace).
    pub holds: Bits,
    /// Which segments leave the verdict open; `None` under a two-valued semantics. Where set, `holds` is not.
    pub open: Option<Bits>,
    /// For a root `G φ` without interval, also under outer `forall`s: the positions where φ is false within the trace (all
    /// segments), at most as many as asked for, ascending. Empty otherwise.
    pub violations: Vec<Position>,
    /// Of each of them, what the variables are; empty where no variables are bound at all.
    pub bindings: Vec<Bindings>,
    /// How many violations there are in all.
    pub violation_count: usize,
}

/// What a root of a stored trace is worth at the first position of each segment.
#[derive(Clone, Debug, PartialEq)]
pub enum Worth {
    /// A property's verdict.
    Truth(Answer),
    /// A query's value.
    Values(Values),
    /// By how much a property holds.
    Robustness(Vec<f64>),
}

/// What is known of a root of a live trace.
#[derive(Clone, Debug, PartialEq)]
pub enum Known {
    /// It holds, or it does not.
    Truth(bool),
    /// Its value.
    Value(Computed),
    /// By how much it holds: between these, and equal once nothing changes it.
    Robustness(f64, f64),
}

impl Known {
    /// Whether it holds, of what has a truth value.
    pub fn truth(&self) -> Option<bool> {
        match self {
            Known::Truth(holds) => Some(*holds),
            _ => None,
        }
    }
}

/// Something about a live trace that no continuation changes.
#[derive(Clone, Debug, PartialEq)]
pub struct Settled {
    /// The root, in the program's order.
    pub root: usize,
    /// The position that it is about, from a monitor that reports positions; `None` is the root itself, which is about
    /// position 0.
    pub about: Option<Position>,
    /// The position that settled it.
    pub at: Position,
    /// What is known.
    pub known: Known,
    /// What quantified variables are there.
    pub bindings: Bindings,
    /// For how many positions it stands, of which it names the first: a monitor that tells violations alone does not keep
    /// apart those that one position or one deadline settles together.
    pub count: u64,
}

impl Settled {
    /// A verdict without bindings.
    pub fn truth(root: usize, about: Option<Position>, at: Position, holds: bool) -> Self {
        Self { root, about, at, known: Known::Truth(holds), bindings: Bindings::default(), count: 1 }
    }

    /// Whether it is a verdict that something holds.
    pub fn holds(&self) -> bool {
        self.known == Known::Truth(true)
    }

    /// Whether it is a verdict that something does not hold.
    pub fn fails(&self) -> bool {
        self.known == Known::Truth(false)
    }
}

/// Where engines put what they find out; whoever runs them takes it from here.
#[derive(Clone, Debug, Default)]
pub struct Sink {
    /// How many violations of each root are listed, at most; all are counted.
    pub limit: usize,
    /// Of a stored trace: what each root is worth, in the program's order.
    pub worth: Vec<Worth>,
    /// Of a live trace: what was settled, in the order of `at`, then of roots.
    pub settled: Vec<Settled>,
}

impl Sink {
    /// For a stored trace: at most `limit` violations of each root are listed.
    pub fn with_limit(limit: usize) -> Self {
        Self { limit, ..Self::default() }
    }

    /// Takes verdicts, in the order of roots.
    pub fn answers(&mut self, answers: impl IntoIterator<Item = Answer>) {
        self.worth.extend(answers.into_iter().map(Worth::Truth));
    }

    /// The verdicts, of a program whose roots are properties.
    pub fn into_answers(self) -> Vec<Answer> {
        let answer = |worth| match worth {
            Worth::Truth(answer) => Some(answer),
            _ => None,
        };
        self.worth.into_iter().filter_map(answer).collect()
    }

    /// The values, of a program whose roots are queries.
    pub fn into_values(self) -> Vec<Values> {
        let values = |worth| match worth {
            Worth::Values(values) => Some(values),
            _ => None,
        };
        self.worth.into_iter().filter_map(values).collect()
    }

    /// By how much the roots hold, from an engine that measures that.
    pub fn into_robustness(self) -> Vec<Vec<f64>> {
        let values = |worth| match worth {
            Worth::Robustness(values) => Some(values),
            _ => None,
        };
        self.worth.into_iter().filter_map(values).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bindings_are_saved_with_what_they_stand_for() {
        let pairs = vec![(0, Value::text("bob")), (3, Value::Int(-7))];
        let all = [
            Bindings::default(),
            Bindings::new(pairs.clone()),
            Bindings::infinitely(pairs),
            Bindings::infinitely(Vec::new()),
        ];
        for bindings in all {
            let mut saved = Vec::new();
            bindings.save(&mut saved);
            let (mut rest, mut short) = (saved.as_slice(), &saved[..saved.len() - 1]);
            let loaded = Bindings::load(&mut rest).unwrap();
            assert_eq!((&loaded, loaded.infinite(), rest.len()), (&bindings, bindings.infinite(), 0));
            assert!(Bindings::load(&mut short).is_err());
        }
    }
}

//! Verdicts about every execution that imprecise timestamps allow: what [`check`](mod@crate::check) answers where it is told how far
//! clocks are off ([`CheckOptions::clock_error`](crate::check::CheckOptions::clock_error)).

mod judge;
mod read;

pub(crate) use judge::check;
pub use tw_engine_dense::{Label, Outcome};

use crate::Specification;
use tw_core::{Time, Value, duration};
use tw_engine_dense::Blocked;
use tw_ir::Root;
use tw_trace::Stamp;

/// How far timestamps may be off, before and after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClockError {
    /// All by up to this many nanoseconds.
    Same(Time),
    /// Each by what this column says, in the trace's unit.
    Column(String),
}

impl std::fmt::Display for ClockError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ClockError::Same(error) => f.write_str(&duration(*error)),
            ClockError::Column(name) => write!(f, "column {name}"),
        }
    }
}

/// What is known about the executions that imprecise timestamps allow.
#[derive(Clone, Debug)]
pub struct Guarantee {
    /// The answer.
    pub kind: Outcome,
    /// How far timestamps may be off.
    pub clock_error: ClockError,
    /// With `by`, the column and its first value that the answer is due to.
    pub due_to: Option<(String, Value)>,
    /// Unless the answer is about all executions: the subformula that prevents that.
    pub blocked: Option<Obstacle>,
    /// For a property `G φ`, the first stretches of instants at which φ fails: on every execution if the property is
    /// violated on all of them, on some if on some.
    pub instants: Vec<Stretch>,
    /// How many there are in all.
    pub instant_count: usize,
}

impl Guarantee {
    /// A sentence for people.
    pub fn sentence(&self) -> String {
        let executions = match &self.clock_error {
            ClockError::Same(error) => format!("execution that timestamps ± {} allow", duration(*error)),
            ClockError::Column(name) => format!("execution that timestamps ± `{name}` allow"),
        };
        let mut text = match self.kind {
            Outcome::SatisfiedForAll => format!("holds on every {executions}"),
            Outcome::SatisfiedForSome => format!("holds on some {executions}; perhaps not on all"),
            Outcome::ViolatedForAll => format!("fails on every {executions}"),
            Outcome::ViolatedForSome => format!("fails on some {executions}; perhaps not on all"),
            Outcome::NoGuarantee => format!("no guarantee about any {executions}"),
        };
        if let Some((column, value)) = &self.due_to {
            text.push_str(&format!(" (for {column} = {value})"));
        }
        if let Some(blocked) = &self.blocked {
            text.push_str(&format!(", because of {}", blocked.sentence()));
        }
        text
    }
}

/// A subformula that prevents a guarantee.
#[derive(Clone, Debug)]
pub struct Obstacle {
    /// In the user's own words.
    pub formula: String,
    /// Whether it is its negation that does.
    pub negated: bool,
    /// What is wrong with it.
    pub why: &'static str,
    /// File (`<formula>` with `-e`), line and column where it is written, if it is.
    pub place: Option<(String, u64, u64)>,
}

impl Obstacle {
    fn new(spec: &Specification, blocked: Blocked) -> Obstacle {
        let place = spec.span(blocked.node).map(|span| {
            let source = spec.sources.get(span.source);
            let before = &source.text[..span.start as usize];
            let column = before.rsplit('\n').next().map_or(0, |last| last.chars().count());
            (source.name.clone(), before.matches('\n').count() as u64 + 1, column as u64 + 1)
        });
        let formula = spec.words(blocked.node);
        Obstacle { formula, negated: blocked.negated, why: blocked.why.text(), place }
    }

    /// The formula and what is wrong with it.
    pub fn sentence(&self) -> String {
        let not = if self.negated { "the negation of " } else { "" };
        format!("{not}`{}`: {}", self.formula, self.why)
    }
}

/// The instants between two ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stretch {
    /// Lower end, and whether it lies outside.
    pub from: (Stamp, bool),
    /// Upper end, and whether it lies outside.
    pub to: (Stamp, bool),
}

impl std::fmt::Display for Stretch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (open, close) = (if self.from.1 { '(' } else { '[' }, if self.to.1 { ')' } else { ']' });
        write!(f, "{open}{}, {}{close}", self.from.0.format(), self.to.0.format())
    }
}

/// What a verdict on imprecise timestamps would guarantee, by the form of the formula alone.
#[derive(Clone, Debug)]
pub struct ClockLabels {
    /// The formula that is reported at every instant: φ for a property `G φ`, else the property itself.
    pub formula: String,
    /// Whether the property is `G φ`.
    pub always: bool,
    /// On which executions it holds if it is true of the relaxed trace.
    pub holds: Result<Label, Obstacle>,
    /// On which it fails if it is false.
    pub fails: Result<Label, Obstacle>,
}

pub(crate) fn labels(spec: &Specification, root: &Root) -> ClockLabels {
    let (formula, always) = tw_engine_dense::reported(&spec.program, root.node);
    let label = |negated| {
        tw_engine_dense::label(&spec.program, formula, negated)
            .map_err(|blocked| Obstacle::new(spec, blocked))
    };
    ClockLabels { formula: spec.words(formula), always, holds: label(false), fails: label(true) }
}

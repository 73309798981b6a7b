//! Parametric monitors, resolved: what their events read from a trace, what they bind, and what a binding's events may do.
//!
//! "RV-Monitor: Efficient Parametric Runtime Verification with Simultaneous Properties" gives each binding of the parameters a
//! trace of its own, the events that bind nothing else, and runs a plain monitor on it.

use crate::ere::{EreId, Eres};
use crate::{ArgumentKey, NodeId, Program, SlotId};
use std::sync::Arc;
use tw_diag::Span;

/// How bad a report is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[allow(missing_docs)]
pub enum Severity {
    #[default]
    Error,
    Warning,
    Suggestion,
}

impl Severity {
    /// Every one with its name.
    pub const ALL: [(&'static str, Severity); 3] =
        [("error", Severity::Error), ("warning", Severity::Warning), ("suggestion", Severity::Suggestion)];

    /// The word for it.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, severity)| *severity == self).map_or("error", |(name, _)| name)
    }
}

/// A monitor. Parameters, events and states are numbered in the order of their declaration.
#[derive(Clone, Debug)]
pub struct Monitor {
    /// Its name.
    pub name: String,
    /// The sentence, if given.
    pub title: Option<String>,
    /// How bad its reports are.
    pub severity: Severity,
    /// Whether a binding's trace is its whole slice, rather than what follows its first creation event.
    pub strict: bool,
    /// Whether `equal` was written.
    pub equal: bool,
    /// Names of the parameters.
    pub parameters: Vec<String>,
    /// Its events.
    pub events: Vec<Event>,
    /// What ends values.
    pub ends: Vec<End>,
    /// What bindings have to satisfy.
    pub constraint: Option<Condition>,
    /// What the events of a binding may do.
    pub formalism: Formalism,
    /// What is reported, in the order written; never empty.
    pub reports: Vec<Report>,
    /// Where its name is written.
    pub span: Span,
}

/// An event of a monitor: events of the trace, and which parameters their arguments are.
#[derive(Clone, Debug)]
pub struct Event {
    /// Its name inside the monitor.
    pub name: String,
    /// Whether it was declared a creation event.
    pub creation: bool,
    /// How it is read.
    pub source: Source,
    /// Where its name is written.
    pub span: Span,
}

/// What makes a value dead: the same value later is another object.
#[derive(Clone, Debug)]
pub struct End {
    /// How it is read.
    pub source: Source,
    /// The parameters whose values end.
    pub parameters: Vec<u32>,
    /// The event of the monitor that it is, if it is one: it happens first.
    pub event: Option<usize>,
    /// Where its name is written.
    pub span: Span,
}

/// Where the events of a trace are read, and what they bind.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// The event's name in the trace.
    pub name: String,
    /// `What::Tuples` in the program's slots; without columns it is `What::Event`.
    pub slot: SlotId,
    /// The parameter that each column binds. One that stands there twice needs equal values.
    pub columns: Vec<u32>,
    /// The arguments that the columns are.
    pub keys: Vec<ArgumentKey>,
    /// What has to hold at the position.
    pub when: Option<Condition>,
}

impl Source {
    /// The parameters bound, ascending, each once.
    pub fn parameters(&self) -> Vec<u32> {
        let mut parameters = self.columns.clone();
        parameters.sort_unstable();
        parameters.dedup();
        parameters
    }
}

/// A formula of the program about a position (`when`) or about a binding alone (`where`).
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// The formula.
    pub node: NodeId,
    /// The variables in it, by number, and the parameters that they are.
    pub variables: Vec<(u32, u32)>,
}

/// What the events of one binding may do.
#[derive(Clone, Debug)]
pub enum Formalism {
    /// A language of event sequences.
    Ere {
        /// Holds the expression.
        eres: Eres,
        /// The expression.
        root: EreId,
    },
    /// A machine, its first state initial; `targets[state][event]`, `None` where the event fails.
    Fsm {
        /// Names of the states.
        states: Vec<String>,
        /// Where each event leads.
        targets: Vec<Vec<Option<u32>>>,
    },
    /// A formula whose propositions are the events, of which one happens at each position.
    Ltl {
        /// Holds the formula; slot by slot its propositions are events of the monitor.
        program: Arc<Program>,
        /// The formula.
        goal: NodeId,
        /// Which event each slot of the program is.
        slots: Vec<u32>,
    },
    /// Every event is a match.
    Raw,
}

/// What a binding's trace may come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Category {
    /// The trace is in the language.
    Match,
    /// No continuation is in the language; the machine has no such move.
    Fail,
    /// No continuation satisfies the formula, or the trace is over and does not.
    Violation,
    /// Every continuation satisfies the formula.
    Validation,
    /// The machine is in this state.
    State(u32),
}

impl Category {
    /// Whether it is told once per binding, rather than at each event after which it holds.
    pub fn once(self) -> bool {
        matches!(self, Category::Fail | Category::Violation | Category::Validation)
    }
}

/// A category that is reported.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Which.
    pub category: Category,
    /// Its name, as written.
    pub name: String,
    /// What is said; the title where nothing else is.
    pub text: Vec<Piece>,
}

/// A piece of a text.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    /// As it stands.
    Text(String),
    /// The value of a parameter, or `_`.
    Parameter(u32),
}

impl Monitor {
    /// Whether one argument of a trace event is bound to different parameters by different events, so that bindings are
    /// pairs of things of one kind.
    pub fn pairs(&self) -> bool {
        let bound = |event: &Event| {
            let source = &event.source;
            let keys = source.keys.iter().cloned().zip(source.columns.iter().copied());
            keys.map(|(key, parameter)| (source.name.clone(), key, parameter)).collect::<Vec<_>>()
        };
        let all: Vec<_> = self.events.iter().flat_map(bound).collect();
        all.iter()
            .any(|(name, key, own)| all.iter().any(|(n, k, other)| n == name && k == key && own != other))
    }

    /// Whether two parameters never have one value.
    pub fn injective(&self) -> bool {
        !self.equal && self.pairs()
    }

    /// Whether a category is reported.
    pub fn reports(&self, category: Category) -> bool {
        self.reports.iter().any(|report| report.category == category)
    }
}

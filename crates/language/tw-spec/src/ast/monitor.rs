//! Parametric monitors as written: `monitor NAME(parameters) { … }`.

use super::{Argument, Comment, ExprId, Ident};
use tw_diag::Span;
use tw_ir::monitor::Severity;

/// A `monitor` block.
#[derive(Clone, Debug)]
pub struct Monitor {
    /// Its name.
    pub name: Ident,
    /// What its events bind.
    pub parameters: Vec<Ident>,
    /// The sentence.
    pub title: Option<String>,
    /// How bad a report is, where that is said.
    pub severity: Option<Severity>,
    /// Whether a binding's trace is its whole slice.
    pub strict: bool,
    /// Whether two parameters may have one value where one trace event is several of its events.
    pub equal: bool,
    /// What stands in the block, in the order written.
    pub items: Vec<Item>,
    /// Comments before the `}`.
    pub trailing_comments: Vec<Comment>,
}

/// One line of a block.
#[derive(Clone, Debug)]
pub struct Item {
    /// What it says.
    pub kind: ItemKind,
    /// From the first token to the `;`.
    pub span: Span,
    /// Comments before it and inside it.
    pub comments: Vec<Comment>,
    /// Comment on the line of its `;`.
    pub trailing: Option<Comment>,
    /// Whether a blank line stood before it.
    pub blank_before: bool,
}

/// What a line of a block says.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum ItemKind {
    /// `event useI(i) = next(iterator: i) when thread > 0;`, perhaps a `creation`.
    Event { creation: bool, event: Event },
    /// `end free(m);`
    End(Event),
    /// `where m != c;`
    Where(ExprId),
    /// `ere : …;`
    Ere(Ere),
    /// `fsm : …;`
    Fsm(Vec<State>),
    /// `ltl : …;`
    Ltl(ExprId),
    /// `on match "…";`
    On { category: Ident, text: Option<Text> },
    /// Could not be read; already reported.
    Error,
}

/// A text with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Text {
    /// Without quotes, escapes resolved.
    pub text: String,
    /// With quotes.
    pub span: Span,
}

/// An event of a monitor.
#[derive(Clone, Debug)]
pub struct Event {
    /// Its name inside the monitor.
    pub name: Ident,
    /// The parameters that it binds.
    pub parameters: Vec<Ident>,
    /// Which event of the trace it is, where that is said: its name and arguments.
    pub source: Option<(Ident, Vec<Argument>)>,
    /// What has to hold there.
    pub when: Option<ExprId>,
}

/// A state of an `fsm`.
#[derive(Clone, Debug)]
pub struct State {
    /// Its name.
    pub name: Ident,
    /// Event and target of each move.
    pub moves: Vec<(Ident, Ident)>,
}

/// An extended regular expression: a flat arena, operands before operators, the root last.
#[derive(Clone, Debug, Default)]
pub struct Ere {
    /// All of its parts.
    pub parts: Vec<EreKind>,
}

/// A part of an extended regular expression; numbers are places in [`Ere::parts`].
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum EreKind {
    Epsilon,
    Event(Ident),
    Concat(u32, u32),
    Or(u32, u32),
    And(u32, u32),
    Not(u32),
    Star(u32),
    Plus(u32),
    Optional(u32),
}

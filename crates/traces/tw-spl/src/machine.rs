//! A program ready to run: slots, code and locations.
//!
//! Every scalar, every element of a bounded array and the number of messages in every channel has a *slot*, an `i64`
//! (booleans are 0 and 1), and the slots in order are the first columns of the trace. A process is a list of locations;
//! standing at one, it may take one of its transitions.

use std::sync::Arc;
use tw_diag::{Sources, Span};

/// Kind of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An integer variable, or the number of messages in a channel.
    Integer,
    /// A boolean variable, or whether control is at a label.
    Boolean,
}

/// A column of the trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// `r`, `at_l3`, `Sender.seq`, `fork[1]`.
    pub name: Arc<str>,
    /// What it holds.
    pub kind: Kind,
}

/// An instruction for the stack.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Op {
    Const(i64),
    Load(u32),
    /// The index is on the stack.
    Element(u32),
    /// The index in a rule that fills an array.
    Parameter,
    Not,
    Negate,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    /// Goes to the target and leaves the value if it is false; takes it otherwise.
    UnlessTrue(u32),
    /// The same if it is true.
    UnlessFalse(u32),
}

/// A range of [`Program::ops`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Code {
    pub start: u32,
    pub end: u32,
}

#[derive(Clone, Debug)]
pub(crate) enum Target {
    Slot(u32),
    Element { array: u32, index: Code, span: Span },
}

#[derive(Clone, Debug)]
pub(crate) enum Action {
    /// Only moves.
    Go,
    /// Moves to the transition's `next` if the test holds, to `otherwise` if not.
    Test {
        test: Code,
        otherwise: u32,
    },
    Assign(Vec<(Target, Code)>),
    Request(Target),
    Release(Target),
    Send {
        channel: u32,
        values: Vec<Code>,
    },
    Receive {
        channel: u32,
        targets: Vec<Target>,
    },
}

#[derive(Clone, Debug)]
pub(crate) struct Transition {
    pub guards: Vec<Code>,
    /// Positions to wait once it is enabled otherwise.
    pub after: Option<u64>,
    pub action: Action,
    pub next: u32,
    pub span: Span,
}

/// Where control of a process may stand.
#[derive(Clone, Debug, Default)]
pub(crate) struct Location {
    pub transitions: Vec<Transition>,
    /// Whether an `after` here can become disabled while control stays: its clock has to be looked at every position.
    pub watched: bool,
    /// Labels that are here, as indices of [`Program::labels`].
    pub labels: Vec<u32>,
}

#[derive(Clone, Debug)]
pub(crate) struct Process {
    pub name: String,
    pub locations: Vec<Location>,
}

#[derive(Clone, Debug)]
pub(crate) struct Label {
    pub name: String,
    pub process: u32,
}

#[derive(Clone, Debug)]
pub(crate) struct Array {
    pub name: String,
    pub low: i64,
    /// Number of elements and the slot of the first; without bound they live elsewhere.
    pub bounded: Option<(u32, u32)>,
    /// Value of an element that was never assigned, a function of the index; 0 without.
    pub rule: Option<Code>,
    /// Whether anything reads it. If not, nobody can tell what was assigned, and nothing is kept.
    pub read: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Channel {
    pub name: String,
    /// Slot of the number of messages.
    pub slot: u32,
    /// Values in a message.
    pub arity: usize,
    pub capacity: Option<i64>,
    pub reliable: bool,
}

/// A parsed and checked program. It exists even when there were errors; then it cannot be run.
#[derive(Clone, Debug, Default)]
pub struct Program {
    pub(crate) name: Option<String>,
    pub(crate) sources: Sources,
    pub(crate) broken: bool,
    pub(crate) ops: Vec<Op>,
    /// The text of each instruction, for errors.
    pub(crate) spans: Vec<Span>,
    /// Initial values of slots, where not 0.
    pub(crate) initial: Vec<(u32, Code)>,
    pub(crate) slots: u32,
    pub(crate) arrays: Vec<Array>,
    pub(crate) channels: Vec<Channel>,
    pub(crate) processes: Vec<Process>,
    pub(crate) labels: Vec<Label>,
    pub(crate) columns: Vec<Column>,
}

impl Program {
    /// The name in the header.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The text, for rendering diagnostics.
    pub fn sources(&self) -> &Sources {
        &self.sources
    }

    /// The columns of its traces: variables in the order of the text, then `at_` and every label.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Names of the processes.
    pub fn processes(&self) -> impl Iterator<Item = &str> {
        self.processes.iter().map(|process| process.name.as_str())
    }

    /// Names of the arrays that no column shows, because they have no end.
    pub fn hidden(&self) -> impl Iterator<Item = &str> {
        self.arrays.iter().filter(|array| array.bounded.is_none()).map(|array| array.name.as_str())
    }
}

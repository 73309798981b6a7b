//! State-spaces: what mergers make of traces, what files hold, and what model checkers ask.
//!
//! A [`Model`] is a set of numbered states, each a valuation of a few [`Variable`]s, initial states, and transitions as
//! compressed sparse rows ([`Graph`]): four bytes a transition and four a state, so that ten million states with fifty
//! million transitions take a quarter of a gigabyte. A merged model also has a [`Record`]: how often each state and
//! transition was seen, and where first and last.

mod codes;
mod columns;
mod components;
pub mod formats;
mod graph;
mod label;
pub mod picture;
mod prune;
mod record;
pub mod symbolic;
mod variable;

pub use codes::Codes;
pub use formats::{FORMATS, ModelError, ModelFormat};
pub use graph::{Edge, Graph, State};
pub use record::{Place, Record, Seen};
pub use symbolic::Symbolic;
pub use variable::{Cells, Domain, Variable};

/// A state-space.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// What is known of each state. Merged models have `state` first and, where instants are kept, `time` second.
    pub variables: Vec<Variable>,
    /// Initial states, ascending.
    pub initial: Vec<State>,
    /// Transitions.
    pub graph: Graph,
    /// What traces said of it; `None` for models that were not merged.
    pub record: Option<Record>,
    /// Formulas that stand in the model's file.
    pub specifications: Vec<Written>,
    /// What holds again and again on every path that counts (`FAIRNESS`), as written.
    pub fairness: Vec<String>,
    /// How it was merged, if it was.
    pub merged: Option<Merged>,
    /// The program that its states are found by, where they are too many to be listed unasked; there are none here then.
    pub implicit: Option<formats::smv::Implicit>,
}

/// A formula that stands in a model's file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// Whether it is of linear time (`LTLSPEC`) rather than of branching time (`SPEC`, `CTLSPEC`).
    pub linear: bool,
    /// Its text, in the language of specifications.
    pub text: String,
    /// The line it begins on.
    pub line: u64,
}

/// How a model was merged: enough to find its paths in the traces again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Merged {
    /// What was kept: `state`, `time`, `change`, `history 2`, `tree`.
    pub keep: String,
    /// What a path does where its traces end: `dead`, `all`, `none`, `state`.
    pub ends: String,
    /// How traces were read and states named, as options of the command line, for the tool that wrote the model.
    pub options: Vec<(String, String)>,
}

impl Model {
    /// Number of states.
    pub fn states(&self) -> usize {
        self.graph.states()
    }

    /// The variable of that name.
    pub fn variable(&self, name: &str) -> Option<usize> {
        self.variables.iter().position(|variable| variable.name == name)
    }
}

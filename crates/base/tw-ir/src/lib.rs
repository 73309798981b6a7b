//! Typed formulas, resolved and shared: what engines read.
//!
//! A [`Program`] is a hash-consed DAG in a flat arena. Children always stand before their parents, so every
//! analysis and every evaluation is a loop over indices; nothing recurses on the depth of a formula.
//! This crate never reads files.

mod alone;
pub mod chart;
mod dag;
mod display;
pub mod ere;
mod fingerprint;
mod fragment;
mod interval;
pub mod monitor;
mod operators;
mod requirement;
mod slot;
mod spelling;
mod stream;
mod template;
mod window;

pub use alone::{Alone, alone};
pub use dag::{
    Aggregate, ArithmeticOp, CompareOp, Constant, Dag, Function, Node, NodeId, Pattern, PatternArgument,
    SetItem, Tally,
};
pub use display::{display, display_slot, display_with};
pub use fingerprint::{Fingerprint, fingerprint, fingerprints};
pub use fragment::{Fragment, fragment};
pub use interval::{Bound, Clock, Interval, IntervalError, Ticks};
pub use operators::{Applied, Form, Row, Temporal, Way};
pub use requirement::Requirement;
pub use slot::{ArgumentKey, Expect, Measure, Path, PathStep, Slot, SlotId, Timing, What};
pub use spelling::{binding, is_keyword, quote};
pub use stream::{Shift, Stream, StreamType};
pub use template::{MOST_PLACEHOLDERS, Piece, Take, Template, TemplateError, TextEvent};
pub use window::{Over, Window};

use tw_diag::Span;

/// How the end of the trace is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Semantics {
    /// `X` is false at the end.
    #[default]
    Finite,
    /// At the last position `X φ` and `N φ` mean φ there.
    RepeatLast,
    /// True / false / unknown over all infinite continuations.
    Ltl3,
}

impl Semantics {
    /// Every semantics with its name on the command line.
    pub const ALL: [(&'static str, Semantics); 3] =
        [("finite", Semantics::Finite), ("repeat-last", Semantics::RepeatLast), ("ltl3", Semantics::Ltl3)];

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, s)| *s == self).map_or("finite", |(n, _)| n)
    }
}

/// A property or query of the specification.
#[derive(Clone, Debug)]
pub struct Root {
    /// Its name; with `-e` the formula's text.
    pub name: String,
    /// The sentence in quotes after the name, if given.
    pub title: Option<String>,
    /// Parts of the trace that it is asked of one by one.
    pub division: Division,
    /// Property (a formula) or query (an experiment).
    pub kind: RootKind,
    /// The formula.
    pub node: NodeId,
    /// Where it is written.
    pub span: Span,
}

impl Root {
    /// A property that is written nowhere: of tests, examples, and programs made by programs.
    pub fn property(name: impl Into<String>, node: NodeId) -> Self {
        Self::bare(RootKind::Property, name.into(), node)
    }

    /// A query that is written nowhere, of the whole trace.
    pub fn query(name: impl Into<String>, node: NodeId) -> Self {
        Self::bare(RootKind::Query, name.into(), node)
    }

    fn bare(kind: RootKind, name: String, node: NodeId) -> Self {
        Root { name, title: None, division: Division::default(), kind, node, span: Span::default() }
    }
}

/// How a query divides a trace; each part is a trace of its own, in which the query is asked at the first position.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Division {
    /// `by user`: the positions that share a value of this column. Those where it is null are in no part.
    pub by: Option<Path>,
    /// `every 1m`: windows of this length, aligned to its multiples.
    pub every: Option<Bound>,
}

impl Division {
    /// Whether the trace is left whole.
    pub fn is_whole(&self) -> bool {
        *self == Division::default()
    }
}

/// What is asked of a root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RootKind {
    /// A verdict.
    Property,
    /// A value.
    Query,
}

/// A whole specification, lowered.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// All formulas and terms.
    pub dag: Dag,
    /// Properties and queries, in the order written.
    pub roots: Vec<Root>,
    /// What has to be read from the trace.
    pub slots: Vec<Slot>,
    /// The slots of names that stand in argument places of event patterns, ascending: where the trace has no such column, a
    /// variable was meant that nothing binds.
    pub arguments: Vec<SlotId>,
    /// Events that are templates of texts, in the order written: readers find them, and their placeholders are columns.
    pub templates: Vec<TextEvent>,
    /// Streams, in the order written: columns that equations define.
    pub streams: Vec<Stream>,
    /// Requirements, in the order written: they are no roots, but their queries can be made such.
    pub requirements: Vec<Requirement>,
    /// Parametric monitors, in the order written.
    pub monitors: Vec<monitor::Monitor>,
    /// For each node the place where the user wrote it first, if it was written at all.
    pub spans: Vec<Option<Span>>,
}

impl Program {
    /// The predicates that read slots (`p`, `x > 3`, `name matches "…"`): truth values that one position alone
    /// decides, computed once per position before an engine runs, ascending. Connectives over them and the
    /// constants `true`, `false`, `first`, `last` are the engine's business.
    pub fn atoms(&self) -> Vec<NodeId> {
        fragment::atoms(self)
    }

    /// The terms whose values queries collect (`e` in `φ : e`, `c` in `!{c} ψ` and `ψ ?? c`), ascending; constants are
    /// not among them. They are computed once per position before an engine runs.
    pub fn terms(&self) -> Vec<NodeId> {
        fragment::terms(self)
    }

    /// The event patterns with variables that are in use, ascending: of each, the tuples at every position are read before
    /// an engine runs.
    pub fn patterns(&self) -> Vec<NodeId> {
        let roots: Vec<NodeId> = self.roots.iter().map(|root| root.node).collect();
        let mut nodes = self.reachable(&roots);
        nodes.retain(|&id| matches!(self.dag.node(id), Node::Pattern(_)));
        nodes
    }

    /// Of a root `G φ` without interval, also under outer `forall`s and with more below the `G`: the variables in the order
    /// of the quantifiers, and what stands below. Its violations are positions and values of these.
    pub fn invariant(&self, root: NodeId) -> Option<(Vec<u32>, NodeId)> {
        let (mut variables, mut always, mut at) = (Vec::new(), false, root);
        loop {
            at = match self.dag.node(at) {
                Node::Forall(variable, body) => {
                    variables.push(variable);
                    body
                }
                Node::Unary(Temporal::Globally, None, body) if !always => {
                    always = true;
                    body
                }
                _ => return always.then_some((variables, at)),
            };
        }
    }

    /// Lets a trace do without what no root and no monitor reads: its slots need not be there.
    pub fn drop_unused(&mut self) {
        let required = self.requirements.iter().map(|requirement| requirement.root.node);
        let streams = self.streams.iter().map(|stream| stream.node).chain(required);
        let mut roots: Vec<NodeId> = self.roots.iter().map(|root| root.node).chain(streams).collect();
        let mut used = vec![false; self.slots.len()];
        for slot in &self.slots {
            match &slot.what {
                What::Shift(shift) => used[shift.slot as usize] = true,
                What::Window(window) => roots.extend(window.parts()),
                _ => {}
            }
        }
        for monitor in &self.monitors {
            let ends = monitor.ends.iter().map(|end| &end.source);
            for source in monitor.events.iter().map(|event| &event.source).chain(ends) {
                used[source.slot as usize] = true;
                roots.extend(source.when.as_ref().map(|when| when.node));
            }
        }
        for id in self.reachable(&roots) {
            let slot = match self.dag.node(id) {
                Node::Slot(slot) | Node::Truth(slot) => Some(slot),
                _ => self.pattern_slot(id),
            };
            slot.into_iter().for_each(|slot| used[slot as usize] = true);
        }
        self.slots.iter_mut().zip(used).for_each(|(slot, used)| slot.declared |= !used);
    }

    /// The slots that timestamps fill, with what they hold.
    pub fn timings(&self) -> impl Iterator<Item = (SlotId, &Timing)> {
        self.slots.iter().enumerate().filter_map(|(slot, of)| match &of.what {
            What::Timing(timing) => Some((slot as SlotId, timing)),
            _ => None,
        })
    }

    /// The slots of columns that are computed from others: streams, values at other positions, rolling windows.
    pub fn derived(&self) -> impl Iterator<Item = SlotId> {
        let slots = self.slots.iter().enumerate();
        let computed = |what: &What| matches!(what, What::Stream { .. } | What::Shift(_) | What::Window(_));
        slots.filter(move |(_, slot)| computed(&slot.what)).map(|(at, _)| at as SlotId)
    }

    /// The rolling windows, with their slots.
    pub fn windows(&self) -> impl Iterator<Item = (SlotId, &Window)> {
        self.slots.iter().enumerate().filter_map(|(slot, of)| match &of.what {
            What::Window(window) => Some((slot as SlotId, window)),
            _ => None,
        })
    }

    /// Whether there are such columns.
    pub fn derives(&self) -> bool {
        self.derived().next().is_some()
    }

    /// The slot that an event pattern with variables is read from.
    pub fn pattern_slot(&self, node: NodeId) -> Option<SlotId> {
        match self.dag.node(node) {
            Node::Pattern(index) => self.dag.patterns.get(index as usize).map(|pattern| pattern.slot),
            _ => None,
        }
    }

    /// The formulas that queries rest on: those that stand directly below an experiment, or are a query themselves.
    pub fn guards(&self) -> Vec<NodeId> {
        fragment::guards(self)
    }

    /// The nodes reachable from the given ones, ascending (children before parents).
    pub fn reachable(&self, from: &[NodeId]) -> Vec<NodeId> {
        fragment::reachable(self, from, |_| false)
    }

    /// The same, but not what stands below a node that is a `leaf`.
    pub fn reachable_until(&self, from: &[NodeId], leaf: impl Fn(NodeId) -> bool) -> Vec<NodeId> {
        fragment::reachable(self, from, leaf)
    }
}

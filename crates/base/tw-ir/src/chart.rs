//! Sequence charts, resolved: what is asked of the sendings and receipts of a trace.
//!
//! "Monitoring Systems with Extended Live Sequence Charts": a universal chart is a prechart and a main chart. It is *necessary*
//! that each prechart is followed by the main chart, or the prechart is *sufficient* for it: each main chart has one before it.
//! A [`Check`] is one such question, the leaf of a root `G chart`: it is false where an event settles a violation, and what is
//! pending at the end decides the rest.

mod ltl;

use crate::{Node, NodeId, Program};
use std::sync::Arc;
use tw_diag::Span;

/// Whether a message is sent or received.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Direction {
    Send,
    Recv,
}

impl Direction {
    /// Every one with its word.
    pub const ALL: [(&'static str, Direction); 2] = [("send", Direction::Send), ("recv", Direction::Recv)];

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Direction::Send => "send",
            Direction::Recv => "recv",
        }
    }
}

/// What the prechart is to the main chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Condition {
    /// Each prechart is followed by the main chart.
    Necessary,
    /// Each main chart is preceded by the prechart.
    Sufficient,
}

impl Condition {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Condition::Necessary => "necessary",
            Condition::Sufficient => "sufficient",
        }
    }
}

/// What "followed" and "preceded" mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Reading {
    /// Directly, among the events of both charts: the language definition.
    #[default]
    Segment,
    /// Once in the whole trace: what the translation to linear temporal logic says.
    Ltl,
    /// Somewhere later, or earlier, among the events of both charts.
    Precedes,
}

impl Reading {
    /// Every one with its word.
    pub const ALL: [(&'static str, Reading); 3] =
        [("segment", Reading::Segment), ("ltl", Reading::Ltl), ("precedes", Reading::Precedes)];

    /// The word for it.
    pub fn word(self) -> &'static str {
        Self::ALL.iter().find(|(_, reading)| *reading == self).map_or("segment", |(word, _)| word)
    }
}

/// Which main charts answer the precharts of an iterated chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Matching {
    /// As published: as many, and one after each.
    #[default]
    Paper,
    /// To each prechart a main chart of its own.
    Injective,
}

impl Matching {
    /// Every one with its word.
    pub const ALL: [(&'static str, Matching); 2] =
        [("paper", Matching::Paper), ("injective", Matching::Injective)];
}

/// An event of a chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Sent or received.
    pub direction: Direction,
    /// What.
    pub message: Arc<str>,
    /// The lifeline that it happens on.
    pub lifeline: Arc<str>,
    /// The lifeline at the other end of the message.
    pub other: Arc<str>,
    /// Where the message is written.
    pub span: Span,
}

/// Events of a basic chart at most: cuts are the bits of a word.
pub const MOST_EVENTS: usize = 64;

/// One question about a prechart and a main chart. Events are numbered by one order that both allow, the prechart's first.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// What is asked.
    pub condition: Condition,
    /// How it is read.
    pub reading: Reading,
    /// Of an iterated chart: then executions are counted, whatever the reading.
    pub iterate: Option<Matching>,
    /// Whether what is pending at the end is open, not violated.
    pub open_end: bool,
    /// The events, those of the prechart first.
    pub events: Vec<Event>,
    /// How many of them are the prechart's.
    pub pre: usize,
    /// Of each event those of its own basic chart that directly precede it: bit i is the i-th event of that basic chart.
    pub before: Vec<u64>,
    /// The declarations of the prechart and of the main chart: names and parts.
    pub parts: [(Arc<str>, &'static str); 2],
}

impl Check {
    /// Events of the main chart.
    pub fn main(&self) -> usize {
        self.events.len() - self.pre
    }
}

impl Program {
    /// The check that a root is, with the number of its chart, and the formulas of its events in their order.
    pub fn chart(&self, root: NodeId) -> Option<(u32, &Check, Vec<NodeId>)> {
        let (variables, body) = self.invariant(root)?;
        let Node::Chart(number, mut chain) = self.dag.node(body) else { return None };
        let check = self.dag.charts.get(number as usize).filter(|_| variables.is_empty())?;
        let mut nodes = Vec::with_capacity(check.events.len());
        // The chain holds the last event uppermost.
        for _ in 1..check.events.len() {
            let Node::Or(rest, event) = self.dag.node(chain) else { return None };
            nodes.push(event);
            chain = rest;
        }
        nodes.push(chain);
        nodes.reverse();
        Some((number, check, nodes))
    }
}

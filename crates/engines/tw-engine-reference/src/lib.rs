//! The definition of every operator, executed naively.
//!
//! This crate is the meaning of the language: it is written to be read beside the language reference, and other
//! engines are compared with it. Each node of the formula gets one value per position, children first. A temporal
//! operator walks from each position until its definition is decided, so a formula of size m on a trace of length n
//! costs up to O(m·n²). Nothing is shared with the fast paths that other engines use: predicates too are evaluated
//! here, from the values of the trace.
//!
//! ```
//! use tw_core::Bits;
//! use tw_engine_reference::Reference;
//! use tw_ir::{Node, Path, Program, Root, Slot, Temporal, What};
//! use tw_monitor::{Engine, EvaluateOptions, Trace};
//!
//! // F p, on a trace where p holds at the last of three positions
//! let mut program = Program::default();
//! let what = What::Proposition(Path::field("p"));
//! program.slots.push(Slot { what, declared: false, span: Default::default() });
//! let p = program.dag.add(Node::Truth(0));
//! let node = program.dag.add(Node::Unary(Temporal::Finally, None, p));
//! let root = Root::property("F p", node);
//! program.roots.push(root);
//!
//! let column: Bits = [false, false, true].into_iter().collect();
//! let trace = Trace { len: 3, atoms: vec![column], ..Trace::default() };
//! let mut evaluator = Reference.plan(&program, &EvaluateOptions::default()).unwrap();
//! assert!(evaluator.evaluate(&trace, 10).unwrap()[0].holds.get(0));
//! ```

mod chart;
mod first_order;
mod query;
mod temporal;
mod term;

pub use query::ReferenceQueries;

use first_order::{Guards, Tables};
use std::collections::BTreeSet;
use temporal::{Places, Time};
use tw_core::{Bits, Column, Position, Value};
use tw_ir::{Clock, Interval, Node, NodeId, Program, Semantics, Temporal, Ticks};
use tw_monitor::{
    Answer, Bindings, Engine, EvaluateOptions, Evaluator, PlannedEvaluator, Sink, Trace, Unsupported, Wanted,
};

/// The reference engine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reference;

impl Engine for Reference {
    fn name(&self) -> &'static str {
        "reference"
    }

    fn about(&self) -> &'static str {
        "the definition of every operator, executed naively; quadratic in the trace, for tests"
    }

    fn plan<'p>(&self, program: &'p Program, options: &EvaluateOptions) -> PlannedEvaluator<'p> {
        options.pointwise()?;
        if options.semantics == Semantics::Ltl3 {
            return Err(Unsupported {
                node: None,
                what: "three-valued verdicts (ltl3)".into(),
                help: Some("use ⟨semantics: finite⟩ or repeat-last".into()),
                exhausted: false,
            });
        }
        let roots: Vec<NodeId> = program.roots.iter().map(|root| root.node).collect();
        if let Some(chart) = program.roots.iter().find(|root| program.chart(root.node).is_some())
            && first_order::needed(program, &roots)
        {
            let what = "a chart beside quantified variables";
            return Err(Unsupported::construct(chart.node, what).help("use ⟨engine: auto⟩"));
        }
        let guards = Guards::new(program, &roots);
        for id in program.reachable(&roots) {
            let node = program.dag.node(id);
            if let Some(what) = refused(node) {
                return Err(Unsupported::construct(id, what));
            }
            if let Some((part, what, help)) = guards.refused(program, id) {
                return Err(Unsupported::construct(part, what).help(help));
            }
            if let Some(interval) = node.interval() {
                ticks(id, interval, options)?;
            }
        }
        Ok(Box::new(Definition { program, options: options.clone() }))
    }
}

/// Why the node is outside what this engine defines.
fn refused(node: Node) -> Option<&'static str> {
    match node {
        Node::Emit(..)
        | Node::Both(..)
        | Node::Either(..)
        | Node::Fails(..)
        | Node::NextMap { .. }
        | Node::UntilMap { .. }
        | Node::Collect(..)
        | Node::CollectWhile(..)
        | Node::Default(..) => Some("queries that return values"),
        _ => None,
    }
}

fn ticks(id: NodeId, interval: Interval, options: &EvaluateOptions) -> Result<Ticks, Unsupported> {
    let refuse = |what: String| Unsupported { node: Some(id), what, help: None, exhausted: false };
    if options.clock == Clock::Dense {
        return Err(refuse("intervals over continuous time (⟨clock: dense⟩)".into()));
    }
    interval.ticks(options.clock, options.unit).map_err(|error| refuse(format!("this interval: {error}")))
}

/// A program and how to read it.
struct Definition<'p> {
    program: &'p Program,
    options: EvaluateOptions,
}

impl Definition<'_> {
    /// The truth of each node that `wanted` rests on, at each position; empty for the others.
    fn truths(&self, trace: &Trace, wanted: &[NodeId]) -> Result<Vec<Vec<bool>>, Unsupported> {
        let dag = &self.program.dag;
        let needed = self.formulas(wanted);
        if needed.len().saturating_mul(trace.len) > self.options.memory_budget {
            return Err(Unsupported {
                node: None,
                what: format!(
                    "{} subformulas at {} positions within the memory budget",
                    needed.len(),
                    trace.len
                ),
                help: Some("the reference engine is for small traces: use ⟨engine: auto⟩".into()),
                exhausted: true,
            });
        }
        let atoms = self.program.atoms();
        let mut truths: Vec<Vec<bool>> = vec![Vec::new(); dag.len()];
        for id in needed {
            let node = dag.node(id);
            truths[id.index()] = if !term::is_predicate(node) {
                self.formula(trace, id, node, &truths)?
            } else if let Some(slots) = &trace.slots {
                self.predicate(trace.len, slots, id, &truths)?
            } else if let Some(bits) = atoms.binary_search(&id).ok().and_then(|index| trace.atoms.get(index))
            {
                (0..trace.len).map(|i| bits.get(i)).collect()
            } else {
                return Err(Unsupported {
                    node: Some(id),
                    what: "a predicate over temporal formulas without the values of its names".into(),
                    help: None,
                    exhausted: false,
                });
            };
        }
        Ok(truths)
    }

    /// The formulas that `wanted` rests on, ascending: predicates are taken as they are, and what stands inside
    /// their terms counts only if it is temporal.
    fn formulas(&self, wanted: &[NodeId]) -> BTreeSet<NodeId> {
        let dag = &self.program.dag;
        let mut seen: BTreeSet<NodeId> = wanted.iter().copied().collect();
        let mut todo: Vec<NodeId> = wanted.to_vec();
        while let Some(id) = todo.pop() {
            let given = |term: NodeId| {
                let parts = term::parts(self.program, term).into_iter();
                parts.filter(|&part| term::is_given(dag.node(part)))
            };
            let below: Vec<NodeId> = match dag.node(id) {
                node if term::is_predicate(node) => given(id).collect(),
                Node::Tally(_, _, value, formula) if value != formula => {
                    given(value).chain([formula]).collect()
                }
                node => node.children().collect(),
            };
            todo.extend(below.into_iter().filter(|&id| seen.insert(id)));
        }
        seen
    }

    /// The truth of a predicate at every position, from the values of its slots.
    fn predicate(
        &self,
        len: usize,
        slots: &[Column],
        id: NodeId,
        truths: &[Vec<bool>],
    ) -> Result<Vec<bool>, Unsupported> {
        let parts = term::parts(self.program, id);
        let at = |i| {
            let given = |part: NodeId| Ok(vec![Value::Bool(truths[part.index()][i])]);
            let cell = term::evaluate(self.program, slots, &parts, i, &given, &|_| Value::Null, false);
            cell.map(|values| term::holds(&values))
                .map_err(|message| Unsupported::construct(id, format!("a value at position {i}: {message}")))
        };
        (0..len).map(at).collect()
    }

    /// The truth of a formula at every position, from the truth of its parts.
    fn formula(
        &self,
        trace: &Trace,
        id: NodeId,
        node: Node,
        truths: &[Vec<bool>],
    ) -> Result<Vec<bool>, Unsupported> {
        if let Node::Chart(..) = node {
            let mut column = vec![true; trace.len];
            for judged in self.charts(trace, id, truths) {
                judged.violations.iter().for_each(|&at| column[at] = false);
            }
            return Ok(column);
        }
        let interval = node.interval().map(|interval| ticks(id, interval, &self.options)).transpose()?;
        let time = Time::new(trace, interval, self.options.clock).ok_or_else(|| Unsupported {
            node: Some(id),
            what: "an interval on a trace without timestamps".into(),
            help: Some("count positions: ⟨clock: index⟩".into()),
            exhausted: false,
        })?;
        let repeat = self.options.semantics == Semantics::RepeatLast;
        let mut column = Vec::with_capacity(trace.len);
        for segment in 0..trace.starts().len() {
            let (start, end) = (trace.starts()[segment], trace.segment_end(segment));
            for at in start..end {
                let places = Places { start, end, at, time: &time };
                column.push(places.holds(node, repeat, |part, k| truths[part.index()][k]));
            }
        }
        Ok(column)
    }
}

impl Definition<'_> {
    /// What each segment comes to in a chart.
    fn charts(&self, trace: &Trace, id: NodeId, truths: &[Vec<bool>]) -> Vec<chart::Judged> {
        let dag = &self.program.dag;
        let always = Node::Unary(Temporal::Globally, None, id);
        let root = self.program.roots.iter().find(|root| dag.node(root.node) == always);
        let Some((_, check, events)) = root.and_then(|root| self.program.chart(root.node)) else {
            return Vec::new();
        };
        let one = |segment: usize| {
            // Several events of one position are taken in an order that the chart allows.
            let positions = trace.starts()[segment]..trace.segment_end(segment);
            let mut word = Vec::new();
            for at in positions {
                let here = (0..events.len()).filter(|&event| truths[events[event].index()][at]);
                word.extend(here.map(|event| (at, event)));
            }
            chart::judge(check, &word)
        };
        (0..trace.starts().len()).map(one).collect()
    }

    /// Roots with quantifiers: verdicts, and the valuations that violate.
    fn run_first_order(&self, trace: &Trace, roots: &[NodeId], sink: &mut Sink) -> Result<(), Unsupported> {
        let tables = Tables::new(self, trace, roots)?;
        for &root in roots {
            let truth = tables.closed(root)?;
            let holds = trace.starts().iter().map(|&start| truth[start]).collect();
            let found = tables.violations(root, trace.len).unwrap_or_default();
            let violation_count = found.len();
            let (violations, bindings): (Vec<Position>, Vec<Bindings>) =
                found.into_iter().take(sink.limit).unzip();
            sink.answers([Answer { holds, open: None, violations, bindings, violation_count }]);
        }
        Ok(())
    }
}

impl Evaluator for Definition<'_> {
    fn wanted(&self) -> Wanted {
        Wanted::VALUES
    }

    fn run(&mut self, trace: &Trace, sink: &mut Sink) -> Result<(), Unsupported> {
        let roots: Vec<NodeId> = self.program.roots.iter().map(|root| root.node).collect();
        if first_order::needed(self.program, &roots) {
            return self.run_first_order(trace, &roots, sink);
        }
        let (truths, limit) = (self.truths(trace, &roots)?, sink.limit);
        let answer = |root: &NodeId| {
            let holds = trace.starts().iter().map(|&start| truths[root.index()][start]).collect();
            let violations: Vec<Position> = match self.program.dag.node(*root) {
                Node::Unary(Temporal::Globally, None, body) => {
                    (0..trace.len).filter(|&i| !truths[body.index()][i]).collect()
                }
                _ => Vec::new(),
            };
            let violation_count = violations.len();
            let (mut holds, mut open): (Bits, Option<Bits>) = (holds, None);
            if let Some((_, check, _)) = self.program.chart(*root)
                && let Node::Unary(_, _, body) = self.program.dag.node(*root)
            {
                let ends = self.charts(trace, body, &truths);
                let pending =
                    |judged: &chart::Judged| check.open_end && judged.pending && judged.violations.is_empty();
                if ends.iter().any(pending) {
                    open = Some(ends.iter().map(pending).collect());
                }
                holds = ends.iter().map(|judged| judged.violations.is_empty() && !judged.ended).collect();
            }
            Answer {
                open,
                holds,
                violations: violations.into_iter().take(limit).collect(),
                violation_count,
                ..Answer::default()
            }
        };
        sink.answers(roots.iter().map(answer));
        Ok(())
    }

    fn columns(&mut self, trace: &Trace, nodes: &[NodeId]) -> Result<Vec<Bits>, Unsupported> {
        if first_order::needed(self.program, nodes) {
            let tables = Tables::new(self, trace, nodes)?;
            let column = |&node: &NodeId| Ok(tables.closed(node)?.iter().copied().collect());
            return nodes.iter().map(column).collect();
        }
        let truths = self.truths(trace, nodes)?;
        Ok(nodes.iter().map(|node| truths[node.index()].iter().copied().collect()).collect())
    }

    fn columns_bound(
        &mut self,
        trace: &Trace,
        nodes: &[(NodeId, Bindings)],
    ) -> Result<Vec<Bits>, Unsupported> {
        if nodes.iter().all(|(_, bindings)| bindings.is_empty()) {
            let nodes: Vec<NodeId> = nodes.iter().map(|(node, _)| *node).collect();
            return self.columns(trace, &nodes);
        }
        first_order::bound::columns(self, trace, nodes)
    }

    fn witness(
        &mut self,
        trace: &Trace,
        node: NodeId,
        bindings: &Bindings,
        at: Position,
    ) -> Result<Option<Value>, Unsupported> {
        first_order::bound::witness(self, trace, node, bindings, at)
    }
}

#[cfg(test)]
mod tests;

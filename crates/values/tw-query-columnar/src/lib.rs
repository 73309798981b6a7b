//! Queries over whole columns, block by block.
//!
//! The algebra is that of "Collecting Statistics Over Runtime Executions" (Finkbeiner, Sankaranarayanan, Sipma), whose
//! automata are evaluated from the end of the trace to its start, one position after another. Here a block of positions
//! is computed at a time: an experiment is a bitmap of the positions that have a value, a column of values beside it
//! (numbers as machine words, the trace's own columns in place), and a list of errors, which is nearly always empty.
//!
//! * Blocks are walked over from the last to the first. What crosses a border is one value, or what has been collected
//!   so far, per temporal operator; so beside the trace there is memory for a block of each value at hand (64 KiB), and
//!   for what `median`, `quantile`, `histogram`, `mode` and `distinct` keep: exact up to a quarter of the memory budget,
//!   shared by the aggregates, and a sketch with a bound beyond that (at most three threads, with a quarter each).
//! * Only what is asked for is computed. A root is asked for at first positions of segments: arithmetic between
//!   aggregates is done there alone, and an outermost `agg[ψ]` is folded block by block without values of its own.
//! * Cost per position on one core with wide registers, columns in memory: `count[p]` 0.02 ns; `max[count[p while q]]` 0.04 ns
//!   where q holds for long and 0.14 ns where it is random (runs of words are counted, not positions), `avg` of it twice
//!   that; `sum`, `avg`, `min`, `max` of whole numbers 0.5 ns, of reals 0.6 ns for extremes and 1.4 ns for sums, which
//!   are exact; `max[sum[x while q]]` 1.6 ns, 8 ns for reals; `avg[p &{second} X count[a while b]]` 1.2 ns; an operator
//!   between two columns of numbers about 0.5 ns; `corr` and `median` 20 ns. What has no loop of its own (texts, lists,
//!   mixed numbers, errors) goes one value at a time, 10 to 100 ns. Two threads take about half, unless `agg[ψ]` is needed
//!   at every position.
//! * Threads walk over stretches of the trace that are cut where nothing that crosses the border depends on what comes
//!   later (see `cuts`); what they have collected is put together in trace order. Sums are exact, so that neither blocks
//!   nor threads show in the values.
//! * Traces laid end to end (`Trace::segments`) cost 50 to 100 ns each beside their positions, most of it for handing
//!   over their results.
//!
//! ```
//! use tw_core::{Bits, Value};
//! use tw_ir::{Aggregate, Node, Program, Root, RootKind};
//! use tw_monitor::{EvaluateOptions, QueryEngine, Trace};
//! use tw_query_columnar::Columnar;
//!
//! // max[count[p while q]]
//! let mut program = Program::default();
//! let (p, q) = (program.dag.add(Node::Truth(0)), program.dag.add(Node::Truth(1)));
//! let count = program.dag.add(Node::CollectWhile(Aggregate::Count, p, q));
//! let node = program.dag.add(Node::Collect(Aggregate::Max, count));
//! let (name, title, division) = ("worst".into(), None, Default::default());
//! program.roots.push(Root { name, title, division, kind: RootKind::Query, node, span: Default::default() });
//!
//! let mut evaluator = Columnar.plan(&program, &EvaluateOptions::default()).unwrap();
//! assert_eq!(evaluator.guards(), [p, q]);
//! let (p, q) = (Bits::from_words(vec![0b1101], 4), Bits::from_words(vec![0b1110], 4));
//! let trace = Trace { len: 4, ..Trace::default() };
//! let values = evaluator.values(&trace, &[p, q]).unwrap();
//! assert_eq!(values[0][0].ok(), Ok(&Value::Int(2)));
//! ```
//!
//! Read on in `plan` (what is computed where), `walk` (one stretch), `local`, `temporal`, `running` (operators on a
//! block), `sink` and `stretch` (what is folded at once), `run` (threads).

mod arithmetic;
mod cuts;
mod fold;
mod function;
mod kernels;
mod lane;
mod local;
mod output;
mod plan;
mod pool;
mod run;
mod running;
mod sink;
mod space;
mod stretch;
mod temporal;
#[cfg(test)]
mod tests;
mod walk;
mod words;

use kernels::Kernels;
use plan::{Ops, Plan};
use run::{at_starts, run};
use space::Given;
use tw_core::{Bits, Value};
use tw_ir::{NodeId, Program};
use tw_monitor::{
    Computed, EvaluateOptions, Note, PlannedQueries, QueryEngine, QueryEvaluator, Trace, Unsupported, Values,
    Wanted,
};
use tw_statistics::{Bound, Limits};
use walk::Job;

/// The columnar engine of queries: every query, on stored traces.
#[derive(Clone, Copy, Debug, Default)]
pub struct Columnar;

impl QueryEngine for Columnar {
    fn name(&self) -> &'static str {
        "columnar"
    }

    fn about(&self) -> &'static str {
        "whole columns block by block, parallel"
    }

    fn plan<'p>(&self, program: &'p Program, options: &EvaluateOptions) -> PlannedQueries<'p> {
        Ok(Box::new(Planned::new(program, options, kernels::best())))
    }
}

/// Positions per block, if nothing else is asked for: a column of numbers of that length stays in the cache.
const BLOCK: usize = 8192;
/// Bytes that a value of a block may take.
const VALUE_BYTES: usize = 32;

/// A program made ready.
struct Planned<'p> {
    program: &'p Program,
    options: EvaluateOptions,
    kernels: &'static Kernels,
    guards: Vec<NodeId>,
    terms: usize,
    ops: Ops,
    roots: Vec<usize>,
    plan: Plan,
    bounds: Vec<(usize, Bound)>,
}

impl<'p> Planned<'p> {
    fn new(program: &'p Program, options: &EvaluateOptions, kernels: &'static Kernels) -> Self {
        let guards = program.guards();
        let roots: Vec<NodeId> = program.roots.iter().map(|root| root.node).collect();
        let ops = Ops::new(program, &roots, &guards);
        let roots: Vec<usize> = roots.iter().map(|root| root.index()).collect();
        let plan = Plan::new(&ops, &roots, &[]);
        let (options, terms) = (options.clone(), program.terms().len());
        Planned { program, options, kernels, guards, terms, ops, roots, plan, bounds: Vec::new() }
    }

    /// What was given must be what was asked for.
    fn check(&self, trace: &Trace, guards: &[Bits]) -> Result<(), Unsupported> {
        let refuse = |what: String| Unsupported { node: None, what, help: None, exhausted: false };
        if guards.len() != self.guards.len() || guards.iter().any(|bits| bits.len() != trace.len) {
            let (given, asked) = (guards.len(), self.guards.len());
            return Err(refuse(format!(
                "{given} guards on {} positions where {asked} are needed",
                trace.len
            )));
        }
        if trace.terms.len() != self.terms || trace.terms.iter().any(|term| term.column.len() != trace.len) {
            let given = trace.terms.len();
            return Err(refuse(format!("a trace with {given} terms for a program with {}", self.terms)));
        }
        Ok(())
    }

    fn job<'a, 't>(&'a self, plan: &'a Plan, given: Given<'t>) -> Result<Job<'a, 't>, Unsupported> {
        let threads = self.options.threads.max(1);
        let room = self.options.memory_budget / 2 / threads / VALUE_BYTES / plan.alive.max(1);
        let block = self.options.block.unwrap_or(BLOCK).min(room) / 64 * 64;
        if block == 0 {
            let needed = plan.alive * 64 * VALUE_BYTES * threads * 2;
            return Err(Unsupported::budget(format!("{needed} bytes for blocks of {} values", plan.alive))
                .help("a larger memory budget, or fewer threads"));
        }
        let limits = Limits { exact_bytes: self.options.memory_budget / 4 / plan.aggregates.max(1) };
        let (program, ops, kernels) = (self.program, &self.ops, self.kernels);
        Ok(Job { program, ops, plan, given, limits, kernels, block })
    }
}

impl QueryEvaluator for Planned<'_> {
    fn wanted(&self) -> Wanted {
        Wanted::TERMS
    }

    fn guards(&self) -> &[NodeId] {
        &self.guards
    }

    fn values(&mut self, trace: &Trace, guards: &[Bits]) -> Result<Vec<Vec<Computed>>, Unsupported> {
        self.check(trace, guards)?;
        self.bounds.clear();
        if trace.len == 0 {
            let nothing = vec![Computed::Value(Value::Null); trace.starts().len()];
            return Ok(vec![nothing; self.roots.len()]);
        }
        let given = Given { trace, guards };
        let job = self.job(&self.plan, given)?;
        let mut found = run(job, self.options.threads, self.options.block.is_some());
        let bounds = std::mem::take(&mut found.bounds);
        let values = at_starts(job, found, &self.roots);
        self.bounds = bounds;
        Ok(values.into_iter().map(|cells| cells.into_iter().map(|cell| cell.computed()).collect()).collect())
    }

    fn columns(
        &mut self,
        trace: &Trace,
        guards: &[Bits],
        nodes: &[NodeId],
    ) -> Result<Vec<Values>, Unsupported> {
        self.check(trace, guards)?;
        self.bounds.clear();
        if let Some(&unknown) = nodes.iter().find(|id| self.ops.0.get(id.index()).is_none_or(Option::is_none))
        {
            return Err(Unsupported::construct(unknown, "a node that no query rests on"));
        }
        let outputs: Vec<usize> = nodes.iter().map(|id| id.index()).collect();
        let plan = Plan::new(&self.ops, &[], &outputs);
        let needed = trace.len.saturating_mul(8 * outputs.len());
        if needed > self.options.memory_budget {
            return Err(Unsupported::budget(format!("{needed} bytes for the values at every position"))
                .help("ask for fewer nodes, or raise the memory budget"));
        }
        let mut lanes = Vec::new();
        if trace.len > 0 {
            let job = self.job(&plan, Given { trace, guards })?;
            let found = run(job, self.options.threads, self.options.block.is_some());
            (lanes, self.bounds) = (found.outputs, found.bounds);
        }
        let mut columns: Vec<(usize, Values)> =
            lanes.into_iter().map(|(id, lanes)| (id, output::column(lanes, trace.len))).collect();
        columns.sort_by_key(|(id, _)| *id);
        let column = |id: &usize| match columns.binary_search_by_key(id, |(id, _)| *id) {
            Ok(index) => columns[index].1.clone(),
            Err(_) => output::column(Vec::new(), 0),
        };
        Ok(outputs.iter().map(column).collect())
    }

    fn notes(&self) -> Vec<Note> {
        let mut widest: Vec<(usize, Bound)> = Vec::new();
        for &(node, bound) in &self.bounds {
            match widest.iter_mut().find(|(at, _)| *at == node) {
                Some((_, old)) if old.error >= bound.error => {}
                Some((_, old)) => *old = bound,
                None => widest.push((node, bound)),
            }
        }
        widest.sort_by_key(|(node, _)| *node);
        let note =
            |(node, bound): (usize, Bound)| Note { node: NodeId(node as u32), bound: bound.to_string() };
        widest.into_iter().map(note).collect()
    }
}

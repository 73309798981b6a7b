//! The meaning of queries, executed naively.
//!
//! An experiment has at each position of a trace a value, none (⊥, null), or an error: a whole number beyond 64 bits,
//! or arithmetic on what is no number. Each experiment gets one such cell per position, children first. An operator
//! looks at as many cells of its parts as its definition says, and a statistic is computed from the list of the values
//! that it ranges over, in big whole numbers. So a query of size m on a trace of length n costs O(m·n²) and more.
//! Nothing is shared with other evaluators: terms are evaluated here from the values of slots, and arithmetic,
//! orders and statistics are this crate's own.
//!
//! - [`experiment`]: the operators, at one position;
//! - [`statistic`]: the statistics, of a list of values;
//! - [`rolling`]: those of the values that are near;
//! - [`exact`]: numbers without rounding, and rounding;
//! - [`terms`]: terms, from the values of slots.

mod exact;
mod experiment;
mod rolling;
mod statistic;
mod terms;

pub use rolling::rolling;
pub(crate) use statistic::statistic;

#[cfg(test)]
mod tests;

use experiment::Places;
use std::collections::{BTreeMap, BTreeSet};
use terms::Term;
use tw_core::{Bits, Column, Value};
use tw_ir::{Aggregate, Node, NodeId, Program, Semantics};
use tw_monitor::{
    Computed, EvaluateOptions, PlannedQueries, QueryEngine, QueryEvaluator, Trace, Unsupported, Values,
    Wanted,
};

/// A value, null for none, or why it cannot be computed.
type Cell = Result<Value, String>;

/// The reference engine for queries.
///
/// ```
/// use tw_core::{Bits, Column, Value};
/// use tw_engine_reference::ReferenceQueries;
/// use tw_ir::{Aggregate, Expect, Node, Path, Program, Root, RootKind, Slot, What};
/// use tw_monitor::{Computed, EvaluateOptions, QueryEngine, Trace};
///
/// // sum[true : x]
/// let mut program = Program::default();
/// let what = What::Variable(Path::field("x"), Expect::Number);
/// program.slots.push(Slot { what, declared: false, span: Default::default() });
/// let (always, x) = (program.dag.add(Node::Bool(true)), program.dag.add(Node::Slot(0)));
/// let emit = program.dag.add(Node::Emit(always, x));
/// let node = program.dag.add(Node::Collect(Aggregate::Sum, emit));
/// let kind = RootKind::Query;
/// let root = Root { name: "q".into(), title: None, division: Default::default(), kind, node, span: Default::default() };
/// program.roots.push(root);
///
/// let x = Column::Int { values: vec![1, 2, 39], valid: Bits::repeat(true, 3) };
/// let trace = Trace { len: 3, slots: Some(vec![x]), ..Trace::default() };
/// let mut evaluator = ReferenceQueries.plan(&program, &EvaluateOptions::default()).unwrap();
/// let values = evaluator.values(&trace, &[Bits::repeat(true, 3)]).unwrap();
/// assert_eq!(values, [[Computed::Value(Value::Int(42))]]);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct ReferenceQueries;

impl QueryEngine for ReferenceQueries {
    fn name(&self) -> &'static str {
        "reference"
    }

    fn about(&self) -> &'static str {
        "the definition of every query, executed naively; quadratic in the trace, for tests"
    }

    fn plan<'p>(&self, program: &'p Program, options: &EvaluateOptions) -> PlannedQueries<'p> {
        if options.semantics == Semantics::Ltl3 {
            let what = "values over all infinite continuations (ltl3)".into();
            let help = Some("use ⟨semantics: finite⟩".into());
            return Err(Unsupported { node: None, what, help, exhausted: false });
        }
        let roots: Vec<NodeId> = program.roots.iter().map(|root| root.node).collect();
        for id in experiments(program, &roots) {
            if let Node::NextMap { result, parameter, .. } | Node::UntilMap { result, parameter, .. } =
                program.dag.node(id)
            {
                for part in program.reachable(&[result]) {
                    match program.dag.node(part) {
                        Node::Slot(_) | Node::Truth(_) => {
                            return Err(Unsupported::construct(part, "a name of the trace in a function"));
                        }
                        Node::Variable(variable) if variable != parameter => {
                            return Err(Unsupported::construct(part, "a variable from outside a function"));
                        }
                        _ => {}
                    }
                }
            }
        }
        Ok(Box::new(Queries { program, options: options.clone(), guards: program.guards() }))
    }
}

/// The experiments that `wanted` rests on, ascending.
fn experiments(program: &Program, wanted: &[NodeId]) -> BTreeSet<NodeId> {
    let dag = &program.dag;
    let mut seen = BTreeSet::new();
    let mut todo = wanted.to_vec();
    while let Some(id) = todo.pop() {
        if dag.node(id).is_experiment() && seen.insert(id) {
            todo.extend(parts(program, dag.node(id)));
        }
    }
    seen
}

/// The parts of an experiment whose cells it looks at: experiments and formulas.
fn parts(program: &Program, node: Node) -> Vec<NodeId> {
    match node {
        Node::Emit(a, _)
        | Node::Fails(a, _)
        | Node::Default(a, _)
        | Node::NextMap { body: a, .. }
        | Node::Collect(_, a) => vec![a],
        Node::Both(_, a, b) | Node::Either(_, a, b) | Node::CollectWhile(_, a, b) => vec![a, b],
        Node::UntilMap { pair, .. } => program.dag.node(pair).children().collect(),
        _ => Vec::new(),
    }
}

/// A program and how to read it.
struct Queries<'p> {
    program: &'p Program,
    options: EvaluateOptions,
    guards: Vec<NodeId>,
}

impl Queries<'_> {
    /// The cells of each experiment and formula that `wanted` rests on.
    fn cells(
        &self,
        trace: &Trace,
        guards: &[Bits],
        wanted: &[NodeId],
    ) -> Result<BTreeMap<NodeId, Vec<Cell>>, Unsupported> {
        let mut budget = Budget { left: self.options.memory_budget, len: trace.len };
        let mut cells: BTreeMap<NodeId, Vec<Cell>> = BTreeMap::new();
        for (&id, bits) in self.guards.iter().zip(guards) {
            // A formula is `true` where it holds and has no value elsewhere.
            let truth = |at| Ok(if bits.get(at) { Value::Bool(true) } else { Value::Null });
            budget.take(trace.len * size_of::<Cell>())?;
            cells.insert(id, (0..trace.len).map(truth).collect());
        }
        for id in experiments(self.program, wanted) {
            let node = self.program.dag.node(id);
            for part in parts(self.program, node) {
                if !cells.contains_key(&part) {
                    return Err(Unsupported::construct(part, "a formula whose truth it was not given"));
                }
            }
            if let Node::Collect(Aggregate::Histogram(bins), _)
            | Node::CollectWhile(Aggregate::Histogram(bins), ..) = node
            {
                // Before it is made: the number of bins is the user's.
                budget.check(bins as usize * 4 * size_of::<Value>())?;
            }
            let term = self.term(trace, node)?;
            let mut column = Vec::with_capacity(trace.len);
            for segment in 0..trace.starts().len() {
                let (start, end) = (trace.starts()[segment], trace.segment_end(segment));
                for at in start..end {
                    let places = Places { program: self.program, cells: &cells, term: &term, at, end };
                    let cell = places.cell(node);
                    budget.take(bytes(&cell))?;
                    column.push(cell);
                }
            }
            cells.insert(id, column);
        }
        Ok(cells)
    }

    /// The term that the node itself reads: `e` of `φ : e`, `c` of `!{c} ψ` and `ψ ?? c`, `f` of `X{f}` and `U{f}`.
    fn term<'t>(&'t self, trace: &'t Trace, node: Node) -> Result<Option<Term<'t>>, Unsupported> {
        let id = match node {
            Node::Emit(_, id) | Node::Fails(_, id) | Node::Default(_, id) => id,
            Node::NextMap { result: id, .. } | Node::UntilMap { result: id, .. } => id,
            _ => return Ok(None),
        };
        let term = Term::new(self.program, trace.slots.as_deref().unwrap_or(&[]), id);
        if trace.slots.is_none() && term.reads_slots() {
            return Err(Unsupported::construct(id, "a term without the values of its names"));
        }
        Ok(Some(term))
    }
}

impl QueryEvaluator for Queries<'_> {
    fn wanted(&self) -> Wanted {
        Wanted::VALUES
    }

    fn guards(&self) -> &[NodeId] {
        &self.guards
    }

    fn values(&mut self, trace: &Trace, guards: &[Bits]) -> Result<Vec<Vec<Computed>>, Unsupported> {
        let roots: Vec<NodeId> = self.program.roots.iter().map(|root| root.node).collect();
        let cells = self.cells(trace, guards, &roots)?;
        let starts = if trace.len == 0 { &[] } else { trace.starts() };
        let value = |root: &NodeId, at: usize| match cells.get(root) {
            Some(column) => Ok(column[at].clone().into()),
            None => Err(Unsupported::construct(*root, "a formula whose truth it was not given")),
        };
        roots.iter().map(|root| starts.iter().map(|&at| value(root, at)).collect()).collect()
    }

    fn columns(
        &mut self,
        trace: &Trace,
        guards: &[Bits],
        nodes: &[NodeId],
    ) -> Result<Vec<Values>, Unsupported> {
        let cells = self.cells(trace, guards, nodes)?;
        let column = |id: &NodeId| {
            let column = cells.get(id).ok_or_else(|| {
                Unsupported::construct(*id, "a formula whose truth it was not given, or a term")
            })?;
            let errors = column.iter().enumerate();
            let errors = errors.filter_map(|(at, cell)| Some((at, cell.as_ref().err()?.clone()))).collect();
            let values = column.iter().map(|cell| cell.clone().unwrap_or(Value::Null)).collect();
            Ok(Values { column: Column::Any(values), errors })
        };
        nodes.iter().map(column).collect()
    }
}

/// The memory that is left for cells.
struct Budget {
    left: usize,
    len: usize,
}

impl Budget {
    fn take(&mut self, bytes: usize) -> Result<(), Unsupported> {
        self.check(bytes)?;
        self.left -= bytes;
        Ok(())
    }

    fn check(&self, bytes: usize) -> Result<(), Unsupported> {
        if bytes > self.left {
            let what = format!("the values of every part at {} positions within the memory budget", self.len);
            return Err(Unsupported::budget(what)
                .help("the reference engine is for small traces: use ⟨engine: auto⟩"));
        }
        Ok(())
    }
}

/// What a cell occupies, roughly. Values nest as deeply as queries do, hence no recursion.
fn bytes(cell: &Cell) -> usize {
    let Ok(value) = cell else { return size_of::<Cell>() + 80 };
    let mut bytes = size_of::<Cell>();
    let mut todo = vec![value];
    while let Some(value) = todo.pop() {
        bytes += match value {
            Value::List(items) => {
                todo.extend(items);
                items.len() * size_of::<Value>()
            }
            Value::Object(fields) => {
                todo.extend(fields.iter().map(|(_, value)| value));
                fields.len() * (size_of::<Value>() + 16)
            }
            Value::Str(text) => text.len(),
            _ => 0,
        };
    }
    bytes
}

//! Queries by algebraic alternating automata, read backwards.
//!
//! "Collecting Statistics Over Runtime Executions": a query becomes an automaton of linear size
//! ([`tw_automata::algebraic`]). From the last position to the first, the values of all parts follow from the position and
//! from the values of the transient nodes one position further on; common parts are computed once per position. The value
//! of the query is that of its automaton at the first position.
//!
//! **State kept.** The value of each transient node at the position behind: one bit in a formula, a value for `X{f}` and
//! `U{f}`, the state of a statistic for `agg[…]` ([`tw_statistics`]). `median`, `quantile`, `histogram`, `mode` and
//! `distinct` keep all different values until the budget says otherwise; everything else is of a size that the query alone
//! decides.
//!
//! **Cost.** O(|q|) per position. Instructions run over the 64 positions of a word before the next one starts, so a register
//! is a word for a formula and 64 cells for an experiment. Per position an operator of a formula costs about 0.1 ns, an
//! operator on values 2 to 5 ns where it has some, a statistic what its accumulator takes (`max[count[p & X !p while q]]`:
//! 4 to 8 ns in all). A statistic is read off only where somebody looks: `median[x]` is computed once, at the first
//! position.
//!
//! **Errors** travel as values do, and only as far as they are needed: `U` and `while` do not look behind the position
//! that decides them.
//!
//! The formulas with past operators, intervals or quantifiers are given ([`QueryEvaluator::guards`]); all others are
//! evaluated here.

mod block;
mod cell;
mod collect;
mod compile;
mod output;
#[cfg(test)]
mod tests;
mod walk;
mod words;

use compile::{Compiled, Operand};
use output::{Budget, Builder};
use tw_automata::algebraic::{Algebraic, Options, Refused};
use tw_core::{Bits, Value};
use tw_ir::{NodeId, Program, Semantics};
use tw_monitor::{
    Computed, EvaluateOptions, Note, PlannedQueries, QueryEngine, QueryEvaluator, Trace, Unsupported, Values,
    Wanted,
};
use tw_statistics::Limits;
use walk::{Asked, Walk};

/// The engine `reverse`.
///
/// ```
/// use tw_core::{Bits, Value};
/// use tw_ir::{Aggregate, Node, Program, Root, RootKind, Slot, What, Path, Temporal};
/// use tw_monitor::{Computed, EvaluateOptions, QueryEngine, Trace};
/// use tw_query_reverse::Reverse;
///
/// // count[p & X !p]
/// let mut program = Program::default();
/// program.slots.push(Slot { what: What::Proposition(Path::field("p")), declared: false, span: Default::default() });
/// let p = program.dag.add(Node::Truth(0));
/// let not = program.dag.add(Node::Not(p));
/// let next = program.dag.add(Node::Unary(Temporal::Next, None, not));
/// let falls = program.dag.add(Node::And(p, next));
/// let node = program.dag.add(Node::Collect(Aggregate::Count, falls));
/// let kind = RootKind::Query;
/// let root = Root { name: "falls".into(), title: None, division: Default::default(), kind, node, span: Default::default() };
/// program.roots.push(root);
///
/// let p: Bits = [true, false, true, true, false].into_iter().collect();
/// let trace = Trace { len: 5, atoms: vec![p], ..Trace::default() };
/// let mut queries = Reverse.plan(&program, &EvaluateOptions::default()).unwrap();
/// assert_eq!(queries.values(&trace, &[]).unwrap(), [[Computed::Value(Value::Int(2))]]);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Reverse;

impl QueryEngine for Reverse {
    fn name(&self) -> &'static str {
        "reverse"
    }

    fn about(&self) -> &'static str {
        "the algebraic alternating automaton, read backwards position by position"
    }

    fn published(&self) -> Option<&'static str> {
        Some("Collecting Statistics Over Runtime Executions")
    }

    fn plan<'p>(&self, program: &'p Program, options: &EvaluateOptions) -> PlannedQueries<'p> {
        if options.semantics == Semantics::Ltl3 {
            let what = "values over all infinite continuations (ltl3)".into();
            let help = Some("use ⟨semantics: finite⟩".into());
            return Err(Unsupported { node: None, what, help, exhausted: false });
        }
        let repeat_last = options.semantics == Semantics::RepeatLast;
        let mut automaton = Algebraic::new(program, Options { repeat_last });
        let roots: Vec<NodeId> = program.roots.iter().map(|root| root.node).collect();
        let goals = roots.iter().map(|&root| automaton.query(program, root).map_err(refused));
        let goals = goals.collect::<Result<Vec<_>, _>>()?;
        let guards = automaton.guards().to_vec();
        let compiled = Compiled::new(program, &automaton, &guards, &goals, options.memory_budget)?;
        let budget = options.memory_budget;
        Ok(Box::new(Plan { program, automaton, guards, compiled, budget, notes: Vec::new() }))
    }
}

fn refused(Refused { node, what }: Refused) -> Unsupported {
    Unsupported::construct(node, what)
}

struct Plan<'p> {
    program: &'p Program,
    automaton: Algebraic,
    guards: Vec<NodeId>,
    /// For the roots.
    compiled: Compiled,
    budget: usize,
    notes: Vec<Note>,
}

impl Plan<'_> {
    /// What one statistic may keep: no more than all together may.
    fn limits(&self, compiled: &Compiled) -> Limits {
        let all = compiled.origins.iter().flatten().count().max(1);
        Limits { exact_bytes: Limits::default().exact_bytes.min(self.budget / all) }
    }

    fn check(&self, trace: &Trace, guards: &[Bits]) -> Result<(), Unsupported> {
        let missing = if guards.len() != self.guards.len() {
            "a trace without the truth of its guards"
        } else if trace.terms.len() != self.program.terms().len() {
            "a trace without the values of its terms"
        } else {
            return Ok(());
        };
        Err(Unsupported { node: None, what: missing.into(), help: None, exhausted: false })
    }
}

impl QueryEvaluator for Plan<'_> {
    fn wanted(&self) -> Wanted {
        Wanted::TERMS
    }

    fn guards(&self) -> &[NodeId] {
        &self.guards
    }

    fn values(&mut self, trace: &Trace, guards: &[Bits]) -> Result<Vec<Vec<Computed>>, Unsupported> {
        self.check(trace, guards)?;
        let segments = if trace.len == 0 { 0 } else { trace.starts().len() };
        let outputs = &self.compiled.outputs;
        let mut values = vec![vec![Computed::Value(Value::Null); segments]; outputs.len()];
        let mut walk = Walk::new(&self.compiled, self.program, trace, guards, self.limits(&self.compiled));
        walk.run(Asked::First, |walk, segment, chunk| -> Result<(), Unsupported> {
            if chunk.first {
                for (values, &output) in values.iter_mut().zip(outputs) {
                    values[segment] = match walk.view(output).at(chunk.low) {
                        cell::Maybe::None => continue,
                        cell::Maybe::Some(cell) => Computed::Value(cell.value(&trace.terms)),
                        cell::Maybe::Error(message) => Computed::Error(message.to_string()),
                    };
                }
            }
            Ok(())
        })?;
        self.notes = walk.notes();
        Ok(values)
    }

    fn columns(
        &mut self,
        trace: &Trace,
        guards: &[Bits],
        nodes: &[NodeId],
    ) -> Result<Vec<Values>, Unsupported> {
        self.check(trace, guards)?;
        let goals = nodes.iter().map(|&node| self.automaton.query(self.program, node).map_err(refused));
        let goals = goals.collect::<Result<Vec<_>, _>>()?;
        let compiled = Compiled::new(self.program, &self.automaton, &self.guards, &goals, self.budget)?;
        let mut budget = Budget(self.budget);
        let builder =
            |output: &Operand| Builder::new(trace.len, matches!(output, Operand::Truth(_)), &mut budget);
        let mut columns = compiled.outputs.iter().map(builder).collect::<Result<Vec<_>, _>>()?;
        let mut walk = Walk::new(&compiled, self.program, trace, guards, self.limits(&compiled));
        walk.run(Asked::Every, |walk, _, chunk| {
            for (column, &output) in columns.iter_mut().zip(&compiled.outputs) {
                column.add(chunk, &walk.view(output), &trace.terms, &mut budget)?;
            }
            Ok(())
        })?;
        self.notes = walk.notes();
        Ok(columns.into_iter().map(Builder::finish).collect())
    }

    fn notes(&self) -> Vec<Note> {
        self.notes.clone()
    }
}

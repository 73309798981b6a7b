//! Aggregates over valuations: every choice of values for the variables that one binds is looked at.

use super::Tables;
use crate::query::statistic;
use crate::term;
use tw_core::Value;
use tw_ir::{Aggregate, NodeId, Tally};
use tw_monitor::{Trace, Unsupported};

impl Tables<'_> {
    /// An aggregate at every position: of the valuations of the variables it binds that make its formula true.
    pub(super) fn tally(
        &self,
        trace: &Trace,
        id: NodeId,
        tally: Tally,
        term: NodeId,
        formula: NodeId,
        choice: usize,
    ) -> Result<Vec<Value>, Unsupported> {
        let program = self.definition.program;
        let (free, bound) = (&self.free[id.index()], program.dag.binds(program.dag.node(id)));
        let around: Vec<Option<usize>> = free.iter().map(|&v| self.chosen(free, choice, v)).collect();
        let parts = if tally == Tally::Count { Vec::new() } else { term::parts(program, term) };
        let fault = |what: String| Unsupported::construct(id, what);
        let mut collected: Vec<Vec<Value>> = vec![Vec::new(); trace.len];
        for inner in 0..self.choices(bound) {
            let truths = &self.truths[formula.index()][self.project(id, choice, formula, bound, inner)];
            let chosen = |variable: u32| {
                let own = self.chosen(bound, inner, variable);
                own.or_else(|| self.chosen(free, choice, variable))
            };
            // A value that stands for many is one alone where a variable outside has it.
            let many = |&variable: &u32| {
                chosen(variable).filter(|&place| self.domain.stands[place] && !around.contains(&Some(place)))
            };
            for at in (0..trace.len).filter(|&at| truths[at]) {
                if let Some(&variable) = bound.iter().find(|&variable| many(variable).is_some()) {
                    let name = &program.dag.variables[variable as usize];
                    let what = format!("`{}` of infinitely many values of `{name}`", tally.name());
                    return Err(fault(what).help(format!(
                        "let an event pattern, or an equality with a term of the position, bind `{name}` in its formula"
                    )));
                }
                if tally == Tally::Count {
                    collected[at].push(Value::Bool(true));
                    continue;
                }
                let value = |variable: u32| {
                    chosen(variable).map_or(Value::Null, |place| self.domain.values[place].clone())
                };
                let given = |part: NodeId| {
                    let choice = self.project(id, choice, part, bound, inner);
                    Ok(vec![match self.tallies[part.index()].get(choice) {
                        Some(column) => column[at].clone(),
                        None => Value::Bool(self.truths[part.index()][choice][at]),
                    }])
                };
                let values = self.evaluate(trace, &parts, at, &given, &value).map_err(fault)?;
                collected[at].extend(
                    values.into_iter().filter(|value| matches!(value, Value::Int(_) | Value::Real(_))),
                );
            }
        }
        collected.iter().map(|values| total(tally, values).map_err(fault)).collect()
    }
}

/// What an aggregate makes of the values it collected; a count of what there is one of for each valuation.
fn total(tally: Tally, values: &[Value]) -> Result<Value, String> {
    let aggregate = match tally {
        Tally::Count | Tally::Sum if values.is_empty() => return Ok(Value::Int(0)),
        Tally::Count => Aggregate::Count,
        Tally::Sum => Aggregate::Sum,
        Tally::Min => Aggregate::Min,
        Tally::Max => Aggregate::Max,
        Tally::Avg => Aggregate::Avg,
    };
    statistic(aggregate, &values.iter().collect::<Vec<_>>())
}

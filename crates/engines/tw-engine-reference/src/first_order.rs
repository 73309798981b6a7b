//! Quantifiers over infinitely many values, executed naively.
//!
//! Each formula gets a table: for every choice of values for its free variables, its truth at every position, children first;
//! an aggregate over valuations gets one of values. Which values are enough is said by [`domain`], which variables need no
//! others than those seen by [`guards`]; [`tally`] makes numbers of valuations.

pub(crate) mod bound;
mod domain;
mod guards;
mod tally;

pub(crate) use guards::Guards;

use crate::temporal::{Places, Time};
use crate::term::Cell;
use crate::{Definition, term, ticks};
use domain::Domain;
use std::cmp::Ordering;
use std::collections::BTreeSet;
use tw_core::{Column, Position, Value};
use tw_ir::{Node, NodeId, Program};
use tw_monitor::{Bindings, Trace, Unsupported};

/// Whether the node has quantifiers or variables below it that this module has to interpret.
pub(crate) fn needed(program: &Program, roots: &[NodeId]) -> bool {
    program.reachable(roots).iter().any(|&id| program.dag.node(id).is_first_order())
}

/// Steps that temporal operators may take from position to position, about: some seconds.
const STEPS: usize = 2_000_000_000;

/// The truth of formulas for every choice of values.
pub(crate) struct Tables<'d> {
    definition: &'d Definition<'d>,
    domain: Domain,
    /// The free variables of each node, ascending.
    free: Vec<Vec<u32>>,
    /// Of each formula that is needed: for each choice (the first variable changes fastest) the truth at every position.
    truths: Vec<Vec<Vec<bool>>>,
    /// Of each aggregate that is needed the same with its values.
    tallies: Vec<Vec<Vec<Value>>>,
}

impl<'d> Tables<'d> {
    pub(crate) fn new(
        definition: &'d Definition<'d>,
        trace: &Trace,
        wanted: &[NodeId],
    ) -> Result<Self, Unsupported> {
        let program = definition.program;
        let (free, guards) = (free_variables(program), Guards::new(program, wanted));
        let domain = Domain::new(program, trace, wanted, &guards, &free)?;
        let (truths, tallies) = (vec![Vec::new(); program.dag.len()], vec![Vec::new(); program.dag.len()]);
        let mut tables = Self { definition, domain, free, truths, tallies };
        let needed = definition.formulas(wanted);
        let cells = needed.iter().map(|&id| tables.work(id).saturating_mul(trace.len));
        let cells = cells.fold(0usize, usize::saturating_add);
        if cells > definition.options.memory_budget || cells.saturating_mul(trace.len) > STEPS {
            let (values, positions) = (tables.domain.values.len(), trace.len);
            let what =
                format!("{values} values for each variable at {positions} positions, one after the other");
            return Err(Unsupported::budget(what).help(
                "the definition of quantifiers is for small traces; `⟨by: COL⟩` checks a property once per value of a column",
            ));
        }
        for id in needed {
            let choices = 0..tables.choices(&tables.free[id.index()]);
            match program.dag.node(id) {
                Node::Tally(tally, _, value, formula) => {
                    let column = |choice| tables.tally(trace, id, tally, value, formula, choice);
                    tables.tallies[id.index()] = choices.map(column).collect::<Result<_, _>>()?;
                }
                _ => {
                    let column = |choice| tables.column(trace, id, choice);
                    tables.truths[id.index()] = choices.map(column).collect::<Result<_, _>>()?;
                }
            }
        }
        Ok(tables)
    }

    /// The truth of a formula without free variables.
    pub(crate) fn closed(&self, id: NodeId) -> Result<&[bool], Unsupported> {
        match (self.free[id.index()].as_slice(), self.truths[id.index()].first()) {
            ([], Some(column)) => Ok(column),
            _ => Err(Unsupported::construct(id, "a formula about quantified variables by itself")),
        }
    }

    /// The positions and valuations of outer variables that make the body of a root false, by position, then by value in
    /// the order of the quantifiers: for `G φ` and `forall x̄. G forall ȳ. φ`. Where they are infinitely many, those variables
    /// are left out that have infinitely many values there, and what is left says so.
    pub(crate) fn violations(&self, root: NodeId, len: usize) -> Option<Vec<(Position, Bindings)>> {
        let (variables, body) = self.definition.program.invariant(root)?;
        let free = &self.free[body.index()];
        let mut found = Vec::new();
        for at in 0..len {
            let failing = |choice: &usize| !self.truths[body.index()][*choice][at];
            let failing: Vec<usize> = (0..self.choices(free)).filter(failing).collect();
            // A variable that the body does not mention may be anything.
            let value = |choice: usize, variable: u32| self.chosen(free, choice, variable);
            let infinite = |variable: &u32| {
                failing
                    .iter()
                    .any(|&choice| value(choice, *variable).is_none_or(|place| self.domain.stands[place]))
            };
            let finite: Vec<u32> = variables.iter().copied().filter(|variable| !infinite(variable)).collect();
            let bound = |&choice: &usize| -> Vec<(u32, Value)> {
                let pair =
                    |&variable: &u32| Some((variable, self.domain.values[value(choice, variable)?].clone()));
                finite.iter().filter_map(pair).collect()
            };
            let mut entries: Vec<Vec<(u32, Value)>> = failing.iter().map(bound).collect();
            entries.sort_by(|a, b| by_values(a, b));
            entries.dedup();
            let all = finite.len() == variables.len();
            let entry = |bound| if all { Bindings::new(bound) } else { Bindings::infinitely(bound) };
            found.extend(entries.into_iter().map(|bound| (at, entry(bound))));
        }
        Some(found)
    }

    /// How many choices of values these variables have.
    fn choices(&self, variables: &[u32]) -> usize {
        let sizes = variables.iter().map(|&variable| self.domain.ranges[variable as usize].len());
        sizes.fold(1, usize::saturating_mul)
    }

    /// How many rows a node costs.
    fn work(&self, id: NodeId) -> usize {
        let bound = self.definition.program.dag.binds(self.definition.program.dag.node(id));
        self.choices(&self.free[id.index()]).saturating_mul(self.choices(bound))
    }

    /// Which of its values a choice gives to one of the variables.
    fn digit(&self, variables: &[u32], choice: usize, variable: u32) -> Option<usize> {
        let place = variables.iter().position(|other| *other == variable)?;
        let size = self.domain.ranges[variable as usize].len();
        Some(choice / self.choices(&variables[..place]) % size)
    }

    /// The value that a choice gives to one of the variables, by its place in the domain.
    fn chosen(&self, variables: &[u32], choice: usize, variable: u32) -> Option<usize> {
        self.digit(variables, choice, variable).map(|digit| self.domain.ranges[variable as usize][digit])
    }

    /// The choice for a part that follows from one for the whole, in which variables may be bound.
    fn project(&self, whole: NodeId, choice: usize, part: NodeId, bound: &[u32], inner: usize) -> usize {
        let (mut weight, mut projected) = (1, 0);
        for &variable in &self.free[part.index()] {
            let own = self.digit(bound, inner, variable);
            let digit = own.or_else(|| self.digit(&self.free[whole.index()], choice, variable)).unwrap_or(0);
            projected += digit * weight;
            weight *= self.domain.ranges[variable as usize].len();
        }
        projected
    }

    fn column(&self, trace: &Trace, id: NodeId, choice: usize) -> Result<Vec<bool>, Unsupported> {
        let program = self.definition.program;
        let node = program.dag.node(id);
        let free = &self.free[id.index()];
        let value = |variable: u32| {
            self.chosen(free, choice, variable).map_or(Value::Null, |place| self.domain.values[place].clone())
        };
        match node {
            Node::Forall(variable, body) | Node::Exists(variable, body) => {
                let forall = matches!(node, Node::Forall(..));
                let columns: Vec<&Vec<bool>> = (0..self.domain.ranges[variable as usize].len())
                    .map(|inner| self.project(id, choice, body, &[variable], inner))
                    .map(|choice| &self.truths[body.index()][choice])
                    .collect();
                let at = |at: Position| match forall {
                    true => columns.iter().all(|column| column[at]),
                    false => columns.iter().any(|column| column[at]),
                };
                Ok((0..trace.len).map(at).collect())
            }
            Node::Pattern(index) => {
                let pattern = &program.dag.patterns[index as usize];
                let wanted: Vec<Value> = pattern.variables().map(value).collect();
                let slots = trace.slots.as_deref().unwrap_or_default();
                let Some(Column::Tuples(relation)) = slots.get(pattern.slot as usize) else {
                    return Err(Unsupported::construct(
                        id,
                        "an event pattern without the events of the trace",
                    ));
                };
                let happens = |number: usize| {
                    relation
                        .tuple(number)
                        .iter()
                        .zip(&wanted)
                        .all(|(found, wanted)| term::equal(found, wanted))
                };
                Ok((0..trace.len).map(|at| relation.tuples(at).any(happens)).collect())
            }
            _ if term::is_predicate(node) => {
                let parts = term::parts(program, id);
                let at = |at: Position| {
                    let given = |part: NodeId| self.given(id, choice, part, at);
                    let cell = self.evaluate(trace, &parts, at, &given, &value);
                    cell.map(|values| term::holds(&values)).map_err(|message| {
                        Unsupported::construct(id, format!("a value at position {at}: {message}"))
                    })
                };
                (0..trace.len).map(at).collect()
            }
            _ => self.temporal(trace, id, node, choice),
        }
    }

    /// What a part is that terms do not compute.
    fn given(&self, whole: NodeId, choice: usize, part: NodeId, at: Position) -> Cell {
        let choice = self.project(whole, choice, part, &[], 0);
        Ok(vec![match self.tallies[part.index()].get(choice) {
            Some(column) => column[at].clone(),
            None => Value::Bool(self.truths[part.index()][choice][at]),
        }])
    }

    fn evaluate(
        &self,
        trace: &Trace,
        parts: &[NodeId],
        at: Position,
        given: &dyn Fn(NodeId) -> Cell,
        variable: &dyn Fn(u32) -> Value,
    ) -> Cell {
        let slots = trace.slots.as_deref().unwrap_or_default();
        term::evaluate(self.definition.program, slots, parts, at, given, variable, true)
    }

    fn temporal(
        &self,
        trace: &Trace,
        id: NodeId,
        node: Node,
        choice: usize,
    ) -> Result<Vec<bool>, Unsupported> {
        let options = &self.definition.options;
        let interval = node.interval().map(|interval| ticks(id, interval, options)).transpose()?;
        let time = Time::new(trace, interval, options.clock).ok_or_else(|| {
            Unsupported::construct(id, "an interval on a trace without timestamps")
                .help("count positions: ⟨clock: index⟩")
        })?;
        let repeat = options.semantics == tw_ir::Semantics::RepeatLast;
        let of = |part: NodeId| &self.truths[part.index()][self.project(id, choice, part, &[], 0)];
        let mut column = Vec::with_capacity(trace.len);
        for segment in 0..trace.starts().len() {
            let (start, end) = (trace.starts()[segment], trace.segment_end(segment));
            for at in start..end {
                let places = Places { start, end, at, time: &time };
                column.push(places.holds(node, repeat, |part, k| of(part)[k]));
            }
        }
        Ok(column)
    }
}

fn by_values(a: &[(u32, Value)], b: &[(u32, Value)]) -> Ordering {
    let pairs = a.iter().zip(b).map(|((_, a), (_, b))| rank(a).cmp(&rank(b)).then_with(|| in_kind(a, b)));
    pairs.fold(Ordering::Equal, Ordering::then).then(a.len().cmp(&b.len()))
}

/// Numbers before texts, and those before what else there is.
fn rank(value: &Value) -> u8 {
    match value {
        Value::Int(_) | Value::Real(_) => 0,
        Value::Str(_) => 1,
        _ => 2,
    }
}

fn in_kind(a: &Value, b: &Value) -> Ordering {
    term::order(a, b).unwrap_or_else(|| a.to_string().cmp(&b.to_string()))
}

/// The free variables of every node, ascending.
fn free_variables(program: &Program) -> Vec<Vec<u32>> {
    let dag = &program.dag;
    let mut free: Vec<Vec<u32>> = Vec::with_capacity(dag.len());
    for node in dag.nodes() {
        let mut own: BTreeSet<u32> = node.children().flat_map(|child| free[child.index()].clone()).collect();
        match *node {
            Node::Variable(variable) => drop(own.insert(variable)),
            Node::Pattern(index) => own.extend(dag.patterns[index as usize].variables()),
            Node::Forall(variable, _) | Node::Exists(variable, _) => drop(own.remove(&variable)),
            _ => own.retain(|variable| !dag.binds(*node).contains(variable)),
        }
        free.push(own.into_iter().collect());
    }
    free
}

//! Quantifiers over infinitely many values, executed naively.
//!
//! A formula cannot tell values apart that it does not mention and the trace does not hold, but for their order. So it
//! is enough to let variables range over the values seen, the constants, and as many unseen values as there are
//! variables: some texts, and some numbers in every gap between numbers. Each formula gets a table: for every choice of
//! values for its free variables, its truth at every position, children first.

use crate::temporal::{Places, Time};
use crate::{Definition, term, ticks};
use std::cmp::Ordering;
use std::collections::BTreeSet;
use tw_core::{Column, Position, Value};
use tw_ir::{Node, NodeId, Program, SetItem, Temporal};
use tw_monitor::{Bindings, Trace, Unsupported};

/// Whether the node has quantifiers or variables below it that this module has to interpret.
pub(crate) fn needed(program: &Program, roots: &[NodeId]) -> bool {
    let quantifies = |id: &NodeId| {
        matches!(
            program.dag.node(*id),
            Node::Forall(..) | Node::Exists(..) | Node::Pattern(_) | Node::Variable(_)
        )
    };
    program.reachable(roots).iter().any(quantifies)
}

/// What unseen values cannot stand for: arithmetic on variables makes new values, and an expression may match some texts
/// that nobody has seen and not others.
pub(crate) fn refused(program: &Program, id: NodeId, over_variable: &[bool]) -> Option<&'static str> {
    match program.dag.node(id) {
        Node::Arithmetic(..) | Node::Negate(_) | Node::Abs(_) if over_variable[id.index()] => {
            Some("arithmetic on quantified variables")
        }
        Node::Matches(term, _) if over_variable[term.index()] => {
            Some("a regular expression over a quantified variable")
        }
        _ => None,
    }
}

/// Of each node whether a variable occurs in it. Children stand before their parents.
pub(crate) fn over_variable(program: &Program) -> Vec<bool> {
    let mut over = vec![false; program.dag.len()];
    for index in 0..over.len() {
        let node = program.dag.node(NodeId(index as u32));
        over[index] = matches!(node, Node::Variable(_)) || node.children().any(|child| over[child.index()]);
    }
    over
}

/// Steps that temporal operators may take from position to position, about: some seconds.
const STEPS: usize = 2_000_000_000;

/// The truth of formulas for every choice of values.
pub(crate) struct Tables<'d> {
    definition: &'d Definition<'d>,
    domain: Vec<Value>,
    /// How many of the domain were seen or are constants; the others stand for all that were not.
    seen: usize,
    /// The free variables of each node, ascending.
    free: Vec<Vec<u32>>,
    /// Of each formula that is needed: for each choice (the first variable changes fastest) the truth at every position.
    truths: Vec<Vec<Vec<bool>>>,
}

impl<'d> Tables<'d> {
    pub(crate) fn new(
        definition: &'d Definition<'d>,
        trace: &Trace,
        wanted: &[NodeId],
    ) -> Result<Self, Unsupported> {
        let program = definition.program;
        let (domain, seen) = domain(program, trace, wanted);
        let free = free_variables(program);
        let mut tables = Self { definition, domain, seen, free, truths: vec![Vec::new(); program.dag.len()] };
        let needed = definition.formulas(wanted);
        let cells = needed.iter().map(|&id| tables.choices(id).saturating_mul(trace.len));
        let cells = cells.fold(0usize, usize::saturating_add);
        if cells > definition.options.memory_budget || cells.saturating_mul(trace.len) > STEPS {
            let (values, positions) = (tables.domain.len(), trace.len);
            let what =
                format!("{values} values for each variable at {positions} positions, one after the other");
            return Err(Unsupported::budget(what).help(
                "the definition of quantifiers is for small traces; `⟨by: COL⟩` checks a property once per value of a column",
            ));
        }
        for id in needed {
            tables.truths[id.index()] = (0..tables.choices(id))
                .map(|choice| tables.column(trace, id, choice))
                .collect::<Result<_, _>>()?;
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
    /// the order of the quantifiers: for `G φ` and `forall x̄. G forall ȳ. φ`. A variable that only unseen values make
    /// false is left out.
    pub(crate) fn violations(&self, root: NodeId, len: usize) -> Option<Vec<(Position, Bindings)>> {
        let (variables, body) = outer(self.definition.program, root)?;
        let free = &self.free[body.index()];
        let mut found: Vec<(Position, Vec<(u32, Value)>)> = Vec::new();
        for (choice, column) in self.truths[body.index()].iter().enumerate() {
            let value = |variable: &u32| {
                let place = free.iter().position(|other| other == variable)?;
                let number = self.digit(choice, place);
                (number < self.seen).then(|| (*variable, self.domain[number].clone()))
            };
            let bound: Vec<(u32, Value)> = variables.iter().filter_map(value).collect();
            let failing = (0..len).filter(|&at| !column[at]);
            found.extend(failing.map(|at| (at, bound.clone())));
        }
        found.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| by_values(&a.1, &b.1)));
        found.dedup();
        Some(found.into_iter().map(|(at, bound)| (at, Bindings::new(bound))).collect())
    }

    fn choices(&self, id: NodeId) -> usize {
        self.domain.len().saturating_pow(self.free[id.index()].len() as u32)
    }

    /// The value that a choice gives to its n-th variable, by number.
    fn digit(&self, choice: usize, place: usize) -> usize {
        choice / self.domain.len().pow(place as u32) % self.domain.len()
    }

    /// The choice for a part that follows from one for the whole, in which a variable may be bound to a value.
    fn project(&self, whole: NodeId, choice: usize, part: NodeId, bound: Option<(u32, usize)>) -> usize {
        let outside = &self.free[whole.index()];
        let digit = |variable: &u32| match bound {
            Some((own, number)) if own == *variable => number,
            _ => outside
                .iter()
                .position(|other| other == variable)
                .map_or(0, |place| self.digit(choice, place)),
        };
        let digits = self.free[part.index()].iter().map(digit).enumerate();
        digits.map(|(place, number)| number * self.domain.len().pow(place as u32)).sum()
    }

    fn column(&self, trace: &Trace, id: NodeId, choice: usize) -> Result<Vec<bool>, Unsupported> {
        let program = self.definition.program;
        let node = program.dag.node(id);
        let value = |variable: u32| {
            let place = self.free[id.index()].iter().position(|other| *other == variable);
            place.map_or(Value::Null, |place| self.domain[self.digit(choice, place)].clone())
        };
        match node {
            Node::Forall(variable, body) | Node::Exists(variable, body) => {
                let forall = matches!(node, Node::Forall(..));
                let columns: Vec<&Vec<bool>> = (0..self.domain.len())
                    .map(|number| self.project(id, choice, body, Some((variable, number))))
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
                let slots = trace.slots.as_deref().unwrap_or_default();
                let parts = term::parts(program, id);
                let at = |at: Position| {
                    let temporal =
                        |part: NodeId| self.truths[part.index()][self.project(id, choice, part, None)][at];
                    term::predicate(program, slots, &parts, at, temporal, &value).map_err(|message| {
                        Unsupported::construct(id, format!("a value at position {at}: {message}"))
                    })
                };
                (0..trace.len).map(at).collect()
            }
            _ => self.temporal(trace, id, node, choice),
        }
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
        let of = |part: NodeId| &self.truths[part.index()][self.project(id, choice, part, None)];
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

/// The variables of the outer `forall`s around and below one `G`, in the order of the quantifiers, and what stands below.
fn outer(program: &Program, root: NodeId) -> Option<(Vec<u32>, NodeId)> {
    let (mut variables, mut always, mut at) = (Vec::new(), false, root);
    loop {
        at = match program.dag.node(at) {
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
            _ => {}
        }
        free.push(own.into_iter().collect());
    }
    free
}

/// What variables range over, and how many of these were seen or are constants.
fn domain(program: &Program, trace: &Trace, wanted: &[NodeId]) -> (Vec<Value>, usize) {
    let dag = &program.dag;
    let reachable = program.reachable(wanted);
    let mut values: Vec<Value> = Vec::new();
    let mut add = |value: Value| {
        if !value.is_null() && !values.iter().any(|known| term::equal(known, &value)) {
            values.push(value);
        }
    };
    let slots = trace.slots.as_deref().unwrap_or_default();
    for &id in &reachable {
        match dag.node(id) {
            Node::Pattern(index) => {
                if let Some(Column::Tuples(relation)) = slots.get(dag.patterns[index as usize].slot as usize)
                {
                    let tuples = relation.columns().first().map_or(0, Column::len);
                    (0..tuples).flat_map(|number| relation.tuple(number)).for_each(&mut add);
                }
            }
            Node::Slot(slot) => {
                if let Some(column) = slots.get(slot as usize) {
                    (0..column.len()).for_each(|at| add(column.value(at)));
                }
            }
            Node::Constant(constant) => add(dag.constants[constant as usize].clone()),
            Node::In(_, set) => dag.sets[set as usize].iter().for_each(|item| match item {
                SetItem::Value(value) => add(value.clone()),
                SetItem::Range(low, high) => [low, high].into_iter().for_each(|end| add(Value::Int(*end))),
            }),
            _ => {}
        }
    }
    let variables: BTreeSet<u32> = reachable
        .iter()
        .filter_map(|&id| match dag.node(id) {
            Node::Forall(variable, _) | Node::Exists(variable, _) => Some(variable),
            _ => None,
        })
        .collect();
    // The one text that no other lies before.
    if !values.iter().any(|value| matches!(value, Value::Str(text) if text.is_empty())) {
        values.push(Value::text(""));
    }
    let seen = values.len();
    let mut numbers: Vec<f64> = values
        .iter()
        .filter_map(|value| match value {
            Value::Int(int) => Some(*int as f64),
            Value::Real(real) => Some(*real),
            _ => None,
        })
        .collect();
    numbers.sort_by(f64::total_cmp);
    let steps = variables.len().max(1);
    let (low, high) = (numbers.first().copied().unwrap_or(0.0), numbers.last().copied().unwrap_or(0.0));
    let mut unseen: Vec<f64> = (1..=steps).flat_map(|k| [low - k as f64, high + k as f64]).collect();
    for pair in numbers.windows(2) {
        let part = (pair[1] - pair[0]) / (steps + 1) as f64;
        unseen.extend((1..=steps).map(|k| pair[0] + part * k as f64));
    }
    values.extend(unseen.into_iter().map(Value::Real));
    // Texts after each that was seen, and before the next; no text of a trace holds these characters in a row.
    let after = |text: &Value| -> Vec<Value> {
        let Value::Str(text) = text else { return Vec::new() };
        (0..steps).map(|k| Value::text(&format!("{text}\u{0}\u{10FFFF}{k}"))).collect()
    };
    let unseen: Vec<Value> = values[..seen].iter().flat_map(after).collect();
    values.extend(unseen);
    (values, seen)
}

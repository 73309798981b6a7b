//! What monitors report.
//!
//! The events of a monitor that happen in a trace are about things: the values of its parameters, each until an `end` makes the same
//! value another thing. The trace of a binding is its slice (`strict`), or what follows the first creation event in it. At each event of
//! it after which the events so far bind exactly the binding, the formalism says what the trace has come to; and where the trace
//! ends, or one of the things, whether an `ltl` is violated.

use crate::objects::by_values;
use crate::{Binding, Constraint, Lattice, Objects, Partial, definition};
use rustc_hash::FxHashMap;
use tw_automata::deterministic::Stop;
use tw_automata::formalism::{Enables, EventAutomaton};
use tw_core::{Batch, Column, Value};
use tw_ir::monitor::{Category, Condition, Monitor, Source};
use tw_ir::{Node, Program};
use tw_monitor::Ground;

/// A report.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// Where; `None` is the end of the trace.
    pub position: Option<usize>,
    /// Of each parameter the value, if it is bound.
    pub bindings: Vec<Option<Value>>,
    /// What the trace of the binding has come to.
    pub category: Category,
}

/// One event of a monitor, or an end, as it happens.
#[derive(Clone, Debug, PartialEq)]
pub struct Occurrence {
    /// Where.
    pub position: usize,
    /// What.
    pub what: What,
    /// The values of parameters.
    pub values: Vec<(u32, Value)>,
}

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// An event, by number.
    Event(usize),
    /// An `end`, by number.
    End(usize),
}

/// What happens in a trace, in order: position by position, first the events in the order of their declaration, then the
/// ends. `batch` has the columns of the program's slots.
pub fn occurrences(program: &Program, monitor: &Monitor, batch: &Batch) -> Vec<Occurrence> {
    let events =
        monitor.events.iter().enumerate().map(|(number, event)| (What::Event(number), &event.source, None));
    let ends = monitor.ends.iter().enumerate();
    let ends = ends.map(|(number, end)| (What::End(number), &end.source, Some(&end.parameters)));
    let sources: Vec<_> = events.chain(ends).collect();
    let mut found = Vec::new();
    for position in 0..batch.len {
        for (what, source, kept) in &sources {
            for mut values in tuples(program, source, batch, position) {
                values.retain(|(parameter, _)| kept.is_none_or(|kept| kept.contains(parameter)));
                found.push(Occurrence { position, what: *what, values });
            }
        }
    }
    found
}

/// The values that a source's events bind at a position.
fn tuples(program: &Program, source: &Source, batch: &Batch, position: usize) -> Vec<Vec<(u32, Value)>> {
    let tuples: Vec<Vec<Value>> = match &batch.slots[source.slot as usize] {
        Column::Tuples(relation) => relation.tuples(position).map(|number| relation.tuple(number)).collect(),
        truth if truth.value(position) == Value::Bool(true) => vec![Vec::new()],
        _ => Vec::new(),
    };
    let mut found = Vec::new();
    for tuple in tuples {
        let mut values: Vec<(u32, Value)> = Vec::new();
        let mut equal = true;
        for (&parameter, value) in source.columns.iter().zip(tuple) {
            match values.iter().find(|(own, _)| *own == parameter) {
                Some((_, before)) => equal &= tw_monitor::compare(tw_ir::CompareOp::Eq, before, &value),
                None => values.push((parameter, value)),
            }
        }
        let holds = source.when.as_ref().is_none_or(|when| holds(program, when, &values, batch, position));
        if equal && holds {
            found.push(values);
        }
    }
    found
}

/// Whether a condition holds at a position, of these values. What cannot be computed does not hold.
fn holds(
    program: &Program,
    condition: &Condition,
    values: &[(u32, Value)],
    batch: &Batch,
    position: usize,
) -> bool {
    let order = program.reachable(&[condition.node]);
    let value = |variable: u32| {
        let (_, parameter) = condition.variables.iter().find(|(own, _)| *own == variable)?;
        values.iter().find(|(own, _)| own == parameter).map(|(_, value)| value.clone())
    };
    let given: Vec<_> = order
        .iter()
        .filter_map(|&id| match program.dag.node(id) {
            Node::Slot(slot) | Node::Truth(slot) => Some((id, batch.slots[slot as usize].value(position))),
            Node::Variable(variable) => Some((id, value(variable)?)),
            _ => None,
        })
        .collect();
    Ground { program, order: &order, given: &given }.truth() == Ok(true)
}

/// One event in the order of a trace, about things.
struct Step {
    position: usize,
    event: usize,
    about: Binding,
}

/// A thing that ends: after so many steps, where, and what.
struct Ended {
    after: usize,
    position: usize,
    thing: Binding,
}

/// What a monitor reports on a trace, by position (the end last), then by the order of events, then by the values of parameters.
pub fn reports(program: &Program, monitor: &Monitor, batch: &Batch) -> Result<Vec<Found>, Stop> {
    let automaton = EventAutomaton::new(monitor)?;
    let enables = Enables::new(monitor, &automaton)?;
    let occurrences = occurrences(program, monitor, batch);
    let things = Things::of(monitor, &occurrences);
    let mut values = things.values.clone();
    let constraint = monitor.constraint.as_ref().map(|own| Constraint::new(program, own, &mut values));
    let partial = Partial {
        variables: monitor.parameters.len(),
        injective: monitor.injective(),
        constraint: constraint.as_ref(),
        objects: &values,
    };
    let lattice = Allowed { things: &things, values: partial };

    let trace: Vec<Vec<Binding>> = things.steps.iter().map(|step| vec![step.about.clone()]).collect();
    let mut found: Vec<(usize, Found)> = Vec::new();
    for binding in definition::bindings(&trace, &lattice) {
        let slice = definition::slice(&trace, &binding);
        let creates = |&step: &usize| monitor.strict || enables.creation[things.steps[step].event];
        let begin = slice.iter().position(creates).unwrap_or(slice.len());
        let mut run = Run { monitor, automaton: &automaton, told: Vec::new(), out: Vec::new() };
        let (mut state, mut bound) = (0, Binding::empty(monitor.parameters.len()));
        let mut ends = things.ends.iter().filter(|end| end.thing.leq(&binding)).peekable();
        // An empty trace is nobody's.
        let exact = |bound: &Binding, begun: bool| begun && *bound == binding;
        for (number, &step) in slice[begin..].iter().enumerate() {
            while let Some(end) = ends.next_if(|end| end.after <= step) {
                run.ended(state, exact(&bound, number > 0), end.after, Some(end.position));
            }
            let Step { position, event, about } = &things.steps[step];
            state = automaton.step(state, *event);
            // All of them are below the binding, so they agree.
            if let Some(both) = bound.union(about) {
                bound = both;
            }
            if exact(&bound, true) {
                run.stepped(state, step, *position);
            }
        }
        let begun = begin < slice.len();
        for end in ends {
            run.ended(state, exact(&bound, begun), end.after, Some(end.position));
        }
        run.ended(state, exact(&bound, begun), usize::MAX, None);
        let bindings = things.named(&binding);
        found.extend(run.out.into_iter().map(|(step, position, category)| {
            (step, Found { position, bindings: bindings.clone(), category })
        }));
    }
    // Of one event, what its step comes to stands before what an end of that moment says.
    found.sort_by(|(step, a), (other, b)| {
        let place = |found: &Found| found.position.unwrap_or(usize::MAX);
        (place(a), step).cmp(&(place(b), other)).then_with(|| by_values(&a.bindings, &b.bindings))
    });
    Ok(found.into_iter().map(|(_, found)| found).collect())
}

/// What one binding reports.
struct Run<'a> {
    monitor: &'a Monitor,
    automaton: &'a EventAutomaton,
    /// What is reported once, and was.
    told: Vec<Category>,
    /// Step, position and category.
    out: Vec<(usize, Option<usize>, Category)>,
}

impl Run<'_> {
    fn stepped(&mut self, state: u32, step: usize, position: usize) {
        if let Some(category) = self.automaton.output(state).category {
            self.tell(category, 2 * step, Some(position));
        }
    }

    /// A thing, or the trace, ends before the given step.
    fn ended(&mut self, state: u32, exact: bool, before: usize, position: Option<usize>) {
        if exact && self.automaton.output(state).violated_at_end {
            self.tell(Category::Violation, before.saturating_mul(2).saturating_sub(1), position);
        }
    }

    fn tell(&mut self, category: Category, order: usize, position: Option<usize>) {
        if !self.monitor.reports(category) || category.once() && self.told.contains(&category) {
            return;
        }
        self.told.push(category);
        self.out.push((order, position, category));
    }
}

/// The things of a trace: values with their generations, by parameter.
struct Things {
    steps: Vec<Step>,
    ends: Vec<Ended>,
    /// The value of each thing, in `values`.
    value: Vec<u32>,
    values: Objects,
}

impl Things {
    fn of(monitor: &Monitor, occurrences: &[Occurrence]) -> Self {
        let mut things =
            Self { steps: Vec::new(), ends: Vec::new(), value: Vec::new(), values: Objects::default() };
        let mut generation: FxHashMap<(u32, u32), u32> = FxHashMap::default();
        let mut index: FxHashMap<(u32, u32), u32> = FxHashMap::default();
        for Occurrence { position, what, values } in occurrences {
            let mut about = Binding::empty(monitor.parameters.len());
            for (parameter, value) in values {
                let value = things.values.of(value);
                let own = generation.get(&(*parameter, value)).copied().unwrap_or(0);
                // Things of one value and generation are one, whatever parameter they are.
                let thing = *index.entry((value, own)).or_insert_with(|| {
                    things.value.push(value);
                    (things.value.len() - 1) as u32
                });
                about.0[*parameter as usize] = Some(thing);
            }
            match what {
                What::Event(event) => things.steps.push(Step { position: *position, event: *event, about }),
                What::End(_) => {
                    for (parameter, value) in values {
                        let value = things.values.of(value);
                        *generation.entry((*parameter, value)).or_default() += 1;
                        let mut thing = Binding::empty(monitor.parameters.len());
                        thing.0[*parameter as usize] = about.0[*parameter as usize];
                        things.ends.push(Ended { after: things.steps.len(), position: *position, thing });
                    }
                }
            }
        }
        things
    }

    fn named(&self, binding: &Binding) -> Vec<Option<Value>> {
        let value = |thing: u32| self.values.value(self.value[thing as usize]).clone();
        binding.0.iter().map(|thing| thing.map(value)).collect()
    }
}

/// Bindings to things, of which a constraint and injectivity see the values.
struct Allowed<'a> {
    things: &'a Things,
    values: Partial<'a>,
}

impl Lattice for Allowed<'_> {
    type Element = Binding;

    fn bottom(&self) -> Binding {
        self.values.bottom()
    }

    fn join(&self, a: &Binding, b: &Binding) -> Option<Binding> {
        let value = |thing: u32| self.things.value[thing as usize];
        a.union(b).filter(|union| {
            self.values.allows(&Binding(union.0.iter().map(|thing| thing.map(value)).collect()))
        })
    }

    fn below(&self, element: &Binding) -> impl Iterator<Item = Binding> {
        element.parts()
    }
}

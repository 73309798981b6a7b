//! A log of events with arguments, several at one position, beside two columns.

use crate::Rng;
use std::fmt;
use tw_core::{Batch, Bits, Column, Relation, Time, TimeUnit, Value};
use tw_ir::{ArgumentKey, Measure, Program, What};
use tw_monitor::{PredicateError, Predicates, Terms, Trace};

/// Events that happen, with their numbers of arguments.
pub(super) const EVENTS: [(&str, usize); 4] = [("p", 1), ("q", 1), ("r", 2), ("e", 0)];

/// What happened at each position, and when.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Log {
    /// Never decreasing.
    pub times: Vec<Time>,
    /// The events of each position.
    pub events: Vec<Vec<(String, Vec<Value>)>>,
    /// The columns, by name, each with a value or null at every position.
    pub columns: Vec<(String, Vec<Value>)>,
}

fn value(rng: &mut Rng) -> Value {
    match rng.below(12) {
        0 => Value::text("a"),
        1 => Value::text("b"),
        2 => Value::Real(1.5),
        3 => Value::Real(2.0),
        _ => Value::Int(rng.below(4) as i64),
    }
}

impl Log {
    /// A short one, in which time may stand still.
    pub fn random(rng: &mut Rng) -> Self {
        let len = 1 + rng.below(6);
        let mut log = Self::default();
        let mut now = 0;
        for _ in 0..len {
            now += rng.pick(&[0, 0, 1, 1, 2, 3]);
            log.times.push(now);
            let events = (0..rng.pick(&[0, 1, 1, 2, 3])).map(|_| {
                let (name, arity) = rng.pick(&EVENTS);
                let null = |value: Value, rng: &mut Rng| if rng.one_in(20) { Value::Null } else { value };
                let arguments = (0..arity).map(|_| {
                    // A specification may declare that one `int`.
                    let whole = Value::Int(rng.below(4) as i64);
                    let value = if name == "p" { whole } else { value(rng) };
                    null(value, rng)
                });
                (name.to_owned(), arguments.collect())
            });
            log.events.push(events.collect());
        }
        let cell = |rng: &mut Rng| if rng.one_in(4) { Value::Null } else { Value::Int(rng.below(4) as i64) };
        let column: Vec<Value> = (0..len).map(|_| cell(rng)).collect();
        let list = |rng: &mut Rng| Value::List((0..rng.below(3)).map(|_| value(rng)).collect());
        let lists = (0..len).map(|_| list(rng)).collect();
        log.columns = vec![("c".to_owned(), column), ("l".to_owned(), lists)];
        log
    }

    /// From text, `@1 p(1) q("a") @3 r(1,2)`: a time and the events of a position, again and again. Panics on any other.
    pub fn from_text(text: &str) -> Self {
        let mut log = Self::default();
        for word in text.split_whitespace() {
            match word.strip_prefix('@') {
                Some(time) => {
                    log.times.push(time.parse().expect("a time"));
                    log.events.push(Vec::new());
                }
                None => {
                    let (name, arguments) =
                        word.trim_end_matches(')').split_once('(').expect("arguments in parentheses");
                    let value = |text: &str| match text.trim_matches('"') {
                        inner if inner.len() < text.len() => Value::text(inner),
                        number => Value::from_cell(number).expect("a value"),
                    };
                    let arguments = arguments.split(',').filter(|text| !text.is_empty()).map(value);
                    let events = log.events.last_mut().expect("a time before the events");
                    events.push((name.to_owned(), arguments.collect()));
                }
            }
        }
        log
    }

    /// The columns that a reader would deliver.
    pub fn batch(&self, program: &Program) -> Batch {
        let slots = program.slots.iter().map(|slot| self.column(&slot.what)).collect();
        Batch { len: self.times.len(), slots, times: Some(self.times.clone()) }
    }

    /// The log as engines read it: every shape that one of them may ask for.
    pub fn trace(&self, program: &Program) -> Result<Trace, PredicateError> {
        let batch = self.batch(program);
        let relation = |node| match program.pattern_slot(node).map(|slot| &batch.slots[slot as usize]) {
            Some(Column::Tuples(relation)) => relation.clone(),
            _ => Relation::default(),
        };
        Ok(Trace {
            len: batch.len,
            atoms: Predicates::new(program).evaluate(&batch)?,
            terms: Terms::new(program).evaluate(&batch),
            relations: program.patterns().into_iter().map(relation).collect(),
            times: Some(self.times.clone()),
            slots: Some(batch.slots),
            ..Trace::default()
        })
    }

    fn column(&self, what: &What) -> Column {
        match what {
            What::Event { name, arguments, arity } => {
                let fits = |event: &(String, Vec<Value>)| has(event, name, *arity, arguments);
                Column::Truth(self.events.iter().map(|events| events.iter().any(fits)).collect())
            }
            What::Proposition(path) => {
                let name = path.to_string();
                Column::Truth(
                    self.events.iter().map(|events| events.iter().any(|(n, _)| *n == name)).collect(),
                )
            }
            // Logs of events have no columns to compute from.
            What::Stream { .. } | What::Shift(_) | What::Window(_) => {
                Column::Truth(Bits::repeat(false, self.events.len()))
            }
            What::Timing(timing) => {
                let of = |at: usize| match timing.measure {
                    Measure::Time => TimeUnit::Seconds.value(self.times[at].into()),
                    Measure::Elapsed if at == 0 => Value::Null,
                    Measure::Elapsed => {
                        let since = i128::from(self.times[at]) - i128::from(self.times[at - 1]);
                        TimeUnit::Seconds.value(since)
                    }
                };
                Column::of_values((0..self.times.len()).map(of).collect())
            }
            What::Variable(path, _) => {
                let name = path.to_string();
                let name = name.strip_suffix("[*]").unwrap_or(&name);
                let found = self.columns.iter().find(|(column, _)| column == name);
                Column::Any(
                    found.map_or_else(|| vec![Value::Null; self.times.len()], |(_, cells)| cells.clone()),
                )
            }
            What::Tuples { name, constants, arity, arguments } => {
                let mut starts = vec![0u32];
                let mut columns: Vec<Vec<Value>> = vec![Vec::new(); arguments.len()];
                for events in &self.events {
                    for event in events.iter().filter(|event| has(event, name, *arity, constants)) {
                        let tuple: Vec<&Value> =
                            arguments.iter().filter_map(|key| argument(event, key)).collect();
                        if tuple.len() == arguments.len() && !tuple.iter().any(|value| value.is_null()) {
                            columns
                                .iter_mut()
                                .zip(tuple)
                                .for_each(|(column, value)| column.push(value.clone()));
                        }
                    }
                    starts.push(columns.first().map_or(0, Vec::len) as u32);
                }
                Column::Tuples(Relation::new(starts, columns.into_iter().map(Column::Any).collect()))
            }
        }
    }
}

fn argument<'e>(event: &'e (String, Vec<Value>), key: &ArgumentKey) -> Option<&'e Value> {
    match key {
        ArgumentKey::Index(place) | ArgumentKey::Declared { index: place, .. } => event.1.get(*place),
        ArgumentKey::Name(_) => None,
    }
}

fn has(
    event: &(String, Vec<Value>),
    name: &str,
    arity: Option<usize>,
    constants: &[(ArgumentKey, Value)],
) -> bool {
    let same = |a: &Value, b: &Value| match (a, b) {
        (Value::Int(a), Value::Real(b)) | (Value::Real(b), Value::Int(a)) => *a as f64 == *b,
        (a, b) => !a.is_null() && a == b,
    };
    event.0 == name
        && arity.is_none_or(|arity| arity == event.1.len())
        && constants.iter().all(|(key, wanted)| argument(event, key).is_some_and(|found| same(found, wanted)))
}

impl fmt::Display for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, events) in self.events.iter().enumerate() {
            write!(f, "  {at} @{}", self.times[at])?;
            for (name, arguments) in events {
                let arguments: Vec<String> = arguments.iter().map(Value::to_string).collect();
                write!(f, " {name}({})", arguments.join(","))?;
            }
            for (name, cells) in &self.columns {
                write!(f, " {name}={}", cells[at])?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

//! Aggregates: a number for the valuations that make a formula true, for every valuation of its other variables.

use crate::gate::Tallied;
use crate::map::Map;
use crate::predicate::{Input, Level};
use crate::trie::{Set, Trie};
use crate::truth::{Refused, Truth, Truths};
use tw_core::Value;
use tw_ir::Tally;
use tw_monitor::{arithmetic, order};

/// What a tally is worth, or why it is not.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Worth {
    Value(Value),
    Infinite(Level),
    Error(String),
}

impl Worth {
    /// The value, or what stands for none.
    pub(crate) fn value(&self, truths: &mut Truths) -> Result<Value, Truth> {
        match self {
            Worth::Value(value) => Ok(value.clone()),
            Worth::Infinite(level) => Err(truths.poison(Refused::Infinite(*level))),
            Worth::Error(message) => Err(truths.poison(Refused::Value(message.clone()))),
        }
    }
}

/// A tally of a set, of which `terms` are the columns that its value reads.
pub(crate) fn tally(
    truths: &mut Truths,
    tallied: &Tallied,
    set: &Set,
    terms: &[Option<Value>],
) -> Trie<Worth> {
    let first = tallied.bound.first().copied().unwrap_or(0);
    match set {
        Trie::Split(split) if split.level < first => {
            let rest = tally(truths, tallied, &split.rest, terms);
            let mut points = Map::default();
            split.points.each(&mut |key, child| {
                let child = tally(truths, tallied, child, terms);
                if !child.same(&rest) {
                    points.insert(key, child);
                }
                true
            });
            Trie::split(split.level, rest, points)
        }
        _ => {
            let mut found = Found { tallied, terms, count: 0, values: Vec::new(), path: Vec::new() };
            Trie::Leaf(match found.walk(truths, set) {
                Ok(()) => found.worth(),
                Err(worth) => worth,
            })
        }
    }
}

struct Found<'t> {
    tallied: &'t Tallied,
    terms: &'t [Option<Value>],
    count: i64,
    values: Vec<Value>,
    path: Vec<(Level, Value)>,
}

impl Found<'_> {
    fn walk(&mut self, truths: &mut Truths, set: &Set) -> Result<(), Worth> {
        match set {
            Trie::Leaf(Truth::NO) => Ok(()),
            Trie::Leaf(leaf) => {
                let bound = |level: &&Level| !self.path.iter().any(|(own, _)| own == *level);
                if let Some(level) = self.tallied.bound.iter().find(bound) {
                    return Err(Worth::Infinite(*level));
                }
                match leaf.known() {
                    Some(_) => self.add(truths),
                    None => Err(Worth::Error("an aggregate over a comparison that nothing decides".into())),
                }
            }
            Trie::Split(split) => {
                self.walk(truths, &split.rest)?;
                let mut result = Ok(());
                split.points.each(&mut |key, child| {
                    self.path.push((split.level, key.value()));
                    result = self.walk(truths, child);
                    self.path.pop();
                    result.is_ok()
                });
                result
            }
        }
    }

    /// One more valuation.
    fn add(&mut self, truths: &Truths) -> Result<(), Worth> {
        self.count += 1;
        let Some(term) = &self.tallied.value else { return Ok(()) };
        let value = |(at, (_, input)): (usize, &(_, Input))| match input {
            Input::Variable(level) => {
                self.path.iter().find(|(own, _)| own == level).map(|(_, value)| value.clone())
            }
            _ => self.terms[at].clone(),
        };
        let given: Option<Vec<Value>> = term.inputs.iter().enumerate().map(value).collect();
        let given = given.ok_or_else(|| Worth::Error("an aggregate of a variable without a value".into()))?;
        let value = term.value(&truths.program, &given).map_err(Worth::Error)?;
        self.values.push(value);
        Ok(())
    }

    fn worth(mut self) -> Worth {
        // What is no number is left out, as null is.
        self.values.retain(|value| matches!(value, Value::Int(_) | Value::Real(_)));
        let least = |wanted: std::cmp::Ordering| {
            let mut best: Option<&Value> = None;
            for value in &self.values {
                if best.is_none_or(|best| order(value, best) == Some(wanted)) {
                    best = Some(value);
                }
            }
            best.cloned().unwrap_or(Value::Null)
        };
        Worth::Value(match self.tallied.kind {
            Tally::Count => Value::Int(self.count),
            Tally::Min => least(std::cmp::Ordering::Less),
            Tally::Max => least(std::cmp::Ordering::Greater),
            Tally::Sum => match sum(&mut self.values) {
                Ok(sum) => sum,
                Err(message) => return Worth::Error(message),
            },
            Tally::Avg if self.values.is_empty() => Value::Null,
            Tally::Avg => {
                let count = Value::Int(self.values.len() as i64);
                match sum(&mut self.values).and_then(|sum| arithmetic(tw_ir::ArithmeticOp::Div, &sum, &count))
                {
                    Ok(average) => average,
                    Err(message) => return Worth::Error(message),
                }
            }
        })
    }
}

/// The sum, in ascending order, so that it does not depend on how the valuations are stored.
fn sum(values: &mut [Value]) -> Result<Value, String> {
    values.sort_by(|a, b| order(a, b).unwrap_or(std::cmp::Ordering::Equal));
    let mut sum = Value::Int(0);
    for value in values.iter() {
        sum = arithmetic(tw_ir::ArithmeticOp::Add, &sum, value)?;
    }
    Ok(sum)
}

//! Aggregates: a number for the valuations that make a formula true, for every valuation of its other variables.

use crate::gate::Tallied;
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
    /// What it is worth hangs on conditions, of which just one holds.
    Cases(Vec<(Truth, Worth)>),
}

/// Conditions on other variables that one tally may hang on: each doubles the cases.
const CONDITIONS: usize = 8;

impl Worth {
    /// The value, or what stands for none.
    pub(crate) fn value(&self, truths: &mut Truths) -> Result<Value, Truth> {
        match self {
            Worth::Value(value) => Ok(value.clone()),
            Worth::Infinite(level) => Err(truths.poison(Refused::Infinite(*level))),
            Worth::Error(message) => Err(truths.poison(Refused::Value(message.clone()))),
            // Who asks takes the cases apart.
            Worth::Cases(_) => Err(truths.poison(Refused::Conditions)),
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
            split.map(|_, child| tally(truths, tallied, child, terms))
        }
        _ => {
            let mut found = Found { tallied, terms, valuations: Vec::new(), path: Vec::new() };
            Trie::Leaf(match found.walk(truths, set) {
                Ok(()) => found.cases(truths),
                Err(worth) => worth,
            })
        }
    }
}

struct Found<'t> {
    tallied: &'t Tallied,
    terms: &'t [Option<Value>],
    /// Of each valuation when it counts, and the value of the term.
    valuations: Vec<(Truth, Value)>,
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
                self.add(truths, *leaf)
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
    fn add(&mut self, truths: &Truths, when: Truth) -> Result<(), Worth> {
        let Some(term) = &self.tallied.value else {
            self.valuations.push((when, Value::Null));
            return Ok(());
        };
        let value = |(at, (_, input)): (usize, &(_, Input))| match input {
            Input::Variable(level) => {
                self.path.iter().find(|(own, _)| own == level).map(|(_, value)| value.clone())
            }
            _ => self.terms[at].clone(),
        };
        let given: Option<Vec<Value>> = term.inputs.iter().enumerate().map(value).collect();
        let given = given.ok_or_else(|| Worth::Error("an aggregate of a variable without a value".into()))?;
        let value = term.value(&truths.program, &given).map_err(Worth::Error)?;
        self.valuations.push((when, value));
        Ok(())
    }

    /// What the tally is worth, by the conditions that valuations hang on.
    fn cases(&self, truths: &mut Truths) -> Worth {
        let mut conditions: Vec<Truth> = self.valuations.iter().map(|(when, _)| *when).collect();
        conditions.retain(|when| when.known().is_none());
        conditions.sort_unstable();
        conditions.dedup();
        if conditions.is_empty() {
            return self.worth(|_| true);
        }
        if conditions.len() > CONDITIONS {
            return Worth::Error("an aggregate over comparisons that nothing decides".into());
        }
        let mut cases = Vec::new();
        for choice in 0..1usize << conditions.len() {
            let mut all = Truth::YES;
            for (at, &condition) in conditions.iter().enumerate() {
                let own = if choice >> at & 1 == 1 { condition } else { truths.not(condition) };
                all = truths.and(all, own);
            }
            if all != Truth::NO {
                let chosen = |when: Truth| {
                    conditions.iter().position(|own| *own == when).is_none_or(|at| choice >> at & 1 == 1)
                };
                cases.push((all, self.worth(chosen)));
            }
        }
        Worth::Cases(cases)
    }

    fn worth(&self, counts: impl Fn(Truth) -> bool) -> Worth {
        let counted = || self.valuations.iter().filter(|(when, _)| counts(*when));
        let mut values: Vec<Value> = counted().map(|(_, value)| value.clone()).collect();
        // What is no number is left out, as null is.
        values.retain(|value| matches!(value, Value::Int(_) | Value::Real(_)));
        let least = |wanted: std::cmp::Ordering| {
            let mut best: Option<&Value> = None;
            for value in &values {
                if best.is_none_or(|best| order(value, best) == Some(wanted)) {
                    best = Some(value);
                }
            }
            best.cloned().unwrap_or(Value::Null)
        };
        Worth::Value(match self.tallied.kind {
            Tally::Count => Value::Int(counted().count() as i64),
            Tally::Min => least(std::cmp::Ordering::Less),
            Tally::Max => least(std::cmp::Ordering::Greater),
            Tally::Sum => match sum(&mut values) {
                Ok(sum) => sum,
                Err(message) => return Worth::Error(message),
            },
            Tally::Avg if values.is_empty() => Value::Null,
            Tally::Avg => {
                let count = Value::Int(values.len() as i64);
                match sum(&mut values).and_then(|sum| arithmetic(tw_ir::ArithmeticOp::Div, &sum, &count)) {
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

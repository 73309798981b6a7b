//! All violations of a property by columns: hundreds of thousands of them are arrays, where objects would take seconds.

use crate::findings;
use crate::run::Run;
use std::sync::Arc;
use tw_core::{Position, Value};
use tw_monitor::{Answer, Bindings};
use tw_trace::{Stamp, TimeStyle};

/// Violations of `G φ`, in the order of the log. All columns are of one length.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// Where each is.
    pub positions: Vec<Position>,
    /// When, if the log says.
    pub times: Option<(Vec<i64>, TimeStyle)>,
    /// The column of `by`, the number of each violation's key, and the keys.
    pub keys: Option<(String, Vec<u32>, Vec<Value>)>,
    /// The variables, and what they are in each violation; no violations where nothing is bound.
    pub variables: Vec<String>,
    /// The values of a violation: pairs of a variable's number and its value.
    pub bindings: Vec<Bindings>,
}

impl Listing {
    /// Of what fails: position in the log, position in the trace, number of the violation. The trace's positions ascend with the numbers.
    pub(super) fn new(
        run: &Run<'_>,
        by: Option<&str>,
        answer: &Answer,
        failing: &[(Position, Position, usize)],
    ) -> Self {
        let trace = &run.loaded.trace;
        let style = run.loaded.summary.style;
        let times = trace.times.as_ref().zip(style).map(|(times, style)| {
            (failing.iter().map(|&(_, at, _)| times.get(at).copied().unwrap_or_default()).collect(), style)
        });
        let keys = by.map(|by| {
            let starts = trace.starts();
            let mut segment = 0;
            // Found in one pass, before they are looked up in the log's order.
            let of: Vec<u32> = answer
                .violations
                .iter()
                .map(|&at| {
                    if at < starts[segment] {
                        segment = starts.partition_point(|&start| start <= at) - 1;
                    }
                    while starts.get(segment + 1).is_some_and(|&start| start <= at) {
                        segment += 1;
                    }
                    segment as u32
                })
                .collect();
            let own = failing.iter().map(|&(_, _, nth)| of[nth]).collect();
            let labels = run.labels.iter().map(|label| label.key.unwrap_or(Value::Null)).collect();
            (by.to_string(), own, labels)
        });
        let bindings = match answer.bindings.len() == answer.violations.len() {
            true => failing.iter().map(|&(_, _, nth)| answer.bindings[nth].clone()).collect(),
            false => Vec::new(),
        };
        Self {
            positions: failing.iter().map(|&(position, ..)| position).collect(),
            times,
            keys,
            variables: run.spec.program.dag.variables.clone(),
            bindings,
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }

    /// One of them as an object, without the line of the log.
    pub fn violation(&self, number: usize) -> findings::Violation {
        let bound = self.bindings.get(number);
        let name = |variable: &u32| self.variables.get(*variable as usize).cloned().unwrap_or_default();
        let own = bound.map_or(&[][..], Bindings::pairs);
        let mut bindings: Vec<(String, Value)> =
            own.iter().map(|(variable, value)| (name(variable), value.clone())).collect();
        if let Some((by, of, keys)) = &self.keys {
            bindings.push((by.clone(), keys[of[number] as usize].clone()));
        }
        findings::Violation {
            position: Some(self.positions[number]),
            time: self.times.as_ref().map(|(times, style)| Stamp { time: times[number], style: *style }),
            bindings,
            infinite: bound.is_some_and(Bindings::infinite),
            ..findings::Violation::default()
        }
    }

    /// All of them as objects; the first are those that are known already, with their lines.
    pub fn violations(&self, known: &[findings::Violation]) -> Vec<findings::Violation> {
        let rest = (known.len().min(self.len())..self.len()).map(|number| self.violation(number));
        known.iter().take(self.len()).cloned().chain(rest).collect()
    }
}

/// It is told to many, and large.
pub(super) type Shared = Arc<Listing>;

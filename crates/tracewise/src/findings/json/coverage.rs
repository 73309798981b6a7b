//! The object of `coverage`.

use super::write::{Object, array};
use crate::merge::{Completeness, Coverage, Estimate};

/// What the traces of a model have shown; `names` are the traces of numbers.
pub fn coverage(model: &str, coverage: &Coverage, names: &dyn Fn(&[u32]) -> Vec<String>) -> String {
    let curve = coverage.curve.iter().map(|point| {
        Object::new()
            .field("traces", point.traces)
            .field("states", point.states)
            .field("transitions", point.transitions)
            .field("expected_states", point.expected_states)
            .field("expected_transitions", point.expected_transitions)
            .end()
    });
    Object::new()
        .field("model", model)
        .field("traces", coverage.traces)
        .raw("states", &completeness(&coverage.states))
        .raw("transitions", &completeness(&coverage.transitions))
        .field("adding_nothing", names(&coverage.adding_nothing))
        .field("nothing_of_their_own", names(&coverage.nothing_of_their_own))
        .raw("curve", &array(curve))
        .end()
}

fn completeness(found: &Completeness) -> String {
    let estimate = |estimate: Option<Estimate>| match estimate {
        Some(Estimate { value, low, high }) => {
            Object::new().field("value", value).field("low", low).field("high", high).end()
        }
        None => "null".into(),
    };
    Object::new()
        .field("seen", found.distinct)
        .field("observations", found.observations)
        .field("once", found.once)
        .field("twice", found.twice)
        .field("in_one_trace", found.one_trace)
        .field("in_two_traces", found.two_traces)
        .field("unseen_mass", found.unseen_mass)
        .raw("chao1", &estimate(found.chao1))
        .raw("chao2", &estimate(found.chao2))
        .end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_that_cannot_be_made_is_null() {
        let found = Completeness {
            distinct: 3,
            observations: 5,
            once: 1,
            twice: 2,
            one_trace: 1,
            two_traces: 2,
            unseen_mass: 1.0,
            chao1: None,
            chao2: None,
        };
        assert!(completeness(&found).ends_with("\"chao1\":null,\"chao2\":null}"));
    }
}

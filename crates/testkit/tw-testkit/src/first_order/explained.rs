//! Explanations of verdicts and violations with bindings, each validated by the definitions.

use super::{Case, case};
use crate::check_explanation;
use std::ops::Range;
use tw_engine_reference::Reference;
use tw_monitor::{
    Bindings, Engine, Explanation, Request, Rule, Unsupported, explain_many, violation_request,
};

/// What was explained.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Explained {
    /// Explanations that were validated.
    pub explanations: u64,
    /// Those of them that are about some values of outer variables.
    pub bound: u64,
    /// Quantifiers decided by a value, by one that nothing names, by all values.
    pub quantifiers: [u64; 3],
    /// Cases that the engine or the definition refuses.
    pub refused: u64,
}

/// Explains the verdict of the case of every seed, and each of its violations, with columns and witnesses from `engine`.
/// Panics on the first explanation that does not follow from the definitions.
pub fn explained(engine: &dyn Engine, seeds: Range<u64>) -> Explained {
    let mut summary = Explained::default();
    for seed in seeds {
        let case = case(seed);
        let Ok(explanations) = explanations(engine, &case) else {
            summary.refused += 1;
            continue;
        };
        let trace = case.trace().expect("it was read before");
        for explanation in explanations {
            if let Err(why) = check_explanation(&case.program, &trace, &case.options(), &explanation) {
                panic!("{} explains wrongly, seed {seed}\n{case}{why}\n{explanation:#?}", engine.name());
            }
            summary.explanations += 1;
            summary.bound += u64::from(!explanation.claims[0].bindings.is_empty());
            for (rule, count) in
                [Rule::Instance, Rule::Unnamed, Rule::Nobody].iter().zip(&mut summary.quantifiers)
            {
                *count += explanation.claims.iter().filter(|claim| claim.rule == *rule).count() as u64;
            }
        }
    }
    summary
}

fn explanations(engine: &dyn Engine, case: &Case) -> Result<Vec<Explanation>, Unsupported> {
    let unread = |error: tw_monitor::PredicateError| Unsupported::budget(error.message);
    let trace = case.trace().map_err(unread)?;
    Reference.plan(&case.program, &case.options())?.evaluate(&trace, 0)?;
    let mut evaluator = engine.plan(&case.program, &case.options())?;
    let answers = evaluator.evaluate(&trace, usize::MAX)?;
    let mut requests: Vec<Request> = Vec::new();
    for (root, answer) in case.program.roots.iter().zip(&answers) {
        requests.push((root.node, 0, Bindings::default()));
        let found = answer.violations.iter().zip(&answer.bindings);
        requests.extend(found.map(|(&at, bound)| violation_request(&case.program, root.node, 0, at, bound)));
    }
    let (program, options) = (&case.program, case.options());
    explain_many(program, &trace, &options, &mut *evaluator, (&requests, &[]), Explanation::DEPTH, 1 << 20)
}

//! Engines: the registry of them, one row each.

use tw_monitor::Queries;
pub use tw_monitor::{Answers, Engine};

/// Every engine. Of those that give the kind of answer wanted, `auto` takes the first that accepts the program (of those
/// that read forward, for live traces), so the fastest stand first; the reference, which refuses least, stands last.
pub static ENGINES: &[&dyn Engine] = &[
    &tw_engine_columnar::Columnar,
    &tw_engine_automaton::Automaton,
    &tw_engine_alternating::BreadthFirst,
    &tw_engine_rewrite::Rewrite,
    &tw_engine_alternating::Reverse,
    &tw_engine_alternating::DepthFirst,
    &tw_engine_metric::Metric,
    // The only one for continuous time, and for nothing else.
    &tw_engine_dense::Dense,
    // The only one for charts, and for nothing else.
    &tw_engine_charts::Charts,
    // The only one for quantifiers on logs that are not small.
    &tw_engine_relational::Relational,
    &tw_engine_reference::Reference,
    &Queries(tw_query_columnar::Columnar),
    &Queries(tw_query_forward::Forward),
    &Queries(tw_query_reverse::Reverse),
    &Queries(tw_engine_reference::ReferenceQueries),
];

/// The engines that answer so, in the order of [`ENGINES`].
pub fn giving(answers: Answers) -> impl Iterator<Item = &'static dyn Engine> {
    ENGINES.iter().copied().filter(move |engine| engine.answers() == answers)
}

/// The engine called `name` that answers so. Verdicts and values may come from engines of one name.
pub fn named(answers: Answers, name: &str) -> Option<&'static dyn Engine> {
    giving(answers).find(|engine| engine.name() == name)
}

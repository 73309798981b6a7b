//! The registries: one row per engine and per format.

use tw_monitor::{Answers, Engine, Queries, QueryEngine};
use tw_trace::TraceFormat;

/// Every engine: those for properties, then those for queries. Of the kind asked for ([`engines`]), `auto` takes the first that
/// accepts the program (of those that read forward, for live traces), so the fastest stand first; the reference, which
/// refuses least, stands last.
pub static ENGINES: &[&dyn Engine] = &[
    &tw_engine_columnar::Columnar,
    &tw_engine_automaton::Automaton,
    &tw_engine_alternating::BreadthFirst,
    &tw_engine_rewrite::Rewrite,
    &tw_engine_alternating::Reverse,
    &tw_engine_alternating::DepthFirst,
    &tw_engine_metric::Metric,
    // The only one for continuous time, and for nothing else.
    &tw_dense::Dense,
    &tw_engine_reference::Reference,
    &Queries(tw_query_columnar::Columnar),
    &Queries(tw_query_forward::Forward),
    &Queries(tw_query_reverse::Reverse),
    &Queries(tw_engine_reference::ReferenceQueries),
];

/// Every engine for queries, as such, the fastest first; `auto` takes the first that accepts.
pub static QUERY_ENGINES: &[&dyn QueryEngine] = &[
    &tw_query_columnar::Columnar,
    &tw_query_forward::Forward,
    &tw_query_reverse::Reverse,
    &tw_engine_reference::ReferenceQueries,
];

/// The engines that give one kind of answer, the fastest first.
pub fn engines(answers: Answers) -> impl Iterator<Item = &'static dyn Engine> {
    ENGINES.iter().copied().filter(move |engine| engine.answers() == answers)
}

/// The engine called `name` that answers with verdicts. Engines of several kinds may have one name.
pub fn engine(name: &str) -> Option<&'static dyn Engine> {
    engine_for(name, Answers::Verdicts)
}

/// The engine called `name` that gives this kind of answer.
pub fn engine_for(name: &str, answers: Answers) -> Option<&'static dyn Engine> {
    engines(answers).find(|engine| engine.name() == name)
}

/// Every trace format of this build.
pub fn formats() -> Vec<&'static dyn TraceFormat> {
    #[allow(unused_mut)]
    let mut formats = tw_trace::FORMATS.to_vec();
    #[cfg(feature = "parquet")]
    formats.extend_from_slice(tw_arrow::ARROW_FORMATS);
    formats
}

/// The format called `name`.
pub fn format_named(name: &str) -> Option<&'static dyn TraceFormat> {
    formats().into_iter().find(|format| format.name() == name)
}

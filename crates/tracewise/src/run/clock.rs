//! Which clock measures intervals, once it is known whether the trace has timestamps.

use super::columns::Loaded;
use super::faults::without_timestamps;
use super::hints::proposed_time;
use crate::error::Setting;
use crate::plan::{self, Chosen, Who};
use crate::{Error, Session, Specification};
use tw_diag::Diagnostic;
use tw_ir::{Clock, IntervalError, NodeId};
use tw_monitor::EvaluateOptions;

/// Whether the program measures time by the trace's timestamps. Continuous time always does: a state lasts from its
/// timestamp to the next.
pub(crate) fn needs_times(session: &Session, spec: &Specification) -> bool {
    match session.evaluate.clock {
        Clock::Index => false,
        Clock::Dense => true,
        Clock::Stamps => spec.program.dag.nodes().iter().any(|node| node.interval().is_some()),
    }
}

/// How to evaluate on this trace: where it turns out to have no timestamps, intervals count positions.
pub(crate) fn options(
    session: &Session,
    spec: &Specification,
    loaded: &Loaded,
) -> Result<EvaluateOptions, Error> {
    let mut options = session.evaluate_options();
    if loaded.summary.timed {
        return Ok(options);
    }
    if session.evaluate.clock == Clock::Dense {
        let why = format!("`{}` is about the time between timestamps", Setting::Clock.to("dense"));
        return Err(without_timestamps(loaded.name(), &why));
    }
    options.clock = Clock::Index;
    if needs_times(session, spec) {
        refuse_units(
            spec,
            &options,
            &format!("{} has no timestamps{}", loaded.name(), proposed_time(&loaded.opened)),
        )?;
    }
    Ok(options)
}

/// The same engine again, if the trace turned out to have no timestamps.
pub(crate) fn settle<'p>(
    session: &Session,
    spec: &'p Specification,
    loaded: &Loaded,
    chosen: Chosen<'p>,
    who: Who<'_>,
) -> Result<(Chosen<'p>, EvaluateOptions), Error> {
    let options = options(session, spec, loaded)?;
    if loaded.summary.timed || !needs_times(session, spec) {
        return Ok((chosen, options));
    }
    let engine = if chosen.divided { "auto" } else { chosen.engine };
    let session = session.clone().clock(Clock::Index).engine(engine);
    Ok((plan::choose(&session, spec, &options, who)?, options))
}

/// Why intervals count positions where the session says so.
pub(crate) fn counts_positions() -> String {
    format!("`{}` counts positions", Setting::Clock.to("index"))
}

/// What is asked of positions: roots, and what windows aggregate.
fn asked(spec: &Specification) -> Vec<NodeId> {
    let windows = spec.program.windows().flat_map(|(_, window)| window.parts());
    spec.program.roots.iter().map(|root| root.node).chain(windows).collect()
}

/// Intervals that cannot count positions are the specification's fault, not an engine's; `why` says why they must.
pub(crate) fn refuse_units(spec: &Specification, options: &EvaluateOptions, why: &str) -> Result<(), Error> {
    for id in spec.program.reachable(&asked(spec)) {
        let Some(interval) = spec.program.dag.node(id).interval() else { continue };
        let (what, help) = match interval.ticks(Clock::Index, options.unit) {
            Err(IntervalError::UnitWithoutTime) => (
                "has a unit of time",
                format!(
                    "leave the unit out to count positions, or name the column of timestamps with `{}`",
                    Setting::Time.to("COL")
                ),
            ),
            Err(IntervalError::TooFine) => {
                ("has a fraction of a position", "write whole numbers".to_string())
            }
            _ => continue,
        };
        let mut diagnostic = Diagnostic::error("bad-interval", format!("this interval {what}, but {why}"));
        match spec.span(id) {
            Some(span) => diagnostic = diagnostic.at(span, "on this operator"),
            None => diagnostic.message.push_str(&format!(" (in `{}`)", spec.words(id))),
        }
        return Err(Error::unsupported(spec, diagnostic.help(help)));
    }
    Ok(())
}

/// Intervals between neighbouring ticks hold no distance between timestamps or positions; in continuous time they hold
/// some, so only who knows the clock can tell.
pub(crate) fn refuse_empty_intervals(spec: &Specification, options: &EvaluateOptions) -> Result<(), Error> {
    let ticks = match options.clock {
        Clock::Stamps => "nanoseconds",
        Clock::Index => "positions",
        Clock::Dense => return Ok(()),
    };
    for id in spec.program.reachable(&asked(spec)) {
        let Some(interval) = spec.program.dag.node(id).interval() else { continue };
        if interval.ticks(options.clock, options.unit) != Err(IntervalError::Empty) {
            continue;
        }
        let message = format!("the interval `{interval}` is empty: no whole number of {ticks} lies inside");
        let mut diagnostic = Diagnostic::error("empty-interval", message);
        if let Some(span) = spec.span(id) {
            diagnostic = diagnostic.at(span, "on this operator");
        }
        let help = format!(
            "close an end with `[` or `]`; in continuous time (`{}`) there are instants inside",
            Setting::Clock.to("dense")
        );
        return Err(Error::unsupported(spec, diagnostic.help(help)));
    }
    Ok(())
}

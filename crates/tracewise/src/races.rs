//! `races`: error patterns of concurrent programs, with the log lines they rest on.

use crate::check::LogLine;
use crate::check::log_line;
use crate::run::open::Opened;
use crate::run::order::Aside;
use crate::{Error, Session};
use std::collections::{BTreeSet, HashMap};
use std::ops::ControlFlow;
use tw_core::Position;
use tw_diag::Diagnostic;
use tw_races::Report;
pub use tw_races::{Deadlock, Fields, Limits, Oddity, OddityKind, Place, Race, Turn, Use};
use tw_trace::{Projection, Row, TraceError};

/// Where the events say what they are about, and how far to search.
#[derive(Clone, Debug, Default)]
pub struct RacesOptions {
    /// The names of threads, locks, variables and children in the events.
    pub fields: Fields,
    /// When to give up.
    pub limits: Limits,
}

/// What was found in a trace, and where its lines are.
#[derive(Clone, Debug)]
pub struct RacesReport {
    /// The trace as the user named it.
    pub trace: String,
    /// The findings.
    pub found: Report,
    /// What is to be said of the trace: lines left out, timestamps that go back.
    pub warnings: Vec<Diagnostic>,
    lines: HashMap<u64, LogLine>,
}

impl RacesReport {
    /// The log line of a place; only its number where the text is gone (a long stream).
    pub fn line(&self, place: Place) -> LogLine {
        self.lines.get(&place.position).cloned().unwrap_or_else(|| LogLine {
            file: self.trace.clone(),
            line: place.line,
            text: Default::default(),
        })
    }
}

pub(crate) fn races(
    session: &Session,
    files: &[String],
    options: &RacesOptions,
) -> Result<RacesReport, Error> {
    let mut opened = Opened::new(session, files)?;
    let mut aside = Aside::default();
    let mut rows = |each: &mut dyn FnMut(&Row) -> Result<bool, TraceError>| {
        aside = opened.rows(each)?;
        Ok(())
    };
    let found = tw_races::read_rows(&mut rows, &options.fields, options.limits)
        .map_err(|error| error.in_file(&opened.name))?;
    let warnings = aside.warnings(&opened.name);
    let places = places(&found);
    // What cannot be read again is told without its text: the findings stand.
    let lines = lines(session, &opened, &places).unwrap_or_default();
    Ok(RacesReport { trace: opened.name, found, warnings, lines })
}

/// Every place that a report speaks of.
fn places(report: &Report) -> BTreeSet<u64> {
    let mut places: Vec<Place> = Vec::new();
    for turn in report.deadlocks.iter().flat_map(|deadlock| &deadlock.turns) {
        places.extend([turn.held_at, turn.at]);
    }
    for race in &report.races {
        places.extend([race.access.at, race.earlier.at]);
        places.extend(race.write.as_ref().map(|write| write.at));
    }
    for oddity in &report.oddities {
        places.push(oddity.at);
        match &oddity.kind {
            OddityKind::HeldByOther(_, since) | OddityKind::GotWhileHeld(_, since) => places.push(*since),
            OddityKind::NotHeld => {}
        }
    }
    places.into_iter().map(|place| place.position).collect()
}

/// The lines of positions. Rows were read one by one; a second look by blocks, up to the last position wanted, finds
/// them by file too, and after sorting.
fn lines(
    session: &Session,
    opened: &Opened,
    places: &BTreeSet<u64>,
) -> Result<HashMap<u64, LogLine>, TraceError> {
    let Some(&last) = places.last() else { return Ok(HashMap::new()) };
    let mut passed = 0;
    let mut fold = |positions: usize| {
        passed += positions as u64;
        Ok(if passed > last { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    };
    let nothing = Projection::default();
    let summary = opened.scan(session, &nothing, &|batch| Ok(batch.len), &mut fold)?;
    let wanted: Vec<Position> = places.iter().map(|&position| position as Position).collect();
    let located = opened.locate(&summary.locator, &wanted);
    Ok(located.values().filter_map(|at| Some((at.position as u64, log_line(at)?))).collect())
}

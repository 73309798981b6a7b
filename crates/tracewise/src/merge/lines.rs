//! From positions back to the lines of the logs.

use super::read::readable_once;
use crate::run::open::Opened;
use crate::{Error, Session};
use rustc_hash::FxHashMap;
use tw_core::Position;
use tw_model::{Model, Place, Seen};
use tw_trace::Locator;

/// Where the lines of one trace are.
pub(crate) struct Lines {
    pub trace: u32,
    pub name: String,
    pub files: Vec<String>,
    pub locator: Locator,
    /// The positions of the file that are the trace, if not all of them are.
    pub order: Option<Vec<u32>>,
}

impl Lines {
    /// The position in the file.
    fn position(&self, position: u64) -> Position {
        let own = position as usize;
        self.order.as_ref().map_or(own, |order| order.get(own).map_or(own, |&at| at as usize))
    }
}

/// Turns the positions of a model's record into lines. What a stream does not tell any more stays a position, counted
/// from 1.
pub(crate) fn relocate(session: &Session, model: &mut Model, lines: &[Lines]) -> Result<(), Error> {
    let Some(record) = &mut model.record else { return Ok(()) };
    let mut unknown: FxHashMap<u32, Vec<Position>> = FxHashMap::default();
    let places = record.states.iter().chain(&record.edges).filter(|seen| seen.count > 0);
    for place in places.flat_map(|seen| [seen.first, seen.last]) {
        let own = &lines[place.trace() as usize];
        let position = own.position(place.line());
        if own.locator.line(position).is_none() {
            unknown.entry(place.trace()).or_default().push(position);
        }
    }
    let mut found: FxHashMap<(u32, Position), u64> = FxHashMap::default();
    for (trace, mut positions) in unknown {
        positions.sort_unstable();
        positions.dedup();
        let own = &lines[trace as usize];
        if own.files.iter().any(|file| readable_once(file)) {
            continue;
        }
        let Opened { input, format, read, .. } = Opened::new(session, &own.files)?;
        for located in own.locator.locate(&input, format, &read, &positions)? {
            found.extend(located.line.map(|line| ((trace, located.position), line)));
        }
    }
    let line = |place: Place| {
        let own = &lines[place.trace() as usize];
        let position = own.position(place.line());
        let known = own.locator.line(position).or_else(|| found.get(&(place.trace(), position)).copied());
        Place::new(place.trace(), known.unwrap_or(position as u64 + 1))
    };
    let turn = |seen: &mut Seen| {
        if seen.count > 0 {
            (seen.first, seen.last) = (line(seen.first), line(seen.last));
        }
    };
    record.states.iter_mut().chain(&mut record.edges).for_each(turn);
    Ok(())
}

/// The lines of positions of one trace, in the order given.
pub(crate) fn find(session: &Session, lines: &Lines, positions: &[u64]) -> Result<Vec<u64>, Error> {
    let positions: Vec<Position> = positions.iter().map(|&position| lines.position(position)).collect();
    let known: Vec<Option<u64>> = positions.iter().map(|&position| lines.locator.line(position)).collect();
    if known.iter().all(Option::is_some) {
        return Ok(known.into_iter().flatten().collect());
    }
    let Opened { input, format, read, .. } = Opened::new(session, &lines.files)?;
    let located = lines.locator.locate(&input, format, &read, &positions)?;
    Ok(located.iter().map(|located| located.line.unwrap_or(located.position as u64 + 1)).collect())
}

//! One file as one trace, or as one per value of a column: one request, one user.

use super::lines::Lines;
use super::names::{Style, Valuations};
use super::read::{Source, read};
use super::{limit_message, refuse_empty, too_many};
use crate::by::Groups;
use crate::load::display_name;
use crate::{Error, Session};
use tw_model::Place;

/// The traces in some files and the codes of their states; `first` is the number of the first.
pub(super) fn divide(
    session: &Session,
    source: &Source,
    files: &[String],
    valuations: &mut Valuations,
    first: u32,
) -> Result<Vec<(Lines, Vec<u32>)>, Error> {
    let mut codes: Vec<u32> = Vec::new();
    let mut keep = |more: &[u32]| {
        codes.extend_from_slice(more);
        match codes.len() * 8 > session.memory_budget || codes.len() > u32::MAX as usize {
            true => Err(limit_message("the positions of a trace that is divided must fit the memory budget")),
            false => Ok(()),
        }
    };
    let read_once = read(session, source, files, valuations, &mut keep)?;
    refuse_empty(read_once.positions, files)?;
    let whole = display_name(files);
    let lines = |trace, name, order| Lines {
        trace,
        name,
        files: files.to_vec(),
        locator: read_once.locator.clone(),
        order,
    };
    let Some(column) = &session.by else {
        return Ok(vec![(lines(first, whole, None), codes)]);
    };
    let mut keys = Valuations::new(Style::Bare, std::slice::from_ref(column));
    let mut ids: Vec<u32> = Vec::new();
    let mut collect = |more: &[u32]| {
        ids.extend_from_slice(more);
        Ok(())
    };
    read(session, &Source::Column(column.clone()), files, &mut keys, &mut collect)?;
    // Positions without a key belong to no trace.
    let nobody = (0..keys.len() as u32).find(|&code| keys.name(code).is_null());
    ids.iter_mut().filter(|id| Some(**id) == nobody).for_each(|id| *id = u32::MAX);
    let groups = Groups::of(keys.len(), &ids);
    let mut sequences = Vec::new();
    for key in 0..keys.len() {
        let start = groups.starts[key];
        let end = groups.starts.get(key + 1).copied().unwrap_or(groups.order.len());
        if start == end {
            continue;
        }
        let trace = first + sequences.len() as u32;
        if trace as usize >= Place::MAX_TRACES {
            return Err(too_many());
        }
        let order = groups.order[start..end].to_vec();
        let own = order.iter().map(|&at| codes[at as usize]).collect();
        let name = format!("{whole} ({column}={})", keys.name(key as u32));
        sequences.push((lines(trace, name, Some(order)), own));
    }
    Ok(sequences)
}

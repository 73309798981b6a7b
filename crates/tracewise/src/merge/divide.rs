//! One file as one trace, or as one per value of a column: one request, one user.

use super::lines::Lines;
use super::names::Valuations;
use super::read::{Source, read, read_with_keys};
use super::{limit_message, refuse_empty, too_many};
use crate::run::divide::Groups;
use crate::run::open::display_name;
use crate::run::order::Aside;
use crate::{Error, Session};
use tw_model::Place;

/// Traces, each with the codes of its states.
type Sequences = Vec<(Lines, Vec<u32>)>;

/// The traces in some files and the codes of their states; `first` is the number of the first.
pub(super) fn divide(
    session: &Session,
    source: &Source,
    files: &[String],
    by: Option<&str>,
    valuations: &mut Valuations,
    first: u32,
) -> Result<Sequences, Error> {
    divide_counting(session, source, files, by, valuations, first).map(|(sequences, ..)| sequences)
}

/// The same, and the number of positions that belong to no trace: those without a key.
pub(super) fn divide_counting(
    session: &Session,
    source: &Source,
    files: &[String],
    by: Option<&str>,
    valuations: &mut Valuations,
    first: u32,
) -> Result<(Sequences, u64, Aside), Error> {
    valuations.begin(first);
    let mut codes: Vec<u32> = Vec::new();
    let mut keep = |more: &[u32]| {
        codes.extend_from_slice(more);
        match codes.len() * 8 > session.evaluate.memory_budget || codes.len() > u32::MAX as usize {
            true => Err(limit_message("the positions of a trace that is divided must fit the memory budget")),
            false => Ok(()),
        }
    };
    let (read_once, keys) = match by {
        None => (read(session, source, files, valuations, &mut keep)?, None),
        Some(column) => {
            let (read, keys) = read_with_keys(session, source, files, column, valuations, &mut keep)?;
            (read, Some((column, keys)))
        }
    };
    refuse_empty(read_once.positions, files)?;
    let whole = display_name(files);
    let lines = |trace, name, order| Lines {
        trace,
        name,
        files: files.to_vec(),
        locator: read_once.locator.clone(),
        order,
    };
    let Some((column, keys)) = keys else {
        return Ok((vec![(lines(first, whole, None), codes)], 0, read_once.aside));
    };
    let groups = Groups::of(keys.names.len(), &keys.ids);
    let without = codes.len() - groups.order.len();
    let mut sequences = Vec::new();
    for (key, text) in keys.names.iter().enumerate() {
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
        let name = format!("{whole} ({column}={text})");
        sequences.push((lines(trace, name, Some(order)), own));
    }
    Ok((sequences, without as u64, read_once.aside))
}

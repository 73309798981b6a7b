//! Where a path of a merged model comes from: one trace that went all along it, or pieces of several.

use super::names::codes_by_name;
use super::{divide::divide, lines, options, source};
use crate::{Error, Session};
use std::path::Path;
use tw_merge::{Found, Splice};
use tw_model::{Domain, Model, State};

/// A stretch of a path that one trace went along.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The first and the last of its steps, as indices into the path.
    pub steps: (usize, usize),
    /// The trace; `None` for a transition that nobody went, assumed where traces end.
    pub trace: Option<String>,
    /// The lines of its steps in the log, in order; empty where nobody went.
    pub lines: Vec<u64>,
}

/// Where a path comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The model was not merged from traces, or there is no path.
    Nowhere,
    /// The fewest pieces that it is put together from: one, and a trace went all along it.
    Pieces(Vec<Piece>),
    /// The traces cannot be read again, and why.
    Gone(String),
}

impl Origin {
    /// Whether one trace went all along the path; `None` where that is not known. Loops that were assumed at the end of
    /// a trace do not count against it.
    pub fn observed(&self) -> Option<bool> {
        match self {
            Origin::Pieces(pieces) => Some(pieces.iter().filter(|piece| piece.trace.is_some()).count() <= 1),
            Origin::Nowhere | Origin::Gone(_) => None,
        }
    }
}

/// Finds a path in the traces that the model was merged from, by reading them again.
pub(crate) fn origin(session: &Session, model: &Model, path: &[State]) -> Origin {
    let Some(merged) = model.merged.as_ref().filter(|_| model.record.is_some() && !path.is_empty()) else {
        return Origin::Nowhere;
    };
    match options::recall(session, merged)
        .and_then(|(session, options)| search(&session, model, &options, path))
    {
        Ok(origin) => origin,
        Err(error) => Origin::Gone(first_line(&error)),
    }
}

fn search(
    session: &Session,
    model: &Model,
    options: &super::MergeOptions,
    path: &[State],
) -> Result<Origin, Error> {
    let Some(record) = &model.record else { return Ok(Origin::Nowhere) };
    let (Some(merged), Domain::Values(states)) = (&model.merged, &model.variables[0].domain) else {
        return Ok(Origin::Nowhere);
    };
    let files: Vec<&String> = match session.by {
        Some(_) => merged.options.iter().filter(|(name, _)| name == "file").map(|(_, file)| file).collect(),
        None => record.traces.iter().collect(),
    };
    if let Some(missing) = files.iter().find(|file| !Path::new(file.as_str()).exists()) {
        return Ok(Origin::Gone(format!("there is no file `{missing}` any more")));
    }
    let traces: Vec<Vec<String>> = files.into_iter().map(|file| vec![file.clone()]).collect();
    let source = source(session, &traces, &options.states)?;
    let code_of = codes_by_name(states);
    let Some(mut splice) = Splice::new(model, path) else { return Ok(Origin::Nowhere) };
    let mut valuations = source.valuations();
    // The model's code of each valuation; a state that the model lacks is met by no step of the path.
    let mut translated: Vec<u32> = Vec::new();
    let mut all = Vec::new();
    for files in &traces {
        let parts = divide(session, &source, files, &mut valuations, all.len() as u32)?;
        translated.extend(
            (translated.len() as u32..valuations.len() as u32)
                .map(|code| code_of(&valuations.name(code)).unwrap_or(u32::MAX)),
        );
        for (lines, codes) in parts {
            let codes: Vec<u32> = codes.iter().map(|&code| translated[code as usize]).collect();
            splice.begin(lines.trace);
            splice.extend(&codes);
            splice.end();
            all.push(lines);
        }
    }
    let time = model.variable("time");
    let pieces = splice.finish();
    let mut found = Vec::with_capacity(pieces.len());
    for piece in pieces {
        let steps = (piece.steps.start, piece.steps.end.saturating_sub(1));
        let Some(Found { trace, first, last }) = piece.found else {
            let went = model.graph.edge(path[steps.0], path[steps.1]);
            if went.is_some_and(|edge| record.edges.get(edge as usize).is_some_and(|seen| seen.count > 0)) {
                return Ok(Origin::Gone("the traces have changed since they were merged".into()));
            }
            found.push(Piece { steps, trace: None, lines: Vec::new() });
            continue;
        };
        // Where instants are kept they tell the position; elsewhere a step is a position.
        let position = |step: usize| match time {
            Some(time) => u64::from(model.code(time, path[step])),
            None => first + (step - steps.0) as u64,
        };
        // The state `end` comes after the last position, and is told by it.
        let positions: Vec<u64> = (steps.0..=steps.1).map(|step| position(step).min(last)).collect();
        let lines = lines::find(session, &all[trace as usize], &positions)?;
        found.push(Piece { steps, trace: Some(all[trace as usize].name.clone()), lines });
    }
    Ok(Origin::Pieces(found))
}

fn first_line(error: &Error) -> String {
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    line.split_once("]: ").map_or(line, |(_, message)| message).to_string()
}

//! Where a path of a merged model comes from: one trace that went all along it, or pieces of several.

use super::names::codes_by_name;
use super::{divide::divide, lines, options, source};
use crate::{Error, Session};
use std::path::Path;
use tw_merge::{Ends, Follower, Found, Keep, Splice};
use tw_model::{Cells, Domain, Model, State};

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
    /// One trace went all along it, from its own beginning; and where the path then stays because nothing is known, the
    /// trace ended. The first piece is that trace's, and what was assumed after its end follows.
    Observed(Vec<Piece>),
    /// No trace did: the fewest pieces that it is put together from. A path that goes round for ever is put together,
    /// too, as a trace goes round as often as it does.
    Spliced(Vec<Piece>),
    /// The traces cannot be read again, and why.
    Gone(String),
}

impl Origin {
    /// The pieces of the path.
    pub fn pieces(&self) -> &[Piece] {
        match self {
            Origin::Observed(pieces) | Origin::Spliced(pieces) => pieces,
            Origin::Nowhere | Origin::Gone(_) => &[],
        }
    }
}

/// Finds a path from an initial state in the traces that the model was merged from, by reading them again. With
/// `endless` it comes back to an earlier state in the end, and goes round from there for ever.
pub(crate) fn origin(session: &Session, model: &Model, path: &[State], endless: bool) -> Origin {
    let Some(merged) = model.merged.as_ref().filter(|_| model.record.is_some() && !path.is_empty()) else {
        return Origin::Nowhere;
    };
    match options::recall(session, merged)
        .and_then(|(session, options)| search(&session, model, &options, path, endless))
    {
        Ok(origin) => origin,
        Err(error) => Origin::Gone(first_line(&error)),
    }
}

/// Looks for one trace that went all along a path.
struct Whole<'a> {
    follower: Follower<'a>,
    /// The part of the path that is not assumed.
    real: &'a [State],
    /// Whether the trace has to end there.
    ends: bool,
    /// The state that all traces end in, if it is the last of the path.
    end: Option<State>,
}

impl<'a> Whole<'a> {
    /// `None` if no trace can have gone along all of it.
    fn new(model: &'a Model, path: &'a [State], endless: bool) -> Option<Self> {
        let record = model.record.as_ref()?;
        let count = |from: State, to: State| {
            model.graph.edge(from, to).map_or(0, |edge| record.edges[edge as usize].count)
        };
        let seen = |pair: &[State]| count(pair[0], pair[1]) > 0;
        let real = path.windows(2).take_while(|pair| seen(pair)).count();
        let rest = path.len() - 1 - real;
        // Once assumed, always assumed; and a loop that was seen was not seen to go on for ever.
        if path[real..].windows(2).any(seen) || endless && rest == 0 {
            return None;
        }
        let last = path[real];
        let is_end = model.merged.as_ref().is_some_and(|merged| merged.ends == Ends::State.to_string())
            && model.graph.successors(last) == [last]
            && count(last, last) == 0;
        Some(Self {
            follower: Follower::new(model)?,
            real: &path[..=real],
            ends: rest > 0,
            end: is_end.then_some(last),
        })
    }

    /// The positions of the steps, if the trace went along them.
    fn find(&mut self, codes: &[u32]) -> Option<Vec<u64>> {
        let steps = match self.end {
            Some(_) => &self.real[..self.real.len() - 1],
            None => self.real,
        };
        let (mut positions, mut next) = (Vec::with_capacity(self.real.len()), steps.iter());
        for (position, &code) in codes.iter().enumerate() {
            let state = match position {
                0 => self.follower.start(code),
                _ => self.follower.step(code),
            };
            match (state, next.as_slice().first()) {
                // Where changes are kept, a state that lasts is no step.
                (None, _) if position > 0 && self.follower.keep() == Keep::Change && code != u32::MAX => {}
                (Some(state), Some(&expected)) if state == expected => {
                    positions.push(position as u64);
                    next.next();
                }
                (_, Some(_)) => return None,
                // The trace goes on.
                (_, None) if self.ends || self.end.is_some() => return None,
                (_, None) => break,
            }
        }
        if !next.as_slice().is_empty() {
            return None;
        }
        // The state `end` comes after the last position, and is told by it.
        positions.extend(self.end.map(|_| codes.len() as u64 - 1));
        Some(positions)
    }
}

fn search(
    session: &Session,
    model: &Model,
    options: &super::MergeOptions,
    path: &[State],
    endless: bool,
) -> Result<Origin, Error> {
    let Some(record) = &model.record else { return Ok(Origin::Nowhere) };
    let (Some(merged), Domain::Values(states)) = (&model.merged, &model.variables[0].domain) else {
        return Ok(Origin::Nowhere);
    };
    let files: Vec<&String> = match options.by {
        Some(_) => merged.options.iter().filter(|(name, _)| name == "file").map(|(_, file)| file).collect(),
        None => record.traces.iter().collect(),
    };
    if let Some(missing) = files.iter().find(|file| !Path::new(file.as_str()).exists()) {
        return Ok(Origin::Gone(format!("there is no file `{missing}` here")));
    }
    let traces: Vec<Vec<String>> = files.into_iter().map(|file| vec![file.clone()]).collect();
    let source = source(session, &traces, &options.states)?;
    let code_of = codes_by_name(states);
    let Some(mut splice) = Splice::new(model, path) else { return Ok(Origin::Nowhere) };
    let mut whole = Whole::new(model, path, endless);
    let mut valuations = source.valuations();
    // A column that turns up in a later trace is part of the names of all.
    let properties = model.variables.iter().filter(|variable| matches!(variable.cells, Cells::Of(0, _)));
    valuations.know(properties.map(|variable| variable.name.as_str()));
    // The model's code of each valuation; a state that the model lacks is met by no step of the path.
    let mut translated: Vec<u32> = Vec::new();
    let mut all = Vec::new();
    for files in &traces {
        let parts =
            divide(session, &source, files, options.by.as_deref(), &mut valuations, all.len() as u32)?;
        let new = valuations.names(translated.len() as u32).into_iter();
        translated.extend(new.map(|name| code_of(&name).unwrap_or(u32::MAX)));
        for (lines, codes) in parts {
            let codes: Vec<u32> = codes.iter().map(|&code| translated[code as usize]).collect();
            if let Some(whole) = &mut whole
                && let Some(positions) = whole.find(&codes)
            {
                let steps = (0, whole.real.len() - 1);
                let own = lines::find(session, &lines, &positions)?;
                let mut pieces = vec![Piece { steps, trace: Some(lines.name), lines: own }];
                if steps.1 + 1 < path.len() {
                    pieces.push(Piece { steps: (steps.1, path.len() - 1), trace: None, lines: Vec::new() });
                }
                return Ok(Origin::Observed(pieces));
            }
            splice.begin(lines.trace);
            splice.extend(&codes);
            splice.end();
            all.push(lines);
        }
    }
    let time = model.variable("time").filter(|_| matches!(options.keep, Keep::Time | Keep::Change));
    let pieces = splice.finish();
    let mut found = Vec::with_capacity(pieces.len());
    for piece in pieces {
        let steps = (piece.steps.start, piece.steps.end.saturating_sub(1));
        let Some(Found { trace, first, last }) = piece.found else {
            let seen = |pair: &[State]| {
                let edge = model.graph.edge(pair[0], pair[1]);
                edge.is_some_and(|edge| record.edges.get(edge as usize).is_some_and(|seen| seen.count > 0))
            };
            if path[steps.0..=steps.1].windows(2).any(seen) {
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
    Ok(Origin::Spliced(found))
}

fn first_line(error: &Error) -> String {
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    line.split_once("]: ").map_or(line, |(_, message)| message).to_string()
}

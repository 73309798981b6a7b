//! How traces are merged, and how a model remembers it.

use super::{Ends, Keep, Limits};
use crate::{Error, Session};
use tw_model::Merged;

/// What the states of a model are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum StateNames {
    /// The column `state`; where there is none, the valuation of all variables; where there are none, the events.
    #[default]
    Auto,
    /// The value of a column, or the values of several.
    Columns(Vec<String>),
    /// What the `let` declarations of this specification file say.
    Specification(String),
}

/// How traces are merged.
#[derive(Clone, Debug)]
pub struct MergeOptions {
    /// What two moments must share to be one state.
    pub keep: Keep,
    /// What paths do where traces end.
    pub ends: Ends,
    /// What the states are.
    pub states: StateNames,
    /// How large the model may be.
    pub limits: Limits,
}

impl MergeOptions {
    /// With the defaults of everything else.
    pub fn new(keep: Keep) -> Self {
        Self { keep, ends: Ends::default(), states: StateNames::Auto, limits: Limits::default() }
    }
}

/// What is needed to read the same states from the same traces again.
pub(super) fn remember(
    session: &Session,
    options: &MergeOptions,
    traces: &[Vec<String>],
) -> Vec<(String, String)> {
    let read = &session.read;
    let mut all: Vec<(String, String)> = Vec::new();
    let mut add = |name: &str, value: String| all.push((name.into(), value));
    match &options.states {
        StateNames::Auto => {}
        StateNames::Columns(columns) => columns.iter().for_each(|column| add("state", column.clone())),
        StateNames::Specification(path) => add("states", path.clone()),
    }
    [("format", &read.format), ("time", &read.time), ("event", &read.event), ("by", &session.by)]
        .into_iter()
        .for_each(|(name, value)| value.iter().for_each(|value| add(name, value.clone())));
    // Otherwise the names of the traces are those of their files.
    if session.by.is_some() {
        traces.iter().flatten().for_each(|file| add("file", file.clone()));
    }
    if read.timed {
        add("timed", "true".into());
    }
    if let Some(skew) = read.sort {
        add("sort", skew.to_string());
    }
    all
}

/// The session and options that [`remember`] wrote down.
pub(super) fn recall(session: &Session, merged: &Merged) -> Result<(Session, MergeOptions), Error> {
    let keep = Keep::parse(&merged.keep).ok_or_else(|| {
        Error::Usage(format!("the model was merged keeping `{}`, which is not known here", merged.keep))
    })?;
    let (mut session, mut options) = (session.clone().by(None), MergeOptions::new(keep));
    let mut columns = Vec::new();
    for (name, value) in &merged.options {
        let text = || Some(value.clone());
        match name.as_str() {
            "state" => columns.push(value.clone()),
            "states" => options.states = StateNames::Specification(value.clone()),
            "format" => session.read.format = text(),
            "time" => session.read.time = text(),
            "event" => session.read.event = text(),
            "by" => session.by = text(),
            "file" => {}
            "timed" => session.read.timed = true,
            "sort" => session.read.sort = value.parse().ok(),
            // Written by a later version: what it changes cannot be known.
            other => {
                return Err(Error::Usage(format!("the model was merged with `{other}`, not known here")));
            }
        }
    }
    if !columns.is_empty() {
        options.states = StateNames::Columns(columns);
    }
    Ok((session, options))
}

//! How traces are merged, and how a model remembers it.

use super::{Ends, Keep, Limits};
use crate::{Error, Session};
use tw_core::TimeUnit;
use tw_ir::Clock;
use tw_model::Merged;
use tw_trace::ReadOptions;

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
    /// Merge each value of this column as a trace of its own.
    pub by: Option<String>,
    /// Which moments become one state of the model.
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
        Self { by: None, keep, ends: Ends::default(), states: StateNames::Auto, limits: Limits::default() }
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
    [("format", &read.format), ("time", &read.time), ("event", &read.event), ("by", &options.by)]
        .into_iter()
        .for_each(|(name, value)| value.iter().for_each(|value| add(name, value.clone())));
    // Otherwise the names of the traces are those of their files.
    if options.by.is_some() {
        traces.iter().flatten().for_each(|file| add("file", file.clone()));
    }
    if read.timed {
        add("timed", "true".into());
    }
    if let Some(skew) = read.sort {
        add("sort", skew.to_string());
    }
    // What a specification of states says of intervals depends on both.
    if read.unit != ReadOptions::default().unit {
        add("time-unit", read.unit.name().into());
    } else if let Some(numbers) = read.numbers {
        add("numbers", numbers.name().into());
    }
    for (name, value) in [("time-format", &read.time_format), ("null", &read.null)] {
        value.iter().for_each(|value| add(name, value.clone()));
    }
    if let Some(year) = read.year {
        add("year", year.to_string());
    }
    if read.own_lines {
        add("continuation", "own".into());
    }
    if let Some(delimiter) = read.delimiter {
        add("delimiter", delimiter.to_string());
    }
    let clock = Clock::ALL.iter().find(|(_, clock)| *clock == session.evaluate.clock);
    if let Some((name, _)) = clock.filter(|(_, clock)| *clock != Clock::default()) {
        add("clock", (*name).into());
    }
    all
}

fn unknown(name: &str, value: &str) -> Error {
    Error::refused(format!("the model was merged with `{name}` {value}, not known here"))
}

/// The session and options that [`remember`] wrote down.
pub(super) fn recall(session: &Session, merged: &Merged) -> Result<(Session, MergeOptions), Error> {
    let keep = Keep::parse(&merged.keep).ok_or_else(|| {
        Error::refused(format!("the model was merged keeping `{}`, which is not known here", merged.keep))
    })?;
    let (mut session, mut options) = (session.clone(), MergeOptions::new(keep));
    // How the model's questions are asked says nothing of how its traces were read.
    let ReadOptions { threads, block, max_record, max_columns, .. } = session.read;
    session.read = ReadOptions { threads, block, max_record, max_columns, ..ReadOptions::default() };
    session.evaluate.clock = Clock::default();
    let mut columns = Vec::new();
    for (name, value) in &merged.options {
        let text = || Some(value.clone());
        match name.as_str() {
            "state" => columns.push(value.clone()),
            "states" => options.states = StateNames::Specification(value.clone()),
            "format" => session.read.format = text(),
            "time" => session.read.time = text(),
            "event" => session.read.event = text(),
            "by" => options.by = text(),
            "time-format" => session.read.time_format = text(),
            "null" => session.read.null = text(),
            "year" => session.read.year = Some(value.parse().map_err(|_| unknown(name, value))?),
            "continuation" => session.read.own_lines = true,
            "file" => {}
            "timed" => session.read.timed = true,
            "sort" => session.read.sort = Some(value.parse().map_err(|_| unknown(name, value))?),
            "delimiter" => session.read.delimiter = Some(value.parse().map_err(|_| unknown(name, value))?),
            "numbers" => {
                session.read.numbers = Some(TimeUnit::parse(value).ok_or_else(|| unknown(name, value))?)
            }
            "time-unit" => session.read.unit = TimeUnit::parse(value).ok_or_else(|| unknown(name, value))?,
            "clock" => {
                let known = Clock::ALL.iter().find(|(name, _)| name == value);
                session.evaluate.clock = known.ok_or_else(|| unknown(name, value))?.1;
            }
            // Written by a later version: what it changes cannot be known.
            _ => return Err(unknown(name, value)),
        }
    }
    if !columns.is_empty() {
        options.states = StateNames::Columns(columns);
    }
    Ok((session, options))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_remembered_is_recalled() {
        let read = ReadOptions {
            format: Some("csv".into()),
            time: Some("at".into()),
            event: Some("what".into()),
            unit: TimeUnit::Milliseconds,
            timed: true,
            sort: Some(5),
            ..ReadOptions::default()
        };
        let session = Session::new().reading(read).clock(Clock::Index);
        let mut options = MergeOptions { by: Some("user".into()), ..MergeOptions::new(Keep::History(2)) };
        options.states = StateNames::Columns(vec!["a".into(), "b".into()]);
        let remembered = remember(&session, &options, &[vec!["t.csv".into()]]);
        let merged = Merged { keep: "history 2".into(), ends: "dead".into(), options: remembered.clone() };
        // However the one who asks reads traces.
        let other =
            Session::new().reading(ReadOptions { timed: true, sort: Some(9), ..ReadOptions::default() });
        for from in [Session::new(), other.clock(Clock::Dense)] {
            let (session, options) = recall(&from, &merged).unwrap();
            assert_eq!((session.evaluate.clock, session.read.unit), (Clock::Index, TimeUnit::Milliseconds));
            assert_eq!(options.states, StateNames::Columns(vec!["a".into(), "b".into()]));
            assert_eq!(remember(&session, &options, &[vec!["t.csv".into()]]), remembered);
        }
        let plain = remember(&Session::new(), &MergeOptions::new(Keep::State), &[]);
        assert!(plain.is_empty(), "{plain:?}");
        let later = |name: &str, value: &str| {
            let options = vec![(name.to_string(), value.to_string())];
            recall(&session, &Merged { keep: "state".into(), ends: "dead".into(), options }).is_err()
        };
        assert!(later("clock", "sundial") && later("time-unit", "weeks") && later("colour", "red"));
    }
}

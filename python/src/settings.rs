//! Keyword arguments, which the package shares with the command line by name.

use crate::error::refused;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyString};
use tracewise::check::Statistic;
use tracewise::imprecise::ClockError;
use tracewise::language::TraceSettings;
use tracewise::robust::Interpolation;
use tracewise::slicing::Slicing;
use tracewise::{Clock, Evaluating, Reading, Semantics, Session, TimeUnit};

/// What a caller set.
#[derive(Clone, Default)]
pub struct Settings {
    pub by: Option<String>,
    pub only: Vec<String>,
    pub name: Option<String>,
    pub format: Option<String>,
    pub concat: bool,
    pub violations: Option<usize>,
    pub explain: Option<bool>,
    pub witness: bool,
    pub statistic: Option<Statistic>,
    pub interpolate: Option<Interpolation>,
    slices: Option<usize>,
    slice_on: Vec<String>,
    period: Option<String>,
    collapse: bool,
    clock_error: Option<String>,
    clock_error_column: Option<String>,
    time: Option<String>,
    event: Option<String>,
    unit: Option<TimeUnit>,
    delimiter: Option<u8>,
    time_format: Option<String>,
    year: Option<i32>,
    null: Option<String>,
    own_lines: bool,
    skip_bad_lines: bool,
    timed: bool,
    sort: Option<String>,
    threads: Option<usize>,
    engine: Option<String>,
    semantics: Option<Semantics>,
    clock: Option<Clock>,
    memory: Option<usize>,
    states: Option<usize>,
}

/// Every keyword, with what it is worth knowing where a wrong one was given.
const KEYWORDS: &[&str] = &[
    "by",
    "clock",
    "clock_error",
    "clock_error_column",
    "collapse",
    "concat",
    "continuation",
    "delimiter",
    "engine",
    "event",
    "explain",
    "format",
    "interpolate",
    "memory",
    "name",
    "null",
    "only",
    "period",
    "semantics",
    "skip_bad_lines",
    "slice_on",
    "slices",
    "sort",
    "statistic",
    "states",
    "threads",
    "time",
    "time_format",
    "time_unit",
    "timed",
    "violations",
    "witness",
    "year",
];

pub fn named<T: Copy>(what: &str, value: &Bound<'_, PyAny>, table: &[(&'static str, T)]) -> PyResult<T> {
    let text: String = value.extract()?;
    table.iter().find(|(name, _)| *name == text).map(|(_, own)| *own).ok_or_else(|| {
        let names: Vec<&str> = table.iter().map(|(name, _)| *name).collect();
        refused(format!("{what}={text:?}: expected one of {}", names.join(", ")))
    })
}

/// A number, or a number with a unit: `"2GB"`.
fn bytes(value: &Bound<'_, PyAny>) -> PyResult<usize> {
    if value.is_instance_of::<PyInt>() {
        return value.extract();
    }
    let text: String = value.extract()?;
    let split = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, suffix) = text.split_at(split);
    let factor = match suffix.to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "kb" => 1e3,
        "mb" => 1e6,
        "gb" => 1e9,
        "kib" => 1024.0,
        "mib" => 1048576.0,
        "gib" => 1073741824.0,
        _ => return Err(refused(format!("memory={text:?}: expected bytes, such as \"500MB\" or \"2GB\""))),
    };
    match number.trim().parse::<f64>() {
        Ok(number) if number > 0.0 && number * factor < 1e18 => Ok((number * factor) as usize),
        _ => Err(refused(format!("memory={text:?}: expected bytes, such as \"500MB\" or \"2GB\""))),
    }
}

impl Settings {
    /// Of keyword arguments, and of the specification's `trace` block where they leave something open.
    pub fn new(options: Option<&Bound<'_, PyDict>>, settings: &TraceSettings) -> PyResult<Self> {
        let mut own = Self::default();
        for (keyword, value) in options.into_iter().flat_map(|options| options.iter()) {
            let keyword: String = keyword.extract()?;
            // Whoever passes options on may pass `None` for what is left open.
            if value.is_none() && keyword != "violations" {
                continue;
            }
            own.set(&keyword, &value)?;
        }
        let set = |own: Option<String>, other: &Option<String>| own.or_else(|| other.clone());
        own.format = set(own.format, &settings.format);
        own.time = set(own.time, &settings.time);
        own.event = set(own.event, &settings.event);
        own.by = set(own.by, &settings.by);
        own.unit =
            own.unit.or_else(|| settings.time_unit.as_ref().and_then(|(unit, _)| TimeUnit::parse(unit)));
        Ok(own)
    }

    fn set(&mut self, keyword: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let text = || value.extract::<String>().map(Some);
        match keyword {
            "by" => self.by = text()?,
            "only" => self.only = names(value)?,
            "statistic" => self.statistic = Some(named(keyword, value, &Statistic::ALL)?),
            "interpolate" => self.interpolate = Some(named(keyword, value, &Interpolation::ALL)?),
            "slices" => self.slices = Some(value.extract::<usize>()?.max(1)),
            "slice_on" => self.slice_on = names(value)?,
            "period" => self.period = Some(value.str()?.to_string()),
            "collapse" => self.collapse = value.extract()?,
            "clock_error" => self.clock_error = Some(value.str()?.to_string()),
            "clock_error_column" => self.clock_error_column = text()?,
            "name" => self.name = text()?,
            "format" => self.format = text()?,
            "concat" => self.concat = value.extract()?,
            "violations" => self.violations = limit(value)?,
            "explain" => self.explain = Some(value.extract()?),
            "witness" => self.witness = value.extract()?,
            "time" => self.time = text()?,
            "event" => self.event = text()?,
            "time_unit" => self.unit = Some(named(keyword, value, &TimeUnit::ALL)?),
            "delimiter" => self.delimiter = Some(delimiter(&value.extract::<String>()?)?),
            "time_format" => {
                let form: String = value.extract()?;
                tracewise::trace::check_time_format(&form)
                    .map_err(|why| refused(format!("time_format={form:?}: {why}")))?;
                self.time_format = Some(form);
            }
            "year" => self.year = Some(value.extract()?),
            "null" => self.null = text()?,
            "continuation" => self.own_lines = named(keyword, value, &[("join", false), ("own", true)])?,
            "skip_bad_lines" => self.skip_bad_lines = value.extract()?,
            "timed" => self.timed = value.extract()?,
            "sort" => self.sort = Some(value.str()?.to_string()),
            "threads" => self.threads = Some(value.extract::<usize>()?.max(1)),
            "engine" => self.engine = text()?,
            "semantics" => self.semantics = Some(named(keyword, value, &Semantics::ALL)?),
            "clock" => self.clock = Some(named(keyword, value, &Clock::ALL)?),
            "memory" => self.memory = Some(bytes(value)?),
            "states" => self.states = Some(value.extract()?),
            other => {
                let known = KEYWORDS.join(", ");
                return Err(PyTypeError::new_err(format!(
                    "unexpected keyword argument '{other}' (there are {known})"
                )));
            }
        }
        Ok(())
    }

    /// The trace's unit.
    pub fn unit(&self) -> TimeUnit {
        self.unit.unwrap_or(TimeUnit::Seconds)
    }

    /// The column of timestamps, and how many digits behind the point a nanosecond takes there.
    pub fn clock_column(&self) -> (&str, usize) {
        let digits = match self.unit() {
            TimeUnit::Nanoseconds => 0,
            TimeUnit::Microseconds => 3,
            TimeUnit::Milliseconds => 6,
            _ => 9,
        };
        (self.time.as_deref().unwrap_or("time"), digits)
    }

    /// How traces are read.
    pub fn reading(&self) -> PyResult<Reading> {
        let defaults = Reading::default();
        Ok(Reading {
            format: self.format.clone(),
            time: self.time.clone(),
            event: self.event.clone(),
            unit: self.unit(),
            numbers: self.unit,
            delimiter: self.delimiter,
            time_format: self.time_format.clone(),
            year: self.year,
            null: self.null.clone(),
            own_lines: self.own_lines,
            skip_bad_lines: self.skip_bad_lines,
            timed: self.timed,
            sort: self.sort.as_deref().map(|skew| length("sort", skew, self.unit())).transpose()?,
            threads: self.threads.unwrap_or(defaults.threads),
            ..defaults
        })
    }

    /// How formulas are evaluated; `semantics` is what a verb takes where nobody says.
    pub fn evaluating(&self, semantics: Semantics) -> Evaluating {
        let defaults = Evaluating::default();
        Evaluating {
            engine: self.engine.clone().unwrap_or(defaults.engine),
            semantics: self.semantics.unwrap_or(semantics),
            clock: self.clock.unwrap_or(defaults.clock),
            memory_budget: self.memory.unwrap_or(defaults.memory_budget),
            state_budget: self.states.unwrap_or(defaults.state_budget),
            faithful: false,
        }
    }

    /// How the log is cut, if it is.
    pub fn slicing(&self) -> PyResult<Option<Slicing>> {
        if self.slices.is_none() && self.period.is_none() {
            return match !self.slice_on.is_empty() || self.collapse {
                true => {
                    Err(refused("slice_on and collapse are about slices: say slices=N, or period=\"7d\""))
                }
                false => Ok(None),
            };
        }
        Ok(Some(Slicing {
            slices: self.slices.unwrap_or(1),
            on: self.slice_on.clone(),
            period: self.period.clone(),
            collapse: self.collapse,
            ..Slicing::default()
        }))
    }

    /// How far timestamps may be off.
    pub fn clock_error(&self) -> PyResult<Option<ClockError>> {
        match (&self.clock_error, &self.clock_error_column) {
            (Some(_), Some(_)) => Err(refused("clock_error and clock_error_column: one of both")),
            (Some(text), None) => Ok(Some(ClockError::Same(length("clock_error", text, self.unit())?))),
            (None, column) => Ok(column.clone().map(ClockError::Column)),
        }
    }

    /// A session of both.
    pub fn session(&self) -> PyResult<Session> {
        Ok(Session::new().reading(self.reading()?).evaluating(self.evaluating(Semantics::Finite)))
    }
}

/// One name, or several.
fn names(value: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    value.extract::<String>().map(|name| vec![name]).or_else(|_| value.extract())
}

/// How many violations to list: a number, or all.
fn limit(value: &Bound<'_, PyAny>) -> PyResult<Option<usize>> {
    match value.cast::<PyString>() {
        _ if value.is_none() => Ok(None),
        Ok(text) if text.to_str()? == "all" => Ok(None),
        Ok(text) => Err(refused(format!("violations={:?}: expected a number or \"all\"", text.to_str()?))),
        Err(_) => Ok(Some(value.extract()?)),
    }
}

fn delimiter(text: &str) -> PyResult<u8> {
    match text.as_bytes() {
        _ if text == "tab" => Ok(b'\t'),
        [byte] if byte.is_ascii() && !byte.is_ascii_alphanumeric() && !b"\"\n\r".contains(byte) => Ok(*byte),
        _ => Err(refused(format!("delimiter={text:?}: expected one character such as \";\", or \"tab\""))),
    }
}

/// A length of time: `"5s"`, or a number of the trace's unit; `"all"` is any.
pub fn length(keyword: &str, text: &str, unit: TimeUnit) -> PyResult<i64> {
    if text == "all" {
        return Ok(i64::MAX);
    }
    let split = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, suffix) = text.split_at(split);
    let unit = if suffix.is_empty() { Some(unit) } else { TimeUnit::parse(suffix) };
    let time = unit.and_then(|unit| unit.parse_number(number.trim()).ok()).filter(|time| *time >= 0);
    time.ok_or_else(|| refused(format!("{keyword}={text:?}: expected a length of time, such as \"5s\"")))
}

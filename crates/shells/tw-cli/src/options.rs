//! Options that several commands share, and how their values are read.

use crate::context::{Failure, usage};
use crate::flags::flagged;
use clap::builder::{PossibleValue, PossibleValuesParser, StringValueParser, TypedValueParser};
use clap::{Arg, Args, Command, ValueHint};
use std::ffi::OsStr;
use std::io::{self, IsTerminal};
use tracewise::chart::{ChartOptions, Matching, Reading as ChartReading};
use tracewise::check::Statistic;
use tracewise::engines::Answers;
use tracewise::files::{LONGEST_TEXT, read_input};
use tracewise::language::TraceSettings;
use tracewise::{Clock, Error, Evaluating, Reading, Semantics, Session, Specification, TimeUnit};

/// How traces are read.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Reading traces")]
pub struct ReadArgs {
    /// Trace format, whatever the file's extension says
    #[arg(long, value_name = "NAME", value_parser = formats())]
    pub format: Option<String>,

    /// Column that is the timestamp, or columns that are it together ('Date Time') [default: time]
    #[arg(long, value_name = "COL")]
    pub time: Option<String>,

    /// Column that is the event name [default: event]
    #[arg(long, value_name = "COL")]
    pub event: Option<String>,

    /// Unit of timestamps that are numbers [default: s; very large numbers show a smaller one]
    #[arg(long, value_name = "UNIT", value_parser = units())]
    pub time_unit: Option<TimeUnit>,

    /// What stands between the cells of a CSV file, a character or `tab` [default: comma, semicolon or tab, as in the header]
    #[arg(long, value_name = "CHAR", value_parser = delimiter)]
    pub delimiter: Option<u8>,

    /// How timestamps are written, as in `%d.%m.%y %H:%M` [default: by look]
    #[arg(long, value_name = "FORM", value_parser = time_format)]
    pub time_format: Option<String>,

    /// Year of the first timestamp that is written without one [default: 1970]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i32).range(1678..=2261))]
    pub year: Option<i32>,

    /// A text that stands for nothing, as an empty cell does (`N/A`)
    #[arg(long, value_name = "TEXT")]
    pub null: Option<String>,

    /// In text logs, lines without a timestamp continue the line before (`join`) or are positions of their own (`own`)
    #[arg(long, value_name = "HOW", default_value = "join", value_parser = ["join", "own"])]
    pub continuation: String,

    /// Leave out lines that cannot be read, and say how many, instead of ending with the first
    #[arg(long)]
    pub skip_bad_lines: bool,

    /// In `events` files the last field is the timestamp
    #[arg(long)]
    pub timed: bool,

    /// Accept timestamps out of order by up to this much (5s, 100ms, or a number in the trace's unit) and sort them; `all`
    /// sorts a stored trace whatever its disorder
    #[arg(long, value_name = "SKEW", value_parser = Skew::parse)]
    pub sort: Option<Skew>,

    /// What intervals measure: timestamps, positions, or continuous time
    #[arg(long, value_name = "CLOCK", default_value = "stamps", value_parser = clocks())]
    pub clock: Clock,

    /// Threads to use [default: one per processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: Option<u16>,

    /// Read several files as one trace, in the order given (rotated logs)
    #[arg(long)]
    pub concat: bool,
}

impl ReadArgs {
    /// The same where the specification's `trace` block says what the command line leaves open.
    #[must_use]
    pub fn with(&self, settings: &TraceSettings) -> ReadArgs {
        let set = |own: &Option<String>, other: &Option<String>| own.clone().or_else(|| other.clone());
        let unit = settings.time_unit.as_ref().and_then(|(unit, _)| TimeUnit::parse(unit));
        ReadArgs {
            format: set(&self.format, &settings.format),
            time: set(&self.time, &settings.time),
            event: set(&self.event, &settings.event),
            time_unit: self.time_unit.or(unit),
            ..self.clone()
        }
    }

    /// The trace's unit.
    pub fn unit(&self) -> TimeUnit {
        self.time_unit.unwrap_or(TimeUnit::Seconds)
    }

    /// A session that reads this way, and evaluates so, by the clock that is named here.
    pub fn session(&self, evaluating: Evaluating) -> Result<Session, Failure> {
        let defaults = Reading::default();
        let sort = match &self.sort {
            None => None,
            Some(skew) => Some(skew.nanoseconds(self.unit(), "--sort")?),
        };
        let read = Reading {
            format: self.format.clone(),
            time: self.time.clone(),
            event: self.event.clone(),
            unit: self.unit(),
            numbers: self.time_unit,
            delimiter: self.delimiter,
            time_format: self.time_format.clone(),
            year: self.year,
            null: self.null.clone(),
            own_lines: self.continuation == "own",
            skip_bad_lines: self.skip_bad_lines,
            timed: self.timed,
            sort,
            threads: self.threads.map_or(defaults.threads, usize::from),
            ..defaults
        };
        Ok(Session::new().reading(read).evaluating(Evaluating { clock: self.clock, ..evaluating }))
    }

    /// The files, grouped into traces: each alone, or all together with `--concat`.
    pub fn traces(&self, files: &[String]) -> Result<Vec<Vec<String>>, Failure> {
        if files.iter().filter(|file| *file == "-").count() > 1 {
            return Err(usage("standard input `-` can be read only once"));
        }
        Ok(if self.concat {
            vec![files.to_vec()]
        } else {
            files.iter().map(|file| vec![file.clone()]).collect()
        })
    }

    /// The files as the one trace that `command` takes.
    pub fn one_trace(&self, files: &[String], command: &str) -> Result<Vec<String>, Failure> {
        let mut traces = self.traces(files)?;
        match (traces.pop(), traces.is_empty()) {
            (Some(trace), true) => Ok(trace),
            _ => Err(usage(format!(
                "`{command}` takes one trace, but {} files were given; add `--concat` to read them as one",
                files.len()
            ))),
        }
    }
}

/// How formulas are evaluated.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Evaluation")]
pub struct EvaluateArgs {
    /// Engine to run; `auto` takes the fastest that can
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = engines())]
    pub engine: String,

    /// How the end of the trace is read
    #[arg(long, value_name = "NAME", default_value = "finite", value_parser = semantics())]
    pub semantics: Semantics,

    /// Memory that columns and engine may take, e.g. 500MB or 2GB
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    pub memory: Option<usize>,

    /// States that an automaton (or residuals, or sets of slices) may take
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub states: Option<u32>,

    /// Keep an engine's published order of work where it differs in cost alone
    #[arg(long)]
    pub faithful: bool,
}

impl EvaluateArgs {
    /// The settings.
    pub fn evaluating(&self) -> Evaluating {
        let defaults = Evaluating::default();
        Evaluating {
            engine: self.engine.clone(),
            semantics: self.semantics,
            memory_budget: self.memory.unwrap_or(defaults.memory_budget),
            state_budget: self.states.map_or(defaults.state_budget, |states| states as usize),
            faithful: self.faithful,
            ..defaults
        }
    }
}

/// How charts are read.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Charts")]
pub struct ChartArgs {
    /// What "followed" means: directly, once in the whole trace, or somewhere [default: segment; `after`: precedes]
    #[arg(long, value_name = "NAME", value_parser = readings())]
    reading: Option<ChartReading>,

    /// Which main charts answer the precharts of an iterated chart: as many, or each its own
    #[arg(long, value_name = "NAME", default_value = "paper", value_parser = matchings())]
    matching: Matching,

    /// A chart that is pending at the end is undecided, not violated
    #[arg(long)]
    open_end: bool,

    /// The columns that events of charts are read from: `dir=COL,msg=COL`
    #[arg(long, value_name = "COLS")]
    map: Option<String>,
}

impl ChartArgs {
    /// The settings.
    pub fn options(&self) -> Result<ChartOptions, Failure> {
        let columns = self.map.as_deref().map(columns).transpose()?;
        Ok(ChartOptions { reading: self.reading, matching: self.matching, open_end: self.open_end, columns })
    }
}

/// `dir=COL,msg=COL`, either of them or both.
fn columns(text: &str) -> Result<[String; 2], Failure> {
    let mut columns = ["dir".to_owned(), "msg".to_owned()];
    for part in text.split(',') {
        let place = match part.split_once('=') {
            Some(("dir", column)) if !column.is_empty() => Some((0, column)),
            Some(("msg", column)) if !column.is_empty() => Some((1, column)),
            _ => None,
        };
        let Some((place, column)) = place else {
            return Err(usage(format!("`--map {text}`: found `{part}`, expected `dir=COL,msg=COL`")));
        };
        columns[place] = column.to_owned();
    }
    Ok(columns)
}

fn readings() -> impl TypedValueParser<Value = ChartReading> {
    PossibleValuesParser::new(ChartReading::ALL.map(|(name, _)| name)).map(|name| {
        ChartReading::ALL
            .iter()
            .find(|(own, _)| *own == name)
            .map_or(ChartReading::Segment, |(_, reading)| *reading)
    })
}

fn matchings() -> impl TypedValueParser<Value = Matching> {
    PossibleValuesParser::new(Matching::ALL.map(|(name, _)| name)).map(|name| {
        Matching::ALL.iter().find(|(own, _)| *own == name).map_or(Matching::Paper, |(_, matching)| *matching)
    })
}

/// The specification in a file, `-` for standard input.
pub fn specification(path: &str) -> Result<Specification, Failure> {
    if path != "-" {
        return Ok(Specification::from_file(path)?);
    }
    let read = read_input(path, LONGEST_TEXT);
    let not_text = |_| io::Error::new(io::ErrorKind::InvalidData, "stream did not contain valid UTF-8");
    let read = read.and_then(|bytes| String::from_utf8(bytes).map_err(not_text));
    let text =
        read.map_err(|error| usage(format!("cannot read the specification from standard input: {error}")))?;
    Ok(Specification::from_text("<stdin>", &text)?)
}

/// The specification that is a library of this name.
pub fn library(name: &str) -> Result<Specification, Failure> {
    Ok(tracewise::library::find(name)?.specification()?)
}

/// The text of a specification in a file, `-` for standard input, whatever language it is in.
pub fn specification_text(file: &str) -> Result<String, Error> {
    let bytes = read_input(file, LONGEST_TEXT)
        .map_err(|error| Error::io(format!("cannot read the specification `{file}`"), error))?;
    String::from_utf8(bytes)
        .map_err(|_| Error::refused(format!("the specification `{file}` is not UTF-8 text")))
}

/// What `-e` gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Given {
    /// Formulas, to be checked.
    Formulas,
    /// Queries, to be computed.
    Queries,
}

/// The specification made of formulas and queries given on the command line, each named by its text.
pub fn inline(formulas: &[String], queries: &[String]) -> Result<Specification, Failure> {
    Ok(Specification::from_texts(formulas, queries)?)
}

/// The specification made of formulas or queries, whichever each text is.
pub fn either(texts: &[String]) -> Result<Specification, Failure> {
    let is_query = |text: &&String| {
        Specification::from_formula(text).is_err() && Specification::from_query(text).is_ok()
    };
    let (queries, formulas): (Vec<&String>, Vec<&String>) = texts.iter().partition(is_query);
    let owned = |texts: Vec<&String>| texts.into_iter().cloned().collect::<Vec<String>>();
    inline(&owned(formulas), &owned(queries))
}

/// The specification made of formulas given with `-e`, each named by its text.
pub fn formulas(texts: &[String]) -> Result<Specification, Failure> {
    inline(texts, &[])
}

/// The specification of a command that takes `SPEC` or `-e`, and the traces that follow it.
pub fn specification_and_traces(
    what: Given,
    given: &[String],
    files: &[String],
    command: &str,
) -> Result<(Specification, Vec<String>), Failure> {
    let word = if what == Given::Formulas { "FORMULA" } else { "QUERY" };
    let is_spec = |file: &str| file.ends_with(".tw") || file.ends_with(".elsc");
    if !given.is_empty() {
        if let Some(file) = files.iter().find(|file| is_spec(file)) {
            return Err(usage(format!(
                "with `-e` every file is a trace, but `{file}` is a specification; give one or the other"
            )));
        }
        let files = or_standard_input(files, &format!("tracewise {command} -e {word} TRACE…"))?;
        let spec = match what {
            Given::Formulas => inline(given, &[])?,
            Given::Queries => inline(&[], given)?,
        };
        return Ok((spec, files));
    }
    let Some((spec, traces)) = files.split_first() else {
        return Err(usage(format!(
            "no specification given: tracewise {command} SPEC.tw TRACE… (or -e {word})"
        )));
    };
    let known_format =
        tracewise::trace::detect(spec, &tracewise::trace::formats()).map(|format| format.name());
    if let Some(format) = known_format.filter(|_| !is_spec(spec)) {
        return Err(usage(format!(
            "`{spec}` is a trace ({format}), but the specification comes first: tracewise {command} SPEC.tw TRACE… \
             (or -e {word})"
        )));
    }
    if spec == "-" && traces.is_empty() {
        return Err(usage(format!("no trace given: tracewise {command} {spec} TRACE…")));
    }
    let traces = or_standard_input(traces, &format!("tracewise {command} {spec} TRACE…"))?;
    if spec == "-" && traces.iter().any(|trace| trace == "-") {
        return Err(usage("standard input `-` can be the specification or a trace, not both"));
    }
    Ok((specification(spec)?, traces))
}

/// The files or, where none is named and something is piped in, standard input. A terminal waits for nobody: there that
/// is a mistake, which `form` corrects.
pub fn or_standard_input(files: &[String], form: &str) -> Result<Vec<String>, Failure> {
    match files {
        [] if io::stdin().is_terminal() => {
            Err(usage(format!("no trace given, and nothing is piped in: {form}")))
        }
        [] => Ok(vec!["-".into()]),
        files => Ok(files.to_vec()),
    }
}

/// A bound on disorder: a number, and a unit if one was written.
#[derive(Clone, Debug, PartialEq)]
pub struct Skew {
    number: String,
    unit: Option<TimeUnit>,
}

impl std::fmt::Display for Skew {
    /// As it was written.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.number == i64::MAX.to_string() {
            return f.write_str("all");
        }
        write!(f, "{}{}", self.number, self.unit.map_or("", TimeUnit::name))
    }
}

impl Skew {
    /// `5s`, `100ms`, or a number in the trace's unit.
    pub fn parse(text: &str) -> Result<Skew, String> {
        if text == "all" {
            return Ok(Skew { number: i64::MAX.to_string(), unit: Some(TimeUnit::Nanoseconds) });
        }
        let split = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
        let (number, suffix) = text.split_at(split);
        let unit = match suffix {
            "" => None,
            name => Some(
                TimeUnit::parse(name).ok_or(format!("unknown unit `{name}` (units: ns us ms s m h d)"))?,
            ),
        };
        let skew = Skew { number: number.trim().to_string(), unit };
        match skew.unit.unwrap_or(TimeUnit::Seconds).parse_number(&skew.number) {
            Ok(time) if time < 0 => Err("the bound cannot be negative".into()),
            Ok(_) => Ok(skew),
            Err(error) => Err(format!("{error}; write 5s, 100ms, or a number in the trace's unit")),
        }
    }

    /// For the option that it was given to; `unit` is the trace's.
    pub fn nanoseconds(&self, unit: TimeUnit, option: &str) -> Result<i64, Failure> {
        let time = self.unit.unwrap_or(unit).parse_number(&self.number);
        time.map_err(|error| Failure::Error(Error::refused(format!("{option} {}: {error}", self.number))))
    }
}

/// A form of timestamps.
fn time_format(text: &str) -> Result<String, String> {
    tracewise::trace::check_time_format(text).map(|()| text.to_string())
}

/// `;`, `|`, `tab`.
fn delimiter(text: &str) -> Result<u8, String> {
    match text {
        "tab" | "\\t" | "\t" => Ok(b'\t'),
        "comma" => Ok(b','),
        "semicolon" => Ok(b';'),
        "\"" | "\n" | "\r" => Err("quotes and line ends have a meaning of their own".into()),
        _ => match text.as_bytes() {
            [byte] if byte.is_ascii() && !byte.is_ascii_alphanumeric() => Ok(*byte),
            [byte] if byte.is_ascii() => Err("letters and digits are what cells are made of".into()),
            _ => Err("expected one character such as `;` or `|`, or `tab`".into()),
        },
    }
}

/// `2GB`, `500MB`, `64KiB`, `1000`.
pub fn bytes(text: &str) -> Result<usize, String> {
    let split = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, suffix) = text.split_at(split);
    let factor: f64 = match suffix.to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "k" | "kb" => 1e3,
        "m" | "mb" => 1e6,
        "g" | "gb" => 1e9,
        "t" | "tb" => 1e12,
        "kib" => (1u64 << 10) as f64,
        "mib" => (1u64 << 20) as f64,
        "gib" => (1u64 << 30) as f64,
        "tib" => (1u64 << 40) as f64,
        other => return Err(format!("unknown unit `{other}`; write 500MB, 2GB or 1GiB")),
    };
    match number.trim().parse::<f64>() {
        Ok(n) if n.is_finite() && n > 0.0 && n * factor <= (usize::MAX / 2) as f64 => {
            Ok((n * factor) as usize)
        }
        Ok(_) => Err("out of range".into()),
        Err(_) => Err("not a number of bytes; write 500MB, 2GB or 1GiB".into()),
    }
}

/// `10`, or `all`.
pub fn limit(text: &str) -> Result<usize, String> {
    match text {
        "all" => Ok(usize::MAX),
        _ => text.parse().map_err(|_| "expected a number or `all`".to_string()),
    }
}

/// A parser for a table of named values, which help and completions list.
pub fn named<T: Copy + Send + Sync + 'static>(
    table: &'static [(&'static str, T)],
) -> impl TypedValueParser<Value = T> {
    let names = table.iter().map(|(name, _)| PossibleValue::new(*name));
    PossibleValuesParser::new(names).try_map(move |text| {
        table.iter().find(|(name, _)| *name == text).map(|(_, value)| *value).ok_or("no such value")
    })
}

fn units() -> impl TypedValueParser<Value = TimeUnit> {
    named(&TimeUnit::ALL)
}

/// The clocks.
pub fn clocks() -> impl TypedValueParser<Value = Clock> {
    named(&Clock::ALL)
}

/// The statistics of `check --stat`.
pub fn statistics() -> impl TypedValueParser<Value = Statistic> {
    named(&Statistic::ALL)
}

/// The semantics.
pub fn semantics() -> impl TypedValueParser<Value = Semantics> {
    named(&Semantics::ALL)
}

/// Takes any text, which the library judges (it knows near misses and missing features), but lists the known names
/// in help and completions.
#[derive(Clone)]
pub struct Known(Vec<PossibleValue>);

impl TypedValueParser for Known {
    type Value = String;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.0.iter().cloned()))
    }
}

/// The engines.
pub fn engines() -> Known {
    let auto = PossibleValue::new("auto").help("The fastest engine that can run the formulas");
    let named = tracewise::engines::giving(Answers::Verdicts)
        .map(|engine| PossibleValue::new(engine.name()).help(flagged(engine.about())));
    Known(std::iter::once(auto).chain(named).collect())
}

/// The engines for queries.
pub fn query_engines() -> Known {
    let auto = PossibleValue::new("auto").help("The fastest engine that can run the queries");
    let engines = tracewise::engines::giving(Answers::Values);
    let named = engines.map(|engine| PossibleValue::new(engine.name()).help(flagged(engine.about())));
    Known(std::iter::once(auto).chain(named).collect())
}

/// The trace formats.
pub fn formats() -> Known {
    let formats = tracewise::trace::formats();
    Known(
        formats
            .iter()
            .map(|format| PossibleValue::new(format.name()).help(flagged(format.card().about)))
            .collect(),
    )
}

/// What positional file arguments complete to.
pub const FILES: ValueHint = ValueHint::FilePath;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        let cases = [
            ("2GB", 2_000_000_000),
            ("1KiB", 1024),
            ("64", 64),
            ("1.5m", 1_500_000),
            ("3 GB", 3_000_000_000),
        ];
        for (text, expected) in cases {
            assert_eq!(bytes(text), Ok(expected), "{text}");
        }
        for bad in ["", "GB", "-1", "1XB", "1e40", "0", "nan"] {
            assert!(bytes(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn skews() {
        let skew =
            |text: &str| Skew::parse(text).unwrap().nanoseconds(TimeUnit::Milliseconds, "--sort").unwrap();
        assert_eq!(skew("5s"), 5_000_000_000);
        assert_eq!(skew("5"), 5_000_000);
        assert_eq!(skew("0.5 h"), 1_800_000_000_000);
        for bad in ["", "s", "-1s", "5 weeks", "x"] {
            assert!(Skew::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn limits() {
        assert_eq!(limit("all"), Ok(usize::MAX));
        assert_eq!(limit("0"), Ok(0));
        assert!(limit("-1").is_err() && limit("some").is_err());
    }
}

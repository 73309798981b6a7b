//! `inspect`: what can I write properties about?

use crate::run::hints::time_like;
use crate::run::open::Opened;
use crate::run::order::StepsBack;
use crate::{Error, Session};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use tw_core::Value;
use tw_diag::Diagnostic;
use tw_trace::Row;

/// What a trace consists of.
#[derive(Clone, Debug)]
pub struct InspectReport {
    /// The trace as the user named it.
    pub trace: String,
    /// Format name.
    pub format: &'static str,
    /// Number of positions.
    pub positions: u64,
    /// How lines write their timestamps, in a text log: the first one, and where it stands.
    pub written: Option<(String, String)>,
    /// First and last timestamp, as written.
    pub span: Option<(String, String)>,
    /// Variables, in order of appearance.
    pub columns: Vec<ColumnSummary>,
    /// Event names with how often each occurs, most frequent first (the first 1,000 names).
    pub events: Vec<(String, u64)>,
    /// First rows.
    pub sample: Vec<Row>,
    /// Timestamps that are before the one before them: how many, and the disorder that sorting has to accept.
    pub back: Option<(u64, String)>,
    /// Where there are no timestamps: a column that looks like them.
    pub time_like: Option<String>,
    /// What is to be said of lines that were left out.
    pub skipped: Option<Diagnostic>,
    /// A few properties one could ask of this trace, ready to paste after `-e`.
    pub suggestions: Vec<String>,
}

/// A variable.
#[derive(Clone, Debug, Default)]
pub struct ColumnSummary {
    /// Name (dotted for nested data).
    pub name: String,
    /// `bool`, `0/1`, `int`, `real`, `string`, `list`, or a mix such as `int | string`; `null` if never set.
    pub kind: String,
    /// Positions where it is not null.
    pub present: u64,
    /// Least and greatest number.
    pub range: Option<(f64, f64)>,
    /// Some distinct values, as text (up to 8).
    pub examples: Vec<String>,
    /// Number of distinct values, exact up to 1,000; `None` beyond.
    pub distinct: Option<usize>,
}

/// Rows shown.
const SAMPLE: usize = 5;
/// Distinct values counted exactly per column.
const DISTINCT: usize = 1000;
/// Event names counted.
const EVENTS: usize = 1000;

#[derive(Default)]
struct Column {
    name: String,
    present: u64,
    bools: u64,
    bits: u64,
    ints: u64,
    reals: u64,
    texts: u64,
    lists: u64,
    low: f64,
    high: f64,
    examples: Vec<String>,
    distinct: HashSet<String>,
    overflow: bool,
}

impl Column {
    fn note(&mut self, value: &Value) {
        let number = match value {
            Value::Null => return,
            Value::Bool(_) => {
                self.bools += 1;
                None
            }
            Value::Int(int) => {
                self.ints += 1;
                self.bits += u64::from(*int == 0 || *int == 1);
                Some(*int as f64)
            }
            Value::Real(real) => {
                self.reals += 1;
                Some(*real)
            }
            Value::Str(_) => {
                self.texts += 1;
                None
            }
            Value::List(_) | Value::Object(_) => {
                self.lists += 1;
                None
            }
        };
        if let Some(number) = number {
            let first = self.ints + self.reals == 1;
            self.low = if first { number } else { self.low.min(number) };
            self.high = if first { number } else { self.high.max(number) };
        }
        self.present += 1;
        if !self.overflow {
            let text: String = value.to_string().chars().take(60).collect();
            if !self.distinct.contains(&text) {
                if self.distinct.len() >= DISTINCT {
                    self.overflow = true;
                } else {
                    if self.examples.len() < 8 {
                        self.examples.push(text.clone());
                    }
                    self.distinct.insert(text);
                }
            }
        }
    }

    fn summary(self) -> ColumnSummary {
        let mut kinds: Vec<&str> = Vec::new();
        if self.bools > 0 {
            kinds.push("bool");
        }
        if self.reals > 0 {
            kinds.push("real");
        } else if self.ints > 0 {
            kinds.push(if self.bits == self.ints { "0/1" } else { "int" });
        }
        if self.texts > 0 {
            kinds.push("string");
        }
        if self.lists > 0 {
            kinds.push("list");
        }
        ColumnSummary {
            name: self.name,
            kind: if kinds.is_empty() { "null".into() } else { kinds.join(" | ") },
            present: self.present,
            range: (self.ints + self.reals > 0).then_some((self.low, self.high)),
            examples: self.examples,
            distinct: (!self.overflow).then_some(self.distinct.len()),
        }
    }
}

/// The report of at most `most` positions, if that is bounded.
pub(crate) fn inspect(
    session: &Session,
    files: &[String],
    most: Option<u64>,
) -> Result<InspectReport, Error> {
    let mut opened = Opened::new(session, files)?;
    let mut back = StepsBack::default();
    let mut columns: Vec<Column> = Vec::new();
    let mut index: HashMap<String, usize> = HashMap::new();
    let mut events: HashMap<Arc<str>, u64> = HashMap::new();
    let mut sample: Vec<Row> = Vec::new();
    let (mut positions, mut first, mut last) = (0u64, None, None);
    let aside = opened.rows(&mut |row: &Row| {
        positions += 1;
        if sample.len() < SAMPLE {
            sample.push(row.clone());
        }
        if let Some(stamp) = row.time {
            first.get_or_insert(stamp);
            last = Some(stamp);
            back.then(StepsBack::of(&[stamp.time]));
        }
        for (name, value) in &row.variables {
            let read;
            let value = match value {
                Value::Str(text) if !row.typed => {
                    read = Value::from_cell(text).unwrap_or(Value::Null);
                    &read
                }
                other => other,
            };
            for (path, leaf) in leaves(name, value) {
                let at = *index.entry(path).or_insert_with_key(|path| {
                    columns.push(Column { name: path.clone(), ..Column::default() });
                    columns.len() - 1
                });
                columns[at].note(leaf);
            }
        }
        for event in &row.events {
            if let Some(count) = events.get_mut(&event.name) {
                *count += 1;
            } else if events.len() < EVENTS {
                events.insert(event.name.clone(), 1);
            }
        }
        Ok(most.is_none_or(|most| positions < most))
    })?;
    let mut events: Vec<(String, u64)> =
        events.into_iter().map(|(name, count)| (name.to_string(), count)).collect();
    events.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let columns: Vec<ColumnSummary> = columns.into_iter().map(Column::summary).collect();
    let time_like = if first.is_none() { time_like(&opened) } else { None };
    Ok(InspectReport {
        skipped: aside.skipped(&opened.name),
        trace: opened.name,
        format: opened.format.name(),
        back: (back.count > 0).then(|| (back.count, tw_core::duration(back.skew))),
        time_like,
        positions,
        written: opened.settled.written.map(|written| (written.example.to_string(), written.whereabouts())),
        span: first.zip(last).map(|(a, b)| (a.format(), b.format())),
        suggestions: suggestions(&columns, &events, positions),
        columns,
        events,
        sample,
    })
}

/// A variable's own value, or the fields of an object by dotted path (one level is what people filter by; deeper ones
/// are followed too, objects being acyclic and bounded in depth by the reader).
fn leaves<'v>(name: &str, value: &'v Value) -> Vec<(String, &'v Value)> {
    let mut out = Vec::new();
    let mut stack = vec![(name.to_string(), value)];
    while let Some((path, value)) = stack.pop() {
        match value {
            Value::Object(fields) => {
                for (key, value) in fields.iter().rev() {
                    stack.push((format!("{path}.{key}"), value));
                }
            }
            other => out.push((path, other)),
        }
    }
    out
}

/// The same of an event: a name in backquotes alone would be a column.
pub fn event_word(name: &str) -> String {
    let word = word(name);
    if word == name && !name.contains('.') { word } else { format!("event `{name}`") }
}

/// Names that are not plain identifiers are written in backquotes.
pub fn word(name: &str) -> String {
    let plain = name.split('.').all(|part| {
        !part.is_empty()
            && !part.starts_with(|c: char| c.is_ascii_digit())
            && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    });
    let reserved = tw_ir::is_keyword(name);
    if plain && !reserved { name.to_string() } else { format!("`{name}`") }
}

fn suggestions(columns: &[ColumnSummary], events: &[(String, u64)], positions: u64) -> Vec<String> {
    let mut out = Vec::new();
    let truths: Vec<&ColumnSummary> =
        columns.iter().filter(|column| matches!(column.kind.as_str(), "bool" | "0/1")).collect();
    match (events, truths.as_slice()) {
        ([(a, _), (b, _), ..], _) => out.push(format!("G ({} -> F {})", event_word(a), event_word(b))),
        (_, [a, b, ..]) => out.push(format!("G ({} -> F {})", word(&a.name), word(&b.name))),
        (_, [a]) => out.push(format!("F {}", word(&a.name))),
        _ => {}
    }
    // A comparison with null is false, so a bound is worth asking only where the column is always set.
    let numeric = |column: &&ColumnSummary| {
        column.present == positions && matches!(column.kind.as_str(), "int" | "real")
    };
    if let Some(column) = columns.iter().find(numeric) {
        let high = column.range.map_or(0.0, |(_, high)| high);
        out.push(format!("G ({} <= {high})", word(&column.name)));
    }
    if let Some(column) = columns.iter().find(|c| c.kind == "string" && c.distinct.is_some_and(|d| d <= 20))
        && let Some(example) = column.examples.first()
    {
        out.push(format!("F {} == {example:?}", word(&column.name)));
    }
    out
}

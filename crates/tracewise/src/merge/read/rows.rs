//! Row by row: what no block reader knows beforehand, and what can be read once alone.

use super::{Keys, Read, Source};
use crate::error::Setting;
use crate::merge::names::Valuations;
use crate::run::open::Opened;
use tw_core::Value;
use tw_ir::Path;
use tw_trace::{LocatorBuilder, Row, TraceError, TraceErrorKind};

/// Rows given to the merger at a time.
const STRETCH: usize = 4096;

/// What is taken from each row.
enum Taken {
    /// The text of one column, read as a person would.
    Name(Sought),
    /// The values of columns.
    Columns(Vec<Sought>),
    Everything,
    Events {
        alone: bool,
    },
}

/// A column, and whether it was there.
struct Sought {
    name: String,
    path: Path,
    seen: bool,
}

impl Sought {
    fn new(name: &str, path: Path) -> Self {
        Self { name: name.into(), path, seen: false }
    }

    fn value(&mut self, row: &Row) -> Value {
        let value = tw_trace::value_at(row, &self.path);
        let named = |name: &str| name == self.name || self.name.split('.').next() == Some(name);
        self.seen = self.seen || !value.is_null() || row.variables.iter().any(|(name, _)| named(name));
        value
    }
}

impl Taken {
    fn of(source: &Source) -> Self {
        match source {
            Source::Column(column) => Taken::Name(Sought::new(column, Path::field(column))),
            Source::Columns(columns) => {
                Taken::Columns(columns.iter().map(|name| Sought::new(name, Path::parse(name))).collect())
            }
            Source::Events => Taken::Events { alone: false },
            Source::EventsAlone => Taken::Events { alone: true },
            Source::Everything | Source::Unknown | Source::Specification(_) => Taken::Everything,
        }
    }

    /// Puts together the state of a row.
    fn take(&mut self, row: &Row, valuations: &mut Valuations) -> Result<(), TraceError> {
        match self {
            Taken::Name(column) => {
                let found = row.variables.iter().find(|(name, _)| **name == *column.name);
                column.seen |= found.is_some();
                if let Some((_, value)) = found.filter(|(_, value)| !value.is_null()) {
                    valuations.set(0, &named_by(&value.to_string()));
                }
            }
            Taken::Columns(columns) => {
                for (at, column) in columns.iter_mut().enumerate() {
                    let value = column.value(row);
                    valuations.set(at, &value);
                }
            }
            Taken::Events { alone } => {
                if let Some((name, _)) = row.variables.first().filter(|_| *alone) {
                    return Err(undecided(row, &format!("the variable `{name}`"), "events alone"));
                }
                for (at, event) in row.events.iter().enumerate() {
                    let column = valuations.column(&event.name, at);
                    valuations.set(column, &Value::Bool(true));
                }
            }
            Taken::Everything => {
                for (at, (name, value)) in row.variables.iter().enumerate() {
                    let known = valuations.columns().len();
                    let column = valuations.column(name, at);
                    if column == known && **name == *"state" {
                        return Err(undecided(row, "a column `state`", "none"));
                    }
                    match value {
                        Value::Str(text) if !row.typed => {
                            let cell = Value::from_cell(text).ok_or_else(|| {
                                let message = format!("`{name}`: found `{text}`, expected a value");
                                TraceError::new(TraceErrorKind::Type, message).at(row.line, 1)
                            })?;
                            valuations.set(column, &cell);
                        }
                        value => valuations.set(column, value),
                    }
                }
            }
        }
        Ok(())
    }

    /// Refuses columns that no row had.
    fn judge(&self, known: &[String]) -> Result<(), TraceError> {
        let sought = match self {
            Taken::Name(column) => std::slice::from_ref(column),
            Taken::Columns(columns) => columns,
            Taken::Everything | Taken::Events { .. } => &[],
        };
        let Some(missing) = sought.iter().find(|column| !column.seen) else { return Ok(()) };
        let near = tw_core::suggest(&missing.name, known.iter().map(String::as_str));
        let near = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
        let message = format!("unknown variable `{}`{near}", missing.name);
        Err(TraceError::new(TraceErrorKind::UnknownName, message))
    }
}

/// What the states are was decided by what came before, and does not fit this row.
fn undecided(row: &Row, found: &str, before: &str) -> TraceError {
    let message = format!(
        "found {found}, but what was read before has {before}, so that states would be of two kinds; say with {} what \
         they are",
        Setting::StateColumns
    );
    TraceError::new(TraceErrorKind::Usage, message).at(row.line, 1)
}

/// The state that a text names; none where there is no text.
pub(super) fn named_by(text: &str) -> Value {
    Value::from_cell(text).unwrap_or_else(|| Value::text(text))
}

/// What the states are, by the first row.
fn decide(row: &Row) -> Source {
    let named = row.variables.iter().any(|(name, _)| **name == *"state");
    match (named, row.variables.is_empty() && !row.events.is_empty()) {
        (true, _) => Source::Column("state".into()),
        (_, true) => Source::EventsAlone,
        _ => Source::Everything,
    }
}

/// Row by row: every variable, every event, or columns of what cannot be read again.
pub(super) fn rows(
    opened: &mut Opened,
    source: &Source,
    mut keys: Option<(&str, &mut Keys)>,
    valuations: &mut Valuations,
    states: &mut dyn FnMut(&[u32]) -> Result<(), TraceError>,
) -> Result<Read, TraceError> {
    let mut taken = Taken::of(source);
    let mut positions = 0;
    let mut lines = LocatorBuilder::rows();
    let mut codes = Vec::with_capacity(STRETCH);
    let mut known: Vec<String> = Vec::new();
    let mut each = |row: &Row| {
        if positions == 0 {
            known = row.variables.iter().map(|(name, _)| name.to_string()).collect();
            if matches!(source, Source::Unknown) {
                let decided = decide(row);
                (*valuations, taken) = (decided.valuations(), Taken::of(&decided));
            }
        }
        taken.take(row, valuations)?;
        codes.push(valuations.next());
        if let Some((column, keys)) = &mut keys {
            let value = row.variables.iter().find(|(name, value)| **name == **column && !value.is_null());
            let text = value.map(|(_, value)| value.to_string()).filter(|text| !text.is_empty());
            let id = text.map_or(u32::MAX, |text| keys.number(&text.into()));
            keys.ids.push(id);
        }
        lines.row(positions, positions, row.line);
        positions += 1;
        if codes.len() == STRETCH {
            states(&codes)?;
            codes.clear();
        }
        Ok(true)
    };
    let aside = opened.rows(&mut each)?;
    if positions > 0 {
        taken.judge(&known)?;
    }
    states(&codes)?;
    Ok(Read { positions, locator: lines.finish(), aside })
}

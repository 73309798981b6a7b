//! The header row: which column is what.

use crate::{ReadOptions, TraceError, TraceErrorKind, quote};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The columns of a file.
#[derive(Debug, Default)]
pub(super) struct Header {
    /// Names, in order.
    pub columns: Vec<Arc<str>>,
    /// The timestamp.
    pub time: Option<usize>,
    /// Columns that are the timestamp together, their cells apart by a blank.
    pub joined: Vec<usize>,
    /// The event name.
    pub event: Option<usize>,
    /// What stands between cells.
    pub delimiter: u8,
    index: FxHashMap<Arc<str>, usize>,
}

const SAME: &str = "the timestamp and the event name cannot be the same column (`⟨time⟩`, `⟨event⟩`)";

/// What stands between the cells of a header, if nobody says so: of comma, semicolon and tab the most frequent outside
/// quotes; the comma, if none is.
pub(super) fn delimiter_of(line: &[u8]) -> u8 {
    let (mut counts, mut quoted) = ([0usize; 3], false);
    for &byte in line {
        match byte {
            b'"' => quoted = !quoted,
            b',' if !quoted => counts[0] += 1,
            b';' if !quoted => counts[1] += 1,
            b'\t' if !quoted => counts[2] += 1,
            _ => {}
        }
    }
    let [comma, semicolon, tab] = counts;
    match comma.max(semicolon).max(tab) {
        most if most == comma => b',',
        most if most == semicolon => b';',
        _ => b'\t',
    }
}

impl Header {
    /// From the cells of the first record; `place` says where a cell starts.
    pub fn new(
        columns: Vec<Arc<str>>,
        delimiter: u8,
        options: &ReadOptions,
        place: &dyn Fn(usize) -> (u64, u64),
    ) -> Result<Header, TraceError> {
        let mut index = FxHashMap::default();
        for (number, name) in columns.iter().enumerate() {
            // Finding the place takes a walk over the record, so only an error asks for it.
            if name.is_empty() {
                let (line, column) = place(number);
                let found = format!("no name for column {} in the header row", number + 1);
                return Err(TraceError::syntax(line, column, found, "a name for every column"));
            }
            if let Some(before) = index.insert(Arc::clone(name), number) {
                let (line, column) = place(number);
                let found =
                    format!("the column {} again (columns {} and {})", quote(name), before + 1, number + 1);
                return Err(TraceError::syntax(line, column, found, "a different name for every column"));
            }
        }
        let lacking = |usual: &str, name: &str, part: &str| {
            let hint = match tw_core::suggest(part, columns.iter().map(|name| &**name)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => {
                    let some: Vec<String> = columns.iter().take(8).map(|name| format!("`{name}`")).collect();
                    let more = if columns.len() > 8 { ", …" } else { "" };
                    format!("it has {}{more}", some.join(", "))
                }
            };
            let which = if part == name { String::new() } else { format!(", `{part}`") };
            let message =
                format!("`⟨{usual}: {name}⟩` names a column that this trace does not have{which}; {hint}");
            TraceError { line: Some(1), ..TraceError::new(TraceErrorKind::Usage, message).naming(part) }
        };
        let named = |name: &Option<String>, usual: &str| match name {
            None => Ok(index.get(usual).copied()),
            Some(name) => match index.get(name.as_str()) {
                Some(&number) => Ok(Some(number)),
                None => Err(lacking(usual, name, name)),
            },
        };
        // A name with blanks lists columns, unless one is called so.
        let listed = |name: &&String| !index.contains_key(name.as_str()) && name.trim().contains(' ');
        if let Some(name) = options.time.as_ref().filter(listed) {
            let number = |part| index.get(part).copied().ok_or_else(|| lacking("time", name, part));
            let joined = name.split_whitespace().map(number).collect::<Result<Vec<usize>, _>>()?;
            let event = named(&options.event, "event")?;
            return match event.is_some_and(|event| joined.contains(&event)) {
                true => Err(TraceError::new(TraceErrorKind::Usage, SAME)),
                false => Ok(Header { columns, time: None, joined, event, delimiter, index }),
            };
        }
        let time = named(&options.time, "time")?;
        let event = named(&options.event, "event")?;
        if time.is_some() && time == event {
            return Err(TraceError::new(TraceErrorKind::Usage, SAME));
        }
        Ok(Header { columns, time, joined: Vec::new(), event, delimiter, index })
    }

    /// Whether positions have timestamps.
    pub fn is_timed(&self) -> bool {
        self.time.is_some() || !self.joined.is_empty()
    }

    /// Whether a column is a variable: neither the timestamp, or a part of it, nor the event name.
    pub fn is_variable(&self, number: usize) -> bool {
        Some(number) != self.time && Some(number) != self.event && !self.joined.contains(&number)
    }

    /// The variable of that name.
    pub fn variable(&self, name: &str) -> Option<usize> {
        self.index.get(name).copied().filter(|&number| self.is_variable(number))
    }

    /// Names of the variables, in order.
    pub fn variables(&self) -> impl Iterator<Item = &Arc<str>> {
        let columns = self.columns.iter().enumerate();
        columns.filter_map(|(number, name)| self.is_variable(number).then_some(name))
    }
}

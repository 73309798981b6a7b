//! A violated property, with what led to it.

use crate::Record;
use std::fmt;
use tracewise::Value;
use tracewise::findings::{Severity, words};

/// A property that no continuation of this run can satisfy, or what a monitor reports.
#[derive(Clone, Debug)]
pub struct Violation {
    /// Name of the property or monitor.
    pub property: String,
    /// Its sentence.
    pub title: Option<String>,
    /// Its formula; of a monitor its name and parameters.
    pub formula: String,
    /// What a monitor says, and which category it came to.
    pub report: Option<(String, String)>,
    /// How bad it is: the reports of a monitor may be less than errors.
    pub severity: Severity,
    /// The position that settled it, from 0.
    pub position: usize,
    /// The values that violate a property with outer quantifiers, by the names of its variables; those of a monitor's parameters.
    pub bindings: Vec<(String, Value)>,
    /// The last positions up to that one, the oldest first.
    pub recent: Vec<Record>,
}

impl Violation {
    /// The event that settled it.
    pub fn event(&self) -> Option<&Record> {
        self.recent.last()
    }
}

/// The property, the place in the source, the events that led to it.
impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "✗ {}", self.property)?;
        if let Some(title) = &self.title {
            write!(f, "  {title}")?;
        }
        writeln!(f)?;
        let gutter = self.position.to_string().len() + 2;
        let Some(event) = self.event() else { return Ok(()) };
        let source = event.source().map_or(String::new(), |source| format!("{source} · "));
        write!(f, "{:>gutter$} ╭─ {source}position {} · thread {}", "", self.position, event.thread)?;
        if !self.bindings.is_empty() {
            write!(f, " · {}", words::bindings(&self.bindings))?;
        }
        writeln!(f)?;
        let first = (self.position + 1).saturating_sub(self.recent.len());
        let texts: Vec<String> =
            self.recent.iter().map(|record| format!("{}  {record}", record.thread)).collect();
        let width = texts.iter().map(|text| text.chars().count()).max().unwrap_or(0).min(72);
        for ((position, record), text) in (first..).zip(&self.recent).zip(&texts) {
            let source = record.source().unwrap_or_default();
            let line = format!("{position:>gutter$} │ {text:width$}  {source}");
            writeln!(f, "{}", line.trim_end())?;
        }
        match &self.report {
            Some((text, category)) => write!(f, "{:>gutter$} = {text} (`{category}`)", ""),
            None => write!(f, "{:>gutter$} = `{}` is false from here on, whatever follows", "", self.formula),
        }
    }
}

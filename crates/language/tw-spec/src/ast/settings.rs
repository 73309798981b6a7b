//! Settings of the commands as written: `trace { time: "@timestamp"; by: http.request_id; }`.

use super::{Comment, Ident};
use tw_diag::Span;
use tw_ir::{Path, PathStep};

/// A `trace` block.
#[derive(Clone, Debug)]
pub struct TraceBlock {
    /// Its lines, in the order written.
    pub lines: Vec<Line>,
    /// Comments before the `}`.
    pub trailing_comments: Vec<Comment>,
}

/// One line of a block: `by: http.request_id;`.
#[derive(Clone, Debug)]
pub struct Line {
    /// The setting.
    pub name: Ident,
    /// Its value.
    pub value: SettingValue,
    /// Where the value is written.
    pub span: Span,
    /// Comments before it and inside it.
    pub comments: Vec<Comment>,
    /// Comment on the line of its `;`.
    pub trailing: Option<Comment>,
    /// Whether a blank line stood before it.
    pub blank_before: bool,
}

/// The value of a setting.
#[derive(Clone, Debug, PartialEq)]
pub enum SettingValue {
    /// A name or path, perhaps in backquotes.
    Path {
        /// What it names.
        path: Path,
        /// Whether its first name was written in backquotes.
        quoted: bool,
    },
    /// Words joined by `-`, such as the name of a format: `csrv-csv`.
    Words(String),
    /// A text.
    Text(String),
}

impl SettingValue {
    /// As an option of a command would be given: a field with a point or a bracket in its name keeps its backquotes.
    pub fn option(&self) -> String {
        match self {
            SettingValue::Words(text) | SettingValue::Text(text) => text.clone(),
            SettingValue::Path { path, .. } => {
                let mut out = String::new();
                for (index, step) in path.steps.iter().enumerate() {
                    match step {
                        PathStep::Each => out.push_str("[*]"),
                        PathStep::Field(name) => {
                            out.push_str(if index > 0 { "." } else { "" });
                            match name.contains(['.', '[', '`']) {
                                true => out.push_str(&format!("`{}`", name.replace('`', "``"))),
                                false => out.push_str(name),
                            }
                        }
                    }
                }
                out
            }
        }
    }
}

/// What a specification says about how its traces are read, each as an option of a command would be given.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TraceSettings {
    /// The column of timestamps.
    pub time: Option<String>,
    /// The column of event names.
    pub event: Option<String>,
    /// The column or path that divides a trace.
    pub by: Option<String>,
    /// The format.
    pub format: Option<String>,
    /// The unit of timestamps that are numbers, and where it is written.
    pub time_unit: Option<(String, Span)>,
    /// A file with an example of the trace, relative to the specification.
    pub sample: Option<String>,
    /// The streams of a server that it is about: names between commas, `*` for any part of one.
    pub stream: Option<String>,
}

impl TraceSettings {
    /// The names of all settings.
    pub const NAMES: [&'static str; 7] = ["time", "event", "by", "format", "time-unit", "sample", "stream"];
}

impl super::Tree {
    /// What its `trace` block says.
    pub fn settings(&self) -> TraceSettings {
        let mut settings = TraceSettings::default();
        let blocks = self.declarations.iter().filter_map(|declaration| match &declaration.kind {
            super::DeclarationKind::Trace(block) => Some(block),
            _ => None,
        });
        for line in blocks.flat_map(|block| &block.lines) {
            let value = Some(line.value.option());
            match line.name.name.as_str() {
                "time" => settings.time = value,
                "event" => settings.event = value,
                "by" => settings.by = value,
                "format" => settings.format = value,
                "time-unit" => settings.time_unit = value.zip(Some(line.span)),
                "sample" => settings.sample = value,
                "stream" => settings.stream = value,
                // Reported where it was read.
                _ => {}
            }
        }
        settings
    }
}
